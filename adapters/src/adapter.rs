//! The trait of every way to an implementation, and the types that it speaks of.
//!
//! An adapter translates and never judges: what it cannot translate it hands over as it is
//! ([`Received::Alien`]), and what breaks is a [`Failure`], which ends the run with a `RunError` and never
//! with a verdict. Nothing may block beyond the instant that each call is given.

use std::fmt;
use std::time::{Duration, Instant};

use coreach_model::iosts::{Action, Iosts};
use coreach_model::semantics::Event;
use coreach_model::{Datum, Value};
use serde::{Deserialize, Serialize};

use crate::evidence;
use crate::times::milliseconds_of;
use crate::waited_time::WaitedTime;

/// What a run tells an adapter at its beginning.
#[derive(Clone, Copy, Debug)]
pub struct Session<'a> {
    /// The test case's graph: the signatures of all actions.
    pub iosts: &'a Iosts,
    /// The symbolic constants' values in this run.
    pub constants: &'a [(Datum, Value)],
    /// The seed of this run, for an adapter that makes choices of its own.
    pub seed: u64,
    /// When the run must be over.
    pub deadline: Instant,
}

impl<'a> Session<'a> {
    pub fn action(&self, name: &str) -> Option<&'a Action> {
        self.iosts.find_action(name).map(|id| self.iosts.action(id))
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Received {
    /// An output of the implementation, values in the types of the action's parameters.
    Output(Event),
    /// Something that was sent as an output and is none of the specification's: an unknown action, a wrong
    /// number of values, a value outside its type. The text says which. A test case answers it with Fail.
    Alien(String),
    /// Nothing until the instant that was given.
    Silence,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    Yes,
    /// It was not, and never will be: there is something to be received that came before it, such as a
    /// disconnect.
    No,
    /// It was sent, and something that the implementation had done before it took it can never be seen:
    /// nothing can be said any more.
    Crossed,
}

/// What broke between the tester and the implementation. It is nobody's verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The implementation could not be brought up, or into its initial state.
    Start(String),
    /// It is gone: the process ended, the connection was closed or refused.
    Lost(String),
    /// What it sent cannot be read at all.
    Garbage(String),
    /// It does not take what is sent, until the run's deadline.
    Stuck(String),
    /// It sends more than coreach keeps.
    Flood(String),
    /// The adapter was not told how to translate this: a setting is missing.
    Untranslatable(String),
    /// What an earlier run has sent may still be on its way: this run would be judged by it.
    Unclean(String),
}

impl Failure {
    /// A stable word for records and reports.
    pub fn name(&self) -> &'static str {
        match self {
            Failure::Start(_) => "start",
            Failure::Lost(_) => "lost",
            Failure::Garbage(_) => "garbage",
            Failure::Stuck(_) => "stuck",
            Failure::Flood(_) => "flood",
            Failure::Untranslatable(_) => "untranslatable",
            Failure::Unclean(_) => "unclean",
        }
    }

    /// The same, and what helps, as garbage.
    #[must_use]
    pub fn with_help(self, help: &str) -> Self {
        match self {
            Failure::Garbage(text) => Failure::Garbage(format!("{text}\nhelp: {help}")),
            other => other,
        }
    }

    pub fn text(&self) -> &str {
        match self {
            Failure::Start(text)
            | Failure::Lost(text)
            | Failure::Garbage(text)
            | Failure::Stuck(text)
            | Failure::Flood(text)
            | Failure::Untranslatable(text)
            | Failure::Unclean(text) => text,
        }
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name(), self.text())
    }
}

impl std::error::Error for Failure {}

#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Teardown {
    pub awaited: String,
    #[serde(rename = "ms", with = "milliseconds_of")]
    pub waited: Duration,
    pub left: Left,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Left {
    Clean,
    /// Something may be under way.
    Unclean,
    /// Something may have been, but the system is gone, and is brought up anew for the next run.
    Ended,
}

impl Left {
    pub const ALL: [Left; 3] = [Left::Clean, Left::Unclean, Left::Ended];
}

/// The way to an implementation. One value serves many runs, one after the other: `start ... stop`,
/// `start ... stop`.
pub trait Adapter {
    /// What the clock of the implementation shows, where it has one of its own that nobody needs to wait for:
    /// a simulated one. All instants that are given are of this clock then.
    fn now(&self) -> Option<Instant> {
        None
    }

    /// Returns how long the processes that were launched have waited for a processor until now. `None` if
    /// nothing was launched, or if that is not known.
    fn waited_time(&self) -> Option<WaitedTime> {
        None
    }

    /// Brings the implementation into its initial state, with these constants.
    ///
    /// # Errors
    /// [`Failure`]; `stop` is called all the same.
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure>;

    /// Would a stimulus be sent now, and not kept back until something has been received? Where it would not,
    /// the tester waits: what is kept back has not been sent, whatever a trace says.
    fn takes_stimuli(&self) -> bool {
        true
    }

    /// Sends a stimulus. Returns at the latest at the run's deadline.
    fn send(&mut self, stimulus: &Event) -> Result<(), Failure>;

    /// What became of the last stimulus that was given to [`Adapter::send`].
    fn sent(&self) -> Sent {
        Sent::Yes
    }

    /// The next output, in the order in which they were sent. Waits until `until` at the latest; an instant
    /// that has passed asks for what is there already.
    ///
    /// # Errors
    /// [`Failure`]. What was sent before the failure is returned before it.
    fn receive(&mut self, until: Instant) -> Result<Received, Failure>;

    /// What comes next from a system for which no time passes while one waits, or its silence, which lasts
    /// until the next stimulus then: its state decides, and no clock. `None` where only a wait can tell.
    fn receive_from_state(&mut self) -> Option<Received> {
        None
    }

    /// Is what it receives in the order in which it was sent? Over several connections nobody knows that.
    fn is_ordered(&self) -> bool {
        true
    }

    /// Would it be received if the implementation sent something now? Where it cannot reach us, as over HTTP
    /// while no request is under way, nobody can be blamed for silence.
    fn hears(&self) -> bool {
        true
    }

    /// When the system was last seen to have ended in this run, or to have closed a connection; waits for
    /// that until then. Asked for when the run is over, before `tear_down`: what it said last may come of its
    /// end.
    fn ended(&self, until: Instant) -> Option<Instant> {
        let _ = until;
        None
    }

    /// Called when a run is over, however it ended, before `stop`: waits for what the run has left under way
    /// to a system that outlives it ([`crate::system`]), as long as the description says and not only until
    /// the run's deadline. `None` where nothing had to be waited for. What has not come is remembered, and
    /// kept from the next run.
    fn tear_down(&mut self) -> Option<Teardown> {
        None
    }

    /// What went over the wire since `start`, with times since `begin`; asked for once, after `tear_down` and
    /// before `stop`.
    fn evidence(&mut self, begin: Instant) -> Vec<evidence::EvidenceItem> {
        let _ = begin;
        Vec::new()
    }

    /// Ends the session. Afterwards nothing of the implementation that `start` brought up is left.
    fn stop(&mut self);
}
