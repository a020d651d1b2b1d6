//! Keeps commands from writing over files that they read, and over files that coreach did not write.
//!
//! **Problem.** `--junit nightly.sqlite` would write a report over the runs that it reports. `report
//! campaign.yaml --out iut.yaml` would write a page over a file that the campaign names. A path may be any
//! file, in many spellings.
//!
//! **Method.** A file can be opened for writing by an [`OutFile`] only, and only [`Inputs::outputs`] makes
//! these. It refuses
//!
//! 1. a file that is given to the command, and all files that a given file names (`list_inputs`);
//! 2. a file that SQLite keeps next to a store;
//! 3. any other existing file that is not of the [`OutputForm`] that is written;
//! 4. one file for two outputs;
//! 5. a file as the folder of an output.
//!
//! Existing files are compared by device and inode, so that links and spellings do not matter. New files are
//! compared by folder and name. To list the files that a file names, the file is read once more. The command
//! that reads it reports its mistakes. **Not seen**: a file to which the shell redirects output.

use std::fs;
use std::io::Read;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use coreach_execution::campaign::store::path_beside;
use coreach_model::reader::{parts, yaml};
use coreach_model::{Diagnostic, file};

use crate::campaign::iuts::find_named_files;
use crate::campaign::{TestSource, load_campaign};
use crate::configuration::load_without_purpose;
use crate::file_kind::{FileKind, find_kind};
use crate::{budget, stored};

/// The form of an output. It may replace files of its own form, and no others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OutputForm {
    Page,
    Junit,
    Lcov,
    /// A picture: DOT or SVG.
    Picture,
    /// A stage's result in any format.
    Artifact,
    /// The files of `cover --out`.
    Suite,
    /// The purpose of `explore --out`.
    Purpose,
    Sequence,
    Schema,
    Manual,
    /// A specification, if the user says that the existing file may be replaced.
    Specification,
    /// A campaign's store. Runs are added to it, and opening it refuses any other file.
    Store,
    /// A run that is kept, and its test case. Writing it replaces no file.
    Run,
    /// Any other new file. Writing it replaces no file.
    New,
}

/// The endings of files that SQLite puts next to a store.
const BESIDE: [&str; 3] = ["-wal", "-shm", "-journal"];

impl OutputForm {
    /// The form in words, and marks of its head in small letters. A mark begins a line or is in a comment.
    fn description_and_head(self) -> (&'static str, &'static [&'static str]) {
        match self {
            OutputForm::Page => ("a page", &["<!doctype html"]),
            OutputForm::Junit => ("a report of JUnit", &["<testsuites"]),
            OutputForm::Lcov => ("LCOV", &["tn:"]),
            OutputForm::Picture => ("a picture", &["digraph ", "<svg"]),
            OutputForm::Artifact => (
                "an artifact of coreach",
                &[
                    "digraph ",
                    "<svg",
                    "\"format\": \"coreach\"",
                    "coreach: ",
                    "made by coreach",
                    "\"description\": \"a path-guided test case\"",
                ],
            ),
            OutputForm::Suite => ("a file of a suite", &["written by coreach cover"]),
            OutputForm::Purpose => ("a purpose of `explore`", &["coreach: a purpose"]),
            OutputForm::Sequence => ("a timed sequence", &["delay,", "{\"delay\""]),
            OutputForm::Schema => ("a schema", &["\"$schema\""]),
            OutputForm::Manual => ("a page of the manual", &[".th coreach"]),
            OutputForm::Specification => ("a specification", &[]),
            OutputForm::Store => ("a campaign's store", &[]),
            OutputForm::Run => ("a run", &[]),
            OutputForm::New => ("new", &[]),
        }
    }

    /// Checks that an output of this form may replace this file. An empty or special file may be.
    ///
    /// # Errors
    /// The file is of another form. The text says which, and follows the name of the output.
    fn check_replacing(self, path: &Path) -> Result<(), String> {
        let is_checked_elsewhere = matches!(self, OutputForm::New | OutputForm::Run | OutputForm::Store);
        let is_full = path.metadata().is_ok_and(|known| known.is_file() && known.len() > 0);
        if is_checked_elsewhere || !is_full || self.is_form_of(path) {
            return Ok(());
        }
        match find_kind(path) {
            // The user allowed to replace it. But a file of another kind of ours was not meant.
            Some(FileKind::Specification) | None if self == OutputForm::Specification => Ok(()),
            Some(kind) => Err(format!("would write over {}", kind.name())),
            None => Err(format!("would replace a file that is not {}", self.description_and_head().0)),
        }
    }

    /// Does the head of the file show this form?
    fn is_form_of(self, path: &Path) -> bool {
        let mut head = Vec::new();
        // The form shows in the first bytes.
        if file::open(path).and_then(|file| file.take(4096).read_to_end(&mut head)).is_err() {
            return false;
        }
        let head = String::from_utf8_lossy(&head).to_lowercase();
        // An automaton has no room for a mark, so its ending counts.
        let is_automaton = self == OutputForm::Artifact
            && path.extension().is_some_and(|ending| ending == "aut")
            && head.starts_with("des (");
        let (_, marks) = self.description_and_head();
        let has_mark = |line: &str| {
            let is_comment = line.starts_with("//") || line.starts_with('#');
            marks.iter().any(|mark| line.starts_with(mark) || is_comment && line.contains(mark))
        };
        is_automaton || head.lines().any(|line| has_mark(line.trim_start()))
    }
}

/// A file that may be written: no input, and new or of the output's form.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutFile {
    path: PathBuf,
    form: OutputForm,
}

