//! `coreach test`: a test case meets an implementation.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use coreach_execution::adapter::open;
use coreach_execution::campaign::summary::Counts;
use coreach_execution::constants::{given, initial_state};
use coreach_execution::judge;
use coreach_execution::lazy::Lazy;
use coreach_execution::record::{Record, record};
use coreach_execution::run::events;
use coreach_execution::strategy::{Asked, Move};
use coreach_execution::values::{MIX, Values};
use coreach_execution::{Adapter, Bucket, Drive, Ending, Judge, Outcome, Run, Settings, Strategy, tester};
use coreach_model::diagnostic::nearest;
use coreach_model::semantics::State;
use coreach_model::{Diagnostic, Verdict};
use coreach_project::cases::{self, Case};
use coreach_project::once::Once;
use coreach_project::outputs::{self, Named};
use coreach_project::{budget, iut};
use serde::Serialize;

use super::{plural, refuse_as};
use crate::execution_arguments::{Chooser, TestArguments};
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::progress::Progress;
use crate::write::write;
use crate::{console, story, watch};

/// Reads, runs, and says what came of it.
///
/// # Errors
/// Standard output cannot be written.
pub fn test(arguments: &TestArguments) -> io::Result<Exit> {
    let refuse = |found: &[Diagnostic]| refuse_as(found, arguments.format, Exit::Refused);
    let progress = Progress::start(arguments.runs.get(), !arguments.quiet);
    let (cases, warnings) =
        match cases::load(&arguments.test, arguments.purpose.as_deref(), &|what| progress.says(what)) {
            Ok(cases) => cases,
            Err(found) => return refuse(&found),
        };
    let strangers = strangers(arguments, &cases);
    if !strangers.is_empty() {
        return refuse(&strangers);
    }
    let mut implementations = Vec::new();
    let mut files = Once::default();
    for case in &cases {
        match budget::reading(|| iut::load_once(&arguments.iut, &case.test.iosts, &mut files)) {
            Ok((iut, more)) => implementations.push((iut, more)),
            Err(found) => return refuse(&found),
        }
    }
    if arguments.format == OutputFormat::Human {
        console::draw(&warnings);
        if let Some((_, more)) = implementations.first() {
            console::draw(more);
        }
    }
    let written = arguments.keep.as_deref().map(|folder| kept(arguments, &cases, folder)).unwrap_or_default();
    let inputs = [outputs::test(&arguments.test), outputs::iut(&arguments.iut)].concat();
    if let Err(found) = outputs::refuse(&written, &inputs) {
        return refuse(&found);
    }
    if let Some(folder) = &arguments.keep
        && let Err(error) = fs::create_dir_all(folder)
    {
        console::say(&format!("error: {}: {error}", folder.display()));
        return Ok(Exit::Environment);
    }
    let settings = arguments.driving.over(Settings::default());
    let mut exit = Exit::Fine;
    let documents: Arc<Mutex<Vec<Record>>> = Arc::default();
    if arguments.format == OutputFormat::Json {
        let finished = documents.clone();
        watch::tell_at_end(move |exit_code| {
            let document = Document { format_version: 1, exit_code, runs: lock(&finished).clone() };
            serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
        });
    }
    // What outlives a run outlives a test case.
    let mut kept: Option<Box<dyn Adapter>> = None;
    for (case, (iut, _)) in cases.iter().zip(&implementations) {
        let pairs = arguments.constant.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let known = match given(&case.test, pairs) {
            Ok(known) => known,
            Err(error) => return refuse(&[Diagnostic::error("constants", error.to_string())]),
        };
        let fresh = || open(iut, Lazy::default);
        let mut adapter = kept.take().filter(|_| iut.way.outlives_runs()).unwrap_or_else(fresh);
        let mut strategy = strategy(arguments.strategy);
        let mut values = Values::new(MIX);
        let mut total = Total::default();
        for number in 0..arguments.runs.get() as u64 {
            let seed = arguments.seed.wrapping_add(number);
            let mut solver = Lazy::default();
            let initial = budget::reading(|| {
                let solved = initial_state(&case.test, &known, seed, &mut solver);
                solved.map_err(|error| vec![Diagnostic::error("constants", error.to_string())])
            });
            let initial = match initial {
                Ok(initial) => initial,
                Err(found) => return refuse(&found),
            };
            progress.says(format!("{} seed {seed} ({})", case.name, total.line()));
            let mut judge = judge::of(&case.test, initial.clone(), iut.link);
            let run = tester::run(Drive {
                judge: judge.as_mut(),
                seed,
                settings: &settings,
                adapter: adapter.as_mut(),
                strategy: &mut strategy,
                values: &mut values,
                solver: &mut solver,
            });
            progress.one_done();
            exit = exit.and(exit_of(&run.outcome));
            total.add(&run);
            let written = record(judge.as_mut(), &run);
            total.failed(&run, &written);
            let path = match keep(arguments, case, &written, &inputs) {
                Ok(path) => path,
                Err(message) => {
                    console::say(&format!("error: {message}"));
                    return Ok(Exit::Environment);
                }
            };
            if arguments.format == OutputFormat::Human {
                tell(arguments, case, &initial, &run, path.as_deref())?;
            } else {
                lock(&documents).push(written);
            }
        }
        kept = Some(adapter);
        if arguments.format == OutputFormat::Human {
            console::print(&format!("{} against {}: {}\n", case.name, iut.name, total.text()))?;
        }
    }
    drop(progress);
    if arguments.format == OutputFormat::Json {
        console::print_json(&Document {
            format_version: 1,
            exit_code: exit.code(),
            runs: lock(&documents).clone(),
        })?;
    }
    Ok(exit)
}

