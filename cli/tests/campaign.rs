//! Campaigns from the outside: what is kept, what is told, and what a kill leaves.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, SystemTime};

use coreach_execution::Ending;
use coreach_execution::campaign::{Partition, Plan, Store};
use coreach_model::Verdict;
use coreach_project::campaign::load_campaign;
use coreach_project::campaign::prepare::prepare;
use coreach_project::making::SILENT;
use rusqlite::Connection;
use serde_json::Value;

fn data(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/coffee").join(file)
}

/// A folder of a test's own, gone at its end.
struct Folder(PathBuf);

/// The machine's right change, and one coin less.
const RIGHT: &str = "when: vPaid >= cPrice && pRemainingValue == vPaid - cPrice";
const WRONG: &str = "when: vPaid > cPrice && pRemainingValue == vPaid - cPrice - 1";

impl Folder {
    /// With the coffee machine, a mutant of it, and their files as implementations `right` and `wrong`.
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("coreach-campaign-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        let folder = Folder(path);
        let specification = fs::read_to_string(data("specification.yaml")).unwrap();
        assert!(specification.contains(RIGHT));
        folder.write("mutant.yaml", &specification.replace(RIGHT, WRONG));
        folder.write("specification.yaml", &specification);
        for purpose in ["deliver_coffee.yaml", "several_drinks.yaml", "never.yaml"] {
            fs::copy(data(purpose), folder.0.join(purpose)).unwrap();
        }
        folder.write("coreach.yaml", "specification: specification.yaml\npurpose: deliver_coffee.yaml\n");
        folder.write("right.yaml", "iut: right\nsimulated: { model: specification.yaml }\n");
        folder.write("wrong.yaml", "iut: wrong\nsimulated: { model: mutant.yaml }\n");
        folder
    }

    fn write(&self, file: &str, text: &str) -> PathBuf {
        let path = self.0.join(file);
        fs::write(&path, text).unwrap();
        path
    }

    fn campaign(&self, more: &str) -> PathBuf {
        let text = format!("campaign: nightly\ntests: [{{ configuration: coreach.yaml }}]\n{more}\n");
        self.write("campaign.yaml", &text)
    }

