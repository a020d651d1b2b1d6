//! Texts with holes: a line to send, a path, a word of a command.
//!
//! ```text
//! hole       = "{" expression "}"
//! expression = name | function "(" expression ")"        a function of one text: its length, its digits, ...
//! ```
//!
//! `{{` and `}}` are braces. A body is often JSON, so braces stand for themselves there. A hole of a body
//! must have only a name in it, or begin with a name and a parenthesis.

use std::fmt;
use std::ops::Range;

use crate::encoding::{base64, hex};

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Template(Vec<TemplatePart>);

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TemplatePart {
    Text(String),
    /// The functions from the outermost to the innermost, and the name.
    Hole(Vec<Function>, String),
}

coreach_model::words! {
    /// What can be done with a text before it is sent.
    pub enum Function {
        /// How many bytes it has in UTF-8, in decimal digits.
        Length = "len",
        /// Its bytes in Base64 (RFC 4648, 4), with padding.
        Base64 = "base64",
        /// Its bytes in pairs of small hexadecimal digits.
        Hex = "hex",
        Lower = "lower",
        /// As a JSON string, with its quotes.
        Json = "json",
    }
}

impl Function {
    /// Applies all functions, the last one first.
    pub fn all_of(functions: &[Function], text: String) -> String {
        functions.iter().rev().fold(text, |text, function| function.of(&text))
    }

    fn of(self, text: &str) -> String {
        match self {
            Function::Length => text.len().to_string(),
            Function::Base64 => base64(text.as_bytes()),
            Function::Hex => hex(text.as_bytes()),
            Function::Lower => text.to_lowercase(),
            Function::Json => serde_json::Value::from(text).to_string(),
        }
    }
}

/// Why a text is no template: what is wrong, and at which bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TemplateError {
    pub wrong: Wrong,
    pub at: Range<usize>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Wrong {
    Braces(&'static str),
    Function(String),
    /// This function has another number of arguments than one.
    Arity(Function, usize),
    /// The text in the parentheses of this function is no name and no function.
    Argument(Function),
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.wrong {
            Wrong::Braces(message) => f.write_str(message),
            Wrong::Function(name) => write!(f, "there is no function `{name}`"),
            Wrong::Arity(function, count) => {
                write!(f, "`{}` takes one text, not {count}", function.name())
            }
            Wrong::Argument(function) => {
                write!(f, "`{}` takes a name or another function", function.name())
            }
        }
    }
}

impl Template {
    /// Makes a template without holes, whatever the text contains.
    pub fn fixed(text: &str) -> Self {
        Template(vec![TemplatePart::Text(text.to_owned())])
    }

    /// Joins templates, with a text between them.
    pub fn joined(templates: impl IntoIterator<Item = Template>, between: &str) -> Self {
        let mut pieces = Vec::new();
        for template in templates {
            if !pieces.is_empty() {
                pieces.push(TemplatePart::Text(between.to_owned()));
            }
            pieces.extend(template.0);
        }
        Template(pieces)
    }

