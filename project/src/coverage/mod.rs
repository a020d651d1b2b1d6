//! Measures the coverage of runs: from the files that a user names to a report.
//!
//! [`coreach_execution::coverage`] defines coverage. Here the runs are read one at a time, so that a large
//! store needs no more memory than a small one. Each run is walked through the models that its test case was
//! made of (`subjects`). The sums make a report (`report`), which can also be written as LCOV (`lcov`).
//!
//! A run counts once, even if it is in several files. In stores its key identifies it, as a file its bytes.
//! Sums do not depend on the order of files and runs, so neither does the report.

mod given;
mod lcov;
mod lines;
pub mod report;
mod subjects;

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use coreach_adapters::description::Link;
use coreach_analyses::DomainKind;
use coreach_execution::campaign::{Key, Store};
use coreach_execution::coverage::{Explained, Tally, explain_trace};
use coreach_execution::lazy::Lazy;
use coreach_execution::record::{self, Record, restore_run};
use coreach_execution::run::{Cause, Occurrence, Outcome};
use coreach_execution::timed::words::without_silence;
use coreach_execution::{Run, TestCase, initial};
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Diagnostic, Verdict, file};
use coreach_pipeline::stop::Stop;

pub use given::SortedFiles;
pub use lcov::write_lcov;
pub use report::{CoverageKind, CoverageReport, Requirement};
pub use subjects::join_models;
use subjects::{Subject, Subjects};

use crate::making::Says;
use crate::{budget, stored};

/// The code of a finding that the machine does not let coreach read a store.
pub const NO_ACCESS: &str = "store-access";

/// The number of runs after which progress is shown.
const SAID_EVERY: usize = 100;

pub struct Measure {
    /// The domain that proves items unreachable. Without it nothing is proved.
    pub domain: Option<DomainKind>,
    /// The most states in which a run may be at the same time.
    pub states: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize)]
pub struct Runs {
    pub read: usize,
    /// Runs among them that were counted before: the same run is in several files.
    pub repeated: usize,
    /// Runs that were left out, since they may have been in more states than are followed.
    pub too_many_states: usize,
    /// Runs that were counted only up to a place: over a link, no allowed order goes on from there.
    pub cut: usize,
    /// Runs that were left out, since the order of events over several connections is not known.
    pub unordered: usize,
    /// Runs that were left out, since following them took more than the budget.
    pub stopped: usize,
    /// Runs of `test --cover`, which were left out.
    pub walks: usize,
}

struct CoveredTest {
    case: TestCase,
    subject: usize,
}

struct RunReader<'a> {
    settings: &'a Measure,
    says: Says<'a>,
    subjects: Subjects,
    /// The sums of each subject.
    tallies: Vec<Tally>,
    /// Test cases by the hashes of stores, and by their files.
    /// `None` is a walk of `test --cover`.
    tests: HashMap<String, Option<CoveredTest>>,
    seen: BTreeSet<Key>,
    runs: Runs,
    /// The beginning of the last run. Most runs have the same.
    last: Option<RunStart>,
    stops: Stops,
    solver: Lazy,
}

/// The beginning of a run: the number of its subject, its constants, and the state in which it began.
struct RunStart {
    subject: usize,
    constants: Valuation,
    state: State,
}

/// The reasons why a budget has ended work, each one once.
#[derive(Default)]
pub(crate) struct Stops(Vec<Diagnostic>);

impl Stops {
    pub(crate) fn add(&mut self, stop: &Stop) {
        let diagnostic = stop.to_diagnostic();
        if !self.0.contains(&diagnostic) {
            self.0.push(diagnostic);
        }
    }
}

/// Reads the runs and measures what they covered. The diagnostics say which work a budget ended.
///
/// # Errors
/// A file cannot be read, or files do not fit together: a model was changed, or a run is not of its models.
pub fn measure(
    files: &SortedFiles,
    settings: &Measure,
    says: Says<'_>,
) -> Result<(CoverageReport, Vec<Diagnostic>), Vec<Diagnostic>> {
    let subjects = Subjects::read(&files.configurations, files.are_found)?;
    let mut reader = RunReader {
        settings,
        says,
        subjects,
        tallies: Vec::new(),
        tests: HashMap::new(),
        seen: BTreeSet::new(),
        runs: Runs::default(),
        last: None,
        stops: Stops::default(),
        solver: Lazy::default(),
    };
    for store in &files.stores {
        reader.read_store(store)?;
    }
    for run in &files.runs {
        reader.read_file(run)?;
    }
    let RunReader { subjects, tallies, runs, mut stops, .. } = reader;
    if runs.walks > 0 && tallies.is_empty() {
        let message = "there are only runs of `test --cover`, which `coverage` does not count";
        let help = "`test --cover` itself prints what its run covered";
        return Err(vec![Diagnostic::error("no-run", message).help(help)]);
    }
    let report = report::make_report(&subjects, &tallies, runs, settings, &mut stops, says);
    Ok((report, stops.0))
}

