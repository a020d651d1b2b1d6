//! `coreach init`: an example in a folder, and what to do with it.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use coreach_model::Diagnostic;
use coreach_project::beginning::{NEXT, SCHEMAS_FOLDER, new_files};

use super::{CommandAnswer, CommandResult, EarlyExit};
use crate::arguments::InitArguments;
use crate::exit::Exit;
use crate::outputs::{OutputForm, output};
use crate::write::write_new;

/// Writes all files, or none.
pub fn init(arguments: &InitArguments) -> CommandResult {
    let folder = &arguments.folder;
    let files = new_files();
    is_free(folder, &files)?;
    match write(folder, &files) {
        Ok(()) => Ok(CommandAnswer::of_text(Exit::Fine, told(folder, &files))),
        // Somebody has come between the look and the writing.
        Err((path, error)) if error.kind() == io::ErrorKind::AlreadyExists => {
            Err(in_the_way(folder, &[path.display().to_string()]).into())
        }
        Err((path, error)) => Err(EarlyExit::hindered(format_args!(
            "cannot write {}: {error}; nothing is written",
            path.display()
        ))),
    }
}

/// Is nothing in the way? Links that lead nowhere are, and files where a folder is needed.
fn is_free(folder: &Path, files: &[(String, String)]) -> Result<(), Diagnostic> {
    if fs::symlink_metadata(folder).is_ok() && !folder.is_dir() {
        let message = format!("{} is there, and is no folder", folder.display());
        return Err(Diagnostic::error("in-the-way", message).help("name a folder: `coreach init DIR`"));
    }
    let is_there = |path: &Path| fs::symlink_metadata(folder.join(path)).is_ok();
    let mut there: Vec<String> = Vec::new();
    for (name, _) in files {
        let above = Path::new(name).ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
        let blocked = above.filter(|above| is_there(above) && !folder.join(above).is_dir()).last();
        let found = blocked.or_else(|| is_there(Path::new(name)).then(|| Path::new(name)));
        let shown = found.map(|path| path.display().to_string());
        there.extend(shown.filter(|shown| !there.contains(shown)));
    }
    if there.is_empty() { Ok(()) } else { Err(in_the_way(folder, &there)) }
}

fn in_the_way(folder: &Path, there: &[String]) -> Diagnostic {
    let message = format!("{} has already: {}", folder.display(), there.join(", "));
    Diagnostic::error("in-the-way", message)
        .help("nothing is written; name another folder: `coreach init DIR`")
}

/// Writes the files; where one cannot be written, those before it go again.
fn write(folder: &Path, files: &[(String, String)]) -> Result<(), (PathBuf, io::Error)> {
    let mut made = Made::default();
    for (name, text) in files {
        let path = folder.join(name);
        let written = make_folders(path.parent().unwrap_or(folder), &mut made).and_then(|()| {
            let output = output("DIR", Some(&path), OutputForm::New).ok().flatten();
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

#[derive(Default)]
struct Made {
    files: Vec<PathBuf>,
    folders: Vec<PathBuf>,
}

impl Made {
    /// A folder in which somebody has put something meanwhile stays.
    fn remove(&self) {
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        for folder in self.folders.iter().rev() {
            let _ = fs::remove_dir(folder);
        }
    }
}

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

/// The files, and what to do next.
fn told(folder: &Path, files: &[(String, String)]) -> String {
    let is_here = folder.components().all(|part| part == std::path::Component::CurDir);
    let shown = |name: &str| match is_here {
        true => name.to_owned(),
        false => folder.join(name).display().to_string(),
    };
    let mut text = String::new();
    for (name, _) in files.iter().filter(|(name, _)| !name.starts_with(SCHEMAS_FOLDER)) {
        text += &format!("wrote {}\n", shown(name));
    }
    text += &format!("wrote {} (for editors)\n\nNext:\n", shown(SCHEMAS_FOLDER));
    if !is_here {
        text += &format!("  cd {}\n", quoted(folder));
    }
    for (command, code, purpose) in NEXT {
        let code = if code == 0 { String::new() } else { format!("; exit code {code}") };
        text += &format!("  # {purpose}{code}\n  {command}\n");
    }
    text
}

fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+".contains(c);
    if !text.starts_with('-') && text.chars().all(is_plain) {
        return text;
    }
    let begins = if text.starts_with('-') { "./" } else { "" };
    format!("'{begins}{}'", text.replace('\'', r"'\''"))
}
