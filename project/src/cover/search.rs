//! For each goal, the shortest route that meets it; or that there is none.
//!
//! **Method.** The tree of symbolic states grows breadth first, restricted by inclusion, and remembers of a
//! path what the goals depend on: nothing for what one event shows in one state, the last transition for
//! pairs, where each variable was assigned for definitions and uses. At each step every open goal that it
//! could meet is asked: is the path's condition satisfiable together with what the goal asks for? If it is,
//! the run is made concrete and its trace held against all explanations ([`super::evidence`]); one that does
//! not show the goal for certain is continued up to the next visible events, and else left for a longer one.
//!
//! **None.** Whatever a cut state can do, an expanded one does, with the same memory. So where the tree ends
//! within its limits, and a goal was unsatisfiable at each of its steps, no run meets the goal: the tree is
//! the proof. Where something was not known, or limits ended the tree, the goal is unknown.
//!
//! **Cost**: the tree, and a question for each step and open goal that fit.

use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::{Growth, Move, Node, NodeEnd, NodeId, System, Tree, TreeLimits};
use coreach_execution::coverage::{Item, Items, Walked, proofs};
use coreach_model::iosts::ActionKind;
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Term, TransitionId, budget};

use super::evidence::{Evidence, Explanations, Route, collect_shown, run_along};
use super::goals::{Goal, uses};

/// A path is continued by so many steps at most, and in so many ways.
const MOST_STEPS_ON: usize = 4;
const MOST_WAYS_ON: usize = 12;

#[derive(Clone, Debug)]
pub struct MetGoal {
    pub route: Route,
    /// A run along it, which meets the goal however it is explained.
    pub evidence: Evidence,
    /// Does each run along it meet the goal? A mutant may do right as well.
    pub must: bool,
}

