//! Finding every process that a run has brought up, wherever it went: by a mark in its environment.
//!
//! **Problem.** A process that is tested may start others, let them leave its process group (`setsid`), let
//! them outlive it (a daemon), close all of its files. Killing the process group is then not enough, and a
//! number of a process in a file is none that may be killed: it may have been given to somebody else.
//!
//! **Method.** Each launch has a mark of its own, a word in the variable `COREACH_RUN`, which children
//! inherit and which `/proc/N/environ` shows as it was when the program started. After the process group was
//! killed, every process whose mark is this launch's is killed too, again and again until a look through all
//! of them finds none. A process is looked at and killed through one descriptor for it (pidfd), so no number
//! is used after its process has ended. One that vanishes during a look may have handed over to another: then
//! there is another look. Descendants are followed by their parents' numbers as well: that finds one with a
//! clean environment, as long as its parents are alive.
//!
//! A mark names its namespace of process numbers and the program that made it, with the time at which that
//! one started. So the marks of parallel runs differ, and [`sweep`] can tell what a killed program of ours
//! has left behind. A program of ours that is itself the implementation under test adds its word to those
//! that it inherited.
//!
//! **A second mark** is for processes that change their environment, be it that they were started with a
//! clean one or write over it (a program that shows its state as its name does): the limit of file locks
//! (`RLIMIT_LOCKS`), which children inherit whatever they are started with, which `/proc/N/limits` shows, and
//! which Linux has not looked at since 2.4. Its soft value is a number that no limit is: our process, the
//! time at which we started, and the launch (`tag`). And we adopt what loses its parent
//! (`PR_SET_CHILD_SUBREAPER`), so that at the end everything below us can be found from parent to child
//! ([`end_all`]), be it marked or not.
//!
//! What a launch has of files lies in a folder that is found by its name ([`folder`]).
//!
//! **What escapes**: a process that has a clean environment *and* has set that limit itself *and* has left
//! its process group *and* whose parent has ended; and it only escapes the end of its run, or a `kill -9` of
//! ours, not our own end. **Ends**: the looks are bounded in time; what resists is left to a thread that goes
//! on for a while. **Cost**: a look lists all processes, and reads two small files of each that is younger
//! than the launch. Numbers are given in order, so as long as they have not come round, the younger ones are
//! those with the greater numbers.

mod end;
mod flag;
pub mod folder;
mod gate;
mod look;
mod processes;
mod tag;

pub use end::{end_all, end_launched, sweep};
pub use flag::{flag, is_ending};
pub use gate::{bury_all, claim, released, start};
pub use look::VARIABLE;

use std::collections::BTreeSet;
use std::fs;
use std::process::Child;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::Pid;

use gate::{bury, gate};
use look::{Look, look};
use processes::{Own, Process, forks, kill, most, numbers, own, stat};
use tag::{is_orphaned, put, tag};

/// The mark of one launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ProcessMark {
    word: String,
    /// Before the launch, this many processes had been started on the machine.
    forks: u64,
    /// The launched process, once it is known.
    leader: Option<Process>,
    /// The second mark.
    tag: u64,
}

/// What is known of a launch from one look to the next.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Hunt {
    /// Numbers and times of start of processes that belong to it.
    family: BTreeSet<(i32, u64)>,
    /// Those that were seen dead: nobody asks twice what they did before.
    dead: BTreeSet<(i32, u64)>,
}

impl ProcessMark {
    /// A mark that no other launch has.
    pub fn new() -> Self {
        static LAUNCHES: AtomicU64 = AtomicU64::new(0);
        let Own { namespace, pid, start, .. } = own();
        let number = LAUNCHES.fetch_add(1, Ordering::Relaxed);
        let word = format!("{namespace}.{pid}.{start}.{number}");
        ProcessMark { word, forks: forks().unwrap_or(0), leader: None, tag: tag(number + 1) }
    }

    /// Launches: what is started in `spawn` inherits the second mark. Nothing is launched any more when the
    /// program is ending.
    pub fn launch(&self, spawn: impl FnOnce() -> std::io::Result<Child>) -> std::io::Result<Child> {
        claim();
        // Held to the end: the limit is one of the whole process.
        let mut gate = gate();
        if is_ending() {
            return Err(std::io::Error::other("coreach is ending"));
        }
        gate.was_passed = true;
        put(self.tag);
        let result = spawn();
        put(tag(0));
        if let Ok(child) = &result {
            gate.leaders.insert(child.id());
        }
        result
    }

    /// What the variable must be in the environment of the launched process.
    pub fn value(&self) -> String {
        match std::env::var(VARIABLE) {
            Ok(inherited) if !inherited.is_empty() => format!("{inherited} {}", self.word),
            _ => self.word.clone(),
        }
    }

    /// Which process was launched.
    pub fn is_on(&mut self, pid: Pid) {
        self.leader = stat(pid.as_raw_nonzero().get());
    }

