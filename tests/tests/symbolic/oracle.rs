//! Trees of random finite systems against the concrete semantics: every path, every assignment of values to
//! its symbols, every set of states (`tests/src/symbolic/tree.rs`).

use coreach_analyses::symbolic::Quiescence;
use coreach_model::iosts::Iosts;
use coreach_tests::generator::{Shape, generate};
use coreach_tests::source::read;
use coreach_tests::symbolic::tree::{Seen, compare_merging, compare_restriction, compare_tree, is_small};

fn shape() -> Shape {
    Shape {
        lively: 0,
        lookahead: 0,
        internal_steps: 30,
        companions: 50,
        arrays: 10,
        variables: (1, 2),
        range: (2, 3),
        ..Shape::default()
    }
}

fn each(seeds: u64, compare: impl Fn(&Iosts, &mut Seen) -> Result<(), String>) -> Seen {
    let mut seen = Seen::default();
    for seed in 0..seeds {
        let Ok(read) = read(&generate(seed, &shape())) else { continue };
        if is_small(&read.specification) {
            compare(&read.specification, &mut seen).unwrap_or_else(|why| panic!("seed {seed}: {why}"));
        }
    }
    println!("{seen:?}");
    seen
}

#[test]
fn nodes_are_the_runs_of_brute_force() {
    let seen = each(200, |iosts, seen| compare_tree(iosts, Quiescence::Unseen, seen));
    assert!(seen.nodes > 1000 && seen.runs > 3000 && seen.no_runs > 3000 && seen.refuted > 300, "{seen:?}");
    assert!(seen.uncertain * 20 < seen.nodes, "{seen:?}");
}

#[test]
fn quiescence_is_that_of_brute_force() {
    let seen = each(100, |iosts, seen| compare_tree(iosts, Quiescence::Loop, seen));
    assert!(seen.quiet > 300 && seen.runs > 1000 && seen.uncertain * 5 < seen.nodes, "{seen:?}");
}

#[test]
fn inclusions_are_those_of_the_sets_and_restrictions_lose_nothing() {
    let seen = each(60, compare_restriction);
    assert!(
        seen.cut > 50 && seen.included > 300 && seen.not_included > 200 && seen.complete > 30,
        "{seen:?}"
    );
    assert!(seen.uncertain * 5 < seen.included + seen.not_included, "{seen:?}");
}

/// *Sound* and *precise*: with merged states a tree shows the same traces, and a merged state stands for what
/// was merged.
#[test]
fn merged_states_lose_no_trace_and_add_none() {
    let seen = each(24, compare_merging);
    assert!(seen.runs > 1000 && seen.cut > 100 && seen.included > 100 && seen.not_included > 100, "{seen:?}");
}
