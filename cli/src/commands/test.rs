//! `coreach test`: a test case meets an implementation.

mod covering;
mod groups;
pub(super) mod keep;
mod report;

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use coreach_adapters::Iut;
use coreach_adapters::description::{Encoding, Field, FieldNumber, Transport};
use coreach_adapters::evidence::EvidenceKind;
use coreach_adapters::integer::WireInteger;
use coreach_adapters::keeper::is_ending;
use coreach_adapters::template::Template;
use coreach_execution::campaign::summary::Counts;
use coreach_execution::campaign::{LeftOut, WhyLeftOut};
use coreach_execution::constants::{ConstantsError, initial_state, read_constants};
use coreach_execution::explain::{allows_instead, find_evident_cause};
use coreach_execution::interruption::stop_if_ending;
use coreach_execution::judge::make_judge;
use coreach_execution::lazy::Lazy;
use coreach_execution::open::Links;
use coreach_execution::planner::SharedExperience;
use coreach_execution::preparation::{Preparation, run_alone};
use coreach_execution::record::Record;
use coreach_execution::run::{Cause, events};
use coreach_execution::strategy::{Asked, Move};
use coreach_execution::{Bucket, Judge, Outcome, OutcomeKind, Run, Settings, Strategy};
use coreach_model::diagnostic::nearest;
use coreach_model::excerpt::shortened;
use coreach_model::iosts::Transition;
use coreach_model::lock::lock;
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Diagnostic, Value as ModelValue, Verdict};
use coreach_project::cases::{self, Case, Cases, NoCase};
use coreach_project::iut::{self, ReportedLocations};
use coreach_project::once::Once;
use coreach_project::unreachable::explain_constants;
use coreach_project::{budget, render};
use serde::Serialize;
use serde_json::Value;

