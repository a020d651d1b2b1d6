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
//! **A second mark** is for processes that change their environment, be it that they were started with a clean one or
//! write over it (a program that shows its state as its name does): the limit of file locks (`RLIMIT_LOCKS`), which children inherit
//! whatever they are started with, which `/proc/N/limits` shows, and which Linux has not looked at since 2.4. Its soft value is
//! a number that no limit is: our process, the time at which we started, and the launch (`tag`). And we adopt what
//! loses its parent (`PR_SET_CHILD_SUBREAPER`), so that at the end everything below us can be found from parent to child
//! ([`end_all`]), be it marked or not.
//!
//! **What escapes**: a process that has a clean environment *and* has set that limit itself *and* has left its process group
//! *and* whose parent has ended; and it only escapes the end of its run, or a `kill -9` of ours, not our own end. **Ends**: the looks are bounded in time; what resists is left to a thread that goes on for a
//! while. **Cost**: a look lists all processes, and reads two small files of each that is younger than the launch. Numbers are
//! given in order, so as long as they have not come round, the younger ones are those with the greater numbers.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::process::{self, Child};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, Once, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, WaitOptions};

/// The variable that holds the marks, separated by spaces.
pub const VARIABLE: &str = "COREACH_RUN";

/// The mark of one launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
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

impl Mark {
    /// A mark that no other launch has.
    pub fn new() -> Self {
        static LAUNCHES: AtomicU64 = AtomicU64::new(0);
        let Own { namespace, pid, start, .. } = own();
        let number = LAUNCHES.fetch_add(1, Ordering::Relaxed);
        let word = format!("{namespace}.{pid}.{start}.{number}");
        Mark { word, forks: forks().unwrap_or(0), leader: None, tag: tag(number + 1) }
    }

