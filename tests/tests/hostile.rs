//! Hostile files: whatever a file contains, the program answers with findings or with `ok`, soon, and never
//! dies.
//!
//! The small ones lie in `hostile/`, each with the code of the finding that it must get in its first line
//! (`# expected: nested-too-deep`); the large ones are made here. Those beyond the limits of size test that
//! the limits come first; those just within them ([`within_the_limits`]), that what lies behind is quick too.
//! The real program is asked, in the profile of this test. `COREACH_HOSTILE_KEEP=folder` keeps the files, to
//! be tried by hand.
//!
//! No test asserts by the clock. How long each file takes is told by
//! `cargo test --release -p coreach-tests --test all hostile:: -- --ignored --nocapture`.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

/// A file, and what is said of it: `ok`, or the code of a finding.
struct Hostile {
    name: &'static str,
    bytes: Vec<u8>,
    expected: &'static str,
    /// A specification that is given before the file, which is then a purpose.
    specification: Option<String>,
}

fn hostile(name: &'static str, bytes: impl Into<Vec<u8>>, expected: &'static str) -> Hostile {
    Hostile { name, bytes: bytes.into(), expected, specification: None }
}

/// A specification with room for a few lines.
fn with(lines: &str) -> String {
    format!("iosts: hostile\n{lines}\n")
}

const INITIAL: &str = "initial: { location: a }\ninternals: [tau]\n";

/// A guard on the only transition of a model with a few variables.
fn guarded(guard: &str) -> String {
    with(&format!(
        "constants: {{ x: int, y: int, b: bool, r: real, t: \"array[int] of int\" }}\n{INITIAL}transitions: [{{ from: a, to: c, on: tau, when: \"{guard}\" }}]"
    ))
}

fn repeated(piece: impl Fn(usize) -> String, count: usize) -> String {
    (0..count).fold(String::new(), |mut text, at| {
        let _ = text.write_str(&piece(at));
        text
    })
}

fn joined(piece: impl Fn(usize) -> String, count: usize, separator: &str) -> String {
    (0..count).map(piece).collect::<Vec<_>>().join(separator)
}

