//! Which locations there are: k-tails.
//!
//! **Problem.** Traces say which events followed one another, and nothing of the states between. All traces
//! together are a tree, which repeats what a system does again and again; a specification says it once.
//!
//! **Method.** After A. W. Biermann and J. A. Feldman, *On the synthesis of finite-state machines from
//! samples of their behavior*, IEEE Transactions on Computers C-21(6), 1972,
//! <https://doi.org/10.1109/TC.1972.5009015>. The traces are put into a tree, in which each node has one
//! child for each action that came next. The *k-tails* of a node are the sequences of at most k actions that
//! lead on from it. Nodes with equal k-tails are one location, all at once; a location has the steps of all
//! its nodes. With k = 0 all is one location; with k as long as the longest trace, nodes are one where all
//! that follows is the same.
//!
//! **Why it accepts every trace**: a trace is a path through the tree, and the location of each node has the
//! step of its edge.
//!
//! **How**: no set of sequences is made. Since the tree has one child for each action, two nodes have the
//! same k-tails where they have the same actions, and for each action children with the same (k-1)-tails. So
//! nodes get a class k times, by their actions and the classes of their children; it ends early where a round
//! tells no more nodes apart.
//!
//! **Where we differ**: they take what is accepted for part of a tail; here every beginning of a trace is
//! accepted, so that all nodes are. They compare whole inputs; here only actions, and values are generalised
//! afterwards ([`super::generalize`]).
//!
//! **Deterministic**: locations have the numbers of the first nodes that are theirs, in the order of the
//! file. **Costs** k times the size of the tree, times a logarithm.

use std::collections::BTreeMap;

use coreach_model::budget;

use super::recorded::RecordedTraces;

/// A transition in the making.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LearnedStep {
    /// The location that it leaves.
    pub source: u32,
    /// Its action, by its number in the table.
    pub action: usize,
    /// The location where it leads.
    pub target: u32,
    /// The first event that took it: its trace, and its place there.
    pub first: (usize, usize),
}

/// What was learned.
#[derive(Debug)]
pub struct Learned {
    /// How many locations there are; 0 is the initial one.
    pub locations: u32,
    /// The transitions, as they are first taken.
    pub steps: Vec<LearnedStep>,
    /// For each trace, the transition of each of its events.
    pub taken: Vec<Vec<usize>>,
}

/// The tree: for each node its children, by action.
type Tree = Vec<BTreeMap<usize, usize>>;

/// The locations and transitions of recorded traces.
pub fn learn(recorded: &RecordedTraces, tails: usize) -> Learned {
    let mut tree: Tree = vec![BTreeMap::new()];
    let mut paths: Vec<Vec<usize>> = Vec::new();
    for trace in &recorded.traces {
        let mut node = 0;
        let mut path = vec![0];
        for event in trace {
            budget::ask();
            let next = tree.len();
            node = *tree[node].entry(event.action).or_insert(next);
            if node == next {
                tree.push(BTreeMap::new());
            }
            path.push(node);
        }
        paths.push(path);
    }
    let classes = classes(&tree, tails);
    // Nodes have the numbers of their first visits already, so classes have those of their first nodes.
    let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
    let mut location = Vec::with_capacity(tree.len());
    for class in classes {
        let next = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
        location.push(*numbers.entry(class).or_insert(next));
    }
    let mut steps: Vec<LearnedStep> = Vec::new();
    let mut known: BTreeMap<(u32, usize, u32), usize> = BTreeMap::new();
    let mut taken = Vec::new();
    for (number, (trace, path)) in recorded.traces.iter().zip(&paths).enumerate() {
        let mut of_trace = Vec::with_capacity(trace.len());
        for (place, event) in trace.iter().enumerate() {
            let (source, target) = (location[path[place]], location[path[place + 1]]);
            let step = *known.entry((source, event.action, target)).or_insert_with(|| {
                steps.push(LearnedStep { source, action: event.action, target, first: (number, place) });
                steps.len() - 1
            });
            of_trace.push(step);
        }
        taken.push(of_trace);
    }
    let locations = u32::try_from(numbers.len()).unwrap_or(u32::MAX);
    Learned { locations, steps, taken }
}

/// For each node a number that nodes with equal tails of this length share.
fn classes(tree: &Tree, tails: usize) -> Vec<u32> {
    let mut classes = vec![0; tree.len()];
    let mut count = 1;
    for _ in 0..tails {
        let mut known: BTreeMap<Vec<(usize, u32)>, u32> = BTreeMap::new();
        let mut finer = Vec::with_capacity(tree.len());
        for children in tree {
            budget::ask();
            let tail: Vec<(usize, u32)> =
                children.iter().map(|(action, child)| (*action, classes[*child])).collect();
            let next = u32::try_from(known.len()).unwrap_or(u32::MAX);
            finer.push(*known.entry(tail).or_insert(next));
        }
        classes = finer;
        if known.len() == count {
            break;
        }
        count = known.len();
    }
    classes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::traces::recorded::RecordedEvent;

    fn recorded(traces: &[&[usize]]) -> RecordedTraces {
        let event = |action: &usize| RecordedEvent { action: *action, values: Vec::new(), span: 0..0 };
        let traces = traces.iter().map(|trace| trace.iter().map(event).collect()).collect();
        RecordedTraces { actions: Vec::new(), traces }
    }

    /// The tails of a node by their definition.
    fn tails(tree: &Tree, node: usize, length: usize) -> std::collections::BTreeSet<Vec<usize>> {
        let mut found = std::collections::BTreeSet::from([Vec::new()]);
        if length > 0 {
            for (action, child) in &tree[node] {
                found.extend(tails(tree, *child, length - 1).into_iter().map(|mut tail| {
                    tail.insert(0, *action);
                    tail
                }));
            }
        }
        found
    }

    #[test]
    fn classes_are_equal_tails() {
        // All trees of words over two letters, up to four long, by the bits of a number.
        let words: Vec<Vec<usize>> =
            (0..16).map(|bits: usize| (0..4).map(|at| bits >> at & 1).collect()).collect();
        for chosen in (1..1u32 << 16).step_by(97) {
            let chosen: Vec<&[usize]> = words
                .iter()
                .enumerate()
                .filter(|(at, _)| chosen >> at & 1 == 1)
                .map(|(at, word)| &word[..at % 5])
                .collect();
            let mut tree: Tree = vec![BTreeMap::new()];
            for word in chosen {
                let mut node = 0;
                for letter in word {
                    let next = tree.len();
                    node = *tree[node].entry(*letter).or_insert(next);
                    if node == next {
                        tree.push(BTreeMap::new());
                    }
                }
            }
            for length in 0..4 {
                let classes = classes(&tree, length);
                for a in 0..tree.len() {
                    for b in 0..tree.len() {
                        let same = tails(&tree, a, length) == tails(&tree, b, length);
                        assert_eq!(classes[a] == classes[b], same, "{tree:?} {length} {a} {b}");
                    }
                }
            }
        }
    }

    #[test]
    fn what_repeats_is_a_cycle() {
        let learned = learn(&recorded(&[&[0, 1, 0, 1, 0, 1, 0, 1]]), 1);
        assert_eq!(learned.locations, 3);
        let learned = learn(&recorded(&[&[0, 1], &[]]), 0);
        assert_eq!((learned.locations, learned.steps.len()), (1, 2));
    }
}
