//! Where a command writes, as it is said on the command line, and what it must not write over.
//!
//! An option that names a file to write is an [`OutputPath`]. Every other path names something to read. So
//! the declaration of an option says which it is, and there is no second list. Before the work,
//! `coreach_project::outputs` decides once for all files of a command whether they may be written.

use std::ffi::OsString;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::ArgMatches;
use coreach_model::Diagnostic;
use coreach_project::outputs::Inputs;
pub use coreach_project::outputs::{OutFile, OutputForm, ToWrite};

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
pub struct GivenPath {
    /// `run`, `campaign merge`; `test --cover` is a command of its own.
    pub command: String,
    /// The argument, as its struct calls it.
    pub argument: String,
    pub path: PathBuf,
    /// The command reads the file, and does not write it.
    pub is_read: bool,
}

static GIVEN: OnceLock<Vec<GivenPath>> = OnceLock::new();

pub fn remember_paths(matches: &ArgMatches) {
    let mut paths = Vec::new();
    list_paths("", matches, &mut paths);
    let _ = GIVEN.set(paths);
}

pub fn given_paths() -> &'static [GivenPath] {
    GIVEN.get().map_or(&[], Vec::as_slice)
}

/// Lists the paths among the arguments of a command and of its subcommands.
fn list_paths(command: &str, matches: &ArgMatches, paths: &mut Vec<GivenPath>) {
    for id in matches.ids().map(clap::Id::as_str) {
        let given = |path: &Path, is_read| GivenPath {
            command: command.to_owned(),
            argument: id.to_owned(),
            path: path.to_owned(),
            is_read,
        };
        // Only values of these two types are paths.
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

/// Checks the files that the command is to write. Returns them if all of them may be written.
pub fn resolve_outputs(wanted: &[ToWrite]) -> Result<Vec<OutFile>, Vec<Diagnostic>> {
    static INPUTS: OnceLock<Inputs> = OnceLock::new();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let read = given_paths().iter().filter(|given| given.is_read);
    let inputs = INPUTS.get_or_init(|| Inputs::of(read.map(|given| given.path.as_path())));
    inputs.outputs(wanted)
}

/// Requests the file of an option, if the option is given.
pub fn request_output(what: &'static str, path: Option<&Path>, form: OutputForm) -> Option<ToWrite> {
    path.map(|path| ToWrite::new(what, path, form))
}

/// Does as [`resolve_outputs`], with `None` for files that are not wanted.
pub fn resolve_each<const N: usize>(
    wanted: [Option<ToWrite>; N],
) -> Result<[Option<OutFile>; N], Vec<Diagnostic>> {
    // All files are checked together, since two of them may be the same.
    let files: Vec<ToWrite> = wanted.iter().flatten().cloned().collect();
    let mut outputs = resolve_outputs(&files)?.into_iter();
    Ok(wanted.map(|file| file.and_then(|_| outputs.next())))
}

/// Does as [`resolve_outputs`] for the file of one option, if the option is given.
pub fn resolve_output(
    what: &'static str,
    path: Option<&Path>,
    form: OutputForm,
) -> Result<Option<OutFile>, Vec<Diagnostic>> {
    resolve_each([request_output(what, path, form)]).map(|[output]| output)
}
