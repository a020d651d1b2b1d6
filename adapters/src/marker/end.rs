//! The end of our program, with all that is below it; and of what a program of ours has left behind that was
//! killed itself.

use std::collections::BTreeSet;
use std::fs;
use std::time::{Duration, Instant};

use super::gate::{gate, inherited};
use super::look::{Look, look};
use super::processes::{Process, kill, numbers, own, stat};
use super::tag::{PART, is_orphaned, owner, tag_of};
use super::{flag, folder};

/// For an end that nobody has asked for: as [`end_all`]; where nothing was launched, of folders alone. A run
/// ends what it has launched, but what resisted is left to a thread, which ends with us. Returns whether
/// nothing is left.
pub fn end_launched(most: Duration) -> bool {
    if gate().was_passed {
        return end_all(most);
    }
    folder::end_all(Instant::now() + most);
    true
}

/// Kills everything below us, and lets nothing new begin; a run that is under way is none any more
/// ([`flag`]). For the end of the program: whoever still waits for one of the processes finds
/// it dead. Then the folders of launches are removed. Returns whether no process is left.
pub fn end_all(most: Duration) -> bool {
    flag::begin();
    // Who is launching has seen no flag: what that is, is found below.
    drop(gate());
    let until = Instant::now() + most;
    let is_clear = end_processes(until);
    // Who is dead writes no more. Files may take as long as processes; what is left, the next of our programs
    // removes.
    let until = Instant::now() + most;
    folder::end_all(until);
    // A program of ours that was killed here, as the command of a request is, has left its own.
    folder::sweep(until);
    is_clear
}

fn end_processes(until: Instant) -> bool {
    let own = own();
    let mut dead = BTreeSet::new();
    // What has just been killed has not always died yet, and what was forked meanwhile is seen by the next
    // look. One that vanishes or dies during a look may have handed over to another after the list was made:
    // then there is another look.
    loop {
        let listed = numbers();
        let all: Vec<Process> = listed.iter().copied().filter_map(stat).collect();
        let has_vanished = all.len() < listed.len();
        let died = all.iter().filter(|process| process.is_dead);
        let has_died = died.filter(|process| dead.insert((process.pid, process.start))).count() > 0;
        let mut family = BTreeSet::from([own.pid]);
        loop {
            let before = family.len();
            let is_below = |process: &&Process| {
                family.contains(&process.parent) && !inherited().contains(&(process.pid, process.start))
            };
            let children = all.iter().filter(is_below);
            let more: Vec<i32> = children.map(|process| process.pid).collect();
            family.extend(more);
            if family.len() == before {
                break;
            }
        }
        let is_ours = |process: &&Process| {
            let tag = || tag_of(process.pid).and_then(owner);
            let mine = (own.pid, own.start & ((1 << PART) - 1));
            process.pid != own.pid
                && !process.is_dead
                && (family.contains(&process.pid) || (process.start >= own.start && tag() == Some(mine)))
        };
        let found: Vec<&Process> = all.iter().filter(is_ours).collect();
        if found.is_empty() && !has_vanished && !has_died {
            return true;
        }
        for process in found.iter().rev() {
            kill(process);
        }
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(Duration::from_micros(500));
    }
}

/// So long at most is looked again and again for what was left: on a machine where processes end all the time
/// no look is the last by itself.
const SWEEP: Duration = Duration::from_millis(500);

/// Kills what programs of ours have left behind that were killed themselves, and removes their folders.
/// Returns how many processes it found: one that takes its time to die may count more than once.
pub fn sweep() -> usize {
    let found = sweep_processes();
    folder::sweep(Instant::now() + SWEEP);
    found
}

fn sweep_processes() -> usize {
    let own = own();
    let alive =
        |pid: i32, start: u64| stat(pid).is_some_and(|process| process.start == start && !process.is_dead);
    let home = fs::read_link("/proc/self/ns/pid").ok();
    let is_orphan = |word: &str| {
        let mut parts = word.split('.');
        let (Some(namespace), Some(pid), Some(start)) = (parts.next(), parts.next(), parts.next()) else {
            return false;
        };
        let (Ok(pid), Ok(start)) = (pid.parse(), start.parse()) else { return false };
        // Numbers mean nothing in another namespace.
        namespace == own.namespace && !alive(pid, start)
    };
    // A number in a tag means nothing in another namespace either.
    let is_home = |pid: i32| home.is_some() && fs::read_link(format!("/proc/{pid}/ns/pid")).ok() == home;
    let mut found = 0;
    let until = Instant::now() + SWEEP;
    loop {
        // One that vanishes or is killed during a look may have handed over to another after the list was
        // made.
        let mut is_sure = true;
        for pid in numbers().into_iter().filter(|pid| *pid != own.pid) {
            let Some(process) = stat(pid) else {
                is_sure = false;
                continue;
            };
            if process.is_dead {
                continue;
            }
            match look(&process, is_orphan, |tag| is_orphaned(tag) && is_home(pid)) {
                Look::Meant => {
                    kill(&process);
                    found += 1;
                    is_sure = false;
                }
                Look::Vanished => is_sure = false,
                Look::Foreign => {}
            }
        }
        if is_sure || Instant::now() >= until {
            return found;
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::process;

    use super::*;
    use crate::marker::VARIABLE;
    use crate::marker::processes::Own;

    #[test]
    fn what_a_killed_program_left_is_swept_and_nothing_else() {
        let sleeper = |word: String| {
            let mut command = process::Command::new("sleep");
            command.arg("20").env(VARIABLE, word).spawn().unwrap()
        };
        let Own { namespace, pid, start, .. } = own();
        // No process has the number zero.
        let mut orphan = sleeper(format!("x {namespace}.0.7.1"));
        // No launch of another test of this process has this number, which ends what carries its own.
        let mut ours = sleeper(format!("{namespace}.{pid}.{start}.1000000"));
        let mut elsewhere = sleeper(format!("1{namespace}.0.7.1"));
        // Another program of ours, such as a test beside this one, may be the one that sweeps it.
        sweep();
        assert!(!orphan.wait().unwrap().success(), "it slept undisturbed to its end");
        for other in [&mut ours, &mut elsewhere] {
            assert_eq!(other.try_wait().unwrap(), None);
            other.kill().unwrap();
            other.wait().unwrap();
        }
    }
}
