//! A system that speaks by itself, from the outside: what crosses is no Fail where the link is described, and a run is told, kept,
//! explained and repeated with it.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

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

struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let folder = Folder(std::env::temp_dir().join(format!("coreach-link-{name}-{}", std::process::id())));
        fs::create_dir_all(&folder.0).unwrap();
        let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("../execution/tests/servers/ticker.py");
        let stdio =
            format!("iut: ticker\nstdio: {{ command: [python3, {:?}] }}\n", program.display().to_string());
        // Longer than any pause of a machine that does much else.
        let linked = format!("{stdio}link: {{ ordered: true, delay: 5 s }}\n");
        let files = [
            ("model.yaml", MODEL),
            ("purpose.yaml", PURPOSE),
            ("coreach.yaml", "specification: model.yaml\npurpose: purpose.yaml\n"),
            ("alone.yaml", &stdio),
            ("linked.yaml", &linked),
            (
                "campaign.yaml",
                "campaign: ticks\ntests: [ { configuration: coreach.yaml } ]\niuts: [linked.yaml]\nseeds: { first: 1, count: 3 }\n",
            ),
        ];
        for (name, text) in files {
            fs::write(folder.0.join(name), text).unwrap();
        }
        folder
    }

    #[track_caller]
    fn coreach(&self, arguments: &[&str], code: i32) -> String {
        let output: Output = Command::new(env!("CARGO_BIN_EXE_coreach"))
            .args(arguments)
            .current_dir(&self.0)
            .output()
            .unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}\nstdout:\n{out}\nstderr:\n{err}");
        out
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn what_crosses_is_no_fail_where_the_link_is_described() {
    let folder = Folder::new("test");
    let test = ["test", "coreach.yaml", "--runs", "3", "--quiescence", "20000", "--iut"];
    // A correct system, blamed for the tick that it had sent before.
    folder.coreach(&[&test[..], &["alone.yaml"]].concat(), 1);
    folder.coreach(&[&test[..], &["linked.yaml", "--keep", "kept"]].concat(), 0);
    let mut crossed = 0;
    for seed in 1..=3 {
        let path = format!("kept/twice.{seed}.json");
        let run: Value = serde_json::from_slice(&fs::read(folder.0.join(&path)).unwrap()).unwrap();
        assert_eq!((run["verdict"].as_str(), run["link_ms"].as_f64()), (Some("Pass"), Some(5000.0)));
        crossed += run["crossed"].as_u64().unwrap_or(0);
        let told = folder.coreach(&["explain", &path, "--test", "kept/twice.test_case.json"], 0);
        assert!(told.contains("Pass") && told.contains("crossed: ") == run["crossed"].is_u64(), "{told}");
        // A record that says otherwise is of another run.
        let mut other = run.clone();
        other["crossed"] = 77.into();
        fs::write(folder.0.join("other.json"), other.to_string()).unwrap();
        folder.coreach(&["explain", "other.json", "--test", "kept/twice.test_case.json"], 2);
        let mut alone = run;
        if alone.as_object_mut().unwrap().remove("link_ms").is_some() && alone["crossed"].is_u64() {
            fs::write(folder.0.join("other.json"), alone.to_string()).unwrap();
            folder.coreach(&["explain", "other.json", "--test", "kept/twice.test_case.json"], 2);
        }
    }
    assert!(crossed >= 3, "{crossed}");
    let again =
        ["replay", "kept/twice.1.json", "--test", "kept/twice.test_case.json", "--quiescence", "20000"];
    folder.coreach(&[&again[..], &["--iut", "linked.yaml"]].concat(), 0);
}

#[test]
fn a_campaign_looks_at_the_link() {
    let folder = Folder::new("campaign");
    folder.coreach(&["campaign", "campaign.yaml"], 0);
}
