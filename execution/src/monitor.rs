//! The specification as a judge: it follows the states that are possible after the trace.
//!
//! **Problem.** A test case sees only what its purpose looks at. Two questions need a judge that follows the
//! specification itself: is nothing wrong with an implementation, and which transitions has a run taken?
//!
//! **Method.** The states that are possible after a trace, by definition (`M after σ`, Definition 4.16, p.
//! 89): all successors of all of them, and all states that internal steps lead to. An output that no state
//! allows is a violation of ioc (Definition 6.2): Fail, and the states stay as they were. An input that no
//! state takes is Inconclusive, for the cause `unspecified`. The monitor never says Pass, since it has no
//! purpose. If the specification is suspended, silence is followed as quiescence, and is a Fail if no state
//! is quiescent.
//!
//! Many states are kept as formulas ([`gather_states`]): symbolic states that stand for the same states, and
//! one example state of each. An output is a violation if it is *proved* that no formula takes it. If the
//! solver does not know, or if both the states and the formulas are too many, the monitor gives up, for the
//! cause `states`.
//!
//! **Ends**: a step is finite, since a specification has no livelock. **Costs** the number of states, or of
//! formulas, times the location's transitions; a formula asks a question for each guard that depends on
//! unseen data.

use std::collections::BTreeSet;

use coreach_analyses::solver::{Solver, Witness};
use coreach_analyses::symbolic::gathered::gather_states;
use coreach_analyses::symbolic::inclusion::data_of;
use coreach_analyses::symbolic::{SymbolicState, System};
use coreach_model::iosts::{Action, ActionId, ActionKind, Iosts, Transition};
use coreach_model::limits::{FEW_STATES, MOST_STATES};
use coreach_model::semantics::{Event, State, fire, internal_closure};
use coreach_model::term::evaluate::{evaluate, holds};
use coreach_model::{Datum, LocationId, Numbered, Term, TransitionId, Value, Verdict};

use crate::judge::contract::{Choice, Follower, Judge, Judged, Move, Offer, Offers, Reasons};
use crate::judge::expected::describe_expectation;
use crate::judge::guards::{conjunct_texts, failing_sets, may_be};
use crate::lazy::Lazy;
use crate::run::{Cause, Occurrence, ShownState};
use crate::values::are_typed;
use crate::values::boundaries::boundaries;

const MOST_FORMULAS: usize = 64;

/// All possible states; or formulas, and one example state of each.
type StatesAfter = (BTreeSet<State>, Vec<SymbolicState>);

const UNSPECIFIED: Judged = Judged::Ends(Verdict::Inconclusive, Cause::Unspecified);

#[derive(Clone, Debug)]
pub struct Monitor<'a> {
    specification: &'a Iosts,
    initial: BTreeSet<State>,
    /// All possible states. If there are formulas: one example of each.
    states: BTreeSet<State>,
    /// If there are many states: formulas that stand for all of them. Empty otherwise.
    formulas: Vec<SymbolicState>,
    /// If there are more states than this, they are gathered into formulas.
    few: usize,
    /// How often each transition may have been taken.
    taken: Numbered<TransitionId, usize>,
    /// Has an output come that may not happen?
    violated: bool,
}

impl<'a> Monitor<'a> {
    pub fn new(specification: &'a Iosts, initial: BTreeSet<State>) -> Self {
        let initial = internal_closure(specification, initial);
        let taken = specification.transitions.map(|_| 0);
        let states = initial.clone();
        let few = FEW_STATES;
        Monitor { specification, states, initial, formulas: Vec::new(), few, taken, violated: false }
    }

    /// Gathers states into formulas if there are more than this.
    #[must_use]
    pub fn gathering_beyond(self, few: usize) -> Self {
        Monitor { few, ..self }
    }

    /// Returns the states that are possible now: all of them, or one example of each formula.
    pub fn states(&self) -> &BTreeSet<State> {
        &self.states
    }

    /// For each transition: how often the trace may have gone through it. A possible internal step counts.
    pub fn taken(&self) -> &Numbered<TransitionId, usize> {
        &self.taken
    }

    /// Are [`Monitor::states`] all states that are possible?
    pub fn are_all(&self) -> bool {
        self.formulas.is_empty()
    }

    /// May one of the states satisfy the condition of its location? Errs towards yes.
    pub fn may_hold(&self, conditions: &Numbered<LocationId, Term>) -> bool {
        let mut solver = Lazy::default();
        let holds_in = |state: &State| holds(&conditions[state.location], &state.valuation) != Ok(false);
        let may_hold_in = |formula: &SymbolicState| {
            let meaning = formula.meaning(&conditions[formula.location], &formula.known);
            meaning.may_be(&formula.condition, &mut solver)
        };
        self.states.iter().any(holds_in) || self.formulas.iter().any(may_hold_in)
    }

