//! Ids for solvers: integers from 0 on. A user asks for equality only. Their order is that of ids as keys.
//!
//! A solver of integers decides equalities at once, and needs no declaration and no table: a text is a number
//! and a number a text, one to one, by themselves. So what one answer calls by a name is the same in the next
//! one, and in another process. The numbers that a solver takes where it may choose, small ones, are `id0`,
//! `id1` and so on, and so new ids look. Any other text is its bytes with a 1 before them, above 64 bits.
//! Domains see no number of an id.

use std::cmp::Ordering;

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};

/// What stands before the number of an id that nobody gave.
const NEW: &str = "id";
/// Numbers of other texts are multiples of this power of two.
const ABOVE: usize = 64;

/// The number that stands for the text of an id.
pub fn number(text: &str) -> IBig {
    let digits = text.strip_prefix(NEW).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let made = digits.and_then(|digits| digits.parse::<UBig>().ok()).map(IBig::from);
    match made.filter(|number| self::text(number) == text) {
        Some(number) => number,
        None => of_bytes(text),
    }
}

/// The text of the id for which a number stands.
pub fn text(number: &IBig) -> String {
    bytes(number).unwrap_or_else(|| format!("{NEW}{number}"))
}

/// The order of two texts: that of their numbers.
pub fn order(a: &str, b: &str) -> Ordering {
    // Almost all need no long numbers: `id7`, and texts that are no such name.
    let digits = |text: &str| {
        let digits = text.strip_prefix(NEW).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
        digits.map(|digits| {
            digits
                .parse::<u64>()
                .ok()
                .filter(|_| digits.len() < 19 && (digits.len() == 1 || !digits.starts_with('0')))
        })
    };
    match (digits(a), digits(b)) {
        (Some(Some(a)), Some(Some(b))) => a.cmp(&b),
        (None, None) => (a.len(), a).cmp(&(b.len(), b)),
        (Some(Some(_)), None) => Ordering::Less,
        (None, Some(Some(_))) => Ordering::Greater,
        _ => number(a).cmp(&number(b)),
    }
}

fn of_bytes(text: &str) -> IBig {
    let bytes: Vec<u8> = std::iter::once(1).chain(text.bytes()).collect();
    IBig::from(UBig::from_be_bytes(&bytes) << ABOVE)
}

/// The text whose bytes these are, where it has no shorter number.
fn bytes(number: &IBig) -> Option<String> {
    let bits = UBig::try_from(number.clone()).ok().filter(|bits| bits.bit_len() > ABOVE)?;
    let bytes = (bits >> ABOVE).to_be_bytes();
    let text = String::from_utf8(bytes.strip_prefix(&[1])?.to_vec()).ok()?;
    (self::number(&text) == *number).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Soundness: texts and numbers are one to one.
    #[test]
    fn texts_and_numbers_are_one_to_one() {
        let beside = of_bytes("a") + IBig::ONE;
        let given =
            ["", "a", "id", "id0", "id7", "id07", "id-1", "17", "\u{1f600}", "id 1"].map(str::to_owned);
        let of_codes = ["a", "", "id7"].map(|text| format!("id{}", of_bytes(text)));
        let mut numbers: Vec<IBig> = given.iter().chain(&of_codes).map(|text| number(text)).collect();
        for (number, text) in numbers.iter().zip(given.iter().chain(&of_codes)) {
            assert_eq!(self::text(number), *text);
        }
        numbers.extend([IBig::from(1), beside]);
        for number in &numbers {
            assert_eq!(self::number(&text(number)), *number);
        }
        for (a, one) in numbers.iter().map(|number| (number, text(number))) {
            for b in &numbers {
                assert_eq!(order(&one, &text(b)), a.cmp(b), "{one} {}", text(b));
            }
        }
        let count = numbers.len();
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
