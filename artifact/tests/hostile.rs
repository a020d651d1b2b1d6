//! No document makes the reader panic, whatever stands in it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use coreach_artifact::document::{
    ActionEntry, AssignmentEntry, Counts, Document, FORMAT, FORMAT_VERSION, Generator, Initial,
    LocationEntry, Role, TransitionEntry,
};
use coreach_artifact::read::{parse_document, read_graph};
use coreach_artifact::terms::TermTable;
use coreach_artifact::types::TypeTable;
use coreach_artifact::{DocumentError, layout};
use coreach_model::{ActionKind, Datum, Term, TransitionId, Type, Verdict};
use serde_json::{Value as Json, json};

use crate::round::one_of_each;

/// A test case that mentions everything that a term can be.
fn small() -> Document {
    let (mut terms, mut types) = (TermTable::default(), TypeTable::default());
    let guard = Term::and(one_of_each());
    let variables: Vec<Datum> = guard.data().into_iter().collect();
    let at = |name: &str| variables.iter().position(|datum| datum.name() == name).unwrap();
    let [guard_number, always, value] = [guard, Term::yes(), Term::int(1)].map(|term| terms.number(&term));
    let variables_written = variables.iter().map(|datum| types.datum(datum)).collect();
    let parameter = types.datum(&Datum::new("pAmount", Type::Nat));
    let location = |name: &str, verdict| LocationEntry {
        name: name.to_owned(),
        label: format!("<{name}>"),
        description: None,
        mark: None,
        verdict,
        must_answer: Some(always),
        violates: None,
        origins: Default::default(),
        reach: Some(always),
        coreach: Some(always),
    };
    let action = |name: &str, kind, role, parameters| ActionEntry {
        name: name.to_owned(),
        kind,
        role: Some(role),
        controllable: None,
        parameters,
    };
    Document {
        format: FORMAT.to_owned(),
        format_version: FORMAT_VERSION,
        generator: Generator { name: "coreach".to_owned(), version: "0".to_owned() },
        stage: "test_case".to_owned(),
        name: "small".to_owned(),
        purpose: None,
        made_of: None,
        conjuncts: vec![guard_number],
        timed: None,
        counts: Counts { locations: 3, transitions: 3, pass: 1, inconclusive: 0, fail: 0 },
        purpose_reachable: Some(true),
        lookahead: Some(0),
        selection: None,
        imprecisions: Vec::new(),
        terms: terms.nodes(&mut types),
        types: types.nodes().to_vec(),
        constants: Vec::new(),
        variables: variables_written,
        actions: vec![
            action("Pay", ActionKind::Input, Role::Stimulus, vec![parameter]),
            action("Done", ActionKind::Output, Role::Observation, Vec::new()),
        ],
        initial: Initial { location: 0, condition: always },
        locations: vec![
            location("Idle", None),
            location("Paid", None),
            location("Pass", Some(Verdict::Pass)),
        ],
        transitions: vec![
            TransitionEntry {
                source: 0,
                target: 1,
                action: 0,
                guard: guard_number,
                assignments: vec![AssignmentEntry { variable: at("i"), value }],
            },
            TransitionEntry { source: 1, target: 2, action: 1, guard: always, assignments: Vec::new() },
            TransitionEntry { source: 0, target: 2, action: 1, guard: always, assignments: Vec::new() },
        ],
        others_fail: None,
        readable: None,
    }
}

fn read(json: &Json) -> Result<(), DocumentError> {
    let document = parse_document(json.to_string().as_bytes())?;
    read_graph(&document).map(drop)
}

#[test]
fn what_is_laid_out_is_read_as_the_same() {
    let small = small();
    let text = layout::to_text(&small);
    assert!(text.lines().all(|line| line.len() < 400), "{text}");
    assert_eq!(parse_document(text.as_bytes()).unwrap(), small);
    let graph = read_graph(&small).unwrap();
    assert_eq!(graph.iosts.transitions[TransitionId(0)].guard, Term::and(one_of_each()));
}

/// Each leaf and each list in turn is something else. It is refused or means something; it never panics.
#[test]
fn whatever_stands_at_a_place_is_refused_or_read() {
    let whole = json!(small());
    let mut pointers = Vec::new();
    places(&whole, String::new(), &mut pointers);
    let others = [
        json!(null),
        json!(-1),
        json!(0),
        json!(3),
        json!(1_000_000_000_000_u64),
        json!(1.5),
        json!(""),
        json!("x y"),
        json!("data"),
        json!([]),
        json!([0]),
        json!({}),
        json!(true),
    ];
    let (mut refused, mut taken) = (0, 0);
    for pointer in &pointers {
        for other in &others {
            let mut damaged = whole.clone();
            *damaged.pointer_mut(pointer).unwrap() = other.clone();
            match read(&damaged) {
                Ok(()) => taken += 1,
                Err(_) => refused += 1,
            }
        }
    }
    assert!(refused > 1_000 && taken > 100, "{refused} refused, {taken} taken");
}

fn places(json: &Json, at: String, found: &mut Vec<String>) {
    match json {
        Json::Array(items) => {
            items.iter().enumerate().for_each(|(number, item)| places(item, format!("{at}/{number}"), found))
        }
        Json::Object(members) => {
            members.iter().for_each(|(key, item)| places(item, format!("{at}/{key}"), found))
        }
        _ => {}
    }
    found.push(at);
}

#[test]
fn what_is_wrong_is_told_by_name() {
    let whole = json!(small());
    let at = |pointer: &str, other: Json| {
        let mut damaged = whole.clone();
        *damaged.pointer_mut(pointer).unwrap() = other;
        read(&damaged).unwrap_err().to_string()
    };
    for (pointer, other, message) in [
        ("/format", json!("other"), "`format` is not `coreach`"),
        ("/format_version", json!(4), "of an earlier release"),
        ("/format_version", json!(8), "this program reads 7"),
        ("/purpose_reachable", json!(false), "cannot be reached"),
        ("/locations/2/verdict", json!("maybe"), "`maybe`"),
        ("/locations/2/name", json!("Paid"), "`Paid`"),
        ("/variables/0/name", json!("a b"), "`a b` is not a name"),
        ("/transitions/0/source", json!(9), "the transition 0 names an unknown location"),
        ("/transitions/1/guard", json!(0), "the transition 1: its guard"),
        ("/initial/condition", json!(999), "the initial condition names an unknown term"),
        ("/terms/0", json!(["and", [3]]), "the term 0: `and`: a part is not an earlier term"),
        (
            "/types/0",
            json!({ "kind": "array", "index": 0, "element": 0 }),
            "the type 0: it names a later type",
        ),
    ] {
        let told = at(pointer, other);
        assert!(told.contains(message), "{pointer}: {told}");
    }
}