    fn store(&self) -> PathBuf {
        self.0.join("nightly.sqlite")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn coreach(config: &Path, more: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_coreach"));
    command.arg("campaign").arg(config).args(more);
    command
}

#[track_caller]
fn run(config: &Path, more: &[&str], code: i32) -> Output {
    let output = coreach(config, more).output().unwrap();
    let (out, err) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(code), "stdout:\n{out}\nstderr:\n{err}");
    output
}

#[track_caller]
fn document(config: &Path, more: &[&str], code: i32) -> Value {
    let output = run(config, &[more, &["--format", "json"]].concat(), code);
    serde_json::from_slice(&output.stdout).unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Everything of the runs that must not depend on time: by key, the columns and the record.
fn results(store: &Path) -> BTreeMap<String, (Vec<String>, Value)> {
    let connection = Connection::open(store).unwrap();
    let sql =
        "SELECT key, test, iut, constants, seed || '', settings, verdict, cause, reason, record FROM runs";
    let mut statement = connection.prepare(sql).unwrap();
    let rows = statement
        .query_map([], |row| (0..10).map(|at| row.get::<_, String>(at)).collect::<Result<Vec<_>, _>>());
    let rows = rows.unwrap().map(|row| {
        let mut row = row.unwrap();
        let mut record: Value = serde_json::from_str(&row.pop().unwrap()).unwrap();
        record.as_object_mut().unwrap().remove("seconds").unwrap();
        for step in record["trace"].as_array_mut().unwrap() {
            step.as_object_mut().unwrap().remove("at_ms").unwrap();
        }
        (row[0].clone(), (row, record))
    });
    rows.collect()
}

fn sql(store: &Path, text: &str) -> i64 {
    Connection::open(store).unwrap().query_row(text, [], |row| row.get(0)).unwrap()
}

const SMALL: &str = "iuts: [right.yaml, wrong.yaml]\nconstants: [{ cPrice: 3 }, { cPrice: 50 }]\nseeds: { first: 1, count: 10 }";

#[test]
fn a_campaign_is_done_once_and_told_every_time() {
    let folder = Folder::new();
    let config = folder.campaign(SMALL);
    let junit = folder.0.join("report.xml");
    let output = run(&config, &["--junit", junit.to_str().unwrap()], 1);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("nightly: 40 runs\n"), "{text}");
    // One failure, once, however many runs met it.
    assert_eq!(
        text.matches("Fail in Pay: Return against pRemainingValue == vPaid - cPrice\n").count(),
        1,
        "{text}"
    );
    assert_eq!(text.matches("against wrong (seed ").count(), 1, "{text}");
    assert!(text.contains("  the specification does not allow Return"), "{text}");
    assert!(text.contains("nightly.sqlite "), "{text}");
    let report = fs::read_to_string(&junit).unwrap();
    assert_eq!(report.matches("<testcase ").count(), 40);
    assert!(
        report.contains("<testsuite name=\"deliver_coffee/right\" tests=\"20\" failures=\"0\""),
        "{report}"
    );

    assert_eq!(report.matches("<property name=\"bucket ").count(), 1, "{report}");

    let before = results(&folder.store());
    let again = document(&config, &[], 1);
    let buckets = again["buckets"].as_array().unwrap();
    assert_eq!(
        (buckets.len(), &buckets[0]["count"], &buckets[0]["iuts"]["wrong"]),
        (1, &again["fail"], &again["fail"])
    );
    let shortest = &buckets[0]["shortest"];
    assert_eq!((&shortest["iut"], &shortest["events"]), (&"wrong".into(), &2.into()));
    assert_eq!(
        (&again["executed"], &again["planned"], &again["exit_code"]),
        (&0.into(), &40.into(), &1.into())
    );
    assert_eq!(again["groups"][0]["iut"], "right");
    assert_eq!((&again["groups"][0]["fail"], &again["groups"][0]["run_error"]), (&0.into(), &0.into()));
    assert!(again["groups"][1]["fail"].as_i64().unwrap() > 0);
    assert_eq!(
        report.matches("<failure ").count(),
        usize::try_from(again["fail"].as_i64().unwrap()).unwrap()
    );
    assert_eq!(results(&folder.store()), before);
    assert_eq!(before.len(), 40);

    // Without the mutant nothing fails; and the runs of the other one are done already.
    let config = folder.campaign(&SMALL.replace(", wrong.yaml", ""));
    let right = document(&config, &[], if again["groups"][0]["inconclusive"] == 0 { 0 } else { 3 });
    assert_eq!((&right["executed"], &right["others"]), (&0.into(), &20.into()));
    // Another setting makes other runs.
    let config = folder.campaign(&format!("{SMALL}\nstrategy: plan"));
    assert_eq!(document(&config, &[], 1)["executed"], 40);
}

/// Two implementations that are wrong in different places: two failures, not as many as there are runs, and each shrinks to
/// itself.
#[test]
fn each_thing_that_failed_is_told_once_and_shrinks_to_itself() {
    let folder = Folder::new();
    let wrong = fs::read_to_string(folder.0.join("mutant.yaml")).unwrap();
    let other = wrong.replace(WRONG, RIGHT).replace("pBeverage == vBeverage", "pBeverage != vBeverage");
    fs::write(folder.0.join("other_mutant.yaml"), other).unwrap();
    fs::write(folder.0.join("other.yaml"), "iut: other\nsimulated: { model: other_mutant.yaml }\n").unwrap();
    let config = folder.campaign(&SMALL.replace("wrong.yaml", "wrong.yaml, other.yaml"));
    let summary = document(&config, &[], 1);
    let buckets = summary["buckets"].as_array().unwrap();
    let counts: i64 = buckets.iter().map(|bucket| bucket["count"].as_i64().unwrap()).sum();
    assert_eq!(counts, summary["fail"].as_i64().unwrap() + summary["run_error"].as_i64().unwrap());
    assert_eq!(buckets.len(), 2, "{summary:#}");
    let mut seen = std::collections::BTreeSet::new();
    for bucket in buckets {
        assert!(seen.insert(bucket["id"].as_str().unwrap()), "{summary:#}");
        let number = bucket["shortest"]["run"].to_string();
        let store = folder.store();
        let arguments =
            ["replay", store.to_str().unwrap(), &number, "--shrink", "--again", "3", "--format", "json"];
        let output = Command::new(env!("CARGO_BIN_EXE_coreach")).args(arguments).output().unwrap();
        let shrunk: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(shrunk["bucket"], bucket["bucket"]);
        let told = &shrunk["shrunk"];
        assert_eq!(
            (&told["repeated"], &told["same"], &told["stopped"]),
            (&3.into(), &3.into(), &Value::Null)
        );
        assert!(told["events"].as_i64() <= bucket["shortest"]["events"].as_i64());
    }
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let folder = Folder::new();
    let config = folder.campaign(SMALL);
    let mut all = Vec::new();
    for threads in ["1", "2", "8"] {
        let store = folder.0.join(format!("{threads}.sqlite"));
        run(&config, &["--threads", threads, "--store", store.to_str().unwrap(), "--quiet"], 1);
        all.push(results(&store));
    }
    assert_eq!(all[0].len(), 40);
    assert!(all.windows(2).all(|two| two[0] == two[1]));
}

#[test]
fn two_processes_share_one_store() {
    let folder = Folder::new();
    let config = folder.campaign(&SMALL.replace("count: 10", "count: 40"));
    let start = || coreach(&config, &["--quiet"]).stderr(Stdio::piped()).spawn().unwrap();
    let both = [start(), start()];
    for one in both {
        let output = one.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    }
    let alone = folder.0.join("alone.sqlite");
    run(&config, &["--store", alone.to_str().unwrap(), "--quiet"], 1);
    assert_eq!(results(&folder.store()), results(&alone));
}

#[test]
fn the_parts_are_the_whole_and_merge_into_it() {
    let folder = Folder::new();
    let config = folder.campaign(SMALL);
    let place = |name: &str| folder.0.join(name).display().to_string();
    let mut runs = 0;
    for part in 1..=3 {
        let (store, part) = (place(&format!("part{part}.sqlite")), format!("hash:{part}/3"));
        let output =
            coreach(&config, &["--store", &store, "--partition", &part, "--quiet"]).output().unwrap();
        assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{}", stderr(&output));
        runs += results(Path::new(&store)).len();
    }
    assert_eq!(runs, 40);
    let parts = [place("part1.sqlite"), place("part2.sqlite"), place("part3.sqlite")];
    let merge = [place("all.sqlite"), parts[0].clone(), parts[1].clone(), parts[2].clone()];
    let merge: Vec<&str> = merge.iter().map(String::as_str).collect();
    let merged = document(Path::new("merge"), &merge, 0);
    assert_eq!(merged["runs"], 40);
    // Again: nothing is new.
    let merged = document(Path::new("merge"), &merge, 0);
    let sum = |key: &str| {
        merged["merged"].as_array().unwrap().iter().map(|one| one[key].as_i64().unwrap()).sum::<i64>()
    };
    assert_eq!((sum("new"), sum("known"), sum("conflicts")), (0, 40, 0));
    run(&config, &["--store", &place("whole.sqlite"), "--quiet"], 1);
    assert_eq!(results(Path::new(&place("all.sqlite"))), results(Path::new(&place("whole.sqlite"))));
    assert_eq!(document(&config, &["--store", &place("all.sqlite")], 1)["executed"], 0);

    for wrong in ["hash:0/3", "hash:4/3", "1/3", "hash:1"] {
        let output = run(&config, &["--partition", wrong], 2);
        assert!(stderr(&output).contains(wrong), "{}", stderr(&output));
    }
    let output = run(Path::new("merge"), &[&place("all.sqlite"), &place("all.sqlite")], 2);
    assert!(stderr(&output).contains("into itself"));
}

#[test]
fn another_verdict_is_reported_and_nothing_is_overwritten() {
    let folder = Folder::new();
    let config = folder.campaign(SMALL);
    run(&config, &["--quiet"], 1);
    // The same runs elsewhere, where two that failed did not.
    let other = folder.0.join("other.sqlite");
    let plan = plan(&config);
    let first = Store::read(&folder.store()).unwrap();
    let mut second = Store::open(&other, "nightly").unwrap();
    second.describe(&plan).unwrap();
    let mut changed = 0;
    for run in &plan.runs {
        let mut record = first.find(&run.key.to_string()).unwrap().record;
        if record.verdict == Ending::FAIL && changed < 2 {
            changed += 1;
            record.verdict = Ending::Verdict(Verdict::Inconclusive);
        }
        second.add(&plan, run, &record, SystemTime::now()).unwrap();
    }
    drop((first, second));
    let before = results(&folder.store());
    let merge = [folder.store().display().to_string(), other.display().to_string()];
    let output = run(Path::new("merge"), &[&merge[0], &merge[1]], 5);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("0 new, 40 known, 2 with another verdict"), "{text}");
    assert_eq!(results(&folder.store()), before);
    assert_eq!(sql(&folder.store(), "SELECT count(*) FROM conflicts"), 2);
    let told = document(&config, &[], 1);
    assert_eq!((&told["conflicts"], &told["contested"]["inconclusive"]), (&2.into(), &2.into()));

