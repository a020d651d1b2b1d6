//! A run of a store, for the commands that look at one.

use std::path::Path;

use coreach_execution::campaign::{RunSettings, Store};
use coreach_execution::record::Record;
use coreach_execution::{Settings, TestCase};
use coreach_model::Diagnostic;

/// A stored run with what it was run with.
#[derive(Clone, Debug)]
pub struct FoundRun {
    /// What happened.
    pub record: Record,
    /// The test case, from its document in the store.
    pub test: TestCase,
    /// That document.
    pub document: String,
    /// How it was driven.
    pub settings: Settings,
    /// The implementation's description in the store, and the file that it was read from (see
    /// [`super::reopen`]).
    pub iut: (String, String),
}

/// The run of this number in the store, or of the only key that begins so.
///
/// # Errors
/// One finding: the store cannot be read, no run or several are meant, or the test case in it cannot be read.
pub fn find(store: &Path, run: Option<&str>) -> Result<FoundRun, Vec<Diagnostic>> {
    let refused = |code, message: String| vec![Diagnostic::error(code, message)];
    let opened = Store::read(store).map_err(|error| refused("no-store", error.to_string()))?;
    let Some(run) = run else {
        let first = opened.first_failing().map_err(|error| refused("no-store", error.to_string()))?;
        let message = format!("{} holds many runs: say which", store.display());
        let diagnostic = Diagnostic::error("no-run", message);
        return Err(vec![match first {
            Some(number) => diagnostic.help(format!("the first that failed is {number}")),
            None => diagnostic.help("give its number or the beginning of its key"),
        }]);
    };
    let found = opened.find(run).map_err(|error| refused("no-run", error.to_string()))?;
    let test = TestCase::from_json(found.document.as_bytes())
        .map_err(|error| refused("no-test-case", format!("{}: {error}", store.display())))?;
    let settings = RunSettings::from_json(&found.settings).map_or_else(Settings::default, |kept| kept.limits);
    Ok(FoundRun {
        record: found.record,
        test,
        document: found.document,
        settings,
        iut: (found.description, found.file),
    })
}
