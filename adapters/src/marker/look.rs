//! Does a process carry a mark? In its environment, or by its second one.

use std::fs;
use std::io::ErrorKind;

use super::processes::{Process, stat};
use super::tag::tag_of;

/// The variable that holds the marks, separated by spaces.
pub const VARIABLE: &str = "COREACH_RUN";

/// What a process turned out to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Look {
    /// It carries a mark that is meant.
    Meant,
    /// It is none of those.
    Foreign,
    /// It ended before that was known.
    Vanished,
}

/// Does the process carry a mark that is meant, the one or the other?
pub fn look(process: &Process, is_word: impl Fn(&str) -> bool, is_tag: impl Fn(u64) -> bool) -> Look {
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