/// What YAML itself can do to a reader.
fn yaml() -> Vec<Hostile> {
    let bomb = |levels: usize, width: usize| {
        let level = |at: usize| {
            let item = if at == 0 { "lol".to_owned() } else { format!("*l{}", at - 1) };
            format!("l{at}: &l{at} [{}]\n", joined(|_| item.clone(), width, ", "))
        };
        with(&repeated(level, levels))
    };
    let transition = "  - { from: a, to: a, on: tau, when: vv }\n";
    vec![
        hostile("alias_bomb", bomb(12, 10), "too-many-values"),
        hostile("alias_bomb_wide", bomb(3, 2000), "too-many-values"),
        hostile("flow_nested", with(&format!("types: {}", "[".repeat(100_000))), "nested-too-deep"),
        hostile(
            "flow_mappings_nested",
            with(&format!("types: {}", "{a: ".repeat(100_000))),
            "nested-too-deep",
        ),
        hostile(
            "block_nested",
            format!("iosts: x\ntypes:\n  {}x\n", "- ".repeat(100_000)),
            "nested-too-deep",
        ),
        hostile("keys_nested", format!("iosts: x\ntypes:\n  {}x\n", "? ".repeat(100_000)), "nested-too-deep"),
        hostile(
            "block_indented",
            format!("iosts: x\n{}", repeated(|at| format!("{}a:\n", " ".repeat(at)), 3_000)),
            "file-too-large",
        ),
        hostile("quote_unclosed", with(&format!("types: \"{}", "x ".repeat(1_000_000))), "yaml-syntax"),
        hostile("million_values", with(&format!("types: [{}]", "1,".repeat(1_100_000))), "too-many-values"),
        hostile("many_documents", with(&"---\na\n".repeat(100_000)), "second-document"),
        hostile(
            "many_anchors",
            with(&repeated(|at| format!("k{at}: &a{at} v\n"), 100_000)),
            "too-many-values",
        ),
        hostile("many_tags", with(&repeated(|at| format!("k{at}: !t{at} v\n"), 100_000)), "too-many-errors"),
        hostile(
            "many_unknown_aliases",
            with(&repeated(|at| format!("k{at}: *a{at}\n"), 100_000)),
            "unknown-alias",
        ),
        hostile("duplicate_keys", with(&"types: {}\n".repeat(200_000)), "too-many-values"),
        hostile("unknown_keys", with(&repeated(|at| format!("variablez{at}:\n"), 400_000)), "file-too-large"),
        hostile(
            "long_line",
            with(&format!("variables: {{ {} }}", joined(|at| format!("l-{at}: int"), 100_000, ", "))),
            "too-many-values",
        ),
        hostile("long_key", format!("{}: x\n", "k".repeat(10_000_000)), "file-too-large"),
        hostile("long_value", format!("iosts: {}\n", "k".repeat(10_000_000)), "file-too-large"),
        hostile("long_comment", format!("#{}\niosts: x\n", "k".repeat(10_000_000)), "file-too-large"),
        hostile("blank_lines", format!("iosts: x\n{}", "\n".repeat(10_000_000)), "file-too-large"),
        hostile("folded_lines", with(&format!("types: \"{}\"", "x\n ".repeat(1_000_000))), "wrong-kind"),
        hostile("block_scalar", with(&format!("types: |\n{}", "  x\n".repeat(1_000_000))), "wrong-kind"),
        hostile("too_large", "#".repeat((16 << 20) + 1), "file-too-large"),
        hostile(
            "invalid_utf8_at_the_end",
            [" ".repeat(10_000_000).as_bytes(), b"\xff"].concat(),
            "file-too-large",
        ),
        hostile(
            "the_same_mistake_by_alias",
            with(&format!(
                "{INITIAL}transitions:\n  - &t {{ from: a, to: a, on: tauu }}\n{}",
                "  - *t\n".repeat(100_000)
            )),
            "too-many-values",
        ),
        hostile(
            "many_mistakes",
            with(&format!("{INITIAL}transitions:\n{}", transition.repeat(100_000))),
            "file-too-large",
        ),
    ]
}

/// What the expression language can do.
fn expressions() -> Vec<Hostile> {
    let digits = "9".repeat(1_000_000);
    let some = "9".repeat(9_999);
    vec![
        hostile("integer_in_a_guard", guarded(&format!("x == {digits}")), "expression-too-long"),
        hostile(
            "integer_of_60000_digits",
            guarded(&format!("x == {}", &digits[..60_000])),
            "number-too-long",
        ),
        hostile(
            "integers_of_10000_digits",
            guarded(&format!("x == {some} * {some} * {some} * {some} * {some} * {some}")),
            "number-too-long",
        ),
        hostile(
            "decimals_of_10000_digits",
            guarded(&format!("r == 0.{} / 0.{}", &some[2..], &some[2..])),
            "ok",
        ),
        hostile(
            "integer_as_a_type",
            with(&format!("types: {{ T: \"int[0..{digits}]\" }}\n{INITIAL}")),
            "syntax",
        ),
        hostile("parentheses", guarded(&"(".repeat(30_000)), "expression-too-deep"),
        hostile("parentheses_too_long", guarded(&"(".repeat(100_000)), "expression-too-long"),
        hostile("negations", guarded(&format!("{}b", "!".repeat(60_000))), "expression-too-deep"),
        hostile("minus_signs", guarded(&format!("{}x == 0", "- ".repeat(30_000))), "expression-too-deep"),
        hostile("conditionals_in_conditions", guarded(&"if ".repeat(20_000)), "expression-too-deep"),
        hostile(
            "conditional_chain",
            guarded(&format!("{}b", "if b then b else ".repeat(3_000))),
            "expression-too-deep",
        ),
        hostile("indices", guarded(&format!("{}0", "t[".repeat(20_000))), "expression-too-deep"),
        hostile("stores", guarded(&format!("t{} == t", "[0 := 1]".repeat(7_000))), "expression-too-deep"),
        hostile("sum", guarded(&format!("x == 0{}", " + x".repeat(15_000))), "expression-too-deep"),
        hostile("conjunction", guarded(&joined(|_| "b".to_owned(), 13_000, " && ")), "ok"),
        hostile("conjunction_of_bounds", guarded(&joined(|at| format!("x<{at}"), 6_000, "&&")), "ok"),
        hostile("disjunction_of_points", guarded(&joined(|at| format!("x=={at}"), 5_500, "||")), "ok"),
        hostile("implications", guarded(&joined(|_| "b".to_owned(), 13_000, "=>")), "ok"),
        hostile("comparisons", guarded(&joined(|_| "x".to_owned(), 16_000, "<=")), "ok"),
        hostile("not_a_sign", guarded(&"§".repeat(30_000)), "syntax"),
    ]
}

