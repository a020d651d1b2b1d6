//! A run over a stream: what is sent, and what comes back. It is the same for a process and for a connection.
//! `dialogue/between.rs` has how a run begins and how it is left.

mod between;

use std::time::Instant;

use coreach_model::excerpt::shortened;
use coreach_model::semantics::Event;

use crate::adapter::{Failure, Received, Sent, Session};
use crate::binary;
use crate::datagrams::Stray;
use crate::description::Encoding;
use crate::evidence::{self, Evidence};
use crate::json_lines::{self, Message};
use crate::launched::Launched;
use crate::lines::{self, PendingLines, Recognized};
use crate::process::Process;
use crate::reading::{answer_ignored, mark_lines, mark_unless_event, note_of, read_line, read_message};
use crate::signature::Signatures;
use crate::stream::{self, ChannelEnded, SPEAK_TLS, Stream, StreamFrame};
use crate::times::MOST_IGNORED;

/// The name, in messages, of the steps that separate a run from the one before.
pub const BARRIER: &str = "barrier";

pub struct Dialogue {
    stream: Stream,
    signatures: Signatures,
    pending: PendingLines,
    deadline: Instant,
    /// Something was sent, and it is not known whether the other side has read it.
    may_have_unread: bool,
    /// The output that the end of the stream is, if it is one.
    on_close: Option<String>,
    /// The end of this stream has been told as that output.
    has_hung_up: bool,
    /// When the end of a stream of this run, of this or an earlier one, was last told as that output.
    hung_up: Option<Instant>,
    sent: Sent,
    /// The number of bytes that had come when something was last sent.
    came_before_sending: u64,
    seed: u64,
    evidence: Evidence,
    /// An earlier run has used the stream. Messages before the beginning of this one may be of that run.
    is_again: bool,
}

impl Dialogue {
    /// Makes a dialogue in which nothing is said yet. `evidence` gets what goes over the stream.
    pub fn new(stream: Stream, session: &Session<'_>, encoding: &Encoding, evidence: Evidence) -> Self {
        let signatures = Signatures::of(session).capturing(encoding.captures());
        let deadline = session.deadline;
        Dialogue {
            stream: stream.with_evidence(evidence.clone()),
            signatures,
            pending: PendingLines::default(),
            deadline,
            may_have_unread: false,
            on_close: None,
            has_hung_up: false,
            hung_up: None,
            sent: Sent::Yes,
            came_before_sending: 0,
            seed: session.seed,
            evidence,
            is_again: false,
        }
    }

    pub fn anew(self, session: &Session<'_>, encoding: &Encoding, evidence: Evidence) -> Self {
        Dialogue { is_again: true, ..Dialogue::new(self.stream, session, encoding, evidence) }
    }

    /// Says whether there can be another run over the same stream.
    pub fn goes_on(&self) -> bool {
        self.stream.ended().is_none()
    }

    /// Returns the stream, if something may still come over it.
    pub fn stream(&self) -> Option<&Stream> {
        Some(&self.stream).filter(|stream| stream.ended().is_none())
    }

    pub fn launched(self, launched: Launched) -> Self {
        Dialogue { signatures: self.signatures.launched(launched), ..self }
    }

    pub fn with_closing_output(self, on_close: Option<String>) -> Self {
        Dialogue { on_close, ..self }
    }

    pub fn sent(&self) -> Sent {
        self.sent
    }

    /// Returns the lines of the last event, or the line that was none. Only for an encoding of lines.
    pub fn taken(&self) -> Vec<u8> {
        self.pending.taken()
    }

    pub fn hears(&self) -> bool {
        !self.has_hung_up
    }

    /// Returns when the other side was last seen to have ended in this run. Waits until `until` for an end
    /// that was not told yet.
    pub fn ended(&self, until: Instant, process: Option<&Process>) -> Option<Instant> {
        let is_new = !self.has_hung_up && self.stream.has_hung_up(until, process.map(Process::end));
        if is_new { Some(Instant::now()) } else { self.hung_up }
    }

    /// Says whether the other side may not have read all that was sent to it.
    pub fn may_have_unread(&self) -> bool {
        self.may_have_unread
    }

    /// Says whether a message or the end has come, which must be received before anything else is sent.
    fn has_news(&mut self) -> Result<bool, Failure> {
        Ok(self.stream.has_frame()? || (self.stream.ended().is_some() && !self.has_hung_up))
    }

