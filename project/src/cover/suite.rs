//! A small suite that meets all goals.
//!
//! **Problem.** Most routes pass through many goals; a purpose for each would do the same again and again.
//!
//! **Method.** Greedy set cover (Chvátal 1979): the route that meets the most goals that are left, the one
//! with fewer visible steps among equals, then the one that was found first. No polynomial method is much
//! better; the result is at most ln n times the smallest.
//!
//! **Continued**, where that is asked for: a chosen route goes on from its end, each time along the shortest
//! way to another goal that is left, up to a number of visible steps. That makes fewer tests of more steps.
//! Each step on may be answered otherwise by the system, so long tests end in Inconclusive more often.
//!
//! **What a route meets**: its own goal, and every goal that lies on its path whatever the values (locations,
//! transitions, conjuncts where their transition is taken, pairs, definitions and uses, paths), if
//! its trace shows that for certain. What depends on values that the purpose does not ask for is not counted:
//! another run of it may have others.

use std::collections::{BTreeSet, VecDeque};

use coreach_analyses::solver::Solver;
use coreach_analyses::symbolic::System;
use coreach_execution::coverage::{Item, Walked};
use coreach_model::TransitionId;
use coreach_model::iosts::{ActionKind, Iosts};

use super::evidence::{Evidence, Explanations, collect_shown, lies_on, run_along};
use super::faults::{Shows, shows};
use super::goals::{Fault, Goal};
use super::observe::Observer;
use super::purpose::{key, length};
use super::search::MetGoal;

/// A route of the suite, with the numbers of the goals that it meets.
#[derive(Clone, Debug)]
pub struct Chosen {
    pub found: MetGoal,
    /// The goals for which it was chosen, or that it meets besides.
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
    left: BTreeSet<usize>,
    chosen: Vec<Chosen>,
}

impl<'a> SuiteChooser<'a> {
    /// `met` are the goals that were met, by their numbers, each with its route, which `observer` has gone on
    /// with.
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
            // The same purpose for several goals is one.
            match candidates.iter_mut().find(|known| known.found.route == found.route) {
                Some(known) => known.goals.push(*number),
                None => candidates.push(Chosen { found: found.clone(), goals: vec![*number] }),
            }
        }
        for candidate in &mut candidates {
            add_goals_on_route(walked, system, goals, met, candidate, solver);
        }
        let left = met.iter().map(|(number, _)| *number).collect();
        SuiteChooser { walked, system, goals, met, steps, observer, candidates, left, chosen: Vec::new() }
    }

    /// The next route; none where all goals are met.
    pub fn next(&mut self, solver: &mut dyn Solver) -> Option<Chosen> {
        let SuiteChooser { walked, system, goals, met, steps, observer, candidates, left, chosen } = self;
        if left.is_empty() {
            return None;
        }
        let worth = |candidate: &Chosen| candidate.goals.iter().filter(|goal| left.contains(goal)).count();
        let length = |candidate: &Chosen| length(&walked.iosts, &candidate.found.route);
        // The first one where several are as good.
        let best = candidates
            .iter()
            .rev()
            .max_by_key(|candidate| (worth(candidate), usize::MAX - length(candidate)));
        let mut best = best.cloned()?;
        left.retain(|goal| !best.goals.contains(goal));
        while let Some(longer) = continue_route(walked, system, goals, met, &best, left, *steps, solver) {
            best = longer;
            let shows = |evidence: &Evidence| {
                let shown = collect_shown(walked, evidence);
                best.goals.iter().all(|goal| shown.meets(&walked.iosts, &goals[*goal]))
            };
            best.found = observer.observed(&best.found, &shows, solver);
            add_goals_on_route(walked, system, goals, met, &mut best, solver);
            left.retain(|goal| !best.goals.contains(goal));
        }
        chosen.push(best.clone());
        Some(best)
    }

    /// All that were chosen, the shortest first.
    pub fn in_order(mut self) -> Vec<Chosen> {
        self.chosen.sort_by_key(|one| (length(&self.walked.iosts, &one.found.route), key(&one.found.route)));
        self.chosen
    }
}

/// Is the route one of a suite for finite machines? It ends where the sequence does.
fn is_sequence(goals: &[Goal], candidate: &Chosen) -> bool {
    candidate.goals.iter().any(|number| matches!(goals[*number], Goal::Sequence(_)))
}

