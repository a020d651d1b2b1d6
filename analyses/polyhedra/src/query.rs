//! The range of a linear expression: over a product it is the sum of the ranges over the blocks. A bound is
//! attained exactly if each block attains its own.

use crate::integer::Integer;
use crate::linear::{Constraint, LinearExpression, Relation};
use crate::polyhedron::{Block, Polyhedron};
use crate::product;
use crate::rational::Rational;
use crate::row::Row;

/// A bound's value, and whether some point attains it.
pub(crate) type RangeBound = Option<(Rational, bool)>;

/// The range of a linear expression over a polyhedron.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The greatest lower bound and whether some point attains it, or `None` if there is none.
    pub lower: Option<(Rational, bool)>,
    /// The least upper bound and whether some point attains it, or `None` if there is none.
    pub upper: Option<(Rational, bool)>,
    /// Whether the polyhedron is empty; both bounds are then `None`.
    pub empty: bool,
}

impl Bounds {
    /// Whether the polyhedron has no point, so that there is nothing to bound.
    pub fn is_empty(&self) -> bool {
        self.empty
    }

    /// The constraints that an expression lies within these bounds, the lower one first.
    pub fn constraints(&self, expression: &LinearExpression) -> impl Iterator<Item = Constraint> + use<> {
        let is_at_least = |a: &LinearExpression, b: &LinearExpression, is_attained: bool| {
            let relation = if is_attained { Relation::AtLeast } else { Relation::Greater };
            Constraint::from_expression(&a.minus(b), relation)
        };
        let end = |bound: &RangeBound| {
            let (value, is_attained) = bound.clone()?;
            Some((LinearExpression::constant(value), is_attained))
        };
        let lower = end(&self.lower).map(|(low, is_attained)| is_at_least(expression, &low, is_attained));
        let upper = end(&self.upper).map(|(high, is_attained)| is_at_least(&high, expression, is_attained));
        lower.into_iter().chain(upper)
    }
}

impl Polyhedron {
    /// Counts the inequalities that relate several dimensions with coefficients above `most`, as far as they
    /// are known without conversion.
    pub fn inequalities_beyond(&self, most: i64) -> usize {
        let known = |block: &Block| block.body.known_dual().flatten().cloned();
        let inequalities = self.raw().unwrap_or_default().iter().filter_map(known);
        let beyond =
            |constraints: &[Constraint]| constraints.iter().filter(|one| one.has_factor_beyond(most)).count();
        inequalities.map(|dual| beyond(&dual.constraints[dual.equalities..])).sum()
    }

    /// The range of an expression.
    /// Panics if the expression mentions a dimension that does not exist.
    pub fn bounds(&self, expression: &LinearExpression) -> Bounds {
        let row = expression.fitted(self.dimensions());
        if self.is_empty() {
            return Bounds { lower: None, upper: None, empty: true };
        }
        let blocks = self.fine().unwrap_or_default();
        let concerns = |block: &Block| block.dimensions.iter().any(|&at| !row[at + 1].is_zero());
        let concerned: Vec<usize> = (0..blocks.len()).filter(|&index| concerns(&blocks[index])).collect();
        let covered = concerned.iter().flat_map(|&index| &blocks[index].dimensions);
        let covered_count = covered.filter(|&&dimension| !row[dimension + 1].is_zero()).count();
        // A dimension of the expression that is in no block may have any value.
        if covered_count < product::support(&row).count() {
            return Bounds { lower: None, upper: None, empty: false };
        }
        let parts = concerned.iter().map(|&index| {
            let mut part = product::gather(&row, &blocks[index].dimensions);
            part[0] = Integer::ZERO;
            (&blocks[index], part)
        });
        let Bounds { lower, upper, empty } = bounds_of_sum(&row[0], parts);
        let scale = Rational::of_nonzero(Integer::ONE, expression.denominator().clone());
        let scaled = |bound: RangeBound| bound.map(|(value, attained)| (&value * &scale, attained));
        Bounds { lower: scaled(lower), upper: scaled(upper), empty }
    }
}

/// The range of the sum of a constant and, for each of some non-empty blocks, a row in its space whose own
/// constant is 0.
pub(crate) fn bounds_of_sum<'a>(constant: &Integer, parts: impl Iterator<Item = (&'a Block, Row)>) -> Bounds {
    let constant = Rational::from(constant.clone());
    let mut sum =
        Bounds { lower: Some((constant.clone(), true)), upper: Some((constant, true)), empty: false };
    for (block, part) in parts {
        let own = block.body.bounds_of_row(&part, &Integer::ONE);
        let add = |sum: RangeBound, own: RangeBound| {
            let ((a, in_a), (b, in_b)) = (sum?, own?);
            Some((&a + &b, in_a && in_b))
        };
        sum.lower = add(sum.lower, own.lower);
        sum.upper = add(sum.upper, own.upper);
    }
    sum
}
