//! A run over a stream: how it begins, what is sent, what comes back. The same for a process and for a
//! connection.

use std::time::{Duration, Instant};

use coreach_model::excerpt::shortened;
use coreach_model::semantics::Event;

use crate::adapter::{Failure, Received, Sent, Session};
use crate::binary;
use crate::description::{Encoding, PreparationStep};
use crate::encoding;
use crate::evidence::{self, Evidence};
use crate::json_lines::{self, Message};
use crate::launched::Launched;
use crate::lines::{self, Pending, Recognized};
use crate::process::Process;
use crate::reading::{ignored, is_idle, is_of_start, line, marked, message, note, of_lines};
use crate::signature::Signatures;
use crate::stream::{self, ChannelEnded, Drained, Stream, StreamFrame, text};
use crate::system::Arrival;

/// How the steps are called that separate a run from the one before.
pub const BARRIER: &str = "barrier";

/// So many lines that mean nothing are read by one who only looks.
const MOST_IGNORED: usize = 100;

/// A run under way.
#[derive(Debug)]
pub struct Dialogue {
    stream: Stream,
    signatures: Signatures,
    pending: Pending,
    deadline: Instant,
    /// Something was sent of which it is not known whether it was taken.
    is_owed: bool,
    /// The output that the end of the stream is, where it is one.
    on_close: Option<String>,
    /// The end has been told as that output.
    has_hung_up: bool,
    /// What became of the last stimulus.
    sent: Sent,
    seed: u64,
    evidence: Evidence,
    /// An earlier run has used the stream: what comes before it is begun may be that one's.
    is_again: bool,
}

impl Dialogue {
    /// Nothing is said yet. What goes over the stream is noted down in `evidence`.
    pub fn new(stream: Stream, session: &Session<'_>, encoding: &Encoding, evidence: Evidence) -> Self {
        let signatures = Signatures::of(session).capturing(encoding.captures());
        let deadline = session.deadline;
        Dialogue {
            stream: stream.noted(evidence.clone()),
            signatures,
            pending: Pending::default(),
            deadline,
            is_owed: false,
            on_close: None,
            has_hung_up: false,
            sent: Sent::Yes,
            seed: session.seed,
            evidence,
            is_again: false,
        }
    }

    /// Another run over the same stream.
    pub fn anew(self, session: &Session<'_>, encoding: &Encoding, evidence: Evidence) -> Self {
        Dialogue { is_again: true, ..Dialogue::new(self.stream, session, encoding, evidence) }
    }

    /// Can there be another run over the same stream?
    pub fn goes_on(&self) -> bool {
        self.stream.ended().is_none()
    }

    /// Waits until nothing but what is ignored has come for so long, on a stream that goes on.
    pub fn calm(
        &mut self,
        encoding: &Encoding,
        until: Instant,
        quiet: Duration,
        process: Option<&Process>,
    ) -> Arrival {
        let mut since = Instant::now();
        loop {
            let (now, before) = (Instant::now(), self.stream.came());
            if now >= until {
                return Arrival::Late;
            }
            match self.stream.frame((since + quiet).min(until), process.map(Process::end)) {
                Ok(StreamFrame::Bytes(frame)) => {
                    let frame = frame.to_vec();
                    match self.leaves_alone(encoding, &frame, process) {
                        Ok(true) => {}
                        Ok(false) => since = Instant::now(),
                        Err(_) => return Arrival::Unknown,
                    }
                    continue;
                }
                Ok(StreamFrame::Nothing) => {}
                Ok(StreamFrame::Ended(_)) | Err(_) => return Arrival::Unknown,
            }
            if self.stream.came() > before || since + quiet > until {
                since = now;
                continue;
            }
            // Half a message is none that has come.
            if !self.unread().is_empty() {
                return Arrival::Late;
            }
            self.is_owed = false;
            return Arrival::Come;
        }
    }

    /// Takes what an earlier run has left on the stream: does the exchanges, of which each answer may stand
    /// behind some of that one's, and forgets what is there then.
    ///
    /// # Errors
    /// [`Failure`]: an answer does not come.
    pub fn pass(
        &mut self,
        encoding: &Encoding,
        steps: &[PreparationStep],
        until: Instant,
        process: Option<&Process>,
    ) -> Result<(), Failure> {
        self.exchange(encoding, steps, BARRIER, until.min(self.deadline), process)?;
        while let StreamFrame::Bytes(_) = self.stream.frame(Instant::now(), process.map(Process::end))? {
            if Instant::now() >= until {
                return Err(Failure::Start("it goes on with what an earlier run has left".to_owned()));
            }
        }
        match self.stream.rest() {
            [] => Ok(()),
            rest => Err(Failure::Start(format!("half a message of an earlier run: {}", stream::shown(rest)))),
        }
    }

