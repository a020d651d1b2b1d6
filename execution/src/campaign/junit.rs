//! A campaign as JUnit's XML, which build servers draw.
//!
//! A suite for each test case and implementation, a case for each run. Fail is a `failure`, a run error an `error`,
//! Inconclusive is `skipped`: it says nothing against the implementation, and nothing for it. A run that is planned and
//! not finished is an `error` too, so that half a campaign is not taken for a whole one. A run to which a second process, or
//! a store that was merged, has another verdict is told by the worse one.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::{self, Write};

use coreach_model::Verdict;
use coreach_model::visible::is_hidden_sign;

use crate::bucket::Bucket;
use crate::campaign::plan::{Plan, SHOWN};
use crate::campaign::store::{Row, Store, StoreError};
use crate::campaign::summary::{constants, contested};
use crate::ending::Ending;

/// Why a report was not written.
#[derive(Debug)]
pub enum JunitError {
    /// The store cannot be read.
    Store(StoreError),
    /// The report cannot be written.
    Write(io::Error),
}

impl From<io::Error> for JunitError {
    fn from(error: io::Error) -> Self {
        JunitError::Write(error)
    }
}

/// Writes the report; `store` is asked for the runs, and named in the hints.
///
/// # Errors
/// [`JunitError`].
pub fn write(plan: &Plan, store: &Store, out: &mut dyn Write) -> Result<(), JunitError> {
    let mut rows = store.rows().map_err(JunitError::Store)?;
    let doubts = store.doubts().map_err(JunitError::Store)?;
    for (key, verdicts) in contested(&rows, &doubts) {
        if let Some(row) = rows.get_mut(&key) {
            let worst = verdicts.into_iter().max_by_key(|verdict| verdict.rank()).unwrap_or(row.verdict);
            if worst.rank() > row.verdict.rank() {
                row.reason = format!("{} in one run, {worst} in another of the same key", row.verdict);
                row.cause = "contested".to_owned();
                row.verdict = worst;
            }
        }
    }
    let mut suites: Vec<Vec<(usize, Option<&Row>)>> = vec![Vec::new(); plan.tests.len() * plan.iuts.len()];
    for (number, run) in plan.runs.iter().enumerate() {
        suites[run.test * plan.iuts.len() + run.iut].push((number, rows.get(&run.key.to_string())));
    }
    let all = suites.iter().flatten().copied();
    writeln!(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>")?;
    writeln!(out, "<testsuites name=\"{}\" {}>", escaped(&plan.campaign), attributes(all))?;
    for (at, suite) in suites.iter().enumerate() {
        let (test, iut) = (&plan.tests[at / plan.iuts.len()], &plan.iuts[at % plan.iuts.len()]);
        let name = escaped(&format!("{}/{}", test.name, iut.name));
        writeln!(out, "  <testsuite name=\"{name}\" {}>", attributes(suite.iter().copied()))?;
        properties(suite, out)?;
        for (number, row) in suite {
            case(plan, store, *number, *row, &name, out)?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")?;
    Ok(())
}

/// What JUnit makes of a run: the element of its case, and the count that it adds to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Success,
    Skipped,
    Failure,
    Error,
}

impl Kind {
    fn of(row: Option<&Row>) -> Self {
        match row.map(|row| row.verdict) {
            Some(Ending::Verdict(Verdict::Pass)) => Kind::Success,
            Some(Ending::Verdict(Verdict::Inconclusive)) => Kind::Skipped,
            Some(Ending::Verdict(Verdict::Fail)) => Kind::Failure,
            Some(Ending::RunError) | None => Kind::Error,
        }
    }
}

/// `tests="3" failures="1" errors="0" skipped="1" time="0.5"`
fn attributes<'a>(runs: impl Iterator<Item = (usize, Option<&'a Row>)>) -> String {
    let (mut tests, mut failures, mut errors, mut skipped, mut time) = (0, 0, 0, 0, 0.0);
    for (_, row) in runs {
        tests += 1;
        match Kind::of(row) {
            Kind::Success => {}
            Kind::Skipped => skipped += 1,
            Kind::Failure => failures += 1,
            Kind::Error => errors += 1,
        }
        time += row.map_or(0.0, |row| row.seconds);
    }
    format!(
        "tests=\"{tests}\" failures=\"{failures}\" errors=\"{errors}\" skipped=\"{skipped}\" time=\"{time:.6}\""
    )
}

