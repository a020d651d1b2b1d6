//! A judge: what follows a run and says in the end what it was worth.
//!
//! **Problem.** Driving an implementation, following a trace, telling why a run ended, running it again and
//! making it shorter are the same for whatever says what may happen next: a test case, the specification
//! itself, a set of symbolic states, a test case with clocks, a trace that was recorded elsewhere.
//!
//! **Method.** One trait. A judge is a state that is shown what happens, one [`Occurrence`] after the other:
//! an event, silence or a delay. It *follows*, or *ends* the run with a verdict and its cause, staying where
//! it is. What it followed is the trace; so a trace alone brings a judge of the same kind to the same state,
//! and nothing of the state is kept. Where the state that was reached is a verdict, it says so
//! ([`Judge::verdict`]).
//!
//! What a judge offers to the tester are *moves* with what a strategy needs to order them, and values for a
//! stimulus. It never speaks to an implementation, never waits, and draws no lots but those of the [`Choice`]
//! that it is given.
//!
//! Judges here: a deterministic test case ([`case`]), the sets of states of a product ([`online`]), the
//! specification ([`crate::monitor`]), and either of them behind a link that changes the order
//! ([`crossing`]).

pub mod case;
pub mod contract;
pub mod crossing;
pub(crate) mod excerpts;
pub(crate) mod expected;
pub(crate) mod guards;
pub mod online;

use coreach_adapters::Iut;
use coreach_adapters::description::Link;
use coreach_model::semantics::State;

use crate::judge::case::CaseJudge;
pub use crate::judge::contract::{
    AfterSilence, Choice, Follower, Guard, Judge, Judged, Move, Offer, Offers, Why,
};
use crate::judge::crossing::Crossing;
use crate::judge::online::OnlineJudge;
use crate::run::Occurrence;
pub use crate::run::ShownState;
use crate::settings::Settings;
use crate::test_case::TestCase;

/// A test case as a judge, in its initial state, behind a link where there is one.
pub fn of<'a>(test: &'a TestCase, initial: State, link: Option<Link>) -> Box<dyn Judge + 'a> {
    judging(test, initial, link, false)
}

/// The same, as the file of an implementation says it. Where it says nothing of the link, what is sent may be
/// under way for as long as silence takes.
pub fn against<'a>(
    test: &'a TestCase,
    initial: State,
    iut: &Iut,
    settings: &Settings,
) -> Box<dyn Judge + 'a> {
    judging(test, initial, iut.link(settings.longest_silence()), iut.behaviour.silence_fails)
}

/// The same, with silence as a failure or not where the specification must answer.
pub fn judging<'a>(
    test: &'a TestCase,
    initial: State,
    link: Option<Link>,
    silence_fails: bool,
) -> Box<dyn Judge + 'a> {
    // A timed test case looks at instants: a link is a part of their tolerance.
    let link = link.filter(|_| test.timed.is_none());
    match &test.online {
        Some(online) => put_behind_link(link, OnlineJudge::new(test, online, initial, silence_fails)),
        None => put_behind_link(link, CaseJudge::new(test, initial).blaming_silence(silence_fails)),
    }
}

fn put_behind_link<'a>(link: Option<Link>, judge: impl Follower + 'a) -> Box<dyn Judge + 'a> {
    match link {
        Some(link) => Box::new(Crossing::new(link, judge)),
        None => Box::new(judge),
    }
}

/// The states of a run, the initial one first: one more than its steps. The judge is left at the end.
pub fn states(judge: &mut dyn Judge, trace: &[Occurrence]) -> Vec<ShownState> {
    judge.begin();
    let mut states = vec![judge.shown()];
    for what in trace {
        match judge.take(what) {
            Judged::Followed(_) => states.push(judge.shown()),
            Judged::Ends(..) => break,
        }
    }
    states
}
