//! Mean times of the main operations on random polyhedra: `cargo run --release --example timing`.
//!
//! Each polyhedron has `n` variables and `k` closed constraints of 2-3 variables around a common
//! point, so that none is empty. Times are microseconds per operation, from fresh inputs each time.

use std::time::Instant;

use coreach_polyhedra::{Constraint, Polyhedron, Relation};

/// A small deterministic generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn within(&mut self, low: i64, high: i64) -> i64 {
        let width = u64::try_from(high - low + 1).unwrap_or(1);
        low + i64::try_from(self.below(width)).unwrap_or(0)
    }
}

fn random(numbers: &mut Numbers, variables: usize, count: usize) -> Polyhedron {
    let inside: Vec<i64> = (0..variables).map(|_| numbers.within(-5, 5)).collect();
    let mut constraints = Vec::new();
    while constraints.len() < count {
        let mut coefficients = vec![0_i64; variables];
        for _ in 0..numbers.within(2, 3) {
            let variable = usize::try_from(numbers.within(0, variables as i64 - 1)).unwrap_or(0);
            coefficients[variable] = numbers.within(-3, 3);
        }
        let value: i64 = coefficients.iter().zip(&inside).map(|(c, x)| c * x).sum();
        let constant = numbers.within(0, 10) - value;
        if coefficients.iter().any(|&c| c != 0) {
            constraints.push(Constraint::of(&coefficients, constant, Relation::AtLeast));
        }
    }
    Polyhedron::from_constraints(variables, constraints)
}

fn main() {
    println!(
        "{:>6} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8}",
        "n,k", "build", "join", "related", "meet", "forget", "leq"
    );
    for (variables, count, rounds) in [(4, 10, 500), (4, 20, 200), (8, 10, 500), (8, 12, 50), (12, 10, 300)] {
        let mut numbers = Numbers(42);
        let mut total = [0.0_f64; 6];
        for _ in 0..rounds {
            let p = random(&mut numbers, variables, count);
            let q = random(&mut numbers, variables, count);
            let mut time = |slot: usize, work: &mut dyn FnMut()| {
                let start = Instant::now();
                work();
                total[slot] += start.elapsed().as_secs_f64() * 1e6;
            };
            time(0, &mut || drop(p.generators()));
            drop(q.generators());
            time(1, &mut || drop(p.join(&q).constraints()));
            // As in a fixpoint iteration: the same polyhedron with one more constraint, moved.
            let step = Constraint::of(&[1, 1], 3, Relation::AtLeast);
            let moved = coreach_polyhedra::LinearExpression::of(&[1], 1);
            let related = p.meet_constraints(&[step]).assign(&[(0, moved)]);
            drop(related.generators());
            time(2, &mut || drop(p.join(&related).constraints()));
            time(3, &mut || drop(p.meet(&q).constraints()));
            time(4, &mut || drop(p.forget(&[0]).constraints()));
            time(5, &mut || {
                std::hint::black_box(p.is_leq(&q) || related.is_leq(&p));
            });
        }
        print!("{:>6}", format!("{variables},{count}"));
        total.iter().for_each(|time| print!(" {:>8.1}", time / f64::from(rounds)));
        println!();
    }
}
