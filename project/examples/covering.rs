//! What one walk meets with so many events: `cargo run --profile soak -p coreach-project --example covering
//! -- [--seeds N] [--most N] [--seconds N] FOLDER... | graphs`.
//!
//! **Question.** Does one walk that covers meet the goals of a specification sooner than random runs do, and
//! than a suite with a purpose for each goal? And how much longer is it than the shortest tour of a graph?
//!
//! **Method.** Each folder has a `coreach.yaml`, or a `specification.yaml` alone. Its goals are those of
//! `coreach test --cover all`: transitions, definition-use, pairs. They are met on the specification itself
//! as a simulated system, by the walk; by random runs of at most 40 events, and of any length; and by what
//! `coreach cover` writes for the same goals, test after test and round after round, with the strategy
//! `plan`. Each is followed in all positions that are possible, so what was surely met is counted alike. Each
//! has so many events and seconds, and so has the suite to be made: what is not there by then is left out,
//! which is said.
//!
//! With `graphs`: the graphs of `tests/graphs/`, each walked with the goals `transitions` until all are met;
//! and once more with a datum that nobody reads, which keeps the walk from planning a tour.
//!
//! **Output**, as Markdown: the goals; for each way how many are met, as a mean over the seeds, after 50,
//! 200, 1000 and all events. Of graphs: what no tour is shorter than, the product's tour, and the walks.

#![allow(clippy::unwrap_used, reason = "the graphs are ours: one that cannot be made is a bug")]

#[path = "../tests/graphs/mod.rs"]
mod graphs;

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::PoisonError;
use std::time::{Duration, Instant};

use coreach_adapters::in_process::InProcess;
use coreach_analyses::machines::tour::find_closed_walk;
use coreach_analyses::symbolic::TreeLimits;
use coreach_execution::constants::initial_state;
use coreach_execution::lazy::Lazy;
use coreach_execution::run::events;
use coreach_execution::simulated::Simulated;
use coreach_execution::strategy::Strategy;
use coreach_execution::walk::goals::WalkGoal;
use coreach_execution::walk::{Walk, WalkLimits, WalkProgress};
use coreach_execution::{Run, Settings, TestCase, TestSession, judge};
use coreach_model::Iosts;
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;
use coreach_project::cover::{self, Criterion, Observe, cover};
use coreach_project::project::{self, Project};
use coreach_project::{budget, cases, jobs, walk as walking};

use graphs::{Graph, SORTS};

/// After so many events the goals are counted, and at the end.
const COUNTED: [usize; 3] = [50, 200, 1000];

struct Arguments {
    seeds: u64,
    most: usize,
    seconds: u64,
    folders: Vec<String>,
}

fn arguments() -> Result<Arguments, String> {
    let mut found = Arguments { seeds: 5, most: 4000, seconds: 60, folders: Vec::new() };
    let mut rest = std::env::args().skip(1);
    while let Some(word) = rest.next() {
        let mut number = || {
            let text = rest.next().ok_or_else(|| format!("{word} needs a number"))?;
            text.parse::<u32>().map_err(|error| format!("{word} {text}: {error}"))
        };
        match word.as_str() {
            "--seeds" => found.seeds = number()?.into(),
            "--most" => found.most = number()? as usize,
            "--seconds" => found.seconds = number()?.into(),
            folder => found.folders.push(folder.to_owned()),
        }
    }
    if found.folders.is_empty() || found.seeds == 0 {
        return Err("covering: [--seeds N] [--most N] [--seconds N] FOLDER... | graphs".to_owned());
    }
    Ok(found)
}

fn main() -> ExitCode {
    let done = arguments().and_then(|arguments| {
        if arguments.folders == ["graphs"] {
            over_graphs(&arguments);
            return Ok(());
        }
        println!("| model | way | goals | after 50 | 200 | 1000 | at the end | events |");
        println!("|---|---|---|---|---|---|---|---|");
        arguments.folders.iter().try_for_each(|folder| measure(folder.as_ref(), &arguments))
    });
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// How the goals are met.
enum Way {
    Walk,
    Random(usize),
    /// With these test cases.
    Suite(Vec<TestCase>),
}

/// How many goals were met after each event.
type Curve = Rc<RefCell<Vec<usize>>>;

/// A specification, its goals, and when to stop.
struct Field<'a> {
    test: &'a TestCase,
    goals: Vec<WalkGoal>,
    most: usize,
    seconds: u64,
}

