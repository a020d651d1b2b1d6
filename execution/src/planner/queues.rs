//! Decides which state of a game is expanded next: the two queues, and slack.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use coreach_model::Term;
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::node::Node;

use crate::values::as_rational;

/// States that wait for their turn.
#[derive(Default)]
pub(super) struct Queues {
    /// The nearest state first, and new classes before others.
    near: BinaryHeap<Reverse<(usize, usize)>>,
    /// The least slack first, and for equal slack the newest state.
    eager: BinaryHeap<(Reverse<u64>, usize)>,
    is_eager: bool,
}

impl Queues {
    /// Adds a state. `lateness` is its distance from the root, more for a class that was seen before.
    pub(super) fn push(&mut self, state: usize, lateness: usize, slack: u64) {
        self.near.push(Reverse((lateness, state)));
        self.eager.push((Reverse(slack), state));
    }

    /// Takes the next state for which `is_open` holds.
    pub(super) fn pop(&mut self, is_open: impl Fn(usize) -> bool) -> Option<usize> {
        self.is_eager = !self.is_eager;
        loop {
            let state = match self.is_eager {
                true => self.eager.pop().map(|(_, state)| state),
                false => self.near.pop().map(|Reverse((_, state))| state),
            }?;
            if is_open(state) {
                return Some(state);
            }
        }
    }
}

/// Measures how far a condition is from holding; 0 if it holds.
pub(super) fn slack(condition: &Term, valuation: &Valuation) -> u64 {
    if holds(condition, valuation) == Ok(true) {
        return 0;
    }
    if let Some(body) = condition.unfolded() {
        return slack(&body, valuation);
    }
    let slack_of = |part: &Term| slack(part, valuation);
    match condition.written() {
        Some(Node::And(parts)) => parts.iter().map(slack_of).fold(0, u64::saturating_add),
        Some(Node::Or(parts)) => parts.iter().map(slack_of).min().unwrap_or(1),
        Some(Node::Compare(_, left, right)) if left.sort().is_number() => {
            let sides = evaluate(left, valuation).ok().zip(evaluate(right, valuation).ok());
            sides.map_or(1, |(left, right)| {
                let distance = as_rational(&left) - as_rational(&right);
                distance.to_f64_fast().abs().ceil().max(1.0) as u64
            })
        }
        _ => 1,
    }
}
