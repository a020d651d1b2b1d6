//! A judge that is no test case: what drives, keeps, tells, repeats and shortens runs needs nothing of a test
//! case.
//!
//! The toy asks a counter for its value, and wants it to be quiet afterwards: it takes silence as a step, and
//! time too. Its Pass comes by silence, which no judge here does, and it goes through no transition.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_execution::explain::reason_of;
use coreach_execution::judge::{Choice, Judge, Judged, Offer, Offers, Reasons, ShownState, shown_states};
use coreach_execution::record::{make_record, read_record};
use coreach_execution::run::{Cause, Occurrence, Outcome};
use coreach_execution::shrink::{Shrink, ShrinkProgress, shrink};
use coreach_execution::strategy::{Asked, Move};
use coreach_execution::{Run, Settings, Strategy, TestSession};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use coreach_model::{Datum, Iosts, TransitionId, Value, Verdict};

/// Ask, a value that is not negative, silence: as often as is wanted.
struct Toy {
    iosts: Iosts,
    rounds: usize,
    done: usize,
    asked: bool,
    answered: bool,
    wrong: bool,
}

impl Toy {
    fn new(rounds: usize) -> Self {
        let text = include_str!("data/counter.yaml").to_owned();
        let iosts = read_specification(from_bytes("counter".to_owned(), text.into_bytes()).unwrap()).unwrap();
        Toy { iosts: iosts.0.iosts, rounds, done: 0, asked: false, answered: false, wrong: false }
    }
}

impl Judge for Toy {
    fn iosts(&self) -> &Iosts {
        &self.iosts
    }

    fn constants(&self) -> Vec<(Datum, Value)> {
        Vec::new()
    }

    fn begin(&mut self) {
        (self.done, self.asked, self.answered, self.wrong) = (0, false, false, false);
    }

    fn offers(&self) -> Offers {
        let offer = |step| Offer { step, through: Vec::new() };
        let moves =
            if self.asked { vec![offer(Move::Wait)] } else { vec![offer(Move::Send(TransitionId(7)))] };
        Offers { moves, may_observe: true }
    }

    fn stimulus(&mut self, number: TransitionId, _: &mut Choice<'_>) -> Option<Event> {
        assert_eq!(number, TransitionId(7), "the number of an offer comes back as it was");
        Some(Event::new("Ask", Vec::new()))
    }

    fn can_send(&mut self, stimulus: &Event) -> bool {
        !self.asked && stimulus.action == "Ask"
    }

    fn take(&mut self, what: &Occurrence) -> Judged {
        match what {
            Occurrence::Stimulus(_) => self.asked = true,
            Occurrence::Observation(event) if self.asked && !self.answered && event.action == "Value" => {
                self.answered = true;
                self.wrong = event.values[0] < Value::int(0);
            }
            Occurrence::Observation(event) => return Judged::alien(self.iosts(), event),
            Occurrence::Silence(_) if self.answered => {
                self.done += 1;
                (self.asked, self.answered) = (false, false);
            }
            Occurrence::Silence(time) => return Judged::Ends(Verdict::Fail, Cause::Silence(*time)),
            Occurrence::Delay(_) => {}
        }
        Judged::Followed(None)
    }

    fn verdict(&self) -> Option<Verdict> {
        match (self.wrong, self.done >= self.rounds) {
            (true, _) => Some(Verdict::Fail),
            (false, true) => Some(Verdict::Pass),
            (false, false) => None,
        }
    }

    fn shown(&self) -> ShownState {
        ShownState { place: format!("<asking,round {}>", self.done), data: Vec::new() }
    }

    fn specification_locations(&self) -> BTreeSet<&str> {
        ["asking"].into()
    }

    fn place(&self) -> &str {
        if self.answered { "quiet" } else { "" }
    }

    fn describe(&self, number: TransitionId) -> String {
        format!("offer {}", number.0)
    }

    fn why(&self, observed: Option<&Event>, _: Option<Verdict>) -> Reasons {
        let expected = observed.map(|event| format!("less than {event}"));
        Reasons { expected: expected.into_iter().collect(), ..Reasons::default() }
    }
}

/// Answers each question with the next of its values; nothing where there is none.
struct Counter {
    values: Vec<i64>,
    asked: usize,
    owes: bool,
}

impl Counter {
    fn new(values: &[i64]) -> Self {
        Counter { values: values.to_vec(), asked: 0, owes: false }
    }
}

impl Adapter for Counter {
    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        assert_eq!(session.iosts.name, "counter");
        (self.asked, self.owes) = (0, false);
        Ok(())
    }

    fn send(&mut self, _: &Event) -> Result<(), Failure> {
        (self.asked, self.owes) = (self.asked + 1, true);
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let value = self.asked.checked_sub(1).and_then(|at| self.values.get(at)).filter(|_| self.owes);
        match value {
            Some(value) => {
                self.owes = false;
                Ok(Received::Output(Event::new("Value", vec![Value::int(*value)])))
            }
            None => {
                std::thread::sleep(until.saturating_duration_since(Instant::now()));
                Ok(Received::Silence)
            }
        }
    }

    fn stop(&mut self) {}
}

