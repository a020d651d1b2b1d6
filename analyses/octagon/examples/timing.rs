//! Times of the main operations: `cargo run --release -p coreach-octagon --example timing`.
//!
//! Inputs are random but the same on every run. Shapes, in `n` dimensions:
//!
//! * `dense n`: every variable bounded, and `2n` random bounds of sums and differences: one block;
//! * `blocks n`: the same, of groups of four variables;
//! * `box n`: bounds of variables only.
//!
//! Columns, in microseconds, medians over fresh inputs: `closure` (all constraints at once, from no bounds),
//! `one` (one more constraint between two variables), `tight` (the first with integers), `join` and `meet` of
//! two unrelated ones, `leq` of one in that join, `assign` of `x := y + z`, `move` (`x := x + 1`), `widen` to
//! the join, `list` (the constraints).

use std::hint::black_box;
use std::time::Instant;

use coreach_octagon::{Constraint, LinearExpression, Octagon, Relation};

/// A small deterministic generator of numbers.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or(0) % bound
    }

    fn within(&mut self, low: i64, high: i64) -> i64 {
        low + i64::try_from(self.below(usize::try_from(high - low + 1).unwrap_or(1))).unwrap_or(0)
    }
}

fn pair(numbers: &mut Numbers, dimensions: usize, group: usize) -> Constraint {
    let mut row = vec![0; dimensions];
    let first = numbers.below(dimensions);
    let start = first / group * group;
    let second = start + numbers.below(group.min(dimensions - start));
    row[first] = if numbers.below(2) == 0 { 1 } else { -1 };
    if second != first {
        row[second] = if numbers.below(2) == 0 { 1 } else { -1 };
    }
    // Around the origin, so that none is empty.
    Constraint::of(&row, numbers.within(1, 30), Relation::AtLeast)
}

fn constraints(numbers: &mut Numbers, dimensions: usize, group: usize) -> Vec<Constraint> {
    let mut list = Vec::new();
    for at in 0..dimensions {
        for sign in [1, -1] {
            let mut row = vec![0; dimensions];
            row[at] = sign;
            list.push(Constraint::of(&row, numbers.within(1, 30), Relation::AtLeast));
        }
    }
    if group > 1 {
        list.extend((0..2 * dimensions).map(|_| pair(numbers, dimensions, group)));
    }
    list
}

struct Clock(Vec<(&'static str, Vec<f64>)>);

impl Clock {
    fn time<R>(&mut self, name: &'static str, operation: impl Fn() -> R) -> R {
        let start = Instant::now();
        let result = black_box(operation());
        let time = start.elapsed().as_secs_f64() * 1e6;
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, times)) => times.push(time),
            None => self.0.push((name, vec![time])),
        }
        result
    }
}

fn main() {
    let mut titled = false;
    for (shape, group_of) in [("dense", None), ("blocks", Some(4)), ("box", Some(1))] {
        for dimensions in [4, 8, 16, 32] {
            let group = group_of.unwrap_or(dimensions);
            let mut clock = Clock(Vec::new());
            let mut numbers = Numbers(7);
            let integer = vec![true; dimensions];
            let universe = Octagon::universe(dimensions);
            for _ in 0..41 {
                let list = constraints(&mut numbers, dimensions, group);
                let other = universe.meet_constraints(&constraints(&mut numbers, dimensions, group), &[]);
                let more = [pair(&mut numbers, dimensions, group)];
                let sum = LinearExpression::variable(1).plus(&LinearExpression::variable(2));
                let next = LinearExpression::of(&[1], 1);
                let octagon = clock.time("closure", || universe.meet_constraints(&list, &[]));
                clock.time("one", || octagon.meet_constraints(&more, &[]));
                clock.time("tight", || universe.meet_constraints(&list, &integer));
                let join = clock.time("join", || octagon.join(&other));
                clock.time("meet", || octagon.meet(&other, &[]));
                clock.time("leq", || octagon.is_leq(&join));
                clock.time("assign", || octagon.assign(&[(0, Some(sum.clone()))]));
                clock.time("move", || octagon.assign(&[(0, Some(next.clone()))]));
                clock.time("widen", || octagon.widen(&join, &[]));
                clock.time("list", || octagon.constraints());
            }
            if !titled {
                let names: Vec<String> = clock.0.iter().map(|(name, _)| format!("{name:>9}")).collect();
                println!("{:10}{}", "", names.concat());
                titled = true;
            }
            let medians = clock.0.iter_mut().map(|(_, times)| {
                times.sort_by(f64::total_cmp);
                format!("{:>9.1}", times[times.len() / 2])
            });
            println!("{:10}{}", format!("{shape} {dimensions}"), medians.collect::<String>());
        }
    }
}
