//! Finds the shortest route that meets each goal, or proves that there is none.
//!
//! **Method.** The tree of symbolic states grows breadth first, restricted by inclusion. It remembers what
//! the goals need to know about a path: nothing for an item that one event shows in one state, the last
//! transition for pairs, and the last assignment of each variable for definitions and uses. At each step, for
//! each open goal that the step could meet, the solver is asked whether the conditions of the path and of the
//! goal can hold together. If they can, the run is made concrete, and all explanations of its trace are
//! checked ([`super::evidence`]). A run that does not show the goal for certain is continued up to the next
//! visible events. If that does not help, a longer path may.
//!
//! **None.** A state that was cut can do nothing that an expanded state with the same memory cannot do. So if
//! the tree ends within its limits, and a goal was unsatisfiable at each of its steps, no run meets the goal.
//! If an answer was not known, or limits ended the tree, the goal is unknown. **Cost**: the tree, and a
//! question for each pair of a step and an open goal that it could meet.

use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::{Growth, NodeEnd, NodeId, PathTree, System, TreeLimits, TreeMove, TreeNode};
use coreach_execution::coverage::{Item, Items, Walked, proofs};
use coreach_model::iosts::ActionKind;
use coreach_model::term::substitute;
use coreach_model::{Term, TransitionId, budget};

use super::evidence::{Explanations, Route, RunEvidence, collect_shown, run_along, values_before_step};
use super::goals::{Goal, uses};

/// The most steps by which a path is continued, and the most ways to continue it.
const MOST_STEPS_ON: usize = 4;
const MOST_WAYS_ON: usize = 12;

#[derive(Clone, Debug)]
pub struct MetGoal {
    pub route: Route,
    /// A run along the route. Each of its explanations meets the goal.
    pub evidence: RunEvidence,
    /// Does each run along the route meet the goal? If not, a mutant may also do right.
    pub is_certain: bool,
}

pub enum Sought {
    Met(MetGoal),
    /// No run meets it: the tree ended with this number of nodes.
    Never(usize),
    Unknown(Doubt),
}

pub enum Doubt {
    /// Limits ended the tree, which has this number of nodes and this depth.
    Bound(usize, usize),
    /// A path meets it, but each tried trace has an explanation that does not meet it.
    Ambiguous,
    Solver,
}

/// The memory of a path: numbers of transitions, as [`RememberedGoals`] says. They count from 1; 0 is none.
type PathMemory = Vec<u32>;

type Remember = fn(&System<'_>, &PathMemory, &TreeMove) -> PathMemory;

/// Goals that need the same memory of a path: nothing, the last transition, or the last assignments.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum RememberedGoals {
    Items,
    Pairs,
    Definitions,
}

fn remember_last(_: &System<'_>, _: &PathMemory, by: &TreeMove) -> PathMemory {
    match by {
        TreeMove::Take(step) => vec![step.transition.0 + 1],
        TreeMove::Start | TreeMove::Quiet => vec![0],
    }
}

/// Remembers for each variable the transition that assigned it last.
fn remember_assignments(system: &System<'_>, before: &PathMemory, by: &TreeMove) -> PathMemory {
    let mut after = before.clone();
    if let TreeMove::Take(step) = by {
        let transition = &system.iosts.transitions[step.transition];
        for (number, variable) in system.iosts.variables.iter().enumerate() {
            if transition.assignments.contains_key(variable) {
                after[number] = step.transition.0 + 1;
            }
        }
    }
    after
}

/// A goal that is searched for, with its place in the list of goals.
struct OpenGoal {
    place: usize,
    goal: Goal,
    sought: Option<MetGoal>,
    tries: usize,
    doubt: Option<Doubt>,
}

/// Called as soon as a goal is met, with the goal's place.
type OnMet<'a> = &'a mut dyn FnMut(usize, &MetGoal);

