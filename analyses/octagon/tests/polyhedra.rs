//! Octagons against polyhedra: over the rationals, each operation must give the least octagon around what the
//! polyhedra of `coreach-polyhedra` give, where it promises that, and otherwise contain it.

#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use coreach_octagon::{Constraint, Integer, LinearExpression, Octagon, Rational, Relation};
use coreach_polyhedra::Polyhedron;
use proptest::prelude::*;

use crate::support::{DIMENSIONS, config, hull, octagonal_expressions, octagonals};

type Assignments = Vec<(usize, LinearExpression)>;

/// Right sides `±x + c`, constants, and others if asked for.
fn assignments(any: bool) -> impl Strategy<Value = Assignments> {
    let unit = (0..DIMENSIONS, -1i64..2, -6i64..7, 1i64..4).prop_map(|(at, sign, c, denominator)| {
        let factor = Rational::from(sign);
        let constant = Rational::new(Integer::from(c), Integer::from(denominator)).unwrap();
        LinearExpression::variable(at).times(&factor).plus(&LinearExpression::constant(constant))
    });
    let sum = (prop::array::uniform4(-2i64..3), -3i64..4).prop_map(|(c, k)| LinearExpression::of(&c, k));
    let value = if any { prop_oneof![unit, sum].boxed() } else { unit.boxed() };
    prop::collection::btree_map(0..DIMENSIONS, value, 0..=DIMENSIONS)
        .prop_map(|map| map.into_iter().collect())
}

fn octagon(constraints: &[Constraint]) -> Octagon {
    Octagon::universe(DIMENSIONS).meet_constraints(constraints, &[])
}

fn polyhedron(octagon: &Octagon) -> Polyhedron {
    if octagon.is_empty() {
        return Polyhedron::empty(DIMENSIONS);
    }
    Polyhedron::from_constraints(octagon.dimensions(), octagon.constraints())
}

fn known(assignments: &Assignments) -> Vec<(usize, Option<LinearExpression>)> {
    assignments.iter().map(|(at, value)| (*at, Some(value.clone()))).collect()
}

fn linear() -> impl Strategy<Value = Constraint> {
    let relation =
        prop_oneof![4 => Just(Relation::AtLeast), 1 => Just(Relation::Equal), 1 => Just(Relation::Greater)];
    (prop::array::uniform4(-2i64..3), -9i64..10, relation)
        .prop_map(|(c, k, relation)| Constraint::of(&c, k, relation))
}

