//! Decides what kind of file a file is: the bytes say the kind, and the kind says who reads the file.
//!
//! **Problem.** Commands take nine kinds of files, and users give them any name. A test case is a test case
//! without the ending `.json`, and a run in a file `x.yaml` is a run.
//!
//! **Method.** Each step reads no more than it needs. The first bytes tell a store, a JSON document of ours
//! and a text apart ([`FileContent`]). The first keys of a text tell its kind ([`read_heading`]). The keys of
//! a document tell a test case from a run ([`kind_of_document`]). The name decides only if the content does
//! not, for example for a document that is cut off.
//! **Cost.** Reading a text stops at the key that decides.

use std::cell::Cell;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_model::diagnostic::{Diagnostic, Origin, SourceFile};
use coreach_model::reader::collect::Collector;
use coreach_model::reader::from_bytes;
use coreach_model::reader::limits::ReaderLimits;
use coreach_model::reader::yaml::{self, Entry};
use coreach_model::{Aim, file, json};
use serde_json::Value as Json;

use crate::budget;

/// The first bytes of a campaign's store.
pub(crate) const STORE: &[u8] = b"SQLite format 3\0";

coreach_model::words! {
    pub enum FileKind {
        /// `iosts:`
        Specification = "a specification",
        /// `purpose:`
        Purpose = "a purpose",
        /// `property:`
        Property = "a property",
        /// `specification:`
        Configuration = "a configuration",
        /// `iut:`
        Iut = "an IUT file",
        /// `campaign:`
        Campaign = "a campaign",
        /// A test case, or another stage's result, as JSON.
        TestCase = "a test case",
        Run = "a run",
        Store = "a campaign's store",
    }
}

/// The kinds of texts, each with the key that begins it. The first key of this list that a file has decides:
/// a configuration has the key `purpose`, too.
const TEXTS: [(&str, FileKind); 6] = [
    ("specification", FileKind::Configuration),
    ("iosts", FileKind::Specification),
    ("purpose", FileKind::Purpose),
    ("property", FileKind::Property),
    ("iut", FileKind::Iut),
    ("campaign", FileKind::Campaign),
];

/// Keys that only files of one kind have.
const OWN_KEYS: [(&str, FileKind); 10] = [
    ("stdio", FileKind::Iut),
    ("tcp", FileKind::Iut),
    ("udp", FileKind::Iut),
    ("http", FileKind::Iut),
    ("simulated", FileKind::Iut),
    ("inputs", FileKind::Specification),
    ("outputs", FileKind::Specification),
    ("observes", FileKind::Purpose),
    ("iuts", FileKind::Campaign),
    ("seeds", FileKind::Campaign),
];

impl FileKind {
    /// The first key of a text of this kind.
    pub fn first_key(self) -> Option<&'static str> {
        TEXTS.iter().find(|(_, kind)| *kind == self).map(|(key, _)| *key)
    }

    /// Returns what a purpose or a property aims at.
    pub fn aim(self) -> Option<Aim> {
        match self {
            FileKind::Purpose => Some(Aim::Accept),
            FileKind::Property => Some(Aim::Violate),
            _ => None,
        }
    }
}

/// The form of a file's content, as its first bytes tell it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileContent {
    Store,
    /// A document of ours, as JSON: a test case, a run.
    Document,
    /// Text that people write, as YAML.
    Text,
}

pub fn read_content(path: &Path) -> io::Result<FileContent> {
    content_of(path, &mut file::open(path)?, &mut Vec::new(), file::MOST_DOCUMENT)
}

