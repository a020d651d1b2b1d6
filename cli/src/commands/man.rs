//! `coreach man`: the manual pages.

use std::fs;

use super::{EarlyExit, plural, refuse, unwritten};
use crate::console;
use crate::exit::Exit;
use crate::man::pages;
use crate::output_format::OutputFormat;
use crate::outputs::{OutputForm, ToWrite, outputs};
use crate::shell_arguments::ManArguments;
use crate::write::write;

/// Prints the page of the program, or writes the pages of all commands.
pub fn man(arguments: &ManArguments) -> Result<Exit, EarlyExit> {
    let pages = pages();
    let Some(folder) = &arguments.folder else {
        // The program stands first.
        let page = pages.into_iter().next().map(|page| page.text).unwrap_or_default();
        console::print(&page);
        return Ok(Exit::Fine);
    };
    let wanted = pages.iter().map(|page| ToWrite::new("DIR", folder.join(&page.file), OutputForm::Manual));
    let outputs =
        outputs(&wanted.collect::<Vec<_>>()).map_err(|found| refuse(&found, OutputFormat::Human))?;
    let written = fs::create_dir_all(folder).map_err(|error| (folder.to_path_buf(), error)).and_then(|()| {
        pages.iter().zip(&outputs).try_for_each(|(page, output)| {
            write(output, &page.text).map_err(|error| (output.path().to_owned(), error))
        })
    });
    written.map_err(|(path, error)| unwritten(&path, &error))?;
    console::print(&format!("wrote {} to {}\n", plural(pages.len(), "page"), folder.display()));
    Ok(Exit::Fine)
}
