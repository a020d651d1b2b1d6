//! The oracle's own types and values: the elements of DOM(t) as `docs/reference/model-format.md` names them.
//!
//! Written from that page and nothing else. Numbers are rationals in words of 128 bits; the models here are
//! so small that a number beyond them is a mistake of the oracle's, which says so and stops. Arrays have
//! finitely many indices and know the value of each, so two arrays are equal where all their cells are.

use std::cmp::Ordering;
use std::fmt;
use std::rc::Rc;

/// A rational number in lowest terms, with a positive denominator.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Number {
    numerator: i128,
    denominator: i128,
}

fn word(value: Option<i128>) -> i128 {
    let Some(value) = value else { panic!("a number is beyond the words of the oracle") };
    value
}

fn divisor(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { divisor(b, a % b) }
}

impl Number {
    /// An integer.
    pub fn integer(value: i128) -> Self {
        Number { numerator: value, denominator: 1 }
    }

    /// The quotient of two integers; the second is not 0.
    pub fn quotient(numerator: i128, denominator: i128) -> Self {
        let common = word(divisor(numerator, denominator).checked_abs());
        let sign = if denominator < 0 { -1 } else { 1 };
        Number { numerator: sign * (numerator / common), denominator: sign * (denominator / common) }
    }

    /// The number as an integer, where it is one.
    pub fn as_integer(self) -> Option<i128> {
        (self.denominator == 1).then_some(self.numerator)
    }

    /// Is it 0?
    pub fn is_zero(self) -> bool {
        self.numerator == 0
    }

    /// The sum.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        let left = word(self.numerator.checked_mul(other.denominator));
        let right = word(other.numerator.checked_mul(self.denominator));
        let below = word(self.denominator.checked_mul(other.denominator));
        Number::quotient(word(left.checked_add(right)), below)
    }

    /// The negative.
    #[must_use]
    pub fn negative(self) -> Self {
        Number { numerator: word(self.numerator.checked_neg()), ..self }
    }

    /// The product.
    #[must_use]
    pub fn times(self, other: Self) -> Self {
        let above = word(self.numerator.checked_mul(other.numerator));
        Number::quotient(above, word(self.denominator.checked_mul(other.denominator)))
    }

    /// The quotient; nothing for a division by 0.
    pub fn over(self, other: Self) -> Option<Self> {
        if other.is_zero() {
            return None;
        }
        let above = word(self.numerator.checked_mul(other.denominator));
        Some(Number::quotient(above, word(self.denominator.checked_mul(other.numerator))))
    }

    /// `div` and `mod`: the remainder lies from 0 up to the divisor's size. Nothing for a division by 0.
    pub fn euclid(self, other: Self) -> Option<(Self, Self)> {
        let (Some(a), Some(b)) = (self.as_integer(), other.as_integer()) else {
            panic!("div and mod are of integers: {self} and {other}")
        };
        if b == 0 {
            return None;
        }
        let size = b.abs();
        let remainder = ((a % size) + size) % size;
        let quotient = (a - remainder) / b;
        Some((Number::integer(quotient), Number::integer(remainder)))
    }
}

impl PartialOrd for Number {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Number {
    fn cmp(&self, other: &Self) -> Ordering {
        let left = word(self.numerator.checked_mul(other.denominator));
        left.cmp(&word(other.numerator.checked_mul(self.denominator)))
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.as_integer() {
            Some(value) => write!(f, "{value}"),
            None => write!(f, "{}/{}", self.numerator, self.denominator),
        }
    }
}

/// A type of the model format.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// `bool`
    Bool,
    /// `int`
    Int,
    /// `nat`
    Nat,
    /// `int[lo..hi]`
    Range(i128, i128),
    /// `real`
    Real,
    /// `string`, of which brute force looks at those of [`STRINGS`] only: models take no others.
    Text,
    /// `id`, likewise those of [`IDS`].
    Id,
    /// An enumeration's literals.
    Enumeration(Rc<[Rc<str>]>),
    /// An array.
    Array(Rc<ArrayType>),
    /// A record's fields, and which of them count.
    Record(Rc<[(Rc<str>, Type)]>, Counting),
}

