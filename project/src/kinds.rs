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
use crate::models::{FileKind, is_document, kind_of};
use crate::stored::STORE;

/// A larger document is not looked into for its kind alone.
const LARGEST: u64 = 16 << 20;

coreach_model::words! {
    /// A kind of file.
    pub enum ListedKind {
        /// `iosts:`
        Specification = "a specification",
        /// `purpose:`
        Purpose = "a purpose",
        /// `property:`
        Property = "a property",
        /// `specification:`
        Configuration = "a configuration",
        /// `iut:`
        Iut = "an IUT's file",
        /// `campaign:`
        Campaign = "a campaign",
        /// A test case, or another stage's result, as JSON.
        TestCase = "a test case",
        /// A run, as JSON.
        Run = "a run",
        /// A campaign's store.
        Store = "a campaign's store",
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
    if is_document(path) {
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
