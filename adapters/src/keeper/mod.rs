//! Launches of commands, each below a keeper that leaves nothing of them.
//!
//! **Problem.** A process that is tested may start others, let them leave its process group (`setsid`), let
//! them outlive it (a daemon), give them another environment. They must end with their run and with no other
//! one, and also if this program is killed.
//!
//! **Method.** A keeper is a process of ours that adopts each descendant that loses its parent
//! (`PR_SET_CHILD_SUBREAPER`). It launches one command at a time. So all its descendants belong to this
//! launch, and when it has no child any more, nothing is left. We talk to it over a pair of sockets, which
//! the kernel closes when we end, for whatever reason. Then the keeper ends its launch, removes the folder of
//! the launch, and ends itself. A keeper whose launch has left nothing is used again.
//!
//! A program says how a keeper is started ([`provide`]): coreach starts itself once more. In a program that
//! does not, a keeper is a thread. It finds the process group of its launch, and the descendants whose
//! parents are alive.
//!
//! **Falls short**: nothing finds a daemon whose keeper was killed, too.
//!
//! **Ends**: each call has a limit of time. A keeper goes on for a while with processes that resist.
//! **Costs** a process for each launch that is there at the same time, and a look at all processes at the end
//! of each launch.

mod messages;
mod processes;
mod service;

pub use messages::{ExitStatus, LaunchOrder};

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, LazyLock, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use coreach_model::lock::lock;
use rustix::event::{PollFd, PollFlags};

use crate::times::poll_until;

use messages::{KeeperReply, KeeperRequest, receive, send};
use service::{KeeperReach, serve};

/// How long a keeper may take to answer, on a machine that is busy.
const ANSWER: Duration = Duration::from_secs(60);

/// The program that becomes a keeper, and its arguments.
static PROGRAM: OnceLock<(PathBuf, Vec<String>)> = OnceLock::new();

static ENDING: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);

struct Keepers {
    /// All keepers that are there, by our ends of the streams to them.
    all: Vec<Weak<UnixStream>>,
    idle: Vec<ProcessKeeper>,
    /// The processes of keepers that are not used any more, and may not have ended.
    retired: Vec<Child>,
}

static KEEPERS: Mutex<Keepers> =
    Mutex::new(Keepers { all: Vec::new(), idle: Vec::new(), retired: Vec::new() });

pub struct ProcessKeeper {
    stream: Arc<UnixStream>,
    /// None for a thread.
    process: Option<Child>,
}

pub struct KeptProcess {
    /// Its number, for looks into `/proc`.
    pub pid: i32,
    /// Becomes readable when it has ended.
    pub pidfd: OwnedFd,
    pub keeper: ProcessKeeper,
}

/// Says how a keeper is started: as a program that calls [`serve_standard_input`].
pub fn provide(program: PathBuf, arguments: Vec<String>) {
    // The first call counts: keepers may have been started by then.
    let _ = PROGRAM.set((program, arguments));
}

/// Does the work of a keeper in this process, until the program that started it ends.
///
/// # Errors
/// The system has no descriptor, or adopts nothing for us.
pub fn serve_standard_input() -> io::Result<()> {
    let stream = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;
    serve(&stream, KeeperReach::AllBelow);
    Ok(())
}

/// Returns the flag of the end, for the handler of a signal that ends this program.
pub fn ending_flag() -> Arc<AtomicBool> {
    ENDING.clone()
}

pub fn is_ending() -> bool {
    ENDING.load(Ordering::SeqCst)
}

/// Lets nothing be launched any more, and ends all launches with their folders. Returns whether all are gone.
pub fn end_all(within: Duration) -> bool {
    ENDING.store(true, Ordering::SeqCst);
    let until = Instant::now() + within;
    let streams: Vec<Arc<UnixStream>> = lock(&KEEPERS).all.iter().filter_map(Weak::upgrade).collect();
    for stream in &streams {
        let _ = stream.shutdown(std::net::Shutdown::Write);
    }
    // A keeper that has ended has closed its end.
    streams.iter().all(|stream| {
        let mut fds = [PollFd::new(stream.as_ref(), PollFlags::empty())];
        matches!(poll_until(&mut fds, until), Ok(1..))
    })
}

