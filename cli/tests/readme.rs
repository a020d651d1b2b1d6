//! The README shows what is there: the two scripts, the example's models, a picture that the program draws.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn readme() -> String {
    std::fs::read_to_string(root().join("README.md")).unwrap()
}

fn coreach(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_coreach")).args(arguments).current_dir(root()).output().unwrap()
}

/// The lines of the console blocks, without the prompt.
fn commands(text: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with("```") {
            inside = line == "```console";
        } else if inside {
            found.push(line.trim_start_matches("$ ").to_owned());
        }
    }
    found
}

/// The commands of coreach are run by `documents`, with what they print.
#[test]
fn the_two_scripts_are_those_of_the_project() {
    let mut commands = commands(&readme());
    commands.retain(|command| command.starts_with("scripts/"));
    assert_eq!(commands, ["scripts/demo", "scripts/test"]);
    // scripts/test runs this test, and scripts/demo on its own build.
    let test = std::fs::read_to_string(root().join("scripts/test")).unwrap();
    assert!(test.lines().any(|line| line.trim() == "scripts/demo"));
}

/// Both blocks are lines of the example that `coreach init` writes.
#[test]
fn the_models_shown_are_the_example_s() {
    let readme = readme();
    let shown: Vec<&str> =
        readme.split("```yaml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
    let files = ["specification.yaml", "open_after_wrong.yaml"];
    assert_eq!(shown.len(), files.len());
    for (shown, file) in shown.iter().zip(files) {
        let example = std::fs::read_to_string(root().join("examples/locker").join(file)).unwrap();
        for line in shown.lines() {
            assert!(example.lines().any(|known| known == line), "{file} has no line `{line}`");
        }
    }
}

/// *Precision*: the figures may improve, and then the table of the page on domains must follow.
#[test]
fn the_table_of_domains_is_the_program_s() {
    let domains = "location,interval,polyhedra";
    let config = "examples/coffee_machine/coreach.yaml";
    let output = coreach(&["compare", config, "--domains", domains, "--format", "json"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 3);
    let page = std::fs::read_to_string(root().join("docs/explanation/domains.md")).unwrap();
    for row in rows {
        let graph = &row["test_graph"];
        let domain = row["domain"].as_str().unwrap();
        let line = format!(
            "| `{domain}` | {} | {} | {} |",
            graph["transitions"], graph["inconclusive"], graph["strengthened"]
        );
        assert!(page.lines().any(|known| known == line), "{line}");
    }
}

#[test]
fn the_picture_is_drawn_by_the_program() {
    let output =
        coreach(&["show", "examples/coffee_machine/coreach.yaml", "--stage", "test_case", "--format", "dot"]);
    let path = root().join("docs/pictures/coffee_machine.dot");
    if std::env::var_os("COREACH_BLESS").is_some() {
        std::fs::write(&path, &output.stdout).unwrap();
    }
    let drawn = std::fs::read_to_string(path).unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), drawn, "bless, and draw the SVG beside it anew");
    let svg = std::fs::read_to_string(root().join("docs/pictures/coffee_machine.svg")).unwrap();
    for word in ["Coin!(pCoinValue)", "Pass", "Fail"] {
        assert!(svg.contains(word), "{word}");
    }
}
