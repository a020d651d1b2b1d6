//! The moves of the tester in a state of a game, and their results.

use coreach_model::TransitionId;
use coreach_model::iosts::ActionKind;
use coreach_model::semantics::Event;

use crate::planner::experience::SignClass;

/// An event of the tester or the implementation, and the state after it.
#[derive(Clone, Debug)]
pub(super) struct Reaction {
    pub(super) transition: TransitionId,
    pub(super) event: Event,
    pub(super) kind: ActionKind,
    pub(super) to: usize,
}

/// A move of the tester in a state.
#[derive(Clone, Debug)]
pub(super) struct GameMove {
    /// The stimulus and its class; `None` is waiting.
    pub(super) sends: Option<(Reaction, Option<SignClass>)>,
    /// The implementation's answers; after a stimulus, those that come before it is taken.
    pub(super) answers: Vec<Reaction>,
    /// Does one of the results certainly come?
    pub(super) is_sure: bool,
}

impl GameMove {
    /// Lists all results of the move.
    pub(super) fn results(&self) -> impl Iterator<Item = &Reaction> {
        self.sends.iter().map(|(sent, _)| sent).chain(&self.answers)
    }
}

pub(super) fn find_wait(moves: &[GameMove]) -> Option<&GameMove> {
    moves.iter().find(|play| play.sends.is_none())
}