    /// Sends a stimulus. If the end of the stream is an output, finding the stream ended is no failure.
    pub fn send(
        &mut self,
        encoding: &Encoding,
        stimulus: &Event,
        process: Option<&Process>,
    ) -> Result<(), Failure> {
        let bytes = match encoding {
            Encoding::Json => json_lines::write_stimulus(stimulus, &self.signatures).into_bytes(),
            Encoding::Lines(lines) => {
                self.pending.ask(&stimulus.action);
                let text = lines::write_stimulus(lines, stimulus, &mut self.signatures)?;
                self.pending.note_sent_text(&text);
                text.into_bytes()
            }
            Encoding::Binary(binary) => binary::write_stimulus(binary, stimulus, &self.signatures)?,
        };
        self.sent = Sent::Yes;
        let sent_before = self.stream.sent();
        match self.write(&bytes, self.deadline, process) {
            Err(Failure::Lost(why)) if self.on_close.is_some() && !self.has_hung_up => {
                // Messages that it sent before come first, and then its end. A process that only takes
                // nothing any more has not disconnected.
                self.stream.has_frame()?;
                self.judge_unsent(why, sent_before, process)
            }
            other => other,
        }
    }

    /// Returns the failure to send a stimulus, for the reason `why`. It is none if the other side has ended,
    /// since this end is the next output. Before the stimulus, `sent` bytes were sent.
    fn judge_unsent(&mut self, why: String, sent: u64, process: Option<&Process>) -> Result<(), Failure> {
        let is_gone = process.is_some_and(|process| process.has_ended(Instant::now()));
        if self.stream.ended().is_none() && !is_gone {
            return Err(Failure::Lost(why));
        }
        // Once the sending has begun, it is not known how much was taken.
        self.sent = if self.stream.sent() == sent { Sent::No } else { Sent::Yes };
        Ok(())
    }

    /// Returns the next output, or silence at `until`. Answers what is ignored on the way.
    pub fn receive(
        &mut self,
        encoding: &Encoding,
        until: Instant,
        process: Option<&Process>,
    ) -> Result<Received, Failure> {
        let mut ignored = 0;
        loop {
            // Lines that have come already may be events. Other encodings keep no frames.
            let mut found = match encoding {
                Encoding::Lines(lines) => {
                    let found = self.pending.next(lines, &mut self.signatures);
                    mark_lines(&self.pending, found, &self.evidence)?
                }
                Encoding::Json | Encoding::Binary(_) => Recognized::More,
            };
            if found == Recognized::More {
                let frame = match self.stream.frame(until, process.map(Process::end))? {
                    StreamFrame::Bytes(frame) => frame,
                    StreamFrame::Nothing => return Ok(Received::Silence),
                    StreamFrame::Ended(ended) => return self.receive_end(encoding, ended, process),
                };
                match encoding {
                    Encoding::Lines(_) => {
                        let line =
                            mark_unless_event(frame, stream::read_raw_line(frame), |_| None, &self.evidence)?;
                        self.pending.push(line)?;
                    }
                    Encoding::Binary(binary) => {
                        let output = binary::read_frame(binary, frame, &mut self.signatures);
                        found = mark_unless_event(frame, output, note_of, &self.evidence)?;
                    }
                    Encoding::Json => found = recognize_json(frame, &self.signatures, &self.evidence)?,
                }
            }
            match found {
                Recognized::Received(received) => return Ok(received),
                Recognized::Ignored(answer) => self.answer(&answer, process)?,
                Recognized::More => {}
            }
            // A system that sends only ignored messages must not hold up the run.
            ignored += 1;
            if ignored > MOST_IGNORED && Instant::now() >= until {
                return Ok(Received::Silence);
            }
        }
    }

    /// Returns what the end of the stream is: a failure, or once an output, after all that came before it.
    fn receive_end(
        &mut self,
        encoding: &Encoding,
        ended: ChannelEnded,
        process: Option<&Process>,
    ) -> Result<Received, Failure> {
        let Some(action) = self.on_close.clone() else {
            self.evidence.mark(&self.unread(), evidence::INCOMPLETE);
            return Err(self.explain_end(ended, process));
        };
        if self.has_hung_up {
            return Ok(Received::Silence);
        }
        let rest = self.stream.rest();
        if !rest.is_empty() {
            let what = if matches!(encoding, Encoding::Binary(_)) { "frame" } else { "line" };
            self.evidence.mark(rest, evidence::GARBAGE);
            let message =
                format!("it {} in the middle of a {what}: {}", ended.text(), stream::escape_bytes(rest));
            return Err(Failure::Garbage(message));
        }
        if let Encoding::Lines(lines) = encoding {
            loop {
                let found = self.pending.last(lines, &mut self.signatures);
                match mark_lines(&self.pending, found, &self.evidence)? {
                    Recognized::Received(received) => return Ok(received),
                    // There is nobody to answer.
                    Recognized::Ignored(_) => {}
                    Recognized::More => break,
                }
            }
        }
        self.has_hung_up = true;
        self.hung_up = Some(Instant::now());
        Ok(Received::Output(Event::new(action, Vec::new())))
    }

