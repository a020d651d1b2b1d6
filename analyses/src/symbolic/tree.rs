//! The symbolic execution tree, within limits.
//!
//! **Problem.** We want all paths through a system, each with its condition on the data. There are very many,
//! and most of them are alike. **Source.** Gaston, Le Gall, Rapin, Touil (2006): the tree of the satisfiable
//! states (Definition 9), quiescence as an output (Definition 4), restriction by inclusion (Definition 11).
//!
//! **Where we differ.** In Definition 11 two states that include each other may both be cut because of each
//! other, and a state may be cut because of itself. Here a state is cut only because of a state that *is
//! expanded*. States are examined in the order of their creation, breadth first, so the covering state was
//! expanded before, and it is never cut later. So expanded states can do, step by step, whatever a cut state
//! can do. If inclusion is not known, the state is expanded. In addition, a tree may *remember* something of
//! the path, such as the last transition. Then only states with equal memories cover each other, so nothing
//! that depends on the memory is lost.
//!
//! **Merged** (on demand): before the nodes of a depth are examined, those of one location and memory are
//! merged (`merging.rs`). The first of them is continued for all. Its merged state is stored in addition to
//! its own state, so each path keeps its own condition up to there. **Storage.** Nodes are in one list, in
//! the order of their creation. A node's children are created together, so they are neighbours. A node is
//! expanded as a whole or not at all.
//!
//! **Certain.** A branch is left out only if its path condition is unsatisfiable. If the solver does not
//! know, the branch stays, and it and its descendants are not *certain*. The same holds for a quiescence
//! whose condition needs a quantifier: the branch is in the tree, without this condition.
//!
//! **Ends** by its limits of depth and nodes, and by the budget of time and memory, which every term and
//! question checks. **Cost**: for each step two substitutions, and a question about the data that the path
//! leaves possible (`projection`). This question does not grow with the path, and is not repeated for other
//! nodes. With restriction there is also a look into a table for each state, and a few questions if it is not
//! found there (`candidates`).
//!
//! ```
//! use coreach_analyses::solver::z3::Z3Solver;
//! use coreach_analyses::symbolic::{NodeEnd, Growth, System, TreeLimits};
//! use coreach_model::SourceFile;
//! use coreach_model::reader::read_specification;
//!
//! let text = "
//! iosts: counter
//! variables: { x: int }
//! initial: { location: count, condition: x == 0 }
//! inputs: { Step: {} }
//! outputs: { Done: {} }
//! transitions:
//!   - { from: count, on: Step, when: x < 2, assign: { x: x + 1 }, to: count }
//!   - { from: count, on: Done, when: x == 2, to: count }
//! ";
//! let source = SourceFile { name: "counter.yaml".to_owned(), text: text.to_owned() };
//! let (specification, _) = read_specification(source.into()).unwrap();
//! let system = System::new(&specification.iosts);
//! let limits = TreeLimits { is_restricted: true, ..TreeLimits::default() };
//! let tree = Growth::new(&system, limits).finish(&mut Z3Solver::default());
//! // Two steps, and Done, which changes nothing.
//! assert_eq!(tree.nodes.len(), 4);
//! let last = tree.nodes.numbers().last().unwrap();
//! assert!(matches!(tree.nodes[last].end, NodeEnd::Included(_)));
//! assert!(tree.is_complete());
//! ```

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::ops::Range;

use coreach_model::iosts::ActionKind;
use coreach_model::{LocationId, Number, Numbered, Term, TransitionId, budget};

