//! Random implementations that are not ioco, against everything that looks for faults by ioco without a
//! purpose written by hand: the suite of `cover`, random runs judged on line, and a walk that covers.
//!
//! Brute force over suspension traces says which of them differ within a few events, and which conform.

use std::collections::BTreeMap;
use std::ops::Range;

use coreach_adapters::in_process::InProcess;
use coreach_analyses::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::symbolic::TreeLimits;
use coreach_execution::constants::initial_state;
use coreach_execution::lazy::Lazy;
use coreach_execution::run::events;
use coreach_execution::simulated::Simulated;
use coreach_execution::walk::{Walk, WalkLimits};
use coreach_execution::{Settings, Strategy, TestCase, TestSession, judge};
use coreach_model::reader::{from_bytes, read_specification};
use coreach_model::{Iosts, Verdict};
use coreach_pipeline::Conformance;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::suspend::suspend;
use coreach_project::cover::{self, Criterion, Observe};
use coreach_project::walk;
use coreach_tests::generator::random::Random;

use super::{Edge, QUIRKY, differs_after, edge, model, mutant, mutated, test_case, written};

/// Implementations that differ later do not count.
const WITHIN: usize = 8;

/// Of each specification so many that are wrong, and at most so many that conform.
const EACH: usize = 6;

/// What looks for faults.
const LOOKERS: [&str; 3] = ["suite", "random runs", "walk"];

/// What conforms is run for so many events.
const CONFORMING: usize = 300;

/// The test cases of what `cover` writes by ioco.
fn suite(specification: &str) -> Vec<TestCase> {
    let file = from_bytes("model.yaml".to_owned(), specification.as_bytes().to_vec()).unwrap();
    let (read, _) = read_specification(file).unwrap();
    let settings = cover::CoverSettings {
        criteria: vec![Criterion::Transitions, Criterion::Pairs],
        limits: TreeLimits { is_restricted: true, ..TreeLimits::default() },
        analysis: Analysis::default(),
        conformance: Conformance::Ioco,
        stages: Limits::default(),
        steps: 0,
        observe: Observe::default(),
    };
    let kept = cover::Cover::of(&read, &settings).unwrap();
    assert!(cover::cover(&read, &settings, &|_| {}, &kept).is_none());
    let found = kept.into_inner().unwrap();
    found.suite.iter().filter_map(|member| test_case(specification, &member.written.text)).collect()
}

/// What there is against the implementations of one specification.
struct Against {
    suite: Vec<TestCase>,
    suspended: TestCase,
}

impl Against {
    fn of(specification: &str) -> Self {
        let iosts = model(specification);
        let quiet = suspend(&iosts, &Limits::default(), &mut Z3Solver::default()).unwrap().iosts;
        Against { suite: suite(specification), suspended: walk::make_case(&quiet).unwrap().test }
    }

    /// Runs one after the other until one fails or there were so many events: the events until then.
    fn meet(&self, looker: &str, system: &Iosts, seed: u64, most: usize) -> Option<usize> {
        let mut settings = Settings { steps: 20, ..Settings::default() };
        let iosts = &self.suspended.iosts;
        let until = WalkLimits { events: most, percent: None, deadline: None, ends_when_covered: false };
        let mut walk = Walk::new(iosts.clone(), &walk::list_all_goals(iosts, &walk::ALL), true, until, false);
        let mut sum = 0;
        for number in 0..most as u64 {
            let (test, strategy) = match looker {
                "suite" => {
                    let test = self.suite.get(number as usize % self.suite.len().max(1))?;
                    let is_planned = (number as usize / self.suite.len()).is_multiple_of(2);
                    (test, if is_planned { Strategy::plan() } else { Strategy::random() })
                }
                "random runs" => (&self.suspended, Strategy::random()),
                _ => {
                    settings.steps = usize::MAX;
                    (&self.suspended, Strategy::Walk(&mut walk))
                }
            };
            let seed = seed.wrapping_mul(1_000_003).wrapping_add(number);
            let initial = initial_state(test, &Default::default(), seed, &mut Lazy::default()).unwrap();
            let run = TestSession {
                judge: judge::make_judge_with(test, initial, None, true).as_mut(),
                settings: &settings,
                adapter: &mut InProcess(Simulated::new(system.clone(), Lazy::default())),
            }
            .run(seed, strategy);
            sum += events(&run.trace).max(1);
            if run.outcome.verdict() == Some(Verdict::Fail) {
                return Some(sum);
            }
            if sum >= most || looker == "walk" && walk.is_over() {
                return None;
            }
        }
        None
    }
}

