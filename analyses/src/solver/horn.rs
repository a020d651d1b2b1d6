//! Who answers Horn clauses: text in, text out, so that it can be a process of its own.
//!
//! Spacer can hang where its limit is not looked at, and can end the process that it runs in. So the program
//! starts itself anew for each question, with limits that the system keeps; the answer comes as text. What
//! is here is the form of both; [`super::z3::horn`] is the other process' side of it.

use std::sync::OnceLock;

pub trait HornEngine {
    /// The answer to a script of relations, variables and rules.
    fn solve(&mut self, script: &str) -> HornReply;
}

static ENGINE: OnceLock<fn() -> Box<dyn HornEngine>> = OnceLock::new();

/// What starts an engine for this program. Only who is asked first has a say.
pub fn provide(start: fn() -> Box<dyn HornEngine>) {
    let _ = ENGINE.set(start);
}

/// An engine, where this program has one: a program that uses the library must [`provide`] it, since a
/// process that is started anew must know that it is to answer.
pub fn engine() -> Option<Box<dyn HornEngine>> {
    ENGINE.get().map(|start| start())
}

pub const REACHED: &str = "reached";

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HornReply {
    /// It can be derived: a proof, as Z3 writes it.
    Derivable(String),
    /// It cannot: definitions of the predicates, as Z3 writes them.
    Underivable(String),
    Unknown(String),
}

impl HornReply {
    /// As text: a word, and what belongs to it from the second line on.
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
