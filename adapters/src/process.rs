//! Launching an implementation, and leaving nothing of it.
//!
//! A launched process leads a process group of its own, below a keeper ([`crate::keeper`]).

use std::cell::Cell;
use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use crate::adapter::Failure;
use crate::evidence::Evidence;
use crate::keeper::{self, ExitStatus, LaunchOrder, ProcessKeeper};
use crate::tail::StreamTail;
use crate::temporary::{self, TemporaryFolder};
use crate::times::poll_until;
use crate::waited_time::{self, WaitedTime};

/// How much longer [`Process::stop`] waits for the keeper if the run has time left. A killed process needs
/// the processor to end.
const STOPPING_IN_TIME: Duration = Duration::from_secs(2);

/// How long to wait, at least, for the status of a process that has closed its output or was told to end.
const LAST_WORDS: Duration = Duration::from_millis(25);

/// A command to launch: a [`crate::description::Command`] with its holes filled.
#[derive(Clone, Debug)]
pub struct Launch {
    pub words: Vec<String>,
    pub directory: PathBuf,
    /// Variables of the environment besides those of ours.
    pub environment: Vec<(String, String)>,
    /// How long it may take to end by itself.
    pub grace: Duration,
    /// The folder for its files. It is removed when nobody holds it any more.
    pub folder: Option<Arc<TemporaryFolder>>,
}

/// A process that was launched. Dropped, it is stopped.
pub struct Process {
    /// The keeper that launched it. `None` when it is stopped.
    keeper: Option<ProcessKeeper>,
    pid: i32,
    pidfd: OwnedFd,
    tail: StreamTail,
    /// Its standard output is for messages.
    is_talking: bool,
    grace: Duration,
    name: String,
    /// Where it was started.
    directory: PathBuf,
    deadline: Option<Instant>,
    /// A failure of the run has told its end.
    is_end_reported: Cell<bool>,
    /// Dropped when nothing of the launch runs any more.
    folder: Option<Arc<TemporaryFolder>>,
}

/// Our ends of a process' standard input and output.
pub struct Pipes {
    pub input: OwnedFd,
    pub output: OwnedFd,
}

impl Process {
    /// Starts a process that is talked to over its standard input and output.
    pub fn start_talking(launch: &Launch) -> Result<(Self, Pipes), Failure> {
        let (process, pipes) = start(launch, OutputUse::Messages)?;
        let lost = || Failure::Start(format!("`{}` has no standard input and output", process.name));
        let pipes = pipes.ok_or_else(lost)?;
        Ok((process, pipes))
    }

    /// Starts a process that is talked to in another way. Only the end of what it writes is kept.
    pub fn start_silent(launch: &Launch) -> Result<Self, Failure> {
        start(launch, OutputUse::LastWords).map(|(process, _)| process)
    }

    /// Says until when the run lasts that uses the process.
    pub fn set_deadline(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
        self.is_end_reported.set(false);
    }

    /// Returns how long it has waited for a processor, with all that it has started.
    pub fn waited_time(&self) -> Option<WaitedTime> {
        waited_time::read_waited_time(self.pid)
    }

    /// Returns the descriptor that becomes readable when the process has ended.
    pub fn end(&self) -> &OwnedFd {
        &self.pidfd
    }

