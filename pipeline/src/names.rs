//! The names that stages make: of locations, of variables, of models.
//!
//! The model's reader reads the result of a stage again. So a made name must not be too long, must be no word
//! of the language, and must differ from all names in its scope. The data, the parameters of all actions and
//! the literals of all enumerations share one scope ([`names_in_scope`]). Locations have a scope of their
//! own. A joined name begins with its first parts, and does not grow with their number.

use std::collections::{HashMap, HashSet};

use coreach_model::limits::{LONGEST_EXCERPT, LONGEST_TEXT};
use coreach_model::reader::shape::MAX_NAME;
use coreach_model::reader::types::names_a_type;
use coreach_model::{Datum, Iosts, Type};

use crate::named_types::named_types;

/// The text between the parts of a joined name.
const JOINT: &str = "__";

const _: () =
    assert!(LONGEST_TEXT + "_18446744073709551615".len() <= MAX_NAME, "with its number it is a name");

#[derive(Default)]
pub struct UsedNames {
    used: HashSet<String>,
    /// For each wanted name that was not free, the number that was tried last.
    last: HashMap<String, u64>,
}

impl UsedNames {
    pub fn of<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        UsedNames { used: names.into_iter().map(str::to_owned).collect(), last: HashMap::new() }
    }

    /// Takes the wanted name, shortened if it is too long. If it is not free, takes the first free one of
    /// `wanted_2`, `wanted_3`, ... The name is in use from now on.
    pub fn unique(&mut self, wanted: &str) -> String {
        let wanted = shorten_name(wanted);
        if !names_a_type(&wanted) && self.used.insert(wanted.clone()) {
            return wanted;
        }
        // A number that is taken stays taken, so each number is tried once.
        let last = self.last.entry(wanted.clone()).or_insert(1);
        loop {
            *last += 1;
            let name = format!("{wanted}_{last}");
            if self.used.insert(name.clone()) {
                return name;
            }
        }
    }
}

/// Gives the names that a new datum must not have. Types, actions and locations have scopes of their own, but
/// a person who reads a guard does not know that.
pub fn names_in_scope(iosts: &Iosts) -> UsedNames {
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    let data = iosts.variables.iter().chain(&iosts.constants).chain(parameters).map(Datum::name);
    let actions = iosts.actions.iter().map(|action| action.name.as_str());
    let locations = iosts.locations.iter().map(|location| location.name.as_str());
    let mut names = UsedNames::of(data.chain(actions).chain(locations));
    for (name, ty) in named_types(iosts) {
        names.used.insert(name);
        if let Type::Enum(enumeration) = ty {
            names.used.extend(enumeration.literals.iter().cloned());
        }
    }
    names
}

/// Joins several names into one: `Pay__Begin`, shortened if there are many.
pub fn joined_name<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    let mut checksum = NameChecksum::default();
    let mut beginning = String::new();
    for (index, part) in parts.into_iter().enumerate() {
        for piece in [if index == 0 { "" } else { JOINT }, part] {
            checksum.add(piece);
            // Text far beyond the limit is cut off in any case.
            if beginning.len() <= LONGEST_TEXT {
                beginning.push_str(piece);
            }
        }
    }
    cut_name(beginning, &checksum)
}

fn shorten_name(name: &str) -> String {
    let mut checksum = NameChecksum::default();
    checksum.add(name);
    cut_name(name.to_owned(), &checksum)
}

/// Cuts a long name to its beginning and the checksum of the whole.
fn cut_name(name: String, checksum: &NameChecksum) -> String {
    if name.len() <= LONGEST_TEXT {
        return name;
    }
    let suffix = format!("_{:016x}", checksum.0);
    let beginning_length = LONGEST_TEXT - suffix.len();
    let end = (0..=beginning_length).rev().find(|index| name.is_char_boundary(*index)).unwrap_or(0);
    format!("{}{suffix}", &name[..end])
}

/// FNV-1a over the bytes: the same on every machine. Two names with one checksum are told apart by
/// [`UsedNames::unique`].
struct NameChecksum(u64);

impl Default for NameChecksum {
    fn default() -> Self {
        NameChecksum(0xcbf2_9ce4_8422_2325)
    }
}

impl NameChecksum {
    fn add(&mut self, text: &str) {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
}

/// Joins several labels into one: `<Pay,Begin>`. A long part is cut, and parts beyond the limit are counted.
pub fn joined_label<'a>(parts: impl IntoIterator<Item = &'a str>) -> String {
    // The first part that is too much and all parts after it are only counted.
    let mut label = String::from("<");
    let (mut shown_length, mut left_out) = (0, 0);
    for (index, part) in parts.into_iter().enumerate() {
        if shown_length >= LONGEST_EXCERPT {
            left_out += 1;
            continue;
        }
        if index > 0 {
            label.push(',');
        }
        match part.char_indices().nth(LONGEST_TEXT) {
            Some((end, _)) => {
                label.push_str(&part[..end]);
                label.push_str("...");
                shown_length += LONGEST_TEXT;
            }
            None => {
                label.push_str(part);
                shown_length += part.chars().count() + 1;
            }
        }
    }
    if left_out > 0 {
        label.push_str(&format!(",... {left_out} more"));
    }
    label + ">"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_made_name_is_short_and_its_own() {
        let part = "a".repeat(MAX_NAME);
        let many = || (0..100).map(|_| part.as_str());
        let mut names = UsedNames::default();
        let mut seen = HashSet::new();
        for count in 1..100 {
            let wanted = joined_name(many().take(count));
            assert_eq!(wanted, joined_name(many().take(count)));
            let name = names.unique(&wanted);
            assert!(name.len() <= LONGEST_TEXT && name.starts_with("aaaa"), "{name}");
            // The checksum tells the counts apart: no number is needed.
            assert_eq!(name, wanted);
            assert!(seen.insert(name));
        }
        assert_eq!(joined_name(["Pay", "Begin"]), "Pay__Begin");
        assert_eq!(names.unique(&"b".repeat(199)).len(), LONGEST_TEXT);
    }

    #[test]
    fn a_taken_name_gets_a_number_and_a_word_of_the_language_too() {
        let mut names = UsedNames::of(["Pass", "Pass_2", "Pass_4"]);
        assert_eq!(["Pass"; 3].map(|name| names.unique(name)), ["Pass_3", "Pass_5", "Pass_6"]);
        assert_eq!(["Fail", "if", "int"].map(|name| names.unique(name)), ["Fail", "if_2", "int_2"]);
        for _ in 0..100_000 {
            names.unique("many");
        }
        assert_eq!(names.unique("many"), "many_100001");
    }

    #[test]
    fn a_label_is_bounded() {
        assert_eq!(joined_label(["Pay", "<a,b>"]), "<Pay,<a,b>>");
        let long = "é".repeat(5000);
        assert_eq!(joined_label([long.as_str()]).chars().count(), LONGEST_TEXT + 5);
        let label = joined_label((0..100_000).map(|_| "Pay"));
        assert!(label.len() < 2 * LONGEST_EXCERPT && label.ends_with(",... 99900 more>"), "{label}");
    }
}
