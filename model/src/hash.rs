//! Hashing for tables that are asked millions of times: fast, and the same in every run.
//!
//! A fixpoint looks up the same small numbers and the same rows of numbers millions of times. The hash of the
//! standard library, which withstands chosen collisions, took a fifth of the time. Here a word is rotated in
//! and multiplied, as in Firefox and in `rustc` ("FxHash"). Collisions on purpose do not matter: whoever
//! chooses a model chooses its cost anyway, and a run has a budget. No table that uses this is iterated, so
//! no order depends on it.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

pub type FastMap<K, V> = HashMap<K, V, BuildHasherDefault<FastHasher>>;

pub type FastSet<K> = HashSet<K, BuildHasherDefault<FastHasher>>;

/// 2^64 divided by the golden ratio, made odd.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

#[derive(Default)]
pub struct FastHasher(u64);

impl FastHasher {
    #[inline]
    fn add(&mut self, word: u64) {
        self.0 = (self.0.rotate_left(5) ^ word).wrapping_mul(SPREAD);
    }
}

/// Hashes one word instead of its bytes.
macro_rules! add_words {
    ($($write:ident: $word:ty,)*) => {$(
        #[inline]
        fn $write(&mut self, word: $word) {
            self.add(word as u64);
        }
    )*};
}

impl Hasher for FastHasher {
    add_words! { write_u8: u8, write_u32: u32, write_u64: u64, write_i64: i64, write_usize: usize, }
    add_words! { write_isize: isize, }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.add(u64::from_le_bytes(word));
        }
    }

    #[inline]
    fn finish(&self) -> u64 {
        // The upper bits are the well mixed ones, and a table looks at both ends.
        self.0 ^ (self.0 >> 32)
    }
}

#[cfg(test)]
mod tests {
    use std::hash::BuildHasher;

    use super::*;

    #[test]
    fn small_numbers_and_rows_of_them_are_spread() {
        let build = BuildHasherDefault::<FastHasher>::default();
        let pairs = (0..200u32).flat_map(|a| (0..200u32).map(move |b| (a, b)));
        let hashes: HashSet<u64> = pairs.clone().map(|pair| build.hash_one(pair)).collect();
        assert_eq!(hashes.len(), 40_000);
        // Both ends are looked at by a table: the lower bits for the place, the upper ones for a first
        // comparison.
        let lower: HashSet<u64> = pairs.map(|pair| build.hash_one(pair) & 0xffff).collect();
        assert!(lower.len() > 20_000, "{}", lower.len());
        let rows = (0..1000i64).map(|at| build.hash_one([at % 10, at / 10 % 10, at / 100, 0, 0, -1]));
        assert_eq!(rows.collect::<HashSet<u64>>().len(), 1000);
    }
}
