//! One entry of a matrix: an upper bound that may be strict, or none.
//!
//! **Problem.** The inner loop of everything is `m[i][j] = min(m[i][j], m[i][k] + m[k][j])` on bounds
//! `(c, strict)` ordered by value, a strict one before the closed one of the same value; a sum is strict if a
//! summand is. It must be as fast as on machine words, and never wrong near 2^63.
//!
//! **Encoding.** `c` is an integer (the matrix has one denominator for all its entries), and the bound is the
//! single number `2c + 1` if it is closed, `2c` if it is strict. Order and minimum are those of the numbers;
//! the sum of `a` and `b` is the sum of their even parts, plus 1 if both are odd.
//!
//! **Overflow.** [`Word`] keeps numbers below 2^60 in magnitude, so that a sum of two fits; a result beyond
//! is `None`, and the caller does the whole operation again on [`Wide`], whose numbers have any size and
//! whose operations always succeed.

use std::cmp::Ordering;
use std::fmt;

use coreach_polyhedra::Integer;

/// An upper bound, strict or closed, or none. `None` as a result is an overflow.
pub(crate) trait Bound: Clone + Ord + fmt::Debug + Sized {
    /// No bound, greater than all others.
    const INFINITE: Self;
    /// At most 0.
    const ZERO: Self;

    /// The bound of this value.
    fn new(value: &Integer, strict: bool) -> Option<Self>;
    /// Value and strictness; nothing if there is no bound.
    fn parts(&self) -> Option<(Integer, bool)>;
    fn is_infinite(&self) -> bool;
    fn plus(&self, other: &Self) -> Option<Self>;
    /// Whether the value is odd; no bound is even.
    fn is_odd(&self) -> bool;
    fn is_strict(&self) -> bool;
    /// The same value, strict or closed.
    fn with_strictness(&self, strict: bool) -> Self;
    /// The half of an even bound.
    fn half(&self) -> Self;
    /// The bound multiplied by a positive number.
    fn times(&self, factor: &Integer) -> Option<Self>;
    /// The bound divided by a positive divisor of its value.
    fn divided(&self, divisor: &Integer) -> Self;
    /// The greatest closed bound by a multiple of a positive number that this bound implies for such
    /// multiples.
    fn rounded(&self, unit: &Integer) -> Option<Self>;
    /// `row[j] = min(row[j], first + rest[j])`, where `first` is finite.
    fn relax(row: &mut [Self], first: &Self, rest: &[Self]) -> Option<()>;
}

/// A bound in a machine word.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Word(i64);

/// Finite encodings are smaller than this in magnitude.
const LIMIT: i64 = 1 << 60;
/// Sums that reach this have an infinite summand: finite ones stay below, and the infinite one stays above by
/// less than [`LIMIT`].
const FAR: i64 = 1 << 61;

impl Word {
    fn checked(encoded: i128) -> Option<Self> {
        let encoded = i64::try_from(encoded).ok()?;
        (-LIMIT < encoded && encoded < LIMIT).then_some(Self(encoded))
    }
}

impl fmt::Debug for Word {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.parts())
    }
}

fn show(f: &mut fmt::Formatter<'_>, parts: Option<(Integer, bool)>) -> fmt::Result {
    match parts {
        None => f.write_str("-"),
        Some((value, strict)) => write!(f, "{}{value}", if strict { "<" } else { "" }),
    }
}

impl Bound for Word {
    const INFINITE: Self = Self(1 << 62);
    const ZERO: Self = Self(1);

    fn new(value: &Integer, strict: bool) -> Option<Self> {
        Self::checked(i128::from(value.to_i64()?) * 2 + i128::from(!strict))
    }

    fn parts(&self) -> Option<(Integer, bool)> {
        (!self.is_infinite()).then(|| (Integer::from(self.0 >> 1), self.0 & 1 == 0))
    }

    #[inline]
    fn is_infinite(&self) -> bool {
        self.0 >= FAR
    }

