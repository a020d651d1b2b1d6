//! `coreach cover`: purposes for all that a criterion asks for, and what no run can show.

use std::path::Path;
use std::sync::Arc;

use coreach_analyses::Analysis;
use coreach_analyses::symbolic::TreeLimits;
use coreach_execution::interruption::stop_if_ending;
use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::reader::{Specification, load as load_file, parts, read_specification};
use coreach_model::writer::write_yaml;
use coreach_pipeline::Conformance;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::stop::Stop;
use coreach_project::budget;
use coreach_project::configuration::{Judging, load_without_purpose};
use coreach_project::cover::machine::MachineSummary;
use coreach_project::cover::report::{
    CoverDocument, OBSERVED, ReportedCriterion, ReportedGoal, file_paths, make_document, suite_files,
};
use coreach_project::cover::{Cover, CoverSettings, cover as look, lock_cover};
use coreach_project::file_kind::{FileKind, load_text_of};
use coreach_project::project::{load_specification, read_runnable_specification};

use super::{CommandAnswer, CommandResult, EarlyExit, list_lines, plural, table};
use crate::answer::{draw_text, render_answer};
use crate::arguments::CoverArguments;
use crate::exit::Exit;
use crate::outputs::{OutputForm, ToWrite, resolve_outputs};
use crate::progress::with_progress;
use crate::write::write;
use crate::{certain_end, console};

struct CoverInput {
    specification: Specification,
    text: String,
    analysis: Analysis,
    conformance: Conformance,
    stages: Limits,
    /// What the suite's configuration says in addition to its purposes.
    configuration_lines: String,
    warnings: Vec<Diagnostic>,
}

/// Looks for purposes, writes them, and tells what they cover.
pub fn cover(arguments: &CoverArguments) -> CommandResult {
    let given = read_input(arguments)?;
    console::draw(&given.warnings);
    let limits = TreeLimits {
        depth: arguments.depth,
        nodes: arguments.nodes.get(),
        is_restricted: true,
        ..TreeLimits::default()
    };
    let settings = CoverSettings {
        criteria: arguments.criterion.clone(),
        limits,
        analysis: given.analysis.clone(),
        conformance: given.conformance,
        stages: given.stages.clone(),
        steps: arguments.events,
        observe: arguments.observe,
    };
    let begun = budget::within("cover", budget::time(None), |_| Cover::of(&given.specification, &settings));
    let shared_cover = Arc::new(begun??);
    let (quiet, so_far) = (arguments.quiet, shared_cover.clone());
    certain_end::tell_at_end(move |exit_code, _| {
        let report = make_document(limits, &lock_cover(&so_far), None, exit_code);
        render_answer(|| &report, || cover_text(&report, quiet))
    });
    let stop = with_progress(!quiet, |says| look(&given.specification, &settings, says, &shared_cover));
    let cover = lock_cover(&shared_cover).clone();
    if let Some(folder) = &arguments.out {
        let files = suite_files(&cover, &given.text, &given.configuration_lines);
        let paths = file_paths(folder, &files);
        let wanted: Vec<ToWrite> =
            paths.iter().map(|path| ToWrite::new("--out", path, OutputForm::Suite)).collect();
        let outputs = resolve_outputs(&wanted)?;
        let written = std::fs::create_dir_all(folder).and_then(|()| {
            outputs.iter().zip(&files).try_for_each(|(output, (_, text))| write(output, text))
        });
        written.map_err(|error| EarlyExit::hindered(format_args!("{}: {error}", folder.display())))?;
    }
    // After a signal, what was found until then has been written.
    stop_if_ending();
    let exit = match &stop {
        Some(_) => Exit::Stopped,
        None if cover.is_whole() => Exit::Fine,
        None => Exit::Incomplete,
    };
    let report = make_document(limits, &cover, stop.as_ref(), exit.code());
    draw_text(&stop.iter().map(Stop::to_diagnostic).collect::<Vec<_>>());
    Ok(CommandAnswer::new(exit, || &report, || cover_text(&report, quiet)))
}

/// Reads a specification, or that of a configuration with its constants and its domain.
fn read_input(arguments: &CoverArguments) -> Result<CoverInput, Vec<Diagnostic>> {
    let path = &arguments.model;
    let takes = [FileKind::Specification, FileKind::Configuration];
    let (kind, file) = budget::reading(|| load_text_of(path, &takes))?;
    if kind == FileKind::Configuration {
        return read_configuration(path);
    }
    let text = self_contained_text(path, &file)?;
    let (specification, warnings) = read_runnable_specification(file)?;
    Ok(CoverInput {
        specification,
        text,
        analysis: Analysis::default(),
        conformance: Conformance::default(),
        stages: Limits::default(),
        configuration_lines: String::new(),
        warnings,
    })
}

