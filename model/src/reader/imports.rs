//! Types and functions that several files share: `import:`.
//!
//! An imported file has `types:`, `functions:` and imports of its own, and nothing else. Its declarations
//! count in the importing file as if they were at its beginning. It is read with its own text, so a mistake
//! in it is reported there. A file that is imported on several ways is read once, and a file that leads back
//! to itself is a cycle.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SourceFile};
use crate::reader::collect::Collector;
use crate::reader::functions::read_functions;
use crate::reader::scope::Names;
use crate::reader::types::{Types, read_types};
use crate::reader::yaml::{Entry, NodeKind, Scalar, Yaml};
use crate::reader::{shape, yaml};

const LIKE: &str = "import: [common.yaml]";
const KEYS: [&str; 3] = ["import", "types", "functions"];

/// How deep imported files may import others, and compositions may be parts of compositions.
pub(super) const DEEPEST: usize = 8;

/// Reads `import:` into the types and the names. The mistakes have been reported.
pub(super) fn read_imports(
    collector: &mut Collector,
    entries: &[Entry],
    types: &mut Types,
    names: &mut Names,
) {
    let own = canonical_path(Path::new(&collector.file.name));
    Importing { types, names, busy: vec![own], done: Vec::new() }.read_imports(collector, entries);
}

/// Reads the file that a scalar names, relative to the file that names it. Reports a mistake. `what` is "the
/// part".
pub(super) fn open_named_file(
    collector: &mut Collector,
    scalar: &Scalar,
    what: &str,
) -> Option<Arc<SourceFile>> {
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

/// The nodes under `import:`, which is one scalar or a list.
pub(super) fn imported_nodes(node: &Yaml) -> Vec<&Yaml> {
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
    /// Reads the files under `import:`, each once, and reports a cycle.
    fn read_imports(&mut self, collector: &mut Collector, entries: &[Entry]) {
        let Some(node) = shape::get(entries, "import") else { return };
        for item in imported_nodes(node) {
            if collector.is_full() {
                break;
            }
            let Some(scalar) = shape::scalar(collector, item, "an imported file", LIKE) else { continue };
            let Some(file) = open_named_file(collector, scalar, "the imported file") else { continue };
            let path = canonical_path(Path::new(&file.name));
            if self.done.contains(&path) {
                continue;
            }
            let (code, message) = if self.busy.contains(&path) {
                ("cyclic-import", format!("the import of `{}` leads back to itself", scalar.text))
            } else if self.busy.len() > DEEPEST {
                ("too-deep", format!("imports are nested more than {DEEPEST} deep"))
            } else {
                self.busy.push(path);
                self.read_file(collector, file);
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

    fn read_file(&mut self, importer: &mut Collector, file: Arc<SourceFile>) {
        let mut collector = Collector::new(file);
        if let Some(root) = yaml::parse(&mut collector) {
            self.read_declarations(&mut collector, &root);
        }
        let (found, _) = collector.finish();
        found.into_iter().for_each(|finding| importer.push(finding));
    }

    /// Reads the types and functions of an imported file, after those that it imports itself.
    fn read_declarations(&mut self, collector: &mut Collector, root: &Yaml) {
        let like = "types: { Shelf: \"int[0..9]\" }";
        let Some(entries) = shape::mapping(collector, root, "an imported file", like) else { return };
        let models = ["iosts", "purpose", "property", "specification"];
        if let Some(entry) = entries.iter().find(|entry| models.contains(&entry.key.text.as_str())) {
            let message =
                format!("only types and functions are imported, but this file has `{}:`", entry.key.text);
            let help = "put the `types:` and `functions:` that files share into a file of their own";
            collector.mistake("wrong-kind-of-file", message, &entry.key.span, "a file of another kind", help);
            return;
        }
        shape::check_keys(collector, entries, &KEYS, "an imported file");
        self.read_imports(collector, entries);
        if let Some(node) = shape::get(entries, "types") {
            read_types(collector, node, self.types, self.names);
        }
        self.names.types = self.types.in_order();
        read_functions(collector, entries, self.types, self.names);
    }
}

/// The path that is the same for all names of one file.
fn canonical_path(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}
