//! The conditions on the data under which the rest of a path can be taken.
//!
//! **Problem.** A stimulus should make progress: its values, and the time at which it is sent, must leave a
//! way to the end of the path (φ_stim: `∃` all that is not yet seen. π(tgt)). Written out, this is the whole
//! rest of the path, at each stimulus. **Method.** It is computed backwards, like `pre`. At the end there is
//! no condition. Before a step, some values of its parameters, with the delay, must satisfy its own condition
//! and the condition after it. The parameters are eliminated exactly ([`crate::symbolic::eliminate`]). Terms
//! are shared, so a periodic path repeats its questions, and each is asked once.
//!
//! **If that is not possible** (an operation that cannot be solved for a parameter, or a result that grows),
//! a weaker condition is used: that of the step alone, or none. Then a stimulus may be sent that cannot lead
//! to the end, and the run ends Inconclusive. No verdict becomes wrong by this. The place is reported.

use std::collections::HashMap;

use coreach_model::iosts::TransitionId;
use coreach_model::term::substitute;
use coreach_model::{Term, budget};

use super::context::drop_implied_of_few;
use crate::solver::Solver;
use crate::symbolic::System;
use crate::symbolic::eliminate::eliminate_data;

/// For each place of a path, including its end: the condition under which the rest of the path can be taken.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Future {
    /// The conditions, over the model's variables and constants.
    pub conditions: Vec<Term>,
    /// The steps whose condition is weaker than the rest of the path needs.
    pub weaker: Vec<usize>,
}

/// Computes the conditions, from the end of the path to its beginning.
pub fn future(system: &System<'_>, path: &[TransitionId], solver: &mut dyn Solver) -> Future {
    let mut remembered: HashMap<(TransitionId, Term), (Term, bool)> = HashMap::new();
    let mut conditions = vec![Term::yes()];
    let mut weaker = Vec::new();
    let mut next = Term::yes();
    for (step, number) in path.iter().enumerate().rev() {
        budget::ask();
        let key = (*number, next.clone());
        let (condition, is_exact) =
            remembered.entry(key).or_insert_with(|| condition_before(system, *number, &next, solver)).clone();
        if !is_exact {
            weaker.push(step);
        }
        conditions.push(condition.clone());
        next = condition;
    }
    conditions.reverse();
    weaker.reverse();
    Future { conditions, weaker }
}

/// The condition before a step, and whether it is exact.
fn condition_before(
    system: &System<'_>,
    number: TransitionId,
    next: &Term,
    solver: &mut dyn Solver,
) -> (Term, bool) {
    let transition = &system.iosts.transitions[number];
    let parameters = &system.iosts.action(transition.action).parameters;
    let own = system.enabled(number).lowered().conjuncts();
    let with_next = [&own[..], &substitute(next, &transition.assignments).lowered().conjuncts()].concat();
    let mut eliminate_parameters = |parts: &[Term]| {
        let condition =
            Term::and(drop_implied_of_few(eliminate_data(parameters, parts)?.lowered().conjuncts(), solver));
        // A condition of more than 2000 parts is not used.
        (condition.written_size() <= 2_000).then_some(condition)
    };
    match eliminate_parameters(&with_next) {
        Some(exact) => (exact, true),
        None => (eliminate_parameters(&own).unwrap_or_else(Term::yes), false),
    }
}
