//! What suites find, and how soon: `cargo run --profile soak -p coreach-project --example suites --
//! [--mutants N] [--seeds N] [--most N] [--given NAME=VALUE]... [--criterion C[+STEPS]]...
//! [--observe none|outputs|distinguish] [--tell] FOLDER...`.
//!
//! **Question.** Are purposes that coverage writes (`coreach cover`) worth as much as those written by hand,
//! and do they find faults with fewer interactions than walking at random? The second was asked by van den
//! Bos and Tretmans, *Coverage-Based Testing with Symbolic Transition Systems* (TAP 2019): inputs and outputs
//! until a mutant is found, geometric mean over mutants, transitions covered against random testing; on the
//! bounded retransmission protocol three times fewer.
//!
//! **Method.** Each folder has a `coreach.yaml`. Of its specification mutants are made as `coreach mutate`
//! makes them. Suites: the purposes of the configuration; those of `coreach cover` by transitions, by pairs,
//! and by pairs with `--steps 15` (or as `--criterion` says); and the specification itself as the judge of
//! random walks of at most [`WALK`] events. Purposes are run with the strategy `plan`. Each suite meets each
//! mutant, simulated in this process, test after test and round after round, until a run fails or `--most`
//! events have passed; with each of the seeds. An *event* is an input or an output. A run that has none
//! counts as one. Mutants count that are known to be wrong: some suite found it, or a walk beside the
//! specification did. With `--most 0` there is one round, nobody walks, and all mutants count.
//!
//! **Output**, as Markdown: for each suite its tests; the median number of events of one round on the
//! specification itself; the mutants found within the first round, and how many random walks find within as
//! many events (means over the seeds); then, for mutants until they are found, the sum of medians (`--most`
//! where the median run did not find it), the median of medians, and the geometric mean of how many times
//! fewer events than at random it took. The same arguments give the same table.

use std::collections::HashMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use coreach_adapters::in_process::InProcess;
use coreach_analyses::symbolic::TreeLimits;
use coreach_execution::constants::{self, initial_state};
use coreach_execution::lazy::Lazy;
use coreach_execution::monitor::Monitor;
use coreach_execution::mutation::{Mutant, mutants, walk_beside};
use coreach_execution::run::events;
use coreach_execution::simulated::Simulated;
use coreach_execution::strategy::Strategy;
use coreach_execution::{Judge, Settings, TestCase, TestSession, initial, judge};
use coreach_model::iosts::TestPurpose;
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Iosts, Value, Verdict};
use coreach_project::cover::{self, Criterion, Observe, cover};
use coreach_project::project::{self, Project};
use coreach_project::{cases, jobs};

/// Events of a walk before it begins anew.
const WALK: usize = 100;

/// Walks beside the specification, and their events, which say that a mutant is wrong that nobody found.
const BESIDE: (u64, usize) = (100, 60);

struct Arguments {
    mutants: usize,
    seeds: u64,
    most: usize,
    given: Vec<(String, String)>,
    tells: bool,
    criteria: Vec<(Criterion, usize)>,
    observe: Observe,
    folders: Vec<String>,
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments {
        mutants: 100,
        seeds: 5,
        most: 2000,
        given: Vec::new(),
        tells: false,
        criteria: Vec::new(),
        observe: Observe::default(),
        folders: Vec::new(),
    };
    let mut rest = std::env::args().skip(1);
    while let Some(word) = rest.next() {
        let mut number = || {
            let text = rest.next().ok_or_else(|| format!("{word} needs a number"))?;
            text.parse::<u32>().map_err(|error| format!("{word} {text}: {error}"))
        };
        match word.as_str() {
            "--tell" => found.tells = true,
            "--given" => {
                let pair = rest.next().unwrap_or_default();
                let (name, value) = pair.split_once('=').ok_or("--given needs NAME=VALUE")?;
                found.given.push((name.to_owned(), value.to_owned()));
            }
            "--criterion" => {
                let text = rest.next().unwrap_or_default();
                let (criterion, steps) = text.split_once('+').unwrap_or((&text, "0"));
                let steps = steps.parse().map_err(|error| format!("{text}: {error}"))?;
                found.criteria.push((criterion.parse()?, steps));
            }
            "--observe" => found.observe = rest.next().unwrap_or_default().parse()?,
            "--mutants" => found.mutants = number()? as usize,
            "--seeds" => found.seeds = number()?.into(),
            "--most" => found.most = number()? as usize,
            folder => found.folders.push(folder.to_owned()),
        }
    }
    if found.criteria.is_empty() {
        found.criteria = vec![(Criterion::Transitions, 0), (Criterion::Pairs, 0), (Criterion::Pairs, 15)];
    }
    if found.folders.is_empty() || found.seeds == 0 {
        return Err(
            "suites: [--mutants N] [--seeds N] [--most N] [--given NAME=VALUE]... [--criterion C[+STEPS]]... [--observe HOW] [--tell] FOLDER..."
                .to_owned(),
        );
    }
    Ok(found)
}

