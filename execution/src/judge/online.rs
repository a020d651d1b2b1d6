//! On-line judging: every state of the product that is possible after what was seen.
//!
//! **Problem.** A test case follows one state, and so needs a deterministic specification. Some have no such
//! form, or one that is too large; and nobody needs it to judge a run.
//!
//! **Source.** Gaston, Le Gall, Rapin, Touil (2006), section 4.3, rules R0 to R6. A *context* is here a state
//! of the product: what is seen carries its values, and internal actions carry none, so a path condition
//! would have one solution. Contexts that are equal are one (the rules' authors leave that open), so a step
//! costs what the set costs, however long the run.
//!
//! **Verdicts**, after an event and all internal steps behind it:
//! - no state: Fail (R2). The specification forbids what was seen, whichever way it went;
//! - all states in Accept: Pass (R4);
//! - some in Accept: WeakPass (R5). It may be that the purpose was met;
//! - none in Accept, and none from which `coreach` lets it be reached: Inconclusive (R3). Facts are
//!   over-approximations, so this is said only where it is so;
//! - else the run goes on (R1). A stimulus is offered where one of the states takes it to one from which
//!   Accept may be reached (R6).
//!
//! Of a property ([`TestCase::violates`]): Fail where one state violates it, since one way through it is
//! enough, or where what came is forbidden; a state that forbids what others allow is none of those that are
//! possible.
//!
//! By ioco quiescence is an action of the product, and silence is followed as one: the states that are not
//! quiescent are out, and where none is left it is a Fail.
//!
//! Where no location has a verdict, nothing is asked for but that the specification allows what is seen
//! ([`crate::walk`]): a run never passes, and silence that is no failure ends nothing; the states stay as
//! they were, which is never wrong.
//!
//! Else silence is as for a test case ([`super::case`]); whether the specification must answer is not a fact
//! computed before, but asked of the states themselves: each has an output or an internal step.
//!
//! Where unseen data add up, the states are formulas ([`crate::monitor`]), and what is said of each state
//! here is said of all that a formula stands for; that a specification must answer is not said of a formula.
//!
//! **Ends**: internal steps do, in a specification without livelock; states and formulas are limited, and
//! beyond that the run is Inconclusive for the cause `states`. **Costs** the states times the transitions of
//! their locations.

use std::collections::BTreeSet;
use std::time::Duration;

use coreach_model::iosts::{ActionKind, Iosts, LocationId, Transition};
use coreach_model::semantics::{Event, State, fire};
use coreach_model::{Datum, TransitionId, Value, Verdict, Violated};

use crate::judge::contract::{AfterSilence, Choice, Follower, Judge, Judged, Move, Offer, Offers, Why};
use crate::judge::guards::can_come;
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
    /// Of a test without a purpose: has nothing come since the last event?
    is_silent: bool,
}

impl<'a> OnlineJudge<'a> {
    /// In its initial state (R0), with the constants in it; `online` is what `test` says of its judging.
    pub fn new(test: &'a TestCase, online: &'a Online, initial: State, silence_fails: bool) -> Self {
        OnlineJudge { silence_fails, ..OnlineJudge::in_states(test, online, [initial].into()) }
    }

    /// Where these states are possible, and all that internal steps lead to.
    pub fn in_states(test: &'a TestCase, online: &'a Online, states: BTreeSet<State>) -> Self {
        let monitor = Monitor::new(&test.iosts, states);
        let verdict = verdict(test, online, &monitor);
        OnlineJudge { test, online, monitor, verdict, silence_fails: false, is_silent: false }
    }

    /// The same, where more states than these are gathered to formulas.
    #[must_use]
    pub fn gathering_beyond(self, few: usize) -> Self {
        OnlineJudge { monitor: self.monitor.gathering_beyond(few), ..self }
    }

    /// Are there formulas, of each of which one state is shown?
    pub fn has_formulas(&self) -> bool {
        !self.monitor.are_all()
    }

    /// States that are possible now: all, or one of each formula.
    pub fn states(&self) -> impl Iterator<Item = &State> {
        self.monitor.states().iter()
    }

    /// The transitions of a kind that leave a state that is possible, in order.
    fn transitions_leaving(&self, kind: ActionKind) -> impl Iterator<Item = (TransitionId, &State)> {
        let of = match kind {
            ActionKind::Input => &self.test.stimuli,
            ActionKind::Output => &self.test.observations,
            ActionKind::Quiescence => &self.test.silences,
            ActionKind::Internal => &self.online.internal,
        };
        self.states().flat_map(move |state| of[state.location].iter().map(move |number| (*number, state)))
    }

