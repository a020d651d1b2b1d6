//! The store: one SQLite file with all finished runs of a campaign.
//!
//! **Problem.** A finished run must never be lost nor done again, whenever the process is killed. A file that
//! several processes write must stay intact, and a damaged file must not be believed.
//!
//! **Method.** It is SQLite's own: a write-ahead log (WAL), synchronized to the disk at each commit
//! (`synchronous = FULL`), and one immediate transaction for each run, which carries its whole record. A
//! run's key is unique, so a second process that did the same run writes only a line in `repeats`. Whoever
//! meets a lock waits.
//!
//! **Opening checks everything**, through a connection that cannot write: whose file it is, the tables
//! (`schema`), each row (`seal`), and SQLite's own structure with its indices (`integrity_check`). Reading
//! runs checks them again. A log (`-wal`) that was damaged or cut off ends earlier, by SQLite's own
//! checksums: later runs are missing, and are done again.
//!
//! **Refused** are a file that is no data base, one that is not a store (its application number differs), one
//! of another format version, and one that is damaged. All of that is a [`StoreError`]. A store may be read
//! where nothing may be written. The tables are described in `docs/reference/configuration-and-campaign.md`.

use std::collections::HashMap;
use std::io::ErrorKind;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use rusqlite::types::Type;
use rusqlite::{Connection, ErrorCode, OpenFlags, Transaction, TransactionBehavior, params};

use crate::bucket::Bucket;
use crate::campaign::key::Key;
use crate::campaign::plan::{CampaignPlan, PlannedRun};
use crate::campaign::schema::{self, APPLICATION, FORMAT_VERSION};
use crate::campaign::seal::{self, Faults};
pub use crate::campaign::store_error::StoreError;
use crate::campaign::store_error::{store_error, wait_for_lock};
use crate::outcome::OutcomeKind;
use crate::record::{Record, read_record};

#[derive(Clone, PartialEq, Debug)]
pub struct RunRow {
    /// Its number in this store: the order in which the runs were finished.
    pub number: i64,
    pub key: String,
    pub verdict: OutcomeKind,
    pub cause: String,
    pub reason: String,
    /// The bucket of a run that ended with Fail or a run error.
    pub bucket: Option<Bucket>,
    pub events: usize,
    pub seconds: f64,
}

/// Doubts about runs: they were done again, or a merged store has them too.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Doubts {
    /// Key and verdict of each time that a run was done again.
    pub repeats: Vec<(String, OutcomeKind)>,
    /// Key and verdict of each run to which a merge brought another verdict.
    pub conflicts: Vec<(String, OutcomeKind)>,
}

#[derive(Debug)]
pub struct Store {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

pub(super) type Result<T> = std::result::Result<T, StoreError>;

#[derive(Clone, Debug)]
pub struct Finished<'a> {
    pub run: &'a PlannedRun,
    pub record: Record,
    pub started: SystemTime,
}

/// The contents of a store, read at one time, so that all reports of it agree.
#[derive(Clone, Debug)]
pub struct Contents {
    pub rows: HashMap<String, RunRow>,
    pub doubts: Doubts,
}

impl Store {
    /// Opens a store to write to it, or makes it.
    pub fn open(path: &Path, campaign: &str) -> Result<Self> {
        let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_CREATE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_URI;
        // SQLite would open a file that may only be read, and report it at the first write.
        if path.is_file()
            && let Err(error) = std::fs::OpenOptions::new().append(true).open(path)
        {
            return Err(StoreError::Access(path.to_owned(), error.to_string()));
        }
        // SQLite would remove the log of an empty file, and with it finished runs.
        let log = path_beside(path, "-wal");
        if path.metadata().is_ok_and(|file| file.len() == 0) && has_log(path) {
            let why = format!("the file is empty, and its log {} is there", log.display());
            return Err(StoreError::Damaged(path.to_owned(), why));
        }
        // Before anything is written: is the file ours, and is it intact? A data base without tables is
        // foreign to a reader, and becomes a store.
        if path.metadata().is_ok_and(|file| file.len() > 0) {
            match Store::read(path) {
                Ok(_) => {}
                Err(StoreError::Foreign(_)) if is_unmade(path) => {}
                Err(error) => return Err(error),
            }
        }
        // A record may contain secrets from the wire. SQLite's files next to the store get the same mode.
        match std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(path) {
            Err(error) if error.kind() != ErrorKind::AlreadyExists => {
                return Err(StoreError::Access(path.to_owned(), error.to_string()));
            }
            _ => {}
        }
        let connection = Connection::open_with_flags(sqlite_uri(path, ""), flags)
            .map_err(|error| store_error(path, &error))?;
        let mut store = Store { connection, path: path.to_owned() };
        store.prepare(campaign).map_err(|error| store_error(path, &error))??;
        Ok(store)
    }