const BRIEF: Duration = Duration::from_millis(2);

fn settings() -> Settings {
    let quiescence_at = [("quiet".to_owned(), BRIEF * 2)].into();
    Settings { quiescence: BRIEF, patience: BRIEF, quiescence_at, ..Settings::default() }
}

fn drive(judge: &mut dyn Judge, adapter: &mut dyn Adapter, strategy: Strategy<'_>) -> Run {
    TestSession { judge, settings: &settings(), adapter }.run(5, strategy)
}

fn happened(run: &Run) -> Vec<Occurrence> {
    run.trace.iter().map(|step| step.what.clone()).collect()
}

#[test]
fn the_tester_follows_a_judge_through_silence() {
    let mut toy = Toy::new(2);
    let strategies: [Strategy<'_>; 4] = [
        Strategy::random(),
        Strategy::Coverage(Default::default()),
        Strategy::plan(),
        Strategy::Ask(Box::new(|judge, moves| {
            assert_eq!(judge.describe(TransitionId(7)), "offer 7");
            Asked::Moves(moves.to_vec())
        })),
    ];
    for strategy in strategies {
        let run = drive(&mut toy, &mut Counter::new(&[1, 2]), strategy);
        assert_eq!(run.outcome, Outcome::Verdict(Verdict::Pass, Cause::Event));
        assert_eq!(run.end.place, "<asking,round 2>");
        let ask = Occurrence::Stimulus(Event::new("Ask", Vec::new()));
        let value = |of| Occurrence::Observation(Event::new("Value", vec![Value::int(of)]));
        // Silence lasts as long as the settings say for this place.
        let quiet = Occurrence::Silence(BRIEF * 2);
        let expected = [ask.clone(), value(1), quiet.clone(), ask, value(2), quiet];
        assert_eq!(happened(&run), expected);
        assert!(run.trace.iter().all(|step| step.transition.is_none()));
        assert_eq!(shown_states(&mut toy, &expected).last(), Some(&run.end));
        assert_eq!(shown_states(&mut toy, &expected).len(), 7);
    }
}

#[test]
fn what_silence_means_is_the_judges_to_say() {
    let run = drive(&mut Toy::new(2), &mut Counter::new(&[1]), Strategy::plan());
    assert_eq!(run.outcome, Outcome::Verdict(Verdict::Fail, Cause::Silence(BRIEF)));
    assert_eq!(run.trace.len(), 4, "what ends a run is its cause, and no step: {:?}", run.trace);
}

#[test]
fn a_record_tells_of_silence_and_delays() {
    let mut toy = Toy::new(1);
    let mut run = drive(&mut toy, &mut Counter::new(&[1]), Strategy::plan());
    let mut delay = run.trace[0].clone();
    delay.what = Occurrence::Delay(Duration::from_micros(1500));
    run.trace.insert(0, delay);
    let written = make_record(&mut toy, &run);
    let json = serde_json::to_value(&written).unwrap();
    let step = |at: usize| {
        let mut step = json["trace"][at].clone();
        step.as_object_mut().unwrap().remove("at_ms");
        step.to_string()
    };
    assert_eq!(step(0), r#"{"direction":"delay","ms":1.5}"#);
    assert_eq!(step(1), r#"{"direction":"stimulus","action":"Ask","values":{}}"#);
    assert_eq!(step(3), r#"{"direction":"silence","ms":4.0}"#);
    assert_eq!(read_record(json.to_string().as_bytes()).unwrap(), written);
    assert_eq!(written.trace.iter().filter(|step| step.is_delay()).count(), 2);
    assert_eq!(written.reason.location, "<asking,round 0>");
}

#[test]
fn a_run_of_any_judge_is_explained_replayed_and_shrunk() {
    let mut toy = Toy::new(5);
    let mut adapter = Counter::new(&[1, 2, -3]);
    let run = drive(&mut toy, &mut adapter, Strategy::plan());
    assert_eq!((run.outcome.name(), run.trace.len()), ("Fail", 8));
    let told = reason_of(&mut toy, &run);
    assert_eq!(
        (told.location.as_str(), told.expected),
        ("<asking,round 2>", vec!["less than Value(-3)".to_owned()])
    );
    // Waiting for quiescence is as long everywhere in a replay; what it lasted is part of the step.
    let settings = Settings { quiescence: BRIEF * 2, ..settings() };
    let again = TestSession { judge: &mut toy, settings: &settings, adapter: &mut adapter }.replay(&run);
    assert_eq!((again.diverged, again.run.outcome.name()), (None, "Fail"));
    let mut better = Counter::new(&[-1, -1, -1]);
    let mut seen = 0;
    let shrunk = shrink(
        &run,
        Shrink {
            session: TestSession { judge: &mut toy, settings: &settings, adapter: &mut better },
            budget: 40,
            time: Duration::from_secs(60),
            again: 2,
            seen: &mut |what| seen += usize::from(matches!(what, ShrinkProgress::Better(_))),
        },
    );
    assert_eq!((shrunk.run.trace.len(), shrunk.run.outcome.name()), (2, "Fail"));
    assert!(seen > 0);
}
