//! The ratchet: lines of each crate, names of types that several files declare, named limits, and circles
//! that are excused may only become fewer. `docs/dev/architecture.md` has the numbers, and says how one is
//! raised.

use std::collections::{BTreeMap, BTreeSet};

use super::sources::{members, rust_files, text};
use super::{MAP, map};

/// What the crates have that go to users: all but that of the tests.
fn files() -> impl Iterator<Item = (String, String)> {
    let folders = members().into_iter().filter(|folder| folder != "tests");
    folders.flat_map(|folder| {
        let files = rust_files(&format!("{folder}/src"));
        files.into_iter().map(move |path| (folder.clone(), path))
    })
}

/// The words of a line that declares something, without who may see it.
fn declaration(line: &str) -> Vec<&str> {
    let words = line.split([' ', ':', '<', '(', ')', '{', ';', '=']).filter(|word| !word.is_empty());
    words.filter(|word| !["pub", "crate", "super", "in"].contains(word)).take(3).collect()
}

/// All that is counted, by its name in the table.
fn counted() -> BTreeMap<String, usize> {
    const SIZES: [&str; 10] = ["u8", "u16", "u32", "u64", "u128", "usize", "i32", "i64", "f64", "Duration"];
    let mut found = BTreeMap::new();
    let mut declared: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut limits = 0;
    for (folder, path) in files() {
        let text = text(&path);
        *found.entry(format!("{folder}/")).or_default() += text.lines().count();
        for line in text.lines() {
            match declaration(line).as_slice() {
                ["struct" | "enum" | "trait" | "type", name, ..] if name.starts_with(char::is_uppercase) => {
                    declared.entry((*name).to_owned()).or_default().insert(path.clone());
                }
                ["const", _, size] if SIZES.contains(size) => limits += 1,
                _ => {}
            }
        }
    }
    let circles = map::table("| files in a circle |");
    let excused = circles.iter().filter(|row| !row[0].iter().all(|path| path.starts_with("tests/")));
    let shared = declared.values().filter(|files| files.len() > 1).count();
    found.insert("names of types".to_owned(), shared);
    found.insert("limits".to_owned(), limits);
    found.insert("circles".to_owned(), excused.count());
    found
}

#[test]
fn the_house_grows_only_where_something_goes() {
    let head = "| counted | at most |";
    let told = map::table(head).into_iter().map(|row| (row[0][0].clone(), row[1][0].parse().unwrap()));
    let told: BTreeMap<String, usize> = told.collect();
    let shown = counted();
    let mut wrong = String::new();
    for name in told.keys().chain(shown.keys()).collect::<BTreeSet<_>>() {
        let cure = match (shown.get(name), told.get(name)) {
            (Some(now), Some(most)) if now > most => {
                format!("{now} are more than {most}: remove as much, or raise the number as {MAP} says")
            }
            (Some(now), Some(most)) if now * 100 < most * 99 => {
                format!("{now}, not {most}: lower the number")
            }
            (Some(_), Some(_)) => continue,
            (Some(_), None) => "is not in the table".to_owned(),
            (None, _) => "is in the table, and gone".to_owned(),
        };
        wrong += &format!("`{name}`: {cure}\n");
    }
    let rows: String = shown.iter().map(|(name, now)| format!("| `{name}` | `{now}` |\n")).collect();
    assert!(wrong.is_empty(), "{wrong}\nThe table of {MAP} as it would be now:\n\n{head}\n|---|---|\n{rows}");
}

#[test]
fn a_declaration_is_told_from_other_lines() {
    for (line, words) in [
        ("pub(crate) struct Found<'a> {", ["struct", "Found", "'a>"]),
        ("    const MOST: usize = 7;", ["const", "MOST", "usize"]),
        ("pub const WAIT: Duration = Duration::from_millis(5);", ["const", "WAIT", "Duration"]),
        ("const fn size(self) -> usize {", ["const", "fn", "size"]),
    ] {
        assert_eq!(declaration(line), words);
    }
}
