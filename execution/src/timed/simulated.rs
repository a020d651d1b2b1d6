//! A timed model that stands for a system, with a clock of its own: an hour takes as long as its events.
//!
//! The model is walked in its delayed form ([`coreach_model::timed::delayed`]), as [`crate::simulated`] walks
//! an untimed one. After each visible event the system decides what it does next and *when*. It draws an
//! output with its values, and an instant of the window that the guard leaves, its ends included if they are
//! in the window. An input before that instant changes the state, and the system decides anew. An input that
//! the state does not take is ignored. Inputs that do not come from the tester happen by lot, too. The system
//! is silent only if no output is possible. Silence beyond the last instant of an output does not conform.
//!
//! Instants are whole microseconds, as a tester measures. A window without one is left out.
//!
//! **Ends**: internal steps are bounded between two events.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_analyses::solver::Solver;
use coreach_model::TransitionId;
use coreach_model::iosts::{ActionId, ActionKind};
use coreach_model::semantics::{Event, State, fire};
use coreach_model::timed::delayed::Delayed;
use dashu_ratio::RBig;

use crate::simulated::{MOST_INTERNAL, WalkedModel};
use crate::timed::windows::{InstantChoice, window_of};
use crate::timed::{exact_seconds, micros_up, with_delay, without_delay};

pub struct TimedSystem<S> {
    model: WalkedModel<S>,
    /// The inputs that do not come from the tester.
    uncontrollable: BTreeSet<ActionId>,
    /// The next event if nothing is sent before.
    next: Option<NextEvent>,
    /// The instant at which its own clock begins.
    zero: Instant,
    now: Duration,
    /// When the last event happened.
    last: Duration,
}

struct NextEvent {
    at: Duration,
    event: Event,
    state: State,
}

impl<S: Solver> TimedSystem<S> {
    pub fn new(model: Delayed, solver: S) -> Self {
        TimedSystem {
            model: WalkedModel::new(model.iosts, solver),
            uncontrollable: model.uncontrollable,
            next: None,
            zero: Instant::now(),
            now: Duration::ZERO,
            last: Duration::ZERO,
        }
    }

    /// Decides on the next event, after an event that has just happened.
    fn decide_next(&mut self) {
        self.last = self.now;
        self.next = None;
        for _ in 0..MOST_INTERNAL {
            if self.model.random.below(2) == 0 && self.model.take_internal_step() {
                continue;
            }
            // In a quarter of the decisions, an input that does not come from the tester is first.
            let is_elsewhere_first = self.model.random.chance(25);
            for is_elsewhere in [is_elsewhere_first, !is_elsewhere_first] {
                let uncontrollable = &self.uncontrollable;
                let candidates = self.model.candidates(|id, action| match is_elsewhere {
                    true => uncontrollable.contains(&id),
                    false => action.kind == ActionKind::Output,
                });
                for number in candidates {
                    if let Some(next) = self.draw_event(number) {
                        self.next = Some(next);
                        return;
                    }
                }
            }
            if !self.model.take_internal_step() {
                return;
            }
        }
    }

    /// Draws an event of the transition, with its instant and the state after it.
    fn draw_event(&mut self, number: TransitionId) -> Option<NextEvent> {
        let event = self.model.choose_event(number)?;
        let WalkedModel { iosts, state, random, .. } = &mut self.model;
        let (transition, state) = (&iosts.transitions[number], state.as_ref()?);
        let window = window_of(iosts, transition, state, &event)?;
        // A window without an end is used up to four seconds.
        let choice = InstantChoice { now: &RBig::ZERO, margin: &RBig::ZERO, far: &RBig::from(4), at: None };
        let delay = window.draw_instant(choice, random)?;
        let at = self.last + Duration::from_micros(micros_up(&delay));
        let event = super::delayed_by(&event, delay);
        let state = fire(iosts, transition, state, &event.values)?;
        Some(NextEvent { at, event, state })
    }
}

impl<S: Solver> Adapter for TimedSystem<S> {
    fn now(&self) -> Option<Instant> {
        Some(self.zero + self.now)
    }

    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.model.take_signatures(session.iosts);
        self.model.reset(session.constants, session.seed).map_err(Failure::Start)?;
        self.decide_next();
        Ok(())
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        let event = with_delay(stimulus, exact_seconds(self.now - self.last));
        if self.model.take_input(&event) {
            self.decide_next();
        }
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let until = until.saturating_duration_since(self.zero).max(self.now);
        match self.next.take() {
            Some(NextEvent { at, event, state }) if at <= until => {
                self.now = self.now.max(at);
                self.model.state = Some(state);
                self.decide_next();
                Ok(Received::Output(self.model.in_types_of_judge(without_delay(&event))))
            }
            later => {
                self.next = later;
                self.now = until;
                Ok(Received::Silence)
            }
        }
    }

    fn receive_from_state(&mut self) -> Option<Received> {
        let at = self.next.as_ref().map_or(self.now, |next| next.at);
        self.receive(self.zero + at).ok()
    }

    fn stop(&mut self) {
        (self.model.state, self.next) = (None, None);
    }
}
