//! The numbers on which a conversion runs: machine words, or integers of any size.
//!
//! Every operation on words reports if a result does not fit, and the caller then changes to big integers
//! ([`crate::conversion`]). A row of words has only words, so its loops distinguish no other cases.

use crate::integer::{Integer, gcd_u64, gcd_u128};
use crate::row;

/// Operations return `None` if a result does not fit.
pub(crate) trait CheckedNumber: Clone {
    fn of_integer(value: &Integer) -> Option<Self>;
    fn to_integer(&self) -> Integer;
    /// -1, 0 or 1.
    fn signum(&self) -> i32;
    fn negated(&self) -> Option<Self>;
    /// Divides both numbers by their greatest common divisor. At least one of them must not be 0.
    fn coprime(a: &Self, b: &Self) -> Option<(Self, Self)>;
    fn dot(a: &[Self], b: &[Self]) -> Option<Self>;
    /// A number that has every bit that some absolute value of the row has.
    fn magnitude(row: &[Self]) -> u64;
    /// Is the dot product with any row of that magnitude free of overflow, also in its partial sums?
    fn is_safe(row: &[Self], magnitude: u64) -> bool;
    /// [`CheckedNumber::dot`] where [`CheckedNumber::is_safe`] says so.
    fn dot_safe(a: &[Self], b: &[Self]) -> Self;
    /// Appends `a x + b y`, divided by the greatest common divisor of its entries, to `out`. If it does not
    /// fit, `out` stays as it was.
    fn combine(a: &Self, x: &[Self], b: &Self, y: &[Self], out: &mut Vec<Self>) -> Option<()>;
}

impl CheckedNumber for i64 {
    #[inline]
    fn of_integer(value: &Integer) -> Option<Self> {
        value.to_i64()
    }

    #[inline]
    fn to_integer(&self) -> Integer {
        Integer::from(*self)
    }

    #[inline]
    fn signum(&self) -> i32 {
        i32::from(*self > 0) - i32::from(*self < 0)
    }

    #[inline]
    fn negated(&self) -> Option<Self> {
        self.checked_neg()
    }

    #[inline]
    fn coprime(a: &Self, b: &Self) -> Option<(Self, Self)> {
        match i64::try_from(gcd_u64(a.unsigned_abs(), b.unsigned_abs())) {
            Ok(1) => Some((*a, *b)),
            Ok(gcd) => Some((a / gcd, b / gcd)),
            Err(_) => None,
        }
    }

    #[inline]
    fn dot(a: &[Self], b: &[Self]) -> Option<Self> {
        let (mut sum, mut overflow) = (0_i64, false);
        for (x, y) in a.iter().zip(b) {
            let (product, out_of_product) = x.overflowing_mul(*y);
            let (next, out_of_sum) = sum.overflowing_add(product);
            overflow |= out_of_product | out_of_sum;
            sum = next;
        }
        if overflow {
            return dot_wide(a, b);
        }
        Some(sum)
    }

    #[inline]
    fn magnitude(row: &[Self]) -> u64 {
        row.iter().fold(0, |all, entry| all | entry.unsigned_abs())
    }

    #[inline]
    fn is_safe(row: &[Self], magnitude: u64) -> bool {
        let sum = row.iter().fold(0_u64, |sum, entry| sum.saturating_add(entry.unsigned_abs()));
        // Values of that magnitude are less than its next power of two.
        let bits = 64 - magnitude.leading_zeros();
        bits < 63 && sum.leading_zeros() > bits
    }

    #[inline]
    fn dot_safe(a: &[Self], b: &[Self]) -> Self {
        a.iter().zip(b).fold(0, |sum, (x, y)| sum.wrapping_add(x.wrapping_mul(*y)))
    }

