//! Work in shards: the scripts that an engine is given, run by a shell.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use crate::campaigns::{SMALL, configured, coreach, results, run, sql};
use crate::common::{Folder, RIGHT, WRONG, exits, json, stderr, stdout};
use rustix::process::{Pid, Signal, kill_process, kill_process_group};
use serde_json::Value;

/// Everything that a shell, Python, Snakemake or HyperQueue could take for something of its own.
const NASTY: &[u8] = b"-a 'b' \"c\" $(touch pwned) `touch pwned` {d} {{e}} %{JOB_ID} *;\\\n\xff @PARTS@";

/// The scripts for shards of a campaign in this folder.
fn tasks(config: &Path, out: &Path, more: &[&str]) -> Output {
    let mut command = crate::common::coreach(["campaign", "tasks"]);
    command.arg(config).arg("--out").arg(out).args(["--engine", "shell"]).args(more);
    command.output().unwrap()
}

/// A script of them, begun in a folder of its own, with a folder for what is to pass.
fn script(out: &Path, name: &str, more: &[&str]) -> Command {
    let passing = out.join("../passing");
    fs::create_dir_all(&passing).unwrap();
    let mut command = Command::new("sh");
    command.arg(out.join(name)).args(more).current_dir("/").env("TMPDIR", passing).env("JOBS", "2");
    command
}

/// What is left of shards in the folder for what is to pass, and of those that came to their place.
fn left(out: &Path) -> Vec<PathBuf> {
    let entries = |folder: PathBuf| fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let hidden = |path: &PathBuf| path.file_name().unwrap().as_bytes().starts_with(b".");
    entries(out.join("../passing")).chain(entries(out.join("shards")).filter(hidden)).collect()
}

/// A summary without what differs from run to run: times, the order in which runs were finished, and where
/// the store is.
fn timeless(mut summary: Value) -> Value {
    fn strip(value: &mut Value) {
        match value {
            Value::Object(object) => {
                object.retain(|key, _| {
                    !["seconds", "median_seconds", "run", "store", "executed"].contains(&key.as_str())
                });
                object.values_mut().for_each(strip);
            }
            Value::Array(items) => items.iter_mut().for_each(strip),
            _ => {}
        }
    }
    strip(&mut summary);
    summary
}

#[test]
fn the_parts_of_an_engine_are_one_campaign_wherever_they_lie() {
    let folder = Folder::of_machines("");
    let nasty = folder.0.join(OsStr::from_bytes(NASTY));
    fs::create_dir(&nasty).unwrap();
    for entry in fs::read_dir(&folder.0).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_file() {
            fs::copy(&entry, nasty.join(entry.file_name().unwrap())).unwrap();
        }
    }
    let config = nasty.join("campaign.yaml");
    fs::copy(configured(&folder, SMALL), &config).unwrap();
    let out = nasty.join("tasks");
    exits(&tasks(&config, &out, &["--shards", "12"]), 0);
    let whole = nasty.join("whole.sqlite");
    let alone = coreach(&config, &["--quiet", "--store"]).arg(&whole).output().unwrap();
    for _ in 0..2 {
        let output = script(&out, "submit", &["--quiet"]).output().unwrap();
        exits(&output, 1);
        // The same bytes as of one process.
        assert_eq!(stdout(&output), stdout(&alone));
        assert_eq!(results(&out.join("merged.sqlite")), results(&whole));
        assert_eq!(sql(&out.join("merged.sqlite"), "SELECT count(*) FROM repeats"), 0);
        assert_eq!(left(&out), Vec::<PathBuf>::new());
    }
    let merged = script(&out, "merge", &["--format", "json"]).output().unwrap();
    let alone = coreach(&config, &["--format", "json", "--store"]).arg(&whole).output().unwrap();
    exits(&merged, 1);
    assert_eq!(timeless(json(&merged)), timeless(json(&alone)));
    assert!(
        !folder.0.join("pwned").exists() && !nasty.join("pwned").exists() && !Path::new("/pwned").exists()
    );
    // What was said of time and memory is said to each shard, too.
    let written = crate::common::coreach([
        "campaign", "tasks", "--time", "5m", "--memory", "1GiB", "--shards", "3", "--out",
    ])
    .arg(nasty.join("budgets"))
    .arg(&config)
    .output()
    .unwrap();
    exits(&written, 0);
    for name in ["shard", "merge"] {
        let text = fs::read(nasty.join("budgets").join(name)).unwrap();
        assert!(String::from_utf8_lossy(&text).contains(" --time 300000ms --memory 1024MiB "), "{name}");
    }
    // Written again, they are as they were: no engine does a shard again for it.
    let written = fs::metadata(out.join("plan")).unwrap().modified().unwrap();
    exits(&tasks(&config, &out, &["--shards", "12"]), 0);
    assert_eq!(fs::metadata(out.join("plan")).unwrap().modified().unwrap(), written);
}

