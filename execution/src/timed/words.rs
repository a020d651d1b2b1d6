//! Timed events in words: the event and its delay, and whether the time or the data excluded it.

use coreach_model::Verdict;
use coreach_model::number::time_text;
use coreach_model::semantics::{Event, State};
use dashu_ratio::RBig;

use crate::judge::case::take_silence;
use crate::lazy::Lazy;
use crate::run::{Cause, Occurrence, Outcome};
use crate::test_case::TestCase;
use crate::timed::tolerance::{DelayInterval, event_fails, nearest_delay};
use crate::timed::{delay_of, without_delay};

/// Returns the text of a step: `Forward(0, 1) after 0.100349 s`.
pub fn describe_occurrence(what: &Occurrence) -> String {
    match what.event() {
        Some(event) => match delay_of(event) {
            Some(delay) => format!("{} after {} s", without_delay(event), time_text(delay)),
            None => event.to_string(),
        },
        None => what.to_string(),
    }
}

/// Returns the name of the verdict's location. For a Fail, also whether another delay would have avoided it.
/// `None` without a timed test or a verdict.
pub fn describe_verdict_location(
    test: &TestCase,
    state: &State,
    decisive: Option<&Event>,
    outcome: &Outcome,
) -> Option<String> {
    test.timed.as_ref()?;
    let (next, why) = match (outcome, decisive) {
        (Outcome::Verdict(Verdict::Fail, Cause::Silence(length)), _) => {
            (take_silence(test, state, *length)?.1, "")
        }
        (Outcome::Verdict(verdict, Cause::Event), Some(event)) => {
            let next = super::tolerance::find_taken(test, state, event)?.1;
            let is_fail = *verdict == Verdict::Fail && event_fails(test, state, event);
            (next, if is_fail { describe_other_times(test, state, event) } else { "" })
        }
        _ => return None,
    };
    Some(format!("{}{why}", test.iosts.location(next.location).name))
}

/// Says whether an event that fails is allowed at another time.
fn describe_other_times(test: &TestCase, state: &State, event: &Event) -> &'static str {
    let always = DelayInterval { low: RBig::ZERO, high: None };
    let Some(delay) = delay_of(event) else { return "" };
    match nearest_delay(test, state, event, delay, &always, &mut Lazy::default()) {
        Some(_) => ": at another time it is allowed",
        None => ": at no known time is it allowed",
    }
}

/// Leaves silence out of a trace, for models without it: the event after it gets its time as well.
pub fn without_silence(trace: &[Occurrence]) -> Vec<Occurrence> {
    let mut silent = RBig::ZERO;
    let mut shown = Vec::new();
    for occurrence in trace {
        let longer = |event: &Event, silent: &RBig| match delay_of(event) {
            Some(delay) => super::delayed_by(event, delay + silent),
            None => event.clone(),
        };
        match occurrence {
            Occurrence::Silence(time) => {
                silent += super::exact_seconds(*time);
                continue;
            }
            Occurrence::Stimulus(event) => shown.push(Occurrence::Stimulus(longer(event, &silent))),
            Occurrence::Observation(event) => shown.push(Occurrence::Observation(longer(event, &silent))),
            Occurrence::Delay(time) => shown.push(Occurrence::Delay(*time)),
        }
        silent = RBig::ZERO;
    }
    shown
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use coreach_model::Value;

    use super::*;

    #[test]
    fn silence_is_added_to_the_event_behind_it() {
        let event = |delay: u32| {
            Occurrence::Observation(Event::new(
                "O",
                [Value::Real(RBig::from_parts(delay.into(), 4u32.into()))],
            ))
        };
        let silence = || Occurrence::Silence(Duration::from_millis(500));
        let trace = [silence(), silence(), event(1), event(2), silence()];
        assert_eq!(without_silence(&trace), [event(5), event(2)]);
    }
}
