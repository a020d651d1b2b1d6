//! The results of a campaign: counts, and each failure once ([`crate::bucket`]).
//!
//! Only the runs of the plan count. Other runs in the store, from before a model or a setting was changed,
//! are mentioned. Times are reported as medians: a slow start of one run says nothing about the others.
//!
//! Test cases without runs ([`left_out`](crate::campaign::left_out)) are reported as well.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};

use coreach_model::Verdict;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use crate::bucket::Bucket;
use crate::campaign::left_out::LeftOut;
use crate::campaign::plan::CampaignPlan;
use crate::campaign::store::{Contents, RunRow};
use crate::outcome::OutcomeKind;

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct OutcomeCounts {
    pub pass: usize,
    /// The number of WeakPass, for tests that are judged on line.
    #[serde(skip_serializing_if = "crate::wire::is_zero")]
    pub weak_pass: usize,
    pub inconclusive: usize,
    pub fail: usize,
    /// No verdict: an adapter's failure.
    pub run_error: usize,
}

impl OutcomeCounts {
    /// Gives the count of the runs that end so.
    fn count_mut(&mut self, kind: OutcomeKind) -> &mut usize {
        match kind {
            OutcomeKind::Verdict(Verdict::Pass) => &mut self.pass,
            OutcomeKind::Verdict(Verdict::WeakPass) => &mut self.weak_pass,
            OutcomeKind::Verdict(Verdict::Inconclusive) => &mut self.inconclusive,
            OutcomeKind::Verdict(Verdict::Fail) => &mut self.fail,
            OutcomeKind::RunError => &mut self.run_error,
        }
    }

    pub fn count(&mut self, kind: OutcomeKind) {
        *self.count_mut(kind) += 1;
    }

    pub fn of(mut self, kind: OutcomeKind) -> usize {
        *self.count_mut(kind)
    }

    pub fn total(&self) -> usize {
        self.pass + self.weak_pass + self.inconclusive + self.fail + self.run_error
    }
}

/// One test case against one implementation.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct SummaryGroup {
    pub test: String,
    pub iut: String,
    #[serde(flatten)]
    pub counts: OutcomeCounts,
    /// The median of the runs' seconds; `None` without runs.
    pub median_seconds: Option<f64>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct ReportedRun {
    pub run: i64,
    pub key: String,
    pub test: String,
    pub iut: String,
    pub constants: Map<String, Json>,
    pub seed: u64,
    pub verdict: OutcomeKind,
    pub cause: String,
    pub reason: String,
    pub events: usize,
    pub seconds: f64,
}

/// A failure, with all runs that have it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Failed {
    /// [`Bucket::id`]
    pub id: String,
    pub bucket: Bucket,
    pub count: usize,
    pub iuts: BTreeMap<String, usize>,
    pub tests: BTreeMap<String, usize>,
    pub shortest: ReportedRun,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Summary {
    pub campaign: String,
    /// The number of runs of the plan, or of the wanted part of it.
    pub planned: usize,
    #[serde(flatten)]
    pub counts: OutcomeCounts,
    /// By test case and implementation, in the order of the plan.
    pub groups: Vec<SummaryGroup>,
    /// The failures, the worst first, then the most frequent.
    pub buckets: Vec<Failed>,
    /// The number of runs of the plan that the store does not have.
    pub missing: usize,
    /// Second verdicts of runs of the plan: by a second process, or in a merged store.
    pub contested: OutcomeCounts,
    /// The number of runs in the store that are not in this plan.
    pub others: usize,
    /// The number of runs that a second process has done again.
    pub repeats: usize,
    /// The number of runs for which a merged store has another verdict.
    pub conflicts: usize,
    /// The test cases without runs.
    pub left_out: Vec<LeftOut>,
}

