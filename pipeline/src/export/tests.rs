//! The exports of the examples' stages.

use std::path::PathBuf;
use std::sync::LazyLock;

use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::Iosts;
use coreach_model::reader::{from_bytes, load, read_purpose, read_specification};
use serde_json::Value;

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
    let options = crate::Options {
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

fn document(generation: &Generation, stage: Stage) -> Value {
    serde_json::from_str(&json::json(&View::of(generation, stage))).unwrap()
}

fn strings(value: &Value) -> Vec<String> {
    value.as_array().into_iter().flatten().map(|line| line.as_str().unwrap().to_owned()).collect()
}

/// Z3 leaves out what it does not understand, so what it took is counted.
fn accepted(declarations: &[String], expression: &Value, boolean: bool) {
    let mut lines = declarations.to_vec();
    lines.extend(strings(&expression["declarations"]));
    let constraints = strings(&expression["constraints"]);
    lines.extend(constraints.iter().map(|constraint| format!("(assert {constraint})")));
    let text = expression["smtlib"].as_str().unwrap();
    lines.push(if boolean { format!("(assert {text})") } else { format!("(assert (= {text} {text}))") });
    let solver = z3::Solver::new();
    solver.from_string(lines.join("\n"));
    let found = solver.get_assertions().len();
    assert_eq!(found, constraints.len() + 1, "not accepted:\n{}", lines.join("\n"));
}

fn all_conditions_are_accepted(document: &Value) {
    let declarations = strings(&document["declarations"]);
    accepted(&declarations, &document["initial"]["condition"], true);
    for location in document["locations"].as_array().unwrap() {
        for fact in ["reach", "coreach"] {
            if let Some(condition) = location.get(fact) {
                accepted(&declarations, condition, true);
            }
        }
    }
    let actions = document["actions"].as_array().unwrap();
    for transition in document["transitions"].as_array().unwrap() {
        let action = actions.iter().find(|action| action["name"] == transition["action"]).unwrap();
        let mut declarations = declarations.clone();
        declarations.extend(strings(&action["declarations"]));
        accepted(&declarations, &transition["guard"], true);
        for assignment in transition["assignments"].as_array().unwrap() {
            accepted(&declarations, assignment, false);
        }
    }
}

#[test]
fn a_solver_accepts_every_condition_of_the_coffee_machine() {
    let generation = &*COFFEE;
    for stage in Stage::ALL {
        all_conditions_are_accepted(&document(generation, stage));
    }
}

#[test]
fn a_solver_accepts_every_condition_of_the_protocol() {
    let generation = &*PROTOCOL;
    for stage in Stage::ALL {
        all_conditions_are_accepted(&document(generation, stage));
    }
}

#[test]
fn a_bad_text_would_be_noticed() {
    let bad = serde_json::json!({ "text": "", "smtlib": "(< x nonsense)" });
    let declarations = ["(declare-const x Int)".to_owned()];
    assert!(std::panic::catch_unwind(|| accepted(&declarations, &bad, true)).is_err());
}

#[test]
fn documents_follow_their_schema() {
    let schema = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../docs/test-case.schema.json");
    let schema: Value = serde_json::from_str(&std::fs::read_to_string(schema).unwrap()).unwrap();
    for generation in [&*COFFEE, &*PROTOCOL] {
        for stage in Stage::ALL {
            let mut problems = Vec::new();
            schema::validate(&schema, &schema, &document(generation, stage), "", &mut problems);
            assert!(problems.is_empty(), "{}: {problems:#?}", stage.artifact());
        }
    }
    let mut problems = Vec::new();
    schema::validate(&schema, &schema, &serde_json::json!({ "format": "other" }), "", &mut problems);
    assert!(problems.len() > 10, "{problems:?}");
}

#[test]
fn a_document_says_verdicts_directions_and_roles() {
    let generation = &*COFFEE;
    let document = document(generation, Stage::InputComplete);
    let coin = &document["actions"][0];
    assert_eq!(
        (&coin["name"], &coin["kind"], &coin["role"]),
        (&"Coin".into(), &"input".into(), &"stimulus".into())
    );
    let verdicts: Vec<&str> = document["locations"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|location| location.get("verdict")?.as_str())
        .collect();
    assert_eq!(verdicts, ["pass", "fail"]);
    assert_eq!(document["counts"]["fail"], 8);
    assert_eq!(document["purpose_reachable"], true);
}

#[test]
fn a_picture_of_the_system_and_one_of_the_tester_differ_in_sides() {
    let generation = &*COFFEE;
    let system = dot::dot(&View::of(generation, Stage::Determinize), Options::default());
    assert!(system.contains("<B>Coin?(pCoinValue)</B>"), "{system}");
    assert!(system.contains("<B>Return!(pRemainingValue)</B>"), "{system}");
    let tester = dot::dot(&View::of(generation, Stage::InputComplete), Options::default());
    assert!(tester.contains("<B>Coin!(pCoinValue)</B>"), "{tester}");
    assert!(tester.contains("<B>Return?(pRemainingValue)</B>"), "{tester}");
    assert!(tester.contains("! the tester sends, ? the tester observes"), "{tester}");
    assert!(tester.contains("&lt;Pay,Begin&gt;"), "{tester}");
}

#[test]
fn transitions_into_fail_are_one_dashed_arrow_per_location() {
    let generation = &*COFFEE;
    let text = dot::dot(&View::of(generation, Stage::InputComplete), Options::default());
    assert_eq!(text.matches("style=\"dashed\"").count(), 4, "{text}");
}

#[test]
fn facts_are_shown_on_request() {
    let generation = &*COFFEE;
    let view = View::of(generation, Stage::Select);
    assert!(!dot::dot(&view, Options::default()).contains("coreach:"));
    assert!(dot::dot(&view, Options { facts: true, ..Options::default() }).contains("coreach:"));
}

#[test]
fn the_same_view_gives_the_same_bytes() {
    let (first, second) = (&*COFFEE, generation("coffee_machine", "deliver_coffee.yaml"));
    for stage in Stage::ALL {
        for format in [Format::Dot, Format::Json, Format::Yaml] {
            let text = |generation| export(&View::of(generation, stage), format, Options::default()).unwrap();
            assert_eq!(text(first), text(&second));
        }
    }
}

/// Without what a text of its own gives it.
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
            let text = yaml::yaml(&view);
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
    let picture = dot::dot(&View::of_specification(&iosts), Options::default());
    assert!(!picture.chars().any(|c| c != '\n' && coreach_model::visible::is_hidden_sign(c)), "{picture}");
    let drawn = without_entities(&svg::svg(&View::of_specification(&iosts), Options::default()).unwrap());
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
    let (document, model) = (json::json(&view), yaml::yaml(&view));
    for text in [&document, &model] {
        assert!(!text.chars().any(coreach_model::visible::is_hidden_sign), "{text}");
    }
    let document: Value = serde_json::from_str(&document).unwrap();
    let (read, _) = read_specification(from_bytes("m".to_owned(), model.into_bytes()).unwrap()).unwrap();
    for ((at, text), location) in HOSTILE.iter().enumerate().zip(&read.iosts.locations) {
        assert_eq!(document["locations"][at]["label"], *text);
        assert_eq!(location.label, *text);
        assert_eq!(location.description.as_deref(), Some(*text));
    }
}

