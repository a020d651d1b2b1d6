//! Lists, variants, options, sets and maps from the text of a model to verdicts: a printer's queue and the
//! hooks of a cloakroom, tested by test cases and by their specifications themselves.

use std::sync::Arc;
use std::time::Duration;

use coreach_adapters::in_process::InProcess;
use coreach_analyses::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::explain::bucket_of;
use coreach_execution::lazy::Lazy;
use coreach_execution::monitor::Monitor;
use coreach_execution::mutation::{MutationOperator, mutate};
use coreach_execution::run::{Occurrence, events};
use coreach_execution::shrink::simpler::{leaf, leaves, simpler_leaves, with_leaf};
use coreach_execution::shrink::{Shrink, shrink};
use coreach_execution::simulated::Simulated;
use coreach_execution::{CaseJudge, Run, Settings, Strategy, TestCase, TestSession, initial, values};
use coreach_model::random::Random;
use coreach_model::term::evaluate::Valuation;
use coreach_model::types::RecordType;
use coreach_model::{Iosts, Type, Value, Verdict};
use coreach_pipeline::export::{self, Format, View};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Stage, StageOptions, generate};
use coreach_tests::source::read_text;

const PRINTER: &str = r#"
iosts: printer
types:
  Queue: "list[3] of int[0..9]"
  Reply: [Next: { job: "int[0..9]", more: bool }, Empty]
variables: { vQueue: Queue, vLast: "option[int[0..9]]" }
initial: { location: On, condition: "vQueue == [] && vLast == none" }
inputs:
  Load: { jobs: Queue }
  Print: { job: "int[0..9]" }
  Ask: {}
outputs:
  Loaded: { count: int, last: "option[int[0..9]]" }
  Answer: { reply: Reply }
transitions:
  - { from: On, to: Loading, on: Load, when: "len(vQueue) + len(jobs) <= 3", assign: { vQueue: "vQueue + jobs" } }
  - { from: On, to: Loading, on: Print, when: "!contains(vQueue, job)", assign: { vQueue: "vQueue + [job]" } }
  - { from: Loading, to: On, on: Loaded, when: "count == len(vQueue) && last == vLast" }
  - { from: On, to: Asked, on: Ask }
  - { from: Asked, to: On, on: Answer, when: "vQueue == [] && reply == Empty" }
  - from: Asked
    to: On
    on: Answer
    when: "len(vQueue) > 0 && reply == Next(vQueue[0], len(vQueue) > 1)"
    assign: { vQueue: "vQueue[1..]", vLast: "some(vQueue[0])" }
"#;

const PURPOSE: &str = r#"
purpose: in_turn
of: printer
variables: { vSeen: "list[2] of int" }
initial: { location: Begin, condition: "vSeen == []" }
transitions:
  - from: Begin
    to: Begin
    on: Answer
    when: "len(vSeen) < 2 && reply is Next"
    assign: { vSeen: "match reply: Next(j, _) -> vSeen + [j] | Empty -> vSeen" }
  - { from: Begin, to: Reject, on: Answer, when: "reply is Empty" }
  - { from: Begin, to: Begin, on: Loaded, when: "len(vSeen) < 2" }
  - { from: Begin, to: Accept, on: Loaded, when: "len(vSeen) == 2 && vSeen[0] < vSeen[1] && last == some(vSeen[1])" }
"#;

/// Hooks for the coats of three.
const CLOAKROOM: &str = r#"
iosts: cloakroom
types: { Hook: "int[1..3]", Owner: [ANN, BEN, EVE] }
variables: { vHung: "map[Owner] of Hook", vOwner: Owner }
initial: { location: Open, condition: "vHung == [] && vOwner == ANN" }
inputs: { Leave: { owner: Owner }, Clear: { owners: "set[Owner]" } }
outputs: { Hung: { hook: Hook }, Refused: {}, Left: { hung: "map[Owner] of Hook", count: int } }
transitions:
  - { from: Open, to: Hanging, on: Leave, when: "!(owner in vHung)", assign: { vOwner: owner } }
  - { from: Open, to: Refusing, on: Leave, when: "owner in vHung" }
  - { from: Hanging, to: Open, on: Hung, when: "all o in vHung: vHung[o] != hook", assign: { vHung: "vHung[vOwner := hook]" } }
  - { from: Open, to: Clearing, on: Clear, when: "{} < owners && owners <= keys(vHung)", assign: { vHung: "vHung - owners" } }
  - { from: Clearing, to: Open, on: Left, when: hung == vHung && count == len(vHung) }
  - { from: Refusing, to: Open, on: Refused }
