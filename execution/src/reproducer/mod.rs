//! A failed run as a script that stands alone: it brings the implementation up, does what the tester did, and
//! looks whether the same comes of it, without coreach.
//!
//! **Problem.** Who gets a failure reported wants to see it before anything else, on a machine without this
//! program.
//!
//! **Method.** The script is Python 3 with its standard library, and `curl` for HTTP. A shell cannot wait for
//! a line or its time, whichever is first, and treat any byte as a byte; Python can, and reads as well. The
//! script begins with the run, one call for each thing that is done: launch, reset, stimuli, waits, what came
//! in between, what failed. Behind that stands what does it, which is the same in all scripts of a way (the
//! `.py` files beside this one). Commands are lists of words, never a line for a shell, and every text of a
//! user or an implementation is a literal of printable ASCII signs, so no sign of it can mean anything else.
//!
//! The bytes that are sent are made when the script is written, but for what is known only when it runs
//! (`words`): the port, the folder, and what is captured from answers, as it was in the run. It reads by the
//! fields of the outputs, as the adapter does.
//!
//! Of runs that leave a connection for a new one, or have several, there is no script yet.
//!
//! What came before the failure must come again, by action and values: where the implementation goes another
//! way, what follows would prove nothing. What failed is the same where it is the same event, or again none
//! (alien), or again the end. Nothing in the script knows the specification; what that allows stands beside
//! it as a comment.
//!
//! **Where we differ from a replay**: the script judges nothing but that one answer, knows no delay of a
//! link, and lets stimuli wait as long after what was before them as they did.

mod frames;
mod observations;
mod python;
mod sent;
mod words;
mod writer;

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use coreach_adapters::description::{
    Command, Encoding, Exchange, Http, Iut, Launch, PreparationStep, RepliesFrom, Spelling, Stdio, Tcp,
    Transport,
};
use coreach_adapters::evidence::{self, EvidenceItem, EvidenceKind};
use coreach_adapters::lines::Recognized;
use coreach_adapters::signature::Signatures;
use coreach_adapters::{Failure, Received, Session, binary, encoding, json_lines};
use coreach_model::semantics::Event;
use coreach_model::{Datum, Value, Verdict, codec};
use python::{bytes, comment, json, text};
use sent::LAUNCHED;
use serde_json::Value as Json;
use words::Words;
pub use writer::NoScript;
use writer::{PATIENCE, Writer, no_value};

use crate::explain::explained;
use crate::judge::Judge;
use crate::run::{Cause, Occurrence, Outcome, Run, RunStep as Happened};

/// What a wait must be to be repeated.
const NOTABLE: Duration = Duration::from_millis(5);

/// The script of a run that failed.
///
/// # Errors
/// [`NoScript`]: the implementation is a model, or nothing that it did is the failure.
pub fn script(iut: &Iut, judge: &mut dyn Judge, run: &Run) -> Result<String, NoScript> {
    let offence = Offence::of(run)?;
    if run.timing.is_some() {
        return Err(NoScript("the run is timed, and a script has no clock that could be trusted".to_owned()));
    }
    if let Some(action) = &iut.behaviour.reconnect
        && run.trace.iter().any(|step| step.what.event().is_some_and(|event| event.action == *action))
    {
        return Err(NoScript(format!("`{action}` makes a new connection, for which there is no script yet")));
    }
    if let Transport::Tcp(Tcp { connections, .. }) = &iut.way
        && !connections.is_empty()
    {
        let names: Vec<&str> = connections.iter().map(|one| one.name.as_str()).collect();
        let names = names.join(", ");
        return Err(NoScript(format!(
            "the run goes over several connections ({names}), for which there is no script yet"
        )));
    }
    let secured = tls(&iut.way)?;
    let (told, bucket) = explained(judge, run);
    let session =
        Session { iosts: judge.iosts(), constants: &run.constants, seed: run.seed, deadline: Instant::now() };
    let redact = iut.evidence.redact.as_slice();
    let signatures = Signatures::of(&session).capturing(iut.way.captures());
    let writer = Writer { signatures, session, redact, body: String::new() };
    let (way, mut writer) = writer.begun(&iut.way)?;
    writer.steps(&iut.way, run, &offence, &told.expected)?;
    let constants = observations::constants(iut, &writer.signatures)?;
    let name = &judge.iosts().name;
    let mut script = String::from("#!/usr/bin/env python3\n");
    for line in [
        format!("Shows a failure of {} again: {name}, seed {}.", iut.name, run.seed),
        told.summary.clone(),
        format!("Bucket {}: {}", bucket.id(), bucket),
        String::new(),
        format!(
            "It needs Python 3.8 or later{}, and what is tested.",
            if way == HTTP { ", curl" } else { "" }
        ),
        "Exit code 1: the failure is seen again; 0: it is not; 2: it could not be tried.".to_owned(),
    ] {
        let _ = writeln!(script, "{}", comment(&line));
    }
    script.push_str(IMPORTS);
    script.push_str(&constants);
    script.push_str(&secured);
    if way == HTTP {
        let names: Vec<String> = redact.iter().map(|name| text(name)).collect();
        let _ = writeln!(script, "SECRET = [{}]", names.join(", "));
    }
    let _ = write!(script, "\n\ndef run(it):\n{}\n\n", writer.body);
    let mut pieces = vec![COMMON];
    match &iut.way {
        Transport::Stdio(_) | Transport::Tcp(_) => pieces.push(WIRE),
        Transport::Udp(_) => pieces.extend([WIRE, DATAGRAMS]),
        Transport::Simulated(_) | Transport::SimulatedTimed(_) | Transport::Http(_) => {}
    }
    pieces.extend([way, MAIN]);
    script.push_str(&pieces.join("\n\n"));
    Ok(script)
}

