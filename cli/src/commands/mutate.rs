//! `coreach mutate`: what a suite of purposes finds in implementations that are known to be wrong.

use std::path::Path;
use std::time::Duration;

use coreach_execution::interruption::stop_if_ending;
use coreach_execution::mutation::{
    Effort, Mutant, MutantResult as Judged, MutantStatus, MutationOperator, count_visits, judge_mutant,
    mutants,
};
use coreach_execution::{Settings, TestCase};
use coreach_model::writer::write_yaml;
use coreach_model::{Diagnostic, Iosts};
use coreach_pipeline::named_types::named_types;
use coreach_project::budget;
use coreach_project::cases::{self, Cases};
use coreach_project::summary::{
    Mutants, ShortestSummary, group_killed, summarize_mutation, summarize_transitions,
};

use super::{CommandAnswer, CommandResult, EarlyExit, bucket_line, plural, table};
use crate::answer::render_answer;
use crate::console;
use crate::execution_arguments::{MutateArguments, TriesArguments};
use crate::exit::Exit;
use crate::pieces::do_pieces;
use crate::progress::{ProgressLine, with_progress};

/// A suite, and the mutants that it is to meet.
struct MutationInput {
    specification: Iosts,
    tests: Vec<TestCase>,
    names: Vec<String>,
    mutants: Vec<Mutant>,
    effort: Effort,
    /// Not fine if a purpose was left out.
    exit: Exit,
}

/// Makes the test cases and the mutants. If there is nothing to do, the error says why, with the exit code.
fn prepare_mutants(path: &Path, tries: &TriesArguments, is_quiet: bool) -> Result<MutationInput, EarlyExit> {
    let loaded = with_progress(!is_quiet, |says| cases::load(path, None, says));
    let Cases { cases, none: left_out, .. } = loaded?;
    let exit = left_out.iter().fold(Exit::Fine, |exit, case| exit.and(case.why.into()));
    let reasons: Vec<Diagnostic> = left_out.into_iter().flat_map(|case| case.found).collect();
    if cases.is_empty() {
        return Err(EarlyExit::Refused(reasons, exit));
    }
    // The suite consists of the other test cases.
    console::draw(&reasons);
    let Some(specification) = cases.first().and_then(|case| case.specification.clone()) else {
        let message = "a test case alone has no specification to mutate: give the configuration";
        return Err(Diagnostic::error("no-specification", message).into());
    };
    if cases.iter().any(|case| case.test.timed.is_some()) {
        let message = "`coreach mutate` does not support specifications with clocks";
        let help = "run the test cases with `coreach test` against systems with known faults";
        return Err(Diagnostic::error("timed-mutants", message).help(help).into());
    }
    // Simulated implementations know silence at once, so no time is lost in waiting for it.
    let moment = Duration::from_millis(1);
    let effort = Effort {
        mutants: tries.mutants.get(),
        runs: tries.runs,
        walks: tries.walks,
        depth: tries.depth,
        seed: tries.seed,
        settings: Settings {
            steps: tries.events,
            quiescence: moment,
            patience: moment,
            ..Settings::default()
        },
    };
    let (tests, names) = cases.into_iter().map(|case| (case.test, case.name)).unzip();
    let mutants = budget::within("mutate", budget::time(None), |_| {
        mutants(&specification, effort.mutants, effort.seed)
    })?;
    if mutants.is_empty() {
        // Without mutants, nothing was asked of the suite. That must not look like an answer.
        let message = "no operator changes anything in this specification";
        return Err(EarlyExit::Refused(vec![Diagnostic::error("no-mutants", message)], Exit::Incomplete));
    }
    Ok(MutationInput { specification, tests, names, mutants, effort, exit })
}

