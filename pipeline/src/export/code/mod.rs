//! Writes a test case as a program in another language: Python, Rust.
//!
//! **Problem.** Users with a test environment of their own want the test case in it, and not a tool beside
//! it. A test case is a deterministic graph with guards: that is a program in any language which has integers
//! and a choice. **Method.** Each file here writes one form, from the same [`View`] as pictures and
//! documents. What all of them require of a view is checked here ([`test_case`]): it must *be* a test case,
//! and its verdicts must not need more than its graph. Each form itself refuses what it cannot express.
//! Nothing is approximated: a form that would give other verdicts than our own judge is not written.
//!
//! **Names** of a model may be words of the other language. A name that stands in a text is quoted by that
//! language's rules.

pub mod python;
pub mod rust;

use std::fmt;

use coreach_model::ActionKind;

use super::{ONLINE, View};
use crate::stage::Stage;

/// Says that a form does not suit the view.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsuited {
    pub form: &'static str,
    pub why: String,
    /// What suits instead.
    pub instead: &'static str,
}

impl fmt::Display for Unsuited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the form `{}` does not suit: {}; {}", self.form, self.why, self.instead)
    }
}

impl std::error::Error for Unsuited {}

/// Checks that the view is a test case or an on-line test that a tester can run.
fn check_runnable(form: &'static str, view: &View<'_>) -> Result<(), Unsuited> {
    if view.what != ONLINE && view.stage != Some(Stage::InputComplete) {
        let what = view.what.replace('_', " ");
        return Err(Unsuited {
            form,
            why: format!("it is a program for a test case, but this is the {what}"),
            instead: "use `--stage test_case`, or another form",
        });
    }
    if view.found.reachable == Some(false) {
        return Err(Unsuited {
            form,
            why: "the purpose cannot be reached, so there is nothing to run".to_owned(),
            instead: "use `dot` or `json` to look at the result",
        });
    }
    Ok(())
}

/// Checks that the view is a test case that its graph alone can judge.
fn check_judged_by_graph(form: &'static str, view: &View<'_>) -> Result<(), Unsuited> {
    check_runnable(form, view)?;
    let why = match (view.what == ONLINE, view.timing) {
        (true, _) => "a test with `judge: online` follows all possible states",
        (false, Some(_)) => "a timed test case compares measured times, within a tolerance",
        (false, None) => return Ok(()),
    };
    let instead = "use `rust`, or `json`, which `coreach test` runs";
    Err(Unsuited { form, why: why.to_owned(), instead })
}

/// Makes a name of ASCII letters, digits and underscores. Two names may become one.
fn make_identifier(name: &str) -> String {
    name.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '_' }).collect()
}

/// Says in a word what the tester does with an action. `None` for internal actions.
fn role_word(kind: ActionKind) -> Option<&'static str> {
    match kind {
        ActionKind::Input => Some("stimulus"),
        ActionKind::Output => Some("observation"),
        ActionKind::Quiescence => Some("quiescence"),
        ActionKind::Internal => None,
    }
}
