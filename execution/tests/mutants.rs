//! Mutants are models: each can be written, and is read back as it was.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeSet;
use std::time::Duration;

use coreach_execution::mutation::{
    Effort, Mutant, MutantStatus, MutationOperator, count_visits, judge_mutant, list_edits, mutants,
};
use coreach_execution::{Settings, TestCase};
use coreach_model::Iosts;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::writer::write_yaml;

/// Records and arrays as variables, parameters and parts of one another; and an action of the name that a
/// mutant would give.
const MODEL: &str = "
iosts: m
types:
  Drink: [TEA, COFFEE]
  Pair: { full: bool, drink: Drink }
  Shelf: { pair: Pair, cells: \"array[Drink] of bool\" }
locations: [A, B, C]
variables:
  pair: Pair
  shelf: Shelf
  stock: \"array[Drink] of int[0..3]\"
  wide: \"array[int[0..1000000000]] of int\"
  count: nat
  spare: nat
initial:
  location: A
  condition: pair.full && stock[TEA] == 1 && count == 0 && spare == 0
inputs:
  Put: { p: Pair, n: int }
outputs:
  Show: { p: Pair }
  List: { l: \"array[Drink] of int[0..3]\", w: \"array[int[0..1000000000]] of int\" }
  Tell: { d: Drink, n: nat }
internals: [mutation, mutation_1]
transitions:
  - { from: A, to: B, on: Put, assign: { pair: p, stock: \"stock[p.drink := 2]\", count: count + 1 } }
  - { from: B, to: A, on: Show, when: p == pair && p.drink == TEA }
  - { from: B, to: A, on: List, when: \"l == stock && w == wide\" }
  - { from: A, to: A, on: Tell, when: d == shelf.pair.drink && n == count, assign: { shelf: shelf } }
  - { from: A, to: B, on: mutation, when: count > 3 }
  - { from: B, to: C, on: mutation_1 }
";

#[test]
fn a_mutant_that_is_written_can_be_read() {
    let read = |text: &str| {
        let file = from_bytes("m.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
        match read_specification(file) {
            Ok((specification, _)) => Some(specification),
            // A silent step more may close a cycle of them, which no specification may have.
            Err(found) if found.iter().all(|one| !one.is_error() || one.code == "livelock") => None,
            Err(found) => panic!("{found:?}\n{text}"),
        }
    };
    let specification = read(MODEL).unwrap();
    let mut made = BTreeSet::new();
    for seed in 0..6 {
        for mutant in mutants(&specification.iosts, 200, seed) {
            let text = write_yaml(&mutant.iosts, &specification.types);
            let Some(back) = read(&text).map(|back| back.iosts) else { continue };
            assert_eq!(back.initial_condition, mutant.iosts.initial_condition, "{}\n{text}", mutant.change);
            let parts = |iosts: &Iosts| {
                let part = |t: &coreach_model::iosts::Transition| {
                    (iosts.describe(t), t.guard.clone(), t.assignments.clone())
                };
                iosts.transitions.iter().map(part).collect::<Vec<_>>()
            };
            assert_eq!(parts(&back), parts(&mutant.iosts), "{}\n{text}", mutant.change);
            made.insert(mutant.operator);
        }
    }
    let all: BTreeSet<MutationOperator> = MutationOperator::ALL.iter().copied().collect();
    assert_eq!(made, all, "an operator that made nothing was not tried");
}

/// Where only one of two possible states takes an input, the specification fails its own test: it ignores the
/// input in the other one.
#[test]
fn what_the_specification_does_itself_kills_no_mutant() {
    let text = include_str!("data/refusing.yaml");
    let read = |text: String| {
        read_specification(from_bytes("refusing".to_owned(), text.into_bytes()).unwrap()).unwrap().0.iosts
    };
    let specification = read(text.to_owned());
    let tests = [TestCase::from_json(include_bytes!("data/refusing.json")).unwrap()];
    let short = Duration::from_millis(1);
    let settings = Settings { quiescence: short, patience: short, ..Settings::default() };
    let effort = Effort { mutants: 1, runs: 30, walks: 30, depth: 8, seed: 1, settings };
    let fate = |iosts: Iosts| {
        let mutant =
            Mutant { operator: MutationOperator::ALL[0], change: String::new(), transition: None, iosts };
        judge_mutant(&specification, &tests, mutant, &count_visits(&specification, &tests, &effort), &effort)
            .fate
    };
    assert_eq!(fate(specification.clone()), MutantStatus::Equivalent);
    // What it never does kills as before.
    let right = "{ from: Chosen, to: Done, on: Yes }";
    assert!(text.contains(right));
    let wrong = read(text.replace(right, "{ from: Chosen, to: Done, on: Again }"));
    assert_eq!(fate(wrong), MutantStatus::Equivalent, "it says nothing wrong");
    let wrong = text.replace("{ from: Idle, to: Open, on: Ask }", "{ from: Idle, to: Chosen, on: Ask }");
    let fate = fate(read(wrong));
    assert!(matches!(fate, MutantStatus::Killed { .. }), "{fate:?}");
}

/// Precision: what is written in other words is no mutant. Soundness: each mutant says where it differs.
#[test]
fn no_mutant_is_the_specification_in_other_words() {
    let text = "
iosts: m
variables: { v: 'int[0..3]', w: nat }
initial: { location: A, condition: v == 0 && w == 0 }
inputs: { Up: { p: nat } }
outputs: { Ok: {} }
transitions:
  - { from: A, to: B, on: Up, when: 'p >= 0 && v < 3', assign: { v: v + 1 } }
  - { from: B, to: A, on: Ok, when: 'w >= 0', assign: { w: 0 } }
";
    let file = from_bytes("m.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
    let specification = read_specification(file).unwrap().0.iosts;
    let all = mutants(&specification, 200, 1);
    assert!(all.len() > 20, "{}", all.len());
    for mutant in &all {
        let edits = list_edits(&specification, &mutant.iosts);
        let told: Vec<(Option<usize>, &str, &str)> = edits
            .iter()
            .map(|edit| (edit.place.as_ref().map(|(_, line)| *line), edit.old.as_str(), edit.new.as_str()))
            .collect();
        assert!(!told.is_empty() || mutant.operator.name() == "internal step added", "{mutant:?}");
        assert!(told.iter().all(|(_, old, new)| old != new), "{told:?}");
        // That a natural number is not negative says nothing.
        for (old, new) in [("when: p >= 0 && v < 3", "when: v < 3"), ("when: w >= 0", "")] {
            assert!(!told.iter().any(|(_, a, b)| *a == old && *b == new), "{told:?}");
        }
    }
    let edits: Vec<_> = all.iter().flat_map(|one| list_edits(&specification, &one.iosts)).collect();
    let is_there = |line, old: &str, new: &str| {
        let place = Some(("m.yaml".to_owned(), line));
        edits.iter().any(|edit| edit.place == place && edit.old == old && edit.new == new)
    };
    assert!(is_there(8, "assign: { v: v + 1 }", ""), "{edits:#?}");
    assert!(is_there(9, "to: A", "to: B"), "{edits:#?}");
}
