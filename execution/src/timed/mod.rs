//! Timed execution: test cases in which time is data, on real time and on simulated time.
//!
//! **Problem.** A timed test case says at which *instants* something may be sent and must be seen. A tester
//! has a clock that is read later than things happen, waits that end late, and a solver that takes its time;
//! none of that is the system's fault.
//!
//! **Method.** Time is data: each visible action has a first parameter, the *delay*, the time since the step
//! before it ([`coreach_model::timed::delayed`]). So the judge of a deterministic test case judges a timed
//! one as well, and records, replays, explanations and coverage read its events as any others. What is new is
//! who gives that parameter its value:
//!
//! - [`driver`]: the loop. Chooses stimuli with instants, waits for them, listens meanwhile, and measures.
//! - [`windows`]: when a stimulus may be sent, and which instant of that is chosen.
//! - [`tolerance`]: an instant is known only up to a tolerance. The nearest delay that is allowed.
//! - [`history`]: what all instants of a run may have been together. A Fail because of time is given only if
//!   there are none that avoid it.
//! - [`jitter`]: how late this machine wakes up who sleeps.
//! - [`simulated`]: a model that stands for a system, with a clock of its own: nobody waits.
//! - [`words`]: how all of this is told.
//! - [`strategy`] and [`script`]: who plans, by lot or by a strategy, or as a stored run went;
//!   [`crate::recording`]: along a timed sequence, without a judgement.
//!
//! One unit of time is a second. Times are measured in whole microseconds, and computed with as exact
//! rationals.

pub mod driver;
pub mod history;
pub mod jitter;
pub mod script;
pub mod simulated;
pub mod strategy;
pub mod timing;
pub mod tolerance;
pub mod windows;
pub mod words;

use std::collections::BTreeSet;
use std::time::Duration;

use coreach_model::iosts::{ActionId, ActionKind, Iosts, LocationId};
use coreach_model::semantics::Event;
use coreach_model::{Datum, Numbered, Term, Type, Value};
use dashu_ratio::RBig;

use crate::run::Occurrence;
pub use crate::test_case::seconds;

/// The most that `silence_after` may be: about a month, so that what is added to the clock does not run over.
pub(crate) const LONGEST: u64 = 31 * 24 * 3600;

/// What a timed test case says beside its graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimedCase {
    /// The first parameter of each visible action: the time since the step before.
    pub delay: Datum,
    /// After so long without an event there is silence; whole milliseconds.
    pub silence_after: Duration,
    /// The inputs that the tester sees and does not send. In the graph of the test case they are outputs:
    /// observations.
    pub uncontrollable: BTreeSet<ActionId>,
    /// What an adapter is told: the actions without their delay, as they go over the wire.
    pub wire: Iosts,
}

impl TimedCase {
    /// From what a document says of time. What the tester only sees becomes an observation.
    pub fn new(
        delay: &str,
        silence_after: &Term,
        uncontrollable: BTreeSet<ActionId>,
        iosts: &mut Iosts,
    ) -> Result<TimedCase, String> {
        let silence_after = duration(silence_after).ok_or(
            "`silence_after` of `timed` is no time above 0 and up to a month, in seconds: a test case with a symbolic one is not run",
        )?;
        let delay = Datum::new(delay, Type::Real);
        for action in iosts.actions.iter().filter(|action| action.is_visible()) {
            if action.parameters.first() != Some(&delay) {
                return Err(format!(
                    "the first parameter of `{}` is not `{delay}` of type real",
                    action.name
                ));
            }
        }
        for id in &uncontrollable {
            iosts.actions[*id].kind = ActionKind::Output;
        }
        let wire = wire(iosts);
        Ok(TimedCase { delay, silence_after, uncontrollable, wire })
    }
}

/// The actions as an adapter sees them: without delays, and without a graph.
fn wire(iosts: &Iosts) -> Iosts {
    let mut actions = iosts.actions.clone();
    for action in actions.iter_mut().filter(|action| action.is_visible()) {
        action.parameters.remove(0);
    }
    let transitions = Numbered::new();
    let locations: Numbered<LocationId, _> = vec![iosts.location(iosts.initial).clone()].into();
    Iosts { actions, transitions, locations, initial: LocationId(0), ..iosts.clone() }
}

/// A time in seconds as a document states it; up to whole milliseconds.
fn duration(stated: &Term) -> Option<Duration> {
    let Some(Value::Real(seconds)) = stated.as_literal() else { return None };
    let milliseconds = u64::try_from((seconds * RBig::from(1000)).ceil()).ok()?;
    (1..=LONGEST * 1000).contains(&milliseconds).then(|| Duration::from_millis(milliseconds))
}

/// The whole microseconds of a time in seconds, rounded down; 0 for what is before the beginning.
pub fn micros(seconds: &RBig) -> u64 {
    u64::try_from((seconds * RBig::from(1_000_000)).floor()).unwrap_or(if *seconds < RBig::ZERO {
        0
    } else {
        u64::MAX
    })
}

/// The whole microseconds of a time in seconds, rounded up.
pub fn micros_up(seconds: &RBig) -> u64 {
    u64::try_from((seconds * RBig::from(1_000_000)).ceil()).unwrap_or(if *seconds < RBig::ZERO {
        0
    } else {
        u64::MAX
    })
}

/// The delay of an event of a timed test case.
pub fn delay_of(event: &Event) -> Option<&RBig> {
    match event.values.first() {
        Some(Value::Real(delay)) => Some(delay),
        _ => None,
    }
}

/// The event with this delay instead of its own.
#[must_use]
pub fn delayed_by(event: &Event, delay: RBig) -> Event {
    let mut event = event.clone();
    if let Some(first) = event.values.first_mut() {
        *first = Value::Real(delay);
    }
    event
}

/// An event as it goes over the wire.
pub fn without_delay(event: &Event) -> Event {
    Event::new(event.action.clone(), event.values.iter().skip(1).cloned())
}

/// An event that came over the wire, after this delay.
pub fn with_delay(event: &Event, delay: RBig) -> Event {
    Event::new(event.action.clone(), std::iter::once(Value::Real(delay)).chain(event.values.iter().cloned()))
}

/// Are they the same but for their delays? No two runs have the same.
pub fn is_alike(one: &Occurrence, other: &Occurrence) -> bool {
    let rest = |event: &Event| event.values.get(1..).unwrap_or_default().to_vec();
    match (one, other) {
        (Occurrence::Stimulus(a), Occurrence::Stimulus(b))
        | (Occurrence::Observation(a), Occurrence::Observation(b)) => {
            a.action == b.action && rest(a) == rest(b)
        }
        (Occurrence::Silence(_), Occurrence::Silence(_)) => true,
        _ => one == other,
    }
}
