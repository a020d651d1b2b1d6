//! An implementation that is a command, talked to over its standard input and output: a new process for each
//! run, or one that is kept.
//!
//! As a rule, nothing outlives the process. If the command speaks to a system that does, `settle` says so,
//! and the process is left to end by itself when its input has ended ([`crate::system`]).
//!
//! **A process that is kept** has one stream for all runs, which no run can end. Both directions keep their
//! order. So messages of an earlier run come *before* the answer to a later question. With JSON messages the
//! question is `start` and the answer is `ready`. Else it is the `barrier`, whose answer nothing else must
//! give. Or the end of a run waits until nothing has come for long enough. If there is neither, or neither
//! has come, and after every run error, the process is ended, and the next run has a new one.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use coreach_model::semantics::Event;

use crate::adapter::{Adapter, Failure, Left, Received, Sent, Session, Teardown};
use crate::behaviour::Behaviour;
use crate::channel::Channel;
use crate::description::{Command, Encoding, PreparationStep, READY_MS, Stdio, Transport};
use crate::dialogue::{BARRIER, Dialogue};
use crate::evidence::{self, Evidence};
use crate::launched::Launched;
use crate::process::{Launch, Process};
use crate::server;
use crate::stream::Stream;
use crate::system::{self, Arrival, IutState, not_cleansed, not_started};
use crate::template::Template;
use crate::waited_time::WaitedTime;

pub struct StdioAdapter {
    description: Stdio,
    // Dropped before the process, which would otherwise be killed while its input is open.
    dialogue: Option<Dialogue>,
    /// The stream of a run that is over, if the process is kept.
    idle: Option<Dialogue>,
    process: Option<Process>,
    system: IutState,
    behaviour: Behaviour,
    /// What was launched, and until when the run lasts.
    launched: Option<(Launch, Instant)>,
    evidence: Evidence,
    /// There was a failure, so nobody knows what is under way.
    is_broken: bool,
    /// The text on a kept process that has ended by itself, if no run has reported this end.
    unreported_end: Option<String>,
}

impl StdioAdapter {
    /// Makes an adapter. Nothing is started yet.
    pub fn new(description: Stdio, limits: evidence::LogLimits) -> Self {
        let system = IutState::new(Transport::Stdio(description.clone()).shared_system());
        StdioAdapter {
            description,
            dialogue: None,
            process: None,
            system,
            behaviour: Behaviour::default(),
            launched: None,
            evidence: Evidence::new(limits),
            idle: None,
            is_broken: false,
            unreported_end: None,
        }
    }

    /// Makes an adapter of a program that speaks JSON messages, with a new process for each run.
    pub fn of_command<W: AsRef<str>>(words: impl IntoIterator<Item = W>) -> Self {
        let command = Command {
            words: words.into_iter().map(|word| Template::fixed(word.as_ref())).collect(),
            directory: PathBuf::from("."),
            environment: Vec::new(),
            grace: Duration::ZERO,
        };
        let ready = Duration::from_millis(READY_MS);
        let stdio = Stdio { command, ready, encoding: Encoding::Json, settle: None, keep: false };
        StdioAdapter::new(stdio, evidence::LogLimits::default())
    }

    /// Takes the command from a variable of the environment, as a shell reads it.
    pub fn of_environment(variable: &str) -> Result<Self, Failure> {
        match std::env::var(variable) {
            Ok(command) if !command.trim().is_empty() => {
                Ok(StdioAdapter::of_command(["sh", "-c", &format!("exec {command}")]))
            }
            _ => Err(Failure::Start(format!("{variable} names no command, so there is no implementation"))),
        }
    }

    /// Sets what the end of the output is, and which input starts the command again.
    pub fn behaving(self, behaviour: &Behaviour) -> Self {
        let system = self.system.sharing(&behaviour.shared);
        StdioAdapter { behaviour: behaviour.clone(), system, ..self }
    }
}

