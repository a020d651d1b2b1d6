//! `coreach run`: the test cases of a configuration.

mod online;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use coreach_analyses::DomainKind;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::planner::Example;
use coreach_execution::planner::prospect::WinningProspect;
use coreach_model::iosts::TestPurpose;
use coreach_model::limits::{FEW_SHOWN, MANY_SHOWN};
use coreach_model::{Datum, Diagnostic, Value as ModelValue};
use coreach_pipeline::artifact::SelectionCounts;
use coreach_pipeline::export::{ExportOptions, Format, NotWritten, ONLINE, View, export};
use coreach_pipeline::stop::Stop;
use coreach_pipeline::{Stage, Unsettled};
use coreach_project::configuration::Judging;
use coreach_project::making::{MadeTest, Measured, Says, look_ahead, make, search_run};
use coreach_project::project::{Project, load};
use coreach_project::written::read_back;
use coreach_project::{budget, render};
use serde::Serialize;
use serde_json::Value;

use super::{CommandAnswer, CommandResult, plural, table};
use crate::answer::{draw_text, is_json, print_text, render_answer};
use crate::arguments::RunArguments;
use crate::console;
use crate::exit::Exit;
use crate::outputs::{OutFile, OutputForm, ToWrite, resolve_outputs};
use crate::pieces::{do_pieces, to_reason};
use crate::progress::ProgressLine;
use crate::write::write;

/// Makes the test cases of a configuration, writes them, and tells what was made.
pub fn run(arguments: &RunArguments) -> CommandResult {
    let (mut project, warnings) = load(&arguments.configuration)?;
    if let Some(out) = &arguments.out {
        project.directory = out.to_path_buf();
    }
    if let Some(stages) = &arguments.stages {
        project.stages.clone_from(stages);
    }
    let outputs = resolve_outputs(&list_outputs(&project))?;
    let domain = arguments.domain.unwrap_or(project.options.analysis.domain);
    draw_text(&warnings);
    let all = CaseMaking { arguments, project: &project, outputs: &outputs, warnings: &warnings, domain };
    if project.judging == Judging::Online {
        return online::run(&all);
    }
    let work = |purpose: &TestPurpose, says: Says<'_>| {
        let mut made = make(&project, purpose, domain, arguments.check, says)?;
        says(format!("{}: writing", purpose.iosts.name));
        let time = budget::time(project.time);
        let views: Vec<View<'_>> =
            project.stages.iter().map(|&stage| View::of(&made.generation, stage)).collect();
        let written = budget::within("write", time, |_| {
            write_views(&project, &outputs, &purpose.iosts.name, &views, arguments.options())
        })?;
        let example = search_run(&mut made, purpose, domain, time);
        says(format!("{}: what can be won", purpose.iosts.name));
        let view = View::of(&made.generation, Stage::InputComplete);
        let prospect = look_ahead(&view, made.unreachable.as_ref(), example.as_ref(), time);
        Ok((made, Outlook { example, prospect }, written))
    };
    let has_check = arguments.check;
    all.make_for_each(None, work, |name, (made, outlook, written)| {
        tell_made(has_check, name, domain, &made, &outlook, written)
    })
}

/// What a run of a test case can reach, as far as that was found.
struct Outlook {
    example: Option<Example>,
    prospect: Option<WinningProspect>,
}

struct CaseMaking<'a> {
    arguments: &'a RunArguments,
    project: &'a Project,
    outputs: &'a [OutFile],
    warnings: &'a [Diagnostic],
    domain: DomainKind,
}

