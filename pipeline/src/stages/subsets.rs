//! Finds which of several transitions can be taken together. Every subset construction needs this.

use std::collections::{BTreeSet, VecDeque};

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::{Term, budget};

use crate::limits::{Limits, Quantity};
use crate::stage::Stage;
use crate::stages::lookahead::for_each_overlap;
use crate::stop::{Stop, check_limit};

/// Finds the non-empty subsets that can be enabled without the rest, each with its guard, in order.
///
/// Two candidates that exclude each other need no negation, so that a deterministic location keeps its
/// guards. Candidates are decided one after the other, each as taken and as not taken, and only as far as
/// what was decided can hold: every branch that is followed ends in a subset, so the questions are as many as
/// the subsets times the candidates that overlap, and not as many as there are subsets of any kind.
///
/// Only subsets that can be enabled where the `context` holds are wanted. The guards exclude each other
/// everywhere all the same.
pub(super) fn satisfiable_subsets(
    guards: &[Term],
    context: &[Term],
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Vec<(Vec<usize>, Term)>, Stop> {
    let possible = |decided: &[Term], solver: &mut dyn Solver| {
        let formula: Vec<Term> = context.iter().cloned().chain(all_conjuncts(decided)).collect();
        may_hold(solver, &formula)
    };
    let mut overlapping = vec![BTreeSet::new(); guards.len()];
    for_each_overlap(guards, limits, solver, &mut |a, b, _| {
        overlapping[a].insert(b);
        overlapping[b].insert(a);
    })?;
    let mut found = Vec::new();
    // All branches of the same length are decided before longer ones. Each can hold and ends in a subset of
    // its own, so too many of them are noticed while the questions are still short.
    let mut work: VecDeque<Branch> = VecDeque::new();
    for first in 0..guards.len() {
        let before = overlapping[first].range(..first).map(|&at| guards[at].not());
        let decided: Vec<Term> = std::iter::once(guards[first].clone()).chain(before).collect();
        let open = overlapping[first].range(first + 1..).copied().collect();
        if decided.len() == 1 || possible(&decided, solver) {
            work.push_back(Branch { members: vec![first], decided, open });
        }
    }
    while let Some(branch) = work.pop_front() {
        budget::ask();
        // This counts the branch itself and those that are known already.
        let more = (found.len() + work.len() + 1).saturating_sub(guards.len());
        check_limit(Stage::Determinize, Quantity::Subsets, more, limits)?;
        let Some((&next, rest)) = branch.open.split_first() else {
            found.push((branch.guard(guards, &overlapping), branch.members));
            continue;
        };
        let with = |part: Term| branch.decided.iter().cloned().chain([part]).collect::<Vec<_>>();
        let (taken, left) = (with(guards[next].clone()), with(guards[next].not()));
        let can_be_taken = possible(&taken, solver);
        if can_be_taken {
            let members = branch.members.iter().copied().chain([next]).collect();
            let open = rest.iter().copied().filter(|at| overlapping[next].contains(at)).collect();
            work.push_back(Branch { members, decided: taken, open });
        }
        // If the branch can hold, it can hold in one of the two ways.
        if !can_be_taken || possible(&left, solver) {
            work.push_back(Branch { members: branch.members, decided: left, open: rest.to_vec() });
        }
    }
    let mut found: Vec<_> = found.into_iter().map(|(guard, members)| (members, guard)).collect();
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(found)
}

/// A subset that is decided up to some candidate.
struct Branch {
    members: Vec<usize>,
    /// The guards of the members, and the negations of the guards that are decided not to be taken.
    decided: Vec<Term>,
    /// The candidates that may still be taken together with all of the members, the next one first.
    open: Vec<usize>,
}

impl Branch {
    /// The guard of the subset: it asks for all guards of the members, and for none of those that overlap
    /// with each of them.
    fn guard(&self, guards: &[Term], overlapping: &[BTreeSet<usize>]) -> Term {
        let members = self.members.iter().map(|&at| guards[at].clone());
        let with_all = |at: &usize| self.members.iter().all(|member| overlapping[*member].contains(at));
        let excluded = overlapping[self.members[0]].iter().filter(|at| with_all(at));
        Term::and(members.chain(excluded.map(|&at| guards[at].not())))
    }
}

fn all_conjuncts(parts: &[Term]) -> Vec<Term> {
    parts.iter().flat_map(Term::conjuncts).collect()
}
