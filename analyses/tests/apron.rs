//! Our domains against APRON's: random operations on both sides, the results compared after each.
//!
//! Where both are exact, the canonical constraints must be the same. Where one may be coarser, ours must be
//! within APRON's, and both sides go on from ours. What is exact:
//!
//! - polyhedra: all but the widening of open ones, where ours keeps `x <= 1` of `x < 1` and polka nothing,
//!   and rounding to integers, which both sides stop early;
//! - intervals: all but a meet with several dimensions in a constraint (a propagation, which both sides stop
//!   early), what is made of such meets, and open ends, which APRON's boxes close;
//! - octagons: all but what is made of constraints and right sides that are no octagon's, widening, and open
//!   ends, which APRON's octagons close.
#![cfg(feature = "apron")]
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use coreach_analyses::domains::apron::{self, Apron, ApronBox, ApronPolka};
use coreach_analyses::domains::interval::Intervals;
use coreach_analyses::domains::octagon::Octagons;
use coreach_analyses::domains::polyhedra::Polyhedra;
use coreach_analyses::domains::{Assignments, Domain};
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};
use proptest::prelude::*;

const DIMENSIONS: usize = 4;
const REGISTERS: usize = 3;
const REAL: [bool; DIMENSIONS] = [false; DIMENSIONS];

/// What is done with registers; the result goes to the one that is given beside it.
#[derive(Clone, Debug)]
enum Operation {
    Constrain(usize, Vec<Constraint>),
    Meet(usize, usize),
    Join(usize, usize),
    Widen(usize, usize, Vec<Constraint>),
    Assign(usize, Vec<(usize, Option<LinearExpression>)>),
    Substitute(usize, Vec<(usize, Option<LinearExpression>)>),
    Forget(usize, Vec<usize>),
    Project(usize),
    Clear(bool),
}

/// Small numbers mostly; some for which the sum or product of two is no machine integer.
fn number() -> impl Strategy<Value = i64> {
    prop_oneof![40 => -2i64..3, 1 => (1i64 << 61)..i64::MAX, 1 => Just(i64::MIN + 1)]
}

fn coefficients() -> impl Strategy<Value = [i64; DIMENSIONS]> {
    // Half of them are 0, so that boxes and blocks arise.
    prop::array::uniform4(prop_oneof![Just(0), number()])
}

fn single() -> impl Strategy<Value = [i64; DIMENSIONS]> {
    (0..DIMENSIONS, number())
        .prop_map(|(at, c)| std::array::from_fn(|dimension| if dimension == at { c } else { 0 }))
}

fn constraint() -> impl Strategy<Value = Constraint> {
    let relation =
        prop_oneof![4 => Just(Relation::AtLeast), 1 => Just(Relation::Equal), 1 => Just(Relation::Greater)];
    (prop_oneof![coefficients(), single()], prop_oneof![9 => -9i64..10, 1 => number()], relation)
        .prop_map(|(c, k, relation)| Constraint::of(&c, k, relation))
}

fn expression() -> impl Strategy<Value = LinearExpression> {
    (coefficients(), -3i64..4, 1i64..4).prop_map(|(c, k, denominator)| {
        let [c, k] =
            [c.to_vec(), vec![k]].map(|list| list.into_iter().map(Integer::from).collect::<Vec<_>>());
        LinearExpression::new(c, k[0].clone(), Integer::from(denominator)).unwrap()
    })
}

fn assignments() -> impl Strategy<Value = Vec<(usize, Option<LinearExpression>)>> {
    let value = prop::option::weighted(0.8, expression());
    prop::collection::btree_map(0..DIMENSIONS, value, 0..=DIMENSIONS)
        .prop_map(|map| map.into_iter().collect())
}

