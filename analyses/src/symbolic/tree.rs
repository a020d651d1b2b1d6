//! The symbolic execution tree, as far as its limits let it grow.
//!
//! **Problem.** All paths through a system, each with what it asks of the data: as many as they are, and most
//! of them alike.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006): the tree of the satisfiable states (Definition 9),
//! quiescence as an output (Definition 4), restriction by inclusion (Definition 11).
//!
//! **Where we differ.** In Definition 11 two states that include each other may both be cut, each for the
//! other's sake, and a state may be cut for its own. Here a state is cut only for one that *is expanded*.
//! States are looked at in the order of their creation, breadth first, so what covers was expanded before; it
//! is never taken back. Hence whatever a cut state can do is done, step by step, by states that are expanded.
//! A state whose inclusion is not known is expanded. Beside the state, a tree may *remember* something of the
//! path (the last transition, for one): then only states with equal memories cover each other, and what
//! depends on the memory is lost nowhere.
//!
//! **Merged** (on demand): before the nodes of a depth are looked at, those of one location and memory become
//! one (`merging.rs`). The first of them goes on for all; what it stands for then is beside its own
//! state, so that each path keeps its own condition up to there.
//!
//! **Storage.** Nodes stand in one list, in the order of their creation. A node's children are made at once
//! and stand side by side. A node is expanded as a whole or not at all.
//!
//! **Certain.** A branch is left out only where its path condition is unsatisfiable. Where the solver does
//! not know, it stays, and is not *certain*; neither is what is behind it. The same holds of a quiescence
//! that could not be said without a quantifier: it is there, and its condition is not.
//!
//! **Ends** by its limits: of depth, of nodes; and by the budget of time and memory, which every term and
//! question asks. **Cost**: for each step two substitutions, and a question about what the path leaves
//! possible (`projection`), which is not as long as the path; none where the same was asked of another node.
//! With restriction, for each state a look into a table, and few questions where that does not know it
//! (`candidates`).
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
//! inputs: { SymbolicStep: {} }
//! outputs: { Done: {} }
//! transitions:
//!   - { from: count, on: SymbolicStep, when: x < 2, assign: { x: x + 1 }, to: count }
//!   - { from: count, on: Done, when: x == 2, to: count }
//! ";
//! let source = SourceFile { name: "counter.yaml".to_owned(), text: text.to_owned() };
//! let (specification, _) = read_specification(source.into()).unwrap();
//! let system = System::new(&specification.iosts);
//! let limits = TreeLimits { is_restricted: true, ..TreeLimits::default() };
//! let tree = Growth::new(&system, limits).finish(&mut Z3Solver::default());
//! // Two steps, and Done, after which all is as before.
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
use super::merging::merged;
use super::projection::{By, Projections};
use super::quiescence::{Quiescence, quiescence, rested};
use super::{SymbolicState, SymbolicStep, System};
use crate::solver::{Answer, Solver};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NodeId(pub u32);

impl Number for NodeId {
    fn of(place: usize) -> Self {
        // The limit of nodes ends before.
        NodeId(u32::try_from(place).unwrap_or(u32::MAX))
    }

