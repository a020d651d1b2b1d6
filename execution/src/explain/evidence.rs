//! What the evidence of a run shows about its end.
//!
//! A system that is silent has often said why: in its bytes, on standard error, or by what it was sent. A
//! system that answers twice has sent the same before.

use coreach_adapters::evidence::{
    EvidenceItem, EvidenceKind, IGNORED, INCOMPLETE, MAYBE, NO_ANSWER, ON_STDERR, Phase,
};
use coreach_adapters::lines::explain_length;
use coreach_model::Verdict;
use coreach_model::excerpt::shortened;

use crate::run::{Cause, Occurrence, Outcome, Run, RunStep};

/// Says for a run that ended in silence what may be wrong, and how to wait longer. `is_required`: the
/// specification requires an output there.
pub(super) fn describe_silence(run: &Run, is_required: bool) -> String {
    let Outcome::Verdict(_, Cause::Silence(waited)) = &run.outcome else { return String::new() };
    let time = waited.as_millis();
    if let Some(cause) = find_evident_cause(run) {
        return format!("\nhelp: {cause}");
    }
    // The model says how long an answer takes.
    if run.timing.is_some() {
        return String::new();
    }
    // So few milliseconds are hardly meant.
    let (mut causes, longer) = match time < 20 {
        true => (
            vec![format!("a number without a unit is milliseconds: are {time} ms what you mean?")],
            format!("{time} s"),
        ),
        false => (guess_causes(run), format!("{} s", (5 * time).div_ceil(1000))),
    };
    let within = format!(
        "if it needs more than {time} ms, raise `within` in the IUT file, as in `within: {longer}` \
         (`--quiescence` replaces it)"
    );
    // Few systems need half a second, and one that has answered may be late now.
    let is_late = has_observed(run) || (20..500).contains(&time);
    causes.insert(if is_late { 0 } else { causes.len() }, within);
    // A cause that is guessed for a system that has never answered is likelier than a fault.
    if is_required && (has_observed(run) || causes.len() == 1) {
        let fault = "if a missing answer is a fault of the system, write the line `silence: fail` into the IUT file, \
                     next to `iut`: then this is a Fail";
        causes.insert(0, fault.to_owned());
    }
    if let Some(Occurrence::Observation(last)) = run.trace.last().map(|step| &step.what)
        && is_required
    {
        let action = &last.action;
        causes.insert(0, format!(
            "the model waits for one more output after `{action}`: if none is meant, correct where `{action}` leads to"
        ));
    }
    let unread = || explain_open_connection(run).filter(|_| has_observed(run));
    causes.splice(0..0, describe_ignored(run).or_else(|| describe_errors(run)).or_else(unread));
    causes.iter().map(|cause| format!("\nhelp: {cause}")).collect()
}

