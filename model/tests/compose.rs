//! Composition: Figure 5.1 of the thesis, mistakes, and traces against parts that are followed one by one.

use std::collections::BTreeSet;

use coreach_model::compose::{Incompatible, Unhidden, compose, hide};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::{Event, State, initial_states, internal_closure, step};
use coreach_model::term::evaluate::Valuation;
use coreach_model::value::tuples;
use coreach_model::{ActionKind, Iosts, Value};

fn read(text: &str) -> Iosts {
    let file = from_bytes("part.yaml".to_owned(), text.as_bytes().to_vec());
    let file = file.unwrap_or_else(|found| panic!("{found:?}"));
    read_specification(file).unwrap_or_else(|found| panic!("{found:?}")).0.iosts
}

const A1: &str = "\
iosts: a1
constants: { c1: int }
variables: { x: int }
initial: { location: l0, condition: c1 >= 0 && x == 0 }
inputs: { EnterNumber: { p1: int } }
outputs: { Result: { r1: int } }
internals: [tau1]
transitions:
  - { from: l0, to: l1, on: EnterNumber, when: p1 >= 0, assign: { x: p1 } }
  - { from: l1, to: l2, on: tau1, assign: { x: x + 1 } }
  - { from: l2, to: l0, on: Result, when: r1 <= x }
  - { from: l0, to: l0, on: Result, when: r1 < 0 }
";

const A2: &str = "\
iosts: a2
constants: { c2: int }
variables: { y: int }
initial: { location: k0, condition: c2 <= 0 && y == 0 }
inputs: { Result: { r2: int } }
outputs: { EnterNumber: { p2: int } }
internals: [tau2]
transitions:
  - { from: k0, to: k1, on: EnterNumber, when: p2 <= 0, assign: { y: p2 } }
  - { from: k1, to: k2, on: tau2, assign: { y: y - 1 } }
  - { from: k2, to: k0, on: Result, when: r2 >= y }
";

/// Soundness: Example 5.1, Figure 5.1 (p. 101-102).
#[test]
fn the_parts_of_figure_5_1() {
    let whole = compose("a", &read(A1), &read(A2)).unwrap();
    let names = |kind: ActionKind| -> Vec<&str> {
        whole.actions.iter().filter(|action| action.kind == kind).map(|action| action.name.as_str()).collect()
    };
    assert_eq!(names(ActionKind::Input), [""; 0]);
    assert_eq!(names(ActionKind::Output), ["EnterNumber", "Result"]);
    assert_eq!(names(ActionKind::Internal), ["tau1", "tau2"]);
    assert_eq!(whole.initial_condition.to_string(), "c1 >= 0 && x == 0 && c2 <= 0 && y == 0");
    let told: Vec<String> = whole
        .transitions
        .iter()
        .map(|t| {
            let assigned: Vec<String> =
                t.assignments.iter().map(|(v, value)| format!("{v} := {value}")).collect();
            format!("{} [{}] {{{}}}", whole.describe(t), t.guard, assigned.join(", "))
        })
        .collect();
    assert_eq!(
        told,
        [
            "<l0,k0> -EnterNumber-> <l1,k1> [p1 >= 0 && p1 <= 0] {x := p1, y := p1}",
            "<l1,k1> -tau1-> <l2,k1> [true] {x := x + 1}",
            "<l1,k1> -tau2-> <l1,k2> [true] {y := y - 1}",
            "<l2,k1> -tau2-> <l2,k2> [true] {y := y - 1}",
            "<l1,k2> -tau1-> <l2,k2> [true] {x := x + 1}",
            "<l2,k2> -Result-> <l0,k0> [r1 <= x && r1 >= y] {}",
        ]
    );
}

const LEFT: &str = "\
iosts: left
variables: { a: 'int[0..2]' }
initial: { location: A, condition: a == 0 }
inputs: { Go: { n: 'int[0..2]' }, Back: {} }
outputs: { Pass: { m: 'int[0..2]' }, Told: { t: 'int[0..2]' } }
transitions:
  - { from: A, to: B, on: Go, assign: { a: n } }
  - { from: B, to: C, on: Pass, when: m == a }
  - { from: B, to: C, on: Pass, when: m == 0 && a == 2 }
  - { from: C, to: A, on: Back }
  - { from: A, to: A, on: Told, when: t == a }
";

const RIGHT: &str = "\
iosts: right
variables: { b: 'int[0..2]' }
initial: { location: X, condition: b == 1 }
inputs: { Pass: { k: 'int[0..2]' }, Go: { j: 'int[0..2]' } }
outputs: { Back: {}, Seen: { s: 'int[0..2]' } }
transitions:
  - { from: X, to: X, on: Go, when: j >= b }
  - { from: X, to: Y, on: Pass, when: k <= b, assign: { b: k } }
  - { from: X, to: X, on: Pass, when: k == 2 }
  - { from: Y, to: X, on: Back, assign: { b: '1' } }
  - { from: X, to: X, on: Seen, when: s == b }
";

