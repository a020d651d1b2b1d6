//! The exports of the examples' stages.

use std::path::PathBuf;
use std::sync::LazyLock;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_artifact::Document;
use coreach_artifact::document::{Condition, Role};
use coreach_model::reader::{from_bytes, load, read_purpose, read_specification};
use coreach_model::{ActionKind, Iosts, Verdict};

use super::*;
use crate::{Generation, Stage, generate};

fn example(folder: &str, file: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../examples").join(folder).join(file)
}

fn generation(folder: &str, purpose: &str) -> Generation {
    let specification = load(&example(folder, "specification.yaml")).unwrap();
    let (specification, _) = read_specification(specification).unwrap();
    let purpose = load(&example(folder, purpose)).unwrap();
    let (purpose, _) = read_purpose(purpose, &specification).unwrap();
    let options = crate::StageOptions {
        max_lookahead: 8,
        analysis: Default::default(),
        limits: Default::default(),
        check: true,
    };
    generate(&specification.iosts, purpose, &options, &mut Z3Solver::default(), &mut |_| {}).unwrap()
}

static COFFEE: LazyLock<Generation> = LazyLock::new(|| generation("coffee_machine", "deliver_coffee.yaml"));
static PROTOCOL: LazyLock<Generation> =
    LazyLock::new(|| generation("bounded_retransmission", "transmit_once.yaml"));

fn document(generation: &Generation, stage: Stage) -> Document {
    json::to_document(&View::of(generation, stage))
}

/// Z3 leaves out what it does not understand, so what it took is counted.
fn accepted(declarations: &[String], condition: &Condition, boolean: bool) {
    let mut lines = declarations.to_vec();
    lines.extend(condition.declarations.iter().cloned());
    lines.extend(condition.constraints.iter().map(|constraint| format!("(assert {constraint})")));
    let text = &condition.smtlib;
    lines.push(if boolean { format!("(assert {text})") } else { format!("(assert (= {text} {text}))") });
    let solver = z3::Solver::new();
    solver.from_string(lines.join("\n"));
    let found = solver.get_assertions().len();
    assert_eq!(found, condition.constraints.len() + 1, "not accepted:\n{}", lines.join("\n"));
}

fn all_conditions_are_accepted(generation: &Generation, stage: Stage) {
    let document: Document =
        serde_json::from_str(&json::readable_json(&View::of(generation, stage))).unwrap();
    let readable = document.readable.unwrap();
    let is = |term: usize| readable.conditions.iter().find(|condition| condition.term == term).unwrap();
    accepted(&readable.declarations, is(document.initial.condition), true);
    for location in &document.locations {
        for fact in location.reach.into_iter().chain(location.coreach).chain(location.must_answer) {
            accepted(&readable.declarations, is(fact), true);
        }
    }
    for transition in &document.transitions {
        let declarations = [&readable.declarations[..], &readable.parameters[transition.action]].concat();
        accepted(&declarations, is(transition.guard), true);
        for assignment in &transition.assignments {
            accepted(&declarations, is(assignment.value), false);
        }
    }
}

#[test]
fn a_solver_accepts_every_condition_of_the_coffee_machine() {
    let generation = &*COFFEE;
    for stage in Stage::ALL {
        all_conditions_are_accepted(generation, stage);
    }
}

#[test]
fn a_solver_accepts_every_condition_of_the_protocol() {
    let generation = &*PROTOCOL;
    for stage in Stage::ALL {
        all_conditions_are_accepted(generation, stage);
    }
}

#[test]
fn a_bad_text_would_be_noticed() {
    let bad = Condition {
        term: 0,
        text: String::new(),
        smtlib: "(< x nonsense)".to_owned(),
        declarations: Vec::new(),
        constraints: Vec::new(),
    };
    let declarations = ["(declare-const x Int)".to_owned()];
    assert!(std::panic::catch_unwind(|| accepted(&declarations, &bad, true)).is_err());
}

