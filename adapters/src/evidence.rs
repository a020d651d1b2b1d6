//! What went over the wire: the evidence of a run.
//!
//! **Problem.** A trace holds what the tester has made of the bytes. A user who doubts a verdict wants the
//! bytes: what was sent, what came, and when. Some of these bytes are in no event: half a line, a reply
//! without its end, a line that is no event.
//!
//! **Method.** The layer that reads and writes descriptors (`stream.rs`, `socket.rs`) hands a copy of every
//! byte to a log, in one place for each direction, before anything else looks at it. An adapter says which
//! text was no event ([`Evidence::mark`]). Nothing in here is interpreted, or decides anything.
//!
//! **Bounds.** A message consists of bytes that were written or came at once, and of those that soon continue
//! its last line. It keeps its beginning and its end, half of [`LogLimits::message`] each. The first messages
//! are kept up to a quarter of [`LogLimits::run`], and then the last ones, since the verdict depends on the
//! end of the run. The messages in between are counted. A message costs [`OVERHEAD`] besides its bytes, so
//! that single bytes do not fill the memory.
//!
//! **Costs** a copy of each byte that is kept, and a lock that nobody else holds for long.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use coreach_model::lock::lock;

use serde::{Deserialize, Serialize};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LogLimits {
    /// The most bytes of a run. With 0, nothing is kept.
    pub run: usize,
    pub message: usize,
    /// Names of headers whose values are not kept.
    pub redact: Vec<String>,
}

impl Default for LogLimits {
    fn default() -> Self {
        LogLimits { run: 64 << 10, message: 8 << 10, redact: Vec::new() }
    }
}

/// The bytes that a message costs besides its own.
pub const OVERHEAD: usize = 64;

/// The note of a mark: an output that is none of the specification's.
pub const ALIEN: &str = "alien";

/// The note of a mark: it cannot be read.
pub const GARBAGE: &str = "garbage";

/// The note of a mark: the description ignores it.
pub const IGNORED: &str = "ignored";

/// The note of a mark: it is no whole message.
pub const INCOMPLETE: &str = "incomplete";

/// The note of a mark: a message that was written to standard error, where nobody reads it.
pub const ON_STDERR: &str = "on standard error";

/// The beginning of the note of a mark: a datagram that came from elsewhere.
pub const FROM: &str = "from ";

/// The end of that note, if only the port is another one.
pub const ANOTHER_PORT: &str = "another port of the host";

/// The note of a mark whose text says why nothing was received, and what helps.
pub const NO_ANSWER: &str = "no answer";

/// The note of a mark whose text says what may be the reason for that.
pub const MAYBE: &str = "maybe";

coreach_model::words! {
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum EvidenceKind {
        Sent = "sent",
        Received = "received",
        /// A direction has ended; the note says how.
        End = "end",
        /// A text among what was received, or a datagram from elsewhere: the note says why it was no event.
        Mark = "mark",
        /// The last that the implementation wrote to its standard error.
        Stderr = "stderr",
        Omitted = "omitted",
    }
}

