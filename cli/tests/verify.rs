//! `coreach verify`, and the test cases of properties: against systems that keep and that break the
//! specification and the property.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::Value;

/// A folder of a test's own, gone at its end.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("coreach-verify-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, file: &str, text: &str) {
        fs::write(self.0.join(file), text).unwrap();
    }

    fn run(&self, arguments: &[&str]) -> Output {
        Command::new(env!("CARGO_BIN_EXE_coreach")).args(arguments).current_dir(&self.0).output().unwrap()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
        panic!(
            "{error}: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        )
    })
}

/// A till: it gives out at most what was put in, and says when it is empty.
const TILL: &str = "
iosts: till
variables: { vIn: int }
initial: { location: Open, condition: vIn == 0 }
inputs: { Put: { p: 'int[1..5]' }, Take: {} }
outputs: { Give: { p: int }, Empty: {} }
internals: [count]
transitions:
  - { from: Open, to: Open, on: Put, assign: { vIn: vIn + p } }
  - { from: Open, to: Busy, on: Take }
  - { from: Busy, to: Counted, on: count }
  - { from: Counted, to: Open, on: Give, when: vIn > 0 && p > 0 && p <= vIn, assign: { vIn: vIn - p } }
  - { from: Counted, to: Open, on: Empty, when: vIn == 0 }
";

/// It holds: the sum is never negative.
const BALANCE: &str = "
property: balance
of: till
variables: { sum: int }
initial: { location: Watch, condition: sum == 0 }
transitions:
  - { from: Watch, to: Watch, on: Put, assign: { sum: sum + p } }
  - { from: Watch, to: Watch, on: Give, assign: { sum: sum - p } }
  - { from: Watch, to: Violate, on: Give, when: p > sum }
";

/// It does not: eight can be given at once, after two.
const SMALL: &str = "
property: small
of: till
initial: { location: Watch }
transitions: [{ from: Watch, to: Violate, on: Give, when: p > 7 }]
";

/// It holds, since the square root of two is no fraction; no domain and no search knows that.
const HARD: &str = "
property: hard
of: till
variables: { n: int, m: int }
initial: { location: Watch, condition: n == 0 && m == 0 }
transitions:
  - { from: Watch, to: Watch, on: Put, assign: { n: n + 1 } }
  - { from: Watch, to: Watch, on: Take, assign: { m: m + 1 } }
  - { from: Watch, to: Violate, on: Give, when: n * n == 2 * m * m }
";

fn folder() -> Folder {
    let folder = Folder::new();
    for (name, text) in [("till", TILL), ("balance", BALANCE), ("small", SMALL), ("hard", HARD)] {
        folder.write(&format!("{name}.yaml"), text);
    }
    folder
}

#[test]
fn a_property_is_proved_or_violated_by_a_shortest_run() {
    let folder = folder();
    folder.write("c.yaml", "specification: till.yaml\nproperties: [balance.yaml, small.yaml]\n");
    let output = folder.run(&["verify", "c.yaml", "--format", "json"]);
    assert_eq!(output.status.code(), Some(1));
    let said = json(&output);
    let [balance, small] = [&said["properties"][0], &said["properties"][1]];
    assert_eq!((&balance["result"], &balance["proved_by"]), (&"proved".into(), &"facts".into()), "{said:#}");
    let places: Vec<&str> =
        balance["facts"].as_array().unwrap().iter().map(|fact| fact["at"].as_str().unwrap()).collect();
    assert_eq!(places, ["<Counted,Watch>"]);
    assert_eq!(small["result"], "violated");
    let steps = small["violation"]["steps"].as_array().unwrap();
    let actions: Vec<&str> = steps.iter().map(|step| step["action"].as_str().unwrap()).collect();
    assert_eq!(actions, ["Put", "Put", "Take", "count", "Give"], "{small:#}");
    assert_eq!(steps[3].get("values"), None);
    // One alone is what the exit code is about.
    folder.write("proved.yaml", "specification: till.yaml\nproperty: balance.yaml\n");
    assert_eq!(folder.run(&["verify", "proved.yaml", "--quiet"]).status.code(), Some(0));
}

#[test]
fn what_is_neither_is_unknown_and_says_how_far_it_was_looked() {
    let folder = folder();
    folder.write("c.yaml", "specification: till.yaml\nproperty: hard.yaml\n");
    let output = folder.run(&["verify", "c.yaml", "--nodes", "40", "--format", "json"]);
    let said = json(&output);
    assert_eq!(said["properties"][0]["result"], "unknown", "{said:#}");
    assert_eq!(output.status.code(), Some(3));
    assert!(said["properties"][0]["nodes"].as_u64().unwrap() > 0);
}

/// Soundness: a clock of a property runs while events come that the property does not mention.
#[test]
fn a_clock_runs_on_between_the_events_that_a_timed_property_mentions() {
    let folder = Folder::new();
    folder.write(
        "chain.yaml",
        "iosts: chain
clocks: [c]
initial: { location: A }
outputs: { First: {}, Other: {}, Last: {} }
transitions:
  - { from: A, to: B, on: First, reset: [c] }
  - { from: B, to: C, on: Other, when: c <= 3, reset: [c] }
  - { from: C, to: D, on: Last, when: c <= 3 }
",
    );
    folder.write("c.yaml", "specification: chain.yaml\nproperty: soon.yaml\ntimed: { silence_after: 5 }\n");
    for (late, result, code) in [("2", "violated", 1), ("4", "violated", 1), ("6", "proved", 0)] {
        let property = format!(
            "property: soon
of: chain
clocks: [mine]
initial: {{ location: Z }}
transitions:
  - {{ from: Z, to: O, on: First, reset: [mine] }}
  - {{ from: O, to: Violate, on: Last, when: mine > {late} }}
"
        );
        folder.write("soon.yaml", &property);
        let output = folder.run(&["verify", "c.yaml", "--format", "json"]);
        assert_eq!(output.status.code(), Some(code), "{late}: {output:?}");
        assert_eq!(json(&output)["properties"][0]["result"], result, "{late}");
    }
}

