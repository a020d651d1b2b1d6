//! Patterns that fit a whole text: a line, a header, the body of an answer.

pub use regex::Regex;

/// Makes a pattern that must fit a whole line.
///
/// # Errors
/// It is no regular expression, or one that is too large.
pub fn pattern(text: &str) -> Result<Regex, regex::Error> {
    // Alone first: what is wrong with it shall be said about what the user wrote.
    Regex::new(text)?;
    Regex::new(&format!("\\A(?:{text})\\z"))
}

/// Returns the pattern as the user wrote it.
pub fn written(pattern: &Regex) -> &str {
    let whole = pattern.as_str();
    whole.strip_prefix("\\A(?:").and_then(|own| own.strip_suffix(")\\z")).unwrap_or(whole)
}
