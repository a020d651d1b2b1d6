//! The requests of a run to an HTTP server, one after the other, and what became of each.
//!
//! A thread makes them, so that a server which does not answer holds up nobody. The tester waits for as long
//! as it likes. Further requests wait for their turn here. One request is under way at most. Its answer says
//! that the server has taken it, and nobody has to wait for requests that were not sent. A request has no
//! limit of time. It is given up when its [`Requests`] are dropped ([`crate::socket`]), and the thread ends.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use coreach_model::excerpt::shortened;
use ureq::http::{HeaderValue, Response};
use ureq::{Agent, Body};

use crate::adapter::Failure;
use crate::cut;
use crate::evidence::Evidence;
use crate::framing::{check_chunks, check_head};
use crate::reply::Reply;
use crate::socket::{self, AnswerBytes, Connect, KnownAddress};
use crate::tls::{Broken, Tls};

const MOST_WAITING: usize = 1000;

pub struct PreparedRequest {
    pub name: String,
    pub method: String,
    pub url: String,
    pub body: Option<Vec<u8>>,
    pub headers: Vec<(String, String)>,
}

struct RequestResult {
    reply: Result<Reply, Failure>,
    was_sent: bool,
}

/// The requests of a run that have no answer yet.
pub struct Requests {
    queue: VecDeque<PreparedRequest>,
    under_way: Option<String>,
    /// A request that was sent, and will have no answer.
    unanswered: Option<String>,
    /// The bytes that have come of the answer to the request under way.
    answer: AnswerBytes,
    /// The thread that makes the requests. `drop` takes it.
    worker: Option<Worker>,
}

struct Worker {
    orders: SyncSender<PreparedRequest>,
    answers: Receiver<RequestResult>,
    /// Dropped to give up the request under way.
    lifeline: UnixStream,
    thread: JoinHandle<()>,
}

impl Requests {
    /// Makes requests to the server at these addresses, with TLS and its host if TLS is spoken. Writes what
    /// goes over the wire into `evidence`.
    ///
    /// # Errors
    /// [`Failure::Start`]: the system has no thread or no descriptor for us.
    pub fn to(
        addresses: KnownAddress,
        tls: Option<(Tls, String)>,
        evidence: Evidence,
    ) -> Result<Self, Failure> {
        let (watched_end, lifeline) = socket::lifeline()
            .map_err(|error| Failure::Start(format!("cannot make a pair of sockets: {error}")))?;
        let sent = Arc::new(AtomicBool::new(false));
        let answer = AnswerBytes::default();
        let connect =
            Connect { lifeline: watched_end, sent: Arc::clone(&sent), answer: answer.clone(), tls, evidence };
        let agent = Agent::with_parts(agent_config(), connect, addresses);
        let (orders, ordered) = sync_channel::<PreparedRequest>(1);
        let (answered, answers) = sync_channel(1);
        let bytes_of_answer = answer.clone();
        // The thread makes one request after the other, until nobody orders or waits any more.
        let work = move || {
            for request in ordered {
                sent.store(false, Ordering::SeqCst);
                let reply = exchange(&agent, &bytes_of_answer, &request);
                if answered.send(RequestResult { reply, was_sent: sent.load(Ordering::SeqCst) }).is_err() {
                    return;
                }
            }
        };
        let thread = std::thread::Builder::new()
            .name("http".to_owned())
            .spawn(work)
            .map_err(|error| Failure::Start(format!("cannot start a thread for the requests: {error}")))?;
        let worker = Some(Worker { orders, answers, lifeline, thread });
        Ok(Requests { queue: VecDeque::new(), under_way: None, unanswered: None, answer, worker })
    }

    pub fn is_idle(&self) -> bool {
        self.under_way.is_none() && self.queue.is_empty()
    }

    /// Returns the name of a request that was sent and has no answer yet, or will never have one.
    pub fn outstanding(&self) -> Option<&str> {
        self.under_way.as_deref().or(self.unanswered.as_deref())
    }

    /// Explains what is missing of the answer to the request under way, if a part of it has come.
    pub fn explain_part(&self) -> Option<String> {
        self.under_way.as_ref().and_then(|_| self.answer.explain_part())
    }