    /// What a wait for something from the other side waits for; nothing, where nothing will come.
    pub fn stream(&self) -> Option<&Stream> {
        Some(&self.stream).filter(|stream| stream.ended().is_none())
    }

    /// It is spoken with a system with which this was launched.
    #[must_use]
    pub fn launched(self, launched: Launched) -> Self {
        Dialogue { signatures: self.signatures.launched(launched), ..self }
    }

    /// The end of the stream is this output.
    #[must_use]
    pub fn closing(self, on_close: Option<String>) -> Self {
        Dialogue { on_close, ..self }
    }

    /// What became of the last stimulus.
    pub fn sent(&self) -> Sent {
        self.sent
    }

    /// May something still come?
    pub fn hears(&self) -> bool {
        !self.has_hung_up
    }

    /// May something that was sent not have been taken?
    pub fn is_owed(&self) -> bool {
        self.is_owed
    }

    /// Ends our side, and waits for the other one to do so, which is when it has taken all that was sent.
    pub fn settle(
        &mut self,
        encoding: &Encoding,
        until: Instant,
        quiet: Option<Duration>,
        process: Option<&Process>,
    ) -> Arrival {
        // Of datagrams, nobody says that they were taken.
        if self.stream.is_of_datagrams() && quiet.is_none() {
            return Arrival::Unknown;
        }
        self.stream.close_output();
        let signatures = &self.signatures;
        let idle = |frame: &[u8]| is_idle(encoding, frame, signatures);
        match self.stream.drain(until, quiet, process.map(Process::end), idle) {
            Drained::Ended | Drained::Quiet => {
                self.is_owed = false;
                Arrival::Come
            }
            Drained::Late => Arrival::Late,
            Drained::Broken => Arrival::Unknown,
        }
    }

    /// The last stimulus needed more than a message, and this became of it.
    pub fn not_sent(&mut self, sent: Sent) {
        self.sent = sent;
    }

    /// Has something come that must be seen before anything else is sent: a whole line, or the end?
    ///
    /// # Errors
    /// As [`crate::adapter::Adapter::receive`].
    pub fn has_news(&mut self) -> Result<bool, Failure> {
        Ok(self.stream.has_frame()? || (self.stream.ended().is_some() && !self.has_hung_up))
    }

    /// Leaves the stream for another one, in the middle of a run: ends our side, and waits for the other one
    /// to do so. What comes meanwhile is of nobody's order: it may have been sent before our end was taken,
    /// or because of it.
    ///
    /// # Errors
    /// [`Failure::Unclean`]: the other side does not end, so what was sent before may still be taken.
    pub fn leave(
        &mut self,
        encoding: &Encoding,
        until: Instant,
        quiet: Option<Duration>,
        process: Option<&Process>,
    ) -> Result<Sent, Failure> {
        if self.has_hung_up {
            self.is_owed = false;
            return Ok(Sent::Yes);
        }
        let (before, has_rest) =
            (self.stream.came(), !self.stream.rest().is_empty() || !self.pending.is_empty());
        match self.settle(encoding, until.min(self.deadline), quiet, process) {
            Arrival::Come if self.stream.came() == before && !has_rest => Ok(Sent::Yes),
            // Or it is not known what it has taken of what was sent before.
            Arrival::Come | Arrival::Unknown => Ok(Sent::Crossed),
            Arrival::Late => Err(Failure::Unclean(
                "the connection was left for a new one, and the other side does not end it: what was sent over it may still be taken"
                    .to_owned(),
            )),
        }
    }

