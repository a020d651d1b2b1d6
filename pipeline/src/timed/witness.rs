//! Finds a trace that may end in two transitions, for the message that a path is not trace-deterministic.
//!
//! This is only asked if something is wrong, so it may cost what the path costs: the path is executed
//! symbolically up to the step, and the solver finds values. First values of variables are unknown to both
//! sides independently, so those of the other side have names of their own.

use coreach_analyses::solver::{Solver, Witness};
use coreach_analyses::symbolic::{SymbolicState, System, symbol};
use coreach_model::semantics::Event;
use coreach_model::term::{Substitution, substitute_all};
use coreach_model::timed::delayed::Delayed;
use coreach_model::{Datum, Term, TransitionId, Value};

/// Finds events that both the path up to its step `at` and the path with `other` in that place show. `None`
/// if none were found.
pub fn shared_trace(
    delayed: &Delayed,
    path: &[TransitionId],
    at: usize,
    other: TransitionId,
    solver: &mut dyn Solver,
) -> Option<Vec<String>> {
    let system = System::new(&delayed.iosts);
    let mut state = SymbolicState::initial(&delayed.iosts);
    for step in &path[..at] {
        state = system.successor(&state, *step)?.1;
    }
    let (_, own) = system.successor(&state, path[at])?;
    let (_, beside) = system.successor(&state, other)?;
    let other_name = |datum: &Datum| Datum::new(format!("{}#other", datum.name()), datum.ty().clone());
    let rename = |datum: &Datum| (datum.clone(), Term::datum(&other_name(datum)));
    let renamed: Substitution = delayed.iosts.variables.iter().map(rename).collect();
    let mut both = own.condition;
    both.extend(substitute_all(&beside.condition, &renamed));
    let Witness::Found(values) = solver.witness(&both) else { return None };
    let event = |(depth, step): (usize, &TransitionId)| {
        let action = delayed.iosts.action_of(*step);
        let value = |parameter: &Datum| {
            let free = || Value::any(parameter.ty());
            values.get(&symbol(parameter, depth)).cloned().unwrap_or_else(free)
        };
        let all: Vec<Value> = action.parameters.iter().map(value).collect();
        let (delay, rest) = all.split_first()?;
        Some(format!("{} after {delay}", Event::new(action.name.clone(), rest.iter().cloned())))
    };
    path[..=at].iter().enumerate().map(event).collect()
}
