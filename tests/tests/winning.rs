//! Small games of a tester against a system, each with what can be won in it.
//!
//! **Data**: `tests/games/*.yaml`, a specification and a purpose each. The first line says the level, of what
//! is forced the number of events, whether it is judged on line only, and by which theory. Behind a bar
//! stands the type that a parameter has for the oracle, which has finite types only.
//!
//! **Question.** Is the level that is told the one of the oracle ([`coreach_tests::brute::winning`])? And
//! does `plan` pass in each run of what is forced, against a system that answers at random?

use std::collections::BTreeMap;
use std::path::Path;

use coreach_adapters::in_process::InProcess;
use coreach_analyses::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::constants::initial_state;
use coreach_execution::judge::make_judge_with;
use coreach_execution::lazy::Lazy;
use coreach_execution::planner::WinningLevel;
use coreach_execution::planner::prospect::{WinningProspect, find_prospect};
use coreach_execution::simulated::Simulated;
use coreach_execution::{Run, Settings, Strategy, TestCase, TestSession};
use coreach_model::reader::{from_bytes, read_purpose, read_specification};
use coreach_model::{Iosts, Verdict};
use coreach_pipeline::export::{ExportOptions, Format, View, export};
use coreach_pipeline::limits::Limits;
use coreach_pipeline::online::prepare_online;
use coreach_pipeline::{Conformance, Stage, StageOptions, generate_for};
use coreach_tests::brute::alphabet::Alphabet;
use coreach_tests::brute::explore::valuations;
use coreach_tests::brute::pair::{Behaviour, Instance};
use coreach_tests::brute::winning::{Rules, Winnable, winnable};

/// Runs of each game.
const RUNS: u64 = 20;

/// A game as its file says it.
struct SmallGame {
    name: String,
    specification: String,
    purpose: String,
    /// Its level, and what is forced within how many events.
    level: Winnable,
    is_online_only: bool,
    conformance: Conformance,
    /// Parameters and their types for the oracle.
    finite: Vec<(String, String)>,
}

fn games() -> Vec<SmallGame> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("games");
    let mut paths: Vec<_> = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| game(path)).collect()
}

fn game(path: &Path) -> SmallGame {
    let text = std::fs::read_to_string(path).unwrap();
    let (head, text) = text.split_once('\n').unwrap();
    let (specification, purpose) = text.split_once("---\n").unwrap();
    let (said, finite) = head.trim_start_matches("# ").split_once(" | ").unwrap_or((&head[2..], ""));
    let words: Vec<&str> = said.split(' ').collect();
    let level = match words[0] {
        "forced" => Winnable::Forced(words[1].parse().unwrap()),
        "fair" => Winnable::Fair,
        "possible" => Winnable::Possible,
        "unreachable" => Winnable::Unreachable,
        other => panic!("{}: {other} is no level", path.display()),
    };
    let finite = finite.split("; ").filter_map(|one| one.split_once(": "));
    SmallGame {
        name: path.file_stem().unwrap().to_string_lossy().into_owned(),
        specification: specification.to_owned(),
        purpose: purpose.to_owned(),
        level,
        is_online_only: words.contains(&"online"),
        conformance: if words.contains(&"ioco") { Conformance::Ioco } else { Conformance::Ioc },
        finite: finite.map(|(name, ty)| (name.to_owned(), ty.to_owned())).collect(),
    }
}

impl SmallGame {
    fn model(&self) -> Iosts {
        let file = from_bytes(self.name.clone(), self.specification.clone().into_bytes()).unwrap();
        read_specification(file).unwrap_or_else(|found| panic!("{}: {found:#?}", self.name)).0.iosts
    }

