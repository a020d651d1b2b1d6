//! Does a trace leave two states possible for ever? What a stop of determinization claims, and what brute
//! force can see of it.
//!
//! Two different states that one state leads to by one event are a *choice* (Definition A.8, concretely).
//! They are told apart where an event that only one of them can do comes, or where they become one state
//! again. A choice is never resolved where the pairs of different states that common events lead to from it
//! have a cycle (A.14, A.15). Internal steps in front of an event belong to it, as after closure.

use std::collections::{BTreeMap, HashMap};

use super::explore::Graph;
use super::subsets::internal_closure;
use super::{EventId, TooLarge};

/// Two different states, the smaller one first.
type Pair = (u32, u32);

/// Is there a choice that some endless sequence of events, one of `allowed` at each step, leaves open?
///
/// `allowed(step)` says which events may come at this step of the sequence and what the next step is, so that
/// a search can be kept to one sequence of actions; a `step` is any small number, and choices begin at step
/// 0.
///
/// # Errors
/// More than `limit` pairs.
pub fn is_ambiguous_for_ever(
    graph: &Graph,
    limit: usize,
    allowed: impl Fn(usize, EventId) -> Option<usize>,
) -> Result<bool, TooLarge> {
    let steps: Vec<BTreeMap<EventId, Vec<u32>>> =
        (0..graph.visible.len() as u32).map(|state| after_internal_steps(graph, state)).collect();
    let choices = steps.iter().flat_map(BTreeMap::values).flat_map(|targets| pairs(targets, targets));
    let mut search = Search { steps: &steps, allowed, state: HashMap::new(), limit };
    for choice in choices {
        if search.meets_a_cycle((choice, 0))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Any event, at one step that repeats.
pub fn any(_: usize, _: EventId) -> Option<usize> {
    Some(0)
}

fn after_internal_steps(graph: &Graph, state: u32) -> BTreeMap<EventId, Vec<u32>> {
    let mut found: BTreeMap<EventId, Vec<u32>> = BTreeMap::new();
    for at in internal_closure(graph, vec![state]) {
        for &(event, target) in &graph.visible[at as usize] {
            found.entry(event).or_default().push(target);
        }
    }
    for targets in found.values_mut() {
        targets.sort_unstable();
        targets.dedup();
    }
    found
}

fn pairs(left: &[u32], right: &[u32]) -> Vec<Pair> {
    let all = left.iter().flat_map(|a| right.iter().map(move |b| (*a.min(b), *a.max(b))));
    let mut found: Vec<Pair> = all.filter(|(a, b)| a != b).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Where the search is: the pair, and the step of the sequence.
type Node = (Pair, usize);

struct Search<'a, F> {
    steps: &'a [BTreeMap<EventId, Vec<u32>>],
    allowed: F,
    /// True while the node is on the path, false behind it.
    state: HashMap<Node, bool>,
    limit: usize,
}

impl<F: Fn(usize, EventId) -> Option<usize>> Search<'_, F> {
    /// Depth first, with a stack of its own.
    fn meets_a_cycle(&mut self, start: Node) -> Result<bool, TooLarge> {
        if self.state.contains_key(&start) {
            return Ok(false);
        }
        self.state.insert(start, true);
        let mut stack = vec![(start, self.successors(start))];
        while let Some((node, successors)) = stack.last_mut() {
            let Some(next) = successors.pop() else {
                self.state.insert(*node, false);
                stack.pop();
                continue;
            };
            match self.state.get(&next) {
                Some(true) => return Ok(true),
                Some(false) => {}
                None => {
                    self.state.insert(next, true);
                    stack.push((next, self.successors(next)));
                }
            }
            if self.state.len() > self.limit {
                return Err(TooLarge);
            }
        }
        Ok(false)
    }

    fn successors(&self, ((a, b), step): Node) -> Vec<Node> {
        let [left, right] = [a, b].map(|state| &self.steps[state as usize]);
        let mut found = Vec::new();
        for (event, targets) in left {
            if let (Some(next), Some(others)) = ((self.allowed)(step, *event), right.get(event)) {
                found.extend(pairs(targets, others).into_iter().map(|pair| (pair, next)));
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A choice by event 0 at state 0 between 1 and 2; what follows is given.
    fn graph(visible: &[&[(EventId, u32)]]) -> Graph {
        let visible: Vec<Vec<(EventId, u32)>> = visible.iter().map(|steps| steps.to_vec()).collect();
        let internal = vec![Vec::new(); visible.len()];
        Graph { initial: vec![0], visible, internal }
    }

    #[test]
    fn a_loop_on_both_sides_keeps_the_choice_open() {
        let loops = graph(&[&[(0, 1), (0, 2)], &[(1, 1)], &[(1, 2)]]);
        assert_eq!(is_ambiguous_for_ever(&loops, 100, any), Ok(true));
        let only_two = |step: usize, event: EventId| (event == 2).then_some(step);
        assert_eq!(is_ambiguous_for_ever(&loops, 100, only_two), Ok(false));
    }

    #[test]
    fn different_events_and_common_states_resolve_it() {
        let differ = graph(&[&[(0, 1), (0, 2)], &[(1, 1)], &[(2, 2)]]);
        assert_eq!(is_ambiguous_for_ever(&differ, 100, any), Ok(false));
        let meet = graph(&[&[(0, 1), (0, 2)], &[(1, 0)], &[(1, 0)]]);
        assert_eq!(is_ambiguous_for_ever(&meet, 100, any), Ok(false));
    }

    #[test]
    fn an_internal_step_in_front_of_the_event_belongs_to_it() {
        let mut silent = graph(&[&[(0, 1)], &[(1, 1)], &[(0, 3)], &[(1, 3)]]);
        silent.internal[0].push(2);
        assert_eq!(is_ambiguous_for_ever(&silent, 100, any), Ok(true));
    }
}
