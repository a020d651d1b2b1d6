//! The protocol of one JSON message per line, which `docs/reference/iut-file.md` defines for those who write
//! implementations.
//!
//! A line that is no message of the protocol is garbage: something between the tester and the implementation
//! does not fit, and nothing can be said about the implementation itself. A message that names an output is
//! behaviour of the implementation, and may be wrong.
//!
//! ```text
//! line    = space | message
//! message = ready | output | log | error        JSON objects ([`coreach_model::json`]), keys in any order
//! ready   = { "ready": true }
//! output  = { "output": string } | { "output": string, "values": { parameter: value, ... } }
//! log     = { "log": any value }
//! error   = { "error": string }
//! ```
//!
//! A message has exactly these keys. An object with one more is no message: a reader that looks for `output`
//! and one that looks for `log` would see different things in it. An output is an event if its name is one of
//! the model's outputs, and `values` has each of its parameters and nothing else, each with a value of its
//! type ([`coreach_model::codec`]). Otherwise it is alien.

use coreach_model::excerpt::shortened;
use coreach_model::json::{self, Malformed, Tree};
use coreach_model::semantics::Event;
use coreach_model::{Datum, Value, codec};
use serde_json::{Map, Value as Json, json};

use crate::adapter::{Failure, Received};
use crate::description::Spelling;
use crate::encoding::{BYTE_ORDER_MARK, UTF_16, is_utf_16};
use crate::signature::{Signatures, Wire, report_too_long};

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Message {
    Ready,
    Output(Received),
    Log,
    /// The implementation says that it cannot go on.
    Error(String),
}

/// Writes the first message over a connection: `start` of a run, or `resume` in the middle of it.
pub fn write_first_message(what: &str, constants: &[(Datum, Value)], seed: u64) -> String {
    let constants = constants.iter();
    let constants: Map<String, Json> =
        constants.map(|(datum, value)| (datum.name().to_owned(), codec::to_wire_json(value))).collect();
    let seed = codec::to_json(&Value::int(seed));
    format!("{}\n", json!({ what: { "constants": constants, "seed": seed } }))
}

pub fn write_stimulus(event: &Event, signatures: &Signatures) -> String {
    format!("{}\n", json!({ "input": event.action, "values": signatures.named(event) }))
}

/// Reads a line as a message of the protocol. An empty line is one for the log.
pub fn read_message(line: &str, signatures: &Signatures) -> Result<Message, Failure> {
    let garbage = |why: &str| Failure::Garbage(format!("{why}: {}", shortened(line)));
    if line.bytes().all(|byte| matches!(byte, b' ' | b'\t' | b'\r')) {
        return Ok(Message::Log);
    }
    let tree = match json::parse(line, json::WIRE) {
        Ok(tree) => tree,
        Err(Malformed::TooLong(digits)) => return Err(report_too_long(digits)),
        Err(why) => {
            let why = format!("not JSON ({why})");
            let help = match line.trim() {
                "{" => "write each message in one line: in Python `json.dumps(message)` without `indent`",
                line if line.starts_with('\u{feff}') => BYTE_ORDER_MARK,
                line if is_utf_16(line) => UTF_16,
                line => json::explain_mistake(line, &why).unwrap_or(
                    "a message is one line of JSON. Write other text to the standard error, or as {\"log\": ...}",
                ),
            };
            return Err(garbage(&why).with_help(help));
        }
    };
    let Tree::Object(members) = &tree else {
        if let Tree::Text(text) = &tree
            && json::parse(text, json::WIRE).is_ok()
        {
            let help = "the message is encoded twice: in Python, call `json.dumps` only once";
            return Err(garbage("a text, not a message").with_help(help));
        }
        let help = "an output looks like {\"output\": \"Name\", \"values\": {\"parameter\": 1}}";
        return Err(garbage("not a message, because it is not an object").with_help(help));
    };
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    match (keys.as_slice(), members.as_slice()) {
        (["ready"], [(_, Tree::Bool(true))]) => Ok(Message::Ready),
        (["log"], _) => Ok(Message::Log),
        (["error"], [(_, Tree::Text(text))]) => Ok(Message::Error(shortened(text))),
        (["output"] | ["output", "values"], _) => {
            let Some(Tree::Text(name)) = tree.get("output") else {
                return Err(garbage("a message whose `output` is not a text"));
            };
            let values: Vec<(&str, Wire<'_>)> = match tree.get("values") {
                None => Vec::new(),
                Some(Tree::Object(values)) => {
                    values.iter().map(|(key, tree)| (key.as_str(), Wire::Json(tree))).collect()
                }
                Some(_) => {
                    let help = "leave `values` out if there are none, else give each the name of its parameter: \
                                {\"values\": {\"parameter\": 1}}";
                    return Err(garbage("a message whose `values` is not an object").with_help(help));
                }
            };
            let has_pointers = false;
            signatures.output(name, &values, &Spelling::default(), has_pointers).map(Message::Output)
        }
        _ => {
            let help = explain_keys(members, tree.get("output"), signatures);
            Err(garbage("not a message of the protocol").with_help(&help))
        }
    }
}

