//! The concrete semantics (thesis, Definitions 4.4-4.16, p. 84-89): states, events, steps, traces, `after`.
//!
//! This is the oracle. It enumerates, it is naive on purpose, and it shares with the stages of the pipeline
//! only the evaluation of terms. A state is ⟨l, ϑ⟩ with ϑ over variables and constants; an event is a valued
//! action ⟨a, w⟩; an internal step carries no values and no trace shows it.

use std::collections::BTreeSet;
use std::fmt;

use crate::codec::as_type;
use crate::data::Datum;
use crate::iosts::{ActionId, ActionKind, Iosts, LocationId, Transition};
use crate::term::Term;
use crate::term::evaluate::{Valuation, evaluate, evaluate_with, holds, holds_with};
use crate::term::node::{Comparison, Node};
use crate::value::{Value, tuples};

/// ⟨l, ϑ⟩
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct State {
    /// l
    pub location: LocationId,
    /// ϑ: a value for every variable and constant.
    pub valuation: Valuation,
}

/// A valued action ⟨a, w⟩.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Event {
    /// The action's name: events pass between systems that number their actions differently.
    pub action: String,
    /// One value per parameter.
    pub values: Vec<Value>,
}

impl Event {
    pub fn new(action: impl Into<String>, values: impl IntoIterator<Item = Value>) -> Self {
        Event { action: action.into(), values: values.into_iter().collect() }
    }
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}(", self.action)?;
        for (at, value) in self.values.iter().enumerate() {
            f.write_str(if at > 0 { ", " } else { "" })?;
            value.fmt(f)?;
        }
        f.write_str(")")
    }
}

/// Why the initial states could not be listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum InitialError {
    /// A constant was given no value, or one outside its type.
    Constant(Datum),
    /// More candidates than the limit would have to be tried.
    TooMany,
}

/// Does the state satisfy the initial condition at the initial location?
pub fn is_initial(iosts: &Iosts, state: &State) -> bool {
    state.location == iosts.initial && holds(&iosts.initial_condition, &state.valuation) == Ok(true)
}

/// S0 of the instance with these constants.
///
/// A variable that a conjunct `v == e` of the initial condition determines is computed. Any other variable of
/// a finite type runs through all its values. A variable of an infinite type has the value [`Value::any`]: an
/// initialized system may leave it open because it writes it before it reads it.
///
/// # Errors
/// If a constant has no value of its type, or if there are more than `limit` candidates.
pub fn initial_states(
    iosts: &Iosts,
    constants: &Valuation,
    limit: usize,
) -> Result<Vec<State>, InitialError> {
    let mut known = Valuation::new();
    for constant in &iosts.constants {
        let value = constants.get(constant).filter(|value| value.is_in(constant.ty()));
        let value = value.ok_or_else(|| InitialError::Constant(constant.clone()))?;
        known.insert(constant.clone(), value.clone());
    }
    let conjuncts = iosts.initial_condition.unfolded_conjuncts();
    let mut open: Vec<Datum> = iosts.variables.clone();
    // A value that is found may determine others, so the search begins again after each.
    while let Some((position, value)) = (0..open.len())
        .find_map(|position| Some((position, determined_value(&open[position], &conjuncts, &known)?)))
    {
        known.insert(open.remove(position), value);
    }
    // For each open variable, its candidates; `count` is the number of their combinations.
    let mut choices = Vec::new();
    let mut count = 1usize;
    for datum in &open {
        let values = match datum.ty().cardinality() {
            Some(_) => Value::enumerate(datum.ty(), limit).ok_or(InitialError::TooMany)?,
            None => vec![Value::any(datum.ty())],
        };
        count = count.saturating_mul(values.len());
        if count > limit {
            return Err(InitialError::TooMany);
        }
        choices.push(values);
    }
    let states = tuples(&choices).into_iter().map(|tuple| {
        let mut valuation = known.clone();
        valuation.extend(open.iter().cloned().zip(tuple));
        State { location: iosts.initial, valuation }
    });
    // A determined value may lie outside its type, and not every combination is initial.
    let is_in_types = |state: &State| state.valuation.iter().all(|(datum, value)| value.is_in(datum.ty()));
    Ok(states.filter(|state| is_in_types(state) && is_initial(iosts, state)).collect())
}

