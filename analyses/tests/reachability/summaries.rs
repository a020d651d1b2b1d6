//! *Precision*: what the cells of an array have in common is a fact, and it is proved without the analysis.

use coreach_analyses::inductive::chain;
use coreach_analyses::solver::must_hold;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{Analysis, DomainKind, Facts, analyse};
use coreach_model::reader::read_specification;
use coreach_model::{Iosts, SourceFile};

/// Declarations and transitions of a model whose runs are to come to `Done`, and what is said of `Middle`
/// when one cell stands for all.
const CASES: [(&str, &str, &str); 8] = [
    (
        "the greatest of what was put there",
        "
variables: { a: 'array[int[0..5]] of int', m: int, i: nat }
initial: { location: Begin, condition: 'm == 0 && i == 0 && all k in 0 .. 5: a[k] == 0' }
transitions:
  - { from: Begin, on: Set(p), to: Middle }
  - { from: Middle, on: Set(p), to: Middle, when: i < 6 && p > m, assign: { a: 'a[i := p]', m: p, i: i + 1 } }
  - { from: Middle, on: Go, to: Done, when: 'a[2] > m' }",
        "false",
    ),
    (
        "flags, and literals of two, are digits",
        "
types: { Colour: [RED, GREEN], Slot: 'int[0..5]' }
variables: { a: 'array[Slot] of bool', c: 'array[Slot] of Colour', i: nat }
initial: { location: Begin, condition: 'i == 0 && (all k in Slot: !a[k]) && all k in Slot: c[k] == RED' }
transitions:
  - { from: Begin, on: Set(p), to: Middle }
  - { from: Middle, on: Set(p), to: Middle, when: i < 6, assign: { c: 'c[i := if p > 0 then RED else c[0]]', i: i + 1 } }
  - { from: Middle, on: Go, to: Done, when: 'a[2] || c[3] == GREEN' }",
        "false",
    ),
    (
        "records and lengths of strings",
        "
types: { Job: { size: int, name: string } }
variables: { a: 'array[int[0..5]] of Job', i: nat }
initial: { location: Begin, condition: 'i == 0 && all k in 0 .. 5: a[k] == { size: 0, name: \"\" }' }
transitions:
  - { from: Begin, on: Set(p), to: Middle }
  - { from: Middle, on: Set(p), to: Middle, when: i < 6 && 0 <= p && p <= 9, assign: { a: 'a[i := { size: p, name: \"x\" }]', i: i + 1 } }
  - { from: Middle, on: Go, to: Done, when: 'a[2].size > 9 || len(a[2].name) > 1' }",
        "false",
    ),
    (
        "cells at one index are related",
        "
variables: { a: 'array[int[0..5]] of int', b: 'array[int[0..5]] of int', i: nat }
initial: { location: Begin, condition: 'i == 0 && (all k in 0 .. 5: a[k] == 0) && all k in 0 .. 5: b[k] == 0' }
transitions:
  - { from: Begin, on: Set(p), to: Middle }
  - { from: Middle, on: Set(p), to: Middle, when: i < 6, assign: { a: 'a[i := p]', b: 'b[i := p + 1]', i: i + 1 } }
  - { from: Middle, on: Go, to: Done, when: 'a[2] > b[2]' }",
        "false",
    ),
    (
        "a copy, and all of it at once",
        "
variables: { a: 'array[int[0..5]] of int', b: 'array[int[0..5]] of int' }
initial: { location: Begin, condition: '(all k in 0 .. 5: a[k] == 3) && b == a' }
transitions:
  - { from: Begin, on: Set(p), to: Middle, assign: { b: '[5 for all]', a: b } }
  - { from: Middle, on: Set(p), to: Middle, assign: { a: 'b' } }
  - { from: Middle, on: Go, to: Done, when: 'a[2] < 3 || b[2] != 5' }",
        "false",
    ),
    (
        "what is read goes on into another number",
        "
variables: { a: 'array[int[0..5]] of int', x: int }
initial: { location: Begin, condition: 'x == 0 && all k in 0 .. 5: a[k] == 0' }
transitions:
  - { from: Begin, on: Set(p), to: Middle }
  - { from: Middle, on: Set(p), to: Middle, when: '0 <= p && p <= 5', assign: { a: 'a[p := x]', x: 'a[5 - p]' } }
  - { from: Middle, on: Go, to: Done, when: x < 0 }",
        "false",
    ),
    (
        "some cell is one cell, of which several things are said",
        "
variables: { a: 'array[int[0..5]] of int', b: 'array[int[0..5]] of int', i: nat }
initial: { location: Begin, condition: 'i == 0 && (all k in 0 .. 5: a[k] == 0) && all k in 0 .. 5: b[k] == 0' }
transitions:
  - { from: Begin, on: Set(p), to: Middle }
  - { from: Middle, on: Set(p), to: Middle, when: i < 6, assign: { a: 'a[i := p]', b: 'b[i := p]', i: i + 1 } }
  - { from: Middle, on: Go, to: Done, when: 'some k in 0 .. 5: a[k] > i && b[k] < i' }",
        "false",
    ),
    (
        "what is said of the way on",
        "
variables: { a: 'array[int[0..4]] of int', i: nat }
initial: { location: Begin, condition: 'i == 0 && all k in 0 .. 4: a[k] == 0' }
transitions:
  - { from: Begin, on: Set(p), to: Middle, when: p > 0, assign: { a: 'a[0 := p]' } }
  - { from: Middle, on: Go, to: Done, when: 'all k in 0 .. 4: a[k] < 3' }",
        "i == 0 && a[0] >= 0 && a[1] >= 0 && a[2] >= 0 && a[3] >= 0 && a[4] >= 0 && \
         a[0] <= 2 && a[1] <= 2 && a[2] <= 2 && a[3] <= 2 && a[4] <= 2",
    ),
];

