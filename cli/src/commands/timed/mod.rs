//! `coreach timed`: tests with time.

mod inputs;
mod merge;
mod path;
mod verdict;

use std::io;

use coreach_execution::offline::write::Form;

use crate::exit::Exit;
use crate::timed_arguments::{SequenceForm, TimedArguments, TimedCommand};

/// Does what it is asked for.
///
/// # Errors
/// Standard output cannot be written.
pub fn timed(arguments: &TimedArguments) -> io::Result<Exit> {
    match &arguments.command {
        TimedCommand::Path(arguments) => path::path(arguments),
        TimedCommand::Inputs(arguments) => inputs::inputs(arguments),
        TimedCommand::Merge(arguments) => merge::merge(arguments),
        TimedCommand::Verdict(arguments) => verdict::verdict(arguments),
    }
}

fn form(form: SequenceForm) -> Form {
    match form {
        SequenceForm::Csv => Form::Csv,
        SequenceForm::JsonLines => Form::JsonLines,
    }
}
