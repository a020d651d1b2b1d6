//! The command of a request, as a process of its own.

use std::ffi::OsString;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use clap::parser::ValueSource;
use clap::{ArgMatches, CommandFactory};
use coreach_project::outputs;
use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};

use super::folder::Folder;
use crate::arguments::Arguments;
use crate::findings;

/// The most that a command may write to its standard output, in bytes.
const MOST_OUTPUT: u64 = 64 << 20;

/// What is kept of what it says beside that, in bytes.
const MOST_MESSAGES: u64 = 1 << 20;

/// How long a command may take to end that is asked to, before it is killed.
const GRACE: Duration = Duration::from_secs(5);

/// How it ended.
pub struct Done {
    /// It took longer than it may, and was ended.
    pub is_late: bool,
    /// The exit code; 128 and the number of the signal where one ended it.
    pub exit: i32,
    /// Its standard output.
    pub output: Vec<u8>,
    /// Its standard error, as far as it is kept.
    pub messages: String,
}

/// Runs a command in its folder, for at most so long.
pub fn run(folder: &Folder, arguments: &[String], time: Duration) -> Result<Done, String> {
    let told = |error| format!("cannot start the command: {error}");
    let mut child = Command::new(std::env::current_exe().map_err(told)?)
        .args(with_json(arguments))
        .current_dir(folder.inside())
        .env("NO_COLOR", "1")
        .env(findings::VARIABLE, folder.noted())
        .env(outputs::WITHIN, folder.inside())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(told)?;
    let (over, is_over) = mpsc::channel::<()>();
    // One descriptor for it: its number is not used after its end.
    let limit = pidfd_open(Pid::from_child(&child), PidfdFlags::empty()).map_err(Into::into);
    let limit = limit.and_then(|pidfd| {
        let is_after = move |time| is_over.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
        let watch = move || {
            let is_late = is_after(time);
            if is_late {
                // It ends what it has launched, and says what is finished.
                let _ = pidfd_send_signal(&pidfd, Signal::TERM);
                if is_after(GRACE) {
                    let _ = pidfd_send_signal(&pidfd, Signal::KILL);
                }
            }
            is_late
        };
        thread::Builder::new().name("limit".to_owned()).spawn(watch)
    });
    // Both at once: who waits for one of them holds up who writes the other.
    let stderr = child.stderr.take();
    let listener = thread::Builder::new().name("messages".to_owned()).spawn(move || {
        let mut kept = Vec::new();
        if let Some(mut stderr) = stderr {
            let _ = (&mut stderr).take(MOST_MESSAGES).read_to_end(&mut kept);
            let _ = std::io::copy(&mut stderr, &mut std::io::sink());
        }
        String::from_utf8_lossy(&kept).into_owned()
    });
    let mut output = Vec::new();
    let read = match child.stdout.take() {
        Some(stdout) => stdout.take(MOST_OUTPUT + 1).read_to_end(&mut output).map(|_| ()),
        None => Ok(()),
    };
    let too_long = output.len() as u64 > MOST_OUTPUT;
    if too_long || read.is_err() || limit.is_err() {
        // It is ours, and has not been waited for: nobody else has its number.
        let _ = child.kill();
    }
    let status = child.wait().map_err(|error| format!("the command was lost: {error}"))?;
    drop(over);
    let is_late = limit.map_err(told)?.join().unwrap_or_default();
    let messages = listener.map_err(told)?.join().unwrap_or_default();
    read.map_err(|error| format!("the command was lost: {error}"))?;
    if too_long {
        return Err(format!("the command wrote more than {MOST_OUTPUT} bytes"));
    }
    let exit = status.code().unwrap_or_else(|| 128 + status.signal().unwrap_or(0));
    Ok(Done { is_late, exit, output, messages })
}

/// With `--format json`, where the command has that and nothing else was asked for.
fn with_json(arguments: &[String]) -> Vec<OsString> {
    let mut words: Vec<OsString> = arguments.iter().map(OsString::from).collect();
    if takes_json(arguments) {
        // What follows `--` is no option.
        let at = arguments.iter().position(|word| word == "--").unwrap_or(words.len());
        words.splice(at..at, ["--format".into(), "json".into()]);
    }
    words
}

fn takes_json(arguments: &[String]) -> bool {
    let mut command = Arguments::command();
    command.build();
    let words = std::iter::once("coreach").chain(arguments.iter().map(String::as_str));
    // What is wrong with them is for the command itself to say.
    let Ok(matches) = command.try_get_matches_from_mut(words) else { return false };
    let (mut at, mut given): (&clap::Command, &ArgMatches) = (&command, &matches);
    while let Some((name, inner)) = given.subcommand() {
        let Some(next) = at.find_subcommand(name) else { return false };
        (at, given) = (next, inner);
    }
    let Some(format) = at.get_arguments().find(|argument| argument.get_id() == "format") else {
        return false;
    };
    let has_json = format.get_possible_values().iter().any(|value| value.get_name() == "json");
    has_json && given.value_source("format") != Some(ValueSource::CommandLine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_is_asked_for_where_there_is_such_an_answer() {
        for (arguments, expected) in [
            ("run c.yaml", "run c.yaml --format json"),
            ("run c.yaml --format human", "run c.yaml --format human"),
            ("run c.yaml --format=json", "run c.yaml --format=json"),
            ("--time 5s check a.yaml", "--time 5s check a.yaml --format json"),
            ("check -- --odd.yaml", "check --format json -- --odd.yaml"),
            ("show c.yaml --stage test_case", "show c.yaml --stage test_case"),
            ("timed path s.yaml --path a", "timed path s.yaml --path a --format json"),
            ("campaign merge c a b", "campaign merge c a b --format json"),
            ("walk", "walk"),
            ("run", "run"),
            ("--help", "--help"),
        ] {
            let words: Vec<String> = arguments.split(' ').map(str::to_owned).collect();
            let said: Vec<String> =
                with_json(&words).iter().map(|word| word.to_string_lossy().into_owned()).collect();
            assert_eq!(said.join(" "), expected);
        }
    }
}
