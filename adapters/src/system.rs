//! A system that is there before a run and after it, and what a run may leave on its way to it.
//!
//! **Problem.** A run ends when it has its verdict, or at a limit. Something that it sent may not have
//! arrived by then: a request without its answer, lines that nobody has read. The next run resets the system
//! over another connection, which may be faster. If the late message arrives after the reset, its effect is
//! taken for a fault of the system, and a correct system fails.
//!
//! **Method.** A run is *torn down* before it is left: it waits for what is under way, as long as
//! [`Settle::within`] says ([`crate::adapter::Adapter::tear_down`]). The way decides what shows that nothing
//! is under way any more. Each request must have its answer. On a stream, the other side must end it after we
//! have ended it: then it has read all that was sent. A judge cannot know this: it may expect no output
//! although a stimulus has not arrived. If the wait is in vain, the system is *unclean*. A system of ours is
//! launched anew. Another system is cleansed by the barrier that its description names. If there is none, the
//! next run waits once more, and is a [`Failure::Unclean`] if that is in vain, too.
//!
//! Sometimes nothing can be seen, since the connection is broken, or the program that had it was killed. Then
//! the message counts as come or lost after that time. If it was of a run of ours, one run has failed as
//! unclean by then. That is the one guess here.
//!
//! A system that others reach, too, is claimed for the time of a run ([`crate::claim`]).
//!
//! **Ends**: every wait has a limit. **Costs** the way to the system and back for each run.

use std::time::{Duration, Instant};

use crate::adapter::{Failure, Session};
use crate::claim::{Claim, FoundClaim};
use crate::description::{Command, PreparationStep, Settle};
use crate::launched::Launched;
use crate::process::Process;
use crate::server;
use crate::shared::SharedRuns;

/// Whether something that was under way has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    Come,
    /// It may still come.
    Late,
    /// Nothing will ever show it.
    Unknown,
}

/// What coreach knows of a system between two runs.
pub struct IutState {
    /// The name by which others know it; `None` if nobody else reaches it.
    name: Option<String>,
    claim: Option<Claim>,
    under_way: Option<UnderWay>,
}

/// Something that may be under way to the system, and since when.
struct UnderWay {
    what: String,
    help: &'static str,
    since: Instant,
    /// Another program has left it, and not a run of ours.
    is_found: bool,
}

impl IutState {
    /// Makes a system that nobody uses yet. `name`: for others who reach it
    /// ([`crate::description::Transport::shared_system`]).
    pub fn new(name: Option<String>) -> Self {
        IutState { name, claim: None, under_way: None }
    }

    /// Sets the name, as the file says what runs share.
    pub fn sharing(self, shared: &SharedRuns) -> Self {
        match shared {
            SharedRuns::ByAddress => self,
            SharedRuns::Safe => IutState { name: None, ..self },
            SharedRuns::Named(name) => IutState { name: Some(name.clone()), ..self },
        }
    }

    /// Begins a run: nobody else uses the system until [`IutState::leave`].
    ///
    /// # Errors
    /// [`Failure::Start`]: another run uses it until the deadline.
    pub fn enter(&mut self, deadline: Instant) -> Result<(), Failure> {
        let Some(name) = self.name.as_ref().filter(|_| self.claim.is_none()) else { return Ok(()) };
        let Some((claim, found)) = Claim::make(name, deadline)? else { return Ok(()) };
        self.claim = Some(claim);
        // If we have left something ourselves, we know more of it.
        if found == FoundClaim::Mark && self.under_way.is_none() {
            let what = format!("an earlier run at {name} was cut off, or left messages on their way");
            self.under_way =
                Some(UnderWay { what, help: NAME_BARRIER, since: Instant::now(), is_found: true });
        }
        Ok(())
    }

    /// Gives the claim on the system back, if it has one. The next one learns whether it is unclean.
    pub fn leave(&mut self) {
        if let Some(claim) = self.claim.take() {
            claim.leave(self.is_unclean());
        }
    }

    /// Says whether something of an earlier run can be under way to it.
    pub fn is_unclean(&self) -> bool {
        self.under_way.is_some()
    }

    /// Notes what may be under way, and what helps if it does not come.
    pub fn mark_unclean(&mut self, what: String, help: &'static str) {
        self.under_way = Some(UnderWay { what, help, since: Instant::now(), is_found: false });
    }

