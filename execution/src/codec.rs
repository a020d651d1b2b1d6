//! Values as JSON, and back: what adapters put on a wire, what records keep.
//!
//! A Boolean is a Boolean; an integer a number, or its decimal digits as text where it is beyond 2^53, which not every
//! program's numbers hold; a real the same where it is whole, else text: `"1/3"`; a literal of an enumeration its name;
//! a record an object; an array `{"default": v, "cells": [[index, element], ...]}`. Reading accepts a number also as
//! text, and decimals.

use std::collections::BTreeMap;
use std::sync::Arc;

use coreach_model::value::ArrayValue;
use coreach_model::{Type, Value};
use dashu::integer::IBig;
use dashu::rational::RBig;
use serde_json::{Map, Number, Value as Json, json};

/// The largest integer that every program's JSON numbers hold exactly.
const EXACT: i64 = 1 << 53;

/// A value as JSON.
pub fn to_json(value: &Value) -> Json {
    match value {
        Value::Bool(value) => json!(value),
        Value::Int(value) => integer(value),
        Value::Real(value) if value.denominator().is_one() => integer(value.numerator()),
        Value::Real(value) => json!(value.to_string()),
        Value::Enum(enumeration, at) => json!(enumeration.literals[*at]),
        Value::Record(record, fields) => {
            let names = record.fields.iter().map(|(name, _)| name.clone());
            Json::Object(names.zip(fields.iter().map(to_json)).collect::<Map<_, _>>())
        }
        Value::Array(array) => {
            let cells: Vec<Json> = array
                .cells
                .iter()
                .map(|(index, element)| json!([to_json(index), to_json(element)]))
                .collect();
            json!({ "default": to_json(&array.default), "cells": cells })
        }
    }
}

fn integer(value: &IBig) -> Json {
    match i64::try_from(value).ok().filter(|small| (-EXACT..=EXACT).contains(small)) {
        Some(small) => json!(small),
        None => json!(value.to_string()),
    }
}

/// The value of this type that the JSON stands for.
///
/// # Errors
/// It is no value of the type; the text says what was expected and what was there.
pub fn from_json(json: &Json, ty: &Type) -> Result<Value, String> {
    let wrong = || format!("expected a value of type {ty}, not {}", shortened(&json.to_string()));
    let value = match ty {
        Type::Bool => json.as_bool().map(Value::Bool),
        Type::Int | Type::Nat | Type::Range(..) => match json {
            Json::Number(number) => whole(number),
            Json::String(text) => text.trim().parse::<IBig>().ok(),
            _ => None,
        }
        .map(Value::Int),
        Type::Real => match json {
            Json::Number(number) => real(&number.to_string()),
            Json::String(text) => real(text.trim()),
            _ => None,
        }
        .map(Value::Real),
        Type::Enum(enumeration) => json.as_str().and_then(|name| {
            let at = enumeration.literals.iter().position(|literal| literal == name)?;
            Some(Value::Enum(enumeration.clone(), at))
        }),
        Type::Record(record) => {
            let object = json.as_object().filter(|object| object.len() == record.fields.len());
            let object = object.ok_or_else(wrong)?;
            let field = |(name, ty): &(String, Type)| from_json(object.get(name).ok_or_else(wrong)?, ty);
            let fields: Result<Vec<Value>, String> = record.fields.iter().map(field).collect();
            Some(Value::Record(record.clone(), fields?))
        }
        Type::Array(array) => {
            let default = from_json(json.get("default").ok_or_else(wrong)?, &array.element)?;
            let mut cells = BTreeMap::new();
            for cell in json.get("cells").and_then(Json::as_array).ok_or_else(wrong)? {
                let [index, element] = cell.as_array().map(Vec::as_slice).ok_or_else(wrong)? else {
                    return Err(wrong());
                };
                cells.insert(from_json(index, &array.index)?, from_json(element, &array.element)?);
            }
            Some(Value::Array(Arc::new(ArrayValue { ty: array.clone(), default, cells }.canonical())))
        }
    };
    value.filter(|value| value.is_in(ty)).ok_or_else(wrong)
}

/// A value as it stands in plain text (a line template, a field of a form, an option of the command line).
///
/// # Errors
/// As [`from_json`].
pub fn from_text(text: &str, ty: &Type) -> Result<Value, String> {
    let json = match ty {
        Type::Bool => match text.trim() {
            "true" => json!(true),
            "false" => json!(false),
            _ => json!(text),
        },
        Type::Record(_) | Type::Array(_) => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
        _ => json!(text.trim()),
    };
    from_json(&json, ty)
}

/// A value as plain text, read back by [`from_text`].
pub fn to_text(value: &Value) -> String {
    match to_json(value) {
        Json::String(text) => text,
        other => other.to_string(),
    }
}

/// 3 and 3.0 are whole, 3.5 is not.
fn whole(number: &Number) -> Option<IBig> {
    if let Some(small) = number.as_i64() {
        return Some(IBig::from(small));
    }
    let value = real(&number.to_string())?;
    value.denominator().is_one().then(|| value.numerator().clone())
}

/// An exact rational from `12`, `-1.25`, `1e3` or `1/3`.
fn real(text: &str) -> Option<RBig> {
    // No exponent that makes a number of millions of digits.
    const MOST: i32 = 400;
    if let Some((numerator, denominator)) = text.split_once('/') {
        let (numerator, denominator): (IBig, IBig) = (numerator.parse().ok()?, denominator.parse().ok()?);
        return (denominator != IBig::ZERO).then(|| RBig::from(numerator) / RBig::from(denominator));
    }
    let (digits, exponent) = match text.split_once(['e', 'E']) {
        Some((digits, exponent)) => (digits, exponent.parse::<i32>().ok()?),
        None => (text, 0),
    };
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if exponent.abs() > MOST || fraction.starts_with(['+', '-']) {
        return None;
    }
    let mantissa: IBig = format!("{whole}{fraction}").parse().ok()?;
    let scale = exponent - i32::try_from(fraction.len()).ok()?;
    let power = RBig::from(IBig::from(10).pow(scale.unsigned_abs() as usize));
    Some(if scale >= 0 { RBig::from(mantissa) * power } else { RBig::from(mantissa) / power })
}

/// At most so much of a text as fits a message.
pub fn shortened(text: &str) -> String {
    const MOST: usize = 120;
    match text.char_indices().nth(MOST) {
        Some((at, _)) => format!("{}...", &text[..at]),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

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
        ] {
            assert!(from_json(&json, ty).is_err(), "{json} as {ty}");
        }
        assert_eq!(from_json(&json!(3.0), &small), Ok(Value::int(3)));
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
}