/// Finds the form of an open file's content. Appends the bytes that it reads to `bytes`. Where the first
/// bytes do not decide, a file of up to `most` bytes is read.
fn content_of(path: &Path, opened: &mut File, bytes: &mut Vec<u8>, most: u64) -> io::Result<FileContent> {
    opened.by_ref().take(4096).read_to_end(bytes)?;
    if bytes.starts_with(STORE) {
        return Ok(FileContent::Store);
    }
    let by_name = content_by_name(path);
    // The content is not JSON. A key that begins a text decides before the name does.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        let head = String::from_utf8_lossy(bytes);
        let has_key = |line: &str| TEXTS.iter().any(|(key, _)| line.starts_with(&format!("{key}:")));
        return Ok(if head.lines().any(has_key) { FileContent::Text } else { by_name });
    }
    const MARK: &[u8] = b"\"format_version\"";
    if bytes.windows(MARK.len()).any(|window| window == MARK) {
        return Ok(FileContent::Document);
    }
    let Ok(remaining_bytes) = file::read_rest(opened.try_clone()?, most) else { return Ok(by_name) };
    bytes.extend(remaining_bytes);
    let Ok(document) = json::document(bytes) else { return Ok(by_name) };
    let has = |key: &str| document.get(key).is_some();
    // JSON is YAML, too: people may write a specification in braces.
    let is_text = !has("format_version") && TEXTS.iter().any(|(key, _)| has(key));
    Ok(if is_text { FileContent::Text } else { FileContent::Document })
}

fn content_by_name(path: &Path) -> FileContent {
    let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    if is_json { FileContent::Document } else { FileContent::Text }
}

/// Looks at the first bytes of a file. If the file cannot be read, its name decides.
pub(crate) fn find_content(path: &Path) -> FileContent {
    read_content(path).unwrap_or_else(|_| content_by_name(path))
}

pub fn is_document(path: &Path) -> bool {
    find_content(path) == FileContent::Document
}

/// The kind of a text, as its first keys tell it.
pub struct Heading {
    pub kind: FileKind,
    /// The value of the key that decides the kind, for example the name of a specification.
    pub name: String,
    /// The name of the specification that a purpose or a property is of, and its place.
    pub of: Option<(String, Origin)>,
}

/// Looks at the first keys of a text.
///
/// # Errors
/// The file is not YAML, or of no kind that coreach reads.
pub fn read_heading(file: &Arc<SourceFile>) -> Result<Heading, Vec<Diagnostic>> {
    // A configuration may name its purpose before its specification, but has no key `of`.
    let (is_aimed, has_of) = (Cell::new(false), Cell::new(false));
    // Reads up to the key that decides.
    let found = yaml::top_keys(&file.text, |key| {
        is_aimed.set(is_aimed.get() || matches!(key, "purpose" | "property"));
        has_of.set(has_of.get() || key == "of");
        matches!(key, "specification" | "iosts" | "iut" | "campaign") || (is_aimed.get() && has_of.get())
    });
    let value = |key: &str| found.iter().find(|(known, _)| known == key).map(|(_, value)| value);
    let of = value("of").map(|of| (of.text.clone(), Origin { file: file.clone(), span: of.span.clone() }));
    let kinds = || TEXTS.into_iter().filter_map(|(key, kind)| Some((kind, value(key)?)));
    // A purpose without `of` may be a file of another kind, if it is not YAML further down.
    if let Some((kind, name)) = kinds().find(|(kind, _)| kind.aim().is_none() || of.is_some()) {
        return Ok(Heading { kind, name: name.text.clone(), of });
    }
    // No key has decided. If the file is not YAML further down, that is the mistake to report.
    let mut collector = Collector::new(file.clone());
    if yaml::parse(&mut collector).is_none() {
        return Err(collector.finish().0);
    }
    // `purpose: a.yaml` names a file, so this is a configuration whose key `specification` may be misspelt.
    let is_file = |name: &yaml::Scalar| name.text.ends_with(".yaml") || name.text.ends_with(".yml");
    let configuration = kinds().find(|(kind, name)| kind.aim().is_some() && is_file(name));
    let configuration = configuration.map(|(_, name)| (FileKind::Configuration, name));
    if let Some((kind, name)) = configuration.or_else(|| kinds().next()) {
        return Ok(Heading { kind, name: name.text.clone(), of });
    }
    let message = format!("coreach does not read files like {}", file.name);
    let is_model = value("transitions").is_some() && value("initial").is_some();
    Err(vec![
        Diagnostic::error("unknown-kind-of-file", message)
            .at(first_line(file), "expected a mapping with one of six keys")
            .help(if is_model {
                "a specification begins with `iosts:` and its name, and a purpose with `purpose:` and its name"
            } else {
                "a specification has the key `iosts:`, a purpose `purpose:`, a property `property:`, a \
                 configuration `specification:`, an IUT file `iut:`, a campaign `campaign:`"
            }),
    ])
}

