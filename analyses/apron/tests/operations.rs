//! Every operation once in every library, and what is known to go wrong with APRON.
#![cfg(feature = "link")]
#![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

use std::collections::BTreeSet;

use coreach_apron::{
    Affine, ApronConstraint, ApronLibrary, ApronRelation, Element, ErrorKind, Interval, Manager,
};
use dashu_int::IBig;
use dashu_ratio::RBig;

const ALL: [ApronLibrary; 4] =
    [ApronLibrary::Box, ApronLibrary::Octagon, ApronLibrary::Polka, ApronLibrary::PolkaStrict];

fn manager(library: ApronLibrary) -> Manager {
    Manager::new(library).unwrap()
}

fn at_least(coefficients: &[i64], constant: i64) -> ApronConstraint {
    ApronConstraint::new(Affine::of(coefficients, constant), ApronRelation::AtLeast)
}

fn equal(coefficients: &[i64], constant: i64) -> ApronConstraint {
    ApronConstraint::new(Affine::of(coefficients, constant), ApronRelation::Equal)
}

fn more(coefficients: &[i64], constant: i64) -> ApronConstraint {
    ApronConstraint::new(Affine::of(coefficients, constant), ApronRelation::Greater)
}

fn with(manager: &Manager, reals: usize, constraints: &[ApronConstraint]) -> Element {
    manager.top(0, reals).unwrap().meet_constraints(constraints).unwrap()
}

/// The box of these ends.
fn cube(manager: &Manager, ends: &[(i64, i64)]) -> Element {
    let unit =
        |at: usize, c: i64| -> Vec<i64> { (0..ends.len()).map(|d| if d == at { c } else { 0 }).collect() };
    let sides = ends
        .iter()
        .enumerate()
        .flat_map(|(at, (low, high))| [at_least(&unit(at, 1), -low), at_least(&unit(at, -1), *high)]);
    with(manager, ends.len(), &sides.collect::<Vec<_>>())
}

fn interval(low: impl Into<Option<i64>>, high: impl Into<Option<i64>>) -> Interval {
    Interval { low: low.into().map(RBig::from), high: high.into().map(RBig::from) }
}

fn same(a: &Element, b: &Element) -> bool {
    a.is_leq(b).unwrap() && b.is_leq(a).unwrap()
}

#[test]
fn top_and_bottom() {
    for manager in ALL.map(manager) {
        for dimensions in [0, 1, 3] {
            let (top, bottom) = (manager.top(0, dimensions).unwrap(), manager.bottom(0, dimensions).unwrap());
            assert!(top.is_top().unwrap() && !top.is_bottom().unwrap(), "{manager:?} {dimensions}");
            assert!(bottom.is_bottom().unwrap() && !bottom.is_top().unwrap(), "{manager:?} {dimensions}");
            assert!(bottom.is_leq(&top).unwrap() && !top.is_leq(&bottom).unwrap());
            assert_eq!((top.dimensions(), top.integers()), (dimensions, 0));
            assert_eq!(top.bounds().unwrap(), vec![interval(None, None); dimensions]);
            assert!(
                top.constraints()
                    .unwrap()
                    .iter()
                    .all(|constraint| constraint.relation != ApronRelation::Equal)
            );
            assert!(same(&top.join(&bottom).unwrap(), &top) && same(&top.meet(&bottom).unwrap(), &bottom));
            let never = at_least(&[], -1);
            assert!(top.meet_constraints(&[never]).unwrap().is_bottom().unwrap(), "{manager:?} {dimensions}");
        }
    }
}