    /// Parses a template of one line.
    ///
    /// # Errors
    /// [`TemplateError`]: a single brace, an unclosed one, a hole without a name.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        let refuse = |message, at| Err(TemplateError { wrong: Wrong::Braces(message), at });
        let mut builder = TemplateBuilder::default();
        let mut position = 0;
        while let Some(sign) = text[position..].chars().next() {
            let unread = &text[position..];
            let place_of_sign = position..position + 1;
            position += match sign {
                '{' | '}' if unread[1..].starts_with(sign) => {
                    builder.text.push(sign);
                    2
                }
                '{' => match (read_expression(&unread[1..], position + 1)?, unread.find('}')) {
                    (Some((hole, length)), _) => {
                        builder.add_hole(hole);
                        length + 1
                    }
                    (None, Some(end)) => {
                        let place = position..position + end + 1;
                        return refuse("expected a name between the braces", place);
                    }
                    (None, None) => {
                        let message = "this brace is never closed: write `{{` for a brace itself";
                        return refuse(message, place_of_sign);
                    }
                },
                '}' => {
                    let message = "this closing brace has no opening one: write `}}` for a brace itself";
                    return refuse(message, place_of_sign);
                }
                other => {
                    builder.text.push(other);
                    other.len_utf8()
                }
            };
        }
        Ok(builder.finish())
    }

    /// Parses a template in which braces stand for themselves, unless a name or a function is between them.
    ///
    /// # Errors
    /// [`TemplateError`]: a text within braces begins as a function, and is none.
    pub fn parse_body(text: &str) -> Result<Self, TemplateError> {
        let mut builder = TemplateBuilder::default();
        let mut position = 0;
        while let Some(sign) = text[position..].chars().next() {
            let after = position + 1;
            let hole = if sign == '{' { read_expression(&text[after..], after)? } else { None };
            position += match hole {
                Some((hole, length)) => {
                    builder.add_hole(hole);
                    length + 1
                }
                None => {
                    builder.text.push(sign);
                    sign.len_utf8()
                }
            };
        }
        Ok(builder.finish())
    }

    pub fn holes(&self) -> impl Iterator<Item = &str> {
        self.0.iter().filter_map(|piece| match piece {
            TemplatePart::Hole(_, name) => Some(name.as_str()),
            TemplatePart::Text(_) => None,
        })
    }

    pub fn parts(&self) -> &[TemplatePart] {
        &self.0
    }

    /// Fills the holes of the text. Functions are applied to the texts that fill them.
    ///
    /// # Errors
    /// The name of a hole for which there is nothing.
    pub fn fill(&self, value: impl FnMut(&str) -> Option<String>) -> Result<String, String> {
        self.fill_as(value, |text| text)
    }

    /// Fills the holes as [`Template::fill`] does, and at last writes each of these texts in another way.
    pub fn fill_as(
        &self,
        mut value: impl FnMut(&str) -> Option<String>,
        encode: impl Fn(String) -> String,
    ) -> Result<String, String> {
        let mut filled = String::new();
        for piece in &self.0 {
            match piece {
                TemplatePart::Text(text) => filled.push_str(text),
                TemplatePart::Hole(functions, name) => {
                    let text = value(name).ok_or_else(|| name.clone())?;
                    filled.push_str(&encode(Function::all_of(functions, text)));
                }
            }
        }
        Ok(filled)
    }
}

#[derive(Default)]
struct TemplateBuilder {
    pieces: Vec<TemplatePart>,
    text: String,
}

impl TemplateBuilder {
    fn add_hole(&mut self, (functions, name): Hole) {
        if !self.text.is_empty() {
            self.pieces.push(TemplatePart::Text(std::mem::take(&mut self.text)));
        }
        self.pieces.push(TemplatePart::Hole(functions, name));
    }

    fn finish(mut self) -> Template {
        if !self.text.is_empty() {
            self.pieces.push(TemplatePart::Text(self.text));
        }
        Template(self.pieces)
    }
}

/// The functions from the outermost to the innermost, and the name.
type Hole = (Vec<Function>, String);

/// Reads the expression at the beginning of the text, up to a closing brace. Returns it with its length,
/// which includes that brace. `offset` is the place of the text in the template. `None` if the text begins
/// neither with a name and a brace nor with a name and a parenthesis, or is not closed.
fn read_expression(text: &str, offset: usize) -> Result<Option<(Hole, usize)>, TemplateError> {
    // Without a closing brace, there is no hole.
    let Some(end) = text.find('}') else { return Ok(None) };
    let inside = &text[..end];
    let (mut functions, mut begin) = (Vec::new(), 0);
    loop {
        let name = leading_name(&inside[begin..]);
        let name_end = begin + name.len();
        let rest = &inside[name_end..];
        match functions.last() {
            None if name.is_empty() => return Ok(None),
            Some(function) if name.is_empty() || !rest.starts_with(['(', ')']) => {
                return Err(explain_bad_argument(*function, inside, begin, offset));
            }
            _ => {}
        }
        if !rest.starts_with('(') {
            if rest == ")".repeat(functions.len()) {
                return Ok(Some(((functions, name.to_owned()), end + 1)));
            }
            if functions.is_empty() {
                return Ok(None);
            }
            let wrong = Wrong::Braces("the parentheses of a function are not closed");
            return Err(TemplateError { wrong, at: offset + name_end..offset + end });
        }
        // A JSON object or a program may have parentheses after a name. A hole ends with one.
        if functions.is_empty() && !inside.ends_with(')') {
            return Ok(None);
        }
        let Some(function) = Function::named(name) else {
            let wrong = Wrong::Function(name.to_owned());
            return Err(TemplateError { wrong, at: offset + begin..offset + name_end });
        };
        functions.push(function);
        begin = name_end + 1;
    }
}

