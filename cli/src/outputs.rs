//! Where a command writes, as it is said on the command line, and what it must not write over.
//!
//! An option that names a file to write is an [`OutputPath`], every other path names something to read: so
//! the two are told apart where the options are declared, and nobody lists them again. What may be written
//! is decided by `coreach_project::outputs`, once for all that a command writes, before the work.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::ArgMatches;
use coreach_model::Diagnostic;
use coreach_project::outputs::Inputs;
pub use coreach_project::outputs::{Output, OutputForm, ToWrite};

/// A path that a command writes to: a file, or a folder for files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct OutputPath(PathBuf);

impl From<OsString> for OutputPath {
    fn from(path: OsString) -> Self {
        OutputPath(path.into())
    }
}

impl AsRef<Path> for OutputPath {
    fn as_ref(&self) -> &Path {
        &self.0
    }
}

impl Deref for OutputPath {
    type Target = Path;

    fn deref(&self) -> &Path {
        &self.0
    }
}

/// A path of the command line.
#[derive(Clone, Debug)]
pub struct GivenPath {
    /// `run`, `campaign merge`; `test --cover` is a command of its own.
    pub command: String,
    /// The argument, as its struct calls it.
    pub argument: String,
    /// The path.
    pub path: PathBuf,
    /// The command reads the file, and does not write it.
    pub is_read: bool,
}

static GIVEN: OnceLock<Vec<GivenPath>> = OnceLock::new();

/// Keeps the paths of the command line.
pub fn remember_paths(matches: &ArgMatches) {
    let mut paths = Vec::new();
    list_paths("", matches, &mut paths);
    let _ = GIVEN.set(paths);
}

/// Returns the paths of the command line.
pub fn given_paths() -> &'static [GivenPath] {
    GIVEN.get().map_or(&[], Vec::as_slice)
}

fn list_paths(command: &str, matches: &ArgMatches, paths: &mut Vec<GivenPath>) {
    for id in matches.ids().map(clap::Id::as_str) {
        let given = |path: &Path, is_read| GivenPath {
            command: command.to_owned(),
            argument: id.to_owned(),
            path: path.to_owned(),
            is_read,
        };
        // A value of another type is no path.
        if let Ok(Some(values)) = matches.try_get_many::<PathBuf>(id) {
            paths.extend(values.map(|path| given(path, true)));
        }
        if let Ok(Some(values)) = matches.try_get_many::<OutputPath>(id) {
            paths.extend(values.map(|path| given(path, false)));
        }
    }
    if let Some((name, inner)) = matches.subcommand() {
        let is_walk = name == "test" && inner.contains_id("cover");
        let walk = if is_walk { " --cover" } else { "" };
        list_paths(format!("{command} {name}{walk}").trim_start(), inner, paths);
    }
}

/// The files that the command is to write, if all of them may be.
pub fn outputs(wanted: &[ToWrite]) -> Result<Vec<Output>, Vec<Diagnostic>> {
    static INPUTS: OnceLock<Inputs> = OnceLock::new();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let read = given_paths().iter().filter(|given| given.is_read);
    let inputs = INPUTS.get_or_init(|| Inputs::of(read.map(|given| given.path.as_path())));
    inputs.outputs(wanted)
}

/// What is wanted of an option, where it is given.
pub fn wanted(what: &'static str, path: Option<&Path>, form: OutputForm) -> Option<ToWrite> {
    path.map(|path| ToWrite::new(what, path, form))
}

/// Does as [`outputs`], with `None` for what is not wanted.
pub fn each<const N: usize>(wanted: [Option<ToWrite>; N]) -> Result<[Option<Output>; N], Vec<Diagnostic>> {
    let all: Vec<ToWrite> = wanted.iter().flatten().cloned().collect();
    let mut made = outputs(&all)?.into_iter();
    Ok(wanted.map(|one| one.and_then(|_| made.next())))
}

/// As [`outputs`], of the only one, where it is wanted.
pub fn output(
    what: &'static str,
    path: Option<&Path>,
    form: OutputForm,
) -> Result<Option<Output>, Vec<Diagnostic>> {
    each([wanted(what, path, form)]).map(|[output]| output)
}