#[test]
fn join_meet_and_order() {
    for manager in ALL.map(manager) {
        let (a, b) = (cube(&manager, &[(0, 2), (0, 2)]), cube(&manager, &[(1, 5), (1, 3)]));
        let join = a.join(&b).unwrap();
        assert_eq!(join.bounds().unwrap(), [interval(0, 5), interval(0, 3)]);
        assert!(same(&a.meet(&b).unwrap(), &cube(&manager, &[(1, 2), (1, 2)])));
        assert!(a.is_leq(&join).unwrap() && b.is_leq(&join).unwrap() && !join.is_leq(&a).unwrap());
        assert!(
            a.satisfies(&at_least(&[-1, 0], 2)).unwrap() && !b.satisfies(&at_least(&[-1, 0], 2)).unwrap()
        );
        // Only polyhedra know x - 3y <= 2 about the join.
        let polka = matches!(manager.library(), ApronLibrary::Polka | ApronLibrary::PolkaStrict);
        assert_eq!(join.satisfies(&at_least(&[-1, 3], 2)).unwrap(), polka);
        assert!(join.size() > 0);
    }
}

#[test]
fn bounds_of_expressions_are_exact() {
    for manager in ALL.map(manager) {
        let a = cube(&manager, &[(0, 2), (-1, 3)]);
        assert_eq!(a.bound(&Affine::of(&[1, 1], 10)).unwrap(), interval(9, 15));
        let third = Affine { coefficients: vec![RBig::from(1) / RBig::from(3)], constant: RBig::ZERO };
        let bound = a.bound(&third).unwrap();
        assert_eq!(bound.high, Some(RBig::from(2) / RBig::from(3)));
        // Octagons do not see that 3x >= 1 is one of theirs: its bound on x is looked up, and there is none
        // yet.
        let half_open = with(&manager, 1, &[at_least(&[3], -1)]);
        let seen = manager.library() != ApronLibrary::Octagon;
        let low = seen.then(|| RBig::from(1) / RBig::from(3));
        assert_eq!(half_open.bounds().unwrap(), [Interval { low, high: None }]);
    }
}

#[test]
fn numbers_of_any_size_go_in_and_out() {
    let huge = IBig::from(7).pow(90);
    let value = RBig::from(-huge.clone()) / RBig::from(IBig::from(3).pow(70));
    for manager in ALL.map(manager) {
        // Octagons take a coefficient of one only (see above).
        let octagon = manager.library() == ApronLibrary::Octagon;
        let coefficient = if octagon { RBig::ONE } else { RBig::from(huge.clone()) };
        let expected = -value.clone() / coefficient.clone();
        let expression = Affine { coefficients: vec![coefficient], constant: value.clone() };
        let point = with(&manager, 1, &[ApronConstraint::new(expression, ApronRelation::Equal)]);
        let only = Interval { low: Some(expected.clone()), high: Some(expected.clone()) };
        assert_eq!(point.bounds().unwrap(), [only], "{manager:?}");
        let read = with(&manager, 1, &point.constraints().unwrap());
        assert!(same(&read, &point));
    }
}

#[test]
fn assignments_are_parallel() {
    for manager in ALL.map(manager) {
        let a = cube(&manager, &[(0, 1), (5, 7)]);
        let swap = [(0, Affine::of(&[0, 1], 0)), (1, Affine::of(&[1, 0], 0))];
        let swapped = cube(&manager, &[(5, 7), (0, 1)]);
        assert!(same(&a.assign(&swap).unwrap(), &swapped), "{manager:?}");
        assert!(same(&a.substitute(&swap).unwrap(), &swapped), "{manager:?}");
        let moved = a.assign(&[(0, Affine::of(&[1, 1], 1))]).unwrap();
        assert_eq!(moved.bounds().unwrap(), [interval(6, 9), interval(5, 7)]);
        // x + 1 in [0, 1]
        let before = a.substitute(&[(0, Affine::of(&[1], 1))]).unwrap();
        assert!(same(&before, &cube(&manager, &[(-1, 0), (5, 7)])), "{manager:?}");
        assert!(same(&a.assign(&[]).unwrap(), &a));
        // A value that cannot be: 3 is not in [0, 1]. (Expressions shorter than the vector are lengthened for
        // APRON.)
        let never = a.substitute(&[(0, Affine::of(&[], 3))]).unwrap();
        assert!(never.is_bottom().unwrap(), "{manager:?} {never:?}");
    }
}

