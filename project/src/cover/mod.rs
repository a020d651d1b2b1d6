//! Makes purposes that meet the goals of coverage criteria.
//!
//! **Problem.** Purposes are hard to write, and their author does not know what they leave out.
//!
//! **Method.** A criterion gives goals ([`goals`]). A goal that the facts of `reach` exclude is unreachable,
//! and the fact is named. For each other goal the tree of symbolic paths is searched, breadth first
//! ([`search`]). A path meets a goal if every explanation of its trace meets it ([`evidence`]). The path
//! becomes a purpose ([`purpose`]) that goes on after its goal to watch the effect ([`observe`]). A small
//! suite of such purposes meets all goals ([`suite`]).
//!
//! **Every goal ends** as *covered* by a purpose, as *unreachable* with the reason, or as *unknown* with the
//! bound of the search. Covered goals are reachable, since the concrete semantics has taken a run.
//! Unreachable goals are unreachable if abstract interpretation, the tree and the solver are right.
//!
//! **Kept**: each result is kept as soon as it is found, so that an exceeded budget does not lose it. Looking
//! for paths and making the suite have a budget each, which saves met goals. Undecided goals are *open*.

pub mod beside;
pub mod evidence;
pub mod faults;
pub mod goals;
pub mod machine;
pub mod observe;
pub mod purpose;
pub mod report;
pub mod search;
pub mod suite;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use coreach_analyses::Analysis;
use coreach_analyses::machines::Method;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::{SymbolicState, System, TreeLimits, all_paths, k_inclusion};
use coreach_execution::coverage::{Walked, proofs};
use coreach_model::reader::Specification;
use coreach_model::{Iosts, LocationId, Numbered, Term};
use coreach_pipeline::Conformance;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::stop::Stop;
use coreach_pipeline::suspend::suspend;

use evidence::{RunEvidence, collect_shown};
use goals::Fault;
pub use goals::{CRITERIA, Criterion, Goal};
use machine::{FiniteMachine, MachineSummary, explore_machine};
pub use observe::Observe;
use observe::Observer;
use purpose::WrittenPurpose;
use search::{Doubt, MetGoal, RememberedGoals, Sought, path_transitions};
pub use suite::Chosen;

use crate::budget;
use crate::making::Says;

pub struct CoverSettings {
    pub criteria: Vec<Criterion>,
    pub limits: TreeLimits,
    pub analysis: Analysis,
    /// For ioco the specification is suspended: quiescence is a transition like others.
    pub conformance: Conformance,
    /// They limit the condition of quiescence.
    pub stages: Limits,
    /// Paths of the suite are continued up to this number of visible steps, to meet more goals.
    pub steps: usize,
    /// What purposes watch after their goals.
    pub observe: Observe,
}

#[derive(Clone, Debug)]
pub enum Fate {
    Covered(MetGoal),
    /// No run can meet it. The text says why.
    Unreachable(String),
    Unknown(String),
    Open,
}

#[derive(Clone, Debug)]
pub struct Ended {
    pub criterion: Criterion,
    pub goal: Goal,
    pub fate: Fate,
}

#[derive(Clone, Debug)]
pub struct SuiteMember {
    pub written: WrittenPurpose,
    /// The route, a run along it, and the numbers of the goals that it meets.
    pub chosen: Chosen,
}

#[derive(Clone, Debug)]
pub struct Cover {
    pub iosts: Iosts,
    /// The goals in the order of the criteria.
    pub goals: Vec<Ended>,
    pub suite: Vec<SuiteMember>,
    /// Criteria whose goals are not all known: their paths did not fit the limits, or the work ended before.
    pub cut: Vec<Criterion>,
    /// The specification as a finite machine, if a suite for one was asked for, and it is one.
    pub machine: Option<MachineSummary>,
}

