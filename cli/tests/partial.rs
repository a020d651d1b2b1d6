//! What is written where the budget ends the work: a part of what is written without that end, and never
//! another answer.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::common::Folder;
use serde_json::Value;

/// So often each command is cut.
const CUTS: usize = 10;

const STOPPED: i32 = 6;

/// Runs a command whole, then with random budgets, and holds each document against the whole one. A budget
/// that does not suffice to read the files leaves nothing but its message.
fn cut(folder: &Folder, words: &[&str], holds: impl Fn(&Value, &Value)) {
    let words = [words, &["--format", "json"]].concat();
    let whole = folder.coreach(&words);
    let full: Value = serde_json::from_slice(&whole.stdout).unwrap();
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    let mut random = u64::from(seed);
    for _ in 0..CUTS {
        // From far below what reading takes to what suffices, each size as often.
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let time = 2_f64.powf(1.0 + (random >> 40) as f64 / f64::from(1 << 21)) as u64;
        let said = format!("{time}ms");
        let output = folder.coreach(&[&words[..], &["--time", &said]].concat());
        let text = || format!("{words:?}, {said}, seed {seed}: {output:?}");
        let code = output.status.code().unwrap();
        assert!(code == STOPPED || Some(code) == whole.status.code(), "{}", text());
        let document: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{}", text()));
        let is_message = document.as_object().is_some_and(|all| {
            all.keys().all(|key| ["format_version", "exit_code", "diagnostics"].contains(&key.as_str()))
        });
        if !is_message {
            holds(&document, &full);
        } else {
            assert_eq!(code, STOPPED, "{}", text());
        }
    }
}

fn list<'a>(document: &'a Value, key: &str) -> &'a [Value] {
    document[key].as_array().unwrap()
}

/// The documents by what they are about.
fn by<'a>(all: &'a [Value], keys: &[&str]) -> BTreeMap<String, &'a Value> {
    let name = |one: &Value| keys.iter().map(|key| one[*key].to_string()).collect();
    all.iter().map(|one| (name(one), one)).collect()
}

/// Without what differs between two runs of the same.
fn timeless(value: &Value) -> Value {
    match value {
        Value::Object(all) => all
            .iter()
            .filter(|(key, _)| *key != "seconds")
            .map(|(key, one)| (key.clone(), timeless(one)))
            .collect(),
        Value::Array(all) => all.iter().map(timeless).collect(),
        other => other.clone(),
    }
}

#[test]
fn covers_that_are_cut_have_decided_less_and_nothing_otherwise() {
    let folder = Folder::of_machines("models");
    let words =
        ["cover", "models/specification.yaml", "--criterion", "guards,pairs,definition-use,all-paths-5"];
    cut(&folder, &words, |part, full| {
        let goals = by(list(full, "goals"), &["criterion", "goal"]);
        for (name, goal) in by(list(part, "goals"), &["criterion", "goal"]) {
            assert!(goal["status"] == "open" || goal["status"] == goals[&name]["status"], "{goal:#}");
            assert_eq!(goal["status"] == "covered", !list(goal, "by").is_empty(), "{goal:#}");
        }
        assert!(part["exit_code"] != 0 || part == full);
    });
}

#[test]
fn trees_that_are_cut_are_the_beginnings_of_the_whole_ones() {
    let folder = Folder::of_machines("models");
    for purpose in [&["--nodes", "2000"][..], &["--all-paths", "9"], &["--inclusion", "2"]] {
        let words = [&["explore", "models/specification.yaml"], purpose].concat();
        cut(&folder, &words, |part, full| {
            // A restriction by inclusion comes before the paths and is another tree.
            let is_same_tree = list(part, "nodes").iter().all(|node| node["end"] != "included");
            for (node, other) in list(part, "nodes").iter().zip(list(full, "nodes")).filter(|_| is_same_tree)
            {
                for key in ["parent", "step", "location", "condition", "values", "is_certain"] {
                    assert_eq!(node[key], other[key]);
                }
                assert!(
                    node["end"] == "open" || node["end"] == other["end"] || other["end"] == "depth",
                    "{node:#}"
                );
                assert!(node["accepts"] == false || other["accepts"] == true);
            }
            assert!(list(part, "nodes").len() <= list(full, "nodes").len());
        });
    }
}

