//! Campaigns from the outside: what is kept, what is told, and what a kill leaves.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::campaigns::{SMALL, configured, coreach, document, results, run, sql, store};
use crate::common::{Folder, RIGHT, WRONG, stderr};
use coreach_execution::campaign::Store;
use serde_json::Value;

#[test]
fn a_campaign_is_done_once_and_told_every_time() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
    let junit = folder.0.join("report.xml");
    let output = run(&config, &["--junit", junit.to_str().unwrap()], 1);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.starts_with("nightly: 40 runs\n"), "{text}");
    // One failure, once, however many runs met it.
    assert_eq!(text.matches("\nFail: expected pRemainingValue = ").count(), 1, "{text}");
    assert!(text.contains(": the specification does not allow Return"), "{text}");
    assert!(text.contains("nightly.sqlite "), "{text}");
    let report = fs::read_to_string(&junit).unwrap();
    assert_eq!(report.matches("<testcase ").count(), 40);
    assert!(
        report.contains("<testsuite name=\"deliver_coffee/right\" tests=\"20\" failures=\"0\""),
        "{report}"
    );

    assert_eq!(report.matches("<property name=\"bucket ").count(), 1, "{report}");

    let before = results(&store(&folder));
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
    assert_eq!(results(&store(&folder)), before);
    assert_eq!(before.len(), 40);

    // Without the mutant nothing fails; and the runs of the other one are done already.
    let config = configured(&folder, &SMALL.replace(", wrong.yaml", ""));
    let right = document(&config, &[], if again["groups"][0]["inconclusive"] == 0 { 0 } else { 3 });
    assert_eq!((&right["executed"], &right["others"]), (&0.into(), &20.into()));
    // Another setting makes other runs.
    let config = configured(&folder, &format!("{SMALL}\nstrategy: plan"));
    assert_eq!(document(&config, &[], 1)["executed"], 40);
}

/// Two implementations that are wrong in different places: two failures, not as many as there are runs, and
/// each shrinks to itself.
#[test]
fn each_thing_that_failed_is_told_once_and_shrinks_to_itself() {
    let folder = Folder::of_machines("");
    let wrong = fs::read_to_string(folder.0.join("mutant.yaml")).unwrap();
    let other = wrong.replace(WRONG, RIGHT).replace("pBeverage == vBeverage", "pBeverage != vBeverage");
    fs::write(folder.0.join("other_mutant.yaml"), other).unwrap();
    fs::write(folder.0.join("other.yaml"), "iut: other\nsimulated: { model: other_mutant.yaml }\n").unwrap();
    let config = configured(&folder, &SMALL.replace("wrong.yaml", "wrong.yaml, other.yaml"));
    let summary = document(&config, &[], 1);
    let buckets = summary["buckets"].as_array().unwrap();
    let counts: i64 = buckets.iter().map(|bucket| bucket["count"].as_i64().unwrap()).sum();
    assert_eq!(counts, summary["fail"].as_i64().unwrap() + summary["run_error"].as_i64().unwrap());
    assert_eq!(buckets.len(), 2, "{summary:#}");
    let mut seen = std::collections::BTreeSet::new();
    for bucket in buckets {
        assert!(seen.insert(bucket["id"].as_str().unwrap()), "{summary:#}");
        let number = bucket["shortest"]["run"].to_string();
        let store = store(&folder);
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
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
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
    let folder = Folder::of_machines("");
    let config = configured(&folder, &SMALL.replace("count: 10", "count: 40"));
    let start = || coreach(&config, &["--quiet"]).stderr(Stdio::piped()).spawn().unwrap();
    let both = [start(), start()];
    for one in both {
        let output = one.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
    }
    let alone = folder.0.join("alone.sqlite");
    run(&config, &["--store", alone.to_str().unwrap(), "--quiet"], 1);
    assert_eq!(results(&store(&folder)), results(&alone));
}

#[test]
fn nothing_run_is_no_success() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, "iuts: [right.yaml]\nconstants: [{ cPrice: 3 }]\nseeds: [1]");
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
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
    run(&config, &["--quiet"], 1);
    fs::hard_link(store(&folder), folder.0.join("hard.xml")).unwrap();
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
    let [store, campaign] = [store(&folder), config.clone()].map(|path| path.display().to_string());
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
fn where_nothing_may_be_written_nothing_is_run() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
    for (more, message) in [
        (["--store", "/proc/nightly.sqlite"], "the store /proc/nightly.sqlite cannot be used"),
        (["--junit", "/proc/report.xml"], "cannot write /proc/report.xml"),
    ] {
        let output = run(&config, &more, 8);
        assert!(stderr(&output).contains(message), "{}", stderr(&output));
    }
    assert!(!store(&folder).exists());
}

