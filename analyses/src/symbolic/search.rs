//! Searches a shortest path to a goal, with values. The search is bounded, guided by the graph, and pruned by
//! polyhedra.
//!
//! **Problem.** From a state of a run, or from any initial state: which steps, with which values, lead to one
//! of the goal's locations? The graph alone does not see counters, so it repeats a loop for ever. Symbolic
//! execution alone has too many paths, one for each interleaving.
//!
//! **Method.** The search is best first (A*): by the cost of the path plus the distance to the goal in the
//! graph. A node is a location and the data that the path *leaves possible* there: a cell of the finite data
//! and a polyhedron over the numbers ([`crate::transfer`]). Each case of a transition's condition makes its
//! own node, so nothing is joined. A node within an expanded node of the same location is dropped: the
//! expanded node can do the same, and no later. So a counting loop costs one node per pass, and interleavings
//! become the same node. At a goal the path is executed symbolically, and the solver finds the values. Only
//! with values is it a path.
//!
//! **Where it is inexact.** A polyhedron may contain more than the path allows (`mod`, products, arrays,
//! holes between integers). Then a goal may have no values, and the search goes on. After a number of such
//! goals it begins anew without polyhedra: each node is a symbolic state, and the solver is asked for each
//! ([`Solver::check_along`]). *There is none* is answered only if the polyhedra, which contain at least all
//! possible data, reach no goal.
//!
//! **Ends** at the limits. These count nodes and work (terms, elements, operations on polyhedra, the solver's
//! own units), and not time, so the answer is the same on every machine. **Costs** a few operations on
//! polyhedra for each node, remembered by the numbers of the elements, and a question at the end.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::Duration;

use coreach_model::budget::{self, Budget, Limit};
use coreach_model::iosts::{Iosts, LocationId, TransitionId};
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Numbered, Term};
use coreach_polyhedra::account::{self, Account};

use crate::condition::count_joined_parts;
use crate::domains::DomainKind;
use crate::partition::ElementId;
use crate::places::Arrays;
use crate::solver::{Answer, Solver, Witness};
use crate::symbolic::expanded::Expanded;
use crate::symbolic::state::{PreparedSystem, SymbolicState, SymbolicStep, System};
use crate::transfer::Abstraction;

/// The most cells of the finite data. Beyond them, the least mentioned data are not distinguished.
const MOST_CELLS: usize = 1 << 12;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SearchGoal {
    pub locations: Numbered<LocationId, bool>,
    /// The locations through which no path may go.
    pub closed: Numbered<LocationId, bool>,
    /// The risk of each transition. Among paths of one length, the one with the least sum of risks is found.
    pub risks: Numbered<TransitionId, usize>,
}

