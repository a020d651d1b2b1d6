//! Taking a lock that a panic elsewhere has left: that panic is told there, and what the lock keeps is whole,
//! since nothing is done under it that could panic half-way.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes the lock, also after a panic elsewhere.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
