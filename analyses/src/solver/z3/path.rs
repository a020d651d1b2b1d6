//! Questions along a path: conjuncts that successive questions share at their beginning are asserted once.
//!
//! There is a Z3 solver for this, with a level per conjunct. A question pops to the last shared conjunct, and
//! pushes the others. So in a depth-first search a path of n conjuncts costs one assertion per step, where
//! [`Solver::check`] asserts all n. Answers come from Z3's incremental core. If it does not know, the caller
//! asks again without the history. So the history may decide whether a question is answered, but not how.
//!
//! [`Solver::check`]: crate::solver::Solver::check

use std::collections::BTreeSet;
use std::rc::Rc;

use coreach_model::{Term, budget};

use super::{Z3Solver, start_solver};
use crate::solver::Answer;

/// The asserted conjuncts, with a level for each.
pub struct Path {
    solver: Rc<z3::Solver>,
    conjuncts: Vec<Term>,
}

impl Z3Solver {
    /// Answers a conjunction. Conjuncts with which the last one began as well are asserted already. `None`:
    /// it must be asked without the history.
    pub(super) fn ask_along(&mut self, conjuncts: &[Term]) -> Option<Answer> {
        budget::ask();
        self.make_room();
        let limits = self.limits;
        let mut path = self
            .path
            .take()
            .unwrap_or_else(|| Path { solver: start_solver(limits.rlimit, 0), conjuncts: Vec::new() });
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
