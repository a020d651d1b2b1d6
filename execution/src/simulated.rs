//! A model that stands for an implementation: the specification itself, or a mutant of it.
//!
//! The model is in one state at a time, and draws every choice from the run's seed. Internal steps happen at
//! any time. An input that the state does not take is ignored. So the model is input-complete, as the theory
//! asks of an implementation (thesis, 6.2). If it is completed demonically, it may send anything from then
//! on. Values of an output's parameters are chosen as a tester chooses those of a stimulus
//! ([`crate::values`]). Its types may differ from the test case's. Each side reads values in its own types.
//!
//! [`crate::timed::simulated`] gives the same walk a clock.
//!
//! Ends: internal steps are bounded between two events, since a mutation may have made a livelock.

use coreach_adapters::description::Completion;
use coreach_adapters::in_process::Implementation;
use coreach_analyses::solver::Solver;
use coreach_model::codec::as_type;
use coreach_model::iosts::{Action, ActionId, ActionKind, Iosts, Transition};
use coreach_model::limits::{LONGEST_TEXT, LONGEST_VALUE, MOST_STATES};
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State, fire, in_types_of, step};
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::node::Node;
use coreach_model::{Datum, LocationId, Numbered, Term, TransitionId, Value};

use crate::initial;
use crate::judge::excerpts::shorten_collection;
use crate::judge::guards::may_be;
use crate::values::{Determined, MIX, Values, any, at_state, determine_values};

/// The most internal steps between two events.
pub(crate) const MOST_INTERNAL: usize = 64;

/// A model that is in one of its states: the common part of simulated systems with and without a clock.
pub(crate) struct WalkedModel<S> {
    pub(crate) iosts: Iosts,
    /// The actions' signatures in the judge's model.
    signatures: Option<Iosts>,
    /// For each location, the numbers of its transitions.
    outgoing: Numbered<LocationId, Vec<TransitionId>>,
    /// The present state; `None` before the first run.
    pub(crate) state: Option<State>,
    pub(crate) random: Random,
    values: Values,
    solver: S,
}

impl<S: Solver> WalkedModel<S> {
    pub(crate) fn new(iosts: Iosts, solver: S) -> Self {
        WalkedModel {
            outgoing: iosts.outgoing(),
            iosts,
            signatures: None,
            state: None,
            random: Random::new(0),
            values: Values::new(MIX),
            solver,
        }
    }

    pub(crate) fn take_signatures(&mut self, signatures: &Iosts) {
        self.signatures = Some(signatures.clone());
    }

    /// Begins a run: draws one of the initial states with these constants.
    pub(crate) fn reset(&mut self, constants: &[(Datum, Value)], seed: u64) -> Result<(), String> {
        self.random = Random::new(seed ^ 0x0073_696d_756c_6174);
        self.values.begin(constants);
        self.state = None;
        let mut known = Valuation::new();
        for datum in &self.iosts.constants {
            // A purpose may have constants of its own. The implementation does not use them.
            let given = constants.iter().find(|(given, _)| given.name() == datum.name());
            let (_, value) = given.ok_or_else(|| format!("the constant `{datum}` has no value"))?;
            known.insert(datum.clone(), as_type(value, datum.ty()).unwrap_or_else(|| value.clone()));
        }
        let states = initial::states(&self.iosts, &known, MOST_STATES, &mut self.solver)
            .map_err(|why| why.text().to_owned())?;
        self.state = self.random.pick(&states).cloned();
        Ok(())
    }

    /// Lists the transitions here with actions that `is_wanted` accepts, in a random order.
    pub(crate) fn candidates(&mut self, is_wanted: impl Fn(ActionId, &Action) -> bool) -> Vec<TransitionId> {
        let Some(state) = &self.state else { return Vec::new() };
        let has_wanted_action = |number: &TransitionId| {
            let action = self.iosts.transitions[*number].action;
            is_wanted(action, self.iosts.action(action))
        };
        let mut candidates = self.outgoing[state.location].clone();
        candidates.retain(has_wanted_action);
        self.random.shuffle(&mut candidates);
        candidates
    }

    /// Takes an internal step, drawn by lot. Returns whether there is one.
    pub(crate) fn take_internal_step(&mut self) -> bool {
        for number in self.candidates(|_, action| action.kind == ActionKind::Internal) {
            let transition = &self.iosts.transitions[number];
            let next = self.state.as_ref().and_then(|state| fire(&self.iosts, transition, state, &[]));
            if next.is_some() {
                self.state = next;
                return true;
            }
        }
        false
    }

