//! Describes the implementations of a campaign for its store, and reads such descriptions back.
//!
//! The description in a store is the text of the implementation's file, and the text of its model if it is
//! simulated. The description's hash is part of every run's key. The description has no path of this machine,
//! so that parts of a campaign done elsewhere fit together. The store keeps the file's path separately.
//!
//! Secrets of the file are hashed and not kept. Secrets are the values of its `environment`, and of the
//! headers that its `redact` names. They are later read from the file, if nothing else in it has changed.

use std::collections::BTreeSet;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_adapters::description::Iut;
use coreach_execution::campaign::StoredIut;
use coreach_model::Iosts;
use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::reader::collect::Collector;
use coreach_model::reader::yaml::{self, Entry, NodeKind, Yaml, from_bytes};
use coreach_model::reader::{Reading, shape};
use serde_json::{Value, json};

use crate::configuration::Reference;
use crate::iut::{SimulatedParts, explain_program};
use crate::once::Once;

/// Describes an implementation for a store. Reads only those parts of its file that the description needs.
///
/// # Errors
/// The file, or the model that it names, cannot be read, or has no name.
pub fn describe(reference: &Reference, files: &mut Once) -> Result<StoredIut, Vec<Diagnostic>> {
    let here = |found: Diagnostic| vec![found.at(reference.origin.clone(), "named here")];
    if let Some(program) = explain_program(&reference.path) {
        return Err(here(program));
    }
    let file = files.load(&reference.path).map_err(here)?;
    let mut collector = Collector::new(file.clone());
    let parts = find_parts(&mut collector);
    let (IutParts { name, model, secrets }, _) = collector.ended(parts)?;
    let mut description = json!({ "name": name, "file": file.text });
    if let Some(model) = model {
        let folder = reference.path.parent().unwrap_or(Path::new(""));
        let model = files.load(&folder.join(model)).map_err(here)?;
        description["model"] = model.text.clone().into();
    }
    let place = reference.path.canonicalize().unwrap_or_else(|_| reference.path.clone());
    // The hash is that of the text with its secrets, and the text is kept without them.
    let described = StoredIut::new(name, description.to_string(), place.display().to_string());
    if secrets.is_empty() {
        return Ok(described);
    }
    description["file"] = redact(&file.text, &secrets).into();
    description["redacted"] = true.into();
    Ok(StoredIut { description: description.to_string(), ..described })
}

/// Replaces each secret by `"[redacted]"`. The places ascend, and do not overlap.
fn redact(text: &str, secrets: &[Range<usize>]) -> String {
    let mut kept = text.to_owned();
    // The last secret is replaced first, so that the places before it stay right.
    for place in secrets.iter().rev() {
        // A block scalar's place includes its line end, which must stay before the next key.
        let end = place.start + text[place.clone()].trim_end().len();
        kept.replace_range(place.start..end, "\"[redacted]\"");
    }
    kept
}

/// Finds the places of all secrets, in their order: values of `environment`, and of redacted headers.
fn find_secrets(root: &Yaml) -> Vec<Range<usize>> {
    let child = |node: &Yaml, key: &str| match &node.kind {
        NodeKind::Mapping(entries) => shape::get(entries, key).cloned(),
        _ => None,
    };
    let mut redacted_headers = Vec::new();
    if let Some(names) = child(root, "evidence").and_then(|evidence| child(&evidence, "redact")) {
        collect_words(&names, &mut redacted_headers);
    }
    let is_redacted = |header: &str| redacted_headers.iter().any(|name| name.eq_ignore_ascii_case(header));
    let (mut places, mut nodes) = (Vec::new(), vec![root]);
    while let Some(node) = nodes.pop() {
        match &node.kind {
            NodeKind::Mapping(entries) => {
                for Entry { key, value } in entries {
                    let NodeKind::Mapping(inner) = &value.kind else {
                        nodes.push(value);
                        continue;
                    };
                    for entry in inner {
                        let is_secret = key.text == "environment"
                            || key.text == "headers" && is_redacted(&entry.key.text);
                        let span = entry.value.as_scalar().map(|scalar| &scalar.span);
                        places.extend(span.filter(|span| is_secret && !span.is_empty()).cloned());
                    }
                    nodes.push(value);
                }
            }
            NodeKind::Sequence(items) => nodes.extend(items.iter().map(Arc::as_ref)),
            NodeKind::Scalar(_) => {}
        }
    }
    places.sort_by_key(|place| (place.start, place.end));
    // The place of an alias is that of its anchor.
    places.dedup();
    places
}

