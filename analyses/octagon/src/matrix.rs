//! Half matrices of bounds on differences.
//!
//! *Notation.* The variable `v` has two nodes: node `2v` stands for `+x_v`, node `2v + 1` for `-x_v`; `i ^ 1`
//! is the negation of node `i`. Entry `(i, j)` is an upper bound of `V_j - V_i`, so that `(2v + 1, 2v)`
//! bounds `2 x_v` and `(2v, 2v + 1)` bounds `-2 x_v` (Miné 2006, section 3). Entries `(i, j)` and
//! `(j ^ 1, i ^ 1)` bound the same thing (*coherence*), so only those with `j <= i | 1` are kept: row `i`
//! begins at `(i + 1)² / 2` (Singh, Püschel, Vechev 2015). The value of an entry is its number divided by the
//! matrix's `scale`.

use std::cmp::Ordering;

use coreach_polyhedra::{Integer, Rational};

use crate::bound::UpperBound;

/// Bounds of all differences of `2 * variables` nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Matrix {
    variables: usize,
    /// The common denominator of all entries, positive.
    scale: Integer,
    entries: Vec<UpperBound>,
}

fn start(row: usize) -> usize {
    (row + 1) * (row + 1) / 2
}

fn position(row: usize, column: usize) -> usize {
    if column <= row | 1 { start(row) + column } else { start(column ^ 1) + (row ^ 1) }
}

/// The representatives of all pairs of nodes.
pub(crate) fn pairs(variables: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..2 * variables).flat_map(|row| (0..=row | 1).map(move |column| (row, column)))
}

impl Matrix {
    pub(crate) fn variables(&self) -> usize {
        self.variables
    }

    pub(crate) fn nodes(&self) -> usize {
        2 * self.variables
    }

    pub(crate) fn scale(&self) -> &Integer {
        &self.scale
    }

    pub(crate) fn get(&self, row: usize, column: usize) -> &UpperBound {
        &self.entries[position(row, column)]
    }

    pub(crate) fn set(&mut self, row: usize, column: usize, bound: UpperBound) {
        self.entries[position(row, column)] = bound;
    }

    /// The stored part of a row: its columns up to `row | 1`.
    pub(crate) fn row_mut(&mut self, row: usize) -> &mut [UpperBound] {
        &mut self.entries[start(row)..=start(row) + (row | 1)]
    }

    /// A matrix whose only bounds are those of each node with itself.
    pub(crate) fn unbounded(variables: usize, scale: Integer) -> Self {
        let mut matrix =
            Self { variables, scale, entries: vec![UpperBound::Infinite; 2 * variables * (variables + 1)] };
        for node in 0..2 * variables {
            matrix.set(node, node, UpperBound::ZERO);
        }
        matrix
    }

    /// Lowers an entry to a bound. Returns whether it was above.
    pub(crate) fn lower(&mut self, row: usize, column: usize, bound: &UpperBound) -> bool {
        let entry = &mut self.entries[position(row, column)];
        let lower = bound < entry;
        if lower {
            *entry = bound.clone();
        }
        lower
    }

    /// Lowers every entry to that of a matrix of the same variables and scale. Returns the variables of the
    /// entries that were above.
    pub(crate) fn lower_all(&mut self, other: &Self) -> Vec<usize> {
        let mut changed = Vec::new();
        for (row, column) in pairs(self.variables) {
            if self.lower(row, column, other.get(row, column)) {
                changed.extend([row / 2, column / 2]);
            }
        }
        changed
    }

    pub(crate) fn full_row(&self, row: usize) -> Vec<UpperBound> {
        (0..self.nodes()).map(|column| self.get(row, column).clone()).collect()
    }

    /// Does some node have a negative distance to itself? Then there is no point.
    pub(crate) fn has_negative_cycle(&self) -> bool {
        (0..self.nodes()).any(|node| *self.get(node, node) < UpperBound::ZERO)
    }

    /// The same bounds with a scale that is a multiple of the present one.
    pub(crate) fn with_scale(mut self, scale: &Integer) -> Self {
        if self.scale != *scale {
            let factor = scale.div_exact(&self.scale);
            self.entries.iter_mut().for_each(|entry| *entry = entry.times(&factor));
            self.scale = scale.clone();
        }
        self
    }

    /// Divides by what all numbers share with the scale, so that equal bounds are equal matrices. Bounds of
    /// one variable stay even.
    pub(crate) fn normalised(mut self) -> Self {
        if self.scale.is_one() {
            return self;
        }
        let mut gcd = self.scale.clone();
        for (row, column) in pairs(self.variables) {
            if let Some((value, _)) = self.get(row, column).parts() {
                let is_of_one_variable = row == column ^ 1;
                let even = if is_of_one_variable { Integer::from(2) } else { Integer::ONE };
                gcd = gcd.gcd(&value.div_exact(&even));
            }
            if gcd.is_one() {
                return self;
            }
        }
        for entry in &mut self.entries {
            *entry = entry.divided(&gcd);
        }
        self.scale = self.scale.div_exact(&gcd);
        self
    }

    /// Returns a finite entry, and whether it is strict. `None` if it is infinite.
    pub(crate) fn value(&self, row: usize, column: usize) -> Option<(Rational, bool)> {
        let (value, strict) = self.get(row, column).parts()?;
        Some((Rational::new(value.clone(), self.scale.clone())?, strict))
    }

    /// Compares every entry with that of a matrix of the same variables.
    pub(crate) fn is_leq(&self, other: &Self) -> bool {
        if self.scale == other.scale {
            return self.entries.iter().zip(&other.entries).all(|(a, b)| a <= b);
        }
        self.entries.iter().zip(&other.entries).all(|(a, b)| match (a.parts(), b.parts()) {
            (_, None) => true,
            (None, Some(_)) => false,
            (Some((a, strict)), Some((b, strict_b))) => match (a * &other.scale).cmp(&(b * &self.scale)) {
                Ordering::Less => true,
                Ordering::Equal => strict || !strict_b,
                Ordering::Greater => false,
            },
        })
    }

    /// The greater of each two entries of matrices of the same scale.
    pub(crate) fn greatest(mut self, other: &Self) -> Self {
        for (entry, other) in self.entries.iter_mut().zip(&other.entries) {
            if other > entry {
                *entry = other.clone();
            }
        }
        self
    }
}

/// Brings two matrices to the same scale.
pub(crate) fn aligned(a: Matrix, b: Matrix) -> (Matrix, Matrix) {
    let scale = a.scale.lcm(&b.scale);
    (a.with_scale(&scale), b.with_scale(&scale))
}
