//! The range of an expression over a polyhedron given by constraints alone, computed by a linear program.
//!
//! **Problem.** Where a conversion exceeds its limits there are no generators to evaluate at, and a bound
//! that several constraints imply together is in none of them.
//!
//! **Method.** The simplex method on a dictionary (V. Chvátal, "Linear Programming", 1983), with rows of
//! integers. Since dimensions may have any value, each is first exchanged with some slack, and never back.
//! Then the columns are slacks, which are at least 0, and each dimension is a sum of them. A first point is
//! searched as in B. Dutertre and L. de Moura, "A fast linear-arithmetic solver for DPLL(T)", CAV 2006
//! (<https://doi.org/10.1007/11817963_11>); from the point where one range ends the next one starts.
//!
//! **Strictness.** `e > 0` is read as `e >= d` for a `d` smaller than all positive numbers, which is one more
//! column. A greatest value that has a part in `d` is approached, and not attained.
//!
//! **Why it ends.** Of several that may enter or leave, the first one does (R. G. Bland, 1977,
//! <https://doi.org/10.1287/moor.2.2.103>). **Cost**: a combination of rows for each row that a change of
//! places concerns, and in practice a few changes for each constraint.

use crate::budget::{Exceeded, RowBudget};
use crate::integer::Integer;
use crate::linear::{Constraint, Relation};
use crate::query::{Bounds, RangeBound};
use crate::rational::Rational;
use crate::row::{self, Row};

/// The number of entries of a row before its columns: a positive denominator, the constant and the infinitely
/// small part.
const HEAD: usize = 3;
const DENOMINATOR: usize = 0;
const CONSTANT: usize = 1;
const SMALL: usize = 2;

#[derive(Clone, Copy, PartialEq)]
enum Column {
    /// A dimension that no constraint mentions. It may have any value.
    Free,
    /// The slack of an equality, which is 0.
    Zero,
    /// The slack of the inequality with this number. It is at least 0, and 0 unless another value is given.
    Slack(usize),
}

struct ColumnSum {
    number: usize,
    is_zero: bool,
    row: Row,
}

/// A system of constraints that some point satisfies.
pub(crate) struct LinearProgram {
    columns: Vec<Column>,
    /// Each dimension as a sum of columns. While an expression is evaluated, it is the last entry.
    values: Vec<Row>,
    slacks: Vec<ColumnSum>,
}

