//! The JSON Schemas say what the readers say: the same keys at each place, and nothing against what a reader
//! takes.
//!
//! **Files that people write** ([`readers`]). Documents of every kind are changed in one place after the
//! other and given to their reader and to their schema. A key that nobody knows makes the reader list those
//! that it knows: they are the schema's; so with words. What the reader takes, the schema takes, but for a
//! number in quotes, which is tried nowhere here; and where the schema takes a document, the reader has
//! nothing to say of its shape.
//!
//! **Documents that the program writes** ([`documents`]). They are made of types; one of each with all its
//! fields is held against its schema, so a field that is new in the type does not compile here, and one that
//! is new in the schema is missing.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

mod documents;
mod readers;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use coreach_tests::schema::{self, Schema};
use coreach_tests::yaml::value;
use serde_json::Value;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// All YAML files in a folder and below it, in order.
fn below(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder).unwrap().map(|item| item.unwrap().path()).collect();
    paths.sort();
    let inner = |path: PathBuf| match path.is_dir() && !path.ends_with("out") {
        true => below(&path),
        false => vec![path],
    };
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "yaml");
    paths.into_iter().flat_map(inner).filter(is_yaml).collect()
}

/// The value at a place.
fn inside<'a>(value: &'a mut Value, at: &[String]) -> &'a mut Value {
    at.iter().fold(value, |value, step| match value {
        Value::Array(items) => &mut items[step.parse::<usize>().unwrap()],
        other => &mut other[step.as_str()],
    })
}

/// A list of words of a schema.
fn words(schema: &Schema, pointer: &str) -> Vec<String> {
    let list = schema.root.pointer(pointer).and_then(Value::as_array).unwrap();
    list.iter().map(|word| word.as_str().unwrap().to_owned()).collect()
}

#[test]
fn no_schema_contradicts_itself() {
    assert_eq!(schema::names().len(), 17);
    for name in schema::names() {
        assert_eq!(schema::contradictions(&schema::read(&name)), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn every_example_begins_with_its_schema() {
    let examples = below(&root().join("examples"));
    assert!(examples.len() > 40, "only {} examples", examples.len());
    let mut kinds = BTreeSet::new();
    for path in examples {
        let place = path.display();
        let text = fs::read_to_string(&path).unwrap();
        let first = text.lines().next().unwrap_or_default();
        let named = first.strip_prefix("# yaml-language-server: $schema=");
        let named = named.unwrap_or_else(|| panic!("{place} begins with `{first}`"));
        let value = value(&text).unwrap();
        let schema = schema::read(schema::of_written(&value));
        let own = root().join("docs").join(&schema.name).canonicalize().unwrap();
        assert_eq!(path.parent().unwrap().join(named).canonicalize().ok(), Some(own), "{place}");
        assert_eq!(schema::objections(&schema, &value), Vec::<String>::new(), "{place}");
        kinds.insert(schema.name);
    }
    assert_eq!(kinds.len(), 6, "{kinds:?}");
}
