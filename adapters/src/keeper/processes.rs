//! Processes as `/proc` shows them, and the one way in which a process is killed.

use std::fs;

use rustix::process::{Pid, PidfdFlags, Signal};

/// A process as `/proc/N/stat` shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct ProcessEntry {
    pid: i32,
    parent: i32,
    start: u64,
    /// It has ended, and only waits to be asked for its status.
    is_dead: bool,
}

/// Finds the living descendants of a process, parents before their children.
pub(super) fn find_descendants(root: i32) -> Vec<ProcessEntry> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let mut others: Vec<ProcessEntry> = numbers.filter_map(read_process).collect();
    let (mut descendants, mut parents) = (Vec::new(), vec![root]);
    // Each round finds a generation. A dead process may still have living children.
    while !parents.is_empty() {
        let children: Vec<ProcessEntry> =
            others.extract_if(.., |process| parents.contains(&process.parent)).collect();
        parents = children.iter().map(|process| process.pid).collect();
        descendants.extend(children);
    }
    descendants.retain(|process| !process.is_dead);
    descendants
}

fn read_process(pid: i32) -> Option<ProcessEntry> {
    parse_stat(pid, &fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads the fields after the program's name, which may contain anything.
fn parse_stat(pid: i32, text: &str) -> Option<ProcessEntry> {
    let mut fields = text.get(text.rfind(')')? + 1..)?.split_ascii_whitespace();
    let is_dead = matches!(fields.next()?, "Z" | "X" | "x");
    let parent = fields.next()?.parse().ok()?;
    // The fourth field was the parent, this is the twenty-second.
    let start = fields.nth(17)?.parse().ok()?;
    Some(ProcessEntry { pid, parent, start, is_dead })
}

/// Kills a process, if its number was not given to another one since.
pub(super) fn kill_process(process: &ProcessEntry) {
    let Some(pid) = Pid::from_raw(process.pid) else { return };
    // A process that has ended in the meantime needs no signal.
    let Ok(pidfd) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else { return };
    if read_process(process.pid).is_some_and(|now| now.start == process.start) {
        let _ = rustix::process::pidfd_send_signal(&pidfd, Signal::KILL);
    }
}

/// Asks for the status of children of this process that have ended, but for one of them.
pub(super) fn reap_children_but(kept: i32) {
    let tasks = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    // If the kernel does not list children, they stay until the launch ends.
    let lists = tasks.filter_map(|task| fs::read_to_string(task.path().join("children")).ok());
    for list in lists {
        let children = list.split_ascii_whitespace().filter_map(|pid| pid.parse().ok());
        for pid in children.filter(|pid| *pid != kept).filter_map(Pid::from_raw) {
            let _ = rustix::process::waitpid(Some(pid), rustix::process::WaitOptions::NOHANG);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_may_have_any_name() {
        let fields = "S 4 77 77 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 9876 1 2 3";
        let text = format!("12 (a) S (b) {fields}");
        assert_eq!(
            parse_stat(12, &text),
            Some(ProcessEntry { pid: 12, parent: 4, start: 9876, is_dead: false })
        );
        assert_eq!(parse_stat(12, "12 (x) Z 4"), None);
        assert_eq!(parse_stat(12, ""), None);
    }

    #[test]
    fn descendants_are_found_and_nobody_else() {
        let mut shell = std::process::Command::new("sh").args(["-c", "sleep 20 & wait"]).spawn().unwrap();
        let root = shell.id() as i32;
        while find_descendants(root).is_empty() {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let found = find_descendants(root);
        assert_eq!(found.iter().map(|process| process.parent).collect::<Vec<_>>(), [root]);
        found.iter().for_each(kill_process);
        assert!(shell.wait().unwrap().success());
        assert_eq!(find_descendants(root), []);
    }
}
