//! Files that a user names, read once and never without end.
//!
//! **Problem.** A path may name a pipe, a device that gives bytes for ever, or a file that another program
//! replaces between two looks at it. A size that was asked of a *path* says nothing about what is then
//! opened.
//!
//! **Method.** The file is opened once, without waiting (a pipe that nobody writes to would hold the open
//! itself). All questions are asked of the open file: whether it is a plain file, and how large it is.
//! Whatever it answers, no more is read than the limit. A caller that needs the content twice keeps it: a
//! path is not opened a second time.
//!
//! **What is told.** If a user misspells a name, or names a folder, the error of [`open`] says which files
//! are there. The search happens when the error is displayed, since a caller may also ignore a missing file.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

use crate::diagnostic::nearest;
use crate::journal;

/// The largest document of ours that is read, in bytes.
pub const MOST_DOCUMENT: u64 = 512 << 20;

/// Opens a plain file without waiting. The error says what else the path is, and which file may be meant.
pub fn open(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let opened = rustix::fs::open(path, flags, Mode::empty()).map_err(io::Error::from);
    let file = File::from(opened.map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Unusable::of(path, error.kind()),
        _ => error,
    })?);
    let kind = file.metadata()?.file_type();
    if kind.is_file() {
        Ok(file)
    } else if kind.is_dir() {
        Err(Unusable::of(path, io::ErrorKind::IsADirectory))
    } else {
        Err(io::Error::other(format!("it is {}, not a file", describe_special_file(kind))))
    }
}

/// Names the kind of a path that is neither a file nor a folder.
fn describe_special_file(kind: std::fs::FileType) -> &'static str {
    match () {
        () if kind.is_fifo() => "a pipe",
        () if kind.is_socket() => "a socket",
        () => "a device",
    }
}

/// The error about a path that names no file. It looks for the file that is meant when it is displayed.
#[derive(Debug)]
struct Unusable {
    path: PathBuf,
    /// It names a folder. Otherwise a part of it does not exist.
    is_folder: bool,
}

impl Unusable {
    fn of(path: &Path, kind: io::ErrorKind) -> io::Error {
        let is_folder = kind == io::ErrorKind::IsADirectory;
        io::Error::new(kind, Unusable { path: path.to_owned(), is_folder })
    }
}

impl std::error::Error for Unusable {}

impl std::fmt::Display for Unusable {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let meant = match self.is_folder {
            true => {
                f.write_str("it is a folder")?;
                configuration_in(&self.path)
            }
            false => {
                let (folder, name) = split_at_missing(&self.path);
                // Shorter than the path if a folder of it is missing, or if a plain file stands in its place.
                let missing = folder.join(&name);
                match missing == self.path {
                    true => f.write_str("no such file")?,
                    false if missing.exists() => return write!(f, "`{}` is not a folder", missing.display()),
                    false => write!(f, "there is no folder `{}`", missing.display())?,
                }
                nearest_name(name.to_str(), &names_in_folder(&folder)).map(|near| folder.join(near))
            }
        };
        meant.map_or(Ok(()), |meant| write!(f, "; did you mean `{}`?", meant.display()))
    }
}

/// Splits a path into the longest folder that exists, and the first part that does not exist in it.
fn split_at_missing(path: &Path) -> (PathBuf, PathBuf) {
    let exists = |folder: &&Path| folder.as_os_str().is_empty() || folder.is_dir();
    let folder = path.ancestors().skip(1).find(exists).unwrap_or(Path::new(""));
    let name = path.strip_prefix(folder).ok().and_then(|missing| missing.iter().next()).unwrap_or_default();
    (folder.to_owned(), PathBuf::from(name))
}

/// Lists the names in a folder, but not all of very many.
fn names_in_folder(folder: &Path) -> Vec<String> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let items = std::fs::read_dir(folder).into_iter().flatten().flatten().take(1000);
    let mut names: Vec<String> = items.filter_map(|item| item.file_name().into_string().ok()).collect();
    names.sort_unstable();
    names
}

/// Finds the name that `name` is without its YAML ending, or else the nearest one.
fn nearest_name<'a>(name: Option<&str>, names: &'a [String]) -> Option<&'a str> {
    let name = name?;
    let names = names.iter().map(String::as_str);
    // Users forget the ending more often than a letter.
    let with_ending = [".yaml", ".yml"].map(|ending| format!("{name}{ending}"));
    let with_ending = names.clone().find(|long| with_ending.iter().any(|name| name == long));
    with_ending.or_else(|| nearest(name, names))
}

/// The most files of a folder that are opened to find out their kind.
pub const MOST_READ: usize = 200;

