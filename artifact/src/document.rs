//! A stage's result as a document: plain data, which one crate writes and all others read.
//!
//! The programs that make test cases and those that run them do not know each other; this is what they share.
//! Nothing in it has to be parsed: types and terms are tables ([`crate::types`], [`crate::terms`]), locations
//! and actions have numbers, and a field of each location says of what it was made. Labels and imprecisions
//! are texts for people, and no program decides by them. Conditions as text, and as SMT-LIB, are in
//! [`Readable`], if the user asked for it.
//!
//! The JSON Schema `docs/test-case.schema.json` is made from these types.

use std::collections::BTreeSet;

use coreach_model::{ActionKind, Verdict, Violated};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::format::{FORMAT, FORMAT_VERSION};
use crate::terms::{TermNode, TermNumber};
use crate::types::{DatumEntry, TypeNode};

/// The stage of a test case.
pub const TEST_CASE: &str = "test_case";

/// The stage of a test that is judged on line.
pub const ONLINE: &str = "online_test";

/// The place of a location in the list of locations.
pub type LocationNumber = usize;

/// The place of an action in the list of actions.
pub type ActionNumber = usize;

/// A stage's result.
#[derive(Clone, PartialEq, Default, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(title = "A result of coreach")]
pub struct Document {
    /// `coreach`
    pub format: String,
    /// The version of the format.
    pub format_version: u64,
    /// The program that wrote it.
    pub generator: Generator,
    /// `specification`, `test_purpose`, `complete_purpose`, `product`, `closed`, `visible`, `test_graph`,
    /// `test_case` or `online_test`.
    pub stage: String,
    /// The model's name.
    pub name: String,
    /// Only of a purpose: what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose: Option<PurposeEntry>,
    /// Only of a test case: the models that it was made of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made_of: Option<Sources>,
    /// Only of a test case: the conjuncts of the specification's guards of what is observed, and of what is
    /// internal. What failed is told with these, and not with the purpose's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conjuncts: Vec<TermNumber>,
    /// Of a timed test case: the first parameter of every visible action is a delay, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timed: Option<TimedEntry>,
    /// How large it is.
    pub counts: Counts,
    /// Can the purpose be reached? `false`: the graph is its initial location, and there is nothing to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub purpose_reachable: Option<bool>,
    /// How many more events tell any two runs of one trace apart.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lookahead: Option<usize>,
    /// What selection did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub selection: Option<SelectionCounts>,
    /// What the analysis could not express, a sentence each.
    pub imprecisions: Vec<String>,
    /// Types. Each names only types before it.
    pub types: Vec<TypeNode>,
    /// Terms. Each names only terms before it.
    pub terms: Vec<TermNode>,
    /// Symbolic constants.
    pub constants: Vec<DatumEntry>,
    /// Variables.
    pub variables: Vec<DatumEntry>,
    /// Actions.
    pub actions: Vec<ActionEntry>,
    /// Where it begins.
    pub initial: Initial,
    /// Locations.
    pub locations: Vec<LocationEntry>,
    /// Transitions.
    pub transitions: Vec<TransitionEntry>,
    /// Only in a large test case: the location Fail. At every location without a verdict every output without
    /// a transition leads there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub others_fail: Option<LocationNumber>,
    /// Conditions as text and as SMT-LIB, where that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub readable: Option<Readable>,
}

/// The program that wrote a document.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Generator {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: String,
}

/// What a purpose says beside its graph.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PurposeEntry {
    /// The name of its specification.
    pub of: String,
    /// How many of the transitions, the first ones, its author wrote.
    pub given_transitions: usize,
    /// Is every action without a transition at a location a self-loop there?
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub others_stay: bool,
}

/// The models of a test case.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Sources {
    /// The specification.
    pub specification: Source,
    /// The purpose.
    pub purpose: Source,
}

/// A model by its name, and by what is in it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Source {
    /// The name.
    pub name: String,
    /// The SHA-256 of what is in it, in hexadecimal digits; comments, layout, labels and descriptions do not
    /// count.
    pub sha256: String,
}

/// What a timed test case says of time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TimedEntry {
    /// The first parameter of every visible action, of type `real`: the time since the step before, in
    /// seconds.
    pub delay: String,
    /// After so many seconds without an event there is silence: a number, or a constant of the test case.
    pub silence_after: TermNumber,
}