use super::candidates::Candidates;
use super::inclusion::Tidy;
use super::merging::merge_states;
use super::projection::{By, Projections};
use super::quiescence::{Quiescence, quiescence, rest_quiescent};
use super::{SymbolicState, SymbolicStep, System};
use crate::solver::{Answer, Solver};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl Number for NodeId {
    fn of(place: usize) -> Self {
        // The limit of nodes is smaller.
        NodeId(u32::try_from(place).unwrap_or(u32::MAX))
    }

    fn place(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TreeMove {
    Start,
    Take(SymbolicStep),
    Quiet,
}

/// Why a branch is not in the tree: no data satisfy its path condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refuted {
    Transition(TransitionId),
    Quiet,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NodeEnd {
    Open,
    /// Its successors, if it has any, are in the tree.
    Expanded,
    /// It is included in this node, which is expanded.
    Included(NodeId),
    /// It was merged into this node of the same depth.
    Merged(NodeId),
    Depth,
    /// The tree had no room for its successors.
    Nodes,
    /// It comes after a quiescence after which nothing is specified.
    Sink,
    /// It is the root, and no data satisfy the initial condition.
    Unsatisfiable,
}

#[derive(Clone, Debug)]
pub struct TreeNode {
    pub parent: Option<NodeId>,
    pub by: TreeMove,
    pub state: SymbolicState,
    /// If others are merged into it: the state that stands for all of them, with new symbols.
    pub merged: Option<SymbolicState>,
    /// Is the path condition certainly satisfiable, and complete?
    pub is_certain: bool,
    pub end: NodeEnd,
    pub children: Range<u32>,
    pub refuted: Vec<Refuted>,
}

#[derive(Clone, Debug, Default)]
pub struct PathTree {
    /// The nodes in the order of their creation: the root first, and parents before children.
    pub nodes: Numbered<NodeId, TreeNode>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeLimits {
    /// The greatest depth of a node.
    pub depth: usize,
    pub nodes: usize,
    pub quiescence: Quiescence,
    /// Are states cut that are included in others?
    pub is_restricted: bool,
    pub is_merged: bool,
}

impl Default for TreeLimits {
    fn default() -> Self {
        TreeLimits {
            depth: 20,
            nodes: 10_000,
            quiescence: Quiescence::Unseen,
            is_restricted: false,
            is_merged: false,
        }
    }
}

impl TreeNode {
    fn open(parent: Option<NodeId>, by: TreeMove, state: SymbolicState, is_certain: bool) -> Self {
        let (merged, end, children, refuted) = (None, NodeEnd::Open, 0..0, Vec::new());
        TreeNode { parent, by, state, merged, is_certain, end, children, refuted }
    }

    /// The state that is continued: its own, or that of all nodes that are merged into it.
    pub fn continued_state(&self) -> &SymbolicState {
        self.merged.as_ref().unwrap_or(&self.state)
    }
}

impl PathTree {
    pub fn children(&self, node: NodeId) -> impl Iterator<Item = NodeId> + use<> {
        self.nodes[node].children.clone().map(NodeId)
    }

    /// The nodes from the root to this one, both included.
    pub fn path(&self, node: NodeId) -> Vec<NodeId> {
        let mut path = vec![node];
        while let Some(parent) = path.last().and_then(|last| self.nodes[*last].parent) {
            path.push(parent);
        }
        path.reverse();
        path
    }

    /// Was nothing stopped by a limit? Then the tree has every path or, if it is restricted, its expanded
    /// nodes show every step.
    pub fn is_complete(&self) -> bool {
        !self.nodes.iter().any(|node| matches!(node.end, NodeEnd::Open | NodeEnd::Depth | NodeEnd::Nodes))
    }

    /// The number of steps to the node that is furthest from the root.
    pub fn longest_path(&self) -> usize {
        self.nodes.iter().map(|node| node.state.depth).max().unwrap_or(0)
    }
}

pub struct Growth<'a, M = ()> {
    system: &'a System<'a>,
    limits: TreeLimits,
    quiet: Option<Numbered<LocationId, Option<Term>>>,
    remember: fn(&System<'_>, &M, &TreeMove) -> M,
    tree: PathTree,
    memories: Numbered<NodeId, M>,
    next: NodeId,
    /// The first node that is not merged with those of its depth yet.
    unmerged: NodeId,
    /// So many nodes, counted from the first, are complete: all their siblings are there too.
    complete_nodes: usize,
    projections: Projections,
    /// The number of each node's projection.
    projected: Numbered<NodeId, usize>,
    /// The expanded nodes, by projection and memory. Only a restricted tree has them.
    expanded: HashMap<(usize, M), NodeId>,
    candidates: Candidates<M, NodeId>,
}

impl<'a> Growth<'a> {
    pub fn new(system: &'a System<'a>, limits: TreeLimits) -> Self {
        Growth::remembering(system, limits, (), |_, (), _| ())
    }
}

impl<'a, M: Clone + Eq + Hash> Growth<'a, M> {
    /// Begins a tree with a memory of the path: `memory` is that of the root, and `remember` tells how a step
    /// changes it.
    pub fn remembering(
        system: &'a System<'a>,
        limits: TreeLimits,
        memory: M,
        remember: fn(&System<'_>, &M, &TreeMove) -> M,
    ) -> Self {
        let root = TreeNode::open(None, TreeMove::Start, SymbolicState::initial(system.iosts), true);
        let mut projections = Projections::new(system.iosts);
        // The first step asks whether the root's condition can hold.
        let first = projections.add(&root.state, /* is_certain */ false);
        Growth {
            system,
            limits,
            quiet: None,
            remember,
            tree: PathTree { nodes: vec![root].into() },
            memories: vec![memory].into(),
            next: NodeId(0),
            unmerged: NodeId(1),
            complete_nodes: 1,
            projections,
            projected: vec![first].into(),
            expanded: HashMap::new(),
            candidates: Candidates::default(),
        }
    }

    pub fn tree(&self) -> &PathTree {
        &self.tree
    }

    pub fn memory(&self, node: NodeId) -> &M {
        &self.memories[node]
    }

    /// Decides the end of the next node, or expands it. `None`: all nodes are decided.
    pub fn step(&mut self, solver: &mut dyn Solver) -> Option<NodeId> {
        let number = self.next;
        let node = self.tree.nodes.find(number)?;
        self.next = NodeId(number.0 + 1);
        let (location, depth) = (node.state.location, node.state.depth);
        // What the solver says of the root is asked with the first step.
        if node.parent.is_none() {
            let answer = solver.check(&node.state.condition);
            let root = &mut self.tree.nodes[number];
            root.is_certain = answer == Answer::Sat;
            if answer == Answer::Unsat {
                return self.decide(number, NodeEnd::Unsatisfiable);
            }
            self.projected[number] = self.projections.add(&root.state, root.is_certain);
            self.quiet =
                (self.limits.quiescence != Quiescence::Unseen).then(|| quiescence(self.system, solver));
        }
        if self.limits.is_merged && number == self.unmerged {
            self.merge();
        }
        if let NodeEnd::Merged(_) = self.tree.nodes[number].end {
            return Some(number);
        }
        let node = &self.tree.nodes[number];
        if self.limits.quiescence == Quiescence::Sink && node.by == TreeMove::Quiet {
            return self.decide(number, NodeEnd::Sink);
        }
        if self.limits.is_restricted
            && let Some(covering) = self.find_covering(number, solver)
        {
            return self.decide(number, NodeEnd::Included(covering));
        }
        if depth >= self.limits.depth {
            return self.decide(number, NodeEnd::Depth);
        }
        let most_children = self.system.outgoing[location].len() + usize::from(self.quiet.is_some());
        if self.tree.nodes.len() + most_children > self.limits.nodes {
            return self.decide(number, NodeEnd::Nodes);
        }
        if self.limits.is_restricted {
            let (projection, memory) = (self.projected[number], self.memories[number].clone());
            let data = self.projections.data();
            self.candidates.add(data, number, self.projections.get(projection), memory.clone());
            self.expanded.insert((projection, memory), number);
        }
        self.expand(number, &|_| true, solver);
        self.decide(number, NodeEnd::Expanded)
    }

    /// Merges the nodes of the next depth by location and memory. All nodes after the last merged one have
    /// this depth, and no more of them come.
    fn merge(&mut self) {
        let mut places: HashMap<(LocationId, M), usize> = HashMap::new();
        let mut groups: Vec<Vec<NodeId>> = Vec::new();
        let level = self.unmerged.0..self.tree.nodes.next_number().0;
        self.unmerged = NodeId(level.end);
        for number in level.map(NodeId) {
            let node = &self.tree.nodes[number];
            // A sink is not continued.
            if self.limits.quiescence == Quiescence::Sink && node.by == TreeMove::Quiet {
                continue;
            }
            let place =
                *places.entry((node.state.location, self.memories[number].clone())).or_insert_with(|| {
                    groups.push(Vec::new());
                    groups.len() - 1
                });
            groups[place].push(number);
        }
        for group in groups.into_iter().filter(|group| group.len() > 1) {
            let (first, others) = (group[0], &group[1..]);
            let is_certain = group.iter().all(|number| self.tree.nodes[*number].is_certain);
            let mut seen = HashSet::new();
            let mut projections: Vec<usize> = group.iter().map(|number| self.projected[*number]).collect();
            projections.retain(|projection| seen.insert(*projection));
            let states: Vec<&Tidy> = projections.iter().map(|number| self.projections.get(*number)).collect();
            let merged = merge_states(self.projections.data(), &states, &format!("@{}", first.0));
            let depth = self.tree.nodes[first].state.depth;
            let state = SymbolicState { depth, ..merged.state(self.projections.data()) };
            self.projected[first] = self.projections.add(&state, is_certain);
            let node = &mut self.tree.nodes[first];
            node.merged = Some(state);
            node.is_certain = is_certain;
            for other in others {
                self.tree.nodes[*other].end = NodeEnd::Merged(first);
            }
        }
    }

    fn decide(&mut self, number: NodeId, end: NodeEnd) -> Option<NodeId> {
        self.tree.nodes[number].end = end;
        Some(number)
    }

    pub fn finish(mut self, solver: &mut dyn Solver) -> PathTree {
        self.grow(solver);
        self.tree
    }

    /// Grows the tree until all nodes are decided.
    pub fn grow(&mut self, solver: &mut dyn Solver) {
        budget::doing("building the tree of symbolic states");
        while self.step(solver).is_some() {}
    }

    /// The tree so far. If a step was not ended, its nodes are left out.
    pub fn kept(mut self) -> PathTree {
        self.tree.nodes.truncate(self.complete_nodes);
        self.tree
    }

    /// Finds an expanded node that includes this one.
    fn find_covering(&mut self, number: NodeId, solver: &mut dyn Solver) -> Option<NodeId> {
        let (projection, memory) = (self.projected[number], self.memories[number].clone());
        if let Some(same) = self.expanded.get(&(projection, memory.clone())) {
            return Some(*same);
        }
        let projected = self.projections.get(projection);
        self.candidates.find_including(self.projections.data(), projected, memory, solver)
    }

    /// Adds the successors of the kinds that `is_wanted` accepts. Quiescence counts as an output.
    fn expand(&mut self, number: NodeId, is_wanted: &dyn Fn(ActionKind) -> bool, solver: &mut dyn Solver) {
        let first = self.tree.nodes.next_number();
        let parent = self.tree.nodes[number].clone();
        let iosts = self.system.iosts;
        let mut refuted = Vec::new();
        for &transition in &self.system.outgoing[parent.state.location] {
            if !is_wanted(iosts.action_of(transition).kind) {
                continue;
            }
            let child =
                self.system.successor(parent.continued_state(), transition).and_then(|(step, state)| {
                    Some((step, state, self.project_step(number, By::Transition(transition), None, solver)?))
                });
            match child {
                Some((step, state, projection)) => self.add(number, TreeMove::Take(step), state, projection),
                None => refuted.push(Refuted::Transition(transition)),
            }
        }
        if let Some(quiet) = self.quiet.as_ref().filter(|_| is_wanted(ActionKind::Output)) {
            let quiet = quiet[parent.state.location].clone();
            let (state, is_exact) = rest_quiescent(parent.continued_state(), quiet.as_ref());
            let child = state.and_then(|state| {
                Some((state, self.project_step(number, By::Quiescence, quiet.as_ref(), solver)?))
            });
            match child {
                Some((state, (projected, is_certain))) => {
                    self.add(number, TreeMove::Quiet, state, (projected, is_certain && is_exact));
                }
                None => refuted.push(Refuted::Quiet),
            }
        }
        let end = self.tree.nodes.next_number();
        let node = &mut self.tree.nodes[number];
        node.refuted = refuted;
        node.children = first.0..end.0;
        self.complete_nodes = self.tree.nodes.len();
    }

    /// The projection after a step, and whether the path condition is certain. `None`: it is unsatisfiable.
    fn project_step(
        &mut self,
        from: NodeId,
        by: By,
        quiet: Option<&Term>,
        solver: &mut dyn Solver,
    ) -> Option<(usize, bool)> {
        let from = (self.projected[from], self.tree.nodes[from].is_certain);
        self.projections.step(self.system, from, by, quiet, solver)
    }

    fn add(
        &mut self,
        parent: NodeId,
        by: TreeMove,
        state: SymbolicState,
        (projected, is_certain): (usize, bool),
    ) {
        self.projected.push(projected);
        self.memories.push((self.remember)(self.system, &self.memories[parent], &by));
        self.tree.nodes.push(TreeNode::open(Some(parent), by, state, is_certain));
    }

    /// Adds outputs and internal steps to a node at the limit of depth, and again after internal steps, as
    /// far as there is room. Returns the new nodes after an output, and whether there was room for all.
    pub(super) fn add_answers(&mut self, number: NodeId, solver: &mut dyn Solver) -> (Vec<NodeId>, bool) {
        let (mut answers, mut open_nodes) = (Vec::new(), vec![number]);
        let mut had_room = true;
        while let Some(number) = open_nodes.pop() {
            let most_children = self.system.outgoing[self.tree.nodes[number].state.location].len() + 1;
            if self.tree.nodes.len() + most_children > self.limits.nodes {
                had_room = false;
                self.tree.nodes[number].end = NodeEnd::Nodes;
                continue;
            }
            self.expand(number, &|kind| kind != ActionKind::Input, solver);
            for child in self.tree.children(number) {
                self.tree.nodes[child].end = NodeEnd::Depth;
                if is_output(self.system, &self.tree.nodes[child].by) {
                    answers.push(child);
                } else {
                    open_nodes.push(child);
                }
            }
        }
        answers.sort();
        (answers, had_room)
    }
}

/// Is the step an output or quiescence?
pub(super) fn is_output(system: &System<'_>, by: &TreeMove) -> bool {
    match by {
        TreeMove::Start => false,
        TreeMove::Take(step) => {
            let transition = &system.iosts.transitions[step.transition];
            system.iosts.action(transition.action).is_observed()
        }
        TreeMove::Quiet => true,
    }
}
