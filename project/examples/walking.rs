//! What a walk that covers finds, and how soon: `cargo run --profile soak -p coreach-project --example
//! walking -- [--mutants N] [--seeds N] [--most N] [--constant NAME=VALUE]...
//! [--walk] [--only TEXT] [--tell] [--iut FILE]... FOLDER...`. `--only`: the mutants in whose name that is.
//! `--iut`: this implementation, over its own way, in place of mutants.
//!
//! **Question.** Does one walk from goal to goal (`coreach test --cover all`) find faults with fewer events
//! than walking at random? How long a run at random may be decides how good it is, so the walk is held
//! against its best length.
//!
//! **Method.** Each folder has a `coreach.yaml`, or a `specification.yaml` alone. Where it has
//! `mutants.txt`, those are its mutants; else mutants of the specification are made as `coreach mutate`
//! makes them; those that are known not to conform, since a random walk beside the specification shows it,
//! are kept, the first ones of them. The shortest of these walks says how soon they could be found. Each
//! meets the walk, and random runs of at most 15, 40, 150 and 600 events one after the other, and without an
//! end, simulated in this process, with each seed, until a Fail or `--most` events. All have the same judge:
//! the specification on line, silence where it must answer is Fail. The same arguments give the same table.
//!
//! **Output**, as Markdown: for each way how many (mutant, seed) pairs were found; the geometric mean over
//! the mutants of the median events until found (`--most` where the median run did not); the least and the
//! largest of these medians; how many times fewer than at random at its best length, over all, and over those
//! that both medians find; for how many mutants the median is smaller, equal, and larger than that of random;
//! and the mutants that some random seed found and no seed of the way. `--tell`: for each mutant the median
//! of each way, and its least and largest number of events.

use std::cmp::Ordering;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use coreach_adapters::in_process::InProcess;
use coreach_adapters::{Adapter, Iut};
use coreach_execution::constants::{initial_state, read_constants};
use coreach_execution::lazy::Lazy;
use coreach_execution::mutation::{Mutant, mutants, walk_beside};
use coreach_execution::open::open;
use coreach_execution::run::events;
use coreach_execution::session::TestSession;
use coreach_execution::simulated::Simulated;
use coreach_execution::strategy::Strategy;

use coreach_execution::walk::{Walk, WalkLimits};
use coreach_execution::{Outcome, Settings, TestCase, judge};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Diagnostic, Iosts, Verdict};
use coreach_project::once::Once;
use coreach_project::{iut, jobs, walk as walking};

/// The most events of a random run.
const LENGTHS: [usize; 5] = [15, 40, 150, 600, usize::MAX];

/// Walks beside the specification, and their events, which say that a mutant is wrong.
const BESIDE: (u64, usize) = (200, 100);

/// So many mutants are made for one that is wanted, and so many looked at at once.
const SPARE: usize = 6;
const AT_ONCE: usize = 10;

struct Arguments {
    constants: Vec<(String, String)>,
    mutants: usize,
    seeds: u64,
    most: usize,
    tells: bool,
    only_walk: bool,
    only: Option<String>,
    iuts: Vec<PathBuf>,
    folders: Vec<String>,
}

/// What is wrong: a model, simulated here, or a system of its own.
enum Wrong {
    Model(Iosts),
    System(Box<Iut>),
}

impl Wrong {
    fn open(&self) -> Box<dyn Adapter> {
        match self {
            Wrong::Model(iosts) => Box::new(InProcess(Simulated::new(iosts.clone(), Lazy::default()))),
            Wrong::System(iut) => open(iut),
        }
    }
}

fn arguments() -> Result<Arguments, String> {
    let (constants, folders) = (Vec::new(), Vec::new());
    let mut found = Arguments {
        constants,
        mutants: 15,
        seeds: 10,
        most: 4000,
        tells: false,
        only_walk: false,
        only: None,
        iuts: Vec::new(),
        folders,
    };
    let mut rest = std::env::args().skip(1);
    while let Some(word) = rest.next() {
        let mut number = || {
            let text = rest.next().ok_or_else(|| format!("{word} needs a number"))?;
            text.parse::<u32>().map_err(|error| format!("{word} {text}: {error}"))
        };
        match word.as_str() {
            "--tell" => found.tells = true,
            "--only" => found.only = rest.next(),
            "--iut" => found.iuts.extend(rest.next().map(PathBuf::from)),
            "--walk" => found.only_walk = true,
            "--constant" => {
                let pair = rest.next().unwrap_or_default();
                let (name, value) = pair.split_once('=').ok_or("--constant NAME=VALUE")?;
                found.constants.push((name.to_owned(), value.to_owned()));
            }
            "--mutants" => found.mutants = number()? as usize,
            "--seeds" => found.seeds = number()?.into(),
            "--most" => found.most = number()? as usize,
            folder => found.folders.push(folder.to_owned()),
        }
    }
    if found.folders.is_empty() || found.seeds == 0 {
        return Err("walking: [--mutants N] [--seeds N] [--most N] [--constant NAME=VALUE]... [--walk] [--only TEXT] [--tell] [--iut FILE]... FOLDER...".to_owned());
    }
    Ok(found)
}

