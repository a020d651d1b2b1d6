//! What must hold of the data so that the rest of a path can be taken.
//!
//! **Problem.** A stimulus shall lead on: its values, and the time at which it is sent, must leave a way to
//! the end of the path (φ_stim: `∃` all that is not yet seen. π(tgt)). Written out, that is the whole rest of
//! the path, at each stimulus.
//!
//! **Method.** Backwards, as `pre`: at the end nothing is asked; before a step, that some values of its
//! parameters, the delay among them, make its condition true and what is asked behind it. The parameters are
//! eliminated exactly ([`crate::symbolic::eliminate`]). Terms are shared, so along a periodic path the same
//! question comes back, and is not asked twice.
//!
//! **Where that is not possible** (an operation that cannot be solved for a parameter; a result that grows),
//! the condition is the step's own, or nothing: a weaker one. Then a stimulus may be sent that leads nowhere,
//! and the run ends Inconclusive; no verdict is wrong by it. The place is reported.

use std::collections::HashMap;

use coreach_model::iosts::TransitionId;
use coreach_model::term::substitute;
use coreach_model::{Term, budget};

use super::context::unrepeated_of_few;
use crate::solver::Solver;
use crate::symbolic::System;
use crate::symbolic::eliminate::without;

/// What is asked at each place of a path, its end included.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Future {
    /// Over the model's variables and constants.
    pub conditions: Vec<Term>,
    /// The steps before which less is asked than the rest of the path needs.
    pub weaker: Vec<usize>,
}

pub fn future(system: &System<'_>, path: &[TransitionId], solver: &mut dyn Solver) -> Future {
    let mut remembered: HashMap<(TransitionId, Term), (Term, bool)> = HashMap::new();
    let mut conditions = vec![Term::yes()];
    let mut weaker = Vec::new();
    let mut next = Term::yes();
    for (at, number) in path.iter().enumerate().rev() {
        budget::ask();
        let key = (*number, next.clone());
        let (condition, is_exact) =
            remembered.entry(key).or_insert_with(|| before(system, *number, &next, solver)).clone();
        if !is_exact {
            weaker.push(at);
        }
        conditions.push(condition.clone());
        next = condition;
    }
    conditions.reverse();
    weaker.reverse();
    Future { conditions, weaker }
}

/// What must hold before the step; and whether that is all.
fn before(system: &System<'_>, number: TransitionId, next: &Term, solver: &mut dyn Solver) -> (Term, bool) {
    let transition = &system.iosts.transitions[number];
    let parameters = &system.iosts.action(transition.action).parameters;
    let own = system.enabled(number).lowered().conjuncts();
    let mut all = own.clone();
    all.extend(substitute(next, &transition.assignments).lowered().conjuncts());
    let mut short = |parts: &[Term]| {
        let condition =
            Term::and(unrepeated_of_few(without(parameters, parts)?.lowered().conjuncts(), solver));
        // A condition longer than this is not taken further back.
        (condition.written_size() <= 2_000).then_some(condition)
    };
    if let Some(exact) = short(&all) {
        return (exact, true);
    }
    (short(&own).unwrap_or_else(Term::yes), false)
}
