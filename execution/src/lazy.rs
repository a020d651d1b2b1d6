//! A solver that is started by the first question.
//!
//! Most runs never ask, since their values are drawn. To start Z3 costs more than such a run.

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver, Statistics, Witness};
use coreach_model::{Datum, Term};

/// Z3, started by the first question.
#[derive(Default)]
pub struct Lazy(Option<Z3Solver>);

impl Solver for Lazy {
    fn check(&mut self, formula: &[Term]) -> Answer {
        self.0.get_or_insert_default().check(formula)
    }

    fn check_along(&mut self, path: &[Term]) -> Answer {
        self.0.get_or_insert_default().check_along(path)
    }

    fn check_none(&mut self, formula: &[Term], bound: &[Datum], parts: &[Term]) -> Answer {
        self.0.get_or_insert_default().check_none(formula, bound, parts)
    }

    fn witness(&mut self, formula: &[Term]) -> Witness {
        self.0.get_or_insert_default().witness(formula)
    }

    fn statistics(&self) -> Statistics {
        self.0.as_ref().map_or_else(Statistics::default, Solver::statistics)
    }
}
