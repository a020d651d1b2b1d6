//! A system of three components, from its parts to a fault that is found.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

mod common;

use common::{json, run};

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
