//! What went over the wire of a run, as text to paste into a shell: `printf ... | nc`, and `curl` for HTTP.
//!
//! **Problem.** A person to whom a failure is reported may have no coreach, and still wants to see it.
//! **Method.** The messages of each connection stand in the order of the evidence. What was sent to a
//! connection goes through one pipe, with the waits between. A request of HTTP is one call of `curl`.
//! Everything else is a comment. Every byte of the run is written in printable ASCII, within single quotes or
//! after a `#`, so no shell and no terminal can obey it.

use std::fmt::Write;
use std::time::Duration;

use coreach_adapters::evidence::{EvidenceItem, EvidenceKind, Phase};

const HEAD: &str = "\
# For a connection, set HOST and PORT; `nc -u` sends datagrams. For a program that talks over its standard
# streams, put its command in place of `nc`. For HTTP, set BASE where the address is another one now.
";

/// Writes the transcript of a run, connection by connection, below a heading.
pub fn shell_transcript(heading: &str, wire: &[EvidenceItem]) -> String {
    let mut text = String::new();
    for line in heading.lines() {
        write_comment(&mut text, "", line.as_bytes());
    }
    text.push_str(HEAD);
    let mut connections: Vec<Option<&str>> = Vec::new();
    for over in wire.iter().map(|item| item.over.as_deref()) {
        if !connections.contains(&over) {
            connections.push(over);
        }
    }
    for over in connections {
        if let Some(name) = over {
            write_comment(&mut text, "the connection ", name.as_bytes());
        }
        let mut connection = ConnectionText { text: &mut text, is_open: false, last: None };
        wire.iter().filter(|item| item.over.as_deref() == over).for_each(|item| connection.add_item(item));
        connection.close();
    }
    text
}

/// The part of the transcript on one connection.
struct ConnectionText<'a> {
    text: &'a mut String,
    /// The pipe to `nc` has been begun.
    is_open: bool,
    /// When the last item began.
    last: Option<Duration>,
}

impl ConnectionText<'_> {
    /// Adds an item of the evidence: what was sent as a command, all else as comments.
    fn add_item(&mut self, item: &EvidenceItem) {
        if item.kind == EvidenceKind::Sent {
            return self.add_sent(item);
        }
        let sign = &match item.phase {
            Phase::Run => item.kind.name().to_owned(),
            phase => format!("{} ({})", item.kind.name(), phase.name()),
        };
        if let Some(note) = &item.note {
            write_comment(self.text, sign, format!(" ({note})").as_bytes());
        }
        self.add_received(sign, &item.bytes);
        self.write_missing(item);
        self.add_received(sign, &item.rest);
        self.last = Some(item.at);
        if item.kind == EvidenceKind::End {
            self.close();
        }
    }

    fn add_received(&mut self, sign: &str, bytes: &[u8]) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            write_comment(self.text, &format!("{sign} "), line);
        }
    }

    fn write_missing(&mut self, item: &EvidenceItem) {
        if item.cut > 0 {
            write_line(self.text, &format!("# {} bytes were not kept", item.cut));
        }
    }

    /// Adds a message that was sent: a call of `curl`, or a `printf` into the pipe.
    fn add_sent(&mut self, item: &EvidenceItem) {
        if item.cut == 0
            && let Some(command) = curl_command(&item.bytes)
        {
            self.close();
            write_line(self.text, &command);
        } else {
            if !self.is_open {
                write_line(self.text, "{");
            }
            self.is_open = true;
            let wait = self.last.map_or(Duration::ZERO, |last| item.at.saturating_sub(last));
            // Shorter waits are those of the machine.
            if wait >= Duration::from_millis(5) {
                write_line(self.text, &format!("sleep {:.3}", wait.as_secs_f64()));
            }
            write_line(self.text, &format!("printf '{}'", escape(&item.bytes, EscapeReader::Printf)));
            self.write_missing(item);
            if !item.rest.is_empty() {
                write_line(self.text, &format!("printf '{}'", escape(&item.rest, EscapeReader::Printf)));
            }
        }
        self.last = Some(item.at);
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            write_line(self.text, "} | nc \"$HOST\" \"$PORT\"");
        }
    }
}

