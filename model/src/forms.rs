//! Variants, options, lists, sets and maps: record types whose values are written otherwise ([`RecordForm`]).
//!
//! **Problem.** A list of at most eight numbers is a length and eight numbers. `Ok(3)` of a variant is a name
//! and the data of all its alternatives. Every analysis knows records of such parts. But then `[1]` would be
//! as many records as the slots after its end have values, and equality would not be that of lists.
//!
//! **Method.** The first field says which of the other fields count. A field that does not count holds the
//! simplest value of its type ([`Value::any`]). A value that keeps this rule is *canonical*, and other values
//! are in no such type. Generators of values make canonical ones, and [`crate::term::canonical`] says how
//! terms keep the rule.
//!
//! Sets and maps of few keys have a field for each possible key. For a set it says whether the key is in it,
//! for a map it is an option of the value at the key. All of these count, so equality is that of sets and
//! maps if the options are canonical. Sets and maps with a bound have a length and entries in the order of
//! their keys, each key once. So their equality does not depend on the order of insertion.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use dashu_int::IBig;

use crate::types::{Alternative, EnumType, RecordForm, RecordType, Type};
use crate::value::Value;

/// The greatest bound of a list, and the most keys of a set or a map.
pub const MOST_PARTS: usize = 64;

impl RecordType {
    /// `list[most] of element`
    pub fn list(most: usize, element: &Type) -> Self {
        let length = ("len".to_owned(), Type::Range(IBig::ZERO, most.into()));
        let slots = (0..most).map(|at| (format!("at{at}"), element.clone()));
        let fields = std::iter::once(length).chain(slots).collect();
        RecordType { name: format!("list[{most}] of {element}"), fields, form: RecordForm::List }
    }

    /// `option[some]`
    pub fn option(some: &Type) -> Self {
        let fields = vec![("some".to_owned(), Type::Bool), ("value".to_owned(), some.clone())];
        RecordType { name: format!("option[{some}]"), fields, form: RecordForm::Option }
    }

    /// `set[key]`, or `map[key] of value`. `None` if the key's type is not finite, or has too many values.
    pub fn keyed(key: &Type, value: Option<&Type>) -> Option<Self> {
        let keys = Value::enumerate(key, MOST_PARTS)?;
        let (name, part) = match value {
            None => (format!("set[{key}]"), Type::Bool),
            Some(value) => {
                (format!("map[{key}] of {value}"), Type::Record(Arc::new(RecordType::option(value))))
            }
        };
        let field = |key: &Value| format!("at'{}", key.to_string().replace('-', "minus"));
        let fields = keys.iter().map(|key| (field(key), part.clone())).collect();
        Some(RecordType { name, fields, form: RecordForm::Keyed(key.clone()) })
    }

    /// `set[most] of key`, or `map[most] of key to value`
    pub fn entries_of(most: usize, key: &Type, value: Option<&Type>) -> Self {
        let length = ("len".to_owned(), Type::Range(IBig::ZERO, most.into()));
        let entry = |at: usize| {
            let value = value.map(|value| (format!("value{at}"), value.clone()));
            std::iter::once((format!("key{at}"), key.clone())).chain(value)
        };
        let fields = std::iter::once(length).chain((0..most).flat_map(entry)).collect();
        let name = match value {
            None => format!("set[{most}] of {key}"),
            Some(value) => format!("map[{most}] of {key} to {value}"),
        };
        RecordType { name, fields, form: RecordForm::Entries(key.clone(), value.cloned()) }
    }

    /// The type of the set of keys of this set or map.
    pub fn set_of_keys(&self) -> Option<Self> {
        match &self.form {
            RecordForm::Keyed(key) => RecordType::keyed(key, None),
            RecordForm::Entries(key, _) => Some(RecordType::entries_of(self.most()?, key, None)),
            _ => None,
        }
    }

    /// How many fields an element or an entry has. `None` if the first field is not a length.
    pub fn width(&self) -> Option<usize> {
        match &self.form {
            RecordForm::List | RecordForm::Entries(_, None) => Some(1),
            RecordForm::Entries(_, Some(_)) => Some(2),
            _ => None,
        }
    }

    /// The most elements of a list, or entries of a set or a map with a bound.
    pub fn most(&self) -> Option<usize> {
        Some((self.fields.len() - 1) / self.width()?)
    }