    /// Takes an input, after internal steps if need be. `false`: not taken, the state is as before.
    pub(crate) fn take_input(&mut self, input: &Event) -> bool {
        let input = in_types_of(&self.iosts, input);
        let before = self.state.clone();
        for _ in 0..MOST_INTERNAL {
            let Some(state) = &self.state else { return false };
            let next_states: Vec<State> = step(&self.iosts, state, &input).into_iter().collect();
            if let Some(next) = self.random.pick(&next_states) {
                self.state = Some(next.clone());
                return true;
            }
            if !self.take_internal_step() {
                break;
            }
        }
        self.state = before;
        false
    }

    /// Chooses an event of this transition that its guard allows now. `None` if none was found.
    pub(crate) fn choose_event(&mut self, number: TransitionId) -> Option<Event> {
        let transition = &self.iosts.transitions[number];
        let action = self.iosts.action(transition.action);
        let state = self.state.as_ref()?;
        let (values, parameters) = (&mut self.values, &action.parameters);
        let (random, solver) = (&mut self.random, &mut self.solver);
        let chosen = values.choose(&transition.guard, parameters, &state.valuation, random, solver)?;
        Some(Event::new(action.name.clone(), chosen))
    }

    /// Finds an output with parameters that may be possible here, for the case that no values were found for
    /// any. The text says which comparison or assignment has no value in this state. An output without such a
    /// text is preferred. `None` if there is none.
    fn find_unsolved_output(&self, state: &State) -> Option<(&Action, Option<String>)> {
        let transitions = self.outgoing[state.location].iter().map(|number| &self.iosts.transitions[*number]);
        let possible = transitions
            .filter(|transition| may_be(transition, state))
            .map(|transition| (self.iosts.action(transition.action), transition));
        let unsolved =
            possible.filter(|(action, _)| action.kind == ActionKind::Output && !action.parameters.is_empty());
        let explained = unsolved.filter_map(|(action, transition)| {
            let undefined = find_undefined(action, transition, state);
            let condition = at_state(&transition.guard, &action.parameters, &state.valuation);
            let may_come = || determine_values(&condition, &action.parameters) != Determined::Never;
            (undefined.is_some() || may_come()).then_some((action, undefined))
        });
        explained.min_by_key(|(_, undefined)| undefined.is_some())
    }

    pub(crate) fn in_types_of_judge(&self, event: Event) -> Event {
        if let Some(signatures) = &self.signatures { in_types_of(signatures, &event) } else { event }
    }
}

/// Finds a side of a comparison, or an assigned value, that does not exist in this state, and says why:
/// `vText[0..2]` of a short text.
fn find_undefined(action: &Action, transition: &Transition, state: &State) -> Option<String> {
    let is_of_state = |side: &&Term| !action.parameters.iter().any(|datum| side.mentions(datum));
    let explain = |side: &Term| Some(evaluate(side, &state.valuation).err()?.to_string());
    let in_guard = transition.guard.conjuncts().iter().find_map(|part| {
        let Some(Node::Compare(_, a, b)) = part.written() else { return None };
        [a, b].into_iter().filter(is_of_state).find_map(explain)
    });
    let mut assigned = transition.assignments.iter().filter(|(_, value)| is_of_state(value));
    let in_assignment = || {
        assigned.find_map(|(datum, value)| match evaluate(value, &state.valuation) {
            Ok(assigned) if assigned.is_in(datum.ty()) => None,
            Ok(_) => Some(format!("`{datum}` would get a value outside of its type")),
            Err(undefined) => Some(format!("`{datum}` would get no value: {undefined}")),
        })
    };
    in_guard.or_else(in_assignment)
}

/// Writes the values that the guards from here read as `, v = 3, w = 4`, as many as fit a message.
fn describe_values(iosts: &Iosts, state: &State) -> String {
    let mut text = String::new();
    let from_here: Vec<_> = iosts.transitions.iter().filter(|one| one.source == state.location).collect();
    for (datum, value) in &state.valuation {
        if !from_here.iter().any(|transition| transition.guard.mentions(datum)) {
            continue;
        }
        let value = shorten_collection(&format!("{value:#}"), &[], &[], LONGEST_VALUE);
        let pair = format!(", {datum} = {value}");
        if text.len() + pair.len() > 2 * LONGEST_TEXT {
            return text + ", ...";
        }
        text += &pair;
    }
    text
}

/// A model without a clock that stands for an implementation.
pub struct Simulated<S> {
    model: WalkedModel<S>,
    completion: Completion,
    /// An input came that the state did not take: from then on everything is possible.
    is_free: bool,
    /// The last input, if the state did not take it and nothing has come since.
    ignored: Option<Event>,
    /// It was waited for an output in vain, and nothing has happened since.
    is_silent: bool,
}

