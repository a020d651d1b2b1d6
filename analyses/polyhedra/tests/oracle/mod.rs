//! An independent decision procedure: Fourier-Motzkin elimination on 128-bit integers.
//!
//! It shares no code with the crate. Every function answers `None` when numbers or systems grow too
//! large, and the test then skips the case.

use coreach_polyhedra::{Constraint, Relation};

/// Systems larger than this are given up.
const MOST_ROWS: usize = 600;

/// `sum row[i + 1] x_i + row[0] >= 0`, or `> 0`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Inequality {
    pub row: Vec<i128>,
    pub strict: bool,
}

pub type System = Vec<Inequality>;

/// The system of some constraints; equalities become two inequalities.
pub fn system(constraints: &[Constraint]) -> Option<System> {
    let mut result = Vec::new();
    for constraint in constraints {
        let entries = core::iter::once(constraint.constant()).chain(constraint.coefficients());
        let row: Vec<i128> = entries.map(|entry| entry.to_i64().map(i128::from)).collect::<Option<_>>()?;
        let strict = constraint.relation() == Relation::Greater;
        if constraint.relation() == Relation::Equal {
            result.push(Inequality { row: row.iter().map(|entry| -entry).collect(), strict });
        }
        result.push(Inequality { row, strict });
    }
    Some(result)
}

fn normalised(mut inequality: Inequality) -> Inequality {
    let gcd = inequality.row.iter().fold(0, |gcd, &entry| gcd_of(gcd, entry));
    if gcd > 1 {
        inequality.row.iter_mut().for_each(|entry| *entry /= gcd);
    }
    inequality
}

fn gcd_of(mut a: i128, mut b: i128) -> i128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.abs()
}

/// Removes duplicates and, of inequalities with one normal, all but the strongest.
fn compact(mut system: System) -> System {
    system.retain(|inequality| {
        let constant = inequality.row[1..].iter().all(|&entry| entry == 0);
        !constant || inequality.row[0] < 0 || (inequality.row[0] == 0 && inequality.strict)
    });
    system.sort_by(|a, b| {
        a.row[1..].cmp(&b.row[1..]).then(a.row[0].cmp(&b.row[0])).then(b.strict.cmp(&a.strict))
    });
    system.dedup_by(|later, first| later.row[1..] == first.row[1..]);
    system
}

/// Eliminates one variable (entry `column` of the rows, which becomes 0).
pub fn eliminate(system: &System, column: usize) -> Option<System> {
    let mut result: System = system.iter().filter(|i| i.row[column] == 0).cloned().collect();
    for lower in system.iter().filter(|i| i.row[column] > 0) {
        for upper in system.iter().filter(|i| i.row[column] < 0) {
            let (a, b) = (-upper.row[column], lower.row[column]);
            let row = lower
                .row
                .iter()
                .zip(&upper.row)
                .map(|(l, u)| a.checked_mul(*l)?.checked_add(b.checked_mul(*u)?));
            let row: Vec<i128> = row.collect::<Option<_>>()?;
            let strict = lower.strict || upper.strict;
            result.push(normalised(Inequality { row, strict }));
        }
    }
    let result = compact(result);
    (result.len() <= MOST_ROWS).then_some(result)
}

/// Whether the system has no rational solution.
pub fn is_empty(system: &System) -> Option<bool> {
    let width = system.first().map_or(1, |inequality| inequality.row.len());
    let mut system = compact(system.clone());
    let mut left: Vec<usize> = (1..width).collect();
    while !left.is_empty() {
        // The variable with the fewest products first.
        let cost = |column: usize| {
            let count = |sign: i128| system.iter().filter(|i| i.row[column].signum() == sign).count();
            count(1) * count(-1)
        };
        left.sort_by_key(|&column| core::cmp::Reverse(cost(column)));
        let column = left.pop()?;
        system = eliminate(&system, column)?;
    }
    // `compact` keeps only false inequalities among those without variables.
    Some(!system.is_empty())
}

/// Whether every solution satisfies the inequality.
pub fn implies(system: &System, inequality: &Inequality) -> Option<bool> {
    let mut negated = system.clone();
    negated.push(Inequality {
        row: inequality.row.iter().map(|entry| -entry).collect(),
        strict: !inequality.strict,
    });
    is_empty(&negated)
}

/// Whether two systems have the same solutions.
pub fn same(a: &System, b: &System) -> Option<bool> {
    let within = |a: &System, b: &System| -> Option<bool> {
        for inequality in b {
            if !implies(a, inequality)? {
                return Some(false);
            }
        }
        Some(true)
    };
    if is_empty(a)? || is_empty(b)? {
        return Some(is_empty(a)? == is_empty(b)?);
    }
    Some(within(a, b)? && within(b, a)?)
}

/// The closed convex hull of two non-empty closed systems: `x = y + z` with `y` in `f` times the
/// first, `z` in `1 - f` times the second and `0 <= f <= 1`; `y` and `f` are eliminated.
pub fn hull(a: &System, b: &System, dimensions: usize) -> Option<System> {
    let width = 2 * dimensions + 2;
    let factor = width - 1;
    let mut lifted = Vec::new();
    let mut push = |row: Vec<i128>| lifted.push(Inequality { row, strict: false });
    for Inequality { row, .. } in a {
        let mut lift = vec![0; width];
        lift[1 + dimensions..1 + 2 * dimensions].copy_from_slice(&row[1..]);
        lift[factor] = row[0];
        push(lift);
    }
    for Inequality { row, .. } in b {
        let mut lift = vec![0; width];
        lift[0] = row[0];
        lift[factor] = -row[0];
        for (index, entry) in row[1..].iter().enumerate() {
            lift[1 + index] = *entry;
            lift[1 + dimensions + index] = -entry;
        }
        push(lift);
    }
    let mut bound = vec![0; width];
    bound[factor] = 1;
    push(bound.clone());
    bound[factor] = -1;
    bound[0] = 1;
    push(bound);
    for column in dimensions + 1..width {
        lifted = eliminate(&lifted, column)?;
    }
    lifted.iter_mut().for_each(|inequality| inequality.row.truncate(dimensions + 1));
    Some(lifted)
}
