//! The result of a run: the trace, the verdict or the error, and why.
//!
//! A run can be computed again from its constants and its trace alone: a judge that is shown the same says
//! the same. So states are not kept. Times are kept next to the trace and never compared.

use std::collections::BTreeMap;
use std::time::Duration;

use coreach_adapters::Teardown;
use coreach_adapters::description::Link;
use coreach_adapters::evidence::EvidenceItem;
use coreach_model::semantics::Event;
use coreach_model::{Datum, TransitionId, Value};

pub use crate::outcome::{Cause, Outcome};
use crate::timed::timing::Timing;
use crate::values::Pick;

/// Something that happens in a run, and that a judge takes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Occurrence {
    Stimulus(Event),
    /// The implementation sent it, and the tester saw it.
    Observation(Event),
    /// Nothing was observed for so long, which is taken for quiescence.
    Silence(Duration),
    /// So much time passed, for a judge that looks at time.
    Delay(Duration),
}

impl Occurrence {
    pub fn event(&self) -> Option<&Event> {
        match self {
            Occurrence::Stimulus(event) | Occurrence::Observation(event) => Some(event),
            Occurrence::Silence(_) | Occurrence::Delay(_) => None,
        }
    }
}

impl std::fmt::Display for Occurrence {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Occurrence::Stimulus(event) | Occurrence::Observation(event) => event.fmt(f),
            Occurrence::Silence(time) => write!(f, "silence of {} ms", time.as_millis()),
            Occurrence::Delay(time) => write!(f, "a delay of {} ms", time.as_millis()),
        }
    }
}

/// One step of a run: an occurrence that the judge followed. One that ended the run is part of its cause.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunStep {
    pub what: Occurrence,
    /// The transition that took it, if the judge follows one transition at a time.
    pub transition: Option<TransitionId>,
    pub at: Duration,
}

/// One item of a script, by which a run is repeated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cue {
    Send(Event),
    /// This event was observed here; `None`: nothing came for long enough.
    Observe(Option<Event>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fidelity {
    /// Each stimulus is sent as the script has it, and only after as many observations.
    Exact,
    /// A stimulus is sent as soon as it is allowed, if need be with other values.
    Loose,
}

/// Counts the events of a trace.
pub fn events(trace: &[RunStep]) -> usize {
    trace.iter().filter(|step| step.what.event().is_some()).count()
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ShownState {
    /// Where: a location's label, or as many of them as are possible.
    pub place: String,
    pub data: Vec<(Datum, Value)>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The symbolic constants' values, in the order of the model.
    pub constants: Vec<(Datum, Value)>,
    pub seed: u64,
    pub trace: Vec<RunStep>,
    pub outcome: Outcome,
    pub end: ShownState,
    /// The sources of the stimuli's values, and how often each was used.
    pub mix: BTreeMap<Pick, usize>,
    /// The link that the judge looked at, if it did.
    pub link: Option<Link>,
    pub crossed: usize,
    /// The wait after the run.
    pub teardown: Option<Teardown>,
    /// The number of attempts before this one that ended without a verdict
    /// ([`crate::session::run_with_retries`]).
    pub retried: usize,
    /// The messages on the wire, as far as they are kept.
    pub wire: Vec<EvidenceItem>,
    pub timing: Option<Timing>,
    /// How long it took, the wait after the run included.
    pub time: Duration,
}
