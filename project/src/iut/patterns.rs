//! Regular expressions of lines.

use coreach_adapters::lines::pattern;
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
            let help = "for example `'^:(?P<n>-?\\d+)$'`; a named group is a parameter's value";
            reader.collector.mistake("bad-pattern", message, &scalar.span, "cannot be read", help);
            None
        }
    }
}
