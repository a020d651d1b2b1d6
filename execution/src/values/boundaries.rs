//! Finds the ends of the ranges that a guard allows for single parameters.
//!
//! With the state's values, and those of the stimulus for its other parameters, a guard is a condition on one
//! number. The ends of its hull are where it begins and ceases to hold. Shrinking tries them first: a fault
//! is more often at an edge than between two edges.

use coreach_analyses::hull::hull;
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::semantics::{Event, State};
use coreach_model::term::{literals, substitute};
use coreach_model::{Datum, Term, Value};
use dashu_ratio::RBig;

use crate::values::draw::typed;

/// Lists for each parameter the ends of its range and their inner neighbours, by each transition.
pub fn boundaries<'t>(
    iosts: &Iosts,
    transitions: impl Iterator<Item = &'t Transition>,
    state: &State,
    stimulus: &Event,
) -> Vec<Vec<Value>> {
    let mut by_parameter = vec![Vec::new(); stimulus.values.len()];
    for transition in transitions.filter(|one| iosts.action(one.action).name == stimulus.action) {
        let parameters = &iosts.action(transition.action).parameters;
        for (datum, ends) in parameters.iter().zip(&mut by_parameter) {
            if datum.ty().is_number() {
                let others = parameters.iter().zip(&stimulus.values).filter(|(other, _)| *other != datum);
                ends.extend(parameter_ends(&transition.guard, datum, others, state));
            }
        }
    }
    by_parameter
}

/// Lists the ends of a parameter's range under the guard, and the value one inside of each.
fn parameter_ends<'v>(
    guard: &Term,
    datum: &Datum,
    others: impl Iterator<Item = (&'v Datum, &'v Value)>,
    state: &'v State,
) -> Vec<Value> {
    let known = state.valuation.iter().filter(|(other, _)| guard.mentions(other));
    let condition = substitute(guard, &literals(known.chain(others)));
    // The hull does not know other data without a value.
    if condition.data().iter().any(|open| open != datum) {
        return Vec::new();
    }
    let Some(range) = hull(&condition, std::slice::from_ref(datum)).range(0) else { return Vec::new() };
    let one = RBig::from(1);
    let inner = [range.low.as_ref().map(|low| low + &one), range.high.as_ref().map(|high| high - &one)];
    let ends = [range.low, range.high].into_iter().chain(inner).flatten();
    ends.map(|end| typed(end, datum.ty().is_integer())).collect()
}
