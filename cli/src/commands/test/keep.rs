//! What `coreach test --keep` writes: each run, and its test case beside it. Nothing that is there is
//! replaced.
//!
//! A run whose name is taken gets the next free one: `deliver_coffee.7.json`, `deliver_coffee.7.2.json`, ...
//! All runs of a name in a folder are of one test case, `deliver_coffee.test_case.json`, or they could not be
//! read again. So a folder with another test case of this name is refused before the first run. The same test
//! case, written by another version of the program, is no other test case.

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
use crate::outputs::{OutFile, OutputForm, ToWrite, request_output, resolve_output, resolve_outputs};
use crate::story::wrap;
use crate::write::{make_private_folder, write_new};

/// Checks before the first run that the files of `--keep` and the report can be written, and makes the
/// folder. Returns the report's file.
pub(super) fn check_outputs(arguments: &TestArguments, cases: &[Case]) -> Result<Option<OutFile>, EarlyExit> {
    let folder = arguments.keep.as_deref();
    let mut files = folder.map_or_else(Vec::new, |folder| list_files(arguments, cases, folder));
    files.extend(request_output("--junit", arguments.junit.as_deref(), OutputForm::Junit));
    // The report is the last of the files, if it is one of them.
    let junit = resolve_outputs(&files)?.pop().filter(|_| arguments.junit.is_some());
    if let Some(folder) = folder {
        let others = find_other_tests(cases, folder);
        if !others.is_empty() {
            return Err(others.into());
        }
        make_private_folder(folder).map_err(|error| EarlyExit::unwritten(folder, &error))?;
    }
    Ok(junit)
}

/// Lists the files of `--keep`: the test cases, and their first runs.
fn list_files(arguments: &TestArguments, cases: &[Case], folder: &Path) -> Vec<ToWrite> {
    // Each file is checked again when it is written.
    let runs = arguments.runs.get().min(1000) as u64;
    let to_write = |path: PathBuf| ToWrite::new("--keep", path, OutputForm::Run);
    let mut files = Vec::new();
    for case in cases {
        files.push(to_write(test_path(folder, case)));
        let seeds = (0..runs).map(|number| arguments.seed.wrapping_add(number));
        files.extend(seeds.map(|seed| to_write(run_path(folder, case, seed, 1))));
    }
    files
}

fn test_path(folder: &Path, case: &Case) -> PathBuf {
    folder.join(format!("{}.test_case.json", case.name))
}

/// `deliver_coffee.7.json`; the second one of this name is `deliver_coffee.7.2.json`.
pub(super) fn run_path(folder: &Path, case: &Case, seed: u64, copy: usize) -> PathBuf {
    let suffix = if copy == 1 { String::new() } else { format!(".{copy}") };
    folder.join(format!("{}.{seed}{suffix}.json", case.name))
}

/// Reports each test case in the folder that has the name of one of ours, and is another.
fn find_other_tests(cases: &[Case], folder: &Path) -> Vec<Diagnostic> {
    let paths = cases.iter().map(|case| (test_path(folder, case), &case.document));
    let is_other = |(path, document): &(PathBuf, &String)| {
        fs::symlink_metadata(path).is_ok() && !is_same_test(path, document)
    };
    paths.filter(is_other).map(|(path, _)| report_other_test(&path)).collect()
}

pub(in crate::commands) fn report_other_test(path: &Path) -> Diagnostic {
    let message = format!("{}: `--keep` replaces no file, and this is another test case", path.display());
    Diagnostic::error("output-is-there", message)
        .help("name another folder: each run must be beside its test case")
}

/// Says whether the file is this test case, whichever version of the program wrote it.
pub(in crate::commands) fn is_same_test(path: &Path, document: &str) -> bool {
    let Ok(bytes) = file::read(path, file::MOST_DOCUMENT) else { return false };
    let hash = |bytes: &[u8]| Test::new(bytes).map(|test| test.hash).ok();
    // Two files that are no test cases have no hash, and are not the same.
    bytes == document.as_bytes() || hash(&bytes).is_some_and(|own| Some(own) == hash(document.as_bytes()))
}

/// Writes the runs of a command into the folder of `--keep`.
#[derive(Default)]
pub(super) struct Keeper {
    /// The names of the test cases that are in the folder.
    kept_tests: Vec<String>,
    /// The user has been told that a name was taken.
    has_warned: bool,
}

impl Keeper {
    /// Writes the run's document if that is wanted, and returns its path.
    pub(super) fn keep(
        &mut self,
        arguments: &TestArguments,
        case: &Case,
        record: &Record,
    ) -> Result<Option<String>, String> {
        let Some(folder) = &arguments.keep else { return Ok(None) };
        let explain = |path: &Path, error: io::Error| format!("{}: {error}", path.display());
        if !self.kept_tests.contains(&case.name) {
            let path = test_path(folder, case);
            if !write_new(&check_output(&path)?, &case.document).map_err(|error| explain(&path, error))?
                && !is_same_test(&path, &case.document)
            {
                return Err(report_other_test(&path).message);
            }
            self.kept_tests.push(case.name.clone());
        }
        let text = serde_json::to_string_pretty(record).map_err(|error| error.to_string())?;
        let first = run_path(folder, case, record.seed, 1);
        // Another program may take a name between the check and the writing.
        let (mut path, mut copy) = (first.clone(), 1);
        while fs::symlink_metadata(&path).is_ok()
            || !write_new(&check_output(&path)?, &text).map_err(|error| explain(&path, error))?
        {
            copy += 1;
            path = run_path(folder, case, record.seed, copy);
        }
        if copy > 1 && !self.has_warned {
            self.has_warned = true;
            let warning = format!(
                "warning: {} is there already: this run is kept as {}; other runs also get new names",
                first.display(),
                path.display()
            );
            wrap(&warning).lines().for_each(console::say);
        }
        Ok(Some(path.display().to_string()))
    }
}

fn check_output(path: &Path) -> Result<OutFile, String> {
    let output = resolve_output("--keep", Some(path), OutputForm::Run);
    let output = output.map_err(|found| found.into_iter().map(|error| error.message).collect::<String>())?;
    output.ok_or_else(|| format!("{}: not written", path.display()))
}
