//! Strings from the text of a model to verdicts: a store of one key, tested by a test case and by its
//! specification itself.

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
use coreach_pipeline::{Stage, StageOptions, generate};
use coreach_tests::source::read_text;

use crate::collections::{mutants, sent, shrunk_failures};

const STORE: &str = r#"
iosts: store
constants: { cPrefix: string }
variables: { vKey: string, vValue: string, vData: "array[string] of string" }
initial: { location: Start, condition: 'len(cPrefix) == 2 && vKey == "" && vValue == ""' }
inputs:
  Load: { data: "array[string] of string" }
  Set: { key: string, value: string }
  Get: { key: string }
outputs:
  Ok: { text: string }
  Refused: { why: string }
  Value: { value: string }
transitions:
  - { from: Start, to: Idle, on: Load, when: 'data[cPrefix] == ""', assign: { vData: data } }
  - from: Idle
    to: Setting
    on: Set
    when: 'starts_with(key, cPrefix) && len(key) <= 6 && len(value) <= 3'
    assign: { vKey: key, vValue: value, vData: 'vData[key := value]' }
  - { from: Idle, to: Refusing, on: Set, when: '!starts_with(key, cPrefix) && len(key) <= 6', assign: { vKey: key } }
  - { from: Refusing, to: Idle, on: Refused, when: 'why == "no " + vKey' }
  - { from: Setting, to: Idle, on: Ok, when: 'text == "OK " + to_string(len(vValue))' }
  - { from: Idle, to: Getting, on: Get, when: 'key == vKey', assign: { vValue: 'vData[key]' } }
  - { from: Getting, to: Idle, on: Value, when: 'value == vValue' }
"#;

const PURPOSE: &str = r#"
purpose: kept
of: store
observes: [vKey, cPrefix]
variables: { vFirst: string }
initial: { location: Begin, condition: 'vFirst == ""' }
transitions:
  - { from: Begin, to: Sent, on: Set, when: 'key[2..len(key)] == "xy" && value != ""', assign: { vFirst: 'value[0]' } }
  - { from: Begin, to: Reject, on: Set, when: '!starts_with(key, cPrefix)' }
  - { from: Sent, to: Sent, on: Ok }
  - { from: Sent, to: Reject, on: Set }
  - { from: Sent, to: Accept, on: Value, when: 'starts_with(value, vFirst)' }
"#;

fn settings() -> Settings {
    let moment = Duration::from_millis(1);
    Settings { steps: 30, quiescence: moment, patience: moment, ..Settings::default() }
}

fn run_of(test: &TestCase, system: &Iosts, seed: u64) -> Run {
    let state = initial_state(test, &Default::default(), seed, &mut Lazy::default()).unwrap();
    TestSession {
        judge: &mut CaseJudge::new(test, state),
        settings: &settings(),
        adapter: &mut InProcess(Simulated::new(system.clone(), Lazy::default())),
    }
    .run(seed, Strategy::random())
}

/// Soundness: no conforming system fails, and each artifact is held against the one before it. Precision:
/// most runs pass.
#[test]
fn a_test_case_over_strings_passes_what_conforms() {
    let input = read_text(STORE.to_owned(), PURPOSE.to_owned()).unwrap();
    let options = StageOptions {
        max_lookahead: 8,
        analysis: Analysis::default(),
        limits: Limits::default(),
        check: true,
    };
    let mut solver = Z3Solver::default();
    let made = generate(&input.specification, input.purpose, &options, &mut solver, &mut |_| {}).unwrap();
    let view = View::of(&made, Stage::InputComplete);
    let document = export::export(&view, Format::Json, export::ExportOptions::default()).unwrap();
    let test = TestCase::from_json(document.as_bytes()).unwrap();
    let verdicts: Vec<Option<Verdict>> =
        (0..16).map(|seed| run_of(&test, &input.specification, seed).outcome.verdict()).collect();
    assert!(!verdicts.contains(&Some(Verdict::Fail)), "{verdicts:?}");
    let passed = verdicts.iter().filter(|verdict| **verdict == Some(Verdict::Pass)).count();
    assert!(passed >= 8, "{verdicts:?}");
}

/// Soundness: the specification never fails by itself. Precision: a system whose strings are wrong does, and
/// what is left of its run has short strings.
#[test]
fn a_system_with_wrong_strings_fails_and_its_run_shrinks() {
    let specification = read_text(STORE.to_owned(), PURPOSE.to_owned()).unwrap().specification;
    let constants = [(specification.constants[0].clone(), Value::string("k-"))].into();
    let mutants = mutants(&specification, &[MutationOperator::GuardOffByOne], 4);
    let failed = shrunk_failures(&specification, &constants, mutants, (settings(), 12, 200));
    let longest = failed.iter().flat_map(sent).filter_map(|value| match value {
        Value::String(text) => Some(text.chars().count()),
        _ => None,
    });
    let longest = longest.max().unwrap_or(0);
    assert!(failed.len() >= 2, "{} fail", failed.len());
    assert!(longest <= 3, "{longest}");
}
