//! What is written can be read, whatever the models call their things.
//!
//! Stages make names of their own, formats have words of their own, and neither may meet a user's. Random
//! pairs whose data, literals, actions, parameters and locations are called like everything that stages make
//! and formats know are taken through the pipeline, written in each format that is read, and read again;
//! their SMT-LIB is given to Z3.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_artifact::Document;
use coreach_model::Type;
use coreach_model::diagnostic::SourceFile;
use coreach_model::reader::{Specification, read_purpose, read_specification};
use coreach_pipeline::export::{self, ExportOptions, Format, View, export};
use coreach_pipeline::named_types::named_types;
use coreach_pipeline::{Generation, Stage, StageOptions, generate as make};
use coreach_project::written::read_back;
use coreach_tests::generator::random::Random;
use coreach_tests::generator::{Shape, generate};
use coreach_tests::source::{self, Input};
use coreach_tests::text;

/// Names that something else bears: verdicts, made locations and variables, keys of the format, words of
/// YAML, DOT, SMT-LIB, JavaScript and Rust. `null` is missing: it cannot be put into the text of a model
/// without quotes.
const TAKEN: [&str; 60] = [
    "Pass",
    "Fail",
    "Inconclusive",
    "Pass_2",
    "Fail_2",
    "Inconclusive_2",
    "Accept__Begin",
    "Begin__Accept",
    "Accept_2",
    "Reject_2",
    "p_memory",
    "p_memory2",
    "p_memory_2",
    "q_memory",
    "on",
    "On",
    "ON",
    "off",
    "yes",
    "Yes",
    "no",
    "No",
    "y",
    "Y",
    "n",
    "N",
    "graph",
    "node",
    "edge",
    "digraph",
    "subgraph",
    "strict",
    "assert",
    "select",
    "store",
    "let",
    "forall",
    "Int",
    "Real",
    "Bool",
    "Array",
    "as",
    "par",
    "model",
    "push",
    "from",
    "to",
    "when",
    "assign",
    "initial_2",
    "locations_",
    "__proto__",
    "constructor",
    "_",
    "__",
    "e1",
    "E_",
    "x'",
    "inf",
    "NaN",
];

fn file(name: &str, text: String) -> Arc<SourceFile> {
    Arc::new(SourceFile { name: name.to_owned(), text })
}

/// The names that a pair uses, in every namespace.
fn names(pair: &Input) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for iosts in [&pair.specification, &pair.purpose.iosts] {
        names.extend(iosts.locations.iter().map(|location| location.name.clone()));
        names.extend(iosts.variables.iter().chain(&iosts.constants).map(|datum| datum.name().to_owned()));
        for action in &iosts.actions {
            names.insert(action.name.clone());
            names.extend(action.parameters.iter().map(|parameter| parameter.name().to_owned()));
        }
        for (name, ty) in named_types(iosts) {
            names.insert(name);
            match ty {
                Type::Enum(enumeration) => names.extend(enumeration.literals.iter().cloned()),
                Type::Record(record) => names.extend(record.fields.iter().map(|(field, _)| field.clone())),
                _ => {}
            }
        }
    }
    for special in ["Accept", "Reject"] {
        names.remove(special);
    }
    names
}

/// A text with names for names.
fn renamed(text: &str, map: &HashMap<String, String>) -> String {
    let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '\'';
    let mut result = String::new();
    let mut word = String::new();
    for c in text.chars().chain(['\n']) {
        if is_inner(c) {
            word.push(c);
            continue;
        }
        result.push_str(map.get(&word).unwrap_or(&word));
        word.clear();
        result.push(c);
    }
    result
}