/// Makes mutants, runs the suite against each, and says what became of them. The exit code is 0 however many
/// survive: they are an answer, not a failure. Without any mutant there is no answer: the exit code is 5.
pub fn mutate(arguments: &MutateArguments) -> CommandResult {
    let MutationInput { specification, tests, names, mutants, effort, exit } =
        prepare_mutants(&arguments.configuration, &arguments.tries, arguments.quiet)?;
    if let Some(number) = arguments.write {
        return write_mutant(&mutants, number.get(), exit);
    }
    let time = budget::time(None);
    let progress = ProgressLine::start(mutants.len(), !arguments.quiet);
    let mut stops: Vec<Diagnostic> = Vec::new();
    let mut visits = specification.transitions.map(|_| 0);
    // Each test case has a budget of its own.
    for test in tests.chunks(1) {
        match budget::within("mutate", time, |_| count_visits(&specification, test, &effort)) {
            Ok(counts) => visits.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count),
            Err(stop) => stops.push(stop.to_diagnostic()),
        }
    }
    let are_counted = stops.is_empty();
    let work = |mutant: &Mutant| {
        progress.says(mutant.change.clone());
        let judged = budget::within("mutate", time, |_| {
            judge_mutant(&specification, &tests, mutant.clone(), &visits, &effort)
        });
        if judged.is_err() {
            stop_if_ending();
        }
        progress.one_done();
        // Counts that the budget has cut off are not shown.
        judged
            .map(|judged| Judged { visits: judged.visits.filter(|_| are_counted), ..judged })
            .map_err(|stop| stop.to_diagnostic())
    };
    let changes: Vec<String> = mutants.iter().map(|mutant| mutant.change.clone()).collect();
    let heading = Mutants {
        specification: specification.name.clone(),
        tests: names,
        walks: effort.walks,
        depth: effort.depth,
        transitions: if are_counted { summarize_transitions(&specification, &visits) } else { Vec::new() },
        judged: Vec::new(),
    };
    let is_quiet = arguments.quiet;
    // A mutant that the budget has ended has no result: it is reported as open.
    let answer = move |results: &[Option<Result<Judged, Diagnostic>>], code| {
        let (mut report, mut open) = (heading.clone(), Vec::new());
        for (place, (result, change)) in results.iter().zip(&changes).enumerate() {
            match result {
                Some(Ok(judged)) => report.judged.push(Judged { number: place + 1, ..judged.clone() }),
                Some(Err(_)) | None => open.push(change.clone()),
            }
        }
        let text = || {
            let text = if is_quiet { quiet_text(&report) } else { mutation_text(&report) };
            text + &open.iter().map(|change| format!("open: {change}\n")).collect::<String>()
        };
        render_answer(|| summarize_mutation(&report, &open, code), text)
    };
    let early = answer.clone();
    let partial =
        move |results: &[Option<Result<Judged, Diagnostic>>], code, _: &Diagnostic| early(results, code);
    let results = do_pieces(&mutants, arguments.threads, work, partial)?;
    drop(progress);
    stop_if_ending();
    for stop in results.iter().filter_map(|result| result.as_ref().err()) {
        if !stops.contains(stop) {
            stops.push(stop.clone());
        }
    }
    console::draw(&stops);
    let exit = exit.and(if stops.is_empty() { Exit::Fine } else { Exit::Stopped });
    let results: Vec<_> = results.into_iter().map(Some).collect();
    Ok(CommandAnswer::of_text(exit, answer(&results, exit.code())))
}

/// Prints the mutant of this number, counted from 1, as a specification.
fn write_mutant(mutants: &[Mutant], number: usize, exit: Exit) -> CommandResult {
    let Some(mutant) = mutants.get(number - 1) else {
        let message = format!("there is no mutant {number}: {} were made", mutants.len());
        let help = "`--mutants` and `--seed` decide which mutants are made";
        return Err(Diagnostic::error("no-mutants", message).help(help).into());
    };
    let iosts = &mutant.iosts;
    let text = write_yaml(iosts, &named_types(iosts));
    let head = format!("# {}: {}\n", mutant.operator.name(), mutant.change);
    Ok(CommandAnswer::of_text(exit, head + &text))
}

