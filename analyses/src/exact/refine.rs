//! Facts made sharper by the exact reference: what proves that a transition lies on no run is conjoined.
//!
//! **Problem.** The exact reference knows more than the domains: parities, disjunctions, what widening lost.
//! Selection shall be able to use it, and whoever believes no analysis shall have a proof as before.
//!
//! **Method.** The facts that refute a transition are inductive within what the domains found
//! ([`Refutation`](super::Refutation)), and stay so within anything smaller that is inductive itself. So each
//! pair is two refinement iterations more of the chain: forward, what was known and `reach`; backward, that
//! and `coreach`. Each was checked when the reference was made, and the checks of a test graph check the
//! chain again. Where a state is on the way of a strengthened graph, `coreach` of its location holds of it,
//! so `reach` may say that too.
//!
//! **Ends**, and costs, as the reference does. Facts that refute nothing which the domains leave are not
//! taken: each makes the guards of a test case longer.

use std::collections::BTreeSet;

use coreach_model::{Iosts, Term};

use super::{ExactAnswer, exact};
use crate::inductive::{Orientation, RefinementIteration};
use crate::reachability::Facts;
use crate::solver::Solver;
use crate::solver::horn::HornEngine;

/// The facts of an analysis of this graph, which nothing leaves at an accepting location, made sharper. What
/// is reached is then said of runs within `coreach`. Without an engine they stay as they are, and nothing is
/// known of any transition.
/// Panics where `accepting` has not one entry for each location.
pub fn refined(
    iosts: &Iosts,
    accepting: &[bool],
    mut facts: Facts,
    engine: Option<Box<dyn HornEngine>>,
    solver: &mut dyn Solver,
) -> Facts {
    facts.iterations.undecided = iosts.transitions.len();
    let Some(mut engine) = engine else { return facts };
    let reference = exact(iosts, accepting, &facts.chain, &mut *engine, solver);
    let answers = || reference.transitions.iter().chain([&reference.purpose]);
    let is_open = |answer: &&ExactAnswer| matches!(answer, ExactAnswer::Unknown(_));
    facts.iterations.undecided = reference.transitions.iter().filter(is_open).count();
    // The first is what the domains found; where that is not proved, it is no beginning of a chain.
    let used: BTreeSet<usize> = answers()
        .filter_map(|answer| match answer {
            ExactAnswer::No(refutation) if *refutation > 0 => Some(*refutation),
            _ => None,
        })
        .collect();
    let Some(last) = facts.chain.last().filter(|_| !reference.facts_left_out && !used.is_empty()) else {
        return facts;
    };
    let mut within = last.facts.clone();
    for refutation in used.into_iter().map(|number| &reference.refutations[number]) {
        let sides = [(Orientation::Forward, &refutation.reach), (Orientation::Backward, &refutation.coreach)];
        for (orientation, added) in sides {
            for (known, added) in within.iter_mut().zip(added) {
                *known = Term::and([known.clone(), added.clone()]);
            }
            facts.chain.push(RefinementIteration { orientation, facts: within.clone() });
        }
    }
    for (at, reached) in facts.reach.iter_mut().enumerate() {
        if !accepting[at] {
            *reached = Term::and([reached.clone(), within[at].clone()]);
        }
    }
    facts.coreach = within;
    facts
}
