//! A system that is there before a run and after it, and what a run may leave on its way to it.
//!
//! **Problem.** A run ends when it has its verdict, or at a limit, and something that it sent may not have
//! arrived: a request without its answer, lines that nobody has read. The next run resets the system over
//! another connection, which nothing keeps from being faster. What comes after the reset is then taken for
//! the doing of the system, and a correct one fails.
//!
//! **Method.** A run is *torn down* before it is left: what is under way is waited for, as long as
//! [`Settle::within`] says ([`crate::adapter::Adapter::tear_down`]). What shows that nothing is under way any
//! more depends on the way: an answer for each request; on a stream, that the other side ends it after we
//! have ended it, for who reads the end has read all before it. A judge does not know it: it may be owed
//! nothing although a stimulus has not arrived. Where none of this is seen, the system is *unclean*. One of
//! ours is launched anew. One that is not ours is cleansed by the barrier that its description names; where
//! there is none, what is late is waited for once more, and the next run is a [`Failure::Unclean`]: it begins
//! no sooner than it is known how.
//!
//! What cannot be seen at all, since the connection is broken or the program that had it was killed, counts
//! as come or lost when it has had that time; where it was a run of ours, the next one has said so. That is
//! the one guess here.
//!
//! A system that others reach, too, is claimed for the time of a run ([`crate::claim`]).
//!
//! **Ends**: every wait has a limit. **Costs** the way to the system and back for each run, where nothing is
//! late.

use std::time::{Duration, Instant};

use crate::adapter::{Failure, Session};
use crate::claim::{Claim, FoundClaim};
use crate::description::{Command, PreparationStep, Settle};
use crate::launched::Launched;
use crate::process::Process;
use crate::server;
use crate::shared::Shared;

/// Whether something that was under way has come.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    Come,
    /// It may still come.
    Late,
    /// Nobody will ever know.
    Unknown,
}

/// What coreach knows of a system between two runs.
#[derive(Debug)]
pub struct System {
    /// The name by which others know it; `None` if nobody else reaches it.
    name: Option<String>,
    /// Held while a run uses it.
    claim: Option<Claim>,
    under_way: Option<UnderWay>,
}

/// Something that may be under way to the system, and since when.
#[derive(Debug)]
struct UnderWay {
    what: String,
    since: Instant,
    /// Did another program leave it, and not a run of ours?
    is_found: bool,
}

impl System {
    /// Makes a system that nobody uses yet. `name`: for others who reach it
    /// ([`crate::description::Transport::system`]).
    pub fn new(name: Option<String>) -> Self {
        System { name, claim: None, under_way: None }
    }

    /// Sets the name, as the file says what runs share.
    #[must_use]
    pub fn sharing(self, shared: &Shared) -> Self {
        match shared {
            Shared::ByAddress => self,
            Shared::Safe => System { name: None, ..self },
            Shared::Named(name) => System { name: Some(name.clone()), ..self },
        }
    }

    /// Begins a run: nobody else uses the system until [`System::leave`].
    ///
    /// # Errors
    /// [`Failure::Start`]: somebody does until the deadline.
    pub fn enter(&mut self, deadline: Instant) -> Result<(), Failure> {
        let Some(name) = self.name.as_ref().filter(|_| self.claim.is_none()) else { return Ok(()) };
        let Some((claim, found)) = Claim::make(name, deadline)? else { return Ok(()) };
        self.claim = Some(claim);
        // What we have left ourselves we know better.
        if found == FoundClaim::Mark && self.under_way.is_none() {
            let what = format!("a run at {name} was cut off, or has left something under way");
            self.under_way = Some(UnderWay { what, since: Instant::now(), is_found: true });
        }
        Ok(())
    }

    pub fn leave(&mut self) {
        if let Some(claim) = self.claim.take() {
            claim.leave(self.is_unclean());
        }
    }

    /// Can something of an earlier run be under way to it?
    pub fn is_unclean(&self) -> bool {
        self.under_way.is_some()
    }

    /// Notes that this may be under way.
    pub fn mark_unclean(&mut self, what: String) {
        self.under_way = Some(UnderWay { what, since: Instant::now(), is_found: false });
    }

    pub fn mark_clean(&mut self) {
        self.under_way = None;
    }

    /// Waits for what is under way, where no barrier is named. `look` waits for it until an instant.
    ///
    /// # Errors
    /// [`Failure::Unclean`]: it has not come; the run must not begin.
    pub fn wait(
        &mut self,
        settle: &Settle,
        deadline: Instant,
        look: impl FnOnce(Instant) -> Arrival,
    ) -> Result<(), Failure> {
        let Some(under_way) = &self.under_way else { return Ok(()) };
        let (what, lost) = (under_way.what.clone(), under_way.since + settle.within);
        match look((Instant::now() + settle.within).min(deadline)) {
            Arrival::Come => {
                self.under_way = None;
                return Ok(());
            }
            Arrival::Late => {}
            Arrival::Unknown => {
                std::thread::sleep(lost.min(deadline).saturating_duration_since(Instant::now()));
                if Instant::now() >= lost {
                    let is_found = under_way.is_found;
                    self.under_way = None;
                    // There is no run of ours that has to say so.
                    if is_found {
                        return Ok(());
                    }
                }
            }
        }
        Err(Failure::Unclean(format!(
            "{what}, and may still come; a `barrier` in `settle` would tell when it cannot any more"
        )))
    }
}

/// The awaited event on a stream, for messages.
pub const THE_END: &str = "the other side to end the connection";

/// What may be under way if that did not come.
pub const UNREAD: &str = "an earlier run has ended its connection, and the other side has not";

/// The awaited event with datagrams, for messages.
pub const QUIET: &str = "quiet";

/// What may be under way if it did not become quiet.
pub const UNDER_WAY: &str = "datagrams of an earlier run may be under way";

/// Does those steps that need no connection, in their order: commands and pauses.
pub fn run_steps_apart(
    steps: &[PreparationStep],
    launched: &Launched,
    session: &Session<'_>,
) -> Result<(), Failure> {
    for step in steps {
        match step {
            PreparationStep::Command(one, within) => command(one, *within, launched, session)?,
            PreparationStep::Pause(time) => pause(*time, session)?,
            PreparationStep::Exchange(_) | PreparationStep::Request(_) => {}
        }
    }
    Ok(())
}

/// Runs a command of a description to its end.
///
/// # Errors
/// [`Failure::Start`]: it cannot be started, does not end in time, or fails.
pub fn command(
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
pub fn pause(time: Duration, session: &Session<'_>) -> Result<(), Failure> {
    let until = Instant::now() + time;
    std::thread::sleep(until.min(session.deadline).saturating_duration_since(Instant::now()));
    if until > session.deadline {
        return Err(Failure::Start(format!("a pause of {} ms is longer than the run", time.as_millis())));
    }
    Ok(())
}

/// Makes the failure of a session that has not begun or has ended.
pub(super) fn not_started() -> Failure {
    Failure::Lost("the session has not begun".to_owned())
}

/// Makes the failure of a run whose barrier failed.
pub(super) fn not_cleansed(why: &Failure) -> Failure {
    Failure::Unclean(format!(
        "something of an earlier run may be under way, and the barrier failed: {}",
        why.text()
    ))
}
