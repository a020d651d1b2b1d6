//! A slice of the soak: the same pairs in every run.
//!
//! Longer with `scripts/test --thorough`; the full run is
//! `cargo run --release -p coreach-tests --bin soak -- --minutes N`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeMap;

use coreach_tests::brute::conformance::ioc;
use coreach_tests::brute::execution::input_complete;
use coreach_tests::brute::walk::Outcome;
use coreach_tests::effort::cases;
use coreach_tests::generator::random::Random;
use coreach_tests::generator::{Shape, generate};
use coreach_tests::mutants::explicit::{self, Fault};
use coreach_tests::mutants::{MutationOperator, mutate};
use coreach_tests::properties::{Known, Limits, Report, Settings, check};
use coreach_tests::source::read;
use coreach_tests::text;

/// Checks the pairs of these seeds; the failures as text, with everything that repeats them.
fn failures(
    seeds: impl IntoIterator<Item = u64>,
    shape: impl Fn(u64) -> Shape,
    total: &mut Report,
) -> Vec<String> {
    let mut failures = Vec::new();
    for seed in seeds {
        let pair = generate(seed, &shape(seed));
        let report = check(&pair, &Settings::of(seed));
        for (what, count) in report.counts {
            total.count(what, count);
        }
        for (name, count) in report.tried {
            *total.tried.entry(name).or_default() += count;
        }
        for found in report.found {
            let (specification, purpose) = (text::specification(&pair), text::purpose(&pair));
            failures.push(format!(
                "{} at seed {seed} (soak --cases 1 --seed {seed} shrinks it)\n{}\n{specification}---\n{purpose}",
                found.property.name, found.text
            ));
        }
    }
    failures
}

#[test]
fn no_property_is_violated_by_the_fixed_seeds() {
    let mut total = Report::default();
    // The last seeds were violated once.
    let seeds = (1..=cases(30, 150)).chain([501_298, 902_608]);
    let failures = failures(seeds, Shape::of, &mut total);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    // A slice that tries nothing shows nothing.
    for what in [
        "test cases",
        "purpose in reach",
        "implementations: not ioc",
        "implementations: can get Fail",
        "implementations: explicit, not ioc_TP",
        "pairs made in doubt",
        "open traces where silence is blamed",
        "implementations: silence can fail",
        "sets on line that are formulas",
    ] {
        assert!(total.counts.get(what).copied().unwrap_or(0) > 0, "{what}: {:?}", total.counts);
    }
    for property in coreach_tests::properties::PROPERTIES {
        assert!(total.tried.contains_key(property.name), "{} was never tried", property.name);
    }
}

/// Soundness of functions, quantifiers and values of records and arrays through all stages.
#[test]
fn no_property_is_violated_where_much_is_written_shortly() {
    let mut total = Report::default();
    let failures = failures((1_004..1_004 + cases(16, 40)).step_by(8), Shape::of, &mut total);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    assert!(total.counts.get("test cases").copied().unwrap_or(0) > 0, "{:?}", total.counts);
}

/// The same with lists, options and variants.
#[test]
fn no_property_is_violated_with_collections() {
    let mut total = Report::default();
    let shape = |_| Shape { collections: 100, arrays: 0, ..Shape::default() };
    let failures = failures(1..=cases(5, 30), shape, &mut total);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    for what in ["test cases", "purpose in reach", "implementations: not ioc"] {
        assert!(total.counts.get(what).copied().unwrap_or(0) >= 1, "{what}: {:?}", total.counts);
    }
}

/// The same with strings, of which brute force has three values: the pairs take no others.
#[test]
fn no_property_is_violated_with_strings() {
    let mut total = Report::default();
    let shape = |_| Shape { strings: 100, parameters: (1, 1), arrays: 0, records: 0, ..Shape::default() };
    let failures = failures(1..=cases(4, 20), shape, &mut total);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    for what in ["test cases", "purpose in reach", "implementations: not ioc"] {
        assert!(total.counts.get(what).copied().unwrap_or(0) >= 1, "{what}: {:?}", total.counts);
    }
}

