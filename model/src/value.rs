//! Values: the elements of the types' domains, DOM(t) of the thesis.

use std::cmp::{Ordering, Reverse};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use dashu_int::IBig;
use dashu_ratio::RBig;

use crate::number::time_text;
use crate::types::{ArrayType, EnumType, RecordType, Type};

/// A value of some type. The order is total, and only meant to make output stable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    Bool(bool),
    /// An integer, of `int`, `nat` or a range.
    Int(IBig),
    /// A rational, standing for a real.
    Real(RBig),
    String(Arc<str>),
    /// An id of the type of this name, by its text.
    Id(Arc<str>, Arc<str>),
    /// A literal of an enumeration, by its position.
    Enum(Arc<EnumType>, usize),
    /// A total map with finitely many exceptions.
    Array(Arc<ArrayValue>),
    /// A record's fields in the order of its type.
    Record(Arc<RecordType>, Arc<[Value]>),
}

impl PartialOrd for Value {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// Types are compared only if the values have different ones: values that meet are mostly of one type.
impl Ord for Value {
    fn cmp(&self, other: &Self) -> Ordering {
        match (self, other) {
            (Value::Bool(a), Value::Bool(b)) => a.cmp(b),
            (Value::Int(a), Value::Int(b)) => a.cmp(b),
            (Value::Real(a), Value::Real(b)) => a.cmp(b),
            (Value::String(a), Value::String(b)) => a.cmp(b),
            (Value::Id(name_a, a), Value::Id(name_b, b)) => {
                name_a.cmp(name_b).then_with(|| crate::ids::compare_texts(a, b))
            }
            (Value::Enum(type_a, a), Value::Enum(type_b, b)) => {
                compare_types(type_a, type_b).then_with(|| a.cmp(b))
            }
            (Value::Array(a), Value::Array(b)) => a.cmp(b),
            (Value::Record(type_a, a), Value::Record(type_b, b)) => {
                compare_types(type_a, type_b).then_with(|| a.cmp(b))
            }
            _ => self.kind().cmp(&other.kind()),
        }
    }
}

/// Compares two types by their content, unless they are one allocation, which `==` sees at once.
fn compare_types<T: Ord>(a: &Arc<T>, b: &Arc<T>) -> Ordering {
    if a == b { Ordering::Equal } else { a.cmp(b) }
}

/// Types are left out, since values with the same content are mostly of one type.
/// Small integers are one word, since walks hash states of many of them. Equal values are of one kind, so the
/// kind of the frequent ones is left out.
impl Hash for Value {
    fn hash<H: Hasher>(&self, state: &mut H) {
        match self {
            Value::Bool(value) => state.write_u8(u8::from(*value)),
            Value::Int(value) => match i64::try_from(value) {
                Ok(small) => state.write_i64(small),
                Err(_) => value.hash(state),
            },
            Value::Real(value) => value.hash(state),
            Value::String(value) | Value::Id(_, value) => value.hash(state),
            Value::Enum(_, position) => state.write_usize(*position),
            Value::Array(array) => (&array.default, &array.cells).hash(state),
            Value::Record(_, fields) => fields.hash(state),
        }
    }
}

/// An array's value: the same everywhere but at finitely many cells.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ArrayValue {
    pub ty: Arc<ArrayType>,
    /// The value of every cell not in `cells`.
    pub default: Value,
    /// The exceptions. None of them equals `default`, so equal maps are equal values (over a finite index
    /// type, two spellings of one map remain possible until [`ArrayValue::canonical`]).
    pub cells: BTreeMap<Value, Value>,
}

impl ArrayValue {
    pub fn get(&self, index: &Value) -> &Value {
        self.cells.get(index).unwrap_or(&self.default)
    }

    /// The array that differs at one index, canonical.
    #[must_use]
    pub fn set(&self, index: Value, value: Value) -> Self {
        let mut next = self.clone();
        if value == next.default {
            next.cells.remove(&index);
        } else {
            next.cells.insert(index, value);
        }
        next.canonical()
    }

    /// Chooses, over a finite index type, the value that most indices have as the default, and the least of
    /// several such values: then equal maps are equal values. The cost is that of the cells, however many
    /// indices there are: if fewer than half of the indices have the default, the cells name more than half
    /// of them.
    #[must_use]
    pub fn canonical(mut self) -> Self {
        self.cells.retain(|_, value| *value != self.default);
        let Some(count) = self.ty.index.cardinality() else { return self };
        let default_count = count.saturating_sub(self.cells.len());
        // Then no other value is more frequent.
        if default_count > self.cells.len() {
            return self;
        }
        let mut counts = BTreeMap::from([(&self.default, default_count)]);
        for value in self.cells.values() {
            *counts.entry(value).or_default() += 1;
        }
        // The values ascend, and of equal keys `min_by_key` takes the first.
        let most_frequent = counts.into_iter().min_by_key(|(_, count)| Reverse(*count));
        let default = most_frequent.map(|(value, _)| value.clone());
        let Some(default) = default.filter(|value| *value != self.default) else { return self };
        let Some(indices) = Value::enumerate(&self.ty.index, count) else { return self };
        let cells = indices.into_iter().map(|index| (index.clone(), self.get(&index).clone()));
        self.cells = cells.filter(|(_, value)| *value != default).collect();
        self.default = default;
        self
    }
}

