//! What `coreach mutate` and `coreach campaign` found, as documents for programs.
//!
//! Each has a JSON Schema in `docs/`. `tests/tests/schemas` makes one of each with every field, so that a
//! field that is new here and not there is noticed.

use coreach_execution::Bucket;
use coreach_execution::campaign::summary::Summary;
use coreach_execution::mutation::{MutantResult as Judged, MutantStatus, TextEdit};
use coreach_model::Iosts;
use serde::Serialize;
use serde_json::Value;

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
    pub exit_code: u8,
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
    pub mutants: Vec<MutantSummary<'a>>,
    pub transitions: Vec<TransitionSummary>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MutantSummary<'a> {
    /// Which one it is, from 1: `coreach mutate --write` writes it.
    pub number: usize,
    /// How it was made.
    pub operator: &'a str,
    pub change: String,
    /// Where it differs, as edits of the specification.
    pub edits: Vec<EditSummary>,
    /// [`MutantStatus::name`]
    pub fate: &'static str,
    /// The test case that killed it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed_by: Option<String>,
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

/// A text of the specification, and what stands there in a mutant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct EditSummary {
    /// The file; none where something was added.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Empty where something was added.
    pub old: String,
    /// Empty where something was taken away.
    pub new: String,
}

/// What failed, once, with all mutants that were killed by it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct KilledSummary {
    /// [`Bucket::id`]
    pub id: String,
    pub bucket: Bucket,
    pub count: usize,
    pub mutants: Vec<String>,
    pub shortest: ShortestSummary,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct ShortestSummary {
    pub mutant: String,
    pub test: String,
    pub seed: u64,
    pub events: usize,
}

/// What became of mutants, and the suite that met them.
#[derive(Clone, Debug)]
pub struct Mutants {
    pub specification: String,
    pub tests: Vec<String>,
    /// Walks beside the specification, for a mutant that no run killed.
    pub walks: u64,
    /// Events of such a walk.
    pub depth: usize,
    /// Each transition of the specification, with what the suite does on the specification itself.
    pub transitions: Vec<TransitionSummary>,
    pub judged: Vec<Judged>,
}

/// How often the suite came through a transition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TransitionSummary {
    pub transition: String,
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
    for one in &mutants.judged {
        let MutantStatus::Killed { test, seed, bucket, events } = &one.fate else { continue };
        let change = &one.mutant.change;
        let test = mutants.tests.get(*test).cloned().unwrap_or_default();
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
    let count = |wanted: &str| mutants.judged.iter().filter(|one| one.fate.name() == wanted).count();
    MutationSummary {
        format_version: FORMAT_VERSION,
        exit_code,
        specification: mutants.specification.clone(),
        killed: count("killed"),
        survived: count("survived"),
        equivalent_up_to_bound: count("equivalent"),
        broken: count("broken"),
        open,
        buckets: killed(mutants),
        mutants: mutants.judged.iter().map(|one| summary(mutants, one)).collect(),
        transitions: mutants.transitions.clone(),
    }
}

fn summary<'a>(all: &Mutants, one: &'a Judged) -> MutantSummary<'a> {
    let Judged { mutant, fate, visits, edits, number } = one;
    let edit = |one: &TextEdit| {
        let (file, line) = one.place.clone().unzip();
        EditSummary { file, line, old: one.old.clone(), new: one.new.clone() }
    };
    let edits = edits.iter().map(edit).collect();
    let (killed_by, seed, bucket) = match fate {
        MutantStatus::Killed { test, seed, bucket, .. } => {
            (all.tests.get(*test).cloned(), Some(*seed), Some(bucket.id()))
        }
        _ => (None, None, None),
    };
    let trace = match fate {
        MutantStatus::Survived { trace } => trace.iter().map(ToString::to_string).collect(),
        _ => Vec::new(),
    };
    let (operator, change, visits) = (mutant.operator.name(), mutant.change.clone(), *visits);
    let (fate, number) = (fate.name(), *number);
    MutantSummary { number, operator, change, edits, fate, killed_by, seed, bucket, trace, visits }
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CampaignSummary<'a> {
    /// [`CAMPAIGN_FORMAT_VERSION`].
    pub format_version: u32,
    pub exit_code: u8,
    pub store: String,
    /// The part that was asked for.
    pub partition: String,
    /// The runs that this process did; the others were there.
    pub executed: usize,
    /// Warnings, as [`crate::render::to_json`] writes them.
    pub diagnostics: Value,
    #[serde(flatten)]
    pub summary: &'a Summary,
}