/// Says what is wrong between the parentheses of a function.
fn explain_bad_argument(function: Function, inside: &str, begin: usize, offset: usize) -> TemplateError {
    let arguments = inside[begin..].trim_end_matches(')');
    let wrong = match arguments.split(',').count() {
        _ if arguments.trim().is_empty() => Wrong::Arity(function, 0),
        1 => Wrong::Argument(function),
        count => Wrong::Arity(function, count),
    };
    // If nothing is between the parentheses, they are the place.
    let place = if arguments.is_empty() { begin - 1..inside.len() } else { begin..begin + arguments.len() };
    TemplateError { wrong, at: offset + place.start..offset + place.end }
}

fn leading_name(text: &str) -> &str {
    let is_sign = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
    let end = text.find(|sign: char| !is_sign(sign)).unwrap_or(text.len());
    let begins = text.starts_with(|sign: char| sign.is_ascii_alphabetic() || sign == '_');
    if begins { &text[..end] } else { "" }
}

#[cfg(test)]
mod tests {
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
            assert_eq!(filled(&Template::parse_body(text).unwrap()), Ok(expected.to_owned()), "{text}");
        }
    }

    #[test]
    fn functions_are_of_what_fills_a_hole() {
        for (text, expected) in [
            ("${len(a)} {a}", "$3 <a>"),
            ("{base64(a)}", "PGE+"),
            ("{hex(a)}", "3c613e"),
            ("{lower(A)}", "<a>"),
            ("{len(hex(lower(A)))}", "6"),
            ("{hex(base64(a))}", "5047452b"),
            ("{json(a)}", "\"<a>\""),
            ("{len}", "<len>"),
        ] {
            assert_eq!(filled(&Template::parse(text).unwrap()), Ok(expected.to_owned()), "{text}");
            assert_eq!(filled(&Template::parse_body(text).unwrap()), Ok(expected.to_owned()), "{text}");
        }
        // A length counts bytes, not letters. A quote does not end a JSON string.
        let with = |text: &str, value: &str| {
            Template::parse(text).unwrap().fill(|_| Some(value.to_owned())).unwrap()
        };
        assert_eq!(with("{len(a)} {base64(a)} {hex(a)}", "gr\u{f6}\u{df}e"), "7 Z3LDtsOfZQ== 6772c3b6c39f65");
        assert_eq!(with("{json(a)}", "W/\"1\"\n"), r#""W/\"1\"\n""#);
        assert_eq!(with("{base64(a)}{hex(a)}{len(a)}", ""), "0");
    }

    #[test]
    fn what_is_no_function_of_one_text_is_a_mistake_with_its_place() {
        for (text, wrong, at) in [
            ("x {lenn(a)}", Wrong::Function("lenn".to_owned()), 3..7),
            ("{hex(lenn(a))}", Wrong::Function("lenn".to_owned()), 5..9),
            ("{len()}", Wrong::Arity(Function::Length, 0), 4..6),
            ("{len(a, b)}", Wrong::Arity(Function::Length, 2), 5..9),
            ("{hex(len(a,b))}", Wrong::Arity(Function::Length, 2), 9..12),
            ("{len(1)}", Wrong::Argument(Function::Length), 5..6),
            ("{len(a b)}", Wrong::Argument(Function::Length), 5..8),
        ] {
            let error = Template::parse(text).unwrap_err();
            assert_eq!((error.wrong, error.at), (wrong.clone(), at.clone()), "{text}");
            let error = Template::parse_body(text).unwrap_err();
            assert_eq!((error.wrong, error.at), (wrong, at), "{text}");
        }
        for text in ["{len(a}", "{len(a))}", "{hex(len(a)}", "{len(a", "{len (a)}", "{len(a)b}"] {
            assert!(Template::parse(text).is_err(), "{text}");
        }
        // These are texts of a body.
        for text in ["function f(x) {g(x); }", "{user(id: 4) {name}", "{ len(a) }", "{f (a)}"] {
            assert!(Template::parse_body(text).is_ok(), "{text}");
        }
    }
}
