//! Tests of ioco that are run: implementations that differ from their specification in silence, or behind it, are found by every strategy,
//! and those that conform never fail.

use std::collections::BTreeMap;
use std::time::Duration;

use coreach_analyses::Options as Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::adapter::in_process::InProcess;
use coreach_execution::adapter::simulated::Simulated;
use coreach_execution::campaign::StrategyKind;
use coreach_execution::constants::initial_state;
use coreach_execution::lazy::Lazy;
use coreach_execution::values::{MIX, Values};
use coreach_execution::{Drive, Outcome, Settings, TestCase, judge, run};
use coreach_model::reader::{from_bytes, read_purpose, read_specification};
use coreach_model::{Iosts, Verdict};
use coreach_pipeline::export::{Format, Options as ExportOptions, View, export};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Conformance, Options, Stage, generate_for};

fn model(text: &str) -> Iosts {
    let file = from_bytes("model.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
    read_specification(file).unwrap_or_else(|found| panic!("{text}\n{found:#?}")).0.iosts
}

/// The test case of ioco, as it is read from its document; `None` where no stage makes one.
fn test_case(specification: &str, purpose: &str) -> Option<TestCase> {
    let file = |text: &str| from_bytes("text.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
    let (read, _) = read_specification(file(specification)).unwrap();
    let (purpose, _) =
        read_purpose(file(purpose), &read).unwrap_or_else(|found| panic!("{purpose}\n{found:#?}"));
    let options =
        Options { max_lookahead: 8, analysis: Analysis::default(), limits: Limits::default(), check: true };
    let mut solver = Z3Solver::default();
    let made =
        generate_for(Conformance::Ioco, &read.iosts, purpose, &options, &mut solver, &mut |_| {}).ok()?;
    let view = View::of(&made, Stage::InputComplete);
    let document = export(&view, Format::Json, ExportOptions::default()).unwrap();
    Some(TestCase::from_json(document.as_bytes()).unwrap())
}

/// How often each verdict comes of so many runs.
fn verdicts(
    test: &TestCase,
    system: &Iosts,
    strategy: StrategyKind,
    link: Option<Duration>,
    runs: u64,
) -> BTreeMap<&'static str, usize> {
    let mut found = BTreeMap::new();
    let initial = initial_state(test, &Default::default(), 1, &mut Lazy::default()).unwrap();
    let mut judge = judge::of(test, initial, link);
    for seed in 0..runs {
        let run = run(Drive {
            judge: judge.as_mut(),
            seed,
            settings: &Settings { steps: 40, ..Settings::default() },
            adapter: &mut InProcess(Simulated::new(system.clone(), Lazy::default())),
            strategy: &mut strategy.start(),
            values: &mut Values::new(MIX),
            solver: &mut Lazy::default(),
        });
        let is_fail = matches!(run.outcome, Outcome::Verdict(Verdict::Fail, _));
        *found.entry(run.outcome.name()).or_default() += 1;
        if is_fail {
            break;
        }
    }
    found
}

/// A machine that a kick brings to its senses: it serves tea at once, or coffee after another button, and is silent in between.
const QUIRKY: &str = "
iosts: quirky
initial: { location: Ready }
inputs: { Button: {} }
outputs: { Tea: {}, Coffee: {} }
transitions:
  - { from: Ready, to: Serves, on: Button }
  - { from: Ready, to: Stuck, on: Button }
  - { from: Serves, to: Served, on: Tea }
  - { from: Serves, to: Serves, on: Button }
  - { from: Stuck, to: Kicked, on: Button }
  - { from: Kicked, to: Served, on: Coffee }
  - { from: Kicked, to: Kicked, on: Button }
  - { from: Served, to: Ready, on: Button }
";

const SERVED: &str = "
purpose: served
of: quirky
initial: { location: Begin }
transitions:
  - { from: Begin, to: Accept, on: Coffee }
  - { from: Begin, to: Begin, on: Tea }
";

/// Where it must answer, something can be sent as well.
const ANSWERS: &str = "
iosts: answers
initial: { location: Ready }
inputs: { Ask: {}, Stop: {} }
outputs: { Answer: {}, Stopped: {} }
transitions:
  - { from: Ready, to: Asked, on: Ask }
  - { from: Asked, to: Ready, on: Answer }
  - { from: Asked, to: Ends, on: Stop }
  - { from: Ends, to: Done, on: Stopped }
";

const STOPPED: &str = "
purpose: stopped
of: answers
initial: { location: Begin }
transitions:
  - { from: Begin, to: Accept, on: Stopped }
";

/// Tretmans' machines: by ioc nothing is wrong with them. The first shows by a silence that is allowed, and what comes behind it; the second by one
/// that is not, beside an input.
#[test]
fn each_strategy_waits_where_silence_decides() {
    let pairs = [
        (QUIRKY, SERVED, QUIRKY.replace("on: Coffee", "on: Tea")),
        (ANSWERS, STOPPED, ANSWERS.replace("  - { from: Asked, to: Ready, on: Answer }\n", "")),
    ];
    for (specification, purpose, wrong) in pairs {
        let test = test_case(specification, purpose).unwrap();
        for strategy in StrategyKind::ALL {
            for link in [None, Some(Duration::from_millis(50))] {
                let conforming = verdicts(&test, &model(specification), strategy, link, 100);
                assert!(!conforming.contains_key("Fail"), "{strategy:?}, {link:?}: {conforming:?}");
                assert!(conforming.contains_key("Pass"), "{strategy:?}, {link:?}: {conforming:?}");
                let found = verdicts(&test, &model(&wrong), strategy, link, 200);
                assert!(found.contains_key("Fail"), "{strategy:?}, {link:?}: {found:?}\n{wrong}");
            }
        }
    }
}
