//! What the tests share: random octagonal constraints, and the least octagon around a polyhedron.

#![allow(
    clippy::unwrap_used,
    dead_code,
    reason = "a failure is what the tests report; not every test uses all"
)]

use coreach_octagon::{Constraint, Integer, LinearExpression, Octagon, Rational, Relation};
use coreach_polyhedra::Polyhedron;
use proptest::prelude::*;

pub const DIMENSIONS: usize = 4;

/// So many cases, or as many as `PROPTEST_CASES` says.
pub fn config(cases: u32) -> ProptestConfig {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(cases);
    ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(cases) }
}

/// Small numbers mostly, fractions, and some beyond what words hold.
pub fn value() -> impl Strategy<Value = Rational> {
    let rational = |n: i128, d: i64| Rational::new(Integer::from(n), Integer::from(d)).unwrap();
    prop_oneof![
        60 => (-9i64..10).prop_map(Rational::from),
        10 => (-20i128..20, 1i64..5).prop_map(move |(n, d)| rational(n, d)),
        3 => prop_oneof![
            Just((1i128 << 58) + 1), Just(-(1i128 << 59)), Just(1i128 << 60), Just(i128::from(i64::MAX)),
            Just(-(1i128 << 63) - 1), Just(1i128 << 64)
        ].prop_map(move |n| rational(n, 1)),
    ]
}

/// `±x ± y + c` or `±x + c`, compared with 0.
pub fn octagonal() -> impl Strategy<Value = Constraint> {
    octagonal_of(value())
}

pub fn octagonal_of(value: impl Strategy<Value = Rational>) -> impl Strategy<Value = Constraint> {
    let relation =
        prop_oneof![6 => Just(Relation::AtLeast), 1 => Just(Relation::Equal), 2 => Just(Relation::Greater)];
    let signs = prop_oneof![Just((1, 1)), Just((1, -1)), Just((-1, 1)), Just((-1, -1))];
    (0..DIMENSIONS, 0..DIMENSIONS, signs, value, relation).prop_map(|(a, b, (x, y), value, relation)| {
        let mut sum = LinearExpression::variable(a).times(&Rational::from(x));
        if a != b {
            sum = sum.plus(&LinearExpression::variable(b).times(&Rational::from(y)));
        }
        let expression = sum.plus(&LinearExpression::constant(value));
        let mut coefficients: Vec<Rational> = (0..DIMENSIONS).map(|at| expression.coefficient(at)).collect();
        coefficients.resize(DIMENSIONS, Rational::ZERO);
        let denominator = Rational::from(expression.denominator().clone());
        let whole = |value: &Rational| (value * &denominator).numerator().clone();
        Constraint::new(
            coefficients.iter().map(whole).collect(),
            whole(&expression.constant_term()),
            relation,
        )
    })
}

pub fn octagonals() -> impl Strategy<Value = Vec<Constraint>> {
    prop::collection::vec(octagonal(), 0..9)
}

/// All `x`, `x + y`, `x - y`.
pub fn octagonal_expressions(dimensions: usize) -> Vec<LinearExpression> {
    let variable = LinearExpression::variable;
    let mut found: Vec<LinearExpression> = (0..dimensions).map(variable).collect();
    for a in 0..dimensions {
        for b in 0..a {
            found.extend([variable(a).plus(&variable(b)), variable(a).minus(&variable(b))]);
        }
    }
    found
}

/// The least octagon around a polyhedron.
pub fn hull(polyhedron: &Polyhedron) -> Octagon {
    if polyhedron.is_empty() {
        return Octagon::empty(polyhedron.dimensions());
    }
    let expressions = octagonal_expressions(polyhedron.dimensions());
    let constraints: Vec<Constraint> = expressions
        .iter()
        .flat_map(|expression| polyhedron.bounds(expression).constraints(expression))
        .collect();
    Octagon::universe(polyhedron.dimensions()).meet_constraints(&constraints, &[])
}