/// Searches for all goals, which need the same memory. Calls `met` for each met goal at once.
pub fn search(
    walked: &Walked,
    goals: &[Goal],
    kind: RememberedGoals,
    limits: TreeLimits,
    met: OnMet<'_>,
    solver: &mut dyn Solver,
) -> Vec<Sought> {
    budget::doing("looking for paths to the goals");
    let system = System::new(&walked.iosts);
    let mut open_goals: Vec<OpenGoal> = goals
        .iter()
        .enumerate()
        .map(|(place, goal)| OpenGoal { place, goal: goal.clone(), sought: None, tries: 0, doubt: None })
        .collect();
    let limits = TreeLimits { is_restricted: true, ..limits };
    let (start, remember): (PathMemory, Remember) = match kind {
        RememberedGoals::Items => (Vec::new(), |_, _, _| Vec::new()),
        RememberedGoals::Pairs => (vec![0], remember_last),
        RememberedGoals::Definitions => (vec![0; walked.iosts.variables.len()], remember_assignments),
    };
    let mut growth = Growth::remembering(&system, limits, start, remember);
    let mut searcher = GoalSearcher { walked, system: &system, met, solver };
    let mut has_begun = false;
    while open_goals.iter().any(|open| open.sought.is_none()) {
        let Some(number) = growth.step(searcher.solver) else { break };
        let tree = growth.tree();
        // The first node is the root, which no step reaches.
        if !has_begun {
            has_begun = true;
            if tree.nodes[number].end != NodeEnd::Unsatisfiable {
                open_goals.iter_mut().for_each(|open| searcher.meet_by_arrival(tree, number, open));
            }
        }
        for child in tree.children(number) {
            for open in open_goals.iter_mut().filter(|open| open.sought.is_none()) {
                budget::ask();
                searcher.meet_by_step(tree, growth.memory(number), child, open);
                if open.sought.is_none() {
                    searcher.meet_by_arrival(tree, child, open);
                }
            }
        }
    }
    let tree = growth.tree();
    let (is_complete, nodes, depth) = (tree.is_complete(), tree.nodes.len(), tree.longest_path());
    let fate = |open: OpenGoal| match (open.sought, open.doubt) {
        (Some(found), _) => Sought::Met(found),
        (None, Some(doubt)) => Sought::Unknown(doubt),
        (None, None) if is_complete => Sought::Never(nodes),
        (None, None) => Sought::Unknown(Doubt::Bound(nodes, depth)),
    };
    open_goals.into_iter().map(fate).collect()
}

/// Finds a run along a path, or along a continuation of it, that shows the path for certain. The path must be
/// possible, since a failed search is [`Doubt::Ambiguous`], also if the solver has no answer.
pub fn find_run_along(walked: &Walked, path: Vec<TransitionId>, solver: &mut dyn Solver) -> Sought {
    let system = System::new(&walked.iosts);
    // The only goal is returned, so the callback has nothing to do.
    let mut searcher = GoalSearcher { walked, system: &system, met: &mut |_, _| {}, solver };
    let goal = Goal::Path(path.clone());
    let found = searcher.find_certain_run(&Route::new(path), &goal);
    found.map_or(Sought::Unknown(Doubt::Ambiguous), Sought::Met)
}

struct GoalSearcher<'a, 's> {
    walked: &'a Walked,
    system: &'a System<'a>,
    met: &'s mut dyn FnMut(usize, &MetGoal),
    solver: &'s mut dyn Solver,
}

impl GoalSearcher<'_, '_> {
    /// The items of the specification, which is the only part ([`Walked::alone`]).
    fn items(&self) -> &Items {
        &self.walked.parts[0].items
    }

    /// Tries to meet the goal by the step to this node. `memory` is that of the path before the step.
    fn meet_by_step(&mut self, tree: &PathTree, memory: &PathMemory, child: NodeId, open: &mut OpenGoal) {
        let TreeMove::Take(step) = &tree.nodes[child].by else { return };
        let (number, iosts) = (step.transition, self.system.iosts);
        let taken = &iosts.transitions[number];
        let asked = match &open.goal {
            Goal::Item(item) => match &self.items().all()[*item] {
                Item::Transition(wanted) if *wanted == number => Term::yes(),
                Item::Class { transition, .. } if *transition == number => self.condition(*item),
                // Any event of its action in its location shows whether the guard's condition holds.
                Item::Condition { transition, .. } => {
                    let guarded = &iosts.transitions[*transition];
                    let is_shown = guarded.source == taken.source
                        && guarded.action == taken.action
                        && iosts.action(guarded.action).kind != ActionKind::Internal;
                    if !is_shown {
                        return;
                    }
                    self.condition(*item)
                }
                _ => return,
            },
            Goal::Pair(first, second) if *second == number && *memory == [first.0 + 1] => Term::yes(),
            Goal::DefinitionUse { variable, definition, used } => {
                let place = iosts.variables.iter().position(|other| other == variable);
                let is_met = *used == number
                    && uses(taken, variable)
                    && place.is_some_and(|place| memory[place] == definition.0 + 1);
                if !is_met {
                    return;
                }
                Term::yes()
            }
            _ => return,
        };
        self.try_before_last(tree, child, Some(asked), open);
    }

