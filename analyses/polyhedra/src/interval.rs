//! Polyhedra of one dimension, without a conversion.
//!
//! **Problem.** More than half of the blocks that a program's analysis converts have one dimension.
//! They are intervals: both descriptions are at hand, and the general way ([`crate::conversion`])
//! costs many times what finding the two bounds does.
//!
//! **Method.** The tightest lower and upper bound of the constraints, or the extreme values of the
//! generators; then both descriptions in the canonical form that the general way would have found
//! ([`crate::dual`]). The tests compare the two ways.
//!
//! **Ends** and **costs**: one look at each constraint or generator.

use core::cmp::Ordering;
use std::sync::Arc;

use smallvec::smallvec;

use crate::dual::{Dual, Generator, Kind};
use crate::integer::Integer;
use crate::linear::{Constraint, Relation};
use crate::row::{self, Row};

/// One end: the value `numerator / denominator`, without common divisor, the denominator positive.
#[derive(Clone, PartialEq, Eq)]
struct End {
    numerator: Integer,
    denominator: Integer,
    /// Whether the value itself is left out.
    is_open: bool,
}

impl End {
    fn cmp_value(&self, other: &Self) -> Ordering {
        if self.denominator == other.denominator {
            return self.numerator.cmp(&other.numerator);
        }
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }

    /// The constraint `x >= value` or `x > value` (`sign` 1), or the same with `<=` and `<` (-1).
    fn constraint(&self, sign: i32) -> Constraint {
        let row: Row = if sign > 0 {
            smallvec![-&self.numerator, self.denominator.clone()]
        } else {
            smallvec![self.numerator.clone(), -&self.denominator]
        };
        Constraint::of_canonical(row, if self.is_open { Relation::Greater } else { Relation::AtLeast })
    }

    fn generator(&self) -> Generator {
        let kind = if self.is_open { Kind::ClosurePoint } else { Kind::Point };
        Generator { kind, row: smallvec![self.denominator.clone(), self.numerator.clone()] }
    }
}

/// The lower and the upper end, as far as there are any.
#[derive(Default, PartialEq, Eq)]
struct Interval {
    lower: Option<End>,
    upper: Option<End>,
}

impl Interval {
    fn of(dual: &Dual) -> Self {
        let mut result = Self::default();
        dual.constraints.iter().for_each(|constraint| result.cut(constraint));
        result
    }

    /// Intersects with a constraint that has a variable.
    fn cut(&mut self, constraint: &Constraint) {
        let [constant, coefficient] = constraint.row() else {
            unreachable!("a constraint over one dimension has two coefficients")
        };
        let is_open = constraint.relation() == Relation::Greater;
        let end = if coefficient.is_positive() {
            End { numerator: -constant, denominator: coefficient.clone(), is_open }
        } else {
            End { numerator: constant.clone(), denominator: -coefficient, is_open }
        };
        let is_both = constraint.relation() == Relation::Equal;
        if is_both || coefficient.is_positive() {
            tighten(&mut self.lower, &end, Ordering::Greater);
        }
        if is_both || !coefficient.is_positive() {
            tighten(&mut self.upper, &end, Ordering::Less);
        }
    }

    fn is_empty(&self) -> bool {
        let (Some(lower), Some(upper)) = (&self.lower, &self.upper) else { return false };
        match lower.cmp_value(upper) {
            Ordering::Less => false,
            Ordering::Equal => lower.is_open || upper.is_open,
            Ordering::Greater => true,
        }
    }

    /// Both descriptions of an interval that is not empty.
    fn to_dual(&self) -> Dual {
        let line = || Generator { kind: Kind::Line, row: row::unit(2, 1) };
        let origin = || Generator { kind: Kind::Point, row: row::unit(2, 0) };
        let ray = |sign: i64| Generator { kind: Kind::Ray, row: smallvec![Integer::ZERO, Integer::from(sign)] };
        // Strict at all its corners, an interval is made of a point in its middle.
        let middle = |a: &Generator, b: &Generator| {
            let mut row: Row = a.row.iter().zip(&b.row).map(|(a, b)| a + b).collect();
            row::normalise(&mut row);
            Generator { kind: Kind::Point, row }
        };
        let (equalities, constraints, lines, mut generators) = match (&self.lower, &self.upper) {
            (None, None) => (0, Vec::new(), 1, vec![line(), origin()]),
            (Some(end), None) => (0, vec![end.constraint(1)], 0, vec![ray(1), end.generator()]),
            (None, Some(end)) => (0, vec![end.constraint(-1)], 0, vec![ray(-1), end.generator()]),
            (Some(lower), Some(upper)) if lower.cmp_value(upper) == Ordering::Equal => {
                let mut row: Row = smallvec![-&lower.numerator, lower.denominator.clone()];
                row::normalise(&mut row);
                (1, vec![Constraint::of_canonical(row, Relation::Equal)], 0, vec![lower.generator()])
            }
            (Some(lower), Some(upper)) => {
                let mut constraints = vec![lower.constraint(1), upper.constraint(-1)];
                constraints.sort_unstable();
                let mut generators = vec![lower.generator(), upper.generator()];
                generators.sort_unstable();
                (0, constraints, 0, generators)
            }
        };
        let extremes = generators.len() - lines;
        if generators.iter().all(|generator| generator.kind != Kind::Point) {
            generators.push(middle(&generators[0], &generators[generators.len() - 1]));
        }
        Dual {
            equalities,
            facets: constraints.len() - equalities,
            has_infinite_facet: equalities > 0 || constraints.len() < 2,
            constraints,
            lines,
            extremes,
            generators,
        }
    }
}