fn operations() -> impl Strategy<Value = Vec<(usize, Operation)>> {
    let register = || 0..REGISTERS;
    let constraints = || prop::collection::vec(constraint(), 1..5);
    let operation = prop_oneof![
        8 => (register(), constraints()).prop_map(|(a, list)| Operation::Constrain(a, list)),
        2 => (register(), register()).prop_map(|(a, b)| Operation::Meet(a, b)),
        5 => (register(), register()).prop_map(|(a, b)| Operation::Join(a, b)),
        2 => (register(), register(), prop::collection::vec(constraint(), 0..3))
            .prop_map(|(a, b, thresholds)| Operation::Widen(a, b, thresholds)),
        3 => (register(), assignments()).prop_map(|(a, list)| Operation::Assign(a, list)),
        3 => (register(), assignments()).prop_map(|(a, list)| Operation::Substitute(a, list)),
        1 => (register(), prop::sample::subsequence((0..DIMENSIONS).collect::<Vec<_>>(), 0..=DIMENSIONS))
            .prop_map(|(a, list)| Operation::Forget(a, list)),
        1 => register().prop_map(Operation::Project),
        1 => prop::bool::weighted(0.8).prop_map(Operation::Clear),
    ];
    prop::collection::vec((register(), operation), 1..16)
}

fn run<D: Domain>(registers: &[D], operation: &Operation, integer: &[bool]) -> D {
    match operation {
        Operation::Constrain(a, constraints) => registers[*a].meet_constraints(constraints, integer),
        Operation::Meet(a, b) => registers[*a].meet(&registers[*b], integer),
        Operation::Join(a, b) => registers[*a].join(&registers[*b]),
        Operation::Widen(a, b, thresholds) => {
            registers[*a].widen(&registers[*a].join(&registers[*b]), thresholds)
        }
        Operation::Assign(a, list) => registers[*a].assign(list),
        Operation::Substitute(a, list) => registers[*a].substitute(list),
        Operation::Forget(a, list) => registers[*a].forget(list),
        Operation::Project(a) => registers[*a].add_dimensions(2).remove_last_dimensions(3).add_dimensions(1),
        Operation::Clear(true) => D::top(DIMENSIONS),
        Operation::Clear(false) => D::bottom(DIMENSIONS),
    }
}

fn same<D: Domain>(a: &D, b: &D) -> bool {
    a.is_leq(b) && b.is_leq(a)
}

/// The element of another domain as one of this: exact, if this one can say it.
fn translated<D: Domain>(other: &impl Domain) -> D {
    if other.is_bottom() {
        D::bottom(DIMENSIONS)
    } else {
        D::top(DIMENSIONS).meet_constraints(&other.constraints(), &[])
    }
}

/// How two results are related.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Relationship {
    Same,
    /// The same vectors, written in other constraints.
    Equivalent,
    Within,
    /// Both are coarser than need be, each in its way.
    Unrelated,
}

fn compare<Ours: Domain, Theirs: Domain>(
    operations: &[(usize, Operation)],
    integer: &[bool],
    relationship: impl Fn(&Operation) -> Relationship,
) {
    let mut ours = vec![Ours::top(DIMENSIONS); REGISTERS];
    let mut theirs = vec![Theirs::top(DIMENSIONS); REGISTERS];
    for (step, (to, operation)) in operations.iter().enumerate() {
        let (a, b) = (run(&ours, operation, integer), run(&theirs, operation, integer));
        assert!(!b.coarsened(), "APRON failed in step {step}: {operations:?}");
        // A widening is of what a join makes, which says by itself whether it is coarser.
        let joined = match operation {
            Operation::Widen(a, b, _) => ours[*a].join(&ours[*b]).coarsened(),
            _ => false,
        };
        if a.coarsened() || joined {
            return; // Our limits were met: what follows is not comparable.
        }
        let here = || {
            format!(
                "step {step} of {operations:#?}\nours {:#?}\ntheirs {:#?}",
                a.constraints(),
                b.constraints()
            )
        };
        let next = match relationship(operation) {
            Relationship::Same => {
                assert_eq!(a.is_bottom(), b.is_bottom(), "{}", here());
                assert!(a.is_bottom() || a.constraints() == b.constraints(), "{}", here());
                b
            }
            Relationship::Equivalent => {
                assert!(same(&a, &translated(&b)), "{}", here());
                b
            }
            Relationship::Unrelated => translated(&a),
            Relationship::Within => {
                assert!(a.is_leq(&translated(&b)), "{}", here());
                translated(&a)
            }
        };
        ours[*to] = a;
        theirs[*to] = next;
        for other in 0..REGISTERS {
            assert_eq!(
                ours[*to].is_leq(&ours[other]),
                theirs[*to].is_leq(&theirs[other]),
                "order of {to} and {other} after step {step} of {operations:#?}"
            );
        }
    }
}