impl CaseMaking<'_> {
    /// Does the work for each purpose. `tell` makes an answer of what `work` has made. The document names
    /// `judge`, unless test cases judge.
    fn make_for_each<M, D: Clone + Send + Serialize + 'static>(
        &self,
        judge: Option<&'static str>,
        work: impl Fn(&TestPurpose, Says<'_>) -> Result<M, Stop> + Sync,
        tell: impl Fn(&str, M) -> PurposeAnswer<D> + Sync,
    ) -> CommandResult {
        let CaseMaking { arguments, project, warnings, domain, .. } = *self;
        let heading = RunHeading {
            specification: project.specification.iosts.name.clone(),
            judge,
            warnings: render::to_json(warnings),
            purposes: project.purposes.iter().map(|purpose| purpose.iosts.name.clone()).collect(),
            domain: domain.name(),
        };
        let progress = ProgressLine::start(project.purposes.len(), !arguments.quiet);
        let work = |purpose: &TestPurpose| {
            let name = &purpose.iosts.name;
            let answer = match work(purpose, &|what| progress.says(what)) {
                Ok(made) => tell(name, made),
                Err(stop) => tell_stopped(name, domain, &stop),
            };
            progress.one_done();
            answer
        };
        let (early, quiet) = (heading.clone(), arguments.quiet);
        let partial = move |answers: &[Option<PurposeAnswer<D>>], code, why: &Diagnostic| {
            render_answer(|| early.document(answers, code, Some(why)), || early.text(answers, quiet))
        };
        let answers = do_pieces(&project.purposes, arguments.threads, work, partial)?;
        drop(progress);
        let mut exit = Exit::Fine;
        for answer in &answers {
            exit = exit.and(answer.exit);
            if !arguments.quiet {
                print_text(&answer.text);
                answer.notes.iter().filter(|_| !is_json()).for_each(|note| console::say(note));
            }
            draw_text(&answer.found);
            answer.problems.iter().for_each(|problem| console::say(problem));
        }
        let answers: Vec<_> = answers.into_iter().map(Some).collect();
        Ok(CommandAnswer::new(exit, || heading.document(&answers, exit.code(), None), String::new))
    }
}

/// The head of the answer, which is known before anything is made.
#[derive(Clone)]
struct RunHeading {
    specification: String,
    judge: Option<&'static str>,
    warnings: Value,
    purposes: Vec<String>,
    domain: &'static str,
}

impl RunHeading {
    /// Says for each purpose what was made of it before the early end.
    fn text<D>(&self, answers: &[Option<PurposeAnswer<D>>], quiet: bool) -> String {
        if quiet {
            return String::new();
        }
        let text = |(answer, name): (&Option<PurposeAnswer<D>>, &String)| match answer {
            Some(answer) => answer.text.clone(),
            None => format!("{name} ({}): stopped\n", self.domain),
        };
        answers.iter().zip(&self.purposes).map(text).collect()
    }

    /// Makes the document. Purposes that are not finished were stopped by `why`.
    fn document<D: Clone>(
        &self,
        answers: &[Option<PurposeAnswer<D>>],
        exit_code: u8,
        why: Option<&Diagnostic>,
    ) -> RunDocument<'_, D> {
        let report = |(answer, name): (&Option<PurposeAnswer<D>>, &String)| match answer {
            Some(answer) => answer.report.clone(),
            None => PurposeReport::stopped(name, self.domain, why.and_then(to_reason)),
        };
        RunDocument {
            format_version: 2,
            exit_code,
            specification: &self.specification,
            judge: self.judge,
            diagnostics: &self.warnings,
            purposes: answers.iter().zip(&self.purposes).map(report).collect(),
        }
    }
}

/// What the command says of a purpose.
#[derive(Clone)]
struct PurposeAnswer<D> {
    text: String,
    /// Notes on the text.
    notes: Vec<String>,
    found: Vec<Diagnostic>,
    /// Why files are not written.
    problems: Vec<String>,
    report: PurposeReport<D>,
    exit: Exit,
}

#[derive(Serialize)]
struct RunDocument<'a, D> {
    format_version: u32,
    exit_code: u8,
    specification: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    judge: Option<&'static str>,
    diagnostics: &'a Value,
    purposes: Vec<PurposeReport<D>>,
}

#[derive(Clone, Serialize)]
struct PurposeReport<D> {
    purpose: String,
    domain: &'static str,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    details: Option<D>,
}

impl<D> PurposeReport<D> {
    fn made(purpose: &str, domain: DomainKind, unreachable: Option<&Diagnostic>, details: D) -> Self {
        PurposeReport {
            purpose: purpose.to_owned(),
            domain: domain.name(),
            result: if unreachable.is_some() { "unreachable" } else { "made" },
            reason: unreachable.and_then(to_reason),
            details: Some(details),
        }
    }