impl LinearProgram {
    /// Makes the program of some constraints. Returns `Ok(None)` if no point satisfies them.
    pub(crate) fn of<'a>(
        dimensions: usize,
        constraints: impl Iterator<Item = &'a Constraint>,
        budget: &RowBudget,
    ) -> Result<Option<Self>, Exceeded> {
        let width = HEAD + dimensions;
        let slack = |(number, constraint): (usize, &Constraint)| {
            let mut row = row::unit(width, DENOMINATOR);
            row[CONSTANT] = constraint.constant().clone();
            row[SMALL] = Integer::from(-i64::from(constraint.relation() == Relation::Greater));
            row[HEAD..].clone_from_slice(constraint.coefficients());
            ColumnSum { number, is_zero: constraint.relation() == Relation::Equal, row }
        };
        let value = |dimension: usize| {
            let mut row = row::unit(width, HEAD + dimension);
            row[DENOMINATOR] = Integer::ONE;
            row
        };
        let mut program = Self {
            columns: vec![Column::Free; dimensions],
            values: (0..dimensions).map(value).collect(),
            slacks: constraints.enumerate().map(slack).collect(),
        };
        let is_possible = program.solve_equalities(budget)? && {
            program.free_dimensions(budget)?;
            program.find_point(budget)?
        };
        Ok(is_possible.then_some(program))
    }

    /// The range of a row divided by a positive number.
    pub(crate) fn bounds(
        &mut self,
        row: &[Integer],
        denominator: &Integer,
        budget: &RowBudget,
    ) -> Result<Bounds, Exceeded> {
        let mut sum = row::zero(HEAD + self.columns.len());
        (sum[DENOMINATOR], sum[CONSTANT]) = (Integer::ONE, row[0].clone());
        for (coefficient, value) in row[1..].iter().zip(&self.values) {
            // `s / d + c * v / e` is `(e s + c d v) / (e d)`.
            if !coefficient.is_zero() {
                let factor = coefficient * &sum[DENOMINATOR];
                sum = row::combine(&value[DENOMINATOR], &sum, &factor, &without_denominator(value));
            }
        }
        sum[DENOMINATOR] = &sum[DENOMINATOR] * denominator;
        self.values.push(sum);
        let range = self.greatest(-1, budget).and_then(|lower| Ok((lower, self.greatest(1, budget)?)));
        self.values.pop();
        let (lower, upper) = range?;
        Ok(Bounds { lower, upper, empty: false })
    }

    /// Solves the equalities, each of which takes a column. Returns whether some point satisfies them.
    fn solve_equalities(&mut self, budget: &RowBudget) -> Result<bool, Exceeded> {
        while let Some(at) = self.slacks.iter().position(|slack| slack.is_zero) {
            let ColumnSum { row, .. } = self.slacks.swap_remove(at);
            match (HEAD..row.len()).find(|&column| !row[column].is_zero()) {
                Some(column) => {
                    let mut solved = solve_row_for(&row, column);
                    solved[column] = Integer::ZERO;
                    self.replace(column, &solved, budget)?;
                    self.columns[column - HEAD] = Column::Zero;
                }
                None if row[CONSTANT].is_zero() => {}
                None => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Exchanges each dimension that is a column with a slack that mentions it.
    fn free_dimensions(&mut self, budget: &RowBudget) -> Result<(), Exceeded> {
        for column in HEAD..HEAD + self.columns.len() {
            let mentions = |slack: &ColumnSum| !slack.row[column].is_zero();
            if self.columns[column - HEAD] == Column::Free
                && let Some(at) = self.slacks.iter().position(mentions)
            {
                let ColumnSum { number, row, .. } = self.slacks.swap_remove(at);
                self.replace(column, &solve_row_for(&row, column), budget)?;
                self.columns[column - HEAD] = Column::Slack(number);
            }
        }
        Ok(())
    }

    /// Moves to a point at which no slack is negative. Returns whether there is one.
    fn find_point(&mut self, budget: &RowBudget) -> Result<bool, Exceeded> {
        loop {
            let is_negative = |slack: &ColumnSum| value_signum(&slack.row) < 0;
            let negative = (0..self.slacks.len()).filter(|&at| is_negative(&self.slacks[at]));
            let Some(leaving) = negative.min_by_key(|&at| self.slacks[at].number) else {
                return Ok(true);
            };
            let Some(entering) = self.entering_slack(&self.slacks[leaving].row, 1) else { return Ok(false) };
            self.exchange(leaving, entering, budget)?;
        }
    }

    /// The greatest value (`direction` 1) of the last row of values, or the least one (-1). Returns
    /// `Ok(None)` if there is no bound.
    fn greatest(&mut self, direction: i32, budget: &RowBudget) -> Result<RangeBound, Exceeded> {
        loop {
            let Some(goal) = self.values.last() else { return Ok(None) };
            let is_free = |at: usize| self.columns[at] == Column::Free && !goal[HEAD + at].is_zero();
            if (0..self.columns.len()).any(is_free) {
                return Ok(None);
            }
            let Some(entering) = self.entering_slack(goal, direction) else {
                let value = Rational::of_nonzero(goal[CONSTANT].clone(), goal[DENOMINATOR].clone());
                return Ok(Some((value, goal[SMALL].is_zero())));
            };
            let falls = |at: &usize| self.slacks[*at].row[entering].is_negative();
            // The leaving slack is the one that is 0 first as the column grows: the ratio of its value to its
            // (negative) entry in the column is nearest to 0.
            let compare_ratios = |&a: &usize, &b: &usize| {
                let (ColumnSum { row: a, number: first, .. }, ColumnSum { row: b, number: second, .. }) =
                    (&self.slacks[a], &self.slacks[b]);
                let compare = |part: usize| (&b[part] * &a[entering]).cmp(&(&a[part] * &b[entering]));
                compare(CONSTANT).then_with(|| compare(SMALL)).then_with(|| first.cmp(second))
            };
            match (0..self.slacks.len()).filter(falls).min_by(compare_ratios) {
                Some(leaving) => self.exchange(leaving, entering, budget)?,
                None => return Ok(None),
            }
        }
    }

    /// The first slack among the columns with whose growth the row's value grows (`direction` 1) or falls.
    fn entering_slack(&self, row: &Row, direction: i32) -> Option<usize> {
        let growing = self.columns.iter().enumerate().filter_map(|(at, column)| match column {
            Column::Slack(number) if row[HEAD + at].signum() == direction => Some((number, HEAD + at)),
            _ => None,
        });
        growing.min().map(|(_, column)| column)
    }

    /// Exchanges a slack with a column.
    fn exchange(&mut self, leaving: usize, entering: usize, budget: &RowBudget) -> Result<(), Exceeded> {
        let Column::Slack(number) = self.columns[entering - HEAD] else { return Ok(()) };
        let value = solve_row_for(&self.slacks[leaving].row, entering);
        self.replace(entering, &value, budget)?;
        self.columns[entering - HEAD] = Column::Slack(self.slacks[leaving].number);
        self.slacks[leaving] = ColumnSum { number, is_zero: false, row: value };
        Ok(())
    }

    /// Replaces a column's variable by a sum in all rows. With `sum / d` for the variable, a row `(r + t v) /
    /// e` becomes `(d r + t sum) / (d e)`: its denominator comes from `d r` alone.
    fn replace(&mut self, column: usize, value: &Row, budget: &RowBudget) -> Result<(), Exceeded> {
        let sums = self.slacks.iter_mut().map(|slack| &mut slack.row);
        let rows: Vec<&mut Row> =
            self.values.iter_mut().chain(sums).filter(|row| !row[column].is_zero()).collect();
        budget.spend(rows.len() * value.len().div_ceil(row::INLINE))?;
        let sum = without_denominator(value);
        for row in rows {
            let times = core::mem::replace(&mut row[column], Integer::ZERO);
            *row = row::combine(&value[DENOMINATOR], row, &times, &sum);
        }
        Ok(())
    }
}

/// Solves a row's sum for the variable of a column. The column then stands for the variable of the row.
fn solve_row_for(row: &Row, column: usize) -> Row {
    let mut solved = row.clone();
    if row[column].is_positive() {
        row::negate(&mut solved);
    }
    // The denominator becomes the entry of the row's variable, and the entry the denominator.
    solved[column] = -&solved[DENOMINATOR];
    solved[DENOMINATOR] = row[column].abs();
    solved
}

/// The row without its denominator.
fn without_denominator(row: &Row) -> Row {
    let mut sum = row.clone();
    sum[DENOMINATOR] = Integer::ZERO;
    sum
}

/// The sign of a row's value if all columns are 0.
fn value_signum(row: &Row) -> i32 {
    match row[CONSTANT].signum() {
        0 => row[SMALL].signum(),
        sign => sign,
    }
}
