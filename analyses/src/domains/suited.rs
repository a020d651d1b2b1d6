//! The domain that is taken where nobody names one.
//!
//! **Problem.** Polyhedra alone know nothing of parity and remainders, and congruences beside them take about
//! twice the time where they tell nothing. **Method.** The terms of the models tell where they may tell
//! something: a remainder or a whole quotient is asked for, a number goes in strides (`v := v + 2`), or is
//! turned (`v := 1 - v`). On the programs of `examples/numerical` that is where congruences prove more. It is
//! a choice, and changes no meaning.

use std::collections::HashSet;

use coreach_model::term::node::{Node, Operator};
use coreach_model::{Datum, Iosts, Term, Value};

use super::DomainKind;
use crate::scope::CASE_LIMIT;

/// Polyhedra, with congruences beside them where these models suggest that they tell something.
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

/// Is it assigned itself and a number of some steps, or turned? Of longer steps than
/// [`CASE_LIMIT`] little can be said.
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
