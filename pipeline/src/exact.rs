//! How far selection is from the exact reference.
//!
//! [`exact_reference`] answers for each transition of the visible behaviours whether it truly lies on a run
//! to Accept ([`coreach_analyses::exact`]). Transitions after an accepting location are left out, as
//! selection leaves them out. [`distance`] counts what a test graph keeps beyond that. No transition on a run
//! may be cut: [`Distance::lost`] is 0, or selection is wrong.

use std::collections::BTreeSet;

use coreach_analyses::exact::{ExactAnswer, ExactReference, exact};
use coreach_analyses::reachability::{Analysis, analyse};
use coreach_analyses::solver::Solver;
use coreach_analyses::solver::horn::HornEngine;
use coreach_model::iosts::Transition;
use coreach_model::{Iosts, LocationId, Numbered, TransitionId, budget};
use serde::Serialize;

use crate::artifact::{GraphOrigin, TestGraph, Visible};

/// How far a test graph is from the exact reference.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct Distance {
    /// Transitions that truly lie on a run to Accept.
    pub exact: usize,
    /// Transitions that were kept, and not only as a way to Inconclusive.
    pub kept: usize,
    /// The kept ones that lie on no run.
    pub extra: usize,
    pub unknown: usize,
    /// Transitions that lie on a run and were cut.
    pub lost: usize,
    pub exact_locations: usize,
    pub kept_locations: usize,
    /// The kept ones that lie on no run.
    pub extra_locations: usize,
    pub questions: u64,
    /// Answers of the engine that did not check.
    pub refused: u64,
}

/// Computes the exact reference of the visible behaviours, in their numbers.
pub fn exact_reference(
    visible: &Visible,
    options: &Analysis,
    engine: &mut dyn HornEngine,
    solver: &mut dyn Solver,
) -> ExactReference {
    budget::doing("computing the exact reference");
    let (iosts, numbers) = without_what_follows(visible);
    let accepting: Vec<bool> = visible.accepting.iter().copied().collect();
    let facts = analyse(&iosts, &accepting, options);
    let found = exact(&iosts, &accepting, &facts.chain, engine, solver);
    let follows = ExactAnswer::Unknown("it follows an accepting location".to_owned());
    let mut transitions = visible.iosts.transitions.map(|_| follows.clone());
    for (number, answer) in numbers.iter().zip(&found.transitions) {
        transitions[*number] = answer.clone();
    }
    let mut runs = found.runs;
    for step in runs.iter_mut().flat_map(|run| &mut run.steps) {
        step.0 = numbers[step.0];
    }
    ExactReference { transitions, runs, ..found }
}

/// The behaviours up to Accept, and the old number of each transition.
fn without_what_follows(visible: &Visible) -> (Iosts, Numbered<TransitionId, TransitionId>) {
    let mut iosts = visible.iosts.clone();
    let goes_on = |t: &Transition| !visible.accepting[t.source];
    let numbers = iosts.transitions.numbered().filter(|(_, t)| goes_on(t)).map(|(number, _)| number);
    let numbers = numbers.collect();
    iosts.transitions.retain(|t| goes_on(t));
    (iosts, numbers)
}

/// Counts what the test graph keeps beyond the exact reference.
pub fn distance(reference: &ExactReference, visible: &Visible, graph: &TestGraph) -> Distance {
    let goes_on = graph.made_of.iter().zip(&graph.iosts.transitions);
    let goes_on = goes_on.filter(|(_, transition)| Some(transition.target) != graph.inconclusive);
    let kept: BTreeSet<TransitionId> = goes_on.map(|(number, _)| *number).collect();
    let is_yes = |answer: &ExactAnswer| matches!(answer, ExactAnswer::Yes(_));
    let is_no = |answer: &ExactAnswer| matches!(answer, ExactAnswer::No(_));
    let of = |number: &TransitionId| &reference.transitions[*number];
    let (iosts, numbers) = without_what_follows(visible);
    let up_to_accept =
        ExactReference { transitions: numbers.map(|number| of(number).clone()), ..reference.clone() };
    let answers: Numbered<LocationId, ExactAnswer> =
        iosts.location_ids().map(|at| up_to_accept.of_location(&iosts, at)).collect();
    let kept_locations: Vec<LocationId> = graph
        .origins
        .iter()
        .filter_map(|origin| match origin {
            GraphOrigin::Given(location) if graph.is_purpose_reachable() => Some(*location),
            _ => None,
        })
        .collect();
    Distance {
        exact: reference.transitions.iter().filter(|answer| is_yes(answer)).count(),
        kept: kept.len(),
        extra: kept.iter().filter(|number| is_no(of(number))).count(),
        unknown: kept.iter().filter(|number| !is_no(of(number)) && !is_yes(of(number))).count(),
        lost: reference
            .transitions
            .numbered()
            .filter(|(number, answer)| is_yes(answer) && !kept.contains(number))
            .count(),
        // Accepting locations become one location Pass in a test graph, so they do not count.
        exact_locations: answers
            .numbered()
            .filter(|(at, answer)| is_yes(answer) && !visible.accepting[*at])
            .count(),
        kept_locations: kept_locations.len(),
        extra_locations: kept_locations.iter().filter(|at| is_no(&answers[**at])).count(),
        questions: reference.questions,
        refused: reference.refused,
    }
}
