//! An implementation behind a TCP connection: a new connection for each run, to a server of its own or one that is kept.
//!
//! A server that outlives the run may not have read yet what was sent over a connection when the next one resets it. So a run is
//! left by ending our side of its connection and waiting for the server to end its own ([`crate::adapter::system`]).

use std::time::Instant;

use coreach_model::semantics::Event;

use crate::adapter::description::{Encoding, Step, Tcp, Way};
use crate::adapter::dialogue::Dialogue;
use crate::adapter::server::Server;
use crate::adapter::stream::Stream;
use crate::adapter::system::{self, Arrival, Left, Settled, System, not_cleansed, not_started};
use crate::adapter::{Adapter, Failure, Received, Session};

/// The adapter of a TCP connection.
#[derive(Debug)]
pub struct TcpAdapter {
    description: Tcp,
    // Before the server, which would otherwise be killed with a connection open.
    dialogue: Option<Dialogue>,
    /// Of a run that is over: the connection that the server has not ended yet.
    late: Option<Dialogue>,
    system: System,
    server: Server,
}

impl TcpAdapter {
    /// Nothing is started yet.
    pub fn new(description: Tcp) -> Self {
        let system = System::new(Way::Tcp(description.clone()).system());
        let server = Server::new(description.launch.clone(), description.address.clone());
        TcpAdapter { description, dialogue: None, late: None, system, server }
    }
}

impl Adapter for TcpAdapter {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.leave();
        self.system.enter(session.deadline)?;
        let is_dirty = self.system.is_dirty();
        let Tcp { encoding, settle, .. } = &self.description;
        if is_dirty && settle.barrier.is_empty() {
            let late = &mut self.late;
            let look = |until: Instant| match late {
                Some(dialogue) => dialogue.settle(until, settle.quiet, None),
                None => Arrival::Unknown,
            };
            let waited = self.system.wait(settle, session.deadline, look);
            if !self.system.is_dirty() {
                self.late = None;
            }
            waited?;
        }
        let is_dirty = self.system.is_dirty();
        if is_dirty {
            system::apart(&settle.barrier, None, session).map_err(|why| not_cleansed(&why))?;
        }
        let reset: &[Step] = match encoding {
            Encoding::Lines(lines) => &lines.reset,
            Encoding::Json => &[],
        };
        // A command may be what lets us in, or speak to the server that is brought up.
        if !self.server.is_ours() {
            system::apart(reset, None, session)?;
        }
        let stream = self.server.connect(session)?;
        if self.server.is_ours() {
            system::apart(reset, self.server.port(), session)?;
        }
        let stream = Stream::of_one(stream.into()).map_err(|error| Failure::Start(error.to_string()))?;
        let process = self.server.process();
        let dialogue = self.dialogue.insert(Dialogue::new(stream, session));
        if is_dirty {
            if let Encoding::Lines(lines) = encoding {
                let passed = dialogue.exchange(lines, &settle.barrier, "barrier", session.deadline, process);
                passed.map_err(|why| not_cleansed(&why))?;
            }
            self.late = None;
            self.system.clean();
        }
        dialogue.begin(encoding, session, session.deadline, process)
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        dialogue.send(&self.description.encoding, stimulus, self.server.process())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        dialogue.receive(&self.description.encoding, until, self.server.process())
    }

    fn settle(&mut self) -> Option<Settled> {
        let dialogue = self.dialogue.as_mut()?;
        if !self.server.outlives_runs() || !dialogue.is_owed() {
            return None;
        }
        let settle = &self.description.settle;
        let begin = Instant::now();
        let arrival = dialogue.settle(begin + settle.within, settle.quiet, self.server.process());
        let left = match arrival {
            Arrival::Come => Left::Clean,
            Arrival::Late | Arrival::Unknown if self.server.is_ours() => Left::Ended,
            Arrival::Late | Arrival::Unknown => Left::Dirty,
        };
        Some(Settled { awaited: system::THE_END.to_owned(), waited: begin.elapsed(), left })
    }

    fn stop(&mut self) {
        self.leave();
        self.server.end_run();
        self.system.leave();
    }
}

impl TcpAdapter {
    /// Leaves the run. What may not have been taken then makes the system dirty, or is its end.
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
        self.system.soil(system::UNREAD.to_owned());
        // Of one, one can still see that it has come. Of two, both are given up.
        self.late = if self.late.is_some() { None } else { Some(dialogue) };
    }
}
