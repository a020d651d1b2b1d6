//! `coreach check`: mistakes in what the user wrote, with and without the solver.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_analyses::check::check as check_with_solver;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::iosts::Iosts;
use coreach_model::reader::{load as load_file, read_purpose, read_specification};
use coreach_pipeline::stop::BUDGET;
use coreach_project::models::{FileKind, kind_of};
use coreach_project::project::{load, specification_of};
use coreach_project::{budget, jobs, render};
use serde::Serialize;
use serde_json::Value;

use super::{counted, plural};
use crate::arguments::CheckArguments;
use crate::console;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::visible::visible;

/// Checks every file; each tells its own findings.
///
/// # Errors
/// Standard output cannot be written.
pub fn check(arguments: &CheckArguments) -> io::Result<Exit> {
    let work = |path: &PathBuf| bounded(path, &arguments.models);
    let reports = match jobs::in_order(&arguments.models, 1, work) {
        Ok(reports) => reports,
        Err(error) => return super::run::no_thread(&error),
    };
    let failed = reports.iter().any(|report| report.found.iter().any(Diagnostic::is_error));
    let mut all = reports.iter().flat_map(|report| &report.found);
    let exit = match failed {
        true if all.any(|found| found.code == BUDGET) => Exit::Stopped,
        true => Exit::Mistakes,
        false => Exit::Fine,
    };
    // A purpose and its specification, or a configuration and its files, may be given together.
    let mut told: Vec<&Diagnostic> = Vec::new();
    for report in &reports {
        let new: Vec<Diagnostic> =
            report.found.iter().filter(|diagnostic| !told.contains(diagnostic)).cloned().collect();
        told.extend(&report.found);
        if arguments.format == OutputFormat::Human {
            console::draw(&new);
            let line = format!("{}: {}\n", report.path.display(), report.sentence());
            console::print(&visible(&line))?;
        }
    }
    if arguments.format == OutputFormat::Json {
        let files = reports.iter().map(Report::to_json).collect();
        console::print_json(&Document { format_version: 1, exit_code: exit.code(), files })?;
    }
    Ok(exit)
}

#[derive(Serialize)]
struct Document<'a> {
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
    diagnostics: Value,
}

/// Looks at one file: a piece of work.
fn bounded(path: &Path, all: &[PathBuf]) -> Report {
    let looked = budget::within("check", budget::time(None), |_| look(path, all));
    looked.unwrap_or_else(|stop| Report {
        path: path.to_owned(),
        kind: "unknown",
        says: String::new(),
        found: vec![stop.to_diagnostic()],
    })
}

/// What was found in a file, and in those that it needs.
struct Report {
    path: PathBuf,
    kind: &'static str,
    says: String,
    found: Vec<Diagnostic>,
}

impl Report {
    fn sentence(&self) -> String {
        let verdict = if self.found.is_empty() { "ok".to_owned() } else { counted(&self.found) };
        let separator = if self.says.is_empty() { "" } else { " " };
        format!("{}{separator}{}: {verdict}", self.kind, self.says)
    }

    fn to_json(&self) -> FileJson<'_> {
        FileJson {
            file: self.path.display().to_string(),
            kind: self.kind,
            says: &self.says,
            ok: !self.found.iter().any(Diagnostic::is_error),
            diagnostics: render::to_json(&self.found),
        }
    }
}

fn look(path: &Path, candidates: &[PathBuf]) -> Report {
    let report = |kind, says: String, found| Report { path: path.to_owned(), kind, says, found };
    let file = match load_file(path) {
        Ok(file) => file,
        Err(found) => return report("file", String::new(), vec![found]),
    };
    match kind_of(&file) {
        Err(found) => report("file", String::new(), found),
        Ok(FileKind::Specification(name)) => {
            let (says, found) = specification(file);
            report("specification", format!("`{name}`{says}"), found)
        }
        Ok(FileKind::Purpose { .. }) => {
            let (says, found) = purpose(file, path, candidates);
            report("purpose", says, found)
        }
        Ok(FileKind::Configuration) => match load(path) {
            Ok((project, found)) => {
                let purposes: Vec<String> =
                    project.purposes.iter().map(|purpose| format!("`{}`", purpose.iosts.name)).collect();
                let name = &project.specification.iosts.name;
                report("configuration", format!("of `{name}` with {}", purposes.join(", ")), found)
            }
            Err(found) => report("configuration", String::new(), found),
        },
    }
}

fn specification(file: Arc<SourceFile>) -> (String, Vec<Diagnostic>) {
    match read_specification(file) {
        Ok((specification, mut found)) => {
            found.extend(check_with_solver(&specification.iosts, &mut Z3Solver::default()));
            (size(&specification.iosts), found)
        }
        Err(found) => (String::new(), found),
    }
}

fn purpose(file: Arc<SourceFile>, path: &Path, candidates: &[PathBuf]) -> (String, Vec<Diagnostic>) {
    let read = || {
        let specification = specification_of(&file, path, candidates)?;
        let (specification, _) = read_specification(specification)?;
        let (purpose, mut found) = read_purpose(file.clone(), &specification)?;
        found.extend(check_with_solver(&purpose.iosts, &mut Z3Solver::default()));
        let says = format!("`{}` of `{}`{}", purpose.iosts.name, purpose.of, size(&purpose.iosts));
        Ok((says, found))
    };
    read().unwrap_or_else(|found| (String::new(), found))
}

fn size(iosts: &Iosts) -> String {
    let (locations, transitions) = (iosts.locations.len(), iosts.transitions.len());
    format!(" ({}, {})", plural(locations, "location"), plural(transitions, "transition"))
}