"#;

const EMPTIED: &str = r#"
purpose: emptied
of: cloakroom
observes: [vHung]
variables: { vMost: "set[int[0..3]]" }
initial: { location: Begin, condition: "vMost == {}" }
transitions:
  - { from: Begin, to: Begin, on: Hung, when: len(vMost) < 2, assign: { vMost: "vMost + {len(vHung)}" } }
  - { from: Begin, to: Reject, on: Refused }
  - { from: Begin, to: Accept, on: Left, when: "len(vMost) == 2 && hung == []" }
"#;

fn settings() -> Settings {
    let moment = Duration::from_millis(1);
    Settings { steps: 40, quiescence: moment, patience: moment, ..Settings::default() }
}

/// The verdicts of runs of the specification against the test case.
fn verdicts(specification: &str, purpose: &str) -> Vec<Option<Verdict>> {
    let input = read_text(specification.to_owned(), purpose.to_owned()).unwrap();
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
    let run = |seed| {
        let state = initial_state(&test, &Default::default(), seed, &mut Lazy::default()).unwrap();
        let mut adapter = InProcess(Simulated::new(input.specification.clone(), Lazy::default()));
        let judge = &mut CaseJudge::new(&test, state);
        TestSession { judge, settings: &settings(), adapter: &mut adapter }.run(seed, Strategy::random())
    };
    (0..16).map(|seed| run(seed).outcome.verdict()).collect()
}

/// Soundness: no conforming system fails, and each artifact is held against the one before it. Precision:
/// some runs pass.
#[test]
fn a_test_case_over_lists_passes_what_conforms() {
    let verdicts = verdicts(PRINTER, PURPOSE);
    assert!(!verdicts.contains(&Some(Verdict::Fail)), "{verdicts:?}");
    assert!(verdicts.contains(&Some(Verdict::Pass)), "{verdicts:?}");
}

/// Soundness: as above. Precision: most runs pass.
#[test]
fn a_test_case_over_sets_and_maps_passes_what_conforms() {
    let verdicts = verdicts(CLOAKROOM, EMPTIED);
    assert!(!verdicts.contains(&Some(Verdict::Fail)), "{verdicts:?}");
    let passed = verdicts.iter().filter(|verdict| **verdict == Some(Verdict::Pass)).count();
    assert!(passed >= 8, "{verdicts:?}");
}

/// What is left of failed runs of these systems, one of each, judged by the specification; it does not fail.
pub fn shrunk_failures(
    specification: &Iosts,
    constants: &Valuation,
    mutants: Vec<Iosts>,
    (settings, seeds, budget): (Settings, u64, usize),
) -> Vec<Run> {
    let states = initial::states(specification, constants, 4, &mut Lazy::default()).unwrap();
    let mut monitor = Monitor::new(specification, states.into_iter().take(1).collect());
    let mut found = Vec::new();
    for (number, system) in std::iter::once(specification.clone()).chain(mutants).enumerate() {
        let mut adapter = InProcess(Simulated::new(system, Lazy::default()));
        let mut session = TestSession { judge: &mut monitor, settings: &settings, adapter: &mut adapter };
        let mut runs = (0..seeds).map(|seed| session.run(seed, Strategy::random()));
        let Some(run) = runs.find(|run| run.outcome.verdict() == Some(Verdict::Fail)) else { continue };
        assert_ne!(number, 0, "the specification fails: {:?}", events(&run.trace));
        let bucket = bucket_of(&mut monitor, &run);
        let with = Shrink {
            session: TestSession { judge: &mut monitor, settings: &settings, adapter: &mut adapter },
            budget,
            time: Duration::from_secs(20),
            again: 2,
            seen: &mut |_| {},
        };
        let shrunk = shrink(&run, with).run;
        assert_eq!(bucket_of(&mut monitor, &shrunk), bucket);
        found.push(shrunk);
    }
    found
}

