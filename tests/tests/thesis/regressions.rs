//! What the oracle has found: each a model of its own, smallest known, named after what was wrong.

use coreach_analyses::solver::{Answer, Solver};
use coreach_pipeline::stages::complete::complete;
use coreach_pipeline::stages::input_complete::input_complete;
use coreach_pipeline::stages::product::make_product;
use coreach_pipeline::{check, stages};

use super::determinization::same_traces;
use super::support::{options, purpose, solver, specification};

/// *Soundness*.
#[test]
fn a_choice_after_a_choice_keeps_nothing_older_pending() {
    let iosts = specification("tests/models/regressions/choice_after_choice.yaml").iosts;
    same_traces(&iosts, 12);
}

/// *Soundness*.
#[test]
fn a_postponed_division_has_a_value() {
    let iosts = specification("tests/models/regressions/postponed_division.yaml").iosts;
    same_traces(&iosts, 4);
}

/// *Soundness*: the purpose cannot be met here, so the stages after selection are given the graph of
/// `location`, which does not know that.
#[test]
fn what_makes_a_division_defined_is_no_repetition() {
    let specification = specification("tests/models/regressions/guarded_division.yaml");
    let purpose = purpose("tests/models/regressions/guarded_division_purpose.yaml", &specification);
    let mut solver = solver();
    let solver = &mut solver;
    let limits = Default::default();
    let product =
        make_product(&specification.iosts, complete(purpose, &limits, solver), &limits, solver).unwrap();
    let closed = stages::close::close(product, &limits, solver).unwrap();
    let visible = stages::determinize::determinize(
        closed,
        8,
        coreach_model::iosts::Aim::Accept,
        &Default::default(),
        &limits,
        solver,
    )
    .unwrap();
    let graph = stages::select::select(visible.clone(), &options("location").analysis, solver);
    assert_eq!(check::check_test_graph(&graph, &visible, solver).violations, []);
    let case = input_complete(graph.clone(), &limits, solver);
    assert_eq!(check::check_test_case(&case, &graph, solver).violations, []);
    assert!(case.iosts.transitions.iter().any(|t| solver.check(&t.guard.conjuncts()) == Answer::Sat));
}