#[test]
fn a_configuration_without_a_property_is_a_mistake() {
    let folder = folder();
    folder.write(
        "p.yaml",
        "purpose: p\nof: till\ninitial: { location: B }\ntransitions: [{ from: B, to: Accept, on: Empty }]\n",
    );
    folder.write("c.yaml", "specification: till.yaml\npurpose: p.yaml\n");
    let output = folder.run(&["verify", "c.yaml"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("c.yaml names no property"));
}

/// The same test case against the specification, an implementation that leaves it and violates the property,
/// and one that leaves it only; then judged on line.
#[test]
fn the_place_of_a_fail_tells_what_is_violated() {
    for judge in ["test_case", "online"] {
        tells_what_is_violated(judge);
    }
}

fn tells_what_is_violated(judge: &str) {
    let folder = folder();
    let configured =
        |property: &str| format!("specification: till.yaml\nproperty: {property}.yaml\njudge: {judge}\n");
    folder.write("proved.yaml", &configured("balance"));
    folder.write("violated.yaml", &configured("small"));
    folder.write("greedy.yaml", &TILL.replace("p <= vIn", "p <= vIn + 4"));
    folder.write("mute.yaml", &TILL.replace("on: Empty, when: vIn == 0", "on: Empty, when: vIn == 1"));
    for model in ["till", "greedy", "mute"] {
        folder.write(
            &format!("{model}_iut.yaml"),
            &format!("iut: {model}\nsimulated: {{ model: {model}.yaml }}\n"),
        );
    }
    let places = |configuration: &str, iut: &str| {
        let iut = format!("{iut}_iut.yaml");
        let output = folder.run(&[
            "test",
            configuration,
            "--iut",
            &iut,
            "--runs",
            "30",
            "--events",
            "40",
            "--quiescence",
            "20",
            "--format",
            "json",
        ]);
        let said = json(&output);
        let runs = said["runs"].as_array().unwrap_or_else(|| panic!("{said:#}")).clone();
        let mut found: Vec<String> = runs
            .iter()
            .filter(|run| run["verdict"] == "Fail")
            .map(|run| run["reason"]["summary"].as_str().unwrap_or_default().to_owned())
            .collect();
        found.sort();
        found.dedup();
        (output.status.code(), found)
    };
    let (code, found) = places("proved.yaml", "till");
    assert_eq!((code, found), (Some(3), Vec::new()), "what conforms does not fail");
    let (code, found) = places("proved.yaml", "greedy");
    assert_eq!(code, Some(1));
    assert!(
        found
            .iter()
            .any(|text| text.contains("violates the property, and the specification does not allow it")),
        "{found:#?}"
    );
    let (code, found) = places("proved.yaml", "mute");
    assert_eq!(code, Some(1));
    assert!(
        found.iter().all(|text| text.contains("got Empty: the specification does not allow Empty")),
        "{found:#?}"
    );
    let (code, found) = places("violated.yaml", "till");
    assert_eq!(code, Some(1));
    assert!(
        found.iter().all(|text| text.contains("violates the property, and the specification allows it")),
        "{found:#?}"
    );
    // A mutant is not blamed for what the specification allows, nor is one that is none.
    let output = folder.run(&[
        "mutate",
        "violated.yaml",
        "--mutants",
        "10",
        "--runs",
        "10",
        "--threads",
        "1",
        "--format",
        "json",
    ]);
    let said = json(&output);
    let fates: Vec<&Value> =
        said["mutants"].as_array().unwrap().iter().map(|mutant| &mutant["fate"]).collect();
    let equivalent = [0, 2].map(|place| fates[place] == "equivalent");
    assert_eq!(equivalent, [true, true], "{judge}: {fates:?}");
    assert!(fates.iter().any(|fate| *fate == "killed"), "{judge}: {fates:?}");
}

/// The files of a property are known wherever files are.
#[test]
fn a_property_is_checked_and_shown_as_others_are() {
    let folder = folder();
    let output = folder.run(&["check", "balance.yaml", "till.yaml"]);
    assert_eq!(output.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&output.stdout).contains("property `balance` of `till`"));
    let output = folder.run(&["show", "balance.yaml", "--format", "yaml"]);
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("\nproperty: balance\n"), "{text}");
    folder.write(
        "c.yaml",
        "specification: till.yaml\nproperty: balance.yaml\noutput: { formats: [dot, json, yaml] }\n",
    );
    let output = folder.run(&["run", "c.yaml", "--check", "--quiet"]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let document = fs::read_to_string(folder.0.join("out/balance/test_case.json")).unwrap();
    assert!(
        document.contains("\"violates\": \"forbidden\"") && !document.contains("\"violates\": \"allowed\"")
    );
    assert!(Path::new(&folder.0).join("out/balance/complete_purpose.yaml").is_file());
}
