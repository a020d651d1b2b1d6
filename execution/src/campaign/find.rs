//! One run of a store, by its number or its key.
//!
//! The store was checked as a whole when it was opened ([`Store::read`]); what is read here is read from the
//! same snapshot's file, and a record that is none is still a finding, not a crash.

use std::fmt;

use rusqlite::OptionalExtension;

use crate::campaign::store::{Store, StoreError};
use crate::campaign::store_error::wrong;
use crate::outcome::OutcomeKind;
use crate::record::Record;

/// A number of a run has at most so many digits; what is longer is the beginning of a key.
const DIGITS: usize = 7;

type Result<T> = std::result::Result<T, StoreError>;

/// A run with all that is needed to tell or to repeat it.
#[derive(Clone, PartialEq, Debug)]
pub struct StoredRun {
    /// Its number in this store.
    pub number: i64,
    /// Its key.
    pub key: String,
    /// What happened.
    pub record: Record,
    /// The name of the test case.
    pub test: String,
    /// Its document.
    pub document: String,
    /// The name of the implementation.
    pub iut: String,
    /// Its description ([`crate::campaign::Iut::description`]).
    pub description: String,
    /// The file that the implementation was read from.
    pub file: String,
    /// [`crate::campaign::RunSettings`] as a document.
    pub settings: serde_json::Value,
    /// The version of the program that did it.
    pub version: String,
    /// When it began, in UTC.
    pub started: String,
}

/// Why a run is not found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FindError {
    /// The store cannot be read.
    Store(StoreError),
    /// No run has this number, or a key that begins so.
    Unknown(String),
    /// The text is neither a number nor the beginning of a key.
    NoRun(String),
    /// Several runs' keys begin so: the first of them, and how many there are.
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

impl std::error::Error for FindError {}

impl Store {
    /// The number of the first run that failed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn first_failing(&self) -> Result<Option<i64>> {
        let sql = "SELECT min(number) FROM runs WHERE verdict = ?1";
        self.connection
            .query_row(sql, [OutcomeKind::FAIL], |row| row.get(0))
            .map_err(|error| wrong(&self.path, &error))
    }

    /// The run of this number, or of the only key that begins so. A number has at most seven digits.
    pub fn find(&self, text: &str) -> std::result::Result<StoredRun, FindError> {
        let text = text.trim();
        let broken = |error: rusqlite::Error| FindError::Store(wrong(&self.path, &error));
        let is_number = text.len() <= DIGITS && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_key = text.len() <= 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if text.is_empty() || !is_key {
            return Err(FindError::NoRun(text.to_owned()));
        }
        if is_number {
            let found = self.one(text.parse().unwrap_or_default())?;
            return found.ok_or_else(|| FindError::Unknown(text.to_owned()));
        }
        // A key begins so if it lies between the prefix and the prefix with the largest signs behind it.
        let prefix = text.to_ascii_lowercase();
        let last = format!("{prefix:g<64}");
        let numbers = || -> rusqlite::Result<Vec<(i64, String)>> {
            let sql = "SELECT number, key FROM runs WHERE key BETWEEN ?1 AND ?2 ORDER BY key";
            let mut statement = self.connection.prepare(sql)?;
            statement.query_map([&prefix, &last], |row| Ok((row.get(0)?, row.get(1)?)))?.collect()
        };
        match numbers().map_err(broken)?.as_slice() {
            [] => Err(FindError::Unknown(text.to_owned())),
            [(number, _)] => self.one(*number)?.ok_or_else(|| FindError::Unknown(text.to_owned())),
            several => {
                const SHOWN: usize = 5;
                // As much of each key as tells it from the next ones.
                let length = prefix.len().max(crate::campaign::key::SHOWN) + 4;
                let first = several.iter().take(SHOWN).map(|(_, key)| key.chars().take(length).collect());
                Err(FindError::Ambiguous(text.to_owned(), first.collect(), several.len()))
            }
        }
    }

    /// The record of the run of this number, as it is kept.
    pub(super) fn record(&self, number: i64) -> Result<serde_json::Value> {
        let sql = "SELECT record FROM runs WHERE number = ?1";
        let read = || -> rusqlite::Result<String> {
            self.connection.prepare_cached(sql)?.query_row([number], |row| row.get(0))
        };
        let text = read().map_err(|error| wrong(&self.path, &error))?;
        serde_json::from_str(&text).map_err(|error| {
            let why = format!("the record of run {number} cannot be read: {error}");
            StoreError::Damaged(self.path.clone(), why)
        })
    }

    fn one(&self, number: i64) -> std::result::Result<Option<StoredRun>, FindError> {
        let broken = |error: rusqlite::Error| FindError::Store(wrong(&self.path, &error));
        let damaged = |what: &str, error: &dyn fmt::Display| {
            let why = format!("{what} of run {number} cannot be read: {error}");
            FindError::Store(StoreError::Damaged(self.path.clone(), why))
        };
        let sql = "SELECT r.key, r.record, t.name, t.document, i.name, i.description, i.file, r.settings, r.version,
                       r.started
                   FROM runs r JOIN tests t ON t.hash = r.test JOIN iuts i ON i.hash = r.iut WHERE r.number = ?1";
        let texts = |row: &rusqlite::Row<'_>| -> rusqlite::Result<Vec<String>> {
            (0..10).map(|column| row.get(column)).collect()
        };
        let texts = self.connection.query_row(sql, [number], texts).optional().map_err(broken)?;
        let Some(texts) = texts else { return Ok(None) };
        let mut texts = texts.into_iter();
        let mut next = || texts.next().unwrap_or_default();
        Ok(Some(StoredRun {
            number,
            key: next(),
            record: crate::record::read(next().as_bytes()).map_err(|error| damaged("the record", &error))?,
            test: next(),
            document: next(),
            iut: next(),
            description: next(),
            file: next(),
            settings: serde_json::from_str(&next()).map_err(|error| damaged("the settings", &error))?,
            version: next(),
            started: next(),
        }))
    }
}
