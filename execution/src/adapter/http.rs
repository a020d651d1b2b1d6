//! An implementation that is an HTTP server: a stimulus is a request, its response is the output.
//!
//! Requests are sent by a thread of the run, one after the other, so that a server which does not answer holds up nobody:
//! the tester waits for as long as it likes, and may send another stimulus meanwhile. When the run is over, the
//! request under way is given up ([`crate::adapter::socket`]) and the thread has ended before [`Adapter::stop`] returns: there
//! are never more of them than runs under way. Every request has a connection of its own, since a server may close one
//! that is kept at just the wrong moment.

use std::os::unix::net::UnixStream;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use coreach_model::semantics::Event;
use ureq::Agent;

use crate::adapter::description::{Http, Request};
use crate::adapter::framing::NoHttp;
use crate::adapter::reply::{Reply, translate};
use crate::adapter::server::{self, Server};
use crate::adapter::signature::Signatures;
use crate::adapter::socket::{self, Connect, Known};
use crate::adapter::{Adapter, Failure, Received, Session};
use crate::excerpt::shortened;

/// The largest body that is read, in bytes.
const LARGEST_BODY: u64 = 1 << 20;

/// The most requests that wait.
const MOST_WAITING: usize = 1000;

/// What a request is given beyond the run's limit, so that the run ends for its own reason.
const BEYOND: Duration = Duration::from_millis(50);

/// The adapter of an HTTP server.
#[derive(Debug)]
pub struct HttpAdapter {
    description: Http,
    run: Option<HttpRun>,
    server: Server,
}

#[derive(Debug)]
struct HttpRun {
    base: String,
    signatures: Signatures,
    requests: SyncSender<Prepared>,
    replies: Receiver<Result<Reply, Failure>>,
    waiting: usize,
    /// Dropped to give up the request under way.
    line: UnixStream,
    thread: JoinHandle<()>,
}

/// A request with its holes filled.
#[derive(Debug)]
struct Prepared {
    method: String,
    url: String,
    body: String,
    headers: Vec<(String, String)>,
}

impl HttpAdapter {
    /// Nothing is started yet.
    pub fn new(description: Http) -> Self {
        let server = Server::new(description.launch.clone(), description.base.clone());
        HttpAdapter { description, run: None, server }
    }
}

impl Adapter for HttpAdapter {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.end();
        if self.description.launch.is_some() {
            drop(self.server.connect(session)?);
        }
        let base = server::fill(&self.description.base, self.server.port())?;
        let signatures = Signatures::of(session);
        let addresses = server::resolved(&self.server.address()?, session.deadline);
        let addresses = addresses.map_err(|why| Failure::Start(format!("no connection to {base}: {why}")))?;
        let (theirs, line) =
            socket::line().map_err(|error| Failure::Start(format!("no pair of sockets: {error}")))?;
        let agent = Agent::with_parts(config(), Connect(theirs), Known(addresses));
        if let Some((request, status)) = &self.description.reset {
            let prepared = prepare(request, &base, "reset", |name| signatures.constant(name))?;
            let reply = exchange(&agent, &prepared, session.deadline)
                .map_err(|failure| self.start_failure(failure))?;
            if reply.status != *status {
                let text = format!("`reset` was answered with status {}, not {status}", reply.status);
                return Err(Failure::Start(text));
            }
        }
        let (requests, theirs) = sync_channel::<Prepared>(MOST_WAITING);
        let (ours, replies) = sync_channel(MOST_WAITING);
        let until = session.deadline + BEYOND;
        let work = move || {
            for request in theirs {
                if ours.send(exchange(&agent, &request, until)).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("http".to_owned())
            .spawn(work)
            .map_err(|error| Failure::Start(format!("no thread for the requests: {error}")))?;
        self.run = Some(HttpRun { base, signatures, requests, replies, waiting: 0, line, thread });
        Ok(())
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        let run = self.run.as_mut().ok_or_else(super::stdio::not_started)?;
        let request = self.description.stimuli.iter().find(|(action, _)| *action == stimulus.action);
        let (_, request) = request.ok_or_else(|| {
            Failure::Untranslatable(format!("`stimuli` has no request for `{}`", stimulus.action))
        })?;
        let spelling = &self.description.spelling;
        let value = |name: &str| run.signatures.hole(stimulus, spelling, name);
        let prepared = prepare(request, &run.base, &stimulus.action, value)?;
        let stuck = |_| Failure::Stuck(format!("{MOST_WAITING} requests wait for an answer"));
        run.requests.try_send(prepared).map_err(stuck)?;
        run.waiting += 1;
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        loop {
            let run = self.run.as_mut().ok_or_else(super::stdio::not_started)?;
            // A server says nothing unasked.
            if run.waiting == 0 {
                return Ok(Received::Silence);
            }
            let rest = until.saturating_duration_since(Instant::now());
            let reply = if rest.is_zero() {
                run.replies.try_recv().map_err(|error| error == TryRecvError::Empty)
            } else {
                run.replies.recv_timeout(rest).map_err(|error| error == RecvTimeoutError::Timeout)
            };
            let reply = match reply {
                Ok(reply) => reply,
                Err(true) => return Ok(Received::Silence),
                Err(false) => return Err(Failure::Lost("the requests are not sent any more".to_owned())),
            };
            run.waiting -= 1;
            let reply = reply.map_err(|failure| with_farewell(failure, &self.server))?;
            if let Some(received) = translate(&reply, &self.description, &run.signatures)? {
                return Ok(received);
            }
        }
    }

    fn stop(&mut self) {
        self.end();
        self.server.end_run();
    }
}

impl Drop for HttpAdapter {
    fn drop(&mut self) {
        self.end();
    }
}

impl HttpAdapter {
    /// Gives up what is asked, and waits for the thread, which then has nothing to wait for.
    fn end(&mut self) {
        let Some(HttpRun { requests, replies, line, thread, .. }) = self.run.take() else { return };
        drop((requests, replies, line));
        if let Err(panic) = thread.join() {
            std::panic::resume_unwind(panic);
        }
    }

