//! `coreach test`: a test case meets an implementation.

mod covering;
mod groups;
mod hints;
pub(super) mod keep;
mod report;
mod total;
mod value_hints;

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use coreach_adapters::Iut;
use coreach_adapters::keeper::is_ending;
use coreach_execution::campaign::{LeftOut, WhyLeftOut};
use coreach_execution::constants::{ConstantsError, initial_state, read_constants};
use coreach_execution::interruption::stop_if_ending;
use coreach_execution::lazy::Lazy;
use coreach_execution::open::Links;
use coreach_execution::planner::SharedExperience;
use coreach_execution::preparation::{Preparation, run_alone};
use coreach_execution::record::Record;
use coreach_execution::strategy::{Asked, Move};
use coreach_execution::{Judge, OutcomeKind, Run, Settings, Strategy};
use coreach_model::diagnostic::nearest;
use coreach_model::lock::lock;
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Diagnostic, Verdict};
use coreach_project::cases::{self, Case, Cases, NoCase};
use coreach_project::iut::{self, NameableLocations};
use coreach_project::once::Once;
use coreach_project::unreachable::explain_constants;
use coreach_project::{budget, render};
use serde::Serialize;
use serde_json::Value;

use self::groups::RunGroups;
use self::hints::{explain_run, find_iut_line};
use self::keep::Keeper;
use self::report::TestReport;
use self::total::{FailedRuns, Total, explain_leftovers};
use super::{CommandAnswer, CommandResult, EarlyExit, plural};
use crate::answer::{draw_briefly, draw_text, is_json, print_text, render_answer};
use crate::execution_arguments::{Chooser, TestArguments};
use crate::exit::Exit;
use crate::inconclusive::Inconclusive;
use crate::outputs::{OutputForm, resolve_output};
use crate::progress::ProgressLine;
use crate::transcript::quote_for_shell;
use crate::visible::visible;
use crate::{certain_end, console, story};

/// Runs the test cases against an implementation, and tells what came of each.
pub fn test(arguments: &TestArguments) -> CommandResult {
    if let Some(what) = arguments.walking.cover {
        return covering::test_by_walk(arguments, what);
    }
    let progress = ProgressLine::start(arguments.runs.get(), !arguments.quiet);
    let Cases { cases, none: no_cases, warnings } =
        cases::load(&arguments.test, arguments.purpose.as_deref(), &|what| progress.says(what))?;
    let exit = no_cases.iter().fold(Exit::Fine, |exit, case| exit.and(case.why.into()));
    let left_out: Vec<LeftOut> = no_cases.iter().map(NoCase::left_out).collect();
    let left_out_findings: Vec<Diagnostic> = no_cases.into_iter().flat_map(|case| case.found).collect();
    if cases.is_empty() {
        // The report says so, too, so that no older report stays. If a signal has cut off the work, there is
        // no result to report.
        let output = resolve_output("--junit", arguments.junit.as_deref(), OutputForm::Junit)?;
        TestReport::begin(output.filter(|_| !is_ending()), arguments, &left_out)?.finish()?;
        // A warning of the models may say why.
        return Err(EarlyExit::Refused([warnings, left_out_findings].concat(), exit));
    }
    check_names(arguments, &cases)?;
    let mut implementations = Vec::new();
    let mut files = Once::default();
    let locations = collect_locations(&cases);
    for case in &cases {
        let read = || iut::load_once(&arguments.iut, case.test.wire(), Some(&locations), &mut files);
        implementations.push(budget::reading(read).map_err(|found| explain_fixed_holes(found, case))?);
    }
    draw_briefly(&warnings, arguments.quiet);
    draw_text(&left_out_findings);
    // All test cases have the same IUT file, so one of them tells its warnings.
    if let Some((_, iut_warnings)) = implementations.first() {
        draw_text(iut_warnings);
    }
    let mut testing = Testing {
        arguments,
        report: TestReport::begin(keep::check_outputs(arguments, &cases)?, arguments, &left_out)?,
        progress,
        documents: Arc::default(),
        groups: Arc::default(),
        keeper: Keeper::default(),
        left_out_findings,
        exit,
    };
    let (so_far, untold) = (testing.documents.clone(), testing.groups.clone());
    certain_end::tell_at_end(move |exit_code, _| {
        let (diagnostics, runs) = (Value::Array(Vec::new()), lock(&so_far).clone());
        let document = TestDocument { format_version: 1, exit_code, diagnostics, runs };
        render_answer(|| document, || visible(&lock(&untold).text()).into_owned())
    });
    // A link that outlives a run also outlives its test case.
    let links = Links::default();
    let mut next_commands = Vec::new();
    for (case, (iut, _)) in cases.iter().zip(&implementations) {
        if arguments.tolerance.fail_fast && testing.exit == Exit::Failed {
            break;
        }
        let total = testing.run_case(case, iut, &links)?;
        testing.report.end_case(&case.name, &iut.name, &total);
        console::print(&std::mem::take(&mut *lock(&testing.groups)).text());
        if total.has_runs() {
            let text = if arguments.quiet { total.quiet() } else { total.text() };
            print_text(&format!("{} against {}: {text}", case.name, iut.name));
            if !arguments.quiet {
                print_text(&story::wrap(&explain_leftovers(iut, &total)));
                print_text(&story::wrap(&total.hint.text));
                next_commands.extend(next_command(arguments, &total, iut.way.outlives_runs()));
            }
        }
    }
    let Testing { progress, report, documents, left_out_findings, exit, .. } = testing;
    drop(progress);
    report.finish()?;
    // One command is enough: the other failures are reported above it.
    next_commands.truncate(1);
    let document = || TestDocument {
        format_version: 1,
        exit_code: exit.code(),
        diagnostics: render::to_json(&[warnings, left_out_findings].concat()),
        runs: lock(&documents).clone(),
    };
    Ok(CommandAnswer::new(exit, document, || next_commands.concat()))
}

