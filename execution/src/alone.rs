//! Work in a thread of its own.
//!
//! The solver keeps something of its own in each thread, and neither a run nor a piece of an analysis may
//! notice what ran before it. The stack is large, since terms are walked recursively; what of it is not used
//! costs nothing.

use std::panic::resume_unwind;
use std::{io, thread};

const STACK: usize = 256 << 20;

/// Does this in a fresh thread, and waits for it.
///
/// # Panics
/// Where the work panics: a bug of ours is a crash.
pub fn alone<R: Send>(work: impl FnOnce() -> R + Send) -> io::Result<R> {
    thread::scope(|scope| {
        let handle = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, work)?;
        Ok(handle.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })
}
