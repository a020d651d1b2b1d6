//! No command writes over what it reads.
//!
//! **Problem.** `--junit nightly.sqlite` wrote a report over the runs that it tells of. A path that is written may be spelled in
//! many ways, and be any of the files that were read: a store, its log, a model that an implementation's file names.
//!
//! **Method.** Each command hands all paths that it is about to write, with all files that it reads, to [`refuse`], before any of
//! them is opened for writing. Files are compared as the system knows them, by device and inode, so that links and spellings
//! do not matter; what is not there yet by its folder and name. Two outputs of one command must be two files, too. What is
//! read is listed by asking the files ([`configuration`], [`iut`], [`campaign`]): these are read once more, and what is wrong
//! with them was told already.
//!
//! A command of a session (`coreach json`) writes nothing outside its folder, whatever the files say that it reads: where the variable [`WITHIN`] names one,
//! all outputs lie in it, links followed.
//!
//! **Not seen**: what the shell redirects, since that was opened before we began.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

use coreach_execution::campaign::log::beside;
use coreach_model::Diagnostic;
use coreach_model::reader::{parts, yaml};

use crate::campaign::iuts::files_of;
use crate::campaign::{Campaign, TestSource};
use crate::configuration::load_configuration;

/// The variable that names the folder in which all outputs lie, where there is one.
pub const WITHIN: &str = "COREACH_WITHIN";

/// A file that a command reads, or one that it is about to write.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Named {
    /// What it is to the user: `the campaign`, `--junit`.
    pub what: String,
    /// Where it is.
    pub path: PathBuf,
}

impl Named {
    /// A file with what it is.
    pub fn new(what: &str, path: &Path) -> Self {
        Named { what: what.to_owned(), path: path.to_owned() }
    }
}

/// What a file is to the system: equal for all names of one file.
#[derive(PartialEq, Eq, Debug)]
enum Identity {
    There(u64, u64),
    /// Not there yet: its folder, and its name in it.
    New(u64, u64, std::ffi::OsString),
    /// Not even its folder is there.
    Nowhere(PathBuf),
}

fn identity(path: &Path) -> Identity {
    // A link that leads nowhere is followed when it is written through.
    const LINKS: usize = 40;
    let mut path = path.to_owned();
    for _ in 0..LINKS {
        if let Ok(file) = path.metadata() {
            return Identity::There(file.dev(), file.ino());
        }
        let Ok(target) = path.read_link() else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (folder.metadata(), path.file_name()) {
        (Ok(folder), Some(name)) => Identity::New(folder.dev(), folder.ino(), name.to_owned()),
        _ => Identity::Nowhere(path),
    }
}

/// The store with the files that SQLite puts beside it.
pub fn store(path: &Path) -> Vec<Named> {
    let mut files = vec![Named::new("the store", path)];
    for ending in ["-wal", "-shm", "-journal"] {
        files.push(Named::new("a file of the store", &beside(path, ending)));
    }
    files
}

/// A specification, with the parts that it may be made of.
pub fn specification(path: &Path) -> Vec<Named> {
    let parts = parts(path);
    let parts = parts.iter().map(|part| Named::new("a part of the specification", part));
    std::iter::once(Named::new("the specification", path)).chain(parts).collect()
}

/// A configuration with all that it names; nothing but itself, where it is no configuration.
pub fn configuration(path: &Path) -> Vec<Named> {
    let mut files = vec![Named::new("the configuration", path)];
    if let Ok((read, _)) = load_configuration(path) {
        files.extend(specification(&read.specification.path));
        files.extend(read.purposes.iter().map(|purpose| Named::new("a purpose", &purpose.path)));
        files.extend(read.properties.iter().map(|property| Named::new("a property", &property.path)));
    }
    files
}

/// What `test`, `explain` and `replay` take for a test case: a document, or a configuration.
pub fn test(path: &Path) -> Vec<Named> {
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        return vec![Named::new("the test case", path)];
    }
    configuration(path)
}

/// The file of an implementation, and what it names.
pub fn iut(path: &Path) -> Vec<Named> {
    let mut files = vec![Named::new("the IUT's file", path)];
    if let Ok(file) = yaml::load(path) {
        let named = files_of(file, path.parent().unwrap_or(Path::new("")));
        let with_parts = named.iter().flat_map(|path| std::iter::once(path.clone()).chain(parts(path)));
        files.extend(with_parts.map(|path| Named::new("a file of the IUT", &path)));
    }
    files
}

