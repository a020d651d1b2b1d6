//! Random timed models: every path-guided test case of a random path is checked, and its guards are held
//! against the published formulas.
//!
//! `COREACH_PATHS=FROM..TO` takes these seeds instead of a few.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::TransitionId;
use coreach_model::timed::Timed;
use coreach_pipeline::timed::{PathStop, path_guided};
use coreach_tests::generator::random::Random;
use coreach_tests::generator::timed::{TimedShape, timed_specification};

use super::equivalence::held;
use super::support::{model, options};

/// Some way through the graph, of up to so many steps.
fn some_path(timed: &Timed, random: &mut Random, most: usize) -> Vec<TransitionId> {
    let graph = timed.graph();
    let outgoing = graph.outgoing();
    let mut at = graph.initial;
    let mut path = Vec::new();
    for _ in 0..most {
        let leaving = &outgoing[at];
        if leaving.is_empty() {
            break;
        }
        let step = leaving[random.below(leaving.len())];
        path.push(step);
        at = graph.transitions[step].target;
    }
    path
}

#[test]
fn random_models() {
    let said = std::env::var("COREACH_PATHS").ok();
    let range = said.as_deref().and_then(|said| {
        let (from, to) = said.split_once("..")?;
        Some(from.parse().ok()?..to.parse().ok()?)
    });
    let (mut made, mut compared, mut shared, mut impossible, mut unsaid) = (0, 0, 0, 0, 0);
    for seed in range.unwrap_or(0..150_u64) {
        let shape = TimedShape { internal: 0, companion: 5, open: 50, ..TimedShape::default() };
        let text = timed_specification(seed, &shape);
        let timed = model(&text);
        let mut random = Random::new(seed);
        for time in ["1", "5/2", ""] {
            let path = some_path(&timed, &mut random, 5);
            let found = path_guided(&timed, &path, &options(time), &mut Z3Solver::default());
            match found {
                Ok(test) => {
                    made += 1;
                    // Behind a step that silence cuts off nothing is reached.
                    if test.imprecisions.is_empty() && test.unseen.is_empty() {
                        compared += usize::from(held(&timed, &path, &test).is_some());
                    }
                }
                Err(PathStop::NotDeterministic { is_certain: true, trace, .. }) => {
                    assert!(trace.is_some(), "seed {seed}: no trace\n{text}");
                    shared += 1;
                }
                Err(PathStop::Unsatisfiable { .. }) => impossible += 1,
                Err(PathStop::Quantifier { .. } | PathStop::NotDeterministic { .. }) => unsaid += 1,
                Err(PathStop::NoOutput(_) | PathStop::Empty | PathStop::Internal(_)) => {}
                Err(other) => panic!("seed {seed}: {other:?}\n{text}"),
            }
        }
    }
    println!("{made} made, {compared} compared, {shared} shared, {impossible} impossible, {unsaid} not said");
    if said.is_none() {
        assert!(made > 20 && compared > 15 && shared > 2, "{made} {compared} {shared}");
    }
}