#[test]
fn a_part_that_is_done_twice_is_there_once() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, &SMALL.replace("count: 10", "count: 40"));
    let out = folder.0.join("tasks");
    exits(&tasks(&config, &out, &["--shards", "2"]), 0);
    // Two workers, since one was taken for dead.
    let both = [1, 2].map(|_| script(&out, "shard", &["1"]).stdout(Stdio::null()).spawn().unwrap());
    for mut one in both {
        assert_eq!(one.wait().unwrap().code(), Some(0));
    }
    let shard = out.join("shards/0001.sqlite");
    let before = results(&shard);
    assert_eq!(sql(&shard, "SELECT count(*) FROM repeats"), 0);
    // Verdicts are no failure of a shard, and HyperQueue says its number otherwise.
    for number in ["1", "2"] {
        exits(&script(&out, "shard", &[]).env("HQ_TASK_ID", number).output().unwrap(), 0);
    }
    assert_eq!(results(&shard), before);
    let output = script(&out, "merge", &["--format", "json"]).output().unwrap();
    exits(&output, 1);
    let summary = json(&output);
    assert_eq!(
        (&summary["missing"], &summary["repeats"], &summary["planned"]),
        (&0.into(), &0.into(), &160.into())
    );
    assert_eq!(left(&out), Vec::<PathBuf>::new());
}

#[test]
fn a_part_that_was_killed_was_never_there() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, &SMALL.replace("count: 10", "count: 400"));
    let out = folder.0.join("tasks");
    exits(&tasks(&config, &out, &["--shards", "1"]), 0);
    let shard = out.join("shards/0001.sqlite");
    let (kill, polite) = (Signal::KILL, [Signal::TERM, Signal::INT]);
    for number in 0..6 {
        let mut worker =
            script(&out, "shard", &["1"]).stderr(Stdio::null()).process_group(0).spawn().unwrap();
        thread::sleep(Duration::from_millis(60 + 40 * number as u64));
        let pid = Pid::from_child(&worker);
        // A kill takes the whole shard, as when a machine goes; a polite signal comes to the script alone.
        match number % 2 {
            0 => kill_process_group(pid, kill).unwrap(),
            _ => kill_process(pid, polite[number / 2 % 2]).unwrap(),
        }
        let status = worker.wait().unwrap();
        if status.success() {
            break; // It was faster.
        }
        assert!(!shard.exists(), "{status}");
        if number % 2 == 1 {
            assert!(matches!(status.code(), Some(143 | 130)), "{status}");
        }
    }
    let kept = left(&out).len();
    exits(&script(&out, "submit", &["--quiet"]).output().unwrap(), 1);
    assert_eq!(sql(&out.join("merged.sqlite"), "SELECT count(*) FROM runs"), 1600);
    // What a kill left on the way to its place is gone; what it left elsewhere is not ours to find.
    assert!(
        left(&out).len() <= kept && left(&out).iter().all(|path| path.parent().unwrap().ends_with("passing"))
    );
}

