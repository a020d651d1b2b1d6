//! Timed runs against scripted systems: what is a Fail because of time, and what is not.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::{BTreeMap, VecDeque};
use std::thread;
use std::time::{Duration, Instant};

use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_artifact::Document;
use coreach_artifact::document::{TEST_CASE, TimedEntry};
use coreach_artifact::write::{Tables, graph};
use coreach_execution::constants::initial_state;
use coreach_execution::lazy::Lazy;
use coreach_execution::record::{read, record, restore};
use coreach_execution::replay::script;
use coreach_execution::run::{Cause, Occurrence};
use coreach_execution::shrink::{Shrink, shrink};
use coreach_execution::test_case::DocumentError;
use coreach_execution::timed::{delay_of, micros_up};
use coreach_execution::{Outcome, Run, Settings, Strategy, TestCase, TestSession, judge};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use coreach_model::{ActionKind, Term, Value, Verdict, number};
use serde_json::{Value as Json, json};

/// A document: `silence_after`, actions as `name kind parameter:type ...`, transitions as
/// `source action target when guard do x := e`.
fn document(silence_after: &str, variables: &[&str], actions: &[&str], transitions: &[&str]) -> Document {
    let data = |list: &[&str]| -> Json {
        list.iter()
            .map(|one| one.split_once(':').map(|(name, ty)| (name.to_owned(), json!(ty))).unwrap())
            .collect()
    };
    let (mut sections, mut uncontrollable, mut silences) = (BTreeMap::new(), Vec::new(), Vec::new());
    for text in actions {
        let words: Vec<&str> = text.split_whitespace().collect();
        let parameters = data(&[&["delay:real"], &words[2..]].concat());
        uncontrollable.extend(words[1].starts_with('~').then_some(words[0]));
        silences.extend((words[1] == "quiescence").then_some(words[0]));
        let section = if words[1].ends_with("input") { "inputs" } else { "outputs" };
        sections.entry(section).or_insert_with(|| json!({}))[words[0]] = parameters;
    }
    let mut names: Vec<&str> = Vec::new();
    let transitions: Vec<Json> = transitions
        .iter()
        .map(|text| {
            let (head, assigned) = text.split_once(" do ").unwrap_or((text, ""));
            let (head, guard) = head.split_once(" when ").unwrap_or((head, "true"));
            let words: Vec<&str> = head.split_whitespace().collect();
            for name in [words[0], words[2]] {
                if !names.contains(&name) {
                    names.push(name);
                }
            }
            let assign: Json = assigned
                .split(',')
                .filter_map(|one| one.split_once(":="))
                .map(|(name, value)| (name.trim().to_owned(), json!(value.trim())))
                .collect();
            json!({ "from": words[0], "on": words[1], "to": words[2], "when": guard, "assign": assign })
        })
        .collect();
    let variables = data(variables);
    let zero: Vec<String> =
        variables.as_object().unwrap().keys().map(|name| format!("{name} == 0")).collect();
    let condition = if zero.is_empty() { "true".to_owned() } else { zero.join(" && ") };
    let locations: Json = names.iter().map(|name| ((*name).to_owned(), json!({}))).collect();
    let mut model = json!({ "iosts": "by_hand", "variables": variables, "locations": locations,
        "initial": { "location": names[0], "condition": condition }, "transitions": transitions });
    for (section, of) in sections {
        model[section] = of;
    }
    let file = from_bytes("by_hand".to_owned(), model.to_string().into_bytes()).unwrap();
    let (specification, _) = read_specification(file).unwrap_or_else(|found| panic!("{found:#?}"));
    let mut tables = Tables::default();
    let mut document = graph(TEST_CASE, &specification.iosts, &mut tables);
    for action in &mut document.actions {
        if silences.contains(&action.name.as_str()) {
            action.kind = ActionKind::Quiescence;
        }
        action.controllable = uncontrollable.contains(&action.name.as_str()).then_some(false);
    }
    for location in &mut document.locations {
        location.verdict = match location.name.as_str() {
            "Pass" => Some(Verdict::Pass),
            name if name.starts_with("FAIL") => Some(Verdict::Fail),
            name if name.starts_with("INC") => Some(Verdict::Inconclusive),
            _ => None,
        };
    }
    let seconds = Term::literal(Value::Real(number::real(silence_after, 100).unwrap()));
    document.timed =
        Some(TimedEntry { delay: "delay".to_owned(), silence_after: tables.terms.number(&seconds) });
    tables.write(&mut document);
    document
}

