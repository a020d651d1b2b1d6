//! The page's data: one JSON document, which its scripts read and nothing else. `docs/page.schema.json` is
//! its schema.
//!
//! What repeats is written once and named by its place in a list: files, types, terms, expressions. Terms
//! share their parts, so a guard whose text would fill a disk is a few nodes here.

use coreach_artifact::terms::TermNode;
use coreach_execution::bucket::Bucket;
use coreach_execution::explain::Reason;
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// The version of the format: raised when a reader could stumble, not when a key is added.
pub const FORMAT_VERSION: u32 = 2;

#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageDocument {
    /// `coreach-page`
    pub format: &'static str,
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    pub version: &'static str,
    pub title: String,
    /// What was left out, and how it is had.
    pub notes: Vec<String>,
    pub files: Vec<PageFile>,
    pub types: Vec<Json>,
    /// Nodes of terms; each names only nodes before it.
    pub terms: Vec<TermNode>,
    /// For each of them, the number of the type of its value.
    pub sorts: Vec<usize>,
    pub expressions: Vec<PageExpression>,
    pub graphs: Vec<PageGraph>,
    /// What each domain made of each purpose.
    pub domains: Vec<PageDomain>,
    pub runs: Vec<PageRun>,
    /// The document of `coreach coverage`, where runs were counted.
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
    /// As it is written in models; of a huge one, how large it is.
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
    /// What it is: the name of a stage's artifact, `specification`, `test_purpose` or `online_test`.
    pub stage: &'static str,
    /// Are signs those of the tester's side?
    pub is_testers_side: bool,
    pub constants: Vec<Data>,
    pub variables: Vec<Data>,
    pub actions: Vec<PageAction>,
    pub initial: usize,
    pub condition: usize,
    /// A state in which it may begin.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub start: Map<String, Json>,
    /// What is said once for many transitions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub said_once: Option<String>,
    /// Where every output leads that has no transition at a location without a verdict.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub others_fail: Option<usize>,
    /// Can the purpose be reached, as far as the analysis can tell?
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reachable: Option<bool>,
    /// What the domain could not express.
    pub imprecisions: Vec<String>,
    /// Width and height of the picture; none where it is too large to be drawn.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<PageAt>,
    pub locations: Vec<PageLocation>,
    pub transitions: Vec<PageTransition>,
    pub arrows: Vec<PageArrow>,
    /// What stands in locations, or beside them.
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
    /// The expression that says with which data the specification is never silent there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub must_answer: Option<usize>,
    /// The expression of reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reach: Option<usize>,
    /// The expression of coreach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coreach: Option<usize>,
    /// The middle of its box; none where it is not drawn, but said beside the locations that lead to it.
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
    /// The expression of its guard; none where it is `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<usize>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<PageAssignment>,
    /// Where it comes from in the user's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<PageOrigin>,
}

#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageArrow {
    /// The transitions that it stands for: all between its two locations.
    pub transitions: Vec<usize>,
    /// What is written, shortened.
    pub lines: Vec<String>,
    pub points: Vec<PageAt>,
    /// Which of the points is the label's middle.
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

/// Transitions that are said in their location (`loop`), or beside it.
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
    /// Why it was stopped, or is out of reach.
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
    /// Where it is kept, and which it is there; an example that no implementation has run has none.
    pub name: String,
    pub test: String,
    /// The implementation, where a store says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iut: Option<String>,
    pub verdict: String,
    /// Why, as a word.
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
    /// When it began, where a store says it.
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
