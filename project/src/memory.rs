//! Reads the peak of this process's memory, and resets it.
//!
//! Linux counts the peak for the whole process. If the process does one piece of work at a time, a reset
//! before each piece gives the peak of that piece.

use std::fs;

/// Resets the peak. Returns false, if the system does not allow it.
pub fn forget_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Returns the peak in bytes. `None`, if the system does not say it.
pub fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