/// Launches a command with these standard streams.
///
/// # Errors
/// It cannot be started, or this program is ending.
pub fn launch(order: LaunchOrder, streams: [BorrowedFd<'_>; 3]) -> io::Result<KeptProcess> {
    let request = KeeperRequest::Launch(order);
    loop {
        let (keeper, is_used) = hire()?;
        match keeper.ask(&request, &streams, ANSWER) {
            Ok((KeeperReply::Launched(pid), mut beside)) => {
                let pidfd = beside.pop().ok_or_else(|| io::Error::other("the process has no descriptor"))?;
                return Ok(KeptProcess { pid, pidfd, keeper });
            }
            Ok((KeeperReply::NotLaunched(number, text), _)) => {
                keeper.retire_to_idle();
                let known = number.map(io::Error::from_raw_os_error);
                return Err(known.unwrap_or_else(|| io::Error::other(text)));
            }
            // The keeper may have been killed while it was idle. Then another one is tried.
            Err(_) if is_used && !is_ending() => {}
            Err(error) => return Err(error),
            Ok(_) => return Err(io::Error::other("the keeper of processes does not answer")),
        }
    }
}

/// Returns a keeper, and whether it was used before.
fn hire() -> io::Result<(ProcessKeeper, bool)> {
    let mut keepers = lock(&KEEPERS);
    keepers.retired.retain_mut(|process| matches!(process.try_wait(), Ok(None)));
    if is_ending() {
        return Err(io::Error::other("coreach is ending"));
    }
    if let Some(keeper) = keepers.idle.pop() {
        return Ok((keeper, true));
    }
    let (ours, theirs) = UnixStream::pair()?;
    let process = match PROGRAM.get() {
        Some((program, arguments)) => {
            let mut command = Command::new(program);
            // A signal to our own process group is none for a keeper.
            command.args(arguments).process_group(0);
            command.stdin(OwnedFd::from(theirs)).stdout(Stdio::null()).stderr(Stdio::null());
            Some(command.spawn()?)
        }
        None => {
            let work = move || serve(&theirs, KeeperReach::Group);
            std::thread::Builder::new().name("keeper".to_owned()).spawn(work)?;
            None
        }
    };
    let stream = Arc::new(ours);
    keepers.all.retain(|known| known.strong_count() > 0);
    keepers.all.push(Arc::downgrade(&stream));
    Ok((ProcessKeeper { stream, process }, false))
}

impl ProcessKeeper {
    pub fn status(&self) -> Option<ExitStatus> {
        match self.ask(&KeeperRequest::Status, &[], ANSWER) {
            Ok((KeeperReply::Status(status), _)) => status,
            _ => None,
        }
    }

    /// Says whether something that was launched goes on. A thread does not know it.
    pub fn has_running(&self) -> bool {
        let number = self.process.as_ref().and_then(|process| i32::try_from(process.id()).ok());
        number.is_some_and(|keeper| !processes::find_descendants(keeper).is_empty())
    }

    /// Ends the launched process with all that it started. Returns whether nothing is left. The keeper goes
    /// on with processes that resist.
    pub fn end_launch(self, within: Duration) -> bool {
        let is_clear = matches!(
            // The keeper needs a moment to say so.
            self.ask(&KeeperRequest::End(within), &[], within + Duration::from_secs(1)),
            Ok((KeeperReply::Ended(true), _))
        );
        if is_clear {
            self.retire_to_idle();
        }
        is_clear
    }

    fn retire_to_idle(self) {
        lock(&KEEPERS).idle.push(self);
    }

    /// Sends a request and returns its reply. Descriptors may go with both.
    fn ask(
        &self,
        request: &KeeperRequest,
        descriptors: &[BorrowedFd<'_>],
        within: Duration,
    ) -> io::Result<(KeeperReply, Vec<OwnedFd>)> {
        self.stream.set_read_timeout(Some(within))?;
        send(&self.stream, request, descriptors)?;
        receive(&self.stream)?.ok_or_else(|| io::Error::other("the keeper of processes has ended"))
    }
}

impl Drop for ProcessKeeper {
    fn drop(&mut self) {
        if let Some(process) = self.process.take() {
            lock(&KEEPERS).retired.push(process);
        }
    }
}
