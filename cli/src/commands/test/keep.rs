//! What `coreach test --keep` writes: each run, and its test case beside it. Nothing that is there is
//! replaced.
//!
//! A run whose name is taken gets the next free one: `deliver_coffee.7.json`, `deliver_coffee.7.2.json`, ...
//! All runs of a name in a folder are of one test case, `deliver_coffee.test_case.json`, or they could not be
//! read again. So a folder with another test case of this name is refused before the first run. The version
//! of the program that wrote it makes no other test case.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use coreach_execution::campaign::Test;
use coreach_execution::record::Record;
use coreach_model::{Diagnostic, file};
use coreach_project::cases::Case;

use crate::answer::EarlyExit;
use crate::console;
use crate::execution_arguments::TestArguments;
use crate::outputs::{Output, OutputForm, ToWrite, output, outputs, wanted};
use crate::write::{private_folder, write_new};

/// Before the first run, so many of the files that `--keep` writes are looked at; each of them again when it
/// is written.
const LOOKED_AHEAD: usize = 1000;

/// Checks before the first run that the files of `--keep` and the report can be written, and makes the
/// folder. Returns the report's file.
pub(super) fn check_outputs(arguments: &TestArguments, cases: &[Case]) -> Result<Option<Output>, EarlyExit> {
    let folder = arguments.keep.as_deref();
    let mut files = folder.map_or_else(Vec::new, |folder| files(arguments, cases, folder));
    files.extend(wanted("--junit", arguments.junit.as_deref(), OutputForm::Junit));
    let junit = outputs(&files)?.pop().filter(|_| arguments.junit.is_some());
    if let Some(folder) = folder {
        let others = find_other_tests(cases, folder);
        if !others.is_empty() {
            return Err(others.into());
        }
        private_folder(folder).map_err(|error| EarlyExit::unwritten(folder, &error))?;
    }
    Ok(junit)
}

fn files(arguments: &TestArguments, cases: &[Case], folder: &Path) -> Vec<ToWrite> {
    let seeds =
        (0..arguments.runs.get().min(LOOKED_AHEAD) as u64).map(|number| arguments.seed.wrapping_add(number));
    let name = |path: PathBuf| ToWrite::new("--keep", path, OutputForm::Run);
    let mut files = Vec::new();
    for case in cases {
        files.push(name(test_path(folder, case)));
        files.extend(seeds.clone().map(|seed| name(run_path(folder, case, seed, 1))));
    }
    files
}

fn test_path(folder: &Path, case: &Case) -> PathBuf {
    folder.join(format!("{}.test_case.json", case.name))
}

/// `deliver_coffee.7.json`; the second one of this name is `deliver_coffee.7.2.json`.
pub(super) fn run_path(folder: &Path, case: &Case, seed: u64, time: usize) -> PathBuf {
    let time = if time == 1 { String::new() } else { format!(".{time}") };
    folder.join(format!("{}.{seed}{time}.json", case.name))
}

/// Those test cases of the folder that bear a name of ours and are others.
fn find_other_tests(cases: &[Case], folder: &Path) -> Vec<Diagnostic> {
    let other = |case: &Case| {
        let path = test_path(folder, case);
        (fs::symlink_metadata(&path).is_ok() && !is_same(&path, &case.document))
            .then(|| report_other_test(&path))
    };
    cases.iter().filter_map(other).collect()
}

pub(in crate::commands) fn report_other_test(path: &Path) -> Diagnostic {
    let message = format!("{}: `--keep` replaces nothing, and this is another test case", path.display());
    Diagnostic::error("output-is-there", message)
        .help("name another folder: each run must be beside its test case")
}

/// Is this the test case, whichever version wrote it?
pub(in crate::commands) fn is_same(path: &Path, document: &str) -> bool {
    let Ok(bytes) = file::read(path, file::MOST_DOCUMENT) else { return false };
    let hash = |bytes: &[u8]| Test::new(bytes).map(|test| test.hash).ok();
    bytes == document.as_bytes() || hash(&bytes).is_some_and(|it| Some(it) == hash(document.as_bytes()))
}

#[derive(Default)]
pub(super) struct Keeper {
    /// The test cases that are there.
    there: Vec<String>,
    /// That a name was taken was said.
    said: bool,
}

impl Keeper {
    /// Writes the run's document, if that is wanted; its path.
    pub(super) fn keep(
        &mut self,
        arguments: &TestArguments,
        case: &Case,
        record: &Record,
    ) -> Result<Option<String>, String> {
        let Some(folder) = &arguments.keep else { return Ok(None) };
        let wrong = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
        if !self.there.contains(&case.name) {
            let path = test_path(folder, case);
            if !write_new(&checked(&path)?, &case.document).map_err(|error| wrong(&path, error))?
                && !is_same(&path, &case.document)
            {
                return Err(report_other_test(&path).message);
            }
            self.there.push(case.name.clone());
        }
        let text = serde_json::to_string_pretty(record).map_err(|error| error.to_string())?;
        let first = run_path(folder, case, record.seed, 1);
        let (mut path, mut time) = (first.clone(), 1);
        while fs::symlink_metadata(&path).is_ok()
            || !write_new(&checked(&path)?, &text).map_err(|error| wrong(&path, error))?
        {
            time += 1;
            path = run_path(folder, case, record.seed, time);
        }
        if time > 1 && !self.said {
            self.said = true;
            console::say(&format!(
                "warning: {} is there already: this run is kept as {}, and others likewise",
                first.display(),
                path.display()
            ));
        }
        Ok(Some(path.display().to_string()))
    }
}

fn checked(path: &Path) -> Result<Output, String> {
    let output = output("--keep", Some(path), OutputForm::Run);
    let output = output.map_err(|found| found.iter().map(|one| one.message.clone()).collect::<String>())?;
    output.ok_or_else(|| format!("{}: not written", path.display()))
}
