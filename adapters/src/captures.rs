//! What a run has taken out of answers, to be sent later: a token, a cookie, the number of a new thing.
//!
//! ```text
//! value of a capture = that of the last message of this run that has it, else its default, else none
//! ```
//!
//! The description says which messages have it. It is a group of a pattern, a field of a frame, or a header,
//! a cookie or a part of the body of an HTTP answer ([`crate::reply::capture_value`]). A capture is no value
//! of the model, and no judge sees it. It is forgotten with its run: the next run begins with none.

use std::collections::BTreeMap;
use std::fmt;

use regex::Regex;

use crate::pattern::written;

/// Something that is taken out of what was received, to be sent later ([`Captures`]).
#[derive(Clone, Debug)]
pub struct Capture {
    pub name: String,
    pub place: AnswerPlace,
    /// The outputs that it is taken out of. If there are none, any answer.
    pub from: Vec<String>,
    /// Its value before it was taken.
    pub default: Option<String>,
}

/// Which part of a message is taken.
#[derive(Clone, Debug)]
pub struct AnswerPlace {
    pub source: Extract,
    /// A pattern that the whole text must fit. Its group is the part that is taken.
    pub pattern: Option<Regex>,
}

impl AnswerPlace {
    pub fn all_of(source: Extract) -> Self {
        AnswerPlace { source, pattern: None }
    }

    pub fn pointer(to: &str) -> Self {
        AnswerPlace::all_of(Extract::Pointer(to.to_owned()))
    }

    /// Says whether any JSON may be there, and not only a text.
    pub fn is_json(&self) -> bool {
        matches!(self.source, Extract::Pointer(_)) && self.pattern.is_none()
    }
}

impl fmt::Display for AnswerPlace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Extract::Part => f.write_str("a group"),
            Extract::Header(name) => write!(f, "the header `{name}`"),
            Extract::Cookie(name) => write!(f, "the cookie `{name}`"),
            Extract::Pointer(to) => write!(f, "`{to}` of the body"),
            Extract::Body | Extract::BodyInLatin1 => f.write_str("the body"),
        }?;
        match &self.pattern {
            Some(pattern) => write!(f, " that fits `{}`", written(pattern)),
            None => Ok(()),
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extract {
    /// The text of the group of a pattern, or of the field of a frame, that has this name.
    Part,
    Header(String),
    Cookie(String),
    /// The text, number or truth value in the body to which this JSON pointer points.
    Pointer(String),
    /// The body, as UTF-8.
    Body,
    /// The body, each byte a character.
    BodyInLatin1,
}

#[derive(Clone, Default, Debug)]
pub struct Captures {
    declared: Vec<(String, Option<String>)>,
    found: BTreeMap<String, String>,
    /// Why the answer that should have had a value has none.
    missed: BTreeMap<String, String>,
}

impl Captures {
    pub fn of(declared: &[Capture]) -> Self {
        let declared = declared.iter().map(|capture| (capture.name.clone(), capture.default.clone()));
        Captures { declared: declared.collect(), ..Captures::default() }
    }

    pub fn knows(&self, name: &str) -> bool {
        self.declared.iter().any(|(declared, _)| declared == name)
    }

    pub fn get(&self, name: &str) -> Option<&str> {
        let default = || self.declared.iter().find(|(declared, _)| declared == name)?.1.as_ref();
        self.found.get(name).or_else(default).map(String::as_str)
    }

    /// Notes why an answer that should have had a value has none.
    pub fn miss(&mut self, name: &str, why: String) {
        self.missed.insert(name.to_owned(), why);
    }

    /// Says why there is no value, in words that follow its name.
    pub fn lacking(&self, name: &str) -> String {
        match self.missed.get(name) {
            Some(why) => format!("which was not captured: {why}"),
            None => "which has not been captured in this run, and has no `default`".to_owned(),
        }
    }

    pub fn take(&mut self, name: &str, value: &str) {
        if self.knows(name) {
            self.found.insert(name.to_owned(), value.to_owned());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_later_counts_and_what_never_came_is_the_default() {
        let capture = |name: &str, default: Option<&str>| Capture {
            name: name.to_owned(),
            place: AnswerPlace::all_of(Extract::Part),
            from: Vec::new(),
            default: default.map(str::to_owned),
        };
        let mut captures = Captures::of(&[capture("a", None), capture("b", Some("none"))]);
        assert_eq!((captures.get("a"), captures.get("b"), captures.get("c")), (None, Some("none"), None));
        for (name, value) in [("a", "1"), ("b", "2"), ("a", "3"), ("c", "4")] {
            captures.take(name, value);
        }
        assert_eq!((captures.get("a"), captures.get("b"), captures.get("c")), (Some("3"), Some("2"), None));
    }
}
