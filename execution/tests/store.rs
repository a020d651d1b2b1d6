//! Is a store ever taken for whole that is not? Everything that can be done to the file, against what was in
//! it.
//!
//! Each test has a store of 12 runs of a counter and of one that is wrong, with a conflict and a repeat.
//! `scripts/flips` does the same to the program as a whole, at length.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::SystemTime;

use coreach_adapters::in_process::{Implementation, InProcess};
use coreach_artifact::read::parse_document;
use coreach_execution::campaign::store::{Doubts, Finished};
use coreach_execution::campaign::{
    CampaignPlan, Instance, Partition, PlannedRun, RunSettings, Store, StoreError, StoredIut, Test,
};
use coreach_execution::lazy::Lazy;
use coreach_execution::record::{Record, make_record};
use coreach_execution::{CaseJudge, Datum, Event, OutcomeKind, Settings, Strategy, TestSession};
use coreach_model as model;
use rusqlite::Connection;
use rusqlite::types::Value;
use sha2::{Digest, Sha256};

/// A folder of a test's own, gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("coreach-store-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn place(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// A copy of the store.
    fn new_store(&self, name: &str) -> PathBuf {
        static BYTES: OnceLock<Vec<u8>> = OnceLock::new();
        fs::write(self.place(name), BYTES.get_or_init(sample)).unwrap();
        self.place(name)
    }
}

/// Counts, and says how much there is when asked; where it is wrong, one less.
struct Counter {
    count: i64,
    lost: i64,
    answer: Option<Event>,
}

impl Implementation for Counter {
    fn reset(&mut self, _constants: &[(Datum, model::Value)], _seed: u64) -> Result<(), String> {
        (self.count, self.answer) = (0, None);
        Ok(())
    }

    fn input(&mut self, input: &Event) {
        self.answer = Some(match input.values.first() {
            Some(model::Value::Int(by)) => {
                self.count += i64::try_from(by).unwrap();
                Event::new("Done", [])
            }
            _ => Event::new("Value", [model::Value::int(self.count - self.lost)]),
        });
    }

    fn output(&mut self, _waited: bool) -> Option<Event> {
        self.answer.take()
    }
}