/// Returns the call of `curl` that sends these bytes, if they are a request of HTTP.
fn curl_command(bytes: &[u8]) -> Option<String> {
    const BLANK_LINE: &[u8] = b"\r\n\r\n";
    let end = bytes.windows(BLANK_LINE.len()).position(|window| window == BLANK_LINE)?;
    let (head, body) = (std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + BLANK_LINE.len()..]);
    let is_plain = |line: &str| line.chars().all(|sign| matches!(sign, ' '..='~'));
    let (request_line, header_lines) = head.split_once("\r\n").unwrap_or((head, ""));
    let [method, path, version] = request_line.split(' ').collect::<Vec<_>>().try_into().ok()?;
    if !version.starts_with("HTTP/1.") || !head.split("\r\n").all(is_plain) {
        return None;
    }
    // With a line that is no header, this is no request for `curl`.
    let mut headers = Vec::new();
    for line in header_lines.split("\r\n").filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(':').filter(|(name, _)| !name.contains(' '))?;
        headers.push((name, value.trim()));
    }
    let find_header = |wanted: &str| headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let host = find_header("Host");
    let base = host.map_or(String::new(), |(_, host)| quote_for_shell(&format!("http://{host}")));
    let mut command = format!("BASE=${{BASE-{base}}}\n");
    if !body.is_empty() {
        let _ = write!(command, "printf '{}' | ", escape(body, EscapeReader::Printf));
    }
    let how = if method == "HEAD" { "-I".to_owned() } else { format!("-X {}", quote_for_shell(method)) };
    let _ = write!(command, "curl -sig --path-as-is {how} \"$BASE\"{}", quote_for_shell(path));
    for (name, value) in &headers {
        // `curl` makes these headers itself.
        if !["host", "content-length", "connection"].contains(&name.to_ascii_lowercase().as_str()) {
            // `curl` reads `Name:` as the wish to leave its own header out, and `Name;` as an empty header.
            let header = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
            let _ = write!(command, " -H {}", quote_for_shell(&header));
        }
    }
    if !body.is_empty() {
        // A header without a value makes `curl` leave out its own.
        command.push_str(if find_header("Content-Type").is_none() { " -H 'Content-Type:'" } else { "" });
        command.push_str(" --data-binary @-");
    }
    Some(command)
}

fn write_line(text: &mut String, line: &str) {
    *text += &format!("{line}\n");
}

fn write_comment(text: &mut String, head: &str, bytes: &[u8]) {
    write_line(text, &format!("# {head}{}", escape(bytes, EscapeReader::People)));
}

pub(crate) fn quote_for_shell(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The reader of escaped bytes. `printf` reads them within single quotes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EscapeReader {
    People,
    Printf,
}

/// Writes bytes in printable ASCII.
fn escape(bytes: &[u8], reader: EscapeReader) -> String {
    let mut text = String::new();
    for (place, byte) in bytes.iter().enumerate() {
        let _ = match byte {
            b'\r' => write!(text, "\\r"),
            b'\n' => write!(text, "\\n"),
            b'%' if reader == EscapeReader::Printf => write!(text, "%%"),
            b'\\' => write!(text, "\\\\"),
            // A quote would end the word. A dash at the beginning would make it an option.
            b'\'' if reader == EscapeReader::Printf => write!(text, "\\047"),
            b'-' if reader == EscapeReader::Printf && place == 0 => write!(text, "\\055"),
            b' '..=b'~' => write!(text, "{}", char::from(*byte)),
            other => write!(text, "\\{other:03o}"),
        };
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A request is sent again with all its headers, however they are written, or as its bytes.
    #[test]
    fn each_header_is_in_the_command() {
        let request = |lines: &str| curl_command(format!("GET /a HTTP/1.1\r\n{lines}\r\n").as_bytes());
        let command = request("Host:here\r\nX-Tag:1\r\nX-Other: 2 \r\nX-None:\r\n").unwrap_or_default();
        assert!(command.starts_with("BASE=${BASE-'http://here'}\n"), "{command}");
        assert!(command.ends_with(" -H 'X-Tag: 1' -H 'X-Other: 2' -H 'X-None;'"), "{command}");
        assert!(request("").is_some_and(|command| !command.contains("-H")));
        assert_eq!(request("X-Tag: 1\r\n of two lines: 2\r\n"), None);
    }
}
