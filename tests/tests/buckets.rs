//! Pairs of faults in one system: whatever run failed, shrinking ends at the same failure.
//!
//! The system is the Redis example's specification with two mutations, and is judged by the specification
//! itself. Pairs whose runs fail in fewer than two buckets are passed over: there, nothing could go wrong.
//!
//! `cargo test --profile soak -p coreach-tests --test all buckets:: -- --ignored --nocapture` does 200 pairs
//! and measures.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use coreach_adapters::in_process::InProcess;
use coreach_execution::explain::bucket_of;
use coreach_execution::lazy::Lazy;
use coreach_execution::monitor::Monitor;
use coreach_execution::mutation::{MutationOperator, mutate};
use coreach_execution::run::{Occurrence, events};
use coreach_execution::shrink::{Shrink, shrink};
use coreach_execution::simulated::Simulated;
use coreach_execution::{Bucket, Run, Settings, Strategy, TestSession, initial};
use coreach_model::random::Random;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::{Iosts, Value, Verdict};

/// Runs of each pair.
const RUNS: u64 = 40;

fn redis() -> Iosts {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/redis/specification.yaml");
    let file = from_bytes("redis".to_owned(), fs::read(path).unwrap()).unwrap();
    read_specification(file).unwrap().0.iosts
}

/// The specification with two mutations.
fn pair(specification: &Iosts, number: u64) -> Option<Iosts> {
    let mut random = Random::new(number);
    let mut once = |of: &Iosts| {
        let operator = *random.pick(&MutationOperator::ALL)?;
        mutate(&mut random, of, operator).map(|mutant| mutant.iosts)
    };
    let first = once(specification)?;
    once(&first)
}

fn settings(steps: usize) -> Settings {
    let moment = Duration::from_millis(1);
    Settings { steps, quiescence: moment, patience: moment, ..Settings::default() }
}

/// The numbers that were sent, without their signs, as far as 64 bits go.
fn sizes(run: &Run) -> Vec<u64> {
    let sent = run.trace.iter().filter_map(|step| match &step.what {
        Occurrence::Stimulus(event) => Some(event),
        _ => None,
    });
    let size = |value: &Value| match value {
        Value::Int(number) => {
            let text = number.to_string();
            Some(text.trim_start_matches('-').parse().unwrap_or(u64::MAX))
        }
        _ => None,
    };
    sent.flat_map(|event| &event.values).filter_map(size).collect()
}

fn median<T: Ord + Copy>(mut of: Vec<T>) -> Option<T> {
    of.sort_unstable();
    of.get(of.len() / 2).copied()
}

#[derive(Default)]
struct Found {
    pairs: usize,
    shrunk: usize,
    left: usize,
    never_again: usize,
    runs: Vec<usize>,
    lengths: Vec<(usize, usize)>,
    numbers: (Vec<u64>, Vec<u64>),
}

fn pairs(count: usize) -> Found {
    let specification = redis();
    let given = |name: &str| match name {
        "cMost" => Value::int(i64::MAX),
        "cHuge" => Value::Int("100000000000000000000".parse().unwrap()),
        _ => Value::int(3),
    };
    let constants =
        specification.constants.iter().map(|datum| (datum.clone(), given(datum.name()))).collect();
    let states = initial::states(&specification, &constants, 16, &mut Lazy::default()).unwrap();
    let mut monitor = Monitor::new(&specification, states.into_iter().take(1).collect());
    let mut found = Found::default();
    for number in 0.. {
        if found.pairs == count {
            break;
        }
        let Some(iut) = pair(&specification, number) else { continue };
        let mut adapter = InProcess(Simulated::new(iut, Lazy::default()));
        let mut failed: BTreeMap<Bucket, Run> = BTreeMap::new();
        for seed in 0..RUNS {
            let settings = settings(60);
            let run = TestSession { judge: &mut monitor, settings: &settings, adapter: &mut adapter }
                .run(seed, Strategy::random());
            if run.outcome.verdict() == Some(Verdict::Fail) {
                failed.entry(bucket_of(&mut monitor, &run)).or_insert(run);
            }
        }
        if failed.len() < 2 {
            continue;
        }
        found.pairs += 1;
        for (bucket, run) in &failed {
            let settings = settings(60);
            let with = Shrink {
                session: TestSession { judge: &mut monitor, settings: &settings, adapter: &mut adapter },
                budget: 1000,
                time: Duration::from_secs(60),
                again: 5,
                seen: &mut |_| {},
            };
            let shrunk = shrink(run, with);
            let now = bucket_of(&mut monitor, &shrunk.run);
            found.shrunk += 1;
            found.left += usize::from(now != *bucket);
            found.never_again += usize::from(shrunk.again.same == 0);
            found.runs.push(shrunk.runs);
            found.lengths.push((events(&run.trace), events(&shrunk.run.trace)));
            found.numbers.0.extend(sizes(run));
            found.numbers.1.extend(sizes(&shrunk.run));
        }
    }
    found
}

#[test]
fn of_two_faults_each_shrinks_to_itself() {
    let found = pairs(6);
    assert!(found.shrunk >= 12);
    assert_eq!(found.left, 0);
    let sum = |of: fn(&(usize, usize)) -> usize| found.lengths.iter().map(of).sum::<usize>();
    assert!(sum(|pair| pair.1) < sum(|pair| pair.0), "{:?}", found.lengths);
}

#[test]
#[ignore = "measures; run it alone"]
fn two_hundred_pairs() {
    let begin = Instant::now();
    let found = pairs(200);
    let lengths = |of: fn(&(usize, usize)) -> usize| median(found.lengths.iter().map(of).collect());
    let (before, after) = (lengths(|pair| pair.0), lengths(|pair| pair.1));
    let (numbers_before, numbers_after) = (found.numbers.0.len(), found.numbers.1.len());
    let small = |of: &[u64]| of.iter().filter(|size| **size <= 1).count();
    println!(
        "{} pairs, {} failures shrunk, {} left their bucket, {} never failed again",
        found.pairs, found.shrunk, found.left, found.never_again
    );
    println!(
        "median length {before:?} before, {after:?} after, in a median of {:?} runs",
        median(found.runs)
    );
    println!(
        "numbers sent: {numbers_before}, of which {} are 0 or 1, median {:?}; after {numbers_after}, {} and {:?}; {:?}",
        small(&found.numbers.0),
        median(found.numbers.0.clone()),
        small(&found.numbers.1),
        median(found.numbers.1.clone()),
        begin.elapsed()
    );
    assert_eq!(found.left, 0);
}
