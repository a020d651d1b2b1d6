//! `coreach timed`: tests with time.

mod path;

use std::io;

use crate::exit::Exit;
use crate::timed_arguments::{TimedArguments, TimedCommand};

/// Does what it is asked for.
///
/// # Errors
/// Standard output cannot be written.
pub fn timed(arguments: &TimedArguments) -> io::Result<Exit> {
    match &arguments.command {
        TimedCommand::Path(arguments) => path::path(arguments),
    }
}
