//! Writing files: whole, or not at all. Nothing is opened for writing that is no [`Output`], which somebody
//! has looked at.
//!
//! A file is written without a name in its folder, put on the disk, given a temporary name and renamed. So
//! whoever reads it finds the old one or the new one, whatever ends us between. Where the file system has no
//! files without a name, it has the temporary one from its beginning. That name says who writes:
//! `.name.coreach-PID-N.tmp`. One that a killed process has left is removed when something is written to its
//! folder again, and by the end that a signal brings.
//!
//! What is no regular file (a terminal, a pipe, `/dev/null`) is written as it is; a symbolic link stays one,
//! and what it points to is replaced. The permissions of a file that is replaced stay. A new one that may
//! hold secrets is its owner's alone.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use coreach_execution::campaign::{Store, StoreError};
use coreach_model::journal;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, openat, renameat_with};
use rustix::io::Errno;

use crate::outputs::Output;

/// Temporary files that are there now.
static OPEN: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Folders that were looked through for what killed processes have left.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A file in the making. Dropped without [`finish`](PendingFile::finish), it was never there.
#[derive(Debug)]
pub struct PendingFile {
    file: File,
    /// The temporary name and the final one; none where the file is written as it is.
    names: Option<(PathBuf, PathBuf)>,
    /// It does not have the temporary one yet.
    is_unnamed: bool,
}

impl PendingFile {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be made, or what is there may not be written.
    pub fn new(output: &Output) -> io::Result<Self> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let path = output.path();
        let known = fs::metadata(path).ok();
        if let Some(known) = &known
            && !known.is_file()
        {
            // A folder says why it cannot be written.
            let file = fs::OpenOptions::new().write(true).open(path)?;
            return Ok(PendingFile { file, names: None, is_unnamed: false });
        }
        // What a link points to is replaced, and not the link.
        let path = if known.is_some() { fs::canonicalize(path)? } else { path.to_owned() };
        if known.is_some() {
            // A file that may not be written is not replaced either.
            fs::OpenOptions::new().write(true).open(&path)?;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        sweep(folder);
        let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        // A name may be as long as the system allows; the temporary one is not longer.
        let short: String = name.to_string_lossy().chars().take(50).collect();
        let temporary = folder.join(format!(".{short}.coreach-{}-{number}.tmp", std::process::id()));
        let mode = if output.is_private() { 0o600 } else { 0o666 };
        lock(&OPEN).insert(temporary.clone());
        // Not every file system has files without a name.
        let unnamed = openat(
            CWD,
            folder,
            OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC,
            Mode::from_raw_mode(mode),
        );
        let is_unnamed = unnamed.is_ok();
        let named = || fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&temporary);
        let file = unnamed.map(File::from).or_else(|_| named()).inspect_err(|_| {
            lock(&OPEN).remove(&temporary);
        })?;
        let pending = PendingFile { file, names: Some((temporary, path)), is_unnamed };
        if let Some(known) = known {
            pending.file.set_permissions(known.permissions())?;
        }
        Ok(pending)
    }

    /// Begins a file where none is yet.
    ///
    /// # Errors
    /// It cannot be made; [`io::ErrorKind::AlreadyExists`] where something is there, a link that leads
    /// nowhere included.
    pub fn fresh(output: &Output) -> io::Result<Self> {
        if fs::symlink_metadata(output.path()).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        PendingFile::new(output)
    }

    /// The same as [`finish`](PendingFile::finish), but nothing is replaced, whoever has come first
    /// meanwhile.
    ///
    /// # Errors
    /// It cannot be put on the disk or named; [`io::ErrorKind::AlreadyExists`] where something is there.
    pub fn finish_fresh(mut self) -> io::Result<()> {
        let Some((temporary, path)) = self.names.take() else { return self.file.flush() };
        let name = || self.name(&temporary).and_then(|()| rename_fresh(&temporary, &path));
        let result = self.file.sync_all().and_then(|()| name());
        if result.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        lock(&OPEN).remove(&temporary);
        result
    }

    /// It is whole: now it is there.
    ///
    /// # Errors
    /// It cannot be put on the disk or renamed.
    pub fn finish(mut self) -> io::Result<()> {
        let Some((temporary, path)) = self.names.take() else { return self.file.flush() };
        let name = || self.name(&temporary).and_then(|()| fs::rename(&temporary, &path));
        let result = self.file.sync_all().and_then(|()| name());
        if result.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        lock(&OPEN).remove(&temporary);
        result
    }

    /// Gives it the temporary name: no file can be replaced by one that has none.
    fn name(&self, temporary: &Path) -> io::Result<()> {
        if self.is_unnamed {
            let ours = format!("/proc/self/fd/{}", self.file.as_raw_fd());
            linkat(CWD, ours, CWD, temporary, AtFlags::SYMLINK_FOLLOW)?;
        }
        Ok(())
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for PendingFile {
    fn drop(&mut self) {
        if let Some((temporary, _)) = self.names.take() {
            // It may be gone already, and nobody can be told.
            let _ = fs::remove_file(&temporary);
            lock(&OPEN).remove(&temporary);
        }
    }
}

/// Writes a file, whole or not at all.
pub fn write(output: &Output, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let path = output.path();
    let mut pending = PendingFile::new(output)?;
    pending.write_all(bytes.as_ref())?;
    pending.finish()?;
    journal::note(|| format!("wrote {}: {} bytes", path.display(), bytes.as_ref().len()));
    Ok(())
}

/// Makes a folder for what may hold secrets, with those above it: each new one is its owner's alone.
///
/// # Errors
/// It cannot be made.
pub fn private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Opens a store that runs are added to, and makes it where there is none.
///
/// # Errors
/// What is there is no store of ours, or it cannot be written.
pub fn open_store(output: &Output, name: &str) -> Result<Store, StoreError> {
    Store::open(output.path(), name)
}

/// Renames, if the new name is free. File systems differ in which of the two ways they have.
fn rename_fresh(from: &Path, to: &Path) -> io::Result<()> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Err(Errno::INVAL | Errno::NOSYS | Errno::NOTSUP) => {
            fs::hard_link(from, to)?;
            fs::remove_file(from)
        }
        result => Ok(result?),
    }
}

