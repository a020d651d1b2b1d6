//! Explores a specification: makes its symbolic execution tree, and a document of the tree and its branches.
//!
//! `docs/exploration.schema.json` is the document's schema. It has no times, so it is reproducible.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Solver, Statistics};
use coreach_analyses::symbolic::paths::{grow_to_ends, of_length};
use coreach_analyses::symbolic::{
    Growth, NodeEnd, NodeId, PathTree, Quiescence, Refuted, System, TreeLimits, TreeMove,
};
use coreach_model::iosts::Iosts;
use coreach_model::writer::write_paths_yaml;
use coreach_model::{Datum, Diagnostic, Number, Term};
use coreach_pipeline::export::tree::{added_conditions, changed_data};
use coreach_pipeline::stop::Stop;
use serde::Serialize;

use crate::{budget, render};

/// The ends of paths that a purpose is to accept.
pub enum PathEnds {
    /// No ends: only the tree is asked for.
    None,
    /// The ends of all paths with this number of steps.
    AllPaths(usize),
    /// The ends of paths of this number times the longest path of the tree restricted by inclusion.
    Inclusion(usize),
}

pub struct Exploration {
    pub tree: PathTree,
    /// The nodes that a purpose accepts, in order.
    pub accepting: Vec<NodeId>,
    pub asked: Statistics,
    /// A part of the request that did not fit the limits.
    pub missing: Option<&'static str>,
    /// The reason why the budget ended the work. Then the tree is only the beginning of the whole tree.
    pub stop: Option<Stop>,
}

/// Grows the tree of a specification within the limits and the budget, and finds the nodes where paths end.
/// With `Inclusion(k)`, a first tree, restricted by inclusion, only gives the length of the paths.
pub fn explore(iosts: &Iosts, limits: TreeLimits, ends: PathEnds) -> Exploration {
    let system = System::new(iosts);
    let mut solver = Z3Solver::default();
    // The tree is kept outside of the closure, since the budget may end that.
    let mut growth = match ends {
        PathEnds::None => Growth::new(&system, limits),
        PathEnds::AllPaths(n) => Growth::new(&system, of_length(limits, n)),
        PathEnds::Inclusion(_) => Growth::new(&system, TreeLimits { is_restricted: true, ..limits }),
    };
    let (mut accepting, mut missing) = (Vec::new(), None);
    let worked = budget::within("explore", budget::time(None), |_| {
        let steps = match ends {
            PathEnds::None => return growth.grow(&mut solver),
            PathEnds::AllPaths(n) => n,
            PathEnds::Inclusion(k) => {
                growth.grow(&mut solver);
                if !growth.tree().is_complete() {
                    missing = Some("the restriction by inclusion does not end within the limits");
                    return;
                }
                // The paths are k times as long as the longest one of the restricted tree.
                let n = k.saturating_mul(growth.tree().longest_path());
                growth = Growth::new(&system, of_length(limits, n));
                n
            }
        };
        let is_complete = grow_to_ends(&system, &mut growth, steps, &mut accepting, &mut solver);
        missing = (!is_complete).then_some("not all paths fit: more nodes would be needed");
    });
    accepting.sort();
    Exploration { tree: growth.kept(), accepting, asked: solver.statistics(), missing, stop: worked.err() }
}

/// Finds the nodes that a user has chosen by their numbers to be accepted.
///
/// # Errors
/// A node is not in the tree, is not reached by a visible step, or is on the path to another chosen node.
pub fn find_chosen(iosts: &Iosts, tree: &PathTree, numbers: &[usize]) -> Result<Vec<NodeId>, Diagnostic> {
    let refuse = |number: &usize, why: &str| {
        let message = format!("--accept {number}: {why}");
        Diagnostic::error("no-such-node", message).help("`--format json` and `--draw` show the nodes")
    };
    let mut found = Vec::new();
    for number in numbers {
        let id = NodeId::of(*number);
        let Some(node) = tree.nodes.find(id) else { return Err(refuse(number, "there is no such node")) };
        let is_seen = match &node.by {
            TreeMove::Start => false,
            TreeMove::Quiet => true,
            TreeMove::Take(step) => iosts.action_of(step.transition).is_visible(),
        };
        if !is_seen {
            return Err(refuse(number, "no visible event leads to it"));
        }
        found.push(id);
    }
    found.sort_unstable();
    found.dedup();
    let is_above =
        |node: &NodeId| found.iter().any(|other| other != node && tree.path(*other).contains(node));
    match found.iter().find(|node| is_above(node)) {
        Some(node) => Err(refuse(&node.place(), "it is on the path to another accepted node")),
        None => Ok(found),
    }
}

