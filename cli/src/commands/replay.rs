//! `coreach replay`: a stored run once more, and a shorter and simpler one with the same failure.

use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;

use coreach_adapters::Adapter;
use coreach_execution::explain::bucket_of;
use coreach_execution::judge::{self, Judge};
use coreach_execution::record::{Record, make_record};
use coreach_execution::run::{Cause, Occurrence, events};
use coreach_execution::shrink::told::ShrunkRecord;
use coreach_execution::shrink::{Shrink, ShrinkProgress, Shrunk, Stopped, shrink};
use coreach_execution::{Outcome, Run, Settings, TestSession, open};
use coreach_model::{Diagnostic, Verdict};
use coreach_project::budget;
use coreach_project::stored::{self, LoadedRun};

use super::test::keep::{is_same_test, report_other_test};
use super::{CommandAnswer, CommandResult, EarlyExit, plural};
use crate::answer::is_json;
use crate::execution_arguments::ReplayArguments;
use crate::exit::Exit;
use crate::outputs::{OutFile, OutputForm, request_output, resolve_each};
use crate::progress::ProgressLine;
use crate::write::{check_writable, write, write_new};
use crate::{console, story};

/// Reads the run, runs it again, looks for a shorter one where that is wanted, and says what came of it. The
/// exit code is that of the new run's verdict.
pub fn replay(arguments: &ReplayArguments) -> CommandResult {
    let stored = arguments.kept.load()?;
    let [run_file, test_file] = check_kept_files(arguments, &stored)?;
    let (implementation, _) = budget::reading(|| stored.implementation(arguments.iut.as_deref()))?;
    let settings = arguments.driving.over(stored.settings.clone(), &implementation);
    let mut adapter = open(&implementation);
    let mut judge =
        judge::make_judge_for_iut(&stored.test, stored.initial.clone(), &implementation, &settings);
    let mut session = TestSession { judge: judge.as_mut(), settings: &settings, adapter: adapter.as_mut() };
    let replayed = session.replay(&stored.run);
    let mut result = replayed.run.clone();
    let mut lines = vec![match replayed.diverged {
        None => {
            let count = plural(events(&result.trace), "event");
            format!("the same {count} again, and {}", result.outcome.name())
        }
        Some(at) => describe_difference(&stored.run, &result, at),
    }];
    // Is the run that is shown the stored one, and not a new or a shorter one?
    let mut is_stored_run = false;
    let mut shrunk_record = None;
    if arguments.shrink {
        // Shrink the new run if it failed in the same way as the stored one, else the stored one.
        let is_alike = bucket_of(judge.as_mut(), &result) == bucket_of(judge.as_mut(), &stored.run);
        let original = if is_alike { result } else { stored.run.clone() };
        is_stored_run = !is_alike;
        let search = shrink_run(arguments, &original, &settings, judge.as_mut(), adapter.as_mut());
        lines.push(search.line);
        if let Some(shrunk) = &search.shrunk {
            lines.extend(describe_certainty(shrunk));
            shrunk_record = Some(ShrunkRecord::new(&original, shrunk));
        }
        result = search.best;
        is_stored_run &= result == original;
    }
    let mut record = Record { shrunk: shrunk_record, ..make_record(judge.as_mut(), &result) };
    record.reason = record.reason.with_places_of(&stored.record.reason);
    if let Some(output) = &run_file {
        let text = serde_json::to_string_pretty(&record).unwrap_or_default();
        let test_written = test_file.as_ref().map_or(Ok(true), |file| write_new(file, &stored.document));
        let run_written = test_written.and_then(|_| write(output, &text));
        run_written.map_err(|error| explain_not_kept(output.path(), &error))?;
    }
    let exit = Exit::of(result.outcome.kind());
    let text = || {
        let (test, initial) = (&stored.test, &stored.initial);
        let mut text = story::wrap(&lines.join("\n"));
        if arguments.quiet {
            let failed = record.bucket.as_ref().filter(|bucket| bucket.is_failure());
            text += &failed.map_or(String::new(), |bucket| format!("  {}: {bucket}\n", bucket.id()));
        } else {
            let head = if is_stored_run { "the run before:\n" } else { "" };
            let reason = story::find_reason(test, initial, &result).with_places_of(&record.reason);
            let why = match result.outcome {
                Outcome::Verdict(Verdict::Inconclusive, Cause::Silence(_)) if replayed.diverged.is_some() => {
                    "Inconclusive: no stimulus of the stored run is left, and nothing more came\n".to_owned()
                }
                _ => story::why_text(&result, &reason, ""),
            };
            text += &story::wrap(&(head.to_owned() + &why));
            text += &story::step_table(test, initial, &result, None);
        }
        text
    };
    Ok(CommandAnswer::new(exit, || &record, text))
}

/// Says how a repeated run differs from the stored one, from step `at` on.
fn describe_difference(before: &Run, now: &Run, at: usize) -> String {
    let step = |run: &Run| {
        let mut steps = run.trace.iter().filter(|step| !matches!(step.what, Occurrence::Delay(_)));
        steps.nth(at).map(|step| format!("{:#}", step.what))
    };
    let what = match (step(before), step(now)) {
        (Some(before), Some(now)) => format!("event {} was {before} before, and is {now} this time", at + 1),
        (Some(before), None) => format!("event {} was {before} before, and did not come this time", at + 1),
        (None, Some(now)) => format!("event {} is {now} this time, and did not come before", at + 1),
        (None, None) => "the events are the same".to_owned(),
    };
    format!("{what}: {} before, {} this time", before.outcome.name(), now.outcome.name())
}

