//! Chooses a small suite of routes that meets all goals.
//!
//! **Method.** Most routes pass through many goals. Greedy set cover (Chvátal 1979): the next route is the
//! one that meets the most remaining goals. Among equals it is the one with fewer visible steps, then the one
//! that was found first. The result is at most ln n times the smallest.
//!
//! **Continued**: if that is asked for, a chosen route goes on from its end. Each time it takes the shortest
//! way to another remaining goal, up to a number of visible steps. That makes fewer tests with more steps.
//! The system may answer each further step in another way, so long tests end in Inconclusive more often.
//!
//! **Goals of a route**: its own goal, and every goal that lies on its path whatever the values are
//! (locations, transitions, conjuncts if their transition is taken, pairs, definitions and uses, paths), if
//! its trace shows that for certain. A goal that depends on values does not count, if the purpose does not
//! ask for them: another run may have other values.

use std::collections::{BTreeSet, VecDeque};

use coreach_analyses::solver::Solver;
use coreach_analyses::symbolic::System;
use coreach_execution::coverage::{Item, Walked};
use coreach_model::TransitionId;
use coreach_model::iosts::{ActionKind, Iosts};

use super::evidence::{Explanations, Route, RunEvidence, collect_shown, lies_on, run_along};
use super::faults::{Shows, shows};
use super::goals::{Fault, Goal};
use super::observe::Observer;
use super::purpose::{count_visible, order_key};
use super::search::MetGoal;

/// A route of the suite, with the numbers of the goals that it meets.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub found: MetGoal,
    /// The goals for which it was chosen, and all others that it meets.
    pub goals: Vec<usize>,
}

pub struct SuiteChooser<'a> {
    walked: &'a Walked,
    system: &'a System<'a>,
    goals: &'a [Goal],
    met: &'a [(usize, MetGoal)],
    steps: usize,
    observer: Observer<'a>,
    candidates: Vec<Chosen>,
    /// The goals that no chosen route meets yet.
    unmet: BTreeSet<usize>,
    chosen: Vec<Chosen>,
}

impl<'a> SuiteChooser<'a> {
    /// Makes the candidates. `met` are the numbers of the met goals, with their routes and watched steps.
    pub fn new(
        walked: &'a Walked,
        system: &'a System<'a>,
        goals: &'a [Goal],
        met: &'a [(usize, MetGoal)],
        steps: usize,
        observer: Observer<'a>,
        solver: &mut dyn Solver,
    ) -> Self {
        let mut candidates: Vec<Chosen> = Vec::new();
        for (number, found) in met {
            // Goals with the same route share a candidate.
            match candidates.iter_mut().find(|candidate| candidate.found.route == found.route) {
                Some(candidate) => candidate.goals.push(*number),
                None => candidates.push(Chosen { found: found.clone(), goals: vec![*number] }),
            }
        }
        for candidate in &mut candidates {
            add_goals_on_route(walked, system, goals, met, candidate, solver);
        }
        let unmet = met.iter().map(|(number, _)| *number).collect();
        SuiteChooser { walked, system, goals, met, steps, observer, candidates, unmet, chosen: Vec::new() }
    }

    /// Chooses the next route, and continues it. `None`, if all goals are met.
    pub fn next(&mut self, solver: &mut dyn Solver) -> Option<Chosen> {
        let SuiteChooser { walked, system, goals, met, steps, observer, candidates, unmet, chosen } = self;
        if unmet.is_empty() {
            return None;
        }
        let worth = |candidate: &Chosen| candidate.goals.iter().filter(|goal| unmet.contains(goal)).count();
        let length = |candidate: &Chosen| count_visible(&walked.iosts, &candidate.found.route);
        let rank = |candidate: &&Chosen| (worth(candidate), usize::MAX - length(candidate));
        // Reversed, so that among equals the first one is taken.
        let mut best = candidates.iter().rev().max_by_key(rank).cloned()?;
        unmet.retain(|goal| !best.goals.contains(goal));
        while let Some(longer) = continue_route(walked, system, goals, met, &best, unmet, *steps, solver) {
            best = longer;
            let shows = |evidence: &RunEvidence| {
                let shown = collect_shown(walked, evidence);
                best.goals.iter().all(|goal| shown.meets(&walked.iosts, &goals[*goal]))
            };
            best.found = observer.watch_on(&best.found, &shows, solver);
            add_goals_on_route(walked, system, goals, met, &mut best, solver);
            unmet.retain(|goal| !best.goals.contains(goal));
        }
        chosen.push(best.clone());
        Some(best)
    }

    /// All chosen routes, the shortest first.
    pub fn in_order(mut self) -> Vec<Chosen> {
        let key = |route: &Route| (count_visible(&self.walked.iosts, route), order_key(route));
        self.chosen.sort_by_key(|chosen| key(&chosen.found.route));
        self.chosen
    }
}

fn shows_mutant(goals: &[Goal], candidate: &Chosen) -> bool {
    candidate.goals.iter().any(|number| matches!(goals[*number], Goal::Fault(_)))
}

