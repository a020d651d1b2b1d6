//! `coreach timed path`: a test case that is guided by a path.

use std::fs;
use std::path::{Path, PathBuf};

use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::Diagnostic;
use coreach_model::limits::MANY_SHOWN;
use coreach_pipeline::export::sptg::{Guards, to_sptg};
use coreach_pipeline::export::{ExportOptions, Format, View, export};
use coreach_pipeline::timed::rules::{Rule, sum_counts};
use coreach_pipeline::timed::{PathGuided, PathStop, context_name};
use coreach_project::budget;
use coreach_project::guided::{PathRequest, make, make_document, read_request};

use super::super::{CommandAnswer, CommandResult, plural, table};
use crate::console;
use crate::exit::Exit;
use crate::outputs::{OutFile, OutputForm, ToWrite, resolve_outputs};
use crate::timed_arguments::{PathArguments, PathForm};
use crate::write::write;

/// The file names of the two documents of the authors' tool.
const SPTG: [(&str, Guards); 2] = [("testcase.json", Guards::Text), ("testcase_smt.json", Guards::SmtLib)];

/// Makes a test case that follows a path, and writes it.
pub fn path(arguments: &PathArguments) -> CommandResult {
    let (wanted, warnings) =
        budget::reading(|| read_request(&arguments.model, &arguments.path, arguments.tm.as_ref()))?;
    console::draw(&warnings);
    let files = list_files(arguments);
    let to_write = |(file, _): &(PathBuf, FileForm)| ToWrite::new("--out", file, OutputForm::Artifact);
    let outputs = resolve_outputs(&files.iter().map(to_write).collect::<Vec<_>>())?;
    let made = budget::within("path", budget::time(None), |_| {
        let made = make(&wanted, arguments.published, arguments.check, &mut Z3Solver::default())?;
        let texts: Vec<Result<String, String>> =
            files.iter().map(|(_, form)| test_case_text(&made, *form)).collect();
        Ok((made, texts))
    });
    let (made, texts) = made?.map_err(|stop: PathStop| stop.to_diagnostic())?;
    console::draw(&find_warnings(&wanted, &made));
    let (paths, failed) = write_texts(arguments.out.as_deref(), &outputs, texts);
    let exit = if failed.is_empty() { Exit::Fine } else { Exit::Environment };
    let document = || make_document(&wanted, &made, &paths, exit.code());
    let mut answer = CommandAnswer::new(exit, document, || summary_text(&wanted, &made, &paths));
    failed.iter().for_each(|message| answer.remark(format!("error: {message}")));
    Ok(answer)
}

#[derive(Clone, Copy)]
enum FileForm {
    Export(Format),
    Sptg(Guards),
}

/// Lists the files to write, each with its form.
fn list_files(arguments: &PathArguments) -> Vec<(PathBuf, FileForm)> {
    let Some(folder) = &arguments.out else { return Vec::new() };
    let mut files: Vec<(PathBuf, FileForm)> = Vec::new();
    for form in &arguments.formats {
        match form {
            PathForm::Export(format) => {
                let path = folder.join(format!("test_case.{}", format.extension()));
                files.push((path, FileForm::Export(*format)));
            }
            PathForm::Sptg => {
                files.extend(SPTG.map(|(name, guards)| (folder.join(name), FileForm::Sptg(guards))));
            }
        }
    }
    // A file is written once, even if its form was asked for twice.
    let mut seen = std::collections::BTreeSet::new();
    files.retain(|(file, _)| seen.insert(file.clone()));
    files
}

fn test_case_text(made: &PathGuided, form: FileForm) -> Result<String, String> {
    match form {
        FileForm::Sptg(guards) => Ok(to_sptg(made, guards)),
        FileForm::Export(format) => {
            export(&View::of_path(made), format, ExportOptions::default()).map_err(|error| error.to_string())
        }
    }
}

/// Writes the texts. Returns the files that were written, and messages on what failed.
fn write_texts(
    folder: Option<&Path>,
    files: &[OutFile],
    texts: Vec<Result<String, String>>,
) -> (Vec<PathBuf>, Vec<String>) {
    let (mut paths, mut failed) = (Vec::new(), Vec::new());
    let Some(folder) = folder else { return (paths, failed) };
    if let Err(error) = fs::create_dir_all(folder) {
        failed.push(format!("cannot make the folder {}: {error}", folder.display()));
        return (paths, failed);
    }
    for (file, text) in files.iter().zip(texts) {
        match text.and_then(|text| write(file, text).map_err(|error| error.to_string())) {
            Ok(()) => paths.push(file.path().to_owned()),
            Err(error) => failed.push(format!("cannot write {}: {error}", file.path().display())),
        }
    }
    (paths, failed)
}

/// Warns of the first step that cannot be seen, since no run gets past it, and of imprecisions.
fn find_warnings(wanted: &PathRequest, made: &PathGuided) -> Vec<Diagnostic> {
    let mut found = Vec::new();
    if let Some(place) = made.unseen.first() {
        let (number, name) = (place + 1, wanted.timed.called(wanted.path[*place]));
        let message = format!(
            "step {number} of the path, `{name}`, cannot be seen before silence is a fact: no run can pass"
        );
        found.push(
            Diagnostic::warning("silence-after", message).help("a greater `--tm` waits long enough for it"),
        );
    }
    let imprecisions = made.imprecisions.iter();
    found.extend(imprecisions.map(|text| Diagnostic::warning("path-imprecision", text.clone())));
    found
}

/// Tells how many transitions each rule has made for each context, and which files were written.
fn summary_text(wanted: &PathRequest, made: &PathGuided, files: &[PathBuf]) -> String {
    let mut text = format!(
        "{}: a path of {}, a test case of {}; silence after {}\n",
        made.iosts.name,
        plural(wanted.path.len(), "step"),
        plural(made.by_rules(), "transition"),
        made.timing.silence_after
    );
    let used: Vec<Rule> = Rule::ALL.into_iter().filter(|rule| made.made_by_rule(*rule) > 0).collect();
    let mut head = vec![String::new(), "step".to_owned()];
    head.extend(used.iter().map(ToString::to_string));
    let mut rows = vec![head];
    for (at, (counts, step)) in made.counts.iter().zip(&wanted.path).enumerate().take(MANY_SHOWN) {
        let cell = |rule| counts.made.get(rule).map_or("-".to_owned(), ToString::to_string);
        let mut row = vec![context_name(at), wanted.timed.called(*step)];
        row.extend(used.iter().map(cell));
        rows.push(row);
    }
    if made.counts.len() > MANY_SHOWN {
        rows.push(vec!["...".to_owned(), format!("{} more", made.counts.len() - MANY_SHOWN)]);
    }
    let mut sums = vec!["all".to_owned(), String::new()];
    sums.extend(used.iter().map(|rule| made.made_by_rule(*rule).to_string()));
    rows.push(sums);
    text += &table(&rows, 2);
    let late: usize = made.counts.iter().map(|counts| counts.late).sum();
    text += &format!("{} besides, for what is seen when silence is a fact\n", plural(late, "transition"));
    let idle = sum_counts(made.counts.iter().map(|counts| &counts.idle));
    if idle > 0 {
        text += &format!("{} that could never be taken left out\n", plural(idle, "transition"));
    }
    for file in files {
        text += &format!("wrote {}\n", file.display());
    }
    text
}
