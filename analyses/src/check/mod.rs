//! Checks with a solver: they find mistakes in a user's text that no syntax shows.
//!
//! There is one file per question, and the answers are diagnostics on the user's own text. Each file says
//! what it does if the solver does not know: this is never taken for "all is well".
//!
//! - [`initialized`]: does the initial condition determine what is read before it is written, and can it hold
//!   at all?
//! - [`guards`]: can each transition be taken, and do two of one action meet in a single value?
//! - [`domains`]: does each guard make its transition's operations defined and its assignments fit their
//!   types?
//! - [`observations`]: does exactly one transition of a test case take each observation?

pub mod domains;
pub mod guards;
pub mod initialized;
mod likely;
pub mod observations;

use coreach_model::limits::MANY_SHOWN;
use coreach_model::reader::collect::LIMIT;
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Diagnostic, Iosts};

use crate::solver::Solver;

/// Runs all checks of a specification or a purpose, in the order of its text: the initial condition, then the
/// transitions.
pub fn check(iosts: &Iosts, solver: &mut dyn Solver) -> Vec<Diagnostic> {
    let mut diagnostics = initialized::check(iosts, solver);
    let never = guards::find_never_true(iosts, solver);
    let narrow: Vec<Datum> = never.iter().filter_map(|(_, narrow)| narrow.clone()).collect();
    diagnostics.extend(never.into_iter().map(|(warning, _)| warning));
    diagnostics.extend(guards::check_meeting(iosts, solver));
    diagnostics.extend(domains::check(iosts, &narrow, solver));
    diagnostics
}

fn warn_of_more() -> Diagnostic {
    let message = format!("coreach stops after {LIMIT} warnings of one kind");
    Diagnostic::warning("too-many-warnings", message)
}

/// A condition of more different parts than this is not asked for the sake of a warning.
const MOST_PARTS: usize = 1_000;

/// A valuation in one line: `cPrice = 1, vPaid = 2`.
fn show(valuation: &Valuation) -> String {
    if valuation.is_empty() {
        return "always".to_owned();
    }
    let first = valuation.iter().take(MANY_SHOWN);
    let mut parts: Vec<String> = first.map(|(datum, value)| format!("{datum} = {value}")).collect();
    if valuation.len() > MANY_SHOWN {
        parts.push(format!("and {} more", valuation.len() - MANY_SHOWN));
    }
    parts.join(", ")
}

#[cfg(test)]
pub(crate) mod builder;
