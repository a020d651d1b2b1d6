//! How many steps a second the tester makes: `cargo run --release -p coreach-execution --example speed`.
//!
//! A counter is tested until it has counted far: each run has thousands of events, a step being one event,
//! sent or seen. Three ways, each as often as the first argument says (default 5), in turn, so that a machine
//! that is busy for a while does not favour one:
//!
//! * `in process`: the counter is a Rust value, values are drawn;
//! * `solved`: the same, and every value comes from the solver, each time in another window;
//! * `stdio`: the counter is a Python program that is talked to in JSON lines, values are drawn.
//!
//! Printed: the median of steps per second, the least and the most. For the choice of values, the median time
//! and the 99th percentile, in microseconds.

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use coreach_adapters::Adapter;
use coreach_adapters::description::{Command, Encoding, Iut, Stdio, Transport};
use coreach_adapters::in_process::{Implementation, InProcess};
use coreach_adapters::template::Template;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::values::{MIX, Mix, Pick, Values};
use coreach_execution::{CaseJudge, Outcome, Settings, Strategy, TestCase, TestSession, open};
use coreach_model::random::Random;
use coreach_model::semantics::Event;
use coreach_model::{Datum, Value, Verdict};

#[derive(Default)]
struct Counter {
    count: i64,
    answer: Option<Event>,
}

impl Implementation for Counter {
    fn reset(&mut self, _: &[(Datum, Value)], _: u64) -> Result<(), String> {
        *self = Counter::default();
        Ok(())
    }

    fn input(&mut self, input: &Event) {
        self.answer = Some(match input.values.first() {
            Some(Value::Int(by)) => {
                self.count += i64::try_from(by).unwrap_or(0);
                Event::new("Done", [])
            }
            _ => Event::new("Value", [Value::int(self.count)]),
        });
    }

    fn output(&mut self, _: bool) -> Option<Event> {
        self.answer.take()
    }
}

const SOLVED: Mix = [
    (Pick::Diverse, 1),
    (Pick::Boundary, 0),
    (Pick::Small, 0),
    (Pick::Large, 0),
    (Pick::Seen, 0),
    (Pick::Uniform, 0),
];

fn main() -> ExitCode {
    let times: usize = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(5);
    match measure(times) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("speed: {message}");
            ExitCode::FAILURE
        }
    }
}

fn measure(times: usize) -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(folder.join("tests/data/counter.json")).map_err(|e| e.to_string())?;
    let read = |text: String| TestCase::from_json(text.as_bytes()).map_err(|e| e.to_string());
    let far = read(text.replace("60", "20000"))?;
    // So many values that the solver's memory of earlier answers does not help.
    let near = read(text.replace("int[1..9]", "int[1..1000000]").replace("60", "1000000000"))?;
    let python = Iut {
        name: "counter".to_owned(),
        link: Default::default(),
        behaviour: Default::default(),
        evidence: Default::default(),
        place: String::new(),
        way: Transport::Stdio(Stdio {
            command: Command {
                words: vec![Template::fixed("python3"), Template::fixed("counter.py")],
                directory: folder.join("examples"),
                environment: Vec::new(),
                grace: Duration::ZERO,
            },
            ready: Duration::from_secs(10),
            encoding: Encoding::Json,
            settle: None,
            keep: false,
        }),
    };
    let mut solver = Z3Solver::default();
    let mut rates: [Vec<f64>; 2] = Default::default();
    for time in 0..times as u64 {
        let mut adapter = InProcess(Counter::default());
        rates[0].push(rate(&far, &mut adapter, time, &mut solver)?);
        let mut adapter = open(&python);
        rates[1].push(rate(&far, adapter.as_mut(), time, &mut solver)?);
    }
    for (name, rates) in ["in process", "stdio"].iter().zip(&mut rates) {
        rates.sort_by(f64::total_cmp);
        let (least, median, most) = (rates[0], rates[rates.len() / 2], rates[rates.len() - 1]);
        println!("{name:<12} {median:>9.0} steps/s   ({least:.0} to {most:.0})");
    }
    for (name, mix) in [("drawn", MIX), ("solved", SOLVED)] {
        let mut each = choices(&near, mix, &mut solver);
        each.sort_unstable();
        let at = |part: usize| each[each.len() * part / 100].as_secs_f64() * 1e6;
        println!("values {name:<7} median {:.1} us, 99 % within {:.1} us", at(50), at(99));
    }
    Ok(())
}

/// Steps a second of one run.
fn rate(test: &TestCase, adapter: &mut dyn Adapter, seed: u64, solver: &mut Z3Solver) -> Result<f64, String> {
    let initial =
        initial_state(test, &Default::default(), seed, solver).map_err(|error| error.to_string())?;
    let settings = Settings { steps: usize::MAX, ..Settings::default() };
    let run = TestSession { judge: &mut CaseJudge::new(test, initial), settings: &settings, adapter }
        .run(seed, Strategy::random());
    match run.outcome {
        Outcome::Verdict(Verdict::Pass, _) => Ok(run.trace.len() as f64 / run.time.as_secs_f64()),
        other => Err(format!("expected Pass, not {other:?}")),
    }
}

/// How long each of some thousand choices of values took.
fn choices(test: &TestCase, mix: Mix, solver: &mut Z3Solver) -> Vec<Duration> {
    let mut values = Values::new(mix);
    let mut times = Vec::new();
    for seed in 0..2000 {
        let Ok(state) = initial_state(test, &Default::default(), seed, solver) else { break };
        for number in &test.stimuli[state.location] {
            let transition = &test.iosts.transitions[*number];
            let parameters = &test.iosts.action(transition.action).parameters;
            if parameters.is_empty() {
                continue;
            }
            let mut random = Random::new(seed);
            let begin = Instant::now();
            let found = values.choose(&transition.guard, parameters, &state.valuation, &mut random, solver);
            assert!(found.is_some(), "the counter always takes an Add");
            times.push(begin.elapsed());
        }
    }
    times
}
