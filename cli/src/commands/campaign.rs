//! `coreach campaign`: many runs, kept in a store, and what came of them.
//!
//! An interrupt ends the process and what it has launched ([`crate::certain_end`]); since each finished run
//! is on the disk by then, the same command continues (`docs/reference/configuration-and-campaign.md`).

mod merge;

use std::path::Path;
use std::sync::Mutex;

use coreach_adapters::description::Iut;
use coreach_execution::OutcomeKind;
use coreach_execution::campaign::junit::{self, JunitError};
use coreach_execution::campaign::summary::{
    Failed, OutcomeCounts, ReportedRun, Summary, constants_text, summarize, table_rows as summary_rows,
};
use coreach_execution::campaign::work::{self, WorkError, Worked, do_runs};
use coreach_execution::campaign::{CampaignPlan, Partition, PlannedRun, Store};
use coreach_execution::interruption::stop_if_ending;
use coreach_execution::record::Record;
use coreach_model::Diagnostic;
use coreach_model::lock::lock;
use coreach_project::campaign::load_campaign;
use coreach_project::campaign::prepare::{PreparedWays, prepare};
use coreach_project::summary::{CAMPAIGN_FORMAT_VERSION, CampaignSummary};
use coreach_project::{budget, render};

use super::report::add_page;
use super::{CommandAnswer, CommandResult, EarlyExit, bucket_line, plural, table};
use crate::answer::draw_text;
use crate::arguments::{CampaignArguments, CampaignCommand};
use crate::execution_arguments::Tolerance;
use crate::exit::Exit;
use crate::inconclusive::Inconclusive;
use crate::outputs::{OutputForm, ToWrite, request_output, resolve_each};
use crate::progress::{ProgressLine, with_progress};
use crate::write::{check_writable, open_store, write_with};
use crate::{console, story};

/// Does the runs of a campaign, or what its subcommand asks for.
pub fn campaign(arguments: &CampaignArguments) -> CommandResult {
    match (&arguments.command, &arguments.configuration) {
        (Some(CampaignCommand::Merge(arguments)), _) => merge::merge(arguments),
        (None, Some(path)) => run_campaign(arguments, path),
        // One of the two is there, or clap has refused it.
        (None, None) => Ok(CommandAnswer::of_text(Exit::Mistakes, "")),
    }
}

/// Plans the campaign, does the runs that are missing, and tells what came of it.
fn run_campaign(arguments: &CampaignArguments, path: &Path) -> CommandResult {
    let (campaign, mut warnings) = budget::reading(|| load_campaign(path))?;
    budget::set_campaign_budget(campaign.budget);
    let partition = arguments.partition.unwrap_or(Partition::WHOLE);
    let threads = arguments.threads.map_or(campaign.threads, |threads| threads.get());
    let prepared = with_progress(!arguments.quiet, |says| prepare(&campaign, partition, threads, says));
    // If a signal has cut off the preparation, the rest must not be told as left out.
    stop_if_ending();
    let ((plan, ways), plan_warnings) = prepared?;
    warnings.extend(plan_warnings);
    draw_text(&warnings);
    let store_path = arguments.store.as_deref().unwrap_or(&campaign.store).to_owned();
    let wanted = [
        Some(ToWrite::new("the store", &store_path, OutputForm::Store)),
        request_output("--junit", arguments.junit.as_deref(), OutputForm::Junit),
        request_output("--html", arguments.html.as_deref(), OutputForm::Page),
    ];
    // The store is always among the outputs.
    let [Some(store_file), report, page] = resolve_each(wanted)? else {
        return Ok(CommandAnswer::of_text(Exit::Mistakes, ""));
    };
    // Check before the runs, not after them, that the report can be written.
    if let Some(output) = &report {
        check_writable(output).map_err(|error| EarlyExit::unwritten(output.path(), &error))?;
    }
    let mut store = open_store(&store_file, &plan.campaign)?;
    store.describe(&plan)?;
    let worked = do_missing_runs(arguments, &plan, &ways, &store_path, &mut store, threads)?;
    let contents = store.contents()?;
    let summary = summarize(&plan, &contents);
    if let Some(output) = &report {
        let inconclusive = arguments.tolerance.inconclusive.junit_result();
        write_with(output, |out| junit::write(&plan, &store, &contents, inconclusive, out)).map_err(
            |error| match error {
                JunitError::Store(error) => error.into(),
                JunitError::Write(error) => EarlyExit::unwritten(output.path(), &error),
            },
        )?;
    }
    let Tolerance { inconclusive, fail_fast, .. } = arguments.tolerance;
    let telling = Telling { is_quiet: arguments.quiet, inconclusive, fail_fast };
    let mut answer = make_answer(&summary, &warnings, &store_path, partition, worked.executed, telling);
    if let Some(page) = &page {
        add_page(&mut answer, &[path.to_owned(), store_path], page, arguments.quiet);
    }
    Ok(answer)
}