/// Each thing that failed in a suite, once.
fn properties(suite: &[(usize, Option<&Row>)], out: &mut dyn Write) -> io::Result<()> {
    let mut failed: BTreeMap<&Bucket, Vec<(usize, &Row)>> = BTreeMap::new();
    for (number, row) in suite.iter().filter_map(|(number, row)| Some((*number, (*row)?))) {
        if let Some(bucket) = &row.bucket {
            failed.entry(bucket).or_default().push((number, row));
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    writeln!(out, "    <properties>")?;
    for (bucket, rows) in failed {
        let shortest = rows.iter().min_by_key(|(number, row)| (row.events, *number));
        let shortest = shortest.map_or(String::new(), |(_, row)| {
            let key = row.key.get(..SHOWN).unwrap_or(&row.key);
            format!("; the shortest, of {} events, is {key}", row.events)
        });
        let runs = if rows.len() == 1 { "1 run".to_owned() } else { format!("{} runs", rows.len()) };
        let value = format!("{bucket}: {runs}{shortest}");
        writeln!(out, "      <property name=\"bucket {}\" value=\"{}\"/>", bucket.id(), escaped(&value))?;
    }
    writeln!(out, "    </properties>")
}

fn case(
    plan: &Plan,
    store: &Store,
    number: usize,
    row: Option<&Row>,
    class: &str,
    out: &mut dyn Write,
) -> io::Result<()> {
    let run = &plan.runs[number];
    let mut name = format!("seed {}", run.seed);
    let values = constants(plan.constants(run));
    if !values.is_empty() {
        // Writing to a string cannot fail.
        let _ = write!(name, ", {values}");
    }
    let seconds = row.map_or(0.0, |row| row.seconds);
    write!(out, "    <testcase classname=\"{class}\" name=\"{}\" time=\"{seconds:.6}\"", escaped(&name))?;
    let hint = format!("coreach explain {} {}", store.path().display(), run.key.short());
    let kind = Kind::of(row);
    match row {
        None => writeln!(out, "><error type=\"unfinished\" message=\"not run yet\"/></testcase>"),
        Some(_) if kind == Kind::Success => writeln!(out, "/>"),
        Some(row) if kind == Kind::Skipped => {
            writeln!(out, "><skipped message=\"{}\"/></testcase>", escaped(&row.reason))
        }
        Some(row) => {
            let element = if kind == Kind::Failure { "failure" } else { "error" };
            let (kind, message) = (escaped(&row.cause), escaped(&row.reason));
            let bucket = row.bucket.as_ref();
            let bucket = bucket.map_or(String::new(), |one| format!("bucket {}: {one}\n", one.id()));
            writeln!(
                out,
                "><{element} type=\"{kind}\" message=\"{message}\">{message}\n{}{}</{element}></testcase>",
                escaped(&bucket),
                escaped(&hint)
            )
        }
    }
}

/// A text within XML. Signs that XML cannot hold at all, an implementation may send any, are shown by their numbers.
fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for sign in text.chars() {
        match sign {
            '&' => shown.push_str("&amp;"),
            '<' => shown.push_str("&lt;"),
            '>' => shown.push_str("&gt;"),
            '"' => shown.push_str("&quot;"),
            '\t' | '\n' | '\r' => drop(write!(shown, "&#{};", u32::from(sign))),
            sign if is_hidden_sign(sign) => shown.extend(sign.escape_unicode()),
            _ => shown.push(sign),
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_of_an_implementation_breaks_the_report() {
        assert_eq!(escaped("<a b=\"&\">"), "&lt;a b=&quot;&amp;&quot;&gt;");
        assert_eq!(escaped("x\u{0}\u{1b}[2J\ny"), "x\\u{0}\\u{1b}[2J&#10;y");
    }
}
