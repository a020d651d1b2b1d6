//! JSON Schemas of the files that people write and the program writes: reading them, holding a document
//! against one, and finding which of its objects says which keys a place may have.
//!
//! As much of JSON Schema (2020-12) as the schemas in `docs/` use; a rule that is none of these is a panic,
//! so that no schema says what nobody checks. The crate `jsonschema` brings some seventy crates, changes
//! features of `serde_json` for every test, and does not say which keys a place may have.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use regex::Regex;
use serde_json::{Map, Value};

/// A schema with its name, the file in `docs/`.
#[derive(Clone, Debug)]
pub struct Schema {
    /// `model.schema.json`
    pub name: String,
    /// What it says.
    pub root: Arc<Value>,
}

/// An object of a schema that says which keys there are, and a place of a document that it speaks of.
#[derive(Clone, Debug)]
pub struct Closed {
    /// The place in the document.
    pub at: Vec<String>,
    /// The keys.
    pub keys: Vec<String>,
    /// The file and the place of the object in it, which tell it from others.
    pub object: String,
}

/// The names of all schemas.
///
/// # Panics
/// The folder cannot be read.
pub fn names() -> Vec<String> {
    let items = fs::read_dir(docs()).unwrap_or_else(|error| panic!("docs: {error}"));
    let names = items.filter_map(|item| item.ok()?.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| name.ends_with(".schema.json")).collect();
    names.sort();
    names
}

fn docs() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs")
}

/// Reads a schema.
///
/// # Panics
/// There is none of this name.
pub fn read(name: &str) -> Schema {
    let text = fs::read_to_string(docs().join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
    let root: Value = serde_json::from_str(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
    Schema { name: name.to_owned(), root: Arc::new(root) }
}

/// The schema for a file that somebody wrote, by its keys.
pub fn of_written(value: &Value) -> &'static str {
    let kinds = [
        ("specification", "configuration.schema.json"),
        ("iut", "iut.schema.json"),
        ("campaign", "campaign.schema.json"),
        ("iosts", "model.schema.json"),
        ("purpose", "purpose.schema.json"),
        ("property", "property.schema.json"),
    ];
    kinds.into_iter().find(|(key, _)| value.get(key).is_some()).map_or("model.schema.json", |(_, name)| name)
}

/// What the schema says against the value.
pub fn objections(schema: &Schema, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    validate(schema, &schema.root, value, "", &mut found);
    found
}

fn fits(schema: &Schema, part: &Value, value: &Value) -> bool {
    let mut found = Vec::new();
    validate(schema, part, value, "", &mut found);
    found.is_empty()
}

/// What a reference means: another part of the same schema, or of the one that it names.
fn follow<'r>(schema: &Schema, reference: &'r str) -> (Schema, &'r str) {
    let (file, pointer) = reference.split_once('#').unwrap_or((reference, ""));
    (if file.is_empty() { schema.clone() } else { read(file) }, pointer)
}

/// The part of a schema at a place.
fn at_place<'s>(schema: &'s Schema, pointer: &str) -> &'s Value {
    schema.root.pointer(pointer).unwrap_or_else(|| panic!("{}: {pointer} leads nowhere", schema.name))
}

fn validate(schema: &Schema, part: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let rules = match part {
        Value::Bool(true) => return,
        Value::Bool(false) => {
            found.push(format!("{at}: nothing may stand here"));
            return;
        }
        Value::Object(rules) => rules,
        other => panic!("{}: {at}: not a schema: {other}", schema.name),
    };
    for (rule, wanted) in rules {
        if !holds(schema, rules, rule, wanted, value, at, found) {
            found.push(format!("{at}: {value} breaks {rule} {wanted}"));
        }
    }
}

