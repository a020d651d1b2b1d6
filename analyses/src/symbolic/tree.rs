//! The symbolic execution tree, as far as its limits let it grow.
//!
//! **Problem.** All paths through a system, each with what it asks of the data: as many as they are, and most of them alike.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006): the tree of the satisfiable states (Definition 9), quiescence as an output
//! (Definition 4), restriction by inclusion (Definition 11).
//!
//! **Where we differ.** In Definition 11 two states that include each other may both be cut, each for the other's sake, and a state may be cut for
//! its own. Here a state is cut only for one that *is expanded*. States are looked at in the order of their creation, breadth first, so what
//! covers was expanded before; it is never taken back. Hence whatever a cut state can do is done, step by step, by states that are expanded. A state
//! whose inclusion is not known is expanded. Beside the state, a tree may *remember* something of the path (the last transition, for one):
//! then only states with equal memories cover each other, and what depends on the memory is lost nowhere.
//!
//! **Storage.** Nodes stand in one list, in the order of their creation. A node's children are made at once and stand side by side. A node
//! is expanded as a whole or not at all.
//!
//! **Certain.** A branch is left out only where its path condition is unsatisfiable. Where the solver does not know, it stays, and is not
//! *certain*; neither is what is behind it. The same holds of a quiescence that could not be said without a quantifier: it is there, and its
//! condition is not.
//!
//! **Ends** by its limits: of depth, of nodes; and by the budget of time and memory, which every term and question asks.
//! **Cost**: for each step two substitutions and one question along its path, for what is new in it; none where a step asks for nothing new. With
//! restriction, for each state a look into a table, and at most a question for each expanded state of its location. 100,000 nodes of the
//! published teller machine take some three seconds and 110 MB.
//!
//! ```
//! use coreach_analyses::solver::z3::Z3Solver;
//! use coreach_analyses::symbolic::{End, Growth, System, TreeLimits};
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
//! // Two steps, and Done, after which all is as before.
//! assert_eq!(tree.nodes.len(), 4);
//! let last = tree.nodes.numbers().last().unwrap();
//! assert!(matches!(tree.nodes[last].end, End::Included(_)));
//! assert!(tree.is_complete());
//! ```

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::Range;

use coreach_model::iosts::ActionKind;
use coreach_model::{Datum, LocationId, Number, Numbered, Term, TransitionId, budget};

use super::inclusion::{Inclusion, Shape, Tidy, data_of, inclusion, tidy};
use super::quiescence::{Quiescence, quiescence};
use super::{Step, SymbolicState, System};
use crate::solver::{Answer, Solver};

/// A node's number in its tree.
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

/// How a node is reached from its parent.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Move {
    /// It is where the tree begins.
    Start,
    /// Through a transition.
    Take(Step),
    /// By being quiescent.
    Quiet,
}

/// Why a branch is not in the tree: no data satisfy its path condition.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Refuted {
    /// Through this transition.
    Transition(TransitionId),
    /// Being quiescent.
    Quiet,
}

/// What became of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    /// Nothing yet.
    Open,
    /// Its successors are in the tree; perhaps there are none.
    Expanded,
    /// All it stands for is among what this node stands for, which is expanded.
    Included(NodeId),
    /// It stands at the limit of depth.
    Depth,
    /// The tree had no room for its successors.
    Nodes,
    /// It is behind a quiescence behind which nothing is specified.
    Sink,
    /// Of the first one: no data satisfy the initial condition.
    Unsatisfiable,
}

/// A symbolic state in its place.
#[derive(Clone, Debug)]
pub struct Node {
    /// The one that it was reached from.
    pub parent: Option<NodeId>,
    /// How.
    pub by: Move,
    /// The state.
    pub state: SymbolicState,
    /// Is the path condition certainly satisfiable, and all that the path asks for?
    pub is_certain: bool,
    /// What became of it.
    pub end: End,
    /// Its successors, which stand side by side.
    pub children: Range<u32>,
    /// The successors that there are not.
    pub refuted: Vec<Refuted>,
}

