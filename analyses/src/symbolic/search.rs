//! A shortest path to a goal, with values: bounded, guided by the graph, pruned by polyhedra.
//!
//! **Problem.** From a state of a run, or from any initial state: which steps, with which values, lead to one
//! of the goal's locations? The graph alone repeats a loop for ever whose counter it cannot see; symbolic
//! execution alone has a path for each interleaving, and drowns.
//!
//! **Method.** Best first (A*): what a path has cost, and the graph's distance from where it is. A node is a
//! location and *what the path leaves possible* there: a cell of the finite data and a polyhedron over the
//! numbers ([`crate::transfer`]), a case of a transition's condition at a time, so that nothing is joined. A
//! node within one that was expanded before, at the same location, is dropped: whatever it can do that one
//! can, and no later. So a loop that counts costs a node per pass and interleavings fall together, where the
//! path conditions of [`super::SymbolicState`]s would all differ. At a goal the path is executed
//! symbolically, and the solver gives the values; they are what makes it a path.
//!
//! **Where it is inexact.** A polyhedron may hold more than the path allows (`mod`, products, arrays, holes
//! between integers). A goal may then have no values: the search goes on, and behind so many such goals it
//! begins anew without polyhedra, where each node is a symbolic state and the solver is asked for each
//! ([`Solver::check_along`]). What was dropped as "within" may have been dropped wrongly only behind such a
//! node. *There is none* is said only where the polyhedra, which hold at least what is possible, came to an
//! end without a goal.
//!
//! **Ends** at the limits, which count nodes and work (terms, elements, operations on polyhedra, the
//! solver's own units) and not time: the same question has the same answer on every machine and at every
//! load. **Costs** a few operations on polyhedra for each node, remembered by the numbers of the elements,
//! and a question at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use coreach_model::budget::{self, Budget, Limit};
use coreach_model::iosts::{Iosts, LocationId, TransitionId};
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Numbered, Term};
use coreach_polyhedra::account::{self, Account};

use crate::domains::polyhedra::Polyhedra;
use crate::partition::ElementId;
use crate::places::Arrays;
use crate::solver::{Answer, Solver, Witness};
use crate::symbolic::expanded::Expanded;
use crate::symbolic::state::{Prepared, SymbolicState, SymbolicStep, System};
use crate::transfer::Abstraction;

/// The most cells of the finite data: beyond them the least mentioned are not told apart.
const MOST_CELLS: usize = 1 << 12;

/// So many steps of work is a result of a case.
const RESULT: u64 = 100;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchGoal {
    pub locations: Numbered<LocationId, bool>,
    /// The locations that no path goes through.
    pub closed: Numbered<LocationId, bool>,
    /// What each transition costs besides its step: of ways of one length the one with the least sum is
    /// found.
    pub risks: Numbered<TransitionId, usize>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchLimits {
    pub nodes: usize,
    /// The most goals that turn out to have no values, before polyhedra are given up.
    pub spurious: usize,
    /// The most nodes that are expanded without polyhedra.
    pub exact_nodes: usize,
    /// The most work, in steps of which a second has about a million.
    pub work: u64,
}

impl Default for SearchLimits {
    fn default() -> Self {
        SearchLimits { nodes: 4000, spurious: 4, exact_nodes: 400, work: 1_000_000 }
    }
}

#[derive(Clone, Debug)]
pub struct GoalPath {
    pub steps: Vec<SymbolicStep>,
    /// The state at its end: its condition is what the way asks for.
    pub last: SymbolicState,
    /// Values of the symbols with which the condition holds; one that is missing may have any value.
    pub values: Valuation,
}

#[derive(Clone, Debug)]
pub enum SearchOutcome {
    /// A way; a shortest one, as far as polyhedra tell.
    Path(GoalPath),
    None,
    NotFound(SearchBound),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchBound {
    Nodes(usize),
    Work(u64),
    /// So much processor time was used, as whoever asked has allowed.
    Time(Duration),
    /// So many nodes were expanded, goals were reached, and no values were found for the paths there.
    Values(usize),
    /// A number has become too long.
    Digits,
}

impl std::fmt::Display for SearchBound {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            SearchBound::Nodes(1) => write!(f, "1 node"),
            SearchBound::Nodes(nodes) => write!(f, "{nodes} nodes"),
            SearchBound::Work(steps) => write!(f, "{steps} steps of work"),
            SearchBound::Time(time) => write!(f, "paths for {time:?} of processor time"),
            SearchBound::Values(nodes) => write!(f, "{nodes} nodes, to paths for which no values were found"),
            SearchBound::Digits => write!(f, "paths on which a number becomes too long"),
        }
    }
}

