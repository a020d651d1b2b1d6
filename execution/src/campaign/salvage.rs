//! What is whole in a store that is damaged, taken into another one.
//!
//! **Problem.** A store that is damaged is refused as a whole, since nobody can say what its summary would
//! hide. But most of a long campaign's runs may be whole, and need not be done again.
//!
//! **Method.** The damaged file is only read. Its rows are asked for one by one, by their numbers, up to the
//! largest that anything in the file tells of: so one page that cannot be read costs the rows on it and no
//! others. A row is taken if it fits its seal and the rows of its test case and implementation do. All else
//! is left, and told by its number. The campaign then does those runs again, like any that are missing.
//!
//! Where two of a run's verdicts differ, nothing is decided here either ([`super::merge`]).

use std::path::Path;

use rusqlite::{Connection, OptionalExtension, TransactionBehavior};

use crate::campaign::merge::{CONFLICTS, IUTS, TESTS, take_conflict, take_repeat, take_run, values};
use crate::campaign::store::{Store, StoreError, append_new};
use crate::campaign::store_error::wrong;
use crate::campaign::{log, seal};

/// No store has more rows in a table, and no more are looked for.
const MOST: i64 = 10_000_000;

/// What came of it.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Salvaged {
    /// Runs that were taken, those that were there already among them.
    pub taken: usize,
    /// What was left, and why.
    pub left: Vec<String>,
    /// What is wrong with the whole: rows that nobody can tell of.
    pub doubt: Option<String>,
}

impl Store {
    /// Takes what is whole from a damaged store.
    ///
    /// # Errors
    /// [`StoreError`]: not even its head can be read, or this one cannot be written.
    pub fn salvage(&mut self, from: &Path) -> Result<Salvaged, StoreError> {
        let doubt = match Store::read(from) {
            Ok(_) => None,
            Err(StoreError::Damaged(_, why)) => Some(why),
            Err(error) => return Err(error),
        };
        // Where the file itself is empty, SQLite would remove its log.
        if from.metadata().is_ok_and(|file| file.len() == 0) && log::is_there(from) {
            return Err(StoreError::Damaged(from.to_owned(), doubt.unwrap_or_default()));
        }
        let other = Store::unchecked(from)?;
        let mut salvaged = Salvaged { doubt, ..Salvaged::default() };
        self.rescue(&other, &mut salvaged).map_err(|error| wrong(&self.path, &error))?;
        Ok(salvaged)
    }

    fn rescue(&mut self, other: &Store, salvaged: &mut Salvaged) -> rusqlite::Result<()> {
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let name = other.path.display().to_string();
        for (table, columns) in [("tests", TESTS), ("iuts", IUTS)] {
            rows(other, table, salvaged, &mut |row| {
                append_new(&transaction, table, columns, &values(row, columns)?).map(|_| true)
            });
        }
        let has = |table: &str, hash: String| {
            transaction.prepare(&format!("SELECT 1 FROM {table} WHERE hash = ?1"))?.exists([hash])
        };
        salvaged.taken = rows(other, "runs", salvaged, &mut |row| {
            let is_described = has("tests", row.get("test")?)? && has("iuts", row.get("iut")?)?;
            if is_described {
                take_run(&transaction, row, &name)?;
            }
            Ok(is_described)
        });
        rows(other, "conflicts", salvaged, &mut |row| {
            take_conflict(&transaction, &values(row, CONFLICTS)?).map(|()| true)
        });
        rows(other, "repeats", salvaged, &mut |row| take_repeat(&transaction, row).map(|()| true));
        transaction.commit()
    }
}

/// Shows each row that is whole; the others are told of. How many `take` has taken.
fn rows(
    other: &Store,
    table: &str,
    salvaged: &mut Salvaged,
    take: &mut dyn FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<bool>,
) -> usize {
    let mut taken = 0;
    for number in 1..=last(&other.connection, table) {
        match seal::one(&other.connection, table, number, |row| take(row)) {
            Some(Ok(true)) => taken += 1,
            Some(Ok(false)) => {
                salvaged.left.push(format!("run {number}: its test case or implementation is damaged"));
            }
            Some(Err(why)) => salvaged.left.push(why),
            None if table == "runs" => salvaged.left.push(format!("run {number} is missing")),
            None => {}
        }
    }
    taken
}

/// The largest number that a row may have, by all that tells of it.
fn last(connection: &Connection, table: &str) -> i64 {
    let ask = |sql: &str| {
        let found = connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0)).optional();
        found.ok().flatten().flatten().unwrap_or_default()
    };
    let counted = ask(&format!("SELECT count FROM seals WHERE name = '{table}'"));
    let largest = ask(&format!("SELECT max(rowid) FROM {table}"));
    // In a damaged chain or tree, either may be anything; what is beyond the other's double is no number of a
    // run.
    let smaller = counted.min(largest).max(0);
    let larger = counted.max(largest).max(0);
    if smaller > 0 && larger / 2 > smaller { smaller } else { larger }.min(MOST)
}