proptest! {
    #![proptest_config(config(600))]

    #[test]
    fn meets_are_exact(a in octagonals(), b in octagonals()) {
        let all: Vec<Constraint> = a.iter().chain(&b).cloned().collect();
        let exact = hull(&Polyhedron::from_constraints(DIMENSIONS, all.clone()));
        prop_assert_eq!(&octagon(&all), &exact, "at once");
        prop_assert_eq!(&octagon(&a).meet_constraints(&b, &[]), &exact, "one after the other");
        prop_assert_eq!(&octagon(&a).meet(&octagon(&b), &[]), &exact, "of octagons");
        let one_by_one = all.iter().fold(Octagon::universe(DIMENSIONS), |sum, constraint| {
            sum.meet_constraints(std::slice::from_ref(constraint), &[])
        });
        prop_assert_eq!(&one_by_one, &exact, "one by one");
    }

    #[test]
    fn constraints_say_all_and_no_more(a in octagonals()) {
        let a = octagon(&a);
        let list = a.constraints();
        prop_assert_eq!(&octagon(&list), &a);
        for left_out in 0..list.len() {
            let mut fewer = list.clone();
            fewer.remove(left_out);
            prop_assert_ne!(&octagon(&fewer), &a, "{} is redundant in {:?}", list[left_out], list);
        }
    }

    #[test]
    fn joins_are_hulls(a in octagonals(), b in octagonals()) {
        let (a, b) = (octagon(&a), octagon(&b));
        let join = a.join(&b);
        prop_assert_eq!(&join, &hull(&polyhedron(&a).join(&polyhedron(&b))));
        prop_assert!(a.is_leq(&join) && b.is_leq(&join));
    }

    #[test]
    fn the_order_is_that_of_sets(a in octagonals(), b in octagonals()) {
        let (a, b) = (octagon(&a), octagon(&b));
        prop_assert_eq!(a.is_leq(&b), polyhedron(&a).is_leq(&polyhedron(&b)));
        prop_assert_eq!(a == b, a.is_leq(&b) && b.is_leq(&a));
    }

    #[test]
    fn octagonal_assignments_are_exact(a in octagonals(), list in assignments(false)) {
        let a = octagon(&a);
        let exact = hull(&polyhedron(&a).assign(&list));
        prop_assert_eq!(&a.assign(&known(&list)), &exact, "image");
        let exact = hull(&polyhedron(&a).substitute(&list));
        prop_assert_eq!(&a.substitute(&known(&list)), &exact, "inverse image");
    }

    #[test]
    fn other_assignments_lose_nothing(a in octagonals(), list in assignments(true)) {
        let a = octagon(&a);
        let image = a.assign(&known(&list));
        let exact = polyhedron(&a).assign(&list);
        prop_assert!(exact.is_leq(&polyhedron(&image)), "{:?} not in {:?}", exact, image.constraints());
        // What a box would say is the least to be expected.
        for (at, value) in &list {
            let (ours, range) = (image.bounds(&LinearExpression::variable(*at)), a.bounds(value));
            let looser = |found: &Option<(Rational, bool)>, most: &Option<(Rational, bool)>| {
                most.is_some() && found.is_none()
            };
            prop_assert!(!looser(&ours.upper, &range.upper) && !looser(&ours.lower, &range.lower));
        }
        let exact = polyhedron(&a).substitute(&list);
        prop_assert!(exact.is_leq(&polyhedron(&a.substitute(&known(&list)))));
    }

    #[test]
    fn other_constraints_lose_nothing(a in octagonals(), list in prop::collection::vec(linear(), 1..4)) {
        let a = octagon(&a);
        let met = a.meet_constraints(&list, &[]);
        prop_assert!(polyhedron(&a).meet_constraints(&list).is_leq(&polyhedron(&met)));
        prop_assert!(met.is_leq(&a));
    }

    #[test]
    fn projections_are_exact(a in octagonals(), at in 0..DIMENSIONS) {
        let a = octagon(&a);
        prop_assert_eq!(&a.forget(&[at]), &hull(&polyhedron(&a).forget(&[at])));
        prop_assert_eq!(
            a.remove_last_dimensions(2).add_dimensions(2),
            a.forget(&[DIMENSIONS - 2, DIMENSIONS - 1])
        );
    }

    #[test]
    fn bounds_are_exact_of_octagonal_expressions(a in octagonals()) {
        let a = octagon(&a);
        for expression in octagonal_expressions(DIMENSIONS) {
            let expression = expression.times(&Rational::from(3));
            prop_assert_eq!(a.bounds(&expression), polyhedron(&a).bounds(&expression));
        }
    }

    /// A set multiplied by a number has its bounds multiplied, whether words hold them or not.
    #[test]
    fn overflow_changes_nothing(a in octagonals(), b in octagonals(), shift in 40u32..70) {
        let factor = Integer::from(1i128 << shift);
        let far = |list: &[Constraint]| -> Vec<Constraint> {
            let of = |c: &Constraint| {
                Constraint::new(c.coefficients().to_vec(), c.constant() * &factor, c.relation())
            };
            list.iter().map(of).collect()
        };
        let (near_a, near_b) = (octagon(&a), octagon(&b));
        let (far_a, far_b) = (octagon(&far(&a)), octagon(&far(&b)));
        let multiplied = |near: &Octagon| if near.is_empty() { near.clone() } else { octagon(&far(&near.constraints())) };
        prop_assert_eq!(&far_a, &multiplied(&near_a));
        prop_assert_eq!(far_a.is_leq(&far_b), near_a.is_leq(&near_b));
        prop_assert_eq!(far_a.join(&far_b), multiplied(&near_a.join(&near_b)));
        prop_assert_eq!(far_a.meet(&far_b, &[]), multiplied(&near_a.meet(&near_b, &[])));
        prop_assert_eq!(far_a.forget(&[1]), multiplied(&near_a.forget(&[1])));
        let join = (near_a.join(&near_b), far_a.join(&far_b));
        prop_assert_eq!(far_a.widen(&join.1, &[]), multiplied(&near_a.widen(&join.0, &[])));
    }

    #[test]
    fn bounds_contain_the_values(a in octagonals(), c in prop::array::uniform4(-3i64..4), k in -5i64..6) {
        let a = octagon(&a);
        let expression = LinearExpression::of(&c, k);
        let (ours, exact) = (a.bounds(&expression), polyhedron(&a).bounds(&expression));
        prop_assert_eq!(ours.empty, exact.empty);
        if let Some((value, _)) = ours.upper {
            prop_assert!(exact.upper.unwrap().0 <= value);
        }
        if let Some((value, _)) = ours.lower {
            prop_assert!(exact.lower.unwrap().0 >= value);
        }
    }

    #[test]
    fn widening_contains_both_and_ends(a in octagonals(), steps in prop::collection::vec(octagonals(), 1..6),
                                       thresholds in octagonals()) {
        let mut x = octagon(&a);
        for step in steps.iter().cycle().take(40) {
            let sum = x.join(&octagon(step));
            let wide = x.widen(&sum, &thresholds);
            prop_assert!(sum.is_leq(&wide), "{:?} {:?}", sum.constraints(), wide.constraints());
            x = wide;
        }
        let grown = steps.iter().fold(x.clone(), |sum, step| sum.join(&octagon(step)));
        prop_assert_eq!(x.widen(&grown, &thresholds), x);
    }
}