    /// Says whether an answer to all that was sent can still come.
    pub fn may_be_answered(&self) -> bool {
        self.unanswered.is_none()
    }

    /// Forgets the requests that were not sent.
    pub fn send_no_more(&mut self) {
        self.queue.clear();
    }

    /// Sends a request, now or when its turn comes.
    ///
    /// # Errors
    /// [`Failure::Stuck`]: too many wait; [`Failure::Lost`].
    pub fn push(&mut self, request: PreparedRequest) -> Result<(), Failure> {
        if self.queue.len() >= MOST_WAITING {
            return Err(Failure::Stuck(format!("{MOST_WAITING} requests wait for an answer")));
        }
        self.queue.push_back(request);
        self.send_next()
    }

    /// Sends the next request of the queue, unless one is under way.
    fn send_next(&mut self) -> Result<(), Failure> {
        if self.under_way.is_some() {
            return Ok(());
        }
        let Some(request) = self.queue.pop_front() else { return Ok(()) };
        let name = request.name.clone();
        let Some(worker) = &self.worker else { return Err(make_loss_of_thread()) };
        worker.orders.send(request).map_err(|_| make_loss_of_thread())?;
        self.under_way = Some(name);
        Ok(())
    }

    /// Returns the next answer, if it comes until then.
    ///
    /// # Errors
    /// [`Failure`]: a request has no answer that can be read.
    pub fn next(&mut self, until: Instant) -> Result<Option<Reply>, Failure> {
        let (Some(worker), Some(name)) = (&self.worker, &self.under_way) else { return Ok(None) };
        let RequestResult { reply, was_sent } =
            match worker.answers.recv_timeout(until.saturating_duration_since(Instant::now())) {
                Ok(result) => result,
                Err(RecvTimeoutError::Timeout) => return Ok(None),
                Err(RecvTimeoutError::Disconnected) => return Err(make_loss_of_thread()),
            };
        // An answer that cannot be read is an answer. If the connection broke, nobody knows.
        if was_sent && matches!(reply, Err(Failure::Lost(_) | Failure::Stuck(_))) {
            self.unanswered = Some(name.clone());
        }
        self.under_way = None;
        let reply = reply?;
        self.send_next()?;
        Ok(Some(reply))
    }
}

impl Drop for Requests {
    fn drop(&mut self) {
        let Some(Worker { orders, answers, lifeline, thread }) = self.worker.take() else { return };
        drop((orders, answers, lifeline));
        if let Err(panic) = thread.join()
            && !std::thread::panicking()
        {
            std::panic::resume_unwind(panic);
        }
    }
}

fn make_loss_of_thread() -> Failure {
    Failure::Lost("coreach has stopped sending requests".to_owned())
}

