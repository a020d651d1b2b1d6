//! The fixpoint engine: the least solution of a system of equations over a graph, from above.
//!
//! **Problem.** For each node, `x[n] = entry(n) ⊔ ⊔ { transfer(e, x[source(e)]) | e into n }`. The exact
//! iteration need not end (thesis, Fig. 7.8). **Method.** Chaotic iteration in a weak topological order
//! ([`crate::order`]) with the recursive strategy. It widens only at the heads of components, after `delay`
//! plain joins at that head. Then `descending_steps` sweeps narrow the values. Forward and backward analyses
//! differ only in the direction of their edges.
//!
//! **Accelerated**, if the schedule says so: at a head, each edge from the head to itself is taken once or
//! more often at once, with the values that have just come in. The edges are taken one after the other and
//! then in reverse, so the effect of one edge on another is seen at once and not widened. A value that
//! contains this result contains the result of taking the edges once, so a solution is found. Descending
//! steps take the edges once.
//!
//! **Guided**, if the schedule says so (Gopan and Reps, *Guided static analysis*, SAS 2007,
//! <https://doi.org/10.1007/978-3-540-74061-2_22>): a component is solved in phases, with widening and
//! narrowing in each. At first all its edges are closed. Each phase opens the edges that lead to a state by
//! the values found so far, so the first effects of a loop are narrowed before its later effects are seen.
//! The paper opens only the edges after the solved part. Here a phase opens all edges up to those that go
//! back, and components inside others have no phases. After eight phases all edges are opened, and the
//! component is solved once more. So the soundness does not depend on the phases.
//!
//! **Where we differ.** The recursive strategy is a single pass with jumps: after the last node of a
//! component the pass goes back to its head, as long as an input of the head has changed. Nodes without a
//! changed input are skipped.
//!
//! **Why it ends.** Heads only grow, by widening, so each changes finitely often. Once they are stable, the
//! other nodes have no cycle. A head's delay is counted over the whole run. In addition the evaluations are
//! limited: [`Exhausted::Steps`]. An ascending iteration that is stopped has proved nothing, so every node
//! gets its fallback, which the caller guarantees to contain the solution. A descending iteration may be
//! stopped anywhere. **Cost.** Each evaluation of a node transfers along all its incoming edges. The caller
//! remembers results.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use coreach_model::budget;

use crate::order::{WeakOrder, weak_order};

/// Why an iteration stopped before it was done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Exhausted {
    /// The limit on evaluations was reached: its number. The knob is `step_limit`.
    Steps(usize),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Schedule {
    /// How many joins a head makes before it widens.
    pub delay: usize,
    /// How many sweeps narrow the values.
    pub descending_steps: usize,
    /// The most evaluations of nodes in one run.
    pub step_limit: usize,
    /// Are edges from a node to itself taken any number of times at once?
    pub accelerated: bool,
    /// Are the edges of a component opened in phases?
    pub guided: bool,
}

/// A system of equations. Values over-approximate.
pub trait Equations {
    type Value: Clone + PartialEq;
    fn bottom(&self) -> Self::Value;
    /// The value that enters at a node, in addition to its inputs.
    fn entry(&mut self, node: u32) -> Self::Value;
    fn transfer(&mut self, edge: u32, source: &Self::Value) -> Self::Value;
    /// Takes an edge from a node to itself, once or more often.
    fn repeated(&mut self, edge: u32, source: &Self::Value) -> Self::Value {
        self.transfer(edge, source)
    }
    fn join(&mut self, a: &Self::Value, b: &Self::Value) -> Self::Value;
    fn is_leq(&mut self, a: &Self::Value, b: &Self::Value) -> bool;
    /// Widens. `old` is below `new`.
    fn widen(&mut self, old: &Self::Value, new: &Self::Value) -> Self::Value;
    /// Narrows: the result is between `new` and `old`.
    fn narrow(&mut self, old: &Self::Value, new: &Self::Value) -> Self::Value;
    /// A value that contains the solution at the node.
    fn fallback(&mut self, node: u32) -> Self::Value;
}

/// The edges of a graph, in the direction in which values flow.
pub struct Flow {
    edges: Vec<(u32, u32)>,
    successors: Vec<Vec<u32>>,
    incoming: Vec<Vec<u32>>,
}

impl Flow {
    /// A graph from its edges (source, target).
    pub fn new(nodes: usize, edges: Vec<(u32, u32)>) -> Self {
        let mut successors = vec![Vec::new(); nodes];
        let mut incoming = vec![Vec::new(); nodes];
        for (number, (source, target)) in edges.iter().enumerate() {
            successors[*source as usize].push(*target);
            incoming[*target as usize].push(number as u32);
        }
        // Parallel edges count once for the order and for the marking of changes.
        for targets in &mut successors {
            let mut seen = HashSet::new();
            targets.retain(|target| seen.insert(*target));
        }
        Flow { edges, successors, incoming }
    }