/// Finds the value that some conjunct gives to the datum: `datum == e` where all data of `e` are known, or
/// the Boolean datum or its negation by itself. `None` if none gives one.
pub fn determined_value(datum: &Datum, conjuncts: &[Term], known: &Valuation) -> Option<Value> {
    conjuncts.iter().find_map(|conjunct| match conjunct.written() {
        Some(Node::Compare(Comparison::Equal, a, b)) => {
            let sides = [(a, b), (b, a)].into_iter().filter(|(side, _)| side.written_datum() == Some(datum));
            sides.filter_map(|(_, opposite)| evaluate(opposite, known).ok()).next()
        }
        Some(Node::Data(flag)) if flag == datum => Some(Value::Bool(true)),
        Some(Node::Not(inner)) if inner.written_datum() == Some(datum) => Some(Value::Bool(false)),
        _ => None,
    })
}

/// Takes the transition with these parameter values. `None` if it cannot be taken: the values do not fit, the
/// guard does not hold or has no value, or an assigned value does not exist or is outside its type.
pub fn fire(iosts: &Iosts, transition: &Transition, state: &State, values: &[Value]) -> Option<State> {
    let action = iosts.action(transition.action);
    if state.location != transition.source || values.len() != action.parameters.len() {
        return None;
    }
    if !action.parameters.iter().zip(values).all(|(parameter, value)| value.is_in(parameter.ty())) {
        return None;
    }
    let lookup = |datum: &Datum| match action.parameters.iter().position(|parameter| parameter == datum) {
        Some(place) => Some(&values[place]),
        None => state.valuation.get(datum),
    };
    if holds_with(&transition.guard, lookup) != Ok(true) {
        return None;
    }
    let mut next = state.valuation.clone();
    for (variable, term) in &transition.assignments {
        let value = evaluate_with(term, lookup).ok().filter(|value| value.is_in(variable.ty()))?;
        next.insert(variable.clone(), value);
    }
    Some(State { location: transition.target, valuation: next })
}

/// The same event with its values in the types that this model gives the parameters
/// ([`crate::codec::as_type`]); a value that is in no such type, or an unknown action, stays as it is.
pub fn in_types_of(iosts: &Iosts, event: &Event) -> Event {
    let parameters = iosts.find_action(&event.action).map(|id| &iosts.action(id).parameters);
    let mut event = event.clone();
    for (value, parameter) in event.values.iter_mut().zip(parameters.into_iter().flatten()) {
        if let Some(cast) = as_type(value, parameter.ty()) {
            *value = cast;
        }
    }
    event
}

/// The states after one event. The set is empty if the system has no such action.
pub fn step(iosts: &Iosts, state: &State, event: &Event) -> BTreeSet<State> {
    let Some(action) = iosts.find_action(&event.action) else { return BTreeSet::new() };
    step_by(iosts, state, action, &event.values)
}

fn step_by(iosts: &Iosts, state: &State, action: ActionId, values: &[Value]) -> BTreeSet<State> {
    let candidates = iosts.transitions.iter().filter(|t| t.source == state.location && t.action == action);
    candidates.filter_map(|transition| fire(iosts, transition, state, values)).collect()
}

/// Adds the states that are reachable by internal steps alone.
///
/// Ends because a system without livelock has finitely many internal steps.
pub fn internal_closure(iosts: &Iosts, states: BTreeSet<State>) -> BTreeSet<State> {
    let internal: Vec<ActionId> =
        iosts.action_ids().filter(|id| iosts.action(*id).kind == ActionKind::Internal).collect();
    let mut closed = states.clone();
    let mut unvisited: Vec<State> = states.into_iter().collect();
    while let Some(state) = unvisited.pop() {
        for action in &internal {
            for next in step_by(iosts, &state, *action, &[]) {
                if closed.insert(next.clone()) {
                    unvisited.push(next);
                }
            }
        }
    }
    closed
}

/// M after σ (Definition 4.16) from the given states, with internal steps before, between and after the
/// events.
pub fn after(iosts: &Iosts, from: BTreeSet<State>, trace: &[Event]) -> BTreeSet<State> {
    let mut states = internal_closure(iosts, from);
    for event in trace {
        let next = states.iter().flat_map(|state| step(iosts, state, event)).collect();
        states = internal_closure(iosts, next);
    }
    states
}