/// What comes of the runs of all test cases.
struct Testing<'a> {
    arguments: &'a TestArguments,
    progress: ProgressLine,
    report: TestReport,
    /// The runs so far, if the answer is a document.
    documents: Arc<Mutex<Vec<Record>>>,
    /// The runs of a test case that are told at its end.
    groups: Arc<Mutex<RunGroups>>,
    keeper: Keeper,
    /// Why test cases are missing, or have no run.
    left_out_findings: Vec<Diagnostic>,
    exit: Exit,
}

impl Testing<'_> {
    /// Runs a test case as often as is asked for. Without a state in which a run can begin, leaves it out.
    fn run_case(&mut self, case: &Case, iut: &Iut, links: &Links) -> Result<Total, EarlyExit> {
        let arguments = self.arguments;
        let has_constant = |name: &str| case.test.iosts.constants.iter().any(|datum| datum.name() == name);
        let given = arguments.constant.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let given = given.filter(|(name, _)| has_constant(name));
        let constants = read_constants(&case.test, given).map_err(Diagnostic::from)?;
        // Runs are made one after the other, so that a plan may learn from the answers in earlier runs.
        let experience = SharedExperience::default();
        let preparation = Preparation {
            test: &case.test,
            iut,
            // All test cases have one implementation, whose number is 0.
            links: (links, 0),
            settings: arguments.driving.over(Settings::default(), iut),
            strategy: &|| make_strategy(arguments.strategy, &experience),
            retries: arguments.tolerance.retries,
        };
        let mut total = Total::default();
        for number in 0..arguments.runs.get() as u64 {
            let seed = arguments.seed.wrapping_add(number);
            let chosen = run_alone(|| choose_first_state(case, &constants, seed));
            let initial = match chosen.map_err(EarlyExit::no_thread)? {
                Ok(initial) => initial,
                // The command goes on, since other test cases may suit.
                Err((found, why)) => {
                    // If a signal has cut off the question, the test case may still have a run.
                    stop_if_ending();
                    self.exit = self.exit.and(why.into());
                    let message = found.first().map_or_else(String::new, |first| first.message.clone());
                    self.report.add_left_out(&LeftOut { test: case.name.clone(), why, message });
                    draw_text(&found);
                    self.left_out_findings.extend(found);
                    break;
                }
            };
            self.progress.says(format!("{} seed {seed} ({})", case.name, total.counts_line()));
            let (run, record) = preparation.run(&initial, seed).map_err(EarlyExit::no_thread)?;
            self.progress.one_done();
            self.add_run(case, iut, &initial, &run, record, &mut total)?;
            if arguments.tolerance.fail_fast && run.outcome.kind() == OutcomeKind::FAIL {
                break;
            }
        }
        Ok(total)
    }

    /// Keeps a run if that is wanted, adds it to the sums and the reports, and tells it now or notes it for
    /// the end of the test case.
    fn add_run(
        &mut self,
        case: &Case,
        iut: &Iut,
        initial: &State,
        run: &Run,
        record: Record,
        total: &mut Total,
    ) -> Result<(), EarlyExit> {
        let arguments = self.arguments;
        self.exit = self.exit.and(arguments.tolerance.inconclusive.exit(run.outcome.kind()));
        total.add(run);
        let path = self.keeper.keep(arguments, case, &record).map_err(EarlyExit::hindered)?;
        total.add_ending(run, &record, path.as_deref());
        total.add_hint(run, &record, is_told_in_full(arguments), || {
            explain_run(arguments, case, iut, initial, run, &record)
        });
        self.report.add_run(&record, path.as_deref());
        if is_json() {
            lock(&self.documents).push(record);
        } else if !arguments.quiet {
            let text = |in_full| run_text(arguments, case, initial, run, path.as_deref(), in_full);
            // Runs that do not pass are grouped, and told at the end of the test case.
            match run.outcome.verdict() {
                _ if is_told_in_full(arguments) => console::print(&text(true)),
                Some(Verdict::Pass) => {}
                _ => lock(&self.groups).add(run, &record, text),
            }
        }
        Ok(())
    }
}

