//! Timed execution: test cases in which time is data, on real time and on simulated time.
//!
//! **Problem.** A timed test case says at which *instants* something may be sent and must be seen. A tester
//! reads its clock after the event, its waits end late, and its solver takes time.
//!
//! **Method.** Time is data: each visible action has a first parameter, the *delay*, the time since the step
//! before it ([`coreach_model::timed::delayed`]). So the judge of a deterministic test case judges a timed
//! one as well, and records, replays, explanations and coverage read its events as any others. The new
//! modules give that parameter its value:
//!
//! - [`driver`]: the loop. Chooses stimuli with instants, waits for them, listens meanwhile, and measures.
//! - [`windows`]: the instants at which a stimulus may be sent, and the choice of one.
//! - [`tolerance`]: the nearest delay that is allowed, since an instant is known only up to a tolerance.
//! - [`history`]: possible instants of a whole run. A Fail because of time is given only if no instants avoid
//!   it.
//! - [`jitter`]: how late this machine wakes a sleeping thread.
//! - [`simulated`]: a model that stands for a system, with a clock of its own, so that nobody waits.
//! - [`words`]: timed events in words.
//! - [`strategy`] and [`script`]: planning, by lot or by a strategy, or as a stored run went;
//!   [`crate::recording`]: along a timed sequence, without a judgement.
//!
//! One unit of time is a second. Times are measured in microseconds, and are exact rationals.

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
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::run::Occurrence;
pub use crate::test_case::exact_seconds;

/// The greatest `silence_after`: about a month, so that sums with the clock do not overflow.
pub(crate) const LONGEST: u64 = 31 * 24 * 3600;

/// The part of a timed test case about time, in addition to its graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimedCase {
    /// The first parameter of each visible action: the time since the step before.
    pub delay: Datum,
    /// After so long without an event there is silence. It is in whole milliseconds.
    pub silence_after: Duration,
    /// The inputs that the tester sees and does not send: outputs in the test case's graph.
    pub uncontrollable: BTreeSet<ActionId>,
    /// The actions for an adapter: without their delay, as on the wire.
    pub wire: Iosts,
}

impl TimedCase {
    /// Reads what a document says of time. Actions that the tester only sees become observations.
    pub fn new(
        delay: &str,
        silence_after: &Term,
        uncontrollable: BTreeSet<ActionId>,
        iosts: &mut Iosts,
    ) -> Result<TimedCase, String> {
        let silence_after = read_duration(silence_after).ok_or(
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
        let wire = to_wire(iosts, &uncontrollable);
        iosts.actions.iter_mut().zip(&wire.actions).for_each(|(action, seen)| action.kind = seen.kind);
        Ok(TimedCase { delay, silence_after, uncontrollable, wire })
    }
}

/// Makes the actions of a delayed form as an adapter sees them: without delays, and without a graph. Inputs
/// that the tester only sees are outputs.
pub fn to_wire(iosts: &Iosts, uncontrollable: &BTreeSet<ActionId>) -> Iosts {
    let mut actions = iosts.actions.clone();
    uncontrollable.iter().for_each(|id| actions[*id].kind = ActionKind::Output);
    for action in actions.iter_mut().filter(|action| action.is_visible()) {
        action.parameters.remove(0);
    }
    let transitions = Numbered::new();
    let locations: Numbered<LocationId, _> = vec![iosts.location(iosts.initial).clone()].into();
    Iosts { actions, transitions, locations, initial: LocationId(0), ..iosts.clone() }
}

/// Reads a time in seconds, and rounds it up to whole milliseconds.
fn read_duration(stated: &Term) -> Option<Duration> {
    let Some(Value::Real(seconds)) = stated.as_literal() else { return None };
    let milliseconds = u64::try_from((seconds * RBig::from(1000)).ceil()).ok()?;
    (1..=LONGEST * 1000).contains(&milliseconds).then(|| Duration::from_millis(milliseconds))
}

/// Returns the whole microseconds of a time in seconds, rounded down; 0 for a negative time.
pub fn micros_down(seconds: &RBig) -> u64 {
    saturate((seconds * RBig::from(1_000_000)).floor())
}

/// Returns the whole microseconds of a time in seconds, rounded up.
pub fn micros_up(seconds: &RBig) -> u64 {
    saturate((seconds * RBig::from(1_000_000)).ceil())
}

fn saturate(number: IBig) -> u64 {
    let is_negative = number < IBig::ZERO;
    u64::try_from(number).unwrap_or(if is_negative { 0 } else { u64::MAX })
}

/// Returns the delay of an event of a timed test case.
pub fn delay_of(event: &Event) -> Option<&RBig> {
    if let Some(Value::Real(delay)) = event.values.first() { Some(delay) } else { None }
}

/// Returns the event with this delay instead of its own.
#[must_use]
pub fn delayed_by(event: &Event, delay: RBig) -> Event {
    let mut event = event.clone();
    if let Some(first) = event.values.first_mut() {
        *first = Value::Real(delay);
    }
    event
}

/// Returns an event as it is on the wire.
pub fn without_delay(event: &Event) -> Event {
    Event::new(event.action.clone(), event.values.iter().skip(1).cloned())
}

/// Returns the event with this delay, which it does not have on the wire.
pub fn with_delay(event: &Event, delay: RBig) -> Event {
    Event::new(event.action.clone(), std::iter::once(Value::Real(delay)).chain(event.values.iter().cloned()))
}

/// Are they the same except for their delays? No two runs have the same delays.
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
