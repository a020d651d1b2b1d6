//! `coreach cover` from the outside: every purpose that it writes is taken by the pipeline, reaches Pass with
//! the specification as the implementation, and what it is said to cover is what `coreach coverage` finds
//! covered.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// A folder of a test's own, gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("coreach-cover-{}-{number}-{name}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }

    fn coreach(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_coreach")).args(arguments).current_dir(&self.0).output().unwrap()
    }

    fn document(&self, arguments: &[&str]) -> Value {
        let output = self.coreach(arguments);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!("{arguments:?}: {error}: {}", String::from_utf8_lossy(&output.stderr))
        })
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
}

/// Covers an example, runs the suite against its specification, and compares.
fn covers(name: &str, criteria: &str, runs: &str) {
    covers_with(name, criteria, runs, &[]);
}

/// The same, and no goal may stay unknown (precision).
fn decides_all_goals(name: &str, criteria: &str, runs: &str) {
    for one in covers_with(name, criteria, runs, &[])["criteria"].as_array().unwrap() {
        assert_eq!(one["unknown"].as_u64(), Some(0), "{name}: {one}");
    }
}

fn covers_with(name: &str, criteria: &str, runs: &str, more: &[&str]) -> Value {
    let folder = Folder::new(name);
    let configuration = example(name).join("coreach.yaml");
    let path = configuration.to_str().unwrap();
    let mut arguments = vec!["cover", path, "--criterion", criteria, "--out", ".", "--format", "json"];
    arguments.extend(more);
    let told = folder.document(&arguments);
    let suite = told["suite"].as_array().unwrap();
    assert!(!suite.is_empty(), "{told:#}");

    // Constants that the configuration fixes are fixed in what stands for the implementation, too.
    let model =
        folder.coreach(&["show", "coreach.yaml", "--stage", "specification", "--format", "yaml"]).stdout;
    fs::write(folder.0.join("as_specified.yaml"), model).unwrap();
    fs::write(folder.0.join("iut.yaml"), "iut: as_specified\nsimulated: { model: as_specified.yaml }\n")
        .unwrap();
    let tested = folder.document(&[
        "test",
        "coreach.yaml",
        "--iut",
        "iut.yaml",
        "--runs",
        runs,
        "--inconclusive",
        "ok",
        "--keep",
        "runs",
        "--format",
        "json",
    ]);
    assert_eq!(tested["exit_code"], 0, "{name}");
    let mut passed: BTreeMap<&str, usize> = BTreeMap::new();
    for run in tested["runs"].as_array().unwrap() {
        *passed.entry(run["test_case"].as_str().unwrap()).or_default() +=
            usize::from(run["verdict"] == "Pass");
    }
    assert_eq!(passed.len(), suite.len(), "{name}: a test case for each purpose");
    assert!(passed.values().all(|passed| *passed > 0), "{name}: {passed:?}");

    let covered = folder.document(&["coverage", "coreach.yaml", "runs", "--format", "json"]);
    let figures = &covered["specifications"][0]["figures"];
    let of = |criterion: &str, key: &str| {
        let all = told["criteria"].as_array().unwrap();
        let found = all.iter().find(|one| one["criterion"] == criterion);
        found.map(|found| found[key].as_u64().unwrap())
    };
    for (criterion, kind) in [
        ("locations", "locations"),
        ("transitions", "transitions"),
        ("guards", "conjuncts"),
        ("boundaries", "parameters"),
    ] {
        let Some(said) = of(criterion, "covered") else { continue };
        assert!(figures[kind]["covered"].as_u64().unwrap() >= said, "{name}: {kind}: {figures:#}");
        assert_eq!(figures[kind]["all"].as_u64(), of(criterion, "goals"), "{name}: {kind}");
    }
    told
}

#[test]
fn the_coffee_machine_by_every_criterion_of_items() {
    covers(
        "coffee_machine",
        "locations,transitions,pairs,guards,boundaries,definition-use,all-paths-3",
        "10",
    );
}

#[test]
fn small_examples_by_their_guards_and_boundaries() {
    decides_all_goals("counter", "transitions,guards,boundaries", "4");
    decides_all_goals("vending_nondeterministic", "locations,transitions,guards", "10");
    decides_all_goals("bounded_retransmission", "transitions,guards", "10");
}

#[test]
fn transitions_of_dns_and_mqtt() {
    covers("dns", "transitions", "10");
    covers("mqtt", "transitions", "10");
}

#[test]
fn transitions_of_redis() {
    covers("redis", "transitions", "10");
}

#[test]
fn transitions_of_retransmission_and_webdav() {
    covers("retransmission", "transitions", "10");
    covers("webdav", "transitions", "10");
}

#[test]
fn transitions_of_smtp() {
    // One transition is behind more steps than a test has time for.
    covers_with("smtp", "transitions", "10", &["--nodes", "400"]);
}

