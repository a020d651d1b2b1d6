//! Makes the domains explicit: a guard that says everything that taking the transition asks for.
//!
//! Domains belong to the guard ([`coreach_model::obligation`]). What the guard and the types imply already is
//! not written, so that a model whose author thought of it reads as before.

use std::collections::HashMap;

use coreach_analyses::solver::{Solver, must_hold};
use coreach_model::Term;
use coreach_model::iosts::Transition;
use coreach_model::obligation::{defined, obligations};
use coreach_model::term::Substitution;

/// Remembers what was decided: the copies of a large model share their guards.
pub type Memo = HashMap<(Term, Substitution), Term>;

/// The guard with every obligation that it does not imply in front of it.
///
/// Over-approximation: where the solver does not know whether the guard implies an obligation, the obligation
/// is written, which changes nothing but the length.
pub fn explicit_guard(transition: &Transition, solver: &mut dyn Solver, memo: &mut Memo) -> Term {
    let key = (transition.guard.clone(), transition.assignments.clone());
    if let Some(known) = memo.get(&key) {
        return known.clone();
    }
    let mut parts = Vec::new();
    let mut behind = Vec::new();
    for (assigned, condition) in obligations(transition) {
        // The definedness of the guard itself may not be judged under the guard, whose value it concerns.
        let mut premises = if assigned.is_some() { transition.guard.conjuncts() } else { Vec::new() };
        for part in condition.conjuncts() {
            if !must_hold(solver, &premises, &part) {
                premises.push(part.clone());
                if assigned.is_some() { &mut behind } else { &mut parts }.push(part);
            }
        }
    }
    parts.push(transition.guard.clone());
    parts.extend(behind);
    let guard = Term::and(parts);
    memo.insert(key, guard.clone());
    guard
}

/// The initial condition with every obligation in front of it that it has and that does not hold anyway:
/// where an operation that it reaches has no value, there is no initial state.
///
/// Over-approximation: as of [`explicit_guard`].
pub fn explicit_condition(condition: &Term, solver: &mut dyn Solver) -> Term {
    let mut parts = Vec::new();
    for part in defined(condition).conjuncts() {
        if !must_hold(solver, &parts, &part) {
            parts.push(part);
        }
    }
    parts.push(condition.clone());
    Term::and(parts)
}
