//! What `coreach mutate` and `coreach campaign` found, as documents for programs.
//!
//! Each has a JSON Schema in `docs/`. `tests/tests/schemas` makes one of each with every field, so that a
//! field that is new here and not there is noticed.

use coreach_execution::Bucket;
use coreach_execution::campaign::summary::Summary;
use coreach_execution::mutation::{MutantStatus, Result as Judged};
use coreach_model::Iosts;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::shards::Shard;

/// The version of the first format: raised when a reader could stumble, not when a key is added.
pub const FORMAT_VERSION: u32 = 1;

/// The same of the second one. Version 1 had `told`, the first runs that failed, where this one has
/// `buckets`.
pub const CAMPAIGN_FORMAT_VERSION: u32 = 2;

/// What a suite found in mutants of its specification.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MutationSummary<'a> {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The process's.
    pub exit_code: u8,
    /// Its name.
    pub specification: String,
    /// So many were found wrong.
    pub killed: usize,
    /// So many are wrong, and were not found.
    pub survived: usize,
    /// So many showed nothing wrong.
    pub equivalent_up_to_bound: usize,
    /// So many could not be judged.
    pub broken: usize,
    /// What is other in those that the budget has left open.
    pub open: &'a [String],
    /// Each thing that failed, the most frequent first.
    pub buckets: Vec<KilledSummary>,
    /// Each of them.
    pub mutants: Vec<MutantSummary<'a>>,
    /// Each transition of the specification.
    pub transitions: Vec<TransitionSummary>,
}

/// What became of one mutant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MutantSummary<'a> {
    /// How it was made.
    pub operator: &'a str,
    /// What is other in it.
    pub change: String,
    /// [`KeptFate::name`]
    pub fate: &'static str,
    /// The test case that killed it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed_by: Option<String>,
    /// Of that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// What failed in it: [`Bucket::id`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<String>,
    /// Events that show the difference, of one that survived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
    /// How often the suite came through the changed transition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visits: Option<usize>,
}

/// What failed, once, with all mutants that were killed by it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KilledSummary {
    /// [`Bucket::id`]
    pub id: String,
    /// What.
    pub bucket: Bucket,
    /// How many mutants.
    pub count: usize,
    /// What is other in them.
    pub mutants: Vec<String>,
    /// The shortest of these runs.
    pub shortest: ShortestSummary,
}

/// A run that killed a mutant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ShortestSummary {
    /// What is other in the mutant.
    pub mutant: String,
    /// The test case.
    pub test: String,
    /// Its seed.
    pub seed: u64,
    /// How many events it had.
    pub events: usize,
}

/// What became of mutants, of all or of those of one part.
pub type Mutants = Shard<Suite, KeptMutant>;

/// What is alike for all mutants: the suite, and what it does on the specification itself.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Suite {
    /// The specification's name.
    pub specification: String,
    /// The names of the test cases.
    pub tests: Vec<String>,
    /// Walks beside the specification, for a mutant that no run killed.
    pub walks: u64,
    /// Events of such a walk.
    pub depth: usize,
    /// Each transition of the specification.
    pub transitions: Vec<TransitionSummary>,
    /// The process's exit code, where all mutants have their result.
    pub exit_code: u8,
}

/// A mutant and what became of it, as it is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct KeptMutant {
    /// How it was made.
    pub operator: String,
    /// What is other in it.
    pub change: String,
    /// What became of it.
    pub fate: KeptFate,
    /// How often the suite came through the changed transition.
    pub visits: Option<usize>,
}

/// [`MutantStatus`], as it is kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[expect(missing_docs, reason = "as in `MutantStatus`")]
pub enum KeptFate {
    Killed { test: usize, seed: u64, bucket: Bucket, events: usize },
    Survived { trace: Vec<String> },
    Equivalent,
    Broken(String),
}

impl KeptMutant {
    /// What is kept of a mutant.
    pub fn new(result: &Judged) -> Self {
        let fate = match &result.fate {
            MutantStatus::Killed { test, seed, bucket, events } => {
                KeptFate::Killed { test: *test, seed: *seed, bucket: bucket.clone(), events: *events }
            }
            MutantStatus::Survived { trace } => {
                KeptFate::Survived { trace: trace.iter().map(ToString::to_string).collect() }
            }
            MutantStatus::Equivalent => KeptFate::Equivalent,
            MutantStatus::Broken(why) => KeptFate::Broken(why.clone()),
        };
        let (operator, change) = (result.mutant.operator.name().to_owned(), result.mutant.change.clone());
        KeptMutant { operator, change, fate, visits: result.visits }
    }
}