fn case(document: &Document) -> TestCase {
    TestCase::from_json(json!(document).to_string().as_bytes()).unwrap()
}

/// The answer must come between `low` and `high` after the question.
fn question(low: &str, high: &str) -> TestCase {
    let inside = format!("Asked Answer Pass when {low} <= delay && delay <= {high} && n == 1");
    let outside = format!("Asked Answer FAILout when !({low} <= delay && delay <= {high} && n == 1)");
    let silent = format!("Asked silence FAILdur when delay > {high}");
    let waiting = format!("Asked silence Asked when delay <= {high}");
    case(&document(
        "0.3",
        &[],
        &["Ask input", "Answer output n:int", "silence quiescence"],
        &[
            "Begin Ask Asked when 0 <= delay && delay <= 0.2",
            "Begin Answer FAILout",
            "Begin silence INCdur",
            &inside,
            &outside,
            &silent,
            &waiting,
        ],
    ))
}

fn ms(time: u64) -> Duration {
    Duration::from_millis(time)
}

/// Answers so long after the last stimulus, on real time; each answer once.
#[derive(Clone)]
struct Scripted {
    answers: Vec<(Duration, Event)>,
    left: VecDeque<(Duration, Event)>,
    since: Instant,
    /// Does it answer after a stimulus only?
    asked: bool,
}

impl Scripted {
    fn new(answers: &[(u64, &str, &[i64])]) -> Self {
        let event = |(at, name, values): &(u64, &str, &[i64])| {
            (ms(*at), Event::new(*name, values.iter().map(|value| Value::int(*value))))
        };
        let answers = answers.iter().map(event).collect();
        Scripted { answers, left: VecDeque::new(), since: Instant::now(), asked: true }
    }

    fn unasked(self) -> Self {
        Scripted { asked: false, ..self }
    }
}

impl Adapter for Scripted {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        assert!(
            session.iosts.actions.iter().all(|action| action.parameters.iter().all(|p| p.name() != "delay"))
        );
        self.since = Instant::now();
        self.left = if self.asked { VecDeque::new() } else { self.answers.iter().cloned().collect() };
        Ok(())
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        assert!(stimulus.values.iter().all(|value| !matches!(value, Value::Real(_))), "{stimulus}");
        self.since = Instant::now();
        self.left = self.answers.iter().cloned().collect();
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let due = self.left.front().map(|(after, _)| self.since + *after);
        let (wake, comes) = match due {
            Some(due) if due <= until || due <= Instant::now() => (due, true),
            _ => (until, false),
        };
        thread::sleep(wake.saturating_duration_since(Instant::now()));
        let event = comes.then(|| self.left.pop_front()).flatten();
        Ok(event.map_or(Received::Silence, |(_, event)| Received::Output(event)))
    }

    fn stop(&mut self) {}
}

/// The same on a clock of its own: exact.
struct Exact(Scripted, Instant);

impl Adapter for Exact {
    fn now(&self) -> Option<Instant> {
        Some(self.1)
    }

    fn start(&mut self, _session: &Session<'_>) -> Result<(), Failure> {
        self.0.since = self.1;
        self.0.left = if self.0.asked { VecDeque::new() } else { self.0.answers.iter().cloned().collect() };
        Ok(())
    }

    fn send(&mut self, _stimulus: &Event) -> Result<(), Failure> {
        self.0.since = self.1;
        self.0.left = self.0.answers.iter().cloned().collect();
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let due = self.0.left.front().map(|(after, _)| self.0.since + *after);
        match due.filter(|due| *due <= until) {
            Some(due) => {
                self.1 = self.1.max(due);
                Ok(self.0.left.pop_front().map_or(Received::Silence, |(_, event)| Received::Output(event)))
            }
            None => {
                self.1 = self.1.max(until);
                Ok(Received::Silence)
            }
        }
    }

    fn stop(&mut self) {}
}

fn exact(answers: &[(u64, &str, &[i64])]) -> Exact {
    Exact(Scripted::new(answers), Instant::now())
}

