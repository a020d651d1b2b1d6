//! A deterministic test case as a judge: one location and one valuation at a time.
//!
//! The verdict is that of the location reached. An observation fires the one transition whose guard holds. An
//! observation that is no action of the alphabet, or has values outside their types, is a Fail with that
//! cause (Definition 6.2: the output is in no Out). A test case takes every other observation by exactly one
//! transition. If no transition fires, or two do, the document was edited, and the run is Inconclusive.
//! Silence is no event of ioc, which is over traces: when the tester reports it, the run is Inconclusive.
//! Time passes unseen.
//!
//! A test of ioco has silence among its observations ([`TestCase::silences`]): silence is taken like an
//! observation, leads on if the specification is quiescent, and is a Fail if it is not.
//!
//! With `silence_fails`, a test of ioc also fails by silence if the specification *must answer*. Half of that
//! is in the test case ([`TestCase::must_answer`], a condition on the data): wherever the specification may
//! be, and wherever internal steps lead from there, it can answer. The other half is decided here: some
//! output that does not lead to Fail can come, with the data of this state. If the solver does not know this,
//! there is no Fail.
//!
//! **Costs** one evaluation of each guard of the location per event. The state after a stimulus is kept from
//! the choice of its values until it was sent.

use std::collections::BTreeSet;
use std::time::Duration;

use coreach_model::iosts::{Iosts, Transition};
use coreach_model::semantics::{Event, State, fire};
use coreach_model::term::evaluate::holds;
use coreach_model::{Datum, LocationId, Term, TransitionId, Value, Verdict, Violated};
use dashu_ratio::RBig;

use crate::judge::contract::{
    AfterSilence, Choice, Follower, Guard, Judge, Judged, Move, Offer, Offers, Reasons,
};
use crate::judge::expected::{Expectation, decided_guard, describe_expectation};
use crate::judge::guards::{
    can_come, conjunct_texts, failing_sets, may_be, split_joined, with_event, without_purpose,
};
use crate::run::{Cause, Occurrence, ShownState};
use crate::test_case::{TestCase, exact_seconds};
use crate::values::are_typed;
use crate::values::boundaries::boundaries;

#[derive(Clone, Debug)]
pub struct CaseJudge<'a> {
    test: &'a TestCase,
    initial: State,
    state: State,
    /// A stimulus that can be sent here, its transition, and the state after it.
    ready: Option<(Event, TransitionId, State)>,
    /// Is silence a failure where the specification must answer?
    silence_fails: bool,
    /// How long nothing has come since the last event.
    silent: RBig,
}

/// Finds the transition that takes silence of this length, and the state after it. A test of ioco has one
/// everywhere, a test of ioc nowhere (`None`). Only a timed test case uses the length.
pub(crate) fn take_silence(test: &TestCase, state: &State, time: Duration) -> Option<(TransitionId, State)> {
    let values = if test.timed.is_some() { vec![Value::Real(exact_seconds(time))] } else { Vec::new() };
    test.silences[state.location]
        .iter()
        .find_map(|number| Some((*number, test.observed(*number, state, &values)?)))
}

impl<'a> CaseJudge<'a> {
    /// Returns a judge in its initial state, with the constants in it ([`crate::constants`]).
    pub fn new(test: &'a TestCase, initial: State) -> Self {
        CaseJudge {
            test,
            state: initial.clone(),
            initial,
            ready: None,
            silence_fails: false,
            silent: RBig::ZERO,
        }
    }

    /// Sets whether silence is a failure if the specification must answer.
    #[must_use]
    pub fn blaming_silence(self, silence_fails: bool) -> Self {
        CaseJudge { silence_fails, ..self }
    }

    pub fn state(&self) -> &State {
        &self.state
    }

    fn here(&self) -> LocationId {
        self.state.location
    }

    /// Returns the transition that takes an event, and the state after it. `None` if no candidate takes it.
    fn find_fired(&self, candidates: &[TransitionId], event: &Event) -> Option<(TransitionId, State)> {
        candidates.iter().find_map(|number| {
            let transition = &self.test.iosts.transitions[*number];
            if self.test.iosts.action(transition.action).name != event.action {
                return None;
            }
            Some((*number, self.test.observed(*number, &self.state, &event.values)?))
        })
    }

    /// Is it an input that does not come from the tester? No implementation is blamed for it.
    fn is_uncontrollable(&self, event: &Event) -> bool {
        let action = self.test.iosts.find_action(&event.action);
        let timed = self.test.timed.as_ref();
        timed.zip(action).is_some_and(|(timed, action)| timed.uncontrollable.contains(&action))
    }

