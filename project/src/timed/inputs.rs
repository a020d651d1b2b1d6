//! Timed sequences for paths, and for all transitions or pairs of them.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::SearchLimits;
use coreach_execution::offline::inputs::{NoSequence, Reached, path_to, sent, sequence};
use coreach_execution::offline::sequence::Item;
use coreach_model::Diagnostic;
use coreach_model::iosts::{Transition, TransitionId};
use coreach_model::term::evaluate::Valuation;

use crate::timed::TimedModel;

/// The work of looking for a path to a transition: some ten seconds.
const WORK: u64 = 10_000_000;

/// What a sequence is to be like.
#[derive(Clone, Debug)]
pub struct TimedInputs {
    /// The constants that are given.
    pub constants: Valuation,
    /// Where delays and values are drawn.
    pub seed: Option<u64>,
    /// The outputs as well, as the model would have them.
    pub is_whole: bool,
}

/// A sequence for a path.
///
/// # Errors
/// No run goes along the path; the solver does not know.
pub fn along(
    model: &TimedModel,
    path: &[TransitionId],
    wanted: &TimedInputs,
) -> Result<Vec<Item>, Diagnostic> {
    let mut solver = Z3Solver::default();
    let found = sequence(&model.form, path, &wanted.constants, wanted.seed, &mut solver);
    let all = found.map_err(|why| match why {
        NoSequence::Impossible(place) => {
            let number = path[place];
            let message = format!(
                "no data and no times lead along the path through transition {} (place {} of the path)",
                model.timed.called(number),
                place + 1
            );
            let transition = &model.timed.graph().transitions[number];
            Diagnostic::error("impossible-path", message)
                .at(transition.origin.whole.clone(), "cannot be taken here")
        }
        NoSequence::Unknown => {
            Diagnostic::error("unknown-path", "the solver does not know whether a run goes along the path")
        }
    })?;
    Ok(if wanted.is_whole { all } else { sent(&model.timed, &all) })
}

/// What came of one goal.
#[derive(Clone, Debug)]
pub struct TimedGoal {
    /// What its transitions are called.
    pub name: String,
    /// The path, and the sequence for it.
    pub way: Option<(Vec<TransitionId>, Vec<Item>)>,
    /// Is it certain that no run takes them?
    pub is_never: bool,
}

/// The goals: each transition, or each two that can follow one another.
pub fn goals(model: &TimedModel, are_pairs: bool) -> Vec<Vec<TransitionId>> {
    let transitions = &model.timed.graph().transitions;
    if !are_pairs {
        return transitions.numbers().map(|number| vec![number]).collect();
    }
    let behind = |first: TransitionId| {
        let follows =
            move |(_, second): &(TransitionId, &Transition)| second.source == transitions[first].target;
        transitions.numbered().filter(follows).map(move |(second, _)| vec![first, second])
    };
    transitions.numbers().flat_map(behind).collect()
}

/// What a goal is called.
pub fn goal_name(model: &TimedModel, goal: &[TransitionId]) -> String {
    goal.iter().map(|number| model.timed.called(*number)).collect::<Vec<_>>().join("-")
}

/// A sequence for each goal, one after the other; what was found stays in `found`.
///
/// # Errors
/// As [`along`].
pub fn cover(
    model: &TimedModel,
    goals: &[Vec<TransitionId>],
    wanted: &TimedInputs,
    found: &mut Vec<TimedGoal>,
) -> Result<(), Diagnostic> {
    let mut solver = Z3Solver::default();
    for goal in goals {
        let name = goal_name(model, goal);
        let limits = SearchLimits { work: WORK, ..SearchLimits::default() };
        found.push(match path_to(&model.form, goal, &wanted.constants, &limits, &mut solver) {
            Reached::By(path) => {
                let items = along(model, &path, wanted)?;
                TimedGoal { name, way: Some((path, items)), is_never: false }
            }
            Reached::Never => TimedGoal { name, way: None, is_never: true },
            Reached::NotFound(_) => TimedGoal { name, way: None, is_never: false },
        });
    }
    Ok(())
}
