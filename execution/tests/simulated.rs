//! Models that stand for a system, with types of their own: a value is what it is, whatever its type is
//! called or how much else that may hold.

use std::time::Duration;

use coreach_adapters::in_process::InProcess;
use coreach_execution::initial;
use coreach_execution::lazy::Lazy;
use coreach_execution::monitor::Monitor;
use coreach_execution::mutation::walk_beside;
use coreach_execution::simulated::Simulated;
use coreach_execution::{Settings, Strategy, TestSession};
use coreach_model::Iosts;
use coreach_model::reader::{from_bytes, read_specification};

fn model(types: &str, value: &str) -> Iosts {
    let text = format!(
        "
iosts: jobs
types: {types}
variables: {{ vJob: Q }}
initial: {{ location: Idle, condition: 'vJob == {value}' }}
inputs: {{ Take: {{}}, Put: {{ new: Q }} }}
outputs: {{ Given: {{ job: Q }} }}
transitions:
  - {{ from: Idle, to: Giving, on: Take }}
  - {{ from: Idle, to: Giving, on: Put, assign: {{ vJob: new }} }}
  - {{ from: Giving, to: Idle, on: Given, when: job == vJob }}
"
    );
    read_specification(from_bytes("model".to_owned(), text.into_bytes()).unwrap()).unwrap().0.iosts
}

/// How many of 12 runs fail.
fn failing(specification: &Iosts, system: &Iosts) -> usize {
    let short = Duration::from_millis(5);
    let settings = Settings { quiescence: short, patience: short, steps: 12, ..Settings::default() };
    let states = initial::states(specification, &Default::default(), 1, &mut Lazy::default()).unwrap();
    let mut judge = Monitor::new(specification, states.into_iter().collect());
    let mut adapter = InProcess(Simulated::new(system.clone(), Lazy::default()));
    let mut session = TestSession { judge: &mut judge, settings: &settings, adapter: &mut adapter };
    let runs = (0..12).map(|seed| session.run(seed, Strategy::random()));
    runs.filter(|run| run.outcome.name() == "Fail").count()
}

/// Soundness: the same values never fail. Precision: a value that the specification's type has not does.
#[test]
fn the_same_value_of_a_wider_type_is_the_same() {
    for (own, wider, value, outside) in [
        ("{ Q: 'int[0..2]' }", "{ Q: 'int[0..3]' }", "0", "3"),
        ("{ Q: nat }", "{ Q: int }", "0", "-1"),
        ("{ Q: { n: 'int[0..2]' } }", "{ Q: { n: 'int[0..3]' } }", "{ n: 0 }", "{ n: 3 }"),
        ("{ Q: 'option[int[0..2]]' }", "{ Q: 'option[int[0..3]]' }", "some(1)", "some(3)"),
        ("{ Q: 'option[int[1..2]]' }", "{ Q: 'option[int[0..2]]' }", "none", "some(0)"),
        ("{ Q: 'list[2] of int' }", "{ Q: 'list[3] of int' }", "[1]", "[1, 2, 3]"),
        ("{ Q: 'list[2] of int[0..2]' }", "{ Q: 'list[2] of int[0..3]' }", "[1]", "[1, 3]"),
        ("{ Q: 'map[bool] of int[0..2]' }", "{ Q: 'map[bool] of int[0..3]' }", "[true: 1]", "[true: 3]"),
        ("{ Q: 'map[int[0..2]] of bool' }", "{ Q: 'map[int[0..3]] of bool' }", "[1: true]", "[3: true]"),
        ("{ Q: 'set[int[0..2]]' }", "{ Q: 'set[int[0..3]]' }", "{1}", "{1, 3}"),
        ("{ E: [A, B], Q: { e: E } }", "{ E: [B, C, A], Q: { e: E } }", "{ e: A }", "{ e: C }"),
        ("{ Q: [A: { n: 'int[0..2]' }, B] }", "{ Q: [C, B, A: { n: int }] }", "A(1)", "A(3)"),
    ] {
        let specification = model(own, value);
        let system = model(wider, value);
        // It may be sent what only it knows; nothing else of it is wrong.
        assert_eq!(failing(&specification, &system), 0, "{own} and {wider}");
        assert_eq!(walk_beside(&specification, &system, &[], 1, 12), Ok(None), "{own} and {wider}");
        let wrong = model(wider, outside);
        assert!(failing(&specification, &wrong) > 0, "{own} and {outside}");
    }
}
