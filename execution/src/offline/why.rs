//! Explains why a trace ended where it did: the last member, and what the model allowed instead.
//!
//! For each possible context, and each transition that leaves it, this computes the span of delays in which
//! the transition can be taken. Its parameters are eliminated from its condition, the known data are
//! substituted, and each remaining part is solved for the delay. The latest end of these spans says until
//! when silence was allowed. A part that cannot be solved is shown as it is. Nothing here decides anything.

use coreach_analyses::solver::Solver;
use coreach_analyses::symbolic::eliminate::{eliminate_data, solve_for};
use coreach_model::diagnostic::Origin;
use coreach_model::iosts::{ActionKind, TransitionId};
use coreach_model::limits::MANY_SHOWN;
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::node::Comparison;
use coreach_model::term::substitute;
use coreach_model::{Datum, Term, Value, codec};
use dashu_ratio::RBig;

use crate::offline::context::Context;
use crate::offline::prepared::Offline;
use crate::offline::sequence::{SeqItem, time_text};
use crate::offline::unseen::time_since_event;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub line: usize,
    pub item: SeqItem,
    /// The time since the beginning. For a delay: when it begins.
    pub time: RBig,
}

/// An end of a span. Of two at one time, the one that is not in its span is the smaller one.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct SpanEnd {
    /// Since the last event.
    pub delay: RBig,
    pub is_in: bool,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct At {
    pub location: String,
    /// How many transitions of the path had been taken, if no others were.
    pub steps: Option<usize>,
}

/// A transition that could be taken, now or later.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AllowedTransition {
    /// Its action with the parameters, `error!(fTimeout)`.
    pub event: String,
    pub transition: String,
    pub from: String,
    pub place: Option<Origin>,
    /// Its guard as it stands in the model.
    pub guard: String,
    /// The earliest delay since the last event.
    pub earliest: SpanEnd,
    /// The latest delay since the last event; `None` if there is no end.
    pub latest: Option<SpanEnd>,
    /// Its other conditions, on the values or on unknown data.
    pub other_conditions: Vec<String>,
    pub is_on_path: bool,
}

