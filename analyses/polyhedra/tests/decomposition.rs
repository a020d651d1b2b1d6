//! Decomposition changes no result: the same sequences of operations, with and without it.
//!
//! The undecomposed polyhedra are the blocks that the crate is made of, used for the whole space; the
//! other tests compare them, as blocks, with independent models.

#![expect(clippy::unwrap_used, reason = "the denominators are written in this file")]

use coreach_polyhedra::{
    Constraint, Dense, Generators, Integer, LinearExpression, Polyhedron, Rational, Relation,
};
use proptest::prelude::*;

/// One step; polyhedra are numbered in the order in which they were made.
#[derive(Clone, Debug)]
enum Step {
    Make(Vec<Constraint>),
    Constrain(usize, Vec<Constraint>),
    Meet(usize, usize),
    Join(usize, usize),
    Widen(usize, usize, Vec<Constraint>),
    Assign(usize, Vec<(usize, LinearExpression)>),
    Substitute(usize, Vec<(usize, LinearExpression)>),
    Forget(usize, Vec<usize>),
    /// One dimension added at the end, another removed.
    Exchange(usize, usize),
    /// Forces both descriptions, so that later steps start from them.
    Convert(usize),
}

fn coefficient(huge: bool) -> BoxedStrategy<i64> {
    if !huge {
        return (-3_i64..4).boxed();
    }
    const EDGES: [i64; 7] = [i64::MAX, i64::MIN, i64::MAX - 1, 1 << 31, (1 << 31) - 1, -(1 << 31), 1 << 62];
    prop_oneof![4 => -2_i64..3, 1 => prop::sample::select(&EDGES[..])].boxed()
}

/// Sparse rows: one to three dimensions.
fn row(dimensions: usize, huge: bool) -> impl Strategy<Value = Vec<i64>> {
    prop::collection::vec((0..dimensions, coefficient(huge)), 1..=3).prop_map(move |entries| {
        let mut row = vec![0; dimensions];
        entries.into_iter().for_each(|(at, value)| row[at] = value);
        row
    })
}

fn constraint(dimensions: usize, huge: bool) -> impl Strategy<Value = Constraint> {
    let relation = prop_oneof![
        1 => Just(Relation::Equal),
        5 => Just(Relation::AtLeast),
        1 => Just(Relation::Greater),
    ];
    (row(dimensions, huge), coefficient(huge), relation)
        .prop_map(|(row, constant, relation)| Constraint::of(&row, constant, relation))
}

fn constraints(dimensions: usize, most: usize, huge: bool) -> impl Strategy<Value = Vec<Constraint>> {
    prop::collection::vec(constraint(dimensions, huge), 1..=most)
}

fn assignments(dimensions: usize, huge: bool) -> impl Strategy<Value = Vec<(usize, LinearExpression)>> {
    let one = (0..dimensions, row(dimensions, huge), coefficient(huge), 1_i64..3, any::<bool>());
    prop::collection::vec(one, 1..=3).prop_map(|all| {
        let mut result: Vec<(usize, LinearExpression)> = Vec::new();
        for (at, row, constant, denominator, is_constant) in all {
            if result.iter().any(|(other, _)| *other == at) {
                continue;
            }
            let row = if is_constant { Vec::new() } else { row };
            let factor = Rational::new(Integer::ONE, Integer::from(denominator)).unwrap();
            result.push((at, LinearExpression::of(&row, constant).times(&factor)));
        }
        result
    })
}

fn step(dimensions: usize, huge: bool) -> impl Strategy<Value = Step> {
    let index = 0_usize..100;
    prop_oneof![
        2 => constraints(dimensions, 6, huge).prop_map(Step::Make),
        2 => (index.clone(), constraints(dimensions, 2, huge)).prop_map(|(a, c)| Step::Constrain(a, c)),
        2 => (index.clone(), index.clone()).prop_map(|(a, b)| Step::Meet(a, b)),
        4 => (index.clone(), index.clone()).prop_map(|(a, b)| Step::Join(a, b)),
        1 => (index.clone(), index.clone(), constraints(dimensions, 2, huge))
            .prop_map(|(a, b, c)| Step::Widen(a, b, c)),
        3 => (index.clone(), assignments(dimensions, huge)).prop_map(|(a, m)| Step::Assign(a, m)),
        2 => (index.clone(), assignments(dimensions, huge)).prop_map(|(a, m)| Step::Substitute(a, m)),
        1 => (index.clone(), prop::collection::vec(0..dimensions, 1..=2)).prop_map(|(a, d)| Step::Forget(a, d)),
        1 => (index.clone(), 0..dimensions).prop_map(|(a, d)| Step::Exchange(a, d)),
        2 => index.prop_map(Step::Convert),
    ]
}

fn sequence(most: usize, huge: bool) -> impl Strategy<Value = (usize, Vec<Step>)> {
    (2_usize..=most).prop_flat_map(move |dimensions| {
        (Just(dimensions), prop::collection::vec(step(dimensions, huge), 1..14))
    })
}

