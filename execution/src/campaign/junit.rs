//! Writes a campaign as a report of JUnit ([`crate::junit`]).
//!
//! There is a suite for each test case and implementation, and a case for each run. Fail is a `failure`, a
//! run error an `error`. The user chooses for Inconclusive, usually `skipped`: it says nothing against the
//! implementation, and nothing for it. A planned run that is not finished is an `error` too, so that nobody
//! takes half a campaign for a whole one. A run with two verdicts, from a second process or a merged store,
//! is reported with the worse one. Test cases that were left out are a suite at the end.
//!
//! **Costs** the record of each run, read when its case is written. Only one record is in memory.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use crate::bucket::Bucket;
use crate::campaign::key::SHOWN;
use crate::campaign::plan::CampaignPlan;
use crate::campaign::store::{Contents, RunRow, Store, StoreError};
use crate::campaign::summary::{constants_text, contested_runs, shortest_run};
use crate::junit::{self, JunitCase, JunitReport, JunitResult, LEFT_OUT, Totals};
use crate::outcome::OutcomeKind;

/// The number of a run in the plan, and its row if the run is finished.
type SuiteRun<'a> = (usize, Option<&'a RunRow>);

#[derive(Debug)]
pub enum JunitError {
    Store(StoreError),
    Write(io::Error),
}

impl From<io::Error> for JunitError {
    fn from(error: io::Error) -> Self {
        JunitError::Write(error)
    }
}

/// Writes the report of a store's contents. The records come from `store`, which is also named in the hints.
/// Inconclusive becomes `inconclusive`.
pub fn write(
    plan: &CampaignPlan,
    store: &Store,
    contents: &Contents,
    inconclusive: JunitResult,
    out: &mut dyn Write,
) -> Result<(), JunitError> {
    let worse = find_worse_rows(contents);
    let worst_row = |key: &str| worse.get(key).or_else(|| contents.rows.get(key));
    let kind = |row: Option<&RunRow>| {
        row.map_or(JunitResult::Error, |row| JunitResult::of(row.verdict, inconclusive))
    };
    // A suite for each test case and implementation: all of the first test case, then of the next. The head
    // of the report has the totals, so everything is counted before it is written.
    let mut suites: Vec<Vec<SuiteRun<'_>>> = vec![Vec::new(); plan.tests.len() * plan.iuts.len()];
    for (number, run) in plan.runs.iter().enumerate() {
        suites[run.test * plan.iuts.len() + run.iut].push((number, worst_row(&run.key.to_string())));
    }
    let left_out: Vec<JunitCase> = plan.left_out.iter().map(JunitCase::of_left_out).collect();
    let mut left_out_counts = Totals::default();
    left_out.iter().for_each(|case| left_out_counts.add(case.kind, case.seconds));
    let mut total = left_out_counts;
    let count = |suite: &[SuiteRun<'_>]| {
        let mut counts = Totals::default();
        suite.iter().for_each(|(_, row)| counts.add(kind(*row), row.map_or(0.0, |row| row.seconds)));
        counts
    };
    suites.iter().for_each(|suite| total.include(&count(suite)));
    let mut report = JunitReport::begin(out, &plan.campaign, &total)?;
    for (index, suite) in suites.iter().enumerate() {
        let (test, iut) = (&plan.tests[index / plan.iuts.len()], &plan.iuts[index % plan.iuts.len()]);
        report.suite(&format!("{}/{}", test.name, iut.name), &count(suite), &bucket_properties(suite))?;
        for (number, row) in suite {
            report.case(&make_case(plan, store, *number, *row, kind(*row)).map_err(JunitError::Store)?)?;
        }
        report.end_suite()?;
    }
    if !left_out.is_empty() {
        report.suite(LEFT_OUT, &left_out_counts, &[])?;
        left_out.iter().try_for_each(|case| report.case(case))?;
        report.end_suite()?;
    }
    Ok(report.end()?)
}

/// Finds the runs that have a second, worse verdict. Returns their rows with that verdict, by their keys.
fn find_worse_rows(contents: &Contents) -> HashMap<String, RunRow> {
    let with_worst = |(key, verdicts): (String, Vec<OutcomeKind>)| {
        let row = contents.rows.get(&key)?;
        let worst = verdicts.into_iter().max_by_key(|verdict| verdict.rank())?;
        let reason = format!("{} in one run, {worst} in another of the same key", row.verdict);
        let worse = RunRow { reason, cause: "contested".to_owned(), verdict: worst, ..row.clone() };
        (worst.rank() > row.verdict.rank()).then_some((key, worse))
    };
    contested_runs(contents).into_iter().filter_map(with_worst).collect()
}

/// Makes the properties of a suite: for each bucket, its number of runs and the shortest run.
fn bucket_properties(suite: &[SuiteRun<'_>]) -> Vec<(String, String)> {
    let mut runs_of: BTreeMap<&Bucket, Vec<(usize, &RunRow)>> = BTreeMap::new();
    for (number, row) in suite.iter().filter_map(|(number, row)| Some((*number, (*row)?))) {
        if let Some(bucket) = &row.bucket {
            runs_of.entry(bucket).or_default().push((number, row));
        }
    }
    let property = |(bucket, runs): (&Bucket, Vec<(usize, &RunRow)>)| {
        let (_, shortest) = shortest_run(&runs)?;
        let key = shortest.key.get(..SHOWN).unwrap_or(&shortest.key);
        Some(junit::bucket_property(bucket, runs.len(), shortest.events, &format!("is {key}")))
    };
    runs_of.into_iter().filter_map(property).collect()
}

/// Makes the case of a planned run; `row` is `None` if the run is not finished.
fn make_case(
    plan: &CampaignPlan,
    store: &Store,
    number: usize,
    row: Option<&RunRow>,
    kind: JunitResult,
) -> Result<JunitCase, StoreError> {
    let run = &plan.runs[number];
    let mut name = format!("seed {}", run.seed);
    let values = constants_text(plan.constants(run));
    if !values.is_empty() {
        name += &format!(", {values}");
    }
    let Some(row) = row else {
        let (cause, message, text) = ("unfinished".to_owned(), "not run yet".to_owned(), String::new());
        return Ok(JunitCase { name, kind, cause, message, text, seconds: 0.0, out: None, wire: None });
    };
    let hint = format!("coreach explain {} {}", store.path().display(), run.key.short());
    let record = store.record(row.number)?;
    Ok(JunitCase {
        name,
        kind,
        cause: row.cause.clone(),
        message: row.reason.clone(),
        text: format!("{}\n{}{hint}", row.reason, junit::bucket_line(row.bucket.as_ref())),
        seconds: row.seconds,
        out: Some(junit::write_events(&record)),
        wire: junit::write_wire(&record),
    })
}
