//! What `docs/reference/json.md` shows of a notebook runs as it stands there.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::Folder;

#[test]
fn the_notebook_of_the_document_runs() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/reference/json.md");
    let document = fs::read_to_string(path).unwrap();
    let (_, section) = document.split_once("## From a notebook").unwrap();
    let (_, block) = section.split_once("```python\n").unwrap();
    let (script, _) = block.split_once("```").unwrap();
    let folder = Folder::new();
    let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/coffee_machine");
    for name in ["coreach.yaml", "specification.yaml", "deliver_coffee.yaml"] {
        fs::copy(example.join(name), folder.0.join(name)).unwrap();
    }
    folder.write("notebook.py", script);
    let programs = Path::new(env!("CARGO_BIN_EXE_coreach")).parent().unwrap();
    let path = format!("{}:{}", programs.display(), std::env::var("PATH").unwrap_or_default());
    let output =
        Command::new("python3").arg("notebook.py").current_dir(&folder.0).env("PATH", path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines: Vec<&str> = text.lines().collect();
    let [location, polyhedra, drawn] = lines[..] else { panic!("{text}") };
    assert!(location.starts_with("location ") && polyhedra.starts_with("polyhedra 5 12"), "{text}");
    let (code, paths) = drawn.split_once(' ').unwrap();
    assert!(code == "0" && paths.parse::<usize>().unwrap() > 3, "{text}");
}
