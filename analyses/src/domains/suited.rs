//! Chooses a domain if the user names none.
//!
//! **Problem.** Polyhedra alone know nothing of parity and remainders. With congruences the analysis takes
//! about twice the time, even if they tell nothing. **Method.** Congruences are added if a term of the models
//! suggests that they help: a remainder or an integer quotient is computed, or a number moves in steps (`v :=
//! v + 2`), or is mirrored (`v := 1 - v`). On the programs of `examples/numerical` congruences prove more
//! exactly then. The choice changes no meaning.

use coreach_model::term::node::{Node, Operator};
use coreach_model::term::subterms;
use coreach_model::{Datum, Iosts, Term, Value};

use super::DomainKind;
use crate::scope::CASE_LIMIT;

/// Chooses polyhedra, with congruences if a term of these models suggests that they help.
pub fn suited<'a>(models: impl IntoIterator<Item = &'a Iosts>) -> DomainKind {
    let needs_congruences = |iosts: &Iosts| {
        let assignments = iosts.transitions.iter().flat_map(|transition| &transition.assignments);
        let guards = iosts.transitions.iter().map(|transition| &transition.guard);
        let terms =
            assignments.clone().map(|(_, value)| value).chain(guards).chain([&iosts.initial_condition]);
        assignments.clone().any(|(variable, value)| is_stride(variable, value))
            || subterms(terms).any(is_remainder)
    };
    match models.into_iter().any(needs_congruences) {
        true => DomainKind::PolyhedraCongruence,
        false => DomainKind::Polyhedra,
    }
}

/// Does the assignment add a step to the variable, or mirror it? Steps longer than [`CASE_LIMIT`] do not
/// count, because congruences help little with them.
fn is_stride(variable: &Datum, value: &Term) -> bool {
    let is_itself = |term: &Term| term.as_datum() == Some(variable);
    let is_step = |term: &Term| match term.as_literal() {
        Some(Value::Int(step)) => (2..=CASE_LIMIT).any(|size| *step == size.into() || -step == size.into()),
        _ => false,
    };
    variable.ty().is_integer()
        && match value.node() {
            Node::Arithmetic(Operator::Add, a, b) => is_itself(a) && is_step(b) || is_itself(b) && is_step(a),
            Node::Arithmetic(Operator::Subtract, a, b) => {
                is_itself(a) && is_step(b) || is_itself(b) && a.as_literal().is_some()
            }
            _ => false,
        }
}

fn is_remainder(term: &Term) -> bool {
    matches!(term.node(), Node::Arithmetic(Operator::IntegerDivide | Operator::Modulo, ..))
}
