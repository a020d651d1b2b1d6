//! Runs random pairs through all properties, for a number of cases or of minutes.
//!
//! `soak --cases N | --minutes N | --seconds N [--seed S] [--only PROPERTY] [--resume FILE] [--keep DIR]
//! [--shrink N] [--first] [--partition hash:M/N --tally FILE]`, and `soak --merge FILE...`
//!
//! Cases have consecutive seeds. `--resume FILE` begins behind the last seed that FILE names, and writes the
//! next one there as it goes. Each failing pair is shrunk and kept as YAML in a folder of its own under DIR.
//! At the end: one line per property. With `--first` it ends at the first violation and names it. The exit
//! code is 1 where anything was violated, 2 for a wrong argument.
//!
//! With `--partition`, the seeds of one of several parts are done and `--tally` keeps their sums; `--merge`
//! tells of all parts what one process would have told.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use std::{env, fs};

use coreach_cli::horn_process;
use coreach_execution::campaign::{Key, Partition};
use coreach_tests::generator::{Pair, Shape, generate};
use coreach_tests::properties::{Counterexample, PROPERTIES, Property, Settings, check};
use coreach_tests::shrink::shrink;
use coreach_tests::tally::Tally;
use coreach_tests::text;

struct Arguments {
    cases: u64,
    time: Option<Duration>,
    seed: u64,
    only: Option<String>,
    resume: Option<PathBuf>,
    keep: PathBuf,
    shrink: usize,
    first: bool,
    partition: Partition,
    tally: Option<PathBuf>,
}

fn main() -> ExitCode {
    // The exact reference asks the program that it runs in.
    if env::args().nth(1).as_deref() == Some(horn_process::SUBCOMMAND) {
        let parent = env::args().nth(2).and_then(|number| number.parse().ok()).unwrap_or_default();
        return horn_process::answer_question(parent).map_or(ExitCode::from(2), ExitCode::from);
    }
    let given: Vec<String> = env::args().skip(1).collect();
    if let Some(("--merge", files)) = given.split_first().map(|(first, files)| (first.as_str(), files)) {
        return merge(files);
    }
    let arguments = match arguments() {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("soak: {message}");
            eprintln!(
                "usage: soak --cases N | --minutes N | --seconds N [--seed S] [--only PROPERTY] [--resume FILE] [--keep DIR] \
                 [--shrink N] [--first] [--partition hash:M/N --tally FILE] | soak --merge FILE..."
            );
            return ExitCode::from(2);
        }
    };
    // A panic of a stage is a finding, and is told as one. Any other one is a mistake of the oracle's, and
    // ends the run.
    std::panic::set_hook(Box::new(|panic| *lock() = panic.to_string()));
    let found = run(&arguments);
    ExitCode::from(u8::from(found > 0))
}

fn arguments() -> Result<Arguments, String> {
    let mut arguments = Arguments {
        cases: 0,
        time: None,
        seed: 1,
        only: None,
        resume: None,
        keep: PathBuf::from("target/soak"),
        shrink: 400,
        first: false,
        partition: Partition::WHOLE,
        tally: None,
    };
    let mut given = env::args().skip(1);
    while let Some(name) = given.next() {
        if name == "--first" {
            arguments.first = true;
            continue;
        }
        let value = given.next().ok_or(format!("{name} needs a value"))?;
        let number = || value.parse::<u64>().map_err(|_| format!("{name} needs a number, not `{value}`"));
        match name.as_str() {
            "--cases" => arguments.cases = number()?,
            "--minutes" => arguments.time = Some(Duration::from_secs(number()?.saturating_mul(60))),
            "--seconds" => arguments.time = Some(Duration::from_secs(number()?)),
            "--seed" => arguments.seed = number()?,
            "--only" if PROPERTIES.iter().any(|property| property.name == value) => {
                arguments.only = Some(value);
            }
            "--only" => {
                let names: Vec<&str> = PROPERTIES.iter().map(|property| property.name).collect();
                return Err(format!("no property is called `{value}`; there are {}", names.join(", ")));
            }
            "--resume" => arguments.resume = Some(value.into()),
            "--keep" => arguments.keep = value.into(),
            "--partition" => arguments.partition = value.parse()?,
            "--tally" => arguments.tally = Some(value.into()),
            "--shrink" => arguments.shrink = number()? as usize,
            _ => return Err(format!("{name} is not known")),
        }
    }
    if arguments.cases == 0 && arguments.time.is_none() {
        return Err("say how long: --cases or --minutes".to_owned());
    }
    if (arguments.partition != Partition::WHOLE || arguments.tally.is_some())
        && (arguments.cases == 0 || arguments.resume.is_some() || arguments.first)
    {
        return Err("a part has the seeds of --cases, all of them".to_owned());
    }
    if let Some(text) = arguments.resume.as_ref().and_then(|file| fs::read_to_string(file).ok()) {
        let next = text.trim().parse();
        arguments.seed = next.map_err(|_| "the file of --resume does not hold a seed".to_owned())?;
    }
    Ok(arguments)
}

/// The time between two lines about the progress.
const PROGRESS: Duration = Duration::from_secs(60);

/// The last panic's message.
static PANIC: Mutex<String> = Mutex::new(String::new());

