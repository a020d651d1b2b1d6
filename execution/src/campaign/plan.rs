//! The runs of a campaign, and their keys.
//!
//! A run is named by its [`Key`], the SHA-256 of everything that decides what happens in it, as far as that
//! depends on us: the test case, the constants, the seed, the description of the implementation, the
//! settings. The key does not depend on names of files, the version of the program (it is kept with the run),
//! or the run's place in the plan. So a campaign may grow, be split and be moved.
//!
//! The constants of a run belong to the plan, not to the run: they are fixed before the first one begins.

use std::collections::{BTreeMap, HashSet};
use std::time::Duration;

use coreach_adapters::behaviour::{Samples, TOLERANCE, Within};
use coreach_analyses::solver::Solver;
use coreach_artifact::Document;
use coreach_model::codec;
use coreach_model::semantics::State;
use coreach_model::term::evaluate::Valuation;
use serde_json::{Map, Value as Json, json};

use crate::campaign::key::Key;
use crate::campaign::left_out::LeftOut;
use crate::constants::{ConstantsError, initial_state};
use crate::settings::Settings;
use crate::strategy::Strategy;
use crate::test_case::{DocumentError, TestCase};

#[derive(Clone, Debug)]
pub struct Test {
    pub name: String,
    /// The hash of the document, without the version of the program that made it and without its sources.
    pub hash: Key,
    /// The document (`docs/reference/json.md`), in one line.
    pub document: String,
    pub case: TestCase,
}

impl Test {
    pub fn new(bytes: &[u8]) -> Result<Self, DocumentError> {
        let case = TestCase::from_json(bytes)?;
        let json = serde_json::from_slice(bytes).map_err(|error| DocumentError::NoJson(error.to_string()))?;
        Ok(Test::with_document(case, json))
    }

    pub fn from_document(document: &Document) -> Result<Self, DocumentError> {
        let case = TestCase::from_document(document)?;
        let json =
            serde_json::to_value(document).map_err(|error| DocumentError::NoJson(error.to_string()))?;
        Ok(Test::with_document(case, json))
    }

    fn with_document(case: TestCase, mut document: Json) -> Self {
        let (name, text) = (case.iosts.name.clone(), document.to_string());
        if let Some(object) = document.as_object_mut() {
            // The program that made it does not count: the keys in a store stay valid.
            object.shift_remove("generator");
            object.shift_remove("made_of");
        }
        Test { name, hash: Key::of(&document.to_string()), document: text, case }
    }
}

/// An implementation of a campaign, as far as a store knows it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StoredIut {
    pub name: String,
    pub hash: Key,
    /// The description from which it is started again, with a model's text; no secrets, no local folder.
    pub description: String,
    /// The file that it was read from, for people and for relative paths. It is not in the hash.
    pub file: String,
}

impl StoredIut {
    pub fn new(name: String, description: String, file: String) -> Self {
        StoredIut { hash: Key::of(&description), name, description, file }
    }
}

coreach_model::words! {
    /// The strategies that need nobody at the keyboard.
    #[derive(Default)]
    pub enum StrategyKind {
        #[default]
        Random = "random",
        /// The least used transition first; within one run, since a run must not depend on those before it.
        Coverage = "coverage",
        Plan = "plan",
    }
}