    fn place(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Move {
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
    /// Its successors are in the tree; perhaps there are none.
    Expanded,
    /// All it stands for is among what this node stands for, which is expanded.
    Included(NodeId),
    /// This node, of the same depth, goes on for it.
    Merged(NodeId),
    Depth,
    /// The tree had no room for its successors.
    Nodes,
    /// It is behind a quiescence behind which nothing is specified.
    Sink,
    /// Of the first one: no data satisfy the initial condition.
    Unsatisfiable,
}

#[derive(Clone, Debug)]
pub struct Node {
    pub parent: Option<NodeId>,
    pub by: Move,
    pub state: SymbolicState,
    /// Where others are merged into it, what all of them stand for: over symbols of its own, which are what
    /// data may be then.
    pub merged: Option<SymbolicState>,
    /// Is the path condition certainly satisfiable, and all that the path asks for?
    pub is_certain: bool,
    pub end: NodeEnd,
    pub children: Range<u32>,
    pub refuted: Vec<Refuted>,
}

#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Its nodes in the order of their creation: the root first, parents before children.
    pub nodes: Numbered<NodeId, Node>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeLimits {
    /// No node is further from the root.
    pub depth: usize,
    pub nodes: usize,
    pub quiescence: Quiescence,
    /// Are states cut that others include?
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

impl Node {
    /// What it goes on from: its own state, or that of all that are merged into it.
    pub fn stands(&self) -> &SymbolicState {
        self.merged.as_ref().unwrap_or(&self.state)
    }
}

impl Tree {
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

    /// Is all in it that can happen: was nothing stopped by a limit? Of a restriction: do its expanded nodes
    /// show every step?
    pub fn is_complete(&self) -> bool {
        !self.nodes.iter().any(|node| matches!(node.end, NodeEnd::Open | NodeEnd::Depth | NodeEnd::Nodes))
    }

    /// The number of steps to the node that is furthest from the root.
    pub fn longest_path(&self) -> usize {
        // Breadth first; and what was added behind is deeper.
        self.nodes.iter().map(|node| node.state.depth).max().unwrap_or(0)
    }
}

pub struct Growth<'a, M = ()> {
    system: &'a System<'a>,
    limits: TreeLimits,
    quiet: Option<Numbered<LocationId, Option<Term>>>,
    remember: fn(&System<'_>, &M, &Move) -> M,
    tree: Tree,
    memories: Numbered<NodeId, M>,
    next: NodeId,
    /// The first node that is not merged with those of its depth yet.
    unmerged: NodeId,
    /// Of the nodes these are there with all that stand beside them.
    whole: usize,
    projections: Projections,
    /// For each node the number of its projection.
    projected: Numbered<NodeId, usize>,
    expanded: HashMap<(usize, M), NodeId>,
    candidates: Candidates<M, NodeId>,
}

impl<'a> Growth<'a> {
    pub fn new(system: &'a System<'a>, limits: TreeLimits) -> Self {
        Growth::remembering(system, limits, (), |_, (), _| ())
    }
}

impl<'a, M: Clone + Eq + Hash> Growth<'a, M> {
    /// Of this system, with a memory of the path: this one at the root, and how a step changes it.
    pub fn remembering(
        system: &'a System<'a>,
        limits: TreeLimits,
        memory: M,
        remember: fn(&System<'_>, &M, &Move) -> M,
    ) -> Self {
        let root = Node {
            parent: None,
            by: Move::Start,
            state: SymbolicState::initial(system.iosts),
            merged: None,
            is_certain: true,
            end: NodeEnd::Open,
            children: 0..0,
            refuted: Vec::new(),
        };
        let mut projections = Projections::new(system.iosts);
        let first = projections.add(&root.state, false);
        Growth {
            system,
            limits,
            quiet: None,
            remember,
            tree: Tree { nodes: vec![root].into() },
            memories: vec![memory].into(),
            next: NodeId(0),
            unmerged: NodeId(1),
            whole: 1,
            projections,
            projected: vec![first].into(),
            expanded: HashMap::new(),
            candidates: Candidates::default(),
        }
    }

    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    pub fn memory(&self, node: NodeId) -> &M {
        &self.memories[node]
    }

    /// Decides what becomes of the next node, and returns it; none where all are decided.
    pub fn step(&mut self, solver: &mut dyn Solver) -> Option<NodeId> {
        let number = self.next;
        let node = self.tree.nodes.find(number)?;
        self.next = NodeId(number.0 + 1);
        let (location, depth) = (node.state.location, node.state.depth);
        if node.parent.is_none() {
            match solver.check(&node.state.condition) {
                Answer::Sat => {}
                Answer::Unknown => self.tree.nodes[number].is_certain = false,
                Answer::Unsat => {
                    self.tree.nodes[number].is_certain = false;
                    return self.decided(number, NodeEnd::Unsatisfiable);
                }
            }
        }
        let node = &self.tree.nodes[number];
        if node.parent.is_none() {
            self.quiet =
                (self.limits.quiescence != Quiescence::Unseen).then(|| quiescence(self.system, solver));
            self.projected[number] = self.projections.add(&node.state, node.is_certain);
        }
        if self.limits.is_merged && number == self.unmerged {
            self.merge();
        }
        if let NodeEnd::Merged(_) = self.tree.nodes[number].end {
            return Some(number);
        }
        let node = &self.tree.nodes[number];
        if self.limits.quiescence == Quiescence::Sink && node.by == Move::Quiet {
            return self.decided(number, NodeEnd::Sink);
        }
        if self.limits.is_restricted
            && let Some(other) = self.covering(number, solver)
        {
            return self.decided(number, NodeEnd::Included(other));
        }
        if depth >= self.limits.depth {
            return self.decided(number, NodeEnd::Depth);
        }
        let most = self.system.outgoing[location].len() + usize::from(self.quiet.is_some());
        if self.tree.nodes.len() + most > self.limits.nodes {
            return self.decided(number, NodeEnd::Nodes);
        }
        if self.limits.is_restricted {
            let (own, memory) = (self.projected[number], self.memories[number].clone());
            let data = self.projections.data();
            self.candidates.add(data, number, self.projections.get(own), memory.clone());
            self.expanded.insert((own, memory), number);
        }
        self.expand(number, &|_| true, solver);
        self.decided(number, NodeEnd::Expanded)
    }

    /// Merges the nodes that are left, which are all of one depth.
    fn merge(&mut self) {
        let mut places: HashMap<(LocationId, M), usize> = HashMap::new();
        let mut alike: Vec<Vec<NodeId>> = Vec::new();
        let level = self.unmerged.0..self.tree.nodes.next_number().0;
        self.unmerged = NodeId(level.end);
        for number in level.map(NodeId) {
            let node = &self.tree.nodes[number];
            if self.limits.quiescence == Quiescence::Sink && node.by == Move::Quiet {
                continue;
            }
            let place =
                *places.entry((node.state.location, self.memories[number].clone())).or_insert_with(|| {
                    alike.push(Vec::new());
                    alike.len() - 1
                });
            alike[place].push(number);
        }
        for alike in alike.into_iter().filter(|alike| alike.len() > 1) {
            let (first, others) = (alike[0], &alike[1..]);
            let is_certain = alike.iter().all(|number| self.tree.nodes[*number].is_certain);
            let mut seen = HashSet::new();
            let numbers = alike.iter().map(|number| self.projected[*number]);
            let different = numbers.filter(|projected| seen.insert(*projected));
            let states: Vec<&Tidy> = different.map(|projected| self.projections.get(projected)).collect();
            let Some(whole) = merged(self.projections.data(), &states, &format!("@{}", first.0)) else {
                continue;
            };
            let depth = self.tree.nodes[first].state.depth;
            let state = SymbolicState { depth, ..whole.state(self.projections.data()) };
            self.projected[first] = self.projections.add(&state, is_certain);
            let node = &mut self.tree.nodes[first];
            node.merged = Some(state);
            node.is_certain = is_certain;
            for other in others {
                self.tree.nodes[*other].end = NodeEnd::Merged(first);
            }
        }
    }

    fn decided(&mut self, number: NodeId, end: NodeEnd) -> Option<NodeId> {
        self.tree.nodes[number].end = end;
        Some(number)
    }

    pub fn finish(mut self, solver: &mut dyn Solver) -> Tree {
        self.grow(solver);
        self.tree
    }

    /// Decides what becomes of all nodes.
    pub fn grow(&mut self, solver: &mut dyn Solver) {
        budget::doing("growing the tree of symbolic states");
        while self.step(solver).is_some() {}
    }

    /// What there is of it, also where a step was not ended: without what that step had begun.
    pub fn kept(mut self) -> Tree {
        self.tree.nodes.truncate(self.whole);
        self.tree
    }

    /// An expanded node that stands for all that this one stands for.
    fn covering(&mut self, number: NodeId, solver: &mut dyn Solver) -> Option<NodeId> {
        let (own, memory) = (self.projected[number], self.memories[number].clone());
        if let Some(same) = self.expanded.get(&(own, memory.clone())) {
            return Some(*same);
        }
        self.candidates.including(self.projections.data(), self.projections.get(own), memory, solver)
    }

    /// Adds the successors that are wanted: of a transition by its kind, quiescence as an output.
    fn expand(&mut self, number: NodeId, wanted: &dyn Fn(ActionKind) -> bool, solver: &mut dyn Solver) {
        let first = self.tree.nodes.next_number();
        let parent = self.tree.nodes[number].clone();
        let iosts = self.system.iosts;
        let mut refuted = Vec::new();
        for &transition in &self.system.outgoing[parent.state.location] {
            if !wanted(iosts.action(iosts.transitions[transition].action).kind) {
                continue;
            }
            let child = self.system.successor(parent.stands(), transition).and_then(|(step, state)| {
                Some((step, state, self.led(number, By::Transition(transition), None, solver)?))
            });
            match child {
                Some((step, state, led)) => self.add(number, Move::Take(step), state, led),
                None => refuted.push(Refuted::Transition(transition)),
            }
        }
        if let Some(quiet) = self.quiet.as_ref().filter(|_| wanted(ActionKind::Output)) {
            let quiet = quiet[parent.state.location].clone();
            let (state, is_exact) = rested(parent.stands(), quiet.as_ref());
            let child = state
                .and_then(|state| Some((state, self.led(number, By::Quiescence, quiet.as_ref(), solver)?)));
            match child {
                Some((state, (projected, is_certain))) => {
                    self.add(number, Move::Quiet, state, (projected, is_certain && is_exact));
                }
                None => refuted.push(Refuted::Quiet),
            }
        }
        let end = self.tree.nodes.next_number();
        let node = &mut self.tree.nodes[number];
        node.refuted = refuted;
        node.children = first.0..end.0;
        self.whole = self.tree.nodes.len();
    }

    /// The projection behind a step, and whether the path condition is certain; none where it is
    /// unsatisfiable.
    fn led(
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
        by: Move,
        state: SymbolicState,
        (projected, is_certain): (usize, bool),
    ) {
        self.projected.push(projected);
        self.memories.push((self.remember)(self.system, &self.memories[parent], &by));
        self.tree.nodes.push(Node {
            parent: Some(parent),
            by,
            state,
            merged: None,
            is_certain,
            end: NodeEnd::Open,
            children: 0..0,
            refuted: Vec::new(),
        });
    }

    /// Adds to a node at the limit of depth its outputs and internal steps, and behind internal steps the
    /// same again, as far as there is room. Returns the new nodes that an output leads to, and whether there
    /// was room for all.
    pub(super) fn answers(&mut self, number: NodeId, solver: &mut dyn Solver) -> (Vec<NodeId>, bool) {
        let (mut found, mut work) = (Vec::new(), vec![number]);
        let mut had_room = true;
        while let Some(number) = work.pop() {
            let most = self.system.outgoing[self.tree.nodes[number].state.location].len() + 1;
            if self.tree.nodes.len() + most > self.limits.nodes {
                had_room = false;
                self.tree.nodes[number].end = NodeEnd::Nodes;
                continue;
            }
            self.expand(number, &|kind| kind != ActionKind::Input, solver);
            for child in self.tree.children(number) {
                self.tree.nodes[child].end = NodeEnd::Depth;
                if is_output(self.system, &self.tree.nodes[child].by) {
                    found.push(child);
                } else {
                    work.push(child);
                }
            }
        }
        found.sort();
        (found, had_room)
    }
}

/// Does it end with something that the system shows?
pub(super) fn is_output(system: &System<'_>, by: &Move) -> bool {
    match by {
        Move::Start => false,
        Move::Take(step) => {
            let transition = &system.iosts.transitions[step.transition];
            system.iosts.action(transition.action).is_observed()
        }
        Move::Quiet => true,
    }
}
