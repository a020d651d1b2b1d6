//! How good is a suite of test cases? It is run against implementations that are known to be wrong.
//!
//! **Problem.** A suite that passes on everything proves nothing. Mutants of the specification, each wrong in
//! one place, stand for faults (DeMillo, Lipton and Sayward, 1978); the part that the suite fails is its
//! score. But a mutant may conform all the same, and then nobody can kill it.
//!
//! **Method.** Operators in turn, places by lot, no mutant twice ([`mutants`]). Each mutant, as a simulated
//! implementation, meets every test case with some seeds: a Fail *kills* it, unless the specification itself,
//! simulated in the same way, can do all that the run shows. One that no run kills is walked at random beside
//! the specification itself ([`crate::monitor`]): an output that the specification does not allow shows that
//! it *survived*, being wrong; otherwise it is *equivalent up to the bound* of that search, which is said,
//! for the question is undecidable. Of a survivor it is told which transition was changed, and whether any
//! run of the suite came through that transition: where none did, the suite lacks a purpose.
//!
//! **Ends**: everything is counted. **Costs** mutants x test cases x seeds runs in memory.

mod edits;
pub mod operators;

use std::collections::BTreeSet;

use coreach_adapters::in_process::{Implementation, InProcess};
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State, internal_closure, step};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Numbered, TransitionId, Value, Verdict, Violated};
use edits::is_equal;
pub use edits::{TextEdit, edits};
pub use operators::{Mutant, Operator, mutate};

use crate::bucket::Bucket;
use crate::constants::initial_state;
use crate::explain::bucket_of;
use crate::initial::{self, NoState};
use crate::judge::{self, Judge, Judged};
use crate::lazy::Lazy;
use crate::monitor::{MOST, Monitor};
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
    /// Runs of each test case against each mutant.
    pub runs: u64,
    /// Walks beside the specification, for a mutant that no run killed.
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
        /// What it did; the last event is the wrong one.
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
pub struct Result {
    pub mutant: Mutant,
    pub fate: MutantStatus,
    /// How often runs of the suite came through the transition that was changed, on the specification itself;
    /// `None` where the change is no transition's.
    pub visits: Option<usize>,
    /// Where it differs.
    pub edits: Vec<TextEdit>,
    /// Which one it is of those that were made, from 1; 0 of one alone.
    pub number: usize,
}

/// Some mutants, each made once: operators in turn, places by lot. None is the specification in other words.
pub fn mutants(specification: &Iosts, most: usize, seed: u64) -> Vec<Mutant> {
    /// Draws of one operator that may fail or repeat, before it is left alone.
    const PATIENCE: usize = 24;
    let mut random = Random::new(seed ^ 0x6d75_7461_7465);
    let mut found: Vec<Mutant> = Vec::new();
    let mut dull = vec![0; Operator::ALL.len()];
    let mut solver = Lazy::default();
    while found.len() < most && dull.iter().any(|count| *count < PATIENCE) {
        for (operator, dull) in Operator::ALL.iter().zip(&mut dull) {
            if *dull >= PATIENCE || found.len() >= most {
                continue;
            }
            let new = mutate(&mut random, specification, *operator)
                .filter(|new| !found.iter().any(|known| is_same(&known.iosts, &new.iosts)))
                .filter(|new| !is_equal(specification, &new.iosts, &mut solver));
            match new {
                Some(new) => found.push(new),
                None => *dull += 1,
            }
        }
    }
    found
}

fn is_same(a: &Iosts, b: &Iosts) -> bool {
    a.transitions == b.transitions && a.initial_condition == b.initial_condition && a.actions == b.actions
}

/// How often the suite's runs against the specification itself came through each of its transitions.
pub fn visits(specification: &Iosts, tests: &[TestCase], effort: &Effort) -> Numbered<TransitionId, usize> {
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

/// What becomes of a mutant when the suite meets it.
pub fn judge(
    specification: &Iosts,
    tests: &[TestCase],
    mutant: Mutant,
    visits: &Numbered<TransitionId, usize>,
    effort: &Effort,
) -> Result {
    let fate = decide_fate(specification, tests, &mutant.iosts, effort);
    let visits = mutant.transition.and_then(|at| visits.find(at).copied());
    Result { edits: edits(specification, &mutant.iosts), mutant, fate, visits, number: 0 }
}

/// How a run has violated the property that its test case is of, where it has.
fn violated(test: &TestCase, run: &Run) -> Option<Violated> {
    let last = run.trace.last().and_then(|step| step.transition)?;
    test.violates[test.iosts.transitions[last].target]
}

/// Runs the suite against a mutant, and walks a survivor beside the specification to see a difference.
fn decide_fate(specification: &Iosts, tests: &[TestCase], mutant: &Iosts, effort: &Effort) -> MutantStatus {
    let mut broken = None;
    for (number, test) in tests.iter().enumerate() {
        for seed in 0..effort.runs {
            let seed = effort.seed.wrapping_add(seed);
            match run_once(test, mutant, seed, effort) {
                // What the specification allows is no fault of the mutant's.
                Ok((_, run)) if violated(test, &run) == Some(Violated::Allowed) => {}
                // Nor is what it does itself.
                Ok((initial, run)) if fails_as_well(specification, &test.constants_in(&initial), &run) => {}
                Ok((initial, run)) if run.outcome.verdict() == Some(Verdict::Fail) => {
                    let bucket = bucket_of(&mut *judge::of(test, initial, None), &run);
                    return MutantStatus::Killed { test: number, seed, bucket, events: events(&run.trace) };
                }
                Ok((_, Run { outcome: Outcome::RunError(failure), .. })) => {
                    broken = Some(failure.to_string())
                }
                Ok(_) => {}
                Err(message) => broken = Some(message),
            }
        }
    }
    if let Some(message) = broken {
        return MutantStatus::Broken(message);
    }
    let (mut begun, mut not_begun) = (false, None);
    for seed in 0..effort.walks {
        let seed = effort.seed.wrapping_add(seed);
        // The constants of the tests, since a specification alone may allow none that they use.
        let test = &tests[seed as usize % tests.len().max(1)];
        let Ok(initial) = initial_state(test, &Valuation::new(), seed, &mut Lazy::default()) else {
            continue;
        };
        match walk(specification, mutant, &test.constants_in(&initial), seed, effort.depth) {
            Ok(Some(trace)) => return MutantStatus::Survived { trace },
            Ok(None) => begun = true,
            // Who has not walked has not looked: that is no reason to call it equivalent.
            Err(message) => not_begun = Some(message),
        }
    }
    match not_begun {
        Some(message) if !begun => MutantStatus::Broken(message),
        _ => MutantStatus::Equivalent,
    }
}

/// Is this a Fail of the specification itself, too?
fn fails_as_well(specification: &Iosts, constants: &[(Datum, Value)], run: &Run) -> bool {
    let trace = run.trace.iter().filter_map(|step| step.what.event());
    run.outcome == Outcome::Verdict(Verdict::Fail, Cause::Event)
        && is_its_own(specification, constants, trace)
}

/// Can the specification do that, if it ignores what its state does not take, as a simulated one does? After
/// a trace several states may be possible, and an input is sent that some of them take: in the others, what
/// follows is the doing of whoever completes the specification.
fn is_its_own<'a>(
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
            match after.is_empty() && is_input {
                true => {
                    next.insert(state);
                }
                false => next.extend(after),
            }
        }
        states = internal_closure(specification, next);
        if states.is_empty() || states.len() > MOST {
            return false;
        }
    }
    true
}

