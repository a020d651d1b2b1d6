//! Timed runs with the commands: the examples on simulated time, and what is told of a Fail.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::Folder;

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

fn text(path: &str) -> String {
    fs::read_to_string(examples().join(path)).unwrap()
}

/// The session with a model that stands for the server, in which this is replaced.
fn session(change: (&str, &str)) -> Folder {
    let specification = text("session/specification.yaml");
    let model = specification.replace(change.0, change.1);
    assert!(change.0 == change.1 || model != specification, "nothing is changed by {change:?}");
    Folder::with(&[
        ("coreach.yaml", &text("session/coreach.yaml")),
        ("specification.yaml", &specification),
        ("retried.yaml", &text("session/retried.yaml")),
        ("beats.yaml", &text("session/beats.yaml")),
        ("given_up.yaml", &text("session/given_up.yaml")),
        ("properties.yaml", &text("session/properties.yaml")),
        ("steady.yaml", &text("session/steady.yaml")),
        ("model.yaml", &model),
        ("iut.yaml", "iut: model\nsimulated: { model: model.yaml }\n"),
        (
            "campaign.yaml",
            "campaign: all\ntests: [{ configuration: coreach.yaml }]\niuts: [iut.yaml]\nseeds: { first: 1, count: 8 }\n",
        ),
    ])
}

fn told(folder: &Folder, arguments: &[&str], codes: &[i32]) -> String {
    let output = folder.coreach(arguments);
    let told = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(codes.contains(&output.status.code().unwrap()), "{arguments:?}: {told}{said}");
    told
}

#[test]
fn a_campaign_on_simulated_time_fails_nobody_and_its_coverage_is_told() {
    let folder = session(("", ""));
    let summary = told(&folder, &["campaign", "campaign.yaml", "--store", "runs.sqlite", "--quiet"], &[0, 3]);
    assert!(summary.contains("24 runs") && !summary.contains("Fail"), "{summary}");
    let covered = told(&folder, &["coverage", "coreach.yaml", "runs.sqlite"], &[0]);
    assert!(covered.contains("24 runs") && covered.contains("by retried"), "{covered}");
}

#[test]
fn mutants_of_a_timed_specification_are_refused() {
    let folder = session(("", ""));
    let output = folder.coreach(&["mutate", "coreach.yaml", "--mutants", "2"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("does not support specifications with clocks"), "{said}");
}

/// Soundness: what is proved fails nobody who conforms. Precision: who breaks it is told so.
#[test]
fn a_property_with_a_clock_is_proved_and_tested() {
    let beat = "to: Ready, on: Beat, when: 0.2 <= beat && beat <= 0.23";
    let folder = session((beat, beat));
    assert!(told(&folder, &["verify", "properties.yaml"], &[0]).contains("steady: proved by facts"));
    let runs = ["test", "properties.yaml", "--iut", "iut.yaml", "--runs", "20", "--quiet"];
    assert!(told(&folder, &runs, &[3]).contains("Inconclusive 20, Fail 0"));
    let folder = session((beat, "to: Ready, on: Beat, when: 0.2 <= beat && beat <= 0.4"));
    assert!(told(&folder, &runs, &[1]).contains("steady against model"));
    let runs = ["test", "properties.yaml", "--iut", "iut.yaml", "--runs", "20"];
    let failed = told(&folder, &runs, &[1]);
    assert!(failed.contains("ViolateFail"), "{failed}");
    // The model itself allows what is violated, if it may be so late.
    fs::copy(folder.0.join("model.yaml"), folder.0.join("specification.yaml")).unwrap();
    assert!(told(&folder, &["verify", "properties.yaml"], &[1]).contains("steady: VIOLATED by"));
    let failed = told(&folder, &runs, &[1]);
    assert!(failed.contains("the specification allows it") && !failed.contains("ViolateFail"), "{failed}");
}

/// What nobody sees of a model, a property does not observe.
#[test]
fn a_property_observes_no_clock_of_the_specification() {
    let folder = session(("", ""));
    let steady = text("session/steady.yaml").replace("clocks: [since]", "clocks: [since]\nobserves: [beat]");
    fs::write(folder.0.join("steady.yaml"), steady).unwrap();
    let output = folder.coreach(&["check", "steady.yaml"]);
    let said =
        String::from_utf8_lossy(&output.stderr).into_owned() + &String::from_utf8_lossy(&output.stdout);
    assert!(output.status.code() == Some(2) && said.contains("property-observes-variable"), "{said}");
}

#[test]
fn a_timer_that_ends_too_early_is_found_told_replayed_and_shrunk() {
    let folder = session((
        "0.15 <= call && call <= 0.18 && beat <= 0.23 && vTries < 3",
        "0.05 <= call && call <= 0.08 && beat <= 0.23 && vTries < 3",
    ));
    let arguments = [
        "test",
        "coreach.yaml",
        "--purpose",
        "given_up",
        "--iut",
        "iut.yaml",
        "--runs",
        "6",
        "--keep",
        "kept",
        "--quiet",
    ];
    let summary = told(&folder, &arguments, &[1]);
    assert!(summary.contains("Forward against"), "{summary}");
    let failed = (1..=6).find(|seed| {
        let kept =
            fs::read_to_string(folder.0.join(format!("kept/given_up.{seed}.json"))).unwrap_or_default();
        kept.contains("\"event\"") && kept.contains("does not allow Forward")
    });
    let run = format!("kept/given_up.{}.json", failed.unwrap());
    let explained = told(&folder, &["explain", &run], &[0]);
    assert!(
        explained.contains(" after 0.0") && explained.contains(" s in <Waiting,Begin> (Fail: at "),
        "{explained}"
    );
    let again = told(&folder, &["replay", &run, "--iut", "iut.yaml", "--shrink", "--attempts", "60"], &[1]);
    assert!(again.contains("the same in 5 repetitions"), "{again}");
}

/// What `test --keep` has kept is judged off line as it is, with the same word on the system.
#[test]
fn runs_that_were_kept_are_judged_off_line() {
    let early = (
        "0.15 <= call && call <= 0.18 && beat <= 0.23 && vTries < 3",
        "0.05 <= call && call <= 0.08 && beat <= 0.23 && vTries < 3",
    );
    let mut fails = 0;
    for change in [("", ""), early] {
        let folder = session(change);
        let arguments = "test coreach.yaml --purpose given_up --iut iut.yaml --runs 6 --keep kept --quiet";
        let arguments: Vec<&str> = arguments.split(' ').collect();
        told(&folder, &arguments, &[0, 1, 3]);
        let mut runs = 0;
        for path in fs::read_dir(folder.0.join("kept")).unwrap().map(|entry| entry.unwrap().path()) {
            let text = fs::read_to_string(&path).unwrap();
            let document: serde_json::Value = serde_json::from_str(&text).unwrap();
            if document["trace"].is_null() {
                continue;
            }
            runs += 1;
            let path = path.to_str().unwrap();
            let arguments =
                ["timed", "verdict", "specification.yaml", "--path", "open,opened", "--trace", path];
            let said = told(&folder, &arguments, &[0, 1, 3]);
            let has_failed = document["verdict"] == "Fail";
            assert_eq!(said.starts_with("Fail"), has_failed, "{said}\n{text}");
            fails += usize::from(has_failed);
        }
        assert!(runs >= 6, "{runs}");
    }
    assert!(fails > 0);
    // A run of another model is none of this one.
    let folder = session(("", ""));
    let other = fs::read_to_string(folder.0.join("specification.yaml")).unwrap().replace("Opened", "Begun");
    fs::write(folder.0.join("other.yaml"), other).unwrap();
    let arguments = ["test", "coreach.yaml", "--purpose", "given_up", "--iut", "iut.yaml", "--keep", "kept"];
    told(&folder, &arguments, &[0, 3]);
    let kept = fs::read_dir(folder.0.join("kept")).unwrap().map(|entry| entry.unwrap().path());
    let mut runs = kept.filter(|path| fs::read_to_string(path).unwrap().contains("\"trace\""));
    let run = runs.next().unwrap();
    let run = run.to_str().unwrap();
    let output = folder.coreach(&["timed", "verdict", "other.yaml", "--path", "open,opened", "--trace", run]);
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("no-timed-run"));
}

