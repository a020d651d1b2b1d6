//! The key of a run: a hash of everything that decides it ([`super::plan`]).

use std::fmt;

use sha2::{Digest, Sha256};

/// People are shown so many signs of a key: enough for billions of runs.
pub const SHOWN: usize = 12;

/// The key of a run, of a test case or of an implementation's description: a SHA-256.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key([u8; 32]);

impl Key {
    pub fn of(text: &str) -> Self {
        Key(Sha256::digest(text.as_bytes()).into())
    }

    /// Returns its first 64 bits as a number.
    pub fn number(&self) -> u64 {
        self.0.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }

    /// Returns the beginning, which people are shown.
    pub fn short(&self) -> String {
        let mut text = self.to_string();
        text.truncate(SHOWN);
        text
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}
