//! An implementation that is an HTTP server: a stimulus is a request, its response is the output.
//!
//! Every request has a connection of its own, since a server may close a kept one at just the wrong moment.
//! So requests of the next run, its `reset` among them, could overtake a request that has no answer yet. To
//! prevent that, the answer is waited for, also when the run is over ([`crate::system`]). Requests are made
//! one at a time ([`crate::requests`]).

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use coreach_model::excerpt::shortened;
use coreach_model::semantics::Event;

use crate::adapter::{Adapter, Failure, Left, Received, Session, Teardown};
use crate::address::host_of_address;
use crate::description::{Capture, Http, PreparationStep, Probe, READY_MS, Request, Transport};
use crate::encoding::{percent_encoded, to_latin1};
use crate::evidence::{self, Evidence};
use crate::launched::Launched;
use crate::reply::{Reply, capture_value, explain_refusal, explain_status, translate};
use crate::requests::{PreparedRequest, Requests};
use crate::server::{self, Server};
use crate::shared::SharedRuns;
use crate::signature::Signatures;
use crate::socket::KnownAddress;
use crate::system::{self, Arrival, IutState, not_cleansed, not_started};
use crate::template::Template;
use crate::times::LONG_PAUSE;

pub struct HttpAdapter {
    description: Http,
    run: Option<HttpRun>,
    /// The requests of a run that is over, if an answer may still come.
    late: Option<Requests>,
    system: IutState,
    server: Server,
    evidence: Evidence,
}

struct HttpRun {
    base: String,
    headers: Vec<(String, Template)>,
    signatures: Signatures,
    requests: Requests,
    deadline: Instant,
    /// How long the answer to a step before the run may take.
    patience: Duration,
    /// Events of an answer that were not received yet.
    ready: VecDeque<Received>,
    /// The steps before the run are done.
    is_begun: bool,
}

impl HttpAdapter {
    pub fn new(description: Http, limits: evidence::LogLimits) -> Self {
        let system = IutState::new(Transport::Http(description.clone()).shared_system());
        let server = Server::new(description.launch.clone(), description.base.clone());
        HttpAdapter { description, run: None, late: None, system, server, evidence: Evidence::new(limits) }
    }

    pub fn sharing(self, shared: &SharedRuns) -> Self {
        HttpAdapter { system: self.system.sharing(shared), ..self }
    }
}

