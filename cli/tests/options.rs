//! What every command takes: `--color`, `--verbose`.
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use crate::common::{Folder, coreach, exits, run, stderr, stdout};

#[test]
fn colours_are_there_when_they_are_asked_for() {
    let folder = Folder::with(&[("broken.yaml", "iosts: [")]);
    let said = |arguments: &[&str], no_color: &str| {
        let mut command = coreach(arguments);
        let output = command.env("NO_COLOR", no_color).current_dir(&folder.0).output().unwrap();
        exits(&output, 2);
        stderr(&output).contains('\u{1b}')
    };
    let with = |more: &[&str], no_color: &str| said(&[&["check", "broken.yaml"], more].concat(), no_color);
    // No terminal: none, but on demand, which says more than the surroundings.
    assert!(!with(&[], "") && !with(&[], "1") && !with(&["--color", "auto"], ""));
    assert!(with(&["--color", "always"], "") && with(&["--color=always"], "1"));
    assert!(!with(&["--color=never"], ""));
    exits(&run(["check", "--color", "sometimes"]), 2);
}

#[test]
fn verbose_tells_what_is_done_and_leaves_out_nothing() {
    let folder = Folder::new();
    let here = |words: &[&str]| {
        let output = coreach(words).current_dir(&folder.0).output().unwrap();
        exits(&output, 0);
        output
    };
    here(&["init"]);
    let (plain, told) = (here(&["run", "coreach.yaml"]), here(&["-v", "run", "coreach.yaml"]));
    // Times differ.
    let lines = |text: String| -> Vec<String> {
        text.lines()
            .map(|line| line.split_whitespace().filter(|word| !word.starts_with("0.")).collect())
            .collect()
    };
    let (plain_lines, told_lines) = (lines(stdout(&plain)), lines(stdout(&told)));
    assert!(plain_lines.iter().all(|line| told_lines.contains(line)), "{plain_lines:?}");
    assert!(stdout(&told).contains("solver: ") && !stdout(&plain).contains("solver: "));
    assert!(stderr(&plain).is_empty(), "{}", stderr(&plain));
    let said = stderr(&told);
    for what in [
        "read coreach.yaml: ",
        "read specification.yaml: ",
        "read open_after_wrong.yaml: ",
        "reading and checking: ",
        "open_after_wrong with polyhedra: test_case: 9 locations, 34 transitions, ",
        "solver: ",
        "wrote out/open_after_wrong/test_case.yaml: ",
    ] {
        assert!(
            said.lines().any(|line| line.starts_with('[') && line.contains(&format!("] {what}"))),
            "{what}: {said}"
        );
    }
    let tested = here(&["test", "coreach.yaml", "--iut", "iut.yaml", "--verbose"]);
    assert!(stderr(&tested).contains("] launched python3 locker.py"), "{}", stderr(&tested));
    // A document stays one.
    let document = here(&["run", "coreach.yaml", "--format", "json", "--verbose"]);
    assert!(serde_json::from_str::<serde_json::Value>(&stdout(&document)).is_ok());
}
