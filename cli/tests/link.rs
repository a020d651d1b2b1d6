//! A system that speaks by itself, from the outside: what crosses is no Fail unless the IUT file says that
//! nothing does, and a run is told, kept, explained and repeated with it.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::path::Path;

use crate::common::Folder;

const MODEL: &str = "
iosts: ticker
initial: { location: Idle }
inputs: { Go: {} }
outputs: { Tick: {}, Done: {} }
transitions:
  - { from: Idle, to: Idle, on: Tick }
  - { from: Idle, to: Busy, on: Go }
  - { from: Busy, to: Idle, on: Done }
";

const PURPOSE: &str = "
purpose: twice
of: ticker
initial: { location: None }
transitions:
  - { from: None, to: Once, on: Done }
  - { from: Once, to: Accept, on: Done }
";

fn folder() -> Folder {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../execution/tests/servers/ticker.py");
    let stdio =
        format!("iut: ticker\nstdio: {{ command: [python3, {:?}] }}\n", program.display().to_string());
    // Longer than any pause of a machine that does much else.
    let linked = format!("{stdio}link: {{ ordered: true, delay: 5 s }}\n");
    Folder::with(&[
        ("model.yaml", MODEL),
        ("purpose.yaml", PURPOSE),
        ("coreach.yaml", "specification: model.yaml\npurpose: purpose.yaml\n"),
        ("silent.yaml", &stdio),
        ("synchronous.yaml", &format!("{stdio}link: synchronous\n")),
        (
            "within.yaml",
            &format!("{stdio}within: {{ all: 20 s, after: {{ Go: 30 s }}, locations: {{ Busy: 9 s }} }}\n"),
        ),
        ("linked.yaml", &linked),
        (
            "campaign.yaml",
            "campaign: ticks\ntests: [ { configuration: coreach.yaml } ]\niuts: [linked.yaml]\nseeds: { first: 1, count: 3 }\n",
        ),
    ])
}

#[test]
fn what_crosses_is_no_fail_where_the_link_is_described() {
    let folder = folder();
    let test = ["test", "coreach.yaml", "--runs", "3", "--quiescence", "20000", "--iut"];
    // A correct system, blamed for the tick that it had sent before: the file says that this cannot be.
    let (told, _) = folder.ends(&[&test[..], &["synchronous.yaml"]].concat(), 1);
    let told = told.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(told.contains("remove `link: synchronous` from the IUT file"), "{told}");
    folder.ends(&[&test[..], &["linked.yaml", "--keep", "kept"]].concat(), 0);
    let mut crossed = 0;
    for seed in 1..=3 {
        let path = format!("kept/twice.{seed}.json");
        let run = folder.json(&path);
        assert_eq!((run["verdict"].as_str(), run["link_ms"].as_f64()), (Some("Pass"), Some(5000.0)));
        crossed += run["crossed"].as_u64().unwrap_or(0);
        let (told, _) = folder.ends(&["explain", &path, "--test", "kept/twice.test_case.json"], 0);
        assert!(told.contains("Pass") && told.contains("crossed: ") == run["crossed"].is_u64(), "{told}");
        // A record that says otherwise is of another run.
        let mut other = run.clone();
        other["crossed"] = 77.into();
        folder.write("other.json", &other.to_string());
        folder.ends(&["explain", "other.json", "--test", "kept/twice.test_case.json"], 2);
        let mut alone = run;
        if alone.as_object_mut().unwrap().remove("link_ms").is_some() && alone["crossed"].is_u64() {
            folder.write("other.json", &alone.to_string());
            folder.ends(&["explain", "other.json", "--test", "kept/twice.test_case.json"], 2);
        }
    }
    assert!(crossed >= 3, "{crossed}");
    let again =
        ["replay", "kept/twice.1.json", "--test", "kept/twice.test_case.json", "--quiescence", "20000"];
    folder.ends(&[&again[..], &["--iut", "linked.yaml"]].concat(), 0);
}

/// Soundness: where nothing is said of the link, the delay is the longest time for silence.
#[test]
fn what_crosses_is_no_fail_where_nothing_is_said_of_the_link() {
    let folder = folder();
    for (iut, more, delay) in [
        ("silent.yaml", &["--quiescence", "20000"][..], 20_000.0),
        ("silent.yaml", &["--quiescence", "20000", "--quiescence", "Idle__None=25000"], 25_000.0),
        ("within.yaml", &[], 30_000.0),
        ("within.yaml", &["--quiescence", "20000"], 20_000.0),
    ] {
        let test = ["test", "coreach.yaml", "--iut", iut, "--format", "json"];
        let (told, _) = folder.ends(&[&test[..], more].concat(), 0);
        let document: serde_json::Value = serde_json::from_str(&told).unwrap();
        let run = &document["runs"][0];
        assert_eq!((run["verdict"].as_str(), run["link_ms"].as_f64()), (Some("Pass"), Some(delay)), "{told}");
    }
}

#[test]
fn a_campaign_looks_at_the_link() {
    let folder = folder();
    folder.ends(&["campaign", "campaign.yaml"], 0);
}
