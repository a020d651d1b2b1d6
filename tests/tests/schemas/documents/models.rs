//! What is made of models alone: covers, explorations, path-guided test cases, verdicts off-line.

use std::fs;
use std::path::PathBuf;

use coreach_analyses::symbolic::{Quiescence, TreeLimits};
use coreach_execution::walk::{Walk, WalkLimits};
use coreach_model::reader::{Specification, from_bytes, read_specification};
use coreach_project::cover::{self, CoverSettings, Criterion};
use coreach_project::exploration::{PathEnds, explore, make_document};
use coreach_project::walk::{self, ALL};
use serde_json::json;

use super::{diagnostics, ended, follow};
use crate::schemas::root;

#[test]
fn covers_follow_their_schema() {
    let path = root().join("examples/coffee_machine/specification.yaml");
    let file = from_bytes("coffee.yaml".to_owned(), fs::read(path).unwrap()).unwrap();
    let coffee = read_specification(file).unwrap().0;
    let told = |specification: &Specification, nodes, criteria: Vec<Criterion>| {
        let limits = TreeLimits { nodes, is_restricted: true, ..TreeLimits::default() };
        let (analysis, conformance, stages, observe) = Default::default();
        let settings = CoverSettings { criteria, limits, analysis, conformance, stages, steps: 0, observe };
        let kept = cover::Cover::of(specification, &settings).unwrap();
        let stop = cover::cover(specification, &settings, &|_| {}, &kept);
        let found = kept.into_inner().unwrap();
        let exit = if found.is_whole() { 0 } else { 5 };
        serde_json::to_value(cover::report::make_document(limits, &found, stop.as_ref(), exit)).unwrap()
    };
    let documents = [
        told(&coffee, 500, vec![Criterion::Guards]),
        told(&coffee, 6, vec![Criterion::Pairs, Criterion::AllPaths(7)]),
    ];
    assert_eq!(documents.each_ref().map(|document| document["exit_code"].clone()), [0, 5]);
    let lamp = "
iosts: lamp
initial: { location: Off }
inputs: { press: {} }
outputs: { bright: {}, dark: {} }
transitions:
  - { from: Off, on: press, to: Lit }
  - { from: Lit, on: bright, to: On }
  - { from: On, on: press, to: Unlit }
  - { from: Unlit, on: dark, to: On }
";
    let file = from_bytes("lamp.yaml".to_owned(), lamp.as_bytes().to_vec()).unwrap();
    let lamp = read_specification(file).unwrap().0;
    let machine = told(&lamp, 500, vec!["h+1".parse().unwrap(), "tour".parse().unwrap()]);
    assert!(machine["machine"]["suites"].as_array().unwrap().iter().any(|suite| suite["why"].is_string()));
    let [whole, cut] = documents;
    follow("cover.schema.json", &[ended(whole.clone()), whole, cut, machine]);
}

