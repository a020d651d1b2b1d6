//! A specification and its purpose side by side: what `complete` and `product` mean, in one definition.
//!
//! A state is a state of the specification with a state of the purpose. For each step of the specification
//! the purpose takes every transition of the same action that it can take, reading the specification's data
//! before the step (Definition 5.4, rule 5.11). Where it can take none, completion decides (Algorithm 7.1 in
//! its corrected form): it goes to Reject if it has a transition of this action that leads elsewhere, and
//! stays otherwise; in Accept it stays. Nothing symbolic is made here: the residual is decided anew for each
//! state and event.

use super::TooLarge;
use super::alphabet::Alphabet;
use super::explore::{Concrete, Label, State, System, bind, coreachable, explore, labels, solutions};
use super::machine::{Constants, Machine, assigned};
use super::text::{self, Purpose};
use super::value::Value;

/// A pair as the oracle reads it.
#[derive(Clone, Debug)]
pub struct Behaviour {
    /// The specification.
    pub specification: Machine,
    /// The purpose.
    pub purpose: Purpose,
}

impl Behaviour {
    /// Reads the text of both.
    ///
    /// # Errors
    /// One is not in the model format.
    pub fn read(specification: &str, purpose: &str) -> Result<Self, String> {
        let specification = text::specification(specification)?;
        let purpose = text::purpose(purpose, &specification)?;
        Ok(Behaviour { specification: specification.machine, purpose })
    }

    /// What the purpose's constants are in a state of the specification: its own as given, the observed data
    /// as they are there.
    pub fn seen(&self, constants: &Constants, state: &State) -> Constants {
        let mut seen = constants.clone();
        for datum in &self.purpose.machine.constants[self.purpose.own_constants..] {
            let at = self.specification.variables.iter().position(|variable| variable.name == datum.name);
            if let Some(at) = at {
                seen.insert(datum.name.clone(), state.variables[at].clone());
            }
        }
        seen
    }
}

/// Where a purpose is.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Place {
    /// At a location of the user's.
    At(u32),
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
    pub constants: Constants,
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
        pair: &Behaviour,
        constants: &Constants,
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
    pair: &Behaviour,
    constants: &Constants,
    alphabet: &Alphabet,
    limit: usize,
) -> Result<System<PairState>, TooLarge> {
    let purpose = &pair.purpose.machine;
    let machine = &pair.specification;
    let specification = Concrete::new(machine, constants, alphabet);
    let mut initial = Vec::new();
    for state in specification.initial() {
        // The condition of a purpose does not mention what it observes.
        for own in solutions(purpose, &pair.seen(constants, &state)) {
            let place = Place::At(purpose.initial);
            initial.push(PairState { specification: state.clone(), place, own });
        }
    }
    explore(initial, limit, |state| {
        let mut found = Vec::new();
        let before = &state.specification;
        let mut places = specification.places(before);
        let seen = pair.seen(constants, before);
        for step in machine.steps.iter().filter(|step| step.source == before.location) {
            for label in labels(machine, step, alphabet) {
                bind(machine, alphabet, label, &mut places);
                let Some(changes) = step.fire(machine, &places) else { continue };
                let after = State { location: step.target, variables: assigned(&before.variables, changes) };
                let action = &machine.actions[step.action].name;
                for (place, own) in follow(pair, state, &seen, action, label, alphabet) {
                    found.push((label, PairState { specification: after.clone(), place, own }));
                }
            }
        }
        found
    })
}

/// Where the purpose may be after a step of the specification from a state in which it sees these values
/// ([`Behaviour::seen`]).
pub fn follow(
    pair: &Behaviour,
    state: &PairState,
    seen: &Constants,
    action: &str,
    label: Label,
    alphabet: &Alphabet,
) -> Vec<(Place, Vec<Value>)> {
    let Place::At(location) = state.place else { return vec![(state.place, state.own.clone())] };
    let purpose = &pair.purpose.machine;
    let mut places = purpose.places(seen, &state.own);
    bind(purpose, alphabet, label, &mut places);
    let of_this =
        |step: &&super::machine::Step| step.source == location && purpose.actions[step.action].name == action;
    let mut found = Vec::new();
    let mut elsewhere = false;
    for step in purpose.steps.iter().filter(of_this) {
        elsewhere |= Some(step.target) != pair.purpose.reject;
        if let Some(changes) = step.fire(purpose, &places) {
            found.push((Place::At(step.target), assigned(&state.own, changes)));
        }
    }
    if found.is_empty() {
        let place = if elsewhere && location != pair.purpose.accept {
            pair.purpose.reject.map_or(Place::Rejected, Place::At)
        } else {
            state.place
        };
        found.push((place, state.own.clone()));
    }
    found
}
