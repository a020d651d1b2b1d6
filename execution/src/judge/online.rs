//! On-line judging: follows every state of the product that is possible after the trace.
//!
//! **Problem.** A test case needs a deterministic specification. Some specifications have no deterministic
//! form, or one that is too large. A run can be judged without it.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006), section 4.3, rules R0 to R6. A *context* is here a state
//! of the product: observed events carry their values, and internal actions carry none, so a path condition
//! would have one solution. Equal contexts are one, so the costs of a step do not depend on the length of the
//! run.
//!
//! **Verdicts**, after an event and all internal steps that may follow it:
//!
//! - no state: Fail (R2). The specification forbids the event, whichever way it went;
//! - all states in Accept: Pass (R4);
//! - some in Accept: WeakPass (R5). The purpose may have been met;
//! - none in Accept, and none from which `coreach` lets it be reached: Inconclusive (R3). Facts are
//!   over-approximations, so Accept certainly cannot be reached then;
//! - otherwise the run goes on (R1). A stimulus is offered if it takes one of the states to one from which
//!   Accept may be reached (R6).
//!
//! With a property ([`TestCase::violates`]), it is a Fail if one state violates the property, since one way
//! through it is enough, or if the event is forbidden. States that forbid it are dropped if others do not. By
//! ioco, quiescence is an action of the product, and silence is followed as that action: the states that are
//! not quiescent are dropped, and if none remains it is a Fail.
//!
//! If no location has a verdict, the only question is whether the specification allows the trace
//! ([`crate::walk`]). Then a run never passes, and silence that is no failure ends nothing: the states stay
//! as they were. Otherwise silence is as for a test case ([`super::case`]). The specification must answer if
//! each state has an output or an internal step.
//!
//! If there are many states because of unseen data, they are kept as formulas ([`crate::monitor`]).
//! Statements about each state here hold for all states of a formula. But it is never said of a formula that
//! the specification must answer.
//!
//! **Ends**, since internal steps end in a specification without livelock. States and formulas are limited,
//! and beyond that the run is Inconclusive for the cause `states`. **Costs** the states times their
//! transitions.

use std::collections::BTreeSet;
use std::time::Duration;

use coreach_model::iosts::{ActionKind, Iosts, LocationId, Transition};
use coreach_model::semantics::{Event, State, fire};
use coreach_model::{Datum, TransitionId, Value, Verdict, Violated};

use crate::judge::contract::{AfterSilence, Choice, Follower, Judge, Judged, Move, Offer, Offers, Reasons};
use crate::judge::guards::{can_come, with_event, without_purpose};
use crate::monitor::Monitor;
use crate::run::{Occurrence, ShownState};
use crate::test_case::{Online, TestCase};

#[derive(Clone, Debug)]
pub struct OnlineJudge<'a> {
    test: &'a TestCase,
    online: &'a Online,
    monitor: Monitor<'a>,
    verdict: Option<Verdict>,
    /// Is silence a failure where the specification must answer?
    silence_fails: bool,
    /// In a test without a purpose: has nothing come since the last event?
    is_silent: bool,
}

impl<'a> OnlineJudge<'a> {
    /// Returns a judge in its initial state (R0), with the constants in it. `online` is part of `test`.
    pub fn new(test: &'a TestCase, online: &'a Online, initial: State, silence_fails: bool) -> Self {
        OnlineJudge { silence_fails, ..OnlineJudge::in_states(test, online, [initial].into()) }
    }

    /// Returns a judge for which these states are possible, and all that internal steps lead to.
    pub fn in_states(test: &'a TestCase, online: &'a Online, states: BTreeSet<State>) -> Self {
        let monitor = Monitor::new(&test.iosts, states);
        let verdict = verdict_of_states(test, online, &monitor);
        OnlineJudge { test, online, monitor, verdict, silence_fails: false, is_silent: false }
    }

    /// Gathers states into formulas if there are more than this.
    #[must_use]
    pub fn gathering_beyond(self, few: usize) -> Self {
        OnlineJudge { monitor: self.monitor.gathering_beyond(few), ..self }
    }

    /// Are there formulas, so that one example state of each is shown?
    pub fn has_formulas(&self) -> bool {
        !self.monitor.are_all()
    }

    /// Lists the states that are possible now: all of them, or one example of each formula.
    pub fn states(&self) -> impl Iterator<Item = &State> {
        self.monitor.states().iter()
    }

