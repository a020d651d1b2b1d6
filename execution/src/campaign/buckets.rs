//! The buckets of a store's runs.
//!
//! A record says its bucket, since there are buckets. One of an older version does not, and needs no migration: its trace is
//! shown to its test case again, which the store has as well. So the same failure has one bucket, whichever version wrote it, but
//! where the test case does not say of which locations it was made: then its location's label is the place. A record
//! that no longer fits its test case has what it says itself of its place and its action, which is better than nothing.
//!
//! **Costs** reading each test case once, and each old record that failed through its test case.

use std::collections::HashMap;

use rusqlite::Connection;

use crate::bucket::Bucket;
use crate::ending::Ending;
use crate::explain::reason;
use crate::judge;
use crate::record::{Record, read, restore};
use crate::test_case::TestCase;

/// Finds buckets.
pub(super) struct Buckets<'c> {
    connection: &'c Connection,
    /// Test cases by their hashes; nothing where one cannot be read.
    cases: HashMap<String, Option<TestCase>>,
}

impl<'c> Buckets<'c> {
    /// Of the runs of this store.
    pub(super) fn new(connection: &'c Connection) -> Self {
        Buckets { connection, cases: HashMap::new() }
    }

    /// Of the run with this record and the test case of this hash. It ended so, for this cause: what failed is told, even
    /// where nothing can be read.
    pub(super) fn of(&mut self, test: &str, record: &str, verdict: Ending, cause: &str) -> Bucket {
        let Ok(record) = read(record.as_bytes()) else {
            let (place, cause) = (String::new(), cause.to_owned());
            return Bucket { verdict, place, cause, action: None, violated: Vec::new() };
        };
        record.bucket.clone().or_else(|| self.derived(test, &record)).unwrap_or_else(|| said(&record))
    }

    fn derived(&mut self, hash: &str, record: &Record) -> Option<Bucket> {
        if !self.cases.contains_key(hash) {
            let sql = "SELECT document FROM tests WHERE hash = ?1";
            let document = self.connection.query_row(sql, [hash], |row| row.get::<_, String>(0));
            let case = document.ok().and_then(|document| TestCase::from_json(document.as_bytes()).ok());
            self.cases.insert(hash.to_owned(), case);
        }
        let test = self.cases.get(hash)?.as_ref()?;
        let (initial, run) = restore(test, record).ok()?;
        Some(reason(judge::of(test, initial, run.link).as_mut(), &run).bucket)
    }
}

/// What a record says itself, whose last step decided if an event did.
fn said(record: &Record) -> Bucket {
    let last = record.trace.last().filter(|_| record.cause == "event");
    Bucket {
        verdict: record.verdict,
        place: record.reason.location.clone(),
        cause: record.cause.clone(),
        action: last.and_then(|step| step.action.clone()),
        violated: Vec::new(),
    }
}
