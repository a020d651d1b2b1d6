//! Proposes parameter values for a transition in a state.
//!
//! **Method.** If the guard determines each parameter, as for most outputs, these values are the only ones.
//! Otherwise one vector is drawn by trial ([`crate::values::trial`]), of each alternative of a variant. Then
//! one parameter at a time takes other values:
//!
//! - values at which a comparison in the guard begins or ceases to hold;
//! - values of other live data and of the other parameters, and their neighbours;
//! - values that the guard reads in lists, sets, maps and records;
//! - all values of a Boolean or a small enumeration.
//!
//! Ranges are also drawn from evenly: one by one, all together, and all at their ends. Vectors that the guard
//! refuses are left out.

use coreach_model::random::Random;
use coreach_model::semantics::{State, determined_value, fire};
use coreach_model::term::evaluate::evaluate;
use coreach_model::value::tuples;
use coreach_model::{ActionKind, Datum, Term, TransitionId, Type, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;

use super::goals::WalkModel;
use crate::judge::Choice;
use crate::values::draw::draw_between;
use crate::values::{any_with, as_rational};

/// A step that can be taken.
pub struct CandidateStep {
    /// The values of its parameters.
    pub values: Vec<Value>,
    /// Where it leads.
    pub to: State,
    /// The signs of the comparisons that the step decides about.
    pub signs: Vec<i8>,
}

/// Lists all steps through the transition. `None` if its parameters have more than `most` vectors of values.
pub fn all_candidates(
    model: &WalkModel,
    number: TransitionId,
    state: &State,
    most: usize,
) -> Option<Vec<CandidateStep>> {
    let parameters = &model.iosts.action(model.iosts.transitions[number].action).parameters;
    let lists: Vec<Vec<Value>> =
        parameters.iter().map(|one| Value::enumerate(one.ty(), most)).collect::<Option<_>>()?;
    let count = lists.iter().try_fold(1usize, |count, list| count.checked_mul(list.len()));
    count.filter(|count| *count <= most)?;
    Some(tuples(&lists).into_iter().filter_map(|values| candidate(model, number, state, values)).collect())
}

/// The step through the transition with these values. `None` if the guard refuses them.
fn candidate(
    model: &WalkModel,
    number: TransitionId,
    state: &State,
    values: Vec<Value>,
) -> Option<CandidateStep> {
    let to = fire(&model.iosts, &model.iosts.transitions[number], state, &values)?;
    let signs = model.signs(number, state, &values, &to);
    Some(CandidateStep { values, to, signs })
}

/// Proposes steps through the transition. Each parameter tries at most `most` other values.
pub fn candidates(
    model: &WalkModel,
    number: TransitionId,
    state: &State,
    most: usize,
    sources: &mut Choice<'_>,
) -> Vec<CandidateStep> {
    /// The number of records, lists or maps that are composed for each parameter.
    const COMPOSED: usize = 3;

    let action = model.iosts.action(model.iosts.transitions[number].action);
    let candidate = |values| candidate(model, number, state, values);
    // A determined answer needs no draws.
    let conjuncts = &model.conjuncts[number];
    let determined = action.parameters.iter().map(|one| determined_value(one, conjuncts, &state.valuation));
    if let Some(values) = determined.collect::<Option<Vec<Value>>>() {
        return candidate(values).into_iter().collect();
    }
    let Choice { values, random, solver } = sources;
    // A later guard may compare these data with the values that are sent now.
    let is_input = action.kind == ActionKind::Input;
    let mut vectors = Vec::new();
    for (guard, turned) in model.guards[number].iter().zip(&model.turned[number]) {
        let parameters = &guard.split().parameters[..];
        let later = model.live(state).map(|(_, _, value)| value).chain(&model.literals).filter(|_| is_input);
        let pool = guard.pool(&state.valuation, later);
        let drawn = values.choose_by_trial(guard, &pool, &state.valuation, random, &mut **solver);
        let Some(drawn) = drawn else { continue };
        let first = vectors.len();
        vectors.push(drawn.clone());
        // The fields of a record share the tries of its parameter, and so do the alternatives.
        let sharing = parameters.len().max(1) * model.guards[number].len();
        let most = (most * action.parameters.len()).div_ceil(sharing);
        for (place, parameter) in parameters.iter().enumerate() {
            let mut tried = nearby_values(model, parameter, state, &drawn);
            tried.extend(turning_values(turned, place, parameters, state, &drawn));
            tried.extend(pool.iter().cloned());
            if matches!(parameter.ty(), Type::Record(_) | Type::Array(_)) {
                tried.extend((0..COMPOSED).map(|_| any_with(parameter.ty(), &pool, random)));
            }
            tried.retain(|value| {
                value.is_in(parameter.ty()) && *value != drawn[place] && values.may_send_id(parameter, value)
            });
            tried.sort();
            tried.dedup();
            random.shuffle(&mut tried);
            vectors.extend(tried.into_iter().take(most).map(|value| {
                let mut values = drawn.clone();
                values[place] = value;
                values
            }));
        }
        if is_input {
            vectors.extend(draw_within_ranges(parameters, &drawn, random));
        }
        for vector in &mut vectors[first..] {
            *vector = guard.split().join_values(std::mem::take(vector));
        }
    }
    if is_input {
        random.shuffle(&mut vectors);
    }
    vectors.into_iter().filter_map(candidate).collect()
}

/// Computes the values of one parameter at which comparisons begin or cease to hold, and their neighbours.
/// The result is exact if the difference of the sides is linear in the parameter, and a guess otherwise.
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

/// Draws a step through the transition as random runs do. `None` if no values were found.
pub fn draw_candidate(
    model: &WalkModel,
    number: TransitionId,
    state: &State,
    sources: &mut Choice<'_>,
) -> Option<CandidateStep> {
    let Choice { values, random, solver } = sources;
    let transition = &model.iosts.transitions[number];
    let parameters = &model.iosts.action(transition.action).parameters;
    let drawn = values.choose(&transition.guard, parameters, &state.valuation, random, &mut **solver)?;
    candidate(model, number, state, drawn)
}

/// Draws vectors evenly from the ranges of numbers: one range by itself, all together, and all at their ends.
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

/// Puts texts that guards compare with in front of other texts and behind them. So a prefix is met, or just
/// missed.
fn extend_literals(model: &WalkModel, others: &[Value]) -> Vec<Value> {
    let mut found = Vec::new();
    for (literal, other) in model.literals.iter().flat_map(|one| others.iter().map(move |other| (one, other)))
    {
        let (Value::String(literal), Value::String(other)) = (literal, other) else { continue };
        let first: String = other.chars().take(1).collect();
        for text in [format!("{literal}{other}"), format!("{literal}{first}"), format!("{first}{literal}")] {
            found.push(Value::String(text.into()));
        }
    }
    found
}

/// Lists the values of other data that a parameter's type allows, and their neighbours.
fn nearby_values(model: &WalkModel, parameter: &Datum, state: &State, drawn: &[Value]) -> Vec<Value> {
    /// The most values of a Boolean or enumeration that are all tried.
    const FEW: usize = 8;
    match parameter.ty() {
        Type::Bool | Type::Enum(_) => Value::enumerate(parameter.ty(), FEW).unwrap_or_default(),
        Type::String => {
            let others = state.valuation.values().chain(drawn);
            let mut found: Vec<Value> =
                others.filter(|value| matches!(value, Value::String(_))).cloned().collect();
            found.extend(extend_literals(model, &found));
            found
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
            let others = model.live(state).map(|(_, _, value)| value).chain(drawn).chain(&model.numbers);
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