fn settings(tolerance: u64) -> Settings {
    Settings { tolerance: ms(tolerance), time: ms(5000), steps: 50, ..Settings::default() }
}

fn runs(test: &TestCase, adapter: &mut dyn Adapter, settings: &Settings, seed: u64) -> Run {
    let mut solver = Lazy::default();
    let initial = initial_state(test, &Default::default(), 1, &mut solver).unwrap();
    let mut judge = judge::of(test, initial, None);
    let run = TestSession { judge: judge.as_mut(), settings, adapter }.run(seed, Strategy::random());
    // Whatever it was, its document can be read and walked again.
    let bytes = serde_json::to_vec(&record(judge.as_mut(), &run)).unwrap();
    let (_, again) = restore(test, &read(&bytes).unwrap()).unwrap();
    assert_eq!(again.outcome, run.outcome);
    run
}

/// What it comes to on a machine that may be busy: a Fail that was expected may be `jitter`, which the caller
/// repeats.
fn surely(test: &TestCase, adapter: &mut dyn Adapter, settings: &Settings) -> Run {
    for seed in 0..60 {
        let run = runs(test, adapter, settings, seed);
        if !matches!(
            run.outcome,
            Outcome::Verdict(Verdict::Inconclusive, Cause::Jitter(_) | Cause::Silence(_))
        ) {
            return run;
        }
    }
    panic!("this machine is late each time");
}

#[test]
fn what_a_document_says_of_time_is_read_or_refused_with_a_reason() {
    let good = document(
        "2.5",
        &[],
        &["Ask input", "Alarm ~input", "Answer output n:int", "silence quiescence"],
        &["A Ask B", "A Alarm A"],
    );
    let test = case(&good);
    let timed = test.timed.as_ref().unwrap();
    assert_eq!((timed.silence_after, timed.delay.name()), (ms(2500), "delay"));
    // What the tester only sees is an observation, and what goes over the wire has no delay.
    let begin = test.iosts.initial;
    assert_eq!((test.stimuli[begin].len(), test.observations[begin].len()), (1, 1));
    assert_eq!(
        test.wire()
            .actions
            .iter()
            .map(|action| action.parameters.len())
            .collect::<Vec<_>>()
            .iter()
            .sum::<usize>(),
        1
    );
    let after = |text: &str| document(text, &[], &["Ask input"], &["A Ask B"]);
    for (text, time) in [("5/2", 2500), ("1e-1", 100), ("1/3", 334)] {
        assert_eq!(case(&after(text)).timed.unwrap().silence_after, ms(time), "{text}");
    }
    for text in ["0", "-1", "1e30"] {
        let error = TestCase::from_json(json!(after(text)).to_string().as_bytes()).unwrap_err();
        assert!(error.to_string().contains("`silence_after`"), "{text}: {error}");
    }
    let refused = |change: &dyn Fn(&mut Json)| {
        let mut bad = json!(good);
        change(&mut bad);
        match TestCase::from_json(bad.to_string().as_bytes()) {
            Err(DocumentError::NoDocument(why)) => why,
            other => panic!("{other:?}"),
        }
    };
    for (wanted, change) in [
        (
            "expected usize",
            &(|bad: &mut Json| bad["timed"]["silence_after"] = json!("1")) as &dyn Fn(&mut Json),
        ),
        ("term that is not there", &|bad| bad["timed"]["silence_after"] = json!(1000)),
        ("`delay`", &|bad| bad["timed"] = json!({ "silence_after": 0 })),
        ("first parameter of `Ask`", &|bad| bad["timed"]["delay"] = json!("other")),
        ("`Answer` is no input", &|bad| bad["actions"][2]["controllable"] = json!(false)),
        ("expected a boolean", &|bad| bad["actions"][1]["controllable"] = json!("no")),
    ] {
        let why = refused(change);
        assert!(why.contains(wanted), "{why}");
    }
}

#[test]
fn delays_are_measured_and_stand_first_in_the_trace() {
    let run = runs(&question("0.05", "0.1"), &mut exact(&[(70, "Answer", &[1])]), &settings(10), 3);
    assert_eq!(run.outcome.verdict(), Some(Verdict::Pass));
    let last = run.trace.last().unwrap().what.event().unwrap().clone();
    assert_eq!(delay_of(&last).map(micros_up), Some(70_000));
    assert_eq!(last.values[1], Value::int(1));
}