#[derive(Serialize)]
struct TestDocument {
    format_version: u32,
    exit_code: u8,
    /// Warnings, and why purposes were left out.
    diagnostics: Value,
    runs: Vec<Record>,
}

/// Chooses the state in which a run begins, with the constants `given` and others of its own choice. If there
/// is none, says why, and how the test case is left out.
fn choose_first_state(
    case: &Case,
    given: &Valuation,
    seed: u64,
) -> Result<State, (Vec<Diagnostic>, WhyLeftOut)> {
    // This stays if the budget ends the search, without an error of `initial_state`.
    let mut why = WhyLeftOut::Stopped;
    let solved = budget::choosing_constants(|| {
        initial_state(&case.test, given, seed, &mut Lazy::default()).map_err(|error| {
            why = WhyLeftOut::of(&error);
            let models = case.specification.as_ref().zip(case.purpose.as_ref());
            vec![explain_constants(&error, &case.test, models)]
        })
    });
    solved.map_err(|found| (found, why))
}

/// Says that a constant which an IUT file names is not in the test case, because the configuration fixes it.
fn explain_fixed_holes(found: Vec<Diagnostic>, case: &Case) -> Vec<Diagnostic> {
    let explain = |unknown: Diagnostic| {
        let is_named = |name: &str| {
            unknown.code == "unknown-parameter" && unknown.message.ends_with(&format!("`{name}`"))
        };
        let Some(fixed) = case.fixed.iter().find(|fixed| is_named(&fixed.name)) else { return unknown };
        let (name, value) = (&fixed.name, &fixed.text);
        unknown
            .at(fixed.name_origin.clone(), "fixed here, so that the test case does not have it")
            .help(format!("remove `{name}` under `instantiate`, and give `--constant {name}={value}`"))
    };
    found.into_iter().map(explain).collect()
}

