//! Follows steps that happen at an instant which nobody sees.
//!
//! **Problem.** An internal step whose guard reads clocks, or that resets one, happens between two events, or
//! after the last one, at some instant that its guard allows. Later observations depend on that instant.
//!
//! **Method.** Its instant is a symbol, not before the step before it: the delay of the step is the
//! difference, as for events whose instants are known within a tolerance ([`super::uncertain`]). A context is
//! followed through such steps up to the instant of the next event, which restricts the symbols. A symbol
//! that no clock counts from any more is eliminated from the condition. A context that lies within one that
//! was reached already is not followed again: so a loop of such steps that needs no time ends, and one that
//! needs time is as long as the time.
//!
//! **Exact**: the verdict is Fail only if no instants of these steps make a trace of the model. A step is an
//! obligation only at the end of its guard: a state may wait for it ([`super::waiting`]).
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

use crate::offline::context::{Context, close_under_internal};
use crate::offline::prepared::Offline;
use crate::offline::verdict::CannotJudge;

/// Returns the datum that holds the instant of the last step of a context that has an instant.
pub(super) fn now_symbol() -> Datum {
    Datum::new("#now", Type::Real)
}

/// Returns the datum that holds the instant of the last event of a context.
fn last_event_symbol() -> Datum {
    Datum::new("#last", Type::Real)
}

fn instant_symbol(events: usize, index: usize) -> Datum {
    Datum::new(format!("unseen#{events}.{index}"), Type::Real)
}

/// Sets the instant of the last event, which is also the last step.
pub(super) fn set_event_instant(state: &mut SymbolicState, instant: &Term) {
    set_term(state, now_symbol(), instant.clone());
    set_term(state, last_event_symbol(), instant.clone());
}

/// Gives a datum of the state a term, in place of a known value.
fn set_term(state: &mut SymbolicState, datum: Datum, term: Term) {
    state.known.remove(&datum);
    Arc::make_mut(&mut state.open).insert(datum, term);
}

/// Returns the time from the last event to the last step. `None`: no unseen step came after the event.
pub(super) fn time_since_event(state: &SymbolicState) -> Option<Term> {
    let passed = fold_sums(&Term::subtract(&state.value(&now_symbol()), &state.value(&last_event_symbol())));
    // In a trace whose instants are all exact, no state has a term for these data.
    let has_step = passed.as_literal() != Some(&Value::Real(RBig::ZERO)) && !passed.mentions(&now_symbol());
    has_step.then_some(passed)
}

/// Adds the contexts after unseen steps until `until`. `events` is the number of events that have come.
pub(super) fn follow_unseen_steps(
    offline: &Offline<'_>,
    contexts: &[Context],
    (events, until): (usize, &RBig),
    line: usize,
    solver: &mut dyn Solver,
) -> Result<Vec<Context>, CannotJudge> {
    let mut reached = contexts.to_vec();
    let mut newest = contexts.to_vec();
    while !newest.is_empty() {
        let mut later = Vec::new();
        for context in &newest {
            for number in &offline.unseen[context.state.location] {
                later.extend(step_unseen(offline, context, *number, (events, until), solver));
            }
        }
        newest = close_under_internal(offline, later, line, solver)?;
        newest.retain(|new| !reached.iter().any(|known| contains_context(known, new, solver)));
        reached.extend(newest.iter().cloned());
        if reached.len() > offline.most {
            return Err(CannotJudge::Contexts { line, most: offline.most });
        }
    }
    Ok(reached)
}

/// Takes one unseen step, at a new symbol for its instant. `None` if it cannot be taken here. `events` is the
/// number of events that have come. The step is at `until` at the latest.
fn step_unseen(
    offline: &Offline<'_>,
    context: &Context,
    number: TransitionId,
    (events, until): (usize, &RBig),
    solver: &mut dyn Solver,
) -> Option<Context> {
    let used: BTreeSet<Datum> =
        context.state.open.values().chain(&context.state.condition).flat_map(Term::data).collect();
    let fresh = (0..).map(|index| instant_symbol(events, index)).find(|symbol| !used.contains(symbol))?;
    let instant = Term::datum(&fresh);
    let delay = fold_sums(&Term::subtract(&instant, &context.state.value(&now_symbol())));
    let mut state = context.state.clone();
    let end = Term::literal(Value::Real(until.clone()));
    state.condition.push(Term::compare(Comparison::AtLeast, &end, &instant));
    set_term(&mut state, now_symbol(), instant);
    let delay_value = [(offline.form.delay.clone(), delay)];
    let always_holds = || {
        // In this copy the delay has its term, so that the guard can be read.
        let mut at_step = state.clone();
        Arc::make_mut(&mut at_step.open).extend(delay_value.clone());
        at_step.meaning(offline.system.enabled(number), &at_step.known) == Holds::Always
    };
    let is_certain = context.is_certain && (offline.is_exact() || always_holds());
    let state = state.after_with(&offline.system, number, [], delay_value, solver)?;
    Some(Context {
        place: context.place.after(number, offline.path()),
        state: renumber_symbols(state, events),
        is_certain,
    })
}

/// Renames the symbols after so many events to the lowest indices, so that equal states have equal terms.
fn renumber_symbols(mut state: SymbolicState, events: usize) -> SymbolicState {
    let mut used: BTreeSet<Datum> =
        state.open.values().chain(&state.condition).flat_map(Term::data).collect();
    used.retain(|symbol| symbol.name().starts_with(&format!("unseen#{events}.")));
    let mut renaming = Substitution::new();
    for (index, symbol) in used.into_iter().enumerate() {
        renaming.insert(symbol, Term::datum(&instant_symbol(events, index)));
    }
    state.condition = substitute_all(&state.condition, &renaming);
    for term in Arc::make_mut(&mut state.open).values_mut() {
        *term = substitute(term, &renaming);
    }
    state
}

/// Is everything of `new` within `old`?
fn contains_context(old: &Context, new: &Context, solver: &mut dyn Solver) -> bool {
    let whole = Term::and(old.state.condition.iter().cloned());
    old.place == new.place
        && (old.is_certain || !new.is_certain)
        && old.state.has_same_data(&new.state)
        && must_hold(solver, &new.state.condition, &whole)
}