/// Replaces `end` by one that is `further`, or at the same value open where `end` is not.
fn tighten(end: &mut Option<End>, by: &End, further: Ordering) {
    let is_better = end.as_ref().is_none_or(|end| match by.cmp_value(end) {
        Ordering::Equal => by.is_open && !end.is_open,
        order => order == further,
    });
    if is_better {
        *end = Some(by.clone());
    }
}

/// Replaces `end` by one that is `further`, or at the same value closed where `end` is not.
fn extend(end: &mut Option<End>, by: &End, further: Ordering) {
    let is_better = end.as_ref().is_none_or(|end| match by.cmp_value(end) {
        Ordering::Equal => end.is_open && !by.is_open,
        order => order == further,
    });
    if is_better {
        *end = Some(by.clone());
    }
}

/// The interval of `base` (or the whole line) with more constraints, which have a variable each; `None`
/// when it is empty.
pub(crate) fn from_constraints(base: Option<&Arc<Dual>>, added: &[Constraint]) -> Option<Arc<Dual>> {
    let mut interval = base.map_or_else(Interval::default, |base| Interval::of(base));
    added.iter().for_each(|constraint| interval.cut(constraint));
    if interval.is_empty() {
        return None;
    }
    let dual = interval.to_dual();
    match base {
        Some(base) if base.constraints == dual.constraints => Some(Arc::clone(base)),
        _ => Some(Arc::new(dual)),
    }
}

/// The smallest interval with `base` (if any) and more generators, a point among them.
pub(crate) fn from_generators(base: Option<&Arc<Dual>>, added: &[Generator]) -> Arc<Dual> {
    let (mut falls, mut rises) = (false, false);
    let mut hull = Interval::default();
    for Generator { kind, row } in base.iter().flat_map(|base| &base.generators).chain(added) {
        match kind {
            Kind::Line => (falls, rises) = (true, true),
            Kind::Ray if row[1].is_positive() => rises = true,
            Kind::Ray => falls = true,
            Kind::Point | Kind::ClosurePoint => {
                let gcd = row[0].gcd(&row[1]);
                let end = End {
                    numerator: row[1].div_exact(&gcd),
                    denominator: row[0].div_exact(&gcd),
                    is_open: *kind == Kind::ClosurePoint,
                };
                extend(&mut hull.lower, &end, Ordering::Less);
                extend(&mut hull.upper, &end, Ordering::Greater);
            }
        }
    }
    let interval =
        Interval { lower: hull.lower.filter(|_| !falls), upper: hull.upper.filter(|_| !rises) };
    match base {
        Some(base) if Interval::of(base) == interval => Arc::clone(base),
        _ => Arc::new(interval.to_dual()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::Budget;
    use crate::dual;

    /// All constraints with small numbers, over one dimension.
    fn constraints() -> Vec<Constraint> {
        let mut all = Vec::new();
        for coefficient in [-2, -1, 1, 3] {
            for constant in -2..=2 {
                for relation in [Relation::Equal, Relation::AtLeast, Relation::Greater] {
                    all.push(Constraint::of(&[coefficient], constant, relation));
                }
            }
        }
        all.sort();
        all.dedup();
        all
    }

    /// All there is to a double description.
    fn shown(dual: Option<&Dual>) -> String {
        format!("{dual:?}")
    }

    /// Both descriptions are those of the general way, from constraints and from generators, with a base
    /// and without.
    #[test]
    fn as_in_general() {
        let all = constraints();
        let mut duals: Vec<Arc<Dual>> = Vec::new();
        let general = |base: Option<&Arc<Dual>>, added: &[Constraint]| {
            dual::from_constraints(1, base, added, &Budget::unlimited()).unwrap()
        };
        for a in &all {
            for b in &all {
                let added = [a.clone(), b.clone()];
                let (own, other) = (from_constraints(None, &added), general(None, &added));
                assert_eq!(shown(own.as_deref()), shown(other.as_deref()), "{added:?}");
                duals.extend(own);
            }
        }
        duals.push(general(None, &[]).unwrap());
        duals.sort_by_key(|dual| dual.constraints.clone());
        duals.dedup_by_key(|dual| dual.constraints.clone());
        assert!(duals.len() > 100, "{} intervals", duals.len());
        for base in &duals {
            for constraint in &all {
                let added = core::slice::from_ref(constraint);
                let (own, other) = (from_constraints(Some(base), added), general(Some(base), added));
                assert_eq!(shown(own.as_deref()), shown(other.as_deref()), "{base:?} {added:?}");
            }
            for other in &duals {
                let own = from_generators(Some(base), &other.generators);
                let general = |base, added: &[Generator]| {
                    dual::from_generators(1, base, added, &Budget::unlimited()).unwrap()
                };
                assert_eq!(shown(Some(&own)), shown(Some(&general(Some(base), &other.generators))));
                let both: Vec<Generator> = base.generators.iter().chain(&other.generators).cloned().collect();
                let own = from_generators(None, &both);
                assert_eq!(shown(Some(&own)), shown(Some(&general(None, &both))), "{both:?}");
            }
        }
    }
}
