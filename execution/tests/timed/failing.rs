//! What fails because of time, and what does not.

use coreach_adapters::waited_time::WaitedTime;

use super::*;

#[test]
fn what_a_document_says_of_time_is_read_or_refused_with_a_reason() {
    let good = document(
        "2.5",
        &[],
        &["Ask input", "Alarm ~input", "Answer output n:int", "silence quiescence"],
        &[
            "A Ask B",
            "A Alarm A",
            "A Answer FAILout",
            "A silence INCdur",
            "B Alarm B",
            "B Answer FAILout",
            "B silence INCdur",
        ],
    );
    let test = case(&good);
    let timed = test.timed.as_ref().unwrap();
    assert_eq!((timed.silence_after, timed.delay.name()), (ms(2500), "delay"));
    // What the tester only sees is an observation, and what goes over the wire has no delay.
    let begin = test.iosts.initial;
    assert_eq!((test.stimuli[begin].len(), test.observations[begin].len()), (1, 2));
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
        ("names an unknown term", &|bad| bad["timed"]["silence_after"] = json!(1000)),
        ("`delay`", &|bad| bad["timed"] = json!({ "silence_after": 0 })),
        ("first parameter of `Ask`", &|bad| bad["timed"]["delay"] = json!("other")),
        ("`Answer` is not an input", &|bad| bad["actions"][2]["controllable"] = json!(false)),
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

    fn waited_time(&self) -> Option<WaitedTime> {
        Some(self.2.into())
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

/// Says nothing, and is kept from running for so many thousandths of the time.
struct Dead {
    since: Option<Instant>,
    share: u32,
}

impl Adapter for Dead {
    fn start(&mut self, _session: &Session<'_>) -> Result<(), Failure> {
        self.since = Some(Instant::now());
        Ok(())
    }

    fn send(&mut self, _stimulus: &Event) -> Result<(), Failure> {
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        thread::sleep(until.saturating_duration_since(Instant::now()));
        Ok(Received::Silence)
    }

    fn waited_time(&self) -> Option<WaitedTime> {
        Some((self.since?.elapsed() * self.share / 1000).into())
    }

    fn stop(&mut self) {}
}

/// Silence is a Fail where it is longer than what the machine can have made of it, and only there.
#[test]
fn silence_fails_where_it_is_longer_than_the_machine_can_have_made_it() {
    let test = question("0.05", "0.1");
    let of =
        |share: u32, seed: u64| runs(&test, &mut Dead { since: None, share }, &settings(10), seed).outcome;
    // Precision: 200 ms too long, and kept from running for about 30 ms, which is more than the tolerance.
    let fails = |outcome: Outcome| matches!(outcome, Outcome::Verdict(Verdict::Fail, Cause::Silence(_)));
    assert!((0..40).any(|seed| fails(of(100, seed))));
    // Soundness: it was never let run.
    let outcomes: Vec<Outcome> = (0..4).map(|seed| of(1000, seed)).collect();
    assert!(outcomes.iter().all(|outcome| outcome.verdict() == Some(Verdict::Inconclusive)), "{outcomes:?}");
}

/// Ticks each 270 ms, where 150 are allowed on the whole, and is kept from running for so long before each.
fn slow_ticks(kept: u64, seed: u64) -> Outcome {
    let test = case(&document(
        "1",
        &["x:real", "n:int"],
        &["Tick output", "silence quiescence"],
        &[
            "Go Tick Go when x + delay <= 0.15 * (n + 1) && n < 9 do x := x + delay, n := n + 1",
            "Go Tick Pass when x + delay <= 0.15 * (n + 1) && n >= 9",
            "Go Tick FAILout when x + delay > 0.15 * (n + 1)",
            "Go silence FAILdur",
        ],
    ));
    let late: Vec<(u64, &str, &[i64])> = (1..=10).map(|n| (n * 270, "Tick", [].as_slice())).collect();
    let system = Scripted::new(&late).unasked();
    runs(&test, &mut KeptFromRunning(system, [0, kept], Duration::ZERO), &settings(100), seed).outcome
}

/// What is a little late again and again is found where the machine explains less of it each time.
#[test]
fn slow_drift_is_found_where_the_machine_does_not_explain_it() {
    // Precision: 120 ms more each time. Of the first 100 are tolerated and 31 explained; of all of them less.
    assert!((0..20).any(|seed| slow_ticks(31, seed) == Outcome::Verdict(Verdict::Fail, Cause::Event)));
    // Soundness: all of it is explained. It is no Pass either.
    let outcome = slow_ticks(125, 0);
    assert!(matches!(outcome, Outcome::Verdict(Verdict::Inconclusive, Cause::Jitter(_))), "{outcome:?}");
}

/// Soundness: where other instants lead to where the tester would not have sent what it sent, nothing is
/// known of what comes after it.
#[test]
fn what_the_tester_would_not_have_sent_at_other_instants_blames_nobody() {
    let test = case(&document(
        "0.5",
        &[],
        &["Ask input", "A output", "B output", "silence quiescence"],
        &[
            "Go A One when delay < 0.1",
            "Go A Two when delay >= 0.1",
            "Go B FAILout",
            "One Ask Asked",
            "One B Pass",
            "One A FAILout",
            "Two A FAILout",
            "Two B FAILout",
            "Asked A FAILout",
            "Asked B Pass",
            "Go silence FAILdur",
            "One silence One",
            "Two silence Two",
            "Asked silence FAILdur",
        ],
    ));
    let of = |seed: u64| {
        let system = Scripted::new(&[(90, "A", &[]), (250, "B", &[])]).unasked();
        runs(&test, &mut KeptFromRunning(system, [0, 0], Duration::ZERO), &settings(20), seed)
    };
    let asked: Vec<Run> = (0..8)
        .map(of)
        .filter(|run| run.trace.iter().any(|step| matches!(step.what, Occurrence::Stimulus(_))))
        .collect();
    assert!(!asked.is_empty());
    for run in asked {
        assert_ne!(run.outcome.verdict(), Some(Verdict::Fail), "{:?} {:?}", run.outcome, run.trace);
    }
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
            "Go B FAILout",
            "Go C FAILout",
            "One A FAILout",
            "One C FAILout",
            "Two A FAILout",
            "Two B FAILout",
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
            "Go Answer FAILout",
            "Ticked Ask Asked",
            "Ticked Tick FAILout",
            "Ticked Answer FAILout",
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
