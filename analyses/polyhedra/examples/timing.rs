//! Times of the main operations on several shapes of polyhedra, with decomposition and without:
//! `cargo run --release --example timing [shape]`.
//!
//! Inputs are random but the same on every run, closed, and built around a common point, so that
//! none is empty. Shapes:
//!
//! * `random n,k`: `n` dimensions and `k` constraints of 2-3 of them;
//! * `blocks n`: 2-4 neighbouring dimensions each in a block of its own, with bounds and a few
//!   constraints;
//! * `box n`, `octagon n`: bounds; bounds and some sums and differences of neighbours.
//!
//! Columns, in microseconds, medians over fresh inputs: `build` (both descriptions), `join` of two
//! unrelated ones, `related` (join with the same one, a constraint added and a dimension moved, as a
//! fixpoint iteration does), `meet`, `forget` of one dimension, `leq`. Results are asked for their
//! constraints. Joins of different polyhedra with many blocks explode, so there the join is the
//! limited one, and the part of exact ones is shown. `-`: not tried, as it would take too long.

use std::time::Instant;

use coreach_polyhedra::{Constraint, Dense, LinearExpression, OperationLimits, Polyhedron, Relation};

/// A small deterministic generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    fn within(&mut self, low: i64, high: i64) -> i64 {
        let width = usize::try_from(high - low + 1).unwrap_or(1);
        low + i64::try_from(self.below(width)).unwrap_or(0)
    }
}

#[derive(Clone, Copy)]
enum Shape {
    Random(usize, usize),
    Blocks(usize),
    Box(usize),
    Octagon(usize),
}

impl Shape {
    fn dimensions(self) -> usize {
        match self {
            Self::Random(n, _) | Self::Blocks(n) | Self::Box(n) | Self::Octagon(n) => n,
        }
    }

    fn name(self) -> String {
        match self {
            Self::Random(n, k) => format!("random {n},{k}"),
            Self::Blocks(n) => format!("blocks {n}"),
            Self::Box(n) => format!("box {n}"),
            Self::Octagon(n) => format!("octagon {n}"),
        }
    }
}

/// Constraints that a random point satisfies.
struct Around {
    inside: Vec<i64>,
    constraints: Vec<Constraint>,
}

impl Around {
    fn add(&mut self, numbers: &mut Numbers, entries: &[(usize, i64)]) {
        let mut coefficients = vec![0_i64; self.inside.len()];
        entries.iter().for_each(|&(at, value)| coefficients[at] = value);
        let value: i64 = coefficients.iter().zip(&self.inside).map(|(c, x)| c * x).sum();
        if coefficients.iter().any(|&c| c != 0) {
            let constant = numbers.within(0, 10) - value;
            self.constraints.push(Constraint::of(&coefficients, constant, Relation::AtLeast));
        }
    }
}

fn constraints(numbers: &mut Numbers, shape: Shape) -> Vec<Constraint> {
    let dimensions = shape.dimensions();
    let inside = (0..dimensions).map(|_| numbers.within(-5, 5)).collect();
    let mut around = Around { inside, constraints: Vec::new() };
    if let Shape::Random(_, count) = shape {
        while around.constraints.len() < count {
            let entries: Vec<(usize, i64)> = (0..numbers.within(2, 3))
                .map(|_| (numbers.below(dimensions), numbers.within(-3, 3)))
                .collect();
            around.add(numbers, &entries);
        }
        return around.constraints;
    }
    for at in 0..dimensions {
        around.add(numbers, &[(at, 1)]);
        around.add(numbers, &[(at, -1)]);
    }
    let mut sizes = Numbers(7);
    let mut start = 0;
    while start < dimensions {
        // The same blocks each time.
        let size = (2 + sizes.below(3)).min(dimensions - start);
        if size >= 2 {
            for _ in 0..size {
                let (a, b) = (start + numbers.below(size), start + numbers.below(size));
                let signs = [1, -1];
                match shape {
                    Shape::Blocks(_) => {
                        let (x, y) = (numbers.within(-3, 3), numbers.within(-3, 3));
                        around.add(numbers, &[(a, x), (b, y)]);
                    }
                    Shape::Octagon(_) if a != b => {
                        let (x, y) = (signs[numbers.below(2)], signs[numbers.below(2)]);
                        around.add(numbers, &[(a, x), (b, y)]);
                    }
                    _ => {}
                }
            }
        }
        start += size;
    }
    around.constraints
}

