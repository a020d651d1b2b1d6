//! Reads each file of a command once.
//!
//! A file may change while a command runs. A command that hashes a file and later parses it must see the same
//! bytes both times. Otherwise it would file a run under a description that was never in force. So a command
//! that needs a file more than once loads it here. The first result, content or error, counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::reader::yaml;

/// The files that were loaded so far.
#[derive(Default, Debug)]
pub struct Once(BTreeMap<PathBuf, Result<Arc<SourceFile>, Diagnostic>>);

impl Once {
    /// Returns the file as it was at the first call.
    pub fn load(&mut self, path: &Path) -> Result<Arc<SourceFile>, Diagnostic> {
        if let Some(known) = self.0.get(path) {
            return known.clone();
        }
        let loaded = yaml::load(path);
        self.0.insert(path.to_owned(), loaded.clone());
        loaded
    }
}