    /// Remembers the descendants that the launched process has now.
    pub fn remember(&self, hunt: &mut Hunt) {
        self.look_at_all(hunt, |_| {});
    }

    /// Kills all that carry the mark, all that are in `hunt`, and their descendants. Returns how many it
    /// found alive, or may have missed: only after a look that finds none is there none.
    pub fn kill_all(&self, hunt: &mut Hunt) -> usize {
        self.look_at_all(hunt, kill)
    }

    fn look_at_all(&self, hunt: &mut Hunt, act: impl Fn(&Process)) -> usize {
        let mut numbers = numbers();
        // The newest first: one that hands over all the time is looked at before it has done so.
        numbers.sort_unstable_by(|one, other| other.cmp(one));
        let leader = self.leader.unwrap_or_default();
        let oldest = if self.is_in_order() { leader.pid } else { 0 };
        let mut found = 0;
        let mut others = Vec::new();
        // Number 0 is nobody's, and the parent of the first process of the machine: it must not get into the
        // family.
        hunt.family.extend(self.leader.map(|leader| (leader.pid, leader.start)));
        for pid in numbers.into_iter().take_while(|pid| *pid >= oldest) {
            // One that vanishes may have handed over to another after the list was made.
            let Some(process) = stat(pid) else {
                found += 1;
                continue;
            };
            let id = (process.pid, process.start);
            if process.start < leader.start {
                continue;
            }
            if process.is_dead {
                found += usize::from(hunt.dead.insert(id));
                if process.pid != leader.pid {
                    bury(&process);
                }
                continue;
            }
            let is_ours = |tag: u64| tag == self.tag || (process.parent == own().pid && is_orphaned(tag));
            match look(&process, |word| word == self.word, is_ours) {
                _ if hunt.family.contains(&id) => {}
                Look::Meant => {}
                Look::Foreign => {
                    others.push(process);
                    continue;
                }
                Look::Vanished => {
                    found += 1;
                    continue;
                }
            }
            act(&process);
            found += 1;
            hunt.family.insert(id);
        }
        loop {
            let parents: BTreeSet<i32> = hunt.family.iter().map(|(pid, _)| *pid).collect();
            let (children, rest): (Vec<Process>, Vec<Process>) =
                others.into_iter().partition(|process| parents.contains(&process.parent));
            others = rest;
            if children.is_empty() {
                return found;
            }
            for process in children {
                act(&process);
                found += 1;
                hunt.family.insert((process.pid, process.start));
            }
        }
    }

    /// Have all processes that were started since greater numbers? They have, if the numbers have not come
    /// round.
    fn is_in_order(&self) -> bool {
        /// The least that the greatest number can be set to is three hundred; usually it is 32768 or more.
        const FEW: u64 = 250;
        let last = fs::read_to_string("/proc/loadavg").ok();
        let last = last.and_then(|text| text.split_ascii_whitespace().last()?.parse::<i32>().ok());
        let since = forks().zip(Some(self.forks)).map(|(now, then)| now.saturating_sub(then));
        last.zip(self.leader).is_some_and(|(last, leader)| last >= leader.pid)
            && since.is_some_and(|since| since < most().max(FEW))
    }
}

impl Default for ProcessMark {
    fn default() -> Self {
        ProcessMark::new()
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::process;
    use std::time::Duration;

    use super::*;
    use crate::marker::processes::is_above;
    use crate::marker::tag::tag_of;

    #[test]
    fn marks_differ_and_name_us() {
        let (one, other) = (ProcessMark::new(), ProcessMark::new());
        assert_ne!(one, other);
        assert!(one.word.contains(&format!(".{}.", process::id())), "{}", one.word);
    }

    #[test]
    fn a_process_without_an_environment_is_found_by_its_tag() {
        let mark = ProcessMark::new();
        let spawn = || process::Command::new("sh").env_clear().args(["-c", "setsid sleep 20 & wait"]).spawn();
        let mut shell = mark.launch(spawn).unwrap();
        let tagged = || {
            let found = numbers().into_iter().filter_map(stat);
            found.filter(|process| !process.is_dead && tag_of(process.pid) == Some(mark.tag)).count()
        };
        while tagged() < 2 {
            std::thread::sleep(Duration::from_millis(1));
        }
        // Its parent is gone, so nothing but the tag is left of where it came from.
        shell.kill().unwrap();
        shell.wait().unwrap();
        let mut hunt = Hunt::default();
        while mark.kill_all(&mut hunt) > 0 {}
        assert_eq!(tagged(), 0);
    }

    #[test]
    fn a_mark_that_launched_nothing_kills_nothing() {
        let mut bystander = process::Command::new("sleep").arg("20").spawn().unwrap();
        // The parent of the machine's first process has number 0, and so had a leader that was not known.
        ProcessMark::new().kill_all(&mut Hunt::default());
        assert_eq!(bystander.try_wait().unwrap(), None);
        bystander.kill().unwrap();
        bystander.wait().unwrap();
        assert!(is_above(own().pid) && is_above(1) && !is_above(0));
    }
}