    /// Opens an existing store for reading only, and checks all of it.
    pub fn read(path: &Path) -> Result<Self> {
        if !path.is_file() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let connection = connect_to_read(path).map_err(|error| store_error(path, &error))?;
        let store = match find_owner(&connection, path).map_err(|error| store_error(path, &error))?? {
            Owner::Us => Store { connection, path: path.to_owned() },
            Owner::Nobody => return Err(StoreError::Foreign(path.to_owned())),
        };
        let check = || -> rusqlite::Result<Faults> {
            let transaction = store.connection.unchecked_transaction()?;
            let faults = store.find_faults()?;
            transaction.finish()?;
            Ok(faults)
        };
        let faults = check().map_err(|error| store_error(path, &error))?;
        if faults.is_empty() { Ok(store) } else { Err(StoreError::Damaged(path.to_owned(), faults.text())) }
    }

    /// Checks the form of the tables, the seal of each row, then SQLite's own structure.
    fn find_faults(&self) -> rusqlite::Result<Faults> {
        let mut faults = Faults::default();
        for difference in schema::list_differences(&self.connection)? {
            faults.push(difference);
        }
        if !faults.is_empty() {
            return Ok(faults);
        }
        for table in seal::TABLES {
            seal::read_sealed_rows(&self.connection, table, &mut faults, &mut |_| Ok(()))?;
        }
        let mut messages: Vec<String> = Vec::new();
        let checked = self.connection.pragma_query(None, "integrity_check", |row| {
            messages.push(row.get(0)?);
            Ok(())
        });
        match checked {
            Err(error) if !seal::is_damage(&error) => return Err(error),
            Err(error) => messages.push(error.to_string()),
            Ok(()) => {}
        }
        for line in messages.iter().flat_map(|message| message.lines()).filter(|line| *line != "ok") {
            faults.push(line.to_owned());
        }
        Ok(faults)
    }

    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Sets the connection up, and makes the tables if there are none. The inner error is [`find_owner`]'s.
    fn prepare(&mut self, campaign: &str) -> rusqlite::Result<Result<()>> {
        self.connection.busy_handler(Some(wait_for_lock))?;
        if let Err(error) = find_owner(&self.connection, &self.path)? {
            return Ok(Err(error));
        }
        self.enter_log_mode()?;
        self.connection.pragma_update(None, "synchronous", "FULL")?;
        self.connection.pragma_update(None, "foreign_keys", true)?;
        let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        // Another process may have made the tables in the meantime.
        match find_owner(&transaction, &self.path)? {
            Err(error) => return Ok(Err(error)),
            Ok(Owner::Nobody) => schema::create_tables(&transaction, campaign)?,
            Ok(Owner::Us) => {}
        }
        transaction.commit()?;
        Ok(Ok(()))
    }

