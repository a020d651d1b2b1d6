//! Questions about a polyhedron that generators answer by evaluation.

use crate::dense::Dense;
use crate::dual::Kind;
use crate::integer::Integer;
use crate::linear::LinearExpression;
use crate::query::{Bounds, RangeBound};
use crate::rational::Rational;
use crate::row;

impl Dense {
    /// The range of an expression.
    /// Panics if the expression mentions a dimension that does not exist.
    pub fn bounds(&self, expression: &LinearExpression) -> Bounds {
        self.bounds_of_row(&expression.fitted(self.dimensions()), expression.denominator())
    }

    /// The range of a row divided by a positive number.
    pub(crate) fn bounds_of_row(&self, row: &[Integer], denominator: &Integer) -> Bounds {
        let Some(generators) = self.some_generators() else {
            return Bounds { lower: None, upper: None, empty: true };
        };
        let (mut lower, mut upper) = (BestBound::default(), BestBound::default());
        let (mut falls, mut rises) = (false, false);
        for generator in generators {
            // Directions have a 0 in the constant's column, so this is their slope.
            let value = row::dot(row, &generator.row);
            match generator.kind {
                Kind::Line => {
                    falls |= !value.is_zero();
                    rises |= !value.is_zero();
                }
                Kind::Ray => {
                    falls |= value.is_negative();
                    rises |= value.is_positive();
                }
                Kind::Point | Kind::ClosurePoint => {
                    let attained = generator.kind == Kind::Point;
                    lower.improve(-1, &value, &generator.row[0], attained);
                    upper.improve(1, &value, &generator.row[0], attained);
                }
            }
        }
        Bounds {
            lower: lower.bound(denominator).filter(|_| !falls),
            upper: upper.bound(denominator).filter(|_| !rises),
            empty: false,
        }
    }
}

impl Dense {
    /// The greatest lower bound of a row and whether it is attained, or `None` if there is no lower bound.
    /// The bound is a fraction with a positive denominator, and need not be reduced. The polyhedron must not
    /// be empty.
    pub(crate) fn least_of_row(&self, row: &[Integer]) -> Option<(Integer, Integer, bool)> {
        let mut least = BestBound::default();
        for generator in self.some_generators()? {
            let value = row::dot(row, &generator.row);
            match generator.kind {
                Kind::Line if !value.is_zero() => return None,
                Kind::Ray if value.is_negative() => return None,
                Kind::Line | Kind::Ray => {}
                Kind::Point | Kind::ClosurePoint => {
                    least.improve(-1, &value, &generator.row[0], generator.kind == Kind::Point);
                }
            }
        }
        least.0
    }
}

/// The best value so far, as a fraction that is not reduced: to compare two of them takes two products and
/// no common divisor.
#[derive(Default)]
struct BestBound(Option<(Integer, Integer, bool)>);

impl BestBound {
    /// Takes over a fraction with positive denominator if it is better than the best one so far.
    /// Larger ones are better with `direction` 1, smaller ones with -1.
    fn improve(&mut self, direction: i32, numerator: &Integer, denominator: &Integer, attained: bool) {
        if let Some((old, height, was_attained)) = &mut self.0 {
            let order = if denominator == height {
                numerator.cmp(old)
            } else {
                (numerator * &*height).cmp(&(&*old * denominator))
            };
            let gain = order as i32 * direction;
            *was_attained |= gain == 0 && attained;
            if gain <= 0 {
                return;
            }
        }
        self.0 = Some((numerator.clone(), denominator.clone(), attained));
    }

    fn bound(self, scale: &Integer) -> RangeBound {
        let (numerator, denominator, attained) = self.0?;
        Some((Rational::of_nonzero(numerator, &denominator * scale), attained))
    }
}
