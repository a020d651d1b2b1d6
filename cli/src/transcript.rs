//! What went over the wire of a run, as text to paste into a shell: `printf ... | nc`, and `curl` for HTTP.
//!
//! **Problem.** Who gets a failure reported may have no coreach, and wants to see it all the same.
//! **Method.** The messages of each connection stand in the order of the evidence. What was sent to a
//! connection goes through one pipe, with the waits between; a request of HTTP is one call of `curl`. All
//! else is a comment. Every byte of the run is written in printable ASCII, within single quotes or behind a
//! `#`, so none of it can mean anything to a shell or a terminal.

use std::fmt::Write;
use std::time::Duration;

use coreach_adapters::evidence::{EvidenceItem, EvidenceKind, Phase};

/// A shorter wait is not repeated.
const NOTABLE: Duration = Duration::from_millis(5);

const HEAD: &str = "\
# For a connection, set HOST and PORT; `nc -u` sends datagrams. For a program that talks over its standard
# streams, put its command in place of `nc`. For HTTP, set BASE where the address is another one now.
";

/// The text.
pub fn transcript(heading: &str, wire: &[EvidenceItem]) -> String {
    let mut text = String::new();
    for line in heading.lines() {
        put(&mut text, &format!("# {}", escaped(line.as_bytes(), false)));
    }
    text.push_str(HEAD);
    let mut connections: Vec<Option<&str>> = wire.iter().map(|item| item.over.as_deref()).collect();
    let mut seen = Vec::new();
    connections.retain(|over| {
        !seen.contains(over) && {
            seen.push(*over);
            true
        }
    });
    for over in connections {
        if let Some(name) = over {
            put(&mut text, &format!("# the connection {}", escaped(name.as_bytes(), false)));
        }
        let mut connection = Connection { text: &mut text, is_open: false, last: None };
        wire.iter().filter(|item| item.over.as_deref() == over).for_each(|item| connection.item(item));
        connection.close();
    }
    text
}

struct Connection<'a> {
    text: &'a mut String,
    is_open: bool,
    last: Option<Duration>,
}

impl Connection<'_> {
    fn item(&mut self, item: &EvidenceItem) {
        if item.kind == EvidenceKind::Sent {
            return self.sent(item);
        }
        let sign = &match item.phase {
            Phase::Run => item.kind.name().to_owned(),
            phase => format!("{} ({})", item.kind.name(), phase.name()),
        };
        if let Some(note) = &item.note {
            put(self.text, &format!("# {sign} ({})", escaped(note.as_bytes(), false)));
        }
        self.received(sign, &item.bytes);
        self.write_missing(item);
        self.received(sign, &item.rest);
        self.last = Some(item.at);
        if item.kind == EvidenceKind::End {
            self.close();
        }
    }

    fn received(&mut self, sign: &str, bytes: &[u8]) {
        for line in bytes.split_inclusive(|byte| *byte == b'\n') {
            put(self.text, &format!("# {sign} {}", escaped(line, false)));
        }
    }

    fn write_missing(&mut self, item: &EvidenceItem) {
        if item.cut > 0 {
            put(self.text, &format!("# {} bytes were not kept", item.cut));
        }
    }

    fn sent(&mut self, item: &EvidenceItem) {
        if item.cut == 0
            && let Some(command) = request(&item.bytes)
        {
            self.close();
            put(self.text, &command);
        } else {
            if !self.is_open {
                put(self.text, "{");
            }
            self.is_open = true;
            let wait = self.last.map_or(Duration::ZERO, |last| item.at.saturating_sub(last));
            if wait >= NOTABLE {
                put(self.text, &format!("sleep {:.3}", wait.as_secs_f64()));
            }
            put(self.text, &format!("printf '{}'", escaped(&item.bytes, true)));
            self.write_missing(item);
            if !item.rest.is_empty() {
                put(self.text, &format!("printf '{}'", escaped(&item.rest, true)));
            }
        }
        self.last = Some(item.at);
    }

    fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            put(self.text, "} | nc \"$HOST\" \"$PORT\"");
        }
    }
}

/// A request of HTTP as a call of `curl`.
fn request(bytes: &[u8]) -> Option<String> {
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n")?;
    let (head, body) = (std::str::from_utf8(&bytes[..end]).ok()?, &bytes[end + 4..]);
    let is_plain = |line: &str| line.chars().all(|sign| matches!(sign, ' '..='~'));
    let (first, headers) = head.split_once("\r\n").unwrap_or((head, ""));
    let [method, path, version] = first.split(' ').collect::<Vec<_>>().try_into().ok()?;
    if !version.starts_with("HTTP/1.") || !head.split("\r\n").all(is_plain) {
        return None;
    }
    let headers: Vec<(&str, &str)> = headers.split("\r\n").filter_map(|line| line.split_once(": ")).collect();
    let find = |wanted: &str| headers.iter().find(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let base = find("Host").map_or(String::new(), |(_, host)| quoted(&format!("http://{host}")));
    let mut command = format!("BASE=${{BASE-{base}}}\n");
    if !body.is_empty() {
        let _ = write!(command, "printf '{}' | ", escaped(body, true));
    }
    let how = if method == "HEAD" { "-I".to_owned() } else { format!("-X {}", quoted(method)) };
    let _ = write!(command, "curl -sig --path-as-is {how} \"$BASE\"{}", quoted(path));
    for (name, value) in &headers {
        // What `curl` says itself, of the request that it makes.
        if !["host", "content-length", "connection"].contains(&name.to_ascii_lowercase().as_str()) {
            let _ = write!(command, " -H {}", quoted(&format!("{name}: {value}")));
        }
    }
    if !body.is_empty() {
        // Without a value, `curl` leaves out what it would say by itself.
        command.push_str(if find("Content-Type").is_none() { " -H 'Content-Type:'" } else { "" });
        command.push_str(" --data-binary @-");
    }
    Some(command)
}

fn put(text: &mut String, line: &str) {
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{line}");
}

pub(crate) fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The bytes in printable ASCII: as `printf` reads them within single quotes, or for people.
fn escaped(bytes: &[u8], is_printf: bool) -> String {
    let mut text = String::new();
    for (at, byte) in bytes.iter().enumerate() {
        let _ = match byte {
            b'\r' => write!(text, "\\r"),
            b'\n' => write!(text, "\\n"),
            b'%' if is_printf => write!(text, "%%"),
            b'\\' => write!(text, "\\\\"),
            // Within quotes, and what an option would begin with.
            b'\'' if is_printf => write!(text, "\\047"),
            b'-' if is_printf && at == 0 => write!(text, "\\055"),
            b' '..=b'~' => write!(text, "{}", char::from(*byte)),
            other => write!(text, "\\{other:03o}"),
        };
    }
    text
}
