//! Measures how good a suite of test cases is, by runs against implementations that are known to be wrong.
//!
//! **Problem.** A suite that passes on everything proves nothing. Mutants of the specification, each wrong in
//! one place, stand for faults (DeMillo, Lipton and Sayward, 1978). The score of a suite is the part of them
//! that it fails. But a mutant may conform all the same, and then nothing can kill it.
//!
//! **Method.** Mutants are made by the operators in turn, at random places, none twice ([`mutants`]). Each
//! mutant, as a simulated implementation, meets every test case with some seeds: a Fail *kills* it, unless
//! the specification itself, simulated in the same way, can do everything that the run shows. A mutant that
//! no run kills is walked at random together with the specification ([`crate::monitor`]). An output that the
//! specification does not allow shows that the wrong mutant *survived*. Otherwise it is *equivalent up to the
//! bound* of that search, which is reported, for the question is undecidable. For a survivor it is reported
//! which transition was changed, and whether any run of the suite came through that transition: if none did,
//! the suite lacks a purpose.
//!
//! **Ends**, since everything is counted. **Costs** mutants x test cases x seeds runs in memory.

mod edits;
pub mod operators;

use std::collections::BTreeSet;

use coreach_adapters::in_process::{Implementation, InProcess};
use coreach_model::iosts::{ActionKind, Iosts, Transition};
use coreach_model::limits::MOST_STATES;
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State, internal_closure, step};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Numbered, TransitionId, Value, Verdict, Violated};
use edits::is_equal;
pub use edits::{TextEdit, list_edits};
pub use operators::{Mutant, MutationOperator, mutate};

use crate::bucket::Bucket;
use crate::constants::initial_state;
use crate::explain::bucket_of;
use crate::initial::{self, NoState};
use crate::judge::{self, Judge, Judged};
use crate::lazy::Lazy;
use crate::monitor::Monitor;
use crate::run::{Cause, Occurrence, Outcome, Run, events};
use crate::session::TestSession;
use crate::settings::Settings;
use crate::simulated::Simulated;
use crate::strategy::Strategy;
use crate::test_case::TestCase;
use crate::values::{MIX, Values};

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Effort {
    pub mutants: usize,
    /// The number of runs of each test case against each mutant.
    pub runs: u64,
    /// The number of walks together with the specification, for a mutant that no run killed.
    pub walks: u64,
    pub depth: usize,
    pub seed: u64,
    pub settings: Settings,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MutantStatus {
    /// A run of this test case, with this seed, ended with Fail.
    Killed { test: usize, seed: u64, bucket: Bucket, events: usize },
    /// It is wrong, as this trace shows, and no run of the suite saw it.
    Survived {
        /// The events of the mutant. The last one is wrong.
        trace: Vec<Event>,
    },
    /// Nothing wrong was found by the walks.
    Equivalent,
    /// It cannot be run: the reason.
    Broken(String),
}

impl MutantStatus {
    pub fn name(&self) -> &'static str {
        match self {
            MutantStatus::Killed { .. } => "killed",
            MutantStatus::Survived { .. } => "survived",
            MutantStatus::Equivalent => "equivalent",
            MutantStatus::Broken(_) => "broken",
        }
    }
}

#[derive(Clone, Debug)]
pub struct MutantResult {
    pub mutant: Mutant,
    pub fate: MutantStatus,
    /// How often runs of the suite against the specification itself came through the changed transition;
    /// `None` if no transition was changed.
    pub visits: Option<usize>,
    /// The differences from the specification.
    pub edits: Vec<TextEdit>,
    /// Its number among the mutants of the suite, from 1; 0 if it is judged alone.
    pub number: usize,
}

/// Makes different mutants: operators in turn, at random places. None is equal to the specification.
pub fn mutants(specification: &Iosts, most: usize, seed: u64) -> Vec<Mutant> {
    /// An operator is not used any more after so many draws that failed or repeated a mutant.
    const PATIENCE: usize = 24;
    let mut random = Random::new(seed ^ 0x6d75_7461_7465);
    let mut mutants: Vec<Mutant> = Vec::new();
    let mut failures = vec![0; MutationOperator::ALL.len()];
    let mut solver = Lazy::default();
    let is_same = |a: &Iosts, b: &Iosts| {
        a.transitions == b.transitions && a.initial_condition == b.initial_condition && a.actions == b.actions
    };
    while mutants.len() < most && failures.iter().any(|count| *count < PATIENCE) {
        for (operator, failures) in MutationOperator::ALL.iter().zip(&mut failures) {
            if *failures >= PATIENCE || mutants.len() >= most {
                continue;
            }
            let new = mutate(&mut random, specification, *operator)
                .filter(|new| !mutants.iter().any(|known| is_same(&known.iosts, &new.iosts)))
                .filter(|new| !is_equal(specification, &new.iosts, &mut solver));
            if let Some(new) = new { mutants.push(new) } else { *failures += 1 }
        }
    }
    mutants
}