fn lock(documents: &Mutex<Vec<Record>>) -> MutexGuard<'_, Vec<Record>> {
    documents.lock().unwrap_or_else(PoisonError::into_inner)
}

#[derive(Serialize)]
struct Document {
    format_version: u32,
    exit_code: u8,
    runs: Vec<Record>,
}

/// What a run's outcome says for the exit code.
pub(super) fn exit_of(outcome: &Outcome) -> Exit {
    match outcome {
        Outcome::Verdict(Verdict::Pass, _) => Exit::Fine,
        Outcome::Verdict(Verdict::Inconclusive, _) => Exit::Inconclusive,
        Outcome::Verdict(Verdict::Fail, _) => Exit::Failed,
        Outcome::RunError(_) => Exit::RunErrors,
    }
}

fn strategy(chooser: Chooser) -> Strategy<'static> {
    match chooser {
        Chooser::Random => Strategy::random(),
        Chooser::Coverage => Strategy::Coverage(Default::default()),
        Chooser::Shortest => Strategy::Shortest,
        Chooser::Interactive => Strategy::Ask(Box::new(ask)),
    }
}

/// Asks at the keyboard; the end of the input ends the run.
fn ask(judge: &dyn Judge, moves: &[Move]) -> Asked {
    let mut state = judge.shown();
    state.data.sort_by(|(one, _), (other, _)| one.cmp(other));
    let data = state.data.iter().map(|(datum, value)| format!("{datum} = {value}"));
    console::say(&format!("in {} with {}", state.place, data.collect::<Vec<_>>().join(", ")));
    for (number, one) in moves.iter().enumerate() {
        let text = match one {
            Move::Wait => "wait for an observation".to_owned(),
            Move::Send(number) => judge.describe(*number),
        };
        console::say(&format!("  {} {text}", number + 1));
    }
    // Nobody can be told if the question cannot be written; the answer then decides.
    let mut stderr = io::stderr().lock();
    loop {
        let _ = write!(stderr, "which (a number, or q to end)? ");
        let _ = stderr.flush();
        let mut line = String::new();
        match io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => return Asked::End,
            Ok(_) => {}
        }
        match line.trim() {
            "q" | "quit" => return Asked::End,
            text => match text.parse::<usize>().ok().and_then(|number| moves.get(number.wrapping_sub(1))) {
                Some(one) => return Asked::Moves(vec![*one]),
                None => {
                    let _ = writeln!(stderr, "expected a number from 1 to {}", moves.len());
                    if !io::stdin().is_terminal() {
                        return Asked::End;
                    }
                }
            },
        }
    }
}

/// The locations of `--quiescence-at` that no test case has: their limit would silently be nobody's.
fn strangers(arguments: &TestArguments, cases: &[Case]) -> Vec<Diagnostic> {
    let known: BTreeSet<&str> = cases
        .iter()
        .flat_map(|case| &case.test.iosts.locations)
        .map(|location| location.name.as_str())
        .collect();
    let names = arguments.driving.quiescence_at.iter().map(|(name, _)| name.as_str());
    let stranger = |name: &str| {
        let message = format!("`--quiescence-at`: no test case has a location `{name}`");
        let diagnostic = Diagnostic::error("unknown-location", message);
        match nearest(name, known.iter().copied()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic,
        }
    };
    names.filter(|name| !known.contains(name)).map(stranger).collect()
}

/// Before the first run, so many of the files that `--keep` writes are looked at; each of them again when it is written.
const LOOKED_AHEAD: usize = 1000;

