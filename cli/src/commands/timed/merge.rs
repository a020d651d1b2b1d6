//! `coreach timed merge`: what was sent and what was seen, on one time line.

use std::io::{self, BufWriter};

use coreach_execution::offline::write::SequenceWriter;
use coreach_model::Diagnostic;
use coreach_project::budget;
use coreach_project::timed::{load, trace};

use super::super::{CommandAnswer, CommandResult};
use crate::console;
use crate::exit::Exit;
use crate::timed_arguments::MergeArguments;

enum End {
    Mistake(Diagnostic),
    Unwritten(io::Error),
}

impl From<Diagnostic> for End {
    fn from(found: Diagnostic) -> Self {
        End::Mistake(found)
    }
}

/// Reads both, merges, writes.
pub fn merge(arguments: &MergeArguments) -> CommandResult {
    let (model, warnings) = budget::reading(|| load(&arguments.model))?;
    console::draw(&warnings);
    let out = BufWriter::new(console::StandardOutput);
    let mut writer = SequenceWriter::new(model.timed.graph(), out, arguments.format.into());
    let merged = trace::merge(&model.timed, &arguments.inputs, &arguments.outputs, |item| {
        writer.put(&item).map_err(End::Unwritten)
    });
    match merged {
        Ok(_) => {
            writer.end()?;
            Ok(CommandAnswer::of_text(Exit::Fine, ""))
        }
        Err(End::Unwritten(error)) => Err(error.into()),
        Err(End::Mistake(found)) => Err(found.into()),
    }
}