/// As much of JSON Schema as the schema uses.
mod schema {
    use serde_json::Value;

    pub fn validate(root: &Value, schema: &Value, value: &Value, at: &str, problems: &mut Vec<String>) {
        let Value::Object(rules) = schema else { panic!("{at}: not a schema: {schema}") };
        for (rule, wanted) in rules {
            match rule.as_str() {
                "$ref" => {
                    let name = wanted.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                    validate(root, &root["$defs"][name], value, at, problems);
                }
                "type" => {
                    let fits = match wanted.as_str().unwrap() {
                        "object" => value.is_object(),
                        "array" => value.is_array(),
                        "string" => value.is_string(),
                        "boolean" => value.is_boolean(),
                        "integer" => value.is_u64(),
                        other => panic!("{at}: type {other}"),
                    };
                    if !fits {
                        problems.push(format!("{at}: not {wanted}: {value}"));
                    }
                }
                "const" if wanted != value => problems.push(format!("{at}: not {wanted}")),
                "enum" if !wanted.as_array().unwrap().contains(value) => {
                    problems.push(format!("{at}: {value} is none of {wanted}"));
                }
                "required" => {
                    for key in wanted.as_array().unwrap() {
                        if value.get(key.as_str().unwrap()).is_none() {
                            problems.push(format!("{at}: {key} is missing"));
                        }
                    }
                }
                "properties" => {
                    for (key, inner) in wanted.as_object().unwrap() {
                        if let Some(found) = value.get(key) {
                            validate(root, inner, found, &format!("{at}/{key}"), problems);
                        }
                    }
                }
                "additionalProperties" => {
                    for (key, _) in value.as_object().into_iter().flatten() {
                        if rules["properties"].get(key).is_none() {
                            problems.push(format!("{at}: {key} is unknown"));
                        }
                    }
                }
                "items" => {
                    for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                        validate(root, wanted, item, &format!("{at}/{number}"), problems);
                    }
                }
                "oneOf" => {
                    let fits = |one: &&Value| {
                        let mut objections = Vec::new();
                        validate(root, one, value, at, &mut objections);
                        objections.is_empty()
                    };
                    let count = wanted.as_array().unwrap().iter().filter(fits).count();
                    if count != 1 {
                        problems.push(format!("{at}: {count} of the forms fit"));
                    }
                }
                "const" | "enum" | "$schema" | "$id" | "$defs" | "title" | "description" | "minimum"
                | "minItems" => {}
                other => panic!("{at}: the schema uses {other}, which this test does not know"),
            }
        }
    }
}
