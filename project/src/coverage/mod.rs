//! Coverage of what really ran: from the files that a user names to a report.
//!
//! What covered means is said in [`coreach_execution::coverage`]. Here the runs are read, one at a time, so
//! that a store of any size takes the memory of a small one; each is held against the models that its test
//! case was made of (`subjects`), and the sums are put into a report (`report`), which is also written as
//! LCOV (`lcov`).
//!
//! A run counts once, in however many of the files it is: by its key in stores, by its bytes as a file. Sums
//! do not depend on the order of files and runs, so the report has the same bytes for any.

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

pub use given::Given;
pub use lcov::lcov;
pub use report::{CoverageKind, CoverageReport, Requirement};
pub use subjects::side_by_side;
use subjects::{Subject, Subjects};

use crate::making::Says;
use crate::{budget, stored};

/// The code of a finding that the machine did not let us read a store.
pub const NO_ACCESS: &str = "store-access";

/// Between two words about progress so many runs are read.
const SAID_EVERY: usize = 100;

#[derive(Clone, Debug)]
pub struct Settings {
    /// The domain that proves what no run can show; nothing is proved where there is none.
    pub domain: Option<DomainKind>,
    /// The most states in which a run may be at once.
    pub states: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, serde::Serialize)]
pub struct Runs {
    pub read: usize,
    /// Of those, counted before: the same run is in several files.
    pub repeated: usize,
    /// Left out, since they may have been in more states than are followed.
    pub too_many_states: usize,
    /// Counted up to a place only: behind a link, no order that the specification allows goes on from there.
    pub cut: usize,
    /// Left out, since they went over several connections, and nobody knows in which order.
    pub unordered: usize,
    /// Left out, since following them took more than the budget.
    pub stopped: usize,
}

struct CoveredTest {
    case: TestCase,
    subject: usize,
}

struct RunReader<'a> {
    settings: &'a Settings,
    says: Says<'a>,
    subjects: Subjects,
    /// For each subject, its sums.
    tallies: Vec<Tally>,
    /// Test cases by the hashes of stores, and by their files.
    tests: HashMap<String, CoveredTest>,
    seen: BTreeSet<Key>,
    runs: Runs,
    /// The constants of the last run, with the state in which it began: most runs have the same.
    last: Option<(usize, Valuation, State)>,
    stops: Stops,
    solver: Lazy,
}

/// What a budget has ended, each reason once.
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

/// Reads the runs and says what they covered; and what a budget has ended, without which there may be less.
/// Errors: what cannot be read, or does not fit together: a model that was changed, a run that is none of its
/// models.
pub fn measure(
    given: &Given,
    settings: &Settings,
    says: Says<'_>,
) -> Result<(CoverageReport, Vec<Diagnostic>), Vec<Diagnostic>> {
    let subjects = Subjects::read(&given.configurations, given.are_found)?;
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
    for store in &given.stores {
        reader.store(store)?;
    }
    for run in &given.runs {
        reader.file(run)?;
    }
    let RunReader { subjects, tallies, runs, mut stops, .. } = reader;
    let report = report::report(&subjects, &tallies, runs, settings, &mut stops, says);
    Ok((report, stops.0))
}

