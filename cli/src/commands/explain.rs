//! `coreach explain`: why a run ended as it did, event by event, and as a picture.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use coreach_execution::judge;
use coreach_execution::reproducer::{NoScript, script};
use coreach_model::Diagnostic;
use coreach_pipeline::export::{Format, Options, View, export};
use coreach_project::stored::Stored;
use coreach_project::{budget, stored};

use super::report::beside;
use super::{EarlyExit, hindered, picture, refuse};
use crate::execution_arguments::ExplainArguments;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::outputs::{Output, OutputForm, each, wanted};
use crate::write::write;
use crate::{console, evidence, story};

/// Reads the run, tells it, draws it.
pub fn explain(arguments: &ExplainArguments) -> Result<Exit, EarlyExit> {
    let load = || stored::load(&arguments.source, arguments.which.as_deref(), arguments.test.as_deref());
    let stored = budget::reading(load).map_err(|found| refuse(&found, arguments.format))?;
    // Before anything is written: `--draw specification.yaml` must not leave a picture there.
    let form = |path: &Path| match path.extension().and_then(|ending| ending.to_str()) {
        Some("dot") => Some(Format::Dot),
        Some("svg") => Some(Format::Svg),
        _ => None,
    };
    if let Some(path) = arguments.draw.as_deref().filter(|path| form(path).is_none()) {
        return Err(refuse(&[no_picture(path)], arguments.format));
    }
    let outputs = each([
        wanted("--draw", arguments.draw.as_deref(), OutputForm::Picture),
        wanted("--reproducer", arguments.reproducer.as_deref(), OutputForm::Script),
        wanted("--html", arguments.html.as_deref(), OutputForm::Page),
    ]);
    let [draw, reproducer, html] = outputs.map_err(|found| refuse(&found, arguments.format))?;
    if let Some(output) = &draw
        && let Some(format) = form(output.path())
    {
        let taken: Vec<_> = stored.run.trace.iter().filter_map(|step| step.transition).collect();
        let view = View::of_run(&stored.test.iosts, &stored.test.verdicts, &taken);
        let drawn = budget::within("draw", budget::time(None), |_| export(&view, format, Options::default()));
        picture(output, drawn, arguments.format)?;
    }
    if let Some(output) = &reproducer {
        reproduce(arguments, &stored, output)?;
    }
    match arguments.format {
        OutputFormat::Json => console::print_json(&stored.record),
        OutputFormat::Human => {
            let (test, initial, run) = (&stored.test, &stored.initial, &stored.run);
            let text = format!(
                "{} seed {}\n{}{}{}",
                test.iosts.name,
                run.seed,
                story::table(test, initial, run),
                evidence::wire(run),
                story::why(test, initial, run)
            );
            console::print(&text);
        }
    }
    let files = [arguments.source.clone()];
    Ok(beside(html.as_ref(), &files, &[], (arguments.format, false), Exit::Fine))
}

/// Writes the script.
fn reproduce(arguments: &ExplainArguments, stored: &Stored, output: &Output) -> Result<(), EarlyExit> {
    let refused = |found: &[Diagnostic]| refuse(found, arguments.format);
    let iut = budget::reading(|| stored.implementation(arguments.iut.as_deref()));
    let (iut, _) = iut.map_err(|found| refused(&found))?;
    let mut judge = judge::of(&stored.test, stored.initial.clone(), stored.run.link.clone());
    let script = script(&iut, judge.as_mut(), &stored.run).map_err(|NoScript(why)| {
        let message = format!("there is no script that shows this run again: {why}");
        refused(&[Diagnostic::error("no-reproducer", message)])
    })?;
    let written = write(output, script).and_then(|()| executable(output.path()));
    written.map_err(|error| hindered(format_args!("{}: {error}", output.path().display())))
}

/// It can be started by its name; what is no file stays as it is.
fn executable(path: &Path) -> io::Result<()> {
    let known = fs::metadata(path)?;
    let mut permissions = known.permissions();
    if !known.is_file() {
        return Ok(());
    }
    // Whoever may read it may start it.
    permissions.set_mode(permissions.mode() | (permissions.mode() & 0o444) >> 2);
    fs::set_permissions(path, permissions)
}

fn no_picture(path: &Path) -> Diagnostic {
    Diagnostic::error(
        "output-format",
        format!("--draw must name a file that ends in .dot or .svg: {}", path.display()),
    )
}