    /// Launches: what is started in `spawn` inherits the second mark. Nothing is launched any more once [`end_all`] has begun.
    ///
    /// # Errors
    /// As `spawn`; or coreach is ending.
    pub fn launch(&self, spawn: impl FnOnce() -> std::io::Result<Child>) -> std::io::Result<Child> {
        claim();
        // Held to the end: the limit is one of the whole process.
        let mut gate = gate();
        if gate.is_closed {
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

    /// Kills all that carry the mark, all that are in `hunt`, and their descendants. Returns how many it found alive, or
    /// may have missed: only after a look that finds none is there none.
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
        // Number 0 is nobody's, and the parent of the first process of the machine: it must not get into the family.
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

    /// Have all processes that were started since greater numbers? They have, if the numbers have not come round.
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

/// Bits of a tag that number the launch, and as many of the time at which we started.
const PART: u32 = 20;

/// The second mark of a launch of ours; 0 is what we start otherwise, and ourselves. Numbers come round, at a million.
///
/// Bit 62, by which it is known; 22 bits of our number, 20 of the launch's, 20 of the time.
fn tag(launch: u64) -> u64 {
    let mask = (1 << PART) - 1;
    let pid = u64::try_from(own().pid).unwrap_or_default();
    (1 << 62) | (pid << (2 * PART)) | ((launch & mask) << PART) | (own().start & mask)
}

/// Number and low bits of the time of the process that made the tag, if it is one.
fn owner(tag: u64) -> Option<(i32, u64)> {
    let pid = (tag >> (2 * PART)) & ((1 << 22) - 1);
    (tag >> 62 == 1).then_some((i32::try_from(pid).ok()?, tag & ((1 << PART) - 1)))
}

/// Is it a tag whose maker has ended?
fn is_orphaned(tag: u64) -> bool {
    owner(tag).is_some_and(|(pid, start)| {
        let is_alive = |process: Process| process.start & ((1 << PART) - 1) == start && !process.is_dead;
        !stat(pid).is_some_and(is_alive)
    })
}

/// The tag of a process, or what stands in its place.
fn tag_of(pid: i32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{pid}/limits")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("Max file locks"))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

/// Marks what we start from now on. Where the machine forbids it, the environment's mark is left.
fn put(tag: u64) {
    let maximum = rustix::process::getrlimit(Resource::Locks).maximum;
    let _ = rustix::process::setrlimit(Resource::Locks, Rlimit { current: Some(tag), maximum });
}

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

/// The children that we had before we could launch any: a shell that has become us (`sleep 100 & exec coreach ...`) leaves us
/// its own, which are none of our business.
fn inherited() -> &'static BTreeSet<(i32, u64)> {
    static BEFORE: OnceLock<BTreeSet<(i32, u64)>> = OnceLock::new();
    BEFORE.get_or_init(|| {
        let all = numbers().into_iter().filter_map(stat);
        all.filter(|process| process.parent == own().pid)
            .map(|process| (process.pid, process.start))
            .collect()
    })
}

/// Through which launches go, one after the other.
struct Gate {
    /// Nothing is launched any more.
    is_closed: bool,
    /// Something was launched.
    was_passed: bool,
    /// Those that were launched and whose status will be asked for by who launched them.
    leaders: BTreeSet<u32>,
}

fn gate() -> MutexGuard<'static, Gate> {
    static GATE: Mutex<Gate> =
        Mutex::new(Gate { is_closed: false, was_passed: false, leaders: BTreeSet::new() });
    GATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The status of a launched process has been asked for: its number may be given to another.
pub fn released(child: &Child) {
    gate().leaders.remove(&child.id());
}

/// Asks for the status of an adopted process that has ended: nobody else will. What was started in another way is in our own
/// process group.
fn bury(process: &Process) {
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

/// Asks for the status of all adopted processes that have ended. One that dies after the last look at its launch is met by no later
/// one, which looks at younger processes only: a campaign would fill the machine's table of processes with the dead.
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

/// For an end that nobody has asked for: as [`end_all`], where something was launched at all. A run ends what it has launched, but
/// what resisted is left to a thread, which ends with us. Returns whether nothing is left.
pub fn end_launched(most: Duration) -> bool {
    let was_passed = gate().was_passed;
    !was_passed || end_all(most)
}

/// Kills everything below us, and lets nothing new begin. For the end of the program: whoever still waits for one of the
/// processes finds it dead. Returns whether nothing is left.
pub fn end_all(most: Duration) -> bool {
    gate().is_closed = true;
    let until = Instant::now() + most;
    let own = own();
    let mut dead = BTreeSet::new();
    // What has just been killed has not always died yet, and what was forked meanwhile is seen by the next look. One that
    // vanishes or dies during a look may have handed over to another after the list was made: then there is another look.
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

/// So long at most is looked again and again for what was left: on a machine where processes end all the time no look is
/// the last by itself.
const SWEEP: Duration = Duration::from_millis(500);

/// Kills what programs of ours have left behind that were killed themselves. Returns how many processes it found: one that
/// takes its time to die may count more than once.
pub fn sweep() -> usize {
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
        // One that vanishes or is killed during a look may have handed over to another after the list was made.
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

/// Who we are.
struct Own {
    namespace: String,
    pid: i32,
    start: u64,
    /// Our process group: 0 where its leader is outside of our namespace, as in a container that somebody else has begun.
    group: i32,
}

fn own() -> &'static Own {
    static OWN: OnceLock<Own> = OnceLock::new();
    OWN.get_or_init(|| {
        let pid = i32::try_from(process::id()).unwrap_or_default();
        let link =
            fs::read_link("/proc/self/ns/pid").ok().and_then(|link| link.into_os_string().into_string().ok());
        let namespace = link.unwrap_or_default().chars().filter(char::is_ascii_digit).collect();
        let Process { start, group, .. } = stat(pid).unwrap_or_default();
        Own { namespace, pid, start, group }
    })
}

/// A process as `/proc/N/stat` shows it.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Process {
    pid: i32,
    parent: i32,
    group: i32,
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
    let group = fields.next()?.parse().ok()?;
    // The third field was the state, this is the twenty-second.
    let start = fields.nth(16)?.parse().ok()?;
    Some(Process { pid, parent, group, start, is_dead })
}

/// What a process turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Look {
    Meant,
    Foreign,
    /// It ended before that was known.
    Vanished,
}

/// Does the process carry a mark that is meant, the one or the other?
fn look(process: &Process, is_word: impl Fn(&str) -> bool, is_tag: impl Fn(u64) -> bool) -> Look {
    match look_at_environment(process, is_word) {
        Look::Foreign if tag_of(process.pid).is_some_and(is_tag) => Look::Meant,
        look => look,
    }
}

fn look_at_environment(process: &Process, is_meant: impl Fn(&str) -> bool) -> Look {
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

/// Those who have brought us up, and ourselves: whatever a look concludes, they are none of what we have launched.
fn is_above(pid: i32) -> bool {
    let mut at = own().pid;
    while at > 0 && at != pid {
        at = stat(at).map_or(0, |process| process.parent);
    }
    pid > 0 && at == pid
}

/// Kills a process, if it is still the same, and not one that we stand on.
fn kill(process: &Process) {
    let Some(pid) = Pid::from_raw(process.pid) else { return };
    if is_above(process.pid) {
        return;
    }
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
        assert_eq!(
            parse(12, &text),
            Some(Process { pid: 12, parent: 4, group: 77, start: 9876, is_dead: false })
        );
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
    fn a_tag_names_us_and_its_launch() {
        let me = own();
        assert_eq!(owner(tag(5)), Some((me.pid, me.start & ((1 << PART) - 1))));
        assert_ne!(tag(5), tag(6));
        assert!(!is_orphaned(tag(5)));
        // No process has the number zero, and no limit of a user is a tag.
        assert!(is_orphaned(1 << 62));
        assert!([0, 1024, u64::MAX].iter().all(|limit| owner(*limit).is_none()));
    }

    #[test]
    fn a_process_without_an_environment_is_found_by_its_tag() {
        let mark = Mark::new();
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
    fn who_died_after_an_earlier_launch_is_buried_and_nobody_who_is_asked_for() {
        // As one that was adopted: in a group of its own, and launched through no gate.
        let spawn = || {
            use std::os::unix::process::CommandExt;
            process::Command::new("true").process_group(0).spawn()
        };
        #[expect(clippy::zombie_processes, reason = "it is to become one")]
        let adopted = spawn().unwrap();
        let mut leader = Mark::new().launch(spawn).unwrap();
        let is_dead = |pid: u32| stat(pid as i32).is_none_or(|process| process.is_dead);
        while !is_dead(adopted.id()) || !is_dead(leader.id()) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(stat(adopted.id() as i32).is_some());
        bury_all();
        assert_eq!(stat(adopted.id() as i32), None);
        assert!(leader.wait().unwrap().success());
    }

    #[test]
    fn a_mark_that_launched_nothing_kills_nothing() {
        let mut bystander = process::Command::new("sleep").arg("20").spawn().unwrap();
        // The parent of the machine's first process has number 0, and so had a leader that was not known.
        Mark::new().kill_all(&mut Hunt::default());
        assert_eq!(bystander.try_wait().unwrap(), None);
        bystander.kill().unwrap();
        bystander.wait().unwrap();
        assert!(is_above(own().pid) && is_above(1) && !is_above(0));
    }

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
