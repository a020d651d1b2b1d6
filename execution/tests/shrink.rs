//! Shrinking: the failure stays what it is, values get as simple as they can, and how sure it is is said.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use coreach_adapters::Adapter;
use coreach_adapters::in_process::{Implementation, InProcess};
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::explain::bucket_of;
use coreach_execution::monitor::Monitor;
use coreach_execution::run::events;
use coreach_execution::shrink::{Seen, Shrink, Shrunk, Stopped, shrink};
use coreach_execution::simulated::Simulated;
use coreach_execution::{Bucket, CaseJudge, Judge, Run, Settings, Strategy, TestCase, TestSession};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Iosts, Value};

const COUNTER: &str = include_str!("data/counter.yaml");

fn iosts(text: &str) -> Iosts {
    read_specification(from_bytes("model".to_owned(), text.as_bytes().to_vec()).unwrap()).unwrap().0.iosts
}

fn settings() -> Settings {
    let short = Duration::from_millis(5);
    Settings { quiescence: short, patience: short, ..Settings::default() }
}

fn drive(judge: &mut dyn Judge, adapter: &mut dyn Adapter, seed: u64) -> Run {
    let settings = settings();
    TestSession { judge, settings: &settings, adapter }.run(seed, Strategy::random())
}

fn shrunk(judge: &mut dyn Judge, adapter: &mut dyn Adapter, given: &Run, time: Duration) -> Shrunk {
    let settings = settings();
    let with = Shrink {
        session: TestSession { judge, settings: &settings, adapter },
        budget: 3000,
        time,
        again: 6,
        seen: &mut |_: Seen<'_>| {},
    };
    shrink(given, with)
}

const LONG: Duration = Duration::from_secs(60);

/// What the tester sent.
fn sent(run: &Run) -> Vec<Event> {
    let events = run.trace.iter().filter_map(|step| step.what.event());
    events.filter(|event| ["Add", "Ask", "Put"].contains(&event.action.as_str())).cloned().collect()
}

/// A counter that is wrong beyond 20, and that answers `Add(7)` with a value.
fn counter_with_two_faults() -> Iosts {
    let text = COUNTER
        .replace("pValue == vCount", "pValue == (if vCount > 20 then 21 else vCount)")
        .replace("on: Add, assign", "on: Add, when: pBy != 7, assign")
        + "  - { from: Idle, to: Odd, on: Add, when: pBy == 7 }\n  - { from: Odd, to: Idle, on: Value }\n";
    iosts(&text)
}

fn counter() -> (TestCase, State) {
    let test = TestCase::from_json(include_bytes!("data/counter.json")).unwrap();
    let initial = initial_state(&test, &Valuation::new(), 1, &mut Z3Solver::default()).unwrap();
    (test, initial)
}

#[test]
fn a_wrong_value_does_not_shrink_to_another_fault() {
    let (test, initial) = counter();
    let mut judge = CaseJudge::new(&test, initial);
    let mut adapter = InProcess(Simulated::new(counter_with_two_faults(), Z3Solver::default()));
    let mut seen = BTreeSet::new();
    for seed in 0..60 {
        let run = drive(&mut judge, &mut adapter, seed);
        if run.outcome.name() != "Fail" {
            continue;
        }
        let bucket = bucket_of(&mut judge, &run);
        let shrunk = shrunk(&mut judge, &mut adapter, &run, LONG);
        assert_eq!(shrunk.bucket, bucket);
        assert_eq!(bucket_of(&mut judge, &shrunk.run), bucket, "{:?}", shrunk.run.trace);
        assert!(events(&shrunk.run.trace) <= events(&run.trace));
        assert_eq!((shrunk.again.times, shrunk.again.same, shrunk.stopped), (6, 6, None));
        let sum = |events: &[Event]| -> i64 {
            let values = events.iter().flat_map(|event| &event.values);
            values.map(|value| if let Value::Int(by) = value { i64::try_from(by).unwrap() } else { 0 }).sum()
        };
        let (events, total) = (events(&shrunk.run.trace), sum(&sent(&shrunk.run)));
        match bucket.to_string().as_str() {
            // The least sum that shows it is 22; three additions can make it, and no addition of these can
            // go.
            "Fail in Asked: Value against pValue == vCount" => {
                assert_eq!(total, 22);
                assert!((8..=14).contains(&events), "{events}");
            }
            "Fail in Adding: Value, which is not allowed there" => assert_eq!((events, total), (2, 7)),
            other => panic!("{other}"),
        }
        seen.insert(bucket);
    }
    assert_eq!(seen.len(), 2, "{seen:?}");
}

const PLAIN: &str = "
iosts: box
variables: { vOn: bool }
initial: { location: Idle, condition: '!vOn' }
inputs: { Put: { pSize: int, pOther: int, pFlag: bool } }
outputs: { Done: {} }
transitions:
  - from: Idle
    to: Busy
    on: Put
    when: 40 <= pSize <= 1000000000000 && -9 <= pOther <= pSize
  - { from: Busy, to: Idle, on: Done }
";

/// Answers until a value is too much for it; then a second time.
struct Box {
    fails: fn(&[Value], u64) -> bool,
    slow: Duration,
    runs: u64,
    owes: usize,
}

impl Box {
    fn new(fails: fn(&[Value], u64) -> bool, slow: Duration) -> InProcess<Box> {
        InProcess(Box { fails, slow, runs: 0, owes: 0 })
    }
}

