//! The specification as a judge: which of its states are possible after what was seen.
//!
//! **Problem.** A test case sees what its purpose looks at. To say of an implementation that nothing is wrong with it, as
//! far as one looked, or which transitions of the specification a run has gone through, the specification itself must
//! follow.
//!
//! **Method.** The states that are possible after a trace, by definition (`M after σ`, Definition 4.16, p. 89): all successors of
//! all of them, and all that internal steps lead to. An output that no state allows is a violation of ioc (Definition
//! 6.2). An input that no state takes ends what the specification says. The number of states is limited; beyond it the
//! monitor gives up rather than guess.
//!
//! **Ends**: a step is finite where the specification has no livelock, which its reader refuses. **Costs** the number
//! of states times the location's transitions.

use std::collections::BTreeSet;

use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::semantics::{Event, State, fire, internal_closure};

/// The most states that are followed.
const MOST: usize = 256;

/// What an event was to the specification.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Judged {
    /// It may happen.
    Allowed,
    /// It is an output that may not happen here.
    Violation,
    /// It is an input of which the specification says nothing here; or there are too many states to know.
    Unspecified,
}

/// A specification that follows a trace.
#[derive(Clone, Debug)]
pub struct Monitor<'a> {
    specification: &'a Iosts,
    states: BTreeSet<State>,
    /// How often each transition may have been taken.
    taken: Vec<usize>,
}

impl<'a> Monitor<'a> {
    /// At the beginning.
    pub fn new(specification: &'a Iosts, initial: BTreeSet<State>) -> Self {
        let states = internal_closure(specification, initial);
        Monitor { specification, states, taken: vec![0; specification.transitions.len()] }
    }

    /// The states that are possible now.
    pub fn states(&self) -> &BTreeSet<State> {
        &self.states
    }

    /// For each transition of the specification, how often the trace may have gone through it; internal steps count as
    /// taken where one was possible.
    pub fn taken(&self) -> &[usize] {
        &self.taken
    }

    /// Follows an event. After anything but `Allowed` the states stay as they were.
    pub fn follow(&mut self, event: &Event) -> Judged {
        let Some(action) = self.specification.find_action(&event.action) else { return Judged::Violation };
        let mut next = BTreeSet::new();
        let mut through = BTreeSet::new();
        for (number, transition) in self.specification.transitions.iter().enumerate() {
            let internal = self.specification.action(transition.action).kind == ActionKind::Internal;
            for state in &self.states {
                if internal {
                    if fire(self.specification, transition, state, &[]).is_some() {
                        through.insert(number);
                    }
                } else if transition.action == action
                    && let Some(to) = fire(self.specification, transition, state, &event.values)
                {
                    next.insert(to);
                    through.insert(number);
                }
            }
        }
        if next.is_empty() {
            return match self.specification.action(action).kind {
                ActionKind::Output => Judged::Violation,
                _ => Judged::Unspecified,
            };
        }
        let next = internal_closure(self.specification, next);
        if next.len() > MOST {
            return Judged::Unspecified;
        }
        self.states = next;
        for number in through {
            self.taken[number] += 1;
        }
        Judged::Allowed
    }
}