/// The parts of an implementation's file that its description needs.
struct IutParts {
    name: String,
    /// The path of the model that simulates it.
    model: Option<String>,
    secrets: Vec<Range<usize>>,
}

/// Reads the name, the path of the model and the places of the secrets.
fn find_parts(collector: &mut Collector) -> Option<IutParts> {
    let root = yaml::parse(collector)?;
    let like = "iut: my_server";
    let NodeKind::Mapping(entries) = &root.kind else {
        shape::wrong_kind(collector, &root, "an IUT file", "a mapping", like);
        return None;
    };
    let name = shape::required(collector, &root, entries, "iut", "the IUT file", like)?;
    let name = shape::scalar(collector, name, "the IUT's name", like)?.text.clone();
    let model = match shape::get(entries, "simulated").map(|node| &node.kind) {
        Some(NodeKind::Mapping(entries)) => shape::get(entries, "model").and_then(|node| node.as_scalar()),
        _ => None,
    };
    let model = model.map(|scalar| scalar.text.clone());
    Some(IutParts { name, model, secrets: find_secrets(&root) })
}

/// Finds the files that an implementation's file names, as far as they exist: its model, its program, and
/// arguments of the program. Any word of the text may be a file.
pub fn find_named_files(file: Arc<SourceFile>, folder: &Path) -> Vec<PathBuf> {
    let mut collector = Collector::new(file);
    let mut words = Vec::new();
    if let Some(root) = yaml::parse(&mut collector) {
        collect_words(&root, &mut words);
    }
    // A command may be started in another folder, and its words are relative to that folder.
    let mut folders = vec![folder.to_owned()];
    folders.extend(words.iter().map(|word| folder.join(word)).filter(|path| path.is_dir()));
    let places = folders.iter().flat_map(|folder| words.iter().map(move |word| folder.join(word)));
    let found: BTreeSet<PathBuf> = places.filter(|path| path.is_file()).collect();
    found.into_iter().collect()
}

/// Collects all texts of a file that may be paths: each value, and each word of a value.
fn collect_words(node: &Yaml, words: &mut Vec<String>) {
    match &node.kind {
        NodeKind::Mapping(entries) => entries.iter().for_each(|entry| collect_words(&entry.value, words)),
        NodeKind::Sequence(items) => items.iter().for_each(|item| collect_words(item, words)),
        _ => {
            if let Some(scalar) = node.as_scalar() {
                words.push(scalar.text.clone());
                words.extend(scalar.text.split_whitespace().map(str::to_owned));
            }
        }
    }
}

/// Reads the implementation that a store describes, for a test case with this graph. `file` is the path of
/// the implementation's file: a command is started in its folder. A model is read from the store.
pub fn reopen(description: &str, file: &str, test: &Iosts) -> Reading<Iut> {
    let refuse = |message: String| vec![Diagnostic::error("no-implementation", message)];
    let json: Value = serde_json::from_str(description).map_err(|error| {
        refuse(format!("the store's description of the implementation cannot be read: {error}"))
    })?;
    let text = |key: &str| json.get(key).and_then(Value::as_str);
    let to_file = |name: String, text: &str| {
        from_bytes(name, text.as_bytes().to_vec()).map_err(|diagnostic| vec![diagnostic])
    };
    let (Some(name), Some(written)) = (text("name"), text("file")) else {
        return Err(refuse("the store describes the implementation in an unknown way".to_owned()));
    };
    if let Some(model) = text("model") {
        let model = to_file(format!("the model of {name}"), model)?;
        let (stand_in, warnings) = crate::iut::read_stand_in(model)?;
        let written = to_file(file.to_owned(), written)?;
        let (SimulatedParts { way, link, behaviour }, _) =
            crate::iut::read_simulated_parts(written, stand_in, test)?;
        let (name, evidence, place) = (name.to_owned(), Default::default(), String::new());
        return Ok((Iut { name, way, link, behaviour, evidence, place }, warnings));
    }
    let path = Path::new(file);
    let written = match json.get("redacted") {
        None => to_file(file.to_owned(), written)?,
        Some(_) => load_if_same_but_for_secrets(path, written).ok_or_else(|| {
            let message =
                format!("the store keeps no secrets of `{name}`, and {file} has changed or is not there");
            let help = "name its file with `--iut`";
            vec![Diagnostic::error("no-implementation", message).help(help)]
        })?,
    };
    crate::iut::read(written, path.parent().unwrap_or(Path::new("")), Some(test))
}

