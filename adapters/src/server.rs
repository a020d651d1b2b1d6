//! A server that is brought up for the test: its port, its readiness, how long it is kept.
//!
//! The kernel chooses a free port for a socket, which is closed again. Before the server's start, another
//! program may take the port. Then the server ends at once, and is tried again with another port. It must not
//! be a server of ours that takes the port, since it would answer in the other's place. So no two servers of
//! ours have one port at one time, even in two programs (`ReservedPort`).
//!
//! With each launch goes a folder for its files ([`crate::temporary`]).

use std::collections::BTreeMap;
use std::io::ErrorKind;
use std::net::{SocketAddr, TcpListener, TcpStream, ToSocketAddrs, UdpSocket};
use std::os::fd::OwnedFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr as LocalAddr, UnixDatagram};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use coreach_model::lock::lock;

use crate::adapter::{Failure, Session};
use crate::address::host_and_port;
use crate::datagrams::{self, Peer};
use crate::description::{self, Command, RepliesFrom};
use crate::launched::Launched;
use crate::process::{Launch, MUST_GO_ON, Process};
use crate::signature::Signatures;
use crate::template::Template;
use crate::temporary::TemporaryFolder;
use crate::times::PAUSE;

/// The words for a server that takes no connection. By them, a way is known to be TCP or HTTP.
const NO_CONNECTION: &str = "accepted no connection";

/// A server, and the port that was chosen for it if it is ours.
pub struct Server {
    launch: Option<description::ServerLaunch>,
    address: Template,
    process: Option<Process>,
    // Dropped after the process, which must be gone when another server gets the port.
    port: Option<ReservedPort>,
    folder: Option<Arc<TemporaryFolder>>,
    /// It may end between two runs.
    pub may_end: bool,
}

impl Server {
    /// Makes a server that is not started yet. `address` is host and port, or the beginning of a URL.
    pub fn new(launch: Option<description::ServerLaunch>, address: Template) -> Self {
        Server { launch, address, process: None, port: None, folder: None, may_end: false }
    }

    pub fn process(&self) -> Option<&Process> {
        self.process.as_ref()
    }

    /// Returns the port and the folder of its launch, if it is ours and up.
    pub fn launched(&self) -> Launched {
        Launched { port: self.port.as_ref().map(|port| port.number), folder: self.folder.clone() }
    }

    /// Brings it up if it is not, and returns its first connection, before the session's deadline.
    pub fn connect(&mut self, session: &Session<'_>) -> Result<TcpStream, Failure> {
        self.reach(session, Reach { failed: NO_CONNECTION, connect, free_port: free_tcp_port })
    }

    /// Brings it up if it is not, and returns a socket for datagrams to it.
    pub fn socket(
        &mut self,
        session: &Session<'_>,
        replies: RepliesFrom,
    ) -> Result<(OwnedFd, Peer), Failure> {
        let is_local = self.is_ours();
        let socket = move |address: &str, until| {
            let to = *resolve_address(address, until)?.first().ok_or("this name has no IP address")?;
            // A datagram that is sent before the server listens is lost.
            if is_local && !datagrams::is_bound(to.port()) {
                return Err("no program listens there".to_owned());
            }
            datagrams::open_socket(to, replies).map_err(|error| error.to_string())
        };
        let free_port = datagrams::free_port;
        self.reach(session, Reach { failed: "took no datagrams", connect: socket, free_port })
    }

    /// Starts it if it is not up, and reaches it in this way.
    fn reach<T>(&mut self, session: &Session<'_>, way: Reach<impl Dial<T>>) -> Result<T, Failure> {
        let Some(launch) = self.launch.clone() else {
            return (way.connect)(&self.address()?, session.deadline).map_err(|why| {
                let address = self.address().unwrap_or_default();
                Failure::Start(format!(
                    "no connection to {address}: {why}\nhelp: start the system, correct the address in the IUT file, or \
                     add `launch` to let coreach start it"
                ))
            });
        };
        if let Some(process) = self.process.as_ref().filter(|process| !is_alive(process)) {
            let unreported_end = process.describe_unreported_end().filter(|_| !self.may_end);
            self.stop();
            if let Some(text) = unreported_end {
                return Err(Failure::Start(text));
            }
        }
        // If coreach has chosen the port, another program may have taken it.
        let mut attempts = if has_port(&launch) { 3 } else { 1 };
        loop {
            attempts -= 1;
            match self.reach_once(&launch, session, &way) {
                // Another start does not help a server that runs.
                Err(failure) if attempts == 0 || self.process.as_ref().is_some_and(is_alive) => {
                    return Err(failure);
                }
                Err(_) => self.stop(),
                Ok(stream) => return Ok(stream),
            }
        }
    }

