//! The tester against implementations in the same process: the coffee machine's specification, which
//! conforms, and mutants of it, which do not.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use coreach_adapters::in_process::InProcess;
use coreach_adapters::samples::SampleProgram;
use coreach_adapters::waited_time::WaitedTime;
use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::{ConstantsError, initial_state, read_constants};
use coreach_execution::explain::reason_of;
use coreach_execution::record::{make_record, restore_run};
use coreach_execution::run::{Cause, Outcome};
use coreach_execution::session::run_with_retries;
use coreach_execution::simulated::Simulated;
use coreach_execution::strategy::{Asked, Move};
use coreach_execution::{CaseJudge, Run, Settings, Strategy, TestCase, TestSession};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::{Event, State};
use coreach_model::{Iosts, Value, Verdict};

const TEST_CASE: &[u8] = include_bytes!("data/deliver_coffee.json");

const COFFEE: &str = include_str!("data/coffee_machine.yaml");

fn test_case() -> TestCase {
    TestCase::from_json(TEST_CASE).unwrap()
}

fn coffee(change: impl Fn(&str) -> String) -> Iosts {
    let file = from_bytes("coffee".to_owned(), change(COFFEE).into_bytes()).unwrap();
    read_specification(Arc::clone(&file)).unwrap().0.iosts
}

fn settings() -> Settings {
    let short = Duration::from_millis(20);
    Settings { quiescence: short, patience: short, ..Settings::default() }
}

fn drive(test: &TestCase, adapter: &mut dyn Adapter, seed: u64, strategy: Strategy<'_>) -> (State, Run) {
    let mut solver = Z3Solver::default();
    let initial = initial_state(test, &Default::default(), seed, &mut solver).unwrap();
    let run =
        TestSession { judge: &mut CaseJudge::new(test, initial.clone()), settings: &settings(), adapter }
            .run(seed, strategy);
    (initial, run)
}

fn simulated(change: impl Fn(&str) -> String) -> impl Adapter {
    InProcess(Simulated::new(coffee(change), Z3Solver::default()))
}

fn verdicts(
    change: impl Fn(&str) -> String,
    strategy: fn() -> Strategy<'static>,
) -> BTreeMap<&'static str, usize> {
    let test = test_case();
    let mut adapter = simulated(change);
    let mut counts = BTreeMap::new();
    for seed in 0..20 {
        let (_, run) = drive(&test, &mut adapter, seed, strategy());
        *counts.entry(run.outcome.name()).or_default() += 1;
    }
    counts
}

