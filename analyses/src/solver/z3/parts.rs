//! Questions about strings, made smaller before Z3 has them.
//!
//! A question about strings costs milliseconds. Along a path it is the old one and one about new data, so the
//! parts that have no data in common are asked by themselves, and from memory where they were asked before;
//! and values that the conjuncts name are tried first.

use std::collections::BTreeSet;
use std::rc::Rc;

use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Term};

use super::translate::Prepared;
use crate::solver::tried::tried;
use crate::solver::{Answer, Solver, Witness};

/// Values that are easily found for conjuncts that speak of strings.
pub(super) fn values_tried(conjuncts: &[Term], prepared: &[Rc<Prepared>]) -> Option<Valuation> {
    if prepared.iter().any(|conjunct| conjunct.strings) { tried(conjuncts) } else { None }
}

/// The conjuncts in parts that have no data in common, where they speak of strings and there are two
/// parts or more.
pub(super) fn independent(conjuncts: &[Term], prepared: &[Rc<Prepared>]) -> Option<Vec<Vec<Term>>> {
    if !prepared.iter().any(|conjunct| conjunct.strings) {
        return None;
    }
    let mut parts: Vec<(BTreeSet<Datum>, Vec<usize>)> = Vec::new();
    for (at, conjunct) in conjuncts.iter().enumerate() {
        let mut data = conjunct.data();
        let mut members = Vec::new();
        parts.retain_mut(|(others, known)| {
            let apart = data.is_disjoint(others);
            if !apart {
                data.append(others);
                members.append(known);
            }
            apart
        });
        members.push(at);
        parts.push((data, members));
    }
    let conjuncts_of = |mut members: Vec<usize>| {
        members.sort_unstable();
        members.into_iter().map(|at| conjuncts[at].clone()).collect()
    };
    (parts.len() > 1).then(|| parts.into_iter().map(|(_, members)| conjuncts_of(members)).collect())
}

/// The answer to all parts, which have no data in common.
pub(super) fn check_parts(solver: &mut dyn Solver, parts: &[Vec<Term>]) -> Answer {
    let mut answer = Answer::Sat;
    for part in parts {
        match solver.check(part) {
            Answer::Unsat => return Answer::Unsat,
            Answer::Unknown => answer = Answer::Unknown,
            Answer::Sat => {}
        }
    }
    answer
}

pub(super) fn find_parts(solver: &mut dyn Solver, parts: &[Vec<Term>]) -> Result<Valuation, Answer> {
    let mut found = Ok(Valuation::new());
    for part in parts {
        match (solver.witness(part), &mut found) {
            (Witness::None, _) => return Err(Answer::Unsat),
            (Witness::Unknown, _) => found = Err(Answer::Unknown),
            (Witness::Found(values), Ok(all)) => all.extend(values),
            (Witness::Found(_), Err(_)) => {}
        }
    }
    found
}
