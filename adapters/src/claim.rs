//! One run at a time at a system that nobody here brings up, whichever process makes it, and a mark while
//! there is one.
//!
//! **Problem.** Two runs at one system reset each other, and both are wrong about it. Within a campaign that
//! can be ordered; two programs that a user starts know nothing of each other. And a program that is killed
//! in the middle of a run leaves the system as one that ends with something under way does, with nobody to
//! remember.
//!
//! **Method.** A file for each system, in a folder of the user's own below the one for temporary files,
//! locked for as long as a run lasts. The kernel takes the lock from who dies, and the file stays: who finds
//! a file without a lock knows that a run was cut off, or that a system was left unclean. A run that leaves
//! its system clean takes the file away.
//!
//! A file that is older than an hour says nothing any more. Where there can be no such file, there is no
//! claim: the systems are then the user's to keep apart, as those are that are called by two names.
//!
//! **Ends** at the instant that is given. **Costs** a few calls of the kernel for each run.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use crate::adapter::Failure;

/// How long a file is believed.
const BELIEVED: Duration = Duration::from_secs(3600);

/// The pause between two attempts.
const PAUSE: Duration = Duration::from_millis(5);

/// A system that is ours for a run.
#[derive(Debug)]
pub struct Claim {
    path: PathBuf,
    /// Locked.
    file: File,
}

/// What was found where a claim was made.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoundClaim {
    /// Nothing: whoever was there has left it clean.
    Nothing,
    /// The mark of a run that was cut off, or has left it unclean.
    Mark,
}

impl Claim {
    /// Claims a system, until then at the latest. `None` where no file can be made.
    ///
    /// # Errors
    /// [`Failure::Start`]: somebody else has it.
    pub fn of(system: &str, until: Instant) -> Result<Option<(Self, FoundClaim)>, Failure> {
        let Some(folder) = folder() else { return Ok(None) };
        let name: String =
            Sha256::digest(system.as_bytes()).iter().take(16).map(|byte| format!("{byte:02x}")).collect();
        let path = folder.join(name);
        loop {
            let flags = i32::try_from((OFlags::NOFOLLOW | OFlags::CLOEXEC).bits()).unwrap_or(0);
            let opened = OpenOptions::new()
                .read(true)
                .write(true)
                .create(true)
                .mode(0o600)
                .custom_flags(flags)
                .open(&path);
            let Ok(file) = opened else { return Ok(None) };
            match flock(&file, FlockOperation::NonBlockingLockExclusive) {
                // Who had it may have taken the file away: then this lock is on nothing.
                Ok(()) if is_at(&file, &path) => {
                    let found = if is_marked(&file) { FoundClaim::Mark } else { FoundClaim::Nothing };
                    let mut claim = Claim { path, file };
                    claim.mark(system);
                    return Ok(Some((claim, found)));
                }
                Ok(()) => {}
                Err(Errno::WOULDBLOCK | Errno::INTR) => {
                    if Instant::now() >= until {
                        return Err(Failure::Start(format!(
                            "another run uses {system}, and did not leave it in time"
                        )));
                    }
                    std::thread::sleep(PAUSE);
                }
                Err(_) => return Ok(None),
            }
        }
    }

    fn mark(&mut self, system: &str) {
        // Who cannot write here marks nothing, and is believed to have left it clean.
        let _ = self.file.set_len(0);
        let _ = writeln!(self.file, "coreach {} uses {system}", std::process::id());
    }

    /// Gives it back. A system that is unclean keeps its mark.
    pub fn leave(self, is_unclean: bool) {
        if !is_unclean {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Is the file the one that is there by this name?
fn is_at(file: &File, path: &Path) -> bool {
    let (Ok(ours), Ok(there)) = (file.metadata(), fs::symlink_metadata(path)) else { return false };
    (ours.dev(), ours.ino()) == (there.dev(), there.ino())
}

fn is_marked(file: &File) -> bool {
    let Ok(data) = file.metadata() else { return false };
    let age = data.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
    data.len() > 0 && age < BELIEVED
}

/// Where the files are: a folder that is ours alone.
fn folder() -> Option<PathBuf> {
    let user = rustix::process::getuid().as_raw();
    let path = std::env::temp_dir().join(format!("coreach-systems-{user}"));
    match DirBuilder::new().mode(0o700).create(&path) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
        Err(_) => return None,
    }
    let data = fs::symlink_metadata(&path).ok()?;
    (data.is_dir() && data.uid() == user && data.mode() & 0o022 == 0).then_some(path)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(50)
    }

    #[test]
    fn one_at_a_time_and_what_was_left_dirty_is_known() {
        let system = format!("a test of {}", std::process::id());
        let claim = |found| {
            let (claim, was) = Claim::of(&system, soon()).unwrap().unwrap();
            assert_eq!(was, found);
            claim
        };
        let first = claim(FoundClaim::Nothing);
        assert!(matches!(Claim::of(&system, soon()), Err(Failure::Start(_))));
        first.leave(false);
        claim(FoundClaim::Nothing).leave(true);
        // As it is with one that was killed: the lock is gone, the file is not.
        drop(claim(FoundClaim::Mark));
        claim(FoundClaim::Mark).leave(false);
        claim(FoundClaim::Nothing).leave(false);
    }

    #[test]
    fn those_who_wait_get_it_one_after_the_other() {
        let system = format!("another test of {}", std::process::id());
        let (inside, done) = (std::sync::atomic::AtomicUsize::new(0), std::sync::atomic::AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..50 {
                        let until = Instant::now() + Duration::from_secs(60);
                        let (claim, found) = Claim::of(&system, until).unwrap().unwrap();
                        assert_eq!(found, FoundClaim::Nothing);
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        claim.leave(false);
                        done.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                    }
                });
            }
        });
        assert_eq!(done.into_inner(), 200);
    }
}