    // The other way round: where it passed, the Fail of the other store counts, quiet or not, and however often it is merged.
    let right = folder.campaign(&SMALL.replace(", wrong.yaml", ""));
    let (mine, theirs) = (folder.0.join("mine.sqlite"), folder.0.join("theirs.sqlite"));
    let code = coreach(&right, &["--store", mine.to_str().unwrap(), "--quiet"]).status().unwrap().code();
    assert!(matches!(code, Some(0 | 3)));
    let plan = self::plan(&right);
    let mut record = Store::read(&mine).unwrap().find(&plan.runs[0].key.to_string()).unwrap().record;
    record.verdict = Ending::FAIL;
    let mut store = Store::open(&theirs, "nightly").unwrap();
    store.describe(&plan).unwrap();
    store.add(&plan, &plan.runs[0], &record, SystemTime::now()).unwrap();
    drop(store);
    let [mine, theirs] = [mine, theirs].map(|path| path.display().to_string());
    for _ in 0..2 {
        run(Path::new("merge"), &[&mine, &theirs], 5);
    }
    let junit = folder.0.join("contested.xml");
    let output = run(&right, &["--store", &mine, "--quiet", "--junit", junit.to_str().unwrap()], 1);
    assert!(stderr(&output).contains("had another verdict"), "{}", stderr(&output));
    assert!(fs::read_to_string(&junit).unwrap().contains("<failure type=\"contested\""));
    // It comes along with the store that has it.
    let onward = folder.0.join("onward.sqlite").display().to_string();
    run(Path::new("merge"), &[&onward, &mine], 5);
    // A second process, too, had another verdict.
    let again = folder.0.join("again.sqlite");
    coreach(&right, &["--store", again.to_str().unwrap(), "--quiet"]).status().unwrap();
    let mut store = Store::open(&again, "nightly").unwrap();
    assert!(!store.add(&plan, &plan.runs[0], &record, SystemTime::now()).unwrap());
    drop(store);
    run(&right, &["--store", again.to_str().unwrap(), "--quiet"], 1);
}

