//! A slice of the tampering suite; the long run is the program `tampering`.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

use coreach_analyses::reachability::Analysis;
use coreach_analyses::solver::Solver;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::{Term, Type};
use coreach_pipeline::artifact::{Member, Verdict};
use coreach_pipeline::check::{self, Findings};
use coreach_pipeline::{Generation, Stage, generate};
use coreach_tests::generator::{Shape, generate as generate_pair};
use coreach_tests::properties::doubtful::{Doubt, Doubtful};
use coreach_tests::properties::{Report, Settings, artifacts};
use coreach_tests::source::{self, Input, read_text};
use coreach_tests::tampering::damage::Operator;
use coreach_tests::tampering::{Table, tamper};

/// Damage that brute force sees is named by the check of the damaged artifact.
#[test]
fn damage_that_changes_something_is_named() {
    let mut table = Table::new();
    for seed in 1..=8 {
        tamper(seed, 1, &mut table);
    }
    let missed: Vec<_> = table.iter().filter(|(_, tally)| !tally.missed.is_empty()).collect();
    assert!(missed.is_empty(), "{missed:#?}");
    for stage in Stage::ALL {
        let of_stage = table.iter().filter(|((_, at), _)| *at == stage);
        let killed: usize = of_stage.map(|(_, tally)| tally.killed).sum();
        assert!(killed >= 20, "{}: {killed}", stage.name());
    }
}

/// A variable that every member's postponed effects hide is compared with nothing, and stops the step all the
/// same when it is given what it cannot have.
#[test]
fn a_hidden_variable_that_leaves_its_type_is_noticed() {
    let mut hidden = 0;
    for seed in 1..=60 {
        let Ok(input) = source::read(&generate_pair(seed, &Shape::default())) else { continue };
        let quiet = Settings { only: Some(String::new()), doubt: None, twice: false, ..Settings::of(seed) };
        let made = artifacts::make(&input, &quiet, &mut Report::default());
        let (Some(visible), Some(closed)) = (made.visible, made.closed) else { continue };
        for (number, t) in visible.iosts.transitions.numbered() {
            let members = &visible.members[t.target];
            for variable in &visible.iosts.variables {
                let Type::Range(_, high) = variable.ty() else { continue };
                let hides = |member: &Member| member.steps.iter().any(|step| step.contains_key(variable));
                if !members.iter().all(hides) || !t.assignments.contains_key(variable) {
                    continue;
                }
                let mut damaged = visible.clone();
                let outside = Term::add(&Term::int(high.clone()), &Term::int(1));
                damaged.iosts.transitions[number].assignments.insert(variable.clone(), outside);
                let found = check::check_visible(&damaged, &closed, &mut Z3Solver::default());
                assert!(
                    names(&found, "visible 6"),
                    "seed {seed}, {number:?}, {}: {found:?}",
                    variable.name()
                );
                hidden += 1;
            }
        }
    }
    assert!(hidden > 0);
}

/// A solver that leaves questions open leaves them open in the checks, and that is told.
#[test]
fn what_the_checks_leave_open_is_told() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/coffee_machine/");
    let text = |name: &str| std::fs::read_to_string(format!("{folder}{name}")).unwrap();
    let input = read_text(text("specification.yaml"), text("deliver_coffee.yaml")).unwrap();
    let options = coreach_pipeline::StageOptions {
        max_lookahead: 8,
        limits: Default::default(),
        analysis: Analysis::default(),
        check: true,
    };
    let unsettled = |solver: &mut dyn Solver| {
        generate(&input.specification, input.purpose.clone(), &options, solver, &mut |_| {})
            .unwrap()
            .unsettled
    };
    assert_eq!(unsettled(&mut Z3Solver::default()), []);
    let doubt = Doubt { percent: 25, seed: 1 };
    let told = unsettled(&mut Doubtful::new(doubt));
    assert!(told.iter().any(|of_stage| of_stage.unknown > 0), "{told:?}");
}

#[test]
fn there_are_enough_operators() {
    assert!(Operator::ALL.len() >= 30);
}

/// The coffee machine and what was made of it.
fn coffee() -> (Input, Generation) {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples/coffee_machine/");
    let text = |name: &str| std::fs::read_to_string(format!("{folder}{name}")).unwrap();
    let input = read_text(text("specification.yaml"), text("deliver_coffee.yaml")).unwrap();
    let options = coreach_pipeline::StageOptions {
        max_lookahead: 8,
        limits: Default::default(),
        analysis: Analysis::default(),
        check: true,
    };
    let solver = &mut Z3Solver::default();
    let made = generate(&input.specification, input.purpose.clone(), &options, solver, &mut |_| {}).unwrap();
    (input, made)
}

fn names(found: &Findings, rule: &str) -> bool {
    found.violations.iter().any(|violation| violation.rule.starts_with(rule))
}

#[test]
fn a_product_without_guards_is_no_product() {
    let (input, made) = coffee();
    let mut product = made.product;
    for transition in &mut product.iosts.transitions {
        transition.guard = Term::yes();
    }
    let solver = &mut Z3Solver::default();
    let found = check::check_product(&product, &input.specification, &made.complete_purpose, solver);
    assert!(names(&found, "product 2"), "{found:?}");
}

#[test]
fn a_closed_machine_that_forgets_what_internal_steps_assign_is_noticed() {
    let (_, made) = coffee();
    let mut closed = made.closed;
    for transition in &mut closed.iosts.transitions {
        transition.assignments.clear();
    }
    let found = check::check_closed(&closed, &made.product, &mut Z3Solver::default());
    assert!(names(&found, "closed 5: lost") && names(&found, "closed 5: added"), "{found:?}");
}

#[test]
fn a_visible_machine_that_lacks_a_transition_is_noticed() {
    let (_, made) = coffee();
    for at in made.visible.iosts.transitions.numbers() {
        let mut visible = made.visible.clone();
        visible.iosts.transitions.remove(at);
        let found = check::check_visible(&visible, &made.closed, &mut Z3Solver::default());
        assert!(names(&found, "visible 3"), "{at:?}: {found:?}");
    }
}

#[test]
fn a_test_graph_without_effects_or_with_pass_everywhere_is_noticed() {
    let (_, made) = coffee();
    let mut without_effects = made.test_graph.clone();
    for transition in &mut without_effects.iosts.transitions {
        transition.assignments.clear();
    }
    let mut passes = made.test_graph.clone();
    for transition in &mut passes.iosts.transitions {
        transition.target = passes.pass.unwrap();
    }
    for graph in [without_effects, passes] {
        let found = check::check_test_graph(&graph, &made.visible, &mut Z3Solver::default());
        assert!(names(&found, "test graph 4"), "{found:?}");
    }
}

#[test]
fn a_fail_that_is_called_pass_is_noticed() {
    let (_, made) = coffee();
    let mut case = made.test_case;
    for verdict in &mut case.verdicts {
        if *verdict == Some(Verdict::Fail) {
            *verdict = Some(Verdict::Pass);
        }
    }
    let found = check::check_test_case(&case, &made.test_graph, &mut Z3Solver::default());
    assert!(names(&found, "test case 6"), "{found:?}");
}