fn holds(
    schema: &Schema,
    rules: &Map<String, Value>,
    rule: &str,
    wanted: &Value,
    value: &Value,
    at: &str,
    found: &mut Vec<String>,
) -> bool {
    let list = || wanted.as_array().map(Vec::as_slice).unwrap_or_default();
    let size = || usize::try_from(wanted.as_u64().unwrap_or(u64::MAX)).unwrap_or(usize::MAX);
    let text = || wanted.as_str().unwrap_or_default();
    let object = value.as_object();
    match rule {
        "title" | "description" | "default" | "examples" | "$schema" | "$defs" | "then" | "else" => true,
        // How many bits a number may have: of what the types make schemas of.
        "format" => wanted.as_str().is_some_and(|format| format.starts_with("uint")),
        "prefixItems" => {
            for (item, part) in value.as_array().into_iter().flatten().zip(list()) {
                validate(schema, part, item, at, found);
            }
            true
        }
        "$ref" => {
            let (schema, pointer) = follow(schema, text());
            validate(&schema, at_place(&schema, pointer), value, at, found);
            true
        }
        "if" => {
            let branch = if fits(schema, wanted, value) { "then" } else { "else" };
            if let Some(part) = rules.get(branch) {
                validate(schema, part, value, at, found);
            }
            true
        }
        "not" => !fits(schema, wanted, value),
        "anyOf" => list().iter().any(|part| fits(schema, part, value)),
        "oneOf" => list().iter().filter(|part| fits(schema, part, value)).count() == 1,
        "type" => match wanted {
            Value::Array(types) => types.iter().any(|one| is(value, one)),
            one => is(value, one),
        },
        "const" => value == wanted,
        "enum" => list().contains(value),
        "required" => object
            .is_none_or(|o| list().iter().all(|key| key.as_str().is_some_and(|key| o.contains_key(key)))),
        "properties" => {
            for (key, inner) in object.into_iter().flatten() {
                if let Some(part) = wanted.get(key) {
                    validate(schema, part, inner, &format!("{at}/{key}"), found);
                }
            }
            true
        }
        "additionalProperties" => {
            let known = |key: &str| rules.get("properties").is_some_and(|p| p.get(key).is_some());
            for (key, inner) in object.into_iter().flatten().filter(|(key, _)| !known(key)) {
                validate(schema, wanted, inner, &format!("{at}/{key}"), found);
            }
            true
        }
        "propertyNames" => {
            object.is_none_or(|o| o.keys().all(|key| fits(schema, wanted, &Value::String(key.clone()))))
        }
        "items" => {
            for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                validate(schema, wanted, item, &format!("{at}/{number}"), found);
            }
            true
        }
        "minItems" => value.as_array().is_none_or(|items| items.len() >= size()),
        "maxItems" => value.as_array().is_none_or(|items| items.len() <= size()),
        "uniqueItems" => {
            value.as_array().is_none_or(|items| (1..items.len()).all(|at| !items[..at].contains(&items[at])))
        }
        "minProperties" => object.is_none_or(|o| o.len() >= size()),
        "maxProperties" => object.is_none_or(|o| o.len() <= size()),
        "minLength" => value.as_str().is_none_or(|text| text.chars().count() >= size()),
        "maxLength" => value.as_str().is_none_or(|text| text.chars().count() <= size()),
        "pattern" => {
            let pattern = Regex::new(text()).unwrap_or_else(|error| panic!("{}: {error}", schema.name));
            value.as_str().is_none_or(|text| pattern.is_match(text))
        }
        "minimum" => value.as_f64().is_none_or(|number| wanted.as_f64().is_some_and(|least| number >= least)),
        "maximum" => value.as_f64().is_none_or(|number| wanted.as_f64().is_some_and(|most| number <= most)),
        other => panic!("{}: {at}: the schema uses {other}, which nothing here knows", schema.name),
    }
}

fn is(value: &Value, wanted: &Value) -> bool {
    match wanted.as_str().unwrap_or_default() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "null" => value.is_null(),
        other => panic!("the schema uses the type {other}"),
    }
}

/// The objects of a schema that say which keys there are, for each place of a document that they speak of.
pub fn closed_in(schema: &Schema, value: &Value) -> Vec<Closed> {
    let mut found = Vec::new();
    applied(schema, &schema.root, "", value, &mut Vec::new(), &mut found);
    found
}

