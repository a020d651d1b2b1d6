//! Which move comes next, where a test case leaves a choice.
//!
//! **Problem.** A test case is input-complete for observations, and may offer several stimuli in one location, beside
//! waiting. The thesis leaves that open ("controllability of symbolic test cases is not treated", p. 226): any choice is
//! sound, and some get nowhere.
//!
//! **Method.** A strategy orders the moves of the present location. The tester tries them in this order: a stimulus for
//! whose guard there are no values is skipped, a wait that meets silence gives way to the next one. So a strategy cannot
//! make a run wrong, only long. `Random` draws; `Coverage` takes what was taken least; `Shortest` goes down the distances
//! to Pass that the graph alone gives (guards may forbid the way: then the next one is tried); `Ask` asks a person.
//!
//! **Ends**: a list of moves is finite, and the tester bounds the number of steps.
//! **Costs** one pass over the location's transitions, and a sort.

use std::collections::HashMap;

use coreach_model::TransitionId;

pub use crate::judge::Move;
use crate::judge::{Judge, Offer};
use crate::random::Random;

/// A person's answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Try these moves.
    Moves(Vec<Move>),
    /// End the run.
    End,
}

/// Asks a person: the judge in its state, the moves that there are.
pub type Ask<'a> = dyn FnMut(&dyn Judge, &[Move]) -> Asked + 'a;

/// How to choose.
pub enum Strategy<'a> {
    /// By lot; sending has this weight against one of waiting.
    Random {
        /// The weight of sending.
        send: usize,
    },
    /// What was taken least often, over all runs of this value.
    Coverage(HashMap<TransitionId, usize>),
    /// Towards Pass, by the length of the way in the graph.
    Shortest,
    /// What a person says: asked with the moves that there are.
    Ask(Box<Ask<'a>>),
}

impl Strategy<'_> {
    /// By lot, sending three times as often as waiting.
    pub fn random() -> Self {
        Strategy::Random { send: 3 }
    }

    /// Notes that a transition was taken.
    pub fn took(&mut self, transition: TransitionId) {
        if let Strategy::Coverage(counts) = self {
            *counts.entry(transition).or_default() += 1;
        }
    }
}

/// The moves of a state, in the order in which to try them; `None` where a person ended the run.
pub fn order(strategy: &mut Strategy<'_>, judge: &dyn Judge, random: &mut Random) -> Option<Vec<Move>> {
    let mut moves = judge.offers().moves;
    match strategy {
        Strategy::Random { send } => {
            let send = *send;
            random.shuffle(&mut moves);
            // One draw decides between sending and waiting, however many stimuli there are.
            if let Some(wait) = moves.iter().position(|one| one.step == Move::Wait) {
                let wait = moves.remove(wait);
                let first = moves.is_empty() || random.below(send + 1) == 0;
                moves.insert(if first { 0 } else { moves.len() }, wait);
            }
        }
        Strategy::Coverage(counts) => {
            let count = |number: &TransitionId| counts.get(number).copied().unwrap_or(0);
            random.shuffle(&mut moves);
            moves.sort_by_key(|one: &Offer| one.through.iter().map(count).min().unwrap_or(usize::MAX));
        }
        Strategy::Shortest => {
            random.shuffle(&mut moves);
            moves.sort_by_key(|one| one.distance.unwrap_or(usize::MAX));
        }
        Strategy::Ask(ask) => {
            let moves: Vec<Move> = moves.iter().map(|one| one.step).collect();
            return match ask(judge, &moves) {
                Asked::Moves(moves) => Some(moves),
                Asked::End => None,
            };
        }
    }
    Some(moves.iter().map(|one| one.step).collect())
}
