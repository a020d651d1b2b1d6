//! Symbolic execution against brute force: trees of paths ([`tree`]), and goals of coverage ([`cover`]).
//!
//! Both take a finite system and say what differs. They are run by the soak ([`crate::properties`]) on its
//! pairs, and by `tests/symbolic` on systems that are drawn for them.

pub mod cover;
pub mod tree;

/// Or this is an error, in these words.
macro_rules! ensure {
    ($condition:expr, $($text:tt)+) => {
        if !$condition {
            return Err(format!($($text)+));
        }
    };
}
pub(crate) use ensure;
