//! Shows a term in a sentence: its text, or only the beginning if the text is too long to read. (The text of
//! a term with shared parts can be exponentially long.)

use std::fmt::{self, Write as _};

use coreach_model::Term;

/// The most bytes that a sentence shows of a term.
pub const MOST_SHOWN: usize = 1000;

/// The text of a term, cut after [`MOST_SHOWN`] bytes. It costs no more than the shown text.
pub struct Excerpt<'a>(pub &'a Term);

impl fmt::Display for Excerpt<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cut = CutWriter { out: f, room: MOST_SHOWN, is_full: false };
        match write!(cut, "{}", self.0) {
            Err(_) if cut.is_full => f.write_str("..."),
            result => result,
        }
    }
}

/// Ends the writing by an error when enough is written.
struct CutWriter<'a, 'b> {
    out: &'a mut fmt::Formatter<'b>,
    /// The bytes that may still be written.
    room: usize,
    is_full: bool,
}

impl fmt::Write for CutWriter<'_, '_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        if text.len() <= self.room {
            self.room -= text.len();
            return self.out.write_str(text);
        }
        self.is_full = true;
        let end = (0..=self.room).rev().find(|end| text.is_char_boundary(*end)).unwrap_or(0);
        self.out.write_str(&text[..end])?;
        Err(fmt::Error)
    }
}
