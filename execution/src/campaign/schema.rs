//! The tables of a store. One version of them is read and written; whoever changes them raises it.

use rusqlite::Connection;

use crate::campaign::seal;

/// The version of the tables. Versions up to 5 were written by earlier releases, with test cases or records
/// that this one cannot read.
pub const FORMAT_VERSION: i64 = 6;

/// The id in a SQLite file's head that says to which program it belongs: "corh".
pub(super) const APPLICATION: i64 = 0x636f_7268;

/// `verdict` takes any word: the type that reads it knows which there are ([`crate::outcome::OutcomeKind`]),
/// not the file. `delays` is the number of steps of the trace that are no events.
const TABLES: &str = "
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL, seal BLOB NOT NULL DEFAULT x'') STRICT;
CREATE TABLE tests (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, document TEXT NOT NULL, seal BLOB NOT NULL DEFAULT x'') STRICT;
CREATE TABLE iuts (
    hash TEXT PRIMARY KEY, name TEXT NOT NULL, description TEXT NOT NULL, file TEXT NOT NULL,
    seal BLOB NOT NULL DEFAULT x'') STRICT;
CREATE TABLE runs (
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
CREATE TABLE repeats (
    key TEXT NOT NULL, verdict TEXT NOT NULL, started TEXT NOT NULL, seal BLOB NOT NULL DEFAULT x'') STRICT;
CREATE TABLE conflicts (
    key TEXT NOT NULL, verdict TEXT NOT NULL, cause TEXT NOT NULL, record TEXT NOT NULL, version TEXT NOT NULL,
    started TEXT NOT NULL, seconds REAL NOT NULL, store TEXT NOT NULL, seal BLOB NOT NULL DEFAULT x'',
    PRIMARY KEY (key, verdict)) STRICT;
";

/// Makes the tables of a new store. To be called in a transaction.
pub(super) fn create_tables(connection: &Connection, campaign: &str) -> rusqlite::Result<()> {
    connection.execute_batch(TABLES)?;
    connection.pragma_update(None, "application_id", APPLICATION)?;
    connection.pragma_update(None, "user_version", FORMAT_VERSION)?;
    let now: String =
        connection.query_row("SELECT strftime('%Y-%m-%dT%H:%M:%fZ', 'now')", [], |row| row.get(0))?;
    for (name, value) in [
        ("campaign", campaign),
        ("program", concat!("coreach ", env!("CARGO_PKG_VERSION"))),
        ("format_version", &FORMAT_VERSION.to_string()),
        ("created", &now),
    ] {
        connection.execute("INSERT INTO meta (name, value) VALUES (?1, ?2)", [name, value])?;
        seal::seal_last(connection, "meta")?;
    }
    Ok(())
}

/// Lists differences from this program's tables. A user's own index or view is none.
pub(super) fn list_differences(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    const ALL: &str = "SELECT type, name, tbl_name, ifnull(sql, '') FROM sqlite_schema";
    let list = |connection: &Connection| -> rusqlite::Result<Vec<[String; 4]>> {
        let mut statement = connection.prepare(ALL)?;
        let rows = statement.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?]))?;
        rows.collect()
    };
    let fresh = Connection::open_in_memory()?;
    fresh.execute_batch(TABLES)?;
    let present = list(connection)?;
    let missing = list(&fresh)?.into_iter().filter(|thing| !present.contains(thing));
    let missing = missing.map(|[kind, name, ..]| format!("the {kind} `{name}` is not as it was made"));
    // A trigger would change rows after they were sealed.
    let triggers = present.iter().filter(|[kind, ..]| kind == "trigger");
    Ok(missing.chain(triggers.map(|[_, name, ..]| format!("it has a trigger, `{name}`"))).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_tells_the_version() {
        let text = include_str!("../../../docs/reference/configuration-and-campaign.md");
        assert!(text.contains(&format!("version {FORMAT_VERSION}, which SQLite shows as `user_version`")));
    }
}