/// Says why nothing was observed, if the evidence shows it: more time would not help.
pub fn find_evident_cause(run: &Run) -> Option<String> {
    if let Some(why) = find_mark(run, NO_ANSWER).map(whole_text) {
        return Some(why);
    }
    let mark = |note| find_mark(run, note).map(short_text);
    if let Some(help) = find_mark(run, INCOMPLETE).and_then(|item| explain_length(&whole_text(item))) {
        return Some(help);
    }
    if let Some(text) = mark(INCOMPLETE) {
        let ends = [("\\r", "CR", "0d"), ("\\0", "NUL", "00"), (";", "`;`", "3b"), ("|", "`|`", "7c")];
        if let Some((end, name, hex)) = ends.into_iter().find(|(end, ..)| text.ends_with(end)) {
            return Some(format!(
                "it has sent `{text}`, which ends with {name}: lines end with a line feed, so send `\\n` in place of \
                 `{end}`. If it cannot, write `encoding: binary` with `frame: {{ delimiter: \"{hex}\" }}`"
            ));
        }
        return Some(format!(
            "it has sent `{text}`, which is no whole message yet: the end of the line or more lines are missing"
        ));
    }
    if let Some(text) = mark(ON_STDERR) {
        return Some(format!(
            "it has written `{text}` to standard error, and nothing to standard output: write messages to \
             standard output"
        ));
    }
    if let Some(text) = mark(IGNORED).filter(|_| !has_observed(run)) {
        return Some(format!(
            "all that it has sent is ignored, as `ignore` and `unmatched` say: at last `{text}`"
        ));
    }
    // An answer that is whole has a mark if it is no event.
    let is_marked = run.wire.last().is_some_and(|item| item.kind == EvidenceKind::Mark);
    if let Some(exchange) = find_last_exchange(run).filter(|_| is_stimulus(run.trace.last()) && !is_marked) {
        let status = exchange.status;
        return Some(format!(
            "it has begun the answer `{status}`, and not ended it: check its `Content-Length`, or the sizes of its chunks, \
             which are hexadecimal"
        ));
    }
    let has_sent = run.trace.iter().any(|step| matches!(step.what, Occurrence::Stimulus(_)));
    (!has_sent && !has_observed(run) && run.timing.is_none()).then(|| {
        "the tester has sent nothing, and waits for an output: are `inputs`, which the implementation receives, and \
         `outputs` swapped in the model?"
            .to_owned()
    })
}

/// Says which messages came after the last one that was sent, and were ignored.
fn describe_ignored(run: &Run) -> Option<String> {
    let sent = run.wire.iter().rposition(|item| item.kind == EvidenceKind::Sent)?;
    let is_ignored = |item: &&EvidenceItem| item.note.as_deref() == Some(IGNORED);
    let ignored: Vec<&EvidenceItem> = run.wire[sent..].iter().filter(is_ignored).collect();
    let last = short_text(ignored.last()?);
    let came = match ignored.len() {
        1 => format!("a message came, and was ignored: `{last}`"),
        count => format!("{count} messages came, and were ignored: at last `{last}`"),
    };
    Some(format!(
        "{came}. If it is an answer, correct its pattern in `observations`, and what `ignore` or `unmatched` say"
    ))
}

/// Says what came on standard error since the last stimulus.
fn describe_errors(run: &Run) -> Option<String> {
    let sent = run.wire.iter().rposition(|item| item.kind == EvidenceKind::Sent)?;
    let written = run.wire[sent..].iter().rfind(|item| item.kind == EvidenceKind::Stderr)?;
    let text = String::from_utf8_lossy(&written.bytes);
    let last_line = text.trim_end().lines().next_back()?;
    is_stimulus(run.trace.last()).then(|| {
        format!("it has written `{}` to standard error since then: did it fail there?", shortened(last_line))
    })
}

fn is_stimulus(step: Option<&RunStep>) -> bool {
    step.is_some_and(|step| matches!(step.what, Occurrence::Stimulus(_)))
}

fn has_observed(run: &Run) -> bool {
    run.trace.iter().any(|step| matches!(step.what, Occurrence::Observation(_)))
}

/// Guesses what may be wrong if nothing has been observed. The likeliest cause comes first.
fn guess_causes(run: &Run) -> Vec<String> {
    let sent = run.wire.iter().rfind(|item| item.kind == EvidenceKind::Sent);
    if has_observed(run) {
        return sent.filter(|_| is_unheard_of(run)).map(guess_refusal).into_iter().collect();
    }
    let Some(item @ EvidenceItem { bytes, .. }) = sent else { return Vec::new() };
    if let Some(help) = explain_open_connection(run) {
        return vec![help];
    }
    if let Some(maybe) = find_mark(run, MAYBE) {
        return vec![whole_text(maybe), guess_refusal(item)];
    }
    if !bytes.ends_with(b"\n") {
        return Vec::new();
    }
    let buffer =
        "its output may wait in a buffer: flush it after each line, in Python with `print(..., flush=True)`";
    // A system that reads JSON has answered the line `start` already, so it reads line by line.
    if bytes.starts_with(b"{") {
        let wait = "it may wait for the next message, or its output may wait in a buffer: flush each answer at once, in Python \
                    with `print(..., flush=True)`";
        return vec![guess_refusal(item), wait.to_owned()];
    }
    let end = "it may wait for the end of its input: read and answer line by line";
    let start = "it may still be starting, for which nothing waits: then it needs a longer `within`, too";
    vec![buffer.to_owned(), end.to_owned(), guess_refusal(item), start.to_owned()]
}

