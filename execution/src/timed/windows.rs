//! Finds the instants at which a stimulus may be sent, and chooses one of them.
//!
//! **Problem.** The guard of a stimulus is about its values and its delay together. When the stimulus is
//! sent, its delay is the real one, not the chosen one.
//!
//! **Method.** Values are chosen with some delay from now on that the guard allows ([`crate::values`]). With
//! these values the guard leaves the delay a *window*, and an instant in it is drawn: at once, at its end, or
//! anywhere. In real time the instant keeps away from both ends, as far as instants may be off: at other
//! instants the stimulus would not have been in its window, and then nothing that depends on time could be
//! blamed. A window without an end is used up to the time of silence.
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
use crate::timed::tolerance::condition_on_delay;
use crate::timed::{delay_of, micros_down, micros_up};
use crate::values::Values;

/// An instant is drawn so often before the one that was chosen with the values is taken.
const DRAWS: usize = 8;

#[derive(Clone, Copy)]
pub struct WindowRequest<'a> {
    pub test: &'a TestCase,
    pub state: &'a State,
    pub number: TransitionId,
    /// The time since the last step until now.
    pub now: &'a RBig,
    /// How far to keep away from the ends of a window; 0 on simulated time.
    pub margin: &'a RBig,
    /// The plan's stimulus, if it is one of this transition.
    pub planned: Option<&'a Event>,
}

/// Chooses a stimulus of the transition, with a delay from now on at which to send it. `None`: none is found.
pub fn choose_timed_event(
    request: WindowRequest<'_>,
    values: &mut Values,
    random: &mut Random,
    solver: &mut dyn Solver,
) -> Option<Event> {
    let WindowRequest { test, state, number, now, planned, .. } = request;
    let transition = &test.iosts.transitions[number];
    let action = test.iosts.action(transition.action);
    let delay = action.parameters.first()?;
    if let Some(planned) = planned
        && let Some(event) =
            place_in_window(request, planned, delay_of(planned).filter(|at| *at >= now), random)
    {
        values.note_planned();
        return Some(event);
    }
    let from =
        Term::compare(Comparison::AtLeast, &Term::datum(delay), &Term::literal(Value::Real(now.clone())));
    let guard = Term::and([transition.guard.clone(), from]);
    let chosen = values.choose(&guard, &action.parameters, &state.valuation, random, solver)?;
    let event = Event::new(action.name.clone(), chosen);
    // The chosen delay is in the window. It can be met if it is a whole number of microseconds.
    place_in_window(request, &event, None, random).or_else(|| {
        let at = delay_of(&event)?;
        (*at == from_micros(micros_up(at))).then_some(event.clone())
    })
}

/// Gives the event an instant of its window: `at` if that is possible, or a drawn one.
fn place_in_window(
    request: WindowRequest<'_>,
    event: &Event,
    at: Option<&RBig>,
    random: &mut Random,
) -> Option<Event> {
    let WindowRequest { test, state, number, now, margin, .. } = request;
    let window = window_of(&test.iosts, &test.iosts.transitions[number], state, event)?;
    let far = super::exact_seconds(test.timed.as_ref()?.silence_after);
    let delay = window.draw_instant(InstantChoice { now, margin, far: &far, at }, random)?;
    Some(super::delayed_by(event, delay))
}

/// The delays that a guard allows for an event with these values.
#[derive(Clone, Debug)]
pub struct Window {
    delay: Datum,
    /// The guard as a condition on the delay alone.
    condition: Term,
    /// The least and the greatest delay that may fulfil it. `None`: there is none.
    low: Option<RBig>,
    high: Option<RBig>,
}

#[derive(Clone, Copy)]
pub struct InstantChoice<'a> {
    /// The earliest instant.
    pub now: &'a RBig,
    /// If possible, so long after the beginning, and twice as long before the end.
    pub margin: &'a RBig,
    /// A window without an end is used up to so long after its beginning.
    pub far: &'a RBig,
    /// The wanted instant, if it is possible.
    pub at: Option<&'a RBig>,
}

/// Finds the window of the event, whose own delay does not count. `None`: it certainly has none.
pub fn window_of(iosts: &Iosts, transition: &Transition, state: &State, event: &Event) -> Option<Window> {
    let (delay, condition) = condition_on_delay(iosts, transition, state, event)?;
    let Range { low, high } = hull(&condition, std::slice::from_ref(&delay)).range(0)?;
    Some(Window { delay, condition, low, high })
}

impl Window {
    /// Draws a delay of whole microseconds in the window. `None` if none was found.
    pub fn draw_instant(&self, choice: InstantChoice<'_>, random: &mut Random) -> Option<RBig> {
        let InstantChoice { now, margin, far, at: wanted } = choice;
        let low = self.low.as_ref().filter(|low| *low > now).unwrap_or(now);
        let far = low + far;
        let high = self.high.as_ref().filter(|high| **high < far).unwrap_or(&far);
        if high < low {
            return None;
        }
        let holds_at = |at: u64| {
            let valuation = Valuation::from([(self.delay.clone(), Value::Real(from_micros(at)))]);
            holds(&self.condition, &valuation) == Ok(true)
        };
        if let Some(wanted) = wanted.map(micros_up)
            && wanted >= micros_up(low)
            && holds_at(wanted)
        {
            return Some(from_micros(wanted));
        }
        let last = micros_down(high);
        // Both instants may be off by the margin. If the window is too narrow for that, its middle is best.
        let begins_later = self.low.as_ref().is_some_and(|low| low > now);
        let middle = micros_up(low).midpoint(last);
        let first = if begins_later { micros_up(&(low + margin)).min(middle) } else { micros_up(low) };
        let before_end = micros_down(&(high - margin - margin)).max(middle).max(first);
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
                return Some(from_micros(at));
            }
        }
        None
    }
}

/// Returns how long ago the window of the stimulus has closed for all values. `now`: the time since the last
/// step. `None`: it is open or opens later, was closed from the start, or has no known end.
pub fn closed_since(test: &TestCase, state: &State, number: TransitionId, now: &RBig) -> Option<RBig> {
    let transition = &test.iosts.transitions[number];
    let parameters = &test.iosts.action(transition.action).parameters;
    if !parameters.iter().all(|datum| datum.ty().is_number()) {
        return None;
    }
    let known = state.valuation.iter().filter(|(datum, _)| transition.guard.mentions(datum));
    let condition = substitute(&transition.guard, &literals(known));
    // The first parameter of each timed action is the delay.
    let high = hull(&condition, parameters).range(0)?.high?;
    (high >= RBig::ZERO && high < *now).then(|| now - high)
}

fn from_micros(micros: u64) -> RBig {
    RBig::from_parts(micros.into(), 1_000_000u32.into())
}