/// Counts how often the suite's runs against the specification itself came through each of its transitions.
pub fn count_visits(
    specification: &Iosts,
    tests: &[TestCase],
    effort: &Effort,
) -> Numbered<TransitionId, usize> {
    let mut visits = specification.transitions.map(|_| 0);
    for test in tests {
        for seed in 0..effort.runs {
            let seed = effort.seed.wrapping_add(seed);
            let Ok((initial, run)) = run_once(test, specification, seed, effort) else { continue };
            let Ok(states) = initial_states(specification, &test.constants_in(&initial)) else { continue };
            let mut monitor = Monitor::new(specification, states);
            for step in &run.trace {
                if monitor.take(&step.what) != Judged::Followed(None) || monitor.verdict().is_some() {
                    break;
                }
            }
            for (sum, count) in visits.iter_mut().zip(monitor.taken()) {
                *sum += count;
            }
        }
    }
    visits
}

/// Judges a mutant by the suite.
pub fn judge_mutant(
    specification: &Iosts,
    tests: &[TestCase],
    mutant: Mutant,
    visits: &Numbered<TransitionId, usize>,
    effort: &Effort,
) -> MutantResult {
    let fate = decide_fate(specification, tests, &mutant.iosts, effort);
    let visits = mutant.transition.and_then(|at| visits.find(at).copied());
    MutantResult { edits: list_edits(specification, &mutant.iosts), mutant, fate, visits, number: 0 }
}

/// Returns how a run has violated the property of its test case, if it has.
fn find_violation(test: &TestCase, run: &Run) -> Option<Violated> {
    let last = run.trace.last().and_then(|step| step.transition)?;
    test.violates[test.iosts.transitions[last].target]
}

/// Runs the suite against a mutant, and walks a survivor and the specification to find a difference.
fn decide_fate(specification: &Iosts, tests: &[TestCase], mutant: &Iosts, effort: &Effort) -> MutantStatus {
    run_suite(specification, tests, mutant, effort)
        .unwrap_or_else(|| walk_survivor(specification, tests, mutant, effort))
}

/// Runs the suite against a mutant up to the first Fail that is its fault. Without one, it is broken if a run
/// could not be done. `None`: it survives.
fn run_suite(
    specification: &Iosts,
    tests: &[TestCase],
    mutant: &Iosts,
    effort: &Effort,
) -> Option<MutantStatus> {
    let mut run_error = None;
    for (number, test) in tests.iter().enumerate() {
        for seed in 0..effort.runs {
            let seed = effort.seed.wrapping_add(seed);
            match run_once(test, mutant, seed, effort) {
                // Behaviour that the specification allows is no fault of the mutant.
                Ok((_, run)) if find_violation(test, &run) == Some(Violated::Allowed) => {}
                // A Fail is no fault of the mutant if the simulated specification fails as well.
                Ok((initial, run)) if fails_as_well(specification, &test.constants_in(&initial), &run) => {}
                Ok((initial, run)) if run.outcome.verdict() == Some(Verdict::Fail) => {
                    let bucket = bucket_of(&mut *judge::make_judge(test, initial, None), &run);
                    let events = events(&run.trace);
                    return Some(MutantStatus::Killed { test: number, seed, bucket, events });
                }
                Ok((_, Run { outcome: Outcome::RunError(failure), .. })) => {
                    run_error = Some(failure.to_string())
                }
                Ok(_) => {}
                Err(message) => run_error = Some(message),
            }
        }
    }
    run_error.map(MutantStatus::Broken)
}

/// Walks a survivor until a walk finds a difference, with the constants of the tests.
fn walk_survivor(specification: &Iosts, tests: &[TestCase], mutant: &Iosts, effort: &Effort) -> MutantStatus {
    let (mut has_walked, mut walk_error) = (false, None);
    for seed in 0..effort.walks {
        let seed = effort.seed.wrapping_add(seed);
        // The specification alone may allow none of these constants.
        let test = &tests[seed as usize % tests.len().max(1)];
        let Ok(initial) = initial_state(test, &Valuation::new(), seed, &mut Lazy::default()) else {
            continue;
        };
        match walk_beside(specification, mutant, &test.constants_in(&initial), seed, effort.depth) {
            Ok(Some(trace)) => return MutantStatus::Survived { trace },
            Ok(None) => has_walked = true,
            // A walk that could not begin does not show equivalence.
            Err(message) => walk_error = Some(message),
        }
    }
    match walk_error {
        Some(message) if !has_walked => MutantStatus::Broken(message),
        _ => MutantStatus::Equivalent,
    }
}

/// Would the specification itself fail in this run, too?
fn fails_as_well(specification: &Iosts, constants: &[(Datum, Value)], run: &Run) -> bool {
    let trace = run.trace.iter().filter_map(|step| step.what.event());
    run.outcome == Outcome::Verdict(Verdict::Fail, Cause::Event)
        && can_do_itself(specification, constants, trace)
}

