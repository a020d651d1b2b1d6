//! An implementation behind a TCP connection, or a UDP socket: a new one for each run, to a server of its
//! own or one that is kept.
//!
//! A server that outlives the run may not have read yet what was sent over a connection when the next one
//! resets it. So a run is left by ending our side of its connection and waiting for the server to end its own
//! ([`crate::system`]). Datagrams have no end: only quiet can be waited for, where the description says how
//! long it must last. What comes late comes to a socket that is closed ([`crate::datagrams`]).

use std::time::{Duration, Instant};

use coreach_model::semantics::Event;

use crate::adapter::{Adapter, Failure, Left, Received, Sent, Session, Teardown};
use crate::address::host;
use crate::behaviour::Behaviour;
use crate::channel::Channel;
use crate::description::{Tcp, Transport};
use crate::dialogue::{BARRIER, Dialogue};
use crate::evidence::{self, Evidence};
use crate::launched::Launched;
use crate::server::Server;
use crate::stream::Stream;
use crate::system::{self, Arrival, System, not_cleansed, not_started};

/// How bytes are carried.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Protocol {
    Tcp,
    Udp,
}

/// The adapter of a TCP connection, or of a UDP socket.
#[derive(Debug)]
pub struct TcpAdapter {
    protocol: Protocol,
    description: Tcp,
    // Before the server, which would otherwise be killed with a connection open.
    dialogue: Option<Dialogue>,
    /// Of a run that is over: the connection that the server has not ended yet.
    late: Option<Dialogue>,
    system: System,
    server: Server,
    behaviour: Behaviour,
    deadline: Instant,
    evidence: Evidence,
}

impl TcpAdapter {
    /// Over TCP. Nothing is started yet.
    pub fn new(description: Tcp, limits: evidence::Limits) -> Self {
        let system = System::new(Transport::Tcp(description.clone()).system());
        TcpAdapter::over(Protocol::Tcp, description, system, limits)
    }

    /// Over UDP. Nothing is started yet.
    pub fn of_datagrams(description: Tcp, limits: evidence::Limits) -> Self {
        let system = System::new(Transport::Udp(description.clone()).system());
        TcpAdapter::over(Protocol::Udp, description, system, limits)
    }

    fn over(protocol: Protocol, description: Tcp, system: System, limits: evidence::Limits) -> Self {
        let server = Server::new(description.launch.clone(), description.address.clone());
        TcpAdapter {
            protocol,
            description,
            dialogue: None,
            late: None,
            system,
            server,
            behaviour: Behaviour::default(),
            deadline: Instant::now(),
            evidence: Evidence::new(limits),
        }
    }

    /// What a closed connection is, and which input makes a new one.
    #[must_use]
    pub fn behaving(self, behaviour: &Behaviour) -> Self {
        let system = self.system.sharing(&behaviour.shared);
        TcpAdapter { behaviour: behaviour.clone(), system, ..self }
    }

    /// The way to the system, which is brought up if it is ours and not up yet.
    fn channel(&mut self, session: &Session<'_>) -> Result<Channel, Failure> {
        let channel = match self.protocol {
            Protocol::Tcp => Channel::of_one(self.server.connect(session)?.into()),
            Protocol::Udp => {
                Channel::of_datagrams(self.server.socket(session, self.description.replies_from)?)
            }
        };
        let channel = channel.map_err(|error| Failure::Start(error.to_string()))?;
        self.secured(channel, session.deadline).map_err(Failure::Start)
    }

    /// With TLS, where it is spoken.
    fn secured(&self, channel: Channel, until: Instant) -> Result<Channel, String> {
        let Some(tls) = &self.description.tls else { return Ok(channel) };
        let address = self.server.address().map_err(|failure| failure.text().to_owned())?;
        channel.secured(tls, &host(&address), until)
    }
}