/// Gives the place of the first line.
pub(crate) fn first_line(file: &Arc<SourceFile>) -> Origin {
    Origin { file: file.clone(), span: 0..file.text.lines().next().map_or(0, str::len) }
}

/// Finds the kind that a text has by its other keys, whatever its first key is.
pub fn kind_by_keys(file: &SourceFile) -> Option<FileKind> {
    let keys = yaml::top_keys(&file.text, |_| false);
    let found = OWN_KEYS.iter().find(|(own, _)| keys.iter().any(|(key, _)| key == own));
    found.map(|(_, kind)| *kind)
}

pub fn kind_of(file: &Arc<SourceFile>) -> Result<FileKind, Vec<Diagnostic>> {
    read_heading(file).map(|heading| heading.kind)
}

/// Returns the kind of a document: a test case or a run. Other documents are of no kind.
pub fn kind_of_document(document: &Json) -> Option<FileKind> {
    let has = |key: &str| document.get(key).is_some();
    match () {
        () if has("locations") && has("transitions") => Some(FileKind::TestCase),
        () if has("trace") && has("verdict") => Some(FileKind::Run),
        () => None,
    }
}

/// Finds the kind of any file. A file with mistakes may have none, and nothing is reported.
pub fn find_kind(path: &Path) -> Option<FileKind> {
    // Opened once: another program may replace the file between two looks.
    let (mut opened, mut bytes) = (file::open(path).ok()?, Vec::new());
    let largest = ReaderLimits::GENERATED.bytes as u64;
    let content = content_of(path, &mut opened, &mut bytes, largest).ok()?;
    // The rest, which was not needed to find the content's form.
    if content != FileContent::Store {
        bytes.extend(file::read_rest(opened, largest).ok()?);
    }
    match content {
        FileContent::Store => Some(FileKind::Store),
        FileContent::Document => kind_of_document(&json::document(&bytes).ok()?),
        FileContent::Text => {
            let look = || kind_of(&from_bytes(String::new(), bytes).map_err(|found| vec![found])?);
            budget::reading(look).ok()
        }
    }
}

/// Reads a text that must be of one of these kinds.
///
/// # Errors
/// The file cannot be read, or is of another kind.
pub fn load_text_of(path: &Path, takes: &[FileKind]) -> Result<(FileKind, Arc<SourceFile>), Vec<Diagnostic>> {
    let file = yaml::load(path).map_err(|found| vec![found])?;
    let kind = kind_of(&file)?;
    if takes.contains(&kind) {
        return Ok((kind, file));
    }
    let names: Vec<&str> = takes.iter().map(|kind| kind.name()).collect();
    let message = format!("expected {}, but this is {}: {}", names.join(" or "), kind.name(), file.name);
    Err(vec![Diagnostic::error("wrong-kind-of-file", message)])
}

/// Reports a file that has the first key of another kind only, and returns true then.
pub(crate) fn report_other_kind(collector: &mut Collector, entries: &[Entry], expected: FileKind) -> bool {
    let find = |key: &str| entries.iter().find(|entry| entry.key.text == key);
    let Some((own, _)) = TEXTS.into_iter().find(|(_, kind)| *kind == expected) else { return false };
    let other = TEXTS.iter().find_map(|(key, kind)| find(key).map(|entry| (entry, kind.name())));
    let (None, Some((entry, kind))) = (find(own), other) else { return false };
    let what = expected.name();
    let message = format!("expected {what}, but this is {kind}");
    let help = format!("{what} begins with `{own}:` and its name");
    collector.mistake("wrong-kind-of-file", message, &entry.key.span, format!("this begins {kind}"), help);
    true
}

/// Lists the YAML files in a folder, by name. Of very many files, only the first are listed.
pub(crate) fn list_yaml_files(folder: &Path) -> Vec<PathBuf> {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let items = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|e| e == "yaml" || e == "yml");
    let mut paths: Vec<PathBuf> = items.map(|item| item.path()).filter(is_yaml).collect();
    paths.sort();
    paths.truncate(file::MOST_READ);
    let short = |path: PathBuf| path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
    paths.into_iter().map(short).collect()
}
