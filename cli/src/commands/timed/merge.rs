//! `coreach timed merge`: what was sent and what was seen, on one time line.

use std::io::BufWriter;

use coreach_execution::offline::write::SequenceWriter;
use coreach_project::budget;
use coreach_project::timed::{load, trace};

use super::super::{CommandAnswer, CommandResult, EarlyExit};
use crate::console;
use crate::exit::Exit;
use crate::timed_arguments::TimedMergeArguments;

/// Merges what was sent and what was seen, and prints the trace.
pub fn merge(arguments: &TimedMergeArguments) -> CommandResult {
    let (model, warnings) = budget::reading(|| load(&arguments.model))?;
    console::draw(&warnings);
    let out = BufWriter::new(console::StandardOutput);
    let mut writer = SequenceWriter::new(model.timed.graph(), out, arguments.format);
    trace::merge(&model.timed, &arguments.inputs, &arguments.outputs, |item| {
        writer.put(&item).map_err(EarlyExit::from)
    })?;
    writer.end()?;
    Ok(CommandAnswer::of_text(Exit::Fine, ""))
}