/// A transition of the observed action that could not be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    pub transition: String,
    pub from: String,
    /// The parts of its guard that did not hold, each with the values in it.
    pub parts: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Until {
    /// Silence was allowed for ever: no output had to come, or one could come at any time.
    Forever,
    /// Silence was allowed until then, since the last event.
    End(SpanEnd),
    Unsaid,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Why {
    pub seen: Seen,
    /// The time since the last event.
    pub elapsed: RBig,
    pub last: Option<Seen>,
    pub at: Vec<At>,
    pub allowed: Vec<AllowedTransition>,
    /// The transitions of the observed action that could not be taken.
    pub refused: Vec<Refused>,
    pub until: Until,
}

impl Why {
    /// Explains why none of these contexts takes the last member.
    pub(super) fn explain(
        offline: &Offline<'_>,
        contexts: &[Context],
        elapsed: &RBig,
        seen: Seen,
        last: Option<Seen>,
        solver: &mut dyn Solver,
    ) -> Why {
        let mut why = Why {
            seen,
            elapsed: elapsed.clone(),
            last,
            at: Vec::new(),
            allowed: Vec::new(),
            refused: Vec::new(),
            until: Until::End(SpanEnd { delay: RBig::ZERO, is_in: true }),
        };
        for context in contexts {
            why.add_context(offline, context, solver);
        }
        why.at.sort();
        why.at.dedup();
        why
    }

    /// Adds a context: how long it may wait, which events it allows, and what refused the event that came.
    fn add_context(&mut self, offline: &Offline<'_>, context: &Context, solver: &mut dyn Solver) {
        let graph = offline.graph();
        let location = graph.location(context.state.location).name.clone();
        let steps = context.place.steps_on_path();
        self.at.push(At { location: location.clone(), steps });
        if offline.waiting.may_be_quiescent(&context.state, solver) {
            self.until = Until::Forever;
        }
        for number in &offline.system.outgoing[context.state.location] {
            let action = &graph.action_of(*number);
            if action.kind == ActionKind::Internal {
                continue;
            }
            let transition = offline.timed.called(*number);
            // The spans in which it can be taken now or later.
            let mut is_possible = false;
            for Span { earliest, latest, other_conditions } in list_spans(offline, context, *number) {
                is_possible = true;
                self.extend_silence(latest.as_ref(), &other_conditions);
                let now = SpanEnd { delay: self.elapsed.clone(), is_in: true };
                if latest.as_ref().is_some_and(|end| *end < now) {
                    continue;
                }
                let guard = &graph.transitions[*number].guard;
                let sign = if action.kind == ActionKind::Output { '!' } else { '?' };
                let parameters: Vec<&str> = action.parameters.iter().map(Datum::name).collect();
                let allowed = AllowedTransition {
                    event: format!("{}{sign}({})", action.name, parameters.join(", ")),
                    transition: transition.clone(),
                    from: location.clone(),
                    place: graph.transitions[*number].origin.whole.clone(),
                    guard: if guard.is_true() { String::new() } else { guard.to_string() },
                    earliest,
                    latest,
                    other_conditions: other_conditions.iter().map(Term::to_conjunct).collect(),
                    is_on_path: steps.is_some_and(|steps| offline.is_next(steps, *number)),
                };
                if !self.allowed.contains(&allowed) && self.allowed.len() < MANY_SHOWN {
                    self.allowed.push(allowed);
                }
            }
            // The parts of its guard that refused the event.
            if let SeqItem::Event(seen_action, values) = &self.seen.item
                && *seen_action == graph.transitions[*number].action
            {
                let mut parts = failing_parts(offline, context, *number, values, &self.elapsed);
                if parts.is_empty() && is_possible {
                    parts.push(format!("{} [with these values]", graph.transitions[*number].guard));
                }
                let refused = Refused { transition, from: location.clone(), parts };
                if !self.refused.contains(&refused) && self.refused.len() < MANY_SHOWN {
                    self.refused.push(refused);
                }
            }
        }
    }

    /// Extends the time of allowed silence to the end of a span, which has these other conditions.
    fn extend_silence(&mut self, latest: Option<&SpanEnd>, other_conditions: &[Term]) {
        self.until = match (std::mem::replace(&mut self.until, Until::Unsaid), latest) {
            (Until::Forever, _) => Until::Forever,
            // A span without an end may have one in a condition that is not solved.
            (_, None) if !other_conditions.is_empty() => Until::Unsaid,
            (_, None) => Until::Forever,
            (Until::End(known), Some(end)) => Until::End(known.max(end.clone())),
            (Until::Unsaid, Some(_)) => Until::Unsaid,
        };
    }
}

/// A span of delays, with the other conditions.
struct Span {
    earliest: SpanEnd,
    latest: Option<SpanEnd>,
    other_conditions: Vec<Term>,
}

/// Lists the spans of delays in which a transition can be taken, one for each case of its condition.
fn list_spans(offline: &Offline<'_>, context: &Context, number: TransitionId) -> Vec<Span> {
    let iosts = &offline.form.iosts;
    let delay = &offline.form.delay;
    let parameters = &iosts.action_of(number).parameters;
    let mut terms = context.state.data_terms();
    // A guard counts the delay from the last step, seen or not; a span counts it from the last event.
    if let Some(passed) = time_since_event(&context.state) {
        terms.insert(delay.clone(), Term::subtract(&Term::datum(delay), &passed));
    }
    let enabled = substitute(offline.system.enabled(number), &terms);
    let mut parts = context.state.condition.clone();
    parts.extend(enabled.conjuncts());
    // Eliminate all unknown data if possible; otherwise only the event's parameters.
    let mut unknown: Vec<Datum> = parts.iter().flat_map(Term::data).filter(|datum| datum != delay).collect();
    unknown.sort();
    unknown.dedup();
    let event_data = || parameters.iter().filter(|datum| *datum != delay).cloned().collect::<Vec<_>>();
    let span_condition =
        eliminate_data(&unknown, &parts).or_else(|| eliminate_data(&event_data(), &parts)).unwrap_or(enabled);
    span_condition.disjuncts().iter().filter_map(|case| split_span(case, delay)).collect()
}

/// Splits a conjunction into a span of delays and the other conditions. `None`: it is empty.
fn split_span(case: &Term, delay: &Datum) -> Option<Span> {
    if case.is_false() {
        return None;
    }
    let mut earliest = SpanEnd { delay: RBig::ZERO, is_in: true };
    let mut latest: Option<SpanEnd> = None;
    let mut other_conditions = Vec::new();
    for part in case.conjuncts() {
        let end = solve_for(&part, delay).and_then(|(comparison, value)| match value.as_literal() {
            Some(Value::Real(value)) => Some((comparison, value.clone())),
            _ => None,
        });
        let Some((comparison, value)) = end else {
            other_conditions.push(part);
            continue;
        };
        // For an end that the part gives: does the value itself lie in the span?
        let (low_is_in, high_is_in) = match comparison {
            Comparison::AtLeast => (Some(true), None),
            Comparison::Greater => (Some(false), None),
            Comparison::AtMost => (None, Some(true)),
            Comparison::Less => (None, Some(false)),
            Comparison::Equal => (Some(true), Some(true)),
            Comparison::NotEqual => {
                other_conditions.push(part);
                continue;
            }
        };
        if let Some(is_in) = low_is_in
            && (value > earliest.delay || (value == earliest.delay && !is_in))
        {
            earliest = SpanEnd { delay: value.clone(), is_in };
        }
        if let Some(is_in) = high_is_in {
            let end = SpanEnd { delay: value, is_in };
            latest = Some(latest.map_or(end.clone(), |known| known.min(end)));
        }
    }
    let is_empty = latest.as_ref().is_some_and(|end| {
        end.delay < earliest.delay || (end.delay == earliest.delay && !(end.is_in && earliest.is_in))
    });
    (!is_empty).then_some(Span { earliest, latest, other_conditions })
}

/// Lists the parts of the guard that do not hold for an event with these values, with those of their data.
fn failing_parts(
    offline: &Offline<'_>,
    context: &Context,
    number: TransitionId,
    values: &[Value],
    elapsed: &RBig,
) -> Vec<String> {
    if time_since_event(&context.state).is_some() {
        // The clocks now depend on an instant that nobody saw.
        return Vec::new();
    }
    let graph = offline.graph();
    let mut values_now: Valuation = context.state.known.clone();
    for clock in offline.timed.clocks() {
        if let Some(Value::Real(shown)) = values_now.get_mut(clock) {
            *shown += elapsed;
        }
    }
    let transition = &graph.transitions[number];
    let parameters = &graph.action(transition.action).parameters;
    values_now.extend(parameters.iter().cloned().zip(values.iter().cloned()));
    let parts = transition.guard.conjuncts();
    let fails = |part: &Term| matches!(evaluate(part, &values_now), Ok(Value::Bool(false)));
    let text = |part: Term| {
        let value = |datum: Datum| {
            let value = match values_now.get(&datum)? {
                Value::Real(value) => time_text(value),
                value => codec::to_text(value),
            };
            Some(format!("{datum} = {value}"))
        };
        let values: Vec<String> = part.data().into_iter().filter_map(value).collect();
        format!("{part} [{}]", values.join(", "))
    };
    parts.into_iter().filter(fails).map(text).collect()
}
