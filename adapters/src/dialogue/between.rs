//! How a run over a stream begins and how it is left. This separates the run from the one before and the one
//! after it, and one connection of the run from the next.

use std::time::{Duration, Instant};

use coreach_model::excerpt::shortened;

use super::{BARRIER, Dialogue, describe_loss};
use crate::adapter::{Failure, Sent, Session};
use crate::description::{Encoding, Exchange, PreparationStep, Settle};
use crate::encoding;
use crate::evidence;
use crate::json_lines::{self, Message};
use crate::lines::{PendingLines, generalize, skip_echo};
use crate::pattern::{Regex, written};
use crate::process::Process;
use crate::reading::{answers_start, is_idle, read_line, read_message};
use crate::stream::{self, Drained, SPEAK_TLS, Stream, StreamFrame, read_text};
use crate::system::Arrival;
use crate::template::Template;

impl Dialogue {
    /// Brings the implementation at the other end into its initial state, until `ready` at the latest.
    /// `process` is the one at the other end, if coreach has started it. It is watched.
    ///
    /// # Errors
    /// [`Failure`]. Before the beginning it is a [`Failure::Start`], unless a message cannot be read.
    pub fn begin(
        &mut self,
        encoding: &Encoding,
        session: &Session<'_>,
        ready: Instant,
        process: Option<&Process>,
    ) -> Result<(), Failure> {
        let ready = ready.min(self.deadline);
        let begun = match encoding {
            Encoding::Json => {
                let start = json_lines::write_first_message("start", session.constants, session.seed);
                self.begin_json(&start, ready, process)
            }
            Encoding::Lines(_) | Encoding::Binary(_) => {
                self.exchange(encoding, encoding.reset(), "reset", ready, process)
            }
        };
        match begun {
            Err(Failure::Lost(text)) if self.may_speak_tls(process) && !text.contains(SPEAK_TLS) => {
                Err(Failure::Start(format!("it did not become ready: {text}\nhelp: if {SPEAK_TLS}")))
            }
            Err(Failure::Lost(text) | Failure::Stuck(text)) => {
                Err(Failure::Start(format!("it did not become ready: {text}")))
            }
            other => other,
        }
    }

    /// Says whether TLS may be why a server that goes on has broken off a connection without a word.
    fn may_speak_tls(&self, process: Option<&Process>) -> bool {
        self.stream.came() == 0
            && self.stream.channel.may_need_tls()
            && process.is_none_or(|process| !process.has_ended(Instant::now()))
    }

    /// Sends the first message and waits for `ready`. Drops what an earlier run has left before that.
    fn begin_json(&mut self, first: &str, ready: Instant, process: Option<&Process>) -> Result<(), Failure> {
        self.write(first.as_bytes(), ready, process)?;
        loop {
            let line = match self.stream.frame(ready, process.map(Process::end))? {
                // Only `ready` answers the first message. Other messages before it are of an earlier run.
                StreamFrame::Bytes(frame) if self.is_again && !answers_start(frame, &self.signatures) => {
                    if Instant::now() >= ready {
                        return Err(Failure::Start(self.explain_no_ready(process)));
                    }
                    continue;
                }
                StreamFrame::Bytes(frame) => read_line(frame, &self.evidence)?,
                StreamFrame::Nothing => return Err(Failure::Start(self.explain_no_ready(process))),
                StreamFrame::Ended(ended) => {
                    let loss = describe_loss(ended.text(), process);
                    // An error that names a key of the first message is most likely about it.
                    let mut words = first.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
                    let is_quoted = |word: &str| {
                        !word.is_empty()
                            && ['\'', '"'].iter().any(|quote| loss.contains(&format!("{quote}{word}{quote}")))
                    };
                    let help = match words.any(is_quoted) {
                        true => format!("\nhelp: coreach had sent {}", shortened(first.trim_end())),
                        false => String::new(),
                    };
                    return Err(Failure::Lost(loss + &help));
                }
            };
            match read_message(line, &self.signatures, &self.evidence)? {
                Message::Ready => return Ok(()),
                Message::Log if Instant::now() < ready => {}
                Message::Log => {
                    return Err(Failure::Start("`ready` did not come, only `log` messages".to_owned()));
                }
                Message::Error(text) => return Err(Failure::Start(text)),
                Message::Output(_) => {
                    self.evidence.mark(line.as_bytes(), evidence::GARBAGE);
                    let text = format!(
                        "an output came before `{{\"ready\": true}}`, which answers `start`: {}",
                        shortened(line)
                    );
                    return Err(Failure::Garbage(text));
                }
            }
        }
    }