/// Says what a server may wait for that has answered no request, or none with a body.
fn explain_open_connection(run: &Run) -> Option<String> {
    let sent = run.wire.iter().filter(|item| item.kind == EvidenceKind::Sent).rev();
    let mut requests = sent.filter_map(|item| {
        let text = String::from_utf8_lossy(&item.bytes);
        let (head, body) = text.split_once("\r\n\r\n")?;
        Some((shortened(head.lines().next()?.strip_suffix(" HTTP/1.1")?), !body.is_empty()))
    });
    let (request, has_body) = requests.next()?;
    let is_first = !has_observed(run) || has_body && !requests.any(|(_, has_body)| has_body);
    is_first.then(|| {
        format!(
            "it has not answered `{request}`, and coreach keeps the connection open: a server that reads until its end \
             waits for ever. It must read up to the empty line, and as many bytes more as `Content-Length` says"
        )
    })
}

/// Supposes that the system has not understood what was sent last.
fn guess_refusal(sent: &EvidenceItem) -> String {
    let text = short_text(sent).replace("\\\"", "\"");
    let text = text.trim_end_matches("\\n").trim_end_matches("\\r");
    match text.starts_with("{\"input\":") {
        true => format!("it may not know `{text}`, which was sent: does the system read these names?"),
        false => {
            format!("it may not know `{text}`, which was sent: compare `stimuli` with what the system takes")
        }
    }
}

/// Did the last stimulus go over a line, and was none like it answered before?
fn is_unheard_of(run: &Run) -> bool {
    let Some(Occurrence::Stimulus(last)) = run.trace.last().map(|step| &step.what) else { return false };
    let sent = run.wire.iter().rfind(|item| item.kind == EvidenceKind::Sent);
    let is_line = sent.is_some_and(|item| item.bytes.ends_with(b"\n"));
    let mut pairs = run.trace.windows(2).map(|pair| (&pair[0].what, &pair[1].what));
    is_line
        && !pairs.any(|(one, next)| {
            matches!((one, next), (Occurrence::Stimulus(event), Occurrence::Observation(_)) if event.action == last.action)
        })
}

/// The last request over HTTP, with the status and the body of its answer.
struct HttpExchange {
    request: String,
    status: String,
    body: String,
}

impl HttpExchange {
    fn is_page(&self) -> bool {
        self.body.to_lowercase().contains("<html")
    }
}

/// Finds the last request of the run. `None` if it has no answer yet, or the two are not of HTTP.
fn find_last_exchange(run: &Run) -> Option<HttpExchange> {
    let text = |item: &EvidenceItem| String::from_utf8_lossy(&item.bytes).into_owned();
    let first_line = |text: String| text.lines().next().unwrap_or_default().to_owned();
    let is_in_run = |item: &EvidenceItem, kind| item.kind == kind && item.phase == Phase::Run;
    let sent_at = run.wire.iter().rposition(|item| is_in_run(item, EvidenceKind::Sent))?;
    let request = first_line(text(&run.wire[sent_at]));
    let mut later = run.wire[sent_at..].iter();
    let whole = later.find(|item| is_in_run(item, EvidenceKind::Received)).map(text)?;
    let (head, body) = whole.split_once("\r\n\r\n").unwrap_or((&whole, ""));
    let answer = first_line(head.to_owned());
    let (_, status) = answer.split_once(' ').filter(|(version, _)| version.starts_with("HTTP/1."))?;
    Some(HttpExchange {
        request: shortened(request.strip_suffix(" HTTP/1.1")?),
        status: shortened(status.trim_end()),
        body: body.trim().to_owned(),
    })
}

