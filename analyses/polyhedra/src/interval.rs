//! Polyhedra of one dimension, without a conversion.
//!
//! **Problem.** More than half of the blocks that an analysis converts have one dimension. They are
//! intervals, and the general way ([`crate::conversion`]) costs many times as much as finding the two bounds.
//!
//! **Method.** The tightest lower and upper bound of the constraints, or the extreme values of the
//! generators, give both descriptions, in the canonical form of the general way ([`crate::dual`]). The tests
//! compare the two ways. **Ends** and **costs**: one look at each constraint or generator.

use core::cmp::Ordering;
use std::sync::Arc;

use smallvec::smallvec;

use crate::dual::{Constraints, Dual, Generator, GeneratorRows, Kind};
use crate::integer::Integer;
use crate::linear::{Constraint, LinearExpression, Relation};
use crate::row::{self, Row};

/// One end: the value `numerator / denominator`, without common divisor, the denominator positive.
#[derive(Clone, PartialEq, Eq)]
struct IntervalEnd {
    numerator: Integer,
    denominator: Integer,
    /// Whether the value itself is left out.
    is_open: bool,
}

impl IntervalEnd {
    fn cmp_value(&self, other: &Self) -> Ordering {
        if self.denominator == other.denominator {
            return self.numerator.cmp(&other.numerator);
        }
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }

    fn relation(&self) -> Relation {
        if self.is_open { Relation::Greater } else { Relation::AtLeast }
    }

    /// `x >= value`, or `x > value`.
    fn above(&self) -> Constraint {
        let row: Row = smallvec![-&self.numerator, self.denominator.clone()];
        Constraint::of_canonical(row, self.relation())
    }

    /// `x <= value`, or `x < value`.
    fn below(&self) -> Constraint {
        let row: Row = smallvec![self.numerator.clone(), -&self.denominator];
        Constraint::of_canonical(row, self.relation())
    }

    fn generator(&self) -> Generator {
        let kind = if self.is_open { Kind::ClosurePoint } else { Kind::Point };
        Generator { kind, row: smallvec![self.denominator.clone(), self.numerator.clone()] }
    }
}

/// The lower and the upper end, as far as there are any.
#[derive(Default, PartialEq, Eq)]
struct DenseInterval {
    lower: Option<IntervalEnd>,
    upper: Option<IntervalEnd>,
}

impl DenseInterval {
    /// Intersects with a constraint that has a variable. Returns whether that cuts something off.
    fn cut(&mut self, constraint: &Constraint) -> bool {
        let [constant, coefficient] = constraint.row() else {
            unreachable!("a constraint over one dimension has two coefficients")
        };
        let is_lower = coefficient.is_positive();
        let (numerator, denominator) =
            if is_lower { (-constant, coefficient.clone()) } else { (constant.clone(), -coefficient) };
        let end = IntervalEnd { numerator, denominator, is_open: constraint.relation() == Relation::Greater };
        let is_equality = constraint.relation() == Relation::Equal;
        let mut cuts = false;
        if is_lower || is_equality {
            cuts |= take_further(&mut self.lower, &end, Ordering::Greater, /* prefers_open */ true);
        }
        if !is_lower || is_equality {
            cuts |= take_further(&mut self.upper, &end, Ordering::Less, /* prefers_open */ true);
        }
        cuts
    }

