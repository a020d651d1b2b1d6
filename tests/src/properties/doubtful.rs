//! A solver that often does not know.
//!
//! **Problem.** Over the small finite domains of the random pairs the real solver decides every query, so
//! nothing would show whether a stage reads [`Answer::Unknown`] in the wrong direction.
//!
//! **Method.** A share of the queries, chosen by a hash of the set of their conjuncts and a seed, is answered
//! `Unknown`; the rest by the real solver. The same query has the same answer whenever it is asked, as from a
//! solver with a resource limit. Unlike from one, the choice has nothing to do with difficulty: a query may
//! be unknown though a part of it is known to be unsatisfiable. That is the harder case for a stage.
//!
//! What needs no solver is not doubted: a conjunct `false`, or no conjunct at all.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash, Hasher};

use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver, Statistics, Witness};
use coreach_model::Term;

use crate::generator::random::Random;

/// How much is doubted, and what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Doubt {
    /// Queries out of a hundred that are not answered.
    pub percent: usize,
    /// Which ones.
    pub seed: u64,
}

/// The real solver behind a doubt.
pub struct Doubtful {
    inner: Z3Solver,
    doubt: Doubt,
    /// The queries that were not answered, repeated ones included.
    pub unanswered: usize,
}

impl Doubtful {
    /// A fresh solver that doubts.
    pub fn new(doubt: Doubt) -> Self {
        Doubtful { inner: Z3Solver::default(), doubt, unanswered: 0 }
    }

    fn doubts(&mut self, formula: &[Term]) -> bool {
        let conjuncts: Vec<Term> = formula.iter().flat_map(Term::conjuncts).collect();
        if conjuncts.iter().all(Term::is_true) || conjuncts.iter().any(Term::is_false) {
            return false;
        }
        let hashes: BTreeSet<u64> = conjuncts.iter().map(hash).collect();
        let mixed = hashes.into_iter().fold(self.doubt.seed, |mixed, hash| Random::new(mixed ^ hash).bits());
        let doubts = Random::new(mixed).chance(self.doubt.percent);
        self.unanswered += usize::from(doubts);
        doubts
    }
}

impl Solver for Doubtful {
    fn check(&mut self, formula: &[Term]) -> Answer {
        if self.doubts(formula) { Answer::Unknown } else { self.inner.check(formula) }
    }

    fn witness(&mut self, formula: &[Term]) -> Witness {
        if self.doubts(formula) { Witness::Unknown } else { self.inner.witness(formula) }
    }

    fn statistics(&self) -> Statistics {
        let known = self.inner.statistics();
        let unanswered = self.unanswered as u64;
        Statistics { queries: known.queries + unanswered, unknown: known.unknown + unanswered, ..known }
    }
}

fn hash(term: &Term) -> u64 {
    let mut hasher = DefaultHasher::new();
    term.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use coreach_model::{Datum, Type};

    use super::*;

    fn formulas() -> Vec<Vec<Term>> {
        let x = Term::datum(&Datum::new("x", Type::Int));
        (0..400).map(|n| vec![Term::equal(&x, &Term::int(n)), Term::equal(&x, &Term::int(n % 7))]).collect()
    }

    #[test]
    fn a_share_is_unknown_and_the_rest_as_it_is() {
        let mut doubtful = Doubtful::new(Doubt { percent: 20, seed: 1 });
        let mut real = Z3Solver::default();
        for formula in formulas() {
            let answer = doubtful.check(&formula);
            assert!(answer == Answer::Unknown || answer == real.check(&formula));
        }
        assert!((40..120).contains(&doubtful.unanswered), "{}", doubtful.unanswered);
    }

    #[test]
    fn the_order_of_conjuncts_makes_no_difference() {
        let answers = |reversed: bool| {
            let mut solver = Doubtful::new(Doubt { percent: 50, seed: 3 });
            let all = formulas().into_iter().map(|mut formula| {
                if reversed {
                    formula.reverse();
                }
                solver.check(&formula)
            });
            all.collect::<Vec<_>>()
        };
        assert_eq!(answers(false), answers(true));
    }

    #[test]
    fn what_needs_no_solver_is_not_doubted() {
        let mut solver = Doubtful::new(Doubt { percent: 100, seed: 1 });
        assert_eq!(solver.check(&[Term::no()]), Answer::Unsat);
        assert_eq!(solver.check(&[]), Answer::Sat);
    }
}
