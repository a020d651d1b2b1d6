//! `coreach mutate`: what a suite of purposes finds in implementations that are known to be wrong.

use std::io;
use std::time::Duration;

use coreach_execution::mutation::{Effort, Fate, Mutant, Operator, Result as Judged, judge, mutants, visits};
use coreach_execution::{Settings, TestCase};
use coreach_model::{Diagnostic, Iosts};
use coreach_project::cases::{self, Cases};
use coreach_project::summary::{ShortestSummary, fate_name, killed, mutation};
use coreach_project::{budget, jobs};

use super::run::no_thread;
use super::{bucket_line, plural, refuse, refuse_as, table};
use crate::execution_arguments::MutateArguments;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::progress::Progress;
use crate::{certain_end, console};

/// Makes mutants, runs the suite against each, and says what became of them. Exit code 0, however many survive: they are
/// an answer, not a failure. Where there is no mutant there is no answer: exit code 5.
///
/// # Errors
/// Standard output cannot be written.
pub fn mutate(arguments: &MutateArguments) -> io::Result<Exit> {
    let making = Progress::start(1, !arguments.quiet);
    let Cases { cases, none, .. } =
        match cases::load(&arguments.configuration, None, &|what| making.says(what)) {
            Ok(loaded) => loaded,
            Err(found) => return refuse(&found, arguments.format),
        };
    drop(making);
    let exit = none.iter().fold(Exit::Fine, |exit, none| exit.and(none.why.into()));
    let without: Vec<Diagnostic> = none.into_iter().flat_map(|none| none.found).collect();
    if cases.is_empty() {
        return refuse_as(&without, arguments.format, exit);
    }
    // The suite is what can be tested.
    console::draw(&without);
    let Some(specification) = cases.first().and_then(|case| case.specification.clone()) else {
        let message = "a test case alone has no specification to mutate: give the configuration";
        let diagnostic = Diagnostic::error("no-specification", message);
        return refuse(&[diagnostic], arguments.format);
    };
    // Simulated implementations know silence at once, so no time is lost in waiting for it.
    let moment = Duration::from_millis(1);
    let effort = Effort {
        mutants: arguments.mutants.get(),
        runs: arguments.runs,
        walks: arguments.walks,
        depth: arguments.depth,
        seed: arguments.seed,
        settings: Settings {
            steps: arguments.steps,
            quiescence: moment,
            patience: moment,
            ..Settings::default()
        },
    };
    let tests: Vec<TestCase> = cases.iter().map(|case| case.test.clone()).collect();
    let names: Vec<String> = cases.into_iter().map(|case| case.name).collect();
    let time = budget::time(None);
    let all = budget::within("mutate", time, |_| mutants(&specification, effort.mutants, effort.seed));
    let all = match all {
        Ok(all) => all,
        Err(stop) => return refuse(&[stop.to_diagnostic()], arguments.format),
    };
    if all.is_empty() {
        // Nothing was asked of the suite: no answer to be taken for one.
        let diagnostic =
            Diagnostic::error("no-mutants", "no operator changes anything in this specification");
        return refuse_as(&[diagnostic], arguments.format, Exit::Incomplete);
    }
    let progress = Progress::start(all.len(), !arguments.quiet);
    let mut visited = specification.transitions.map(|_| 0);
    for test in tests.chunks(1) {
        match budget::within("mutate", time, |_| visits(&specification, test, &effort)) {
            Ok(more) => visited.iter_mut().zip(more).for_each(|(sum, count)| *sum += count),
            Err(stop) => return refuse(&[stop.to_diagnostic()], arguments.format),
        }
    }
    let visits = visited;
    let work = |mutant: &Mutant| {
        progress.says(mutant.change.clone());
        let judged = budget::within("mutate", time, |_| {
            judge(&specification, &tests, mutant.clone(), &visits, &effort)
        });
        let result = judged.unwrap_or_else(|stop| {
            certain_end::wait_if_ending();
            let fate = Fate::Broken(stop.to_diagnostic().message);
            Judged { mutant: mutant.clone(), fate, visits: None }
        });
        progress.one_done();
        result
    };
    let results = match jobs::in_order(&all, arguments.threads.get(), work) {
        Ok(results) => results,
        Err(error) => return no_thread(&error),
    };
    drop(progress);
    match arguments.format {
        OutputFormat::Human if arguments.quiet => console::print(&quiet(&names, &results))?,
        OutputFormat::Human => tell(&specification, &names, &results, &visits, &effort)?,
        OutputFormat::Json => console::print_json(&mutation(&specification, &names, &results, &visits))?,
    }
    Ok(exit)
}

