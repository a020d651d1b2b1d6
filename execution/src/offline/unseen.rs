//! Steps that happen at an instant which nobody sees.
//!
//! **Problem.** An internal step whose guard speaks of clocks, or that resets one, happens between two
//! events, or behind the last one, at some instant that its guard allows. What can be seen later depends on
//! it.
//!
//! **Method.** Its instant is a symbol, not before the step before it: the delay of the step is the
//! difference, as for events whose instants are known within a tolerance ([`super::uncertain`]). A context is
//! followed through such steps up to the instant of what is seen next, and what is seen then says more of the
//! symbols; one that no clock counts from any more is taken out of the condition. What lies within a context
//! that was reached already is not followed again: so a loop of such steps that needs no time ends, and one
//! that needs time is as long as the time.
//!
//! **Exact**: Fail where no instants of these steps make a trace of the model. A step is no obligation but
//! where its guard ends: a state may wait for it ([`super::waiting`]).
//!
//! **Ends** at the limit of contexts at the latest. **Costs** some questions for each context and such step.

use std::collections::BTreeSet;
use std::sync::Arc;

use coreach_analyses::solver::{Solver, must_hold};
use coreach_analyses::symbolic::sum::fold_sums;
use coreach_analyses::symbolic::{Holds, SymbolicState};
use coreach_model::term::node::Comparison;
use coreach_model::term::{Substitution, substitute, substitute_all};
use coreach_model::{Datum, Term, TransitionId, Type, Value};
use dashu_ratio::RBig;

use crate::offline::context::{Context, closed};
use crate::offline::prepared::Offline;
use crate::offline::verdict::CannotJudge;

/// Stands at the instant of a context's last step that has one.
pub(super) fn now() -> Datum {
    Datum::new("#now", Type::Real)
}

/// Stands at the instant of its last event.
fn last_event_symbol() -> Datum {
    Datum::new("#last", Type::Real)
}

fn instant(events: usize, number: usize) -> Datum {
    Datum::new(format!("unseen#{events}.{number}"), Type::Real)
}

/// Lets the last event have happened at this instant.
pub(super) fn begin_at(state: &mut SymbolicState, instant: &Term) {
    for datum in [now(), last_event_symbol()] {
        state.known.remove(&datum);
        Arc::make_mut(&mut state.open).insert(datum, instant.clone());
    }
}

/// How long after the last event the last step was, where there was one that nobody sees.
pub(super) fn since_event(state: &SymbolicState) -> Option<Term> {
    let passed = fold_sums(&Term::subtract(&state.value(&now()), &state.value(&last_event_symbol())));
    let is_none = passed.as_literal() == Some(&Value::Real(RBig::ZERO)) || passed.mentions(&now());
    (!is_none).then_some(passed)
}

/// These contexts, and those behind steps that nobody sees, up to this instant, after so many events.
pub(super) fn with_unseen(
    offline: &Offline<'_>,
    contexts: &[Context],
    (events, until): (usize, &RBig),
    line: usize,
    solver: &mut dyn Solver,
) -> Result<Vec<Context>, CannotJudge> {
    let mut all = contexts.to_vec();
    let mut newest = contexts.to_vec();
    while !newest.is_empty() {
        let mut next = Vec::new();
        for context in &newest {
            for number in &offline.unseen[context.state.location] {
                next.extend(step_unseen(offline, context, *number, (events, until), solver));
            }
        }
        newest = closed(offline, next, line, solver)?;
        newest.retain(|new| !all.iter().any(|old| says_no_less(old, new, solver)));
        all.extend(newest.iter().cloned());
        if all.len() > offline.most {
            return Err(CannotJudge::Contexts { line, most: offline.most });
        }
    }
    Ok(all)
}

fn step_unseen(
    offline: &Offline<'_>,
    context: &Context,
    number: TransitionId,
    (events, until): (usize, &RBig),
    solver: &mut dyn Solver,
) -> Option<Context> {
    let used: BTreeSet<Datum> =
        context.state.open.values().chain(&context.state.condition).flat_map(Term::data).collect();
    let fresh = (0..).map(|number| instant(events, number)).find(|symbol| !used.contains(symbol))?;
    let at = Term::datum(&fresh);
    let delay = fold_sums(&Term::subtract(&at, &context.state.value(&now())));
    let mut state = context.state.clone();
    let end = Term::literal(Value::Real(until.clone()));
    state.condition.push(Term::compare(Comparison::AtLeast, &end, &at));
    state.known.remove(&now());
    Arc::make_mut(&mut state.open).insert(now(), at);
    let form = [(offline.form.delay.clone(), delay.clone())];
    let mut there = state.clone();
    there.open =
        Arc::new(there.open.iter().map(|(a, b)| (a.clone(), b.clone())).chain(form.clone()).collect());
    let always = || there.meaning(offline.system.enabled(number), &there.known) == Holds::Always;
    let is_certain = context.is_certain && (offline.is_exact() || always());
    let state = state.after_with(&offline.system, number, [], form, solver)?;
    Some(Context {
        place: context.place.behind(number, offline.path()),
        state: named(state, events),
        is_certain,
    })
}

/// The same with the lowest numbers for its symbols, so that states that say the same are the same.
fn named(mut state: SymbolicState, events: usize) -> SymbolicState {
    let ours: BTreeSet<Datum> = state
        .open
        .values()
        .chain(&state.condition)
        .flat_map(Term::data)
        .filter(|symbol| symbol.name().starts_with(&format!("unseen#{events}.")))
        .collect();
    let names: Substitution = ours
        .into_iter()
        .enumerate()
        .map(|(number, symbol)| (symbol, Term::datum(&instant(events, number))))
        .collect();
    state.condition = substitute_all(&state.condition, &names);
    state.open =
        Arc::new(state.open.iter().map(|(datum, term)| (datum.clone(), substitute(term, &names))).collect());
    state
}

/// Is everything of the second context within the first one?
fn says_no_less(old: &Context, new: &Context, solver: &mut dyn Solver) -> bool {
    let whole = Term::and(old.state.condition.iter().cloned());
    old.place == new.place
        && (old.is_certain || !new.is_certain)
        && old.state.is_like(&new.state)
        && must_hold(solver, &new.state.condition, &whole)
}
