//! Questions along a path: what two of them share at their beginning is asserted once.
//!
//! A solver of its own, with a level per conjunct. A question pops to the last conjunct that it shares with
//! what is asserted, and pushes the rest. Depth first, a path of n conjuncts so costs one assertion a step,
//! where [`Solver::check`] asserts all n. Answers are those of Z3's incremental core; where that does not
//! know, the caller asks again without the history, so that no answer depends on it but by being known.
//!
//! [`Solver::check`]: crate::solver::Solver::check

use std::collections::BTreeSet;
use std::rc::Rc;

use coreach_model::{Term, budget};

use super::{Z3Solver, start};
use crate::solver::Answer;

/// What is asserted, a level for each conjunct.
pub struct Path {
    solver: Rc<z3::Solver>,
    conjuncts: Vec<Term>,
}

impl Z3Solver {
    /// The answer to a conjunction, reached from the last one; `None` where the plain question has to be
    /// asked.
    pub(super) fn ask_along(&mut self, conjuncts: &[Term]) -> Option<Answer> {
        budget::ask();
        self.make_room();
        let limits = self.limits;
        let mut path = self
            .path
            .take()
            .unwrap_or_else(|| Path { solver: start(limits.rlimit, 0), conjuncts: Vec::new() });
        let shared = path.conjuncts.iter().zip(conjuncts).take_while(|(old, new)| old == new).count();
        let popped = path.conjuncts.len() - shared;
        path.solver.pop(u32::try_from(popped).unwrap_or(u32::MAX));
        path.conjuncts.truncate(shared);
        let mut suits = true;
        for conjunct in &conjuncts[shared..] {
            let prepared = self.translator.prepare(conjunct);
            if prepared.nonlinear || prepared.strings || prepared.beyond {
                suits = false;
                break;
            }
            path.solver.push();
            let constraints: BTreeSet<usize> = prepared.constraints.iter().copied().collect();
            for number in constraints {
                path.solver.assert(self.translator.constraint(number));
            }
            path.solver.assert(&prepared.assertion);
            path.conjuncts.push(conjunct.clone());
        }
        let answer = suits.then(|| self.ask(&path.solver)).filter(|answer| *answer != Answer::Unknown);
        self.path = Some(path);
        answer
    }
}