    fn stopped(purpose: &str, domain: &'static str, reason: Option<Value>) -> Self {
        PurposeReport { purpose: purpose.to_owned(), domain, result: "stopped", reason, details: None }
    }
}

#[derive(Clone, Serialize)]
struct ExampleJson {
    constants: BTreeMap<String, String>,
    events: Vec<String>,
}

/// Describes how the tester can win: the level of winning, and how certain it is.
#[derive(Clone, Serialize)]
struct WinningJson {
    level: &'static str,
    /// A level that is surely not exceeded.
    at_best: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    within_events: Option<usize>,
    positions: usize,
    constants: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    spoiler: Option<SpoilerJson>,
}

/// An answer after which less can be won; an `answer` of `None` is silence.
#[derive(Clone, Serialize)]
struct SpoilerJson {
    after: Vec<String>,
    answer: Option<String>,
    leaves: &'static str,
}

impl WinningJson {
    fn of(found: &WinningProspect) -> Self {
        let spoiler = found.spoiler.as_ref().map(|spoiler| SpoilerJson {
            after: spoiler.after.iter().map(ToString::to_string).collect(),
            answer: spoiler.answer.as_ref().map(ToString::to_string),
            leaves: spoiler.leaves.name(),
        });
        WinningJson {
            level: found.level_name(),
            at_best: found.at_best.name(),
            within_events: found.within,
            positions: found.positions,
            constants: constants_by_name(&found.constants),
            spoiler,
        }
    }
}

fn constants_by_name(constants: &[(Datum, ModelValue)]) -> BTreeMap<String, String> {
    constants.iter().map(|(datum, value)| (datum.to_string(), value.to_string())).collect()
}

#[derive(Clone, Serialize)]
struct RunDetails {
    stages: Vec<Measured>,
    #[serde(skip_serializing_if = "Option::is_none")]
    lookahead: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    example: Option<ExampleJson>,
    #[serde(skip_serializing_if = "Option::is_none")]
    winning: Option<WinningJson>,
    selection: SelectionCounts,
    imprecisions: Vec<String>,
    queries: u64,
    remembered: u64,
    unknown: u64,
    timed_out: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unsettled: Vec<Unsettled>,
    files: Vec<String>,
    problems: Vec<String>,
    pictures: Pictures,
    seconds: f64,
}

#[derive(Clone, Serialize)]
struct Pictures {
    seconds: f64,
}

#[derive(Default)]
struct WrittenFiles {
    files: Vec<PathBuf>,
    /// Files that are left out without harm: pictures that are too large, programs with nothing to run.
    left_out: Vec<String>,
    drawing: Duration,
    /// Files that are not written because nobody could read them.
    unreadable: Vec<String>,
    failed: Vec<String>,
}

impl WrittenFiles {
    /// Says which files are not written, and why.
    fn problems(&self) -> Vec<String> {
        let left_out = self.left_out.iter().map(|message| format!("warning: {message}"));
        let errors = self.unreadable.iter().chain(&self.failed).map(|message| format!("error: {message}"));
        left_out.chain(errors).collect()
    }
}

/// Returns the exit code for a purpose: 0 if it can be reached, and all its files are written.
fn exit_of_purpose(unreachable: Option<&Diagnostic>, written: &WrittenFiles) -> Exit {
    let mut exit = if unreachable.is_some() { Exit::Unreachable } else { Exit::Fine };
    if !written.unreadable.is_empty() {
        exit = exit.and(Exit::Stopped);
    }
    if !written.failed.is_empty() {
        exit = exit.and(Exit::Environment);
    }
    exit
}

/// Says whether an artifact has no file in this format: programs are made of test cases only.
fn is_left_out(format: Format, what: &str) -> bool {
    format.is_program() && what != Stage::InputComplete.artifact() && what != ONLINE
}

/// Returns the name of a file. A Python test has the name of its purpose, since pytest takes two files of one
/// name for the same.
fn file_name(what: &str, format: Format, purpose: &str) -> String {
    match format {
        Format::Python => format!("test_{purpose}.py"),
        _ => format!("{what}.{}", format.extension()),
    }
}