impl Adapter for StdioAdapter {
    fn waited_time(&self) -> Option<WaitedTime> {
        self.process.as_ref()?.waited_time()
    }

    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.stop();
        self.evidence = self.evidence.anew();
        let begun = self.begin(session);
        self.note_failure(begun)
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        let sent = if self.behaviour.reconnect.as_ref() == Some(&stimulus.action) {
            self.start_again()
        } else {
            let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
            dialogue.send(&self.description.encoding, stimulus, self.process.as_ref())
        };
        self.note_failure(sent)
    }

    fn sent(&self) -> Sent {
        self.dialogue.as_ref().map_or(Sent::Yes, Dialogue::sent)
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        let received = dialogue.receive(&self.description.encoding, until, self.process.as_ref());
        self.note_failure(received)
    }

    fn hears(&self) -> bool {
        self.dialogue.as_ref().is_some_and(Dialogue::hears)
    }

    fn ended(&self, until: Instant) -> Option<Instant> {
        self.dialogue.as_ref()?.ended(until, self.process.as_ref())
    }

    fn tear_down(&mut self) -> Option<Teardown> {
        let encoding = &self.description.encoding;
        self.dialogue.iter().for_each(|dialogue| {
            dialogue.mark_unread();
            dialogue.mark_misdirected(encoding, self.process.as_ref());
        });
        let settle = self.description.settle.as_ref()?;
        let dialogue = self.dialogue.as_mut().filter(|dialogue| dialogue.may_have_unread())?;
        let begin = Instant::now();
        let until = begin + settle.within;
        if self.description.keep {
            // If there is no `quiet` to wait for, the next run begins after a barrier.
            let arrival = dialogue.calm(encoding, until, settle.quiet?, self.process.as_ref());
            let left = match arrival {
                Arrival::Come => Left::Clean,
                Arrival::Late if self.can_separate() && !self.is_broken => Left::Unclean,
                Arrival::Late | Arrival::Unknown => Left::Ended,
            };
            return Some(Teardown { awaited: system::QUIET.to_owned(), waited: begin.elapsed(), left });
        }
        // Only the end of its output shows that the process has passed everything on. Its death does not.
        let left = match dialogue.settle(encoding, until, settle.quiet, None) {
            Arrival::Come => Left::Clean,
            Arrival::Late | Arrival::Unknown => Left::Unclean,
        };
        Some(Teardown { awaited: system::THE_END.to_owned(), waited: begin.elapsed(), left })
    }

    fn evidence(&mut self, begin: Instant) -> Vec<evidence::EvidenceItem> {
        if let Some(process) = &self.process {
            process.write_last_words(&self.evidence);
        }
        self.evidence.take(begin)
    }

    fn stop(&mut self) {
        // A kept process keeps its claim on the system.
        if self.keep_for_next_run() {
            return;
        }
        let dialogue = self.dialogue.take();
        // With `keep`, `settle` only separates the runs on the stream of the process, which ends here.
        let has_system_behind = !self.description.keep && self.description.settle.is_some();
        if has_system_behind && dialogue.as_ref().is_some_and(Dialogue::may_have_unread) {
            self.system.mark_unclean(system::UNREAD.to_owned(), system::BE_QUIET);
        }
        // If a kept process has ended by itself, the next run reports it.
        self.unreported_end = self.unreported_end.take().or_else(|| self.find_unreported_end());
        if let Some(mut process) = self.process.take() {
            // Only with a grace period the process sees the end of its input before it is ended.
            process.stop(|| drop(dialogue));
        }
        (self.launched, self.is_broken) = (None, false);
        self.system.leave();
    }
}

impl StdioAdapter {
    /// Brings the process up, or a kept one back into its initial state.
    fn begin(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.system.enter(session.deadline)?;
        if let Some(text) = self.unreported_end.take().or_else(|| self.find_unreported_end()) {
            self.idle = None;
            return Err(Failure::Start(text));
        }
        let dialogue = match self.continue_kept(session) {
            Some(dialogue) => dialogue,
            None => self.launch_process(session)?,
        };
        let dialogue = self.dialogue.insert(dialogue.with_closing_output(self.behaviour.on_close.clone()));
        let Stdio { encoding, ready, settle, keep, .. } = &self.description;
        let (process, ready) = (self.process.as_ref(), Instant::now() + *ready);
        if let Some(settle) = settle.as_ref().filter(|_| self.system.is_unclean()) {
            let passed = dialogue.exchange(encoding, &settle.barrier, BARRIER, ready, process);
            passed.map_err(|why| not_cleansed(&why))?;
        }
        self.system.mark_clean();
        // A process for one run was launched after these steps (`launch_process`).
        if *keep {
            let folder = self.launched.as_ref().and_then(|(launch, _)| launch.folder.clone());
            system::run_steps_apart(encoding.reset(), &Launched { port: None, folder }, session)?;
        }
        dialogue.begin(encoding, session, ready, process)
    }

