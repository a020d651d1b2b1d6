//! Which ends of paths a tester should see: test purposes from the tree alone.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006), Definitions 13, 18 and 19. *All paths of length n*: each
//! path of n steps that ends with an output is to be seen to its end; each other one up to each output that
//! can follow it. *k-inclusion*: n is k times the length of the longest path in a restriction by inclusion,
//! so that every basic behaviour is seen k times in a row.
//!
//! **Where we differ.** Internal steps count as steps, and an output that follows a path follows it behind
//! internal steps as well. Where a restriction does not fit its limits there is no longest path, and no
//! k-inclusion.
//!
//! What is accepted is reached by an output, and no accepted node is below another (Definition 13): of a
//! path, one of n steps is accepted, or what follows it.

use super::System;
use super::tree::{Growth, NodeId, Tree, TreeLimits, is_output};
use crate::solver::Solver;

/// A tree and the nodes whose paths are to be seen.
#[derive(Clone, Debug)]
pub struct Accepting {
    pub tree: Tree,
    pub accepting: Vec<NodeId>,
    pub is_complete: bool,
}

/// All paths of n steps (Definition 18). The limit of depth is n, whatever was given.
pub fn all_paths(system: &System<'_>, limits: TreeLimits, n: usize, solver: &mut dyn Solver) -> Accepting {
    let mut growth = Growth::new(system, of_length(limits, n));
    let mut accepting = Vec::new();
    let is_complete = ends(system, &mut growth, n, &mut accepting, solver);
    Accepting { tree: growth.kept(), accepting, is_complete }
}

pub fn of_length(limits: TreeLimits, n: usize) -> TreeLimits {
    TreeLimits { depth: n, is_restricted: false, ..limits }
}

/// Grows a tree of paths of n steps and adds the nodes whose paths are to be seen. Was there room for all?
pub fn ends(
    system: &System<'_>,
    growth: &mut Growth<'_>,
    n: usize,
    accepting: &mut Vec<NodeId>,
    solver: &mut dyn Solver,
) -> bool {
    growth.grow(solver);
    let mut is_complete = growth.tree().nodes.iter().all(|node| node.end != super::NodeEnd::Nodes);
    let ends: Vec<NodeId> = growth
        .tree()
        .nodes
        .numbered()
        .filter(|(_, node)| node.state.depth == n && node.end != super::NodeEnd::Unsatisfiable)
        .map(|(number, _)| number)
        .collect();
    for end in ends {
        if is_output(system, &growth.tree().nodes[end].by) {
            accepting.push(end);
            continue;
        }
        let (found, had_room) = growth.answers(end, solver);
        accepting.extend(found);
        is_complete &= had_room;
    }
    accepting.sort();
    is_complete
}

/// k times the longest path of a restriction by inclusion (Definition 19).
pub fn k_inclusion(
    system: &System<'_>,
    limits: TreeLimits,
    k: usize,
    solver: &mut dyn Solver,
) -> Result<Accepting, Tree> {
    let restriction = Growth::new(system, TreeLimits { is_restricted: true, ..limits }).finish(solver);
    if !restriction.is_complete() {
        return Err(restriction);
    }
    Ok(all_paths(system, limits, k.saturating_mul(restriction.longest_path()), solver))
}
