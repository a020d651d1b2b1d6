//! Finds the specification that a purpose names, among the given files or in the purpose's folder.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_model::diagnostic::{Diagnostic, Origin, SourceFile, nearest};
use coreach_model::reader::yaml;

use crate::file_kind::{FileKind, list_yaml_files, read_heading};

fn specification_name(file: &Arc<SourceFile>) -> Option<String> {
    let heading = read_heading(file).ok()?;
    (heading.kind == FileKind::Specification).then_some(heading.name)
}

/// Finds the specification of this name, first among the candidates, then among the YAML files in the
/// purpose's folder. Files with the same text count as one. `origin` is the place where the purpose names it.
pub fn find_specification(
    name: &str,
    origin: Origin,
    candidates: &[PathBuf],
    purpose: &Path,
) -> Result<Arc<SourceFile>, Vec<Diagnostic>> {
    let siblings = || list_yaml_files(purpose.parent().unwrap_or(Path::new("")));
    let mut found = load_named(name, candidates.to_vec());
    if found.is_empty() {
        found = load_named(name, siblings());
    }
    match found.len() {
        0 => {
            let all = candidates.iter().cloned().chain(siblings());
            let names = all.filter_map(|path| specification_name(&yaml::load(&path).ok()?));
            let named_file = yaml::load(&purpose.parent().unwrap_or(Path::new("")).join(name)).ok();
            let own_name = named_file.and_then(|file| specification_name(&file));
            Err(vec![report_none(name, origin, names.collect(), own_name)])
        }
        1 => Ok(found.swap_remove(0)),
        _ => Err(vec![report_several(name, origin, &found)]),
    }
}

/// Loads the specifications of this name. Of several files with the same text it takes the first.
fn load_named(name: &str, paths: Vec<PathBuf>) -> Vec<Arc<SourceFile>> {
    let mut found: Vec<Arc<SourceFile>> = Vec::new();
    for file in paths.iter().filter_map(|path| yaml::load(path).ok()) {
        let is_named_so = specification_name(&file).is_some_and(|other| other == name);
        if is_named_so && !found.iter().any(|other| other.text == file.text) {
            found.push(file);
        }
    }
    found
}

fn report_several(name: &str, origin: Origin, files: &[Arc<SourceFile>]) -> Diagnostic {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    Diagnostic::error("several-specifications", format!("several files have a specification `{name}`"))
        .at(origin, "which of them?")
        .note(names.join(", "))
        .help("give the right one together with this file, or give them different names")
}

/// Reports that there is no specification of this name. The help has the nearest of the known names.
fn report_none(name: &str, origin: Origin, mut known: Vec<String>, own_name: Option<String>) -> Diagnostic {
    known.sort();
    let near = nearest(name, known.iter().map(String::as_str));
    let help = match own_name.as_deref().or(near) {
        Some(near) => format!("did you mean `of: {near}`?"),
        None => format!("name its file too: a file with `iosts: {name}`"),
    };
    Diagnostic::error("no-specification", format!("there is no specification `{name}`"))
        .at(origin, "not among the given files, and not in this folder")
        .help(help)
}