use self::groups::Groups;
use self::keep::Keeper;
use self::report::Report;
use super::{CommandAnswer, CommandResult, EarlyExit, bucket_line, plural};
use crate::answer::{draw_text, is_json, print_text};
use crate::execution_arguments::{Chooser, TestArguments, Tolerance};
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
    let mut exit = no_cases.iter().fold(Exit::Fine, |exit, case| exit.and(case.why.into()));
    let left_out: Vec<LeftOut> = no_cases.iter().map(NoCase::left_out).collect();
    // Why test cases are missing, or have no run.
    let mut left_out_findings: Vec<Diagnostic> = no_cases.into_iter().flat_map(|case| case.found).collect();
    if cases.is_empty() {
        // The report says so, too, so that no older report stays. If a signal has cut off the work, there is
        // no result to report.
        let output = resolve_output("--junit", arguments.junit.as_deref(), OutputForm::Junit)?;
        Report::begin(output.filter(|_| !is_ending()), arguments, &left_out)?.finish()?;
        return Err(EarlyExit::Refused(left_out_findings, exit));
    }
    check_names(arguments, &cases)?;
    let mut implementations = Vec::new();
    let mut files = Once::default();
    let locations = known_locations(&cases);
    for case in &cases {
        let read = || iut::load_once(&arguments.iut, case.test.wire(), Some(&locations), &mut files);
        implementations.push(budget::reading(read)?);
    }
    draw_text(&warnings);
    draw_text(&left_out_findings);
    // All test cases have the same IUT file, so one of them tells its warnings.
    if let Some((_, more)) = implementations.first() {
        draw_text(more);
    }
    let junit = keep::check_outputs(arguments, &cases)?;
    let mut report = Report::begin(junit, arguments, &left_out)?;
    let documents: Arc<Mutex<Vec<Record>>> = Arc::default();
    let groups: Arc<Mutex<Groups>> = Arc::default();
    if !is_json() {
        let groups = groups.clone();
        certain_end::tell_at_end(move |_, _| visible(&lock(&groups).text()).into_owned());
    } else {
        let finished = documents.clone();
        certain_end::tell_at_end(move |exit_code, _| {
            let (diagnostics, runs) = (Value::Array(Vec::new()), lock(&finished).clone());
            let document = Document { format_version: 1, exit_code, diagnostics, runs };
            serde_json::to_string_pretty(&document).unwrap_or_default() + "\n"
        });
    }
    // A link that outlives a run also outlives its test case.
    let links = Links::default();
    let mut keeper = Keeper::default();
    let mut next = Vec::new();
    let Tolerance { inconclusive, fail_fast, retries } = arguments.tolerance;
    for (case, (iut, _)) in cases.iter().zip(&implementations) {
        if fail_fast && exit == Exit::Failed {
            break;
        }
        let has = |name: &str| case.test.iosts.constants.iter().any(|datum| datum.name() == name);
        let settings = arguments.driving.over(Settings::default(), iut);
        let pairs = arguments.constant.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let constants = read_constants(&case.test, pairs.filter(|(name, _)| has(name)));
        let constants = constants.map_err(|error| Diagnostic::error("constants", error.to_string()))?;
        // Runs are made one after the other, so that a plan may learn from the answers in earlier runs.
        let experience = SharedExperience::default();
        let preparation = Preparation {
            test: &case.test,
            iut,
            links: (&links, 0),
            settings,
            strategy: &|| make_strategy(arguments.strategy, &experience),
            retries,
        };
        let mut total = Total::default();
        for number in 0..arguments.runs.get() as u64 {
            let seed = arguments.seed.wrapping_add(number);
            let found = run_alone(|| first_state(case, &constants, seed));
            let initial = match found.map_err(EarlyExit::no_thread)? {
                Ok(initial) => initial,
                // The command goes on, since other test cases may suit.
                Err((found, why)) => {
                    // If a signal has cut off the question, the test case may still have a run.
                    stop_if_ending();
                    exit = exit.and(why.into());
                    let message = found.first().map_or_else(String::new, |first| first.message.clone());
                    report.add_left_out(&LeftOut { test: case.name.clone(), why, message });
                    draw_text(&found);
                    left_out_findings.extend(found);
                    break;
                }
            };
            progress.says(format!("{} seed {seed} ({})", case.name, total.counts_line()));
            let (run, written) = preparation.run(&initial, seed).map_err(EarlyExit::no_thread)?;
            progress.one_done();
            exit = exit.and(inconclusive.exit(run.outcome.kind()));
            total.add(&run);
            total.add_failure(&run, &written);
            if total.hint.is_empty() {
                total.hint = explain_run(arguments, case, iut, &initial, &run, &written).unwrap_or_default();
            }
            let path = keeper.keep(arguments, case, &written).map_err(EarlyExit::hindered)?;
            report.add_run(&written, path.as_deref());
            if !is_json() && !arguments.quiet {
                let text = || run_text(arguments, case, &initial, &run, path.as_deref());
                // Runs that do not pass are grouped, and told at the end of the test case.
                match run.outcome.verdict() {
                    _ if is_told_in_full(arguments) => console::print(&text()),
                    Some(Verdict::Pass) => {}
                    _ => lock(&groups).add(&run, &written, text()),
                }
            }
            if is_json() {
                lock(&documents).push(written);
            }
            if fail_fast && run.outcome.kind() == OutcomeKind::Verdict(Verdict::Fail) {
                break;
            }
        }
        report.end_case(&case.name, &iut.name, &total);
        console::print(&std::mem::take(&mut *lock(&groups)).text());
        if total.has_runs() {
            let text = if arguments.quiet { total.quiet() } else { total.text() };
            print_text(&format!("{} against {}: {text}", case.name, iut.name));
            if !arguments.quiet {
                print_text(&story::wrap(&explain_kept_system(iut, &total)));
                print_text(&story::wrap(&total.hint));
                next.extend(next_command(arguments, case, &total, iut.way.outlives_runs()));
            }
        }
    }
    drop(progress);
    report.finish()?;
    // One command is enough: the other failures are reported above it.
    next.truncate(1);
    let document = || Document {
        format_version: 1,
        exit_code: exit.code(),
        diagnostics: render::to_json(&[warnings, left_out_findings].concat()),
        runs: lock(&documents).clone(),
    };
    Ok(CommandAnswer::new(exit, document, || next.concat()))
}