fn main() -> ExitCode {
    let told = arguments().and_then(|arguments| {
        println!(
            "| model | how | found | events | medians | times fewer | of those that both find | sooner, as soon, later | missed |"
        );
        println!("|---|---|---|---|---|---|---|---|---|");
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
    let told = |found: Vec<Diagnostic>| {
        let said: Vec<String> = found.iter().map(|one| one.message.clone()).collect();
        format!("{}: {}", folder.display(), said.join("; "))
    };
    let configuration = folder.join("coreach.yaml");
    let alone = folder.join("specification.yaml");
    let (walkable, _) =
        walking::read(if configuration.exists() { &configuration } else { &alone }).map_err(told)?;
    let (specification, test) = (&walkable.specification, &walkable.case.test);
    let pairs = arguments.constants.iter().map(|(name, value)| (name.as_str(), value.as_str()));
    let known = read_constants(test, pairs).map_err(|error| error.to_string())?;
    let written = folder.join("mutants.txt");
    let model = |(name, iosts)| (name, Wrong::Model(iosts));
    let made: Vec<(String, Wrong)> = if !arguments.iuts.is_empty() {
        let system = |path: &PathBuf| {
            let (iut, _) = iut::load_once(path, test.wire(), None, &mut Once::default())?;
            Ok((iut.name.clone(), Wrong::System(Box::new(iut))))
        };
        arguments.iuts.iter().map(system).collect::<Result<_, _>>().map_err(told)?
    } else if written.exists() {
        by_hand(&alone, &written).map_err(told)?.into_iter().map(model).collect()
    } else {
        let named = |one: Mutant| (format!("{}: {}", one.operator.name(), one.change), one.iosts);
        let made = mutants(specification, SPARE * arguments.mutants, 1).into_iter();
        made.map(named).map(model).collect()
    };
    let is_given = written.exists() || !arguments.iuts.is_empty();
    let beside = |one: &(String, Wrong)| match &one.1 {
        Wrong::Model(iosts) => shortest(specification, test, &known, iosts),
        Wrong::System(_) => None,
    };
    let is_asked = |name: &String| arguments.only.as_ref().is_none_or(|only| name.contains(only.as_str()));
    let (mut kept, mut shown, mut seen) = (Vec::new(), Vec::new(), 0);
    for some in made.chunks(AT_ONCE) {
        if kept.len() >= arguments.mutants {
            break;
        }
        seen += some.len();
        let found = jobs::in_order(some, 2, beside).map_err(|error| error.to_string())?;
        for (mutant, found) in some.iter().zip(found) {
            if (is_given || found.is_some()) && is_asked(&mutant.0) {
                kept.push(mutant);
                shown.extend(found);
            }
        }
    }
    kept.truncate(arguments.mutants);
    shown.truncate(arguments.mutants);
    let hows: Vec<How> = match arguments.only_walk {
        true => vec![How::Walk],
        false => LENGTHS.map(How::Random).into_iter().chain([How::Walk]).collect(),
    };
    let lengths = hows.len() - 1;
    let work = |mutant: &&(String, Wrong)| -> Vec<Vec<Option<usize>>> {
        let one = |how: &How| {
            let seeds = 1..=arguments.seeds;
            seeds.map(|seed| meet(test, &mutant.1, &known, *how, seed, arguments.most)).collect()
        };
        hows.iter().map(one).collect()
    };
    let met = jobs::in_order(&kept, 2, work).map_err(|error| error.to_string())?;
    let sorted = |one: &[Option<usize>]| {
        let mut all: Vec<usize> = one.iter().map(|events| events.unwrap_or(arguments.most)).collect();
        all.sort_unstable();
        all
    };
    let until = |one: &[Option<usize>]| sorted(one)[one.len() / 2];
    if arguments.tells {
        for (mutant, met) in kept.iter().zip(&met) {
            let told = |one: &Vec<Option<usize>>| {
                let all = sorted(one);
                format!("{} ({}-{})", until(one), all[0], all[all.len() - 1])
            };
            eprintln!("{}: {}", met.iter().map(told).collect::<Vec<String>>().join(", "), mutant.0);
        }
    }
    println!("| {}, {} wrong of the first {seen} mutants | | | | | | | | |", specification.name, kept.len());
    let means: Vec<f64> =
        (0..hows.len()).map(|how| mean(met.iter().map(|one| until(&one[how]) as f64))).collect();
    let best = (0..lengths.max(1)).min_by(|a, b| means[*a].total_cmp(&means[*b])).unwrap_or_default();
    println!(
        "| | the shortest seen, of {} | | {:.1} | {} to {} | | | | |",
        shown.len(),
        mean(shown.iter().map(|events| *events as f64)),
        shown.iter().min().unwrap_or(&0),
        shown.iter().max().unwrap_or(&0)
    );
    for (number, how) in hows.iter().enumerate() {
        let found: usize = met.iter().map(|one| one[number].iter().flatten().count()).sum();
        let both = met
            .iter()
            .filter(|one| until(&one[number]) < arguments.most && until(&one[best]) < arguments.most);
        let fewer = mean(both.map(|one| until(&one[best]) as f64 / until(&one[number]) as f64));
        let some = |events: &[Option<usize>]| events.iter().any(Option::is_some);
        let missed =
            met.iter().filter(|one| !some(&one[number]) && one[..lengths].iter().any(|one| some(one)));
        let compared = |order: Ordering| {
            met.iter().filter(|one| until(&one[number]).cmp(&until(&one[best])) == order).count()
        };
        let [sooner, as_soon, later] = [Ordering::Less, Ordering::Equal, Ordering::Greater].map(compared);
        let medians: Vec<usize> = met.iter().map(|one| until(&one[number])).collect();
        let name = match how {
            How::Random(usize::MAX) => "random, one run".to_owned(),
            How::Random(length) => format!("random, runs of {length}"),
            How::Walk => "walk".to_owned(),
        };
        println!(
            "| | {name} | {found} of {} | {:.1} | {} to {} | {:.2} | {fewer:.2} | {sooner}, {as_soon}, {later} | {} |",
            met.len() as u64 * arguments.seeds,
            means[number],
            medians.iter().min().unwrap_or(&0),
            medians.iter().max().unwrap_or(&0),
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

/// The mutants of a specification that somebody has written: `# NAME`, and below it, again and again,
/// `< TEXT`, which is there once, and `> TEXT`, which stands for it.
fn by_hand(specification: &Path, mutants: &Path) -> Result<Vec<(String, Iosts)>, Vec<Diagnostic>> {
    let refused = |path: &Path, message: String| {
        vec![Diagnostic::error("mutants", format!("{}: {message}", path.display()))]
    };
    let text = |path: &Path| std::fs::read_to_string(path).map_err(|error| refused(path, error.to_string()));
    let (right, list) = (text(specification)?, text(mutants)?);
    let mut found: Vec<(String, String)> = Vec::new();
    let mut old = "";
    for line in list.lines() {
        match line.split_at(line.len().min(2)) {
            ("# ", name) => found.push((name.to_owned(), right.clone())),
            ("< ", text) => old = text,
            ("> ", new) => {
                let Some((_, wrong)) = found.last_mut() else { continue };
                if wrong.matches(old).count() != 1 {
                    return Err(refused(mutants, format!("`{old}` is not there once")));
                }
                *wrong = wrong.replace(old, new);
            }
            _ => return Err(refused(mutants, format!("`{line}`"))),
        }
    }
    let read = |(name, text): (String, String)| {
        let file = from_bytes(name.clone(), text.into_bytes()).map_err(|found| vec![found])?;
        Ok((name, read_specification(file)?.0.iosts))
    };
    found.into_iter().map(read).collect()
}

/// The fewest events after which a walk beside the specification shows that it does not conform.
fn shortest(specification: &Iosts, test: &TestCase, known: &Valuation, iut: &Iosts) -> Option<usize> {
    let mut least = None;
    for seed in 1..=BESIDE.0 {
        let depth = least.map_or(BESIDE.1, |least| least - 1);
        if depth > 0
            && let Ok(initial) = initial_state(test, known, seed, &mut Lazy::default())
            && let Ok(Some(trace)) =
                walk_beside(specification, iut, &test.constants_in(&initial), seed, depth)
        {
            least = Some(trace.len());
        }
    }
    least
}

/// Runs against an implementation, until one fails or there were so many events: the events up to the
/// failure.
fn meet(
    test: &TestCase,
    wrong: &Wrong,
    known: &Valuation,
    how: How,
    seed: u64,
    most: usize,
) -> Option<usize> {
    // A process needs its time.
    let moment = Duration::from_millis(if matches!(wrong, Wrong::System(_)) { 200 } else { 1 });
    let mut settings = Settings { quiescence: moment, patience: moment, ..Settings::default() };
    let until = WalkLimits { events: most, percent: None, deadline: None, ends_when_covered: false };
    let goals = walking::list_all_goals(&test.iosts, &walking::ALL);
    let varies = known.len() < test.iosts.constants.len();
    let mut walk = Walk::new(test.iosts.clone(), &goals, true, until, varies);
    let (mut solver, mut sum, mut adapter) = (Lazy::default(), 0, wrong.open());
    for number in 0..most as u64 {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(number);
        let mut initial = initial_state(test, known, seed, &mut solver).ok()?;
        if matches!(how, How::Walk) {
            initial = walk.choose_start(test, initial, known, seed, &mut solver);
        }
        let mut judge = judge::make_judge_with(test, initial, None, true);
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
        let run = TestSession { judge: judge.as_mut(), settings: &settings, adapter: adapter.as_mut() }
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
