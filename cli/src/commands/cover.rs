//! `coreach cover`: purposes for all that a criterion asks for, and what no run can show.

use std::path::Path;
use std::sync::Arc;

use coreach_analyses::Options as Analysis;
use coreach_analyses::symbolic::TreeLimits;
use coreach_execution::interruption::stop_if_ending;
use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::reader::{Specification, load as load_file, parts, read_specification};
use coreach_model::writer::write_yaml;
use coreach_pipeline::Conformance;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::stop::Stop;
use coreach_project::budget;
use coreach_project::configuration::load_without_purpose;
use coreach_project::cover::machine::{MachineSummary, SuiteSummary};
use coreach_project::cover::report::{
    CoverDocument, OBSERVED, ReportedCriterion, ReportedGoal, file_paths, make_document, suite_files,
};
use coreach_project::cover::{Cover, Settings, cover as look, lock_cover};
use coreach_project::file_kind::{FileKind, load_text_of};
use coreach_project::project::{load_specification, of_specification};

use super::{CommandAnswer, CommandResult, EarlyExit, plural, table, told_lines};
use crate::answer::{draw_text, render_answer};
use crate::arguments::CoverArguments;
use crate::exit::Exit;
use crate::outputs::{OutputForm, ToWrite, outputs};
use crate::progress::ProgressLine;
use crate::write::write;
use crate::{certain_end, console};

struct Given {
    specification: Specification,
    text: String,
    analysis: Analysis,
    conformance: Conformance,
    stages: Limits,
    /// Lines for the suite's configuration.
    rest: String,
    warnings: Vec<Diagnostic>,
}

/// Looks for purposes, writes them, tells.
pub fn cover(arguments: &CoverArguments) -> CommandResult {
    let given = given(arguments)?;
    console::draw(&given.warnings);
    let limits = TreeLimits {
        depth: arguments.depth,
        nodes: arguments.nodes.get(),
        is_restricted: true,
        ..TreeLimits::default()
    };
    let settings = Settings {
        criteria: arguments.criterion.clone(),
        limits,
        analysis: given.analysis.clone(),
        conformance: given.conformance,
        stages: given.stages.clone(),
        steps: arguments.events,
        observe: arguments.observe,
    };
    let begun = budget::within("cover", budget::time(None), |_| Cover::of(&given.specification, &settings));
    let kept = Arc::new(begun??);
    let (quiet, so_far) = (arguments.quiet, kept.clone());
    certain_end::tell_at_end(move |exit_code, _| {
        let told = make_document(limits, &lock_cover(&so_far), None, exit_code);
        render_answer(|| &told, || text(&told, quiet))
    });
    let progress = ProgressLine::start(1, !arguments.quiet);
    let stop = look(&given.specification, &settings, &|what| progress.says(what), &kept);
    drop(progress);
    let found = lock_cover(&kept).clone();
    if let Some(folder) = &arguments.out {
        let files = suite_files(&found, &given.text, &given.rest);
        let paths = file_paths(folder, &files);
        let wanted: Vec<ToWrite> =
            paths.iter().map(|path| ToWrite::new("--out", path, OutputForm::Suite)).collect();
        let outputs = outputs(&wanted)?;
        let written = std::fs::create_dir_all(folder).and_then(|()| {
            outputs.iter().zip(&files).try_for_each(|(output, (_, text))| write(output, text))
        });
        written.map_err(|error| EarlyExit::hindered(format_args!("{}: {error}", folder.display())))?;
    }
    stop_if_ending();
    let exit = match &stop {
        Some(_) => Exit::Stopped,
        None if found.is_whole() => Exit::Fine,
        None => Exit::Incomplete,
    };
    let told = make_document(limits, &found, stop.as_ref(), exit.code());
    draw_text(&stop.iter().map(Stop::to_diagnostic).collect::<Vec<_>>());
    Ok(CommandAnswer::new(exit, || &told, || text(&told, quiet)))
}

