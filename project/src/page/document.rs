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

/// All that a page shows.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageDocument {
    /// `coreach-page`
    pub format: &'static str,
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The version of the program that made it.
    pub version: &'static str,
    /// What it is about.
    pub title: String,
    /// What was left out, and how it is had.
    pub notes: Vec<String>,
    /// The user's files.
    pub files: Vec<PageFile>,
    /// Types.
    pub types: Vec<Json>,
    /// Nodes of terms; each names only nodes before it.
    pub terms: Vec<TermNode>,
    /// For each of them, the number of the type of its value.
    pub sorts: Vec<usize>,
    /// Terms that are shown.
    pub expressions: Vec<PageExpression>,
    /// Models and results of stages.
    pub graphs: Vec<PageGraph>,
    /// What each domain made of each purpose.
    pub domains: Vec<PageDomain>,
    /// Runs.
    pub runs: Vec<PageRun>,
    /// The document of `coreach coverage`, where runs were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coverage: Option<Json>,
}

/// A file that the user wrote.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageFile {
    /// Its name as the user gave it.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A term and its text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageExpression {
    /// As it is written in models; of a huge one, how large it is.
    pub text: String,
    /// Its node.
    pub term: usize,
}

/// A datum.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Data {
    /// Its name.
    pub name: String,
    /// The number of its type.
    #[serde(rename = "type")]
    pub ty: usize,
}

/// An action.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageAction {
    /// Its name.
    pub name: String,
    /// `input`, `output`, `quiescence` or `internal`, seen from the implementation.
    pub kind: &'static str,
    /// Its sign in pictures.
    pub sign: &'static str,
    /// Its parameters.
    pub parameters: Vec<Data>,
}

/// A place on the paper.
pub type PageAt = [i64; 2];

/// A graph, laid out.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageGraph {
    /// The model's name.
    pub name: String,
    /// The purpose, where it was made of one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub purpose: Option<String>,
    /// The domain, where one was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<&'static str>,
    /// What it is: the name of a stage's artifact, `specification`, `test_purpose` or `online_test`.
    pub stage: &'static str,
    /// Are signs those of the tester's side?
    pub is_testers_side: bool,
    /// Its constants.
    pub constants: Vec<Data>,
    /// Its variables.
    pub variables: Vec<Data>,
    /// Its actions.
    pub actions: Vec<PageAction>,
    /// The number of its initial location.
    pub initial: usize,
    /// The initial condition.
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
    /// Its locations.
    pub locations: Vec<PageLocation>,
    /// Its transitions.
    pub transitions: Vec<PageTransition>,
    /// Arrows of the picture.
    pub arrows: Vec<PageArrow>,
    /// What stands in locations, or beside them.
    pub asides: Vec<PageAside>,
}

/// A location.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageLocation {
    /// Its name.
    pub name: String,
    /// What a picture shows.
    pub label: String,
    /// What the user says about it.
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

/// A transition.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageTransition {
    /// The number of its source.
    pub source: usize,
    /// The number of its target.
    pub target: usize,
    /// The number of its action.
    pub action: usize,
    /// The expression of its guard; none where it is `true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guard: Option<usize>,
    /// Its assignments.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<PageAssignment>,
    /// Where it comes from in the user's text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<PageOrigin>,
}

/// An arrow of the picture.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageArrow {
    /// The transitions that it stands for: all between its two locations.
    pub transitions: Vec<usize>,
    /// What is written, shortened.
    pub lines: Vec<String>,
    /// Its way.
    pub points: Vec<PageAt>,
    /// Which of the points is the label's middle.
    pub label: usize,
}

/// An assignment.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct PageAssignment {
    /// The variable.
    pub variable: String,
    /// The expression.
    pub value: usize,
}

/// Lines of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct PageOrigin {
    /// The number of the file.
    pub file: usize,
    /// The first line, counted from 1.
    pub line: usize,
    /// The last one.
    pub last: usize,
}

/// Transitions that are said in their location (`loop`), or beside it.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageAside {
    /// The number of the location.
    pub location: usize,
    /// `loop`, `far` or `verdict`.
    pub kind: &'static str,
    /// Where they lead.
    pub target: usize,
    /// Which they are.
    pub transitions: Vec<usize>,
    /// What is written.
    pub lines: Vec<String>,
    /// The middle of its box.
    pub at: PageAt,
    /// Width and height of its box.
    pub size: PageAt,
}

/// What a domain made of a purpose.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageDomain {
    /// The purpose.
    pub purpose: String,
    /// The domain.
    pub domain: &'static str,
    /// `made`, `unreachable` or `stopped`.
    pub result: &'static str,
    /// Why it was stopped, or is out of reach.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The sizes of the stages' results.
    pub stages: Vec<Json>,
    /// Transitions that selection pruned.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pruned: Option<usize>,
    /// Stimuli whose guards it strengthened.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub strengthened: Option<usize>,
    /// Questions to the solver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queries: Option<u64>,
}

/// A run.
#[derive(Clone, PartialEq, Default, Debug, Serialize)]
pub struct PageRun {
    /// Where it is kept, and which it is there; an example that no implementation has run has none.
    pub name: String,
    /// The test case.
    pub test: String,
    /// The implementation, where a store says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iut: Option<String>,
    /// How it ended.
    pub verdict: String,
    /// Why, as a word.
    pub cause: String,
    /// Why, in words.
    pub reason: Reason,
    /// The bucket's number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bucket: Option<String>,
    /// What failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<Bucket>,
    /// The constants.
    pub constants: Map<String, Json>,
    /// The seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<String>,
    /// How many events it has.
    pub events: usize,
    /// When it began, where a store says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub started: Option<String>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The way through a graph, where it is kept in the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub walk: Option<PageWalk>,
}

/// The way of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageWalk {
    /// The number of the graph.
    pub graph: usize,
    /// The data before the first event.
    pub start: Map<String, Json>,
    /// The events.
    pub steps: Vec<PageStep>,
}

/// An event of a run.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PageStep {
    /// `stimulus`, `observation`, `silence` or `delay`.
    pub direction: String,
    /// The action.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Its values by the names of its parameters.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub values: Map<String, Json>,
    /// The transition that it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transition: Option<usize>,
    /// Milliseconds since the run began.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_ms: Option<f64>,
}
