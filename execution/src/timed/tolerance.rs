//! The nearest delay that is allowed.
//!
//! **Problem.** An observation has happened between the last instant at which nothing had come and the
//! instant at which it was read; on its way there a carrier, an operating system and an adapter have taken
//! time. The measured delay may be outside of what a guard allows where the true one is inside.
//!
//! **Method.** Where the measured delay would fail, those in its interval are looked at: the ends of the
//! interval; for each transition of the action that does not fail, where its guard, with the state and the
//! values, begins and ends to hold, and the microsecond beside it (a bound may be strict); and what the
//! solver finds there. The nearest to the measured one that does not fail is taken.
//!
//! This moves one delay and leaves those before it as they are judged; where that does not suffice,
//! [`super::history`] moves all.
//!
//! **Ends**: a list. **Costs** nothing where the measured delay is allowed, else a hull and at most a query
//! for each transition.

use coreach_analyses::hull::hull;
use coreach_analyses::solver::{Solver, Witness};
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::holds;
use coreach_model::term::node::Comparison;
use coreach_model::term::{literals, substitute};
use coreach_model::{Datum, Term, TransitionId, Value, Verdict};
use dashu_base::Abs;
use dashu_ratio::RBig;

use crate::test_case::TestCase;
use crate::timed::delayed_by;

/// From a delay to one that is not before it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interval {
    /// The least.
    pub low: RBig,
    /// The greatest; without, there is none.
    pub high: Option<RBig>,
}

impl Interval {
    fn has(&self, delay: &RBig) -> bool {
        self.low <= *delay && self.high.as_ref().is_none_or(|high| delay <= high)
    }
}

/// The transition that takes an observation in this state, and the state behind it.
pub fn find_taken(test: &TestCase, state: &State, event: &Event) -> Option<(TransitionId, State)> {
    named(test, state, event)
        .find_map(|(number, _)| Some((number, test.observed(number, state, &event.values)?)))
}

/// Would it fail: by a transition, or since there is none for it? An input that comes from elsewhere never
/// does.
pub fn fails(test: &TestCase, state: &State, event: &Event) -> bool {
    let elsewhere = test.timed.as_ref().zip(test.iosts.find_action(&event.action));
    match find_taken(test, state, event) {
        Some((_, next)) => test.verdict(next.location) == Some(Verdict::Fail),
        None => !elsewhere.is_some_and(|(timed, action)| timed.uncontrollable.contains(&action)),
    }
}

/// The delay in the interval that does not fail, the nearest to that of the event; `None` where none is
/// known.
pub fn nearest_delay(
    test: &TestCase,
    state: &State,
    event: &Event,
    measured: &RBig,
    interval: &Interval,
    solver: &mut dyn Solver,
) -> Option<RBig> {
    let is_right = |delay: &RBig| {
        interval.has(delay) && *delay >= RBig::ZERO && !fails(test, state, &delayed_by(event, delay.clone()))
    };
    if is_right(measured) {
        return Some(measured.clone());
    }
    let mut found: Vec<RBig> = std::iter::once(interval.low.clone()).chain(interval.high.clone()).collect();
    let open = |number: &(TransitionId, &Transition)| test.verdict(number.1.target) != Some(Verdict::Fail);
    let conditions: Vec<(Datum, Term)> = named(test, state, event)
        .filter(open)
        .filter_map(|(_, transition)| condition(&test.iosts, transition, state, event))
        .collect();
    let moment = RBig::from_parts(1.into(), 1_000_000u32.into());
    for (delay, condition) in &conditions {
        let Some(range) = hull(condition, std::slice::from_ref(delay)).range(0) else { continue };
        for end in [range.low, range.high].into_iter().flatten() {
            found.extend([&end - &moment, &end + &moment, end]);
        }
    }
    found.retain(is_right);
    found.sort_by_key(|delay| (delay - measured).abs());
    if let Some(first) = found.first() {
        return Some(first.clone());
    }
    conditions.iter().find_map(|(delay, condition)| {
        let is = |comparison, bound: &RBig| {
            Term::compare(comparison, &Term::datum(delay), &Term::literal(Value::Real(bound.clone())))
        };
        let mut asked = condition.conjuncts();
        asked.push(is(Comparison::AtLeast, &interval.low));
        asked.extend(interval.high.as_ref().map(|high| is(Comparison::AtMost, high)));
        let Witness::Found(values) = solver.witness(&asked) else { return None };
        let Some(Value::Real(value)) = values.get(delay) else { return None };
        is_right(value).then(|| value.clone())
    })
}

/// Does some transition that does not fail take the event, but for the parts of its guard that speak of the
/// delay? Then it is a matter of time: a system that was held up may do in another order what is due.
pub fn only_time_forbids(test: &TestCase, state: &State, event: &Event) -> bool {
    named(test, state, event).any(|(_, transition)| {
        let parameters = &test.iosts.action(transition.action).parameters;
        let Some(delay) = parameters.first() else { return false };
        let mut valuation = state.valuation.clone();
        valuation.extend(parameters.iter().cloned().zip(event.values.iter().cloned()));
        let parts = transition.guard.conjuncts();
        test.verdict(transition.target) != Some(Verdict::Fail)
            && parts.iter().all(|part| part.mentions(delay) || holds(part, &valuation) == Ok(true))
    })
}

/// The transitions that observe the event's action here.
fn named<'t>(
    test: &'t TestCase,
    state: &State,
    event: &Event,
) -> impl Iterator<Item = (TransitionId, &'t Transition)> {
    let action = test.iosts.find_action(&event.action);
    test.observations[state.location].iter().filter_map(move |number| {
        let transition = &test.iosts.transitions[*number];
        (Some(transition.action) == action).then_some((*number, transition))
    })
}

/// What the guard asks of the delay, with the state and the values of the event. `None` where it is no such
/// condition.
pub fn condition(
    iosts: &Iosts,
    transition: &Transition,
    state: &State,
    event: &Event,
) -> Option<(Datum, Term)> {
    let (delay, others) = iosts.action(transition.action).parameters.split_first()?;
    let known = state.valuation.iter().filter(|(datum, _)| transition.guard.mentions(datum));
    let given = others.iter().zip(event.values.iter().skip(1));
    let condition = substitute(&transition.guard, &literals(known.chain(given)));
    condition.data().iter().all(|left| left == delay).then(|| (delay.clone(), condition))
}
