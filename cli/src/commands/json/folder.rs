//! The folder of one request: made anew, read without following links, removed at its end.
//!
//! A command may start others, and these may put anything there: links, pipes, folders without end. So what
//! is read back is looked at name by name, and there are limits on all of it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, DirBuilder, OpenOptions};
use std::io::Write;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use coreach_adapters::marker::folder;
use coreach_model::file;
use serde_json::Value as Json;

/// The most bytes of all files that are given back.
const MOST_BYTES: u64 = 64 << 20;

/// The most files that are told.
const MOST_MADE: usize = 10_000;

/// The most findings, in bytes.
const MOST_FINDINGS: u64 = 16 << 20;

/// Texts by names of files.
type Texts = BTreeMap<String, String>;

/// A folder such as launches have: removed when it is dropped, and at our end; after a kill of ours, by the
/// next start of coreach.
pub struct Folder(folder::MarkerFolder);

impl Folder {
    pub fn new() -> Result<Self, String> {
        let told = |error| format!("cannot make a folder for the request: {error}");
        let folder = Folder(folder::MarkerFolder::new().map_err(told)?);
        DirBuilder::new().mode(0o700).create(folder.inside()).map_err(told)?;
        Ok(folder)
    }

    fn at(&self, name: &str) -> PathBuf {
        Path::new(self.0.name()).join(name)
    }

    /// Where the command runs.
    pub fn inside(&self) -> PathBuf {
        self.at("request")
    }

    /// Where it notes what it finds.
    pub fn noted(&self) -> PathBuf {
        self.at("findings")
    }

    /// Puts a file of the request there. Only such files are there yet, so no link can be.
    pub fn put(&self, name: &str, text: &str) -> Result<(), String> {
        let told = |error| format!("cannot write the file `{name}`: {error}");
        let path = self.inside().join(name);
        if let Some(above) = path.parent() {
            fs::create_dir_all(above).map_err(told)?;
        }
        let mut file = OpenOptions::new().write(true).create_new(true).open(&path).map_err(told)?;
        file.write_all(text.as_bytes()).map_err(told)
    }

    /// The findings that were drawn.
    pub fn findings(&self) -> Vec<Json> {
        let bytes = file::read(&self.noted(), MOST_FINDINGS).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        let mut found: Vec<Json> = Vec::new();
        for one in text.lines().filter_map(|line| serde_json::from_str(line).ok()) {
            if !found.contains(&one) {
                found.push(one);
            }
        }
        found
    }

    /// The names of the plain files that the request did not bring, in order.
    pub fn made(&self, brought: &[(String, String)]) -> Result<BTreeSet<String>, String> {
        let brought: BTreeSet<&str> = brought.iter().map(|(name, _)| name.as_str()).collect();
        let mut made = BTreeSet::new();
        let mut work = vec![String::new()];
        let mut seen = 0;
        while let Some(prefix) = work.pop() {
            let Ok(entries) = fs::read_dir(self.inside().join(&prefix)) else { continue };
            for entry in entries.flatten() {
                seen += 1;
                if seen > MOST_MADE {
                    return Err(format!("the command left more than {MOST_MADE} files"));
                }
                // A name that is no text cannot be asked for.
                let Ok(name) = entry.file_name().into_string() else { continue };
                let name = if prefix.is_empty() { name } else { format!("{prefix}/{name}") };
                match entry.file_type() {
                    Ok(kind) if kind.is_dir() => work.push(name),
                    Ok(kind) if kind.is_file() && !brought.contains(name.as_str()) => {
                        made.insert(name);
                    }
                    _ => {}
                }
            }
        }
        Ok(made)
    }

    /// The texts of the files that are wanted: those of this name, or of this last name where it has no `/`;
    /// and why others are not given.
    pub fn wanted(&self, want: &[String], made: &BTreeSet<String>) -> (Texts, Texts) {
        let (mut given, mut withheld) = (Texts::new(), Texts::new());
        let mut left = MOST_BYTES;
        for wanted in want {
            let ending = format!("/{wanted}");
            let mut names: BTreeSet<String> = made
                .iter()
                .filter(|name| !wanted.contains('/') && name.ends_with(&ending))
                .cloned()
                .collect();
            if names.is_empty() || self.inside().join(wanted).symlink_metadata().is_ok() {
                names.insert(wanted.clone());
            }
            for name in names {
                match self.text(&name, left) {
                    Ok(text) => {
                        left -= if given.contains_key(&name) { 0 } else { text.len() as u64 };
                        given.insert(name, text);
                    }
                    Err(why) => {
                        withheld.insert(name, why);
                    }
                }
            }
        }
        (given, withheld)
    }

    fn text(&self, name: &str, most: u64) -> Result<String, String> {
        let mut path = self.inside();
        for part in name.split('/') {
            path.push(part);
            match path.symlink_metadata() {
                Ok(found) if found.is_symlink() => return Err("it is behind a link".to_owned()),
                Ok(_) => {}
                Err(error) => return Err(error.to_string()),
            }
        }
        let bytes = file::read(&path, most).map_err(|error| error.to_string())?;
        String::from_utf8(bytes).map_err(|_| "it is no text".to_owned())
    }
}