impl Implementation for Box {
    fn reset(&mut self, _: &[(Datum, Value)], _: u64) -> Result<(), String> {
        std::thread::sleep(self.slow);
        (self.runs, self.owes) = (self.runs + 1, 0);
        Ok(())
    }

    fn input(&mut self, input: &Event) {
        self.owes = if (self.fails)(&input.values, self.runs) { 2 } else { 1 };
    }

    fn output(&mut self, _: bool) -> Option<Event> {
        self.owes = self.owes.checked_sub(1)?;
        Some(Event::new("Done", Vec::new()))
    }
}

fn failing(judge: &mut dyn Judge, adapter: &mut dyn Adapter) -> Run {
    let runs = (1..200).map(|seed| drive(judge, adapter, seed));
    runs.into_iter().find(|run| run.outcome.name() == "Fail" && events(&run.trace) >= 3).unwrap()
}

fn boxed<R>(adapter: InProcess<Box>, work: impl FnOnce(&mut dyn Judge, &mut dyn Adapter) -> R) -> R {
    let mut adapter = adapter;
    let model = iosts(PLAIN);
    let valuation = model.variables.iter().map(|datum| (datum.clone(), Value::Bool(false))).collect();
    let initial = State { location: model.initial, valuation };
    let mut judge = Monitor::new(&model, [initial].into());
    work(&mut judge, &mut adapter)
}

fn int(value: &Value) -> i64 {
    match value {
        Value::Int(value) => i64::try_from(value).unwrap(),
        other => panic!("{other}"),
    }
}

#[test]
fn values_shrink_to_the_smallest_that_still_fail() {
    // At the guard's own boundary, and at one that no guard knows.
    for (fails, wanted) in [
        ((|_, _| true) as fn(&[Value], u64) -> bool, [40, 0]),
        (|values, _| int(&values[0]) > 123_456, [123_457, 0]),
        (|values, _| int(&values[1]) <= -3, [40, -3]),
        (|values, _| int(&values[0]) == int(&values[1]), [40, 40]),
    ] {
        boxed(Box::new(fails, Duration::ZERO), |judge, adapter| {
            let run = failing(judge, adapter);
            let shrunk = shrunk(judge, adapter, &run, LONG);
            assert_eq!(events(&shrunk.run.trace), 3);
            let last = &sent(&shrunk.run)[0].values;
            assert_eq!([int(&last[0]), int(&last[1])], wanted);
            assert_eq!(last[2], Value::Bool(false));
            assert!(shrunk.runs < 300, "{}", shrunk.runs);
        });
    }
}

#[test]
fn what_does_not_always_fail_is_told() {
    boxed(Box::new(|values, run| int(&values[0]) > 50 && run % 2 == 0, Duration::ZERO), |judge, adapter| {
        let run = failing(judge, adapter);
        let shrunk = shrunk(judge, adapter, &run, LONG);
        assert_eq!((shrunk.again.times, shrunk.again.same), (6, 3));
        assert!(shrunk.again.same < shrunk.again.times);
        let others: Vec<(String, usize)> =
            shrunk.again.others.iter().map(|(bucket, count)| (bucket.to_string(), *count)).collect();
        assert_eq!(others, [("Inconclusive in Idle: silence".to_owned(), 3)]);
    });
}

#[test]
fn time_ends_it() {
    boxed(Box::new(|values, _| int(&values[0]) > 50, Duration::from_millis(50)), |judge, adapter| {
        let run = failing(judge, adapter);
        let (begin, limit) = (Instant::now(), Duration::from_secs(1));
        let shrunk = shrunk(judge, adapter, &run, limit);
        assert_eq!(shrunk.stopped, Some(Stopped::Time));
        // One run may be under way.
        assert!(begin.elapsed() < limit + Duration::from_millis(400), "{:?}", begin.elapsed());
        // Half of the time is kept for looking how sure it is, at most.
        assert!(shrunk.again.times > 0 && shrunk.runs > 5, "{shrunk:?}");
    });
}

/// What is cut because the time is over says nothing of the run: it is not flaky.
#[test]
fn a_repetition_that_the_time_cuts_is_none() {
    let slow = Duration::from_millis(40);
    boxed(Box::new(|_, _| true, slow), |judge, adapter| {
        let given = failing(judge, adapter);
        for time in [Duration::ZERO, Duration::from_millis(20), Duration::from_millis(100)] {
            let shrunk = shrunk(judge, adapter, &given, time);
            assert_eq!(shrunk.stopped, Some(Stopped::Time), "{time:?}");
            assert!(
                shrunk.again.same == shrunk.again.times && shrunk.again.others.is_empty(),
                "{time:?}: {:?}",
                shrunk.again
            );
        }
    });
}

#[test]
fn a_bucket_survives_writing() {
    let (test, initial) = counter();
    let mut judge = CaseJudge::new(&test, initial);
    let mut adapter = InProcess(Simulated::new(counter_with_two_faults(), Z3Solver::default()));
    let mut failed = 0;
    for seed in 0..20 {
        let run = drive(&mut judge, &mut adapter, seed);
        let record = coreach_execution::record::record(&mut judge, &run);
        let text = serde_json::to_string(&record).unwrap();
        let bucket: Option<Bucket> = coreach_execution::record::read(text.as_bytes()).unwrap().bucket;
        assert_eq!(bucket, Some(bucket_of(&mut judge, &run)));
        failed += usize::from(run.outcome.name() == "Fail");
    }
    assert!(failed > 0);
}
