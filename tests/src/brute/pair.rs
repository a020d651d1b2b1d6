//! A specification and its purpose side by side: what `complete` and `product` mean, in one definition.
//!
//! A state is a state of the specification with a state of the purpose. For each step of the specification the purpose
//! takes every transition of the same action that it can take, reading the specification's data before the step
//! (Definition 5.4, rule 5.11). Where it can take none, completion decides (Algorithm 7.1 in its corrected form): it goes
//! to Reject if it has a transition of this action that leads elsewhere, and stays otherwise; in Accept it stays.
//! Nothing symbolic is made here: the residual is decided anew for each state and event.

use coreach_model::Value;
use coreach_model::iosts::{Iosts, LocationId};
use coreach_model::term::evaluate::Valuation;

use super::TooLarge;
use super::alphabet::Alphabet;
use super::explore::{Concrete, Label, State, System, bind, coreachable, explore, fire, labels, solutions};
use crate::generator::Pair;

/// Where a purpose is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// At a location of the user's.
    At(LocationId),
    /// At the Reject that completion makes where the user has none.
    Rejected,
}

/// A state of both.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct PairState {
    /// The specification's.
    pub specification: State,
    /// The purpose's location.
    pub place: Place,
    /// The purpose's own variables.
    pub own: Vec<Value>,
}

/// What is known about one instance of a pair.
pub struct Instance {
    /// The constants of both.
    pub constants: Valuation,
    /// The specification alone.
    pub specification: System<State>,
    /// Both together.
    pub both: System<PairState>,
    /// For each state of both: is the purpose in Accept?
    pub accepting: Vec<bool>,
    /// For each state of both: can Accept be reached from it?
    pub alive: Vec<bool>,
}

impl Instance {
    /// Explores one instance.
    ///
    /// # Errors
    /// More than `limit` states.
    pub fn explore(
        pair: &Pair,
        constants: &Valuation,
        alphabet: &Alphabet,
        limit: usize,
    ) -> Result<Self, TooLarge> {
        let concrete = Concrete::new(&pair.specification, constants, alphabet);
        let specification = concrete.explore(limit)?;
        let both = explore_both(pair, constants, alphabet, limit)?;
        let accept = Place::At(pair.purpose.accept);
        let accepting: Vec<bool> = both.states.iter().map(|state| state.place == accept).collect();
        let alive = coreachable(&both.graph, &accepting);
        Ok(Instance { constants: constants.clone(), specification, both, accepting, alive })
    }
}

fn explore_both(
    pair: &Pair,
    constants: &Valuation,
    alphabet: &Alphabet,
    limit: usize,
) -> Result<System<PairState>, TooLarge> {
    let purpose = &pair.purpose.iosts;
    let specification = Concrete::new(&pair.specification, constants, alphabet);
    let own = solutions(&purpose.variables, &purpose.initial_condition, constants);
    let mut initial = Vec::new();
    for state in specification.initial() {
        for own in &own {
            let place = Place::At(purpose.initial);
            initial.push(PairState { specification: state.clone(), place, own: own.clone() });
        }
    }
    let outgoing = pair.specification.outgoing();
    explore(initial, limit, |state| {
        let mut found = Vec::new();
        let before = specification.valuation(&state.specification);
        for &number in &outgoing[state.specification.location.0 as usize] {
            let transition = &pair.specification.transitions[number];
            let action = &pair.specification.action(transition.action).name;
            for label in labels(&pair.specification, transition, alphabet) {
                let mut valuation = before.clone();
                bind(&pair.specification, transition, alphabet, label, &mut valuation);
                let Some(assigned) = fire(transition, &valuation) else { continue };
                let mut variables = state.specification.variables.clone();
                for (place, variable) in variables.iter_mut().zip(&pair.specification.variables) {
                    if let Some(value) = assigned.get(variable) {
                        *place = value.clone();
                    }
                }
                let after = State { location: transition.target, variables };
                for (place, own) in follow(pair, state, &before, action, label, alphabet) {
                    found.push((label, PairState { specification: after.clone(), place, own }));
                }
            }
        }
        found
    })
}

/// Where the purpose may be after a step of the specification from a state in which data have these values.
pub fn follow(
    pair: &Pair,
    state: &PairState,
    before: &Valuation,
    action: &str,
    label: Label,
    alphabet: &Alphabet,
) -> Vec<(Place, Vec<Value>)> {
    let Place::At(location) = state.place else { return vec![(state.place, state.own.clone())] };
    let purpose: &Iosts = &pair.purpose.iosts;
    let mut valuation = before.clone();
    valuation.extend(purpose.variables.iter().cloned().zip(state.own.iter().cloned()));
    let here: Vec<_> = purpose
        .transitions
        .iter()
        .filter(|t| t.source == location && purpose.action(t.action).name == action)
        .collect();
    let mut found = Vec::new();
    for transition in &here {
        bind(purpose, transition, alphabet, label, &mut valuation);
        if let Some(assigned) = fire(transition, &valuation) {
            let mut own = state.own.clone();
            for (place, variable) in own.iter_mut().zip(&purpose.variables) {
                if let Some(value) = assigned.get(variable) {
                    *place = value.clone();
                }
            }
            found.push((Place::At(transition.target), own));
        }
    }
    if found.is_empty() {
        let elsewhere = here.iter().any(|t| Some(t.target) != pair.purpose.reject);
        let place = if elsewhere && location != pair.purpose.accept {
            pair.purpose.reject.map_or(Place::Rejected, Place::At)
        } else {
            state.place
        };
        found.push((place, state.own.clone()));
    }
    found
}
