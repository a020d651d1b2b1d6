//! An implementation behind a TCP connection: a new connection for each run, to a server of its own or one that is kept.

use std::time::Instant;

use coreach_model::semantics::Event;

use crate::adapter::description::Tcp;
use crate::adapter::dialogue::Dialogue;
use crate::adapter::server::Server;
use crate::adapter::stdio::not_started;
use crate::adapter::stream::Stream;
use crate::adapter::{Adapter, Failure, Received, Session};

/// The adapter of a TCP connection.
#[derive(Debug)]
pub struct TcpAdapter {
    description: Tcp,
    // Before the server, which would otherwise be killed with a connection open.
    dialogue: Option<Dialogue>,
    server: Server,
}

impl TcpAdapter {
    /// Nothing is started yet.
    pub fn new(description: Tcp) -> Self {
        let server = Server::new(description.launch.clone(), description.address.clone());
        TcpAdapter { description, dialogue: None, server }
    }
}

impl Adapter for TcpAdapter {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.dialogue = None;
        let stream = self.server.connect(session)?;
        let stream = Stream::of_one(stream.into()).map_err(|error| Failure::Start(error.to_string()))?;
        let encoding = &self.description.encoding;
        let process = self.server.process();
        self.dialogue = Some(Dialogue::begin(stream, encoding, session, session.deadline, process)?);
        Ok(())
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        dialogue.send(&self.description.encoding, stimulus, self.server.process())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        dialogue.receive(&self.description.encoding, until, self.server.process())
    }

    fn stop(&mut self) {
        self.dialogue = None;
        self.server.end_run();
    }
}