    #[inline]
    fn plus(&self, other: &Self) -> Option<Self> {
        if self.is_infinite() || other.is_infinite() {
            return Some(Self::INFINITE);
        }
        let sum = (self.0 & !1) + (other.0 & !1) + (self.0 & other.0 & 1);
        (-LIMIT < sum && sum < LIMIT).then_some(Self(sum))
    }

    fn is_odd(&self) -> bool {
        self.0 & 2 != 0
    }

    fn is_strict(&self) -> bool {
        self.0 & 1 == 0 && !self.is_infinite()
    }

    fn with_strictness(&self, strict: bool) -> Self {
        if self.is_infinite() { *self } else { Self((self.0 & !1) | i64::from(!strict)) }
    }

    #[inline]
    fn half(&self) -> Self {
        if self.is_infinite() { *self } else { Self(((self.0 >> 2) << 1) | (self.0 & 1)) }
    }

    fn times(&self, factor: &Integer) -> Option<Self> {
        if self.is_infinite() {
            return Some(*self);
        }
        let factor = i128::from(factor.to_i64()?);
        Self::checked(i128::from(self.0 & !1) * factor + i128::from(self.0 & 1))
    }

    fn divided(&self, divisor: &Integer) -> Self {
        match divisor.to_i64() {
            Some(divisor) if !self.is_infinite() => Self((((self.0 >> 1) / divisor) << 1) | (self.0 & 1)),
            // Only 0 has a divisor beyond the words, and no bound needs none.
            _ => *self,
        }
    }

    fn rounded(&self, unit: &Integer) -> Option<Self> {
        if self.is_infinite() {
            return Some(*self);
        }
        let unit = i128::from(unit.to_i64()?);
        // `v < c` of integers is `v <= c - 1`.
        let value = i128::from(self.0 >> 1) - i128::from(self.0 & 1 == 0);
        Self::checked(value.div_euclid(unit) * unit * 2 + 1)
    }

    #[inline]
    fn relax(row: &mut [Self], first: &Self, rest: &[Self]) -> Option<()> {
        let (even, odd) = (first.0 & !1, first.0 & 1);
        let mut outside = false;
        for (entry, rest) in row.iter_mut().zip(rest) {
            let sum = even + (rest.0 & !1) + (odd & rest.0);
            if sum < entry.0.min(FAR) {
                outside |= sum <= -LIMIT || sum >= LIMIT;
                entry.0 = sum;
            }
        }
        (!outside).then_some(())
    }
}

/// A bound of any size.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct Wide(Option<Integer>);

impl Wide {
    pub(crate) fn encoded(value: &Integer, strict: bool) -> Self {
        let closed = if strict { Integer::ZERO } else { Integer::ONE };
        Self(Some(value + value + closed))
    }
}

impl fmt::Debug for Wide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        show(f, self.parts())
    }
}

impl Ord for Wide {
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Some(a), Some(b)) => a.cmp(b),
            (None, None) => Ordering::Equal,
            (None, Some(_)) => Ordering::Greater,
            (Some(_), None) => Ordering::Less,
        }
    }
}

impl PartialOrd for Wide {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Bound for Wide {
    const INFINITE: Self = Self(None);
    const ZERO: Self = Self(Some(Integer::ONE));

    fn new(value: &Integer, strict: bool) -> Option<Self> {
        Some(Self::encoded(value, strict))
    }

    fn parts(&self) -> Option<(Integer, bool)> {
        let encoded = self.0.as_ref()?;
        let value = encoded.div_floor(&Integer::from(2));
        let strict = &(&value + &value) == encoded;
        Some((value, strict))
    }

    fn is_infinite(&self) -> bool {
        self.0.is_none()
    }

    fn plus(&self, other: &Self) -> Option<Self> {
        let sum = match (self.parts(), other.parts()) {
            (Some((a, strict)), Some((b, also))) => Self::encoded(&(a + b), strict || also),
            _ => Self::INFINITE,
        };
        Some(sum)
    }

    fn is_odd(&self) -> bool {
        self.parts().is_some_and(|(value, _)| !value.is_multiple_of(&Integer::from(2)))
    }

    fn is_strict(&self) -> bool {
        self.parts().is_some_and(|(_, strict)| strict)
    }

