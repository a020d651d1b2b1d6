//! The concrete semantics of timed models (2012, Definitions 7 and 8; 2024, section 2): states with clocks
//! that run.
//!
//! This is the oracle for everything that has to do with time, so it is naive: a state holds what each clock
//! shows now, a delay moves all of them, an event happens at one instant. It shares with the
//! [`super::delayed`] form only the evaluation of terms. Delays are exact rationals.
//!
//! The publication of 2012 lets no run begin at q0 once it has been left (a misprint in its Definition 7):
//! here a run goes on wherever a transition leaves.

use std::collections::BTreeSet;

use dashu_ratio::RBig;

use crate::iosts::{ActionId, ActionKind, LocationId, TransitionId};
use crate::semantics::Event;
use crate::term::evaluate::{Valuation, evaluate, holds};
use crate::timed::Timed;
use crate::value::Value;

/// A snapshot: where it is, what the data are, and what each clock shows now.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TimedState {
    pub location: LocationId,
    /// A value for each variable and constant, and for each clock what it shows.
    pub valuation: Valuation,
}

/// The state in which a run with these data begins: all clocks show 0. `None` where the initial condition
/// does not hold.
pub fn initial(timed: &Timed, data: &Valuation) -> Option<TimedState> {
    let graph = timed.graph();
    if holds(&graph.initial_condition, data) != Ok(true) {
        return None;
    }
    let mut valuation = data.clone();
    valuation.extend(timed.clocks().iter().map(|clock| (clock.clone(), Value::Real(RBig::ZERO))));
    Some(TimedState { location: graph.initial, valuation })
}

/// The state after this much time, in which nothing happens.
pub fn elapse(timed: &Timed, state: &TimedState, time: &RBig) -> TimedState {
    let mut next = state.clone();
    for clock in timed.clocks() {
        if let Some(Value::Real(shown)) = next.valuation.get_mut(clock) {
            *shown += time;
        }
    }
    next
}

/// The state after the transition with these parameter values, now, where it can be taken now.
pub fn fire(timed: &Timed, number: TransitionId, state: &TimedState, values: &[Value]) -> Option<TimedState> {
    let graph = timed.graph();
    let transition = &graph.transitions[number];
    let parameters = &graph.action(transition.action).parameters;
    if state.location != transition.source || values.len() != parameters.len() {
        return None;
    }
    let mut valuation = state.valuation.clone();
    for (parameter, value) in parameters.iter().zip(values) {
        if !value.is_in(parameter.ty()) {
            return None;
        }
        valuation.insert(parameter.clone(), value.clone());
    }
    if holds(&transition.guard, &valuation) != Ok(true) {
        return None;
    }
    let mut next = state.valuation.clone();
    for (variable, term) in &transition.assignments {
        let value = evaluate(term, &valuation).ok().filter(|value| value.is_in(variable.ty()))?;
        next.insert(variable.clone(), value);
    }
    for clock in timed.resets(number) {
        next.insert(clock.clone(), Value::Real(RBig::ZERO));
    }
    Some(TimedState { location: transition.target, valuation: next })
}

pub fn step(timed: &Timed, state: &TimedState, event: &Event) -> BTreeSet<TimedState> {
    let Some(action) = timed.graph().find_action(&event.action) else { return BTreeSet::new() };
    by(timed, state, action, &event.values)
}

fn by(timed: &Timed, state: &TimedState, action: ActionId, values: &[Value]) -> BTreeSet<TimedState> {
    let leaving = timed.graph().transitions.numbered();
    let leaving = leaving.filter(|(_, t)| t.source == state.location && t.action == action);
    leaving.filter_map(|(number, _)| fire(timed, number, state, values)).collect()
}

/// The states that internal actions reach now, these included. Ends in a system without livelock.
pub fn closed(timed: &Timed, states: BTreeSet<TimedState>) -> BTreeSet<TimedState> {
    let graph = timed.graph();
    let internal: Vec<ActionId> =
        graph.action_ids().filter(|id| graph.action(*id).kind == ActionKind::Internal).collect();
    let mut all = states.clone();
    let mut work: Vec<TimedState> = states.into_iter().collect();
    while let Some(state) = work.pop() {
        for action in &internal {
            for next in by(timed, &state, *action, &[]) {
                if all.insert(next.clone()) {
                    work.push(next);
                }
            }
        }
    }
    all
}
