//! Exact integers that are machine words almost always.
//!
//! Nearly all coefficients in program analysis fit 64 bits, but no bound holds for all of them: one
//! combination of two rows may double their length. So every operation is tried on `i64` (products in
//! `i128`), and is done on a big integer only if the result does not fit. A number that fits `i64` is never
//! stored as a big one. So equality and hashing are structural, and an overflow never changes an answer.

use core::cmp::Ordering;
use core::fmt;
use core::ops::{Add, Mul, Neg, Sub};

use dashu_base::{Gcd, Signed};
use dashu_int::IBig;

/// An integer of any size.
///
/// ```
/// use coreach_polyhedra::Integer;
/// let big = Integer::from(i64::MAX) + Integer::from(1);
/// assert_eq!(big.to_string(), "9223372036854775808");
/// assert_eq!((big - Integer::from(1)).to_i64(), Some(i64::MAX));
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Integer(Repr);

#[derive(Clone, PartialEq, Eq, Hash)]
enum Repr {
    Small(i64),
    /// Never holds a value that fits `i64`.
    Big(Box<IBig>),
}

impl Integer {
    /// The number 0.
    pub const ZERO: Self = Self(Repr::Small(0));
    /// The number 1.
    pub const ONE: Self = Self(Repr::Small(1));

    /// The value, if it fits 64 bits.
    #[inline]
    pub fn to_i64(&self) -> Option<i64> {
        match &self.0 {
            Repr::Small(value) => Some(*value),
            Repr::Big(_) => None,
        }
    }

    /// Whether the number is 0.
    #[inline]
    pub fn is_zero(&self) -> bool {
        matches!(self.0, Repr::Small(0))
    }

    /// Whether the number is 1.
    #[inline]
    pub fn is_one(&self) -> bool {
        matches!(self.0, Repr::Small(1))
    }

    /// The sign: -1, 0 or 1.
    #[inline]
    pub fn signum(&self) -> i32 {
        match &self.0 {
            Repr::Small(value) => match value.cmp(&0) {
                Ordering::Less => -1,
                Ordering::Equal => 0,
                Ordering::Greater => 1,
            },
            Repr::Big(value) => {
                if value.is_negative() {
                    -1
                } else {
                    1
                }
            }
        }
    }

    /// Whether the number is below 0.
    #[inline]
    pub fn is_negative(&self) -> bool {
        self.signum() < 0
    }

    /// Whether the number is above 0.
    #[inline]
    pub fn is_positive(&self) -> bool {
        self.signum() > 0
    }

    /// The absolute value.
    pub fn abs(&self) -> Self {
        if self.is_negative() { -self } else { self.clone() }
    }

    /// The greatest common divisor, not negative; `gcd(0, 0)` is 0.
    pub fn gcd(&self, other: &Self) -> Self {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => {
                Self::from(i128::from(gcd_u64(a.unsigned_abs(), b.unsigned_abs())))
            }
            // The big library refuses gcd(0, 0), which cannot reach this arm: one side is big.
            _ => Self::from(IBig::from(IBig::from(self).gcd(&IBig::from(other)))),
        }
    }

    /// The least common multiple, not negative; 0 when either number is 0.
    pub fn lcm(&self, other: &Self) -> Self {
        if self.is_zero() || other.is_zero() {
            return Self::ZERO;
        }
        (self.div_exact(&self.gcd(other)) * other).abs()
    }

    /// The quotient by a divisor known to divide the number without rest.
    /// Panics when `divisor` is 0.
    pub fn div_exact(&self, divisor: &Self) -> Self {
        match (&self.0, &divisor.0) {
            (Repr::Small(a), Repr::Small(b)) => Self::from(i128::from(*a) / i128::from(*b)),
            _ => Self::from(IBig::from(self) / IBig::from(divisor)),
        }
    }

    /// The quotient rounded towards minus infinity.
    /// Panics when `divisor` is 0.
    pub fn div_floor(&self, divisor: &Self) -> Self {
        let quotient = match (&self.0, &divisor.0) {
            (Repr::Small(a), Repr::Small(b)) => Self::from(i128::from(*a) / i128::from(*b)),
            _ => Self::from(IBig::from(self) / IBig::from(divisor)),
        };
        let rest = self - &(&quotient * divisor);
        if rest.signum() * divisor.signum() < 0 { quotient - Self::ONE } else { quotient }
    }

    /// The quotient rounded towards plus infinity.
    /// Panics when `divisor` is 0.
    pub fn div_ceil(&self, divisor: &Self) -> Self {
        -(-self).div_floor(divisor)
    }

    /// Whether `divisor` divides the number; 0 divides only 0.
    pub fn is_multiple_of(&self, divisor: &Self) -> bool {
        if divisor.is_zero() {
            return self.is_zero();
        }
        (&self.div_floor(divisor) * divisor) == *self
    }
}