const IMPORTS: &str =
    "import base64, json, os, re, select, shlex, shutil, signal, socket, subprocess, sys, tempfile, time, urllib.parse
from fractions import Fraction

BEGIN = time.monotonic()
";

const COMMON: &str = include_str!("common.py");
const WIRE: &str = include_str!("wire.py");
const DATAGRAMS: &str = include_str!("datagrams.py");
const JSON_LINES: &str = include_str!("json_lines.py");
const LINES: &str = include_str!("lines.py");
const FRAMES: &str = include_str!("frames.py");
const HTTP: &str = include_str!("http.py");
const MAIN: &str = include_str!("main.py");

/// What failed.
enum Offence {
    /// The last event.
    Event,
    /// An answer that is no event, or cannot be read; the text, where it was kept.
    Text(&'static str, Option<Vec<u8>>),
    /// The end of the implementation.
    End,
    /// That nothing came for so long.
    Silence(Duration),
}

impl Offence {
    fn of(run: &Run) -> Result<Self, NoScript> {
        let marked = |note: &str| {
            let mark = run
                .wire
                .iter()
                .rev()
                .find(|item| item.kind == EvidenceKind::Mark && item.note.as_deref() == Some(note));
            mark.filter(|item| item.cut == 0).map(|item| item.bytes.clone())
        };
        let is_seen = matches!(run.trace.last(), Some(Happened { what: Occurrence::Observation(_), .. }));
        match &run.outcome {
            Outcome::Verdict(Verdict::Fail, Cause::Event) if is_seen => Ok(Offence::Event),
            Outcome::Verdict(Verdict::Fail, Cause::Alien(_)) => {
                Ok(Offence::Text(evidence::ALIEN, marked(evidence::ALIEN)))
            }
            Outcome::Verdict(Verdict::Fail, Cause::Silence(time)) => Ok(Offence::Silence(*time)),
            Outcome::RunError(Failure::Garbage(_)) => {
                Ok(Offence::Text(evidence::GARBAGE, marked(evidence::GARBAGE)))
            }
            Outcome::RunError(Failure::Lost(_)) => Ok(Offence::End),
            other => Err(NoScript(format!(
                "the run ended with {} ({}): no answer of the implementation is the failure",
                other.name(),
                crate::outcome::cause(other).0
            ))),
        }
    }
}

impl Writer<'_> {
    /// What is done before the run, and what does it.
    fn begun(mut self, way: &Transport) -> Result<(&'static str, Self), NoScript> {
        let begun = match way {
            Transport::Simulated(_) | Transport::SimulatedTimed(_) => {
                return Err(NoScript(
                    "the implementation is a model: there is nothing to be started".to_owned(),
                ));
            }
            Transport::Stdio(stdio) => self.stdio(stdio)?,
            Transport::Tcp(tcp) => self.socket(tcp, "connect")?,
            Transport::Udp(udp) => self.socket(udp, "connect_datagrams")?,
            Transport::Http(http) => self.http(http)?,
        };
        Ok((begun, self))
    }

