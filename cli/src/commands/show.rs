//! `coreach show`: one model or one stage, to standard output.

use std::path::Path;
use std::sync::Arc;

use coreach_execution::preparation::run_alone;
use coreach_model::diagnostic::{Diagnostic, SourceFile, nearest};
use coreach_model::iosts::TestPurpose;
use coreach_model::reader::read_specification;
use coreach_pipeline::Stage;
use coreach_pipeline::export::code::Unsuited;
use coreach_pipeline::export::{ExportOptions, NotWritten, View, export};
use coreach_project::budget;
use coreach_project::file_kind::{FileKind, load_text_of};
use coreach_project::making::make;
use coreach_project::project::{Project, find_specification_of, load, read_purpose_project};

use super::{CommandAnswer, CommandResult, EarlyExit};
use crate::arguments::{Hide, ShowArguments, ShownStages};
use crate::console;
use crate::exit::Exit;
use crate::progress::with_progress;

/// Prints a model, or the result of one stage.
pub fn show(arguments: &ShowArguments) -> CommandResult {
    let path = &arguments.model;
    let takes = [FileKind::Specification, FileKind::Purpose, FileKind::Property, FileKind::Configuration];
    let (kind, file) = budget::reading(|| load_text_of(path, &takes))?;
    let (project, default_stage) = match kind {
        FileKind::Specification => return show_specification(arguments, file),
        FileKind::Configuration => (load(path), ShownStages::Stage(Stage::InputComplete)),
        // The other texts are purposes and properties.
        _ => (make_purpose_project(file, path), ShownStages::Purpose),
    };
    let (project, warnings) = project?;
    console::draw(&warnings);
    let Some(purpose) = find_purpose(arguments, &project) else {
        return Ok(CommandAnswer::of_text(Exit::Mistakes, ""));
    };
    match arguments.stage.unwrap_or(default_stage) {
        ShownStages::Specification => {
            show_view(arguments, &View::of_specification(&project.specification.iosts))
        }
        ShownStages::Purpose => show_view(arguments, &View::of_purpose(purpose)),
        ShownStages::Stage(stage) => show_stage(arguments, &project, purpose, stage),
    }
}

fn show_specification(arguments: &ShowArguments, file: Arc<SourceFile>) -> CommandResult {
    if !matches!(arguments.stage, None | Some(ShownStages::Specification)) {
        let message = format!("{} is a specification, and stages need a purpose", arguments.model.display());
        let help = "give a configuration or a purpose, or leave out --stage";
        return Err(Diagnostic::error("no-purpose", message).help(help).into());
    }
    let (specification, warnings) = budget::reading(|| read_specification(file))?;
    console::draw(&warnings);
    show_view(arguments, &View::of_specification(&specification.iosts))
}

fn make_purpose_project(file: Arc<SourceFile>, path: &Path) -> coreach_model::reader::Reading<Project> {
    let specification = find_specification_of(&file, path, &[])?;
    read_purpose_project(file, specification)
}

/// Finds the purpose that `--purpose` names, else the first. Tells the user which others there are, or that
/// none has this name.
fn find_purpose<'a>(arguments: &ShowArguments, project: &'a Project) -> Option<&'a TestPurpose> {
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
        let help = match nearest(wanted, names()) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("the purposes are {}", names().collect::<Vec<_>>().join(", ")),
        };
        let message = format!("no purpose is called `{wanted}`");
        console::draw(&[Diagnostic::error("unknown-purpose", message).help(help)]);
    }
    found
}

/// Makes the stages, and prints one. If the purpose cannot be reached, reports that next to the stage.
fn show_stage(
    arguments: &ShowArguments,
    project: &Project,
    purpose: &TestPurpose,
    stage: Stage,
) -> CommandResult {
    let (domain, has_check) = (project.options.analysis.domain, false);
    let made = with_progress(true, |says| run_alone(|| make(project, purpose, domain, has_check, says)));
    let made = match made.map_err(EarlyExit::no_thread)? {
        Ok(made) => made,
        Err(stop) => {
            console::draw(&[stop.to_diagnostic()]);
            return Ok(CommandAnswer::of_text(Exit::Stopped, ""));
        }
    };
    let answer = show_view(arguments, &View::of(&made.generation, stage));
    // The stages before selection are the same for a purpose that cannot be reached.
    let Some(unreachable) = made.unreachable.filter(|_| stage >= Stage::Select) else { return answer };
    let mut answer = answer.unwrap_or_else(|early| CommandAnswer::of_text(early.print(), ""));
    answer.worsen(&EarlyExit::Refused(vec![unreachable], Exit::Unreachable));
    Ok(answer)
}

fn show_view(arguments: &ShowArguments, view: &View<'_>) -> CommandResult {
    if arguments.facts && view.particulars.reach.is_none() {
        console::say("note: reach and coreach are known only for the test_graph and the test_case");
    }
    let options = ExportOptions { facts: arguments.facts, hide_fail: arguments.hide.contains(&Hide::Fail) };
    let text = budget::within("write", budget::time(None), |_| export(view, arguments.format, options));
    match text? {
        Ok(text) => Ok(CommandAnswer::of_text(Exit::Fine, text)),
        Err(NotWritten::Unsuited(Unsuited { form, why, instead })) => {
            let message = format!("the form `{form}` does not suit: {why}");
            Err(Diagnostic::error("form-does-not-suit", message).help(instead).into())
        }
        Err(error @ NotWritten::TooLarge(_)) => {
            Err(EarlyExit::Failed(format!("error: {error}"), Exit::Stopped))
        }
    }
}