#[test]
fn the_light_goes_off_in_time_and_one_whose_timer_is_not_set_back_too_early() {
    let specification = text("light_switch/specification.yaml");
    let line = "to: Bright, on: Light, when: x <= 0.04 && pLevel == BRIGHT, reset: [x] }";
    assert!(specification.contains(line));
    let faulty = specification.replace("cLong <= x && x <= cLong + 0.04", "0.5 <= x && x <= 0.6");
    let folder = Folder::with(&[
        ("coreach.yaml", &text("light_switch/coreach.yaml")),
        ("specification.yaml", &specification),
        ("bright_timeout.yaml", &text("light_switch/bright_timeout.yaml")),
        ("faulty.yaml", &faulty),
        ("iut.yaml", "iut: light\nsimulated: { model: specification.yaml }\n"),
        ("iut_faulty.yaml", "iut: faulty\nsimulated: { model: faulty.yaml }\n"),
    ]);
    let run = |iut: &str| folder.coreach(&["test", "coreach.yaml", "--iut", iut, "--runs", "12", "--quiet"]);
    assert!([0, 3].contains(&run("iut.yaml").status.code().unwrap()));
    assert_eq!(run("iut_faulty.yaml").status.code(), Some(1));
}

#[test]
fn a_clock_that_runs_on_is_suspected_where_the_purpose_is_out_of_reach() {
    let folder = Folder::with(&[
        (
            "specification.yaml",
            "iosts: kettle\nclocks: [w]\ninitial: { location: Off }\ninputs: { On: {} }\noutputs: { Started: {}, Warm: {} }\n\
             transitions:\n  - { from: Off, to: Starting, on: On, reset: [w] }\n  \
             - { from: Starting, to: Heating, on: Started, when: w <= 4 }\n  \
             - { from: Heating, to: Off, on: Warm, when: w <= 0.5 }\n",
        ),
        (
            "purpose.yaml",
            "purpose: warm\nof: kettle\ninitial: { location: Cold }\ntransitions: [{ from: Cold, to: Accept, on: Warm }]\n",
        ),
        (
            "coreach.yaml",
            "specification: specification.yaml\npurpose: purpose.yaml\ntimed: { silence_after: 9 }\n",
        ),
        ("iut.yaml", "iut: kettle\nsimulated: { model: specification.yaml }\n"),
    ]);
    let text = told(&folder, &["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "9"], &[3]);
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let hint = "hint: specification.yaml:8: `Started` does not set the clock `w` back, and what comes after it reads the clock. If \
                it counts from `Started` on, write `reset: [w]` there";
    assert!(text.contains(hint), "{text}");
    let mended = folder.read("specification.yaml").replace("when: w <= 4", "when: w <= 4, reset: [w]");
    folder.write("specification.yaml", &mended);
    let text = told(&folder, &["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "9"], &[0]);
    assert!(!text.contains("does not set the clock"), "{text}");
}
