//! What a walk that covers finds, and how soon: `cargo run --profile soak -p coreach-project --example
//! walking -- [--mutants N] [--seeds N] [--most N] [--tell] FOLDER...`.
//!
//! **Question.** Does one walk from goal to goal (`coreach test --cover all`) find faults with fewer events
//! than walking at random? How long a run at random may be decides how good it is, so the walk is held
//! against its best length.
//!
//! **Method.** Each folder has a `coreach.yaml`. Of its specification mutants are made as `coreach mutate`
//! makes them; those that are known not to conform, since a random walk beside the specification shows it,
//! are kept, the first ones of them. Each meets the walk, and random runs of at most 15, 40 and 150 events
//! one after the other, simulated in this process, with each seed, until a Fail or `--most` events. All have
//! the same judge: the specification on line, silence where it must answer is Fail. The same arguments give
//! the same table.
//!
//! **Output**, as Markdown: for each way how many (mutant, seed) pairs were found; the geometric mean over
//! the mutants of the median events until found (`--most` where the median run did not); how many times fewer
//! than at random at its best length, over all, and over those that both medians find; and the mutants that
//! some random seed found and no seed of the way.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use coreach_adapters::in_process::InProcess;
use coreach_execution::constants::initial_state;
use coreach_execution::lazy::Lazy;
use coreach_execution::mutation::{Mutant, mutants, walk};
use coreach_execution::run::events;
use coreach_execution::session::TestSession;
use coreach_execution::simulated::Simulated;
use coreach_execution::strategy::Strategy;

use coreach_execution::walk::{Until, Walk};
use coreach_execution::{Outcome, Settings, TestCase, judge};
use coreach_model::{Iosts, Verdict};
use coreach_project::{jobs, project, walk as walking};

/// The most events of a random run.
const LENGTHS: [usize; 3] = [15, 40, 150];

/// Walks beside the specification, and their events, which say that a mutant is wrong.
const BESIDE: (u64, usize) = (200, 100);

/// So many mutants are made for one that is wanted.
const SPARE: usize = 6;

struct Arguments {
    mutants: usize,
    seeds: u64,
    most: usize,
    tells: bool,
    folders: Vec<String>,
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments { mutants: 15, seeds: 10, most: 4000, tells: false, folders: Vec::new() };
    let mut rest = std::env::args().skip(1);
    while let Some(word) = rest.next() {
        let mut number = || {
            let text = rest.next().ok_or_else(|| format!("{word} needs a number"))?;
            text.parse::<u32>().map_err(|error| format!("{word} {text}: {error}"))
        };
        match word.as_str() {
            "--tell" => found.tells = true,
            "--mutants" => found.mutants = number()? as usize,
            "--seeds" => found.seeds = number()?.into(),
            "--most" => found.most = number()? as usize,
            folder => found.folders.push(folder.to_owned()),
        }
    }
    if found.folders.is_empty() || found.seeds == 0 {
        return Err("walking: [--mutants N] [--seeds N] [--most N] [--tell] FOLDER...".to_owned());
    }
    Ok(found)
}

