//! Finds which of several transitions can be taken together. Every subset construction needs this.

use std::collections::{BTreeSet, VecDeque};

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::{Term, budget};

use crate::limits::{Limits, Quantity};
use crate::stage::Stage;
use crate::stages::lookahead::for_each_overlap;
use crate::stop::{Stop, check_limit};

/// Finds the non-empty sets of candidates that can be enabled together while all other candidates are not.
/// The sets are in ascending order, each with its guard. They can be enabled where the `context` holds; their
/// guards exclude each other everywhere.
///
/// Two candidates that exclude each other need no negation, so a deterministic location keeps its guards.
/// Candidates are decided one after the other, as accepted and as refused, as long as the decisions can hold.
/// Every branch that is followed ends in a set. So the number of queries is at most the number of sets times
/// the candidates that overlap.
pub(super) fn satisfiable_subsets(
    guards: &[Term],
    context: &[Term],
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Vec<(Vec<usize>, Term)>, Stop> {
    let can_hold = |decided: &[Term], solver: &mut dyn Solver| {
        let formula: Vec<Term> =
            context.iter().cloned().chain(decided.iter().flat_map(Term::conjuncts)).collect();
        may_hold(solver, &formula)
    };
    let mut overlapping = vec![BTreeSet::new(); guards.len()];
    for_each_overlap(guards, limits, solver, &mut |a, b, _| {
        overlapping[a].insert(b);
        overlapping[b].insert(a);
    })?;
    let mut found: Vec<(Vec<usize>, Term)> = Vec::new();
    // All branches of the same length are decided before longer ones. Each can hold and ends in a subset of
    // its own, so too many of them are noticed while the questions are still short.
    let mut branches: VecDeque<Branch> = VecDeque::new();
    for first in 0..guards.len() {
        // Each branch begins with its smallest member, so the overlapping candidates before it are refused.
        let smaller_refused = overlapping[first].range(..first).map(|&smaller| guards[smaller].not());
        let decided: Vec<Term> = std::iter::once(guards[first].clone()).chain(smaller_refused).collect();
        let open = overlapping[first].range(first + 1..).copied().collect();
        // Whoever made the candidates has asked whether each guard alone can hold.
        if decided.len() == 1 || can_hold(&decided, solver) {
            branches.push_back(Branch { members: vec![first], decided, open });
        }
    }
    while let Some(branch) = branches.pop_front() {
        budget::ask();
        // Each candidate begins one branch, so only the further ones are counted. The 1 is this branch.
        let further_branches = (found.len() + branches.len() + 1).saturating_sub(guards.len());
        check_limit(Stage::Determinize, Quantity::Subsets, further_branches, limits)?;
        let Some((&next, later)) = branch.open.split_first() else {
            let guard = branch.guard(guards, &overlapping);
            found.push((branch.members, guard));
            continue;
        };
        let decide = |part: Term| branch.decided.iter().cloned().chain([part]).collect::<Vec<_>>();
        let (accepted, refused) = (decide(guards[next].clone()), decide(guards[next].not()));
        let can_be_accepted = can_hold(&accepted, solver);
        if can_be_accepted {
            let members = branch.members.iter().copied().chain([next]).collect();
            // A candidate that excludes the new member needs no decision.
            let open = later.iter().copied().filter(|index| overlapping[next].contains(index)).collect();
            branches.push_back(Branch { members, decided: accepted, open });
        }
        // If the branch can hold, it can hold in one of the two ways.
        if !can_be_accepted || can_hold(&refused, solver) {
            branches.push_back(Branch { members: branch.members, decided: refused, open: later.to_vec() });
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(found)
}

/// A subset that is decided up to some candidate.
struct Branch {
    members: Vec<usize>,
    /// The guards of the members, and the negations of the refused guards.
    decided: Vec<Term>,
    /// The candidates that may still be taken together with all of the members, the next one first.
    open: Vec<usize>,
}

impl Branch {
    /// Makes the guard of the subset: all guards of the members, and none of those that overlap with all of
    /// the members.
    fn guard(&self, guards: &[Term], overlapping: &[BTreeSet<usize>]) -> Term {
        let member_guards = self.members.iter().map(|&member| guards[member].clone());
        let overlaps_all =
            |other: &usize| self.members.iter().all(|member| overlapping[*member].contains(other));
        // A candidate that overlaps all members overlaps the first one.
        let excluded = overlapping[self.members[0]].iter().filter(|other| overlaps_all(other));
        Term::and(member_guards.chain(excluded.map(|&other| guards[other].not())))
    }
}
