//! Seals: how a store knows that it is as it was written.
//!
//! **Problem.** SQLite keeps a file whole against crashes, not against a byte that changed on its way over a
//! disk, a copy or a cable: it has no checksums. A byte in a key makes another run of a run; the table then
//! lacks what the index has, and the only Fail of a night is nowhere. Rows may also go, come twice, or come
//! from another store.
//!
//! **Method.** Each row has a *seal*, the SHA-256 of its table's name and of the names, types and values of
//! all its columns: the number and the key of a run are in it. Each table has a *chain* over the seals of its
//! rows in their order: head 0 is nothing, head n is the SHA-256 of head n-1 and the n-th seal. The table
//! `seals` keeps the length and the head of each chain, and is written in the transaction that appends a row.
//! So a changed row does not fit its seal, and is named; a row that went, came, or changed its place does not
//! fit the chain. Rows are only ever appended; the number of a run is its place. Whoever reads rows reads
//! them through [`walk`], which checks both: there is no way to an unchecked row.
//!
//! A chain rather than a sum, since a chain also says of an older copy of a store that it is the beginning of
//! this one: that is how the log of another store is found out ([`Walked::head_at`]).
//!
//! Not a signature: who changes a row and computes the seals anew is not found out. It is a store of one's
//! own.
//!
//! **Costs** reading each row once: 20,000 runs, 30 MB, take less than half a second, with SQLite's own
//! check.

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OptionalExtension, Row, params};
use sha2::{Digest, Sha256};

use crate::campaign::key::SHOWN;

/// The tables with seals.
pub(super) const TABLES: [&str; 6] = ["meta", "tests", "iuts", "runs", "repeats", "conflicts"];

/// The seal of a row, or the head of a chain.
pub(super) type Seal = [u8; 32];

/// The head of an empty chain.
const NOTHING: Seal = [0; 32];

/// So many faults are told of one by one.
const TOLD: usize = 5;

/// How a row is described, and where it is not as it should be.
#[derive(Default, Debug)]
pub(super) struct Faults {
    list: Vec<String>,
    more: usize,
}

impl Faults {
    pub(super) fn push(&mut self, fault: String) {
        if self.list.len() < TOLD { self.list.push(fault) } else { self.more += 1 }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// All of them in a line.
    pub(super) fn text(&self) -> String {
        let more = if self.more > 0 { format!("; and {} more", self.more) } else { String::new() };
        self.list.join("; ") + &more
    }
}

/// What a walk through a table has found.
#[derive(Debug)]
pub(super) struct Walked {
    /// The rows.
    pub(super) count: i64,
    /// The head of the chain after as many rows as were asked for, where there are so many.
    pub(super) head_at: Option<Seal>,
}

/// The columns of a statement, in their order, without the seal; and where the seal is.
struct Columns {
    names: Vec<String>,
    seal: Option<usize>,
}

impl Columns {
    /// Of `SELECT rowid, * ...`.
    fn of(statement: &rusqlite::Statement<'_>) -> Self {
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let seal = names.iter().position(|name| name == "seal");
        Columns { names, seal }
    }