impl Adapter for HttpAdapter {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.leave();
        self.evidence = self.evidence.anew();
        self.system.enter(session.deadline)?;
        // Without a barrier, the answer that an earlier run has left is waited for.
        let barrier = &self.description.settle.barrier;
        if self.system.is_unclean() && barrier.is_empty() {
            self.wait_for_late(session.deadline)?;
        }
        if self.description.launch.is_some() {
            drop(self.server.connect(session)?);
        }
        let base = server::fill_template(&self.description.base, &self.server.launched())?;
        let signatures = Signatures::of(session).capturing(&self.description.captures);
        let signatures = signatures.launched(self.server.launched());
        let addresses = server::resolve_address(&self.server.address()?, session.deadline);
        let addresses = addresses.map_err(|why| Failure::Start(format!("no connection to {base}: {why}")))?;
        let tls = self.description.tls.clone().map(|tls| (tls, host_of_address(&base)));
        let requests = Requests::to(KnownAddress(addresses), tls, self.evidence.clone())?;
        // A server that is not ours has as long as one of ours has by default.
        let patience =
            self.description.launch.as_ref().map_or(Duration::from_millis(READY_MS), |launch| launch.ready);
        let run = self.run.insert(HttpRun {
            base,
            headers: self.description.headers.clone(),
            signatures,
            requests,
            deadline: session.deadline,
            patience,
            ready: VecDeque::new(),
            is_begun: false,
        });
        let launched = self.server.launched();
        if self.system.is_unclean() {
            for step in &self.description.settle.barrier {
                let done = run.do_step(step, "barrier", &launched, session, &self.description.captures);
                done.map_err(|why| not_cleansed(&why))?;
            }
            self.late = None;
            self.system.mark_clean();
        }
        for step in &self.description.reset {
            let done = run.do_step(step, "reset", &launched, session, &self.description.captures);
            done.map_err(|why| make_reset_failure(why, &self.server))?;
        }
        run.is_begun = true;
        Ok(())
    }

    fn takes_stimuli(&self) -> bool {
        self.run.as_ref().is_none_or(|run| run.requests.is_idle() && run.ready.is_empty())
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        let run = self.run.as_mut().ok_or_else(not_started)?;
        let request = self.description.stimuli.iter().find(|(action, _)| *action == stimulus.action);
        let (_, request) = request.ok_or_else(|| {
            Failure::Untranslatable(format!("`stimuli` has no request for `{}`", stimulus.action))
        })?;
        let spelling = &self.description.spelling;
        let signatures = &run.signatures;
        let value =
            |name: &str| signatures.hole(stimulus, spelling, name).ok_or_else(|| signatures.lacking(name));
        let prepared = fill_request(request, &run.headers, &run.base, &stimulus.action, value)?;
        run.requests.push(prepared)
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        loop {
            let run = self.run.as_mut().ok_or_else(not_started)?;
            if let Some(received) = run.ready.pop_front() {
                return Ok(received);
            }
            // A server says nothing unasked.
            if run.requests.is_idle() {
                return Ok(Received::Silence);
            }
            let Some(reply) = run.next(until, &self.server)? else { return Ok(Received::Silence) };
            let events = translate(&reply, &self.description, &run.signatures)
                .inspect_err(|_| self.evidence.mark(&reply.body, evidence::GARBAGE))?;
            if events.is_empty() {
                let head = format!("{} {}", reply.status, reply.reason);
                self.evidence.mark(head.as_bytes(), evidence::IGNORED);
            }
            if events.iter().any(|event| matches!(event, Received::Alien(_))) {
                self.evidence.mark(&reply.body, evidence::ALIEN);
            }
            let mut outputs = Vec::new();
            for event in &events {
                if let Received::Output(event) = event {
                    outputs.push(event.action.as_str());
                }
            }
            run.capture(&self.description.captures, &reply, &outputs);
            run.ready.extend(events);
        }
    }

    fn hears(&self) -> bool {
        self.run.as_ref().is_some_and(|run| !run.requests.is_idle() || !run.ready.is_empty())
    }

    fn ended(&self, until: Instant) -> Option<Instant> {
        self.server.process()?.has_ended(until).then(Instant::now)
    }

    fn tear_down(&mut self) -> Option<Teardown> {
        let HttpRun { requests, is_begun, .. } = self.run.as_mut()?;
        if let Some(why) = requests.explain_part() {
            let why = why + "\nhelp: if it is only slow, raise `within` in the IUT file";
            self.evidence.mark(why.as_bytes(), evidence::NO_ANSWER);
        }
        if !self.server.outlives_runs() {
            return None;
        }
        requests.send_no_more();
        let awaited = format!("the answer to `{}`", requests.outstanding()?);
        let begin = Instant::now();
        // The content of the answer does not matter any more. A step before the run was waited for already.
        let within = if *is_begun { self.description.settle.within } else { Duration::ZERO };
        let _ = requests.next(begin + within);
        let left = match requests.outstanding() {
            None => Left::Clean,
            Some(_) if self.server.is_ours() => Left::Ended,
            Some(_) => Left::Unclean,
        };
        Some(Teardown { awaited, waited: begin.elapsed(), left })
    }

    fn evidence(&mut self, begin: Instant) -> Vec<evidence::EvidenceItem> {
        if let Some(process) = self.server.process() {
            process.write_last_words(&self.evidence);
        }
        self.evidence.take(begin)
    }

    fn stop(&mut self) {
        self.leave();
        self.server.end_run();
        self.system.leave();
    }
}

impl HttpAdapter {
    /// Leaves the run. If a request is under way, a server of ours is ended, and another one is unclean.
    fn leave(&mut self) {
        let Some(HttpRun { requests, .. }) = self.run.take() else { return };
        if !self.server.outlives_runs() {
            return;
        }
        let Some(name) = requests.outstanding() else { return };
        if self.server.is_ours() {
            self.server.stop();
            return;
        }
        let what = format!("`{name}` of an earlier run was sent and has not been answered");
        self.system.mark_unclean(what, system::NAME_BARRIER);
        // The answer to one request can be waited for later. If there are two such requests, none is.
        self.late = if self.late.is_some() { None } else { Some(requests) };
    }