/// A pair under other names: taken ones, names with the ending of memory variables, and some as long as a
/// name may be.
fn adversarial(seed: u64) -> (Input, Specification) {
    let pair = generate(seed, &Shape::default());
    let mut random = Random::new(seed ^ 0x6e61_6d65);
    let mut pool: Vec<String> = TAKEN.iter().map(|name| (*name).to_owned()).collect();
    let mut map = HashMap::new();
    let names = names(&source::read(&pair).unwrap());
    for (number, name) in names.iter().enumerate() {
        let long =
            format!("{number:_<60}").replace(|c: char| c.is_ascii_digit(), "n") + &format!("{number:a<139}");
        let other = match random.below(5) {
            0 => long,
            1 => format!("{name}_memory"),
            _ => pool.swap_remove(random.below(pool.len())),
        };
        if !map.values().any(|known| *known == other) && !names.contains(&other) {
            map.insert(name.clone(), other);
        }
    }
    let (specification, purpose) =
        (renamed(&text::specification(&pair), &map), renamed(&text::purpose(&pair), &map));
    let read = read_specification(file("specification", specification.clone()));
    let (read, _) = read.unwrap_or_else(|found| panic!("{found:#?}\n{specification}"));
    let (purpose, _) = read_purpose(file("purpose", purpose.clone()), &read)
        .unwrap_or_else(|found| panic!("{found:#?}\n{specification}\n{purpose}"));
    (Input { specification: read.iosts.clone(), purpose }, read)
}

fn made(pair: &Input) -> Option<Generation> {
    let options = StageOptions {
        max_lookahead: 6,
        analysis: Default::default(),
        limits: Default::default(),
        check: false,
    };
    make(&pair.specification, pair.purpose.clone(), &options, &mut Z3Solver::default(), &mut |_| {}).ok()
}

/// Writes and reads each stage; panics where that is not the same.
fn round(generation: &Generation, specification: &Specification) {
    let mut solver = Z3Solver::default();
    for stage in Stage::ALL {
        let view = View::of(generation, stage);
        for format in [Format::Yaml, Format::Json] {
            let text = export(&view, format, ExportOptions::default()).unwrap();
            assert_eq!(read_back(&view, format, &text, specification, &mut solver), Ok(()), "{stage:?}");
        }
    }
}

#[test]
fn taken_names_are_read_as_they_were_written() {
    let (mut whole, mut memories) = (0, 0);
    for seed in 0..40 {
        let (pair, specification) = adversarial(seed);
        let Some(generation) = made(&pair) else { continue };
        whole += 1;
        memories +=
            usize::from(generation.visible.iosts.variables.len() > generation.closed.iosts.variables.len());
        round(&generation, &specification);
        understood(&generation);
    }
    assert!(whole > 20 && memories > 2, "one-sided test: {whole} made, {memories} with memory variables");
}

/// Z3 reads every guard of the test case's document.
fn understood(generation: &Generation) {
    let text = export::json::readable_json(&View::of(generation, Stage::InputComplete));
    let document: Document = serde_json::from_str(&text).unwrap();
    let readable = document.readable.unwrap();
    for transition in &document.transitions {
        let guard = readable.conditions.iter().find(|one| one.term == transition.guard).unwrap();
        let declared =
            [&readable.declarations[..], &readable.parameters[transition.action], &guard.declarations];
        let script = format!("{}\n(assert {})\n", declared.concat().join("\n"), guard.smtlib);
        let solver = z3::Solver::new();
        solver.push();
        solver.from_string(script.clone());
        assert_eq!(solver.get_assertions().len(), 1, "not understood:\n{script}");
    }
}

/// A specification in which the parameter `q` must be remembered, with an enumeration of these literals.
fn remembering(literals: &str, more: &str) -> String {
    format!(
        "iosts: remembering\ntypes: {{ T: [{literals}] }}\nvariables: {{ v: int, t: T }}\n\
         initial: {{ location: l0, condition: \"v == 0 && t == A\" }}\n\
         inputs: {{ a: {{ q: \"int[0..2]\" }} }}\noutputs: {{ b: {{ r: \"int[0..3]\" }}, c: {{ r: \"int[0..3]\" }} }}\n\
         transitions:\n  - {{ from: l0, on: a, to: l1, assign: {{ v: q, t: q_memory }} }}\n  \
         - {{ from: l0, on: a, to: l2, assign: {{ v: q + 1 }} }}\n  \
         - {{ from: l1, on: b, to: l3, when: r == v{more} }}\n  - {{ from: l2, on: c, to: l4, when: r == v }}\n"
    )
}

