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
use std::sync::{Arc, LazyLock, Mutex, OnceLock, Weak};

use crate::data::FIRST_SWEEP;
use crate::hash::FastHasher;
use crate::lock::lock;
use crate::term::compiled::TermProgram;
use crate::term::node::Node;
use crate::term::{Term, TermShape, parts_of_shape, total};
use crate::types::Type;

#[derive(Debug)]
pub(super) struct Cell {
    pub(super) shape: TermShape,
    pub(super) sort: Type,
    /// See [`Term::premises`].
    pub(super) premises: usize,
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

impl Cell {
    /// Makes the cell of a term, with the facts that are computed from its parts.
    pub(super) fn new(shape: TermShape, sort: Type, premises: usize) -> Self {
        let (mut mentions, mut written, mut has_operations) = match &shape {
            TermShape::Node(Node::Data(datum)) => {
                // One of 64 bits says that a datum of this name may occur.
                (1 << (hash_of(datum.name()) % 64), 1u64, false)
            }
            TermShape::Node(_) => (0, 1, false),
            TermShape::Operation(operation, _) => (0, operation.written_size().saturating_add(1), true),
        };
        let mut height = 0;
        for child in parts_of_shape(&shape) {
            height = height.max(child.0.height);
            mentions |= child.0.mentions;
            written = written.saturating_add(child.0.written);
            has_operations |= child.0.has_operations;
        }
        let (total, hash, height) = (total::is_total(&shape, &sort), hash_of(&shape), height + 1);
        let (lowered, program) = (OnceLock::new(), OnceLock::new());
        Cell {
            shape,
            sort,
            premises,
            hash,
            mentions,
            total,
            height,
            written,
            has_operations,
            lowered,
            program,
        }
    }
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

static TABLE: LazyLock<[Mutex<Shard>; 16]> = LazyLock::new(|| {
    std::array::from_fn(|_| Mutex::new(Shard { sweep_at: FIRST_SWEEP, ..Shard::default() }))
});

fn hash_of(shape: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = FastHasher::default();
    shape.hash(&mut hasher);
    hasher.finish()
}

/// Returns the known cell of this shape, or adds this one.
pub(super) fn intern(cell: Cell) -> Arc<Cell> {
    // The map of a shard uses the lower bits.
    let index = (cell.hash >> 60) as usize % TABLE.len();
    lock(&TABLE[index]).intern(cell)
}

impl Shard {
    /// Returns the known cell of this shape, or adds this one.
    fn intern(&mut self, cell: Cell) -> Arc<Cell> {
        let bucket = self.cells.entry(cell.hash).or_default();
        let is_same = |known: &Arc<Cell>| known.shape == cell.shape && known.premises == cell.premises;
        if let Some(known) = bucket.iter().filter_map(Weak::upgrade).find(is_same) {
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
    use crate::value::Value;

    #[test]
    fn a_term_that_is_dropped_leaves_at_most_one_reference() {
        let mut shard = Shard { sweep_at: FIRST_SWEEP, ..Shard::default() };
        for _ in 0..1000 {
            shard.intern(Cell::new(TermShape::Node(Node::Literal(Value::Bool(true))), Type::Bool, 0));
        }
        let entries = shard.cells.values().map(Vec::len).max();
        assert_eq!((entries, shard.count), (Some(1), 1));
    }
}