/// Checks before the run, not after it, that the files of `--keep` can be written. Returns that of the run,
/// and that of its test case.
fn check_kept_files(
    arguments: &ReplayArguments,
    stored: &LoadedRun,
) -> Result<[Option<OutFile>; 2], EarlyExit> {
    // The test case goes next to the run: a command that reads the run looks for it there.
    let test_path = arguments.keep.as_deref().map(stored::beside);
    let [run_file, test_file] = resolve_each([
        request_output("--keep", arguments.keep.as_deref(), OutputForm::Run),
        request_output("the test case of --keep", test_path.as_deref(), OutputForm::Run),
    ])?;
    if let Some(path) = test_file.as_ref().map(OutFile::path)
        && fs::symlink_metadata(path).is_ok()
        && !is_same_test(path, &stored.document)
    {
        return Err(report_other_test(path).into());
    }
    if let Some(output) = &run_file {
        check_writable(output).map_err(|error| explain_not_kept(output.path(), &error))?;
    }
    Ok([run_file, test_file])
}

fn explain_not_kept(path: &Path, error: &io::Error) -> EarlyExit {
    let path = path.display();
    if error.kind() != ErrorKind::AlreadyExists {
        return EarlyExit::hindered(format_args!("{path}: {error}"));
    }
    let message = format!("{path}: `--keep` replaces no file, and this one exists already");
    Diagnostic::error("output-is-there", message).help("name another file").into()
}

/// What a search for a shorter run found: the best run, what is known of it, and a line on the search.
struct ShorterRun {
    best: Run,
    /// `None` if the budget has ended the search.
    shrunk: Option<Shrunk>,
    line: String,
}

/// Looks for a shorter run with the same failure.
fn shrink_run(
    arguments: &ReplayArguments,
    original: &Run,
    settings: &Settings,
    judge: &mut dyn Judge,
    adapter: &mut dyn Adapter,
) -> ShorterRun {
    let shows_progress = !is_json() && !arguments.quiet;
    let progress = ProgressLine::start(arguments.attempts, shows_progress);
    let mut best = original.clone();
    let mut listener = |what: ShrinkProgress<'_>| match what {
        ShrinkProgress::Tried(_) => progress.one_done(),
        ShrinkProgress::Better(run) => {
            if shows_progress && events(&run.trace) < events(&best.trace) {
                progress.prints(&format!("  {}", plural(events(&run.trace), "event")));
            }
            best = run.clone();
            progress.says(plural(events(&best.trace), "event"));
        }
        ShrinkProgress::Repeats => progress.says("repeated".to_owned()),
    };
    // The search keeps its time itself, except during a run. This budget is for its memory.
    let time = arguments.shrink_time.saturating_mul(2).saturating_add(settings.time);
    let shrunk = budget::within("shrink", time, |_| {
        let with = Shrink {
            session: TestSession { judge, settings, adapter },
            budget: arguments.attempts,
            time: arguments.shrink_time,
            again: arguments.again,
            seen: &mut listener,
        };
        shrink(original, with)
    });
    drop(progress);
    let before = plural(events(&original.trace), "event");
    match shrunk {
        Ok(shrunk) => {
            let (now, runs) = (events(&shrunk.run.trace), plural(shrunk.runs, "run"));
            let end = match shrunk.stopped {
                None => "",
                Some(Stopped::Runs) => "; the search is incomplete: `--attempts` allows no more runs",
                Some(Stopped::Time) => "; the search is incomplete: `--shrink-time` allows no more time",
            };
            let never_failed_again = shrunk.again.times > 0 && shrunk.again.same == 0;
            let line = match never_failed_again && shrunk.run == *original {
                true => format!("not shrunk: in {runs}, no shorter or simpler one failed in this way{end}"),
                false => format!("shrunk from {before} to {now} in {runs}{end}"),
            };
            ShorterRun { best: shrunk.run.clone(), shrunk: Some(shrunk), line }
        }
        // The best run until then is a result, too.
        Err(stop) => {
            console::draw(&[stop.to_diagnostic()]);
            let line = format!("shrunk from {before} to {}; the search is incomplete", events(&best.trace));
            ShorterRun { best, shrunk: None, line }
        }
    }
}

/// Says how often the shortest run failed in the same way when it was repeated.
fn describe_certainty(shrunk: &Shrunk) -> Vec<String> {
    let Shrunk { bucket, again, .. } = shrunk;
    let times = plural(again.times, "repetition");
    let mut lines = vec![match (again.times, again.same) {
        (0, _) if shrunk.stopped == Some(Stopped::Time) => {
            format!("not repeated, since `--shrink-time` was over: {bucket}")
        }
        (0, _) => format!("not repeated: {bucket}"),
        (all, same) if all == same => format!("the same in {times}: {bucket}"),
        (_, 0) => format!("flaky: in {times}, this did not come again: {bucket}"),
        (_, same) => format!("flaky: {same} of {times} the same: {bucket}"),
    }];
    lines.extend(again.others.iter().map(|(other, count)| format!("  {count} times instead: {other}")));
    if again.same < again.times {
        let help = "help: does the system keep something from earlier runs, such as a file, a cache or a database? Begin \
                    each run in the same state: keep files in the folder that `COREACH_TMP` names, or clear them in `reset`";
        lines.push(help.to_owned());
    }
    lines
}
