//! Numbers in text that comes from outside: from an implementation's answer, a command line, a run's
//! document.
//!
//! **Problem.** A library's parser is generous: it reads `5_`, `_5` and `0_5` as 5, and also `+5` and `007`.
//! The numbers that an implementation sends decide a verdict. So a text is a number if this grammar says so,
//! and only then:
//!
//! ```text
//! integer  = [ "-" ] digits               no sign "+", no leading zeros, no underscores; ASCII digits only
//! number   = integer [ "." digit+ ] [ ( "e" | "E" ) [ "+" | "-" ] digit+ ]              the numbers of JSON (RFC 8259)
//! real     = number | integer "/" positive                        `positive` is an integer above 0, without a sign
//! digits   = "0" | ( "1" ... "9" ) digit*
//! ```
//!
//! `-0` is 0, as in JSON. Values are exact. Written without an exponent, a number has as many digits as the
//! caller allows: they are counted before anything is converted, so that no text costs more than reading it.

use dashu_int::{IBig, UBig};
use dashu_ratio::RBig;

/// The most digits of a number that an implementation sends. A longer one would take longer to read than a
/// run may last.
pub const WIRE_DIGITS: usize = 4096;

/// The most digits of a number in a document of ours, whose values may have grown in a model.
pub const DOCUMENT_DIGITS: usize = 100_000;

/// Why a text is no number that can be read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberError {
    /// The text is no number by the grammar.
    NoNumber,
    TooLong(usize),
}

/// A number's parts as they are written. The exponent has its sign; a part that is not there is empty.
struct NumberParts<'a> {
    negative: bool,
    whole: &'a str,
    fraction: &'a str,
    exponent: &'a str,
}

impl NumberParts<'_> {
    /// Returns the exponent without its sign. It is 0 if the number is 0, or if there is none.
    fn exponent_size(&self) -> usize {
        let is_zero =
            [self.whole, self.fraction].iter().all(|digits| digits.bytes().all(|digit| digit == b'0'));
        match self.exponent.trim_start_matches(['+', '-']).trim_start_matches('0') {
            digits if is_zero || digits.is_empty() => 0,
            digits => digits.parse().unwrap_or(usize::MAX),
        }
    }

    /// Returns a bound of the number's digits, if it were written without an exponent.
    fn count_digits(&self) -> usize {
        (self.whole.len() + self.fraction.len()).saturating_add(self.exponent_size())
    }
}

/// Reads the integer that the whole text is.
pub fn integer(text: &str, most_digits: usize) -> Result<IBig, NumberError> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    if !is_digits(digits) {
        return Err(NumberError::NoNumber);
    }
    check_length(digits.len(), most_digits)?;
    let value = IBig::from_str_radix(digits, 10).map_err(|_| NumberError::NoNumber)?;
    Ok(if text.len() > digits.len() { -value } else { value })
}

/// Reads the number that the whole text is: an integer or a decimal fraction, either with an exponent.
pub fn number(text: &str, most_digits: usize) -> Result<RBig, NumberError> {
    let is_whole = |(_, length): &(NumberParts, usize)| *length == text.len();
    let (parts, _) = split_number(text).filter(is_whole).ok_or(NumberError::NoNumber)?;
    check_length(parts.count_digits(), most_digits)?;
    let digits = format!("{}{}", parts.whole, parts.fraction);
    let mantissa = IBig::from_str_radix(&digits, 10).map_err(|_| NumberError::NoNumber)?;
    let mantissa = RBig::from(if parts.negative { -mantissa } else { mantissa });
    let power = |exponent: usize| RBig::from(IBig::from(10).pow(exponent));
    let unscaled = mantissa / power(parts.fraction.len());
    let scale = power(parts.exponent_size());
    Ok(if parts.exponent.starts_with('-') { unscaled / scale } else { unscaled * scale })
}

/// Reads the real that the whole text is: a number, or a fraction of integers.
pub fn real(text: &str, most_digits: usize) -> Result<RBig, NumberError> {
    let Some((above, below)) = text.split_once('/') else { return number(text, most_digits) };
    let (above, below) = (integer(above, most_digits)?, integer_above_zero(below, most_digits)?);
    Ok(RBig::from(above) / RBig::from(below))
}

/// Reads a number of things from a setting: digits without a sign and without leading zeros.
pub fn count(text: &str) -> Option<u64> {
    if is_digits(text) { text.parse().ok() } else { None }
}

/// Returns how many bytes at the beginning of the text are a number of JSON, and how many digits it has
/// without an exponent. `None` if the text begins with no number.
pub fn measure_number(text: &str) -> Option<(usize, usize)> {
    let (parts, length) = split_number(text)?;
    Some((length, parts.count_digits()))
}

fn integer_above_zero(text: &str, most_digits: usize) -> Result<IBig, NumberError> {
    match integer(text, most_digits)? {
        value if text.starts_with('-') || value == IBig::ZERO => Err(NumberError::NoNumber),
        value => Ok(value),
    }
}

fn check_length(digits: usize, most: usize) -> Result<(), NumberError> {
    if digits > most { Err(NumberError::TooLong(digits)) } else { Ok(()) }
}

/// Is it `0`, or digits of which the first is not 0?
fn is_digits(text: &str) -> bool {
    let are_digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    are_digits && (text.len() == 1 || !text.starts_with('0'))
}

