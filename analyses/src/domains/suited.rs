//! Chooses a domain if the user names none.
//!
//! **Problem.** Polyhedra alone know nothing of parity and remainders. With congruences the analysis takes
//! about twice the time, even if they tell nothing. **Method.** Congruences are added if a term of the models
//! suggests that they help: a remainder or an integer quotient is computed, or a number moves in steps (`v :=
//! v + 2`), or is mirrored (`v := 1 - v`). On the programs of `examples/numerical` congruences prove more
//! exactly then. The choice changes no meaning.

use std::collections::HashSet;

use coreach_model::term::node::{Node, Operator};
use coreach_model::{Datum, Iosts, Term, Value};

use super::DomainKind;
use crate::scope::CASE_LIMIT;

/// Chooses polyhedra, with congruences if a term of these models suggests that they help.
pub fn suited<'a>(models: impl IntoIterator<Item = &'a Iosts>) -> DomainKind {
    let mut seen = HashSet::new();
    let asks = |iosts: &Iosts| {
        let transitions = || iosts.transitions.iter();
        let strides = |(variable, value): (&Datum, &Term)| is_stride(variable, value);
        let terms = transitions().flat_map(|one| one.assignments.values().chain([&one.guard]));
        transitions().any(|one| one.assignments.iter().any(strides))
            || terms.chain([&iosts.initial_condition]).any(|term| has_remainder(term, &mut seen))
    };
    match models.into_iter().any(asks) {
        true => DomainKind::PolyhedraCongruence,
        false => DomainKind::Polyhedra,
    }
}

/// Does the assignment add a step to the variable, or mirror it? Steps longer than [`CASE_LIMIT`] do not
/// count, because congruences help little with them.
fn is_stride(variable: &Datum, value: &Term) -> bool {
    let is_itself = |term: &Term| term.as_datum() == Some(variable);
    let is_far = |term: &Term| match term.as_literal() {
        Some(Value::Int(step)) => (2..=CASE_LIMIT).any(|size| *step == size.into() || -step == size.into()),
        _ => false,
    };
    variable.ty().is_integer()
        && match value.node() {
            Node::Arithmetic(Operator::Add, a, b) => is_itself(a) && is_far(b) || is_itself(b) && is_far(a),
            Node::Arithmetic(Operator::Subtract, a, b) => {
                is_itself(a) && is_far(b) || is_itself(b) && a.as_literal().is_some()
            }
            _ => false,
        }
}

fn has_remainder(term: &Term, seen: &mut HashSet<Term>) -> bool {
    let asks = |operator: &Operator| matches!(operator, Operator::IntegerDivide | Operator::Modulo);
    let is_one = matches!(term.node(), Node::Arithmetic(operator, ..) if asks(operator));
    is_one || seen.insert(term.clone()) && term.children().into_iter().any(|child| has_remainder(child, seen))
}
