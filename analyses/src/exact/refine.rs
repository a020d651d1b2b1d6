//! Refines facts by the exact reference: the facts that prove that a transition lies on no run are conjoined.
//!
//! **Problem.** The exact reference knows more than the domains, such as parities, disjunctions, and facts
//! that widening lost. Selection should use this, and the facts should have a proof as before.
//!
//! **Method.** The facts that refute a transition are inductive within the domains' facts
//! ([`Refutation`](super::Refutation)), and stay inductive within any smaller inductive facts. So each
//! refutation adds two refinement iterations to the chain: a forward one with `reach` conjoined, and a
//! backward one with `coreach` conjoined as well. Each was checked when the reference was made, and the
//! checks of a test graph check the chain again. On a run of the strengthened graph, `coreach` of a location
//! holds in its states, so `reach` may say this too.
//!
//! **Ends**, and costs, as the reference does. A refutation is not used if the domains refute the same
//! transitions, because each makes the guards of a test case longer.

use std::collections::BTreeSet;

use coreach_model::{Iosts, Term};

use super::{ExactAnswer, exact};
use crate::inductive::{Orientation, RefinementIteration};
use crate::reachability::Facts;
use crate::solver::Solver;
use crate::solver::horn::HornEngine;

/// Refines the facts of an analysis of this graph. No transition may leave its accepting locations.
/// Afterwards `reach` is about runs within `coreach`. Without an engine the facts stay as they are, and every
/// transition counts as undecided.
/// Panics if `accepting` has not one entry for each location.
pub fn refine_facts(
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
    let is_unknown = |answer: &&ExactAnswer| matches!(answer, ExactAnswer::Unknown(_));
    facts.iterations.undecided = reference.transitions.iter().filter(is_unknown).count();
    // Refutation 0 is that of the domains. If their facts are not proved, no chain can begin with them.
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
    // At an accepting location each reached state counts.
    for ((reached, coreached), is_accepting) in facts.reach.iter_mut().zip(&within).zip(accepting) {
        if !is_accepting {
            *reached = Term::and([reached.clone(), coreached.clone()]);
        }
    }
    facts.coreach = within;
    facts
}
