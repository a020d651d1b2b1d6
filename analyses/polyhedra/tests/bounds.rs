//! However little an operation may use, no bound of a single dimension is lost; and "coarser" is said where
//! something was.

use coreach_polyhedra::{
    Bounds, Constraint, Integer, LinearExpression, OperationLimits, Polyhedron, Rational, Relation,
};
use proptest::prelude::*;

use crate::properties::{assignments, configuration, polyhedron, spaces};

/// Nothing but the bounds.
const NOTHING: OperationLimits = OperationLimits { rows: 2, work: 0 };

fn bounds(polyhedron: &Polyhedron) -> Vec<Bounds> {
    let dimensions = 0..polyhedron.dimensions();
    dimensions.map(|at| polyhedron.bounds(&LinearExpression::variable(at))).collect()
}

fn between(lower: Rational, upper: Rational, attained: bool) -> Bounds {
    Bounds { lower: Some((lower, attained)), upper: Some((upper, attained)), empty: false }
}

fn number(value: i64) -> Rational {
    Rational::from(Integer::from(value))
}

/// All sums of the first `i` dimensions lie between `at` and `at + 1`: 2^n corners.
fn sheared(dimensions: usize, at: i64, relation: Relation) -> Polyhedron {
    let sides = (0..dimensions).flat_map(|last| {
        [(1, -at), (-1, at + 1)].map(|(sign, constant)| {
            let row: Vec<i64> = (0..dimensions).map(|at| if at <= last { sign } else { 0 }).collect();
            Constraint::of(&row, constant, relation)
        })
    });
    Polyhedron::from_constraints(dimensions, sides)
}

/// The corners of the sheared cube, some of them: sums as the bits of a number say.
fn some_corners(dimensions: usize, at: i64) -> impl Iterator<Item = Vec<Rational>> {
    (0..200_u64).map(move |number| {
        let mixed = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let sum = |index: usize| at + (mixed >> (63 - index) & 1).cast_signed();
        (0..dimensions)
            .map(|index| Rational::from(Integer::from(sum(index) - index.checked_sub(1).map_or(0, sum))))
            .collect()
    })
}

fn assert_contains(polyhedron: &Polyhedron, mut points: impl Iterator<Item = Vec<Rational>>) {
    let constraints = polyhedron.constraints();
    assert!(points.all(|point| constraints.iter().all(|one| one.is_satisfied_by(&point))));
}

/// Sound: no corner is lost. Precise: the bounds are exact, though no constraint states them.
#[test]
fn sheared_cubes_beyond_the_limits_keep_their_bounds() {
    let n = 24;
    for limits in
        [NOTHING, OperationLimits { rows: 64, work: 2_000 }, OperationLimits { rows: 64, work: 200_000 }]
    {
        let outcome = sheared(n, 0, Relation::AtLeast).convert_limited(&limits);
        assert!(!outcome.is_exact());
        let coarse = outcome.into_polyhedron();
        assert_contains(&coarse, some_corners(n, 0));
        let mut expected = vec![between(number(-1), number(1), true); n];
        expected[0] = between(number(0), number(1), true);
        assert_eq!(bounds(&coarse), expected);

        let open = sheared(n, 0, Relation::Greater).convert_limited(&limits).into_polyhedron();
        expected
            .iter_mut()
            .flat_map(|one| [&mut one.lower, &mut one.upper])
            .flatten()
            .for_each(|end| end.1 = false);
        assert_eq!(bounds(&open), expected);

        let other = sheared(n, 5, Relation::AtLeast).convert_limited(&limits).into_polyhedron();
        let joined = coarse.join_limited(&other, &limits).into_polyhedron();
        assert_contains(&joined, some_corners(n, 0).chain(some_corners(n, 5)));
        let mut expected = vec![between(number(-1), number(1), true); n];
        expected[0] = between(number(0), number(6), true);
        assert_eq!(bounds(&joined), expected);
    }
}

/// Precise: with some work more than bounds is kept, of sums of two as well.
#[test]
fn sheared_cubes_keep_sums_of_two() {
    let coarse =
        sheared(24, 0, Relation::AtLeast).convert_limited(&OperationLimits { rows: 64, work: 200_000 });
    let row = |entries: &[usize]| {
        let row: Vec<i64> = (0..24).map(|at| i64::from(entries.contains(&at))).collect();
        LinearExpression::of(&row, 0)
    };
    // x0 + x1 is a sum that is stated.
    assert_eq!(coarse.polyhedron().bounds(&row(&[0, 1])), between(number(0), number(1), true));
}

/// Sound and precise: two boxes that differ everywhere have a hull of 2^n corners, and its bounds.
#[test]
fn joins_of_boxes_keep_their_bounds() {
    for n in [24, 48] {
        let cube = |at: i64| {
            let sides = (0..n).flat_map(|dimension| {
                [(1, -at), (-1, at + 1)].map(|(sign, constant)| {
                    let row: Vec<i64> = (0..n).map(|at| if at == dimension { sign } else { 0 }).collect();
                    Constraint::of(&row, constant, Relation::AtLeast)
                })
            });
            Polyhedron::from_constraints(n, sides)
        };
        for limits in [NOTHING, OperationLimits::default()] {
            let joined = cube(0).join_limited(&cube(3), &limits);
            assert!(
                !joined.is_exact()
                    && cube(0).is_leq(joined.polyhedron())
                    && cube(3).is_leq(joined.polyhedron())
            );
            assert_eq!(bounds(joined.polyhedron()), vec![between(number(0), number(4), true); n]);
        }
    }
}

proptest! {
    #![proptest_config(configuration())]

    /// Sound and precise: what is empty is known to be, and every dimension has its exact range.
    #[test]
    fn no_limit_loses_a_bound(
        (dimensions, lists) in spaces(1..=5, 8, 2, true),
        map in assignments(5),
        rows in 2_usize..12,
        work in prop_oneof![Just(1_000_000_u64), 0_u64..300],
    ) {
        let limits = OperationLimits { rows, work };
        let fresh = |list: usize| polyhedron(dimensions, &lists[list]);
        let (p, q) = (fresh(0), fresh(1));
        let outcome = fresh(0).convert_limited(&limits);
        prop_assert_eq!(bounds(outcome.polyhedron()), bounds(&p));
        prop_assert_eq!(outcome.is_exact(), outcome.polyhedron().is_leq(&p), "coarser where it is");
        prop_assert_eq!(bounds(fresh(0).join_limited(&fresh(1), &limits).polyhedron()), bounds(&p.join(&q)));
        let map: Vec<_> = map.into_iter().filter(|(at, _)| *at < dimensions).map(|(at, right)| {
            let used = (0..dimensions).map(|at| right.coefficient(at)).collect::<Vec<_>>();
            (at, LinearExpression::from_rationals(&used, &right.constant_term()))
        }).collect();
        let _ = p.constraints();
        prop_assert_eq!(bounds(p.assign_limited(&map, &limits).polyhedron()), bounds(&p.assign(&map)));
        let widened = p.widen_limited(&p.join(&q), &[], &limits);
        prop_assert!(p.widen(&p.join(&q)).is_leq(widened.polyhedron()));
    }
}