/// Checks that each constant, and each location of `--quiescence`, is one of a test case. Otherwise its value
/// would have no effect, and nobody would be told.
fn check_names(arguments: &TestArguments, cases: &[Case]) -> Result<(), Vec<Diagnostic>> {
    let locations = cases.iter().flat_map(|case| &case.test.iosts.locations);
    let locations: BTreeSet<&str> = locations.map(|location| location.name.as_str()).collect();
    let constants = cases.iter().flat_map(|case| &case.test.iosts.constants);
    let constants: BTreeSet<&str> = constants.map(Datum::name).collect();
    let report_location = |name: &str| {
        let message = format!("`--quiescence`: no test case has a location `{name}`");
        Diagnostic::error("unknown-location", message)
    };
    let report_constant = |name: &str| {
        if let Some(fixed) = cases.iter().flat_map(|case| &case.fixed).find(|fixed| fixed.name == name) {
            return Diagnostic::error("constants", format!("the configuration fixes `{name}` already"))
                .at(fixed.name_origin.clone(), "fixed here")
                .help(format!("remove `{name}` under `instantiate`, and give it with `--constant`"));
        }
        let known = constants.iter().map(|name| (*name).to_owned()).collect();
        Diagnostic::error("constants", ConstantsError::Unknown(name.to_owned(), known).to_string())
    };
    let given_locations = arguments.driving.quiescence.iter().filter_map(|time| time.location.as_deref());
    let mut found = find_unknown(given_locations, &locations, report_location);
    let given_constants = || arguments.constant.iter().map(|(name, _)| name.as_str());
    found.extend(find_unknown(given_constants(), &constants, report_constant));
    for (position, name) in given_constants().enumerate() {
        // A name is reported at its second place, however often it is given.
        if given_constants().take(position).filter(|earlier| *earlier == name).count() == 1 {
            found.push(Diagnostic::error("constants", format!("`--constant` gives `{name}` twice")));
        }
    }
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Reports each name that is not known, once, with the nearest one that is.
fn find_unknown<'a>(
    names: impl Iterator<Item = &'a str>,
    known: &BTreeSet<&str>,
    report: impl Fn(&str) -> Diagnostic,
) -> Vec<Diagnostic> {
    let mut seen = BTreeSet::new();
    let unknown = names.filter(|name| !known.contains(name) && seen.insert(*name));
    let with_help = |name| match nearest(name, known.iter().copied()) {
        Some(near) => report(name).help(format!("did you mean `{near}`?")),
        None => report(name),
    };
    unknown.map(with_help).collect()
}

fn make_strategy(chooser: Chooser, experience: &SharedExperience) -> Strategy<'static> {
    match chooser {
        Chooser::Random => Strategy::random(),
        Chooser::Coverage => Strategy::Coverage(Default::default()),
        Chooser::Plan => Strategy::planning(experience.clone()),
        Chooser::Interactive => Strategy::Ask(Box::new(ask_user)),
    }
}

