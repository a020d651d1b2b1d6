//! How long the machine has kept a process from running.
//!
//! A process that is ready and gets no processor has done nothing wrong. The second number of
//! `/proc/PID/schedstat` is the time, in nanoseconds, that a thread has waited for a processor. It is read
//! for all threads of the process, and for those of all that it has started. Nothing is known if the kernel
//! does not count this time, or does not show it.
//!
//! The time of a thread is lost when the thread ends. A missing thread shows that. A child that has ended
//! shows by the page faults that its parent then counts. A thread between two looks is not noticed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

/// The times that the kernel has counted until a moment.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct WaitedTime {
    /// How long each thread has waited for a processor, in nanoseconds.
    waited: BTreeMap<i32, u64>,
    /// The page faults of children that have ended.
    ended: u64,
}

/// How long threads have waited between two moments.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Wait {
    /// The sum of what is known.
    pub time: Duration,
    /// Nothing is missing, as far as that is seen: no thread and no child has ended meanwhile.
    pub is_all: bool,
}

impl WaitedTime {
    /// Returns the time that was counted since an earlier moment.
    pub fn since(&self, before: &WaitedTime) -> Wait {
        let waited_since =
            |(thread, now): (&i32, &u64)| now.saturating_sub(before.waited.get(thread).copied().unwrap_or(0));
        let nanos = self.waited.iter().map(waited_since).fold(0, u64::saturating_add);
        let is_all =
            self.ended == before.ended && before.waited.keys().all(|thread| self.waited.contains_key(thread));
        Wait { time: Duration::from_nanos(nanos), is_all }
    }
}

impl From<Duration> for WaitedTime {
    fn from(time: Duration) -> Self {
        let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        WaitedTime { waited: BTreeMap::from([(0, nanos)]), ended: 0 }
    }
}

/// Returns how long the threads of a process and of its descendants have waited for a processor until now.
/// `None` if that is not known.
pub fn read_waited_time(process: i32) -> Option<WaitedTime> {
    let mut found = WaitedTime::default();
    let (mut seen, mut open) = (BTreeSet::from([process]), vec![process]);
    while let Some(process) = open.pop() {
        // A process that has just ended is no longer there, and its time is lost.
        let Ok(threads) = fs::read_dir(format!("/proc/{process}/task")) else { continue };
        for thread in threads.flatten() {
            let number: Option<i32> = thread.file_name().to_str().and_then(|name| name.parse().ok());
            let waited = fs::read_to_string(thread.path().join("schedstat")).ok();
            let waited: Option<u64> = waited.and_then(|text| text.split_whitespace().nth(1)?.parse().ok());
            found.waited.extend(number.zip(waited));
            let children = fs::read_to_string(thread.path().join("children")).unwrap_or_default();
            for child in children.split_whitespace().filter_map(|text| text.parse().ok()) {
                // A look at very many processes would take long itself.
                if seen.len() < 256 && seen.insert(child) {
                    open.push(child);
                }
            }
        }
        found.ended = found.ended.saturating_add(faults_of_children(process).unwrap_or(0));
    }
    (!found.waited.is_empty()).then_some(found)
}

/// Reads the page faults of ended children of a process: fields 11 and 13 of its `stat`. The name,
/// the second field, may have spaces and parentheses of its own.
fn faults_of_children(process: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    let (_, rest) = text.rsplit_once(')')?;
    let field = |number: usize| rest.split_whitespace().nth(number - 3)?.parse::<u64>().ok();
    Some(field(11)?.saturating_add(field(13)?))
}

/// Returns how long this thread has waited for a processor until now. 0 if that is not known.
pub fn read_own_waited_time() -> Duration {
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
        let before = read_waited_time(own);
        // If the kernel counts at all, it does not count backwards.
        let now = read_waited_time(own);
        assert_eq!(before.is_some(), now.is_some());
        assert_eq!(read_waited_time(i32::MAX), None);
    }

    #[test]
    fn what_has_ended_is_noticed_and_what_began_counts_from_its_beginning() {
        let counted =
            |waited: &[(i32, u64)], ended| WaitedTime { waited: waited.iter().copied().collect(), ended };
        let before = counted(&[(1, 100), (2, 900)], 5);
        for (now, time, is_all) in [
            (counted(&[(1, 130), (2, 900)], 5), 30, true),
            (counted(&[(1, 130), (2, 900), (3, 40)], 5), 70, true),
            (counted(&[(1, 130)], 5), 30, false),
            (counted(&[(1, 130), (2, 900)], 6), 30, false),
        ] {
            assert_eq!(now.since(&before), Wait { time: Duration::from_nanos(time), is_all }, "{now:?}");
        }
        // A child of this process, when it has ended.
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let before = faults_of_children(own);
        std::process::Command::new("true").status().unwrap();
        assert!(before.is_none() || faults_of_children(own) > before);
    }
}
