//! Exact fractions, for bounds and coordinates. The algorithms work on integer rows. Fractions appear only
//! where a user reads or writes a number, so this file prefers brevity to speed.

use core::cmp::Ordering;
use core::fmt;
use core::ops::{Add, Mul, Neg, Sub};

use crate::integer::{Integer, owned};

/// A fraction in lowest terms with a positive denominator.
///
/// ```
/// use coreach_polyhedra::{Integer, Rational};
/// let half = Rational::new(Integer::from(-2), Integer::from(-4)).unwrap();
/// assert_eq!(half.to_string(), "1/2");
/// assert_eq!(half.ceil(), Integer::ONE);
/// ```
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Rational {
    numerator: Integer,
    denominator: Integer,
}

impl Rational {
    /// The number 0.
    pub const ZERO: Self = Self { numerator: Integer::ZERO, denominator: Integer::ONE };
    /// The number 1.
    pub const ONE: Self = Self { numerator: Integer::ONE, denominator: Integer::ONE };

    /// The fraction, or `None` if the denominator is 0.
    pub fn new(numerator: Integer, denominator: Integer) -> Option<Self> {
        if denominator.is_zero() {
            return None;
        }
        Some(Self::of_nonzero(numerator, denominator))
    }

    /// The fraction, for a denominator known not to be 0.
    pub(crate) fn of_nonzero(numerator: Integer, denominator: Integer) -> Self {
        debug_assert!(!denominator.is_zero());
        if denominator.is_one() {
            return Self { numerator, denominator };
        }
        let gcd = numerator.gcd(&denominator);
        let gcd = if denominator.is_negative() { -gcd } else { gcd };
        if gcd.is_one() {
            return Self { numerator, denominator };
        }
        Self { numerator: numerator.div_exact(&gcd), denominator: denominator.div_exact(&gcd) }
    }

    /// The numerator; its sign is the fraction's sign.
    pub fn numerator(&self) -> &Integer {
        &self.numerator
    }

    /// The denominator, positive.
    pub fn denominator(&self) -> &Integer {
        &self.denominator
    }

    /// Whether the number is 0.
    pub fn is_zero(&self) -> bool {
        self.numerator.is_zero()
    }

    /// Whether the number is an integer.
    pub fn is_integer(&self) -> bool {
        self.denominator.is_one()
    }

    /// The sign: -1, 0 or 1.
    pub fn signum(&self) -> i32 {
        self.numerator.signum()
    }

    /// The greatest integer not above the number.
    pub fn floor(&self) -> Integer {
        self.numerator.div_floor(&self.denominator)
    }

    /// The least integer not below the number.
    pub fn ceil(&self) -> Integer {
        self.numerator.div_ceil(&self.denominator)
    }

    /// The inverse, or `None` for 0.
    pub fn reciprocal(&self) -> Option<Self> {
        Self::new(self.denominator.clone(), self.numerator.clone())
    }

    /// The quotient, or `None` if `divisor` is 0.
    pub fn checked_div(&self, divisor: &Self) -> Option<Self> {
        Self::new(&self.numerator * &divisor.denominator, &self.denominator * &divisor.numerator)
    }
}

impl From<Integer> for Rational {
    fn from(value: Integer) -> Self {
        Self { numerator: value, denominator: Integer::ONE }
    }
}

impl From<i64> for Rational {
    fn from(value: i64) -> Self {
        Self::from(Integer::from(value))
    }
}

impl fmt::Display for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_integer() {
            write!(f, "{}", self.numerator)
        } else {
            write!(f, "{}/{}", self.numerator, self.denominator)
        }
    }
}

impl fmt::Debug for Rational {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl Ord for Rational {
    fn cmp(&self, other: &Self) -> Ordering {
        if self.denominator == other.denominator {
            return self.numerator.cmp(&other.numerator);
        }
        (&self.numerator * &other.denominator).cmp(&(&other.numerator * &self.denominator))
    }
}

impl PartialOrd for Rational {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Neg for &Rational {
    type Output = Rational;

    fn neg(self) -> Rational {
        Rational { numerator: -&self.numerator, denominator: self.denominator.clone() }
    }
}

impl Neg for Rational {
    type Output = Rational;

    fn neg(self) -> Rational {
        -&self
    }
}

impl Add<&Rational> for &Rational {
    type Output = Rational;

    fn add(self, other: &Rational) -> Rational {
        if self.denominator == other.denominator {
            return Rational::of_nonzero(&self.numerator + &other.numerator, self.denominator.clone());
        }
        Rational::of_nonzero(
            &self.numerator * &other.denominator + &other.numerator * &self.denominator,
            &self.denominator * &other.denominator,
        )
    }
}

impl Sub<&Rational> for &Rational {
    type Output = Rational;

    fn sub(self, other: &Rational) -> Rational {
        self + &-other
    }
}

impl Mul<&Rational> for &Rational {
    type Output = Rational;

    fn mul(self, other: &Rational) -> Rational {
        Rational::of_nonzero(&self.numerator * &other.numerator, &self.denominator * &other.denominator)
    }
}

owned!(Rational, Add, add, +);
owned!(Rational, Sub, sub, -);
owned!(Rational, Mul, mul, *);

#[cfg(test)]
mod tests {
    use super::*;

    fn fraction(numerator: i64, denominator: i64) -> Rational {
        Rational::of_nonzero(Integer::from(numerator), Integer::from(denominator))
    }

    #[test]
    fn arithmetic() {
        assert_eq!(fraction(1, 2) + fraction(1, 3), fraction(5, 6));
        assert_eq!(fraction(1, 2) - fraction(1, 2), Rational::ZERO);
        assert_eq!(fraction(2, 3) * fraction(-3, 4), fraction(1, -2));
        assert_eq!(fraction(0, -7), Rational::ZERO);
        assert_eq!(fraction(1, 2).checked_div(&Rational::ZERO), None);
        assert_eq!(Rational::new(Integer::ONE, Integer::ZERO), None);
        assert_eq!(fraction(i64::MIN, i64::MIN), Rational::ONE);
        assert_eq!(fraction(1, i64::MIN).denominator().to_string(), "9223372036854775808");
        assert!(fraction(-1, 2) < fraction(-1, 3));
        assert_eq!((fraction(-7, 2).floor(), fraction(-7, 2).ceil()), (Integer::from(-4), Integer::from(-3)));
    }
}
