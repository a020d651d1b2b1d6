//! `coreach coverage`: what runs have covered of their specification and their purposes.

use coreach_execution::interruption::stop_if_ending;
use coreach_model::Diagnostic;
use coreach_project::coverage::report::{Figure, Figures, ModelCoverage, SpecificationCoverage, Status};
use coreach_project::coverage::{
    CoverageKind, CoverageReport, Measure, NO_ACCESS, SortedFiles, measure, write_lcov,
};
use coreach_project::render;

use super::{CommandAnswer, CommandResult, EarlyExit, list_lines, plural, table};
use crate::console;
use crate::execution_arguments::CoverageArguments;
use crate::exit::Exit;
use crate::outputs::{OutputForm, request_output, resolve_each};
use crate::progress::with_progress;
use crate::write::write;

/// Reads the runs, and tells what they have covered.
pub fn coverage(arguments: &CoverageArguments) -> CommandResult {
    let given = SortedFiles::of(&arguments.files).map_err(end_refused)?;
    let [tracefile] = resolve_each([request_output("--lcov", arguments.lcov.as_deref(), OutputForm::Lcov)])?;
    let settings = Measure { domain: arguments.proofs.0, states: arguments.states.get() };
    let measured = with_progress(!arguments.quiet, |says| measure(&given, &settings, says));
    let (mut report, stops) = measured.map_err(end_refused)?;
    let required: Vec<_> = arguments.require.iter().flat_map(|required| required.0.clone()).collect();
    report.require(&required);
    stop_if_ending();
    console::draw(&stops);
    let mut exit = if report.unmet.is_empty() { Exit::Fine } else { Exit::Incomplete };
    if !stops.is_empty() {
        exit = exit.and(Exit::Stopped);
    }
    report.diagnostics = render::each(&stops);
    report.exit_code = exit.code();
    if let Some(output) = &tracefile {
        write(output, write_lcov(&report)).map_err(|error| EarlyExit::unwritten(output.path(), &error))?;
    }
    let quiet = arguments.quiet;
    let mut answer =
        CommandAnswer::new(exit, || &report, || if quiet { String::new() } else { report_text(&report) });
    add_doubts(&mut answer, &report, &settings, quiet);
    Ok(answer)
}

/// Ends the command with these findings. Runs that we may not read are no mistake of the user's.
fn end_refused(found: Vec<Diagnostic>) -> EarlyExit {
    match found.iter().any(|diagnostic| diagnostic.code == NO_ACCESS) {
        true => EarlyExit::Refused(found, Exit::Environment),
        false => found.into(),
    }
}

/// Remarks on what makes the figures less certain than they look, and on requirements that are not met.
fn add_doubts(answer: &mut CommandAnswer, report: &CoverageReport, settings: &Measure, quiet: bool) {
    let runs = &report.runs;
    let too_many = format!("left out: more than {} states are possible (`--states`)", settings.states);
    let left_out = [
        (runs.too_many_states, too_many.as_str()),
        (
            runs.unordered,
            "left out: they used several connections, so the order of their messages is not known",
        ),
        (runs.stopped, "left out: they need more than the budget"),
        (runs.walks, "of `test --cover` left out: `coverage` does not count them"),
    ];
    for (count, why) in left_out.into_iter().filter(|(count, _)| *count > 0) {
        answer.remark(format!("warning: {} {why}", plural(count, "run")));
    }
    if runs.cut > 0 && !quiet {
        let cut = plural(runs.cut, "run");
        answer.remark(format!(
            "note: coreach counted {cut} with a delayed link only up to an event that no order of messages explains"
        ));
    }
    for unmet in &report.unmet {
        let (name, kind) = (&unmet.specification, unmet.requirement.kind.name());
        let (covered, percent) = (unmet.covered, unmet.requirement.percent);
        answer
            .remark(format!("error: {name}: {covered}% of the {kind} are covered, {percent}% are required"));
    }
}

fn report_text(report: &CoverageReport) -> String {
    let repeated = match report.runs.repeated {
        0 => String::new(),
        repeated => format!(", {repeated} of them repeated"),
    };
    let mut text = format!("{}{repeated}\n", plural(report.runs.read, "run"));
    for specification in &report.specifications {
        text += &specification_text(specification, report.domain);
    }
    text
}

/// Tells the figures of a specification and of its purposes as a table, and lists the gaps.
fn specification_text(specification: &SpecificationCoverage, domain: Option<&str>) -> String {
    let own = &specification.own;
    let mut text = format!("\n{} ({})\n", own.name, own.file);
    let kinds = CoverageKind::ALL.map(|kind| kind.name().to_owned());
    let mut rows = vec![[&[String::new(), "runs".to_owned()], &kinds[..]].concat()];
    let mut add_row = |name: String, runs: u64, figures: &Figures| {
        let figures = CoverageKind::ALL.map(|kind| figure_text(figures.of(kind)));
        rows.push([&[name, runs.to_string()], &figures[..]].concat());
    };
    add_row("specification".to_owned(), own.runs, &own.figures);
    for purpose in &specification.purposes {
        add_row(format!("  by {}", purpose.own.name), purpose.own.runs, &purpose.of_specification);
    }
    for purpose in &specification.purposes {
        add_row(format!("purpose {}", purpose.own.name), purpose.own.runs, &purpose.own.figures);
    }
    text += &table(&rows, 1);
    let mut models = vec![own];
    models.extend(specification.purposes.iter().map(|purpose| &purpose.own));
    let proved = match domain {
        Some(domain) => format!("no run can show, by a proof in the domain {domain}"),
        None => String::new(),
    };
    for (status, title) in [
        (Status::Gap, "gaps"),
        (Status::Possible, "possible, but not certain"),
        (Status::Unreachable, proved.as_str()),
    ] {
        let lines = models.iter().flat_map(|model| lines_with_status(model, status));
        text += &list_lines(title, lines.map(|line| format!("  {line}\n")).collect());
    }
    text
}

/// `12/14 85.7%`
fn figure_text(figure: &Figure) -> String {
    format!("{}/{} {:.1}%", figure.covered, figure.asked(), figure.percent)
}

/// Lists what has this status, by its line. If a transition has the status, its parts are not listed again.
fn lines_with_status(model: &ModelCoverage, status: Status) -> Vec<String> {
    let place = |line: usize| format!("{}:{line}", model.file);
    let mut lines: Vec<(usize, String)> = Vec::new();
    for location in model.locations.iter().filter(|location| location.met.status == status) {
        lines.push((location.line, format!("{}: location {}", place(location.line), location.name)));
    }
    for transition in &model.transitions {
        let at = |what: String| {
            (transition.line, format!("{}: {}{what}", place(transition.line), transition.name))
        };
        if transition.met.status == status {
            lines.push(at(String::new()));
            continue;
        }
        for conjunct in &transition.conjuncts {
            for (met, outcome) in [(&conjunct.holds, "holds"), (&conjunct.fails, "alone fails")] {
                if met.status == status {
                    lines.push(at(format!(": `{}` {outcome}", conjunct.text)));
                }
            }
        }
        for parameter in &transition.parameters {
            let classes = parameter.classes.iter().filter(|class| class.met.status == status);
            let classes: Vec<&str> = classes.map(|class| class.class.as_str()).collect();
            if !classes.is_empty() {
                lines.push(at(format!(": {} is {}", parameter.name, classes.join(", "))));
            }
        }
    }
    lines.sort_by_key(|(line, _)| *line);
    lines.into_iter().map(|(_, line)| line).collect()
}
