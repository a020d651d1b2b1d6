//! Files by what is in them: which kind each is, and where a purpose's specification lies.

use std::cell::Cell;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_model::diagnostic::{Diagnostic, Origin, SourceFile, nearest};
use coreach_model::reader::collect::Collector;
use coreach_model::reader::yaml::{self, Entry};
use coreach_model::{Aim, file, json};

/// At most so many files beside a purpose are looked into.
const MOST_SIBLINGS: usize = 200;

/// The kind of a file, by its keys.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FileKind {
    /// `iosts:`, with the name.
    Specification(String),
    /// `purpose:` or `property:`, and `of:`, with what stands behind `of`.
    Purpose {
        /// Which of the two.
        aim: Aim,
        /// The specification's name, and where it stands; nothing where the key is missing.
        of: Option<(String, Origin)>,
    },
    /// `specification:` and `purpose:`.
    Configuration,
    /// `iut:`.
    Iut,
    /// `campaign:`.
    Campaign,
}

/// The kind of a file.
///
/// # Errors
/// It is not YAML, or none of these.
pub fn kind_of(file: &Arc<SourceFile>) -> Result<FileKind, Vec<Diagnostic>> {
    // A look at the first keys suffices: reading the whole of it is the reader's work. A configuration may
    // name its purpose before its specification, but is not `of` one.
    let (named, of) = (Cell::new(None), Cell::new(false));
    let found = yaml::top_keys(&file.text, |key| {
        let aim = [Aim::Accept, Aim::Violate].into_iter().find(|aim| aim.key() == key);
        named.set(named.get().or(aim));
        of.set(of.get() || key == "of");
        matches!(key, "specification" | "iosts" | "iut" | "campaign") || (named.get().is_some() && of.get())
    });
    let text = |key: &str| {
        let (_, value) = found.iter().find(|(other, _)| other == key)?;
        Some((value.text.clone(), Origin { file: file.clone(), span: value.span.clone() }))
    };
    if text("specification").is_some() {
        return Ok(FileKind::Configuration);
    }
    if let Some((name, _)) = text("iosts") {
        return Ok(FileKind::Specification(name));
    }
    if let (Some(aim), true) = (named.get(), of.get()) {
        return Ok(FileKind::Purpose { aim, of: text("of") });
    }
    if text("iut").is_some() {
        return Ok(FileKind::Iut);
    }
    if text("campaign").is_some() {
        return Ok(FileKind::Campaign);
    }
    // None of the keys so far, perhaps because it is not even YAML further on: then that is what is wrong.
    let mut collector = Collector::new(file.clone());
    if yaml::parse(&mut collector).is_none() {
        return Err(collector.finish().0);
    }
    if let Some(aim) = [Aim::Accept, Aim::Violate].into_iter().find(|aim| text(aim.key()).is_some()) {
        return Ok(FileKind::Purpose { aim, of: text("of") });
    }
    let place = Origin { file: file.clone(), span: 0..file.text.lines().next().map_or(0, str::len) };
    let message = format!("{} is none of the files that coreach reads", file.name);
    Err(vec![
        Diagnostic::error("unknown-kind-of-file", message)
            .at(place, "expected a mapping with one of six keys")
            .help(
                "a specification has the key `iosts:`, a purpose `purpose:`, a property `property:`, a configuration \
                 `specification:`, an implementation's file `iut:`, a campaign `campaign:`",
            ),
    ])
}

/// Keys of a file of ours that is no document.
const TEXTS: [&str; 6] = ["iosts", "purpose", "property", "specification", "iut", "campaign"];

/// Whether a file is a document of ours (a test case, a run), as JSON; what is in it decides. Of what is no
/// JSON the name says what it is meant to be.
pub fn is_document(path: &Path) -> bool {
    let is_named_so = || path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let Ok(mut opened) = file::open(path) else { return is_named_so() };
    let mut bytes = Vec::new();
    if opened.by_ref().take(4096).read_to_end(&mut bytes).is_err()
        || !bytes.trim_ascii_start().starts_with(b"{")
    {
        return is_named_so();
    }
    // It stands near the beginning of what coreach writes.
    const MARK: &[u8] = b"\"format_version\"";
    if bytes.windows(MARK.len()).any(|window| window == MARK) {
        return true;
    }
    let Ok(rest) = file::rest(opened, file::MOST_DOCUMENT) else { return is_named_so() };
    bytes.extend(rest);
    match json::document(&bytes) {
        Ok(read) => read.get("format_version").is_some() || !TEXTS.iter().any(|key| read.get(key).is_some()),
        Err(_) => is_named_so(),
    }
}

