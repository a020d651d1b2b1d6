//! `coreach coverage` from the outside: the same of a store and of files, in any order; what was changed is
//! refused; the LCOV is read.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeMap;
use std::fs;

use crate::common::Folder;
use rusqlite::Connection;
use serde_json::Value;

/// A campaign with these implementations and seeds, done.
fn campaign(folder: &Folder, name: &str, iuts: &str, seeds: &str) {
    let text = format!(
        "campaign: {name}\ntests: [{{ configuration: coreach.yaml }}]\niuts: {iuts}\nconstants: [{{ cPrice: 3 }}]\nseeds: {seeds}\n"
    );
    folder.write(&format!("{name}.yaml"), &text);
    let done = folder.coreach(&["campaign", &format!("{name}.yaml"), "--quiet"]);
    assert!(done.status.code().is_some_and(|code| code < 2), "{done:?}");
}

fn campaign_without_constants(folder: &Folder, name: &str) {
    let text = format!("campaign: {name}\ntests: [{{ configuration: coreach.yaml }}]\niuts: [right.yaml]\n");
    folder.write(&format!("{name}.yaml"), &text);
    let done = folder.coreach(&["campaign", &format!("{name}.yaml"), "--quiet"]);
    assert_eq!(done.status.code(), Some(0), "{done:?}");
}