/// Which fields of a record count, by the value of the first; the others have the simplest value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Counting {
    /// All.
    All,
    /// All: a set or a map, with a field for each key, whose name ends with it.
    Keys,
    /// So many as the first says: a list.
    Many,
    /// The second where the first says so: an option.
    One,
    /// Those from one place to another, by the literal of the first: a variant.
    Of(Rc<[(Rc<str>, std::ops::Range<usize>)]>),
}

impl Counting {
    fn counts(&self, first: &Value, at: usize) -> bool {
        match (self, first) {
            (Counting::Many, Value::Number(length)) => {
                length.as_integer().is_some_and(|length| at as i128 <= length)
            }
            (Counting::One, Value::Bool(value)) => *value || at == 0,
            (Counting::Of(alternatives), Value::Literal(tag)) => {
                at == 0 || alternatives.iter().any(|(known, of)| known == tag && of.contains(&at))
            }
            _ => true,
        }
    }
}

/// `array[index] of element`
#[derive(PartialEq, Eq, Debug)]
pub struct ArrayType {
    /// What it is indexed by.
    pub index: Type,
    /// All of its values.
    pub indices: Vec<Value>,
    /// What it holds.
    pub element: Type,
}

/// The strings that messages and constants of a random model carry.
pub const STRINGS: [&str; 3] = ["", "a", "b\u{e9}"];

/// The ids that messages and constants of a random model carry; the first stands where none counts.
pub const IDS: [&str; 3] = ["id0", "a", "17"];

/// A value.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Value {
    /// A truth value.
    Bool(bool),
    /// A number, of any numerical type.
    Number(Number),
    /// A string, or an id.
    Text(Rc<str>),
    /// A literal of an enumeration.
    Literal(Rc<str>),
    /// An array.
    Array(Array),
    /// A record's fields, by name.
    Record(Rc<[(Rc<str>, Value)]>),
}

/// An array: the value at each index, in the order of the indices.
#[derive(Clone, Debug)]
pub struct Array {
    /// Its type.
    pub ty: Rc<ArrayType>,
    /// Its cells.
    pub cells: Rc<[Value]>,
}

impl PartialEq for Array {
    fn eq(&self, other: &Self) -> bool {
        self.cells == other.cells
    }
}

impl Eq for Array {}

impl std::hash::Hash for Array {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.cells.hash(state);
    }
}

impl PartialOrd for Array {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Array {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cells.cmp(&other.cells)
    }
}

impl Value {
    /// An integer.
    pub fn integer(value: i128) -> Self {
        Value::Number(Number::integer(value))
    }

    /// Does it lie in the type?
    pub fn is_in(&self, ty: &Type) -> bool {
        match (self, ty) {
            (Value::Bool(_), Type::Bool)
            | (Value::Number(_), Type::Real)
            | (Value::Text(_), Type::Text | Type::Id) => true,
            (Value::Number(number), Type::Int) => number.as_integer().is_some(),
            (Value::Number(number), Type::Nat) => number.as_integer().is_some_and(|value| value >= 0),
            (Value::Number(number), Type::Range(low, high)) => {
                number.as_integer().is_some_and(|value| *low <= value && value <= *high)
            }
            (Value::Literal(literal), Type::Enumeration(literals)) => literals.contains(literal),
            (Value::Array(array), Type::Array(ty)) => {
                array.cells.len() == ty.indices.len()
                    && array.cells.iter().all(|value| value.is_in(&ty.element))
            }
            (Value::Record(values), Type::Record(fields, counting)) => {
                values.len() == fields.len()
                    && values.iter().zip(fields.iter()).enumerate().all(|(at, ((_, value), (_, ty)))| {
                        value.is_in(ty) && (counting.counts(&values[0].1, at) || *value == ty.simplest())
                    })
            }
            _ => false,
        }
    }
}

