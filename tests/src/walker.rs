//! A second evaluator of terms, which walks over what a term stands for.
//!
//! The project compiles terms and evaluates operations on lists, sets and maps natively. This one knows the
//! nodes without operations only ([`Term::lowered`]), looks up each datum by its name, and remembers nothing.

use std::sync::Arc;

use coreach_model::term::evaluate::{Undefined, Valuation, arithmetic_on_values, is_too_long};
use coreach_model::term::node::{Comparison, Node};
use coreach_model::term::strings;
use coreach_model::{Term, Value};

/// The value of what the term stands for.
///
/// # Errors
/// [`Undefined`] where a part that is reached has no value.
pub fn walk(term: &Term, valuation: &Valuation) -> Result<Value, Undefined> {
    let value = |term: &Term| walk(term, valuation);
    let truth = |term: &Term| Ok::<bool, Undefined>(walk(term, valuation)? == Value::Bool(true));
    Ok(match term.node() {
        Node::Literal(value) => value.clone(),
        Node::Data(datum) => {
            valuation.get(datum).cloned().ok_or_else(|| Undefined::Unbound(datum.clone()))?
        }
        Node::Not(a) => Value::Bool(!truth(a)?),
        Node::And(parts) | Node::Or(parts) => {
            let decides = matches!(term.node(), Node::Or(_));
            for part in parts {
                if truth(part)? == decides {
                    return Ok(Value::Bool(decides));
                }
            }
            Value::Bool(!decides)
        }
        Node::Compare(comparison, a, b) => {
            let (a, b) = (value(a)?, value(b)?);
            Value::Bool(match comparison {
                Comparison::Equal => a == b,
                Comparison::NotEqual => a != b,
                comparison => comparison.holds(a.cmp(&b)),
            })
        }
        Node::IfThenElse(c, a, b) => return if truth(c)? { value(a) } else { value(b) },
        Node::Arithmetic(operator, a, b) => {
            let result = arithmetic_on_values(*operator, &value(a)?, &value(b)?);
            short(term, result.ok_or_else(|| Undefined::DivisionByZero(term.clone()))?)?
        }
        Node::Negate(a) => match value(a)? {
            Value::Int(value) => Value::Int(-value),
            Value::Real(value) => Value::Real(-value),
            other => unreachable!("negative of {other}"),
        },
        Node::ToReal(a) => match value(a)? {
            Value::Int(value) => Value::Real(value.into()),
            other => other,
        },
        Node::Select(a, i) => {
            let (array, index) = (value(a)?, value(i)?);
            let Value::Array(array) = array else { unreachable!("{a} is not an array") };
            if !index.is_in(&array.ty.index) {
                return Err(Undefined::IndexOutside(term.clone(), index));
            }
            array.get(&index).clone()
        }
        Node::Store(a, i, e) => {
            let (array, index, element) = (value(a)?, value(i)?, value(e)?);
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
            let mut values = Vec::new();
            for (field, (_, of)) in fields.iter().zip(&ty.fields) {
                let value = value(field)?;
                if !value.is_in(of) {
                    return Err(Undefined::FieldOutside(term.clone(), value));
                }
                values.push(value);
            }
            let is_canonical = ty.is_canonical(&values);
            let record = Value::Record(ty.clone(), values.into());
            if !is_canonical {
                return Err(Undefined::FieldOutside(term.clone(), record));
            }
            record
        }
        Node::OnStrings(operation, arguments) => {
            let values = arguments.iter().map(value).collect::<Result<Vec<_>, _>>()?;
            let result = strings::on_values(*operation, &values);
            short(term, result.ok_or_else(|| Undefined::PositionOutside(term.clone()))?)?
        }
        Node::Field(a, position) => match value(a)? {
            Value::Record(_, fields) => fields[*position].clone(),
            other => unreachable!("{other} is not a record"),
        },
    })
}

fn short(term: &Term, value: Value) -> Result<Value, Undefined> {
    if is_too_long(&value) { Err(Undefined::TooLong(term.clone())) } else { Ok(value) }
}
