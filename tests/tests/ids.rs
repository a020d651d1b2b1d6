//! Ids from the text of a model to verdicts: a queue that hands out jobs.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::time::Duration;

use coreach_adapters::in_process::InProcess;
use coreach_analyses::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::lazy::Lazy;
use coreach_execution::mutation::MutationOperator;
use coreach_execution::simulated::Simulated;
use coreach_execution::{CaseJudge, Run, Settings, Strategy, TestCase, TestSession};
use coreach_model::{Iosts, Value, Verdict};
use coreach_pipeline::export::{self, Format, View};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Generation, Stage, StageOptions, generate};
use coreach_tests::source::read_text;

use crate::collections::{mutants, shrunk_failures};

const QUEUE: &str = r#"
iosts: queue
types: { Job: id }
variables: { vReady: "list[2] of Job", vHeld: "list[2] of Job" }
initial: { location: Idle, condition: "vReady == [] && vHeld == []" }
inputs: { Put: {}, Reserve: {}, Release: { job: Job } }
outputs: { Inserted: { job: Job }, Reserved: { job: Job }, Empty: {}, Released: {}, NotFound: {} }
transitions:
  - { from: Idle, to: Putting, on: Put, when: len(vReady) + len(vHeld) < 2 }
  - { from: Putting, to: Idle, on: Inserted, when: fresh(job), assign: { vReady: "vReady + [job]" } }
  - { from: Idle, to: Reserving, on: Reserve }
  - from: Reserving
    to: Idle
    on: Reserved
    when: "len(vReady) > 0 && job == vReady[0] && len(vHeld) < 2"
    assign: { vHeld: "vHeld + [job]", vReady: "vReady[1..]" }
  - { from: Reserving, to: Idle, on: Empty, when: len(vReady) == 0 }
  - { from: Idle, to: Missing, on: Release, when: "!contains(vHeld, job)" }
  - { from: Missing, to: Idle, on: NotFound }
"#;

const TWICE: &str = "
purpose: twice
of: queue
variables: { vFirst: 'option[Job]' }
initial: { location: Begin, condition: vFirst == none }
transitions:
  - { from: Begin, to: Once, on: Reserved, assign: { vFirst: some(job) } }
  - { from: Once, to: Accept, on: Reserved, when: vFirst == some(job) }
  - { from: Once, to: Once, on: Reserved, when: vFirst != some(job) }
";

const OTHER: &str = "
purpose: other
of: queue
variables: { vFirst: 'option[Job]' }
initial: { location: Begin, condition: vFirst == none }
transitions:
  - { from: Begin, to: Once, on: Reserved, assign: { vFirst: some(job) } }
  - { from: Once, to: Asked, on: Release }
  - { from: Once, to: Reject, on: Reserved, when: vFirst == some(job) }
  - { from: Once, to: Once, on: Reserved, when: vFirst != some(job) }
  - { from: Asked, to: Accept, on: NotFound }
";

fn made(purpose: &str) -> (Iosts, Generation) {
    let input = read_text(QUEUE.to_owned(), purpose.to_owned()).unwrap();
    let options = StageOptions {
        max_lookahead: 8,
        analysis: Analysis::default(),
        limits: Limits::default(),
        check: true,
    };
    let mut solver = Z3Solver::default();
    let made = generate(&input.specification, input.purpose, &options, &mut solver, &mut |_| {}).unwrap();
    (input.specification, made)
}

/// Precision: the domain alone knows that no job is reserved twice. (Soundness is the soak's.)
#[test]
fn that_a_job_is_reserved_once_is_proved_by_the_default_domain() {
    assert!(made(TWICE).1.test_graph.pass.is_none());
    assert!(made(OTHER).1.test_graph.pass.is_some());
}

/// Soundness: what conforms never fails. Precision: most runs pass, and ask for a job that there is not.
#[test]
fn a_test_case_over_ids_passes_what_conforms() {
    let (specification, made) = made(OTHER);
    let view = View::of(&made, Stage::InputComplete);
    let document = export::export(&view, Format::Json, export::ExportOptions::default()).unwrap();
    let test = TestCase::from_json(document.as_bytes()).unwrap();
    let run = |seed| -> Run {
        let state = initial_state(&test, &Default::default(), seed, &mut Lazy::default()).unwrap();
        TestSession {
            judge: &mut CaseJudge::new(&test, state),
            settings: &settings(),
            adapter: &mut InProcess(Simulated::new(specification.clone(), Lazy::default())),
        }
        .run(seed, Strategy::random())
    };
    let verdicts: Vec<Option<Verdict>> = (0..12).map(|seed| run(seed).outcome.verdict()).collect();
    assert!(!verdicts.contains(&Some(Verdict::Fail)), "{verdicts:?}");
    let passed = verdicts.iter().filter(|verdict| **verdict == Some(Verdict::Pass)).count();
    assert!(passed >= 6, "{verdicts:?}");
}

fn settings() -> Settings {
    let moment = Duration::from_millis(1);
    Settings { steps: 30, quiescence: moment, patience: moment, ..Settings::default() }
}

/// Soundness: the specification never fails by itself. Precision: a system that gives out other jobs does.
#[test]
fn a_system_with_wrong_ids_fails() {
    let specification = read_text(QUEUE.to_owned(), OTHER.to_owned()).unwrap().specification;
    let operators = [MutationOperator::ComparisonChanged, MutationOperator::OutputValue];
    let mutants = mutants(&specification, &operators, 4);
    let failed = shrunk_failures(&specification, &Default::default(), mutants, (settings(), 12, 60));
    assert!(!failed.is_empty());
    let ids = |run: &Run| {
        run.trace
            .iter()
            .filter_map(|step| step.what.event())
            .flat_map(|event| event.values.clone())
            .collect::<Vec<_>>()
    };
    assert!(failed.iter().flat_map(ids).all(|value| matches!(value, Value::Id(..))));
}
