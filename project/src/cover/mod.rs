//! Purposes from coverage: what a criterion asks for, each as a purpose that meets it, as a proof that no run
//! can, or as a question left open.
//!
//! **Problem.** Purposes are hard to write, and whoever has written some does not know what they leave out.
//!
//! **Method.** A criterion gives goals ([`goals`]). What the facts of `reach` exclude is out of reach, and
//! the fact is named. For the rest the tree of symbolic paths is searched, breadth first ([`search`]); a goal
//! is met by a path whose trace shows it however it is explained ([`evidence`]). The path becomes a purpose
//! ([`purpose`]) that goes on behind its goal to see what came of it ([`observe`]), and a small suite of them
//! meets all goals ([`suite`]).
//!
//! **Every goal ends** as *covered* by a purpose, as *unreachable* with the reason, or as *unknown* with the
//! bound up to which was looked. Covered goals are reachable, since a run was taken by the concrete
//! semantics; unreachable ones are not, as far as abstract interpretation, the tree and the solver are right;
//! nothing is claimed of the others.
//!
//! **Kept** is each thing as soon as it is found, so that a budget that is passed leaves it. Looking for
//! paths and making the suite are two pieces of work: what was met is not lost for lack of a purpose. What
//! is not decided by then is *open*.

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

use coreach_analyses::Options as Analysis;
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

use evidence::{Evidence, collect_shown};
pub use goals::{CRITERIA, Criterion, Goal};
use machine::{FiniteMachine, MachineSummary, machine};
pub use observe::Observe;
use observe::Observer;
use purpose::Written;
use search::{Doubt, MetGoal, Remembered, Sought, transitions};
pub use suite::Chosen;

use crate::budget;
use crate::making::Says;

#[derive(Clone, Debug)]
pub struct Settings {
    pub criteria: Vec<Criterion>,
    pub limits: TreeLimits,
    pub analysis: Analysis,
    /// For ioco the specification is suspended: that it is quiescent is a transition like others.
    pub conformance: Conformance,
    /// How long the condition of quiescence may be.
    pub stages: Limits,
    /// Paths of the suite are continued up to so many visible steps, for the goals that are left; 0: they
    /// stay as they are.
    pub steps: usize,
    /// What purposes watch behind their goals.
    pub observe: Observe,
}

