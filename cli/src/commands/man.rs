//! `coreach man`: the manual pages, as `clap_mangen` makes them of what `--help` says.

use std::fs;

use clap::{Command, CommandFactory};
use clap_mangen::Man;

use super::{CommandAnswer, CommandResult, EarlyExit, plural};
use crate::arguments::{Arguments, ManArguments};
use crate::exit::Exit;
use crate::outputs::{OutputForm, ToWrite, resolve_outputs};
use crate::write::write;

/// Prints the page of the program, or writes the pages of all commands.
pub fn man(arguments: &ManArguments) -> CommandResult {
    // `coreach help run` is `coreach run --help`, and `man coreach-run` is both.
    let mut program = Arguments::command().disable_help_subcommand(true);
    program.build();
    let mut pages = Vec::new();
    add_pages(&program, &mut pages)?;
    let Some(folder) = &arguments.folder else {
        return Ok(CommandAnswer::of_text(Exit::Fine, pages.swap_remove(0).1));
    };
    let wanted = pages.iter().map(|(file, _)| ToWrite::new("DIR", folder.join(file), OutputForm::Manual));
    let outputs = resolve_outputs(&wanted.collect::<Vec<_>>())?;
    fs::create_dir_all(folder).map_err(|error| EarlyExit::unwritten(folder, &error))?;
    for ((_, text), output) in pages.iter().zip(&outputs) {
        write(output, text).map_err(|error| EarlyExit::unwritten(output.path(), &error))?;
    }
    let text = format!("wrote {} to {}\n", plural(pages.len(), "page"), folder.display());
    Ok(CommandAnswer::of_text(Exit::Fine, text))
}

/// Adds the page of a command, with the name of its file, and the pages of its subcommands.
fn add_pages(command: &Command, pages: &mut Vec<(String, String)>) -> Result<(), EarlyExit> {
    // The pages have no date, so that two builds of a version are the same.
    let man = Man::new(command.clone()).date("\"\"");
    let mut text = Vec::new();
    man.render(&mut text)?;
    pages.push((man.get_filename(), String::from_utf8_lossy(&text).into_owned()));
    let mut inner = command.get_subcommands().filter(|inner| !inner.is_hide_set());
    inner.try_for_each(|inner| add_pages(inner, pages))
}
