//! Values as JSON, and back, for the messages of adapters and for records.
//!
//! A Boolean is a Boolean. An integer is a number, or its decimal digits as text if it is beyond 2^53, since
//! not every program's numbers hold it. A real that is whole is written like an integer, any other as text:
//! `"1/3"`. An implementation is sent the decimals of a real, if it has such. A literal of an enumeration is
//! its name. A string and an id are strings (an id may also be read from a number: the id is the exact text).
//! A record is an object. An array is `{"default": v, "cells": [[index, element], ...]}`. A list is a list of
//! its elements. A value of a variant is the name of its alternative, or `{"Ok": {"value": 3}}` if that has
//! fields. `some(x)` is written like `x`, and `none` is `null`. A set is a list of its keys in any order.
//! A map is an object, with each key as its text.
//!
//! Reading is strict ([`crate::json`], [`crate::number`]). A number of JSON counts by its value: `3`, `3.0`
//! and `3e0` are one integer. In plain text, an integer is its digits, and a real is a number or a fraction.
//! A string or an id is the text itself, also in an option, where only `null` is none. In JSON, a text is not
//! a number if a JSON number holds it exactly: `"3"` is a string. There is no space around a text. A record
//! has its fields and no others. An array has these two keys, and each index once. A set has each key once. A
//! map has each key once, spelled as it is written. Limits are checked before anything is converted, at any
//! depth.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;

use crate::number::{self, NumberError};
use crate::types::{Alternative, RecordForm, RecordType};
use crate::value::ArrayValue;
use crate::{Type, Value};
use dashu_int::IBig;
use dashu_ratio::RBig;
use serde_json::{Map, Value as Json, json};

use crate::excerpt::shortened;
use crate::json::{self, Malformed, Tree};

/// The largest integer that every program's JSON numbers hold exactly.
pub const EXACT: u64 = 1 << 53;

/// Writes a value as JSON for a document.
pub fn to_json(value: &Value) -> Json {
    write_json(value, |real| json!(real.to_string()))
}

/// Writes a value as JSON for the implementation, which may have no fractions.
pub fn to_wire_json(value: &Value) -> Json {
    write_json(value, |real| {
        // The number's text must be exact, not only near.
        let number = json!(real.to_f64().value());
        let is_exact = number::number(&number.to_string(), json::WIRE.digits).is_ok_and(|read| read == *real);
        if is_exact { number } else { json!(number::time_text(real)) }
    })
}

/// Writes a value as JSON. `write_real` writes a real that is no integer.
fn write_json(value: &Value, write_real: fn(&RBig) -> Json) -> Json {
    let to_json = |value: &Value| write_json(value, write_real);
    match value {
        Value::Bool(value) => json!(value),
        Value::Int(value) => integer_to_json(value),
        Value::Real(value) if value.denominator().is_one() => integer_to_json(value.numerator()),
        Value::Real(value) => write_real(value),
        Value::String(value) | Value::Id(_, value) => json!(**value),
        Value::Enum(enumeration, position) => json!(enumeration.literals[*position]),
        Value::Record(record, fields) if record.form != RecordForm::Plain => {
            collection_to_json(record, fields, &to_json)
        }
        Value::Record(record, fields) => {
            let names = record.fields.iter().map(|(name, _)| name.clone());
            Json::Object(names.zip(fields.iter().map(to_json)).collect::<Map<_, _>>())
        }
        Value::Array(array) => {
            let cell = |(index, element)| json!([to_json(index), to_json(element)]);
            let cells: Vec<Json> = array.cells.iter().map(cell).collect();
            json!({ "default": to_json(&array.default), "cells": cells })
        }
    }
}

