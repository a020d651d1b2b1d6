//! Goals of coverage on random finite systems against exact reachability.
//!
//! Every reachable state is listed by the concrete semantics, with what came before it where a goal depends
//! on that; what can be met is what some step from them meets. A goal that is proved to be out of reach must
//! not be among it, one that is covered must be, and its evidence must be a run. What one event shows of a
//! guard or a parameter is counted by `coverage::explain_trace`, which has an oracle of its own. What a
//! purpose is said to cover is shown by the part of its run that it promises; and run against the
//! specification itself, it passes whatever the answers behind that are.

use std::collections::BTreeSet;

use coreach_adapters::in_process::InProcess;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::{System, TreeLimits};
use coreach_execution::constants::initial_state;
use coreach_execution::coverage::{Walked, explain_trace};
use coreach_execution::lazy::Lazy;
use coreach_execution::run::{Cause, Occurrence, RunStep, events};
use coreach_execution::simulated::Simulated;
use coreach_execution::strategy::Strategy;
use coreach_execution::{Outcome, Settings as RunSettings, TestCase, TestSession, judge};
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::reader::Specification;
use coreach_model::semantics::{Event, State, after, fire, is_initial};
use coreach_model::value::tuples;
use coreach_model::{Term, TransitionId, Value, Verdict};
use coreach_pipeline::export::{Format, View, export};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Stage, StageOptions, generate as make};
use coreach_project::cover::evidence::RunEvidence;
use coreach_project::cover::search::MetGoal;
use coreach_project::cover::{
    Cover, CoverSettings, Criterion, Ended, Fate, Goal, SuiteMember, cover, goals, lock_cover,
};

use super::ensure;
use super::tree::initial;

/// Systems with more states are left out.
const MOST: usize = 600;

/// So many prefixes of runs are looked at to explain a trace.
const MOST_RUNS: usize = 20_000;

/// The values that a transition's parameters may have.
pub fn values(iosts: &Iosts, number: TransitionId) -> Option<Vec<Vec<Value>>> {
    let parameters = &iosts.action(iosts.transitions[number].action).parameters;
    let lists: Option<Vec<Vec<Value>>> =
        parameters.iter().map(|datum| Value::enumerate(datum.ty(), 1000)).collect();
    lists.map(|lists| tuples(&lists))
}

/// A state, the last transition, and for each variable where it was assigned.
type Place = (State, Option<TransitionId>, Vec<Option<TransitionId>>);

/// Everything that can be met: the numbers of items, pairs, and definitions with their uses.
#[derive(Default)]
struct Possible {
    items: BTreeSet<usize>,
    pairs: BTreeSet<(TransitionId, TransitionId)>,
    uses: BTreeSet<(String, TransitionId, TransitionId)>,
}

fn possible(iosts: &Iosts) -> Option<Possible> {
    let walked = Walked::alone(iosts);
    let mut found = Possible::default();
    let start = |state| (state, None, vec![None; iosts.variables.len()]);
    let mut open: Vec<Place> = initial(iosts)?.into_iter().map(start).collect();
    let mut seen: BTreeSet<Place> = open.iter().cloned().collect();
    let mut looked: BTreeSet<State> = BTreeSet::new();
    while let Some((state, last, assigned)) = open.pop() {
        if seen.len() > 20 * MOST || looked.len() > MOST {
            return None;
        }
        let is_new = looked.insert(state.clone());
        if is_new {
            let came = explain_trace(&walked, &state, &[], None, 10_000).ok()?;
            found.items.extend(met(&came.bounds.most));
        }
        for (number, transition) in iosts.transitions.numbered() {
            let action = iosts.action(transition.action);
            for values in values(iosts, number)? {
                let Some(next) = fire(iosts, transition, &state, &values) else { continue };
                if let Some(last) = last {
                    found.pairs.insert((last, number));
                }
                for (variable, definition) in iosts.variables.iter().zip(&assigned) {
                    if let Some(definition) = definition.filter(|_| goals::uses(transition, variable)) {
                        found.uses.insert((variable.name().to_owned(), definition, number));
                    }
                }
                if is_new && action.kind != ActionKind::Internal {
                    let event = Occurrence::Observation(Event::new(action.name.clone(), values));
                    let shown = explain_trace(&walked, &state, &[event], None, 10_000).ok()?;
                    assert_eq!(shown.refused, None);
                    found.items.extend(met(&shown.bounds.most));
                }
                let mut now = assigned.clone();
                for (variable, definition) in iosts.variables.iter().zip(&mut now) {
                    if transition.assignments.contains_key(variable) {
                        *definition = Some(number);
                    }
                }
                let place = (next, Some(number), now);
                if seen.insert(place.clone()) {
                    open.push(place);
                }
            }
        }
    }
    Some(found)
}