#[test]
fn a_document_says_verdicts_directions_and_roles() {
    let generation = &*COFFEE;
    let document = document(generation, Stage::InputComplete);
    let coin = &document.actions[0];
    assert_eq!((coin.name.as_str(), coin.kind, coin.role), ("Coin", ActionKind::Input, Some(Role::Stimulus)));
    let verdicts: Vec<Verdict> = document.locations.iter().filter_map(|location| location.verdict).collect();
    assert_eq!(verdicts, [Verdict::Pass, Verdict::Fail]);
    assert_eq!(document.counts.fail, 8);
    assert_eq!(document.purpose_reachable, Some(true));
}

#[test]
fn a_picture_of_the_system_and_one_of_the_tester_differ_in_sides() {
    let generation = &*COFFEE;
    let system = dot::to_dot(&View::of(generation, Stage::Determinize), ExportOptions::default());
    assert!(system.contains("<B>Coin?(pCoinValue)</B>"), "{system}");
    assert!(system.contains("<B>Return!(pRemainingValue)</B>"), "{system}");
    let tester = dot::to_dot(&View::of(generation, Stage::InputComplete), ExportOptions::default());
    assert!(tester.contains("<B>Coin!(pCoinValue)</B>"), "{tester}");
    assert!(tester.contains("<B>Return?(pRemainingValue)</B>"), "{tester}");
    assert!(tester.contains("! the tester sends, ? the tester observes"), "{tester}");
    assert!(tester.contains("&lt;Pay,Begin&gt;"), "{tester}");
}

#[test]
fn transitions_into_fail_are_one_dashed_arrow_per_location() {
    let generation = &*COFFEE;
    let text = dot::to_dot(&View::of(generation, Stage::InputComplete), ExportOptions::default());
    assert_eq!(text.matches("style=\"dashed\"").count(), 4, "{text}");
}

#[test]
fn facts_are_shown_on_request() {
    let generation = &*COFFEE;
    let view = View::of(generation, Stage::Select);
    assert!(!dot::to_dot(&view, ExportOptions::default()).contains("coreach:"));
    assert!(
        dot::to_dot(&view, ExportOptions { facts: true, ..ExportOptions::default() }).contains("coreach:")
    );
}

#[test]
fn the_same_view_gives_the_same_bytes() {
    let (first, second) = (&*COFFEE, generation("coffee_machine", "deliver_coffee.yaml"));
    for stage in Stage::ALL {
        for format in [Format::Dot, Format::Json, Format::Yaml] {
            let text =
                |generation| export(&View::of(generation, stage), format, ExportOptions::default()).unwrap();
            assert_eq!(text(first), text(&second));
        }
    }
}

fn without_origins(mut iosts: Iosts) -> Iosts {
    iosts.origin = None;
    for transition in &mut iosts.transitions {
        transition.origin = Default::default();
    }
    iosts
}

#[test]
fn a_model_that_was_written_is_read_to_the_same_model() {
    for (generation, folder) in [(&*COFFEE, "coffee_machine"), (&*PROTOCOL, "bounded_retransmission")] {
        for stage in Stage::ALL {
            let view = View::of(generation, stage);
            let text = yaml::to_yaml(&view);
            let file = from_bytes(stage.artifact().to_owned(), text.clone().into_bytes()).unwrap();
            let read = if stage == Stage::Complete {
                let specification = load(&example(folder, "specification.yaml")).unwrap();
                let (specification, _) = read_specification(specification).unwrap();
                read_purpose(file, &specification).map(|(purpose, _)| purpose.iosts)
            } else {
                read_specification(file).map(|(specification, _)| specification.iosts)
            };
            let read = read.unwrap_or_else(|found| panic!("{found:#?}\n{text}"));
            assert_eq!(without_origins(read), without_origins(view.iosts.clone()), "{text}");
        }
    }
}

