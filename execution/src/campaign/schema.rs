//! The tables of a store, and how a store of an older version gets them.
//!
//! A version is a step: a store of version n is an empty file with the first n steps done, whether it was made so or has
//! come there over the years. So there is one text of each table, and a migrated store is a new one. Whoever changes the
//! tables appends a step, and keeps those that are there as they are. Before a step, the store is checked by the rules
//! of its own version; after the last one, all of it is sealed anew, in the same transaction.

use rusqlite::Connection;

use crate::campaign::seal;

/// The version of the tables: the number of steps.
pub const FORMAT_VERSION: i64 = STEPS.len() as i64;

/// What SQLite keeps in a file's head to tell whose it is: "corh".
pub(super) const APPLICATION: i64 = 0x636f_7268;

/// From one version to the next.
type Step = fn(&Connection) -> rusqlite::Result<()>;

const STEPS: [Step; 3] = [tables, seals, judges];

/// To version 1.
fn tables(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(
        "
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
",
    )
}

/// To version 2: each row has a seal, each table a chain of them.
fn seals(connection: &Connection) -> rusqlite::Result<()> {
    for table in seal::TABLES {
        connection
            .execute_batch(&format!("ALTER TABLE {table} ADD COLUMN seal BLOB NOT NULL DEFAULT x''"))?;
    }
    connection.execute_batch(
        "CREATE TABLE seals (name TEXT PRIMARY KEY, count INTEGER NOT NULL, head BLOB NOT NULL) STRICT",
    )
}

/// To version 3: `verdict` takes any word, since more judges have more verdicts, and `delays` says how many steps of the
/// trace are no events. Which words there are is said by the type that reads them ([`crate::ending::Ending`]), not by
/// the file.
///
/// SQLite cannot take a check from a table, so the table is made anew and its rows are copied, by the way that its
/// documentation describes ("Making Other Kinds Of Table Schema Changes"). What a user has built on it, indices and
/// views, is there afterwards, too: indices are made again, and names within views are not looked at.
fn judges(connection: &Connection) -> rusqlite::Result<()> {
    let mut indices = connection.prepare(
        "SELECT sql FROM sqlite_schema WHERE type = 'index' AND tbl_name = 'runs' AND sql IS NOT NULL",
    )?;
    let indices: Vec<String> = indices.query_map([], |row| row.get(0))?.collect::<rusqlite::Result<_>>()?;
    connection.pragma_update(None, "legacy_alter_table", true)?;
    connection.execute_batch(
        "
CREATE TABLE coreach_new_runs (
    number INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    test TEXT NOT NULL REFERENCES tests (hash),
    iut TEXT NOT NULL REFERENCES iuts (hash),
    constants TEXT NOT NULL,
    seed INTEGER NOT NULL,
    settings TEXT NOT NULL,
    verdict TEXT NOT NULL,
    cause TEXT NOT NULL,
    reason TEXT NOT NULL,
    events INTEGER NOT NULL,
    delays INTEGER NOT NULL DEFAULT 0,
    record TEXT NOT NULL,
    version TEXT NOT NULL,
    started TEXT NOT NULL,
    seconds REAL NOT NULL,
    seal BLOB NOT NULL DEFAULT x'') STRICT;
INSERT INTO coreach_new_runs
    (number, key, test, iut, constants, seed, settings, verdict, cause, reason, events, record, version, started, seconds)
    SELECT
    number, key, test, iut, constants, seed, settings, verdict, cause, reason, events, record, version, started, seconds
    FROM runs ORDER BY number;
DROP TABLE runs;
ALTER TABLE coreach_new_runs RENAME TO runs;
",
    )?;
    connection.pragma_update(None, "legacy_alter_table", false)?;
    indices.iter().try_for_each(|index| connection.execute_batch(index))
}

/// Makes the tables of a new store. To be called in a transaction.
pub(super) fn create(connection: &Connection, campaign: &str) -> rusqlite::Result<()> {
    steps(connection, 0, FORMAT_VERSION)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    let mut insert = connection.prepare("INSERT INTO meta (name, value) VALUES (?1, ?2)")?;
    insert.execute(["campaign", campaign])?;
    insert.execute(["program", concat!("coreach ", env!("CARGO_PKG_VERSION"))])?;
    insert.execute(["format_version", &FORMAT_VERSION.to_string()])?;
    let now = "INSERT INTO meta (name, value) VALUES ('created', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))";
    connection.execute(now, [])?;
    seal::seal_all(connection)
}

/// Takes a store that was found whole from an older version to ours. To be called in a transaction.
pub(super) fn migrate(connection: &Connection, from: i64) -> rusqlite::Result<()> {
    steps(connection, from, FORMAT_VERSION)?;
    connection
        .execute("UPDATE meta SET value = ?1 WHERE name = 'format_version'", [FORMAT_VERSION.to_string()])?;
    seal::seal_all(connection)
}

fn steps(connection: &Connection, from: i64, to: i64) -> rusqlite::Result<()> {
    for (_, step) in (0..to).zip(STEPS).filter(|(number, _)| *number >= from) {
        step(connection)?;
    }
    connection.pragma_update(None, "user_version", to)
}

/// What of the tables is not as a program of this version makes it. What a user has added, an index or a view, is his.
pub(super) fn differences(connection: &Connection, version: i64) -> rusqlite::Result<Vec<String>> {
    const ALL: &str = "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema";
    let list = |connection: &Connection| -> rusqlite::Result<Vec<[String; 4]>> {
        let mut statement = connection.prepare(ALL)?;
        let rows = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
        rows.collect()
    };
    let fresh = Connection::open_in_memory()?;
    steps(&fresh, 0, version)?;
    let found = list(connection)?;
    let missing = list(&fresh)?.into_iter().filter(|thing| !found.contains(thing));
    let missing = missing.map(|[kind, name, ..]| format!("the {kind} `{name}` is not as it was made"));
    // A trigger would change what is written, behind the back of the seals.
    let triggers = found.iter().filter(|[kind, ..]| kind == "trigger");
    Ok(missing.chain(triggers.map(|[_, name, ..]| format!("it has a trigger, `{name}`"))).collect())
}