/// Loads the file, if it differs from the kept text only in its secrets.
fn load_if_same_but_for_secrets(path: &Path, kept: &str) -> Option<Arc<SourceFile>> {
    let file = yaml::load(path).ok()?;
    let root = yaml::parse(&mut Collector::new(file.clone()))?;
    (redact(&file.text, &find_secrets(&root)) == kept).then_some(file)
}

#[cfg(test)]
mod tests {
    use coreach_model::reader::read_specification;

    use super::*;

    /// The description is hashed into the keys of runs. So the started system must be that one.
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
        // The file is replaced as an editor does it.
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

    /// Each secret begins with `SECRET`. All other text must stay as it is written.
    const SECRETS: &str = "\
iut: r
http:
  base: http://127.0.0.1:{port}
  launch:
    command: [python3, srv.py]
    environment: { PLAIN: SECRET1, 'QUOTED': \"SECRET2 \\\" \", EMPTY: }
  reset:
    method: POST
    path: /login
    headers:
      authorization: Basic SECRET3
        SECRET4
      X-Api-Key: |
        SECRET5
        SECRET6
      Accept: &any text/plain
      Cookie: >-
        SECRET7
  stimuli:
    Put: { method: GET, path: \"/put/{p}\", headers: { AUTHORIZATION: &same \"Bearer SECRET8\", Accept: *any } }
    Get: { method: GET, path: /get, headers: { Cookie: *same, Accept: *any } } # kept
evidence: { redact: [Authorization, Cookie, x-api-key] }
";

    #[test]
    fn a_store_keeps_no_secrets_and_who_needs_them_reads_the_file_again() {
        let folder = std::env::temp_dir().join(format!("coreach-secrets-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("iut.yaml");
        let described = |text: &str| {
            std::fs::write(&path, text).unwrap();
            let collector = Collector::new(from_bytes("campaign".to_owned(), Vec::new()).unwrap());
            let reference = Reference { path: path.clone(), origin: collector.origin(&(0..0)) };
            describe(&reference, &mut Once::default()).unwrap()
        };
        let one = described(SECRETS);
        assert!(!one.description.contains("SECRET"), "{}", one.description);
        let kept: Value = serde_json::from_str(&one.description).unwrap();
        let kept = kept["file"].as_str().unwrap();
        for stays in ["Accept: &any text/plain", "python3, srv.py", "# kept", "http://127.0.0.1:{port}"] {
            assert!(kept.contains(stays), "{kept}");
        }
        // The kept text is still YAML of the same shape, so that a reader finds everything but the secrets.
        let again = from_bytes("kept".to_owned(), kept.as_bytes().to_vec()).unwrap();
        let mut collector = Collector::new(again.clone());
        let root = yaml::parse(&mut collector).unwrap_or_else(|| panic!("{kept}"));
        let places = find_secrets(&root);
        assert_eq!(redact(&again.text, &places), again.text);
        assert_eq!(places.len(), 6, "{kept}");
        // Another secret changes the hash, but not the kept text.
        assert_eq!(load_if_same_but_for_secrets(&path, kept).unwrap().text, SECRETS);
        let other = described(&SECRETS.replace("SECRET8", "ANOTHER"));
        assert_eq!(other.description, one.description);
        assert_ne!(other.hash, one.hash);
        assert!(load_if_same_but_for_secrets(&path, kept).is_some());
        described(&SECRETS.replace("/login", "/other"));
        assert!(load_if_same_but_for_secrets(&path, kept).is_none());
        // A file without secrets is kept as it is.
        let plain = described("iut: first\nstdio: { command: [first] }\n");
        assert!(plain.description.contains("command: [first]") && !plain.description.contains("redacted"));
        std::fs::remove_dir_all(folder).unwrap();
    }
}
