//! Launching an implementation, and leaving nothing of it.
//!
//! A launched process leads a process group of its own and carries a mark ([`marker`]). It is never asked for
//! its status in a way that would free its number before the group of that number has been killed.

use std::ffi::OsString;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Arc, Once};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};

use crate::adapter::Failure;
use crate::evidence::Evidence;
use crate::held_up::{self, HeldUp};
use crate::marker::folder::{self, MarkerFolder};
use crate::marker::{self, Hunt, ProcessMark};
use crate::tail::Tail;

/// How long [`Process::stop`] tries before it leaves the rest to a thread, be the run's time over.
const STOPPING: Duration = Duration::from_millis(25);

/// How long it tries while the run has time left: one that was killed waits for the processor to die on.
const STOPPING_IN_TIME: Duration = Duration::from_secs(2);

/// How long that thread tries.
const RESISTANCE: Duration = Duration::from_secs(10);

/// How long one waits for the status of a process that has closed its output.
const LAST_WORDS: Duration = Duration::from_millis(25);

/// What is to be launched: a [`crate::description::Command`] with its holes filled.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// Where.
    pub directory: PathBuf,
    /// More variables of the environment.
    pub environment: Vec<(String, String)>,
    /// How long it may take to end by itself.
    pub grace: Duration,
    /// Where it may have files: the folder is there as long as one of those is that know it.
    pub folder: Option<Arc<MarkerFolder>>,
}

/// A process that was launched. Dropped, it is stopped.
#[derive(Debug)]
pub struct Process {
    child: Option<Child>,
    pid: Pid,
    pidfd: OwnedFd,
    mark: ProcessMark,
    tail: Tail,
    grace: Duration,
    name: String,
    deadline: Option<Instant>,
    /// Given up when nothing of it runs any more.
    folder: Option<Arc<MarkerFolder>>,
}

/// Our ends of a process' standard input and output.
#[derive(Debug)]
pub struct Pipes {
    /// What is written here, it reads.
    pub input: OwnedFd,
    /// What it writes can be read here.
    pub output: OwnedFd,
}

impl Process {
    /// Starts a process that is talked to over its standard input and output.
    ///
    /// # Errors
    /// [`Failure::Start`].
    pub fn talking(launch: &Launch) -> Result<(Self, Pipes), Failure> {
        let (process, pipes) = start(launch, true)?;
        let lost = || Failure::Start(format!("`{}` has no standard input and output", process.name));
        let pipes = pipes.ok_or_else(lost)?;
        Ok((process, pipes))
    }

    /// Starts a process that is talked to in another way. What it writes is kept as its last words only.
    ///
    /// # Errors
    /// [`Failure::Start`].
    pub fn silent(launch: &Launch) -> Result<Self, Failure> {
        start(launch, false).map(|(process, _)| process)
    }

    /// Until when the run has time, in which it is part.
    pub fn belongs_to(&mut self, deadline: Instant) {
        self.deadline = Some(deadline);
    }

    /// How long the machine has kept it from running, with all that it has started.
    pub fn held_up(&self) -> Option<HeldUp> {
        held_up::held_up(self.pid.as_raw_nonzero().get())
    }

    /// Becomes readable when the process has ended.
    pub fn end(&self) -> &OwnedFd {
        &self.pidfd
    }

    /// Has the process ended? Waits for it until then.
    pub fn has_ended(&self, until: Instant) -> bool {
        loop {
            let rest = until.saturating_duration_since(Instant::now());
            let mut fds = [PollFd::new(&self.pidfd, PollFlags::IN)];
            match poll(&mut fds, Timespec::try_from(rest).ok().as_ref()) {
                Ok(count) => return count > 0,
                Err(rustix::io::Errno::INTR) => {}
                Err(_) => return false,
            }
        }
    }

    /// Has it ended, and with status 0?
    pub fn succeeded(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = rustix::process::waitid(WaitId::Pid(self.pid), options);
        status.is_ok_and(|status| status.is_some_and(|status| status.exit_status() == Some(0)))
    }

    /// Puts down what it has written to its standard error since the last run.
    pub fn testify(&self, evidence: &Evidence) {
        let (words, cut) = self.tail.news();
        evidence.stderr(&words, cut);
    }

    /// How it is with a process that does not talk any more: its status and its last words. `what` happened.
    pub fn farewell(&self, what: &str) -> String {
        let has_ended = self.has_ended(Instant::now() + LAST_WORDS);
        let state = match self.status() {
            Some(status) => format!("`{}` {status}", self.name),
            None => format!("`{}` {what}", self.name),
        };
        let moment = if has_ended { LAST_WORDS } else { Duration::ZERO };
        match self.tail.last(moment) {
            Some(words) => format!("{state}; its last words: {words}"),
            None => state,
        }
    }