#[derive(Serialize)]
struct Document {
    format_version: u32,
    exit_code: u8,
    /// Warnings, and why purposes were left out.
    diagnostics: Value,
    runs: Vec<Record>,
}

/// Chooses the state in which a run begins. If there is none, says why, and how the test case is left out.
fn first_state(case: &Case, known: &Valuation, seed: u64) -> Result<State, (Vec<Diagnostic>, WhyLeftOut)> {
    let mut why = WhyLeftOut::Stopped;
    let solved = budget::choosing_constants(|| {
        initial_state(&case.test, known, seed, &mut Lazy::default()).map_err(|error| {
            if !matches!(error, ConstantsError::NotKnown(_)) {
                why = WhyLeftOut::Unsuited;
            }
            vec![explain_constants(
                &error,
                &case.test,
                case.specification.as_ref().zip(case.purpose.as_ref()),
            )]
        })
    });
    solved.map_err(|found| (found, why))
}

/// Checks that each constant, and each location of `--quiescence`, is one of a test case. Otherwise its value
/// would have no effect, and nobody would be told.
fn check_names(arguments: &TestArguments, cases: &[Case]) -> Result<(), Vec<Diagnostic>> {
    let locations = cases.iter().flat_map(|case| &case.test.iosts.locations);
    let locations: BTreeSet<&str> = locations.map(|location| location.name.as_str()).collect();
    let constants = cases.iter().flat_map(|case| &case.test.iosts.constants);
    let constants: BTreeSet<&str> = constants.map(Datum::name).collect();
    let no_location = |name: &str| {
        let message = format!("`--quiescence`: no test case has a location `{name}`");
        Diagnostic::error("unknown-location", message)
    };
    let no_constant = |name: &str| {
        if let Some(fixed) = cases.iter().flat_map(|case| &case.fixed).find(|fixed| fixed.name == name) {
            return Diagnostic::error("constants", format!("the configuration fixes `{name}` already"))
                .at(fixed.name_origin.clone(), "fixed here")
                .help(format!("remove `{name}` under `instantiate`, and give it with `--constant`"));
        }
        let known = constants.iter().map(|name| (*name).to_owned()).collect();
        Diagnostic::error("constants", ConstantsError::Unknown(name.to_owned(), known).to_string())
    };
    let report_second = |(position, (name, _)): (usize, &(String, String))| {
        let is_second = arguments.constant[..position].iter().any(|(earlier, _)| earlier == name);
        is_second.then(|| Diagnostic::error("constants", format!("`--constant` gives `{name}` twice")))
    };
    let places = arguments.driving.quiescence.iter().filter_map(|time| time.location.as_deref());
    let mut found = find_unknown(places, &locations, no_location);
    let names = arguments.constant.iter().map(|(name, _)| name.as_str());
    found.extend(find_unknown(names, &constants, no_constant));
    found.extend(arguments.constant.iter().enumerate().filter_map(report_second));
    if found.is_empty() { Ok(()) } else { Err(found) }
}

