//! The places of the specification, as runs are judged and told by them: what an IUT file says of a location
//! counts there, whatever the location is called for people, whatever the purpose, and whoever judges.

use std::thread::sleep;
use std::time::{Duration, Instant};

use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_execution::constants::initial_state;
use coreach_execution::explain::bucket_of;
use coreach_execution::lazy::Lazy;
use coreach_execution::{Run, Settings, Strategy, TestSession, judge};
use coreach_model::Verdict;
use coreach_model::semantics::Event;
use coreach_project::making::SILENT;
use coreach_project::{cases, iut};

use crate::programs::Folder;

const ASKING: &str = "
iosts: asking
locations: { Ready: {}, Right: { label: LABEL } }
initial: { location: Ready }
inputs: { Ask: {} }
outputs: { Answer: {} }
transitions:
  - { from: Ready, to: Right, on: Ask }
  - { from: Right, to: Ready, on: Answer }
";

/// What was asked does not show whether it will be right.
const CHOOSING: &str = "
iosts: asking
initial: { location: Ready }
inputs: { Ask: {} }
outputs: { Answer: {} }
transitions:
  - { from: Ready, to: Right, on: Ask }
  - { from: Ready, to: Left, on: Ask }
  - { from: Right, to: Ready, on: Answer }
  - { from: Left, to: Ready, on: Answer }
";

/// It goes where it may take its time without being seen.
const UNSEEN: &str = "
iosts: asking
initial: { location: Ready }
inputs: { Ask: {} }
outputs: { Answer: {} }
internals: [turn]
transitions:
  - { from: Ready, to: Left, on: Ask }
  - { from: Left, to: Right, on: turn }
  - { from: Right, to: Ready, on: Answer }
";

const ANSWERED: &str = "
purpose: answered
of: asking
initial: { location: Begin }
transitions:
  - { from: Begin, to: Accept, on: Answer }
";

const IUT: &str = "
iut: slow
simulated: { model: specification.yaml }
silence: fail
within: { all: 20 ms, locations: { Right: 4 s } }
";

/// It says one thing when asked, and not at once.
struct Slow {
    says: &'static str,
    at: Option<Instant>,
}

impl Adapter for Slow {
    fn start(&mut self, _: &Session<'_>) -> Result<(), Failure> {
        self.at = None;
        Ok(())
    }

    fn send(&mut self, _: &Event) -> Result<(), Failure> {
        self.at = Some(Instant::now() + Duration::from_millis(200));
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let comes = self.at.filter(|at| *at <= until);
        sleep(comes.unwrap_or(until).saturating_duration_since(Instant::now()));
        if comes.is_some() {
            self.at = None;
        }
        Ok(comes.map_or(Received::Silence, |_| Received::Output(Event::new(self.says.to_owned(), []))))
    }

    fn stop(&mut self) {}
}

/// A run of the slow system, and the place of its bucket.
fn slow_run(name: &str, specification: &str, judging: &str, says: &'static str) -> (Run, String) {
    let folder = Folder::new(&format!("places-{name}"));
    folder.file("specification.yaml", specification);
    folder.file("purpose.yaml", ANSWERED);
    let configuration =
        format!("specification: specification.yaml\npurpose: purpose.yaml\njudge: {judging}\n");
    let configuration = folder.file("coreach.yaml", &configuration);
    let case = cases::load(&configuration, None, SILENT).unwrap().cases.remove(0);
    let (iut, found) = iut::load(&folder.file("iut.yaml", IUT), case.test.wire()).unwrap();
    assert!(found.is_empty(), "{found:?}");
    let initial = initial_state(&case.test, &Default::default(), 1, &mut Lazy::default()).unwrap();
    let settings = Settings::default().against(&iut);
    let mut judge = judge::make_judge_for_iut(&case.test, initial, &iut, &settings);
    let run =
        TestSession { judge: judge.as_mut(), settings: &settings, adapter: &mut Slow { says, at: None } }
            .run(1, Strategy::Random { send: 1 });
    let place = bucket_of(judge.as_mut(), &run).place;
    (run, place)
}

fn passes(name: &str, specification: &str, judging: &str) {
    let (run, _) = slow_run(name, specification, judging, "Answer");
    assert_eq!(run.outcome.verdict(), Some(Verdict::Pass), "{name}: {:?}", run.outcome);
}

#[test]
fn a_location_with_words_for_people_has_its_time() {
    passes("label", &ASKING.replace("LABEL", "on the right"), "test_case");
    passes("comma", &ASKING.replace("LABEL", "'right, at last'"), "test_case");
    passes("long", &ASKING.replace("LABEL", &"r".repeat(120)), "test_case");
}

#[test]
fn of_several_locations_the_longest_time_counts_whoever_judges() {
    for judging in ["test_case", "online"] {
        passes(&format!("choosing-{judging}"), CHOOSING, judging);
        passes(&format!("unseen-{judging}"), UNSEEN, judging);
    }
}

#[test]
fn a_bucket_has_nothing_of_the_purpose() {
    let specification = ASKING.replace("LABEL", "'right, at last'");
    for judging in ["test_case", "online"] {
        let (run, place) = slow_run(&format!("bucket-{judging}"), &specification, judging, "Wrong");
        assert_eq!(run.outcome.verdict(), Some(Verdict::Fail), "{:?}", run.outcome);
        assert_eq!(place, "Right", "{judging}");
    }
}