/// Runs the steps on one of the two types, which have the same methods. `$cut` says of the number and
/// value of a result whether to go on with the empty polyhedron instead.
macro_rules! run {
    ($type:ty, $dimensions:expr, $steps:expr, $widen:expr, $lift:expr, $cut:expr) => {{
        let mut made: Vec<$type> = vec![<$type>::universe($dimensions)];
        for step in $steps {
            let at = |index: &usize| &made[index % made.len()];
            let next = match step {
                Step::Make(c) => <$type>::from_constraints($dimensions, c.clone()),
                Step::Constrain(a, c) => at(a).meet_constraints(c),
                Step::Meet(a, b) => at(a).meet(at(b)),
                Step::Join(a, b) => at(a).join(at(b)),
                Step::Widen(a, b, c) => $widen(at(a), &at(a).join(at(b)), c),
                Step::Assign(a, m) => at(a).assign(m),
                Step::Substitute(a, m) => at(a).substitute(m),
                Step::Forget(a, d) => at(a).forget(d),
                Step::Exchange(a, d) => $lift(at(a)).remove_dimensions(&[*d]),
                Step::Convert(a) => {
                    let _ = at(a).constraints();
                    continue;
                }
            };
            let is_cut = $cut(made.len(), &next);
            made.push(if is_cut { <$type>::empty($dimensions) } else { next });
        }
        made
    }};
}

fn implies(polyhedron: &Dense, constraint: &Constraint) -> bool {
    polyhedron.is_leq(&Dense::from_constraints(polyhedron.dimensions(), [constraint.clone()]))
}

fn with_relation(constraint: &Constraint, relation: Relation) -> Constraint {
    Constraint::new(constraint.coefficients().to_vec(), constraint.constant().clone(), relation)
}

/// Which of the generators of a closed polyhedron a constraint is 0 at.
fn face(constraint: &Constraint, of: &Generators) -> Vec<bool> {
    let at = with_relation(constraint, Relation::Equal);
    let along = Constraint::new(constraint.coefficients().to_vec(), Integer::ZERO, Relation::Equal);
    let rational = |row: &Vec<Integer>| row.iter().cloned().map(Rational::from).collect::<Vec<_>>();
    let directions = of.lines.iter().chain(&of.rays).map(|row| along.is_satisfied_by(&rational(row)));
    directions.chain(of.points.iter().map(|point| at.is_satisfied_by(point))).collect()
}

/// The closure of a polyhedron, its constraints (strict where the polyhedron is), and the strict constraints
/// of the polyhedron that are none of these.
fn closure(of: &Dense) -> (Dense, Vec<Constraint>, Vec<Constraint>) {
    let all = of.constraints();
    let closed = |constraint: &Constraint| match constraint.relation() {
        Relation::Equal => constraint.clone(),
        _ => with_relation(constraint, Relation::AtLeast),
    };
    let closure = Dense::from_constraints(of.dimensions(), all.iter().map(closed));
    let facets = closure.constraints();
    let (own, extra) = all.into_iter().partition(|constraint| facets.contains(&closed(constraint)));
    (closure, own, extra)
}

/// The standard widening as the head of `src/widening.rs` defines it, decided by generators.
fn widen(old: &Dense, new: &Dense, thresholds: &[Constraint]) -> Dense {
    if old.is_empty() || new.is_empty() {
        return new.clone();
    }
    let ((closed, own, extra), (_, others, _)) = (closure(old), closure(new));
    let generators = closed.generators();
    let is_strict = |constraint: &Constraint| constraint.relation() == Relation::Greater;
    let faces: Vec<(Vec<bool>, bool)> =
        own.iter().map(|constraint| (face(constraint, &generators), is_strict(constraint))).collect();
    let mut kept = Vec::new();
    for constraint in &own {
        let half = with_relation(constraint, Relation::AtLeast);
        let opposite = half.coefficients().iter().map(|entry| -entry).collect();
        let opposite = Constraint::new(opposite, -half.constant(), Relation::AtLeast);
        match constraint.relation() {
            Relation::Equal => kept.extend([half, opposite].into_iter().filter(|half| implies(new, half))),
            _ if implies(new, constraint) => kept.push(constraint.clone()),
            _ => kept.extend(Some(half).filter(|half| implies(new, half))),
        }
    }
    for constraint in &others {
        let own = face(constraint, &generators);
        let mut same = faces.iter().filter(|(other, _)| *other == own).peekable();
        if same.peek().is_some() {
            let was_strict = same.any(|(_, is_strict)| *is_strict);
            let weaker = is_strict(constraint) && !was_strict;
            let relation = if weaker { Relation::AtLeast } else { constraint.relation() };
            kept.push(with_relation(constraint, relation));
        }
    }
    for constraint in &extra {
        let own_face = face(constraint, &generators);
        let is_through = |facet: &[bool]| own_face.iter().zip(facet).all(|(own, facet)| *facet || !own);
        let mut through = own
            .iter()
            .zip(&faces)
            .filter(|(facet, (face, _))| facet.relation() != Relation::Equal && is_through(face));
        if implies(new, constraint) && through.all(|(facet, _)| implies(new, facet)) {
            kept.push(constraint.clone());
        }
    }
    kept.extend(thresholds.iter().filter(|threshold| implies(new, threshold)).cloned());
    Dense::from_constraints(old.dimensions(), kept)
}

