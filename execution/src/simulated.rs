//! A model that stands for an implementation: the specification itself, or a mutant of it.
//!
//! The model is walked as one implementation would: one state at a time, with every choice by lot from the
//! run's seed. Internal steps happen when they like. An input that the state does not take is ignored, which
//! makes the model input-complete, as the theory asks of an implementation (thesis, 6.2); completed
//! demonically it does what it likes from then on. Values of an output's parameters are chosen as a tester
//! chooses those of a stimulus ([`crate::values`]). Its types may differ from those of the test case: what it
//! is sent and sends are the same values in the types of whoever reads them.
//!
//! Ends: internal steps are bounded between two events, since a model may have a livelock that only a
//! mutation made.

use coreach_adapters::description::Completion;
use coreach_adapters::in_process::Implementation;
use coreach_analyses::solver::Solver;
use coreach_model::codec::as_type;
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State, fire, in_types_of};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, LocationId, Numbered, TransitionId, Value};

use crate::initial;
use crate::values::{MIX, Values, any};

/// The most internal steps between two events.
const MOST_INTERNAL: usize = 64;

/// The most initial states among which one is drawn.
const MOST_INITIAL: usize = 1 << 12;

/// A model, walked.
pub struct Simulated<S> {
    iosts: Iosts,
    /// What is known of the actions where its outputs are judged.
    known: Option<Iosts>,
    /// For each location, the numbers of its transitions.
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    state: Option<State>,
    random: Random,
    values: Values,
    solver: S,
    completion: Completion,
    /// An input came that its state did not take, and everything is possible.
    is_free: bool,
}

impl<S: Solver> Simulated<S> {
    /// An implementation that behaves as the model says.
    pub fn new(iosts: Iosts, solver: S) -> Self {
        let outgoing = iosts.outgoing();
        let (random, values) = (Random::new(0), Values::new(MIX));
        let completion = Completion::default();
        Simulated {
            iosts,
            known: None,
            outgoing,
            state: None,
            random,
            values,
            solver,
            completion,
            is_free: false,
        }
    }

    /// The same, with another way to take what its state does not.
    #[must_use]
    pub fn completed(self, completion: Completion) -> Self {
        Simulated { completion, ..self }
    }

    /// Any output, or none.
    fn anything(&mut self) -> Option<Event> {
        let outputs: Vec<_> =
            self.iosts.actions.iter().filter(|action| action.kind == ActionKind::Output).collect();
        if self.random.below(2) == 0 {
            return None;
        }
        let action = *self.random.pick(&outputs)?;
        let values = action.parameters.iter().map(|parameter| any(parameter.ty(), &mut self.random));
        Some(Event::new(action.name.clone(), values))
    }

    /// The transitions of the present location of this kind, in a random order.
    fn candidates(&mut self, kind: ActionKind) -> Vec<TransitionId> {
        let Some(state) = &self.state else { return Vec::new() };
        let is_of = |number: &&TransitionId| {
            let transition = &self.iosts.transitions[**number];
            self.iosts.action(transition.action).kind == kind
        };
        let mut found: Vec<TransitionId> =
            self.outgoing[state.location].iter().filter(is_of).copied().collect();
        self.random.shuffle(&mut found);
        found
    }

    /// Takes an internal step if there is one.
    fn internal(&mut self) -> bool {
        for number in self.candidates(ActionKind::Internal) {
            let next =
                self.state.as_ref().and_then(|s| fire(&self.iosts, &self.iosts.transitions[number], s, &[]));
            if let Some(next) = next {
                self.state = Some(next);
                return true;
            }
        }
        false
    }

    fn speak(&mut self, waited: bool) -> Option<Event> {
        // Whoever only looks may come too early.
        if !waited && self.random.below(2) == 0 {
            return None;
        }
        if self.is_free {
            return self.anything();
        }
        for _ in 0..MOST_INTERNAL {
            // An internal step may come first, or be the only way to an output.
            if self.random.below(2) == 0 && self.internal() {
                continue;
            }
            if let Some(event) = self.send() {
                return Some(event);
            }
            if !self.internal() {
                return None;
            }
        }
        None
    }

    fn send(&mut self) -> Option<Event> {
        for number in self.candidates(ActionKind::Output) {
            let transition = &self.iosts.transitions[number];
            let action = self.iosts.action(transition.action);
            let state = self.state.as_ref()?;
            let values = self.values.choose(
                &transition.guard,
                &action.parameters,
                &state.valuation,
                &mut self.random,
                &mut self.solver,
            );
            let Some(values) = values else { continue };
            if let Some(next) = fire(&self.iosts, transition, state, &values) {
                self.values.saw(&values);
                self.state = Some(next);
                return Some(Event::new(action.name.clone(), values));
            }
        }
        None
    }
}

impl<S: Solver> Implementation for Simulated<S> {
    fn take_signatures(&mut self, known: &Iosts) {
        self.known = Some(known.clone());
    }

    fn reset(&mut self, constants: &[(Datum, Value)], seed: u64) -> Result<(), String> {
        self.random = Random::new(seed ^ 0x0073_696d_756c_6174);
        self.values.begin(constants);
        let mut known = Valuation::new();
        for datum in &self.iosts.constants {
            // A purpose may have constants of its own: the implementation has no use for them.
            let found = constants.iter().find(|(given, _)| given.name() == datum.name());
            let (_, value) = found.ok_or_else(|| format!("the constant `{datum}` has no value"))?;
            known.insert(datum.clone(), as_type(value, datum.ty()).unwrap_or_else(|| value.clone()));
        }
        (self.state, self.is_free) = (None, false);
        let states = initial::states(&self.iosts, &known, MOST_INITIAL, &mut self.solver)
            .map_err(|why| why.text().to_owned())?;
        self.state = self.random.pick(&states).cloned();
        Ok(())
    }

    fn input(&mut self, input: &Event) {
        let input = &in_types_of(&self.iosts, input);
        let before = self.state.clone();
        for _ in 0..MOST_INTERNAL {
            let takes: Vec<State> = match &self.state {
                Some(state) => {
                    coreach_model::semantics::step(&self.iosts, state, input).into_iter().collect()
                }
                None => return,
            };
            if let Some(next) = self.random.pick(&takes) {
                self.state = Some(next.clone());
                return;
            }
            // It may be taken behind internal steps.
            if !self.internal() {
                break;
            }
        }
        self.is_free |= self.completion == Completion::Demonic;
        // Ignored: also the internal steps that were tried for it have not happened.
        self.state = before;
    }

    fn output(&mut self, waited: bool) -> Option<Event> {
        let event = self.speak(waited)?;
        Some(match &self.known {
            Some(known) => in_types_of(known, &event),
            None => event,
        })
    }
}
