//! When stimuli are sent, how silence goes on, and what is kept of a timed run.

use super::*;

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
    let mut judge = judge::make_judge(&test, initial, None);
    let again = TestSession { judge: judge.as_mut(), settings: &settings(10), adapter: &mut system }
        .perform(failed.seed, &script_of(&failed.trace));
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
