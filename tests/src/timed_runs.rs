//! Timed runs against simulated systems: one that conforms never fails, one that does not is found.
//!
//! **Method.** A random timed model and a purpose go through the pipeline, and the test case through its
//! document into the tester. It meets the model itself, walked on simulated time, and mutants of it: bounds
//! that are a unit off, clocks that are not set back, outputs that never come. Each run's record is restored
//! from its document, which walks its trace again.
//!
//! A Fail of a mutant is justified by the concrete semantics, in which clocks run: no state is left after its
//! trace.

use std::collections::{BTreeMap, BTreeSet};

use crate::timed_semantics::{TimedState, close_under_internal_actions, elapse, initial, step};
use coreach_analyses::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::judge;
use coreach_execution::lazy::Lazy;
use coreach_execution::record::{make_record, read_record, restore_run};
use coreach_execution::run::{Cause, Occurrence};
use coreach_execution::timed::simulated::TimedSystem;
use coreach_execution::timed::{delay_of, without_delay};
use coreach_execution::{Run, Settings, Strategy, TestCase, TestSession};
use coreach_model::Verdict;
use coreach_model::iosts::Aim;
use coreach_model::reader::{TimedSpecification, from_bytes, read_timed_aimed, read_timed_specification};
use coreach_model::semantics::initial_states;
use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::{Delayed, delayed};
use coreach_model::value::Value;
use coreach_pipeline::export::{ExportOptions, Format, View, export};
use coreach_pipeline::lateness::LatenessTiming;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Stage, StageOptions, generate_timed};
use dashu_ratio::RBig;

use crate::generator::timed::{TimedShape, timed_specification};
use crate::generator::timed_purpose::timed_purpose;
use crate::timed_mutants::mutants;

/// What came up, by what it is.
pub type Counts = BTreeMap<&'static str, usize>;

/// So many runs of each.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Runs against the model itself.
    pub conforming: u64,
    /// Runs against each mutant.
    pub wrong: u64,
    /// The most mutants.
    pub mutants: usize,
}

/// A test case of a timed model, with the model.
pub struct Made {
    /// The specification.
    pub timed: Timed,
    /// The test case, as it was read from its document.
    pub test: TestCase,
    /// Model and purpose as text.
    pub text: String,
}

/// The test case of this seed; `None` where there is nothing to be run.
///
/// # Errors
/// What does not hold.
pub fn made(seed: u64) -> Result<Option<Made>, String> {
    let shape = TimedShape { open: 0, constant: 0, ..TimedShape::default() };
    let text = timed_specification(seed, &shape);
    let specification = specification(&text)?;
    let aim = timed_purpose(seed, &specification.timed);
    of_texts(specification, text, &aim)
}

/// Reads a timed specification.
///
/// # Errors
/// It is none.
pub fn specification(text: &str) -> Result<TimedSpecification, String> {
    let file =
        from_bytes("timed.yaml".to_owned(), text.as_bytes().to_vec()).map_err(|found| found.message)?;
    Ok(read_timed_specification(file).map_err(|found| format!("{text}{found:?}"))?.0)
}

/// The test case of a specification and of a purpose, with silence after 2.
///
/// # Errors
/// What does not hold.
pub fn of_texts(specification: TimedSpecification, text: String, aim: &str) -> Result<Option<Made>, String> {
    let file = from_bytes("aim.yaml".to_owned(), aim.as_bytes().to_vec()).map_err(|found| found.message)?;
    let (purpose, _) =
        read_timed_aimed(file, &specification, Aim::Accept).map_err(|found| format!("{aim}{found:?}"))?;
    let timed = specification.timed;
    let form = delayed(&timed).map_err(|_| format!("{text}has no delayed form"))?;
    let timing = LatenessTiming {
        delay: form.delay.clone(),
        clocks: form.clocks.clone(),
        uncontrollable: timed.uncontrollable().map(|(_, action)| action.name.clone()).collect(),
        silence_after: coreach_model::Term::literal(Value::Real(RBig::from(2))),
    };
    let options = StageOptions {
        max_lookahead: 4,
        analysis: Analysis::default(),
        limits: Limits::default(),
        check: false,
    };
    let mut solver = Z3Solver::default();
    let purpose = form.purpose(&purpose);
    let Ok(made) = generate_timed(&form.iosts, &timing, purpose, &options, &mut solver, &mut |_| {}) else {
        return Ok(None);
    };
    if !made.test_case.verdicts.contains(&Some(Verdict::Pass)) {
        return Ok(None);
    }
    let view = View::of(&made, Stage::InputComplete);
    let document =
        export(&view, Format::Json, ExportOptions::default()).map_err(|error| error.to_string())?;
    let test = TestCase::from_json(document.as_bytes()).map_err(|error| format!("{text}{aim}{error}"))?;
    Ok(Some(Made { timed, test, text: format!("{text}{aim}") }))
}