/// Two machines whose files are not the same: the one that is not as it was planned does nothing, and what it
/// did is not taken.
#[test]
fn a_shard_of_another_model_is_refused() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
    let out = folder.0.join("tasks");
    exits(&tasks(&config, &out, &["--shards", "2"]), 0);
    exits(&script(&out, "shard", &["1"]).output().unwrap(), 0);
    let text = folder.read("mutant.yaml");
    folder.change("mutant.yaml", WRONG, RIGHT);
    folder.change("specification.yaml", RIGHT, WRONG);
    let output = script(&out, "shard", &["2"]).output().unwrap();
    exits(&output, 2);
    assert!(!out.join("shards/0002.sqlite").exists());
    let log = folder.read("tasks/log/0002");
    assert!(log.contains("another-plan") && log.contains("campaign tasks"), "{log}");
    exits(&script(&out, "merge", &[]).output().unwrap(), 2);
    // By hand, without the plan's hash.
    let stranger = out.join("shards/0002.sqlite");
    run(&config, &["--partition", "hash:2/2", "--quiet", "--store", stranger.to_str().unwrap()], 1);
    folder.write("mutant.yaml", &text);
    folder.change("specification.yaml", WRONG, RIGHT);
    let output = script(&out, "merge", &[]).output().unwrap();
    exits(&output, 2);
    assert!(stderr(&output).contains("0002.sqlite is no shard of this campaign"), "{}", stderr(&output));
    assert!(!out.join("merged.sqlite").exists());
    // The shard is done again: it goes on from what is there, and the runs of the other model are left out.
    exits(&script(&out, "submit", &["--quiet"]).output().unwrap(), 1);
    let output = script(&out, "merge", &["--format", "json"]).output().unwrap();
    let summary = json(&output);
    assert_eq!((&summary["missing"], &summary["others"]), (&0.into(), &0.into()), "{summary:#}");
    assert!(stderr(&output).contains("of another plan were not taken"), "{}", stderr(&output));
}

/// More seeds cost the new ones only, and the runs of before are those of before.
#[test]
fn a_campaign_that_grows_goes_on() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
    let out = folder.0.join("tasks");
    exits(&tasks(&config, &out, &["--shards", "3"]), 0);
    exits(&script(&out, "submit", &["--quiet"]).output().unwrap(), 1);
    let merged = out.join("merged.sqlite");
    let sum = "SELECT CAST(1000000 * sum(seconds) AS INTEGER) FROM runs WHERE seed <= 10";
    let (before, time) = (results(&merged), sql(&merged, sum));
    configured(&folder, &SMALL.replace("count: 10", "count: 15"));
    // Who forgets to write them again is told.
    let output = script(&out, "submit", &[]).output().unwrap();
    exits(&output, 2);
    assert!(stderr(&output).contains("write the tasks anew"), "{}", stderr(&output));
    exits(&tasks(&config, &out, &["--shards", "3"]), 0);
    exits(&script(&out, "submit", &["--quiet"]).output().unwrap(), 1);
    let after = results(&merged);
    assert_eq!((before.len(), after.len(), sql(&merged, sum)), (40, 60, time));
    assert!(before.iter().all(|(key, run)| after.get(key) == Some(run)));
}

