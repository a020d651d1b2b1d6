//! Shrinking: the failure stays what it is, values get as simple as they can, and how sure it is is said.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use coreach_adapters::in_process::{Implementation, InProcess};
use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::explain::bucket_of;
use coreach_execution::initial;
use coreach_execution::monitor::Monitor;
use coreach_execution::run::events;
use coreach_execution::shrink::{Shrink, ShrinkProgress, Shrunk, Stopped, shrink};
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
        seen: &mut |_: ShrinkProgress<'_>| {},
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

/// Precision: a long way through states that were met before goes at once, before other seeds are tried.
#[test]
fn loops_of_a_long_run_are_left_out_first() {
    boxed(Box::new(|values, _| int(&values[0]) % 50 == 3, Duration::ZERO), |judge, adapter| {
        let mut runs = (1..200).map(|seed| drive(judge, adapter, seed));
        let run = runs.find(|run| run.outcome.name() == "Fail" && events(&run.trace) >= 60).unwrap();
        let settings = settings();
        let with = Shrink {
            session: TestSession { judge, settings: &settings, adapter },
            budget: 6,
            time: LONG,
            again: 1,
            seen: &mut |_: ShrinkProgress<'_>| {},
        };
        assert_eq!(events(&shrink(&run, with).run.trace), 3);
    });
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
        let record = coreach_execution::record::make_record(&mut judge, &run);
        let text = serde_json::to_string(&record).unwrap();
        let bucket: Option<Bucket> = coreach_execution::record::read_record(text.as_bytes()).unwrap().bucket;
        assert_eq!(bucket, Some(bucket_of(&mut judge, &run)));
        failed += usize::from(run.outcome.name() == "Fail");
    }
    assert!(failed > 0);
}

/// A system that needs its time to start, and is given up where it has not enough of it.
struct Slow<A>(A);

impl<A: Adapter> Adapter for Slow<A> {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        std::thread::sleep(Duration::from_millis(40));
        if Instant::now() >= session.deadline {
            return Err(Failure::Start("it is not ready in time".to_owned()));
        }
        self.0.start(session)
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        self.0.send(stimulus)
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        self.0.receive(until)
    }

    fn stop(&mut self) {
        self.0.stop();
    }
}

/// Likewise where it is cut in its beginning, or breaks because of the end.
#[test]
fn a_repetition_that_has_no_time_to_start_is_none() {
    boxed(Box::new(|_, _| true, Duration::ZERO), |judge, adapter| {
        let given = failing(judge, adapter);
        let mut slow = Slow(Box::new(|_, _| true, Duration::ZERO));
        for time in [60, 90, 120, 150, 180].map(Duration::from_millis) {
            let again = shrunk(judge, &mut slow, &given, time).again;
            assert!(again.same == again.times && again.others.is_empty(), "{time:?}: {again:?}");
        }
    });
}

/// A run of this system that fails and has so many events at least.
fn long_failing(judge: &mut dyn Judge, adapter: &mut dyn Adapter, least: usize, from: u64) -> Run {
    let runs = (from..from + 500).map(|seed| drive(judge, adapter, seed));
    runs.into_iter().find(|run| run.outcome.name() == "Fail" && events(&run.trace) >= least).unwrap()
}

fn monitor(model: &Iosts) -> Monitor<'_> {
    let states = initial::states(model, &Default::default(), 1, &mut Z3Solver::default()).unwrap();
    Monitor::new(model, states.into_iter().collect())
}

const TAGS: &str = "
iosts: tags
variables: { vTag: nat }
initial: { location: Idle, condition: vTag == 0 }
inputs: { Noop: { tag: nat }, Set: { tag: nat }, Stat: { tag: nat } }
outputs: { Ok: { tag: int }, Wrong: { tag: int } }
transitions:
  - { from: Idle, to: Busy, on: Noop, when: tag == vTag + 1, assign: { vTag: tag } }
  - { from: Idle, to: Busy, on: Set, when: tag == vTag + 1, assign: { vTag: tag } }
  - { from: Idle, to: Busy, on: Stat, when: tag == vTag + 1, assign: { vTag: tag } }
  - { from: Busy, to: Idle, on: Ok, when: tag == vTag }
";

/// Without the command before, the next one has another tag: both can be left out all the same.
#[test]
fn what_the_tester_numbers_shrinks_to_the_least() {
    let model = iosts(TAGS);
    let wrong = TAGS
        .replace("{ vTag: nat }", "{ vTag: nat, vSet: nat }")
        .replace("condition: vTag == 0", "condition: vTag == 0 && vSet == 0")
        .replace("on: Set, when: tag == vTag + 1, assign: { ", "on: Set, assign: { vSet: vSet + 1, ")
        .replace("on: Ok, when: tag == vTag", "on: Ok, when: tag == vTag && vSet < 3")
        + "  - { from: Busy, to: Idle, on: Wrong, when: vSet >= 3 && tag == vTag }\n";
    let mut adapter = InProcess(Simulated::new(iosts(&wrong), Z3Solver::default()));
    for number in 0..5 {
        let mut judge = monitor(&model);
        let given = long_failing(&mut judge, &mut adapter, 14, 100 * number);
        let shrunk = shrunk(&mut judge, &mut adapter, &given, LONG);
        assert_eq!((shrunk.again.same, shrunk.stopped), (6, None));
        assert_eq!(events(&shrunk.run.trace), 6, "{:?}", shrunk.run.trace);
    }
}