/// A run on simulated time, by lot or, of every third seed, by plan.
pub fn once(test: &TestCase, system: &Delayed, seed: u64) -> Result<Run, String> {
    let mut solver = Lazy::default();
    let initial = initial_state(test, &Valuation::new(), 1, &mut solver).map_err(|why| why.to_string())?;
    let strategy = if seed.is_multiple_of(3) { Strategy::plan() } else { Strategy::random() };
    let mut judge = judge::make_judge(test, initial, None);
    let run = TestSession {
        judge: judge.as_mut(),
        settings: &Settings { steps: 30, ..Settings::default() },
        adapter: &mut TimedSystem::new(system.clone(), Lazy::default()),
    }
    .run(seed, strategy);
    let written = make_record(judge.as_mut(), &run);
    let bytes = serde_json::to_vec(&written).map_err(|error| error.to_string())?;
    let (_, again) = restore_run(test, &read_record(&bytes)?)?;
    let what = |run: &Run| run.trace.iter().map(|step| step.what.clone()).collect::<Vec<_>>();
    if what(&run) != what(&again) || run.outcome != again.outcome {
        return Err(format!("restored, it is another run: {run:?}\n{again:?}"));
    }
    Ok(run)
}

/// Holds the runs of this seed against the semantics.
///
/// # Errors
/// A wrong Fail, or what is worse.
pub fn check(seed: u64, effort: Effort, counts: &mut Counts) -> Result<(), String> {
    let mut count = |what: &'static str| *counts.entry(what).or_default() += 1;
    let Some(made) = made(seed)? else {
        count("no test case");
        return Ok(());
    };
    count("test cases");
    let Made { timed, test, text } = &made;
    let told = |what: &str, run: &Run| {
        let trace: Vec<String> = run.trace.iter().map(|step| step.what.to_string()).collect();
        format!("seed {seed}: {what}\n{text}{}\n{:?}", trace.join("\n"), run.outcome)
    };
    let form = delayed(timed).map_err(|_| "no delayed form".to_owned())?;
    for number in 0..effort.conforming {
        let run = once(test, &form, number)?;
        match run.outcome.verdict() {
            Some(Verdict::Fail) => return Err(told("a conforming system fails", &run)),
            None => return Err(told("a run error", &run)),
            Some(Verdict::Pass) => count("Pass"),
            Some(_) => count("Inconclusive"),
        }
    }
    let all = mutants(timed);
    let chosen = all
        .iter()
        .enumerate()
        .filter(|(at, _)| (at + seed as usize).is_multiple_of(all.len().div_ceil(effort.mutants.max(1))));
    for (_, mutant) in chosen {
        let Ok(form) = delayed(&mutant.timed) else { continue };
        count("mutants");
        let mut is_found = false;
        for number in 0..effort.wrong {
            let run = once(test, &form, number)?;
            if run.outcome.verdict() != Some(Verdict::Fail) {
                continue;
            }
            if !is_justified(timed, &run) {
                return Err(told(&format!("not justified, for {}", mutant.change), &run));
            }
            count(if matches!(run.outcome, coreach_execution::Outcome::Verdict(_, Cause::Silence(_))) {
                "Fail by silence"
            } else {
                "Fail by an event"
            });
            is_found = true;
        }
        if is_found {
            count("mutants found");
        }
    }
    Ok(())
}

/// Is the trace of a run that failed one that the model cannot have, whatever it did inside? Of silence, the
/// trace before must be possible.
fn is_justified(timed: &Timed, run: &Run) -> bool {
    let data = initial_states(timed.graph(), &Valuation::new(), 1000).unwrap_or_default();
    let starts = data.iter().filter_map(|state| {
        let own = |(datum, _): &(&_, &_)| timed.graph().variables.contains(datum);
        initial(timed, &state.valuation.iter().filter(own).map(|(d, v)| (d.clone(), v.clone())).collect())
    });
    let mut states: BTreeSet<TimedState> = close_under_internal_actions(timed, starts.collect());
    for at in &run.trace {
        let (event, delay) = match &at.what {
            Occurrence::Stimulus(event) | Occurrence::Observation(event) => {
                (Some(without_delay(event)), delay_of(event).cloned().unwrap_or(RBig::ZERO))
            }
            Occurrence::Silence(time) | Occurrence::Delay(time) => {
                (None, coreach_execution::timed::exact_seconds(*time))
            }
        };
        let later = states.iter().map(|state| elapse(timed, state, &delay));
        states = match event {
            None => later.collect(),
            Some(event) => later.flat_map(|state| step(timed, &state, &event)).collect(),
        };
        states = close_under_internal_actions(timed, states);
    }
    let is_silence = matches!(run.outcome, coreach_execution::Outcome::Verdict(_, Cause::Silence(_)));
    states.is_empty() != is_silence
}