    /// As a user has it; `None` where it cannot be won at all.
    fn test(&self, is_online: bool) -> Option<TestCase> {
        let file = from_bytes(self.name.clone(), self.specification.clone().into_bytes()).unwrap();
        let specification = read_specification(file).unwrap().0;
        let file = from_bytes(self.name.clone(), self.purpose.clone().into_bytes()).unwrap();
        let purpose = read_purpose(file, &specification);
        let (purpose, _) = purpose.unwrap_or_else(|found| panic!("{}: {found:#?}", self.name));
        let options = StageOptions {
            max_lookahead: 8,
            analysis: Analysis::default(),
            limits: Limits::default(),
            check: false,
        };
        let (iosts, mut solver) = (&specification.iosts, Z3Solver::default());
        let document = if is_online {
            let made = prepare_online(self.conformance, iosts, &purpose, &options, &mut solver, &mut |_| {})
                .unwrap();
            made.reachable.then(|| export(&View::of_online(&made), Format::Json, ExportOptions::default()))?
        } else {
            let made =
                generate_for(self.conformance, iosts, purpose, &options, &mut solver, &mut |_| {}).unwrap();
            let view = View::of(&made, Stage::InputComplete);
            made.test_graph
                .is_purpose_reachable()
                .then(|| export(&view, Format::Json, ExportOptions::default()))?
        };
        Some(TestCase::from_json(document.unwrap().as_bytes()).unwrap())
    }

    /// The ways to judge it.
    fn ways(&self) -> &'static [bool] {
        if self.is_online_only { &[true] } else { &[false, true] }
    }

    /// What the oracle says, with the constants of the tester's choice.
    fn expected(&self, is_online: bool) -> Winnable {
        let mut text = self.specification.clone();
        for (name, ty) in &self.finite {
            let wide = format!("{name}: int");
            assert!(text.contains(&wide), "{}: {wide}", self.name);
            text = text.replace(&wide, &format!("{name}: {ty}"));
        }
        let pair = Behaviour::read(&text, &self.purpose).unwrap();
        let alphabet = Alphabet::of(&pair.specification, 1000).unwrap();
        let rules = Rules { is_ioco: self.conformance == Conformance::Ioco, is_online };
        let won = |constants: &BTreeMap<_, _>| {
            winnable(&Instance::explore(&pair, constants, &alphabet, 20_000).unwrap(), &alphabet, rules)
        };
        valuations(&pair.specification.constants, 100).unwrap().iter().map(won).min().unwrap()
    }
}

fn level(found: Option<&WinningProspect>) -> Winnable {
    let Some(found) = found else { return Winnable::Unreachable };
    match found.level {
        WinningLevel::Forced => Winnable::Forced(found.within.unwrap()),
        WinningLevel::Fair => Winnable::Fair,
        WinningLevel::Possible => Winnable::Possible,
        WinningLevel::Unreachable => Winnable::Unreachable,
    }
}

/// Soundness and precision: the level is that of the file, and that of the oracle.
#[test]
fn what_can_be_won_is_what_enumeration_says() {
    let games = games();
    assert!(games.len() >= 40, "{}", games.len());
    let mut wrong = String::new();
    for game in &games {
        for is_online in game.ways() {
            let expected = game.expected(*is_online);
            let test = game.test(*is_online);
            let found = test.as_ref().and_then(|test| find_prospect(test, &mut Lazy::default()));
            let told = level(found.as_ref());
            if expected != game.level || told != expected {
                wrong += &format!(
                    "{}, {}: {told:?} is told, {expected:?} is right, {:?} is in the file: {found:?}\n",
                    game.name,
                    if *is_online { "on line" } else { "by its test case" },
                    game.level
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// One run against the specification, which answers at random.
fn run(test: &TestCase, system: &Iosts, seed: u64) -> Run {
    let initial = initial_state(test, &Default::default(), seed, &mut Lazy::default()).unwrap();
    TestSession {
        judge: &mut *make_judge_with(test, initial, None, true),
        settings: &Settings { steps: 400, ..Settings::default() },
        adapter: &mut InProcess(Simulated::new(system.clone(), Lazy::default())),
    }
    .run(seed, Strategy::plan())
}

/// Precision: what is forced passes in each run. That a conforming system never fails is soundness.
#[test]
fn what_is_forced_is_won_in_each_run() {
    let mut lost = String::new();
    for game in games() {
        let system = game.model();
        for is_online in game.ways() {
            let Some(test) = game.test(*is_online) else { continue };
            let mut passed = 0;
            for seed in 1..=RUNS {
                let run = run(&test, &system, seed);
                assert_ne!(run.outcome.verdict(), Some(Verdict::Fail), "{}: {:?}", game.name, run.trace);
                passed += u64::from(run.outcome.verdict() == Some(Verdict::Pass));
            }
            if passed < RUNS && matches!(game.level, Winnable::Forced(_)) {
                lost += &format!("{}, on line: {is_online}: {passed} of {RUNS}\n", game.name);
            }
        }
    }
    assert!(lost.is_empty(), "{lost}");
}