/// What is told, as a document.
fn told(folder: &Folder, files: &[&str]) -> Value {
    let output = folder.coreach(&[&["coverage"], files, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

/// The code of the finding for which it is refused.
#[track_caller]
fn refused(folder: &Folder, files: &[&str]) -> (String, String) {
    let output = folder.coreach(&[&["coverage"], files, &["--format", "json"]].concat());
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |key: &str| told["diagnostics"][0][key].as_str().unwrap().to_owned();
    (text("code"), text("message"))
}

fn transition<'a>(model: &'a Value, name: &str) -> &'a Value {
    let all = model["transitions"].as_array().unwrap();
    all.iter().find(|transition| transition["name"] == name).unwrap_or_else(|| panic!("{name}: {model:#}"))
}

#[test]
fn what_ran_is_covered_and_gaps_have_names() {
    let folder = Folder::of_machines("model");
    campaign(&folder, "nightly", "[right.yaml]", "{ first: 1, count: 20 }");
    let told = told(&folder, &["nightly.yaml"]);
    assert_eq!(told["runs"]["read"], 20);
    let specification = &told["specifications"][0];
    assert_eq!(
        (&specification["name"], &specification["runs"]),
        (&Value::from("coffee_machine"), &Value::from(20))
    );
    // A purpose for coffee never asks for tea, and never cancels.
    let deliver = transition(specification, "Delivery -Deliver-> Begin");
    assert_eq!((&deliver["status"], &deliver["runs"]), (&Value::from("covered"), &Value::from(20)));
    let tea = &deliver["parameters"][0]["classes"];
    let class = |name: &str| tea.as_array().unwrap().iter().find(|class| class["class"] == name).unwrap();
    assert_eq!(
        (&class("COFFEE")["status"], &class("TEA")["status"]),
        (&Value::from("covered"), &Value::from("gap"))
    );
    assert_eq!(transition(specification, "Idle -Cancel-> Return")["status"], "gap");
    // Only a fault would show the other side of an output's value.
    let equal = &deliver["conjuncts"][0];
    assert_eq!(
        (&equal["holds"]["status"], &equal["fails"]["status"]),
        (&Value::from("covered"), &Value::from("unreachable"))
    );
    let text = String::from_utf8(folder.coreach(&["coverage", "nightly.yaml"]).stdout).unwrap();
    assert!(text.contains("model/specification.yaml:31: Idle -Cancel-> Return"), "{text}");
    assert!(text.contains("Delivery -Deliver-> Begin: pBeverage is TEA"), "{text}");
    // Of the purpose, what it rejects is asked of nobody.
    let purpose = &specification["purposes"][0];
    assert_eq!(transition(purpose, "Begin -Cancel-> Reject")["status"], "rejected");
    assert_eq!(purpose["of_specification"], specification["figures"]);
}

#[test]
fn a_run_that_failed_counts_up_to_where_it_failed() {
    let folder = Folder::of_machines("model");
    campaign(&folder, "nightly", "[wrong.yaml]", "{ first: 1, count: 20 }");
    let told = told(&folder, &["nightly.yaml", "--proofs", "none"]);
    let specification = &told["specifications"][0];
    let change = transition(specification, "Pay -Return-> Choose");
    // The change that is one short refutes the conjunct alone, and takes no transition.
    let short = &change["conjuncts"][1]["fails"];
    assert_eq!(short["status"], "covered", "{change:#}");
    assert!(short["runs"].as_u64().unwrap() > 0);
    let failed = short["runs"].as_u64().unwrap();
    assert!(change["runs"].as_u64().unwrap() + failed <= 20, "{change:#}");
}

#[test]
fn the_order_of_files_changes_no_byte_and_a_run_counts_once() {
    let folder = Folder::of_machines("model");
    campaign(&folder, "one", "[right.yaml, wrong.yaml]", "{ first: 1, count: 8 }");
    campaign(&folder, "two", "[right.yaml, wrong.yaml]", "{ first: 5, count: 8 }");
    let say = |files: &[&str]| {
        let lcov = ["--lcov", "out.info", "--format", "json"];
        let output = folder.coreach(&[&["coverage"], files, &lcov].concat());
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        (output.stdout, folder.read("out.info"))
    };
    let first = say(&["coreach.yaml", "one.sqlite", "two.sqlite"]);
    assert_eq!(first, say(&["two.sqlite", "one.sqlite", "coreach.yaml"]));
    // The configuration lies beside.
    assert_eq!(first, say(&["two.sqlite", "one.sqlite"]));
    let alone: Value = serde_json::from_slice(&first.0).unwrap();
    // Seeds 5 to 8 are in both.
    assert_eq!((&alone["runs"]["read"], &alone["runs"]["repeated"]), (&Value::from(32), &Value::from(8)));
    assert_eq!(alone["specifications"][0]["runs"], 24);
    // Merged into one store it is the same, but for what was read twice.
    folder.coreach(&["campaign", "merge", "all.sqlite", "two.sqlite", "one.sqlite"]);
    let merged = told(&folder, &["coreach.yaml", "all.sqlite"]);
    assert_eq!(merged["specifications"], alone["specifications"]);
    assert_eq!(merged["runs"]["repeated"], 0);
}

#[test]
fn kept_runs_are_counted_as_those_of_a_store() {
    let folder = Folder::of_machines("model");
    campaign(&folder, "nightly", "[right.yaml]", "{ first: 1, count: 12 }");
    let test = ["test", "coreach.yaml", "--iut", "right.yaml", "--constant", "cPrice=3", "--runs", "12"];
    let kept = folder.coreach(&[&test[..], &["--keep", "runs", "--quiet"]].concat());
    assert_eq!(kept.status.code(), Some(0), "{kept:?}");
    let of_files = told(&folder, &["runs", "coreach.yaml"]);
    assert_eq!(of_files["runs"]["read"], 12);
    // The configuration is in the folder above.
    assert_eq!(of_files, told(&folder, &["runs"]));
    assert_eq!(
        of_files,
        told(&folder, &["runs", "runs/deliver_coffee.3.json", "coreach.yaml"]).take_repeated()
    );
    let names = |told: &Value| -> Vec<String> {
        let all = told["specifications"][0]["transitions"].as_array().unwrap();
        all.iter().filter(|one| one["status"] == "covered").map(|one| one["name"].to_string()).collect()
    };
    assert_eq!(names(&of_files), names(&told(&folder, &["nightly.yaml"])));
}

trait TakeRepeated {
    fn take_repeated(self) -> Self;
}

impl TakeRepeated for Value {
    /// As if nothing had been named twice.
    fn take_repeated(mut self) -> Value {
        assert!(self["runs"]["repeated"].as_u64().unwrap() <= 1);
        self["runs"]["read"] = Value::from(12);
        self["runs"]["repeated"] = Value::from(0);
        self
    }
}

#[test]
fn a_model_that_has_changed_since_is_refused() {
    let folder = Folder::of_machines("model");
    campaign(&folder, "nightly", "[right.yaml]", "{ first: 1, count: 3 }");
    let before = told(&folder, &["nightly.yaml"]);
    // Words and layout do not matter; lines are those of today.
    let text = folder.read("model/specification.yaml");
    folder.write("model/specification.yaml", &format!("# A remark.\n{text}"));
    let after = told(&folder, &["nightly.yaml"]);
    let line = |told: &Value| {
        transition(&told["specifications"][0], "Idle -Cancel-> Return")["line"].as_u64().unwrap()
    };
    assert_eq!(line(&after), line(&before) + 1);
    folder.change("model/specification.yaml", "vPaid >= cPrice", "vPaid > cPrice");
    let (code, message) = refused(&folder, &["nightly.yaml"]);
    assert_eq!(code, "other-model");
    assert!(message.contains("the specification `coffee_machine` has changed"), "{message}");
    folder.write("model/specification.yaml", &text);
    folder.change("model/deliver_coffee.yaml", "pBeverage == COFFEE", "pBeverage == TEA");
    let (code, message) = refused(&folder, &["nightly.yaml"]);
    assert_eq!(code, "other-model");
    assert!(message.contains("the purpose `deliver_coffee` has changed"), "{message}");
    let other = "specification: model/specification.yaml\npurpose: model/several_drinks.yaml\n";
    folder.write("coreach.yaml", other);
    let (code, message) = refused(&folder, &["nightly.yaml"]);
    assert_eq!(code, "other-model");
    assert!(message.contains("no configuration has"), "{message}");
}

#[test]
fn a_test_case_that_does_not_say_of_what_it_was_made_is_refused() {
    let folder = Folder::of_machines("model");
    let test = ["test", "coreach.yaml", "--iut", "right.yaml", "--runs", "3", "--keep", "runs", "--quiet"];
    assert_eq!(folder.coreach(&test).status.code(), Some(0));
    let path = "runs/deliver_coffee.test_case.json";
    let mut document: Value = serde_json::from_str(&folder.read(path)).unwrap();
    assert!(document.as_object_mut().unwrap().shift_remove("made_of").is_some());
    folder.write(path, &document.to_string());
    assert_eq!(refused(&folder, &["runs"]).0, "no-test-case");
}

#[test]
fn runs_of_a_walk_are_left_out() {
    let folder = Folder::of_machines("model");
    let walk = ["test", "model/specification.yaml", "--iut", "right.yaml", "--cover", "all", "--events", "9"];
    assert_eq!(folder.coreach(&[&walk[..], &["--keep", "runs"]].concat()).status.code(), Some(0));
    let (code, message) = refused(&folder, &["runs", "coreach.yaml"]);
    assert_eq!(code, "no-run");
    assert!(message.contains("only runs of `test --cover`"), "{message}");
    let test = ["test", "coreach.yaml", "--iut", "right.yaml", "--runs", "3", "--keep", "runs", "--quiet"];
    assert_eq!(folder.coreach(&test).status.code(), Some(0));
    let told = told(&folder, &["runs"]);
    assert_eq!((&told["runs"]["walks"], &told["specifications"][0]["runs"]), (&1.into(), &3.into()));
}

#[test]
fn what_is_no_run_of_the_models_is_refused() {
    let folder = Folder::of_machines("model");
    let test = ["test", "coreach.yaml", "--iut", "right.yaml", "--runs", "1", "--keep", "runs", "--quiet"];
    assert_eq!(folder.coreach(&test).status.code(), Some(0));
    for files in
        [&["model/specification.yaml"][..], &["coreach.yaml"], &["model"], &["none.sqlite"], &["right.yaml"]]
    {
        refused(&folder, files);
    }
    folder.change(
        "runs/deliver_coffee.1.json",
        "\"direction\": \"stimulus\"",
        "\"direction\": \"observation\"",
    );
    assert_eq!(refused(&folder, &["runs"]).0, "no-run");
    folder.write("broken.sqlite", "SQLite format 3\0 and no more");
    assert_eq!(refused(&folder, &["broken.sqlite", "coreach.yaml"]).0, "no-store");
}

#[test]
fn a_damaged_store_is_refused() {
    let folder = Folder::of_machines("model");
    campaign(&folder, "nightly", "[right.yaml]", "{ first: 1, count: 3 }");
    let store = Connection::open(folder.0.join("nightly.sqlite")).unwrap();
    store.execute("UPDATE runs SET record = replace(record, 'COFFEE', 'TEA') WHERE number = 2", []).unwrap();
    drop(store);
    assert_eq!(refused(&folder, &["nightly.yaml"]).0, "no-store");
}

#[test]
fn what_is_required_decides_the_exit_code_and_nothing_is_written_over() {
    let folder = Folder::of_machines("model");
    campaign(&folder, "nightly", "[right.yaml]", "{ first: 1, count: 5 }");
    let code = |more: &[&str]| {
        folder.coreach(&[&["coverage", "nightly.yaml", "--quiet"], more].concat()).status.code()
    };
    assert_eq!(code(&["--require", "transitions=50%"]), Some(0));
    assert_eq!(code(&["--require", "0%"]), Some(0));
    assert_eq!(code(&["--require", "transitions=90%"]), Some(5));
    assert_eq!(code(&["--require", "100"]), Some(5));
    for wrong in ["101%", "x=3", "-1", "transitions=", ""] {
        assert_eq!(code(&["--require", wrong]), Some(2), "{wrong}");
    }
    for input in ["nightly.sqlite", "coreach.yaml", "model/specification.yaml", "nightly.yaml"] {
        let before = fs::read(folder.0.join(input)).unwrap();
        assert_eq!(code(&["--lcov", input]), Some(2), "{input}");
        assert_eq!(fs::read(folder.0.join(input)).unwrap(), before, "{input}");
    }
    assert_eq!(code(&["--lcov", "nowhere/out.info"]), Some(8));
}

/// A record of an LCOV file.
#[derive(Default, Debug)]
struct Record {
    lines: BTreeMap<usize, u64>,
    functions: BTreeMap<String, (usize, Option<u64>)>,
    branches: BTreeMap<(usize, usize, usize), Option<u64>>,
    sums: BTreeMap<String, usize>,
}

/// Reads LCOV as geninfo(1) describes it: every line must be understood, and the sums must be right.
fn lcov(text: &str) -> BTreeMap<(String, String), Record> {
    let mut records = BTreeMap::new();
    let (mut test, mut file) = (None, None);
    let mut record = Record::default();
    for line in text.lines() {
        if line == "end_of_record" {
            let found = std::mem::take(&mut record);
            let hit = |values: &mut dyn Iterator<Item = u64>| values.filter(|count| *count > 0).count();
            let expected = [
                ("LF", found.lines.len()),
                ("LH", hit(&mut found.lines.values().copied())),
                ("FNF", found.functions.len()),
                ("FNH", hit(&mut found.functions.values().map(|(_, count)| count.unwrap()))),
                ("BRF", found.branches.len()),
                ("BRH", hit(&mut found.branches.values().map(|count| count.unwrap_or(0)))),
            ];
            assert_eq!(
                found.sums,
                expected.map(|(key, value)| (key.to_owned(), value)).into_iter().collect()
            );
            // A branch without its line is shown nowhere.
            assert!(found.branches.keys().all(|(line, ..)| found.lines.contains_key(line)), "{found:?}");
            let known = records.insert((test.take().unwrap(), file.take().unwrap()), found);
            assert!(known.is_none());
            continue;
        }
        let (key, rest) = line.split_once(':').unwrap();
        let parts: Vec<&str> = rest.split(',').collect();
        let number = |at: usize| parts[at].parse::<usize>().unwrap();
        match (key, parts.len()) {
            ("TN", 1) => {
                assert!(rest.bytes().all(|sign| sign.is_ascii_alphanumeric() || sign == b'_'), "{rest}");
                test = Some(rest.to_owned());
            }
            ("SF", _) => file = Some(rest.to_owned()),
            ("DA", 2) => assert!(record.lines.insert(number(0), number(1) as u64).is_none()),
            ("FN", 2) => {
                assert!(record.functions.insert(parts[1].to_owned(), (number(0), None)).is_none());
            }
            ("FNDA", 2) => record.functions.get_mut(parts[1]).unwrap().1 = Some(number(0) as u64),
            ("BRDA", 4) => {
                let taken = (parts[3] != "-").then(|| number(3) as u64);
                assert!(record.branches.insert((number(0), number(1), number(2)), taken).is_none());
            }
            ("LF" | "LH" | "FNF" | "FNH" | "BRF" | "BRH", 1) => {
                assert!(record.sums.insert(key.to_owned(), number(0)).is_none());
            }
            _ => panic!("{line}"),
        }
    }
    assert!(test.is_none() && file.is_none());
    records
}

#[test]
fn the_lcov_says_what_the_document_says() {
    let folder = Folder::of_machines("model");
    campaign(&folder, "nightly", "[right.yaml, wrong.yaml]", "{ first: 1, count: 10 }");
    let output = folder.coreach(&["coverage", "nightly.yaml", "--lcov", "out.info", "--format", "json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = folder.read("out.info");
    let records = lcov(&text);
    let record =
        &records[&("coffee_machine__deliver_coffee".to_owned(), "model/specification.yaml".to_owned())];
    assert_eq!(records.len(), 2);
    let source = folder.read("model/specification.yaml");
    let lines: Vec<&str> = source.lines().collect();
    for transition in told["specifications"][0]["transitions"].as_array().unwrap() {
        let line = transition["line"].as_u64().unwrap() as usize;
        let name = transition["name"].as_str().unwrap();
        let source = name.split(' ').next().unwrap();
        assert!(lines[line - 1].contains(&format!("from: {source}")), "{name}: {}", lines[line - 1]);
        assert_eq!(record.lines[&line], transition["times"].as_u64().unwrap(), "{name}");
        for (number, conjunct) in transition["conjuncts"].as_array().unwrap().iter().enumerate() {
            for (side, key) in ["holds", "fails"].into_iter().enumerate() {
                let met = &conjunct[key];
                let branch = record.branches.get(&(line, 0, 2 * number + side));
                assert_eq!(branch.is_none(), met["status"] == "unreachable", "{name}: {conjunct}");
                if let Some(taken) = branch {
                    assert_eq!(taken.unwrap_or(0), met["times"].as_u64().unwrap());
                }
            }
        }
    }
    for location in told["specifications"][0]["locations"].as_array().unwrap() {
        let (_, times) = record.functions[location["name"].as_str().unwrap()];
        assert_eq!(times, location["times"].as_u64());
    }
}

#[test]
fn a_transition_that_shares_its_line_with_a_gap_is_not_shown_as_covered() {
    let folder = Folder::of_machines("model");
    let model = "\
iosts: s
initial: { location: A }
inputs: { I: {}, J: {} }
outputs: { O: {} }
transitions:
  [{ from: A, to: B, on: I }, { from: A, to: B, on: J },
   { from: B, to: A, on: O }]
";
    let purpose = "\
purpose: p
of: s
initial: { location: W }
transitions: [{ from: W, to: Reject, on: J }, { from: W, to: Accept, on: O }]
";
    folder.write("model/specification.yaml", model);
    folder.write("model/deliver_coffee.yaml", purpose);
    campaign_without_constants(&folder, "nightly");
    let output = folder.coreach(&["coverage", "nightly.yaml", "--lcov", "out.info", "--format", "json"]);
    let told: Value = serde_json::from_slice(&output.stdout).unwrap();
    let specification = &told["specifications"][0];
    let times = |on: &str| transition(specification, &format!("A -{on}-> B"))["times"].as_u64().unwrap();
    assert!(times("I") > 0 && times("J") == 0, "{specification:#}");
    let records = lcov(&folder.read("out.info"));
    let record = &records[&("s__p".to_owned(), "model/specification.yaml".to_owned())];
    assert_eq!(record.lines[&6], 0);
    assert!(record.lines[&7] > 0);
}
