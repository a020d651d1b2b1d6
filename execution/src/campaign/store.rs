//! The store: one SQLite file with all that a campaign has done.
//!
//! **Problem.** A finished run must never be lost nor done again, whenever the process is killed, and a file that several
//! processes write must stay whole.
//!
//! **Method.** SQLite's own: a log that is written ahead (WAL), synchronized to the disk at each commit
//! (`synchronous = FULL`), and one immediate transaction for each run, which carries its whole record. A commit that was
//! cut off never happened. A run's key is unique, so a second process that did the same run writes nothing but a line in
//! `repeats`. Whoever meets a lock waits.
//!
//! **What is refused**: a file that is no data base, one that is not a store (its application number differs), one of
//! another format version, one that is damaged. All of that is a [`StoreError`], never a panic. A store may be read where
//! nothing may be written.
//!
//! The tables are described for users in `docs/campaigns.md`.

use std::collections::HashMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rusqlite::{Connection, ErrorCode, OpenFlags, OptionalExtension, TransactionBehavior, params};

use crate::campaign::plan::{Key, Plan, Planned};
use crate::record::Record;

/// The version of the tables: raised when an older program could not read them.
pub const FORMAT_VERSION: i64 = 1;

/// What SQLite keeps in a file's head to tell whose it is: "corh".
const APPLICATION: i64 = 0x636f_7268;

/// How long to wait for another process.
const PATIENCE: Duration = Duration::from_secs(60);

/// A number of a run has at most so many digits; what is longer is the beginning of a key.
const DIGITS: usize = 7;

const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT;
CREATE TABLE tests (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, document TEXT NOT NULL) STRICT;
CREATE TABLE iuts (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL, file TEXT NOT NULL) STRICT;
CREATE TABLE runs (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    test TEXT NOT NULL REFERENCES tests (hash),
    iut TEXT NOT NULL REFERENCES iuts (hash),
    constants TEXT NOT NULL,
    seed INTEGER NOT NULL,
    settings TEXT NOT NULL,
    verdict TEXT NOT NULL CHECK (verdict IN ('Pass', 'Inconclusive', 'Fail', 'RunError')),
    cause TEXT NOT NULL,
    reason TEXT NOT NULL,
    events INTEGER NOT NULL,
    record TEXT NOT NULL,
    version TEXT NOT NULL,
    started TEXT NOT NULL,
    seconds REAL NOT NULL) STRICT;
CREATE TABLE repeats (
    key TEXT NOT NULL, verdict TEXT NOT NULL, started TEXT NOT NULL) STRICT;
CREATE TABLE conflicts (
    key TEXT NOT NULL, verdict TEXT NOT NULL, cause TEXT NOT NULL, record TEXT NOT NULL, version TEXT NOT NULL,
    started TEXT NOT NULL, seconds REAL NOT NULL, store TEXT NOT NULL,
    PRIMARY KEY (key, verdict)) STRICT;
";

/// Why a store cannot be used.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum StoreError {
    /// There is no such file.
    Missing(PathBuf),
    /// It cannot be read or written here: the system's words.
    Access(PathBuf, String),
    /// It is no SQLite file.
    NoDatabase(PathBuf),
    /// It is a data base, and another program's.
    Foreign(PathBuf),
    /// It is a store of another format version.
    Version(PathBuf, i64),
    /// It is damaged: what SQLite found.
    Damaged(PathBuf, String),
    /// Another process has it for longer than we wait.
    Busy(PathBuf),
    /// Both stores of a merge are one file.
    Same(PathBuf),
}

impl StoreError {
    /// Is it the user's file that is wrong, rather than the machine that does not let us?
    pub fn is_mistake(&self) -> bool {
        !matches!(self, StoreError::Access(..) | StoreError::Busy(_))
    }
}