impl Cover {
    /// Makes a cover without goals. For ioco, suspends the specification.
    pub fn of(specification: &Specification, settings: &CoverSettings) -> Result<Mutex<Self>, Stop> {
        let iosts = match settings.conformance {
            Conformance::Ioc => specification.iosts.clone(),
            Conformance::Ioco => {
                suspend(&specification.iosts, &settings.stages, &mut Z3Solver::default())?.iosts
            }
        };
        Ok(Mutex::new(Cover {
            iosts,
            goals: Vec::new(),
            suite: Vec::new(),
            cut: settings.criteria.clone(),
            machine: None,
        }))
    }
}

/// Locks the results so far. Hold the guard only for a moment: the work waits for it.
pub fn lock_cover(kept: &Mutex<Cover>) -> MutexGuard<'_, Cover> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks for purposes, and puts each result into `kept` at once. If the work ended early, returns the reason.
pub fn cover(
    specification: &Specification,
    settings: &CoverSettings,
    says: Says<'_>,
    kept: &Mutex<Cover>,
) -> Option<Stop> {
    let searched = lock_cover(kept).iosts.clone();
    let walked = Walked::alone(&searched);
    let system = System::new(&walked.iosts);
    let time = budget::time(None);
    let looked = budget::within("cover", time, |_| {
        look_for_routes(&specification.iosts, &searched, &walked, &system, settings, says, kept)
    });
    says("a suite".to_owned());
    let made = budget::within("suite", time, |_| make_suite(specification, &walked, &system, settings, kept));
    looked.err().or(made.err())
}

/// Looks for a route to each goal. Each result is in `kept` at once. `iosts` is suspended for ioco.
fn look_for_routes(
    specification: &Iosts,
    iosts: &Iosts,
    walked: &Walked,
    system: &System<'_>,
    settings: &CoverSettings,
    says: Says<'_>,
    kept: &Mutex<Cover>,
) {
    let mut solver = Z3Solver::default();
    says("what can be reached".to_owned());
    let facts = proofs::reachable_facts(iosts, &settings.analysis);
    let mut finite: Option<Result<FiniteMachine<'_>, String>> = None;
    for &criterion in &settings.criteria {
        says(format!("{criterion}"));
        // The sequences of a suite for finite machines are goals that come with their routes. The machine is
        // explored once for all such criteria.
        if let Criterion::Machine(method, extra) = criterion {
            let finite = finite.get_or_insert_with(|| explore_machine(iosts, &mut solver));
            let finite = finite.as_ref().map_err(Clone::clone);
            match finite.and_then(|finite| list_sequences(finite, (method, extra), settings, kept)) {
                Ok(sequences) => sequences.into_iter().for_each(|(goal, met)| {
                    decide(kept, add_open_goal(kept, criterion, goal), Fate::Covered(met));
                }),
                Err(why) => {
                    let goal = Goal::Sequence("its sequences".to_owned());
                    decide(kept, add_open_goal(kept, criterion, goal), Fate::Unknown(why));
                }
            }
            // All goals of the criterion are known now.
            lock_cover(kept).cut.retain(|cut| *cut != criterion);
            continue;
        }
        let (goals, is_complete) = match criterion {
            Criterion::AllPaths(_) | Criterion::Inclusion(_) => {
                list_paths(system, criterion, settings.limits, &mut solver)
            }
            Criterion::Faults(limit) => {
                let (conformance, stages) = (settings.conformance, &settings.stages);
                let faults = faults::list_faults(specification, limit, conformance, stages, &mut solver);
                (faults.into_iter().map(|fault| Goal::Fault(Arc::new(fault))).collect(), true)
            }
            _ => (goals::list_goals(iosts, &walked.parts[0].items, criterion), true),
        };
        let numbered_goals: Vec<(usize, Goal)> =
            goals.into_iter().map(|goal| (add_open_goal(kept, criterion, goal.clone()), goal)).collect();
        if is_complete {
            lock_cover(kept).cut.retain(|cut| *cut != criterion);
        }
        // Paths and faults are searched for at once, and excluded goals are decided. All others stay open for
        // `search_open_goals`.
        let mut fault_routes: Vec<MetGoal> = Vec::new();
        for (number, goal) in numbered_goals {
            if let Goal::Path(path) = goal {
                decide(kept, number, decide_fate(search::find_run_along(walked, path, &mut solver)));
            } else if let Goal::Fault(fault) = goal {
                let fate = search_fault(system, &fault, &mut fault_routes, settings.limits, &mut solver);
                decide(kept, number, fate);
            } else if let Some(why) = explain_excluded(walked, system, &goal, &facts, &mut solver) {
                decide(kept, number, Fate::Unreachable(why));
            }
        }
    }
    search_open_goals(walked, settings, says, kept, &mut solver);
}