/// Reports each name that is not known, with the nearest one that is.
fn find_unknown<'a>(
    names: impl Iterator<Item = &'a str>,
    known: &BTreeSet<&str>,
    report: impl Fn(&str) -> Diagnostic,
) -> Vec<Diagnostic> {
    let unknown = names.filter(|name| !known.contains(name));
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

/// The locations that an implementation's file may name.
fn known_locations(cases: &[Case]) -> ReportedLocations {
    let mut locations = ReportedLocations::default();
    for case in cases {
        match &case.specification {
            Some(specification) => locations.add(specification),
            None => locations.add_document(&case.test),
        }
    }
    locations
}

/// Tells a run: in full if it is the only one or the user wants more, else only why it ended.
fn run_text(
    arguments: &TestArguments,
    case: &Case,
    initial: &State,
    run: &Run,
    path: Option<&str>,
) -> String {
    let constants: Vec<String> =
        run.constants.iter().map(|(datum, value)| format!("{datum} = {value}")).collect();
    let constants = if constants.is_empty() { String::new() } else { format!(" ({})", constants.join(", ")) };
    let (test, events) = (&case.test, plural(run.trace.len(), "event"));
    let whose = format!("{} seed {}{constants}, {events}", case.name, run.seed);
    let mut text = match is_told_in_full(arguments) {
        true => story::why_text(test, initial, run, &whose),
        false => story::end_text(test, initial, run, &whose),
    };
    if let Some(place) = find_iut_line(&arguments.iut, run)
        && let Some((at, _)) = text.match_indices('\n').nth(1)
    {
        text.insert_str(at, &format!("\n  {place}"));
    }
    // Runs that end alike are wrapped when they are put together.
    if is_told_in_full(arguments) {
        // `explain` lists all steps.
        let most = if console::is_verbose() { None } else { Some(12) };
        text = story::wrap(&text) + &story::step_table(test, initial, run, most);
    }
    if let Some(path) = path {
        text += &format!("  kept: {path}\n");
    }
    text
}

/// Finds the line of the IUT file that a run has ended about: `iut.yaml:4: within: 200 ms`.
fn find_iut_line(path: &Path, run: &Run) -> Option<String> {
    // Words of messages, with the keys that such a message is about.
    let words: [(&str, &[&str]); 8] = [
        ("which was not captured", &["captures"]),
        ("`reset`", &["reset"]),
        (" connection", &["base", "address"]),
        (" listens on ", &["base", "address"]),
        ("no answer", &["base"]),
        (" cannot be started", &["command"]),
        ("` ended with status", &["command"]),
        ("` was killed by signal", &["command"]),
    ];
    let (keys, asked): (&[&str], _) = match &run.outcome {
        // Silence gives Inconclusive or Fail.
        Outcome::Verdict(verdict, Cause::Silence(_))
            if *verdict != Verdict::Fail && find_evident_cause(run).is_none() =>
        {
            // If there is no `within`, the first key shows which file is meant.
            (&["within", "iut"], None)
        }
        Outcome::RunError(failure) => {
            // The name of the capture, as in "has `{token}`", or the path of the request, as in
            // "`GET /items`".
            let captured = || failure.text().split_once("has `{")?.1.split_once('}');
            let asked = match captured() {
                Some((name, _)) => Some(name),
                None => {
                    failure.text().split_once("`: `").and_then(|(_, asked)| asked.split([' ', '`']).nth(1))
                }
            };
            (words.into_iter().find(|(word, _)| failure.text().contains(word))?.1, asked)
        }
        Outcome::Verdict(..) => return None,
    };
    let file = std::fs::read_to_string(path).ok()?;
    let lines = || file.lines().enumerate();
    let has_key = |line: &str, key: &str| {
        let mut words = line.split([' ', '{', ',', '-']).filter_map(|word| word.strip_suffix(':'));
        words.any(|word| word == key)
    };
    let (first, line) = keys.iter().find_map(|key| lines().find(|(_, line)| has_key(line, key)))?;
    // If `reset` has steps, take the line of the step that asks for this path.
    let step = asked.and_then(|asked| lines().skip(first).find(|(_, line)| line.contains(asked)));
    let (number, line) = step.unwrap_or((first, line));
    Some(format!("{}:{}: {}", path.display(), number + 1, shortened(line.trim())))
}

/// Says whether each run is reported in full.
fn is_told_in_full(arguments: &TestArguments) -> bool {
    arguments.runs.get() == 1 || console::is_verbose()
}

/// Hints at a mistake in the IUT file or the model that may have ended the run.
fn explain_run(
    arguments: &TestArguments,
    case: &Case,
    iut: &Iut,
    initial: &State,
    run: &Run,
    record: &Record,
) -> Option<String> {
    match run.outcome.verdict() {
        Some(Verdict::Pass | Verdict::WeakPass) => None,
        Some(Verdict::Fail) => explain_hidden(iut, run, record)
            .or_else(|| explain_order(case, initial, run, record))
            .or_else(|| explain_byte_order(case, iut, initial, run))
            .or_else(|| explain_constant(arguments, iut, run, record))
            .or_else(|| explain_cookie(iut, run))
            .or_else(|| explain_old_state(iut, run)),
        Some(Verdict::Inconclusive) => explain_cookie(iut, run),
        None => explain_fixed(case, run).or_else(|| explain_cookie(iut, run)),
    }
}

/// Hints at a system that nothing resets before a run, after an output that is wrong in its state.
fn explain_old_state(iut: &Iut, run: &Run) -> Option<String> {
    let is_suspect = matches!(run.outcome, Outcome::Verdict(_, Cause::Event));
    if !is_suspect || !iut.way.outlives_runs() || iut.way.is_reset() {
        return None;
    }
    let example = match (&iut.way, iut.way.encoding()) {
        (Transport::Http(_), _) => "[{ method: POST, path: /reset }]",
        (_, Some(Encoding::Binary(_))) => "[{ send: \"00 01\", expect: '^00.*$' }]",
        _ => "[{ send: RESET, expect: '^OK$' }]",
    };
    Some(format!(
        "hint: coreach does not start this system anew for each run, and there is no `reset`: it may still have the state of \
         earlier runs. Write what resets it, for example `reset: {example}` ({})\n",
        iut.place
    ))
}

/// Hints at a system that is kept between runs, if most runs but the first fail. A run error has a cause of
/// its own, which its message tells.
fn explain_kept_system(iut: &Iut, total: &Total) -> String {
    let failed = total.outcomes.of(OutcomeKind::FAIL);
    let later = total.outcomes.total().saturating_sub(1);
    let is_kept = iut.way.outlives_runs() && iut.way.is_reset();
    if !is_kept || !total.begins_well || failed == 0 || 2 * failed < later {
        return String::new();
    }
    let reset =
        if matches!(iut.way.encoding(), Some(Encoding::Json)) { "the message `start`" } else { "`reset`" };
    format!(
        "hint: the first run did not fail, and {failed} of {later} later ones did. The system is kept between runs: does \
         {reset} bring it back to its initial state?\n"
    )
}

/// Hints at an expected output whose pattern also fits the last line, but comes after that of the seen one.
fn explain_hidden(iut: &Iut, run: &Run, record: &Record) -> Option<String> {
    let Some(Encoding::Lines(lines)) = iut.way.encoding() else { return None };
    let seen = &run.trace.last()?.what.event()?.action;
    let received = run.wire.iter().rfind(|item| item.kind == EvidenceKind::Received)?;
    let text = String::from_utf8_lossy(&received.bytes);
    let line = text.lines().last()?;
    let mut later = lines.observations.iter().skip_while(|(name, _)| name != seen).skip(1);
    let (other, _) = later.find(|(name, shape)| {
        let is_expected = record.reason.expected.iter().any(|event| event.split('(').next() == Some(name));
        is_expected && shape.first().is_some_and(|pattern| pattern.is_match(line))
    })?;
    Some(format!(
        "hint: the line `{}` also fits `{other}`, which comes after `{seen}` in `observations`. The first pattern that \
         fits counts: write `{other}` before `{seen}`\n",
        shortened(line)
    ))
}

/// Hints at an output that came before the one that the model demands first.
fn explain_order(case: &Case, initial: &State, run: &Run, record: &Record) -> Option<String> {
    let (last, before) = run.trace.split_last().filter(|_| run.timing.is_none())?;
    let (came, model) = (&last.what.event()?.action, case.specification.as_ref()?);
    let mut judge = make_judge(&case.test, initial.clone(), run.link.clone());
    before.iter().for_each(|step| drop(judge.take(&step.what)));
    let here = judge.specification_locations();
    let name = |location| model.location(location).name.as_str();
    let action = |step: &Transition| model.action(step.action).name.as_str();
    let expected: Vec<_> = record.reason.expected.iter().map(|one| one.split(['(', ' ']).next()).collect();
    let is_first =
        |step: &&Transition| here.contains(name(step.source)) && expected.contains(&Some(action(step)));
    let (first, second) = model.transitions.iter().filter(is_first).find_map(|first| {
        let is_second = |step: &&Transition| step.source == first.target && action(step) == came;
        Some((first, model.transitions.iter().find(is_second).filter(|_| action(first) != came)?))
    })?;
    let (one, other) = (first.origin.whole.as_ref()?, second.origin.whole.as_ref()?);
    let part = |step: &Transition| {
        let guard = Some(&step.guard).filter(|guard| !guard.is_true());
        let when = guard.map(|guard| format!(", when: '{}'", guard.to_string().replace('\'', "''")));
        let assign = step.assignments.iter().map(|(datum, term)| format!("{datum}: '{term}'"));
        let assign = Some(assign.collect::<Vec<_>>().join(", ")).filter(|assign| !assign.is_empty());
        let assign = assign.map(|assign| format!(", assign: {{ {assign} }}"));
        format!("{{ on: {}{}{} }}", action(step), when.unwrap_or_default(), assign.unwrap_or_default())
    };
    let (from, to, steps) = (name(first.source), name(second.target), [part(first), part(second)].join(", "));
    let (file, line, next) = (&other.file.name, one.line_and_column().0, other.line_and_column().0);
    Some(format!(
        "hint: {file}:{next}: `{came}` comes after `{}` there. If both may come in any order, replace lines {line} and {next} \
         by\n  - from: {from}\n    to: {to}\n    in_any_order: [{steps}]\n",
        action(first)
    ))
}

/// Hints at a cookie that answers set, and that no request sends back.
fn explain_cookie(iut: &Iut, run: &Run) -> Option<String> {
    let Transport::Http(http) = &iut.way else { return None };
    let sends =
        |headers: &[(String, Template)]| headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("cookie"));
    if sends(&http.headers) || http.stimuli.iter().any(|(_, request)| sends(&request.headers)) {
        return None;
    }
    let last = run.wire.iter().rposition(|item| item.kind == EvidenceKind::Sent)?;
    let earlier = run.wire[..last].iter().filter(|item| item.kind == EvidenceKind::Received);
    let name = earlier.map(|item| String::from_utf8_lossy(&item.bytes)).find_map(|head| {
        let mut headers =
            head.lines().take_while(|line| !line.is_empty()).filter_map(|line| line.split_once(':'));
        let (_, cookie) = headers.find(|(name, _)| name.eq_ignore_ascii_case("set-cookie"))?;
        Some(cookie.split_once('=')?.0.trim().to_owned())
    })?;
    let header = match http.headers.is_empty() {
        true => format!("`headers: {{ Cookie: \"{name}={{session}}\" }}`"),
        false => format!("`Cookie: \"{name}={{session}}\"` among its `headers`"),
    };
    Some(format!(
        "hint: the answers set the cookie `{name}`, which no request sends back: coreach keeps no cookies. Write \
         `captures: {{ session: {{ cookie: {name} }} }}` and {header} ({})\n",
        iut.place
    ))
}

