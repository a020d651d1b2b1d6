//! Grids: the vectors that satisfy linear congruences, and the exact algebra of these.
//!
//! **Problem.** If `x` counts in steps of two from an even number, every linear relation that holds for 0 and
//! 2 also holds for 1. The congruence `x == 0 (mod 2)` is missing, and for several numbers `x + 2y == 1 (mod
//! 3)`. **Source.** Linear congruences as a domain: Granger, TAPSOFT 1991,
//! <https://doi.org/10.1007/3-540-53982-4_10>. Congruences and equalities over the rationals: the grids of
//! Bagnara et al., LOPSTR 2006, <https://doi.org/10.1007/978-3-540-71410-1_16>.
//!
//! **Where we differ.** There are no generators. A grid is represented by everything that it satisfies: the
//! pairs `(q, c)` such that `q·x + c` is an integer for all its vectors. They are a group. Some may be scaled
//! by any rational (equalities, `q·x + c = 0`), the others only by integers (congruences modulo 1). "This
//! number is an integer" is a congruence like others, so no types are needed, and projection is exact. On
//! this group a meet is a sum, a pre-image is a substitution, and a projection is the part that does not
//! mention the removed dimensions. A join is an intersection (Zassenhaus: of the rows `(a, a)` and `(b, 0)`
//! in echelon form, those that begin with zeros). Each operation is one echelon form.
//!
//! **Form.** Equalities are in reduced row echelon form. Congruences are zero in the leading columns of
//! equalities, and otherwise in Hermite form. The last column is the constant, and `(0, 1)` is always among
//! the congruences. So constants are reduced as well, and the form is unique. **Ends**: Euclid's steps lower
//! the absolute value of one entry, and all denominators are bounded. **Cost**: cubic in the dimensions, with
//! a step for each entry that is not 0. Numbers may grow, and are exact.

use std::fmt;

use coreach_model::budget;
use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};

/// `coefficients · x + constant` is a multiple of the modulus, which is positive. The numbers have no common
/// divisor.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Congruence {
    coefficients: Vec<Integer>,
    constant: Integer,
    modulus: Integer,
}

impl Congruence {
    /// The congruence that the expression is a multiple of the modulus, which is positive.
    pub fn of(expression: &LinearExpression, dimensions: usize, modulus: &Integer) -> Self {
        let scale = Rational::new(Integer::ONE, modulus.clone()).unwrap_or(Rational::ONE);
        Self::of_row(&row_of(&expression.times(&scale), dimensions))
    }

    /// Makes the congruence that says that this row, times a vector, is an integer.
    fn of_row(row: &[Rational]) -> Self {
        let modulus = row.iter().fold(Integer::ONE, |sum, entry| sum.lcm(entry.denominator()));
        let mut whole = scale_row(row, &Rational::from(modulus.clone()));
        let constant = whole.pop().unwrap_or(Rational::ZERO).numerator().clone();
        let length = whole.iter().rposition(|entry| !entry.is_zero()).map_or(0, |last| last + 1);
        let coefficients = whole[..length].iter().map(|entry| entry.numerator().clone()).collect();
        Congruence { coefficients, constant, modulus }
    }

    /// The coefficients by dimension, up to the last that is not 0. So added dimensions change nothing.
    pub fn coefficients(&self) -> &[Integer] {
        &self.coefficients
    }

    pub fn constant(&self) -> &Integer {
        &self.constant
    }

    pub fn modulus(&self) -> &Integer {
        &self.modulus
    }

    /// Does a congruence without variables hold? `None`: it has variables.
    pub fn constant_truth(&self) -> Option<bool> {
        let is_constant = self.coefficients.iter().all(Integer::is_zero);
        is_constant.then(|| self.constant.is_multiple_of(&self.modulus))
    }

    pub fn is_satisfied_by(&self, point: &[Rational]) -> bool {
        let terms = self.coefficients.iter().zip(point).map(|(c, x)| &Rational::from(c.clone()) * x);
        let sum = terms.fold(Rational::from(self.constant.clone()), |sum, term| &sum + &term);
        sum.is_integer() && sum.numerator().is_multiple_of(&self.modulus)
    }

