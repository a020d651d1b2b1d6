//! Which terms have a value under every valuation, as far as their shape says so.
//!
//! **Why.** A term means two things: a value, and where it has one. `10 div x == 10 div x` is true, but not
//! if `x` is 0, and then a transition with this guard is not enabled. A constructor that makes `true` of it
//! has changed the model. So a constructor may leave out an argument only if that argument is *total*. The
//! law that all constructors keep is stated in [`super`], and tested against an evaluation without
//! constructors.
//!
//! **Method.** Literals and data are total. An operation on total terms is total if it asks nothing of its
//! arguments, or if they are seen to satisfy it. A divisor must be a literal other than 0. An index or an
//! element must be a literal in the type, or a datum whose own type is a part of it. Data have values of
//! their types: states, events and choices of constants have no others.
//!
//! It errs to one side: a term that is always defined for a deeper reason (`x == 0 || 10 div x > 1`) counts
//! as partial, which only costs a simplification. It is computed once per term, from the children, in
//! constant time.

use dashu_int::IBig;

use crate::term::evaluate::sign;
use crate::term::node::{Node, Operator, StringOperation};
use crate::term::{Term, TermShape, canonical, children_of_node};
use crate::types::Type;

/// Is a term of this root always defined?
pub(super) fn is_total(shape: &TermShape, sort: &Type) -> bool {
    let node = match shape {
        TermShape::Node(node) => node,
        TermShape::Operation(operation, arguments) => return operation.is_total(arguments),
    };
    if children_of_node(node).into_iter().any(|child| !child.is_total()) {
        return false;
    }
    match node {
        Node::Arithmetic(Operator::Divide | Operator::IntegerDivide | Operator::Modulo, _, divisor) => {
            divisor.written_literal().is_some_and(|value| sign(value) != 0)
        }
        Node::Select(array, index) => fits_index(array, index),
        Node::Store(array, index, element) => match sort {
            Type::Array(ty) => fits_index(array, index) && always_in(element, &ty.element),
            _ => true,
        },
        Node::Record(ty, fields) => {
            fields.iter().zip(&ty.fields).all(|(field, (_, field_type))| fits_field(field, field_type))
                && canonical::is_always_canonical(ty, fields)
        }
        Node::OnStrings(StringOperation::At | StringOperation::Slice, _) => false,
        _ => true,
    }
}

/// Is the value of a well-sorted term certainly in the type of a record's field? A conditional fits if each
/// of its cases does.
pub(crate) fn fits_field(term: &Term, ty: &Type) -> bool {
    let mut case = term;
    while let (Some(Node::IfThenElse(_, then, otherwise)), Type::Nat | Type::Range(..)) = (case.written(), ty)
    {
        if !is_simply_in(then, ty) {
            return false;
        }
        case = otherwise;
    }
    is_simply_in(case, ty)
}

/// Like [`fits_field`], for a term that is no conditional. A read of a record's field is in its field's type.
fn is_simply_in(term: &Term, ty: &Type) -> bool {
    match (term.written(), ty) {
        (Some(Node::Field(record, position)), Type::Nat | Type::Range(..)) => match record.sort() {
            Type::Record(record) => is_included(&record.fields[*position].1, ty),
            _ => false,
        },
        _ => always_in(term, ty),
    }
}

/// Is the index certainly in the index type?
pub(super) fn fits_index(array: &Term, index: &Term) -> bool {
    if let Type::Array(ty) = array.sort() { always_in(index, &ty.index) } else { true }
}

/// Is the value of a well-sorted term certainly in the type?
pub(super) fn always_in(term: &Term, ty: &Type) -> bool {
    match ty {
        Type::Nat | Type::Range(..) => match term.written() {
            Some(Node::Literal(value)) => value.is_in(ty),
            Some(Node::Data(datum)) => is_included(datum.ty(), ty),
            _ => false,
        },
        // Any value of the sort is in the type, or the value was made of data and stores, whose own
        // conditions kept it in its type.
        _ => true,
    }
}

/// Is every integer of the inner type also in the outer one?
fn is_included(inner: &Type, outer: &Type) -> bool {
    match (inner, outer) {
        (_, Type::Int) | (Type::Nat, Type::Nat) => true,
        (Type::Range(low, _), Type::Nat) => *low >= IBig::ZERO,
        (Type::Range(low, high), Type::Range(least, most)) => least <= low && high <= most,
        _ => false,
    }
}