/// Writes a list, an option, a variant, a set or a map as JSON.
fn collection_to_json(record: &RecordType, fields: &[Value], to_json: &dyn Fn(&Value) -> Json) -> Json {
    if let RecordForm::Keyed(_) | RecordForm::Entries(..) = record.form {
        let entries = record.entries(fields).into_iter();
        return match record.map_value_type() {
            None => entries.map(|(key, _)| to_json(&key)).collect(),
            // Each key of a map has a value.
            Some(_) => Json::Object(
                entries
                    .filter_map(|(key, value)| Some((plain_text(to_json(&key)), to_json(value?))))
                    .collect(),
            ),
        };
    }
    let mut fields_in_use = record.counting(fields).map(to_json);
    match &record.form {
        RecordForm::Option => fields_in_use.next().unwrap_or(Json::Null),
        RecordForm::Variant(_) => match record.alternative_of(&fields[0]) {
            Some(chosen) if chosen.count > 0 => {
                let names = (0..chosen.count).map(|place| record.field_of(&chosen, place).to_owned());
                json!({ chosen.name.clone(): names.zip(fields_in_use).collect::<Map<_, _>>() })
            }
            Some(chosen) => json!(chosen.name),
            None => Json::Null,
        },
        // A list.
        _ => fields_in_use.collect(),
    }
}

/// Writes an integer as a number, or as a text if not every program's numbers hold it.
fn integer_to_json(value: &IBig) -> Json {
    match i64::try_from(value).ok().filter(|small| small.unsigned_abs() <= EXACT) {
        Some(small) => json!(small),
        None => json!(value.to_string()),
    }
}

/// Why something is no value of its type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Misread {
    /// The number has so many digits, or the string so many characters, that it is not read at all.
    TooLong(usize),
    Wrong(String),
}

impl fmt::Display for Misread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Misread::TooLong(digits) => write!(f, "a number or a string of {digits} digits or characters"),
            Misread::Wrong(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for Misread {}

/// Reads a value of this type from a document's JSON.
///
/// # Errors
/// It is no value of the type; the text says what was expected and what was there.
pub fn from_json(json: &Json, ty: &Type) -> Result<Value, Misread> {
    from_tree(&Tree::from(json), ty, json::DOCUMENT.digits)
}

/// The same value in another type, if that type has it. The two types are compared by the JSON of their
/// values: a range, a bound or a name may differ.
pub fn as_type(value: &Value, ty: &Type) -> Option<Value> {
    if value.is_in(ty) { Some(value.clone()) } else { from_json(&to_json(value), ty).ok() }
}

/// Reads a value of this type from JSON whose numbers have at most so many digits. A text is refused where a
/// number of JSON holds the same integer exactly.
pub fn from_tree(tree: &Tree, ty: &Type, digits: usize) -> Result<Value, Misread> {
    if let (Type::Int | Type::Nat | Type::Range(..) | Type::Real, Tree::Text(text)) = (ty, tree)
        && number::integer(text, digits).is_ok_and(|value| integer_to_json(&value).is_number())
    {
        return Err(Misread::Wrong(format!(
            "expected a number, not the text {tree}: write a number without quotes"
        )));
    }
    let is_record = matches!(ty, Type::Record(ty) if ty.form == RecordForm::Plain);
    match read_tree(tree, ty, digits) {
        Err(Misread::Wrong(why)) if is_record && matches!(tree, Tree::Text(_)) => {
            Err(Misread::Wrong(format!("{why}: write a record as an object, without quotes")))
        }
        read => read,
    }
}

/// How the values of this type are written, in brackets: ` (RED, GREEN)`, ` ({"x": ...})`. Empty if the name
/// of the type says it.
fn describe_form(ty: &Type) -> String {
    let sample = |ty: &Type| to_wire_json(&Value::any(ty));
    let form = match ty {
        Type::Enum(enumeration) => enumeration.literals.join(", "),
        Type::Record(record) => match &record.form {
            RecordForm::Plain => write_fields(record.fields.iter().map(|(name, _)| name.as_str())),
            RecordForm::Variant(alternatives) => {
                let mut forms: Vec<String> =
                    alternatives.iter().map(|known| write_alternative(record, known)).collect();
                let last = forms.pop().unwrap_or_default();
                if forms.is_empty() { last } else { format!("{} or {last}", forms.join(", ")) }
            }
            RecordForm::Option => return String::new(),
            RecordForm::List => format!("[{}, ...]", sample(record.element_type())),
            RecordForm::Keyed(key) | RecordForm::Entries(key, _) => match record.map_value_type() {
                None => format!("[{}, ...]", sample(key)),
                Some(value) => format!("{{{:?}: {}, ...}}", plain_text(sample(key)), sample(value)),
            },
        },
        Type::Array(array) => {
            let (index, cell) = (sample(&array.index), sample(&array.element));
            format!("{{\"default\": {cell}, \"cells\": [[{index}, {cell}], ...]}}")
        }
        _ => return String::new(),
    };
    format!(" ({})", shortened(&form))
}

/// Writes an object with these fields, without their values.
fn write_fields<'a>(names: impl Iterator<Item = &'a str>) -> String {
    let fields: Vec<String> = names.map(|name| format!("{name:?}: ...")).collect();
    format!("{{{}}}", fields.join(", "))
}