fn run_once(
    test: &TestCase,
    iut: &Iosts,
    seed: u64,
    effort: &Effort,
) -> std::result::Result<(State, Run), String> {
    let initial = initial_state(test, &Valuation::new(), seed, &mut Lazy::default());
    let initial = initial.map_err(|error| error.to_string())?;
    let run = TestSession {
        judge: &mut *judge::of(test, initial.clone(), None),
        settings: &effort.settings,
        adapter: &mut InProcess(Simulated::new(iut.clone(), Lazy::default())),
    }
    .run(seed, Strategy::random());
    Ok((initial, run))
}

/// The initial states of a specification with these constants.
fn initial_states(
    specification: &Iosts,
    constants: &[(Datum, Value)],
) -> std::result::Result<BTreeSet<State>, NoState> {
    const MOST: usize = 1 << 12;
    let known: Valuation = constants.iter().cloned().collect();
    Ok(initial::states(specification, &known, MOST, &mut Lazy::default())?.into_iter().collect())
}

/// Walks an implementation at random, with inputs that the specification takes, until it does what the
/// specification does not allow: that trace. `None` where it does not within so many events.
pub fn walk(
    specification: &Iosts,
    implementation: &Iosts,
    constants: &[(Datum, Value)],
    seed: u64,
    depth: usize,
) -> std::result::Result<Option<Vec<Event>>, String> {
    let states = initial_states(specification, constants).map_err(|why| why.text().to_owned())?;
    let mut monitor = Monitor::new(specification, states);
    let mut random = Random::new(seed ^ 0x7761_6c6b);
    let mut iut = Simulated::new(implementation.clone(), Lazy::default());
    iut.take_signatures(specification);
    iut.reset(constants, seed)?;
    let (mut values, mut solver) = (Values::new(MIX), Lazy::default());
    values.begin(constants);
    let mut trace = Vec::new();
    let mut quiet = 0;
    while trace.len() < depth && quiet < 16 {
        let what = if random.below(2) == 0 {
            iut.output(true).map(Occurrence::Observation)
        } else {
            let input = input(specification, monitor.states(), &mut values, &mut random, &mut solver);
            if let Some(input) = &input {
                iut.input(input);
            }
            input.map(Occurrence::Stimulus)
        };
        let Some(what) = what else {
            quiet += 1;
            continue;
        };
        quiet = 0;
        let judged = monitor.take(&what);
        let (Occurrence::Stimulus(event) | Occurrence::Observation(event)) = what else { return Ok(None) };
        values.remember_values(&event.values);
        trace.push(event);
        match judged {
            Judged::Followed(_) if monitor.verdict() == Some(Verdict::Fail) => {
                return Ok((!is_its_own(specification, constants, trace.iter())).then_some(trace));
            }
            Judged::Followed(_) => {}
            Judged::Ends(..) => return Ok(None),
        }
    }
    Ok(None)
}

/// An input that some state of the specification takes.
fn input(
    specification: &Iosts,
    states: &BTreeSet<State>,
    values: &mut Values,
    random: &mut Random,
    solver: &mut Lazy,
) -> Option<Event> {
    let states: Vec<&State> = states.iter().collect();
    let state = *random.pick(&states)?;
    let mut numbers: Vec<TransitionId> = specification
        .transitions
        .numbers()
        .filter(|number| {
            let transition = &specification.transitions[*number];
            transition.source == state.location
                && specification.action(transition.action).kind == ActionKind::Input
        })
        .collect();
    random.shuffle(&mut numbers);
    numbers.into_iter().find_map(|number| {
        let transition = &specification.transitions[number];
        let action = specification.action(transition.action);
        let found = values.choose(&transition.guard, &action.parameters, &state.valuation, random, solver)?;
        Some(Event::new(action.name.clone(), found))
    })
}