impl OutFile {
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub fn may_replace(&self) -> bool {
        !matches!(self.form, OutputForm::New | OutputForm::Run)
    }

    /// Can it contain messages of a run, and so secrets?
    pub fn is_private(&self) -> bool {
        matches!(self.form, OutputForm::Page | OutputForm::Run)
    }
}

/// A file that is to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ToWrite {
    /// The file in the user's words: `--junit`.
    pub what: &'static str,
    pub path: PathBuf,
    pub form: OutputForm,
}

impl ToWrite {
    pub fn new(what: &'static str, path: impl Into<PathBuf>, form: OutputForm) -> Self {
        ToWrite { what, path: path.into(), form }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
struct InputFile {
    identity: FileIdentity,
    /// The file in the user's words: `the campaign`.
    what: &'static str,
    /// It is the campaign's own store, so a command that adds runs may write it.
    is_kept: bool,
}

impl InputFile {
    fn new(what: &'static str, path: &Path) -> Self {
        InputFile { identity: identify(path), what, is_kept: false }
    }
}

/// The identity of a file, which is equal for all its names.
#[derive(Clone, PartialEq, Eq, Debug)]
enum FileIdentity {
    /// The device and inode of an existing file.
    There(u64, u64),
    /// The full name of a file that does not exist yet.
    New(PathBuf),
}

/// Returns the target of a link whose target does not exist: writing to the link would make that file.
fn follow_dangling_link(path: &Path) -> PathBuf {
    let mut path = path.to_owned();
    // Linux follows no more links either.
    for _ in 0..40 {
        let Ok(target) = path.read_link() else { break };
        path = path.parent().unwrap_or(Path::new("")).join(target);
    }
    path
}

fn identify(path: &Path) -> FileIdentity {
    if let Ok(file) = path.metadata() {
        return FileIdentity::There(file.dev(), file.ino());
    }
    let path = follow_dangling_link(path);
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let full_name = folder.canonicalize().ok().zip(path.file_name()).map(|(folder, name)| folder.join(name));
    FileIdentity::New(full_name.unwrap_or_else(|| std::path::absolute(&path).unwrap_or(path)))
}

/// Returns the store beside which SQLite would keep a file of this name.
fn store_of(path: &Path) -> Option<PathBuf> {
    let path = follow_dangling_link(path);
    let bytes = path.as_os_str().as_bytes();
    let stem = BESIDE.iter().find_map(|ending| bytes.strip_suffix(ending.as_bytes()))?;
    Some(PathBuf::from(std::ffi::OsString::from_vec(stem.to_vec())))
}

/// Finds what stands where the path needs a folder, and is none.
fn find_file_above(path: &Path) -> Option<&Path> {
    let existing = path.ancestors().skip(1).find(|place| fs::symlink_metadata(place).is_ok())?;
    (!existing.is_dir()).then_some(existing)
}

/// Lists a file that is given, the files that it names, and the files that these name.
fn list_inputs(path: &Path) -> Vec<InputFile> {
    let (what, named) = match find_kind(path) {
        None => ("an input", Vec::new()),
        Some(FileKind::Specification) => {
            ("the specification", list_parts(path, "a part of the specification"))
        }
        Some(FileKind::Purpose) => ("a purpose", Vec::new()),
        Some(FileKind::Property) => ("a property", Vec::new()),
        Some(FileKind::Configuration) => ("the configuration", list_inputs_of_configuration(path)),
        Some(FileKind::Iut) => ("the IUT file", list_inputs_of_iut(path)),
        Some(FileKind::Campaign) => ("the campaign", list_inputs_of_campaign(path)),
        Some(FileKind::TestCase) => ("the test case", Vec::new()),
        Some(FileKind::Run) => ("the run", vec![InputFile::new("the test case", &stored::beside(path))]),
        Some(FileKind::Store) => ("the store", Vec::new()),
    };
    [vec![InputFile::new(what, path)], named].concat()
}

fn list_parts(path: &Path, what: &'static str) -> Vec<InputFile> {
    parts(path).iter().map(|part| InputFile::new(what, part)).collect()
}

fn list_inputs_of_configuration(path: &Path) -> Vec<InputFile> {
    let Ok((read, _)) = budget::reading(|| load_without_purpose(path)) else { return Vec::new() };
    let purposes = read.purposes.iter().map(|purpose| InputFile::new("a purpose", &purpose.path));
    let properties = read.properties.iter().map(|property| InputFile::new("a property", &property.path));
    list_inputs(&read.specification.path).into_iter().chain(purposes).chain(properties).collect()
}

fn list_inputs_of_iut(path: &Path) -> Vec<InputFile> {
    let Ok(file) = yaml::load(path) else { return Vec::new() };
    let named = find_named_files(file, path.parent().unwrap_or(Path::new("")));
    let what = "a file of the IUT";
    named
        .iter()
        .flat_map(|path| [vec![InputFile::new(what, path)], list_parts(path, what)].concat())
        .collect()
}

fn list_inputs_of_campaign(path: &Path) -> Vec<InputFile> {
    let Ok((read, _)) = budget::reading(|| load_campaign(path)) else { return Vec::new() };
    let tests = read.tests.iter().map(|source| {
        let (TestSource::Configuration(reference) | TestSource::Document(reference)) = source;
        reference
    });
    let mut files: Vec<_> =
        tests.chain(&read.iuts).flat_map(|reference| list_inputs(&reference.path)).collect();
    files.push(InputFile { is_kept: true, ..InputFile::new("the campaign's store", &read.store) });
    files
}

#[derive(Clone, Default, Debug)]
pub struct Inputs(Vec<InputFile>);

impl Inputs {
    /// Lists these files, and all that they name.
    pub fn of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Self {
        Inputs(paths.into_iter().flat_map(list_inputs).collect())
    }

    /// Makes an output of each file that is to be written.
    ///
    /// # Errors
    /// Some of the files must not be written.
    pub fn outputs(&self, wanted: &[ToWrite]) -> Result<Vec<OutFile>, Vec<Diagnostic>> {
        let mut earlier: Vec<(FileIdentity, &ToWrite)> = Vec::new();
        let mut found = Vec::new();
        for output in wanted {
            let identity = identify(&output.path);
            let (what, name) = (output.what, output.path.display());
            let over = |what: String| {
                Diagnostic::error("writes-over-input", format!("{what}: {name}")).help("name another file")
            };
            let is_overwritten = |input: &&InputFile| {
                input.identity == identity && !(input.is_kept && output.form == OutputForm::Store)
            };
            if let Some(input) = self.0.iter().find(is_overwritten) {
                found.push(over(format!("{what} would write over {}", input.what)));
            } else if store_of(&output.path).is_some_and(|store| find_kind(&store) == Some(FileKind::Store)) {
                found.push(over(format!("{what} would write over a file of the store")));
            } else if let Some((_, other)) = earlier.iter().find(|(known, _)| *known == identity) {
                let message = format!("{} and {what} name one file: {name}", other.what);
                found.push(Diagnostic::error("one-file-twice", message).help("give each a file of its own"));
            } else if let Err(why) = output.form.check_replacing(&output.path) {
                found.push(over(format!("{what} {why}")).help("name another file, or remove this one"));
            } else if let Some(file) = find_file_above(&output.path) {
                let message = format!("{what}: {} is a file, not a folder", file.display());
                if found.iter().all(|known: &Diagnostic| known.message != message) {
                    found.push(Diagnostic::error("no-folder", message).help("name a folder"));
                }
            }
            earlier.push((identity, output));
            if output.form == OutputForm::Store {
                earlier.extend(BESIDE.map(|ending| (identify(&path_beside(&output.path, ending)), output)));
            }
        }
        if !found.is_empty() {
            return Err(found);
        }
        Ok(wanted.iter().map(|output| OutFile { path: output.path.clone(), form: output.form }).collect())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("coreach-outputs-{name}-{}", std::process::id()));
        fs::create_dir_all(folder.join("deep")).unwrap();
        folder
    }

    #[test]
    fn a_file_is_known_under_all_its_names() {
        let folder = folder("names");
        let place = |name: &str| folder.join(name);
        fs::write(place("input"), "").unwrap();
        fs::hard_link(place("input"), place("hard")).unwrap();
        std::os::unix::fs::symlink("input", place("soft")).unwrap();
        std::os::unix::fs::symlink("../soft", place("deep/softer")).unwrap();
        std::os::unix::fs::symlink("new", place("to-new")).unwrap();
        let wanted = |name: &str| ToWrite::new("--out", place(name), OutputForm::Page);
        let refused = |output: &str, input: &str| {
            Inputs::of([place(input).as_path()]).outputs(&[wanted(output)]).is_err()
        };
        for name in ["input", "./input", "deep/../input", "hard", "soft", "deep/softer"] {
            assert!(refused(name, "input"), "{name}");
        }
        // The file does not exist yet, and has two names.
        assert!(refused("deep/../new", "new") && refused("to-new", "new"));
        assert!(!refused("new", "input") && !refused("deep/input", "input") && !refused("no/new", "new"));
        let two = [wanted("new"), wanted("deep/../new")];
        assert_eq!(Inputs::default().outputs(&two).unwrap_err().len(), 1);
        fs::write(place("file"), "").unwrap();
        let below = ["file/new", "file/deep/new"].map(wanted);
        assert_eq!(Inputs::default().outputs(&below).unwrap_err().len(), 1);
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn only_what_is_of_the_form_is_replaced() {
        let folder = folder("forms");
        let is_free = |text: &str, form| {
            let path = folder.join("it");
            fs::write(&path, text).unwrap();
            Inputs::default().outputs(&[ToWrite::new("--out", path, form)]).is_ok()
        };
        let xml = "<?xml version=\"1.0\"?>\n";
        let (junit, svg) = (format!("{xml}<testsuites>"), format!("{xml}<svg/>"));
        assert!(is_free("<!DOCTYPE html>", OutputForm::Page) && is_free(&junit, OutputForm::Junit));
        assert!(
            is_free(&svg, OutputForm::Picture)
                && is_free("", OutputForm::Page)
                && is_free("TN:x\nSF:y", OutputForm::Lcov)
        );
        assert!(is_free("# coreach: test case\niosts: a\n", OutputForm::Artifact));
        assert!(!is_free("iosts: a\n", OutputForm::Artifact) && !is_free("iosts: a\n", OutputForm::Suite));
        for text in ["iut: a\n", "SQLite format 3\0", "#!/bin/sh\n", "iosts: a\n", &svg, "x"] {
            for form in [OutputForm::Page, OutputForm::Junit, OutputForm::Lcov] {
                assert!(!is_free(text, form), "{text} {form:?}");
            }
        }
        let form = OutputForm::Specification;
        assert!(is_free("iosts: a\n", form) && is_free("x", form) && !is_free("iut: a\n", form));
        fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_lies_beside_a_store_is_the_store_s() {
        let folder = folder("stores");
        let (store, other) = (folder.join("a.sqlite"), folder.join("deep/link"));
        fs::write(&store, "SQLite format 3\0").unwrap();
        std::os::unix::fs::symlink("../a.sqlite-wal", &other).unwrap();
        let wanted = |path: &Path, form| ToWrite::new("--out", path, form);
        for path in [path_beside(&store, "-wal"), path_beside(&store, "-journal"), other] {
            assert!(
                Inputs::default().outputs(&[wanted(&path, OutputForm::Page)]).is_err(),
                "{}",
                path.display()
            );
        }
        let new = folder.join("new.sqlite");
        let both = [wanted(&new, OutputForm::Store), wanted(&path_beside(&new, "-shm"), OutputForm::Page)];
        assert_eq!(Inputs::default().outputs(&both).unwrap_err()[0].code, "one-file-twice");
        fs::remove_dir_all(&folder).unwrap();
    }
}