/// Names for a Fail by an answer over HTTP the request, and the status of the answer.
pub(super) fn describe_exchange(run: &Run) -> String {
    match (&run.outcome, run.trace.last().map(|step| &step.what)) {
        (Outcome::Verdict(Verdict::Fail, Cause::Event), Some(Occurrence::Observation(_))) => {
            let Some(exchange) = find_last_exchange(run) else { return String::new() };
            let HttpExchange { request, status, body } = &exchange;
            match status.starts_with('2') {
                _ if exchange.is_page() => format!(
                    " (`{request}` was answered `{status}` with a page of HTML)\nhelp: perhaps no part of the system serves this \
                     address: check the `path` of the request, and whether `base` lacks a prefix, such as `/api/v1`"
                ),
                // An error says more in its body than the values that are read.
                false if !body.is_empty() => {
                    format!(
                        " (`{request}` was answered `{status}` with `{}`)",
                        shortened(body).replace(char::is_control, " ")
                    )
                }
                _ => format!(" (`{request}` was answered `{status}`)"),
            }
        }
        _ => String::new(),
    }
}

/// For a Fail by the same output as the one before: the system may answer twice. Inputs may come between the
/// two. If such an output may come here with other values or in other states (`may_come`), an equal answer
/// is rather a wrong one. Over HTTP, a system answers each request once.
pub(super) fn describe_twice(run: &Run, may_come: bool) -> String {
    match find_last_exchange(run) {
        Some(exchange) if exchange.is_page() => String::new(),
        exchange => describe_same(&run.trace, may_come, exchange.is_some()),
    }
}

/// Asks whether the system answers twice, if the last output is the same as the one before it, with nothing
/// but inputs between them. `may_come` is that of [`describe_twice`].
fn describe_same(trace: &[RunStep], may_come: bool, is_over_http: bool) -> String {
    let Some((last, before)) = trace.split_last() else { return String::new() };
    let input_at = |at: usize| match &before.get(at)?.what {
        Occurrence::Stimulus(event) => Some(&event.action),
        _ => None,
    };
    let Some(earlier) = (0..before.len()).rev().find(|at| input_at(*at).is_none()) else {
        return String::new();
    };
    if !matches!(last.what, Occurrence::Observation(_)) || before[earlier].what != last.what {
        return String::new();
    }
    // The input that the earlier output answered, and the one between the two outputs.
    let answered = earlier.checked_sub(1).and_then(input_at);
    let next = input_at(earlier + 1);
    match (next, answered) {
        (Some(next), Some(answered)) if is_over_http && !may_come => {
            format!(
                "\nhelp: the same came before {next}, as the answer to {answered}: does the model lack this answer to {next}?"
            )
        }
        _ if is_over_http => String::new(),
        (None, _) => "\nhelp: the same came just before: does the system answer twice?".to_owned(),
        (Some(next), None) if may_come => {
            format!("\nhelp: the same came just before {next}: does the system answer twice?")
        }
        (Some(next), Some(answered)) if !may_come => format!(
            "\nhelp: the same came before {next}, as the answer to {answered}: does the system answer twice? Or does the model \
             lack this answer to {next}?"
        ),
        _ => String::new(),
    }
}

/// For a Fail by the first event of a run: the system may have answered a message of `reset` twice.
pub(super) fn describe_twice_at_start(run: &Run) -> String {
    let received = |item: &&EvidenceItem| item.kind == EvidenceKind::Received;
    let (at_start, later): (Vec<_>, Vec<_>) =
        run.wire.iter().filter(received).partition(|item| item.phase == Phase::Start);
    let ([_], Some(EvidenceItem { bytes, .. })) = (run.trace.as_slice(), at_start.last()) else {
        return String::new();
    };
    // Two lines may have come at once.
    let (one, other) = bytes.split_at(bytes.len() / 2);
    let is_twice = match later.last() {
        Some(last) => last.bytes == *bytes,
        None => one == other && one.ends_with(b"\n"),
    };
    match is_twice {
        true => "\nhelp: the same came as an answer to `reset`: does the system answer twice?".to_owned(),
        false => String::new(),
    }
}

