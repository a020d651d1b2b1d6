//! The strategy `plan`, and constants that lead to Pass: where lots, or a graph's distances, get nowhere.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::time::{Duration, Instant};

use coreach_adapters::in_process::InProcess;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::{SearchBound, SearchLimits, SearchOutcome, Searcher};
use coreach_execution::constants::initial_state;
use coreach_execution::planner::{SharedExperience, search_goal};
use coreach_execution::simulated::Simulated;
use coreach_execution::values::Pick;
use coreach_execution::{CaseJudge, Run, Settings, Strategy, TestCase, TestSession};
use coreach_model::Verdict;
use coreach_model::reader::{from_bytes, read_specification};

/// A test case as a model whose verdicts are locations called so.
fn test_case(text: &str) -> TestCase {
    let file = from_bytes("test".to_owned(), text.as_bytes().to_vec()).unwrap();
    let iosts = read_specification(file).unwrap().0.iosts;
    let of_name = |name: &str| Verdict::ALL.into_iter().find(|verdict| verdict.name() == name);
    let verdicts = iosts.locations.map(|location| of_name(&location.name));
    TestCase::new(iosts, verdicts)
}

fn runs(
    text: &str,
    implementation: &str,
    strategy: impl Fn() -> Strategy<'static>,
    steps: usize,
) -> Vec<Run> {
    let test = test_case(text);
    let file = from_bytes("iut".to_owned(), implementation.as_bytes().to_vec()).unwrap();
    let iut = read_specification(file).unwrap().0.iosts;
    let mut adapter = InProcess(Simulated::new(iut, Z3Solver::default()));
    let mut solver = Z3Solver::default();
    let settings = Settings { steps, ..Settings::default() };
    (1..=20)
        .map(|seed| {
            let initial = initial_state(&test, &Default::default(), seed, &mut solver).unwrap();
            TestSession {
                judge: &mut CaseJudge::new(&test, initial),
                settings: &settings,
                adapter: &mut adapter,
            }
            .run(seed, strategy())
        })
        .collect()
}

fn passed(runs: &[Run]) -> usize {
    runs.iter().filter(|run| run.outcome.name() == "Pass").count()
}

/// Stepping back is as near to Pass in the graph as stepping on, and the goal is exact.
const COUNTER: &str = "
iosts: counter
variables: { x: int, last: int }
initial: { location: ready, condition: x == 0 && last == 0 }
inputs: { Add: { p: 'int[1..9]' }, Back: {} }
outputs: { Sum: { s: int } }
transitions:
  - { from: ready, to: busy, on: Add, assign: { x: x + p, last: p } }
  - { from: ready, to: busy, on: Back, when: x > 0, assign: { x: x - 1 } }
  - { from: busy, to: ready, on: Sum, when: s == x && x != 35 }
  - { from: busy, to: Pass, on: Sum, when: s == x && x == 35 && last == 6 }
  - { from: busy, to: Fail, on: Sum, when: s != x }
  - { from: busy, to: Inconclusive, on: Sum, when: s == x && x == 35 && last != 6 }
";

#[test]
fn a_plan_counts_where_lots_stray() {
    let iut = COUNTER.replace("to: Pass", "to: ready").replace("to: Inconclusive", "to: ready");
    let iut: String = iut.lines().filter(|line| !line.contains("to: Fail")).collect::<Vec<_>>().join("\n");
    let planned = runs(COUNTER, &iut, Strategy::plan, 40);
    assert_eq!(passed(&planned), 20);
    for run in &planned {
        // Five additions, each answered.
        assert_eq!(run.trace.len(), 10);
        assert_eq!(run.mix.get(&Pick::Planned), Some(&5));
    }
    // The values differ with the seed.
    let firsts: std::collections::BTreeSet<_> =
        planned.iter().map(|run| format!("{:?}", run.trace[0].what)).collect();
    assert!(firsts.len() > 1, "{firsts:?}");
    assert!(passed(&runs(COUNTER, &iut, Strategy::random, 40)) < 5);
}

/// The limit is chosen with the amounts.
const LIMITED: &str = "
iosts: limited
constants: { limit: nat }
variables: { paid: int }
initial: { location: pay, condition: paid == 0 && limit > 0 && limit <= 1000 }
inputs: { Pay: { amount: int } }
outputs: { Thanks: {} }
transitions:
  - { from: pay, to: thank, on: Pay, when: amount mod 10 == 0 && amount > 0 && amount <= limit, assign: { paid: amount } }
  - { from: thank, to: Pass, on: Thanks }
";

