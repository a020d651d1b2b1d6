//! An implementation that is an HTTP server: a stimulus is a request, its response is the output.
//!
//! Requests are sent by a thread of the run, one after the other, so that a server which does not answer holds up nobody:
//! the tester waits for as long as it likes, and may send another stimulus meanwhile. Every request has a connection
//! of its own, since a server may close one that is kept at just the wrong moment.

use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TryRecvError, sync_channel};
use std::time::{Duration, Instant};

use coreach_model::semantics::Event;
use serde_json::{Map, Value as Json};

use crate::adapter::description::{Http, Request, Response, Unmatched};
use crate::adapter::json_lines::exact;
use crate::adapter::server::{self, Server};
use crate::adapter::signature::Signatures;
use crate::adapter::{Adapter, Failure, Received, Session};
use crate::codec::shortened;

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
}

/// A request with its holes filled.
#[derive(Debug)]
struct Prepared {
    method: String,
    url: String,
    body: String,
    headers: Vec<(String, String)>,
}

#[derive(Debug)]
struct Reply {
    status: u16,
    body: String,
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
        self.run = None;
        if self.description.launch.is_some() {
            drop(self.server.connect(session)?);
        }
        let base = server::fill(&self.description.base, self.server.port())?;
        let signatures = Signatures::of(session);
        if let Some((request, status)) = &self.description.reset {
            let prepared = prepare(request, &base, "reset", |name| signatures.constant(name))?;
            let reply =
                exchange(&prepared, session.deadline).map_err(|failure| self.start_failure(failure))?;
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
                if ours.send(exchange(&request, until)).is_err() {
                    return;
                }
            }
        };
        std::thread::Builder::new()
            .name("http".to_owned())
            .spawn(work)
            .map_err(|error| Failure::Start(format!("no thread for the requests: {error}")))?;
        self.run = Some(HttpRun { base, signatures, requests, replies, waiting: 0 });
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
        // The thread ends with the answer that it waits for: at the latest at the run's limit of time.
        self.run = None;
        self.server.end_run();
    }
}

impl HttpAdapter {
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

/// One request and its response, before that instant.
fn exchange(prepared: &Prepared, until: Instant) -> Result<Reply, Failure> {
    let rest = until.saturating_duration_since(Instant::now());
    if rest.is_zero() {
        return Err(Failure::Stuck("no answer until the run's limit of time".to_owned()));
    }
    let agent = ureq::Agent::config_builder()
        .timeout_global(Some(rest))
        .http_status_as_error(false)
        // A redirection is an answer like any other.
        .max_redirects(0)
        .proxy(None)
        .max_idle_connections(0)
        .allow_non_standard_methods(true)
        .user_agent("coreach")
        .build()
        .new_agent();
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
        agent.run(builder.body(()).map_err(|error| unsendable(&error))?)
    } else {
        agent.run(builder.body(prepared.body.as_str()).map_err(|error| unsendable(&error))?)
    };
    let mut response = response.map_err(failure)?;
    let status = response.status().as_u16();
    let bytes = response.body_mut().with_config().limit(LARGEST_BODY).read_to_vec().map_err(failure)?;
    // Only a body that is looked into must be text; a picture may come with a status that says it all.
    let body = String::from_utf8(bytes).unwrap_or_default();
    Ok(Reply { status, body })
}

fn failure(error: ureq::Error) -> Failure {
    match error {
        ureq::Error::Timeout(_) => Failure::Stuck("no answer until the run's limit of time".to_owned()),
        ureq::Error::BodyExceedsLimit(limit) => {
            Failure::Flood(format!("a body is larger than {limit} bytes"))
        }
        ureq::Error::Protocol(error) => Failure::Garbage(format!("the answer is no HTTP: {error}")),
        ureq::Error::LargeResponseHeader(_, limit) => {
            Failure::Flood(format!("the headers of an answer are larger than {limit} bytes"))
        }
        ureq::Error::Http(error) => Failure::Untranslatable(format!("no request: {error}")),
        ureq::Error::BadUri(uri) => Failure::Untranslatable(format!("`{}` is no address", shortened(&uri))),
        other => Failure::Lost(format!("no answer: {other}")),
    }
}

/// The event that a reply is; `None` where it is to be ignored.
fn translate(reply: &Reply, http: &Http, signatures: &Signatures) -> Result<Option<Received>, Failure> {
    let body: Option<Json> = serde_json::from_str(&exact(&reply.body)?).ok();
    for (action, response) in &http.observations {
        let Some(values) = fits(reply.status, body.as_ref(), response) else { continue };
        let mut spelt = Map::new();
        for (parameter, json) in values {
            let json = match json.as_str().map(|text| http.spelling.read(&parameter, text)) {
                Some(Some(usual)) => Json::String(usual.to_owned()),
                _ => json.clone(),
            };
            spelt.insert(parameter, json);
        }
        return signatures.output(action, &spelt).map(Some);
    }
    let text = format!("the answer {} `{}`, which fits no observation", reply.status, shortened(&reply.body));
    match http.unmatched {
        Unmatched::Fail => Ok(Some(Received::Alien(text))),
        Unmatched::Error => Err(Failure::Garbage(text)),
        Unmatched::Ignore => Ok(None),
    }
}

/// The values of a response that fits: the status is right, and all pointers point to something.
fn fits<'a>(status: u16, body: Option<&'a Json>, response: &Response) -> Option<Vec<(String, &'a Json)>> {
    let found = |(parameter, pointer): &(String, String)| Some((parameter.clone(), body?.pointer(pointer)?));
    if status == response.status { response.values.iter().map(found).collect() } else { None }
}
