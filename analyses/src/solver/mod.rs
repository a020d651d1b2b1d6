//! Satisfiability behind one trait.
//!
//! Every query is a conjunction of terms over data. The implementation adds, for each datum that occurs, that
//! its value lies in its type. Operations are read as total: the caller has made definedness explicit
//! ([`coreach_model::obligation`]). Each query has a limit, and an answer may be [`Answer::Unknown`].
//!
//! **Rule 5 of the house.** `Unknown` is never read as `Unsat`. So the two questions on which decisions
//! depend are functions here, and each errs in one direction: [`may_hold`] towards `true`, [`must_hold`]
//! towards `false`. The solver's statistics count the unknown answers.

pub mod horn;
#[cfg(test)]
pub(crate) mod random;
pub mod smtlib;
mod tried;
mod typing;
pub mod z3;

use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Term};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    Sat,
    Unsat,
    /// The limit was reached, or the theory is undecided.
    Unknown,
}

/// A valuation that satisfies a query, or why there is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Witness {
    /// A valuation of every datum in the query. The terms have been evaluated under it, and hold.
    Found(Valuation),
    None,
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    /// How many queries the analyses and stages asked.
    pub queries: u64,
    /// How many of them were answered from memory or without the solver proper.
    pub remembered: u64,
    /// How many of them were answered `Unknown`.
    pub unknown: u64,
    /// How many unknown answers are due to the wall clock and not to the resource limit. Such a run may
    /// differ on another machine, and the report says so.
    pub timed_out: u64,
}

pub trait Solver {
    fn check(&mut self, formula: &[Term]) -> Answer;

    /// Is the conjunction along a path satisfiable? The question is that of [`Solver::check`], but a solver
    /// may keep the prefix that this path shares with the one before it. So a search depth first pays only
    /// for the new parts.
    fn check_along(&mut self, path: &[Term]) -> Answer {
        self.check(path)
    }

    /// Can the conjunction hold while no values of the bound data, in their types, satisfy all the parts?
    /// `Unsat` says that the conjunction implies that such values exist. A solver without quantifiers does
    /// not know.
    fn check_none(&mut self, formula: &[Term], bound: &[Datum], parts: &[Term]) -> Answer {
        if !bound.is_empty() {
            return Answer::Unknown;
        }
        self.check(&with_negation(formula, &Term::and(parts.iter().cloned())))
    }

    fn witness(&mut self, formula: &[Term]) -> Witness;

    fn statistics(&self) -> Statistics;
}

/// Can the conjunction hold? `false` only where it certainly cannot.
pub fn may_hold(solver: &mut dyn Solver, formula: &[Term]) -> bool {
    solver.check(formula) != Answer::Unsat
}

/// Does the conclusion hold wherever the premises do? `true` only where it certainly does.
pub fn must_hold(solver: &mut dyn Solver, premises: &[Term], conclusion: &Term) -> bool {
    is_stated(premises, conclusion) || solver.check(&with_negation(premises, conclusion)) == Answer::Unsat
}

/// [`must_hold`], for many conclusions one after the other with the same premises: a solver may keep these.
pub fn must_hold_along(solver: &mut dyn Solver, premises: &[Term], conclusion: &Term) -> bool {
    is_stated(premises, conclusion)
        || solver.check_along(&with_negation(premises, conclusion)) == Answer::Unsat
}

/// Does the conclusion need no question?
fn is_stated(premises: &[Term], conclusion: &Term) -> bool {
    conclusion.is_true() || premises.contains(conclusion)
}

fn with_negation(premises: &[Term], conclusion: &Term) -> Vec<Term> {
    [premises, &[conclusion.not()]].concat()
}
