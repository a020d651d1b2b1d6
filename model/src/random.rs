//! A small random number generator of our own, so that a seed names the same case on every machine and with
//! every version of every library: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014,
//! <https://doi.org/10.1145/2660193.2660195>).

use crate::{Number, Numbered};

/// A stream of random numbers that its seed determines.
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// Makes the stream of this seed. Neighbouring seeds give unrelated streams.
    pub fn new(seed: u64) -> Self {
        let mut random = Random(seed);
        random.0 = random.bits();
        random
    }

    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below the bound; 0 where the bound is 0. The bias is below 2^-32 for the small bounds used
    /// here.
    pub fn below(&mut self, bound: usize) -> usize {
        if bound == 0 { 0 } else { (self.bits() % bound as u64) as usize }
    }

    /// The number of a place of the list; the first where it is empty.
    pub fn number_in<N: Number, T>(&mut self, list: &Numbered<N, T>) -> N {
        N::of(self.below(list.len()))
    }

    /// A number from `low` to `high`, both included.
    pub fn between(&mut self, (low, high): (usize, usize)) -> usize {
        low + self.below(high.saturating_sub(low) + 1)
    }

    /// Is true in `percent` of a hundred cases.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Shuffles the things: each order is as likely as the others.
    pub fn shuffle<T>(&mut self, things: &mut [T]) {
        for last in (1..things.len()).rev() {
            things.swap(last, self.below(last + 1));
        }
    }

    /// One of the things, or `None` if there are none.
    pub fn pick<'a, T>(&mut self, things: &'a [T]) -> Option<&'a T> {
        things.get(self.below(things.len()))
    }
}
