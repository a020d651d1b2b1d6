//! Octagons with integers against their points, counted.
//!
//! All integer points of a small grid are looked at; where some dimensions are real, each choice of the
//! integers leaves a polyhedron. Emptiness and the bounds of integers must be exact, whatever was asked
//! first.

#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use coreach_octagon::{Constraint, LinearExpression, Octagon, Rational, Relation};
use coreach_polyhedra::Polyhedron;
use proptest::prelude::*;

use crate::support::{DIMENSIONS, config, octagonal_expressions, octagonal_of};

/// Integers are from `-SIDE` to `SIDE`.
const SIDE: i64 = 2;

fn small() -> impl Strategy<Value = Vec<Constraint>> {
    let value = prop_oneof![
        4 => (-6i64..7).prop_map(Rational::from),
        1 => (-9i64..10, 2i64..4).prop_map(|(n, d)| Rational::new(n.into(), d.into()).unwrap()),
    ];
    prop::collection::vec(octagonal_of(value), 0..9)
}

fn linear() -> impl Strategy<Value = Constraint> {
    let relation = prop_oneof![3 => Just(Relation::AtLeast), 1 => Just(Relation::Equal)];
    (prop::array::uniform4(-2i64..3), -5i64..6, relation)
        .prop_map(|(c, k, relation)| Constraint::of(&c, k, relation))
}

/// `-SIDE <= x <= SIDE` for every integer.
fn sides(integer: &[bool]) -> Vec<Constraint> {
    let of = |at: usize| {
        let side = LinearExpression::constant(Rational::from(SIDE));
        let x = LinearExpression::variable(at);
        let unit = |expression: LinearExpression| {
            let row = (0..DIMENSIONS).map(|at| expression.coefficient(at).numerator().clone()).collect();
            Constraint::new(row, expression.constant_term().numerator().clone(), Relation::AtLeast)
        };
        [unit(side.minus(&x)), unit(side.plus(&x))]
    };
    (0..DIMENSIONS).filter(|at| integer[*at]).flat_map(of).collect()
}

