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

/// Has it come?
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// Yes.
    Come,
    /// It still may.
    Late,
    /// That will never be known.
    Unknown,
}

/// What is known of a system between two runs.
#[derive(Debug)]
pub struct System {
    /// By which others know it, too; `None` where nobody else reaches it.
    name: Option<String>,
    /// While a run uses it.
    claim: Option<Claim>,
    dirt: Option<Dirt>,
}

/// What may be under way, and since when.
#[derive(Debug)]
struct Dirt {
    what: String,
    since: Instant,
    /// A run of ours has not found it so: somebody else has left it.
    is_found: bool,
}

impl System {
    /// Nobody uses it yet. `name`: where others reach it as well ([`crate::description::Transport::system`]).
    pub fn new(name: Option<String>) -> Self {
        System { name, claim: None, dirt: None }
    }

    /// The same, as the file says what runs share.
    #[must_use]
    pub fn sharing(self, shared: &Shared) -> Self {
        match shared {
            Shared::ByAddress => self,
            Shared::Safe => System { name: None, ..self },
            Shared::Named(name) => System { name: Some(name.clone()), ..self },
        }
    }

    /// A run begins: nobody else uses the system from now on, until [`System::leave`].
    ///
    /// # Errors
    /// [`Failure::Start`]: somebody does until the deadline.
    pub fn enter(&mut self, deadline: Instant) -> Result<(), Failure> {
        let Some(name) = self.name.as_ref().filter(|_| self.claim.is_none()) else { return Ok(()) };
        let Some((claim, found)) = Claim::of(name, deadline)? else { return Ok(()) };
        self.claim = Some(claim);
        // What we have left ourselves we know better.
        if found == FoundClaim::Mark && self.dirt.is_none() {
            let what = format!("a run at {name} was cut off, or has left something under way");
            self.dirt = Some(Dirt { what, since: Instant::now(), is_found: true });
        }
        Ok(())
    }

    /// A run is over.
    pub fn leave(&mut self) {
        if let Some(claim) = self.claim.take() {
            claim.leave(self.is_unclean());
        }
    }

    /// May something of an earlier run be under way to it?
    pub fn is_unclean(&self) -> bool {
        self.dirt.is_some()
    }

    /// This may be under way.
    pub fn soil(&mut self, what: String) {
        self.dirt = Some(Dirt { what, since: Instant::now(), is_found: false });
    }

    /// Nothing is.
    pub fn clean(&mut self) {
        self.dirt = None;
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
        let Some(dirt) = &self.dirt else { return Ok(()) };
        let (what, lost) = (dirt.what.clone(), dirt.since + settle.within);
        match look((Instant::now() + settle.within).min(deadline)) {
            Arrival::Come => {
                self.dirt = None;
                return Ok(());
            }
            Arrival::Late => {}
            Arrival::Unknown => {
                std::thread::sleep(lost.min(deadline).saturating_duration_since(Instant::now()));
                if Instant::now() >= lost {
                    let is_found = dirt.is_found;
                    self.dirt = None;
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

/// What is waited for on a stream.
pub const THE_END: &str = "the other side to end the connection";

/// What may be under way where that did not come.
pub const UNREAD: &str = "an earlier run has ended its connection, and the other side has not";

/// What is waited for with datagrams.
pub const QUIET: &str = "quiet";

/// What may be under way where it did not become quiet.
pub const UNDER_WAY: &str = "datagrams of an earlier run may be under way";

/// What of some steps needs no connection: commands and pauses, in their order.
///
/// # Errors
/// [`Failure::Start`].
pub fn apart(steps: &[PreparationStep], launched: &Launched, session: &Session<'_>) -> Result<(), Failure> {
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
    let launch = server::filled(command, launched, Some(session))?;
    let process = Process::silent(&launch)?;
    if !process.has_ended((Instant::now() + within).min(session.deadline)) {
        return Err(Failure::Start(process.farewell("did not end in time")));
    }
    if process.succeeded() { Ok(()) } else { Err(Failure::Start(process.farewell("failed"))) }
}

/// Lets time pass, but not beyond the run's.
///
/// # Errors
/// [`Failure::Start`]: there is not so much time.
pub fn pause(time: Duration, session: &Session<'_>) -> Result<(), Failure> {
    let until = Instant::now() + time;
    std::thread::sleep(until.min(session.deadline).saturating_duration_since(Instant::now()));
    if until > session.deadline {
        return Err(Failure::Start(format!("a pause of {} ms is longer than the run", time.as_millis())));
    }
    Ok(())
}

/// A session that was never begun, or has ended.
pub(super) fn not_started() -> Failure {
    Failure::Lost("the session has not begun".to_owned())
}

/// A run that the barrier did not let through.
pub(super) fn not_cleansed(why: &Failure) -> Failure {
    Failure::Unclean(format!(
        "something of an earlier run may be under way, and the barrier failed: {}",
        why.text()
    ))
}