    /// The row of which [`Congruence::of_row`] makes this congruence.
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

/// The coefficients, and after them the constant.
type GridRow = Vec<Rational>;

fn row_of(expression: &LinearExpression, dimensions: usize) -> GridRow {
    let coefficients = (0..dimensions).map(|at| expression.coefficient(at));
    coefficients.chain([expression.constant_term()]).collect()
}

fn scale_row(row: &[Rational], factor: &Rational) -> GridRow {
    if *factor == Rational::ONE { row.to_vec() } else { row.iter().map(|entry| entry * factor).collect() }
}

fn unit_row(length: usize, at: usize) -> GridRow {
    let mut row = vec![Rational::ZERO; length];
    row[at] = Rational::ONE;
    row
}

/// Subtracts a multiple of one row from another.
fn subtract_multiple(row: &mut [Rational], factor: &Rational, other: &[Rational]) {
    if factor.is_zero() {
        return;
    }
    for (entry, other) in row.iter_mut().zip(other).filter(|(_, other)| !other.is_zero()) {
        *entry = &*entry - &(factor * other);
    }
}

/// The column of the first entry that is not 0.
fn leading_column(row: &[Rational]) -> Option<usize> {
    row.iter().position(|entry| !entry.is_zero())
}

/// `a / b`, where `b` is not 0.
fn quotient(a: &Rational, b: &Rational) -> Rational {
    a.checked_div(b).unwrap_or(Rational::ZERO)
}

/// Brings equalities and congruences into the form that the head of this file describes. The first columns
/// are eliminated first.
fn reduce_to_echelon(
    columns: usize,
    mut equalities: Vec<GridRow>,
    mut rows: Vec<GridRow>,
) -> (Vec<GridRow>, Vec<GridRow>) {
    let mut rank = 0;
    for column in 0..columns {
        let Some(found) = (rank..equalities.len()).find(|row| !equalities[*row][column].is_zero()) else {
            continue;
        };
        equalities.swap(rank, found);
        let scale = quotient(&Rational::ONE, &equalities[rank][column]);
        let pivot = scale_row(&equalities[rank], &scale);
        // This makes the pivot's own row 0 as well, so it is put back.
        for row in equalities.iter_mut().chain(&mut rows).filter(|row| !row[column].is_zero()) {
            let factor = row[column].clone();
            subtract_multiple(row, &factor, &pivot);
        }
        equalities[rank] = pivot;
        rank += 1;
    }
    equalities.truncate(rank);
    (equalities, reduce_to_hermite(columns, rows))
}

/// Brings congruences into Hermite form, by Euclid's steps.
fn reduce_to_hermite(columns: usize, mut rows: Vec<GridRow>) -> Vec<GridRow> {
    let mut rank = 0;
    for column in 0..columns {
        budget::ask();
        // The row at the rank gets the greatest common divisor of the column, and the rows below it get 0.
        for below in rank + 1..rows.len() {
            while !rows[below][column].is_zero() {
                let factor = quotient(&rows[rank][column], &rows[below][column]).floor();
                let subtracted = rows[below].clone();
                subtract_multiple(&mut rows[rank], &Rational::from(factor), &subtracted);
                rows.swap(rank, below);
            }
        }
        let Some(pivot) = rows.get(rank).filter(|row| !row[column].is_zero()).cloned() else { continue };
        // The pivot is positive, and the entries above it are reduced modulo the pivot.
        let sign = Rational::from(i64::from(pivot[column].signum()));
        let pivot = scale_row(&pivot, &sign);
        for row in &mut rows[..rank] {
            let factor = quotient(&row[column], &pivot[column]).floor();
            subtract_multiple(row, &Rational::from(factor), &pivot);
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
    /// For each: the row's value is 0.
    equalities: Vec<GridRow>,
    /// The congruences modulo 1. The last is the constant 1. If the grid has no vector, there are none.
    congruences: Vec<GridRow>,
}

impl Grid {
    pub fn all(dimensions: usize) -> Self {
        Grid { dimensions, equalities: Vec::new(), congruences: vec![unit_row(dimensions + 1, dimensions)] }
    }

    pub fn none(dimensions: usize) -> Self {
        Grid { dimensions, equalities: vec![unit_row(dimensions + 1, dimensions)], congruences: Vec::new() }
    }

    fn of(dimensions: usize, equalities: Vec<GridRow>, congruences: Vec<GridRow>) -> Self {
        let (equalities, congruences) = reduce_to_echelon(dimensions + 1, equalities, congruences);
        Self::of_echelon(dimensions, equalities, congruences)
    }

    fn of_echelon(dimensions: usize, equalities: Vec<GridRow>, congruences: Vec<GridRow>) -> Self {
        // 1 is a multiple of the last congruence's constant. If this constant is less than 1, a fraction
        // would have to be an integer, so the grid has no vector.
        let is_one = congruences.last().is_some_and(|last| last[dimensions] == Rational::ONE);
        if is_one { Grid { dimensions, equalities, congruences } } else { Self::none(dimensions) }
    }

    pub fn dimensions(&self) -> usize {
        self.dimensions
    }

    pub fn is_none(&self) -> bool {
        self.congruences.is_empty()
    }

    /// The vectors of the grid that satisfy the congruences, and those constraints that are equalities.
    pub fn with(&self, constraints: &[Constraint], congruences: &[Congruence]) -> Self {
        let is_equality = |constraint: &&Constraint| constraint.relation() == Relation::Equal;
        let equalities = constraints.iter().filter(is_equality);
        let rows = equalities.map(|constraint| row_of(&constraint.expression(), self.dimensions)).collect();
        self.with_rows(rows, congruences.iter().map(|congruence| congruence.row(self.dimensions)).collect())
    }

    /// Adds rows. If all of them hold already, the grid stays as it is.
    fn with_rows(&self, mut equalities: Vec<GridRow>, mut congruences: Vec<GridRow>) -> Self {
        equalities.retain(|row| !self.has_equality(row));
        congruences.retain(|row| !self.has_congruence(row));
        if equalities.is_empty() && congruences.is_empty() {
            return self.clone();
        }
        let equalities = self.equalities.iter().cloned().chain(equalities).collect();
        let congruences = self.congruences.iter().cloned().chain(congruences).collect();
        Self::of(self.dimensions, equalities, congruences)
    }

    pub fn meet(&self, other: &Self) -> Self {
        self.with_rows(other.equalities.clone(), other.congruences.clone())
    }

    /// The vectors of the grid whose marked dimensions are integers.
    pub fn with_integers(&self, integer: &[bool]) -> Self {
        // Mostly a row of the grid already says exactly this.
        let is_unit = |row: &GridRow, dimension: usize| {
            row.iter().enumerate().all(|(column, entry)| match column == dimension {
                true => *entry == Rational::ONE,
                false => entry.is_zero(),
            })
        };
        let is_known = |dimension: usize| self.congruences.iter().any(|row| is_unit(row, dimension));
        let new = (0..self.dimensions).filter(|at| integer.get(*at) == Some(&true) && !is_known(*at));
        self.with_rows(Vec::new(), new.map(|dimension| unit_row(self.dimensions + 1, dimension)).collect())
    }

    /// For each dimension: do all vectors have an integer there?
    pub fn whole_dimensions(&self) -> Vec<bool> {
        (0..self.dimensions).map(|at| self.has_congruence(&unit_row(self.dimensions + 1, at))).collect()
    }

    /// The grid without the congruences that need an unmarked dimension. All equalities stay.
    pub fn congruent_in(&self, marked: &[bool]) -> Self {
        let kept: Vec<usize> = (0..self.dimensions).filter(|at| marked.get(*at) == Some(&true)).collect();
        if kept.len() == self.dimensions || self.is_none() {
            return self.clone();
        }
        let projected = self.project(&kept);
        let embed = |row: &GridRow| {
            let mut embedded = vec![Rational::ZERO; self.dimensions + 1];
            for (entry, column) in row.iter().zip(kept.iter().copied().chain([self.dimensions])) {
                embedded[column] = entry.clone();
            }
            embedded
        };
        let congruences = projected.congruences.iter().map(embed).collect();
        Self::of(self.dimensions, self.equalities.clone(), congruences)
    }

    /// The least grid that contains both: the rows that both satisfy.
    pub fn join(&self, other: &Self) -> Self {
        if self.is_none() || self == other {
            return other.clone();
        }
        if other.is_none() {
            return self.clone();
        }
        // Zassenhaus, as the head of this file describes it.
        let length = self.dimensions + 1;
        let twice = |row: &GridRow| [&row[..], row].concat();
        let once = |row: &GridRow| row.iter().cloned().chain(vec![Rational::ZERO; length]).collect();
        let beside = |own: &[GridRow], others: &[GridRow]| -> Vec<GridRow> {
            own.iter().map(twice).chain(others.iter().map(once)).collect()
        };
        let (equalities, congruences) = reduce_to_echelon(
            2 * length,
            beside(&self.equalities, &other.equalities),
            beside(&self.congruences, &other.congruences),
        );
        Self::of_echelon(
            self.dimensions,
            cut_leading_zeros(length, equalities),
            cut_leading_zeros(length, congruences),
        )
    }

    /// The projection to these dimensions, in this order.
    pub fn project(&self, kept: &[usize]) -> Self {
        if self.is_none() {
            return Self::none(kept.len());
        }
        let mut is_kept = vec![false; self.dimensions];
        kept.iter().for_each(|dimension| is_kept[*dimension] = true);
        let removed: Vec<usize> = (0..self.dimensions).filter(|dimension| !is_kept[*dimension]).collect();
        // The removed columns come first, so that the echelon form eliminates them.
        let order: Vec<usize> = removed.iter().chain(kept).copied().chain([self.dimensions]).collect();
        let reorder = |rows: &[GridRow]| -> Vec<GridRow> {
            rows.iter().map(|row| order.iter().map(|column| row[*column].clone()).collect()).collect()
        };
        let (equalities, congruences) =
            reduce_to_echelon(order.len(), reorder(&self.equalities), reorder(&self.congruences));
        Self::of_echelon(
            kept.len(),
            cut_leading_zeros(removed.len(), equalities),
            cut_leading_zeros(removed.len(), congruences),
        )
    }

    /// The grid with new dimensions at the end, which may have any value.
    pub fn longer(&self, count: usize) -> Self {
        let constant = self.dimensions;
        let lengthen = |row: &GridRow| -> GridRow {
            let free = vec![Rational::ZERO; count];
            row[..constant].iter().cloned().chain(free).chain([row[constant].clone()]).collect()
        };
        Grid {
            dimensions: self.dimensions + count,
            equalities: self.equalities.iter().map(lengthen).collect(),
            congruences: self.congruences.iter().map(lengthen).collect(),
        }
    }

    /// The image of a parallel assignment: new values are computed from the old vector. `None` is any value.
    pub fn image(&self, assignments: &[(usize, Option<LinearExpression>)]) -> Self {
        // Each new value is a new dimension, which the projection puts in the place of the old value.
        let (old_count, count) = (self.dimensions, self.dimensions + assignments.len());
        let mut kept: Vec<usize> = (0..old_count).collect();
        let mut equalities = Vec::new();
        for (new, (old, value)) in (old_count..).zip(assignments) {
            kept[*old] = new;
            let difference = value.as_ref().map(|value| value.minus(&LinearExpression::variable(new)));
            equalities.extend(difference.map(|difference| row_of(&difference, count)));
        }
        self.longer(assignments.len()).with_rows(equalities, Vec::new()).project(&kept)
    }

    /// The vectors that a parallel assignment takes (or, with an unknown value, may take) into this grid.
    pub fn preimage(&self, assignments: &[(usize, Option<LinearExpression>)]) -> Self {
        let unknown: Vec<_> = assignments.iter().filter(|(_, value)| value.is_none()).cloned().collect();
        let free = if unknown.is_empty() { self.clone() } else { self.image(&unknown) };
        let values: Vec<(usize, GridRow)> = assignments
            .iter()
            .filter_map(|(at, value)| Some((*at, row_of(value.as_ref()?, self.dimensions))))
            .collect();
        // The assignment is parallel, so all old entries are taken away before a value is added.
        let substitute = |row: &GridRow| {
            let mut substituted = row.clone();
            values.iter().for_each(|(at, _)| substituted[*at] = Rational::ZERO);
            for (at, value) in &values {
                subtract_multiple(&mut substituted, &-&row[*at], value);
            }
            substituted
        };
        let equalities = free.equalities.iter().map(substitute).collect();
        Self::of(self.dimensions, equalities, free.congruences.iter().map(substitute).collect())
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

    /// Is the constraint an equality that follows from the grid's equalities?
    pub fn implies_equality(&self, constraint: &Constraint) -> bool {
        constraint.relation() == Relation::Equal
            && (self.is_none() || self.has_equality(&row_of(&constraint.expression(), self.dimensions)))
    }

    /// The row, reduced by the equalities: their leading columns become 0.
    fn reduced_by_equalities(&self, row: &GridRow) -> GridRow {
        let mut reduced = row.clone();
        for equality in &self.equalities {
            if let Some(factor) =
                leading_column(equality).map(|at| reduced[at].clone()).filter(|f| !f.is_zero())
            {
                subtract_multiple(&mut reduced, &factor, equality);
            }
        }
        reduced
    }

    fn has_equality(&self, row: &GridRow) -> bool {
        leading_column(&self.reduced_by_equalities(row)).is_none()
    }

    /// Is the row a sum of multiples of the rows that are there?
    fn has_congruence(&self, row: &GridRow) -> bool {
        let mut remainder = self.reduced_by_equalities(row);
        for congruence in &self.congruences {
            let Some(at) = leading_column(congruence) else { continue };
            let factor = quotient(&remainder[at], &congruence[at]);
            if !factor.is_integer() {
                return false;
            }
            subtract_multiple(&mut remainder, &factor, congruence);
        }
        leading_column(&remainder).is_none()
    }

    pub fn equalities(&self) -> Vec<Constraint> {
        let constraint_of = |row: &GridRow| {
            let constant = &row[self.dimensions];
            let expression = LinearExpression::from_rationals(&row[..self.dimensions], constant);
            Constraint::from_expression(&expression, Relation::Equal)
        };
        self.equalities.iter().map(constraint_of).collect()
    }

    /// The canonical congruences. "This number is an integer" is one of them.
    pub fn congruences(&self) -> Vec<Congruence> {
        // The last row says only that 1 is an integer.
        let rows = self.congruences.split_last().map_or(&[][..], |(_, rows)| rows);
        rows.iter().map(|row| Congruence::of_row(row)).collect()
    }

    /// Is there a congruence that says more than that linear forms are integers?
    pub fn has_classes(&self) -> bool {
        self.congruences.iter().any(|row| row.iter().any(|entry| !entry.is_integer()))
    }

    /// The values of `coefficients · x`: a remainder, and the distance from one value to the next. `None`: it
    /// may have any value, or has only one.
    pub fn class(&self, coefficients: &[Integer]) -> Option<(Rational, Rational)> {
        let mut value: GridRow = coefficients.iter().map(|c| Rational::from(c.clone())).collect();
        value.resize(self.dimensions + 1, Rational::ZERO);
        let mut remainder = self.reduced_by_equalities(&value);
        // Write the form as a sum of multiples of the rows. The rows take all integers independently, so the
        // distance is the greatest common divisor of the factors, which are fractions in lowest terms.
        let (mut numerators, mut denominators) = (Integer::ZERO, Integer::ONE);
        for congruence in &self.congruences {
            let Some(at) = leading_column(congruence).filter(|at| *at < self.dimensions) else { continue };
            let factor = quotient(&remainder[at], &congruence[at]);
            subtract_multiple(&mut remainder, &factor, congruence);
            numerators = numerators.gcd(factor.numerator());
            denominators = denominators.lcm(factor.denominator());
        }
        let constant = remainder.pop()?;
        let is_free = leading_column(&remainder).is_some();
        let distance = Rational::new(numerators, denominators).filter(|distance| !distance.is_zero())?;
        (!is_free).then_some((constant, distance))
    }
}

/// Keeps the rows that begin with so many zeros, and cuts these off.
fn cut_leading_zeros(zeros: usize, rows: Vec<GridRow>) -> Vec<GridRow> {
    let cut = |row: GridRow| row[..zeros].iter().all(Rational::is_zero).then(|| row[zeros..].to_vec());
    rows.into_iter().filter_map(cut).collect()
}

#[cfg(test)]
mod brute;
