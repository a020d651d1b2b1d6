//! Each file of a command, read once.
//!
//! A file may change while a command runs. Whoever hashes it, looks for its name and then parses it must look
//! at the same bytes each time, or a run is filed under a description that was never in force. So a command
//! that needs a file more than once asks for it here: the first answer, content or complaint, is the answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::reader::yaml;

/// The files that were asked for so far.
#[derive(Default, Debug)]
pub struct Once(BTreeMap<PathBuf, Result<Arc<SourceFile>, Diagnostic>>);

impl Once {
    /// The file as it was when it was asked for first.
    pub fn load(&mut self, path: &Path) -> Result<Arc<SourceFile>, Diagnostic> {
        if let Some(known) = self.0.get(path) {
            return known.clone();
        }
        let loaded = yaml::load(path);
        self.0.insert(path.to_owned(), loaded.clone());
        loaded
    }
}