    /// Returns the stream of a kept process, after all that an earlier run has left on it. `None` if that
    /// cannot be known, or if the process has ended.
    fn continue_kept(&mut self, session: &Session<'_>) -> Option<Dialogue> {
        let Stdio { encoding, ready, settle, .. } = &self.description;
        let idle = self.idle.take()?;
        let process = self.process.as_mut().filter(|process| !process.has_ended(Instant::now()))?;
        process.set_deadline(session.deadline);
        let (launch, deadline) = self.launched.as_mut()?;
        *deadline = session.deadline;
        let launched = Launched { port: None, folder: launch.folder.clone() };
        let barrier: &[PreparationStep] = match settle {
            Some(settle) if idle.may_have_unread() => &settle.barrier,
            _ => &[],
        };
        let within = settle.as_ref().map_or(*ready, |settle| settle.within);
        let mut dialogue = idle.anew(session, encoding, self.evidence.clone()).launched(launched.clone());
        system::run_steps_apart(barrier, &launched, session).ok()?;
        // With JSON messages, the first message of a run is the barrier.
        if !matches!(encoding, Encoding::Json) {
            dialogue.pass(encoding, barrier, Instant::now() + within, Some(process)).ok()?;
        }
        dialogue.goes_on().then_some(dialogue)
    }

    /// Starts a new process, after the barrier and the steps of `reset`. A kept one gets neither `reset` nor
    /// constants: these belong to one run.
    fn launch_process(&mut self, session: &Session<'_>) -> Result<Dialogue, Failure> {
        self.process = None;
        self.launched = None;
        let Stdio { command, encoding, settle, keep, .. } = &self.description;
        let launched = Launched::new(None)?;
        if let Some(settle) = settle.as_ref().filter(|_| self.system.is_unclean()) {
            if settle.barrier.is_empty() {
                self.system.wait(settle, session.deadline, |_| Arrival::Unknown)?;
            }
            system::run_steps_apart(&settle.barrier, &launched, session).map_err(|why| not_cleansed(&why))?;
        }
        if !keep {
            system::run_steps_apart(encoding.reset(), &launched, session)?;
        }
        // A process that is kept for many runs must not depend on the constants of one.
        let launch = server::fill_command(command, &launched, (!keep).then_some(session))?;
        let (process, pipes) = Process::start_talking(&launch)?;
        self.process.insert(process).set_deadline(session.deadline);
        let channel = Channel::of_two(pipes.output, pipes.input);
        let channel = channel.map_err(|error| Failure::Start(error.to_string()))?;
        self.launched = Some((launch, session.deadline));
        let stream = Stream::new(channel, encoding.cut());
        Ok(Dialogue::new(stream, session, encoding, self.evidence.clone()).launched(launched))
    }

    /// Keeps the process and its stream, if the next run can use them. Returns whether they are kept.
    fn keep_for_next_run(&mut self) -> bool {
        if !self.description.keep {
            return false;
        }
        // No run has used the process since the last stop.
        if self.dialogue.is_none() && self.idle.is_some() {
            return true;
        }
        // The process must live, and no message of this run may reach the next one.
        let is_up = self.process.as_ref().is_some_and(|process| !process.has_ended(Instant::now()));
        let can_serve_next_run = self.dialogue.as_ref().is_some_and(|dialogue| {
            dialogue.goes_on() && (!dialogue.may_have_unread() || self.can_separate())
        });
        let is_kept = is_up && !self.is_broken && can_serve_next_run;
        if is_kept {
            self.idle = self.dialogue.take();
        }
        is_kept
    }

    /// Describes the end of a process that should have lived on for the next run. `None` if it lives, if its
    /// end is allowed, or if a run has reported this end.
    fn find_unreported_end(&self) -> Option<String> {
        let may_end = !self.description.keep || self.is_broken || self.behaviour.on_close.is_some();
        self.process.as_ref().filter(|_| !may_end)?.describe_unreported_end()
    }

    /// Notes a failure, after which nobody knows what is under way.
    fn note_failure<T>(&mut self, result: Result<T, Failure>) -> Result<T, Failure> {
        self.is_broken |= result.is_err();
        result
    }

    /// Says whether messages of a run can be told from those of the next one.
    fn can_separate(&self) -> bool {
        matches!(self.description.encoding, Encoding::Json)
            || self.description.settle.as_ref().is_some_and(|settle| !settle.barrier.is_empty())
    }

    /// Lets the process end by itself when it has read the end of its input, and starts the command again.
    fn start_again(&mut self) -> Result<(), Failure> {
        let dialogue = self.dialogue.as_mut().ok_or_else(not_started)?;
        let settle = self.description.settle.clone().unwrap_or_default();
        if !dialogue.leave(&self.description.encoding, &settle, self.process.as_ref())? {
            return Ok(());
        }
        if let Some(mut process) = self.process.take() {
            process.stop(|| {});
            process.write_last_words(&self.evidence);
        }
        let Some((launch, deadline)) = &self.launched else { return Err(not_started()) };
        let again = |why: Failure| Failure::Lost(format!("it does not start again: {}", why.text()));
        let (process, pipes) = Process::start_talking(launch).map_err(again)?;
        let process = self.process.insert(process);
        process.set_deadline(*deadline);
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