#[test]
fn comparisons_that_are_cut_have_the_other_rows() {
    let folder = Folder::of_machines("models");
    let two = "specification: models/specification.yaml\n\
               purposes: [models/deliver_coffee.yaml, models/several_drinks.yaml]\n";
    folder.write("coreach.yaml", two);
    cut(&folder, &["compare", "coreach.yaml", "--domains", "location,interval,octagon"], |part, full| {
        let whole = by(full.as_array().unwrap(), &["purpose", "domain"]);
        let rows = by(part.as_array().unwrap(), &["purpose", "domain"]);
        assert_eq!(rows.len(), whole.len());
        for (name, row) in rows {
            assert!(row["result"] == "stopped" || timeless(row) == timeless(whole[&name]), "{row:#}");
        }
    });
    // Each purpose that is made is written as a whole.
    cut(&folder, &["run", "coreach.yaml", "--out", "out"], |part, full| {
        let whole = by(list(full, "purposes"), &["purpose"]);
        for (name, purpose) in by(list(part, "purposes"), &["purpose"]) {
            assert!(
                purpose["result"] == "stopped" || purpose["result"] == whole[&name]["result"],
                "{purpose:#}"
            );
            if purpose["result"] == "made" {
                assert_eq!(purpose["details"]["files"], whole[&name]["details"]["files"]);
                assert_eq!(
                    timeless(&purpose["details"]["stages"]),
                    timeless(&whole[&name]["details"]["stages"])
                );
            }
        }
    });
}

#[test]
fn properties_that_were_verified_stay_so() {
    let till = "iosts: till\nvariables: { n: int }\ninitial: { location: Open, condition: n == 0 }\n\
                inputs: { Put: { p: 'int[1..5]' } }\noutputs: { Give: { p: int } }\ntransitions:\n\
                \x20 - { from: Open, to: Open, on: Put, assign: { n: n + p } }\n\
                \x20 - { from: Open, to: Open, on: Give, when: p > 0 && p <= n, assign: { n: n - p } }\n";
    let never = |name: &str, when: &str| {
        format!(
            "property: {name}\nof: till\ninitial: {{ location: Watch }}\n\
             transitions: [{{ from: Watch, to: Violate, on: Give, when: {when} }}]\n"
        )
    };
    let configuration = "specification: till.yaml\nproperties: [negative.yaml, large.yaml]\n";
    let (negative, large) = (never("negative", "p < 0"), never("large", "p > 11"));
    let folder = Folder::with(&[
        ("till.yaml", till),
        ("coreach.yaml", configuration),
        ("negative.yaml", &negative),
        ("large.yaml", &large),
    ]);
    cut(&folder, &["verify", "coreach.yaml"], |part, full| {
        let whole = by(list(full, "properties"), &["property"]);
        for (name, property) in by(list(part, "properties"), &["property"]) {
            assert!(property["result"] == "stopped" || property == whole[&name], "{property:#}");
        }
    });
}

#[test]
fn mutants_that_were_judged_have_the_same_fate() {
    let folder = Folder::of_machines("models");
    let words = ["mutate", "coreach.yaml", "--mutants", "6", "--runs", "4", "--walks", "4"];
    cut(&folder, &words, |part, full| {
        let whole = by(list(full, "mutants"), &["operator", "change"]);
        for (name, mutant) in by(list(part, "mutants"), &["operator", "change"]) {
            assert_eq!(mutant["fate"], whole[&name]["fate"], "{mutant:#}");
        }
        let (judged, open) = (list(part, "mutants").len(), list(part, "open").len());
        assert_eq!(judged + open, list(full, "mutants").len());
        assert_eq!(part["exit_code"] == 6, open > 0);
    });
}

#[test]
fn a_page_that_lacks_a_purpose_is_not_fine() {
    let folder = Folder::of_machines("models");
    folder.write("coreach.yaml", &(folder.read("coreach.yaml") + "\nlimits: { pairs: 1 }\n"));
    let output = folder.coreach(&["report", "coreach.yaml", "--out", "page.html", "--format", "json"]);
    assert_eq!(output.status.code(), Some(6));
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(told["exit_code"], 6);
    assert!(told["notes"][0].as_str().unwrap().contains("pairs"), "{told:#}");
}

/// Every status that a part has, the whole has at the same place, or more is known there.
fn is_within(part: &Value, full: &Value) {
    match (part, full) {
        (Value::Object(one), Value::Object(other)) => {
            for known in ["covered", "unreachable", "rejected"] {
                if one.get("status").is_some_and(|status| status == known) {
                    assert_eq!(other["status"], known, "{part:#}");
                }
            }
            one.iter().for_each(|(key, value)| is_within(value, other.get(key).unwrap_or(&Value::Null)));
        }
        (Value::Array(one), Value::Array(other)) => {
            one.iter().zip(other).for_each(|(one, other)| is_within(one, other));
        }
        _ => {}
    }
}