/// Many of a kind.
fn sizes() -> Vec<Hostile> {
    let locations = |count| joined(|at| format!("L{at}"), count, ", ");
    let variables = |count| joined(|at| format!("v{at}: int"), count, ", ");
    let line = |at: usize| format!("  - {{ from: L{at}, to: L{}, on: tau }}\n", at + 1);
    let cyclic = |at: usize| format!("  T{at}: {{ f: T{} }}\n", (at + 1) % 10_000);
    let deep = |at: usize| format!("  T{at}: {{ f: T{}, g: T{} }}\n", at + 1, at + 1);
    let similar = |at: usize| format!("some_rather_long_name_that_is_like_the_others_{at:06}");
    let between = format!(
        "{INITIAL}transitions:\n  - {{ from: a, to: a, on: tau }}\n  - {{ from: a, to: L0, on: tau }}\n{}  - {{ from: L50000, to: L50000, on: tau }}\n",
        repeated(line, 50_000)
    );
    vec![
        hostile("livelock_of_100000", with(&format!("initial: {{ location: L0 }}\ninternals: [tau]\ntransitions:\n{}  - {{ from: L100000, to: L0, on: tau }}", repeated(line, 100_000))), "too-many-values"),
        hostile("between_two_livelocks", with(&between), "too-many-values"),
        hostile("unused_locations", with(&format!("locations: [{}]\n{INITIAL}", locations(100_000))), "unknown-location"),
        hostile("unknown_locations", with(&format!("locations: [{}]\n{INITIAL}transitions:\n{}", joined(similar, 50_000, ", "), repeated(|at| format!("  - {{ from: {}x, to: {}y, on: tau }}\n", similar(at), similar(at)), 50_000))), "file-too-large"),
        hostile("unknown_variables", with(&format!("variables: {{ {} }}\n{INITIAL}transitions:\n{}", joined(|at| format!("{}: int", similar(at)), 50_000, ", "), repeated(|at| format!("  - {{ from: a, to: a, on: tau, when: {}x > 0 }}\n", similar(at)), 50_000))), "file-too-large"),
        hostile("unknown_types", with(&format!("types: {{ {} }}\nvariables: {{ {} }}\n{INITIAL}", joined(|at| format!("{}: int", similar(at)), 50_000, ", "), joined(|at| format!("v{at}: {}x", similar(at)), 50_000, ", "))), "file-too-large"),
        hostile("unknown_actions", with(&format!("initial: {{ location: a }}\ninternals: [{}]\ntransitions:\n{}", joined(similar, 50_000, ", "), repeated(|at| format!("  - {{ from: a, to: b, on: {}x }}\n", similar(at)), 50_000))), "file-too-large"),
        hostile("unknown_targets", with(&format!("variables: {{ {} }}\n{INITIAL}transitions:\n  - {{ from: a, to: b, on: tau, assign: {{ {} }} }}", joined(|at| format!("{}: int", similar(at)), 20_000, ", "), joined(|at| format!("{}x: 0", similar(at)), 20_000, ", "))), "unknown-variable"),
        hostile("cyclic_types", with(&format!("types:\n{}{INITIAL}", repeated(cyclic, 10_000))), "type-too-large"),
        hostile("doubling_types", with(&format!("types:\n{}  T20: int\n{INITIAL}", repeated(deep, 20))), "type-too-large"),
        hostile("deep_array_type", with(&format!("types: {{ T: \"{}int\" }}\n{INITIAL}", "array[int] of ".repeat(50_000))), "type-too-large"),
        hostile("deep_index_type", with(&format!("types: {{ T: \"{}int\" }}\n{INITIAL}", "array[".repeat(100_000))), "type-too-large"),
        hostile("record_of_100000", with(&format!("types: {{ R: {{ {} }} }}\n{INITIAL}", joined(|at| format!("f{at}: int"), 100_000, ", "))), "too-many-values"),
        hostile("names_of_1000_letters", with(&format!("variables: {{ {} }}\n{INITIAL}", joined(|at| format!("{}{at}: int", "v".repeat(1_000)), 5_000, ", "))), "file-too-large"),
        hostile("enumeration_of_100000", with(&format!("types: {{ T: [{}] }}\nvariables: {{ v: T, w: T }}\n{INITIAL}transitions: [{{ from: a, to: b, on: tau, when: v == w && v != L7, assign: {{ w: L8 }} }}]", locations(100_000))), "type-too-large"),
        hostile("enumerations_that_share", with(&format!("types:\n{}{INITIAL}", repeated(|at| format!("  T{at}: [{}]\n", locations(1_000)), 100))), "duplicate-name"),
        hostile("parameters_renamed_10000", with(&format!("initial: {{ location: a }}\ninputs: {{ act: {{ {} }} }}\ntransitions: [{{ from: a, to: a, on: \"act({})\" }}]", joined(|at| format!("p{at}: int"), 10_000, ", "), joined(|at| format!("q{at}"), 10_000, ", "))), "ok"),
        hostile("parameters_10000_in_1000_transitions", with(&format!("initial: {{ location: a }}\ninputs: {{ act: {{ {} }} }}\ntransitions:\n{}", joined(|at| format!("p{at}: int"), 10_000, ", "), "  - { from: a, to: a, on: act, when: px > 0 }\n".repeat(1_000))), "unknown-name"),
        hostile("variables_10000", with(&format!("variables: {{ {} }}\n{INITIAL}", variables(10_000))), "ok"),
        hostile("variables_10000_read", with(&format!("variables: {{ {} }}\n{INITIAL}transitions:\n{}", variables(10_000), repeated(|at| format!("  - {{ from: a, to: b, on: tau, when: v{at} > 0 }}\n"), 10_000))), "not-initialized"),
        hostile("range_of_10_to_the_30", with("variables: { v: \"int[0..1000000000000000000000000000000]\" }\ninitial: { location: a, condition: v == 0 }\ninputs: { act: { p: \"int[0..1000000000000000000000000000000]\" } }\ntransitions: [{ from: a, to: a, on: act, when: p > v, assign: { v: p } }]"), "ok"),
        Hostile {
            name: "purpose_that_captures_10000",
            bytes: format!("purpose: p\nof: hostile\nobserves: [{}]\nvariables: {{ {} }}\ninitial: {{ location: a }}\ntransitions: []\n", joined(|at| format!("v{at}"), 5_000, ", "), joined(|at| format!("w{at}: int"), 10_000, ", ")).into_bytes(),
            expected: "no-accept",
            specification: Some(with(&format!("variables: {{ {} }}\n{INITIAL}", variables(10_000)))),
        },
    ]
}