    /// Both descriptions, or `None` if the interval is empty.
    fn to_dual(&self) -> Option<Dual> {
        let ray =
            |sign: i64| Generator { kind: Kind::Ray, row: smallvec![Integer::ZERO, Integer::from(sign)] };
        let (mut equalities, mut lines) = (0, 0);
        let (constraints, mut generators): (Constraints, GeneratorRows) = match (&self.lower, &self.upper) {
            (None, None) => {
                lines = 1;
                let line = Generator { kind: Kind::Line, row: row::unit(2, 1) };
                (Constraints::new(), smallvec![line, Generator { kind: Kind::Point, row: row::unit(2, 0) }])
            }
            (Some(end), None) => (smallvec![end.above()], smallvec![ray(1), end.generator()]),
            (None, Some(end)) => (smallvec![end.below()], smallvec![ray(-1), end.generator()]),
            (Some(lower), Some(upper)) => match lower.cmp_value(upper) {
                Ordering::Greater => return None,
                Ordering::Equal if lower.is_open || upper.is_open => return None,
                Ordering::Equal => {
                    equalities = 1;
                    (smallvec![lower.above().with_relation(Relation::Equal)], smallvec![lower.generator()])
                }
                Ordering::Less => {
                    let (a, b) = (lower.generator(), upper.generator());
                    let corners = if a <= b { smallvec![a, b] } else { smallvec![b, a] };
                    (smallvec![upper.below(), lower.above()], corners)
                }
            },
        };
        let extremes = generators.len() - lines;
        // If no end belongs to the interval, the sum of its two generators is a point between them.
        if generators.iter().all(|generator| generator.kind != Kind::Point) {
            let mut row: Row = generators[0].row.iter().zip(&generators[1].row).map(|(a, b)| a + b).collect();
            row::normalise(&mut row);
            generators.push(Generator { kind: Kind::Point, row });
        }
        Some(Dual {
            equalities,
            facets: constraints.len() - equalities,
            // Only two different ends imply that the first coordinate is not negative.
            has_infinite_facet: equalities > 0 || constraints.len() < 2,
            constraints,
            lines,
            extremes,
            generators,
        })
    }
}

/// Replaces an end by a new one that is `further`. Of two equal values, the new one is taken if it is open
/// (or, without `prefers_open`, closed) and the known one is not. Returns whether it was taken.
fn take_further(
    known: &mut Option<IntervalEnd>,
    new: &IntervalEnd,
    further: Ordering,
    prefers_open: bool,
) -> bool {
    let is_better = known.as_ref().is_none_or(|known| match new.cmp_value(known) {
        Ordering::Equal => new.is_open != known.is_open && new.is_open == prefers_open,
        order => order == further,
    });
    if is_better {
        *known = Some(new.clone());
    }
    is_better
}

/// The interval of `base` (or the whole line) with more constraints, which have a variable each; `None`
/// when it is empty.
pub(crate) fn from_constraints(base: Option<&Arc<Dual>>, added: &[Constraint]) -> Option<Arc<Dual>> {
    let mut interval = DenseInterval::default();
    for constraint in base.iter().flat_map(|base| &base.constraints) {
        interval.cut(constraint);
    }
    let mut is_cut = false;
    for constraint in added {
        is_cut |= interval.cut(constraint);
    }
    match base {
        Some(base) if !is_cut => Some(Arc::clone(base)),
        _ => interval.to_dual().map(Arc::new),
    }
}

/// The smallest interval with `base` (if any) and more generators; `None` if there is no point among them
/// all.
pub(crate) fn from_generators(base: Option<&Arc<Dual>>, added: &[Generator]) -> Option<Arc<Dual>> {
    let (mut falls, mut rises) = (false, false);
    let mut hull = DenseInterval::default();
    for Generator { kind, row } in base.iter().flat_map(|base| &base.generators).chain(added) {
        match kind {
            Kind::Line => (falls, rises) = (true, true),
            Kind::Ray if row[1].is_positive() => rises = true,
            Kind::Ray => falls = true,
            Kind::Point | Kind::ClosurePoint => {
                let (mut denominator, mut numerator) = (row[0].clone(), row[1].clone());
                let gcd = denominator.gcd(&numerator);
                if !gcd.is_one() {
                    (denominator, numerator) = (denominator.div_exact(&gcd), numerator.div_exact(&gcd));
                }
                let end = IntervalEnd { numerator, denominator, is_open: *kind == Kind::ClosurePoint };
                take_further(&mut hull.lower, &end, Ordering::Less, /* prefers_open */ false);
                take_further(&mut hull.upper, &end, Ordering::Greater, /* prefers_open */ false);
            }
        }
    }
    let interval =
        DenseInterval { lower: hull.lower.filter(|_| !falls), upper: hull.upper.filter(|_| !rises) };
    let dual = interval.to_dual()?;
    match base {
        Some(base) if base.constraints == dual.constraints => Some(Arc::clone(base)),
        _ => Some(Arc::new(dual)),
    }
}

