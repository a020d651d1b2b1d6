//! `coreach report`: one page of all that is named; and `--html` of other commands, which is the same for
//! what they were told.

use std::io;
use std::path::PathBuf;

use coreach_analyses::DomainKind;
use coreach_project::page::gather::{Settings, Sorted, gather};
use coreach_project::page::html::html;
use coreach_project::{coverage, jobs};
use serde::Serialize;

use super::{EarlyExit, refuse, unwritten};
use crate::console;
use crate::execution_arguments::ReportArguments;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::outputs::{Output, OutputForm, output};
use crate::progress::ProgressLine;
use crate::write::write;

/// What is told of a page.
#[derive(Serialize)]
struct WrittenPage {
    format_version: u32,
    exit_code: u8,
    file: String,
    bytes: usize,
    graphs: usize,
    runs: usize,
    notes: Vec<String>,
}

/// How runs are counted where nobody says it.
const COUNTED: coverage::Settings = coverage::Settings { domain: Some(DomainKind::Interval), states: 1000 };

/// Makes the page.
pub fn report(arguments: &ReportArguments) -> Result<Exit, EarlyExit> {
    let settings = Settings {
        domains: arguments.domains.clone(),
        threads: jobs::threads(arguments.threads),
        coverage: coverage::Settings { domain: arguments.proofs.0, ..COUNTED },
    };
    let out = output("--out", Some(&arguments.out), OutputForm::Page);
    let out = out.map_err(|found| refuse(&found, arguments.format))?.ok_or(EarlyExit(Exit::Mistakes))?;
    let wanted = Page { files: &arguments.files, out: &out, settings };
    let told = page(&wanted, arguments.quiet, arguments.format)?;
    match arguments.format {
        OutputFormat::Json => console::print_json(&told),
        OutputFormat::Human if arguments.quiet => {}
        OutputFormat::Human => {
            for note in &told.notes {
                console::say(&format!("note: {note}"));
            }
            console::print(&format!("wrote {} ({} kB)\n", told.file, told.bytes.div_ceil(1000)));
        }
    }
    Ok(Exit::of_code(told.exit_code))
}

/// `--html FILE` of a command that was told these files: the page beside what the command says. Gives the
/// command's exit code, or a worse one.
pub(super) fn beside(
    out: Option<&Output>,
    files: &[PathBuf],
    domains: &[DomainKind],
    (format, quiet): (OutputFormat, bool),
    exit: Exit,
) -> Exit {
    let Some(out) = out else { return exit };
    let settings = Settings { domains: domains.to_vec(), threads: 1, coverage: COUNTED };
    let wanted = Page { files, out, settings };
    // The command has answered: what is wrong here is said beside it.
    match page(&wanted, quiet, OutputFormat::Human) {
        Ok(told) => {
            if format == OutputFormat::Human && !quiet {
                console::say(&format!("note: wrote {} ({} kB)", told.file, told.bytes.div_ceil(1000)));
            }
            exit
        }
        Err(EarlyExit(worse)) => exit.and(worse),
    }
}

/// What a page is asked for.
struct Page<'a> {
    files: &'a [PathBuf],
    out: &'a Output,
    settings: Settings,
}

fn page(wanted: &Page<'_>, quiet: bool, format: OutputFormat) -> Result<WrittenPage, EarlyExit> {
    let sorted = Sorted::of(wanted.files).map_err(|found| refuse(&found, format))?;
    let progress = ProgressLine::start(1, !quiet);
    let gathered = gather(&sorted, &wanted.settings, &|what| progress.says(what));
    drop(progress);
    let (page, warnings) = gathered.map_err(|found| refuse(&found, format))?;
    if format == OutputFormat::Human && !quiet {
        console::draw(&warnings);
    }
    let document = page.document();
    let text = html(&document).map_err(io::Error::from)?;
    write(wanted.out, &text).map_err(|error| unwritten(wanted.out.path(), &error))?;
    let stopped = document.domains.iter().filter(|domain| domain.result == "stopped");
    let mut notes: Vec<String> = stopped
        .map(|domain| {
            let reason = domain.reason.as_deref().unwrap_or_default();
            format!("{} with {}: {reason}", domain.purpose, domain.domain)
        })
        .collect();
    let exit = if notes.is_empty() { Exit::Fine } else { Exit::Stopped };
    notes.extend(document.notes.iter().cloned());
    Ok(WrittenPage {
        format_version: 1,
        exit_code: exit.code(),
        file: wanted.out.path().display().to_string(),
        bytes: text.len(),
        graphs: document.graphs.len(),
        runs: document.runs.len(),
        notes,
    })
}
