//! Linear expressions and constraints, in the canonical form on which everything else relies.

use core::cmp::Ordering;
use core::fmt;

use crate::integer::Integer;
use crate::rational::Rational;
use crate::row::{self, Row};

/// How the linear part of a constraint compares with 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Relation {
    /// `= 0`
    Equal,
    /// `>= 0`
    AtLeast,
    /// `> 0`
    Greater,
}

impl Relation {
    /// Whether a value of this sign (-1, 0 or 1) satisfies the relation.
    pub fn admits(self, sign: i32) -> bool {
        match self {
            Self::Equal => sign == 0,
            Self::AtLeast => sign >= 0,
            Self::Greater => sign > 0,
        }
    }
}

/// `sum c_i x_i + k REL 0`, with integer coefficients without common divisor. An equality's first non-zero
/// coefficient (or its constant, if there is none) is positive, so two constraints over the same dimensions
/// with the same solutions *as single half-spaces* are equal.
///
/// ```
/// use coreach_polyhedra::{Constraint, Integer, Relation};
/// // 2 x0 - 4 >= 0 is kept as x0 - 2 >= 0
/// let c = Constraint::new(vec![Integer::from(2)], Integer::from(-4), Relation::AtLeast);
/// assert_eq!(c.to_string(), "x0 - 2 >= 0");
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Constraint {
    /// Constant first, then one coefficient for each dimension.
    row: Row,
    relation: Relation,
}

impl Constraint {
    /// The constraint `sum coefficients[i] x_i + constant  relation  0`, normalised.
    pub fn new(coefficients: Vec<Integer>, constant: Integer, relation: Relation) -> Self {
        let mut row = Row::from_vec(coefficients);
        row.insert(0, constant);
        Self::of_row(row, relation)
    }

    /// [`Constraint::new`] for word-sized numbers.
    pub fn of(coefficients: &[i64], constant: i64, relation: Relation) -> Self {
        let coefficients = coefficients.iter().map(|&value| Integer::from(value)).collect();
        Self::new(coefficients, Integer::from(constant), relation)
    }

    /// The constraint `expression  relation  0`.
    pub fn from_expression(expression: &LinearExpression, relation: Relation) -> Self {
        // The denominator is positive, so dropping it changes nothing.
        Self::of_row(expression.row.clone(), relation)
    }

    /// The constraint in lowest terms. The first coefficient of an equality becomes positive.
    pub(crate) fn of_row(mut row: Row, relation: Relation) -> Self {
        row::normalise(&mut row);
        if relation == Relation::Equal {
            let leading = row[1..].iter().find(|entry| !entry.is_zero()).unwrap_or(&row[0]);
            if leading.is_negative() {
                row::negate(&mut row);
            }
        }
        Self { row, relation }
    }

    /// A constraint of a row that has no common divisor and, for an equality, the right sign.
    pub(crate) fn of_canonical(row: Row, relation: Relation) -> Self {
        debug_assert_eq!(Self::of_row(row.clone(), relation).row, row);
        Self { row, relation }
    }

    /// The constraint no point satisfies, `-1 >= 0`.
    pub(crate) fn contradiction(dimensions: usize) -> Self {
        let mut row = row::unit(dimensions + 1, 0);
        row::negate(&mut row);
        Self { row, relation: Relation::AtLeast }
    }

    /// The coefficients, one for each dimension the constraint was made for.
    pub fn coefficients(&self) -> &[Integer] {
        &self.row[1..]
    }

    /// The coefficients other than 0, each after its dimension.
    pub fn terms(&self) -> impl Iterator<Item = (usize, &Integer)> + Clone {
        self.coefficients().iter().enumerate().filter(|(_, coefficient)| !coefficient.is_zero())
    }

    /// The constant `k`.
    pub fn constant(&self) -> &Integer {
        &self.row[0]
    }

    /// The relation to 0.
    pub fn relation(&self) -> Relation {
        self.relation
    }

    /// Does it relate several dimensions, with some coefficient whose absolute value is above `most`?
    pub fn has_factor_beyond(&self, most: i64) -> bool {
        let is_beyond =
            |factor: &Integer| factor.to_i64().is_none_or(|factor| !(-most..=most).contains(&factor));
        self.coefficients().iter().any(is_beyond) && self.terms().count() > 1
    }