impl Value {
    /// The place of its kind in the order of values.
    fn kind(&self) -> u8 {
        match self {
            Value::Bool(_) => 0,
            Value::Int(_) => 1,
            Value::Real(_) => 2,
            Value::String(_) => 3,
            Value::Id(..) => 4,
            Value::Enum(..) => 5,
            Value::Array(_) => 6,
            Value::Record(..) => 7,
        }
    }

    pub fn int(value: impl Into<IBig>) -> Self {
        Value::Int(value.into())
    }

    pub fn string(value: &str) -> Self {
        Value::String(value.into())
    }

    pub fn id(name: &Arc<str>, text: &str) -> Self {
        Value::Id(name.clone(), text.into())
    }

    /// Does the value lie in the type's domain?
    pub fn is_in(&self, ty: &Type) -> bool {
        match (self, ty) {
            (Value::Bool(_), Type::Bool)
            | (Value::Int(_), Type::Int)
            | (Value::Real(_), Type::Real)
            | (Value::String(_), Type::String) => true,
            (Value::Id(name, _), Type::Id(expected)) => name == expected,
            (Value::Int(value), Type::Nat) => *value >= IBig::ZERO,
            (Value::Int(value), Type::Range(low, high)) => low <= value && value <= high,
            (Value::Enum(enumeration, _), Type::Enum(expected)) => enumeration == expected,
            (Value::Array(array), Type::Array(expected)) => {
                array.ty == *expected
                    && array.cells.keys().all(|index| index.is_in(&expected.index))
                    && array.cells.values().chain([&array.default]).all(|cell| cell.is_in(&expected.element))
            }
            (Value::Record(record, fields), Type::Record(expected)) => {
                record == expected
                    && fields.iter().zip(&expected.fields).all(|(value, (_, field))| value.is_in(field))
                    && expected.is_canonical(fields)
            }
            _ => false,
        }
    }

    pub fn sort(&self) -> Type {
        match self {
            Value::Bool(_) => Type::Bool,
            Value::Int(_) => Type::Int,
            Value::Real(_) => Type::Real,
            Value::String(_) => Type::String,
            Value::Id(name, _) => Type::Id(name.clone()),
            Value::Enum(enumeration, _) => Type::Enum(enumeration.clone()),
            Value::Array(array) => Type::Array(array.ty.clone()),
            Value::Record(record, _) => Type::Record(record.clone()),
        }
    }

    /// Returns the simplest value of the type: the number nearest to 0, `false`, `""`, the first literal.
    pub fn any(ty: &Type) -> Self {
        match ty {
            Type::Bool => Value::Bool(false),
            Type::Int | Type::Nat => Value::Int(IBig::ZERO),
            Type::Range(low, high) => Value::Int(IBig::ZERO.min(high.clone()).max(low.clone())),
            Type::Real => Value::Real(RBig::ZERO),
            Type::String => Value::string(""),
            Type::Id(name) => Value::id(name, "id0"),
            Type::Enum(enumeration) => Value::Enum(enumeration.clone(), 0),
            Type::Array(array) => Value::Array(Arc::new(ArrayValue {
                ty: array.clone(),
                default: Value::any(&array.element),
                cells: BTreeMap::new(),
            })),
            Type::Record(record) => {
                let fields = record.fields.iter().map(|(_, field)| Value::any(field)).collect();
                Value::Record(record.clone(), fields)
            }
        }
    }

    /// Is it [`Value::any`] of the type?
    pub fn is_any(&self, ty: &Type) -> bool {
        match (self, ty) {
            (Value::Record(_, fields), Type::Record(record)) => {
                fields.iter().zip(&record.fields).all(|(value, (_, field))| value.is_any(field))
            }
            (Value::String(text), Type::String) => text.is_empty(),
            _ => *self == Value::any(ty),
        }
    }