    /// Tries to meet the goal by being at this node, whatever step leads there.
    fn meet_by_arrival(&mut self, tree: &PathTree, node: NodeId, open: &mut OpenGoal) {
        let Goal::Item(item) = open.goal else { return };
        let (iosts, at) = (self.system.iosts, tree.nodes[node].state.location);
        match &self.items().all()[item] {
            Item::Location(location) if *location == at => self.try_before_last(tree, node, None, open),
            Item::Condition { transition, .. } => {
                let guarded = &iosts.transitions[*transition];
                if guarded.source == at && iosts.action(guarded.action).kind == ActionKind::Internal {
                    let condition = self.condition(item);
                    self.try_in_state(tree, node, condition, open);
                }
            }
            _ => {}
        }
    }

    fn condition(&self, item: usize) -> Term {
        let items = self.items();
        Term::and(proofs::required_terms(self.system.iosts, items, &items.all()[item]))
    }

    /// Tries a goal whose condition is about the last step: about the data before it, and its parameters.
    fn try_before_last(&mut self, tree: &PathTree, node: NodeId, asked: Option<Term>, open: &mut OpenGoal) {
        let reached = &tree.nodes[node];
        let mut route = Route::new(path_transitions(tree, node));
        let mut condition = reached.state.condition.clone();
        if let Some(asked) = asked.filter(|asked| !asked.is_true()) {
            let previous = reached.parent.map(|parent| &tree.nodes[parent].state);
            let (Some(previous), TreeMove::Take(step)) = (previous, &reached.by) else { return };
            condition.push(substitute(&asked, &values_before_step(self.system, previous, step)));
            route.asked.insert(route.path.len() - 1, asked);
        }
        self.try_route(reached, condition, &route, open);
    }

    /// Tries a goal whose condition is about the data at the end of the path.
    fn try_in_state(&mut self, tree: &PathTree, node: NodeId, asked: Term, open: &mut OpenGoal) {
        let reached = &tree.nodes[node];
        let mut condition = reached.state.condition.clone();
        condition.push(substitute(&asked, &reached.state.data_terms()));
        let mut route = Route::new(path_transitions(tree, node));
        // Without a visible step before, the next step asks for it.
        let (place, asked) =
            self.condition_before(&route.path, asked.clone()).unwrap_or((route.path.len(), asked));
        route.asked.insert(place, asked);
        self.try_route(reached, condition, &route, open);
    }

    /// Turns a condition on the state at a path's end into one on the last visible step. Replaces the
    /// variables by the values that this step and later steps assign. `None` without a visible step.
    fn condition_before(&self, path: &[TransitionId], mut asked: Term) -> Option<(usize, Term)> {
        let iosts = self.system.iosts;
        for (place, number) in path.iter().enumerate().rev() {
            let transition = &iosts.transitions[*number];
            asked = substitute(&asked, &transition.assignments);
            if iosts.action(transition.action).is_visible() {
                return Some((place, asked));
            }
        }
        None
    }

