//! How many states of the test cases of random pairs are late?
//! `late [--cases N] [--seed S] [--seconds N] [--list] [SETTING...]`
//!
//! The pairs are those of `soak`. For each setting (`default`, `interval`, `octagon`, `polyhedra`,
//! `congruence`, `disjuncts`, `rounds`, `all`, `exact`) the test graph is made and its states are enumerated
//! ([`coreach_pipeline::late_states`]). An exact selection has no late states, so their part is how far a
//! setting is from exact. What is counted are pairs whose states can be enumerated with each of the settings,
//! each within so many seconds of the processor. `--list` names the pairs with late states.

use std::collections::BTreeMap;
use std::env;
use std::process::ExitCode;
use std::time::Duration;

use coreach_analyses::domains::suited::suited;
use coreach_analyses::reachability::Refinement;
use coreach_analyses::solver::horn;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{Analysis, DomainKind};
use coreach_cli::horn_process;
use coreach_model::budget::{Budget, Limit, within};
use coreach_pipeline::late_states::{LateStates, late_states};
use coreach_pipeline::{StageOptions, generate};
use coreach_tests::generator::{self, Shape};
use coreach_tests::properties::exact::engine;
use coreach_tests::source::{Input, read};

const USAGE: &str = "usage: late [--cases N] [--seed S] [--seconds N] [--list] [SETTING...]";

/// States that are late, states, runs that come to a late one, runs.
type Sums = [usize; 4];

fn main() -> ExitCode {
    // The exact reference asks the program that it runs in.
    if env::args().nth(1).as_deref() == Some(horn_process::SUBCOMMAND) {
        let parent = env::args().nth(2).and_then(|number| number.parse().ok()).unwrap_or_default();
        return horn_process::answer_question(parent).map_or(ExitCode::from(2), ExitCode::from);
    }
    horn::provide(|| Box::new(engine()));
    let (mut cases, mut first, mut seconds, mut list, mut settings) = (2000, 1, 10, false, Vec::new());
    let mut given = env::args().skip(1);
    while let Some(name) = given.next() {
        let mut number = || given.next().and_then(|value| value.parse::<u64>().ok());
        let place = match name.as_str() {
            "--cases" => &mut cases,
            "--seed" => &mut first,
            "--seconds" => &mut seconds,
            "--list" => {
                list = true;
                continue;
            }
            _ if options(&name).is_some() => {
                settings.push(name);
                continue;
            }
            _ => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        };
        let Some(value) = number() else {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        };
        *place = value;
    }
    if settings.is_empty() {
        settings.push("default".to_owned());
    }
    let mut left_out: BTreeMap<String, usize> = BTreeMap::new();
    let mut sums: Vec<Sums> = vec![Sums::default(); settings.len()];
    let mut pairs = 0;
    for seed in first..first + cases {
        let found: Result<Vec<LateStates>, String> =
            settings.iter().map(|setting| late(seed, setting, Duration::from_secs(seconds))).collect();
        match found {
            Err(why) => *left_out.entry(why).or_default() += 1,
            Ok(found) => {
                pairs += 1;
                for ((setting, sum), found) in settings.iter().zip(&mut sums).zip(found) {
                    let LateStates { late, states, late_runs, runs, example, .. } = found;
                    let own = [late, states, late_runs, runs];
                    sum.iter_mut().zip(own).for_each(|(sum, own)| *sum += own);
                    if let Some(example) = example.filter(|_| list) {
                        println!(
                            "{seed} {setting}: {late} of {states}, {late_runs} of {runs} runs: {example}"
                        );
                    }
                }
            }
        }
    }
    for (setting, [late, states, late_runs, runs]) in settings.iter().zip(sums) {
        let part = |of: usize, all: usize| 100.0 * of as f64 / all.max(1) as f64;
        println!(
            "{setting}: {pairs} pairs, {late} of {states} states late ({:.2} %), {late_runs} of {runs} runs ({:.2} %)",
            part(late, states),
            part(late_runs, runs)
        );
    }
    left_out.iter().for_each(|(why, count)| println!("left out: {count} {why}"));
    ExitCode::SUCCESS
}

/// What is set; the domain too, but for the default's.
fn options(setting: &str) -> Option<Analysis> {
    let domain = |domain| Some(Analysis { domain, ..Analysis::default() });
    match setting {
        "default" => Some(Analysis::default()),
        "interval" => domain(DomainKind::Interval),
        "octagon" => domain(DomainKind::Octagon),
        "polyhedra" => domain(DomainKind::Polyhedra),
        "congruence" => domain(DomainKind::PolyhedraCongruence),
        "disjuncts" => Some(Analysis { disjuncts: 1, ..Analysis::default() }),
        "rounds" => Some(Analysis { rounds: 6, ..Analysis::default() }),
        "all" => Some(Analysis { disjuncts: 8, rounds: 4, ..domain(DomainKind::PolyhedraCongruence)? }),
        "exact" => Some(Analysis { refine: Refinement::Exact, ..Analysis::default() }),
        _ => None,
    }
}

/// The late states of a pair's test case, or why nothing is known of them.
fn late(seed: u64, setting: &str, time: Duration) -> Result<LateStates, String> {
    let Input { specification, purpose } = read(&generator::generate(seed, &Shape::of(seed)))?;
    let mut analysis = options(setting).unwrap_or_default();
    if matches!(setting, "default" | "disjuncts" | "rounds" | "exact") {
        analysis.domain = suited([&specification, &purpose.iosts]);
    }
    let options = StageOptions { max_lookahead: 8, analysis, limits: Default::default(), check: false };
    let mut solver = Z3Solver::default();
    let work = || {
        let made = generate(&specification, purpose, &options, &mut solver, &mut |_| {})
            .map_err(|stop| format!("stopped: {}", stop.to_diagnostic().code))?;
        if !made.test_graph.is_purpose_reachable() {
            return Err("the purpose is out of reach".to_owned());
        }
        late_states(&made.test_graph, &mut solver, None).ok_or("states that are not enumerated".to_owned())
    };
    match within(&Budget::new("late", Some(Limit::Time(time)), false), work) {
        Ok(found) => found,
        Err(_) => Err("out of time".to_owned()),
    }
}