/// Large and honest: accepted, however long that takes.
fn honest() -> Vec<Hostile> {
    let line = |at: usize| format!("  - {{ from: L{at}, to: L{}, on: act, when: p > 0 }}\n", at + 1);
    let model = |count: usize| {
        with(&format!(
            "initial: {{ location: L0 }}\ninputs: {{ act: {{ p: int }} }}\ntransitions:\n{}",
            repeated(line, count)
        ))
    };
    vec![
        // Honest, but beyond what can be worked on.
        hostile("transitions_100000", model(100_000), "file-too-large"),
        hostile("transitions_16000", model(16_000), "ok"),
        hostile("transitions_10000", model(10_000), "ok"),
    ]
}

/// As large as the limits allow, nearly: 4 MiB, 150 000 values.
fn within_the_limits() -> Vec<Hostile> {
    const BYTES: usize = (4 << 20) - 200;
    let similar = |at: usize| format!("some_rather_long_name_that_is_like_the_others_{at:06}");
    let line = |at: usize| format!("  - {{ from: L{at}, to: L{}, on: tau }}\n", at + 1);
    let transitions =
        |piece: fn(usize) -> String, count: usize| format!("transitions:\n{}", repeated(piece, count));
    let variables = |count| format!("variables: {{ {} }}\n", joined(|at| format!("v{at}: int"), count, ", "));
    let input = "inputs: { act: { p: int } }\n";
    let ring =
        |at: usize| format!("  - {{ from: L{at}, to: L{}, on: act, when: v{at} > 0 }}\n", (at + 1) % 13_000);
    vec![
        hostile("bytes_of_a_key", format!("{}: x\n", "k".repeat(BYTES)), "yaml-syntax"),
        hostile("bytes_of_a_value", format!("iosts: {}\n", "k".repeat(BYTES)), "not-a-name"),
        hostile("bytes_of_a_comment", format!("#{}\niosts: x\n", "k".repeat(BYTES)), "missing-key"),
        hostile("bytes_of_blank_lines", format!("iosts: x\n{}", "\n".repeat(BYTES)), "missing-key"),
        hostile(
            "bytes_behind_a_mistake",
            format!("iosts: x # {}\n", "\u{1b}[2J".repeat(BYTES / 4)),
            "yaml-syntax",
        ),
        hostile("bytes_not_utf8", [" ".repeat(BYTES).as_bytes(), b"\xff"].concat(), "invalid-utf8"),
        hostile(
            "bytes_of_indents",
            format!("iosts: x\n{}", repeated(|at| format!("{}a:\n", " ".repeat(at)), 2_800)),
            "nested-too-deep",
        ),
        hostile(
            "bytes_of_names",
            with(&format!(
                "variables: {{ {} }}\n{INITIAL}",
                joined(|at| format!("{}{at}: int", "v".repeat(1_000)), 4_000, ", ")
            )),
            "not-a-name",
        ),
        hostile("values_in_a_list", with(&format!("types: [{}]", "1,".repeat(149_000))), "wrong-kind"),
        hostile("values_of_one_key", with(&"types: {}\n".repeat(74_000)), "duplicate-key"),
        hostile(
            "values_of_unknown_keys",
            with(&repeated(|at| format!("variablez{at}:\n"), 74_000)),
            "too-many-errors",
        ),
        hostile(
            "values_of_a_record",
            with(&format!(
                "types: {{ R: {{ {} }} }}\n{INITIAL}",
                joined(|at| format!("f{at}: int"), 74_000, ", ")
            )),
            "type-too-large",
        ),
        hostile(
            "values_of_literals",
            with(&format!("types: {{ T: [{}] }}\n{INITIAL}", joined(similar, 70_000, ", "))),
            "type-too-large",
        ),
        hostile(
            "mistakes_by_alias",
            with(&format!(
                "{INITIAL}transitions:\n  - &t {{ from: a, to: a, on: tauu }}\n{}",
                "  - *t\n".repeat(21_000)
            )),
            "unknown-action",
        ),
        hostile(
            "mistakes_in_guards",
            with(&format!(
                "{INITIAL}{}",
                transitions(|_| "  - { from: a, to: a, on: tau, when: vv }\n".to_owned(), 16_000)
            )),
            "too-many-errors",
        ),
        hostile(
            "mistakes_at_the_end",
            with(&format!(
                "{INITIAL}{input}{}{}",
                transitions(|at| format!("  - {{ from: a, to: a, on: act, when: p > {at} }}\n"), 16_000),
                "  - { from: a, to: a, on: act, when: vv }\n".repeat(100)
            )),
            "too-many-errors",
        ),
        hostile(
            "mistakes_in_locations",
            with(&format!(
                "locations: [{}]\n{INITIAL}transitions:\n{}",
                joined(similar, 18_000, ", "),
                repeated(
                    |at| format!("  - {{ from: {}x, to: {}y, on: tau }}\n", similar(at), similar(at)),
                    18_000
                )
            )),
            "unknown-location",
        ),
        hostile(
            "mistakes_in_variables",
            with(&format!(
                "variables: {{ {} }}\n{INITIAL}transitions:\n{}",
                joined(|at| format!("{}: int", similar(at)), 13_000, ", "),
                repeated(
                    |at| format!("  - {{ from: a, to: a, on: tau, when: {}x > 0 }}\n", similar(at)),
                    13_000
                )
            )),
            "unknown-name",
        ),
        hostile(
            "mistakes_in_types",
            with(&format!(
                "types: {{ {} }}\nvariables: {{ {} }}\n{INITIAL}",
                joined(|at| format!("{}: int", similar(at)), 34_000, ", "),
                joined(|at| format!("v{at}: {}x", similar(at)), 34_000, ", ")
            )),
            "unknown-type",
        ),
        hostile(
            "mistakes_in_actions",
            with(&format!(
                "initial: {{ location: a }}\ninternals: [{}]\ntransitions:\n{}",
                joined(similar, 16_000, ", "),
                repeated(|at| format!("  - {{ from: a, to: b, on: {}x }}\n", similar(at)), 16_000)
            )),
            "unknown-action",
        ),
        hostile(
            "warnings_of_locations",
            with(&format!("locations: [{}]\n{INITIAL}{}", joined(similar, 70_000, ", "), "transitions: []")),
            "unknown-location",
        ),
        hostile(
            "ring_of_silence",
            with(&format!(
                "initial: {{ location: L0 }}\ninternals: [tau]\ntransitions:\n{}  - {{ from: L21000, to: L0, on: tau }}",
                repeated(line, 21_000)
            )),
            "livelock",
        ),
        hostile(
            "silence_between_two_livelocks",
            with(&format!(
                "{INITIAL}transitions:\n  - {{ from: a, to: a, on: tau }}\n  - {{ from: a, to: L0, on: tau }}\n{}  - {{ from: L21000, to: L21000, on: tau }}\n",
                repeated(line, 21_000)
            )),
            "livelock",
        ),
        hostile(
            "many_livelocks",
            with(&format!(
                "{INITIAL}{}",
                transitions(|at| format!("  - {{ from: L{at}, to: L{at}, on: tau }}\n"), 21_000)
            )),
            "livelock",
        ),
        hostile(
            "ring_that_reads",
            with(&format!(
                "{}initial: {{ location: L0 }}\n{input}transitions:\n{}",
                variables(13_000),
                repeated(ring, 13_000)
            )),
            "not-initialized",
        ),
        hostile(
            "guards_never_true",
            with(&format!(
                "initial: {{ location: a }}\n{input}{}",
                transitions(
                    |at| format!("  - {{ from: a, to: a, on: act, when: p < {at} && p > {at} }}\n"),
                    16_000
                )
            )),
            "ok",
        ),
        hostile("divisors", guarded(&joined(|at| format!("{at} mod x < y"), 4_000, "&&")), "ok"),
        hostile("divisors_in_turn", guarded(&joined(|at| format!("y<{at} div x"), 4_000, "||")), "ok"),
    ]
}