    /// Waits for the answer that an earlier run has left under way, if no barrier is named.
    fn wait_for_late(&mut self, deadline: Instant) -> Result<(), Failure> {
        let late = &mut self.late;
        let look = |until: Instant| {
            let Some(requests) = late else { return Arrival::Unknown };
            let _ = requests.next(until);
            match requests.outstanding() {
                None => Arrival::Come,
                Some(_) if requests.may_be_answered() => Arrival::Late,
                Some(_) => Arrival::Unknown,
            }
        };
        let waited = self.system.wait(&self.description.settle, deadline, look);
        if !self.system.is_unclean() {
            self.late = None;
        }
        waited
    }
}

impl HttpRun {
    /// Returns the next answer, if it comes until then.
    ///
    /// # Errors
    /// [`Failure`]. The end of a server of ours is a failure and no silence, even if a child of the server
    /// holds its connection open. Its last answer is here already, and only has to be read.
    fn next(&mut self, until: Instant, server: &Server) -> Result<Option<Reply>, Failure> {
        let mut next = |until| self.requests.next(until).map_err(|failure| add_farewell(failure, server));
        if let Some(reply) = next(until)? {
            return Ok(Some(reply));
        }
        let now = Instant::now();
        let Some(process) = server.process().filter(|process| process.has_ended(now)) else {
            return Ok(None);
        };
        if now >= self.deadline {
            return Ok(None);
        }
        // An answer that came before the server ended can still be read.
        match next(self.deadline.min(now + Duration::from_millis(250)))? {
            Some(reply) => Ok(Some(reply)),
            None => Err(Failure::Lost(format!("no answer: {}", process.farewell("has ended")))),
        }
    }

    /// Does a step before the run. `whose` names the steps in messages.
    fn do_step(
        &mut self,
        step: &PreparationStep,
        whose: &str,
        launched: &Launched,
        session: &Session<'_>,
        captures: &[Capture],
    ) -> Result<(), Failure> {
        match step {
            PreparationStep::Request(probe) => {
                let reply = self.probe(probe, whose, session.deadline)?;
                self.capture(captures, &reply, &[]);
                Ok(())
            }
            PreparationStep::Command(command, within) => {
                system::run_command(command, *within, launched, session)
            }
            PreparationStep::Pause(time) => system::pause_run(*time, session),
            // The reader of descriptions allows no exchange here.
            PreparationStep::Exchange(_) => {
                Err(Failure::Untranslatable(format!("over HTTP, `{whose}` cannot send a line")))
            }
        }
    }

    /// Takes out of an answer what is to be sent later.
    fn capture(&mut self, captures: &[Capture], reply: &Reply, outputs: &[&str]) {
        for capture in captures {
            match capture_value(capture, reply, outputs) {
                Ok(value) => drop(self.signatures.capture(&capture.name, &value)),
                Err(Some(why)) => self.signatures.miss_capture(&capture.name, why),
                Err(None) => {}
            }
        }
    }

