//! What a plan is worth, and what it costs:
//! `cargo run --profile soak -p coreach-project --example planning -- RUNS FOLDER...`.
//!
//! **Question.** Does the strategy `plan` pass wherever that is possible, with how many events more than the
//! fewest, and how long does it look? Side by side with `random` and `coverage`.
//!
//! **Method.** Each folder has a `coreach.yaml`; each of its test cases is run as often as the first argument
//! says, with seeds from 1 on. Against a *cooperative* system, which answers so that Pass is near: in the
//! test case it looks for a way from where it is, and gives the answer that is next there, or none; a monitor
//! of the specification sees to it that it conforms. And against the specification itself as a simulated
//! system, which *draws* its answers. With `games` instead of folders: `plan` and `random` in the games of
//! `tests/games/`, against a system that answers as badly as it may.
//!
//! **The fewest** events are found by other means than plans: no run is shorter than the graph's own distance
//! from the initial location to Pass; where a run has more events than that, all symbolic states that paths
//! from its initial state lead to are listed, breadth first and with the solver, until Pass is among them or
//! there are more than [`NODES`]; states that are equal up to the names of symbols are one. A run that does
//! not pass is asked in the same way whether Pass can be reached at all.
//!
//! **Times**: every state of the random runs against the drawing system is planned from, each for itself.
//! Median, 99th percentile and most, in milliseconds by the clock; these differ from machine to machine, and
//! all else does not.

#![allow(clippy::unwrap_used, reason = "the games are ours: one that cannot be made is a bug")]

#[path = "../tests/games/mod.rs"]
mod games;

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use coreach_adapters::Adapter;
use coreach_adapters::in_process::{Implementation, InProcess};
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::solver::{Answer, Solver};
use coreach_analyses::symbolic::inclusion::{data_of, tidy};
use coreach_analyses::symbolic::search::{SearchLimits, Searcher};
use coreach_analyses::symbolic::{SymbolicState, System};
use coreach_execution::constants::initial_state;
use coreach_execution::monitor::Monitor;
use coreach_execution::planner::{Planner, SharedExperience, search_goal};
use coreach_execution::run::{Occurrence, events};
use coreach_execution::simulated::Simulated;
use coreach_execution::{CaseJudge, Judge, Run, Settings, Strategy, TestCase, TestSession, initial};
use coreach_model::iosts::ActionKind;
use coreach_model::random::Random;
use coreach_model::semantics::{Event, State};
use coreach_model::term::evaluate::Valuation;
use coreach_model::{Datum, Iosts, LocationId, Numbered, Value, Verdict};
use coreach_project::{cases, project};

/// So many states are looked at to say what the fewest events are.
const NODES: usize = 2000;

/// The limits of a plan, as the strategy has them.
const LIMITS: SearchLimits = SearchLimits { nodes: 1500, spurious: 4, exact_nodes: 200, work: 1_000_000 };

/// The most searches that are timed for a test case.
const SEARCHES: usize = 2000;

type Named = (&'static str, fn() -> Strategy<'static>);

const STRATEGIES: [Named; 3] = [
    ("random", Strategy::random),
    ("coverage", || Strategy::Coverage(HashMap::new())),
    ("plan", Strategy::plan),
];

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some((runs, folders)) = arguments.split_first().filter(|(_, folders)| !folders.is_empty()) else {
        eprintln!("planning: RUNS FOLDER... | RUNS games");
        return ExitCode::FAILURE;
    };
    if folders == ["games"] {
        play(runs.parse().unwrap_or(60));
        return ExitCode::SUCCESS;
    }
    println!(
        "| test case | cooperative: random, coverage, plan pass | plan: events | the fewest | longer | not known | drawing: random, coverage, plan pass | searches | median | 99 % | most |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for folder in folders {
        if let Err(message) = measure(folder.as_ref(), runs.parse().unwrap_or(30)) {
            eprintln!("planning: {folder}: {message}");
            return ExitCode::FAILURE;
        }
    }
    ExitCode::SUCCESS
}

/// The games against a system that answers as badly as it may, and counters to more than 700. A run of `plan`
/// knows those before it, as with `coreach test`, or none.
fn play(runs: u64) {
    println!(
        "| game | sure | random | plan, each run for itself | plan, one after the other | ms of a run |"
    );
    println!("|---|---|---|---|---|---|");
    let counters = [700, 3000].map(|end| (format!("counter to {end}"), end));
    let all = games::GAMES.iter().map(|game| (game, game.name.to_owned(), None));
    let counter = games::GAMES.iter().find(|game| game.name == "counter").into_iter();
    let more =
        counter.flat_map(|game| counters.iter().map(move |(name, end)| (game, name.clone(), Some(*end))));
    for (game, name, end) in all.chain(more) {
        let played = game.made(end);
        let runs = if end.is_some() { runs.min(10) } else { runs };
        let random = played.passes(runs, Strategy::random);
        let begin = Instant::now();
        let alone = played.passes(runs, Strategy::plan);
        let time = begin.elapsed().as_secs_f64() * 1e3 / runs as f64;
        let experience = SharedExperience::default();
        let together = played.passes(runs, || Strategy::planning(experience.clone()));
        let sure = if game.is_sure { "yes" } else { "no" };
        println!("| `{name}` | {sure} | {random} of {runs} | {alone} | {together} | {time:.1} |");
    }
}