#[derive(Clone, Debug)]
pub enum Fate {
    Covered(MetGoal),
    /// No run can meet it, and why.
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
pub struct Member {
    pub written: Written,
    /// The path, a run along it, and the numbers of the goals that it meets.
    pub chosen: Chosen,
}

#[derive(Clone, Debug)]
pub struct Cover {
    pub iosts: Iosts,
    /// The goals in the order of the criteria.
    pub goals: Vec<Ended>,
    pub suite: Vec<Member>,
    /// Criteria whose goals are not all known: their paths did not fit the limits, or the work has not come
    /// so far.
    pub cut: Vec<Criterion>,
    /// The specification as a finite machine, where a suite for one was asked for and it is one.
    pub machine: Option<MachineSummary>,
}

impl Cover {
    /// Makes a cover in which nothing is known yet.
    pub fn of(specification: &Specification, settings: &Settings) -> Result<Mutex<Self>, Stop> {
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

/// What is known so far. Whoever holds it does nothing else.
pub fn known(kept: &Mutex<Cover>) -> MutexGuard<'_, Cover> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks for purposes; what is found is put into `kept` at once. Returns why the work did not come to its
/// end.
pub fn cover(
    specification: &Specification,
    settings: &Settings,
    says: Says<'_>,
    kept: &Mutex<Cover>,
) -> Option<Stop> {
    let searched = known(kept).iosts.clone();
    let walked = Walked::alone(&searched);
    let system = System::new(&walked.iosts);
    let time = budget::time(None);
    let looked = budget::within("cover", time, |_| {
        look_for_routes(&specification.iosts, &searched, &walked, &system, settings, says, kept)
    });
    says("a suite".to_owned());
    let made = budget::within("suite", time, |_| make(specification, &walked, &system, settings, kept));
    looked.err().or(made.err())
}

/// Looks for a route to each goal, criterion by criterion. What is found, or is known to be unreachable, is
/// in `kept` at once: the budget may end this anywhere.
fn look_for_routes(
    specification: &Iosts,
    iosts: &Iosts,
    walked: &Walked,
    system: &System<'_>,
    settings: &Settings,
    says: Says<'_>,
    kept: &Mutex<Cover>,
) {
    let mut solver = Z3Solver::default();
    let begin = |criterion: Criterion, goal: Goal| {
        let mut known = known(kept);
        known.goals.push(Ended { criterion, goal, fate: Fate::Open });
        known.goals.len() - 1
    };
    let decide = |number: usize, fate: Fate| known(kept).goals[number].fate = fate;
    says("what can be reached".to_owned());
    let facts = proofs::reachable_facts(iosts, &settings.analysis);
    let mut finite: Option<Result<FiniteMachine<'_>, String>> = None;
    for &criterion in &settings.criteria {
        says(format!("{criterion}"));
        if let Criterion::Machine(method, extra) = criterion {
            let finite = finite.get_or_insert_with(|| machine(iosts, &mut solver));
            let found = finite.as_ref().map_err(Clone::clone).and_then(|finite| {
                known(kept).machine.get_or_insert_with(|| finite.summary(&settings.criteria));
                let found = finite.goals(method, extra)?;
                let (tests, most) = (found.len(), settings.limits.nodes);
                let too_many = || format!("it has {tests} sequences, and `--nodes` is {most}");
                (tests <= most).then_some(found).ok_or_else(too_many)
            });
            let none = |why| vec![(Goal::Sequence("its sequences".to_owned()), Fate::Unknown(why))];
            let met = |(goal, found)| (goal, Fate::Covered(found));
            for (goal, fate) in found.map_or_else(none, |found| found.into_iter().map(met).collect()) {
                let number = begin(criterion, goal);
                decide(number, fate);
            }
            known(kept).cut.retain(|other| *other != criterion);
            continue;
        }
        let (goals, is_complete) = match criterion {
            Criterion::AllPaths(_) | Criterion::Inclusion(_) => {
                paths_of(system, criterion, settings.limits, &mut solver)
            }
            Criterion::Faults(most) => {
                let (conformance, stages) = (settings.conformance, &settings.stages);
                let faults = faults::faults(specification, most, conformance, stages, &mut solver);
                (faults.into_iter().map(|fault| Goal::Fault(Arc::new(fault))).collect(), true)
            }
            _ => (goals::goals(iosts, &walked.parts[0].items, criterion), true),
        };
        let numbers: Vec<(usize, Goal)> =
            goals.into_iter().map(|goal| (begin(criterion, goal.clone()), goal)).collect();
        if is_complete {
            known(kept).cut.retain(|other| *other != criterion);
        }
        let mut shown: Vec<MetGoal> = Vec::new();
        for (number, goal) in numbers {
            if let Goal::Path(path) = goal {
                decide(number, fate(search::along(walked, path, &mut solver)));
            } else if let Goal::Fault(fault) = goal {
                let is_known = |one: &&MetGoal| {
                    faults::shows(iosts, &fault, &one.evidence, &mut solver) == faults::Shows::Must
                };
                let sought = match shown.iter().find(is_known) {
                    Some(found) => Sought::Met(MetGoal { must: true, ..found.clone() }),
                    None => faults::search(system, &fault, settings.limits, &mut solver),
                };
                if let Sought::Met(found) = &sought
                    && shown.iter().all(|one| one.route != found.route)
                {
                    shown.push(found.clone());
                }
                decide(number, fate_of_fault(sought));
            } else if let Some(why) = explain_excluded(walked, system, &goal, &facts, &mut solver) {
                decide(number, Fate::Unreachable(why));
            }
        }
    }
    // What is left, one tree for all goals that need the same memory.
    for kind in [Remembered::Items, Remembered::Pairs, Remembered::Definitions] {
        let open: Vec<(usize, Goal)> = {
            let known = known(kept);
            let open = known.goals.iter().enumerate().filter(|(_, one)| matches!(one.fate, Fate::Open));
            open.filter(|(_, one)| kind_of(&one.goal) == kind)
                .map(|(number, one)| (number, one.goal.clone()))
                .collect()
        };
        if open.is_empty() {
            continue;
        }
        says(format!("paths to {} goals", open.len()));
        let (numbers, wanted): (Vec<usize>, Vec<Goal>) = open.into_iter().unzip();
        let mut met = |place: usize, found: &MetGoal| decide(numbers[place], Fate::Covered(found.clone()));
        let sought = search::search(walked, &wanted, kind, settings.limits, &mut met, &mut solver);
        for (number, sought) in numbers.iter().zip(sought) {
            decide(*number, fate(sought));
        }
    }
}

/// Chooses the suite from the routes and writes its purposes. Where one cannot be written, its goals lose
/// their watched steps or are given up, and the choice is made again.
fn make(
    specification: &Specification,
    walked: &Walked,
    system: &System<'_>,
    settings: &Settings,
    kept: &Mutex<Cover>,
) {
    let mut solver = Z3Solver::default();
    let all: Vec<Goal> = known(kept).goals.iter().map(|one| one.goal.clone()).collect();
    // The routes without watched steps: these are taken where the watched ones cannot be written.
    let found: BTreeMap<usize, MetGoal> = covered_goals(&known(kept)).collect();
    let mut observer = Observer::new(system, settings.observe);
    let mut met: Vec<(usize, MetGoal)> = Vec::new();
    for (number, found) in &found {
        if matches!(all[*number], Goal::Fault(_) | Goal::Sequence(_)) {
            met.push((*number, found.clone()));
            continue;
        }
        let shows = |evidence: &Evidence| collect_shown(walked, evidence).meets(&walked.iosts, &all[*number]);
        met.push((*number, observer.observed(found, &shows, &mut solver)));
    }
    let mut steps = settings.steps;
    loop {
        known(kept).suite.clear();
        let observer = Observer::new(system, settings.observe);
        let mut chosen = suite::SuiteChooser::new(walked, system, &all, &met, steps, observer, &mut solver);
        while let Some(next) = chosen.next(&mut solver) {
            // For now under a name that it may not keep: the shortest ones come first.
            let name = purpose::name(known(kept).suite.len());
            if let Some(written) =
                purpose::purpose(&name, specification, system, &next.found.route, &mut solver)
            {
                known(kept).suite.push(Member { written, chosen: next });
            }
        }
        let mut members = Vec::new();
        let mut unwritable = None;
        for (place, chosen) in chosen.in_order().into_iter().enumerate() {
            let name = purpose::name(place);
            match purpose::purpose(&name, specification, system, &chosen.found.route, &mut solver) {
                Some(written) => members.push(Member { written, chosen }),
                None => unwritable = Some(chosen),
            }
        }
        // What cannot be written is no purpose; its goals may lie on the way of another.
        let Some(chosen) = unwritable else {
            known(kept).suite = members;
            return;
        };
        if met.iter().all(|(_, own)| own.route != chosen.found.route) {
            steps = 0;
        }
        met.retain_mut(|(number, own)| {
            if own.route != chosen.found.route {
                return true;
            }
            let is_alone = own.route == found[number].route;
            if is_alone {
                let why = "its path has no purpose in the model format".to_owned();
                known(kept).goals[*number].fate = Fate::Unknown(why);
            }
            own.clone_from(&found[number]);
            !is_alone
        });
    }
}

fn covered_goals(known: &Cover) -> impl Iterator<Item = (usize, MetGoal)> {
    known.goals.iter().enumerate().filter_map(|(number, one)| match &one.fate {
        Fate::Covered(found) => Some((number, found.clone())),
        _ => None,
    })
}

/// What a tree must remember for the goal.
pub(crate) fn kind_of(goal: &Goal) -> Remembered {
    match goal {
        Goal::Item(_) | Goal::Path(_) | Goal::Fault(_) | Goal::Sequence(_) => Remembered::Items,
        Goal::Pair(..) => Remembered::Pairs,
        Goal::DefinitionUse { .. } => Remembered::Definitions,
    }
}

/// The paths of a criterion, each a goal; and whether all of them fit.
pub(crate) fn paths_of(
    system: &System<'_>,
    criterion: Criterion,
    limits: TreeLimits,
    solver: &mut dyn Solver,
) -> (Vec<Goal>, bool) {
    let found = match criterion {
        Criterion::Inclusion(k) => match k_inclusion(system, limits, k, solver) {
            Ok(found) => found,
            Err(_) => return (Vec::new(), false),
        },
        Criterion::AllPaths(n) => all_paths(system, limits, n, solver),
        _ => return (Vec::new(), true),
    };
    let goals = found.accepting.iter().map(|node| Goal::Path(transitions(&found.tree, *node)));
    (goals.collect(), found.is_complete)
}

fn fate_of_fault(sought: Sought) -> Fate {
    match sought {
        Sought::Met(found) => Fate::Covered(found),
        Sought::Never(nodes) => {
            Fate::Unreachable(format!("it conforms: the tree of both together ends with {nodes} nodes"))
        }
        Sought::Unknown(Doubt::Bound(0, _)) => {
            Fate::Unknown("both together are too large, or cannot be said".to_owned())
        }
        Sought::Unknown(Doubt::Bound(nodes, depth)) => {
            Fate::Unknown(format!("no difference within {nodes} nodes and {depth} steps"))
        }
        Sought::Unknown(_) => {
            Fate::Unknown("it may differ, but where nothing is awaited, or as the specification does when stimuli cross its steps".to_owned())
        }
    }
}

pub(crate) fn fate(sought: Sought) -> Fate {
    match sought {
        Sought::Met(found) => Fate::Covered(found),
        Sought::Never(nodes) => {
            Fate::Unreachable(format!("no path of the tree meets it, which ends with {nodes} nodes"))
        }
        Sought::Unknown(Doubt::Bound(nodes, depth)) => {
            Fate::Unknown(format!("not met within {nodes} nodes and {depth} steps"))
        }
        Sought::Unknown(Doubt::Ambiguous) => Fate::Unknown(
            "met on a path, but no trace was found that ends with an event and shows it however it is explained".to_owned(),
        ),
        Sought::Unknown(Doubt::Solver) => {
            Fate::Unknown("the solver does not know whether it can be met".to_owned())
        }
    }
}

/// Why the facts exclude the goal, where they do.
fn explain_excluded(
    walked: &Walked,
    system: &System<'_>,
    goal: &Goal,
    facts: &Numbered<LocationId, Term>,
    solver: &mut dyn Solver,
) -> Option<String> {
    let iosts = &walked.iosts;
    let named =
        |location: LocationId| format!("reach[{}]: {}", iosts.location(location).label, facts[location]);
    match goal {
        Goal::Item(number) => {
            let items = &walked.parts[0].items;
            let item = &items.all()[*number];
            let is_excluded = proofs::is_out_of_reach(iosts, items, facts, item, solver);
            is_excluded.then(|| named(proofs::location_of(iosts, item)))
        }
        Goal::Pair(first, second) => {
            let source = iosts.transitions[*first].source;
            let mut state = SymbolicState::initial(iosts);
            state.location = source;
            state.condition = facts[source].conjuncts();
            for number in [first, second] {
                let next = system.successor(&state, *number).map(|(_, next)| next);
                let is_possible =
                    next.as_ref().is_some_and(|next| solver.check(&next.condition) != Answer::Unsat);
                match next {
                    Some(next) if is_possible => state = next,
                    _ => return Some(named(source)),
                }
            }
            None
        }
        Goal::DefinitionUse { definition, used, .. } => [definition, used].into_iter().find_map(|number| {
            let source = iosts.transitions[*number].source;
            let question = [facts[source].clone(), system.enabled(*number).clone()];
            (solver.check(&question) == Answer::Unsat).then(|| named(source))
        }),
        Goal::Path(_) | Goal::Fault(_) | Goal::Sequence(_) => None,
    }
}