fn of_several_dimensions(assignments: &Assignments) -> bool {
    let mentioned = |expression: &LinearExpression| {
        (0..DIMENSIONS).filter(|at| !expression.coefficient(*at).is_zero()).count()
    };
    assignments.iter().any(|(_, value)| value.as_ref().is_some_and(|value| mentioned(value) > 1))
}

/// Does a constraint say more than a box can?
fn beyond_a_box(constraint: &Constraint) -> bool {
    constraint.coefficients().iter().filter(|c| !c.is_zero()).count() > 1
}

fn closed(constraints: &[Constraint]) -> Vec<Constraint> {
    let closed = |constraint: &Constraint| match constraint.relation() {
        Relation::Greater => constraint.with_relation(Relation::AtLeast),
        _ => constraint.clone(),
    };
    constraints.iter().map(closed).collect()
}

/// The same without strict constraints.
fn without_open_ends(operations: &[(usize, Operation)]) -> Vec<(usize, Operation)> {
    let closed = |(to, operation): &(usize, Operation)| {
        let operation = match operation.clone() {
            Operation::Constrain(a, list) => Operation::Constrain(a, closed(&list)),
            Operation::Widen(a, b, list) => Operation::Widen(a, b, closed(&list)),
            other => other,
        };
        (*to, operation)
    };
    operations.iter().map(closed).collect()
}

/// The same with octagonal constraints, and right sides `±x + c`, in place of all others.
fn octagonal(operations: &[(usize, Operation)]) -> Vec<(usize, Operation)> {
    let sign = |c: &Integer| Integer::from(c.signum());
    let first_signs = |coefficients: &[Integer], most: usize| {
        let mut left = most;
        let keep = |c: &Integer| {
            let kept = !c.is_zero() && left > 0;
            left -= usize::from(kept);
            if kept { sign(c) } else { Integer::ZERO }
        };
        coefficients.iter().map(keep).collect::<Vec<_>>()
    };
    let constraints = |list: &[Constraint]| {
        let of = |c: &Constraint| {
            Constraint::new(first_signs(c.coefficients(), 2), c.constant().clone(), c.relation())
        };
        list.iter().map(of).collect::<Vec<_>>()
    };
    let assignments = |list: &Assignments| {
        let of = |value: &LinearExpression| {
            let coefficients: Vec<Integer> =
                (0..DIMENSIONS).map(|at| value.coefficient(at).numerator().clone()).collect();
            let signs: Vec<Rational> =
                first_signs(&coefficients, 1).into_iter().map(Rational::from).collect();
            LinearExpression::from_rationals(&signs, &value.constant_term())
        };
        list.iter().map(|(at, value)| (*at, value.as_ref().map(of))).collect::<Vec<_>>()
    };
    let octagonal = |(to, operation): &(usize, Operation)| {
        let operation = match operation {
            Operation::Constrain(a, list) => Operation::Constrain(*a, constraints(list)),
            Operation::Widen(a, b, list) => Operation::Widen(*a, *b, constraints(list)),
            Operation::Assign(a, list) => Operation::Assign(*a, assignments(list)),
            Operation::Substitute(a, list) => Operation::Substitute(*a, assignments(list)),
            other => other.clone(),
        };
        (*to, operation)
    };
    operations.iter().map(octagonal).collect()
}