    pub fn nodes(&self) -> usize {
        self.successors.len()
    }
}

pub struct Solution<V> {
    /// The value of each node.
    pub values: Vec<V>,
    /// How many evaluations of nodes were made.
    pub steps: usize,
    /// Why the iteration was stopped, if the values are the fallback.
    pub stopped: Option<Exhausted>,
}

/// Solves the equations from above. Nodes that no entry reaches are bottom.
pub fn solve<E: Equations>(
    flow: &Flow,
    entries: &[u32],
    equations: &mut E,
    strategy: &Schedule,
) -> Solution<E::Value> {
    let order = weak_order(&flow.successors, entries);
    let nodes = flow.successors.len();
    let values = vec![equations.bottom(); nodes];
    let mut dirty = vec![false; nodes];
    for node in &order.nodes {
        dirty[*node as usize] = true;
    }
    let closed = vec![false; flow.edges.len()];
    let mut run = SolverRun { flow, order, equations, values, dirty, closed, steps: 0, strategy: *strategy };
    if let Err(stop) = run.ascend() {
        let reached = std::mem::take(&mut run.order.nodes);
        for node in reached {
            run.values[node as usize] = run.equations.fallback(node);
        }
        return Solution { values: run.values, steps: run.steps, stopped: Some(stop) };
    }
    run.descend(0..run.order.nodes.len());
    Solution { values: run.values, steps: run.steps, stopped: None }
}

struct SolverRun<'a, E: Equations> {
    flow: &'a Flow,
    order: WeakOrder,
    equations: &'a mut E,
    values: Vec<E::Value>,
    dirty: Vec<bool>,
    /// For each edge: is it not opened yet?
    closed: Vec<bool>,
    steps: usize,
    strategy: Schedule,
}