/// The same with ids, alone and in lists and options.
#[test]
fn no_property_is_violated_with_ids() {
    let mut total = Report::default();
    let shape = |seed: u64| {
        let collections = if seed.is_multiple_of(2) { 100 } else { 0 };
        Shape { ids: 100, collections, parameters: (1, 1), variables: (2, 3), arrays: 0, ..Shape::default() }
    };
    let failures = failures(1..=cases(6, 30), shape, &mut total);
    assert!(failures.is_empty(), "{}", failures.join("\n\n"));
    for what in ["test cases", "purpose in reach", "implementations: not ioc"] {
        assert!(total.counts.get(what).copied().unwrap_or(0) >= 1, "{what}: {:?}", total.counts);
    }
}

#[test]
fn a_seed_gives_the_same_pair_again() {
    let texts = |seed| {
        let pair = generate(seed, &Shape::default());
        text::specification(&pair) + &text::purpose(&pair)
    };
    for seed in 1..20 {
        assert_eq!(texts(seed), texts(seed));
    }
    assert_ne!(texts(1), texts(2));
}

#[test]
fn every_operator_makes_a_mutant_of_some_specification() {
    let mut random = Random::new(1);
    for operator in MutationOperator::ALL {
        let made = (0..60).any(|seed| {
            let pair = generate(seed, &Shape::default());
            mutate(&mut random, &read(&pair).unwrap().specification, operator).is_some()
        });
        assert!(made, "{}", operator.name());
    }
}

/// Each fault of explicit systems is now and then one that ioc sees, and now and then none.
#[test]
fn every_explicit_fault_shows_in_some_specification() {
    let mut random = Random::new(1);
    let mut seen = BTreeMap::new();
    for pair in (0..60).map(|seed| generate(seed, &Shape::default())) {
        let Ok(known) = Known::of(&pair, &Limits { instances: 1, ..Limits::default() }) else { continue };
        let Some(instance) = known.instances.first() else { continue };
        let graph = &instance.specification.graph;
        for fault in Fault::ALL {
            let Some(iut) = explicit::mutate(&mut random, graph, &known.alphabet, *fault) else { continue };
            let iut = input_complete(&iut, &known.alphabet);
            let shows = matches!(ioc(graph, &iut, &known.alphabet, 3000), Outcome::Found(..));
            *seen.entry((*fault, shows)).or_insert(0) += 1;
        }
    }
    for fault in Fault::ALL {
        // Sending less never breaks ioc.
        let can_show = *fault != Fault::OutputRemoved;
        assert!(seen.contains_key(&(*fault, true)) || !can_show, "{}: {seen:?}", fault.name());
        assert!(seen.contains_key(&(*fault, false)), "{}: {seen:?}", fault.name());
    }
}

/// What is judged off line is judged as brute force says, and every verdict comes up.
#[test]
fn timed_traces_get_the_verdicts_that_they_deserve() {
    deserved(1..=120, coreach_tests::properties::offline::offline, 5);
}

/// So it is where a model takes steps at instants that nobody sees.
#[test]
fn timed_traces_with_unseen_steps_get_the_verdicts_that_they_deserve() {
    // The last one ends at the very instant of such a step.
    let seeds = (1..=40).chain([2441]);
    let counts = deserved(seeds, coreach_tests::properties::offline::unseen_steps, 2);
    assert!(counts.get("offline: models with unseen steps").is_some_and(|count| *count >= 10), "{counts:?}");
}

/// All verdicts are, and each comes up so often.
fn deserved(
    seeds: impl Iterator<Item = u64>,
    check: fn(u64, &mut Report),
    often: usize,
) -> BTreeMap<&'static str, usize> {
    let mut total = Report::default();
    seeds.for_each(|seed| check(seed, &mut total));
    let found: Vec<&str> = total.found.iter().map(|found| found.text.as_str()).collect();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
    for what in [
        "offline: Pass",
        "offline: WeakPass",
        "offline: Inconclusive, another way",
        "offline: Inconclusive, an input",
        "offline: Fail by a delay",
        "offline: Fail by an output",
        "offline: recorded within a tolerance",
    ] {
        assert!(total.counts.get(what).copied().unwrap_or(0) >= often, "{what}: {:?}", total.counts);
    }
    total.counts
}