/// Lists the verdicts of each run that differ from the one in the store, by its key.
pub(super) fn contested_runs(contents: &Contents) -> HashMap<String, Vec<OutcomeKind>> {
    let Contents { rows, doubts } = contents;
    let mut contested: HashMap<String, Vec<OutcomeKind>> = HashMap::new();
    for (key, verdict) in doubts.repeats.iter().chain(&doubts.conflicts) {
        if rows.get(key).is_some_and(|row| row.verdict != *verdict) {
            let list = contested.entry(key.clone()).or_default();
            if !list.contains(verdict) {
                list.push(*verdict);
            }
        }
    }
    contested
}

/// Counts the runs of the plan in the store, by group and by bucket.
pub fn summarize(plan: &CampaignPlan, contents: &Contents) -> Summary {
    let Contents { rows, doubts } = contents;
    let second_verdicts = contested_runs(contents);
    let mut counts = OutcomeCounts::default();
    let mut contested = OutcomeCounts::default();
    let mut groups: HashMap<(usize, usize), (OutcomeCounts, Vec<f64>)> = HashMap::new();
    let mut failed: BTreeMap<&Bucket, Vec<(usize, &RunRow)>> = BTreeMap::new();
    for (number, run) in plan.runs.iter().enumerate() {
        let Some(row) = rows.get(&run.key.to_string()) else { continue };
        counts.count(row.verdict);
        second_verdicts.get(&row.key).into_iter().flatten().for_each(|verdict| contested.count(*verdict));
        let (group_counts, group_seconds) = groups.entry((run.test, run.iut)).or_default();
        group_counts.count(row.verdict);
        group_seconds.push(row.seconds);
        if let Some(bucket) = &row.bucket {
            failed.entry(bucket).or_default().push((number, row));
        }
    }
    let mut buckets: Vec<Failed> =
        failed.iter().filter_map(|(bucket, runs)| report_bucket(plan, bucket, runs)).collect();
    // The worst first, then the most frequent; equal ones stay in the order of their names.
    buckets.sort_by_key(|failed| Reverse((failed.bucket.verdict.rank(), failed.count)));
    let mut group_list = Vec::new();
    for (test_number, test) in plan.tests.iter().enumerate() {
        for (iut_number, iut) in plan.iuts.iter().enumerate() {
            let (counts, seconds) = groups.remove(&(test_number, iut_number)).unwrap_or_default();
            let (test, iut) = (test.name.clone(), iut.name.clone());
            group_list.push(SummaryGroup { test, iut, counts, median_seconds: median(seconds) });
        }
    }
    let conflicts: HashSet<&String> = doubts.conflicts.iter().map(|(key, _)| key).collect();
    Summary {
        campaign: plan.campaign.clone(),
        planned: plan.runs.len(),
        missing: plan.runs.len().saturating_sub(counts.total()),
        contested,
        others: rows.len().saturating_sub(counts.total()),
        counts,
        groups: group_list,
        buckets,
        repeats: doubts.repeats.len(),
        conflicts: conflicts.len(),
        left_out: plan.left_out.clone(),
    }
}

/// Finds the run with the fewest events; of several, the first one in the plan. `None` without runs.
pub(super) fn shortest_run<'a>(runs: &[(usize, &'a RunRow)]) -> Option<(usize, &'a RunRow)> {
    runs.iter().copied().min_by_key(|(number, row)| (row.events, *number))
}

/// Reports a failure: its runs by implementation and test case, and the shortest one.
fn report_bucket(plan: &CampaignPlan, bucket: &Bucket, runs: &[(usize, &RunRow)]) -> Option<Failed> {
    let (number, row) = shortest_run(runs)?;
    let mut failed = Failed {
        id: bucket.id(),
        bucket: bucket.clone(),
        count: runs.len(),
        iuts: BTreeMap::new(),
        tests: BTreeMap::new(),
        shortest: report_run(plan, number, row),
    };
    for (number, _) in runs {
        let run = &plan.runs[*number];
        *failed.iuts.entry(plan.iuts[run.iut].name.clone()).or_default() += 1;
        *failed.tests.entry(plan.tests[run.test].name.clone()).or_default() += 1;
    }
    Some(failed)
}

