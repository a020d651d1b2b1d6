//! What has to be touched to add a domain, an export, a stage, a verdict, an adapter or a kind of file.
//!
//! A file that names *every* one of them (every stage, every verdict) decides for each what it means there; a
//! new one has to be decided there too. These files are counted here: they are the ones that
//! `docs/dev/architecture.md` names, and a file that joins them fails the test. What is declared in a list,
//! from which names and functions follow, has no such file but the list.
#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::fs;
use std::path::{Path, PathBuf};

use coreach_analyses::domains::DomainKind;
use coreach_analyses::reachability::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::Verdict;
use coreach_pipeline::export::Format;
use coreach_pipeline::{Stage, generate};
use coreach_project::file_kind::FileKind;
use coreach_tests::source::read_text;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The sources of all crates of ours, by their paths from the root.
fn sources() -> Vec<(String, String)> {
    const FOLDERS: [&str; 8] =
        ["model", "analyses", "adapters", "pipeline", "execution", "project", "cli", "tests/src"];
    let mut found = Vec::new();
    let mut work: Vec<PathBuf> = FOLDERS.iter().map(|folder| root().join(folder)).collect();
    work.retain(|folder| folder.exists());
    while let Some(folder) = work.pop() {
        for entry in fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            // Tests may look at one in particular, and at all of them.
            if path.is_dir() && !path.ends_with("tests") && !path.ends_with("examples") {
                work.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path.strip_prefix(root()).unwrap().to_string_lossy().into_owned();
                found.push((name, fs::read_to_string(&path).unwrap()));
            }
        }
    }
    found.sort();
    found
}

/// Does the text mention the path `Stage::Close`, and not only a longer one?
fn mentions(text: &str, path: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(path)
        .any(|(at, _)| !text[..at].ends_with(is_part) && !text[at + path.len()..].starts_with(is_part))
}

/// The variants of an enumeration, as its source declares them.
fn variants(file: &str, name: &str) -> Vec<String> {
    let text = fs::read_to_string(root().join(file)).unwrap();
    let (_, body) = text.split_once(&format!("pub enum {name} {{\n")).unwrap();
    let (body, _) = body.split_once("\n}").unwrap();
    let lines = body.lines().filter_map(|line| line.strip_prefix("    "));
    let lines = lines.filter(|line| line.starts_with(char::is_uppercase));
    lines.map(|line| line.chars().take_while(|c| c.is_alphanumeric()).collect()).collect()
}

fn all<T: std::fmt::Debug>(name: &str, every: &[T]) -> Vec<String> {
    every.iter().map(|one| format!("{name}::{one:?}")).collect()
}

/// The files that name every one.
fn decide(every: &[String]) -> Vec<String> {
    assert!(every.len() > 2, "{every:?}");
    let names_all = |text: &str| every.iter().all(|one| mentions(text, one));
    sources().into_iter().filter(|(_, text)| names_all(text)).map(|(name, _)| name).collect()
}

/// The row of the table in `docs/dev/architecture.md`.
fn row(what: &str) -> String {
    let text = fs::read_to_string(root().join("docs/dev/architecture.md")).unwrap();
    let found = text.lines().find(|line| line.starts_with(&format!("| {what} |")));
    found.unwrap_or_else(|| panic!("docs/dev/architecture.md has no row `{what}`")).to_owned()
}

/// The files are those that are expected, and the documents name them.
fn touched(what: &str, every: &[String], expected: &[&str], lists: &[&str]) {
    assert_eq!(decide(every), expected, "files that decide something for {what} of every kind");
    let row = row(what);
    for path in expected.iter().chain(lists) {
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        let is_named = row.contains(&format!("`{path}`")) || row.contains(&format!("`{folder}/`"));
        assert!(is_named, "the row `{what}` does not name `{path}`: {row}");
        assert!(root().join(path).exists(), "{path}");
    }
}

#[test]
fn an_export_is_a_file_and_a_line() {
    touched("an export", &all("Format", &Format::ALL), &[], &["pipeline/src/export/mod.rs"]);
}

