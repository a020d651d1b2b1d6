//! Walks through several systems along their common traces, shortest traces first.

use std::collections::HashMap;
use std::hash::Hash;

use super::EventId;

/// How a walk ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// Everything was visited.
    Done,
    /// The limit was met: all shorter traces were visited.
    Cut,
    /// Something was found: after which trace, and what.
    Found(Vec<EventId>, String),
}

/// What a visit finds: the node's successors, or what is wrong with it.
pub type Visit<N> = Result<Vec<(EventId, N)>, String>;

/// Visits every node that a trace leads to.
pub fn walk<N: Clone + Eq + Hash>(start: N, limit: usize, mut visit: impl FnMut(&N) -> Visit<N>) -> Outcome {
    walk_with_traces(start, limit, |node, _| visit(node))
}

/// As [`walk`]; the visit can ask for a shortest trace to its node.
pub fn walk_with_traces<N: Clone + Eq + Hash>(
    start: N,
    limit: usize,
    mut visit: impl FnMut(&N, &dyn Fn() -> Vec<EventId>) -> Visit<N>,
) -> Outcome {
    let mut index: HashMap<N, usize> = HashMap::from([(start.clone(), 0)]);
    let mut nodes: Vec<(N, Option<(usize, EventId)>)> = vec![(start, None)];
    let mut at = 0;
    while at < nodes.len() {
        let trace = || {
            let mut trace = Vec::new();
            let mut step = nodes[at].1;
            while let Some((parent, event)) = step {
                trace.push(event);
                step = nodes[parent].1;
            }
            trace.reverse();
            trace
        };
        match visit(&nodes[at].0, &trace) {
            Err(message) => return Outcome::Found(trace(), message),
            Ok(successors) => {
                for (event, next) in successors {
                    if !index.contains_key(&next) {
                        index.insert(next.clone(), nodes.len());
                        nodes.push((next, Some((at, event))));
                    }
                }
            }
        }
        if nodes.len() > limit {
            return Outcome::Cut;
        }
        at += 1;
    }
    Outcome::Done
}
