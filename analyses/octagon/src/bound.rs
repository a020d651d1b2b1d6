//! One entry of a matrix: an upper bound that may be strict, or none.
//!
//! The inner loop of everything is `m[i][j] = min(m[i][j], m[i][k] + m[k][j])`. Bounds are ordered by value,
//! a strict one before the closed one of the same value, and no bound comes last. A sum is strict if a
//! summand is. Values are integers, since a matrix has one denominator for all its entries. They are machine
//! words while these suffice, and of any size otherwise ([`Integer`]).

use std::fmt;

use coreach_polyhedra::Integer;

/// An upper bound, strict or closed, or none. The derived order is the order of bounds.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum UpperBound {
    Finite { value: Integer, closed: bool },
    Infinite,
}

impl UpperBound {
    /// The closed bound 0.
    pub(crate) const ZERO: Self = Self::Finite { value: Integer::ZERO, closed: true };

    pub(crate) fn new(value: Integer, strict: bool) -> Self {
        Self::Finite { value, closed: !strict }
    }

    /// The value and whether the bound is strict, or `None` if there is no bound.
    pub(crate) fn parts(&self) -> Option<(&Integer, bool)> {
        match self {
            Self::Finite { value, closed } => Some((value, !closed)),
            Self::Infinite => None,
        }
    }

    pub(crate) fn is_infinite(&self) -> bool {
        matches!(self, Self::Infinite)
    }

    pub(crate) fn is_strict(&self) -> bool {
        matches!(self, Self::Finite { closed: false, .. })
    }

    pub(crate) fn is_odd(&self) -> bool {
        self.parts().is_some_and(|(value, _)| !value.is_multiple_of(&Integer::from(2)))
    }

    #[inline]
    pub(crate) fn plus(&self, other: &Self) -> Self {
        match (self.parts(), other.parts()) {
            (Some((a, is_a_strict)), Some((b, is_b_strict))) => Self::new(a + b, is_a_strict || is_b_strict),
            _ => Self::Infinite,
        }
    }

    /// The same value, strict or closed.
    pub(crate) fn with_strictness(&self, strict: bool) -> Self {
        self.parts().map_or(Self::Infinite, |(value, _)| Self::new(value.clone(), strict))
    }

    pub(crate) fn half(&self) -> Self {
        self.divided(&Integer::from(2))
    }

    pub(crate) fn times(&self, factor: &Integer) -> Self {
        self.parts().map_or(Self::Infinite, |(value, strict)| Self::new(value * factor, strict))
    }

    pub(crate) fn divided(&self, divisor: &Integer) -> Self {
        self.parts().map_or(Self::Infinite, |(value, strict)| Self::new(value.div_exact(divisor), strict))
    }

    /// Rounds down to a closed bound by a multiple of `unit`, which is positive. For multiples of `unit` it
    /// means the same as this bound.
    pub(crate) fn rounded(&self, unit: &Integer) -> Self {
        // `v < c` of integers is `v <= c - 1`.
        let closed = |(value, strict): (&Integer, bool)| value - &Integer::from(i64::from(strict));
        self.parts()
            .map(closed)
            .map_or(Self::Infinite, |value| Self::new(value.div_floor(unit) * unit, false))
    }

    /// `row[j] = min(row[j], first + rest[j])`.
    #[inline]
    pub(crate) fn relax(row: &mut [Self], first: &Self, rest: &[Self]) {
        let Some((first, is_first_strict)) = first.parts() else { return };
        for (entry, rest) in row.iter_mut().zip(rest) {
            let Some((rest, is_rest_strict)) = rest.parts() else { continue };
            let sum = Self::new(first + rest, is_first_strict || is_rest_strict);
            if sum < *entry {
                *entry = sum;
            }
        }
    }
}

impl fmt::Debug for UpperBound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            None => f.write_str("-"),
            Some((value, strict)) => write!(f, "{}{value}", if strict { "<" } else { "" }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Soundness: a strict bound is below the closed one, sums keep strictness, and rounding goes down, also
    /// beyond machine words.
    #[test]
    fn bounds_are_ordered_added_and_rounded() {
        for value in [0, 1, -1, 7, -3, i64::MAX, i64::MIN].map(Integer::from) {
            let [strict, closed] = [true, false].map(|strict| UpperBound::new(value.clone(), strict));
            let next = UpperBound::new(&value + &Integer::ONE, true);
            assert!(strict < closed && closed < next && next < UpperBound::Infinite);
            assert_eq!(strict.plus(&closed), UpperBound::new(&value + &value, true));
            assert_eq!(closed.plus(&UpperBound::Infinite), UpperBound::Infinite);
            assert_eq!(closed.plus(&closed).half(), closed);
            assert_eq!(strict.rounded(&Integer::ONE), UpperBound::new(&value - &Integer::ONE, false));
            let even = closed.rounded(&Integer::from(2));
            assert!(even <= closed && !even.is_odd() && (even == closed) != closed.is_odd());
            let mut row = [UpperBound::Infinite, strict.clone()];
            UpperBound::relax(&mut row, &closed, &[UpperBound::ZERO, UpperBound::Infinite]);
            assert_eq!(row, [closed, strict]);
        }
    }
}
