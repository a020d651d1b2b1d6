//! Strings of the expression language as they are written: `"a\n\u{1f600}"`.
//!
//! A written string is one line of printable characters, so that it survives YAML, terminals and documents.
//! Every other character is an escape. A string that is read may hold any character but control characters,
//! and the escapes.

use std::fmt::{self, Write};

/// Writes the text in quotes, with an escape for each character that is not printable.
pub fn write_quoted(f: &mut dyn Write, text: &str) -> fmt::Result {
    f.write_char('"')?;
    for c in text.chars() {
        match c {
            '"' | '\\' => write!(f, "\\{c}")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            ' '..='~' => f.write_char(c)?,
            // What is printable stays as it is, so its escape is one character.
            c if c.is_alphanumeric() || c.escape_debug().len() == 1 => f.write_char(c)?,
            c => write!(f, "\\u{{{:x}}}", u32::from(c))?,
        }
    }
    f.write_char('"')
}

/// Reads the string that the text begins with, from its first quote. Returns how many bytes were read, and
/// the string, or what is wrong and what to do.
pub fn read_quoted(text: &str) -> (usize, Result<String, (&'static str, &'static str)>) {
    let mut string = String::new();
    let mut characters = text.char_indices().skip(1);
    let mut first_mistake = None;
    while let Some((at, c)) = characters.next() {
        match c {
            '"' => return (at + 1, first_mistake.map_or(Ok(string), Err)),
            '\\' => match read_escape(&mut characters) {
                Some(c) => string.push(c),
                None => {
                    let escapes = "the escapes are `\\\"`, `\\\\`, `\\n`, `\\r`, `\\t` and `\\u{1f600}`";
                    first_mistake.get_or_insert(("a string has an unknown escape", escapes));
                }
            },
            c if c.is_control() => {
                let help = "write it as an escape: `\\n`, `\\t`, `\\u{0}`";
                first_mistake.get_or_insert(("a string has a control character", help));
            }
            c => string.push(c),
        }
    }
    (text.len(), Err(("a string does not end", "end it with `\"`, and write `\\\"` for a quote inside it")))
}

/// Reads an escape after its backslash. `None` if there is no such escape.
fn read_escape(characters: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    match characters.next()?.1 {
        c @ ('"' | '\\') => Some(c),
        'n' => Some('\n'),
        'r' => Some('\r'),
        't' => Some('\t'),
        'u' if characters.next()?.1 == '{' => {
            let mut code = 0u32;
            // One to six digits, and the bracket.
            for digits in 0..7 {
                match characters.next()?.1 {
                    '}' if digits > 0 => return char::from_u32(code),
                    c => code = code * 16 + c.to_digit(16)?,
                }
            }
            None
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        for text in ["", "a b", "\"\\\u{5c}u{41}", "\r\n\t\0\u{7f}\u{85}", "é€😀\u{301}\u{202e}\u{10ffff}"]
        {
            let mut written = String::new();
            assert!(write_quoted(&mut written, text).is_ok());
            assert!(!written.chars().any(|c| c.is_control() || c == '\u{202e}'), "{written}");
            assert_eq!(read_quoted(&format!("{written} + x")), (written.len(), Ok(text.to_owned())));
        }
    }

    #[test]
    fn what_is_no_string_is_refused() {
        for text in
            [r#"""#, r#""a"#, r#""\"#, r#""\x""#, r#""\u{}""#, r#""\u{d800}""#, r#""\u{1234567}""#, "\"\n\""]
        {
            assert!(read_quoted(text).1.is_err(), "{text}");
        }
        // The text after the mistake is still read.
        assert_eq!(read_quoted(r#""\x" == s"#).0, 4);
    }
}
