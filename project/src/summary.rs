//! What `coreach mutate` and `coreach campaign` found, as documents for programs.
//!
//! Each has a JSON Schema in `docs/`. `tests/tests/schemas` makes one of each with every field, so that a field that is new
//! here and not there is noticed.

use coreach_execution::campaign::summary::Summary;
use coreach_execution::mutation::{Fate, Result as Judged};
use coreach_model::Iosts;
use serde::Serialize;
use serde_json::Value;

/// The version of both formats: raised when a reader could stumble, not when a key is added.
pub const FORMAT_VERSION: u32 = 1;

/// What a suite found in mutants of its specification.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MutationSummary {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
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
    /// Each of them.
    pub mutants: Vec<MutantSummary>,
    /// Each transition of the specification.
    pub transitions: Vec<TransitionSummary>,
}

/// What became of one mutant.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct MutantSummary {
    /// How it was made.
    pub operator: &'static str,
    /// What is other in it.
    pub change: String,
    /// [`fate_name`]
    pub fate: &'static str,
    /// The test case that killed it first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub killed_by: Option<String>,
    /// Of that run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Events that show the difference, of one that survived.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trace: Vec<String>,
    /// How often the suite came through the changed transition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visits: Option<usize>,
}

/// How often the suite came through a transition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct TransitionSummary {
    /// In words.
    pub transition: String,
    /// How often.
    pub visits: usize,
}

/// The document of `coreach mutate`; `names` are those of the test cases.
pub fn mutation(
    specification: &Iosts,
    names: &[String],
    results: &[Judged],
    visits: &[usize],
) -> MutationSummary {
    let count = |wanted: &str| results.iter().filter(|result| fate_name(&result.fate) == wanted).count();
    let mutant = |result: &Judged| {
        let (killed_by, seed) = match &result.fate {
            Fate::Killed { test, seed } => (names.get(*test).cloned(), Some(*seed)),
            _ => (None, None),
        };
        let trace = match &result.fate {
            Fate::Survived { trace } => trace.iter().map(ToString::to_string).collect(),
            _ => Vec::new(),
        };
        MutantSummary {
            operator: result.mutant.operator.name(),
            change: result.mutant.change.clone(),
            fate: fate_name(&result.fate),
            killed_by,
            seed,
            trace,
            visits: result.visits,
        }
    };
    let transitions = specification.transitions.iter().zip(visits).map(|(transition, visits)| {
        TransitionSummary { transition: specification.describe(transition), visits: *visits }
    });
    MutationSummary {
        format_version: FORMAT_VERSION,
        specification: specification.name.clone(),
        killed: count("killed"),
        survived: count("survived"),
        equivalent_up_to_bound: count("equivalent"),
        broken: count("broken"),
        mutants: results.iter().map(mutant).collect(),
        transitions: transitions.collect(),
    }
}

/// What became of a mutant, as a word.
pub fn fate_name(fate: &Fate) -> &'static str {
    match fate {
        Fate::Killed { .. } => "killed",
        Fate::Survived { .. } => "survived",
        Fate::Equivalent => "equivalent",
        Fate::Broken(_) => "broken",
    }
}

/// What came of a campaign, and of this call of it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct CampaignSummary<'a> {
    /// [`FORMAT_VERSION`].
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
