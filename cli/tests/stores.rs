//! Stores from the outside: merged, contradicted, damaged, or none at all.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::Path;
use std::time::SystemTime;

use crate::campaigns::{SMALL, configured, coreach, document, results, run, sql, store};
use crate::common::{Folder, stderr};
use coreach_execution::OutcomeKind;
use coreach_execution::campaign::store::Finished;
use coreach_execution::campaign::{CampaignPlan, Partition, PlannedRun, Store};
use coreach_model::Verdict;
use coreach_project::campaign::load_campaign;
use coreach_project::campaign::prepare::prepare;
use coreach_project::making::SILENT;
use rusqlite::Connection;

/// Keeps a run that has just ended. Says whether it is new.
fn add(
    store: &mut Store,
    plan: &CampaignPlan,
    run: &PlannedRun,
    record: &coreach_execution::record::Record,
) -> bool {
    let finished = Finished { run, record: record.clone(), started: SystemTime::now() };
    store.add_all(plan, &[finished]).unwrap() == [true]
}

#[test]
fn the_parts_are_the_whole_and_merge_into_it() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
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
    assert!(stderr(&output).contains("INTO would write over the store"), "{}", stderr(&output));
}

#[test]
fn another_verdict_is_reported_and_nothing_is_overwritten() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
    run(&config, &["--quiet"], 1);
    // The same runs elsewhere, where two that failed did not.
    let other = folder.0.join("other.sqlite");
    let plan = plan(&config);
    let first = Store::read(&store(&folder)).unwrap();
    let mut second = Store::open(&other, "nightly").unwrap();
    second.describe(&plan).unwrap();
    let mut changed = 0;
    for run in &plan.runs {
        let mut record = first.find(&run.key.to_string()).unwrap().record;
        if record.verdict == OutcomeKind::FAIL && changed < 2 {
            changed += 1;
            record.verdict = OutcomeKind::Verdict(Verdict::Inconclusive);
        }
        add(&mut second, &plan, run, &record);
    }
    drop((first, second));
    let before = results(&store(&folder));
    let merge = [store(&folder).display().to_string(), other.display().to_string()];
    let output = run(Path::new("merge"), &[&merge[0], &merge[1]], 5);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("0 new, 40 known, 2 with another verdict"), "{text}");
    assert_eq!(results(&store(&folder)), before);
    assert_eq!(sql(&store(&folder), "SELECT count(*) FROM conflicts"), 2);
    let told = document(&config, &[], 1);
    assert_eq!((&told["conflicts"], &told["contested"]["inconclusive"]), (&2.into(), &2.into()));

    // The other way round: where it passed, the Fail of the other store counts, quiet or not, and however
    // often it is merged.
    let right = configured(&folder, &SMALL.replace(", wrong.yaml", ""));
    let (mine, theirs) = (folder.0.join("mine.sqlite"), folder.0.join("theirs.sqlite"));
    let code = coreach(&right, &["--store", mine.to_str().unwrap(), "--quiet"]).status().unwrap().code();
    assert!(matches!(code, Some(0 | 3)));
    let plan = self::plan(&right);
    let mut record = Store::read(&mine).unwrap().find(&plan.runs[0].key.to_string()).unwrap().record;
    record.verdict = OutcomeKind::FAIL;
    let mut store = Store::open(&theirs, "nightly").unwrap();
    store.describe(&plan).unwrap();
    add(&mut store, &plan, &plan.runs[0], &record);
    drop(store);
    let [mine, theirs] = [mine, theirs].map(|path| path.display().to_string());
    for _ in 0..2 {
        run(Path::new("merge"), &[&mine, &theirs], 5);
    }
    let junit = folder.0.join("contested.xml");
    let output = run(&right, &["--store", &mine, "--quiet", "--junit", junit.to_str().unwrap()], 1);
    assert!(stderr(&output).contains("got another verdict"), "{}", stderr(&output));
    assert!(fs::read_to_string(&junit).unwrap().contains("<failure type=\"contested\""));
    // It comes along with the store that has it.
    let onward = folder.0.join("onward.sqlite").display().to_string();
    run(Path::new("merge"), &[&onward, &mine], 5);
    // A second process, too, had another verdict.
    let again = folder.0.join("again.sqlite");
    coreach(&right, &["--store", again.to_str().unwrap(), "--quiet"]).status().unwrap();
    let mut store = Store::open(&again, "nightly").unwrap();
    assert!(!add(&mut store, &plan, &plan.runs[0], &record));
    drop(store);
    run(&right, &["--store", again.to_str().unwrap(), "--quiet"], 1);
}

/// The plan of a campaign, as the program makes it.
fn plan(config: &Path) -> CampaignPlan {
    let (campaign, _) = load_campaign(config).unwrap();
    prepare(&campaign, Partition::WHOLE, 1, SILENT).unwrap().0.0
}

#[test]
fn a_damaged_store_is_no_summary() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
    let first = document(&config, &[], 1);
    // The only Fails, under keys that are not theirs: the index has the old ones, and the table lacks them.
    let connection = Connection::open(store(&folder)).unwrap();
    connection.execute("UPDATE runs SET key = substr(key, 2) || 'x' WHERE verdict = 'Fail'", []).unwrap();
    drop(connection);
    let output = run(&config, &[], 2);
    assert!(
        output.stdout.is_empty() && stderr(&output).contains("does not fit its seal"),
        "{}",
        stderr(&output)
    );
    assert!(stderr(&output).contains("into a new store"), "{}", stderr(&output));
    let into = folder.0.join("new.sqlite").display().to_string();
    let again = document(&config, &["--store", &into], 1);
    assert_eq!((&again["executed"], &again["fail"]), (&40.into(), &first["fail"]));
}

#[test]
fn what_is_no_store_is_refused_and_left_alone() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
    let store = store(&folder);
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
    let newer = Connection::open(&store).unwrap();
    newer.pragma_update(None, "user_version", 3).unwrap();
    drop(newer);
    refused(2, "written by an earlier release");
    Connection::open(&store).unwrap().pragma_update(None, "user_version", 6).unwrap();
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
