//! Boxes: one interval per dimension, with exact ends, each open or closed.
//!
//! They are the lattice of intervals of Cousot & Cousot (POPL 1977, <https://doi.org/10.1145/512950.512973>).
//! A linear constraint is met by propagation: in `Σ c_i x_i + k >= 0` each `c_i x_i` is at least `-k` minus
//! the greatest value of the other terms. Propagation is repeated a fixed number of times: two constraints
//! may feed each other for ever (`x > y`, `y > x` over unbounded integers), and stopping early is sound.
//! Integer dimensions are rounded inwards.
//!
//! Cost: linear in the sum of the constraints' lengths.

use std::cmp::Ordering;

use coreach_polyhedra::{Constraint, Integer, LinearExpression, Rational, Relation};

use crate::domains::{Assignments, Domain};
use crate::linear::constant_truth;

/// An end of an interval: its value, and whether the interval is open there. `None` is infinite.
type RangeEnd = Option<(Rational, bool)>;

/// The values between two ends.
#[derive(Clone, PartialEq, Eq, Debug)]
struct IntervalRange {
    low: RangeEnd,
    high: RangeEnd,
}

/// A product of intervals, or nothing.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Intervals {
    /// `None` is bottom. Otherwise no range is empty.
    ranges: Option<Vec<IntervalRange>>,
    dimensions: usize,
}

impl IntervalRange {
    const ALL: IntervalRange = IntervalRange { low: None, high: None };

    fn is_empty(&self) -> bool {
        match (&self.low, &self.high) {
            (Some((low, open)), Some((high, also_open))) => match low.cmp(high) {
                Ordering::Greater => true,
                Ordering::Equal => *open || *also_open,
                Ordering::Less => false,
            },
            _ => false,
        }
    }

    fn scaled(&self, factor: &Rational) -> IntervalRange {
        let end = |end: &RangeEnd| end.as_ref().map(|(value, open)| (value * factor, *open));
        match factor.signum() {
            0 => IntervalRange { low: Some((Rational::ZERO, false)), high: Some((Rational::ZERO, false)) },
            1 => IntervalRange { low: end(&self.low), high: end(&self.high) },
            _ => IntervalRange { low: end(&self.high), high: end(&self.low) },
        }
    }

    fn plus(&self, other: &IntervalRange) -> IntervalRange {
        IntervalRange { low: add_ends(&self.low, &other.low), high: add_ends(&self.high, &other.high) }
    }

    /// Rounds the ends inwards to integers.
    fn round_inwards(&mut self) {
        if let Some((value, open)) = &mut self.low {
            let whole = if *open { value.floor() + Integer::ONE } else { value.ceil() };
            (*value, *open) = (Rational::from(whole), false);
        }
        if let Some((value, open)) = &mut self.high {
            let whole = if *open { value.ceil() - Integer::ONE } else { value.floor() };
            (*value, *open) = (Rational::from(whole), false);
        }
    }
}

/// The end of a sum, from the ends of its terms on the same side.
fn add_ends(a: &RangeEnd, b: &RangeEnd) -> RangeEnd {
    let ((a, a_open), (b, b_open)) = (a.as_ref()?, b.as_ref()?);
    Some((a + b, *a_open || *b_open))
}

/// Is the low end `a` at or below the low end `b`?
fn low_is_leq(a: &RangeEnd, b: &RangeEnd) -> bool {
    match (a, b) {
        (None, _) => true,
        (Some(_), None) => false,
        (Some((a, a_open)), Some((b, b_open))) => match a.cmp(b) {
            Ordering::Less => true,
            Ordering::Equal => !a_open || *b_open,
            Ordering::Greater => false,
        },
    }
}

/// Is the high end `a` at or below the high end `b`?
fn high_is_leq(a: &RangeEnd, b: &RangeEnd) -> bool {
    match (a, b) {
        (_, None) => true,
        (None, Some(_)) => false,
        (Some((a, a_open)), Some((b, b_open))) => match a.cmp(b) {
            Ordering::Less => true,
            Ordering::Equal => *a_open || !b_open,
            Ordering::Greater => false,
        },
    }
}

fn max_low(a: &RangeEnd, b: &RangeEnd) -> RangeEnd {
    if low_is_leq(a, b) { b.clone() } else { a.clone() }
}

fn min_high(a: &RangeEnd, b: &RangeEnd) -> RangeEnd {
    if high_is_leq(a, b) { a.clone() } else { b.clone() }
}

impl Intervals {
    fn of(ranges: Vec<IntervalRange>) -> Self {
        let dimensions = ranges.len();
        let empty = ranges.iter().any(IntervalRange::is_empty);
        Intervals { ranges: (!empty).then_some(ranges), dimensions }
    }

    /// Changes the ranges, unless there are none because the set is empty.
    fn map(&self, change: impl FnOnce(&[IntervalRange]) -> Vec<IntervalRange>) -> Self {
        self.ranges.as_ref().map_or_else(|| self.clone(), |ranges| Intervals::of(change(ranges)))
    }
}

