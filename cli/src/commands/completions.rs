//! `coreach completions`: what a shell has to know to complete the words of a command line.

use clap::CommandFactory;

use super::{CommandAnswer, CommandResult};
use crate::arguments::{Arguments, CompletionsArguments};
use crate::exit::Exit;

pub fn completions(arguments: &CompletionsArguments) -> CommandResult {
    // Write into a buffer: the library's writer panics if its target fails, and a closed pipe is no bug.
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "coreach", &mut script);
    Ok(CommandAnswer::of_text(Exit::Fine, String::from_utf8_lossy(&script)))
}
