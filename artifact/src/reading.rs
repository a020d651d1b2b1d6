//! A node of the table of terms while it is read: its word, and the parts that it names.

use coreach_model::{Term, Type};
use serde_json::Value as Json;

use crate::types::TypeNumber;

/// The place of a term in the table of terms.
pub type TermNumber = usize;

/// A node that is read: its word and the rest.
pub(crate) struct Reading<'a> {
    pub(crate) word: &'a str,
    pub(crate) rest: &'a [Json],
    pub(crate) terms: &'a [Term],
    pub(crate) types: &'a [Type],
}

impl Reading<'_> {
    pub(crate) fn wrong<T>(&self, why: &str) -> Result<T, String> {
        Err(format!("`{}`: {why}", self.word))
    }

    /// So many things belong to it.
    pub(crate) fn arity(&self, count: usize) -> Result<(), String> {
        if self.rest.len() == count { Ok(()) } else { self.wrong("it has too many parts, or too few") }
    }

    pub(crate) fn place(&self, at: usize) -> Result<usize, String> {
        let number = self.rest.get(at).and_then(Json::as_u64).and_then(|number| usize::try_from(number).ok());
        number.map_or_else(|| self.wrong("a part is no number"), Ok)
    }

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

    /// The terms of a list.
    pub(crate) fn list(&self, at: usize) -> Result<Vec<Term>, String> {
        let Some(parts) = self.rest[at].as_array() else { return self.wrong("its parts are no list") };
        let place = |part: &Json| part.as_u64().and_then(|number| usize::try_from(number).ok());
        parts.iter().map(|part| self.part_of(place(part))).collect()
    }
}