/// The counts in a line, and a line for each thing by which mutants were killed.
fn quiet(names: &[String], results: &[Judged]) -> String {
    let count = |fate: &&str| results.iter().filter(|result| fate_name(&result.fate) == *fate).count();
    let counts: Vec<String> = FATES.iter().map(|fate| format!("{fate} {}", count(fate))).collect();
    let found = killed(names, results);
    let buckets = found.iter().map(|found| bucket_line(&found.bucket, found.count, "mutant"));
    format!("{}: {}\n{}", plural(results.len(), "mutant"), counts.join(", "), buckets.collect::<String>())
}

/// What becomes of mutants.
const FATES: [&str; 4] = ["killed", "survived", "equivalent", "broken"];

fn tell(
    specification: &Iosts,
    names: &[String],
    results: &[Judged],
    visits: &[usize],
    effort: &Effort,
) -> io::Result<()> {
    let head = ["operator", "mutants", "killed", "survived", "equivalent*", "broken"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut row = |name: &str, of: &dyn Fn(&&Judged) -> bool| {
        let mine: Vec<&Judged> = results.iter().filter(of).collect();
        let count = |fate: &str| mine.iter().filter(|result| fate_name(&result.fate) == fate).count();
        let mut row = vec![name.to_owned(), mine.len().to_string()];
        row.extend(FATES.iter().map(|fate| count(fate).to_string()));
        if !mine.is_empty() {
            rows.push(row);
        }
    };
    for operator in Operator::ALL {
        row(operator.name(), &|result| result.mutant.operator == *operator);
    }
    row("all", &|_| true);
    let mut text = table(&rows, 1);
    text.push_str(&format!(
        "* nothing wrong seen in {} of at most {} beside the specification\n",
        plural(usize::try_from(effort.walks).unwrap_or(usize::MAX), "walk"),
        plural(effort.depth, "event")
    ));
    let count = |wanted: &str| results.iter().filter(|result| fate_name(&result.fate) == wanted).count();
    let (dead, survived) = (count("killed"), count("survived"));
    if dead + survived > 0 {
        let score = 100.0 * dead as f64 / (dead + survived) as f64;
        text.push_str(&format!("score: {dead} of {} that are wrong, {score:.0} %\n", dead + survived));
    }
    for name in names.iter().enumerate().map(|(number, name)| {
        let by = |result: &&Judged| matches!(result.fate, Fate::Killed { test, .. } if test == number);
        format!("  {name} killed {} first\n", results.iter().filter(by).count())
    }) {
        text.push_str(&name);
    }
    for found in killed(names, results) {
        let ShortestSummary { mutant, test, seed, events } = &found.shortest;
        text.push_str(&format!(
            "{}: {}\n  in {}; the shortest by {test}, seed {seed}, {}: {mutant}\n",
            found.id,
            found.bucket,
            plural(found.count, "mutant"),
            plural(*events, "event"),
        ));
    }
    for result in results {
        if let Fate::Survived { trace } = &result.fate {
            let why = match result.visits {
                Some(0) => "no run of the suite came through this transition: a purpose is missing",
                Some(_) => "the suite came through it, and did not look",
                None => "the change is at no single transition",
            };
            let trace: Vec<String> = trace.iter().map(ToString::to_string).collect();
            let (operator, change) = (result.mutant.operator.name(), &result.mutant.change);
            text.push_str(&format!(
                "survived: {operator}: {change}\n  {why}\n  it shows by {}\n",
                trace.join(" ")
            ));
        }
    }
    let missed = specification.transitions.iter().zip(visits).filter(|(_, visits)| **visits == 0);
    let missed: Vec<String> = missed.map(|(transition, _)| specification.describe(transition)).collect();
    if !missed.is_empty() {
        text.push_str(&format!("no purpose reached: {}\n", missed.join(", ")));
    }
    console::print(&text)
}