    fn start_failure(&self, failure: Failure) -> Failure {
        let failure = with_farewell(failure, &self.server);
        Failure::Start(format!("`reset` failed: {}", failure.text()))
    }
}

/// If the server is ours and gone, it may have said why.
fn with_farewell(failure: Failure, server: &Server) -> Failure {
    match (failure, server.process()) {
        (Failure::Lost(text), Some(process)) => {
            Failure::Lost(format!("{text}; {}", process.farewell("is running")))
        }
        (failure, _) => failure,
    }
}

fn prepare(
    request: &Request,
    base: &str,
    what: &str,
    value: impl Fn(&str) -> Option<String>,
) -> Result<Prepared, Failure> {
    let no_value = |name: String| {
        Failure::Untranslatable(format!(
            "the request for `{what}` has the hole `{name}`, for which there is no value"
        ))
    };
    let path = request.path.fill(|name| Some(encoded(&value(name)?))).map_err(no_value)?;
    let body = match &request.body {
        Some(body) => body.fill(&value).map_err(no_value)?,
        None => String::new(),
    };
    let mut headers = Vec::new();
    for (name, template) in &request.headers {
        headers.push((name.clone(), template.fill(&value).map_err(no_value)?));
    }
    Ok(Prepared { method: request.method.clone(), url: format!("{base}{path}"), body, headers })
}

/// Percent-encoded, but for what needs it nowhere (RFC 3986, 2.3).
fn encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

/// How requests are made.
fn config() -> ureq::config::Config {
    Agent::config_builder()
        .http_status_as_error(false)
        // A redirection is an answer like any other.
        .max_redirects(0)
        .proxy(None)
        .max_idle_connections(0)
        .allow_non_standard_methods(true)
        .user_agent("coreach")
        .accept_encoding("identity")
        .build()
}

/// One request and its response, before that instant.
fn exchange(agent: &Agent, prepared: &Prepared, until: Instant) -> Result<Reply, Failure> {
    let rest = until.saturating_duration_since(Instant::now());
    if rest.is_zero() {
        return Err(Failure::Stuck("no answer until the run's limit of time".to_owned()));
    }
    let mut builder = ureq::http::Request::builder().method(prepared.method.as_str()).uri(&prepared.url);
    for (name, value) in &prepared.headers {
        builder = builder.header(name, value);
    }
    let unsendable = |error: &dyn std::fmt::Display| {
        Failure::Untranslatable(format!(
            "{} {} is no request: {error}",
            prepared.method,
            shortened(&prepared.url)
        ))
    };
    let response = if prepared.body.is_empty() {
        let request = builder.body(()).map_err(|error| unsendable(&error))?;
        agent.run(agent.configure_request(request).timeout_global(Some(rest)).build())
    } else {
        let request = builder.body(prepared.body.as_str()).map_err(|error| unsendable(&error))?;
        agent.run(agent.configure_request(request).timeout_global(Some(rest)).build())
    };
    let mut response = response.map_err(failure)?;
    let codings: Vec<String> = response
        .headers()
        .get_all("content-encoding")
        .iter()
        .map(|coding| String::from_utf8_lossy(coding.as_bytes()).trim().to_owned())
        .filter(|coding| !coding.is_empty())
        .collect();
    let status = response.status().as_u16();
    let body = response.body_mut().with_config().limit(LARGEST_BODY).read_to_vec().map_err(failure)?;
    let coding = (!codings.is_empty()).then(|| codings.join(", "));
    Ok(Reply { status, coding, body })
}

fn failure(error: ureq::Error) -> Failure {
    match error {
        ureq::Error::Timeout(_) => Failure::Stuck("no answer until the run's limit of time".to_owned()),
        ureq::Error::BodyExceedsLimit(limit) => {
            Failure::Flood(format!("a body is larger than {limit} bytes"))
        }
        ureq::Error::Protocol(error) => Failure::Garbage(format!("the answer is no HTTP: {error}")),
        ureq::Error::Other(error) if error.is::<NoHttp>() => {
            Failure::Garbage(format!("the answer is no HTTP: {error}"))
        }
        ureq::Error::LargeResponseHeader(_, limit) => {
            Failure::Flood(format!("the headers of an answer are larger than {limit} bytes"))
        }
        ureq::Error::Http(error) => Failure::Untranslatable(format!("no request: {error}")),
        ureq::Error::BadUri(uri) => Failure::Untranslatable(format!("`{}` is no address", shortened(&uri))),
        other => Failure::Lost(format!("no answer: {other}")),
    }
}