/// Adds the goals that lie on the path and are shown for certain.
fn add_goals_on_route(
    walked: &Walked,
    system: &System<'_>,
    goals: &[Goal],
    met: &[(usize, MetGoal)],
    candidate: &mut Chosen,
    solver: &mut dyn Solver,
) {
    let route = &candidate.found.route;
    let shown = collect_shown(walked, &route.promised_by(&walked.iosts, &candidate.found.evidence));
    let path = route.promised();
    let mut explanations = None;
    // A route that shows a mutant asks for its values, so it may show other mutants too.
    let shows_mutant = shows_mutant(goals, candidate);
    let run = &candidate.found.evidence;
    // A difference that the specification, run as a system, may also show is no fault.
    let itself = Fault { change: String::new(), iosts: Some(walked.iosts.clone()) };
    let is_fair = shows_mutant && shows(&walked.iosts, &itself, run, solver) == Shows::Nothing;
    for (number, met_goal) in met {
        if candidate.goals.contains(number) {
            continue;
        }
        let goal = &goals[*number];
        let is_met = match goal {
            Goal::Fault(fault) if shows_mutant => {
                // A run that must show the mutant is not replaced by one that only may show it.
                let needed = match (met_goal.is_certain, is_fair) {
                    (true, _) => Shows::Must,
                    (false, true) => Shows::May,
                    (false, false) => Shows::Awaited,
                };
                shows(&walked.iosts, fault, run, solver) >= needed
            }
            _ => {
                is_on_path(walked, goal, path)
                    && shown.meets(&walked.iosts, goal)
                    && explanations
                        .get_or_insert_with(|| Explanations::of(system, route, solver))
                        .all_meet(walked, route, goal)
            }
        };
        if is_met {
            candidate.goals.push(*number);
        }
    }
    candidate.goals.sort_unstable();
}

/// Finds the shortest continuation of a route, if any, that meets another remaining goal, and its own still.
#[expect(clippy::too_many_arguments, reason = "what is known, what is left, and how far")]
fn continue_route(
    walked: &Walked,
    system: &System<'_>,
    goals: &[Goal],
    met: &[(usize, MetGoal)],
    from: &Chosen,
    unmet: &BTreeSet<usize>,
    steps: usize,
    solver: &mut dyn Solver,
) -> Option<Chosen> {
    let iosts = &walked.iosts;
    // A route ends where it shows the mutant, or where its sequence ends.
    let is_sequence = from.goals.iter().any(|number| matches!(goals[*number], Goal::Sequence(_)));
    if shows_mutant(goals, from) || is_sequence {
        return None;
    }
    let mut start = from.found.route.clone();
    start.path.truncate(start.promised().len());
    start.watched = 0;
    let mut to_extend = VecDeque::from([start]);
    let mut routes_seen = 0;
    while let Some(route) = to_extend.pop_front() {
        let end = route.path.last().map_or(iosts.initial, |last| iosts.transitions[*last].target);
        for next in &system.outgoing[end] {
            let mut longer = route.clone();
            longer.path.push(*next);
            routes_seen += 1;
            // After 200 continuations the route stays as it is.
            if routes_seen > 200 {
                return None;
            }
            if count_visible(iosts, &longer) > steps {
                continue;
            }
            let is_new = iosts.action_of(*next).is_visible()
                && unmet.iter().any(|number| is_on_path(walked, &goals[*number], &longer.path));
            // A continuation without a run is given up.
            let Some(evidence) = run_along(system, &longer, &[], solver) else { continue };
            if is_new {
                let found = MetGoal { route: longer.clone(), evidence, is_certain: true };
                let mut chosen = Chosen { found, goals: Vec::new() };
                add_goals_on_route(walked, system, goals, met, &mut chosen, solver);
                // The route keeps its conditions, so it still meets the goals that its longer trace shows.
                let shown = collect_shown(walked, &chosen.found.evidence);
                let kept = from.goals.iter().filter(|number| shown.meets(iosts, &goals[**number]));
                let still_met: Vec<usize> =
                    kept.filter(|number| !chosen.goals.contains(number)).copied().collect();
                chosen.goals.extend(still_met);
                chosen.goals.sort_unstable();
                let keeps_all = from.goals.iter().all(|number| chosen.goals.contains(number));
                if keeps_all && unmet.iter().any(|number| chosen.goals.contains(number)) {
                    return Some(chosen);
                }
            }
            to_extend.push_back(longer);
        }
    }
    None
}

/// Does the goal lie on the path, whatever the values are?
fn is_on_path(walked: &Walked, goal: &Goal, path: &[TransitionId]) -> bool {
    let iosts: &Iosts = &walked.iosts;
    let Goal::Item(item) = goal else { return lies_on(iosts, goal, path) };
    // The specification is the only part (`Walked::alone`).
    let items = &walked.parts[0].items;
    match &items.all()[*item] {
        Item::Location(location) => {
            *location == iosts.initial
                || path.iter().any(|number| iosts.transitions[*number].target == *location)
        }
        Item::Transition(number) => path.contains(number),
        // An alternative in the guard does not count: either of its sides may hold.
        Item::Condition { transition, condition, holds: true } => {
            let condition = &items.conditions(*transition)[*condition];
            path.contains(transition)
                && iosts.transitions[*transition].guard.conjuncts().contains(condition)
                && iosts.action(iosts.transitions[*transition].action).kind != ActionKind::Internal
        }
        Item::Condition { .. } | Item::Class { .. } => false,
    }
}