    fn stdio(&mut self, stdio: &Stdio) -> Result<&'static str, NoScript> {
        const LAUNCHED: [&str; 1] = ["tmp"];
        if !stdio.keep {
            self.apart(stdio.encoding.reset(), &LAUNCHED)?;
        }
        let command = self.command(&stdio.command, &LAUNCHED, !stdio.keep)?;
        self.line(&format!("it.start({command}{})", grace(&stdio.command)));
        if stdio.keep {
            self.apart(stdio.encoding.reset(), &LAUNCHED)?;
        }
        self.encoding(&stdio.encoding, &LAUNCHED, stdio.ready)
    }

    fn socket(&mut self, tcp: &Tcp, connect: &str) -> Result<&'static str, NoScript> {
        let reset = tcp.encoding.reset();
        if tcp.launch.is_none() {
            self.apart(reset, &[])?;
        }
        let ready = self.launch(tcp.launch.as_ref())?;
        let address = self.word(&tcp.address, &LAUNCHED, false)?;
        let replies = match tcp.replies_from {
            RepliesFrom::SamePort => "",
            RepliesFrom::AnyPort => ", any_port=True",
        };
        self.line(&format!("it.{connect}({address}, {}{replies})", ready.as_secs_f64()));
        if tcp.launch.is_some() {
            self.apart(reset, &LAUNCHED)?;
        }
        let launched: &[&str] = if tcp.launch.is_some() { &LAUNCHED } else { &[] };
        self.encoding(&tcp.encoding, launched, ready)
    }

    fn http(&mut self, http: &Http) -> Result<&'static str, NoScript> {
        let base = self.word(&http.base, &LAUNCHED, false)?;
        self.line(&format!("base = {base}"));
        let ready = self.launch(http.launch.as_ref())?;
        if http.launch.is_some() {
            self.line(&format!("it.ready(\"127.0.0.1:\" + it.port, {})", ready.as_secs_f64()));
        }
        let launched: &[&str] = if http.launch.is_some() { &LAUNCHED } else { &[] };
        for step in &http.reset {
            let PreparationStep::Request(probe) = step else {
                self.apart(std::slice::from_ref(step), launched)?;
                continue;
            };
            let request = self.request(&probe.request, |name| self.before(name, launched))?;
            let expected =
                probe.body.as_ref().map_or("None".to_owned(), |body| text(&python::pattern(body.as_str())));
            self.line(&format!(
                "it.prepare(base, {request}, {}, {expected}, {})",
                probe.status,
                probe.within.as_secs_f64()
            ));
        }
        Ok(HTTP)
    }

    fn encoding(
        &mut self,
        encoding: &Encoding,
        launched: &[&str],
        ready: Duration,
    ) -> Result<&'static str, NoScript> {
        let within = ready.as_secs_f64();
        match encoding {
            Encoding::Json => {
                let start = bytes(json_lines::start(&self.session).as_bytes());
                self.line(&format!("it.begin({start}, {within})"));
                Ok(JSON_LINES)
            }
            Encoding::Lines(lines) => {
                self.exchanges(&lines.reset, launched, within, |mut words| {
                    words.push(&lines.line_ending);
                    Ok(words.bytes())
                })?;
                Ok(LINES)
            }
            Encoding::Binary(binary) => {
                self.exchanges(&binary.reset, launched, within, |words| {
                    let Some(text) = words.whole() else {
                        return Ok(format!("framed(bytes.fromhex({}))", words.text()));
                    };
                    let frame = encoding::unhex(text);
                    let frame = frame.ok_or_else(|| "no pairs of hexadecimal digits".to_owned());
                    let framed = frame.and_then(|frame| binary.cut.framed(frame));
                    framed.map(|framed| bytes(&framed)).map_err(|why| NoScript(format!("`reset`: {why}")))
                })?;
                Ok(FRAMES)
            }
        }
    }

    /// The exchanges of the reset; the second is what is sent for a text of it.
    fn exchanges(
        &mut self,
        steps: &[PreparationStep],
        launched: &[&str],
        within: f64,
        sent: impl Fn(Words) -> Result<String, NoScript>,
    ) -> Result<(), NoScript> {
        for step in steps {
            let PreparationStep::Exchange(Exchange { send, expect, .. }) = step else { continue };
            let send = match send {
                None => "None".to_owned(),
                Some(template) => {
                    let value = |name: &str| self.before(name, launched);
                    sent(Words::of(template, value, words::PLAIN).map_err(no_value)?)?
                }
            };
            let expect = expect.as_ref();
            let expect = expect.map_or("None".to_owned(), |one| text(&python::pattern(one.as_str())));
            self.line(&format!("it.exchange({send}, {expect}, {within})"));
        }
        Ok(())
    }

    /// The server, where it is to be launched; how long it may take.
    fn launch(&mut self, launch: Option<&Launch>) -> Result<Duration, NoScript> {
        let Some(launch) = launch else { return Ok(PATIENCE) };
        // A server that is kept outlives the constants of a run.
        let command = self.command(&launch.command, &LAUNCHED, !launch.keep)?;
        self.line(&format!("it.launch({command}{})", grace(&launch.command)));
        Ok(launch.ready)
    }

    /// Commands and pauses of the reset.
    fn apart(&mut self, steps: &[PreparationStep], launched: &[&str]) -> Result<(), NoScript> {
        for step in steps {
            match step {
                PreparationStep::Command(command, within) => {
                    let command = self.command(command, launched, true)?;
                    self.line(&format!("it.command({command}, {})", within.as_secs_f64()));
                }
                PreparationStep::Pause(time) => self.line(&format!("it.pause({})", time.as_secs_f64())),
                PreparationStep::Exchange(_) | PreparationStep::Request(_) => {}
            }
        }
        Ok(())
    }

    /// Its words, folder and environment.
    fn command(&self, command: &Command, launched: &[&str], has_constants: bool) -> Result<String, NoScript> {
        let words: Result<Vec<String>, NoScript> =
            command.words.iter().map(|word| self.word(word, launched, has_constants)).collect();
        // The script may lie and be started elsewhere.
        let folder = std::path::absolute(&command.directory).unwrap_or_else(|_| command.directory.clone());
        let environment = command.environment.iter().map(|(name, value)| (name.as_str(), text(value)));
        Ok(format!("[{}], {}, {}", words?.join(", "), path(&folder), python::dictionary(environment)))
    }

    fn steps(
        &mut self,
        way: &Transport,
        run: &Run,
        offence: &Offence,
        expected: &[String],
    ) -> Result<(), NoScript> {
        let mut before = None;
        let last = run.trace.len().saturating_sub(1);
        let last_event = run.trace.iter().rposition(|step| step.what.event().is_some()).unwrap_or(last);
        for (number, step) in run.trace.iter().enumerate() {
            let gap = step.at.saturating_sub(before.unwrap_or(step.at));
            match &step.what {
                // How long nothing came is between the times of the events.
                Occurrence::Silence(_) | Occurrence::Delay(_) => continue,
                Occurrence::Stimulus(event) => {
                    if gap >= NOTABLE {
                        self.line(&format!("it.pause({:.3})", gap.as_secs_f64()));
                    }
                    let sent = self.stimulus(way, event)?;
                    // Over HTTP, it is the request that waits for its answer.
                    let within = match (offence, way) {
                        (Offence::Silence(time), Transport::Http(_)) if number == last_event => {
                            format!(", within={}", time.as_secs_f64())
                        }
                        _ => String::new(),
                    };
                    self.line(&format!("it.send({sent}{within})  {}", comment(&event.to_string())));
                }
                Occurrence::Observation(event) => {
                    let values = self.values(way, event);
                    let (name, within) = (text(&event.action), within(gap));
                    if number == last && matches!(offence, Offence::Event) {
                        self.allowed(expected);
                        self.line(&format!("it.offence(\"event\", {within}, {name}, {values})"));
                    } else {
                        self.line(&format!("it.observe({name}, {values}, {within})"));
                    }
                }
            }
            before = Some(step.at);
        }
        let is_end = |item: &&EvidenceItem| item.is_of_failure();
        let end = run.wire.iter().rev().find(is_end).map(|item| item.at);
        let gap = end.unwrap_or_default().saturating_sub(before.unwrap_or_default());
        match offence {
            Offence::Event => {}
            Offence::Text(kind, raw) => {
                self.allowed(expected);
                let is_frame = |raw: &&Vec<u8>| is_frame(way, &mut self.signatures, raw);
                let raw = raw.as_ref().filter(is_frame).map_or("None".to_owned(), |raw| bytes(raw));
                self.line(&format!("it.offence(\"{kind}\", {}, raw={raw})", within(gap)));
            }
            Offence::Silence(time) => {
                self.allowed(expected);
                self.line(&format!("it.offence(\"silence\", {})", time.as_secs_f64()));
            }
            Offence::End => {
                self.allowed(expected);
                self.line(&format!("it.offence(\"end\", {})", within(gap)));
            }
        }
        Ok(())
    }

    fn allowed(&mut self, expected: &[String]) {
        if !expected.is_empty() {
            self.line("# The specification allows here:");
        }
        for one in expected {
            self.line(&comment(&format!("  {one}")));
        }
    }

    /// The values of an observation, as they are to come.
    fn values(&self, way: &Transport, event: &Event) -> String {
        let none = Spelling::default();
        let (spelling, is_text) = match (way, way.encoding()) {
            (_, Some(Encoding::Lines(lines))) => (&lines.spelling, true),
            (_, Some(Encoding::Binary(binary))) => (&binary.spelling, true),
            (Transport::Http(http), _) => (&http.spelling, false),
            (_, Some(Encoding::Json) | None) => (&none, false),
        };
        let is_written = |name: &str| match way {
            Transport::Http(http) => {
                let own = http.observations.iter().filter(|(action, _)| *action == event.action);
                own.flat_map(|(_, response)| &response.values)
                    .any(|(of, place)| of == name && !place.is_json())
            }
            _ => false,
        };
        let parameters = self.signatures.action(&event.action).map(|action| action.parameters.as_slice());
        let one = |(datum, value): (&Datum, &Value)| {
            let usual = codec::to_text(value);
            let spelt = spelling.of(datum.name()).map(|spelt| {
                // In JSON a number or a truth value may stand for the text.
                let texts = spelt.texts(&usual);
                let texts = texts.iter().flat_map(|written| {
                    let as_json = serde_json::from_str::<Json>(written).ok().filter(|json| !json.is_string());
                    [Some(text(written)), as_json.filter(|_| !is_text).map(|one| json(&one))]
                });
                format!("Either({})", texts.flatten().collect::<Vec<_>>().join(", "))
            });
            let plain = || match value {
                // A number in a header compares as a number; a truth value there is a text.
                Value::Bool(_) if is_written(datum.name()) => {
                    format!("Either({}, {})", text(&usual), json(&codec::to_json(value)))
                }
                _ if frames::is_list(way, &event.action, datum.name()) => {
                    json(&frames::elements(&codec::to_json(value), datum.name(), spelling))
                }
                _ if is_text => text(&usual),
                _ => json(&codec::to_json(value)),
            };
            (datum.name().to_owned(), spelt.unwrap_or_else(plain))
        };
        let pairs: Vec<(String, String)> =
            parameters.unwrap_or_default().iter().zip(&event.values).map(one).collect();
        python::dictionary(pairs.iter().map(|(name, value)| (name.as_str(), value.clone())))
    }
}

