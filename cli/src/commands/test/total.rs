//! What the runs of a test case have in sum, and what only several runs show.

use std::collections::BTreeMap;
use std::time::Duration;

use coreach_adapters::description::{Encoding, Transport};
use coreach_adapters::system::THE_END;
use coreach_adapters::{Failure, Iut, Left};
use coreach_execution::campaign::summary::OutcomeCounts;
use coreach_execution::record::Record;
use coreach_execution::run::{Cause, Occurrence, RunStep, events};
use coreach_execution::{Bucket, Outcome, OutcomeKind, Run};
use coreach_model::Verdict;

use super::groups::group_key;
use crate::commands::{bucket_line, plural};
use crate::console;

/// The sums over the runs of a test case.
#[derive(Default)]
pub(super) struct Total {
    pub(super) outcomes: OutcomeCounts,
    pub(super) events: usize,
    pub(super) seconds: f64,
    pub(super) mix: BTreeMap<&'static str, usize>,
    /// The first run has not failed.
    pub(super) begins_well: bool,
    /// The Fails by an event of the specification, which has wrong values or comes in a wrong state.
    pub(super) failed_by_event: usize,
    /// Those where such an event was the first answer of the run.
    pub(super) failed_at_once: usize,
    /// The runs at whose start the process of the system ended.
    pub(super) ended_at_start: usize,
    /// The longest wait in vain for the system to close its side after a run.
    pub(super) longest_wait: Option<Duration>,
    pub(super) hint: IutHint,
    pub(super) failed: BTreeMap<Bucket, FailedRuns>,
    /// The first run that was inconclusive, except those that a person ended.
    pub(super) inconclusive: Option<FailedRuns>,
}

/// A mistake that the IUT file may have: the text, and the run that it is about, by its group and its length.
#[derive(Default)]
pub(super) struct IutHint {
    pub(super) text: String,
    pub(super) group: String,
    pub(super) events: usize,
}

/// The runs that failed alike: how many they are, and the events and the seed of the shortest.
pub(super) struct FailedRuns {
    pub(super) runs: usize,
    pub(super) events: usize,
    pub(super) seed: u64,
    /// Where the shortest of them is kept.
    pub(super) path: Option<String>,
}

impl Total {
    /// Adds a run to the sums.
    pub(super) fn add(&mut self, run: &Run) {
        self.outcomes.count(run.outcome.kind());
        self.events += run.trace.len();
        self.seconds += run.time.as_secs_f64();
        if let Outcome::Verdict(Verdict::Fail, Cause::Event) = run.outcome {
            let is_answer = |step: &&RunStep| matches!(step.what, Occurrence::Observation(_));
            self.failed_by_event += 1;
            self.failed_at_once += usize::from(run.trace.iter().filter(is_answer).count() == 1);
        }
        // A port that is in use is another mistake than a file or a lock that stays behind.
        if let Outcome::RunError(Failure::Start(text)) = &run.outcome
            && text.contains("` ended with status")
            && !text.contains("in use")
        {
            self.ended_at_start += 1;
        }
        if let Some(teardown) = &run.teardown
            && teardown.left != Left::Clean
            && teardown.awaited == THE_END
            && teardown.waited.as_secs() > 0
        {
            self.longest_wait = self.longest_wait.max(Some(teardown.waited));
        }
        for (source, count) in &run.mix {
            *self.mix.entry(source.name()).or_default() += count;
        }
    }

    /// Notes how a run ended: whether the first one did not fail, the first inconclusive one, and for each
    /// way to fail the number of runs and the shortest. [`Total::add`] has counted it. `path` is its file.
    pub(super) fn add_ending(&mut self, run: &Run, record: &Record, path: Option<&str>) {
        let bucket = record.bucket.as_ref().filter(|bucket| bucket.is_failure());
        self.begins_well |= self.outcomes.total() == 1 && bucket.is_none();
        let events = events(&run.trace);
        let new = || FailedRuns { runs: 0, events, seed: run.seed, path: path.map(str::to_owned) };
        // The person who ended a run knows why, so no command that explains it is proposed.
        if matches!(&run.outcome, Outcome::Verdict(Verdict::Inconclusive, cause) if *cause != Cause::Ended) {
            self.inconclusive.get_or_insert_with(new);
        }
        let Some(bucket) = bucket else { return };
        let failed = self.failed.entry(bucket.clone()).or_insert_with(new);
        failed.runs += 1;
        if events < failed.events {
            *failed = FailedRuns { runs: failed.runs, ..new() };
        }
    }

