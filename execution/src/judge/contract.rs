//! What a judge does, and what it is asked and answers with: below all that judge.

use std::collections::BTreeSet;
use std::fmt;
use std::time::Duration;

use coreach_adapters::description::Link;
use coreach_analyses::solver::Solver;
use coreach_model::iosts::Iosts;
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State};
use coreach_model::{Datum, TransitionId, Value, Verdict, Violated};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::judge::excerpts::shorten_collection;
use crate::run::{Cause, Occurrence, ShownState};
use crate::test_case::TestCase;
use crate::values::Values;

/// What an occurrence is to a judge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Judged {
    /// It may happen, and was followed; through the transition of this number, where it is one.
    Followed(Option<TransitionId>),
    /// It ends the run with this verdict. The judge is where it was.
    Ends(Verdict, Cause),
}

impl Judged {
    /// What is no event of the specification.
    pub fn alien(event: &Event) -> Self {
        Judged::Ends(Verdict::Fail, Cause::Alien(format!("{event}, which is no event of the specification")))
    }

    /// What silence is where the specification must answer.
    pub fn silence_fails(time: Duration) -> Self {
        Judged::Ends(Verdict::Fail, Cause::Silence(time))
    }

    /// What silence is in a theory over traces without quiescence: no fault, and nothing comes after it.
    pub fn silence(time: Duration) -> Self {
        Judged::Ends(Verdict::Inconclusive, Cause::Silence(time))
    }
}

/// What silence comes to in a state of a test of ioco.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AfterSilence {
    /// Everything is as before, or the purpose is out of reach: who can send learns nothing by waiting for
    /// it.
    Nothing,
    /// It is a Fail or a Pass, or leads to another state: an idle wait is a move like others.
    Decides,
}

/// What the tester may do.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Move {
    /// Send the stimulus of this transition.
    Send(TransitionId),
    /// Wait for an observation.
    Wait,
}

/// What the tester may do, with what a strategy needs to know of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Offer {
    /// The move.
    pub step: Move,
    /// The transitions through which it may lead on, by number.
    pub through: Vec<TransitionId>,
}

/// The moves of a state.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Offers {
    /// What may be done, the stimuli first.
    pub moves: Vec<Offer>,
    /// May anything be observed here, be it what nobody waits for?
    pub may_observe: bool,
}

/// A guard at the moment of decision.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Guard {
    /// The transition: `Pay -Return-> Choose`.
    pub transition: String,
    /// The part that decided: a conjunct.
    pub part: String,
    /// Whether it held.
    pub holds: bool,
    /// The values of the data in it, as texts.
    pub values: Map<String, Json>,
}

/// Longer titles and values are cut where people read them.
pub(crate) const LONGEST_TEXT: usize = 120;

impl fmt::Display for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Guard { transition, part, holds, values } = self;
        let texts: Vec<&str> = values.values().map(|value| value.as_str().unwrap_or_default()).collect();
        let shown = |text| shorten_collection(text, &texts, LONGEST_TEXT);
        let named = values.keys().zip(&texts).map(|(name, text)| format!("{name} = {}", shown(text)));
        let values: Vec<String> = named.collect();
        let verb = if *holds { "holds" } else { "does not hold" };
        write!(f, "{transition}: `{part}` {verb}: {}", values.join(", "))
    }
}

/// What can be said of an occurrence in a state.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Why {
    /// The values that should have come instead: `pNumber = 11, got 12`. Empty where that is not known.
    pub instead: String,
    /// The guards that decided.
    pub guards: Vec<Guard>,
    /// What would have led on.
    pub expected: Vec<String>,
    /// For each transition of the event's action that was not taken, its conjuncts that do not hold.
    pub violated: Vec<Vec<String>>,
    /// How a property is violated by it, where one is.
    pub violates: Option<Violated>,
}

/// What a choice of values is made with.
pub struct Choice<'a> {
    /// The source of values.
    pub values: &'a mut Values,
    /// The run's lots.
    pub random: &'a mut Random,
    /// The last resort.
    pub solver: &'a mut dyn Solver,
}

