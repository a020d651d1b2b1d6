//! The README does what it says: its commands run, its table is the program's, its picture is drawn by it.
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

#[test]
fn every_command_runs() {
    let mut scripts = Vec::new();
    for command in commands(&readme()) {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            ["coreach", arguments @ ..] => {
                // What it writes goes to a folder of the test.
                let folder = std::env::temp_dir().join(format!("coreach-readme-{}", std::process::id()));
                let folder = folder.to_str().unwrap();
                let arguments: Vec<&str> =
                    arguments.iter().map(|word| if *word == "out/readme" { folder } else { word }).collect();
                let output = coreach(&arguments);
                assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
                let _ = std::fs::remove_dir_all(folder);
            }
            [script] => scripts.push((*script).to_owned()),
            _ => panic!("what is `{command}`?"),
        }
    }
    // The two scripts: scripts/test runs this test, and scripts/demo on its own build.
    assert_eq!(scripts, ["scripts/demo", "scripts/test"]);
    let test = std::fs::read_to_string(root().join("scripts/test")).unwrap();
    assert!(test.lines().any(|line| line.trim() == "scripts/demo"));
}

#[test]
fn the_purpose_shown_is_the_example_s() {
    let readme = readme();
    let shown = readme.split("```yaml\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let path = root().join("examples/coffee_machine/deliver_coffee.yaml");
    let example = std::fs::read_to_string(path).unwrap();
    let example: String =
        example.lines().filter(|line| !line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    assert_eq!(shown, example);
}

/// *Precision*: the figures may improve, and then the table must follow.
#[test]
fn the_table_is_the_program_s() {
    let domains = "location,interval,polyhedra";
    let config = "examples/coffee_machine/coreach.yaml";
    let output = coreach(&["compare", config, "--domains", domains, "--format", "json"]);
    let rows: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let rows = rows.as_array().unwrap();
    assert_eq!(rows.len(), 3);
    let readme = readme();
    for row in rows {
        let (graph, case) = (&row["test_graph"], &row["test_case"]);
        let domain = row["domain"].as_str().unwrap();
        let line = format!(
            "| `{domain}` | {} | {} | {} |",
            graph["transitions"], graph["inconclusive"], case["transitions"]
        );
        assert!(readme.lines().any(|known| known == line), "{line}");
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
