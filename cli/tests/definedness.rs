//! Operations without a value, from the text to the verdict: what the page on the format forbids there is
//! Fail, what it leaves open is never sent, and a test with such constants does not begin.
//!
//! Each text has a shape that is true wherever it has a value. What simplifies it must not forget where it
//! has none.

#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::path::PathBuf;
use std::process::Command;

/// A folder of a test's own, gone at its end.
struct Folder(PathBuf);

impl Folder {
    /// With a specification, a purpose, a configuration, and an implementation that is a model.
    fn new(name: &str, specification: &str, purpose: &str, implementation: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coreach-defined-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        let configuration = "specification: specification.yaml\npurpose: purpose.yaml\n";
        let iut = "iut: model\nsimulated: { model: model.yaml }\n";
        for (file, text) in [
            ("specification.yaml", specification),
            ("purpose.yaml", purpose),
            ("coreach.yaml", configuration),
            ("model.yaml", implementation),
            ("iut.yaml", iut),
        ] {
            std::fs::write(path.join(file), text).unwrap();
        }
        Folder(path)
    }

    /// Runs the program here; its exit code, and all that it says.
    fn coreach(&self, arguments: &[&str]) -> (Option<i32>, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_coreach"));
        let output = command.args(arguments).current_dir(&self.0).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8(said).unwrap())
    }

    /// Many runs against the model.
    #[track_caller]
    fn test_ends_with(&self, code: i32, more: &[&str]) {
        let runs = ["test", "coreach.yaml", "--iut", "iut.yaml", "--runs", "30", "--patience", "1"];
        let arguments = [&runs[..], &["--quiescence", "20"], more].concat();
        let (found, said) = self.coreach(&arguments);
        assert_eq!(found, Some(code), "{said}");
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Shapes that are true for every `vX` but 0, and have no value there.
const SHAPES: [&str; 8] = [
    "10 div vX == 10 div vX",
    "10 div vX > 1 || 10 div vX <= 1",
    "10 div vX > 1 || true",
    "10 mod vX > 1 => true",
    "(if 10 div vX > 1 then 3 else 3) == 3",
    "0 * (10 div vX) == 0",
    "vA[vX - 1 := 5][vX - 1] == 5",
    "vA[0 := vX - 1][0 := 7][0] == 7",
];

/// Asked for a number, it says one, where the condition allows it, or nothing that counts.
fn asking(least: i32, condition: &str) -> String {
    format!(
        "iosts: asking
variables: {{ vX: \"int[0..3]\", vA: \"array[nat] of nat\" }}
initial: {{ location: Idle, condition: vX == 0 }}
inputs: {{ Ask: {{ pX: \"int[0..3]\", pA: \"array[nat] of nat\" }} }}
outputs: {{ Say: {{}}, Refuse: {{}} }}
transitions:
  - {{ from: Idle, to: Asked, on: Ask, when: pX >= {least}, assign: {{ vX: pX, vA: pA }} }}
  - {{ from: Asked, to: Idle, on: Say, when: \"{condition}\" }}
  - {{ from: Asked, to: Idle, on: Refuse }}
"
    )
}

const ACCEPT_ANSWERS: &str = "purpose: answers
of: asking
initial: { location: Begin }
transitions:
  - { from: Begin, to: Accept, on: Say }
  - { from: Begin, to: Accept, on: Refuse }
";

/// A test is about the system. Each warning about the model is a line of it, or is only counted.
#[test]
fn a_test_tells_warnings_in_a_line_each() {
    let folder = Folder::new("warnings", &asking(0, SHAPES[0]), ACCEPT_ANSWERS, &asking(0, "true"));
    let test = ["test", "coreach.yaml", "--iut", "iut.yaml", "--events", "2"];
    for (more, is_told, is_whole) in
        [(None, true, false), (Some("--quiet"), false, false), (Some("-v"), true, true)]
    {
        let (_, said) = folder.coreach(&test.into_iter().chain(more).collect::<Vec<_>>());
        assert_eq!(said.contains("has no value in some states"), is_told, "{said}");
        assert_eq!(said.contains("domain-not-implied"), is_whole, "{said}");
        assert_eq!(said.contains("1 warning about the model: `-v`"), !is_whole, "{said}");
    }
}

#[test]
fn an_output_whose_guard_has_no_value_fails() {
    for (number, shape) in SHAPES.iter().enumerate() {
        let says =
            |condition: &str| asking(0, condition).replace("  - { from: Asked, to: Idle, on: Refuse }\n", "");
        let name = format!("output-{number}");
        let folder = Folder::new(&name, &asking(0, shape), ACCEPT_ANSWERS, &says("true"));
        folder.test_ends_with(1, &[]);
        // The warning about it names the transition, and with 0 left out all is well.
        let (code, said) = folder.coreach(&["check", "specification.yaml"]);
        assert!(code == Some(0) && said.contains("domain-not-implied"), "{shape}: {said}");
        let folder = Folder::new(&name, &asking(1, shape), ACCEPT_ANSWERS, &says("true"));
        folder.test_ends_with(0, &[]);
    }
}

#[test]
fn an_output_whose_assignment_has_no_value_fails() {
    let assigns = |value: &str| {
        asking(0, "true")
            .replace("variables: { ", "variables: { vB: bool, ")
            .replace("when: \"true\"", &format!("assign: {{ vB: \"{value}\" }}"))
    };
    for (number, shape) in SHAPES.iter().enumerate() {
        let says = assigns("true").replace("  - { from: Asked, to: Idle, on: Refuse }\n", "");
        let folder = Folder::new(&format!("assigned-{number}"), &assigns(shape), ACCEPT_ANSWERS, &says);
        folder.test_ends_with(1, &[]);
    }
}

/// The system does as it likes with an input that the specification does not take.
#[test]
fn an_input_whose_guard_has_no_value_is_never_sent() {
    let putting = |condition: &str, more: &str| {
        format!(
            "iosts: putting
types: {{ Shelf: \"int[0..9]\" }}
variables: {{ vA: \"array[Shelf] of int\" }}
initial: {{ location: Idle }}
inputs: {{ Fill: {{ pA: \"array[Shelf] of int\" }}, Put: {{ x: int }} }}
outputs: {{ Done: {{}}, Bad: {{}} }}
transitions:
  - {{ from: Idle, to: Full, on: Fill, assign: {{ vA: pA }} }}
  - {{ from: Full, to: Kept, on: Put, when: \"{condition}\" }}
  - {{ from: Kept, to: Idle, on: Done }}
{more}"
        )
    };
    let purpose = "purpose: done
of: putting
initial: { location: Begin }
transitions:
  - { from: Begin, to: Accept, on: Done }
";
    let implementation = putting(
        "0 <= x <= 9",
        "  - { from: Full, to: Spilt, on: Put, when: \"x < 0 || x > 9\" }
  - { from: Spilt, to: Idle, on: Bad }
",
    );
    for (number, shape) in
        ["vA[x := 5][x] == 5", "vA[x] == vA[x]", "vA[x] > 1 || vA[x] <= 1", "vA[x := 1][0 := 2][0] == 2"]
            .iter()
            .enumerate()
    {
        let specification = putting(shape, "  - { from: Idle, to: Idle, on: Bad, when: \"false\" }\n");
        let folder = Folder::new(&format!("input-{number}"), &specification, purpose, &implementation);
        folder.test_ends_with(0, &[]);
    }
}

#[test]
fn a_purpose_whose_guard_has_no_value_does_not_accept() {
    let saying = "iosts: saying
variables: {}
initial: { location: Idle }
inputs: { Ask: {} }
outputs: { Say: { r: \"int[0..3]\" } }
transitions:
  - { from: Idle, to: Asked, on: Ask }
  - { from: Asked, to: Idle, on: Say }
";
    let purpose = "purpose: good
of: saying
initial: { location: Begin }
transitions:
  - { from: Begin, to: Accept, on: Say, when: \"10 div r == 10 div r\" }
";
    let zero = saying.replace("on: Say }", "on: Say, when: r == 0 }");
    Folder::new("purpose-zero", saying, purpose, &zero).test_ends_with(3, &[]);
    let others = saying.replace("on: Say }", "on: Say, when: r != 0 }");
    Folder::new("purpose-others", saying, purpose, &others).test_ends_with(0, &[]);
}

#[test]
fn no_run_begins_where_the_initial_condition_has_no_value() {
    let starting = "iosts: starting
constants: { cK: \"int[0..3]\" }
initial: { location: Idle, condition: \"10 div cK == 10 div cK\" }
inputs: { Ask: {} }
outputs: { Say: {} }
transitions:
  - { from: Idle, to: Asked, on: Ask }
  - { from: Asked, to: Idle, on: Say, when: cK != 0 }
";
    let purpose = "purpose: said
of: starting
initial: { location: Begin }
transitions:
  - { from: Begin, to: Accept, on: Say }
";
    let folder = Folder::new("initial", starting, purpose, starting);
    folder.test_ends_with(0, &[]);
    folder.test_ends_with(9, &["--constant", "cK=0"]);
    // The other way to fix a constant.
    let fixed = "specification: specification.yaml\npurpose: purpose.yaml\ninstantiate: { cK: 0 }\n";
    std::fs::write(folder.0.join("coreach.yaml"), fixed).unwrap();
    let (code, said) = folder.coreach(&["run", "coreach.yaml", "--out", "out"]);
    assert!(code != Some(0), "{said}");
    // A purpose's own initial condition, too.
    let unguarded = starting.replace("\"10 div cK == 10 div cK\"", "\"true\"").replace(", when: cK != 0", "");
    let purpose = purpose.replace(
        "initial: { location: Begin }",
        "constants: { cP: \"int[0..3]\" }\ninitial: { location: Begin, condition: \"10 div cP > 1 || true\" }",
    );
    let folder = Folder::new("initial-purpose", &unguarded, &purpose, &unguarded);
    folder.test_ends_with(0, &[]);
    folder.test_ends_with(9, &["--constant", "cP=0"]);
}