    /// Is it something that may be observed, with values in their types?
    fn is_in_alphabet(&self, event: &Event) -> bool {
        let action = self.test.iosts.find_action(&event.action).map(|id| self.test.iosts.action(id));
        action.is_some_and(|action| action.is_observed() && are_typed(&action.parameters, &event.values))
    }

    /// Goes to the state after a transition.
    fn move_on(&mut self, number: TransitionId, next: State) -> Judged {
        self.state = next;
        Judged::Followed(Some(number))
    }

    /// Returns the transition that takes the shortest silence that counts, and the state after it.
    fn take_short_silence(&self) -> Option<(TransitionId, State)> {
        let length = self.test.timed.as_ref().map_or(Duration::ZERO, |timed| timed.silence_after);
        take_silence(self.test, &self.state, length)
    }

    /// Is silence that leads here worth a wait?
    fn is_worth_waiting(&self, next: &State) -> bool {
        match self.test.verdict(next.location) {
            Some(verdict) => verdict != Verdict::Inconclusive,
            // The clocks of a timed test case go on with every silence.
            None if self.test.timed.is_some() => next.location != self.here(),
            None => *next != self.state,
        }
    }

    /// Lists the transitions of observations that may lead on: their target is neither Fail nor Inconclusive,
    /// or it is a violation that the specification allows.
    fn welcome_observations(&self) -> Vec<TransitionId> {
        let leads_on = |number: &&TransitionId| {
            let target = self.test.iosts.transitions[**number].target;
            self.test.violates[target] == Some(Violated::Allowed)
                || !matches!(self.test.verdict(target), Some(Verdict::Fail | Verdict::Inconclusive))
        };
        self.test.observations[self.here()].iter().filter(leads_on).copied().collect()
    }

    /// Lists the transitions of the observations that do not fail here.
    fn open_transitions(&self) -> impl Iterator<Item = &Transition> {
        let observations =
            self.test.observations[self.here()].iter().map(|number| &self.test.iosts.transitions[*number]);
        observations.filter(|transition| self.test.verdict(transition.target) != Some(Verdict::Fail))
    }
}

/// Keeps the conjuncts that come from the specification. A purpose splits the specification's transitions,
/// and unreachable halves are left out. So the half that fails for the specification's reason alone may not
/// be there. If no conjunct is known to come from the specification, all are kept.
fn keep_of_specification(test: &TestCase, set: Vec<Term>) -> Vec<Term> {
    let from_specification: Vec<Term> =
        set.iter().filter(|part| test.specification_conjuncts.contains(*part)).cloned().collect();
    if from_specification.is_empty() { set } else { from_specification }
}

/// Lists the guards of observations that took the event and led to this verdict. Of transitions to Fail, only
/// those that violate a property count, since the guards that failed explain a plain Fail.
fn deciding_guards(test: &TestCase, state: &State, event: &Event, verdict: Option<Verdict>) -> Vec<Guard> {
    let valuation = with_event(&test.iosts, state, event);
    let decides = |transition: &&Transition| {
        let explains = match test.verdict(transition.target) {
            Some(Verdict::Fail) => test.violates[transition.target].is_some(),
            target_verdict => target_verdict == verdict,
        };
        explains
            && test.iosts.action(transition.action).name == event.action
            && holds(&transition.guard, &valuation) == Ok(true)
    };
    let observations =
        test.observations[state.location].iter().map(|number| &test.iosts.transitions[*number]);
    observations
        .filter(decides)
        .filter_map(|transition| {
            let guard = decided_guard(&test.iosts, transition, valuation.clone())?;
            Some(keep_place_if_sure(test, guard, is_of_specification(test, &transition.guard)))
        })
        .collect()
}

/// Do all parts of the guard come from the specification? Nobody has written those that ask whether an
/// operation has a value.
fn is_of_specification(test: &TestCase, guard: &Term) -> bool {
    let is_its_part = |part: &Term| part.asks_definedness() || test.specification_conjuncts.contains(part);
    guard.conjuncts().iter().all(is_its_part)
}

/// Keeps the guard's line of the specification only if the specification surely says the guard's part.
/// Otherwise the purpose may say it.
fn keep_place_if_sure(test: &TestCase, guard: Guard, is_of_specification: bool) -> Guard {
    let is_sure = is_of_specification || test.specification_conjuncts.is_empty();
    Guard { place: guard.place.filter(|_| is_sure), ..guard }
}

