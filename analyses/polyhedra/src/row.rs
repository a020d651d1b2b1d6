//! Integer rows: the vectors on which every algorithm of the crate works.
//!
//! A row has one more entry than the space has dimensions. Entry 0 belongs to the homogenising coordinate:
//! for a constraint it is the constant, and for a generator the denominator (0 for lines and rays, positive
//! for points). Entry `i + 1` belongs to dimension `i`. So the value of a constraint at a generator is the
//! dot product.

use smallvec::SmallVec;

use crate::integer::{Integer, gcd_u128};

/// A vector in homogeneous coordinates.
pub(crate) type Row = SmallVec<[Integer; 5]>;

/// Combinations of up to this many entries are computed on the stack.
pub(crate) const INLINE: usize = 24;

pub(crate) fn zero(width: usize) -> Row {
    SmallVec::from_elem(Integer::ZERO, width)
}

/// The row with a 1 at `index` and 0 elsewhere.
pub(crate) fn unit(width: usize, index: usize) -> Row {
    let mut row = zero(width);
    row[index] = Integer::ONE;
    row
}

pub(crate) fn dot(a: &[Integer], b: &[Integer]) -> Integer {
    dot_small(a, b).unwrap_or_else(|| dot_large(a, b))
}

/// Adds up the products of words separately: where one entry exceeds a word, most others do not.
fn dot_large(a: &[Integer], b: &[Integer]) -> Integer {
    let (mut words, mut sum) = (0_i128, Integer::ZERO);
    for (x, y) in a.iter().zip(b) {
        match (x.to_i64(), y.to_i64()) {
            (Some(x), Some(y)) => {
                let product = i128::from(x) * i128::from(y);
                words = words.checked_add(product).unwrap_or_else(|| {
                    sum = &sum + &Integer::from(words);
                    product
                });
            }
            _ if x.is_zero() || y.is_zero() => {}
            _ => sum = &sum + &(x * y),
        }
    }
    &sum + &Integer::from(words)
}

#[inline]
fn dot_small(a: &[Integer], b: &[Integer]) -> Option<Integer> {
    let mut sum = 0_i128;
    for (x, y) in a.iter().zip(b) {
        let (x, y) = (x.to_i64()?, y.to_i64()?);
        sum = sum.checked_add(i128::from(x) * i128::from(y))?;
    }
    Some(Integer::from(sum))
}

/// `a x + b y`, divided by the greatest common divisor of its entries.
pub(crate) fn combine(a: &Integer, x: &[Integer], b: &Integer, y: &[Integer]) -> Row {
    combine_small(a, x, b, y).unwrap_or_else(|| {
        // Long rows are mostly zeros.
        let entry = |(x, y): (&Integer, &Integer)| match (x.is_zero(), y.is_zero()) {
            (true, true) => Integer::ZERO,
            (false, true) => a * x,
            (true, false) => b * y,
            (false, false) => a * x + b * y,
        };
        let mut row: Row = x.iter().zip(y).map(entry).collect();
        normalise(&mut row);
        row
    })
}

#[inline]
fn combine_small(a: &Integer, x: &[Integer], b: &Integer, y: &[Integer]) -> Option<Row> {
    match x.len() {
        0..=INLINE => combine_words(a, x, b, y, &mut [0; INLINE]),
        width => combine_words(a, x, b, y, &mut vec![0; width]),
    }
}

/// Combines rows of words in double words. Returns `None` if a number does not fit.
#[inline]
fn combine_words(a: &Integer, x: &[Integer], b: &Integer, y: &[Integer], buffer: &mut [i128]) -> Option<Row> {
    let (a, b) = (i128::from(a.to_i64()?), i128::from(b.to_i64()?));
    let mut gcd = 0_u128;
    for (slot, (x, y)) in buffer.iter_mut().zip(x.iter().zip(y)) {
        let (x, y) = (x.to_i64()?, y.to_i64()?);
        // A product of two words fits; only the sum may not.
        *slot = (a * i128::from(x)).checked_add(b * i128::from(y))?;
        if gcd != 1 {
            gcd = gcd_u128(gcd, slot.unsigned_abs());
        }
    }
    let entries = buffer.iter().take(x.len());
    if gcd <= 1 {
        return Some(entries.map(|&entry| Integer::from(entry)).collect());
    }
    // A divisor that does not fit is left to the general path.
    let gcd = i128::try_from(gcd).ok()?;
    let divide = |entry: i128| match (i64::try_from(entry), i64::try_from(gcd)) {
        // Word division is several times cheaper; the one overflow cannot occur, as gcd > 0.
        (Ok(entry), Ok(gcd)) => Integer::from(entry / gcd),
        _ => Integer::from(entry / gcd),
    };
    Some(entries.map(|&entry| divide(entry)).collect())
}

/// Divides a row by the greatest common divisor of its entries.
pub(crate) fn normalise(row: &mut [Integer]) {
    let mut gcd = Integer::ZERO;
    for entry in row.iter() {
        gcd = gcd.gcd(entry);
        if gcd.is_one() {
            return;
        }
    }
    if gcd.is_zero() {
        return;
    }
    for entry in row.iter_mut() {
        *entry = entry.div_exact(&gcd);
    }
}

/// Changes the sign of every entry.
pub(crate) fn negate(row: &mut [Integer]) {
    for entry in row.iter_mut() {
        *entry = -&*entry;
    }
}

