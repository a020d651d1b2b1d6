//! When a stimulus may be sent, and at which of these instants it is to be.
//!
//! **Problem.** The guard of a stimulus speaks of its values and of its delay together, and by the time it is
//! sent the delay is what it is then, not what was chosen.
//!
//! **Method.** Values are chosen with some delay from now on that the guard allows ([`crate::values`]). With
//! these values the guard leaves the delay a *window*; in that an instant is drawn: at once, at its end, or
//! anywhere. In real time both ends are kept clear of, as far as instants may be off: at other instants the
//! stimulus would not have been in its window, and nothing that depends on time could be blamed then. A
//! window without an end is looked at as far as silence is long.
//!
//! **Ends** after `DRAWS` draws. **Costs** the choice of values and a hull.

use coreach_analyses::hull::{Range, hull};
use coreach_analyses::solver::Solver;
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::term::node::Comparison;
use coreach_model::term::{literals, substitute};
use coreach_model::{Datum, Term, TransitionId, Value};
use dashu_ratio::RBig;

use crate::test_case::TestCase;
use crate::timed::tolerance::condition;
use crate::timed::{delay_of, micros, micros_up};
use crate::values::Values;

/// How often an instant is drawn before the one that came with the values is taken.
const DRAWS: usize = 8;

#[derive(Clone, Copy)]
pub struct WindowRequest<'a> {
    pub test: &'a TestCase,
    pub state: &'a State,
    pub number: TransitionId,
    /// The time since the last step until now.
    pub now: &'a RBig,
    /// How far before its end a window is left, and 0 on simulated time.
    pub margin: &'a RBig,
    pub planned: Option<&'a Event>,
}

/// A stimulus of the transition, from now on, with the delay at which it is to be sent.
pub fn choose(
    wanted: WindowRequest<'_>,
    values: &mut Values,
    random: &mut Random,
    solver: &mut dyn Solver,
) -> Option<Event> {
    let WindowRequest { test, state, number, now, planned, .. } = wanted;
    let transition = &test.iosts.transitions[number];
    let action = test.iosts.action(transition.action);
    let delay = action.parameters.first()?;
    if let Some(planned) = planned
        && let Some(found) = fit_in(wanted, planned, delay_of(planned).filter(|at| *at >= now), random)
    {
        values.note_planned();
        return Some(found);
    }
    let from =
        Term::compare(Comparison::AtLeast, &Term::datum(delay), &Term::literal(Value::Real(now.clone())));
    let guard = Term::and([transition.guard.clone(), from]);
    let chosen = values.choose(&guard, &action.parameters, &state.valuation, random, solver)?;
    let event = Event::new(action.name.clone(), chosen);
    let found = fit_in(wanted, &event, None, random);
    // What came with the values is in the window; it can be met where it is a whole number of microseconds.
    found.or_else(|| {
        let at = delay_of(&event)?;
        (*at == whole(micros_up(at))).then_some(event.clone())
    })
}

/// The event at an instant of its window: at this one, where it is one of them.
fn fit_in(wanted: WindowRequest<'_>, event: &Event, at: Option<&RBig>, random: &mut Random) -> Option<Event> {
    let WindowRequest { test, state, number, now, margin, .. } = wanted;
    let window = window(&test.iosts, &test.iosts.transitions[number], state, event)?;
    let far = super::seconds(test.timed.as_ref()?.silence_after);
    let delay = window.instant(Drawn { now, margin, far: &far, at }, random)?;
    Some(super::delayed_by(event, delay))
}

/// The delays that a guard leaves to an event with these values.
#[derive(Clone, Debug)]
pub struct Window {
    delay: Datum,
    condition: Term,
    low: Option<RBig>,
    high: Option<RBig>,
}

#[derive(Clone, Copy)]
pub struct Drawn<'a> {
    /// Not before.
    pub now: &'a RBig,
    /// Rather so long behind the beginning, and twice as long before the end.
    pub margin: &'a RBig,
    /// How far behind its beginning a window without an end is looked at.
    pub far: &'a RBig,
    /// This one, where it is possible.
    pub at: Option<&'a RBig>,
}

/// The window of the event, whose own delay does not count; `None` where it surely has none.
pub fn window(iosts: &Iosts, transition: &Transition, state: &State, event: &Event) -> Option<Window> {
    let (delay, condition) = condition(iosts, transition, state, event)?;
    let Range { low, high } = hull(&condition, std::slice::from_ref(&delay)).range(0)?;
    Some(Window { delay, condition, low, high })
}

impl Window {
    /// A delay of whole microseconds in the window.
    pub fn instant(&self, drawn: Drawn<'_>, random: &mut Random) -> Option<RBig> {
        let Drawn { now, margin, far, at } = drawn;
        let low = self.low.as_ref().filter(|low| *low > now).unwrap_or(now);
        let far = low + far;
        let high = self.high.as_ref().filter(|high| **high < far).unwrap_or(&far);
        if high < low {
            return None;
        }
        let holds_at = |at: u64| {
            let valuation = Valuation::from([(self.delay.clone(), Value::Real(whole(at)))]);
            holds(&self.condition, &valuation) == Ok(true)
        };
        let last = micros(high);
        // Of two instants each may be off by the margin; where there is no room for that, the middle is best.
        let begins_later = self.low.as_ref().is_some_and(|low| low > now);
        let middle = micros_up(low).midpoint(last);
        let first = if begins_later { micros_up(&(low + margin)).min(middle) } else { micros_up(low) };
        let before_end = micros(&(high - margin - margin)).max(middle).max(first);
        if let Some(at) = at.map(micros_up)
            && at >= micros_up(low)
            && holds_at(at)
        {
            return Some(whole(at));
        }
        for _ in 0..DRAWS {
            let at = match random.below(10) {
                0..3 => first,
                3 => first.saturating_add(1),
                4 => before_end,
                5 => before_end.saturating_sub(1),
                _ => {
                    let width = usize::try_from(before_end.saturating_sub(first)).unwrap_or(usize::MAX - 1);
                    first.saturating_add(random.below(width.saturating_add(1)) as u64)
                }
            };
            if (first..=last).contains(&at) && holds_at(at) {
                return Some(whole(at));
            }
        }
        None
    }
}

/// When the window of the stimulus has ended before now, whatever its values, though it was open after the
/// last step: how long ago.
pub fn closed_since(test: &TestCase, state: &State, number: TransitionId, now: &RBig) -> Option<RBig> {
    let transition = &test.iosts.transitions[number];
    let parameters = &test.iosts.action(transition.action).parameters;
    if !parameters.iter().all(|datum| datum.ty().is_number()) {
        return None;
    }
    let known = state.valuation.iter().filter(|(datum, _)| transition.guard.mentions(datum));
    let condition = substitute(&transition.guard, &literals(known));
    let high = hull(&condition, parameters).range(0)?.high?;
    (high >= RBig::ZERO && high < *now).then(|| now - high)
}

fn whole(micros: u64) -> RBig {
    RBig::from_parts(micros.into(), 1_000_000u32.into())
}
