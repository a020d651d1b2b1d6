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
    let (iosts, numbers) = cut_behind_accept(visible);
    let accepting: Vec<bool> = visible.accepting.iter().copied().collect();
    let facts = analyse(&iosts, &accepting, options);
    let found = exact(&iosts, &accepting, &facts.chain, engine, solver);
    let no_answer = ExactAnswer::Unknown("it follows an accepting location".to_owned());
    let mut transitions = visible.iosts.transitions.map(|_| no_answer.clone());
    for (number, answer) in numbers.iter().zip(&found.transitions) {
        transitions[*number] = answer.clone();
    }
    let mut runs = found.runs;
    for (transition, _) in runs.iter_mut().flat_map(|run| &mut run.steps) {
        *transition = numbers[*transition];
    }
    ExactReference { transitions, runs, ..found }
}

/// Removes what follows Accept. Gives also the old number of each transition that is kept.
fn cut_behind_accept(visible: &Visible) -> (Iosts, Numbered<TransitionId, TransitionId>) {
    let mut iosts = visible.iosts.clone();
    let is_kept = |t: &Transition| !visible.accepting[t.source];
    let numbers = iosts.transitions.numbered().filter(|(_, t)| is_kept(t)).map(|(number, _)| number);
    let numbers = numbers.collect();
    iosts.transitions.retain(is_kept);
    (iosts, numbers)
}

/// Counts what the test graph keeps beyond the exact reference.
pub fn distance(reference: &ExactReference, visible: &Visible, graph: &TestGraph) -> Distance {
    let with_origins = graph.made_of.iter().zip(&graph.iosts.transitions);
    let goes_on = |(_, t): &(&TransitionId, &Transition)| Some(t.target) != graph.inconclusive;
    let kept: BTreeSet<TransitionId> = with_origins.filter(goes_on).map(|(number, _)| *number).collect();
    let is_yes = |answer: &ExactAnswer| matches!(answer, ExactAnswer::Yes(_));
    let is_no = |answer: &ExactAnswer| matches!(answer, ExactAnswer::No(_));
    let answer_of = |number: &TransitionId| &reference.transitions[*number];
    // A location is judged by its transitions up to Accept alone, under their own numbers.
    let (iosts, numbers) = cut_behind_accept(visible);
    let before_accept =
        ExactReference { transitions: numbers.map(|number| answer_of(number).clone()), ..reference.clone() };
    let answers: Numbered<LocationId, ExactAnswer> =
        iosts.location_ids().map(|at| before_accept.of_location(&iosts, at)).collect();
    // The graph of an unreachable purpose has its initial location only, which was not kept for the purpose.
    let kept_location = |origin: &GraphOrigin| match origin {
        GraphOrigin::Given(location) if graph.is_purpose_reachable() => Some(*location),
        _ => None,
    };
    let kept_locations: Vec<LocationId> = graph.origins.iter().filter_map(kept_location).collect();
    let is_lost = |(number, answer): &(TransitionId, &ExactAnswer)| is_yes(answer) && !kept.contains(number);
    // Accepting locations become one location Pass in a test graph, so they do not count.
    let is_exact = |(at, answer): &(LocationId, &ExactAnswer)| is_yes(answer) && !visible.accepting[*at];
    Distance {
        exact: reference.transitions.iter().filter(|answer| is_yes(answer)).count(),
        kept: kept.len(),
        extra: kept.iter().filter(|number| is_no(answer_of(number))).count(),
        unknown: kept.iter().filter(|number| matches!(answer_of(number), ExactAnswer::Unknown(_))).count(),
        lost: reference.transitions.numbered().filter(is_lost).count(),
        exact_locations: answers.numbered().filter(is_exact).count(),
        kept_locations: kept_locations.len(),
        extra_locations: kept_locations.iter().filter(|at| is_no(&answers[**at])).count(),
        questions: reference.questions,
        refused: reference.refused,
    }
}
