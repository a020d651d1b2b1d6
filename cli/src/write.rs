//! Writes files, whole or not at all. Only an [`OutFile`] is opened for writing, since its path has been
//! checked.
//!
//! A file is written without a name in its folder, put on the disk, and named. So whoever reads the file
//! finds the old one or the new one, whatever ends the program. Nothing is left of an unfinished one. A file
//! that replaces another needs a temporary name for a moment. Where the file system has no files without a
//! name, it has this name from its beginning. The name is hidden and ends in `.tmp`, so nobody takes the file
//! for a result. The end that a signal brings removes it.
//!
//! A terminal, a pipe or `/dev/null` is no regular file, and is written directly. A symbolic link stays, and
//! the file that it leads to is replaced. A file that is replaced keeps its permissions. A new file that may
//! hold secrets belongs to its owner alone.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use coreach_execution::campaign::{Store, StoreError};
use coreach_model::journal;
use coreach_model::lock::lock;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat, openat};
use tempfile::NamedTempFile;

use crate::outputs::OutFile;

/// Numbers the temporary names of this process.
static NEXT_NAME: AtomicU64 = AtomicU64::new(0);

/// Temporary files that may exist now. Whoever renames one holds this lock.
static TEMPORARY_FILES: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// A file in the making. Dropped without [`finish`](PendingFile::finish), it was never there.
struct PendingFile {
    target: PendingTarget,
    may_replace: bool,
}

enum PendingTarget {
    /// It is no regular file.
    Direct(File),
    /// The temporary file, and its name at the end.
    Temporary(NamedTempFile, PathBuf),
    /// A file without a name, its temporary name, and its name at the end.
    Unnamed(File, PathBuf, PathBuf),
}

impl PendingFile {
    /// Begins a file.
    ///
    /// # Errors
    /// It cannot be made, or what is there may not be written. [`io::ErrorKind::AlreadyExists`] if the output
    /// replaces nothing and something is there, for example a link that leads nowhere.
    fn new(output: &OutFile) -> io::Result<Self> {
        let (mut path, may_replace) = (output.path().to_owned(), output.may_replace());
        if !may_replace && fs::symlink_metadata(&path).is_ok() {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        let existing = fs::metadata(&path).ok();
        if let Some(existing) = &existing {
            // A file that may not be written is not replaced either. A folder says why it cannot be written.
            let file = fs::OpenOptions::new().write(true).open(&path)?;
            if !existing.is_file() {
                return Ok(PendingFile { target: PendingTarget::Direct(file), may_replace });
            }
            path = fs::canonicalize(&path)?;
        }
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let name = path.file_name().ok_or_else(|| io::Error::from(io::ErrorKind::IsADirectory))?;
        // The name itself may be as long as the system allows, so the temporary name has only a part of it.
        let short_name: String = name.to_string_lossy().chars().take(50).collect();
        let mode = if output.is_private() { 0o600 } else { 0o666 };
        let flags = OFlags::WRONLY | OFlags::TMPFILE | OFlags::CLOEXEC;
        let mut target = match openat(CWD, folder, flags, Mode::from_raw_mode(mode)) {
            // A file without a name vanishes by itself, if it is never finished.
            Ok(file) => {
                let number = NEXT_NAME.fetch_add(1, Ordering::Relaxed);
                let temporary = folder.join(format!(".{short_name}.{}-{number}.tmp", std::process::id()));
                PendingTarget::Unnamed(file.into(), temporary, path)
            }
            Err(_) => {
                let make =
                    |path: &Path| fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path);
                let prefix = format!(".{short_name}.");
                let file = tempfile::Builder::new().prefix(&prefix).suffix(".tmp").make_in(folder, make)?;
                lock(&TEMPORARY_FILES).insert(file.path().to_owned());
                PendingTarget::Temporary(file, path)
            }
        };
        if let Some(existing) = existing {
            target.file().set_permissions(existing.permissions())?;
        }
        Ok(PendingFile { target, may_replace })
    }

    /// Puts the file on the disk and gives it its name.
    ///
    /// # Errors
    /// The file cannot be put on the disk or renamed. [`io::ErrorKind::AlreadyExists`] if the output replaces
    /// nothing and somebody has come first.
    fn finish(self) -> io::Result<()> {
        match self.target {
            PendingTarget::Direct(mut file) => file.flush(),
            PendingTarget::Temporary(file, path) => {
                file.as_file().sync_all()?;
                let mut temporary_files = lock(&TEMPORARY_FILES);
                temporary_files.remove(file.path());
                let named =
                    if self.may_replace { file.persist(&path) } else { file.persist_noclobber(&path) };
                named.map(drop).map_err(|error| error.error)
            }
            PendingTarget::Unnamed(file, temporary, path) => {
                file.sync_all()?;
                let mut temporary_files = lock(&TEMPORARY_FILES);
                match name_file(&file, &path) {
                    // A name that is taken can only be given by renaming, so the file first gets another one.
                    Err(error) if self.may_replace && error.kind() == io::ErrorKind::AlreadyExists => {
                        name_file(&file, &temporary)?;
                        temporary_files.insert(temporary.clone());
                        let renamed = fs::rename(&temporary, &path);
                        temporary_files.remove(&temporary);
                        renamed.inspect_err(|_| drop(fs::remove_file(&temporary)))
                    }
                    result => result,
                }
            }
        }
    }
}

