//! A user's mistake as data: what is wrong, where in the user's own text, what was expected.
//!
//! Everything that reads what a user wrote collects diagnostics and goes on; one renderer (in the command
//! line) draws them. A diagnostic without an origin is about something that has no text (a missing file,
//! say).

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

/// A file as it was read: its name as the user gave it, and its text.
#[derive(PartialEq, Eq, Debug)]
pub struct SourceFile {
    /// The path as the user wrote it.
    pub name: String,
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Origin {
    pub file: Arc<SourceFile>,
    /// Byte offsets into its text.
    pub span: Range<usize>,
}

impl Origin {
    /// Line and column of the beginning, both counted from 1, the column in characters.
    pub fn line_and_column(&self) -> (usize, usize) {
        let text_before = self.file.text.get(..self.span.start).unwrap_or(&self.file.text);
        // Bytes and whole slices are counted, which is fast: a file may be one line of megabytes.
        let line = text_before.bytes().filter(|byte| *byte == b'\n').count() + 1;
        let start = text_before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = text_before[start..].chars().count() + 1;
        (line, column)
    }

    /// Names the file and the line: `model.yaml:15`.
    pub fn file_and_line(&self) -> String {
        format!("{}:{}", self.file.name, self.line_and_column().0)
    }

    pub fn text(&self) -> &str {
        self.file.text.get(self.span.clone()).unwrap_or("")
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (line, column) = self.line_and_column();
        write!(f, "{}:{line}:{column}", self.file.name)
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Nothing can be made of the input.
    Error,
    /// Worth knowing; the work goes on.
    Warning,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// A stable name, in kebab-case: `unknown-datum`.
    pub code: &'static str,
    pub severity: Severity,
    /// The mistake in one sentence without a full stop.
    pub message: String,
    /// Places in the text. The first is where the mistake is, the others say what it clashes with. The text
    /// stands under the line.
    pub labels: Vec<(Origin, String)>,
    /// Facts that belong to it, a line each: a witness, a cycle.
    pub notes: Vec<String>,
    pub help: Option<String>,
}

impl Diagnostic {
    pub fn error(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic {
            code,
            severity: Severity::Error,
            message: message.into(),
            labels: Vec::new(),
            notes: Vec::new(),
            help: None,
        }
    }

    pub fn warning(code: &'static str, message: impl Into<String>) -> Self {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(code, message) }
    }

    /// Adds a place with the text that stands under it. No origin, no label.
    #[must_use]
    pub fn at(mut self, origin: impl Into<Option<Origin>>, text: impl Into<String>) -> Self {
        if let Some(origin) = origin.into() {
            self.labels.push((origin, text.into()));
        }
        self
    }

    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Finds the known name that is nearest to a misspelt one, if one is near enough to be meant: at most a third
/// of its letters differ, counting insertions, deletions, changes and swaps of neighbours. A name that
/// differs in case only always counts as near. If none is near, it is the only name of which the misspelt one
/// is the beginning or the end, or the other way round. Otherwise it is the only name that the misspelt one
/// abbreviates.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let (mut with_part, mut abbreviated) = (Vec::new(), Vec::new());
    let letters = name.chars().count();
    let mut limit = (letters / 3).max(1);
    let mut best: Option<(usize, &str)> = None;
    for candidate in known {
        if is_part(name, candidate) {
            with_part.push(candidate);
        } else if is_abbreviation(name, candidate) {
            abbreviated.push(candidate);
        }
        let distance = match letters.abs_diff(candidate.chars().count()) {
            _ if is_same_but_for_case(name, candidate) => 0,
            // The distance is at least as large, and costs more to compute.
            difference if difference > limit => difference,
            _ => strsim::osa_distance(name, candidate),
        };
        if distance <= limit && best.is_none_or(|best| (distance, candidate) < best) {
            best = Some((distance, candidate));
            limit = distance;
        }
    }
    // A part or an abbreviation of several names says nothing.
    let only = |names: &[&'a str]| <[&str; 1]>::try_from(names).ok().map(|[only]| only);
    best.map(|(_, candidate)| candidate).or_else(|| only(&with_part)).or_else(|| only(&abbreviated))
}

/// Does the longer name begin or end with the shorter one, which has at least three letters?
fn is_part(a: &str, b: &str) -> bool {
    let (short, long) = if a.len() < b.len() { (a, b) } else { (b, a) };
    let (short, long) = (short.to_ascii_lowercase(), long.to_ascii_lowercase());
    short.len() >= 3 && (long.starts_with(&short) || long.ends_with(&short))
}

/// Does `name` abbreviate `long`? It has at least three letters, at most half as many as `long`, in the same
/// order, and the same first letter.
fn is_abbreviation(name: &str, long: &str) -> bool {
    let has_first_letter = name.as_bytes().first() == long.as_bytes().first();
    let is_short = name.len() >= 3 && name.len() * 2 <= long.len();
    // `any` takes letters up to the one that it finds, so the next search begins after it.
    let mut letters = long.bytes();
    has_first_letter && is_short && name.bytes().all(|letter| letters.any(|other| other == letter))
}

fn is_same_but_for_case(a: &str, b: &str) -> bool {
    let is_ascii = a.is_ascii() && b.is_ascii();
    if is_ascii { a.eq_ignore_ascii_case(b) } else { a.to_lowercase() == b.to_lowercase() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_is_the_first_by_distance_then_by_name() {
        assert_eq!(nearest("vPiad", ["vPain", "vPaid", "vPrice"]), Some("vPaid"));
        assert_eq!(nearest("abc", ["abe", "abd"]), Some("abd"));
        assert_eq!(nearest("IDLE", ["Idles", "idle"]), Some("idle"));
        assert_eq!(nearest("Größe", ["GRÖSSE", "größe"]), Some("größe"));
        assert_eq!(nearest("Coin", ["Return"]), None);
        assert_eq!(nearest("sync", ["asynchronous", "synchronous"]), Some("synchronous"));
        assert_eq!(nearest("level", ["vOn", "pLevel"]), Some("pLevel"));
        assert_eq!(nearest("spec", ["purpose", "specification"]), Some("specification"));
        assert_eq!(nearest("spec", ["species", "specification"]), None);
        assert_eq!(nearest("cmd", ["command", "directory"]), Some("command"));
    }
}
