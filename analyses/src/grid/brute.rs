//! Tests grids of two integers against brute force: if all moduli divide 12, a grid is a set of pairs modulo
//! 12.

use std::collections::BTreeSet;

use proptest::prelude::*;

use super::*;

const MODULUS: i64 = 12;

type IntegerPair = (i64, i64);

fn congruence() -> impl Strategy<Value = Congruence> {
    let modulus = prop::sample::select(vec![2i64, 3, 4, 6, 12]);
    (-6i64..7, -6i64..7, -6i64..7, modulus)
        .prop_map(|(a, b, k, modulus)| Congruence::of(&linear(a, b, k), 2, &Integer::from(modulus)))
}

fn congruences() -> impl Strategy<Value = Vec<Congruence>> {
    prop::collection::vec(congruence(), 0..3)
}

fn linear(a: i64, b: i64, k: i64) -> LinearExpression {
    LinearExpression::from_rationals(&[Rational::from(a), Rational::from(b)], &Rational::from(k))
}

fn grid(congruences: &[Congruence]) -> Grid {
    Grid::all(2).with(&[], congruences).with_integers(&[true, true])
}

fn point((x, y): IntegerPair) -> Grid {
    let at = |at: usize, value: i64| {
        let value = LinearExpression::constant(Rational::from(value));
        Constraint::from_expression(&LinearExpression::variable(at).minus(&value), Relation::Equal)
    };
    grid(&[]).with(&[at(0, x), at(1, y)], &[])
}

fn pairs() -> impl Iterator<Item = IntegerPair> {
    (0..MODULUS).flat_map(|x| (0..MODULUS).map(move |y| (x, y)))
}

fn has(grid: &Grid, (x, y): IntegerPair) -> bool {
    let at = [Rational::from(x), Rational::from(y)];
    !grid.is_none()
        && grid.equalities().iter().all(|one| one.is_satisfied_by(&at))
        && grid.congruences().iter().all(|one| one.is_satisfied_by(&at))
}

fn all(congruences: &[Congruence]) -> BTreeSet<IntegerPair> {
    let holds = |(x, y): &IntegerPair| {
        let at = [Rational::from(*x), Rational::from(*y)];
        congruences.iter().all(|one| one.is_satisfied_by(&at))
    };
    pairs().filter(holds).collect()
}

fn seen(grid: &Grid) -> BTreeSet<IntegerPair> {
    pairs().filter(|pair| has(grid, *pair)).collect()
}

/// The least set modulo 12 that has with any three of its pairs `a`, `b`, `c` also `a + b - c`.
fn closed(mut set: BTreeSet<IntegerPair>) -> BTreeSet<IntegerPair> {
    let Some(&(x0, y0)) = set.first() else { return set };
    loop {
        let more: BTreeSet<IntegerPair> = set
            .iter()
            .flat_map(|(x, y)| {
                set.iter()
                    .map(move |(v, w)| ((x + v - x0).rem_euclid(MODULUS), (y + w - y0).rem_euclid(MODULUS)))
            })
            .collect();
        if more.len() == set.len() {
            return set;
        }
        set = more;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(100) })]

    #[test]
    fn meets_joins_and_the_order_are_those_of_the_sets(a in congruences(), b in congruences()) {
        let (one, other) = (grid(&a), grid(&b));
        let (in_a, in_b) = (all(&a), all(&b));
        prop_assert_eq!(one.is_none(), in_a.is_empty());
        prop_assert_eq!(seen(&one), in_a.clone());
        prop_assert_eq!(one.is_leq(&other), in_a.is_subset(&in_b));
        prop_assert_eq!(seen(&one.meet(&other)), in_a.intersection(&in_b).copied().collect());
        prop_assert_eq!(one == other, in_a == in_b);
        prop_assert_eq!(seen(&one.join(&other)), closed(in_a.union(&in_b).copied().collect()));
        let left: BTreeSet<i64> = in_a.iter().map(|(x, _)| *x).collect();
        let projected = one.project(&[0]);
        for x in 0..MODULUS {
            let inside = projected.congruences().iter().all(|c| c.is_satisfied_by(&[Rational::from(x)]));
            prop_assert_eq!(inside && !projected.is_none(), left.contains(&x));
        }
    }

    #[test]
    fn images_and_preimages_are_those_of_the_sets(
        a in congruences(),
        map in prop::array::uniform2((-2i64..3, -2i64..3, -3i64..4)),
        unknown in prop::bool::weighted(0.2),
    ) {
        let one = grid(&a);
        let of = |at: usize| {
            let (a, b, k) = map[at];
            (at, (!unknown || at == 0).then(|| linear(a, b, k)))
        };
        let assignments = [of(0), of(1)];
        let to = |(x, y): IntegerPair| map.map(|(a, b, k)| a * x + b * y + k);
        let before = one.preimage(&assignments);
        for pair in pairs() {
            let [x, y] = to(pair);
            let leads = if unknown { (0..MODULUS).any(|y| has(&one, (x, y))) } else { has(&one, (x, y)) };
            prop_assert_eq!(has(&before, pair), leads);
        }
        // The least grid around the images of a period and of its neighbours.
        let whole = (-MODULUS..MODULUS).flat_map(|x| (-MODULUS..MODULUS).map(move |y| (x, y)));
        let images = whole.filter(|pair| has(&one, *pair)).map(|pair| {
            let [x, y] = to(pair);
            let image = point((x, y));
            if unknown { image.image(&[(1, None)]) } else { image }
        });
        let least = images.collect::<Vec<_>>().iter().fold(Grid::none(2), |sum, next| {
            if next.is_leq(&sum) { sum } else { sum.join(next) }
        });
        let image = one.image(&assignments);
        prop_assert!(image == least, "{:?} {:?}", image, least);
    }

    #[test]
    fn the_class_of_a_form_has_its_values_and_no_others(a in congruences(), c in (-3i64..4, -3i64..4)) {
        let one = grid(&a);
        prop_assume!(!one.is_none() && c != (0, 0));
        let form = [Integer::from(c.0), Integer::from(c.1)];
        let Some((remainder, distance)) = one.class(&form) else { panic!("a form of whole numbers has a class") };
        let whole = (-MODULUS..MODULUS).flat_map(|x| (-MODULUS..MODULUS).map(move |y| (x, y)));
        let values: Vec<i64> =
            whole.filter(|pair| has(&one, *pair)).map(|(x, y)| c.0 * x + c.1 * y).collect();
        for value in &values {
            let steps = (&Rational::from(*value) - &remainder).checked_div(&distance);
            prop_assert!(steps.is_some_and(|steps| steps.is_integer()));
        }
        let differences = values.iter().map(|value| Integer::from(value - values[0]));
        prop_assert_eq!(Rational::from(differences.fold(Integer::ZERO, |sum, next| sum.gcd(&next))), distance);
    }
}

#[test]
fn numbers_that_need_not_be_whole_are_exact_too() {
    // 2x = y: if x is an integer, y is even. If not, y may be any number.
    let twice = Constraint::of(&[2, -1], 0, Relation::Equal);
    let tied = Grid::all(2).with(std::slice::from_ref(&twice), &[]);
    assert_eq!(tied.project(&[1]), Grid::all(1));
    let even = tied.with_integers(&[true, false]).project(&[1]);
    assert_eq!(
        even.congruences().iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["1*x0 + 0 == 0 mod 2"]
    );
    // No integer is a half.
    let half = Constraint::of(&[2], -1, Relation::Equal);
    let half = Grid::all(1).with(&[half], &[]);
    assert!(!half.is_none() && half.with_integers(&[true]).is_none());
}
