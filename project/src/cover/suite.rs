//! A small suite that meets all goals.
//!
//! **Problem.** Most routes pass through many goals; a purpose for each would do the same again and again.
//!
//! **Method.** Greedy set cover (Chvátal 1979): the route that meets the most goals that are left, the one with fewer visible steps among equals, then
//! the one that was found first. No polynomial method is much better; the result is at most ln n times the smallest.
//!
//! **What a route meets**: its own goal, and every goal that lies on its path whatever the values (locations, transitions, conjuncts that hold
//! where their transition is taken, pairs, definitions and uses, paths), if its trace shows that for certain. What depends on values that the
//! purpose does not ask for is not counted: another run of it may have others.

use coreach_execution::coverage::{Item, Walked};
use coreach_model::TransitionId;
use coreach_model::iosts::{ActionKind, Iosts};

use super::evidence::{lies_on, shown};
use super::goals::Goal;
use super::purpose::{key, length};
use super::search::Found;

/// A route of the suite, with the numbers of the goals that it meets.
#[derive(Clone, Debug)]
pub struct Chosen {
    /// The route.
    pub found: Found,
    /// The goals for which it was chosen, or that it meets besides.
    pub goals: Vec<usize>,
}

/// Chooses. `met` are the goals that were met, by their numbers, each with its route.
pub fn suite(walked: &Walked, goals: &[Goal], met: &[(usize, Found)]) -> Vec<Chosen> {
    let mut candidates: Vec<Chosen> = Vec::new();
    for (number, found) in met {
        // The same purpose for several goals is one.
        match candidates.iter_mut().find(|known| known.found.route == found.route) {
            Some(known) => known.goals.push(*number),
            None => candidates.push(Chosen { found: found.clone(), goals: vec![*number] }),
        }
    }
    for candidate in &mut candidates {
        let shown = shown(walked, &candidate.found.evidence);
        let path = &candidate.found.route.path;
        for (number, _) in met {
            let goal = &goals[*number];
            let is_met = is_on(walked, goal, path) && shown.meets(&walked.iosts, goal);
            if is_met && !candidate.goals.contains(number) {
                candidate.goals.push(*number);
            }
        }
        candidate.goals.sort_unstable();
    }
    let mut left: Vec<usize> = met.iter().map(|(number, _)| *number).collect();
    let mut chosen: Vec<Chosen> = Vec::new();
    while !left.is_empty() {
        let worth = |candidate: &Chosen| candidate.goals.iter().filter(|goal| left.contains(goal)).count();
        let steps = |candidate: &Chosen| length(&walked.iosts, &candidate.found.route);
        // Of equals the first.
        let best =
            candidates.iter().rev().max_by_key(|candidate| (worth(candidate), usize::MAX - steps(candidate)));
        let Some(best) = best.cloned() else { break };
        left.retain(|goal| !best.goals.contains(goal));
        chosen.push(best);
    }
    chosen.sort_by_key(|one| (length(&walked.iosts, &one.found.route), key(&one.found.route)));
    chosen
}

/// Does the goal lie on the path, whatever the values are?
fn is_on(walked: &Walked, goal: &Goal, path: &[TransitionId]) -> bool {
    let iosts: &Iosts = &walked.iosts;
    let Goal::Item(item) = goal else { return lies_on(iosts, goal, path) };
    match &walked.parts[0].items.all()[*item] {
        Item::Location(location) => {
            *location == iosts.initial
                || path.iter().any(|number| iosts.transitions[*number].target == *location)
        }
        Item::Transition(number) => path.contains(number),
        Item::Side { transition, holds: true, .. } => {
            path.contains(transition)
                && iosts.action(iosts.transitions[*transition].action).kind != ActionKind::Internal
        }
        Item::Side { .. } | Item::Class { .. } => false,
    }
}
