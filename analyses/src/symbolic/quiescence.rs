//! Where a system is quiescent, as a condition on its data.
//!
//! **Problem.** Silence is an observation only if it is an event of the specification: ioco compares it as it
//! compares outputs.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006), Definition 4: an output δ whose guard is that no
//! output's guard holds. **Where we differ**: internal steps count like outputs, for who can take one is not
//! at rest (Tretmans 1996). An output carries values, so "its guard holds" is "there are values for which it
//! does": the quantifier is taken away exactly, or there is no condition ([`super::existence`]). What a
//! transition asks for besides its guard is asked for here too. And δ leads back to the state that it leaves:
//! in the publication it leads to a location with nothing behind it, after which everything conforms. That
//! one is kept for its figures ([`Quiescence::Sink`]).

use coreach_model::iosts::ActionKind;
use coreach_model::{LocationId, Numbered, Term};

use super::existence::eliminate_bound;
use super::{SymbolicState, System};
use crate::solver::Solver;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Quiescence {
    /// Nothing: the tree is the system's own.
    #[default]
    Unseen,
    /// It is an output that changes nothing.
    Loop,
    /// It is an output behind which nothing is specified.
    Sink,
}

/// For each location when a state there is quiescent; nothing where that could not be said without a
/// quantifier.
pub fn quiescence(system: &System<'_>, solver: &mut dyn Solver) -> Numbered<LocationId, Option<Term>> {
    let iosts = system.iosts;
    let mut at = |location: LocationId| {
        let mut parts = Vec::new();
        for number in &system.outgoing[location] {
            let action = iosts.action(iosts.transitions[*number].action);
            if action.kind != ActionKind::Input {
                parts.push(eliminate_bound(&action.parameters, system.enabled(*number), solver)?.not());
            }
        }
        Some(Term::and(parts))
    };
    iosts.location_ids().map(&mut at).collect()
}

/// The state after having been quiescent, none where it cannot be by its shape; and whether its condition
/// says all.
pub(super) fn rested(from: &SymbolicState, quiet: Option<&Term>) -> (Option<SymbolicState>, bool) {
    let rested = quiet.map_or_else(|| from.clone(), |quiet| from.asking(quiet));
    let state = SymbolicState { depth: from.depth + 1, ..rested };
    ((!state.is_refuted()).then_some(state), quiet.is_some())
}