/// Hints at a number whose bytes came in the other order, if the specification allows it in that order.
fn explain_byte_order(case: &Case, iut: &Iut, initial: &State, run: &Run) -> Option<String> {
    let Some(Encoding::Binary(binary)) = iut.way.encoding() else { return None };
    let Event { action, values } = run.trace.last()?.what.event()?;
    let (_, fields) = binary.observations.iter().find(|(name, _)| name == action)?;
    let parameters = &case.test.iosts.action(case.test.iosts.find_action(action)?).parameters;
    let mut judge = make_judge(&case.test, initial.clone(), run.link.clone());
    fields.iter().find_map(|field| {
        let Field::Integer(integer, FieldNumber::Named(name)) = field else { return None };
        let position = parameters.iter().position(|datum| datum.name() == name)?;
        let ModelValue::Int(got) = values.get(position)? else { return None };
        let other = WireInteger { is_little: !integer.is_little, ..*integer };
        let meant = other.read(&integer.written(i128::try_from(got).ok()?)?)?;
        let mut swapped = values.clone();
        swapped[position] = ModelValue::Int(meant.into());
        allows_instead(judge.as_mut(), run, Event::new(action.clone(), swapped)).then(|| {
            format!(
                "hint: `{got}` has the bytes of `{meant}` in the other order. If the system sends them in that order, \
                 write `{{ as: {}, name: {name} }}` for `{action}` in `observations`\n",
                other.name()
            )
        })
    })
}

