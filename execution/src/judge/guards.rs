//! What of a test case's guards decides about an observation: the parts that do not hold, with the values
//! that make them fail, and what would have led on.

use coreach_analyses::solver::{Solver, Witness};
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{Valuation, evaluate, holds};
use coreach_model::term::{Substitution, substitute};
use coreach_model::{Datum, Term, Value, Verdict};

use crate::judge::contract::Guard;
use crate::lazy::Lazy;
use crate::test_case::TestCase;

/// The transitions of the event's action that do not lead to the verdict, each with its first conjunct that
/// does not hold; and for Inconclusive the guard that led there.
pub(super) fn guards(test: &TestCase, state: &State, event: &Event, verdict: Option<Verdict>) -> Vec<Guard> {
    let valuation = with_event(&test.iosts, state, event);
    let mut found = Vec::new();
    for number in &test.observations[state.location] {
        let transition = &test.iosts.transitions[*number];
        if test.iosts.action(transition.action).name != event.action {
            continue;
        }
        let leads = test.verdict(transition.target);
        if leads == Some(Verdict::Fail) {
            // That a property is violated is more than that something is not allowed.
            if test.violates[transition.target].is_some() && holds(&transition.guard, &valuation) == Ok(true)
            {
                found.extend(part(test, transition, &transition.guard, true, &valuation));
            }
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

/// For each of these transitions with the event's action, the conjuncts of its guard that do not hold. One
/// whose value is not known does not hold.
pub(crate) fn violated<'t>(
    iosts: &Iosts,
    transitions: impl Iterator<Item = &'t Transition>,
    state: &State,
    event: &Event,
) -> Vec<Vec<Term>> {
    let valuation = with_event(iosts, state, event);
    let fails = |conjunct: &Term| holds(conjunct, &valuation) != Ok(true);
    let failing = |transition: &Transition| transition.guard.conjuncts().into_iter().filter(fails).collect();
    transitions.filter(|one| iosts.action(one.action).name == event.action).map(failing).collect()
}

/// Conjuncts as people read them.
pub(crate) fn texts(conjuncts: &[Term]) -> Vec<String> {
    conjuncts.iter().map(Term::to_string).collect()
}

/// Is there an event of the transition's action that it takes in this state? Only where that is certain.
pub(super) fn can_come(test: &TestCase, transition: &Transition, state: &State) -> bool {
    let known: Substitution =
        state.valuation.iter().map(|(datum, value)| (datum.clone(), Term::literal(value.clone()))).collect();
    let guard = substitute(&transition.guard, &known);
    if guard.is_true() || guard.is_false() {
        return guard.is_true();
    }
    let parameters = &test.iosts.action(transition.action).parameters;
    // What has no value anywhere stands in the guard, as has everything that a transition needs to be taken.
    let witness = Lazy::default().witness(&guard.conjuncts());
    let Witness::Found(found) = witness else { return false };
    let mut valuation = state.valuation.clone();
    valuation.extend(found.into_iter().filter(|(datum, _)| parameters.contains(datum)));
    holds(&transition.guard, &valuation) == Ok(true)
}

fn part(test: &TestCase, transition: &Transition, term: &Term, holds: bool, at: &Valuation) -> Option<Guard> {
    if term.is_true() {
        return None;
    }
    let value = |datum: &Datum| Some((datum.to_string(), at.get(datum)?.to_string().into()));
    Some(Guard {
        transition: test.iosts.describe(transition),
        part: term.to_string(),
        holds,
        values: term.data().iter().filter_map(value).collect(),
    })
}

/// The state's valuation with the event's values for its parameters.
fn with_event(iosts: &Iosts, state: &State, event: &Event) -> Valuation {
    let mut valuation = state.valuation.clone();
    if let Some(action) = iosts.find_action(&event.action) {
        let parameters = &iosts.action(action).parameters;
        valuation.extend(parameters.iter().cloned().zip(event.values.iter().cloned()));
    }
    valuation
}

/// What would have led on: `Return(pRemainingValue) when pRemainingValue == vPaid - cPrice`, with the values
/// of the state.
pub(super) fn expected(test: &TestCase, state: &State) -> Vec<String> {
    expected_of(test, state, |_| true)
}

/// The same of the observations that the state does not exclude, whatever their values.
pub(super) fn expected_here(test: &TestCase, state: &State) -> Vec<String> {
    expected_of(test, state, |transition| may_be(transition, state))
}

/// Does the state not exclude the transition, whatever the values of its parameters?
pub(crate) fn may_be(transition: &Transition, state: &State) -> bool {
    let excluded = |part: &Term| evaluate(part, &state.valuation) == Ok(Value::Bool(false));
    !transition.guard.conjuncts().iter().any(excluded)
}

fn expected_of(test: &TestCase, state: &State, is_told: impl Fn(&Transition) -> bool) -> Vec<String> {
    let mut found = Vec::new();
    for number in &test.observations[state.location] {
        let transition = &test.iosts.transitions[*number];
        if test.verdict(transition.target) == Some(Verdict::Fail) || !is_told(transition) {
            continue;
        }
        let action = test.iosts.action(transition.action);
        let parameters: Vec<String> = action.parameters.iter().map(Datum::to_string).collect();
        let head = format!("{}({})", action.name, parameters.join(", "));
        let mut parts = transition.guard.conjuncts();
        // A condition that an operation has a value is shown only if it has none.
        parts.retain(|part| {
            !part.asks_definedness() || evaluate(part, &state.valuation) == Ok(Value::Bool(false))
        });
        let text = |part: &Term| if parts.len() > 1 { part.to_conjunct() } else { part.to_string() };
        let told = |part: &Term| at_state(part, &text(part), state, &action.parameters);
        let guard: Vec<String> = parts.iter().map(told).collect();
        let text = if guard.is_empty() { head } else { format!("{head} when {}", guard.join(" && ")) };
        if !found.contains(&text) {
            found.push(text);
        }
    }
    found
}

/// A conjunct, with its value where the state alone decides it: `vPaid >= 3 [false]`.
fn at_state(part: &Term, text: &str, state: &State, parameters: &[Datum]) -> String {
    if part.data().iter().any(|datum| parameters.contains(datum)) {
        let known: Vec<String> = part
            .data()
            .iter()
            .filter(|datum| !parameters.contains(datum))
            .filter_map(|datum| Some(format!("{datum} = {}", state.valuation.get(datum)?)))
            .collect();
        return if known.is_empty() { text.to_owned() } else { format!("{text} [{}]", known.join(", ")) };
    }
    match evaluate(part, &state.valuation) {
        Ok(Value::Bool(value)) => format!("{text} [{value}]"),
        Ok(other) => format!("{text} [{other}]"),
        Err(why) => format!("{text} [{why}]"),
    }
}
