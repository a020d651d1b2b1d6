//! A solver for one long trace: the next question is almost the same as the last one.
//!
//! **Problem.** If first values are not known, each event asks with numbers of its own: is `3 <= n` possible,
//! and does it follow from the condition already? A hundred thousand such questions take minutes, and their
//! answers, each remembered, hundreds of megabytes; none is ever asked again.
//!
//! **Method.** Three checks come before the question. First, the last witness of the condition is tried: if
//! it satisfies the formula, the formula can hold. Second, two comparisons of the same sum are compared: if
//! no value satisfies both, the formula cannot hold ([`contradict`]). That is how a condition already implies
//! a weaker bound. Third, comparisons of instants are decided as such ([`decide_differences`]). Other
//! questions go to the solver, which forgets early.
//!
//! All answers are the same as the solver's.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver, Statistics, Witness};
use coreach_analyses::symbolic::differences::{decide_differences, solve_differences};
use coreach_analyses::symbolic::sum::contradict;
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::{Datum, Term};

/// Z3, started by the first question that needs it.
#[derive(Default)]
pub struct RecentSolver {
    solver: Option<Z3Solver>,
    witness: Valuation,
}

impl RecentSolver {
    fn solver(&mut self) -> &mut Z3Solver {
        self.solver.get_or_insert_with(|| Z3Solver::default().remembering(1 << 12))
    }

    /// Returns the answer, if it is found without a question.
    fn quick_answer(&self, formula: &[Term]) -> Option<Answer> {
        if !self.witness.is_empty() && formula.iter().all(|part| holds(part, &self.witness) == Ok(true)) {
            return Some(Answer::Sat);
        }
        // The new part of a formula comes last.
        let (last, rest) = formula.split_last()?;
        if rest.iter().any(|part| contradict(part, last)) {
            return Some(Answer::Unsat);
        }
        decide_differences(formula)
    }
}

impl Solver for RecentSolver {
    fn check(&mut self, formula: &[Term]) -> Answer {
        self.quick_answer(formula).unwrap_or_else(|| self.solver().check(formula))
    }

    fn check_along(&mut self, path: &[Term]) -> Answer {
        self.quick_answer(path).unwrap_or_else(|| self.solver().check_along(path))
    }

    fn check_none(&mut self, formula: &[Term], bound: &[Datum], parts: &[Term]) -> Answer {
        self.solver().check_none(formula, bound, parts)
    }

    fn witness(&mut self, formula: &[Term]) -> Witness {
        let witness = solve_differences(formula).unwrap_or_else(|| self.solver().witness(formula));
        if let Witness::Found(values) = &witness {
            self.witness.clone_from(values);
        }
        witness
    }

    fn statistics(&self) -> Statistics {
        self.solver.as_ref().map_or_else(Statistics::default, Solver::statistics)
    }
}