/// The image of an interval under `x' = expression`.
pub(crate) fn image(dual: &Arc<Dual>, expression: &LinearExpression) -> Option<Arc<Dual>> {
    let row = expression.row();
    let (constant, denominator) = (&row[0], expression.denominator());
    let Some(slope) = row.get(1).filter(|slope| !slope.is_zero()) else {
        let point: Row = smallvec![-constant, denominator.clone()];
        return from_constraints(None, &[Constraint::of_row(point, Relation::Equal)]);
    };
    // x' = (a x + k) / d, so x = (d x' - k) / a, and c x + e >= 0 is (c d x' + a e - c k) / a >= 0.
    let move_constraint = |constraint: &Constraint| {
        let (coefficient, free) = (&constraint.row()[1], &constraint.row()[0]);
        let mut row: Row = smallvec![slope * free - coefficient * constant, coefficient * denominator];
        if slope.is_negative() {
            row::negate(&mut row);
        }
        Constraint::of_row(row, constraint.relation())
    };
    let moved: Constraints = dual.constraints.iter().map(move_constraint).collect();
    from_constraints(None, &moved)
}

/// The values from which `x' = expression` leads into an interval.
pub(crate) fn preimage(dual: &Arc<Dual>, expression: &LinearExpression) -> Option<Arc<Dual>> {
    let row = expression.row();
    let (constant, slope) = (&row[0], row.get(1).cloned().unwrap_or(Integer::ZERO));
    // With x' = (a x + k) / d, c x' + e >= 0 is (c a x + c k + e d) / d >= 0.
    let mut moved = Constraints::new();
    for constraint in &dual.constraints {
        let (coefficient, free) = (&constraint.row()[1], &constraint.row()[0]);
        let row: Row =
            smallvec![coefficient * constant + free * expression.denominator(), coefficient * &slope];
        let constraint = Constraint::of_row(row, constraint.relation());
        match constraint.trivial() {
            Some(true) => {}
            Some(false) => return None,
            None => moved.push(constraint),
        }
    }
    from_constraints(None, &moved)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::budget::RowBudget;
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

    /// Writes all parts of a double description.
    fn dual_text(dual: Option<&Dual>) -> String {
        format!("{dual:?}")
    }

    /// The shortcut for intervals and the general conversion give the same two descriptions: from constraints
    /// and from generators, with a base and without.
    #[test]
    fn intervals_agree_with_the_general_conversion() {
        let all = constraints();
        let mut duals: Vec<Arc<Dual>> = Vec::new();
        let general = |base: Option<&Arc<Dual>>, added: &[Constraint]| {
            dual::from_constraints(1, base, added, &RowBudget::unlimited()).unwrap()
        };
        for a in &all {
            for b in &all {
                let added = [a.clone(), b.clone()];
                let (own, other) = (from_constraints(None, &added), general(None, &added));
                assert_eq!(dual_text(own.as_deref()), dual_text(other.as_deref()), "{added:?}");
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
                assert_eq!(dual_text(own.as_deref()), dual_text(other.as_deref()), "{base:?} {added:?}");
            }
            for other in &duals {
                let own = from_generators(Some(base), &other.generators);
                let general = |base, added: &[Generator]| {
                    dual::from_generators(1, base, added, &RowBudget::unlimited()).unwrap()
                };
                assert_eq!(
                    dual_text(own.as_deref()),
                    dual_text(Some(&general(Some(base), &other.generators)))
                );
                let both: Vec<Generator> = base.generators.iter().chain(&other.generators).cloned().collect();
                let own = from_generators(None, &both);
                assert_eq!(dual_text(own.as_deref()), dual_text(Some(&general(None, &both))), "{both:?}");
            }
        }
    }
}