fn met(most: &[u32]) -> impl Iterator<Item = usize> {
    most.iter().enumerate().filter(|(_, most)| **most > 0).map(|(number, _)| number)
}

fn is_possible(possible: &Possible, goal: &Goal) -> bool {
    match goal {
        Goal::Item(number) => possible.items.contains(number),
        Goal::Pair(first, second) => possible.pairs.contains(&(*first, *second)),
        Goal::DefinitionUse { variable, definition, used } => {
            possible.uses.contains(&(variable.name().to_owned(), *definition, *used))
        }
        Goal::Path(_) | Goal::Fault(_) | Goal::Sequence(_) => true,
    }
}

/// What was looked at, to see that it was looked at.
#[derive(Default, Debug)]
pub struct Seen {
    /// Systems that were compared.
    pub systems: usize,
    /// Goals that are covered.
    pub covered: usize,
    /// Goals that are proved unreachable.
    pub unreachable: usize,
    /// Those of them that the tree proves.
    pub by_the_tree: usize,
    /// Goals that are not known.
    pub unknown: usize,
    /// Goals that can be met, and are not known to be.
    pub missed: usize,
    /// Purposes that went through the pipeline.
    pub purposes: usize,
    /// Purposes that watch more than they promise.
    pub watching: usize,
    /// Runs against the specification itself that passed.
    pub passed: usize,
}

/// The run is one, and what it shows for certain is the goal.
fn is_evident(specification: &Specification, one: &Ended, walked: &Walked) -> bool {
    let Fate::Covered(found) = &one.fate else { return true };
    let (iosts, evidence) = (&specification.iosts, &found.evidence);
    let is_run = is_initial(iosts, &evidence.initial)
        && !after(iosts, BTreeSet::from([evidence.initial.clone()]), &evidence.trace).is_empty();
    is_run && shows(walked, &evidence.initial, &evidence.trace, &one.goal)
}

/// Does a trace show a goal for certain? Only of items more is known than that it is a trace.
fn shows(walked: &Walked, initial: &State, trace: &[Event], goal: &Goal) -> bool {
    let Goal::Item(number) = goal else { return true };
    let trace: Vec<Occurrence> = trace.iter().cloned().map(Occurrence::Observation).collect();
    explain_trace(walked, initial, &trace, None, 10_000)
        .is_ok_and(|shown| shown.refused.is_none() && shown.bounds.least[*number] > 0)
}

fn criteria() -> Vec<Criterion> {
    vec![
        Criterion::Locations,
        Criterion::Transitions,
        Criterion::Pairs,
        Criterion::Guards,
        Criterion::Boundaries,
        Criterion::DefinitionUse,
        Criterion::AllPaths(2),
    ]
}

/// The goals of a specification, with a suite whose paths are continued to so many steps.
pub fn found(specification: &Specification, criteria: Vec<Criterion>, steps: usize) -> Cover {
    let limits = TreeLimits { depth: 15, nodes: 250, is_restricted: true, ..TreeLimits::default() };
    let (analysis, conformance, stages, observe) = Default::default();
    let settings = CoverSettings { criteria, limits, analysis, conformance, stages, steps, observe };
    // By ioc there is nothing that could not be said.
    let kept = Cover::of(specification, &settings).unwrap_or_else(|stop| panic!("{stop:?}"));
    // What a budget ends leaves goals that are open, and nothing is claimed of those.
    cover(specification, &settings, &|_| {}, &kept);
    lock_cover(&kept).clone()
}

