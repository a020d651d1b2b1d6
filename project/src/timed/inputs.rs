//! Timed sequences for paths, and for all transitions.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::search::SearchLimits;
use coreach_execution::offline::inputs::{NoSequence, Reached, path_to, sent, sequence};
use coreach_execution::offline::sequence::Item;
use coreach_model::Diagnostic;
use coreach_model::iosts::TransitionId;
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

/// What came of one transition.
#[derive(Clone, Debug)]
pub struct TimedGoal {
    /// What the transition is called.
    pub transition: String,
    /// The path, and the sequence for it.
    pub way: Option<(Vec<TransitionId>, Vec<Item>)>,
    /// Is it certain that no run takes it?
    pub is_never: bool,
}

/// A sequence for each transition, one after the other; what was found stays in `goals`.
///
/// # Errors
/// As [`along`].
pub fn cover(model: &TimedModel, wanted: &TimedInputs, goals: &mut Vec<TimedGoal>) -> Result<(), Diagnostic> {
    let mut solver = Z3Solver::default();
    for number in model.timed.graph().transitions.numbers() {
        let transition = model.timed.called(number);
        let limits = SearchLimits { work: WORK, ..SearchLimits::default() };
        let goal = match path_to(&model.form, number, &wanted.constants, &limits, &mut solver) {
            Reached::By(path) => {
                let items = along(model, &path, wanted)?;
                TimedGoal { transition, way: Some((path, items)), is_never: false }
            }
            Reached::Never => TimedGoal { transition, way: None, is_never: true },
            Reached::NotFound(_) => TimedGoal { transition, way: None, is_never: false },
        };
        goals.push(goal);
    }
    Ok(())
}
