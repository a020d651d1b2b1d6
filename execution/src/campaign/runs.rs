//! Reads the runs of a store: one by its number or its key, or all of them without keeping them in memory.
//!
//! The store was checked ([`Store::read`]). A record that cannot be read is a finding, not a crash.

use std::collections::HashMap;
use std::fmt;

use rusqlite::types::Type;
use rusqlite::{OptionalExtension, Row};

use crate::campaign::store::{Result, Store, StoreError};
use crate::outcome::OutcomeKind;
use crate::record::{self, Record};

#[derive(Clone, PartialEq, Debug)]
pub struct StoredRun {
    pub number: i64,
    pub key: String,
    /// The hash of its test case.
    pub test: String,
    /// The hash of its implementation.
    pub iut: String,
    /// The document of [`crate::campaign::RunSettings`].
    pub settings: String,
    pub started: String,
    pub record: Record,
}

impl StoredRun {
    fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let (number, text): (i64, String) = (row.get("number")?, row.get("record")?);
        let record = record::read_record(text.as_bytes()).map_err(|why| {
            let why = format!("the record of run {number} cannot be read: {why}");
            rusqlite::Error::FromSqlConversionFailure(0, Type::Text, why.into())
        })?;
        Ok(StoredRun {
            number,
            key: row.get("key")?,
            test: row.get("test")?,
            iut: row.get("iut")?,
            settings: row.get("settings")?,
            started: row.get("started")?,
            record,
        })
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FindError {
    Store(StoreError),
    /// No run has this number, or a key with this beginning.
    Unknown(String),
    /// The text is neither a number nor the beginning of a key.
    NoRun(String),
    /// Several runs' keys begin with the text: the first keys, and the number of all.
    Ambiguous(String, Vec<String>, usize),
}

impl fmt::Display for FindError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FindError::Store(error) => error.fmt(f),
            FindError::Unknown(text) => write!(f, "the store has no run {text}"),
            FindError::NoRun(text) => {
                write!(f, "`{text}` names no run: expected its number or the beginning of its key")
            }
            FindError::Ambiguous(text, first, count) => {
                write!(f, "the keys of {count} runs begin with {text}: {}", first.join(", "))?;
                if *count > first.len() { f.write_str(", ...") } else { Ok(()) }
            }
        }
    }
}

impl Store {
    pub fn test_documents(&self) -> Result<HashMap<String, String>> {
        self.texts_by_hash("tests", "document")
    }

    pub fn iut_names(&self) -> Result<HashMap<String, String>> {
        self.texts_by_hash("iuts", "name")
    }

    fn texts_by_hash(&self, table: &str, column: &str) -> Result<HashMap<String, String>> {
        let mut texts = HashMap::new();
        self.each(table, &mut |row| {
            texts.insert(row.get("hash")?, row.get(column)?);
            Ok(())
        })?;
        Ok(texts)
    }

    pub fn test_document(&self, run: &StoredRun) -> Result<String> {
        let sql = "SELECT document FROM tests WHERE hash = ?1";
        self.translate(self.connection.query_row(sql, [&run.test], |row| row.get(0)))
    }

    /// Reads the description of a run's implementation ([`crate::campaign::StoredIut::description`]), and the
    /// name of the file that it was read from.
    pub fn iut_description(&self, run: &StoredRun) -> Result<(String, String)> {
        let sql = "SELECT description, file FROM iuts WHERE hash = ?1";
        self.translate(self.connection.query_row(sql, [&run.iut], |row| Ok((row.get(0)?, row.get(1)?))))
    }

    pub fn count(&self) -> Result<usize> {
        let count = self.connection.query_row("SELECT count(*) FROM runs", [], |row| row.get::<_, i64>(0));
        Ok(usize::try_from(self.translate(count)?).unwrap_or_default())
    }

    /// Counts the runs whose keys `wants` accepts, and the others.
    pub fn count_wanted(&self, wants: &dyn Fn(&str) -> bool) -> Result<(usize, usize)> {
        let count = || -> rusqlite::Result<(usize, usize)> {
            let mut statement = self.connection.prepare("SELECT key FROM runs")?;
            let mut rows = statement.query([])?;
            let (mut wanted, mut others) = (0, 0);
            while let Some(row) = rows.next()? {
                let is_wanted = wants(&row.get::<_, String>(0)?);
                *(if is_wanted { &mut wanted } else { &mut others }) += 1;
            }
            Ok((wanted, others))
        };
        self.translate(count())
    }

    /// Shows each run, in the order in which they were finished. After `visit` has returned `false`, the rest
    /// is only checked. One run is in memory at a time.
    /// Errors: [`StoreError`]. Then the runs that were shown before are not to be trusted.
    pub fn each_run(&self, visit: &mut dyn FnMut(StoredRun) -> bool) -> Result<()> {
        let mut goes_on = true;
        self.each("runs", &mut |row| {
            goes_on = goes_on && visit(StoredRun::read(row)?);
            Ok(())
        })
    }

    pub fn first_failing(&self) -> Result<Option<i64>> {
        let sql = "SELECT min(number) FROM runs WHERE verdict = ?1";
        self.translate(self.connection.query_row(sql, [OutcomeKind::FAIL], |row| row.get(0)))
    }

    /// Finds the run with this number (of at most seven digits), or with the only key that begins so.
    pub fn find(&self, text: &str) -> std::result::Result<StoredRun, FindError> {
        let text = text.trim();
        let unknown = || FindError::Unknown(text.to_owned());
        // A longer text is the beginning of a key, even if it has only digits.
        let is_number = text.len() <= 7 && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_key = text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if text.is_empty() || !is_key {
            return Err(FindError::NoRun(text.to_owned()));
        }
        if is_number {
            return self.read_run(text.parse().unwrap_or_default())?.ok_or_else(unknown);
        }
        // Such keys lie between the prefix and the prefix filled up with `g`, which is above their digits.
        let prefix = text.to_ascii_lowercase();
        let last = format!("{prefix:g<64}");
        let read_matches = || -> rusqlite::Result<Vec<(i64, String)>> {
            let sql = "SELECT number, key FROM runs WHERE key BETWEEN ?1 AND ?2 ORDER BY key";
            let mut statement = self.connection.prepare(sql)?;
            statement.query_map([&prefix, &last], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        match self.translate(read_matches()).map_err(FindError::Store)?.as_slice() {
            [] => Err(unknown()),
            [(number, _)] => self.read_run(*number)?.ok_or_else(unknown),
            several => {
                // A few more signs than the text has: most often enough to tell the keys apart.
                let length = prefix.len().max(crate::campaign::key::SHOWN) + 4;
                let first = several.iter().take(5).map(|(_, key)| key.chars().take(length).collect());
                Err(FindError::Ambiguous(text.to_owned(), first.collect(), several.len()))
            }
        }
    }

    pub(super) fn record(&self, number: i64) -> Result<serde_json::Value> {
        let sql = "SELECT record FROM runs WHERE number = ?1";
        let statement = self.translate(self.connection.prepare_cached(sql));
        let text: String = self.translate(statement?.query_row([number], |row| row.get(0)))?;
        serde_json::from_str(&text).map_err(|error| {
            let why = format!("the record of run {number} cannot be read: {error}");
            StoreError::Damaged(self.path.clone(), why)
        })
    }

    fn read_run(&self, number: i64) -> std::result::Result<Option<StoredRun>, FindError> {
        let sql = "SELECT * FROM runs WHERE number = ?1";
        let run = self.connection.query_row(sql, [number], StoredRun::read).optional();
        self.translate(run).map_err(FindError::Store)
    }
}
