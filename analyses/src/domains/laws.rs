//! Tests of the laws of [`Domain`], for every domain of the list, and for some that are made of others.
//!
//! *Soundness* laws say that no point is lost; *precision* laws say that the operations are no coarser than
//! the order demands. Points are sampled; elements are made from random constraints by random operations.

use coreach_polyhedra::{Constraint, LinearExpression, Rational, Relation};
use proptest::prelude::*;

use crate::domains::any::{AnyDomain, AnyElement};
use crate::domains::both::Both;
use crate::domains::interval::Intervals;
use crate::domains::octagon::Octagons;
use crate::domains::polyhedra::Polyhedra;
use crate::domains::{Domain, DomainKind, NAMES};
use crate::grid::Congruence;

const DIMENSIONS: usize = 3;
/// The last dimension is real.
const INTEGER: [bool; DIMENSIONS] = [true, true, false];

type SamplePoint = [i64; DIMENSIONS];

#[derive(Clone, Debug)]
struct Sample {
    first: Vec<Constraint>,
    second: Vec<Constraint>,
    third: Vec<Constraint>,
    /// The congruences of the first element, and those of the second.
    congruences: [Vec<Congruence>; 2],
    assignments: Vec<(usize, Option<LinearExpression>)>,
    points: Vec<SamplePoint>,
}

fn constraint() -> impl Strategy<Value = Constraint> {
    let relation =
        prop_oneof![3 => Just(Relation::AtLeast), 1 => Just(Relation::Equal), 1 => Just(Relation::Greater)];
    (prop::array::uniform3(-2i64..3), -4i64..5, relation)
        .prop_map(|(c, k, relation)| Constraint::of(&c, k, relation))
}

/// A congruence between the integer dimensions.
fn congruence() -> impl Strategy<Value = Congruence> {
    (prop::array::uniform2(-2i64..4), -3i64..4, 2i64..7).prop_map(|(c, k, modulus)| {
        let row = [c[0], c[1], 0].map(Rational::from);
        let expression = LinearExpression::from_rationals(&row, &Rational::from(k));
        Congruence::of(&expression, DIMENSIONS, &modulus.into())
    })
}

fn expression() -> impl Strategy<Value = LinearExpression> {
    (prop::array::uniform3(-1i64..3), -3i64..4)
        .prop_map(|(c, k)| LinearExpression::from_rationals(&c.map(Rational::from), &Rational::from(k)))
}

fn sample() -> impl Strategy<Value = Sample> {
    let constraints = || prop::collection::vec(constraint(), 0..4);
    let assignment = prop::option::weighted(0.8, expression());
    let assignments = prop::collection::btree_map(0..DIMENSIONS, assignment, 0..=DIMENSIONS)
        .prop_map(|map| map.into_iter().collect());
    let points = prop::collection::vec(prop::array::uniform3(-4i64..5), 20);
    let congruences = || prop::collection::vec(congruence(), 0..3);
    let congruences = [congruences(), congruences()];
    (constraints(), constraints(), constraints(), congruences, assignments, points).prop_map(
        |(first, second, third, congruences, assignments, points)| Sample {
            first,
            second,
            third,
            congruences,
            assignments,
            points,
        },
    )
}

fn holds(constraints: &[Constraint], point: &SamplePoint) -> bool {
    let point = point.map(Rational::from);
    constraints.iter().all(|constraint| constraint.is_satisfied_by(&point))
}

fn contains(element: &AnyElement, point: &SamplePoint) -> bool {
    !element.is_bottom()
        && holds(&element.constraints(), point)
        && element.congruences().iter().all(|one| one.is_satisfied_by(&point.map(Rational::from)))
}

fn with(domain: AnyDomain, constraints: &[Constraint]) -> AnyElement {
    domain.top(DIMENSIONS).meet_constraints(constraints, &INTEGER)
}

impl Sample {
    fn elements(&self, domain: AnyDomain) -> [AnyElement; 2] {
        let of = |constraints, congruences| with(domain, constraints).meet_congruences(congruences, &INTEGER);
        [of(&self.first, &self.congruences[0]), of(&self.second, &self.congruences[1])]
    }
}

fn same(a: &AnyElement, b: &AnyElement) -> bool {
    a.is_leq(b) && b.is_leq(a)
}

struct Soundness<'a>(&'a Sample);

impl Soundness<'_> {
    fn check(&self, domain: AnyDomain) {
        let Sample { first, congruences, assignments, points, .. } = self.0;
        let [a, b] = self.0.elements(domain);
        let satisfied = |congruences: &[Congruence], point: &SamplePoint| {
            congruences.iter().all(|one| one.is_satisfied_by(&point.map(Rational::from)))
        };
        let (join, meet) = (a.join(&b), a.meet(&b, &INTEGER));
        let image = a.assign(assignments);
        let preimage = a.substitute(assignments);
        for point in points {
            let (in_a, in_b) = (contains(&a, point), contains(&b, point));
            let given = holds(first, point) && satisfied(&congruences[0], point);
            assert!(!given || in_a, "meet_constraints loses {point:?}");
            assert!(!(in_a || in_b) || contains(&join, point), "join loses {point:?}");
            assert!(!(in_a && in_b) || contains(&meet, point), "meet loses {point:?}");
            assert!(!in_a || contains(&a.forget(&[1]), point), "forget loses {point:?}");
            for unknown in [-3, 0, 2] {
                let rational = point.map(Rational::from);
                let mut next = *point;
                let mut whole = true;
                for (dimension, value) in assignments {
                    let value =
                        value.as_ref().map_or(Rational::from(unknown), |value| value.value(&rational));
                    whole &= value.is_integer();
                    next[*dimension] = value.numerator().to_i64().unwrap_or(0);
                }
                if whole {
                    assert!(!in_a || contains(&image, &next), "assign loses {point:?} -> {next:?}");
                    assert!(
                        !contains(&a, &next) || contains(&preimage, point),
                        "substitute loses {point:?} -> {next:?}: {assignments:?} {a:?} {preimage:?}"
                    );
                }
            }
            let longer = a.add_dimensions(2);
            assert_eq!(
                in_a,
                contains(&longer.remove_last_dimensions(2), point),
                "added and removed dimensions"
            );
        }
    }
}