impl Follower for CaseJudge<'_> {
    fn has_state_of(&self, other: &Self) -> bool {
        self.state == other.state
    }

    fn may_come(&self, is_meant: &dyn Fn(&str) -> bool) -> bool {
        self.open_transitions().any(|transition| {
            is_meant(&self.test.iosts.action(transition.action).name) && may_be(transition, &self.state)
        })
    }

    fn must_go_on(&self) -> bool {
        holds(&self.test.must_answer[self.here()], &self.state.valuation) == Ok(true)
            && self.may_come(&|_| true)
    }
}

impl Judge for CaseJudge<'_> {
    fn iosts(&self) -> &Iosts {
        &self.test.iosts
    }

    fn constants(&self) -> Vec<(Datum, Value)> {
        self.test.constants_in(&self.initial)
    }

    fn begin(&mut self) {
        self.ready = None;
        self.silent = RBig::ZERO;
        self.state = self.initial.clone();
    }

    fn offers(&self) -> Offers {
        let send = |number: &TransitionId| Offer { step: Move::Send(*number), through: vec![*number] };
        let mut moves: Vec<Offer> = self.test.stimuli[self.here()].iter().map(send).collect();
        let mut welcome = self.welcome_observations();
        let silence = self.take_short_silence().filter(|(_, next)| self.is_worth_waiting(next));
        if let Some((number, next)) = &silence {
            let fails = self.test.verdict(next.location) == Some(Verdict::Fail);
            welcome.extend((!fails).then_some(*number));
        }
        // A wait may lead on, silence may show a failure, or nothing else can be done.
        if !welcome.is_empty() || silence.is_some() || moves.is_empty() {
            moves.push(Offer { step: Move::Wait, through: welcome });
        }
        Offers { moves, may_observe: !self.test.observations[self.here()].is_empty() }
    }

    fn stimulus(&mut self, number: TransitionId, choice: &mut Choice<'_>) -> Option<Event> {
        let transition = &self.test.iosts.transitions[number];
        let action = self.test.iosts.action(transition.action);
        let values = choice.values.choose(
            &transition.guard,
            &action.parameters,
            &self.state.valuation,
            choice.random,
            choice.solver,
        )?;
        let next = fire(&self.test.iosts, transition, &self.state, &values)?;
        let event = Event::new(action.name.clone(), values);
        self.ready = Some((event.clone(), number, next));
        Some(event)
    }

    fn can_send(&mut self, stimulus: &Event) -> bool {
        let fired = self.find_fired(&self.test.stimuli[self.here()], stimulus);
        self.ready = fired.map(|(number, next)| (stimulus.clone(), number, next));
        self.ready.is_some()
    }

    /// Follows an occurrence by the one transition that takes it.
    fn take(&mut self, what: &Occurrence) -> Judged {
        let ready = self.ready.take();
        let silent_before = std::mem::replace(&mut self.silent, RBig::ZERO);
        match what {
            Occurrence::Stimulus(event) => {
                let fired = match ready {
                    Some((known, number, next)) if known == *event => Some((number, next)),
                    _ => self.find_fired(&self.test.stimuli[self.here()], event),
                };
                match fired {
                    Some((number, next)) => self.move_on(number, next),
                    None => Judged::Ends(Verdict::Inconclusive, Cause::Unspecified),
                }
            }
            Occurrence::Observation(event) => {
                // Exactly one transition must take it, so each is asked alone.
                let candidates = self.test.observations[self.here()].chunks(1);
                let mut fired = candidates.filter_map(|candidate| self.find_fired(candidate, event));
                match (fired.next(), fired.next()) {
                    (Some((number, next)), None) => self.move_on(number, next),
                    (None, _) if !self.is_in_alphabet(event) && !self.is_uncontrollable(event) => {
                        Judged::alien(&self.test.iosts, event)
                    }
                    _ => Judged::Ends(Verdict::Inconclusive, Cause::Unspecified),
                }
            }
            Occurrence::Silence(time) => match take_silence(self.test, &self.state, *time) {
                Some((number, next)) => match self.test.verdict(next.location) {
                    None | Some(Verdict::Pass | Verdict::WeakPass) => {
                        self.silent = silent_before + exact_seconds(*time);
                        self.move_on(number, next)
                    }
                    Some(Verdict::Inconclusive) => Judged::silence(*time),
                    Some(Verdict::Fail) => Judged::silence_fails(*time),
                },
                None if self.silence_fails && self.must_answer() => Judged::silence_fails(*time),
                None => Judged::silence(*time),
            },
            Occurrence::Delay(_) => Judged::Followed(None),
        }
    }

    fn verdict(&self) -> Option<Verdict> {
        self.test.verdict(self.state.location)
    }

    fn shown(&self) -> ShownState {
        let data = self.test.iosts.constants.iter().chain(&self.test.iosts.variables);
        let value = |datum: &Datum| Some((datum.clone(), self.state.valuation.get(datum)?.clone()));
        ShownState {
            place: self.test.iosts.location(self.state.location).label.clone(),
            data: data.filter_map(value).collect(),
        }
    }

    fn must_answer(&self) -> bool {
        holds(&self.test.must_answer[self.here()], &self.state.valuation) == Ok(true)
            && self.test.verdict(self.here()).is_none()
            && self.open_transitions().any(|transition| can_come(self.test, transition, &self.state))
    }

    fn silence(&self) -> Option<AfterSilence> {
        // In a timed run, instants say when the system is silent.
        let (_, next) = self.take_short_silence().filter(|_| self.test.timed.is_none())?;
        Some(if self.is_worth_waiting(&next) { AfterSilence::Decides } else { AfterSilence::Nothing })
    }

    fn scene(&self) -> Option<(&TestCase, Vec<&State>)> {
        Some((self.test, vec![&self.state]))
    }

    fn specification_locations(&self) -> BTreeSet<&str> {
        self.test.origins[self.here()].iter().map(String::as_str).collect()
    }

    fn place(&self) -> &str {
        &self.test.iosts.location(self.state.location).name
    }

    fn describe(&self, number: TransitionId) -> String {
        let transition = &self.test.iosts.transitions[number];
        let action = &self.test.iosts.action(transition.action).name;
        format!("send {action} when {}", transition.guard)
    }

    fn boundaries(&self, stimulus: &Event) -> Vec<Vec<Value>> {
        let sent = self.test.stimuli[self.here()].iter().map(|number| &self.test.iosts.transitions[*number]);
        boundaries(&self.test.iosts, sent, &self.state, stimulus)
    }

    /// Explains an observation, or a missing one. Guards that failed come before those that decided.
    fn why(&self, observed: Option<&Event>, verdict: Option<Verdict>) -> Reasons {
        let iosts = &self.test.iosts;
        let fired = observed.and_then(|event| self.find_fired(&self.test.observations[self.here()], event));
        let violates = fired.and_then(|(number, _)| self.test.violates[iosts.transitions[number].target]);
        if verdict == Some(Verdict::Pass) {
            return Reasons { violates, ..Reasons::default() };
        }
        let silent = self.test.timed.as_ref().map(|_| &self.silent);
        // The transitions that do not fail, in the specification's form: not joined, and without the purpose.
        let split: Vec<Transition> =
            self.open_transitions().flat_map(|transition| split_joined(self.test, transition)).collect();
        let open: Vec<&Transition> = split.iter().collect();
        let forbidden = observed.filter(|_| verdict == Some(Verdict::Fail));
        let forbidden_values = forbidden.map(|event| with_event(iosts, &self.state, event));
        let leave_out = |transition: &&Transition| {
            without_purpose(self.test, transition, &open, forbidden_values.as_ref())
        };
        let plain: Vec<Transition> = open.iter().map(leave_out).collect();
        let in_state: Vec<_> = plain.iter().map(|transition| (transition, &self.state)).collect();
        let Expectation { phrase, guards: failing, expected } =
            describe_expectation(iosts, &in_state, observed, silent);
        let mut why = Reasons { expected, violates, ..Reasons::default() };
        let Some(event) = observed else { return Reasons { instead: phrase, ..why } };
        why.guards = deciding_guards(self.test, &self.state, event, verdict);
        match verdict {
            Some(Verdict::Fail) => {
                for set in failing_sets(iosts, self.open_transitions(), &self.state, event) {
                    why.violated.push(conjunct_texts(&keep_of_specification(self.test, set)));
                }
                if violates != Some(Violated::Allowed) {
                    (why.instead, why.guards) = (phrase, [failing, why.guards].concat());
                }
            }
            _ => {
                // Observations that lead elsewhere: their guards say why these did not come.
                let mut others: Vec<_> = open.iter().map(|transition| (*transition, &self.state)).collect();
                others.retain(|(transition, _)| self.test.verdict(transition.target) != verdict);
                for guard in describe_expectation(iosts, &others, observed, silent).guards {
                    let mut specification_parts = self.test.specification_conjuncts.iter();
                    let is_of_specification = specification_parts.any(|part| part.to_string() == guard.part);
                    why.guards.push(keep_place_if_sure(self.test, guard, is_of_specification));
                }
            }
        }
        why
    }
}
