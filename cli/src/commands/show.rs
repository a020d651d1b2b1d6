//! `coreach show`: one model or one stage, to standard output.

use std::path::Path;
use std::sync::Arc;

use coreach_model::diagnostic::{Diagnostic, SourceFile, nearest};
use coreach_model::iosts::TestPurpose;
use coreach_model::reader::read_specification;
use coreach_pipeline::export::code::Unsuited;
use coreach_pipeline::export::{NotWritten, Options, View, export};
use coreach_pipeline::{Generation, Stage};
use coreach_project::file_kind::{FileKind, load_text_of};
use coreach_project::making::make;
use coreach_project::project::{Project, load, of_purpose, specification_of};
use coreach_project::{budget, jobs};

use super::run::no_thread;
use super::{EarlyExit, refuse};
use crate::arguments::{ShowArguments, ShownStages, hidden};
use crate::console;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::progress::ProgressLine;

/// Shows what was asked for.
pub fn show(arguments: &ShowArguments) -> Result<Exit, EarlyExit> {
    let path = &arguments.model;
    let takes = [FileKind::Specification, FileKind::Purpose, FileKind::Property, FileKind::Configuration];
    let kind = budget::reading(|| load_text_of(path, &takes));
    let (kind, file) = kind.map_err(|found| refuse(&found, OutputFormat::Human))?;
    let (project, default) = match kind {
        FileKind::Specification => return show_specification(arguments, file),
        FileKind::Configuration => (load(path), ShownStages::Stage(Stage::InputComplete)),
        // The other texts are purposes and properties.
        _ => (purpose_project(file, path), ShownStages::Purpose),
    };
    let (project, warnings) = project.map_err(|found| refuse(&found, OutputFormat::Human))?;
    console::draw(&warnings);
    let Some(purpose) = chosen(arguments, &project) else { return Ok(Exit::Mistakes) };
    match arguments.stage.unwrap_or(default) {
        ShownStages::Specification => {
            Ok(show_view(arguments, &View::of_specification(&project.specification.iosts)))
        }
        ShownStages::Purpose => Ok(show_view(arguments, &View::of_purpose(purpose))),
        ShownStages::Stage(stage) => show_stage(arguments, &project, purpose, stage),
    }
}

fn show_specification(arguments: &ShowArguments, file: Arc<SourceFile>) -> Result<Exit, EarlyExit> {
    if !matches!(arguments.stage, None | Some(ShownStages::Specification)) {
        let name = arguments.model.display();
        let diagnostic =
            Diagnostic::error("no-purpose", format!("{name} is a specification, and stages need a purpose"))
                .help("give a configuration or a purpose, or leave out --stage");
        return Err(refuse(&[diagnostic], OutputFormat::Human));
    }
    let read = budget::reading(|| read_specification(file));
    let (specification, warnings) = read.map_err(|found| refuse(&found, OutputFormat::Human))?;
    console::draw(&warnings);
    Ok(show_view(arguments, &View::of_specification(&specification.iosts)))
}

fn purpose_project(file: Arc<SourceFile>, path: &Path) -> coreach_model::reader::Reading<Project> {
    let specification = specification_of(&file, path, &[])?;
    of_purpose(file, specification)
}

fn chosen<'a>(arguments: &ShowArguments, project: &'a Project) -> Option<&'a TestPurpose> {
    let names = || project.purposes.iter().map(|purpose| purpose.iosts.name.as_str());
    let Some(wanted) = &arguments.purpose else {
        if project.purposes.len() > 1 && arguments.stage != Some(ShownStages::Specification) {
            let others: Vec<&str> = names().skip(1).collect();
            let first = names().next().unwrap_or_default();
            console::say(&format!("note: this is {first}; --purpose shows {}", others.join(", ")));
        }
        return project.purposes.first();
    };
    let found = project.purposes.iter().find(|purpose| purpose.iosts.name == *wanted);
    if found.is_none() {
        let mut diagnostic = Diagnostic::error("unknown-purpose", format!("no purpose is called `{wanted}`"));
        diagnostic = match nearest(wanted, names()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic.help(format!("the purposes are {}", names().collect::<Vec<_>>().join(", "))),
        };
        console::draw(&[diagnostic]);
    }
    found
}

fn show_stage(
    arguments: &ShowArguments,
    project: &Project,
    purpose: &TestPurpose,
    stage: Stage,
) -> Result<Exit, EarlyExit> {
    let progress = ProgressLine::start(1, true);
    let domain = project.options.analysis.domain;
    let work = |purpose: &&TestPurpose| make(project, purpose, domain, false, &|what| progress.says(what));
    let results = jobs::in_order(&[purpose], 1, work);
    drop(progress);
    match results.map_err(|error| no_thread(&error))?.pop() {
        Some(Ok(made)) => {
            let generation: &Generation = &made.generation;
            let exit = show_view(arguments, &View::of(generation, stage));
            // The stages before the decision are as they are, whatever comes of them.
            if stage >= Stage::Select && made.unreachable.is_some() {
                console::draw(made.unreachable.as_slice());
                return Ok(exit.and(Exit::Unreachable));
            }
            Ok(exit)
        }
        Some(Err(stop)) => {
            console::draw(&[stop.to_diagnostic()]);
            Ok(Exit::Stopped)
        }
        // One job has one result.
        None => Ok(Exit::Environment),
    }
}

fn show_view(arguments: &ShowArguments, view: &View<'_>) -> Exit {
    if arguments.facts && view.particulars.reach.is_none() {
        console::say("note: reach and coreach are known of the test_graph and the test_case only");
    }
    let options = Options { facts: arguments.facts, hidden: hidden(&arguments.hide) };
    let text = budget::within("write", budget::time(None), |_| export(view, arguments.format, options));
    match text {
        Err(stop) => refuse(&[stop.to_diagnostic()], OutputFormat::Human).0,
        Ok(Ok(text)) => {
            console::print(&text);
            Exit::Fine
        }
        Ok(Err(NotWritten::Unsuited(Unsuited { form, why, instead }))) => {
            let message = format!("the form `{form}` does not suit: {why}");
            refuse(&[Diagnostic::error("form-does-not-suit", message).help(instead)], OutputFormat::Human).0
        }
        Ok(Err(error @ NotWritten::TooLarge(_))) => {
            console::say(&format!("error: {error}"));
            Exit::Stopped
        }
    }
}
