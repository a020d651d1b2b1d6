//! Files of Python.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use coreach_tests::effort;

use super::made::{
    Case, coffee, nasty, of_pairs_with_collections, of_pairs_with_ids, of_pairs_with_strings,
    of_random_pairs, root, strings,
};
use super::traces::{Judgement, judged};

/// A folder of its own, removed at the end.
pub struct Folder(pub PathBuf);

impl Folder {
    pub fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("coreach-programs-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn python() -> Command {
    let mut command = Command::new("python3");
    command.env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// Shows the traces to the judge in the file.
fn compared(file: &Path, judgements: &[Judgement], how: &str) -> Output {
    let mut child = python()
        .arg(root().join("tests/tests/programs/judge.py"))
        .arg(file)
        .arg(how)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let lines: String = judgements.iter().map(|one| format!("{}\n", one.line)).collect();
    let writer = std::thread::spawn(move || {
        // Who has seen a difference reads no further.
        let _ = input.write_all(lines.as_bytes());
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

fn text(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

/// Judges all traces of the case twice, and counts verdicts.
pub fn same_verdicts(
    folder: &Folder,
    case: &Case,
    runs: u64,
    changes: usize,
    how: &str,
    counts: &mut Counts,
) -> Vec<Judgement> {
    let program = case.python.as_ref().unwrap();
    let file = folder.file("test_case.py", program);
    let judgements = judged(&case.test(), &case.specification, runs, changes);
    assert!(!judgements.is_empty(), "{}: no trace", case.name);
    let output = compared(&file, &judgements, how);
    assert!(output.status.success(), "{}: {}", case.name, text(&output));
    assert_eq!(String::from_utf8_lossy(&output.stdout), format!("{} alike\n", judgements.len()));
    for one in &judgements {
        *counts.entry(one.verdict).or_default() += 1;
    }
    judgements
}

pub type Counts = BTreeMap<Option<&'static str>, usize>;

/// Faults of an interpreter: what stands in `runtime.py`, what stands there then, and a word of the data
/// without which nobody meets it. Comparing traces must show each. (That an operation has no value decides
/// nothing in a test case: what it needs stands in the guard before it.)
const FAULTS: [(&str, &str, &str); 10] = [
    ("return a % abs(b)", "return a % b if b > 0 else -(-a % -b)", "(\"mod\""),
    ("(a - remainder(a, b)) // b", "-(-a // b) if b else remainder(a, b)", "(\"div\""),
    ("            if value == (operation == \"or\"):\n                break", "            pass", "(\"or\""),
    ("behind[name] = evaluate(term, data)", "behind[name] = evaluate(term, {**data, **behind})", "TERMS"),
    ("if not evaluate(transition.guard, data):", "if evaluate(transition.guard, data) is None:", "TERMS"),
    ("return self.cells.get(index, self.default)", "return self.default", "(\"select\""),
    ("if verdict in (\"Inconclusive\", \"Fail\"):", "if verdict == \"Fail\":", "TERMS"),
    ("value = -evaluate(parts[0], data, known)", "value = evaluate(parts[0], data, known)", "(\"negative\""),
    (
        "evaluate(parts[1] if evaluate(parts[0], data, known) else parts[2], data, known)",
        "evaluate(parts[2], data, known)",
        "(\"if\"",
    ),
    (
        "self.location, self.data = transition.target, behind\n",
        "self.location = transition.target\n",
        "TERMS",
    ),
];

/// Random pairs have what examples have not. And were the interpreter wrong, the comparison would show it.
#[test]
fn python_judges_random_pairs_as_we_do_and_a_wrong_one_does_not() {
    let folder = Folder::new("random");
    let mut counts = Counts::new();
    let mut unseen = FAULTS.to_vec();
    let mut random = of_random_pairs(0..68);
    if !effort::is_thorough() {
        // The first ones show all faults. A later one has an operation that they have not.
        let mut rest = random.split_off(34).into_iter();
        random
            .extend(rest.find(|case| case.python.as_ref().is_ok_and(|text| text.contains("(\"to real\", "))));
    }
    let cases = random.into_iter().chain(of_pairs_with_strings(0..6));
    let cases = cases.chain(of_pairs_with_collections(0..8)).chain(of_pairs_with_ids(0..6));
    let cases: Vec<Case> = [nasty(), strings()].into_iter().chain(cases).collect();
    every_operation_is_in_some(&cases);
    for case in cases {
        let judgements = same_verdicts(&folder, &case, 3, 6, "any-beginning", &mut counts);
        let program = case.python.as_ref().unwrap();
        let (data, _) = program.split_once("# -----").unwrap();
        unseen.retain(|(right, wrong, word)| {
            assert_eq!(program.matches(right).count(), 1, "{right}");
            if !data.contains(word) {
                return true;
            }
            let file = folder.file("wrong.py", &program.replace(right, wrong));
            compared(&file, &judgements, "any-beginning").status.success()
        });
    }
    println!("{counts:?}");
    assert!(unseen.is_empty(), "nothing shows these faults: {unseen:#?}");
    for verdict in [Some("Pass"), Some("Inconclusive"), Some("Fail"), None] {
        assert!(counts.get(&verdict).copied().unwrap_or(0) > 20, "{counts:?}");
    }
}

/// What a term can be: an operation that no random pair has would be held by nobody.
fn every_operation_is_in_some(cases: &[Case]) {
    let programs: Vec<&String> = cases.iter().map(|case| case.python.as_ref().unwrap()).collect();
    let words = [
        "value", "data", "record", "not", "and", "or", "==", "!=", "<", "<=", ">", ">=", "if", "+", "-", "*",
        "/", "div", "mod", "negative", "to real", "select", "store", "field", "len", "at", "slice", "to_int",
    ];
    let longer = "concatenate starts_with ends_with contains index_of to_string";
    for word in words.into_iter().chain(longer.split(' ')) {
        let line = format!("    (\"{word}\", ");
        let found = programs.iter().filter(|program| program.contains(&line)).count();
        assert!(found > 0, "no case has `{word}`");
    }
}

#[test]
fn names_and_texts_of_a_model_do_not_matter_to_python() {
    let folder = Folder::new("nasty");
    let case = nasty();
    let program = case.python.as_ref().unwrap();
    assert!(!program.chars().any(|sign| sign != '\n' && coreach_model::visible::is_hidden_sign(sign)));
    let mut counts = Counts::new();
    same_verdicts(&folder, &case, 10, 10, "any-beginning", &mut counts);
    println!("{counts:?}");
    assert!(counts.len() >= 3, "{counts:?}");
}

/// A run of a file against a program, with these arguments before `--`.
fn run(folder: &Folder, case: &Case, arguments: &[&str], iut: &Path) -> Output {
    let file = folder.file("test_case.py", case.python.as_ref().unwrap());
    python().arg(file).args(arguments).args(["--", "python3"]).arg(iut).output().unwrap()
}

const QUICK: [&str; 2] = ["--quiescence", "0.3"];

#[test]
fn a_file_of_python_runs_by_itself_against_a_command() {
    let folder = Folder::new("runs");
    let (case, right) = (coffee(), root().join("examples/coffee_machine/iut.py"));
    let output = run(&folder, &case, &["--runs", "5", "--constant", "cPrice=3"], &right);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output));
    assert_eq!(text(&output).matches("Pass: Deliver(").count(), 5, "{}", text(&output));
    assert!(text(&output).contains("cPrice = 3"), "{}", text(&output));

    // One that keeps a coin too many.
    let iut = fs::read_to_string(&right).unwrap();
    let wrong = folder.file("wrong.py", &iut.replace("paid - price)", "paid - price + 1)"));
    let output = run(&folder, &case, &QUICK, &wrong);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("Fail: the specification does not allow Return("), "{said}");
    assert!(said.contains("allowed instead:\n  Return(pRemainingValue) when vPaid >= cPrice"), "{said}");

    // One that sends what is no event, one that is silent, one that ends, one that says what is no message.
    let habit = |name: &str, body: &str| {
        let program = format!(
            "import json, sys\nsys.stdin.readline()\nprint('{{\"ready\": true}}', flush=True)\nfor line in sys.stdin:\n    {body}\n"
        );
        run(&folder, &case, &QUICK, &folder.file(name, &program))
    };
    for (name, body, code, says) in [
        (
            "alien.py",
            "print('{\"output\": \"Nothing\"}', flush=True)",
            1,
            "is not an output of the specification",
        ),
        (
            "type.py",
            "print('{\"output\": \"Return\", \"values\": {\"pRemainingValue\": -1}}', flush=True)",
            1,
            "expected a value of type nat, not -1",
        ),
        ("silent.py", "pass", 3, "Inconclusive: silence in <Pay,Begin>"),
        ("ends.py", "sys.exit(0)", 4, "RunError: the implementation has closed its output"),
        ("garbage.py", "print('{\"output\": 5, \"output\": 5}', flush=True)", 4, "a key appears twice"),
    ] {
        let output = habit(name, body);
        let said = text(&output);
        assert_eq!(output.status.code(), Some(code), "{name}: {said}");
        assert!(said.contains(says), "{name}: {said}");
    }
}

/// A guard that draws and repairs do not satisfy is no failure of anybody's.
#[test]
fn where_no_values_are_found_the_run_is_inconclusive_and_says_so() {
    let folder = Folder::new("draws");
    let specification = "
iosts: cube
locations: [A, B, C]
initial: { location: A }
inputs: { In: { p: int } }
outputs: { Out: {} }
transitions:
  - { from: A, to: B, on: In, when: p * p * p == 99252847 }
  - { from: B, to: C, on: Out }
";
    let purpose = "
purpose: see
of: cube
locations: [W, Accept]
initial: { location: W }
transitions: [{ from: W, to: Accept, on: Out }]
";
    let case = super::made::of_texts("cube", specification, purpose);
    let iut = root().join("examples/coffee_machine/iut.py");
    let iut =
        folder.file("iut.py", &fs::read_to_string(iut).unwrap().replace("[\"cPrice\"]", ".get(\"c\", 1)"));
    let output = run(&folder, &case, &QUICK, &iut);
    let said = text(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("no values were found for In in 200 draws"), "{said}");
}

/// What pytest would do, in ten lines: so the file is held to it where there is no pytest, too.
const STUB: &str = r#"
class mark:
    @staticmethod
    def parametrize(name, values):
        return lambda function: function
class FixtureLookupError(Exception):
    pass
class Skipped(Exception):
    pass
def skip(reason):
    raise Skipped(reason)
"#;

const REPLAYED: &str = r#"
import sys
sys.path.insert(0, sys.argv[1])
import pytest, test_case

class Replay(test_case.Adapter):
    """Answers with what was recorded."""
    def __init__(self, answers): self.answers = list(answers)
    def start(self, constants, seed): assert constants == {"cPrice": 3}, constants
    def send(self, name, values): self.sent = (name, values)
    def receive(self, timeout):
        if not self.answers or timeout == 0: return None
        name, values = self.answers.pop(0)
        return name, values or {"pRemainingValue": self.sent[1]["pCoinValue"] - 3}

class Request:
    def __init__(self, **fixtures): self.fixtures = fixtures
    def getfixturevalue(self, name):
        if name not in self.fixtures: raise pytest.FixtureLookupError(name)
        return self.fixtures[name]

(test,) = [value for name, value in vars(test_case).items() if name.startswith("test_")]
quick = test_case.Settings(quiescence=0.01)

def ended(answers, **more):
    try:
        test(1, Request(coreach_constants={"cPrice": 3}, coreach_settings=quick, **more))
        return "passed"
    except AssertionError as why:
        return "failed: " + str(why)
    except pytest.Skipped as why:
        return "skipped: " + str(why)

def of(*answers):
    return ended(answers, coreach_adapter=Replay(answers))

print(of(("Return", None), ("Deliver", {"pBeverage": "COFFEE"})).splitlines()[0])
print(of(("Return", None), ("Deliver", {"pBeverage": "TEA"})).splitlines()[0])
print(of(("Return", None)).splitlines()[0])
print(ended(()))
"#;

#[test]
fn under_pytest_a_verdict_is_what_a_test_does() {
    let folder = Folder::new("stub");
    folder.file("test_case.py", coffee().python.as_ref().unwrap());
    folder.file("pytest.py", STUB);
    let script = folder.file("replayed.py", REPLAYED);
    let output = python().arg(&script).arg(&folder.0).env_remove("COREACH_IUT").output().unwrap();
    let said = text(&output);
    let lines: Vec<&str> = said.lines().collect();
    assert_eq!(lines.len(), 4, "{said}");
    assert_eq!(lines[0], "passed", "{said}");
    assert!(
        lines[1].starts_with("failed: Fail: the specification does not allow Deliver(pBeverage = TEA)"),
        "{said}"
    );
    assert!(lines[2].starts_with("skipped: Inconclusive: silence in <Delivery,Begin>"), "{said}");
    assert!(lines[3].starts_with("skipped: no implementation: "), "{said}");
}

/// The real one, where it is there (`PYTEST` names a Python that has it).
#[test]
fn pytest_collects_the_file() {
    let python = std::env::var("PYTEST").unwrap_or_else(|_| "python3".to_owned());
    let has = Command::new(&python).args(["-c", "import pytest"]).output();
    if !has.is_ok_and(|output| output.status.success()) {
        println!("skipped: {python} has no pytest");
        return;
    }
    let folder = Folder::new("pytest");
    let file = folder.file("test_case.py", coffee().python.as_ref().unwrap());
    let iut = root().join("examples/coffee_machine/iut.py");
    let output = Command::new(&python)
        .args(["-m", "pytest", "-q", "-p", "no:cacheprovider"])
        .arg(&file)
        .env("COREACH_IUT", format!("python3 '{}'", iut.display()))
        .env("COREACH_RUNS", "3")
        .output()
        .unwrap();
    assert!(output.status.success() && text(&output).contains("3 passed"), "{}", text(&output));
}