/// The range of an expression over these ranges.
fn range_of(expression: &LinearExpression, ranges: &[IntervalRange]) -> IntervalRange {
    let constant = Some((expression.constant_term(), false));
    let mut sum = IntervalRange { low: constant.clone(), high: constant };
    for (dimension, range) in ranges.iter().enumerate() {
        let coefficient = expression.coefficient(dimension);
        if !coefficient.is_zero() {
            sum = sum.plus(&range.scaled(&coefficient));
        }
    }
    sum
}

/// Narrows the ranges by one constraint. Returns whether something changed.
fn propagate(constraint: &Constraint, ranges: &mut [IntervalRange], integer: &[bool]) -> bool {
    let coefficients = constraint.coefficients();
    let used: Vec<usize> = (0..coefficients.len()).filter(|at| !coefficients[*at].is_zero()).collect();
    let mut changed = false;
    // An equality is two inequalities.
    let signs: &[i64] = if constraint.relation() == Relation::Equal { &[1, -1] } else { &[1] };
    for &sign in signs {
        let sign = Rational::from(sign);
        let factor = |dimension: usize| &Rational::from(coefficients[dimension].clone()) * &sign;
        let constant = Some((&Rational::from(constraint.constant().clone()) * &sign, false));
        let greatest: Vec<RangeEnd> = used.iter().map(|at| ranges[*at].scaled(&factor(*at)).high).collect();
        for (place, &dimension) in used.iter().enumerate() {
            // `factor * x >= -(constant + the greatest values of the other terms)`
            let others = greatest[..place].iter().chain(&greatest[place + 1..]);
            let Some((sum, is_open)) = others.fold(constant.clone(), |sum, end| add_ends(&sum, end)) else {
                continue;
            };
            let factor = factor(dimension);
            let Some(bound) = (-&sum).checked_div(&factor) else { continue };
            let end = Some((bound, is_open || constraint.relation() == Relation::Greater));
            let range = &mut ranges[dimension];
            let old_range = range.clone();
            if factor.signum() > 0 {
                range.low = max_low(&range.low, &end);
            } else {
                range.high = min_high(&range.high, &end);
            }
            if integer.get(dimension) == Some(&true) {
                range.round_inwards();
            }
            changed |= *range != old_range;
        }
    }
    changed
}

impl Domain for Intervals {
    const RELATES: bool = false;

    fn top(dimensions: usize) -> Self {
        Intervals { ranges: Some(vec![IntervalRange::ALL; dimensions]), dimensions }
    }

    fn bottom(dimensions: usize) -> Self {
        Intervals { ranges: None, dimensions }
    }

    fn is_bottom(&self) -> bool {
        self.ranges.is_none()
    }

    fn is_leq(&self, other: &Self) -> bool {
        match (&self.ranges, &other.ranges) {
            (None, _) => true,
            (Some(_), None) => false,
            (Some(a), Some(b)) => {
                a.iter().zip(b).all(|(a, b)| low_is_leq(&b.low, &a.low) && high_is_leq(&a.high, &b.high))
            }
        }
    }

    fn join(&self, other: &Self) -> Self {
        let (Some(a), Some(b)) = (&self.ranges, &other.ranges) else {
            return if self.is_bottom() { other.clone() } else { self.clone() };
        };
        let hull = |(a, b): (&IntervalRange, &IntervalRange)| IntervalRange {
            low: if low_is_leq(&a.low, &b.low) { &a.low } else { &b.low }.clone(),
            high: if high_is_leq(&a.high, &b.high) { &b.high } else { &a.high }.clone(),
        };
        Intervals::of(a.iter().zip(b).map(hull).collect())
    }

    fn meet(&self, other: &Self, integer: &[bool]) -> Self {
        let (Some(a), Some(b)) = (&self.ranges, &other.ranges) else {
            return Intervals::bottom(self.dimensions);
        };
        let intersect = |(dimension, (a, b)): (usize, (&IntervalRange, &IntervalRange))| {
            let mut range = IntervalRange { low: max_low(&a.low, &b.low), high: min_high(&a.high, &b.high) };
            if integer.get(dimension) == Some(&true) {
                range.round_inwards();
            }
            range
        };
        Intervals::of(a.iter().zip(b).enumerate().map(intersect).collect())
    }

    fn widen(&self, other: &Self, thresholds: &[Constraint]) -> Self {
        let (Some(old), Some(new)) = (&self.ranges, &other.ranges) else { return self.join(other) };
        let widen = |(dimension, (old, new)): (usize, (&IntervalRange, &IntervalRange))| IntervalRange {
            low: match low_is_leq(&old.low, &new.low) {
                true => old.low.clone(),
                false => step_down(dimension, &new.low, thresholds),
            },
            high: match high_is_leq(&new.high, &old.high) {
                true => old.high.clone(),
                false => step_up(dimension, &new.high, thresholds),
            },
        };
        Intervals::of(old.iter().zip(new).enumerate().map(widen).collect())
    }