/// A specification, or a configuration's, with its constants and its domain.
fn given(arguments: &CoverArguments) -> Result<Given, Vec<Diagnostic>> {
    let path = &arguments.model;
    let takes = [FileKind::Specification, FileKind::Configuration];
    let (kind, file) = budget::reading(|| load_text_of(path, &takes))?;
    match kind {
        FileKind::Configuration => {
            let (project, warnings) = load_specification(path)?;
            if project.timing.is_some() {
                let message = format!("the specification of {} has clocks", path.display());
                let help = "purposes from coverage are of models without time; `coreach timed inputs --cover` makes timed sequences of the same criteria";
                return Err(vec![Diagnostic::error("timed-model", message).help(help)]);
            }
            let (configuration, _) = budget::reading(|| load_without_purpose(path))?;
            let source = load_file(&configuration.specification.path).map_err(|found| vec![found])?;
            let domain = project.options.analysis.domain;
            let mut rest = format!("analysis: {{ domain: {domain} }}\n");
            if project.conformance != Conformance::default() {
                rest += &format!("conformance: {}\n", project.conformance.name());
            }
            if !configuration.instantiate.is_empty() {
                rest += "instantiate:\n";
                for fixed in &configuration.instantiate {
                    rest += &format!("  {}: {:?}\n", fixed.name, fixed.text);
                }
            }
            Ok(Given {
                specification: project.specification,
                text: standing_alone(&configuration.specification.path, &source)?,
                analysis: project.options.analysis,
                conformance: project.conformance,
                stages: project.options.limits,
                rest,
                warnings,
            })
        }
        _ => {
            let text = standing_alone(path, &file)?;
            let (specification, warnings) = of_specification(file)?;
            Ok(Given {
                specification,
                text,
                analysis: Analysis::default(),
                conformance: Conformance::default(),
                stages: Limits::default(),
                rest: String::new(),
                warnings,
            })
        }
    }
}

/// The specification as it was written, for another folder; a composition as the whole, whose parts are not
/// there.
fn standing_alone(path: &Path, file: &Arc<SourceFile>) -> Result<String, Vec<Diagnostic>> {
    if parts(path).is_empty() {
        return Ok(file.text.clone());
    }
    let (whole, _) = budget::reading(|| read_specification(Arc::clone(file)))?;
    Ok(write_yaml(&whole.iosts, &whole.types))
}

fn text(told: &CoverDocument, is_quiet: bool) -> String {
    let head =
        ["criterion", "goals", "covered", "unreachable", "unknown", "open"].map(str::to_owned).to_vec();
    let row = |one: &ReportedCriterion| {
        let figures = [one.goals, one.covered, one.unreachable, one.unknown, one.open];
        std::iter::once(one.criterion.clone()).chain(figures.map(|figure| figure.to_string())).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(told.criteria.iter().map(row)).collect();
    let mut text =
        format!("{}: {}\n\n{}", told.specification, plural(told.suite.len(), "purpose"), table(&rows, 1));
    let ends = OBSERVED.map(|end| {
        let count = told.suite.iter().filter(|member| member.observes == end).count();
        format!("{end} {count}")
    });
    if !told.suite.is_empty() {
        text += &format!("\npurposes end with: {}\n", ends.join(", "));
    }
    if let Some(machine) = &told.machine {
        text += &suites(machine);
    }
    for one in told.criteria.iter().filter(|one| one.is_cut) {
        let why = match told.exit_code == Exit::Incomplete.code() {
            true => "not all paths fit the limits (`--nodes`, `--depth`)",
            false => "not all goals are known",
        };
        text += &format!("\n{}: {why}\n", one.criterion);
    }
    if is_quiet {
        return text;
    }
    if !told.suite.is_empty() {
        text += "\n";
        for member in &told.suite {
            let (goals, trace) = (plural(member.goals.len(), "goal"), member.trace.join(", "));
            text += &format!("{}  {goals}: {trace}\n", member.purpose);
        }
    }
    let lists = [
        ("covered", "a run may meet, and need not"),
        ("unreachable", "no run can meet"),
        ("unknown", "unknown"),
        ("open", "open"),
    ];
    for (status, title) in lists {
        let goals = told.goals.iter().filter(|goal| goal.status == status);
        let line = |goal: &ReportedGoal| Some(format!("  {}\n    {}\n", goal.goal, goal.why.as_ref()?));
        text += &told_lines(title, goals.filter_map(line).collect());
    }
    text
}

/// The suites of a finite machine beside each other, and what those that were asked for promise.
fn suites(machine: &MachineSummary) -> String {
    let head = ["suite", "tests", "inputs"].map(str::to_owned).to_vec();
    let figure = |figure: Option<usize>| figure.map_or_else(|| "-".to_owned(), |figure| figure.to_string());
    let row = |one: &SuiteSummary| vec![one.criterion.clone(), figure(one.tests), figure(one.inputs)];
    let rows: Vec<Vec<String>> = std::iter::once(head).chain(machine.suites.iter().map(row)).collect();
    let (states, inputs) = (plural(machine.states, "state"), plural(machine.inputs.len(), "input"));
    let mut text = format!("\na finite machine of {states} and {inputs}\n{}", table(&rows, 1));
    for one in &machine.suites {
        for said in one.guarantee.iter().chain(&one.why) {
            text += &format!("{}: {said}\n", one.criterion);
        }
    }
    text
}