    /// Notes that nothing is under way any more.
    pub fn mark_clean(&mut self) {
        self.under_way = None;
    }

    /// Waits for what is under way, if no barrier is named. `wait_until` waits for it until an instant.
    ///
    /// # Errors
    /// [`Failure::Unclean`]: it has not come; the run must not begin.
    pub fn wait(
        &mut self,
        settle: &Settle,
        deadline: Instant,
        wait_until: impl FnOnce(Instant) -> Arrival,
    ) -> Result<(), Failure> {
        let Some(under_way) = &self.under_way else { return Ok(()) };
        let (what, lost_at) = (under_way.what.clone(), under_way.since + settle.within);
        // If it is not quiet for so long, it is of no use to wait for that.
        let help = if settle.quiet.is_some() { NAME_BARRIER } else { under_way.help };
        match wait_until((Instant::now() + settle.within).min(deadline)) {
            Arrival::Come => {
                self.under_way = None;
                return Ok(());
            }
            Arrival::Late => {}
            Arrival::Unknown => {
                std::thread::sleep(lost_at.min(deadline).saturating_duration_since(Instant::now()));
                if Instant::now() >= lost_at {
                    let is_found = under_way.is_found;
                    self.under_way = None;
                    // If another program left it, no run of ours has to fail for it.
                    if is_found {
                        return Ok(());
                    }
                }
            }
        }
        let time = settle.within.as_millis();
        Err(Failure::Unclean(format!(
            "{what}. coreach has waited {time} ms, but messages of that run may still come\nhelp: {help}"
        )))
    }
}

/// The awaited event on a stream, for messages.
pub const THE_END: &str = "the other side to end the connection";

/// What may be under way if that did not come.
pub const UNREAD: &str = "the system has not closed its side of the connection of an earlier run";

/// What helps then, and with datagrams.
pub const BE_QUIET: &str = "let the system close its side when coreach does, or let silence count as the end of a run: `settle: { quiet_ms: 500 }`";

/// What helps if silence cannot show that nothing is under way.
pub const NAME_BARRIER: &str =
    "separate runs by a `barrier`, for example a pause: `settle: { barrier: [{ pause_ms: 3000 }] }`";

/// The awaited event with datagrams, for messages.
pub const QUIET: &str = "quiet";

/// What may be under way if it did not become quiet.
pub const UNDER_WAY: &str = "datagrams of an earlier run may still be on their way";

/// Does the steps that need no connection, in their order: commands and pauses.
pub fn run_steps_apart(
    steps: &[PreparationStep],
    launched: &Launched,
    session: &Session<'_>,
) -> Result<(), Failure> {
    for step in steps {
        match step {
            PreparationStep::Command(command, within) => run_command(command, *within, launched, session)?,
            PreparationStep::Pause(time) => pause_run(*time, session)?,
            PreparationStep::Exchange(_) | PreparationStep::Request(_) => {}
        }
    }
    Ok(())
}

/// Runs a command of a description to its end.
///
/// # Errors
/// [`Failure::Start`]: it cannot be started, does not end in time, or fails.
pub fn run_command(
    command: &Command,
    within: Duration,
    launched: &Launched,
    session: &Session<'_>,
) -> Result<(), Failure> {
    let launch = server::fill_command(command, launched, Some(session))?;
    let process = Process::start_silent(&launch)?;
    if !process.has_ended((Instant::now() + within).min(session.deadline)) {
        return Err(Failure::Start(process.farewell("did not end in time")));
    }
    if process.succeeded() { Ok(()) } else { Err(Failure::Start(process.farewell("failed"))) }
}

/// Lets time pass, but not beyond the run's.
pub fn pause_run(time: Duration, session: &Session<'_>) -> Result<(), Failure> {
    let until = Instant::now() + time;
    std::thread::sleep(until.min(session.deadline).saturating_duration_since(Instant::now()));
    if until > session.deadline {
        return Err(Failure::Start(format!("a pause of {} ms is beyond the time limit", time.as_millis())));
    }
    Ok(())
}

pub(super) fn not_started() -> Failure {
    Failure::Lost("the session has not begun".to_owned())
}

pub(super) fn not_cleansed(why: &Failure) -> Failure {
    Failure::Unclean(format!(
        "messages of an earlier run may still come, because the barrier failed: {}",
        why.text()
    ))
}