impl<S: Solver> Simulated<S> {
    /// Makes an implementation that behaves as the model says.
    pub fn new(iosts: Iosts, solver: S) -> Self {
        let (model, completion) = (WalkedModel::new(iosts, solver), Completion::default());
        Simulated { model, completion, is_free: false, ignored: None, is_silent: false }
    }

    /// Sets another way to take inputs that the state does not take.
    #[must_use]
    pub fn completed(self, completion: Completion) -> Self {
        Simulated { completion, ..self }
    }

    /// Draws any output, or none.
    fn draw_any_output(&mut self) -> Option<Event> {
        let WalkedModel { iosts, random, .. } = &mut self.model;
        let outputs: Vec<_> =
            iosts.actions.iter().filter(|action| action.kind == ActionKind::Output).collect();
        if random.below(2) == 0 {
            return None;
        }
        let action = *random.pick(&outputs)?;
        let values = action.parameters.iter().map(|parameter| any(parameter.ty(), random));
        Some(Event::new(action.name.clone(), values))
    }

    /// Draws an output, after internal steps if need be. `None`: there is none, or (unless `waited`) not yet.
    fn draw_output(&mut self, waited: bool) -> Option<Event> {
        // A tester that does not wait may ask before the output is there.
        if !waited && self.model.random.below(2) == 0 {
            return None;
        }
        if self.is_free {
            return self.draw_any_output();
        }
        for _ in 0..MOST_INTERNAL {
            // An internal step may come first, or be the only way to an output.
            if self.model.random.below(2) == 0 && self.model.take_internal_step() {
                continue;
            }
            if let Some(event) = self.take_output() {
                return Some(event);
            }
            if !self.model.take_internal_step() {
                return None;
            }
        }
        None
    }

    /// Takes an output transition of the present state, if there is one.
    fn take_output(&mut self) -> Option<Event> {
        for number in self.model.candidates(|_, action| action.kind == ActionKind::Output) {
            let Some(event) = self.model.choose_event(number) else { continue };
            let WalkedModel { iosts, state, values, .. } = &mut self.model;
            if let Some(next) = fire(iosts, &iosts.transitions[number], state.as_ref()?, &event.values) {
                values.remember_values(&event.values);
                *state = Some(next);
                return Some(event);
            }
        }
        None
    }
}

impl<S: Solver> Implementation for Simulated<S> {
    fn take_signatures(&mut self, signatures: &Iosts) {
        self.model.take_signatures(signatures);
    }

    fn reset(&mut self, constants: &[(Datum, Value)], seed: u64) -> Result<(), String> {
        (self.is_free, self.ignored, self.is_silent) = (false, None, false);
        self.model.reset(constants, seed)
    }

    fn input(&mut self, input: &Event) {
        (self.ignored, self.is_silent) = (None, false);
        if !self.model.take_input(input) {
            self.is_free |= self.completion == Completion::Demonic;
            self.ignored = Some(input.clone());
        }
    }

    fn output(&mut self, waited: bool) -> Option<Event> {
        let event = self.draw_output(waited);
        self.is_silent = event.is_none() && (waited || self.is_silent);
        let event = event?;
        self.ignored = None;
        Some(self.model.in_types_of_judge(event))
    }

    /// Says why nothing came if the tester has waited in vain: an ignored input, or an output without values.
    fn explain_silence(&self) -> Option<String> {
        let state = self.model.state.as_ref().filter(|_| self.is_silent && !self.is_free)?;
        let iosts = &self.model.iosts;
        let place = format!("in `{}`{}", iosts.locations[state.location].name, describe_values(iosts, state));
        let what = match (&self.ignored, self.model.find_unsolved_output(state)) {
            (Some(input), _) => {
                let mut from_here = iosts.transitions.iter().filter(|one| one.source == state.location);
                let guarded = from_here.find(|one| iosts.action(one.action).name == input.action);
                let why = match guarded.map(|one| one.origin.guard.as_ref()) {
                    Some(Some(at)) => format!("the guard at {} does not hold", at.file_and_line()),
                    Some(None) => "the guard does not hold".to_owned(),
                    None => "add a transition to the model, none takes it".to_owned(),
                };
                format!("ignored `{input:#}` (`completion: angelic`): {why} {place}")
            }
            (None, Some((action, Some(why)))) => {
                format!("sent nothing {place}: {why}, so `{}` cannot come", action.name)
            }
            (None, Some((action, None))) => {
                let names: Vec<String> = action.parameters.iter().map(|datum| format!("`{datum}`")).collect();
                format!(
                    "sent nothing {place}: no value was found for {} of `{}`. If there is one, an equation for it in \
                     the guard helps",
                    names.join(", "),
                    action.name
                )
            }
            (None, None) => format!("has no output {place}. Add a transition to the model"),
        };
        Some(format!("the simulated model `{}` {what}", iosts.name))
    }
}