impl KeptFate {
    /// As a word.
    pub fn name(&self) -> &'static str {
        match self {
            KeptFate::Killed { .. } => "killed",
            KeptFate::Survived { .. } => "survived",
            KeptFate::Equivalent => "equivalent",
            KeptFate::Broken(_) => "broken",
        }
    }
}

/// How often the suite came through a transition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TransitionSummary {
    /// In words.
    pub transition: String,
    /// How often.
    pub visits: usize,
}

/// The transitions of a specification, each with how often it was visited.
pub fn transitions(specification: &Iosts, visits: &[usize]) -> Vec<TransitionSummary> {
    let all = specification.transitions.iter().zip(visits);
    all.map(|(transition, visits)| TransitionSummary {
        transition: specification.describe(transition),
        visits: *visits,
    })
    .collect()
}

/// What killed mutants, the most frequent first.
pub fn killed(mutants: &Mutants) -> Vec<KilledSummary> {
    let mut found: Vec<KilledSummary> = Vec::new();
    for mutant in mutants.items.values() {
        let KeptFate::Killed { test, seed, bucket, events } = &mutant.fate else { continue };
        let change = &mutant.change;
        let test = mutants.whole.tests.get(*test).cloned().unwrap_or_default();
        let run = ShortestSummary { mutant: change.clone(), test, seed: *seed, events: *events };
        match found.iter_mut().find(|known| known.bucket == *bucket) {
            Some(known) => {
                known.count += 1;
                known.mutants.push(change.clone());
                if run.events < known.shortest.events {
                    known.shortest = run;
                }
            }
            None => found.push(KilledSummary {
                id: bucket.id(),
                bucket: bucket.clone(),
                count: 1,
                mutants: vec![change.clone()],
                shortest: run,
            }),
        }
    }
    found.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.bucket.cmp(&b.bucket)));
    found
}

/// The document of `coreach mutate`; `open` are the mutants without a result.
pub fn mutation<'a>(mutants: &'a Mutants, open: &'a [String], exit_code: u8) -> MutationSummary<'a> {
    let suite = &mutants.whole;
    let count = |wanted: &str| mutants.items.values().filter(|mutant| mutant.fate.name() == wanted).count();
    MutationSummary {
        format_version: FORMAT_VERSION,
        exit_code,
        specification: suite.specification.clone(),
        killed: count("killed"),
        survived: count("survived"),
        equivalent_up_to_bound: count("equivalent"),
        broken: count("broken"),
        open,
        buckets: killed(mutants),
        mutants: mutants.items.values().map(|mutant| summary(suite, mutant)).collect(),
        transitions: suite.transitions.clone(),
    }
}

fn summary<'a>(suite: &Suite, mutant: &'a KeptMutant) -> MutantSummary<'a> {
    let KeptMutant { operator, change, fate, visits } = mutant;
    let (killed_by, seed, bucket) = match fate {
        KeptFate::Killed { test, seed, bucket, .. } => {
            (suite.tests.get(*test).cloned(), Some(*seed), Some(bucket.id()))
        }
        _ => (None, None, None),
    };
    let trace = match fate {
        KeptFate::Survived { trace } => trace.clone(),
        _ => Vec::new(),
    };
    let (change, visits) = (change.clone(), *visits);
    MutantSummary { operator, change, fate: fate.name(), killed_by, seed, bucket, trace, visits }
}

/// What came of a campaign, and of this call of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CampaignSummary<'a> {
    /// [`CAMPAIGN_FORMAT_VERSION`].
    pub format_version: u32,
    /// The process's.
    pub exit_code: u8,
    /// The store's file.
    pub store: String,
    /// The part that was asked for.
    pub partition: String,
    /// The runs that this process did; the others were there.
    pub executed: usize,
    /// Warnings, as [`crate::render::to_json`] writes them.
    pub diagnostics: Value,
    /// Of the store.
    #[serde(flatten)]
    pub summary: &'a Summary,
}