/// All that a campaign reads.
pub fn campaign(path: &Path, read: &Campaign) -> Vec<Named> {
    let mut files = vec![Named::new("the campaign", path)];
    for source in &read.tests {
        files.extend(match source {
            TestSource::Configuration(reference) => configuration(&reference.path),
            TestSource::Document(reference) => test(&reference.path),
        });
    }
    files.extend(read.iuts.iter().flat_map(|reference| iut(&reference.path)));
    files
}

/// Does it lie in the folder, or will it when it is written?
fn lies_in(path: &Path, folder: &Path) -> bool {
    let (Ok(folder), Ok(path)) = (folder.canonicalize(), std::path::absolute(path)) else { return false };
    let Some(there) = path.ancestors().find(|path| fs::symlink_metadata(path).is_ok()) else { return false };
    let rest = path.strip_prefix(there).unwrap_or(&path);
    // A link that leads nowhere yet leads anywhere.
    there.canonicalize().is_ok_and(|real| real.starts_with(folder))
        && rest.components().all(|part| matches!(part, Component::Normal(_)))
}

/// Is one of the outputs a file that is read, or are two of them one?
///
/// # Errors
/// One finding for each output that must not be written.
pub fn refuse(outputs: &[Named], inputs: &[Named]) -> Result<(), Vec<Diagnostic>> {
    let within = std::env::var_os(WITHIN).filter(|folder| !folder.is_empty());
    let outside = |folder: &Path| outputs.iter().find(|output| !lies_in(&output.path, folder));
    if let Some(output) = within.as_deref().and_then(|folder| outside(Path::new(folder))) {
        let message = format!("{} lies outside the request's folder: {}", output.what, output.path.display());
        let help = "what a request writes lies in its folder: name a place there, relative and without `..`";
        return Err(vec![Diagnostic::error("writes-outside", message).help(help)]);
    }
    let known: Vec<(Identity, &Named)> = inputs.iter().map(|input| (identity(&input.path), input)).collect();
    let mut before: Vec<(Identity, &Named)> = Vec::new();
    let mut found = Vec::new();
    for output in outputs {
        let it = identity(&output.path);
        let name = output.path.display();
        if let Some((_, input)) = known.iter().find(|(known, _)| *known == it) {
            let message = format!("{} would write over {}: {name}", output.what, input.what);
            found.push(Diagnostic::error("writes-over-input", message).help("name another file"));
        } else if let Some((_, other)) = before.iter().find(|(known, _)| *known == it) {
            let message = format!("{} and {} name one file: {name}", other.what, output.what);
            found.push(Diagnostic::error("one-file-twice", message).help("give each a file of its own"));
        }
        before.push((it, output));
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use std::fs;

    use super::*;

    #[test]
    fn a_file_is_known_under_all_its_names() {
        let folder = std::env::temp_dir().join(format!("coreach-outputs-{}", std::process::id()));
        fs::create_dir_all(folder.join("deep")).unwrap();
        let place = |name: &str| folder.join(name);
        fs::write(place("input"), "").unwrap();
        fs::hard_link(place("input"), place("hard")).unwrap();
        std::os::unix::fs::symlink("input", place("soft")).unwrap();
        std::os::unix::fs::symlink("../soft", place("deep/softer")).unwrap();
        std::os::unix::fs::symlink("new", place("to-new")).unwrap();
        let refused = |output: &str, input: &str| {
            refuse(&[Named::new("--out", &place(output))], &[Named::new("the input", &place(input))]).is_err()
        };
        for name in ["input", "./input", "deep/../input", "hard", "soft", "deep/softer"] {
            assert!(refused(name, "input"), "{name}");
        }
        // Not there yet, and the same nevertheless.
        assert!(refused("deep/../new", "new") && refused("to-new", "new"));
        assert!(!refused("new", "input") && !refused("deep/input", "input") && !refused("no/new", "new"));
        for name in ["input", "new", "deep/new", "no/new", "deep/softer", "deep/../new"] {
            assert!(lies_in(&place(name), &folder), "{name}");
        }
        std::os::unix::fs::symlink("../..", place("deep/up")).unwrap();
        for name in ["../new", "deep/../../new", "no/../new", "deep/up/new", "to-new", "/new"] {
            assert!(!lies_in(&place(name), &folder), "{name}");
        }
        let two = [Named::new("--a", &place("new")), Named::new("--b", &place("deep/../new"))];
        assert_eq!(refuse(&two, &[]).unwrap_err().len(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }
}
