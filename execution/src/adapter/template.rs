//! Texts with holes: a line to send, a path, a word of a command.
//!
//! `{name}` is a hole, `{{` and `}}` are braces. In a body, which is JSON more often than not, braces stand for
//! themselves, and only `{name}` with a name in it is a hole.

use std::fmt;
use std::ops::Range;

/// A text cut at its holes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template(Vec<Piece>);

#[derive(Clone, PartialEq, Eq, Debug)]
enum Piece {
    Text(String),
    Hole(String),
}

/// Why a text is no template: what is wrong, and at which bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TemplateError {
    /// What is wrong.
    pub message: &'static str,
    /// Where, in bytes of the text.
    pub at: Range<usize>,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message)
    }
}

impl std::error::Error for TemplateError {}

impl Template {
    /// A text without holes, whatever it contains.
    pub fn fixed(text: &str) -> Self {
        Template(vec![Piece::Text(text.to_owned())])
    }

    /// A template of one line.
    ///
    /// # Errors
    /// [`TemplateError`]: a single brace, an unclosed one, a hole without a name.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let mut builder = Builder::default();
        let mut at = 0;
        while let Some(sign) = text[at..].chars().next() {
            let rest = &text[at..];
            at += match sign {
                '{' | '}' if rest[1..].starts_with(sign) => {
                    builder.text.push(sign);
                    2
                }
                '{' => match (name(&rest[1..]), rest.find('}')) {
                    (Some(name), _) => {
                        builder.hole(name);
                        name.len() + 2
                    }
                    (None, Some(end)) => {
                        let message = "between the braces must stand a name";
                        return Err(TemplateError { message, at: at..at + end + 1 });
                    }
                    (None, None) => {
                        let message = "a brace that is never closed: `{{` stands for a brace itself";
                        return Err(TemplateError { message, at: at..at + 1 });
                    }
                },
                '}' => {
                    let message = "a closing brace without an opening one: `}}` stands for a brace itself";
                    return Err(TemplateError { message, at: at..at + 1 });
                }
                other => {
                    builder.text.push(other);
                    other.len_utf8()
                }
            };
        }
        Ok(builder.finish())
    }

    /// A template in which braces stand for themselves where no name is between them.
    pub fn parse_body(text: &str) -> Self {
        let mut builder = Builder::default();
        let mut at = 0;
        while let Some(sign) = text[at..].chars().next() {
            let hole = if sign == '{' { name(&text[at + 1..]) } else { None };
            at += match hole {
                Some(name) => {
                    builder.hole(name);
                    name.len() + 2
                }
                None => {
                    builder.text.push(sign);
                    sign.len_utf8()
                }
            };
        }
        builder.finish()
    }

    /// The names of the holes, in order.
    pub fn holes(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            Piece::Hole(name) => Some(name.as_str()),
            Piece::Text(_) => None,
        })
    }

    /// The text with its holes filled.
    ///
    /// # Errors
    /// The name of a hole for which there is nothing.
    pub fn fill(&self, mut value: impl FnMut(&str) -> Option<String>) -> Result<String, String> {
        let mut text = String::new();
        for piece in &self.0 {
            match piece {
                Piece::Text(piece) => text.push_str(piece),
                Piece::Hole(name) => text.push_str(&value(name).ok_or_else(|| name.clone())?),
            }
        }
        Ok(text)
    }
}

#[derive(Default)]
struct Builder {
    pieces: Vec<Piece>,
    text: String,
}

impl Builder {
    fn hole(&mut self, name: &str) {
        if !self.text.is_empty() {
            self.pieces.push(Piece::Text(std::mem::take(&mut self.text)));
        }
        self.pieces.push(Piece::Hole(name.to_owned()));
    }

    fn finish(mut self) -> Template {
        if !self.text.is_empty() {
            self.pieces.push(Piece::Text(self.text));
        }
        Template(self.pieces)
    }
}

/// The name with which the text begins, where a closing brace follows it.
fn name(text: &str) -> Option<&str> {
    let end = text.find(|sign: char| !sign.is_ascii_alphanumeric() && sign != '_')?;
    let name = &text[..end];
    let begins = name.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_');
    (begins && text[end..].starts_with('}')).then_some(name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    fn filled(template: &Template) -> Result<String, String> {
        template.fill(|name| (name != "none").then(|| format!("<{name}>")))
    }

    #[test]
    fn holes_are_filled_and_doubled_braces_are_braces() {
        for (text, expected) in [
            ("INCRBY {key} {n}", "INCRBY <key> <n>"),
            ("{a}{b}", "<a><b>"),
            ("{{{a}}}", "{<a>}"),
            ("{{a}}", "{a}"),
            ("", ""),
            ("größe {a}", "größe <a>"),
        ] {
            assert_eq!(filled(&Template::parse(text).unwrap()), Ok(expected.to_owned()), "{text}");
        }
        assert_eq!(filled(&Template::parse("x {none}").unwrap()), Err("none".to_owned()));
    }

    #[test]
    fn a_brace_alone_is_a_mistake_with_its_place() {
        for (text, at) in [("a {b", 2..3), ("a } b", 2..3), ("a {b c} d", 2..7), ("{}", 0..2), ("{1}", 0..3)]
        {
            assert_eq!(Template::parse(text).unwrap_err().at, at, "{text}");
        }
    }

    #[test]
    fn a_body_keeps_the_braces_of_json() {
        for (text, expected) in [
            (r#"{"n": {n}}"#, r#"{"n": <n>}"#),
            (r#"{"a": {"b": {}}}"#, r#"{"a": {"b": {}}}"#),
            ("{{n}}", "{<n>}"),
            ("{ n }", "{ n }"),
        ] {
            assert_eq!(filled(&Template::parse_body(text)), Ok(expected.to_owned()), "{text}");
        }
    }
}