    /// Explains an end of the stream that is no output.
    fn explain_end(&self, ended: ChannelEnded, process: Option<&Process>) -> Failure {
        let is_refused = self.stream.came() == 0 && self.stream.channel.may_need_tls();
        let help = match ended {
            _ if is_refused && process.and_then(Process::last_words).is_none() => {
                "\nhelp: it has sent nothing before. If it speaks TLS on this port, write `tls: { ca: ca.pem }` under `tcp`; \
                 else let it keep the first connection open, since coreach opens no new one in a run"
            }
            ChannelEnded::Closed | ChannelEnded::Disconnected | ChannelEnded::Broken
                if self.pending.is_empty() =>
            {
                "\nhelp: coreach opens no new connection in a run: let the system keep this one open\nhelp: if the model \
                 describes that the system closes it, name this output with `on_close: OUTPUT` in the IUT file, and \
                 the input that connects again with `reconnect: INPUT`"
            }
            _ => "",
        };
        // Of a process that has ended, `describe_loss` tells the status in place of these words.
        let running = if help.is_empty() || process.is_none() { "" } else { ", and still runs" };
        let what = format!("{}{running}", ended.text());
        let mut text = describe_loss(&what, process);
        if !self.pending.is_empty() {
            text += "\nit was in the middle of an output of several lines";
        }
        if let Some(failure) = self.explain_tls(ended, process) {
            return failure;
        }
        // If the process has ended, the text tells that instead, and this remedy does not fit.
        if !help.is_empty() && text.contains(&what) {
            let help = match text.contains(", after its error: ") {
                true => {
                    "\nhelp: the error may come from what was sent: does it read up to the end of each message?"
                }
                false => help,
            };
            text += &(self.describe_last_exchange() + help);
        }
        Failure::Lost(text)
    }

    /// Explains the end of a connection over which nothing has come, if the last words of the system, which
    /// must have come, are about TLS.
    fn explain_tls(&self, ended: ChannelEnded, process: Option<&Process>) -> Option<Failure> {
        let names_tls = |line: &str| ["SSL", "TLS", "ssl", "tls"].iter().any(|word| line.contains(word));
        let is_refused = self.stream.came() == 0 && self.stream.channel.may_need_tls();
        let process = process.filter(|process| is_refused && !process.has_ended(Instant::now()))?;
        let (ended, line) = (ended.text(), process.find_line(names_tls)?);
        let (line, after) = (shortened(&line), self.describe_last_exchange());
        Some(Failure::Lost(format!("the implementation {ended}: {line}{after}\nhelp: {SPEAK_TLS}")))
    }

    /// Notes down and answers a frame, if the description ignores it. Returns whether it does.
    fn answer_if_ignored(
        &mut self,
        encoding: &Encoding,
        frame: &[u8],
        process: Option<&Process>,
    ) -> Result<bool, Failure> {
        let Some(answer) = answer_ignored(encoding, frame, &self.signatures)? else { return Ok(false) };
        self.evidence.mark(frame, evidence::IGNORED);
        self.answer(&answer, process)?;
        Ok(true)
    }

    /// Sends the answer to an ignored message. If nobody takes it, that is no failure: the end of the stream
    /// will be received later.
    fn answer(&mut self, answer: &[u8], process: Option<&Process>) -> Result<(), Failure> {
        if answer.is_empty() {
            return Ok(());
        }
        match self.write(answer, self.deadline, process) {
            Err(Failure::Lost(_)) => Ok(()),
            other => other,
        }
    }

    /// Sends bytes. From here on they may be unread, even if the sending fails midway. The failure says how
    /// the process ended, if there is one.
    fn write(&mut self, bytes: &[u8], until: Instant, process: Option<&Process>) -> Result<(), Failure> {
        self.may_have_unread = true;
        self.came_before_sending = self.stream.came();
        let sent = self.stream.send(bytes, until, process.map(Process::end));
        sent.map_err(|failure| match failure {
            Failure::Lost(what) => Failure::Lost(describe_loss(&what, process)),
            failure => failure,
        })
    }

    /// Marks what may be why a run ended in silence, such as a message that has not come as a whole.
    pub fn mark_unread(&self) {
        match (self.explain_silence(), self.explain_line_end()) {
            _ if self.stream.ended().is_some() => {}
            (Some(why), _) => self.evidence.mark(why.as_bytes(), evidence::NO_ANSWER),
            (_, Some(why)) => self.evidence.mark(why.as_bytes(), evidence::MAYBE),
            // If the rest has a whole line, it is not an incomplete message: nobody has asked for that line.
            _ if self.stream.rest().contains(&b'\n') => {}
            _ => self.evidence.mark(&self.unread(), evidence::INCOMPLETE),
        }
    }