    /// Explains why `ready` did not come, and what helps. It names no time, so that two such runs are equal.
    fn explain_no_ready(&self, process: Option<&Process>) -> String {
        let ready = "`{\"ready\": true}`";
        let misdirected = process.and_then(|process| self.find_misdirected(&Encoding::Json, process));
        if let Some(line) = misdirected {
            return format!(
                "`ready` did not come in time: it has written `{line}` to standard error\nhelp: write messages to \
                 standard output"
            );
        }
        let answer = format!("answer `start` with {ready}");
        let flush = if process.is_some_and(Process::is_shell) {
            ", and let each program of a pipe flush its lines: `python3 -u`, `grep --line-buffered`"
        } else {
            ", and flush each line that it writes: in Python, begin `command` with `python3, -u`"
        };
        let (seen, helps) = match (self.stream.rest(), self.stream.came()) {
            ([], 0) => (
                "it has written nothing to standard output".to_owned(),
                vec![
                    answer + flush,
                    "if it waits for the end of its input, let it read and answer line by line".to_owned(),
                ],
            ),
            ([], came) if came == self.came_before_sending => (
                "it has written nothing since `start`".to_owned(),
                vec![answer + " in each run, not only in the first one, or leave out `keep: true`"],
            ),
            ([], _) => ("it has written other lines only".to_owned(), vec![answer]),
            (rest, _) => (
                format!("it has written `{}` without the end of the line", stream::escape_bytes(rest)),
                vec!["end each message with `\\n`".to_owned()],
            ),
        };
        let words = process.and_then(Process::last_words).unwrap_or_default();
        let helps: String = helps.iter().map(|help| format!("\nhelp: {help}")).collect();
        format!(
            "`ready` did not come in time: {seen}{words}{helps}\nhelp: if it needs more time, raise `ready_ms`"
        )
    }

    /// Does the exchanges among the steps, in their order. `whose` names the steps in messages.
    ///
    /// # Errors
    /// [`Failure`]: an answer does not come, or is not the expected one.
    pub fn exchange(
        &mut self,
        encoding: &Encoding,
        steps: &[PreparationStep],
        whose: &str,
        until: Instant,
        process: Option<&Process>,
    ) -> Result<(), Failure> {
        let mut is_first = true;
        for step in steps {
            let PreparationStep::Exchange(exchange) = step else { continue };
            if exchange.over.is_some() && exchange.over.as_deref() != self.evidence.connection() {
                continue;
            }
            let sent = match &exchange.send {
                Some(template) => self.send_step(encoding, template, whose, until, process)?,
                None => format!("`{whose}`"),
            };
            let Some(expected) = &exchange.expect else { continue };
            // Messages of an earlier run come before the answer to a barrier, and are skipped.
            let skips = self.is_again && whose == BARRIER;
            let (frame, answer) = loop {
                let frame = match self.stream.frame(until, process.map(Process::end))? {
                    StreamFrame::Bytes(frame) => frame.to_vec(),
                    StreamFrame::Nothing => {
                        let why = self.explain_no_answer(exchange.send.is_some(), expected, process);
                        return Err(Failure::Start(format!("{sent} was not answered in time {why}")));
                    }
                    StreamFrame::Ended(ended) => {
                        let failure = Failure::Lost(describe_loss(ended.text(), process));
                        return Err(self.explain_tls(ended, process).unwrap_or(failure));
                    }
                };
                let answer = match encoding {
                    Encoding::Binary(_) => encoding::hex(&frame),
                    Encoding::Json | Encoding::Lines(_) if skips => {
                        read_text(&frame).unwrap_or_default().to_owned()
                    }
                    Encoding::Json | Encoding::Lines(_) => match read_line(&frame, &self.evidence) {
                        Err(Failure::Garbage(text)) => {
                            return Err(Failure::Garbage(format!("{sent} was answered by garbage: {text}")));
                        }
                        line => line?.to_owned(),
                    },
                };
                // A message that is neither ignored nor skipped is the answer. A wrong one is refused below.
                let is_answer = expected.is_match(&answer) || Instant::now() >= until;
                if is_answer || !(self.answer_if_ignored(encoding, &frame, process)? || skips) {
                    break (frame, answer);
                }
            };
            let Some(captured) = expected.captures(&answer) else {
                self.evidence.mark(&frame, evidence::GARBAGE);
                let begins_reset = is_first && whose == "reset";
                let help = self.explain_other_answer(encoding, exchange, expected, &answer, begins_reset);
                let text = format!(
                    "{sent} was answered by `{}`, which does not fit `{}`\nhelp: {help}",
                    shortened(&answer),
                    written(expected)
                );
                return Err(Failure::Start(text));
            };
            is_first = false;
            for name in expected.capture_names().flatten() {
                if let Some(value) = captured.name(name) {
                    self.signatures.capture(name, value.as_str());
                }
            }
        }
        Ok(())
    }

