//! Texts in an encoding that a format gives them, so that any string can go over a wire and come back.
//!
//! A value that a line, a query or a form cannot carry as it is (a line break, a blank, a quote, a NUL) is
//! written in one of these. Reading is strict: a text that is written in another way, or that is no UTF-8
//! when decoded, is no value. So no event is made of something that was not sent.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use coreach_model::json::{self, Tree};

coreach_model::words! {
    pub enum TextEncoding {
        /// As a JSON string, with its quotes.
        Json = "json",
        /// With `%` and two hexadecimal digits for every byte but letters, digits and `-._~` (RFC 3986, 2.1).
        Percent = "percent",
        /// Its bytes in UTF-8, in pairs of hexadecimal digits.
        Hex = "hex",
        /// Its bytes in UTF-8, in Base64 (RFC 4648, 4), with padding.
        Base64 = "base64",
        /// As `hex`, but its bytes are its characters, which are `\u{0}` to `\u{ff}`.
        HexOfLatin1 = "latin1-hex",
        /// As `base64`, but its bytes are its characters.
        Base64OfLatin1 = "latin1-base64",
    }
}

impl TextEncoding {
    /// Encodes a text, if that is possible.
    pub fn encoded(self, text: &str) -> Option<String> {
        Some(match self {
            TextEncoding::Json => serde_json::Value::from(text).to_string(),
            TextEncoding::Percent => percent_encoded(text),
            TextEncoding::Hex => hex(text.as_bytes()),
            TextEncoding::Base64 => base64(text.as_bytes()),
            TextEncoding::HexOfLatin1 => hex(&to_latin1(text)?),
            TextEncoding::Base64OfLatin1 => base64(&to_latin1(text)?),
        })
    }

    /// Decodes a text, if it is written in this encoding.
    pub fn decoded(self, written: &str) -> Option<String> {
        let bytes = match self {
            TextEncoding::Json => match json::parse(written, json::WIRE) {
                Ok(Tree::Text(text)) => return Some(text),
                _ => return None,
            },
            TextEncoding::Percent => resolve_escapes(written.as_bytes())?,
            TextEncoding::Hex | TextEncoding::HexOfLatin1 => {
                unhex(written).filter(|_| !written.contains(' '))?
            }
            TextEncoding::Base64 | TextEncoding::Base64OfLatin1 => STANDARD.decode(written).ok()?,
        };
        match self {
            TextEncoding::HexOfLatin1 | TextEncoding::Base64OfLatin1 => Some(from_latin1(&bytes)),
            _ => String::from_utf8(bytes).ok(),
        }
    }
}

/// Turns each character of a text into the byte of its number, if there is one: a way to have bytes as data.
pub fn to_latin1(text: &str) -> Option<Vec<u8>> {
    text.chars().map(|sign| u8::try_from(sign).ok()).collect()
}

pub fn from_latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// Turns each `%41` into its byte. `None` if `%` is followed by no two hexadecimal digits.
fn resolve_escapes(mut written: &[u8]) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    while let Some((first, rest)) = written.split_first() {
        if *first == b'%' {
            let (digits, after) = rest.split_at_checked(2)?;
            bytes.extend(unhex(std::str::from_utf8(digits).ok()?).filter(|byte| byte.len() == 1)?);
            written = after;
        } else {
            bytes.push(*first);
            written = rest;
        }
    }
    Some(bytes)
}

/// Percent-encodes a text, except signs that need it nowhere (RFC 3986, 2.3).
pub fn percent_encoded(text: &str) -> String {
    let mut encoded = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~') {
            encoded.push(char::from(byte));
        } else {
            encoded.push_str(&format!("%{byte:02X}"));
        }
    }
    encoded
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads the bytes of pairs of hexadecimal digits, between which spaces may be. `None` for other text.
pub fn unhex(text: &str) -> Option<Vec<u8>> {
    let digits: Option<Vec<u8>> = text
        .chars()
        .filter(|sign| *sign != ' ')
        .map(|sign| sign.to_digit(16).and_then(|digit| u8::try_from(digit).ok()))
        .collect();
    let (pairs, alone) = digits.as_ref()?.as_chunks();
    alone.is_empty().then(|| pairs.iter().map(|[high, low]| high << 4 | low).collect())
}

/// The remedies for a system that writes another encoding than plain UTF-8.
pub const BYTE_ORDER_MARK: &str = "it begins with a byte order mark: let the system write UTF-8 without it, in Python \
                                   `encoding=\"utf-8\"`";
pub const UTF_16: &str = "every other byte is 0, as in UTF-16: let the system write UTF-8";

/// Says whether every other byte of a line is 0. A line may begin or end within a character.
pub fn is_utf_16(line: &str) -> bool {
    let is_zero = |from: usize| line.bytes().skip(from).step_by(2).all(|byte| byte == 0);
    line.len() >= 4 && (is_zero(0) || is_zero(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Soundness: any string comes back, and is one line without a blank in between.
    #[test]
    fn what_is_encoded_is_decoded() {
        for text in ["", "a b", "\r\n\0\"\\'%41+&=", "\u{e9}\u{20ac}\u{1f600}e\u{301}", "\u{10ffff}\u{85}"] {
            for encoding in TextEncoding::ALL {
                let Some(written) = encoding.encoded(text) else {
                    assert!(
                        encoding.name().starts_with("latin1") && text.contains('\u{20ac}')
                            || text.contains('\u{10ffff}')
                    );
                    continue;
                };
                assert!(!written.contains(['\n', '\r', '\0']), "{written}");
                assert_eq!(encoding.decoded(&written).as_deref(), Some(text), "{encoding:?}");
            }
        }
    }

    /// Soundness: every byte comes back, in the spelling that others read.
    #[test]
    fn bytes_are_the_characters_of_a_text() {
        let bytes: Vec<u8> = (0..=255).collect();
        let text = from_latin1(&bytes);
        let (hexed, based) = (TextEncoding::HexOfLatin1, TextEncoding::Base64OfLatin1);
        assert_eq!(hexed.encoded(&text), Some(hex(&bytes)));
        assert_eq!(based.encoded(&text), Some(STANDARD.encode(&bytes)));
        for encoding in [hexed, based] {
            assert_eq!(
                encoding.encoded(&text).and_then(|written| encoding.decoded(&written)),
                Some(text.clone())
            );
            assert_eq!(encoding.encoded("\u{100}"), None);
        }
        assert_eq!((hexed.decoded("f"), based.decoded("/w=")), (None, None));
        assert_eq!(TextEncoding::Hex.decoded(&hex(&bytes)), None);
    }

    /// Soundness: what is not so written is no value.
    #[test]
    fn what_is_not_so_written_is_refused() {
        for (encoding, written) in [
            (TextEncoding::Json, "a"),
            (TextEncoding::Json, "\"a"),
            (TextEncoding::Json, "\"a\" \"b\""),
            (TextEncoding::Json, "3"),
            (TextEncoding::Json, "\"\\ud800\""),
            (TextEncoding::Percent, "%4"),
            (TextEncoding::Percent, "%zz"),
            (TextEncoding::Percent, "% 4"),
            (TextEncoding::Percent, "%ff"),
            (TextEncoding::Hex, "4"),
            (TextEncoding::Hex, "4 1"),
            (TextEncoding::Hex, "ff"),
            (TextEncoding::Base64, "YQ"),
            (TextEncoding::Base64, "/w=="),
        ] {
            assert_eq!(encoding.decoded(written), None, "{encoding:?} {written}");
        }
    }
}
