//! Finds the ends of the ranges that a guard allows for single parameters.
//!
//! With the state's values, and those of the stimulus for its other parameters, a guard is a condition on one
//! number. The ends of its hull are where it begins and ceases to hold. Shrinking tries them first: a fault
//! is more often at an edge than between two edges.

use coreach_analyses::hull::hull;
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::semantics::{Event, State};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Term, Value};
use dashu_ratio::RBig;

/// For each parameter: the ends and their inner neighbours, for each transition of the action.
pub fn boundaries<'t>(
    iosts: &Iosts,
    transitions: impl Iterator<Item = &'t Transition>,
    state: &State,
    stimulus: &Event,
) -> Vec<Vec<Value>> {
    let mut found = vec![Vec::new(); stimulus.values.len()];
    let named = transitions.filter(|one| iosts.action(one.action).name == stimulus.action);
    for transition in named {
        let parameters = &iosts.action(transition.action).parameters;
        for ((at, datum), ends) in parameters.iter().enumerate().zip(&mut found) {
            if datum.ty().is_number() {
                let others = parameters.iter().zip(&stimulus.values).enumerate();
                let others = others.filter(|(other, _)| *other != at).map(|(_, pair)| pair);
                ends.extend(parameter_ends(&transition.guard, datum, others, state));
            }
        }
    }
    found
}

/// The ends of a parameter's range under the guard, and the value one inside of each.
fn parameter_ends<'v>(
    guard: &Term,
    datum: &Datum,
    others: impl Iterator<Item = (&'v Datum, &'v Value)>,
    state: &State,
) -> Vec<Value> {
    let others = others.map(|(other, value)| (other.clone(), Term::literal(value.clone())));
    let known = guard.data().into_iter().filter_map(|other| {
        let value = state.valuation.get(&other)?.clone();
        Some((other, Term::literal(value)))
    });
    let mut values: Substitution = known.collect();
    values.extend(others);
    let condition = substitute(guard, &values);
    // The hull does not know other data without a value.
    if condition.data().iter().any(|left| left != datum) {
        return Vec::new();
    }
    let Some(range) = hull(&condition, std::slice::from_ref(datum)).range(0) else { return Vec::new() };
    let one = RBig::from(1);
    let inner = [range.low.as_ref().map(|low| low + &one), range.high.as_ref().map(|high| high - &one)];
    let all = [range.low, range.high].into_iter().chain(inner).flatten();
    let typed = |value: RBig| match datum.ty().is_integer() {
        true => Value::Int(value.trunc()),
        false => Value::Real(value),
    };
    all.map(typed).collect()
}