    /// Sends the text of an exchange. Returns the words for it in messages.
    fn send_step(
        &mut self,
        encoding: &Encoding,
        template: &Template,
        whose: &str,
        until: Instant,
        process: Option<&Process>,
    ) -> Result<String, Failure> {
        let text = template.fill(|name| self.signatures.before(name)).map_err(|name| {
            let why = self.signatures.lacking(&name);
            Failure::Untranslatable(format!("`{whose}` has `{{{name}}}`, {why}"))
        })?;
        let sent = format!("`send: {}` of `{whose}`", shortened(&text));
        let bytes = match encoding {
            Encoding::Lines(lines) => {
                let line = text + &lines.line_ending;
                self.pending.note_sent_text(&line);
                Ok(line.into_bytes())
            }
            Encoding::Binary(binary) => encoding::unhex(&text)
                .ok_or_else(|| "expected pairs of hexadecimal digits".to_owned())
                .and_then(|frame| binary.cut.frame_message(frame)),
            Encoding::Json => Err("with JSON messages, there is nothing to send".to_owned()),
        };
        let bytes = bytes.map_err(|why| Failure::Untranslatable(format!("`{whose}`: {why}")))?;
        self.write(&bytes, until, process)?;
        Ok(sent)
    }

    /// Explains why no answer to an exchange has come, and what helps. The text continues a sentence.
    fn explain_no_answer(&self, has_sent: bool, expected: &Regex, process: Option<&Process>) -> String {
        let rest = self.stream.rest();
        let mut text = format!("by a line that fits `{}`", written(expected));
        let printed = process.and_then(|process| process.find_line(|line| expected.is_match(line)));
        if let Some(line) = printed {
            text += &format!("\nhelp: it has printed `{line}`: let it send this over the connection");
        } else if let Some(help) = self.explain_silence().or_else(|| self.explain_line_end()) {
            text += &format!("\nhelp: {help}");
        } else if !rest.is_empty() {
            text += &format!(
                ", but by `{}` without the end of the line\nhelp: let the system end each line with `\\n`",
                stream::escape_bytes(rest)
            );
        } else if self.stream.came() == 0 {
            text += "\nhelp: nothing has come: let the system flush each line that it writes";
        }
        if let Some(message) = self.pending.sent_text().filter(|_| has_sent && rest.is_empty()) {
            let message = shortened(message.trim_end());
            text += &format!("\nhelp: it may not know `{message}`, which was sent");
        }
        text
    }

    /// Says what helps if an answer is not the expected one. `begins_reset`: it answers the first exchange of
    /// `reset`.
    fn explain_other_answer(
        &self,
        encoding: &Encoding,
        exchange: &Exchange,
        expected: &Regex,
        answer: &str,
        begins_reset: bool,
    ) -> String {
        let has_sent = exchange.send.is_some();
        let is_echo = has_sent && self.pending.sent_text().map(str::trim_end) == Some(answer.trim_end());
        match encoding {
            Encoding::Lines(lines) if is_echo => skip_echo(lines, &self.signatures),
            _ if let Some(prompt) = find_prompt(expected, answer) => format!(
                "if `{}` is a prompt, add it to the pattern: `expect: '^{}{}'`",
                shortened(prompt),
                regex::escape(prompt).replace('\'', "''"),
                written(expected).trim_start_matches('^')
            ),
            _ if begins_reset && has_sent => format!(
                "correct what is sent, or the pattern of the answer\nhelp: if the system sends this by itself at first, begin \
                 `reset` with `{{ expect: '{}' }}`",
                generalize(answer)
            ),
            _ => "correct what is sent, or the pattern of the answer".to_owned(),
        }
    }

