//! A test case as a program in another world: Python, Rust, TTCN-3.
//!
//! **Problem.** Who has a test environment of their own wants the test case in it, and not a tool beside it. What a test case says is
//! a deterministic graph with guards: that is a program in any language which has integers and a choice. **Method.** Each file here writes
//! one form, from the same [`View`] as pictures and documents. What all of them ask of a view is asked here ([`test_case`]): that it
//! *is* a test case, and one whose verdicts do not need more than its graph. What one form cannot say it refuses itself. Nothing is
//! approximated: a form that would give other verdicts than our own judge is not written.
//!
//! **Names** of a model may be words of the other language, and may differ in what it does not distinguish. Where a name stands in a
//! text it is quoted by that language's rules; where it has to be a name, it is made one by [`mangled`], which never makes one of two.

pub mod python;

use std::collections::HashMap;
use std::fmt;

use coreach_model::{ActionKind, Term};

use super::{ONLINE, View};
use crate::Stage;

/// A form does not suit what is to be written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unsuited {
    /// The form.
    pub form: &'static str,
    /// What stands in the way.
    pub why: String,
    /// What does suit.
    pub instead: &'static str,
}

impl fmt::Display for Unsuited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the form `{}` does not suit: {}; {}", self.form, self.why, self.instead)
    }
}

impl std::error::Error for Unsuited {}

/// Is the view a test case that its graph alone can judge?
///
/// # Errors
/// [`Unsuited`].
pub fn test_case(form: &'static str, view: &View<'_>) -> Result<(), Unsuited> {
    let no = |why: String, instead| Err(Unsuited { form, why, instead });
    if view.what == ONLINE {
        return no(
            "a test that is judged on line follows all states that are possible".to_owned(),
            "take `json`, which `coreach test` runs, or `judge: test_case` in the configuration",
        );
    }
    if view.stage != Some(Stage::InputComplete) {
        return no(
            format!("it is a program for a test case, and this is the {}", view.what.replace('_', " ")),
            "take `--stage test_case`, or another form for this one",
        );
    }
    if view.timing.is_some() {
        return no(
            "a timed test case looks at instants, within the tolerance of what was measured".to_owned(),
            "take `json`, which `coreach test` runs",
        );
    }
    if view.found.reachable == Some(false) {
        return no(
            "the purpose cannot be reached, so there is nothing to run".to_owned(),
            "take `dot` or `json` to look at what there is",
        );
    }
    Ok(())
}

/// An identifier of letters, digits and single underscores that no other name becomes: what is neither letter nor digit of
/// ASCII is written as its number between underscores.
pub fn mangled(name: &str) -> String {
    let mut written = String::new();
    for sign in name.chars() {
        match sign {
            'a'..='z' | 'A'..='Z' | '0'..='9' => written.push(sign),
            other => written.push_str(&format!("_{:x}_", u32::from(other))),
        }
    }
    written
}

/// What the tester does with an action, in a word.
fn role(kind: ActionKind) -> Option<&'static str> {
    match kind {
        ActionKind::Input => Some("stimulus"),
        ActionKind::Output => Some("observation"),
        ActionKind::Quiescence => Some("quiescence"),
        ActionKind::Internal => None,
    }
}

/// Terms in the order of their making, each shared one once, and those that it is made of before it.
#[derive(Default)]
struct Table {
    numbers: HashMap<Term, usize>,
    terms: Vec<Term>,
    heights: Vec<usize>,
}

impl Table {
    /// The term's number. Recursion is as deep as the term, which the reader limits.
    fn number(&mut self, term: &Term) -> usize {
        if let Some(known) = self.numbers.get(term) {
            return *known;
        }
        let below = term.children().into_iter().map(|child| self.number(child)).collect::<Vec<_>>();
        let height = below.iter().map(|child| self.heights[*child] + 1).max().unwrap_or(0);
        let number = self.terms.len();
        self.terms.push(term.clone());
        self.heights.push(height);
        self.numbers.insert(term.clone(), number);
        number
    }

    fn height(&self) -> usize {
        self.heights.iter().copied().max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_names_never_become_one() {
        let names = ["a_b", "a__b", "a b", "ab", "a_5f_b", "a_5f_5f_b", "é", "_e9_", "class", "a-b", "", "_"];
        let made: Vec<String> = names.iter().map(|name| mangled(name)).collect();
        for (at, one) in made.iter().enumerate() {
            assert!(!made[..at].contains(one), "{} and another become {one}", names[at]);
            assert!(one.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_'), "{one}");
        }
    }
}
