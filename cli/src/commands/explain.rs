//! `coreach explain`: why a run ended as it did, event by event, and as a picture.

use coreach_model::Diagnostic;
use coreach_pipeline::export::{Options, View, export};
use coreach_project::budget;

use super::{CommandAnswer, CommandResult, picture, picture_format};
use crate::execution_arguments::ExplainArguments;
use crate::exit::Exit;
use crate::outputs::{OutputForm, each, wanted};
use crate::transcript::transcript;
use crate::{evidence, story};

/// Reads the run, tells it, draws it.
pub fn explain(arguments: &ExplainArguments) -> CommandResult {
    let stored = arguments.kept.load()?;
    // Before anything is written: `--draw specification.yaml` must not leave a picture there.
    let format = arguments.draw.as_deref().map(picture_format).transpose()?;
    let [draw] = each([wanted("--draw", arguments.draw.as_deref(), OutputForm::Picture)])?;
    if let (Some(output), Some(format)) = (&draw, format) {
        let taken: Vec<_> = stored.run.trace.iter().filter_map(|step| step.transition).collect();
        let view = View::of_run(&stored.test.iosts, &stored.test.verdicts, &taken);
        let drawn = budget::within("draw", budget::time(None), |_| export(&view, format, Options::default()));
        picture(output, drawn)?;
    }
    let (test, initial, run) = (&stored.test, &stored.initial, &stored.run);
    let name = format!("{} seed {}\n", test.iosts.name, run.seed);
    let why = || story::why(test, initial, run, "");
    if !arguments.transcript {
        let text = || name + &why() + &story::table(test, initial, run) + &evidence::wire(run);
        Ok(CommandAnswer::new(Exit::Fine, || &stored.record, text))
    } else if run.wire.is_empty() {
        let none =
            Diagnostic::error("no-wire", "the run has no evidence of what went over the wire".to_owned());
        let help = "a model has no wire, and `run_kb: 0` of the IUT file keeps nothing";
        Err(none.help(help).into())
    } else {
        Ok(CommandAnswer::of_text(Exit::Fine, transcript(&(name + &why()), &run.wire)))
    }
}