/// Looks for ways through one IOSTS; what it has computed for one search serves the next.
pub struct Searcher {
    iosts: Iosts,
    prepared: Prepared,
    goal: SearchGoal,
    /// The least number of steps to the goal that the graph allows.
    distances: Numbered<LocationId, Option<usize>>,
    abstraction: Abstraction<Polyhedra>,
    account: Account,
}

/// A node: where a path is, and what it leaves possible.
struct SearchNode {
    location: LocationId,
    cell: u32,
    element: ElementId,
    depth: usize,
    risk: usize,
    from: Option<(usize, TransitionId)>,
}

impl Searcher {
    pub fn new(iosts: Iosts, goal: SearchGoal) -> Self {
        let distances = distances(&iosts, &goal);
        let prepared = Prepared::new(&iosts);
        Searcher {
            abstraction: abstraction(&iosts),
            account: Account::default(),
            prepared,
            iosts,
            goal,
            distances,
        }
    }

    pub fn iosts(&self) -> &Iosts {
        &self.iosts
    }

    pub fn from_state(
        &mut self,
        state: &State,
        limits: &SearchLimits,
        solver: &mut dyn Solver,
    ) -> SearchOutcome {
        self.bounded(limits, |searcher| {
            let entry = searcher.abstraction.at(&state.valuation);
            searcher.search(&SymbolicState::of(state), entry.into_iter().collect(), limits, solver)
        })
    }

    /// A way from some initial state that satisfies this condition besides.
    pub fn from_start(
        &mut self,
        besides: &Term,
        limits: &SearchLimits,
        solver: &mut dyn Solver,
    ) -> SearchOutcome {
        let mut start = SymbolicState::initial(&self.iosts);
        start.condition.extend(besides.lowered().conjuncts());
        self.bounded(limits, |searcher| {
            let value = searcher.abstraction.satisfying(&Term::and(start.condition.iter().cloned()));
            searcher.search(&start, value.cells().to_vec(), limits, solver)
        })
    }

    /// A search that looks at a number which is too long, or is too much work, has found nothing; nobody
    /// else's work ends by it.
    fn bounded(
        &mut self,
        limits: &SearchLimits,
        search: impl FnOnce(&mut Self) -> SearchOutcome,
    ) -> SearchOutcome {
        let budget = Budget::new("search", Some(Limit::Work(limits.work)), false);
        self.account = Account::default();
        let found = budget::within(&budget, || search(self));
        found.unwrap_or_else(|passed| {
            // It may have been left in the middle of something.
            self.abstraction = abstraction(&self.iosts);
            SearchOutcome::NotFound(match passed.limit {
                Limit::Work(most) => SearchBound::Work(most),
                _ => SearchBound::Digits,
            })
        })
    }

    fn search(
        &mut self,
        start: &SymbolicState,
        entries: Vec<(u32, ElementId)>,
        limits: &SearchLimits,
        solver: &mut dyn Solver,
    ) -> SearchOutcome {
        if self.distances[start.location].is_none() {
            return SearchOutcome::None;
        }
        let system = System::prepared(&self.iosts, &self.prepared);
        let mut nodes: Vec<SearchNode> = Vec::new();
        // By cost, then by risk, then by age: no two are equal.
        let mut open: BinaryHeap<Reverse<(usize, usize, usize)>> = BinaryHeap::new();
        let mut expanded = Expanded::default();
        let (mut count, mut spurious) = (0, 0);
        let (goal, distances) = (&self.goal, &self.distances);
        let push = |nodes: &mut Vec<SearchNode>, open: &mut BinaryHeap<_>, node: SearchNode| {
            if let Some(left) = distances[node.location] {
                open.push(Reverse((node.depth + left, node.risk, nodes.len())));
                nodes.push(node);
            }
        };
        for (cell, element) in entries {
            let location = start.location;
            push(
                &mut nodes,
                &mut open,
                SearchNode { location, cell, element, depth: 0, risk: 0, from: None },
            );
        }
        let most = self.abstraction.work() + limits.work / RESULT;
        while let Some(Reverse((_, _, number))) = open.pop() {
            budget::ask();
            // The next search uses the same cases, so this is no end by the budget.
            if self.abstraction.work() > most {
                return SearchOutcome::NotFound(SearchBound::Work(limits.work));
            }
            let SearchNode { location, cell, element, depth, risk, .. } = nodes[number];
            if goal.locations[location] {
                if let Some(way) = walked(&system, start, &nodes, number, solver) {
                    return SearchOutcome::Path(way);
                }
                spurious += 1;
                if spurious >= limits.spurious {
                    break;
                }
                continue;
            }
            if !expanded.add(&self.abstraction.store, (location, cell), element) {
                continue;
            }
            count += 1;
            if count > limits.nodes {
                return SearchOutcome::NotFound(SearchBound::Nodes(count - 1));
            }
            for &transition in &system.outgoing[location] {
                let target = self.iosts.transitions[transition].target;
                if goal.closed[target] || distances[target].is_none() {
                    continue;
                }
                let risk = risk + goal.risks[transition];
                let before = account::spent();
                let abstraction = &mut self.abstraction;
                let after =
                    self.account.within(|| abstraction.post_each(transition.0 as usize, cell, element));
                // So many row operations of polyhedra are a step of work.
                budget::spend(account::spent().wrapping_sub(before) / 4);
                for (cell, element) in after {
                    let from = Some((number, transition));
                    let node = SearchNode { location: target, cell, element, depth: depth + 1, risk, from };
                    push(&mut nodes, &mut open, node);
                }
            }
        }
        if spurious == 0 {
            return SearchOutcome::None;
        }
        exactly(&system, goal, distances, start, limits, solver)
            .unwrap_or(SearchOutcome::NotFound(SearchBound::Values(count)))
    }
}

