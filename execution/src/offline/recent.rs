//! A solver for one long trace: what is asked next is nearly what was asked before.
//!
//! **Problem.** Where first values are not known, each event asks with numbers of its own: may it be
//! `3 <= n`, does what is known say so already? A hundred thousand such questions take minutes, and their
//! answers, each remembered, hundreds of megabytes; none is ever asked again.
//!
//! **Method.** Three looks before the question. The last witness of the condition is tried: where it
//! satisfies what is asked, that can hold. And two comparisons of the same sum are held against each other:
//! where they leave it no value, it cannot ([`contradict`]), which is how a condition says a weaker bound
//! already. Conjunctions that compare instants are decided as such ([`decided`]). What is left goes to the
//! solver, which forgets early.
//!
//! All answers are those that the solver would give.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver, Statistics, Witness};
use coreach_analyses::symbolic::differences::{decide_differences, solve_differences};
use coreach_analyses::symbolic::sum::contradict;
use coreach_model::term::evaluate::{Valuation, holds};
use coreach_model::{Datum, Term};

/// Z3, brought up by the first question that needs it.
#[derive(Default)]
pub struct RecentSolver {
    solver: Option<Z3Solver>,
    witness: Valuation,
}

impl RecentSolver {
    fn solver(&mut self) -> &mut Z3Solver {
        self.solver.get_or_insert_with(|| Z3Solver::default().remembering(1 << 12))
    }

    /// What can be said without a question.
    fn said(&self, formula: &[Term]) -> Option<Answer> {
        if !self.witness.is_empty() && formula.iter().all(|part| holds(part, &self.witness) == Ok(true)) {
            return Some(Answer::Sat);
        }
        // What is asked stands behind what is known.
        let (last, rest) = formula.split_last()?;
        if rest.iter().any(|part| contradict(part, last)) {
            return Some(Answer::Unsat);
        }
        decide_differences(formula)
    }
}

impl Solver for RecentSolver {
    fn check(&mut self, formula: &[Term]) -> Answer {
        self.said(formula).unwrap_or_else(|| self.solver().check(formula))
    }

    fn check_along(&mut self, path: &[Term]) -> Answer {
        self.said(path).unwrap_or_else(|| self.solver().check_along(path))
    }

    fn check_none(&mut self, formula: &[Term], bound: &[Datum], parts: &[Term]) -> Answer {
        self.solver().check_none(formula, bound, parts)
    }

    fn witness(&mut self, formula: &[Term]) -> Witness {
        let found = solve_differences(formula).unwrap_or_else(|| self.solver().witness(formula));
        if let Witness::Found(witness) = &found {
            self.witness.clone_from(witness);
        }
        found
    }

    fn statistics(&self) -> Statistics {
        self.solver.as_ref().map_or_else(Statistics::default, Solver::statistics)
    }
}
