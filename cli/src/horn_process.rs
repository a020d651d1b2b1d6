//! Horn clauses, each question in a process of its own: the program started anew, as `coreach horn-clauses`.
//!
//! Z3's fixed points can hang where no limit is looked at, take any memory, and end the process that they run
//! in. So the process sets itself limits that the system keeps, reads the script from its standard input, and
//! writes the answer to its standard output. If anything ends it before, the answer is that nothing is known.
//! Its time is processor time, so that the load of the machine changes no answer. A much longer limit on the
//! clock ends it if it waits. It ends with the process that has asked, whatever ends that.

use std::io::{self, Read, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use coreach_analyses::solver::horn::{HornEngine, HornReply};
use coreach_analyses::solver::z3::horn::InThisProcess;
use coreach_model::budget;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{Pid, Resource, Rlimit, Signal, getppid, set_parent_process_death_signal, setrlimit};

use crate::exit::Exit;

/// The subcommand, which no help shows.
pub const SUBCOMMAND: &str = "horn-clauses";

/// Z3's resource units for a question, the same on every machine: some seconds.
const RLIMIT: u32 = 20_000_000;

/// Time on the clock, if neither limit ends the question.
const LONGEST: Duration = Duration::from_secs(300);

/// Asks each question in a new process of a program, which is coreach.
#[derive(Clone, Debug)]
pub struct HornProcess {
    pub program: PathBuf,
}

impl HornProcess {
    /// Returns an engine of this program. If its path is not known, each answer is that nothing is known.
    pub fn this_program() -> Self {
        HornProcess { program: std::env::current_exe().unwrap_or_default() }
    }
}

impl HornEngine for HornProcess {
    fn solve(&mut self, script: &str) -> HornReply {
        const CHECK_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };
        let mut command = Command::new(&self.program);
        command.arg(SUBCOMMAND).arg(std::process::id().to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = match command.spawn() {
            Ok(child) => KilledOnDrop(child),
            Err(error) => return HornReply::Unknown(format!("no process: {error}")),
        };
        let (stdin, stdout) = (child.0.stdin.take(), child.0.stdout.take());
        let (Some(mut stdin), Some(mut stdout)) = (stdin, stdout) else { unreachable!("both are pipes") };
        // The process reads all before it writes. If it has ended already, there is no answer to read.
        let _ = stdin.write_all(script.as_bytes());
        drop(stdin);
        let (begun, mut text, mut piece) = (Instant::now(), Vec::new(), [0; 4096]);
        // The answer ends where the process closes its output.
        loop {
            match poll(&mut [PollFd::new(&stdout, PollFlags::IN)], Some(&CHECK_INTERVAL)) {
                Ok(0) | Err(Errno::INTR) if begun.elapsed() < LONGEST => budget::ask_now(),
                Ok(1..) => match stdout.read(&mut piece) {
                    Ok(count @ 1..) => text.extend_from_slice(&piece[..count]),
                    _ => break,
                },
                _ => return HornReply::Unknown("its process did not answer in time".to_owned()),
            }
        }
        drop(child);
        let reply = str::from_utf8(&text).ok().and_then(HornReply::from_text);
        reply.unwrap_or_else(|| HornReply::Unknown("its process ended without an answer".to_owned()))
    }
}

/// A process that is killed when this value is dropped, so that it never outlives the question.
struct KilledOnDrop(Child);

impl Drop for KilledOnDrop {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs in the new process: sets limits, reads a script, writes the answer. The process `parent` has asked.
///
/// # Errors
/// Standard input or output fails, or a limit cannot be set.
pub fn answer_question(parent: i32) -> io::Result<Exit> {
    set_parent_process_death_signal(Some(Signal::KILL))?;
    // If `parent` has ended before that call, another process has become the parent.
    if getppid().map(Pid::as_raw_pid) != Some(parent) {
        return Ok(Exit::Environment);
    }
    let limit = |most: u64| Rlimit { current: Some(most), maximum: Some(most) };
    // Bytes, and seconds if the resource units do not end the question.
    setrlimit(Resource::As, limit(2 << 30))?;
    setrlimit(Resource::Cpu, limit(20))?;
    setrlimit(Resource::Core, limit(0))?;
    let mut script = String::new();
    io::stdin().read_to_string(&mut script)?;
    let reply = InThisProcess { rlimit: RLIMIT }.solve(&script);
    io::stdout().write_all(reply.to_text().as_bytes())?;
    Ok(Exit::Fine)
}
