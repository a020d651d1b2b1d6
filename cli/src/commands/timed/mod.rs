//! `coreach timed`: tests with time.

mod drive;
mod inputs;
mod merge;
mod path;
mod verdict;

use crate::commands::CommandResult;
use crate::timed_arguments::{TimedArguments, TimedCommand};

pub fn timed(arguments: &TimedArguments) -> CommandResult {
    match &arguments.command {
        TimedCommand::Path(arguments) => path::path(arguments),
        TimedCommand::Inputs(arguments) => inputs::inputs(arguments),
        TimedCommand::Drive(arguments) => drive::drive(arguments),
        TimedCommand::Merge(arguments) => merge::merge(arguments),
        TimedCommand::Verdict(arguments) => verdict::verdict(arguments),
    }
}
