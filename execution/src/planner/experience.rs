//! The memory of the strategy `plan`: the answers within a run and over the runs that share it.
//!
//! An answer is a transition of the test case that the implementation chose, silence included. It is counted
//! for the state in which it came, and for the last move and the location where it came: data differ from run
//! to run, as a count of tries does, while moves occur again.
//!
//! **Chances** are estimated from both counts. Each estimate is smoothed by the coarser one ([`DOUBT`]), and
//! in the end all transitions are equally likely. So a move whose answer was bad twice is worth less than an
//! untried one, and more than one whose answer was bad three times.
//!
//! Nothing here orders moves by itself, and nothing is sent or judged by it.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

use crate::limits::{MOST_REMEMBERED, MOST_SEEN};
use coreach_model::semantics::{Event, State};
use coreach_model::{LocationId, TransitionId};

/// The factor of a chance for each event: of moves with the same chance the shorter way is taken.
pub(super) const KEPT: f64 = 0.9999;

/// Returns about [`KEPT`] to the power of `steps`, by a division that is the same on every machine.
pub(super) fn factor_for_steps(steps: f64) -> f64 {
    1.0 / (1.0 + (1.0 - KEPT) * steps)
}

/// The chance that a stimulus is taken before an output comes, if both are possible.
pub(super) const IN_TIME: f64 = 0.9;

/// The coarser estimate counts like so many answers.
const DOUBT: f64 = 2.0;

type Answers = HashMap<TransitionId, usize>;

/// The class of a stimulus: its transition, and the signs of the differences of data when it is taken.
pub type SignClass = (TransitionId, Vec<i8>);

/// Answers that came, and classes of data that were sent.
#[derive(Clone, Default, Debug)]
pub struct Experience {
    states: HashMap<State, Answers>,
    moves: HashMap<(LocationId, Option<Event>), Answers>,
    pub(super) classes: HashMap<SignClass, usize>,
    /// The last stimuli that had values.
    sent: VecDeque<Event>,
}

impl Experience {
    /// Notes that this answer came in this state, after this stimulus.
    pub(super) fn note_answer(&mut self, state: &State, after: Option<&Event>, answer: TransitionId) {
        count_answer(&mut self.states, state.clone(), answer);
        count_answer(&mut self.moves, (state.location, after.cloned()), answer);
    }

    /// Notes that this stimulus was sent, with its class.
    pub(super) fn note_sent(&mut self, event: &Event, class: Option<&SignClass>) {
        if let Some(class) = class.filter(|_| self.classes.len() < MOST_REMEMBERED) {
            *self.classes.entry(class.clone()).or_default() += 1;
        }
        if !event.values.is_empty() && !self.sent.contains(event) {
            self.sent.truncate(MOST_SEEN - 1);
            self.sent.push_front(event.clone());
        }
    }

    /// Lists the stimuli with values that were sent, the last one first.
    pub(super) fn stimuli(&self) -> impl Iterator<Item = &Event> {
        self.sent.iter()
    }

    /// Estimates the chance of each answer. One that occurs twice, with other values, shares its chance.
    pub(super) fn chances(&self, state: &State, after: Option<&Event>, answers: &[TransitionId]) -> Vec<f64> {
        let mut shares = Answers::new();
        answers.iter().for_each(|answer| *shares.entry(*answer).or_default() += 1);
        let even = 1.0 / shares.len().max(1) as f64;
        let of_state = self.states.get(state);
        let of_move = self.moves.get(&(state.location, after.cloned()));
        let chance = |answer: &TransitionId| {
            let by_move = smoothed_chance(of_move, *answer, even);
            smoothed_chance(of_state, *answer, by_move) / shares[answer] as f64
        };
        answers.iter().map(chance).collect()
    }
}

/// Counts an answer under a key. A new key beyond the limit makes the memory start anew.
fn count_answer<K: Hash + Eq>(counts: &mut HashMap<K, Answers>, key: K, answer: TransitionId) {
    if counts.len() >= MOST_REMEMBERED && !counts.contains_key(&key) {
        counts.clear();
    }
    *counts.entry(key).or_default().entry(answer).or_default() += 1;
}

/// Estimates the chance of an answer from its counts, smoothed by a coarser estimate.
fn smoothed_chance(counts: Option<&Answers>, answer: TransitionId, coarser: f64) -> f64 {
    let Some(counts) = counts else { return coarser };
    let count = counts.get(&answer).copied().unwrap_or(0) as f64;
    (count + DOUBT * coarser) / (counts.values().sum::<usize>() as f64 + DOUBT)
}
