//! The interface of a judge, with the types of its questions and answers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::time::Duration;

use coreach_adapters::description::Link;
use coreach_analyses::solver::Solver;
use coreach_model::iosts::Iosts;
use coreach_model::limits::LONGEST_TEXT;
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State};
use coreach_model::{Datum, TransitionId, Value, Verdict, Violated};
use serde::{Deserialize, Serialize};

use crate::judge::excerpts::{
    contains_word, drop_id_types, is_quoted, list_places_read, shorten_collection, split_reason,
};
use crate::run::{Cause, Occurrence, ShownState};
use crate::test_case::TestCase;
use crate::values::Values;

/// A judge's answer to an occurrence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judged {
    /// It may happen, and the judge followed it; by this transition, if it follows one at a time.
    Followed(Option<TransitionId>),
    /// It ends the run with this verdict. The judge stays in its state.
    Ends(Verdict, Cause),
}

impl Judged {
    /// Returns the answer to an event with an action or a value that the specification does not have.
    pub fn alien(iosts: &Iosts, event: &Event) -> Self {
        let parameters = iosts.find_action(&event.action).map(|action| &iosts.action(action).parameters);
        let mut pairs = parameters.into_iter().flatten().zip(&event.values);
        let why = match pairs.find(|(datum, value)| !value.is_in(datum.ty())) {
            Some((datum, _)) => format!("and `{datum}` must be of type {}", datum.ty()),
            None => "which is not an event of the specification".to_owned(),
        };
        Judged::Ends(Verdict::Fail, Cause::Alien(format!("{event}, {why}")))
    }

    /// Returns the answer to silence if the specification must answer.
    pub fn silence_fails(time: Duration) -> Self {
        Judged::Ends(Verdict::Fail, Cause::Silence(time))
    }

    /// Returns the answer to silence in a theory without quiescence: no fault, and nothing comes after it.
    pub fn silence(time: Duration) -> Self {
        Judged::Ends(Verdict::Inconclusive, Cause::Silence(time))
    }
}

/// The effect of silence in a state of a test of ioco.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterSilence {
    /// All is as before, or the purpose is out of reach: a tester that can send need not wait for it.
    Nothing,
    /// It is a Fail or a Pass, or leads to another state: waiting for it is a move like others.
    Decides,
}

/// A move of the tester.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    Send(TransitionId),
    Wait,
}

/// A move that the tester may make, with what a strategy needs to know of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    pub step: Move,
    /// The transitions by which it may lead on.
    pub through: Vec<TransitionId>,
}

/// The moves of a state.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Offers {
    /// The moves, the stimuli first.
    pub moves: Vec<Offer>,
    /// May anything be observed here, expected or not?
    pub may_observe: bool,
}

/// A guard at the moment of decision.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Guard {
    /// The transition: `Pay -Return-> Choose`.
    pub transition: String,
    /// The file and line of the guard, if they are known: `vending.yaml:15`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
    /// The part that decided: a conjunct.
    pub part: String,
    /// Did the part hold?
    pub holds: bool,
    /// Why the part held or not: what decides in it. `None` if the part says this itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<String>,
    /// The values of the data in the part, as texts.
    pub values: BTreeMap<String, String>,
}

impl Guard {
    /// Does the explanation tell a value of this datum, or of a part of it?
    pub fn names(&self, datum: &Datum) -> bool {
        self.list_places().iter().any(|(place, _)| contains_word(place, datum.name()))
    }

    /// Lists the places in this datum that the explanation reads: the index or key, and the path behind it.
    pub fn list_places_read(&self, datum: &Datum) -> Vec<(&str, &str)> {
        list_places_read(datum.name(), &self.list_places())
    }

    /// Lists the values by their names, and by the places from which functions read them.
    fn list_places(&self) -> Vec<(&str, &str)> {
        let mut places = self.list_values();
        for (_, text) in self.list_values() {
            let (value, reason) = split_reason(text);
            let place = reason.strip_prefix(" (as `").and_then(|reason| reason.split_once('`'));
            places.extend(place.map(|(place, _)| (place, value)));
        }
        places
    }

