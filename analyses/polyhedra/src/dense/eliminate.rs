//! Projection by constraints, if that is cheap.
//!
//! The projection of generators drops a coordinate, but a polyhedron that is known only by constraints would
//! have to be converted first. Instead, a dimension that an equality determines can be replaced. A dimension
//! with few bounds on one side can be eliminated as J. Fourier and T. Motzkin did: each pair of a lower and
//! an upper bound gives a constraint, which is strict if one of them is. Both ways are exact, also for strict
//! constraints.
//!
//! Elimination may square the number of constraints, most of them redundant, so it is used only if their
//! number does not grow. It ends: each step removes a dimension.

use crate::dense::Dense;
use crate::linear::{Constraint, Relation};
use crate::row::{self, Row};

impl Dense {
    /// Frees some dimensions by elimination. `None`: this is not cheap.
    pub(crate) fn free_by_elimination(&self, dimensions: &[usize]) -> Option<Self> {
        if self.known_dual().is_some() {
            return None;
        }
        let (first, second) = self.known_constraints()?;
        let mut constraints: Vec<Constraint> = first.iter().chain(second).cloned().collect();
        for &dimension in dimensions {
            constraints = eliminate_column(constraints, dimension + 1)?;
        }
        Some(Self::from_fitted(self.dimensions(), constraints.into()))
    }
}

/// Eliminates a column by an equality or by pairs. `None`: there would be more constraints.
fn eliminate_column(constraints: Vec<Constraint>, column: usize) -> Option<Vec<Constraint>> {
    let (concerned, mut result): (Vec<Constraint>, Vec<Constraint>) =
        constraints.into_iter().partition(|constraint| !constraint.row()[column].is_zero());
    let is_equality = |(_, constraint): &(usize, &Constraint)| constraint.relation() == Relation::Equal;
    let equalities = concerned.iter().enumerate().filter(is_equality);
    // The smallest coefficient makes the smallest numbers.
    let equality = equalities.min_by_key(|(_, constraint)| constraint.row()[column].abs());
    if let Some((index, equality)) = equality {
        let mut pivot = Row::from(equality.row());
        if pivot[column].is_negative() {
            row::negate(&mut pivot);
        }
        for (position, constraint) in concerned.iter().enumerate() {
            if position != index {
                let mut row = Row::from(constraint.row());
                row::eliminate(&mut row, &pivot, column);
                result.push(Constraint::of_row(row, constraint.relation()));
            }
        }
        return Some(result);
    }
    let (lower, upper): (Vec<_>, Vec<_>) =
        concerned.iter().partition(|constraint| constraint.row()[column].is_positive());
    // There would be more pairs than constraints that disappear.
    if lower.len() * upper.len() > lower.len() + upper.len() {
        return None;
    }
    for low in &lower {
        for high in &upper {
            let strict = [low, high].iter().any(|constraint| constraint.relation() == Relation::Greater);
            let (a, b) = (&low.row()[column], &-&high.row()[column]);
            let row = row::combine(b, low.row(), a, high.row());
            result.push(Constraint::of_row(row, if strict { Relation::Greater } else { Relation::AtLeast }));
        }
    }
    Some(result)
}
