//! Small models that ask for much: what the stages make of them, in counts. `scripts/explode` measures time
//! and memory.
#![allow(clippy::unwrap_used, reason = "a test's helper fails its test")]

use std::path::Path;
use std::sync::Arc;

use coreach_analyses::domains::DomainKind;
use coreach_analyses::reachability;
use coreach_analyses::solver::Solver;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::test_case::TestCase;
use coreach_model::iosts::Aim;
use coreach_model::reader::{read_purpose, read_specification};
use coreach_model::{SourceFile, Verdict};
use coreach_pipeline::export::{self, View};
use coreach_pipeline::limits::{Limits, MOST, Quantity};
use coreach_pipeline::stages::determinize::determinize;
use coreach_pipeline::stop::Stop;
use coreach_pipeline::{Generation, Stage, StageOptions, generate};
use coreach_project::configuration::read_configuration;
use coreach_tests::families::{Pair, all};
use coreach_tests::generator::unbounded::{self, Texts};

/// What became of a member of a family, and how many questions it took.
fn made(family: &str, size: usize) -> (Result<Generation, Stop>, u64) {
    made_within(family, size, Limits::default())
}

fn made_within(family: &str, size: usize, limits: Limits) -> (Result<Generation, Stop>, u64) {
    let family = all().into_iter().find(|known| known.name == family).unwrap();
    made_of((family.make)(size), limits)
}

fn made_of((specification, purpose): Pair, limits: Limits) -> (Result<Generation, Stop>, u64) {
    let file = |name: &str, text| Arc::new(SourceFile { name: name.to_owned(), text });
    let (specification, _) = read_specification(file("specification.yaml", specification)).unwrap();
    let (purpose, _) = read_purpose(file("purpose.yaml", purpose), &specification).unwrap();
    let analysis =
        reachability::Analysis { domain: DomainKind::Interval, ..reachability::Analysis::default() };
    let options = StageOptions { max_lookahead: 1_000, analysis, limits, check: true };
    let mut solver = Z3Solver::default();
    let made = generate(&specification.iosts, purpose, &options, &mut solver, &mut |_| {});
    let questions = solver.statistics().queries;
    (made, questions)
}

/// What a stop says to write into the configuration, as the configuration's reader takes it.
fn said_limits(stop: &Stop) -> Limits {
    let diagnostic = stop.to_diagnostic();
    let help = diagnostic.help.clone().unwrap();
    let (_, text) = help.split_once("`limits: ").unwrap_or_else(|| panic!("no setting in: {help}"));
    let (text, _) = text.split_once('`').unwrap();
    let text = format!("specification: coffee_machine.yaml\npurpose: deliver_coffee.yaml\nlimits: {text}\n");
    let file = Arc::new(SourceFile { name: "coreach.yaml".to_owned(), text });
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("diagnostics/good");
    read_configuration(file, &folder).unwrap().0.limits
}

#[test]
fn a_stop_says_a_setting_that_moves_it() {
    let members = [
        (Quantity::Pairs, "visible_chain", 5),
        (Quantity::PairTransitions, "visible_chain", 5),
        (Quantity::Sequences, "diamonds", 5),
        (Quantity::Choices, "overlapping_intervals", 5),
        (Quantity::Overlaps, "overlapping_intervals", 5),
        (Quantity::Subsets, "overlapping_all", 4),
        (Quantity::SetTransitions, "overlapping_intervals", 5),
        (Quantity::Ways, "ways_for_ever", 5),
        (Quantity::Nodes, "doubling_steps", 6),
    ];
    assert!(Quantity::all().eq(members.iter().map(|(quantity, ..)| *quantity)));
    for (wanted, family, size) in members {
        let mut limits = Limits::default().with(wanted, 1);
        let mut stops = 0;
        while let (Err(stop), _) = made_within(family, size, limits.clone()) {
            let (quantity, limit) = match stop {
                Stop::TooMany { quantity, limit, .. } => (quantity, limit),
                Stop::NoLookahead { quantity, limit, .. } => (quantity, limit),
                _ => panic!("{wanted:?}: {stop:?}"),
            };
            assert_eq!((quantity, limit), (wanted, limits.of(wanted)));
            let said = said_limits(&stop);
            assert!(said.of(wanted) > limit, "{wanted:?}");
            limits = limits.with(wanted, said.of(wanted));
            stops += 1;
        }
        assert!((1..=12).contains(&stops), "{wanted:?}: {stops} stops");
    }
}

#[test]
fn a_stop_that_no_setting_moves_says_so() {
    for needed in [None, Some(MOST + 1)] {
        let stop = Stop::TooMany { stage: Stage::Close, quantity: Quantity::Nodes, limit: MOST, needed };
        let help = stop.to_diagnostic().help.clone().unwrap();
        assert!(help.starts_with("no value of `limits: { nodes: ... }`"), "{help}");
    }
}

fn generation(family: &str, size: usize) -> (Generation, u64) {
    let (made, questions) = made(family, size);
    (made.unwrap_or_else(|stop| panic!("{family} {size}: {stop:?}")), questions)
}