/// The files in the repository.
fn committed() -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("hostile");
    let mut found: Vec<(PathBuf, String)> = fs::read_dir(folder)
        .unwrap()
        .map(|item| {
            let path = item.unwrap().path();
            let bytes = fs::read(&path).unwrap();
            let line = bytes.split(|byte| *byte == b'\n').next().unwrap_or_default();
            let expected = String::from_utf8_lossy(line).trim_start_matches("# expected: ").to_owned();
            (path, expected)
        })
        .collect();
    found.sort();
    found
}

fn check(files: &[PathBuf]) -> (Output, Duration) {
    let start = Instant::now();
    let output = Command::new(env!("CARGO_BIN_EXE_program")).arg("check").args(files).output().unwrap();
    (output, start.elapsed())
}

/// Does the answer hold the finding, and did the program end by itself?
fn judge(name: &str, expected: &str, output: &Output, took: Duration, wrong: &mut Vec<String>) {
    println!("{:9.1} ms  {name}: {expected}", took.as_secs_f64() * 1000.0);
    let said = String::from_utf8_lossy(&output.stderr);
    let (code, found) = match expected {
        "ok" => (0, !said.contains("error")),
        code => (
            if said.contains(&format!("{code}\n\n  ⚠")) { 0 } else { 2 },
            said.lines().any(|line| line.trim_start() == code),
        ),
    };
    if output.status.code() != Some(code) || !found {
        let begin: String = said.chars().take(1_500).collect();
        wrong.push(format!("{name}: expected {expected}, ended with {}:\n{begin}", output.status));
    }
}

