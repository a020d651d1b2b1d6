//! `coreach run` with `judge: online`: there is no test case to make; what judges a run is written, for
//! people and for later.

use std::io;

use coreach_analyses::DomainKind;
use coreach_model::Diagnostic;
use coreach_model::iosts::TestPurpose;
use coreach_pipeline::export::View;
use coreach_pipeline::stop::Stop;
use coreach_project::making::{MadeOnline, make_online};
use coreach_project::project::Project;
use coreach_project::{budget, jobs, render};
use serde::Serialize;

use super::super::report::beside;
use super::{Document, Report, Written, exit_of, files, no_thread, page, reason, tell_imprecisions, write};
use crate::arguments::RunArguments;
use crate::commands::plural;
use crate::console;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::outputs::Output;
use crate::progress::ProgressLine;

#[derive(Serialize)]
struct Details {
    locations: usize,
    transitions: usize,
    imprecisions: Vec<String>,
    queries: u64,
    files: Vec<String>,
    problems: Vec<String>,
    seconds: f64,
}

/// Makes, writes, and says what was done.
///
/// # Errors
/// Standard output cannot be written.
pub(super) fn run(
    arguments: &RunArguments,
    project: &Project,
    outputs: &[Output],
    warnings: &[Diagnostic],
    domain: DomainKind,
) -> io::Result<Exit> {
    let progress = ProgressLine::start(project.purposes.len(), !arguments.quiet);
    let work = |purpose: &TestPurpose| {
        let result = one(arguments, project, outputs, purpose, domain, &progress);
        progress.one_done();
        result
    };
    let results = jobs::in_order(&project.purposes, jobs::threads(arguments.threads), work);
    drop(progress);
    let results = match results {
        Ok(results) => results,
        Err(error) => return no_thread(&error),
    };
    let mut exit = Exit::Fine;
    let mut reports = Vec::new();
    for (purpose, result) in project.purposes.iter().zip(results) {
        let name = &purpose.iosts.name;
        match result {
            Ok((made, written)) => {
                exit = exit.and(exit_of(made.unreachable.as_ref(), &written));
                reports.push(tell(arguments, name, domain, &made, written)?);
            }
            Err(stop) => {
                let (report, its_exit) = super::stopped(arguments, name, domain, &stop)?;
                exit = exit.and(its_exit);
                reports.push(report);
            }
        }
    }
    if arguments.format == OutputFormat::Json {
        console::print_json(&Document {
            format_version: 2,
            exit_code: exit.code(),
            specification: &project.specification.iosts.name,
            judge: Some(project.judging.name()),
            diagnostics: render::to_json(warnings),
            purposes: reports,
        })?;
    }
    let files = [arguments.configuration.clone()];
    beside(
        page(arguments, outputs),
        &files,
        arguments.domain.as_slice(),
        (arguments.format, arguments.quiet),
        exit,
    )
}

fn one(
    arguments: &RunArguments,
    project: &Project,
    outputs: &[Output],
    purpose: &TestPurpose,
    domain: DomainKind,
    progress: &ProgressLine,
) -> Result<(MadeOnline, Written), Stop> {
    let made = make_online(project, purpose, domain, arguments.check, &|what| progress.says(what))?;
    let name = &purpose.iosts.name;
    let views = [View::of_online(&made.test)];
    let written = budget::within("write", budget::time(project.time), |_| {
        write(project, outputs, name, &views, arguments.options())
    })?;
    Ok((made, written))
}

fn tell(
    arguments: &RunArguments,
    name: &str,
    domain: DomainKind,
    made: &MadeOnline,
    written: Written,
) -> io::Result<Report<Details>> {
    let (locations, transitions) = (made.test.iosts.locations.len(), made.test.iosts.transitions.len());
    if arguments.format == OutputFormat::Human {
        if !arguments.quiet {
            let result = if made.unreachable.is_some() { ": UNREACHABLE" } else { "" };
            console::print(&format!(
                "{name} ({domain}, judged on line){result}\n  {}, {}, {:.3} seconds\n{}",
                plural(locations, "location"),
                plural(transitions, "transition"),
                made.seconds,
                files(&written.files)
            ))?;
            tell_imprecisions(&made.test.imprecisions);
        }
        console::draw(made.unreachable.as_slice());
    }
    written.tell();
    Ok(Report {
        purpose: name.to_owned(),
        domain: domain.name(),
        result: if made.unreachable.is_some() { "unreachable" } else { "made" },
        reason: reason(made.unreachable.as_ref()),
        details: Some(Details {
            locations,
            transitions,
            imprecisions: made.test.imprecisions.clone(),
            queries: made.statistics.queries,
            files: written.files.iter().map(|path| path.display().to_string()).collect(),
            problems: [written.undrawn, written.unreadable, written.failed].concat(),
            seconds: made.seconds,
        }),
    })
}