/// Writes an alternative of a variant, without the values of its fields.
fn write_alternative(record: &RecordType, alternative: &Alternative) -> String {
    match alternative.count {
        0 => format!("{:?}", alternative.name),
        count => {
            let fields = write_fields((0..count).map(|place| record.field_of(alternative, place)));
            format!("{{{:?}: {fields}}}", alternative.name)
        }
    }
}

/// Says in which part of a value something is wrong: "in `[0].prio`, ...". A place that `misread` names
/// already lies within this one, and is put behind it.
fn locate(place: &str, misread: Misread) -> Misread {
    let Misread::Wrong(why) = misread else { return misread };
    Misread::Wrong(match why.strip_prefix("in `") {
        Some(inner) if inner.starts_with('[') => format!("in `{place}{inner}"),
        Some(inner) => format!("in `{place}.{inner}"),
        None => format!("in `{place}`, {why}"),
    })
}

/// Like [`from_tree`], but a text may be any number. The result is in its type.
fn read_tree(tree: &Tree, ty: &Type, digits: usize) -> Result<Value, Misread> {
    let wrong = || {
        let (form, got) = (describe_form(ty), shortened(&tree.to_string()));
        Misread::Wrong(format!("expected a value of type {ty}{form}, not {got}"))
    };
    let number_error = |error| match error {
        NumberError::NoNumber => wrong(),
        NumberError::TooLong(digits) => Misread::TooLong(digits),
    };
    let check_length = |text: &str| match text.chars().count() {
        count if count > digits => Err(Misread::TooLong(count)),
        _ => Ok(()),
    };
    let value = match (ty, tree) {
        (Type::Bool, Tree::Bool(value)) => Value::Bool(*value),
        (Type::Int | Type::Nat | Type::Range(..), Tree::Number(text)) => {
            Value::Int(parse_whole_number(text, digits).map_err(number_error)?)
        }
        (Type::Int | Type::Nat | Type::Range(..), Tree::Text(text)) => {
            Value::Int(number::integer(text, digits).map_err(number_error)?)
        }
        (Type::Real, Tree::Number(text) | Tree::Text(text)) => {
            Value::Real(number::real(text, digits).map_err(number_error)?)
        }
        (Type::String, Tree::Text(text)) => check_length(text).map(|()| Value::string(text))?,
        (Type::Id(name), Tree::Text(text) | Tree::Number(text)) => {
            check_length(text).map(|()| Value::id(name, text))?
        }
        (Type::Enum(enumeration), Tree::Text(name)) => {
            let mut literals = enumeration.literals.iter();
            let position = literals.position(|literal| literal == name).ok_or_else(wrong)?;
            Value::Enum(enumeration.clone(), position)
        }
        (Type::Record(record), tree) if record.form != RecordForm::Plain => {
            return read_collection(record, tree, digits, &wrong);
        }
        (Type::Record(record), Tree::Object(members)) => {
            let is_unknown = |(key, _): &&(String, Tree)| record.fields.iter().all(|(name, _)| name != key);
            if let Some((key, _)) = members.iter().find(is_unknown) {
                return Err(Misread::Wrong(format!("the type {ty} has no field `{}`", shortened(key))));
            }
            let missing = |name: &str| {
                Misread::Wrong(format!("the field `{name}` of the type {} is missing", record.name))
            };
            let field = |(name, ty): &(String, Type)| match tree.get(name) {
                Some(part) => from_tree(part, ty, digits).map_err(|why| locate(name, why)),
                None => absent(ty).ok_or_else(|| missing(name)),
            };
            let fields: Result<Vec<Value>, Misread> = record.fields.iter().map(field).collect();
            Value::Record(record.clone(), fields?.into())
        }
        (Type::Array(array), Tree::Object(members)) if members.len() == 2 => {
            let default = from_tree(tree.get("default").ok_or_else(wrong)?, &array.element, digits)?;
            let Some(Tree::List(list)) = tree.get("cells") else { return Err(wrong()) };
            let mut cells = BTreeMap::new();
            for cell in list {
                let Tree::List(pair) = cell else { return Err(wrong()) };
                let [index, element] = pair.as_slice() else { return Err(wrong()) };
                let index = from_tree(index, &array.index, digits)?;
                if cells.insert(index, from_tree(element, &array.element, digits)?).is_some() {
                    return Err(wrong());
                }
            }
            Value::Array(Arc::new(ArrayValue { ty: array.clone(), default, cells }.canonical()))
        }
        _ => return Err(wrong()),
    };
    if value.is_in(ty) { Ok(value) } else { Err(wrong()) }
}

