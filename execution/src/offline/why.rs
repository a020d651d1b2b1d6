//! Why a trace ended where it did: what was seen, and what the model allowed instead.
//!
//! For each context that was possible, and each transition that leaves it, the span of delays in which it can
//! be taken: its parameters are taken out of what it asks for, the known data are put in, and each part that
//! is left is solved for the delay. The latest end of these is until when silence was allowed. A part that
//! cannot be solved is told as it is. Nothing here decides anything.

use coreach_analyses::solver::Solver;
use coreach_analyses::symbolic::eliminate::{eliminate_data, solve_for};
use coreach_model::iosts::{ActionId, ActionKind, TransitionId};
use coreach_model::term::evaluate::{Valuation, evaluate};
use coreach_model::term::node::Comparison;
use coreach_model::term::substitute;
use coreach_model::{Datum, Term, Value, codec};
use dashu_ratio::RBig;

use crate::offline::context::{Context, Place};
use crate::offline::prepared::Offline;
use crate::offline::sequence::{Item, time_text};
use crate::offline::unseen::since_event;

const MOST_TOLD: usize = 12;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Seen {
    pub line: usize,
    pub item: Item,
    /// The time since the beginning: of a delay, when it begins.
    pub time: RBig,
}

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
    /// Its guard as it stands in the model.
    pub guard: String,
    /// Not before; since the last event.
    pub earliest: SpanEnd,
    /// Not after; nothing where there is no end.
    pub latest: Option<SpanEnd>,
    /// What it asks for besides, of the values or of what is not known.
    pub besides: Vec<String>,
    pub is_on_path: bool,
}

/// A transition of the action that was seen, which could not be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refused {
    pub transition: String,
    pub from: String,
    /// The parts of its guard that did not hold, each with the values in it.
    pub parts: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Until {
    /// For ever: no output had to come, or one could come at any time.
    Forever,
    /// Until then, since the last event.
    End(SpanEnd),
    Unsaid,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Why {
    pub seen: Seen,
    /// How much time had passed since the last event.
    pub elapsed: RBig,
    pub last: Option<Seen>,
    pub at: Vec<At>,
    pub allowed: Vec<AllowedTransition>,
    /// What was not, of the action that was seen.
    pub refused: Vec<Refused>,
    pub until: Until,
}

impl Why {
    /// Of contexts none of which takes what was seen.
    pub(super) fn of(
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
            why.add(offline, context, solver);
        }
        why.at.sort();
        why.at.dedup();
        why
    }

    /// Adds a context: how long it may wait, which events it allows, and what refused the event that came.
    fn add(&mut self, offline: &Offline<'_>, context: &Context, solver: &mut dyn Solver) {
        let graph = offline.graph();
        let from = graph.location(context.state.location).name.clone();
        let steps = if let Place::On(steps) = context.place { Some(steps) } else { None };
        self.at.push(At { location: from.clone(), steps });
        if offline.waiting.may_be_quiescent(&context.state, solver) {
            self.until = Until::Forever;
        }
        for number in &offline.system.outgoing[context.state.location] {
            let action = &graph.action(graph.transitions[*number].action);
            if action.kind == ActionKind::Internal {
                continue;
            }
            let transition = offline.timed.called(*number);
            let mut is_possible = false;
            for (earliest, latest, besides) in spans(offline, context, *number) {
                is_possible = true;
                self.reaches(latest.as_ref(), &besides);
                let is_over = latest
                    .as_ref()
                    .is_some_and(|end| end.delay < self.elapsed || (end.delay == self.elapsed && !end.is_in));
                if is_over {
                    continue;
                }
                let guard = &graph.transitions[*number].guard;
                let sign = if action.kind == ActionKind::Output { '!' } else { '?' };
                let parameters: Vec<&str> = action.parameters.iter().map(Datum::name).collect();
                let allowed = AllowedTransition {
                    event: format!("{}{sign}({})", action.name, parameters.join(", ")),
                    transition: transition.clone(),
                    from: from.clone(),
                    guard: if guard.is_true() { String::new() } else { guard.to_string() },
                    earliest,
                    latest,
                    besides: besides.iter().map(Term::to_conjunct).collect(),
                    is_on_path: steps.is_some_and(|steps| offline.is_next(steps, *number)),
                };
                if !self.allowed.contains(&allowed) && self.allowed.len() < MOST_TOLD {
                    self.allowed.push(allowed);
                }
            }
            if let Item::Event(seen, values) = &self.seen.item
                && *seen == graph.transitions[*number].action
            {
                let mut parts = failing(offline, context, *number, *seen, values, &self.elapsed);
                if parts.is_empty() && is_possible {
                    parts.push(format!("{} [with these values]", graph.transitions[*number].guard));
                }
                let refused = Refused { transition, from: from.clone(), parts };
                if !self.refused.contains(&refused) && self.refused.len() < MOST_TOLD {
                    self.refused.push(refused);
                }
            }
        }
    }

    /// Something can be taken until then, under some condition.
    fn reaches(&mut self, latest: Option<&SpanEnd>, besides: &[Term]) {
        self.until = match (std::mem::replace(&mut self.until, Until::Unsaid), latest) {
            (Until::Forever, _) => Until::Forever,
            // What has no end of its own may have one in a part that is not solved.
            (_, None) if !besides.is_empty() => Until::Unsaid,
            (_, None) => Until::Forever,
            (Until::End(known), Some(end)) => Until::End(known.max(end.clone())),
            (Until::Unsaid, Some(_)) => Until::Unsaid,
        };
    }
}

