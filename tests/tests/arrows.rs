//! The arrows of the house: which crate may use which. Reads the manifests; a new arrow fails here first.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::BTreeSet;
use std::path::Path;

/// Crate, folder, and the crates of ours that it may use (tests of a crate included).
const ARROWS: [(&str, &str, &[&str]); 16] = [
    ("coreach-model", "model", &[]),
    ("coreach-artifact", "artifact", &["coreach-model"]),
    ("coreach-polyhedra", "analyses/polyhedra", &[]),
    ("coreach-octagon", "analyses/octagon", &["coreach-polyhedra"]),
    ("coreach-apron-sys", "analyses/apron-sys", &[]),
    ("coreach-apron", "analyses/apron", &["coreach-apron-sys"]),
    ("coreach-ppl-sys", "analyses/ppl-sys", &[]),
    ("coreach-ppl", "analyses/ppl", &["coreach-ppl-sys"]),
    (
        "coreach-analyses",
        "analyses",
        &["coreach-model", "coreach-polyhedra", "coreach-octagon", "coreach-apron"],
    ),
    ("coreach-pipeline", "pipeline", &["coreach-model", "coreach-analyses", "coreach-artifact"]),
    ("coreach-adapters", "adapters", &["coreach-model"]),
    (
        "coreach-execution",
        "execution",
        &["coreach-model", "coreach-analyses", "coreach-artifact", "coreach-adapters"],
    ),
    (
        "coreach-project",
        "project",
        &[
            "coreach-model",
            "coreach-analyses",
            "coreach-artifact",
            "coreach-adapters",
            "coreach-pipeline",
            "coreach-execution",
        ],
    ),
    ("coreach-import", "import", &["coreach-model"]),
    (
        "coreach",
        "cli",
        &[
            "coreach-model",
            "coreach-analyses",
            "coreach-adapters",
            "coreach-pipeline",
            "coreach-execution",
            "coreach-project",
            "coreach-import",
        ],
    ),
    (
        "coreach-tests",
        "tests",
        &[
            "coreach-model",
            "coreach-analyses",
            "coreach-artifact",
            "coreach-adapters",
            "coreach-pipeline",
            "coreach-execution",
            "coreach-project",
            "coreach-import",
            "coreach-polyhedra",
            "coreach-apron",
            "coreach-ppl",
            "coreach",
        ],
    ),
];

fn root() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn manifest(folder: &str) -> String {
    let path = root().join(folder).join("Cargo.toml");
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The names of the dependencies of every section.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.contains("dependencies");
        } else if inside && !line.is_empty() && !line.starts_with('#') {
            let name: String =
                line.chars().take_while(|c| c.is_alphanumeric() || "-_".contains(*c)).collect();
            found.insert(name);
        }
    }
    found
}

#[test]
fn no_crate_uses_more_than_it_may() {
    let ours: BTreeSet<&str> = ARROWS.iter().map(|(name, ..)| *name).collect();
    for (name, folder, allowed) in ARROWS {
        let text = manifest(folder);
        assert!(text.contains(&format!("name = \"{name}\"")), "{folder} is not {name}");
        for used in dependencies(&text).iter().filter(|used| ours.contains(used.as_str())) {
            assert!(allowed.contains(&used.as_str()), "{name} may not use {used}");
        }
    }
}

#[test]
fn every_member_of_the_workspace_is_in_the_list() {
    let workspace = manifest(".");
    let members = workspace.lines().find(|line| line.starts_with("members")).unwrap();
    let folders: BTreeSet<&str> = members.split('"').skip(1).step_by(2).collect();
    assert_eq!(folders, ARROWS.iter().map(|(_, folder, _)| *folder).collect());
}

#[test]
fn only_the_command_line_prints() {
    for (_, folder, _) in ARROWS.into_iter().filter(|(_, folder, _)| !["cli", "tests"].contains(folder)) {
        for path in rust_files(&root().join(folder).join("src")) {
            let text = std::fs::read_to_string(&path).unwrap();
            for (number, line) in text.lines().enumerate() {
                let printed =
                    ["println!", "eprintln!", "print!(", "eprint!("].iter().any(|what| line.contains(what));
                let is_comment = line.trim_start().starts_with("//");
                assert!(!printed || is_comment, "{}:{} prints", path.display(), number + 1);
            }
        }
    }
}

/// What `tests/main.rs` does not name is not compiled, and so a test that cannot fail.
#[test]
fn every_file_of_tests_is_in_its_program() {
    for (_, folder, _) in ARROWS {
        let tests = root().join(folder).join("tests");
        let Ok(main) = std::fs::read_to_string(tests.join("main.rs")) else { continue };
        for path in rust_files(&tests).iter().filter(|path| !path.ends_with("tests/main.rs")) {
            let name = path.strip_prefix(&tests).unwrap().iter().next().unwrap();
            let name = name.to_str().unwrap().trim_end_matches(".rs");
            let is_named = main.lines().any(|line| line == format!("mod {name};"));
            assert!(is_named, "{} lacks `mod {name};`", tests.join("main.rs").display());
        }
    }
}

fn rust_files(folder: &Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") && !path.ends_with("tests.rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}
