//! Grids: the vectors that satisfy linear congruences, and the exact algebra of these.
//!
//! **Problem.** `x` counts in steps of two from an even number: every linear relation that holds of 0 and 2
//! holds of 1. What is missing is `x == 0 (mod 2)`, and for several numbers `x + 2y == 1 (mod 3)`.
//!
//! **Source.** Linear congruences as a domain: Granger, TAPSOFT 1991,
//! <https://doi.org/10.1007/3-540-53982-4_10>. Over the rationals, equalities among them: the grids of
//! Bagnara et al., LOPSTR 2006, <https://doi.org/10.1007/978-3-540-71410-1_16>.
//!
//! **Where we differ.** There are no generators. A grid is held as everything that it satisfies: the pairs
//! `(q, c)` with `q·x + c` an integer for all its vectors. They are a group; some may be scaled by any
//! rational (equalities, `q·x + c = 0`), the others by integers only (congruences modulo 1). That a number is
//! whole is a congruence like others, so that nothing here asks for types, and projection is exact. On this
//! group a meet is a sum, a pre-image a substitution, a join an intersection (Zassenhaus: what of the rows
//! `(a, a)` and `(b, 0)` begins with zeros), a projection the part that does not mention what goes away. Each
//! is one echelon form.
//!
//! **Form.** Equalities: reduced row echelon. Congruences: zero where an equality begins, else Hermite. The
//! last column is the constant, and `(0, 1)` is always among the congruences; so constants are reduced as
//! well, and the form is unique.
//!
//! **Ends**: Euclid's steps lower the absolute value of one entry, all denominators being bounded. **Cost**:
//! cubic in the dimensions, a step for each entry that is not 0; numbers may grow, and are exact.

use std::fmt;

use coreach_model::budget;
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};

/// `coefficients · x + constant` is a multiple of the modulus, which is positive; without a common divisor of
/// all.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Congruence {
    coefficients: Vec<Integer>,
    constant: Integer,
    modulus: Integer,
}

impl Congruence {
    /// That the expression is a multiple of the modulus, which is positive.
    pub fn of(expression: &LinearExpression, dimensions: usize, modulus: &Integer) -> Self {
        let scale = Rational::new(Integer::ONE, modulus.clone()).unwrap_or(Rational::ONE);
        Self::of_row(&row_of(&expression.times(&scale), dimensions))
    }

    fn of_row(row: &[Rational]) -> Self {
        let modulus = row.iter().fold(Integer::ONE, |sum, entry| sum.lcm(entry.denominator()));
        let mut whole = scaled(row, &Rational::from(modulus.clone()));
        let constant = whole.pop().unwrap_or(Rational::ZERO).numerator().clone();
        let used = whole.iter().rposition(|entry| !entry.is_zero()).map_or(0, |last| last + 1);
        let coefficients = whole[..used].iter().map(|entry| entry.numerator().clone()).collect();
        Congruence { coefficients, constant, modulus }
    }

    /// By dimension, up to the last that is not 0: so it is the same over more dimensions.
    pub fn coefficients(&self) -> &[Integer] {
        &self.coefficients
    }

    pub fn constant(&self) -> &Integer {
        &self.constant
    }

    pub fn modulus(&self) -> &Integer {
        &self.modulus
    }

    /// Whether one without variables holds; `None` for one with variables.
    pub fn constant_truth(&self) -> Option<bool> {
        let is_constant = self.coefficients.iter().all(Integer::is_zero);
        is_constant.then(|| self.constant.is_multiple_of(&self.modulus))
    }

    pub fn is_satisfied_by(&self, point: &[Rational]) -> bool {
        let terms = self.coefficients.iter().zip(point).map(|(c, x)| &Rational::from(c.clone()) * x);
        let sum = terms.fold(Rational::from(self.constant.clone()), |sum, term| &sum + &term);
        sum.is_integer() && sum.numerator().is_multiple_of(&self.modulus)
    }