/// Terms are walked recursively; the program gives its work as much.
const STACK: usize = 256 << 20;

#[test]
fn the_smallest_member_of_each_family_is_made() {
    let work = || {
        for family in all() {
            generation(family.name, family.sizes.0.min(5));
        }
    };
    std::thread::Builder::new().stack_size(STACK).spawn(work).unwrap().join().unwrap();
}

#[test]
fn effects_that_text_cannot_hold_stop_the_closure() {
    for family in ["doubling_steps", "conditional_steps", "product_steps"] {
        let (made, _) = made(family, 40);
        assert!(
            matches!(made, Err(Stop::TooMany { stage: Stage::Close, quantity: Quantity::Nodes, .. })),
            "{family}: {:?}",
            made.err()
        );
    }
}

#[test]
fn ways_of_one_effect_are_one() {
    for family in ["diamonds", "guarded_diamonds"] {
        let (small, few) = generation(family, 20);
        let (large, more) = generation(family, 40);
        // A start, and what follows the last diamond.
        for generation in [&small, &large] {
            assert_eq!(generation.visible.iosts.transitions.len(), 2, "{family}");
            assert_eq!(generation.closed.iosts.transitions.len(), 2, "{family}");
        }
        assert!(more <= 3 * few, "{family}: {few} and {more} questions");
    }
}

#[test]
fn ways_that_differ_are_counted_before_they_are_compared() {
    let (made, _) = made("telling_diamonds", 24);
    assert!(matches!(made, Err(Stop::TooMany { stage: Stage::Close, .. })), "{:?}", made.err());
}

#[test]
fn pairs_that_are_not_reached_are_not_made() {
    let (generation, _) = generation("unreachable_pairs", 300);
    assert_eq!(generation.product.iosts.locations.len(), 2);
}

#[test]
fn what_the_purpose_does_not_mention_is_said_once() {
    let (small, _) = generation("wide_purpose", 40);
    let (large, _) = generation("wide_purpose", 200);
    assert!(!small.complete_purpose.others_stay && large.complete_purpose.others_stay);
    // Two for each location that the user drew: the user's, and its complement where it has one.
    assert!(large.complete_purpose.purpose.iosts.transitions.len() < 1_000);
    for stage in [Stage::Close, Stage::Select] {
        let count = |generation: &Generation| View::of(generation, stage).iosts.transitions.len();
        assert_eq!(count(&small), count(&large), "{stage:?}");
    }
}

#[test]
fn overlaps_cost_what_can_hold() {
    let questions = |size: usize| {
        let (chain, _) = generation("overlapping_intervals", size);
        // Each interval alone, and each with the next.
        let chosen = chain.visible.iosts.transitions.iter().filter(|t| t.source.0 == 0).count();
        assert_eq!(chosen, 2 * size - 1);
        let mut solver = Z3Solver::default();
        determinize(chain.closed, 8, Aim::Accept, &Default::default(), &Limits::default(), &mut solver)
            .unwrap();
        solver.statistics().queries
    };
    let (few, more) = (questions(8), questions(16));
    assert!(more <= 3 * few, "{few} and {more} questions");
    let (made, _) = made("overlapping_all", 14);
    assert!(matches!(made, Err(Stop::TooMany { quantity: Quantity::Subsets, .. })));
}

#[test]
fn too_many_ways_are_found_without_all_sets_of_fewer() {
    // Each event that adds a way is one of several, and each of these makes other sets of as many ways.
    let Texts { specification, purpose } = unbounded::generate(213);
    let limits = Limits::default().with(Quantity::Ways, 12);
    let (made, questions) = made_of((specification, purpose), limits);
    let stop = made.err();
    assert!(matches!(stop, Some(Stop::NoLookahead { quantity: Quantity::Ways, .. })), "{stop:?}");
    assert!(questions < 20_000, "{questions} questions");
}

#[test]
fn every_other_output_fails_and_is_read_so() {
    let (small, _) = generation("outputs", 20);
    let (large, _) = generation("outputs", 80);
    let case = &small.test_case;
    let failing = case.iosts.transitions.iter().filter(|t| case.verdicts[t.target] == Some(Verdict::Fail));
    assert_eq!((case.others_fail, failing.count()), (None, 41 * 20));
    assert!(large.test_case.others_fail.is_some());
    for generation in [small, large] {
        let view = View::of(&generation, Stage::InputComplete);
        let json = export::json::to_json(&view);
        let read = TestCase::from_json(json.as_bytes()).unwrap();
        // 2n + 1 locations without a verdict, n + 1 outputs at each; one of them is allowed.
        let outputs = generation.test_case.iosts.actions.iter().filter(|a| a.name != "reset").count();
        let open = generation.test_case.verdicts.iter().filter(|verdict| verdict.is_none()).count();
        assert_eq!(read.observations.iter().map(Vec::len).sum::<usize>(), open * outputs);
        assert_eq!(json.contains("\"others_fail\": "), generation.test_case.others_fail.is_some());
    }
}
