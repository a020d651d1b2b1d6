//! JSON as it comes from outside, read strictly: what an implementation sends, what a document holds.
//!
//! **Problem.** The usual parsers are generous: if a key is there twice the last one wins, and a number is
//! rounded to a double. So two readers of one text may see two events, and a verdict depends on it. Here a
//! text has one meaning or none.
//!
//! **Method.** `serde_json` reads RFC 8259, one level at a time. The values in a list or an object are texts
//! at first (`RawValue`), so numbers keep their digits. Keys of an object are distinct and strings
//! well-formed, which I-JSON (RFC 7493) asks for. `"\u0044"` *is* `"D"`, since keys are compared after their
//! escapes are resolved. A reader that knows the type converts the numbers.
//!
//! **Ends**: [`JsonLimits`] bound the depth and the digits of a number. **Costs** time linear in the text for
//! each level, and sorting the keys of each object.

use std::fmt;

use crate::number;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value as Json;
use serde_json::value::RawValue;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Tree {
    Null,
    Bool(bool),
    /// A number, as it was written.
    Number(String),
    /// A string, its escapes resolved.
    Text(String),
    List(Vec<Tree>),
    /// An object, in the order in which it was written; no key is there twice.
    Object(Vec<(String, Tree)>),
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct JsonLimits {
    /// Lists and objects in one another.
    pub depth: usize,
    /// Digits of one number.
    pub digits: usize,
}

/// Proposes what helps against a frequent mistake in a text. `mistake` is the message about it. `None` for
/// other mistakes.
pub fn explain_mistake(text: &str, mistake: &str) -> Option<&'static str> {
    if ["`NaN` is no value", "`Infinity` is no value"].iter().any(|words| mistake.contains(words)) {
        return Some(
            "JSON has no such number: let the system send another value. In Python, `json.dumps(..., allow_nan=False)` \
             shows where it is",
        );
    }
    let text = text.trim_start();
    if mistake.contains("trailing characters") && text.starts_with('{') {
        return Some("write each message in a line of its own");
    }
    if mistake.contains("appears twice in one object") {
        return Some("an object has each key only once: let the system send one of the values");
    }
    text.starts_with("{'").then_some("JSON puts texts in `\"`: in Python write `json.dumps(message)`")
}

/// The limits for messages of an implementation.
pub const WIRE: JsonLimits = JsonLimits { depth: 64, digits: number::WIRE_DIGITS };

/// The limits for documents that this program writes.
pub const DOCUMENT: JsonLimits = JsonLimits { depth: 128, digits: number::DOCUMENT_DIGITS };

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Malformed {
    TooLong(usize),
    /// The mistake in words, and its byte.
    Wrong(String, usize),
    Twice(String),
}

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Malformed::TooLong(digits) => write!(f, "a number of {digits} digits"),
            Malformed::Wrong(what, at) => write!(f, "{what} at byte {}", at + 1),
            Malformed::Twice(key) => write!(f, "the key `{key}` appears twice in one object"),
        }
    }
}

impl std::error::Error for Malformed {}

/// Reads the JSON value that the whole text is.
pub fn parse(text: &str, limits: JsonLimits) -> Result<Tree, Malformed> {
    let part: &RawValue = read_with_library(text, 0)?;
    read_tree(part.get(), text, 0, limits)
}

/// Reads a document as a value of the usual library.
pub fn document(bytes: &[u8]) -> Result<Json, String> {
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("it is not UTF-8 at byte {}", error.valid_up_to() + 1))?;
    parse(text, DOCUMENT).map_err(|error| error.to_string())?.to_json()
}

impl Tree {
    pub fn get(&self, name: &str) -> Option<&Tree> {
        match self {
            Tree::Object(members) => members.iter().find(|(key, _)| key == name).map(|(_, tree)| tree),
            _ => None,
        }
    }

    /// Finds the part to which a JSON pointer (RFC 6901) points. `None` if there is no such part.
    pub fn pointer(&self, pointer: &str) -> Option<&Tree> {
        let mut part = self;
        // The empty pointer points to the whole.
        let Some(tokens) = pointer.strip_prefix('/') else { return pointer.is_empty().then_some(self) };
        for token in tokens.split('/') {
            part = match part {
                Tree::Object(_) => part.get(&token.replace("~1", "/").replace("~0", "~"))?,
                Tree::List(items) => items.get(usize::try_from(number::count(token)?).ok()?)?,
                _ => return None,
            };
        }
        Some(part)
    }

    /// Converts it to a value of the usual library.
    ///
    /// # Errors
    /// If the library would change a number.
    fn to_json(&self) -> Result<Json, String> {
        Ok(match self {
            Tree::Null => Json::Null,
            Tree::Bool(value) => Json::Bool(*value),
            Tree::Number(digits) => Json::Number(convert_number(digits)?),
            Tree::Text(text) => Json::String(text.clone()),
            Tree::List(items) => Json::Array(items.iter().map(Tree::to_json).collect::<Result<_, _>>()?),
            Tree::Object(members) => {
                let pair = |(key, tree): &(String, Tree)| Ok((key.clone(), tree.to_json()?));
                Json::Object(members.iter().map(pair).collect::<Result<_, String>>()?)
            }
        })
    }
}

