//! The value of a term under a valuation: the definition that everything symbolic is held against.
//!
//! Evaluation goes from the left and stops where the result is known, as a reader of `&&`, `||` and `if`
//! expects; an operation that is *reached* and has no value (division by zero, an index outside a range-typed
//! array, an element outside the array's element type) makes the whole term undefined.
//!
//! A number of more than [`budget::MAX_DIGITS`] digits is no value either, but for another reason: the term
//! has one, and we do not compute it. Nobody may take that for a transition that is not enabled, so within a
//! budget it ends the work ([`budget::too_long`]): of a run, without a verdict on what happened.

use std::cell::OnceCell;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Arc;

use dashu::base::{BitTest, DivRemEuclid, Signed};
use dashu::integer::IBig;
use dashu::rational::RBig;

use crate::budget;
use crate::data::Datum;
use crate::term::node::{Comparison, Node, Operator};
use crate::term::{Term, TermShape, strings};
use crate::value::Value;

/// The values of data.
pub type Valuation = BTreeMap<Datum, Value>;

/// Why a term has no value.
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
/// [`Undefined`] where an operation reached has no value or a datum is missing.
pub fn evaluate(term: &Term, valuation: &Valuation) -> Result<Value, Undefined> {
    Evaluation::new(DataSource::Valuation(valuation)).value(term)
}

/// Below this size a term is evaluated again rather than remembered.
const WORTH_REMEMBERING: u64 = 64;

/// Where the data have their values.
#[derive(Clone, Copy)]
pub(super) enum DataSource<'a> {
    /// Data of a model.
    Valuation(&'a Valuation),
    /// Parameters of a closed body, and nothing else.
    Parameters(&'a [Parameter<'a>]),
}

/// A parameter of a closed body. An argument is evaluated when it is first needed, and once.
pub(super) struct Parameter<'a> {
    datum: &'a Datum,
    argument: Option<(&'a Term, DataSource<'a>)>,
    value: OnceCell<Result<Value, Undefined>>,
}

impl<'a> Parameter<'a> {
    /// A parameter with an argument that was not evaluated.
    pub(super) fn with_argument(datum: &'a Datum, argument: &'a Term, data: DataSource<'a>) -> Self {
        Parameter { datum, argument: Some((argument, data)), value: OnceCell::new() }
    }

    /// A parameter with its value.
    pub(super) fn with_value(datum: &'a Datum, value: Value) -> Self {
        Parameter { datum, argument: None, value: OnceCell::from(Ok(value)) }
    }

    fn value(&self) -> Result<Value, Undefined> {
        let compute = || match self.argument {
            Some((term, data)) => Evaluation::new(data).value(term),
            None => Err(Undefined::Unbound(self.datum.clone())),
        };
        self.value.get_or_init(compute).clone()
    }
}

/// An evaluation of terms over the same data. Large subterms, which may be shared, are evaluated once.
pub(super) struct Evaluation<'a> {
    pub(super) data: DataSource<'a>,
    memo: HashMap<Term, Value>,
}

impl<'a> Evaluation<'a> {
    pub(super) fn new(data: DataSource<'a>) -> Self {
        Evaluation { data, memo: HashMap::new() }
    }

    pub(super) fn value(&mut self, term: &Term) -> Result<Value, Undefined> {
        budget::ask();
        if term.written_size() < WORTH_REMEMBERING {
            return self.compute(term);
        }
        if let Some(known) = self.memo.get(term) {
            return Ok(known.clone());
        }
        // What has no value ends the whole evaluation: there is nothing to remember of it.
        let value = self.compute(term)?;
        self.memo.insert(term.clone(), value.clone());
        Ok(value)
    }

    pub(super) fn truth(&mut self, term: &Term) -> Result<bool, Undefined> {
        Ok(is_true(&self.value(term)?))
    }

    fn datum(&self, datum: &Datum) -> Result<Value, Undefined> {
        let unbound = || Undefined::Unbound(datum.clone());
        match self.data {
            DataSource::Valuation(valuation) => valuation.get(datum).cloned().ok_or_else(unbound),
            DataSource::Parameters(parameters) => {
                parameters.iter().find(|one| one.datum == datum).ok_or_else(unbound)?.value()
            }
        }
    }

