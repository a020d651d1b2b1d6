//! Traces as they were recorded, before anything is learned of them.

use std::ops::Range;

use coreach_model::ActionKind;
use dashu::rational::RBig;

/// A value as it was recorded.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Raw {
    /// A truth value.
    Truth(bool),
    /// A number.
    Number(RBig),
    /// A text.
    Text(String),
}

/// An event of a trace.
#[derive(Debug)]
pub struct RecordedEvent {
    /// Its action, by its number in the table.
    pub action: usize,
    /// The values of its parameters, in their order.
    pub values: Vec<Raw>,
    /// Where it stands.
    pub span: Range<usize>,
}

/// An action of the traces.
#[derive(Debug)]
pub struct RecordedAction {
    /// Its name.
    pub name: String,
    /// Its direction.
    pub kind: ActionKind,
    /// Its parameters, in the order in which they are first seen.
    pub parameters: Vec<String>,
    /// Where it is first seen.
    pub span: Range<usize>,
}

/// What was recorded.
#[derive(Debug, Default)]
pub struct RecordedTraces {
    /// The actions, as they are first seen.
    pub actions: Vec<RecordedAction>,
    /// The traces.
    pub traces: Vec<Vec<RecordedEvent>>,
}
