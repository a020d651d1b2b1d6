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
//! Ranges are also drawn from evenly: one by one, all together, and at their ends, if the guard allows it.

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
    let parameters = &model.iosts.action_of(number).parameters;
    let lists: Vec<Vec<Value>> =
        parameters.iter().map(|parameter| Value::enumerate(parameter.ty(), most)).collect::<Option<_>>()?;
    let vectors = lists.iter().try_fold(1usize, |product, list| product.checked_mul(list.len()))?;
    if vectors > most {
        return None;
    }
    Some(tuples(&lists).into_iter().filter_map(|values| take_step(model, number, state, values)).collect())
}

/// Takes the step through the transition with these values. `None` if the guard refuses them.
fn take_step(
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
    let action = model.iosts.action_of(number);
    // A determined answer needs no draws.
    let value_of = |parameter| determined_value(parameter, &model.conjuncts[number], &state.valuation);
    if let Some(values) = action.parameters.iter().map(value_of).collect::<Option<Vec<Value>>>() {
        return take_step(model, number, state, values).into_iter().collect();
    }
    let Choice { values, random, solver } = sources;
    // A later guard may compare these data with the values that are sent now.
    let is_input = action.kind == ActionKind::Input;
    let mut vectors = Vec::new();
    for (guard, turned) in model.guards[number].iter().zip(&model.turned[number]) {
        let fields = &guard.split().parameters[..];
        let later = model.live(state).map(|(_, _, value)| value).chain(&model.literals).filter(|_| is_input);
        let pool = guard.pool(&state.valuation, later);
        let drawn = values.choose_by_trial(guard, &pool, &state.valuation, random, &mut **solver);
        let Some(drawn) = drawn else { continue };
        let mut split_vectors = vec![drawn.clone()];
        // The fields of a record share the tries of its parameter, and so do the alternatives.
        let sharing = fields.len().max(1) * model.guards[number].len();
        let most_of_field = (most * action.parameters.len()).div_ceil(sharing);
        for (place, field) in fields.iter().enumerate() {
            let mut tried = nearby_values(model, field, state, &drawn);
            tried.extend(turning_values(turned, place, fields, state, &drawn));
            tried.extend(pool.iter().cloned());
            if matches!(field.ty(), Type::Record(_) | Type::Array(_)) {
                tried.extend((0..3).map(|_| any_with(field.ty(), &pool, random)));
            }
            tried.retain(|value| {
                value.is_in(field.ty()) && *value != drawn[place] && values.may_send_id(field, value)
            });
            tried.sort();
            tried.dedup();
            random.shuffle(&mut tried);
            for value in tried.into_iter().take(most_of_field) {
                let mut vector = drawn.clone();
                vector[place] = value;
                split_vectors.push(vector);
            }
        }
        if is_input {
            split_vectors.extend(draw_within_ranges(fields, &drawn, random));
        }
        vectors.extend(split_vectors.into_iter().map(|vector| guard.split().join_values(vector)));
    }
    if is_input {
        random.shuffle(&mut vectors);
    }
    vectors.into_iter().filter_map(|values| take_step(model, number, state, values)).collect()
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
    let mut turning = Vec::new();
    for (left, right) in sides {
        if !left.mentions(parameter) && !right.mentions(parameter) {
            continue;
        }
        let mut distance_at = |number: u8| {
            let value = if is_integer { Value::int(number) } else { Value::Real(RBig::from(number)) };
            valuation.insert(parameter.clone(), value);
            let left = evaluate(left, &valuation).ok()?;
            Some(as_rational(&left) - as_rational(&evaluate(right, &valuation).ok()?))
        };
        let Some((at_zero, at_one)) = distance_at(0).zip(distance_at(1)) else { continue };
        let slope = at_one - &at_zero;
        if slope.is_zero() {
            continue;
        }
        let root = -at_zero / slope;
        for offset in [-1, 0, 1] {
            let near = &root + RBig::from(offset);
            turning.push(if is_integer { Value::Int(near.floor()) } else { Value::Real(near) });
        }
    }
    turning
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
    take_step(model, number, state, drawn)
}

/// Draws vectors evenly from the ranges of numbers: one range by itself, all together, and all at their ends.
fn draw_within_ranges(parameters: &[Datum], drawn: &[Value], random: &mut Random) -> Vec<Vec<Value>> {
    let (mut vectors, mut all_drawn, mut all_at_ends) = (Vec::new(), drawn.to_vec(), drawn.to_vec());
    for (place, parameter) in parameters.iter().enumerate() {
        if let Type::Range(low, high) = parameter.ty() {
            let value = draw_between(low, high, random);
            let mut one_drawn = drawn.to_vec();
            one_drawn[place] = value.clone();
            vectors.push(one_drawn);
            all_drawn[place] = value;
            all_at_ends[place] = Value::Int(if random.below(2) == 0 { low } else { high }.clone());
        }
    }
    if vectors.len() > 1 {
        vectors.extend([all_drawn, all_at_ends]);
    }
    vectors
}

/// For guards such as `starts_with(x, "GET ")`: joins each text that the model compares with each other text.
/// The first two results have the compared text as a prefix. The third just misses it.
fn join_texts(model: &WalkModel, others: &[Value]) -> Vec<Value> {
    let mut joined = Vec::new();
    for literal in &model.literals {
        for other in others {
            let (Value::String(literal), Value::String(other)) = (literal, other) else { continue };
            let first: String = other.chars().take(1).collect();
            let texts =
                [format!("{literal}{other}"), format!("{literal}{first}"), format!("{first}{literal}")];
            joined.extend(texts.map(|text| Value::String(text.into())));
        }
    }
    joined
}

/// Lists the values of other data that a parameter's type allows, and their neighbours.
fn nearby_values(model: &WalkModel, parameter: &Datum, state: &State, drawn: &[Value]) -> Vec<Value> {
    match parameter.ty() {
        // All values of a small type are tried.
        Type::Bool | Type::Enum(_) => Value::enumerate(parameter.ty(), 8).unwrap_or_default(),
        Type::String => {
            let others = state.valuation.values().chain(drawn);
            let mut texts: Vec<Value> =
                others.filter(|value| matches!(value, Value::String(_))).cloned().collect();
            texts.extend(join_texts(model, &texts));
            texts
        }
        // Those that are known, in records too.
        ty @ Type::Id(_) => {
            let mut ids = Vec::new();
            let mut open: Vec<&Value> = state.valuation.values().chain(drawn).collect();
            while let Some(value) = open.pop() {
                match value {
                    Value::Record(_, fields) => open.extend(fields.iter()),
                    value if value.is_in(ty) => ids.push(value.clone()),
                    _ => {}
                }
            }
            ids
        }
        ty if ty.is_number() => {
            let ends: Vec<Value> = match ty {
                Type::Range(low, high) => [low, high].map(|end| Value::Int(end.clone())).to_vec(),
                _ => Vec::new(),
            };
            let others = model.live(state).map(|(_, _, value)| value).chain(drawn).chain(&model.numbers);
            let numbers = others.filter_map(|value| match value {
                Value::Int(value) if ty.is_integer() => {
                    Some([value.clone(), value - IBig::ONE, value + IBig::ONE].map(Value::Int))
                }
                Value::Real(value) if !ty.is_integer() => {
                    Some([value.clone(), value - RBig::ONE, value + RBig::ONE].map(Value::Real))
                }
                _ => None,
            });
            numbers.flatten().chain(ends).collect()
        }
        _ => Vec::new(),
    }
}
