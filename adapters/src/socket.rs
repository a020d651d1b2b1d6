//! Connections of the HTTP adapter, which are given up the moment that their run is over.
//!
//! **Problem.** A request waits in a thread. A wait in the kernel ends when the server answers, or when the
//! run's limit of time has passed. If the run is over before, its thread would stay until then.
//!
//! **Method.** No socket blocks. Every wait, also that for the connection, is a `poll` that watches a second
//! descriptor, the [`Lifeline`] to the run. When its other end is dropped, all waits end at once, and the
//! thread can be joined. The addresses are found before the first request, so no wait is hidden there.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use coreach_model::lock::lock;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with, sockopt};
use ureq::Error;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::unversioned::resolver::{ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{
    Buffers, ConnectionDetails, Connector, LazyBuffers, NextTimeout, Transport,
};

use crate::evidence::Evidence;
use crate::framing;
use crate::tls::{Tls, TlsSession};

/// A descriptor that a thread watches while it makes requests. The run drops its own end of it when it does
/// not want them any more.
#[derive(Clone, Debug)]
pub struct Lifeline(Arc<UnixStream>);

/// Makes a lifeline, and the end of it that the run keeps.
pub fn lifeline() -> io::Result<(Lifeline, UnixStream)> {
    let (theirs, ours) = UnixStream::pair()?;
    Ok((Lifeline(Arc::new(theirs)), ours))
}

/// Connects, for requests that can be given up.
#[derive(Debug)]
pub struct Connect {
    pub lifeline: Lifeline,
    /// Set before the first byte of a request may leave.
    pub sent: Arc<AtomicBool>,
    pub answer: AnswerBytes,
    /// Sees every byte, in both directions.
    pub evidence: Evidence,
    /// TLS and its host, if TLS is spoken.
    pub tls: Option<(Tls, String)>,
}

/// The bytes of an answer as they have come. Its clones are the same bytes.
#[derive(Clone, Default, Debug)]
pub struct AnswerBytes(Arc<Mutex<Vec<u8>>>);

/// The largest answer, in bytes: chunks of one byte each are six times as large as the body.
const LARGEST_ANSWER: usize = 8 << 20;

impl AnswerBytes {
    pub fn take(&self) -> Vec<u8> {
        std::mem::take(&mut lock(&self.0))
    }

    /// Explains what is missing of the answer ([`framing::explain_part`]).
    pub fn explain_part(&self) -> Option<String> {
        framing::explain_part(&lock(&self.0))
    }

    fn append(&self, new: &[u8]) -> Result<(), Error> {
        let mut bytes = lock(&self.0);
        if bytes.len() + new.len() > LARGEST_ANSWER {
            return Err(Error::BodyExceedsLimit(LARGEST_ANSWER as u64));
        }
        bytes.extend_from_slice(new);
        Ok(())
    }
}

#[derive(Debug)]
pub struct KnownAddress(pub Vec<SocketAddr>);

#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    lifeline: Lifeline,
    /// Set before the first byte of a request may leave.
    sent: Arc<AtomicBool>,
    answer: AnswerBytes,
    buffers: LazyBuffers,
    evidence: Evidence,
    /// The evidence has bytes of the request. Further bytes continue that item.
    has_sent: bool,
    /// The evidence has bytes of the answer. Further bytes continue that item.
    has_received: bool,
    /// The TLS between the library and the stream, if TLS is spoken.
    tls: Option<TlsSession>,
}

impl Resolver for KnownAddress {
    fn resolve(&self, _: &Uri, _: &Config, _: NextTimeout) -> Result<ResolvedSocketAddrs, Error> {
        let mut addresses = self.empty();
        // The library has room for 16.
        self.0.iter().take(16).for_each(|address| addresses.push(*address));
        if self.0.is_empty() { Err(Error::HostNotFound) } else { Ok(addresses) }
    }
}

impl Connector for Connect {
    type Out = Socket;

    fn connect(&self, details: &ConnectionDetails<'_>, _: Option<()>) -> Result<Option<Socket>, Error> {
        let mut last_error = Error::HostNotFound;
        for address in &details.addrs {
            match self.connect_to(address, details.timeout) {
                Ok(stream) => {
                    let tls = self.begin_tls(&stream, details.timeout)?;
                    let config = details.config;
                    let buffers = LazyBuffers::new(config.input_buffer_size(), config.output_buffer_size());
                    return Ok(Some(Socket {
                        stream,
                        lifeline: self.lifeline.clone(),
                        sent: Arc::clone(&self.sent),
                        buffers,
                        answer: self.answer.clone(),
                        evidence: self.evidence.clone(),
                        has_sent: false,
                        has_received: false,
                        tls,
                    }));
                }
                Err(error) => last_error = error,
            }
        }
        Err(last_error)
    }
}

