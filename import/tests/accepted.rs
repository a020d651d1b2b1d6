//! Every recorded trace is a trace of what was learned of it, whatever was recorded and however much is
//! merged.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on may panic")]

use std::collections::BTreeSet;
use std::fmt::Write;
use std::sync::Arc;

use coreach_import::{Options, import};
use coreach_model::diagnostic::SourceFile;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::{Event, State, after, initial_states};
use coreach_model::{Iosts, Type, Value};
use proptest::prelude::*;

/// An event: which action, and two small numbers of which its values are made.
type Drawn = (usize, i64, i64);

/// The actions: name, direction, and what becomes of the numbers.
const ACTIONS: [(&str, &str); 5] = [
    ("ask", "stimulus"),
    ("set", "stimulus"),
    ("told", "observation"),
    ("is", "observation"),
    ("done", "observation"),
];

const WORDS: [&str; 4] = ["red", "blue", "if", "a b"];

fn values(event: &Drawn) -> String {
    let (action, a, b) = event;
    match ACTIONS[*action].0 {
        "ask" => format!("{{\"x\": {a}, \"c\": \"{}\"}}", WORDS[b.unsigned_abs() as usize % 4]),
        "set" => format!("{{\"r\": {}}}", if b % 2 == 0 { format!("{a}.5") } else { a.to_string() }),
        "told" => format!("{{\"x\": {a}, \"y\": {b}}}"),
        "is" => format!("{{\"on\": {}, \"c\": \"{}\"}}", a % 2 == 0, WORDS[b.unsigned_abs() as usize % 4]),
        _ => "{}".to_owned(),
    }
}

fn document(traces: &[Vec<Drawn>]) -> String {
    let mut text = String::new();
    for trace in traces {
        let events: Vec<String> = trace
            .iter()
            .map(|event| {
                let (name, direction) = ACTIONS[event.0];
                format!(
                    "{{\"action\": \"{name}\", \"direction\": \"{direction}\", \"values\": {}}}",
                    values(event)
                )
            })
            .collect();
        writeln!(text, "{{\"trace\": [{}]}}", events.join(", ")).unwrap();
    }
    text
}

/// The event as the specification has it: its values by the types that were found.
fn event(iosts: &Iosts, drawn: &Drawn) -> Event {
    let name = ACTIONS[drawn.0].0;
    let action = &iosts.action(iosts.find_action(name).unwrap());
    let (_, a, b) = drawn;
    let word = || WORDS[b.unsigned_abs() as usize % 4];
    let raw: Vec<(&str, String)> = match name {
        "ask" => vec![("x", a.to_string()), ("c", word().to_owned())],
        "set" => vec![("r", if b % 2 == 0 { format!("{a}.5") } else { a.to_string() })],
        "told" => vec![("x", a.to_string()), ("y", b.to_string())],
        "is" => vec![("on", (a % 2 == 0).to_string()), ("c", word().to_owned())],
        _ => Vec::new(),
    };
    let values = action.parameters.iter().zip(raw).map(|(parameter, (_, text))| match parameter.ty() {
        Type::Bool => Value::Bool(text == "true"),
        Type::Int => Value::int(text.parse::<i64>().unwrap()),
        Type::Real => Value::Real(coreach_model::number::number(&text, 100).unwrap()),
        Type::Enum(enumeration) => {
            let name = match text.as_str() {
                "if" => "if_",
                "a b" => "a_b",
                other => other,
            };
            Value::Enum(
                enumeration.clone(),
                enumeration.literals.iter().position(|literal| literal == name).unwrap(),
            )
        }
        other => panic!("{other}"),
    });
    Event::new(name, values)
}

fn learned(traces: &[Vec<Drawn>], tails: usize) -> Iosts {
    let file = Arc::new(SourceFile { name: "runs.jsonl".to_owned(), text: document(traces) });
    let (text, _) = import(file, None, &Options { tails, ..Options::default() }).unwrap();
    let file = from_bytes("learned.yaml".to_owned(), text.into_bytes()).unwrap();
    read_specification(file).unwrap().0.iosts
}

fn start(iosts: &Iosts) -> BTreeSet<State> {
    let states: BTreeSet<State> =
        initial_states(iosts, &Default::default(), 10).unwrap().into_iter().collect();
    assert_eq!(states.len(), 1, "the initial state is determined");
    states
}

fn drawn() -> impl Strategy<Value = Vec<Vec<Drawn>>> {
    // Few values, so that some are always the same and some are what others were.
    let event = (0..ACTIONS.len(), -1..3i64, 0..3i64);
    prop::collection::vec(prop::collection::vec(event, 0..14), 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn every_trace_is_accepted(traces in drawn(), tails in 0..5usize) {
        prop_assume!(traces.iter().any(|trace| !trace.is_empty()));
        let iosts = learned(&traces, tails);
        for trace in &traces {
            let events: Vec<Event> = trace.iter().map(|drawn| event(&iosts, drawn)).collect();
            prop_assert!(!after(&iosts, start(&iosts), &events).is_empty(), "{:?}", trace);
        }
    }

    #[test]
    fn what_was_learned_is_the_same_each_time(traces in drawn(), tails in 0..4usize) {
        prop_assume!(traces.iter().any(|trace| !trace.is_empty()));
        prop_assert_eq!(learned(&traces, tails), learned(&traces, tails));
    }
}

/// The guards do forbid something: what never was is not taken for what always was.
#[test]
fn another_value_than_what_was_asked_for_is_not_accepted() {
    let traces: Vec<Vec<Drawn>> = (0..3).map(|value| vec![(0, value, 0), (2, value, 1)]).collect();
    let iosts = learned(&traces, 2);
    let after_asking =
        |told: Drawn| after(&iosts, start(&iosts), &[event(&iosts, &(0, 7, 0)), event(&iosts, &told)]);
    assert!(!after_asking((2, 7, 1)).is_empty());
    assert!(after_asking((2, 8, 1)).is_empty());
    assert!(after_asking((2, 7, 2)).is_empty());
}
