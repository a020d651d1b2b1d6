//! Decides whether a bounded number of further events resolves every choice. `determinize` asks this.
//!
//! **Problem.** Where two transitions of one action can be taken together, the tester does not know which was
//! taken. It can postpone their effects and wait for an event that only one of them can be followed by. If
//! for some k no sequence of k actions can follow both, the lookahead is at most k and determinization ends.
//!
//! **Source.** Thesis, appendix A.2: Definition A.8 (choice), A.14 (k-follower), A.15 (lookahead), Algorithm
//! A.2.
//!
//! **Where we differ.** Algorithm A.2 counts one too many, takes a pair met twice on an acyclic part for a
//! cycle, and never looks at two transitions with one target. We search the *pair graph* depth-first. It has
//! the pairs of locations that a common sequence of actions reaches from the two targets. A cycle means that
//! there is no lookahead, and is returned with the way into it. Otherwise the lookahead is the longest path
//! plus one. Two transitions with one target and equal effects are one transition.
//!
//! The search does not read guards, so it may find a cycle that they exclude. **Ends**: at most |L|² pairs,
//! each expanded once. **Cost**: per pair, the product of the two out-degrees.

use std::collections::{BTreeMap, HashMap, HashSet};

use coreach_analyses::solver::{Solver, may_hold};
use coreach_model::budget;
use coreach_model::iosts::Iosts;
use coreach_model::term::Substitution;
use coreach_model::{ActionId, LocationId, Numbered, Term, TransitionId};

use crate::limits::{Limits, Quantity};
use crate::stage::Stage;
use crate::stop::{Stop, check_limit};

/// Two transitions of one location and action that can be taken together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct LookaheadChoice {
    pub first: TransitionId,
    pub second: TransitionId,
}

/// Whether a lookahead exists, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Lookahead {
    /// The smallest k; 0 without any choice. With the choice that needs it.
    Exists(usize, Option<LookaheadChoice>),
    /// A choice that common followers of every length leave open, and actions that show it.
    None {
        choice: LookaheadChoice,
        prefix: Vec<ActionId>,
        /// The actions of the cycle; never empty.
        cycle: Vec<ActionId>,
    },
}

