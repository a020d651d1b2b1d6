//! What holds the house: which crate, folder and file may use which, that a public name has one meaning, and
//! that a line of a comment can be read. The rules are tables of `docs/dev/architecture.md`, so the map is
//! true or a test fails.
//!
//! The tables of exceptions are ratchets: what is in them and no longer there fails as well, and says which
//! row may go.

mod crates;
mod graph;
mod map;
mod ratchet;
mod sources;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

use sources::{Crate, read_crates, rust_files};

const MAP: &str = "docs/dev/architecture.md";

/// The differences between what the sources show and what the map says, each with what to do.
fn differences<T: Ord + Debug>(shown: &BTreeSet<T>, told: &BTreeSet<T>, cure: &str) -> Vec<String> {
    let more: Vec<&T> = shown.difference(told).collect();
    let gone: Vec<&T> = told.difference(shown).collect();
    let mut found = Vec::new();
    if !more.is_empty() {
        found.push(format!("{more:#?}\n{cure}"));
    }
    if !gone.is_empty() {
        found.push(format!("{gone:#?}\nare no longer so: take them out of the table in {MAP}"));
    }
    found
}

/// Lists what breaks a rule, each with what to do.
type Rule = fn(&[Crate]) -> Vec<String>;

/// One test for all rules, because reading the sources takes longer than all rules together.
#[test]
fn the_sources_are_as_the_map_says() {
    let crates = read_crates();
    let rules: [Rule; 7] = [
        crates::list_uses_of_crates,
        list_circles_of_files,
        list_uses_of_folders,
        list_circles_of_folders,
        list_forbidden_uses,
        list_shared_names,
        list_bare_names,
    ];
    let found: Vec<String> = rules.iter().flat_map(|rule| rule(&crates)).collect();
    assert!(found.is_empty(), "{}", found.join("\n\n"));
}

fn list_circles_of_files(crates: &[Crate]) -> Vec<String> {
    let shown: BTreeSet<BTreeSet<String>> = crates.iter().flat_map(graph::circles).collect();
    let told = map::table("| files in a circle |").into_iter().map(|row| row[0].iter().cloned().collect());
    let cure = format!(
        "use one another in a circle: move what all of them need into a file below them. \
         If they are one subject and must be, a row of the table in {MAP} says why."
    );
    differences(&shown, &told.collect(), &cure)
}

fn list_uses_of_folders(crates: &[Crate]) -> Vec<String> {
    let shown = crates.iter().flat_map(graph::folder_arrows).collect();
    let mut told = BTreeSet::new();
    for row in map::table("| folder | uses of its crate |") {
        told.extend(row[1].iter().map(|to| (row[0][0].clone(), to.clone())));
    }
    let cure = format!(
        "are new arrows between folders: is there a way without? Then take it; \
         else the table of folders in {MAP} gets the arrow, and must stay without a circle."
    );
    differences(&shown, &told, &cure)
}

fn list_circles_of_folders(crates: &[Crate]) -> Vec<String> {
    let shown = crates.iter().flat_map(|one| graph::circles_of(graph::folder_arrows(one))).collect();
    let told = map::table("| folders in a circle |").into_iter().map(|row| row[0].iter().cloned().collect());
    let cure = format!("use one another in a circle: turn an arrow round, or a row in {MAP} says why not.");
    differences(&shown, &told.collect(), &cure)
}

fn list_forbidden_uses(crates: &[Crate]) -> Vec<String> {
    let rules = map::table("| file or folder | never uses |");
    let mut found = Vec::new();
    for one in crates {
        for (from, targets) in graph::arrows(one) {
            let from = &one.files[&from].path;
            for to in targets.iter().map(|to| &one.files[to].path) {
                let begins =
                    |cell: &[String], path: &str| cell.iter().any(|part| path.starts_with(part.as_str()));
                if rules.iter().any(|row| begins(&row[0], from) && begins(&row[1], to)) {
                    found.push(format!("{from} uses {to}: the table in {MAP} says why it must not"));
                }
            }
        }
    }
    let paths = rules.iter().flat_map(|row| row[0].iter().chain(&row[1]));
    let gone = paths.filter(|path| !sources::root().join(path).exists());
    found.extend(gone.map(|path| format!("{path} is in a table of {MAP}, and gone")));
    found
}