/// A symbolic execution tree, or its beginning.
#[derive(Clone, Debug, Default)]
pub struct Tree {
    /// Its nodes in the order of their creation: the root first, parents before children.
    pub nodes: Numbered<NodeId, Node>,
}

/// How far a tree grows, and in which form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TreeLimits {
    /// No node is further from the root.
    pub depth: usize,
    /// No more nodes.
    pub nodes: usize,
    /// What becomes of quiescence.
    pub quiescence: Quiescence,
    /// Are states cut that others include?
    pub is_restricted: bool,
}

impl Default for TreeLimits {
    fn default() -> Self {
        TreeLimits { depth: 20, nodes: 10_000, quiescence: Quiescence::Unseen, is_restricted: false }
    }
}

impl Tree {
    /// A node's children.
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

    /// Is all in it that can happen: was nothing stopped by a limit? Of a restriction: do its expanded nodes show every step?
    pub fn is_complete(&self) -> bool {
        !self.nodes.iter().any(|node| matches!(node.end, End::Open | End::Depth | End::Nodes))
    }

    /// The number of steps to the node that is furthest from the root.
    pub fn longest_path(&self) -> usize {
        // Breadth first; and what was added behind is deeper.
        self.nodes.iter().map(|node| node.state.depth).max().unwrap_or(0)
    }
}

/// A tree that grows.
pub struct Growth<'a, M = ()> {
    system: &'a System<'a>,
    limits: TreeLimits,
    data: Vec<Datum>,
    quiet: Option<Numbered<LocationId, Option<Term>>>,
    remember: fn(&System<'_>, &M, &Move) -> M,
    tree: Tree,
    memories: Numbered<NodeId, M>,
    next: NodeId,
    /// Of the nodes these are there with all that stand beside them.
    whole: usize,
    shapes: HashMap<(Shape, M), NodeId>,
    expanded: Numbered<LocationId, Vec<(NodeId, Tidy)>>,
}

