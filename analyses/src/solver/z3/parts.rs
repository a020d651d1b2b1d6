//! Makes questions about strings smaller before Z3 gets them.
//!
//! A question about strings costs milliseconds. Along a path, a question often is the previous one with a
//! part about new data. So parts without common data are asked separately, and repeated parts are answered
//! from memory. In addition, values that the conjuncts mention are tried first.

use std::collections::BTreeSet;
use std::rc::Rc;

use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Term};

use super::translate::PreparedTerm;
use crate::solver::tried::try_values;
use crate::solver::{Answer, Solver, Witness};

/// Searches values that are found easily, for conjuncts about strings.
pub(super) fn try_string_values(conjuncts: &[Term], prepared: &[Rc<PreparedTerm>]) -> Option<Valuation> {
    if prepared.iter().any(|conjunct| conjunct.strings) { try_values(conjuncts) } else { None }
}

/// Splits conjuncts about strings into parts that have no data in common. `None`: there is only one part, or
/// none is about strings.
pub(super) fn split_into_parts(conjuncts: &[Term], prepared: &[Rc<PreparedTerm>]) -> Option<Vec<Vec<Term>>> {
    if !prepared.iter().any(|conjunct| conjunct.strings) {
        return None;
    }
    let mut parts: Vec<(BTreeSet<Datum>, Vec<usize>)> = Vec::new();
    for (number, conjunct) in conjuncts.iter().enumerate() {
        let mut data = conjunct.data();
        let mut members = vec![number];
        // The parts with which it has data in common are joined with it.
        parts.retain_mut(|(part_data, part_members)| {
            let is_apart = data.is_disjoint(part_data);
            if !is_apart {
                data.append(part_data);
                members.append(part_members);
            }
            is_apart
        });
        parts.push((data, members));
    }
    let conjuncts_of = |mut members: Vec<usize>| {
        members.sort_unstable();
        members.into_iter().map(|number| conjuncts[number].clone()).collect()
    };
    (parts.len() > 1).then(|| parts.into_iter().map(|(_, members)| conjuncts_of(members)).collect())
}

/// Answers the conjunction of parts that have no data in common.
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

/// Finds a valuation of all parts, which have no data in common.
pub(super) fn find_parts(solver: &mut dyn Solver, parts: &[Vec<Term>]) -> Result<Valuation, Answer> {
    let mut valuation = Ok(Valuation::new());
    for part in parts {
        // After an unknown part, another one may still be unsatisfiable.
        match (solver.witness(part), &mut valuation) {
            (Witness::None, _) => return Err(Answer::Unsat),
            (Witness::Unknown, _) => valuation = Err(Answer::Unknown),
            (Witness::Found(values), Ok(known)) => known.extend(values),
            (Witness::Found(_), Err(_)) => {}
        }
    }
    valuation
}
