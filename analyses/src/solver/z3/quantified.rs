//! Questions with a quantifier: can a conjunction hold while no values of some data satisfy others?
//!
//! **Problem.** "Is each of these states one of those?" has a quantifier, which equations may not eliminate
//! (`crate::symbolic::eliminate` tries this first). Z3's usual solver instantiates quantifiers by guessing,
//! and may never end. Its procedure `qsat` decides linear arithmetic with quantifiers. **Limits.** Only
//! linear conditions on numbers, Booleans and enumerations are asked. Everything else is unknown, and so is a
//! question that the resource limit ends. The first such question makes a Z3 solver for them.

use std::collections::BTreeSet;

use coreach_model::term::node::Node;
use coreach_model::term::subterms;
use coreach_model::{Datum, Term, Type, budget};
use z3::Tactic;
use z3::ast::{Ast, Bool, forall_const};

use super::{AssertionLevel, Z3Solver, limit_solver};
use crate::solver::Answer;

impl Z3Solver {
    /// Answers [`crate::solver::Solver::check_none`].
    pub(super) fn ask_quantified(&mut self, formula: &[Term], bound: &[Datum], parts: &[Term]) -> Answer {
        budget::ask();
        if !formula.iter().chain(parts).all(is_plain) {
            return Answer::Unknown;
        }
        let (mut outside, mut inside): (Vec<Bool>, Vec<Bool>) = (Vec::new(), Vec::new());
        let mut data: BTreeSet<Datum> = bound.iter().cloned().collect();
        for (terms, asserted) in [(formula, &mut outside), (parts, &mut inside)] {
            for term in terms {
                let prepared = self.translator.prepare(term);
                if prepared.nonlinear || prepared.beyond {
                    return Answer::Unknown;
                }
                data.extend(prepared.data.iter().cloned());
                asserted.push(prepared.assertion.clone());
            }
        }
        // The bound data have values in their types, and so have the others.
        for datum in &data {
            let Some(number) = self.translator.membership(datum) else { continue };
            let asserted = if bound.contains(datum) { &mut inside } else { &mut outside };
            asserted.push(self.translator.constraint(number).clone());
        }
        let constants: Vec<_> = bound.iter().map(|datum| self.translator.constant(datum)).collect();
        let constants: Vec<&dyn Ast> = constants.iter().map(|constant| constant as &dyn Ast).collect();
        outside.push(forall_const(&constants, &[], &Bool::and(&inside).not()));
        let limits = self.limits;
        let solver = self
            .quantified
            .get_or_insert_with(|| limit_solver(Tactic::new("qsat").solver(), limits.rlimit, 0))
            .clone();
        let level = AssertionLevel::on(solver);
        for assertion in &outside {
            level.0.assert(assertion);
        }
        self.ask(&level.0)
    }
}

/// Has the term only numbers, Booleans and enumerations?
fn is_plain(term: &Term) -> bool {
    subterms([term]).all(|term| {
        !matches!(term.sort(), Type::Array(_) | Type::Record(_) | Type::String)
            && !matches!(term.node(), Node::Select(..))
    })
}