    /// Drops the states in these locations, unless all states are in them.
    pub fn drop_states_in(&mut self, locations: impl Fn(LocationId) -> bool) {
        if self.states.iter().any(|state| !locations(state.location)) {
            self.states.retain(|state| !locations(state.location));
            self.formulas.retain(|formula| !locations(formula.location));
        }
    }

    fn follow(&mut self, event: &Event) -> Judged {
        match self.specification.find_action(&event.action) {
            Some(action) => self.follow_action(action, &event.values),
            None => self.violation(),
        }
    }

    /// Follows an action. If no state takes it, an output is a violation, every other action unspecified.
    fn follow_action(&mut self, action: ActionId, values: &[Value]) -> Judged {
        let mut through = BTreeSet::new();
        let followed = if self.formulas.is_empty() {
            self.step_states(action, values, &mut through)
        } else {
            self.step_formulas(action, values, &mut through)
        };
        let Some((states, formulas)) = followed else {
            return Judged::Ends(Verdict::Inconclusive, Cause::States(MOST_STATES));
        };
        if states.is_empty() {
            return match self.specification.action(action).kind {
                ActionKind::Output => self.violation(),
                _ => UNSPECIFIED,
            };
        }
        (self.states, self.formulas) = (states, formulas);
        for number in through {
            self.taken[number] += 1;
        }
        Judged::Followed(None)
    }

    /// Finds the states after an event, from each state by itself, and gathers them into formulas if they are
    /// more than `few`. `None`: that fails, and there are more than [`MOST_STATES`]. Adds to `taken` the
    /// transitions that may have been taken, with the internal ones before the event.
    fn step_states(
        &self,
        action: ActionId,
        values: &[Value],
        taken: &mut BTreeSet<TransitionId>,
    ) -> Option<StatesAfter> {
        let mut next = BTreeSet::new();
        for (number, transition) in self.specification.transitions.numbered() {
            let is_internal = self.specification.action(transition.action).kind == ActionKind::Internal;
            for state in &self.states {
                if is_internal {
                    // The states are closed under internal steps: this only notes the transition.
                    if fire(self.specification, transition, state, &[]).is_some() {
                        taken.insert(number);
                    }
                } else if transition.action == action
                    && let Some(after) = fire(self.specification, transition, state, values)
                {
                    next.insert(after);
                    taken.insert(number);
                }
            }
        }
        let next = internal_closure(self.specification, next);
        if next.len() > self.few {
            let formulas = gather_states(&data_of(self.specification), next.iter().map(SymbolicState::of));
            if let Some(after) = self.add_examples(formulas, &mut Lazy::default()) {
                return Some(after);
            }
        }
        (next.len() <= MOST_STATES).then(|| (next, Vec::new()))
    }

    /// Finds the formulas after an event, with an example state of each; `taken` is as in `step_states`.
    /// `None`: they are too many, or the solver does not know.
    fn step_formulas(
        &self,
        action: ActionId,
        values: &[Value],
        taken: &mut BTreeSet<TransitionId>,
    ) -> Option<StatesAfter> {
        let specification = self.specification;
        let mut solver = Lazy::default();
        let (system, data) = (System::new(specification), data_of(specification));
        let are_in = are_typed(&specification.action(action).parameters, values);
        let is_internal =
            |number: &TransitionId| specification.action_of(*number).kind == ActionKind::Internal;
        let mut newest = Vec::new();
        for formula in &self.formulas {
            for number in &system.outgoing[formula.location] {
                if is_internal(number) {
                    taken.extend(formula.after(&system, *number, &[], &mut solver).map(|_| *number));
                } else if are_in && specification.transitions[*number].action == action {
                    let after = formula.after(&system, *number, values, &mut solver);
                    taken.extend(after.as_ref().map(|_| *number));
                    newest.extend(after);
                }
            }
        }
        // Each round adds the formulas that one more internal step leads to.
        let mut reached: Vec<SymbolicState> = Vec::new();
        while !newest.is_empty() {
            newest = gather_states(&data, newest);
            reached.extend(newest.iter().cloned());
            if are_too_many(&newest) || reached.len() > MOST_STATES {
                return None;
            }
            let mut later = Vec::new();
            for formula in &newest {
                for number in system.outgoing[formula.location].iter().filter(|number| is_internal(number)) {
                    later.extend(formula.after(&system, *number, &[], &mut solver));
                }
            }
            newest = later;
        }
        self.add_examples(gather_states(&data, reached), &mut solver)
    }