    /// Chooses a port and starts the server.
    fn start<T>(
        &mut self,
        launch: &description::ServerLaunch,
        session: &Session<'_>,
        way: &Reach<impl Dial<T>>,
    ) -> Result<Process, Failure> {
        let port = ReservedPort::choose(way.free_port);
        self.port = Some(port.map_err(|error| Failure::Start(format!("no free port: {error}")))?);
        let launched = Launched::new(self.launched().port)?;
        self.folder.clone_from(&launched.folder);
        // A server that is kept for many runs must not depend on the constants of one.
        let constants = (!launch.keep).then_some(session);
        let command = fill_command(&launch.command, &launched, constants)?;
        let address = self.address()?;
        if !has_port(launch) && !becomes_free(&address, session.deadline, &way.connect) {
            return Err(Failure::Start(format!(
                "another program listens on {address} before `{}` is started\nhelp: end it, or write `{{port}}` in `command` \
                 and in the address",
                command.words.join(" ")
            )));
        }
        Process::start_silent(&command)
    }

    /// Starts the server if it is not there, and tries to connect until `ready_ms` are over or it has ended.
    fn reach_once<T>(
        &mut self,
        launch: &description::ServerLaunch,
        session: &Session<'_>,
        way: &Reach<impl Dial<T>>,
    ) -> Result<T, Failure> {
        if self.process.is_none() {
            self.process = Some(self.start(launch, session, way)?);
        }
        let address = self.address()?;
        let Some(process) = &mut self.process else {
            return Err(Failure::Start("there is no server".to_owned()));
        };
        process.set_deadline(session.deadline);
        let until = session.deadline.min(Instant::now() + launch.ready);
        // The first error counts: the last attempt may have had no time.
        let mut first_error = None;
        loop {
            let connected = (way.connect)(&address, until);
            first_error = first_error.or_else(|| connected.as_ref().err().cloned());
            // If it has ended, another server has answered.
            if process.has_ended(Instant::now()) {
                let text = process.farewell("has ended");
                let is_plain_tcp =
                    way.failed == NO_CONNECTION && !write_template(&self.address).contains("://");
                return Err(Failure::Start(match text.strip_suffix(MUST_GO_ON) {
                    // A program that reads its standard input has met the end of it.
                    Some(text) if is_plain_tcp && !has_port(launch) => {
                        let words = launch.command.words.iter().map(write_template);
                        let words = words.collect::<Vec<_>>().join(", ");
                        format!(
                            "{text}, and listened on no port\nhelp: if it speaks on standard input and output, write `stdio:` in \
                             place of `tcp:`, and `command: [{words}]` in place of `address` and `launch`"
                        )
                    }
                    _ => text,
                }));
            }
            match connected {
                Ok(stream) => return Ok(stream),
                Err(why) if Instant::now() + PAUSE >= until => {
                    let why = first_error.unwrap_or(why);
                    let help = explain_no_connection(&address, has_port(launch));
                    let (failed, time) = (way.failed, launch.ready.as_millis());
                    let what = format!("{failed} on {address} within `ready_ms: {time}` ({why})");
                    return Err(Failure::Start(format!("{}\nhelp: {help}", process.farewell(&what))));
                }
                // The end of the process ends the pause, too.
                Err(_) => {
                    process.has_ended(Instant::now() + PAUSE);
                }
            }
        }
    }

    /// Makes one more connection, to the server as it is. A server of ours that has ended is not started
    /// again in the middle of a run.
    pub fn connect_again(&self, until: Instant) -> Result<TcpStream, Failure> {
        connect(&self.address()?, until).map_err(|why| {
            let what = format!("accepts no new connection ({why})");
            Failure::Lost(match &self.process {
                Some(process) => process.farewell(&what),
                None => format!("the implementation {what}"),
            })
        })
    }

    pub fn address(&self) -> Result<String, Failure> {
        Ok(host_and_port(&fill_template(&self.address, &self.launched())?))
    }

    /// Says whether it is there before a run and after it.
    pub fn outlives_runs(&self) -> bool {
        self.launch.as_ref().is_none_or(|launch| launch.keep)
    }

    /// Says whether coreach starts it.
    pub fn is_ours(&self) -> bool {
        self.launch.is_some()
    }

    /// Ends it after a run, unless it is kept.
    pub fn end_run(&mut self) {
        if !self.launch.as_ref().is_some_and(|launch| launch.keep) {
            self.stop();
        }
    }

    pub fn stop(&mut self) {
        self.process = None;
        self.port = None;
        self.folder = None;
    }
}