/// Greatest common divisor of two words: the binary algorithm, which needs no division.
#[inline]
pub(crate) fn gcd_u64(mut a: u64, mut b: u64) -> u64 {
    if a == 0 {
        return b;
    }
    if b == 0 {
        return a;
    }
    if a == 1 || b == 1 {
        return 1;
    }
    let shift = (a | b).trailing_zeros();
    a >>= a.trailing_zeros();
    loop {
        b >>= b.trailing_zeros();
        if a > b {
            core::mem::swap(&mut a, &mut b);
        }
        b -= a;
        if b == 0 {
            return a << shift;
        }
    }
}

/// Greatest common divisor of two double words, reduced to words as soon as both fit.
#[inline]
pub(crate) fn gcd_u128(mut a: u128, mut b: u128) -> u128 {
    loop {
        if let (Ok(a), Ok(b)) = (u64::try_from(a), u64::try_from(b)) {
            return u128::from(gcd_u64(a, b));
        }
        if b == 0 {
            return a;
        }
        (a, b) = (b, a % b);
    }
}

impl From<i64> for Integer {
    #[inline]
    fn from(value: i64) -> Self {
        Self(Repr::Small(value))
    }
}

impl From<i32> for Integer {
    #[inline]
    fn from(value: i32) -> Self {
        Self(Repr::Small(i64::from(value)))
    }
}

impl From<i128> for Integer {
    #[inline]
    fn from(value: i128) -> Self {
        match i64::try_from(value) {
            Ok(small) => Self(Repr::Small(small)),
            Err(_) => Self(Repr::Big(Box::new(IBig::from(value)))),
        }
    }
}

impl From<IBig> for Integer {
    fn from(value: IBig) -> Self {
        match i64::try_from(&value) {
            Ok(small) => Self(Repr::Small(small)),
            Err(_) => Self(Repr::Big(Box::new(value))),
        }
    }
}

impl From<&Integer> for IBig {
    fn from(value: &Integer) -> Self {
        match &value.0 {
            Repr::Small(value) => Self::from(*value),
            Repr::Big(value) => (**value).clone(),
        }
    }
}

impl fmt::Display for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Repr::Small(value) => fmt::Display::fmt(value, f),
            Repr::Big(value) => fmt::Display::fmt(value, f),
        }
    }
}

impl fmt::Debug for Integer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Ord for Integer {
    #[inline]
    fn cmp(&self, other: &Self) -> Ordering {
        match (&self.0, &other.0) {
            (Repr::Small(a), Repr::Small(b)) => a.cmp(b),
            (Repr::Big(a), Repr::Big(b)) => a.cmp(b),
            // A big number lies outside the small range, so its sign decides.
            (Repr::Big(_), Repr::Small(_)) => self.signum().cmp(&0),
            (Repr::Small(_), Repr::Big(_)) => 0.cmp(&other.signum()),
        }
    }
}

impl PartialOrd for Integer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Neg for &Integer {
    type Output = Integer;

