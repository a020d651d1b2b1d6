//! The report of `coreach test --junit`: a suite for each test case, a case for each run.
//!
//! The counts of a suite come before its cases. So the cases are held until the end, in the form in which
//! they are written. Before the first run, it is checked that the file can be written.

use std::io;

use coreach_execution::campaign::LeftOut;
use coreach_execution::junit::{self, JunitCase, JunitResult, LEFT_OUT, Totals};
use coreach_execution::record::Record;
use serde_json::Value as Json;

use super::{FailedRuns, Total};
use crate::answer::EarlyExit;
use crate::execution_arguments::TestArguments;
use crate::outputs::OutFile;
use crate::write::{check_writable, write_with};

struct Suite {
    name: String,
    counts: Totals,
    properties: Vec<(String, String)>,
    cases: Vec<JunitCase>,
}

impl Suite {
    fn new(name: String, cases: Vec<JunitCase>, properties: Vec<(String, String)>) -> Self {
        let mut counts = Totals::default();
        cases.iter().for_each(|case| counts.add(case.kind, case.seconds));
        Suite { name, counts, properties, cases }
    }
}

pub(super) struct TestReport {
    /// The file of the report. If there is none, nothing is held.
    output: Option<OutFile>,
    name: String,
    inconclusive: JunitResult,
    suites: Vec<Suite>,
    /// The runs of the test case that is being run.
    cases: Vec<JunitCase>,
    left_out: Vec<JunitCase>,
}

impl TestReport {
    pub(super) fn begin(
        output: Option<OutFile>,
        arguments: &TestArguments,
        left_out: &[LeftOut],
    ) -> Result<Self, EarlyExit> {
        if let Some(output) = &output {
            check_writable(output).map_err(|error| EarlyExit::unwritten(output.path(), &error))?;
        }
        let name = arguments.test.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let inconclusive = arguments.tolerance.inconclusive.junit_result();
        let left_out = left_out.iter().map(JunitCase::of_left_out).collect();
        Ok(TestReport { output, name, inconclusive, suites: Vec::new(), cases: Vec::new(), left_out })
    }

    /// Adds a run, which is in the file `kept` if it was kept.
    pub(super) fn add_run(&mut self, record: &Record, kept: Option<&str>) {
        if self.output.is_none() {
            return;
        }
        let mut name = format!("seed {}", record.seed);
        for (constant, value) in &record.constants {
            name += &format!(", {constant} = {value}");
        }
        let hint = kept.map_or(String::new(), |path| format!("coreach explain {path}\n"));
        let message = record.reason.summary.clone();
        let kind = JunitResult::of(record.verdict, self.inconclusive);
        let bucket = record.bucket.as_ref().filter(|bucket| bucket.is_failure());
        let text = format!("{message}\n{}{hint}", junit::bucket_line(bucket));
        let json = serde_json::to_value(record).unwrap_or(Json::Null);
        self.cases.push(JunitCase {
            name,
            kind,
            cause: record.cause.clone(),
            message,
            text,
            seconds: record.seconds,
            out: Some(junit::write_events(&json)),
            wire: junit::write_wire(&json),
        });
    }

    pub(super) fn add_left_out(&mut self, left: &LeftOut) {
        self.left_out.push(JunitCase::of_left_out(left));
    }

    pub(super) fn end_case(&mut self, test: &str, iut: &str, total: &Total) {
        let properties = total.failed.iter().map(|(bucket, FailedRuns { runs, events, seed, .. })| {
            junit::bucket_property(bucket, *runs, *events, &format!("has seed {seed}"))
        });
        let cases = std::mem::take(&mut self.cases);
        if !cases.is_empty() {
            self.suites.push(Suite::new(format!("{test}/{iut}"), cases, properties.collect()));
        }
    }

    pub(super) fn finish(mut self) -> Result<(), EarlyExit> {
        let Some(output) = self.output else { return Ok(()) };
        if !self.left_out.is_empty() {
            self.suites.push(Suite::new(LEFT_OUT.to_owned(), self.left_out, Vec::new()));
        }
        let mut counts_of_all = Totals::default();
        self.suites.iter().for_each(|suite| counts_of_all.include(&suite.counts));
        let written = write_with(&output, |out| -> io::Result<()> {
            let mut report = junit::JunitReport::begin(out, &self.name, &counts_of_all)?;
            for Suite { name, counts, properties, cases } in &self.suites {
                report.suite(name, counts, properties)?;
                cases.iter().try_for_each(|case| report.case(case))?;
                report.end_suite()?;
            }
            report.end()
        });
        written.map_err(|error| EarlyExit::unwritten(output.path(), &error))
    }
}