#[test]
fn a_domain_is_a_file_and_a_line() {
    // Those of APRON are in builds with it only.
    let own: Vec<DomainKind> =
        DomainKind::ALL.iter().copied().filter(|kind| !kind.name().starts_with("apron")).collect();
    touched("a domain", &all("DomainKind", &own), &[], &["analyses/src/domains/mod.rs"]);
}

#[test]
fn a_stage_is_a_file_a_type_a_line_and_a_call() {
    touched(
        "a stage",
        &all("Stage", &Stage::ALL),
        &[
            "pipeline/src/lib.rs",
            "tests/src/properties/artifacts.rs",
            "tests/src/tampering/damage.rs",
            "tests/src/tampering/mod.rs",
        ],
        &[
            "pipeline/src/artifact.rs",
            "pipeline/src/check/mod.rs",
            "pipeline/src/stage.rs",
            "pipeline/src/stages/mod.rs",
        ],
    );
}

#[test]
fn a_verdict_is_decided_where_the_documents_say() {
    // A test case has three: who knows all of these may have to know a new one, too.
    let of_test_cases: Vec<Verdict> =
        Verdict::ALL.into_iter().filter(|verdict| *verdict != Verdict::WeakPass).collect();
    touched(
        "a verdict",
        &all("Verdict", &of_test_cases),
        &[
            "cli/src/commands/test/hints.rs",
            "cli/src/exit.rs",
            "execution/src/campaign/summary.rs",
            "execution/src/explain.rs",
            "execution/src/judge/case.rs",
            "execution/src/judge/online.rs",
            "execution/src/junit.rs",
            "execution/src/offline/verdict.rs",
            "execution/src/outcome.rs",
            "execution/src/planner/goal.rs",
            "execution/src/planner/listed.rs",
            "execution/src/timed/driver.rs",
            "pipeline/src/artifact.rs",
            "pipeline/src/check/test_case.rs",
            "pipeline/src/check/test_graph.rs",
            "pipeline/src/export/dot.rs",
            "pipeline/src/export/json.rs",
            "pipeline/src/stages/input_complete.rs",
            "pipeline/src/timed/rules.rs",
            "project/src/making.rs",
            "tests/src/brute/execution.rs",
            "tests/src/properties/online.rs",
            "tests/src/properties/queues.rs",
            "tests/src/symbolic/cover.rs",
            "tests/src/tampering/damage.rs",
            "tests/src/timed.rs",
        ],
        &[],
    );
}

#[test]
fn an_adapter_is_opened_and_read_in_one_place_each() {
    let ways = variants("adapters/src/description.rs", "Transport");
    let ways: Vec<String> = ways.iter().map(|way| format!("Transport::{way}")).collect();
    touched(
        "an adapter",
        &ways,
        &["adapters/src/description.rs", "execution/src/open.rs"],
        &["project/src/iut.rs"],
    );
}

#[test]
fn a_kind_of_file_is_told_in_one_place() {
    let kinds = all("FileKind", &FileKind::ALL);
    touched("a kind of file", &kinds, &["project/src/file_kind.rs", "project/src/outputs.rs"], &[]);
}

/// The list and the calls are two orders: they are one.
#[test]
fn stages_are_called_in_the_order_of_their_list() {
    let text = |name: &str| fs::read_to_string(root().join("examples/coffee_machine").join(name)).unwrap();
    let input = read_text(text("specification.yaml"), text("deliver_coffee.yaml")).unwrap();
    let options = coreach_pipeline::StageOptions {
        max_lookahead: 8,
        analysis: Analysis::default(),
        limits: Default::default(),
        check: false,
    };
    let mut begun = Vec::new();
    let made =
        generate(&input.specification, input.purpose, &options, &mut Z3Solver::default(), &mut |stage| {
            begun.push(stage);
        });
    assert!(made.is_ok());
    assert_eq!(begun, Stage::ALL);
}
