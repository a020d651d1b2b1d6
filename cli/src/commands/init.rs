//! `coreach init`: an example in a folder, and what to do with it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use coreach_model::Diagnostic;
use coreach_project::beginning::{NEXT, SCHEMAS_FOLDER, new_files};

use super::{CommandAnswer, CommandResult, EarlyExit};
use crate::arguments::InitArguments;
use crate::exit::Exit;
use crate::outputs::{OutputForm, resolve_output};
use crate::transcript::quote_for_shell;
use crate::write::write_new;

/// Writes all files of the example, or none.
pub fn init(arguments: &InitArguments) -> CommandResult {
    let folder = &arguments.folder;
    let files = new_files();
    check_free(folder, &files)?;
    match write_files(folder, &files) {
        Ok(()) => Ok(CommandAnswer::of_text(Exit::Fine, summary_text(folder, &files))),
        // Another program has made the file after the check.
        Err((path, error)) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(report_in_the_way(folder, &[path.display().to_string()]).into())
        }
        Err((path, error)) => Err(EarlyExit::hindered(format_args!(
            "cannot write {}: {error}; nothing is written",
            path.display()
        ))),
    }
}

/// Checks that no file of the example exists. In the way are also links that lead nowhere, and files where a
/// folder is needed.
fn check_free(folder: &Path, files: &[(String, String)]) -> Result<(), Diagnostic> {
    if fs::symlink_metadata(folder).is_ok() && !folder.is_dir() {
        let message = format!("{} exists, but is not a folder", folder.display());
        return Err(Diagnostic::error("in-the-way", message).help("name a folder: `coreach init DIR`"));
    }
    let exists = |path: &Path| fs::symlink_metadata(folder.join(path)).is_ok();
    let mut obstacles: Vec<String> = Vec::new();
    for (name, _) in files {
        let folders = Path::new(name).ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        // The outermost file is reported, since nothing below a file exists.
        let file_in_place = folders.filter(|above| exists(above) && !folder.join(above).is_dir()).last();
        let obstacle = file_in_place.or_else(|| exists(Path::new(name)).then(|| Path::new(name)));
        let shown = obstacle.map(|path| path.display().to_string());
        obstacles.extend(shown.filter(|shown| !obstacles.contains(shown)));
    }
    if obstacles.is_empty() { Ok(()) } else { Err(report_in_the_way(folder, &obstacles)) }
}

fn report_in_the_way(folder: &Path, obstacles: &[String]) -> Diagnostic {
    let message = format!("{} has already: {}", folder.display(), obstacles.join(", "));
    Diagnostic::error("in-the-way", message)
        .help("nothing is written; name another folder: `coreach init DIR`")
}

/// Writes the files. If one cannot be written, removes those before it.
fn write_files(folder: &Path, files: &[(String, String)]) -> Result<(), (PathBuf, io::Error)> {
    let mut made = Made::default();
    for (name, text) in files {
        let path = folder.join(name);
        let written = make_folders(path.parent().unwrap_or(folder), &mut made).and_then(|()| {
            // The output is refused if another program has made the file by now.
            let output = resolve_output("DIR", Some(&path), OutputForm::New).ok().flatten();
            let output = output.ok_or(io::ErrorKind::AlreadyExists)?;
            if !write_new(&output, text)? {
                return Err(io::ErrorKind::AlreadyExists.into());
            }
            made.files.push(path.clone());
            Ok(())
        });
        if let Err(error) = written {
            made.remove();
            return Err((path, error));
        }
    }
    Ok(())
}

/// The files and folders that were made, in their order.
#[derive(Default)]
struct Made {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Made {
    /// Removes what was made. A folder stays if another program has put something into it.
    fn remove(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

/// Makes a folder and those above it, and notes each new one.
fn make_folders(folder: &Path, made: &mut Made) -> io::Result<()> {
    if folder.as_os_str().is_empty() || folder.is_dir() {
        return Ok(());
    }
    if let Some(above) = folder.parent() {
        make_folders(above, made)?;
    }
    fs::create_dir(folder)?;
    made.folders.push(folder.to_owned());
    Ok(())
}

/// Lists the files that were written, and says what to do next.
fn summary_text(folder: &Path, files: &[(String, String)]) -> String {
    let is_here = folder.components().all(|part| part == std::path::Component::CurDir);
    let shown = |name: &str| if is_here { name.to_owned() } else { folder.join(name).display().to_string() };
    let mut text = String::new();
    for (name, _) in files.iter().filter(|(name, _)| !name.starts_with(SCHEMAS_FOLDER)) {
        text += &format!("wrote {}\n", shown(name));
    }
    text += &format!("wrote {} (for editors)\n\nNext:\n", shown(SCHEMAS_FOLDER));
    if !is_here {
        text += &format!("  cd {}\n", quote_folder(folder));
    }
    for (command, code, purpose) in NEXT {
        let code = if code == 0 { String::new() } else { format!("; exit code {code}") };
        text += &format!("  # {purpose}{code}\n  {command}\n");
    }
    text
}

/// Quotes a folder for `cd` in a shell, if it needs that. A dash at the beginning would make it an option.
fn quote_folder(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if !text.starts_with('-') && text.chars().all(is_plain) {
        return text;
    }
    let begins = if text.starts_with('-') { "./" } else { "" };
    quote_for_shell(&format!("{begins}{text}"))
}