impl RunReader<'_> {
    fn store(&mut self, path: &Path) -> Result<(), Vec<Diagnostic>> {
        let name = path.display();
        (self.says)(format!("opening {name}"));
        let broken = |error: coreach_execution::campaign::StoreError| {
            let code = if error.is_mistake() { "no-store" } else { NO_ACCESS };
            let diagnostic = Diagnostic::error(code, error.to_string());
            vec![match error.help() {
                Some(help) => diagnostic.help(help),
                None => diagnostic,
            }]
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
                // A key is the hash of all that decides a run.
                result = match self.is_new(&Key::of(&run.key)) {
                    true => self
                        .known_test(&run.test, || {
                            documents.get(&run.test).cloned().ok_or_else(|| {
                                vec![Diagnostic::error(
                                    "no-test-case",
                                    format!("{}: its test case is missing", place()),
                                )]
                            })
                        })
                        .and_then(|()| self.run(&run.test, &run.record, &place)),
                    false => Ok(()),
                };
                result.is_ok()
            })
            .map_err(broken)?;
        result
    }

    fn file(&mut self, path: &Path) -> Result<(), Vec<Diagnostic>> {
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
        let test = beside.display().to_string();
        self.known_test(&test, || {
            let bytes = file::read(&beside, file::MOST_DOCUMENT);
            let bytes =
                bytes.map_err(|cause| error(format!("its test case {}: {cause}", beside.display())))?;
            String::from_utf8(bytes).map_err(|cause| error(format!("{}: {cause}", beside.display())))
        })?;
        self.run(&test, &record, &place)
    }

    fn is_new(&mut self, key: &Key) -> bool {
        self.runs.read += 1;
        let is_new = self.seen.insert(*key);
        self.runs.repeated += usize::from(!is_new);
        is_new
    }

    /// Reads a test case, if it was not read before.
    fn known_test(
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
        let subject = self.subjects.of(&case, self.says)?;
        let new = self.subjects.subjects.iter().skip(self.tallies.len());
        self.tallies.extend(new.map(|subject| Tally::new(subject.walked.count())));
        self.tests.insert(name.to_owned(), CoveredTest { case, subject });
        Ok(())
    }

    /// Counts one run of a known test case: walks its trace through the models, within a budget of its own.
    fn run(
        &mut self,
        test: &str,
        record: &Record,
        place: &dyn Fn() -> String,
    ) -> Result<(), Vec<Diagnostic>> {
        let CoveredTest { case, subject } = &self.tests[test];
        let models = &self.subjects.subjects[*subject];
        let time = budget::time(None);
        let last = &mut self.last;
        let (limit, solver) = (self.settings.states, &mut self.solver);
        let mut walk = || -> Result<_, Vec<Diagnostic>> {
            let misfit = |why: String| vec![Diagnostic::error("no-run", format!("{}: {why}", place()))];
            let (_, run) = restore_run(case, record).map_err(misfit)?;
            let begin = begin(*subject, models, &run, last, solver).map_err(misfit)?;
            let trace: Vec<Occurrence> = run.trace.iter().map(|step| step.what.clone()).collect();
            // What the user wrote knows no silence that is an event.
            let trace = if case.timed.is_some() { without_silence(&trace) } else { trace };
            let link = run.link.as_ref();
            if link.is_some_and(|link| link.connections() > 1) {
                return Ok((None, run));
            }
            let delay = link.and_then(Link::delay);
            let explained = explain_trace(&models.walked, &begin, &trace, delay, limit);
            if let Ok(explained) = &explained {
                fits(explained, &run, &trace).map_err(misfit)?;
            }
            Ok((Some(explained), run))
        };
        let walked = match budget::within("cover", time, |_| walk()) {
            Ok(walked) => walked,
            // The others are counted all the same.
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
                self.tallies[*subject].run(&explained.bounds, 0);
            }
            (Some(Err(_)), _) => self.runs.too_many_states += 1,
            (None, _) => self.runs.unordered += 1,
        }
        Ok(())
    }
}

/// The state in which a run began, of all models together.
fn begin(
    number: usize,
    subject: &Subject,
    run: &Run,
    last: &mut Option<(usize, Valuation, State)>,
    solver: &mut Lazy,
) -> Result<State, String> {
    let mut constants = subject.constants.clone();
    constants.extend(run.constants.iter().cloned());
    if let Some((of, known, state)) = last
        && *of == number
        && *known == constants
    {
        return Ok(state.clone());
    }
    // Where the condition leaves a variable open it is written before it is read (Definition 4.19): one state
    // stands for all.
    let states = initial::states(&subject.walked.iosts, &constants, 1 << 10, solver);
    let state = states.map_err(|why| why.text().to_owned())?.swap_remove(0);
    *last = Some((number, constants, state.clone()));
    Ok(state)
}

/// Did the run end with an event that the specification forbids?
fn is_forbidden(run: &Run) -> bool {
    matches!(run.outcome, Outcome::Verdict(Verdict::Fail, Cause::Event))
}

/// A run of a test case is a run of the models that it was made of, up to an event for which it failed.
fn fits(explained: &Explained, run: &Run, trace: &[Occurrence]) -> Result<(), String> {
    let wrong = |number: usize, text: &str| {
        let what = trace.get(number).map(ToString::to_string).unwrap_or_default();
        Err(format!("event {}, {what}, {text}", number + 1))
    };
    // Behind a link, events may come in orders that the specification alone does not have.
    if run.link.is_some() {
        return Ok(());
    }
    let last = trace.len().saturating_sub(1);
    match (explained.refused, is_forbidden(run)) {
        (None, false) => Ok(()),
        (Some(number), true) if number == last => Ok(()),
        // Nobody specified what came from elsewhere, and nobody is blamed for it.
        (Some(number), false) if number == last && run.timing.is_some() => Ok(()),
        (Some(number), _) => wrong(number, "is none that the specification allows here"),
        (None, true) => wrong(last, "failed the run, and the specification allows it"),
    }
}