/// Whether a file, which has not its own key, begins as one of another kind. Reports it; `what` is the kind
/// that is expected.
pub(crate) fn is_of_another_kind(
    collector: &mut Collector,
    entries: &[Entry],
    own: &str,
    what: &str,
) -> bool {
    const KINDS: [(&str, &str); 6] = [
        ("specification", "a configuration"),
        ("iosts", "a specification"),
        ("purpose", "a purpose"),
        ("property", "a property"),
        ("iut", "an IUT's file"),
        ("campaign", "a campaign"),
    ];
    let find = |key: &str| entries.iter().find(|entry| entry.key.text == key);
    let other = KINDS.iter().find_map(|(key, kind)| find(key).map(|entry| (entry, kind)));
    let (None, Some((entry, kind))) = (find(own), other) else { return false };
    let diagnostic = Diagnostic::error("wrong-kind-of-file", format!("expected {what}, but this is {kind}"))
        .at(collector.origin(&entry.key.span), format!("this begins {kind}"))
        .help(format!("{what} begins with `{own}:` and its name"));
    collector.push(diagnostic);
    true
}

/// The files of a specification of this name: those among the candidates, or else among the YAML files
/// beside the purpose, in the order of their names. Of files that say the same, one.
pub fn specifications_named(name: &str, candidates: &[PathBuf], purpose: &Path) -> Vec<Arc<SourceFile>> {
    let among = |paths: Vec<PathBuf>| {
        let mut found: Vec<Arc<SourceFile>> = Vec::new();
        for path in paths {
            let Ok(file) = yaml::load(&path) else { continue };
            let is_it = kind_of(&file).is_ok_and(|kind| kind == FileKind::Specification(name.to_owned()));
            if is_it && !found.iter().any(|other| other.text == file.text) {
                found.push(file);
            }
        }
        found
    };
    let given = among(candidates.to_vec());
    if given.is_empty() { among(beside(purpose)) } else { given }
}

/// That several files have the purpose's specification.
pub fn several_specifications(name: &str, origin: Origin, files: &[Arc<SourceFile>]) -> Diagnostic {
    let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
    Diagnostic::error("several-specifications", format!("several files have a specification `{name}`"))
        .at(origin, "which of them?")
        .note(names.join(", "))
        .help("give the one that is meant with this file, or call them by different names")
}

/// The YAML files beside a purpose, in the order of their names.
fn beside(purpose: &Path) -> Vec<PathBuf> {
    let folder = purpose.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let items = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let is_yaml = |path: &PathBuf| path.extension().is_some_and(|e| e == "yaml" || e == "yml");
    let mut paths: Vec<PathBuf> = items.map(|item| item.path()).filter(is_yaml).collect();
    paths.sort();
    paths.truncate(MOST_SIBLINGS);
    let short = |path: PathBuf| path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
    paths.into_iter().map(short).collect()
}

/// That the purpose's specification is not to be found; and which one there is of nearly its name.
pub fn no_specification(name: &str, origin: Origin, candidates: &[PathBuf], purpose: &Path) -> Diagnostic {
    let called = |path: PathBuf| match kind_of(&yaml::load(&path).ok()?).ok()? {
        FileKind::Specification(name) => Some(name),
        _ => None,
    };
    let mut known: Vec<String> =
        candidates.iter().cloned().chain(beside(purpose)).filter_map(called).collect();
    known.sort();
    let help = match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `of: {near}`?"),
        None => format!("name its file too: a file with `iosts: {name}`"),
    };
    Diagnostic::error("no-specification", format!("there is no specification `{name}`"))
        .at(origin, "not among the files given, and not beside this one")
        .help(help)
}
