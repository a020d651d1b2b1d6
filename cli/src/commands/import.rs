//! `coreach import`: a foreign model as a specification.
//!
//! The specification is data: it goes to standard output, or into a file. Findings say what was not taken
//! over, or not exactly. They go to standard error, drawn on the foreign text. With `--format json` and
//! `--out`, standard output has the findings as a document.

use std::io;
use std::path::Path;
use std::sync::Arc;

use coreach_import::{ForeignFormat, LARGEST, LIMIT, detect, import_purpose};
use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::file::{self, FileError};
use coreach_model::reader::read_specification;
use coreach_pipeline::stop::says_work_was_stopped;
use coreach_project::{budget, render};
use serde::Serialize;
use serde_json::Value;

use super::{CommandAnswer, CommandResult};
use crate::answer::{count_findings, draw_text, is_json};
use crate::console;
use crate::exit::Exit;
use crate::import_arguments::ImportArguments;
use crate::outputs::{OutputForm, resolve_output};
use crate::write::write_with;

#[derive(Serialize)]
struct ImportDocument {
    format_version: u32,
    exit_code: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    written: Option<String>,
    diagnostics: Value,
}

/// Reads a foreign model, translates it, and writes the specification or the purpose.
pub fn import(arguments: &ImportArguments) -> CommandResult {
    let form = match (arguments.overwrite, &arguments.purpose_of) {
        (false, _) => OutputForm::New,
        (true, None) => OutputForm::Specification,
        (true, Some(_)) => OutputForm::Artifact,
    };
    let out = match resolve_output("--out", arguments.out.as_deref(), form) {
        Ok(out) => out,
        Err(found) => return Ok(tell_findings(arguments, &found, Exit::Mistakes)),
    };
    let read = budget::within("import", budget::time(None), |_| {
        let file = load_foreign(&arguments.file).map_err(|found| vec![found])?;
        let Some(model) = &arguments.purpose_of else {
            return coreach_import::import(file, arguments.from, &arguments.options());
        };
        if arguments.from.or_else(|| detect(&file.name, &file.text)) != Some(ForeignFormat::Aut) {
            let message = format!("{} is not a file of Aldebaran's format", file.name);
            return Err(vec![
                Diagnostic::error("wrong-format", message).help("other formats have no purposes"),
            ]);
        }
        let model = coreach_model::reader::load(model).map_err(|found| vec![found])?;
        let (model, _) = read_specification(model)?;
        import_purpose(file, &model, &arguments.options())
    });
    let (text, found) = match read {
        Ok(Ok(read)) => read,
        Ok(Err(found)) => {
            let is_limit = found.iter().any(|found| found.code == LIMIT || says_work_was_stopped(found.code));
            let exit = if is_limit { Exit::Stopped } else { Exit::Mistakes };
            return Ok(tell_findings(arguments, &found, exit));
        }
        Err(stop) => return Ok(tell_findings(arguments, &[stop.to_diagnostic()], Exit::Stopped)),
    };
    let Some(out) = &out else {
        console::print(&text);
        return Ok(tell_findings(arguments, &found, Exit::Fine));
    };
    let Err(error) = write_with(out, |file| file.write_all(text.as_bytes())) else {
        return Ok(tell_findings(arguments, &found, Exit::Fine));
    };
    let message = format!("cannot write {}: {error}", out.path().display());
    let problem = Diagnostic::error("not-written", message);
    let (problem, exit) = match error.kind() {
        io::ErrorKind::AlreadyExists => (problem.help("--overwrite replaces it"), Exit::Mistakes),
        _ => (problem, Exit::Environment),
    };
    Ok(tell_findings(arguments, &[found, vec![problem]].concat(), exit))
}

/// Answers with the findings. If standard output has the specification, a document of findings goes to
/// standard error.
fn tell_findings(arguments: &ImportArguments, found: &[Diagnostic], exit: Exit) -> CommandAnswer {
    let written = arguments.out.as_ref().filter(|_| exit == Exit::Fine);
    let document = ImportDocument {
        format_version: 1,
        exit_code: exit.code(),
        written: written.map(|path| path.display().to_string()),
        diagnostics: render::to_json(found),
    };
    draw_text(found);
    let has_specification = arguments.out.is_none() && exit == Exit::Fine;
    if !has_specification {
        let mut answer = CommandAnswer::new(exit, || &document, String::new);
        if exit != Exit::Fine {
            answer.note(count_findings(found));
        }
        return answer;
    }
    if is_json() {
        console::say(console::document_text(&document).trim_end());
    }
    CommandAnswer::of_text(exit, "")
}

/// Reads a file that is to be imported.
fn load_foreign(path: &Path) -> Result<Arc<SourceFile>, Diagnostic> {
    let name = path.display().to_string();
    let bytes = file::read(path, LARGEST).map_err(|error| match error {
        FileError::TooLarge(size) => {
            let message = format!("{name} has {size} bytes; at most {LARGEST} are read");
            Diagnostic::error(LIMIT, message).help("no option raises this limit: import a part of the file")
        }
        FileError::Unreadable(error) => {
            Diagnostic::error("unreadable-file", format!("cannot read {name}: {error}"))
        }
    })?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(Arc::new(SourceFile { name, text })),
        Err(error) => {
            let valid_bytes = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            let line = 1 + valid_bytes.iter().filter(|byte| **byte == b'\n').count();
            let message = format!("{name} is not UTF-8 in line {line}");
            Err(Diagnostic::error("invalid-utf8", message).help("save the file with the encoding UTF-8"))
        }
    }
}
