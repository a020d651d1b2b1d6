//! What the tester may do in a state of a game, and what may come of it.

use coreach_model::TransitionId;
use coreach_model::iosts::ActionKind;
use coreach_model::semantics::Event;

use crate::planner::experience::SignClass;

/// A move, or what it leads to.
#[derive(Clone, Debug)]
pub(super) struct Answer {
    pub(super) transition: TransitionId,
    pub(super) event: Event,
    pub(super) kind: ActionKind,
    pub(super) to: usize,
}

/// What the tester may do in a state.
#[derive(Clone, Debug)]
pub(super) struct GameMove {
    /// Of a stimulus what it does; none of waiting.
    pub(super) sends: Option<(Answer, Option<SignClass>)>,
    /// What the implementation may do then; of a stimulus, before it is taken.
    pub(super) answers: Vec<Answer>,
    /// Does one of these surely come?
    pub(super) is_sure: bool,
}

impl GameMove {
    /// All that may come of it.
    pub(super) fn all(&self) -> impl Iterator<Item = &Answer> {
        self.sends.iter().map(|(sent, _)| sent).chain(&self.answers)
    }
}

/// The move that waits.
pub(super) fn waiting(moves: &[GameMove]) -> Option<&GameMove> {
    moves.iter().find(|one| one.sends.is_none())
}
