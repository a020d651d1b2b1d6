//! Which sequences does a library finish, and in how much memory?
//!
//! No library can be interrupted from outside, and a join may take hours. So before anything is measured,
//! each library performs each sequence in a process of its own, which is ended when a sequence takes longer
//! than the limit; the next process goes on behind it. The process also tells its peak memory, which in a
//! common process could not be told apart.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use crate::library::LibraryKind;
use crate::replay::performer;
use crate::shapes::ShapeCase;

/// What a library came to.
#[derive(Clone, Default, Debug)]
pub struct Probed {
    /// The seconds of each sequence; nothing where it did not finish.
    pub seconds: Vec<Option<f64>>,
    /// The peak of resident memory in KiB that the sequences added.
    pub memory: u64,
    /// What went wrong otherwise.
    pub failures: Vec<(usize, String)>,
}

/// The work of the process: performs the cases from this number on, and writes a line about each.
pub fn work(kind: LibraryKind, cases: &[ShapeCase], from: usize) {
    println!("base {}", peak());
    for (at, case) in cases.iter().enumerate().skip(from) {
        println!("begin {at}");
        match performer(kind, &case.sequence).and_then(|mut ready| ready.whole(false)) {
            Ok(time) => println!("end {at} {} {}", time.as_secs_f64(), peak()),
            Err(error) => println!("failed {at} {error}"),
        }
    }
}

/// The peak of this process' resident memory in KiB; 0 where the system does not tell.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}

/// Lets a library perform all cases; `command` starts the process that does [`work`] from a number on.
///
/// # Errors
/// A process that cannot be started.
pub fn probe(count: usize, limit: Duration, command: impl Fn(usize) -> Command) -> std::io::Result<Probed> {
    let mut probed = Probed { seconds: vec![None; count], ..Probed::default() };
    let mut from = 0;
    while from < count {
        let mut child = command(from).stdout(Stdio::piped()).spawn()?;
        let lines = lines_of(&mut child);
        from = follow(&lines, limit, from, &mut probed).unwrap_or(count);
        // It may have ended by itself.
        let _ = child.kill();
        child.wait()?;
    }
    Ok(probed)
}

fn lines_of(child: &mut Child) -> Receiver<String> {
    let (sender, receiver) = channel();
    if let Some(output) = child.stdout.take() {
        thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
    }
    receiver
}

/// Reads what a process writes; the number to go on from if it was too slow or broke down.
fn follow(lines: &Receiver<String>, limit: Duration, from: usize, probed: &mut Probed) -> Option<usize> {
    let (mut base, mut current) = (0, from);
    loop {
        let line = match lines.recv_timeout(limit) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => return Some(current + 1),
            Err(RecvTimeoutError::Disconnected) if probed.is_done(current) => return None,
            Err(RecvTimeoutError::Disconnected) => {
                probed.failures.push((current, "the process ended".to_owned()));
                return Some(current + 1);
            }
        };
        let words: Vec<&str> = line.splitn(3, ' ').collect();
        let number = |at: usize| words.get(at).and_then(|word| word.parse().ok());
        match words.first() {
            Some(&"base") => base = number(1).unwrap_or(0),
            Some(&"begin") => current = number(1).unwrap_or(0) as usize,
            Some(&"end") => {
                let mut rest = words.get(2).unwrap_or(&"").split(' ');
                let seconds: Option<f64> = rest.next().and_then(|word| word.parse().ok());
                let memory: u64 = rest.next().and_then(|word| word.parse().ok()).unwrap_or(0);
                // The reader may have been slower than the writer.
                let in_time = seconds.filter(|&seconds| seconds <= limit.as_secs_f64());
                if let Some(slot) = probed.seconds.get_mut(current) {
                    *slot = in_time;
                }
                probed.memory = probed.memory.max(memory.saturating_sub(base));
            }
            Some(&"failed") => {
                probed.failures.push((current, words.get(2).unwrap_or(&"").to_string()));
            }
            _ => {}
        }
    }
}

impl Probed {
    /// Was this sequence the last, and is it dealt with?
    fn is_done(&self, at: usize) -> bool {
        let failed = self.failures.iter().any(|(failed, _)| *failed == at);
        at + 1 >= self.seconds.len() && (failed || self.seconds.get(at).is_none_or(Option::is_some))
    }
}
