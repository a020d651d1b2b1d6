//! The trait of every way to an implementation, and the types of its methods.
//!
//! An adapter translates and never judges. It hands over an output that it cannot translate as it is
//! ([`Received::Alien`]). A breakdown is a [`Failure`], which ends the run with a `RunError` and never with a
//! verdict. Nothing may block beyond the instant that each call is given.

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
    /// An output that the specification does not have: an unknown action, a wrong number of values, a value
    /// outside its type. The text says which. A test case answers it with Fail.
    Alien(String),
    /// Nothing came until the instant that was given.
    Silence,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sent {
    Yes,
    /// It was not sent, and never will be: something came before it, such as a disconnect, and is received
    /// first.
    No,
    /// It was sent. But the implementation may have done something before it took the stimulus, which can
    /// never be seen. So nothing can be said of the rest of the run.
    Crossed,
}

/// What broke between the tester and the implementation. It is no verdict.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// The implementation could not be brought up, or into its initial state.
    Start(String),
    /// It is gone: the process ended, the connection was closed or refused.
    Lost(String),
    /// The bytes that it sent cannot be read at all.
    Garbage(String),
    /// It did not take what was sent before the run's deadline.
    Stuck(String),
    /// It sends more than coreach keeps.
    Flood(String),
    /// A stimulus cannot be written: a setting is missing, or its transport cannot carry a value.
    Untranslatable(String),
    /// Messages of an earlier run may still be on their way, and would falsify the verdict of this one.
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

    /// Adds a remedy, if the failure is garbage.
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

/// The wait at the end of a run, and how it has left the system ([`Adapter::tear_down`]).
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Teardown {
    /// What was waited for, in words.
    pub awaited: String,
    #[serde(rename = "ms", with = "milliseconds_of")]
    pub waited: Duration,
    pub left: Left,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Left {
    /// Nothing is under way to the system.
    Clean,
    /// Something may be under way.
    Unclean,
    /// Something may have been under way. But the system is gone, and a new one is started for the next run.
    Ended,
}

impl Left {
    pub const ALL: [Left; 3] = [Left::Clean, Left::Unclean, Left::Ended];
}

/// The way to an implementation. One value serves many runs, one after the other: `start ... stop`,
/// `start ... stop`.
pub trait Adapter {
    /// Returns the time of a simulated implementation with a clock of its own, for which nobody has to wait.
    /// Then all instants that are given are of this clock.
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

    /// Says whether a stimulus would be sent now, and not be kept back until something is received. If not,
    /// the tester waits, since a trace must not say that a stimulus was sent while it is kept back.
    fn takes_stimuli(&self) -> bool {
        true
    }

    /// Sends a stimulus. Returns at the latest at the run's deadline.
    fn send(&mut self, stimulus: &Event) -> Result<(), Failure>;

    /// Says what became of the last stimulus that was given to [`Adapter::send`].
    fn sent(&self) -> Sent {
        Sent::Yes
    }

    /// Returns the next output, in the order in which they were sent. Waits until `until` at the latest. If
    /// that has passed, only returns an output that is there already.
    ///
    /// # Errors
    /// [`Failure`]. Outputs that were sent before the failure are returned before it.
    fn receive(&mut self, until: Instant) -> Result<Received, Failure>;

    /// Says whether the implementation is a model in this process, which no time delays.
    fn is_simulated(&self) -> bool {
        false
    }

    /// Returns the next output, or silence until the next stimulus, if the system's state decides that and no
    /// clock. `None` if only a wait can tell.
    fn receive_from_state(&mut self) -> Option<Received> {
        None
    }

    /// Says whether outputs are received in the order in which they were sent. Over several connections: no.
    fn is_ordered(&self) -> bool {
        true
    }

    /// Says whether an output would be received if the implementation sent one now. Over HTTP it would not
    /// while no request is under way. Then silence is no failure of the system.
    fn hears(&self) -> bool {
        true
    }

    /// Returns when the system was last seen to have ended in this run, or to have closed a connection. Waits
    /// for that until `until`. It is called when the run is over, before `tear_down`, since the end of the
    /// system may explain its last output.
    fn ended(&self, until: Instant) -> Option<Instant> {
        let _ = until;
        None
    }

    /// Waits until nothing of the run is under way to a system that outlives it ([`crate::system`]). It is
    /// called when a run is over, before `stop`. The description limits the wait, not the run's deadline.
    /// `None` if there was nothing to wait for. What is still under way is kept from the next.
    fn tear_down(&mut self) -> Option<Teardown> {
        None
    }

    /// Takes what went over the wire since `start`, with times since `begin`. It is called once, after
    /// `tear_down` and before `stop`.
    fn evidence(&mut self, begin: Instant) -> Vec<evidence::EvidenceItem> {
        let _ = begin;
        Vec::new()
    }

    /// Ends the session. Nothing is left of what `start` has started.
    fn stop(&mut self);
}