impl Field<'_> {
    fn walk(&self) -> (Walk, Curve) {
        let iosts = &self.test.iosts;
        let deadline = Instant::now().checked_add(Duration::from_secs(self.seconds));
        let until = WalkLimits { events: self.most, percent: Some(100), deadline, ends_when_covered: false };
        let curve = Curve::default();
        let noted = curve.clone();
        let note = move |standing: &WalkProgress| {
            let mut noted = noted.borrow_mut();
            noted.resize(standing.events, standing.covered);
            noted.iter_mut().next_back().into_iter().for_each(|last| *last = standing.covered);
        };
        let walk = Walk::new(iosts.clone(), &self.goals, true, until, !iosts.constants.is_empty());
        (walk.with_listener(Box::new(note)), curve)
    }

    /// The curve of one seed.
    fn met(&self, way: &Way, system: &Iosts, seed: u64) -> Vec<usize> {
        let moment = Duration::from_millis(1);
        let mut settings =
            Settings { steps: usize::MAX, quiescence: moment, patience: moment, ..Settings::default() };
        let (mut walk, curve) = self.walk();
        let mut solver = Lazy::default();
        for number in 0..self.most as u64 {
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(number);
            let test = match way {
                Way::Suite(cases) => match cases.get(number as usize % cases.len().max(1)) {
                    Some(case) => case,
                    None => break,
                },
                _ => self.test,
            };
            let Ok(mut initial) = initial_state(test, &Valuation::new(), seed, &mut solver) else { continue };
            if matches!(way, Way::Walk) {
                initial = walk.choose_start(test, initial, &Valuation::new(), seed, &mut solver);
            }
            if let Way::Random(length) = way {
                settings.steps = *length;
            }
            settings.steps = settings.steps.min(self.most);
            let strategy = match way {
                Way::Walk => Strategy::Walk(&mut walk),
                Way::Random(_) => Strategy::random(),
                Way::Suite(_) => Strategy::plan(),
            };
            let run = TestSession {
                judge: judge::make_judge_with(test, initial.clone(), None, true).as_mut(),
                settings: &settings,
                adapter: &mut InProcess(Simulated::new(system.clone(), Lazy::default())),
            }
            .run(seed, strategy);
            if !matches!(way, Way::Walk) {
                self.follow(&mut walk, test, &initial, &run);
            }
            if walk.is_over() || events(&run.trace) == 0 && matches!(way, Way::Walk) {
                break;
            }
        }
        drop(walk);
        curve.take()
    }

    /// Follows a run of a test with the specification.
    fn follow(&self, walk: &mut Walk, test: &TestCase, initial: &State, run: &Run) {
        let constants = test.constants_in(initial);
        let known = self.test.iosts.constants.iter().filter_map(|constant| {
            let (_, value) = constants.iter().find(|(datum, _)| datum.name() == constant.name())?;
            Some((constant.clone(), value.clone()))
        });
        let Ok(initial) = initial_state(self.test, &known.collect(), 1, &mut Lazy::default()) else { return };
        let mut judge = judge::make_judge_with(self.test, initial, None, true);
        walk.begin(judge.as_ref());
        for step in &run.trace {
            judge.take(&step.what);
            walk.happened(judge.as_ref(), &step.what);
        }
    }
}

fn measure(folder: &Path, arguments: &Arguments) -> Result<(), String> {
    let said = |found: Vec<coreach_model::Diagnostic>| {
        let said: Vec<String> = found.iter().map(|one| one.message.clone()).collect();
        format!("{}: {}", folder.display(), said.join("; "))
    };
    let configuration = folder.join("coreach.yaml");
    let path = if configuration.exists() { configuration.clone() } else { folder.join("specification.yaml") };
    let (walkable, _) = walking::read(&path).map_err(said)?;
    let system = &walkable.specification;
    let test = &walkable.case.test;
    let goals = walking::list_all_goals(&test.iosts, &walking::ALL);
    let field = Field { test, goals, most: arguments.most, seconds: arguments.seconds };
    let mut ways = vec![
        ("walk".to_owned(), Way::Walk),
        ("random, runs of 40".to_owned(), Way::Random(40)),
        ("random, one run".to_owned(), Way::Random(usize::MAX)),
    ];
    if configuration.exists() {
        let (project, _) = project::load(&configuration).map_err(said)?;
        let (cases, name) = suite(&project, arguments.seconds);
        ways.push((name, Way::Suite(cases)));
    }
    println!("| {} | | {} | | | | | |", system.name, field.goals.len());
    for (name, way) in &ways {
        let curves: Vec<Vec<usize>> =
            (1..=arguments.seeds).map(|seed| field.met(way, system, seed)).collect();
        let after = |events: usize| {
            let met =
                |curve: &Vec<usize>| curve.get(..events.min(curve.len())).and_then(|met| met.last().copied());
            let sum: usize = curves.iter().filter_map(met).sum();
            format!("{:.1}", sum as f64 / arguments.seeds as f64)
        };
        let [few, some, many] = COUNTED.map(after);
        let mut lengths: Vec<usize> = curves.iter().map(Vec::len).collect();
        lengths.sort_unstable();
        println!(
            "| | {name} | | {few} | {some} | {many} | {} | {} |",
            after(usize::MAX),
            lengths[lengths.len() / 2]
        );
    }
    Ok(())
}