impl Type {
    /// All values, or nothing where there are more than `limit`.
    pub fn values(&self, limit: usize) -> Option<Vec<Value>> {
        let values = match self {
            Type::Bool => vec![Value::Bool(false), Value::Bool(true)],
            Type::Int | Type::Nat | Type::Real => return None,
            Type::Id => IDS.map(|text| Value::Text(text.into())).to_vec(),
            Type::Text => STRINGS.map(|text| Value::Text(text.into())).to_vec(),
            Type::Range(low, high) => {
                let size = usize::try_from(high.checked_sub(*low)?).ok()?;
                if size >= limit {
                    return None;
                }
                (*low..=*high).map(Value::integer).collect()
            }
            Type::Enumeration(literals) => literals.iter().cloned().map(Value::Literal).collect(),
            Type::Array(ty) => {
                let of = ty.element.values(limit)?;
                let array = |cells: Vec<Value>| Value::Array(Array { ty: ty.clone(), cells: cells.into() });
                tuples(vec![of; ty.indices.len()], limit)?.into_iter().map(array).collect()
            }
            Type::Record(fields, _) => {
                let lists: Option<Vec<_>> = fields.iter().map(|(_, ty)| ty.values(limit)).collect();
                let all = tuples(lists?, limit)?.into_iter().map(|values| self.record(values));
                all.filter(|value| value.is_in(self)).collect()
            }
        };
        (values.len() <= limit).then_some(values)
    }
}

impl Type {
    /// The record of these fields; those that are not given have the simplest values.
    pub fn record(&self, given: Vec<Value>) -> Value {
        let Type::Record(fields, _) = self else { panic!("{self:?} is no record") };
        let mut given = given.into_iter();
        let filled =
            fields.iter().map(|(name, ty)| (name.clone(), given.next().unwrap_or_else(|| ty.simplest())));
        Value::Record(filled.collect())
    }

    /// The value that stands where none counts.
    pub fn simplest(&self) -> Value {
        match self {
            Type::Bool => Value::Bool(false),
            Type::Int | Type::Nat | Type::Real => Value::integer(0),
            Type::Range(low, high) => Value::integer(0.clamp(*low, *high)),
            Type::Text => Value::Text("".into()),
            Type::Id => Value::Text(IDS[0].into()),
            Type::Enumeration(literals) => Value::Literal(literals[0].clone()),
            Type::Array(ty) => {
                let cells = vec![ty.element.simplest(); ty.indices.len()];
                Value::Array(Array { ty: ty.clone(), cells: cells.into() })
            }
            Type::Record(..) => self.record(Vec::new()),
        }
    }
}

/// One of each list, in all ways; nothing where these are more than `limit`.
pub fn tuples<T: Clone>(lists: Vec<Vec<T>>, limit: usize) -> Option<Vec<Vec<T>>> {
    let mut found: Vec<Vec<T>> = vec![Vec::new()];
    for list in lists {
        if found.len().saturating_mul(list.len()) > limit {
            return None;
        }
        let longer = found.iter().flat_map(|tuple| {
            list.iter().map(move |value| tuple.iter().chain([value]).cloned().collect::<Vec<T>>())
        });
        found = longer.collect();
    }
    Some(found)
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Bool(value) => write!(f, "{value}"),
            Value::Number(value) => write!(f, "{value}"),
            Value::Text(value) => write!(f, "{value:?}"),
            Value::Literal(value) => f.write_str(value),
            Value::Array(array) => {
                let cells: Vec<String> = array.cells.iter().map(ToString::to_string).collect();
                write!(f, "[{}]", cells.join(", "))
            }
            Value::Record(fields) => {
                let fields: Vec<String> =
                    fields.iter().map(|(name, value)| format!("{name}: {value}")).collect();
                write!(f, "{{{}}}", fields.join(", "))
            }
        }
    }
}

// In findings, `{:?}` shows what a reader of the model would write.
impl fmt::Debug for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl fmt::Debug for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