fn applied(
    schema: &Schema,
    part: &Value,
    pointer: &str,
    value: &Value,
    at: &mut Vec<String>,
    found: &mut Vec<Closed>,
) {
    let Value::Object(rules) = part else { return };
    if let Some(reference) = rules.get("$ref").and_then(Value::as_str) {
        let (schema, pointer) = follow(schema, reference);
        applied(&schema, at_place(&schema, pointer), pointer, value, at, found);
    }
    for rule in ["anyOf", "oneOf"] {
        let options = rules.get(rule).and_then(Value::as_array).into_iter().flatten().enumerate();
        for (number, option) in options.filter(|(_, option)| fits(schema, option, value)) {
            applied(schema, option, &format!("{pointer}/{rule}/{number}"), value, at, found);
        }
    }
    if let Some(condition) = rules.get("if") {
        let branch = if fits(schema, condition, value) { "then" } else { "else" };
        if let Some(part) = rules.get(branch) {
            applied(schema, part, &format!("{pointer}/{branch}"), value, at, found);
        }
    }
    match value {
        Value::Object(object) => {
            let properties = rules.get("properties").and_then(Value::as_object);
            let others = rules.get("additionalProperties");
            if others == Some(&Value::Bool(false)) {
                let keys = properties.into_iter().flatten().map(|(key, _)| key.clone()).collect();
                found.push(Closed { at: at.clone(), keys, object: format!("{}#{pointer}", schema.name) });
            }
            for (key, inner) in object {
                let (part, place) = match properties.and_then(|properties| properties.get(key)) {
                    Some(part) => (Some(part), format!("{pointer}/properties/{key}")),
                    None => (others, format!("{pointer}/additionalProperties")),
                };
                if let Some(part) = part {
                    at.push(key.clone());
                    applied(schema, part, &place, inner, at, found);
                    at.pop();
                }
            }
        }
        Value::Array(items) => {
            let Some(part) = rules.get("items") else { return };
            for (number, item) in items.iter().enumerate() {
                at.push(number.to_string());
                applied(schema, part, &format!("{pointer}/items"), item, at, found);
                at.pop();
            }
        }
        _ => {}
    }
}

/// Every part of a schema that says which keys there are, with these keys, whether a document has such a
/// place or not.
pub fn all_closed(schema: &Schema) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    parts(&schema.root, "", &mut |pointer, rules| {
        if rules.get("additionalProperties") == Some(&Value::Bool(false)) {
            let properties = rules.get("properties").and_then(Value::as_object);
            let keys = properties.into_iter().flatten().map(|(key, _)| key.clone()).collect();
            found.push((format!("{}#{pointer}", schema.name), keys));
        }
    });
    found
}

/// What a schema says of itself that cannot be: references that lead nowhere, defaults and examples that it
/// would refuse, keys that must be there and may not.
pub fn contradictions(schema: &Schema) -> Vec<String> {
    let mut found = Vec::new();
    parts(&schema.root, "", &mut |pointer, rules| {
        let part = Value::Object(rules.clone());
        let examples = rules.get("examples").and_then(Value::as_array).into_iter().flatten();
        for value in rules.get("default").into_iter().chain(examples) {
            if !fits(schema, &part, value) {
                found.push(format!("{pointer}: it would refuse {value}"));
            }
        }
        // Whatever a value is, each rule is known and each reference leads somewhere.
        let _ = fits(schema, &part, &Value::Null);
        if rules.get("additionalProperties") == Some(&Value::Bool(false)) {
            for key in rules.get("required").and_then(Value::as_array).into_iter().flatten() {
                let known = key.as_str().and_then(|key| rules.get("properties")?.get(key));
                if known.is_none() {
                    found.push(format!("{pointer}: {key} must be there, and may not"));
                }
            }
        }
    });
    found
}

/// Goes through all parts of a schema that are schemas themselves.
fn parts(part: &Value, pointer: &str, see: &mut dyn FnMut(&str, &Map<String, Value>)) {
    let Value::Object(rules) = part else { return };
    see(pointer, rules);
    for (rule, inner) in rules {
        let place = format!("{pointer}/{rule}");
        match (rule.as_str(), inner) {
            ("properties" | "$defs", Value::Object(named)) => {
                named.iter().for_each(|(name, part)| parts(part, &format!("{place}/{name}"), see));
            }
            ("anyOf" | "oneOf", Value::Array(list)) => {
                list.iter().enumerate().for_each(|(at, part)| parts(part, &format!("{place}/{at}"), see));
            }
            ("if" | "then" | "else" | "not" | "items" | "additionalProperties" | "propertyNames", inner) => {
                parts(inner, &place, see);
            }
            _ => {}
        }
    }
}
