//! An implementation that is a command, talked to over its standard input and output: a new process for each run.

use std::time::Instant;

use coreach_model::semantics::Event;

use crate::adapter::description::Stdio;
use crate::adapter::dialogue::Dialogue;
use crate::adapter::process::Process;
use crate::adapter::server;
use crate::adapter::stream::Stream;
use crate::adapter::{Adapter, Failure, Received, Session};

/// The adapter of a command.
#[derive(Debug)]
pub struct StdioAdapter {
    description: Stdio,
    dialogue: Option<Dialogue>,
    process: Option<Process>,
}

impl StdioAdapter {
    /// Nothing is started yet.
    pub fn new(description: Stdio) -> Self {
        StdioAdapter { description, dialogue: None, process: None }
    }
}

impl Adapter for StdioAdapter {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.stop();
        let launch = server::filled(&self.description.command, None, Some(session))?;
        let (process, pipes) = Process::talking(&launch)?;
        let process = self.process.insert(process);
        process.belongs_to(session.deadline);
        let stream = Stream::of_two(pipes.output, pipes.input);
        let stream = stream.map_err(|error| Failure::Start(error.to_string()))?;
        let ready = Instant::now() + self.description.ready;
        let dialogue = Dialogue::begin(stream, &self.description.encoding, session, ready, Some(process))?;
        self.dialogue = Some(dialogue);
        Ok(())
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        dialogue.send(&self.description.encoding, stimulus, self.process.as_ref())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        dialogue.receive(&self.description.encoding, until, self.process.as_ref())
    }

    fn stop(&mut self) {
        let dialogue = self.dialogue.take();
        if let Some(mut process) = self.process.take() {
            process.stop(|| drop(dialogue));
        }
    }
}

/// A session that was never begun, or has ended.
pub(super) fn not_started() -> Failure {
    Failure::Lost("the session has not begun".to_owned())
}
