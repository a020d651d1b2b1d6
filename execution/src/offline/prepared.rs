//! A model with a path through it, prepared for judging: the part that is the same for every trace.

use coreach_analyses::solver::Solver;
use coreach_analyses::symbolic::{SymbolicState, System};
use coreach_model::Numbered;
use coreach_model::iosts::{ActionKind, Iosts, LocationId, TransitionId};
use coreach_model::limits::FEW_STATES;
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::Delayed;
use dashu_ratio::RBig;

use crate::offline::waiting::{Rules, Waiting};

pub struct Offline<'a> {
    pub timed: &'a Timed,
    pub form: &'a Delayed,
    /// The form, prepared for symbolic steps.
    pub system: System<'a>,
    pub(super) waiting: Waiting,
    /// For each location: the transitions that leave it by internal actions which take no time.
    pub(super) internal: Numbered<LocationId, Vec<TransitionId>>,
    /// For each location: the transitions that leave it at an instant which nobody sees.
    pub(super) unseen: Numbered<LocationId, Vec<TransitionId>>,
    path: Vec<TransitionId>,
    pub(super) most: usize,
    /// If there are more contexts than this, they are gathered into formulas.
    pub(super) few: usize,
    /// How far an instant may be from the recorded one, in the model's unit.
    tolerance: RBig,
}

impl<'a> Offline<'a> {
    /// Prepares a model and a path through it, for at most `most` contexts at once.
    pub fn new(
        timed: &'a Timed,
        form: &'a Delayed,
        path: Vec<TransitionId>,
        rules: Rules,
        most: usize,
    ) -> Self {
        let system = System::new(&form.iosts);
        let waiting = Waiting::new(form, &system, rules);
        let iosts = &form.iosts;
        let internal_transitions = |takes_time: bool| {
            system.outgoing.map(|outgoing| {
                let is_wanted = |number: &TransitionId| {
                    let action = iosts.action_of(*number);
                    // In the delayed form an internal action has one parameter, its delay, if it takes time.
                    let has_delay = !action.parameters.is_empty();
                    action.kind == ActionKind::Internal && has_delay == takes_time
                };
                outgoing.iter().copied().filter(is_wanted).collect()
            })
        };
        let (internal, unseen) = (internal_transitions(false), internal_transitions(true));
        let tolerance = RBig::ZERO;
        Offline { timed, form, system, waiting, internal, unseen, path, most, few: FEW_STATES, tolerance }
    }

    /// Gathers contexts into formulas if there are more than this.
    pub fn gathering_beyond(self, few: usize) -> Self {
        Offline { few, ..self }
    }

    /// Lets instants be so far from the recorded ones.
    pub fn within(self, tolerance: RBig) -> Self {
        Offline { tolerance, ..self }
    }

    /// Returns how far an instant may be from the recorded one.
    pub fn tolerance(&self) -> &RBig {
        &self.tolerance
    }

    /// Are the recorded instants exact?
    pub fn is_exact(&self) -> bool {
        self.tolerance == RBig::ZERO
    }

    pub(super) fn path(&self) -> &[TransitionId] {
        &self.path
    }

    /// Returns the model's graph: it has the signatures of the events in a trace.
    pub fn graph(&self) -> &'a Iosts {
        self.timed.graph()
    }

    /// Is it the next transition of the path after the first `steps`?
    pub(super) fn is_next(&self, steps: usize, number: TransitionId) -> bool {
        self.path.get(steps) == Some(&number)
    }

    /// May a state wait until so much time has passed since the last event? Errs towards yes.
    pub fn may_wait(&self, state: &SymbolicState, until: &RBig, solver: &mut dyn Solver) -> bool {
        self.waiting.may_wait(state, until, solver)
    }

    pub fn length(&self) -> usize {
        self.path.len()
    }
}
