//! Files that a user names, read once and never without end.
//!
//! **Problem.** A path may name a pipe, a device that gives bytes for ever, or a file that another program replaces between
//! two looks at it. A size that was asked of a *path* says nothing about what is then opened.
//!
//! **Method.** The file is opened once, without waiting (a pipe that nobody writes to would hold the open itself), and all
//! questions are asked of what is open: is it a plain file, how large is it. Whatever it answers, no more is read
//! than the limit. Who needs the content twice keeps it: a path is not opened a second time.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use rustix::fs::{Mode, OFlags};

/// The largest document of ours that is read, in bytes.
pub const MOST_DOCUMENT: u64 = 512 << 20;

/// Opens a plain file for reading.
///
/// # Errors
/// It cannot be opened, or is something else: a folder, a pipe, a device.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() { Ok(file) } else { Err(io::Error::other("it is not a file")) }
}

/// Why a file is not read.
#[derive(Debug)]
pub enum FileError {
    /// The system says so, or it is no plain file.
    Unreadable(io::Error),
    /// It has at least so many bytes.
    TooLarge(u64),
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileError::Unreadable(error) => write!(f, "{error}"),
            FileError::TooLarge(size) => write!(f, "it has {size} bytes, more than are read"),
        }
    }
}

impl std::error::Error for FileError {}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        FileError::Unreadable(error)
    }
}

/// The content of a plain file of at most so many bytes.
///
/// # Errors
/// [`FileError`].
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    rest(open(path)?, most)
}

/// What follows in an open file, at most so many bytes.
///
/// # Errors
/// [`FileError`].
pub fn rest(file: File, most: u64) -> Result<Vec<u8>, FileError> {
    let size = file.metadata()?.len();
    if size > most {
        return Err(FileError::TooLarge(size));
    }
    let mut bytes = Vec::new();
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most { Err(FileError::TooLarge(bytes.len() as u64)) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use super::*;

    #[test]
    fn only_plain_files_are_read_and_only_so_far() {
        for path in ["/dev/zero", "/dev/null", "/", "/dev/ptmx"] {
            assert!(matches!(read(Path::new(path), 10), Err(FileError::Unreadable(_))), "{path}");
        }
        let folder = std::env::temp_dir().join(format!("coreach-file-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // A pipe that nobody writes to holds up nobody.
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert!(read(&pipe, 10).is_err());
        let plain = folder.join("plain");
        std::fs::write(&plain, "0123456789").unwrap();
        assert_eq!(read(&plain, 10).unwrap(), b"0123456789");
        assert!(matches!(read(&plain, 9), Err(FileError::TooLarge(10))));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
