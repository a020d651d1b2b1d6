//! Crates: who uses whom, who prints, and that no test stands beside its program.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{Crate, members, root, rust_files, text};
use super::{MAP, differences, map};

/// Crate, folder, and the crates of ours that it may use (its tests included), as the map has them.
fn told() -> BTreeMap<(String, String), BTreeSet<String>> {
    let rows = map::table("| folder | crate | uses |");
    let row = |row: map::Row| {
        let folder = row[0][0].trim_end_matches('/').to_owned();
        ((row[1][0].clone(), folder), row[2].iter().cloned().collect())
    };
    rows.into_iter().map(row).collect()
}

pub fn list_uses_of_crates(crates: &[Crate]) -> Vec<String> {
    let name = |one: &Crate| ((one.name.clone(), one.folder.clone()), one.dependencies.clone());
    let cure =
        format!("are not as the table of crates in {MAP} says: is the arrow right? Then draw it there");
    differences(&crates.iter().map(name).collect(), &told().into_iter().collect(), &cure)
}

/// An arrow leads to a crate whose own arrows never lead back, whoever drew them.
#[test]
fn arrows_of_the_map_lead_down() {
    let told: BTreeMap<String, BTreeSet<String>> =
        told().into_iter().map(|((name, _), uses)| (name, uses)).collect();
    let mut below: BTreeSet<String> = BTreeSet::new();
    while below.len() < told.len() {
        let next = told.iter().find(|(name, uses)| !below.contains(*name) && uses.is_subset(&below));
        let Some((name, _)) = next else {
            let rest: Vec<&String> = told.keys().filter(|name| !below.contains(*name)).collect();
            panic!("the table of crates in {MAP} has a circle among {rest:?}");
        };
        below.insert(name.clone());
    }
}

#[test]
fn only_the_command_line_prints() {
    for folder in members().iter().filter(|folder| !["cli", "tests"].contains(&folder.as_str())) {
        for path in rust_files(&format!("{folder}/src")) {
            if path.ends_with("/tests.rs") {
                continue;
            }
            for (number, line) in text(&path).lines().enumerate() {
                let printed =
                    ["println!", "eprintln!", "print!(", "eprint!("].iter().any(|what| line.contains(what));
                let is_comment = line.trim_start().starts_with("//");
                assert!(!printed || is_comment, "{path}:{} prints: cli/ prints, others return", number + 1);
            }
        }
    }
}

/// What `tests/main.rs` does not name is not compiled, and so a test that cannot fail.
#[test]
fn every_file_of_tests_is_in_its_program() {
    for folder in members() {
        let tests = format!("{folder}/tests");
        let Ok(main) = std::fs::read_to_string(root().join(&tests).join("main.rs")) else { continue };
        for path in rust_files(&tests).iter().filter(|path| !path.ends_with("tests/main.rs")) {
            let name = path.trim_start_matches(&tests).trim_start_matches('/');
            let name = name.split('/').next().unwrap().trim_end_matches(".rs");
            let is_named = main.lines().any(|line| line == format!("mod {name};"));
            assert!(main.is_empty() || is_named, "{tests}/main.rs lacks `mod {name};`");
        }
    }
}