/// The laws of the order, and of joins and meets.
struct Order<'a>(&'a Sample);

impl Order<'_> {
    fn check(&self, domain: AnyDomain) {
        let Sample { third, .. } = self.0;
        let ([a, b], c) = (self.0.elements(domain), with(domain, third));
        let top = domain.top(DIMENSIONS);
        let bottom = top.bottom(DIMENSIONS);
        assert!(bottom.is_bottom() && bottom.is_leq(&a) && a.is_leq(&top) && a.is_leq(&a));
        assert!(!(a.is_leq(&b) && b.is_leq(&c)) || a.is_leq(&c), "transitive");
        let says = |element: &AnyElement| (element.constraints(), element.congruences());
        assert!(!same(&a, &b) || a.is_bottom() || says(&a) == says(&b), "canonical");
        // A rounded element may be rounded again, so the laws are checked for meets that round nothing.
        const NONE: [bool; DIMENSIONS] = [false; DIMENSIONS];
        let (join, meet) = (a.join(&b), a.meet(&b, &NONE));
        let rounded = a.meet(&b, &INTEGER).is_leq(&meet) && a.meet(&top, &INTEGER).is_leq(&a);
        assert!(rounded, "rounding only takes away");
        assert!(a.is_leq(&join) && b.is_leq(&join), "an upper bound");
        assert!(same(&a.join(&bottom), &a) && same(&a.meet(&top, &NONE), &a), "units");
        assert!(same(&join, &b.join(&a)), "commutative");
        // Precision.
        assert!(meet.is_leq(&a) && meet.is_leq(&b), "a lower bound");
        assert!(!(a.is_leq(&c) && b.is_leq(&c)) || join.is_leq(&c), "the least upper bound");
        assert!(!a.is_leq(&b) || (same(&join, &b) && same(&meet, &a)), "absorption");
        let wide = a.widen(&join, &self.0.third);
        assert!(join.is_leq(&wide), "widening is an upper bound");
        assert!(join.narrow(&a, &INTEGER).is_leq(&join), "narrowing, rounded");
        let narrow = join.narrow(&a, &NONE);
        assert!(a.is_leq(&narrow) && narrow.is_leq(&join), "narrowing is between");
    }
}

/// Does a chain of ever greater elements become stable under widening?
struct ChainEnds<'a>(&'a Sample);

impl ChainEnds<'_> {
    fn check(&self, domain: AnyDomain) {
        let [mut x, mut y] = self.0.elements(domain);
        for step in 0..60 {
            let sum = x.join(&y);
            let wide = x.widen(&sum, &self.0.third);
            if step > 0 && same(&wide, &x) && same(&sum, &x) {
                // Stable: the next `y` may still leave it, so the chain goes on, and must end all the same.
                if y.assign(&self.0.assignments).is_leq(&x) {
                    return;
                }
            }
            x = wide;
            y = y.join(&y.assign(&self.0.assignments));
        }
        panic!("no end after 60 steps: {x:?}");
    }
}

/// Lists the domains of the list, and some that are made of others.
fn domains() -> impl Iterator<Item = AnyDomain> {
    let composed =
        [AnyDomain::new::<Both<Intervals, Octagons>>(), AnyDomain::new::<Both<Octagons, Polyhedra>>()];
    DomainKind::ALL.iter().map(|kind| kind.implementation()).chain(composed)
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(200) })]

    #[test]
    fn soundness_of_operations(sample in sample()) {
        domains().for_each(|domain| Soundness(&sample).check(domain));
    }

    #[test]
    fn lattice(sample in sample()) {
        domains().for_each(|domain| Order(&sample).check(domain));
    }

    #[test]
    fn widening_ends(sample in sample()) {
        domains().for_each(|domain| ChainEnds(&sample).check(domain));
    }
}

#[test]
fn names_are_read_back() {
    for kind in DomainKind::ALL {
        assert_eq!(kind.name().parse(), Ok(*kind));
        assert!(NAMES.contains(&kind.name()));
    }
    let message = |name: &str| name.parse::<DomainKind>().unwrap_err().to_string();
    let names = DomainKind::ALL.iter().map(|kind| kind.name()).collect::<Vec<_>>().join(", ");
    assert_eq!(message("heptagon"), format!("no domain is called `heptagon`; there are {names}"));
    for name in NAMES.iter().filter(|name| !DomainKind::ALL.iter().any(|kind| kind.name() == **name)) {
        assert_eq!(message(name), format!("the domain `{name}` is not in this build; there are {names}"));
    }
}

#[test]
fn one_part_tells_the_other() {
    // x == y, and then x <= 3: intervals have forgotten the equality, octagons have not, and say so.
    let (same, bound) =
        (Constraint::of(&[1, -1], 0, Relation::Equal), Constraint::of(&[-1], 3, Relation::AtLeast));
    let integer = [true, true];
    let met = Both::<Intervals, Octagons>::top(2)
        .meet_constraints(&[same], &integer)
        .meet_constraints(&[bound], &integer);
    let told = met.forget(&[0]).constraints();
    assert_eq!(told.iter().map(ToString::to_string).collect::<Vec<_>>(), ["-x1 + 3 >= 0"; 2]);
}
