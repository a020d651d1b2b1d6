//! `coreach report`: one page of all that is named; and `--html` of other commands, which is the same for
//! what they were told.

use std::io;
use std::path::PathBuf;

use coreach_analyses::DomainKind;
use coreach_model::Diagnostic;
use coreach_project::page::gather::{Settings, Sorted, gather};
use coreach_project::page::html::html;
use coreach_project::{coverage, jobs};
use serde::Serialize;

use super::{CommandAnswer, CommandResult, EarlyExit};
use crate::answer::{draw_text, is_json};
use crate::console;
use crate::execution_arguments::ReportArguments;
use crate::exit::Exit;
use crate::outputs::{Output, OutputForm, ToWrite, outputs};
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
pub fn report(arguments: &ReportArguments) -> CommandResult {
    let settings = Settings {
        domains: arguments.domains.clone(),
        threads: jobs::threads(arguments.threads),
        coverage: coverage::Settings { domain: arguments.proofs.0, ..COUNTED },
    };
    let out = outputs(&[ToWrite::new("--out", &*arguments.out, OutputForm::Page)])?.swap_remove(0);
    let wanted = Page { files: arguments.files.clone(), out, settings, is_quiet: arguments.quiet };
    let told = wanted.write(&draw_text)?;
    let text = || format!("wrote {} ({} kB)\n", told.file, told.bytes.div_ceil(1000));
    if !is_json() && !arguments.quiet {
        told.notes.iter().for_each(|note| console::say(&format!("note: {note}")));
    }
    let exit = Exit::of_code(told.exit_code);
    Ok(CommandAnswer::new(exit, || &told, || if arguments.quiet { String::new() } else { text() }))
}

/// Adds the page of `--html FILE` to an answer: the files that the command was given, on a page.
pub(super) fn with_page(
    answer: CommandAnswer,
    out: Option<Output>,
    files: Vec<PathBuf>,
    domains: Vec<DomainKind>,
    is_quiet: bool,
) -> CommandAnswer {
    let Some(out) = out else { return answer };
    let settings = Settings { domains, threads: 1, coverage: COUNTED };
    let wanted = Page { files, out, settings, is_quiet };
    // The command has answered: what is wrong here is said beside it.
    answer.then(move |exit| match wanted.write(&console::draw) {
        Ok(told) => {
            if !is_json() && !is_quiet {
                console::say(&format!("note: wrote {} ({} kB)", told.file, told.bytes.div_ceil(1000)));
            }
            exit
        }
        Err(early) => exit.and(early.print_beside()),
    })
}

/// A page that is to be written.
struct Page {
    files: Vec<PathBuf>,
    out: Output,
    settings: Settings,
    is_quiet: bool,
}

impl Page {
    /// Makes the page and writes it. `draw` shows warnings.
    fn write(&self, draw: &dyn Fn(&[Diagnostic])) -> Result<WrittenPage, EarlyExit> {
        let sorted = Sorted::of(&self.files)?;
        let progress = ProgressLine::start(1, !self.is_quiet);
        let gathered = gather(&sorted, &self.settings, &|what| progress.says(what));
        drop(progress);
        let (page, warnings) = gathered?;
        if !self.is_quiet {
            draw(&warnings);
        }
        let document = page.document();
        let text = html(&document).map_err(io::Error::from)?;
        write(&self.out, &text).map_err(|error| EarlyExit::unwritten(self.out.path(), &error))?;
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
            file: self.out.path().display().to_string(),
            bytes: text.len(),
            graphs: document.graphs.len(),
            runs: document.runs.len(),
            notes,
        })
    }
}