coreach_model::words! {
    /// When in a run it was.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "lowercase")]
    pub enum Phase {
        /// While the implementation was brought into its initial state.
        Start = "start",
        /// Between the beginning and the verdict.
        #[default]
        Run = "run",
        /// When the run was over.
        Settle = "settle",
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct EvidenceItem {
    pub kind: EvidenceKind,
    pub over: Option<String>,
    /// When it began, since the beginning of the run.
    pub at: Duration,
    pub phase: Phase,
    /// Its bytes, or their beginning if some are cut out.
    pub bytes: Vec<u8>,
    /// The number of bytes after these that were not kept.
    pub cut: usize,
    /// The bytes after the gap.
    pub rest: Vec<u8>,
    /// In words: how a direction ended, why a text is no event, how many messages are missing.
    pub note: Option<String>,
}

/// The log of a run. Its clones are the same log.
#[derive(Clone, Default, Debug)]
pub struct Evidence {
    log: Arc<Mutex<Log>>,
    /// The connection of the bytes, if there are several.
    over: Option<Arc<str>>,
}

#[derive(Default, Debug)]
struct Log {
    limits: LogLimits,
    first: Vec<LoggedMessage>,
    last: VecDeque<LoggedMessage>,
    first_cost: usize,
    last_cost: usize,
    /// The first list takes no more messages.
    is_full: bool,
    /// The messages that were left out between the lists: the time of the first, their number, their bytes.
    omitted: Option<(Instant, usize, usize)>,
}

#[derive(Debug)]
struct LoggedMessage {
    kind: EvidenceKind,
    over: Option<Arc<str>>,
    began: Instant,
    went_on: Instant,
    bytes: Vec<u8>,
    rest: VecDeque<u8>,
    cut: usize,
    note: Option<String>,
}

impl Evidence {
    pub fn new(limits: LogLimits) -> Self {
        Evidence { log: Arc::new(Mutex::new(Log { limits, ..Log::default() })), over: None }
    }

    /// Makes an empty log with the same limits. Clones of the old one still write there.
    pub fn anew(&self) -> Self {
        Evidence::new(lock(&self.log).limits.clone())
    }

    /// Returns the same log, for the bytes of one of several connections.
    #[must_use]
    pub fn over(&self, connection: &str) -> Self {
        Evidence { over: Some(connection.into()), ..self.clone() }
    }

    pub fn connection(&self) -> Option<&str> {
        self.over.as_deref()
    }

    fn add(&self, kind: EvidenceKind, bytes: &[u8], goes_on: bool, note: Option<String>) {
        lock(&self.log).add(kind, bytes, goes_on, note, self.over.as_ref());
    }

    /// Adds bytes that were sent. `goes_on`: in the middle of a message.
    pub fn sent(&self, bytes: &[u8], goes_on: bool) {
        self.add(EvidenceKind::Sent, bytes, goes_on, None);
    }

    /// Adds bytes that were received. `goes_on`: in the middle of a message.
    pub fn received(&self, bytes: &[u8], goes_on: bool) {
        self.add(EvidenceKind::Received, bytes, goes_on, None);
    }

    pub fn ended(&self, how: &str) {
        self.add(EvidenceKind::End, b"", false, Some(how.to_owned()));
    }

    /// Notes that a text that was received is no event.
    pub fn mark(&self, text: &[u8], why: &str) {
        if !text.is_empty() {
            self.add(EvidenceKind::Mark, text, false, Some(why.to_owned()));
        }
    }

    /// Adds the last words of a process, and the number of bytes before them.
    pub fn stderr(&self, words: &[u8], cut: usize) {
        if !words.is_empty() {
            let note = (cut > 0).then(|| format!("after {cut} bytes more"));
            self.add(EvidenceKind::Stderr, words, false, note);
        }
    }

    /// Takes all items out of the log, with times since `begin`.
    pub fn take(&self, begin: Instant) -> Vec<EvidenceItem> {
        let mut log = lock(&self.log);
        let limits = log.limits.clone();
        let empty = Log { limits: limits.clone(), ..Log::default() };
        let Log { first, last, omitted, .. } = std::mem::replace(&mut *log, empty);
        drop(log);
        let since = |at: Instant| at.saturating_duration_since(begin);
        let gap = omitted.map(|(at, messages, bytes)| EvidenceItem {
            kind: EvidenceKind::Omitted,
            over: None,
            at: since(at),
            phase: Phase::Run,
            bytes: Vec::new(),
            cut: bytes,
            rest: Vec::new(),
            note: Some(if messages == 1 { "1 message".to_owned() } else { format!("{messages} messages") }),
        });
        let item = |message: LoggedMessage| {
            let LoggedMessage { kind, over, began, mut bytes, mut rest, cut, note, .. } = message;
            let over = over.map(|over| over.to_string());
            if cut == 0 {
                bytes.extend(rest.drain(..));
            }
            let (at, phase, rest) = (since(began), Phase::Run, rest.into());
            EvidenceItem { kind, over, at, phase, bytes, cut, rest, note }
        };
        let mut items: Vec<EvidenceItem> = first.into_iter().map(item).collect();
        items.extend(gap);
        items.extend(last.into_iter().map(item));
        redact(&mut items, &limits.redact);
        items
    }
}

impl Log {
    /// Adds bytes to the last message, if they go on with it at once, or as a new one.
    fn add(
        &mut self,
        kind: EvidenceKind,
        bytes: &[u8],
        goes_on: bool,
        note: Option<String>,
        over: Option<&Arc<str>>,
    ) {
        if self.limits.run == 0 {
            return;
        }
        let now = Instant::now();
        let limit = self.limits.message;
        // A newest message among the last ones is never left out, so bytes that go on find it.
        let (newest, list_cost) = match self.last.back_mut() {
            Some(newest) => (Some(newest), &mut self.last_cost),
            None => (self.first.last_mut(), &mut self.first_cost),
        };
        match newest {
            Some(newest)
                if goes_on
                    && newest.kind == kind
                    && newest.over.as_ref() == over
                    && now < newest.went_on + Duration::from_millis(10) =>
            {
                *list_cost -= newest.cost();
                newest.push(bytes, limit);
                newest.went_on = now;
                *list_cost += newest.cost();
            }
            _ => {
                let (over, rest) = (over.cloned(), VecDeque::new());
                let (began, went_on) = (now, now);
                let mut message =
                    LoggedMessage { kind, over, began, went_on, bytes: Vec::new(), rest, cut: 0, note };
                message.push(bytes, limit);
                // The first list is closed as soon as a message has found no room in it.
                self.is_full |= self.first_cost + message.cost() > self.limits.run / 4;
                if self.is_full {
                    self.last_cost += message.cost();
                    self.last.push_back(message);
                } else {
                    self.first_cost += message.cost();
                    self.first.push(message);
                }
            }
        }
        self.forget();
    }

    /// Leaves messages out until the others are within the limit. The last one always stays.
    fn forget(&mut self) {
        while self.last.len() > 1 && self.first_cost + self.last_cost > self.limits.run {
            let Some(old) = self.last.pop_front() else { return };
            self.last_cost -= old.cost();
            let (_, messages, bytes) = self.omitted.get_or_insert((old.began, 0, 0));
            *messages += 1;
            *bytes += old.bytes.len() + old.cut + old.rest.len();
        }
    }
}

impl LoggedMessage {
    fn cost(&self) -> usize {
        self.bytes.len() + self.rest.len() + self.note.as_ref().map_or(0, String::len) + OVERHEAD
    }

    /// Keeps the first half of `most` bytes and the last half.
    fn push(&mut self, bytes: &[u8], most: usize) {
        let half = (most / 2).max(1);
        let room = half.saturating_sub(self.bytes.len()).min(bytes.len());
        let (begin, more) = bytes.split_at(room);
        self.bytes.extend_from_slice(begin);
        // If many bytes come at once, only the last ones are copied.
        let skipped = more.len().saturating_sub(half);
        let newest = &more[skipped..];
        let surplus = (self.rest.len() + newest.len()).saturating_sub(half);
        self.rest.drain(..surplus);
        self.rest.extend(newest);
        self.cut += skipped + surplus;
    }
}

/// Takes out the values of headers of these names. A line may be in several items. If the beginning of a line
/// was cut out, the line may be such a header, so it is taken out, too.
fn redact(items: &mut [EvidenceItem], names: &[String]) {
    if names.is_empty() {
        return;
    }
    for kind in [EvidenceKind::Sent, EvidenceKind::Received, EvidenceKind::Mark] {
        // The part of a line that has come, without its end. `None` if the beginning is not known.
        let mut open = Some(Vec::new());
        for item in items.iter_mut() {
            if item.kind == EvidenceKind::Omitted {
                open = None;
            }
            if item.kind != kind {
                continue;
            }
            item.bytes = redact_piece(&item.bytes, names, &mut open);
            if item.cut > 0 {
                // The line in which the gap ends has no known beginning.
                let line_end = item.rest.iter().position(|byte| *byte == b'\n');
                let unknown_length = line_end.map_or(item.rest.len(), |line_end| line_end + 1);
                item.cut += unknown_length;
                item.rest.drain(..unknown_length);
                open = line_end.map(|_| Vec::new());
                item.rest = redact_piece(&item.rest, names, &mut open);
            }
        }
    }
}

/// Returns bytes without the values. `open_line` is the line as it has begun, or `None` if that was cut out.
fn redact_piece(bytes: &[u8], names: &[String], open_line: &mut Option<Vec<u8>>) -> Vec<u8> {
    const INSTEAD: &[u8] = b" [redacted]";
    let mut kept = Vec::new();
    for piece in bytes.split_inclusive(|byte| *byte == b'\n') {
        let Some(line) = open_line else {
            kept.extend_from_slice(INSTEAD.trim_ascii_start());
            if piece.ends_with(b"\n") {
                kept.push(b'\n');
                *open_line = Some(Vec::new());
            }
            continue;
        };
        let piece_start = line.len();
        line.extend_from_slice(piece);
        let is_named =
            |colon: &usize| names.iter().any(|name| line[..*colon].eq_ignore_ascii_case(name.as_bytes()));
        match line.iter().position(|byte| *byte == b':').filter(is_named) {
            Some(colon) => {
                // The part of the name that is in this piece stays.
                if piece_start <= colon {
                    kept.extend_from_slice(&line[piece_start..=colon]);
                    kept.extend_from_slice(INSTEAD);
                }
                let end = [b"\r\n".as_slice(), b"\n"].into_iter().find(|end| piece.ends_with(end));
                kept.extend_from_slice(end.unwrap_or_default());
            }
            None => kept.extend_from_slice(piece),
        }
        if piece.ends_with(b"\n") {
            line.clear();
        }
    }
    kept
}

/// Sets the phase of each item. `ready` is when the implementation was in its initial state, if it ever was.
/// `over` is when the run ended.
pub fn set_phase(mut items: Vec<EvidenceItem>, ready: Option<Duration>, over: Duration) -> Vec<EvidenceItem> {
    for item in &mut items {
        item.phase = match ready {
            // The last words are asked for at the end, whenever they were said.
            Some(_) if item.kind == EvidenceKind::Stderr => Phase::Run,
            Some(ready) if item.at > ready && item.at > over => Phase::Settle,
            Some(ready) if item.at > ready => Phase::Run,
            _ => Phase::Start,
        };
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(items: &[EvidenceItem]) -> Vec<(EvidenceKind, usize, usize, usize)> {
        items.iter().map(|item| (item.kind, item.bytes.len(), item.cut, item.rest.len())).collect()
    }

    #[test]
    fn a_long_message_keeps_its_beginning_and_its_end() {
        for pieces in [1, 7, 1000, 100_000] {
            let all: Vec<u8> = (0..100_000_u32).map(|number| (number % 251) as u8).collect();
            let evidence = Evidence::new(LogLimits { run: 64 << 10, message: 1000, redact: Vec::new() });
            for (number, piece) in all.chunks(all.len().div_ceil(pieces)).enumerate() {
                // The clock must not part them, however slow the machine is.
                let mut log = lock(&evidence.log);
                if let Some(last) = log.first.last_mut() {
                    last.went_on = Instant::now() + Duration::from_secs(60);
                }
                log.add(EvidenceKind::Received, piece, number > 0, None, None);
            }
            let items = evidence.take(Instant::now());
            assert_eq!(sizes(&items), [(EvidenceKind::Received, 500, 99_000, 500)], "{pieces}");
            assert_eq!((&items[0].bytes[..], &items[0].rest[..]), (&all[..500], &all[99_500..]));
        }
        let evidence = Evidence::new(LogLimits { run: 1000, message: 10, redact: Vec::new() });
        evidence.sent(b"0123456789", false);
        evidence.sent(b"0123456789a", false);
        let items = evidence.take(Instant::now());
        assert_eq!(sizes(&items), [(EvidenceKind::Sent, 10, 0, 0), (EvidenceKind::Sent, 5, 1, 5)]);
        assert_eq!(items[0].bytes, b"0123456789");
    }

    #[test]
    fn the_first_and_the_last_messages_are_kept_and_the_others_counted() {
        let limits = LogLimits { run: 4000, message: 100, redact: Vec::new() };
        let evidence = Evidence::new(limits.clone());
        for number in 0..1_000 {
            evidence.sent(format!("{number:020}").as_bytes(), false);
        }
        let items = evidence.take(Instant::now());
        let kept = |item: &EvidenceItem| item.bytes.len() + item.rest.len() + OVERHEAD;
        assert!(items.iter().map(kept).sum::<usize>() <= limits.run + OVERHEAD, "{}", items.len());
        let gap = items.iter().position(|item| item.kind == EvidenceKind::Omitted).unwrap_or_default();
        // The first messages, which cost 84 each, have a quarter of the room.
        assert_eq!(gap, 11);
        let told = format!("{} messages", 1_000 - (items.len() - 1));
        assert_eq!(items[gap].note.as_deref(), Some(told.as_str()));
        assert_eq!(items[gap].cut, 20 * (1_000 - (items.len() - 1)));
        let number = |item: &EvidenceItem| String::from_utf8_lossy(&item.bytes).parse::<usize>();
        for (at, item) in items[..gap].iter().enumerate() {
            assert_eq!(number(item), Ok(at));
        }
        let after = items.len() - gap - 1;
        for (at, item) in items[gap + 1..].iter().enumerate() {
            assert_eq!(number(item), Ok(1_000 - after + at));
        }
        // The log is empty after that.
        assert_eq!(evidence.take(Instant::now()), []);
    }

    #[test]
    fn a_secret_is_in_no_piece_however_it_is_cut() {
        let request =
            b"POST / HTTP/1.1\r\nauthorization: Bearer s3cret\r\nX: y\r\n\r\ns3: Authorization: z\n";
        for size in 1..request.len() {
            for message in [8, 40, 1000] {
                let limits = LogLimits { run: 1 << 20, message, redact: vec!["Authorization".to_owned()] };
                let evidence = Evidence::new(limits);
                request.chunks(size).for_each(|piece| evidence.sent(piece, false));
                let items = evidence.take(Instant::now());
                let bytes = |item: &EvidenceItem| {
                    [item.bytes.clone(), b"...".repeat(item.cut.min(1)), item.rest.clone()].concat()
                };
                let all: Vec<u8> = items.iter().flat_map(bytes).collect();
                let all = String::from_utf8_lossy(&all);
                for piece in ["Bear", "s3c", "cret", "ret\r"] {
                    assert!(!all.contains(piece), "{size} {message}: {all}");
                }
                if message == 1000 {
                    let told =
                        "POST / HTTP/1.1\r\nauthorization: [redacted]\r\nX: y\r\n\r\ns3: Authorization: z\n";
                    // The ends of a line may come apart, too.
                    assert_eq!(all.replace("\r\n", "\n"), told.replace("\r\n", "\n"), "{size}");
                }
            }
        }
    }

    #[test]
    fn single_bytes_do_not_fill_the_memory() {
        let evidence = Evidence::default();
        for _ in 0..100_000 {
            evidence.received(b"x\n", false);
        }
        assert!(evidence.take(Instant::now()).len() <= LogLimits::default().run / OVERHEAD);
    }
}