impl SearchGoal {
    /// Makes the goal to reach one of these locations, through any others and without risks.
    pub fn reaching(locations: Numbered<LocationId, bool>, iosts: &Iosts) -> Self {
        SearchGoal { closed: locations.map(|_| false), risks: iosts.transitions.map(|_| 0), locations }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SearchLimits {
    pub nodes: usize,
    /// The most goals without values, before the search begins anew without polyhedra.
    pub spurious: usize,
    /// The most nodes that are expanded without polyhedra.
    pub exact_nodes: usize,
    /// The most work, in steps. A second has about a million.
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
    /// The state at its end. Its condition is that of the path.
    pub last: SymbolicState,
    /// Values of the symbols with which the condition holds. A missing symbol may have any value.
    pub values: Valuation,
}

#[derive(Clone, Debug)]
pub enum SearchOutcome {
    /// A path: a shortest one, as far as polyhedra tell.
    Path(GoalPath),
    None,
    NotFound(SearchBound),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SearchBound {
    Nodes(usize),
    Work(u64),
    /// The processor time that the caller allows was used up.
    Time(Duration),
    /// Goals were reached, but no values were found for the paths there. The number of expanded nodes.
    Values(usize),
    /// A number became too long.
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

/// Searches paths through one IOSTS. A search reuses the results of those before it.
pub struct Searcher {
    iosts: Iosts,
    prepared: PreparedSystem,
    goal: SearchGoal,
    /// The least number of steps to the goal that the graph allows.
    distances: Numbered<LocationId, Option<usize>>,
    abstraction: Abstraction,
    account: Account,
}

/// A node: the location of a path, and the data that it leaves possible.
struct SearchNode {
    location: LocationId,
    cell: u32,
    element: ElementId,
    depth: usize,
    risk: usize,
    /// The number of the node before it, and the transition from there. `None`: the path begins here.
    from: Option<(usize, TransitionId)>,
}

impl Searcher {
    pub fn new(iosts: Iosts, goal: SearchGoal) -> Self {
        let distances = find_distances(&iosts, &goal);
        let prepared = PreparedSystem::new(&iosts);
        Searcher {
            abstraction: new_abstraction(&iosts),
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

    /// Searches a path from a concrete state.
    pub fn from_state(
        &mut self,
        state: &State,
        limits: &SearchLimits,
        solver: &mut dyn Solver,
    ) -> SearchOutcome {
        self.within_budget(limits, |searcher| {
            let entry = searcher.abstraction.find_point(&state.valuation);
            searcher.search(&SymbolicState::of(state), entry.into_iter().collect(), limits, solver)
        })
    }

    /// Searches a path from some initial state that also satisfies this condition.
    pub fn from_start(
        &mut self,
        condition: &Term,
        limits: &SearchLimits,
        solver: &mut dyn Solver,
    ) -> SearchOutcome {
        let mut start = SymbolicState::initial(&self.iosts);
        start.condition.extend(condition.lowered().conjuncts());
        self.within_budget(limits, |searcher| {
            let value = searcher.abstraction.satisfying(&Term::and(start.condition.iter().cloned()));
            searcher.search(&start, value.cells().to_vec(), limits, solver)
        })
    }

    /// Runs a search with a budget of its own. If a number is too long, or the work too much, nothing was
    /// found, and the caller's budget goes on.
    fn within_budget(
        &mut self,
        limits: &SearchLimits,
        search: impl FnOnce(&mut Self) -> SearchOutcome,
    ) -> SearchOutcome {
        let budget = Budget::new("search", Some(Limit::Work(limits.work)), /* is_certain */ false);
        self.account = Account::default();
        let outcome = budget::within(&budget, || search(self));
        outcome.unwrap_or_else(|passed| {
            // An operation may have been left unfinished, so begin with a new abstraction.
            self.abstraction = new_abstraction(&self.iosts);
            SearchOutcome::NotFound(match passed.limit {
                Limit::Work(most) => SearchBound::Work(most),
                // The budget has no other limits.
                _ => SearchBound::Digits,
            })
        })
    }

    /// Searches the goal from `start`, best first: by depth plus distance, then by risk, then by age.
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
        let system = System::from_prepared(&self.iosts, &self.prepared);
        let mut nodes: Vec<SearchNode> = Vec::new();
        let mut open: BinaryHeap<Reverse<(usize, usize, usize)>> = BinaryHeap::new();
        let mut expanded = Expanded::default();
        let (mut expansions, mut spurious) = (0, 0);
        let (goal, distances) = (&self.goal, &self.distances);
        let push = |nodes: &mut Vec<SearchNode>, open: &mut BinaryHeap<_>, node: SearchNode| {
            if let Some(distance) = distances[node.location] {
                open.push(Reverse((node.depth + distance, node.risk, nodes.len())));
                nodes.push(node);
            }
        };
        let location = start.location;
        for (cell, element) in entries {
            let node = SearchNode { location, cell, element, depth: 0, risk: 0, from: None };
            push(&mut nodes, &mut open, node);
        }
        // The limit is in steps, and a result of a case takes about a hundred of them.
        let most_work = self.abstraction.work + limits.work / 100;
        while let Some(Reverse((_, _, number))) = open.pop() {
            budget::ask();
            // The next search can use the cases that were computed, so this limit is not that of the budget.
            if self.abstraction.work > most_work {
                return SearchOutcome::NotFound(SearchBound::Work(limits.work));
            }
            let SearchNode { location, cell, element, depth, risk, .. } = nodes[number];
            if goal.locations[location] {
                if let Some(path) = execute_path(&system, start, &nodes, number, solver) {
                    return SearchOutcome::Path(path);
                }
                // The polyhedra contain more than the path allows.
                spurious += 1;
                if spurious >= limits.spurious {
                    break;
                }
                continue;
            }
            if !expanded.add(&self.abstraction.store, (location, cell), element) {
                continue;
            }
            expansions += 1;
            if expansions > limits.nodes {
                return SearchOutcome::NotFound(SearchBound::Nodes(limits.nodes));
            }
            for &transition in &system.outgoing[location] {
                let target = self.iosts.transitions[transition].target;
                if goal.closed[target] || distances[target].is_none() {
                    continue;
                }
                let risk = risk + goal.risks[transition];
                // Four row operations of polyhedra, or sixteen joined parts, count as one step of work.
                let spent_so_far = || account::spent() / 4 + count_joined_parts() / 16;
                let spent_before = spent_so_far();
                let abstraction = &mut self.abstraction;
                let after =
                    self.account.within(|| abstraction.post_each(transition.0 as usize, cell, element));
                budget::spend(spent_so_far().wrapping_sub(spent_before));
                for (cell, element) in after {
                    let from = Some((number, transition));
                    let node = SearchNode { location: target, cell, element, depth: depth + 1, risk, from };
                    push(&mut nodes, &mut open, node);
                }
            }
        }
        // No goal was reached, so there is no path.
        if spurious == 0 {
            return SearchOutcome::None;
        }
        search_exactly(&system, goal, distances, start, limits, solver)
            .unwrap_or(SearchOutcome::NotFound(SearchBound::Values(expansions)))
    }
}

fn new_abstraction(iosts: &Iosts) -> Abstraction {
    let domain = DomainKind::Polyhedra.implementation();
    let frame = Abstraction::frame_for(domain, iosts, MOST_CELLS, Arrays::default().without_summaries());
    Abstraction::new(domain, iosts, MOST_CELLS, Vec::new(), frame)
}

/// Executes the path to a node symbolically, and finds values. `None`: it has none.
fn execute_path(
    system: &System<'_>,
    start: &SymbolicState,
    nodes: &[SearchNode],
    number: usize,
    solver: &mut dyn Solver,
) -> Option<GoalPath> {
    let path = std::iter::successors(nodes[number].from, |(parent, _)| nodes[*parent].from);
    let mut transitions: Vec<TransitionId> = path.map(|(_, transition)| transition).collect();
    transitions.reverse();
    let mut last = start.clone();
    let mut steps = Vec::new();
    for transition in transitions {
        let (step, next) = system.successor(&last, transition)?;
        steps.push(step);
        last = next;
    }
    find_values(steps, last, solver)
}

/// Finds values of the symbols on a path. `None`: the solver finds none.
fn find_values(steps: Vec<SymbolicStep>, last: SymbolicState, solver: &mut dyn Solver) -> Option<GoalPath> {
    match solver.witness(&last.condition) {
        Witness::Found(values) => Some(GoalPath { steps, last, values }),
        Witness::None | Witness::Unknown => None,
    }
}

/// Searches over symbolic states that the solver does not refute, without polyhedra. `None`: nothing was
/// found.
fn search_exactly(
    system: &System<'_>,
    goal: &SearchGoal,
    distances: &Numbered<LocationId, Option<usize>>,
    start: &SymbolicState,
    limits: &SearchLimits,
    solver: &mut dyn Solver,
) -> Option<SearchOutcome> {
    let mut nodes: Vec<(Vec<SymbolicStep>, SymbolicState)> = vec![(Vec::new(), start.clone())];
    let mut open = BinaryHeap::from([Reverse((distances[start.location]?, 0, 0))]);
    let mut expansions = 0;
    while let Some(Reverse((_, risk, number))) = open.pop() {
        budget::ask();
        let (steps, state) = nodes[number].clone();
        if goal.locations[state.location] {
            if let Some(path) = find_values(steps, state, solver) {
                return Some(SearchOutcome::Path(path));
            }
            continue;
        }
        expansions += 1;
        if expansions > limits.exact_nodes {
            return None;
        }
        for (step, next) in system.successors(&state) {
            let Some(distance) = distances[next.location].filter(|_| !goal.closed[next.location]) else {
                continue;
            };
            if solver.check_along(&next.condition) == Answer::Unsat {
                continue;
            }
            let risk = risk + goal.risks[step.transition];
            let mut longer = steps.clone();
            longer.push(step);
            open.push(Reverse((next.depth + distance, risk, nodes.len())));
            nodes.push((longer, next));
        }
    }
    None
}

/// Computes for each location the least number of steps to the goal through locations that are not closed.
pub fn find_distances(iosts: &Iosts, goal: &SearchGoal) -> Numbered<LocationId, Option<usize>> {
    let mut incoming = iosts.locations.map(|_| Vec::new());
    for transition in &iosts.transitions {
        incoming[transition.target].push(transition.source);
    }
    let mut distances = goal.locations.map(|is_goal| is_goal.then_some(0));
    let mut level: Vec<LocationId> =
        goal.locations.numbers().filter(|place| goal.locations[*place]).collect();
    let mut length = 0;
    while !level.is_empty() {
        length += 1;
        let mut next = Vec::new();
        for location in level {
            for &source in &incoming[location] {
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