impl StrategyKind {
    pub fn start(self) -> Strategy<'static> {
        match self {
            StrategyKind::Random => Strategy::random(),
            StrategyKind::Coverage => Strategy::Coverage(std::collections::HashMap::new()),
            StrategyKind::Plan => Strategy::plan(),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct RunSettings {
    pub strategy: StrategyKind,
    pub limits: Settings,
}

/// The longest time of a setting, in milliseconds: a week. Sums with the clock must not overflow.
pub const LONGEST: u64 = 7 * 24 * 3600 * 1000;

impl RunSettings {
    /// Writes the settings as a document for keys and stores. Times are in milliseconds.
    pub fn to_json(&self) -> Json {
        let milliseconds = |time: Duration| u64::try_from(time.as_millis()).unwrap_or(u64::MAX);
        let quiescence_at = self.limits.quiescence_at.iter();
        let quiescence_at: BTreeMap<&String, u64> =
            quiescence_at.map(|(name, time)| (name, milliseconds(*time))).collect();
        json!({
            "strategy": self.strategy.name(),
            "quiescence_ms": milliseconds(self.limits.quiescence),
            "quiescence_at": quiescence_at,
            "patience_ms": milliseconds(self.limits.patience),
            "steps": self.limits.steps,
            "run_ms": milliseconds(self.limits.time),
        })
    }

    /// Reads a document of [`RunSettings::to_json`], for a replay with these settings. `None` for others.
    pub fn from_json(json: &Json) -> Option<Self> {
        let number = |key: &str| json.get(key).and_then(Json::as_u64);
        let milliseconds = |time: u64| (time <= LONGEST).then(|| Duration::from_millis(time));
        let time = |key: &str| number(key).and_then(milliseconds);
        let name = json.get("strategy").and_then(Json::as_str)?;
        let at = json.get("quiescence_at").and_then(Json::as_object)?;
        let at = at.iter().map(|(name, time)| Some((name.clone(), milliseconds(time.as_u64()?)?)));
        Some(RunSettings {
            strategy: StrategyKind::named(name)?,
            limits: Settings {
                quiescence: time("quiescence_ms")?,
                quiescence_at: at.collect::<Option<_>>()?,
                // The settings below with a default are those of each implementation.
                within: Within::default(),
                described_delay: Duration::ZERO,
                patience: time("patience_ms")?,
                steps: usize::try_from(number("steps")?).ok()?,
                time: time("run_ms")?,
                tolerance: TOLERANCE,
                samples: Samples::new(),
                sample_programs: Default::default(),
                weights: Default::default(),
            },
        })
    }
}

/// A test case with its constants fixed.
#[derive(Clone, Debug)]
pub struct Instance {
    /// The constants' values by name, in the order of the test case.
    pub constants: Map<String, Json>,
    pub state: State,
}

impl Instance {
    /// Makes an instance with these constants. Missing ones are solved for, with the seed.
    pub fn with_constants(
        test: &TestCase,
        given: &Valuation,
        seed: u64,
        solver: &mut dyn Solver,
    ) -> Result<Self, ConstantsError> {
        let state = initial_state(test, given, seed, solver)?;
        let value = |datum: &coreach_model::Datum| {
            Some((datum.name().to_owned(), codec::to_json(state.valuation.get(datum)?)))
        };
        Ok(Instance { constants: test.iosts.constants.iter().filter_map(value).collect(), state })
    }

    /// Makes so many different instances, solved for with the seeds 0, 1, ...; fewer if no more are found.
    /// Errors: as [`Instance::with_constants`], if not even one is found.
    pub fn solved(
        test: &TestCase,
        count: usize,
        solver: &mut dyn Solver,
    ) -> Result<Vec<Self>, ConstantsError> {
        let mut instances: Vec<Instance> = Vec::new();
        let mut undecided = None;
        // There may be fewer than `count` instances, so the number of draws is limited.
        for seed in 0..(count as u64).saturating_mul(8) {
            match Instance::with_constants(test, &Valuation::new(), seed, solver) {
                Ok(instance) if instances.iter().all(|known| known.constants != instance.constants) => {
                    instances.push(instance);
                }
                Ok(_) => {}
                Err(error @ ConstantsError::SolverUndecided(_)) => undecided = Some(error),
                Err(error) => return Err(error),
            }
            // Without constants there is one instance.
            if instances.len() == count || test.iosts.constants.is_empty() {
                break;
            }
        }
        match undecided {
            Some(error) if instances.is_empty() => Err(error),
            _ => Ok(instances),
        }
    }
}

/// One run to do: positions in the plan's lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlannedRun {
    pub key: Key,
    /// The position in [`CampaignPlan::tests`].
    pub test: usize,
    /// The position in this test's [`CampaignPlan::instances`].
    pub instance: usize,
    pub seed: u64,
    /// The position in [`CampaignPlan::iuts`].
    pub iut: usize,
}

#[derive(Clone, Debug)]
pub struct CampaignPlan {
    pub campaign: String,
    pub tests: Vec<Test>,
    /// For each test case: its instances, with their constants fixed.
    pub instances: Vec<Vec<Instance>>,
    pub iuts: Vec<StoredIut>,
    pub settings: RunSettings,
    /// The runs, each key once.
    pub runs: Vec<PlannedRun>,
    /// The test cases that were asked for and have no runs.
    pub left_out: Vec<LeftOut>,
}

impl CampaignPlan {
    /// Lists the runs: by test, then implementation, then constants, then seed. A run that is listed twice,
    /// because a seed or a constant is, is one run.
    pub fn new(
        campaign: String,
        tests: Vec<(Test, Vec<Instance>)>,
        iuts: Vec<StoredIut>,
        seeds: &[u64],
        settings: RunSettings,
        partition: super::Partition,
    ) -> Self {
        let (tests, instances): (Vec<Test>, Vec<Vec<Instance>>) = tests.into_iter().unzip();
        let settings_document = settings.to_json();
        let mut seen = HashSet::new();
        let mut runs = Vec::new();
        for (test, case) in tests.iter().enumerate() {
            for (iut, implementation) in iuts.iter().enumerate() {
                for (instance, with_constants) in instances[test].iter().enumerate() {
                    for &seed in seeds {
                        let key = run_key(case, with_constants, seed, implementation, &settings_document);
                        if partition.takes(&key) && seen.insert(key) {
                            runs.push(PlannedRun { key, test, instance, seed, iut });
                        }
                    }
                }
            }
        }
        CampaignPlan { campaign, tests, instances, iuts, settings, runs, left_out: Vec::new() }
    }

    pub fn constants(&self, run: &PlannedRun) -> &Map<String, Json> {
        &self.instances[run.test][run.instance].constants
    }
}

/// Computes the key of a run. `coreach_run` is the version of its form.
fn run_key(test: &Test, instance: &Instance, seed: u64, iut: &StoredIut, settings: &Json) -> Key {
    let identity = json!({
        "coreach_run": 1,
        "test": test.hash.to_string(),
        "constants": instance.constants,
        "seed": seed,
        "iut": iut.hash.to_string(),
        "settings": settings,
    });
    Key::of(&identity.to_string())
}