    /// Turns the log on. This needs the file alone. SQLite does not always wait for that, so we try again. On
    /// Unix each file can have a log, so the answer is never another mode, but an error.
    fn enter_log_mode(&self) -> rusqlite::Result<()> {
        let mut pauses = 0;
        loop {
            let mode = self
                .connection
                .pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get::<_, String>(0));
            let is_busy =
                |error: &rusqlite::Error| error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
            if !mode.as_ref().is_err_and(is_busy) || !wait_for_lock(pauses) {
                return mode.map(drop);
            }
            pauses += 1;
        }
    }

    /// Adds the test cases and implementations of a plan. Known ones stay as they are.
    pub fn describe(&mut self, plan: &CampaignPlan) -> Result<()> {
        let mut describe = || -> rusqlite::Result<()> {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for test in &plan.tests {
                let values = [test.hash.to_string(), test.name.clone(), test.document.clone()];
                append_new(&transaction, "tests", "hash, name, document", &values.map(Into::into))?;
            }
            for iut in &plan.iuts {
                let values =
                    [iut.hash.to_string(), iut.name.clone(), iut.description.clone(), iut.file.clone()];
                append_new(&transaction, "iuts", "hash, name, description, file", &values.map(Into::into))?;
            }
            transaction.commit()
        };
        let described = describe();
        self.translate(described)
    }

    /// Keeps finished runs, with one wait for the disk: all of them are kept, or none. `false`: the store had
    /// the run already, and only a repeat is noted.
    pub fn add_all(&mut self, plan: &CampaignPlan, runs: &[Finished<'_>]) -> Result<Vec<bool>> {
        let settings = plan.settings.to_json().to_string();
        let mut insert = || {
            let transaction = self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let are_new = runs.iter().map(|finished| insert_run(&transaction, plan, &settings, finished));
            let are_new = are_new.collect::<rusqlite::Result<Vec<bool>>>()?;
            transaction.commit()?;
            Ok(are_new)
        };
        let inserted = insert();
        self.translate(inserted)
    }

    pub fn has(&self, key: &Key) -> Result<bool> {
        let statement = self.translate(self.connection.prepare_cached("SELECT 1 FROM runs WHERE key = ?1"));
        self.translate(statement?.exists([key.to_string()]))
    }

    /// Turns an error of SQLite into one that names this store.
    pub(super) fn translate<T>(&self, result: rusqlite::Result<T>) -> Result<T> {
        result.map_err(|error| store_error(&self.path, &error))
    }

    pub fn contents(&self) -> Result<Contents> {
        Ok(Contents { rows: self.rows()?, doubts: self.doubts()? })
    }

    /// Reads all finished runs by their keys, each of them checked.
    pub fn rows(&self) -> Result<HashMap<String, RunRow>> {
        let mut rows = HashMap::new();
        self.each("runs", &mut |row| {
            let (key, verdict): (String, OutcomeKind) = (row.get("key")?, row.get("verdict")?);
            let bucket = match verdict {
                OutcomeKind::FAIL | OutcomeKind::RunError => {
                    Some(read_bucket(&row.get::<_, String>("record")?)?)
                }
                OutcomeKind::Verdict(_) => None,
            };
            let summary = RunRow {
                number: row.get("number")?,
                key: key.clone(),
                verdict,
                cause: row.get("cause")?,
                reason: row.get("reason")?,
                bucket,
                events: usize::try_from(row.get::<_, i64>("events")?).unwrap_or_default(),
                seconds: row.get("seconds")?,
            };
            rows.insert(key, summary);
            Ok(())
        })?;
        Ok(rows)
    }

    /// Lists the runs that were done again, and those in conflict after a merge.
    pub fn doubts(&self) -> Result<Doubts> {
        let list = |table: &str| -> Result<Vec<(String, OutcomeKind)>> {
            let mut list = Vec::new();
            self.each(table, &mut |row| {
                list.push((row.get("key")?, row.get("verdict")?));
                Ok(())
            })?;
            Ok(list)
        };
        Ok(Doubts { repeats: list("repeats")?, conflicts: list("conflicts")? })
    }

    /// Shows each row of a table, in order. It is an error if a row is damaged.
    pub(super) fn each(
        &self,
        table: &str,
        visit: &mut dyn FnMut(&rusqlite::Row<'_>) -> rusqlite::Result<()>,
    ) -> Result<()> {
        let mut faults = Faults::default();
        let mut walk = || -> rusqlite::Result<()> {
            let transaction = self.connection.unchecked_transaction()?;
            seal::read_sealed_rows(&self.connection, table, &mut faults, visit)?;
            transaction.finish()
        };
        self.translate(walk())?;
        if faults.is_empty() { Ok(()) } else { Err(StoreError::Damaged(self.path.clone(), faults.text())) }
    }
}

/// Inserts a row and seals it, unless a row has the same first column.
pub(super) fn append_new(
    transaction: &Connection,
    table: &str,
    columns: &str,
    values: &[rusqlite::types::Value],
) -> rusqlite::Result<()> {
    let first = columns.split(',').next().unwrap_or_default();
    let known = format!("SELECT 1 FROM {table} WHERE {first} = ?1");
    if transaction.prepare_cached(&known)?.exists([values.first()])? {
        return Ok(());
    }
    append(transaction, table, columns, values)
}

/// Inserts a row, and seals it.
pub(super) fn append(
    transaction: &Connection,
    table: &str,
    columns: &str,
    values: &[rusqlite::types::Value],
) -> rusqlite::Result<()> {
    let places = vec!["?"; values.len()].join(", ");
    let insert = format!("INSERT INTO {table} ({columns}) VALUES ({places})");
    transaction.prepare_cached(&insert)?.execute(rusqlite::params_from_iter(values))?;
    seal::seal_last(transaction, table)
}

/// Connects for reading, with these options of the URI.
fn connect_read_only(path: &Path, query: &str) -> rusqlite::Result<Connection> {
    let flags =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_URI;
    let mut connection = Connection::open_with_flags(sqlite_uri(path, query), flags)?;
    connection.busy_handler(Some(wait_for_lock))?;
    // Only the first access opens the log: its errors shall come from here.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get::<_, i64>(0))?;
    Ok(connection)
}

/// Connects for reading, also where nothing may be written.
fn connect_to_read(path: &Path) -> rusqlite::Result<Connection> {
    connect_read_only(path, "mode=ro").or_else(|error| match error.sqlite_error_code() {
        // Readers share a file next to a log. If it cannot be made here, nobody writes here either. If a kill
        // came while the first page was written, only a writer can roll the journal back. An immutable
        // connection does not see the log, so there must be none.
        Some(ErrorCode::CannotOpen | ErrorCode::ReadOnly) if !has_log(path) => {
            connect_read_only(path, "immutable=1")
        }
        _ => Err(error),
    })
}

fn read_bucket(record: &str) -> rusqlite::Result<Bucket> {
    let record = read_record(record.as_bytes());
    let bucket =
        record.and_then(|record| record.bucket.ok_or_else(|| "a record without a bucket".to_owned()));
    bucket.map_err(|why| rusqlite::Error::FromSqlConversionFailure(0, Type::Text, why.into()))
}

enum Owner {
    Us,
    Nobody,
}

/// Finds whose data base it is. The inner error says that it is another program's, or of another version.
fn find_owner(connection: &Connection, path: &Path) -> rusqlite::Result<Result<Owner>> {
    let pragma =
        |name: &str| -> rusqlite::Result<i64> { connection.pragma_query_value(None, name, |row| row.get(0)) };
    let application = pragma("application_id")?;
    let tables: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let version = pragma("user_version")?;
    Ok(match (application, version, tables) {
        (0, 0, 0) => Ok(Owner::Nobody),
        (APPLICATION, FORMAT_VERSION, _) => Ok(Owner::Us),
        (APPLICATION, ..) => Err(StoreError::Version(path.to_owned(), version)),
        _ => Err(StoreError::Foreign(path.to_owned())),
    })
}

/// Has nobody written anything into this data base yet?
fn is_unmade(path: &Path) -> bool {
    connect_to_read(path)
        .is_ok_and(|connection| matches!(find_owner(&connection, path), Ok(Ok(Owner::Nobody))))
}

/// Returns the path of a file that SQLite puts next to a store.
pub fn path_beside(store: &Path, ending: &str) -> PathBuf {
    let mut name = store.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

fn has_log(store: &Path) -> bool {
    path_beside(store, "-wal").metadata().is_ok_and(|log| log.len() > 0)
}

/// Writes a path as a URI of SQLite, which can have options.
fn sqlite_uri(path: &Path, query: &str) -> String {
    use std::fmt::Write;
    use std::os::unix::ffi::OsStrExt;

    // A relative path stays relative: `file:./x` means the working folder's. In front of an absolute path is
    // an empty host, because `//x/y` alone would begin with the host `x`.
    let mut text = String::from(if path.is_absolute() { "file://" } else { "file:./" });
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

/// Inserts a new run into the runs, and a known one into the repeats. Returns whether it was new.
fn insert_run(
    transaction: &Transaction<'_>,
    plan: &CampaignPlan,
    settings: &str,
    finished: &Finished<'_>,
) -> rusqlite::Result<bool> {
    let Finished { run, record, started } = finished;
    let not_written = |error: serde_json::Error| rusqlite::Error::ToSqlConversionFailure(Box::new(error));
    let json = serde_json::to_string(record).map_err(not_written)?;
    let constants = serde_json::to_string(plan.constants(run)).map_err(not_written)?;
    let seed =
        i64::try_from(run.seed).map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
    let since = started.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
    let key = run.key.to_string();
    let delays = record.trace.iter().filter(|step| step.is_delay()).count();
    let is_new = !transaction.prepare_cached("SELECT 1 FROM runs WHERE key = ?1")?.exists([&key])?;
    if is_new {
        transaction
            .prepare_cached(
                "INSERT INTO runs (key, test, iut, constants, seed, settings, verdict, cause, reason, events,
                     record, version, started, seconds, delays)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12,
                     strftime('%Y-%m-%dT%H:%M:%fZ', ?13, 'unixepoch'), ?14, ?15)",
            )?
            .execute(params![
                key,
                plan.tests[run.test].hash.to_string(),
                plan.iuts[run.iut].hash.to_string(),
                constants,
                seed,
                settings,
                record.verdict,
                record.cause,
                record.reason.summary,
                (record.trace.len() - delays) as i64,
                json,
                env!("CARGO_PKG_VERSION"),
                since,
                record.seconds,
                delays as i64,
            ])?;
        seal::seal_last(transaction, "runs")?;
    } else {
        transaction.execute(
            "INSERT INTO repeats (key, verdict, started)
             VALUES (?1, ?2, strftime('%Y-%m-%dT%H:%M:%fZ', ?3, 'unixepoch'))",
            params![key, record.verdict, since],
        )?;
        seal::seal_last(transaction, "repeats")?;
    }
    Ok(is_new)
}