/// Holds what became of each goal against exact reachability, and the suite against its goals.
///
/// # Errors
/// What differs.
pub fn compare(specification: &Specification, steps: usize, seen: &mut Seen) -> Result<(), String> {
    let iosts = &specification.iosts;
    let Some(possible) = possible(iosts) else { return Ok(()) };
    seen.systems += 1;
    let walked = Walked::alone(iosts);
    let found = found(specification, criteria(), steps);
    for (number, one) in found.goals.iter().enumerate() {
        let name = || goals::describe_goal(iosts, &walked.parts[0].items, &one.goal);
        let is_possible = is_possible(&possible, &one.goal);
        match &one.fate {
            Fate::Covered(_) => {
                seen.covered += 1;
                ensure!(is_possible, "covered, and no run meets it: {}", name());
                ensure!(
                    is_evident(specification, one, &walked),
                    "covered, and its run does not show it: {}",
                    name()
                );
            }
            Fate::Unreachable(why) => {
                seen.unreachable += 1;
                seen.by_the_tree += usize::from(why.contains("tree"));
                ensure!(!is_possible, "{why}, and a run meets it: {}", name());
            }
            Fate::Unknown(_) | Fate::Open => {
                seen.unknown += 1;
                seen.missed += usize::from(is_possible);
            }
        }
        // Each covered goal has its purpose, and no other one has.
        let by = found.suite.iter().filter(|member| member.chosen.goals.contains(&number)).count();
        ensure!((by > 0) == matches!(one.fate, Fate::Covered(_)), "{by} purposes for {}", name());
    }
    for member in &found.suite {
        // Behind what is promised another answer will do, so nothing may rest on that.
        let promised = &promised(iosts, member);
        seen.watching += usize::from(member.chosen.found.route.watched > 0);
        let whole = &member.chosen.found.evidence;
        let is_run = !after(iosts, BTreeSet::from([whole.initial.clone()]), &whole.trace).is_empty();
        ensure!(is_run, "no run: {}", member.written.text);
        let evidence = promised;
        for number in &member.chosen.goals {
            let goal = &found.goals[*number].goal;
            let name = || goals::describe_goal(iosts, &walked.parts[0].items, goal);
            ensure!(
                shows(&walked, &evidence.initial, &evidence.trace, goal),
                "a purpose does not show {}",
                name()
            );
            if !matches!(goal, Goal::Item(_)) {
                ensure!(is_met(iosts, goal, evidence), "the path of a purpose does not meet {}", name());
            }
        }
    }
    for member in found.suite.iter().take(3) {
        seen.purposes += 1;
        if let Some(test) = test_case(iosts, member)? {
            let goals: Vec<&Goal> =
                member.chosen.goals.iter().map(|number| &found.goals[*number].goal).collect();
            is_accepted(specification, member, &goals, &test, seen)?;
        }
    }
    Ok(())
}

/// The test case of a purpose; none where the pipeline refuses it, for choices that nothing resolves.
///
/// # Errors
/// It says that Accept is out of reach, or is not read back.
pub fn test_case(iosts: &Iosts, member: &SuiteMember) -> Result<Option<TestCase>, String> {
    let options = StageOptions {
        max_lookahead: 4,
        analysis: Default::default(),
        limits: Limits::default(),
        check: true,
    };
    let mut solver = Z3Solver::default();
    let made = make(iosts, member.written.purpose.clone(), &options, &mut solver, &mut |_| {});
    let Ok(made) = made else { return Ok(None) };
    ensure!(made.test_graph.pass.is_some(), "out of reach: {}", member.written.text);
    let document = export(&View::of(&made, Stage::InputComplete), Format::Json, Default::default());
    let test = document.map(|document| TestCase::from_json(document.as_bytes()));
    let Ok(Ok(test)) = test else { return Err(format!("not read back: {}", member.written.text)) };
    Ok(Some(test))
}

/// The part of a member's run that the system must go along.
fn promised(iosts: &Iosts, member: &SuiteMember) -> RunEvidence {
    let MetGoal { route, evidence, .. } = &member.chosen.found;
    let watched = route.path[route.path.len() - route.watched..].iter();
    let watched = watched.filter(|number| iosts.action(iosts.transitions[**number].action).is_visible());
    let events = evidence.trace.len() - watched.count();
    RunEvidence { trace: evidence.trace[..events].to_vec(), ..evidence.clone() }
}

/// Runs against the specification itself never fail; one that passes meets the purpose's goals, however it is
/// explained; and no answer ends one without Pass that has met the goals, or has come to what is watched.
fn is_accepted(
    specification: &Specification,
    member: &SuiteMember,
    goals: &[&Goal],
    test: &TestCase,
    seen: &mut Seen,
) -> Result<(), String> {
    let promised = promised(&specification.iosts, member).trace.len();
    for seed in 0..6 {
        let Ok(initial) = initial_state(test, &Default::default(), seed, &mut Lazy::default()) else {
            return Ok(());
        };
        let run = TestSession {
            judge: judge::make_judge(test, initial.clone(), None).as_mut(),
            settings: &RunSettings { steps: 40, ..RunSettings::default() },
            adapter: &mut InProcess(Simulated::new(specification.iosts.clone(), Lazy::default())),
        }
        .run(seed, if seed % 2 == 0 { Strategy::plan() } else { Strategy::random() });
        let verdict = run.outcome.verdict();
        // Who ignores what another of the states takes that are possible there may fail (`refused.rs`).
        let fails = verdict == Some(Verdict::Fail) && !refuses(&specification.iosts, &run.trace);
        ensure!(!fails, "it fails: {}", member.written.text);
        if verdict == Some(Verdict::Pass) {
            seen.passed += 1;
            meets_all(&specification.iosts, goals, &initial, &run.trace, member)?;
        }
        let seen = events(&run.trace);
        let is_answered = run.outcome == Outcome::Verdict(Verdict::Inconclusive, Cause::Event)
            && (seen > promised
                || seen == promised && went_along(&specification.iosts, &initial, &run.trace, member));
        ensure!(!is_answered, "an answer is not accepted: {:?}\n{}", run.trace, member.written.text);
    }
    Ok(())
}

