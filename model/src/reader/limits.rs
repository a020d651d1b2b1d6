//! How much of a text is read.
//!
//! A person writes less than a program. What the stages make of two files may be larger than either (every
//! pair of their locations, both guards in one), and what is written must be readable. So a document that
//! coreach made, which says so in its first line, is read up to limits of its own. They are limits all the
//! same: who puts the line into a file of another origin gets an answer a few times later, not never.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// The largest file, in bytes. Every byte costs, a comment's too.
    pub bytes: usize,
    /// The most nodes of one file, those that aliases repeat included. Each costs nearly a microsecond before
    /// anything is known of it.
    pub nodes: usize,
    /// The longest expression, in bytes.
    pub expression: usize,
}

/// The beginning of a document that coreach made.
pub const MADE_MARK: &str = "# coreach: ";

impl Limits {
    /// Of what a person wrote: ten times what ten thousand lines have; about fifteen thousand transitions.
    pub const GIVEN: Limits = Limits { bytes: 4 << 20, nodes: 150_000, expression: 65_536 };

    /// Of what coreach made.
    pub const MADE: Limits = Limits { bytes: 16 << 20, nodes: 600_000, expression: 1 << 20 };

    /// The limits for a text, by its first bytes.
    pub fn of(text: &[u8]) -> Limits {
        if text.starts_with(MADE_MARK.as_bytes()) { Limits::MADE } else { Limits::GIVEN }
    }
}
