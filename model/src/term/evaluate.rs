//! The value of a term under a valuation: the definition that everything symbolic is held against.
//!
//! Evaluation goes from the left and stops when the result is known, as a reader of `&&`, `||` and `if`
//! expects. If an operation that is *reached* has no value (division by zero, an index outside a range-typed
//! array, an element outside the array's element type), the whole term is undefined.
//!
//! A number of more than [`budget::MAX_DIGITS`] digits is no value either, but for another reason: the term
//! has a value, and this program does not compute it. This must not be taken for a transition that is not
//! enabled. So within a budget it ends the work ([`budget::too_long`]), and a run ends without a verdict.

use std::fmt;

use dashu_base::{BitTest, DivRemEuclid};
use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::budget;
use crate::data::Datum;
use crate::term::Term;
use crate::term::node::Operator;
use crate::value::Value;

pub use crate::valuation::Valuation;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Undefined {
    /// A division, `div` or `mod` by zero: the operation.
    DivisionByZero(Term),
    /// An index outside the array's index type: the read or store, and the index.
    IndexOutside(Term, Value),
    /// An element outside the array's element type: the store, and the element.
    ElementOutside(Term, Value),
    /// A field outside its type: the record, and the field's value.
    FieldOutside(Term, Value),
    /// A position outside of a string: the operation.
    PositionOutside(Term),
    /// An operation on a list, a set or a map has no value: the operation.
    NoValue(Term),
    /// The value is a number of more digits, or a string of more characters, than are computed.
    TooLong(Term),
    /// The valuation does not have the datum.
    Unbound(Datum),
}

impl fmt::Display for Undefined {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Undefined::DivisionByZero(term) => write!(f, "`{term}` divides by zero"),
            Undefined::IndexOutside(term, index) => {
                write!(f, "index {index} of `{term}` is outside the array")
            }
            Undefined::ElementOutside(term, element) => {
                write!(f, "{element} in `{term}` is outside the array's element type")
            }
            Undefined::FieldOutside(term, field) => {
                write!(f, "{field} in `{term}` is outside the field's type")
            }
            Undefined::NoValue(term) => write!(f, "`{term}` has no value"),
            Undefined::PositionOutside(term) => write!(f, "`{term}` asks for more than the string has"),
            Undefined::TooLong(_) => {
                write!(f, "a number or a string has more than {} digits or characters", budget::MAX_DIGITS)
            }
            Undefined::Unbound(datum) => write!(f, "`{datum}` has no value"),
        }
    }
}

/// The value of the term.
///
/// # Errors
/// [`Undefined`] if an operation that is reached has no value, or a datum is missing.
pub fn evaluate(term: &Term, valuation: &Valuation) -> Result<Value, Undefined> {
    term.program().run(|datum| valuation.get(datum))
}

pub(super) fn negate_value(value: Value) -> Value {
    match value {
        Value::Int(value) => Value::Int(-value),
        Value::Real(value) => Value::Real(-value),
        other => unreachable!("negative of {other}"),
    }
}

/// The truth of a Boolean term.
pub fn holds(term: &Term, valuation: &Valuation) -> Result<bool, Undefined> {
    term.program().decide(|datum| valuation.get(datum))
}

/// The result of a binary operation on two values of one sort; `None` for a division by zero.
pub fn arithmetic_on_values(operator: Operator, a: &Value, b: &Value) -> Option<Value> {
    match (a, b) {
        (Value::Int(a), Value::Int(b)) => Some(Value::Int(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::IntegerDivide | Operator::Modulo | Operator::Divide if *b == IBig::ZERO => return None,
            Operator::IntegerDivide => a.clone().div_rem_euclid(b.clone()).0,
            Operator::Modulo => IBig::from(a.clone().div_rem_euclid(b.clone()).1),
            Operator::Divide => unreachable!("`/` is of reals"),
        })),
        (Value::Real(a), Value::Real(b)) => Some(Value::Real(match operator {
            Operator::Add => a + b,
            Operator::Subtract => a - b,
            Operator::Multiply => a * b,
            Operator::Divide if *b == RBig::ZERO => return None,
            Operator::Divide => a / b,
            Operator::IntegerDivide | Operator::Modulo => unreachable!("`div` and `mod` are of integers"),
        })),
        _ => unreachable!("{a} {operator} {b}"),
    }
}

/// Is it a number of more digits, or a string of more characters, than are read and computed? Their products
/// would be longer still, and computing with them costs the square of the length.
pub fn is_too_long(value: &Value) -> bool {
    let bits = match value {
        Value::Int(value) => value.bit_len(),
        Value::Real(value) => value.numerator().bit_len().max(value.denominator().bit_len()),
        Value::String(value) | Value::Id(_, value) => return value.chars().nth(budget::MAX_DIGITS).is_some(),
        _ => 0,
    };
    // Ten bits are three decimal digits, and a little more.
    bits / 10 * 3 > budget::MAX_DIGITS
}

/// The sign of a number: -1, 0 or 1. It is 0 for any other value.
pub fn sign(value: &Value) -> i32 {
    match value {
        Value::Int(value) => value.cmp(&IBig::ZERO) as i32,
        Value::Real(value) => value.cmp(&RBig::ZERO) as i32,
        _ => 0,
    }
}

/// The value of the term, where `lookup` gives the data their values.
pub fn evaluate_with<'v>(
    term: &Term,
    lookup: impl Fn(&Datum) -> Option<&'v Value>,
) -> Result<Value, Undefined> {
    term.program().run(lookup)
}

/// The truth of a Boolean term, where `lookup` gives the data their values.
pub fn holds_with<'v>(term: &Term, lookup: impl Fn(&Datum) -> Option<&'v Value>) -> Result<bool, Undefined> {
    term.program().decide(lookup)
}
