//! What a user wrote, looked at with a solver: mistakes that no syntax shows.
//!
//! One file per question. The first three answer with diagnostics on the user's own text; the last two are information
//! for later stages. Each says what it does where the solver does not know: that is never taken for "all is well".
//!
//! - [`initialized`]: does the initial condition determine what is read before it is written, and can it hold at all?
//! - [`guards`]: can each transition be taken?
//! - [`domains`]: does each guard make its transition's operations defined and its assignments fit their types?
//! - [`choice`]: can two transitions of one action be enabled together?
//! - [`complete`]: is there a transition for every action, or every input, in every state?

pub mod choice;
pub mod complete;
pub mod domains;
pub mod guards;
pub mod initialized;

use coreach_model::term::evaluate::Valuation;
use coreach_model::{Diagnostic, Iosts};

use crate::solver::Solver;

/// What a search for something found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Search<T> {
    /// It is there, in the state and with the parameters given.
    Found(T, Valuation),
    /// It is not there, certainly.
    Nothing,
    /// Nothing was found, and the solver could not decide at least this candidate.
    Undecided(T),
}

/// All that is checked of a specification or a purpose, in the order of its text: the initial condition, then the
/// transitions.
pub fn check(iosts: &Iosts, solver: &mut dyn Solver) -> Vec<Diagnostic> {
    let mut found = initialized::check(iosts, solver);
    found.extend(guards::check(iosts, solver));
    found.extend(domains::check(iosts, solver));
    found
}

/// A valuation in one line: `cPrice = 1, vPaid = 2`.
fn show(valuation: &Valuation) -> String {
    if valuation.is_empty() {
        return "always".to_owned();
    }
    let parts: Vec<String> = valuation.iter().map(|(datum, value)| format!("{datum} = {value}")).collect();
    parts.join(", ")
}

#[cfg(test)]
mod builder;