    #[inline]
    fn combine(a: &Self, x: &[Self], b: &Self, y: &[Self], out: &mut Vec<Self>) -> Option<()> {
        let start = out.len();
        // The loop has no branch, because rows are short and an overflow is very unlikely.
        let mut overflow = false;
        out.extend(x.iter().zip(y).map(|(one, other)| {
            let (first, out_of_first) = a.overflowing_mul(*one);
            let (second, out_of_second) = b.overflowing_mul(*other);
            let (sum, out_of_sum) = first.overflowing_add(second);
            overflow |= out_of_first | out_of_second | out_of_sum;
            sum
        }));
        if overflow {
            out.truncate(start);
            return combine_wide((*a, x), (*b, y), out);
        }
        let mut gcd = 0;
        for entry in &out[start..] {
            gcd = gcd_u64(gcd, entry.unsigned_abs());
            if gcd == 1 {
                return Some(());
            }
        }
        if gcd > 1 {
            let Ok(gcd) = i64::try_from(gcd) else {
                out.truncate(start);
                return None;
            };
            out[start..].iter_mut().for_each(|entry| *entry /= gcd);
        }
        Some(())
    }
}

/// Computes a dot product whose partial sums may overflow although the result fits.
#[cold]
fn dot_wide(a: &[i64], b: &[i64]) -> Option<i64> {
    let mut sum = 0_i128;
    for (x, y) in a.iter().zip(b) {
        // A product of two words fits; only the sum may not.
        sum = sum.checked_add(i128::from(*x) * i128::from(*y))?;
    }
    i64::try_from(sum).ok()
}

/// Computes a combination that may overflow before it is divided. `None` if its result overflows, too.
#[cold]
fn combine_wide((a, x): (i64, &[i64]), (b, y): (i64, &[i64]), out: &mut Vec<i64>) -> Option<()> {
    let sum =
        |(x, y): (&i64, &i64)| (i128::from(a) * i128::from(*x)).checked_add(i128::from(b) * i128::from(*y));
    let sums = x.iter().zip(y).map(sum).collect::<Option<Vec<i128>>>()?;
    let gcd = sums.iter().fold(0, |gcd, sum| gcd_u128(gcd, sum.unsigned_abs()));
    let gcd = i128::try_from(gcd.max(1)).ok()?;
    let divided = sums.iter().map(|sum| i64::try_from(sum / gcd).ok());
    out.extend(divided.collect::<Option<Vec<i64>>>()?);
    Some(())
}

impl CheckedNumber for Integer {
    fn of_integer(value: &Integer) -> Option<Self> {
        Some(value.clone())
    }

    fn to_integer(&self) -> Integer {
        self.clone()
    }

    fn signum(&self) -> i32 {
        Self::signum(self)
    }

    fn negated(&self) -> Option<Self> {
        Some(-self)
    }

    fn coprime(a: &Self, b: &Self) -> Option<(Self, Self)> {
        let gcd = a.gcd(b);
        Some((a.div_exact(&gcd), b.div_exact(&gcd)))
    }

    fn dot(a: &[Self], b: &[Self]) -> Option<Self> {
        Some(row::dot(a, b))
    }

    fn magnitude(_: &[Self]) -> u64 {
        0
    }

    fn is_safe(_: &[Self], _: u64) -> bool {
        true
    }

    fn dot_safe(a: &[Self], b: &[Self]) -> Self {
        row::dot(a, b)
    }

    fn combine(a: &Self, x: &[Self], b: &Self, y: &[Self], out: &mut Vec<Self>) -> Option<()> {
        out.extend(row::combine(a, x, b, y));
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Safe dot products equal the checked ones up to the largest magnitude that counts as safe, and that is
    /// not much smaller than necessary.
    #[test]
    fn safe_products_do_not_overflow() {
        let edges = [0, 1, -1, 3, -(1 << 20), 1 << 31, (1 << 31) - 1, 1 << 42, i64::MAX, i64::MIN];
        let (mut safe, mut unsafe_though_fitting) = (0, 0);
        for &a in &edges {
            for &b in &edges {
                for &x in &edges {
                    let (row, other) = ([a, b, 1], [x, x, -7]);
                    let checked = i64::dot(&row, &other);
                    if i64::is_safe(&row, i64::magnitude(&other)) {
                        safe += 1;
                        assert_eq!(Some(i64::dot_safe(&row, &other)), checked);
                    } else if checked.is_some() {
                        unsafe_though_fitting += 1;
                    }
                }
            }
        }
        assert!(safe > 300 && unsafe_though_fitting < safe, "{safe} {unsafe_though_fitting}");
    }
}
