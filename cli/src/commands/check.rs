//! `coreach check`: mistakes in what the user wrote, with and without the solver.

use std::path::{Path, PathBuf};

use coreach_model::diagnostic::Diagnostic;
use coreach_pipeline::stop::says_work_was_stopped;
use coreach_project::checked::{self, Checked};
use coreach_project::{budget, jobs, render};
use serde::Serialize;
use serde_json::Value;

use super::{CommandAnswer, CommandResult, EarlyExit};
use crate::answer::{count_findings, draw_text, print_text};
use crate::arguments::CheckArguments;
use crate::exit::Exit;
use crate::visible::{visible, visible_line};

/// Checks every file, and tells the findings of each.
pub fn check(arguments: &CheckArguments) -> CommandResult {
    let work = |path: &PathBuf| check_as_piece(path, &arguments.models);
    let reports = jobs::in_order(&arguments.models, 1, work).map_err(EarlyExit::no_thread)?;
    let has_errors = reports.iter().any(|report| report.checked.found.iter().any(Diagnostic::is_error));
    let mut all = reports.iter().flat_map(|report| &report.checked.found);
    let exit = match has_errors {
        true if all.any(|found| says_work_was_stopped(found.code)) => Exit::Stopped,
        true => Exit::Mistakes,
        false => Exit::Fine,
    };
    // A purpose and its specification, or a configuration and its files, may be given together.
    let mut drawn: Vec<&Diagnostic> = Vec::new();
    for report in &reports {
        let new: Vec<Diagnostic> =
            report.checked.found.iter().filter(|diagnostic| !drawn.contains(diagnostic)).cloned().collect();
        drawn.extend(&report.checked.found);
        draw_text(&new);
        let line = format!("{}: {}", report.path.display(), report.sentence());
        print_text(&format!("{}\n", visible_line(&line)));
        for sentence in &report.checked.implied {
            print_text(&visible(&format!("  {sentence}\n")));
        }
    }
    let files = || reports.iter().map(FileReport::to_json).collect();
    let document = || CheckDocument { format_version: 1, exit_code: exit.code(), files: files() };
    Ok(CommandAnswer::new(exit, document, String::new))
}

/// Counts the findings: first those about the file, then those about each other file that it needs.
fn count_by_file(path: &Path, found: &[Diagnostic]) -> String {
    let mut files: Vec<(Option<&str>, Vec<Diagnostic>)> = vec![(None, Vec::new())];
    for diagnostic in found {
        let file = diagnostic.labels.first().map(|(origin, _)| origin.file.name.as_str());
        let file = file.filter(|name| Path::new(name) != path);
        match files.iter_mut().find(|(known, _)| *known == file) {
            Some((_, own_findings)) => own_findings.push(diagnostic.clone()),
            None => files.push((file, vec![diagnostic.clone()])),
        }
    }
    let with_findings = files.iter().filter(|(_, own_findings)| !own_findings.is_empty());
    let parts = with_findings.map(|(file, own_findings)| match file {
        None => count_findings(own_findings),
        Some(file) => format!("{} in {file}", count_findings(own_findings)),
    });
    parts.collect::<Vec<String>>().join(", ")
}

#[derive(Serialize)]
struct CheckDocument<'a> {
    format_version: u32,
    exit_code: u8,
    files: Vec<FileJson<'a>>,
}

#[derive(Serialize)]
struct FileJson<'a> {
    file: String,
    kind: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    says: &'a str,
    ok: bool,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    implied: &'a [String],
    diagnostics: Value,
}

/// Checks one file, within a budget of its own.
fn check_as_piece(path: &Path, all: &[PathBuf]) -> FileReport {
    let looked = budget::within("check", budget::time(None), |_| checked::check(path, all));
    let checked = looked.unwrap_or_else(|stop| Checked {
        kind: "unknown",
        says: String::new(),
        found: vec![stop.to_diagnostic()],
        implied: Vec::new(),
    });
    FileReport { path: path.to_owned(), checked }
}

struct FileReport {
    path: PathBuf,
    checked: Checked,
}

impl FileReport {
    fn sentence(&self) -> String {
        let Checked { kind, says, found, .. } = &self.checked;
        let verdict = if found.is_empty() { "ok".to_owned() } else { count_by_file(&self.path, found) };
        let separator = if says.is_empty() { "" } else { " " };
        format!("{kind}{separator}{says}: {verdict}")
    }

    fn to_json(&self) -> FileJson<'_> {
        FileJson {
            file: self.path.display().to_string(),
            kind: self.checked.kind,
            says: &self.checked.says,
            ok: !self.checked.found.iter().any(Diagnostic::is_error),
            implied: &self.checked.implied,
            diagnostics: render::to_json(&self.checked.found),
        }
    }
}
