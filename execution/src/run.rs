//! What is left of a run: the trace, the verdict or what broke, and why.
//!
//! A run can be told again from its constants and its trace alone: a judge that is shown the same says the
//! same. States are therefore not kept. Times are kept beside the trace and never compared.

use std::collections::BTreeMap;
use std::time::Duration;

use coreach_adapters::Teardown;
use coreach_adapters::description::Link;
use coreach_adapters::evidence::EvidenceItem;
use coreach_model::semantics::Event;
use coreach_model::{Datum, TransitionId, Value};

pub use crate::outcome::{Cause, Outcome};
use crate::timed::timing::Timing;
use crate::values::Source;

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
    /// The event, where it is one.
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

/// One step of a run: what the judge took. What ended the run without being taken is its cause, and no step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunStep {
    pub what: Occurrence,
    /// The number of the transition that took it, where the judge goes through one at a time.
    pub transition: Option<TransitionId>,
    pub at: Duration,
}

/// One item of a script, by which a run is repeated.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Cue {
    Send(Event),
    /// This was observed here, or nothing for long enough.
    Observe(Option<Event>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Fidelity {
    /// It sends what the script says, and each only after as many observations.
    Exact,
    /// It waits for nothing that it need not wait for, and where a stimulus is not allowed with its values,
    /// the judge chooses others.
    Loose,
}

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
    /// Where the values of the stimuli came from, and how often.
    pub mix: BTreeMap<Source, usize>,
    /// The link behind which it was judged, where one was looked at.
    pub link: Option<Link>,
    pub crossed: usize,
    /// What was waited for when it was over.
    pub teardown: Option<Teardown>,
    /// So many attempts before this one ended without a verdict ([`crate::session::retrying`]).
    pub retried: usize,
    /// What went over the wire, as far as it is kept.
    pub wire: Vec<EvidenceItem>,
    pub timing: Option<Timing>,
    /// How long it took, that wait included.
    pub time: Duration,
}
