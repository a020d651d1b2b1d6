//! The last words of an implementation on its standard error, for the message when it is gone.
//!
//! Standard error must be read all the time, since a process stops if nobody reads from it. A thread reads it
//! and keeps the end. The thread ends with the last process that could write, or when it is told to.

use std::fs::File;
use std::io::Read;
use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use coreach_model::excerpt::shortened;
use coreach_model::limits::MANY_SHOWN;
use coreach_model::lock::lock;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

/// The end of a stream that is read beside everything else.
pub struct StreamTail(Arc<SharedTail>);

#[derive(Default, Debug)]
struct SharedTail {
    state: Mutex<TailState>,
    ended: Condvar,
}

#[derive(Default, Debug)]
struct TailState {
    last: Vec<u8>,
    /// How many bytes have come since they were last asked for.
    new: usize,
    has_ended: bool,
    is_unwanted: bool,
}

impl StreamTail {
    /// Reads a pipe to its end.
    pub fn of(pipe: OwnedFd) -> std::io::Result<Self> {
        let shared = Arc::new(SharedTail::default());
        let theirs = Arc::clone(&shared);
        std::thread::Builder::new().name("stderr".to_owned()).stack_size(128 << 10).spawn(move || {
            follow(&File::from(pipe), &theirs);
            lock(&theirs.state).has_ended = true;
            theirs.ended.notify_all();
        })?;
        Ok(StreamTail(shared))
    }

    /// Takes the bytes since the last call, as far as they are kept, and the number of those before them.
    pub fn news(&self) -> (Vec<u8>, usize) {
        let mut state = lock(&self.0.state);
        let new = std::mem::take(&mut state.new);
        let kept = new.min(state.last.len());
        (state.last[state.last.len() - kept..].to_vec(), new - kept)
    }

    /// Returns the last lines, each shortened. `None` if there are none. Gives a stream that is about to end
    /// a moment to do so.
    pub fn last(&self, moment: Duration) -> Option<Vec<String>> {
        let (state, _) = self
            .0
            .ended
            .wait_timeout_while(lock(&self.0.state), moment, |state| !state.has_ended)
            .unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&state.last);
        let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
        let shown = &lines[lines.len().saturating_sub(MANY_SHOWN)..];
        let shown: Vec<String> = shown.iter().map(|line| shortened(line)).collect();
        (!shown.is_empty()).then_some(shown)
    }
}

impl Drop for StreamTail {
    fn drop(&mut self) {
        lock(&self.0.state).is_unwanted = true;
    }
}

/// Reads the pipe to its end, or until the tail is dropped, and keeps the last bytes.
fn follow(mut pipe: &File, shared: &SharedTail) {
    /// How often the thread checks whether the tail is dropped.
    const PATIENCE: Duration = Duration::from_millis(200);
    let patience = Timespec::try_from(PATIENCE).ok();
    let mut chunk = vec![0; 16 << 10];
    let mut last_check = Instant::now();
    loop {
        let mut fds = [PollFd::new(&pipe, PollFlags::IN)];
        let is_ready = match poll(&mut fds, patience.as_ref()) {
            Ok(count) => count > 0,
            Err(rustix::io::Errno::INTR) => continue,
            Err(_) => return,
        };
        if is_ready {
            let Ok(count) = pipe.read(&mut chunk) else { return };
            if count == 0 {
                return;
            }
            let mut state = lock(&shared.state);
            state.new += count;
            state.last.extend_from_slice(&chunk[..count]);
            // The last bytes have enough lines for a message.
            let surplus = state.last.len().saturating_sub(2048);
            state.last.drain(..surplus);
        }
        // A process that writes without a pause must not keep the thread from this check.
        if !is_ready || last_check.elapsed() > PATIENCE {
            last_check = Instant::now();
            if lock(&shared.state).is_unwanted {
                return;
            }
        }
    }
}
