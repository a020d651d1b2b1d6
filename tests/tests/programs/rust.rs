//! Files of Rust. One of them is a part of this program (`generated.rs`): it is compiled by cargo as a user's
//! would be, and run here as `cargo test` runs it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use coreach_execution::trial::Trial;
use coreach_execution::{Settings, TestCase};

use super::made::{Case, coffee, nasty, root};
use super::python::Folder;

#[test]
fn the_generator_still_writes_the_file_that_is_compiled() {
    let path = root().join("tests/tests/programs/generated.rs");
    let program = coffee().rust.unwrap();
    if std::env::var_os("COREACH_BLESS").is_some() {
        fs::write(&path, &program).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap() == program, "scripts/bless writes {} anew", path.display());
}

/// Runs the generated test, as `cargo test -- --ignored` does.
fn tested(iut: Option<&Path>) -> Output {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "--exact",
        "programs::generated::test_coffee_machine_deliver_coffee",
        "--ignored",
        "--nocapture",
    ]);
    command.env_remove("COREACH_IUT");
    if let Some(iut) = iut {
        command.env("COREACH_IUT", format!("python3 '{}'", iut.display()));
    }
    command.output().unwrap()
}

#[test]
fn the_compiled_file_runs_against_a_command() {
    let right = root().join("examples/coffee_machine/iut.py");
    let output = tested(Some(&right));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(
        text.matches("Pass: Deliver(COFFEE) in <Delivery,Begin> meets the purpose").count(),
        10,
        "{text}"
    );

    let folder = Folder::new("rust");
    let iut = fs::read_to_string(&right).unwrap();
    let wrong = folder.file("wrong.py", &iut.replace("paid - price)", "paid - price + 1)"));
    let output = tested(Some(&wrong));
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success(), "{text}");
    assert!(text.contains("Fail: expected pRemainingValue = "), "{text}");
    assert!(text.contains("does not hold: "), "{text}");

    let output = tested(None);
    let text = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && text.contains("COREACH_IUT names no command"), "{text}");
}

/// The raw string of a file, as Rust reads it: up to its quote with as many signs `#`.
fn embedded(program: &str) -> &str {
    let (_, rest) = program.split_once("const TEST_CASE: &str = r").unwrap();
    let hashes = rest.chars().take_while(|sign| *sign == '#').count();
    let rest = &rest[hashes + 1..];
    let end = format!("\"{}", "#".repeat(hashes));
    let (document, behind) = rest.split_once(&end).unwrap();
    assert_eq!(behind, ";\n");
    document
}

/// What the crate reads out of the file is the test case.
pub fn holds_its_document(case: &Case) {
    let program = case.rust.as_ref().unwrap_or_else(|why| panic!("{}: {why}", case.name));
    assert!(embedded(program) == case.document, "{}", case.name);
    assert!(!program.contains('\r'), "{}", case.name);
    assert!(!program.chars().any(|sign| sign != '\n' && coreach_model::visible::is_hidden_sign(sign)));
    TestCase::from_json(embedded(program).as_bytes()).unwrap();
    let _ = Trial::of(embedded(program)).unwrap().settings(Settings::default());
}

#[test]
fn names_and_texts_of_a_model_do_not_matter_to_rust() {
    holds_its_document(&nasty());
}
