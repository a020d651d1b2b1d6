//! Random polyhedra against independent models: Fourier-Motzkin elimination, points, and laws.

#![expect(clippy::unwrap_used, reason = "the denominators are written in this file")]

use crate::oracle::Inequality;
use coreach_polyhedra::{
    Approx, Constraint, Integer, LinearExpression, OperationLimits, Polyhedron, Rational, Relation,
};
use proptest::prelude::*;

fn relation(strict: bool) -> BoxedStrategy<Relation> {
    if strict {
        prop_oneof![
            1 => Just(Relation::Equal),
            5 => Just(Relation::AtLeast),
            4 => Just(Relation::Greater),
        ]
        .boxed()
    } else {
        prop_oneof![1 => Just(Relation::Equal), 6 => Just(Relation::AtLeast)].boxed()
    }
}

fn constraint(dimensions: usize, strict: bool) -> impl Strategy<Value = Constraint> {
    (prop::collection::vec(-3_i64..4, dimensions), -4_i64..7, relation(strict))
        .prop_map(|(coefficients, constant, relation)| Constraint::of(&coefficients, constant, relation))
}

/// Sides of a box, which make bounded polyhedra with many corners likely.
fn side(dimensions: usize, strict: bool) -> impl Strategy<Value = Constraint> {
    (0..dimensions, prop::bool::ANY, 0_i64..3, relation(strict)).prop_map(
        move |(dimension, upper, constant, relation)| {
            let mut coefficients = vec![0; dimensions];
            coefficients[dimension] = if upper { -1 } else { 1 };
            Constraint::of(&coefficients, constant, relation)
        },
    )
}

fn constraints(dimensions: usize, most: usize, strict: bool) -> impl Strategy<Value = Vec<Constraint>> {
    let one = prop_oneof![constraint(dimensions, strict), side(dimensions, strict)];
    prop::collection::vec(one, 0..=most)
}

/// A number of dimensions and that many lists of constraints.
pub fn spaces(
    dimensions: core::ops::RangeInclusive<usize>,
    most: usize,
    lists: usize,
    strict: bool,
) -> impl Strategy<Value = (usize, Vec<Vec<Constraint>>)> {
    dimensions.prop_flat_map(move |dimensions| {
        let lists = prop::collection::vec(constraints(dimensions, most, strict), lists);
        (Just(dimensions), lists)
    })
}

pub fn expression(dimensions: usize) -> impl Strategy<Value = LinearExpression> {
    (prop::collection::vec(-2_i64..3, dimensions), -3_i64..4, 1_i64..3).prop_map(
        |(coefficients, constant, denominator)| {
            LinearExpression::of(&coefficients, constant)
                .times(&Rational::new(Integer::ONE, Integer::from(denominator)).unwrap())
        },
    )
}

pub fn assignments(dimensions: usize) -> impl Strategy<Value = Vec<(usize, LinearExpression)>> {
    prop::collection::vec(prop::option::of(expression(dimensions)), dimensions)
        .prop_map(|all| all.into_iter().enumerate().filter_map(|(d, e)| Some((d, e?))).collect())
}

pub fn polyhedron(dimensions: usize, constraints: &[Constraint]) -> Polyhedron {
    Polyhedron::from_constraints(dimensions, constraints.to_vec())
}

fn points(dimensions: usize) -> Vec<Vec<Rational>> {
    // A fixed grid with halves; larger spaces get fewer values for each coordinate.
    let values: &[i64] = if dimensions <= 2 { &[-6, -3, -2, -1, 0, 1, 2, 4] } else { &[-3, 0, 2] };
    let mut all = vec![Vec::new()];
    for _ in 0..dimensions {
        all = all
            .into_iter()
            .flat_map(|point: Vec<Rational>| {
                values.iter().map(move |&value| {
                    let mut point = point.clone();
                    point.push(Rational::new(Integer::from(value), Integer::from(2)).unwrap());
                    point
                })
            })
            .collect();
    }
    all
}

fn contains(polyhedron: &Polyhedron, point: &[Rational]) -> bool {
    polyhedron.constraints().iter().all(|constraint| constraint.is_satisfied_by(point))
}

fn image(point: &[Rational], assignments: &[(usize, LinearExpression)]) -> Vec<Rational> {
    let mut result = point.to_vec();
    for (dimension, expression) in assignments {
        result[*dimension] = expression.value(point);
    }
    result
}

