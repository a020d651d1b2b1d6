//! Says which of two values is simpler, and lists simpler ones to try.
//!
//! A number is simpler the nearer it is to 0, and a positive one is simpler than a negative one; a fraction
//! is less simple than any integer near it. `false` is simpler than `true`, an earlier literal than a later
//! one, a shorter string than a longer one, a string of plainer letters than another, an array with fewer
//! cells than one with more. The order is total. Below a value of a type it has no infinite descent *of one
//! size*: if each step takes a simpler value, and only integers for numbers, the steps end. No fraction is
//! made of a value that is not one.
//!
//! A value is a tree: fields of a record, cells of an array. Its *leaves* are simplified one at a time.

use std::cmp::Ordering;
use std::sync::Arc;

use coreach_model::Value;
use coreach_model::value::ArrayValue;
use dashu_base::{Abs, Signed};
use dashu_int::IBig;
use dashu_ratio::RBig;

/// Compares two values of one type: the simpler one is less.
pub fn compare_simplicity(one: &Value, other: &Value) -> Ordering {
    match (one, other) {
        (Value::Int(a), Value::Int(b)) => compare_integers(a, b),
        (Value::Real(a), Value::Real(b)) => {
            let by_denominator = a.denominator().cmp(b.denominator());
            by_denominator.then_with(|| compare_integers(a.numerator(), b.numerator()))
        }
        (Value::String(a), Value::String(b)) | (Value::Id(_, a), Value::Id(_, b)) => {
            string_key(a).cmp(&string_key(b))
        }
        (Value::Record(_, a), Value::Record(_, b)) => compare_sequences(a, b),
        (Value::Array(a), Value::Array(b)) => {
            let cells = |array: &ArrayValue| -> Vec<Value> {
                array.cells.iter().flat_map(|(index, cell)| [index.clone(), cell.clone()]).collect()
            };
            let by_count = a.cells.len().cmp(&b.cells.len());
            let by_default = || compare_simplicity(&a.default, &b.default);
            by_count.then_with(by_default).then_with(|| compare_sequences(&cells(a), &cells(b)))
        }
        // Truth values and literals are compared by their place. Other pairs are never of one type.
        _ => one.cmp(other),
    }
}

/// Returns the key of strings: their length, then their characters, of which letters are the plainest.
fn string_key(text: &str) -> (usize, Vec<(u8, char)>) {
    let plainness = |c: char| match c {
        'a'..='z' => (0, c),
        '0'..='9' | 'A'..='Z' => (1, c),
        ' '..='~' => (2, c),
        _ => (3, c),
    };
    (text.chars().count(), text.chars().map(plainness).collect())
}

fn compare_integers(a: &IBig, b: &IBig) -> Ordering {
    a.clone().abs().cmp(&b.clone().abs()).then_with(|| b.cmp(a))
}

/// Compares value by value. A shorter sequence is simpler.
pub fn compare_sequences(a: &[Value], b: &[Value]) -> Ordering {
    let by_values = || a.iter().zip(b).map(|(a, b)| compare_simplicity(a, b)).find(|order| order.is_ne());
    a.len().cmp(&b.len()).then_with(|| by_values().unwrap_or(Ordering::Equal))
}

/// Lists the ways to the leaves: numbers of fields and cells. 0 is the default of an array.
pub fn leaves(value: &Value) -> Vec<Vec<usize>> {
    let below = |number: usize, value: &Value| {
        let mut ways = leaves(value);
        ways.iter_mut().for_each(|way| way.insert(0, number));
        ways
    };
    match value {
        Value::Record(record, fields) => {
            let counting = fields.iter().enumerate().filter(|(at, _)| record.counts(&fields[0], *at));
            counting.flat_map(|(number, field)| below(number, field)).collect()
        }
        Value::Array(array) => {
            let all = std::iter::once(&array.default).chain(array.cells.values());
            all.enumerate().flat_map(|(number, cell)| below(number, cell)).collect()
        }
        _ => vec![Vec::new()],
    }
}

/// Finds the leaf at the end of a way. `None` if the value has no such way.
pub fn leaf<'v>(value: &'v Value, way: &[usize]) -> Option<&'v Value> {
    let Some((first, rest)) = way.split_first() else { return Some(value) };
    match value {
        Value::Record(_, fields) => leaf(fields.get(*first)?, rest),
        Value::Array(array) => match first.checked_sub(1) {
            None => leaf(&array.default, rest),
            Some(cell) => leaf(array.cells.values().nth(cell)?, rest),
        },
        _ => None,
    }
}

