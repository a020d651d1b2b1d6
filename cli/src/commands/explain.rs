//! `coreach explain`: why a run ended as it did, event by event, and as a picture.

use std::path::Path;

use coreach_model::Diagnostic;
use coreach_pipeline::export::{Format, Options, View, export};
use coreach_project::{budget, stored};

use super::report::beside;
use super::{EarlyExit, picture, refuse};
use crate::execution_arguments::ExplainArguments;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::outputs::{OutputForm, each, wanted};
use crate::transcript::transcript;
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
        wanted("--html", arguments.html.as_deref(), OutputForm::Page),
    ]);
    let [draw, html] = outputs.map_err(|found| refuse(&found, arguments.format))?;
    if let Some(output) = &draw
        && let Some(format) = form(output.path())
    {
        let taken: Vec<_> = stored.run.trace.iter().filter_map(|step| step.transition).collect();
        let view = View::of_run(&stored.test.iosts, &stored.test.verdicts, &taken);
        let drawn = budget::within("draw", budget::time(None), |_| export(&view, format, Options::default()));
        picture(output, drawn, arguments.format)?;
    }
    match arguments.format {
        _ if arguments.transcript && stored.run.wire.is_empty() => {
            let none =
                Diagnostic::error("no-wire", "the run has no evidence of what went over the wire".to_owned());
            let help = "a model has no wire, and `run_kb: 0` of the IUT file keeps nothing";
            return Err(refuse(&[none.help(help)], arguments.format));
        }
        _ if arguments.transcript => {
            let (test, initial, run) = (&stored.test, &stored.initial, &stored.run);
            let heading =
                format!("{} seed {}\n{}", test.iosts.name, run.seed, story::why(test, initial, run));
            console::print(&transcript(&heading, &run.wire));
        }
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

fn no_picture(path: &Path) -> Diagnostic {
    Diagnostic::error(
        "output-format",
        format!("--draw must name a file that ends in .dot or .svg: {}", path.display()),
    )
}
