//! The types of data (thesis 4.2, p. 79): what a variable, a constant or a parameter ranges over.
//!
//! `nat` and `int[lo..hi]` are subsets of `int`; everything else is disjoint. A term has a *sort*, which
//! forgets those subsets ([`Type::sort`]): `vPaid - cPrice` of two `nat`s is an `int`. Membership in the
//! subset is an obligation of the transition that assigns (see [`crate::obligation`]), never a property of
//! the expression.
//!
//! An `id` is symbolic identity: what a system hands out and a model only compares, such as the data of a
//! register automaton (Cassel, Howar, Jonsson, Steffen, "Active learning for extended finite state machines",
//! 2016). Its values are texts, of which nothing is known but whether two are the same.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use dashu_int::IBig;

/// The name of the ids that have none of their own.
pub const ID: &str = "id";

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Type {
    Bool,
    Int,
    /// `nat`: `int >= 0`.
    Nat,
    /// `int[low..high]`, both ends included.
    Range(IBig, IBig),
    /// `real`: exact rationals here.
    Real,
    /// `string`: sequences of Unicode scalar values.
    String,
    /// `id`, nominal: by its name under `types:`, or `id` itself.
    Id(Arc<str>),
    /// An enumeration, nominal: two enumerations are one type when name and literals are the same.
    Enum(Arc<EnumType>),
    /// `array[T] of U`: a total map from T to U.
    Array(Arc<ArrayType>),
    Record(Arc<RecordType>),
}

/// An enumeration: its name and its literals in the order of their declaration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct EnumType {
    /// The name under `types:`.
    pub name: String,
    /// The literals; never empty.
    pub literals: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ArrayType {
    /// The index's type; an index outside it is a partial operation.
    pub index: Type,
    pub element: Type,
}

/// A record type: named fields in the order of their declaration.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RecordType {
    /// The name under `types:`.
    pub name: String,
    /// The fields; never empty, names distinct.
    pub fields: Vec<(String, Type)>,
    pub form: RecordForm,
}

/// The kind of a record type: how its values are written, and which of its fields count. The other fields
/// hold the simplest values of their types ([`crate::forms`]).
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum RecordForm {
    Plain,
    /// `[A: { ... }, B]`: the first field says which alternative it is. All fields of that alternative count.
    Variant(Vec<Alternative>),
    /// `option[T]`: the first field says whether the second counts.
    Option,
    /// `list[8] of T`: the first field says how many of the others count.
    List,
    /// `set[K]`, `map[K] of V`: a Boolean or an option for each key of this type; all fields count.
    Keyed(Type),
    /// `set[8] of K`, `map[8] of K to V`: the first field says how many of the keys after it count. In a map
    /// each key is followed by its value. The keys ascend.
    Entries(Type, Option<Type>),
}

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Alternative {
    pub name: String,
    /// The position of its first field.
    pub first: usize,
    pub count: usize,
}

impl Alternative {
    /// The positions of its fields in the record.
    pub fn positions(&self) -> Range<usize> {
        self.first..self.first + self.count
    }
}

impl RecordType {
    /// The position of the field that expressions spell in this way.
    pub fn field(&self, spelled: &str) -> Option<usize> {
        (0..self.fields.len()).find(|position| self.spell_field(*position) == spelled)
    }

    /// Spells a field as in `r.field`. The fields of other forms are not for users: only coreach writes them,
    /// with a `'` at the end.
    pub fn spell_field(&self, position: usize) -> Cow<'_, str> {
        let (name, _) = &self.fields[position];
        match self.form {
            RecordForm::Plain => Cow::Borrowed(name),
            _ => Cow::Owned(format!("{name}'")),
        }
    }
}

impl Type {
    /// The sort of a term of this type: `nat` and ranges become `int`, the rest stays.
    pub fn sort(&self) -> Type {
        match self {
            Type::Nat | Type::Range(..) => Type::Int,
            other => other.clone(),
        }
    }

    /// Is it `int`, `nat` or a range?
    pub fn is_integer(&self) -> bool {
        matches!(self, Type::Int | Type::Nat | Type::Range(..))
    }

    /// Is it a number: an integer type or `real`?
    pub fn is_number(&self) -> bool {
        self.is_integer() || matches!(self, Type::Real)
    }

    /// Does it have an order, so that `<` compares: a number, or a string by its code points?
    pub fn is_ordered(&self) -> bool {
        self.is_number() || matches!(self, Type::String)
    }

    pub fn is_id(&self) -> bool {
        matches!(self, Type::Id(_))
    }

    /// Is it `part`, which is a type without parts, or does it have such a part?
    pub fn contains(&self, part: &Type) -> bool {
        self.has(&|ty| ty == part)
    }

    /// Is it an id, or does it have a part that is one?
    pub fn has_ids(&self) -> bool {
        self.has(&Type::is_id)
    }

    /// Is it a type without parts for which the predicate holds, or does it have such a part?
    pub fn has(&self, predicate: &impl Fn(&Type) -> bool) -> bool {
        match self {
            Type::Array(array) => array.index.has(predicate) || array.element.has(predicate),
            Type::Record(record) => record.fields.iter().any(|(_, field)| field.has(predicate)),
            _ => predicate(self),
        }
    }

    /// How many values the type has, if that is finite and fits.
    pub fn cardinality(&self) -> Option<usize> {
        match self {
            Type::Bool => Some(2),
            Type::Enum(enumeration) => Some(enumeration.literals.len()),
            Type::Range(low, high) => usize::try_from(high - low + IBig::ONE).ok(),
            Type::Int | Type::Nat | Type::Real | Type::String | Type::Id(_) => None,
            Type::Array(array) => {
                let (index, element) = (array.index.cardinality()?, array.element.cardinality()?);
                element.checked_pow(u32::try_from(index).ok()?)
            }
            Type::Record(record) => record.cardinality(),
        }
    }
}

impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Type::Bool => f.write_str("bool"),
            Type::Int => f.write_str("int"),
            Type::Nat => f.write_str("nat"),
            Type::Range(low, high) => write!(f, "int[{low}..{high}]"),
            Type::Real => f.write_str("real"),
            Type::String => f.write_str("string"),
            Type::Id(name) => f.write_str(name),
            Type::Enum(enumeration) => f.write_str(&enumeration.name),
            Type::Array(array) => write!(f, "array[{}] of {}", array.index, array.element),
            Type::Record(record) => f.write_str(&record.name),
        }
    }
}
