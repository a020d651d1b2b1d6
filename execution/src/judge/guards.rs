//! What of guards decides about an observation: the parts that do not hold, and what may come at all.

use coreach_analyses::solver::{Solver, Witness};
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::{literals, substitute};
use coreach_model::{Term, Value};

use crate::lazy::Lazy;
use crate::test_case::TestCase;

/// For each of these transitions with the event's action, the conjuncts of its guard that do not hold.
pub(crate) fn violated<'t>(
    iosts: &Iosts,
    transitions: impl Iterator<Item = &'t Transition>,
    state: &State,
    event: &Event,
) -> Vec<Vec<Term>> {
    let valuation = with_event(iosts, state, event);
    let same = transitions.filter(|one| iosts.action(one.action).name == event.action);
    same.map(|one| failing_conjuncts(&one.guard, &valuation)).collect()
}

/// The conjuncts that do not hold. One whose value is not known does not hold. That an operation has a value
/// is one of them only if all others hold or have no value: then it is the reason.
pub(super) fn failing_conjuncts(guard: &Term, valuation: &Valuation) -> Vec<Term> {
    let mut parts = guard.conjuncts();
    parts.retain(|part| holds(part, valuation) != Ok(true));
    if parts.iter().any(|part| !part.asks_definedness()) {
        parts.retain(|part| !part.asks_definedness());
    }
    parts
}

pub(crate) fn texts(conjuncts: &[Term]) -> Vec<String> {
    conjuncts.iter().map(Term::to_string).collect()
}

/// Is there an event of the transition's action that it takes in this state? Only where that is certain.
pub(super) fn can_come(test: &TestCase, transition: &Transition, state: &State) -> bool {
    let guard = substitute(&transition.guard, &literals(&state.valuation));
    if guard.is_true() || guard.is_false() {
        return guard.is_true();
    }
    let parameters = &test.iosts.action(transition.action).parameters;
    // What has no value anywhere stands in the guard, as has everything that a transition needs to be taken.
    let witness = Lazy::default().witness(&guard.conjuncts());
    let Witness::Found(found) = witness else { return false };
    let mut valuation = state.valuation.clone();
    valuation.extend(found.into_iter().filter(|(datum, _)| parameters.contains(datum)));
    holds(&transition.guard, &valuation) == Ok(true)
}

/// The state's valuation with the event's values for its parameters.
pub(super) fn with_event(iosts: &Iosts, state: &State, event: &Event) -> Valuation {
    let mut valuation = state.valuation.clone();
    if let Some(action) = iosts.find_action(&event.action) {
        let parameters = &iosts.action(action).parameters;
        valuation.extend(parameters.iter().cloned().zip(event.values.iter().cloned()));
    }
    valuation
}

/// Does the state not exclude the transition, whatever the values of its parameters?
pub(crate) fn may_be(transition: &Transition, state: &State) -> bool {
    let excluded = |part: &Term| evaluate(part, &state.valuation) == Ok(Value::Bool(false));
    !transition.guard.conjuncts().iter().any(excluded)
}
