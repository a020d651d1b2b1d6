//! A purpose with sets of actions is the purpose that is written out: the same transitions, and the same test
//! case, byte by byte.
#![allow(clippy::unwrap_used, reason = "a test's helper fails its test")]

use std::fs;
use std::path::Path;

use coreach_analyses::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::iosts::{ActionKind, TestPurpose};
use coreach_model::reader::{Specification, from_bytes, read_purpose, read_specification};
use coreach_model::writer::write_purpose_yaml;
use coreach_pipeline::export::{self, Format, View};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Stage, StageOptions, generate};
use coreach_tests::generator::{Shape, generate as random_pair};
use coreach_tests::text;

fn specification(text: String) -> Specification {
    read_specification(from_bytes("specification".to_owned(), text.into_bytes()).unwrap()).unwrap().0
}

fn purpose(text: String, specification: &Specification) -> TestPurpose {
    read_purpose(from_bytes("purpose".to_owned(), text.clone().into_bytes()).unwrap(), specification)
        .unwrap_or_else(|found| panic!("{text}\n{found:#?}"))
        .0
}

fn coffee_machine() -> Specification {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/coffee_machine/specification.yaml");
    specification(fs::read_to_string(path).unwrap())
}

/// The document of the test case, with its facts.
fn test_case(specification: &Specification, purpose: TestPurpose) -> String {
    let options = StageOptions {
        max_lookahead: 8,
        analysis: Analysis::default(),
        limits: Limits::default(),
        check: true,
    };
    let mut solver = Z3Solver::default();
    let made = generate(&specification.iosts, purpose, &options, &mut solver, &mut |_| {}).unwrap();
    export::export(
        &View::of(&made, Stage::InputComplete),
        Format::Json,
        export::ExportOptions { facts: true, ..Default::default() },
    )
    .unwrap()
}

/// What is written under `on:`, and the actions that it means.
const SETS: [(&str, &[&str]); 10] = [
    ("\"*\"", &["Coin", "ChooseBeverage", "Cancel", "Return", "Deliver"]),
    ("{ any: input }", &["Coin", "ChooseBeverage", "Cancel"]),
    ("{ any: output }", &["Return", "Deliver"]),
    ("{ not: [Return] }", &["Coin", "ChooseBeverage", "Cancel", "Deliver"]),
    ("{ not: Return }", &["Coin", "ChooseBeverage", "Cancel", "Deliver"]),
    ("{ any: output, not: [Deliver] }", &["Return"]),
    ("{ not: [Coin, Cancel, Return], any: input }", &["ChooseBeverage"]),
    ("[Return, Coin]", &["Return", "Coin"]),
    ("[tau, Cancel]", &["tau", "Cancel"]),
    ("[Cancel]", &["Cancel"]),
];

fn text_of(on: &[&str]) -> String {
    let mut text = "purpose: sets\nof: coffee_machine\nobserves: [vPaid]\nvariables: { n: nat }\n\
                    initial: { location: Begin, condition: n == 0 }\ntransitions:\n"
        .to_owned();
    for on in on {
        text +=
            &format!("  - {{ from: Begin, to: Late, on: {on}, when: vPaid > 9, assign: {{ n: n + 1 }} }}\n");
    }
    text + "  - { from: Late, to: Accept, on: Deliver, when: n < 5 }\n"
}

#[test]
fn the_test_case_is_that_of_the_purpose_that_is_written_out() {
    let specification = coffee_machine();
    for (set, members) in SETS {
        let short = purpose(text_of(&[set]), &specification);
        let long = purpose(text_of(members), &specification);
        assert_eq!(short.iosts.transitions.len(), members.len() + 1, "{set}");
        assert_eq!(write_purpose_yaml(&short), write_purpose_yaml(&long), "{set}");
        assert_eq!(test_case(&specification, short), test_case(&specification, long), "{set}");
    }
}