/// Converts a number to one of the usual library.
///
/// # Errors
/// If the library would change it.
fn convert_number(digits: &str) -> Result<serde_json::Number, String> {
    let value_of = |text: &str| number::number(text, DOCUMENT.digits).ok();
    let is_exact = |number: &serde_json::Number| value_of(&number.to_string()) == value_of(digits);
    let read = || serde_json::from_str(digits).ok();
    // The library may read a fraction as the neighbour of the nearest number, also if it wrote the fraction
    // itself.
    let nearest = || digits.parse().ok().and_then(serde_json::Number::from_f64);
    let exact = read().filter(is_exact).or_else(|| nearest().filter(is_exact));
    exact.ok_or_else(|| format!("cannot keep the number {} exactly", crate::excerpt::shortened(digits)))
}

impl From<&Json> for Tree {
    fn from(json: &Json) -> Self {
        match json {
            Json::Null => Tree::Null,
            Json::Bool(value) => Tree::Bool(*value),
            Json::Number(number) => Tree::Number(number.to_string()),
            Json::String(text) => Tree::Text(text.clone()),
            Json::Array(items) => Tree::List(items.iter().map(Tree::from).collect()),
            Json::Object(members) => {
                Tree::Object(members.iter().map(|(key, json)| (key.clone(), Tree::from(json))).collect())
            }
        }
    }
}

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tree::Null => f.write_str("null"),
            Tree::Bool(value) => write!(f, "{value}"),
            Tree::Number(digits) => f.write_str(digits),
            Tree::Text(text) => write!(f, "{}", Json::from(text.as_str())),
            Tree::List(items) => {
                write!(f, "[{}]", items.iter().map(Tree::to_string).collect::<Vec<_>>().join(","))
            }
            Tree::Object(members) => {
                let member = |(key, tree): &(String, Tree)| format!("{}:{tree}", Json::from(key.as_str()));
                write!(f, "{{{}}}", members.iter().map(member).collect::<Vec<_>>().join(","))
            }
        }
    }
}

/// Reads a part of the text, which is at this depth.
fn read_tree(part: &str, text: &str, depth: usize, limits: JsonLimits) -> Result<Tree, Malformed> {
    // The part is a piece of the text, so its place is the distance of their beginnings.
    let start = part.as_ptr().addr() - text.as_ptr().addr();
    let read_below = |part: &RawValue| read_tree(part.get(), text, depth + 1, limits);
    Ok(match part.as_bytes().first() {
        Some(b'{' | b'[') if depth >= limits.depth => {
            return Err(Malformed::Wrong("lists or objects are nested too deep".to_owned(), start));
        }
        Some(b'{') => {
            let Members(members) = read_with_library(part, start)?;
            let members = members.into_iter().map(|(key, part)| Ok((key, read_below(part)?)));
            make_object(members.collect::<Result<_, _>>()?)?
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = read_with_library(part, start)?;
            Tree::List(items.into_iter().map(read_below).collect::<Result<_, _>>()?)
        }
        Some(b'"') => Tree::Text(read_with_library(part, start)?),
        Some(b'-' | b'0'..=b'9') => match number::measure_number(part).map_or(0, |(_, digits)| digits) {
            digits if digits > limits.digits => return Err(Malformed::TooLong(digits)),
            _ => Tree::Number(part.to_owned()),
        },
        _ => read_with_library::<Option<bool>>(part, start)?.map_or(Tree::Null, Tree::Bool),
    })
}

/// Lets the library read a part that begins at this byte of the text.
fn read_with_library<'a, T: Deserialize<'a>>(part: &'a str, start: usize) -> Result<T, Malformed> {
    serde_json::from_str(part).map_err(|error| {
        let place = format!(" at line {} column {}", error.line(), error.column());
        let message = error.to_string();
        // The byte of the text at which the library stopped.
        let lines = part.split_inclusive('\n').take(error.line().saturating_sub(1));
        let byte = start + lines.map(str::len).sum::<usize>() + error.column().saturating_sub(1);
        // The word around the place of the mistake.
        let (before, after) = part.split_at_checked(byte - start).unwrap_or((part, ""));
        let is_letter = |sign: char| sign.is_ascii_alphabetic();
        let begin = before.trim_end_matches(is_letter).len();
        let word = &part[begin..part.len() - after.trim_start_matches(is_letter).len()];
        if let "NaN" | "Infinity" | "nan" | "inf" | "None" | "True" | "False" | "undefined" = word {
            return Malformed::Wrong(format!("`{word}` is no value of JSON"), start + begin);
        }
        // The message ends with a place in the part, which is not that in the text.
        Malformed::Wrong(message.strip_suffix(&place).unwrap_or(&message).to_owned(), byte)
    })
}

/// The members of an object, also those with equal keys.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'a> Deserialize<'a> for Members<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Members(Vec::new()))
    }
}