/// Reads the specification of a configuration, and the settings that the suite's configuration repeats.
fn read_configuration(path: &Path) -> Result<CoverInput, Vec<Diagnostic>> {
    let (project, warnings) = load_specification(path)?;
    if project.timing.is_some() {
        let message = format!("the specification of {} has clocks", path.display());
        let help = "`coreach cover` needs a model without clocks; `coreach timed inputs --cover` makes timed sequences for the same criteria";
        return Err(vec![Diagnostic::error("timed-model", message).help(help)]);
    }
    let (configuration, _) = budget::reading(|| load_without_purpose(path))?;
    let source = load_file(&configuration.specification.path).map_err(|found| vec![found])?;
    let mut configuration_lines = format!("analysis: {{ domain: {} }}\n", project.options.analysis.domain);
    if project.conformance != Conformance::default() {
        configuration_lines += &format!("conformance: {}\n", project.conformance.name());
    }
    if configuration.judging != Judging::default() {
        configuration_lines += &format!("judge: {}\n", configuration.judging.name());
    }
    if !configuration.instantiate.is_empty() {
        configuration_lines += "instantiate:\n";
        for fixed in &configuration.instantiate {
            configuration_lines += &format!("  {}: {:?}\n", fixed.name, fixed.text);
        }
    }
    Ok(CoverInput {
        specification: project.specification,
        text: self_contained_text(&configuration.specification.path, &source)?,
        analysis: project.options.analysis,
        conformance: project.conformance,
        stages: project.options.limits,
        configuration_lines,
        warnings,
    })
}

/// Returns the text of the specification for another folder. The parts of a composition are not in that
/// folder, so a composition is written as one model.
fn self_contained_text(path: &Path, file: &Arc<SourceFile>) -> Result<String, Vec<Diagnostic>> {
    if parts(path).is_empty() {
        return Ok(file.text.clone());
    }
    let (whole, _) = budget::reading(|| read_specification(Arc::clone(file)))?;
    Ok(write_yaml(&whole.iosts, &whole.types))
}

/// Tells the figures and, unless it is to be quiet, the purposes and the goals that are not covered.
fn cover_text(report: &CoverDocument, is_quiet: bool) -> String {
    let head = ["criterion", "goals", "covered", "unreachable", "unknown", "open"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for reported in &report.criteria {
        let ReportedCriterion { criterion, goals, covered, unreachable, unknown, open, .. } = reported;
        let figures = [goals, covered, unreachable, unknown, open].map(ToString::to_string);
        let mut row = vec![criterion.clone()];
        row.extend(figures);
        rows.push(row);
    }
    let mut text =
        format!("{}: {}\n\n{}", report.specification, plural(report.suite.len(), "purpose"), table(&rows, 1));
    if !report.suite.is_empty() {
        let ends = OBSERVED.map(|end| {
            let count = report.suite.iter().filter(|member| member.observes == end).count();
            format!("{end} {count}")
        });
        text += &format!("\npurposes end with: {}\n", ends.join(", "));
    }
    if let Some(machine) = &report.machine {
        text += &suites_text(machine);
    }
    for reported in report.criteria.iter().filter(|reported| reported.is_cut) {
        let why = match report.exit_code == Exit::Incomplete.code() {
            true => "not all paths fit the limits (`--nodes`, `--depth`)",
            false => "not all goals are known",
        };
        text += &format!("\n{}: {why}\n", reported.criterion);
    }
    if is_quiet {
        return text;
    }
    if !report.suite.is_empty() {
        text += "\n";
        for member in &report.suite {
            let (goals, trace) = (plural(member.goals.len(), "goal"), member.trace.join(", "));
            text += &format!("{}  {goals}: {trace}\n", member.purpose);
        }
    }
    let titles = [
        ("covered", "a run can meet, but not every run does"),
        ("unreachable", "no run can meet"),
        ("unknown", "unknown"),
        ("open", "open"),
    ];
    for (status, title) in titles {
        let goals = report.goals.iter().filter(|goal| goal.status == status);
        // Goals without a reason need no explanation: every run meets them.
        let line = |goal: &ReportedGoal| Some(format!("  {}\n    {}\n", goal.goal, goal.why.as_ref()?));
        text += &list_lines(title, goals.filter_map(line).collect());
    }
    text
}

/// Lists the suites of a finite machine, and what the suites that were asked for promise.
fn suites_text(machine: &MachineSummary) -> String {
    let mut rows = vec![["suite", "tests", "inputs"].map(str::to_owned).to_vec()];
    let cell = |figure: Option<usize>| figure.map_or_else(|| "-".to_owned(), |figure| figure.to_string());
    for suite in &machine.suites {
        rows.push(vec![suite.criterion.clone(), cell(suite.tests), cell(suite.inputs)]);
    }
    let (states, inputs) = (plural(machine.states, "state"), plural(machine.inputs.len(), "input"));
    let mut text = format!("\na finite machine of {states} and {inputs}\n{}", table(&rows, 1));
    for suite in &machine.suites {
        for sentence in suite.guarantee.iter().chain(&suite.why) {
            text += &format!("{}: {sentence}\n", suite.criterion);
        }
    }
    text
}