    /// Is it the specification alone, without a purpose?
    fn is_without_purpose(&self) -> bool {
        self.test.verdicts.iter().all(Option::is_none)
    }

    /// Is it judged by ioco: is quiescence an action?
    fn is_suspended(&self) -> bool {
        self.test.iosts.actions.iter().any(|action| action.kind == ActionKind::Quiescence)
    }

    /// The same after silence of this length, where quiescence is an action; or that it ends the run.
    fn quiet(&self, time: Duration) -> Result<Self, Judged> {
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
        self.monitor.leave(|location| violates[location] == Some(Violated::Forbidden));
        self.verdict = verdict(self.test, self.online, &self.monitor);
    }

    fn violated(&self) -> Option<Violated> {
        self.states().find_map(|state| self.test.violates[state.location])
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
}

fn verdict(test: &TestCase, online: &Online, monitor: &Monitor<'_>) -> Option<Verdict> {
    if let Some(fail) = monitor.verdict() {
        return Some(fail);
    }
    let states = monitor.states();
    // A property is violated by one way through it.
    if states.iter().any(|state| test.violates[state.location].is_some()) {
        return Some(Verdict::Fail);
    }
    let accepting = states.iter().filter(|state| test.verdict(state.location) == Some(Verdict::Pass)).count();
    match accepting {
        0 if monitor.may_hold(&online.alive) => None,
        0 => Some(Verdict::Inconclusive),
        all if all == states.len() => Some(Verdict::Pass),
        _ => Some(Verdict::WeakPass),
    }
}

impl Follower for OnlineJudge<'_> {
    fn is_where(&self, other: &Self) -> bool {
        self.is_silent == other.is_silent && self.monitor.is_where(&other.monitor)
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
        self.verdict = verdict(self.test, self.online, &self.monitor);
    }

    fn offers(&self) -> Offers {
        let mut moves: Vec<Offer> = Vec::new();
        for (number, _) in self.transitions_leaving(ActionKind::Input) {
            let step = Move::Send(number);
            if !self.online.leads_on[number].is_false() && moves.iter().all(|one| one.step != step) {
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

    fn take(&mut self, what: &Occurrence) -> Judged {
        if let Occurrence::Silence(time) = what
            && self.is_suspended()
        {
            return match self.quiet(*time) {
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
        let before: BTreeSet<LocationId> = self.states().map(|state| state.location).collect();
        let judged = self.monitor.take(what);
        let (Some(event), Judged::Followed(_)) = (what.event(), &judged) else { return judged };
        self.is_silent = false;
        self.update_verdict();
        // Whoever asks how a property was violated asks the last transition.
        let violated = self.violated().and_then(|how| {
            let test = self.test;
            let is_last = |one: &Transition| {
                test.violates[one.target] == Some(how)
                    && before.contains(&one.source)
                    && test.iosts.action(one.action).name == event.action
            };
            test.iosts.transitions.first_number(is_last)
        });
        Judged::Followed(violated)
    }

    fn verdict(&self) -> Option<Verdict> {
        self.verdict
    }

    fn shown(&self) -> ShownState {
        self.monitor.shown()
    }

    fn silence(&self) -> Option<AfterSilence> {
        if self.is_suspended() {
            let decides = match self.quiet(Duration::ZERO) {
                Ok(after) => after.verdict.is_some() || !after.is_where(self),
                Err(judged) => matches!(judged, Judged::Ends(Verdict::Fail, _)),
            };
            return Some(if decides { AfterSilence::Decides } else { AfterSilence::Nothing });
        }
        // A second one after the first tells nothing.
        let decides = if self.is_silent { AfterSilence::Nothing } else { AfterSilence::Decides };
        self.is_without_purpose().then_some(decides)
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

    fn why(&self, observed: Option<&Event>, verdict: Option<Verdict>) -> Why {
        if matches!(verdict, Some(Verdict::Pass | Verdict::WeakPass)) {
            return Why::default();
        }
        let violates = observed.filter(|_| verdict == Some(Verdict::Fail)).and_then(|event| {
            let mut after = self.clone();
            after.take(&Occurrence::Observation(event.clone()));
            after.violated()
        });
        let is_allowed = |one: &Transition| self.test.verdict(one.target) != Some(Verdict::Fail);
        let why = Why { violates, ..self.monitor.why_not(observed, verdict, is_allowed) };
        match violates {
            Some(_) => Why { instead: String::new(), guards: Vec::new(), ..why },
            None => why,
        }
    }
}