/// Mutation and comparison have no store: their shards are files, and what is told of them is what one
/// process tells.
#[test]
fn mutants_and_domains_are_done_in_parts() {
    let folder = Folder::of_machines("");
    let config = folder.0.join("coreach.yaml");
    let options: &[&str] = &["--mutants", "9", "--walks", "3", "--runs", "3"];
    let domains: &[&str] = &["--domains", "location,interval"];
    for (command, options, more) in [
        ("mutate", options, [""; 0].as_slice()),
        ("mutate", options, &["--quiet"]),
        ("mutate", options, &["--format", "json"]),
        ("compare", domains, &["--format", "json"]),
    ] {
        let out = folder.0.join(command);
        let written = crate::common::coreach([command, "tasks"])
            .arg(&config)
            .args(options)
            .arg("--out")
            .arg(&out)
            .args(["--shards", "3", "--engine", "shell", "--quiet"])
            .output()
            .unwrap();
        exits(&written, 0);
        let shards = script(&out, "submit", more).output().unwrap();
        let alone = crate::common::coreach([command]).arg(&config).args(options).args(more).output().unwrap();
        exits(&shards, 0);
        exits(&alone, 0);
        if command == "compare" {
            assert_eq!(timeless(json(&shards)), timeless(json(&alone)));
        } else {
            assert_eq!(stdout(&shards), stdout(&alone));
        }
    }
    // What is no whole is no success.
    let shards = folder.0.join("mutate/shards");
    let place = |name: &str| shards.join(name).display().to_string();
    let merge = |command: &str, names: &[String], code: i32| {
        let output = crate::common::coreach([command, "merge"]).args(names).output().unwrap();
        exits(&output, code);
        stderr(&output)
    };
    let said = merge("mutate", &[place("0001.shard"), place("0001.shard"), place("0003.shard")], 5);
    assert!(said.contains("of 9 are in no shard"), "{said}");
    let said = merge("compare", &[place("0001.shard")], 2);
    assert!(said.contains("is a shard of `mutate`"), "{said}");
    let said = merge("mutate", &[config.display().to_string()], 2);
    assert!(said.contains("is no shard"), "{said}");
    let text = folder.read("mutate/shards/0002.shard");
    folder.write("mutate/shards/0002.shard", &text.replacen("\"visits\":0", "\"visits\":1", 1));
    assert_ne!(folder.read("mutate/shards/0002.shard"), text);
    let said = merge("mutate", &[place("0001.shard"), place("0002.shard")], 2);
    assert!(said.contains("is damaged"), "{said}");
    // Of another suite, and of other options.
    folder.write("mutate/shards/0002.shard", &text);
    folder.change("specification.yaml", RIGHT, WRONG);
    let output = script(&folder.0.join("mutate"), "shard", &["3"]).output().unwrap();
    exits(&output, 2);
    assert!(folder.read("mutate/log/0003").contains("another-plan"));
    let stranger = folder.0.join("stranger").display().to_string();
    let output = crate::common::coreach(["mutate"])
        .arg(&config)
        .args(options)
        .args(["--partition", "hash:3/3", "--store", &stranger, "--quiet"])
        .output()
        .unwrap();
    exits(&output, 0);
    let said = merge("mutate", &[place("0001.shard"), stranger], 2);
    assert!(said.contains("another-plan") && said.contains("one whole"), "{said}");
    // A shard is kept, or nothing is done; and over nothing that is read.
    let output =
        crate::common::coreach(["mutate"]).arg(&config).args(["--partition", "hash:3/3"]).output().unwrap();
    exits(&output, 2);
    let output = crate::common::coreach(["mutate"])
        .arg(&config)
        .args(["--store"])
        .arg(folder.0.join("specification.yaml"))
        .output()
        .unwrap();
    exits(&output, 2);
    assert!(stderr(&output).contains("would write over the specification"), "{}", stderr(&output));
}

#[test]
fn what_is_not_there_is_said() {
    let folder = Folder::of_machines("");
    let config = configured(&folder, SMALL);
    let out = folder.0.join("tasks");
    exits(&tasks(&config, &out, &["--shards", "3"]), 0);
    let output = script(&out, "merge", &[]).output().unwrap();
    exits(&output, 5);
    assert!(stderr(&output).contains("no shard is there yet"));
    exits(&script(&out, "shard", &["2"]).output().unwrap(), 0);
    let output = script(&out, "merge", &[]).output().unwrap();
    // There is a Fail in what is there, and that counts first.
    exits(&output, 1);
    assert!(stderr(&output).contains("of the plan are not in the store"), "{}", stderr(&output));
    // There is no such shard.
    exits(&script(&out, "shard", &["4"]).output().unwrap(), 2);
    // Where nothing can be written, no shard is there, and an engine may try another machine.
    exits(&script(&out, "shard", &["1"]).env("TMPDIR", "/proc").output().unwrap(), 8);
    // A shard that is damaged stops the merge, with its name.
    let shard = out.join("shards/0002.sqlite");
    let bytes = fs::read(&shard).unwrap();
    fs::write(&shard, &bytes[..bytes.len() / 2]).unwrap();
    let output = script(&out, "merge", &[]).output().unwrap();
    exits(&output, 2);
    assert!(stderr(&output).contains("0002.sqlite"), "{}", stderr(&output));
    fs::remove_file(&shard).unwrap();
    exits(&script(&out, "submit", &["--quiet"]).output().unwrap(), 1);
}

#[test]
fn scripts_write_over_nothing_that_is_read() {
    let folder = Folder::of_machines("");
    fs::rename(configured(&folder, SMALL), folder.0.join("submit")).unwrap();
    let output = tasks(&folder.0.join("submit"), &folder.0, &["--shards", "2"]);
    exits(&output, 2);
    assert!(stderr(&output).contains("would write over the campaign"), "{}", stderr(&output));
    let output = tasks(&folder.0.join("submit"), &folder.0.join("tasks"), &["--shards", "10000"]);
    exits(&output, 2);
    assert!(stderr(&output).contains("at most 9999"), "{}", stderr(&output));
    assert!(!folder.0.join("tasks").exists());
}
