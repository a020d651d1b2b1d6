//! Chooses the ends of paths that a tester should see: test purposes from the tree alone.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006), Definitions 13, 18 and 19. *All paths of length n*: each
//! path of n steps that ends with an output is tested to its end, and each other path up to each output that
//! can follow it. *k-inclusion*: n is k times the length of the longest path in a restriction by inclusion,
//! so every basic behaviour is seen k times in a row. **Where we differ.** Internal steps count as steps, and
//! there may be internal steps before the output that follows a path. If a restriction does not fit its
//! limits, there is no longest path, and no k-inclusion.
//!
//! An accepted node is reached by an output, and no accepted node is below another (Definition 13): it is the
//! node of a path of n steps, or one that follows such a path.

use super::System;
use super::tree::{Growth, NodeId, PathTree, TreeLimits, is_output};
use crate::solver::Solver;

/// A tree, and the nodes whose paths a tester should see.
#[derive(Clone, Debug)]
pub struct Accepting {
    pub tree: PathTree,
    pub accepting: Vec<NodeId>,
    pub is_complete: bool,
}

/// Grows all paths of n steps (Definition 18). The given limit of depth does not count.
pub fn all_paths(system: &System<'_>, limits: TreeLimits, n: usize, solver: &mut dyn Solver) -> Accepting {
    let mut growth = Growth::new(system, of_length(limits, n));
    let mut accepting = Vec::new();
    let is_complete = grow_to_ends(system, &mut growth, n, &mut accepting, solver);
    Accepting { tree: growth.kept(), accepting, is_complete }
}

/// The limits of a tree with all paths of n steps.
pub fn of_length(limits: TreeLimits, n: usize) -> TreeLimits {
    TreeLimits { depth: n, is_restricted: false, ..limits }
}

/// Grows a tree of paths of n steps, and adds the nodes whose paths a tester should see. Returns whether
/// there was room for all.
pub fn grow_to_ends(
    system: &System<'_>,
    growth: &mut Growth<'_>,
    n: usize,
    accepting: &mut Vec<NodeId>,
    solver: &mut dyn Solver,
) -> bool {
    growth.grow(solver);
    let mut is_complete = growth.tree().nodes.iter().all(|node| node.end != super::NodeEnd::Nodes);
    let is_end = |(_, node): &(NodeId, &super::TreeNode)| {
        node.state.depth == n && node.end != super::NodeEnd::Unsatisfiable
    };
    let ends: Vec<NodeId> = growth.tree().nodes.numbered().filter(is_end).map(|(number, _)| number).collect();
    for end in ends {
        if is_output(system, &growth.tree().nodes[end].by) {
            accepting.push(end);
            continue;
        }
        // It does not end with an output, so it is accepted up to each output that can follow it.
        let (answers, had_room) = growth.add_answers(end, solver);
        accepting.extend(answers);
        is_complete &= had_room;
    }
    accepting.sort();
    is_complete
}

/// Grows all paths of k times the length of the longest path in a restriction by inclusion (Definition 19).
/// `Err`: the restriction does not fit the limits.
pub fn k_inclusion(
    system: &System<'_>,
    limits: TreeLimits,
    k: usize,
    solver: &mut dyn Solver,
) -> Result<Accepting, PathTree> {
    let restriction = Growth::new(system, TreeLimits { is_restricted: true, ..limits }).finish(solver);
    if !restriction.is_complete() {
        return Err(restriction);
    }
    Ok(all_paths(system, limits, k.saturating_mul(restriction.longest_path()), solver))
}
