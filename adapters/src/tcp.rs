//! An implementation behind a TCP connection, or a UDP socket: a new one for each run, to a server of its
//! own or one that is kept.
//!
//! When the next run resets a server that outlives the run, the server may not have read yet what was sent
//! before. So a run ends our side of its connection, and waits for the server to end its own
//! ([`crate::system`]). Datagrams have no end. The run can only wait for quiet, if the description says how
//! long it must last. A late datagram comes to a socket that is closed ([`crate::datagrams`]).
//!
//! A run may have several connections. The messages of each connection keep their order. In which order the
//! server has sent over two of them, nobody knows. So a judge is told which action goes over which
//! ([`crate::description::Link`]).

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use coreach_model::excerpt::shortened;
use coreach_model::semantics::Event;

use crate::adapter::{Adapter, Failure, Left, Received, Sent, Session, Teardown};
use crate::address::host_of_address;
use crate::behaviour::Behaviour;
use crate::channel::Channel;
use crate::description::{Encoding, Link, NamedConnection, Tcp, Transport};
use crate::dialogue::{BARRIER, Dialogue};
use crate::evidence::{self, Evidence};
use crate::launched::Launched;
use crate::lines;
use crate::process::Process;
use crate::server::Server;
use crate::stream::{Stream, wait_for_any};
use crate::system::{self, Arrival, IutState, not_cleansed, not_started};
use crate::waited_time::WaitedTime;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Protocol {
    Tcp,
    Udp,
}

pub struct TcpAdapter {
    protocol: Protocol,
    description: Tcp,
    // Dropped before the server, which would otherwise be killed with a connection open.
    dialogues: Vec<Dialogue>,
    /// The connections of a run that is over, which the server has not ended yet.
    late: Vec<Dialogue>,
    /// Which action goes over which connection.
    link: Link,
    /// The connection over which the last stimulus was sent.
    last_sent: usize,
    /// The connection at which the next reading begins.
    next_read: usize,
    /// The failures of connections, by number, while something may still be received over others.
    failed: BTreeMap<usize, Failure>,
    system: IutState,
    server: Server,
    behaviour: Behaviour,
    deadline: Instant,
    evidence: Evidence,
}

impl TcpAdapter {
    /// Makes an adapter over TCP. Nothing is started yet.
    pub fn new(description: Tcp, limits: evidence::LogLimits) -> Self {
        let system = IutState::new(Transport::Tcp(description.clone()).shared_system());
        TcpAdapter::over(Protocol::Tcp, description, system, limits)
    }

    /// Makes an adapter over UDP. Nothing is started yet.
    pub fn of_datagrams(description: Tcp, limits: evidence::LogLimits) -> Self {
        let system = IutState::new(Transport::Udp(description.clone()).shared_system());
        TcpAdapter::over(Protocol::Udp, description, system, limits)
    }

    fn over(protocol: Protocol, description: Tcp, system: IutState, limits: evidence::LogLimits) -> Self {
        let server = Server::new(description.launch.clone(), description.address.clone());
        TcpAdapter {
            protocol,
            link: description.link(),
            description,
            dialogues: Vec::new(),
            late: Vec::new(),
            last_sent: 0,
            next_read: 0,
            failed: BTreeMap::new(),
            system,
            server,
            behaviour: Behaviour::default(),
            deadline: Instant::now(),
            evidence: Evidence::new(limits),
        }
    }

    /// Sets what a closed connection is, and which input makes a new one.
    pub fn behaving(self, behaviour: &Behaviour) -> Self {
        let system = self.system.sharing(&behaviour.shared);
        let mut server = self.server;
        server.may_end = behaviour.on_close.is_some();
        TcpAdapter { behaviour: behaviour.clone(), system, server, ..self }
    }

    /// Makes a channel to the system, which is started if it is ours and not started yet.
    fn channel(&mut self, session: &Session<'_>) -> Result<Channel, Failure> {
        let channel = match self.protocol {
            Protocol::Tcp => Channel::of_one(self.server.connect(session)?.into()),
            Protocol::Udp => {
                Channel::of_datagrams(self.server.socket(session, self.description.replies_from)?)
            }
        };
        let channel = channel.map_err(|error| Failure::Start(error.to_string()))?;
        self.with_tls(channel, session.deadline).map_err(Failure::Start)
    }

    fn with_tls(&self, channel: Channel, until: Instant) -> Result<Channel, String> {
        let Some(tls) = &self.description.tls else { return Ok(channel) };
        let address = self.server.address().map_err(|failure| failure.text().to_owned())?;
        channel.secured(tls, &host_of_address(&address), until)
    }
}

