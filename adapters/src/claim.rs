//! One run at a time at a system that coreach does not start, whichever process makes the run, and a mark
//! that lasts as long as the run.
//!
//! **Problem.** Two runs at one system reset each other, and both are wrong about it. A campaign can order
//! its runs, but two programs that a user starts know nothing of each other. A program that is killed in the
//! middle of a run may leave something under way to the system, and then nobody remembers it.
//!
//! **Method.** Each system has a file, in a folder of the user's own below the one for temporary files. The
//! file is locked as long as a run lasts, and says so in its text. If the process dies, the kernel takes the
//! lock, and the text stays. A text without a lock shows that a run was cut off, or that the system was left
//! unclean. A run that leaves its system clean empties the file.
//!
//! A text that is older than an hour is not believed. If there can be no file, there is no claim. If a system
//! has two names, the user must keep the runs apart.
//!
//! **Ends** at the instant that is given. **Costs** a few calls of the kernel for each run.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::PathBuf;
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use sha2::{Digest, Sha256};

use crate::adapter::Failure;
use crate::times::PAUSE;

/// A system that is ours for a run: its file, locked.
pub struct Claim(File);

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FoundClaim {
    /// Nothing: the last run has left it clean.
    Nothing,
    /// The mark of a run that was cut off, or has left it unclean.
    Mark,
}

impl Claim {
    /// Claims a system, and waits for it until `until`. `None` if no file can be made.
    pub fn make(system: &str, until: Instant) -> Result<Option<(Self, FoundClaim)>, Failure> {
        let Some(mut file) = open_file(system) else { return Ok(None) };
        loop {
            match file.try_lock() {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() >= until => {
                    let why = format!("another run still uses {system}");
                    return Err(Failure::Start(why));
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(PAUSE),
                Err(TryLockError::Error(_)) => return Ok(None),
            }
        }
        let found = if is_marked(&file) { FoundClaim::Mark } else { FoundClaim::Nothing };
        // A system that cannot be marked counts as left clean.
        let _ = file.set_len(0);
        let _ = writeln!(file, "coreach {} uses {system}", std::process::id());
        Ok(Some((Claim(file), found)))
    }

    /// Gives the system back. An unclean one keeps its mark.
    pub fn leave(self, is_unclean: bool) {
        if !is_unclean {
            let _ = self.0.set_len(0);
        }
    }
}

/// Opens the file that stands for the system. `None` if no safe file can be made.
fn open_file(system: &str) -> Option<File> {
    let hash = Sha256::digest(system.as_bytes());
    let name: String = hash.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
    let flags = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or(0);
    let mut options = OpenOptions::new();
    options.read(true).append(true).create(true).mode(0o600).custom_flags(flags);
    options.open(make_folder()?.join(name)).ok()
}

fn is_marked(file: &File) -> bool {
    let Ok(data) = file.metadata() else { return false };
    let age = data.modified().ok().and_then(|time| time.elapsed().ok()).unwrap_or_default();
    // An older mark is not believed.
    data.len() > 0 && age < Duration::from_secs(3600)
}

/// Makes the folder of the files. `None` if it is not ours alone.
fn make_folder() -> Option<PathBuf> {
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
    use super::*;

    fn soon() -> Instant {
        Instant::now() + Duration::from_millis(50)
    }

    #[test]
    fn one_at_a_time_and_what_was_left_unclean_is_known() {
        let system = format!("a test of {}", std::process::id());
        let claim = |found| {
            let (claim, was) = Claim::make(&system, soon()).unwrap().unwrap();
            assert_eq!(was, found);
            claim
        };
        let first = claim(FoundClaim::Nothing);
        assert!(matches!(Claim::make(&system, soon()), Err(Failure::Start(_))));
        first.leave(false);
        claim(FoundClaim::Nothing).leave(true);
        // As after a process that was killed: the lock is gone, the file is not.
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
                        let (claim, found) = Claim::make(&system, until).unwrap().unwrap();
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