impl fmt::Display for StoreError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            StoreError::Missing(path) => write!(f, "there is no store {}", path.display()),
            StoreError::Access(path, why) => write!(f, "the store {} cannot be used: {why}", path.display()),
            StoreError::NoDatabase(path) => {
                write!(f, "{} is no store: it is not an SQLite file", path.display())
            }
            StoreError::Foreign(path) => {
                write!(f, "{} is no store: it is another program's data base", path.display())
            }
            StoreError::Version(path, version) => write!(
                f,
                "the store {} has format version {version}, this program reads {FORMAT_VERSION}",
                path.display()
            ),
            StoreError::Damaged(path, why) => write!(f, "the store {} is damaged: {why}", path.display()),
            StoreError::Busy(path) => write!(
                f,
                "another process kept the store {} locked for {} s",
                path.display(),
                PATIENCE.as_secs()
            ),
            StoreError::Same(path) => write!(f, "{} cannot be merged into itself", path.display()),
        }
    }
}

impl std::error::Error for StoreError {}

/// What SQLite says, in our words.
pub(super) fn wrong(path: &Path, error: &rusqlite::Error) -> StoreError {
    let path = path.to_owned();
    let text = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => StoreError::NoDatabase(path),
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => StoreError::Busy(path),
        Some(
            ErrorCode::CannotOpen
            | ErrorCode::ReadOnly
            | ErrorCode::PermissionDenied
            | ErrorCode::DiskFull
            | ErrorCode::SystemIoFailure
            | ErrorCode::OutOfMemory
            | ErrorCode::FileLockingProtocolFailed
            | ErrorCode::TooBig,
        ) => StoreError::Access(path, text),
        // A store of ours has all tables and types that are asked for: if one is missing, somebody changed it.
        _ => StoreError::Damaged(path, text),
    }
}

/// A finished run, without its record.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// Its number in this store: the order in which the runs were finished.
    pub number: i64,
    /// Its key.
    pub key: String,
    /// `Pass`, `Inconclusive`, `Fail` or `RunError`.
    pub verdict: String,
    /// Why, as a word.
    pub cause: String,
    /// Why, in a sentence.
    pub reason: String,
    /// The length of its trace.
    pub events: usize,
    /// How long it took.
    pub seconds: f64,
}

/// A run with all that is needed to tell or to repeat it.
#[derive(Clone, PartialEq, Debug)]
pub struct Found {
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

/// An open store.
#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

type Result<T> = std::result::Result<T, StoreError>;

impl Store {
    /// Opens a store to write to it; makes it where there is none.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn open(path: &Path, campaign: &str) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        // SQLite would open a file that may only be read, and tell of it at the first write.
        if path.is_file()
            && let Err(error) = std::fs::OpenOptions::new().append(true).open(path)
        {
            return Err(StoreError::Access(path.to_owned(), error.to_string()));
        }
        let connection =
            Connection::open_with_flags(uri(path, ""), flags).map_err(|error| wrong(path, &error))?;
        let mut store = Store { connection, path: path.to_owned() };
        store.prepare(campaign).map_err(|error| wrong(path, &error))??;
        Ok(store)
    }

