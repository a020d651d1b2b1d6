//! How long the machine has kept a process from running.
//!
//! A process that could run and is not let has failed in nothing. The kernel counts that: the second number
//! of `/proc/PID/schedstat` is the time, in nanoseconds, that a thread has waited for a processor. It is
//! added up over the threads of the process and those of all that it has started. Where the kernel does not
//! count, or shows nobody what it has counted, nothing is known.

use std::collections::BTreeSet;
use std::fs;
use std::time::Duration;

/// The most processes that are looked at.
const MOST: usize = 256;

/// How long the threads of this process and of its descendants have waited for a processor until now; `None`
/// where that is not known.
pub fn held_up(process: i32) -> Option<Duration> {
    let mut seen = BTreeSet::from([process]);
    let mut open = vec![process];
    let mut all: Option<u64> = None;
    while let Some(one) = open.pop() {
        // One that has just ended is no longer there, and neither is what it has waited.
        let Ok(threads) = fs::read_dir(format!("/proc/{one}/task")) else { continue };
        for thread in threads.flatten().map(|entry| entry.path()) {
            let waited = fs::read_to_string(thread.join("schedstat")).ok();
            let waited = waited.and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
            if let Some(waited) = waited {
                all = Some(all.unwrap_or(0).saturating_add(waited));
            }
            let children = fs::read_to_string(thread.join("children")).unwrap_or_default();
            for child in children.split_whitespace().filter_map(|text| text.parse().ok()) {
                if seen.len() < MOST && seen.insert(child) {
                    open.push(child);
                }
            }
        }
    }
    all.map(Duration::from_nanos)
}

/// How long this thread has waited for a processor until now; nothing where that is not known.
pub fn held_up_here() -> Duration {
    let text = fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let waited = text.split_whitespace().nth(1).and_then(|number| number.parse().ok());
    Duration::from_nanos(waited.unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_that_is_there_has_waited_some_time_and_one_that_is_not_none() {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let before = held_up(own);
        // Where the kernel counts at all, it does not count backwards.
        assert!(before.is_none() || held_up(own) >= before);
        assert_eq!(held_up(i32::MAX), None);
    }
}
