//! `coreach man`: the manual pages.

use std::{fs, io};

use super::plural;
use crate::console;
use crate::exit::Exit;
use crate::man::pages;
use crate::shell_arguments::ManArguments;
use crate::write::write;

/// Prints the page of the program, or writes the pages of all commands.
///
/// # Errors
/// Standard output cannot be written.
pub fn man(arguments: &ManArguments) -> io::Result<Exit> {
    let pages = pages();
    let Some(folder) = &arguments.folder else {
        // The program stands first.
        let page = pages.into_iter().next().map(|page| page.text).unwrap_or_default();
        console::print(&page)?;
        return Ok(Exit::Fine);
    };
    let written = fs::create_dir_all(folder).map_err(|error| (folder.clone(), error)).and_then(|()| {
        pages.iter().try_for_each(|page| {
            let path = folder.join(&page.file);
            write(&path, &page.text).map_err(|error| (path, error))
        })
    });
    if let Err((path, error)) = written {
        console::say(&format!("error: cannot write {}: {error}", path.display()));
        return Ok(Exit::Environment);
    }
    console::print(&format!("wrote {} to {}\n", plural(pages.len(), "page"), folder.display()))?;
    Ok(Exit::Fine)
}
