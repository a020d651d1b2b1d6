//! The oracle's own meaning of expressions, from `docs/reference/model-format.md`.
//!
//! `&&`, `||`, `=>` and `if` go from the left and stop early; a chain of comparisons is a conjunction and
//! does the same. Everything else evaluates all it is made of. What is evaluated must have a value: a
//! division by zero, an index outside of the index's type, an element outside of the element's type and a
//! position outside of a string have none, and then the whole has none. No expression is ever rewritten:
//! `10 div x == 10 div x` divides twice.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use coreach_model::term::node::{Comparison, Operator};

use super::regular;
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
    /// `s[i..j]`
    Slice(Box<Expression>, Box<Expression>, Box<Expression>),
    /// A function of the language, by its name.
    Call(String, Vec<Expression>),
    /// `r.field`
    Field(Box<Expression>, String),
    /// A record of these fields, or an array of these cells, in the order of the type.
    Made(Type, Vec<Expression>),
    /// A list of this type, and another one behind it.
    Joined(Type, Box<Expression>, Box<Expression>),
    /// A list of this type, from an index on.
    Rest(Type, Box<Expression>, Box<Expression>),
    /// `k in s`
    Member(Box<Expression>, Box<Expression>),
    /// The set or the map of this type of these keys, with the values of a map; before that, of what it has.
    Entries(Type, Option<Box<Expression>>, Vec<(Expression, Expression)>),
    /// The set or the map of this type that two make.
    Keyed(Type, Operator, Box<Expression>, Box<Expression>),
}

/// The elements of a list.
fn elements(list: &Value) -> Option<Vec<Value>> {
    let Value::Record(fields) = list else { return None };
    let Value::Number(length) = fields[0].1 else { return None };
    let length = usize::try_from(length.as_integer()?).ok()?;
    Some(fields[1..].iter().take(length).map(|(_, value)| value.clone()).collect())
}

/// The list of these elements.
fn list(ty: &Type, elements: Vec<Value>) -> Result<Value, Undefined> {
    let Type::Record(fields, _) = ty else { return Err(Undefined) };
    if elements.len() >= fields.len() {
        return Err(Undefined);
    }
    let length = Value::integer(elements.len() as i128);
    let made = ty.record(std::iter::once(length).chain(elements).collect());
    if made.is_in(ty) { Ok(made) } else { Err(Undefined) }
}

/// The key of a field of a set or a map.
fn key_of(field: &str) -> Option<Value> {
    Some(match field.strip_prefix("at'")? {
        "true" => Value::Bool(true),
        "false" => Value::Bool(false),
        word => match word.replace("minus", "-").parse() {
            Ok(number) => Value::integer(number),
            Err(_) => Value::Literal(word.into()),
        },
    })
}

/// What a set or a map has: each key with its value, which in a set is `true`.
fn entries(of: &Value) -> Option<BTreeMap<Value, Value>> {
    let Value::Record(fields) = of else { return None };
    let entry = |(name, part): &(Rc<str>, Value)| {
        let value = match part {
            Value::Record(option) => (option[0].1 == Value::Bool(true)).then(|| option[1].1.clone()),
            part => (*part == Value::Bool(true)).then(|| part.clone()),
        };
        Some((key_of(name)?, value))
    };
    let all: BTreeMap<Value, Option<Value>> = fields.iter().map(entry).collect::<Option<_>>()?;
    Some(all.into_iter().filter_map(|(key, value)| Some((key, value?))).collect())
}

