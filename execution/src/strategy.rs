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

use coreach_model::Verdict;
use coreach_model::semantics::State;

use crate::random::Random;
use crate::test_case::TestCase;

/// What the tester may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// Send the stimulus of this transition.
    Send(usize),
    /// Wait for an observation.
    Wait,
}

/// A person's answer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Asked {
    /// Try these moves.
    Moves(Vec<Move>),
    /// End the run.
    End,
}

/// Asks a person: the test case, the state, the moves that there are.
pub type Ask<'a> = dyn FnMut(&TestCase, &State, &[Move]) -> Asked + 'a;

/// How to choose.
pub enum Strategy<'a> {
    /// By lot; sending has this weight against one of waiting.
    Random {
        /// The weight of sending.
        send: usize,
    },
    /// What was taken least often, over all runs of this value.
    Coverage(HashMap<usize, usize>),
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
    pub fn took(&mut self, transition: usize) {
        if let Strategy::Coverage(counts) = self {
            *counts.entry(transition).or_default() += 1;
        }
    }
}

/// The moves of a state, in the order in which to try them; `None` where a person ended the run.
pub fn order(
    strategy: &mut Strategy<'_>,
    test: &TestCase,
    state: &State,
    random: &mut Random,
) -> Option<Vec<Move>> {
    let at = state.location.0 as usize;
    let mut moves: Vec<Move> = test.stimuli[at].iter().map(|number| Move::Send(*number)).collect();
    let welcome = welcome(test, at);
    if !welcome.is_empty() || moves.is_empty() {
        moves.push(Move::Wait);
    }
    match strategy {
        Strategy::Random { send } => {
            let send = *send;
            random.shuffle(&mut moves);
            // One draw decides between sending and waiting, however many stimuli there are.
            if let Some(wait) = moves.iter().position(|one| *one == Move::Wait) {
                moves.remove(wait);
                let first = moves.is_empty() || random.below(send + 1) == 0;
                moves.insert(if first { 0 } else { moves.len() }, Move::Wait);
            }
        }
        Strategy::Coverage(counts) => {
            let count = |number: &usize| counts.get(number).copied().unwrap_or(0);
            random.shuffle(&mut moves);
            moves.sort_by_key(|one| match one {
                Move::Send(number) => count(number),
                Move::Wait => welcome.iter().map(count).min().unwrap_or(usize::MAX),
            });
        }
        Strategy::Shortest => {
            let distance = |number: &usize| {
                let target = test.iosts.transitions[*number].target.0 as usize;
                test.distances[target].unwrap_or(usize::MAX)
            };
            random.shuffle(&mut moves);
            moves.sort_by_key(|one| match one {
                Move::Send(number) => distance(number),
                Move::Wait => welcome.iter().map(distance).min().unwrap_or(usize::MAX),
            });
        }
        Strategy::Ask(ask) => match ask(test, state, &moves) {
            Asked::Moves(moves) => return Some(moves),
            Asked::End => return None,
        },
    }
    Some(moves)
}

/// The observations that may lead on: their target is neither Fail nor Inconclusive.
fn welcome(test: &TestCase, at: usize) -> Vec<usize> {
    let leads_on = |number: &&usize| {
        let target = test.iosts.transitions[**number].target;
        !matches!(test.verdict(target), Some(Verdict::Fail | Verdict::Inconclusive))
    };
    test.observations[at].iter().filter(leads_on).copied().collect()
}