#[test]
fn on_exact_time_the_bounds_are_exact() {
    let test = question("0.05", "0.1");
    for (at, verdict) in [
        (49, Verdict::Fail),
        (50, Verdict::Pass),
        (100, Verdict::Pass),
        (101, Verdict::Fail),
        (2000, Verdict::Fail),
    ] {
        let run = runs(&test, &mut exact(&[(at, "Answer", &[1])]), &settings(10), 1);
        assert_eq!(run.outcome.verdict(), Some(verdict), "{at}: {:?}", run.outcome);
    }
    let run = runs(&test, &mut exact(&[]), &settings(10), 1);
    assert_eq!(run.outcome, Outcome::Verdict(Verdict::Fail, Cause::Silence(ms(300))));
}

#[test]
fn within_the_tolerance_nothing_fails_and_beyond_it_does() {
    let test = question("0.05", "0.1");
    // Over the end by less than the tolerance: judged at the end.
    let run = surely(&test, &mut Scripted::new(&[(120, "Answer", &[1])]), &settings(60));
    assert_eq!(run.outcome.verdict(), Some(Verdict::Pass), "{:?}", run.outcome);
    assert_eq!(run.timing.unwrap().moved, 1);
    let judged = delay_of(run.trace.last().unwrap().what.event().unwrap()).map(micros_up).unwrap();
    assert!(judged <= 100_000, "{judged}");
    let run = surely(&test, &mut Scripted::new(&[(25, "Answer", &[1])]), &settings(60));
    assert_eq!(run.outcome.verdict(), Some(Verdict::Pass), "{:?}", run.outcome);
    let run = surely(&test, &mut Scripted::new(&[(400, "Answer", &[1])]), &settings(60));
    assert_eq!(run.outcome.verdict(), Some(Verdict::Fail), "{:?}", run.outcome);
    // What is wrong at any time fails, however large the tolerance is.
    let run = surely(&test, &mut Scripted::new(&[(70, "Answer", &[2])]), &settings(1000));
    assert_eq!(run.outcome.verdict(), Some(Verdict::Fail), "{:?}", run.outcome);
}

/// A system of which the kernel says that it is kept from running: so long when it is brought up, and so long
/// after each stimulus.
struct KeptFromRunning(Scripted, [u64; 2], Duration);

impl Adapter for KeptFromRunning {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.2 = Duration::ZERO;
        self.0.start(session)?;
        self.2 += ms(self.1[0]);
        Ok(())
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        self.0.send(stimulus)
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let received = self.0.receive(until)?;
        if matches!(received, Received::Output(_)) {
            self.2 += ms(self.1[1]);
        }
        Ok(received)
    }

    fn held_up(&self) -> Option<Duration> {
        Some(self.2)
    }

    fn stop(&mut self) {}
}

/// The verdict hangs on what the machine can have done to these instants, and not on whether it was busy at
/// all.
#[test]
fn a_busy_machine_excuses_what_it_can_have_caused_and_nothing_else() {
    let test = question("0.2", "0.25");
    let of = |at: u64, kept: [u64; 2], seed: u64| {
        let system = Scripted::new(&[(at, "Answer", &[1])]);
        runs(&test, &mut KeptFromRunning(system, kept, Duration::ZERO), &settings(10), seed).outcome
    };
    let failed = Outcome::Verdict(Verdict::Fail, Cause::Event);
    // The answer of the test itself may be held up, until it is in time.
    let fails = |at: u64, kept: [u64; 2]| (0..40).any(|seed| of(at, kept, seed) == failed);
    // Too early by 180 ms, whatever held it up afterwards.
    assert!(fails(20, [0, 60]));
    assert!(fails(20, [60, 0]));
    // Too late by less than it was kept from running.
    assert!((0..6).all(|seed| of(285, [0, 60], seed) != failed));
}

