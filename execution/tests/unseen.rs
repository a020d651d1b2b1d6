//! Judging by formulas, where what nobody sees adds up: more states than can be followed one by one.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use coreach_execution::Judge;
use coreach_execution::initial;
use coreach_execution::judge::Judged;
use coreach_execution::lazy::Lazy;
use coreach_execution::monitor::Monitor;
use coreach_execution::run::{Cause, Occurrence};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::Event;
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Iosts, Value, Verdict};

/// Each `Tick` adds, and each `Twice` doubles, by a choice that nobody sees; `Tell` says what has become of
/// it.
const MODEL: &str = "
iosts: unseen
variables: { x: int, y: int, z: int }
initial: { location: A, condition: x == 0 && y == 0 && z == 0 }
inputs: { Tick: {}, Twice: {}, Ask: {}, Above: { least: int }, Within: { most: int } }
outputs: { Tell: { n: int }, Even: {} }
internals: [tau]
transitions:
  - { from: A, to: T, on: Tick }
  - { from: T, to: A, on: tau, assign: { x: x + 1 } }
  - { from: T, to: A, on: tau, assign: { x: x + 3, y: y + 1 } }
  - { from: A, to: A, on: Twice, assign: { z: 2 * z } }
  - { from: A, to: A, on: Twice, assign: { z: 2 * z + 1 } }
  - { from: A, to: B, on: Ask }
  - { from: A, to: A, on: Above, when: x >= least }
  - { from: A, to: A, on: Within, when: x + z <= most }
  - { from: B, to: A, on: Tell, when: n == x }
  - { from: B, to: A, on: Tell, when: n == y }
  - { from: B, to: A, on: Tell, when: n == -1 - z }
  - { from: B, to: A, on: Even, when: x == 2 * y }
";

fn model() -> Iosts {
    read_specification(from_bytes("unseen".to_owned(), MODEL.as_bytes().to_vec()).unwrap()).unwrap().0.iosts
}

fn send(judge: &mut Monitor<'_>, action: &str, values: &[i64]) -> Judged {
    judge.take(&Occurrence::Stimulus(event(action, values)))
}

fn event(action: &str, values: &[i64]) -> Event {
    Event::new(action, values.iter().map(|value| Value::Int((*value).into())))
}

/// What an observation is worth here; the judge stays where it is.
fn told(judge: &Monitor<'_>, action: &str, values: &[i64]) -> Option<Verdict> {
    let mut judge = judge.clone();
    assert_eq!(judge.take(&Occurrence::Observation(event(action, values))), Judged::Followed(None));
    judge.verdict()
}

/// soundness: what can be is never a Fail; precise: what cannot be is one, of more states than are followed
/// one by one.
#[test]
fn where_unseen_choices_add_up_there_is_no_wall() {
    let iosts = model();
    let states = initial::states(&iosts, &Valuation::new(), 8, &mut Lazy::default()).unwrap();
    let mut judge = Monitor::new(&iosts, states.into_iter().collect());
    for _ in 0..40 {
        assert_eq!(send(&mut judge, "Tick", &[]), Judged::Followed(None));
        assert_eq!(send(&mut judge, "Twice", &[]), Judged::Followed(None));
    }
    assert!(!judge.are_all(), "the states are {}", judge.states().len());
    assert_eq!(send(&mut judge, "Ask", &[]), Judged::Followed(None));
    // y is the number of ticks that added three, x is 40 more than twice that, and z is below 2^40.
    for possible in [0, 39, 40, 42, 120, -1, -12_345_678, -(1 << 40)] {
        assert_eq!(told(&judge, "Tell", &[possible]), None, "{possible}");
    }
    for impossible in [41, 43, 119, 121, 122, -1 - (1 << 40)] {
        assert_eq!(told(&judge, "Tell", &[impossible]), Some(Verdict::Fail), "{impossible}");
    }
    // x and y are known together.
    assert_eq!(told(&judge, "Even", &[]), Some(Verdict::Fail));
    // It was x that was told, and y is 0; or it was y, and x is 120.
    judge.take(&Occurrence::Observation(event("Tell", &[40])));
    assert_eq!((judge.verdict(), data(&judge)), (None, String::new()));
    assert!(!judge.can_send(&event("Above", &[121])));
    // So it was y. Nothing has told of z.
    assert_eq!(send(&mut judge, "Above", &[41]), Judged::Followed(None));
    assert_eq!(data(&judge), "x=120 y=40");
}

/// What is known to have one value.
fn data(judge: &Monitor<'_>) -> String {
    let values: Vec<String> =
        judge.shown().data.iter().map(|(datum, value)| format!("{datum}={value}")).collect();
    values.join(" ")
}

/// soundness: what an input asks of unseen data is asked of all that they may be.
#[test]
fn an_input_leaves_what_it_allows() {
    let iosts = model();
    let states = initial::states(&iosts, &Valuation::new(), 8, &mut Lazy::default()).unwrap();
    let mut judge = Monitor::new(&iosts, states.into_iter().collect()).gathering_beyond(1);
    for _ in 0..20 {
        send(&mut judge, "Tick", &[]);
    }
    assert!(judge.can_send(&event("Above", &[60])));
    assert!(!judge.can_send(&event("Above", &[61])));
    assert_eq!(send(&mut judge, "Above", &[61]), Judged::Ends(Verdict::Inconclusive, Cause::Unspecified));
    send(&mut judge, "Above", &[60]);
    // One is left: it is a state again, and y is known as well.
    assert!(judge.are_all());
    assert_eq!(data(&judge), "x=60 y=20 z=0");
    judge.begin();
    assert_eq!(send(&mut judge, "Above", &[1]), Judged::Ends(Verdict::Inconclusive, Cause::Unspecified));
}

/// soundness: a guard over two sums cuts through both.
#[test]
fn a_guard_over_several_sums_leaves_what_it_allows() {
    let iosts = model();
    let states = initial::states(&iosts, &Valuation::new(), 8, &mut Lazy::default()).unwrap();
    let mut judge = Monitor::new(&iosts, states.into_iter().collect()).gathering_beyond(1);
    for _ in 0..5 {
        send(&mut judge, "Tick", &[]);
        send(&mut judge, "Twice", &[]);
    }
    // x is 5, 7, .. 15, and z up to 31; then x is 5 and z up to 5, 7 and up to 3, or 9 and up to 1.
    assert_eq!(send(&mut judge, "Within", &[10]), Judged::Followed(None));
    send(&mut judge, "Ask", &[]);
    for possible in [5, 7, 9, -1, -6] {
        assert_eq!(told(&judge, "Tell", &[possible]), None, "{possible}");
    }
    for impossible in [6, 11, 15, -7, -32] {
        assert_eq!(told(&judge, "Tell", &[impossible]), Some(Verdict::Fail), "{impossible}");
    }
    judge.take(&Occurrence::Observation(event("Tell", &[-6])));
    assert_eq!(data(&judge), "x=5 y=0 z=5");
}
