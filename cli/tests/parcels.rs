//! A system of three components, from its parts to a fault that is found.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;

use crate::common::{Folder, json, run};

fn example(name: &str) -> String {
    format!("{}/../examples/parcels/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// Soundness: the right system passes, the one that promises what it does not have fails.
#[test]
fn the_parts_together_are_tested() {
    for (iut, verdict) in [("iut.yaml", "Pass"), ("iut_faulty.yaml", "Fail")] {
        let (iut, configuration) = (example(iut), example("coreach.yaml"));
        let arguments =
            ["test", &configuration, "--iut", &iut, "--runs", "3", "--strategy", "plan", "--format", "json"];
        let told = json(&run(arguments));
        let runs = told["runs"].as_array().unwrap();
        assert!(!runs.is_empty() && runs.iter().all(|run| run["verdict"] == verdict), "{told:#}");
    }
}

/// A purpose cannot read or accept on a message that the composition hides.
#[test]
fn a_hidden_message_that_a_purpose_waits_for_is_told_with_its_place() {
    let specification = fs::read_to_string(example("specification.yaml")).unwrap();
    let [shop, warehouse, carrier] = ["shop.yaml", "warehouse.yaml", "carrier.yaml"].map(example);
    let hiding = specification
        .replace("Shipped]", "Shipped, Confirm]")
        .replace("shop.yaml", &shop)
        .replace("warehouse.yaml", &warehouse)
        .replace("carrier.yaml", &carrier);
    let reading = fs::read_to_string(example("sold_out.yaml")).unwrap();
    let accepting =
        reading.replace(", when: parcel == served + 1", "").replace("served: parcel", "served: 1");
    for (purpose, words) in [
        (
            reading,
            "Confirm is hidden by `hide` (specification.yaml:8), so it has no parameters: take it out there",
        ),
        (accepting, "it is hidden by `hide` (specification.yaml:8): take it out of that list"),
    ] {
        let folder = Folder::with(&[("specification.yaml", &hiding), ("purpose.yaml", &purpose)]);
        let (_, err) = folder.ends(&["check", "purpose.yaml", "specification.yaml"], 2);
        assert!(err.replace("\n        ", " ").contains(words), "{err}");
    }
}

/// The parts of a composition are read, so no output may be one; a suite for a composition is a folder that
/// works.
#[test]
fn parts_are_not_written_over_and_a_suite_has_what_it_needs() {
    let folder = std::env::temp_dir().join(format!("coreach-parcels-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    let part = |name: &str, on: &str, to: &str, file: &str| {
        let text = format!(
            "iosts: {name}\ninitial: {{ location: A }}\ninputs: {{ {on}: {{}} }}\noutputs: {{ {to}: {{}} }}\n\
             transitions:\n  - {{ from: A, to: B, on: {on} }}\n  - {{ from: B, to: A, on: {to} }}\n"
        );
        fs::write(folder.join(file), text).unwrap();
    };
    part("one", "Ask", "Say", "one.svg");
    part("two", "Say", "Tell", "two.yaml");
    fs::write(folder.join("specification.yaml"), "iosts: both\ncompose: [one.svg, two.yaml]\n").unwrap();
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let before = fs::read(folder.join("one.svg")).unwrap();
    let output = run(["explore", &path("specification.yaml"), "--draw", &path("one.svg")]);
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stderr).contains("a part of the specification"));
    assert_eq!(fs::read(folder.join("one.svg")).unwrap(), before);

    let suite = folder.join("suite");
    let output = run(["cover", &path("specification.yaml"), "--out", suite.to_str().unwrap(), "--quiet"]);
    assert!(matches!(output.status.code(), Some(0 | 5)), "{}", String::from_utf8_lossy(&output.stderr));
    let output = run(["check", suite.join("coreach.yaml").to_str().unwrap()]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    fs::remove_dir_all(&folder).unwrap();
}