#[test]
fn the_same_bytes_and_nothing_written_over() {
    let folder = Folder::new("bytes");
    let configuration = example("coffee_machine").join("coreach.yaml");
    let path = configuration.to_str().unwrap();
    let arguments = ["cover", path, "--criterion", "pairs,guards", "--format", "json"];
    assert_eq!(folder.coreach(&arguments).stdout, folder.coreach(&arguments).stdout);
    let before = fs::read(example("coffee_machine").join("specification.yaml")).unwrap();
    let into = example("coffee_machine");
    let output = folder.coreach(&["cover", path, "--out", into.to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(fs::read(example("coffee_machine").join("specification.yaml")).unwrap(), before);
    assert!(!into.join("cover_001.yaml").exists());
}

#[test]
fn what_stays_unknown_says_up_to_where_and_ends_with_5() {
    let folder = Folder::new("unknown");
    let configuration = example("smtp").join("coreach.yaml");
    let arguments = ["cover", configuration.to_str().unwrap(), "--nodes", "100"];
    let output = folder.coreach(&arguments);
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(5), "{text}");
    assert!(text.contains("not met within"), "{text}");
    let output = folder.coreach(&["cover", configuration.to_str().unwrap(), "--criterion", "everything"]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(2) && said.contains("all-paths-N"), "{said}");
}

/// Precision: where something follows a goal, no purpose ends without it.
#[test]
fn purposes_watch_what_follows_their_goals() {
    let folder = Folder::new("watch");
    let configuration = example("coffee_machine").join("coreach.yaml");
    let ends = |observe: &str| {
        let path = configuration.to_str().unwrap();
        let told = folder.document(&[
            "cover",
            path,
            "--criterion",
            "pairs",
            "--observe",
            observe,
            "--format",
            "json",
        ]);
        let suite = told["suite"].as_array().unwrap().clone();
        suite.iter().filter(|member| member["observes"] == "nothing").count()
    };
    assert_eq!(["none", "outputs", "distinguish"].map(ends), [4, 0, 0]);
}

/// The suite is judged in the same way as the configuration says.
#[test]
fn a_suite_keeps_the_settings_of_its_configuration() {
    let folder = Folder::new("settings");
    let file = |name: &str| example("coffee_machine").join(name).display().to_string();
    let lines = ["conformance: ioco", "judge: online"].join("\n");
    let (model, purpose) = (file("specification.yaml"), file("deliver_coffee.yaml"));
    let text = format!("specification: {model}\npurpose: {purpose}\n{lines}\n");
    fs::write(folder.0.join("c.yaml"), text).unwrap();
    let [path, suite] = ["c.yaml", "suite"].map(|name| folder.0.join(name));
    let told = folder.coreach(&["cover", path.to_str().unwrap(), "--out", suite.to_str().unwrap()]);
    let written = fs::read_to_string(suite.join("coreach.yaml"));
    let written = written.unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&told.stderr)));
    assert!(written.contains(&lines), "{written}");
}

#[test]
fn continued_paths_make_a_smaller_suite() {
    let folder = Folder::new("short");
    let configuration = example("mqtt").join("coreach.yaml");
    let path = configuration.to_str().unwrap();
    let told = folder.document(&["cover", path, "--criterion", "pairs", "--format", "json"]);
    let short = told["suite"].as_array().unwrap().len();
    // A broker may deny what it is asked, so a long way is gone seldom.
    let long = covers_with("mqtt", "pairs", "40", &["--events", "12"]);
    let long = long["suite"].as_array().unwrap().len();
    assert!(long * 2 < short, "{long} of {short}");
}

/// Soundness: two transitions differ by a later value only, so a purpose must ask for that value. A system
/// that never takes the one passes no purpose for it.
#[test]
fn a_purpose_asks_for_the_value_that_shows_its_goal() {
    let folder = Folder::new("later_value");
    let model = |more: &str| {
        format!(
            "iosts: m\nvariables: {{ v: 'int[0..3]' }}\ninitial: {{ location: L0, condition: v == 0 }}\n\
             inputs: {{ a: {{}} }}\noutputs: {{ y: {{ q: 'int[0..3]' }}, z: {{}} }}\ntransitions:\n\
             \x20 - {{ from: L0, to: L1, on: a }}\n\
             \x20 - {{ from: L1, to: L2, on: z, assign: {{ v: '1' }} }}\n{more}\
             \x20 - {{ from: L2, to: L0, on: y, when: q == v }}\n"
        )
    };
    fs::write(folder.0.join("m.yaml"), model("  - { from: L1, to: L2, on: z }\n")).unwrap();
    fs::write(folder.0.join("other.yaml"), model("")).unwrap();
    fs::write(folder.0.join("other_iut.yaml"), "iut: other\nsimulated: { model: other.yaml }\n").unwrap();
    fs::write(folder.0.join("own_iut.yaml"), "iut: own\nsimulated: { model: m.yaml }\n").unwrap();
    let told = folder.document(&["cover", "m.yaml", "--out", "suite", "--format", "json"]);
    assert_eq!(told["exit_code"], 0, "{told:#}");
    let goals = told["goals"].as_array().unwrap();
    let missing = goals.iter().find(|goal| goal["goal"] == "L1 -z-> L2 (line 9)").unwrap();
    let by: Vec<&str> = missing["by"].as_array().unwrap().iter().map(|one| one.as_str().unwrap()).collect();
    assert!(!by.is_empty(), "{missing:#}");
    for (iut, passes) in [("other_iut.yaml", false), ("own_iut.yaml", true)] {
        let words = ["test", "suite/coreach.yaml", "--iut", iut, "--runs", "12", "--inconclusive", "ok"];
        let tested = folder.document(&[&words[..], &["--format", "json"]].concat());
        let runs = tested["runs"].as_array().unwrap();
        let of_goal = runs
            .iter()
            .filter(|run| by.iter().any(|name| run["test_case"].as_str().unwrap().ends_with(name)));
        let verdicts: Vec<&Value> = of_goal.map(|run| &run["verdict"]).collect();
        assert!(verdicts.len() >= 12, "{iut}: {tested:#}");
        assert_eq!(verdicts.iter().any(|verdict| *verdict == "Pass"), passes, "{iut}: {tested:#}");
    }
}

