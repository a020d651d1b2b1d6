//! A timed model that stands for a system, with a clock of its own: a run of an hour takes as long as its
//! events.
//!
//! The model is walked in its delayed form ([`coreach_model::timed::delayed`]) as [`crate::simulated`] walks
//! an untimed one: one state at a time, every choice by lot from the run's seed. After each visible event it
//! decides what it does next and *when*: an output and its values, at an instant of the window that the guard
//! leaves (both ends included, where they belong to it). An input that comes before that instant changes the
//! state, and it decides anew; one that the state does not take is ignored. Inputs that come from elsewhere
//! than from the tester happen by lot as well. Where no output is possible it is silent; where one is, it is
//! not: a system that stays silent beyond the last instant of an output does not conform.
//!
//! Instants are whole microseconds, as those that a tester measures. A window without one of them is passed
//! over.
//!
//! **Ends**: internal steps are bounded between two events.

use std::time::{Duration, Instant};

use coreach_adapters::{Adapter, Failure, Received, Session};
use coreach_analyses::solver::Solver;
use coreach_model::codec::as_type;
use coreach_model::iosts::{ActionId, ActionKind, Iosts, LocationId};
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State, fire, in_types_of, step};
use coreach_model::term::evaluate::Valuation;
use coreach_model::timed::delayed::Delayed;
use coreach_model::{Numbered, TransitionId};
use dashu::rational::RBig;

use crate::initial;
use crate::timed::windows::{Drawn, window};
use crate::timed::{micros_up, seconds, with_delay, without_delay};
use crate::values::{MIX, Values};

/// The most internal steps between two events.
const MOST_INTERNAL: usize = 64;

/// The most initial states among which one is drawn.
const MOST_INITIAL: usize = 1 << 12;

/// How far a window without an end is looked at, in seconds.
const FAR: u32 = 4;

/// Of a hundred decisions, so many are for an input from elsewhere, where one is possible.
const ELSEWHERE: usize = 25;

/// A timed model, walked.
pub struct TimedSystem<S> {
    model: Delayed,
    /// What is known of the actions where its outputs are judged.
    known: Option<Iosts>,
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    state: Option<State>,
    /// What happens next, if nothing is sent before: when, and what.
    next: Option<(Duration, Event, State)>,
    /// Where the clock began.
    zero: Instant,
    /// What the clock shows.
    now: Duration,
    /// When the last visible event was.
    last: Duration,
    random: Random,
    values: Values,
    solver: S,
}

impl<S: Solver> TimedSystem<S> {
    /// A system that behaves as the model says.
    pub fn new(model: Delayed, solver: S) -> Self {
        let outgoing = model.iosts.outgoing();
        TimedSystem {
            model,
            known: None,
            outgoing,
            state: None,
            next: None,
            zero: Instant::now(),
            now: Duration::ZERO,
            last: Duration::ZERO,
            random: Random::new(0),
            values: Values::new(MIX),
            solver,
        }
    }

    fn is_of(&self, action: ActionId, wanted: Wanted) -> bool {
        let kind = self.model.iosts.action(action).kind;
        match wanted {
            Wanted::Output => kind == ActionKind::Output,
            Wanted::Elsewhere => self.model.uncontrollable.contains(&action),
            Wanted::Internal => kind == ActionKind::Internal,
        }
    }

    /// The transitions of the present location, in a random order.
    fn candidates(&mut self, wanted: Wanted) -> Vec<TransitionId> {
        let Some(state) = &self.state else { return Vec::new() };
        let all = self.outgoing[state.location].iter().copied();
        let mut found: Vec<TransitionId> =
            all.filter(|number| self.is_of(self.model.iosts.transitions[*number].action, wanted)).collect();
        self.random.shuffle(&mut found);
        found
    }

    fn internal(&mut self) -> bool {
        for number in self.candidates(Wanted::Internal) {
            let transition = &self.model.iosts.transitions[number];
            let next = self.state.as_ref().and_then(|state| fire(&self.model.iosts, transition, state, &[]));
            if next.is_some() {
                self.state = next;
                return true;
            }
        }
        false
    }

