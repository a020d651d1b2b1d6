//! Why a verdict was given, in the user's own names.
//!
//! The last event, the location in which it came, what the specification would have allowed there, and for each
//! transition of the same action the part of its guard that does not hold, with the values that make it fail.
//!
//! All of it is computed again from the trace: a test case is deterministic, so nothing needs to be kept.

use coreach_model::iosts::Transition;
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::{Datum, Term, Value, Verdict};

use crate::run::{Cause, Outcome, Run};
use crate::test_case::TestCase;
use crate::tester::states;

/// What can be said about the end of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reason {
    /// One sentence.
    pub summary: String,
    /// The label of the location in which the last event came, or in which the run ended.
    pub location: String,
    /// The last event, where an event decided.
    pub event: Option<String>,
    /// The guards of that event's action that did not hold, or whose holding decided.
    pub guards: Vec<Guard>,
    /// The observations that the test case would have gone on with.
    pub expected: Vec<String>,
}

/// A guard at the moment of decision.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Guard {
    /// The transition: `Pay -Return-> Choose`.
    pub transition: String,
    /// The part that decided: a conjunct.
    pub part: String,
    /// Whether it held.
    pub holds: bool,
    /// The values of the data in it.
    pub values: Vec<(String, String)>,
}

/// Explains the end of a run that began in this state.
pub fn reason(test: &TestCase, initial: State, run: &Run) -> Reason {
    let states = states(test, initial, &run.trace);
    let verdict = run.outcome.verdict();
    let decided = matches!(&run.outcome, Outcome::Verdict(_, Cause::Event));
    // Where the last event decided, the state before it; else the last one.
    let at = run.trace.len().saturating_sub(usize::from(decided));
    let state = &states[at.min(states.len() - 1)];
    let location = test.iosts.location(state.location).label.clone();
    let last = run.trace.last().filter(|_| decided);
    let event = match (&run.outcome, last) {
        (Outcome::Verdict(_, Cause::Alien(text)), _) => Some(text.clone()),
        (_, Some(step)) => Some(step.event.to_string()),
        _ => None,
    };
    let guards = match last {
        Some(step) if verdict != Some(Verdict::Pass) => guards(test, state, &step.event, verdict),
        _ => Vec::new(),
    };
    Reason {
        summary: summary(run, &location, event.as_deref()),
        expected: if verdict == Some(Verdict::Pass) { Vec::new() } else { expected(test, state) },
        location,
        event,
        guards,
    }
}

fn summary(run: &Run, location: &str, event: Option<&str>) -> String {
    let event = event.unwrap_or("nothing");
    match &run.outcome {
        Outcome::Verdict(Verdict::Pass, _) if run.trace.is_empty() => {
            "the purpose is met before anything happens".to_owned()
        }
        Outcome::Verdict(Verdict::Pass, _) => format!("{event} in {location} meets the purpose"),
        Outcome::Verdict(_, Cause::Alien(_)) => {
            format!("in {location} the implementation sent what is no event of the specification: {event}")
        }
        Outcome::Verdict(Verdict::Fail, _) => {
            format!("the specification does not allow {event} in {location}")
        }
        Outcome::Verdict(_, cause) => match cause {
            Cause::Event | Cause::Alien(_) => {
                format!("{event} in {location} is allowed, and puts the purpose out of reach")
            }
            Cause::Silence(limit) => {
                format!(
                    "nothing was observed in {location} for {} ms, and there was nothing to send",
                    limit.as_millis()
                )
            }
            Cause::NothingToDo => format!("in {location} no stimulus has values that its guard allows"),
            Cause::Steps(limit) => format!("the run ended in {location} at its limit of {limit} events"),
            Cause::Time(limit) => {
                format!("the run ended in {location} at its limit of {} ms", limit.as_millis())
            }
            Cause::Digits(limit) => {
                format!("the run ended in {location} before a number of more than {limit} digits")
            }
            Cause::Ended => format!("the run was ended in {location} by hand"),
        },
        Outcome::RunError(failure) => format!("in {location}: {failure}"),
    }
}

/// The transitions of the event's action that do not lead to the verdict, each with its first conjunct that does not hold;
/// and for Inconclusive the guard that led there.
fn guards(test: &TestCase, state: &State, event: &Event, verdict: Option<Verdict>) -> Vec<Guard> {
    let valuation = with_event(test, state, event);
    let mut found = Vec::new();
    for number in &test.observations[state.location.0 as usize] {
        let transition = &test.iosts.transitions[*number];
        if test.iosts.action(transition.action).name != event.action {
            continue;
        }
        let leads = test.verdict(transition.target);
        if leads == Some(Verdict::Fail) {
            continue;
        }
        if leads == verdict {
            found.extend(part(test, transition, &transition.guard, true, &valuation));
        } else {
            let failing = transition.guard.conjuncts().into_iter().find(|c| holds(c, &valuation) != Ok(true));
            found.extend(failing.and_then(|c| part(test, transition, &c, false, &valuation)));
        }
    }
    found
}

fn part(test: &TestCase, transition: &Transition, term: &Term, holds: bool, at: &Valuation) -> Option<Guard> {
    if term.is_true() {
        return None;
    }
    let value = |datum: &Datum| Some((datum.to_string(), at.get(datum)?.to_string()));
    Some(Guard {
        transition: test.iosts.describe(transition),
        part: term.to_string(),
        holds,
        values: term.data().iter().filter_map(value).collect(),
    })
}

/// The state's valuation with the event's values for its parameters.
pub fn with_event(test: &TestCase, state: &State, event: &Event) -> Valuation {
    let mut valuation = state.valuation.clone();
    if let Some(action) = test.iosts.find_action(&event.action) {
        let parameters = &test.iosts.action(action).parameters;
        valuation.extend(parameters.iter().cloned().zip(event.values.iter().cloned()));
    }
    valuation
}

/// What would have led on: `Return(pRemainingValue) when pRemainingValue == vPaid - cPrice`, with the values of the state.
fn expected(test: &TestCase, state: &State) -> Vec<String> {
    let mut found = Vec::new();
    for number in &test.observations[state.location.0 as usize] {
        let transition = &test.iosts.transitions[*number];
        if test.verdict(transition.target) == Some(Verdict::Fail) {
            continue;
        }
        let action = test.iosts.action(transition.action);
        let parameters: Vec<String> = action.parameters.iter().map(Datum::to_string).collect();
        let head = format!("{}({})", action.name, parameters.join(", "));
        let guard: Vec<String> = transition
            .guard
            .conjuncts()
            .iter()
            .map(|part| at_state(part, state, &action.parameters))
            .collect();
        let text = if guard.is_empty() { head } else { format!("{head} when {}", guard.join(" && ")) };
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// A conjunct, with its value where the state alone decides it: `vPaid >= 3 [false]`.
fn at_state(part: &Term, state: &State, parameters: &[Datum]) -> String {
    if part.data().iter().any(|datum| parameters.contains(datum)) {
        let known: Vec<String> = part
            .data()
            .iter()
            .filter(|datum| !parameters.contains(datum))
            .filter_map(|datum| Some(format!("{datum} = {}", state.valuation.get(datum)?)))
            .collect();
        return if known.is_empty() { part.to_string() } else { format!("{part} [{}]", known.join(", ")) };
    }
    match evaluate(part, &state.valuation) {
        Ok(Value::Bool(value)) => format!("{part} [{value}]"),
        Ok(other) => format!("{part} [{other}]"),
        Err(why) => format!("{part} [{why}]"),
    }
}
