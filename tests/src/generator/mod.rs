//! Random specifications and purposes, made to be difficult.
//!
//! **Problem.** Uniform noise finds little: most guards of a random model exclude each other or hold always,
//! most data are never read again, and most purposes cannot be met.
//!
//! **Method.** Everything is small and finite, so that [`crate::brute`] can know it exactly, and biased
//! towards what a stage can get wrong: few actions, used again and again; guards that overlap or complement
//! one another; guards on what was assigned before; assignments that leave their variable's type; choices
//! that only a later event resolves; internal steps before, between and beside visible ones (forward only, so
//! that they cannot follow each other for ever); purposes drawn along a walk through the specification, so
//! that `Accept` is often in reach, and not always; now and then it is where the purpose begins, or no
//! transition leads to it. Operations that do not always have a value (`div`, `mod`, `/`, reads and stores of
//! arrays) stand everywhere: in guards, values, initial conditions and purposes, below `if`, `&&`, `||`, `=>`
//! and chains, and in conditions that a simplifier takes for constants, like `10 div x == 10 div x`
//! (`foldable`). A model is made as text ([`crate::source`]), so nothing that simplifies has seen it when the
//! reader does. Most pairs with a choice that nothing ever resolves are drawn again: `determinize` would
//! stop, and the stages behind it would see nothing of them.
//!
//! **Ends** by construction: every loop runs over a number drawn from [`Shape`]. A seed and a shape determine
//! the pair.

mod data;
pub mod edges;
mod foldable;
mod purpose;
pub mod random;
mod specification;
pub mod terms;
pub mod timed;
pub mod timed_purpose;
pub mod unbounded;

use random::Random;

use crate::brute::ambiguity::{any, is_ambiguous_for_ever};
use crate::brute::pair::Instance;
use crate::properties::{Known, Limits};
pub use crate::source::Pair;

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
    /// A transition gets a companion of the same action: its complement, an overlap, or a choice resolved
    /// later.
    pub companions: usize,
    /// A term leaves linear arithmetic.
    pub nonlinear: usize,
    /// A model has an array.
    pub arrays: usize,
    /// A model has a record.
    pub records: usize,
    /// It is a list, an option or a variant.
    pub collections: usize,
    /// A datum is a string.
    pub strings: usize,
    /// A datum is an id.
    pub ids: usize,
    /// A number is an operation that does not always have a value.
    pub partial: usize,
    /// A condition is one that simplifying takes for a constant, though a part of it may have no value.
    pub foldable: usize,
    /// Something is written shortly that could be written at length.
    pub short: usize,
    /// A pair in which little happens, or in which `Accept` is out of reach, is drawn again.
    pub lively: usize,
    /// Two actions call their parameters by the same name.
    pub same_parameter_names: usize,
    /// A transition takes only what the others of its location and action leave.
    pub exclusive: usize,
    /// A pair is drawn again where brute force sees a choice that stays open for ever.
    pub lookahead: usize,
    /// The purpose begins in `Accept`.
    pub accepts_at_once: usize,
    /// No transition of the purpose leads to `Accept`.
    pub accepts_never: usize,
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
            arrays: 20,
            records: 15,
            collections: 0,
            strings: 0,
            ids: 0,
            partial: 12,
            foldable: 14,
            short: 0,
            lively: 80,
            same_parameter_names: 25,
            exclusive: 75,
            lookahead: 85,
            accepts_at_once: 2,
            accepts_never: 2,
        }
    }
}

impl Shape {
    /// The shape of the pair of this seed: of every fourth one that is not among the first thousand, much is
    /// written shortly; half of the others of even number have lists, options or variants, and one in eight
    /// has ids.
    pub fn of(seed: u64) -> Self {
        let short = if seed > 1_000 && seed.is_multiple_of(4) { 35 } else { 0 };
        // What is short is of arrays and records.
        let more = if short > 0 { 60 } else { 0 };
        let plain = Shape::default();
        let collections = if seed > 1_000 && seed % 4 == 2 { 60 } else { 0 };
        // Half of those with ids have lists or options of them.
        let ids = if seed > 1_000 && seed % 8 == 3 { 100 } else { 0 };
        let collections = if ids > 0 && seed % 16 == 3 { 60 } else { collections };
        Shape { short, arrays: plain.arrays + more, records: plain.records + more, collections, ids, ..plain }
    }
}

/// Where a purpose's `Accept` lies.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Accepting {
    /// Behind a walk through the specification.
    Later,
    /// The purpose begins there.
    AtOnce,
    /// Nothing leads there.
    Never,
}

/// The pair of this seed.
pub fn generate(seed: u64, shape: &Shape) -> Pair {
    let mut random = Random::new(seed);
    let accepting = match (random.chance(shape.accepts_at_once), random.chance(shape.accepts_never)) {
        (true, _) => Accepting::AtOnce,
        (_, true) => Accepting::Never,
        _ => Accepting::Later,
    };
    let wants_life = random.chance(shape.lively) && accepting == Accepting::Later;
    let wants_lookahead = random.chance(shape.lookahead);
    let mut attempts = 0;
    loop {
        let specification = specification::specification(&mut random, shape);
        let purpose = purpose::purpose(&mut random, shape, &specification, accepting);
        let pair = Pair { specification, purpose };
        attempts += 1;
        if attempts == MAX_ATTEMPTS || is_wanted(&pair, wants_life, wants_lookahead) {
            return pair;
        }
    }
}

/// The most pairs that one seed draws.
const MAX_ATTEMPTS: usize = 16;

/// The most pairs of states that are looked at for a choice that stays open.
const MOST_PAIRS: usize = 20_000;

/// Does something happen, and can it end in `Accept`, not at once? Is every choice resolved? Brute force
/// knows, as far as it is asked.
fn is_wanted(pair: &Pair, life: bool, lookahead: bool) -> bool {
    if !life && !lookahead {
        return true;
    }
    let limits = Limits { instances: 2, states: 400, ..Limits::default() };
    let Ok(known) = Known::of(pair, &limits) else { return false };
    let is_lively = |instance: &Instance| {
        let starts = |state: &u32| {
            let state = *state as usize;
            instance.alive[state] && !instance.accepting[state]
        };
        instance.both.states.len() >= 8 && instance.both.graph.initial.iter().any(starts)
    };
    let is_open = |instance: &Instance| {
        // What is too large to tell may stay.
        is_ambiguous_for_ever(&instance.both.graph, MOST_PAIRS, any).unwrap_or(false)
    };
    (!life || known.instances.iter().any(is_lively)) && !(lookahead && known.instances.iter().any(is_open))
}
