//! The documents that the program writes: results of stages, runs, summaries.
//!
//! What all of them need is here; the documents of a subject are in a file each.

mod models;
mod pages;
mod program;
mod records;
mod summaries;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::PathBuf;

use coreach_execution::Bucket;
use coreach_execution::outcome::OutcomeKind;
use coreach_model::diagnostic::Diagnostic;
use coreach_model::reader::from_bytes;
use coreach_project::render::to_json;
use coreach_tests::schema;
use serde_json::{Map, Value, json};

use super::inside;

/// Holds documents against a schema; together they must have every key of it.
fn follow(name: &str, documents: &[Value]) {
    let schema = schema::read(name);
    let mut seen: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for document in documents {
        assert_eq!(schema::objections(&schema, document), Vec::<String>::new(), "{name}: {document:#}");
        for closed in schema::closed_in(&schema, document) {
            let mut here = document.clone();
            let keys = inside(&mut here, &closed.at).as_object().unwrap().keys().cloned();
            seen.entry(closed.object).or_default().extend(keys);
        }
    }
    for (object, keys) in schema::all_closed(&schema) {
        let keys: BTreeSet<String> = keys.into_iter().collect();
        assert_eq!(seen.get(&object), Some(&keys), "{object}");
    }
}

fn a_map() -> Map<String, Value> {
    Map::from_iter([("p".to_owned(), json!(3)), ("q".to_owned(), json!("1/3"))])
}

/// One with a place, one without.
fn diagnostics() -> [Diagnostic; 2] {
    let file = from_bytes("f".to_owned(), b"text".to_vec()).unwrap();
    let origin = coreach_model::Origin { file, span: 0..4 };
    let placed = Diagnostic::warning("w", "m").at(origin, "here").help("h").note("n");
    [placed, Diagnostic::error("e", "m")]
}

/// As if a budget had ended the work of it.
fn ended(mut document: Value) -> Value {
    document["exit_code"] = json!(6);
    document["diagnostics"] = to_json(&diagnostics());
    document
}

fn a_bucket() -> Bucket {
    Bucket {
        verdict: OutcomeKind::FAIL,
        place: "l".to_owned(),
        cause: "event".to_owned(),
        action: Some("a".to_owned()),
        violated: vec![vec!["p == 3".to_owned()]],
    }
}

/// A folder of a test's own, gone at its end.
struct Folder(PathBuf);

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