    /// Explains why nothing was received, if what came shows it.
    fn explain_silence(&self) -> Option<String> {
        let ports = "coreach receives from one port of a host only. If each answer comes from a new port, write `replies_from: \
                     fresh_port`. If the system keeps the new port, as TFTP does, write `replies_from: any_port`";
        if let Some(Stray { from, bytes, .. }) = &self.stream.stray {
            return Some(format!(
                "`{}` came from {from}, another port. {ports}",
                stream::escape_bytes(bytes)
            ));
        }
        let has_no_answer = self.stream.came() == self.came_before_sending;
        if let Some(to) = self.stream.channel.moved_to().filter(|_| has_no_answer) {
            return Some(format!("the last message went to {to}, from where the last answer came. {ports}"));
        }
        let why = self.stream.inbox.describe_short_frame()?;
        let rest = self.stream.rest().iter().take(32).map(|byte| format!("{byte:02x}"));
        Some(format!("it has sent `{}`, an incomplete frame: {why}", rest.collect::<Vec<_>>().join(" ")))
    }

    /// Explains the end of a line, if a socket is silent and the end of what was sent may be why.
    fn explain_line_end(&self) -> Option<String> {
        let sent = self.pending.sent_text().filter(|sent| !sent.ends_with("\r\n"))?;
        let (has, end) = if sent.ends_with('\n') { ("LF", "\\r\\n") } else { ("nothing", "\\n") };
        let text = shortened(sent).escape_debug().to_string();
        // The head of a record has five bytes. After these, a server that speaks TLS would not be silent.
        let tls = match self.stream.channel.may_need_tls() && self.stream.sent() < 5 {
            true => "if the system speaks TLS on this port, write `tls: { ca: ca.pem }` under `tcp`\nhelp: ",
            false => "",
        };
        (self.stream.channel.is_socket() && self.stream.came() == 0).then(|| {
            format!(
                "{tls}coreach sent `{text}`, with {has} at its end. If the system waits for `{end}`, write \
                 `line_ending: \"{end}\"` next to `encoding: lines`"
            )
        })
    }

    /// Marks a message that came on standard error, if nothing has come on standard output.
    pub fn mark_misdirected(&self, encoding: &Encoding, process: Option<&Process>) {
        if self.stream.came() == 0
            && let Some(line) = process.and_then(|process| self.find_misdirected(encoding, process))
        {
            self.evidence.mark(line.as_bytes(), evidence::ON_STDERR);
        }
    }

    /// Finds a message among the words on standard error.
    fn find_misdirected(&self, encoding: &Encoding, process: &Process) -> Option<String> {
        process.find_line(|line| match encoding {
            Encoding::Json => {
                !matches!(json_lines::read_message(line, &self.signatures), Ok(Message::Log) | Err(_))
            }
            Encoding::Lines(lines) => lines::may_begin(lines, line),
            Encoding::Binary(_) => false,
        })
    }

    fn unread(&self) -> Vec<u8> {
        let mut text = self.pending.text();
        text.extend_from_slice(self.stream.rest());
        text
    }

    /// Says after which message the stream has ended, in a line of its own.
    fn describe_last_exchange(&self) -> String {
        let Some(sent) = self.pending.sent_text().map(|text| shortened(text.trim_end())) else {
            return String::new();
        };
        match String::from_utf8_lossy(&self.pending.taken()).into_owned() {
            answer if answer.is_empty() => format!("\nthis was after coreach had sent `{sent}`"),
            answer => format!("\nthis was after the answer `{}` to `{sent}`", shortened(&answer)),
        }
    }
}

/// Recognizes a frame of JSON during a run, in which `ready` has come already.
fn recognize_json(frame: &[u8], signatures: &Signatures, evidence: &Evidence) -> Result<Recognized, Failure> {
    let line = read_line(frame, evidence)?;
    match read_message(line, signatures, evidence)? {
        Message::Output(received) => Ok(Recognized::Received(received)),
        Message::Log => Ok(Recognized::More),
        Message::Ready => {
            evidence.mark(line.as_bytes(), evidence::GARBAGE);
            let text = format!("it says twice that it is ready: {}", shortened(line));
            let help =
                "this line answers `start` only: is each message written twice, as by two handlers of a log?";
            Err(Failure::Garbage(text).with_help(help))
        }
        Message::Error(text) => Err(Failure::Lost(format!("it says: {text}"))),
    }
}

/// Says what became of the process, if it has ended, or what the other side has done.
fn describe_loss(what: &str, process: Option<&Process>) -> String {
    match process {
        Some(process) => process.farewell(what),
        None => format!("the implementation {what}"),
    }
}