fn model(text: &str) -> Iosts {
    let rest = "
iosts: m
inputs: { Set: { p: int } }
outputs: { Go: {} }
locations: [Begin, Middle, Done]";
    let file = SourceFile { name: "model.yaml".into(), text: format!("{rest}{text}\n") };
    let read = read_specification(file.into());
    read.unwrap_or_else(|found| panic!("{text}: {found:?}")).0.iosts
}

/// What is known of `Middle`, where a run is to go on to `Done`; proved.
fn middle(iosts: &Iosts, options: &Analysis) -> String {
    let accepting: Vec<bool> = iosts.locations.iter().map(|location| location.label == "Done").collect();
    let Facts { coreach, chain: proof, .. } = analyse(iosts, &accepting, options);
    let mut solver = Z3Solver::default();
    for obligation in chain(iosts, &accepting, &proof, &coreach) {
        assert!(must_hold(&mut solver, &obligation.premises, &obligation.conclusion), "{obligation:?}");
    }
    coreach[1].to_string()
}

#[test]
fn precise_what_cells_have_in_common() {
    for (name, text, expected) in CASES {
        let iosts = model(text);
        for disjuncts in [1, 4] {
            let options = Analysis { disjuncts, ..Analysis::default() };
            assert_eq!(middle(&iosts, &options), expected, "{name}, {disjuncts}");
        }
        let none = Analysis { arrays: Analysis::default().arrays.without_summaries(), ..Analysis::default() };
        assert_ne!(middle(&iosts, &none), expected, "{name}, without summaries");
    }
}

/// *Soundness*: of arrays with many cells nothing is said by the one that stands for all where a part only
/// is changed.
#[test]
fn sound_one_cell_is_not_all() {
    let text = "
variables: { a: 'array[int[0..5]] of int', i: nat }
initial: { location: Begin, condition: 'i == 0 && all k in 0 .. 5: a[k] == 0' }
transitions:
  - { from: Begin, on: Set(p), to: Middle, assign: { a: 'a[3 := 1]' } }
  - { from: Middle, on: Go, to: Done, when: 'a[2] == 0 && a[3] == 1 && a[4] != 1' }";
    let other = text.replace(
        "a[2] == 0 && a[3] == 1 && a[4] != 1",
        "(some k in 0 .. 5: a[k] == 0) && some k in 0 .. 5: a[k] == 1",
    );
    for domain in DomainKind::ALL {
        for text in [text, &other] {
            let fact = middle(&model(text), &Analysis { domain: *domain, ..Analysis::default() });
            assert_ne!(fact, "false", "{domain}");
        }
    }
}
