//! One file per subcommand. Each returns the exit code, or the error of writing to standard output.

pub mod campaign;
pub mod check;
pub mod compare;
pub mod completions;
pub mod cover;
pub mod coverage;
pub mod explain;
pub mod explore;
pub mod import;
pub mod init;
pub mod man;
pub mod mutate;
pub mod replay;
pub mod report;
pub mod run;
pub mod schema;
pub mod show;
pub mod test;
pub mod timed;
pub mod verify;

use std::fmt::Display;
use std::io;
use std::path::Path;

use coreach_execution::Bucket;
use coreach_model::{Diagnostic, Severity};
use coreach_pipeline::stop::{Stop, is_of_end};
pub(crate) use coreach_project::checked::plural;
use coreach_project::render;

use crate::console;
use crate::exit::Exit;
use crate::files;
use crate::output_format::OutputFormat;
use crate::outputs::Output;
pub(crate) use crate::table::table;
use crate::visible::visible_line;
use crate::write::write;

/// What ended a command early was told; this is its exit code.
pub struct EarlyExit(pub Exit);

/// What could not be read or written, where it is not a file of the user's.
impl From<io::Error> for EarlyExit {
    fn from(error: io::Error) -> Self {
        hindered(format_args!("cannot write to standard output: {error}"))
    }
}

/// Tells what the surroundings do not let us do.
fn hindered(why: impl Display) -> EarlyExit {
    console::say(&visible_line(&format!("error: {why}")));
    EarlyExit(Exit::Environment)
}

/// Tells that a file cannot be written.
fn unwritten(path: &Path, error: &io::Error) -> EarlyExit {
    hindered(format_args!("cannot write {}: {error}", path.display()))
}

/// Tells of what ends a command before it began: drawn, or as a document.
fn refuse(found: &[Diagnostic], format: OutputFormat) -> EarlyExit {
    refuse_as(found, format, exit_of(found))
}

/// What findings say that end a command: mistakes, unless the budget ended the look at them.
fn exit_of(found: &[Diagnostic]) -> Exit {
    let is_stopped = found.iter().any(|diagnostic| is_of_end(diagnostic.code));
    if is_stopped { Exit::Stopped } else { Exit::Mistakes }
}

/// The same, with this exit code.
pub(crate) fn refuse_as(found: &[Diagnostic], format: OutputFormat, exit: Exit) -> EarlyExit {
    // A file of another kind explains whatever was found in it.
    let others = if exit == Exit::Mistakes { files::of_other_kinds() } else { Vec::new() };
    let found = if others.is_empty() { found } else { &others };
    if format == OutputFormat::Json {
        let document = serde_json::json!({
            "format_version": 1,
            "exit_code": exit.code(),
            "diagnostics": render::to_json(found),
        });
        console::print_json(&document);
    } else {
        console::draw(found);
        console::say(&counted(found));
    }
    EarlyExit(exit)
}

/// Writes a picture that was drawn within the budget.
fn picture(
    output: &Output,
    drawn: Result<Result<String, impl Display>, Stop>,
    format: OutputFormat,
) -> Result<(), EarlyExit> {
    let no = |why: &dyn Display, exit: Exit| {
        console::say(&format!("error: {}: {why}", output.path().display()));
        EarlyExit(exit)
    };
    let drawn = drawn.map_err(|stop| refuse(&[stop.to_diagnostic()], format))?;
    let text = drawn.map_err(|too_large| no(&too_large, Exit::Stopped))?;
    write(output, text).map_err(|error| no(&error, Exit::Environment))
}

/// A bucket in a line, which is all that `--quiet` says of it: how often it was met, of what.
fn bucket_line(bucket: &Bucket, count: usize, of: &str) -> String {
    format!("  {}: {bucket}: {}\n", bucket.id(), plural(count, of))
}

/// `1 error, 2 warnings`
fn counted(found: &[Diagnostic]) -> String {
    let count = |severity| found.iter().filter(|diagnostic| diagnostic.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    match (errors, warnings) {
        (errors, 0) => plural(errors, "error"),
        (0, warnings) => plural(warnings, "warning"),
        (errors, warnings) => format!("{}, {}", plural(errors, "error"), plural(warnings, "warning")),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a failure is what the test reports")]

    use super::*;
    use crate::outputs::{OutputForm, output};

    #[test]
    fn a_picture_that_is_too_large_is_a_limit_and_one_that_cannot_be_written_is_the_machine_s() {
        let folder = std::env::temp_dir().join(format!("coreach-picture-{}", std::process::id()));
        let path = folder.join("tree.svg");
        let at = output("--draw", Some(&path), OutputForm::Picture).unwrap().unwrap();
        let came = |drawn: Result<String, &str>| {
            picture(&at, Ok(drawn), OutputFormat::Human).err().map(|EarlyExit(exit)| exit)
        };
        assert_eq!(came(Err("12001 locations are too many")), Some(Exit::Stopped));
        assert_eq!(came(Ok("<svg/>".to_owned())), Some(Exit::Environment));
        std::fs::create_dir(&folder).unwrap();
        assert_eq!(came(Ok("<svg/>".to_owned())), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
