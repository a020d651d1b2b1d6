//! A part of a campaign, for one of several machines.
//!
//! `hash:m/n` is the m-th of n shards, counted from 1: the runs whose key, read as a number, leaves the
//! remainder m - 1. The machines need to agree only on n. A key is a hash, so the shards are about equally
//! large, and each has some runs of every test and implementation.

use std::fmt;
use std::str::FromStr;

use coreach_model::number::count;

use crate::campaign::key::Key;
use crate::limits::LARGEST_COUNT;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Partition {
    /// The number of the shard, counted from 1.
    shard: u64,
    shards: u64,
}

impl Partition {
    pub const WHOLE: Partition = Partition { shard: 1, shards: 1 };

    /// Is the run in this shard? Every run is in exactly one.
    pub fn takes(self, key: &Key) -> bool {
        key.number() % self.shards == self.shard - 1
    }
}

impl fmt::Display for Partition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "hash:{}/{}", self.shard, self.shards)
    }
}

impl FromStr for Partition {
    type Err = String;

    /// Reads `hash:m/n`.
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!("`{text}` is no partition: expected hash:M/N, for example hash:1/4 for the first of four")
        };
        let parts = text.strip_prefix("hash:").and_then(|rest| rest.split_once('/'));
        let (shard, shards) = parts.ok_or_else(wrong)?;
        let (shard, shards) = count(shard).zip(count(shards)).ok_or_else(wrong)?;
        if shards == 0 || shards > LARGEST_COUNT {
            return Err(format!("a campaign is split into 1 to {LARGEST_COUNT} shards, not into {shards}"));
        }
        if shard == 0 || shard > shards {
            return Err(format!(
                "there is no shard {shard} of {shards}: shards are counted from 1 to {shards}"
            ));
        }
        Ok(Partition { shard, shards })
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    #[test]
    fn every_key_is_in_one_part() {
        for of in [1, 2, 3, 7] {
            let shards: Vec<Partition> =
                (1..=of).map(|shard| format!("hash:{shard}/{of}").parse().unwrap()).collect();
            for number in 0..200_u32 {
                let key = Key::of(&number.to_string());
                assert_eq!(shards.iter().filter(|shard| shard.takes(&key)).count(), 1);
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