#[test]
fn constants_that_nobody_gave_lead_to_pass() {
    let test = test_case(LIMITED);
    let limit = &test.iosts.constants[0];
    let mut solver = Z3Solver::default();
    let mut seen = std::collections::BTreeSet::new();
    for seed in 1..=40 {
        let state = initial_state(&test, &Default::default(), seed, &mut solver).unwrap();
        let value = state.valuation[limit].clone();
        assert!(value >= coreach_model::Value::int(10), "{value}");
        seen.insert(value);
    }
    assert!(seen.len() > 10, "{seen:?}");
    assert_eq!(passed(&runs(LIMITED, &LIMITED.replace("to: Pass", "to: pay"), Strategy::random, 40)), 20);
}

/// The implementation chooses; after each answer it is planned anew.
#[test]
fn what_goes_otherwise_is_planned_again() {
    let dice = "
iosts: dice
variables: { sum: int }
initial: { location: l, condition: sum == 0 }
inputs: { Throw: {}, Take: { n: int } }
outputs: { Eyes: { e: 'int[1..6]' } }
transitions:
  - { from: l, to: thrown, on: Throw, when: sum < 50 }
  - { from: l, to: Pass, on: Take, when: sum >= 20 && n + sum == 50 }
  - { from: thrown, to: l, on: Eyes, assign: { sum: sum + e } }
";
    let iut = dice.replace("to: Pass", "to: l");
    assert_eq!(passed(&runs(dice, &iut, Strategy::plan, 100)), 20);
}

/// A loop that leads nowhere, and is never the same again: each node was compared with all before it, and a
/// search of 1,500 nodes took 76 ms.
#[test]
fn what_is_out_of_reach_costs_a_search_as_many_steps_as_nodes() {
    let text = "
iosts: endless
variables: { x: int }
initial: { location: ready, condition: x == 0 }
inputs: { Add: {} }
outputs: { Sum: { s: int } }
transitions:
  - { from: ready, to: ready, on: Add, assign: { x: x + 2 } }
  - { from: ready, to: Pass, on: Sum, when: s == x && x == 7 }
";
    let test = test_case(text);
    let initial = initial_state(&test, &Default::default(), 1, &mut Z3Solver::default()).unwrap();
    let mut searcher = Searcher::new(test.iosts.clone(), search_goal(&test));
    let limits = SearchLimits { nodes: 30_000, work: u64::MAX, ..SearchLimits::default() };
    let begin = Instant::now();
    let found = searcher.from_state(&initial, &limits, &mut Z3Solver::default());
    assert!(matches!(found, SearchOutcome::NotFound(SearchBound::Nodes(30_000))), "{found:?}");
    // Comparing all with all takes some ten times as long.
    assert!(begin.elapsed() < Duration::from_secs(7), "{:?}", begin.elapsed());
}

/// Pass needs one ticket that is not ours, and then ours.
const TICKETS: &str = "
iosts: tickets
types: { Ticket: id }
variables: { vSeen: 'option[Ticket]', vMine: 'option[Ticket]', vOther: bool }
initial: { location: idle, condition: vSeen == none && vMine == none && !vOther }
inputs: { Look: { t: Ticket }, Draw: {} }
outputs: { Looked: { mine: bool }, Drawn: { t: Ticket } }
transitions:
  - { from: idle, to: looking, on: Look, assign: { vSeen: some(t) } }
  - { from: looking, to: idle, on: Looked, when: '!mine && vMine != vSeen', assign: { vOther: true } }
  - { from: looking, to: Pass, on: Looked, when: mine && vMine == vSeen && vOther }
  - { from: looking, to: Inconclusive, on: Looked, when: 'mine && vMine == vSeen && !vOther' }
  - { from: looking, to: Fail, on: Looked, when: mine != (vMine == vSeen) }
  - { from: idle, to: drawing, on: Draw, when: vMine is none }
  - { from: drawing, to: idle, on: Drawn, when: fresh(t), assign: { vMine: some(t) } }
  - { from: drawing, to: Fail, on: Drawn, when: '!fresh(t)' }
";

/// Soundness: a system that draws the same first ticket in each run conforms, whatever other runs have seen.
#[test]
fn an_id_of_another_run_is_not_sent() {
    let iut = TICKETS.replace("fresh(t),", "'t == (\"T1\": Ticket)',");
    let iut = iut.replace("to: Pass", "to: idle").replace("to: Inconclusive", "to: idle");
    let iut: String = iut.lines().filter(|line| !line.contains("to: Fail")).collect::<Vec<_>>().join("\n");
    let experience = SharedExperience::default();
    let runs = runs(TICKETS, &iut, || Strategy::planning(experience.clone()), 20);
    assert!(runs.iter().all(|run| run.outcome.name() != "Fail"));
    assert!(passed(&runs) > 0);
}
