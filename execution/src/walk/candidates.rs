//! Values that are worth a try: at a transition, in a state.
//!
//! **Method.** One vector is drawn as for any stimulus ([`crate::values`]). Then each parameter takes the
//! values at which the guard begins or ceases to hold, those of other data in scope and their neighbours, and
//! those of the other parameters; all values of a Boolean or a small enumeration. What the guard refuses is
//! left out. Of those that fall into one class one is enough; a second is kept, since what no guard compares
//! here may be compared later.

use std::collections::HashMap;

use coreach_model::semantics::{Event, State, fire};
use coreach_model::{ActionKind, Datum, TransitionId, Type, Value};
use dashu::integer::IBig;
use dashu::rational::RBig;

use super::goals::{Class, SoughtGoal};
use crate::judge::Choice;
use crate::values::boundaries::boundaries;

/// The most vectors of one transition in one state.
const MOST: usize = 8;

/// The most of one class.
const OF_A_CLASS: usize = 2;

/// The most values that one parameter tries.
const TRIED: usize = 24;

/// Vectors of values with which the transition can be taken.
pub fn candidates(
    sought: &SoughtGoal,
    number: TransitionId,
    state: &State,
    sources: &mut Choice<'_>,
) -> Vec<Vec<Value>> {
    let transition = &sought.iosts.transitions[number];
    let action = sought.iosts.action(transition.action);
    if action.parameters.is_empty() {
        return vec![Vec::new()];
    }
    let Choice { values, random, solver } = sources;
    let drawn = values.choose(&transition.guard, &action.parameters, &state.valuation, random, &mut **solver);
    let Some(drawn) = drawn else { return Vec::new() };
    let mut all = vec![drawn.clone()];
    let event = Event::new(action.name.clone(), drawn.clone());
    let ends = boundaries(&sought.iosts, std::iter::once(transition), state, &event);
    for (place, (parameter, ends)) in action.parameters.iter().zip(ends).enumerate() {
        let mut tried = ends;
        tried.extend(near(parameter, state, &drawn));
        tried.retain(|value| value.is_in(parameter.ty()) && *value != drawn[place]);
        tried.sort();
        tried.dedup();
        random.shuffle(&mut tried);
        all.extend(tried.into_iter().take(TRIED).map(|value| {
            let mut values = drawn.clone();
            values[place] = value;
            values
        }));
    }
    if action.kind == ActionKind::Input {
        random.shuffle(&mut all);
    }
    let mut of_class: HashMap<Class, usize> = HashMap::new();
    all.retain(|values| {
        let Some(to) = fire(&sought.iosts, transition, state, values) else { return false };
        let count = of_class.entry(sought.class(number, state, values, &to)).or_default();
        *count += 1;
        *count <= OF_A_CLASS
    });
    all.truncate(MOST);
    all
}

/// Values of a parameter's type that other data have, and those beside them.
fn near(parameter: &Datum, state: &State, drawn: &[Value]) -> Vec<Value> {
    /// All values of a type with so few are tried.
    const FEW: usize = 8;
    match parameter.ty() {
        Type::Bool | Type::Enum(_) => Value::enumerate(parameter.ty(), FEW).unwrap_or_default(),
        ty if ty.is_number() => {
            let others = state.valuation.values().chain(drawn);
            let numbers = others.filter_map(|value| match value {
                Value::Int(value) if ty.is_integer() => {
                    let beside = [value.clone() - IBig::ONE, value.clone() + IBig::ONE];
                    Some([Value::Int(value.clone())].into_iter().chain(beside.map(Value::Int)).collect())
                }
                Value::Real(value) if !ty.is_integer() => {
                    let one = RBig::from(1);
                    let beside = [value.clone() - &one, value.clone() + &one];
                    Some([Value::Real(value.clone())].into_iter().chain(beside.map(Value::Real)).collect())
                }
                _ => None,
            });
            numbers.flat_map(|all: Vec<Value>| all).collect()
        }
        _ => Vec::new(),
    }
}
