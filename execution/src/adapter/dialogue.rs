//! A run over a stream: how it begins, what is sent, what comes back. The same for a process and for a connection.

use std::time::{Duration, Instant};

use coreach_model::semantics::Event;

use crate::adapter::description::{Encoding, Lines, Step};
use crate::adapter::json_lines::{self, Message};
use crate::adapter::lines::{self, Found, Pending};
use crate::adapter::process::Process;
use crate::adapter::signature::Signatures;
use crate::adapter::stream::{Drained, Ended, Line, Stream};
use crate::adapter::system::Arrival;
use crate::adapter::{Failure, Received, Session};
use crate::excerpt::shortened;

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
}

impl Dialogue {
    /// Nothing is said yet.
    pub fn new(stream: Stream, session: &Session<'_>) -> Self {
        let signatures = Signatures::of(session);
        let deadline = session.deadline;
        Dialogue { stream, signatures, pending: Pending::default(), deadline, is_owed: false }
    }

    /// May something that was sent not have been taken?
    pub fn is_owed(&self) -> bool {
        self.is_owed
    }

    /// Ends our side, and waits for the other one to do so, which is when it has taken all that was sent.
    pub fn settle(&mut self, until: Instant, quiet: Option<Duration>, process: Option<&Process>) -> Arrival {
        self.stream.close_output();
        match self.stream.drain(until, quiet, process.map(Process::end)) {
            Drained::Ended | Drained::Quiet => {
                self.is_owed = false;
                Arrival::Come
            }
            Drained::Late => Arrival::Late,
            Drained::Broken => Arrival::Unknown,
        }
    }

    /// Brings the implementation at the other end into its initial state, until `ready` at the latest. `process` is the
    /// one at the other end, as far as it is ours: it is watched, and asked for its last words.
    ///
    /// # Errors
    /// [`Failure`]. Whatever happens before the beginning is a [`Failure::Start`], but for what cannot be read.
    pub fn begin(
        &mut self,
        encoding: &Encoding,
        session: &Session<'_>,
        ready: Instant,
        process: Option<&Process>,
    ) -> Result<(), Failure> {
        let ready = ready.min(self.deadline);
        let begun = match encoding {
            Encoding::Json => self.begin_json(session, ready, process),
            Encoding::Lines(lines) => self.exchange(lines, &lines.reset, "reset", ready, process),
        };
        match begun {
            Err(Failure::Lost(text) | Failure::Stuck(text)) => {
                Err(Failure::Start(format!("it did not become ready: {text}")))
            }
            other => other,
        }
    }

    fn begin_json(
        &mut self,
        session: &Session<'_>,
        ready: Instant,
        process: Option<&Process>,
    ) -> Result<(), Failure> {
        self.write(&json_lines::start(session), ready, process)?;
        loop {
            let line = match self.stream.line(ready, process.map(Process::end))? {
                Line::Text(line) => line,
                Line::Nothing => {
                    // Without the time: two runs that end so are equal.
                    return Err(Failure::Start("`ready` did not come in time".to_owned()));
                }
                Line::Ended(ended) => return Err(lost(ended, process)),
            };
            match json_lines::message(line, &self.signatures)? {
                Message::Ready => return Ok(()),
                Message::Log if Instant::now() < ready => {}
                Message::Log => {
                    return Err(Failure::Start("`ready` did not come, only messages for the log".to_owned()));
                }
                Message::Error(text) => return Err(Failure::Start(text)),
                Message::Output(_) => {
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
        lines: &Lines,
        steps: &[Step],
        of: &str,
        until: Instant,
        process: Option<&Process>,
    ) -> Result<(), Failure> {
        for step in steps {
            let Step::Exchange(exchange) = step else { continue };
            if let Some(template) = &exchange.send {
                let text = template.fill(|name| self.signatures.constant(name));
                let text = text.map_err(|name| {
                    Failure::Untranslatable(format!(
                        "`{of}` has the hole `{name}`, and no constant is called so"
                    ))
                })?;
                self.write(&(text + &lines.line_ending), until, process)?;
            }
            let Some(expected) = &exchange.expect else { continue };
            match self.stream.line(until, process.map(Process::end))? {
                Line::Text(line) if expected.is_match(line) => {}
                Line::Text(line) => {
                    let text = format!("`{of}` was answered by `{}`", shortened(line));
                    return Err(Failure::Start(text));
                }
                Line::Nothing => return Err(Failure::Start(format!("`{of}` was not answered"))),
                Line::Ended(ended) => return Err(lost(ended, process)),
            }
        }
        Ok(())
    }

    /// Sends a stimulus.
    ///
    /// # Errors
    /// As [`crate::Adapter::send`].
    pub fn send(
        &mut self,
        encoding: &Encoding,
        stimulus: &Event,
        process: Option<&Process>,
    ) -> Result<(), Failure> {
        let text = match encoding {
            Encoding::Json => json_lines::input(stimulus, &self.signatures),
            Encoding::Lines(lines) => lines::input(lines, stimulus, &self.signatures)?,
        };
        self.write(&text, self.deadline, process)
    }

    /// The next output.
    ///
    /// # Errors
    /// As [`crate::Adapter::receive`].
    pub fn receive(
        &mut self,
        encoding: &Encoding,
        until: Instant,
        process: Option<&Process>,
    ) -> Result<Received, Failure> {
        let mut ignored = 0;
        loop {
            if let Encoding::Lines(lines) = encoding
                && let Found::Received(received) = self.pending.next(lines, &self.signatures)?
            {
                return Ok(received);
            }
            let line = match self.stream.line(until, process.map(Process::end))? {
                Line::Text(line) => line,
                Line::Nothing => return Ok(Received::Silence),
                Line::Ended(ended) => return Err(self.incomplete(lost(ended, process))),
            };
            match encoding {
                Encoding::Lines(_) => self.pending.push(line),
                Encoding::Json => match json_lines::message(line, &self.signatures)? {
                    Message::Output(received) => return Ok(received),
                    Message::Log => {}
                    Message::Ready => {
                        return Err(Failure::Garbage("it says a second time that it is ready".to_owned()));
                    }
                    Message::Error(text) => return Err(Failure::Lost(format!("it says: {text}"))),
                },
            }
            // Whoever sends nothing but what means nothing does not hold up the run.
            ignored += 1;
            if ignored > MOST_IGNORED && Instant::now() >= until {
                return Ok(Received::Silence);
            }
        }
    }

    fn write(&mut self, text: &str, until: Instant, process: Option<&Process>) -> Result<(), Failure> {
        self.is_owed = true;
        let sent = self.stream.send(text.as_bytes(), until, process.map(Process::end));
        sent.map_err(|failure| match (failure, process) {
            (Failure::Lost(what), Some(process)) => Failure::Lost(process.farewell(&what)),
            (Failure::Lost(what), None) => Failure::Lost(format!("the implementation {what}")),
            (failure, _) => failure,
        })
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

fn lost(ended: Ended, process: Option<&Process>) -> Failure {
    Failure::Lost(match process {
        Some(process) => process.farewell(ended.text()),
        None => format!("the implementation {}", ended.text()),
    })
}