    /// Opens a store that is there, for reading only.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn read(path: &Path) -> Result<Self> {
        let open = |query: &str| -> rusqlite::Result<Result<Store>> {
            let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
                | OpenFlags::SQLITE_OPEN_NO_MUTEX
                | OpenFlags::SQLITE_OPEN_URI;
            let connection = Connection::open_with_flags(uri(path, query), flags)?;
            connection.busy_timeout(PATIENCE)?;
            let store = Store { connection, path: path.to_owned() };
            Ok(store.check()?.map(|_| store))
        };
        if !path.is_file() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let opened = open("mode=ro").or_else(|error| match error.sqlite_error_code() {
            // Beside a log there is a file that readers share. Where none may be made, nobody writes either.
            Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) => open("immutable=1"),
            _ => Err(error),
        });
        match opened.map_err(|error| wrong(path, &error))?? {
            store if store.is_empty()? => Err(StoreError::Foreign(path.to_owned())),
            store => Ok(store),
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Settings of the connection, and the tables where there are none.
    fn prepare(&mut self, campaign: &str) -> rusqlite::Result<Result<()>> {
        self.connection.busy_timeout(PATIENCE)?;
        // Before anything is written: whose file is it?
        if let Err(error) = self.check()? {
            return Ok(Err(error));
        }
        self.enter_log_mode()?;
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have made them since.
        let ours: i64 = transaction.pragma_query_value(None, "application_id", |row| row.get(0))?;
        if ours == 0 {
            transaction.execute_batch(TABLES)?;
            transaction.pragma_update(None, "application_id", APPLICATION)?;
            transaction.pragma_update(None, "user_version", FORMAT_VERSION)?;
            let mut insert = transaction.prepare("INSERT INTO meta (name, value) VALUES (?1, ?2)")?;
            insert.execute(["campaign", campaign])?;
            insert.execute(["program", concat!("coreach ", env!("CARGO_PKG_VERSION"))])?;
            insert.execute(["format_version", &FORMAT_VERSION.to_string()])?;
            drop(insert);
            transaction.execute(
                "INSERT INTO meta (name, value) VALUES ('created', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))",
                [],
            )?;
        }
        transaction.commit()?;
        Ok(Ok(()))
    }

    /// Turns the log on. The change itself needs the file alone, and SQLite does not wait for that in every case.
    fn enter_log_mode(&self) -> rusqlite::Result<()> {
        const ATTEMPTS: usize = 200;
        for _ in 1..ATTEMPTS {
            let mode = self
                .connection
                .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
            match mode {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy) => {
                    std::thread::sleep(Duration::from_millis(50));
                }
                other => return other.map(|_| ()),
            }
        }
        self.connection.pragma_update(None, "journal_mode", "WAL")
    }

    /// Is it a store of ours, of our version, or still empty?
    fn check(&self) -> rusqlite::Result<Result<()>> {
        let pragma = |name: &str| -> rusqlite::Result<i64> {
            self.connection.pragma_query_value(None, name, |row| row.get(0))
        };
        let application = pragma("application_id")?;
        let things: i64 =
            self.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        if application != APPLICATION {
            let empty = application == 0 && things == 0 && pragma("user_version")? == 0;
            return Ok(if empty { Ok(()) } else { Err(StoreError::Foreign(self.path.clone())) });
        }
        let version = pragma("user_version")?;
        Ok(if version == FORMAT_VERSION {
            Ok(())
        } else {
            Err(StoreError::Version(self.path.clone(), version))
        })
    }

    fn is_empty(&self) -> Result<bool> {
        let things =
            self.connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0));
        Ok(things.map_err(|error| wrong(&self.path, &error))? == 0_i64)
    }

    /// Writes down the test cases and implementations of a plan; what is known stays.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn describe(&mut self, plan: &Plan) -> Result<()> {
        let path = self.path.clone();
        let mut describe = || -> rusqlite::Result<()> {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for test in &plan.tests {
                let sql = "INSERT OR IGNORE INTO tests (hash, name, document) VALUES (?1, ?2, ?3)";
                transaction.execute(sql, params![test.hash.to_string(), test.name, test.document])?;
            }
            for iut in &plan.iuts {
                let sql =
                    "INSERT OR IGNORE INTO iuts (hash, name, description, file) VALUES (?1, ?2, ?3, ?4)";
                transaction
                    .execute(sql, params![iut.hash.to_string(), iut.name, iut.description, iut.file])?;
            }
            transaction.commit()
        };
        describe().map_err(|error| wrong(&path, &error))
    }

    /// Keeps a finished run. Afterwards it is on the disk. `false`: it was there already, and nothing of it was changed;
    /// that it was done again is written down.
    ///
    /// # Errors
    /// [`StoreError`]; then the run is not kept.
    pub fn add(&mut self, plan: &Plan, run: &Planned, record: &Record, started: SystemTime) -> Result<bool> {
        let path = self.path.clone();
        self.insert(plan, run, record, started).map_err(|error| wrong(&path, &error))
    }

    fn insert(
        &mut self,
        plan: &Plan,
        run: &Planned,
        record: &Record,
        started: SystemTime,
    ) -> rusqlite::Result<bool> {
        let text = |error: serde_json::Error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
        let json = serde_json::to_string(record).map_err(text)?;
        let constants = serde_json::to_string(plan.constants(run)).map_err(text)?;
        let seed = i64::try_from(run.seed)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
        let since = started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let written = transaction
            .prepare_cached(
                "INSERT OR IGNORE INTO runs (key, test, iut, constants, seed, settings, verdict, cause, reason, events,
                     record, version, started, seconds)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
                     strftime('%Y-%m-%dT%H:%M:%fZ', ?13, 'unixepoch'), ?14)",
            )?
            .execute(params![
                run.key.to_string(),
                plan.tests[run.test].hash.to_string(),
                plan.iuts[run.iut].hash.to_string(),
                constants,
                seed,
                plan.settings.to_json().to_string(),
                record.verdict,
                record.cause,
                record.reason.summary,
                record.trace.len() as i64,
                json,
                env!("CARGO_PKG_VERSION"),
                since,
                record.seconds,
            ])?;
        if written == 0 {
            transaction.execute(
                "INSERT INTO repeats (key, verdict, started)
                 VALUES (?1, ?2, strftime('%Y-%m-%dT%H:%M:%fZ', ?3, 'unixepoch'))",
                params![run.key.to_string(), record.verdict, since],
            )?;
        }
        transaction.commit()?;
        Ok(written == 1)
    }

    /// Is this run finished?
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn has(&self, key: &Key) -> Result<bool> {
        let has =
            || self.connection.prepare_cached("SELECT 1 FROM runs WHERE key = ?1")?.exists([key.to_string()]);
        has().map_err(|error| wrong(&self.path, &error))
    }

    /// All finished runs by their keys.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn rows(&self) -> Result<HashMap<String, Row>> {
        let rows = || -> rusqlite::Result<HashMap<String, Row>> {
            let sql = "SELECT number, key, verdict, cause, reason, events, seconds FROM runs";
            let mut statement = self.connection.prepare(sql)?;
            let rows = statement.query_map([], |row| {
                Ok(Row {
                    number: row.get(0)?,
                    key: row.get(1)?,
                    verdict: row.get(2)?,
                    cause: row.get(3)?,
                    reason: row.get(4)?,
                    events: usize::try_from(row.get::<_, i64>(5)?).unwrap_or_default(),
                    seconds: row.get(6)?,
                })
            })?;
            rows.map(|row| row.map(|row| (row.key.clone(), row))).collect()
        };
        rows().map_err(|error| wrong(&self.path, &error))
    }

    /// How many runs were done again, and how many are in conflict after merging.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn doubts(&self) -> Result<(usize, usize)> {
        let count = |sql: &str| -> Result<usize> {
            let count = self.connection.query_row(sql, [], |row| row.get::<_, i64>(0));
            count
                .map(|count| usize::try_from(count).unwrap_or_default())
                .map_err(|error| wrong(&self.path, &error))
        };
        Ok((count("SELECT count(*) FROM repeats")?, count("SELECT count(DISTINCT key) FROM conflicts")?))
    }

    /// The number of the first run that failed.
    ///
    /// # Errors
    /// [`StoreError`].
    pub fn first_failing(&self) -> Result<Option<i64>> {
        let sql = "SELECT min(number) FROM runs WHERE verdict = 'Fail'";
        self.connection.query_row(sql, [], |row| row.get(0)).map_err(|error| wrong(&self.path, &error))
    }

    /// The run of this number, or of the only key that begins so. A number has at most seven digits.
    ///
    /// # Errors
    /// [`FindError`].
    pub fn find(&self, text: &str) -> std::result::Result<Found, FindError> {
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
                let length = prefix.len().max(super::plan::SHOWN) + 4;
                let first = several.iter().take(SHOWN).map(|(_, key)| key.chars().take(length).collect());
                Err(FindError::Ambiguous(text.to_owned(), first.collect(), several.len()))
            }
        }
    }

    fn one(&self, number: i64) -> std::result::Result<Option<Found>, FindError> {
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
        Ok(Some(Found {
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

/// A path as SQLite's URI, which is how it is told more than a name.
pub(super) fn uri(path: &Path, query: &str) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;

    // A relative path stays relative: `file:./x` means the working folder's.
    let mut text = String::from(if path.is_absolute() { "file:" } else { "file:./" });
    for byte in path.as_os_str().as_bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                text.push(char::from(*byte))
            }
            // Writing to a string cannot fail.
            other => drop(write!(text, "%{other:02x}")),
        }
    }
    if !query.is_empty() {
        text.push('?');
        text.push_str(query);
    }
    text
}