/// Splits the number with which a text begins into its parts, and returns where it ends. `None` if there is
/// none, or if its point or its `e` has no digits after it.
fn split_number(text: &str) -> Option<(NumberParts<'_>, usize)> {
    let bytes = text.as_bytes();
    let end_of_digits = |start: usize| {
        let tail = bytes.get(start..).unwrap_or_default();
        start + tail.iter().take_while(|byte| byte.is_ascii_digit()).count()
    };
    let negative = bytes.first() == Some(&b'-');
    let begin = usize::from(negative);
    let mut next = end_of_digits(begin);
    let whole = &text[begin..next];
    if !is_digits(whole) {
        return None;
    }
    let mut fraction = "";
    if bytes.get(next) == Some(&b'.') {
        let end = end_of_digits(next + 1);
        fraction = &text[next + 1..end];
        if fraction.is_empty() {
            return None;
        }
        next = end;
    }
    let mut exponent = "";
    if matches!(bytes.get(next), Some(b'e' | b'E')) {
        let has_sign = matches!(bytes.get(next + 1), Some(b'+' | b'-'));
        let start = next + 1 + usize::from(has_sign);
        let end = end_of_digits(start);
        if end == start {
            return None;
        }
        exponent = &text[next + 1..end];
        next = end;
    }
    Some((NumberParts { negative, whole, fraction, exponent }, next))
}

/// Writes a time or another real exactly: `0.25` if it is a decimal fraction, otherwise `1/3`.
pub fn time_text(time: &RBig) -> String {
    let number = |value: u8| UBig::from(value);
    // A decimal fraction has a denominator of twos and fives, and as many digits as the more frequent one.
    let mut cofactor = time.denominator().clone();
    let mut digits = 0usize;
    for factor in [number(2), number(5)] {
        let mut count = 0;
        while (&cofactor % &factor) == UBig::ZERO {
            cofactor /= &factor;
            count += 1;
        }
        digits = digits.max(count);
    }
    if !cofactor.is_one() {
        return format!("{}/{}", time.numerator(), time.denominator());
    }
    // The digits of the time without its point, of which `digits` come after the point.
    let scaled = (time * RBig::from(number(10).pow(digits))).numerator().to_string();
    let (sign, scaled) = scaled.strip_prefix('-').map_or(("", scaled.as_str()), |unsigned| ("-", unsigned));
    let scaled = format!("{scaled:0>width$}", width = digits + 1);
    let (whole, fraction) = scaled.split_at(scaled.len() - digits);
    if digits == 0 { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_integer_is_its_digits_and_nothing_else() {
        for (text, value) in [("0", 0), ("-0", 0), ("7", 7), ("-12", -12), ("1000000007", 1_000_000_007)] {
            assert_eq!(integer(text, 10), Ok(IBig::from(value)), "{text}");
        }
        let texts = " - +5 5_ _5 0_5 1_000 05 -05 00 0x5 5.0 5e0 --5 ٣ ５ 1/1 NaN \u{feff}5 5\0 ² −5";
        for text in texts.split(' ').chain([" 5", "5 ", "5\n"]) {
            assert_eq!(integer(text, 10), Err(NumberError::NoNumber), "{text:?}");
        }
        assert_eq!(integer("-12345678901", 10), Err(NumberError::TooLong(11)));
    }

    #[test]
    fn a_number_is_what_json_calls_so_and_exact() {
        for (text, value) in [
            ("3.0", "3"),
            ("-1.25e1", "-25/2"),
            ("1e-3", "1/1000"),
            ("1E+2", "100"),
            ("0.1", "1/10"),
            ("-0.0", "0"),
            ("1e0000000000002", "100"),
            ("1e19", "10000000000000000000"),
            ("0.0e-99999999999999999999", "0"),
            ("1/3", "1/3"),
            ("-2/4", "-1/2"),
        ] {
            assert_eq!(real(text, 20).map(|value| value.to_string()), Ok(value.to_owned()), "{text}");
        }
        for text in [
            "", ".5", "5.", "1e", "1e+", "01.5", "+1.5", "1.5.5", "1_0.5", "1.5_0", "1e1_0", "1/0", "1/-3",
            "1/+3", "1/", "/3", "1/3/3", "1.5/3", "1/3.0", "Infinity", "-", "1 /3", "1e 3", "1,5",
        ] {
            assert_eq!(real(text, 20), Err(NumberError::NoNumber), "{text:?}");
        }
        assert_eq!(real("1/123456789012345678901", 20), Err(NumberError::TooLong(21)));
        assert_eq!(real("0.12345678901234567890", 20), Err(NumberError::TooLong(21)));
        assert_eq!(real("1.5e19", 20), Err(NumberError::TooLong(21)));
        assert_eq!(real("1e-20", 20), Err(NumberError::TooLong(21)));
        assert_eq!(real("1e99999999999999999999", 20), Err(NumberError::TooLong(usize::MAX)));
    }

    #[test]
    fn a_count_has_no_sign() {
        assert_eq!(count("10"), Some(10));
        for text in ["", "+1", "-1", "01", "1_0", "99999999999999999999"] {
            assert_eq!(count(text), None, "{text}");
        }
    }

    #[test]
    fn times_are_written_exactly() {
        for text in ["0", "7", "0.1", "-0.25", "12.000001", "1/3", "-2/7", "100", "0.03125"] {
            assert_eq!(time_text(&real(text, 20).unwrap()), text);
        }
        assert_eq!(time_text(&real("2.50", 20).unwrap()), "2.5");
    }
}