    /// Goes on over another stream, until `ready` at the latest.
    ///
    /// # Errors
    /// [`Failure::Lost`]: it does not become ready.
    pub fn resume(
        self,
        stream: Stream,
        encoding: &Encoding,
        ready: Instant,
        process: Option<&Process>,
    ) -> Result<Self, Failure> {
        let Dialogue { signatures, deadline, on_close, seed, evidence, .. } = self;
        let mut next = Dialogue {
            stream: stream.noted(evidence.clone()),
            signatures,
            pending: Pending::default(),
            deadline,
            is_owed: false,
            on_close,
            has_hung_up: false,
            sent: Sent::Yes,
            seed,
            evidence,
            is_again: false,
        };
        if let Encoding::Json = encoding {
            let resume = json_lines::resume(next.signatures.constants(), seed);
            let begun = next.begin_json(&resume, ready.min(deadline), process);
            begun.map_err(|failure| match failure {
                Failure::Start(text) | Failure::Lost(text) => {
                    Failure::Lost(format!("the new connection did not become ready: {text}"))
                }
                other => other,
            })?;
        }
        Ok(next)
    }

    /// Brings the implementation at the other end into its initial state, until `ready` at the latest.
    /// `process` is the one at the other end, as far as it is ours: it is watched, and asked for its last
    /// words.
    ///
    /// # Errors
    /// [`Failure`]. Whatever happens before the beginning is a [`Failure::Start`], but for what cannot be
    /// read.
    pub fn begin(
        &mut self,
        encoding: &Encoding,
        session: &Session<'_>,
        ready: Instant,
        process: Option<&Process>,
    ) -> Result<(), Failure> {
        let ready = ready.min(self.deadline);
        let begun = match encoding {
            Encoding::Json => self.begin_json(&json_lines::start(session), ready, process),
            Encoding::Lines(_) | Encoding::Binary(_) => {
                self.exchange(encoding, encoding.reset(), "reset", ready, process)
            }
        };
        match begun {
            Err(Failure::Lost(text) | Failure::Stuck(text)) => {
                Err(Failure::Start(format!("it did not become ready: {text}")))
            }
            other => other,
        }
    }

    fn begin_json(&mut self, first: &str, ready: Instant, process: Option<&Process>) -> Result<(), Failure> {
        self.write(first.as_bytes(), ready, process)?;
        loop {
            let line = match self.stream.frame(ready, process.map(Process::end))? {
                // Only `ready` is an answer to this; whatever else comes before it is the earlier run's.
                StreamFrame::Bytes(frame) if self.is_again && !is_of_start(frame, &self.signatures) => {
                    if Instant::now() >= ready {
                        return Err(Failure::Start("`ready` did not come in time".to_owned()));
                    }
                    continue;
                }
                StreamFrame::Bytes(frame) => line(frame, &self.evidence)?,
                StreamFrame::Nothing => {
                    // Without the time: two runs that end so are equal.
                    return Err(Failure::Start("`ready` did not come in time".to_owned()));
                }
                StreamFrame::Ended(ended) => return Err(lost(ended, process)),
            };
            match message(line, &self.signatures, &self.evidence)? {
                Message::Ready => return Ok(()),
                Message::Log if Instant::now() < ready => {}
                Message::Log => {
                    return Err(Failure::Start("`ready` did not come, only messages for the log".to_owned()));
                }
                Message::Error(text) => return Err(Failure::Start(text)),
                Message::Output(_) => {
                    self.evidence.mark(line.as_bytes(), evidence::GARBAGE);
                    return Err(Failure::Garbage(format!("an output before `ready`: {}", shortened(line))));
                }
            }
        }
    }