fn find_mark<'r>(run: &'r Run, note: &str) -> Option<&'r EvidenceItem> {
    let is_it = |item: &&EvidenceItem| item.kind == EvidenceKind::Mark && item.note.as_deref() == Some(note);
    run.wire.iter().rfind(is_it)
}

/// Returns the text of a mark whose text is an explanation.
fn whole_text(item: &EvidenceItem) -> String {
    String::from_utf8_lossy(&item.bytes).into_owned()
}

/// Returns the text of a message for a quotation: cut, and with escapes.
fn short_text(item: &EvidenceItem) -> String {
    shortened(&String::from_utf8_lossy(&item.bytes)).escape_debug().to_string()
}

/// Explains an error of a program that may miss a variable of its environment: a key that was never sent.
pub(super) fn explain_missing_key(error: &str, run: &Run) -> Option<String> {
    let name = error.split_once(" error: KeyError: '")?.1.split('\'').next()?;
    let is_sent = |item: &EvidenceItem| {
        item.kind == EvidenceKind::Sent && String::from_utf8_lossy(&item.bytes).contains(name)
    };
    let is_name = |sign| matches!(sign, b'A'..=b'Z' | b'0'..=b'9' | b'_');
    let is_of_environment = !name.is_empty() && name.bytes().all(is_name) && !run.wire.iter().any(is_sent);
    is_of_environment.then(|| {
        format!("\nhelp: if it is a variable of the environment, write `environment: {{ {name}: \"...\" }}` next to `command`")
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use coreach_model::semantics::Event;

    use super::*;

    #[test]
    fn the_system_may_answer_twice_where_the_same_comes_again() {
        // Inputs begin with `?`.
        for (trace, may_come, told) in [
            (&["?Ask", "Yes", "Yes"][..], true, "just before: "),
            (&["?Ask", "Yes", "Yes"], false, "just before: "),
            (&["?Ask", "Yes", "?Ask", "Yes"], true, ""),
            (&["?Ask", "Yes", "?Go", "Yes"], false, "before Go, as the answer to Ask: "),
            (&["?Ask", "Yes", "?Go", "?Stop", "Yes"], false, "before Go, as the answer to Ask: "),
            (&["Yes", "?Go", "Yes"], true, "just before Go: "),
            (&["Yes", "?Go", "Yes"], false, ""),
            (&["?Ask", "No", "?Go", "Yes"], false, ""),
            (&["?Ask", "Yes"], false, ""),
        ] {
            let step = |text: &&str| {
                let what = match text.strip_prefix('?') {
                    Some(input) => Occurrence::Stimulus(Event::new(input, Vec::new())),
                    None => Occurrence::Observation(Event::new(*text, Vec::new())),
                };
                RunStep { what, transition: None, at: Duration::ZERO }
            };
            let steps: Vec<RunStep> = trace.iter().map(step).collect();
            let expected = match told {
                "" => String::new(),
                told => {
                    let lacks = " Or does the model lack this answer to Go?";
                    let lacks = if told.contains("to Ask") { lacks } else { "" };
                    format!("\nhelp: the same came {told}does the system answer twice?{lacks}")
                }
            };
            assert_eq!(describe_same(&steps, may_come, false), expected, "{trace:?}");
            // A request has one answer.
            let lacks = "\nhelp: the same came before Go, as the answer to Ask: does the model lack this answer to Go?";
            let expected = if told.contains("to Ask") { lacks } else { "" };
            assert_eq!(describe_same(&steps, may_come, true), expected, "{trace:?}");
        }
    }
}
