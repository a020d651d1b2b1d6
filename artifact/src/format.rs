//! How a document says what it is: below all that reads or refuses one.

/// The word with which a document begins.
pub const FORMAT: &str = "coreach";

/// The version of the format: raised when a reader could stumble, not when a key is added.
pub const FORMAT_VERSION: u64 = 7;
