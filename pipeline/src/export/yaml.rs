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

/// Writes the view behind a comment that names the stage. A purpose is written as a purpose.
pub fn to_yaml(view: &View<'_>) -> String {
    let mut what = view.what.replace('_', " ");
    if let Some(sentence) = view.rule_for_the_others() {
        what += &format!("; {sentence}");
    }
    let model = match view.particulars.purpose {
        Some((purpose, _)) => writer::write_purpose_yaml(purpose),
        None => writer::write_yaml(view.iosts, &named_types(view.iosts)),
    };
    format!("{MADE_MARK}{what}\n{model}")
}
