//! A test case as a program in another world: Python, Rust, TTCN-3.
//!
//! **Problem.** Who has a test environment of their own wants the test case in it, and not a tool beside it.
//! What a test case says is a deterministic graph with guards: that is a program in any language which has
//! integers and a choice. **Method.** Each file here writes one form, from the same [`View`] as pictures and
//! documents. What all of them ask of a view is asked here ([`test_case`]): that it *is* a test case, and one
//! whose verdicts do not need more than its graph. What one form cannot say it refuses itself. Nothing is
//! approximated: a form that would give other verdicts than our own judge is not written.
//!
//! **Names** of a model may be words of the other language, and may differ in what it does not distinguish.
//! Where a name stands in a text it is quoted by that language's rules; where it has to be a name, it is made
//! one by `Words`, which never makes one of two.

pub mod python;
pub mod rust;
pub mod ttcn3;

use std::collections::{HashMap, HashSet};
use std::fmt;

use coreach_model::{ActionKind, Iosts, Term, Type};

use super::{ONLINE, View};
use crate::names::UsedNames;
use crate::stage::Stage;

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

/// Is the view something that a tester can run?
fn runnable(form: &'static str, view: &View<'_>) -> Result<(), Unsuited> {
    if view.what != ONLINE && view.stage != Some(Stage::InputComplete) {
        let what = view.what.replace('_', " ");
        return Err(Unsuited {
            form,
            why: format!("it is a program for a test case, and this is the {what}"),
            instead: "take `--stage test_case`, or another form for this one",
        });
    }
    if view.found.reachable == Some(false) {
        return Err(Unsuited {
            form,
            why: "the purpose cannot be reached, so there is nothing to run".to_owned(),
            instead: "take `dot` or `json` to look at what there is",
        });
    }
    Ok(())
}

/// The first datum or term with a part of such a type, which has no parts itself, as text.
fn first_with(iosts: &Iosts, is_wanted: &impl Fn(&Type) -> bool) -> Option<String> {
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    let mut data = iosts.variables.iter().chain(&iosts.constants).chain(parameters);
    if let Some(datum) = data.find(|datum| datum.ty().has(is_wanted)) {
        return Some(datum.to_string());
    }
    let guards = iosts.transitions.iter().flat_map(|one| one.assignments.values().chain([&one.guard]));
    let mut work: Vec<&Term> = guards.chain([&iosts.initial_condition]).collect();
    let mut seen = HashSet::new();
    while let Some(term) = work.pop() {
        if seen.insert(term) {
            if term.sort().has(is_wanted) {
                return Some(term.to_string());
            }
            work.extend(term.children());
        }
    }
    None
}

/// Is it a test case that its graph alone can judge?
fn judged_by_its_graph(form: &'static str, view: &View<'_>) -> Result<(), Unsuited> {
    runnable(form, view)?;
    let why = match (view.what == ONLINE, view.timing) {
        (true, _) => "a test that is judged on line follows all states that are possible",
        (false, Some(_)) => "a timed test case looks at instants, within the tolerance of what was measured",
        (false, None) => return Ok(()),
    };
    let instead = "take `rust`, or `json`, which `coreach test` runs";
    Err(Unsuited { form, why: why.to_owned(), instead })
}

/// A name of letters, digits and underscores of ASCII. Two names may become one: where that matters, `Words`
/// tells them apart.
fn identifier(name: &str) -> String {
    name.chars().map(|sign| if sign.is_ascii_alphanumeric() { sign } else { '_' }).collect()
}

/// The names of one file in a language that has words of its own: each name of the model becomes a name
/// there, no two become one, and none becomes a word.
struct Words {
    names: UsedNames,
    known: HashMap<(Scope, String), String>,
}

/// What a name is of. A location and an action may have one name in a model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Scope {
    Type,
    Field,
    Literal,
    Datum,
    Action,
    Location,
}

impl Words {
    /// None of these words is given.
    fn without(words: &[&str]) -> Self {
        Words { names: UsedNames::of(words.iter().copied()), known: HashMap::new() }
    }

    /// The name there: the same each time.
    fn of(&mut self, scope: Scope, name: &str) -> String {
        if let Some(known) = self.known.get(&(scope, name.to_owned())) {
            return known.clone();
        }
        let letter = match scope {
            Scope::Type => "T",
            Scope::Field => "f",
            Scope::Literal => "e",
            Scope::Datum => "v",
            Scope::Action => "A",
            Scope::Location => "l",
        };
        let made = self.names.unique(&format!("{letter}_{}", identifier(name)));
        self.known.insert((scope, name.to_owned()), made.clone());
        made
    }
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn two_names_never_become_one_and_none_becomes_a_word() {
        let names = ["a_b", "a b", "a__b", "a-b", "é", "è", "", "_", "class", "a_b_2", &"x".repeat(300)];
        let mut words = Words::without(&["v_class", "T_class"]);
        let mut made = HashSet::new();
        for scope in [Scope::Datum, Scope::Location, Scope::Type] {
            for name in names {
                let word = words.of(scope, name);
                assert!(word.chars().all(|sign| sign.is_ascii_alphanumeric() || sign == '_'), "{word}");
                assert_eq!(word, words.of(scope, name));
                assert!(made.insert(word), "{scope:?} {name}");
            }
        }
        assert!(!made.contains("v_class") && !made.contains("T_class"), "{made:?}");
    }
}