    /// The dimension whose value it gives, if it is an equality of a single dimension.
    pub fn fixes(&self) -> Option<usize> {
        let mut mentioned = self.terms();
        let (dimension, _) = mentioned.next().filter(|_| self.relation == Relation::Equal)?;
        mentioned.next().is_none().then_some(dimension)
    }

    /// The linear part, without the relation.
    pub fn expression(&self) -> LinearExpression {
        LinearExpression { row: self.row.clone(), denominator: Integer::ONE }
    }

    /// The same linear part under another relation.
    pub fn with_relation(&self, relation: Relation) -> Self {
        Self::of_row(self.row.clone(), relation)
    }

    /// The complement, or `None` for an equality, whose complement is not one constraint.
    pub fn negated(&self) -> Option<Self> {
        let relation = match self.relation {
            Relation::Equal => return None,
            Relation::AtLeast => Relation::Greater,
            Relation::Greater => Relation::AtLeast,
        };
        let mut row = self.row.clone();
        row::negate(&mut row);
        Some(Self { row, relation })
    }

    /// Rounds a constraint of integers to a stronger one with the same integer solutions. `None`: it is not
    /// stronger, or has a dimension that is not marked in `integer`.
    pub fn rounded_to_integers(&self, integer: &[bool]) -> Option<Self> {
        let mut gcd = Integer::ZERO;
        for (dimension, coefficient) in self.terms() {
            integer.get(dimension).filter(|is_integer| **is_integer)?;
            gcd = gcd.gcd(coefficient);
        }
        let constant = self.constant();
        let rounded = match self.relation {
            _ if gcd.is_zero() => return None,
            Relation::Equal if constant.is_multiple_of(&gcd) => return None,
            Relation::Equal => return Some(Self::contradiction(self.coefficients().len())),
            Relation::AtLeast if gcd.is_one() => return None,
            // (c/g) x + k/g >= 0, and the left side but for its constant is an integer.
            Relation::AtLeast => constant.div_floor(&gcd),
            // (c/g) x > -k/g, so (c/g) x >= floor(-k/g) + 1, which is 1 - ceil(k/g).
            Relation::Greater => constant.div_ceil(&gcd) - Integer::ONE,
        };
        let coefficients = self.coefficients().iter().map(|factor| factor.div_exact(&gcd)).collect();
        Some(Self::new(coefficients, rounded, Relation::AtLeast))
    }

    /// Whether the point, one coordinate for each dimension, satisfies the constraint.
    pub fn is_satisfied_by(&self, point: &[Rational]) -> bool {
        self.relation.admits(self.expression().value(point).signum())
    }

    /// `Some(true)` if every point satisfies it, `Some(false)` if none does, looking only at
    /// constraints without variables.
    pub(crate) fn trivial(&self) -> Option<bool> {
        let constant_only = self.coefficients().iter().all(Integer::is_zero);
        constant_only.then(|| self.relation.admits(self.row[0].signum()))
    }

    pub(crate) fn row(&self) -> &[Integer] {
        &self.row
    }

    pub(crate) fn into_row(self) -> Row {
        self.row
    }

    /// Panics if it mentions a dimension that does not exist.
    pub(crate) fn assert_fits(&self, dimensions: usize) {
        assert_fits(&self.row, dimensions);
    }

    /// Extends the constraint to `dimensions` dimensions. New coefficients are 0.
    /// Panics if it mentions a dimension that does not exist.
    pub(crate) fn fitted(mut self, dimensions: usize) -> Self {
        fit(&mut self.row, dimensions);
        self
    }
}

fn assert_fits(row: &[Integer], dimensions: usize) {
    assert!(
        row.iter().skip(dimensions + 1).all(Integer::is_zero),
        "a constraint or expression mentions a dimension the polyhedron does not have"
    );
}

/// Extends or shortens a row to a space with `dimensions` dimensions.
fn fit(row: &mut Row, dimensions: usize) {
    assert_fits(row, dimensions);
    row.resize(dimensions + 1, Integer::ZERO);
}

/// Coefficients of earlier dimensions weigh more, then the constant, then the relation.
impl Ord for Constraint {
    fn cmp(&self, other: &Self) -> Ordering {
        self.row[1..]
            .cmp(&other.row[1..])
            .then_with(|| self.row[0].cmp(&other.row[0]))
            .then_with(|| self.relation.cmp(&other.relation))
    }
}

