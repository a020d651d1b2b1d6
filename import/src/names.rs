//! Turns foreign names into names of the model format. Changes are reported.
//!
//! A name that the format allows stays as it is. In any other name, each sign that is not allowed becomes
//! `_`. A word of the format gets `_` after it. If the result is taken, a number follows. The unchanged names
//! of a namespace come first. So only the numbers depend on the file's order.

use std::collections::{BTreeSet, HashMap};

use coreach_model::diagnostic::{Diagnostic, Origin};
use coreach_model::limits::MANY_SHOWN;
use coreach_model::reader::collect::Collector;
use coreach_model::reader::lexer::is_name;
use coreach_model::reader::types::names_a_type;

/// The most bytes of a name. Longer names are cut, since names that stages make have at most 141 bytes.
const LONGEST: usize = 60;

#[derive(Clone, Default, Debug)]
pub struct Naming {
    given: HashMap<String, String>,
    /// The changed names in the order of the file: the old name, the new one, and its place.
    renamed: Vec<(String, String, Option<Origin>)>,
}

impl Naming {
    /// Gives names to these foreign ones, which are in the order of the file. Names in `taken` are not given.
    /// `plain` is used for names without an allowed letter.
    pub fn of<'a>(
        names: impl IntoIterator<Item = (&'a str, Option<Origin>)>,
        taken: &BTreeSet<String>,
        plain: &str,
    ) -> Self {
        let names: Vec<(&str, Option<Origin>)> = names.into_iter().collect();
        let mut used = taken.clone();
        let mut naming = Naming::default();
        // Usable names stay, whatever the order of the file is ([`possible_names`] relies on it).
        for (name, _) in &names {
            if is_usable(name) && used.insert((*name).to_owned()) {
                naming.given.insert((*name).to_owned(), (*name).to_owned());
            }
        }
        for (name, origin) in names {
            if naming.given.contains_key(name) {
                continue;
            }
            let base = make_usable(name, plain);
            let mut new = base.clone();
            let mut number = 2u64;
            while !used.insert(new.clone()) {
                new = format!("{base}_{number}");
                number += 1;
            }
            naming.renamed.push((name.to_owned(), new.clone(), origin));
            naming.given.insert(name.to_owned(), new);
        }
        naming
    }

    /// Returns the name for a foreign one, which must be one of those that got a name.
    pub fn get(&self, foreign: &str) -> &str {
        self.given.get(foreign).map_or_else(|| panic!("`{foreign}` was not named"), String::as_str)
    }

    pub fn all(&self) -> BTreeSet<String> {
        self.given.values().cloned().collect()
    }

    /// Warns of changed names. `what` is a plural. Names of coreach (with a zero byte) are not listed.
    pub fn warn_of_changes(&self, collector: &mut Collector, what: &str) {
        let renamed: Vec<_> = self.renamed.iter().filter(|(old, ..)| !old.starts_with('\0')).collect();
        let Some((_, _, first)) = renamed.first() else { return };
        let message = format!("{what} get new names: the old ones are not allowed or already used");
        let mut diagnostic = Diagnostic::warning("renamed", message).at(first.clone(), "the first of them");
        for (old, new, _) in renamed.iter().take(MANY_SHOWN) {
            diagnostic = diagnostic.note(format!("`{old}` becomes `{new}`"));
        }
        if let Some(more @ 1..) = renamed.len().checked_sub(MANY_SHOWN) {
            diagnostic = diagnostic.note(format!("and {more} more"));
        }
        collector.push(diagnostic);
    }
}

/// Returns those of the `given` names that [`Naming::of`] may give to this foreign one. It gets a number if
/// other names have taken the name without one.
pub fn possible_names(foreign: &str, given: &BTreeSet<&str>, plain: &str) -> Vec<String> {
    if is_usable(foreign) {
        return given.get(foreign).map(|name| (*name).to_owned()).into_iter().collect();
    }
    let base = make_usable(foreign, plain);
    let numbered = (2u64..).map(|number| format!("{base}_{number}"));
    std::iter::once(base.clone()).chain(numbered).take_while(|name| given.contains(name.as_str())).collect()
}

fn is_usable(name: &str) -> bool {
    is_name(name) && !names_a_type(name) && name.len() <= LONGEST
}

/// Makes an allowed name of a foreign one.
fn make_usable(name: &str, plain: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
        // Several `_` in a row become one.
        if c != '_' || !text.ends_with('_') {
            text.push(c);
        }
        if text.len() >= LONGEST {
            break;
        }
    }
    let text = text.trim_matches('_');
    let text = match text.chars().next() {
        None => plain.to_owned(),
        Some(first) if first.is_ascii_digit() => format!("{plain}{text}"),
        Some(_) => text.to_owned(),
    };
    if names_a_type(&text) { format!("{text}_") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn names_for(names: &[&str]) -> Vec<String> {
        let naming = Naming::of(names.iter().map(|name| (*name, None)), &BTreeSet::new(), "s");
        names.iter().map(|name| naming.get(name).to_owned()).collect()
    }

    #[test]
    fn names_that_the_format_takes_stay() {
        assert_eq!(
            names_for(&["a b", "a_b", "a-b", "0", "", "if", "int", "if_"]),
            ["a_b_2", "a_b", "a_b_3", "s0", "s", "if__2", "int_", "if_"]
        );
    }

    proptest! {
        #[test]
        fn two_names_stay_two(names in prop::collection::btree_set("[a-c_ +'é0-2]{0,4}|if|if_|not|.{0,80}", 0..40)) {
            let foreign: Vec<&str> = names.iter().map(String::as_str).collect();
            let given = names_for(&foreign);
            prop_assert!(given.iter().all(|name| is_usable(name) || name.len() > LONGEST && is_name(name)));
            prop_assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), foreign.len());
            for (old, new) in foreign.iter().zip(&given) {
                prop_assert!(!is_usable(old) || old == new);
            }
        }
    }
}
