//! Reads JSON with places: the tree of `jsonc-parser` in its strict form, with texts as [`Piece`]s.
//!
//! All extensions of that library are off, so its grammar is RFC 8259. Only comments are allowed, since
//! people write them into models. A key that is twice in an object is a mistake, since readers differ.

use std::collections::HashSet;
use std::ops::Range;

use jsonc_parser::ast::{ObjectPropName, Value as Ast};
use jsonc_parser::common::Ranged;
use jsonc_parser::errors::ParseErrorKind;
use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};

use crate::piece::Piece;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Json {
    pub value: JsonValue,
    pub span: Range<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum JsonValue {
    Null,
    Truth(bool),
    Number(String),
    Text(Piece),
    List(Vec<Json>),
    /// An object, in the order in which it is written.
    Object(Vec<(Piece, Json)>),
}

pub type MalformedJson = (String, Range<usize>);

/// Reads a text that begins at this byte of the file. Comments (`//`, `/* */`) may be between values.
pub fn parse(text: &str, start: usize) -> Result<Json, MalformedJson> {
    let options = ParseOptions {
        allow_comments: true,
        allow_loose_object_property_names: false,
        allow_trailing_commas: false,
        allow_missing_commas: false,
        allow_single_quoted_strings: false,
        allow_hexadecimal_numbers: false,
        allow_unary_plus_numbers: false,
        allow_bare_decimal_point_numbers: false,
        allow_non_finite_numbers: false,
        allow_extended_string_escapes: false,
    };
    let parsed = parse_to_ast(text, &CollectOptions::default(), &options).map_err(|error| {
        let range = error.range();
        let message = match error.kind() {
            ParseErrorKind::NestingDepthExceeded => {
                "lists and objects are nested more than 512 levels deep".to_owned()
            }
            other => format!("this is not JSON: {}", lower_first(&other.to_string())),
        };
        // A sign that is missing at the end is reported after the last sign.
        let end = range.end.clamp(range.start, text.len());
        (message, start + range.start.min(text.len())..start + end)
    })?;
    match parsed.value {
        Some(ast) => convert_value(&ast, text, start),
        None => Err(("this is not JSON: it is empty".to_owned(), start..start)),
    }
}

fn lower_first(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().into_iter().flat_map(char::to_lowercase).collect::<String>() + letters.as_str()
}

/// Converts the library's tree. Recurses as deep as the library does, which has a limit.
fn convert_value(ast: &Ast<'_>, text: &str, start: usize) -> Result<Json, MalformedJson> {
    let range = ast.range();
    let span = start + range.start..start + range.end;
    let value = match ast {
        Ast::NullKeyword(_) => JsonValue::Null,
        Ast::BooleanLit(literal) => JsonValue::Truth(literal.value),
        Ast::NumberLit(literal) => JsonValue::Number(literal.value.to_owned()),
        Ast::StringLit(literal) => JsonValue::Text(make_piece(&literal.value, literal.range(), text, start)),
        Ast::Array(array) => JsonValue::List(
            array.elements.iter().map(|item| convert_value(item, text, start)).collect::<Result<_, _>>()?,
        ),
        Ast::Object(object) => {
            let mut members = Vec::with_capacity(object.properties.len());
            let mut seen = HashSet::new();
            for property in &object.properties {
                let range = property.name.range();
                let key = match &property.name {
                    ObjectPropName::String(name) => make_piece(&name.value, range, text, start),
                    ObjectPropName::Word(name) => Piece::plain(name.value, start + range.start),
                };
                if !seen.insert(key.text.clone()) {
                    return Err((format!("the key `{}` appears twice", key.text), key.full_range()));
                }
                members.push((key, convert_value(&property.value, text, start)?));
            }
            JsonValue::Object(members)
        }
    };
    Ok(Json { value, span })
}

/// Makes the piece of a text. `range` is its place, with the quotes.
fn make_piece(value: &str, range: jsonc_parser::common::Range, text: &str, start: usize) -> Piece {
    let inner = range.start + 1..range.end.saturating_sub(1).max(range.start + 1);
    let raw = text.get(inner.clone()).unwrap_or_default();
    let mut piece = Piece::plain("", start + inner.start);
    let mut unread = raw;
    // In the file, each sign of the value is itself, or an escape of 2, 6 or (for two surrogates) 12 signs.
    for sign in value.chars() {
        let length = match (unread.as_bytes().first(), unread.as_bytes().get(1)) {
            (Some(b'\\'), Some(b'u')) if u32::from(sign) > 0xffff => 12,
            (Some(b'\\'), Some(b'u')) => 6,
            (Some(b'\\'), _) => 2,
            _ => sign.len_utf8(),
        };
        let place = start + inner.start + (raw.len() - unread.len());
        piece.push(sign.encode_utf8(&mut [0; 4]), place..place + length);
        unread = unread.get(length..).unwrap_or_default();
    }
    piece
}

impl Json {
    pub fn get(&self, name: &str) -> Option<&Json> {
        match &self.value {
            JsonValue::Object(members) => {
                members.iter().find(|(key, _)| key.text == name).map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub fn text(&self) -> Option<&Piece> {
        if let JsonValue::Text(piece) = &self.value { Some(piece) } else { None }
    }

    pub fn describe(&self) -> &'static str {
        match self.value {
            JsonValue::Null => "null",
            JsonValue::Truth(_) => "a truth value",
            JsonValue::Number(_) => "a number",
            JsonValue::Text(_) => "a text",
            JsonValue::List(_) => "a list",
            JsonValue::Object(_) => "an object",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_know_where_their_signs_are_written() {
        let text = r#" {"a\u00e9": "x \u003c \ud83d\ude00 \"y\" é z"}"#;
        let tree = parse(text, 100).unwrap();
        let JsonValue::Object(members) = &tree.value else { panic!("{tree:?}") };
        let (key, value) = &members[0];
        assert_eq!((key.text.as_str(), key.full_range()), ("aé", 103..110));
        let value = value.text().unwrap();
        assert_eq!(value.text, "x < \u{1f600} \"y\" é z");
        let place = |what: &str| {
            let at = value.text.find(what).unwrap();
            let place = value.locate(&(at..at + what.len()));
            &text[place.start - 100..place.end - 100]
        };
        assert_eq!(
            [place("<"), place("\u{1f600}"), place("\"y\""), place("z")],
            [r"\u003c", r"\ud83d\ude00", r#"\"y\""#, "z"]
        );
    }

    #[test]
    fn only_json_is_json() {
        let texts = r#"| { | [1,] | {a: 1} | {'a': 1} | 1 2 | [1 2] | 0x1 | +1 | .5 | NaN | "\x41" |
            {"a":1,"a":2} | "\ud800""#;
        for text in texts.split('|') {
            assert!(parse(text, 0).is_err(), "{text}");
        }
        assert!(parse(&"[".repeat(1_000_000), 0).is_err());
        let commented = "/* a */ [1, // b\n 2]";
        assert!(parse(commented, 0).is_ok());
        assert!(parse("[1] /* a", 0).is_err());
    }
}
