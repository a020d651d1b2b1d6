//! Merges stores: the shards of a campaign that several machines have done.
//!
//! One store takes the rows of the others, each store in one transaction, so that a merge may be killed and
//! begun again like everything here. A run that both have is one run, and stays as it is. If the two verdicts
//! differ, somebody's implementation is not a function of the seed, or two programs were at work. The run
//! stays as it is and the other one is kept next to it, in `conflicts`. It is counted and reported, never
//! overwritten, and counts in the exit code of the campaign ([`super::summary`]).
//!
//! A merge for one campaign takes the runs of its plan and no others, and reports how many it did not take.
//!
//! Each row was checked in its own store, and gets a new seal here with its new number.

use std::path::Path;

use rusqlite::types::Value;
use rusqlite::{Connection, OptionalExtension, Row, TransactionBehavior, params};

use crate::campaign::seal::{self, Faults};
use crate::campaign::store::{Store, StoreError, append, append_new};
use crate::campaign::store_error::store_error;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Merged {
    pub new: usize,
    pub known: usize,
    /// The known runs that have another verdict.
    pub conflicts: usize,
    /// Runs that were not wanted, and were not taken.
    pub left: usize,
}

const TESTS: &str = "hash, name, document";
const IUTS: &str = "hash, name, description, file";
const RUNS: &str = "key, test, iut, constants, seed, settings, verdict, cause, reason, events, delays, record, version, started, seconds";
const REPEATS: &str = "key, verdict, started";
const CONFLICTS: &str = "key, verdict, cause, record, version, started, seconds, store";

/// Reads the values of these columns. An older store lacks some columns: these are counts, and are 0.
fn column_values(row: &Row<'_>, columns: &str) -> rusqlite::Result<Vec<Value>> {
    let value = |column| match row.as_ref().column_index(column) {
        Ok(at) => row.get(at),
        Err(_) => Ok(Value::Integer(0)),
    };
    columns.split(", ").map(value).collect()
}

impl Store {
    /// Takes the wanted runs of another store.
    /// Errors: [`StoreError`], of either file. Then nothing was taken.
    pub fn merge(&mut self, from: &Path, wants: &dyn Fn(&str) -> bool) -> Result<Merged, StoreError> {
        if is_same_file(from, &self.path) {
            return Err(StoreError::Same(from.to_owned()));
        }
        let other = Store::read(from)?;
        let mut faults = Faults::default();
        let merged =
            self.take_rows(&other, wants, &mut faults).map_err(|error| store_error(&self.path, &error))?;
        // It was intact a moment ago, and no longer is.
        if !faults.is_empty() {
            return Err(StoreError::Damaged(from.to_owned(), faults.text()));
        }
        Ok(merged)
    }

    /// Takes the runs with wanted keys, and all tests and implementations, in one transaction. If the other
    /// store has faults, they go to `faults`, and nothing is taken. `wants` gets a key.
    fn take_rows(
        &mut self,
        other: &Store,
        wants: &dyn Fn(&str) -> bool,
        faults: &mut Faults,
    ) -> rusqlite::Result<Merged> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let snapshot = other.connection.unchecked_transaction()?;
        let name = other.path.display().to_string();
        let mut merged = Merged::default();
        let is_wanted = |row: &Row<'_>| row.get::<_, String>("key").map(|key| wants(&key));
        let mut read = |table: &str, visit: &mut dyn FnMut(&Row<'_>) -> rusqlite::Result<()>| {
            seal::read_sealed_rows(&other.connection, table, faults, visit)
        };
        read("tests", &mut |row| append_new(&transaction, "tests", TESTS, &column_values(row, TESTS)?))?;
        read("iuts", &mut |row| append_new(&transaction, "iuts", IUTS, &column_values(row, IUTS)?))?;
        read("runs", &mut |row| {
            if !is_wanted(row)? {
                merged.left += 1;
                return Ok(());
            }
            take_run(&transaction, row, &name, &mut merged)
        })?;
        read("conflicts", &mut |row| match is_wanted(row)? {
            true => take_conflict(&transaction, &column_values(row, CONFLICTS)?),
            false => Ok(()),
        })?;
        read("repeats", &mut |row| if is_wanted(row)? { take_repeat(&transaction, row) } else { Ok(()) })?;
        snapshot.finish()?;
        // Without a commit, nothing that was taken stays.
        if faults.is_empty() {
            transaction.commit()?;
        }
        Ok(merged)
    }
}

fn is_same_file(one: &Path, other: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;

    match (one.metadata(), other.metadata()) {
        (Ok(one), Ok(other)) => (one.dev(), one.ino()) == (other.dev(), other.ino()),
        _ => false,
    }
}

/// Takes a new run; a known run with another verdict goes into `conflicts`. Counts what it was.
fn take_run(
    transaction: &Connection,
    row: &Row<'_>,
    store: &str,
    merged: &mut Merged,
) -> rusqlite::Result<()> {
    let (key, verdict): (String, String) = (row.get("key")?, row.get("verdict")?);
    let known: Option<String> = transaction
        .prepare_cached("SELECT verdict FROM runs WHERE key = ?1")?
        .query_row([&key], |row| row.get(0))
        .optional()?;
    let Some(known) = known else {
        merged.new += 1;
        return append(transaction, "runs", RUNS, &column_values(row, RUNS)?);
    };
    merged.known += 1;
    if known == verdict {
        return Ok(());
    }
    merged.conflicts += 1;
    let mut conflict = column_values(row, "key, verdict, cause, record, version, started, seconds")?;
    conflict.push(Value::Text(store.to_owned()));
    take_conflict(transaction, &conflict)
}

/// Takes a conflict, unless the run has one with this verdict already.
fn take_conflict(transaction: &Connection, conflict: &[Value]) -> rusqlite::Result<()> {
    let known = "SELECT 1 FROM conflicts WHERE key = ?1 AND verdict = ?2";
    if transaction.prepare_cached(known)?.exists(params![conflict.first(), conflict.get(1)])? {
        return Ok(());
    }
    append(transaction, "conflicts", CONFLICTS, conflict)
}

fn take_repeat(transaction: &Connection, row: &Row<'_>) -> rusqlite::Result<()> {
    let repeat = column_values(row, REPEATS)?;
    let known = "SELECT 1 FROM repeats WHERE key = ?1 AND verdict = ?2 AND started = ?3";
    if transaction.prepare_cached(known)?.exists(rusqlite::params_from_iter(&repeat))? {
        return Ok(());
    }
    append(transaction, "repeats", REPEATS, &repeat)
}
