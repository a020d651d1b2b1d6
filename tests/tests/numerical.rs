//! Small pairs of `tests/numerical`, whose purposes are unreachable, or a stimulus too late, by a parity:
//! which domain sees it.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::path::Path;
use std::sync::Arc;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{Analysis, DomainKind};
use coreach_model::SourceFile;
use coreach_model::reader::{read_purpose, read_specification};
use coreach_pipeline::{Generation, StageOptions, generate};

/// All stages with one region for each location, each checked. Regions see some parities of small numbers.
fn generated(name: &str, domain: DomainKind) -> Generation {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("numerical").join(name);
    let source = |file: &str| {
        let text = std::fs::read_to_string(folder.join(file)).unwrap();
        Arc::new(SourceFile { name: format!("{name}/{file}"), text })
    };
    let (specification, _) = read_specification(source("specification.yaml")).unwrap();
    let (purpose, _) = read_purpose(source("purpose.yaml"), &specification).unwrap();
    let analysis = Analysis { domain, disjuncts: 1, ..Analysis::default() };
    let options = StageOptions { max_lookahead: 8, analysis, limits: Default::default(), check: true };
    let made =
        generate(&specification.iosts, purpose, &options, &mut Z3Solver::default(), &mut |_| {}).unwrap();
    assert!(made.unsettled.is_empty(), "{name}, {domain}: {:?}", made.unsettled);
    made
}

/// Is the purpose seen to be unreachable: without congruences, by congruences alone, by both?
fn proofs(name: &str) -> [bool; 3] {
    [DomainKind::Polyhedra, DomainKind::Congruence, DomainKind::PolyhedraCongruence]
        .map(|domain| !generated(name, domain).test_graph.is_purpose_reachable())
}

#[test]
fn precise_congruences_prove_what_polyhedra_miss() {
    for name in [
        "clock",
        "constant",
        "difference",
        "guarded",
        "half",
        "parameter",
        "stride",
        "sum",
        "three_then_five",
        "toggle",
        "two_strides",
    ] {
        assert_eq!(proofs(name), [false, true, true], "{name}");
    }
    // Neither half sees that the bound is 10, and not 11.
    assert_eq!(proofs("bound"), [false, false, true]);
    // A stride through a parameter that the guard determines.
    let [polyhedra, _, both] = proofs("passed_on");
    assert_eq!((polyhedra, both), (false, true));
    // What polyhedra prove stays proved.
    assert_eq!(proofs("multiplied"), [true, true, true]);
}

#[test]
fn precise_a_stimulus_is_asked_for_its_parity_while_there_is_time() {
    let guards = |domain| -> Vec<String> {
        let graph = generated("late", domain).test_graph;
        graph.iosts.transitions.iter().map(|transition| transition.guard.to_string()).collect()
    };
    let asks = |guards: &[String]| guards.iter().any(|guard| guard.contains("mod 2"));
    assert!(!asks(&guards(DomainKind::Polyhedra)));
    let found = guards(DomainKind::PolyhedraCongruence);
    assert!(asks(&found), "{found:?}");
}