/// Decides a fault. If a known route shows it for certain, no other one is searched. A new route is added.
fn search_fault(
    system: &System<'_>,
    fault: &Fault,
    known_routes: &mut Vec<MetGoal>,
    limits: TreeLimits,
    solver: &mut dyn Solver,
) -> Fate {
    let shows_it =
        |known: &&MetGoal| faults::shows(system.iosts, fault, &known.evidence, solver) == faults::Shows::Must;
    if let Some(known) = known_routes.iter().find(shows_it) {
        return Fate::Covered(MetGoal { is_certain: true, ..known.clone() });
    }
    let sought = faults::search(system, fault, limits, solver);
    if let Sought::Met(met_goal) = &sought
        && known_routes.iter().all(|known| known.route != met_goal.route)
    {
        known_routes.push(met_goal.clone());
    }
    decide_fate_of_fault(sought)
}

fn add_open_goal(kept: &Mutex<Cover>, criterion: Criterion, goal: Goal) -> usize {
    let mut cover = lock_cover(kept);
    cover.goals.push(Ended { criterion, goal, fate: Fate::Open });
    cover.goals.len() - 1
}

fn decide(kept: &Mutex<Cover>, number: usize, fate: Fate) {
    lock_cover(kept).goals[number].fate = fate;
}

/// Lists the sequences of a suite for finite machines, with their routes. `Err`: there are none, or too many.
/// The system may have `extra` states more than the machine.
fn list_sequences(
    finite: &FiniteMachine<'_>,
    (method, extra): (Method, usize),
    settings: &CoverSettings,
    kept: &Mutex<Cover>,
) -> Result<Vec<(Goal, MetGoal)>, String> {
    lock_cover(kept).machine.get_or_insert_with(|| finite.summary(&settings.criteria));
    let result = finite.goals(method, extra)?;
    let (tests, limit) = (result.len(), settings.limits.nodes);
    let too_many = || format!("it has {tests} sequences, and `--nodes` is {limit}");
    (tests <= limit).then_some(result).ok_or_else(too_many)
}

/// Searches for the goals that are still open. Those that need the same memory of paths share one tree.
fn search_open_goals(
    walked: &Walked,
    settings: &CoverSettings,
    says: Says<'_>,
    kept: &Mutex<Cover>,
    solver: &mut Z3Solver,
) {
    for kind in [RememberedGoals::Items, RememberedGoals::Pairs, RememberedGoals::Definitions] {
        let (mut numbers, mut wanted): (Vec<usize>, Vec<Goal>) = (Vec::new(), Vec::new());
        for (number, Ended { goal, fate, .. }) in lock_cover(kept).goals.iter().enumerate() {
            if matches!(fate, Fate::Open) && memory_needed(goal) == kind {
                numbers.push(number);
                wanted.push(goal.clone());
            }
        }
        if wanted.is_empty() {
            continue;
        }
        says(format!("paths to {} goals", wanted.len()));
        let mut keep = |place: usize, met: &MetGoal| decide(kept, numbers[place], Fate::Covered(met.clone()));
        let sought = search::search(walked, &wanted, kind, settings.limits, &mut keep, solver);
        for (number, sought) in numbers.iter().zip(sought) {
            decide(kept, *number, decide_fate(sought));
        }
    }
}