/// A thousand sequences, or as many as `PROPTEST_CASES` says.
fn config() -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1000);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn polyhedra_are_those_of_polka(operations in operations()) {
        compare::<Polyhedra, Apron<ApronPolka>>(&operations, &REAL, |operation| match operation {
            Operation::Widen(..) => Relationship::Within,
            _ => Relationship::Same,
        });
    }

    #[test]
    fn closed_polyhedra_are_those_of_polka_widening_and_all(operations in operations()) {
        compare::<Polyhedra, Apron<ApronPolka>>(&without_open_ends(&operations), &REAL, |_| Relationship::Same);
    }

    #[test]
    fn intervals_are_those_of_box(operations in operations()) {
        compare::<Intervals, Apron<ApronBox>>(&without_open_ends(&operations), &REAL, |operation| match operation {
            Operation::Constrain(_, list) if list.iter().any(beyond_a_box) => Relationship::Within,
            Operation::Substitute(_, list) if of_several_dimensions(list) => Relationship::Within,
            _ => Relationship::Same,
        });
    }

    #[test]
    fn octagons_are_those_of_apron(operations in operations()) {
        let operations = octagonal(&without_open_ends(&operations));
        compare::<Octagons, Apron<apron::ApronOctagon>>(&operations, &REAL, |operation| match operation {
            Operation::Widen(..) => Relationship::Unrelated,
            _ => Relationship::Equivalent,
        });
    }

    #[test]
    fn octagons_are_those_of_apron_between_other_operations(operations in operations()) {
        let operations = without_open_ends(&operations);
        compare::<Octagons, Apron<apron::ApronOctagon>>(&operations, &REAL, |operation| match operation {
            Operation::Constrain(..) | Operation::Assign(..) | Operation::Substitute(..) | Operation::Widen(..) => {
                Relationship::Unrelated
            }
            _ => Relationship::Equivalent,
        });
    }

    /// Whatever the constraints and right sides: ours lose nothing that a polyhedron keeps, and keep all that
    /// a box says.
    #[test]
    fn our_octagons_are_between(operations in operations()) {
        let mut registers = vec![Octagons::top(DIMENSIONS); REGISTERS];
        for (step, (to, operation)) in operations.iter().enumerate() {
            let result = run(&registers, operation, &REAL);
            if !matches!(operation, Operation::Widen(..)) {
                let fine = run(&registers.iter().map(translated).collect::<Vec<Polyhedra>>(), operation, &REAL);
                prop_assert!(fine.coarsened() || fine.is_leq(&translated(&result)), "step {step} of {operations:#?}");
                let coarse = run(&registers.iter().map(translated).collect::<Vec<Intervals>>(), operation, &REAL);
                prop_assert!(result.is_leq(&translated(&coarse)), "step {step} of {operations:#?}");
            }
            registers[*to] = result;
        }
    }

    /// Octagons say more than boxes and less than polyhedra. All three start each step from what the octagon
    /// says.
    #[test]
    fn octagons_are_between(operations in operations()) {
        let operations = without_open_ends(&operations);
        let mut registers = vec![Apron::<apron::ApronOctagon>::top(DIMENSIONS); REGISTERS];
        for (step, (to, operation)) in operations.iter().enumerate() {
            let polyhedra: Vec<Polyhedra> = registers.iter().map(translated).collect();
            let result = run(&registers, operation, &REAL);
            prop_assert!(!result.coarsened());
            if !matches!(operation, Operation::Widen(..)) {
                let fine = run(&polyhedra, operation, &REAL);
                prop_assert!(fine.coarsened() || fine.is_leq(&translated(&result)), "step {step} of {operations:#?}");
            }
            prop_assert!(same(&result, &translated(&result)), "constraints say all: {result:?}");
            registers[*to] = result;
        }
    }
}

#[test]
fn points_far_out_are_kept() {
    let far = Rational::from(Integer::from(i128::MAX));
    let expression = LinearExpression::from_rationals(&[far], &Rational::from(1));
    let assignments = [(0, Some(expression))];
    let start = [Constraint::of(&[1], -i64::MAX, Relation::Equal)];
    let ours = Polyhedra::top(1).meet_constraints(&start, &[]).assign(&assignments).assign(&assignments);
    let theirs =
        Apron::<ApronPolka>::top(1).meet_constraints(&start, &[]).assign(&assignments).assign(&assignments);
    assert_eq!(ours.constraints(), theirs.constraints());
    assert_eq!(ours.substitute(&assignments).constraints(), theirs.substitute(&assignments).constraints());
}
