//! The scripts take nothing that was not pinned.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::fs;
use std::path::Path;

#[test]
fn cargo_and_pip_take_what_is_pinned() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../scripts");
    let (mut cargo, mut pip) = (0, 0);
    for item in fs::read_dir(folder).unwrap() {
        let path = item.unwrap().path();
        let text = fs::read_to_string(&path).unwrap().replace("\\\n", " ").replace("\", \"", " ");
        for line in text.lines().filter(|line| !line.trim_start().starts_with('#')) {
            let builds = ["build", "run", "test", "clippy", "doc", "nextest run", "metadata", "install"];
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
    assert!(cargo > 15 && pip == 1, "one-sided test: {cargo} and {pip}");
}