/// How long it may take to end by itself, as one more argument.
fn grace(command: &Command) -> String {
    if command.grace.is_zero() { String::new() } else { format!(", {}", command.grace.as_secs_f64()) }
}

/// How long an answer is waited for that took so long.
fn within(gap: Duration) -> String {
    format!("{}", (gap * 2 + Duration::from_secs(1)).max(PATIENCE).as_secs_f64().ceil())
}

fn path(path: &Path) -> String {
    use std::os::unix::ffi::OsStrExt;
    match path.to_str() {
        Some(name) => text(name),
        None => format!("os.fsdecode({})", bytes(path.as_os_str().as_bytes())),
    }
}

/// With whom TLS is spoken, where it is: the files of the description, which lie where they lay.
fn tls(way: &Transport) -> Result<String, NoScript> {
    let tls = match way {
        Transport::Tcp(Tcp { tls, .. }) | Transport::Http(Http { tls, .. }) => tls.as_ref(),
        Transport::Simulated(_) | Transport::SimulatedTimed(_) | Transport::Stdio(_) | Transport::Udp(_) => {
            None
        }
    };
    let Some(tls) = tls else { return Ok("TLS = None\n".to_owned()) };
    let Some(files) = tls.files() else {
        return Err(NoScript("it is not known where the certificates of `tls` lie".to_owned()));
    };
    let absolute = |file: &Path| path(&std::path::absolute(file).unwrap_or_else(|_| file.to_owned()));
    let (certificate, key) = match &files.client {
        Some((certificate, key)) => (absolute(certificate), absolute(key)),
        None => ("None".to_owned(), "None".to_owned()),
    };
    let name = files.name.as_ref().map_or("None".to_owned(), |name| text(name));
    Ok(format!("import ssl\n\nTLS = ({}, {certificate}, {key}, {name})\n", absolute(&files.authorities)))
}

/// May the text of an answer that is no event be read as one? Bytes that are no frame, or only a piece of
/// one, would be read as what a right implementation says as a whole: they are the same failure by what kind
/// they are of.
fn is_frame(way: &Transport, signatures: &mut Signatures, raw: &[u8]) -> bool {
    match way.encoding() {
        Some(Encoding::Binary(described)) => !matches!(
            binary::output(described, raw, signatures),
            Ok(Recognized::Received(Received::Output(_)))
        ),
        _ => true,
    }
}