/// Public types of one name in two crates, each with the files that declare it.
fn shared_names(crates: &[Crate], free: &[String]) -> BTreeMap<String, BTreeSet<String>> {
    let mut declared: BTreeMap<&String, BTreeMap<&String, BTreeSet<String>>> = BTreeMap::new();
    for one in crates {
        for file in one.files.values() {
            let is_free = free.iter().any(|folder| file.path.starts_with(folder.as_str()));
            for name in file.types.iter().filter(|_| !is_free) {
                let crates = declared.entry(name).or_default();
                crates.entry(&one.name).or_default().insert(file.path.clone());
            }
        }
    }
    declared.retain(|_, crates| crates.len() > 1);
    let files = |crates: BTreeMap<_, BTreeSet<String>>| crates.into_values().flatten().collect();
    declared.into_iter().map(|(name, crates)| (name.clone(), files(crates))).collect()
}

fn list_shared_names(crates: &[Crate]) -> Vec<String> {
    let rows = map::table("| name | declared in |");
    let free: Vec<String> =
        rows.iter().filter(|row| row[0].is_empty()).flat_map(|row| row[1].clone()).collect();
    let told = rows.into_iter().filter(|row| !row[0].is_empty());
    let told = told.map(|row| (row[0][0].clone(), row[1].iter().cloned().collect())).collect();
    let cure = format!(
        "are public types of one name in two crates: a reader takes one for the other. Give the newer one a name \
         that says of what it is; if both have to be called so, a row of the table in {MAP} says why."
    );
    differences(&shared_names(crates, &free).into_iter().collect(), &told, &cure)
}

/// Names that say nothing of what they are the kind, the way or the document.
fn list_bare_names(crates: &[Crate]) -> Vec<String> {
    const BARE: [&str; 8] = ["Told", "Said", "Wanted", "Found", "Way", "Kind", "Step", "Document"];
    let mut shown = BTreeSet::new();
    for file in crates.iter().flat_map(|one| one.files.values()) {
        // Nothing uses the crate of tests.
        let bare = file.types.iter().filter(|_| !file.path.starts_with("tests/"));
        let bare = bare.filter(|name| BARE.contains(&name.as_str()));
        shown.extend(bare.map(|name| (name.clone(), file.path.clone())));
    }
    let mut told = BTreeSet::new();
    for row in map::table("| bare name | in |") {
        told.extend(row[1].iter().map(|path| (row[0][0].clone(), path.clone())));
    }
    let cure = "are called by a word that says nothing: name the type after what it is of";
    differences(&shown, &told, cure)
}

#[test]
fn a_comment_is_at_most_110_columns_wide() {
    const WIDTH: usize = 110;
    let mut shown = BTreeMap::new();
    for path in sources::members().iter().flat_map(|folder| rust_files(folder)) {
        let text = sources::text(&path);
        let wide = prose(&text).into_iter().filter(|line| line.chars().count() > WIDTH).count();
        if wide > 0 {
            shown.insert(path, wide);
        }
    }
    assert!(shown.is_empty(), "{shown:#?}\nhave so many comment lines beyond {WIDTH} columns: fold them");
}

/// The lines of comments that can be folded: no table, no code in a fence or an indented block, no address
/// alone, and nothing that stands in a string.
fn prose(text: &str) -> Vec<&str> {
    let (mut is_code, mut is_string, mut found) = (false, false, Vec::new());
    for line in text.lines() {
        let trimmed = line.trim_start();
        if is_string || !trimmed.starts_with("//") {
            is_code = false;
            is_string = if is_string { !line.contains("\"#") } else { line.ends_with("r#\"") };
            continue;
        }
        let words = trimmed.trim_start_matches(['/', '!']);
        let is_fence = words.trim_start().starts_with("```");
        is_code ^= is_fence;
        let is_block = words.starts_with("     ") || words.trim_start().starts_with('|');
        if !is_code && !is_fence && !is_block && words.trim().contains(' ') {
            found.push(line);
        }
    }
    found
}
