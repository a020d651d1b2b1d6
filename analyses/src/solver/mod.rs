//! Satisfiability behind one trait.
//!
//! Every query is a conjunction of terms over data; the implementation adds, for each datum that occurs, that
//! its value lies in its type. Operations are read as total: the caller has made definedness explicit
//! ([`coreach_model::obligation`]). Each query has a limit, and an answer may be [`Answer::Unknown`].
//!
//! **Rule 5 of the house.** `Unknown` is never read as `Unsat`. The two questions that decisions ask are
//! therefore functions here, and each has one direction: [`may_hold`] errs towards `true`, [`must_hold`] errs
//! towards `false`. Where that happens the solver's statistics count it.

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
    /// A valuation of every datum in the query; the terms have been evaluated under it and hold.
    Found(Valuation),
    None,
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Statistics {
    /// Queries asked by the analyses and stages.
    pub queries: u64,
    /// Of those, answered from memory or without the solver proper.
    pub remembered: u64,
    /// Of those, answered `Unknown`.
    pub unknown: u64,
    /// Of the unknown ones, stopped by the wall clock rather than by the resource limit: such a run may
    /// differ on another machine, and the report says so.
    pub timed_out: u64,
}

pub trait Solver {
    fn check(&mut self, formula: &[Term]) -> Answer;

    /// Is the conjunction along a path satisfiable? The same question as [`Solver::check`]; a solver may keep
    /// what the path has in common with the one that was asked before it, so that a search depth first pays
    /// for what is new only.
    fn check_along(&mut self, path: &[Term]) -> Answer {
        self.check(path)
    }

    /// Can the conjunction hold where no values of the bound data, in their types, make all the parts hold?
    /// `Unsat` says that the conjunction implies that there are such values. A solver without quantifiers
    /// does not know.
    fn check_none(&mut self, formula: &[Term], bound: &[Datum], parts: &[Term]) -> Answer {
        if !bound.is_empty() {
            return Answer::Unknown;
        }
        let mut all = formula.to_vec();
        all.push(Term::and(parts.iter().cloned()).not());
        self.check(&all)
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
    if conclusion.is_true() || premises.contains(conclusion) {
        return true;
    }
    let mut formula = premises.to_vec();
    formula.push(conclusion.not());
    solver.check(&formula) == Answer::Unsat
}

/// [`must_hold`], of many conclusions one after the other behind the same premises: a solver may keep these.
pub fn must_hold_along(solver: &mut dyn Solver, premises: &[Term], conclusion: &Term) -> bool {
    if conclusion.is_true() || premises.contains(conclusion) {
        return true;
    }
    let mut path = premises.to_vec();
    path.push(conclusion.not());
    solver.check_along(&path) == Answer::Unsat
}
