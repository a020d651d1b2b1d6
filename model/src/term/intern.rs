//! Hash-consing: a term that exists is never built twice.
//!
//! Equal terms are one allocation. So equality is a comparison of pointers, substitution can be memoised by
//! identity, and the effects composed along a path cost only their new parts. The table holds weak references
//! and is swept when it has doubled since the last sweep. So insertion stays amortised constant, and a
//! program that makes a hundred thousand models does not keep their terms.
//!
//! The table is shared by all threads behind sharded locks. Nothing observable depends on it: a term's hash
//! and its order are functions of its structure, never of an address or of the time of its making.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, PoisonError, Weak};

use crate::hash::FastHasher;
use crate::term::compiled::TermProgram;
use crate::term::{Term, TermShape};
use crate::types::Type;

#[derive(Debug)]
pub(super) struct Cell {
    pub(super) shape: TermShape,
    pub(super) sort: Type,
    pub(super) hash: u64,
    /// One bit per datum mentioned (a hash of its name): a quick "does not occur".
    pub(super) mentions: u64,
    /// Does its shape show that it has a value under every valuation?
    pub(super) total: bool,
    /// The length of the longest path below it.
    pub(super) height: u32,
    /// How many nodes it has written out, without sharing (saturating).
    pub(super) written: u64,
    /// Does the term, or a part of it, stand for a longer term?
    pub(super) has_operations: bool,
    /// The term without operations, once somebody asked.
    pub(super) lowered: OnceLock<Term>,
    /// The code that evaluation runs, once somebody evaluated it.
    pub(super) program: OnceLock<TermProgram>,
}

/// The hash is already a hash.
#[derive(Default)]
struct IdentityHasher(u64);

impl Hasher for IdentityHasher {
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
    cells: HashMap<u64, Vec<Weak<Cell>>, BuildHasherDefault<IdentityHasher>>,
    count: usize,
    sweep_at: usize,
}

const SHARDS: usize = 16;
const FIRST_SWEEP: usize = 4096;

static TABLE: LazyLock<[Mutex<Shard>; SHARDS]> = LazyLock::new(|| {
    std::array::from_fn(|_| Mutex::new(Shard { sweep_at: FIRST_SWEEP, ..Shard::default() }))
});

pub(super) fn hash_of(shape: &TermShape) -> u64 {
    let mut hasher = FastHasher::default();
    shape.hash(&mut hasher);
    hasher.finish()
}

pub(super) fn intern(cell: Cell) -> Arc<Cell> {
    // The map of a shard uses the lower bits.
    let index = (cell.hash >> 60) as usize % SHARDS;
    // A panic elsewhere cannot leave a shard half-written: every update below is a single push or retain.
    let mut shard = TABLE[index].lock().unwrap_or_else(PoisonError::into_inner);
    shard.intern(cell)
}

impl Shard {
    /// Returns the known cell of this shape, or adds this one.
    fn intern(&mut self, cell: Cell) -> Arc<Cell> {
        let bucket = self.cells.entry(cell.hash).or_default();
        if let Some(known) = bucket.iter().filter_map(Weak::upgrade).find(|known| known.shape == cell.shape) {
            return known;
        }
        // Without this, a term that is made and dropped again and again would leave a reference each time,
        // and each lookup would pass all of them.
        let old_count = bucket.len();
        bucket.retain(|weak| weak.strong_count() > 0);
        self.count -= old_count - bucket.len();
        let cell = Arc::new(cell);
        bucket.push(Arc::downgrade(&cell));
        self.count += 1;
        if self.count >= self.sweep_at {
            self.cells.retain(|_, bucket| {
                bucket.retain(|weak| weak.strong_count() > 0);
                !bucket.is_empty()
            });
            self.count = self.cells.values().map(Vec::len).sum();
            self.sweep_at = (2 * self.count).max(FIRST_SWEEP);
        }
        cell
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::term::node::Node;
    use crate::value::Value;

    #[test]
    fn a_term_that_is_dropped_leaves_at_most_one_reference() {
        let mut shard = Shard { sweep_at: FIRST_SWEEP, ..Shard::default() };
        for _ in 0..1000 {
            let shape = TermShape::Node(Node::Literal(Value::Bool(true)));
            let hash = hash_of(&shape);
            let (sort, mentions, height, written, total) = (Type::Bool, 0, 1, 1, true);
            let (has_operations, lowered, program) = (false, OnceLock::new(), OnceLock::new());
            shard.intern(Cell {
                shape,
                sort,
                hash,
                mentions,
                total,
                height,
                written,
                has_operations,
                lowered,
                program,
            });
        }
        let entries = shard.cells.values().map(Vec::len).max();
        assert_eq!((entries, shard.count), (Some(1), 1));
    }
}