fn main() -> ExitCode {
    let told = arguments().and_then(|arguments| {
        println!("| model | how | found | events | times fewer | of those that both find | missed |");
        println!("|---|---|---|---|---|---|---|");
        arguments.folders.iter().try_for_each(|folder| measure(folder.as_ref(), &arguments))
    });
    match told {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// How a mutant is met: at random with runs of at most so many events, or by the walk.
#[derive(Clone, Copy)]
enum How {
    Random(usize),
    Walk,
}

fn measure(folder: &Path, arguments: &Arguments) -> Result<(), String> {
    let told = |found: Vec<coreach_model::Diagnostic>| {
        let said: Vec<String> = found.iter().map(|one| one.message.clone()).collect();
        format!("{}: {}", folder.display(), said.join("; "))
    };
    let (project, _) = project::load(&folder.join("coreach.yaml")).map_err(told)?;
    let specification = &project.specification.iosts;
    let case = walking::case(specification).map_err(|found| told(vec![found]))?;
    let made = mutants(specification, SPARE * arguments.mutants, 1);
    let wrong: Vec<&Mutant> =
        made.iter().filter(|one| is_wrong(specification, &case.test, &one.iosts)).collect();
    let kept = &wrong[..wrong.len().min(arguments.mutants)];
    let hows: Vec<How> = LENGTHS.map(How::Random).into_iter().chain([How::Walk]).collect();
    let work = |mutant: &&Mutant| -> Vec<Vec<Option<usize>>> {
        let one = |how: &How| {
            let seeds = 1..=arguments.seeds;
            seeds.map(|seed| meet(&case.test, &mutant.iosts, *how, seed, arguments.most)).collect()
        };
        hows.iter().map(one).collect()
    };
    let met = jobs::in_order(kept, 2, work).map_err(|error| error.to_string())?;
    let until = |one: &[Option<usize>]| {
        let mut all: Vec<usize> = one.iter().map(|events| events.unwrap_or(arguments.most)).collect();
        all.sort_unstable();
        all[all.len() / 2]
    };
    if arguments.tells {
        for (mutant, met) in kept.iter().zip(&met) {
            let events: Vec<String> = met.iter().map(|one| until(one).to_string()).collect();
            eprintln!("{}: {}: {}", events.join(" "), mutant.operator.name(), mutant.change);
        }
    }
    println!("| {}, {} mutants of {} wrong | | | | | | |", specification.name, kept.len(), wrong.len());
    let means: Vec<f64> =
        (0..hows.len()).map(|how| mean(met.iter().map(|one| until(&one[how]) as f64))).collect();
    let best = (0..LENGTHS.len()).min_by(|a, b| means[*a].total_cmp(&means[*b])).unwrap_or_default();
    for (number, how) in hows.iter().enumerate() {
        let found: usize = met.iter().map(|one| one[number].iter().flatten().count()).sum();
        let both = met
            .iter()
            .filter(|one| until(&one[number]) < arguments.most && until(&one[best]) < arguments.most);
        let fewer = mean(both.map(|one| until(&one[best]) as f64 / until(&one[number]) as f64));
        let some = |events: &[Option<usize>]| events.iter().any(Option::is_some);
        let missed =
            met.iter().filter(|one| !some(&one[number]) && one[..LENGTHS.len()].iter().any(|one| some(one)));
        let name = match how {
            How::Random(length) => format!("random, runs of {length}"),
            How::Walk => "walk".to_owned(),
        };
        println!(
            "| | {name} | {found} of {} | {:.1} | {:.2} | {fewer:.2} | {} |",
            met.len() as u64 * arguments.seeds,
            means[number],
            means[best] / means[number],
            missed.count()
        );
    }
    Ok(())
}

/// The geometric mean.
fn mean(values: impl Iterator<Item = f64>) -> f64 {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    (logs.iter().sum::<f64>() / logs.len().max(1) as f64).exp()
}

/// Does a walk beside the specification show that it does not conform?
fn is_wrong(specification: &Iosts, test: &TestCase, iut: &Iosts) -> bool {
    (1..=BESIDE.0).any(|seed| {
        let begun = initial_state(test, &Default::default(), seed, &mut Lazy::default());
        begun.is_ok_and(|initial| {
            let constants = test.constants_in(&initial);
            walk(specification, iut, &constants, seed, BESIDE.1).is_ok_and(|found| found.is_some())
        })
    })
}

/// Runs against an implementation, until one fails or there were so many events: the events up to the
/// failure.
fn meet(test: &TestCase, iut: &Iosts, how: How, seed: u64, most: usize) -> Option<usize> {
    let moment = Duration::from_millis(1);
    let mut settings = Settings { quiescence: moment, patience: moment, ..Settings::default() };
    let until = Until { events: most, percent: None, deadline: None };
    let phases = walking::phases(&test.iosts, &walking::PHASES);
    let varies = !test.iosts.constants.is_empty();
    let mut walk = Walk::new(test.iosts.clone(), &phases, until, varies);
    let (mut solver, mut sum) = (Lazy::default(), 0);
    for number in 0..most as u64 {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(number);
        let initial = initial_state(test, &Default::default(), seed, &mut solver).ok()?;
        let mut judge = judge::judging(test, initial, None, true);
        let strategy = match how {
            How::Random(length) => {
                settings.steps = length;
                Strategy::random()
            }
            How::Walk => {
                settings.steps = usize::MAX;
                Strategy::Walk(&mut walk)
            }
        };
        let run = TestSession {
            judge: judge.as_mut(),
            settings: &settings,
            adapter: &mut InProcess(Simulated::new(iut.clone(), Lazy::default())),
        }
        .run(seed, strategy);
        sum += events(&run.trace).max(1);
        match &run.outcome {
            outcome if outcome.verdict() == Some(Verdict::Fail) => return (sum <= most).then_some(sum),
            Outcome::RunError(_) => return None,
            _ if sum >= most => return None,
            _ => {}
        }
    }
    None
}