impl<E: Equations> SolverRun<'_, E> {
    /// The right side of a node's equation.
    fn evaluate(&mut self, node: u32) -> E::Value {
        let entry = self.equations.entry(node);
        self.add_inputs(node, entry, false)
    }

    /// A head's value joined with the right side of its equation. Most inputs are below the value already, so
    /// joining them one by one to the value costs less than joining them to each other first.
    fn evaluate_above(&mut self, node: u32, old: &E::Value) -> E::Value {
        let entry = self.equations.entry(node);
        let sum = self.equations.join(old, &entry);
        self.add_inputs(node, sum, self.strategy.accelerated)
    }

    /// Joins the values along all open edges into a node. If `accelerated`, edges from the node to itself are
    /// taken once or more often.
    fn add_inputs(&mut self, node: u32, mut sum: E::Value, accelerated: bool) -> E::Value {
        budget::ask_now();
        self.steps += 1;
        self.dirty[node as usize] = false;
        let mut self_loops = Vec::new();
        for &edge in &self.flow.incoming[node as usize] {
            if self.closed[edge as usize] {
                continue;
            }
            let (source, _) = self.flow.edges[edge as usize];
            if accelerated && source == node {
                self_loops.push(edge);
                continue;
            }
            let value = self.equations.transfer(edge, &self.values[source as usize]);
            sum = self.equations.join(&sum, &value);
        }
        // Take these edges one after the other and, if something changed, once more in reverse.
        let entered = sum.clone();
        for edge in &self_loops {
            let value = self.equations.repeated(*edge, &sum);
            sum = self.equations.join(&sum, &value);
        }
        if sum != entered {
            // (The last edge was taken just now.)
            for edge in self_loops.iter().rev().skip(1) {
                let value = self.equations.repeated(*edge, &sum);
                sum = self.equations.join(&sum, &value);
            }
        }
        sum
    }

    fn set(&mut self, node: u32, value: E::Value) {
        self.values[node as usize] = value;
        for target in &self.flow.successors[node as usize] {
            self.dirty[*target as usize] = true;
        }
    }

    /// Ascends to a solution. If guided, each outermost component is solved in phases.
    fn ascend(&mut self) -> Result<(), Exhausted> {
        let count = self.order.nodes.len();
        if !self.strategy.guided {
            return self.ascend_in(0..count);
        }
        // The last position of the component of each head. A node that is no head is a part of its own.
        let mut ends: Vec<usize> = (0..count).collect();
        for (end, heads) in self.order.closes.iter().enumerate() {
            for head in heads {
                ends[*head as usize] = end;
            }
        }
        let mut position = 0;
        while position < count {
            let part = position..ends[position] + 1;
            position = part.end;
            if self.order.is_head[part.start] {
                self.guide(part)?;
            } else {
                self.ascend_in(part)?;
            }
        }
        Ok(())
    }

    /// Solves an outermost component in phases.
    fn guide(&mut self, part: Range<usize>) -> Result<(), Exhausted> {
        let inside: HashSet<u32> = self.order.nodes[part.clone()].iter().copied().collect();
        // The closed edges of the component, by the nodes that they leave.
        let mut leaving: HashMap<u32, Vec<u32>> = HashMap::new();
        for node in &inside {
            for &edge in &self.flow.incoming[*node as usize] {
                let (source, _) = self.flow.edges[edge as usize];
                if inside.contains(&source) {
                    leaving.entry(source).or_default().push(edge);
                    self.closed[edge as usize] = true;
                }
            }
        }
        // After eight phases all edges are opened.
        for _ in 0..8 {
            if !self.open(part.clone(), &mut leaving) {
                break;
            }
            self.ascend_in(part.clone())?;
            self.descend(part.clone());
        }
        // Once more with all edges open.
        for edge in leaving.values().flatten() {
            self.closed[*edge as usize] = false;
        }
        for node in &inside {
            self.dirty[*node as usize] = true;
        }
        self.ascend_in(part)
    }

    /// Opens the edges that lead to a state by now, in the order of the nodes, and evaluates each node before
    /// its edges. Returns whether an edge was opened.
    fn open(&mut self, part: Range<usize>, leaving: &mut HashMap<u32, Vec<u32>>) -> bool {
        let bottom = self.equations.bottom();
        let mut opened = false;
        for position in part {
            let node = self.order.nodes[position];
            if self.dirty[node as usize] {
                let old = self.values[node as usize].clone();
                let new = self.evaluate_above(node, &old);
                if new != old {
                    self.set(node, new);
                }
            }
            let Some(edges) = leaving.get_mut(&node) else { continue };
            edges.retain(|&edge| {
                let is_closed = self.equations.transfer(edge, &self.values[node as usize]) == bottom;
                if !is_closed {
                    self.closed[edge as usize] = false;
                    self.dirty[self.flow.edges[edge as usize].1 as usize] = true;
                    opened = true;
                }
                is_closed
            });
        }
        opened
    }

    /// Evaluates the nodes whose inputs have changed, until nothing changes.
    fn ascend_in(&mut self, part: Range<usize>) -> Result<(), Exhausted> {
        let mut visits = vec![0usize; part.len()];
        let mut position = part.start;
        while position < part.end {
            let node = self.order.nodes[position];
            if self.dirty[node as usize] {
                if self.steps >= self.strategy.step_limit {
                    return Err(Exhausted::Steps(self.strategy.step_limit));
                }
                if self.order.is_head[position] {
                    self.raise(node, &mut visits[position - part.start]);
                } else {
                    let new = self.evaluate(node);
                    if new != self.values[node as usize] {
                        self.set(node, new);
                    }
                }
            }
            // After the last node of a component, go back to its head if an input of the head has changed.
            let is_dirty = |head: &&u32| self.dirty[self.order.nodes[**head as usize] as usize];
            position = match self.order.closes[position].iter().find(is_dirty) {
                Some(head) => *head as usize,
                None => position + 1,
            };
        }
        Ok(())
    }

    /// Joins or widens a head's value with its inputs. `visits` counts how often it grew.
    fn raise(&mut self, node: u32, visits: &mut usize) {
        let old = self.values[node as usize].clone();
        let sum = self.evaluate_above(node, &old);
        if sum == old || self.equations.is_leq(&sum, &old) {
            return;
        }
        *visits += 1;
        let next = if *visits > self.strategy.delay { self.equations.widen(&old, &sum) } else { sum };
        self.set(node, next);
    }

    /// Narrows in sweeps until nothing changes, the sweeps are used up, or the limit is reached. Every
    /// intermediate state is a solution: if the left sides contain the least fixpoint, so do the right sides.
    fn descend(&mut self, part: Range<usize>) {
        for node in &self.order.nodes[part.clone()] {
            self.dirty[*node as usize] = true;
        }
        for _ in 0..self.strategy.descending_steps {
            let mut changed = false;
            for position in part.clone() {
                let node = self.order.nodes[position];
                if !self.dirty[node as usize] {
                    continue;
                }
                if self.steps >= self.strategy.step_limit {
                    return;
                }
                let new = self.evaluate(node);
                let old = self.values[node as usize].clone();
                if new == old {
                    continue;
                }
                let narrowed = self.equations.narrow(&old, &new);
                if narrowed != old {
                    self.set(node, narrowed);
                    changed = true;
                }
            }
            if !changed {
                return;
            }
        }
    }
}
