//! The concrete semantics of timed models (2012, Definitions 7 and 8; 2024, section 2): states with clocks
//! that run.
//!
//! This is the oracle for everything that has to do with time, so it is naive: a state holds the present
//! value of each clock, a delay moves all clocks, and an event happens at one instant. It shares only the
//! evaluation of terms with the [`coreach_model::timed::delayed`] form. Delays are exact rationals.
//!
//! In the publication of 2012 no run can leave q0 a second time (a misprint in its Definition 7): here a run
//! goes on wherever a transition leaves.

use std::collections::BTreeSet;

use dashu_ratio::RBig;

use coreach_model::iosts::{ActionId, ActionKind, LocationId, TransitionId};
use coreach_model::semantics::Event;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::timed::Timed;
use coreach_model::value::Value;

/// A snapshot: the location, the values of the data, and the present value of each clock.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct TimedState {
    /// Where the run is.
    pub location: LocationId,
    /// A value for each variable, constant and clock.
    pub valuation: Valuation,
}

/// The state in which a run with these data begins: all clocks show 0. `None` if the initial condition does
/// not hold.
pub fn initial(timed: &Timed, data: &Valuation) -> Option<TimedState> {
    let graph = timed.graph();
    if holds(&graph.initial_condition, data) != Ok(true) {
        return None;
    }
    let mut valuation = data.clone();
    valuation.extend(timed.clocks().iter().map(|clock| (clock.clone(), Value::Real(RBig::ZERO))));
    Some(TimedState { location: graph.initial, valuation })
}

/// Lets this much time pass without an event.
pub fn elapse(timed: &Timed, state: &TimedState, time: &RBig) -> TimedState {
    let mut next = state.clone();
    for clock in timed.clocks() {
        if let Some(Value::Real(shown)) = next.valuation.get_mut(clock) {
            *shown += time;
        }
    }
    next
}

/// Takes the transition now with these parameter values, if [`coreach_model::semantics::fire`] can.
pub fn fire(timed: &Timed, number: TransitionId, state: &TimedState, values: &[Value]) -> Option<TimedState> {
    let graph = timed.graph();
    let transition = &graph.transitions[number];
    let parameters = &graph.action(transition.action).parameters;
    if state.location != transition.source || values.len() != parameters.len() {
        return None;
    }
    // The guard and the assigned values read the state and the parameters.
    let mut readable = state.valuation.clone();
    for (parameter, value) in parameters.iter().zip(values) {
        if !value.is_in(parameter.ty()) {
            return None;
        }
        readable.insert(parameter.clone(), value.clone());
    }
    if holds(&transition.guard, &readable) != Ok(true) {
        return None;
    }
    let mut next = state.valuation.clone();
    for (variable, term) in &transition.assignments {
        let value = evaluate(term, &readable).ok().filter(|value| value.is_in(variable.ty()))?;
        next.insert(variable.clone(), value);
    }
    for clock in timed.resets(number) {
        next.insert(clock.clone(), Value::Real(RBig::ZERO));
    }
    Some(TimedState { location: transition.target, valuation: next })
}

/// The states after an event now. The set is empty if the model has no such action.
pub fn step(timed: &Timed, state: &TimedState, event: &Event) -> BTreeSet<TimedState> {
    let Some(action) = timed.graph().find_action(&event.action) else { return BTreeSet::new() };
    step_by(timed, state, action, &event.values)
}

fn step_by(timed: &Timed, state: &TimedState, action: ActionId, values: &[Value]) -> BTreeSet<TimedState> {
    let candidates = timed.graph().transitions.numbered();
    let candidates = candidates.filter(|(_, t)| t.source == state.location && t.action == action);
    candidates.filter_map(|(number, _)| fire(timed, number, state, values)).collect()
}

/// Adds the states that internal actions reach now. Ends in a system without livelock.
pub fn close_under_internal_actions(timed: &Timed, states: BTreeSet<TimedState>) -> BTreeSet<TimedState> {
    let graph = timed.graph();
    let internal: Vec<ActionId> =
        graph.action_ids().filter(|id| graph.action(*id).kind == ActionKind::Internal).collect();
    let mut closed = states.clone();
    let mut unvisited: Vec<TimedState> = states.into_iter().collect();
    while let Some(state) = unvisited.pop() {
        for action in &internal {
            for next in step_by(timed, &state, *action, &[]) {
                if closed.insert(next.clone()) {
                    unvisited.push(next);
                }
            }
        }
    }
    closed
}