/// Hints at a constant that coreach has chosen, that decided a Fail, and that the system is not told.
fn explain_constant(arguments: &TestArguments, iut: &Iut, run: &Run, record: &Record) -> Option<String> {
    if matches!(iut.way.encoding(), Some(Encoding::Json)) {
        return None;
    }
    let chosen = run.constants.iter().filter(|(datum, _)| {
        let name = datum.name();
        let is_given = arguments.constant.iter().any(|(given, _)| given == name);
        !is_given && record.reason.guards.iter().any(|guard| guard.values.contains_key(name))
    });
    let chosen: Vec<_> = chosen.collect();
    let file = if chosen.is_empty() { return None } else { std::fs::read_to_string(&arguments.iut).ok()? };
    let (datum, value) = chosen.into_iter().find(|(datum, _)| !file.contains(datum.name()))?;
    Some(format!(
        "hint: coreach has chosen `{datum} = {value}`, and the IUT file does not tell the system: write `\"{{{datum}}}\"` into \
         `command`, or give the value that the system has, with `--constant {datum}=VALUE`\n"
    ))
}

/// Hints at a constant that the configuration fixes, and that a system without it names on standard error.
fn explain_fixed(case: &Case, run: &Run) -> Option<String> {
    let errors = run.wire.iter().filter(|item| item.kind == EvidenceKind::Stderr);
    let words: Vec<_> = errors.map(|item| String::from_utf8_lossy(&item.bytes)).collect();
    let is_named = |fixed: &&coreach_project::configuration::Instantiation| {
        words.iter().any(|words| words.contains(fixed.name.as_str()))
    };
    let fixed = case.fixed.iter().find(is_named)?;
    let (name, value, place) = (&fixed.name, &fixed.text, &fixed.name_origin);
    Some(format!(
        "hint: {}:{}: `instantiate` puts `{name}: {value}` into the test case, and the system is not told of it: remove it \
         there, and give `--constant {name}={value}`\n",
        place.file.name,
        place.line_and_column().0
    ))
}