/// Finds the file that a user means by a path that does not exist, among the files of its folder. It is the
/// file of the right kind with the nearest name, or the only file of the right kind. A file whose kind is
/// unknown (`is_right` returns `None`) is found by its name only.
pub fn find_meant_file(path: &Path, is_right: impl Fn(&Path) -> Option<bool>) -> Option<String> {
    let folder = path.parent().unwrap_or(Path::new(""));
    let name = path.file_name()?.to_str();
    let (mut of_right_kind, mut of_unknown_kind) = (Vec::new(), Vec::new());
    let names = names_in_folder(folder).into_iter().filter(|name| folder.join(name).is_file());
    for file_name in names.take(MOST_READ) {
        match is_right(&folder.join(&file_name)) {
            Some(true) => of_right_kind.push(file_name),
            Some(false) => {}
            None => of_unknown_kind.push(file_name),
        }
    }
    let nearest = nearest_name(name, &of_right_kind).or_else(|| nearest_name(name, &of_unknown_kind));
    let only = of_right_kind.first().filter(|_| of_right_kind.len() == 1);
    nearest.or(only.map(String::as_str)).map(str::to_owned)
}

/// Finds the file that a user means by a folder, if any: its `coreach.yaml`, or its only YAML file.
fn configuration_in(folder: &Path) -> Option<PathBuf> {
    let mut names = names_in_folder(folder);
    names.retain(|name| name.ends_with(".yaml") || name.ends_with(".yml"));
    match names.as_slice() {
        [only] => Some(folder.join(only)),
        names => names.iter().find(|name| *name == "coreach.yaml").map(|name| folder.join(name)),
    }
}

#[derive(Debug)]
pub enum FileError {
    /// The system refuses to read it, or it is not a plain file.
    Unreadable(io::Error),
    /// It has at least so many bytes, more than the limit.
    TooLarge(u64),
}

impl std::fmt::Display for FileError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            FileError::Unreadable(error) => write!(f, "{error}"),
            FileError::TooLarge(size) => write!(f, "it has {size} bytes, more than coreach reads"),
        }
    }
}

impl std::error::Error for FileError {}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        FileError::Unreadable(error)
    }
}

/// The content of a plain file of at most `limit` bytes.
pub fn read(path: &Path, limit: u64) -> Result<Vec<u8>, FileError> {
    let bytes = read_rest(open(path)?, limit)?;
    journal::note(|| format!("read {}: {} bytes", path.display(), bytes.len()));
    Ok(bytes)
}

/// Reads an open file from its present position to its end. It is an error if the file has more than `limit`
/// bytes.
pub fn read_rest(file: File, limit: u64) -> Result<Vec<u8>, FileError> {
    let size = file.metadata()?.len();
    if size > limit {
        return Err(FileError::TooLarge(size));
    }
    let mut bytes = Vec::new();
    // One byte more shows that the file has grown since.
    file.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(FileError::TooLarge(bytes.len() as u64)) } else { Ok(bytes) }
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
        // Opening a pipe that nobody writes to does not wait.
        let pipe = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(read(&pipe, 10).unwrap_err().to_string(), "it is a pipe, not a file");
        let plain = folder.join("plain");
        std::fs::write(&plain, "0123456789").unwrap();
        assert_eq!(read(&plain, 10).unwrap(), b"0123456789");
        assert!(matches!(read(&plain, 9), Err(FileError::TooLarge(10))));
        let says = |path: &str| read(&folder.join(path), 9).unwrap_err().to_string();
        let shown = |path: &str| folder.join(path).display().to_string();
        assert_eq!(says("plainx"), format!("no such file; did you mean `{}`?", shown("plain")));
        assert_eq!(says("quite_another"), "no such file");
        std::fs::write(folder.join("purpose.yaml"), "").unwrap();
        assert_eq!(says("purpose"), format!("no such file; did you mean `{}`?", shown("purpose.yaml")));
        std::fs::remove_file(folder.join("purpose.yaml")).unwrap();
        let no_folder =
            format!("there is no folder `{}`; did you mean `{}`?", shown("plaim"), shown("plain"));
        assert_eq!(says("plaim/deeper/file"), no_folder);
        assert_eq!(says("plain/file"), format!("`{}` is not a folder", shown("plain")));
        assert_eq!(says("."), "it is a folder");
        for name in ["b.yaml", "coreach.yaml"] {
            std::fs::write(folder.join(name), "").unwrap();
            assert_eq!(says("."), format!("it is a folder; did you mean `{}`?", shown(&format!("./{name}"))));
        }
        std::fs::remove_dir_all(folder).unwrap();
    }
}