    fn row(&self, dimensions: usize) -> GridRow {
        let part =
            |entry: &Integer| Rational::new(entry.clone(), self.modulus.clone()).unwrap_or(Rational::ZERO);
        let mut row: GridRow = self.coefficients.iter().map(part).collect();
        row.resize(dimensions, Rational::ZERO);
        row.push(part(&self.constant));
        row
    }
}

impl fmt::Display for Congruence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, coefficient) in self.coefficients.iter().enumerate().filter(|(_, c)| !c.is_zero()) {
            write!(f, "{coefficient}*x{at} + ")?;
        }
        write!(f, "{} == 0 mod {}", self.constant, self.modulus)
    }
}

/// The coefficients, and behind them the constant.
type GridRow = Vec<Rational>;

fn row_of(expression: &LinearExpression, dimensions: usize) -> GridRow {
    let coefficients = (0..dimensions).map(|at| expression.coefficient(at));
    coefficients.chain([expression.constant_term()]).collect()
}

fn scaled(row: &[Rational], factor: &Rational) -> GridRow {
    row.iter().map(|entry| entry * factor).collect()
}

fn unit(length: usize, at: usize) -> GridRow {
    let mut row = vec![Rational::ZERO; length];
    row[at] = Rational::ONE;
    row
}

/// Takes a multiple of one row from another.
fn take(row: &mut [Rational], factor: &Rational, other: &[Rational]) {
    for (entry, other) in row.iter_mut().zip(other).filter(|(_, other)| !other.is_zero()) {
        *entry = &*entry - &(factor * other);
    }
}

fn first(row: &[Rational]) -> Option<usize> {
    row.iter().position(|entry| !entry.is_zero())
}

/// `a / b`, where `b` is not 0.
fn quotient(a: &Rational, b: &Rational) -> Rational {
    a.checked_div(b).unwrap_or(Rational::ZERO)
}

/// Equalities and congruences, their first columns being decided first, in the form of the head of this file.
fn echelon(
    columns: usize,
    mut equalities: Vec<GridRow>,
    mut rows: Vec<GridRow>,
) -> (Vec<GridRow>, Vec<GridRow>) {
    let mut rank = 0;
    for column in 0..columns {
        let Some(at) = (rank..equalities.len()).find(|at| !equalities[*at][column].is_zero()) else {
            continue;
        };
        equalities.swap(rank, at);
        let scale = quotient(&Rational::ONE, &equalities[rank][column]);
        let pivot = scaled(&equalities[rank], &scale);
        for row in equalities.iter_mut().chain(&mut rows).filter(|row| !row[column].is_zero()) {
            let factor = row[column].clone();
            take(row, &factor, &pivot);
        }
        equalities[rank] = pivot;
        rank += 1;
    }
    equalities.truncate(rank);
    (equalities, hermite(columns, rows))
}

fn hermite(columns: usize, mut rows: Vec<GridRow>) -> Vec<GridRow> {
    let mut rank = 0;
    for column in 0..columns {
        budget::ask();
        for at in rank + 1..rows.len() {
            while !rows[at][column].is_zero() {
                let factor = quotient(&rows[rank][column], &rows[at][column]).floor();
                let other = rows[at].clone();
                take(&mut rows[rank], &Rational::from(factor), &other);
                rows.swap(rank, at);
            }
        }
        let Some(pivot) = rows.get(rank).filter(|row| !row[column].is_zero()).cloned() else { continue };
        let sign = Rational::from(i64::from(pivot[column].signum()));
        let pivot = scaled(&pivot, &sign);
        for row in &mut rows[..rank] {
            let factor = quotient(&row[column], &pivot[column]).floor();
            take(row, &Rational::from(factor), &pivot);
        }
        rows[rank] = pivot;
        rank += 1;
    }
    rows.truncate(rank);
    rows
}

/// A set of vectors: those that satisfy equalities and congruences.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grid {
    dimensions: usize,
    equalities: Vec<GridRow>,
    /// Modulo 1. The last is the constant 1, but where there is no vector.
    congruences: Vec<GridRow>,
}