    /// Is its part, besides these parameters, made of values that the other guard tells?
    pub(super) fn repeats(&self, other: &Guard, parameters: &[&Datum]) -> bool {
        let is_known =
            |(name, text): &(&str, &str)| other.values.get(*name).is_some_and(|known| known == text);
        let is_of_event =
            |(name, _): &(&str, &str)| parameters.iter().any(|datum| contains_word(name, datum.name()));
        let (mut told, untold): (Vec<_>, Vec<_>) =
            self.list_values().into_iter().partition(|value| is_known(value) || is_of_event(value));
        // The longest names first: one name may be a part of another.
        told.sort_by_key(|(name, _)| Reverse(name.len()));
        let rest = told.iter().fold(self.part.clone(), |rest, (name, _)| rest.replace(name, ""));
        self.since.is_none()
            && told.iter().any(|value| !is_of_event(value))
            && !untold.iter().any(|(name, _)| contains_word(&rest, name))
    }

    fn list_values(&self) -> Vec<(&str, &str)> {
        self.values.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect()
    }
}

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe(|_, _| false))
    }
}

impl Guard {
    /// Describes the guard with its values, except for those that were told: their names and texts.
    pub fn describe(&self, is_told: impl Fn(&str, &str) -> bool) -> String {
        let Guard { transition, place, part, holds, since, .. } = self;
        let texts = self.list_values();
        // The fields of a record that is shown as a whole are not told again.
        let is_in_whole = |name: &str| {
            let is_path = !name.contains([' ', '(']);
            let whole =
                name.split_once('.').filter(|_| is_path).and_then(|(whole, _)| self.values.get(whole));
            whole.is_some_and(|text| text.len() <= LONGEST_TEXT)
        };
        let mut shown: Vec<&(&str, &str)> =
            texts.iter().filter(|(name, text)| !is_in_whole(name) && !is_told(name, text)).collect();
        // Nobody takes in more than eight values. Then those that the text names are enough.
        if shown.len() > 8 {
            let reasons = shown.iter().map(|(_, text)| *text).filter(|text| text.contains('`'));
            let since = since.as_deref().unwrap_or_default();
            let told = [part.as_str(), since].into_iter().chain(reasons).collect::<Vec<_>>().join(" ");
            shown.retain(|(name, _)| told.contains(name));
        }
        let named = shown.into_iter().map(|(name, text)| {
            let read: Vec<&str> =
                list_places_read(name, &texts).into_iter().map(|(index, _)| index).collect();
            let (value, reason) = split_reason(text);
            format!("{name} = {}{reason}", shorten_collection(value, &read, &texts, LONGEST_TEXT))
        });
        let values = named.collect::<Vec<_>>().join(", ");
        let colon = if values.is_empty() { "" } else { ": " };
        let verb = if *holds { "holds" } else { "does not hold" };
        // What decides is enough of a long condition. The left side of an equation shows where it stands.
        let left_side =
            part.split_once(" == ").map(|(left, _)| left).filter(|left| !left.contains([' ', '(']));
        let part = match (since, left_side) {
            (Some(_), Some(left)) if !is_quoted(part) => format!("`{left} == ...`"),
            (Some(_), None) if !is_quoted(part) => {
                if *holds { "a condition of the guard" } else { "the guard" }.to_owned()
            }
            _ => format!("`{part}`"),
        };
        let place = place.as_ref().map_or(String::new(), |place| format!(" ({place})"));
        let since = since.as_ref().map_or(String::new(), |since| format!(", since {since}"));
        let why = drop_id_types(&format!("{part} {verb}{since}{colon}{values}"));
        format!("{transition}{place}: {why}")
    }
}

/// The explanation of an occurrence in a state.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Reasons {
    /// The values that should have come instead: `pNumber = 11, got 12`. Empty if they are not known.
    pub instead: String,
    pub guards: Vec<Guard>,
    /// The observations that would have led on.
    pub expected: Vec<String>,
    /// For each transition of the event's action that was not taken, its conjuncts that do not hold.
    pub violated: Vec<Vec<String>>,
    /// How it violates a property, if it does.
    pub violates: Option<Violated>,
}

/// The means to choose values.
pub struct Choice<'a> {
    pub values: &'a mut Values,
    /// The run's lots.
    pub random: &'a mut Random,
    /// The solver, for values that are not found by lot.
    pub solver: &'a mut dyn Solver,
}

/// Follows runs, one after the other: `begin`, then `take` until there is a verdict.
pub trait Judge {
    /// Returns the model with the actions' signatures, and its name.
    fn iosts(&self) -> &Iosts;

