//! What imported models are good for: machines of XLIA are their translations by hand, transition systems
//! come back as they were written, and an imported model goes all the way to a run.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on may panic"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use coreach_import::{FirstValues, ForeignFormat, Options, import};
use coreach_model::diagnostic::SourceFile;
use coreach_model::reader::{AnySpecification, from_bytes, read_any_specification};
use coreach_model::term::substitute;
use coreach_model::timed::Timed;
use coreach_model::{Iosts, Term};
use coreach_pipeline::export::View;
use coreach_pipeline::export::aut::to_aut;
use coreach_project::render::{Style, render};

fn read(name: &str, text: &str) -> AnySpecification {
    let file = from_bytes(name.to_owned(), text.as_bytes().to_vec()).unwrap();
    read_any_specification(file).unwrap_or_else(|found| panic!("{}", render(&found, Style::PLAIN))).0
}

fn imported(name: &str, text: String, format: ForeignFormat, options: &Options) -> AnySpecification {
    let file = Arc::new(SourceFile { name: name.to_owned(), text });
    let made = import(file, Some(format), options);
    let (text, _) = made.unwrap_or_else(|found| panic!("{}", render(&found, Style::PLAIN)));
    read(name, &text)
}

fn file(path: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(path);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn format(name: &str) -> ForeignFormat {
    name.parse().unwrap()
}

/// A transition without the names of parameters and of itself.
type Shape = (String, String, String, BTreeSet<String>, BTreeMap<String, String>, BTreeSet<String>);

/// What a timed model says, under names that do not depend on who wrote it: parameters by their place, guards
/// as sets of conjuncts.
fn shapes(timed: &Timed) -> BTreeMap<String, Shape> {
    let graph = timed.graph();
    let numbered =
        |(number, transition): (coreach_model::TransitionId, &coreach_model::iosts::Transition)| {
            let action = graph.action(transition.action);
            let by_place = action.parameters.iter().enumerate().map(|(place, parameter)| {
                let name = format!("{}_{place}", action.name);
                (parameter.clone(), Term::datum(&coreach_model::Datum::new(name, parameter.ty().clone())))
            });
            let by_place = by_place.collect();
            let text = |term: &Term| substitute(term, &by_place).to_string();
            let guard = transition.guard.conjuncts().iter().map(text).collect();
            let assigned = transition
                .assignments
                .iter()
                .map(|(variable, value)| (variable.name().to_owned(), text(value)));
            let resets = timed.resets(number).iter().map(|clock| clock.name().to_owned()).collect();
            let shape = (
                graph.location(transition.source).name.clone(),
                graph.location(transition.target).name.clone(),
                action.name.clone(),
                guard,
                assigned.collect(),
                resets,
            );
            (timed.called(number), shape)
        };
    graph.transitions.numbered().map(numbered).collect()
}

fn data(iosts: &Iosts) -> BTreeSet<String> {
    let variables = iosts.variables.iter().map(|datum| format!("var {datum:?}"));
    let constants = iosts.constants.iter().map(|datum| format!("const {datum:?}"));
    let actions = iosts.actions.iter().map(|action| {
        let types: Vec<String> =
            action.parameters.iter().map(|parameter| parameter.ty().to_string()).collect();
        format!("{} {:?} {}", action.name, action.kind, types.join(" "))
    });
    variables.chain(constants).chain(actions).collect()
}

fn timed(specification: AnySpecification) -> Timed {
    match specification {
        AnySpecification::Timed(specification) => specification.timed,
        AnySpecification::Untimed(_) => panic!("a model without time"),
    }
}

#[test]
fn machines_of_xlia_are_their_translations_by_hand() {
    let pairs = [
        (
            "imports/xlia/cash_machine.xlia",
            "../examples/atm_timed/specification.yaml",
            vec!["Auth".to_owned()],
        ),
        ("imports/xlia/sums.xlia", "models/sptg_dummy.yaml", Vec::new()),
        ("imports/xlia/account.xlia", "models/sptg_atm.yaml", Vec::new()),
    ];
    for (foreign, by_hand, uncontrollable) in pairs {
        let options = Options { uncontrollable, first_values: FirstValues::Open, ..Options::default() };
        let ours = timed(imported(foreign, file(foreign), format("xlia"), &options));
        let theirs = timed(read(by_hand, &file(by_hand)));
        assert_eq!(shapes(&ours), shapes(&theirs), "{foreign}");
        assert_eq!(data(ours.graph()), data(theirs.graph()), "{foreign}");
        assert_eq!(ours.clocks(), theirs.clocks());
        assert_eq!(ours.graph().initial_condition, theirs.graph().initial_condition);
        let elsewhere = |timed: &Timed| -> Vec<String> {
            timed.uncontrollable().map(|(_, action)| action.name.clone()).collect()
        };
        assert_eq!(elsewhere(&ours), elsewhere(&theirs));
        let initial = |timed: &Timed| timed.graph().location(timed.graph().initial).name.clone();
        assert_eq!(initial(&ours), initial(&theirs));
    }
}

/// What a system can do, under names of locations that are their numbers.
fn lts(iosts: &Iosts) -> (u32, BTreeSet<[String; 4]>, usize) {
    let transitions = iosts.transitions.iter().map(|transition| {
        let action = iosts.action(transition.action);
        // All internal actions are one there.
        let name =
            if action.is_visible() { format!("{} {:?}", action.name, action.kind) } else { "i".to_owned() };
        [transition.source.0.to_string(), name, transition.guard.to_string(), transition.target.0.to_string()]
    });
    (iosts.initial.0, transitions.collect(), iosts.locations.len())
}

/// Each model of the folder as it is imported, written as `.aut`, and imported again: the same system.
#[test]
fn transition_systems_come_back_as_they_were_written() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("imports/aut");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|ending| ending != "yaml") {
            continue;
        }
        let AnySpecification::Untimed(before) = read("before", &std::fs::read_to_string(&path).unwrap())
        else {
            panic!("a model with time")
        };
        // Decimals are the one kind of offer that is not written.
        if before
            .iosts
            .actions
            .iter()
            .flat_map(|action| &action.parameters)
            .any(|datum| *datum.ty() == coreach_model::Type::Real)
        {
            continue;
        }
        let text = to_aut(&View::of_specification(&before.iosts));
        let AnySpecification::Untimed(after) = imported("back.aut", text, format("aut"), &Options::default())
        else {
            panic!("a model with time")
        };
        assert_eq!(lts(&after.iosts), lts(&before.iosts), "{}", path.display());
        seen += 1;
    }
    assert!(seen >= 19, "{seen}");
}

/// Data that is no offer stands in the label, and is not taken for a name on the way back.
#[test]
fn labels_with_conditions_are_not_read_as_names() {
    let specification = read("coffee", &file("../examples/coffee_machine/specification.yaml"));
    let AnySpecification::Untimed(specification) = specification else { panic!("a model with time") };
    let text = to_aut(&View::of_specification(&specification.iosts));
    assert!(text.contains("\"?Coin [pCoinValue > 0] / vPaid := "), "{text}");
    let file = Arc::new(SourceFile { name: "coffee.aut".to_owned(), text });
    let found = import(file, None, &Options::default()).unwrap_err();
    assert!(found.iter().any(|found| found.code == "label"), "{}", render(&found, Style::PLAIN));
}