/// Names the next command after a run that failed, or else was inconclusive. On a kept system, it repeats the
/// runs before it, too.
fn next_command(arguments: &TestArguments, case: &Case, total: &Total, is_kept: bool) -> Option<String> {
    let failed = total.failed.values().min_by_key(|failed| failed.events);
    let is_told = arguments.tolerance.inconclusive != Inconclusive::Ok;
    let open = total.inconclusive.as_ref().filter(|_| is_told);
    let FailedRuns { seed, .. } = failed.or(open)?;
    let iut = shell_word(&arguments.iut);
    let earlier_runs = if is_kept { seed.wrapping_sub(arguments.seed) } else { 0 };
    Some(match &arguments.keep {
        Some(folder) if earlier_runs == 0 => {
            let run = shell_word(&keep::run_path(folder, case, *seed, 1));
            match failed {
                Some(_) => format!("next: coreach replay {run} --iut {iut} --shrink\n"),
                None => format!("next: coreach explain {run}\n"),
            }
        }
        keep => {
            let purpose = arguments.purpose.as_ref().map(|name| format!(" --purpose {name}"));
            let given = arguments.constant.iter().map(|(name, value)| {
                format!(" --constant {}", shell_word(Path::new(&format!("{name}={value}"))))
            });
            let mut options: String = purpose.into_iter().chain(given).collect();
            options += &format!(" --seed {}", seed.wrapping_sub(earlier_runs));
            if earlier_runs > 0 {
                options += &format!(" --runs {}", earlier_runs + 1);
            }
            if keep.is_none() {
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

/// What the runs of a test case have in sum.
#[derive(Default)]
struct Total {
    outcomes: Counts,
    events: usize,
    seconds: f64,
    mix: BTreeMap<&'static str, usize>,
    /// The first run has not failed.
    begins_well: bool,
    /// A mistake that the IUT file may have, after the first Fail.
    hint: String,
    failed: BTreeMap<Bucket, FailedRuns>,
    /// The first run that was inconclusive.
    inconclusive: Option<FailedRuns>,
}

/// The runs that failed alike: how many they are, and the events and the seed of the shortest.
struct FailedRuns {
    runs: usize,
    events: usize,
    seed: u64,
}

impl Total {
    fn add(&mut self, run: &Run) {
        self.outcomes.count(run.outcome.kind());
        self.events += run.trace.len();
        self.seconds += run.time.as_secs_f64();
        for (source, count) in &run.mix {
            *self.mix.entry(source.name()).or_default() += count;
        }
    }

    fn add_failure(&mut self, run: &Run, record: &Record) {
        let bucket = record.bucket.as_ref().filter(|bucket| bucket.is_failure());
        self.begins_well |= self.outcomes.total() == 1 && bucket.is_none();
        let events = events(&run.trace);
        let new = || FailedRuns { runs: 0, events, seed: run.seed };
        if matches!(&run.outcome, Outcome::Verdict(Verdict::Inconclusive, cause) if *cause != Cause::Ended) {
            self.inconclusive.get_or_insert_with(new);
        }
        let Some(bucket) = bucket else { return };
        let failed = self.failed.entry(bucket.clone()).or_insert_with(new);
        failed.runs += 1;
        if events < failed.events {
            (failed.events, failed.seed) = (events, run.seed);
        }
    }

    fn has_runs(&self) -> bool {
        self.outcomes.total() > 0
    }

    fn counts_line(&self) -> String {
        let count = |kind: &OutcomeKind| format!("{kind} {}", self.outcomes.of(*kind));
        // WeakPass is reported only if there is one, since test cases have none.
        let is_told = |kind: &&OutcomeKind| {
            **kind != OutcomeKind::Verdict(Verdict::WeakPass) || self.outcomes.of(**kind) > 0
        };
        OutcomeKind::ALL.iter().filter(is_told).map(count).collect::<Vec<_>>().join(", ")
    }

    /// The text of `--quiet`: the counts in a line, and a line for each thing that failed.
    fn quiet(&self) -> String {
        let buckets = self.failed.iter().map(|(bucket, failed)| bucket_line(bucket, failed.runs, "run"));
        format!("{}\n{}", self.counts_line(), buckets.collect::<String>())
    }

    fn text(&self) -> String {
        let events = plural(self.events, "event");
        let mut text = format!("{}; {events} in {:.3} s\n", self.counts_line(), self.seconds);
        if console::is_verbose() {
            let mix: Vec<String> = self.mix.iter().map(|(name, count)| format!("{name} {count}")).collect();
            if !mix.is_empty() {
                text += &format!("  values: {}\n", mix.join(", "));
            }
            for (bucket, FailedRuns { runs, events, seed }) in &self.failed {
                let (runs, events) = (plural(*runs, "run"), plural(*events, "event"));
                text += &format!(
                    "  {}: {bucket}\n    {runs}, the shortest of {events} with seed {seed}\n",
                    bucket.id()
                );
            }
        }
        text
    }
}