    /// Lists the transitions of a kind that leave a possible state, in order, each with the state.
    fn transitions_leaving(&self, kind: ActionKind) -> impl Iterator<Item = (TransitionId, &State)> {
        let by_location = match kind {
            ActionKind::Input => &self.test.stimuli,
            ActionKind::Output => &self.test.observations,
            ActionKind::Quiescence => &self.test.silences,
            ActionKind::Internal => &self.online.internal,
        };
        self.states()
            .flat_map(move |state| by_location[state.location].iter().map(move |number| (*number, state)))
    }

    /// Is it the specification alone, without a purpose?
    fn is_without_purpose(&self) -> bool {
        self.test.verdicts.iter().all(Option::is_none)
    }

    /// Is it judged by ioco: is quiescence an action?
    fn is_suspended(&self) -> bool {
        self.test.iosts.actions.iter().any(|action| action.kind == ActionKind::Quiescence)
    }

    /// Returns the judge after silence, if quiescence is an action. `Err`: the silence ends the run.
    fn after_silence(&self, time: Duration) -> Result<Self, Judged> {
        let mut after = self.clone();
        match after.monitor.take(&Occurrence::Silence(time)) {
            Judged::Followed(_) => after.update_verdict(),
            ends => return Err(ends),
        }
        match after.verdict {
            Some(Verdict::Inconclusive) => Err(Judged::silence(time)),
            _ => Ok(after),
        }
    }

    fn update_verdict(&mut self) {
        let violates = &self.test.violates;
        self.monitor.drop_states_in(|location| violates[location] == Some(Violated::Forbidden));
        self.verdict = verdict_of_states(self.test, self.online, &self.monitor);
    }

    /// Returns how a possible state violates the property, if one does.
    fn violated(&self) -> Option<Violated> {
        self.states().find_map(|state| self.test.violates[state.location])
    }
}

/// Returns the verdict when these states are possible; `None`: the run goes on.
fn verdict_of_states(test: &TestCase, online: &Online, monitor: &Monitor<'_>) -> Option<Verdict> {
    if let Some(fail) = monitor.verdict() {
        return Some(fail);
    }
    let states = monitor.states();
    // One way through a property is enough to violate it.
    if states.iter().any(|state| test.violates[state.location].is_some()) {
        return Some(Verdict::Fail);
    }
    let accepting = states.iter().filter(|state| test.verdict(state.location) == Some(Verdict::Pass)).count();
    match accepting {
        0 if monitor.may_hold(&online.alive) => None,
        0 => Some(Verdict::Inconclusive),
        count if count == states.len() => Some(Verdict::Pass),
        _ => Some(Verdict::WeakPass),
    }
}

impl Follower for OnlineJudge<'_> {
    fn has_state_of(&self, other: &Self) -> bool {
        self.is_silent == other.is_silent && self.monitor.has_state_of(&other.monitor)
    }

    fn may_come(&self, is_meant: &dyn Fn(&str) -> bool) -> bool {
        self.monitor.may_come(is_meant)
    }

    fn must_go_on(&self) -> bool {
        self.monitor.must_go_on()
    }
}

