//! The parts of guards that decide about an observation, and whether one can come at all.

use coreach_analyses::solver::{Solver, Witness};
use coreach_model::iosts::{Iosts, Transition, TransitionOrigin};
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::{literals, substitute};
use coreach_model::{Term, Value};

use crate::lazy::Lazy;
use crate::test_case::TestCase;

/// Lists, for each of these transitions with the event's action, the conjuncts of its guard that do not hold.
pub(crate) fn failing_sets<'t>(
    iosts: &Iosts,
    transitions: impl Iterator<Item = &'t Transition>,
    state: &State,
    event: &Event,
) -> Vec<Vec<Term>> {
    let valuation = with_event(iosts, state, event);
    let of_action = transitions.filter(|transition| iosts.action(transition.action).name == event.action);
    of_action.map(|transition| failing_conjuncts(&transition.guard, &valuation)).collect()
}

/// Lists the conjuncts that do not hold, or have no value. Those without a value, and those that ask whether
/// an operation has one, are among them only if no other conjunct is false: then they are the reason.
pub(super) fn failing_conjuncts(guard: &Term, valuation: &Valuation) -> Vec<Term> {
    let mut parts = guard.conjuncts();
    parts.retain(|part| holds(part, valuation) != Ok(true));
    let is_false = |part: &Term| !part.asks_definedness() && holds(part, valuation) == Ok(false);
    if parts.iter().any(is_false) {
        parts.retain(is_false);
    }
    if parts.iter().any(|part| !part.asks_definedness()) {
        parts.retain(|part| !part.asks_definedness());
    }
    parts
}

pub(crate) fn conjunct_texts(conjuncts: &[Term]) -> Vec<String> {
    conjuncts.iter().map(Term::to_string).collect()
}

/// Splits a transition that was joined from several of the specification: one for each alternative of its
/// guard. A disjunction that the specification has itself stays whole.
pub(crate) fn split_joined(test: &TestCase, transition: &Transition) -> Vec<Transition> {
    let joined = &transition.origin.joined;
    let find_joined =
        |alternative: &Term| joined.iter().find(|(guard, _)| guard.disjuncts().contains(alternative));
    let is_of_specification = |part: &Term| test.specification_conjuncts.contains(part);
    let has_demand = |guard: &Term| guard.conjuncts().iter().any(is_of_specification);
    let conjuncts = transition.guard.conjuncts();
    // Each alternative stands in a joined guard, or at least has a condition of the specification.
    let is_joined = |part: &&Term| {
        let alternatives = part.disjuncts();
        let are_known = alternatives.iter().all(|alternative| find_joined(alternative).is_some());
        let are_demands = !is_of_specification(part) && alternatives.iter().all(has_demand);
        alternatives.len() > 1 && (are_known || are_demands)
    };
    let Some(disjunction) = conjuncts.iter().find(is_joined) else { return vec![transition.clone()] };
    let split = disjunction.disjuncts().into_iter().map(|alternative| {
        let origin = TransitionOrigin {
            whole: None,
            guard: find_joined(&alternative).and_then(|(_, place)| place.clone()),
            joined: Vec::new(),
            ..transition.origin.clone()
        };
        let others = conjuncts.iter().filter(|part| *part != disjunction).cloned();
        Transition { guard: Term::and(others.chain([alternative])), origin, ..transition.clone() }
    });
    split.collect()
}

/// Leaves the conditions of a purpose out of a transition. The purpose splits a transition of the
/// specification into several. The specification demands what all of them demand. A transition that would
/// then take a forbidden event stays as it is: its guard was simplified, so the source of its parts is lost.
pub(crate) fn without_purpose(
    test: &TestCase,
    transition: &Transition,
    siblings: &[&Transition],
    forbidden: Option<&Valuation>,
) -> Transition {
    let of_specification = |candidate: &Transition| -> Vec<Term> {
        candidate
            .guard
            .conjuncts()
            .into_iter()
            .filter(|part| test.specification_conjuncts.contains(part))
            .collect()
    };
    let demands = of_specification(transition);
    // The guards of a product are not simplified. So it is known that the specification demands nothing.
    if test.specification_conjuncts.is_empty() || (demands.is_empty() && test.online.is_none()) {
        return transition.clone();
    }
    let is_split_from_same = |candidate: &&&Transition| {
        (candidate.source, candidate.action) == (transition.source, transition.action)
            && of_specification(candidate) == demands
    };
    let split = siblings.iter().filter(is_split_from_same);
    let split_guards: Vec<Vec<Term>> = split.map(|candidate| candidate.guard.conjuncts()).collect();
    // If a condition of the specification fails, the others need not be known.
    let is_false = |part: &Term| forbidden.is_some_and(|values| holds(part, values) == Ok(false));
    let already_fails = demands.iter().any(is_false);
    let mut parts = transition.guard.conjuncts();
    parts.retain(|part| split_guards.iter().all(|guard| guard.contains(part)));
    parts.retain(|part| !already_fails || demands.contains(part) || part.asks_definedness());
    let guard = Term::and(parts);
    match forbidden.map(|values| holds(&guard, values)) {
        Some(Ok(true)) => transition.clone(),
        _ => Transition { guard, ..transition.clone() },
    }
}

/// Is there certainly an event of the transition's action that it takes in this state?
pub(super) fn can_come(test: &TestCase, transition: &Transition, state: &State) -> bool {
    let guard = substitute(&transition.guard, &literals(&state.valuation));
    if guard.is_true() || guard.is_false() {
        return guard.is_true();
    }
    let parameters = &test.iosts.action(transition.action).parameters;
    // The guard has all conditions of the transition, also that its operations have values.
    let Witness::Found(witness) = Lazy::default().witness(&guard.conjuncts()) else { return false };
    let mut valuation = state.valuation.clone();
    valuation.extend(witness.into_iter().filter(|(datum, _)| parameters.contains(datum)));
    holds(&transition.guard, &valuation) == Ok(true)
}

/// Lists the transitions with the event's action from the state's location, whether their guards hold or not.
pub(crate) fn transitions_of<'t>(
    iosts: &'t Iosts,
    state: &State,
    event: &Event,
) -> impl Iterator<Item = &'t Transition> {
    let (source, action) = (state.location, iosts.find_action(&event.action));
    iosts.transitions.iter().filter(move |step| step.source == source && Some(step.action) == action)
}

/// Returns the state's valuation, with the event's values for its parameters.
pub(crate) fn with_event(iosts: &Iosts, state: &State, event: &Event) -> Valuation {
    let mut valuation = state.valuation.clone();
    if let Some(action) = iosts.find_action(&event.action) {
        let parameters = &iosts.action(action).parameters;
        valuation.extend(parameters.iter().cloned().zip(event.values.iter().cloned()));
    }
    valuation
}

/// May the transition be taken in this state, with some values of its parameters? Errs towards yes.
pub(crate) fn may_be(transition: &Transition, state: &State) -> bool {
    let excluded = |part: &Term| evaluate(part, &state.valuation) == Ok(Value::Bool(false));
    !transition.guard.conjuncts().iter().any(excluded)
}
