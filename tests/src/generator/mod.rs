//! Random specifications and purposes, made to be difficult.
//!
//! **Problem.** Uniform noise finds little: most guards of a random model exclude each other or hold always, most data
//! are never read again, and most purposes cannot be met.
//!
//! **Method.** Everything is small and finite, so that [`crate::brute`] can know it exactly, and biased towards what a
//! stage can get wrong: few actions, used again and again; guards that overlap or complement one another; guards on
//! what was assigned before; assignments that leave their variable's type; choices that only a later event resolves;
//! internal steps before, between and beside visible ones (forward only, so that they cannot follow each other for ever);
//! purposes drawn along a walk through the specification, so that `Accept` is often in reach, and not always.
//! Operations outside linear arithmetic, partial ones and arrays occur now and then.
//!
//! **Ends** by construction: every loop runs over a number drawn from [`Shape`]. A seed and a shape determine the pair.

mod data;
mod purpose;
pub mod random;
mod specification;
mod terms;

use coreach_model::iosts::{Iosts, TestPurpose};
use random::Random;

use crate::properties::{Known, Limits};

/// A specification and a purpose of it: a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The specification.
    pub specification: Iosts,
    /// The purpose.
    pub purpose: TestPurpose,
}

/// Sizes, as least and most, and densities, as cases out of a hundred.
#[derive(Clone, Debug)]
pub struct Shape {
    /// Locations of the specification, before the gadgets that resolve a choice late.
    pub locations: (usize, usize),
    /// Transitions of the specification beyond those that reach every location.
    pub extra_transitions: (usize, usize),
    /// Its variables.
    pub variables: (usize, usize),
    /// Its constants.
    pub constants: (usize, usize),
    /// Its inputs.
    pub inputs: (usize, usize),
    /// Its outputs.
    pub outputs: (usize, usize),
    /// Its internal actions.
    pub internals: (usize, usize),
    /// Parameters of an action.
    pub parameters: (usize, usize),
    /// Values of an integer range.
    pub range: (usize, usize),
    /// Locations of the purpose beside `Accept` and `Reject`.
    pub purpose_locations: (usize, usize),
    /// Transitions of the purpose beside the way to `Accept`.
    pub purpose_transitions: (usize, usize),
    /// A variable of the purpose's own.
    pub purpose_variable: usize,
    /// A constant of the purpose's own.
    pub purpose_constant: usize,
    /// A step of the specification is internal.
    pub internal_steps: usize,
    /// A transition gets a companion of the same action: its complement, an overlap, or a choice resolved later.
    pub companions: usize,
    /// A term leaves linear arithmetic.
    pub nonlinear: usize,
    /// A model has an array.
    pub arrays: usize,
    /// A pair in which little happens, or in which `Accept` is out of reach, is drawn again.
    pub lively: usize,
    /// Two actions call their parameters by the same name.
    pub same_parameter_names: usize,
}

impl Default for Shape {
    fn default() -> Self {
        Shape {
            locations: (2, 4),
            extra_transitions: (1, 4),
            variables: (1, 3),
            constants: (0, 1),
            inputs: (1, 2),
            outputs: (1, 3),
            internals: (0, 2),
            parameters: (0, 1),
            range: (2, 4),
            purpose_locations: (1, 2),
            purpose_transitions: (0, 3),
            purpose_variable: 35,
            purpose_constant: 20,
            internal_steps: 20,
            companions: 30,
            nonlinear: 8,
            arrays: 12,
            lively: 80,
            same_parameter_names: 25,
        }
    }
}

/// The pair of this seed.
pub fn generate(seed: u64, shape: &Shape) -> Pair {
    let mut random = Random::new(seed);
    let wants_life = random.chance(shape.lively);
    let mut attempts = 0;
    loop {
        let specification = specification::specification(&mut random, shape);
        let purpose = purpose::purpose(&mut random, shape, &specification);
        let pair = Pair { specification, purpose };
        attempts += 1;
        if !wants_life || attempts == MAX_ATTEMPTS || is_lively(&pair) {
            return pair;
        }
    }
}

/// The most pairs that one seed draws.
const MAX_ATTEMPTS: usize = 12;

/// Does something happen, and can it end in `Accept`, not at once? Brute force knows.
fn is_lively(pair: &Pair) -> bool {
    let limits = Limits { instances: 2, states: 400, ..Limits::default() };
    let Ok(known) = Known::of(pair, &limits) else { return false };
    known.instances.iter().any(|instance| {
        let starts = |state: &u32| {
            let state = *state as usize;
            instance.alive[state] && !instance.accepting[state]
        };
        instance.both.states.len() >= 8 && instance.both.graph.initial.iter().any(starts)
    })
}