/// Says what helps if a server that runs takes no connection.
fn explain_no_connection(address: &str, has_port: bool) -> String {
    let port = address.rsplit_once(':').map_or("", |(_, port)| port);
    let mut other_hosts = ["127.0.0.1", "[::1]"].into_iter().filter(|host| {
        let other = format!("{host}:{port}");
        other != address && TcpStream::connect(other).is_ok()
    });
    let other_host = other_hosts.next();
    if is_udp(address) {
        "it listens on this port over UDP: write `udp:` in place of `tcp:`".to_owned()
    } else if let Some(host) = other_host {
        format!("a program listens on {host}:{port}: does the address name the right host?")
    } else if has_port {
        "it must listen on the port that `{port}` in `command` gives it, and on this host. If it only needs more time, \
         raise `ready_ms`"
            .to_owned()
    } else {
        "`command` has no `{port}`: give it, or let the system listen on the port of the address".to_owned()
    }
}

/// Says whether nobody listens on the address. The program of the run before may take a moment to end.
fn becomes_free<T>(address: &str, deadline: Instant, connect: &impl Dial<T>) -> bool {
    let until = deadline.min(Instant::now() + Duration::from_millis(500));
    loop {
        // An attempt that ends for lack of time says nothing about the address, so each has time of its own.
        if connect(address, deadline.min(Instant::now() + Duration::from_secs(2))).is_err() {
            return true;
        }
        if Instant::now() + PAUSE >= until {
            return false;
        }
        std::thread::sleep(PAUSE);
    }
}

/// Says whether somebody receives datagrams at the address.
fn is_udp(address: &str) -> bool {
    UdpSocket::bind(address).is_err_and(|error| error.kind() == ErrorKind::AddrInUse)
}

/// Says whether the command has the port that is chosen for it.
fn has_port(launch: &description::ServerLaunch) -> bool {
    launch.command.words.iter().any(|word| word.holes().any(|hole| hole == "port"))
}

fn is_alive(process: &Process) -> bool {
    !process.has_ended(Instant::now())
}

/// Writes a template as in a list of the IUT file.
fn write_template(template: &Template) -> String {
    let text = template.fill(|name| Some(format!("{{{name}}}"))).unwrap_or_default();
    if text.contains(['{', '[', ',', ' ', '#', ':', '"']) { format!("{text:?}") } else { text }
}

/// Fills a text whose holes are the port and the folder of a launch.
pub fn fill_template(template: &Template, launched: &Launched) -> Result<String, Failure> {
    template.fill(|name| launched.hole(name)).map_err(|name| no_value(&name))
}

/// Fills the holes of a command: what belongs to a launch, and the constants of the session.
pub fn fill_command(
    command: &Command,
    launched: &Launched,
    session: Option<&Session<'_>>,
) -> Result<Launch, Failure> {
    let signatures = session.map(Signatures::of).unwrap_or_default();
    let value = |name: &str| launched.hole(name).or_else(|| signatures.constant(name));
    let words: Result<Vec<String>, String> = command.words.iter().map(|word| word.fill(value)).collect();
    Ok(Launch {
        words: words.map_err(|name| no_value(&name))?,
        directory: command.directory.clone(),
        environment: command.environment.clone(),
        grace: command.grace,
        folder: launched.folder.clone(),
    })
}

fn no_value(name: &str) -> Failure {
    Failure::Untranslatable(format!("there is no value for `{{{name}}}`"))
}

/// A way to reach a server, before an instant.
trait Dial<T>: Fn(&str, Instant) -> Result<T, String> {}

impl<T, F: Fn(&str, Instant) -> Result<T, String>> Dial<T> for F {}

/// A way to reach a server that is started for the test.
struct Reach<C> {
    /// The words for a failure.
    failed: &'static str,
    connect: C,
    free_port: fn() -> std::io::Result<u16>,
}

/// A port that no other server of ours has, whichever program has brought it up, until it is dropped.
///
/// The kernel may give a port to another program as soon as the socket is closed by which it was found. Then
/// one server would answer in the place of another. So the port is held by a name that only one process can
/// have: that of a local socket without a file. Like the port, the name belongs to the namespace of the
/// network, and it is free when its process ends.
struct ReservedPort {
    number: u16,
    /// A socket that holds the name of the port.
    _name: UnixDatagram,
}

impl ReservedPort {
    /// Chooses a port that `find_free` finds, and that no other server of ours has.
    fn choose(find_free: impl Fn() -> std::io::Result<u16>) -> std::io::Result<ReservedPort> {
        for _ in 0..datagrams::ATTEMPTS {
            let number = find_free()?;
            let name = LocalAddr::from_abstract_name(format!("coreach-port-{number}"))?;
            match UnixDatagram::bind_addr(&name) {
                Ok(name) => return Ok(ReservedPort { number, _name: name }),
                Err(error) if error.kind() == ErrorKind::AddrInUse => {}
                Err(error) => return Err(error),
            }
        }
        Err(std::io::Error::other(format!("other servers use {} ports in turn", datagrams::ATTEMPTS)))
    }
}

