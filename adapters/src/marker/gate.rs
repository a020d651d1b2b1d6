//! The gate through which launches go; and what we adopt: one that has ended is buried, since nobody else
//! asks for its status.

use std::collections::BTreeSet;
use std::fs;
use std::process::Child;
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};

use rustix::process::{Pid, WaitOptions};

use super::flag::is_ending;
use super::processes::{Process, numbers, own, stat};
use super::tag::{put, tag};

/// Makes this process the one whose descendants can all be found: marks it, and lets it adopt.
pub fn claim() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        inherited();
        put(tag(0));
        // An older kernel has the marks only.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    });
}

/// The children that we had before we could launch any: a shell that has become us
/// (`sleep 100 & exec coreach ...`) leaves us its own, which are none of our business.
pub(super) fn inherited() -> &'static BTreeSet<(i32, u64)> {
    static BEFORE: OnceLock<BTreeSet<(i32, u64)>> = OnceLock::new();
    BEFORE.get_or_init(|| {
        let all = numbers().into_iter().filter_map(stat);
        all.filter(|process| process.parent == own().pid)
            .map(|process| (process.pid, process.start))
            .collect()
    })
}

/// Through which launches go, one after the other.
pub(super) struct Gate {
    /// Something was launched.
    pub(super) was_passed: bool,
    /// Those that were launched and whose status will be asked for by who launched them.
    pub(super) leaders: BTreeSet<u32>,
}

pub(super) fn gate() -> MutexGuard<'static, Gate> {
    static GATE: Mutex<Gate> = Mutex::new(Gate { was_passed: false, leaders: BTreeSet::new() });
    GATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts one of our own programs, or nothing where the program is ending: who kills all that is below us
/// would not see it.
pub fn start(spawn: impl FnOnce() -> std::io::Result<Child>) -> std::io::Result<Child> {
    let _gate = gate();
    if is_ending() {
        return Err(std::io::Error::other("coreach is ending"));
    }
    spawn()
}

/// The status of a launched process has been asked for: its number may be given to another.
pub fn released(child: &Child) {
    gate().leaders.remove(&child.id());
}

/// Asks for the status of an adopted process that has ended: nobody else will. What was started in another
/// way is in our own process group.
pub(super) fn bury(process: &Process) {
    if process.parent != own().pid {
        return;
    }
    let gate = gate();
    let is_adopted = process.group != own().group
        && u32::try_from(process.pid).is_ok_and(|pid| !gate.leaders.contains(&pid));
    if is_adopted && let Some(pid) = Pid::from_raw(process.pid) {
        let _ = rustix::process::waitpid(Some(pid), WaitOptions::NOHANG);
    }
}

/// Asks for the status of all adopted processes that have ended. One that dies after the last look at its
/// launch is met by no later one, which looks at younger processes only: a campaign would fill the machine's
/// table of processes with the dead.
pub fn bury_all() {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    // Where the kernel does not list children, they stay until we end.
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    let children: Vec<i32> = lists
        .flat_map(|list| list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>())
        .collect();
    children
        .into_iter()
        .filter_map(stat)
        .filter(|process| process.is_dead)
        .for_each(|process| bury(&process));
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::process;
    use std::time::Duration;

    use super::*;
    use crate::marker::ProcessMark;

    #[test]
    fn who_died_after_an_earlier_launch_is_buried_and_nobody_who_is_asked_for() {
        // As one that was adopted: in a group of its own, and launched through no gate.
        let spawn = || {
            use std::os::unix::process::CommandExt;
            process::Command::new("true").process_group(0).spawn()
        };
        #[expect(clippy::zombie_processes, reason = "it is to become one")]
        let adopted = spawn().unwrap();
        let mut leader = ProcessMark::new().launch(spawn).unwrap();
        let is_dead = |pid: u32| stat(pid as i32).is_none_or(|process| process.is_dead);
        while !is_dead(adopted.id()) || !is_dead(leader.id()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(stat(adopted.id() as i32).is_some());
        bury_all();
        assert_eq!(stat(adopted.id() as i32), None);
        assert!(leader.wait().unwrap().success());
        released(&leader);
    }
}