fn sample() -> Vec<u8> {
    let test = Test::new(include_bytes!("data/counter.json")).unwrap();
    let instances = Instance::solved(&test.case, 1, &mut Lazy::default()).unwrap();
    let iut = |name: &str| {
        StoredIut::new(name.to_owned(), format!("{{\"iut\":\"{name}\"}}"), format!("{name}.yaml"))
    };
    let (iuts, seeds) = (vec![iut("right"), iut("wrong")], [1, 2, 3, 4, 5, 6]);
    let settings = RunSettings::default();
    let plan = CampaignPlan::new(
        "nightly".to_owned(),
        vec![(test, instances)],
        iuts,
        &seeds,
        settings,
        Partition::WHOLE,
    );
    let folder = Folder::new();
    let [path, other] = ["sample.sqlite", "other.sqlite"].map(|name| folder.place(name));
    let mut store = Store::open(&path, "nightly").unwrap();
    let mut second = Store::open(&other, "nightly").unwrap();
    store.describe(&plan).unwrap();
    second.describe(&plan).unwrap();
    for run in &plan.runs {
        let mut judge = CaseJudge::new(&plan.tests[0].case, plan.instances[0][0].state.clone());
        let counter = Counter { count: 0, lost: run.iut as i64, answer: None };
        let (settings, adapter) = (&Settings::default(), &mut InProcess(counter));
        let done = TestSession { judge: &mut judge, settings, adapter }.run(run.seed, Strategy::random());
        let written = make_record(&mut judge, &done);
        assert_eq!(written.verdict == OutcomeKind::FAIL, run.iut == 1, "{written:?}");
        assert!(add(&mut store, &plan, run, &written));
        if run.seed == 2 && run.iut == 1 {
            assert!(!add(&mut store, &plan, run, &written));
            let changed = Record { verdict: OutcomeKind::RunError, ..written };
            add(&mut second, &plan, run, &changed);
        }
    }
    drop(second);
    store.merge(&other, &|_| true).unwrap();
    drop(store);
    fs::read(&path).unwrap()
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// All that a summary is made of.
type Content = (BTreeMap<String, String>, Doubts);

fn content(store: &Store) -> Result<Content, StoreError> {
    let rows = store.rows()?.into_iter().map(|(key, row)| (key, format!("{row:?}"))).collect();
    Ok((rows, store.doubts()?))
}

fn opened(path: &Path) -> Result<Content, StoreError> {
    content(&Store::open(path, "nightly")?)
}

fn clear(path: &Path) {
    for ending in ["", "-wal", "-shm", "-journal"] {
        let _ = fs::remove_file(format!("{}{ending}", path.display()));
    }
}

fn change(path: &Path, sql: &str) {
    let connection = Connection::open(path).unwrap();
    connection.pragma_update(None, "foreign_keys", false).unwrap();
    connection.execute_batch(sql).unwrap();
}

#[track_caller]
fn damaged(path: &Path, what: &str) {
    let before = fs::read(path).unwrap();
    for error in [Store::read(path).unwrap_err(), Store::open(path, "nightly").unwrap_err()] {
        let text = error.to_string();
        assert!(matches!(error, StoreError::Damaged(..)) && text.contains(what), "{text}");
    }
    assert_eq!(fs::read(path).unwrap(), before, "a store that is refused is left alone");
}

const TABLES: [(&str, &str); 5] = [
    ("tests", "hash, name, document"),
    ("iuts", "hash, name, description, file"),
    (
        "runs",
        "number, key, test, iut, constants, seed, settings, verdict, cause, reason, events, record, version, started, seconds",
    ),
    ("repeats", "key, verdict, started"),
    ("conflicts", "key, verdict, cause, record, version, started, seconds, store"),
];

/// Keeps a run that has just ended. Says whether it is new.
fn add(store: &mut Store, plan: &CampaignPlan, run: &PlannedRun, record: &Record) -> bool {
    let finished = Finished { run, record: record.clone(), started: SystemTime::now() };
    store.add_all(plan, &[finished]).unwrap() == [true]
}

#[test]
fn a_test_case_has_the_same_key_as_text_and_as_data() {
    for bytes in [include_bytes!("data/counter.json").as_slice(), include_bytes!("data/must_answer.json")] {
        let text = Test::new(bytes).unwrap();
        let data = Test::from_document(&parse_document(bytes).unwrap()).unwrap();
        assert_eq!((data.hash, data.document), (text.hash, text.document));
    }
}

#[test]
fn a_store_is_found_by_a_path_that_begins_with_two_slashes() {
    let folder = Folder::new();
    let path = folder.new_store("store.sqlite");
    let doubled = PathBuf::from(format!("/{}", path.display()));
    assert_eq!(opened(&doubled).unwrap().0, opened(&path).unwrap().0);
}

#[test]
fn a_store_of_an_earlier_release_is_refused_by_name() {
    let folder = Folder::new();
    for version in 1..6 {
        let old = folder.new_store("old.sqlite");
        Connection::open(&old).unwrap().pragma_update(None, "user_version", version).unwrap();
        let bytes = fs::read(&old).unwrap();
        for error in [Store::read(&old).unwrap_err(), Store::open(&old, "nightly").unwrap_err()] {
            let text = error.to_string();
            assert!(
                text.contains("written by an earlier release; run the campaign again into a new store"),
                "{text}"
            );
        }
        let mut into = Store::open(&folder.place("into.sqlite"), "into").unwrap();
        assert_eq!(into.merge(&old, &|_| true).unwrap_err(), StoreError::Version(old.clone(), version));
        assert_eq!(fs::read(&old).unwrap(), bytes);
        clear(&old);
    }
}

/// A verdict that a later program writes has its place in the table. What does not know it does not count it
/// as something else.
#[test]
fn a_new_verdict_has_its_place_and_is_counted_by_who_knows_it() {
    let folder = Folder::new();
    let change_verdict = "UPDATE runs SET verdict = 'StrongPass' WHERE number = 8";
    let tried = |path: &Path| Connection::open(path).unwrap().execute_batch(change_verdict);
    let new = folder.new_store("new.sqlite");
    tried(&new).unwrap();
    // Sealed, as the program that writes it does.
    seal_again(&new);
    let store = Store::read(&new).unwrap();
    let error = store.rows().unwrap_err().to_string();
    assert!(error.contains("`StrongPass` is no verdict"), "{error}");
}

/// Seals a run that was changed: what a program of ours writes in the transaction of the change.
fn seal_again(path: &Path) {
    let connection = Connection::open(path).unwrap();
    let mut statement = connection.prepare("SELECT * FROM runs ORDER BY number").unwrap();
    let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
    let width = names.len();
    let rows: Vec<Vec<Value>> = statement
        .query_map([], |row| (0..width).map(|at| row.get(at)).collect())
        .unwrap()
        .map(Result::unwrap)
        .collect();
    for row in rows {
        let mut hash = Sha256::new();
        let mut put = |kind: u8, bytes: &[u8]| {
            hash.update([kind]);
            hash.update((bytes.len() as u64).to_le_bytes());
            hash.update(bytes);
        };
        put(b't', b"runs");
        for (name, value) in names.iter().zip(&row).filter(|(name, _)| *name != "seal") {
            put(b'c', name.as_bytes());
            match value {
                Value::Null => put(b'n', &[]),
                Value::Integer(number) => put(b'i', &number.to_le_bytes()),
                Value::Real(number) => put(b'r', &number.to_bits().to_le_bytes()),
                Value::Text(text) => put(b's', text.as_bytes()),
                Value::Blob(bytes) => put(b'b', bytes),
            }
        }
        let seal: [u8; 32] = hash.finalize().into();
        connection
            .execute("UPDATE runs SET seal = ?1 WHERE number = ?2", rusqlite::params![seal, row[0]])
            .unwrap();
    }
}

#[test]
fn a_change_of_any_column_of_any_table_is_found() {
    let folder = Folder::new();
    for (table, columns) in TABLES.into_iter().chain([("runs", "delays"), ("meta", "name, value")]) {
        for column in columns.split(", ").chain(["seal"]) {
            let new = folder.new_store("new.sqlite");
            // Another value of the same type that the table still allows.
            let value = match column {
                "verdict" => "CASE verdict WHEN 'Pass' THEN 'Fail' ELSE 'Pass' END".to_owned(),
                "number" => "number + 100".to_owned(),
                "seed" | "events" | "delays" | "seconds" => format!("{column} + 1"),
                // A hash may begin with an x already.
                "seal" => format!(
                    "CAST(CASE hex(substr({column}, 1, 1)) WHEN '78' THEN 'y' ELSE 'x' END || substr({column}, 2) AS BLOB)"
                ),
                _ => format!("{column} || 'x'"),
            };
            let sql = format!(
                "UPDATE {table} SET {column} = {value} WHERE rowid = (SELECT max(rowid) FROM {table})"
            );
            change(&new, &sql);
            let what = match table {
                "runs" if column != "number" => "run 12 (",
                "runs" => "run 112 (",
                _ => table,
            };
            damaged(&new, what);
            clear(&new);
        }
    }
}

#[test]
fn a_row_that_came_or_changed_its_place_is_found() {
    let folder = Folder::new();
    for (sql, what) in [
        ("UPDATE runs SET number = 13 WHERE number = 8", "run 13 ("),
        (
            "INSERT INTO runs SELECT 13, replace(key, 'a', 'b'), test, iut, constants, seed, settings, verdict, cause, reason,
             events, delays, record, version, started, seconds, seal FROM runs WHERE number = 1",
            "run 13 (",
        ),
        ("CREATE TRIGGER mine AFTER INSERT ON runs BEGIN SELECT 1; END", "trigger"),
    ] {
        let new = folder.new_store("new.sqlite");
        change(&new, sql);
        damaged(&new, what);
        clear(&new);
    }
    // What a user adds for himself is his.
    let new = folder.new_store("new.sqlite");
    change(&new, "CREATE INDEX mine ON runs (verdict); CREATE VIEW all_runs AS SELECT * FROM runs; VACUUM");
    assert_eq!(opened(&new).unwrap().0.len(), 12);
    // A row of another store, with its seal.
    let other = folder.new_store("other.sqlite");
    change(
        &new,
        &format!(
            "ATTACH '{}' AS other; DELETE FROM runs WHERE number = 8;
             INSERT INTO runs SELECT 8, key || 'x', test, iut, constants, seed, settings, verdict, cause, reason, events, delays, record,
             version, started, seconds, seal FROM other.runs WHERE number = 7",
            other.display()
        ),
    );
    damaged(&new, "run 8 (");
}

/// Every `step`-th byte of each file is changed, and the file cut off at each page. The result must be the
/// truth, or nothing; where a log ends early, runs of the truth.
fn flips(path: &Path, files: &[(&str, Vec<u8>)], truth: &Content, step: usize) -> (usize, usize) {
    let (mut identical, mut refused) = (0, 0);
    let mut attempt = |ending: &str, bytes: &[u8], how: String| {
        clear(path);
        for (of, whole) in files {
            let bytes = if *of == ending { bytes } else { whole };
            fs::write(format!("{}{of}", path.display()), bytes).unwrap();
        }
        match opened(path) {
            Ok(found) if found == *truth => identical += 1,
            // A log that ends early is that of a power cut: what was finished behind that is missing, and is
            // done again.
            Ok(found)
                if ending == "-wal" && found.0.iter().all(|(key, row)| truth.0.get(key) == Some(row)) =>
            {
                identical += 1;
            }
            Ok(found) => panic!("{ending} {how}: {} runs of {}", found.0.len(), truth.0.len()),
            Err(_) => refused += 1,
        }
    };
    for (ending, whole) in files {
        for at in (0..whole.len()).step_by(step) {
            // Bits of all places, one after the other; sometimes all of them.
            let bits = if at % 7 == 0 { 0xff } else { 1 << (at % 8) };
            let mut bytes = whole.clone();
            bytes[at] ^= bits;
            attempt(ending, &bytes, format!("byte {at} xor {bits:#x}"));
        }
        if *ending != "-wal" {
            for length in (512..whole.len()).step_by(4096).chain((4096..whole.len()).step_by(4096)) {
                attempt(ending, &whole[..length], format!("cut off at {length}"));
            }
        }
    }
    clear(path);
    (identical, refused)
}

/// A prime, so that bytes of all kinds of places are met.
fn survey(step: usize) {
    let folder = Folder::new();
    let path = folder.place("flipped.sqlite");
    let whole = fs::read(folder.new_store("whole.sqlite")).unwrap();
    let truth = opened(&folder.place("whole.sqlite")).unwrap();
    let (identical, refused) = flips(&path, &[("", whole)], &truth, step);
    println!("store: {identical} identical, {refused} refused, 0 wrong");
    assert!(identical > 0 && refused > 0);

    // What a kill leaves: half of it in the log.
    let mut store = Store::open(&folder.place("logged.sqlite"), "nightly").unwrap();
    store.merge(&folder.new_store("old.sqlite"), &|_| true).unwrap();
    let files: Vec<(&str, Vec<u8>)> = ["", "-wal"]
        .into_iter()
        .map(|ending| (ending, fs::read(format!("{}{ending}", store.path().display())).unwrap()))
        .collect();
    assert!(files[1].1.len() > 4096);
    let truth = content(&store).unwrap();
    let (identical, refused) = flips(&path, &files, &truth, step);
    println!("store with a log: {identical} identical, {refused} refused, 0 wrong");
}

#[test]
#[ignore = "some minutes; `scripts/flips` does more of it"]
fn no_flipped_byte_is_ever_silently_wrong_at_length() {
    survey(37);
}

/// SQLite would remove a log whose store is gone.
#[test]
fn a_log_without_its_store_is_kept() {
    let folder = Folder::new();
    let base = folder.new_store("base.sqlite");
    let store = Store::open(&base, "nightly").unwrap();
    Connection::open(&base).unwrap().execute_batch("CREATE VIEW mine AS SELECT 1").unwrap();
    let log = fs::read(folder.place("base.sqlite-wal")).unwrap();
    drop(store);
    clear(&base);
    fs::write(&base, "").unwrap();
    fs::write(folder.place("base.sqlite-wal"), &log).unwrap();
    assert!(matches!(Store::open(&base, "nightly"), Err(StoreError::Damaged(..))));
    assert_eq!(fs::read(folder.place("base.sqlite-wal")).unwrap(), log);
}

#[test]
fn no_flipped_byte_is_ever_silently_wrong() {
    survey(997);
}

/// A kill while the head of the file is written leaves the journal of that, which is to be rolled back:
/// nobody who only reads can do it.
#[test]
fn a_store_that_was_killed_at_its_first_page_is_begun_anew() {
    let folder = Folder::new();
    let path = folder.place("begun.sqlite");
    let connection = Connection::open(&path).unwrap();
    connection.pragma_update(None, "journal_mode", "WAL").unwrap();
    drop(connection);
    // The published format: a magic number, records, a nonce, pages before, the sector's size, the page's
    // size.
    let mut journal = vec![0xd9, 0xd5, 0x05, 0xf9, 0x20, 0xa1, 0x63, 0xd7];
    journal.extend([0u32, 0x1234_5678, 0, 512, 4096].into_iter().flat_map(u32::to_be_bytes));
    journal.resize(512, 0);
    fs::write(folder.place("begun.sqlite-journal"), journal).unwrap();
    assert!(path.metadata().unwrap().len() > 0);
    Store::open(&path, "nightly").unwrap();
}
