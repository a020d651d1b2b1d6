//! The most memory that this process has had, and forgetting it.
//!
//! Linux counts it for the whole process. Where the process does one thing at a time it can be told of each,
//! if what was there before is forgotten first.

use std::fs;

/// Begins to count anew; can that be done here?
pub fn forget_peak() -> bool {
    fs::write("/proc/self/clear_refs", "5").is_ok()
}

/// Returns the peak in bytes, where the system says it.
pub fn peak() -> Option<u64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