#[test]
fn mistakes_are_shown_in_the_users_text() {
    let folder = Folder::of_machines("");
    let iuts = "iuts: [right.yaml]";
    for (more, message) in [
        ("iuts: [rigth.yaml]", "did you mean `right.yaml`?"),
        ("iuts: []", "`iuts` is empty"),
        ("iuts: [coreach.yaml]", "the IUT file has no `iut`"),
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
        let config = configured(&folder, more);
        let output = run(&config, &[], 2);
        assert!(stderr(&output).contains(message), "{more}\n{}", stderr(&output));
        let json = document(&config, &[], 2);
        assert_eq!(json["exit_code"], 2, "{json}");
    }
    let output = run(&folder.0.join("coreach.yaml"), &[], 2);
    assert!(stderr(&output).contains("expected a campaign, but this is a configuration"));
    assert!(!store(&folder).exists());
}

/// A purpose that cannot be reached, and constants that do not suit, are results: the rest goes on.
#[test]
fn what_cannot_be_tested_is_left_out() {
    let folder = Folder::of_machines("");
    let purposes = "specification: specification.yaml\npurposes: [deliver_coffee.yaml, never.yaml]\n";
    folder.write("coreach.yaml", purposes);
    let iuts = "iuts: [right.yaml]\nseeds: [1, 2]";
    let config = configured(&folder, &format!("{iuts}\nconstants: [{{ cPrice: 0 }}, {{ cPrice: 3 }}]"));
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
    // Only the unreachable one is left out here, and nothing else is there: no run is planned.
    folder.write("coreach.yaml", "specification: specification.yaml\npurpose: never.yaml\n");
    assert_eq!(document(&configured(&folder, iuts), &[], 5)["planned"], 0);
}

#[test]
fn a_fail_ends_what_is_to_end_with_it_and_inconclusive_counts_as_it_is_told() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
    let first = document(&config, &["--fail-fast"], 1);
    let counted = |summary: &Value, what: &str| summary[what].as_u64().unwrap();
    assert_eq!(counted(&first, "fail"), 1);
    assert!(counted(&first, "missing") > 0, "{first}");
    // There is a Fail already.
    assert_eq!(document(&config, &["--fail-fast"], 1)["executed"], 0);
    assert_eq!(counted(&document(&config, &[], 1), "missing"), 0);
    // One event is too few to meet the purpose.
    let right = "iuts: [right.yaml]\nseeds: [1, 2]\nconstants: [{ cPrice: 3 }]\nlimits: { steps: 1 }";
    let right = configured(&folder, right);
    let warned = document(&right, &[], 3);
    assert!(counted(&warned, "inconclusive") > 0, "{warned}");
    document(&right, &["--inconclusive", "ok"], 0);
    document(&right, &["--inconclusive", "fail"], 1);
}

#[test]
fn constants_are_solved_for_where_none_are_given() {
    let folder = Folder::of_machines("");
    folder.write(
        "coreach.yaml",
        "specification: specification.yaml\npurposes: [deliver_coffee.yaml, several_drinks.yaml]\n",
    );
    let config = configured(&folder, "iuts: [right.yaml]\nconstants: { solved: 3 }\nseeds: [7]");
    let output = coreach(&config, &["--quiet"]).output().unwrap();
    assert!(matches!(output.status.code(), Some(0 | 3)), "{}", stderr(&output));
    assert_eq!(sql(&store(&folder), "SELECT count(DISTINCT test || constants) FROM runs"), 6);
    assert_eq!(sql(&store(&folder), "SELECT count(*) FROM runs WHERE constants ->> '$.cPrice' > 0"), 6);
    assert_eq!(sql(&store(&folder), "SELECT count(*) FROM runs WHERE constants ->> '$.cWanted' > 1"), 3);
}

