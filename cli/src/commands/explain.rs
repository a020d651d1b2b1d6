//! `coreach explain`: why a run ended as it did, event by event, and as a picture.

use coreach_model::Diagnostic;
use coreach_pipeline::export::{ExportOptions, View, export};
use coreach_project::budget;

use super::{CommandAnswer, CommandResult, picture_format, write_picture};
use crate::execution_arguments::ExplainArguments;
use crate::exit::Exit;
use crate::outputs::{OutputForm, request_output, resolve_each};
use crate::transcript::shell_transcript;
use crate::{evidence, story};

/// Reads a kept run, explains it, and draws it if that is asked for.
pub fn explain(arguments: &ExplainArguments) -> CommandResult {
    let stored = arguments.kept.load()?;
    // Look at the format before anything is written: `--draw specification.yaml` must not leave a picture.
    let format = arguments.draw.as_deref().map(picture_format).transpose()?;
    let [draw] = resolve_each([request_output("--draw", arguments.draw.as_deref(), OutputForm::Picture)])?;
    if let (Some(output), Some(format)) = (&draw, format) {
        let taken: Vec<_> = stored.run.trace.iter().filter_map(|step| step.transition).collect();
        let view = View::of_run(&stored.test.iosts, &stored.test.verdicts, &taken);
        let drawn =
            budget::within("draw", budget::time(None), |_| export(&view, format, ExportOptions::default()));
        write_picture(output, drawn)?;
    }
    let (test, initial, run) = (&stored.test, &stored.initial, &stored.run);
    let name = format!("{} seed {}\n", test.iosts.name, run.seed);
    let why = || {
        let reason = story::find_reason(test, initial, run).with_places_of(&stored.record.reason);
        story::why_text(run, &reason, "")
    };
    if !arguments.transcript {
        let text = || {
            name + &story::wrap(&why())
                + &story::step_table(test, initial, run, None)
                + &evidence::wire_text(run)
        };
        Ok(CommandAnswer::new(Exit::Fine, || &stored.record, text))
    } else if run.wire.is_empty() {
        let missing = Diagnostic::error("no-wire", "the run has no evidence of what went over the wire");
        let help = "a simulated system has no wire, and `run_kb: 0` in the IUT file keeps nothing";
        Err(missing.help(help).into())
    } else {
        Ok(CommandAnswer::of_text(Exit::Fine, shell_transcript(&(name + &why()), &run.wire)))
    }
}