/// The set or the map of these entries.
fn keyed(ty: &Type, mut entries: BTreeMap<Value, Value>) -> Result<Value, Undefined> {
    let Type::Record(fields, _) = ty else { return Err(Undefined) };
    let mut parts = Vec::new();
    for (name, part) in fields.iter() {
        let value = key_of(name).and_then(|key| entries.remove(&key));
        parts.push(match (part, value) {
            (Type::Bool, value) => Value::Bool(value.is_some()),
            (part, Some(value)) => part.record(vec![Value::Bool(true), value]),
            (part, None) => part.simplest(),
        });
    }
    let made = ty.record(parts);
    if entries.is_empty() && made.is_in(ty) { Ok(made) } else { Err(Undefined) }
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
            Expression::Arithmetic(Operator::Add, a, b) if matches!(a.value(places), Ok(Value::Text(_))) => {
                Value::Text(
                    [a.text(places)?, b.text(places)?].concat().into_iter().collect::<String>().into(),
                )
            }
            Expression::Slice(text, from, to) => {
                let text = text.text(places)?;
                let (from, to) = (from.number(places)?, to.number(places)?);
                part(&text, from.as_integer(), to.as_integer())?
            }
            Expression::Call(name, arguments) => {
                let values: Result<Vec<Value>, _> = arguments.iter().map(|one| one.value(places)).collect();
                call(name, &values?)
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
            Expression::Select(text, index) if matches!(text.value(places), Ok(Value::Text(_))) => {
                let (text, at) = (text.text(places)?, index.number(places)?.as_integer());
                part(&text, at, at.map(|at| at + 1))?
            }
            Expression::Select(of, key) if of.value(places).ok().as_ref().and_then(entries).is_some() => {
                let entries = entries(&of.value(places)?).ok_or(Undefined)?;
                entries.get(&key.value(places)?).ok_or(Undefined)?.clone()
            }
            Expression::Select(of, index) if matches!(of.value(places), Ok(Value::Record(_))) => {
                let elements = elements(&of.value(places)?).ok_or(Undefined)?;
                let at = index.number(places)?.as_integer().and_then(|at| usize::try_from(at).ok());
                elements.get(at.ok_or(Undefined)?).ok_or(Undefined)?.clone()
            }
            Expression::Joined(ty, a, b) => {
                let parts = [elements(&a.value(places)?), elements(&b.value(places)?)];
                let [Some(a), Some(b)] = parts else { return Err(Undefined) };
                list(ty, [a, b].concat())?
            }
            Expression::Member(key, of) => {
                let key = key.value(places)?;
                Value::Bool(entries(&of.value(places)?).ok_or(Undefined)?.contains_key(&key))
            }
            Expression::Entries(ty, before, given) => {
                let before = before.as_ref().map(|before| before.value(places)).transpose()?;
                let mut found = before.as_ref().and_then(entries).unwrap_or_default();
                for (key, value) in given {
                    found.insert(key.value(places)?, value.value(places)?);
                }
                keyed(ty, found)?
            }
            Expression::Keyed(ty, operator, a, b) => {
                let parts = [entries(&a.value(places)?), entries(&b.value(places)?)];
                let [Some(mut a), Some(mut b)] = parts else { return Err(Undefined) };
                match operator {
                    Operator::Add => a.append(&mut b),
                    Operator::Multiply => a.retain(|key, _| b.contains_key(key)),
                    _ => a.retain(|key, _| !b.contains_key(key)),
                }
                keyed(ty, a)?
            }
            Expression::Rest(ty, of, from) => {
                let elements = elements(&of.value(places)?).ok_or(Undefined)?;
                let from = from.number(places)?.as_integer().and_then(|at| usize::try_from(at).ok());
                list(ty, elements.get(from.ok_or(Undefined)?..).ok_or(Undefined)?.to_vec())?
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
                    Type::Record(..) => ty.record(values),
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

    fn text(&self, places: &[Value]) -> Result<Vec<char>, Undefined> {
        match self.value(places)? {
            Value::Text(value) => Ok(value.chars().collect()),
            other => panic!("{other} is no string"),
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
            Expression::Arithmetic(_, a, b)
            | Expression::Select(a, b)
            | Expression::Joined(_, a, b)
            | Expression::Keyed(_, _, a, b)
            | Expression::Member(a, b)
            | Expression::Rest(_, a, b) => {
                a.mentions(found);
                b.mentions(found);
            }
            Expression::Entries(_, before, given) => {
                before.iter().for_each(|before| before.mentions(found));
                given.iter().flat_map(|(key, value)| [key, value]).for_each(|part| part.mentions(found));
            }
            Expression::Call(_, parts) => parts.iter().for_each(|part| part.mentions(found)),
            Expression::If(a, b, c) | Expression::Store(a, b, c) | Expression::Slice(a, b, c) => {
                [a, b, c].into_iter().for_each(|part| part.mentions(found));
            }
        }
    }
}

/// The characters from one position to another, both within the text.
fn part(text: &[char], from: Option<i128>, to: Option<i128>) -> Result<Value, Undefined> {
    let position = |at: Option<i128>| at.and_then(|at| usize::try_from(at).ok()).ok_or(Undefined);
    let found = text.get(position(from)?..position(to)?).ok_or(Undefined)?;
    Ok(Value::Text(found.iter().collect::<String>().into()))
}

/// The functions of strings.
pub const OF_STRINGS: [&str; 8] =
    ["len", "starts_with", "ends_with", "contains", "index_of", "to_int", "to_string", "matches"];

/// A function, by looking at every place.
fn call(name: &str, arguments: &[Value]) -> Value {
    if let ("len", Some(entries)) = (name, arguments.first().and_then(entries)) {
        return Value::integer(entries.len() as i128);
    }
    match (name, arguments.first().and_then(elements), arguments) {
        ("len", Some(elements), _) => return Value::integer(elements.len() as i128),
        ("contains", Some(elements), [_, one]) => return Value::Bool(elements.contains(one)),
        _ => {}
    }
    let texts: Vec<Vec<char>> = arguments
        .iter()
        .filter_map(|one| match one {
            Value::Text(text) => Some(text.chars().collect()),
            _ => None,
        })
        .collect();
    let stands_at = |s: &[char], t: &[char], at: usize| at + t.len() <= s.len() && s[at..at + t.len()] == *t;
    let first = |s: &[char], t: &[char]| (0..=s.len()).find(|at| stands_at(s, t, *at));
    match (name, texts.as_slice(), arguments) {
        ("len", [s], _) => Value::integer(s.len() as i128),
        ("starts_with", [s, t], _) => Value::Bool(stands_at(s, t, 0)),
        ("ends_with", [s, t], _) => Value::Bool(t.len() <= s.len() && stands_at(s, t, s.len() - t.len())),
        ("contains", [s, t], _) => Value::Bool(first(s, t).is_some()),
        ("index_of", [s, t], _) => Value::integer(first(s, t).map_or(-1, |at| at as i128)),
        ("to_int", [s], _) => {
            let digits: Option<Vec<u32>> =
                s.iter().map(|c| if c.is_ascii() { c.to_digit(10) } else { None }).collect();
            let number = |digits: Vec<u32>| digits.iter().fold(0, |sum, digit| sum * 10 + i128::from(*digit));
            Value::integer(digits.filter(|all| !all.is_empty()).map_or(-1, number))
        }
        ("matches", [s, t], _) => Value::Bool(regular::matches(&t.iter().collect::<String>(), s)),
        ("to_string", [], [number]) => Value::Text(number.to_string().into()),
        _ => panic!("{name} is no function of {arguments:?}"),
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
    if let (Value::Text(a), Value::Text(b)) = (left, right) {
        let codes = |text: &str| text.chars().map(u32::from).collect::<Vec<u32>>();
        return comparison.holds(codes(a).cmp(&codes(b)));
    }
    let is_below = |a: &Value, b: &Value| match (entries(a), entries(b)) {
        (Some(a), Some(b)) => a.keys().all(|key| b.contains_key(key)),
        _ => panic!("{comparison:?} orders numbers and sets, not {a} and {b}"),
    };
    match comparison {
        Comparison::AtMost => is_below(left, right),
        Comparison::AtLeast => is_below(right, left),
        Comparison::Less => left != right && is_below(left, right),
        Comparison::Greater => left != right && is_below(right, left),
        Comparison::Equal => left == right,
        Comparison::NotEqual => left != right,
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