/// Chooses the suite from the routes and writes its purposes. If a purpose cannot be written, its goals lose
/// their watched steps or are given up, and the suite is chosen again.
fn make_suite(
    specification: &Specification,
    walked: &Walked,
    system: &System<'_>,
    settings: &CoverSettings,
    kept: &Mutex<Cover>,
) {
    let mut solver = Z3Solver::default();
    let goals: Vec<Goal> = lock_cover(kept).goals.iter().map(|ended| ended.goal.clone()).collect();
    // The routes without watched steps. They replace routes whose watched steps cannot be written.
    let unwatched: BTreeMap<usize, MetGoal> = covered_goals(&lock_cover(kept)).collect();
    let mut observer = Observer::new(system, settings.observe);
    let mut met: Vec<(usize, MetGoal)> = Vec::new();
    for (number, route_found) in &unwatched {
        if matches!(goals[*number], Goal::Fault(_) | Goal::Sequence(_)) {
            met.push((*number, route_found.clone()));
            continue;
        }
        let shows =
            |evidence: &RunEvidence| collect_shown(walked, evidence).meets(&walked.iosts, &goals[*number]);
        met.push((*number, observer.watch_on(route_found, &shows, &mut solver)));
    }
    let mut steps = settings.steps;
    loop {
        lock_cover(kept).suite.clear();
        let observer = Observer::new(system, settings.observe);
        let mut chooser =
            suite::SuiteChooser::new(walked, system, &goals, &met, steps, observer, &mut solver);
        while let Some(next) = chooser.next(&mut solver) {
            // The purpose is kept at once. Its name is preliminary, since the final order is by length.
            let name = purpose::name_purpose(lock_cover(kept).suite.len());
            if let Some(written) =
                purpose::write_purpose(&name, specification, system, &next.found.route, &mut solver)
            {
                lock_cover(kept).suite.push(SuiteMember { written, chosen: next });
            }
        }
        // All purposes are written anew, with their final names. They replace the preliminary ones.
        let mut members = Vec::new();
        let mut unwritable = None;
        for (position, chosen) in chooser.in_order().into_iter().enumerate() {
            let name = purpose::name_purpose(position);
            match purpose::write_purpose(&name, specification, system, &chosen.found.route, &mut solver) {
                Some(written) => members.push(SuiteMember { written, chosen }),
                None => unwritable = Some(chosen),
            }
        }
        // The goals of a route that cannot be written may lie on other routes, so the choice is made again.
        let Some(Chosen { found: unwritable, .. }) = unwritable else {
            lock_cover(kept).suite = members;
            return;
        };
        // No goal has this route: the chooser made it by continuing one. From now on it continues none.
        if met.iter().all(|(_, goal_met)| goal_met.route != unwritable.route) {
            steps = 0;
        }
        met.retain_mut(|(number, goal_met)| {
            if goal_met.route != unwritable.route {
                return true;
            }
            // A goal loses its watched steps first. If it has none left, it is given up.
            let is_lost = goal_met.route == unwatched[number].route;
            if is_lost {
                let why = "its path has no purpose in the model format".to_owned();
                lock_cover(kept).goals[*number].fate = Fate::Unknown(why);
            }
            goal_met.clone_from(&unwatched[number]);
            !is_lost
        });
    }
}

fn covered_goals(cover: &Cover) -> impl Iterator<Item = (usize, MetGoal)> {
    cover.goals.iter().enumerate().filter_map(|(number, ended)| match &ended.fate {
        Fate::Covered(found) => Some((number, found.clone())),
        _ => None,
    })
}

/// Returns the memory that a search of goals needs. Paths, faults and sequences are searched in other ways.
pub(crate) fn memory_needed(goal: &Goal) -> RememberedGoals {
    match goal {
        Goal::Item(_) | Goal::Path(_) | Goal::Fault(_) | Goal::Sequence(_) => RememberedGoals::Items,
        Goal::Pair(..) => RememberedGoals::Pairs,
        Goal::DefinitionUse { .. } => RememberedGoals::Definitions,
    }
}

