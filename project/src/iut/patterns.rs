//! Reads regular expressions of lines.

use coreach_adapters::lines::pattern;
use coreach_model::reader::lexer::is_name;
use coreach_model::reader::yaml::Scalar;

use super::words::{IutReader, ParameterPlaces};

pub const OBSERVATIONS: &str = "observations: { Value: '^:(?P<n>-?\\d+)$' }";

/// A regular expression of a whole line.
pub type Regex = coreach_adapters::lines::Regex;

/// Reads a regular expression, and its groups with their places.
pub fn read_regex(reader: &mut IutReader<'_>, scalar: &Scalar) -> Option<(Regex, ParameterPlaces)> {
    if let Some(repeated) = ["^+", "^*", "^?"].into_iter().find(|begin| scalar.text.starts_with(begin)) {
        let help = explain_sign(&scalar.text, 1).unwrap_or_default();
        let message = format!("`{repeated}` repeats the beginning of the line, and matches no text");
        reader.collector.mistake("bad-pattern", message, &scalar.place(&(1..2)), "means nothing here", help);
        return None;
    }
    match pattern(&scalar.text) {
        Ok(regex) => {
            let place = |name: &str| {
                // The name stands behind the bracket.
                let start = scalar.text.find(&format!("<{name}>")).map(|bracket| bracket + 1);
                start.map_or(scalar.span.clone(), |start| scalar.place(&(start..start + name.len())))
            };
            let names = regex.capture_names().flatten().map(|name| (name.to_owned(), place(name))).collect();
            Some((regex, names))
        }
        Err(error) => {
            // The message draws the expression. Its last line says what is wrong.
            let text = error.to_string();
            let last_line = text.lines().last().unwrap_or_default();
            let reason = last_line.strip_prefix("error: ").unwrap_or(last_line);
            let message = format!("this is not a regular expression: {reason}");
            let error_at = error_place(&text, &scalar.text);
            let help = match replace_holes(&scalar.text) {
                _ if let Some(help) = error_at.and_then(|index| explain_sign(&scalar.text, index)) => help,
                Some(pattern) => format!("write a value as a named group: `'{pattern}'`"),
                None => "for example `'^:(?P<n>-?\\d+)$'`; a named group is a parameter's value".to_owned(),
            };
            let place = error_at.map_or(scalar.span.clone(), |index| scalar.place(&(index..index + 1)));
            reader.collector.mistake("bad-pattern", message, &place, "cannot be read", help);
            None
        }
    }
}

/// Finds the place that a message about a regular expression marks with `^` below the expression.
fn error_place(message: &str, expression: &str) -> Option<usize> {
    // From the end: the reason, the line with the mark, the line with the expression.
    let mut lines = message.lines().rev().skip(1);
    let mark_column = lines.next()?.find('^')?;
    let position = mark_column.checked_sub(lines.next()?.find(expression)?)?;
    expression.is_char_boundary(position).then_some(position)
}

/// Explains how to write a sign for itself, if it has a meaning in regular expressions.
fn explain_sign(expression: &str, position: usize) -> Option<String> {
    let from_sign = &expression[position..];
    let sign = from_sign.chars().next().filter(|sign| "+*?()[]{}".contains(*sign))?;
    // The author means a group or a hole.
    if from_sign.starts_with("(?")
        || expression[..position].ends_with('{')
        || sign == '{' && replace_holes(from_sign).is_some()
    {
        return None;
    }
    let literal = format!("{}\\{from_sign}", &expression[..position]);
    Some(format!("`{sign}` has a meaning in patterns: write `\\{sign}` for the sign itself, `'{literal}'`"))
}

/// Turns each `{name}`, as in a template, into a named group. `None`: there is none.
fn replace_holes(text: &str) -> Option<String> {
    let (mut pattern, mut remaining, mut has_holes) = (String::new(), text, false);
    while let Some((before, behind)) = remaining.split_once('{') {
        pattern += before;
        match behind.split_once('}').filter(|(name, _)| is_name(name)) {
            Some((name, behind)) => {
                pattern += &format!("(?P<{name}>.+)");
                (remaining, has_holes) = (behind, true);
            }
            None => {
                pattern.push('{');
                remaining = behind;
            }
        }
    }
    has_holes.then(|| format!("^{}$", (pattern + remaining).trim_matches(['^', '$'])))
}