/// Can the specification do this trace if it ignores inputs that its state does not take, as a simulated one
/// does? After a trace several states may be possible, and an input is sent that some of them take. In the
/// other states, the behaviour after it comes from the completion, not from the specification.
fn can_do_itself<'a>(
    specification: &Iosts,
    constants: &[(Datum, Value)],
    trace: impl Iterator<Item = &'a Event>,
) -> bool {
    let Ok(states) = initial_states(specification, constants) else { return false };
    let mut states = internal_closure(specification, states);
    for event in trace {
        let action = specification.find_action(&event.action);
        let is_input = action.is_some_and(|id| specification.action(id).kind == ActionKind::Input);
        let mut next = BTreeSet::new();
        for state in states {
            let after = step(specification, &state, event);
            if after.is_empty() && is_input {
                next.insert(state);
            }
            next.extend(after);
        }
        states = internal_closure(specification, next);
        if states.is_empty() || states.len() > MOST_STATES {
            return false;
        }
    }
    true
}

/// Runs a test case once against a model. Returns the state in which it began, too.
fn run_once(test: &TestCase, iut: &Iosts, seed: u64, effort: &Effort) -> Result<(State, Run), String> {
    let initial = initial_state(test, &Valuation::new(), seed, &mut Lazy::default());
    let initial = initial.map_err(|error| error.to_string())?;
    let run = TestSession {
        judge: &mut *judge::make_judge(test, initial.clone(), None),
        settings: &effort.settings,
        adapter: &mut InProcess(Simulated::new(iut.clone(), Lazy::default())),
    }
    .run(seed, Strategy::random());
    Ok((initial, run))
}

/// Finds the initial states of a specification with these constants.
fn initial_states(specification: &Iosts, constants: &[(Datum, Value)]) -> Result<BTreeSet<State>, NoState> {
    let known: Valuation = constants.iter().cloned().collect();
    Ok(initial::states(specification, &known, MOST_STATES, &mut Lazy::default())?.into_iter().collect())
}

/// Walks an implementation at random, with inputs that the specification takes, until it does something that
/// the specification does not allow. Returns that trace; `None` if nothing was found within `depth` events.
pub fn walk_beside(
    specification: &Iosts,
    implementation: &Iosts,
    constants: &[(Datum, Value)],
    seed: u64,
    depth: usize,
) -> Result<Option<Vec<Event>>, String> {
    let states = initial_states(specification, constants).map_err(|why| why.text().to_owned())?;
    let mut monitor = Monitor::new(specification, states);
    let mut random = Random::new(seed ^ 0x7761_6c6b);
    let mut iut = Simulated::new(implementation.clone(), Lazy::default());
    iut.take_signatures(specification);
    iut.reset(constants, seed)?;
    let (mut values, mut solver) = (Values::new(MIX), Lazy::default());
    values.begin(constants);
    let mut trace = Vec::new();
    let mut tries_in_vain = 0;
    while trace.len() < depth && tries_in_vain < 16 {
        // An output of the implementation, which is waited for, or an input that the specification takes.
        let what = if random.below(2) == 0 {
            iut.output(true).map(Occurrence::Observation)
        } else {
            let input = choose_input(specification, monitor.states(), &mut values, &mut random, &mut solver);
            if let Some(input) = &input {
                iut.input(input);
            }
            input.map(Occurrence::Stimulus)
        };
        let Some(what) = what else {
            tries_in_vain += 1;
            continue;
        };
        tries_in_vain = 0;
        let judged = monitor.take(&what);
        let (Occurrence::Stimulus(event) | Occurrence::Observation(event)) = what else { return Ok(None) };
        values.remember_values(&event.values);
        trace.push(event);
        match judged {
            Judged::Followed(_) if monitor.verdict() == Some(Verdict::Fail) => {
                return Ok((!can_do_itself(specification, constants, trace.iter())).then_some(trace));
            }
            Judged::Followed(_) => {}
            Judged::Ends(..) => return Ok(None),
        }
    }
    Ok(None)
}

/// Chooses an input that some state of the specification takes. `None` if none was found.
fn choose_input(
    specification: &Iosts,
    states: &BTreeSet<State>,
    values: &mut Values,
    random: &mut Random,
    solver: &mut Lazy,
) -> Option<Event> {
    let states: Vec<&State> = states.iter().collect();
    let state = *random.pick(&states)?;
    let is_input = |transition: &&Transition| {
        transition.source == state.location
            && specification.action(transition.action).kind == ActionKind::Input
    };
    let mut inputs: Vec<&Transition> = specification.transitions.iter().filter(is_input).collect();
    random.shuffle(&mut inputs);
    inputs.into_iter().find_map(|transition| {
        let action = specification.action(transition.action);
        let chosen =
            values.choose(&transition.guard, &action.parameters, &state.valuation, random, solver)?;
        Some(Event::new(action.name.clone(), chosen))
    })
}
