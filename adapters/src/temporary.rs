//! A folder for the temporary files of a launch: made before it, removed with all that is in it when the
//! launch is over.
//!
//! The program that is launched may leave anything there. A folder of ours that cannot be listed is made
//! listable. A symbolic link is removed and not followed. If something is mounted in a folder, nothing is
//! removed. (Its folders may have been made listable before that is known.)

use std::fs::{self, Permissions};
use std::io::{self, ErrorKind};
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;

use tempfile::TempDir;

/// The variable in which a launched process finds its folder.
pub const VARIABLE: &str = "COREACH_TMP";

#[derive(Debug)]
pub struct TemporaryFolder {
    name: String,
}

impl TemporaryFolder {
    /// Makes an empty folder that only our user may enter.
    pub fn new() -> io::Result<Self> {
        TemporaryFolder::within(&std::path::absolute(std::env::temp_dir())?)
    }

    fn within(folder: &Path) -> io::Result<Self> {
        let mut builder = tempfile::Builder::new();
        builder.prefix("coreach-tmp-").permissions(Permissions::from_mode(0o700));
        let made: TempDir = builder.tempdir_in(folder)?;
        let Some(name) = made.path().to_str().map(str::to_owned) else {
            return Err(io::Error::other(format!("{} is no text", folder.display())));
        };
        // `remove` removes it, and not the library.
        let _ = made.keep();
        Ok(TemporaryFolder { name })
    }

    pub fn name(&self) -> &str {
        &self.name
    }
}

impl Drop for TemporaryFolder {
    fn drop(&mut self) {
        // If somebody still writes there, the keeper of the launch removes it later.
        let _ = remove(Path::new(&self.name));
    }
}

/// Removes the folder and all in it, if it is there. First a walk makes its folders listable and writable,
/// and refuses if something is mounted in one.
pub fn remove(folder: &Path) -> io::Result<()> {
    match fs::remove_dir(folder) {
        Err(error) if error.kind() == ErrorKind::DirectoryNotEmpty => {}
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(()),
        other => return other,
    }
    let device = fs::symlink_metadata(folder)?.dev();
    let mut to_visit = vec![folder.to_owned()];
    while let Some(next) = to_visit.pop() {
        if fs::symlink_metadata(&next).is_ok_and(|metadata| metadata.dev() != device) {
            return Err(io::Error::other(format!("something is mounted on {}", next.display())));
        }
        // This fails for a folder that is not ours or too deep. If it matters, `remove_dir_all` fails, too.
        let _ = fs::set_permissions(&next, Permissions::from_mode(0o700));
        let entries = fs::read_dir(&next).into_iter().flatten().flatten();
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        to_visit.extend(folders.map(|entry| entry.path()));
    }
    fs::remove_dir_all(folder)
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<String> = names.collect();
        names.sort();
        names
    }

    #[test]
    fn a_folder_is_private_and_goes_with_all_that_is_in_it_and_nothing_else() {
        let outside = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("kept"), "x").unwrap();
        let within = || TemporaryFolder::within(outside.path()).unwrap();
        let (one, two) = (within(), within());
        assert_ne!(one.name(), two.name());
        let path = PathBuf::from(one.name());
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o700);
        fs::create_dir_all(path.join("a/b/c")).unwrap();
        fs::write(path.join("a/b/file"), "x").unwrap();
        std::os::unix::fs::symlink(outside.path(), path.join("a/link")).unwrap();
        std::os::unix::fs::symlink(outside.path(), path.join("link")).unwrap();
        for folder in ["a/b", "a"] {
            fs::set_permissions(path.join(folder), Permissions::from_mode(0o000)).unwrap();
        }
        drop(one);
        let left = two.name().rsplit_once('/').unwrap().1.to_owned();
        assert_eq!(names(outside.path()), [left, "kept".to_owned()]);
        drop(two);
        assert_eq!(names(outside.path()), ["kept"]);
    }

    #[test]
    fn a_tree_may_be_deeper_than_paths_can_be_long() {
        let outside = tempfile::tempdir().unwrap();
        let folder = TemporaryFolder::within(outside.path()).unwrap();
        let top = PathBuf::from(folder.name());
        let (name, next) = (top.join("x".repeat(200)), top.join("next"));
        fs::create_dir(&name).unwrap();
        for _ in 0..100 {
            fs::create_dir(&next).unwrap();
            fs::rename(&name, next.join("x".repeat(200))).unwrap();
            fs::rename(&next, &name).unwrap();
        }
        drop(folder);
        assert_eq!(names(outside.path()), Vec::<String>::new());
    }
}
