//! What is left of a run: the trace, the verdict or what broke, and why.
//!
//! A run can be told again from its constants and its trace alone, since a test case is deterministic; states are
//! therefore not kept. Times are kept beside the trace and never compared.

use std::collections::BTreeMap;
use std::time::Duration;

use coreach_model::semantics::{Event, State};
use coreach_model::{Datum, Value, Verdict};

use crate::adapter::Failure;
use crate::values::Source;

/// Who made an event happen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Direction {
    /// The tester sent it.
    Stimulus,
    /// The implementation sent it, and the tester saw it.
    Observation,
}

/// One event of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// Who sent it.
    pub direction: Direction,
    /// What was sent.
    pub event: Event,
    /// The number of the test case's transition that took it.
    pub transition: usize,
    /// Since the beginning of the run.
    pub at: Duration,
}

/// How a run ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// With a verdict.
    Verdict(Verdict, Cause),
    /// Without: something between tester and implementation broke.
    RunError(Failure),
}

impl Outcome {
    /// Nothing wrong was seen, and the run is over for this cause.
    pub fn inconclusive(cause: Cause) -> Self {
        Outcome::Verdict(Verdict::Inconclusive, cause)
    }

    /// What was sent is no event of the specification.
    pub fn alien(text: String) -> Self {
        Outcome::Verdict(Verdict::Fail, Cause::Alien(text))
    }

    /// The verdict's name, or `RunError`.
    pub fn name(&self) -> &'static str {
        match self {
            Outcome::Verdict(verdict, _) => verdict.name(),
            Outcome::RunError(_) => "RunError",
        }
    }

    /// The verdict, where there is one.
    pub fn verdict(&self) -> Option<Verdict> {
        match self {
            Outcome::Verdict(verdict, _) => Some(*verdict),
            Outcome::RunError(_) => None,
        }
    }
}

/// Why a verdict was given.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cause {
    /// The last event of the trace led to the verdict's location.
    Event,
    /// Fail: the implementation sent what is no event of the specification.
    Alien(String),
    /// Inconclusive: nothing was observed for so long, and there was nothing to send.
    Silence(Duration),
    /// Inconclusive: no stimulus has values that satisfy its guard here, and nothing may be observed.
    NothingToDo,
    /// Inconclusive: the run has had as many events as it may.
    Steps(usize),
    /// Inconclusive: the run has taken as long as it may.
    Time(Duration),
    /// Inconclusive: a number would have had more digits than are computed.
    Digits(usize),
    /// Inconclusive: the person at the keyboard ended the run.
    Ended,
}

/// A run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The symbolic constants' values, in the order of the test case.
    pub constants: Vec<(Datum, Value)>,
    /// The seed of all choices.
    pub seed: u64,
    /// The events.
    pub trace: Vec<Step>,
    /// How it ended.
    pub outcome: Outcome,
    /// The state at the end.
    pub end: State,
    /// Where the values of the stimuli came from, and how often.
    pub mix: BTreeMap<Source, usize>,
    /// How long it took.
    pub time: Duration,
}