    /// Says whether the process has ended. Waits for that until `until`.
    pub fn has_ended(&self, until: Instant) -> bool {
        loop {
            match poll_until(&mut [PollFd::new(&self.pidfd, PollFlags::IN)], until) {
                Ok(count) => return count > 0,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    /// Says whether it has ended, and with status 0.
    pub fn succeeded(&self) -> bool {
        self.status() == Some(ExitStatus::Code(0))
    }

    /// Writes what it has said on its standard error since the last run into the log.
    pub fn write_last_words(&self, evidence: &Evidence) {
        let (words, cut) = self.tail.news();
        evidence.stderr(&words, cut);
    }

    /// Describes a process that does not talk any more by its last words and its status. Without a status,
    /// `what` says what it has done.
    pub fn farewell(&self, what: &str) -> String {
        let has_ended = self.has_ended(Instant::now() + LAST_WORDS);
        let lines = self.tail.last(if has_ended { LAST_WORDS } else { Duration::ZERO }).unwrap_or_default();
        let status = self.status();
        let state = status.map_or(what.to_owned(), describe_status);
        self.is_end_reported.set(true);
        let has_succeeded = status == Some(ExitStatus::Code(0));
        let error = if has_succeeded { None } else { find_own_error(&lines) };
        // The error names its place, so the beginning of a long traceback says nothing new.
        let most = if error.is_some() { 6 } else { usize::MAX };
        let words = self.describe_words(&lines[lines.len().saturating_sub(most)..]);
        let help = match (status, &error) {
            (Some(ExitStatus::Code(0)), _) => self.explain_success(),
            // `env` says that it has not found 'python3\r'.
            (Some(ExitStatus::Code(127)), _) if words.contains("\\r") => {
                format!("\nhelp: {CARRIAGE_RETURN}")
            }
            (_, Some(error)) => explain_error(error)
                .or_else(|| explain_missing_file(error, &self.directory))
                .unwrap_or_default(),
            (_, None) => String::new(),
        };
        let cause = match error {
            Some(error) if status.is_some() => format!(" because of its error: {error}"),
            Some(error) => format!(", after its error: {error}"),
            None if words.is_empty() && !has_succeeded && status.is_some() => {
                " without a word on standard error: start it by hand to see why".to_owned()
            }
            None => String::new(),
        };
        format!("`{}` {state}{cause}{words}{help}", self.name)
    }

    /// Says what helps if it has ended too early, and with status 0.
    fn explain_success(&self) -> String {
        if !self.is_talking {
            return if self.went_to_background() { STAY_IN_FOREGROUND } else { MUST_GO_ON }.to_owned();
        }
        let background = match self.is_shell() {
            true => ". A script must start it with `exec`: a program started with `&` gets no input",
            false => "",
        };
        format!("\nhelp: it must run until its input ends{background}")
    }

    /// Says whether it is a shell, which may start other programs.
    pub fn is_shell(&self) -> bool {
        let is_shell = |word| matches!(file_name(word), "sh" | "bash" | "dash" | "zsh");
        self.name.split(' ').any(|word| is_shell(word) || word.ends_with(".sh"))
    }

    /// Has it succeeded, and left a process that it started?
    fn went_to_background(&self) -> bool {
        self.succeeded() && self.keeper.as_ref().is_some_and(ProcessKeeper::has_running)
    }

    /// Describes the end of a process that is kept for many runs. `None` if it lives, or if its end was
    /// described before.
    pub fn describe_unreported_end(&self) -> Option<String> {
        let is_unreported = self.has_ended(Instant::now()) && !self.is_end_reported.get();
        is_unreported.then(|| {
            self.is_end_reported.set(true);
            let state = self.status().map_or("has ended".to_owned(), describe_status);
            let words = self.describe_words(&self.tail.last(LAST_WORDS).unwrap_or_default());
            // A launched program that goes to the background is another mistake than an end between runs.
            let (when, why) = match self.went_to_background() {
                true => ("", STAY_IN_FOREGROUND),
                false => {
                    (" after the run before", "\nhelp: leave out `keep: true`: then each run starts it anew")
                }
            };
            format!("`{}` {state}{when}{words}{why}", self.name)
        })
    }

    /// Returns what it has written on its standard error, on lines of their own.
    pub fn last_words(&self) -> Option<String> {
        Some(self.describe_words(&self.tail.last(Duration::ZERO)?))
    }

    /// Finds the last line on its standard error for which `is_wanted` is true.
    pub fn find_line(&self, is_wanted: impl Fn(&str) -> bool) -> Option<String> {
        self.tail.last(Duration::ZERO)?.into_iter().rfind(|line| is_wanted(line))
    }

    /// Puts last words behind their heading, on lines of their own.
    fn describe_words(&self, lines: &[String]) -> String {
        let place = if self.is_talking { " on standard error" } else { "" };
        match lines {
            [] => String::new(),
            [line] => format!("\nits last words{place}: {line}"),
            lines => format!("\nits last words{place}:\n    {}", lines.join("\n    ")),
        }
    }

    fn status(&self) -> Option<ExitStatus> {
        self.keeper.as_ref()?.status()
    }

    /// Ends the process and all that it started. `close` closes its standard input, or the connection to it.
    pub fn stop(&mut self, close: impl FnOnce()) {
        let Some(keeper) = self.keeper.take() else { return };
        if !self.grace.is_zero() {
            close();
            self.has_ended(Instant::now() + self.grace);
        }
        let now = Instant::now();
        let time_left = self.deadline.unwrap_or(now).saturating_duration_since(now);
        keeper.end_launch(time_left.min(STOPPING_IN_TIME) + LAST_WORDS);
        self.folder = None;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop(|| {});
    }
}

/// Finds the error by which a program has ended itself, with the file and the line that raised it.
fn find_own_error(lines: &[String]) -> Option<String> {
    // Frames of Python: `  File "/work/piggy.py", line 14, in main`.
    let frames = lines.iter().filter_map(|line| {
        let (file, rest) = line.trim_start().strip_prefix("File \"")?.split_once("\", line ")?;
        Some((file, format!("{}:{}", file_name(file), rest.split(',').next()?)))
    });
    let frames: Vec<(&str, String)> = frames.collect();
    // The libraries that the program calls are not at fault.
    let is_own = |(file, _): &&(&str, String)| !file.contains("/lib/python") && !file.contains('<');
    let python_frame = frames.iter().rfind(is_own).or(frames.last()).map(|(_, frame)| frame.clone());
    let unindented = || lines.iter().filter(|line| !line.starts_with(char::is_whitespace));
    let is_named = |line: &&String| ["Error", "Exception", "panic"].iter().any(|word| line.contains(word));
    let last_line = || unindented().next_back().filter(|_| python_frame.is_some());
    let error = unindented().rfind(is_named).or_else(last_line)?;
    let frame = python_frame.or_else(|| lines.iter().find_map(|line| find_frame(line)))?;
    Some(if error.contains(&frame) { error.clone() } else { format!("{error} ({frame})") })
}

/// Explains an error of a program that does not know `start`.
fn explain_error(error: &str) -> Option<String> {
    let asks = [
        "Inappropriate ioctl for device",
        "not a tty",
        "not a terminal",
        "opening terminal",
        "TERM environment",
    ];
    if asks.iter().any(|words| error.contains(words)) {
        return Some(TERMINAL.to_owned());
    }
    let is_of_input = ["KeyError: 'input'", "KeyError: 'values'"].iter().any(|key| error.contains(key));
    is_of_input.then(|| {
        "\nhelp: the first message of a run is `{\"start\": ...}`: answer it with `{\"ready\": true}`"
            .to_owned()
    })
}

/// Explains an error of a program that has not found a file by a relative path. The file may lie in a folder
/// below the one in which the program starts, or beside it.
fn explain_missing_file(error: &str, directory: &Path) -> Option<String> {
    // `No such file` in the words of the system, `no such file` in those of some programs.
    let (_, rest) = error.split_once("o such file or directory")?;
    let name = rest.split('\'').nth(1).filter(|name| !name.is_empty() && !name.starts_with('/'))?;
    let find_in = |parent: &str| {
        let items = std::fs::read_dir(directory.join(parent)).into_iter().flatten().flatten().take(1000);
        let paths = items.map(|item| Path::new(parent).join(item.file_name()));
        paths.filter(|path| directory.join(path).join(name).is_file()).min()
    };
    let remedy = match find_in("").or_else(|| find_in("..")) {
        Some(folder) => format!("write `directory: {}`, where `{name}` is", folder.display()),
        None => "`directory: FOLDER` sets it".to_owned(),
    };
    Some(format!(
        "\nhelp: it starts in the folder of the IUT file, unless `directory` next to `command` says another: {remedy}. \
         Paths in `command` begin there, too"
    ))
}

/// Finds a file with a line in a frame: `piggy.js:14` in `at main (/work/piggy.js:14:3)`.
fn find_frame(line: &str) -> Option<String> {
    line.split([' ', '(', ')', '\t']).find_map(|word| {
        let (file, rest) = word.split_once(':')?;
        let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
        (file.contains('.') && !digits.is_empty()).then(|| format!("{}:{digits}", file_name(file)))
    })
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn describe_status(status: ExitStatus) -> String {
    match status {
        ExitStatus::Code(code) => format!("ended with status {code}"),
        ExitStatus::Signal(signal) => {
            let name = match signal {
                4 => " (SIGILL)",
                6 => " (SIGABRT)",
                7 => " (SIGBUS)",
                8 => " (SIGFPE)",
                9 => " (SIGKILL)",
                11 => " (SIGSEGV)",
                13 => " (SIGPIPE)",
                15 => " (SIGTERM)",
                _ => "",
            };
            format!("was killed by signal {signal}{name}")
        }
    }
}

/// Names a command in messages: by its program, and the script that the program runs. Other words may change
/// from launch to launch.
fn name_of_command(words: &[String]) -> String {
    let is_script = |word: &String| {
        let path = Path::new(word);
        let ending = path.extension().and_then(|ending| ending.to_str());
        path.is_relative()
            && ending.is_some_and(|ending| ending.bytes().all(|byte| byte.is_ascii_alphabetic()))
    };
    let known = if words.get(1).is_some_and(is_script) { 2 } else { 1 };
    words[..known].join(" ")
}

/// The help for a program whose child goes on in the background.
const STAY_IN_FOREGROUND: &str = "\na process that it started still runs in the background\nhelp: the program of `launch` \
     must stay in the foreground: leave out `&`, and look for an option such as `--foreground`, `-D` or `daemon off`";

/// The help for a server that has ended without an error.
pub const MUST_GO_ON: &str = "\nhelp: the program of `launch` must go on running until coreach ends it";

const TERMINAL: &str = "\nhelp: it asks for a terminal, and coreach gives it none: let it do without. On Linux, `command: [script, -qE, \
                        never, -c, \"PROGRAM WORDS\", /dev/null]` gives it one";

const CARRIAGE_RETURN: &str = "the first line of the script ends with `\\r\\n`, so `\\r` belongs to the name of its \
                               interpreter: save the script with Unix line endings, for example with `dos2unix`";

/// Says whether the first line of a script ends with `\r\n`.
fn begins_with_carriage_return(path: &Path) -> bool {
    let mut line = Vec::new();
    let read = File::open(path).map(|file| BufReader::new(file.take(1000)).read_until(b'\n', &mut line));
    read.is_ok() && line.ends_with(b"\r\n")
}

/// Explains what helps if a program cannot be started. The text continues a message.
fn explain_unstartable(why: &std::io::Error, program: &str, path: &Path) -> String {
    let place = path.display();
    match why.kind() {
        ErrorKind::NotFound if program.contains(' ') => {
            let words = program.split_whitespace().collect::<Vec<&str>>().join(", ");
            format!("\nhelp: this is one word with a space: write `command: [{words}]`")
        }
        ErrorKind::NotFound if let Some((name, value)) = program.split_once('=') => {
            format!("\nhelp: coreach starts no shell: write `environment: {{ {name}: \"{value}\" }}` next to `command`")
        }
        ErrorKind::NotFound if !program.contains('/') && path.is_file() => {
            format!("\nhelp: for the program in the folder of the IUT file, write `./{program}`")
        }
        ErrorKind::NotFound if !program.contains('/') => {
            "\nhelp: no folder of `PATH` has this program. For a program in the folder of the IUT file, write `./NAME`"
                .to_owned()
        }
        ErrorKind::NotFound if begins_with_carriage_return(path) => format!("\nhelp: {CARRIAGE_RETURN}"),
        ErrorKind::NotFound if path.exists() => {
            format!("\nhelp: {place} exists, but the program that its first line names after `#!` does not")
        }
        ErrorKind::NotFound => format!("\nhelp: there is no file {place}: correct `command` in the IUT file"),
        ErrorKind::PermissionDenied if path.is_dir() => format!("\nhelp: {place} is a folder"),
        ErrorKind::PermissionDenied => {
            format!(
                "\nhelp: {place} is not executable: run `chmod +x` on it, or begin `command` with its interpreter"
            )
        }
        // ENOEXEC: it is no program, and no script that names one.
        _ if why.raw_os_error() == Some(8) => {
            format!(
                "\nhelp: {place} has no first line such as `#!/usr/bin/env python3`: begin `command` with its interpreter"
            )
        }
        _ => String::new(),
    }
}

/// What the standard output of a process is for: messages, or only the end of what it says.
#[derive(PartialEq, Eq)]
enum OutputUse {
    Messages,
    LastWords,
}

/// Starts a process below a keeper. Makes pipes for its standard input and output if they are for messages.
fn start(launch: &Launch, output_use: OutputUse) -> Result<(Process, Option<Pipes>), Failure> {
    let is_talking = output_use == OutputUse::Messages;
    let Some((program, arguments)) = launch.words.split_first() else {
        return Err(Failure::Start("the command is empty".to_owned()));
    };
    let directory = &launch.directory;
    let report_failure = |why: std::io::Error| {
        let path = directory.join(program.trim_start_matches("./"));
        let help = explain_unstartable(&why, program, path.strip_prefix("./").unwrap_or(&path));
        Failure::Start(format!("`{program}` cannot be started: {why}{help}"))
    };
    if !directory.is_dir() {
        let why = format!("{} is not a folder", directory.display());
        return Err(report_failure(std::io::Error::other(why)));
    }
    let directory = std::path::absolute(directory).map_err(report_failure)?;
    // The path of a program is relative to the folder of the command.
    let located = if program.contains('/') { directory.join(program) } else { program.into() };
    let given = launch.environment.iter().map(|(name, value)| (name.clone(), Some(value.clone())));
    // If there is no folder, the variable is removed: it would name the folder of another launch.
    let folder = launch.folder.as_ref().map(|folder| folder.name().to_owned());
    let environment = given.chain([(temporary::VARIABLE.to_owned(), folder.clone())]).collect();
    let order = LaunchOrder {
        program: located.into_os_string(),
        arguments: arguments.to_vec(),
        directory: directory.into_os_string(),
        environment,
        folder,
    };
    // The process writes its last words to `pen`.
    let (words, pen) = std::io::pipe().map_err(report_failure)?;
    let (stdin, stdout, pipes): (OwnedFd, OwnedFd, _) = if is_talking {
        let (stdin, writer) = std::io::pipe().map_err(report_failure)?;
        let (reader, stdout) = std::io::pipe().map_err(report_failure)?;
        let pipes = Pipes { input: writer.into(), output: reader.into() };
        (stdin.into(), stdout.into(), Some(pipes))
    } else {
        let stdin = File::open("/dev/null").map_err(report_failure)?;
        (stdin.into(), pen.try_clone().map_err(report_failure)?.into(), None)
    };
    let tail = StreamTail::of(words.into()).map_err(report_failure)?;
    let kept = keeper::launch(order, [stdin.as_fd(), stdout.as_fd(), pen.as_fd()]).map_err(report_failure)?;
    coreach_model::journal::note(|| format!("launched {}", launch.words.join(" ")));
    let process = Process {
        keeper: Some(kept.keeper),
        pid: kept.pid,
        pidfd: kept.pidfd,
        tail,
        is_talking,
        grace: launch.grace,
        name: name_of_command(&launch.words),
        directory: launch.directory.clone(),
        deadline: None,
        is_end_reported: Cell::new(false),
        folder: launch.folder.clone(),
    };
    Ok((process, pipes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_of_a_program_is_told_with_its_place() {
        for (words, expected) in [
            (
                "Traceback (most recent call last):\n  File \"/w/main.py\", line 9, in <module>\n    run()\n  \
                 File \"/w/piggy.py\", line 14, in run\nTypeError: no number",
                Some("TypeError: no number (piggy.py:14)"),
            ),
            (
                "/w/piggy.js:2\n    throw new Error('no')\n\nError: no\n    at run (/w/piggy.js:2:9)\nNode.js v20",
                Some("Error: no (piggy.js:2)"),
            ),
            (
                "Exception in thread \"main\" java.lang.Error: no\n\tat Piggy.main(Piggy.java:3)",
                Some("Exception in thread \"main\" java.lang.Error: no (Piggy.java:3)"),
            ),
            (
                "thread 'main' panicked at src/main.rs:2:5:\nno\nnote: run with `RUST_BACKTRACE=1`",
                Some("thread 'main' panicked at src/main.rs:2:5:"),
            ),
            (
                "Traceback (most recent call last):\n  File \"/w/todo.py\", line 3, in go\n    loads(text)\n  \
                 File \"/usr/lib/python3.11/json/decoder.py\", line 355, in raw_decode\n\
                 json.decoder.JSONDecodeError: no\n--------",
                Some("json.decoder.JSONDecodeError: no (todo.py:3)"),
            ),
            ("usage: piggy GOAL", None),
            ("cannot open 127.0.0.1:80", None),
        ] {
            let words: Vec<String> = words.lines().map(str::to_owned).collect();
            assert_eq!(find_own_error(&words).as_deref(), expected);
        }
    }
}