/// How a summary is reported, and how its runs count.
struct Telling {
    is_quiet: bool,
    inconclusive: Inconclusive,
    fail_fast: bool,
}

/// Tells what came of a plan, or of a shard of it, and what makes the numbers doubtful.
fn make_answer(
    summary: &Summary,
    warnings: &[Diagnostic],
    store: &Path,
    partition: Partition,
    executed: usize,
    telling: Telling,
) -> CommandAnswer {
    let exit = exit_of_summary(summary, telling.inconclusive);
    let document = || CampaignSummary {
        format_version: CAMPAIGN_FORMAT_VERSION,
        exit_code: exit.code(),
        store: store.display().to_string(),
        partition: partition.to_string(),
        executed,
        diagnostics: render::to_json(warnings),
        summary,
    };
    let text = || if telling.is_quiet { quiet_text(summary) } else { summary_text(summary, store) };
    let mut answer = CommandAnswer::new(exit, document, text);
    add_doubts(&mut answer, summary, partition, telling);
    answer
}

/// Does the runs of the plan that the store does not have yet.
fn do_missing_runs(
    arguments: &CampaignArguments,
    plan: &CampaignPlan,
    ways: &PreparedWays,
    store_path: &Path,
    store: &mut Store,
    threads: usize,
) -> Result<Worked, EarlyExit> {
    let finished = store.rows()?;
    let (mut counts, mut missing) = (OutcomeCounts::default(), Vec::new());
    for run in &plan.runs {
        match finished.get(&run.key.to_string()) {
            Some(row) => counts.count(row.verdict),
            None => missing.push(run),
        }
    }
    if !arguments.quiet && counts.total() > 0 {
        let (runs, stored, campaign) = (plural(plan.runs.len(), "run"), counts.total(), &plan.campaign);
        let store = store_path.display();
        let note = match missing.is_empty() {
            true => format!(
                "note: {campaign}: the store {store} has all {runs} already, so nothing is run, and these are the old results\n\
                 help: to test a changed system, keep its runs in a new store: `--store NEW.sqlite`"
            ),
            false => format!(
                "note: {campaign}: the store {store} has {stored} of {runs} already, which are not run again"
            ),
        };
        console::say(story::wrap(&note).trim_end());
    }
    let progress = ProgressLine::start(missing.len(), !arguments.quiet);
    progress.says(verdict_counts(&counts));
    let counts_so_far = Mutex::new(counts);
    let watch = |_: &PlannedRun, record: &Record| {
        let mut counts = lock(&counts_so_far);
        counts.count(record.verdict);
        progress.says(verdict_counts(&counts));
        progress.one_done();
    };
    let system_numbers = number_shared_systems(ways);
    let system = |run: &PlannedRun| system_numbers[run.test][run.iut];
    let iut = |run: &PlannedRun| &ways[run.test][run.iut];
    let Tolerance { retries, fail_fast, .. } = arguments.tolerance;
    // With `--fail-fast`, a Fail that the store has already counts, too.
    let missing = if fail_fast && counts.fail > 0 { Vec::new() } else { missing };
    let effort = work::RunEffort { threads, retries, fail_fast };
    let ways = work::Ways { iut: &iut, system: &system };
    do_runs(plan, missing, store, effort, ways, &watch).map_err(|error| match error {
        WorkError::Store(error) => error.into(),
        WorkError::Thread(error) => EarlyExit::no_thread(error),
    })
}

