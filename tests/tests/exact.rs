//! The exact reference on random pairs against brute force, on small programs whose answers are known, and on
//! every example; each question in a process of its own.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use coreach_analyses::solver::horn::{HornEngine, HornReply};
use coreach_cli::horn_process::HornProcess;
use coreach_tests::effort::{cases, is_thorough};
use coreach_tests::generator::{Shape, generate};
use coreach_tests::properties::{Settings, check};
use coreach_tests::text;
use serde_json::Value;

/// The program itself.
const PROGRAM: &str = env!("CARGO_BIN_EXE_program");

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The rows of `compare --exact`.
fn compared(configuration: &Path, domains: &str) -> Vec<Value> {
    let output = Command::new(PROGRAM)
        .args(["compare", "--exact", "--format", "json", "--domains", domains])
        .arg(configuration)
        .output()
        .unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}: {text}", configuration.display()))
}

/// Defends soundness (brute force is never contradicted), and of precision that something is answered.
#[test]
fn sound_the_exact_reference_agrees_with_brute_force_on_random_pairs() {
    let mut counts: BTreeMap<&'static str, usize> = BTreeMap::new();
    let mut failures = Vec::new();
    for property in ["exact", "late"] {
        for seed in 1..=cases(20, 60) {
            let settings = Settings { only: Some(property.to_owned()), ..Settings::of(seed) };
            let report = check(&generate(seed, &Shape::default()), &settings);
            for (what, count) in report.counts {
                *counts.entry(what).or_default() += count;
            }
            let told = || text::specification(&generate(seed, &Shape::default()));
            failures.extend(
                report.found.into_iter().map(|found| format!("seed {seed}: {}\n{}", found.text, told())),
            );
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    let count = |what| counts.get(what).copied().unwrap_or(0);
    assert!(count("exact: transitions on a run") > 20, "{counts:?}");
    assert!(count("exact: transitions on no run") > 60, "{counts:?}");
    println!("{counts:#?}");
}

/// What is said of a program of `tests/numerical`: how many transitions truly lie on a run; then with
/// polyhedra, and with congruences too, what is kept in vain of what is kept, of how much nothing is known,
/// and how many states are late, which `~` says of a sample.
fn said(name: &str) -> String {
    let configuration = root().join("tests/numerical").join(name).join("coreach.yaml");
    let rows = compared(&configuration, "polyhedra,polyhedra+congruence");
    let row = |row: &Value| {
        let (exact, late) = (&row["exact"], &row["late_states"]);
        assert_eq!(exact["lost"], 0, "sound: {name}: {row}");
        let sample = if late["method"] == "sample" { "~" } else { "" };
        let late = match late {
            Value::Null => "-".to_owned(),
            late => format!("{sample}{}/{}", late["late"], late["states"]),
        };
        format!("; {}/{} ?{} late {late}", exact["extra"], exact["kept"], exact["unknown"])
    };
    let all: String = rows.iter().map(row).collect();
    format!("{name}: {}{all}\n", rows[0]["exact"]["exact"])
}

#[test]
fn sound_and_precise_the_exact_reference_of_the_small_programs() {
    let names = std::fs::read_dir(root().join("tests/numerical")).unwrap();
    let mut names: Vec<String> =
        names.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let all: String = names.iter().map(|name| said(name)).collect();
    assert_eq!(all, SAID);
}

const SAID: &str = "\
bound: 0; 2/2 ?0 late 3/3; 0/0 ?0 late -
clock: 0; 2/2 ?0 late 3/3; 0/0 ?0 late -
constant: 0; 0/0 ?0 late -; 0/0 ?0 late -
difference: 0; 3/3 ?0 late ~7/7; 0/0 ?0 late -
guarded: 0; 3/3 ?0 late ~5/5; 0/0 ?0 late -
half: 0; 2/2 ?0 late ~5/5; 0/0 ?0 late -
late: 3; 0/3 ?0 late 8/20; 0/3 ?0 late 0/12
multiplied: 0; 0/0 ?0 late -; 0/0 ?0 late -
parameter: 0; 2/2 ?0 late 4/4; 0/0 ?0 late -
passed_on: 0; 4/4 ?0 late 127/127; 0/0 ?0 late -
stride: 0; 2/2 ?0 late ~5/5; 0/0 ?0 late -
sum: 0; 4/4 ?0 late ~8/8; 0/0 ?0 late -
three_then_five: 0; 0/0 ?0 late -; 0/0 ?0 late -
toggle: 0; 2/2 ?0 late ~5/5; 0/0 ?0 late -
two_strides: 0; 0/0 ?0 late -; 0/0 ?0 late -
";

/// Defends soundness (nothing that lies on a run is cut, and the proof of the facts is checked) and precision
/// (what the reference knows to be in vain is not kept).
#[test]
fn sound_and_precise_what_is_refined_keeps_nothing_in_vain() {
    let folder = std::env::temp_dir().join(format!("coreach-refined-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let mut cases = ["clock", "difference", "guarded", "half", "sum", "toggle"]
        .map(|name| (name, "unreachable"))
        .to_vec();
    cases.push(("late", "made"));
    // Its proof takes twenty seconds.
    if is_thorough() {
        cases.push(("stride", "unreachable"));
    }
    for (name, purpose) in cases {
        let models = root().join("tests/numerical").join(name).canonicalize().unwrap();
        let at = |file: &str| models.join(file).display().to_string();
        let configuration = folder.join(format!("{name}.yaml"));
        let text = format!(
            "specification: {}\npurpose: {}\nanalysis: {{ refine: exact }}\n",
            at("specification.yaml"),
            at("purpose.yaml")
        );
        std::fs::write(&configuration, text).unwrap();
        let domains = if is_thorough() { "interval,polyhedra" } else { "interval" };
        for row in compared(&configuration, domains) {
            assert_eq!(row["result"], purpose, "{name}: {row}");
            assert_eq!([&row["exact"]["extra"], &row["exact"]["lost"]], [0, 0], "{name}: {row}");
        }
    }
    std::fs::remove_dir_all(&folder).unwrap();
}

/// Defends soundness (nothing that lies on a run is cut), and of precision what is known of the examples.
#[test]
fn sound_and_precise_the_exact_reference_of_the_examples() {
    let mut unknown = Vec::new();
    for name in ["coffee_machine", "counter", "session", "vending_nondeterministic"] {
        for row in compared(&root().join("examples").join(name).join("coreach.yaml"), "octagon,polyhedra") {
            assert_eq!(row["exact"]["lost"], 0, "{name}: {row}");
            if row["exact"]["unknown"] != 0 {
                unknown.push(format!("{name}, {}", row["purpose"]));
            }
        }
    }
    assert_eq!(unknown, Vec::<String>::new());
}

#[test]
fn sound_an_engine_that_is_not_there_or_ends_says_nothing() {
    for program in ["/nowhere/coreach", "/bin/true", "/bin/cat"] {
        let reply = HornProcess { program: program.into() }.solve("(rule reached)");
        assert!(matches!(reply, HornReply::Unknown(_)), "{program}: {reply:?}");
    }
    let mut engine = HornProcess { program: PROGRAM.into() };
    assert!(matches!(engine.solve("(rule ("), HornReply::Unknown(_)));
    let script = "(declare-rel reached ())(rule reached)";
    assert!(matches!(engine.solve(script), HornReply::Derivable(_)));
}