/// The plan of a campaign, as the program makes it.
fn plan(config: &Path) -> Plan {
    let (campaign, _) = load_campaign(config).unwrap();
    prepare(&campaign, Partition::WHOLE, 1, SILENT).unwrap().0.0
}

#[test]
fn nothing_run_is_no_success() {
    let folder = Folder::new();
    let config = folder.campaign("iuts: [right.yaml]\nconstants: [{ cPrice: 3 }]\nseeds: [1]");
    let store = folder.0.join("part.sqlite").display().to_string();
    let codes: Vec<Option<i32>> = (1..=7)
        .map(|part| {
            let part = format!("hash:{part}/7");
            coreach(&config, &["--partition", &part, "--store", &store, "--quiet"]).status().unwrap().code()
        })
        .collect();
    assert_eq!(codes.iter().filter(|code| **code == Some(5)).count(), 6, "{codes:?}");
    let empty = folder.0.join("empty.sqlite");
    drop(Store::open(&empty, "nightly").unwrap());
    let into = folder.0.join("into.sqlite").display().to_string();
    let output = run(Path::new("merge"), &[&into, empty.to_str().unwrap()], 5);
    assert!(stderr(&output).contains("none of the stores has a run"));
}

#[test]
fn no_output_is_an_input() {
    let folder = Folder::new();
    let config = folder.campaign(SMALL);
    run(&config, &["--quiet"], 1);
    fs::hard_link(folder.store(), folder.0.join("hard.xml")).unwrap();
    std::os::unix::fs::symlink("mutant.yaml", folder.0.join("soft.xml")).unwrap();
    // Who reads a store may leave the two files beside it that SQLite shares among readers.
    let is_shared =
        |path: &Path| path.to_str().unwrap().ends_with("-wal") || path.to_str().unwrap().ends_with("-shm");
    let all = || -> BTreeMap<PathBuf, Vec<u8>> {
        let files = fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path());
        files
            .filter(|path| path.is_file() && !is_shared(path))
            .map(|path| (path.clone(), fs::read(path).unwrap()))
            .collect()
    };
    let before = all();
    let [store, campaign] = [folder.store(), config.clone()].map(|path| path.display().to_string());
    for output in [
        "nightly.sqlite",
        "./nightly.sqlite",
        "nightly.sqlite-wal",
        "nightly.sqlite-shm",
        "hard.xml",
        "soft.xml",
        "campaign.yaml",
        "coreach.yaml",
        "specification.yaml",
        "deliver_coffee.yaml",
        "right.yaml",
        "mutant.yaml",
    ] {
        let path = folder.0.join(output).display().to_string();
        let refused = run(&config, &["--junit", &path], 2);
        assert!(stderr(&refused).contains("--junit would write over"), "{output}: {}", stderr(&refused));
        if !output.contains("sqlite") && output != "hard.xml" {
            run(&config, &["--store", &path], 2);
        }
        for arguments in
            [vec!["explain", &store, "1", "--draw", &path], vec!["replay", &store, "1", "--keep", &path]]
        {
            // A campaign's models are no inputs of `replay`, and no runs either. A picture has its ending.
            let program = Command::new(env!("CARGO_BIN_EXE_coreach")).args(&arguments).output().unwrap();
            assert_eq!(program.status.code(), Some(2), "{arguments:?} {}", stderr(&program));
        }
    }
    let into = Command::new(env!("CARGO_BIN_EXE_coreach"))
        .args(["campaign", "merge", folder.0.join("hard.xml").to_str().unwrap(), &store])
        .output()
        .unwrap();
    assert_eq!(into.status.code(), Some(2), "{}", stderr(&into));
    assert!(campaign.ends_with("campaign.yaml"));
    assert_eq!(all(), before);
}

