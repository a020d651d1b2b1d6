//! Processes as `/proc` shows them: which there are, whose children, since when; and the one way in which one
//! is killed.

use std::fs;
use std::process;
use std::sync::OnceLock;

use rustix::process::{Pid, PidfdFlags, Signal};

/// Who we are.
pub(super) struct Own {
    pub(super) namespace: String,
    pub(super) pid: i32,
    pub(super) start: u64,
    /// Our process group: 0 where its leader is outside of our namespace, as in a container that somebody
    /// else has begun.
    pub(super) group: i32,
}

pub(super) fn own() -> &'static Own {
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
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) group: i32,
    pub(super) start: u64,
    /// It has ended, and only waits to be asked for its status.
    pub(super) is_dead: bool,
}

/// The numbers of all processes.
pub(super) fn numbers() -> Vec<i32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

pub(super) fn stat(pid: i32) -> Option<Process> {
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

/// Those who have brought us up, and ourselves: whatever a look concludes, they are none of what we have
/// launched.
pub(super) fn is_above(pid: i32) -> bool {
    let mut at = own().pid;
    while at > 0 && at != pid {
        at = stat(at).map_or(0, |process| process.parent);
    }
    pid > 0 && at == pid
}

/// Kills a process, if it is still the same, and not one that we stand on.
pub(super) fn kill(process: &Process) {
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

/// So many processes may be started without a number being given twice, for certain.
pub(super) fn most() -> u64 {
    static MOST: OnceLock<u64> = OnceLock::new();
    *MOST.get_or_init(|| {
        let most = fs::read_to_string("/proc/sys/kernel/pid_max").ok();
        most.and_then(|text| text.trim().parse::<u64>().ok()).map_or(0, |most| most.saturating_sub(1000))
    })
}

/// How many processes have been started on this machine.
pub(super) fn forks() -> Option<u64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("processes ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
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
    fn we_are_alive_and_no_orphan() {
        let me = own();
        assert!(stat(me.pid).is_some_and(|found| found.start == me.start && !found.is_dead));
        assert!(numbers().contains(&me.pid));
    }
}
