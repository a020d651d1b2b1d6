//! Questions about a polyhedron that generators answer by evaluation.

use crate::dual::Kind;
use crate::linear::LinearExpression;
use crate::polyhedron::Polyhedron;
use crate::rational::Rational;
use crate::row;

/// A bound's value, and whether some point attains it.
type Bound = Option<(Rational, bool)>;

/// The range of a linear expression over a polyhedron.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The greatest lower bound and whether some point attains it; nothing if there is none.
    pub lower: Option<(Rational, bool)>,
    /// The least upper bound and whether some point attains it; nothing if there is none.
    pub upper: Option<(Rational, bool)>,
    /// Whether the polyhedron is empty; both bounds are then `None`.
    pub empty: bool,
}

impl Bounds {
    /// Whether the polyhedron has no point, so that there is nothing to bound.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.empty
    }
}

impl Polyhedron {
    /// The range of an expression.
    ///
    /// # Panics
    /// When the expression mentions a dimension that is not there.
    #[must_use]
    pub fn bounds(&self, expression: &LinearExpression) -> Bounds {
        let row = expression.fitted(self.dimensions());
        let Some(generators) = self.some_generators() else {
            return Bounds { lower: None, upper: None, empty: true };
        };
        let (mut lower, mut upper): (Bound, Bound) = (None, None);
        let (mut falls, mut rises) = (false, false);
        for generator in generators {
            // Directions have a 0 in the constant's column, so this is their slope.
            let value = row::dot(&row, &generator.row);
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
                    let height = &generator.row[0] * expression.denominator();
                    let value = Rational::of_nonzero(value, height);
                    let attained = generator.kind == Kind::Point;
                    improve(&mut lower, &value, attained, |new, old| new < old);
                    improve(&mut upper, &value, attained, |new, old| new > old);
                }
            }
        }
        Bounds { lower: lower.filter(|_| !falls), upper: upper.filter(|_| !rises), empty: false }
    }
}

fn improve(
    bound: &mut Bound,
    value: &Rational,
    attained: bool,
    is_better: impl Fn(&Rational, &Rational) -> bool,
) {
    match bound {
        Some((old, was_attained)) if *old == *value => *was_attained |= attained,
        Some((old, _)) if !is_better(value, old) => {}
        _ => *bound = Some((value.clone(), attained)),
    }
}