#[test]
fn a_list_may_rename_parameters() {
    let specification = coffee_machine();
    let read = |transitions: &str| {
        let text = format!(
            "purpose: sets\nof: coffee_machine\ninitial: {{ location: Begin }}\ntransitions:\n{transitions}"
        );
        write_purpose_yaml(&purpose(text, &specification))
    };
    let short = read(
        "  - { from: Begin, to: Accept, on: [Coin(n), Return(n), Deliver], when: true }\n  - { from: Begin, to: Begin, on: [Return(n), Coin(n)], when: n > 7 }\n",
    );
    let long = read(
        "  - { from: Begin, to: Accept, on: Coin }\n  - { from: Begin, to: Accept, on: Return }\n  - { from: Begin, to: Accept, on: Deliver }\n  \
         - { from: Begin, to: Begin, on: Return, when: pRemainingValue > 7 }\n  - { from: Begin, to: Begin, on: Coin, when: pCoinValue > 7 }\n",
    );
    assert_eq!(short, long);
    // One name of all.
    let short =
        read("  - { from: Begin, to: Accept, on: [ChooseBeverage, Deliver], when: pBeverage == TEA }\n");
    let long = read(
        "  - { from: Begin, to: Accept, on: ChooseBeverage, when: pBeverage == TEA }\n  - { from: Begin, to: Accept, on: Deliver, when: pBeverage == TEA }\n",
    );
    assert_eq!(short, long);
}

/// Random specifications: which actions a set means is said here by the model's own words.
#[test]
fn sets_over_random_alphabets_are_written_out() {
    let mut met = 0;
    for seed in 0..200 {
        let pair = random_pair(seed, &Shape::default());
        let specification = specification(text::specification(&pair));
        let names = |meant: &dyn Fn(ActionKind) -> bool, not: &str| -> Vec<String> {
            let actions = specification.iosts.actions.iter();
            let meant = actions.filter(|action| meant(action.kind) && action.name != not);
            meant.map(|action| action.name.clone()).collect()
        };
        let visible = |kind: ActionKind| kind != ActionKind::Internal;
        let inputs = |kind: ActionKind| kind == ActionKind::Input;
        let outputs = |kind: ActionKind| kind == ActionKind::Output;
        let Some(first) = names(&visible, "").first().cloned() else { continue };
        let sets = [
            ("\"*\"".to_owned(), names(&visible, "")),
            ("{ any: input }".to_owned(), names(&inputs, "")),
            ("{ any: output }".to_owned(), names(&outputs, "")),
            (format!("{{ not: {first} }}"), names(&visible, &first)),
        ];
        for (set, members) in sets {
            if members.is_empty() {
                continue;
            }
            let text = |on: &[&str]| {
                let mut text = format!(
                    "purpose: p\nof: {}\ninitial: {{ location: B }}\ntransitions:\n",
                    specification.iosts.name
                );
                for on in on {
                    text += &format!("  - {{ from: B, to: Accept, on: {on} }}\n");
                }
                text
            };
            let members: Vec<&str> = members.iter().map(String::as_str).collect();
            let short = purpose(text(&[&set]), &specification);
            assert_eq!(
                write_purpose_yaml(&short),
                write_purpose_yaml(&purpose(text(&members), &specification))
            );
            met += members.len();
        }
    }
    assert!(met > 1000, "only {met} actions");
}

/// A mistake in a set is one mistake, however many actions are in it.
#[test]
fn a_set_of_many_actions_is_read_quickly_and_reported_once() {
    let actions: String = (0..2_000).map(|number| format!("  a{number}: {{}}\n")).collect();
    let specification = specification(format!(
        "iosts: many\ninitial: {{ location: L }}\noutputs:\n{actions}transitions: [{{ from: L, to: L, on: a0 }}]\n"
    ));
    let read = |transitions: &str| {
        let text = format!(
            "purpose: p\nof: many\ninitial: {{ location: B }}\ntransitions:\n  - {{ from: B, to: Accept, on: a0 }}\n{transitions}"
        );
        read_purpose(from_bytes("purpose".to_owned(), text.into_bytes()).unwrap(), &specification)
    };
    for wrong in [
        "  - { from: Accept, to: B, on: \"*\" }\n",
        "  - { from: B, to: B, on: \"*\", when: x > 1 }\n",
        "  - { from: B, to: B, on: \"*\", when: 1 }\n",
        "  - { from: B, to: B, on: \"*\", assign: { x: 1 } }\n",
    ] {
        let found = read(wrong).unwrap_err();
        assert_eq!(found.len(), 1, "{wrong}: {found:#?}");
    }
    let most = read(&"  - { from: B, to: B, on: \"*\" }\n".repeat(24)).unwrap().0;
    assert_eq!(most.iosts.transitions.len(), 48_001);
    let found = read(&"  - { from: B, to: B, on: \"*\" }\n".repeat(10_000)).unwrap_err();
    assert_eq!(found.iter().map(|one| one.code).collect::<Vec<_>>(), ["too-many-transitions"]);
}