/// Writes a file, whole or not at all, where none is yet. Was the name free?
pub fn write_new(output: &Output, bytes: impl AsRef<[u8]>) -> io::Result<bool> {
    let write = || {
        let mut pending = PendingFile::fresh(output)?;
        pending.write_all(bytes.as_ref())?;
        pending.finish_fresh()
    };
    match write() {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        result => result.map(|()| true),
    }
}

/// Removes the temporary files of this process, for its end: what is still written is lost. Nothing is
/// renamed any more.
pub fn abandon() {
    // The lock is kept, so that nobody begins another one.
    let open = lock(&OPEN);
    for path in open.iter() {
        let _ = fs::remove_file(path);
    }
    std::mem::forget(open);
}

/// Removes what killed processes have left in a folder; once for each folder.
fn sweep(folder: &Path) {
    if !lock(&SWEPT).insert(folder.to_owned()) {
        return;
    }
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        if entry
            .file_name()
            .to_str()
            .and_then(writer)
            .is_some_and(|pid| !Path::new("/proc").join(pid).exists())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The number of the process that writes a temporary file of this name.
fn writer(name: &str) -> Option<&str> {
    let (_, mark) = name.strip_prefix('.')?.strip_suffix(".tmp")?.rsplit_once(".coreach-")?;
    let (pid, number) = mark.split_once('-')?;
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    (is_number(pid) && is_number(number)).then_some(pid)
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::{OutputForm, output};

    fn at(path: &Path) -> Output {
        output("--out", Some(path), OutputForm::New).unwrap().unwrap()
    }

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("coreach-write-{name}-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn what_is_not_finished_was_never_there() {
        let folder = folder("unfinished");
        let path = folder.join("a.json");
        write(&at(&path), "old").unwrap();
        let mut pending = PendingFile::new(&at(&path)).unwrap();
        pending.write_all(b"half of the n").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(pending);
        assert_eq!(names(&folder), ["a.json"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_a_killed_process_left_is_removed_and_nothing_else() {
        let folder = folder("left");
        // No process has the number zero.
        let left = [".a.json.coreach-0-3.tmp", ".a.json.coreach-1-3.tmp", "a.tmp", ".b.coreach-x-1.tmp"];
        for name in left {
            fs::write(folder.join(name), "").unwrap();
        }
        write(&at(&folder.join("a.json")), "new").unwrap();
        assert_eq!(names(&folder), [".a.json.coreach-1-3.tmp", ".b.coreach-x-1.tmp", "a.json", "a.tmp"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn a_file_that_is_being_written_has_no_name() {
        let folder = folder("unnamed");
        let mut pending = PendingFile::new(&at(&folder.join("a.json"))).unwrap();
        pending.write_all(b"half").unwrap();
        // Where the file system cannot, a killed process leaves the temporary name.
        assert!(!pending.is_unnamed || names(&folder).is_empty(), "{:?}", names(&folder));
        pending.finish().unwrap();
        assert_eq!(names(&folder), ["a.json"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_may_hold_secrets_is_new_as_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("private");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        private_folder(&folder.join("a/b")).unwrap();
        assert_eq!([mode(&folder.join("a")), mode(&folder.join("a/b"))], [0o700; 2]);
        for (form, is_private) in
            [(OutputForm::Page, true), (OutputForm::Run, true), (OutputForm::Junit, false)]
        {
            let path = folder.join(format!("{form:?}"));
            let output = output("--out", Some(&path), form).unwrap().unwrap();
            assert_eq!(output.is_private(), is_private);
            write(&output, "").unwrap();
            assert_eq!(mode(&path) & 0o077 == 0, is_private, "{form:?}: {:o}", mode(&path));
            // One that is replaced stays as it is.
            fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
            if form != OutputForm::Run {
                write(&output, "").unwrap();
                assert_eq!(mode(&path), 0o640);
            }
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_there_stays_for_what_is_new() {
        let folder = folder("fresh");
        let path = folder.join("a.json");
        // Both begin before either is there: the first to finish has the name.
        let (mut one, mut other) =
            (PendingFile::fresh(&at(&path)).unwrap(), PendingFile::fresh(&at(&path)).unwrap());
        one.write_all(b"one").unwrap();
        other.write_all(b"other").unwrap();
        one.finish_fresh().unwrap();
        assert_eq!(other.finish_fresh().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(!write_new(&at(&path), "third").unwrap());
        std::os::unix::fs::symlink("nowhere", folder.join("link")).unwrap();
        assert!(!write_new(&at(&folder.join("link")), "third").unwrap());
        assert_eq!(fs::read(&path).unwrap(), b"one");
        assert_eq!(names(&folder), ["a.json", "link"]);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn links_and_devices_stay_what_they_are() {
        let folder = folder("links");
        fs::write(folder.join("real"), "old").unwrap();
        std::os::unix::fs::symlink("real", folder.join("link")).unwrap();
        write(&at(&folder.join("link")), "new").unwrap();
        assert!(fs::symlink_metadata(folder.join("link")).unwrap().is_symlink());
        assert_eq!(fs::read(folder.join("real")).unwrap(), b"new");
        write(&at(Path::new("/dev/null")), "gone").unwrap();
        assert!(!fs::metadata("/dev/null").unwrap().is_file());
        fs::remove_dir_all(&folder).unwrap();
    }
}
