//! Writes a stage's result as a model in the model format, which coreach reads back: so that users can look
//! at a stage, change it by hand, and analyse it again.
//!
//! Directions are the implementation's at every stage, also in the test graph and the test case. A test case
//! is read as the part of the system's behaviour that it allows, with the locations Pass, Inconclusive and
//! Fail. A completed purpose is written as a purpose.

use coreach_model::reader::limits::MADE_MARK;
use coreach_model::writer;

use super::View;
use crate::named_types::named_types;

pub fn to_yaml(view: &View<'_>) -> String {
    let mut what = view.what.replace('_', " ");
    if let Some(sentence) = view.said_once() {
        what += &format!("; {sentence}");
    }
    match view.particulars.purpose {
        Some((purpose, _)) => format!("{MADE_MARK}{what}\n{}", writer::write_purpose_yaml(purpose)),
        None => format!("{MADE_MARK}{what}\n{}", writer::write_yaml(view.iosts, &named_types(view.iosts))),
    }
}
