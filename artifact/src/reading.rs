//! A node of the table of terms while it is read.

use coreach_model::{Term, Type};
use serde_json::Value as Json;

use crate::types::TypeNumber;

/// The place of a term in the table of terms.
pub type TermNumber = usize;

/// A node that is read: its word, the rest of it, and the terms and types before it.
pub(crate) struct Reading<'a> {
    pub(crate) word: &'a str,
    pub(crate) rest: &'a [Json],
    pub(crate) terms: &'a [Term],
    pub(crate) types: &'a [Type],
}

impl Reading<'_> {
    /// Says what is wrong with the node.
    pub(crate) fn wrong<T>(&self, why: &str) -> Result<T, String> {
        Err(format!("`{}`: {why}", self.word))
    }

    /// Checks that the node has so many parts.
    pub(crate) fn arity(&self, count: usize) -> Result<(), String> {
        if self.rest.len() == count { Ok(()) } else { self.wrong("it has too many parts, or too few") }
    }

    /// Reads a part as a number.
    pub(crate) fn place(&self, at: usize) -> Result<usize, String> {
        let number = self.rest.get(at).and_then(Json::as_u64).and_then(|number| usize::try_from(number).ok());
        number.map_or_else(|| self.wrong("a part is no number"), Ok)
    }

    /// Gives the term with this number, which must be before the node.
    pub(crate) fn part_of(&self, number: Option<usize>) -> Result<Term, String> {
        let term = number.and_then(|number| self.terms.get(number));
        term.map_or_else(|| self.wrong("a part is no term before it"), |term| Ok(term.clone()))
    }

    pub(crate) fn part(&self, at: usize) -> Result<Term, String> {
        self.part_of(Some(self.place(at)?))
    }

    pub(crate) fn ty(&self, at: usize) -> Result<&Type, String> {
        let number: TypeNumber = self.place(at)?;
        self.types.get(number).map_or_else(|| self.wrong("there is no such type"), Ok)
    }

    /// Reads a part as a list of terms.
    pub(crate) fn list(&self, at: usize) -> Result<Vec<Term>, String> {
        let Some(parts) = self.rest[at].as_array() else { return self.wrong("its parts are no list") };
        let place = |part: &Json| part.as_u64().and_then(|number| usize::try_from(number).ok());
        parts.iter().map(|part| self.part_of(place(part))).collect()
    }
}