    /// All values of a type, in order. `None` if it is not finite, or has more than `limit`.
    pub fn enumerate(ty: &Type, limit: usize) -> Option<Vec<Value>> {
        if ty.cardinality()? > limit {
            return None;
        }
        let values = match ty {
            Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Range(low, _) => {
                (0..ty.cardinality()?).map(|offset| Value::Int(low + IBig::from(offset))).collect()
            }
            Type::Enum(enumeration) => (0..enumeration.literals.len())
                .map(|position| Value::Enum(enumeration.clone(), position))
                .collect(),
            Type::Array(array) => {
                let indices = Value::enumerate(&array.index, limit)?;
                let elements = Value::enumerate(&array.element, limit)?;
                let mut values = Vec::new();
                for tuple in tuples(&vec![elements; indices.len()]) {
                    let cells: BTreeMap<_, _> = indices.iter().cloned().zip(tuple).collect();
                    // Every index has a cell, so the default matters only to `canonical`, which chooses one.
                    let default = Value::any(&array.element);
                    let value = ArrayValue { ty: array.clone(), default, cells };
                    values.push(Value::Array(Arc::new(value.canonical())));
                }
                values
            }
            Type::Record(record) => {
                let mut values = Vec::new();
                // The first field decides which of the others count.
                for first in Value::enumerate(&record.fields[0].1, limit)? {
                    let mut choices = vec![vec![first.clone()]];
                    for (position, (_, field)) in record.fields.iter().enumerate().skip(1) {
                        choices.push(match record.counts(&first, position) {
                            true => Value::enumerate(field, limit)?,
                            false => vec![Value::any(field)],
                        });
                    }
                    let tuples = tuples(&choices).into_iter();
                    values.extend(tuples.map(|tuple| Value::Record(record.clone(), tuple.into())));
                }
                values
            }
            Type::Int | Type::Nat | Type::Real | Type::String | Type::Id(_) => return None,
        };
        Some(values)
    }
}

/// The Cartesian product of the lists, the last one running fastest.
pub fn tuples<T: Clone>(lists: &[Vec<T>]) -> Vec<Vec<T>> {
    let mut product = vec![Vec::new()];
    for list in lists {
        let extend = |prefix: Vec<T>| {
            list.iter().map(move |value| [prefix.as_slice(), std::slice::from_ref(value)].concat())
        };
        product = product.into_iter().flat_map(extend).collect();
    }
    product
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Int(value) => write!(f, "{value}"),
            // With `#`, people read it: a decimal fraction if it is one.
            Value::Real(value) if f.alternate() => f.write_str(&time_text(value)),
            Value::Real(value) => write!(f, "{value}"),
            Value::String(value) | Value::Id(_, value) => crate::quoted::write_quoted(f, value),
            Value::Enum(enumeration, position) => f.write_str(&enumeration.literals[*position]),
            Value::Array(array) => {
                // People read every cell if there are few, unless all are equal.
                let may_show_all = f.alternate() && !array.cells.is_empty();
                let few_indices = Value::enumerate(&array.ty.index, 8).filter(|_| may_show_all);
                let indices: Vec<&Value> = match &few_indices {
                    Some(indices) => indices.iter().collect(),
                    None => array.cells.keys().collect(),
                };
                f.write_str("[")?;
                for (position, index) in indices.into_iter().enumerate() {
                    write!(f, "{}{index}: ", if position > 0 { ", " } else { "" })?;
                    array.get(index).fmt(f)?;
                }
                if few_indices.is_none() {
                    f.write_str(if array.cells.is_empty() { "..: " } else { ", ..: " })?;
                    array.default.fmt(f)?;
                }
                f.write_str("]")
            }
            Value::Record(record, fields) if f.alternate() => {
                record.write(f, fields, &mut |f, value| write!(f, "{value:#}"))
            }
            Value::Record(record, fields) => record.write(f, fields, &mut |f, value| write!(f, "{value}")),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::time::{Duration, Instant};

    use super::*;

    fn array(high: i64, default: i64, cells: &[(i64, i64)]) -> ArrayValue {
        let ty = ArrayType { index: Type::Range(0.into(), high.into()), element: Type::Int };
        let cells = cells.iter().map(|(index, value)| (Value::int(*index), Value::int(*value))).collect();
        ArrayValue { ty: Arc::new(ty), default: Value::int(default), cells }
    }

    #[test]
    fn a_finite_index_type_is_not_enumerated_for_a_few_cells() {
        let begin = Instant::now();
        let one = array(1_000_000_000, 0, &[]).set(Value::int(0), Value::int(5));
        assert_eq!(Value::Array(Arc::new(one)).to_string(), "[0: 5, ..: 0]");
        let few = Value::Array(Arc::new(array(2, 9, &[(0, 5)])));
        assert_eq!([format!("{few:#}"), few.to_string()], ["[0: 5, 1: 9, 2: 9]", "[0: 5, ..: 9]"]);
        assert!(begin.elapsed() < Duration::from_secs(5), "{:?}", begin.elapsed());
    }

    #[test]
    fn equal_maps_over_a_finite_index_type_are_equal_values() {
        // Every map from four indices to three values, in every spelling.
        let mut known: BTreeMap<Vec<i64>, ArrayValue> = BTreeMap::new();
        for spelling in 0..3_i64.pow(5) {
            let digit = |place: u32| spelling / 3_i64.pow(place) % 3;
            let map: Vec<i64> = (0..4).map(digit).collect();
            let default = digit(4);
            let cells: Vec<(i64, i64)> = (0..4).zip(map.iter().copied()).collect();
            let one = array(3, default, &cells).canonical();
            for (index, value) in &cells {
                assert_eq!(one.get(&Value::int(*index)), &Value::int(*value));
            }
            assert_eq!(one.clone().canonical(), one);
            assert_eq!(known.entry(map).or_insert_with(|| one.clone()), &one);
        }
        assert_eq!(known.len(), 81);
    }
}
