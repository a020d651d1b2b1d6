//! The protocol of one JSON message per line, which `docs/adapters.md` defines for those who write implementations.
//!
//! What is no message of the protocol is garbage: between the tester and the implementation something does not fit, and
//! nothing can be said about the implementation itself. A message that names an output is its behaviour, and may be wrong.

use std::borrow::Cow;

use coreach_model::Value;
use coreach_model::semantics::Event;
use serde_json::{Map, Value as Json, json};

use crate::adapter::signature::{MOST_DIGITS, Signatures};
use crate::adapter::{Failure, Received, Session};
use crate::codec::{self, shortened};

/// What a line of the implementation says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    /// It is in its initial state.
    Ready,
    /// An output, or what was meant as one.
    Output(Received),
    /// Nothing for us.
    Log,
    /// It says itself that it cannot go on.
    Error(String),
}

/// The first message of a run.
pub fn start(session: &Session<'_>) -> String {
    let constants: Map<String, Json> = session
        .constants
        .iter()
        .map(|(datum, value)| (datum.name().to_owned(), codec::to_json(value)))
        .collect();
    let seed = codec::to_json(&Value::int(session.seed));
    format!("{}\n", json!({ "start": { "constants": constants, "seed": seed } }))
}

/// A stimulus.
pub fn input(event: &Event, signatures: &Signatures) -> String {
    format!("{}\n", json!({ "input": event.action, "values": signatures.named(event) }))
}

/// What a line says.
///
/// # Errors
/// [`Failure::Garbage`]: it is no message.
pub fn message(line: &str, signatures: &Signatures) -> Result<Message, Failure> {
    let line = line.trim();
    if line.is_empty() {
        return Ok(Message::Log);
    }
    let exact = exact(line)?;
    let garbage = |why: &str| Failure::Garbage(format!("{why}: {}", shortened(line)));
    let json: Json = serde_json::from_str(&exact).map_err(|error| garbage(&format!("no JSON ({error})")))?;
    let Json::Object(message) = &json else { return Err(garbage("no message, which would be an object")) };
    let only = |known: &[&str]| match message.keys().find(|key| !known.contains(&key.as_str())) {
        None => Ok(()),
        Some(key) => Err(garbage(&format!("a message with the unknown key `{}`", shortened(key)))),
    };
    let text = |key: &str| match message.get(key) {
        Some(Json::String(text)) => Ok(text.clone()),
        _ => Err(garbage(&format!("a message whose `{key}` is no text"))),
    };
    if message.contains_key("log") {
        return Ok(Message::Log);
    }
    if message.contains_key("output") {
        only(&["output", "values"])?;
        let name = text("output")?;
        return match message.get("values") {
            None | Some(Json::Null) => signatures.output(&name, &Map::new()),
            Some(Json::Object(values)) => signatures.output(&name, values),
            Some(_) => Err(garbage("a message whose `values` is no object")),
        }
        .map(Message::Output);
    }
    if message.contains_key("error") {
        only(&["error"])?;
        return Ok(Message::Error(shortened(&text("error")?)));
    }
    if message.get("ready") == Some(&Json::Bool(true)) {
        only(&["ready"])?;
        return Ok(Message::Ready);
    }
    Err(garbage("no message of the protocol"))
}

/// The line with long numbers in quotes: a JSON parser would round them, and a rounded value decides a verdict.
/// The codec reads a number from a text as well as from a number. Shorter ones survive a parser's rounding.
///
/// # Errors
/// [`Failure::Garbage`]: a number is so long that reading it would take longer than a run may.
pub(super) fn exact(line: &str) -> Result<Cow<'_, str>, Failure> {
    /// So many signs hold at most fifteen digits, which a double keeps.
    const SAFE: usize = 15;
    let is_digit = |byte: u8| byte.is_ascii_digit() || matches!(byte, b'-' | b'+' | b'.' | b'e' | b'E');
    let bytes = line.as_bytes();
    let mut quoted = String::new();
    let (mut at, mut copied) = (0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => {
                at += 1;
                while at < bytes.len() && bytes[at] != b'"' {
                    at += if bytes[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let end =
                    bytes[at..].iter().position(|byte| !is_digit(*byte)).map_or(bytes.len(), |n| at + n);
                if end - at > MOST_DIGITS {
                    return Err(Failure::Garbage(format!("a number of {} digits", end - at)));
                }
                // What is too large for a double, `1e999`, is refused by the parser.
                if end - at > SAFE && is_number(&line[at..end]) {
                    quoted.push_str(&line[copied..at]);
                    quoted.push('"');
                    quoted.push_str(&line[at..end]);
                    quoted.push('"');
                    copied = end;
                }
                at = end;
            }
            _ => at += 1,
        }
    }
    if copied == 0 {
        return Ok(Cow::Borrowed(line));
    }
    quoted.push_str(&line[copied..]);
    Ok(Cow::Owned(quoted))
}