/// Returns the value with a new leaf at the end of a way. `None` if the value has no such way.
pub fn with_leaf(value: &Value, way: &[usize], new: &Value) -> Option<Value> {
    let Some((first, rest)) = way.split_first() else { return Some(new.clone()) };
    match value {
        Value::Record(record, fields) => {
            let mut fields = fields.to_vec();
            let field = fields.get_mut(*first)?;
            *field = with_leaf(field, rest, new)?;
            Some(Value::Record(record.clone(), record.canonical(fields).into()))
        }
        Value::Array(array) => {
            let mut array = ArrayValue::clone(array);
            match first.checked_sub(1) {
                None => array.default = with_leaf(&array.default, rest, new)?,
                Some(cell) => {
                    let cell = array.cells.values_mut().nth(cell)?;
                    *cell = with_leaf(cell, rest, new)?;
                }
            }
            Some(Value::Array(Arc::new(array.canonical())))
        }
        _ => None,
    }
}

/// Lists the array with each of its cells left out in turn; nothing for other values.
pub fn with_less(value: &Value) -> Vec<Value> {
    let Value::Array(array) = value else { return Vec::new() };
    let less = |index: &Value| Value::Array(Arc::new(array.set(index.clone(), array.default.clone())));
    array.cells.keys().map(less).collect()
}

/// Lists simpler leaves than this one that need no search, the simplest first.
pub fn simpler_leaves(leaf: &Value) -> Vec<Value> {
    let mut simpler = match leaf {
        Value::Bool(true) => vec![Value::Bool(false)],
        Value::Enum(enumeration, at) => {
            (0..*at).map(|earlier| Value::Enum(enumeration.clone(), earlier)).collect()
        }
        Value::String(text) => shorter_strings(text).iter().map(|text| Value::string(text)).collect(),
        Value::Id(name, _) => vec![Value::id(name, "id0"), Value::id(name, "id1")],
        Value::Int(number) => vec![Value::Int(IBig::ZERO), Value::Int(number.clone().abs())],
        Value::Real(number) => {
            let whole = number.trunc();
            let further = if number.is_negative() { &whole - IBig::ONE } else { &whole + IBig::ONE };
            let absolute = whole.clone().abs();
            [IBig::ZERO, absolute, whole, further].map(|near| Value::Real(RBig::from(near))).to_vec()
        }
        _ => Vec::new(),
    };
    simpler.retain(|value| compare_simplicity(value, leaf).is_lt());
    simpler.dedup();
    simpler
}

/// Lists shorter strings, then plainer ones of the same length.
fn shorter_strings(text: &str) -> Vec<String> {
    let letters: Vec<char> = text.chars().collect();
    let part = |from: usize, to: usize| letters[from..to].iter().collect::<String>();
    let count = letters.len();
    let mut strings = vec![String::new(), part(0, count / 2), part(count / 2, count)];
    strings.extend([part(0, count.saturating_sub(1)), part(count.min(1), count)]);
    strings.push("a".repeat(count));
    strings.extend((0..count.min(16)).map(|at| part(0, at) + "a" + &part(at + 1, count)));
    strings
}

/// Returns the integer that a number is, if it is one.
pub fn as_integer(leaf: &Value) -> Option<IBig> {
    match leaf {
        Value::Int(number) => Some(number.clone()),
        Value::Real(number) if number.denominator().is_one() => Some(number.numerator().clone()),
        _ => None,
    }
}

/// Returns the integer as a value of the leaf's type.
pub fn number_like(leaf: &Value, number: IBig) -> Value {
    match leaf {
        Value::Real(_) => Value::Real(RBig::from(number)),
        _ => Value::Int(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_simplest_is_the_nearest_to_nothing() {
        let mut numbers = [7, -1, 0, 1, -7, 2].map(Value::int);
        numbers.sort_by(compare_simplicity);
        assert_eq!(numbers, [0, 1, -1, 2, 7, -7].map(Value::int));
        let half = |n: i64| Value::Real(RBig::from_parts(IBig::from(n), 2_u8.into()));
        let whole = |n: i64| Value::Real(RBig::from(IBig::from(n)));
        assert_eq!(simpler_leaves(&half(7)), [0, 3, 4].map(whole));
        assert_eq!(simpler_leaves(&half(-7)), [whole(0), whole(3), whole(-3), whole(-4)]);
        assert_eq!(simpler_leaves(&Value::int(-4)), [Value::int(0), Value::int(4)]);
        assert_eq!(simpler_leaves(&Value::int(0)), []);
        assert_eq!(simpler_leaves(&Value::Bool(true)), [Value::Bool(false)]);
        let texts = |of: &[&str]| of.iter().map(|text| Value::string(text)).collect::<Vec<_>>();
        assert_eq!(
            simpler_leaves(&Value::string("\u{e9}b")),
            texts(&["", "\u{e9}", "b", "\u{e9}", "b", "aa", "ab", "\u{e9}a"])
        );
        assert_eq!(simpler_leaves(&Value::string("a")), texts(&[""]));
    }
}
