//! The facts of a test graph are proved, and what is no proof is no excuse.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use coreach_analyses::inductive::RefinementIteration;
use coreach_analyses::reachability::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::{Number, Term};
use coreach_pipeline::artifact::{Decided, GraphOrigin, TestGraph};
use coreach_pipeline::{Generation, check, generate};
use coreach_tests::source::read_text;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

fn generated(specification: &Path, purpose: &Path) -> Option<Generation> {
    let text = |file: &Path| fs::read_to_string(file).unwrap();
    let input = read_text(text(specification), text(purpose)).ok()?;
    let options = coreach_pipeline::StageOptions {
        max_lookahead: 8,
        limits: Default::default(),
        analysis: Analysis::default(),
        check: false,
    };
    generate(&input.specification, input.purpose, &options, &mut Z3Solver::default(), &mut |_| {}).ok()
}

/// Of these a debug build makes a test case in half a minute. Those of `jobs`, `store` and `bank` are judged
/// on line, where no facts are asked for: arrays of three cells with priorities, states and lengths are much
/// for polyhedra.
const SLOW: [&str; 2] = ["redis/in_order.yaml", "redis/kinds.yaml"];
const ON_LINE: [&str; 3] = ["jobs", "store", "bank"];

/// Every specification of the examples with every purpose for it.
#[test]
fn the_facts_of_the_examples_are_proved() {
    let mut proved = Vec::new();
    for folder in fs::read_dir(examples()).unwrap() {
        let folder = folder.unwrap().path();
        let specification = folder.join("specification.yaml");
        // The many of `numerical` are checked in a test of their own.
        if !specification.is_file() || ON_LINE.iter().any(|name| folder.ends_with(name)) {
            continue;
        }
        for purpose in fs::read_dir(&folder).into_iter().flatten() {
            let purpose = purpose.unwrap().path();
            let is_slow = SLOW.iter().any(|slow| purpose.ends_with(slow));
            if is_slow || purpose.extension().is_none_or(|extension| extension != "yaml") {
                continue;
            }
            let Some(made) = generated(&specification, &purpose) else { continue };
            let found = check::check_test_graph(&made.test_graph, &made.visible, &mut Z3Solver::default());
            assert_eq!((&found.violations[..], found.unchecked), (&[][..], 0), "{}", purpose.display());
            proved.push(purpose);
        }
    }
    assert!(proved.len() >= 10, "{proved:?}");
}

/// "Nothing is reached, so nothing leads to Accept": facts that fit each other, and are wrong.
#[test]
fn a_purpose_that_is_said_to_be_out_of_reach_is_refuted() {
    let folder = examples().join("coffee_machine");
    let made = generated(&folder.join("specification.yaml"), &folder.join("deliver_coffee.yaml")).unwrap();
    let before = &made.visible.iosts;
    let nowhere = vec![Term::no(); before.locations.len()];
    let initial = before.initial;
    let claims = |coreach: &[Term], chain: Vec<RefinementIteration>| TestGraph {
        iosts: coreach_model::Iosts {
            locations: vec![before.location(initial).clone()].into(),
            initial: coreach_model::LocationId(0),
            transitions: Default::default(),
            initial_condition: Term::no(),
            ..before.clone()
        },
        origins: vec![GraphOrigin::Given(initial)].into(),
        made_of: Default::default(),
        decided: Decided { reach: nowhere.clone().into(), coreach: coreach.to_vec().into(), chain },
        pass: None,
        inconclusive: None,
        reach: vec![Term::no()].into(),
        coreach: vec![coreach[initial.place()].clone()].into(),
        allowed: Vec::new(),
        must_answer: vec![made.visible.must_answer[initial].clone()].into(),
        ..made.test_graph.clone()
    };
    let chain = &made.test_graph.decided.chain;
    let lie = |refinement: &RefinementIteration| RefinementIteration {
        facts: nowhere.clone(),
        ..refinement.clone()
    };
    let mut last = chain.clone();
    *last.last_mut().unwrap() = lie(last.last().unwrap());
    for chain in [chain.clone(), Vec::new(), chain.iter().map(lie).collect(), last] {
        let found =
            check::check_test_graph(&claims(&nowhere, chain), &made.visible, &mut Z3Solver::default());
        let is_named = found.violations.iter().any(|violation| violation.rule == "test graph 8: coreach");
        assert!(is_named, "{found:?}");
    }
    // What leads to Accept is said as it is; that it is reached is not.
    let claim = claims(&made.test_graph.decided.coreach, chain.clone());
    let found = check::check_test_graph(&claim, &made.visible, &mut Z3Solver::default());
    assert!(found.violations.iter().any(|violation| violation.rule == "test graph 7"), "{found:?}");
}
