//! The work of a keeper: it launches one command at a time, and ends all processes that came of it.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process_group, wait, waitid,
};

use super::messages::{ExitStatus, KeeperReply, KeeperRequest, LaunchOrder, receive, send};
use super::processes::{find_descendants, kill_process, reap_children_but};
use crate::temporary;

/// How long a keeper tries to end processes that resist, when nobody waits for it any more.
const RESISTANCE: Duration = Duration::from_secs(10);

/// How often a keeper asks for the status of adopted processes.
const REAPING: Timespec = Timespec { tv_sec: 0, tv_nsec: 500_000_000 };

/// How a keeper finds what a launch has started.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum KeeperReach {
    /// It is a process that adopts descendants without a parent: all its descendants belong to the launch.
    AllBelow,
    /// It is a thread: it finds the process group, and the descendants whose parents are alive.
    Group,
}

/// A launched process. Its number and that of its group stay its own until it is asked for its status.
struct KeptLaunch {
    child: Child,
    pid: Pid,
    reach: KeeperReach,
    folder: Option<String>,
}

/// Serves until the other end of the stream is closed, and leaves nothing behind.
pub(super) fn serve(stream: &UnixStream, reach: KeeperReach) {
    let mut launch: Option<KeptLaunch> = None;
    while let Ok(Some((request, descriptors))) = await_request(stream, launch.as_ref()) {
        let mut pidfd = None;
        let reply = match request {
            KeeperRequest::Launch(order) => match KeptLaunch::start(order, descriptors, reach) {
                Ok((started, descriptor)) => {
                    let number = started.pid.as_raw_nonzero().get();
                    (launch, pidfd) = (Some(started), Some(descriptor));
                    KeeperReply::Launched(number)
                }
                Err(error) => KeeperReply::NotLaunched(error.raw_os_error(), error.to_string()),
            },
            KeeperRequest::Status => KeeperReply::Status(launch.as_ref().and_then(KeptLaunch::status)),
            KeeperRequest::End(within) => {
                let is_clear = launch.as_mut().is_none_or(|launch| launch.end(Instant::now() + within));
                if is_clear {
                    launch = None;
                }
                KeeperReply::Ended(is_clear)
            }
        };
        let beside: Vec<BorrowedFd<'_>> = pidfd.iter().map(AsFd::as_fd).collect();
        if send(stream, &reply, &beside).is_err() {
            break;
        }
    }
    if let Some(mut launch) = launch {
        launch.end(Instant::now() + RESISTANCE);
        if let Some(folder) = launch.folder {
            // If something stays, there is nobody to tell.
            let _ = temporary::remove(Path::new(&folder));
        }
    }
}

/// Waits for the next request; `None` after the last one. Meanwhile asks for the status of adopted processes
/// that have ended.
fn await_request(
    stream: &UnixStream,
    launch: Option<&KeptLaunch>,
) -> io::Result<Option<(KeeperRequest, Vec<OwnedFd>)>> {
    let adopting = launch.filter(|launch| launch.reach == KeeperReach::AllBelow);
    loop {
        let mut fds = [PollFd::new(stream, PollFlags::IN)];
        match poll(&mut fds, adopting.map(|_| &REAPING)) {
            Ok(1..) => return receive(stream),
            Ok(0) => {}
            Err(rustix::io::Errno::INTR) => continue,
            Err(error) => return Err(error.into()),
        }
        if let Some(launch) = adopting {
            reap_children_but(launch.pid.as_raw_nonzero().get());
        }
    }
}

impl KeptLaunch {
    /// Starts the command in a process group of its own. The descriptor becomes readable when it ends.
    fn start(
        order: LaunchOrder,
        streams: Vec<OwnedFd>,
        reach: KeeperReach,
    ) -> io::Result<(KeptLaunch, OwnedFd)> {
        let Ok([input, output, error]) = <[OwnedFd; 3]>::try_from(streams) else {
            return Err(io::Error::other("standard streams are missing"));
        };
        let mut command = Command::new(order.program);
        command.args(order.arguments).current_dir(order.directory).process_group(0);
        command.stdin(input).stdout(output).stderr(error);
        for (name, value) in order.environment {
            if let Some(value) = value {
                command.env(name, value)
            } else {
                command.env_remove(name)
            };
        }
        let child = command.spawn()?;
        let pid = Pid::from_child(&child);
        let mut launch = KeptLaunch { child, pid, reach, folder: order.folder };
        match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
            Ok(pidfd) => Ok((launch, pidfd)),
            Err(error) => {
                launch.end(Instant::now() + RESISTANCE);
                Err(error.into())
            }
        }
    }

    /// Returns how the process has ended, if it has. Its number stays its own.
    fn status(&self) -> Option<ExitStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let status = waitid(WaitId::Pid(self.pid), options).ok()??;
        let code = status.exit_status().map(ExitStatus::Code);
        code.or_else(|| status.terminating_signal().map(ExitStatus::Signal))
    }

    /// Kills the process with all that it started, again and again. Returns whether nothing is left.
    fn end(&mut self, until: Instant) -> bool {
        let root = match self.reach {
            KeeperReach::AllBelow => rustix::process::getpid(),
            KeeperReach::Group => self.pid,
        };
        let mut pause = Duration::from_micros(300);
        loop {
            // The look comes before the group is killed: the dead have no children by which they are found.
            let family = find_descendants(root.as_raw_nonzero().get());
            family.iter().rev().for_each(kill_process);
            let is_clear = match self.reach {
                KeeperReach::AllBelow => has_no_child(),
                KeeperReach::Group => {
                    let _ = kill_process_group(self.pid, Signal::KILL);
                    // Asking for the status frees the number, so it comes last.
                    family.is_empty() && !matches!(self.child.try_wait(), Ok(None))
                }
            };
            if is_clear || Instant::now() >= until {
                return is_clear;
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(3));
        }
    }
}

/// Asks for the status of all children that have ended. Returns whether none lives. A process that adopts
/// descendants without a parent then has no descendants at all.
fn has_no_child() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(rustix::io::Errno::INTR) => {}
            Ok(None) => return false,
            Err(_) => return true,
        }
    }
}