#[test]
fn a_damaged_store_is_no_summary_and_can_be_salvaged() {
    let folder = Folder::new();
    let config = folder.campaign(SMALL);
    let first = document(&config, &[], 1);
    // The only Fails, under keys that are not theirs: the index has the old ones, and the table lacks them.
    let connection = Connection::open(folder.store()).unwrap();
    connection.execute("UPDATE runs SET key = substr(key, 2) || 'x' WHERE verdict = 'Fail'", []).unwrap();
    drop(connection);
    let output = run(&config, &[], 2);
    assert!(
        output.stdout.is_empty() && stderr(&output).contains("does not fit its seal"),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("coreach campaign salvage"), "{}", stderr(&output));
    let (into, from) =
        (folder.0.join("new.sqlite").display().to_string(), folder.store().display().to_string());
    let salvaged = document(Path::new("salvage"), &[&into, &from], 5);
    let fails = first["fail"].as_i64().unwrap();
    assert_eq!(salvaged["taken"], 40 - fails, "{salvaged}");
    let again = document(&config, &["--store", &into], 1);
    assert_eq!((&again["executed"], &again["fail"]), (&fails.into(), &fails.into()));
}

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
    let folder = Folder::new();
    let config = folder.campaign(SMALL);
    let store = folder.store();
    let refused = |code: i32, message: &str| {
        let before = fs::read(&store).unwrap();
        let output = run(&config, &[], code);
        let text = stderr(&output);
        assert!(text.contains(message) && !text.contains("panicked"), "{text}");
        assert_eq!(fs::read(&store).unwrap(), before, "{message}");
        let output = run(
            Path::new("merge"),
            &[folder.0.join("into.sqlite").to_str().unwrap(), store.to_str().unwrap()],
            code,
        );
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
        assert!(!folder.0.join("into.sqlite").exists());
    };
    fs::write(
        &store,
        "this is a text, and quite a long one, so that it cannot be taken for the head of a file\n"
            .repeat(50),
    )
    .unwrap();
    refused(2, "not an SQLite file");
    fs::remove_file(&store).unwrap();
    let foreign = Connection::open(&store).unwrap();
    foreign.execute_batch("CREATE TABLE runs (key TEXT)").unwrap();
    drop(foreign);
    refused(2, "another program's data base");
    fs::remove_file(&store).unwrap();
    run(&config, &["--quiet"], 1);
    let newer = Connection::open(&store).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    refused(2, "format version 99");
    // Damage: pages in the middle are overwritten.
    Connection::open(&store).unwrap().pragma_update(None, "user_version", 2).unwrap();
    let mut bytes = fs::read(&store).unwrap();
    let length = bytes.len();
    bytes[4096..length].fill(0xa5);
    fs::write(&store, bytes).unwrap();
    let output = run(&config, &[], 2);
    assert!(stderr(&output).contains("is damaged"), "{}", stderr(&output));
    // Cut off, and empty: an empty file is what a process leaves that was killed at once.
    fs::write(&store, "").unwrap();
    run(&config, &["--quiet"], 1);
    assert_eq!(results(&store).len(), 40);
}

