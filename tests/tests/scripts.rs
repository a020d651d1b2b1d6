//! The scripts take nothing that was not pinned, and the check of the prose can fail.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

#[test]
fn cargo_and_pip_take_what_is_pinned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts");
    let (mut cargo, mut pip) = (0, 0);
    for item in fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        let text = fs::read_to_string(&path).unwrap().replace("\\\n", " ").replace("\", \"", " ");
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            let builds =
                ["build", "run", "test", "clippy", "doc", "nextest run", "metadata", "install", "tree"];
            if builds.iter().any(|verb| line.contains(&format!("cargo {verb} "))) {
                assert!(line.contains("--locked"), "{}: {line}", path.display());
                cargo += 1;
            }
            if line.contains("pip install ") {
                assert!(line.contains("--require-hashes"), "{}: {line}", path.display());
                pip += 1;
            }
        }
    }
    assert!(cargo > 15 && pip >= 3, "one-sided test: {cargo} and {pip}");
}

/// `scripts/fuzz` refuses a lock file that does not fit, and nothing else would notice: the fuzz targets are
/// no part of the workspace.
#[test]
fn the_lock_file_of_the_fuzz_targets_has_what_the_crates_use() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let read = |path: &str| fs::read_to_string(root.join(path)).unwrap();
    let (lock, ours) = (read("fuzz/Cargo.lock"), read("Cargo.lock"));
    // Every package as its name, its version and what it uses.
    let uses = |lock: &str, name: &str| {
        let at = lock.find(&format!("name = \"{name}\"\n")).unwrap_or_else(|| panic!("no {name}"));
        let package = &lock[at..lock[at..].find("\n\n").map_or(lock.len(), |end| at + end)];
        let names = package.lines().filter_map(|line| line.strip_prefix(" \"")?.split(['"', ' ']).next());
        names.map(str::to_owned).collect::<Vec<_>>()
    };
    let mut found = 0;
    for (name, folder) in [
        ("coreach-project", "project"),
        ("coreach-model", "model"),
        ("coreach-analyses", "analyses"),
        ("coreach-pipeline", "pipeline"),
        ("coreach-execution", "execution"),
    ] {
        let manifest = read(&format!("{folder}/Cargo.toml"));
        let from = manifest.find("\n[dependencies]\n").unwrap() + "\n[dependencies]\n".len();
        let section = manifest[from..].split("\n[").next().unwrap_or_default();
        for line in section.lines().filter(|line| !line.contains("optional = true")) {
            let Some(used) = line.split(['.', ' ', '=']).next().filter(|used| !used.is_empty()) else {
                continue;
            };
            if used.starts_with('#') {
                continue;
            }
            // The name in the manifest may be another than the package's.
            if uses(&ours, name).iter().any(|known| known == used) {
                let known = uses(&lock, name);
                assert!(known.iter().any(|known| known == used), "{name}: {used}: {known:?}");
                found += 1;
            }
        }
    }
    assert!(found > 30, "one-sided test: {found}");
}

/// Runs `scripts/prose` on a text, and returns whether it passes and what it says.
fn check_prose(name: &str, text: &str) -> (bool, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = std::env::temp_dir().join(format!("coreach-prose-{name}-{}.md", std::process::id()));
    fs::write(&path, text).unwrap();
    let output = Command::new(root.join("scripts/prose")).arg(&path).output().unwrap();
    fs::remove_file(path).unwrap();
    (output.status.success(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn the_prose_check_refuses_what_is_hard_to_read() {
    let plain = "# Plain\n\nYou read this. It is short.\n\n| a cell | another |\n|---|---|\n| `x`, `y` | two words |\n";
    assert_eq!(check_prose("plain", plain), (true, String::new()));
    let words = |count: usize| vec!["word"; count].join(" ");
    let paragraphs = vec![format!("{}.\n\n", words(10)); 40].concat();
    for (name, text, complaint) in [
        ("long", format!("{}.", words(31)), "sentences over 30 words"),
        ("mean", format!("{}.", words(17)), "words in a sentence, on average"),
        ("semicolon", "One thing; another thing.".to_owned(), "with a semicolon or a dash"),
        ("colon", "One thing: another thing.".to_owned(), "with a clause after a colon"),
        ("opening", "What it does is good.".to_owned(), "that open with a clause"),
        ("paragraph", vec![format!("{}.", words(10)); 10].join(" "), "a paragraph of 100 words"),
        ("cell", format!("| {} |", words(26)), "a cell of 26 words"),
        ("section", paragraphs, "a section of 400 words"),
        ("date", "It was made on 2026-01-01.".to_owned(), "a date"),
    ] {
        let (passes, said) = check_prose(name, &text);
        assert!(!passes && said.contains(complaint), "{name}: {said}");
    }
}