/// Writes the case's files into a folder and returns their paths as the program gets them.
fn write(case: &Hostile, folder: &Path) -> Vec<PathBuf> {
    let folder = folder.join(case.name);
    fs::create_dir_all(&folder).unwrap();
    let mut files = Vec::new();
    if let Some(text) = &case.specification {
        files.push(folder.join("specification.yaml"));
        fs::write(&files[0], text).unwrap();
    }
    files.push(folder.join("hostile.yaml"));
    fs::write(&files[files.len() - 1], &case.bytes).unwrap();
    files
}

fn try_all(cases: Vec<Hostile>) {
    let kept = std::env::var_os("COREACH_HOSTILE_KEEP").map(PathBuf::from);
    let group = cases.first().map_or("", |case| case.name);
    let folder = std::env::temp_dir().join(format!("coreach-hostile-{}-{group}", std::process::id()));
    let mut wrong = Vec::new();
    for case in cases {
        let files = write(&case, kept.as_ref().unwrap_or(&folder));
        let (output, took) = check(&files);
        judge(case.name, case.expected, &output, took, &mut wrong);
    }
    let _ = fs::remove_dir_all(&folder);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn yaml_is_no_weapon() {
    try_all(yaml());
}

#[test]
fn expressions_are_no_weapon() {
    try_all(expressions());
}

#[test]
fn sizes_are_no_weapon() {
    try_all(sizes());
}

#[test]
fn the_largest_files_within_the_limits_are_no_weapon() {
    try_all(within_the_limits());
}

#[test]
fn large_and_honest_models_are_accepted() {
    try_all(honest());
}

#[test]
fn small_and_nasty() {
    let mut wrong = Vec::new();
    for (path, expected) in committed() {
        let (output, took) = check(std::slice::from_ref(&path));
        judge(&path.file_name().unwrap_or_default().to_string_lossy(), &expected, &output, took, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A measurement, not a test: the start of the program included, slowest first.
#[test]
#[ignore = "measures; run it alone, in the release profile"]
fn how_long_each_file_takes() {
    const RUNS: usize = 5;
    let folder = std::env::temp_dir().join(format!("coreach-hostile-{}-times", std::process::id()));
    let made = [yaml(), expressions(), sizes(), within_the_limits(), honest()].into_iter().flatten();
    let made = made.map(|case| (case.name.to_owned(), case.expected.to_owned(), write(&case, &folder)));
    let small = committed().into_iter().map(|(path, expected)| {
        (path.file_name().unwrap_or_default().to_string_lossy().into_owned(), expected, vec![path])
    });
    let mut rows: Vec<(Duration, String, String)> = made
        .chain(small)
        .map(|(name, expected, files)| {
            let mut times: Vec<Duration> = (0..RUNS).map(|_| check(&files).1).collect();
            times.sort();
            (times[RUNS / 2], name, expected)
        })
        .collect();
    rows.sort();
    rows.reverse();
    println!("median of {RUNS}, {} files", rows.len());
    for (took, name, expected) in &rows {
        println!("{:9.1} ms  {name}: {expected}", took.as_secs_f64() * 1000.0);
    }
    let _ = fs::remove_dir_all(&folder);
}
