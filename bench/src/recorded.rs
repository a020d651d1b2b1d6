//! Sequences that the program wrote while it worked on its examples.

use std::fs;
use std::path::{Path, PathBuf};

use coreach_tests::sequence::Sequence;

use crate::shapes::{ShapeCase, label};

/// Reads all `*.sequence` files below a folder, in the order of their paths.
///
/// # Errors
/// A folder or file that cannot be read, or is no sequence.
pub fn read(folder: &Path) -> Result<Vec<ShapeCase>, String> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    files.iter().map(|file| read_one(folder, file)).collect()
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(told)? {
        let path = entry.map_err(told)?.path();
        if path.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "sequence") {
            files.push(path);
        }
    }
    Ok(())
}

fn read_one(folder: &Path, file: &Path) -> Result<ShapeCase, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    let sequence: Sequence = text.parse().map_err(|error| format!("{}: {error}", file.display()))?;
    let name = file.strip_prefix(folder).unwrap_or(file).with_extension("").display().to_string();
    let labels = sequence.steps.iter().map(label).collect();
    Ok(ShapeCase { name, sequence, labels })
}