/// The values that the run sends.
pub fn sent(run: &Run) -> impl Iterator<Item = &Value> {
    run.trace.iter().flat_map(|step| match &step.what {
        Occurrence::Stimulus(event) => event.values.as_slice(),
        _ => &[],
    })
}

/// Mutants by these operators, at most so many of each.
pub fn mutants(specification: &Iosts, operators: &[MutationOperator], most: usize) -> Vec<Iosts> {
    let mut random = Random::new(3);
    let mut of = |operator: &MutationOperator| -> Vec<Iosts> {
        let mut mutant = || mutate(&mut random, specification, *operator).map(|mutant| mutant.iosts);
        (0..12).filter_map(|_| mutant()).take(most).collect()
    };
    operators.iter().flat_map(&mut of).collect()
}

/// Soundness: the specification never fails by itself. Precision: systems whose queue, or whose sets and maps
/// are wrong do, and what is left of a run has short lists.
#[test]
fn a_system_with_wrong_collections_fails_and_its_run_shrinks() {
    let operators = [
        MutationOperator::GuardOffByOne,
        MutationOperator::OutputValue,
        MutationOperator::AssignmentOffByOne,
    ];
    for (specification, purpose) in [(PRINTER, PURPOSE), (CLOAKROOM, EMPTIED)] {
        let specification = read_text(specification.to_owned(), purpose.to_owned()).unwrap().specification;
        let mutants = mutants(&specification, &operators, 3);
        let failed = shrunk_failures(&specification, &Valuation::new(), mutants, (settings(), 8, 60));
        assert!(failed.len() >= 2, "{}: {} fail", specification.name, failed.len());
        for value in failed.iter().flat_map(sent) {
            assert!(value.is_in(&value.sort()) || matches!(value, Value::Int(_)), "{value}");
            let Value::Record(of, fields) = value else { continue };
            let count =
                if of.keys().is_empty() { of.counting(fields).count() } else { of.entries(fields).len() };
            assert!(count <= 2, "{value}");
        }
    }
}

/// Soundness: what draws values, and what makes them simpler, makes canonical ones.
#[test]
fn drawn_and_simpler_values_are_canonical() {
    let small = Type::Range(1.into(), 3.into());
    let list = Type::Record(Arc::new(RecordType::list(3, &small)));
    let field = |name: &str, ty: &Type| (name.to_owned(), ty.clone());
    let option = Type::Record(Arc::new(RecordType::option(&list)));
    let alternatives =
        [("A".to_owned(), vec![field("x", &list), field("y", &option)]), ("B".to_owned(), Vec::new())];
    let variant = Type::Record(Arc::new(RecordType::variant("V", &alternatives)));
    let map = Type::Record(Arc::new(RecordType::keyed(&small, Some(&variant)).unwrap()));
    let many = Type::Record(Arc::new(RecordType::list(4, &map)));
    let mut random = Random::new(5);
    let mut changed = 0;
    for _ in 0..300 {
        let value = values::any(&many, &mut random);
        assert!(value.is_in(&many), "{value}");
        for way in leaves(&value) {
            for step in simpler_leaves(leaf(&value, &way).unwrap()) {
                let simpler = with_leaf(&value, &way, &step).unwrap();
                let Value::Record(record, fields) = &simpler else { panic!("{simpler}") };
                assert_eq!(record.canonical(fields.to_vec()), **fields);
                changed += usize::from(simpler != value);
            }
        }
    }
    assert!(changed > 1_000, "{changed}");
}
