//! Ids for solvers: integers from 0 on, of which nothing but equality is ever asked.
//!
//! A solver of integers decides equalities at once, and needs no declaration and no table: a text is a number
//! and a number a text, one to one, by themselves. So what one answer calls by a name is the same in the next
//! one, and in another process. The numbers that a solver takes where it may choose, small ones, are `id0`,
//! `id1` and so on, and so new ids look. Any other text is its bytes with a 1 before them, above 64 bits.
//! Domains see no number of an id ([`crate::frame`]).

use dashu::base::BitTest;
use dashu::integer::{IBig, UBig};

/// What stands before the number of an id that nobody gave.
const NEW: &str = "id";
/// Numbers of other texts are multiples of this power of two.
const ABOVE: usize = 64;

pub fn number(text: &str) -> IBig {
    let digits = text.strip_prefix(NEW).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let made = digits.and_then(|digits| digits.parse::<UBig>().ok()).map(IBig::from);
    match made.filter(|number| self::text(number) == text) {
        Some(number) => number,
        None => of_bytes(text),
    }
}

pub fn text(number: &IBig) -> String {
    bytes(number).unwrap_or_else(|| format!("{NEW}{number}"))
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
        let count = numbers.len();
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