impl Connect {
    fn begin_tls(&self, stream: &TcpStream, timeout: NextTimeout) -> Result<Option<TlsSession>, Error> {
        let Some((tls, host)) = &self.tls else { return Ok(None) };
        let mut session = tls.session(host).map_err(io::Error::other)?;
        session.begin(stream, |what| self.lifeline.wait(stream, what, timeout))?;
        Ok(Some(session))
    }

    fn connect_to(&self, address: &SocketAddr, timeout: NextTimeout) -> Result<TcpStream, Error> {
        let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
        let socket = socket_with(family, SocketType::STREAM, flags, None).map_err(io::Error::from)?;
        let connected = connect(&socket, address);
        let stream = TcpStream::from(socket);
        match connected {
            Ok(()) => {}
            Err(Errno::INPROGRESS | Errno::INTR) => {
                self.lifeline.wait(&stream, PollFlags::OUT, timeout)?;
                sockopt::socket_error(&stream).map_err(io::Error::from)?.map_err(io::Error::from)?;
            }
            Err(error) => return Err(io::Error::from(error).into()),
        }
        stream.set_nodelay(true)?;
        Ok(stream)
    }
}

impl Lifeline {
    /// Waits until the socket is ready. It is an error if time is over, or the request is given up.
    fn wait(&self, stream: &TcpStream, what: PollFlags, timeout: NextTimeout) -> Result<(), Error> {
        let time = match timeout.after {
            ureq::unversioned::transport::time::Duration::Exact(time) => Timespec::try_from(time).ok(),
            ureq::unversioned::transport::time::Duration::NotHappening => None,
        };
        let mut fds = [PollFd::new(stream, what), PollFd::new(&*self.0, PollFlags::IN)];
        match poll(&mut fds, time.as_ref()) {
            Ok(0) => Err(Error::Timeout(timeout.reason)),
            Ok(_) if !fds[1].revents().is_empty() => {
                Err(io::Error::new(ErrorKind::NotConnected, "coreach has given up the request").into())
            }
            Ok(_) | Err(Errno::INTR) => Ok(()),
            Err(error) => Err(io::Error::from(error).into()),
        }
    }
}

impl Transport for Socket {
    fn buffers(&mut self) -> &mut dyn Buffers {
        &mut self.buffers
    }

    fn transmit_output(&mut self, amount: usize, timeout: NextTimeout) -> Result<(), Error> {
        self.sent.store(true, Ordering::SeqCst);
        let mut done = 0;
        while done < amount {
            let bytes = &self.buffers.output()[done..amount];
            let written = match &mut self.tls {
                None => (&self.stream).write(bytes),
                Some(tls) => tls.write(&self.stream, bytes),
            };
            match written {
                Ok(0) => return Err(io::Error::from(ErrorKind::WriteZero).into()),
                Ok(count) => {
                    let continues = std::mem::replace(&mut self.has_sent, true);
                    self.evidence.sent(&self.buffers.output()[done..done + count], continues);
                    done += count;
                }
                Err(error) => self.pause(error, PollFlags::OUT, timeout)?,
            }
        }
        Ok(())
    }

    fn await_input(&mut self, timeout: NextTimeout) -> Result<bool, Error> {
        loop {
            let buffer = self.buffers.input_append_buf();
            // Bytes may be decrypted already, of which no descriptor tells.
            let decrypted = self.tls.as_mut().and_then(|tls| tls.left(buffer).ok());
            let read = match decrypted {
                Some(count) => Ok(count),
                None => {
                    // This comes before each read, so that a server that sends without end is given up, too.
                    self.lifeline.wait(&self.stream, PollFlags::IN, timeout)?;
                    match &mut self.tls {
                        None => (&self.stream).read(buffer),
                        Some(tls) => tls.read(&self.stream, buffer),
                    }
                }
            };
            match read {
                Ok(count) => {
                    let new = &self.buffers.input_append_buf()[..count];
                    if count == 0 {
                        self.evidence.ended("the server has ended the connection");
                    } else {
                        self.evidence.received(new, std::mem::replace(&mut self.has_received, true));
                    }
                    self.answer.append(new)?;
                    self.buffers.input_appended(count);
                    return Ok(count > 0);
                }
                Err(error) => self.pause(error, PollFlags::IN, timeout)?,
            }
        }
    }

    fn is_tls(&self) -> bool {
        self.tls.is_some()
    }

    fn is_open(&mut self) -> bool {
        // Each request has a connection of its own.
        false
    }
}

impl Socket {
    /// Waits for the stream if it was not ready. Any other error is returned.
    fn pause(&self, error: io::Error, what: PollFlags, timeout: NextTimeout) -> Result<(), Error> {
        match error.kind() {
            ErrorKind::WouldBlock => self.lifeline.wait(&self.stream, what, timeout),
            ErrorKind::Interrupted => Ok(()),
            _ => {
                self.evidence.ended(&format!("the connection broke: {error}"));
                Err(error.into())
            }
        }
    }
}