/// Finds the choices of an IOSTS without internal actions (Definition A.8). For each location, action and
/// pair of targets it gives the first pair of transitions, since a lookahead depends on the targets only.
/// Transitions of one target with equal effects are no choice.
///
/// Over-approximation: two guards count as overlapping if the solver does not know.
pub fn find_choices(
    iosts: &Iosts,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<Vec<LookaheadChoice>, Stop> {
    let mut choices = Vec::new();
    for numbers in iosts.outgoing() {
        let mut by_action: BTreeMap<ActionId, Vec<TransitionId>> = BTreeMap::new();
        for &number in &numbers {
            by_action.entry(iosts.transitions[number].action).or_default().push(number);
        }
        let mut choices_of_location = Vec::new();
        for numbers in by_action.values().filter(|numbers| numbers.len() > 1) {
            choices_among(iosts, numbers, &mut choices_of_location, limits, solver)?;
        }
        choices_of_location.sort_by_key(|choice: &LookaheadChoice| (choice.first, choice.second));
        choices.extend(choices_of_location);
        check_limit(Stage::Determinize, Quantity::Choices, choices.len(), limits)?;
    }
    Ok(choices)
}

/// Finds the choices among transitions of one location and action.
fn choices_among(
    iosts: &Iosts,
    numbers: &[TransitionId],
    choices: &mut Vec<LookaheadChoice>,
    limits: &Limits,
    solver: &mut dyn Solver,
) -> Result<(), Stop> {
    let transition = |number: TransitionId| &iosts.transitions[number];
    // Transitions with one target and one effect are one transition.
    let mut index: HashMap<(LocationId, &Substitution), usize> = HashMap::new();
    let mut groups: Vec<Vec<TransitionId>> = Vec::new();
    for &number in numbers {
        let key = (transition(number).target, &transition(number).assignments);
        let group = *index.entry(key).or_insert(groups.len());
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(number);
    }
    let join_guards =
        |group: &Vec<TransitionId>| Term::or(group.iter().map(|&number| transition(number).guard.clone()));
    let guards: Vec<Term> = groups.iter().map(join_guards).collect();
    let mut decided_targets: HashSet<LocationPair> = HashSet::new();
    let target = |group: usize| transition(groups[group][0]).target;
    for_each_overlap(&guards, limits, solver, &mut |a, b, solver| {
        if !decided_targets.insert(LocationPair::of([target(a), target(b)])) {
            return;
        }
        // Some pair of the two groups overlaps: this finds the first one.
        let mut pairs: Vec<(TransitionId, TransitionId)> = Vec::new();
        for &in_a in &groups[a] {
            pairs.extend(groups[b].iter().map(|&in_b| (in_a.min(in_b), in_a.max(in_b))));
        }
        pairs.sort_unstable();
        let overlaps = |&(first, second): &(TransitionId, TransitionId), solver: &mut dyn Solver| {
            may_hold_together(&transition(first).guard, &transition(second).guard, solver)
        };
        // If no earlier pair overlaps, the last one does, without a question.
        let last = pairs.len() - 1;
        let (first, second) =
            *pairs[..last].iter().find(|pair| overlaps(pair, solver)).unwrap_or(&pairs[last]);
        choices.push(LookaheadChoice { first, second });
    })
}

fn may_hold_together(a: &Term, b: &Term, solver: &mut dyn Solver) -> bool {
    let mut both = a.conjuncts();
    both.extend(b.conjuncts());
    may_hold(solver, &both)
}

/// Calls `tell` with each pair of guards that may hold together, by their numbers, the smaller first.
///
/// Halves are asked first. If no guard of one half can hold with a guard of the other half, this is one
/// question instead of the product of their sizes. So n guards that exclude each other cost n questions, and
/// every pair that overlaps costs at most a multiple of log n.
pub(super) fn for_each_overlap(
    guards: &[Term],
    limits: &Limits,
    solver: &mut dyn Solver,
    tell: &mut dyn FnMut(usize, usize, &mut dyn Solver),
) -> Result<(), Stop> {
    let mut overlaps = Vec::new();
    let mut halves = vec![(0, guards.len())];
    while let Some((start, end)) = halves.pop() {
        if end - start < 2 {
            continue;
        }
        let middle = start.midpoint(end);
        halves.extend([(start, middle), (middle, end)]);
        // Pairs of ranges, one of each half. A pair that may overlap is split until it has two guards.
        let mut blocks = vec![((start, middle), (middle, end))];
        while let Some((a, b)) = blocks.pop() {
            budget::ask();
            let any_of = |(start, end): (usize, usize)| Term::or(guards[start..end].iter().cloned());
            if !may_hold_together(&any_of(a), &any_of(b), solver) {
                continue;
            }
            let ((start_a, end_a), (start_b, end_b)) = (a, b);
            let (length_a, length_b) = (end_a - start_a, end_b - start_b);
            if length_a == 1 && length_b == 1 {
                overlaps.push((start_a, start_b));
                check_limit(Stage::Determinize, Quantity::Overlaps, overlaps.len(), limits)?;
            } else if length_a >= length_b {
                let middle = start_a.midpoint(end_a);
                blocks.extend([((start_a, middle), b), ((middle, end_a), b)]);
            } else {
                let middle = start_b.midpoint(end_b);
                blocks.extend([(a, (start_b, middle)), (a, (middle, end_b))]);
            }
        }
    }
    overlaps.sort_unstable();
    for (a, b) in overlaps {
        tell(a, b, solver);
    }
    Ok(())
}

/// Finds the smallest lookahead that resolves all of the choices, or a reason why there is none.
pub fn find_lookahead(iosts: &Iosts, choices: &[LookaheadChoice]) -> Lookahead {
    let mut graph =
        PairGraph { iosts, outgoing: iosts.outgoing(), longest: HashMap::new(), open: HashMap::new() };
    // The lookahead so far, and the choice that needs it.
    let (mut lookahead, mut needed_by) = (0, None);
    for choice in choices {
        let targets = [choice.first, choice.second].map(|number| iosts.transitions[number].target);
        match graph.longest_from(LocationPair::of(targets)) {
            Ok(length) if length + 1 > lookahead => {
                (lookahead, needed_by) = (length + 1, Some(*choice));
            }
            Ok(_) => {}
            Err((prefix, cycle)) => return Lookahead::None { choice: *choice, prefix, cycle },
        }
    }
    Lookahead::Exists(lookahead, needed_by)
}

/// Two locations, the smaller number first.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct LocationPair(LocationId, LocationId);

impl LocationPair {
    fn of([a, b]: [LocationId; 2]) -> Self {
        LocationPair(a.min(b), a.max(b))
    }
}

/// The pair graph, with what the search has found so far.
struct PairGraph<'a> {
    iosts: &'a Iosts,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    longest: HashMap<LocationPair, usize>,
    /// Where a pair stands on the stack.
    open: HashMap<LocationPair, usize>,
}