/// Reads a list, an option, a variant, a set or a map. `wrong` makes the general error.
fn read_collection(
    record: &Arc<RecordType>,
    tree: &Tree,
    digits: usize,
    wrong: &dyn Fn() -> Misread,
) -> Result<Value, Misread> {
    let too_many = |most: usize, count: usize| {
        let elements = if most == 1 { "element" } else { "elements" };
        Misread::Wrong(format!("{} has at most {most} {elements}, and this one has {count}", record.name))
    };
    // The parts are in their types, so the value is in its own.
    match (&record.form, tree) {
        (RecordForm::List, Tree::List(parts)) if parts.len() < record.fields.len() => {
            let mut elements = Vec::new();
            for (at, part) in parts.iter().enumerate() {
                elements.push(read_part(&|| format!("[{at}]"), part, record.element_type(), digits)?);
            }
            Ok(record.value_of(Value::int(parts.len()), elements))
        }
        (RecordForm::List, Tree::List(parts)) => Err(too_many(record.fields.len() - 1, parts.len())),
        (RecordForm::Keyed(key) | RecordForm::Entries(key, _), tree) => {
            let entries = read_entries(record, key, tree, digits, wrong)?;
            let count = entries.len();
            let misfit = || record.most().map_or_else(wrong, |most| too_many(most, count));
            record.make_keyed(entries).ok_or_else(misfit)
        }
        (RecordForm::Option, Tree::Null) => Ok(record.value_of(record.tag(0), [])),
        (RecordForm::Option, some) => match from_tree(some, record.content_type(), digits) {
            // The rule helps against a wrong form, not against a wrong number or a wrong part of the content.
            Err(Misread::Wrong(why)) if !matches!(some, Tree::Number(_)) && !why.starts_with("in `") => {
                let rule = "`some(x)` is written like `x`, and `none` is `null`";
                Err(Misread::Wrong(format!("{why}: {rule}")))
            }
            content => Ok(record.value_of(record.tag(1), [content?])),
        },
        (RecordForm::Variant(alternatives), tree) => read_variant(record, alternatives, tree, digits, wrong),
        _ => Err(wrong()),
    }
}

/// Reads a value of a variant: `"Missing"`, or `{"Ok": {"value": 3}}`. `wrong` makes the general error.
fn read_variant(
    record: &Arc<RecordType>,
    alternatives: &[Alternative],
    tree: &Tree,
    digits: usize,
    wrong: &dyn Fn() -> Misread,
) -> Result<Value, Misread> {
    // The name of the alternative, if the form has one, and the members that may be its fields.
    let (name, members) = match tree {
        Tree::Text(name) => (Some(name), &[][..]),
        Tree::Object(alone) => match alone.as_slice() {
            [(name, Tree::Object(members))] => (Some(name), &members[..]),
            [(name, _)] => (Some(name), &[][..]),
            _ => (None, &[][..]),
        },
        _ => (None, &[][..]),
    };
    let malformed = |chosen: &Alternative| {
        let (form, got) = (write_alternative(record, chosen), shortened(&tree.to_string()));
        Misread::Wrong(format!("expected {form}, not {got}"))
    };
    let number = name.and_then(|name| alternatives.iter().position(|known| known.name == *name));
    let Some(number) = number else {
        // The name may be in another place: `{"type": "Ok", "value": 3}`.
        let Tree::Object(members) = tree else { return Err(wrong()) };
        let is_named = |known: &&Alternative| {
            let is_name = |text: &String| known.name.eq_ignore_ascii_case(text);
            let is_text = |part: &Tree| matches!(part, Tree::Text(text) if is_name(text));
            members.iter().any(|(key, part)| is_name(key) || is_text(part))
        };
        return Err(alternatives.iter().find(is_named).map_or_else(wrong, malformed));
    };
    let chosen = &alternatives[number];
    let is_bare = matches!(tree, Tree::Text(_));
    if members.len() != chosen.count || is_bare != (chosen.count == 0) {
        return Err(malformed(chosen));
    }
    let mut fields = Vec::new();
    for position in chosen.positions() {
        let name = record.field_of(chosen, position - chosen.first);
        let member = members.iter().find(|(key, _)| key == name);
        let (_, part) = member.ok_or_else(|| malformed(chosen))?;
        let place = || format!("{}.{name}", chosen.name);
        fields.push(read_part(&place, part, &record.fields[position].1, digits)?);
    }
    Ok(record.value_of(record.tag(number), fields))
}

