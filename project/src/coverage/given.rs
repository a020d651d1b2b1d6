//! What the files are that a user names to `coreach coverage`: each is told by what is in it, so their order
//! does not matter.

use std::path::{Path, PathBuf};
use std::{fs, io};

use coreach_model::Diagnostic;
use coreach_model::reader::yaml;

use crate::campaign::load_campaign;
use crate::file_kind::{FileContent, FileKind, kind_of, list_yaml_files, read_content};

/// The files, sorted out, each list in the order of its names.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Given {
    pub configurations: Vec<PathBuf>,
    pub stores: Vec<PathBuf>,
    pub runs: Vec<PathBuf>,
    pub campaigns: Vec<PathBuf>,
    /// Nobody named a configuration: these were found beside the runs. One that cannot be used is passed
    /// over.
    pub are_found: bool,
    /// The stores of the campaigns, which need not be there.
    pub(crate) own_stores: Vec<PathBuf>,
}

impl Given {
    /// Sorts out what was named. A campaign stands for its configurations, and for its store where no runs
    /// are named.
    pub fn of(files: &[PathBuf]) -> Result<Self, Vec<Diagnostic>> {
        let mut given = Given::default();
        let mut found = Vec::new();
        for path in files {
            match given.sort_in(path, "no-run") {
                Ok(None) => {}
                Ok(Some(_)) => found.push(without_runs(path)),
                Err(errors) => found.extend(errors),
            }
        }
        if !found.is_empty() {
            return Err(found);
        }
        if given.stores.is_empty() && given.runs.is_empty() {
            given.stores.clone_from(&given.own_stores);
        }
        if given.stores.is_empty() && given.runs.is_empty() {
            let message = "no runs are named: neither a store, nor a run, nor a campaign".to_owned();
            return Err(vec![Diagnostic::error("no-run", message).help(
                "`coreach campaign` keeps its runs in a store, `coreach test --keep DIR` in a folder",
            )]);
        }
        if given.configurations.is_empty() {
            given.look_beside();
        }
        given.sort();
        Ok(given)
    }

    /// Puts a file into its list. Returns the kind of a file that has no runs and names none. `code` is that
    /// of the error for a file that cannot be read.
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

    /// Sorts each list, and leaves out what is in it twice.
    pub(crate) fn sort(&mut self) {
        for list in [&mut self.configurations, &mut self.stores, &mut self.runs] {
            list.sort();
            list.dedup();
        }
    }

    /// The configurations beside the runs, in the folder above (`test --keep runs`), and in the working
    /// folder.
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

fn without_runs(path: &Path) -> Diagnostic {
    let why = "it is neither a campaign nor a configuration, nor are there runs in it";
    let help = "a model alone does not say which test cases were made of it: name the configuration, the file with `specification:`";
    Diagnostic::error("no-run", format!("{}: {why}", path.display())).help(help)
}

/// `deliver_coffee.7.json`, and not the test case beside it.
fn is_run(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.ends_with(".json") && !name.ends_with(".test_case.json")
}