#[test]
fn dimensions_come_and_go() {
    for manager in ALL.map(manager) {
        let a = cube(&manager, &[(0, 1), (5, 7), (2, 3)]);
        assert!(same(&a.remove_dimensions(&[1]).unwrap(), &cube(&manager, &[(0, 1), (2, 3)])));
        assert!(same(&a.remove_dimensions(&[2, 0]).unwrap(), &cube(&manager, &[(5, 7)])));
        let longer = a.add_dimensions(0, 2).unwrap();
        assert_eq!(
            longer.bounds().unwrap()[2..],
            [interval(2, 3), interval(None, None), interval(None, None)]
        );
        assert!(same(&longer.remove_dimensions(&[3, 4]).unwrap(), &a));
        let forgotten = a.forget(&[0, 2]).unwrap();
        assert_eq!(forgotten.bounds().unwrap(), [interval(None, None), interval(5, 7), interval(None, None)]);
        // Integers come before reals.
        let mixed = a.add_dimensions(1, 0).unwrap();
        assert_eq!((mixed.integers(), mixed.dimensions()), (1, 4));
        assert_eq!(mixed.bounds().unwrap()[..2], [interval(None, None), interval(0, 1)]);
        assert!(same(&mixed.remove_dimensions(&[0]).unwrap(), &a));
        let none = a.remove_dimensions(&[0, 1, 2]).unwrap();
        assert!(
            !none.is_bottom().unwrap() && none.add_dimensions(0, 1).unwrap().is_top().unwrap(),
            "{manager:?}"
        );
    }
}

#[test]
fn widening_with_and_without_thresholds() {
    for manager in ALL.map(manager) {
        let (a, b) = (cube(&manager, &[(0, 1), (0, 0)]), cube(&manager, &[(0, 2), (0, 0)]));
        assert_eq!(a.widen(&b).unwrap().bounds().unwrap(), [interval(0, None), interval(0, 0)]);
        let within = if manager.library() == ApronLibrary::Octagon {
            assert_eq!(a.widen_within(&b, &[]).unwrap_err().kind, ErrorKind::InvalidArgument);
            a.widen_octagon(&b, &BTreeSet::from([3, 20, 7].map(RBig::from))).unwrap()
        } else {
            assert_eq!(a.widen_octagon(&b, &BTreeSet::new()).unwrap_err().kind, ErrorKind::InvalidArgument);
            a.widen_within(&b, &[at_least(&[-1, 0], 1), at_least(&[-1, 0], 10)]).unwrap()
        };
        // Of an octagon, the bounds on 2x and on x ± y grow: to 7, from which x <= 3.5, and to 3, from which
        // x <= 3.
        let high = if manager.library() == ApronLibrary::Octagon { 3 } else { 10 };
        assert_eq!(within.bounds().unwrap(), [interval(0, high), interval(0, 0)], "{manager:?}");
    }
}

#[test]
fn strict_constraints_are_kept_where_the_library_can() {
    for manager in ALL.map(manager) {
        let open = with(&manager, 2, &[more(&[1, 0], 0), more(&[-1, -1], 3), more(&[0, 1], 0)]);
        let strict = manager.library() == ApronLibrary::PolkaStrict;
        assert_eq!(open.satisfies(&more(&[1, 0], 0)).unwrap(), strict, "{manager:?}");
        assert!(open.satisfies(&at_least(&[1, 0], 0)).unwrap());
        let relations = open.constraints().unwrap();
        assert_eq!(relations.iter().any(|constraint| constraint.relation == ApronRelation::Greater), strict);
        assert_eq!(open.meet_constraints(&[equal(&[1, 0], 0)]).unwrap().is_bottom().unwrap(), strict);
    }
}

