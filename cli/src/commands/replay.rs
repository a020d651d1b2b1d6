//! `coreach replay`: a stored run once more, and a shorter one with the same verdict.

use std::io;

use coreach_execution::adapter::open;
use coreach_execution::judge;
use coreach_execution::lazy::Lazy;
use coreach_execution::record::{self, record};
use coreach_execution::replay::replay as run_again;
use coreach_execution::shrink::{Shrink, shrink};
use coreach_model::{Diagnostic, file};
use coreach_project::outputs::{self, Named};
use coreach_project::{budget, iut, stored};

use super::test::exit_of;
use super::{plural, refuse_as};
use crate::execution_arguments::ReplayArguments;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::write::write;
use crate::{console, story};

/// Reads the run, runs it again, looks for a shorter one where that is wanted, and says what came of it. The exit code is
/// that of the new run's verdict.
///
/// # Errors
/// Standard output cannot be written.
pub fn replay(arguments: &ReplayArguments) -> io::Result<Exit> {
    let refuse = |found: &[Diagnostic]| refuse_as(found, arguments.format, Exit::Refused);
    let load = || stored::load(&arguments.source, arguments.which.as_deref(), arguments.test.as_deref());
    let stored = match budget::reading(load) {
        Ok(stored) => stored,
        Err(found) => return refuse(&found),
    };
    if let Some(path) = &arguments.keep {
        let mut inputs = stored::inputs(&arguments.source, arguments.test.as_deref());
        inputs.extend(arguments.iut.as_deref().into_iter().flat_map(outputs::iut));
        if let Err(found) = outputs::refuse(&[Named::new("--keep", path)], &inputs) {
            return refuse(&found);
        }
        // A store tells of models that are files of the user's: what is no run is not written over.
        let is_run = || file::read(path, file::MOST_DOCUMENT).is_ok_and(|bytes| record::read(&bytes).is_ok());
        if path.exists() && !is_run() {
            let message = format!("{}: `--keep` writes over a run, and this file is none", path.display());
            return refuse(&[Diagnostic::error("output-is-there", message)]);
        }
    }
    let loaded = budget::reading(|| match (&arguments.iut, &stored.iut) {
        (Some(path), _) => iut::load(path, &stored.test.iosts),
        (None, Some((description, file))) => {
            coreach_project::campaign::reopen(description, file, &stored.test.iosts)
        }
        (None, None) => {
            let message = "the run does not say against what it was: give `--iut FILE`";
            Err(vec![Diagnostic::error("no-implementation", message)])
        }
    });
    let implementation = match loaded {
        Ok((implementation, _)) => implementation,
        Err(found) => return refuse(&found),
    };
    let settings = arguments.driving.over(stored.settings.clone());
    let mut adapter = open(&implementation, Lazy::default);
    let mut judge = judge::of(&stored.test, stored.initial.clone(), implementation.link);
    let again = run_again(judge.as_mut(), &stored.run, &settings, adapter.as_mut());
    let mut result = again.run.clone();
    let mut lines = Vec::new();
    lines.push(match again.diverged {
        None => {
            format!("the same {} again, and {}", plural(result.trace.len(), "event"), result.outcome.name())
        }
        Some(at) => format!(
            "{} this time, {} before; the runs part at event {}",
            result.outcome.name(),
            stored.run.outcome.name(),
            at + 1
        ),
    });
    if arguments.shrink {
        // What is shrunk is what has just been seen, if it is still wrong; else what was stored.
        let from = if result.outcome.name() == stored.run.outcome.name() { &result } else { &stored.run };
        let mut best = None;
        let mut seen = |run: &coreach_execution::Run| {
            best = Some(run.clone());
            if arguments.format == OutputFormat::Human {
                console::say(&format!("  {}", plural(run.trace.len(), "event")));
            }
        };
        let mut solver = Lazy::default();
        let shrunk = budget::within("shrink", budget::time(None), |_| {
            let with = Shrink {
                judge: judge.as_mut(),
                budget: arguments.attempts,
                settings: &settings,
                adapter: adapter.as_mut(),
                solver: &mut solver,
                seen: &mut seen,
            };
            shrink(from, with)
        });
        let before = plural(from.trace.len(), "event");
        match shrunk {
            Ok(shrunk) => {
                let (now, runs) = (shrunk.run.trace.len(), plural(shrunk.runs, "run"));
                lines.push(format!("shrunk from {before} to {now} in {runs}"));
                result = shrunk.run;
            }
            // What was found until then is a run of its own.
            Err(stop) => {
                console::draw(&[stop.to_diagnostic()]);
                result = best.unwrap_or(result);
                lines.push(format!("shrunk from {before} to {}, and not to the end", result.trace.len()));
            }
        }
    }
    let written = record(judge.as_mut(), &result);
    if let Some(path) = &arguments.keep {
        let text = serde_json::to_string_pretty(&written).unwrap_or_default();
        if let Err(error) = write(path, text) {
            console::say(&format!("error: {}: {error}", path.display()));
            return Ok(Exit::Environment);
        }
    }
    match arguments.format {
        OutputFormat::Json => console::print_json(&written)?,
        OutputFormat::Human => {
            let (test, initial) = (&stored.test, &stored.initial);
            lines.push(story::table(test, initial, &result) + &story::why(test, initial, &result));
            console::print(&lines.join("\n"))?;
        }
    }
    Ok(exit_of(&result.outcome))
}
