//! Hash-consing: a term that exists is never built twice.
//!
//! Equal terms are one allocation, so equality is a comparison of pointers, substitution can be memoised by identity,
//! and the effects composed along a path cost what is new in them. The table holds weak references and is swept when
//! it has doubled since the last sweep: insertion stays amortised constant, and a program that makes a hundred
//! thousand models does not keep their terms.
//!
//! The table is shared by all threads behind sharded locks. Nothing observable depends on it: a term's hash and its
//! order are functions of its structure, never of an address or of the time of its making.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use crate::term::node::Node;
use crate::types::Type;

/// The shared allocation behind a term.
#[derive(Debug)]
pub(super) struct Cell {
    pub(super) node: Node,
    pub(super) sort: Type,
    pub(super) hash: u64,
    /// One bit per datum mentioned (a hash of its name): a quick "does not occur".
    pub(super) mentions: u64,
    /// Has it a value under every valuation, for all that is seen at once?
    pub(super) total: bool,
    /// How many nodes it has written out, without sharing (saturating).
    pub(super) written: u64,
}

/// The hash is already a hash.
#[derive(Default)]
struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }
    fn write(&mut self, _: &[u8]) {}
    fn write_u64(&mut self, value: u64) {
        self.0 = value;
    }
}

#[derive(Default)]
struct Shard {
    cells: HashMap<u64, Vec<Weak<Cell>>, BuildHasherDefault<Identity>>,
    count: usize,
    sweep_at: usize,
}

const SHARDS: usize = 16;
const FIRST_SWEEP: usize = 4096;

static TABLE: LazyLock<[Mutex<Shard>; SHARDS]> = LazyLock::new(|| {
    std::array::from_fn(|_| Mutex::new(Shard { sweep_at: FIRST_SWEEP, ..Shard::default() }))
});

pub(super) fn hash_of(node: &Node) -> u64 {
    let mut hasher = DefaultHasher::new();
    node.hash(&mut hasher);
    hasher.finish()
}

/// The one cell of this node.
pub(super) fn intern(node: Node, sort: Type, mentions: u64, written: u64, total: bool) -> Arc<Cell> {
    let hash = hash_of(&node);
    let index = (hash >> 60) as usize % SHARDS;
    // A panic elsewhere cannot leave a shard half-written: every update below is a single push or retain.
    let shard = &mut *TABLE[index].lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(bucket) = shard.cells.get_mut(&hash) {
        let known = bucket.iter().filter_map(Weak::upgrade).find(|cell| cell.node == node);
        if let Some(cell) = known {
            return cell;
        }
        // What is made, dropped and made again would leave an entry each time, and all of them are looked through.
        let before = bucket.len();
        bucket.retain(|weak| weak.strong_count() > 0);
        shard.count -= before - bucket.len();
    }
    let cell = Arc::new(Cell { node, sort, hash, mentions, written, total });
    shard.cells.entry(hash).or_default().push(Arc::downgrade(&cell));
    shard.count += 1;
    if shard.count >= shard.sweep_at {
        shard.cells.retain(|_, bucket| {
            bucket.retain(|weak| weak.strong_count() > 0);
            !bucket.is_empty()
        });
        shard.count = shard.cells.values().map(Vec::len).sum();
        shard.sweep_at = (2 * shard.count).max(FIRST_SWEEP);
    }
    cell
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::Term;

    #[test]
    fn what_is_made_again_and_again_leaves_one_entry() {
        let number = || Term::int(918_273_645);
        let hash = number().0.hash;
        for _ in 0..100 {
            drop(number());
        }
        let shard = TABLE[(hash >> 60) as usize % SHARDS].lock().unwrap_or_else(PoisonError::into_inner);
        let entries = shard.cells.get(&hash).map_or(0, Vec::len);
        assert!(entries <= 1, "{entries} entries of one term");
    }
}