impl PendingTarget {
    fn file(&mut self) -> &mut File {
        match self {
            PendingTarget::Direct(file) | PendingTarget::Unnamed(file, ..) => file,
            PendingTarget::Temporary(file, _) => file.as_file_mut(),
        }
    }
}

/// Gives a name to a file that has none.
fn name_file(file: &File, name: &Path) -> io::Result<()> {
    let file_path = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, file_path, CWD, name, AtFlags::SYMLINK_FOLLOW)?)
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.target.file().write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.file().flush()
    }
}

/// Checks before the work whether a file can be written after it.
pub fn check_writable(output: &OutFile) -> io::Result<()> {
    PendingFile::new(output).map(drop)
}

/// Writes a file, whole or not at all, piece by piece.
///
/// # Errors
/// The file cannot be written, or `put` fails. [`io::ErrorKind::AlreadyExists`] if the output replaces
/// nothing and something is there.
pub fn write_with<E: From<io::Error>>(
    output: &OutFile,
    put: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let mut pending = PendingFile::new(output)?;
    let mut buffered = io::BufWriter::new(&mut pending);
    put(&mut buffered)?;
    buffered.flush()?;
    drop(buffered);
    Ok(pending.finish()?)
}

/// Writes a file, whole or not at all.
pub fn write(output: &OutFile, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    let bytes = bytes.as_ref();
    write_with(output, |file| file.write_all(bytes))?;
    journal::note(|| format!("wrote {}: {} bytes", output.path().display(), bytes.len()));
    Ok(())
}

/// Writes a file of an output that replaces nothing. Returns whether the name was free.
pub fn write_new(output: &OutFile, bytes: impl AsRef<[u8]>) -> io::Result<bool> {
    let bytes = bytes.as_ref();
    match write_with(output, |file| file.write_all(bytes)) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        result => result.map(|()| true),
    }
}

/// Makes a folder for what may hold secrets, and those above it. Each new folder belongs to its owner alone.
pub fn make_private_folder(folder: &Path) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

/// Opens a store that runs are added to, and makes it if there is none.
pub fn open_store(output: &OutFile, name: &str) -> Result<Store, StoreError> {
    Store::open(output.path(), name)
}

/// Removes the temporary files of this process at its end. Nothing is renamed afterwards, since the lock is
/// kept.
pub fn remove_temporary_files() {
    let temporary_files = lock(&TEMPORARY_FILES);
    for path in temporary_files.iter() {
        let _ = fs::remove_file(path);
    }
    std::mem::forget(temporary_files);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::{OutputForm, resolve_output};

    fn at(path: &Path) -> OutFile {
        resolve_output("--out", Some(path), OutputForm::Specification).unwrap().unwrap()
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
    fn a_file_that_is_being_written_has_no_name() {
        let folder = folder("hidden");
        let path = folder.join("a.json");
        for text in ["first", "second"] {
            let mut pending = PendingFile::new(&at(&path)).unwrap();
            pending.write_all(text.as_bytes()).unwrap();
            // Not every file system has files without a name.
            if matches!(pending.target, PendingTarget::Unnamed(..)) {
                assert_eq!(names(&folder).len(), usize::from(text == "second"));
            }
            pending.finish().unwrap();
            assert_eq!(fs::read_to_string(&path).unwrap(), text);
            assert_eq!(names(&folder), ["a.json"]);
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_may_hold_secrets_is_new_as_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let folder = folder("private");
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        make_private_folder(&folder.join("a/b")).unwrap();
        assert_eq!([mode(&folder.join("a")), mode(&folder.join("a/b"))], [0o700; 2]);
        for (form, is_private) in
            [(OutputForm::Page, true), (OutputForm::Run, true), (OutputForm::Junit, false)]
        {
            let path = folder.join(format!("{form:?}"));
            let output = resolve_output("--out", Some(&path), form).unwrap().unwrap();
            assert_eq!(output.is_private(), is_private);
            write(&output, "").unwrap();
            assert_eq!(mode(&path) & 0o077 == 0, is_private, "{form:?}: {:o}", mode(&path));
            // A file that is replaced keeps its permissions.
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
        let new = |path: &Path| resolve_output("--out", Some(path), OutputForm::New).unwrap().unwrap();
        let [mut one, mut other] = [(); 2].map(|()| PendingFile::new(&new(&path)).unwrap());
        one.write_all(b"one").unwrap();
        other.write_all(b"other").unwrap();
        one.finish().unwrap();
        assert_eq!(other.finish().unwrap_err().kind(), io::ErrorKind::AlreadyExists);
        assert!(!write_new(&new(&path), "third").unwrap());
        std::os::unix::fs::symlink("nowhere", folder.join("link")).unwrap();
        assert!(!write_new(&new(&folder.join("link")), "third").unwrap());
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