impl Adapter for TcpAdapter {
    fn held_up(&self) -> Option<Duration> {
        self.server.process()?.held_up()
    }

    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.leave();
        self.deadline = session.deadline;
        self.evidence = self.evidence.anew();
        self.system.enter(session.deadline)?;
        let is_unclean = self.system.is_unclean();
        let Tcp { encoding, settle, .. } = &self.description;
        if is_unclean && settle.barrier.is_empty() {
            let late = &mut self.late;
            let look = |until: Instant| match late {
                Some(dialogue) => dialogue.settle(&self.description.encoding, until, settle.quiet, None),
                None => Arrival::Unknown,
            };
            let waited = self.system.wait(settle, session.deadline, look);
            if !self.system.is_unclean() {
                self.late = None;
            }
            waited?;
        }
        let is_unclean = self.system.is_unclean();
        if is_unclean {
            system::apart(&settle.barrier, &Launched::default(), session)
                .map_err(|why| not_cleansed(&why))?;
        }
        // A command may be what lets us in, or speak to the server that is brought up.
        if !self.server.is_ours() {
            system::apart(encoding.reset(), &Launched::default(), session)?;
        }
        let channel = self.channel(session)?;
        let Tcp { encoding, settle, .. } = &self.description;
        if self.server.is_ours() {
            system::apart(encoding.reset(), &self.server.launched(), session)?;
        }
        let stream = Stream::new(channel, encoding.cut());
        let process = self.server.process();
        let dialogue = Dialogue::new(stream, session, encoding, self.evidence.clone());
        let dialogue = dialogue.launched(self.server.launched()).closing(self.behaviour.on_close.clone());
        let dialogue = self.dialogue.insert(dialogue);
        if is_unclean {
            let passed = dialogue.exchange(encoding, &settle.barrier, BARRIER, session.deadline, process);
            passed.map_err(|why| not_cleansed(&why))?;
            self.late = None;
            self.system.clean();
        }
        dialogue.begin(encoding, session, session.deadline, process)
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        if self.behaviour.reconnect.as_ref() == Some(&stimulus.action) {
            return self.reconnect();
        }
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        dialogue.send(&self.description.encoding, stimulus, self.server.process())
    }

    fn sent(&self) -> Sent {
        self.dialogue.as_ref().map_or(Sent::Yes, Dialogue::sent)
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        dialogue.receive(&self.description.encoding, until, self.server.process())
    }

    fn hears(&self) -> bool {
        self.dialogue.as_ref().is_some_and(Dialogue::hears)
    }

    fn tear_down(&mut self) -> Option<Teardown> {
        let dialogue = self.dialogue.as_mut()?;
        if !self.server.outlives_runs() || !dialogue.is_owed() {
            return None;
        }
        let settle = &self.description.settle;
        let begin = Instant::now();
        let arrival = dialogue.settle(
            &self.description.encoding,
            begin + settle.within,
            settle.quiet,
            self.server.process(),
        );
        let left = match arrival {
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
            process.testify(&self.evidence);
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
    /// Leaves the connection of the run for another one.
    fn reconnect(&mut self) -> Result<(), Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        if dialogue.has_news()? {
            dialogue.not_sent(Sent::No);
            return Ok(());
        }
        let settle = &self.description.settle;
        let until = Instant::now() + settle.within;
        if dialogue.leave(&self.description.encoding, until, settle.quiet, self.server.process())?
            == Sent::Crossed
        {
            // The run is over.
            dialogue.not_sent(Sent::Crossed);
            return Ok(());
        }
        let channel = Channel::of_one(self.server.connect_again(self.deadline)?.into());
        let channel = channel.map_err(|error| Failure::Lost(error.to_string()))?;
        let channel = self.secured(channel, self.deadline).map_err(Failure::Lost)?;
        let stream = Stream::new(channel, self.description.encoding.cut());
        let Some(old) = self.dialogue.take() else { return Err(not_started()) };
        let next = old.resume(stream, &self.description.encoding, self.deadline, self.server.process())?;
        self.dialogue = Some(next);
        Ok(())
    }

    /// Leaves the run. What may not have been taken then makes the system unclean, or is its end.
    fn leave(&mut self) {
        let Some(dialogue) = self.dialogue.take() else { return };
        if !self.server.outlives_runs() || !dialogue.is_owed() {
            return;
        }
        if self.server.is_ours() {
            drop(dialogue);
            self.server.stop();
            return;
        }
        self.system.soil(match self.protocol {
            Protocol::Tcp => system::UNREAD.to_owned(),
            Protocol::Udp => system::UNDER_WAY.to_owned(),
        });
        // Of one, one can still see that it has come. Of two, both are given up.
        self.late = if self.late.is_some() { None } else { Some(dialogue) };
    }
}
