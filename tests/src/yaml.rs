//! The value of a YAML text, as JSON.
//!
//! It is made from the events of the parser and is independent of coreach's own reader. Words and numbers are
//! those of YAML 1.2, in which `y` and `on` are texts.

use std::collections::HashMap;

use granit_parser::{Event, Parser, ScalarStyle};
use serde_json::{Map, Value};

/// A list or a mapping whose end has not come, and its anchor.
enum Open {
    List(Vec<Value>),
    Mapping(Map<String, Value>, Option<String>),
}

/// Reads the first document of a text. `None` if it is not YAML, or has a key twice.
pub fn value(text: &str) -> Option<Value> {
    let mut open: Vec<(Open, usize)> = Vec::new();
    let mut anchors: HashMap<usize, Value> = HashMap::new();
    for event in Parser::new_from_str(text) {
        let (done, anchor) = match event.ok()?.0 {
            Event::MappingStart(_, anchor, ..) => {
                open.push((Open::Mapping(Map::new(), None), anchor));
                continue;
            }
            Event::SequenceStart(_, anchor, ..) => {
                open.push((Open::List(Vec::new()), anchor));
                continue;
            }
            Event::MappingEnd | Event::SequenceEnd => match open.pop()? {
                (Open::List(items), anchor) => (Value::Array(items), anchor),
                (Open::Mapping(entries, None), anchor) => (Value::Object(entries), anchor),
                (Open::Mapping(_, Some(_)), _) => return None,
            },
            Event::Scalar(text, style, anchor, _) => (scalar(&text, style), anchor),
            Event::Alias(anchor) => (anchors.get(&anchor)?.clone(), 0),
            Event::StreamEnd => return Some(Value::Null),
            _ => continue,
        };
        if anchor != 0 {
            anchors.insert(anchor, done.clone());
        }
        match open.last_mut() {
            None => return Some(done),
            Some((Open::List(items), _)) => items.push(done),
            Some((Open::Mapping(entries, key), _)) => match key.take() {
                None => *key = Some(done.as_str().map_or_else(|| done.to_string(), str::to_owned)),
                Some(key) if entries.contains_key(&key) => return None,
                Some(key) => {
                    entries.insert(key, done);
                }
            },
        }
    }
    None
}

fn scalar(text: &str, style: ScalarStyle) -> Value {
    let is_number =
        |text: &str| text.trim_start_matches(['-', '+']).starts_with(|sign: char| sign.is_ascii_digit());
    match text {
        _ if style != ScalarStyle::Plain => Value::from(text),
        "" | "~" | "null" | "Null" | "NULL" => Value::Null,
        "true" | "True" | "TRUE" => Value::from(true),
        "false" | "False" | "FALSE" => Value::from(false),
        text => match (text.parse::<i64>(), text.parse::<f64>()) {
            (Ok(number), _) => Value::from(number),
            (_, Ok(number)) if is_number(text) => Value::from(number),
            _ => Value::from(text),
        },
    }
}
