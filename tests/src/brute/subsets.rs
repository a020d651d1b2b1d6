//! `after` (Definition 4.16) for all traces: sets of states, closed under internal steps before and behind
//! each event, made as they are asked for.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use super::EventId;
use super::explore::Graph;

/// The sets that traces lead to. The empty set has no number: a trace that leads there is none.
pub struct Subsets<'a> {
    graph: &'a Graph,
    sets: Vec<Rc<[u32]>>,
    index: HashMap<Rc<[u32]>, u32>,
    next: Vec<Option<Rc<BTreeMap<EventId, u32>>>>,
}

impl<'a> Subsets<'a> {
    /// The sets of a system.
    pub fn new(graph: &'a Graph) -> Self {
        Subsets { graph, sets: Vec::new(), index: HashMap::new(), next: Vec::new() }
    }

    /// The set after the empty trace; `None` where the system has no initial state.
    pub fn start(&mut self) -> Option<u32> {
        let initial = self.graph.initial.clone();
        self.number(initial)
    }

    /// The states of a set.
    pub fn states(&self, set: u32) -> Rc<[u32]> {
        self.sets[set as usize].clone()
    }

    /// The set after each event that some state of this one can do.
    pub fn next(&mut self, set: u32) -> Rc<BTreeMap<EventId, u32>> {
        if let Some(known) = &self.next[set as usize] {
            return known.clone();
        }
        let mut targets: BTreeMap<EventId, Vec<u32>> = BTreeMap::new();
        for &state in self.states(set).iter() {
            for &(event, target) in &self.graph.visible[state as usize] {
                targets.entry(event).or_default().push(target);
            }
        }
        let mut next = BTreeMap::new();
        for (event, states) in targets {
            next.extend(self.number(states).map(|number| (event, number)));
        }
        let next = Rc::new(next);
        self.next[set as usize] = Some(next.clone());
        next
    }

    fn number(&mut self, states: Vec<u32>) -> Option<u32> {
        let closed: Rc<[u32]> = internal_closure(self.graph, states).into();
        if closed.is_empty() {
            return None;
        }
        let fresh = self.sets.len() as u32;
        let number = *self.index.entry(closed.clone()).or_insert(fresh);
        if number == fresh {
            self.sets.push(closed);
            self.next.push(None);
        }
        Some(number)
    }
}

/// The states, and what internal steps lead to from them; sorted.
pub fn internal_closure(graph: &Graph, states: Vec<u32>) -> Vec<u32> {
    let mut work = states;
    let mut closed = std::collections::BTreeSet::new();
    while let Some(state) = work.pop() {
        if closed.insert(state) {
            work.extend(&graph.internal[state as usize]);
        }
    }
    closed.into_iter().collect()
}
