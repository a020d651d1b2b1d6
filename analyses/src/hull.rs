//! The convex hull of the values that satisfy a condition, which is read one dimension at a time.
//!
//! **Problem.** A run of a test case needs values for a stimulus's parameters, many different ones, within
//! microseconds. A solver gives one, and mostly the same simple one.
//!
//! **Method.** The condition is compiled like a transition's guard ([`crate::condition`]) and met with all
//! vectors of the types. The hull contains every satisfying vector of numbers. With a disjunction or an
//! integer hole it also contains others, so a caller checks each vector that it draws. A vector is drawn
//! coordinate by coordinate: the [`Hull::range`] of one, a value in it, [`Hull::fixed`], the range of the
//! next. Sampling a volume would be slower, and has no meaning if the hull is unbounded. **Ends**: no
//! iteration. **Costs** a conversion of a polyhedron with as many dimensions as there are parameters.

use std::collections::HashMap;

use coreach_model::iosts::{Iosts, Location};
use coreach_model::{Datum, Term};
use coreach_polyhedra::{Constraint, Integer, LinearExpression, OperationLimits, Polyhedron, Relation};
use dashu_ratio::RBig;

use crate::domains::DomainKind;
use crate::frame::Frame;
use crate::linear::{big, big_rational, rational};
use crate::places::Arrays;
use crate::scope::CompileScope;

/// The hull of a condition over numeric data.
#[derive(Clone, Debug)]
pub struct Hull {
    polyhedron: Polyhedron,
    integer: Vec<bool>,
}

/// The range of a dimension. `None`: there is no bound. The ends of an integer dimension are integers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Range {
    /// No value is below.
    pub low: Option<RBig>,
    /// No value is above.
    pub high: Option<RBig>,
}

/// Computes the hull of the values of these data that satisfy a condition. All data are numbers, and the
/// condition mentions no others. The hull contains every satisfying vector.
pub fn hull(condition: &Term, data: &[Datum]) -> Hull {
    let frame = Frame::new(&model_of_data(data), 1, Arrays::default().without_summaries());
    let (no_parameters, no_keys) = (HashMap::new(), HashMap::new());
    let compiled = CompileScope::new(&frame, &no_parameters, &no_keys).condition(condition);
    let whole = DomainKind::Polyhedra
        .implementation()
        .top(frame.dimensions())
        .meet_constraints(&frame.bounds, &frame.integer);
    let element = compiled.meet(whole, &frame.integer, frame.dimensions());
    let polyhedron = if element.is_bottom() {
        Polyhedron::empty(frame.dimensions())
    } else {
        Polyhedron::from_constraints(frame.dimensions(), element.constraints())
    };
    Hull { polyhedron, integer: frame.integer }
}

/// A model that has only these data. A frame is made from a model.
fn model_of_data(data: &[Datum]) -> Iosts {
    let locations = vec![Location::named("l")].into();
    Iosts { variables: data.to_vec(), locations, ..Iosts::default() }
}

impl Hull {
    /// The values that a dimension may have. `None`: the hull is empty.
    pub fn range(&self, dimension: usize) -> Option<Range> {
        let bounds = self.polyhedron.bounds(&LinearExpression::variable(dimension));
        if bounds.is_empty() {
            return None;
        }
        // An end of an integer that is not attained moves to the next integer.
        let is_integer = self.integer[dimension];
        let low = bounds.lower.map(|(value, is_attained)| match (is_integer, is_attained) {
            (false, _) => big_rational(&value),
            (true, true) => rational_of_integer(value.ceil()),
            (true, false) => rational_of_integer(&value.floor() + &Integer::ONE),
        });
        let high = bounds.upper.map(|(value, is_attained)| match (is_integer, is_attained) {
            (false, _) => big_rational(&value),
            (true, true) => rational_of_integer(value.floor()),
            (true, false) => rational_of_integer(&value.ceil() - &Integer::ONE),
        });
        Some(Range { low, high })
    }

    /// The hull with one dimension fixed to a value.
    pub fn fixed(&self, dimension: usize, value: &RBig) -> Hull {
        let difference =
            LinearExpression::variable(dimension).minus(&LinearExpression::constant(rational(value)));
        let constraint = Constraint::from_expression(&difference, Relation::Equal);
        let met =
            self.polyhedron.meet_constraints(&[constraint]).convert_limited(&OperationLimits::default());
        Hull { polyhedron: met.into_polyhedron(), integer: self.integer.clone() }
    }
}

fn rational_of_integer(value: Integer) -> RBig {
    RBig::from(big(&value))
}

#[cfg(test)]
mod tests {
    use coreach_model::Type;
    use coreach_model::term::node::Comparison;

    use super::*;

    fn at_least(a: &Term, b: i64) -> Term {
        Term::compare(Comparison::AtMost, &Term::int(b), a)
    }

    #[test]
    fn ranges_narrow_as_dimensions_are_fixed() {
        let (x, y) = (Datum::new("x", Type::Int), Datum::new("y", Type::Nat));
        let (tx, ty) = (Term::datum(&x), Term::datum(&y));
        // 3 <= x, x + y <= 10
        let sum = Term::compare(Comparison::AtMost, &Term::add(&tx, &ty), &Term::int(10));
        let hull = hull(&Term::and([at_least(&tx, 3), sum]), &[x, y]);
        let range = |hull: &Hull, at| hull.range(at).map(|r| (r.low, r.high));
        let int = |value: i64| Some(RBig::from(value));
        assert_eq!(range(&hull, 0), Some((int(3), int(10))));
        assert_eq!(range(&hull, 1), Some((int(0), int(7))));
        assert_eq!(range(&hull.fixed(0, &RBig::from(8)), 1), Some((int(0), int(2))));
        assert!(hull.fixed(0, &RBig::from(11)).range(0).is_none());
    }

    #[test]
    fn an_open_bound_of_an_integer_is_rounded_inwards() {
        let x = Datum::new("x", Type::Int);
        let twice = Term::multiply(&Term::int(2), &Term::datum(&x));
        let hull = hull(&Term::compare(Comparison::Less, &Term::int(3), &twice), &[x]);
        assert_eq!(hull.range(0).and_then(|range| range.low), Some(RBig::from(2)));
    }
}
