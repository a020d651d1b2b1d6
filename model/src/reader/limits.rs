//! Limits of the texts that are read.
//!
//! A person writes less than a program. The stages may make a file that is larger than both of their files
//! (every pair of locations, both guards in one), and a written file must be readable. So a document that
//! coreach made, which says so in its first line, is read up to larger limits. Limits they are all the same:
//! if a user puts that line into another file, an answer takes a few times longer, and comes.

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ReaderLimits {
    /// The largest file, in bytes. Every byte costs, a comment's too.
    pub bytes: usize,
    /// The most nodes of one file, with those that aliases repeat. Each costs nearly a microsecond before
    /// anything is known of it.
    pub nodes: usize,
    /// The longest expression, in bytes.
    pub expression: usize,
}

/// The beginning of a document that coreach made.
pub const MADE_MARK: &str = "# coreach: ";

impl ReaderLimits {
    /// The limits for a text of a person: ten times as much as ten thousand lines, or about fifteen thousand
    /// transitions.
    pub const GIVEN: ReaderLimits = ReaderLimits { bytes: 4 << 20, nodes: 150_000, expression: 65_536 };

    /// The limits for a text that coreach made.
    pub const GENERATED: ReaderLimits = ReaderLimits { bytes: 16 << 20, nodes: 600_000, expression: 1 << 20 };

    /// The limits for a text, by its first bytes.
    pub fn of(text: &[u8]) -> ReaderLimits {
        if text.starts_with(MADE_MARK.as_bytes()) { ReaderLimits::GENERATED } else { ReaderLimits::GIVEN }
    }
}
