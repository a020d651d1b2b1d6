//! Makes documents for programs of the results of `coreach mutate` and `coreach campaign`.
//!
//! Each document has a JSON Schema in `docs/`. `tests/tests/schemas` makes one of each with every field, so
//! that a field that is missing in the schema is noticed.

use coreach_execution::Bucket;
use coreach_execution::campaign::summary::Summary;
use coreach_execution::mutation::{MutantResult as Judged, MutantStatus, TextEdit};
use coreach_model::Iosts;
use serde::Serialize;
use serde_json::Value;

/// The version of `coreach campaign`'s format. Version 1 had `told`, the first failed runs, for `buckets`.
pub const CAMPAIGN_FORMAT_VERSION: u32 = 2;

/// The result of running a suite on mutants of its specification.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MutationSummary<'a> {
    pub format_version: u32,
    pub exit_code: u8,
    pub specification: String,
    /// The number of mutants that the suite found.
    pub killed: usize,
    /// The number of mutants that are wrong, and that the suite did not find.
    pub survived: usize,
    /// The number of mutants that showed no difference.
    pub equivalent_up_to_bound: usize,
    /// The number of mutants that could not be judged.
    pub broken: usize,
    /// The changes of those mutants that the budget has left open.
    pub open: &'a [String],
    /// The kinds of failures, the most frequent first.
    pub buckets: Vec<KilledSummary>,
    pub mutants: Vec<MutantSummary<'a>>,
    pub transitions: Vec<TransitionSummary>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MutantSummary<'a> {
    /// The number of the mutant, counted from 1. `coreach mutate --write` takes it.
    pub number: usize,
    /// The operator that made it.
    pub operator: &'a str,
    pub change: String,
    /// Its differences, as edits of the specification.
    pub edits: Vec<EditSummary>,
    /// [`MutantStatus::name`]
    pub fate: &'static str,
    /// The test case that killed it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed_by: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Its kind of failure: [`Bucket::id`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<String>,
    /// Events that show the difference of a mutant that survived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
    /// How often the suite took the changed transition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visits: Option<usize>,
}

/// A text of the specification, and the text of a mutant in its place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct EditSummary {
    /// The file. An addition has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file: Option<String>,
    /// The line in it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// Empty for an addition.
    pub old: String,
    /// Empty for a removal.
    pub new: String,
}

/// A kind of failure, with all mutants that were killed by it.
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

/// The results of mutants, and the suite that ran on them.
#[derive(Clone, Debug)]
pub struct Mutants {
    pub specification: String,
    pub tests: Vec<String>,
    /// The number of walks that compare a mutant with the specification, if no run killed it.
    pub walks: u64,
    /// The number of events of such a walk.
    pub depth: usize,
    /// How often the suite takes each transition when it runs on the specification itself.
    pub transitions: Vec<TransitionSummary>,
    pub judged: Vec<Judged>,
}

/// How often the suite took a transition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TransitionSummary {
    pub transition: String,
    pub visits: usize,
}

/// Counts the visits of each transition of a specification.
pub fn summarize_transitions(specification: &Iosts, visits: &[usize]) -> Vec<TransitionSummary> {
    let all = specification.transitions.iter().zip(visits);
    all.map(|(transition, visits)| TransitionSummary {
        transition: specification.describe(transition),
        visits: *visits,
    })
    .collect()
}

/// Groups the killed mutants by their kind of failure, the most frequent first.
pub fn group_killed(mutants: &Mutants) -> Vec<KilledSummary> {
    let mut found: Vec<KilledSummary> = Vec::new();
    for judged in &mutants.judged {
        let MutantStatus::Killed { test, seed, bucket, events } = &judged.fate else { continue };
        let change = &judged.mutant.change;
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

/// Makes the document of `coreach mutate`. `open` are the mutants without a result.
pub fn summarize_mutation<'a>(
    mutants: &'a Mutants,
    open: &'a [String],
    exit_code: u8,
) -> MutationSummary<'a> {
    let count = |wanted: &str| mutants.judged.iter().filter(|judged| judged.fate.name() == wanted).count();
    MutationSummary {
        // Only a change that old readers do not understand raises it.
        format_version: 1,
        exit_code,
        specification: mutants.specification.clone(),
        killed: count("killed"),
        survived: count("survived"),
        equivalent_up_to_bound: count("equivalent"),
        broken: count("broken"),
        open,
        buckets: group_killed(mutants),
        mutants: mutants.judged.iter().map(|judged| summarize_mutant(mutants, judged)).collect(),
        transitions: mutants.transitions.clone(),
    }
}

/// Summarizes one mutant. Only a killed mutant has a test, a seed and a bucket, and only a survivor a trace.
fn summarize_mutant<'a>(mutants: &Mutants, judged: &'a Judged) -> MutantSummary<'a> {
    let Judged { mutant, fate, visits, edits, number } = judged;
    let edit = |edit: &TextEdit| {
        let (file, line) = edit.place.clone().unzip();
        EditSummary { file, line, old: edit.old.clone(), new: edit.new.clone() }
    };
    let edits = edits.iter().map(edit).collect();
    let (killed_by, seed, bucket) = match fate {
        MutantStatus::Killed { test, seed, bucket, .. } => {
            (mutants.tests.get(*test).cloned(), Some(*seed), Some(bucket.id()))
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
    /// The number of runs that this process did. The store has all other runs from before.
    pub executed: usize,
    /// Warnings, as [`crate::render::to_json`] writes them.
    pub diagnostics: Value,
    #[serde(flatten)]
    pub summary: &'a Summary,
}
