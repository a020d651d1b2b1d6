//! The interface of an engine that answers Horn clauses. Question and answer are text, so the engine can be a
//! process of its own.
//!
//! Spacer can hang without checking its limit, and can end the process in which it runs. So the program
//! starts itself anew for each question, with limits that the system enforces, and the answer comes as text.
//! This file defines question and answer. [`super::z3::horn`] is the side of the other process.

use std::sync::OnceLock;

pub trait HornEngine {
    /// Answers a script of relations, variables and rules.
    fn solve(&mut self, script: &str) -> HornReply;
}

static ENGINE: OnceLock<fn() -> Box<dyn HornEngine>> = OnceLock::new();

/// Sets the function that starts an engine for this program. Only the first call counts.
pub fn provide(start: fn() -> Box<dyn HornEngine>) {
    let _ = ENGINE.set(start);
}

/// Starts an engine, if this program has one. A program that uses the library must [`provide`] it, since the
/// new process must know that it has to answer.
pub fn engine() -> Option<Box<dyn HornEngine>> {
    ENGINE.get().map(|start| start())
}

pub const REACHED: &str = "reached";

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HornReply {
    /// The relation can be derived. This is the proof, as Z3 writes it.
    Derivable(String),
    /// The relation cannot be derived. These are definitions of the predicates, as Z3 writes them.
    Underivable(String),
    Unknown(String),
}

impl HornReply {
    /// Writes the reply as text: a word in the first line, and its content from the second line on.
    pub fn to_text(&self) -> String {
        let (word, rest) = match self {
            HornReply::Derivable(rest) => ("derivable", rest),
            HornReply::Underivable(rest) => ("underivable", rest),
            HornReply::Unknown(rest) => ("unknown", rest),
        };
        format!("{word}\n{rest}")
    }

    pub fn from_text(text: &str) -> Option<Self> {
        let (word, rest) = text.split_once('\n')?;
        let rest = rest.to_owned();
        Some(match word {
            "derivable" => HornReply::Derivable(rest),
            "underivable" => HornReply::Underivable(rest),
            "unknown" => HornReply::Unknown(rest),
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reply_is_read_as_it_was_written() {
        for reply in [
            HornReply::Derivable("(a\nb)".to_owned()),
            HornReply::Underivable(String::new()),
            HornReply::Unknown("time".to_owned()),
        ] {
            assert_eq!(HornReply::from_text(&reply.to_text()), Some(reply));
        }
        assert_eq!(HornReply::from_text("derivable"), None);
        assert_eq!(HornReply::from_text("Segmentation fault\n"), None);
    }
}