#[derive(Clone, Debug)]
pub enum Sought {
    Met(MetGoal),
    /// No run meets it: the tree ended, with so many nodes.
    Never(usize),
    Unknown(Doubt),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Doubt {
    /// The tree had no room for more: so many nodes, and the steps to the one that is furthest.
    Bound(usize, usize),
    /// It was met on a path, and every trace that was tried has an explanation that does not meet it.
    Ambiguous,
    Solver,
}

/// What the tree remembers: nothing, the last transition, or for each variable where it was assigned; as
/// places counted from 1.
type PathMemory = Vec<u32>;

type Remember = fn(&System<'_>, &PathMemory, &Move) -> PathMemory;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Remembered {
    Items,
    Pairs,
    Definitions,
}

fn nothing(_: &System<'_>, _: &PathMemory, _: &Move) -> PathMemory {
    Vec::new()
}

fn last(_: &System<'_>, _: &PathMemory, by: &Move) -> PathMemory {
    match by {
        Move::Take(step) => vec![step.transition.0 + 1],
        Move::Start | Move::Quiet => vec![0],
    }
}

fn assigned(system: &System<'_>, before: &PathMemory, by: &Move) -> PathMemory {
    let mut after = before.clone();
    if let Move::Take(step) = by {
        let transition = &system.iosts.transitions[step.transition];
        for (place, variable) in system.iosts.variables.iter().enumerate() {
            if transition.assignments.contains_key(variable) {
                after[place] = step.transition.0 + 1;
            }
        }
    }
    after
}

/// A goal in work, with its place among all.
struct OpenGoal {
    place: usize,
    goal: Goal,
    sought: Option<MetGoal>,
    tries: usize,
    is_doubted: Option<Doubt>,
}

/// Who is told of a goal, by its place, as soon as it is met.
type OnMet<'a> = &'a mut dyn FnMut(usize, &MetGoal);

/// Looks for all goals, which are of one kind. `met` is told of each that is met at once: the work may not
/// come to its end.
pub fn search(
    walked: &Walked,
    goals: &[Goal],
    kind: Remembered,
    limits: TreeLimits,
    met: OnMet<'_>,
    solver: &mut dyn Solver,
) -> Vec<Sought> {
    budget::doing("looking for paths to the goals");
    let system = System::new(&walked.iosts);
    let mut open: Vec<OpenGoal> = goals
        .iter()
        .enumerate()
        .map(|(place, goal)| OpenGoal { place, goal: goal.clone(), sought: None, tries: 0, is_doubted: None })
        .collect();
    let limits = TreeLimits { is_restricted: true, ..limits };
    let (start, remember): (PathMemory, Remember) = match kind {
        Remembered::Items => (Vec::new(), nothing),
        Remembered::Pairs => (vec![0], last),
        Remembered::Definitions => (vec![0; walked.iosts.variables.len()], assigned),
    };
    let mut growth = Growth::remembering(&system, limits, start, remember);
    let mut searcher = GoalSearcher { walked, system: &system, met, solver };
    let mut begun = false;
    while open.iter().any(|open| open.sought.is_none()) {
        let Some(number) = growth.step(searcher.solver) else { break };
        let tree = growth.tree();
        if !begun {
            begun = true;
            if tree.nodes[number].end != NodeEnd::Unsatisfiable {
                open.iter_mut().for_each(|open| searcher.meet_by_arrival(tree, number, open));
            }
        }
        for child in tree.children(number) {
            for open in open.iter_mut().filter(|open| open.sought.is_none()) {
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
    let done = |open: OpenGoal| match (open.sought, open.is_doubted) {
        (Some(found), _) => Sought::Met(found),
        (None, Some(doubt)) => Sought::Unknown(doubt),
        (None, None) if is_complete => Sought::Never(nodes),
        (None, None) => Sought::Unknown(Doubt::Bound(nodes, depth)),
    };
    open.into_iter().map(done).collect()
}

/// The routes of a tree's nodes as goals of their own.
pub fn along(walked: &Walked, path: Vec<TransitionId>, solver: &mut dyn Solver) -> Sought {
    let system = System::new(&walked.iosts);
    let mut searcher = GoalSearcher { walked, system: &system, met: &mut |_, _| {}, solver };
    let goal = Goal::Path(path.clone());
    match searcher.find_certain_run(&Route::new(path), &goal) {
        Some(found) => Sought::Met(found),
        None => Sought::Unknown(Doubt::Ambiguous),
    }
}

struct GoalSearcher<'a, 's> {
    walked: &'a Walked,
    system: &'a System<'a>,
    met: &'s mut dyn FnMut(usize, &MetGoal),
    solver: &'s mut dyn Solver,
}

impl GoalSearcher<'_, '_> {
    fn items(&self) -> &Items {
        &self.walked.parts[0].items
    }

    /// Could the step to this node meet the goal?
    fn meet_by_step(&mut self, tree: &Tree, memory: &PathMemory, child: NodeId, open: &mut OpenGoal) {
        let Move::Take(step) = &tree.nodes[child].by else { return };
        let (number, iosts) = (step.transition, self.system.iosts);
        let taken = &iosts.transitions[number];
        let asked = match &open.goal {
            Goal::Item(item) => match &self.items().all()[*item] {
                Item::Transition(wanted) if *wanted == number => Term::yes(),
                Item::Class { transition, .. } if *transition == number => self.condition(*item),
                Item::Condition { transition, .. } => {
                    let of = &iosts.transitions[*transition];
                    let is_shown = of.source == taken.source
                        && of.action == taken.action
                        && iosts.action(of.action).kind != ActionKind::Internal;
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
        self.ask(tree, child, Some(asked), open);
    }

    /// Could coming to this node meet the goal?
    fn meet_by_arrival(&mut self, tree: &Tree, node: NodeId, open: &mut OpenGoal) {
        let Goal::Item(item) = open.goal else { return };
        let (iosts, at) = (self.system.iosts, tree.nodes[node].state.location);
        match &self.items().all()[item] {
            Item::Location(location) if *location == at => self.ask(tree, node, None, open),
            Item::Condition { transition, .. } => {
                let of = &iosts.transitions[*transition];
                if of.source == at && iosts.action(of.action).kind == ActionKind::Internal {
                    let condition = self.condition(item);
                    self.ask_state(tree, node, condition, open);
                }
            }
            _ => {}
        }
    }

    fn condition(&self, item: usize) -> Term {
        let items = self.items();
        Term::and(proofs::required_terms(self.system.iosts, items, &items.all()[item]))
    }

    /// The goal's condition is about the last step of the path to the node: the data before it, and its
    /// parameters.
    fn ask(&mut self, tree: &Tree, node: NodeId, asked: Option<Term>, open: &mut OpenGoal) {
        let reached = &tree.nodes[node];
        let mut route = Route::new(transitions(tree, node));
        let mut condition = reached.state.condition.clone();
        if let Some(asked) = asked.filter(|asked| !asked.is_true()) {
            let Some(before) = reached.parent.map(|parent| &tree.nodes[parent]) else { return };
            condition.push(substitute(&asked, &substitution_before_step(self.system, before, reached)));
            route.asked.insert(route.path.len() - 1, asked);
        }
        self.decide(reached, condition, &route, open);
    }

    /// The goal's condition is about the state itself.
    fn ask_state(&mut self, tree: &Tree, node: NodeId, asked: Term, open: &mut OpenGoal) {
        let reached = &tree.nodes[node];
        let mut condition = reached.state.condition.clone();
        condition.push(substitute(&asked, &reached.state.standing(&reached.state.known)));
        let mut route = Route::new(transitions(tree, node));
        if let Some((place, asked)) = self.condition_before(&route.path, asked) {
            route.asked.insert(place, asked);
        }
        self.decide(reached, condition, &route, open);
    }

    /// A condition on the state at a path's end, as one on the last step that is seen: what is assigned there
    /// and behind it is put in.
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

    fn decide(&mut self, reached: &Node, condition: Vec<Term>, route: &Route, open: &mut OpenGoal) {
        let answer = match condition.len() == reached.state.condition.len() && reached.is_certain {
            true => Answer::Sat,
            false => self.solver.check(&condition),
        };
        match answer {
            Answer::Unsat => return,
            Answer::Unknown => {
                open.is_doubted.get_or_insert(Doubt::Solver);
                return;
            }
            Answer::Sat => {}
        }
        open.is_doubted = Some(Doubt::Ambiguous);
        // At most 12 paths are made concrete for a goal before it is given up.
        if open.tries < 12 {
            open.tries += 1;
            open.sought = self.find_certain_run(route, &open.goal);
            if let Some(found) = &open.sought {
                (self.met)(open.place, found);
            }
        }
    }

    /// A run along the route, or along one that goes on from it, which shows the goal for certain.
    fn find_certain_run(&mut self, route: &Route, goal: &Goal) -> Option<MetGoal> {
        if !route.is_determined(self.system.iosts) {
            return None;
        }
        let mut ways = vec![route.clone()];
        let mut at = 0;
        while at < ways.len() && at < MOST_WAYS_ON {
            let route = ways[at].clone();
            at += 1;
            if let Some(found) = self.find_certain_continuation(&route, goal) {
                return Some(found);
            }
            let end = route
                .path
                .last()
                .map_or(self.system.iosts.initial, |last| self.system.iosts.transitions[*last].target);
            if route.path.len() < ways[0].path.len() + MOST_STEPS_ON {
                for next in &self.system.outgoing[end] {
                    let mut longer = route.clone();
                    longer.path.push(*next);
                    ways.push(longer);
                }
            }
        }
        None
    }

    fn find_certain_continuation(&mut self, route: &Route, goal: &Goal) -> Option<MetGoal> {
        // A purpose ends with something that is seen.
        let last = *route.path.last()?;
        let iosts = self.system.iosts;
        if !iosts.action(iosts.transitions[last].action).is_visible() {
            return None;
        }
        let mut avoided = Vec::new();
        let mut showing = Vec::new();
        for is_alone in [true, false] {
            let route = Route { is_alone, ..route.clone() };
            let Some(evidence) = run_along(self.system, &route, &[], self.solver) else { continue };
            if collect_shown(self.walked, &evidence).meets(iosts, goal) {
                if self.is_certain(&route, goal) {
                    return Some(MetGoal { route, evidence, must: true });
                }
                showing.push(evidence.clone());
            }
            avoided.push(evidence.trace);
        }
        // With other values the trace may have no other explanation; then these values are asked for.
        let route = Route { is_alone: false, ..route.clone() };
        loop {
            for evidence in showing.drain(..) {
                for constants in [false, true] {
                    let fixed = route.with_values_of(iosts, &evidence, constants);
                    if self.is_certain(&fixed, goal) {
                        return Some(MetGoal { route: fixed, evidence, must: true });
                    }
                }
            }
            // At most five traces of a path are held against their explanations.
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

    /// Does each run that the route's purpose accepts meet the goal, however it is explained?
    fn is_certain(&mut self, route: &Route, goal: &Goal) -> bool {
        Explanations::of(self.system, route, self.solver).all_meet(self.walked, route, goal)
    }
}

pub fn transitions(tree: &Tree, node: NodeId) -> Vec<TransitionId> {
    let taken = |node: NodeId| match &tree.nodes[node].by {
        Move::Take(step) => Some(step.transition),
        Move::Start | Move::Quiet => None,
    };
    tree.path(node).into_iter().filter_map(taken).collect()
}

/// What data and parameters stand at when the step to a node is taken.
fn substitution_before_step(system: &System<'_>, before: &Node, reached: &Node) -> Substitution {
    let mut standing = before.state.standing(&before.state.known);
    if let Move::Take(step) = &reached.by {
        let action = system.iosts.action(system.iosts.transitions[step.transition].action);
        standing.extend(action.parameters.iter().cloned().zip(step.parameters.iter().map(Term::datum)));
    }
    standing
}
