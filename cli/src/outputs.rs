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

/// What the command reads, as it was given.
static READ: OnceLock<Vec<PathBuf>> = OnceLock::new();

/// These arguments are those of the command that is under way.
pub fn remember(matches: &ArgMatches) {
    let _ = READ.set(read(matches));
}

/// All paths of a command line that are not written.
fn read(matches: &ArgMatches) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for id in matches.ids() {
        // What is of another type is no path that is read.
        if let Ok(Some(values)) = matches.try_get_many::<PathBuf>(id.as_str()) {
            paths.extend(values.cloned());
        }
    }
    paths.extend(matches.subcommand().into_iter().flat_map(|(_, inner)| read(inner)));
    paths
}

/// The files that the command is to write, if all of them may be.
///
/// # Errors
/// One finding for each that must not.
pub fn outputs(wanted: &[ToWrite]) -> Result<Vec<Output>, Vec<Diagnostic>> {
    static INPUTS: OnceLock<Inputs> = OnceLock::new();
    if wanted.is_empty() {
        return Ok(Vec::new());
    }
    let inputs = INPUTS.get_or_init(|| Inputs::of(READ.get().into_iter().flatten().map(PathBuf::as_path)));
    inputs.outputs(wanted)
}

/// What is wanted of an option, where it is given.
pub fn wanted(what: &'static str, path: Option<&Path>, form: OutputForm) -> Option<ToWrite> {
    path.map(|path| ToWrite::new(what, path, form))
}

/// As [`outputs`], each where it is wanted.
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