impl<'a> Visitor<'a> for Members<'a> {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(mut self, mut map: A) -> Result<Self, A::Error> {
        while let Some(member) = map.next_entry()? {
            self.0.push(member);
        }
        Ok(self)
    }
}

/// Makes an object of members, unless two of them have the same key.
fn make_object(members: Vec<(String, Tree)>) -> Result<Tree, Malformed> {
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    match keys.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(Malformed::Twice(crate::excerpt::shortened(pair[0]))),
        None => Ok(Tree::Object(members)),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::time::Duration;

    use super::*;

    #[test]
    fn what_is_json_is_read_as_it_is_written() {
        for text in [
            r#"{"a":[1,2.50,-0,1e5,"x\n",null,true,false,{}],"b":{"c":[]}}"#,
            r#""😀""#,
            "12345678901234567890123456789.0000000000001",
        ] {
            assert_eq!(parse(text, WIRE).unwrap().to_string(), text);
        }
        assert_eq!(parse(r#" "\u0044\ud83d\ude00\/" "#, WIRE), Ok(Tree::Text("D😀/".to_owned())));
    }

    #[test]
    fn a_word_of_another_language_is_named() {
        for (text, message) in [
            ("[1, -Infinity]", "`Infinity` is no value of JSON at byte 6"),
            ("{\"ü\": NaN}", "`NaN` is no value of JSON at byte 8"),
            ("None", "`None` is no value of JSON at byte 1"),
            ("{\"a\": [True]}", "`True` is no value of JSON at byte 8"),
            ("information", "expected value at byte 1"),
            ("nul", "EOF while parsing a value at byte 3"),
            ("ü", "expected value at byte 1"),
        ] {
            assert_eq!(parse(text, WIRE).map_err(|why| why.to_string()), Err(message.to_owned()), "{text}");
        }
    }

    #[test]
    fn what_the_library_wrote_is_read_again() {
        // Seconds of a run: one in some three thousand was refused, and its store said to be damaged.
        let mut number = 1_u64;
        for text in std::iter::once("2.2922996749999998".to_owned()).chain((0..50_000).map(|_| {
            number = number.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            serde_json::to_string(&Duration::from_nanos(number >> 28).as_secs_f64()).unwrap()
        })) {
            let json = document(text.as_bytes()).unwrap();
            assert_eq!(json.as_f64(), text.parse().ok(), "{text}");
            assert_eq!(json.to_string(), text);
        }
    }

    #[test]
    fn what_has_no_meaning_or_two_is_refused() {
        let deep = format!("{}{}", "[".repeat(65), "]".repeat(65));
        let in_ascii = r#"{ [1,] {"a":1,} {a:1} {'a':1} {}{} nul TRUE 01 +1 .5 5. 1_0 0x1 NaN Infinity - "\ud800" "\udc00"
            "\ud800\u0041" "\x41" "\u00g1" "\u+041" "\ {"a":1,"a":1} {"x":{"D":1,"\u0044":2}} {"a"} {"a":}
            [{"a":[{"b":1,"b":2}]}] /**/1 [,1]"#;
        let others =
            ["", " ", "[1 2]", "1 2", "\u{feff}{}", "{}\0", "\u{a0}{}", "\"\n\"", "\"\0\"", deep.as_str()];
        for text in in_ascii.split_whitespace().chain(others) {
            assert!(parse(text, WIRE).is_err(), "{text:?}");
        }
        assert!(parse(&deep[1..129], WIRE).is_ok());
        let long = format!("[[{}]]", "9".repeat(1_000_000));
        assert_eq!(parse(&long, WIRE), Err(Malformed::TooLong(1_000_000)));
    }

    #[test]
    fn pointers_point_as_the_standard_says() {
        let tree = parse(r#"{"foo":["bar","baz"],"":0,"a/b":1,"m~n":8,"~1":9}"#, WIRE).unwrap();
        for (pointer, found) in [
            ("/foo/0", Some(r#""bar""#)),
            ("/", Some("0")),
            ("/a~1b", Some("1")),
            ("/m~0n", Some("8")),
            ("/~01", Some("9")),
            ("/foo/00", None),
            ("/foo/+1", None),
            ("/foo/-", None),
            ("/foo/2", None),
            ("/foo/0/x", None),
            ("foo", None),
        ] {
            assert_eq!(tree.pointer(pointer).map(Tree::to_string).as_deref(), found, "{pointer}");
        }
        assert_eq!(tree.pointer(""), Some(&tree));
    }

    #[test]
    fn a_document_keeps_its_numbers_or_is_refused() {
        let kept = br#"{"a":[18446744073709551615,-5,0.30000000000000004,1e300]}"#;
        assert_eq!(document(kept).unwrap()["a"][0], u64::MAX);
        for text in ["[18446744073709551616]", "[0.10000000000000000000001]", "[1e400]", "\u{feff}[]"] {
            assert!(document(text.as_bytes()).is_err(), "{text}");
        }
        assert_eq!(document(b"\"\xff\"").unwrap_err(), "it is not UTF-8 at byte 2");
    }
}
