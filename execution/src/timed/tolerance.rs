//! Finds the nearest delay that is allowed.
//!
//! **Problem.** An observation has happened between the last instant at which nothing had come and the
//! instant at which it was read. On its way a carrier, an operating system and an adapter have taken time. So
//! a guard may exclude the measured delay and allow the true one.
//!
//! **Method.** If the measured delay would fail, other delays in its interval are tried: the ends of the
//! interval; for each transition of the action that does not fail, the delays where its guard, with the state
//! and the values, begins and ceases to hold, and the microsecond beside each (a bound may be strict); and
//! the solver's answer. The one nearest to the measured delay that does not fail is taken.
//!
//! This moves one delay. If that does not suffice, [`super::history`] moves all.
//!
//! **Ends**, since the list is finite. **Costs** nothing if the measured delay is allowed, else a hull and at
//! most a query for each transition.

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

use crate::judge::guards::with_event;
use crate::test_case::TestCase;
use crate::timed::delayed_by;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DelayInterval {
    /// The least delay.
    pub low: RBig,
    /// The greatest delay, if there is one.
    pub high: Option<RBig>,
}

impl DelayInterval {
    fn has(&self, delay: &RBig) -> bool {
        self.low <= *delay && self.high.as_ref().is_none_or(|high| delay <= high)
    }
}

/// Finds the transition that takes an observation in this state, and the state after it. `None` if none does.
pub fn find_taken(test: &TestCase, state: &State, event: &Event) -> Option<(TransitionId, State)> {
    transitions_of_action(test, state, event)
        .find_map(|(number, _)| Some((number, test.observed(number, state, &event.values)?)))
}

/// Would the event fail? An input that does not come from the tester never fails.
pub fn event_fails(test: &TestCase, state: &State, event: &Event) -> bool {
    let timed_action = test.timed.as_ref().zip(test.iosts.find_action(&event.action));
    match find_taken(test, state, event) {
        Some((_, next)) => test.verdict(next.location) == Some(Verdict::Fail),
        None => !timed_action.is_some_and(|(timed, action)| timed.uncontrollable.contains(&action)),
    }
}

/// Finds the delay in the interval that does not fail, nearest to the measured one, if one is known.
pub fn nearest_delay(
    test: &TestCase,
    state: &State,
    event: &Event,
    measured: &RBig,
    interval: &DelayInterval,
    solver: &mut dyn Solver,
) -> Option<RBig> {
    let is_right = |delay: &RBig| {
        interval.has(delay)
            && *delay >= RBig::ZERO
            && !event_fails(test, state, &delayed_by(event, delay.clone()))
    };
    if is_right(measured) {
        return Some(measured.clone());
    }
    let mut candidates = vec![interval.low.clone()];
    candidates.extend(interval.high.clone());
    let mut conditions: Vec<(Datum, Term)> = Vec::new();
    for (_, transition) in transitions_of_action(test, state, event) {
        if test.verdict(transition.target) != Some(Verdict::Fail) {
            conditions.extend(condition_on_delay(&test.iosts, transition, state, event));
        }
    }
    // The ends of the guards, and the microsecond beside each.
    let moment = RBig::from_parts(1.into(), 1_000_000u32.into());
    for (delay, condition) in &conditions {
        let Some(range) = hull(condition, std::slice::from_ref(delay)).range(0) else { continue };
        for end in [range.low, range.high].into_iter().flatten() {
            candidates.extend([&end - &moment, &end + &moment, end]);
        }
    }
    candidates.retain(is_right);
    candidates.sort_by_key(|delay| (delay - measured).abs());
    if let Some(nearest) = candidates.first() {
        return Some(nearest.clone());
    }
    // The hull is larger than the condition: the solver may know a delay in between.
    conditions.iter().find_map(|(delay, condition)| {
        let compare_delay = |comparison, bound: &RBig| {
            Term::compare(comparison, &Term::datum(delay), &Term::literal(Value::Real(bound.clone())))
        };
        let mut in_interval = condition.conjuncts();
        in_interval.push(compare_delay(Comparison::AtLeast, &interval.low));
        in_interval.extend(interval.high.as_ref().map(|high| compare_delay(Comparison::AtMost, high)));
        let Witness::Found(values) = solver.witness(&in_interval) else { return None };
        let Some(Value::Real(value)) = values.get(delay) else { return None };
        is_right(value).then(|| value.clone())
    })
}

/// Would some transition that does not fail take the event, if the parts of its guard about the delay held?
/// Then it is a matter of time: a system that was held up may do its due outputs in another order.
pub fn only_time_forbids(test: &TestCase, state: &State, event: &Event) -> bool {
    transitions_of_action(test, state, event).any(|(_, transition)| {
        let parameters = &test.iosts.action(transition.action).parameters;
        let Some(delay) = parameters.first() else { return false };
        let (values, parts) = (with_event(&test.iosts, state, event), transition.guard.conjuncts());
        test.verdict(transition.target) != Some(Verdict::Fail)
            && parts.iter().all(|part| part.mentions(delay) || holds(part, &values) == Ok(true))
    })
}

/// Lists the transitions that observe the event's action here.
fn transitions_of_action<'t>(
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

/// Returns the guard's condition on the delay, with the known values. `None`: other data remain in it.
pub fn condition_on_delay(
    iosts: &Iosts,
    transition: &Transition,
    state: &State,
    event: &Event,
) -> Option<(Datum, Term)> {
    let (delay, others) = iosts.action(transition.action).parameters.split_first()?;
    let known = state.valuation.iter().filter(|(datum, _)| transition.guard.mentions(datum));
    let given = others.iter().zip(event.values.iter().skip(1));
    let condition = substitute(&transition.guard, &literals(known.chain(given)));
    condition.data().iter().all(|open| open == delay).then(|| (delay.clone(), condition))
}