#[test]
fn explorations_follow_their_schema() {
    let path = root().join("tests/models/teller_machine.yaml");
    let text = fs::read_to_string(path).unwrap();
    let explored = |text: &str, limits: TreeLimits, purpose| {
        let file = from_bytes("teller_machine.yaml".to_owned(), text.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(file).unwrap().0.iosts;
        let found = explore(&iosts, limits, purpose);
        let exit = if found.missing.is_some() { 6 } else { 0 };
        serde_json::to_value(make_document(&iosts, limits, &found, exit)).unwrap()
    };
    let limits = TreeLimits { quiescence: Quiescence::Sink, ..TreeLimits::default() };
    let documents = [
        explored(&text, TreeLimits { is_restricted: true, ..limits }, PathEnds::None),
        explored(&text, limits, PathEnds::Inclusion(1)),
        explored(&text, TreeLimits { is_merged: true, depth: 4, ..limits }, PathEnds::None),
        explored(
            &text,
            TreeLimits { quiescence: Quiescence::Loop, nodes: 30, ..limits },
            PathEnds::AllPaths(4),
        ),
        explored(&text, TreeLimits { nodes: 1, ..limits }, PathEnds::Inclusion(1)),
        explored(
            &text.replace("initial: { location: q0 }", "initial: { location: q0, condition: m < m }"),
            limits,
            PathEnds::None,
        ),
    ];
    assert_eq!(documents.each_ref().map(|document| document["exit_code"].clone()), [0, 0, 0, 6, 6, 0]);
    follow("exploration.schema.json", &[&documents[..], &[ended(documents[0].clone())]].concat());
}

/// A path with transitions left out, one that silence cuts.
#[test]
fn path_guided_test_cases_follow_their_schema() {
    use coreach_analyses::solver::z3::Z3Solver;
    use coreach_project::guided;

    let path = root().join("examples/atm_timed/specification.yaml");
    let made = |steps: &str, time: &str| {
        let time = guided::parse_time(time).unwrap();
        let (wanted, _) = guided::read_request(&path, steps, Some(&time)).unwrap();
        let made = guided::make(&wanted, false, true, &mut Z3Solver::default()).unwrap();
        guided::make_document(&wanted, &made, &[PathBuf::from("out/test_case.json")], 0)
    };
    let documents =
        [made("(tr1,tr2,tr3,tr4)*2", "5"), made("tr1,tr2,tr6", "1/2"), made("tr8,tr9", guided::SYMBOLIC)];
    assert_eq!(documents[1]["unseen"], json!([3]));
    follow("path.schema.json", &documents);
}

/// Of a trace that goes wrong, one that takes an input that the model does not take, one that ends early, one
/// that passes.
#[test]
fn verdicts_off_line_follow_their_schema() {
    use coreach_execution::offline::prepared::Offline;
    use coreach_execution::offline::read::TraceReader;
    use coreach_execution::offline::verdict::MOST_CONTEXTS;
    use coreach_execution::offline::waiting::Rules;
    use coreach_model::term::evaluate::Valuation;
    use coreach_project::timed::verdict::{judge, make_document};
    use coreach_project::timed::{load, path};

    let (model, _) = load(&root().join("examples/trajectory/specification.yaml")).unwrap();
    let along = path(&model.timed, "1,2").unwrap();
    let offline = Offline::new(&model.timed, &model.form, along, Rules::Corrected, MOST_CONTEXTS);
    let told = |trace: &str| {
        let reader = TraceReader::new(model.timed.graph(), "trace", trace.as_bytes());
        let judged = judge(&offline, &Valuation::new(), reader).unwrap_or_else(|why| panic!("{why:?}"));
        make_document(&offline, &["1".to_owned(), "2".to_owned()], &judged, 0)
    };
    let documents = [
        told("1,location,4\n1\n"),
        told("1,askPlan,4\n"),
        told("1,location,4\n1/3,plan,4\n"),
        told("1,location,4\n1/3,askPlan,4\n3.5\n"),
        told("1,location,4\n0.5,askPlan,4\n2.5,error,1\n1,location,4\n0.5,askPlan,5\n"),
        told("1,location,4\n"),
        told("1,location,4\n0.5,askPlan,4\n"),
    ];
    assert_eq!(
        documents.each_ref().map(|document| document["rule"].clone()),
        ["R2", "R2", "R6", "R2", "R2", "R5", "R3"]
    );
    follow("offline-verdict.schema.json", &documents);
}

#[test]
fn walks_follow_their_schema() {
    let (walkable, _) = walk::read(&root().join("examples/coffee_machine/specification.yaml")).unwrap();
    let iosts = walkable.case.test.iosts.clone();
    let (until, goals) = (
        WalkLimits { events: 1, percent: None, deadline: None, ends_when_covered: false },
        walk::list_all_goals(&iosts, &ALL),
    );
    let standing = Walk::new(iosts, &goals, true, until, true);
    let told = walk::make_document(&walkable, (&ALL, &[]), &standing, &[], &diagnostics(), 0);
    assert!(!told["uncovered"].as_array().unwrap().is_empty());
    follow("walk.schema.json", &[told]);
}