fn measure(folder: &Path, runs: u64) -> Result<(), String> {
    let told = |found: Vec<coreach_model::Diagnostic>| {
        found.iter().map(|one| one.message.clone()).collect::<Vec<_>>().join("; ")
    };
    let (project, _) = project::load(&folder.join("coreach.yaml")).map_err(told)?;
    let model = &project.specification.iosts;
    for purpose in &project.purposes {
        let document = match cases::make_document(&project, purpose, &|_| {}) {
            Ok((document, _)) => document,
            Err(none) => return Err(told(none.found)),
        };
        let case = TestCase::from_document(&document).map_err(|error| error.to_string())?;
        measure_case(&format!("{}: {}", model.name, purpose.iosts.name), &case, model, runs)?;
    }
    Ok(())
}

/// What became of the runs of a strategy against a cooperative system.
#[derive(Default)]
struct Outcomes {
    passed: u64,
    events: Vec<usize>,
    fewest: Vec<usize>,
    longer: usize,
    not_known: usize,
    /// Pass is surely out of reach.
    hopeless: u64,
}

fn measure_case(name: &str, case: &TestCase, model: &Iosts, runs: u64) -> Result<(), String> {
    let distance = distances(case);
    let (mut together, mut drawing) = (Vec::new(), Vec::new());
    let (mut planned, mut states) = (Outcomes::default(), Vec::new());
    for (strategy, make) in STRATEGIES {
        let (mut told, mut passed) = (Outcomes::default(), 0);
        for seed in 1..=runs {
            let mut solver = Z3Solver::default();
            let initial = initial_state(case, &Valuation::new(), seed, &mut solver)
                .map_err(|error| error.to_string())?;
            let mut helper = Cooperative::new(case, model, initial.clone())?;
            let run = once(case, &initial, &mut InProcess(&mut helper), seed, make());
            if run.outcome.verdict() == Some(Verdict::Fail) || !helper.conforms {
                return Err(format!("{name}, seed {seed}: a cooperative system does not conform"));
            }
            told.count(case, &initial, &run, distance[case.iosts.initial]);
            let mut simulated = InProcess(Simulated::new(model.clone(), Z3Solver::default()));
            let run = once(case, &initial, &mut simulated, seed, make());
            passed += u64::from(run.outcome.verdict() == Some(Verdict::Pass));
            if strategy == "random" {
                states.extend(visited(case, initial, &run));
            }
        }
        together.push(format!("{} of {}", told.passed, runs - told.hopeless));
        drawing.push(passed.to_string());
        planned = told;
    }
    states.truncate(SEARCHES);
    let mut times = times(case, &states);
    times.sort_unstable_by(f64::total_cmp);
    let at = |share: usize| {
        times.get((times.len() * share / 100).min(times.len().saturating_sub(1))).copied().unwrap_or(0.0)
    };
    println!(
        "| {name} | {} | {} | {} | {} | {} | {} of {runs} | {} | {:.3} | {:.3} | {:.3} |",
        together.join(", "),
        median(planned.events),
        median(planned.fewest),
        planned.longer,
        planned.not_known,
        drawing.join(", "),
        times.len(),
        at(50),
        at(99),
        at(100)
    );
    Ok(())
}

impl Outcomes {
    fn count(&mut self, case: &TestCase, initial: &State, run: &Run, distance: Option<usize>) {
        let length = events(&run.trace);
        if run.outcome.verdict() != Some(Verdict::Pass) {
            match fewest(case, initial) {
                Fewest::None => self.hopeless += 1,
                Fewest::Events(_) => {}
                Fewest::NotKnown => self.not_known += 1,
            }
            return;
        }
        self.passed += 1;
        self.events.push(length);
        let known = if Some(length) == distance { Fewest::Events(length) } else { fewest(case, initial) };
        match known {
            Fewest::Events(fewest) => {
                assert!(fewest <= length, "a run of {length} events, where the fewest are {fewest}");
                self.fewest.push(fewest);
                self.longer += usize::from(length > fewest);
            }
            Fewest::None | Fewest::NotKnown => self.not_known += 1,
        }
    }
}

/// The fewest events from a state to Pass.
enum Fewest {
    Events(usize),
    /// There are none.
    None,
    /// There are too many states.
    NotKnown,
}