    /// The exchanges among the steps, in their order.
    ///
    /// # Errors
    /// [`Failure`]: an answer is none, or another one than is expected.
    pub fn exchange(
        &mut self,
        encoding: &Encoding,
        steps: &[PreparationStep],
        of: &str,
        until: Instant,
        process: Option<&Process>,
    ) -> Result<(), Failure> {
        for step in steps {
            let PreparationStep::Exchange(exchange) = step else { continue };
            if exchange.over.is_some() && exchange.over.as_deref() != self.evidence.connection() {
                continue;
            }
            if let Some(template) = &exchange.send {
                let text = template.fill(|name| self.signatures.before(name));
                let text = text.map_err(|name| {
                    let why = self.signatures.lacking(&name);
                    Failure::Untranslatable(format!("`{of}` has the hole `{name}`, {why}"))
                })?;
                let bytes = match encoding {
                    Encoding::Lines(lines) => Ok((text + &lines.line_ending).into_bytes()),
                    Encoding::Binary(binary) => encoding::unhex(&text)
                        .ok_or_else(|| "no pairs of hexadecimal digits".to_owned())
                        .and_then(|frame| binary.cut.framed(frame)),
                    Encoding::Json => Err("JSON messages have no words of their own for this".to_owned()),
                };
                let bytes = bytes.map_err(|why| Failure::Untranslatable(format!("`{of}`: {why}")))?;
                self.write(&bytes, until, process)?;
            }
            let Some(expected) = &exchange.expect else { continue };
            // What an earlier run has left stands before the answer to a barrier.
            let skips = self.is_again && of == BARRIER;
            let (frame, answer) = loop {
                let frame = match self.stream.frame(until, process.map(Process::end))? {
                    StreamFrame::Bytes(frame) => frame.to_vec(),
                    StreamFrame::Nothing => return Err(Failure::Start(format!("`{of}` was not answered"))),
                    StreamFrame::Ended(ended) => return Err(lost(ended, process)),
                };
                let answer = match encoding {
                    Encoding::Binary(_) => encoding::hex(&frame),
                    Encoding::Json | Encoding::Lines(_) if skips => {
                        text(&frame).unwrap_or_default().to_owned()
                    }
                    Encoding::Json | Encoding::Lines(_) => line(&frame, &self.evidence)?.to_owned(),
                };
                let is_it = expected.is_match(&answer) || Instant::now() >= until;
                if is_it || !(self.leaves_alone(encoding, &frame, process)? || skips) {
                    break (frame, answer);
                }
            };
            let Some(found) = expected.captures(&answer) else {
                self.evidence.mark(&frame, evidence::GARBAGE);
                let text = format!("`{of}` was answered by `{}`", shortened(&answer));
                return Err(Failure::Start(text));
            };
            for name in expected.capture_names().flatten() {
                if let Some(value) = found.name(name) {
                    self.signatures.capture(name, value.as_str());
                }
            }
        }
        Ok(())
    }

    /// Sends a stimulus.
    ///
    /// # Errors
    /// As [`crate::adapter::Adapter::send`].
    pub fn send(
        &mut self,
        encoding: &Encoding,
        stimulus: &Event,
        process: Option<&Process>,
    ) -> Result<(), Failure> {
        let bytes = match encoding {
            Encoding::Json => json_lines::input(stimulus, &self.signatures).into_bytes(),
            Encoding::Lines(lines) => lines::input(lines, stimulus, &self.signatures)?.into_bytes(),
            Encoding::Binary(binary) => binary::input(binary, stimulus, &self.signatures)?,
        };
        self.sent = Sent::Yes;
        let before = self.stream.sent();
        match self.write(&bytes, self.deadline, process) {
            Err(Failure::Lost(why)) if self.on_close.is_some() && !self.has_hung_up => {
                // What it had sent before comes first, its end included. A process that only takes nothing
                // any more has not disconnected.
                self.stream.has_frame()?;
                self.unsent(why, before, process)
            }
            other => other,
        }
    }

    /// What it means that a stimulus could not be sent.
    fn unsent(&mut self, why: String, before: u64, process: Option<&Process>) -> Result<(), Failure> {
        let is_gone = process.is_some_and(|process| process.has_ended(Instant::now()));
        if self.stream.ended().is_none() && !is_gone {
            return Err(Failure::Lost(why));
        }
        // Of what was begun, nobody knows how much was taken.
        self.sent = if self.stream.sent() == before { Sent::No } else { Sent::Yes };
        Ok(())
    }

    /// The next output.
    ///
    /// # Errors
    /// As [`crate::adapter::Adapter::receive`].
    pub fn receive(
        &mut self,
        encoding: &Encoding,
        until: Instant,
        process: Option<&Process>,
    ) -> Result<Received, Failure> {
        let mut ignored = 0;
        loop {
            let mut found = match encoding {
                Encoding::Lines(lines) => {
                    let found = self.pending.next(lines, &mut self.signatures);
                    of_lines(&self.pending, found, &self.evidence)?
                }
                Encoding::Json | Encoding::Binary(_) => Recognized::More,
            };
            if found == Recognized::More {
                let frame = match self.stream.frame(until, process.map(Process::end))? {
                    StreamFrame::Bytes(frame) => frame,
                    StreamFrame::Nothing => return Ok(Received::Silence),
                    StreamFrame::Ended(ended) => return self.end(encoding, ended, process),
                };
                match encoding {
                    Encoding::Lines(_) => {
                        let line = marked(frame, stream::line(frame), |_| None, &self.evidence)?;
                        self.pending.push(line)?;
                    }
                    Encoding::Binary(binary) => {
                        let output = binary::output(binary, frame, &mut self.signatures);
                        found = marked(frame, output, note, &self.evidence)?;
                    }
                    Encoding::Json => {
                        let line = line(frame, &self.evidence)?;
                        match message(line, &self.signatures, &self.evidence)? {
                            Message::Output(received) => return Ok(received),
                            Message::Log => {}
                            Message::Ready => {
                                self.evidence.mark(line.as_bytes(), evidence::GARBAGE);
                                let text = "it says a second time that it is ready";
                                return Err(Failure::Garbage(text.to_owned()));
                            }
                            Message::Error(text) => {
                                return Err(Failure::Lost(format!("it says: {text}")));
                            }
                        }
                    }
                }
            }
            match found {
                Recognized::Received(received) => return Ok(received),
                Recognized::Ignored(answer) => self.answer(&answer, process)?,
                Recognized::More => {}
            }
            // Whoever sends nothing but what means nothing does not hold up the run.
            ignored += 1;
            if ignored > MOST_IGNORED && Instant::now() >= until {
                return Ok(Received::Silence);
            }
        }
    }