/// Did a run go along all that a purpose promises, which asks for nothing more than that?
fn went_along(iosts: &Iosts, begun: &State, trace: &[RunStep], member: &SuiteMember) -> bool {
    let route = &member.chosen.found.route;
    let asks = route.guards(&System::new(iosts), &mut Z3Solver::default());
    let path = Goal::Path(route.promised().to_vec());
    asks[..route.promised().len()].iter().all(Term::is_true)
        && !refuses(iosts, trace)
        && meets_all(iosts, &[&path], begun, trace, member).is_ok()
}

/// Does each explanation of a run meet all goals? It begins where the data are those of the run.
fn meets_all(
    iosts: &Iosts,
    goals: &[&Goal],
    begun: &State,
    trace: &[RunStep],
    member: &SuiteMember,
) -> Result<(), String> {
    let walked = Walked::alone(iosts);
    let events: Vec<Event> = trace.iter().filter_map(|step| step.what.event().cloned()).collect();
    let agrees = |start: &State| {
        start.valuation.iter().all(|(datum, value)| begun.valuation.get(datum).is_none_or(|own| own == value))
    };
    for start in initial(iosts).unwrap_or_default().into_iter().filter(agrees) {
        let end = after(iosts, BTreeSet::from([start.clone()]), &events).pop_first();
        let Some(end) = end else { continue };
        let run = RunEvidence { initial: start, trace: events.clone(), end };
        for goal in goals {
            let is_shown = match goal {
                Goal::Item(_) => shows(&walked, &run.initial, &run.trace, goal),
                _ => is_met(iosts, goal, &run),
            };
            let name = || goals::describe_goal(iosts, &walked.parts[0].items, goal);
            ensure!(is_shown, "it passes without {}: {:?}\n{}", name(), run.trace, member.written.text);
        }
    }
    Ok(())
}

/// Does some state that is possible on the way refuse an input that was sent?
fn refuses(iosts: &Iosts, trace: &[RunStep]) -> bool {
    let Some(mut states) = initial(iosts) else { return true };
    for RunStep { what: occurrence, .. } in trace {
        let Some(event) = occurrence.event() else { continue };
        let event = std::slice::from_ref(event);
        let takes = |state: &State| !after(iosts, BTreeSet::from([state.clone()]), event).is_empty();
        states = after(iosts, states, &[]);
        if matches!(occurrence, Occurrence::Stimulus(_)) && !states.iter().all(takes) {
            return true;
        }
        states = after(iosts, states, event);
    }
    false
}

/// Does each run that explains the trace meet a goal of several steps? The runs are listed here, by
/// definition.
fn is_met(iosts: &Iosts, goal: &Goal, evidence: &RunEvidence) -> bool {
    let mut open = vec![(evidence.initial.clone(), 0, Vec::new())];
    let (mut is_one, mut looked) = (false, 0);
    while let Some((state, seen, path)) = open.pop() {
        looked += 1;
        if looked > MOST_RUNS {
            return true;
        }
        if seen == evidence.trace.len() {
            is_one = true;
            if !lies_on(iosts, goal, &path) {
                return false;
            }
            continue;
        }
        for (number, transition) in iosts.transitions.numbered() {
            let action = iosts.action(transition.action);
            let event = &evidence.trace[seen];
            let (values, now): (&[Value], usize) = match action.kind {
                ActionKind::Internal => (&[], seen),
                _ if action.name == event.action => (&event.values, seen + 1),
                _ => continue,
            };
            if let Some(next) = fire(iosts, transition, &state, values) {
                open.push((next, now, [path.as_slice(), &[number]].concat()));
            }
        }
    }
    is_one
}

/// Is the goal on a path?
fn lies_on(iosts: &Iosts, goal: &Goal, path: &[TransitionId]) -> bool {
    match goal {
        Goal::Item(_) | Goal::Fault(_) | Goal::Sequence(_) => true,
        Goal::Pair(first, second) => (1..path.len()).any(|at| (path[at - 1], path[at]) == (*first, *second)),
        Goal::Path(wanted) => path.starts_with(wanted),
        Goal::DefinitionUse { variable, definition, used } => (0..path.len()).any(|at| {
            let assigns =
                |number: &&TransitionId| iosts.transitions[**number].assignments.contains_key(variable);
            path[at] == *used
                && goals::uses(&iosts.transitions[path[at]], variable)
                && path[..at].iter().rev().find(assigns) == Some(definition)
        }),
    }
}