/// Follows runs, one after the other: `begin`, then `take` until there is a verdict.
pub trait Judge {
    /// The model whose actions are spoken of: their signatures, and its name.
    fn iosts(&self) -> &Iosts;

    /// The symbolic constants' values, in the model's order.
    fn constants(&self) -> Vec<(Datum, Value)>;

    /// Back to the state in which a run begins.
    fn begin(&mut self);

    /// What the tester may do in this state.
    fn offers(&self) -> Offers;

    /// A stimulus of the offer with this number that can be taken in this state; `None` where no values were
    /// found.
    fn stimulus(&mut self, number: TransitionId, choice: &mut Choice<'_>) -> Option<Event>;

    /// Can this stimulus be sent in this state?
    fn can_send(&mut self, stimulus: &Event) -> bool;

    /// Takes what happened.
    fn take(&mut self, what: &Occurrence) -> Judged;

    /// The verdict of this state, where it is one: nothing needs to happen any more.
    fn verdict(&self) -> Option<Verdict>;

    /// The state.
    fn shown(&self) -> ShownState;

    /// The test case in which a way to Pass can be planned, and the states that are possible in it; `None`
    /// where there is none.
    fn scene(&self) -> Option<(&TestCase, Vec<&State>)> {
        None
    }

    /// The names of the specification's locations in which it may be, as far as that is known.
    fn specification_locations(&self) -> BTreeSet<&str> {
        BTreeSet::new()
    }

    /// The name by which settings for single places call this state.
    fn place(&self) -> &str;

    /// What the offer with this number is, in words.
    fn describe(&self, number: TransitionId) -> String;

    /// For each parameter of this stimulus, the values at which the guards that it has here begin and end,
    /// whatever the other parameters are, and their neighbours; none where that is not known.
    fn boundaries(&self, stimulus: &Event) -> Vec<Vec<Value>> {
        vec![Vec::new(); stimulus.values.len()]
    }

    /// What decides here about an observation, taken or not, that came to this verdict.
    fn why(&self, observed: Option<&Event>, verdict: Option<Verdict>) -> Why;

    /// What was observed before and has happened in no order yet, where this observation, which decides,
    /// would be followed without it.
    fn unexplained(&self, _: &Event) -> Option<Event> {
        None
    }

    /// How long nothing must come until that matters, where it does: the tester then shows it as a delay.
    fn due(&self) -> Option<Duration> {
        None
    }

    /// What silence comes to in this state, once what is under way has been taken: of a test of ioco. `None`
    /// where nothing is known but that it comes to nothing.
    fn silence(&self) -> Option<AfterSilence> {
        None
    }

    /// How many stimuli may be under way.
    fn under_way(&self) -> usize {
        0
    }

    /// Must the specification send something now, over a link on which its answer may cross a stimulus?
    /// Whoever sends at once then learns less.
    fn owes(&self) -> bool {
        false
    }

    /// From here to the end of the run, what is sent may be under way for ever. `false` where no link is
    /// looked at.
    fn loosen(&mut self) -> bool {
        false
    }

    /// The link behind which it judges, where it looks at one.
    fn link(&self) -> Option<Link> {
        None
    }

    /// What it is worth that something was sent which is no event of any model.
    fn alien(&self, text: String) -> Judged {
        Judged::Ends(Verdict::Fail, Cause::Alien(text))
    }

    /// How many observations have crossed something: they are allowed only since they were sent before it
    /// was taken.
    fn crossed(&self) -> usize {
        0
    }
}

/// A judge of which there may be several, each in a state of its own.
pub trait Follower: Judge + Clone {
    /// Are they in the same state?
    fn is_where(&self, other: &Self) -> bool;

    /// May an observation of an action of which this is so come in this state, and be no Fail? Errs towards
    /// yes.
    fn may_come(&self, is_meant: &dyn Fn(&str) -> bool) -> bool;

    /// Is this state not quiescent? A strategy asks, so nothing needs to be certain.
    fn must_go_on(&self) -> bool {
        false
    }
}