#[test]
fn a_kill_loses_nothing_and_nothing_is_done_twice() {
    const KILLS: usize = 10;
    let folder = Folder::of_machines("");
    let config = configured(&folder, &SMALL.replace("count: 10", "count: 50"));
    let reference = folder.0.join("reference.sqlite");
    run(&config, &["--store", reference.to_str().unwrap(), "--quiet"], 1);
    let wanted = results(&reference);
    assert_eq!(wanted.len(), 200);
    let store = store(&folder);
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

/// One fault of a counter, met by three purposes: the part of a guard that is the purpose's was taken into
/// the bucket where its other half cannot be reached.
#[test]
fn one_fault_that_three_purposes_meet_is_one_bucket() {
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/counter");
    let folder = Folder::new();
    for file in ["specification.yaml", "reach_target.yaml"] {
        folder.write(file, &fs::read_to_string(example.join(file)).unwrap());
    }
    folder.write("wrong_model.yaml", &folder.read("specification.yaml"));
    folder.change("wrong_model.yaml", "when: pValue == v }", "when: pValue == v + 1 }");
    let purpose = |name: &str, guard: &str, other: &str| {
        let head = format!("purpose: {name}\nof: counter\ninitial: {{ location: Begin }}\ntransitions:\n");
        let to =
            |to: &str, guard: &str| format!("  - {{ from: Begin, to: {to}, on: Show, when: {guard} }}\n");
        folder.write(&format!("{name}.yaml"), &(head + &to("Accept", guard) + &to("Begin", other)));
    };
    purpose("ten", "pValue == 10", "pValue < 10");
    purpose("some", "pValue == 4", "pValue < 4");
    let purposes = "specification: specification.yaml\npurposes: [reach_target.yaml, ten.yaml, some.yaml]\n";
    folder.write("coreach.yaml", &format!("{purposes}analysis: {{ domain: polyhedra }}\n"));
    folder.write("wrong.yaml", "iut: wrong\nsimulated: { model: wrong_model.yaml }\n");
    let output = folder.coreach(&[
        "test",
        "coreach.yaml",
        "--iut",
        "wrong.yaml",
        "--runs",
        "5",
        "--constant",
        "cTarget=0",
        "--format",
        "json",
    ]);
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    let mut seen = BTreeMap::new();
    for run in document["runs"].as_array().unwrap().iter().filter(|run| run["verdict"] == "Fail") {
        seen.entry(run["bucket"].to_string())
            .or_insert_with(Vec::new)
            .push(run["test_case"].as_str().unwrap().to_owned());
    }
    let tests: std::collections::BTreeSet<&String> = seen.values().flatten().collect();
    assert!(seen.len() == 1 && tests.len() == 3, "{seen:#?}");
    assert!(seen.keys().all(|bucket| bucket.contains("[[\"pValue == v\"]]")), "{seen:#?}");
}

/// What holds up a command is said, and then it goes on.
#[test]
fn who_waits_for_a_locked_store_says_so() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, "iuts: [right.yaml]\nseeds: { first: 1, count: 1 }");
    run(&config, &[], 0);
    let other = rusqlite::Connection::open(store(&folder)).unwrap();
    other.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
    let mut child = coreach(&config, &["--quiet"]).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("another process has locked the store"), "{line}");
    drop(other);
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

/// A store has no values that the IUT's file keeps secret, and is its owner's alone. Who needs them reads
/// them in that file, while it is the same but for them.
#[test]
fn a_store_has_no_secrets_of_the_iuts_file_and_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let folder = Folder::with(&[
        (
            "s.yaml",
            "iosts: m\ninitial: { location: A }\ninputs: { Go: {} }\noutputs: { Ok: {} }\ntransitions:\n  - { from: A, to: B, on: Go }\n  - { from: B, to: C, on: Ok }\n",
        ),
        (
            "p.yaml",
            "purpose: p\nof: m\ninitial: { location: S }\ntransitions:\n  - { from: S, to: Accept, on: Ok }\n",
        ),
        ("coreach.yaml", "specification: s.yaml\npurpose: p.yaml\n"),
        (
            "i.sh",
            "while read -r m; do case $m in *start*) echo '{\"ready\": true}' ;; *) test \"$PASS\" = WORD4711 && echo '{\"output\": \"Ok\"}' ;; esac; done\n",
        ),
        ("i.yaml", "iut: i\nstdio: { command: [sh, i.sh], environment: { PASS: WORD4711 } }\n"),
    ]);
    let config = configured(&folder, "iuts: [i.yaml]\nseeds: { first: 1, count: 1 }");
    let page = folder.0.join("page.html");
    run(&config, &["--html", page.to_str().unwrap()], 0);
    for path in [store(&folder), page] {
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{}", path.display());
        let bytes = fs::read(&path).unwrap();
        assert!(!bytes.windows(8).any(|bytes| bytes == b"WORD4711"), "{}", path.display());
    }
    folder.ends(&["replay", "nightly.sqlite", "1"], 0);
    folder.change("i.yaml", "sh, i.sh", "sh, ./i.sh");
    let (_, err) = folder.ends(&["replay", "nightly.sqlite", "1"], 2);
    assert!(err.contains("the store keeps no secrets of `i`") && err.contains("--iut"), "{err}");
    folder.ends(&["replay", "nightly.sqlite", "1", "--iut", "i.yaml"], 0);
}