    fn compute(&mut self, term: &Term) -> Result<Value, Undefined> {
        let node = match term.shape() {
            TermShape::Node(node) => node,
            TermShape::Operation(operation, arguments) => return self.operation(term, operation, arguments),
        };
        Ok(match node {
            Node::Literal(value) => value.clone(),
            Node::Data(datum) => self.datum(datum)?,
            Node::Not(a) => Value::Bool(!self.truth(a)?),
            Node::And(parts) => {
                for part in parts {
                    if !self.truth(part)? {
                        return Ok(Value::Bool(false));
                    }
                }
                Value::Bool(true)
            }
            Node::Or(parts) => {
                for part in parts {
                    if self.truth(part)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Value::Bool(false)
            }
            Node::Compare(comparison, a, b) => {
                let (a, b) = (self.value(a)?, self.value(b)?);
                Value::Bool(match comparison {
                    Comparison::Equal => a == b,
                    Comparison::NotEqual => a != b,
                    comparison => comparison.holds(a.cmp(&b)),
                })
            }
            Node::IfThenElse(c, a, b) => {
                if self.truth(c)? {
                    self.value(a)?
                } else {
                    self.value(b)?
                }
            }
            Node::Arithmetic(operator, a, b) => {
                let value = arithmetic_on_values(*operator, &self.value(a)?, &self.value(b)?);
                computed(term, value.ok_or_else(|| Undefined::DivisionByZero(term.clone()))?)?
            }
            Node::Negate(a) => negative(self.value(a)?),
            Node::ToReal(a) => match self.value(a)? {
                Value::Int(value) => Value::Real(RBig::from(value)),
                other => other,
            },
            Node::Select(a, i) => {
                let (array, index) = (self.value(a)?, self.value(i)?);
                let Value::Array(array) = array else { unreachable!("{a} is not an array") };
                if !index.is_in(&array.ty.index) {
                    return Err(Undefined::IndexOutside(term.clone(), index));
                }
                array.get(&index).clone()
            }
            Node::Store(a, i, e) => {
                let (array, index, element) = (self.value(a)?, self.value(i)?, self.value(e)?);
                let Value::Array(array) = array else { unreachable!("{a} is not an array") };
                if !index.is_in(&array.ty.index) {
                    return Err(Undefined::IndexOutside(term.clone(), index));
                }
                if !element.is_in(&array.ty.element) {
                    return Err(Undefined::ElementOutside(term.clone(), element));
                }
                Value::Array(Arc::new(array.set(index, element)))
            }
            Node::Record(ty, fields) => {
                let mut values = Vec::with_capacity(fields.len());
                for (field, (_, of)) in fields.iter().zip(&ty.fields) {
                    let value = self.value(field)?;
                    if !value.is_in(of) {
                        return Err(Undefined::FieldOutside(term.clone(), value));
                    }
                    values.push(value);
                }
                if !ty.is_canonical(&values) {
                    return Err(Undefined::FieldOutside(
                        term.clone(),
                        Value::Record(ty.clone(), values.into()),
                    ));
                }
                Value::Record(ty.clone(), values.into())
            }
            Node::OnStrings(operation, arguments) => {
                let values = arguments.iter().map(|part| self.value(part)).collect::<Result<Vec<_>, _>>()?;
                let value = strings::on_values(*operation, &values);
                computed(term, value.ok_or_else(|| Undefined::PositionOutside(term.clone()))?)?
            }
            Node::Field(a, position) => match self.value(a)? {
                Value::Record(_, fields) => fields[*position].clone(),
                other => unreachable!("{other} is not a record"),
            },
        })
    }
}

/// The negative of a number.
pub(super) fn negative(value: Value) -> Value {
    match value {
        Value::Int(value) => Value::Int(-value),
        Value::Real(value) => Value::Real(-value),
        other => unreachable!("negative of {other}"),
    }
}

/// The value that was computed, unless it is too long.
fn computed(term: &Term, value: Value) -> Result<Value, Undefined> {
    if is_too_long(&value) {
        budget::too_long();
        return Err(Undefined::TooLong(term.clone()));
    }
    Ok(value)
}

/// The truth of a Boolean term.
pub fn holds(term: &Term, valuation: &Valuation) -> Result<bool, Undefined> {
    Ok(is_true(&evaluate(term, valuation)?))
}

fn is_true(value: &Value) -> bool {
    match value {
        Value::Bool(value) => *value,
        other => unreachable!("{other} is not a truth value"),
    }
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

/// Is it a number of more digits, or a string of more characters, than are read and computed? A product of
/// long ones is longer, and whoever computes with it pays for its square.
pub fn is_too_long(value: &Value) -> bool {
    let bits = match value {
        Value::Int(value) => value.bit_len(),
        Value::Real(value) => value.numerator().bit_len().max(value.denominator().bit_len()),
        Value::String(value) | Value::Id(_, value) => return value.chars().nth(budget::MAX_DIGITS).is_some(),
        _ => 0,
    };
    bits / 10 * 3 > budget::MAX_DIGITS
}

/// The sign of a number's value: -1, 0 or 1; 0 for what is no number.
pub fn sign(value: &Value) -> i32 {
    match value {
        Value::Int(value) if *value == IBig::ZERO => 0,
        Value::Int(value) => {
            if value.is_negative() {
                -1
            } else {
                1
            }
        }
        Value::Real(value) if *value == RBig::ZERO => 0,
        Value::Real(value) => {
            if value.is_negative() {
                -1
            } else {
                1
            }
        }
        _ => 0,
    }
}