/// What became of the implementations of so many specifications.
#[derive(Default, Debug)]
struct Figures {
    specifications: usize,
    test_cases: usize,
    /// Those that conform. Whoever blames one of them ends the test.
    conforming: usize,
    /// After how many events the wrong ones differ.
    differ_after: BTreeMap<usize, usize>,
    /// For each looker the events until it found each of the wrong ones; nothing where it did not.
    found: BTreeMap<&'static str, Vec<Option<usize>>>,
}

fn measured(seeds: Range<u64>, most: usize) -> Figures {
    let mut figures = Figures::default();
    for seed in seeds {
        let mut random = Random::new(seed ^ 0x7375_6974_6573);
        let edges: Vec<Edge> = (0..5 + random.below(5)).map(|_| edge(&mut random)).collect();
        let (mut wrong, mut right) = (Vec::new(), Vec::new());
        for number in 0..80 {
            // Itself ignores inputs that only some of its states take, and may so not conform.
            let system = match number % 4 {
                _ if number == 0 => edges.clone(),
                0 | 2 => mutated(&mut random, &edges),
                1 => mutant(&mut random, &edges),
                _ => (0..5 + random.below(5)).map(|_| edge(&mut random)).collect(),
            };
            match differs_after(&edges, &system) {
                None if right.len() < EACH => right.push(system),
                Some(length) if length <= WITHIN && wrong.len() < EACH => wrong.push((length, system)),
                _ => {}
            }
        }
        if wrong.len() < EACH {
            continue;
        }
        let text = written(&edges);
        let against = Against::of(&text);
        figures.specifications += 1;
        figures.test_cases += against.suite.len();
        figures.conforming += right.len();
        for (length, _) in &wrong {
            *figures.differ_after.entry(*length).or_default() += 1;
        }
        for looker in LOOKERS {
            for (number, system) in right.iter().enumerate() {
                let found = against.meet(looker, &model(&written(system)), number as u64, CONFORMING);
                assert_eq!(found, None, "seed {seed}, {looker}: it conforms\n{text}{}", written(system));
            }
            for (number, (length, system)) in wrong.iter().enumerate() {
                let found = against.meet(looker, &model(&written(system)), number as u64, most);
                figures.found.entry(looker).or_default().push(found);
                if found.is_none() {
                    println!("seed {seed}, {number}, {looker}, {length}:\n{text}{}", written(system));
                }
            }
        }
    }
    figures
}

/// Soundness: what conforms never fails. Precision: what differs within eight events is found.
#[test]
fn what_differs_within_eight_events_is_found() {
    let figures = measured(0..5, 1200);
    for (looker, found) in &figures.found {
        assert!(found.len() >= 30 && found.iter().all(Option::is_some), "{looker}: {figures:?}");
    }
    assert!(figures.conforming >= 15, "{figures:?}");
}

#[test]
#[ignore = "measures; run it alone"]
fn what_is_found_of_600() {
    let seeds = std::env::var("SEEDS").unwrap_or_else(|_| "0 106".to_owned());
    let ends: Vec<u64> = seeds.split(' ').map(|end| end.parse().unwrap()).collect();
    for seed in ends[0]..ends[1] {
        println!("{:?}", measured(seed..seed + 1, 4000));
    }
}

/// What is wrong shows only behind a silence that is allowed, by what comes after it (precision); and nobody
/// is blamed who is silent there (soundness). That the specification is quiescent is a goal.
#[test]
fn a_walk_follows_silence() {
    let wrong = model(&QUIRKY.replace("on: Coffee", "on: Tea"));
    let against = Against::of(QUIRKY);
    for seed in 0..5 {
        assert!(against.meet("walk", &wrong, seed, 400).is_some());
        assert_eq!(against.meet("walk", &model(QUIRKY), seed, 400), None);
    }
    let goals = walk::list_goals(&against.suspended.iosts, Criterion::Transitions);
    let names: Vec<String> =
        goals.iter().map(|goal| walk::describe_goal(&against.suspended.iosts, goal)).collect();
    for location in ["Ready", "Stuck", "Served"] {
        assert!(names.contains(&format!("quiescence in {location}")), "{names:?}");
    }
}

/// Nothing is specified, and something comes: who has nothing to do listens (precision).
#[test]
fn a_walk_listens_where_there_is_nothing_to_do() {
    let (nothing, wrong) = (written(&[(1, 0, 2)]), written(&[(0, 2, 0)]));
    let against = Against::of(&nothing);
    assert!(against.meet("walk", &model(&wrong), 1, 10).is_some());
    assert_eq!(against.meet("walk", &model(&nothing), 1, 10), None);
}