    /// Lists the symbolic constants' values, in the model's order.
    fn constants(&self) -> Vec<(Datum, Value)>;

    /// Goes back to the state in which a run begins.
    fn begin(&mut self);

    /// Returns the moves that the tester may make in this state.
    fn offers(&self) -> Offers;

    /// Chooses a stimulus of this transition that can be taken in this state. `None`: no values were found.
    fn stimulus(&mut self, number: TransitionId, choice: &mut Choice<'_>) -> Option<Event>;

    /// Can this stimulus be sent in this state?
    fn can_send(&mut self, stimulus: &Event) -> bool;

    /// Follows an occurrence, or ends the run.
    fn take(&mut self, what: &Occurrence) -> Judged;

    /// Returns the verdict of this state, if it has one: then the run is over.
    fn verdict(&self) -> Option<Verdict>;

    /// Returns the state, for people.
    fn shown(&self) -> ShownState;

    /// Returns the test case in which a way to Pass can be planned, if one can, and its possible states.
    fn scene(&self) -> Option<(&TestCase, Vec<&State>)> {
        None
    }

    /// Is the test case timed, so that runs go by instants?
    fn is_timed(&self) -> bool {
        self.scene().is_some_and(|(test, _)| test.timed.is_some())
    }

    /// Returns the names of the specification's locations that are possible, as far as they are known.
    fn specification_locations(&self) -> BTreeSet<&str> {
        BTreeSet::new()
    }

    /// Returns the name of this state in settings for single places.
    fn place(&self) -> &str;

    /// Describes in words the offer to send by this transition.
    fn describe(&self, number: TransitionId) -> String;

    /// For each parameter of this stimulus, the values at which the guards that it has here begin and end,
    /// whatever the other parameters are, and their neighbours. Empty if they are not known.
    fn boundaries(&self, stimulus: &Event) -> Vec<Vec<Value>> {
        vec![Vec::new(); stimulus.values.len()]
    }

    /// Explains an observation, taken or not, that came to this verdict.
    fn why(&self, observed: Option<&Event>, verdict: Option<Verdict>) -> Reasons;

    /// Returns an earlier observation that no order explains yet, if this one would be followed without it.
    fn unexplained(&self, _: &Event) -> Option<Event> {
        None
    }

    /// Returns an earlier observation that is allowed only after an output that has not come.
    fn held_back(&self) -> Option<Event> {
        None
    }

    /// Returns how long nothing must come before the judge wants to be shown that time, as a delay. `None`:
    /// it asks for no time.
    fn due(&self) -> Option<Duration> {
        None
    }

    /// Returns the effect of silence once nothing is under way, in a test of ioco. `None`: it is not known.
    fn silence(&self) -> Option<AfterSilence> {
        None
    }

    /// Counts the stimuli that may be under way.
    fn under_way(&self) -> usize {
        0
    }

    /// Must the specification send before all else? `false`: unknown, or silence is judged otherwise.
    fn must_answer(&self) -> bool {
        false
    }

    /// Must the specification send something now, over a link on which its answer may cross a stimulus? A
    /// tester that sends at once then learns less.
    fn owes(&self) -> bool {
        false
    }

    /// Assumes from here on that stimuli may be under way for ever. `false`: the judge looks at no link.
    fn loosen(&mut self) -> bool {
        false
    }

    /// Returns the link that the judge looks at, if it does.
    fn link(&self) -> Option<Link> {
        None
    }

    /// Returns the answer to a message that is no event of any model.
    fn alien(&self, text: String) -> Judged {
        Judged::Ends(Verdict::Fail, Cause::Alien(text))
    }

    /// Returns the number of observations that are allowed only because they have crossed a stimulus.
    fn crossed(&self) -> usize {
        0
    }
}

/// A judge that can be copied, so that several follow different orders of events.
pub trait Follower: Judge + Clone {
    /// Are both judges in the same state?
    fn has_state_of(&self, other: &Self) -> bool;

    /// May an observation of an action with `is_meant` come in this state, and be no Fail? Errs towards yes.
    fn may_come(&self, is_meant: &dyn Fn(&str) -> bool) -> bool;

    /// Must the specification send something in this state? Only strategies ask, so it may be wrong.
    fn must_go_on(&self) -> bool {
        false
    }
}
