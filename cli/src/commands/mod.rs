//! One file per subcommand. Each returns a [`CommandAnswer`], or what ended it early.

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
use coreach_model::limits::MANY_SHOWN;
use coreach_pipeline::export::Format;
use coreach_pipeline::stop::Stop;
pub(crate) use coreach_project::checked::plural;

use crate::answer::{CommandAnswer, CommandResult, EarlyExit};
use crate::exit::Exit;
use crate::outputs::OutFile;
pub(crate) use crate::table::table;
use crate::write::write;

/// Returns the format of the picture that `--draw` names, by the ending of the file.
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
fn write_picture(to: &OutFile, drawn: Result<Result<String, impl Display>, Stop>) -> Result<(), EarlyExit> {
    let path = to.path().display();
    let fail = |why: &dyn Display, exit: Exit| EarlyExit::Failed(format!("error: {path}: {why}"), exit);
    let text = drawn?.map_err(|too_large| fail(&too_large, Exit::Stopped))?;
    write(to, text).map_err(|error| fail(&error, Exit::Environment))
}

/// Lists the first of these lines below a title. Each has its line end. The document has all of them.
fn list_lines(title: &str, lines: Vec<String>) -> String {
    let unlisted = match lines.len().saturating_sub(MANY_SHOWN) {
        0 => String::new(),
        count => format!("  and {count} more; `--format json` has all\n"),
    };
    let listed: String = lines.into_iter().take(MANY_SHOWN).collect();
    if listed.is_empty() { listed } else { format!("\n{title}:\n{listed}{unlisted}") }
}

/// The line of a bucket for `--quiet`. It says how many `unit`s have met the bucket.
fn bucket_line(bucket: &Bucket, count: usize, unit: &str) -> String {
    format!("  {}: {bucket}: {}\n", bucket.id(), plural(count, unit))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outputs::{OutputForm, resolve_output};

    #[test]
    fn a_picture_that_is_too_large_is_a_limit_and_one_that_cannot_be_written_is_the_machine_s() {
        let folder = std::env::temp_dir().join(format!("coreach-picture-{}", std::process::id()));
        let path = folder.join("tree.svg");
        let at = resolve_output("--draw", Some(&path), OutputForm::Picture).unwrap().unwrap();
        let came =
            |drawn: Result<String, &str>| write_picture(&at, Ok(drawn)).err().map(|early| early.exit());
        assert_eq!(came(Err("12001 locations are too many")), Some(Exit::Stopped));
        assert_eq!(came(Ok("<svg/>".to_owned())), Some(Exit::Environment));
        std::fs::create_dir(&folder).unwrap();
        assert_eq!(came(Ok("<svg/>".to_owned())), None);
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
