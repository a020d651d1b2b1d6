//! One file per subcommand. Each returns an [`CommandAnswer`], or what ended it early.

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
use std::path::Path;

use coreach_execution::Bucket;
use coreach_model::Diagnostic;
use coreach_pipeline::export::Format;
use coreach_pipeline::stop::Stop;
pub(crate) use coreach_project::checked::plural;

use crate::answer::{CommandAnswer, CommandResult, EarlyExit};
use crate::exit::Exit;
use crate::outputs::Output;
pub(crate) use crate::table::table;
use crate::write::write;

/// Returns the form of the picture that `--draw` names. The ending of the file says it.
fn picture_format(path: &Path) -> Result<Format, Diagnostic> {
    match path.extension().and_then(|ending| ending.to_str()) {
        Some("dot") => Ok(Format::Dot),
        Some("svg") => Ok(Format::Svg),
        _ => {
            let message = format!("--draw must name a file that ends in .dot or .svg: {}", path.display());
            Err(Diagnostic::error("output-format", message))
        }
    }
}

/// Writes a picture that was drawn within the budget.
fn picture(output: &Output, drawn: Result<Result<String, impl Display>, Stop>) -> Result<(), EarlyExit> {
    let no = |why: &dyn Display, exit: Exit| {
        EarlyExit::Failed(format!("error: {}: {why}", output.path().display()), exit)
    };
    let text = drawn?.map_err(|too_large| no(&too_large, Exit::Stopped))?;
    write(output, text).map_err(|error| no(&error, Exit::Environment))
}

/// So many things of one kind are told, each with its line end; the document has all.
fn told_lines(title: &str, lines: Vec<String>) -> String {
    const TOLD: usize = 40;
    let more = match lines.len().saturating_sub(TOLD) {
        0 => String::new(),
        more => format!("  and {more} more; `--format json` has all\n"),
    };
    let told: String = lines.into_iter().take(TOLD).collect();
    if told.is_empty() { told } else { format!("\n{title}:\n{told}{more}") }
}

/// A bucket in a line, which is all that `--quiet` says of it: how often it was met, of what.
fn bucket_line(bucket: &Bucket, count: usize, of: &str) -> String {
    format!("  {}: {bucket}: {}\n", bucket.id(), plural(count, of))
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
        let came = |drawn: Result<String, &str>| picture(&at, Ok(drawn)).err().map(|early| early.exit());
        assert_eq!(came(Err("12001 locations are too many")), Some(Exit::Stopped));
        assert_eq!(came(Ok("<svg/>".to_owned())), Some(Exit::Environment));
        std::fs::create_dir(&folder).unwrap();
        assert_eq!(came(Ok("<svg/>".to_owned())), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