impl PartialOrd for Constraint {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl fmt::Display for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_row(f, &self.row)?;
        f.write_str(match self.relation {
            Relation::Equal => " = 0",
            Relation::AtLeast => " >= 0",
            Relation::Greater => " > 0",
        })
    }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, row: &[Integer]) -> fmt::Result {
    let mut is_first = true;
    let indices = (1..row.len()).chain(core::iter::once(0));
    for index in indices {
        let entry = &row[index];
        if entry.is_zero() {
            continue;
        }
        match (is_first, entry.is_negative()) {
            (true, true) => f.write_str("-")?,
            (true, false) => {}
            (false, true) => f.write_str(" - ")?,
            (false, false) => f.write_str(" + ")?,
        }
        let size = entry.abs();
        match (index, size.is_one()) {
            (0, _) => write!(f, "{size}")?,
            (_, true) => write!(f, "x{}", index - 1)?,
            (_, false) => write!(f, "{size} x{}", index - 1)?,
        }
        is_first = false;
    }
    if is_first { f.write_str("0") } else { Ok(()) }
}

/// `(sum c_i x_i + k) / d`, with integers without common divisor and `d` positive.
///
/// ```
/// use coreach_polyhedra::{LinearExpression, Rational};
/// let x = LinearExpression::variable(0);
/// let y = LinearExpression::variable(1);
/// let sum = x.plus(&y).plus(&LinearExpression::constant(Rational::from(1)));
/// assert_eq!(sum.value(&[Rational::from(2), Rational::from(3)]), Rational::from(6));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
#[must_use]
pub struct LinearExpression {
    /// Constant first; trailing zero coefficients are absent.
    row: Row,
    denominator: Integer,
}

impl LinearExpression {
    /// The expression with integer coefficients and denominator, or `None` if the denominator is 0.
    pub fn new(coefficients: Vec<Integer>, constant: Integer, denominator: Integer) -> Option<Self> {
        if denominator.is_zero() {
            return None;
        }
        let mut row = Row::from_vec(coefficients);
        row.insert(0, constant);
        Some(Self::of_row(row, denominator))
    }

    /// The expression with rational coefficients.
    pub fn from_rationals(coefficients: &[Rational], constant: &Rational) -> Self {
        let all = || core::iter::once(constant).chain(coefficients);
        let denominator = all().fold(Integer::ONE, |lcm, value| lcm.lcm(value.denominator()));
        let row =
            all().map(|value| value.numerator() * &denominator.div_exact(value.denominator())).collect();
        Self::of_row(row, denominator)
    }

    /// The expression with word-sized integer coefficients.
    pub fn of(coefficients: &[i64], constant: i64) -> Self {
        let row = core::iter::once(&constant).chain(coefficients);
        Self::of_row(row.map(|&value| Integer::from(value)).collect(), Integer::ONE)
    }

    /// The constant expression.
    pub fn constant(value: Rational) -> Self {
        Self::from_rationals(&[], &value)
    }

    /// The expression `x_dimension`.
    pub fn variable(dimension: usize) -> Self {
        Self { row: row::unit(dimension + 2, dimension + 1), denominator: Integer::ONE }
    }

    /// The expression of a row divided by a number, in lowest terms.
    pub(crate) fn of_row(mut row: Row, mut denominator: Integer) -> Self {
        debug_assert!(!denominator.is_zero());
        if denominator.is_negative() {
            row::negate(&mut row);
            denominator = -denominator;
        }
        let gcd = row.iter().fold(denominator.clone(), |gcd, entry| gcd.gcd(entry));
        if !gcd.is_one() {
            row.iter_mut().for_each(|entry| *entry = entry.div_exact(&gcd));
            denominator = denominator.div_exact(&gcd);
        }
        while row.len() > 1 && row.last().is_some_and(Integer::is_zero) {
            row.pop();
        }
        Self { row, denominator }
    }

    /// The coefficient of a dimension.
    pub fn coefficient(&self, dimension: usize) -> Rational {
        let entry = self.row.get(dimension + 1).cloned().unwrap_or(Integer::ZERO);
        Rational::of_nonzero(entry, self.denominator.clone())
    }

    /// The constant term.
    pub fn constant_term(&self) -> Rational {
        Rational::of_nonzero(self.row[0].clone(), self.denominator.clone())
    }

    /// The common denominator, positive.
    pub fn denominator(&self) -> &Integer {
        &self.denominator
    }