/// Rejects the case when the oracle gave up; `proptest` fails if that happens too often.
macro_rules! known {
    ($answer:expr) => {
        match $answer {
            Some(answer) => answer,
            None => return Err(TestCaseError::reject("the oracle gave up")),
        }
    };
}

/// Many small cases; `PROPTEST_CASES` asks for another number.
pub fn configuration() -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { 500 };
    ProptestConfig { cases, max_global_rejects: 8 * cases, failure_persistence: None, ..default }
}

fn check_same(p: &Polyhedron, expected: &crate::oracle::System) -> Result<(), TestCaseError> {
    let actual = known!(crate::oracle::system(&p.constraints()));
    prop_assert!(
        known!(crate::oracle::same(&actual, expected)),
        "got {:?}, expected {expected:?}",
        p.constraints()
    );
    Ok(())
}

proptest! {
    #![proptest_config(configuration())]

    /// precise: minimising neither adds nor loses a point, and emptiness is decided.
    #[test]
    fn minimising_keeps_the_set((dimensions, lists) in spaces(1..=4, 7, 1, true)) {
        let p = polyhedron(dimensions, &lists[0]);
        let original = known!(crate::oracle::system(&lists[0]));
        prop_assert_eq!(p.is_empty(), known!(crate::oracle::is_empty(&original)));
        check_same(&p, &original)?;
    }

    /// precise: a polyhedron rebuilt from its generators alone is the same, in canonical form.
    #[test]
    fn generators_are_complete((dimensions, lists) in spaces(1..=4, 7, 1, true)) {
        let p = polyhedron(dimensions, &lists[0]);
        prop_assume!(!p.is_empty());
        // A dimension added, and removed by projection of generators.
        let lifted = p.add_dimensions(1).meet_constraints(&[Constraint::of(
            &[vec![0; dimensions], vec![1]].concat(), 0, Relation::Equal)]);
        let rebuilt = lifted.remove_dimensions(&[dimensions]);
        prop_assert_eq!(rebuilt.constraints(), p.constraints());
        prop_assert_eq!(rebuilt.generators(), p.generators());
        prop_assert!(p.is_leq(&rebuilt) && rebuilt.is_leq(&p));
    }

    /// precise: every constraint in the minimal list matters.
    #[test]
    fn output_is_minimal((dimensions, lists) in spaces(1..=3, 7, 1, true)) {
        let p = polyhedron(dimensions, &lists[0]);
        prop_assume!(!p.is_empty());
        let all = p.constraints();
        for skipped in 0..all.len() {
            let mut rest = all.clone();
            rest.remove(skipped);
            prop_assert!(!polyhedron(dimensions, &rest).is_leq(&p), "{:?} in {:?}", all[skipped], all);
        }
    }

    /// precise: incremental meets agree with the meet from scratch.
    #[test]
    fn meet_is_exact((dimensions, lists) in spaces(1..=4, 4, 2, true)) {
        let (p, q) = (polyhedron(dimensions, &lists[0]), polyhedron(dimensions, &lists[1]));
        let lazy = p.meet(&q);
        let _ = (p.is_empty(), q.generators());
        let (incremental, added) = (p.meet(&q), p.meet_constraints(&lists[1]));
        let expected = known!(crate::oracle::system(&lists.concat()));
        check_same(&lazy, &expected)?;
        prop_assert_eq!(incremental.constraints(), lazy.constraints());
        prop_assert_eq!(added.constraints(), lazy.constraints());
    }

    /// precise: the join of closed polyhedra is the hull found by elimination.
    #[test]
    fn closed_join_is_exact((dimensions, lists) in spaces(1..=3, 4, 2, false)) {
        let (p, q) = (polyhedron(dimensions, &lists[0]), polyhedron(dimensions, &lists[1]));
        prop_assume!(!p.is_empty() && !q.is_empty());
        let (a, b) = (known!(crate::oracle::system(&lists[0])), known!(crate::oracle::system(&lists[1])));
        check_same(&p.join(&q), &known!(crate::oracle::hull(&a, &b, dimensions)))?;
    }

    /// sound, precise: a half-space contains a join exactly when it contains both sides. (NNC
    /// polyhedra are the intersections of their half-spaces.)
    #[test]
    fn strict_join_is_exact(
        (dimensions, lists) in spaces(1..=3, 5, 2, true),
        factors in prop::collection::vec(0_i128..3, 6),
    ) {
        let (p, q) = (polyhedron(dimensions, &lists[0]), polyhedron(dimensions, &lists[1]));
        let joined = p.join(&q);
        let (a, b) = (known!(crate::oracle::system(&lists[0])), known!(crate::oracle::system(&lists[1])));
        let hull = known!(crate::oracle::system(&joined.constraints()));
        for inequality in &hull {
            prop_assert!(known!(crate::oracle::implies(&a, inequality)), "{inequality:?} of {hull:?}");
            prop_assert!(known!(crate::oracle::implies(&b, inequality)), "{inequality:?} of {hull:?}");
        }
        // Candidates: constraints of either side, sums of neighbours, and both kinds of each facet.
        let sources: Vec<&Inequality> = a.iter().chain(&b).chain(&hull).collect();
        let mut candidates: Vec<Inequality> = Vec::new();
        for (index, first) in sources.iter().enumerate() {
            for (second, factor) in sources[index..].iter().zip(&factors) {
                let row: Vec<i128> =
                    first.row.iter().zip(&second.row).map(|(x, y)| x + factor * y).collect();
                candidates.extend([true, false].map(|strict| Inequality { row: row.clone(), strict }));
            }
        }
        for candidate in candidates {
            let expected = known!(crate::oracle::implies(&a, &candidate)) && known!(crate::oracle::implies(&b, &candidate));
            prop_assert_eq!(known!(crate::oracle::implies(&hull, &candidate)), expected, "{:?}", candidate);
        }
    }

    /// precise: projection agrees with elimination, strictness included.
    #[test]
    fn forget_is_exact((dimensions, lists) in spaces(1..=4, 6, 1, true), dimension in 0_usize..4) {
        let dimension = dimension % dimensions;
        let p = polyhedron(dimensions, &lists[0]);
        let expected = known!(crate::oracle::eliminate(&known!(crate::oracle::system(&lists[0])), dimension + 1));
        let forgotten = p.forget(&[dimension]);
        check_same(&forgotten, &expected)?;
        let removed = p.remove_dimensions(&[dimension]);
        prop_assert_eq!(removed.constraints(), forgotten.remove_dimensions(&[dimension]).constraints());
        prop_assert_eq!(removed.dimensions(), dimensions - 1);
    }

    /// sound, precise: membership before and after substitution and assignment.
    #[test]
    fn transfer_agrees_with_points(
        (dimensions, lists, map) in (1_usize..=3).prop_flat_map(|dimensions| (
            Just(dimensions), constraints(dimensions, 5, true), assignments(dimensions))),
        forced: bool,
    ) {
        let p = polyhedron(dimensions, &lists);
        if forced { let _ = p.generators(); }
        let (before, after) = (p.substitute(&map), p.assign(&map));
        for point in points(dimensions) {
            let mapped = image(&point, &map);
            prop_assert_eq!(contains(&before, &point), contains(&p, &mapped));
            prop_assert!(!contains(&p, &point) || contains(&after, &mapped));
        }
        // Galois connection, which with exact substitution pins the assignment down.
        prop_assert!(p.is_leq(&after.substitute(&map)));
        prop_assert!(before.assign(&map).is_leq(&p));
        prop_assert_eq!(after.substitute(&map).assign(&map).constraints(), after.constraints());
    }

    /// precise: assignment is "new copy = expression, project, rename" done by elimination.
    #[test]
    fn assign_is_exact(
        (dimensions, lists, map) in (1_usize..=3).prop_flat_map(|dimensions| (
            Just(dimensions), constraints(dimensions, 4, true), expression(dimensions))),
        dimension in 0_usize..3,
        forced: bool,
    ) {
        let dimension = dimension % dimensions;
        let p = polyhedron(dimensions, &lists);
        if forced { let _ = p.generators(); }
        let mut lifted: Vec<Constraint> = Vec::new();
        for c in &lists {
            lifted.push(Constraint::new([c.coefficients(), &[Integer::ZERO]].concat(), c.constant().clone(), c.relation()));
        }
        lifted.push(Constraint::from_expression(
            &LinearExpression::variable(dimensions).minus(&map), Relation::Equal));
        // An expression may be shorter than the lifted space.
        let lifted = Polyhedron::from_constraints(dimensions + 1, lifted);
        let lifted = known!(crate::oracle::system(&lifted.constraints()));
        let mut expected = known!(crate::oracle::eliminate(&lifted, dimension + 1));
        for inequality in &mut expected {
            inequality.row[dimension + 1] = inequality.row[dimensions + 1];
            inequality.row.truncate(dimensions + 1);
        }
        check_same(&p.assign(&[(dimension, map)]), &expected)?;
    }

    /// Both descriptions survive a bijection: later questions agree with a fresh conversion.
    #[test]
    fn bijections_keep_both_descriptions(
        (dimensions, lists, map) in (1_usize..=3).prop_flat_map(|dimensions| (
            Just(dimensions), constraints(dimensions, 5, true), assignments(dimensions))),
    ) {
        let p = polyhedron(dimensions, &lists);
        let _ = p.generators();
        let moved = p.assign(&map);
        let fresh = polyhedron(dimensions, &moved.constraints());
        prop_assert_eq!(moved.constraints(), fresh.constraints());
        prop_assert_eq!(moved.generators(), fresh.generators());
        prop_assert!(moved.is_leq(&fresh) && fresh.is_leq(&moved));
        let joined = moved.join(&Polyhedron::from_constraints(dimensions, [Constraint::of(&[1], 5, Relation::Equal)]));
        let again = fresh.join(&Polyhedron::from_constraints(dimensions, [Constraint::of(&[1], 5, Relation::Equal)]));
        prop_assert_eq!(joined.constraints(), again.constraints());
    }

    /// What was added to a known description and not converted yet is moved with it: no different from
    /// converting first, for meets and for joins, there and back.
    #[test]
    fn bijections_move_what_is_not_converted(
        (dimensions, lists, map) in (1_usize..=3).prop_flat_map(|dimensions| (
            Just(dimensions), prop::collection::vec(constraints(dimensions, 4, true), 2), assignments(dimensions))),
    ) {
        let both = || {
            let (p, q) = (polyhedron(dimensions, &lists[0]), polyhedron(dimensions, &lists[1]));
            let _ = (p.generators(), q.generators());
            [p.meet_constraints(&lists[1]), p.join(&q)]
        };
        for (lazy, converted) in both().into_iter().zip(both()) {
            let _ = converted.generators();
            prop_assert_eq!(lazy.assign(&map).constraints(), converted.assign(&map).constraints());
            prop_assert_eq!(lazy.substitute(&map).constraints(), converted.substitute(&map).constraints());
            prop_assert_eq!(lazy.assign(&map).generators(), converted.assign(&map).generators());
        }
    }

    /// sound: limited assignments contain the exact image and are it when they say so; limited rounding keeps
    /// what it must and adds nothing.
    #[test]
    fn limited_transfer_is_coarser(
        (dimensions, lists, map) in (2_usize..=4).prop_flat_map(|dimensions| (
            Just(dimensions), constraints(dimensions, 7, true), assignments(dimensions))),
        rows in 3_usize..12,
        work in prop_oneof![Just(1_000_000_u64), 0_u64..300],
        marks: [bool; 4],
    ) {
        let limits = OperationLimits { rows, work };
        let exact = polyhedron(dimensions, &lists).assign(&map);
        let outcome = polyhedron(dimensions, &lists).assign_limited(&map, &limits);
        prop_assert!(exact.is_leq(outcome.polyhedron()));
        if outcome.is_exact() {
            prop_assert_eq!(outcome.polyhedron().constraints(), exact.constraints());
        }
        let p = polyhedron(dimensions, &lists);
        let outcome = p.convert_limited(&limits);
        let start = outcome.polyhedron();
        let limited = start.tighten_limited(&marks[..dimensions], &limits);
        prop_assert!(limited.is_leq(start));
        // What was made coarser may be the same set, but written otherwise, and be rounded otherwise.
        prop_assert!(p.tighten(&marks[..dimensions]).is_leq(&limited) || !outcome.is_exact());
        for point in points(dimensions) {
            let admitted = point.iter().zip(&marks).all(|(value, mark)| !mark || value.is_integer());
            prop_assert!(!(admitted && contains(&p, &point)) || contains(&limited, &point), "{point:?}");
        }
    }

    /// Laws of the lattice, and canonical output along the way.
    #[test]
    fn lattice_laws((dimensions, lists) in spaces(1..=3, 4, 3, true)) {
        let [p, q, r] = [0, 1, 2].map(|index| polyhedron(dimensions, &lists[index]));
        let same = |a: &Polyhedron, b: &Polyhedron| a.constraints() == b.constraints() && a.is_equal(b);
        prop_assert!(same(&p.join(&q), &q.join(&p)) && same(&p.meet(&q), &q.meet(&p)));
        prop_assert!(same(&p.join(&q).join(&r), &p.join(&q.join(&r))));
        prop_assert!(same(&p.meet(&q).meet(&r), &p.meet(&q.meet(&r))));
        prop_assert!(same(&p.join(&p.meet(&q)), &p) && same(&p.meet(&p.join(&q)), &p));
        prop_assert!(same(&p.join(&p), &p) && same(&p.meet(&p), &p));
        prop_assert_eq!(p.is_leq(&q), same(&p.join(&q), &q));
        prop_assert_eq!(p.is_leq(&q), same(&p.meet(&q), &p));
        let (top, bottom) = (Polyhedron::universe(dimensions), Polyhedron::empty(dimensions));
        prop_assert!(p.is_leq(&top) && bottom.is_leq(&p));
        prop_assert!(same(&p.join(&top), &top) && same(&p.join(&bottom), &p));
        prop_assert!(same(&p.meet(&top), &p) && same(&p.meet(&bottom), &bottom));
    }

    /// sound, precise: bounds agree with the half-spaces they stand for.
    #[test]
    fn bounds_are_tight(
        (dimensions, lists, expression) in (1_usize..=3).prop_flat_map(|dimensions| (
            Just(dimensions), constraints(dimensions, 6, true), expression(dimensions))),
    ) {
        let p = polyhedron(dimensions, &lists);
        let bounds = p.bounds(&expression);
        prop_assert_eq!(bounds.is_empty(), p.is_empty());
        prop_assume!(!p.is_empty());
        let system = known!(crate::oracle::system(&p.constraints()));
        for (bound, sign) in [(bounds.lower, 1), (bounds.upper, -1)] {
            let directed = expression.times(&Rational::from(sign));
            let half_space = |value: &Rational, relation| {
                let value = value * &Rational::from(sign);
                let distance = directed.minus(&LinearExpression::constant(value));
                let lifted = Polyhedron::from_constraints(dimensions, [Constraint::from_expression(&distance, relation)]);
                lifted.constraints().first().cloned()
            };
            let implied = |value: &Rational, relation| match half_space(value, relation) {
                None => Some(true),
                Some(c) if c.coefficients().iter().all(Integer::is_zero) => Some(false),
                Some(c) => crate::oracle::implies(&system, &crate::oracle::system(&[c])?[0]),
            };
            match bound {
                Some((value, attained)) => {
                    prop_assert!(known!(implied(&value, Relation::AtLeast)));
                    prop_assert_eq!(known!(implied(&value, Relation::Greater)), !attained);
                    let better = &value + &Rational::new(Integer::from(sign), Integer::from(1000)).unwrap();
                    prop_assert!(!known!(implied(&better, Relation::AtLeast)));
                }
                None => {
                    let far = Rational::from(-1_000_000 * sign);
                    prop_assert!(!known!(implied(&far, Relation::AtLeast)));
                }
            }
        }
    }

    /// sound: widening contains both sides, and depends on the sets alone.
    #[test]
    fn widening_contains_both((dimensions, lists) in spaces(1..=3, 5, 2, true)) {
        let (p, q) = (polyhedron(dimensions, &lists[0]), polyhedron(dimensions, &lists[1]));
        let upper = p.join(&q);
        let widened = p.widen(&upper);
        prop_assert!(upper.is_leq(&widened));
        let rebuilt = polyhedron(dimensions, &p.constraints()).widen(&polyhedron(dimensions, &upper.constraints()));
        prop_assert_eq!(rebuilt.constraints(), widened.constraints());
        prop_assert!(p.widen(&p).is_equal(&p), "stationary");
        let limited = p.widen_with_thresholds(&upper, &lists[1]);
        prop_assert!(upper.is_leq(&limited) && limited.is_leq(&widened));
    }

    /// Every chain of widenings is short.
    #[test]
    fn widening_ends((dimensions, lists) in spaces(1..=3, 5, 12, true), with_thresholds: bool) {
        let thresholds = if with_thresholds { lists[0].clone() } else { Vec::new() };
        let mut current = Polyhedron::empty(dimensions);
        let mut changes = 0;
        for list in lists.iter().cycle().take(60) {
            // Shifted further with each change, so that the chain does not end by itself.
            let shift = LinearExpression::variable(0).plus(&LinearExpression::constant(Rational::from(changes)));
            let next = current.join(&polyhedron(dimensions, list).assign(&[(0, shift)]));
            let widened = current.widen_with_thresholds(&next, &thresholds);
            prop_assert!(next.is_leq(&widened));
            changes += i64::from(!widened.is_leq(&current));
            current = widened;
        }
        prop_assert!(changes <= 20, "{changes} changes, at last {current:?}");
    }

    /// sound: tightening keeps all integer points and adds none.
    #[test]
    fn tightening_keeps_integer_points((dimensions, lists) in spaces(1..=3, 5, 1, true), marks: [bool; 3]) {
        let p = polyhedron(dimensions, &lists[0]);
        let tight = p.tighten(&marks[..dimensions]);
        prop_assert!(tight.is_leq(&p));
        for point in points(dimensions) {
            let admitted = point.iter().zip(&marks).all(|(value, mark)| !mark || value.is_integer());
            prop_assert!(!(admitted && contains(&p, &point)) || contains(&tight, &point), "{point:?}");
        }
    }

    /// sound: with limits the result contains the exact one, and is it when it says so.
    #[test]
    fn limited_results_are_coarser((dimensions, lists) in spaces(2..=4, 7, 2, true), rows in 3_usize..12, work in prop_oneof![Just(1_000_000_u64), 0_u64..300]) {
        let limits = OperationLimits { rows, work };
        let fresh = || (polyhedron(dimensions, &lists[0]), polyhedron(dimensions, &lists[1]));
        let (p, q) = fresh();
        let (exact_join, exact_meet) = (p.join(&q), p.meet(&q));
        let _ = (exact_join.constraints(), exact_meet.constraints());
        let (p, q) = fresh();
        for (outcome, exact) in [
            (p.join_limited(&q, &limits), &exact_join),
            (p.meet_limited(&q, &limits), &exact_meet),
            (polyhedron(dimensions, &lists[0]).convert_limited(&limits), &fresh().0),
        ] {
            prop_assert!(exact.is_leq(outcome.polyhedron()));
            if let Approx::Exact(result) = &outcome {
                prop_assert_eq!(result.constraints(), exact.constraints());
            }
            for block in outcome.polyhedron().blocks() {
                let others: Vec<usize> = (0..dimensions).filter(|at| !block.contains(at)).collect();
                let generators = outcome.polyhedron().remove_dimensions(&others).generators();
                let closure = generators.lines.len() + generators.rays.len() + generators.closure_points.len();
                prop_assert!(closure <= rows.max(dimensions + 1));
            }
        }
    }

    /// Overflow changes nothing: operations commute with scaling and shifting by huge numbers.
    #[test]
    fn huge_coefficients(
        (dimensions, lists) in spaces(1..=3, 4, 2, true),
        scales in prop::array::uniform3(prop_oneof![
            Just((1_i64 << 31) - 1), Just(i64::MAX), Just(i64::MIN), Just((1 << 62) + 1), Just(3)]),
        shifts in prop::array::uniform3(prop_oneof![Just(0_i64), Just(i64::MIN), Just(i64::MAX - 4)]),
    ) {
        let map: Vec<(usize, LinearExpression)> = (0..dimensions).map(|dimension| {
            let scaled = LinearExpression::variable(dimension).times(&Rational::from(scales[dimension]));
            (dimension, scaled.plus(&LinearExpression::constant(Rational::from(shifts[dimension]))))
        }).collect();
        let (p, q) = (polyhedron(dimensions, &lists[0]), polyhedron(dimensions, &lists[1]));
        let (large_p, large_q) = (p.assign(&map), q.assign(&map));
        prop_assert_eq!(p.join(&q).assign(&map).constraints(), large_p.join(&large_q).constraints());
        prop_assert_eq!(p.meet(&q).assign(&map).constraints(), large_p.meet(&large_q).constraints());
        prop_assert_eq!(large_p.substitute(&map).constraints(), p.constraints());
        prop_assert_eq!(p.is_leq(&q), large_p.is_leq(&large_q));
        prop_assert_eq!(p.forget(&[0]).assign(&map).constraints(), large_p.forget(&[0]).constraints());
        let upper = p.join(&q);
        let widened = p.widen(&upper).assign(&map);
        prop_assert_eq!(widened.constraints(), large_p.widen(&upper.assign(&map)).constraints());
    }
}
