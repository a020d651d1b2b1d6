//! Compares `coreach-polyhedra` with APRON's polka and with PPL: in speed, and answer by answer.
//!
//! `domains [--shape NAME]... [--recorded DIR] [--libraries LIST] [--sequences N] [--repetitions N] [--limit
//! SECONDS] [--seed S]` replays sequences of operations and prints the tables; NAME may be the beginning of a
//! shape's name.
//!
//! `domains --compare N [--seed S] [--resume FILE]` performs N random operations and compares all answers.
//!
//! `scripts/bench domains` builds it. The exit code is 1 where answers differ, 2 for a
//! wrong argument.

use std::collections::BTreeMap;
use std::env;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use coreach_bench::agreement::compare;
use coreach_bench::library::LibraryKind;
use coreach_bench::measure::{MeasuredTimes, measure};
use coreach_bench::probe::{probe, work};
use coreach_bench::shapes::{SHAPES, ShapeCase};
use coreach_bench::table::{TableFindings, head};
use coreach_bench::{differential, recorded};

const USAGE: &str = "usage: domains [--shape NAME]... [--recorded DIR] [--libraries ours,polka,ppl,limited] \
    [--sequences N] [--repetitions N] [--limit SECONDS] [--seed S]
       domains --compare N [--seed S] [--resume FILE]";

/// The name of the recorded sequences among the shapes.
const RECORDED: &str = "recorded";

/// Differences that are printed in full, for one shape and library.
const SHOWN: usize = 3;

struct BenchArguments {
    shapes: Vec<String>,
    recorded: Option<PathBuf>,
    libraries: Option<Vec<LibraryKind>>,
    sequences: Option<usize>,
    repetitions: usize,
    limit: f64,
    seed: u64,
    compare: Option<u64>,
    resume: Option<PathBuf>,
    /// To work for another process: the library, and where to begin.
    only: Option<LibraryKind>,
    from: usize,
}