    /// The sum.
    pub fn plus(&self, other: &Self) -> Self {
        let entry = |row: &Row, index: usize| row.get(index).cloned().unwrap_or(Integer::ZERO);
        let sum = |index: usize| {
            entry(&self.row, index) * &other.denominator + entry(&other.row, index) * &self.denominator
        };
        let row = (0..self.row.len().max(other.row.len())).map(sum).collect();
        Self::of_row(row, &self.denominator * &other.denominator)
    }

    /// The difference.
    pub fn minus(&self, other: &Self) -> Self {
        self.plus(&other.times(&Rational::from(-1)))
    }

    /// The product with a number.
    pub fn times(&self, factor: &Rational) -> Self {
        let row = self.row.iter().map(|entry| entry * factor.numerator()).collect();
        Self::of_row(row, &self.denominator * factor.denominator())
    }

    /// The value at a point; dimensions the point does not have count as 0.
    pub fn value(&self, point: &[Rational]) -> Rational {
        let mut sum = Rational::from(self.row[0].clone());
        for (entry, coordinate) in self.row[1..].iter().zip(point) {
            sum = &sum + &(&Rational::from(entry.clone()) * coordinate);
        }
        &sum * &Rational::of_nonzero(Integer::ONE, self.denominator.clone())
    }

    /// What `x_dimension` was before it became the value of the expression, if that tells it:
    /// `x' = (c x + r) / d` gives `x = (d x' - r) / c`.
    pub(crate) fn solved_for(&self, dimension: usize) -> Option<Self> {
        let own = self.row.get(dimension + 1).filter(|entry| !entry.is_zero())?.clone();
        let mut row = self.row.clone();
        row::negate(&mut row);
        row[dimension + 1] = self.denominator.clone();
        Some(Self::of_row(row, own))
    }

    /// The numerator's row, constant first; trailing zero coefficients are absent.
    pub fn row(&self) -> &[Integer] {
        &self.row
    }

    /// Panics if the expression mentions a dimension that does not exist.
    pub(crate) fn assert_fits(&self, dimensions: usize) {
        assert_fits(&self.row, dimensions);
    }

    /// The numerator's row in a space with `dimensions` dimensions.
    /// Panics if the expression mentions a dimension that does not exist.
    pub(crate) fn fitted(&self, dimensions: usize) -> Row {
        let mut row = self.row.clone();
        fit(&mut row, dimensions);
        row
    }
}

impl fmt::Display for LinearExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.denominator.is_one() {
            return write_row(f, &self.row);
        }
        f.write_str("(")?;
        write_row(f, &self.row)?;
        write!(f, ") / {}", self.denominator)
    }
}

impl fmt::Debug for LinearExpression {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constraints_are_canonical() {
        let cases = [
            (Constraint::of(&[-2, 4], 6, Relation::Equal), "x0 - 2 x1 - 3 = 0"),
            (Constraint::of(&[-2, 4], 6, Relation::AtLeast), "-x0 + 2 x1 + 3 >= 0"),
            (Constraint::of(&[0, 0], 6, Relation::Greater), "1 > 0"),
            (Constraint::of(&[], -3, Relation::Equal), "1 = 0"),
            (Constraint::of(&[0], 0, Relation::Equal), "0 = 0"),
        ];
        for (constraint, text) in cases {
            assert_eq!(constraint.to_string(), text);
        }
    }

    #[test]
    fn a_factor_of_any_size_is_beyond_smaller_ones() {
        for (factor, is_beyond) in [(7, false), (-7, false), (8, true), (-8, true), (i64::MIN, true)] {
            let constraint = Constraint::of(&[factor, 1], 0, Relation::AtLeast);
            assert_eq!(constraint.has_factor_beyond(7), is_beyond, "{factor}");
        }
    }

    #[test]
    fn expressions_are_canonical() {
        let half = Rational::of_nonzero(Integer::ONE, Integer::from(2));
        let a = LinearExpression::from_rationals(&[half.clone(), Rational::ZERO], &Rational::ONE);
        let b = LinearExpression::new(vec![Integer::from(-3)], Integer::from(-6), Integer::from(-6));
        assert_eq!(Some(a.clone()), b);
        assert_eq!(a.to_string(), "(x0 + 2) / 2");
        assert_eq!(a.minus(&a), LinearExpression::constant(Rational::ZERO));
        assert_eq!(a.times(&half).coefficient(0), &half * &half);
    }
}