/// Does JSON's grammar call this a number?
fn is_number(text: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (mantissa, exponent) = match text.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (text, None),
    };
    let unsigned = mantissa.strip_prefix('-').unwrap_or(mantissa);
    let (whole, fraction) = match unsigned.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (unsigned, None),
    };
    let is_whole = digits(whole) && (whole.len() == 1 || !whole.starts_with('0'));
    let is_exponent = |text: &str| digits(text.strip_prefix(['+', '-']).unwrap_or(text));
    is_whole && fraction.is_none_or(digits) && exponent.is_none_or(is_exponent)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::time::Instant;

    use coreach_model::reader::{from_bytes, read_specification};

    use super::*;

    const MODEL: &str = "
iosts: m
types: { Drink: [TEA, COFFEE] }
constants: { c: int }
locations: [A]
initial: { location: A }
inputs: { In: { p: int, d: Drink } }
outputs: { Out: { n: int, r: real }, None: {} }
transitions: [{ from: A, to: A, on: None }]
";

    fn signatures() -> Signatures {
        let file = from_bytes("m".to_owned(), MODEL.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        let session = Session { iosts: &iosts, constants: &[], seed: 1, deadline: Instant::now() };
        Signatures::of(&session)
    }

    fn event(line: &str) -> String {
        match message(line, &signatures()) {
            Ok(Message::Output(Received::Output(event))) => event.to_string(),
            Ok(Message::Output(Received::Alien(text))) => format!("alien: {text}"),
            Ok(other) => format!("{other:?}"),
            Err(failure) => failure.to_string(),
        }
    }

    #[test]
    fn numbers_keep_their_value() {
        for (n, r, expected) in [
            ("3", "0.5", "Out(3, 1/2)"),
            (
                "123456789012345678901234567890",
                "0.1000000000000000000001",
                "Out(123456789012345678901234567890, 1000000000000000000001/10000000000000000000000)",
            ),
            ("\"-9007199254740993\"", "\"1/3\"", "Out(-9007199254740993, 1/3)"),
            ("-9007199254740993", "1e-3", "Out(-9007199254740993, 1/1000)"),
            ("3.0", "3", "Out(3, 3)"),
        ] {
            let line = format!(r#"{{"output": "Out", "values": {{"n": {n}, "r": {r}}}}}"#);
            assert_eq!(event(&line), expected, "{line}");
        }
    }

    #[test]
    fn what_is_no_message_is_garbage() {
        for line in [
            "hello",
            "{",
            "[]",
            "5",
            "{}",
            r#"{"output": 5}"#,
            r#"{"output": "Out", "values": [1]}"#,
            r#"{"output": "Out", "value": {"n": 1}}"#,
            r#"{"ready": false}"#,
            r#"{"output": "Out", "values": {"n": 1e999, "r": 1}}"#,
            r#"{"output": "Out", "values": {"n": 000000000000000000001, "r": 1}}"#,
            &"[".repeat(100_000),
        ] {
            assert!(matches!(message(line, &signatures()), Err(Failure::Garbage(_))), "{line}");
        }
        let digits = format!(r#"{{"output": "Out", "values": {{"n": {}, "r": 1}}}}"#, "9".repeat(5000));
        assert!(matches!(message(&digits, &signatures()), Err(Failure::Garbage(_))));
    }

    #[test]
    fn what_is_no_output_of_the_specification_is_alien() {
        for (line, expected) in [
            (r#"{"output": "Nope"}"#, "the output `Nope`, which is none"),
            (r#"{"output": "In"}"#, "`In` as an output, but it is an input"),
            (r#"{"output": "Out"}"#, "`Out` without a value for `n`"),
            (
                r#"{"output": "None", "values": {"x": 1}}"#,
                "`None` with a value for `x`, which is no parameter of it",
            ),
            (
                r#"{"output": "Out", "values": {"n": 1.5, "r": 1}}"#,
                "`Out` with a wrong `n`: expected a value of type int, not 1.5",
            ),
        ] {
            assert_eq!(event(line), format!("alien: {expected}"));
        }
        assert_eq!(event(r#"{"output": "None"}"#), "None()");
    }

    #[test]
    fn the_rest_of_the_protocol() {
        for (line, expected) in [
            ("  ", Message::Log),
            (r#"{"log": "a", "more": 1}"#, Message::Log),
            (r#"{"ready": true}"#, Message::Ready),
            (r#"{"error": "no price"}"#, Message::Error("no price".to_owned())),
        ] {
            assert_eq!(message(line, &signatures()), Ok(expected));
        }
    }

    #[test]
    fn quotes_are_not_mistaken() {
        for (line, expected) in [
            (r#"{"a\"1234567890123456789": 12}"#, r#"{"a\"1234567890123456789": 12}"#),
            ("[1234567890123456789,1]", r#"["1234567890123456789",1]"#),
            (r#""abc\"#, r#""abc\"#),
        ] {
            assert_eq!(exact(line).unwrap(), expected);
        }
    }
}
