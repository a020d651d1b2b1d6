//! The reasons why a document is refused.

use std::fmt;

use crate::format::FORMAT_VERSION;

/// Why a document is not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DocumentError {
    /// The file cannot be read.
    Unreadable(String),
    /// It is no JSON document: the parser's message, with line and column.
    NoJson(String),
    /// It is JSON, and no document of ours: what is missing or wrong, and where.
    NoDocument(String),
    /// A condition in it is nested more deeply than is read.
    TooDeep(String),
    /// It is of another version.
    Version(u64),
    /// It is another stage's artifact.
    Stage(String),
    /// The purpose cannot be reached: there is nothing to run.
    Unreachable,
}

impl fmt::Display for DocumentError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            DocumentError::Unreadable(why) => write!(f, "the test case cannot be read: {why}"),
            DocumentError::NoJson(why) => write!(f, "the test case is not JSON: {why}"),
            DocumentError::NoDocument(why) => write!(f, "not a document that `coreach run` writes: {why}"),
            DocumentError::TooDeep(what) => f.write_str(what),
            DocumentError::Version(version) if *version < FORMAT_VERSION => write!(
                f,
                "the document has format version {version} of an earlier release, but this program reads {FORMAT_VERSION}: make it again with `coreach run`"
            ),
            DocumentError::Version(version) => {
                write!(f, "the document has format version {version}; this program reads {FORMAT_VERSION}")
            }
            DocumentError::Stage(stage) => {
                write!(f, "the document contains the stage `{stage}`; expected `test_case`")
            }
            DocumentError::Unreachable => {
                f.write_str("the purpose cannot be reached: there is nothing to run")
            }
        }
    }
}

impl std::error::Error for DocumentError {}

impl From<String> for DocumentError {
    fn from(why: String) -> Self {
        DocumentError::NoDocument(why)
    }
}
