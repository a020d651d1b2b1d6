//! What the files are that a user names to `coreach coverage`: each is told by what is in it, so their order
//! does not matter.

use std::path::{Path, PathBuf};

use coreach_model::Diagnostic;
use coreach_model::reader::yaml;

use crate::campaign::load_campaign;
use crate::models::{FileKind, is_document, kind_of};
use crate::stored;

/// At most so many files beside the runs are looked into for a configuration.
const MOST_SIBLINGS: usize = 200;

/// The files, sorted out, each list in the order of its names.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Given {
    /// Configurations, those of campaigns among them.
    pub configurations: Vec<PathBuf>,
    /// Stores.
    pub stores: Vec<PathBuf>,
    /// Runs that were kept as files.
    pub runs: Vec<PathBuf>,
    /// The campaigns themselves.
    pub campaigns: Vec<PathBuf>,
    /// Nobody named a configuration: these were found beside the runs. One that cannot be used is passed
    /// over.
    pub are_found: bool,
}

impl Given {
    /// Sorts out what was named. A campaign stands for its configurations, and for its store where no runs
    /// are named.
    ///
    /// # Errors
    /// What cannot be read, or is none of what is known; no runs at all.
    pub fn of(files: &[PathBuf]) -> Result<Self, Vec<Diagnostic>> {
        let mut given = Given::default();
        let mut own = Vec::new();
        let mut found = Vec::new();
        for path in files {
            if let Err(errors) = given.sort_in(path, &mut own) {
                found.extend(errors);
            }
        }
        if !found.is_empty() {
            return Err(found);
        }
        if given.stores.is_empty() && given.runs.is_empty() {
            given.stores = own;
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
        for list in [&mut given.configurations, &mut given.stores, &mut given.runs] {
            list.sort();
            list.dedup();
        }
        Ok(given)
    }

    fn sort_in(&mut self, path: &Path, own: &mut Vec<PathBuf>) -> Result<(), Vec<Diagnostic>> {
        let error = |why: String| vec![Diagnostic::error("no-run", format!("{}: {why}", path.display()))];
        if path.is_dir() {
            let before = self.runs.len();
            let entries = std::fs::read_dir(path).map_err(|cause| error(cause.to_string()))?;
            for entry in entries {
                let entry = entry.map_err(|cause| error(cause.to_string()))?.path();
                if is_run(&entry) && entry.is_file() {
                    self.runs.push(entry);
                }
            }
            let help = "`coreach test --keep DIR` writes each run there as NAME.SEED.json";
            return match self.runs.len() > before {
                true => Ok(()),
                false => Err(error("the folder has no runs".to_owned())
                    .into_iter()
                    .map(|found| found.help(help))
                    .collect()),
            };
        }
        if stored::is_store(path).map_err(error)? {
            self.stores.push(path.to_owned());
            return Ok(());
        }
        if is_document(path) {
            self.runs.push(path.to_owned());
            return Ok(());
        }
        let file = yaml::load(path).map_err(|found| vec![found])?;
        let kind = kind_of(&file)?;
        if kind == FileKind::Campaign {
            let (campaign, _) = load_campaign(path)?;
            self.campaigns.push(path.to_owned());
            self.configurations.extend(campaign.configurations().map(Path::to_owned));
            own.push(campaign.store);
            return Ok(());
        }
        if kind == FileKind::Configuration {
            self.configurations.push(path.to_owned());
            return Ok(());
        }
        let message = "it is neither a campaign nor a configuration, nor are there runs in it".to_owned();
        let help = "a model alone does not say which test cases were made of it: name the configuration, the file with `specification:`";
        Err(error(message).into_iter().map(|found| found.help(help)).collect())
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
        for folder in folders {
            let items = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            let is_yaml = |path: &PathBuf| path.extension().is_some_and(|e| e == "yaml" || e == "yml");
            let mut paths: Vec<PathBuf> = items.map(|item| item.path()).filter(is_yaml).collect();
            paths.sort();
            paths.truncate(MOST_SIBLINGS);
            let is_one = |path: &PathBuf| {
                yaml::load(path).is_ok_and(|file| kind_of(&file) == Ok(FileKind::Configuration))
            };
            let short = |path: PathBuf| path.strip_prefix(".").map_or(path.clone(), Path::to_owned);
            self.configurations.extend(paths.into_iter().filter(is_one).map(short));
        }
    }
}

/// `deliver_coffee.7.json`, and not the test case beside it.
fn is_run(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.ends_with(".json") && !name.ends_with(".test_case.json")
}
