//! What a plan is worth, and what it costs: `cargo run --release -p coreach-execution --example planning -- RUNS (TEST_CASE MODEL)...`.
//!
//! Each test case (a document that `coreach run` wrote) meets the model that stands for the implementation, which draws its answers, as
//! often with each strategy as the first argument says. Printed: how many runs pass, and the median number of events of those. Then the
//! states of the random runs are planned from, each for itself: the median time of a search, the 99th percentile and the most, in milliseconds.

use std::collections::HashMap;
use std::process::ExitCode;
use std::time::Instant;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::{SearchLimits, Searcher};
use coreach_execution::adapter::in_process::InProcess;
use coreach_execution::adapter::simulated::Simulated;
use coreach_execution::constants::initial_state;
use coreach_execution::planner::goal;
use coreach_execution::values::{MIX, Values};
use coreach_execution::{CaseJudge, Drive, Judge, Run, Settings, Strategy, TestCase, run};
use coreach_model::Iosts;
use coreach_model::reader::{load, read_specification};
use coreach_model::semantics::State;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((runs, rest)) = arguments.split_first() else {
        eprintln!("planning: RUNS (TEST_CASE MODEL)...");
        return ExitCode::FAILURE;
    };
    for pair in rest.chunks(2) {
        if let Err(message) = measure(runs.parse().unwrap_or(100), pair) {
            eprintln!("planning: {message}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

fn measure(runs: u64, pair: &[String]) -> Result<(), String> {
    let [test, model] = pair else { return Err("a test case and a model".to_owned()) };
    let case = TestCase::load(test.as_ref()).map_err(|error| error.to_string())?;
    let model = load(model.as_ref()).map_err(|found| vec![found]).and_then(read_specification);
    let model = model.map_err(|found| format!("{found:?}"))?.0.iosts;
    println!("{}", case.iosts.name);
    type Named = (&'static str, fn() -> Strategy<'static>);
    let strategies: [Named; 3] = [
        ("random", Strategy::random),
        ("coverage", || Strategy::Coverage(HashMap::new())),
        ("plan", Strategy::plan),
    ];
    let mut states = Vec::new();
    for (name, strategy) in strategies {
        let (mut passed, mut events) = (0, Vec::new());
        for seed in 1..=runs {
            let (initial, run) = once(&case, &model, seed, &mut strategy())?;
            if run.outcome.name() == "Pass" {
                passed += 1;
                events.push(run.trace.len());
            }
            if name == "random" {
                states.extend(visited(&case, initial, &run));
            }
        }
        events.sort_unstable();
        let median = events.get(events.len() / 2).copied().unwrap_or(0);
        println!("  {name}: {passed} of {runs} pass, median {median} events");
    }
    let (mut times, mut solver) = (Vec::new(), Z3Solver::default());
    let mut searcher = Searcher::new(case.iosts.clone(), goal(&case));
    for state in states.iter().take(2000) {
        let begin = Instant::now();
        searcher.from_state(state, &SearchLimits { nodes: 1500, spurious: 4, exact_nodes: 200 }, &mut solver);
        times.push(begin.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_unstable_by(f64::total_cmp);
    let at = |share: usize| {
        times.get((times.len() * share / 100).min(times.len().saturating_sub(1))).copied().unwrap_or(0.0)
    };
    println!(
        "  {} searches: median {:.3} ms, 99 in 100 under {:.3} ms, most {:.3} ms",
        times.len(),
        at(50),
        at(99),
        at(100)
    );
    Ok(())
}

fn once(
    case: &TestCase,
    model: &Iosts,
    seed: u64,
    strategy: &mut Strategy<'_>,
) -> Result<(State, Run), String> {
    let mut solver = Z3Solver::default();
    let initial =
        initial_state(case, &Default::default(), seed, &mut solver).map_err(|error| error.to_string())?;
    let mut adapter = InProcess(Simulated::new(model.clone(), Z3Solver::default()));
    let run = run(Drive {
        judge: &mut CaseJudge::new(case, initial.clone()),
        seed,
        settings: &Settings { steps: 200, ..Settings::default() },
        adapter: &mut adapter,
        strategy,
        values: &mut Values::new(MIX),
        solver: &mut solver,
    });
    Ok((initial, run))
}

/// The states of a run without a verdict.
fn visited(case: &TestCase, initial: State, run: &Run) -> Vec<State> {
    let mut judge = CaseJudge::new(case, initial);
    let mut states = Vec::new();
    for step in &run.trace {
        states.push(judge.state().clone());
        judge.take(&step.what);
    }
    states
}
