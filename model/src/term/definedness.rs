//! Where a term has a value, as a condition.
//!
//! The order of evaluation is that of [`crate::term::evaluate`]: from the left, stopping early, and without
//! the branch that is not taken.
//!
//! **Cost**: one pass over the terms. Linear arithmetic and data without bounds add nothing. In a conjunction
//! (or disjunction) of n parts, the condition of a part must hold only if the parts before it let evaluation
//! reach it. Written out for each part, that would be n² / 2 parts. If many parts have a condition, the
//! conjunction is therefore halved, and the condition of the second half is stated under the first half as a
//! whole: `D(a && b) = D(a) && (!a || D(b))`. By distribution it is the same condition, with n log n parts
//! and 2 log n levels.

use std::collections::HashMap;

use crate::term::canonical;
use crate::term::node::{Comparison, Node, Operator};
use crate::term::operation::DerivedOperation;
use crate::term::strings;
use crate::term::total::fits_field;
use crate::term::{Term, TermShape};
use crate::types::Type;

/// The condition that the term has a value.
pub fn defined(term: &Term) -> Term {
    definedness(term, &mut HashMap::new())
}

/// The condition that the value of a well-sorted term lies in the type. It is `true` if the sort implies it.
///
/// An array's cells are kept within the element type by the obligation of every store.
pub fn in_type(term: &Term, ty: &Type) -> Term {
    match ty {
        Type::Nat => Term::compare(Comparison::AtLeast, term, &Term::int(0)),
        Type::Range(low, high) => Term::and([
            Term::compare(Comparison::AtLeast, term, &Term::int(low.clone())),
            Term::compare(Comparison::AtMost, term, &Term::int(high.clone())),
        ]),
        Type::Record(record) => {
            // A record of one of these shapes has a value only if its fields are in their types.
            if matches!(term.shape(), TermShape::Operation(..))
                || matches!(term.written(), Some(Node::Literal(_) | Node::Data(_) | Node::Record(..)))
            {
                return Term::yes();
            }
            let fields = record.fields.iter().enumerate();
            Term::and(fields.map(|(position, (_, ty))| in_type(&Term::field(term, position), ty)))
        }
        _ => Term::yes(),
    }
}

/// Like [`defined`]. `memo` remembers the conditions of shared subterms.
pub(crate) fn definedness(term: &Term, memo: &mut HashMap<Term, Term>) -> Term {
    if term.is_total() {
        return Term::yes();
    }
    if let Some(known) = memo.get(term) {
        return known.clone();
    }
    let result = match term.shape() {
        // People read the operation, not the longer term.
        TermShape::Operation(..) => Term::apply(DerivedOperation::Defined, vec![term.clone()]),
        TermShape::Node(Node::And(parts)) => state_in_turn(parts, Term::not, memo),
        TermShape::Node(Node::Or(parts)) => state_in_turn(parts, Term::clone, memo),
        TermShape::Node(Node::IfThenElse(c, a, b)) => {
            let (on_c, on_a, on_b) = (definedness(c, memo), definedness(a, memo), definedness(b, memo));
            // The branches are reached only if `c` has a value. So equal conditions need no `c`.
            let on_branch = if on_a == on_b { on_a } else { Term::if_then_else(c, &on_a, &on_b) };
            Term::and([on_c, on_branch])
        }
        TermShape::Node(node) => {
            let mut parts: Vec<Term> =
                term.parts().into_iter().map(|child| definedness(child, memo)).collect();
            parts.push(own_condition(term, node));
            Term::and(parts)
        }
    };
    memo.insert(term.clone(), result.clone());
    result
}

/// States that each part is defined if the parts before it leave the result open. `stops` makes the condition
/// under which evaluation stops after a part.
fn state_in_turn(parts: &[Term], stops: fn(&Term) -> Term, memo: &mut HashMap<Term, Term>) -> Term {
    let parts: Vec<(Term, Term)> = parts.iter().map(|part| (stops(part), definedness(part, memo))).collect();
    combine_reached(&parts)
}

/// The most conditions that are each stated in full, as people read them.
const MOST_IN_FULL: usize = 16;

