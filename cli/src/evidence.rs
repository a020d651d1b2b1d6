//! Evidence as people read it: what went over the wire, line for line, with the events between.
//!
//! Only the order says which bytes made which event. A message comes before the event that the tester made
//! of it. A request over HTTP may come after its stimulus, since another thread sends it. Every sign is
//! shown: line ends as `\r\n`, bytes that are no text as `\xff`. A message of many lines, or a line of many
//! signs, is shortened here. The document has it in full.

use std::fmt::Write;

use coreach_adapters::evidence::{EvidenceItem, EvidenceKind, Phase};
use coreach_execution::Run;
use coreach_model::limits::{LONGEST_EXCERPT, MANY_SHOWN};

use crate::visible::visible;

/// Shows the wire of a run, with its events. Nothing, if no evidence was kept.
pub fn wire_text(run: &Run) -> String {
    let mut text = String::new();
    if run.wire.is_empty() {
        return text;
    }
    text.push_str("on the wire (-> sent, <- received), and the events by their numbers\n");
    let mut events = run.trace.iter().enumerate().peekable();
    let mut phase = None;
    let mut write_events = |text: &mut String, until: Option<&EvidenceItem>| {
        let comes_before = |at| until.is_none_or(|item| at < item.at || item.phase == Phase::Settle);
        while let Some((number, step)) = events.next_if(|(_, step)| comes_before(step.at)) {
            write_timed_line(text, step.at.as_secs_f64(), &format!("== {} {}", number + 1, step.what));
        }
    };
    for item in &run.wire {
        // All events of the run come before the heading of what follows it.
        if item.phase == Phase::Settle {
            write_events(&mut text, Some(item));
        }
        // Without a start before it, the run needs no heading.
        if phase != Some(item.phase) && (phase.is_some() || item.phase != Phase::Run) {
            text.push_str(match item.phase {
                Phase::Start => "  before the run\n",
                Phase::Run => "  the run\n",
                Phase::Settle => "  after the run\n",
            });
        }
        phase = Some(item.phase);
        write_events(&mut text, Some(item));
        write_item(&mut text, item);
    }
    write_events(&mut text, None);
    text
}

/// Writes an item of the evidence, shortened, with a sign for its kind.
fn write_item(text: &mut String, item: &EvidenceItem) {
    let sign = match item.kind {
        EvidenceKind::Sent => "->",
        EvidenceKind::Received => "<-",
        EvidenceKind::End => "--",
        EvidenceKind::Mark => "??",
        EvidenceKind::Stderr => "!!",
        EvidenceKind::Omitted => "..",
    };
    let label = match (item.kind, &item.note) {
        (EvidenceKind::Mark, Some(note)) => format!("{note}: "),
        (EvidenceKind::Stderr, Some(note)) => format!("standard error, {note}: "),
        (EvidenceKind::Stderr, None) => "standard error: ".to_owned(),
        (EvidenceKind::Omitted, Some(note)) => format!("{note} of {} bytes are not kept", item.cut),
        (_, Some(note)) => note.clone(),
        (_, None) => String::new(),
    };
    let mut lines = shown_lines(&item.bytes);
    if item.cut > 0 && item.kind != EvidenceKind::Omitted {
        lines.push(format!("... {} bytes are not kept ...", item.cut));
        lines.extend(shown_lines(&item.rest));
    }
    if lines.len() > MANY_SHOWN {
        let omitted = lines.len() - MANY_SHOWN;
        lines.splice(MANY_SHOWN / 2..MANY_SHOWN / 2 + omitted, [format!("... {omitted} lines ...")]);
    }
    let mut lines = lines.into_iter();
    let first = lines.next().unwrap_or_default();
    write_timed_line(text, item.at.as_secs_f64(), &format!("{sign} {label}{first}"));
    for line in lines {
        let _ = writeln!(text, "{:>14}{line}", "");
    }
}

fn write_timed_line(text: &mut String, seconds: f64, line: &str) {
    *text += &format!("{:>10.1} {}\n", seconds * 1e3, visible(line));
}

/// Splits into lines with their ends, and shows every sign of them.
fn shown_lines(bytes: &[u8]) -> Vec<String> {
    let is_text = std::str::from_utf8(bytes).is_ok();
    bytes.split_inclusive(|byte| *byte == b'\n').map(|line| shown_line(line, is_text)).collect()
}

/// Shows a line so that no two lines look alike. In bytes that are no text, only ASCII is shown as such.
fn shown_line(line: &[u8], is_text: bool) -> String {
    let in_hex = |byte: u8| format!("\\x{byte:02x}");
    let mut text = String::new();
    for chunk in line.utf8_chunks() {
        for sign in chunk.valid().chars() {
            match sign {
                '\\' | '\r' | '\n' | '\t' => text.extend(sign.escape_default()),
                _ if !sign.is_ascii_control() && (sign.is_ascii() || is_text) => text.push(sign),
                _ => text.extend(sign.encode_utf8(&mut [0; 4]).bytes().map(in_hex)),
            }
        }
        text.extend(chunk.invalid().iter().copied().map(in_hex));
    }
    match text.char_indices().nth(LONGEST_EXCERPT) {
        Some((at, _)) => {
            let omitted = text[at..].chars().count();
            format!("{} ... {omitted} more characters", visible(&text[..at]))
        }
        None => visible(&text).into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_byte_reaches_the_terminal_as_it_is() {
        assert_eq!(shown_line(b"a\x1b[2J\t\xff\xc3\r\n", false), "a\\x1b[2J\\t\\xff\\xc3\\r\\n");
        assert_eq!(shown_line("\u{202e}x\u{9b}".as_bytes(), true), "\\u{202e}x\\u{9b}");
        assert_eq!(shown_lines(b"\x82\xc3\xa4"), ["\\x82\\xc3\\xa4"], "no text");
        assert_eq!(shown_lines(b"\\x82 \xc3\xa4"), ["\\\\x82 \u{e4}"], "a text");
        for byte in 0..=255_u8 {
            assert!(
                shown_line(&[byte, b'a', byte], true).chars().all(|sign| matches!(sign, ' '..='~')),
                "{byte}"
            );
        }
    }

    #[test]
    fn long_lines_are_shortened_with_a_count() {
        let line = shown_line(&[b'x'; 1000], true);
        assert!(line.ends_with(" ... 600 more characters") && line.len() < 500, "{line}");
    }
}
