//! What kind a file is, looked at from outside: whoever gives a file to a command that takes another kind is told which command takes it.
//!
//! [`models`](crate::models) and [`checked`](crate::checked) read files for what is in them, and say what is wrong. Here a mistake in a file is nobody's business:
//! where the kind is not plain, there is none.

use std::path::Path;

use coreach_model::iosts::Aim;
use coreach_model::reader::load;
use coreach_model::{file, json};

use crate::budget;
use crate::models::{FileKind, kind_of};
use crate::stored::STORE;

/// A larger document is not looked into for its kind alone.
const LARGEST: u64 = 16 << 20;

/// A kind of file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
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

impl Kind {
    /// All of them.
    pub const ALL: [Kind; 9] = [
        Kind::Specification,
        Kind::Purpose,
        Kind::Property,
        Kind::Configuration,
        Kind::Iut,
        Kind::Campaign,
        Kind::TestCase,
        Kind::Run,
        Kind::Store,
    ];

    /// With its article: `a purpose`.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Specification => "a specification",
            Kind::Purpose => "a purpose",
            Kind::Property => "a property",
            Kind::Configuration => "a configuration",
            Kind::Iut => "an IUT's file",
            Kind::Campaign => "a campaign",
            Kind::TestCase => "a test case",
            Kind::Run => "a run",
            Kind::Store => "a campaign's store",
        }
    }
}

/// The kind of a file, where it is plain.
pub fn kind(path: &Path) -> Option<Kind> {
    use std::io::Read;
    let opened = file::open(path).ok()?;
    let mut bytes = Vec::new();
    opened.take(STORE.len() as u64).read_to_end(&mut bytes).ok()?;
    if bytes == STORE {
        return Some(Kind::Store);
    }
    if path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json")) {
        let document = json::document(&file::read(path, LARGEST).ok()?).ok()?;
        let has = |key: &str| document.get(key).is_some();
        return match () {
            () if has("locations") && has("transitions") => Some(Kind::TestCase),
            () if has("trace") && has("verdict") => Some(Kind::Run),
            () => None,
        };
    }
    let known = budget::reading(|| kind_of(&load(path).map_err(|found| vec![found])?));
    Some(match known.ok()? {
        FileKind::Specification(_) => Kind::Specification,
        FileKind::Purpose { aim: Aim::Accept, .. } => Kind::Purpose,
        FileKind::Purpose { aim: Aim::Violate, .. } => Kind::Property,
        FileKind::Configuration => Kind::Configuration,
        FileKind::Iut => Kind::Iut,
        FileKind::Campaign => Kind::Campaign,
    })
}