/// The test cases of the purposes that `cover` writes, and what to call them.
fn suite(project: &Project, seconds: u64) -> (Vec<TestCase>, String) {
    let settings = cover::CoverSettings {
        criteria: vec![Criterion::Transitions, Criterion::DefinitionUse, Criterion::Pairs],
        limits: TreeLimits { depth: 60, nodes: 2000, is_restricted: true, ..TreeLimits::default() },
        analysis: project.options.analysis.clone(),
        conformance: project.conformance,
        stages: project.options.limits.clone(),
        steps: 0,
        observe: Observe::default(),
    };
    let until = Instant::now() + Duration::from_secs(seconds);
    let Ok(kept) = cover::Cover::of(&project.specification, &settings) else { return Default::default() };
    // What was written before the time was up is kept.
    let _ = budget::within("suite", Duration::from_secs(seconds), |_| {
        cover(&project.specification, &settings, &|_| {}, &kept)
    });
    let found = kept.into_inner().unwrap_or_else(PoisonError::into_inner);
    let written = found.suite.len();
    let mut cases = Vec::new();
    for member in found.suite {
        if Instant::now() < until
            && let Ok((document, _)) = cases::make_document(project, &member.written.purpose, &|_| {})
            && let Ok(case) = TestCase::from_document(&document)
        {
            cases.push(case);
        }
    }
    let name = format!("{} purposes, {} test cases", written, cases.len());
    (cases, name)
}

/// How long a walk over a graph is, and whether it took each transition.
fn graph_walked(graph: &Graph, has_datum: bool, seed: u64, seconds: u64) -> (usize, bool) {
    let file = from_bytes("graph".to_owned(), graph.written(has_datum).into_bytes()).unwrap();
    let specification = read_specification(file).unwrap().0.iosts;
    let test = walking::make_case(&specification).unwrap().test;
    let goals = walking::list_goals(&test.iosts, Criterion::Transitions);
    let field = Field { test: &test, goals, most: 100 * graph.edges.len(), seconds };
    let curve = field.met(&Way::Walk, &specification, seed);
    (curve.len(), curve.last() == Some(&graph.edges.len()))
}

/// What a graph came to.
struct Row {
    edges: usize,
    bound: usize,
    tour: usize,
    /// The walk, and that of the same graph with a datum.
    walks: [(usize, bool); 2],
}

/// For graphs what no tour is shorter than, the product's tour, and walks.
fn over_graphs(arguments: &Arguments) {
    println!(
        "| graph | locations | transitions | at least | tour | walk | times as long, at most | walk with a datum | times as long, at most |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    let sizes = [100, 200, 400, 800];
    let all: Vec<(&str, usize)> =
        SORTS.iter().flat_map(|sort| sizes.iter().map(move |size| (*sort, *size))).collect();
    let work = |one: &(&str, usize)| {
        let row = |seed| {
            let graph = Graph::drawn(one.0, one.1, seed);
            let tour = find_closed_walk(graph.locations, &graph.edges, &vec![true; graph.edges.len()], 0);
            let walks = [false, true].map(|datum| graph_walked(&graph, datum, seed, arguments.seconds));
            let tour = tour.map_or(0, |tour| tour.len());
            Row { edges: graph.edges.len(), bound: graph.bound(), tour, walks }
        };
        (1..=arguments.seeds).map(row).collect::<Vec<Row>>()
    };
    let Ok(found) = jobs::in_order(&all, 2, work) else { return };
    for ((sort, size), rows) in all.iter().zip(found) {
        let mean = |of: &dyn Fn(&Row) -> usize| rows.iter().map(of).sum::<usize>() / rows.len();
        let walk = |which: usize| {
            let times =
                rows.iter().map(|row| row.walks[which].0 as f64 / row.bound as f64).fold(0.0, f64::max);
            let open = rows.iter().filter(|row| !row.walks[which].1).count();
            let open = if open > 0 { format!(" ({open} not done)") } else { String::new() };
            format!("{}{open} | {times:.3}", mean(&|row| row.walks[which].0))
        };
        let [edges, bound] = [mean(&|row| row.edges), mean(&|row| row.bound)];
        let tour = mean(&|row| row.tour);
        println!("| {sort} | {size} | {edges} | {bound} | {tour} | {} | {} |", walk(0), walk(1));
    }
}