impl RunReader<'_> {
    /// Counts all runs of a store.
    fn read_store(&mut self, path: &Path) -> Result<(), Vec<Diagnostic>> {
        let name = path.display();
        (self.says)(format!("opening {name}"));
        let broken = |error: coreach_execution::campaign::StoreError| {
            let code = if error.is_mistake() { "no-store" } else { NO_ACCESS };
            let diagnostic = Diagnostic::error(code, error.to_string());
            vec![if let Some(help) = error.help() { diagnostic.help(help) } else { diagnostic }]
        };
        let store = Store::read(path).map_err(broken)?;
        let documents = store.test_documents().map_err(broken)?;
        let count = store.count().map_err(broken)?;
        let mut read = 0;
        let mut result = Ok(());
        store
            .each_run(&mut |run| {
                if read % SAID_EVERY == 0 {
                    (self.says)(format!("{name}: {read} of {count} runs"));
                }
                read += 1;
                let place = || format!("{name}: run {}", run.number);
                // A key is the hash of everything on which the run depends.
                if self.is_new(&Key::of(&run.key)) {
                    let missing = || {
                        let message = format!("{}: its test case is missing", place());
                        vec![Diagnostic::error("no-test-case", message)]
                    };
                    let document = || documents.get(&run.test).cloned().ok_or_else(missing);
                    let read = self.read_test(&run.test, document);
                    result = read.and_then(|()| self.count_run(&run.test, &run.record, &place));
                }
                result.is_ok()
            })
            .map_err(broken)?;
        result
    }

    /// Counts the run of a file.
    fn read_file(&mut self, path: &Path) -> Result<(), Vec<Diagnostic>> {
        if self.runs.read.is_multiple_of(SAID_EVERY) {
            (self.says)(format!("{} runs, {}", self.runs.read, path.display()));
        }
        let place = || path.display().to_string();
        let error = |why: String| vec![Diagnostic::error("no-run", format!("{}: {why}", path.display()))];
        let bytes = file::read(path, file::MOST_DOCUMENT).map_err(|cause| error(cause.to_string()))?;
        if !self.is_new(&Key::of(&String::from_utf8_lossy(&bytes))) {
            return Ok(());
        }
        let record = record::read_record(&bytes).map_err(|why| error(format!("not a run: {why}")))?;
        let beside = stored::beside(path);
        if !beside.exists() {
            return Err(vec![stored::report_lost_test_case(path, &beside)]);
        }
        let test = beside.display().to_string();
        self.read_test(&test, || {
            let bytes = file::read(&beside, file::MOST_DOCUMENT);
            let bytes =
                bytes.map_err(|cause| error(format!("its test case {}: {cause}", beside.display())))?;
            String::from_utf8(bytes).map_err(|cause| error(format!("{}: {cause}", beside.display())))
        })?;
        self.count_run(&test, &record, &place)
    }

    fn is_new(&mut self, key: &Key) -> bool {
        self.runs.read += 1;
        let is_new = self.seen.insert(*key);
        self.runs.repeated += usize::from(!is_new);
        is_new
    }

    /// Reads the `document` of a test case, if it was not read before.
    fn read_test(
        &mut self,
        name: &str,
        document: impl FnOnce() -> Result<String, Vec<Diagnostic>>,
    ) -> Result<(), Vec<Diagnostic>> {
        if self.tests.contains_key(name) {
            return Ok(());
        }
        let document = document()?;
        let read = || {
            let case = TestCase::from_json(document.as_bytes());
            case.map_err(|error| vec![Diagnostic::error("no-test-case", format!("{name}: {error}"))])
        };
        let case = budget::reading(read)?;
        // A walk of `test --cover` is judged on line, and was made of no purpose.
        if case.made_of.is_none() && case.online.is_some() {
            self.tests.insert(name.to_owned(), None);
            return Ok(());
        }
        let subject = self.subjects.of(&case, self.says)?;
        let new = self.subjects.subjects.iter().skip(self.tallies.len());
        self.tallies.extend(new.map(|subject| Tally::new(subject.walked.count())));
        self.tests.insert(name.to_owned(), Some(CoveredTest { case, subject }));
        Ok(())
    }

    /// Counts one run of a known test case: walks its trace through the models, within a budget of its own.
    fn count_run(
        &mut self,
        test: &str,
        record: &Record,
        place: &dyn Fn() -> String,
    ) -> Result<(), Vec<Diagnostic>> {
        let Some(CoveredTest { case, subject }) = &self.tests[test] else {
            self.runs.walks += 1;
            return Ok(());
        };
        let models = &self.subjects.subjects[*subject];
        let time = budget::time(None);
        let last = &mut self.last;
        let (limit, solver) = (self.settings.states, &mut self.solver);
        let mut walk = || -> Result<_, Vec<Diagnostic>> {
            let misfit = |why: String| vec![Diagnostic::error("no-run", format!("{}: {why}", place()))];
            let (_, run) = restore_run(case, record).map_err(misfit)?;
            let begin = find_initial_state(*subject, models, &run, last, solver).map_err(misfit)?;
            let trace: Vec<Occurrence> = run.trace.iter().map(|step| step.what.clone()).collect();
            // A timed model of the user has no silence that is an event.
            let trace = if case.timed.is_some() { without_silence(&trace) } else { trace };
            let link = run.link.as_ref();
            // Nobody knows the order of events over several connections.
            if link.is_some_and(|link| link.connections() > 1) {
                return Ok((None, run));
            }
            let delay = link.and_then(Link::delay);
            let explained = explain_trace(&models.walked, &begin, &trace, delay, limit);
            if let Ok(explained) = &explained {
                check_fit(explained, &run, &trace).map_err(misfit)?;
            }
            Ok((Some(explained), run))
        };
        let walked = match budget::within("cover", time, |_| walk()) {
            Ok(walked) => walked,
            // All other runs are still counted.
            Err(stop) => {
                self.runs.stopped += 1;
                self.stops.add(&stop);
                return Ok(());
            }
        };
        match walked? {
            (Some(Ok(explained)), run) => {
                self.runs.cut +=
                    usize::from(run.link.is_some() && explained.refused.is_some() && !is_forbidden(&run));
                self.tallies[*subject].add_run(&explained.bounds, 0);
            }
            (Some(Err(_)), _) => self.runs.too_many_states += 1,
            (None, _) => self.runs.unordered += 1,
        }
        Ok(())
    }
}