/// Lists the files that `write_views` may write.
fn list_outputs(project: &Project) -> Vec<ToWrite> {
    let names: Vec<&str> = match project.judging {
        Judging::TestCase => project.stages.iter().map(|stage| stage.artifact()).collect(),
        Judging::Online => vec![ONLINE],
    };
    let mut files = Vec::new();
    for purpose in &project.purposes {
        let folder = project.directory.join(&purpose.iosts.name);
        for name in &names {
            for format in &project.formats {
                if is_left_out(*format, name) {
                    continue;
                }
                let path = folder.join(file_name(name, *format, &purpose.iosts.name));
                files.push(ToWrite::new("an artifact", path, OutputForm::Artifact));
            }
        }
    }
    files
}

/// Writes what the configuration asks for: `directory/purpose/stage.format`.
fn write_views(
    project: &Project,
    outputs: &[OutFile],
    purpose: &str,
    views: &[View<'_>],
    options: ExportOptions,
) -> WrittenFiles {
    let mut written = WrittenFiles::default();
    let folder = project.directory.join(purpose);
    if !views.is_empty()
        && !project.formats.is_empty()
        && let Err(error) = fs::create_dir_all(&folder)
    {
        written.failed.push(format!("cannot make the folder {}: {error}", folder.display()));
        return written;
    }
    let mut solver = Z3Solver::default();
    for view in views {
        for &format in &project.formats {
            if is_left_out(format, view.what) {
                continue;
            }
            let path = folder.join(file_name(view.what, format, purpose));
            let begun = Instant::now();
            let text = export(view, format, options);
            if matches!(format, Format::Svg | Format::Dot) {
                written.drawing += begun.elapsed();
            }
            let shown = path.display();
            match text {
                Ok(text) => match read_back(view, format, &text, &project.specification, &mut solver) {
                    Ok(()) => write_artifact(outputs, &path, &text, &mut written),
                    Err(limit) => written.unreadable.push(format!(
                        "{shown} is not written, because coreach could not read it again: {limit}; leave it out with `output: stages` or `formats`"
                    )),
                },
                Err(NotWritten::TooLarge(error)) => {
                    written.left_out.push(format!("{shown} is not drawn: {error}"));
                }
                Err(NotWritten::Unsuited(error)) => {
                    let has_nothing_to_run = view.found.reachable == Some(false);
                    let reasons =
                        if has_nothing_to_run { &mut written.left_out } else { &mut written.unreadable };
                    reasons.push(format!("{shown} is not written: {error}"));
                }
            }
        }
    }
    written
}

fn write_artifact(outputs: &[OutFile], path: &Path, text: &str, written: &mut WrittenFiles) {
    // `list_outputs` has named all files that are written.
    let Some(output) = outputs.iter().find(|output| output.path() == path) else { return };
    match write(output, text) {
        Ok(()) => written.files.push(path.to_owned()),
        Err(error) => written.failed.push(format!("cannot write {}: {error}", path.display())),
    }
}

/// Says what was made of a purpose, as a text and as a report.
fn tell_made(
    has_check: bool,
    name: &str,
    domain: DomainKind,
    made: &MadeTest,
    outlook: &Outlook,
    written: WrittenFiles,
) -> PurposeAnswer<RunDetails> {
    let exit = exit_of_purpose(made.unreachable.as_ref(), &written);
    let text = summary_text(name, domain, made, outlook, &written);
    let mut notes = imprecision_notes(&made.generation.test_graph.imprecisions);
    notes.extend(solver_notes(made));
    if has_check {
        notes.extend(made.generation.unsettled.iter().map(unsettled_note));
    }
    let problems = written.problems();
    let graph = &made.generation.test_graph;
    let statistics = made.statistics;
    let details = RunDetails {
        stages: made.stages.clone(),
        lookahead: made.generation.visible.lookahead,
        example: match &outlook.example {
            Some(Example::Run(constants, events)) => Some(ExampleJson {
                constants: constants_by_name(constants),
                events: events.iter().map(ToString::to_string).collect(),
            }),
            Some(Example::None | Example::NotFound(_)) | None => None,
        },
        winning: outlook.prospect.as_ref().map(WinningJson::of),
        selection: graph.selection,
        imprecisions: graph.imprecisions.clone(),
        queries: statistics.queries,
        remembered: statistics.remembered,
        unknown: statistics.unknown,
        timed_out: statistics.timed_out,
        unsettled: if has_check { made.generation.unsettled.clone() } else { Vec::new() },
        files: written.files.iter().map(|path| path.display().to_string()).collect(),
        pictures: Pictures { seconds: written.drawing.as_secs_f64() },
        problems: [written.left_out, written.unreadable, written.failed].concat(),
        seconds: made.seconds,
    };
    let report = PurposeReport::made(name, domain, made.unreachable.as_ref(), details);
    let found = made.unreachable.iter().cloned().collect();
    PurposeAnswer { text, notes, found, problems, report, exit }
}

/// Says that the work on a purpose was stopped, and whether some of its files may be written.
fn tell_stopped<D>(name: &str, domain: DomainKind, stop: &Stop) -> PurposeAnswer<D> {
    let diagnostic = stop.to_diagnostic();
    let is_begun = matches!(stop, Stop::Budget(passed) if passed.stage == "write");
    let state = if is_begun { "not everything is written" } else { "nothing is written" };
    PurposeAnswer {
        text: format!("{name} ({domain}): stopped, {state}\n"),
        notes: Vec::new(),
        report: PurposeReport::stopped(name, domain.name(), to_reason(&diagnostic)),
        found: vec![diagnostic],
        problems: Vec::new(),
        exit: Exit::Stopped,
    }
}

/// Tells the size of each stage, the example, the prospect, and the files.
fn summary_text(
    name: &str,
    domain: DomainKind,
    made: &MadeTest,
    outlook: &Outlook,
    written: &WrittenFiles,
) -> String {
    let head = ["  stage", "locations", "transitions", "inconclusive", "fail", "seconds"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    for stage in &made.stages {
        let cell = |count: usize| if count == 0 { "-".to_owned() } else { count.to_string() };
        rows.push(vec![
            format!("  {}", stage.stage),
            stage.locations.to_string(),
            stage.transitions.to_string(),
            cell(stage.inconclusive),
            cell(stage.fail),
            format!("{:.3}", stage.seconds),
        ]);
    }
    let result = if made.unreachable.is_some() { ": UNREACHABLE" } else { "" };
    let mut text = format!("{name} ({domain}){result}\n");
    // The table of the stages says nothing about a goal that cannot be reached.
    if made.unreachable.is_none() || console::is_verbose() {
        text += &table(&rows, 1);
    }
    if console::is_verbose() {
        let (statistics, selection) = (made.statistics, made.generation.test_graph.selection);
        text += &format!(
            "  selection: {} pruned, {} strengthened, {} into Inconclusive, in {}\n",
            selection.pruned,
            selection.strengthened,
            selection.inconclusive,
            plural(selection.rounds, "round")
        );
        text += &format!(
            "  solver: {} queries, {} of them from memory, {} unknown\n",
            statistics.queries, statistics.remembered, statistics.unknown
        );
        if !written.drawing.is_zero() {
            text += &format!("  seconds for the pictures: {:.3}\n", written.drawing.as_secs_f64());
        }
    }
    text += &outlook.example.as_ref().map(example_line).unwrap_or_default();
    text += &outlook.prospect.as_ref().map(prospect_line).unwrap_or_default();
    text + &written_lines(&written.files)
}

/// `what can be won: forced, within 3 events`
fn prospect_line(prospect: &WinningProspect) -> String {
    format!("  what can be won: {prospect}\n")
}

/// `a shortest run to Pass: c = 1; A(1), B()`
fn example_line(example: &Example) -> String {
    let run = match example {
        Example::None => "none (all paths were searched)".to_owned(),
        Example::NotFound(bound) => format!("not found (the search ended after {bound})"),
        Example::Run(constants, events) => {
            let values: Vec<String> =
                constants.iter().map(|(datum, value)| format!("{datum} = {value}")).collect();
            let values = if values.is_empty() { String::new() } else { format!("{}; ", values.join(", ")) };
            let shown: Vec<String> = events.iter().take(MANY_SHOWN).map(ToString::to_string).collect();
            let more = events.len().saturating_sub(MANY_SHOWN);
            let more = if more == 0 { String::new() } else { format!(", and {more} more") };
            format!("{values}{}{more}", shown.join(", "))
        }
    };
    format!("  a shortest run to Pass: {run}\n")
}

/// Lists the files. Those of one stage are in one line: `wrote out/p/product.{dot,json}`.
fn written_lines(paths: &[PathBuf]) -> String {
    let mut lines: Vec<(String, Vec<String>)> = Vec::new();
    for path in paths {
        let stem = path.with_extension("").display().to_string();
        let extension = path.extension().unwrap_or_default().display().to_string();
        match lines.last_mut() {
            Some((last_stem, extensions)) if *last_stem == stem => extensions.push(extension),
            _ => lines.push((stem, vec![extension])),
        }
    }
    let line = |(stem, extensions): (String, Vec<String>)| match extensions.as_slice() {
        [extension] => format!("  wrote {stem}.{extension}\n"),
        several => format!("  wrote {stem}.{{{}}}\n", several.join(",")),
    };
    lines.into_iter().map(line).collect()
}

/// Notes the first imprecisions, and how many more there are.
fn imprecision_notes(all: &[String]) -> Vec<String> {
    let mut notes: Vec<String> =
        all.iter().take(FEW_SHOWN).map(|imprecision| format!("note: {imprecision}")).collect();
    if all.len() > FEW_SHOWN {
        let more = all.len() - FEW_SHOWN;
        notes.push(format!("note: {more} more of this kind; `--format json` has all"));
    }
    notes
}

fn unsettled_note(left: &Unsettled) -> String {
    format!(
        "note: the check of `{}` is incomplete: the solver did not decide {}, and {} had too much to compare",
        left.stage.name(),
        plural(left.unknown, "question"),
        plural(left.unchecked, "place")
    )
}

/// Says which queries the solver did not decide: they make a result less sharp, or less repeatable.
fn solver_notes(made: &MadeTest) -> Vec<String> {
    let mut notes = Vec::new();
    if made.statistics.unknown > 0 {
        notes.push(format!(
            "note: the solver did not decide {} queries; coreach took each as possible, so the result is right, but may be less sharp",
            made.statistics.unknown
        ));
    }
    if made.statistics.timed_out > 0 {
        notes.push(format!(
            "note: {} of them were stopped by the clock: on another machine the result may differ",
            made.statistics.timed_out
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use coreach_pipeline::stop::BUDGET;

    use super::*;

    #[test]
    fn a_hard_end_keeps_what_is_finished() {
        let report =
            PurposeReport::<()> { result: "made", ..PurposeReport::stopped("near", "polyhedra", None) };
        let (text, exit) = ("near (polyhedra)\n".to_owned(), Exit::Fine);
        let (notes, found, problems) = (Vec::new(), Vec::new(), Vec::new());
        let answers = [Some(PurposeAnswer { text, notes, found, problems, report, exit }), None];
        let heading = RunHeading {
            specification: "sq".to_owned(),
            judge: None,
            warnings: Value::Array(Vec::new()),
            purposes: vec!["near".to_owned(), "far".to_owned()],
            domain: "polyhedra",
        };
        assert_eq!(heading.text(&answers, false), "near (polyhedra)\nfar (polyhedra): stopped\n");
        assert_eq!(heading.text(&answers, true), "");
        let why = Diagnostic::error(BUDGET, "stopped after 4 s");
        let document = serde_json::to_value(heading.document(&answers, 6, Some(&why))).unwrap();
        assert_eq!(document["exit_code"], 6);
        assert_eq!(document["purposes"][0]["result"], "made");
        assert_eq!(document["purposes"][1]["result"], "stopped");
        assert_eq!(document["purposes"][1]["reason"]["message"], "stopped after 4 s");
    }
}