    #[inline]
    fn neg(self) -> Integer {
        match &self.0 {
            Repr::Small(value) => Integer::from(-i128::from(*value)),
            Repr::Big(value) => Integer::from(-(**value).clone()),
        }
    }
}

impl Neg for Integer {
    type Output = Integer;

    #[inline]
    fn neg(self) -> Integer {
        -&self
    }
}

/// Defines an operator for owned numbers by the one on references.
macro_rules! owned {
    ($number:ident, $trait:ident, $method:ident, $symbol:tt) => {
        impl $trait<$number> for $number {
            type Output = $number;

            #[inline]
            fn $method(self, other: $number) -> $number {
                &self $symbol &other
            }
        }
    };
}
pub(crate) use owned;

macro_rules! operator {
    ($trait:ident, $method:ident, $symbol:tt) => {
        impl $trait<&Integer> for &Integer {
            type Output = Integer;

            #[inline]
            fn $method(self, other: &Integer) -> Integer {
                match (&self.0, &other.0) {
                    // Two words never overflow a double word under +, - and *.
                    (Repr::Small(a), Repr::Small(b)) => {
                        Integer::from(i128::from(*a) $symbol i128::from(*b))
                    }
                    (Repr::Small(a), Repr::Big(b)) => Integer::from(IBig::from(*a) $symbol &**b),
                    (Repr::Big(a), Repr::Small(b)) => Integer::from(&**a $symbol IBig::from(*b)),
                    (Repr::Big(a), Repr::Big(b)) => Integer::from(&**a $symbol &**b),
                }
            }
        }

        owned!(Integer, $trait, $method, $symbol);

        impl $trait<&Integer> for Integer {
            type Output = Integer;

            #[inline]
            fn $method(self, other: &Integer) -> Integer {
                &self $symbol other
            }
        }
    };
}

operator!(Add, add, +);
operator!(Sub, sub, -);
operator!(Mul, mul, *);

#[cfg(test)]
mod tests {
    use super::*;

    /// Every operation agrees with the big library on values around the word's edges.
    #[test]
    fn edges_agree_with_big_integers() {
        let edges = [0, 1, -1, 2, -3, i64::MAX, i64::MIN, i64::MAX - 1, i64::MIN + 1, 1 << 31, 1 << 32];
        let mut values: Vec<Integer> = edges.iter().map(|&value| Integer::from(value)).collect();
        values.extend(edges.iter().map(|&value| Integer::from(value) * Integer::from(i64::MIN)));
        for a in &values {
            for b in &values {
                assert_eq!(IBig::from(&(a + b)), IBig::from(a) + IBig::from(b));
                assert_eq!(IBig::from(&(a - b)), IBig::from(a) - IBig::from(b));
                assert_eq!(IBig::from(&(a * b)), IBig::from(a) * IBig::from(b));
                assert_eq!(a.cmp(b), IBig::from(a).cmp(&IBig::from(b)));
                assert_eq!(-(a - b), b - a, "canonical representation");
                if !b.is_zero() {
                    let floor = a.div_floor(b);
                    let rest = a - &(&floor * b);
                    assert!(rest.is_zero() || rest.signum() == b.signum());
                    assert!(rest.abs() < b.abs());
                    let gcd = a.gcd(b);
                    assert!(gcd.is_positive() && a.is_multiple_of(&gcd) && b.is_multiple_of(&gcd));
                    assert!(a.div_exact(&gcd).gcd(&b.div_exact(&gcd)).is_one());
                }
            }
            assert_eq!(Integer::from(IBig::from(a)), *a, "canonical representation");
        }
    }

    #[test]
    fn rounding() {
        let cases = [(7, 2, 3, 4), (-7, 2, -4, -3), (7, -2, -4, -3), (-7, -2, 3, 4), (6, 3, 2, 2)];
        for (a, b, floor, ceil) in cases {
            assert_eq!(Integer::from(a).div_floor(&Integer::from(b)), Integer::from(floor));
            assert_eq!(Integer::from(a).div_ceil(&Integer::from(b)), Integer::from(ceil));
        }
    }
}