impl Judge for OnlineJudge<'_> {
    fn iosts(&self) -> &Iosts {
        self.monitor.iosts()
    }

    fn constants(&self) -> Vec<(Datum, Value)> {
        self.monitor.constants()
    }

    fn begin(&mut self) {
        self.monitor.begin();
        self.is_silent = false;
        self.verdict = verdict_of_states(self.test, self.online, &self.monitor);
    }

    /// Offers each stimulus that may lead on, and a wait if some observation or silence may.
    fn offers(&self) -> Offers {
        let mut moves: Vec<Offer> = Vec::new();
        for (number, _) in self.transitions_leaving(ActionKind::Input) {
            let step = Move::Send(number);
            if !self.online.leads_on[number].is_false() && moves.iter().all(|offer| offer.step != step) {
                moves.push(Offer { step, through: vec![number] });
            }
        }
        let mut through: Vec<TransitionId> =
            self.transitions_leaving(ActionKind::Output).map(|(number, _)| number).collect();
        let decides = self.is_suspended() && self.silence() == Some(AfterSilence::Decides);
        if decides {
            through.extend(self.transitions_leaving(ActionKind::Quiescence).map(|(number, _)| number));
        }
        through.retain(|number| !self.online.leads_on[*number].is_false());
        through.sort_unstable();
        through.dedup();
        if !through.is_empty() || decides || moves.is_empty() {
            moves.push(Offer { step: Move::Wait, through });
        }
        Offers { moves, may_observe: true }
    }

    fn stimulus(&mut self, number: TransitionId, choice: &mut Choice<'_>) -> Option<Event> {
        let transition = &self.test.iosts.transitions[number];
        let action = self.test.iosts.action(transition.action);
        let condition = &self.online.leads_on[number];
        self.monitor.states().iter().filter(|state| state.location == transition.source).find_map(|state| {
            let Choice { values, random, solver } = &mut *choice;
            let values = values.choose(condition, &action.parameters, &state.valuation, random, *solver)?;
            Some(Event::new(action.name.clone(), values))
        })
    }

    fn can_send(&mut self, stimulus: &Event) -> bool {
        self.monitor.can_send(stimulus)
    }

    /// Follows an occurrence in all states. A violation of a property names the transition that led to it.
    fn take(&mut self, what: &Occurrence) -> Judged {
        if let Occurrence::Silence(time) = what
            && self.is_suspended()
        {
            return match self.after_silence(*time) {
                Ok(after) => {
                    *self = after;
                    Judged::Followed(None)
                }
                Err(ends) => ends,
            };
        }
        if let Occurrence::Silence(time) = what
            && self.silence_fails
            && self.must_answer()
        {
            return Judged::silence_fails(*time);
        }
        if matches!(what, Occurrence::Silence(_)) && self.is_without_purpose() {
            self.is_silent = true;
            return Judged::Followed(None);
        }
        let sources: BTreeSet<LocationId> = self.states().map(|state| state.location).collect();
        let judged = self.monitor.take(what);
        let (Some(event), Judged::Followed(_)) = (what.event(), &judged) else { return judged };
        self.is_silent = false;
        self.update_verdict();
        let Some(how) = self.violated() else { return Judged::Followed(None) };
        let test = self.test;
        let violates_now = |transition: &Transition| {
            test.violates[transition.target] == Some(how)
                && sources.contains(&transition.source)
                && test.iosts.action(transition.action).name == event.action
        };
        Judged::Followed(test.iosts.transitions.first_number(violates_now))
    }

    fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    fn shown(&self) -> ShownState {
        self.monitor.shown()
    }

    fn silence(&self) -> Option<AfterSilence> {
        if self.is_suspended() {
            let decides = match self.after_silence(Duration::ZERO) {
                Ok(after) => after.verdict.is_some() || !after.has_state_of(self),
                Err(ends) => matches!(ends, Judged::Ends(Verdict::Fail, _)),
            };
            return Some(if decides { AfterSilence::Decides } else { AfterSilence::Nothing });
        }
        // A second silence in a row says nothing new.
        let effect = if self.is_silent { AfterSilence::Nothing } else { AfterSilence::Decides };
        self.is_without_purpose().then_some(effect)
    }

    fn scene(&self) -> Option<(&TestCase, Vec<&State>)> {
        Some((self.test, self.states().collect()))
    }

    fn specification_locations(&self) -> BTreeSet<&str> {
        self.states().flat_map(|state| &self.test.origins[state.location]).map(String::as_str).collect()
    }

    fn place(&self) -> &str {
        self.monitor.place()
    }

    fn describe(&self, number: TransitionId) -> String {
        self.monitor.describe(number)
    }

    fn boundaries(&self, stimulus: &Event) -> Vec<Vec<Value>> {
        self.monitor.boundaries(stimulus)
    }

    fn must_answer(&self) -> bool {
        let iosts = &self.test.iosts;
        self.monitor.are_all()
            && self.states().all(|state| {
                let goes_on =
                    |number: &TransitionId| fire(iosts, &iosts.transitions[*number], state, &[]).is_some();
                let answers = |number: &TransitionId| can_come(self.test, &iosts.transitions[*number], state);
                self.online.internal[state.location].iter().any(goes_on)
                    || self.test.observations[state.location].iter().any(answers)
            })
    }

    fn why(&self, observed: Option<&Event>, verdict: Option<Verdict>) -> Reasons {
        if matches!(verdict, Some(Verdict::Pass | Verdict::WeakPass)) {
            return Reasons::default();
        }
        let forbidden = observed.filter(|_| verdict == Some(Verdict::Fail));
        let violates = forbidden.and_then(|event| {
            let mut after = self.clone();
            after.take(&Occurrence::Observation(event.clone()));
            after.violated()
        });
        let iosts = &self.test.iosts;
        let allow = |candidate: &Transition, state: &State| {
            if self.test.verdict(candidate.target) == Some(Verdict::Fail) {
                return None;
            }
            let siblings: Vec<_> =
                iosts.transitions.iter().filter(|sibling| sibling.source == candidate.source).collect();
            let values = forbidden.map(|event| with_event(iosts, state, event));
            Some(without_purpose(self.test, candidate, &siblings, values.as_ref()))
        };
        let why = Reasons { violates, ..self.monitor.why_not(observed, verdict, allow) };
        // The specification's guards say nothing about a violated property.
        if violates.is_some() { Reasons { instead: String::new(), guards: Vec::new(), ..why } } else { why }
    }
}