#[test]
fn what_is_counted_of_runs_is_counted_of_all() {
    let folder = Folder::of_machines("models");
    let test = ["test", "coreach.yaml", "--iut", "right.yaml", "--runs", "4", "--keep", "runs", "--quiet"];
    assert_eq!(folder.coreach(&test).status.code(), Some(0));
    cut(&folder, &["coverage", "coreach.yaml", "runs"], |part, full| {
        is_within(&part["specifications"], &full["specifications"]);
        assert!(part["runs"]["stopped"] == 0 || part["exit_code"] == STOPPED);
    });
}

#[test]
fn sequences_that_were_found_are_written() {
    let folder = Folder::new();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/atm_timed/specification.yaml");
    let model = model.to_str().unwrap();
    let inputs = |out: &str, time: &str| {
        let words = ["timed", "inputs", model, "--cover", "transitions", "--out", out, "--time", time];
        folder.coreach(&words).status.code()
    };
    let whole = inputs("whole", "60s");
    assert!(fs::read_dir(folder.0.join("whole")).unwrap().count() > 5);
    for time in ["30ms", "60ms", "120ms", "240ms", "480ms", "900ms"] {
        let code = inputs(time, time);
        assert!(code == Some(STOPPED) || code == whole, "{code:?}");
        for entry in fs::read_dir(folder.0.join(time)).into_iter().flatten() {
            let name = entry.unwrap().file_name().into_string().unwrap();
            assert_eq!(folder.read(&format!("{time}/{name}")), folder.read(&format!("whole/{name}")));
        }
    }
}

/// Goals that are met at once, and one that no run meets and no polyhedron excludes, since `x` stays even:
/// the budget ends the search, and the first are written as a suite.
#[test]
fn a_cover_that_has_no_end_leaves_a_suite() {
    let folder = Folder::new();
    let text = "iosts: far\nvariables: { x: int, y: int }\ninitial: { location: A, condition: x == 0 && y == 0 }\n\
                inputs: { Left: {}, Right: {}, Stay: { p: int } }\noutputs: { Tell: {} }\ntransitions:\n\
                \x20 - { from: A, to: A, on: Left, assign: { x: x + 2, y: y - x } }\n\
                \x20 - { from: A, to: A, on: Right, assign: { x: x - 2 * y, y: y + 2 } }\n\
                \x20 - { from: A, to: A, on: Stay, when: p > x, assign: { y: p } }\n\
                \x20 - { from: A, to: B, on: Tell, when: x == 7919 && y == 7907 }\n";
    folder.write("far.yaml", text);
    let words =
        ["cover", "far.yaml", "--nodes", "1000000", "--depth", "1000", "--time", "1s", "--out", "suite"];
    let (told, said) = folder.ends(&[&words[..], &["--format", "json"]].concat(), STOPPED);
    let told: Value = serde_json::from_str(&told).unwrap_or_else(|_| panic!("{told}{said}"));
    let of = |key: &str| told["criteria"][0][key].as_u64().unwrap();
    assert_eq!((of("goals"), of("covered"), of("open")), (4, 3, 1), "{told:#}");
    assert!(
        told["diagnostics"][0]["message"].as_str().unwrap().contains("1 s of processor time"),
        "{told:#}"
    );
    folder.ends(&["check", "suite/coreach.yaml"], 0);
    let (text, said) = folder.ends(&words, STOPPED);
    assert!(text.contains("open:\n") && said.contains("stopped after 1 s of processor time"), "{text}{said}");
}

/// The limit is what the work computes: standing still costs nothing.
#[test]
fn a_machine_that_is_busy_changes_nothing() {
    let folder = Folder::of_machines("models");
    let words = ["cover", "models/specification.yaml", "--format", "json", "--time", "2s"];
    let alone = folder.coreach(&words);
    assert_eq!(alone.status.code(), Some(0));
    let mut held = crate::common::coreach(words)
        .current_dir(&folder.0)
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let process = rustix::process::Pid::from_child(&held);
    // For longer than the budget, as on a machine with a load of many.
    rustix::process::kill_process(process, rustix::process::Signal::STOP).unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    rustix::process::kill_process(process, rustix::process::Signal::CONT).unwrap();
    let mut text = String::new();
    std::io::Read::read_to_string(held.stdout.as_mut().unwrap(), &mut text).unwrap();
    assert_eq!(held.wait().unwrap().code(), Some(0), "{text}");
    assert_eq!(text.as_bytes(), alone.stdout);
}