fn free_tcp_port() -> std::io::Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Connects to an address, before that instant.
fn connect(address: &str, until: Instant) -> Result<TcpStream, String> {
    let mut why = "this name has no IP address".to_owned();
    for numbers in resolve_address(address, until)? {
        let time = until.saturating_duration_since(Instant::now());
        if time.is_zero() {
            return Err("there is no time left".to_owned());
        }
        match TcpStream::connect_timeout(&numbers, time) {
            Ok(stream) => {
                // A stimulus is one small piece, which must not wait for more.
                stream.set_nodelay(true).map_err(|error| error.to_string())?;
                return Ok(stream);
            }
            Err(error) => why = error.to_string(),
        }
    }
    Err(why)
}

/// The threads that wait for the numbers of a name, by name. No name is asked for twice at a time.
static WAITING: Mutex<BTreeMap<String, Vec<Sender<Resolved>>>> = Mutex::new(BTreeMap::new());

type Resolved = Result<Vec<SocketAddr>, String>;

/// Finds the numbers of an address. A question for a name over the network has no limit of time. So a thread
/// asks it, and is left alone if it takes too long. There is at most one such thread for each name.
pub fn resolve_address(address: &str, until: Instant) -> Resolved {
    if let Ok(numbers) = address.parse() {
        return Ok(vec![numbers]);
    }
    let (sender, receiver) = mpsc::channel();
    let mut waiting = lock(&WAITING);
    let is_asked = waiting.contains_key(address);
    waiting.entry(address.to_owned()).or_default().push(sender);
    drop(waiting);
    if !is_asked {
        let name = address.to_owned();
        let ask = move || {
            let found = name.to_socket_addrs().map(Iterator::collect).map_err(|error| error.to_string());
            answer_waiting(&name, &found);
        };
        if let Err(error) = std::thread::Builder::new().name("resolve".to_owned()).spawn(ask) {
            answer_waiting(address, &Err(error.to_string()));
        }
    }
    let time = until.saturating_duration_since(Instant::now());
    receiver.recv_timeout(time).unwrap_or_else(|_| Err("its name could not be resolved in time".to_owned()))
}

fn answer_waiting(name: &str, found: &Resolved) {
    for sender in lock(&WAITING).remove(name).unwrap_or_default() {
        // The receiver may have given up.
        let _ = sender.send(found.clone());
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::io::BufRead;

    use super::*;

    #[test]
    fn a_port_that_a_server_of_ours_has_is_not_given_away_again() {
        // No server is on these: none is below 1024.
        let next = Cell::new(0);
        let free = || {
            next.set(next.get() + 1);
            Ok([1, 1, 1, 2, 1][next.get() - 1])
        };
        let first = ReservedPort::choose(free).unwrap();
        let second = ReservedPort::choose(free).unwrap();
        assert_eq!((first.number, second.number), (1, 2));
        drop(first);
        assert_eq!(ReservedPort::choose(free).unwrap().number, 1);
    }

    #[test]
    fn nor_is_one_that_another_program_has() {
        // As another program of ours does it, until it is killed.
        let program = "import socket, sys\none = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n\
                       one.bind('\\0coreach-port-7')\nprint(flush=True)\nsys.stdin.read()";
        let mut other = std::process::Command::new("python3")
            .args(["-c", program])
            .stdin(std::process::Stdio::piped())
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufReader::new(other.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let next = Cell::new(6);
        let free = || {
            next.set(next.get() + 1);
            Ok(next.get())
        };
        assert_eq!(ReservedPort::choose(free).unwrap().number, 8);
        other.kill().unwrap();
        other.wait().unwrap();
        next.set(6);
        assert_eq!(ReservedPort::choose(free).unwrap().number, 7);
        assert!(ReservedPort::choose(|| Err(std::io::Error::other("none"))).is_err());
    }
    /// Soundness: an attempt that has no time left says nothing. Otherwise a run could judge another program.
    #[test]
    fn an_address_is_not_free_because_time_is_short() {
        let dial = |_: &str, until: Instant| match until.checked_duration_since(Instant::now()) {
            Some(time) if time > Duration::from_millis(50) => Ok(()),
            _ => Err("there is no time left".to_owned()),
        };
        assert!(!becomes_free("", Instant::now() + Duration::from_secs(60), &dial));
    }
}
