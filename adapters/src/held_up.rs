//! How long the machine has kept a process from running.
//!
//! A process that could run and is not let has failed in nothing. The kernel counts that: the second number
//! of `/proc/PID/schedstat` is the time, in nanoseconds, that a thread has waited for a processor. It is
//! added up over the threads of the process and those of all that it has started. What has ended is not
//! counted any more by the kernel: so what it had waited when it was last seen is remembered here, or one that
//! ends would hide what another one waits. Where the kernel does not count, or shows nobody what it has
//! counted, nothing is known.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

/// The most processes that are looked at.
const MOST: usize = 256;

/// How long a process has waited, with all that it has started: it never falls.
#[derive(Default, Debug)]
pub struct HeldUp {
    all: u64,
    /// What each thread had waited that was there at the last look.
    threads: BTreeMap<i32, u64>,
}

impl HeldUp {
    /// How long the threads of this process and of its descendants have waited for a processor until now;
    /// `None` where that is not known.
    pub fn look(&mut self, process: i32) -> Option<Duration> {
        let now = threads(process);
        for (thread, waited) in &now {
            // A number may have been given to another one, which has waited less.
            let before = self.threads.get(thread).filter(|before| *before <= waited).unwrap_or(&0);
            self.all = self.all.saturating_add(waited - before);
        }
        self.threads = now;
        (!self.threads.is_empty()).then(|| Duration::from_nanos(self.all))
    }
}

/// What each thread has waited of this process and of its descendants, in nanoseconds.
fn threads(process: i32) -> BTreeMap<i32, u64> {
    let mut seen = BTreeSet::from([process]);
    let mut open = vec![process];
    let mut all = BTreeMap::new();
    while let Some(one) = open.pop() {
        let Ok(threads) = fs::read_dir(format!("/proc/{one}/task")) else { continue };
        for thread in threads.flatten().map(|entry| entry.path()) {
            let waited = fs::read_to_string(thread.join("schedstat")).ok();
            let waited = waited.and_then(|text| text.split_whitespace().nth(1)?.parse::<u64>().ok());
            let number = thread.file_name().and_then(|name| name.to_str()?.parse::<i32>().ok());
            all.extend(number.zip(waited));
            let children = fs::read_to_string(thread.join("children")).unwrap_or_default();
            for child in children.split_whitespace().filter_map(|text| text.parse().ok()) {
                if seen.len() < MOST && seen.insert(child) {
                    open.push(child);
                }
            }
        }
    }
    all
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
        let mut held = HeldUp::default();
        let before = held.look(own);
        // Where the kernel counts at all, it does not count backwards.
        assert!(before.is_none() || held.look(own) >= before);
        assert_eq!(HeldUp::default().look(i32::MAX), None);
    }

    /// Soundness: a part that ends does not hide what another one waits.
    #[test]
    fn what_has_ended_has_waited_nevertheless() {
        // As if each had waited a second; the kernel has counted less of the first one.
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let second = 1_000_000_000;
        let mut held = HeldUp { all: 2 * second, threads: BTreeMap::from([(i32::MAX, second), (own, 0)]) };
        let Some(now) = held.look(own) else { return };
        assert!(now >= Duration::from_secs(2), "{now:?}");
        // A number that is given away again.
        held.threads.insert(own, u64::MAX);
        assert!(held.look(own) >= Some(now));
    }
}