/// Soundness: the specification conforms to itself.
#[test]
fn the_specification_never_fails() {
    let strategies: [fn() -> Strategy<'static>; 3] =
        [Strategy::random, || Strategy::Coverage(HashMap::new()), Strategy::plan];
    for strategy in strategies {
        assert_eq!(verdicts(str::to_owned, strategy), BTreeMap::from([("Pass", 20)]));
    }
}

/// Precision: values that a program prints are tried, the same ones for the same seed. Soundness: a program
/// that fails is no verdict, and the system is not even brought up.
#[test]
fn a_program_prints_samples_for_each_run() {
    let test = test_case();
    let run = |script: &str, seed| {
        let program = SampleProgram {
            words: ["sh", "-c", script].map(str::to_owned).to_vec(),
            directory: ".".into(),
            environment: Vec::new(),
            within: Duration::from_secs(30),
            types: vec![coreach_model::Type::Int],
        };
        let programs = BTreeMap::from([("pCoinValue".to_owned(), program)]);
        let settings = Settings { sample_programs: programs, ..settings() };
        let mut adapter = simulated(str::to_owned);
        let initial = initial_state(&test, &Default::default(), seed, &mut Z3Solver::default()).unwrap();
        let judge = &mut CaseJudge::new(&test, initial);
        TestSession { judge, settings: &settings, adapter: &mut adapter }.run(seed, Strategy::random())
    };
    let paid = |seed: u64| {
        let run = run("echo $((123456789 + COREACH_SEED))", seed);
        assert_eq!(run.outcome.name(), "Pass", "{run:?}");
        let sample = Value::int(123_456_789 + seed as i64);
        run.trace.iter().filter_map(|step| step.what.event()).any(|event| event.values.contains(&sample))
    };
    assert!((0..20).filter(|seed| paid(*seed)).count() > 3);
    let failed = run("echo 5; exit 1", 1);
    assert!(
        matches!(&failed.outcome, Outcome::RunError(Failure::Start(why)) if why.contains("`pCoinValue`"))
    );
    assert!(failed.trace.is_empty() && failed.wire.is_empty(), "{failed:?}");
}

/// Each of these faults is one that the test case of the thesis can see.
#[test]
fn a_faulty_machine_fails() {
    for (right, wrong) in [
        ("pRemainingValue == vPaid - cPrice", "pRemainingValue == vPaid - cPrice + 1"),
        ("on: Deliver, when: pBeverage == vBeverage", "on: Deliver, when: pBeverage == TEA"),
        ("when: vPaid >= cPrice && pRemainingValue", "when: vPaid > cPrice && pRemainingValue"),
    ] {
        assert!(COFFEE.contains(right), "{right}");
        let counts = verdicts(|text| text.replace(right, wrong), Strategy::random);
        if right.contains(">=") {
            // Paying exactly the price, it returns nothing: silence is no fault in this theory.
            assert!(
                counts.contains_key("Inconclusive") && !counts.contains_key("Fail"),
                "{wrong}: {counts:?}"
            );
        } else {
            assert_eq!(counts.get("Fail"), Some(&20), "{wrong}: {counts:?}");
        }
    }
}

#[test]
fn a_fail_is_explained_in_the_users_names() {
    let test = test_case();
    let wrong = |text: &str| text.replace("pRemainingValue == vPaid - cPrice", "pRemainingValue == vPaid");
    let (initial, run) = drive(&test, &mut simulated(wrong), 3, Strategy::plan());
    assert_eq!(run.outcome, Outcome::Verdict(Verdict::Fail, Cause::Event));
    let reason = reason_of(&mut CaseJudge::new(&test, initial), &run);
    assert!(reason.summary.starts_with("expected pRemainingValue = "), "{reason:?}");
    assert!(reason.summary.contains("does not allow Return("), "{reason:?}");
    assert_eq!(reason.location, "<Pay,Begin>");
    assert!(
        reason.guards.iter().any(|guard| !guard.holds && guard.part.contains("pRemainingValue")),
        "{reason:?}"
    );
    assert!(reason.guards[0].values.iter().any(|(name, _)| name == "pRemainingValue"), "{reason:?}");
    assert!(reason.expected.iter().any(|text| text.starts_with("Return(pRemainingValue = ")), "{reason:?}");
}

#[test]
fn a_record_that_no_run_leaves_is_refused_and_no_panic() {
    let test = test_case();
    let mut adapter = simulated(str::to_owned);
    let (initial, run) = drive(&test, &mut adapter, 3, Strategy::random());
    let text = serde_json::to_string(&make_record(&mut CaseJudge::new(&test, initial), &run)).unwrap();
    let tried = |text: &str| {
        let record = coreach_execution::record::read_record(text.as_bytes())?;
        restore_run(&test, &record).map(drop)
    };
    assert_eq!(tried(&text), Ok(()));
    let key = |name: &str, value: &str| {
        let mut json: serde_json::Value = serde_json::from_str(&text).unwrap();
        json[name] = serde_json::from_str(value).unwrap();
        json.to_string()
    };
    for wrong in [
        key("seconds", "1e300"),
        key("seconds", "-1"),
        key("seconds", "1.8e19"),
        key("format_version", "9"),
        key("verdict", "\"Fail\""),
        key("cause", "\"alien\""),
        key("cause", "\"nothing\""),
        key("mix", "{\"none\":1}"),
        key("mix", "{\"small\":-1}"),
        key("constants", "{\"cPrice\":1,\"other\":1}"),
        text.replacen("\"at_ms\":", "\"at_ms\":1e300,\"was\":", 1),
        text.replacen("\"at_ms\":", "\"at_ms\":-1,\"was\":", 1),
        text.replacen("\"seconds\":", "\"seconds\":1e999,\"was\":", 1),
        text.replacen("\"seed\":", "\"seed\":5,\"seed\":", 1),
        format!("{text}{text}"),
        format!("\u{feff}{text}"),
        text.replacen("\"cPrice\":", &format!("\"cPrice\":{},\"was\":", "9".repeat(1_000_000)), 1),
        text.replacen("\"cPrice\":", &format!("\"cPrice\":\"{}\",\"was\":", "9".repeat(1_000_000)), 1),
    ] {
        assert_ne!(wrong, text);
        let begin = Instant::now();
        assert!(tried(&wrong).is_err(), "{}", &wrong[..wrong.len().min(2000)]);
        assert!(begin.elapsed() < Duration::from_secs(1), "{:?}", begin.elapsed());
    }
}

/// Same seed, same run; and a record tells all of it.
#[test]
fn a_run_can_be_repeated_and_restored() {
    let test = test_case();
    for seed in 0..10 {
        let (initial, first) = drive(&test, &mut simulated(str::to_owned), seed, Strategy::random());
        let (_, second) = drive(&test, &mut simulated(str::to_owned), seed, Strategy::random());
        let events = |run: &Run| run.trace.iter().map(|step| step.what.clone()).collect::<Vec<_>>();
        assert_eq!(events(&first), events(&second));
        assert_eq!(first.constants, second.constants);
        let written = make_record(&mut CaseJudge::new(&test, initial.clone()), &first);
        let text = serde_json::to_string(&written).unwrap();
        let (again, restored) = restore_run(&test, &serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(again, initial);
        assert_eq!((restored.outcome, restored.end), (first.outcome, first.end));
        assert_eq!(restored.mix, first.mix);
    }
}

#[test]
fn constants_are_taken_or_found() {
    let test = test_case();
    let mut solver = Z3Solver::default();
    let three = read_constants(&test, [("cPrice", "3")]).unwrap();
    let state = initial_state(&test, &three, 1, &mut solver).unwrap();
    assert!(state.valuation.values().any(|value| *value == Value::int(3)));
    let none = read_constants(&test, [("cPrice", "0")]).unwrap();
    assert!(matches!(initial_state(&test, &none, 1, &mut solver), Err(ConstantsError::Unsatisfiable { .. })));
    assert!(matches!(read_constants(&test, [("cPrice", "-1")]), Err(ConstantsError::NoValue(..))));
    assert!(matches!(read_constants(&test, [("price", "1")]), Err(ConstantsError::Unknown(..))));
    let different: std::collections::BTreeSet<String> = (0..20)
        .map(|seed| format!("{:?}", initial_state(&test, &Default::default(), seed, &mut solver).unwrap()))
        .collect();
    assert!(different.len() > 5, "{different:?}");
}

/// What an adapter is told to do next.
#[derive(Clone)]
enum Scripted {
    Output(&'static str, Vec<Value>),
    Alien,
    Silence,
    Broken,
}

struct Script(Vec<Scripted>, usize);

impl Adapter for Script {
    fn start(&mut self, _: &Session<'_>) -> Result<(), Failure> {
        self.1 = 0;
        Ok(())
    }

    fn send(&mut self, _: &Event) -> Result<(), Failure> {
        self.1 = 1;
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        // Nothing is said before the first stimulus.
        if self.1 == 0 || self.1 > self.0.len() {
            std::thread::sleep(until.saturating_duration_since(Instant::now()));
            return Ok(Received::Silence);
        }
        self.1 += 1;
        match &self.0[self.1 - 2] {
            Scripted::Output(action, values) => Ok(Received::Output(Event::new(*action, values.clone()))),
            Scripted::Alien => Ok(Received::Alien("`Explode` is no action".to_owned())),
            Scripted::Silence => Ok(Received::Silence),
            Scripted::Broken => Err(Failure::Lost("exit status 3".to_owned())),
        }
    }

    fn stop(&mut self) {}
}

/// Verdicts are given for what they are, and a broken adapter gets none.
#[test]
fn what_an_implementation_does_wrong_has_its_verdict() {
    let test = test_case();
    let no_coffee = Value::Bool(false);
    for (script, name, cause) in [
        (vec![Scripted::Output("Return", vec![Value::int(-1)])], "Fail", "alien"),
        (vec![Scripted::Output("Return", vec![])], "Fail", "alien"),
        (vec![Scripted::Output("Explode", vec![])], "Fail", "alien"),
        (vec![Scripted::Output("Deliver", vec![no_coffee])], "Fail", "alien"),
        (vec![Scripted::Alien], "Fail", "alien"),
        (vec![Scripted::Broken], "RunError", "lost"),
        (vec![Scripted::Silence], "Inconclusive", "silence"),
        (vec![], "Inconclusive", "silence"),
    ] {
        let (initial, run) = drive(&test, &mut Script(script, 0), 1, Strategy::plan());
        let record = make_record(&mut CaseJudge::new(&test, initial), &run);
        assert_eq!((record.verdict.name(), record.cause.as_str()), (name, cause), "{record:?}");
    }
}

/// It is asked once, and answers right when its machine has let it run for so long; the machine says what it
/// has kept it from.
struct Starved {
    asked: Option<Instant>,
    answers: Duration,
    /// How long it was kept from running when it is looked at, the next time first; the last one for ever.
    held: RefCell<Vec<Duration>>,
    more: Duration,
}

impl Adapter for Starved {
    fn start(&mut self, _: &Session<'_>) -> Result<(), Failure> {
        Ok(())
    }

    fn send(&mut self, _: &Event) -> Result<(), Failure> {
        self.asked = Some(Instant::now());
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let due = self.asked.map(|asked| asked + self.answers).filter(|due| *due <= until);
        std::thread::sleep(due.unwrap_or(until).saturating_duration_since(Instant::now()));
        Ok(match due {
            Some(_) => Received::Output(Event::new("Answer", Vec::new())),
            None => Received::Silence,
        })
    }

    fn waited_time(&self) -> Option<WaitedTime> {
        let mut held = self.held.borrow_mut();
        if held.len() > 1 {
            return Some(held.remove(0).into());
        }
        held[0] += self.more;
        Some(held[0].into())
    }

    fn stop(&mut self) {}
}

/// A pause of the machine is none of the system's silence: one waits on for as long; where that has no end,
/// nobody is blamed.
#[test]
fn a_system_that_was_not_let_run_has_not_been_silent() {
    let test = TestCase::from_json(include_bytes!("data/must_answer.json")).unwrap();
    let mut solver = Z3Solver::default();
    let initial = initial_state(&test, &Default::default(), 1, &mut solver).unwrap();
    let milliseconds = Duration::from_millis;
    let quiescence = milliseconds(100);
    let tried = |answers: u64, held: &[u64], more: u64| {
        let held = held.iter().map(|time| milliseconds(*time)).collect();
        let mut adapter = Starved {
            asked: None,
            answers: milliseconds(answers),
            held: RefCell::new(held),
            more: milliseconds(more),
        };
        TestSession {
            judge: &mut CaseJudge::new(&test, initial.clone()).blaming_silence(true),
            settings: &Settings { quiescence, ..settings() },
            adapter: &mut adapter,
        }
        .run(1, Strategy::plan())
        .outcome
    };
    // It never answers. On a machine that is late itself there is no blame, which is right, too.
    let silent = tried(1_000_000, &[0], 0);
    let is_right = |outcome: &Outcome| {
        matches!(
            outcome,
            Outcome::Verdict(Verdict::Fail, Cause::Silence(_))
                | Outcome::Verdict(Verdict::Inconclusive, Cause::Jitter(_))
        )
    };
    assert!(is_right(&silent), "{silent:?}");
    // It was not let run for two seconds, and then answers.
    let passed = Outcome::Verdict(Verdict::Pass, Cause::Event);
    assert_eq!(tried(1_000, &[0, 2_000], 0), passed);
    // It is never let run.
    let starved = tried(1_000_000, &[0], 500);
    assert!(matches!(starved, Outcome::Verdict(Verdict::Inconclusive, Cause::Jitter(_))), "{starved:?}");
}

/// Whoever asks is always too late, as on a busy machine.
struct Held<A>(A);

impl<A: Adapter> Adapter for Held<A> {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.0.start(session)
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        self.0.send(stimulus)
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        std::thread::sleep(until.saturating_duration_since(Instant::now()));
        self.0.receive(until)
    }

    fn receive_from_state(&mut self) -> Option<Received> {
        self.0.receive_from_state()
    }

    fn stop(&mut self) {
        self.0.stop();
    }
}

/// Soundness: whether a model is silent is decided by its state, however short one waits, and however late
/// one asks. Precision: one that does not answer fails.
#[test]
fn no_clock_decides_whether_a_model_is_silent() {
    const ONCE: &str = "
iosts: once
initial: { location: L0 }
inputs: { Ask: {} }
outputs: { Answer: {} }
transitions:
  - { from: L0, to: L1, on: Ask }
  - { from: L1, to: L0, on: Answer }
";
    let model = |text: &str| {
        read_specification(from_bytes("once".to_owned(), text.as_bytes().to_vec()).unwrap()).unwrap().0.iosts
    };
    let test = TestCase::from_json(include_bytes!("data/must_answer.json")).unwrap();
    let initial = initial_state(&test, &Default::default(), 1, &mut Z3Solver::default()).unwrap();
    let mut judge = CaseJudge::new(&test, initial).blaming_silence(true);
    let silent = ONCE.replace("  - { from: L1, to: L0, on: Answer }\n", "");
    for (system, expected) in [(model(ONCE), "Pass"), (model(&silent), "Fail")] {
        let mut adapter = Held(InProcess(Simulated::new(system, Z3Solver::default())));
        for wait in [Duration::ZERO, Duration::from_millis(1)] {
            let settings = Settings { quiescence: wait, patience: wait, ..Settings::default() };
            for seed in 0..20 {
                let mut session =
                    TestSession { judge: &mut judge, settings: &settings, adapter: &mut adapter };
                let run = session.run(seed, Strategy::random());
                assert_eq!(run.outcome.name(), expected, "{wait:?}, {seed}");
                assert_eq!(session.replay(&run).run.outcome.name(), expected, "{wait:?}, {seed}, replayed");
            }
        }
    }
}

#[test]
fn limits_end_a_run_without_blame() {
    let test = test_case();
    let mut solver = Z3Solver::default();
    let initial = initial_state(&test, &Default::default(), 1, &mut solver).unwrap();
    let one = Settings { steps: 1, ..settings() };
    let mut adapter = simulated(str::to_owned);
    let mut judge = CaseJudge::new(&test, initial);
    let run_one =
        TestSession { judge: &mut judge, settings: &one, adapter: &mut adapter }.run(1, Strategy::plan());
    assert_eq!(run_one.outcome, Outcome::Verdict(Verdict::Inconclusive, Cause::Steps(1)));
    let brief =
        Settings { quiescence: Duration::from_secs(60), time: Duration::from_millis(50), ..settings() };
    let begin = Instant::now();
    let mut adapter = Script(vec![], 0);
    let run_two =
        TestSession { judge: &mut judge, settings: &brief, adapter: &mut adapter }.run(1, Strategy::plan());
    assert_eq!(run_two.outcome, Outcome::Verdict(Verdict::Inconclusive, Cause::Time(brief.time)));
    assert!(begin.elapsed() < Duration::from_secs(30));
}

#[test]
fn a_person_may_choose_and_stop() {
    let test = test_case();
    let mut asked = 0;
    let ask = Strategy::Ask(Box::new(|_, moves: &[Move]| {
        asked += 1;
        if asked > 2 { Asked::End } else { Asked::Moves(moves.to_vec()) }
    }));
    let (_, run) = drive(&test, &mut simulated(str::to_owned), 1, ask);
    assert_eq!(asked, 3);
    assert_eq!(run.outcome, Outcome::Verdict(Verdict::Inconclusive, Cause::Ended));
}

#[test]
fn a_document_that_is_no_test_case_is_refused() {
    let text = std::str::from_utf8(TEST_CASE).unwrap();
    for (right, wrong, message) in [
        ("\"coreach\"", "\"other\"", "`format`"),
        ("\"format_version\": 7", "\"format_version\": 9", "version 9"),
        ("\"format_version\": 7", "\"format_version\": 1", "make it again"),
        ("\"test_case\"", "\"product\"", "`product`"),
        ("\"purpose_reachable\": true", "\"purpose_reachable\": false", "cannot be reached"),
        ("\"verdict\": \"pass\"", "\"verdict\": \"maybe\"", "`maybe`"),
        ("[\">\", ", "[\"above\", ", "no operation is called `above`"),
        ("\"transitions\": [", "\"transitionen\": [", "`transitions`"),
        ("{", "[", "not JSON"),
    ] {
        assert!(text.contains(right), "{right}");
        let error = TestCase::from_json(text.replacen(right, wrong, 1).as_bytes()).unwrap_err();
        assert!(error.to_string().contains(message), "{wrong}: {error}");
    }
}

/// Soundness: what was taken out of a document, or weakened in it, is refused or says nothing; it never
/// blames a system that conforms.
#[test]
fn an_edited_test_case_blames_nobody() {
    let document: serde_json::Value = serde_json::from_slice(TEST_CASE).unwrap();
    let is_seen = |number: &serde_json::Value| {
        document["actions"][number.as_u64().unwrap() as usize]["role"] == "observation"
    };
    let truth = document["types"].as_array().unwrap().iter().position(|ty| ty["kind"] == "bool").unwrap();
    let (mut refused, mut unclear) = (0, 0);
    for (place, transition) in document["transitions"].as_array().unwrap().iter().enumerate() {
        if !is_seen(&transition["action"]) {
            continue;
        }
        let mut removed = document.clone();
        removed["transitions"].as_array_mut().unwrap().remove(place);
        let mut weakened = document.clone();
        let terms = weakened["terms"].as_array_mut().unwrap();
        terms.push(serde_json::json!(["literal", truth, true]));
        weakened["transitions"][place]["guard"] =
            serde_json::json!(document["terms"].as_array().unwrap().len());
        for edited in [removed, weakened] {
            let Ok(test) = TestCase::from_json(edited.to_string().as_bytes()) else {
                refused += 1;
                continue;
            };
            let mut adapter = simulated(str::to_owned);
            for seed in 0..20 {
                let (_, run) = drive(&test, &mut adapter, seed, Strategy::random());
                assert_ne!(run.outcome.name(), "Fail", "transition {place}: {:?}", run.trace);
                unclear += usize::from(run.outcome == Outcome::inconclusive(Cause::Unspecified));
            }
        }
    }
    assert!(refused > 0 && unclear > 0, "{refused} refused, {unclear} runs without a verdict");
}

/// A fault that shows itself late is brought down to the events that it needs.
#[test]
fn a_failing_run_is_replayed_and_shrunk() {
    use coreach_execution::shrink::{Shrink, ShrinkProgress, shrink};
    let test = TestCase::from_json(include_bytes!("data/counter.json")).unwrap();
    let wrong = include_str!("data/counter.yaml")
        .replace("pValue == vCount", "pValue == (if vCount > 20 then 21 else vCount)");
    let file = from_bytes("counter".to_owned(), wrong.into_bytes()).unwrap();
    let iosts = read_specification(file).unwrap().0.iosts;
    let mut adapter = InProcess(Simulated::new(iosts, Z3Solver::default()));
    let mut failed = 0;
    for seed in 0..40 {
        let (initial, run) = drive(&test, &mut adapter, seed, Strategy::random());
        if run.outcome.name() != "Fail" {
            continue;
        }
        failed += 1;
        let mut judge = CaseJudge::new(&test, initial);
        let again =
            TestSession { judge: &mut judge, settings: &settings(), adapter: &mut adapter }.replay(&run);
        assert_eq!((again.diverged, again.run.outcome.name()), (None, "Fail"));
        let mut told = 0;
        let mut seen = |_: ShrinkProgress<'_>| told += 1;
        let with = Shrink {
            session: TestSession { judge: &mut judge, settings: &settings(), adapter: &mut adapter },
            budget: 300,
            time: Duration::from_secs(60),
            again: 2,
            seen: &mut seen,
        };
        let shrunk = shrink(&run, with);
        assert_eq!(shrunk.run.outcome, run.outcome);
        assert!(shrunk.run.trace.len() <= 14, "{} events: {:?}", shrunk.run.trace.len(), shrunk.run.trace);
    }
    assert!(failed > 0);
}

/// An implementation that cannot be brought up so many times, and then is there.
struct Late<A>(usize, A);

impl<A: Adapter> Adapter for Late<A> {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        if self.0 > 0 {
            self.0 -= 1;
            return Err(Failure::Start("not yet".to_owned()));
        }
        self.1.start(session)
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        self.1.send(stimulus)
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        self.1.receive(until)
    }

    fn stop(&mut self) {
        self.1.stop();
    }
}

#[test]
fn a_run_without_a_verdict_is_done_again_as_often_as_it_may_be() {
    let test = test_case();
    let runs = |late: usize, retries: usize| {
        let mut adapter = Late(late, simulated(str::to_owned));
        run_with_retries(retries, || drive(&test, &mut adapter, 1, Strategy::random()).1)
    };
    let prompt = runs(0, 3);
    assert_eq!(prompt.retried, 0);
    for (late, retries, retried) in [(1, 1, 1), (2, 3, 2)] {
        let run = runs(late, retries);
        assert_eq!((run.retried, &run.outcome), (retried, &prompt.outcome));
        assert!(run.trace.iter().map(|step| &step.what).eq(prompt.trace.iter().map(|step| &step.what)));
    }
    let run = runs(3, 2);
    assert!(matches!(run.outcome, Outcome::RunError(Failure::Start(_))) && run.retried == 2, "{run:?}");
}