/// Finds the state of all models together in which a run began. `remembered` is that of the run before.
fn find_initial_state(
    number: usize,
    subject: &Subject,
    run: &Run,
    remembered: &mut Option<RunStart>,
    solver: &mut Lazy,
) -> Result<State, String> {
    let mut constants = subject.constants.clone();
    constants.extend(run.constants.iter().cloned());
    if let Some(remembered) = remembered
        && remembered.subject == number
        && remembered.constants == constants
    {
        return Ok(remembered.state.clone());
    }
    // One state stands for all: an open variable is written before it is read (Definition 4.19).
    let states = initial::states(&subject.walked.iosts, &constants, 1 << 10, solver);
    let state = states.map_err(|why| why.text().to_owned())?.swap_remove(0);
    *remembered = Some(RunStart { subject: number, constants, state: state.clone() });
    Ok(state)
}

/// Did the run end with an event that the specification forbids?
fn is_forbidden(run: &Run) -> bool {
    matches!(run.outcome, Outcome::Verdict(Verdict::Fail, Cause::Event))
}

/// Checks that a run of a test case is one of its models, up to an event for which it failed.
fn check_fit(explained: &Explained, run: &Run, trace: &[Occurrence]) -> Result<(), String> {
    let wrong = |number: usize, text: &str| {
        let what = trace.get(number).map(ToString::to_string).unwrap_or_default();
        Err(format!("event {}, {what}, {text}", number + 1))
    };
    // Over a link, events may come in orders that the specification alone does not have.
    if run.link.is_some() {
        return Ok(());
    }
    let last = trace.len().saturating_sub(1);
    match (explained.refused, is_forbidden(run)) {
        (None, false) => Ok(()),
        (Some(number), true) if number == last => Ok(()),
        // In a timed run, the last event may be an unspecified input from elsewhere. It is nobody's fault.
        (Some(number), false) if number == last && run.timing.is_some() => Ok(()),
        (Some(number), _) => wrong(number, "is not allowed here by the specification"),
        (None, true) => wrong(last, "failed the run, and the specification allows it"),
    }
}