/// The files that `--keep` writes.
fn kept(arguments: &TestArguments, cases: &[Case], folder: &Path) -> Vec<Named> {
    let seeds =
        (0..arguments.runs.get().min(LOOKED_AHEAD) as u64).map(|number| arguments.seed.wrapping_add(number));
    let name = |path: PathBuf| Named { what: "--keep".to_owned(), path };
    let mut files = Vec::new();
    for case in cases {
        files.push(name(test_path(folder, case)));
        files.extend(seeds.clone().map(|seed| name(run_path(folder, case, seed))));
    }
    files
}

fn test_path(folder: &Path, case: &Case) -> PathBuf {
    folder.join(format!("{}.test_case.json", case.name))
}

fn run_path(folder: &Path, case: &Case, seed: u64) -> PathBuf {
    folder.join(format!("{}.{seed}.json", case.name))
}

/// Writes the run's document, if that is wanted; its path.
fn keep(
    arguments: &TestArguments,
    case: &Case,
    record: &Record,
    inputs: &[Named],
) -> Result<Option<String>, String> {
    let Some(folder) = &arguments.keep else { return Ok(None) };
    let (test, run) = (test_path(folder, case), run_path(folder, case, record.seed));
    let names = [Named::new("--keep", &test), Named::new("--keep", &run)];
    outputs::refuse(&names, inputs)
        .map_err(|found| found.iter().map(|one| one.message.clone()).collect::<String>())?;
    let text = serde_json::to_string_pretty(record).map_err(|error| error.to_string())?;
    for (path, text) in [(&test, &case.document), (&run, &text)] {
        write(path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(Some(run.display().to_string()))
}

fn tell(
    arguments: &TestArguments,
    case: &Case,
    initial: &State,
    run: &Run,
    path: Option<&str>,
) -> io::Result<()> {
    let passed = run.outcome.verdict() == Some(Verdict::Pass);
    if passed && arguments.quiet {
        return Ok(());
    }
    let constants: Vec<String> =
        run.constants.iter().map(|(datum, value)| format!("{datum} = {value}")).collect();
    let mut text = format!(
        "{} seed {}{}: {} in {:.3} s, ",
        case.name,
        run.seed,
        if constants.is_empty() { String::new() } else { format!(" ({})", constants.join(", ")) },
        plural(run.trace.len(), "event"),
        run.time.as_secs_f64(),
    );
    text.push_str(&story::why(&case.test, initial, run));
    // One run is told whole; of many, those that did not pass.
    if !passed || arguments.runs.get() == 1 {
        text.push_str(&story::table(&case.test, initial, run));
    }
    if let Some(path) = path.filter(|_| !passed) {
        text.push_str(&format!("  kept: {path}\n"));
    }
    console::print(&text)
}

/// Sums over runs.
#[derive(Default)]
struct Total {
    outcomes: Counts,
    events: usize,
    seconds: f64,
    mix: BTreeMap<&'static str, usize>,
    /// Each thing that failed: in how many runs, and the fewest events with their seed.
    failed: BTreeMap<Bucket, (usize, usize, u64)>,
}

impl Total {
    fn add(&mut self, run: &Run) {
        self.outcomes.count(run.outcome.ending());
        self.events += run.trace.len();
        self.seconds += run.time.as_secs_f64();
        for (source, count) in &run.mix {
            *self.mix.entry(source.name()).or_default() += count;
        }
    }

    /// Counts what failed, if anything did.
    fn failed(&mut self, run: &Run, record: &Record) {
        let Some(bucket) = record.bucket.as_ref().filter(|bucket| bucket.is_failure()) else { return };
        let events = events(&run.trace);
        let (count, fewest, seed) = self.failed.entry(bucket.clone()).or_insert((0, events, run.seed));
        *count += 1;
        if events < *fewest {
            (*fewest, *seed) = (events, run.seed);
        }
    }

    fn line(&self) -> String {
        let count = |ending: &Ending| format!("{ending} {}", self.outcomes.of(*ending));
        Ending::ALL.iter().map(count).collect::<Vec<_>>().join(", ")
    }

    fn text(&self) -> String {
        let mix: Vec<String> = self.mix.iter().map(|(name, count)| format!("{name} {count}")).collect();
        let values = if mix.is_empty() { String::new() } else { format!("\n  values: {}", mix.join(", ")) };
        let events = plural(self.events, "event");
        let mut text = format!("{}; {events} in {:.3} s{values}", self.line(), self.seconds);
        for (bucket, (count, fewest, seed)) in &self.failed {
            let (runs, events) = (plural(*count, "run"), plural(*fewest, "event"));
            text += &format!(
                "\n  {}: {bucket}\n    {runs}, the shortest of {events} with seed {seed}",
                bucket.id()
            );
        }
        text
    }
}
