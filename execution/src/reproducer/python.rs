//! Texts and values as Python writes them: printable ASCII signs, whatever is in them.

use std::fmt::Write as _;

use serde_json::Value as Json;

/// A text.
pub fn text(text: &str) -> String {
    let mut written = String::from("\"");
    for sign in text.chars() {
        match sign {
            '"' | '\\' => drop(write!(written, "\\{sign}")),
            '\n' => written.push_str("\\n"),
            '\r' => written.push_str("\\r"),
            '\t' => written.push_str("\\t"),
            ' '..='~' => written.push(sign),
            sign if u32::from(sign) < 0x100 => drop(write!(written, "\\x{:02x}", u32::from(sign))),
            sign if u32::from(sign) < 0x10000 => drop(write!(written, "\\u{:04x}", u32::from(sign))),
            sign => drop(write!(written, "\\U{:08x}", u32::from(sign))),
        }
    }
    written + "\""
}

/// Bytes.
pub fn bytes(bytes: &[u8]) -> String {
    let mut written = String::from("b\"");
    for byte in bytes {
        match byte {
            b'"' | b'\\' => drop(write!(written, "\\{}", char::from(*byte))),
            b'\n' => written.push_str("\\n"),
            b'\r' => written.push_str("\\r"),
            b'\t' => written.push_str("\\t"),
            b' '..=b'~' => written.push(char::from(*byte)),
            byte => drop(write!(written, "\\x{byte:02x}")),
        }
    }
    written + "\""
}

/// A comment of one line, whatever is in it.
pub fn comment(line: &str) -> String {
    let mut written = String::from("#");
    if !line.is_empty() {
        written.push(' ');
    }
    for sign in line.chars() {
        match sign {
            ' '..='~' => written.push(sign),
            sign => written.extend(sign.escape_default()),
        }
    }
    written
}

/// A value of JSON.
pub fn json(value: &Json) -> String {
    match value {
        Json::Null => "None".to_owned(),
        Json::Bool(true) => "True".to_owned(),
        Json::Bool(false) => "False".to_owned(),
        Json::Number(number) if number.is_f64() => format!("Fraction({})", text(&number.to_string())),
        Json::Number(number) => number.to_string(),
        Json::String(string) => text(string),
        Json::Array(items) => format!("[{}]", items.iter().map(json).collect::<Vec<_>>().join(", ")),
        Json::Object(members) => {
            let pairs: Vec<String> =
                members.iter().map(|(name, value)| format!("{}: {}", text(name), json(value))).collect();
            format!("{{{}}}", pairs.join(", "))
        }
    }
}

/// A dictionary; the values are expressions.
pub fn dictionary<'a>(pairs: impl Iterator<Item = (&'a str, String)>) -> String {
    let pairs: Vec<String> = pairs.map(|(name, value)| format!("{}: {value}", text(name))).collect();
    format!("{{{}}}", pairs.join(", "))
}

/// A pattern in Python's dialect, without the frame that makes it fit a whole line.
pub fn pattern(pattern: &str) -> String {
    let inner = pattern.strip_prefix("\\A(?:").and_then(|rest| rest.strip_suffix(")\\z")).unwrap_or(pattern);
    let (mut written, mut rest) = (String::new(), inner);
    while let Some(sign) = rest.chars().next() {
        // A named group of either spelling has one in Python; there is no other `(?<` in a pattern.
        let (from, to) = match rest {
            _ if rest.starts_with("\\z") => ("\\z", "\\Z"),
            _ if rest.starts_with('\\') => {
                let escaped = rest[1..].chars().next().map_or(0, char::len_utf8);
                (&rest[..=escaped], &rest[..=escaped])
            }
            _ if rest.starts_with("(?<") => ("(?<", "(?P<"),
            _ => (&rest[..sign.len_utf8()], &rest[..sign.len_utf8()]),
        };
        written.push_str(to);
        rest = &rest[from.len()..];
    }
    written
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    #[test]
    fn no_sign_ends_a_literal_or_a_comment() {
        let any: String = (0..0x300).chain([0x2028, 0xFEFF, 0x1F600]).filter_map(char::from_u32).collect();
        for written in [text(&any), bytes(any.as_bytes()), comment(&any)] {
            assert!(written.chars().all(|sign| matches!(sign, ' '..='~')), "{written}");
        }
        assert_eq!(text("a\"b\\"), "\"a\\\"b\\\\\"");
        assert_eq!(bytes(b"'\xff\0"), "b\"'\\xff\\x00\"");
        assert_eq!(comment("a\nimport os"), "# a\\nimport os");
    }

    #[test]
    fn python_reads_what_was_meant() {
        let any: String = (0..0x300).chain([0x2028, 0xFEFF, 0x1F600]).filter_map(char::from_u32).collect();
        let every: Vec<u8> = (0..=255).collect();
        let tree = serde_json::json!({ "a\"'\n": [true, null, 3, -7.5, "9007199254740993", { "$(x)": {} }] });
        let program = format!(
            "import sys\nfrom fractions import Fraction\nsys.stdout.buffer.write({} + {}.encode() + str({}).encode()) {}",
            bytes(&every),
            text(&any),
            json(&tree),
            comment("\nraise SystemExit(3)\r\n")
        );
        let output = std::process::Command::new("python3").arg("-c").arg(program).output().unwrap();
        let told = "{'a\"\\'\\n': [True, None, 3, Fraction(-15, 2), '9007199254740993', {'$(x)': {}}]}";
        assert_eq!(output.stdout, [every.as_slice(), any.as_bytes(), told.as_bytes()].concat(), "{output:?}");
    }

    #[test]
    fn patterns_are_those_of_python() {
        for (ours, theirs) in [
            ("\\A(?:sum (?<s>\\d+))\\z", "sum (?P<s>\\d+)"),
            ("(?P<s>x)\\z", "(?P<s>x)\\Z"),
            ("\\(?<x", "\\(?<x"),
            ("größe\\", "größe\\"),
        ] {
            assert_eq!(pattern(ours), theirs);
        }
    }
}