fn abstraction(iosts: &Iosts) -> Abstraction<Polyhedra> {
    let frame = Abstraction::<Polyhedra>::frame_for(iosts, MOST_CELLS, Arrays::default().without_summaries());
    Abstraction::new(iosts, MOST_CELLS, Vec::new(), frame)
}

/// The path to a node, executed symbolically, with values.
fn walked(
    system: &System<'_>,
    start: &SymbolicState,
    nodes: &[SearchNode],
    number: usize,
    solver: &mut dyn Solver,
) -> Option<GoalPath> {
    let path = std::iter::successors(nodes[number].from, |(before, _)| nodes[*before].from);
    let mut transitions: Vec<TransitionId> = path.map(|(_, transition)| transition).collect();
    transitions.reverse();
    let mut last = start.clone();
    let mut steps = Vec::new();
    for transition in transitions {
        let (step, next) = system.successor(&last, transition)?;
        steps.push(step);
        last = next;
    }
    with_values(steps, last, solver)
}

fn with_values(steps: Vec<SymbolicStep>, last: SymbolicState, solver: &mut dyn Solver) -> Option<GoalPath> {
    match solver.witness(&last.condition) {
        Witness::Found(values) => Some(GoalPath { steps, last, values }),
        Witness::None | Witness::Unknown => None,
    }
}

/// The same search over symbolic states, each of which the solver has not refuted. `None` where nothing was
/// found.
fn exactly(
    system: &System<'_>,
    goal: &SearchGoal,
    distances: &Numbered<LocationId, Option<usize>>,
    start: &SymbolicState,
    limits: &SearchLimits,
    solver: &mut dyn Solver,
) -> Option<SearchOutcome> {
    let mut nodes: Vec<(Vec<SymbolicStep>, SymbolicState)> = vec![(Vec::new(), start.clone())];
    let mut open = BinaryHeap::from([Reverse((distances[start.location]?, 0, 0))]);
    let mut count = 0;
    while let Some(Reverse((_, risk, number))) = open.pop() {
        budget::ask();
        let (steps, state) = nodes[number].clone();
        if goal.locations[state.location] {
            if let Some(way) = with_values(steps, state, solver) {
                return Some(SearchOutcome::Path(way));
            }
            continue;
        }
        count += 1;
        if count > limits.exact_nodes {
            return None;
        }
        for (step, next) in system.successors(&state) {
            let Some(left) = distances[next.location].filter(|_| !goal.closed[next.location]) else {
                continue;
            };
            if solver.check_along(&next.condition) == Answer::Unsat {
                continue;
            }
            let risk = risk + goal.risks[step.transition];
            let mut longer = steps.clone();
            longer.push(step);
            open.push(Reverse((next.depth + left, risk, nodes.len())));
            nodes.push((longer, next));
        }
    }
    None
}

/// For each location the least number of steps to the goal through locations that are not closed.
fn distances(iosts: &Iosts, goal: &SearchGoal) -> Numbered<LocationId, Option<usize>> {
    let mut incoming = iosts.locations.map(|_| Vec::new());
    for transition in &iosts.transitions {
        incoming[transition.target].push(transition.source);
    }
    let mut distances = goal.locations.map(|is_goal| is_goal.then_some(0));
    let mut level: Vec<LocationId> = distances.numbers().filter(|at| distances[*at] == Some(0)).collect();
    let mut length = 0;
    while !level.is_empty() {
        length += 1;
        let mut next = Vec::new();
        for at in level {
            for &source in &incoming[at] {
                if distances[source].is_none() && !goal.closed[source] {
                    distances[source] = Some(length);
                    next.push(source);
                }
            }
        }
        level = next;
    }
    distances
}
