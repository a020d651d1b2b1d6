//! Seals: a hash in each row says whether the row is as it was written.
//!
//! **Problem.** SQLite keeps a file intact after crashes, but not if a byte changes on its way over a disk, a
//! copy or a cable: it has no checksums. A changed byte in a verdict or a key makes it another run.
//!
//! **Method.** The seal of a row is the SHA-256 of its table's name and of the names, types and values of all
//! its columns. All readers of rows use [`read_sealed_rows`], which checks the seals: no row is read
//! unchecked. A row that is gone has no seal to show it, but the plan shows that the run is missing.
//!
//! It is not a signature: if somebody changes a row and computes the seal anew, nothing shows it.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Row, Statement, params};
use sha2::{Digest, Sha256};

use crate::campaign::key::SHOWN;

/// The tables with seals; runs first, since they are what a user knows.
pub(super) const TABLES: [&str; 6] = ["runs", "tests", "iuts", "repeats", "conflicts", "meta"];

/// The first five faults of a store, and the number of the others.
#[derive(Default, Debug)]
pub(super) struct Faults {
    list: Vec<String>,
    more: usize,
}

impl Faults {
    pub(super) fn push(&mut self, fault: String) {
        if self.list.len() < 5 { self.list.push(fault) } else { self.more += 1 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub(super) fn text(&self) -> String {
        let more = if self.more > 0 { format!("; and {} more", self.more) } else { String::new() };
        self.list.join("; ") + &more
    }
}

/// Prepares the query of a table's rows, with the row number first. `rest` selects or orders them.
fn prepare_query<'a>(connection: &'a Connection, table: &str, rest: &str) -> rusqlite::Result<Statement<'a>> {
    connection.prepare(&format!("SELECT rowid, * FROM {table} {rest}"))
}

/// Computes the seal of a row, from its table's name and its columns except the seal.
fn seal_of(table: &str, row: &Row<'_>) -> rusqlite::Result<[u8; 32]> {
    let mut hash = Sha256::new();
    let mut put = |kind: u8, bytes: &[u8]| {
        hash.update([kind]);
        hash.update((bytes.len() as u64).to_le_bytes());
        hash.update(bytes);
    };
    put(b't', table.as_bytes());
    // The first column is the rowid, which VACUUM may change. A run's number is a column as well.
    for (at, name) in row.as_ref().column_names().enumerate().skip(1) {
        if name == "seal" {
            continue;
        }
        put(b'c', name.as_bytes());
        match row.get_ref(at)? {
            ValueRef::Null => put(b'n', &[]),
            ValueRef::Integer(number) => put(b'i', &number.to_le_bytes()),
            ValueRef::Real(number) => put(b'r', &number.to_bits().to_le_bytes()),
            ValueRef::Text(text) => put(b's', text),
            ValueRef::Blob(bytes) => put(b'b', bytes),
        }
    }
    Ok(hash.finalize().into())
}

/// Seals the row that was inserted last. To be called in the transaction of the insert.
pub(super) fn seal_last(connection: &Connection, table: &str) -> rusqlite::Result<()> {
    let number = connection.last_insert_rowid();
    let seal = prepare_query(connection, table, "WHERE rowid = ?1")?
        .query_row([number], |row| seal_of(table, row))?;
    let update = format!("UPDATE {table} SET seal = ?1 WHERE rowid = ?2");
    connection.prepare_cached(&update)?.execute(params![seal, number])?;
    Ok(())
}

/// Reads all rows of a table in their order and shows each intact row to `visit`. Faults go to `faults`.
/// Errors: any error that is not damage.
pub(super) fn read_sealed_rows(
    connection: &Connection,
    table: &str,
    faults: &mut Faults,
    visit: &mut dyn FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<()> {
    let mut read = || -> rusqlite::Result<()> {
        let mut statement = prepare_query(connection, table, "ORDER BY rowid")?;
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            match row.get_ref("seal")?.as_blob() {
                Ok(seal) if seal == seal_of(table, row)? => visit(row)?,
                _ => faults.push(format!("{} does not fit its seal", name_of(table, row))),
            }
        }
        Ok(())
    };
    match read() {
        Err(error) if is_damage(&error) => {
            faults.push(format!("in the table `{table}`, {error}"));
            Ok(())
        }
        other => other,
    }
}

/// Does the error say that the file is damaged, rather than that it cannot be read now?
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode::{DatabaseCorrupt, NotADatabase, TypeMismatch, Unknown};
    // An error without a code is a value of another type than its column's.
    let is_of_file = |code| matches!(code, DatabaseCorrupt | NotADatabase | TypeMismatch | Unknown);
    error.sqlite_error_code().is_none_or(is_of_file)
}

/// Returns the name of a row in messages: `run 7 (5e2df0354b80)`.
fn name_of(table: &str, row: &Row<'_>) -> String {
    let number = row.get::<_, i64>(0).unwrap_or_default();
    let key = row.get_ref("key").ok().and_then(|key| key.as_bytes().ok()).unwrap_or_default();
    let key: String = String::from_utf8_lossy(key).chars().take(SHOWN).collect();
    match table {
        "runs" => format!("run {number} ({key})"),
        _ => format!("the row {number} of the table `{table}`"),
    }
}