/// The text of `--quiet`: the counts in a line, and a line for each bucket that killed mutants.
fn quiet_text(mutants: &Mutants) -> String {
    let judged: Vec<&Judged> = mutants.judged.iter().collect();
    let counts = FATES.map(|fate| format!("{fate} {}", count_fate(&judged, fate)));
    let groups = group_killed(mutants);
    let buckets = groups.iter().map(|group| bucket_line(&group.bucket, group.count, "mutant"));
    let all = plural(judged.len(), "mutant");
    format!("{all}: {}\n{}", counts.join(", "), buckets.collect::<String>())
}

const FATES: [&str; 4] = ["killed", "survived", "equivalent", "broken"];

fn count_fate(judged: &[&Judged], fate: &str) -> usize {
    judged.iter().filter(|judged| judged.fate.name() == fate).count()
}

/// Tells the counts of each operator, the score, the mutants that survived, and what no purpose reached.
fn mutation_text(mutants: &Mutants) -> String {
    let head = ["operator", "mutants", "killed", "survived", "equivalent*", "broken"];
    let mut rows = vec![head.map(str::to_owned).to_vec()];
    let mut add_row = |name: &str, judged: &[&Judged]| {
        if !judged.is_empty() {
            let mut row = vec![name.to_owned(), judged.len().to_string()];
            row.extend(FATES.map(|fate| count_fate(judged, fate).to_string()));
            rows.push(row);
        }
    };
    let all: Vec<&Judged> = mutants.judged.iter().collect();
    for operator in MutationOperator::ALL {
        let of_operator = all.iter().copied().filter(|judged| judged.mutant.operator == operator);
        add_row(operator.name(), &of_operator.collect::<Vec<_>>());
    }
    add_row("all", &all);
    let mut text = table(&rows, 1);
    let walks = plural(usize::try_from(mutants.walks).unwrap_or(usize::MAX), "walk");
    let events = plural(mutants.depth, "event");
    text += &format!("* no difference to the specification seen in {walks} of at most {events}\n");
    let killed = count_fate(&all, "killed");
    let wrong = killed + count_fate(&all, "survived");
    if wrong > 0 {
        let score = 100.0 * killed as f64 / wrong as f64;
        text += &format!("score: {killed} of {wrong} wrong mutants killed, {score:.0} %\n");
    }
    for (number, name) in mutants.tests.iter().enumerate() {
        let is_killed =
            |judged: &&Judged| matches!(judged.fate, MutantStatus::Killed { test, .. } if test == number);
        text += &format!("  {name} killed {} first\n", mutants.judged.iter().filter(is_killed).count());
    }
    for group in group_killed(mutants).into_iter().filter(|_| console::is_verbose()) {
        let ShortestSummary { mutant, test, seed, events } = &group.shortest;
        text.push_str(&format!(
            "{}: {}\n  in {}; the shortest by {test}, seed {seed}, {}: {mutant}\n",
            group.id,
            group.bucket,
            plural(group.count, "mutant"),
            plural(*events, "event"),
        ));
    }
    for Judged { mutant, fate, visits, edits, number } in &mutants.judged {
        let edits: String = edits.iter().map(|edit| format!("  {edit}\n")).collect();
        if let MutantStatus::Survived { trace } = fate {
            let (operator, change) = (mutant.operator.name(), &mutant.change);
            let trace: Vec<String> = trace.iter().map(ToString::to_string).collect();
            let why = match visits {
                Some(0) => "no run of the suite took this transition: a purpose is missing",
                Some(_) => "the suite took this transition, but did not check the change",
                None => "the change belongs to no single transition",
            };
            text.push_str(&format!(
                "survived: mutant {number}, {operator}: {change}\n{edits}  {why}\n  it shows by {}\n",
                trace.join(" ")
            ));
        } else if console::is_verbose() {
            let (fate, operator, change) = (fate.name(), mutant.operator.name(), &mutant.change);
            text.push_str(&format!("{fate}: mutant {number}, {operator}: {change}\n{edits}"));
        }
    }
    let missed = mutants.transitions.iter().filter(|transition| transition.visits == 0);
    let missed: Vec<&str> = missed.map(|transition| transition.transition.as_str()).collect();
    if !missed.is_empty() {
        text += &format!("no purpose reached: {}\n", missed.join(", "));
    }
    text
}
