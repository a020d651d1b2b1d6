//! Small sets of small numbers, as bits.
//!
//! The conversion asks millions of times "is this set within that one?". Sets of numbers below 64 fit the
//! value itself, so mostly no heap is used.

#[derive(Clone, Debug, Default, Eq)]
pub(crate) struct BitSet {
    first: u64,
    /// Words 1, 2, ... A trailing word may be zero or absent. Both mean "no member".
    rest: Vec<u64>,
}

impl BitSet {
    /// The set `{0, .., count - 1}`.
    pub(crate) fn all(count: usize) -> Self {
        let mut bits = Self::default();
        for index in 0..count {
            bits.insert(index);
        }
        bits
    }

    /// The set that is given by words. The first word stands for `0..64`.
    pub(crate) fn of_words(words: &[u64]) -> Self {
        match words {
            [] => Self::default(),
            [first, rest @ ..] => Self { first: *first, rest: rest.to_vec() },
        }
    }

    #[inline]
    pub(crate) fn insert(&mut self, index: usize) {
        if index < 64 {
            self.first |= 1 << index;
        } else {
            let word = index / 64 - 1;
            if self.rest.len() <= word {
                self.rest.resize(word + 1, 0);
            }
            self.rest[word] |= 1 << (index % 64);
        }
    }

    #[inline]
    pub(crate) fn contains(&self, index: usize) -> bool {
        if index < 64 {
            self.first >> index & 1 == 1
        } else {
            self.rest.get(index / 64 - 1).is_some_and(|word| word >> (index % 64) & 1 == 1)
        }
    }

    #[inline]
    pub(crate) fn and(&self, other: &Self) -> Self {
        Self {
            first: self.first & other.first,
            rest: self.rest.iter().zip(&other.rest).map(|(a, b)| a & b).collect(),
        }
    }

    #[inline]
    pub(crate) fn is_subset(&self, other: &Self) -> bool {
        self.first & !other.first == 0
            && self
                .rest
                .iter()
                .enumerate()
                .all(|(index, word)| word & !other.rest.get(index).copied().unwrap_or(0) == 0)
    }

    #[inline]
    pub(crate) fn intersects(&self, other: &Self) -> bool {
        self.first & other.first != 0 || self.rest.iter().zip(&other.rest).any(|(a, b)| a & b != 0)
    }

    #[inline]
    pub(crate) fn count(&self) -> usize {
        let rest: u32 = self.rest.iter().map(|word| word.count_ones()).sum();
        (self.first.count_ones() + rest) as usize
    }
}

impl PartialEq for BitSet {
    fn eq(&self, other: &Self) -> bool {
        self.is_subset(other) && other.is_subset(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_across_the_word_boundary() {
        let of = |members: &[usize]| {
            let mut bits = BitSet::default();
            members.iter().for_each(|&member| bits.insert(member));
            bits
        };
        let (small, large) = (of(&[1, 70]), of(&[1, 2, 70, 200]));
        assert!(small.is_subset(&large) && !large.is_subset(&small));
        assert_eq!(small.and(&large), small);
        assert_eq!(of(&[3, 300]).and(&of(&[3])), of(&[3]));
        assert_eq!(large.count(), 4);
        assert!(large.contains(200) && !large.contains(199) && !large.contains(1000));
        assert!(
            !of(&[5]).intersects(&of(&[69]))
                && of(&[130]).intersects(&large.and(&large)) == large.contains(130)
        );
        assert_eq!(BitSet::all(130).count(), 130);
    }
}