/// The strictness of a bound whose value follows from others.
#[test]
fn a_strict_bound_that_cuts_a_corner_is_kept() {
    let list = [
        Constraint::of(&[0, 0, 0, -1], 0, Relation::AtLeast),
        Constraint::of(&[0, 0, 1, 1], -1, Relation::AtLeast),
        Constraint::of(&[0, 0, 1, 0], -1, Relation::Greater),
    ];
    let shown: Vec<String> = octagon(&list).constraints().iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["-x3 >= 0", "x2 - 1 > 0", "x2 + x3 - 1 >= 0"]);
}

/// Sequences that never stop by themselves: each step moves what was met.
#[test]
fn a_counter_is_widened_to_its_relation() {
    // i = 0, j = 0, k <= i; i and j grow together.
    let start = octagon(&[
        Constraint::of(&[1, 0, 0, 0], 0, Relation::Equal),
        Constraint::of(&[0, 1, 0, 0], 0, Relation::Equal),
        Constraint::of(&[1, 0, -1, 0], 0, Relation::AtLeast),
    ]);
    let step = [
        (0, Some(LinearExpression::of(&[1, 0, 0, 0], 1))),
        (1, Some(LinearExpression::of(&[0, 1, 0, 0], 1))),
    ];
    let mut x = start.clone();
    let mut steps = 0;
    loop {
        let next = x.widen(&x.join(&x.assign(&step)), &[]);
        if next == x {
            break;
        }
        x = next;
        steps += 1;
        assert!(steps < 5, "{:?}", x.constraints());
    }
    let shown: Vec<String> = x.constraints().iter().map(ToString::to_string).collect();
    assert_eq!(shown, ["x0 - x1 = 0", "-x2 >= 0", "x0 >= 0"]);
}