/// Lists the paths of a criterion as goals, and whether these are all.
pub(crate) fn list_paths(
    system: &System<'_>,
    criterion: Criterion,
    limits: TreeLimits,
    solver: &mut dyn Solver,
) -> (Vec<Goal>, bool) {
    let paths = match criterion {
        Criterion::Inclusion(k) => match k_inclusion(system, limits, k, solver) {
            Ok(paths) => paths,
            Err(_) => return (Vec::new(), false),
        },
        Criterion::AllPaths(n) => all_paths(system, limits, n, solver),
        _ => return (Vec::new(), true),
    };
    let goals = paths.accepting.iter().map(|node| Goal::Path(path_transitions(&paths.tree, *node)));
    (goals.collect(), paths.is_complete)
}

fn decide_fate_of_fault(sought: Sought) -> Fate {
    match sought {
        Sought::Met(found) => Fate::Covered(found),
        Sought::Never(nodes) => {
            Fate::Unreachable(format!("it conforms: the tree of the mutant and the specification is finished, with {nodes} nodes"))
        }
        // Without a node, nothing was searched.
        Sought::Unknown(Doubt::Bound(0, _)) => {
            Fate::Unknown("the mutant and the specification together are too large, or cannot be expressed".to_owned())
        }
        Sought::Unknown(Doubt::Bound(nodes, depth)) => {
            Fate::Unknown(format!("no difference within {nodes} nodes and {depth} steps"))
        }
        Sought::Unknown(_) => {
            Fate::Unknown("it may differ only where no output is expected, or as the specification does when stimuli cross its steps".to_owned())
        }
    }
}

pub(crate) fn decide_fate(sought: Sought) -> Fate {
    match sought {
        Sought::Met(found) => Fate::Covered(found),
        Sought::Never(nodes) => {
            Fate::Unreachable(format!("no path of the finished tree of {nodes} nodes meets it"))
        }
        Sought::Unknown(Doubt::Bound(nodes, depth)) => {
            Fate::Unknown(format!("not met within {nodes} nodes and {depth} steps"))
        }
        Sought::Unknown(Doubt::Ambiguous) => Fate::Unknown(
            "a path meets it, but no trace was found that shows it in every explanation".to_owned(),
        ),
        Sought::Unknown(Doubt::Solver) => {
            Fate::Unknown("the solver does not know whether it can be met".to_owned())
        }
    }
}

/// Explains why the facts exclude the goal, if they do.
fn explain_excluded(
    walked: &Walked,
    system: &System<'_>,
    goal: &Goal,
    facts: &Numbered<LocationId, Term>,
    solver: &mut dyn Solver,
) -> Option<String> {
    let iosts = &walked.iosts;
    let fact_text =
        |location: LocationId| format!("reach[{}]: {}", iosts.location(location).label, facts[location]);
    match goal {
        Goal::Item(number) => {
            let items = &walked.parts[0].items;
            let item = &items.all()[*number];
            let is_excluded = proofs::is_out_of_reach(iosts, items, facts, item, solver);
            is_excluded.then(|| fact_text(proofs::location_of(iosts, item)))
        }
        Goal::Pair(first, second) => {
            let source = iosts.transitions[*first].source;
            let mut state = SymbolicState::initial(iosts);
            state.location = source;
            state.condition = facts[source].conjuncts();
            for number in [first, second] {
                let next = system.successor(&state, *number).map(|(_, next)| next);
                match next.filter(|next| solver.check(&next.condition) != Answer::Unsat) {
                    Some(next) => state = next,
                    None => return Some(fact_text(source)),
                }
            }
            None
        }
        Goal::DefinitionUse { definition, used, .. } => [definition, used].into_iter().find_map(|number| {
            let source = iosts.transitions[*number].source;
            let question = [facts[source].clone(), system.enabled(*number).clone()];
            (solver.check(&question) == Answer::Unsat).then(|| fact_text(source))
        }),
        Goal::Path(_) | Goal::Fault(_) | Goal::Sequence(_) => None,
    }
}
