//! A format of export is declared once, in `pipeline/src/export/mod.rs`. All that names formats is checked against that
//! list here: the configuration and its schema, the help of the command line, the documents.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::Path;
use std::process::Command;

use coreach_pipeline::export::Format;
use coreach_project::configuration;
use serde_json::Value;

fn file(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(path)).unwrap()
}

fn names() -> Vec<&'static str> {
    Format::ALL.iter().map(|format| format.name()).collect()
}

#[test]
fn the_schema_of_configurations_has_every_format_and_no_other() {
    let schema: Value = serde_json::from_str(&file("docs/configuration.schema.json")).unwrap();
    let mut found = Vec::new();
    enumerations(&schema, "formats", &mut found);
    assert_eq!(found, [names()]);
}

/// What the items of each property of this name may be.
fn enumerations<'a>(schema: &'a Value, name: &str, found: &mut Vec<Vec<&'a str>>) {
    if let Some(items) = schema["properties"][name]["items"]["enum"].as_array() {
        found.push(items.iter().filter_map(Value::as_str).collect());
    }
    let inner = schema.as_object().into_iter().flatten().map(|(_, value)| value);
    inner.filter(|value| value.is_object()).for_each(|value| enumerations(value, name, found));
}

#[test]
fn a_configuration_takes_every_format() {
    assert_eq!(configuration::formats().map(|(name, ..)| name).to_vec(), names());
}

#[test]
fn the_help_names_every_format() {
    let output = Command::new(env!("CARGO_BIN_EXE_coreach")).args(["show", "--help"]).output().unwrap();
    let help = String::from_utf8(output.stdout).unwrap();
    let listed = format!("In which form: {}", names().join(", "));
    assert!(help.contains(&listed), "{help}");
}

#[test]
fn the_documents_name_every_format() {
    let model_format = file("docs/model-format.md");
    let row = model_format.lines().find(|line| line.starts_with("| `output: formats`")).unwrap();
    for name in names() {
        assert!(row.contains(&format!("`{name}`")), "{name}: {row}");
    }
}