    fn with_strictness(&self, strict: bool) -> Self {
        self.parts().map_or(Self::INFINITE, |(value, _)| Self::encoded(&value, strict))
    }

    fn half(&self) -> Self {
        self.divided(&Integer::from(2))
    }

    fn times(&self, factor: &Integer) -> Option<Self> {
        Some(
            self.parts()
                .map_or(Self::INFINITE, |(value, strict)| Self::encoded(&(value * factor.clone()), strict)),
        )
    }

    fn divided(&self, divisor: &Integer) -> Self {
        self.parts()
            .map_or(Self::INFINITE, |(value, strict)| Self::encoded(&value.div_exact(divisor), strict))
    }

    fn rounded(&self, unit: &Integer) -> Option<Self> {
        let Some((value, strict)) = self.parts() else { return Some(Self::INFINITE) };
        let value = if strict { value - Integer::ONE } else { value };
        Some(Self::encoded(&(value.div_floor(unit) * unit), false))
    }

    fn relax(row: &mut [Self], first: &Self, rest: &[Self]) -> Option<()> {
        for (entry, rest) in row.iter_mut().zip(rest) {
            if !rest.is_infinite() {
                let sum = first.plus(rest)?;
                if sum < *entry {
                    *entry = sum;
                }
            }
        }
        Some(())
    }
}

/// Does the operation on words, and if that overflows on numbers of any size.
#[expect(clippy::expect_used, reason = "wide operations always succeed")]
pub(crate) fn exact<R>(words: impl FnOnce() -> Option<R>, wide: impl FnOnce() -> Option<R>) -> R {
    words().unwrap_or_else(|| wide().expect("numbers of any size do not overflow"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Words agree with wide numbers, or say that they do not fit.
    #[test]
    fn words_are_wide_numbers() {
        let values = [0, 1, -1, 2, -3, 7, LIMIT / 2 - 1, -(LIMIT / 2) + 1, LIMIT / 2, i64::MAX, i64::MIN];
        let pairs: Vec<(Option<Word>, Wide)> = values
            .iter()
            .flat_map(|&value| [(value, false), (value, true)])
            .map(|(value, strict)| (Integer::from(value), strict))
            .map(|(value, strict)| (Word::new(&value, strict), Wide::encoded(&value, strict)))
            .chain([(Some(Word::INFINITE), Wide::INFINITE)])
            .collect();
        let same = |word: &Word, wide: &Wide| word.parts() == wide.parts();
        for (word, wide) in &pairs {
            let Some(word) = word else { continue };
            assert!(same(word, wide));
            for factor in [1, 2, 5] {
                let factor = Integer::from(factor);
                let (times, wide_times) = (word.times(&factor), wide.times(&factor).unwrap());
                assert!(times.is_none_or(|times| same(&times, &wide_times)));
                if let Some(times) = times {
                    assert!(same(&times.divided(&factor), wide));
                }
                let (rounded, wide_rounded) = (word.rounded(&factor), wide.rounded(&factor).unwrap());
                assert!(rounded.is_none_or(|rounded| same(&rounded, &wide_rounded)));
            }
            assert_eq!((word.is_odd(), word.is_strict()), (wide.is_odd(), wide.is_strict()));
            assert!(
                [false, true].iter().all(|&to| same(&word.with_strictness(to), &wide.with_strictness(to)))
            );
            for (other, wide_other) in &pairs {
                let Some(other) = other else { continue };
                assert_eq!(word.cmp(other), wide.cmp(wide_other));
                let (sum, wide_sum) = (word.plus(other), wide.plus(wide_other).unwrap());
                assert!(sum.is_none_or(|sum| same(&sum, &wide_sum)), "{word:?} {other:?}");
                if !word.is_infinite() {
                    let mut row = [Word::INFINITE];
                    let fits = Word::relax(&mut row, word, &[*other]).is_some();
                    assert_eq!(fits, sum.is_some());
                    assert!(!fits || same(&row[0], &wide_sum), "{word:?} {other:?} {row:?}");
                }
            }
        }
    }
}
