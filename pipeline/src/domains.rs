//! Makes the domains explicit: a guard then states all conditions of its transition.
//!
//! Domains belong to the guard ([`coreach_model::obligation`]). A condition that the guard and the types
//! imply is not written, so a model whose author wrote it already reads as before.

use std::collections::HashMap;

use coreach_analyses::solver::{Solver, must_hold};
use coreach_model::Term;
use coreach_model::iosts::Transition;
use coreach_model::obligation::{defined, obligations};
use coreach_model::term::Substitution;

/// Remembers explicit guards: the copies of a large model share their guards.
pub type Memo = HashMap<(Term, Substitution), Term>;

/// Makes a guard explicit: adds each obligation that the guard does not imply, before or after it.
///
/// Over-approximation: if the solver does not know whether the guard implies an obligation, the obligation is
/// written, which only makes the guard longer.
pub fn explicit_guard(transition: &Transition, solver: &mut dyn Solver, memo: &mut Memo) -> Term {
    let key = (transition.guard.clone(), transition.assignments.clone());
    if let Some(known) = memo.get(&key) {
        return known.clone();
    }
    let (mut before_guard, mut behind_guard) = (Vec::new(), Vec::new());
    for (assigned, condition) in obligations(transition) {
        // Without an assigned variable it is the guard's own definedness, which must not rely on the guard.
        let (mut premises, added) = match assigned {
            Some(_) => (transition.guard.conjuncts(), &mut behind_guard),
            None => (Vec::new(), &mut before_guard),
        };
        for part in condition.conjuncts() {
            if !must_hold(solver, &premises, &part) {
                premises.push(part.clone());
                added.push(part);
            }
        }
    }
    let guard = Term::and(before_guard.into_iter().chain([transition.guard.clone()]).chain(behind_guard));
    memo.insert(key, guard.clone());
    guard
}

/// Makes an initial condition explicit: adds the obligations that do not hold anyway before it. If an
/// operation that it reaches has no value, there is no initial state.
///
/// Over-approximation, as [`explicit_guard`].
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