/// Of two things that are due a system that was held up may do the later one first, while the other has not
/// come yet.
#[test]
fn what_is_due_may_come_in_another_order_from_a_system_that_was_held_up() {
    let test = case(&document(
        "0.3",
        &[],
        &["Ask input", "First output", "Second output", "silence quiescence"],
        &[
            "Begin Ask Asked when 0 <= delay && delay <= 0.2",
            "Begin First FAILout",
            "Begin Second FAILout",
            "Begin silence INCdur",
            "Asked First Pass when delay <= 0.1",
            "Asked First FAILout when delay > 0.1",
            // By its own window from 0.12 on, by that of the first until 0.1: never, on a machine with time
            // for it.
            "Asked Second INCout when 0.12 <= delay && delay <= 0.1",
            "Asked Second FAILout when !(0.12 <= delay && delay <= 0.1)",
            "Asked silence FAILdur",
        ],
    ));
    let failed = Outcome::Verdict(Verdict::Fail, Cause::Event);
    let of = |at: u64, kept: u64, seed: u64| {
        let system = Scripted::new(&[(at, "Second", &[])]);
        runs(&test, &mut KeptFromRunning(system, [0, kept], Duration::ZERO), &settings(10), seed).outcome
    };
    assert!((0..6).all(|seed| of(150, 80, seed) != failed));
    assert!((0..40).any(|seed| of(20, 80, seed) == failed));
}

/// A tick each 100 ms, by a clock that the first one starts.
fn ticks() -> TestCase {
    case(&document(
        "1",
        &["x:real", "n:int"],
        &["Tick output", "silence quiescence"],
        &[
            "Go Tick Go when 0.1 <= delay && delay <= 0.2 && x + delay <= 0.15 * (n + 1) && n < 9 do x := x + delay, n := n + 1",
            "Go Tick Pass when 0.1 <= delay && delay <= 0.2 && x + delay <= 0.15 * (n + 1) && n >= 9",
            "Go Tick FAILout when !(0.1 <= delay && delay <= 0.2 && x + delay <= 0.15 * (n + 1))",
            "Go silence FAILdur",
        ],
    ))
}

#[test]
fn adjusted_instants_do_not_drift() {
    // Each tick 8 ms too early: within the tolerance of 10 ms once, not ten times.
    let early: Vec<(u64, &str, &[i64])> = (1..=10).map(|n| (n * 92, "Tick", [].as_slice())).collect();
    let mut system = Scripted::new(&early).unasked();
    let run = surely(&ticks(), &mut system, &settings(10));
    assert_eq!(run.outcome.verdict(), Some(Verdict::Fail), "{:?} {:?}", run.outcome, run.trace);
    assert!(run.trace.len() >= 2, "the first ones are within the tolerance");
    // Right on the whole, with each second one 8 ms too early.
    let fine: Vec<(u64, &str, &[i64])> =
        (1..=10).map(|n| (n * 105 - 9 * (n % 2), "Tick", [].as_slice())).collect();
    let run = surely(&ticks(), &mut Scripted::new(&fine).unasked(), &settings(12));
    assert_eq!(run.outcome.verdict(), Some(Verdict::Pass), "{:?} {:?}", run.outcome, run.trace);
}

#[test]
fn earlier_instants_are_doubted_before_a_fail_is_given() {
    // B comes 100 ms after A, and A 100 ms after the beginning; both within 10 ms, and C as long after A as
    // after B. Judged one by one, A is put where it was measured, and then nothing fits C.
    let test = case(&document(
        "1",
        &["x:real"],
        &["A output", "B output", "C output", "silence quiescence"],
        &[
            "Go A One when 0.08 <= delay && delay <= 0.13 do x := 0",
            "Go A FAILout when !(0.08 <= delay && delay <= 0.13)",
            "One B Two when 0.1 <= delay && delay <= 0.1",
            "One B FAILout when !(0.1 <= delay && delay <= 0.1)",
            "Two C Pass",
            "Go silence FAILdur",
            "One silence FAILdur",
            "Two silence FAILdur",
        ],
    ));
    // A truly at 100, read at 115; B truly at 200, read at 185: 70 between them, with a tolerance of 20 for
    // each.
    let mut system = Scripted::new(&[(115, "A", &[]), (185, "B", &[]), (300, "C", &[])]).unasked();
    let run = surely(&test, &mut system, &settings(20));
    assert_eq!(run.outcome.verdict(), Some(Verdict::Pass), "{:?} {:?}", run.outcome, run.trace);
    let mut system = Scripted::new(&[(115, "A", &[]), (155, "B", &[]), (300, "C", &[])]).unasked();
    let run = surely(&test, &mut system, &settings(20));
    assert_eq!(run.outcome.verdict(), Some(Verdict::Fail), "{:?} {:?}", run.outcome, run.trace);
}