    /// The other side has ended it: a failure, or an output, once, behind all that came before.
    fn end(
        &mut self,
        encoding: &Encoding,
        ended: ChannelEnded,
        process: Option<&Process>,
    ) -> Result<Received, Failure> {
        let Some(action) = self.on_close.clone() else {
            self.evidence.mark(&self.unread(), evidence::INCOMPLETE);
            return Err(self.incomplete(lost(ended, process)));
        };
        if self.has_hung_up {
            return Ok(Received::Silence);
        }
        let rest = self.stream.rest();
        if !rest.is_empty() {
            let what = if matches!(encoding, Encoding::Binary(_)) { "frame" } else { "line" };
            self.evidence.mark(rest, evidence::GARBAGE);
            let message = format!("it {} in the middle of a {what}: {}", ended.text(), stream::shown(rest));
            return Err(Failure::Garbage(message));
        }
        if let Encoding::Lines(lines) = encoding {
            loop {
                let found = self.pending.last(lines, &mut self.signatures);
                match of_lines(&self.pending, found, &self.evidence)? {
                    Recognized::Received(received) => return Ok(received),
                    // Nobody is there to be answered.
                    Recognized::Ignored(_) => {}
                    Recognized::More => break,
                }
            }
        }
        self.has_hung_up = true;
        Ok(Received::Output(Event::new(action, Vec::new())))
    }

    /// Is it something that is left alone? It is noted down and answered then.
    fn leaves_alone(
        &mut self,
        encoding: &Encoding,
        frame: &[u8],
        process: Option<&Process>,
    ) -> Result<bool, Failure> {
        let Some(answer) = ignored(encoding, frame, &self.signatures)? else { return Ok(false) };
        self.evidence.mark(frame, evidence::IGNORED);
        self.answer(&answer, process)?;
        Ok(true)
    }

    /// Sends back what is due for something that is ignored. Where nobody takes it, the end is still to be
    /// seen, behind what came before it.
    fn answer(&mut self, answer: &[u8], process: Option<&Process>) -> Result<(), Failure> {
        if answer.is_empty() {
            return Ok(());
        }
        match self.write(answer, self.deadline, process) {
            Err(Failure::Lost(_)) => Ok(()),
            other => other,
        }
    }

    fn write(&mut self, bytes: &[u8], until: Instant, process: Option<&Process>) -> Result<(), Failure> {
        self.is_owed = true;
        let sent = self.stream.send(bytes, until, process.map(Process::end));
        sent.map_err(|failure| match (failure, process) {
            (Failure::Lost(what), Some(process)) => Failure::Lost(process.farewell(&what)),
            (Failure::Lost(what), None) => Failure::Lost(format!("the implementation {what}")),
            (failure, _) => failure,
        })
    }

    /// What has come and is no whole message.
    fn unread(&self) -> Vec<u8> {
        let mut text = self.pending.text();
        text.extend_from_slice(self.stream.rest());
        text
    }

    fn incomplete(&self, failure: Failure) -> Failure {
        match failure {
            Failure::Lost(text) if !self.pending.is_empty() => {
                Failure::Lost(format!("{text}; in the middle of an output of several lines"))
            }
            other => other,
        }
    }
}

fn lost(ended: ChannelEnded, process: Option<&Process>) -> Failure {
    Failure::Lost(match process {
        Some(process) => process.farewell(ended.text()),
        None => format!("the implementation {}", ended.text()),
    })
}
