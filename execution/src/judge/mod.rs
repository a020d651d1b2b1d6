//! A judge follows a run and gives its verdict.
//!
//! **Problem.** An implementation is driven, a trace is followed, the end of a run is explained, a run is
//! repeated and made shorter. All that is the same whatever says which events may come next: a test case, the
//! specification itself, a set of symbolic states, a test case with clocks, a recorded trace.
//!
//! **Method.** There is one trait. A judge is a state that is shown one [`Occurrence`] after the other: an
//! event, silence or a delay. It *follows* the occurrence, or *ends* the run with a verdict and its cause,
//! and stays in its state. The occurrences that it followed are the trace. So a trace alone brings a judge of
//! the same kind to the same state, and the state is not kept. If the state that was reached has a verdict,
//! the judge says so ([`Judge::verdict`]).
//!
//! A judge offers *moves* to the tester, with what a strategy needs to order them, and values for a stimulus.
//! It never speaks to an implementation, never waits, and draws lots only from its [`Choice`].
//!
//! Judges here: a deterministic test case ([`case`]), the sets of states of a product ([`online`]), the
//! specification ([`crate::monitor`]), and each behind a link ([`crossing`]).

pub mod case;
pub(crate) mod collected;
pub mod contract;
pub mod crossing;
pub(crate) mod decisive;
pub(crate) mod differences;
pub(crate) mod excerpts;
pub(crate) mod expected;
pub(crate) mod guards;
mod instances;
mod narrowed;
pub mod online;
pub(crate) mod opened;
pub(crate) mod question;
mod scope;
pub(crate) mod ways;

use coreach_adapters::Iut;
use coreach_adapters::description::Link;
use coreach_model::semantics::State;

use crate::judge::case::CaseJudge;
pub use crate::judge::contract::{
    AfterSilence, Choice, Follower, Guard, Judge, Judged, Move, Offer, Offers, Reasons,
};
use crate::judge::crossing::Crossing;
use crate::judge::online::OnlineJudge;
use crate::run::Occurrence;
pub use crate::run::ShownState;
use crate::settings::Settings;
use crate::test_case::TestCase;

/// Returns a judge for a test case, in its initial state, behind a link if there is one.
pub fn make_judge<'a>(test: &'a TestCase, initial: State, link: Option<Link>) -> Box<dyn Judge + 'a> {
    let silence_fails = false;
    make_judge_with(test, initial, link, silence_fails)
}

/// Makes a judge for a test case, with the link and the silence of an implementation's file. If the file does
/// not describe the link, a stimulus may be under way for as long as silence takes.
pub fn make_judge_for_iut<'a>(
    test: &'a TestCase,
    initial: State,
    iut: &Iut,
    settings: &Settings,
) -> Box<dyn Judge + 'a> {
    make_judge_with(test, initial, iut.link(settings.longest_silence()), iut.behaviour.silence_fails)
}

/// Returns a judge for a test case. `silence_fails`: silence is a failure if the specification must answer.
pub fn make_judge_with<'a>(
    test: &'a TestCase,
    initial: State,
    link: Option<Link>,
    silence_fails: bool,
) -> Box<dyn Judge + 'a> {
    // A timed test case looks at instants: the link's delay is a part of their tolerance.
    let link = link.filter(|_| test.timed.is_none());
    match &test.online {
        Some(online) => put_behind_link(link, OnlineJudge::new(test, online, initial, silence_fails)),
        None => put_behind_link(link, CaseJudge::new(test, initial).blaming_silence(silence_fails)),
    }
}

fn put_behind_link<'a>(link: Option<Link>, judge: impl Follower + 'a) -> Box<dyn Judge + 'a> {
    if let Some(link) = link { Box::new(Crossing::new(link, judge)) } else { Box::new(judge) }
}

/// Lists the states of a run, the initial one first: one more than steps. The judge stays in the last one.
pub fn shown_states(judge: &mut dyn Judge, trace: &[Occurrence]) -> Vec<ShownState> {
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