/// The actions of a path into a cycle, and those of the cycle.
type Lasso = (Vec<ActionId>, Vec<ActionId>);

/// A pair whose successors are being walked.
struct SearchFrame {
    pair: LocationPair,
    successors: Vec<(ActionId, LocationPair)>,
    next: usize,
    longest: usize,
}

impl PairGraph<'_> {
    /// Lists the pairs that a common action reaches from a pair, each once.
    fn successors(&self, pair: LocationPair) -> Vec<(ActionId, LocationPair)> {
        let mut found = Vec::new();
        let mut seen = HashSet::new();
        for &a in &self.outgoing[pair.0] {
            for &b in &self.outgoing[pair.1] {
                budget::ask();
                let (t1, t2) = (&self.iosts.transitions[a], &self.iosts.transitions[b]);
                if t1.action == t2.action {
                    let next = (t1.action, LocationPair::of([t1.target, t2.target]));
                    if seen.insert(next) {
                        found.push(next);
                    }
                }
            }
        }
        found
    }

    /// Finds the number of edges of the longest path from the pair, or a cycle. The search has a stack of its
    /// own, since a path may be as long as the model.
    fn longest_from(&mut self, start: LocationPair) -> Result<usize, Lasso> {
        if let Some(&known) = self.longest.get(&start) {
            return Ok(known);
        }
        let frame = |graph: &Self, pair| SearchFrame {
            pair,
            successors: graph.successors(pair),
            next: 0,
            longest: 0,
        };
        let mut stack = vec![frame(self, start)];
        self.open.insert(start, 0);
        loop {
            budget::ask();
            let depth = stack.len() - 1;
            let top = &mut stack[depth];
            if let Some(&(_, pair)) = top.successors.get(top.next) {
                top.next += 1;
                if let Some(&known) = self.longest.get(&pair) {
                    top.longest = top.longest.max(known + 1);
                } else if let Some(&entry) = self.open.get(&pair) {
                    // The pair is on the stack, so the path from there back to it is a cycle.
                    self.open.clear();
                    let taken_action = |frame: &SearchFrame| {
                        let (action, _) = frame.successors[frame.next - 1];
                        action
                    };
                    let actions: Vec<ActionId> = stack.iter().map(taken_action).collect();
                    return Err((actions[..entry].to_vec(), actions[entry..].to_vec()));
                } else {
                    let next = frame(self, pair);
                    self.open.insert(pair, stack.len());
                    stack.push(next);
                }
            } else {
                let longest = top.longest;
                self.longest.insert(top.pair, longest);
                self.open.remove(&top.pair);
                stack.pop();
                match stack.last_mut() {
                    Some(below) => below.longest = below.longest.max(longest + 1),
                    None => return Ok(longest),
                }
            }
        }
    }
}