/// States that each part is defined if evaluation reaches it. A part is given as a pair: the condition under
/// which evaluation stops after the part, and the condition under which the part is defined.
fn combine_reached(parts: &[(Term, Term)]) -> Term {
    // Most parts are always defined, and a long guard must not cost its square.
    let is_defined = |index: usize| &parts[index].1;
    let partial: Vec<usize> = (0..parts.len()).filter(|index| !is_defined(*index).is_true()).collect();
    let stops_before = |end: usize| parts[..end].iter().map(|(stops, _)| stops.clone());
    if partial.len() <= MOST_IN_FULL {
        let state_in_full =
            |index: &usize| Term::or(stops_before(*index).chain([is_defined(*index).clone()]));
        return Term::and(partial.iter().map(state_in_full));
    }
    // If a part of the first half stops evaluation, no part of the second half is reached.
    let middle = partial[partial.len() / 2];
    let (first_half, second_half) = parts.split_at(middle);
    let on_second_half = Term::or(stops_before(middle).chain([combine_reached(second_half)]));
    Term::and([combine_reached(first_half), on_second_half])
}

/// The condition that the operation at the root puts on its arguments.
fn own_condition(term: &Term, node: &Node) -> Term {
    match node {
        Node::Arithmetic(Operator::IntegerDivide | Operator::Modulo, _, b) => {
            Term::compare(Comparison::NotEqual, b, &Term::int(0))
        }
        Node::Arithmetic(Operator::Divide, _, b) => {
            Term::compare(Comparison::NotEqual, b, &Term::int(0).to_real())
        }
        Node::OnStrings(operation, arguments) => strings::own_condition(*operation, arguments),
        Node::Record(ty, fields) => {
            let typed = fields.iter().zip(&ty.fields).map(|(field, (_, ty))| (field, ty));
            let uncertain = typed.filter(|(field, ty)| !fits_field(field, ty));
            let are_in_types = uncertain.map(|(field, ty)| in_type(field, ty));
            Term::and(are_in_types.chain([canonical::canonical_condition(ty, fields)]))
        }
        Node::Select(a, i) => match a.sort() {
            Type::Array(array) => in_type(i, &array.index),
            _ => Term::yes(),
        },
        Node::Store(_, i, e) => match term.sort() {
            Type::Array(array) => Term::and([in_type(i, &array.index), in_type(e, &array.element)]),
            _ => Term::yes(),
        },
        _ => Term::yes(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::Datum;
    use crate::term::evaluate::{Valuation, evaluate};
    use crate::value::Value;

    fn int(name: &str) -> Term {
        Term::datum(&Datum::new(name, Type::Int))
    }

    /// `10 div v0 > 0`, `b`, `10 div v1 > 0`, ...: every other part has a condition.
    fn parts(count: usize) -> Vec<Term> {
        let part = |at: usize| match at % 2 {
            0 => {
                let quotient =
                    Term::arithmetic(Operator::IntegerDivide, &Term::int(10), &int(&format!("v{at}")));
                Term::compare(Comparison::Greater, &quotient, &Term::int(0))
            }
            _ => Term::compare(Comparison::Less, &int(&format!("v{at}")), &Term::int(5)),
        };
        (0..count).map(part).collect()
    }

    /// The stated condition holds exactly where evaluation, which stops early, gives a value.
    #[test]
    fn a_halved_condition_is_the_condition_of_evaluation() {
        for term in [Term::and(parts(90)), Term::or(parts(90))] {
            let condition = defined(&term);
            for seed in 0..600usize {
                // Mostly values that let evaluation go on, so that it also gets far.
                let value = |at: usize| match (at * 7919 + seed * 104_729) % 151 {
                    0 => 0,
                    1 => 20,
                    2 => -3,
                    _ if matches!(term.node(), Node::And(_)) => 2,
                    _ if at.is_multiple_of(2) => 11,
                    _ => 9,
                };
                let data = (0..90).map(|at| (Datum::new(format!("v{at}"), Type::Int), Value::int(value(at))));
                let valuation: Valuation = data.collect();
                let holds = evaluate(&condition, &valuation) == Ok(Value::Bool(true));
                assert_eq!(holds, evaluate(&term, &valuation).is_ok(), "{seed}");
            }
        }
    }

    #[test]
    fn a_long_guard_does_not_cost_its_square() {
        fn size(term: &Term) -> usize {
            1 + term.children().into_iter().map(size).sum::<usize>()
        }
        let condition = defined(&Term::and(parts(4_000)));
        // Written out for each part it would be 24 million; a part is about six.
        assert!(size(&condition) < 400_000, "{}", size(&condition));
    }

    #[test]
    fn few_conditions_are_stated_as_people_read_them() {
        let condition = defined(&Term::and(parts(4)));
        assert_eq!(condition.to_string(), "v0 != 0 && (10 div v0 <= 0 || v1 >= 5 || v2 != 0)");
    }
}