    /// Finds an example state of each formula, and drops the formulas that have none. `None`: they are too
    /// many, or the solver does not know. If each formula stands for one state, only the states are left.
    fn add_examples(&self, mut formulas: Vec<SymbolicState>, solver: &mut dyn Solver) -> Option<StatesAfter> {
        if are_too_many(&formulas) {
            return None;
        }
        let mut states = BTreeSet::new();
        let mut is_known = true;
        formulas.retain(|formula| {
            let witness = match formula.condition.is_empty() {
                true => Witness::Found(Default::default()),
                false => solver.witness(&formula.condition),
            };
            let Witness::Found(values) = witness else {
                is_known &= witness == Witness::None;
                return false;
            };
            let mut valuation = formula.known.clone();
            for (datum, term) in &*formula.open {
                match evaluate(term, &values) {
                    Ok(value) => drop(valuation.insert(datum.clone(), value)),
                    Err(_) => is_known = false,
                }
            }
            states.insert(State { location: formula.location, valuation });
            true
        });
        if formulas.iter().all(|formula| formula.open.is_empty()) {
            formulas.clear();
        }
        // The formulas themselves were made with answers of this solver.
        (is_known && solver.statistics().unknown == 0).then_some((states, formulas))
    }

    /// Says what decides about an observation, if only the outputs are allowed that `allow` gives back.
    pub fn why_not(
        &self,
        observed: Option<&Event>,
        verdict: Option<Verdict>,
        allow: impl Fn(&Transition, &State) -> Option<Transition>,
    ) -> Reasons {
        let specification = self.specification;
        let transitions_at =
            |location| specification.transitions.iter().filter(move |t| t.source == location);
        let is_output = |t: &&Transition| specification.action(t.action).kind == ActionKind::Output;
        let mut why = Reasons::default();
        // Only one state of each formula is known. Its other states may allow other values.
        if self.are_all() {
            let mut allowed = Vec::new();
            for state in &self.states {
                let outputs = transitions_at(state.location).filter(is_output);
                allowed.extend(outputs.filter_map(|transition| Some((allow(transition, state)?, state))));
            }
            let open: Vec<_> = allowed.iter().map(|(transition, state)| (transition, *state)).collect();
            let expectation = describe_expectation(specification, &open, observed, None);
            why.expected = expectation.expected;
            if verdict == Some(Verdict::Fail) {
                (why.instead, why.guards) = (expectation.phrase, expectation.guards);
            }
        }
        if let Some(event) = observed.filter(|_| verdict == Some(Verdict::Fail)) {
            for state in &self.states {
                let sets = failing_sets(specification, transitions_at(state.location), state, event);
                why.violated.extend(sets.iter().map(|set| conjunct_texts(set)));
            }
        }
        why
    }

    /// Notes a violation. The states stay as they were.
    fn violation(&mut self) -> Judged {
        self.violated = true;
        Judged::Followed(None)
    }
}

/// Are these formulas too many to follow? A formula that stands for one state is as cheap as a state.
fn are_too_many(formulas: &[SymbolicState]) -> bool {
    formulas.len() > MOST_STATES
        || formulas.iter().filter(|formula| !formula.open.is_empty()).count() > MOST_FORMULAS
}

impl Follower for Monitor<'_> {
    fn has_state_of(&self, other: &Self) -> bool {
        self.states == other.states && self.formulas == other.formulas && self.violated == other.violated
    }

    fn may_come(&self, is_meant: &dyn Fn(&str) -> bool) -> bool {
        let iosts = self.specification;
        let is_output = |t: &Transition| {
            let action = iosts.action(t.action);
            action.kind == ActionKind::Output && is_meant(&action.name)
        };
        let comes = |state: &State| {
            iosts.transitions.iter().any(|t| t.source == state.location && is_output(t) && may_be(t, state))
        };
        !self.are_all() || self.states.iter().any(comes)
    }

    fn must_go_on(&self) -> bool {
        let iosts = self.specification;
        let goes_on =
            |t: &Transition| matches!(iosts.action(t.action).kind, ActionKind::Output | ActionKind::Internal);
        self.states.iter().all(|state| {
            iosts.transitions.iter().any(|t| t.source == state.location && goes_on(t) && may_be(t, state))
        })
    }
}

