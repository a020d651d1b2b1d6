//! The implementations of a campaign: what a store keeps of each, and the way to it.
//!
//! The description in a store is the text of the implementation's file, and the text of the model if a model
//! stands for it; its hash is part of every run's key. No path of this machine is in it, so that parts of a
//! campaign done elsewhere fit together; where the file lay is kept beside it.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_adapters::description::Iut;
use coreach_execution::campaign::Iut as Described;
use coreach_model::Iosts;
use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::reader::collect::Collector;
use coreach_model::reader::yaml::{self, Node, NodeKind, from_bytes};
use coreach_model::reader::{Reading, shape};
use serde_json::{Value, json};

use crate::configuration::Reference;
use crate::iut::Simulating;
use crate::once::Once;

/// What a store keeps of an implementation's file. Only what is needed for that is looked at.
///
/// # Errors
/// The file, or the model that it names, cannot be read, or has no name.
pub fn describe(reference: &Reference, files: &mut Once) -> Result<Described, Vec<Diagnostic>> {
    let here = |found: Diagnostic| vec![found.at(reference.origin.clone(), "named here")];
    let file = files.load(&reference.path).map_err(here)?;
    let mut collector = Collector::new(file.clone());
    let looked = look(&mut collector);
    let ((name, model), _) = collector.ended(looked)?;
    let mut description = json!({ "name": name, "file": file.text });
    if let Some(model) = model {
        let folder = reference.path.parent().unwrap_or(Path::new(""));
        let model = files.load(&folder.join(model)).map_err(here)?;
        description["model"] = model.text.clone().into();
    }
    let place = reference.path.canonicalize().unwrap_or_else(|_| reference.path.clone());
    Ok(Described::new(name, description.to_string(), place.display().to_string()))
}

/// The name of the implementation, and the model that stands for it.
fn look(collector: &mut Collector) -> Option<(String, Option<String>)> {
    let root = yaml::parse(collector)?;
    let like = "iut: my_server";
    let NodeKind::Mapping(entries) = &root.kind else {
        shape::wrong_kind(collector, &root, "an IUT's file", "a mapping", like);
        return None;
    };
    let name = shape::required(collector, &root, entries, "iut", "the IUT's file", like)?;
    let name = shape::scalar(collector, name, "the IUT's name", like)?.text.clone();
    let model = match shape::get(entries, "simulated").map(|node| &node.kind) {
        Some(NodeKind::Mapping(entries)) => shape::get(entries, "model").and_then(|node| node.as_scalar()),
        _ => None,
    };
    Some((name, model.map(|scalar| scalar.text.clone())))
}

/// The files that an implementation's file names, as far as they are there: its model, its program, what that
/// is given. Any word of the text may be one.
pub fn files_of(file: Arc<SourceFile>, folder: &Path) -> Vec<PathBuf> {
    let mut collector = Collector::new(file);
    let mut words = Vec::new();
    if let Some(root) = yaml::parse(&mut collector) {
        words_of(&root, &mut words);
    }
    // A command may be started elsewhere, and its words are relative to that place.
    let mut folders = vec![folder.to_owned()];
    folders.extend(words.iter().map(|word| folder.join(word)).filter(|path| path.is_dir()));
    let places = folders.iter().flat_map(|folder| words.iter().map(move |word| folder.join(word)));
    let found: BTreeSet<PathBuf> = places.filter(|path| path.is_file()).collect();
    found.into_iter().collect()
}

/// All text of a file that may be a path: each value, and each word of one.
fn words_of(node: &Node, words: &mut Vec<String>) {
    match &node.kind {
        NodeKind::Mapping(entries) => entries.iter().for_each(|entry| words_of(&entry.value, words)),
        NodeKind::Sequence(items) => items.iter().for_each(|item| words_of(item, words)),
        _ => {
            if let Some(scalar) = node.as_scalar() {
                words.push(scalar.text.clone());
                words.extend(scalar.text.split_whitespace().map(str::to_owned));
            }
        }
    }
}

/// The implementation that a store describes, for a test case with this graph. `file` is where its
/// description was read: a command is started from there. A model is in the store.
///
/// # Errors
/// The description is none of ours, or does not fit the test case.
pub fn reopen(description: &str, file: &str, test: &Iosts) -> Reading<Iut> {
    let refused = |message: String| vec![Diagnostic::error("no-implementation", message)];
    let json: Value = serde_json::from_str(description).map_err(|error| {
        refused(format!("the store's description of the implementation cannot be read: {error}"))
    })?;
    let text = |key: &str| json.get(key).and_then(Value::as_str);
    let (Some(name), Some(written)) = (text("name"), text("file")) else {
        return Err(refused("the store describes the implementation in an unknown way".to_owned()));
    };
    if let Some(model) = text("model") {
        let model: Arc<SourceFile> = from_bytes(format!("the model of {name}"), model.as_bytes().to_vec())
            .map_err(|found| vec![found])?;
        let (stands, warnings) = crate::iut::standing(model)?;
        let written =
            from_bytes(file.to_owned(), written.as_bytes().to_vec()).map_err(|found| vec![found])?;
        let (Simulating { way, link, behaviour }, _) = crate::iut::simulating(written, stands, test)?;
        let evidence = Default::default();
        return Ok((Iut { name: name.to_owned(), way, link, behaviour, evidence }, warnings));
    }
    let path = Path::new(file);
    let written = from_bytes(file.to_owned(), written.as_bytes().to_vec()).map_err(|found| vec![found])?;
    crate::iut::read(written, path.parent().unwrap_or(Path::new("")), Some(test))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic")]

    use coreach_model::reader::read_specification;

    use super::*;

    /// The description is hashed into the keys of runs: what is started must be what it says, whatever has
    /// become of the file since.
    #[test]
    fn what_is_described_is_what_is_read() {
        let folder = std::env::temp_dir().join(format!("coreach-once-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("iut.yaml");
        std::fs::write(&path, "iut: first\nstdio: { command: [first] }\n").unwrap();
        let collector = Collector::new(from_bytes("campaign".to_owned(), Vec::new()).unwrap());
        let reference = Reference { path: path.clone(), origin: collector.origin(&(0..0)) };
        let mut files = Once::default();
        let described = describe(&reference, &mut files).unwrap();
        // Replaced, as an editor does it.
        let other = folder.join("other.yaml");
        std::fs::write(&other, "iut: second\nstdio: { command: [second] }\n").unwrap();
        std::fs::rename(&other, &path).unwrap();
        let model = "iosts: m\nlocations: [A]\ninitial: { location: A }\noutputs: { O: {} }\ntransitions: [{ from: A, to: A, on: O }]\n";
        let model = from_bytes("m".to_owned(), model.as_bytes().to_vec()).unwrap();
        let iosts = read_specification(model).unwrap().0.iosts;
        let (read, _) = crate::iut::load_once(&path, &iosts, None, &mut files).unwrap();
        assert_eq!((described.name.as_str(), read.name.as_str()), ("first", "first"));
        let coreach_adapters::description::Transport::Stdio(stdio) = read.way else {
            panic!("{:?}", read.way)
        };
        assert_eq!(stdio.command.words[0].fill(|_| None), Ok("first".to_owned()));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