/// Every choice of the integers.
fn choices(integer: &[bool]) -> Vec<Vec<(usize, i64)>> {
    let mut all = vec![Vec::new()];
    for at in (0..DIMENSIONS).filter(|at| integer[*at]) {
        let longer = |choice: &Vec<(usize, i64)>| {
            let choice = choice.clone();
            (-SIDE..=SIDE).map(move |value| [choice.clone(), vec![(at, value)]].concat())
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

/// The least octagon around the vectors whose marked dimensions are integers. It must be found without
/// rounding.
fn exact(constraints: &[Constraint], integer: &[bool]) -> Octagon {
    let mut hull = Octagon::empty(DIMENSIONS);
    let of_integers = |constraint: &&Constraint| {
        constraint.coefficients().iter().zip(integer).all(|(c, integer)| *integer || c.is_zero())
    };
    let tests: Vec<&Constraint> = constraints.iter().filter(of_integers).collect();
    for choice in choices(integer) {
        let mut point = vec![Rational::ZERO; DIMENSIONS];
        for (at, value) in &choice {
            point[*at] = Rational::from(*value);
        }
        if !tests.iter().all(|constraint| constraint.is_satisfied_by(&point)) {
            continue;
        }
        let fixed = choice.iter().map(|(at, value)| {
            let mut row = [0; DIMENSIONS];
            row[*at] = 1;
            Constraint::of(&row, -value, Relation::Equal)
        });
        let slice = Polyhedron::from_constraints(DIMENSIONS, constraints.iter().cloned().chain(fixed));
        if !slice.is_empty() {
            hull = hull.join(&crate::support::hull(&slice));
        }
    }
    hull
}

fn flags() -> impl Strategy<Value = [bool; DIMENSIONS]> {
    prop_oneof![Just([true; DIMENSIONS]), Just([true, true, true, false]), Just([true, false, true, false])]
}

/// Two sums that are integers only once they are rounded have a bound of one variable behind them, to be
/// rounded again.
#[test]
fn what_rounding_implies_is_rounded_too() {
    let integer = [true, true, false, false];
    let list = [
        Constraint::of(&[2, 0, 2, 0], -3, Relation::AtLeast),
        Constraint::of(&[0, -2, -2, 0], -1, Relation::Greater),
        Constraint::of(&[-1, 0, 1, 0], 1, Relation::AtLeast),
    ];
    let met = Octagon::universe(DIMENSIONS).meet_constraints(&list, &integer);
    let below = met.meet_constraints(&[Constraint::of(&[0, -1, 0, 0], -2, Relation::AtLeast)], &[]);
    assert_eq!(met, below, "x1 <= -2 follows from x0 - x1 >= 3 and x0 + x1 <= 0");
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn emptiness_and_bounds_are_exact(list in small(), integer in flags()) {
        let all = [sides(&integer), list.clone()].concat();
        let exact = exact(&all, &integer);
        let universe = Octagon::universe(DIMENSIONS);
        let at_once = universe.meet_constraints(&all, &integer);
        let told = || format!("ours {:?}\nexact {:?}", at_once.constraints(), exact.constraints());
        let reals: Vec<usize> = (0..DIMENSIONS).filter(|at| !integer[*at]).collect();
        prop_assert_eq!(&at_once.forget(&reals), &exact.forget(&reals), "{}", told());
        prop_assert_eq!(at_once.is_empty(), exact.is_empty(), "{}", told());
        prop_assert!(exact.is_leq(&at_once), "{}", told());
        let one_by_one = all.iter().fold(universe.clone(), |sum, constraint| {
            sum.meet_constraints(std::slice::from_ref(constraint), &integer)
        });
        prop_assert_eq!(&one_by_one, &at_once, "one by one");
        let late = universe.meet_constraints(&all, &[]).meet(&universe, &integer);
        prop_assert_eq!(&late, &at_once, "rounded at the end");
        let (a, b) = all.split_at(all.len() / 2);
        let (a, b) = (universe.meet_constraints(a, &integer), universe.meet_constraints(b, &integer));
        prop_assert_eq!(&a.meet(&b, &integer), &at_once, "two halves");
        prop_assert_eq!(&at_once.meet(&at_once, &integer), &at_once, "nothing left to round");
        for expression in octagonal_expressions(DIMENSIONS) {
            for constraint in at_once.bounds(&expression).constraints(&expression) {
                prop_assert!(at_once.is_empty() || at_once.meet_constraints(&[constraint], &[]) == at_once);
            }
        }
    }

    #[test]
    fn joins_need_no_rounding(a in small(), b in small(), integer in flags()) {
        let of = |list: Vec<Constraint>| Octagon::universe(DIMENSIONS).meet_constraints(&list, &integer);
        let join = of([sides(&integer), a].concat()).join(&of([sides(&integer), b].concat()));
        if integer == [true; DIMENSIONS] {
            prop_assert_eq!(&join.meet(&join, &integer), &join);
        }
    }

    #[test]
    fn other_constraints_lose_no_point(list in small(), others in prop::collection::vec(linear(), 1..4)) {
        let integer = [true; DIMENSIONS];
        let all = [sides(&integer), list, others].concat();
        let octagon = Octagon::universe(DIMENSIONS).meet_constraints(&all, &integer);
        let list = octagon.constraints();
        for choice in choices(&integer) {
            let point: Vec<Rational> = choice.iter().map(|(_, value)| Rational::from(*value)).collect();
            let inside = |list: &[Constraint]| list.iter().all(|constraint| constraint.is_satisfied_by(&point));
            prop_assert!(!inside(&all) || (!octagon.is_empty() && inside(&list)), "{:?} lost", point);
        }
    }
}