/// Returns what a member of this type means that is absent: `none`, if the type is an option.
pub fn absent(ty: &Type) -> Option<Value> {
    let is_option = matches!(ty, Type::Record(record) if record.form == RecordForm::Option);
    is_option.then(|| Value::any(ty))
}

/// Reads a part of a value, which stands at this place.
fn read_part(place: &dyn Fn() -> String, part: &Tree, ty: &Type, digits: usize) -> Result<Value, Misread> {
    from_tree(part, ty, digits).map_err(|why| locate(&place(), why))
}

/// Reads the entries of a set or a map. Each key of a map has its value, and a key of a set has none. `wrong`
/// makes the general error.
fn read_entries(
    record: &RecordType,
    key_type: &Type,
    tree: &Tree,
    digits: usize,
    wrong: &dyn Fn() -> Misread,
) -> Result<BTreeMap<Value, Option<Value>>, Misread> {
    let mut entries: BTreeMap<Value, Option<Value>> = BTreeMap::new();
    match (tree, record.map_value_type()) {
        (Tree::List(keys), None) => {
            for (at, key) in keys.iter().enumerate() {
                let key = read_part(&|| format!("[{at}]"), key, key_type, digits)?;
                let shown = shortened(&to_text(&key));
                if entries.insert(key, None).is_some() {
                    let why = format!("a set has each element once, and `{shown}` is here twice");
                    return Err(Misread::Wrong(why));
                }
            }
        }
        (Tree::Object(members), Some(value_type)) => {
            for (text, member) in members {
                let place = || format!("[{}]", shortened(text));
                let key = from_text(text, key_type).map_err(|why| locate(&place(), why))?;
                // A key has one spelling. A real is compared by its value.
                let spelled = plain_text(to_json(&key));
                if !matches!(key, Value::Real(_)) && spelled != *text {
                    let why = format!("the key {text:?} of a map is written {spelled:?}");
                    return Err(Misread::Wrong(why));
                }
                let value = read_part(&place, member, value_type, digits)?;
                if entries.insert(key, Some(value)).is_some() {
                    return Err(wrong());
                }
            }
        }
        (Tree::List(_), Some(_)) => {
            let why = "a map is a JSON object, as in `{\"a\": 1}`, and this is a list";
            return Err(Misread::Wrong(why.to_owned()));
        }
        (Tree::Object(_), None) => {
            let why = "a set is a JSON list, as in `[1, 2]`, and this is an object";
            return Err(Misread::Wrong(why.to_owned()));
        }
        _ => return Err(wrong()),
    }
    Ok(entries)
}

/// Reads a value from plain text (a line template, a field of a form, an option of the command line). Nothing
/// may stand around it, and a record or an array is JSON.
pub fn from_text(text: &str, ty: &Type) -> Result<Value, Misread> {
    let limits = json::WIRE;
    if let Type::Record(option) = ty
        && option.form == RecordForm::Option
        && let Type::String | Type::Id(_) = option.content_type()
        && text != "null"
    {
        // Any other text is the content, also one that is JSON.
        return Ok(option.value_of(option.tag(1), vec![from_text(text, option.content_type())?]));
    }
    let tree = match ty {
        Type::Bool if text == "true" => Tree::Bool(true),
        Type::Bool if text == "false" => Tree::Bool(false),
        Type::Record(_) | Type::Array(_) => match json::parse(text, limits) {
            Ok(tree) => tree,
            Err(Malformed::TooLong(digits)) => return Err(Misread::TooLong(digits)),
            Err(_) => Tree::Text(text.to_owned()),
        },
        _ => Tree::Text(text.to_owned()),
    };
    read_tree(&tree, ty, limits.digits)
}