impl Adapter for TcpAdapter {
    fn waited_time(&self) -> Option<WaitedTime> {
        self.server.process()?.waited_time()
    }

    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.leave();
        self.deadline = session.deadline;
        self.evidence = self.evidence.anew();
        (self.last_sent, self.next_read, self.failed) = (0, 0, BTreeMap::new());
        self.system.enter(session.deadline)?;
        let Tcp { encoding, settle, .. } = &self.description;
        if self.system.is_unclean() && settle.barrier.is_empty() {
            let late = &mut self.late;
            let wait_until = |until: Instant| settle_all(late, &self.description, until, None);
            let waited = self.system.wait(settle, session.deadline, wait_until);
            if !self.system.is_unclean() {
                self.late.clear();
            }
            waited?;
        }
        // If the system is still unclean, a barrier is named.
        let is_unclean = self.system.is_unclean();
        if is_unclean {
            system::run_steps_apart(&settle.barrier, &Launched::default(), session)
                .map_err(|why| not_cleansed(&why))?;
        }
        // A command may be needed before a server lets us in, or may speak to a server that coreach starts.
        if !self.server.is_ours() {
            system::run_steps_apart(encoding.reset(), &Launched::default(), session)?;
        }
        self.open_dialogues(session)?;
        let Tcp { encoding, settle, launch, .. } = &self.description;
        let process = self.server.process();
        if is_unclean {
            for dialogue in &mut self.dialogues {
                let passed = dialogue.exchange(encoding, &settle.barrier, BARRIER, session.deadline, process);
                passed.map_err(|why| not_cleansed(&why))?;
            }
            self.late.clear();
            self.system.mark_clean();
        }
        // A system of ours that does not answer `reset` in the time to start will not do so later.
        let ready = launch.as_ref().map_or(session.deadline, |launch| Instant::now() + launch.ready);
        self.dialogues.iter_mut().try_for_each(|dialogue| dialogue.begin(encoding, session, ready, process))
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        if self.behaviour.reconnect.as_ref() == Some(&stimulus.action) {
            return self.reconnect(self.link.number(&stimulus.action));
        }
        self.last_sent = self.link.number(&stimulus.action);
        let dialogue = self.dialogues.get_mut(self.last_sent).ok_or_else(not_started)?;
        dialogue.send(&self.description.encoding, stimulus, self.server.process())
    }

    fn sent(&self) -> Sent {
        self.dialogues.get(self.last_sent).map_or(Sent::Yes, Dialogue::sent)
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        match self.dialogues.as_mut_slice() {
            [] => Err(not_started()),
            [only] => only.receive(&self.description.encoding, until, self.server.process()),
            _ => self.receive_over_any(until),
        }
    }

    fn is_ordered(&self) -> bool {
        self.description.connections.is_empty()
    }

    fn hears(&self) -> bool {
        !self.dialogues.is_empty() && self.dialogues.iter().all(Dialogue::hears)
    }

    fn ended(&self, until: Instant) -> Option<Instant> {
        let process = self.server.process();
        self.dialogues.iter().filter_map(|dialogue| dialogue.ended(until, process)).max()
    }

    fn tear_down(&mut self) -> Option<Teardown> {
        self.dialogues.iter().for_each(Dialogue::mark_unread);
        if !self.server.outlives_runs() || !self.dialogues.iter().any(Dialogue::may_have_unread) {
            return None;
        }
        let begin = Instant::now();
        let until = begin + self.description.settle.within;
        let left = match settle_all(&mut self.dialogues, &self.description, until, self.server.process()) {
            Arrival::Come => Left::Clean,
            Arrival::Late | Arrival::Unknown if self.server.is_ours() => Left::Ended,
            Arrival::Late | Arrival::Unknown => Left::Unclean,
        };
        let awaited = match self.protocol {
            Protocol::Tcp => system::THE_END,
            Protocol::Udp => system::QUIET,
        };
        Some(Teardown { awaited: awaited.to_owned(), waited: begin.elapsed(), left })
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

impl TcpAdapter {
    /// Opens the connections of a run. A server of ours is started by the first one.
    fn open_dialogues(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        for number in 0..self.description.connections.len().max(1) {
            let channel = self.channel(session)?;
            let encoding = &self.description.encoding;
            if self.server.is_ours() && number == 0 {
                system::run_steps_apart(encoding.reset(), &self.server.launched(), session)?;
            }
            let stream = Stream::new(channel, encoding.cut());
            let evidence = match self.description.connections.get(number) {
                Some(connection) => self.evidence.over(&connection.name),
                None => self.evidence.clone(),
            };
            let dialogue = Dialogue::new(stream, session, encoding, evidence);
            // The end of another connection is no output.
            let on_close = self.behaviour.on_close.clone();
            let on_close = on_close.filter(|action| self.link.number(action) == number);
            self.dialogues.push(dialogue.launched(self.server.launched()).with_closing_output(on_close));
        }
        Ok(())
    }

    /// Returns the next output over any of the connections, each in its turn.
    fn receive_over_any(&mut self, until: Instant) -> Result<Received, Failure> {
        loop {
            let (now, process) = (Instant::now(), self.server.process());
            let is_gone = process.is_some_and(|process| process.has_ended(now));
            for turn in 0..self.dialogues.len() {
                let number = (self.next_read + turn) % self.dialogues.len();
                // After an unreadable message, the bytes after it would be taken for the next message.
                if self.failed.contains_key(&number) {
                    continue;
                }
                let NamedConnection { name, encoding, .. } = &self.description.connections[number];
                // Only a wait sees that the process is gone.
                let wait_until = if is_gone { now + Duration::from_millis(1) } else { now };
                match self.dialogues[number].receive(encoding, wait_until, process) {
                    Ok(Received::Silence) => {}
                    Ok(received) => {
                        self.next_read = number + 1;
                        return Ok(match received {
                            Received::Output(event) if self.link.number(&event.action) != number => {
                                Received::Alien(format!("{event} over the connection `{name}`"))
                            }
                            Received::Alien(text) => {
                                Received::Alien(self.explain_connection(number).unwrap_or(text))
                            }
                            other => other,
                        });
                    }
                    Err(failure) => drop(self.failed.insert(number, failure)),
                }
            }
            if let Some((_, failure)) = self.failed.pop_first() {
                return Err(failure);
            }
            // The clock is that from before the turn: an output may have come meanwhile.
            if now >= until {
                return Ok(Received::Silence);
            }
            let gone = process.filter(|_| !is_gone).map(Process::end);
            wait_for_any(self.dialogues.iter().filter_map(Dialogue::stream), gone, until);
        }
    }

    /// Describes the last line of a connection if it is an output of another connection. `None` if it is not.
    fn explain_connection(&self, number: usize) -> Option<String> {
        let connections = &self.description.connections;
        let (own, taken) = (&connections[number].name, self.dialogues[number].taken());
        let line = std::str::from_utf8(&taken).ok()?;
        let find_output = |connection: &NamedConnection| match &connection.encoding {
            Encoding::Lines(lines) => lines::find_output(lines, line).map(str::to_owned),
            Encoding::Json | Encoding::Binary(_) => None,
        };
        if find_output(&connections[number]).is_some() {
            return None;
        }
        let (other, action) =
            connections.iter().find_map(|other| Some((&other.name, find_output(other)?)))?;
        Some(format!(
            "the line `{}` over the connection `{own}`, but `{action}` belongs to `{other}`\nhelp: let the system send it \
             over `{other}`. If the system is right, move `{action}` to `{own}` under `connections`",
            shortened(line)
        ))
    }

    /// Leaves a connection of the run for another one.
    fn reconnect(&mut self, number: usize) -> Result<(), Failure> {
        self.last_sent = number;
        let dialogue = self.dialogues.get_mut(number).ok_or_else(not_started)?;
        let Tcp { encoding, settle, .. } = &self.description;
        if !dialogue.leave(encoding, settle, self.server.process())? {
            return Ok(());
        }
        let channel = Channel::of_one(self.server.connect_again(self.deadline)?.into());
        let channel = channel.map_err(|error| Failure::Lost(error.to_string()))?;
        let channel = self.with_tls(channel, self.deadline).map_err(Failure::Lost)?;
        let stream = Stream::new(channel, self.description.encoding.cut());
        let old = self.dialogues.remove(number);
        let next = old.resume(stream, &self.description.encoding, self.deadline, self.server.process())?;
        self.dialogues.insert(number, next);
        Ok(())
    }

    /// Leaves the run. If something may be untaken, a server of ours is ended, and another one is unclean.
    fn leave(&mut self) {
        let mut dialogues = std::mem::take(&mut self.dialogues);
        dialogues.retain(|dialogue| self.server.outlives_runs() && dialogue.may_have_unread());
        if dialogues.is_empty() {
            return;
        }
        if self.server.is_ours() {
            drop(dialogues);
            self.server.stop();
            return;
        }
        let (what, help) = match self.protocol {
            Protocol::Tcp => (system::UNREAD, system::BE_QUIET),
            Protocol::Udp => (system::UNDER_WAY, system::NAME_BARRIER),
        };
        self.system.mark_unclean(what.to_owned(), help);
        // The connections of one run can be waited for later. If there are two such runs, neither is.
        self.late = if self.late.is_empty() { dialogues } else { Vec::new() };
    }
}

/// Waits until the other side has ended all of these that may be untaken. `Unknown` if there are none.
fn settle_all(dialogues: &mut [Dialogue], tcp: &Tcp, until: Instant, process: Option<&Process>) -> Arrival {
    let owed = dialogues.iter_mut().filter(|dialogue| dialogue.may_have_unread());
    let arrivals: Vec<Arrival> =
        owed.map(|dialogue| dialogue.settle(&tcp.encoding, until, tcp.settle.quiet, process)).collect();
    match arrivals.iter().find(|arrival| **arrival != Arrival::Come) {
        Some(arrival) => *arrival,
        None if arrivals.is_empty() => Arrival::Unknown,
        None => Arrival::Come,
    }
}
