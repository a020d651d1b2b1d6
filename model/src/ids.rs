//! Ids for solvers: integers from 0 on. A user can only ask whether ids are equal. The order of the numbers
//! is that of ids as keys.
//!
//! A solver of integers decides equalities at once, and needs no declaration and no table: texts and numbers
//! are one to one by their form alone. So a name in one answer is the same in the next answer, and in another
//! process. A solver that may choose takes small numbers. They stand for `id0`, `id1` and so on, and new ids
//! look like this. The number of any other text is its bytes with a 1 before them, above 64 bits. Domains
//! never see the number of an id.

use std::cmp::Ordering;

use dashu_base::BitTest;
use dashu_int::{IBig, UBig};

/// The beginning of a new id, before its number.
const NEW: &str = "id";
/// Numbers of other texts are multiples of this power of two.
const ABOVE: usize = 64;

/// Returns the number that stands for the text of an id.
pub fn number_of_text(text: &str) -> IBig {
    let digits = text.strip_prefix(NEW).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
    let written_number = digits.and_then(|digits| digits.parse::<UBig>().ok()).map(IBig::from);
    // `id07` is not the text of 7, and a number may be so large that it holds the bytes of another text.
    let has_this_text = |number: &IBig| text_of_number(number) == text;
    written_number.filter(has_this_text).unwrap_or_else(|| number_of_bytes(text))
}

/// Returns the text of the id for which a number stands.
pub fn text_of_number(number: &IBig) -> String {
    text_of_bytes(number).unwrap_or_else(|| format!("{NEW}{number}"))
}

/// The form of a text, which tells most numbers at once.
enum NumberForm {
    /// `id7` has the number 7.
    Digits(u64),
    /// `id07`, `id`, or `id` with 19 digits or more: the number must be computed.
    Unclear,
    /// Another text has a number of its bytes, which is above all numbers of `Digits`.
    Bytes,
}

fn read_form(text: &str) -> NumberForm {
    match text.strip_prefix(NEW) {
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            let is_clear = digits.len() < 19 && (digits.len() == 1 || !digits.starts_with('0'));
            digits.parse().ok().filter(|_| is_clear).map_or(NumberForm::Unclear, NumberForm::Digits)
        }
        _ => NumberForm::Bytes,
    }
}

/// Compares two texts by their numbers. For most texts it makes no long number.
pub fn compare_texts(a: &str, b: &str) -> Ordering {
    match (read_form(a), read_form(b)) {
        (NumberForm::Digits(a), NumberForm::Digits(b)) => a.cmp(&b),
        // A longer text has more bytes, hence the larger number.
        (NumberForm::Bytes, NumberForm::Bytes) => (a.len(), a).cmp(&(b.len(), b)),
        (NumberForm::Digits(_), NumberForm::Bytes) => Ordering::Less,
        (NumberForm::Bytes, NumberForm::Digits(_)) => Ordering::Greater,
        (NumberForm::Unclear, _) | (_, NumberForm::Unclear) => number_of_text(a).cmp(&number_of_text(b)),
    }
}

fn number_of_bytes(text: &str) -> IBig {
    // The 1 keeps zeros at the beginning, and gives the empty text a number.
    let bytes: Vec<u8> = std::iter::once(1).chain(text.bytes()).collect();
    IBig::from(UBig::from_be_bytes(&bytes) << ABOVE)
}

/// Returns the text whose bytes the number holds. `None` if there is no such text, or it has another number.
fn text_of_bytes(number: &IBig) -> Option<String> {
    let bits = UBig::try_from(number.clone()).ok().filter(|bits| bits.bit_len() > ABOVE)?;
    let bytes = (bits >> ABOVE).to_be_bytes();
    // `strip_prefix` takes off the 1 that `number_of_bytes` put before the text.
    let text = String::from_utf8(bytes.strip_prefix(&[1])?.to_vec()).ok()?;
    (number_of_text(&text) == *number).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Soundness: texts and numbers are one to one.
    #[test]
    fn texts_and_numbers_are_one_to_one() {
        let beside = number_of_bytes("a") + IBig::ONE;
        let given =
            ["", "a", "id", "id0", "id7", "id07", "id-1", "17", "\u{1f600}", "id 1"].map(str::to_owned);
        let of_codes = ["a", "", "id7"].map(|text| format!("id{}", number_of_bytes(text)));
        let mut numbers: Vec<IBig> = given.iter().chain(&of_codes).map(|text| number_of_text(text)).collect();
        for (number, text) in numbers.iter().zip(given.iter().chain(&of_codes)) {
            assert_eq!(text_of_number(number), *text);
        }
        numbers.extend([IBig::from(1), beside]);
        for number in &numbers {
            assert_eq!(number_of_text(&text_of_number(number)), *number);
        }
        for a in &numbers {
            for b in &numbers {
                let (text_a, text_b) = (text_of_number(a), text_of_number(b));
                assert_eq!(compare_texts(&text_a, &text_b), a.cmp(b), "{text_a} {text_b}");
            }
        }
        let count = numbers.len();
        numbers.sort();
        numbers.dedup();
        assert_eq!(numbers.len(), count);
    }
}
