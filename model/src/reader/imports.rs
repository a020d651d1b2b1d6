//! Types and functions that several files have in common: `import:`.
//!
//! An imported file has `types:`, `functions:` and imports of its own, and nothing else. What it declares is
//! declared where it is imported, as if it stood there first. It is read with its own text, so a mistake in
//! it is told there; a file to which several ways lead is read once, and one that leads back to itself is a
//! cycle.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SourceFile};
use crate::reader::collect::Collector;
use crate::reader::functions::read_functions;
use crate::reader::scope::Names;
use crate::reader::types::{Types, read_types};
use crate::reader::yaml::{Entry, Node, NodeKind, Scalar};
use crate::reader::{shape, yaml};

const LIKE: &str = "import: [common.yaml]";
const KEYS: [&str; 3] = ["import", "types", "functions"];

/// Imported files may import, so deep.
const DEEPEST: usize = 8;

/// Reads `import:` into the types and the names. The mistakes have been reported.
pub(super) fn read_imports(
    collector: &mut Collector,
    entries: &[Entry],
    types: &mut Types,
    names: &mut Names,
) {
    let own = real(Path::new(&collector.file.name));
    Importing { types, names, busy: vec![own], done: Vec::new() }.read(collector, entries);
}

/// The file that a scalar names, beside the file that names it; a mistake is reported. `what` is "the part".
pub(super) fn open(collector: &mut Collector, scalar: &Scalar, what: &str) -> Option<Arc<SourceFile>> {
    let origin = collector.origin(&scalar.span);
    let folder = Path::new(&origin.file.name).parent().unwrap_or(Path::new("")).to_owned();
    let path = folder.join(&scalar.text);
    if !path.is_file() {
        let state = if path.is_dir() { "a folder, not a file" } else { "no such file" };
        let diagnostic = Diagnostic::error("missing-file", format!("{what} cannot be read: {state}"))
            .at(origin, state)
            .help("paths are relative to the folder of the file that names them");
        collector.push(diagnostic);
        return None;
    }
    let read = yaml::load(&path);
    read.map_err(|diagnostic| collector.push(diagnostic.at(origin, "named here"))).ok()
}

/// The scalars under `import:`, one or a list.
pub(super) fn imported(node: &Node) -> Vec<&Node> {
    match &node.kind {
        NodeKind::Sequence(items) => items.iter().map(|item| &**item).collect(),
        _ if node.is_nothing() => Vec::new(),
        _ => vec![node],
    }
}

struct Importing<'a> {
    types: &'a mut Types,
    names: &'a mut Names,
    /// The files that are being read, outermost first.
    busy: Vec<PathBuf>,
    done: Vec<PathBuf>,
}

impl Importing<'_> {
    fn read(&mut self, collector: &mut Collector, entries: &[Entry]) {
        let Some(node) = shape::get(entries, "import") else { return };
        for item in imported(node) {
            if collector.is_full() {
                break;
            }
            let Some(scalar) = shape::scalar(collector, item, "an imported file", LIKE) else { continue };
            let Some(file) = open(collector, scalar, "the imported file") else { continue };
            let path = real(Path::new(&file.name));
            if self.done.contains(&path) {
                continue;
            }
            let (code, message) = if self.busy.contains(&path) {
                ("cyclic-import", format!("`{}` leads back to itself", scalar.text))
            } else if self.busy.len() > DEEPEST {
                ("too-deep", format!("imports of imports are read {DEEPEST} deep"))
            } else {
                self.busy.push(path);
                self.file(collector, file);
                self.done.extend(self.busy.pop());
                continue;
            };
            let chain = self.busy.iter().chain([&path]).filter_map(|path| path.file_name()?.to_str());
            let note = format!("the imports: {}", chain.collect::<Vec<_>>().join(" > "));
            let diagnostic = Diagnostic::error(code, message)
                .at(collector.origin(&scalar.span), "imported here")
                .note(note);
            collector.push(diagnostic);
        }
    }

    fn file(&mut self, importer: &mut Collector, file: Arc<SourceFile>) {
        let mut collector = Collector::new(file);
        if let Some(root) = yaml::parse(&mut collector) {
            self.declarations(&mut collector, &root);
        }
        let (found, _) = collector.finish();
        found.into_iter().for_each(|one| importer.push(one));
    }

    fn declarations(&mut self, collector: &mut Collector, root: &Node) {
        let like = "types: { Shelf: \"int[0..9]\" }";
        let Some(entries) = shape::mapping(collector, root, "an imported file", like) else { return };
        let models = ["iosts", "purpose", "property", "specification"];
        if let Some(entry) = entries.iter().find(|entry| models.contains(&entry.key.text.as_str())) {
            let message =
                format!("only types and functions are imported, and this file begins `{}:`", entry.key.text);
            let help = "put what files have in common into a file of its own, with `types:` and `functions:`";
            collector.mistake("wrong-kind-of-file", message, &entry.key.span, "a file of another kind", help);
            return;
        }
        shape::check_keys(collector, entries, &KEYS, "an imported file");
        self.read(collector, entries);
        if let Some(node) = shape::get(entries, "types") {
            read_types(collector, node, self.types, self.names);
        }
        self.names.types = self.types.in_order();
        read_functions(collector, entries, self.types, self.names);
    }
}

/// The path by which two names of one file are one.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