const ENDS: &str = "purpose: p\nof: remembering\ninitial: { location: Begin }\ntransitions:\n  \
    - { from: Begin, to: Accept, on: b, when: r == 1 }\n  - { from: Begin, to: Begin, on: a }\n";

fn generated(specification: &str, purpose: &str) -> (Generation, Specification) {
    let (specification, _) = read_specification(file("specification", specification.to_owned())).unwrap();
    let (purpose, _) = read_purpose(file("purpose", purpose.to_owned()), &specification).unwrap();
    let pair = Input { specification: specification.iosts.clone(), purpose };
    (made(&pair).unwrap(), specification)
}

#[test]
fn a_memory_variable_is_no_literal() {
    let (generation, specification) = generated(&remembering("A, q_memory, q_memory_2", ""), ENDS);
    let names: Vec<&str> = generation.visible.iosts.variables.iter().map(|datum| datum.name()).collect();
    assert_eq!(names, ["v", "t", "q_memory_3"]);
    round(&generation, &specification);
}

#[test]
fn a_word_for_nothing_is_a_name() {
    let specification = "iosts: 'null'\ntypes: { 'y': ['null', 'n'] }\nvariables: { 'on': 'y' }\n\
        initial: { location: 'null', condition: 'on == null' }\ninputs: { 'null': { 'off': 'y' } }\noutputs: { 'no': {} }\n\
        transitions:\n  - { from: 'null', to: 'yes', 'on': 'null', assign: { 'on': 'off' } }\n  \
        - { from: 'yes', to: 'null', 'on': 'no', when: 'on == null' }\n";
    let purpose = "purpose: 'null'\nof: 'null'\ninitial: { location: 'on' }\ntransitions: \
        [{ from: 'on', to: Accept, 'on': 'no' }]\n";
    let (generation, specification) = generated(specification, purpose);
    round(&generation, &specification);
    understood(&generation);
}

#[test]
fn a_type_that_no_datum_has_is_written() {
    let more = " && (if v > 0 then B else C) == B";
    let text = remembering("A, q_memory", more).replace("T: [A, q_memory]", "T: [A, q_memory], U: [B, C]");
    let text = text.replace(
        "when: r == v && (if v > 0 then B else C) == B",
        "when: \"r == v && (if v > 0 then B else C) == B\"",
    );
    let (generation, specification) = generated(&text, ENDS);
    round(&generation, &specification);
    understood(&generation);
}

#[test]
fn long_names_and_long_guards_are_read_as_they_were_written() {
    let long = |name: &str| format!("{name}{}", "_".repeat(200 - name.len()));
    let (first, second) = (long("first"), long("second"));
    // Each guard is nearly as long as a guard may be; the product joins two. Few parts: each is a question to
    // the solver.
    let guard = |digit: char| {
        let number = digit.to_string().repeat(1_500);
        let parts: Vec<String> = (0..40).map(|at| format!("v != {number}{at}")).collect();
        parts.join(" && ")
    };
    let specification = format!(
        "iosts: {}\nvariables: {{ v: int }}\ninitial: {{ location: {first}, condition: v == 0 }}\n\
         inputs: {{ a: {{ q: int }} }}\noutputs: {{ b: {{}} }}\ntransitions:\n  \
         - {{ from: {first}, to: {second}, on: a, when: \"{}\" }}\n  - {{ from: {second}, to: {first}, on: b }}\n",
        long("model"),
        guard('1')
    );
    let purpose = format!(
        "purpose: {}\nof: {}\nobserves: [v]\ninitial: {{ location: {first} }}\ntransitions:\n  \
         - {{ from: {first}, to: {second}, on: a, when: \"{}\" }}\n  - {{ from: {second}, to: Accept, on: b }}\n",
        long("purpose"),
        long("model"),
        guard('2')
    );
    let (generation, specification) = generated(&specification, &purpose);
    let guards =
        generation.product.iosts.transitions.iter().map(|transition| transition.guard.to_string().len());
    assert!(
        guards.max() > Some(coreach_model::reader::ReaderLimits::GIVEN.expression),
        "the test is too small"
    );
    let names = generation.test_case.iosts.locations.iter().map(|location| location.name.len());
    assert!(names.max() < Some(150));
    round(&generation, &specification);
}