#[test]
fn polka_rounds_to_integers_only_where_constraints_are_met() {
    // Known of NewPolka: on integer dimensions 0 < x < 1 is seen to be empty, 2x = 1 is not.
    let manager = manager(ApronLibrary::Polka);
    let top = manager.top(1, 0).unwrap();
    assert!(top.meet_constraints(&[more(&[1], 0), more(&[-1], 1)]).unwrap().is_bottom().unwrap());
    assert!(!top.meet_constraints(&[equal(&[2], -1)]).unwrap().is_bottom().unwrap());
}

#[test]
fn errors_are_errors_and_pass() {
    for manager in ALL.map(manager) {
        let (a, b) = (manager.top(0, 2).unwrap(), manager.top(0, 3).unwrap());
        let invalid = |result: Result<Element, coreach_apron::Error>| {
            assert_eq!(result.unwrap_err().kind, ErrorKind::InvalidArgument);
        };
        invalid(a.join(&b));
        invalid(a.meet(&b));
        invalid(a.widen(&b));
        invalid(a.forget(&[2]));
        invalid(a.forget(&[0, 0]));
        invalid(a.remove_dimensions(&[1, 1]));
        invalid(a.assign(&[(2, Affine::of(&[], 0))]));
        invalid(a.assign(&[(0, Affine::of(&[], 0)), (0, Affine::of(&[], 1))]));
        invalid(a.assign(&[(0, Affine::of(&[1, 1, 1], 0))]));
        invalid(a.meet_constraints(&[at_least(&[1, 1, 1], 0)]));
        invalid(manager.top(usize::MAX, 1));
        invalid(a.add_dimensions(0, usize::MAX));
        assert!(a.is_leq(&b).is_err());
        assert!(same(&a, &a.clone()), "an error does not stay");
    }
    let [polka, strict] =
        [ApronLibrary::Polka, ApronLibrary::PolkaStrict].map(|library| manager(library).top(0, 1).unwrap());
    assert_eq!(polka.join(&strict).unwrap_err().kind, ErrorKind::InvalidArgument);
    assert_eq!(
        polka.join(&strict).unwrap_err().to_string(),
        "APRON: invalid argument: Polka and PolkaStrict do not mix"
    );
}

#[test]
fn rounding_stays_as_it_was() {
    let third = std::hint::black_box(1.0f64) / std::hint::black_box(3.0);
    for manager in ALL.map(manager) {
        let a = cube(&manager, &[(0, 1), (5, 7)]);
        let b = a.assign(&[(0, Affine::of(&[1, 1], 1))]).unwrap().join(&a).unwrap();
        let _ = (b.constraints().unwrap(), b.bounds().unwrap(), a.widen(&b).unwrap());
        // Upward, it would end in ...556 instead of ...555.
        assert_eq!(std::hint::black_box(1.0f64) / std::hint::black_box(3.0), third);
        assert_eq!(std::hint::black_box(1.0f64) + std::hint::black_box(1e-17), 1.0);
    }
}

#[test]
fn every_thread_has_its_own() {
    let threads: Vec<_> = (0..4)
        .map(|thread| {
            std::thread::spawn(move || {
                for manager in ALL.map(manager) {
                    let mut a = cube(&manager, &[(0, 1), (0, thread)]);
                    for step in 0..50 {
                        let moved = a.assign(&[(0, Affine::of(&[1, 1], step % 3))]).unwrap();
                        a = a.join(&moved).unwrap();
                    }
                    assert_eq!(a.bounds().unwrap()[1], interval(0, thread));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
}

#[test]
fn elements_outlive_the_variable_of_their_manager() {
    for library in ALL {
        let a = cube(&manager(library), &[(0, 1)]);
        let b = a.clone();
        drop(a);
        assert_eq!(b.bounds().unwrap(), [interval(0, 1)]);
        assert!(b.manager().version().chars().any(|c| c.is_ascii_digit()), "{}", b.manager().version());
    }
}
