//! Every condition of every exported document is SMT-LIB: two solvers read it and find its sorts right, Z3
//! and cvc5 (Debian's package, as a process; `scripts/setup` installs it).
//!
//! All examples: each stage of one purpose (of each in `scripts/test --thorough`), and path-guided test
//! cases, also in the shape of the authors' tool. Each condition is read with the declarations that the
//! document gives for it, and nothing else.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use std::collections::HashSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use coreach_analyses::solver::z3::Z3Solver;
use coreach_artifact::Document;
use coreach_artifact::document::Condition as Stated;
use coreach_model::SourceFile;
use coreach_model::reader::read_timed_specification;
use coreach_pipeline::Stage;
use coreach_pipeline::export::sptg::{Guards, to_sptg};
use coreach_pipeline::export::{View, json};
use coreach_pipeline::timed::{PathGuided, SilenceAfter, TimedOptions, path_guided, resolve};
use coreach_project::file_kind::{FileKind, kind_of};
use coreach_project::making::make;
use coreach_project::project::load;
use coreach_tests::effort::is_thorough;
use serde_json::Value;

/// A condition with what declares it: commands, of which the last ones assert. How many do?
struct Condition {
    place: String,
    lines: Vec<String>,
}

impl Condition {
    fn assertions(&self) -> usize {
        self.lines.iter().map(|line| line.matches("(assert ").count()).sum()
    }
}

fn condition(place: String, declared: &[String], stated: &Stated, is_boolean: bool) -> Condition {
    let mut lines = [declared, &stated.declarations].concat();
    lines.extend(stated.constraints.iter().map(|one| format!("(assert {one})")));
    let text = &stated.smtlib;
    lines.push(if is_boolean { format!("(assert {text})") } else { format!("(assert (= {text} {text}))") });
    Condition { place, lines }
}

/// All conditions of one of our documents, in its readable form.
fn of_document(name: &str, view: &View<'_>) -> Vec<Condition> {
    let document: Document = serde_json::from_str(&json::readable_json(view)).unwrap();
    let readable = document.readable.unwrap();
    let is = |term: usize| readable.conditions.iter().find(|one| one.term == term).unwrap();
    let declared = &readable.declarations;
    let mut found =
        vec![condition(format!("{name}: initial"), declared, is(document.initial.condition), true)];
    for location in &document.locations {
        for fact in location.reach.into_iter().chain(location.coreach).chain(location.must_answer) {
            found.push(condition(format!("{name}: a fact of {}", location.name), declared, is(fact), true));
        }
    }
    for (number, transition) in document.transitions.iter().enumerate() {
        let all = [&declared[..], &readable.parameters[transition.action]].concat();
        let place = |what: &str| format!("{name}: transition {number}, {what}");
        found.push(condition(place("guard"), &all, is(transition.guard), true));
        for assignment in &transition.assignments {
            found.push(condition(place("assignment"), &all, is(assignment.value), false));
        }
    }
    found
}

/// All guards of a document in the shape of the authors' tool: whole texts.
fn of_theirs(name: &str, document: &Value) -> Vec<Condition> {
    let mut found = Vec::new();
    for state in document["TESTCASE"]["states"].as_array().unwrap() {
        for transition in state["transitions"].as_array().unwrap() {
            for guard in ["timed_guard", "guard"] {
                let lines = vec![transition[guard].as_str().unwrap().to_owned()];
                found.push(Condition { place: format!("{name}: {} {guard}", transition["name"]), lines });
            }
        }
    }
    found
}

/// Z3 leaves out what it does not understand, so what it took is counted.
fn read_by_z3(conditions: &[Condition]) {
    for condition in conditions {
        let solver = z3::Solver::new();
        let text = condition.lines.join("\n");
        solver.from_string(text.clone());
        assert_eq!(solver.get_assertions().len(), condition.assertions(), "{}\n{text}", condition.place);
    }
}

/// cvc5 as a process: does it read all of this? Its message, where it does not.
fn cvc5(script: &str) -> Result<(), String> {
    let arguments = ["--lang", "smt2", "--incremental", "--parse-only", "-"];
    let mut process = Command::new("cvc5")
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap_or_else(|error| {
            panic!("cvc5 is needed, and cannot be started ({error}): scripts/setup installs it")
        });
    let mut input = process.stdin.take().unwrap();
    let text = script.to_owned();
    let writer = std::thread::spawn(move || input.write_all(text.as_bytes()));
    let output = process.wait_with_output().unwrap();
    // It may have ended before it had read all.
    let _ = writer.join().unwrap();
    let said =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if output.status.success() && !said.contains("error") { Ok(()) } else { Err(said) }
}

