//! A part of a campaign, for one of several machines.
//!
//! `hash:m/n` is the m-th of n parts, counted from 1: the runs whose key, read as a number, leaves the
//! remainder m - 1. The machines need to agree on nothing but n. A key is a hash, so the parts are about
//! equally large, and each has some of every test and implementation.

use std::fmt;
use std::str::FromStr;

use coreach_model::number::count;

use crate::campaign::key::Key;

/// The most parts.
const MOST: u64 = 1_000_000;

/// One of so many parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    /// Which, counted from 1.
    part: u64,
    of: u64,
}

impl Partition {
    /// All runs.
    pub const WHOLE: Partition = Partition { part: 1, of: 1 };

    /// Is the run in this part? Every run is in exactly one.
    pub fn takes(self, key: &Key) -> bool {
        key.number() % self.of == self.part - 1
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hash:{}/{}", self.part, self.of)
    }
}

impl FromStr for Partition {
    type Err = String;

    /// Reads `hash:m/n`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("`{text}` is no partition: expected hash:M/N, for example hash:1/4 for the first of four")
        };
        let (part, of) =
            text.strip_prefix("hash:").and_then(|rest| rest.split_once('/')).ok_or_else(wrong)?;
        let (part, of) = count(part).zip(count(of)).ok_or_else(wrong)?;
        if of == 0 || of > MOST {
            return Err(format!("a campaign is split into 1 to {MOST} parts, not into {of}"));
        }
        if part == 0 || part > of {
            return Err(format!("there is no part {part} of {of}: parts are counted from 1 to {of}"));
        }
        Ok(Partition { part, of })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    #[test]
    fn every_key_is_in_one_part() {
        for of in [1, 2, 3, 7] {
            let parts: Vec<Partition> =
                (1..=of).map(|part| format!("hash:{part}/{of}").parse().unwrap()).collect();
            for number in 0..200_u32 {
                let key = Key::of(&number.to_string());
                assert_eq!(parts.iter().filter(|part| part.takes(&key)).count(), 1);
            }
        }
    }

    #[test]
    fn what_is_no_part_is_refused() {
        for text in
            ["", "1/2", "hash:", "hash:0/2", "hash:3/2", "hash:1/0", "hash:+1/2", "hash:1/2/3", "hash:a/b"]
        {
            assert!(text.parse::<Partition>().is_err(), "{text}");
        }
        assert_eq!("hash:2/3".parse::<Partition>().unwrap().to_string(), "hash:2/3");
    }
}