fn lock() -> MutexGuard<'static, String> {
    PANIC.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs the cases and prints the summary; the number of violations.
fn run(arguments: &Arguments) -> usize {
    let start = Instant::now();
    let (first, cases, only) = (arguments.seed, arguments.cases, arguments.only.clone());
    let mut total = Tally { first, cases, only, ..Tally::default() };
    let mut seed = arguments.seed;
    let mut shown = start;
    loop {
        let done = seed - arguments.seed;
        if shown.elapsed() >= PROGRESS {
            shown = Instant::now();
            let violated: usize = total.violations.values().map(Vec::len).sum();
            eprintln!("soak: seed {seed}, {done} seeds done, {violated} violations");
        }
        let out_of_time = arguments.time.is_some_and(|time| start.elapsed() >= time);
        if out_of_time || (arguments.cases > 0 && done >= arguments.cases) {
            break;
        }
        if !arguments.partition.takes(&Key::of(&seed.to_string())) {
            seed += 1;
            continue;
        }
        let settings = Settings { only: arguments.only.clone(), ..Settings::of(seed) };
        let work = || {
            let pair = generate(seed, &Shape::of(seed));
            let report = check(&pair, &settings);
            (pair, report)
        };
        let Ok((pair, report)) = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work)) else {
            println!("seed {seed}: the oracle panics: {}", *lock());
            return 1;
        };
        total.add(&report);
        let mut told: Vec<Property> = Vec::new();
        for found in report.found {
            if !told.contains(&found.property) {
                told.push(found.property);
                total.violations.entry(found.property.name.to_owned()).or_default().push(seed);
                if arguments.first {
                    println!("{} at seed {seed}", found.property.name);
                    return 1;
                }
                tell(arguments, seed, &pair, &settings, &found);
            }
        }
        seed += 1;
        if let Some(file) = &arguments.resume
            && seed.is_multiple_of(16)
        {
            save(file, seed);
        }
    }
    if let Some(file) = &arguments.resume {
        save(file, seed);
    }
    total.cases = seed - arguments.seed;
    if let Some(file) = &arguments.tally
        && let Err(error) = fs::write(file, total.to_text(arguments.partition))
    {
        eprintln!("soak: {}: {error}", file.display());
        return 1;
    }
    summary(&total, Some(start.elapsed()))
}

/// Tells of all parts what one process would have told.
fn merge(files: &[String]) -> ExitCode {
    let read = |name: &String| match fs::read_to_string(name) {
        Ok(text) => Ok((name.clone(), text)),
        Err(error) => Err(format!("{name}: {error}")),
    };
    let files: Result<Vec<_>, String> = files.iter().map(read).collect();
    match files.and_then(|files| Tally::join(&files)) {
        Ok(whole) => ExitCode::from(u8::from(summary(&whole, None) > 0)),
        Err(message) => {
            eprintln!("soak: {message}");
            ExitCode::from(2)
        }
    }
}

fn save(file: &PathBuf, seed: u64) {
    if let Err(error) = fs::write(file, format!("{seed}\n")) {
        eprintln!("soak: {}: {error}", file.display());
    }
}

/// Shrinks a failing pair, keeps it, and says so.
fn tell(arguments: &Arguments, seed: u64, pair: &Pair, settings: &Settings, found: &Counterexample) {
    let name = found.property.name;
    println!("seed {seed}: {name}: {}", found.text);
    let only = Settings { only: Some(name.to_owned()), twice: true, ..settings.clone() };
    let still = |pair: &Pair| {
        let report = check(pair, &only);
        report.found.into_iter().find(|other| other.property == found.property)
    };
    let small = shrink(pair, arguments.shrink, |pair| still(pair).is_some());
    let text = still(&small).map_or_else(|| found.text.clone(), |found| found.text);
    let remark = format!(
        "Violates {name}: {} ({})\nSeed {seed}. {text}\n{:?}, {:?}",
        found.property.statement, found.property.source, settings.analysis, settings.doubt
    );
    let folder = arguments.keep.join(format!("{name}_{seed}"));
    match text::keep(&folder, &small, settings, &remark) {
        Ok(()) => println!("  shrunk: {}", folder.display()),
        Err(error) => println!("  cannot be kept: {error}"),
    }
}

/// One line for each property; parts were done at several times.
fn summary(total: &Tally, time: Option<Duration>) -> usize {
    let Tally { first, cases, only, tried, counts, violations } = total;
    let last = (first + cases).saturating_sub(1);
    let time = time.map_or_else(String::new, |time| format!(", {:.1} s", time.as_secs_f64()));
    println!("{cases} pairs, seeds {first} to {last}{time}");
    for property in PROPERTIES.iter().filter(|p| only.as_ref().is_none_or(|only| only == p.name)) {
        let tried = tried.get(property.name).copied().unwrap_or(0);
        let violated = violations.get(property.name).map_or(0, Vec::len);
        println!(
            "{:24} {tried:9} trials {violated:5} pairs violate it   ({})",
            property.name, property.source
        );
    }
    for (what, count) in counts {
        println!("{what:58} {count:9}");
    }
    violations.values().map(Vec::len).sum()
}