    /// Takes the hint of the first run that has one. A shorter run of its group replaces it, since that run
    /// is printed.
    pub(super) fn add_hint(
        &mut self,
        run: &Run,
        record: &Record,
        tells_all: bool,
        hint: impl Fn() -> Option<String>,
    ) {
        let (group, events) = (group_key(run, record), events(&run.trace));
        let is_told_instead = !tells_all && group == self.hint.group && events < self.hint.events;
        if self.hint.text.is_empty() || is_told_instead {
            self.hint = IutHint { text: hint().unwrap_or_default(), group, events };
        }
    }

    pub(super) fn has_runs(&self) -> bool {
        self.outcomes.total() > 0
    }

    pub(super) fn counts_line(&self) -> String {
        let count = |kind: &OutcomeKind| format!("{kind} {}", self.outcomes.of(*kind));
        // WeakPass is reported only if there is one, since test cases have none.
        let is_told = |kind: &&OutcomeKind| {
            **kind != OutcomeKind::Verdict(Verdict::WeakPass) || self.outcomes.of(**kind) > 0
        };
        OutcomeKind::ALL.iter().filter(is_told).map(count).collect::<Vec<_>>().join(", ")
    }

    /// The text of `--quiet`: the counts in a line, and a line for each thing that failed.
    pub(super) fn quiet(&self) -> String {
        let buckets = self.failed.iter().map(|(bucket, failed)| bucket_line(bucket, failed.runs, "run"));
        format!("{}\n{}", self.counts_line(), buckets.collect::<String>())
    }

    pub(super) fn text(&self) -> String {
        let events = plural(self.events, "event");
        let mut text = format!("{}; {events} in {:.3} s\n", self.counts_line(), self.seconds);
        if console::is_verbose() {
            let mix: Vec<String> = self.mix.iter().map(|(name, count)| format!("{name} {count}")).collect();
            if !mix.is_empty() {
                text += &format!("  values: {}\n", mix.join(", "));
            }
            for (bucket, FailedRuns { runs, events, seed, .. }) in &self.failed {
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

/// Hints at what a run may have left for the next one: the state of a kept system, a file, a lock, or a
/// connection that the system does not end. Empty if nothing shows that.
pub(super) fn explain_leftovers(iut: &Iut, total: &Total) -> String {
    let failed = total.failed_by_event;
    let later = total.outcomes.total().saturating_sub(1);
    let is_kept = iut.way.outlives_runs();
    let has_later_errors_only = later > 0 && total.outcomes.of(OutcomeKind::RunError) == later;
    let is_end_clean = total.failed.keys().all(|bucket| bucket.cause != "unclean");
    let uses_tcp = matches!(iut.way, Transport::Tcp(_));
    if uses_tcp && is_kept && total.begins_well && has_later_errors_only && is_end_clean {
        return "hint: the first run did not fail, and all later ones did. Each run opens a new connection: let the system \
                answer on the connection over which it is asked\n"
            .to_owned();
    }
    if let Some(longest_wait) = total.longest_wait.filter(|_| is_kept) {
        return format!(
            "hint: coreach waited {} s after a run for {THE_END}, in vain: let the system close its side when coreach does ({})\n",
            longest_wait.as_secs(),
            iut.place
        );
    }
    let begins_well_anew = total.begins_well && !is_kept;
    let is_program = matches!(iut.way, Transport::Stdio(_));
    // With other seeds, runs of a wrong model seldom all fail at their first answers.
    if begins_well_anew && is_program && total.failed_at_once == later && later > 1 {
        return "hint: the first run did not fail, and all later ones did, at their first answers. Each run starts the system \
                anew: does it keep its state in a file? If so, the first run fails when you repeat the command\n"
            .to_owned();
    }
    if begins_well_anew && total.ended_at_start == later && later > 0 {
        let remedy = if is_program {
            "end at the end of its input, and write `grace_ms: 2000` next to `command`"
        } else {
            "remove that at its start"
        };
        return format!(
            "hint: only the first run began. coreach kills the system after each run: if it leaves a file or a lock behind, \
             let it {remedy} ({})\n",
            iut.place
        );
    }
    // One failure proves nothing: it may belong to its seed, unless it came at the first answer.
    let has_enough_failures = failed > 1 || failed == 1 && total.failed_at_once > 0;
    let most_later_fail = 2 * failed >= later || total.failed_at_once > 0 && failed > 1;
    let may_keep_state = is_kept && iut.way.is_reset() && total.begins_well;
    if !may_keep_state || !has_enough_failures || !most_later_fail {
        return String::new();
    }
    let seed = total.failed.values().map(|failed| failed.seed).min().unwrap_or_default();
    let reset =
        if matches!(iut.way.encoding(), Some(Encoding::Json)) { "the message `start`" } else { "`reset`" };
    format!(
        "hint: the first run did not fail, and {failed} of {later} later ones did. The system is kept between runs: if a new \
         system passes with `--seed {seed} --runs 1`, {reset} does not bring it back to its initial state\n"
    )
}