/// Returns the exit code. It is 0 only if the plan has runs, and each of them was counted. If a second
/// process or another store got another verdict for a run, both verdicts count.
fn exit_of_summary(summary: &Summary, inconclusive: Inconclusive) -> Exit {
    let happened = |kind: &OutcomeKind| summary.counts.of(*kind) + summary.contested.of(*kind) > 0;
    let mut exit = Exit::Fine;
    for kind in OutcomeKind::ALL.into_iter().filter(happened) {
        exit = exit.and(inconclusive.exit(kind));
    }
    if summary.planned == 0 || summary.counts.total() != summary.planned {
        exit = exit.and(Exit::Incomplete);
    }
    summary.left_out.iter().fold(exit, |exit, left| exit.and(left.why.into()))
}

/// Numbers the systems that runs share, by their names. For each test and IUT, returns the number of its
/// system, or `None` if it shares none.
fn number_shared_systems(ways: &PreparedWays) -> Vec<Vec<Option<usize>>> {
    let mut names: Vec<String> = Vec::new();
    let mut find_number = |iut: &Iut| {
        let name = iut.system()?;
        let known = names.iter().position(|known| *known == name);
        Some(known.unwrap_or_else(|| {
            names.push(name);
            names.len() - 1
        }))
    };
    ways.iter().map(|row| row.iter().map(&mut find_number).collect()).collect()
}

/// `12 Pass, 1 Fail`
fn verdict_counts(counts: &OutcomeCounts) -> String {
    let kinds = OutcomeKind::ALL.into_iter().filter(|kind| counts.of(*kind) > 0);
    kinds.map(|kind| format!("{} {kind}", counts.of(kind))).collect::<Vec<_>>().join(", ")
}

/// The text of `--quiet`: the counts in a line, and a line for each thing that failed.
fn quiet_text(summary: &Summary) -> String {
    let mut counts = verdict_counts(&summary.counts);
    if !counts.is_empty() {
        counts.insert_str(0, ": ");
    }
    let buckets = summary.buckets.iter().map(|failed| bucket_line(&failed.bucket, failed.count, "run"));
    format!("{}{counts}\n{}", heading_line(summary), buckets.collect::<String>())
}

/// `nightly: 40 runs`
fn heading_line(summary: &Summary) -> String {
    let count = summary.missing;
    let missing = if count == 0 { String::new() } else { format!(", {count} of them missing") };
    format!("{}: {}{missing}", summary.campaign, plural(summary.planned, "run"))
}

/// Tells the counts of each test, what was left out, and each bucket.
fn summary_text(summary: &Summary, store: &Path) -> String {
    let mut text = heading_line(summary) + "\n";
    let mut rows = summary_rows(summary);
    rows.iter_mut().for_each(|row| row[0].insert_str(0, "  "));
    text += &table(&rows, 2);
    for left in &summary.left_out {
        text += &format!("left out, {}: {}: {}\n", left.why.name(), left.test, left.message);
    }
    for failed in &summary.buckets {
        text += &bucket_text(failed, store);
    }
    // Names come from the user's files, and outputs from an implementation: any sign may be in them.
    crate::visible::visible(&text).into_owned()
}

