//! An implementation that is a command, talked to over its standard input and output: a new process for each run.
//!
//! As a rule, nothing outlives the process. Where the command speaks to something that does, `settle` says so, and the process is
//! left to end by itself when its input has ended ([`crate::adapter::system`]).

use std::time::Instant;

use coreach_model::semantics::Event;

use crate::adapter::channel::Channel;
use crate::adapter::description::{Stdio, Way};
use crate::adapter::dialogue::Dialogue;
use crate::adapter::evidence::{self, Evidence};
use crate::adapter::process::{Launch, Process};
use crate::adapter::server::{self, Launched};
use crate::adapter::stream::Stream;
use crate::adapter::system::{self, Arrival, Left, Settled, System, not_cleansed, not_started};
use crate::adapter::{Adapter, Failure, Received, Sent, Session};
use crate::behaviour::Behaviour;

/// The adapter of a command.
#[derive(Debug)]
pub struct StdioAdapter {
    description: Stdio,
    dialogue: Option<Dialogue>,
    process: Option<Process>,
    system: System,
    behaviour: Behaviour,
    /// What was launched, and until when the run lasts.
    launched: Option<(Launch, Instant)>,
    evidence: Evidence,
}

impl StdioAdapter {
    /// Nothing is started yet.
    pub fn new(description: Stdio, limits: evidence::Limits) -> Self {
        let system = System::new(Way::Stdio(description.clone()).system());
        StdioAdapter {
            description,
            dialogue: None,
            process: None,
            system,
            behaviour: Behaviour::default(),
            launched: None,
            evidence: Evidence::new(limits),
        }
    }

    /// What the end of the output is, and which input starts the command again.
    #[must_use]
    pub fn behaving(self, behaviour: &Behaviour) -> Self {
        StdioAdapter { behaviour: behaviour.clone(), ..self }
    }
}

impl Adapter for StdioAdapter {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.stop();
        self.evidence = self.evidence.anew();
        self.system.enter(session.deadline)?;
        let Stdio { encoding, settle, ready, .. } = &self.description;
        let settle = settle.as_ref().filter(|_| self.system.is_dirty());
        if let Some(settle) = settle {
            if settle.barrier.is_empty() {
                self.system.wait(settle, session.deadline, |_| Arrival::Unknown)?;
            }
            system::apart(&settle.barrier, &Launched::default(), session)
                .map_err(|why| not_cleansed(&why))?;
        }
        system::apart(encoding.reset(), &Launched::default(), session)?;
        let launch = server::filled(&self.description.command, &Launched::new(None)?, Some(session))?;
        let (process, pipes) = Process::talking(&launch)?;
        let process = self.process.insert(process);
        process.belongs_to(session.deadline);
        let channel = Channel::of_two(pipes.output, pipes.input);
        let stream = Stream::new(channel.map_err(|error| Failure::Start(error.to_string()))?, encoding.cut());
        self.launched = Some((launch, session.deadline));
        let ready = Instant::now() + *ready;
        let dialogue = Dialogue::new(stream, session, encoding, self.evidence.clone());
        let dialogue = self.dialogue.insert(dialogue.closing(self.behaviour.on_close.clone()));
        if let Some(settle) = settle {
            let passed = dialogue.exchange(encoding, &settle.barrier, "barrier", ready, Some(process));
            passed.map_err(|why| not_cleansed(&why))?;
        }
        self.system.clean();
        dialogue.begin(encoding, session, ready, Some(process))
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        if self.behaviour.reconnect.as_ref() == Some(&stimulus.action) {
            return self.start_again();
        }
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        dialogue.send(&self.description.encoding, stimulus, self.process.as_ref())
    }

    fn sent(&self) -> Sent {
        self.dialogue.as_ref().map_or(Sent::Yes, Dialogue::sent)
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        dialogue.receive(&self.description.encoding, until, self.process.as_ref())
    }

    fn hears(&self) -> bool {
        self.dialogue.as_ref().is_some_and(Dialogue::hears)
    }

    fn settle(&mut self) -> Option<Settled> {
        let settle = self.description.settle.as_ref()?;
        let dialogue = self.dialogue.as_mut().filter(|dialogue| dialogue.is_owed())?;
        let begin = Instant::now();
        // Its death tells that it is gone, not that it has passed everything on: only its end does.
        let left = match dialogue.settle(begin + settle.within, settle.quiet, None) {
            Arrival::Come => Left::Clean,
            Arrival::Late | Arrival::Unknown => Left::Dirty,
        };
        Some(Settled { awaited: system::THE_END.to_owned(), waited: begin.elapsed(), left })
    }

    fn evidence(&mut self, begin: Instant) -> Vec<evidence::Item> {
        if let Some(process) = &self.process {
            process.testify(&self.evidence);
        }
        self.evidence.take(begin)
    }

    fn stop(&mut self) {
        let dialogue = self.dialogue.take();
        if self.description.settle.is_some() && dialogue.as_ref().is_some_and(Dialogue::is_owed) {
            self.system.soil(system::UNREAD.to_owned());
        }
        if let Some(mut process) = self.process.take() {
            process.stop(|| drop(dialogue));
        }
        self.launched = None;
        self.system.leave();
    }
}

impl StdioAdapter {
    /// Lets the process end by itself, as one does that has read the end of its input, and starts the command once more.
    fn start_again(&mut self) -> Result<(), Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        if dialogue.has_news()? {
            dialogue.not_sent(Sent::No);
            return Ok(());
        }
        let settle = self.description.settle.clone().unwrap_or_default();
        let until = Instant::now() + settle.within;
        if dialogue.leave(until, settle.quiet, self.process.as_ref())? == Sent::Crossed {
            // The run is over.
            dialogue.not_sent(Sent::Crossed);
            return Ok(());
        }
        if let Some(mut process) = self.process.take() {
            process.stop(|| {});
            process.testify(&self.evidence);
        }
        let Some((launch, deadline)) = &self.launched else { return Err(not_started()) };
        let again = |why: Failure| Failure::Lost(format!("it does not start again: {}", why.text()));
        let (process, pipes) = Process::talking(launch).map_err(again)?;
        let process = self.process.insert(process);
        process.belongs_to(*deadline);
        let channel = Channel::of_two(pipes.output, pipes.input);
        let channel = channel.map_err(|error| Failure::Lost(error.to_string()))?;
        let stream = Stream::new(channel, self.description.encoding.cut());
        let Some(old) = self.dialogue.take() else { return Err(not_started()) };
        let ready = Instant::now() + self.description.ready;
        let next = old.resume(stream, &self.description.encoding, ready, Some(process))?;
        self.dialogue = Some(next);
        Ok(())
    }
}
