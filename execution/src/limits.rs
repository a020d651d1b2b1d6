//! The limits that several modules have for the same reason.

/// A type, or the vectors of values of some data, are listed if they have at most so many.
pub const MOST_LISTED: usize = 64;

/// How often values are drawn where they cannot be listed, before the solver is asked.
pub const ATTEMPTS: usize = 6;

/// The most values, and stimuli, that are remembered for use again.
pub const MOST_SEEN: usize = 64;

/// The most entries of a memory of states, guards or steps. With more, it starts anew.
pub const MOST_REMEMBERED: usize = 20_000;

/// The most states, or positions, that one search for a plan expands.
pub const MOST_EXPANDED: usize = 1500;

/// The largest number of seeds, shards, steps or the like that a setting has.
pub const LARGEST_COUNT: u64 = 1_000_000;

/// A larger term is not written out, and not taken apart: its text repeats what it shares.
pub const LARGEST_WRITTEN: u64 = 5_000;