/// Tells a bucket: what was expected, how often, where, its shortest run, and the command that explains it.
fn bucket_text(failed: &Failed, store: &Path) -> String {
    let Failed { id, bucket, count, iuts, shortest, .. } = failed;
    let mut conditions = vec![format!("seed {}", shortest.seed)];
    let values = constants_text(&shortest.constants);
    if !values.is_empty() {
        conditions.push(values);
    }
    let ReportedRun { test, iut, reason, run, events, .. } = shortest;
    let (conditions, events) = (conditions.join(", "), plural(*events, "event"));
    let iuts: Vec<String> = iuts.iter().map(|(iut, count)| format!("{iut} {count}")).collect();
    let place = format!("{test} against {iut}, in {}", bucket.place);
    format!(
        "{}  {}: {}; the shortest, {events} ({conditions}): coreach explain {} {run}\n{}",
        story::lay_out(bucket.verdict.name(), reason, &place),
        plural(*count, "run"),
        iuts.join(", "),
        store.display(),
        if console::is_verbose() { format!("  {id}: {bucket}\n") } else { String::new() },
    )
}

/// Remarks on what makes the numbers less certain. With `--quiet`, leaves out the notes, which do not change
/// the exit code.
fn add_doubts(answer: &mut CommandAnswer, summary: &Summary, partition: Partition, telling: Telling) {
    if summary.planned == 0 {
        let part =
            if partition == Partition::WHOLE { String::new() } else { format!(" in the part {partition}") };
        answer.remark(format!("error: {} has no runs{part}: nothing was tested", summary.campaign));
    }
    if summary.missing > 0 {
        let runs = plural(summary.missing, "run");
        if telling.fail_fast && summary.counts.fail > 0 {
            if !telling.is_quiet {
                answer.remark(format!(
                    "note: ended after a Fail (`--fail-fast`): {runs} of the plan were not made"
                ));
            }
        } else {
            answer.remark(format!("error: {runs} of the plan are not in the store: the summary lacks them"));
        }
    }
    if summary.contested.total() > 0 {
        let other = verdict_counts(&summary.contested);
        answer.remark(format!(
            "warning: some runs of the plan got another verdict in a repetition or in a merged store: {other}; both verdicts count"
        ));
    }
    if summary.conflicts > 0 {
        let runs = plural(summary.conflicts, "run");
        answer.remark(format!("warning: {runs} of the store got another verdict from a merged store"));
    }
    if telling.is_quiet {
        return;
    }
    if summary.others > 0 {
        let runs = plural(summary.others, "run");
        answer.remark(format!(
            "note: the store has {runs} more that are not in this plan, since a model, an IUT or a setting has changed"
        ));
    }
    if summary.repeats > 0 {
        let times = plural(summary.repeats, "time");
        answer.remark(format!(
            "note: {times}, a second process repeated a run of the store; the first result counts"
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn success_is_only_what_is_whole_and_uncontested() {
        let counts = |pass, inconclusive, fail, run_error| OutcomeCounts {
            pass,
            inconclusive,
            fail,
            run_error,
            ..OutcomeCounts::default()
        };
        let code = |planned: usize, counts: OutcomeCounts, contested: OutcomeCounts| {
            let missing = planned - counts.total();
            let summary = Summary {
                campaign: String::new(),
                planned,
                counts,
                groups: vec![],
                buckets: vec![],
                missing,
                contested,
                others: 0,
                repeats: 0,
                conflicts: 0,
                left_out: vec![],
            };
            exit_of_summary(&summary, Inconclusive::Warn).code()
        };
        let none = OutcomeCounts::default();
        assert_eq!(code(28, counts(9, 9, 1, 9), none), 1);
        assert_eq!(code(19, counts(9, 9, 0, 1), none), 4);
        assert_eq!(code(10, counts(9, 1, 0, 0), none), 3);
        assert_eq!(code(9, counts(9, 0, 0, 0), none), 0);
        assert_eq!(code(10, counts(9, 0, 0, 0), none), 5);
        assert_eq!(code(11, counts(9, 1, 0, 0), none), 5);
        assert_eq!(code(0, none, none), 5);
        assert_eq!(code(10, counts(8, 0, 1, 0), none), 1);
        assert_eq!(code(9, counts(9, 0, 0, 0), counts(0, 0, 1, 0)), 1);
        assert_eq!(code(9, counts(9, 0, 0, 0), counts(0, 0, 0, 1)), 4);
        assert_eq!(code(9, counts(9, 0, 0, 0), counts(0, 1, 0, 0)), 3);
    }
}
