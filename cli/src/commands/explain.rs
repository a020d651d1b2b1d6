//! `coreach explain`: why a run ended as it did, event by event, and as a picture.

use std::io;
use std::path::Path;

use coreach_model::Diagnostic;
use coreach_pipeline::export::{Format, Options, View, export};
use coreach_project::outputs::{self, Named};
use coreach_project::{budget, stored};

use super::refuse;
use crate::execution_arguments::ExplainArguments;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::write::write;
use crate::{console, evidence, story};

/// Reads the run, tells it, draws it.
///
/// # Errors
/// Standard output cannot be written.
pub fn explain(arguments: &ExplainArguments) -> io::Result<Exit> {
    let load = || stored::load(&arguments.source, arguments.which.as_deref(), arguments.test.as_deref());
    let stored = match budget::reading(load) {
        Ok(stored) => stored,
        Err(found) => return refuse(&found, arguments.format),
    };
    if let Some(path) = &arguments.draw {
        // Before anything is written: `--draw specification.yaml` must not leave a picture there.
        let format = match path.extension().and_then(|ending| ending.to_str()) {
            Some("dot") => Format::Dot,
            Some("svg") => Format::Svg,
            _ => return refuse(&[no_picture(path)], arguments.format),
        };
        let inputs = stored::inputs(&arguments.source, arguments.test.as_deref());
        if let Err(found) = outputs::refuse(&[Named::new("--draw", path)], &inputs) {
            return refuse(&found, arguments.format);
        }
        let taken: Vec<_> = stored.run.trace.iter().filter_map(|step| step.transition).collect();
        let view = View::of_run(&stored.test.iosts, &stored.test.verdicts, &taken);
        let drawn =
            budget::within("draw", budget::time(None), |_| export(&view, format, Options { facts: false }));
        let drawn = match drawn {
            Ok(drawn) => drawn.map_err(|error| error.to_string()),
            Err(stop) => return refuse(&[stop.to_diagnostic()], arguments.format),
        };
        let written = drawn.and_then(|text| write(path, text).map_err(|error| error.to_string()));
        if let Err(message) = written {
            console::say(&format!("error: {}: {message}", path.display()));
            return Ok(Exit::Environment);
        }
    }
    match arguments.format {
        OutputFormat::Json => console::print_json(&stored.record)?,
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
            console::print(&text)?;
        }
    }
    Ok(Exit::Fine)
}

fn no_picture(path: &Path) -> Diagnostic {
    Diagnostic::error(
        "output-format",
        format!("--draw must name a file that ends in .dot or .svg: {}", path.display()),
    )
}
