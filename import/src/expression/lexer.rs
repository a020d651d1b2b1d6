//! Splits text into the words and signs of all dialects. Lexing never fails: text that is no token becomes
//! [`ForeignToken::Wrong`], which the parser reports.

use std::ops::Range;

use super::Dialect;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ForeignToken {
    /// A name, with points in it: `this.x`.
    Name(String),
    /// Digits, perhaps with a point and more digits.
    Number(String),
    Text(String),
    Sign(&'static str),
    Wrong(String),
}

/// All signs. A sign comes before the signs with which it begins.
const SIGNS: [&str; 45] = [
    "===", "!==", "-->", "&&", "||", "==", "!=", "<=", ">=", "=>", ":=", "+=", "-=", "*=", "/=", "%=", "++",
    "--", "<", ">", "=", "+", "-", "*", "/", "%", "!", "?", ":", ";", ",", "(", ")", "{", "}", "[", "]", ".",
    "@", "&", "|", "^", "~", "#", "$",
];

/// The signs that end a line, and so a comment. JavaScript has all of them.
const LINE_ENDS: [char; 4] = ['\n', '\r', '\u{2028}', '\u{2029}'];

/// Splits a text into tokens, each with its place. Skips comments (`//`, `/* */`).
pub fn split_tokens(text: &str, dialect: Dialect) -> Vec<(ForeignToken, Range<usize>)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        if first.is_whitespace() {
            at += first.len_utf8();
        } else if rest.starts_with("//") {
            at += rest.find(LINE_ENDS).unwrap_or(rest.len());
        } else if let Some(inner) = rest.strip_prefix("/*") {
            let Some(end) = inner.find("*/") else {
                // The rest of the text may be a comment or not, so it is not read.
                let why = "the comment does not end: `*/` is missing".to_owned();
                tokens.push((ForeignToken::Wrong(why), at..at + 2));
                break;
            };
            at += end + 4;
        } else {
            let (token, length) = read_token(rest, first, dialect);
            tokens.push((token, at..at + length));
            at += length;
        }
    }
    tokens
}

/// Reads the token with which a text begins. Also returns the token's length.
fn read_token(rest: &str, first: char, dialect: Dialect) -> (ForeignToken, usize) {
    if first.is_alphabetic() || first == '_' || first == '$' && dialect == Dialect::JavaScript {
        let length = count_bytes(rest, |c| c.is_alphanumeric() || "_'$.".contains(c));
        // A point at the end does not belong to the name.
        let name = rest[..length].trim_end_matches('.');
        return (ForeignToken::Name(name.to_owned()), name.len());
    }
    if first.is_ascii_digit() {
        let mut length = count_bytes(rest, |c| c.is_ascii_digit());
        let fraction =
            rest[length..].strip_prefix('.').map_or(0, |rest| count_bytes(rest, |c| c.is_ascii_digit()));
        if fraction > 0 {
            length += 1 + fraction;
        }
        let more = count_bytes(&rest[length..], |c| c.is_alphanumeric() || c == '_');
        return match more {
            0 => (ForeignToken::Number(rest[..length].to_owned()), length),
            _ => (ForeignToken::Wrong(format!("not a number: `{}`", &rest[..length + more])), length + more),
        };
    }
    if first == '"' || first == '\'' {
        let mut escaped = false;
        for (offset, c) in rest.char_indices().skip(1) {
            match c {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '\n' => break,
                _ if c == first => return (ForeignToken::Text(rest[1..offset].to_owned()), offset + 1),
                _ => {}
            }
        }
        let length = rest.find('\n').unwrap_or(rest.len());
        return (ForeignToken::Wrong("a text in quotes does not end".to_owned()), length);
    }
    let is_known = |sign: &str| match sign {
        "-->" => dialect == Dialect::Xlia,
        "--" | "++" => dialect != Dialect::Xlia,
        _ => true,
    };
    match SIGNS.into_iter().find(|sign| rest.starts_with(sign) && is_known(sign)) {
        Some(sign) => (ForeignToken::Sign(sign), sign.len()),
        None => (ForeignToken::Wrong(format!("`{first}` has no meaning here")), first.len_utf8()),
    }
}

/// Counts the bytes at the front whose characters `is_part` accepts.
fn count_bytes(text: &str, is_part: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is_part(c)).unwrap_or(text.len())
}