    /// If the condition can hold, makes a run along the route, and tries to show the goal for certain.
    fn try_route(&mut self, reached: &TreeNode, condition: Vec<Term>, route: &Route, open: &mut OpenGoal) {
        // The node's own condition needs no question, if it is known to hold for some values.
        let answer = match condition.len() == reached.state.condition.len() && reached.is_certain {
            true => Answer::Sat,
            false => self.solver.check(&condition),
        };
        match answer {
            Answer::Unsat => return,
            Answer::Unknown => {
                open.doubt.get_or_insert(Doubt::Solver);
                return;
            }
            Answer::Sat => {}
        }
        open.doubt = Some(Doubt::Ambiguous);
        // At most 12 paths are made concrete for a goal before it is given up.
        if open.tries < 12 {
            open.tries += 1;
            open.sought = self.find_certain_run(route, &open.goal);
            if let Some(found) = &open.sought {
                (self.met)(open.place, found);
            }
        }
    }

    /// Finds a run along the route or a continuation of it that shows the goal for certain, or else `None`.
    fn find_certain_run(&mut self, route: &Route, goal: &Goal) -> Option<MetGoal> {
        let iosts = self.system.iosts;
        if !route.is_determined(iosts) {
            return None;
        }
        // The continuations go to the end of the list, so short ones come first.
        let mut routes = vec![route.clone()];
        let mut next = 0;
        while next < routes.len() && next < MOST_WAYS_ON {
            let route = routes[next].clone();
            next += 1;
            if let Some(found) = self.find_certain_run_along(&route, goal) {
                return Some(found);
            }
            let end = route.path.last().map_or(iosts.initial, |last| iosts.transitions[*last].target);
            if route.path.len() < routes[0].path.len() + MOST_STEPS_ON {
                let is_asked = route.asked.contains_key(&route.path.len());
                let may_ask = |step: &TransitionId| iosts.action_of(*step).is_visible();
                // Only a visible step can ask for a condition.
                for step in self.system.outgoing[end].iter().filter(|step| !is_asked || may_ask(step)) {
                    let mut longer = route.clone();
                    longer.path.push(*step);
                    routes.push(longer);
                }
            }
        }
        None
    }

    /// Finds a run along exactly this route that shows the goal for certain. Tries events that no other
    /// transition takes, then any events, then fixed values. `None` if they are in vain.
    fn find_certain_run_along(&mut self, route: &Route, goal: &Goal) -> Option<MetGoal> {
        // A purpose ends with a visible event.
        let last = *route.path.last()?;
        let iosts = self.system.iosts;
        if !iosts.action_of(last).is_visible() {
            return None;
        }
        let mut avoided = Vec::new();
        let mut showing = Vec::new();
        for is_alone in [true, false] {
            let route = Route { is_alone, ..route.clone() };
            let Some(evidence) = run_along(self.system, &route, &[], self.solver) else { continue };
            if collect_shown(self.walked, &evidence).meets(iosts, goal) {
                if self.is_certain(&route, goal) {
                    return Some(MetGoal { route, evidence, is_certain: true });
                }
                showing.push(evidence.clone());
            }
            avoided.push(evidence.trace);
        }
        // With certain values, for which the purpose then asks, no other explanation may be left.
        let route = Route { is_alone: false, ..route.clone() };
        loop {
            for evidence in showing.drain(..) {
                for with_constants in [false, true] {
                    let fixed = route.with_values_of(iosts, &evidence, with_constants);
                    if self.is_certain(&fixed, goal) {
                        return Some(MetGoal { route: fixed, evidence, is_certain: true });
                    }
                }
            }
            // At most five traces of a path are tried.
            if avoided.len() >= 5 {
                return None;
            }
            let evidence = run_along(self.system, &route, &avoided, self.solver)?;
            if collect_shown(self.walked, &evidence).meets(iosts, goal) {
                showing.push(evidence.clone());
            }
            avoided.push(evidence.trace);
        }
    }

    /// Do all explanations of all runs that the route's purpose accepts meet the goal?
    fn is_certain(&mut self, route: &Route, goal: &Goal) -> bool {
        Explanations::of(self.system, route, self.solver).all_meet(self.walked, route, goal)
    }
}

pub fn path_transitions(tree: &PathTree, node: NodeId) -> Vec<TransitionId> {
    let taken = |node: NodeId| match &tree.nodes[node].by {
        TreeMove::Take(step) => Some(step.transition),
        TreeMove::Start | TreeMove::Quiet => None,
    };
    tree.path(node).into_iter().filter_map(taken).collect()
}