const JOBS: &str = "
iosts: jobs
types: { Id: id }
variables: { live: 'option[Id]' }
initial: { location: Idle, condition: live == none }
inputs: { Post: {}, Delete: { i: Id }, Ping: {} }
outputs: { Created: { i: Id }, Deleted: {}, Pong: {}, NotFound: {} }
transitions:
  - { from: Idle, to: Posting, on: Post, when: live is none }
  - { from: Posting, to: Idle, on: Created, when: fresh(i), assign: { live: some(i) } }
  - { from: Idle, to: Deleting, on: Delete, when: live == some(i) }
  - { from: Deleting, to: Idle, on: Deleted, assign: { live: none } }
  - { from: Idle, to: Pinged, on: Ping }
  - { from: Pinged, to: Idle, on: Pong }
";

/// Hands out ids that it has never handed out, and does not know the third one when it is deleted.
#[derive(Default)]
struct Jobs {
    handed_out: usize,
    live: Option<Value>,
    deleted: usize,
    answer: Option<Event>,
}

impl Implementation for Jobs {
    fn reset(&mut self, _: &[(Datum, Value)], _: u64) -> Result<(), String> {
        (self.live, self.deleted, self.answer) = (None, 0, None);
        Ok(())
    }

    fn input(&mut self, input: &Event) {
        self.answer = Some(match (input.action.as_str(), input.values.first()) {
            ("Post", _) => {
                self.handed_out += 1;
                let id = Value::id(&"Id".into(), &format!("made{}", self.handed_out));
                self.live = Some(id.clone());
                Event::new("Created", [id])
            }
            ("Delete", id) if id == self.live.as_ref() => {
                self.deleted += 1;
                Event::new(if self.deleted == 3 { "NotFound" } else { "Deleted" }, [])
            }
            ("Delete", _) => return,
            _ => Event::new("Pong", []),
        });
    }

    fn output(&mut self, _: bool) -> Option<Event> {
        self.answer.take()
    }
}

#[test]
fn a_run_with_ids_of_the_system_is_replayed_and_shrunk() {
    let model = iosts(JOBS);
    let mut adapter = InProcess(Jobs::default());
    for number in 0..5 {
        let mut judge = monitor(&model);
        let given = long_failing(&mut judge, &mut adapter, 17, 100 * number);
        let again =
            TestSession { judge: &mut judge, settings: &settings(), adapter: &mut adapter }.replay(&given);
        assert_eq!((again.run.outcome.name(), again.diverged), ("Fail", None), "{:?}", again.run.trace);
        let shrunk = shrunk(&mut judge, &mut adapter, &given, LONG);
        assert_eq!((shrunk.again.same, shrunk.stopped), (6, None));
        assert_eq!(events(&shrunk.run.trace), 12, "{:?}", shrunk.run.trace);
    }
}

/// Another id at the place of one that was there before is another run.
#[test]
fn a_replay_whose_ids_do_not_agree_has_diverged() {
    let wrong = JOBS.replace("on: Deleted, assign", "on: Deleted, when: live == some(i), assign");
    let wrong = wrong.replace("Deleted: {}", "Deleted: { i: Id }");
    let model = iosts(&wrong);
    let mut adapter = InProcess(Echo { runs: 0, answer: None });
    let mut judge = monitor(&model);
    let mut run = || drive(&mut judge, &mut adapter, 1);
    let given = run();
    assert_eq!(given.outcome.name(), "Inconclusive", "{:?}", given.trace);
    let again =
        TestSession { judge: &mut judge, settings: &settings(), adapter: &mut adapter }.replay(&given);
    assert_eq!(again.run.outcome.name(), "Fail");
    assert!(again.diverged.is_some());
}

/// Says which job it has deleted; in its second run it says another one.
struct Echo {
    runs: usize,
    answer: Option<Event>,
}

impl Implementation for Echo {
    fn reset(&mut self, _: &[(Datum, Value)], _: u64) -> Result<(), String> {
        self.runs += 1;
        self.answer = None;
        Ok(())
    }

    fn input(&mut self, input: &Event) {
        let id = |text: &str| Value::id(&"Id".into(), text);
        self.answer = match (input.action.as_str(), self.runs) {
            ("Post", runs) => Some(Event::new("Created", [id(&format!("made{runs}"))])),
            ("Delete", 1) => Some(Event::new("Deleted", input.values.clone())),
            ("Delete", _) => Some(Event::new("Deleted", [id("another")])),
            _ => Some(Event::new("Pong", [])),
        };
    }

    fn output(&mut self, _: bool) -> Option<Event> {
        self.answer.take()
    }
}
