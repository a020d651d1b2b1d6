//! The operations of the numerical domains against models that share nothing with them.
//!
//! Two kinds of cases, both random sequences of operations on a few registers:
//!
//! - *Exact* (`exact.rs`): polyhedra. The whole sequence is done first, asking for nothing, so that the lazy
//!   representation meets every order of operations; then each step is judged by Z3, over the rationals: what
//!   the step must give is a formula about the constraints of what it was given (a projection is a
//!   quantifier, a hull is the lifting of Balas with one more dimension for strictness), and the result must
//!   be equivalent to it. Widening and limits must contain it.
//! - *Points* (`points.rs`): every domain of the list, and two that are made of others. Points of the
//!   elements are carried through the operations by arithmetic on rationals, and must stay inside.
//!
//! Coefficients are small mostly, and near 2^31 and 2^63 now and then. A seed names a case: a failure prints
//! it, and `COREACH_SEED=n` tries that one alone. Some seeds are always the same, some are new each time;
//! `COREACH_CASES=n` asks for more cases.

#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on may panic")]

mod exact;
mod points;

use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};
use coreach_tests::generator::edges::EDGES;
use coreach_tests::generator::random::Random;

/// A small number, or in an extreme case one of the edges now and then.
fn number(random: &mut Random, extreme: bool, most: usize) -> Integer {
    if extreme && random.chance(20) {
        return Integer::from(EDGES[random.below(EDGES.len())]);
    }
    Integer::from(random.between((0, 2 * most)) as i64 - most as i64)
}

fn constraint(random: &mut Random, dimensions: usize, extreme: bool) -> Constraint {
    let relation =
        [Relation::AtLeast, Relation::AtLeast, Relation::AtLeast, Relation::Greater, Relation::Equal]
            [random.below(5)];
    // Sides of boxes make bounded polyhedra likely.
    let coefficients = if random.chance(40) {
        let side = random.below(dimensions);
        let sign = if random.chance(50) { 1 } else { -1 };
        (0..dimensions).map(|at| Integer::from(if at == side { sign } else { 0 })).collect()
    } else {
        (0..dimensions).map(|_| number(random, extreme, 3)).collect()
    };
    Constraint::new(coefficients, number(random, extreme, 5), relation)
}

fn constraints(random: &mut Random, dimensions: usize, extreme: bool) -> Vec<Constraint> {
    let count = random.between((1, dimensions + 2));
    (0..count).map(|_| constraint(random, dimensions, extreme)).collect()
}

fn expression(random: &mut Random, dimensions: usize, extreme: bool) -> LinearExpression {
    let coefficients: Vec<Integer> = (0..dimensions).map(|_| number(random, extreme, 2)).collect();
    let denominator = if random.chance(25) { Integer::from(2) } else { Integer::ONE };
    LinearExpression::new(coefficients, number(random, extreme, 3), denominator)
        .unwrap_or_else(|| LinearExpression::variable(0))
}

/// Different dimensions with expressions.
fn assignments(random: &mut Random, dimensions: usize, extreme: bool) -> Vec<(usize, LinearExpression)> {
    let mut chosen = Vec::new();
    for dimension in 0..dimensions {
        if random.chance(60) {
            chosen.push((dimension, expression(random, dimensions, extreme)));
        }
    }
    chosen
}

type Point = Vec<Rational>;

fn holds(constraints: &[Constraint], point: &Point) -> bool {
    constraints.iter().all(|constraint| constraint.is_satisfied_by(point))
}

fn from_environment(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// So many fixed seeds, and a tenth of new ones; or the one asked for.
fn seeds(count: u64) -> Vec<u64> {
    if let Some(seed) = from_environment("COREACH_SEED") {
        return vec![seed];
    }
    let count = from_environment("COREACH_CASES").unwrap_or(count);
    let clock = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let new = clock.as_nanos() as u64;
    (0..count).chain((0..count / 10).map(|at| new.wrapping_add(at))).collect()
}
