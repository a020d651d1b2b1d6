//! The second mark: a limit that is inherited by whatever a process starts ([`super`] says why).

use std::fs;

use rustix::process::{Resource, Rlimit};

use super::processes::{Process, own, stat};

/// Bits of a tag that number the launch, and as many of the time at which we started.
pub(super) const PART: u32 = 20;

/// The second mark of a launch of ours; 0 is what we start otherwise, and ourselves. Numbers come round, at a
/// million.
///
/// Bit 62, by which it is known; 22 bits of our number, 20 of the launch's, 20 of the time.
pub(super) fn tag(launch: u64) -> u64 {
    let mask = (1 << PART) - 1;
    let pid = u64::try_from(own().pid).unwrap_or_default();
    (1 << 62) | (pid << (2 * PART)) | ((launch & mask) << PART) | (own().start & mask)
}

/// Number and low bits of the time of the process that made the tag, if it is one.
pub(super) fn owner(tag: u64) -> Option<(i32, u64)> {
    let pid = (tag >> (2 * PART)) & ((1 << 22) - 1);
    (tag >> 62 == 1).then_some((i32::try_from(pid).ok()?, tag & ((1 << PART) - 1)))
}

/// Is it a tag whose maker has ended?
pub(super) fn is_orphaned(tag: u64) -> bool {
    owner(tag).is_some_and(|(pid, start)| {
        let is_alive = |process: Process| process.start & ((1 << PART) - 1) == start && !process.is_dead;
        !stat(pid).is_some_and(is_alive)
    })
}

/// The tag of a process, or what stands in its place.
pub(super) fn tag_of(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Marks what we start from now on. Where the machine forbids it, the environment's mark is left.
pub(super) fn put(tag: u64) {
    let maximum = rustix::process::getrlimit(Resource::Locks).maximum;
    let _ = rustix::process::setrlimit(Resource::Locks, Rlimit { current: Some(tag), maximum });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tag_names_us_and_its_launch() {
        let me = own();
        assert_eq!(owner(tag(5)), Some((me.pid, me.start & ((1 << PART) - 1))));
        assert_ne!(tag(5), tag(6));
        assert!(!is_orphaned(tag(5)));
        // No process has the number zero, and no limit of a user is a tag.
        assert!(is_orphaned(1 << 62));
        assert!([0, 1024, u64::MAX].iter().all(|limit| owner(*limit).is_none()));
    }
}