/// Soundness: a type that only quantifiers name is declared, also within functions.
#[test]
fn a_type_that_only_a_quantifier_names_is_written() {
    let text = r#"
iosts: m
types: { Number: "int[1..4]", Low: "int[-3..2]", Colour: [RED, GREEN], Paint: Colour, Maybe: "option[bool]" }
functions: { odd: { parameters: { k: int }, is: "some m in Number: k == 2 * m - 1" } }
variables: { v: int }
initial: { location: A, condition: "all z in Low: v != z" }
outputs: { O: { n: int } }
transitions:
  - from: A
    to: A
    on: O
    when: "n > v && odd(n) && (all p in Paint: p == RED => n > 3) && (some m in Maybe: m is none && n < 9)"
    assign: { v: "count m in Number: m < n" }
"#;
    let read = |text: &str| {
        let file = from_bytes("m".to_owned(), text.as_bytes().to_vec()).unwrap();
        read_specification(file).unwrap_or_else(|found| panic!("{found:#?}\n{text}")).0.iosts
    };
    let iosts = read(text);
    let written = coreach_model::writer::write_yaml(&iosts, &crate::named_types::named_types(&iosts));
    assert_eq!(without_origins(read(&written)), without_origins(iosts), "{written}");
}

/// Texts that Graphviz, XML or a terminal would obey.
const HOSTILE: [&str; 8] = [
    r"\N \G \E \T \H \l \r \n \\N",
    r"ends with \",
    r"{a|b} <port> | &amp; &#92; <B>bold</B>",
    "\"quoted\" 'and' -- /* not a comment */ # nor this",
    "before\u{202e}after \u{2066}isolated\u{2069}",
    "\u{1b}[2J\u{9b}31m\u{7}\u{7f}",
    "two\r\nlines\tand a tab",
    "\u{feff}\u{fffe}\u{ffff}\u{200b}",
];

fn with_texts() -> Iosts {
    let mut iosts = COFFEE.product.iosts.clone();
    for (location, text) in iosts.locations.iter_mut().zip(HOSTILE) {
        location.label = text.to_owned();
        location.description = Some(text.to_owned());
    }
    iosts
}

/// What a person sees: the text, without what is hidden, on one line.
fn seen(text: &str) -> String {
    coreach_model::visible::visible(text).replace("\r\n", "  ").replace('\t', " ")
}

fn without_entities(svg: &str) -> String {
    let pairs = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#45;", "-"),
        ("&#39;", "'"),
        ("&#92;", "\\"),
        ("&#160;", " "),
    ];
    let text = pairs.into_iter().fold(svg.to_owned(), |text, (entity, sign)| text.replace(entity, sign));
    text.replace("&amp;", "&")
}

#[test]
fn a_text_is_drawn_as_it_is_written() {
    let iosts = with_texts();
    let picture = dot::to_dot(&View::of_specification(&iosts), ExportOptions::default());
    assert!(!picture.chars().any(|c| c != '\n' && coreach_model::visible::is_hidden_sign(c)), "{picture}");
    let drawn =
        without_entities(&svg::to_svg(&View::of_specification(&iosts), ExportOptions::default()).unwrap());
    for text in HOSTILE {
        let shown = seen(text);
        assert!(drawn.contains(&format!(">{shown}</text>")), "the label {shown:?} in\n{drawn}");
        assert!(drawn.contains(&format!("<title>{shown}</title>")), "the tooltip {shown:?} in\n{drawn}");
    }
}

#[test]
fn a_document_and_a_model_keep_every_text_and_no_hidden_sign() {
    let iosts = with_texts();
    let view = View::of_specification(&iosts);
    let (document, model) = (json::to_json(&view), yaml::to_yaml(&view));
    for text in [&document, &model] {
        assert!(!text.chars().any(coreach_model::visible::is_hidden_sign), "{text}");
    }
    let document: Document = serde_json::from_str(&document).unwrap();
    let (read, _) = read_specification(from_bytes("m".to_owned(), model.into_bytes()).unwrap()).unwrap();
    for ((at, text), location) in HOSTILE.iter().enumerate().zip(&read.iosts.locations) {
        assert_eq!(document.locations[at].label, *text);
        assert_eq!(location.label, *text);
        assert_eq!(location.description.as_deref(), Some(*text));
    }
}