fn agent_config() -> ureq::config::Config {
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

/// Sends a request and reads its answer, whose raw bytes in `answer` show malformed chunks.
fn exchange(agent: &Agent, answer: &AnswerBytes, prepared: &PreparedRequest) -> Result<Reply, Failure> {
    let mut builder = ureq::http::Request::builder().method(prepared.method.as_str()).uri(&prepared.url);
    for (name, value) in &prepared.headers {
        builder = builder.header(name, value);
    }
    let explain_unsendable = |error: ureq::http::Error| {
        let (method, url) = (&prepared.method, shortened(&prepared.url));
        Failure::Untranslatable(format!("{method} {url} is not a request: {error}"))
    };
    // Forgets the bytes of the answer before.
    answer.take();
    // The library would send an absent body of these methods in chunks, which not every server reads.
    let has_body = matches!(prepared.method.as_str(), "POST" | "PUT" | "PATCH");
    let empty_body = has_body.then_some(&[][..]);
    let response = match prepared.body.as_deref().or(empty_body) {
        None => agent.run(builder.body(()).map_err(explain_unsendable)?),
        Some(body) => agent.run(builder.body(body).map_err(explain_unsendable)?),
    };
    let mut response = response.map_err(|error| to_failure(error, answer))?;
    let no_http = |why: String| Failure::Garbage(format!("the answer is not HTTP: {why}"));
    let has_chunks =
        check_head(response.version(), response.status(), response.headers()).map_err(no_http)?;
    let codings = response.headers().get_all("content-encoding").iter();
    let codings = codings.map(|coding| String::from_utf8_lossy(coding.as_bytes()).trim().to_owned());
    let codings: Vec<String> = codings.filter(|coding| !coding.is_empty()).collect();
    let headers = response.headers().iter();
    let headers =
        headers.filter_map(|(name, value)| Some((name.as_str().to_owned(), header_text(value)?))).collect();
    let status = response.status().as_u16();
    let body = read_body(&mut response, answer)?;
    if has_chunks {
        check_chunks(&answer.take()).map_err(no_http)?;
    }
    let coding = (!codings.is_empty()).then(|| codings.join(", "));
    // The path is behind the third slash of `http://host/path`.
    let path = prepared.url.splitn(4, '/').nth(3).unwrap_or_default();
    let asked = format!("{} /{path}", prepared.method);
    let reason = response.status().canonical_reason().unwrap_or_default().to_owned();
    Ok(Reply { to: prepared.name.clone(), asked, reason, status, headers, coding, body })
}

fn header_text(value: &HeaderValue) -> Option<String> {
    std::str::from_utf8(value.as_bytes()).ok().map(str::to_owned)
}

fn read_body(response: &mut Response<Body>, answer: &AnswerBytes) -> Result<Vec<u8>, Failure> {
    let body = response.body_mut().with_config().limit(cut::LONGEST as u64).read_to_vec();
    body.map_err(|error| match error {
        ureq::Error::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
            let end = match response.headers().get("content-length").and_then(header_text) {
                Some(length) => format!(
                    "all bytes of `Content-Length: {}` had come\nhelp: this must be the number of bytes of the body, and all of them must be sent",
                    shortened(&length)
                ),
                None => "its last chunk".to_owned(),
            };
            Failure::Lost(format!(
                "the server has closed the connection in the middle of an answer, before {end}"
            ))
        }
        other => to_failure(other, answer),
    })
}

/// Says why a request has no answer, of which these bytes have come.
fn to_failure(error: ureq::Error, answer: &AnswerBytes) -> Failure {
    match error {
        ureq::Error::Timeout(_) => Failure::Stuck("no answer within the time limit of the run".to_owned()),
        ureq::Error::BodyExceedsLimit(limit) => {
            Failure::Flood(format!("a body is larger than {limit} bytes"))
        }
        ureq::Error::Protocol(error) => {
            let help = match answer.take().first() {
                Some(b'{' | b'[' | b'<') => {
                    "\nhelp: it begins with a body: send a status line and headers before it. In Python, call `end_headers` \
                     after `send_response`"
                }
                Some(b'H') => "",
                _ => {
                    "\nhelp: if the server speaks TLS, `base` begins with `https://`\nhelp: if it answers in lines, describe it \
                     under `tcp` with `encoding: lines`"
                }
            };
            Failure::Garbage(format!("the answer is not HTTP: {error}{help}"))
        }
        ureq::Error::Io(error) if Broken::within(&error).is_some_and(|broken| !broken.is_alert) => {
            Failure::Garbage(error.to_string())
        }
        ureq::Error::LargeResponseHeader(_, limit) => {
            Failure::Flood(format!("the headers of an answer are larger than {limit} bytes"))
        }
        ureq::Error::Http(error) => Failure::Untranslatable(format!("not a request: {error}")),
        ureq::Error::BadUri(uri) => Failure::Untranslatable(format!("`{}` is not a URL", shortened(&uri))),
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionReset => Failure::Lost(format!(
            "no answer: {error}\nhelp: does the server speak HTTP on this port? With TLS, `base` begins with `https://`"
        )),
        ureq::Error::Io(error) if error.kind() == ErrorKind::ConnectionRefused => Failure::Lost(format!(
            "no answer: {error}\nhelp: start the system, correct `base`, or add `launch` to let coreach start it"
        )),
        ureq::Error::Io(error) if error.kind() == ErrorKind::UnexpectedEof => {
            Failure::Lost("no answer: the server has closed the connection before it answered".to_owned())
        }
        other => Failure::Lost(format!("no answer: {other}")),
    }
}