const COLUMNS: [&str; 6] = ["build", "join", "related", "meet", "forget", "leq"];

/// The medians for one of the two types, which have the same methods; `$join` is how to join, and
/// returns whether that was exact.
macro_rules! measure {
    ($type:ty, $shape:expr, $rounds:expr, $join:expr) => {{
        let dimensions = $shape.dimensions();
        let mut numbers = Numbers(42);
        let mut times: [Vec<f64>; 6] = Default::default();
        let mut exact = 0;
        for _ in 0..$rounds {
            let p = <$type>::from_constraints(dimensions, constraints(&mut numbers, $shape));
            let q = <$type>::from_constraints(dimensions, constraints(&mut numbers, $shape));
            let mut time = |slot: usize, work: &mut dyn FnMut()| {
                let start = Instant::now();
                work();
                times[slot].push(start.elapsed().as_secs_f64() * 1e6);
            };
            time(0, &mut || drop(p.constraints()));
            drop(q.constraints());
            time(1, &mut || exact += u32::from($join(&p, &q)));
            let step = Constraint::of(&[1, 1], 3, Relation::AtLeast);
            let moved = LinearExpression::of(&[1], 1);
            let related = p.meet_constraints(&[step]).assign(&[(0, moved)]);
            drop(related.constraints());
            time(2, &mut || drop(p.join(&related).constraints()));
            time(3, &mut || drop(p.meet(&q).constraints()));
            time(4, &mut || drop(p.forget(&[0]).constraints()));
            time(5, &mut || {
                std::hint::black_box(p.is_leq(&q) || related.is_leq(&p));
            });
        }
        (times.map(|mut times| median(&mut times)), f64::from(exact) / f64::from($rounds))
    }};
}

fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(0.0)
}

fn main() {
    let wanted = std::env::args().nth(1).unwrap_or_default();
    print!("{:<14} {:<8}", "shape", "");
    COLUMNS.iter().for_each(|column| print!(" {column:>9}"));
    println!("  exact joins");
    // Rounds with decomposition, and without (0: not tried).
    let shapes = [
        (Shape::Random(4, 10), 500, 500),
        (Shape::Random(4, 20), 200, 200),
        (Shape::Random(8, 10), 300, 300),
        (Shape::Random(8, 12), 50, 20),
        (Shape::Random(8, 15), 10, 0),
        (Shape::Random(12, 10), 200, 100),
        (Shape::Random(12, 15), 10, 0),
        (Shape::Blocks(4), 200, 200),
        (Shape::Blocks(8), 50, 10),
        (Shape::Blocks(16), 20, 0),
        (Shape::Blocks(32), 10, 0),
        (Shape::Box(4), 300, 300),
        (Shape::Box(8), 50, 5),
        (Shape::Box(32), 10, 0),
        (Shape::Octagon(4), 200, 200),
        (Shape::Octagon(8), 30, 5),
        (Shape::Octagon(16), 10, 0),
        (Shape::Octagon(32), 5, 0),
    ];
    for (shape, rounds, undecomposed) in shapes {
        if !shape.name().starts_with(&wanted) {
            continue;
        }
        let show = |kind: &str, (times, exact): ([f64; 6], f64)| {
            print!("{:<14} {kind:<8}", shape.name());
            times.iter().for_each(|time| print!(" {time:>9.1}"));
            println!("  {:.0} %", 100.0 * exact);
        };
        let limits = OperationLimits::default();
        show(
            "blocks",
            measure!(Polyhedron, shape, rounds, |p: &Polyhedron, q: &Polyhedron| {
                let outcome = p.join_limited(q, &limits);
                drop(outcome.polyhedron().constraints());
                outcome.is_exact()
            }),
        );
        if undecomposed == 0 {
            println!("{:<14} {:<8}{}", shape.name(), "whole", "         -".repeat(6));
            continue;
        }
        show(
            "whole",
            measure!(Dense, shape, undecomposed, |p: &Dense, q: &Dense| {
                drop(p.join(q).constraints());
                true
            }),
        );
    }
}
