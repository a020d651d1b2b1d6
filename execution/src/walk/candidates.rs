//! Values that are worth a try: at a transition, in a state.
//!
//! **Method.** One vector is drawn by trial ([`crate::values::trial`]). Then each parameter takes the values
//! at which the guard begins or ceases to hold, those of other data that somebody still reads and their
//! neighbours, those that the guard reads in lists, sets, maps and records, and those of the other
//! parameters; all values of a Boolean or a small enumeration. Ranges are drawn from evenly as well, one
//! by one, all together, and all at their ends. What the guard refuses is left out. Where the guard says what
//! each parameter is, as of most answers, nothing is drawn.

use coreach_model::random::Random;
use coreach_model::semantics::{State, determined_value, fire};
use coreach_model::term::evaluate::evaluate;
use coreach_model::value::tuples;
use coreach_model::{ActionKind, Datum, Term, TransitionId, Type, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;

use super::goals::SoughtGoal;
use crate::judge::Choice;
use crate::values::draw::draw_between;
use crate::values::{any_with, as_rational};

/// A step that can be taken.
pub struct CandidateStep {
    /// The values of its parameters.
    pub values: Vec<Value>,
    /// Where it leads.
    pub to: State,
    /// How the data stand to each other.
    pub signs: Vec<i8>,
}

/// All ways to take the transition, where its parameters have at most so many values together.
pub fn all_candidates(
    sought: &SoughtGoal,
    number: TransitionId,
    state: &State,
    most: usize,
) -> Option<Vec<CandidateStep>> {
    let parameters = &sought.iosts.action(sought.iosts.transitions[number].action).parameters;
    let lists: Vec<Vec<Value>> =
        parameters.iter().map(|one| Value::enumerate(one.ty(), most)).collect::<Option<_>>()?;
    let count = lists.iter().try_fold(1usize, |count, list| count.checked_mul(list.len()));
    count.filter(|count| *count <= most)?;
    Some(tuples(&lists).into_iter().filter_map(|values| candidate(sought, number, state, values)).collect())
}

/// The step through the transition with these values, if they are taken.
fn candidate(
    sought: &SoughtGoal,
    number: TransitionId,
    state: &State,
    values: Vec<Value>,
) -> Option<CandidateStep> {
    let to = fire(&sought.iosts, &sought.iosts.transitions[number], state, &values)?;
    let signs = sought.signs(number, state, &values, &to);
    Some(CandidateStep { values, to, signs })
}

/// Some ways to take the transition; at most so many other values of each parameter.
pub fn candidates(
    sought: &SoughtGoal,
    number: TransitionId,
    state: &State,
    most: usize,
    sources: &mut Choice<'_>,
) -> Vec<CandidateStep> {
    /// So many records, lists or maps are put together for each parameter.
    const COMPOSED: usize = 3;

    let action = sought.iosts.action(sought.iosts.transitions[number].action);
    let candidate = |values| candidate(sought, number, state, values);
    // What an answer must be needs no draws.
    let conjuncts = &sought.conjuncts[number];
    let determined = action.parameters.iter().map(|one| determined_value(one, conjuncts, &state.valuation));
    if let Some(values) = determined.collect::<Option<Vec<Value>>>() {
        return candidate(values).into_iter().collect();
    }
    let Choice { values, random, solver } = sources;
    let guard = &sought.guards[number];
    let parameters = &guard.split().parameters[..];
    // A later guard may compare these data with the values that are sent now.
    let is_input = action.kind == ActionKind::Input;
    let later = sought.live(state).map(|(_, _, value)| value).chain(&sought.literals).filter(|_| is_input);
    let pool = guard.pool(&state.valuation, later);
    let drawn = values.choose_by_trial(guard, &pool, &state.valuation, random, &mut **solver);
    let Some(drawn) = drawn else { return Vec::new() };
    let mut all = vec![drawn.clone()];
    // As many for each field of a record as for a parameter would be too many.
    let most = (most * action.parameters.len()).div_ceil(parameters.len().max(1));
    for (place, parameter) in parameters.iter().enumerate() {
        let mut tried = nearby_values(sought, parameter, state, &drawn);
        tried.extend(turning_values(&sought.turned[number], place, parameters, state, &drawn));
        tried.extend(pool.iter().cloned());
        if matches!(parameter.ty(), Type::Record(_) | Type::Array(_)) {
            tried.extend((0..COMPOSED).map(|_| any_with(parameter.ty(), &pool, random)));
        }
        tried.retain(|value| value.is_in(parameter.ty()) && *value != drawn[place]);
        tried.sort();
        tried.dedup();
        random.shuffle(&mut tried);
        all.extend(tried.into_iter().take(most).map(|value| {
            let mut values = drawn.clone();
            values[place] = value;
            values
        }));
    }
    if is_input {
        all.extend(draw_within_ranges(parameters, &drawn, random));
    }
    if is_input {
        random.shuffle(&mut all);
    }
    all.into_iter().filter_map(|values| candidate(guard.split().join_values(values))).collect()
}

/// Where comparisons begin or cease to hold, and beside that, as one parameter changes and all else stays:
/// exact where the difference of the sides is linear in it, a guess elsewhere.
fn turning_values(
    sides: &[(Term, Term)],
    place: usize,
    parameters: &[Datum],
    state: &State,
    drawn: &[Value],
) -> Vec<Value> {
    let parameter = &parameters[place];
    let is_integer = parameter.ty().is_integer();
    if !parameter.ty().is_number() {
        return Vec::new();
    }
    let mut valuation = state.valuation.clone();
    valuation.extend(parameters.iter().cloned().zip(drawn.iter().cloned()));
    let mut found = Vec::new();
    for (left, right) in
        sides.iter().filter(|(left, right)| left.mentions(parameter) || right.mentions(parameter))
    {
        let mut distance = |at: u8| {
            let at = if is_integer { Value::int(at) } else { Value::Real(RBig::from(at)) };
            valuation.insert(parameter.clone(), at);
            let left = evaluate(left, &valuation).ok()?;
            Some(as_rational(&left) - as_rational(&evaluate(right, &valuation).ok()?))
        };
        let Some((none, one)) = distance(0).zip(distance(1)) else { continue };
        let slope = one - &none;
        if slope.is_zero() {
            continue;
        }
        let root = -none / slope;
        for beside in [-1, 0, 1].map(|beside| &root + RBig::from(beside)) {
            found.push(if is_integer { Value::Int(beside.floor()) } else { Value::Real(beside) });
        }
    }
    found
}

/// A way to take the transition with values as random runs have them.
pub fn draw_candidate(
    sought: &SoughtGoal,
    number: TransitionId,
    state: &State,
    sources: &mut Choice<'_>,
) -> Option<CandidateStep> {
    let Choice { values, random, solver } = sources;
    let transition = &sought.iosts.transitions[number];
    let parameters = &sought.iosts.action(transition.action).parameters;
    let drawn = values.choose(&transition.guard, parameters, &state.valuation, random, &mut **solver)?;
    candidate(sought, number, state, drawn)
}

/// Values that are drawn evenly from the ranges of numbers: each range by itself, and all together. And all
/// at ends of their ranges.
fn draw_within_ranges(parameters: &[Datum], drawn: &[Value], random: &mut Random) -> Vec<Vec<Value>> {
    let (mut found, mut together, mut corner) = (Vec::new(), drawn.to_vec(), drawn.to_vec());
    for (place, parameter) in parameters.iter().enumerate() {
        if let Type::Range(low, high) = parameter.ty() {
            let value = draw_between(low, high, random);
            let mut one = drawn.to_vec();
            one[place] = value.clone();
            found.push(one);
            together[place] = value;
            corner[place] = Value::Int(if random.below(2) == 0 { low } else { high }.clone());
        }
    }
    if found.len() > 1 {
        found.extend([together, corner]);
    }
    found
}

/// Values of a parameter's type that other data have, and those beside them.
fn nearby_values(sought: &SoughtGoal, parameter: &Datum, state: &State, drawn: &[Value]) -> Vec<Value> {
    /// All values of a type with so few are tried.
    const FEW: usize = 8;
    match parameter.ty() {
        Type::Bool | Type::Enum(_) => Value::enumerate(parameter.ty(), FEW).unwrap_or_default(),
        Type::String => {
            let others = state.valuation.values().chain(drawn);
            others.filter(|value| matches!(value, Value::String(_))).cloned().collect()
        }
        // Those that are known, in records too.
        ty @ Type::Id(_) => {
            let (mut found, mut work) = (Vec::new(), Vec::new());
            work.extend(state.valuation.values().chain(drawn));
            while let Some(value) = work.pop() {
                match value {
                    Value::Record(_, fields) => work.extend(fields.iter()),
                    value if value.is_in(ty) => found.push(value.clone()),
                    _ => {}
                }
            }
            found
        }
        ty if ty.is_number() => {
            let ends: Vec<Value> = match ty {
                Type::Range(low, high) => [low, high].map(|end| Value::Int(end.clone())).to_vec(),
                _ => Vec::new(),
            };
            let others = sought.live(state).map(|(_, _, value)| value).chain(drawn);
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
            numbers.flat_map(|all: Vec<Value>| all).chain(ends).collect()
        }
        _ => Vec::new(),
    }
}
