//! What kind a file is, looked at from outside: whoever gives a file to a command that takes another kind is
//! told which command takes it.
//!
//! [`models`](crate::models) and [`checked`](crate::checked) read files for what is in them, and say what is
//! wrong. Here a mistake in a file is nobody's business: where the kind is not plain, there is none.

use std::path::Path;

use coreach_model::iosts::Aim;
use coreach_model::reader::from_bytes;
use coreach_model::{file, json};

use crate::budget;
use crate::models::{FileKind, kind_of};
use crate::stored::STORE;

/// A larger document is not looked into for its kind alone.
const LARGEST: u64 = 16 << 20;

/// A kind of file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ListedKind {
    /// `iosts:`
    Specification,
    /// `purpose:`
    Purpose,
    /// `property:`
    Property,
    /// `specification:`
    Configuration,
    /// `iut:`
    Iut,
    /// `campaign:`
    Campaign,
    /// A test case, or another stage's result, as JSON.
    TestCase,
    /// A run, as JSON.
    Run,
    /// A campaign's store.
    Store,
}

impl ListedKind {
    /// All of them.
    pub const ALL: [ListedKind; 9] = [
        ListedKind::Specification,
        ListedKind::Purpose,
        ListedKind::Property,
        ListedKind::Configuration,
        ListedKind::Iut,
        ListedKind::Campaign,
        ListedKind::TestCase,
        ListedKind::Run,
        ListedKind::Store,
    ];

    /// With its article: `a purpose`.
    pub fn name(self) -> &'static str {
        match self {
            ListedKind::Specification => "a specification",
            ListedKind::Purpose => "a purpose",
            ListedKind::Property => "a property",
            ListedKind::Configuration => "a configuration",
            ListedKind::Iut => "an IUT's file",
            ListedKind::Campaign => "a campaign",
            ListedKind::TestCase => "a test case",
            ListedKind::Run => "a run",
            ListedKind::Store => "a campaign's store",
        }
    }
}

/// The kind of a file, where it is plain.
pub fn kind(path: &Path) -> Option<ListedKind> {
    use std::io::Read;
    let mut opened = file::open(path).ok()?;
    let mut bytes = Vec::new();
    opened.by_ref().take(STORE.len() as u64).read_to_end(&mut bytes).ok()?;
    if bytes == STORE {
        return Some(ListedKind::Store);
    }
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        bytes.extend(file::rest(opened, LARGEST).ok()?);
        let document = json::document(&bytes).ok()?;
        let has = |key: &str| document.get(key).is_some();
        return match () {
            () if has("locations") && has("transitions") => Some(ListedKind::TestCase),
            () if has("trace") && has("verdict") => Some(ListedKind::Run),
            () => None,
        };
    }
    bytes.extend(file::rest(opened, LARGEST).ok()?);
    let known = budget::reading(|| kind_of(&from_bytes(String::new(), bytes).map_err(|found| vec![found])?));
    Some(match known.ok()? {
        FileKind::Specification(_) => ListedKind::Specification,
        FileKind::Purpose { aim: Aim::Accept, .. } => ListedKind::Purpose,
        FileKind::Purpose { aim: Aim::Violate, .. } => ListedKind::Property,
        FileKind::Configuration => ListedKind::Configuration,
        FileKind::Iut => ListedKind::Iut,
        FileKind::Campaign => ListedKind::Campaign,
    })
}