    /// Decides what happens next.
    fn decide(&mut self) {
        self.next = None;
        for _ in 0..MOST_INTERNAL {
            if self.random.below(2) == 0 && self.internal() {
                continue;
            }
            let elsewhere = self.random.chance(ELSEWHERE);
            let kinds: &[Wanted] = if elsewhere {
                &[Wanted::Elsewhere, Wanted::Output]
            } else {
                &[Wanted::Output, Wanted::Elsewhere]
            };
            for kind in kinds {
                for number in self.candidates(*kind) {
                    if let Some(next) = self.draw(number) {
                        self.next = Some(next);
                        return;
                    }
                }
            }
            if !self.internal() {
                return;
            }
        }
    }

    /// An event of the transition, with its instant and the state behind it.
    fn draw(&mut self, number: TransitionId) -> Option<(Duration, Event, State)> {
        let iosts = &self.model.iosts;
        let transition = &iosts.transitions[number];
        let action = iosts.action(transition.action);
        let state = self.state.as_ref()?;
        let chosen = self.values.choose(
            &transition.guard,
            &action.parameters,
            &state.valuation,
            &mut self.random,
            &mut self.solver,
        )?;
        let event = Event::new(action.name.clone(), chosen);
        let window = window(iosts, transition, state, &event)?;
        let drawn = Drawn { now: &RBig::ZERO, margin: &RBig::ZERO, far: &RBig::from(FAR), at: None };
        let delay = window.instant(drawn, &mut self.random)?;
        let at = self.last + Duration::from_micros(micros_up(&delay));
        let event = super::delayed_by(&event, delay);
        let next = fire(iosts, transition, state, &event.values)?;
        Some((at, event, next))
    }

    fn happened(&mut self, state: State) {
        self.state = Some(state);
        self.last = self.now;
        self.decide();
    }
}

/// Whose transitions.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Wanted {
    Output,
    Elsewhere,
    Internal,
}

impl<S: Solver> Adapter for TimedSystem<S> {
    fn now(&self) -> Option<Instant> {
        Some(self.zero + self.now)
    }

    fn start(&mut self, session: &Session<'_>) -> Result<(), Failure> {
        self.known = Some(session.iosts.clone());
        self.random = Random::new(session.seed ^ 0x0073_696d_756c_6174);
        self.values.begin(session.constants);
        let mut known = Valuation::new();
        for datum in &self.model.iosts.constants {
            // A purpose may have constants of its own: the implementation has no use for them.
            let found = session.constants.iter().find(|(given, _)| given.name() == datum.name());
            let missing = || Failure::Start(format!("the constant `{datum}` has no value"));
            let (_, value) = found.ok_or_else(missing)?;
            known.insert(datum.clone(), as_type(value, datum.ty()).unwrap_or_else(|| value.clone()));
        }
        let states = initial::states(&self.model.iosts, &known, MOST_INITIAL, &mut self.solver)
            .map_err(|why| Failure::Start(why.text().to_owned()))?;
        self.state = self.random.pick(&states).cloned();
        self.last = self.now;
        self.decide();
        Ok(())
    }

    fn send(&mut self, stimulus: &Event) -> Result<(), Failure> {
        let event = with_delay(stimulus, seconds(self.now - self.last));
        let event = in_types_of(&self.model.iosts, &event);
        let before = self.state.clone();
        for _ in 0..MOST_INTERNAL {
            let Some(state) = &self.state else { break };
            let takes: Vec<State> = step(&self.model.iosts, state, &event).into_iter().collect();
            if let Some(next) = self.random.pick(&takes).cloned() {
                self.happened(next);
                return Ok(());
            }
            // It may be taken behind internal steps.
            if !self.internal() {
                break;
            }
        }
        // Ignored: also the internal steps that were tried for it have not happened.
        self.state = before;
        Ok(())
    }

    fn receive(&mut self, until: Instant) -> Result<Received, Failure> {
        let until = until.saturating_duration_since(self.zero).max(self.now);
        match self.next.take() {
            Some((at, event, state)) if at <= until => {
                self.now = self.now.max(at);
                self.happened(state);
                let event = without_delay(&event);
                Ok(Received::Output(match &self.known {
                    Some(known) => in_types_of(known, &event),
                    None => event,
                }))
            }
            later => {
                self.next = later;
                self.now = until;
                Ok(Received::Silence)
            }
        }
    }

    fn receive_from_state(&mut self) -> Option<Received> {
        let at = self.next.as_ref().map_or(self.now, |(at, ..)| *at);
        self.receive(self.zero + at).ok()
    }

    fn stop(&mut self) {
        (self.state, self.next) = (None, None);
    }
}
