//! The page's data: one JSON document for its scripts. `docs/page.schema.json` is its schema.
//!
//! Files, types, terms and expressions are written once in lists, and referred to by their places there.
//! Terms share their parts, so a guard whose text would fill a disk is a few nodes here.

use coreach_artifact::terms::TermNode;
use coreach_execution::bucket::Bucket;
use coreach_execution::explain::Reason;
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// The version of the format. Only a change that old readers do not understand raises it.
pub const FORMAT_VERSION: u32 = 2;

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageDocument {
    /// `coreach-page`
    pub format: &'static str,
    pub format_version: u32,
    pub version: &'static str,
    pub title: String,
    /// Remarks about parts that were left out, and how to get them.
    pub notes: Vec<String>,
    pub files: Vec<PageFile>,
    pub types: Vec<Json>,
    /// Nodes of terms. Each refers only to nodes before it.
    pub terms: Vec<TermNode>,
    /// For each node, the number of the type of its value.
    pub sorts: Vec<usize>,
    pub expressions: Vec<PageExpression>,
    pub graphs: Vec<PageGraph>,
    /// The result of each domain for each purpose.
    pub domains: Vec<PageDomain>,
    pub runs: Vec<PageRun>,
    /// The document of `coreach coverage`, if runs were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Json>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageFile {
    pub name: String,
    pub text: String,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageExpression {
    /// The text as in models. For a huge expression, a remark about its size.
    pub text: String,
    pub term: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Data {
    pub name: String,
    #[serde(rename = "type")]
    pub ty: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageAction {
    pub name: String,
    /// `input`, `output`, `quiescence` or `internal`, seen from the implementation.
    pub kind: &'static str,
    pub sign: &'static str,
    pub parameters: Vec<Data>,
}

pub type PageAt = [i64; 2];

/// A graph, laid out.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageGraph {
    pub name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<&'static str>,
    /// The graph's kind: a stage's artifact, `specification`, `test_purpose` or `online_test`.
    pub stage: &'static str,
    /// Are the signs of actions seen from the tester's side?
    pub is_testers_side: bool,
    pub constants: Vec<Data>,
    pub variables: Vec<Data>,
    pub actions: Vec<PageAction>,
    pub initial: usize,
    pub condition: usize,
    /// A state in which it may begin.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub start: Map<String, Json>,
    /// A sentence that stands for many transitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said_once: Option<String>,
    /// The target of every output that has no transition at a location without a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_fail: Option<usize>,
    /// Can the purpose be reached, as far as the analysis can tell?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable: Option<bool>,
    /// Facts that the domain could not express.
    pub imprecisions: Vec<String>,
    /// Width and height of the picture. `None`, if the graph is too large to be drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<PageAt>,
    pub locations: Vec<PageLocation>,
    pub transitions: Vec<PageTransition>,
    pub arrows: Vec<PageArrow>,
    /// Texts in locations, or next to them.
    pub asides: Vec<PageAside>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageLocation {
    pub name: String,
    pub label: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// `accept`, `reject`, or a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mark: Option<&'static str>,
    /// The expression of the data with which the specification is never silent there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub must_answer: Option<usize>,
    /// The expression of reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<usize>,
    /// The expression of coreach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coreach: Option<usize>,
    /// The middle of its box. `None`, if it is not drawn, but named next to the locations that lead to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<PageAt>,
    /// Width and height of its box.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<PageAt>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageTransition {
    pub source: usize,
    pub target: usize,
    pub action: usize,
    /// The expression of its guard. `None`, if it is `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<PageAssignment>,
    /// Its place in the user's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<PageOrigin>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageArrow {
    /// All transitions between its two locations.
    pub transitions: Vec<usize>,
    /// Its label, shortened.
    pub lines: Vec<String>,
    pub points: Vec<PageAt>,
    /// The number of the point that is the label's middle.
    pub label: usize,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageAssignment {
    pub variable: String,
    pub value: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct PageOrigin {
    pub file: usize,
    /// The first line, counted from 1.
    pub line: usize,
    pub last: usize,
}

/// Transitions that are written in their location (`loop`), or next to it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageAside {
    pub location: usize,
    /// `loop`, `far` or `verdict`.
    pub kind: &'static str,
    pub target: usize,
    pub transitions: Vec<usize>,
    pub lines: Vec<String>,
    pub at: PageAt,
    /// Width and height of its box.
    pub size: PageAt,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageDomain {
    pub purpose: String,
    pub domain: &'static str,
    /// `made`, `unreachable` or `stopped`.
    pub result: &'static str,
    /// Why it was stopped, or is unreachable.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub stages: Vec<Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pruned: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strengthened: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<u64>,
}

#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct PageRun {
    /// The file or store that keeps it, with its number there, or a name for an example.
    pub name: String,
    pub test: String,
    /// The implementation, if a store has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iut: Option<String>,
    pub verdict: String,
    /// The cause of the verdict as a word.
    pub cause: String,
    pub reason: Reason,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<Bucket>,
    pub constants: Map<String, Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    pub events: usize,
    /// The time when it began, if a store has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<PageWalk>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageWalk {
    pub graph: usize,
    pub start: Map<String, Json>,
    pub steps: Vec<PageStep>,
}

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageStep {
    /// `stimulus`, `observation`, `silence` or `delay`.
    pub direction: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Json>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<usize>,
    /// Milliseconds since the run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<f64>,
}
