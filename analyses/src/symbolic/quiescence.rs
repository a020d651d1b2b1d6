//! The condition on its data under which a system is quiescent.
//!
//! **Problem.** Silence is an observation only if it is an event of the specification: ioco compares it as it
//! compares outputs.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006), Definition 4: an output δ whose guard is that no
//! output's guard holds. **Where we differ**: internal steps count like outputs, because a system that can
//! take one is not at rest (Tretmans 1996). An output carries values, so "its guard holds" means "there are
//! values for which it holds". The quantifier is eliminated exactly, or there is no condition
//! ([`super::existence`]). The other conditions of a transition count as well. And δ leads back to the state
//! that it leaves. In the publication it leads to a location without transitions, after which everything
//! conforms. This variant is kept for the figures there ([`Quiescence::Sink`]).

use coreach_model::iosts::ActionKind;
use coreach_model::{LocationId, Numbered, Term};

use super::existence::eliminate_bound;
use super::{SymbolicState, System};
use crate::solver::Solver;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Quiescence {
    /// It is not observed: the tree is the system's own.
    #[default]
    Unseen,
    /// It is an output that changes nothing.
    Loop,
    /// It is an output after which nothing is specified.
    Sink,
}

/// Computes for each location the condition under which a state is quiescent. `None`: it needs a quantifier.
pub fn quiescence(system: &System<'_>, solver: &mut dyn Solver) -> Numbered<LocationId, Option<Term>> {
    let iosts = system.iosts;
    let condition_at = |location: LocationId| {
        let mut parts = Vec::new();
        for number in &system.outgoing[location] {
            let action = iosts.action_of(*number);
            if action.kind != ActionKind::Input {
                parts.push(eliminate_bound(&action.parameters, system.enabled(*number), solver)?.not());
            }
        }
        Some(Term::and(parts))
    };
    iosts.location_ids().map(condition_at).collect()
}

/// The state after quiescence, and whether its condition is complete. There is no state if its condition is
/// false by its form.
pub(super) fn rest_quiescent(from: &SymbolicState, quiet: Option<&Term>) -> (Option<SymbolicState>, bool) {
    let rested = quiet.map_or_else(|| from.clone(), |quiet| from.restricted_by(quiet));
    let state = SymbolicState { depth: from.depth + 1, ..rested };
    ((!state.is_refuted()).then_some(state), quiet.is_some())
}
