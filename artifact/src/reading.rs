//! A node of the table of terms while it is read.

use coreach_model::{Term, Type};
use serde_json::Value as Json;

use crate::types::TypeNumber;

/// The place of a term in the table of terms.
pub type TermNumber = usize;

/// A node that is read: its word, the parts after it, and the terms and types before it.
pub(crate) struct NodeReading<'a> {
    pub(crate) word: &'a str,
    pub(crate) parts: &'a [Json],
    pub(crate) terms: &'a [Term],
    pub(crate) types: &'a [Type],
}

impl NodeReading<'_> {
    /// Says what is wrong with the node.
    pub(crate) fn wrong<T>(&self, why: &str) -> Result<T, String> {
        Err(format!("`{}`: {why}", self.word))
    }

    /// Checks that the node has so many parts.
    pub(crate) fn arity(&self, count: usize) -> Result<(), String> {
        if self.parts.len() == count { Ok(()) } else { self.wrong("it has too many or too few parts") }
    }

    /// Reads a part as a number.
    pub(crate) fn place(&self, part: usize) -> Result<usize, String> {
        let number = self.parts.get(part).and_then(as_number);
        number.map_or_else(|| self.wrong("a part is not a number"), Ok)
    }

    /// Gives the term with this number, which must be before the node.
    pub(crate) fn part_of(&self, number: Option<usize>) -> Result<Term, String> {
        let term = number.and_then(|number| self.terms.get(number));
        term.map_or_else(|| self.wrong("a part is not an earlier term"), |term| Ok(term.clone()))
    }

    /// Reads a part as the number of a term.
    pub(crate) fn part(&self, part: usize) -> Result<Term, String> {
        self.part_of(Some(self.place(part)?))
    }

    /// Reads a part as the number of a type.
    pub(crate) fn ty(&self, part: usize) -> Result<&Type, String> {
        let number: TypeNumber = self.place(part)?;
        self.types.get(number).map_or_else(|| self.wrong("there is no such type"), Ok)
    }

    /// Reads a part as a list of terms.
    pub(crate) fn list(&self, part: usize) -> Result<Vec<Term>, String> {
        let Some(numbers) = self.parts[part].as_array() else { return self.wrong("expected a list") };
        numbers.iter().map(|number| self.part_of(as_number(number))).collect()
    }
}

/// Finds the word of a value in a list.
pub(crate) fn find_word<T: PartialEq>(words: &[(&'static str, T)], wanted: T) -> &'static str {
    words.iter().find(|(_, value)| *value == wanted).map_or("", |(word, _)| word)
}

/// The number, if it can be a place in a table.
pub(crate) fn as_number(json: &Json) -> Option<usize> {
    json.as_u64().and_then(|number| usize::try_from(number).ok())
}