/// Says what helps if an object has not the keys of a message. `output` is the value of its key `output`.
fn explain_keys(members: &[(String, Tree)], output: Option<&Tree>, signatures: &Signatures) -> String {
    let parameters = match output {
        Some(Tree::Text(name)) => signatures.parameters(name),
        _ => &[],
    };
    let is_parameter = |key: &str| parameters.iter().any(|datum| datum.name() == key);
    let is_foreign = |(key, _): &&(String, Tree)| key != "output" && key != "values";
    match members.iter().find(is_foreign).filter(|_| output.is_some()) {
        Some((key, value)) if is_parameter(key) => {
            return format!("write `{key}` under `values`: {{\"values\": {{\"{key}\": {value}}}}}");
        }
        Some((key, Tree::Object(_))) if !members.iter().any(|(key, _)| key == "values") => {
            return format!("write `values` for `{key}`: the values of an output stand under this key");
        }
        Some((key, _)) => {
            return format!("leave out `{key}`, which is no parameter: values stand under `values`");
        }
        None => {}
    }
    let mut keys: Vec<&str> = members.iter().map(|(key, _)| key.as_str()).collect();
    keys.sort_unstable();
    let help = match keys.into_iter().find(|key| matches!(*key, "ready" | "input" | "start")) {
        Some("ready") => "`start` is answered by exactly `{\"ready\": true}`",
        Some(_) => "coreach sends `start` and `input`: do not repeat them, and answer with `output`",
        None => {
            "a message has only the key `ready`, `log` or `error`, or `output` and `values`, as in {\"output\": \"Name\", \
             \"values\": {\"parameter\": 1}}"
        }
    };
    help.to_owned()
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use coreach_model::reader::{from_bytes, read_specification};

    use super::*;
    use crate::adapter::Session;

    const MODEL: &str = "
iosts: m
types: { Drink: [TEA, COFFEE], Pair: { a: int, b: 'option[int]' } }
constants: { c: int }
locations: [A]
initial: { location: A }
inputs: { In: { p: int, d: Drink } }
outputs: { Out: { n: int, r: real }, May: { o: 'option[int]', p: Pair }, None: {} }
transitions: [{ from: A, to: A, on: None }]
";

    fn signatures() -> Signatures {
        let file = from_bytes("m".to_owned(), MODEL.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        let session = Session { iosts: &iosts, constants: &[], seed: 1, deadline: Instant::now() };
        Signatures::of(&session)
    }

    fn event(line: &str) -> String {
        match read_message(line, &signatures()) {
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

    /// An option whose member is absent is `none`, and nothing else is.
    #[test]
    fn an_absent_option_is_none() {
        for (values, expected) in [
            (r#""o": 1, "p": {"a": 2, "b": 3}"#, "May(some(1), {a: 2, b: some(3)})"),
            (r#""p": {"a": 2}"#, "May(none, {a: 2, b: none})"),
            (r#""o": null, "p": {"a": 2, "b": null}"#, "May(none, {a: 2, b: none})"),
            (r#""o": 1"#, "alien: `May` without a value for `p`"),
            (r#""p": {"b": 3}"#, "alien: `May` with a wrong `p`: the field `a` of the type Pair is missing"),
        ] {
            assert_eq!(event(&format!(r#"{{"output": "May", "values": {{{values}}}}}"#)), expected);
        }
    }

    #[test]
    fn another_encoding_than_utf_8_is_named() {
        assert!(event("\u{feff}{\"ready\": true}").contains(BYTE_ORDER_MARK));
        assert!(event("{\0\"\0r\0").contains(UTF_16));
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
            r#"{"log": "a", "more": 1}"#,
            r#"{"log": "a", "output": "None"}"#,
            r#"{"output": "None", "log": "a"}"#,
            r#"{"output": "None", "error": "a"}"#,
            r#"{"output": "None", "ready": true}"#,
            r#"{"output": "None", "output": "Out"}"#,
            r#"{"output": "None", "\u006futput": "None"}"#,
            r#"{"output": "None", "values": null}"#,
            r#"{"output": "Out", "values": {"n": 1, "n": 2, "r": 1}}"#,
            r#"{"output": "Out", "values": {"n": 1, "r": 1}, "values": {"n": 2, "r": 1}}"#,
            r#"{"error": "a", "more": 1}"#,
            r#"{"error": 5}"#,
            "\u{feff}{\"output\": \"None\"}",
            "\u{a0}{\"output\": \"None\"}",
            "\u{a0}",
            "{\"output\": \"None\"}\0",
            r#"{"output": "None"} {"log": 1}"#,
            r#"{"output": "None\ud800"}"#,
            r#"{"output": "Out", "values": {"n": 000000000000000000001, "r": 1}}"#,
            &"[".repeat(100_000),
        ] {
            assert!(matches!(read_message(line, &signatures()), Err(Failure::Garbage(_))), "{line}");
        }
        for number in ["9".repeat(5000).as_str(), "1e4096", "1.5e-4095", "1e99999999999999999999"] {
            let line = format!(r#"{{"output": "Out", "values": {{"n": {number}, "r": 1}}}}"#);
            assert!(matches!(read_message(&line, &signatures()), Err(Failure::Garbage(_))), "{line}");
        }
    }

    #[test]
    fn what_is_no_output_of_the_specification_is_alien() {
        for (line, expected) in [
            (
                r#"{"output": "Nope"}"#,
                "the output `Nope`, which the specification does not have\nhelp: did you mean `None`?",
            ),
            (
                r#"{"output": "In"}"#,
                "`In` as an output, but it is an input\nhelp: declare what the system sends under `outputs`",
            ),
            (r#"{"output": "Out"}"#, "`Out` without a value for `n`"),
            (
                r#"{"output": "None", "values": {"x": 1}}"#,
                "`None` with a value for `x`, which is not a parameter of `None`\nhelp: leave it out, or declare `x: int` as a parameter of `None`",
            ),
            (
                r#"{"output": "Out", "values": {"n": 1.5, "r": 1}}"#,
                "`Out` with a wrong `n`: expected a value of type int, not 1.5",
            ),
            (
                r#"{"output": "Out", "values": {"n": "1", "r": 1}}"#,
                "`Out` with a wrong `n`: expected a number, not the text \"1\": write a number without quotes\nhelp: if the \
                 system is right, make `n` a `string` in the model, or an `id` if it is only a name",
            ),
            (
                r#"{"output": "Out", "values": {"n": 1, "r": "7"}}"#,
                "`Out` with a wrong `r`: expected a number, not the text \"7\": write a number without quotes",
            ),
            (
                r#"{"output": "Out", "values": {"n": "-8,00", "r": 1}}"#,
                "`Out` with a wrong `n`: expected a value of type int, not \"-8,00\"\nhelp: it has a comma as its decimal sign: let \
                 the system send `-8`",
            ),
            (
                r#"{"output": "Out", "values": {"n": "10.00", "r": 1}}"#,
                "`Out` with a wrong `n`: expected a value of type int, not \"10.00\"\nhelp: if the system is right, make `n` a \
                 `real` in the model",
            ),
            (
                r#"{"output": "Out", "values": {"n": "5_", "r": 1}}"#,
                "`Out` with a wrong `n`: expected a value of type int, not \"5_\"\nhelp: if the system is right, make `n` a \
                 `string` in the model, or an `id` if it is only a name",
            ),
            (
                r#"{"output": "Out", "values": {"n": " 5", "r": 1}}"#,
                "`Out` with a wrong `n`: expected a value of type int, not \" 5\"\nhelp: if the system is right, make `n` a \
                 `string` in the model, or an `id` if it is only a name",
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
            (" \t\r", Message::Log),
            (r#"{"log": {"a": [1]}}"#, Message::Log),
            (r#"{"ready": true}"#, Message::Ready),
            (r#"{"error": "no price"}"#, Message::Error("no price".to_owned())),
        ] {
            assert_eq!(read_message(line, &signatures()), Ok(expected));
        }
    }
}