impl Judge for Monitor<'_> {
    fn iosts(&self) -> &Iosts {
        self.specification
    }

    fn constants(&self) -> Vec<(Datum, Value)> {
        let state = self.initial.first();
        let value = |datum: &Datum| Some((datum.clone(), state?.valuation.get(datum)?.clone()));
        self.specification.constants.iter().filter_map(value).collect()
    }

    fn begin(&mut self) {
        self.states = self.initial.clone();
        self.formulas.clear();
        self.taken.fill(0);
        self.violated = false;
    }

    fn offers(&self) -> Offers {
        let mut moves = Vec::new();
        for (number, transition) in self.specification.transitions.numbered() {
            let is_input = self.specification.action(transition.action).kind == ActionKind::Input;
            if is_input && self.states.iter().any(|state| state.location == transition.source) {
                moves.push(Offer { step: Move::Send(number), through: vec![number] });
            }
        }
        moves.push(Offer { step: Move::Wait, through: Vec::new() });
        Offers { moves, may_observe: true }
    }

    /// Chooses values in the first state that has some. `None`: no state has, or no formula takes them.
    fn stimulus(&mut self, number: TransitionId, choice: &mut Choice<'_>) -> Option<Event> {
        let transition = &self.specification.transitions[number];
        let action = self.specification.action(transition.action);
        let mut states = self.states.iter().filter(|state| state.location == transition.source);
        let values = states.find_map(|state| {
            let Choice { values, random, solver } = &mut *choice;
            values.choose(&transition.guard, &action.parameters, &state.valuation, random, *solver)
        })?;
        let event = Event::new(action.name.clone(), values);
        self.can_send(&event).then_some(event)
    }

    fn can_send(&mut self, stimulus: &Event) -> bool {
        let specification = self.specification;
        if !self.formulas.is_empty() {
            let action = specification.find_action(&stimulus.action);
            let after =
                action.map(|action| self.step_formulas(action, &stimulus.values, &mut BTreeSet::new()));
            return after.flatten().is_some_and(|(states, _)| !states.is_empty());
        }
        specification.transitions.iter().any(|transition| {
            let action = specification.action(transition.action);
            let takes = |state| fire(specification, transition, state, &stimulus.values).is_some();
            action.kind == ActionKind::Input
                && action.name == stimulus.action
                && self.states.iter().any(takes)
        })
    }

    fn take(&mut self, occurrence: &Occurrence) -> Judged {
        match occurrence {
            Occurrence::Stimulus(event) | Occurrence::Observation(event) => self.follow(event),
            Occurrence::Silence(time) => {
                let is_quiescence = |action: &Action| action.kind == ActionKind::Quiescence;
                let Some(quiescence) = self.specification.actions.first_number(is_quiescence) else {
                    return Judged::silence(*time);
                };
                match self.follow_action(quiescence, &[]) {
                    UNSPECIFIED => Judged::silence_fails(*time),
                    judged => judged,
                }
            }
            Occurrence::Delay(_) => Judged::Followed(None),
        }
    }

    fn verdict(&self) -> Option<Verdict> {
        self.violated.then_some(Verdict::Fail)
    }

    fn shown(&self) -> ShownState {
        let places: BTreeSet<&str> =
            self.states.iter().map(|s| self.specification.location(s.location).label.as_str()).collect();
        let data = self.specification.constants.iter().chain(&self.specification.variables);
        // Only values that are the same in all states are shown.
        let value = |datum: &Datum| {
            let value = self.states.first()?.valuation.get(datum)?;
            let known = self.states.iter().all(|state| state.valuation.get(datum) == Some(value))
                && self.formulas.iter().all(|formula| formula.known.get(datum) == Some(value));
            known.then(|| (datum.clone(), value.clone()))
        };
        let place = places.into_iter().collect::<Vec<_>>().join(" or ");
        ShownState { place, data: data.filter_map(value).collect() }
    }

    fn specification_locations(&self) -> BTreeSet<&str> {
        self.states.iter().map(|state| self.specification.location(state.location).name.as_str()).collect()
    }

    fn place(&self) -> &str {
        let mut places = self.states.iter().map(|state| state.location);
        let first = places.next().filter(|first| places.all(|other| other == *first));
        first.map_or("", |location| &self.specification.location(location).name)
    }

    fn describe(&self, number: TransitionId) -> String {
        let transition = &self.specification.transitions[number];
        format!("send {} when {}", self.specification.action(transition.action).name, transition.guard)
    }

    fn boundaries(&self, stimulus: &Event) -> Vec<Vec<Value>> {
        let mut by_parameter = vec![Vec::new(); stimulus.values.len()];
        for state in &self.states {
            let outgoing = self.specification.transitions.iter().filter(|t| t.source == state.location);
            let in_state = boundaries(self.specification, outgoing, state, stimulus);
            by_parameter.iter_mut().zip(in_state).for_each(|(known, new)| known.extend(new));
        }
        by_parameter
    }

    fn why(&self, observed: Option<&Event>, verdict: Option<Verdict>) -> Reasons {
        self.why_not(observed, verdict, |one, _| Some(one.clone()))
    }
}