/// A span of delays, with what else is asked for.
type Span = (SpanEnd, Option<SpanEnd>, Vec<Term>);

fn spans(offline: &Offline<'_>, context: &Context, number: TransitionId) -> Vec<Span> {
    let iosts = &offline.form.iosts;
    let delay = &offline.form.delay;
    let parameters = &iosts.action(iosts.transitions[number].action).parameters;
    let mut standing = context.state.standing(&context.state.known);
    if let Some(passed) = since_event(&context.state) {
        standing.insert(delay.clone(), Term::subtract(&Term::datum(delay), &passed));
    }
    let here = substitute(offline.system.enabled(number), &standing);
    let mut parts = context.state.condition.clone();
    parts.extend(here.conjuncts());
    // Without all that is not known, where that can be; else without what the event brings.
    let mut unknown: Vec<Datum> = parts.iter().flat_map(Term::data).filter(|datum| datum != delay).collect();
    unknown.sort();
    unknown.dedup();
    let brought = || parameters.iter().filter(|datum| *datum != delay).cloned().collect::<Vec<_>>();
    let whole =
        eliminate_data(&unknown, &parts).or_else(|| eliminate_data(&brought(), &parts)).unwrap_or(here);
    whole.disjuncts().iter().filter_map(|case| span(case, delay)).collect()
}

/// Splits a conjunction into the ends that it sets to the delay and the rest. `None`: no delay is left.
fn span(case: &Term, delay: &Datum) -> Option<Span> {
    if case.is_false() {
        return None;
    }
    let mut earliest = SpanEnd { delay: RBig::ZERO, is_in: true };
    let mut latest: Option<SpanEnd> = None;
    let mut besides = Vec::new();
    for part in case.conjuncts() {
        let end = solve_for(&part, delay).and_then(|(comparison, value)| match value.as_literal() {
            Some(Value::Real(value)) => Some((comparison, value.clone())),
            _ => None,
        });
        let Some((comparison, value)) = end else {
            besides.push(part);
            continue;
        };
        let (low, high) = match comparison {
            Comparison::AtLeast => (Some(true), None),
            Comparison::Greater => (Some(false), None),
            Comparison::AtMost => (None, Some(true)),
            Comparison::Less => (None, Some(false)),
            Comparison::Equal => (Some(true), Some(true)),
            Comparison::NotEqual => {
                besides.push(part);
                continue;
            }
        };
        if let Some(is_in) = low
            && (value > earliest.delay || (value == earliest.delay && !is_in))
        {
            earliest = SpanEnd { delay: value.clone(), is_in };
        }
        if let Some(is_in) = high {
            let end = SpanEnd { delay: value, is_in };
            // Of two ends at one time, the one that does not belong to the span is the smaller one.
            latest = Some(latest.map_or(end.clone(), |known| known.min(end)));
        }
    }
    if let Some(end) = &latest {
        let is_empty =
            end.delay < earliest.delay || (end.delay == earliest.delay && !(end.is_in && earliest.is_in));
        if is_empty {
            return None;
        }
    }
    Some((earliest, latest, besides))
}

/// The parts of the guard that do not hold of this event, with the values of what is in them.
fn failing(
    offline: &Offline<'_>,
    context: &Context,
    number: TransitionId,
    action: ActionId,
    values: &[Value],
    elapsed: &RBig,
) -> Vec<String> {
    if since_event(&context.state).is_some() {
        // What clocks show now depends on an instant that nobody saw.
        return Vec::new();
    }
    let graph = offline.graph();
    let mut now: Valuation = context.state.known.clone();
    for clock in offline.timed.clocks() {
        if let Some(Value::Real(shown)) = now.get_mut(clock) {
            *shown += elapsed;
        }
    }
    now.extend(graph.action(action).parameters.iter().cloned().zip(values.iter().cloned()));
    let parts = graph.transitions[number].guard.conjuncts();
    let fails = |part: &Term| matches!(evaluate(part, &now), Ok(Value::Bool(false)));
    let text = |part: Term| {
        let value = |datum: Datum| {
            let value = match now.get(&datum)? {
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
