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
        let slots = (0..most).map(|slot| (format!("at{slot}"), element.clone()));
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
        let entry = |number: usize| {
            let value = value.map(|value| (format!("value{number}"), value.clone()));
            std::iter::once((format!("key{number}"), key.clone())).chain(value)
        };
        let fields = std::iter::once(length).chain((0..most).flat_map(entry)).collect();
        let name = match value {
            None => format!("set[{most}] of {key}"),
            Some(value) => format!("map[{most}] of {key} to {value}"),
        };
        RecordType { name, fields, form: RecordForm::Entries(key.clone(), value.cloned()) }
    }

    /// The type of the set of keys of this set or map. `None` for other types.
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

    /// The most elements of a list, or entries of a set or a map with a bound. `None` for other types.
    pub fn most(&self) -> Option<usize> {
        Some((self.fields.len() - 1) / self.width()?)
    }

    /// The keys of a set or a map without a bound, in the order of the fields. Other types have none.
    pub fn keys(&self) -> Vec<Value> {
        let RecordForm::Keyed(key) = &self.form else { return Vec::new() };
        Value::enumerate(key, MOST_PARTS).unwrap_or_default()
    }

    /// The position of the field of a key in a set or a map without a bound. `None` if the key is not in the
    /// key type.
    pub fn position_of_key(&self, key: &Value) -> Option<usize> {
        match (&self.form, key) {
            // The fields have the order of the keys, so a key of these types is found without a search.
            (RecordForm::Keyed(Type::Bool), Value::Bool(value)) => Some(usize::from(*value)),
            (RecordForm::Keyed(Type::Enum(ty)), Value::Enum(own, position)) if ty == own => Some(*position),
            // A key below the range has no position: `try_from` refuses negative numbers.
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

    /// Makes the set of these keys, or the map of them with their values. `None` if there are more keys than
    /// the bound, if it has one. Without a bound, the caller knows that they are in the key type.
    pub fn make_keyed(self: &Arc<Self>, mut entries: BTreeMap<Value, Option<Value>>) -> Option<Value> {
        if let Some(most) = self.most() {
            let are_few = entries.len() <= most;
            return are_few.then(|| self.value_of(Value::int(entries.len()), list_entry_parts(entries)));
        }
        let field = |(key, (_, ty)): (Value, &(String, Type))| match (entries.remove(&key), ty) {
            (None, _) => Value::any(ty),
            // A map has an option for each key, and a set a truth value.
            (Some(value), Type::Record(option)) => option.value_of(Value::Bool(true), value),
            (Some(_), _) => Value::Bool(true),
        };
        let fields = self.keys().into_iter().zip(&self.fields).map(field).collect();
        Some(Value::Record(self.clone(), fields))
    }

    /// Returns the keys that a set or a map has. Each has its value in a map, and `None` in a set.
    pub fn entries<'a>(&self, fields: &'a [Value]) -> Vec<(Value, Option<&'a Value>)> {
        // With a bound: the first field is the length. Otherwise each key has a field.
        if let Some(width) = self.width() {
            let entries = fields[1..].chunks(width).take(number_in(&fields[0]));
            return entries.map(|entry| (entry[0].clone(), entry.get(1))).collect();
        }
        let entry = |(key, field): (Value, &'a Value)| match field {
            Value::Bool(true) => Some((key, None)),
            Value::Record(_, option) if option[0] == Value::Bool(true) => Some((key, Some(&option[1]))),
            _ => None,
        };
        self.keys().into_iter().zip(fields).filter_map(entry).collect()
    }

    /// The variant of this name, by its alternatives and their fields.
    pub fn variant(name: &str, alternatives: &[(String, Vec<(String, Type)>)]) -> Self {
        let literals = alternatives.iter().map(|(alternative, _)| format!("{name}'{alternative}")).collect();
        let tag = EnumType { name: format!("{name}'is"), literals };
        let mut fields = vec![("is".to_owned(), Type::Enum(Arc::new(tag)))];
        let mut with_positions = Vec::new();
        for (alternative, own_fields) in alternatives {
            let (first, count) = (fields.len(), own_fields.len());
            with_positions.push(Alternative { name: alternative.clone(), first, count });
            fields
                .extend(own_fields.iter().map(|(field, ty)| (format!("{alternative}'{field}"), ty.clone())));
        }
        RecordType { name: name.to_owned(), fields, form: RecordForm::Variant(with_positions) }
    }

    pub fn is_declared(&self) -> bool {
        matches!(self.form, RecordForm::Plain | RecordForm::Variant(_))
    }

    /// The alternatives of a variant or an option. Other types have none.
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
    pub fn field_of(&self, alternative: &Alternative, place: usize) -> &str {
        let (name, _) = &self.fields[alternative.first + place];
        if self.form == RecordForm::Option {
            return name;
        }
        // A variant puts the name of the alternative and a sign before it.
        name.get(alternative.name.len() + 1..).unwrap_or(name)
    }

    /// The alternative of a variant or an option whose values have this first field. `None` for other types.
    pub(crate) fn alternative_of(&self, tag: &Value) -> Option<Alternative> {
        self.alternatives().into_iter().nth(number_in(tag))
    }

    /// The value of the first field, for the alternative of this number.
    pub fn tag(&self, number: usize) -> Value {
        match &self.fields[0].1 {
            Type::Enum(tags) => Value::Enum(tags.clone(), number),
            _ => Value::Bool(number > 0),
        }
    }

    /// Makes the value that has this first field, and these parts in the fields that count.
    pub fn value_of(self: &Arc<Self>, first: Value, parts: impl IntoIterator<Item = Value>) -> Value {
        let fields = self.fill_fields(first, parts, &|value| value);
        Value::Record(self.clone(), fields.into())
    }

    /// Returns all fields: the first one, these parts in the fields that count, and the simplest values in
    /// the others. `make` turns a value into a field.
    pub(crate) fn fill_fields<T>(
        &self,
        first: Value,
        parts: impl IntoIterator<Item = T>,
        make: &dyn Fn(Value) -> T,
    ) -> Vec<T> {
        let mut parts = parts.into_iter();
        let mut fields = vec![make(first.clone())];
        for (position, (_, ty)) in self.fields.iter().enumerate().skip(1) {
            let part = if self.counts(&first, position) { parts.next() } else { None };
            fields.push(part.unwrap_or_else(|| make(Value::any(ty))));
        }
        fields
    }

    /// Does the field at this position count in values whose first field this is?
    pub fn counts(&self, first: &Value, position: usize) -> bool {
        let number = number_in(first);
        match &self.form {
            _ if position == 0 => true,
            RecordForm::Plain | RecordForm::Keyed(_) => true,
            RecordForm::Variant(alternatives) => {
                alternatives.get(number).is_some_and(|chosen| chosen.positions().contains(&position))
            }
            RecordForm::Option | RecordForm::List | RecordForm::Entries(_, None) => position <= number,
            // A key and its value are one entry.
            RecordForm::Entries(_, Some(_)) => position.div_ceil(2) <= number,
        }
    }

    /// Do all fields that do not count have the simplest value, and do the keys of entries ascend?
    pub fn is_canonical(&self, fields: &[Value]) -> bool {
        let counts = |position: usize| self.counts(&fields[0], position);
        let is_simplest = |position: usize| fields[position].is_any(&self.fields[position].1);
        let ascend = |entries: Vec<(Value, _)>| entries.is_sorted_by(|(key, _), (next, _)| key < next);
        (1..fields.len()).all(|position| counts(position) || is_simplest(position))
            && (!matches!(self.form, RecordForm::Entries(..)) || ascend(self.entries(fields)))
    }

    /// Makes the fields canonical: those that do not count become the simplest, and entries are put in order.
    pub fn canonical(&self, mut fields: Vec<Value>) -> Vec<Value> {
        if let RecordForm::Entries(..) = self.form {
            let entries = self.entries(&fields).into_iter().map(|(key, value)| (key, value.cloned()));
            let in_order = BTreeMap::from_iter(entries);
            return self.fill_fields(Value::int(in_order.len()), list_entry_parts(in_order), &|value| value);
        }
        for position in 1..fields.len() {
            if !self.counts(&fields[0], position) {
                fields[position] = Value::any(&self.fields[position].1);
            }
        }
        fields
    }

    /// The values of the fields that count, without the first field.
    pub fn counting<'a>(&'a self, fields: &'a [Value]) -> impl Iterator<Item = &'a Value> {
        let positions = (1..fields.len()).filter(|position| self.counts(&fields[0], *position));
        positions.map(|position| &fields[position])
    }

    /// How many values it has, if that is finite and fits.
    pub(crate) fn cardinality(&self) -> Option<usize> {
        let product = |fields: &[(String, Type)]| {
            fields.iter().try_fold(1usize, |product, (_, field)| product.checked_mul(field.cardinality()?))
        };
        let products: Vec<Option<usize>> = match &self.form {
            // These are not counted.
            RecordForm::Entries(..) => return None,
            RecordForm::Plain | RecordForm::Keyed(_) => vec![product(&self.fields)],
            // The lists of each length.
            RecordForm::List => {
                (0..self.fields.len()).map(|length| product(&self.fields[1..=length])).collect()
            }
            RecordForm::Option | RecordForm::Variant(_) => {
                self.alternatives().iter().map(|own| product(&self.fields[own.positions()])).collect()
            }
        };
        products.into_iter().try_fold(0usize, |sum, part| sum.checked_add(part?))
    }

    /// Writes the value of these fields in the form for places where its type is known.
    pub(crate) fn write(
        &self,
        f: &mut dyn fmt::Write,
        fields: &[Value],
        write_part: &mut dyn FnMut(&mut dyn fmt::Write, &Value) -> fmt::Result,
    ) -> fmt::Result {
        if let RecordForm::Keyed(_) | RecordForm::Entries(..) = self.form {
            let (open, close) = if self.map_value_type().is_some() { ("[", "]") } else { ("{", "}") };
            f.write_str(open)?;
            for (place, (key, value)) in self.entries(fields).into_iter().enumerate() {
                f.write_str(if place == 0 { "" } else { ", " })?;
                write_part(f, &key)?;
                if let Some(value) = value {
                    f.write_str(": ")?;
                    write_part(f, value)?;
                }
            }
            return f.write_str(close);
        }
        self.write_parts(f, &fields[0], fields, write_part)
    }

    /// Writes the fields that count in a value with this first field, with its brackets.
    pub(crate) fn write_parts<T>(
        &self,
        f: &mut dyn fmt::Write,
        first: &Value,
        fields: &[T],
        write_part: &mut dyn FnMut(&mut dyn fmt::Write, &T) -> fmt::Result,
    ) -> fmt::Result {
        let is_plain = self.form == RecordForm::Plain;
        let (open, close) = match self.alternative_of(first) {
            Some(alternative) => {
                f.write_str(&alternative.name)?;
                if alternative.count == 0 { ("", "") } else { ("(", ")") }
            }
            None if is_plain => ("{", "}"),
            // A list.
            None => ("[", "]"),
        };
        f.write_str(open)?;
        // Only in a plain record the first field is a part.
        let is_shown = |position: &usize| is_plain || (*position > 0 && self.counts(first, *position));
        for (place, position) in (0..fields.len()).filter(is_shown).enumerate() {
            f.write_str(if place == 0 { "" } else { ", " })?;
            if is_plain {
                write!(f, "{}: ", self.fields[position].0)?;
            }
            write_part(f, &fields[position])?;
        }
        f.write_str(close)
    }
}