/// Adds a multiple of `by` to a positive multiple of `row` so that the entry at `column`, where
/// `by` is positive, becomes 0.
pub(crate) fn eliminate(row: &mut Row, by: &[Integer], column: usize) {
    debug_assert!(by[column].is_positive());
    if row[column].is_zero() {
        return;
    }
    let gcd = row[column].gcd(&by[column]);
    let keep = by[column].div_exact(&gcd);
    let take = -row[column].div_exact(&gcd);
    *row = combine(&keep, row, &take, by);
}

/// A linear subspace's canonical basis: reduced echelon form, entry 0 never a pivot, pivots positive, rows
/// ordered by pivot. Entry 0 needs no pivot because callers pass either lines, whose entry 0 is 0, or
/// equalities that some point satisfies, among which `constant = 0` cannot be derived. It has no limit of its
/// own, because its work is at most the cube of the width. But an account pays for it ([`crate::account`]),
/// since among hundreds of dimensions it is most of the work of an analysis. A combination of long rows
/// counts as several.
pub(crate) fn echelon(mut rows: Vec<Row>) -> Vec<Row> {
    let width = rows.first().map_or(0, Row::len);
    let (mut done, mut combinations) = (0, 0);
    for column in 1..width {
        let Some(found) = (done..rows.len()).find(|&index| !rows[index][column].is_zero()) else {
            continue;
        };
        rows.swap(done, found);
        if rows[done][column].is_negative() {
            negate(&mut rows[done]);
        }
        normalise(&mut rows[done]);
        let pivot = rows[done].clone();
        for (index, row) in rows.iter_mut().enumerate() {
            if index != done && !row[column].is_zero() {
                eliminate(row, &pivot, column);
                combinations += 1;
            }
        }
        done += 1;
    }
    crate::tally::spend(combinations * width.div_ceil(INLINE) as u64);
    debug_assert!(rows[done..].iter().all(|row| row.iter().all(Integer::is_zero)));
    rows.truncate(done);
    rows
}

/// The column of a row of an echelon form that is its pivot.
pub(crate) fn pivot(row: &[Integer]) -> usize {
    (1..row.len()).find(|&column| !row[column].is_zero()).unwrap_or(0)
}

/// Clears the pivot columns of `basis`, a result of [`echelon`]. The row must have no common divisor, and has
/// none afterwards.
pub(crate) fn reduce(row: &mut Row, basis: &[Row]) {
    for by in basis {
        eliminate(row, by, pivot(by));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(entries: &[i64]) -> Row {
        entries.iter().map(|&entry| Integer::from(entry)).collect()
    }

    /// The word path and the general path of a combination agree, also where words overflow.
    #[test]
    fn combinations_agree_with_big_integers() {
        let edges = [0, 1, -2, 6, i64::MAX, i64::MIN, 1 << 31];
        for &a in &edges {
            for &b in &edges {
                for &x in &edges {
                    let (p, q) = (row(&[x, 4, i64::MIN]), row(&[i64::MAX, x, i64::MIN]));
                    let (a, b) = (Integer::from(a), Integer::from(b));
                    let mut slow: Row = p.iter().zip(&q).map(|(x, y)| &a * x + &b * y).collect();
                    normalise(&mut slow);
                    assert_eq!(combine(&a, &p, &b, &q), slow);
                    let sum = p.iter().zip(&q).fold(Integer::ZERO, |sum, (x, y)| sum + x * y);
                    assert_eq!(dot(&p, &q), sum);
                }
            }
        }
    }

    /// Row `i` of the width has ones up to entry `i + 1`: each pivot is taken from every row behind it.
    #[test]
    fn an_account_pays_for_echelon_forms_by_their_width() {
        let paid = |width: usize| {
            let steps = |at: usize| (0..width).map(move |entry| i64::from((1..=at + 1).contains(&entry)));
            let rows: Vec<Row> =
                (0..width - 1).rev().map(|at| steps(at).map(Integer::from).collect()).collect();
            let mut account = crate::account::Account::default();
            let before = account.left;
            account.within(|| echelon(rows));
            before - account.left
        };
        let (short, long) = (paid(INLINE), paid(8 * INLINE));
        assert!(short > 0);
        // Eight times as many rows and columns.
        assert!(long >= 8 * 8 * short, "{short} and {long}");
    }

    #[test]
    fn long_combinations_agree_with_big_integers() {
        let long = |from: i64| -> Row {
            (0..3 * INLINE as i64).map(|at| Integer::from(if at % 3 == 0 { 0 } else { from - at })).collect()
        };
        for from in [100, i64::MAX] {
            let (x, y) = (long(from), long(7));
            let (a, b) = (Integer::from(6), Integer::from(-4));
            let mut slow: Row = x.iter().zip(&y).map(|(x, y)| &a * x + &b * y).collect();
            normalise(&mut slow);
            assert_eq!(combine(&a, &x, &b, &y), slow);
            let huge = Integer::from(i64::MAX) * Integer::from(3);
            let mut slow: Row = x.iter().zip(&y).map(|(x, y)| &huge * x + &b * y).collect();
            normalise(&mut slow);
            assert_eq!(combine(&huge, &x, &b, &y), slow);
        }
    }

    #[test]
    fn echelon_is_canonical() {
        let first = echelon(vec![row(&[1, 2, 4, 0]), row(&[0, 1, 1, 1])]);
        let second = echelon(vec![row(&[-1, -1, -3, 1]), row(&[0, -2, -2, -2]), row(&[1, 3, 5, 1])]);
        assert_eq!(first, second);
        assert_eq!(first, vec![row(&[-1, 2, 0, 4]), row(&[1, 0, 2, -2])]);
    }
}
