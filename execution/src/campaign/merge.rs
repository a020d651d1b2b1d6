//! Joining stores: the parts of a campaign that several machines have done.
//!
//! One store takes what the others have, each in one transaction, so that a merge may be killed and begun again like
//! everything here. A run that both have is one run, and stays as it is. Where the two verdicts differ, somebody's
//! implementation is not a function of the seed, or two programs were at work: the run stays as it is and the other
//! one is kept beside it, in `conflicts`; it is counted and reported, never overwritten.

use std::path::Path;

use rusqlite::{ErrorCode, TransactionBehavior};

use crate::campaign::store::{Store, StoreError, uri, wrong};

/// What came out of one store.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Merged {
    /// Runs that were new.
    pub new: usize,
    /// Runs that both stores had.
    pub known: usize,
    /// Of those, runs with another verdict.
    pub conflicts: usize,
}

const COLUMNS: &str = "key, test, iut, constants, seed, settings, verdict, cause, reason, events, record, version, started, seconds";

impl Store {
    /// Takes all runs of another store.
    ///
    /// # Errors
    /// [`StoreError`], of either file; then nothing was taken.
    pub fn merge(&mut self, from: &Path) -> Result<Merged, StoreError> {
        let canonical = |path: &Path| path.canonicalize().ok();
        if canonical(from).is_some() && canonical(from) == canonical(&self.path) {
            return Err(StoreError::Same(from.to_owned()));
        }
        // Is it a store, of our version? What is wrong with it is then said of it.
        Store::read(from)?;
        let attach = |query: &str| self.connection.execute("ATTACH DATABASE ?1 AS other", [uri(from, query)]);
        let attached = attach("mode=ro").and_then(|_| {
            self.connection.query_row("SELECT count(*) FROM other.meta", [], |row| row.get::<_, i64>(0))
        });
        if let Err(error) = attached {
            let is_access =
                matches!(error.sqlite_error_code(), Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly));
            // Where it was not attached, there is nothing to detach.
            let _ = self.connection.execute("DETACH DATABASE other", []);
            if !is_access {
                return Err(wrong(from, &error));
            }
            attach("immutable=1").map_err(|error| wrong(from, &error))?;
        }
        let merged = self.take(from);
        let detached = self.connection.execute("DETACH DATABASE other", []);
        let merged = merged.map_err(|error| match error.sqlite_error_code() {
            // Who is damaged? The other one has not been read as a whole before.
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => wrong(from, &error),
            _ => wrong(&self.path, &error),
        })?;
        detached.map_err(|error| wrong(&self.path, &error))?;
        Ok(merged)
    }

    fn take(&mut self, from: &Path) -> rusqlite::Result<Merged> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let count = |sql: &str| -> rusqlite::Result<usize> {
            transaction
                .query_row(sql, [], |row| row.get::<_, i64>(0))
                .map(|n| usize::try_from(n).unwrap_or_default())
        };
        let known = count("SELECT count(*) FROM other.runs o JOIN main.runs m ON m.key = o.key")?;
        let conflicts = count(
            "SELECT count(*) FROM other.runs o JOIN main.runs m ON m.key = o.key WHERE m.verdict <> o.verdict",
        )?;
        transaction.execute(
            "INSERT OR IGNORE INTO main.conflicts (key, verdict, cause, record, version, started, seconds, store)
             SELECT o.key, o.verdict, o.cause, o.record, o.version, o.started, o.seconds, ?1
             FROM other.runs o JOIN main.runs m ON m.key = o.key WHERE m.verdict <> o.verdict ORDER BY o.number",
            [from.display().to_string()],
        )?;
        transaction.execute_batch(
            "INSERT OR IGNORE INTO main.conflicts SELECT * FROM other.conflicts;
             INSERT OR IGNORE INTO main.tests SELECT * FROM other.tests;
             INSERT OR IGNORE INTO main.iuts SELECT * FROM other.iuts;
             INSERT INTO main.repeats (key, verdict, started)
                 SELECT key, verdict, started FROM other.repeats EXCEPT SELECT key, verdict, started FROM main.repeats;",
        )?;
        let new = transaction.execute(
            &format!(
                "INSERT OR IGNORE INTO main.runs ({COLUMNS}) SELECT {COLUMNS} FROM other.runs ORDER BY number"
            ),
            [],
        )?;
        transaction.commit()?;
        Ok(Merged { new, known, conflicts })
    }
}