/// Soundness: on all traces of some length the whole can do what its parts can do together, hidden actions
/// included.
#[test]
fn a_composition_does_what_its_parts_do_together() {
    let (left, right) = (read(LEFT), read(RIGHT));
    let whole = compose("whole", &left, &right).unwrap();
    let quiet = hide(&whole, &["Pass".to_owned(), "Back".to_owned()]).unwrap();
    let start = |iosts: &Iosts| -> State {
        initial_states(iosts, &Valuation::new(), 100).unwrap().into_iter().next().unwrap()
    };
    let hidden = ["Pass", "Back"];
    let events = |name: &str| -> Vec<Event> {
        let action = whole.actions.iter().find(|action| action.name == name).unwrap();
        let lists: Vec<Vec<Value>> =
            action.parameters.iter().map(|p| Value::enumerate(p.ty(), 10).unwrap()).collect();
        tuples(&lists).into_iter().map(|values| Event::new(name, values)).collect()
    };
    type Pair = (State, State);
    // What has the action takes part in it; the other stands still.
    let together = |(l, r): &Pair, event: &Event| -> Vec<Pair> {
        let next = |iosts: &Iosts, state: &State| -> Vec<State> {
            match iosts.find_action(&event.action) {
                Some(_) => step(iosts, state, event).into_iter().collect(),
                None => vec![state.clone()],
            }
        };
        let right_next = next(&right, r);
        next(&left, l)
            .into_iter()
            .flat_map(|l| right_next.iter().map(move |r| (l.clone(), r.clone())))
            .collect()
    };
    let unseen = |pairs: BTreeSet<Pair>| -> BTreeSet<Pair> {
        let mut all = pairs.clone();
        let mut work: Vec<Pair> = pairs.into_iter().collect();
        while let Some(pair) = work.pop() {
            for event in hidden.iter().flat_map(|name| events(name)) {
                for next in together(&pair, &event) {
                    if all.insert(next.clone()) {
                        work.push(next);
                    }
                }
            }
        }
        all
    };
    let pairs = unseen([(start(&left), start(&right))].into());
    let states = internal_closure(&quiet, [start(&quiet)].into());
    let mut front = vec![(pairs, states)];
    let (mut followed, mut refused) = (0, 0);
    for _ in 0..4 {
        let mut next = Vec::new();
        for (pairs, states) in &front {
            for event in ["Go", "Told", "Seen"].iter().flat_map(|name| events(name)) {
                let after_pairs = unseen(pairs.iter().flat_map(|pair| together(pair, &event)).collect());
                let after = states.iter().flat_map(|state| step(&quiet, state, &event)).collect();
                let after = internal_closure(&quiet, after);
                let data = |state: &State| state.valuation.clone();
                let one: BTreeSet<Valuation> =
                    after_pairs.iter().map(|(l, r)| data(l).into_iter().chain(data(r)).collect()).collect();
                let other: BTreeSet<Valuation> = after.iter().map(data).collect();
                assert_eq!(one, other, "{event}");
                assert_eq!(after_pairs.len(), after.len(), "{event}");
                if after.is_empty() {
                    refused += 1;
                } else {
                    followed += 1;
                    next.push((after_pairs, after));
                }
            }
        }
        next.sort();
        next.dedup();
        front = next;
    }
    assert!(followed > 30 && refused > 10, "{followed} {refused}");
}

#[test]
fn what_does_not_go_together_is_told() {
    let found = |text: &str| compose("w", &read(LEFT), &read(text)).unwrap_err();
    assert_eq!(found(&RIGHT.replace("Seen", "Told")), [Incompatible::BothSend("Told".to_owned())]);
    assert_eq!(
        found(&RIGHT.replace("Pass: { k: 'int[0..2]' }", "Pass: { k: 'int[0..3]' }")),
        [Incompatible::Signatures("Pass".to_owned(), "int[0..2]".to_owned(), "int[0..3]".to_owned())]
    );
    let renamed = RIGHT.replace("{ b: 'int[0..2]' }", "{ a: 'int[0..2]' }").replace("b == 1", "a == 1");
    let renamed = renamed
        .replace(">= b", ">= a")
        .replace("<= b", "<= a")
        .replace("{ b:", "{ a:")
        .replace("== b", "== a");
    assert_eq!(found(&renamed), [Incompatible::SameName("a".to_owned())]);
    let inner =
        RIGHT.replace("transitions:", "internals: [Told]\ntransitions:\n  - { from: Y, to: X, on: Told }");
    assert_eq!(found(&inner), [Incompatible::InternalAndVisible("Told".to_owned())]);
}

#[test]
fn what_cannot_be_hidden_is_told() {
    let open = RIGHT.replace("Seen: { s: 'int[0..2]' }", "Seen: { s: int }").replace("s == b", "s >= b");
    let found = hide(&read(&open), &["Seen".to_owned(), "Go".to_owned()]).unwrap_err();
    assert_eq!(found[0], Unhidden::NoOutput("Go".to_owned()));
    assert!(matches!(&found[1], Unhidden::Open(_, parameter) if parameter == "s"), "{found:?}");
    // Few values are written out.
    let few = RIGHT.replace("s == b", "s >= b");
    assert_eq!(hide(&read(&few), &["Seen".to_owned()]).unwrap().transitions.len(), 7);
}
