//! Finding every process that a run has brought up, wherever it went: by a mark in its environment.
//!
//! **Problem.** A process that is tested may start others, let them leave its process group (`setsid`), let them outlive
//! it (a daemon), close all of its files. Killing the process group is then not enough, and a number of a process in a
//! file is none that may be killed: it may have been given to somebody else.
//!
//! **Method.** Each launch has a mark of its own, a word in the variable `COREACH_RUN`, which children inherit and which
//! `/proc/N/environ` shows as it was when the program started. After the process group was killed, every process whose
//! mark is this launch's is killed too, again and again until a look through all of them finds none. A process is
//! looked at and killed through one descriptor for it (pidfd), so no number is used after its process has ended. One that
//! vanishes during a look may have handed over to another: then there is another look. Descendants are followed by their parents' numbers as well: that finds one with a clean environment, as long as
//! its parents are alive.
//!
//! A mark names its namespace of process numbers and the program that made it, with the time at which that one started.
//! So the marks of parallel runs differ, and [`sweep`] can tell what a killed program of ours has left behind.
//! A program of ours that is itself the implementation under test adds its word to those that it inherited.
//!
//! **What escapes**: a process that was started with a clean environment *and* has left its process group *and* whose
//! parent has ended. **Ends**: the looks are bounded in time; what resists is left to a thread that goes on for a
//! while. **Cost**: a look lists all processes, and reads two small files of each that is younger than the launch. Numbers are
//! given in order, so as long as they have not come round, the younger ones are those with the greater numbers.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::process;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, PidfdFlags, Signal};

/// The variable that holds the marks, separated by spaces.
pub const VARIABLE: &str = "COREACH_RUN";

/// The mark of one launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    word: String,
    /// Before the launch, this many processes had been started on the machine.
    forks: u64,
    /// The launched process; all zero before it is known.
    leader: Process,
}

/// What is known of a launch from one look to the next.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Hunt {
    /// Numbers and times of start of processes that belong to it.
    family: BTreeSet<(i32, u64)>,
    /// Those that were seen dead: nobody asks twice what they did before.
    dead: BTreeSet<(i32, u64)>,
}

impl Mark {
    /// A mark that no other launch has.
    pub fn new() -> Self {
        static LAUNCHES: AtomicU64 = AtomicU64::new(0);
        let Own { namespace, pid, start } = own();
        let number = LAUNCHES.fetch_add(1, Ordering::Relaxed);
        let word = format!("{namespace}.{pid}.{start}.{number}");
        Mark { word, forks: forks().unwrap_or(0), leader: Process::default() }
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
        self.leader = stat(pid.as_raw_nonzero().get()).unwrap_or_default();
    }

    /// Remembers the descendants that the launched process has now.
    pub fn remember(&self, hunt: &mut Hunt) {
        self.look_at_all(hunt, |_| {});
    }

    /// Kills all that carry the mark, all that are in `hunt`, and their descendants. Returns how many it found alive, or
    /// may have missed: only after a look that finds none is there none.
    pub fn kill_all(&self, hunt: &mut Hunt) -> usize {
        self.look_at_all(hunt, kill)
    }

    fn look_at_all(&self, hunt: &mut Hunt, act: impl Fn(&Process)) -> usize {
        let mut numbers = numbers();
        // The newest first: one that hands over all the time is looked at before it has done so.
        numbers.sort_unstable_by(|one, other| other.cmp(one));
        let oldest = if self.is_in_order() { self.leader.pid } else { 0 };
        let mut found = 0;
        let mut others = Vec::new();
        hunt.family.insert((self.leader.pid, self.leader.start));
        for pid in numbers.into_iter().take_while(|pid| *pid >= oldest) {
            // One that vanishes may have handed over to another after the list was made.
            let Some(process) = stat(pid) else {
                found += 1;
                continue;
            };
            let id = (process.pid, process.start);
            if process.start < self.leader.start {
                continue;
            }
            if process.is_dead {
                found += usize::from(hunt.dead.insert(id));
                continue;
            }
            match look(&process, |word| word == self.word) {
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

    /// Have all processes that were started since greater numbers? They have, if the numbers have not come round.
    fn is_in_order(&self) -> bool {
        /// The least that the greatest number can be set to is three hundred; usually it is 32768 or more.
        const FEW: u64 = 250;
        let last = fs::read_to_string("/proc/loadavg").ok();
        let last = last.and_then(|text| text.split_ascii_whitespace().last()?.parse::<i32>().ok());
        let since = forks().zip(Some(self.forks)).map(|(now, then)| now.saturating_sub(then));
        last.is_some_and(|last| last >= self.leader.pid) && since.is_some_and(|since| since < most().max(FEW))
    }
}

/// So many processes may be started without a number being given twice, for certain.
fn most() -> u64 {
    static MOST: OnceLock<u64> = OnceLock::new();
    *MOST.get_or_init(|| {
        let most = fs::read_to_string("/proc/sys/kernel/pid_max").ok();
        most.and_then(|text| text.trim().parse::<u64>().ok()).map_or(0, |most| most.saturating_sub(1000))
    })
}

/// How many processes have been started on this machine.
fn forks() -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("processes ")?.trim().parse().ok())
}

impl Default for Mark {
    fn default() -> Self {
        Mark::new()
    }
}

/// Kills what programs of ours have left behind that were killed themselves. Returns how many processes it found.
pub fn sweep() -> usize {
    let own = own();
    let alive =
        |pid: i32, start: u64| stat(pid).is_some_and(|process| process.start == start && !process.is_dead);
    let is_orphan = |word: &str| {
        let mut parts = word.split('.');
        let (Some(namespace), Some(pid), Some(start)) = (parts.next(), parts.next(), parts.next()) else {
            return false;
        };
        let (Ok(pid), Ok(start)) = (pid.parse(), start.parse()) else { return false };
        // Numbers mean nothing in another namespace.
        namespace == own.namespace && !alive(pid, start)
    };
    let mut found = 0;
    for process in numbers().into_iter().filter(|pid| *pid != own.pid).filter_map(stat) {
        if !process.is_dead && look(&process, is_orphan) == Look::Meant {
            kill(&process);
            found += 1;
        }
    }
    found
}

/// Who we are.
struct Own {
    namespace: String,
    pid: i32,
    start: u64,
}

fn own() -> &'static Own {
    static OWN: OnceLock<Own> = OnceLock::new();
    OWN.get_or_init(|| {
        let pid = i32::try_from(process::id()).unwrap_or_default();
        let link =
            fs::read_link("/proc/self/ns/pid").ok().and_then(|link| link.into_os_string().into_string().ok());
        let namespace = link.unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
        Own { namespace, pid, start: stat(pid).map_or(0, |process| process.start) }
    })
}