fn fewest(case: &TestCase, initial: &State) -> Fewest {
    let system = System::new(&case.iosts);
    let data = data_of(&case.iosts);
    let mut solver = Z3Solver::default();
    let mut seen = HashSet::new();
    let mut open = VecDeque::from([SymbolicState::of(initial)]);
    while let Some(state) = open.pop_front() {
        for (_, next) in system.successors(&state) {
            let end = case.verdict(next.location);
            if end.is_some_and(|verdict| verdict != Verdict::Pass) {
                continue;
            }
            let answer = solver.check_along(&next.condition);
            if end == Some(Verdict::Pass) && answer == Answer::Sat {
                return Fewest::Events(next.depth);
            }
            if answer != Answer::Unsat && seen.insert(tidy(&data, &next, answer == Answer::Sat).shape()) {
                open.push_back(next);
            }
            if seen.len() > NODES {
                return Fewest::NotKnown;
            }
        }
    }
    Fewest::None
}

/// For each location the least number of transitions to Pass.
fn distances(case: &TestCase) -> Numbered<LocationId, Option<usize>> {
    let mut found = case.iosts.locations.map(|_| None);
    let mut open: VecDeque<LocationId> =
        case.iosts.locations.numbers().filter(|at| case.verdict(*at) == Some(Verdict::Pass)).collect();
    open.iter().for_each(|at| found[*at] = Some(0));
    while let Some(at) = open.pop_front() {
        for transition in case.iosts.transitions.iter().filter(|transition| transition.target == at) {
            if found[transition.source].is_none() {
                found[transition.source] = found[at].map(|length: usize| length + 1);
                open.push_back(transition.source);
            }
        }
    }
    found
}

/// A system that answers so that Pass is near, among what the specification allows.
struct Cooperative<'a> {
    case: &'a TestCase,
    judge: CaseJudge<'a>,
    monitor: Monitor<'a>,
    planner: Planner,
    random: Random,
    solver: Z3Solver,
    conforms: bool,
}

impl<'a> Cooperative<'a> {
    fn new(case: &'a TestCase, model: &'a Iosts, start: State) -> Result<Self, String> {
        let mut solver = Z3Solver::default();
        let known: Valuation = case.constants_in(&start).into_iter().collect();
        let states =
            initial::states(model, &known, 1 << 12, &mut solver).map_err(|why| why.text().to_owned())?;
        Ok(Cooperative {
            case,
            judge: CaseJudge::new(case, start),
            monitor: Monitor::new(model, states.into_iter().collect()),
            planner: Planner::default(),
            random: Random::new(0),
            solver,
            conforms: true,
        })
    }

    fn takes(&mut self, what: &Occurrence) {
        self.judge.take(what);
        self.monitor.take(what);
        self.conforms &= self.monitor.verdict().is_none();
    }
}

impl Implementation for &mut Cooperative<'_> {
    fn reset(&mut self, _: &[(Datum, Value)], seed: u64) -> Result<(), String> {
        self.random = Random::new(seed ^ 0x636f_6f70);
        self.judge.begin();
        self.monitor.begin();
        Ok(())
    }

    fn input(&mut self, input: &Event) {
        self.takes(&Occurrence::Stimulus(input.clone()));
    }

    fn output(&mut self, waited: bool) -> Option<Event> {
        if !waited {
            return None;
        }
        let state = self.judge.state().clone();
        let Cooperative { case, planner, random, solver, .. } = &mut **self;
        let planned = planner.next(case, &[&state], random, solver)?;
        let event = (planned.kind == ActionKind::Output).then(|| planned.event.clone())?;
        self.takes(&Occurrence::Observation(event.clone()));
        Some(event)
    }
}

fn once(
    case: &TestCase,
    initial: &State,
    adapter: &mut dyn Adapter,
    seed: u64,
    strategy: Strategy<'_>,
) -> Run {
    TestSession { judge: &mut CaseJudge::new(case, initial.clone()), settings: &Settings::default(), adapter }
        .run(seed, strategy)
}

/// The states of a run without a verdict.
fn visited(case: &TestCase, initial: State, run: &Run) -> Vec<State> {
    let mut judge = CaseJudge::new(case, initial);
    let mut states = Vec::new();
    for step in &run.trace {
        states.push(judge.state().clone());
        judge.take(&step.what);
    }
    states
}

/// How long each search takes, in milliseconds.
fn times(case: &TestCase, states: &[State]) -> Vec<f64> {
    let mut solver = Z3Solver::default();
    let mut searcher = Searcher::new(case.iosts.clone(), search_goal(case));
    let timed = |state| {
        let begin = Instant::now();
        searcher.from_state(state, &LIMITS, &mut solver);
        begin.elapsed().as_secs_f64() * 1e3
    };
    states.iter().map(timed).collect()
}

fn median(mut values: Vec<usize>) -> usize {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
