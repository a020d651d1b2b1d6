//! Implementations that are wrong in one place: the mutants of a specification that `coreach mutate` makes,
//! and in [`explicit`] those of its states.
//!
//! An operator says *how* a mutant differs; whether the difference shows is decided by brute force (ioc and
//! ioc_TP), for many mutants conform. Each operator names what it did, so that a finding can be repeated by
//! hand.

pub mod explicit;

pub use coreach_execution::mutation::{Mutant, MutationOperator, mutate};
use coreach_model::Iosts;
use coreach_model::random::Random;

/// Some mutant; `None` where a number of attempts found no operator that applies.
pub fn mutant(random: &mut Random, specification: &Iosts) -> Option<Mutant> {
    (0..20).find_map(|_| {
        let operator = *random.pick(&MutationOperator::ALL)?;
        mutate(random, specification, operator)
    })
}
