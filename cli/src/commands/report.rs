//! `coreach report`: one page of all that is named. `campaign --html` writes one, too.

use std::io;
use std::path::PathBuf;

use coreach_analyses::DomainKind;
use coreach_project::page::document::PageDomain;
use coreach_project::page::gather::{PageSettings, Sorted, gather};
use coreach_project::page::html::write_html;
use coreach_project::{coverage, jobs};
use serde::Serialize;

use super::{CommandAnswer, CommandResult, EarlyExit};
use crate::answer::draw_text;
use crate::execution_arguments::ReportArguments;
use crate::exit::Exit;
use crate::outputs::{OutFile, OutputForm, ToWrite, resolve_outputs};
use crate::progress::with_progress;
use crate::write::write;

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

/// How coverage is measured by default.
const COUNTED: coverage::Measure = coverage::Measure { domain: Some(DomainKind::Interval), states: 1000 };

pub fn report(arguments: &ReportArguments) -> CommandResult {
    let settings = PageSettings {
        domains: arguments.domains.clone(),
        threads: jobs::threads(arguments.threads),
        coverage: coverage::Measure { domain: arguments.proofs.0, ..COUNTED },
    };
    let out = resolve_outputs(&[ToWrite::new("--out", &*arguments.out, OutputForm::Page)])?.swap_remove(0);
    let written = write_page(&arguments.files, &out, &settings, arguments.quiet)?;
    let exit = Exit::of_code(written.exit_code);
    let line = || if arguments.quiet { String::new() } else { written.line() + "\n" };
    let mut answer = CommandAnswer::new(exit, || &written, line);
    if !arguments.quiet {
        written.notes.iter().for_each(|note| answer.note(format!("note: {note}")));
    }
    Ok(answer)
}

/// Writes the page of `campaign --html` beside its answer.
pub(super) fn add_page(answer: &mut CommandAnswer, files: &[PathBuf], out: &OutFile, is_quiet: bool) {
    let settings = PageSettings { domains: Vec::new(), threads: 1, coverage: COUNTED };
    match write_page(files, out, &settings, is_quiet) {
        Ok(written) if is_quiet => drop(written),
        Ok(written) => answer.note(format!("note: {}", written.line())),
        Err(early) => answer.worsen(&early),
    }
}

impl WrittenPage {
    fn line(&self) -> String {
        format!("wrote {} ({} kB)", self.file, self.bytes.div_ceil(1000))
    }
}

/// Gathers what the files say, and writes the page. A domain that was stopped becomes a note.
fn write_page(
    files: &[PathBuf],
    out: &OutFile,
    settings: &PageSettings,
    is_quiet: bool,
) -> Result<WrittenPage, EarlyExit> {
    let sorted = Sorted::of(files)?;
    let (page, warnings) = with_progress(!is_quiet, |says| gather(&sorted, settings, says))?;
    if !is_quiet {
        draw_text(&warnings);
    }
    let page_notes = page.notes().to_vec();
    let document = page.into_document();
    let text = write_html(&document).map_err(io::Error::from)?;
    write(out, &text).map_err(|error| EarlyExit::unwritten(out.path(), &error))?;
    let stopped = document.domains.iter().filter(|domain| domain.result == "stopped");
    let note = |domain: &PageDomain| {
        let reason = domain.reason.as_deref().unwrap_or_default();
        format!("{} with {}: {reason}", domain.purpose, domain.domain)
    };
    let mut notes: Vec<String> = stopped.map(note).collect();
    let exit = if notes.is_empty() { Exit::Fine } else { Exit::Stopped };
    notes.extend(page_notes);
    Ok(WrittenPage {
        format_version: 1,
        exit_code: exit.code(),
        file: out.path().display().to_string(),
        bytes: text.len(),
        graphs: document.graphs.len(),
        runs: document.runs.len(),
        notes,
    })
}