/// Writes a value as plain text, which [`from_text`] reads back.
pub fn to_text(value: &Value) -> String {
    match value {
        Value::Real(value) => number::time_text(value),
        other => plain_text(to_wire_json(other)),
    }
}

fn plain_text(json: Json) -> String {
    match json {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// Reads an integer that may be written as a fraction: 3, 3.0 and 3e0 are whole, 3.5 is not.
fn parse_whole_number(text: &str, digits: usize) -> Result<IBig, NumberError> {
    if let Ok(value) = number::integer(text, digits) {
        return Ok(value);
    }
    let value = number::number(text, digits)?;
    if value.denominator().is_one() { Ok(value.numerator().clone()) } else { Err(NumberError::NoNumber) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;
    use crate::types::EnumType;

    #[test]
    fn integers_keep_their_value_at_any_size() {
        for text in
            ["0", "-7", "9007199254740992", "9007199254740993", "-170141183460469231731687303715884105728"]
        {
            let value = Value::Int(text.parse().unwrap());
            assert_eq!(from_json(&to_json(&value), &Type::Int), Ok(value.clone()), "{text}");
            assert_eq!(from_text(&to_text(&value), &Type::Int), Ok(value), "{text}");
        }
    }

    #[test]
    fn a_value_outside_its_type_is_refused() {
        let small = Type::Range(IBig::from(0), IBig::from(3));
        for (json, ty) in [
            (json!(4), &small),
            (json!(-1), &Type::Nat),
            (json!(1.5), &Type::Int),
            (json!("x"), &Type::Int),
            (json!(1), &Type::Bool),
            (json!(null), &Type::Real),
            (json!("1/0"), &Type::Real),
            (json!("1e999999999"), &Type::Real),
            // A value that a number holds exactly is refused as a text.
            (json!("1"), &Type::Int),
            (json!("-3"), &Type::Real),
            (json!("9007199254740992"), &Type::Nat),
        ] {
            assert!(from_json(&json, ty).is_err(), "{json} as {ty}");
        }
        let literals = ["KIM", "LEO"].map(str::to_owned).to_vec();
        let bidder = Type::Enum(Arc::new(EnumType { name: "Bidder".to_owned(), literals }));
        let why = "expected a value of type Bidder (KIM, LEO), not \"BOB\"";
        assert_eq!(from_json(&json!("BOB"), &bidder), Err(Misread::Wrong(why.to_owned())));
        assert_eq!(from_json(&json!(3.0), &small), Ok(Value::int(3)));
        assert_eq!(from_text("3", &small), Ok(Value::int(3)));
    }

    #[test]
    fn reals_are_exact() {
        for (json, text) in
            [(json!(0.5), "1/2"), (json!("1/3"), "1/3"), (json!(-1.25e1), "-25/2"), (json!(7), "7")]
        {
            let value = from_json(&json, &Type::Real).unwrap();
            assert_eq!(value.to_string(), text);
            assert_eq!(from_json(&to_json(&value), &Type::Real), Ok(value));
        }
    }

    #[test]
    fn an_implementation_is_sent_decimals() {
        for (real, text, wire) in [
            ("29/100", "0.29", "0.29"),
            ("1495/512", "2.919921875", "2.919921875"),
            ("-1/10", "-0.1", "-0.1"),
            ("7", "7", "7"),
            ("1/3", "1/3", "\"1/3\""),
            // No program's binary number has these decimals.
            ("1.00000000000000000001", "1.00000000000000000001", "\"1.00000000000000000001\""),
        ] {
            let value = from_text(real, &Type::Real).unwrap();
            assert_eq!(to_text(&value), text);
            assert_eq!(to_wire_json(&value).to_string(), wire);
            assert_eq!(from_text(text, &Type::Real), Ok(value));
        }
    }
}