fn configuration(cases: u32) -> ProptestConfig {
    let default = ProptestConfig::default();
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { default.cases } else { cases };
    ProptestConfig { cases, failure_persistence: None, ..default }
}

fn check(
    dimensions: usize,
    steps: &[Step],
    probes: &[(LinearExpression, Constraint)],
) -> Result<(), TestCaseError> {
    // Large results make the undecomposed side slow; both sides leave the same ones out. Only the
    // undecomposed side is converted at each step, the other remains as lazy as it is.
    let mut cuts = Vec::new();
    let lift = |p: &Dense| Dense::from_constraints(dimensions + 1, p.constraints());
    let plain = run!(Dense, dimensions, steps, widen, lift, |number, next: &Dense| {
        let generators = next.generators();
        let corners = generators.points.len() + generators.closure_points.len();
        cuts.resize(number, false);
        cuts.push(next.constraints().len() > 24 || corners > 40);
        cuts[number]
    });
    let (widen, lift) = (Polyhedron::widen_with_thresholds, |p: &Polyhedron| p.add_dimensions(1));
    let mine = run!(Polyhedron, dimensions, steps, widen, lift, |number: usize, _: &Polyhedron| cuts[number]);
    let again =
        run!(Polyhedron, dimensions, steps, widen, lift, |number: usize, _: &Polyhedron| cuts[number]);
    // Before any question is asked, since answers are kept and shown.
    let shown = |all: &[Polyhedron]| all.iter().map(|p| format!("{p:?}")).collect::<Vec<_>>();
    prop_assert_eq!(shown(&mine), shown(&again), "on every run");
    for (index, (a, b)) in mine.iter().zip(&plain).enumerate() {
        prop_assert_eq!(a.is_empty(), b.is_empty());
        prop_assert_eq!(a.is_universe(), b.is_universe());
        prop_assert_eq!(a.constraints(), b.constraints());
        prop_assert_eq!(a.constraints(), again[index].constraints(), "on every run");
        let generators = b.generators();
        if generators.points.len() + generators.closure_points.len() <= 64 {
            prop_assert_eq!(a.generators(), generators);
        }
        for (expression, constraint) in probes {
            prop_assert_eq!(a.bounds(expression), b.bounds(expression));
            prop_assert_eq!(a.implies(constraint), implies(b, constraint));
        }
        for (other, other_plain) in mine.iter().zip(&plain) {
            prop_assert_eq!(a.is_leq(other), b.is_leq(other_plain));
            prop_assert_eq!(a.is_equal(other), b.is_leq(other_plain) && other_plain.is_leq(b));
        }
        // As it is written decides what a first round of rounding finds, so both from one text.
        let integer: Vec<bool> = (0..dimensions).map(|at| at % 3 != 2).collect();
        let (c, d) = (
            Polyhedron::from_constraints(dimensions, b.constraints()),
            Dense::from_constraints(dimensions, b.constraints()),
        );
        prop_assert_eq!(c.tighten(&integer).constraints(), d.tighten(&integer).constraints());
        // Dimensions of different blocks are unrelated, and the finest partition says no more.
        for constraint in a.constraints() {
            let mut owners = a
                .blocks()
                .into_iter()
                .filter(|block| block.iter().any(|&at| !constraint.coefficients()[at].is_zero()));
            let _ = owners.next();
            prop_assert!(owners.next().is_none());
        }
    }
    Ok(())
}

fn probes(dimensions: usize, huge: bool) -> impl Strategy<Value = Vec<(LinearExpression, Constraint)>> {
    let expression =
        (row(dimensions, huge), coefficient(huge)).prop_map(|(r, c)| LinearExpression::of(&r, c));
    prop::collection::vec((expression, constraint(dimensions, huge)), 3)
}

fn cases(
    most: usize,
    huge: bool,
) -> impl Strategy<Value = (usize, Vec<Step>, Vec<(LinearExpression, Constraint)>)> {
    sequence(most, huge)
        .prop_flat_map(move |(dimensions, steps)| (Just(dimensions), Just(steps), probes(dimensions, huge)))
}

proptest! {
    #![proptest_config(configuration(400))]

    #[test]
    fn decomposed_is_undecomposed((dimensions, steps, probes) in cases(5, false)) {
        check(dimensions, &steps, &probes)?;
    }

    #[test]
    fn also_near_the_edges_of_words((dimensions, steps, probes) in cases(4, true)) {
        check(dimensions, &steps, &probes)?;
    }
}

proptest! {
    #![proptest_config(configuration(100))]

    #[test]
    fn also_in_eight_dimensions((dimensions, steps, probes) in cases(8, false)) {
        check(dimensions, &steps, &probes)?;
    }
}
