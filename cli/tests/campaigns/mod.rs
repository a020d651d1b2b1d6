//! Campaigns of the coffee machine, and what is in their stores.
#![allow(dead_code, reason = "not every test needs all of it")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rusqlite::Connection;
use serde_json::Value;

use crate::common::{self, Folder, exits};

/// A campaign in this folder, with more lines.
pub fn configured(folder: &Folder, more: &str) -> PathBuf {
    let text = format!("campaign: nightly\ntests: [{{ configuration: coreach.yaml }}]\n{more}\n");
    folder.write("campaign.yaml", &text)
}

/// Its store.
pub fn store(folder: &Folder) -> PathBuf {
    folder.0.join("nightly.sqlite")
}

pub fn coreach(config: &Path, more: &[&str]) -> Command {
    let mut command = common::coreach(["campaign"]);
    command.arg(config).args(more);
    command
}

#[track_caller]
pub fn run(config: &Path, more: &[&str], code: i32) -> Output {
    let output = coreach(config, more).output().unwrap();
    exits(&output, code);
    output
}

#[track_caller]
pub fn document(config: &Path, more: &[&str], code: i32) -> Value {
    common::json(&run(config, &[more, &["--format", "json"]].concat(), code))
}

/// Everything of the runs that must not depend on time: by key, the columns and the record.
pub fn results(store: &Path) -> BTreeMap<String, (Vec<String>, Value)> {
    let connection = Connection::open(store).unwrap();
    let sql =
        "SELECT key, test, iut, constants, seed || '', settings, verdict, cause, reason, record FROM runs";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement
        .query_map([], |row| (0..10).map(|at| row.get::<_, String>(at)).collect::<Result<Vec<_>, _>>());
    let rows = rows.unwrap().map(|row| {
        let mut row = row.unwrap();
        let mut record: Value = serde_json::from_str(&row.pop().unwrap()).unwrap();
        record.as_object_mut().unwrap().remove("seconds").unwrap();
        for step in record["trace"].as_array_mut().unwrap() {
            step.as_object_mut().unwrap().remove("at_ms").unwrap();
        }
        (row[0].clone(), (row, record))
    });
    rows.collect()
}

/// The answer to a question with one number.
pub fn sql(store: &Path, text: &str) -> i64 {
    Connection::open(store).unwrap().query_row(text, [], |row| row.get(0)).unwrap()
}

/// 40 runs.
pub const SMALL: &str = "iuts: [right.yaml, wrong.yaml]\nconstants: [{ cPrice: 3 }, { cPrice: 50 }]\nseeds: { first: 1, count: 10 }";