    /// Skips what an earlier run has left on the stream. Does the exchanges, whose answers may come after
    /// messages of that run, and forgets what is there then.
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
                return Err(Failure::Start("it still sends messages of an earlier run".to_owned()));
            }
        }
        match self.stream.rest() {
            [] => Ok(()),
            rest => Err(Failure::Start(format!(
                "an earlier run has left half a message: {}",
                stream::escape_bytes(rest)
            ))),
        }
    }

    /// Waits, on a stream that goes on, until only ignored messages have come for so long.
    pub fn calm(
        &mut self,
        encoding: &Encoding,
        until: Instant,
        quiet: Duration,
        process: Option<&Process>,
    ) -> Arrival {
        let mut quiet_since = Instant::now();
        loop {
            let (now, count_before) = (Instant::now(), self.stream.came());
            if now >= until {
                return Arrival::Late;
            }
            match self.stream.frame((quiet_since + quiet).min(until), process.map(Process::end)) {
                Ok(StreamFrame::Bytes(frame)) => {
                    let frame = frame.to_vec();
                    match self.answer_if_ignored(encoding, &frame, process) {
                        Ok(true) => {}
                        Ok(false) if is_idle(encoding, &frame, &self.signatures) => {}
                        Ok(false) => quiet_since = Instant::now(),
                        Err(_) => return Arrival::Unknown,
                    }
                    continue;
                }
                Ok(StreamFrame::Nothing) => {}
                Ok(StreamFrame::Ended(_)) | Err(_) => return Arrival::Unknown,
            }
            // A part of a message has come, or the limit has ended the wait before the quiet was long enough.
            if self.stream.came() > count_before || quiet_since + quiet > until {
                quiet_since = now;
                continue;
            }
            // If half a message has come, the rest of it is late.
            if !self.unread().is_empty() {
                return Arrival::Late;
            }
            self.may_have_unread = false;
            return Arrival::Come;
        }
    }

    /// Ends our side, and waits for the other side to end. By then it has taken all that was sent.
    pub fn settle(
        &mut self,
        encoding: &Encoding,
        until: Instant,
        quiet: Option<Duration>,
        process: Option<&Process>,
    ) -> Arrival {
        // Nothing shows whether datagrams were taken.
        if self.stream.is_of_datagrams() && quiet.is_none() {
            return Arrival::Unknown;
        }
        self.stream.close_output();
        let signatures = &self.signatures;
        let idle = |frame: &[u8]| is_idle(encoding, frame, signatures);
        match self.stream.drain(until, quiet, process.map(Process::end), idle) {
            Drained::Ended | Drained::Quiet => {
                self.may_have_unread = false;
                Arrival::Come
            }
            Drained::Late => Arrival::Late,
            Drained::Broken => Arrival::Unknown,
        }
    }

    /// Leaves the stream for another one, in the middle of a run. Ends our side, and waits for the other side
    /// to end. Messages that come meanwhile have no known order: they may have been sent before our end was
    /// taken, or because of it. Returns whether the run can go on, or else notes what became of the stimulus.
    ///
    /// # Errors
    /// [`Failure::Unclean`]: the other side does not end, so what was sent before may still be taken.
    pub fn leave(
        &mut self,
        encoding: &Encoding,
        settle: &Settle,
        process: Option<&Process>,
    ) -> Result<bool, Failure> {
        let until = self.deadline.min(Instant::now() + settle.within);
        if self.has_news()? {
            self.sent = Sent::No;
            return Ok(false);
        }
        if self.has_hung_up {
            self.may_have_unread = false;
            return Ok(true);
        }
        let count_before = self.stream.came();
        let has_unread = !self.stream.rest().is_empty() || !self.pending.is_empty();
        match self.settle(encoding, until, settle.quiet, process) {
            Arrival::Come if self.stream.came() == count_before && !has_unread => Ok(true),
            // Also if it is not known how much the other side has taken.
            Arrival::Come | Arrival::Unknown => {
                self.sent = Sent::Crossed;
                Ok(false)
            }
            Arrival::Late => Err(Failure::Unclean(
                "coreach has closed its side of the connection to make a new one, but the system has not closed its \
                 side\nhelp: let the system close its side when coreach does, or let silence count as the end: \
                 `settle: { quiet_ms: 500 }`"
                    .to_owned(),
            )),
        }
    }

    /// Goes on over another stream, which must be ready at `ready` at the latest.
    pub fn resume(
        self,
        stream: Stream,
        encoding: &Encoding,
        ready: Instant,
        process: Option<&Process>,
    ) -> Result<Self, Failure> {
        let (deadline, seed) = (self.deadline, self.seed);
        let mut next = Dialogue {
            stream: stream.with_evidence(self.evidence.clone()),
            pending: PendingLines::default(),
            may_have_unread: false,
            has_hung_up: false,
            sent: Sent::Yes,
            is_again: false,
            ..self
        };
        if let Encoding::Json = encoding {
            let resume = json_lines::write_first_message("resume", next.signatures.constants(), seed);
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
}

/// Finds the shortest text that stands before the expected answer in a line.
fn find_prompt<'a>(expected: &Regex, answer: &'a str) -> Option<&'a str> {
    let mut splits = answer.char_indices().skip(1).map(|(at, _)| answer.split_at(at));
    splits.find(|(_, rest)| expected.is_match(rest)).map(|(prompt, _)| prompt)
}