/// Returns the number that a first field holds: of its alternative, or of the elements or entries.
fn number_in(first: &Value) -> usize {
    match first {
        Value::Bool(value) => usize::from(*value),
        Value::Enum(_, number) => *number,
        Value::Int(length) => usize::try_from(length).unwrap_or(0),
        _ => 0,
    }
}

/// The keys of entries in order, in a map each with its value after it.
fn list_entry_parts(entries: BTreeMap<Value, Option<Value>>) -> impl Iterator<Item = Value> {
    entries.into_iter().flat_map(|(key, value)| std::iter::once(key).chain(value))
}

impl Type {
    /// Returns the record type of a list, its bound and the type of its elements. `None` for other types.
    pub fn as_list(&self) -> Option<(&Arc<RecordType>, usize, &Type)> {
        match self {
            Type::Record(ty) if ty.form == RecordForm::List => {
                Some((ty, ty.fields.len() - 1, ty.element_type()))
            }
            _ => None,
        }
    }

    /// Returns the record type of a set or a map, and the type of its keys. `None` for other types.
    pub fn as_keyed(&self) -> Option<(&Arc<RecordType>, &Type)> {
        match self {
            Type::Record(ty) => match &ty.form {
                RecordForm::Keyed(key) | RecordForm::Entries(key, _) => Some((ty, key)),
                _ => None,
            },
            _ => None,
        }
    }
}