#[test]
fn an_observation_that_may_have_crossed_a_stimulus_is_judged_in_both_orders() {
    // A tick comes 50 ms after the beginning; the question may be sent from then on too, and after it no tick
    // is allowed.
    let test = case(&document(
        "0.3",
        &["x:real"],
        &["Ask input", "Tick output", "Answer output", "silence quiescence"],
        &[
            "Go Ask Asked when 0.045 <= delay && delay <= 0.06",
            "Go Tick Ticked when delay <= 0.08",
            "Go Tick FAILout when delay > 0.08",
            "Ticked Ask Asked",
            "Asked Tick FAILout",
            "Asked Answer Pass",
            "Go silence FAILdur",
            "Asked silence INCdur",
            "Ticked silence INCdur",
        ],
    ));
    // The tick is under way when the question is sent.
    struct Crossing(Scripted);
    impl Adapter for Crossing {
        fn start(&mut self, _session: &Session<'_>) -> Result<(), Failure> {
            self.0.left.clear();
            Ok(())
        }
        fn send(&mut self, _stimulus: &Event) -> Result<(), Failure> {
            self.0.since = Instant::now();
            self.0.left = [(ms(2), Event::new("Tick", [])), (ms(30), Event::new("Answer", []))].into();
            Ok(())
        }
        fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
            self.0.receive(until)
        }
        fn stop(&mut self) {}
    }
    let run = surely(&test, &mut Crossing(Scripted::new(&[])), &settings(10));
    assert_eq!(run.outcome.verdict(), Some(Verdict::Pass), "{:?} {:?}", run.outcome, run.trace);
    let order: Vec<&str> =
        run.trace.iter().filter_map(|step| step.what.event()).map(|event| event.action.as_str()).collect();
    assert_eq!(order, ["Tick", "Ask", "Answer"]);
}

#[test]
fn what_comes_from_elsewhere_is_nobodys_fault() {
    let test = case(&document(
        "0.2",
        &[],
        &["Alarm ~input level:int", "silence quiescence"],
        &["Go Alarm Pass when level > 3 && delay < 0.1", "Go silence INCdur"],
    ));
    for (event, wanted) in [
        ((50, "Alarm", [5].as_slice()), Verdict::Pass),
        ((50, "Alarm", [1].as_slice()), Verdict::Inconclusive),
    ] {
        let mut system = exact(&[event]);
        system.0 = system.0.unasked();
        let run = runs(&test, &mut system, &settings(10), 1);
        assert_eq!(run.outcome.verdict(), Some(wanted), "{:?}", run.outcome);
    }
}

#[test]
fn a_tester_that_is_late_says_so_and_blames_nobody() {
    // The window of the question closes before anybody can have used it.
    let test = case(&document(
        "0.1",
        &[],
        &["Ask input", "Answer output", "silence quiescence"],
        &["Go Ask Pass when 0 <= delay && delay <= 0.000001", "Go Answer FAILout", "Go silence INCdur"],
    ));
    let run = runs(&test, &mut Scripted::new(&[]), &settings(10), 1);
    assert!(
        matches!(run.outcome, Outcome::Verdict(Verdict::Inconclusive, Cause::Late(_))),
        "{:?}",
        run.outcome
    );
}

#[test]
fn a_stimulus_is_sent_in_its_window_with_the_delay_that_it_has_then() {
    let test = case(&document(
        "1",
        &[],
        &["Ask input n:int", "Answer output", "silence quiescence"],
        &[
            "Go Ask Pass when 0.05 <= delay && delay <= 0.1 && 10 * delay >= n && 0 <= n",
            "Go Answer FAILout",
            "Go silence INCdur",
        ],
    ));
    for seed in 0..8 {
        let run = runs(&test, &mut Scripted::new(&[]), &settings(10), seed);
        let Some(step) = run.trace.last() else {
            assert!(matches!(run.outcome, Outcome::Verdict(_, Cause::Late(_))), "{:?}", run.outcome);
            continue;
        };
        let delay = delay_of(step.what.event().unwrap()).map(micros_up).unwrap();
        assert!((50_000..=100_000).contains(&delay), "{delay}");
        assert!(step.at >= ms(50), "{:?}", step.at);
    }
}