fn is_of_mutants(goals: &[Goal], candidate: &Chosen) -> bool {
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
    // What shows a mutant asks for its values; others may have other ones.
    let is_of_mutants = is_of_mutants(goals, candidate);
    let run = &candidate.found.evidence;
    // What the specification, run as a system, may do as well, is no fault.
    let itself = Fault { change: String::new(), iosts: Some(walked.iosts.clone()) };
    let is_fair = is_of_mutants && shows(&walked.iosts, &itself, run, solver) == Shows::Nothing;
    for (number, own) in met {
        if candidate.goals.contains(number) {
            continue;
        }
        let goal = &goals[*number];
        let is_met = match goal {
            Goal::Fault(fault) if is_of_mutants => {
                let least = match (own.must, is_fair) {
                    (true, _) => Shows::Must,
                    (false, true) => Shows::May,
                    (false, false) => Shows::Awaited,
                };
                shows(&walked.iosts, fault, run, solver) >= least
            }
            _ => {
                is_on(walked, goal, path)
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

/// The route with the fewest more steps that meets another goal of those that are left, and all that it met
/// before.
#[expect(clippy::too_many_arguments, reason = "what is known, what is left, and how far")]
fn continue_route(
    walked: &Walked,
    system: &System<'_>,
    goals: &[Goal],
    met: &[(usize, MetGoal)],
    from: &Chosen,
    left: &BTreeSet<usize>,
    steps: usize,
    solver: &mut dyn Solver,
) -> Option<Chosen> {
    let iosts = &walked.iosts;
    // Its end is what shows the mutant.
    if is_of_mutants(goals, from) || is_sequence(goals, from) {
        return None;
    }
    let mut begin = from.found.route.clone();
    begin.path.truncate(begin.promised().len());
    begin.watched = 0;
    let mut open = VecDeque::from([begin]);
    let mut looked = 0;
    while let Some(route) = open.pop_front() {
        let end = route.path.last().map_or(iosts.initial, |last| iosts.transitions[*last].target);
        for next in &system.outgoing[end] {
            let mut longer = route.clone();
            longer.path.push(*next);
            looked += 1;
            // At most 200 ways on are looked at before a route is left as it is.
            if looked > 200 {
                return None;
            }
            if length(iosts, &longer) > steps {
                continue;
            }
            let is_seen = iosts.action(iosts.transitions[*next].action).is_visible();
            let is_new = is_seen && left.iter().any(|number| is_on(walked, &goals[*number], &longer.path));
            // A way that leads nowhere is not gone on with; one that is new must be a run that shows what it
            // meets.
            let Some(evidence) = run_along(system, &longer, &[], solver) else { continue };
            if is_new {
                let mut chosen = Chosen {
                    found: MetGoal { route: longer.clone(), evidence, must: true },
                    goals: Vec::new(),
                };
                add_goals_on_route(walked, system, goals, met, &mut chosen, solver);
                // What its own conditions asked for is asked for still, if the longer trace shows it too.
                let shown = collect_shown(walked, &chosen.found.evidence);
                let kept = from.goals.iter().filter(|number| shown.meets(iosts, &goals[**number]));
                let more: Vec<usize> =
                    kept.filter(|number| !chosen.goals.contains(number)).copied().collect();
                chosen.goals.extend(more);
                chosen.goals.sort_unstable();
                let keeps_all = from.goals.iter().all(|number| chosen.goals.contains(number));
                if keeps_all && left.iter().any(|number| chosen.goals.contains(number)) {
                    return Some(chosen);
                }
            }
            open.push_back(longer);
        }
    }
    None
}

/// Does the goal lie on the path, whatever the values are?
fn is_on(walked: &Walked, goal: &Goal, path: &[TransitionId]) -> bool {
    let iosts: &Iosts = &walked.iosts;
    let Goal::Item(item) = goal else { return lies_on(iosts, goal, path) };
    let items = &walked.parts[0].items;
    match &items.all()[*item] {
        Item::Location(location) => {
            *location == iosts.initial
                || path.iter().any(|number| iosts.transitions[*number].target == *location)
        }
        Item::Transition(number) => path.contains(number),
        // An alternative holds by one or by the other.
        Item::Condition { transition, condition, holds: true } => {
            let condition = &items.conditions(*transition)[*condition];
            path.contains(transition)
                && iosts.transitions[*transition].guard.conjuncts().contains(condition)
                && iosts.action(iosts.transitions[*transition].action).kind != ActionKind::Internal
        }
        Item::Condition { .. } | Item::Class { .. } => false,
    }
}