#[test]
fn where_nothing_may_be_written_nothing_is_run() {
    let folder = Folder::new();
    let config = folder.campaign(SMALL);
    for (more, message) in [
        (["--store", "/proc/nightly.sqlite"], "the store /proc/nightly.sqlite cannot be used"),
        (["--junit", "/proc/report.xml"], "cannot write /proc/report.xml"),
    ] {
        let output = run(&config, &more, 8);
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
    assert!(!folder.store().exists());
}

#[test]
fn mistakes_are_shown_in_the_users_text() {
    let folder = Folder::new();
    let iuts = "iuts: [right.yaml]";
    for (more, message) in [
        ("iuts: [rigth.yaml]", "did you mean `right.yaml`?"),
        ("iuts: []", "`iuts` is empty"),
        ("iuts: [coreach.yaml]", "the IUT's file has no `iut`"),
        ("", "the campaign has no `iuts`"),
        (&format!("{iuts}\nconstants: [{{ cPrize: 3 }}]"), "did you mean `cPrice`?"),
        (&format!("{iuts}\nconstants: [{{ cPrice: much }}]"), "the value of `cPrice`"),
        (&format!("{iuts}\nseeds: {{ first: 1, count: 0 }}"), "`count` must be a whole number from 1"),
        (&format!("{iuts}\nseeds: [1, -2]"), "a seed must be a whole number"),
        (&format!("{iuts}\nstrategy: randon"), "did you mean `random`?"),
        (&format!("{iuts}\nlimits: {{ steps: many }}"), "`steps` must be a whole number"),
        (&format!("{iuts}\nlimits: {{ quiescence_at: {{ Nowhere: 5 }} }}"), "has the location `Nowhere`"),
        (&format!("{iuts}\nfoo: 1"), "unknown key `foo` in a campaign"),
    ] {
        let config = folder.campaign(more);
        let output = run(&config, &[], 2);
        assert!(stderr(&output).contains(message), "{more}\n{}", stderr(&output));
        let json = document(&config, &[], 2);
        assert_eq!(json["exit_code"], 2, "{json}");
    }
    let output = run(&folder.0.join("coreach.yaml"), &[], 2);
    assert!(stderr(&output).contains("expected a campaign, but this is a configuration"));
    assert!(!folder.store().exists());
}

/// A purpose that cannot be reached, and constants that do not suit, are results: the rest goes on.
#[test]
fn what_cannot_be_tested_is_left_out() {
    let folder = Folder::new();
    let purposes = "specification: specification.yaml\npurposes: [deliver_coffee.yaml, never.yaml]\n";
    folder.write("coreach.yaml", purposes);
    let iuts = "iuts: [right.yaml]\nseeds: [1, 2]";
    let config = folder.campaign(&format!("{iuts}\nconstants: [{{ cPrice: 0 }}, {{ cPrice: 3 }}]"));
    let summary = document(&config, &["--inconclusive", "ok"], 9);
    let left: Vec<(&str, &str)> = summary["left_out"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| (one["test"].as_str().unwrap(), one["why"].as_str().unwrap()))
        .collect();
    assert_eq!(left, [("deliver_coffee", "unsuited"), ("never", "unreachable")]);
    assert_eq!((&summary["planned"], &summary["missing"]), (&2.into(), &0.into()));
    let output = run(&config, &["--inconclusive", "ok"], 9);
    assert!(stderr(&output).contains("it is left out"), "{}", stderr(&output));
    assert!(String::from_utf8_lossy(&output.stdout).contains("left out, unreachable: never: "));
    // Only the unreachable one is left out here, and nothing else is there.
    folder.write("coreach.yaml", "specification: specification.yaml\npurpose: never.yaml\n");
    assert_eq!(document(&folder.campaign(iuts), &[], 7)["planned"], 0);
}

#[test]
fn a_fail_ends_what_is_to_end_with_it_and_inconclusive_counts_as_it_is_told() {
    let folder = Folder::new();
    let config = folder.campaign(SMALL);
    let first = document(&config, &["--fail-fast"], 1);
    let counted = |summary: &Value, what: &str| summary[what].as_u64().unwrap();
    assert_eq!(counted(&first, "fail"), 1);
    assert!(counted(&first, "missing") > 0, "{first}");
    // There is a Fail already.
    assert_eq!(document(&config, &["--fail-fast"], 1)["executed"], 0);
    assert_eq!(counted(&document(&config, &[], 1), "missing"), 0);
    // One event is too few to meet the purpose.
    let right = "iuts: [right.yaml]\nseeds: [1, 2]\nconstants: [{ cPrice: 3 }]\nlimits: { steps: 1 }";
    let right = folder.campaign(right);
    let warned = document(&right, &[], 3);
    assert!(counted(&warned, "inconclusive") > 0, "{warned}");
    document(&right, &["--inconclusive", "ok"], 0);
    document(&right, &["--inconclusive", "fail"], 1);
}

#[test]
fn constants_are_solved_for_where_none_are_given() {
    let folder = Folder::new();
    folder.write(
        "coreach.yaml",
        "specification: specification.yaml\npurposes: [deliver_coffee.yaml, several_drinks.yaml]\n",
    );
    let config = folder.campaign("iuts: [right.yaml]\nconstants: { solved: 3 }\nseeds: [7]");
    let output = coreach(&config, &["--quiet"]).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    assert_eq!(sql(&folder.store(), "SELECT count(DISTINCT test || constants) FROM runs"), 6);
    assert_eq!(sql(&folder.store(), "SELECT count(*) FROM runs WHERE constants ->> '$.cPrice' > 0"), 6);
    assert_eq!(sql(&folder.store(), "SELECT count(*) FROM runs WHERE constants ->> '$.cWanted' > 1"), 3);
}

#[test]
fn a_kill_loses_nothing_and_nothing_is_done_twice() {
    const KILLS: usize = 10;
    let folder = Folder::new();
    let config = folder.campaign(&SMALL.replace("count: 10", "count: 50"));
    let reference = folder.0.join("reference.sqlite");
    run(&config, &["--store", reference.to_str().unwrap(), "--quiet"], 1);
    let wanted = results(&reference);
    assert_eq!(wanted.len(), 200);
    let store = folder.store();
    let mut kills = 0;
    let mut delay = 3;
    while kills < KILLS {
        for ending in ["", "-wal", "-shm"] {
            let _ = fs::remove_file(format!("{}{ending}", store.display()));
        }
        let mut before = BTreeMap::new();
        let last = loop {
            let mut process = coreach(&config, &["--format", "json", "--threads", "2"])
                .stdout(Stdio::piped())
                .stderr(Stdio::null())
                .spawn()
                .unwrap();
            // Longer each time, so that also a slow machine gets behind the start, and all of it is met.
            std::thread::sleep(Duration::from_millis(delay));
            delay = delay * 3 / 2;
            let _ = process.kill();
            let output = process.wait_with_output().unwrap();
            if output.status.code().is_some() {
                break output;
            }
            kills += 1;
            if store.metadata().is_ok_and(|store| store.len() > 0)
                && sql(&store, "SELECT count(*) FROM sqlite_schema") > 0
            {
                let found = results(&store);
                assert!(before.iter().all(|(key, run)| found.get(key) == Some(run)), "lost by kill {kills}");
                before = found;
            }
        };
        assert_eq!(last.status.code(), Some(1));
        let summary: Value = serde_json::from_slice(&last.stdout).unwrap();
        assert_eq!(summary["executed"], 200 - before.len());
        assert_eq!(results(&store), wanted);
        assert_eq!(sql(&store, "SELECT count(*) FROM repeats"), 0);
        delay = 20;
    }
}