    /// The keys of a set or a map without a bound, in the order of the fields.
    pub fn keys(&self) -> Vec<Value> {
        let RecordForm::Keyed(key) = &self.form else { return Vec::new() };
        Value::enumerate(key, MOST_PARTS).unwrap_or_default()
    }

    /// The position of the field of a key in a set or a map.
    pub fn position_of_key(&self, key: &Value) -> Option<usize> {
        match (&self.form, key) {
            (RecordForm::Keyed(Type::Bool), Value::Bool(value)) => Some(usize::from(*value)),
            (RecordForm::Keyed(Type::Enum(of)), Value::Enum(other, at)) if of == other => Some(*at),
            (RecordForm::Keyed(Type::Range(low, high)), Value::Int(value)) if value <= high => {
                usize::try_from(value - low).ok()
            }
            _ => self.keys().iter().position(|known| known == key),
        }
    }

    /// The type of a list's elements.
    pub fn element_type(&self) -> &Type {
        &self.fields[1].1
    }

    /// The type of what an option holds.
    pub fn content_type(&self) -> &Type {
        &self.fields[1].1
    }

    /// The type of a map's values. `None` for a set: its fields are Booleans, where a map's are options.
    pub fn map_value_type(&self) -> Option<&Type> {
        match (&self.form, &self.fields[0].1) {
            (RecordForm::Keyed(_), Type::Record(option)) => Some(option.content_type()),
            (RecordForm::Entries(_, value), _) => value.as_ref(),
            _ => None,
        }
    }

    /// Makes the set or the map of these keys, with the values of a map. `None` if there are too many keys.
    pub fn value_at_keys(self: &Arc<Self>, mut entries: BTreeMap<Value, Option<Value>>) -> Option<Value> {
        if let Some(most) = self.most() {
            let length = Value::int(entries.len());
            let parts = entries.into_iter().flat_map(|(key, value)| std::iter::once(key).chain(value));
            let parts: Vec<Value> = parts.collect();
            return (parts.len() <= most * self.width()?).then(|| self.value_of(length, parts));
        }
        let part = |(key, (_, part)): (Value, &(String, Type))| match (part, entries.remove(&key)) {
            (Type::Record(option), Some(value)) => option.value_of(Value::Bool(true), value),
            (part, entry) => entry.map_or_else(|| Value::any(part), |_| Value::Bool(true)),
        };
        Some(Value::Record(self.clone(), self.keys().into_iter().zip(&self.fields).map(part).collect()))
    }

