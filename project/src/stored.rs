//! Loads a run that was kept in a file of its own, or in the store of a campaign.

use std::io::Read;
use std::path::{Path, PathBuf};

use coreach_adapters::Iut;
use coreach_execution::campaign::{RunSettings, Store, StoreError};
use coreach_execution::record::{self, Record, restore_run};
use coreach_execution::{Run, Settings, TestCase};
use coreach_model::reader::Reading;
use coreach_model::semantics::State;
use coreach_model::{Diagnostic, file};

use crate::cases::{self, Case, Cases};
use crate::file_kind::STORE;
use crate::iut;
use crate::making::SILENT;

/// A stored run, ready to be looked at or to be run again.
pub struct LoadedRun {
    pub record: Record,
    pub test: TestCase,
    pub document: String,
    pub initial: State,
    pub run: Run,
    /// The settings of the run, or the default if they were not kept.
    pub settings: Settings,
    /// The description of its implementation, and the file from which that was read. Only a store has them.
    pub iut: Option<(String, String)>,
}

impl LoadedRun {
    /// Reads the implementation of the run: from the given file, or else from the store.
    pub fn implementation(&self, file: Option<&Path>) -> Reading<Iut> {
        match (file, &self.iut) {
            (Some(path), _) => iut::load(path, self.test.wire()).map_err(|found| {
                let help = |mistake: Diagnostic| match mistake.code {
                    "unknown-action" | "unknown-parameter" => mistake.help(
                        "the model here is that of the run: if it has changed since, make the run again with `coreach test --keep`",
                    ),
                    _ => mistake,
                };
                found.into_iter().map(help).collect()
            }),
            (None, Some((description, file))) => crate::campaign::reopen(description, file, self.test.wire()),
            (None, None) => {
                let message = "the run does not name its IUT file: give `--iut FILE`";
                Err(vec![Diagnostic::error("no-implementation", message)])
            }
        }
    }
}

/// The parts of a run that are kept. The fields are those of [`LoadedRun`].
struct KeptRun {
    record: Record,
    test: TestCase,
    document: String,
    settings: Settings,
    iut: Option<(String, String)>,
}

/// Loads a run from a file or a store, and walks through it. `which` names a store's run, `test` a test case.
pub fn load(source: &Path, which: Option<&str>, test: Option<&Path>) -> Result<LoadedRun, Vec<Diagnostic>> {
    let refuse = |message: String| refuse_run(source, message);
    let mut opened = file::open(source).map_err(|cause| {
        let diagnostic = refuse(cause.to_string());
        vec![match find_run_in(source) {
            Some(run) => diagnostic.help(format!("name a run in it, for example {}", run.display())),
            None => diagnostic,
        }]
    })?;
    let mut bytes = Vec::new();
    let first_bytes = opened.by_ref().take(STORE.len() as u64).read_to_end(&mut bytes);
    first_bytes.map_err(|cause| vec![refuse(cause.to_string())])?;
    let KeptRun { record, test, document, settings, iut } = if bytes == STORE {
        find_in_store(source, which)?
    } else {
        let remaining_bytes = file::read_rest(opened, file::MOST_DOCUMENT);
        bytes.extend(remaining_bytes.map_err(|cause| vec![refuse(cause.to_string())])?);
        read_run_file(source, &bytes, test)?
    };
    let (initial, run) = restore_run(&test, &record).map_err(|why| vec![refuse(why)])?;
    Ok(LoadedRun { record, test, document, initial, run, settings, iut })
}

fn refuse_run(source: &Path, message: String) -> Diagnostic {
    Diagnostic::error("no-run", format!("{}: {message}", source.display()))
}

/// Reads a run in a file of its own. Its test case is in the named file, or else beside it.
fn read_run_file(source: &Path, bytes: &[u8], named: Option<&Path>) -> Result<KeptRun, Vec<Diagnostic>> {
    let refuse = |message: String| vec![refuse_run(source, message)];
    let record = record::read_record(bytes).map_err(|cause| refuse(format!("not a run: {cause}")))?;
    let beside = beside(source);
    if named.is_none() && !beside.exists() {
        return Err(vec![report_lost_test_case(source, &beside)]);
    }
    let path = named.unwrap_or(&beside);
    let Cases { mut cases, .. } = cases::load(path, None, SILENT)?;
    let is_of_run = |case: &Case| case.test.iosts.name == record.test_case;
    let position = cases.iter().position(is_of_run).ok_or_else(|| {
        refuse(format!("the run needs `{}`, which {} does not have", record.test_case, path.display()))
    })?;
    let Case { test, document, .. } = cases.swap_remove(position);
    Ok(KeptRun { record, test, document, settings: Settings::default(), iut: None })
}

/// Reports a run without the test case that belongs to it.
pub fn report_lost_test_case(run: &Path, test_case: &Path) -> Diagnostic {
    let message =
        format!("the run {} needs its test case, but there is no {}", run.display(), test_case.display());
    Diagnostic::error("no-test-case", message).help(
        "copy it from the folder of `coreach test --keep`; `explain` and `replay` also take it as `--test FILE`",
    )
}

fn find_run_in(folder: &Path) -> Option<PathBuf> {
    let files = std::fs::read_dir(folder).ok()?.flatten().map(|file| file.path());
    files.filter(|path| path.extension().is_some_and(|end| end == "json") && beside(path).exists()).min()
}

/// Reads the run of this number in the store, or the only run whose key begins so. Without a number the error
/// names the first run that failed.
fn find_in_store(store: &Path, run: Option<&str>) -> Result<KeptRun, Vec<Diagnostic>> {
    let refuse = |code, message: String| vec![Diagnostic::error(code, message)];
    let report_broken = |error: StoreError| refuse("no-store", error.to_string());
    let opened = Store::read(store).map_err(report_broken)?;
    let Some(run) = run else {
        let first = opened.first_failing().map_err(report_broken)?;
        let message = format!("{} has many runs: name one of them", store.display());
        let diagnostic = Diagnostic::error("no-run", message);
        return Err(vec![match first {
            Some(number) => diagnostic.help(format!("the first that failed is {number}")),
            None => diagnostic.help("give its number or the beginning of its key"),
        }]);
    };
    let found = opened.find(run).map_err(|error| refuse("no-run", error.to_string()))?;
    let document = opened.test_document(&found).map_err(report_broken)?;
    let test = TestCase::from_json(document.as_bytes())
        .map_err(|error| refuse("no-test-case", format!("{}: {error}", store.display())))?;
    let settings = serde_json::from_str(&found.settings).ok();
    let settings = settings.and_then(|settings| RunSettings::from_json(&settings));
    let settings = settings.map_or_else(Settings::default, |kept| kept.limits);
    let iut = opened.iut_description(&found).map_err(report_broken)?;
    Ok(KeptRun { record: found.record, test, document, settings, iut: Some(iut) })
}

/// Returns the path of the test case that `test --keep` puts next to a run. `deliver_coffee.7.json` is run 7
/// of `deliver_coffee`, and `deliver_coffee.7.2.json` the second run 7. The existing file decides.
pub fn beside(source: &Path) -> PathBuf {
    let stem = source.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let case = |name: &str| source.with_file_name(format!("{name}.test_case.json"));
    let Some((name, last)) = stem.rsplit_once('.') else { return case(&stem) };
    let repetition = name.rsplit_once('.').filter(|(_, seed)| is_number(last) && is_number(seed));
    match repetition.map(|(name, _)| case(name)) {
        Some(shorter) if shorter.exists() && !case(name).exists() => shorter,
        _ => case(name),
    }
}