    fn meet_constraints(&self, constraints: &[Constraint], integer: &[bool]) -> Self {
        if constraints.iter().any(|constraint| constant_truth(constraint) == Some(false)) {
            return Intervals::bottom(self.dimensions);
        }
        self.map(|ranges| {
            let mut ranges = ranges.to_vec();
            // Any number of passes is sound. Four bound the time.
            for _ in 0..4 {
                let mut changed = false;
                for constraint in constraints {
                    changed |= propagate(constraint, &mut ranges, integer);
                    if ranges.iter().any(IntervalRange::is_empty) {
                        return ranges;
                    }
                }
                if !changed {
                    break;
                }
            }
            ranges
        })
    }

    fn assign(&self, assignments: &Assignments) -> Self {
        self.map(|ranges| {
            let mut next = ranges.to_vec();
            for (dimension, expression) in assignments {
                next[*dimension] =
                    expression.as_ref().map_or(IntervalRange::ALL, |expression| range_of(expression, ranges));
            }
            next
        })
    }

    fn substitute(&self, assignments: &Assignments) -> Self {
        let Some(ranges) = &self.ranges else { return self.clone() };
        let (mut before, mut constraints) = (ranges.clone(), Vec::new());
        for (dimension, expression) in assignments {
            before[*dimension] = IntervalRange::ALL;
            let values = expression.iter();
            constraints.extend(values.flat_map(|value| end_constraints(value, &ranges[*dimension])));
        }
        // Rounding is left to the meets: nothing here knows which dimensions are integers.
        Intervals::of(before).meet_constraints(&constraints, &[])
    }

    fn forget(&self, dimensions: &[usize]) -> Self {
        self.assign(&dimensions.iter().map(|dimension| (*dimension, None)).collect::<Vec<_>>())
    }

    fn add_dimensions(&self, count: usize) -> Self {
        let dimensions = self.dimensions + count;
        let padded = |ranges: &Vec<IntervalRange>| {
            ranges.iter().cloned().chain(vec![IntervalRange::ALL; count]).collect()
        };
        Intervals { ranges: self.ranges.as_ref().map(padded), dimensions }
    }

    fn remove_last_dimensions(&self, count: usize) -> Self {
        let dimensions = self.dimensions - count;
        Intervals { ranges: self.ranges.as_ref().map(|ranges| ranges[..dimensions].to_vec()), dimensions }
    }

    fn constraints(&self) -> Vec<Constraint> {
        let Some(ranges) = &self.ranges else { return Vec::new() };
        let mut constraints = Vec::new();
        for (dimension, range) in ranges.iter().enumerate() {
            let variable = LinearExpression::variable(dimension);
            match (&range.low, &range.high) {
                (Some((low, _)), Some((high, _))) if low == high => {
                    let difference = variable.minus(&LinearExpression::constant(low.clone()));
                    constraints.push(Constraint::from_expression(&difference, Relation::Equal));
                }
                _ => constraints.extend(end_constraints(&variable, range)),
            }
        }
        constraints
    }
}

/// The constraints that an expression lies in a range: one for each end, the low one first.
fn end_constraints(expression: &LinearExpression, range: &IntervalRange) -> impl Iterator<Item = Constraint> {
    let constant = |value: &Rational| LinearExpression::constant(value.clone());
    let low = range.low.as_ref().map(|(low, open)| (expression.minus(&constant(low)), *open));
    let high = range.high.as_ref().map(|(high, open)| (constant(high).minus(expression), *open));
    low.into_iter().chain(high).map(|(difference, is_open)| {
        let relation = if is_open { Relation::Greater } else { Relation::AtLeast };
        Constraint::from_expression(&difference, relation)
    })
}

/// The lower bounds (or, if `is_upper`, the upper ones) that thresholds put on one dimension alone.
fn bounds_on(dimension: usize, is_upper: bool, thresholds: &[Constraint]) -> impl Iterator<Item = RangeEnd> {
    thresholds.iter().filter_map(move |threshold| {
        let coefficients = threshold.coefficients();
        let is_alone = coefficients.iter().enumerate().all(|(at, c)| (at == dimension) != c.is_zero());
        let coefficient = coefficients.get(dimension).filter(|_| is_alone)?;
        let is_on_side = threshold.relation() == Relation::Equal || coefficient.is_negative() == is_upper;
        let value = Rational::new(-threshold.constant(), coefficient.clone()).filter(|_| is_on_side)?;
        Some(Some((value, threshold.relation() == Relation::Greater)))
    })
}

/// The nearest threshold at or below the end, or no bound.
fn step_down(dimension: usize, end: &RangeEnd, thresholds: &[Constraint]) -> RangeEnd {
    let below = bounds_on(dimension, /* is_upper */ false, thresholds).filter(|bound| low_is_leq(bound, end));
    below.fold(None, |nearest, bound| max_low(&nearest, &bound))
}

/// The nearest threshold at or above the end, or no bound.
fn step_up(dimension: usize, end: &RangeEnd, thresholds: &[Constraint]) -> RangeEnd {
    let above = bounds_on(dimension, /* is_upper */ true, thresholds).filter(|bound| high_is_leq(end, bound));
    above.fold(None, |nearest, bound| min_high(&nearest, &bound))
}