impl<'a> Growth<'a> {
    /// Of this system.
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
            is_certain: true,
            end: End::Open,
            children: 0..0,
            refuted: Vec::new(),
        };
        Growth {
            system,
            limits,
            data: data_of(system.iosts),
            quiet: (limits.quiescence != Quiescence::Unseen).then(|| quiescence(system)),
            remember,
            tree: Tree { nodes: vec![root].into() },
            memories: vec![memory].into(),
            next: NodeId(0),
            whole: 1,
            shapes: HashMap::new(),
            expanded: Numbered::filled(Vec::new(), system.iosts.locations.len()),
        }
    }

    /// The tree so far.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// What is remembered at a node.
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
                    return self.decided(number, End::Unsatisfiable);
                }
            }
        }
        let node = &self.tree.nodes[number];
        if self.limits.quiescence == Quiescence::Sink && node.by == Move::Quiet {
            return self.decided(number, End::Sink);
        }
        let own = self.limits.is_restricted.then(|| tidy(&self.data, &node.state, node.is_certain));
        if let Some(other) = own.as_ref().and_then(|own| self.covering(number, own, solver)) {
            return self.decided(number, End::Included(other));
        }
        if depth >= self.limits.depth {
            return self.decided(number, End::Depth);
        }
        let most = self.system.outgoing[location].len() + usize::from(self.quiet.is_some());
        if self.tree.nodes.len() + most > self.limits.nodes {
            return self.decided(number, End::Nodes);
        }
        if let Some(own) = own {
            self.shapes.entry((own.shape(), self.memories[number].clone())).or_insert(number);
            self.expanded[location].push((number, own));
        }
        self.expand(number, &|_| true, solver);
        self.decided(number, End::Expanded)
    }

    fn decided(&mut self, number: NodeId, end: End) -> Option<NodeId> {
        self.tree.nodes[number].end = end;
        Some(number)
    }

    /// All of it.
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
    fn covering(&self, number: NodeId, own: &Tidy, solver: &mut dyn Solver) -> Option<NodeId> {
        let memory = &self.memories[number];
        if let Some(same) = self.shapes.get(&(own.shape(), memory.clone())) {
            return Some(*same);
        }
        let state = &self.tree.nodes[number].state;
        let candidates =
            self.expanded[state.location].iter().filter(|(other, _)| self.memories[*other] == *memory);
        candidates
            .into_iter()
            .find(|(_, other)| inclusion(&self.data, own, other, solver) == Inclusion::Yes)
            .map(|(other, _)| *other)
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
            let child = self.system.successor(&parent.state, transition).and_then(|(step, state)| {
                let is_certain = self.is_kept(&parent, &state, solver)?;
                Some((Move::Take(step), state, is_certain))
            });
            match child {
                Some((by, state, is_certain)) => self.add(number, by, state, is_certain),
                None => refuted.push(Refuted::Transition(transition)),
            }
        }
        if let Some(quiet) = self.quiet.as_ref().filter(|_| wanted(ActionKind::Output)) {
            let (state, is_exact) = rested(&parent.state, quiet[parent.state.location].as_ref());
            match state.and_then(|state| Some((self.is_kept(&parent, &state, solver)?, state))) {
                Some((is_certain, state)) => self.add(number, Move::Quiet, state, is_certain && is_exact),
                None => refuted.push(Refuted::Quiet),
            }
        }
        let end = self.tree.nodes.next_number();
        let node = &mut self.tree.nodes[number];
        node.refuted = refuted;
        node.children = first.0..end.0;
        self.whole = self.tree.nodes.len();
    }

    /// Whether the path condition is certain; none where it is unsatisfiable.
    fn is_kept(&self, parent: &Node, state: &SymbolicState, solver: &mut dyn Solver) -> Option<bool> {
        if state.condition.len() == parent.state.condition.len() {
            return Some(parent.is_certain);
        }
        match solver.check_along(&state.condition) {
            Answer::Unsat => None,
            Answer::Sat => Some(parent.is_certain),
            Answer::Unknown => Some(false),
        }
    }

    fn add(&mut self, parent: NodeId, by: Move, state: SymbolicState, is_certain: bool) {
        self.memories.push((self.remember)(self.system, &self.memories[parent], &by));
        self.tree.nodes.push(Node {
            parent: Some(parent),
            by,
            state,
            is_certain,
            end: End::Open,
            children: 0..0,
            refuted: Vec::new(),
        });
    }

    /// Adds to a node at the limit of depth its outputs and internal steps, and behind internal steps the same again, as far as there is room.
    /// Returns the new nodes that an output leads to, and whether there was room for all.
    pub(super) fn answers(&mut self, number: NodeId, solver: &mut dyn Solver) -> (Vec<NodeId>, bool) {
        let (mut found, mut work) = (Vec::new(), vec![number]);
        let mut had_room = true;
        while let Some(number) = work.pop() {
            let most = self.system.outgoing[self.tree.nodes[number].state.location].len() + 1;
            if self.tree.nodes.len() + most > self.limits.nodes {
                had_room = false;
                self.tree.nodes[number].end = End::Nodes;
                continue;
            }
            self.expand(number, &|kind| kind != ActionKind::Input, solver);
            for child in self.tree.children(number) {
                self.tree.nodes[child].end = End::Depth;
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
            system.iosts.action(transition.action).kind == ActionKind::Output
        }
        Move::Quiet => true,
    }
}

/// The state after having been quiescent, none where it cannot be by its shape; and whether its condition says all.
fn rested(from: &SymbolicState, quiet: Option<&Term>) -> (Option<SymbolicState>, bool) {
    let mut state = from.clone();
    state.depth += 1;
    let Some(quiet) = quiet else { return (Some(state), false) };
    let condition = coreach_model::term::substitute(quiet, &from.valuation);
    if condition.is_false() {
        return (None, true);
    }
    state.condition.extend(condition.conjuncts().into_iter().filter(|part| !from.condition.contains(part)));
    (Some(state), true)
}