impl Grid {
    pub fn all(dimensions: usize) -> Self {
        Grid { dimensions, equalities: Vec::new(), congruences: vec![unit(dimensions + 1, dimensions)] }
    }

    pub fn none(dimensions: usize) -> Self {
        Grid { dimensions, equalities: vec![unit(dimensions + 1, dimensions)], congruences: Vec::new() }
    }

    fn of(dimensions: usize, equalities: Vec<GridRow>, congruences: Vec<GridRow>) -> Self {
        let (equalities, congruences) = echelon(dimensions + 1, equalities, congruences);
        Self::of_echelon(dimensions, equalities, congruences)
    }

    fn of_echelon(dimensions: usize, equalities: Vec<GridRow>, congruences: Vec<GridRow>) -> Self {
        // 1 is a multiple of what ends the congruences: of less than 1, and something that is no integer
        // would be one.
        let is_one = congruences.last().is_some_and(|last| last[dimensions] == Rational::ONE);
        if is_one { Grid { dimensions, equalities, congruences } } else { Self::none(dimensions) }
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub fn is_none(&self) -> bool {
        self.congruences.is_empty()
    }

    /// What satisfies the congruences, and those of the constraints that are equalities, as well.
    pub fn with(&self, constraints: &[Constraint], congruences: &[Congruence]) -> Self {
        let is_equality = |constraint: &&Constraint| constraint.relation() == Relation::Equal;
        let found = constraints.iter().filter(is_equality);
        let found = found.map(|constraint| row_of(&constraint.expression(), self.dimensions)).collect();
        self.with_rows(found, congruences.iter().map(|one| one.row(self.dimensions)).collect())
    }

    fn with_rows(&self, equalities: Vec<GridRow>, congruences: Vec<GridRow>) -> Self {
        let no_equality = equalities.iter().all(|row| self.has_equality(row));
        if no_equality && congruences.iter().all(|row| self.has_congruence(row)) {
            return self.clone();
        }
        let equalities = self.equalities.iter().cloned().chain(equalities).collect();
        let congruences = self.congruences.iter().cloned().chain(congruences).collect();
        Self::of(self.dimensions, equalities, congruences)
    }

    pub fn meet(&self, other: &Self) -> Self {
        self.with_rows(other.equalities.clone(), other.congruences.clone())
    }

    /// The vectors whose marked dimensions are whole.
    pub fn with_integers(&self, integer: &[bool]) -> Self {
        // Most often a row says so, and nothing else.
        let is_unit = |row: &GridRow, at: usize| {
            row.iter().enumerate().all(|(other, entry)| match other == at {
                true => *entry == Rational::ONE,
                false => entry.is_zero(),
            })
        };
        let is_said = |at: usize| self.congruences.iter().any(|row| is_unit(row, at));
        let marked = (0..self.dimensions).filter(|at| integer.get(*at) == Some(&true) && !is_said(*at));
        self.with_rows(Vec::new(), marked.map(|at| unit(self.dimensions + 1, at)).collect())
    }

    pub fn whole_dimensions(&self) -> Vec<bool> {
        (0..self.dimensions).map(|at| self.has_congruence(&unit(self.dimensions + 1, at))).collect()
    }

    /// Without the congruences that need a dimension which is not marked; all equalities stay.
    pub fn congruent_in(&self, marked: &[bool]) -> Self {
        let kept: Vec<usize> = (0..self.dimensions).filter(|at| marked.get(*at) == Some(&true)).collect();
        if kept.len() == self.dimensions || self.is_none() {
            return self.clone();
        }
        let shorter = self.project(&kept);
        let longer = |row: &GridRow| {
            let mut long = vec![Rational::ZERO; self.dimensions + 1];
            for (entry, at) in row.iter().zip(kept.iter().copied().chain([self.dimensions])) {
                long[at] = entry.clone();
            }
            long
        };
        let congruences = shorter.congruences.iter().map(longer).collect();
        Self::of(self.dimensions, self.equalities.clone(), congruences)
    }

    pub fn join(&self, other: &Self) -> Self {
        if self.is_none() || self == other {
            return other.clone();
        }
        if other.is_none() {
            return self.clone();
        }
        let length = self.dimensions + 1;
        let twice = |row: &GridRow| [&row[..], row].concat();
        let once = |row: &GridRow| row.iter().cloned().chain(vec![Rational::ZERO; length]).collect();
        let beside = |own: &[GridRow], others: &[GridRow]| -> Vec<GridRow> {
            own.iter().map(twice).chain(others.iter().map(once)).collect()
        };
        let (equalities, congruences) = echelon(
            2 * length,
            beside(&self.equalities, &other.equalities),
            beside(&self.congruences, &other.congruences),
        );
        Self::of_echelon(self.dimensions, behind(length, equalities), behind(length, congruences))
    }

    /// The vectors of these dimensions, in this order.
    pub fn project(&self, kept: &[usize]) -> Self {
        if self.is_none() {
            return Self::none(kept.len());
        }
        let mut stays = vec![false; self.dimensions];
        kept.iter().for_each(|at| stays[*at] = true);
        let gone: Vec<usize> = (0..self.dimensions).filter(|at| !stays[*at]).collect();
        let order: Vec<usize> = gone.iter().chain(kept).copied().chain([self.dimensions]).collect();
        let moved = |rows: &[GridRow]| -> Vec<GridRow> {
            rows.iter().map(|row| order.iter().map(|at| row[*at].clone()).collect()).collect()
        };
        let (equalities, congruences) =
            echelon(order.len(), moved(&self.equalities), moved(&self.congruences));
        Self::of_echelon(kept.len(), behind(gone.len(), equalities), behind(gone.len(), congruences))
    }

    /// New dimensions at the end, of any value.
    pub fn longer(&self, count: usize) -> Self {
        let at = self.dimensions;
        let longer = |row: &GridRow| -> GridRow {
            let free = vec![Rational::ZERO; count];
            row[..at].iter().cloned().chain(free).chain([row[at].clone()]).collect()
        };
        Grid {
            dimensions: at + count,
            equalities: self.equalities.iter().map(longer).collect(),
            congruences: self.congruences.iter().map(longer).collect(),
        }
    }

    /// The image: some dimensions get new values, all in terms of the old vector; `None` is any.
    pub fn image(&self, assignments: &[(usize, Option<LinearExpression>)]) -> Self {
        let (old, all) = (self.dimensions, self.dimensions + assignments.len());
        let mut kept: Vec<usize> = (0..old).collect();
        let mut equalities = Vec::new();
        for (new, (at, value)) in (old..).zip(assignments) {
            kept[*at] = new;
            let is = value.as_ref().map(|value| value.minus(&LinearExpression::variable(new)));
            equalities.extend(is.map(|is| row_of(&is, all)));
        }
        self.longer(assignments.len()).with_rows(equalities, Vec::new()).project(&kept)
    }

    /// The vectors that get into this grid; of an unknown value: that may.
    pub fn preimage(&self, assignments: &[(usize, Option<LinearExpression>)]) -> Self {
        let unknown: Vec<_> = assignments.iter().filter(|(_, value)| value.is_none()).cloned().collect();
        let free = if unknown.is_empty() { self.clone() } else { self.image(&unknown) };
        let values: Vec<(usize, GridRow)> = assignments
            .iter()
            .filter_map(|(at, value)| Some((*at, row_of(value.as_ref()?, self.dimensions))))
            .collect();
        let through = |row: &GridRow| {
            let mut new = row.clone();
            values.iter().for_each(|(at, _)| new[*at] = Rational::ZERO);
            for (at, value) in &values {
                take(&mut new, &-&row[*at], value);
            }
            new
        };
        let equalities = free.equalities.iter().map(through).collect();
        Self::of(self.dimensions, equalities, free.congruences.iter().map(through).collect())
    }

    pub fn is_leq(&self, other: &Self) -> bool {
        self.is_none()
            || !other.is_none()
                && other.equalities.iter().all(|row| self.has_equality(row))
                && other.congruences.iter().all(|row| self.has_congruence(row))
    }

    pub fn implies(&self, congruence: &Congruence) -> bool {
        self.is_none() || self.has_congruence(&congruence.row(self.dimensions))
    }

    /// Does every vector satisfy the constraint, as far as its equalities say?
    pub fn implies_equality(&self, constraint: &Constraint) -> bool {
        constraint.relation() == Relation::Equal
            && (self.is_none() || self.has_equality(&row_of(&constraint.expression(), self.dimensions)))
    }

    /// What the equalities leave of a row.
    fn rest(&self, row: &GridRow) -> GridRow {
        let mut rest = row.clone();
        for equality in &self.equalities {
            if let Some(factor) = first(equality).map(|at| rest[at].clone()).filter(|f| !f.is_zero()) {
                take(&mut rest, &factor, equality);
            }
        }
        rest
    }

    fn has_equality(&self, row: &GridRow) -> bool {
        first(&self.rest(row)).is_none()
    }

    fn has_congruence(&self, row: &GridRow) -> bool {
        let mut rest = self.rest(row);
        for congruence in &self.congruences {
            let Some(at) = first(congruence) else { continue };
            let factor = quotient(&rest[at], &congruence[at]);
            if !factor.is_integer() {
                return false;
            }
            take(&mut rest, &factor, congruence);
        }
        first(&rest).is_none()
    }

    pub fn equalities(&self) -> Vec<Constraint> {
        let of = |row: &GridRow| {
            let constant = &row[self.dimensions];
            let expression = LinearExpression::from_rationals(&row[..self.dimensions], constant);
            Constraint::from_expression(&expression, Relation::Equal)
        };
        self.equalities.iter().map(of).collect()
    }

    /// The congruences, canonical: that numbers are whole among them.
    pub fn congruences(&self) -> Vec<Congruence> {
        let mut rows = self.congruences.iter();
        rows.next_back();
        rows.map(|row| Congruence::of_row(row)).collect()
    }

    /// Is there a congruence that says more than that numbers are whole?
    pub fn has_classes(&self) -> bool {
        self.congruences.iter().any(|row| row.iter().any(|entry| !entry.is_integer()))
    }

    /// The values of `coefficients · x`: a remainder and the distance from one value to the next. `None`
    /// where it may have any value, or one only.
    pub fn class(&self, coefficients: &[Integer]) -> Option<(Rational, Rational)> {
        let mut value: GridRow = coefficients.iter().map(|c| Rational::from(c.clone())).collect();
        value.resize(self.dimensions + 1, Rational::ZERO);
        let mut rest = self.rest(&value);
        // What a multiple of each row is part of the form: the rows have all integers as values, one of each
        // at once.
        let (mut numerators, mut denominators) = (Integer::ZERO, Integer::ONE);
        for congruence in &self.congruences {
            let Some(at) = first(congruence).filter(|at| *at < self.dimensions) else { continue };
            let factor = quotient(&rest[at], &congruence[at]);
            take(&mut rest, &factor, congruence);
            numerators = numerators.gcd(factor.numerator());
            denominators = denominators.lcm(factor.denominator());
        }
        let remainder = rest.pop()?;
        let is_free = first(&rest).is_some();
        let distance = Rational::new(numerators, denominators).filter(|distance| !distance.is_zero())?;
        (!is_free).then_some((remainder, distance))
    }
}

/// The rows that begin with so many zeros, without these.
fn behind(zeros: usize, rows: Vec<GridRow>) -> Vec<GridRow> {
    let of = |row: GridRow| row[..zeros].iter().all(Rational::is_zero).then(|| row[zeros..].to_vec());
    rows.into_iter().filter_map(of).collect()
}

#[cfg(test)]
mod brute;