fn report_run(plan: &CampaignPlan, number: usize, row: &RunRow) -> ReportedRun {
    let run = &plan.runs[number];
    ReportedRun {
        run: row.number,
        key: row.key.clone(),
        test: plan.tests[run.test].name.clone(),
        iut: plan.iuts[run.iut].name.clone(),
        constants: plan.constants(run).clone(),
        seed: run.seed,
        verdict: row.verdict,
        cause: row.cause.clone(),
        reason: row.reason.clone(),
        events: row.events,
        seconds: row.seconds,
    }
}

/// Returns the middle value, or the mean of the two in the middle. `None` without values.
fn median(mut seconds: Vec<f64>) -> Option<f64> {
    seconds.sort_by(f64::total_cmp);
    let middle = seconds.len() / 2;
    let upper = *seconds.get(middle)?;
    if seconds.len() % 2 == 1 {
        return Some(upper);
    }
    seconds.get(middle.checked_sub(1)?).map(|lower| (lower + upper) / 2.0)
}

/// Writes constants in one line: `cPrice = 3, cWanted = 2`.
pub fn constants_text(constants: &Map<String, Json>) -> String {
    let equation = |(name, value): (&String, &Json)| match value {
        Json::String(text) => format!("{name} = {text}"),
        other => format!("{name} = {other}"),
    };
    constants.iter().map(equation).collect::<Vec<_>>().join(", ")
}

/// Makes the rows of a table for people. The first row is its head.
pub fn table_rows(summary: &Summary) -> Vec<Vec<String>> {
    // Only runs that are judged on line can have WeakPass: the column is left out if there is none.
    let is_shown =
        |kind: &OutcomeKind| *kind != OutcomeKind::Verdict(Verdict::WeakPass) || summary.counts.weak_pass > 0;
    let kinds: Vec<OutcomeKind> = OutcomeKind::ALL.into_iter().filter(is_shown).collect();
    let mut head = vec!["test case", "iut", "runs"];
    head.extend(kinds.iter().map(|kind| kind.name()));
    head.push("median s");
    let line = |test: &str, iut: &str, counts: OutcomeCounts| {
        let total = counts.total();
        let mut cells = vec![test.to_owned(), iut.to_owned(), total.to_string()];
        cells.extend(kinds.iter().map(|kind| match counts.of(*kind) {
            0 => "-".to_owned(),
            count => format!("{count} {}", format_percent(count, total)),
        }));
        cells
    };
    let mut rows: Vec<Vec<String>> = vec![head.into_iter().map(str::to_owned).collect()];
    for group in &summary.groups {
        let mut cells = line(&group.test, &group.iut, group.counts);
        cells.push(group.median_seconds.map_or_else(|| "-".to_owned(), |seconds| format!("{seconds:.4}")));
        rows.push(cells);
    }
    if summary.groups.len() > 1 {
        rows.push(line("all", "", summary.counts));
    }
    rows
}

/// Writes a rounded percentage. Less than all is never 100 %, and more than nothing is never 0 %.
fn format_percent(count: usize, total: usize) -> String {
    let share = count as f64 * 100.0 / total as f64;
    let shown = share.round().clamp(1.0, if count == total { 100.0 } else { 99.0 });
    format!("({shown} %)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentage_does_not_hide_the_last_run() {
        assert_eq!(format_percent(999, 1000), "(99 %)");
        assert_eq!(format_percent(1, 1000), "(1 %)");
        assert_eq!(format_percent(1000, 1000), "(100 %)");
    }

    #[test]
    fn a_median_is_the_middle() {
        assert_eq!(median(vec![]), None);
        assert_eq!(median(vec![3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(vec![4.0, 1.0, 2.0, 3.0]), Some(2.5));
    }
}