    /// How it ended, if it has. It stays in the kernel's books.
    fn status(&self) -> Option<String> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = rustix::process::waitid(WaitId::Pid(self.pid), options).ok()??;
        if let Some(code) = status.exit_status() {
            return Some(format!("ended with status {code}"));
        }
        let signal = status.terminating_signal()?;
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
        Some(format!("was killed by signal {signal}{name}"))
    }

    /// Ends the process and all that it started. `close` closes its standard input, or the connection to it.
    pub fn stop(&mut self, close: impl FnOnce()) {
        let Some(mut child) = self.child.take() else { return };
        let mut hunt = Hunt::default();
        // One that may end by itself may leave children without a parent: they are noted down before.
        if !self.grace.is_zero() {
            self.mark.remember(&mut hunt);
            close();
            self.has_ended(Instant::now() + self.grace);
        }
        let (pid, mark) = (self.pid, self.mark.clone());
        let spare = self
            .deadline
            .map_or(Duration::ZERO, |deadline| deadline.saturating_duration_since(Instant::now()));
        let most = spare.min(STOPPING_IN_TIME) + STOPPING;
        if !clear(&mut child, pid, &mark, &mut hunt, most) {
            // It forks faster than we look, or the kernel holds it.
            let folder = self.folder.take();
            let rest = move || {
                clear(&mut child, pid, &mark, &mut hunt, RESISTANCE);
                drop(folder);
            };
            // Where there is no thread to be had, nothing more can be done.
            let _ = std::thread::Builder::new().name("clearing".to_owned()).spawn(rest);
        }
        self.folder = None;
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop(|| {});
    }
}

/// Kills until nothing is left, for at most so long; is nothing left?
fn clear(child: &mut Child, pid: Pid, mark: &ProcessMark, hunt: &mut Hunt, most: Duration) -> bool {
    let until = Instant::now() + most;
    let mut is_reaped = false;
    let mut pause = Duration::from_micros(300);
    loop {
        // The look comes first: who is dead has no children any more, by which they could be found.
        let found = mark.kill_all(hunt);
        if !is_reaped {
            // As long as the leader is not reaped, nobody else gets the number of its group.
            let _ = rustix::process::kill_process_group(pid, Signal::KILL);
        }
        // Asking for the status frees the number, so it comes last.
        if found == 0 && !is_reaped {
            is_reaped = !matches!(child.try_wait(), Ok(None));
            if is_reaped {
                marker::released(child);
            }
        }
        if found == 0 && is_reaped {
            marker::bury_all();
            return true;
        }
        if Instant::now() >= until {
            return false;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(3));
    }
}

fn start(launch: &Launch, is_talking: bool) -> Result<(Process, Option<Pipes>), Failure> {
    // What a killed program of ours has left might hold a port, or a file.
    static FIRST: Once = Once::new();
    FIRST.call_once(|| {
        marker::sweep();
    });
    let Some((program, arguments)) = launch.words.split_first() else {
        return Err(Failure::Start("the command is empty".to_owned()));
    };
    let failed =
        |why: &dyn std::fmt::Display| Failure::Start(format!("`{program}` cannot be started: {why}"));
    if !launch.directory.is_dir() {
        return Err(failed(&format!("{} is no folder", launch.directory.display())));
    }
    let mut mark = ProcessMark::new();
    let (words, pen) = std::io::pipe().map_err(|error| failed(&error))?;
    let mut command = std::process::Command::new(located(launch, program));
    command
        .args(arguments)
        .current_dir(&launch.directory)
        .envs(launch.environment.iter().map(|(name, value)| (name, value)))
        .env(marker::VARIABLE, mark.value())
        .process_group(0);
    match &launch.folder {
        Some(folder) => command.env(folder::VARIABLE, folder.name()),
        // One of somebody else's is not for it.
        None => command.env_remove(folder::VARIABLE),
    };
    if is_talking {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
    } else {
        command.stdin(Stdio::null()).stdout(pen.try_clone().map_err(|error| failed(&error))?);
    }
    command.stderr(pen);
    let mut child = mark.launch(|| command.spawn()).map_err(|error| failed(&error))?;
    // The command holds the other end of the pipe open.
    drop(command);
    let pid = Pid::from_child(&child);
    coreach_model::journal::note(|| format!("launched {}", launch.words.join(" ")));
    let pipes = match (child.stdin.take(), child.stdout.take()) {
        (Some(input), Some(output)) => Some(Pipes { input: input.into(), output: output.into() }),
        _ => None,
    };
    mark.is_on(pid);
    let watched = rustix::process::pidfd_open(pid, PidfdFlags::empty()).map_err(|error| failed(&error));
    let tail = Tail::of(words.into()).map_err(|error| failed(&error));
    match (watched, tail) {
        (Ok(pidfd), Ok(tail)) => {
            let name = program.clone();
            let process = Process {
                child: Some(child),
                pid,
                pidfd,
                mark,
                tail,
                grace: launch.grace,
                name,
                deadline: None,
                folder: launch.folder.clone(),
            };
            Ok((process, pipes))
        }
        (Err(failure), _) | (_, Err(failure)) => {
            clear(&mut child, pid, &mark, &mut Hunt::default(), STOPPING);
            Err(failure)
        }
    }
}

/// A program that is given with a folder lies there as seen from the command's own folder.
fn located(launch: &Launch, program: &str) -> OsString {
    let folder = std::path::absolute(&launch.directory).unwrap_or_else(|_| launch.directory.clone());
    if program.contains('/') { folder.join(program).into_os_string() } else { program.into() }
}