/// A transition that the domain does not exclude, and the tree does; one that the facts exclude; one that is
/// met.
#[test]
fn what_no_run_can_meet_has_its_reason() {
    let folder = Folder::new("reason");
    let text = "
iosts: machine
variables: { x: int, y: int }
initial: { location: A, condition: x == 0 && y == 0 }
inputs: { one: {}, two: {} }
transitions:
  - { from: A, on: one, when: x < 3, to: A, assign: { x: x + 1, y: 1 - y } }
  - { from: A, on: two, when: x > 5, to: B }
  - { from: A, on: two, when: x == 2 && y == 1, to: C }
";
    fs::write(folder.0.join("machine.yaml"), text).unwrap();
    let told = folder.document(&["cover", "machine.yaml", "--format", "json"]);
    let goals = told["goals"].as_array().unwrap();
    let status: Vec<&str> = goals.iter().map(|goal| goal["status"].as_str().unwrap()).collect();
    assert_eq!(status, ["covered", "unreachable", "unreachable"], "{told:#}");
    let why = |at: usize| goals[at]["why"].as_str().unwrap();
    assert!(
        why(1).starts_with("reach[A]: ") && why(2).starts_with("no path of the finished tree"),
        "{told:#}"
    );
    assert_eq!(told["exit_code"], 0);
}

/// An alternative is two conditions, and each decides both ways: MC/DC.
#[test]
fn each_condition_of_an_alternative_is_a_goal() {
    let folder = Folder::new("alternatives");
    let gate = "
iosts: gate
variables: { n: int }
initial: { location: L, condition: n == 0 }
inputs: { Go: { p: 'int[0..3]', q: 'int[0..3]' } }
outputs: { Open: {}, Shut: {} }
transitions:
  - { from: L, to: A, on: Go, when: p > 1 || q > 1 && n == 0 }
  - { from: L, to: B, on: Go, when: 'p <= 1 && !(q > 1 && n == 0)' }
  - { from: A, to: L, on: Open, assign: { n: 1 - n } }
  - { from: B, to: L, on: Shut }
";
    fs::write(folder.0.join("gate.yaml"), gate).unwrap();
    fs::write(folder.0.join("iut.yaml"), "iut: gate\nsimulated: { model: gate.yaml }\n").unwrap();
    let told = folder.document(&[
        "cover",
        "gate.yaml",
        "--criterion",
        "guards",
        "--out",
        "suite",
        "--format",
        "json",
    ]);
    let goals: Vec<(&str, &str)> = told["goals"]
        .as_array()
        .unwrap()
        .iter()
        .map(|goal| (goal["goal"].as_str().unwrap(), goal["status"].as_str().unwrap()))
        .collect();
    assert_eq!(goals.len(), 12, "{goals:#?}");
    assert!(goals.iter().all(|(_, status)| *status == "covered"), "{goals:#?}");
    let is_there = |text: &str| goals.iter().any(|(goal, _)| goal.ends_with(text));
    for text in ["`p > 1` holds", "`q > 1` alone fails", "`n == 0` holds", "`n != 0` holds"] {
        assert!(is_there(text), "{text}: {goals:#?}");
    }
    // What the suite promises is what its runs have shown.
    let test = [
        "test",
        "suite/coreach.yaml",
        "--iut",
        "iut.yaml",
        "--keep",
        "kept",
        "--quiet",
        "--strategy",
        "plan",
    ];
    assert_eq!(folder.coreach(&test).status.code(), Some(0));
    let shown = folder.document(&["coverage", "suite/coreach.yaml", "kept", "--format", "json"]);
    let figures = &shown["specifications"][0]["figures"]["conjuncts"];
    assert_eq!(figures["covered"], 12, "{shown:#}");
}
