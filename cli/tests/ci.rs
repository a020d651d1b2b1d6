//! The files for services that build (`docs/ci/`): their lines are run, in their order, in a project as
//! `docs/how-to/ci.md` describes it.
//!
//! Those that install the wheel are compared with the block of that page that `scripts/try-install` runs.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::Folder;
use crate::yaml;
use serde_json::Value;

fn docs(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The lines of the first block of the page with this head.
fn block(head: &str) -> String {
    let page = docs("how-to/ci.md");
    let text = page.split(&format!("```{head}\n")).nth(1).unwrap_or_else(|| panic!("no block {head}"));
    text.split("```").next().unwrap().to_owned()
}

/// What a file has under these keys, wherever, as lines of a shell.
fn lines(file: &str, keys: &[&str]) -> Vec<String> {
    fn walk(value: &Value, keys: &[&str], found: &mut Vec<String>) {
        match value {
            Value::Object(entries) => {
                // In the order in which they are run, which is that of the file.
                for (key, value) in entries {
                    match value {
                        Value::String(text) if keys.contains(&key.as_str()) => {
                            found.extend(text.lines().map(str::to_owned));
                        }
                        Value::Array(items) if keys.contains(&key.as_str()) => {
                            found.extend(items.iter().map(|item| item.as_str().unwrap().to_owned()));
                        }
                        inner => walk(inner, keys, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, keys, found)),
            _ => {}
        }
    }
    let value = yaml::value(&docs(file)).unwrap_or_else(|| panic!("{file} is no YAML"));
    let mut found = Vec::new();
    walk(&value, keys, &mut found);
    found
}

/// A project under test: the coffee machine, and the campaign that the page shows.
fn project() -> Folder {
    let folder = Folder::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/coffee_machine");
    for file in ["specification.yaml", "deliver_coffee.yaml", "coreach.yaml", "iut_model.yaml"] {
        folder.write(file, &fs::read_to_string(example.join(file)).unwrap());
    }
    folder.write("nightly.yaml", &block("yaml campaign nightly.yaml"));
    let installed = folder.0.join(".coreach/bin");
    fs::create_dir_all(&installed).unwrap();
    symlink(PathBuf::from(env!("CARGO_BIN_EXE_coreach")), installed.join("coreach")).unwrap();
    folder
}

fn run(folder: &Folder, line: &str) -> Option<i32> {
    let output =
        Command::new("bash").args(["-euo", "pipefail", "-c", line]).current_dir(&folder.0).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code().is_some_and(|code| code < 10), "{line}: {said}");
    output.status.code()
}

const FILES: [(&str, &[&str]); 2] =
    [("ci/github.yml", &["run"]), ("ci/gitlab.yml", &["before_script", "script", "after_script"])];

#[test]
fn every_line_is_run() {
    let install = block("sh ci-install");
    for (file, keys) in FILES {
        let lines = lines(file, keys);
        let (skipped, ours): (Vec<_>, Vec<_>) =
            lines.into_iter().partition(|line| !line.starts_with(".coreach/bin/coreach "));
        let version = ours.iter().filter(|line| line.ends_with(" --version"));
        let installs: Vec<&String> = skipped.iter().chain(version).collect();
        assert_eq!(installs, install.lines().collect::<Vec<_>>(), "{file} installs as the page says");
        let folder = project();
        for line in &ours {
            assert_eq!(run(&folder, line), Some(0), "{file}: {line}");
        }
        assert!(ours.len() >= 5, "{file}: {ours:?}");
        // What it keeps is there.
        let text = docs(file);
        for kept in ["out/nightly.xml", "out/nightly.html", "out/nightly.sqlite"] {
            assert!(text.contains(kept), "{file}: {kept}");
            assert!(folder.0.join(kept).is_file(), "{file}: {kept}");
        }
    }
}

/// A job is for finding faults: it fails, and report and page are there all the same.
#[test]
fn a_fault_fails_the_job_and_is_reported() {
    let (right, wrong) = (crate::common::RIGHT, crate::common::WRONG);
    for (file, keys) in FILES {
        let folder = project();
        folder.write("mutant.yaml", &folder.read("specification.yaml"));
        folder.change("mutant.yaml", right, wrong);
        folder.change("iut_model.yaml", "specification.yaml", "mutant.yaml");
        let lines = lines(file, keys);
        let campaign = lines.iter().position(|line| line.contains(" campaign ")).unwrap();
        let ours = lines[..=campaign].iter().filter(|line| line.starts_with(".coreach/bin/coreach "));
        let codes: Vec<_> = ours.map(|line| run(&folder, line)).collect();
        assert_eq!(codes.last(), Some(&Some(1)), "{file}: {codes:?}");
        assert!(codes[..codes.len() - 1].iter().all(|code| *code == Some(0)), "{file}: {codes:?}");
        let report = folder.read("out/nightly.xml");
        let report = roxmltree::Document::parse(&report).unwrap();
        assert!(report.descendants().any(|node| node.has_tag_name("failure")), "{file}");
        assert!(folder.read("out/nightly.html").contains("<!DOCTYPE html>"), "{file}");
        // And the file lets the steps behind it run.
        let text = docs(file);
        assert!(text.contains("if: always()") || text.contains("when: always"), "{file}");
    }
}

#[test]
fn nothing_is_fetched_from_a_named_place() {
    for (file, _) in FILES {
        assert!(!docs(file).contains("://"), "{file}");
    }
}