/// Asks for a move at the keyboard. The end of the input ends the run.
fn ask_user(judge: &dyn Judge, moves: &[Move]) -> Asked {
    let mut state = judge.shown();
    state.data.sort_by(|(a, _), (b, _)| a.cmp(b));
    let data = state.data.iter().map(|(datum, value)| format!("{datum} = {value}"));
    console::say(&format!("in {} with {}", state.place, data.collect::<Vec<_>>().join(", ")));
    for (number, possible_move) in moves.iter().enumerate() {
        let text = match possible_move {
            Move::Wait => "wait for an observation".to_owned(),
            Move::Send(number) => judge.describe(*number),
        };
        console::say(&format!("  {} {text}", number + 1));
    }
    // Write errors are ignored: only the answer counts.
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
                Some(chosen) => return Asked::Moves(vec![*chosen]),
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

/// Collects the locations that an implementation's file may name.
fn collect_locations(cases: &[Case]) -> NameableLocations {
    let mut locations = NameableLocations::default();
    for case in cases {
        match &case.specification {
            Some(specification) => locations.add(specification),
            None => locations.add_document(&case.test),
        }
    }
    locations
}

/// Tells a run: in full, or only why it ended. `path` is the file in which the run is kept.
fn run_text(
    arguments: &TestArguments,
    case: &Case,
    initial: &State,
    run: &Run,
    path: Option<&str>,
    in_full: bool,
) -> String {
    let constants: Vec<String> =
        run.constants.iter().map(|(datum, value)| format!("{datum} = {value}")).collect();
    let constants = if constants.is_empty() { String::new() } else { format!(" ({})", constants.join(", ")) };
    let (test, events) = (&case.test, plural(run.trace.len(), "event"));
    let run_name = format!("{} seed {}{constants}, {events}", case.name, run.seed);
    // A Fail shows its rule, also if other runs end in other ways.
    let reason = story::find_reason(test, initial, run);
    let mut text = match in_full || run.outcome.verdict() == Some(Verdict::Fail) {
        true => story::why_text(run, &reason, &run_name),
        false => story::end_text(run, &reason, &run_name),
    };
    // The line of the IUT file stands below the verdict and the place.
    if let Some(place) = find_iut_line(&arguments.iut, run)
        && let Some((at, _)) = text.match_indices('\n').nth(1)
    {
        text.insert_str(at, &format!("\n  {place}"));
    }
    // Runs that end alike are wrapped when they are put together.
    if in_full {
        // `explain` lists all steps.
        let shortened = (!console::is_verbose()).then_some((12, &reason));
        text = story::wrap(&text) + &story::step_table(test, initial, run, shortened);
    }
    if let Some(path) = path {
        text += &format!("  kept: {path}\n");
    }
    text
}

/// Says whether each run is reported in full. Otherwise runs that end alike are reported as one.
fn is_told_in_full(arguments: &TestArguments) -> bool {
    arguments.runs.get() == 1 || console::is_verbose()
}

/// Names the next command after a run that failed, or else was inconclusive, if there is one. On a kept
/// system, it repeats the runs before it, too.
fn next_command(arguments: &TestArguments, total: &Total, is_kept: bool) -> Option<String> {
    let failed = total.failed.values().min_by_key(|failed| failed.events);
    let counts_inconclusive = arguments.tolerance.inconclusive != Inconclusive::Ok;
    let inconclusive = total.inconclusive.as_ref().filter(|_| counts_inconclusive);
    let FailedRuns { seed, path, .. } = failed.or(inconclusive)?;
    let iut = shell_word(&arguments.iut);
    let earlier_runs = if is_kept { seed.wrapping_sub(arguments.seed) } else { 0 };
    Some(match path {
        Some(path) if earlier_runs == 0 => {
            let run = shell_word(Path::new(path));
            match failed {
                Some(_) => format!("next: coreach replay {run} --iut {iut} --shrink\n"),
                None => format!("next: coreach explain {run}\n"),
            }
        }
        _ => {
            let purpose = arguments.purpose.as_ref().map(|name| format!(" --purpose {name}"));
            let given = arguments.constant.iter().map(|(name, value)| {
                format!(" --constant {}", shell_word(Path::new(&format!("{name}={value}"))))
            });
            let mut options: String = purpose.into_iter().chain(given).collect();
            options += &format!(" --seed {}", seed.wrapping_sub(earlier_runs));
            if earlier_runs > 0 {
                options += &format!(" --runs {}", earlier_runs + 1);
            }
            if arguments.keep.is_none() {
                options += " --keep runs";
            }
            format!("next: coreach test {} --iut {iut}{options}\n", shell_word(&arguments.test))
        }
    })
}

fn shell_word(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |sign: char| sign.is_alphanumeric() || "/._-=".contains(sign);
    if text.chars().all(is_plain) { text } else { quote_for_shell(&text) }
}
