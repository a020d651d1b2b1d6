//! The limits that several modules have for the same reason.

/// The most items that a sentence names.
pub const FEW_SHOWN: usize = 3;

/// The most items, or lines, of a list that people read.
pub const MANY_SHOWN: usize = 20;

/// The most characters of a value that stands in a line with others.
pub const LONGEST_VALUE: usize = 60;

/// The most characters of a text that takes a line, and of a name that is made: nobody reads longer ones.
pub const LONGEST_TEXT: usize = 120;

/// The most characters of an excerpt from a text of any length.
pub const LONGEST_EXCERPT: usize = 400;

/// The deepest nesting of types, lists, mappings, and brackets outside of terms: each level is a call.
pub const DEEPEST: usize = 64;

/// The most parts of one type, with the parts of its parts: types are compared part by part.
pub const MOST_PARTS: usize = 1_000;

/// The most values of a type, or cells of an array, that a text lists.
pub const MOST_VALUES: usize = 1_000;

/// The most states that are followed one by one.
pub const MOST_STATES: usize = 2048;

/// So many states are better followed one by one than as one formula.
pub const FEW_STATES: usize = 256;
