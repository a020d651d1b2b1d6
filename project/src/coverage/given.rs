//! Sorts the files that a user names to `coreach coverage`. Their content decides, not their order.

use std::path::{Path, PathBuf};
use std::{fs, io};

use coreach_model::Diagnostic;
use coreach_model::reader::yaml;

use crate::campaign::load_campaign;
use crate::file_kind::{FileContent, FileKind, kind_of, list_yaml_files, read_content};

/// The files by their kinds. Each list is in the order of its names.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct SortedFiles {
    pub configurations: Vec<PathBuf>,
    pub stores: Vec<PathBuf>,
    pub runs: Vec<PathBuf>,
    pub campaigns: Vec<PathBuf>,
    /// The configurations were not named, but found next to the runs. Unusable ones are skipped.
    pub are_found: bool,
    /// The stores of the campaigns. They need not exist.
    pub(crate) own_stores: Vec<PathBuf>,
}

impl SortedFiles {
    /// Sorts the named files. A campaign stands for its configurations, and without named runs for its store.
    pub fn of(files: &[PathBuf]) -> Result<Self, Vec<Diagnostic>> {
        let mut files_by_kind = SortedFiles::default();
        let mut found = Vec::new();
        for path in files {
            match files_by_kind.sort_in(path, "no-run") {
                Ok(None) => {}
                Ok(Some(_)) => found.push(report_without_runs(path)),
                Err(errors) => found.extend(errors),
            }
        }
        if !found.is_empty() {
            return Err(found);
        }
        if files_by_kind.stores.is_empty() && files_by_kind.runs.is_empty() {
            files_by_kind.stores.clone_from(&files_by_kind.own_stores);
        }
        if files_by_kind.stores.is_empty() && files_by_kind.runs.is_empty() {
            let message = "there are no runs: name a store, a run or a campaign".to_owned();
            return Err(vec![Diagnostic::error("no-run", message).help(
                "`coreach campaign` keeps its runs in a store, `coreach test --keep DIR` in a folder",
            )]);
        }
        if files_by_kind.configurations.is_empty() {
            files_by_kind.look_beside();
        }
        files_by_kind.sort();
        Ok(files_by_kind)
    }

    /// Puts a file, or the runs of a folder, into its list. Returns the kind of a file that has no list.
    /// `code` is for unreadable files.
    pub(crate) fn sort_in(
        &mut self,
        path: &Path,
        code: &'static str,
    ) -> Result<Option<FileKind>, Vec<Diagnostic>> {
        if path.is_dir() {
            self.runs.extend(list_runs(path)?);
            return Ok(None);
        }
        let error = |why| vec![Diagnostic::error(code, format!("{}: {why}", path.display()))];
        match read_content(path).map_err(error)? {
            FileContent::Store => self.stores.push(path.to_owned()),
            FileContent::Document => self.runs.push(path.to_owned()),
            FileContent::Text => match kind_of(&yaml::load(path).map_err(|found| vec![found])?)? {
                FileKind::Campaign => {
                    let (campaign, _) = load_campaign(path)?;
                    self.campaigns.push(path.to_owned());
                    self.configurations.extend(campaign.configurations().map(Path::to_owned));
                    self.own_stores.push(campaign.store);
                }
                FileKind::Configuration => self.configurations.push(path.to_owned()),
                other => return Ok(Some(other)),
            },
        }
        Ok(None)
    }

    pub(crate) fn sort(&mut self) {
        for list in [&mut self.configurations, &mut self.stores, &mut self.runs] {
            list.sort();
            list.dedup();
        }
    }

    /// Adds configurations from the folders of the runs, those above (`test --keep runs`), and the current.
    fn look_beside(&mut self) {
        self.are_found = true;
        let mut folders: Vec<PathBuf> = vec![PathBuf::from(".")];
        for path in self.stores.iter().chain(&self.runs).chain(&self.campaigns) {
            let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
            let folder = folder.unwrap_or(Path::new("."));
            folders.push(folder.to_owned());
            let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
            folders.extend(above.map(Path::to_owned));
        }
        folders.sort();
        folders.dedup();
        for path in folders.iter().flat_map(|folder| list_yaml_files(folder)) {
            if yaml::load(&path).is_ok_and(|file| kind_of(&file) == Ok(FileKind::Configuration)) {
                self.configurations.push(path);
            }
        }
    }
}

/// Lists the runs in a folder. A folder without runs is a mistake.
fn list_runs(folder: &Path) -> Result<Vec<PathBuf>, Vec<Diagnostic>> {
    let error = |why| Diagnostic::error("no-run", format!("{}: {why}", folder.display()));
    let list = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<Vec<_>>>();
    let mut runs = list().map_err(|cause| vec![error(cause.to_string())])?;
    runs.retain(|path| is_run(path) && path.is_file());
    if runs.is_empty() {
        let help = "`coreach test --keep DIR` writes each run there as NAME.SEED.json";
        return Err(vec![error("the folder has no runs".to_owned()).help(help)]);
    }
    Ok(runs)
}

fn report_without_runs(path: &Path) -> Diagnostic {
    let why = "it is neither a campaign nor a configuration, nor are there runs in it";
    let help = "a model alone does not say which test cases belong to it: name the configuration, the file with `specification:`";
    Diagnostic::error("no-run", format!("{}: {why}", path.display())).help(help)
}

/// Is it the name of a run (`deliver_coffee.7.json`), and not of the test case next to it?
fn is_run(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.ends_with(".json") && !name.ends_with(".test_case.json")
}