/// A process as `/proc/N/stat` shows it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Process {
    pid: i32,
    parent: i32,
    start: u64,
    /// It has ended, and only waits to be asked for its status.
    is_dead: bool,
}

/// The numbers of all processes.
fn numbers() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn stat(pid: i32) -> Option<Process> {
    parse(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The fields stand behind the program's name, which may contain anything.
fn parse(pid: i32, text: &str) -> Option<Process> {
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace();
    let is_dead = matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.next()?.parse().ok()?;
    // The third field was the state, this is the twenty-second.
    let start = fields.nth(17)?.parse().ok()?;
    Some(Process { pid, parent, start, is_dead })
}

/// What a process turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Look {
    Meant,
    Foreign,
    /// It ended before that was known.
    Vanished,
}

/// Does the process carry a mark that is meant?
fn look(process: &Process, is_meant: impl Fn(&str) -> bool) -> Look {
    let environment = match fs::read(format!("/proc/{}/environ", process.pid)) {
        Ok(environment) => environment,
        // Somebody else's cannot be read, and was not started by us.
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Look::Foreign,
        Err(_) => Vec::new(),
    };
    if environment.is_empty() {
        let is_alive = stat(process.pid).is_some_and(|now| now.start == process.start && !now.is_dead);
        return if is_alive { Look::Foreign } else { Look::Vanished };
    }
    let value = environment
        .split(|byte| *byte == 0)
        .find_map(|entry| entry.strip_prefix(VARIABLE.as_bytes())?.strip_prefix(b"="))
        .and_then(|value| std::str::from_utf8(value).ok());
    if value.is_some_and(|value| value.split(' ').any(is_meant)) { Look::Meant } else { Look::Foreign }
}

/// Kills a process, if it is still the same.
fn kill(process: &Process) {
    let Some(pid) = Pid::from_raw(process.pid) else { return };
    let is_same = || stat(process.pid).is_some_and(|now| now.start == process.start);
    // If it has ended in the meantime, all the better.
    match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(pidfd) if is_same() => {
            let _ = rustix::process::pidfd_send_signal(&pidfd, Signal::KILL);
        }
        Ok(_) | Err(rustix::io::Errno::SRCH) => {}
        Err(_) if is_same() => {
            let _ = rustix::process::kill_process(pid, Signal::KILL);
        }
        Err(_) => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    #[test]
    fn a_program_may_have_any_name() {
        let fields = "S 4 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 1 2 3";
        let text = format!("12 (a) S (b) {fields}");
        assert_eq!(parse(12, &text), Some(Process { pid: 12, parent: 4, start: 9876, is_dead: false }));
        assert_eq!(parse(12, "12 (x) Z 4"), None);
        assert_eq!(parse(12, ""), None);
    }

    #[test]
    fn marks_differ_and_name_us() {
        let (one, other) = (Mark::new(), Mark::new());
        assert_ne!(one, other);
        assert!(one.word.contains(&format!(".{}.", process::id())), "{}", one.word);
    }

    #[test]
    fn we_are_alive_and_no_orphan() {
        let me = own();
        assert!(stat(me.pid).is_some_and(|found| found.start == me.start && !found.is_dead));
        assert!(numbers().contains(&me.pid));
    }

    #[test]
    fn what_a_killed_program_left_is_swept_and_nothing_else() {
        let sleeper = |word: String| {
            let mut command = process::Command::new("sleep");
            command.arg("20").env(VARIABLE, word).spawn().unwrap()
        };
        let Own { namespace, pid, start } = own();
        // No process has the number zero.
        let mut orphan = sleeper(format!("x {namespace}.0.7.1"));
        let mut ours = sleeper(format!("{namespace}.{pid}.{start}.1"));
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