/// Writes a purpose in the model format that accepts the ends of the chosen paths.
pub fn write_purpose(iosts: &Iosts, found: &Exploration, name: &str) -> String {
    let tree = &found.tree;
    let path = |node: &NodeId| {
        let nodes = tree.path(*node);
        let locations: Vec<&str> =
            nodes.iter().map(|id| iosts.location(tree.nodes[*id].state.location).name.as_str()).collect();
        // A step without a transition is quiescence.
        let steps = nodes.iter().filter_map(|id| match &tree.nodes[*id].by {
            TreeMove::Start => None,
            TreeMove::Quiet => Some(None),
            TreeMove::Take(step) => Some(Some(step.transition)),
        });
        (format!("node {}: {}", node.place(), locations.join(", ")), steps.collect())
    };
    let paths: Vec<_> = found.accepting.iter().map(path).collect();
    format!("# coreach: a purpose, made by `coreach explore`\n{}", write_paths_yaml(name, iosts, &paths))
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct ExplorationCounts {
    pub nodes: usize,
    /// The steps to the node that is furthest from the root.
    pub longest_path: usize,
    /// Nodes whose successors are in the tree.
    pub expanded: usize,
    /// Expanded nodes that have no successor.
    pub without_successor: usize,
    pub included: usize,
    /// Nodes that were merged into another node of their depth.
    pub merged: usize,
    pub at_depth: usize,
    /// Nodes for whose successors there was no room.
    pub out_of_room: usize,
    /// Nodes that were not looked at before the work ended.
    pub open: usize,
    /// Nodes after a quiescence after which nothing is specified.
    pub behind_quiescence: usize,
    /// Branches that were left out, since no data satisfy their path conditions.
    pub refuted: usize,
    /// Nodes whose path conditions are not known to be satisfiable.
    pub uncertain: usize,
    pub accepting: usize,
}

impl Exploration {
    pub fn counts(&self) -> ExplorationCounts {
        let mut counts = ExplorationCounts {
            nodes: self.tree.nodes.len(),
            longest_path: self.tree.longest_path(),
            accepting: self.accepting.len(),
            ..ExplorationCounts::default()
        };
        for node in self.tree.nodes.iter() {
            counts.refuted += node.refuted.len();
            counts.uncertain += usize::from(!node.is_certain && node.end != NodeEnd::Unsatisfiable);
            match node.end {
                NodeEnd::Expanded => {
                    counts.expanded += 1;
                    counts.without_successor += usize::from(node.children.is_empty());
                }
                NodeEnd::Included(_) => counts.included += 1,
                NodeEnd::Merged(_) => counts.merged += 1,
                NodeEnd::Depth => counts.at_depth += 1,
                NodeEnd::Nodes => counts.out_of_room += 1,
                NodeEnd::Open => counts.open += 1,
                NodeEnd::Sink => counts.behind_quiescence += 1,
                NodeEnd::Unsatisfiable => {}
            }
        }
        counts
    }

    /// How many nodes there are at each depth.
    pub fn breadths(&self) -> Vec<usize> {
        let mut breadths = vec![0; self.tree.longest_path() + 1];
        self.tree.nodes.iter().for_each(|node| breadths[node.state.depth] += 1);
        breadths
    }
}

#[derive(Serialize)]
pub struct ExplorationDocument {
    pub format_version: u32,
    pub exit_code: u8,
    pub specification: String,
    pub limits: ExplorationLimits,
    pub missing: Option<&'static str>,
    /// Does the tree have all behaviours of the specification?
    pub is_complete: bool,
    pub counts: ExplorationCounts,
    pub breadths: Vec<usize>,
    /// The nodes, in the order of their numbers, counted from 0.
    pub nodes: Vec<ReportedNode>,
    /// The reason why the work was ended early, if it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<serde_json::Value>,
}

/// How far a tree could grow, in words.
#[derive(Serialize)]
pub struct ExplorationLimits {
    pub depth: usize,
    pub nodes: usize,
    /// `unseen`, `loop` or `sink`.
    pub quiescence: &'static str,
    /// Is a node not expanded if another node includes its states?
    pub is_restricted: bool,
    /// Are nodes of the same depth and location merged?
    pub is_merged: bool,
}

#[derive(Serialize)]
pub struct ReportedNode {
    /// The number of the node before it on its path. The first node has none.
    pub parent: Option<usize>,
    /// The step from its parent. The first node has none.
    pub step: Option<ReportedStep>,
    pub location: String,
    /// The number of steps from the first node.
    pub depth: usize,
    /// The conjuncts that the step has added to the path condition.
    pub condition: Vec<String>,
    /// The data that the step has changed, with their new values.
    pub values: Vec<ReportedValue>,
    /// Is the path condition known to be satisfiable?
    pub is_certain: bool,
    /// If other nodes were merged into it, the states of all of them. Its successors add to that.
    pub merged: Option<ReportedMerge>,
    /// The node's end: `expanded`, `included`, `merged`, `depth`, `nodes`, `open`, `sink` or `unsatisfiable`.
    pub end: &'static str,
    pub included_in: Option<usize>,
    pub merged_into: Option<usize>,
    pub accepts: bool,
    /// The steps that are impossible here: the numbers of transitions, counted from 0, and `quiescence`.
    pub refuted: Vec<ReportedRefutation>,
}

#[derive(Serialize)]
pub struct ReportedStep {
    /// The action's name. Quiescence has none.
    pub action: Option<String>,
    /// The transition's number in the specification, counted from 0. Quiescence has none.
    pub transition: Option<usize>,
    pub parameters: Vec<String>,
}

#[derive(Serialize)]
pub struct ReportedMerge {
    /// The condition of all merged nodes, over symbols of its own.
    pub condition: Vec<String>,
    pub values: Vec<ReportedValue>,
}

#[derive(Serialize)]
pub struct ReportedValue {
    pub name: String,
    /// A term over constants, initial values and symbols.
    pub value: String,
}

#[derive(Serialize)]
#[serde(untagged)]
pub enum ReportedRefutation {
    Transition(usize),
    Quiet(&'static str),
}

pub fn quiescence_name(quiescence: Quiescence) -> &'static str {
    match quiescence {
        Quiescence::Unseen => "unseen",
        Quiescence::Loop => "loop",
        Quiescence::Sink => "sink",
    }
}

fn report_value((datum, value): (Datum, Term)) -> ReportedValue {
    ReportedValue { name: datum.name().to_owned(), value: value.to_string() }
}

pub fn make_document(
    iosts: &Iosts,
    limits: TreeLimits,
    found: &Exploration,
    exit_code: u8,
) -> ExplorationDocument {
    let tree = &found.tree;
    let report_refuted = |refuted: &Refuted| match refuted {
        Refuted::Transition(transition) => ReportedRefutation::Transition(transition.place()),
        Refuted::Quiet => ReportedRefutation::Quiet("quiescence"),
    };
    let nodes = tree.nodes.numbered().map(|(number, node)| ReportedNode {
        parent: node.parent.map(Number::place),
        step: match &node.by {
            TreeMove::Start => None,
            TreeMove::Quiet => Some(ReportedStep { action: None, transition: None, parameters: Vec::new() }),
            TreeMove::Take(step) => Some(ReportedStep {
                action: Some(iosts.action(iosts.transitions[step.transition].action).name.clone()),
                transition: Some(step.transition.place()),
                parameters: step.parameters.iter().map(ToString::to_string).collect(),
            }),
        },
        location: iosts.location(node.state.location).name.clone(),
        depth: node.state.depth,
        condition: added_conditions(tree, node).iter().map(ToString::to_string).collect(),
        values: changed_data(tree, node).into_iter().map(report_value).collect(),
        is_certain: node.is_certain,
        merged: node.merged.as_ref().map(|merged| ReportedMerge {
            condition: merged.condition.iter().map(ToString::to_string).collect(),
            values: merged.data_terms().into_iter().map(report_value).collect(),
        }),
        end: match node.end {
            NodeEnd::Expanded => "expanded",
            NodeEnd::Included(_) => "included",
            NodeEnd::Merged(_) => "merged",
            NodeEnd::Depth => "depth",
            NodeEnd::Nodes => "nodes",
            NodeEnd::Open => "open",
            NodeEnd::Sink => "sink",
            NodeEnd::Unsatisfiable => "unsatisfiable",
        },
        included_in: if let NodeEnd::Included(other) = node.end { Some(other.place()) } else { None },
        merged_into: if let NodeEnd::Merged(other) = node.end { Some(other.place()) } else { None },
        accepts: found.accepting.binary_search(&number).is_ok(),
        refuted: node.refuted.iter().map(report_refuted).collect(),
    });
    ExplorationDocument {
        // Only a change that old readers do not understand raises it.
        format_version: 1,
        exit_code,
        specification: iosts.name.clone(),
        limits: ExplorationLimits {
            depth: limits.depth,
            nodes: limits.nodes,
            quiescence: quiescence_name(limits.quiescence),
            is_restricted: limits.is_restricted,
            is_merged: limits.is_merged,
        },
        missing: found.missing,
        is_complete: tree.is_complete(),
        counts: found.counts(),
        breadths: found.breadths(),
        nodes: nodes.collect(),
        diagnostics: render::each(found.stop.as_ref().map(Stop::to_diagnostic).as_ref()),
    }
}