fn main() -> ExitCode {
    let told = arguments().and_then(|arguments| {
        println!("| model | suite | tests | events of a round | found in it | at random within as many | sum until found | median | times fewer |");
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

/// Tests with the strategy that drives them; without tests, the specification is walked at random.
struct Suite {
    name: String,
    tests: Vec<Test>,
    plans: bool,
    /// Purposes for which there is no test case.
    without: usize,
}

/// A test case, with the constants that are given.
struct Test {
    case: TestCase,
    given: Valuation,
    /// The initial states of seeds: they are looked for with a search, and each mutant begins in the same.
    known: Mutex<HashMap<u64, Option<State>>>,
}

impl Test {
    /// In the initial state of a seed.
    fn begin(&self, seed: u64) -> Option<State> {
        let find = || initial_state(&self.case, &self.given, seed, &mut Lazy::default()).ok();
        let known =
            |known: &Self| known.known.lock().unwrap_or_else(PoisonError::into_inner).get(&seed).cloned();
        if let Some(state) = known(self) {
            return state;
        }
        let state = find();
        self.known.lock().unwrap_or_else(PoisonError::into_inner).insert(seed, state.clone());
        state
    }

    fn constants(&self, seed: u64) -> Vec<(Datum, Value)> {
        self.begin(seed).map(|state| self.case.constants_in(&state)).unwrap_or_default()
    }
}

/// How a suite met a mutant with one seed.
struct Met {
    /// The events up to the failure.
    found: Option<usize>,
    /// Those of the first round, and whether the failure was in it.
    round: usize,
    is_in_it: bool,
}

fn measure(folder: &Path, arguments: &Arguments) -> Result<(), String> {
    let told = |found: Vec<coreach_model::Diagnostic>| {
        let said: Vec<String> = found.iter().map(|one| one.message.clone()).collect();
        format!("{}: {}", folder.display(), said.join("; "))
    };
    let (project, _) = project::load(&folder.join("coreach.yaml")).map_err(told)?;
    let specification = &project.specification.iosts;
    let by_hand = suite(&project, "by hand", &project.purposes, &arguments.given);
    let mut suites = vec![by_hand];
    for (criterion, steps) in &arguments.criteria {
        let settings = cover::CoverSettings {
            criteria: vec![*criterion],
            limits: TreeLimits { depth: 60, nodes: 2000, is_restricted: true, ..TreeLimits::default() },
            analysis: project.options.analysis.clone(),
            conformance: project.conformance,
            stages: project.options.limits.clone(),
            steps: *steps,
            observe: arguments.observe,
        };
        let kept = cover::Cover::of(&project.specification, &settings);
        let kept = kept.map_err(|stop| told(vec![stop.to_diagnostic()]))?;
        if let Some(stop) = cover(&project.specification, &settings, &|_| {}, &kept) {
            println!("{stop:?}");
        }
        let found = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
        let purposes: Vec<TestPurpose> = found.suite.into_iter().map(|one| one.written.purpose).collect();
        let name = match steps {
            0 => criterion.to_string(),
            steps => format!("{criterion}, on to {steps} events"),
        };
        suites.push(suite(&project, &name, &purposes, &arguments.given));
    }
    suites.push(Suite { name: "random walks".to_owned(), tests: Vec::new(), plans: false, without: 0 });
    let constants: &[Test] = &suites[0].tests;
    if constants.is_empty() {
        return Err(format!("{}: no purpose has a test case", folder.display()));
    }
    let all = mutants(specification, arguments.mutants, 1);
    // The specification itself for the events of a round, then the mutants.
    let work = |mutant: &Option<&Mutant>| -> Vec<Vec<Met>> {
        let iut = mutant.map_or(specification, |mutant| &mutant.iosts);
        if mutant.is_some() && arguments.most > 0 && !is_wrong(specification, iut, &suites) {
            return Vec::new();
        }
        let seeds = 1..=arguments.seeds;
        let most = if mutant.is_some() { arguments.most } else { 0 };
        let meets = |suite: &Suite| {
            seeds.clone().map(|seed| meet(specification, suite, constants, iut, seed, most)).collect()
        };
        suites.iter().map(meets).collect()
    };
    let subjects: Vec<Option<&Mutant>> = std::iter::once(None).chain(all.iter().map(Some)).collect();
    let mut met = jobs::in_order(&subjects, 2, work).map_err(|error| error.to_string())?;
    let itself = met.remove(0);
    if arguments.tells {
        for (mutant, met) in all.iter().zip(&met).filter(|(_, met)| !met.is_empty()) {
            let events = |met: &Vec<Met>| median(met.iter().map(|met| met.found.unwrap_or(arguments.most)));
            let events: Vec<String> = met.iter().map(|met| events(met).to_string()).collect();
            eprintln!("{}: {}: {}", events.join(" "), mutant.operator.name(), mutant.change);
        }
    }
    met.retain(|one| !one.is_empty());
    println!("| {}, {} of {} mutants wrong | | | | | | | | |", specification.name, met.len(), all.len());
    let walks = suites.len() - 1;
    for (number, suite) in suites.iter().enumerate() {
        let round = median(itself[number].iter().map(|one| one.round));
        let shares = |is: &dyn Fn(&Vec<Vec<Met>>, usize) -> bool| {
            let seeds = arguments.seeds as usize;
            let hits: usize = (0..seeds).map(|seed| met.iter().filter(|one| is(one, seed)).count()).sum();
            format!("{:.1}", hits as f64 / seeds as f64)
        };
        let within =
            |one: &Vec<Vec<Met>>, seed: usize| one[walks][seed].found.is_some_and(|events| events <= round);
        let until = |one: &Vec<Vec<Met>>, number: usize| {
            median(one[number].iter().map(|met| met.found.unwrap_or(arguments.most)))
        };
        let untils: Vec<usize> = met.iter().map(|one| until(one, number)).collect();
        let fewer = met.iter().map(|one| (until(one, walks) as f64 / until(one, number) as f64).ln());
        let fewer = (fewer.sum::<f64>() / met.len().max(1) as f64).exp();
        let (sum, middle) = (untils.iter().sum::<usize>(), median(untils.into_iter()));
        let tests = match suite.without {
            0 => suite.tests.len().to_string(),
            without => format!("{} (none for {without})", suite.tests.len()),
        };
        if number == walks {
            println!("| | {} | | | | | {sum} | {middle} | |", suite.name);
        } else {
            let first = shares(&|one, seed| one[number][seed].is_in_it);
            println!(
                "| | {} | {tests} | {round} | {first} | {} | {sum} | {middle} | {fewer:.2} |",
                suite.name,
                shares(&within)
            );
        }
    }
    Ok(())
}

fn median(values: impl Iterator<Item = usize>) -> usize {
    let mut values: Vec<usize> = values.collect();
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}

fn suite(project: &Project, name: &str, purposes: &[TestPurpose], given: &[(String, String)]) -> Suite {
    let case = |purpose| {
        let (document, _) = cases::make_document(project, purpose, &|_| {}).ok()?;
        let case = TestCase::from_document(&document).ok()?;
        let known = |name: &str| case.iosts.constants.iter().any(|constant| constant.name() == name);
        let pairs = given.iter().filter(|(name, _)| known(name));
        let given =
            constants::read_constants(&case, pairs.map(|(name, value)| (name.as_str(), value.as_str())))
                .ok()?;
        Some(Test { case, given, known: Mutex::default() })
    };
    let tests: Vec<Test> = purposes.iter().filter_map(case).collect();
    Suite { name: name.to_owned(), without: purposes.len() - tests.len(), tests, plans: true }
}

/// Does somebody know that it does not conform?
fn is_wrong(specification: &Iosts, iut: &Iosts, suites: &[Suite]) -> bool {
    let tests = &suites[0].tests;
    let beside = (1..=BESIDE.0).any(|seed| {
        let constants = tests[seed as usize % tests.len()].constants(seed);
        walk_beside(specification, iut, &constants, seed, BESIDE.1).is_ok_and(|found| found.is_some())
    });
    beside || suites.iter().any(|suite| meet(specification, suite, tests, iut, 1, 400).found.is_some())
}

/// Runs of a suite against an implementation, until one fails or there were so many events; at least one
/// round.
fn meet(
    specification: &Iosts,
    suite: &Suite,
    constants: &[Test],
    iut: &Iosts,
    seed: u64,
    most: usize,
) -> Met {
    let moment = Duration::from_millis(1);
    let test_settings = Settings { quiescence: moment, patience: moment, ..Settings::default() };
    let walk_settings = Settings { steps: WALK, ..test_settings.clone() };
    let strategy = || if suite.plans { Strategy::plan() } else { Strategy::random() };
    let mut solver = Lazy::default();
    let mut met = Met { found: None, round: 0, is_in_it: false };
    let mut sum = 0;
    for round in 0.. {
        let seed = seed.wrapping_mul(1_000_003).wrapping_add(round);
        for number in 0..suite.tests.len().max(1) {
            let mut judge: Box<dyn Judge + '_> = match suite.tests.get(number) {
                Some(test) => match test.begin(seed) {
                    Some(initial) => judge::make_judge(&test.case, initial, None),
                    None => continue,
                },
                None => {
                    let known = constants[round as usize % constants.len()].constants(seed);
                    let known: Valuation = known.into_iter().collect();
                    let Ok(states) = initial::states(specification, &known, 1 << 12, &mut solver) else {
                        continue;
                    };
                    Box::new(Monitor::new(specification, states.into_iter().collect()))
                }
            };
            let run = TestSession {
                judge: &mut *judge,
                settings: if suite.tests.is_empty() { &walk_settings } else { &test_settings },
                adapter: &mut InProcess(Simulated::new(iut.clone(), Lazy::default())),
            }
            .run(seed, strategy());
            sum += events(&run.trace).max(1);
            if run.outcome.verdict() == Some(Verdict::Fail) {
                met.found = Some(sum).filter(|sum| *sum <= most || round == 0);
                met.is_in_it = round == 0;
                return met;
            }
            if sum >= most && round > 0 {
                return met;
            }
        }
        if round == 0 {
            met.round = sum;
        }
        if sum >= most || round as usize > most {
            return met;
        }
    }
    met
}