    /// Asks until the answer is the one that is expected, or there is no time left.
    fn probe(&mut self, probe: &Probe, whose: &str, deadline: Instant) -> Result<Reply, Failure> {
        let until = Instant::now() + probe.within;
        loop {
            let signatures = &self.signatures;
            let value = |name: &str| signatures.before(name).ok_or_else(|| signatures.lacking(name));
            let prepared = fill_request(&probe.request, &self.headers, &self.base, whose, value)?;
            self.requests.push(prepared)?;
            let limit = deadline.min(Instant::now() + self.patience.max(probe.within));
            let Some(reply) = self.requests.next(limit)? else {
                let slow = || "if it needs more time, raise `within_ms` of this request".to_owned();
                let help = self.requests.explain_part().unwrap_or_else(slow);
                return Err(Failure::Start(format!("`{whose}` was not answered in time\nhelp: {help}")));
            };
            let Some(why) = describe_misfit(&reply, probe) else { return Ok(reply) };
            if Instant::now() + LONG_PAUSE > until.min(deadline) {
                let (to, status) = (&reply.asked, reply.status);
                let help = if probe.statuses.contains(&status) {
                    String::new()
                } else if !matches!(status, 200..=299 | 404) && !explain_status(status).is_empty() {
                    let headers = probe.request.headers.iter().chain(&self.headers);
                    explain_refusal(&reply, headers, &self.signatures)
                } else {
                    format!("\nhelp: correct its `path`, or expect this status: `status: {status}`")
                };
                return Err(Failure::Start(format!("`{whose}`: `{to}` was answered with {why}{help}")));
            }
            std::thread::sleep(LONG_PAUSE);
        }
    }
}

/// Says what an answer is, if it is not the expected one.
fn describe_misfit(reply: &Reply, probe: &Probe) -> Option<String> {
    let body = String::from_utf8_lossy(&reply.body);
    let body = body.trim_end();
    if !probe.statuses.contains(&reply.status) {
        let shown = shortened(body).replace(char::is_control, " ");
        let shown = if shown.is_empty() { shown } else { format!(", and the body `{shown}`") };
        let wanted: Vec<String> = probe.statuses.iter().map(u16::to_string).collect();
        return Some(format!("status {}, not {}{shown}", reply.status, wanted.join(" or ")));
    }
    let expected = probe.body.as_ref()?;
    (!expected.is_match(body)).then(|| format!("`{}`, which does not fit `expect`", shortened(body)))
}

fn make_reset_failure(failure: Failure, server: &Server) -> Failure {
    match add_farewell(failure, server) {
        failure @ (Failure::Start(_) | Failure::Untranslatable(_)) => failure,
        other => Failure::Start(format!("`reset` failed: {}", other.text())),
    }
}

/// Adds the last words of a server of ours to the loss of a connection.
fn add_farewell(failure: Failure, server: &Server) -> Failure {
    match (failure, server.process()) {
        (Failure::Lost(text), Some(process)) => {
            Failure::Lost(format!("{text}\n{}", process.farewell("is running")))
        }
        (failure, _) => failure,
    }
}

/// Makes a request with its holes filled. A common header that waits for a capture is left out.
pub fn fill_request(
    request: &Request,
    common: &[(String, Template)],
    base: &str,
    what: &str,
    value: impl Fn(&str) -> Result<String, String>,
) -> Result<PreparedRequest, Failure> {
    let no_value = |name: String| {
        let why = value(&name).err().unwrap_or_default();
        Failure::Untranslatable(format!("the request for `{what}` has `{{{name}}}`, {why}"))
    };
    let given = |name: &str| value(name).ok();
    let path = request.path.fill_as(given, |value| percent_encoded(&value)).map_err(no_value)?;
    let bytes = |body: String| match request.is_latin1 {
        false => Ok(body.into_bytes()),
        true => to_latin1(&body).ok_or_else(|| {
            let why = "has a character above U+00FF, which `latin1` cannot send";
            Failure::Untranslatable(format!("the body of the request for `{what}` {why}"))
        }),
    };
    let body = match &request.body {
        Some(body) => Some(bytes(body.fill(given).map_err(no_value)?)?),
        None => None,
    };
    let mut headers = Vec::new();
    let is_own = |name: &str| request.headers.iter().any(|(own, _)| own.eq_ignore_ascii_case(name));
    let common = common.iter().filter(|(name, template)| !is_own(name) && template.fill(given).is_ok());
    for (name, template) in common.chain(&request.headers) {
        let value = template.fill(given).map_err(no_value)?;
        if value.contains(char::is_control) {
            let why = "has a control character, which a header must not have";
            return Err(Failure::Untranslatable(format!(
                "the header `{name}` of the request for `{what}` {why}"
            )));
        }
        headers.push((name.clone(), value));
    }
    let url = format!("{base}{path}");
    Ok(PreparedRequest { name: what.to_owned(), method: request.method.clone(), url, body, headers })
}
