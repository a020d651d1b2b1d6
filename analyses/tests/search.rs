//! Ways to a goal where a graph's distances or path conditions alone get nowhere: counters, interleavings,
//! holes between integers. Against brute force the search is held by the property `plan` of `coreach-tests`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use coreach_analyses::condition::count_joined_parts;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::{SearchBound, SearchGoal, SearchLimits, SearchOutcome, Searcher};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::{Iosts, Term};

/// A model whose location `done` is the goal.
fn model(text: &str) -> Iosts {
    let file = from_bytes("model".to_owned(), text.as_bytes().to_vec()).unwrap();
    read_specification(file).unwrap().0.iosts
}

fn found(iosts: Iosts) -> SearchOutcome {
    found_within(iosts, SearchLimits::default())
}

fn found_within(iosts: Iosts, limits: SearchLimits) -> SearchOutcome {
    let goal = SearchGoal {
        locations: iosts.locations.map(|location| location.name == "done"),
        closed: iosts.locations.map(|_| false),
        risks: iosts.transitions.map(|_| 0),
    };
    Searcher::new(iosts, goal).from_start(&Term::yes(), &limits, &mut Z3Solver::default())
}

fn steps(text: &str) -> Option<usize> {
    match found(model(text)) {
        SearchOutcome::Path(way) => Some(way.steps.len()),
        SearchOutcome::None | SearchOutcome::NotFound(_) => None,
    }
}

/// Precision: each way is a shortest one.
#[test]
fn loops_are_counted_with_their_data() {
    // So many passes, with a choice of three in each: 3^20 paths.
    let choice = "
iosts: choice
variables: { x: int }
initial: { location: l, condition: x == 0 }
inputs: { Add: { p: int }, Down: {}, Reset: {} }
outputs: { Done: {} }
transitions:
  - { from: l, to: l, on: Add, when: p >= 1 && p <= 5, assign: { x: x + p } }
  - { from: l, to: l, on: Down, when: x > 0, assign: { x: x - 1 } }
  - { from: l, to: l, on: Reset, assign: { x: 0 } }
  - { from: l, to: done, on: Done, when: x >= 96 }
";
    assert_eq!(steps(choice), Some(21));
    // A constant is chosen with the values: 7 of at most 3 each make three steps and one.
    let constant = "
iosts: constant
constants: { c: int }
variables: { x: nat }
initial: { location: l, condition: x == 0 && c > 6 }
inputs: { Add: { p: 'int[1..3]' } }
outputs: { Done: {} }
transitions:
  - { from: l, to: l, on: Add, assign: { x: x + p } }
  - { from: l, to: done, on: Done, when: x == c }
";
    assert_eq!(steps(constant), Some(4));
}

#[test]
fn interleavings_fall_together() {
    let two = "
iosts: two
variables: { x: int, y: int, on: bool }
initial: { location: l, condition: x == 0 && y == 0 && !on }
inputs: { X: { p: int }, Y: { q: int }, On: {} }
outputs: { Done: {} }
transitions:
  - { from: l, to: l, on: X, when: p >= 0 && p <= 2, assign: { x: x + p } }
  - { from: l, to: l, on: Y, when: q >= 0 && q <= 2, assign: { y: y + q } }
  - { from: l, to: l, on: On, when: x + y >= 5, assign: { on: true } }
  - { from: l, to: done, on: Done, when: on && x == 15 && y == 15 }
";
    assert_eq!(steps(two), Some(18));
}

#[test]
fn what_no_polyhedron_says_is_asked_of_the_solver() {
    let even = "
iosts: even
variables: { x: int }
initial: { location: l, condition: x == 0 }
inputs: { Add: { p: 'int[0..9]' }, Half: { q: int } }
outputs: { Done: {} }
transitions:
  - { from: l, to: l, on: Add, when: p mod 2 == 1, assign: { x: x + p } }
  - { from: l, to: done, on: Done, when: x > 9 && x mod 2 == 0 }
";
    assert_eq!(steps(even), Some(3));
}

/// Soundness: `None` is certain, and what is beyond the limits is not `None`.
#[test]
fn that_there_is_none_is_said_where_it_is_certain() {
    let bounded = "
iosts: bounded
variables: { x: int }
initial: { location: l, condition: x == 0 }
inputs: { Up: {} }
outputs: { Done: {} }
transitions:
  - { from: l, to: l, on: Up, when: x < 9, assign: { x: x + 1 } }
  - { from: l, to: done, on: Done, when: x > 9 }
";
    assert!(matches!(found(model(bounded)), SearchOutcome::None));
    let endless = bounded.replace("x < 9", "true").replace("x > 9", "x < 0");
    assert!(matches!(found(model(&endless)), SearchOutcome::NotFound(_)));
    // Only the solver knows that no number is even and odd.
    let odd = bounded.replace("x < 9, assign: { x: x + 1 }", "x < 9, assign: { x: x + 2 }");
    let odd = odd.replace("x > 9", "x mod 2 == 1");
    assert!(!matches!(found(model(&odd)), SearchOutcome::Path(_)));
}

/// Work is counted and not timed: what the search may use it uses, and says so.
#[test]
fn a_search_ends_by_its_work_and_says_so() {
    let iosts = model(
        "
iosts: endless
variables: { x: int, y: int }
initial: { location: l, condition: x == 0 && y == 0 }
inputs: { Left: {}, Right: {} }
outputs: { Done: {} }
transitions:
  - { from: l, to: l, on: Left, assign: { x: x + 1, y: y - x } }
  - { from: l, to: l, on: Right, assign: { x: x - y, y: y + 2 } }
  - { from: l, to: done, on: Done, when: x == 7919 && y == 7907 }
",
    );
    let bound = |work| match found_within(
        iosts.clone(),
        SearchLimits { nodes: usize::MAX, work, ..SearchLimits::default() },
    ) {
        SearchOutcome::NotFound(bound) => bound,
        found => panic!("{found:?}"),
    };
    assert_eq!(bound(20_000), SearchBound::Work(20_000));
    let few = SearchLimits { nodes: 3, ..SearchLimits::default() };
    assert!(matches!(found_within(iosts.clone(), few), SearchOutcome::NotFound(SearchBound::Nodes(3))));
}

/// A guard that reads five elements of a parameter has 3,125 valuations of them. To compile it for each of
/// them would join thirty million parts.
#[test]
fn a_guard_over_many_finite_parameters_distinguishes_fewer_of_them() {
    let text = "
iosts: queue
types: { Name: [ANN, BEN, CAL, DOT, EVE], Case: { who: Name, since: 'int[0..400]' } }
variables: { vQueue: 'list[5] of Case' }
initial: { location: l, condition: 'vQueue == []' }
inputs: { Add: { who: Name, since: 'int[0..400]' } }
outputs: { Shown: { waiting: 'list[5] of Name', longest: int } }
transitions:
  - { from: l, to: l, on: 'Add(w, s)', when: len(vQueue) < 5, assign: { vQueue: 'vQueue + [{ who: w, since: s }]' } }
  - from: l
    to: done
    on: Shown
    when: 'waiting == [c.who for c in vQueue] && len(vQueue) > 1 && longest == max([400 - c.since for c in vQueue])'
";
    let before = count_joined_parts();
    found(model(text));
    let joined = count_joined_parts() - before;
    assert!(joined < 10_000_000, "{joined} parts were joined");
}
