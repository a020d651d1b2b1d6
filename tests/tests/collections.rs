//! Lists, variants and options from the text of a model to verdicts: a printer's queue, tested by a test case
//! and by its specification itself.

use std::sync::Arc;
use std::time::Duration;

use coreach_adapters::in_process::InProcess;
use coreach_analyses::Options as Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::explain::bucket_of;
use coreach_execution::lazy::Lazy;
use coreach_execution::monitor::Monitor;
use coreach_execution::mutation::{Operator, mutate};
use coreach_execution::run::{Occurrence, events};
use coreach_execution::shrink::simpler::{leaf, leaves, steps, with_leaf};
use coreach_execution::shrink::{Shrink, shrink};
use coreach_execution::simulated::Simulated;
use coreach_execution::{CaseJudge, Settings, Strategy, TestCase, TestSession, initial, values};
use coreach_model::random::Random;
use coreach_model::types::RecordType;
use coreach_model::{Type, Value, Verdict};
use coreach_pipeline::export::{self, Format, View};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Options, Stage, generate};
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

fn settings() -> Settings {
    let moment = Duration::from_millis(1);
    Settings { steps: 40, quiescence: moment, patience: moment, ..Settings::default() }
}

/// Soundness: no conforming system fails, and each artifact is held against the one before it. Precision:
/// some runs pass.
#[test]
fn a_test_case_over_lists_passes_what_conforms() {
    let input = read_text(PRINTER.to_owned(), PURPOSE.to_owned()).unwrap();
    let options =
        Options { max_lookahead: 8, analysis: Analysis::default(), limits: Limits::default(), check: true };
    let mut solver = Z3Solver::default();
    let made = generate(&input.specification, input.purpose, &options, &mut solver, &mut |_| {}).unwrap();
    let view = View::of(&made, Stage::InputComplete);
    let document = export::export(&view, Format::Json, export::Options::default()).unwrap();
    let test = TestCase::from_json(document.as_bytes()).unwrap();
    let run = |seed| {
        let state = initial_state(&test, &Default::default(), seed, &mut Lazy::default()).unwrap();
        let mut adapter = InProcess(Simulated::new(input.specification.clone(), Lazy::default()));
        let judge = &mut CaseJudge::new(&test, state);
        TestSession { judge, settings: &settings(), adapter: &mut adapter }.run(seed, Strategy::random())
    };
    let verdicts: Vec<Option<Verdict>> = (0..16).map(|seed| run(seed).outcome.verdict()).collect();
    assert!(!verdicts.contains(&Some(Verdict::Fail)), "{verdicts:?}");
    assert!(verdicts.contains(&Some(Verdict::Pass)), "{verdicts:?}");
    // What does not count is asked of what comes over a wire of TTCN-3, where all fields do.
    let ttcn3 = export::export(&view, Format::Ttcn3, export::Options::default()).unwrap();
    assert!(ttcn3.contains(">= 2 or (a.f_at1 == 0))"), "{ttcn3}");
}

/// Soundness: the specification never fails by itself. Precision: systems whose queue is wrong do, and what
/// is left of a run has short lists.
#[test]
fn a_system_with_a_wrong_queue_fails_and_its_run_shrinks() {
    let specification = read_text(PRINTER.to_owned(), PURPOSE.to_owned()).unwrap().specification;
    let states = initial::states(&specification, &Default::default(), 4, &mut Lazy::default()).unwrap();
    let mut monitor = Monitor::new(&specification, states.into_iter().take(1).collect());
    let mut random = Random::new(3);
    let mut systems = vec![specification.clone()];
    for operator in [Operator::GuardOffByOne, Operator::OutputValue, Operator::AssignmentOffByOne] {
        let mut mutant = || mutate(&mut random, &specification, operator).map(|mutant| mutant.iosts);
        systems.extend((0..8).filter_map(|_| mutant()).take(3));
    }
    let (mut failed, mut longest) = (0, 0);
    for (number, system) in systems.iter().enumerate() {
        let mut adapter = InProcess(Simulated::new(system.clone(), Lazy::default()));
        for seed in 0..8 {
            let settings = settings();
            let mut session = TestSession { judge: &mut monitor, settings: &settings, adapter: &mut adapter };
            let run = session.run(seed, Strategy::random());
            if run.outcome.verdict() != Some(Verdict::Fail) {
                continue;
            }
            assert_ne!(number, 0, "the specification fails: {:?}", events(&run.trace));
            failed += 1;
            let bucket = bucket_of(&mut monitor, &run);
            let with = Shrink {
                session: TestSession { judge: &mut monitor, settings: &settings, adapter: &mut adapter },
                budget: 60,
                time: Duration::from_secs(20),
                again: 2,
                seen: &mut |_| {},
            };
            let shrunk = shrink(&run, with).run;
            assert_eq!(bucket_of(&mut monitor, &shrunk), bucket);
            for step in &shrunk.trace {
                let Occurrence::Stimulus(event) = &step.what else { continue };
                for value in &event.values {
                    let Value::Record(of, fields) = value else { continue };
                    assert!(value.is_in(&value.sort()), "{value}");
                    longest = longest.max(of.counting(fields).count());
                }
            }
            break;
        }
    }
    assert!(failed >= 2, "{failed} of {} fail", systems.len() - 1);
    assert!(longest <= 2, "{longest}");
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
    let many = Type::Record(Arc::new(RecordType::list(4, &variant)));
    let mut random = Random::new(5);
    let mut changed = 0;
    for _ in 0..300 {
        let value = values::any(&many, &mut random);
        assert!(value.is_in(&many), "{value}");
        for way in leaves(&value) {
            for step in steps(leaf(&value, &way).unwrap()) {
                let simpler = with_leaf(&value, &way, &step).unwrap();
                let Value::Record(record, fields) = &simpler else { panic!("{simpler}") };
                assert_eq!(record.canonical(fields.clone()), *fields);
                changed += usize::from(simpler != value);
            }
        }
    }
    assert!(changed > 1_000, "{changed}");
}