    /// The keys that a set or a map has, with the values of a map.
    pub fn entries<'a>(&self, fields: &'a [Value]) -> Vec<(Value, Option<&'a Value>)> {
        if let Some(width) = self.width() {
            let counting = (1..fields.len()).step_by(width).take_while(|at| self.counts(&fields[0], *at));
            return counting
                .map(|at| (fields[at].clone(), fields.get(at + 1).filter(|_| width > 1)))
                .collect();
        }
        let entry = |(key, part): (Value, &'a Value)| match part {
            Value::Bool(true) => Some((key, None)),
            Value::Record(_, parts) if parts[0] == Value::Bool(true) => Some((key, Some(&parts[1]))),
            _ => None,
        };
        self.keys().into_iter().zip(fields).filter_map(entry).collect()
    }

    /// The variant of this name, by its alternatives and their fields.
    pub fn variant(name: &str, alternatives: &[(String, Vec<(String, Type)>)]) -> Self {
        let literals = alternatives.iter().map(|(alternative, _)| format!("{name}'{alternative}")).collect();
        let tag = EnumType { name: format!("{name}'is"), literals };
        let mut fields = vec![("is".to_owned(), Type::Enum(Arc::new(tag)))];
        let mut known = Vec::new();
        for (alternative, of) in alternatives {
            known.push(Alternative { name: alternative.clone(), first: fields.len(), count: of.len() });
            fields.extend(of.iter().map(|(field, ty)| (format!("{alternative}'{field}"), ty.clone())));
        }
        RecordType { name: name.to_owned(), fields, form: RecordForm::Variant(known) }
    }

    pub fn is_declared(&self) -> bool {
        matches!(self.form, RecordForm::Plain | RecordForm::Variant(_))
    }

    /// The alternatives of a variant or an option.
    pub fn alternatives(&self) -> Vec<Alternative> {
        match &self.form {
            RecordForm::Variant(alternatives) => alternatives.clone(),
            RecordForm::Option => [("none", 0), ("some", 1)]
                .map(|(name, count)| Alternative { name: name.to_owned(), first: 1, count })
                .to_vec(),
            RecordForm::Plain | RecordForm::List | RecordForm::Keyed(_) | RecordForm::Entries(..) => {
                Vec::new()
            }
        }
    }

    /// The name of the field at this place in the alternative, as the user declared it.
    pub fn field_of(&self, alternative: &Alternative, at: usize) -> &str {
        let name = &self.fields[alternative.first + at].0;
        name.get(alternative.name.len() + 1..).filter(|_| self.form != RecordForm::Option).unwrap_or(name)
    }

    /// The value of the first field, for the alternative of this number.
    pub fn tag(&self, number: usize) -> Value {
        match &self.fields[0].1 {
            Type::Enum(tags) => Value::Enum(tags.clone(), number),
            _ => Value::Bool(number > 0),
        }
    }

    /// Makes the value of the alternative or the list that has this first field and these parts.
    pub fn value_of(self: &Arc<Self>, first: Value, parts: impl IntoIterator<Item = Value>) -> Value {
        let fields = self.filled(first, parts, &|value| value);
        Value::Record(self.clone(), fields.into())
    }

    /// Returns all fields. `known` makes the simplest values for fields that do not count.
    pub(crate) fn filled<T>(
        &self,
        first: Value,
        parts: impl IntoIterator<Item = T>,
        known: &dyn Fn(Value) -> T,
    ) -> Vec<T> {
        let mut parts = parts.into_iter();
        let rest = self.fields.iter().enumerate().skip(1).map(|(at, (_, ty))| {
            let part = if self.counts(&first, at) { parts.next() } else { None };
            part.unwrap_or_else(|| known(Value::any(ty)))
        });
        let rest: Vec<T> = rest.collect();
        std::iter::once(known(first)).chain(rest).collect()
    }

    /// Does the field count in values whose first field this is?
    pub fn counts(&self, first: &Value, at: usize) -> bool {
        let number = match first {
            Value::Bool(value) => usize::from(*value),
            Value::Enum(_, number) => *number,
            Value::Int(length) => usize::try_from(length).unwrap_or(0),
            _ => 0,
        };
        match &self.form {
            _ if at == 0 => true,
            RecordForm::Plain | RecordForm::Keyed(_) => true,
            RecordForm::Variant(known) => {
                known.get(number).is_some_and(|of| (of.first..of.first + of.count).contains(&at))
            }
            RecordForm::Option | RecordForm::List | RecordForm::Entries(_, None) => at <= number,
            RecordForm::Entries(_, Some(_)) => at.div_ceil(2) <= number,
        }
    }

    /// Do all fields that do not count have the simplest value, and do the keys of entries ascend?
    pub fn is_canonical(&self, fields: &[Value]) -> bool {
        let simplest = |at: usize| fields[at].is_any(&self.fields[at].1);
        let ascend = |at: usize| {
            let next = at + self.width().unwrap_or(1);
            next >= fields.len() || !self.counts(&fields[0], next) || fields[at] < fields[next]
        };
        let is_table = matches!(self.form, RecordForm::Entries(..));
        (1..fields.len()).all(|at| self.counts(&fields[0], at) || simplest(at))
            && (!is_table || (1..fields.len()).step_by(self.width().unwrap_or(1)).all(ascend))
    }

    /// Makes the fields canonical: those that do not count become the simplest, and entries are put in order.
    pub fn canonical(&self, mut fields: Vec<Value>) -> Vec<Value> {
        if let RecordForm::Entries(..) = self.form {
            let entries = self.entries(&fields).into_iter();
            let entries: BTreeMap<Value, Option<Value>> =
                entries.map(|(key, value)| (key, value.cloned())).collect();
            let length = Value::int(entries.len());
            let parts = entries.into_iter().flat_map(|(key, value)| std::iter::once(key).chain(value));
            return self.filled(length, parts, &|value| value);
        }
        for at in 1..fields.len() {
            if !self.counts(&fields[0], at) {
                fields[at] = Value::any(&self.fields[at].1);
            }
        }
        fields
    }

    /// The values of the fields that count, without the first field.
    pub fn counting<'a>(&'a self, fields: &'a [Value]) -> impl Iterator<Item = &'a Value> {
        (1..fields.len()).filter(|at| self.counts(&fields[0], *at)).map(|at| &fields[at])
    }

    /// How many values it has, if that is finite and fits.
    pub(crate) fn cardinality(&self) -> Option<usize> {
        let product = |fields: &[(String, Type)]| {
            fields.iter().try_fold(1usize, |product, (_, field)| product.checked_mul(field.cardinality()?))
        };
        let products: Vec<Option<usize>> = match &self.form {
            RecordForm::Entries(..) => return None,
            RecordForm::Plain | RecordForm::Keyed(_) => vec![product(&self.fields)],
            RecordForm::List => (0..self.fields.len()).map(|most| product(&self.fields[1..=most])).collect(),
            RecordForm::Option | RecordForm::Variant(_) => {
                let of = |one: &Alternative| product(&self.fields[one.first..one.first + one.count]);
                self.alternatives().iter().map(of).collect()
            }
        };
        products.into_iter().try_fold(0usize, |sum, part| sum.checked_add(part?))
    }

    /// Writes the value of these fields in the form for places where its type is known. `one` writes a part.
    pub(crate) fn write(
        &self,
        f: &mut dyn fmt::Write,
        fields: &[Value],
        one: &mut dyn FnMut(&mut dyn fmt::Write, &Value) -> fmt::Result,
    ) -> fmt::Result {
        if let RecordForm::Keyed(_) | RecordForm::Entries(..) = self.form {
            let (open, close) = if self.map_value_type().is_some() { ("[", "]") } else { ("{", "}") };
            f.write_str(open)?;
            for (place, (key, value)) in self.entries(fields).into_iter().enumerate() {
                f.write_str(if place == 0 { "" } else { ", " })?;
                one(f, &key)?;
                if let Some(value) = value {
                    f.write_str(": ")?;
                    one(f, value)?;
                }
            }
            return f.write_str(close);
        }
        self.write_parts(f, &fields[0], fields, one)
    }

    /// Writes the fields that count in a value with this first field, with its brackets.
    pub(crate) fn write_parts<T>(
        &self,
        f: &mut dyn fmt::Write,
        first: &Value,
        fields: &[T],
        one: &mut dyn FnMut(&mut dyn fmt::Write, &T) -> fmt::Result,
    ) -> fmt::Result {
        let alternatives = self.alternatives();
        let of = alternatives.iter().enumerate().find(|(number, _)| self.tag(*number) == *first);
        let (open, close) = match (&self.form, of) {
            (RecordForm::Plain, _) => ("{", "}"),
            (_, Some((_, of))) => {
                f.write_str(&of.name)?;
                if of.count == 0 { ("", "") } else { ("(", ")") }
            }
            _ => ("[", "]"),
        };
        f.write_str(open)?;
        let plain = self.form == RecordForm::Plain;
        let shown = (0..fields.len()).filter(|at| plain || *at > 0 && self.counts(first, *at));
        for (place, at) in shown.enumerate() {
            f.write_str(if place == 0 { "" } else { ", " })?;
            if plain {
                write!(f, "{}: ", self.fields[at].0)?;
            }
            one(f, &fields[at])?;
        }
        f.write_str(close)
    }
}

impl Type {
    /// The record type of a list, its bound and the type of its elements.
    pub fn as_list(&self) -> Option<(&Arc<RecordType>, usize, &Type)> {
        match self {
            Type::Record(of) if of.form == RecordForm::List => {
                Some((of, of.fields.len() - 1, of.element_type()))
            }
            _ => None,
        }
    }

    /// The record type of a set or a map, and the type of its keys.
    pub fn as_keyed(&self) -> Option<(&Arc<RecordType>, &Type)> {
        match self {
            Type::Record(of) => match &of.form {
                RecordForm::Keyed(key) | RecordForm::Entries(key, _) => Some((of, key)),
                _ => None,
            },
            _ => None,
        }
    }
}
