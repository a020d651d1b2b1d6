//! Foreign names as names of the model format: whoever has two names there has two here, and is told which.
//!
//! A name that the format takes stays as it is. Of any other, each sign that no name has becomes `_`, a word
//! of the format gets `_` behind it, and a number follows where that would be a name that is taken. All names
//! of a namespace are given at once, those that stay first, so no name depends on the order in which they are
//! met, but for the numbers, which follow the file.

use std::collections::{BTreeSet, HashMap};

use coreach_model::diagnostic::{Diagnostic, Origin};
use coreach_model::reader::collect::Collector;
use coreach_model::reader::lexer::is_name;
use coreach_model::reader::types::names_a_type;

/// Longer names are cut: what stages name has at most 141 bytes.
const LONGEST: usize = 60;

const MOST_TOLD: usize = 20;

#[derive(Clone, Default, Debug)]
pub struct Naming {
    given: HashMap<String, String>,
    /// What has another name than in the file, in its order.
    renamed: Vec<(String, String, Option<Origin>)>,
}

impl Naming {
    /// Names for these, in the order of the file; `taken` are names that others have. `plain` is for what has
    /// no letter that may stay.
    pub fn of<'a>(
        names: impl IntoIterator<Item = (&'a str, Option<Origin>)>,
        taken: &BTreeSet<String>,
        plain: &str,
    ) -> Self {
        let names: Vec<(&str, Option<Origin>)> = names.into_iter().collect();
        let mut used = taken.clone();
        let mut naming = Naming::default();
        for (name, _) in &names {
            if is_usable(name) && used.insert((*name).to_owned()) {
                naming.given.insert((*name).to_owned(), (*name).to_owned());
            }
        }
        for (name, origin) in names {
            if naming.given.contains_key(name) {
                continue;
            }
            let base = mangle(name, plain);
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

    /// The name for a foreign one; it must be one of those that were given.
    pub fn get(&self, foreign: &str) -> &str {
        self.given.get(foreign).map_or_else(|| panic!("`{foreign}` was not named"), String::as_str)
    }

    pub fn all(&self) -> BTreeSet<String> {
        self.given.values().cloned().collect()
    }

    /// Tells which names are others; `what` is in the plural. Names that we made begin with a zero, and are
    /// not told.
    pub fn tell(&self, collector: &mut Collector, what: &str) {
        let renamed: Vec<_> = self.renamed.iter().filter(|(old, ..)| !old.starts_with('\0')).collect();
        let Some((_, _, first)) = renamed.first() else { return };
        let message = format!("{what} have other names: the format does not take theirs, or they are taken");
        let mut diagnostic = Diagnostic::warning("renamed", message).at(first.clone(), "the first of them");
        for (old, new, _) in renamed.iter().take(MOST_TOLD) {
            diagnostic = diagnostic.note(format!("`{old}` is `{new}`"));
        }
        if let Some(more @ 1..) = renamed.len().checked_sub(MOST_TOLD) {
            diagnostic = diagnostic.note(format!("and {more} more"));
        }
        collector.push(diagnostic);
    }
}

fn is_usable(name: &str) -> bool {
    is_name(name) && !names_a_type(name) && name.len() <= LONGEST
}

fn mangle(name: &str, plain: &str) -> String {
    let mut text = String::new();
    for c in name.chars() {
        let c = if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
        // One `_` says as much as several.
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

    fn named(names: &[&str]) -> Vec<String> {
        let naming = Naming::of(names.iter().map(|name| (*name, None)), &BTreeSet::new(), "s");
        names.iter().map(|name| naming.get(name).to_owned()).collect()
    }

    #[test]
    fn names_that_the_format_takes_stay() {
        assert_eq!(
            named(&["a b", "a_b", "a-b", "0", "", "if", "int", "if_"]),
            ["a_b_2", "a_b", "a_b_3", "s0", "s", "if__2", "int_", "if_"]
        );
    }

    proptest! {
        #[test]
        fn two_names_stay_two(names in prop::collection::btree_set("[a-c_ +'é0-2]{0,4}|if|if_|not|.{0,80}", 0..40)) {
            let foreign: Vec<&str> = names.iter().map(String::as_str).collect();
            let given = named(&foreign);
            prop_assert!(given.iter().all(|name| is_usable(name) || name.len() > LONGEST && is_name(name)));
            prop_assert_eq!(given.iter().collect::<BTreeSet<_>>().len(), foreign.len());
            for (old, new) in foreign.iter().zip(&given) {
                prop_assert!(!is_usable(old) || old == new);
            }
        }
    }
}
