//! Locks that a panic elsewhere has left. That panic is reported where it happened. The locked data are
//! complete, since nothing that could panic half-way is done under a lock.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Takes the lock, also after a panic elsewhere.
pub fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