#[test]
fn silence_that_goes_on_is_longer_the_next_time() {
    // An answer may come until 0.7, and silence is looked at each 0.3.
    let test = question("0.05", "0.7");
    for (at, verdict) in [(650, Verdict::Pass), (800, Verdict::Fail)] {
        let run = runs(&test, &mut exact(&[(at, "Answer", &[1])]), &settings(10), 1);
        assert_eq!(run.outcome.verdict(), Some(verdict), "{at}: {:?}", run.outcome);
        assert!(
            run.trace.iter().all(|step| step.what.event().is_some()),
            "silence that changes nothing is no step"
        );
    }
    let run = runs(&test, &mut exact(&[]), &settings(10), 1);
    assert_eq!(run.outcome, Outcome::Verdict(Verdict::Fail, Cause::Silence(ms(900))));
}

#[test]
fn a_stored_run_comes_again_and_shrinks_with_the_delays_that_matter() {
    // The answer is wrong where the question comes later than 50 ms.
    let test = case(&document(
        "1",
        &[],
        &["Ping input", "Ask input", "Answer output n:int", "silence quiescence"],
        &[
            "Go Ping Go when delay <= 0.3",
            "Go Ask Asked when delay <= 0.3",
            "Go Answer FAILout",
            "Asked Answer Pass when n == 1",
            "Asked Answer FAILout when n != 1",
            "Go silence INCdur",
            "Asked silence FAILdur",
        ],
    ));
    struct Slow {
        now: Instant,
        since: Instant,
        next: Option<(Instant, i64)>,
    }
    impl Adapter for Slow {
        fn now(&self) -> Option<Instant> {
            Some(self.now)
        }
        fn start(&mut self, _session: &Session<'_>) -> Result<(), Failure> {
            (self.since, self.next) = (self.now, None);
            Ok(())
        }
        fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
            if stimulus.action == "Ask" {
                let late = self.now - self.since > ms(50);
                self.next = Some((self.now + ms(7), if late { 2 } else { 1 }));
            }
            self.since = self.now;
            Ok(())
        }
        fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
            if let Some((at, value)) = self.next.filter(|(at, _)| *at <= until) {
                (self.now, self.next) = (at.max(self.now), None);
                return Ok(Received::Output(Event::new("Answer", [Value::int(value)])));
            }
            self.now = self.now.max(until);
            Ok(Received::Silence)
        }
        fn stop(&mut self) {}
    }
    let now = Instant::now();
    let mut system = Slow { now, since: now, next: None };
    let failed = (0..200)
        .map(|seed| runs(&test, &mut system, &settings(10), seed))
        .find(|run| run.outcome.verdict() == Some(Verdict::Fail) && run.trace.len() > 3)
        .unwrap();
    let mut solver = Lazy::default();
    let initial = initial_state(&test, &Default::default(), 1, &mut solver).unwrap();
    let mut judge = judge::of(&test, initial, None);
    let again = TestSession { judge: judge.as_mut(), settings: &settings(10), adapter: &mut system }
        .perform(failed.seed, &script(&failed.trace));
    let what = |run: &Run| run.trace.iter().map(|step| step.what.clone()).collect::<Vec<Occurrence>>();
    assert_eq!((what(&again), &again.outcome), (what(&failed), &failed.outcome));
    let with = Shrink {
        session: TestSession { judge: judge.as_mut(), settings: &settings(10), adapter: &mut system },
        budget: 300,
        time: Duration::from_secs(20),
        again: 3,
        seen: &mut |_| {},
    };
    let shrunk = shrink(&failed, with);
    assert_eq!((shrunk.run.trace.len(), shrunk.again.same), (2, 3), "{:?}", shrunk.run.trace);
    let asked = delay_of(shrunk.run.trace[0].what.event().unwrap()).map(micros_up).unwrap();
    assert!((50_001..=300_000).contains(&asked), "{asked}");
}
