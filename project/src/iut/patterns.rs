//! Regular expressions of lines.

use coreach_adapters::lines::pattern;
use coreach_model::reader::lexer::is_name;
use coreach_model::reader::yaml::Scalar;

use super::words::{IutReader, ParameterPlaces};

pub const OBSERVATIONS: &str = "observations: { Value: '^:(?P<n>-?\\d+)$' }";

/// A regular expression of a whole line.
pub type Regex = coreach_adapters::lines::Regex;

/// A regular expression, and its groups with their places.
pub fn regular(reader: &mut IutReader<'_>, scalar: &Scalar) -> Option<(Regex, ParameterPlaces)> {
    match pattern(&scalar.text) {
        Ok(regex) => {
            let place = |name: &str| {
                let written = format!("<{name}>");
                let at = scalar.text.find(&written);
                at.map_or(scalar.span.clone(), |at| scalar.place(&(at + 1..at + 1 + name.len())))
            };
            let names = regex.capture_names().flatten().map(|name| (name.to_owned(), place(name))).collect();
            Some((regex, names))
        }
        Err(error) => {
            // The message draws the expression itself; its last line says what is wrong.
            let text = error.to_string();
            let last = text.lines().last().unwrap_or_default();
            let why = last.strip_prefix("error: ").unwrap_or(last);
            let message = format!("this is no regular expression: {why}");
            let help = match named_holes(&scalar.text) {
                Some(pattern) => format!("a value is a named group: `'{pattern}'`"),
                None => "for example `'^:(?P<n>-?\\d+)$'`; a named group is a parameter's value".to_owned(),
            };
            // Above it, a sign points at the place in the line before.
            let mut lines = text.lines().rev().skip(1);
            let place = lines.next().and_then(|pointer| pointer.find('^')).and_then(|column| {
                let drawn = lines.next()?;
                let at = column.checked_sub(drawn.find(&scalar.text)?)?;
                scalar.text.is_char_boundary(at).then(|| scalar.place(&(at..at + 1)))
            });
            let place = place.unwrap_or(scalar.span.clone());
            reader.collector.mistake("bad-pattern", message, &place, "cannot be read", help);
            None
        }
    }
}

/// The pattern in which each `{name}`, as of a template, is a named group.
fn named_holes(text: &str) -> Option<String> {
    let (mut pattern, mut rest, mut found) = (String::new(), text, false);
    while let Some((before, behind)) = rest.split_once('{') {
        pattern += before;
        match behind.split_once('}').filter(|(name, _)| is_name(name)) {
            Some((name, behind)) => {
                pattern += &format!("(?P<{name}>.+)");
                (rest, found) = (behind, true);
            }
            None => {
                pattern.push('{');
                rest = behind;
            }
        }
    }
    found.then(|| format!("^{}$", (pattern + rest).trim_matches(['^', '$'])))
}
