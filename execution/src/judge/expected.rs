//! Finds out what should have come if something else came: the values, ranges or actions that are allowed.
//!
//! **Problem.** A guard says which observations are allowed. A user wants to know which value was expected.
//!
//! **Method.** Transitions that cannot be taken in their state are left out. In the others with the observed
//! action, the ways are told in which the guard would have held ([`crate::judge::ways`]). If no transition is
//! left, the answer is the possible actions.
//!
//! **Costs** one question to the solver for each transition with a conjunct that is an exception or not about
//! one parameter alone, and those of its ways.

use std::collections::BTreeMap;

use coreach_analyses::solver::{Solver, Witness};
use coreach_model::excerpt::join_words;
use coreach_model::iosts::{Iosts, Transition};
use coreach_model::limits::{FEW_SHOWN, LONGEST_VALUE};
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::{literals, substitute};
use coreach_model::{Datum, Term, Type, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::judge::collected::collect_values;
use crate::judge::contract::Guard;
use crate::judge::differences::{
    Demand, Difference, alternatives_text, demand_text, demanded_value, instants_text,
};
use crate::judge::excerpts::{cut_text, drop_id_types};
use crate::judge::guards::{failing_conjuncts, may_be, with_event};
use crate::judge::opened::{asks_other_alternative, differ_in_alternative, find_false_case};
use crate::judge::question::Question;
use crate::judge::scope::DecisiveScope;
use crate::lazy::Lazy;

/// A transition that leads to no Fail, and a state in which it may be taken.
pub(crate) type OpenTransition<'t> = (&'t Transition, &'t State);

/// The expected values and actions, compared with what came.
#[derive(Default)]
pub(crate) struct Expectation {
    /// `pNumber = 11, got 12`, or `one of Ok or Refused, got Closed`.
    pub phrase: String,
    pub guards: Vec<Guard>,
    pub expected: Vec<String>,
}

/// Describes what these transitions allow, compared with the observation (`None`: silence). `silent` is how
/// long nothing came before it, in a timed test case.
pub(crate) fn describe_expectation<'t>(
    iosts: &'t Iosts,
    open: &[OpenTransition<'t>],
    observed: Option<&Event>,
    silent: Option<&'t RBig>,
) -> Expectation {
    let mut solver = Lazy::default();
    let mut possible: Vec<OpenTransition<'t>> = open.to_vec();
    possible.retain(|&(transition, state)| {
        may_be(transition, state)
            && Question::new(iosts, silent, (transition, state), None).can_come(transition, &mut solver)
    });
    let mut expected: Vec<String> = Vec::new();
    let mut actions: Vec<String> = Vec::new();
    for (transition, state) in possible.iter().copied() {
        let question = Question::new(iosts, silent, (transition, state), None);
        let (short, condition) = question.describe_allowed(transition, &mut solver);
        let text = if condition.is_empty() { short.clone() } else { format!("{short} when {condition}") };
        add_new(&mut expected, drop_id_types(&text));
        add_new(&mut actions, drop_id_types(&short));
    }
    let actions = match actions.len() {
        0 => "no output".to_owned(),
        1 => actions.remove(0),
        count if count <= FEW_SHOWN => format!("one of {}", join_words(&actions, "or")),
        count => format!("one of {} and {} others", actions[..FEW_SHOWN].join(", "), count - FEW_SHOWN),
    };
    let Some(event) = observed else { return Expectation { phrase: actions, guards: Vec::new(), expected } };
    let has_its_action =
        |(transition, _): &&OpenTransition<'_>| iosts.action(transition.action).name == event.action;
    // The differences of the observed event from the possible ones of its action.
    let mut alternatives: Vec<Vec<Difference>> = Vec::new();
    for &(transition, state) in possible.iter().filter(has_its_action) {
        let question = Question::new(iosts, silent, (transition, state), Some(event));
        for alternative in question.differences(transition, &mut solver) {
            add_new(&mut alternatives, alternative);
        }
    }
    let is_single = alternatives.is_empty() && expected.len() == 1;
    let guards = list_guards(iosts, (open, &possible), event, silent, is_single);
    let phrase = match alternatives_text(&event.action, &alternatives) {
        Some(phrase) => drop_id_types(&phrase),
        None if event.values.is_empty() || silent.is_some() => format!("{actions}, got {}", event.action),
        None => format!("{actions}, got {event:#}"),
    };
    Expectation { phrase, guards, expected }
}

/// Lists the guards that say why an event cannot come. `is_single`: the possible transitions allow a single
/// thing, from which the event does not differ in values.
fn list_guards<'t>(
    iosts: &'t Iosts,
    (open, possible): (&[OpenTransition<'t>], &[OpenTransition<'t>]),
    event: &'t Event,
    silent: Option<&'t RBig>,
    is_single: bool,
) -> Vec<Guard> {
    let questions = |transitions: &[OpenTransition<'t>]| -> Vec<(&'t Transition, Question<'t>)> {
        let of_its_action =
            transitions.iter().filter(|open| iosts.action(open.0.action).name == event.action);
        of_its_action.map(|open| (open.0, Question::new(iosts, silent, *open, Some(event)))).collect()
    };
    // If the event cannot come at all now, the guards of the impossible transitions say why.
    let mut explaining = questions(possible);
    if explaining.is_empty() {
        explaining = questions(open);
    }
    // The guards of other alternatives than the one that came explain little. They are left out or come last.
    let (of_other, of_same): (Vec<_>, Vec<_>) = explaining
        .into_iter()
        .partition(|(transition, question)| question.is_of_other_alternative(transition));
    let are_others = of_same.is_empty();
    let mut explaining = if are_others { of_other } else { of_same };
    // A transition that only the state excludes is nearer than one that would also refuse the values.
    let fits_event = |(transition, question): &(&Transition, Question<'_>)| {
        !failing_conjuncts(&transition.guard, &question.values).iter().any(|part| question.reads_event(part))
    };
    if explaining.iter().any(fits_event) {
        explaining.retain(fits_event);
    }
    let add_failing = |guards: &mut Vec<Guard>, asked: &[(&Transition, Question<'_>)]| {
        for (transition, question) in asked {
            for guard in question.failing_parts(iosts, transition) {
                add_guard(guards, guard);
            }
        }
    };
    let mut guards = Vec::new();
    if !are_others {
        add_failing(&mut guards, &explaining);
    }
    // The event would be right by a transition that one condition excludes: this decides between the two. If
    // there is none, and the others are about other alternatives, several conditions explain more than these.
    let (mut of_several, did_hold) = (Vec::new(), false);
    for (transition, question) in questions(open) {
        let is_listed = possible.iter().any(|(listed, _)| std::ptr::eq(*listed, transition));
        if is_listed || question.is_of_other_alternative(transition) {
            continue;
        }
        match failing_conjuncts(&transition.guard, &question.values).as_slice() {
            [only] => add_guard(&mut guards, question.guard(iosts, transition, only, did_hold)),
            _ if are_others => of_several.push((transition, question)),
            _ => {}
        }
    }
    for asked in [&of_several, &explaining] {
        if guards.is_empty() {
            add_failing(&mut guards, asked);
        }
    }
    // The state does not tell why this action cannot come: it tells why the only possible one can.
    let state_forbids = |(transition, question): &(&Transition, Question<'_>)| {
        failing_conjuncts(&transition.guard, &question.values).iter().any(|part| !question.reads_event(part))
    };
    if let Some(only @ (transition, _)) = possible.first().filter(|_| is_single)
        && !explaining.is_empty()
        && !explaining.iter().any(state_forbids)
    {
        guards.extend(Question::new(iosts, silent, *only, None).guard_of_state(iosts, transition));
    }
    guards
}

fn add_new<T: PartialEq>(items: &mut Vec<T>, item: T) {
    if !items.contains(&item) {
        items.push(item);
    }
}

/// Adds a guard, unless a known one tells it. The parts into which a purpose splits a transition tell the
/// same: they differ in their targets alone, or also in conditions of the purpose.
fn add_guard(guards: &mut Vec<Guard>, guard: Guard) {
    fn start(guard: &Guard) -> Option<&str> {
        guard.transition.rsplit_once("-> ").map(|(start, _)| start)
    }
    let is_known = |known: &Guard| {
        let is_same_place = start(known) == start(&guard) && known.place == guard.place;
        let is_split = known.place.is_some() && known.transition != guard.transition;
        is_same_place && (is_split || known.part == guard.part)
    };
    if !guards.iter().any(is_known) {
        guards.push(guard);
    }
}

impl<'t> Question<'t> {
    /// Asks about a transition in a state, and about an event if there is one.
    fn new(
        iosts: &'t Iosts,
        silent: Option<&'t RBig>,
        (transition, state): OpenTransition<'_>,
        event: Option<&Event>,
    ) -> Self {
        let action = iosts.action(transition.action);
        let values = event.map_or_else(|| state.valuation.clone(), |event| with_event(iosts, state, event));
        Question { name: &action.name, parameters: &action.parameters, silent, values }
    }

    /// Does the transition refuse the event since a variant or an option in it has another alternative?
    fn is_of_other_alternative(&self, transition: &Transition) -> bool {
        fn is_wrong(part: &Term, question: &Question<'_>, scope: &DecisiveScope) -> bool {
            match part.written() {
                _ if differ_in_alternative(part, &question.values) => question.reads_event(part),
                Some(Node::And(parts)) => parts
                    .iter()
                    .any(|part| holds(part, &question.values) != Ok(true) && is_wrong(part, question, scope)),
                Some(Node::Or(parts)) => parts.iter().all(|part| is_wrong(part, question, scope)),
                _ => {
                    part.as_question().is_some_and(|(subject, ..)| question.reads_event(subject))
                        || find_false_case(part, scope)
                            .is_some_and(|(subject, _)| question.reads_event(&subject))
                        || asks_other_alternative(part, scope)
                }
            }
        }
        let scope = DecisiveScope::new(&transition.guard, &self.values, self.parameters);
        failing_conjuncts(&transition.guard, &self.values).iter().any(|part| is_wrong(part, self, &scope))
    }

    /// Returns the conditions of a guard that the state alone decides, if there are any.
    fn guard_of_state(&self, iosts: &Iosts, transition: &Transition) -> Option<Guard> {
        let mut parts = transition.guard.conjuncts();
        parts.retain(|part| !self.reads_event(part) && !part.asks_definedness());
        let did_hold = true;
        (!parts.is_empty()).then(|| self.guard(iosts, transition, &Term::and(parts), did_hold))
    }

    /// Splits a guard: the demands on single parameters by name, and the other conjuncts that read the event.
    fn demands(&self, transition: &Transition) -> (BTreeMap<String, Vec<Demand>>, Vec<Term>) {
        let mut by_parameter: BTreeMap<String, Vec<Demand>> = BTreeMap::new();
        let mut other_parts = Vec::new();
        let mut state = literals(&self.values);
        state.retain(|datum, _| !self.parameters.contains(datum));
        for part in transition.guard.conjuncts() {
            // The state decides the first kind, and the second kind is no demand that a person would make.
            if !self.reads_event(&part) || part.asks_definedness() {
                continue;
            }
            // With the values of the state, `len(q) < 1 || r != q[0]` excludes a value, or always holds.
            let with_state = substitute(&part, &state);
            match self.isolate_parameter(&part).or_else(|| self.isolate_parameter(&with_state)) {
                Some((name, demand)) => by_parameter.entry(name).or_default().push(demand),
                None if with_state.is_true() => {}
                None => other_parts.push(part),
            }
        }
        (by_parameter, other_parts)
    }

    /// Describes the event that a transition allows, as `Return(pValue = 3)`, and the rest of its guard.
    fn describe_allowed(&self, transition: &Transition, solver: &mut Lazy) -> (String, String) {
        let (mut by_parameter, mut other_parts) = self.demands(transition);
        // A parameter in another condition may still have one possible value.
        let is_read = |parameter: &&Datum| other_parts.iter().any(|part| part.mentions(parameter));
        for parameter in self.parameters.iter().filter(is_read) {
            if let Some(value) = self.find_only_value(transition, parameter, solver) {
                by_parameter.insert(parameter.name().to_owned(), vec![Demand::Value(value)]);
            }
        }
        let demands_on = |parameter: &Datum| by_parameter.get(parameter.name());
        let has_value =
            |parameter: &Datum| demands_on(parameter).and_then(|demands| demanded_value(demands)).is_some();
        other_parts.retain(|part| !self.list_read(part).into_iter().all(has_value));
        let text = |parameter: &Datum| match demands_on(parameter).and_then(|demands| demand_text(demands)) {
            Some(text) => format!("{} {text}", parameter.name()),
            None => parameter.name().to_owned(),
        };
        // In a timed test case the first parameter is the delay, which is shown as an instant.
        let delay = self.silent.and_then(|_| self.parameters.first());
        let shown_parameters = &self.parameters[usize::from(delay.is_some())..];
        let mut short = self.name.to_owned();
        if !shown_parameters.is_empty() {
            short += &format!("({})", shown_parameters.iter().map(text).collect::<Vec<_>>().join(", "));
        }
        if let Some(demands) = delay.and_then(demands_on) {
            let demands: Vec<Demand> =
                demands.iter().cloned().map(|demand| self.since_last_event(demand)).collect();
            short += &format!(" {}", instants_text(&demands));
        }
        (short, self.join_conditions(&other_parts))
    }

    /// Joins conditions, with the values that they read: `x > n, where n = 3`.
    fn join_conditions(&self, parts: &[Term]) -> String {
        let conjunct = |part: &Term| if parts.len() > 1 { part.to_conjunct() } else { part.to_string() };
        let condition = parts.iter().map(conjunct).collect::<Vec<_>>().join(" && ");
        let mut values = BTreeMap::new();
        parts.iter().for_each(|part| collect_values(part, &self.values, &mut values));
        let texts: Vec<String> = values
            .iter()
            .map(|(name, value)| format!("{name} = {}", cut_text(value, LONGEST_VALUE)))
            .collect();
        if texts.is_empty() { condition } else { format!("{condition}, where {}", texts.join(", ")) }
    }

    /// Can some values take the transition? Errs towards yes.
    fn can_come(&self, transition: &Transition, solver: &mut Lazy) -> bool {
        let (by_parameter, other_parts) = self.demands(transition);
        // Do the demands on single parameters alone decide?
        let mut is_sure = other_parts.is_empty();
        let mut known = literals(&self.values);
        for (name, mut demands) in by_parameter {
            let Some(datum) = self.parameters.iter().find(|datum| datum.name() == name) else { continue };
            demands.extend(ends_of_type(datum.ty()));
            // An exception (`!= 3`), and an integer compared with a real, are questions for the solver.
            is_sure &= !demands.iter().any(|demand| matches!(demand, Demand::Text(_) | Demand::Except(_)));
            if !demands.iter().all(|demand| demand.fits_sort_of(datum.ty())) {
                is_sure = false;
                continue;
            }
            let value = demanded_value(&demands);
            if demand_text(&demands).is_none() || value.is_some_and(|value| !value.is_in(datum.ty())) {
                return false;
            }
            known.extend(value.map(|value| (datum.clone(), Term::literal(value.clone()))));
        }
        if is_sure {
            return true;
        }
        let guard = substitute(&transition.guard, &known);
        guard.is_true() || (!guard.is_false() && solver.witness(&guard.conjuncts()) != Witness::None)
    }
}

/// Lists the demands that a type of integers makes on its values: the ends of its range.
fn ends_of_type(ty: &Type) -> Vec<Demand> {
    let end = |comparison, value: &IBig| Demand::Bound(comparison, Value::Int(value.clone()));
    match ty {
        Type::Nat => vec![end(Comparison::AtLeast, &IBig::ZERO)],
        Type::Range(low, high) => vec![end(Comparison::AtLeast, low), end(Comparison::AtMost, high)],
        _ => Vec::new(),
    }
}

/// Returns the guard of a transition that was taken, unless it is always true.
pub(crate) fn decided_guard(iosts: &Iosts, transition: &Transition, values: Valuation) -> Option<Guard> {
    let question = Question { name: "", parameters: &[], silent: None, values };
    // Nobody has written the conjuncts that ask whether operations have values.
    let written = transition.guard.conjuncts().into_iter().filter(|part| !part.asks_definedness());
    let part = Term::and(written);
    let did_hold = true;
    (!part.is_true()).then(|| question.guard(iosts, transition, &part, did_hold))
}