fn main() -> ExitCode {
    let outcome = arguments().and_then(|arguments| run(&arguments));
    match outcome {
        Ok(0) => ExitCode::SUCCESS,
        Ok(_) => ExitCode::from(1),
        Err(message) => {
            eprintln!("domains: {message}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

fn arguments() -> Result<BenchArguments, String> {
    let mut arguments = BenchArguments {
        shapes: Vec::new(),
        recorded: None,
        libraries: None,
        sequences: None,
        repetitions: 5,
        limit: 10.0,
        seed: 1,
        compare: None,
        resume: None,
        only: None,
        from: 0,
    };
    let mut given = env::args().skip(1);
    while let Some(name) = given.next() {
        let value = given.next().ok_or(format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} needs a number, not `{value}`"));
        let library = |name: &str| {
            let names: Vec<&str> = LibraryKind::ALL.iter().map(|kind| kind.name()).collect();
            LibraryKind::named(name)
                .ok_or(format!("no library is called `{name}`; there are {}", names.join(", ")))
        };
        match name.as_str() {
            "--shape" => arguments.shapes.push(value),
            "--recorded" => arguments.recorded = Some(value.into()),
            "--libraries" => {
                arguments.libraries = Some(value.split(',').map(library).collect::<Result<_, _>>()?);
            }
            "--sequences" => arguments.sequences = Some(number()? as usize),
            "--repetitions" => arguments.repetitions = number()? as usize,
            "--limit" => arguments.limit = number()? as f64,
            "--seed" => arguments.seed = number()?,
            "--compare" => arguments.compare = Some(number()?),
            "--resume" => arguments.resume = Some(value.into()),
            "--only" => arguments.only = Some(library(&value)?),
            "--from" => arguments.from = number()? as usize,
            _ => return Err(format!("{name} is not known")),
        }
    }
    Ok(arguments)
}

/// Runs what was asked for; the number of differences.
fn run(arguments: &BenchArguments) -> Result<usize, String> {
    if let Some(operations) = arguments.compare {
        return differential::run(operations, arguments.seed, arguments.resume.as_deref());
    }
    let mut chosen = Vec::new();
    // A process of its own is told the whole name: one shape's may be the beginning of another's.
    let fits = |name: &str, given: &str| match arguments.only {
        Some(_) => name == given,
        None => name.starts_with(given),
    };
    let wants =
        |name: &str| arguments.shapes.is_empty() || arguments.shapes.iter().any(|given| fits(name, given));
    for shape in SHAPES.iter().filter(|shape| wants(&shape.name())) {
        let count = arguments.sequences.unwrap_or(shape.sequences);
        let cases = (0..count).map(|index| shape.case(arguments.seed, index, count)).collect();
        chosen.push((shape.name(), cases));
    }
    if let Some(folder) = arguments.recorded.as_ref().filter(|_| wants(RECORDED)) {
        let mut cases = recorded::read(folder)?;
        cases.truncate(arguments.sequences.unwrap_or(usize::MAX));
        chosen.push((RECORDED.to_owned(), cases));
    }
    if let Some(kind) = arguments.only {
        chosen.iter().for_each(|(_, cases)| work(kind, cases, arguments.from));
        return Ok(0);
    }
    if chosen.is_empty() {
        let names: Vec<String> = SHAPES.iter().map(|shape| shape.name()).collect();
        return Err(format!("no such shape; there are {}", names.join(", ")));
    }
    let mut findings = Vec::new();
    let mut differences = 0;
    print!("{}", head());
    for (name, cases) in chosen {
        let found = examine(arguments, name, cases)?;
        print!("{}", found.lines());
        differences += agree(&found)?;
        findings.push(found);
    }
    println!("\nOne operation, its result listed; microseconds, and times as long as ours (medians)");
    findings.iter().for_each(|found| print!("{}", found.operations()));
    Ok(differences)
}

/// The libraries that take part: with limits only where exact joins may explode.
fn libraries(arguments: &BenchArguments, shape: &str) -> Vec<LibraryKind> {
    let default = || {
        let limits_matter = shape.starts_with("dense-8") || shape.starts_with("dense-12");
        LibraryKind::ALL
            .iter()
            .copied()
            .filter(|kind| *kind != LibraryKind::Limited || limits_matter)
            .collect()
    };
    arguments.libraries.clone().unwrap_or_else(default)
}

/// Finds out what each library finishes, and measures that.
fn examine(arguments: &BenchArguments, name: String, cases: Vec<ShapeCase>) -> Result<TableFindings, String> {
    let mut probed = BTreeMap::new();
    for kind in libraries(arguments, &name) {
        eprintln!("{name}: {} alone", kind.name());
        let found = probe(cases.len(), Duration::from_secs_f64(arguments.limit), |from| {
            worker(arguments, &name, kind, from)
        });
        let found = found.map_err(|error| format!("a process of its own: {error}"))?;
        for (at, failure) in &found.failures {
            println!("{}: {}: {failure}", cases[*at].name, kind.name());
        }
        probed.insert(kind, found);
    }
    eprintln!("{name}: all, alternating");
    let mut times: Vec<MeasuredTimes> = Vec::new();
    for (at, case) in cases.iter().enumerate() {
        let finished = probed.iter().filter_map(|(kind, probed)| Some((*kind, probed.seconds[at]?)));
        let finished: Vec<_> = finished.collect();
        times.push(measure(case, &finished, arguments.repetitions)?);
    }
    Ok(TableFindings { name, cases, probed, times, limit: arguments.limit, seed: arguments.seed })
}

/// The process in which one library works alone: this program.
fn worker(arguments: &BenchArguments, shape: &str, kind: LibraryKind, from: usize) -> Command {
    let mut command = Command::new(env::current_exe().unwrap_or_else(|_| "domains".into()));
    command.args(["--shape", shape, "--only", kind.name()]);
    command.args(["--from", &from.to_string(), "--seed", &arguments.seed.to_string()]);
    if let Some(count) = arguments.sequences {
        command.args(["--sequences", &count.to_string()]);
    }
    if let Some(folder) = &arguments.recorded {
        command.arg("--recorded").arg(folder);
    }
    command
}

/// Compares the answers of each library with ours on the sequences that both finish; the number of
/// differences.
fn agree(found: &TableFindings) -> Result<usize, String> {
    let mut count = 0;
    for kind in found.probed.keys().filter(|kind| !matches!(kind, LibraryKind::Ours | LibraryKind::Limited)) {
        let (mut compared, mut steps, mut widenings) = (0, 0, 0);
        let mut all = Vec::new();
        for (case, times) in found.cases.iter().zip(&found.times) {
            if times.whole.contains_key(kind) && times.whole.contains_key(&LibraryKind::Ours) {
                let comparison = compare(*kind, &case.sequence)?;
                compared += 1;
                steps += comparison.steps;
                widenings += comparison.widenings;
                all.extend(comparison.differences.into_iter().map(|found| (&case.name, found)));
            }
        }
        let widened = if widenings > 0 { format!(", {widenings} widenings differ") } else { String::new() };
        println!(
            "{:<13} ours = {:<4} {steps} steps of {compared} sequences, {} differences{widened}",
            found.name,
            kind.name(),
            all.len()
        );
        for (name, (step, text)) in all.iter().take(SHOWN) {
            println!("  {name}, step {step}: {text}");
        }
        count += all.len();
    }
    Ok(count)
}