    fn seal_of(&self, table: &str, row: &Row<'_>) -> rusqlite::Result<Seal> {
        let mut hash = Sha256::new();
        let mut put = |kind: u8, bytes: &[u8]| {
            hash.update([kind]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        put(b't', table.as_bytes());
        // The first one is the rowid, which a user's VACUUM may change; that of a run is its number, and is
        // there again.
        for (at, name) in self.names.iter().enumerate().skip(1).filter(|(at, _)| Some(*at) != self.seal) {
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
}

fn next_head(head: &Seal, seal: &Seal) -> Seal {
    let mut hash = Sha256::new();
    hash.update(head);
    hash.update(seal);
    hash.finalize().into()
}

/// The length and the head of a table's chain as they are written.
pub(super) fn chain(connection: &Connection, table: &str) -> rusqlite::Result<Option<(i64, Vec<u8>)>> {
    let mut statement = connection.prepare_cached("SELECT count, head FROM seals WHERE name = ?1")?;
    statement.query_row([table], |row| Ok((row.get(0)?, row.get(1)?))).optional()
}

/// Seals the row that was inserted last, and appends it to its table's chain. To be called in the transaction
/// of the insert.
pub(super) fn append(connection: &Connection, table: &str) -> rusqlite::Result<()> {
    let number = connection.last_insert_rowid();
    let mut statement =
        connection.prepare_cached(&format!("SELECT rowid, * FROM {table} WHERE rowid = ?1"))?;
    let columns = Columns::of(&statement);
    let seal = statement.query_row([number], |row| columns.seal_of(table, row))?;
    let update = format!("UPDATE {table} SET seal = ?1 WHERE rowid = ?2");
    connection.prepare_cached(&update)?.execute(params![seal, number])?;
    let (count, head) = chain(connection, table)?.ok_or(rusqlite::Error::QueryReturnedNoRows)?;
    let head = next_head(&sized(&head), &seal);
    let update = "UPDATE seals SET count = ?1, head = ?2 WHERE name = ?3";
    connection.prepare_cached(update)?.execute(params![count + 1, head, table])?;
    Ok(())
}

/// What is not 32 bytes long is no seal, and equal to none.
fn sized(bytes: &[u8]) -> Seal {
    bytes.try_into().unwrap_or([0xff; 32])
}

/// Seals all rows of all tables anew. Only for a store that is being made.
pub(super) fn seal_all(connection: &Connection) -> rusqlite::Result<()> {
    for table in TABLES {
        let mut statement = connection.prepare(&format!("SELECT rowid, * FROM {table} ORDER BY rowid"))?;
        let columns = Columns::of(&statement);
        let mut update = connection.prepare(&format!("UPDATE {table} SET seal = ?1 WHERE rowid = ?2"))?;
        let seals: Vec<(i64, Seal)> = statement
            .query_map([], |row| Ok((row.get(0)?, columns.seal_of(table, row)?)))?
            .collect::<rusqlite::Result<_>>()?;
        let mut head = NOTHING;
        for (number, seal) in &seals {
            update.execute(params![seal, number])?;
            head = next_head(&head, seal);
        }
        let write = "INSERT OR REPLACE INTO seals (name, count, head) VALUES (?1, ?2, ?3)";
        connection.execute(write, params![table, seals.len() as i64, head])?;
    }
    Ok(())
}

/// Reads all rows of a table in their order and shows each whole one to `visit`; what is wrong goes to
/// `faults`. The rows of `SELECT rowid, *`. To be called in a transaction, so that rows and chain are of one
/// moment.
///
/// # Errors
/// Another error than that of damage.
pub(super) fn walk(
    connection: &Connection,
    table: &str,
    at: Option<i64>,
    faults: &mut Faults,
    visit: &mut dyn FnMut(&Row<'_>) -> rusqlite::Result<()>,
) -> rusqlite::Result<Walked> {
    let mut walked = Walked { count: 0, head_at: (at == Some(0)).then_some(NOTHING) };
    let mut last = 0_i64;
    let mut head = NOTHING;
    let mut go = || -> rusqlite::Result<()> {
        let mut statement = connection.prepare(&format!("SELECT rowid, * FROM {table} ORDER BY rowid"))?;
        let columns = Columns::of(&statement);
        let mut rows = statement.query([])?;
        while let Some(row) = rows.next()? {
            let number: i64 = row.get(0)?;
            if table == "runs" {
                gap(last, number, faults);
            } else if number <= last && walked.count > 0 {
                faults.push(format!("a row of the table `{table}` is there twice"));
            }
            last = number;
            walked.count += 1;
            head = next_head(&head, &columns.seal_of(table, row)?);
            if at == Some(walked.count) {
                walked.head_at = Some(head);
            }
            match fault(table, &columns, row)? {
                Some(fault) => faults.push(fault),
                None => visit(row)?,
            }
        }
        Ok(())
    };
    match go() {
        Err(error) if is_damage(&error) => {
            let place = if table == "runs" {
                format!("behind run {last}")
            } else {
                format!("in the table `{table}`")
            };
            faults.push(format!("{place}, {error}"));
            return Ok(walked);
        }
        other => other?,
    }
    match chain(connection, table) {
        Ok(Some((count, _))) if count != walked.count => {
            let rows = walked.count;
            faults.push(format!("the table `{table}` has {rows} rows, and {count} were written"));
        }
        Ok(Some((_, written))) if written == head => {}
        Ok(Some(_)) => faults.push(format!("the chain of the table `{table}` is another one")),
        Ok(None) => faults.push(format!("the chain of the table `{table}` is gone")),
        Err(error) if is_damage(&error) => faults.push(format!("in the table `seals`, {error}")),
        Err(error) => return Err(error),
    }
    Ok(walked)
}

/// Runs have the numbers 1, 2, ...
fn gap(last: i64, number: i64, faults: &mut Faults) {
    let expected = last.saturating_add(1);
    if number <= last {
        faults.push(format!("run {number} is there twice"));
    } else if number == expected.saturating_add(1) {
        faults.push(format!("run {expected} is missing"));
    } else if number > expected {
        faults.push(format!("the runs {expected} to {} are missing", number - 1));
    }
}

/// Does the error say that the file is not as it was written, rather than that it cannot be read now?
pub(super) fn is_damage(error: &rusqlite::Error) -> bool {
    use rusqlite::ErrorCode;
    match error.sqlite_error_code() {
        Some(code) => matches!(
            code,
            ErrorCode::DatabaseCorrupt
                | ErrorCode::NotADatabase
                | ErrorCode::TypeMismatch
                | ErrorCode::Unknown
        ),
        // A value of another type than its column's.
        None => true,
    }
}

/// What is wrong with a row of `SELECT rowid, *`, taken alone.
fn fault(table: &str, columns: &Columns, row: &Row<'_>) -> rusqlite::Result<Option<String>> {
    let Some(at) = columns.seal else { return Ok(Some(format!("the table `{table}` has no seals"))) };
    let written = row.get_ref(at)?.as_blob().map(sized).unwrap_or([0xff; 32]);
    let is_whole = columns.seal_of(table, row)? == written;
    Ok((!is_whole).then(|| format!("{} does not fit its seal", name_of(table, columns, row))))
}

/// `run 7 (5e2df0354b80)`
fn name_of(table: &str, columns: &Columns, row: &Row<'_>) -> String {
    let text = |name: &str| {
        let at = columns.names.iter().position(|known| known == name)?;
        let bytes = row.get_ref(at).ok()?.as_bytes().ok()?;
        Some(String::from_utf8_lossy(bytes).chars().take(SHOWN).collect::<String>())
    };
    match table {
        "runs" => {
            let number = row.get::<_, i64>(0).unwrap_or_default();
            format!("run {number} ({})", text("key").unwrap_or_default())
        }
        "tests" | "iuts" | "meta" => {
            format!("the row `{}` of the table `{table}`", text("name").unwrap_or_default())
        }
        _ => format!("the row {} of the table `{table}`", text("key").unwrap_or_default()),
    }
}

/// Reads one row, by its rowid, if it is there; an error says what is wrong with it. For a store that is
/// damaged.
pub(super) fn one<T>(
    connection: &Connection,
    table: &str,
    number: i64,
    read: impl FnOnce(&Row<'_>) -> rusqlite::Result<T>,
) -> Option<Result<T, String>> {
    let attempt = || -> rusqlite::Result<Option<Result<T, String>>> {
        let mut statement =
            connection.prepare_cached(&format!("SELECT rowid, * FROM {table} WHERE rowid = ?1"))?;
        let columns = Columns::of(&statement);
        let mut rows = statement.query([number])?;
        let Some(row) = rows.next()? else { return Ok(None) };
        Ok(Some(match fault(table, &columns, row)? {
            Some(fault) => Err(fault),
            None => Ok(read(row)?),
        }))
    };
    attempt().unwrap_or_else(|error| Some(Err(format!("row {number} of the table `{table}`: {error}"))))
}