/// How large a graph is.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Counts {
    /// Locations.
    pub locations: usize,
    /// Transitions.
    pub transitions: usize,
    /// Transitions that lead to Pass.
    pub pass: usize,
    /// Transitions that lead to Inconclusive.
    pub inconclusive: usize,
    /// Transitions that lead to Fail.
    pub fail: usize,
}

/// What selection did.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SelectionCounts {
    /// Transitions that the test graph does not have in any form.
    pub pruned: usize,
    /// Stimuli whose guard was strengthened so that Accept stays in reach.
    pub strengthened: usize,
    /// Transitions into Inconclusive.
    pub inconclusive: usize,
    /// How often strengthening and reach followed each other.
    pub rounds: usize,
}

/// What an action is for the tester.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It is sent.
    Stimulus,
    /// It is seen.
    Observation,
}

/// An action.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ActionEntry {
    /// Its name.
    pub name: String,
    /// Its direction.
    pub kind: ActionKind,
    /// What it is for the tester; an internal action is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<Role>,
    /// `false`: an input that comes from elsewhere than from the tester, which sees it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controllable: Option<bool>,
    /// The parameters of its messages.
    pub parameters: Vec<DatumEntry>,
}

/// Where a graph begins.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Initial {
    /// The location.
    pub location: LocationNumber,
    /// The condition on constants and variables.
    pub condition: TermNumber,
}

/// What a location is of a purpose.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum PurposeMark {
    /// Its purpose's half is `Accept`.
    Accept,
    /// Its purpose's half is `Reject`.
    Reject,
}

/// A location.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LocationEntry {
    /// Its name.
    pub name: String,
    /// What people see in its place.
    pub label: String,
    /// What the author of the model says of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// What it is of the purpose.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mark: Option<PurposeMark>,
    /// Its verdict, where it ends a test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Verdict>,
    /// With which data the specification is never silent here, wherever one of the location's outputs that do
    /// not lead to Fail is possible.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub must_answer: Option<TermNumber>,
    /// Of the test case of a property: how the property is violated here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub violates: Option<Violated>,
    /// Of a test case: of which locations it was made.
    #[serde(default, skip_serializing_if = "Origins::is_empty")]
    pub origins: Origins,
    /// A condition that contains every state in which the graph can be.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<TermNumber>,
    /// A condition that contains every state from which Accept can be reached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub coreach: Option<TermNumber>,
}

/// The names of the locations of which a location was made, and of those that internal steps may have led to
/// since.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Origins {
    /// Those of the specification.
    pub specification: BTreeSet<String>,
    /// Those of the purpose; a path-guided test case has none.
    pub purpose: BTreeSet<String>,
}

impl Origins {
    /// Was it made of none, as a verdict's location?
    pub fn is_empty(&self) -> bool {
        self.specification.is_empty() && self.purpose.is_empty()
    }
}

/// A transition. Assignments are parallel; a variable that is not among them keeps its value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TransitionEntry {
    /// Where it begins.
    pub source: LocationNumber,
    /// Where it ends.
    pub target: LocationNumber,
    /// Its action.
    pub action: ActionNumber,
    /// When it can be taken.
    pub guard: TermNumber,
    /// What it does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub assignments: Vec<AssignmentEntry>,
}

/// What a transition assigns to a variable.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AssignmentEntry {
    /// The place of the variable in the list of variables.
    pub variable: usize,
    /// Its value, over the data before the step.
    pub value: TermNumber,
}

/// Conditions as text, for people and for other tools.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Readable {
    /// SMT-LIB: the sorts, the constants and the variables, a command a line.
    pub declarations: Vec<String>,
    /// SMT-LIB, for each action: its parameters.
    pub parameters: Vec<Vec<String>>,
    /// Each condition, and each value that is assigned, once.
    pub conditions: Vec<Condition>,
}

/// A condition as text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Condition {
    /// Its number.
    pub term: TermNumber,
    /// As the model format spells it.
    pub text: String,
    /// As SMT-LIB.
    pub smtlib: String,
    /// Names that the SMT-LIB text needs beside the usual ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub declarations: Vec<String>,
    /// What the types add, as SMT-LIB: assert it, too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub constraints: Vec<String>,
}
