//! Goals of coverage on random finite systems against exact reachability (`tests/src/symbolic/cover.rs`).

use coreach_execution::coverage::{Item, Walked};
use coreach_model::SourceFile;
use coreach_model::reader::{Specification, read_specification};
use coreach_project::cover::{Criterion, Fate, Goal};
use coreach_tests::effort::cases;
use coreach_tests::generator::{Shape, generate};
use coreach_tests::symbolic::cover::{Seen, compare, found};
use coreach_tests::text;

pub fn shape() -> Shape {
    Shape {
        lively: 0,
        lookahead: 0,
        internal_steps: 25,
        companions: 50,
        arrays: 0,
        records: 0,
        variables: (1, 2),
        range: (2, 3),
        ..Shape::default()
    }
}

pub fn read(text: String) -> Option<Specification> {
    let file = SourceFile { name: "machine.yaml".to_owned(), text };
    read_specification(file.into()).ok().map(|(read, _)| read)
}

#[test]
fn goals_end_as_exact_reachability_says() {
    let mut seen = Seen::default();
    for seed in 0..cases(30, 120) {
        let Some(specification) = read(text::specification(&generate(seed, &shape()))) else { continue };
        // Every other one with paths that are continued.
        let steps = if seed.is_multiple_of(2) { 0 } else { 7 };
        compare(&specification, steps, &mut seen).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
    }
    println!("{seen:?}");
    assert!(
        seen.systems > 20 && seen.covered > 300 && seen.unreachable > 300 && seen.by_the_tree > 20,
        "{seen:?}"
    );
    // Precision: most purposes watch something, and most runs pass.
    assert!(seen.watching * 2 > seen.systems && seen.passed > seen.purposes, "{seen:?}");
    // What is missed is ambiguous: some other run has the same trace.
    assert!(seen.missed * 5 < seen.covered, "{seen:?}");
}

#[test]
fn an_item_that_only_a_path_of_internal_steps_meets_is_ambiguous_or_covered() {
    let text = "
iosts: machine
variables: { x: int }
initial: { location: A, condition: x == 0 }
inputs: { go: {} }
outputs: { done: { n: int } }
internals: [left, right]
transitions:
  - { from: A, on: go, to: B }
  - { from: B, on: left, to: C, assign: { x: 1 } }
  - { from: B, on: right, to: D, assign: { x: 2 } }
  - { from: C, on: done, when: n == x, to: A }
  - { from: D, on: done, when: n == x || n == 1, to: A }
";
    let specification = read(text.to_owned()).unwrap();
    let found = found(&specification, vec![Criterion::Transitions], 0);
    let status: Vec<bool> = found.goals.iter().map(|one| matches!(one.fate, Fate::Covered(_))).collect();
    // done(1) says nothing about the way; done(2) does, so `right` can be shown for certain, and `left`
    // cannot.
    assert_eq!(status, [true, false, true, false, true]);
    let items = Walked::alone(&specification.iosts);
    let Goal::Item(number) = found.goals[2].goal else { panic!() };
    assert!(matches!(items.parts[0].items.all()[number], Item::Transition(_)));
}

/// Precision: what is watched behind a goal needs a value that the answer before it need not have. Where it
/// has another one, nothing follows, and the goal was met all the same.
#[test]
fn a_purpose_passes_where_an_answer_leaves_nothing_to_watch() {
    for steps in [
        // The answer is watched: only what comes behind it shows the value that `a` assigns.
        "
  - { from: A, on: a, to: B, assign: { w: '1' } }
  - { from: B, on: y, when: q >= 0, to: C, assign: { v: q } }
  - { from: C, on: b, when: v == 1, to: D }
  - { from: D, on: z, when: q == w, to: A, assign: { w: '0', v: '0' } }
",
        // The answer is the goal.
        "
  - { from: A, on: a, to: B }
  - { from: B, on: y, to: C, assign: { v: q } }
  - { from: C, on: b, when: v >= 1, to: D }
  - { from: D, on: z, when: q == v, to: A, assign: { v: '0' } }
",
    ] {
        let text = format!(
            "
iosts: machine
variables: {{ v: 'int[0..3]', w: 'int[0..1]' }}
initial: {{ location: A, condition: v == 0 && w == 0 }}
inputs: {{ a: {{}}, b: {{}} }}
outputs: {{ y: {{ q: 'int[0..3]' }}, z: {{ q: 'int[0..3]' }} }}
transitions:{steps}"
        );
        let mut seen = Seen::default();
        compare(&read(text).unwrap(), 0, &mut seen).unwrap_or_else(|why| panic!("{why}"));
        assert!(seen.watching > 0 && seen.passed > 0, "{seen:?}");
    }
}

/// Soundness: nothing visible comes before an internal step's condition, so the first event asks for it.
#[test]
fn a_purpose_asks_for_the_condition_of_an_internal_step_at_the_beginning() {
    let text = "
iosts: machine
constants: { c: 'int[0..1]' }
variables: { v: 'int[0..1]' }
initial: { location: A, condition: v == c }
outputs: { tell: { p: 'int[0..1]' } }
internals: [step]
transitions:
  - { from: A, on: step, when: v != 1, to: B }
  - { from: A, on: tell, to: B }
";
    let mut seen = Seen::default();
    compare(&read(text.to_owned()).unwrap(), 0, &mut seen).unwrap_or_else(|why| panic!("{why}"));
    assert!(seen.purposes > 0 && seen.passed > 0, "{seen:?}");
}
