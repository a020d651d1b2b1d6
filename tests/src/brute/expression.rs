//! The oracle's own meaning of expressions, from `docs/model-format.md`.
//!
//! `&&`, `||`, `=>` and `if` go from the left and stop early; a chain of comparisons is a conjunction and
//! does the same. Everything else evaluates all it is made of. What is evaluated must have a value: a
//! division by zero, an index outside of the index's type and an element outside of the element's type have
//! none, and then the whole has none. No expression is ever rewritten: `10 div x == 10 div x` divides twice.

use std::collections::BTreeSet;

use coreach_model::term::node::{Comparison, Operator};

use super::value::{Array, Number, Type, Value};

/// An expression whose names are resolved: data are places in the list of values.
#[derive(Clone, PartialEq, Debug)]
pub enum Expression {
    /// A value.
    Constant(Value),
    /// The value at this place.
    Place(usize),
    /// `!a`
    Not(Box<Expression>),
    /// `-a`
    Negate(Box<Expression>),
    /// `a && b && ...`
    And(Vec<Expression>),
    /// `a || b || ...`
    Or(Vec<Expression>),
    /// `a => b => ...`, to the right.
    Implies(Vec<Expression>),
    /// `a < b <= ...`
    Chain(Box<Expression>, Vec<(Comparison, Expression)>),
    /// `a + b`
    Arithmetic(Operator, Box<Expression>, Box<Expression>),
    /// `if c then a else b`
    If(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `a[i]`
    Select(Box<Expression>, Box<Expression>),
    /// `a[i := e]`
    Store(Box<Expression>, Box<Expression>, Box<Expression>),
    /// `r.field`
    Field(Box<Expression>, String),
    /// A record of these fields, or an array of these cells, in the order of the type.
    Made(Type, Vec<Expression>),
}

/// An operation was evaluated that has no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Undefined;

impl Expression {
    /// The value, where every place has one.
    ///
    /// # Errors
    /// An operation that is evaluated has none.
    pub fn value(&self, places: &[Value]) -> Result<Value, Undefined> {
        Ok(match self {
            Expression::Constant(value) => value.clone(),
            Expression::Place(place) => places[*place].clone(),
            Expression::Not(a) => Value::Bool(!a.truth(places)?),
            Expression::Negate(a) => Value::Number(a.number(places)?.negative()),
            Expression::And(parts) => {
                for part in parts {
                    if !part.truth(places)? {
                        return Ok(Value::Bool(false));
                    }
                }
                Value::Bool(true)
            }
            Expression::Or(parts) => {
                for part in parts {
                    if part.truth(places)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Value::Bool(false)
            }
            Expression::Implies(parts) => {
                let Some((conclusion, premises)) = parts.split_last() else { panic!("an empty implication") };
                for premise in premises {
                    if !premise.truth(places)? {
                        return Ok(Value::Bool(true));
                    }
                }
                Value::Bool(conclusion.truth(places)?)
            }
            Expression::Chain(first, rest) => {
                let mut left = first.value(places)?;
                for (comparison, next) in rest {
                    let right = next.value(places)?;
                    if !compare(*comparison, &left, &right) {
                        return Ok(Value::Bool(false));
                    }
                    left = right;
                }
                Value::Bool(true)
            }
            Expression::Arithmetic(operator, a, b) => {
                let (a, b) = (a.number(places)?, b.number(places)?);
                Value::Number(arithmetic(*operator, a, b).ok_or(Undefined)?)
            }
            Expression::If(condition, yes, no) => {
                if condition.truth(places)? {
                    yes.value(places)?
                } else {
                    no.value(places)?
                }
            }
            Expression::Select(array, index) => {
                let (array, index) = (array.array(places)?, index.value(places)?);
                array.cells[cell(&array, &index)?].clone()
            }
            Expression::Store(array, index, element) => {
                let array = array.array(places)?;
                let (index, element) = (index.value(places)?, element.value(places)?);
                let at = cell(&array, &index)?;
                if !element.is_in(&array.ty.element) {
                    return Err(Undefined);
                }
                let mut cells = array.cells.to_vec();
                cells[at] = element;
                Value::Array(Array { cells: cells.into(), ..array })
            }
            Expression::Made(ty, parts) => {
                let values = parts.iter().map(|part| part.value(places)).collect::<Result<Vec<_>, _>>()?;
                let made = match ty {
                    Type::Record(fields) => {
                        let names = fields.iter().map(|(name, _)| name.clone());
                        Value::Record(names.zip(values).collect())
                    }
                    Type::Array(of) => Value::Array(Array { ty: of.clone(), cells: values.into() }),
                    other => panic!("{other:?} has no parts"),
                };
                if !made.is_in(ty) {
                    return Err(Undefined);
                }
                made
            }
            Expression::Field(record, name) => {
                let Value::Record(fields) = record.value(places)? else { panic!("{record:?} is no record") };
                let found = fields.iter().find(|(field, _)| **field == **name);
                let Some((_, value)) = found else { panic!("{record:?} has no field {name}") };
                value.clone()
            }
        })
    }

    /// The truth.
    ///
    /// # Errors
    /// As [`Self::value`].
    pub fn truth(&self, places: &[Value]) -> Result<bool, Undefined> {
        match self.value(places)? {
            Value::Bool(value) => Ok(value),
            other => panic!("{other} is no truth value"),
        }
    }

    fn number(&self, places: &[Value]) -> Result<Number, Undefined> {
        match self.value(places)? {
            Value::Number(value) => Ok(value),
            other => panic!("{other} is no number"),
        }
    }

    fn array(&self, places: &[Value]) -> Result<Array, Undefined> {
        match self.value(places)? {
            Value::Array(value) => Ok(value),
            other => panic!("{other} is no array"),
        }
    }

    /// The parts of a conjunction, else the expression itself. A conjunction holds where each part does.
    pub fn conjuncts(&self) -> Vec<&Expression> {
        match self {
            Expression::And(parts) => parts.iter().flat_map(Expression::conjuncts).collect(),
            other => vec![other],
        }
    }

    /// The places that it mentions.
    pub fn mentions(&self, found: &mut BTreeSet<usize>) {
        match self {
            Expression::Constant(_) => {}
            Expression::Place(place) => {
                found.insert(*place);
            }
            Expression::Not(a) | Expression::Negate(a) | Expression::Field(a, _) => a.mentions(found),
            Expression::And(parts)
            | Expression::Or(parts)
            | Expression::Implies(parts)
            | Expression::Made(_, parts) => {
                parts.iter().for_each(|part| part.mentions(found));
            }
            Expression::Chain(first, rest) => {
                first.mentions(found);
                rest.iter().for_each(|(_, part)| part.mentions(found));
            }
            Expression::Arithmetic(_, a, b) | Expression::Select(a, b) => {
                a.mentions(found);
                b.mentions(found);
            }
            Expression::If(a, b, c) | Expression::Store(a, b, c) => {
                [a, b, c].into_iter().for_each(|part| part.mentions(found));
            }
        }
    }
}

/// Where the index stands among those of the array.
fn cell(array: &Array, index: &Value) -> Result<usize, Undefined> {
    array.ty.indices.iter().position(|known| known == index).ok_or(Undefined)
}

fn compare(comparison: Comparison, left: &Value, right: &Value) -> bool {
    if let (Value::Number(left), Value::Number(right)) = (left, right) {
        return match comparison {
            Comparison::Equal => left == right,
            Comparison::NotEqual => left != right,
            Comparison::Less => left < right,
            Comparison::AtMost => left <= right,
            Comparison::Greater => left > right,
            Comparison::AtLeast => left >= right,
        };
    }
    match comparison {
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
        other => panic!("`{other}` orders numbers, not {left} and {right}"),
    }
}

fn arithmetic(operator: Operator, a: Number, b: Number) -> Option<Number> {
    match operator {
        Operator::Add => Some(a.plus(b)),
        Operator::Subtract => Some(a.plus(b.negative())),
        Operator::Multiply => Some(a.times(b)),
        Operator::Divide => a.over(b),
        Operator::IntegerDivide => Some(a.euclid(b)?.0),
        Operator::Modulo => Some(a.euclid(b)?.1),
    }
}