fn script(conditions: &[Condition]) -> String {
    let mut text = String::from("(set-logic ALL)\n");
    for condition in conditions {
        text += &format!("(push 1)\n{}\n(pop 1)\n", condition.lines.join("\n"));
    }
    text
}

fn read_by_cvc5(conditions: &[Condition]) {
    let Err(all) = cvc5(&script(conditions)) else { return };
    for condition in conditions {
        let one = script(std::slice::from_ref(condition));
        if let Err(said) = cvc5(&one) {
            panic!("{}: {said}\n{one}", condition.place);
        }
    }
    panic!("{all}");
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The configurations of the examples.
fn configurations() -> Vec<PathBuf> {
    let mut found = Vec::new();
    let folders = fs::read_dir(root().join("examples")).unwrap().map(|folder| folder.unwrap().path());
    for folder in folders.filter(|folder| folder.is_dir()) {
        for file in fs::read_dir(folder).unwrap() {
            let path = file.unwrap().path();
            let is_yaml = path.extension().is_some_and(|extension| extension == "yaml");
            let Some(file) = is_yaml.then(|| coreach_model::reader::load(&path).ok()).flatten() else {
                continue;
            };
            if matches!(kind_of(&file), Ok(FileKind::Configuration)) {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// Makes the path-guided test cases of an example.
fn guided(model: &str, paths: &[&str]) -> Vec<(String, PathGuided)> {
    let file = root().join("examples").join(model).join("specification.yaml");
    let source = SourceFile { name: model.to_owned(), text: fs::read_to_string(file).unwrap() };
    let timed = read_timed_specification(source.into()).unwrap().0.timed;
    let mut found = Vec::new();
    for path in paths {
        for silence_after in [SilenceAfter::Constant, SilenceAfter::Time(5.into())] {
            let options = TimedOptions { silence_after, published: false, check: false };
            let steps = resolve(&timed, path).unwrap();
            let made = path_guided(&timed, &steps, &options, &mut Z3Solver::default()).unwrap();
            found.push((format!("{model} {path}"), made));
        }
    }
    found
}

#[test]
fn two_solvers_read_every_condition_of_every_stage() {
    let mut count = 0;
    // Most conditions of a stage are those of the one before.
    let mut seen = HashSet::new();
    for path in configurations() {
        let Ok((project, _)) = load(&path) else { panic!("{}", path.display()) };
        let mut conditions = Vec::new();
        let few = if is_thorough() { usize::MAX } else { 1 };
        for purpose in project.purposes.iter().take(few) {
            let Ok(made) = make(&project, purpose, project.options.analysis.domain, false, &|_| {}) else {
                continue;
            };
            for stage in Stage::ALL {
                let name = format!("{} {} {}", path.display(), purpose.iosts.name, stage.artifact());
                conditions.extend(of_document(&name, &View::of(&made.generation, stage)));
            }
        }
        conditions.retain(|condition| seen.insert(condition.lines.clone()));
        read_by_z3(&conditions);
        read_by_cvc5(&conditions);
        count += conditions.len();
    }
    assert!(count > 1_000, "{count}");
}

#[test]
fn two_solvers_read_every_guard_of_path_guided_test_cases() {
    let paths = ["tr1,tr2,tr3,tr4", "(tr8 tr9)*2", "tr1,tr11,tr3,tr5,(tr1 tr2 tr6)*2"];
    let mut count = 0;
    for (name, made) in guided("atm_timed", &paths) {
        let theirs: Value = serde_json::from_str(&to_sptg(&made, Guards::SmtLib)).unwrap();
        let mut conditions = of_document(&name, &View::of_path(&made));
        conditions.extend(of_theirs(&name, &theirs));
        read_by_z3(&conditions);
        read_by_cvc5(&conditions);
        count += conditions.len();
    }
    assert!(count > 600, "{count}");
}

/// What must not be taken: a test that cannot fail proves nothing.
#[test]
fn what_is_no_term_is_refused() {
    let said = |lines: &[&str]| Condition {
        place: String::new(),
        lines: lines.iter().map(|line| (*line).to_owned()).collect(),
    };
    for lines in [
        // As the authors' tool writes it: no symbol, and declared twice.
        vec!["(declare-const $1 Int)(declare-const $1 Int)(assert (< $1 2))"],
        vec!["(declare-const x Int)", "(assert (< x true))"],
        vec!["(declare-const x Bool)", "(assert (+ x 1))"],
        vec!["(assert (< unknown 1))"],
        vec!["(declare-const x Int)", "(assert (< x 1)"],
    ] {
        assert!(cvc5(&script(&[said(&lines)])).is_err(), "{lines:?}");
    }
    assert!(cvc5(&script(&[said(&["(declare-const x Int)", "(assert (< x 1))"])])).is_ok());
}
