//! The workspace as text and as syntax: its crates, their files, what each file uses and which types it
//! declares.
//!
//! Only what is compiled into a crate without its tests counts: a test may look into everything.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use syn::visit::{self, Visit};
use syn::{Item, UseTree, Visibility};

/// A member of the workspace.
pub struct Crate {
    pub name: String,
    pub folder: String,
    /// Crates of ours that its manifest names.
    pub dependencies: BTreeSet<String>,
    pub files: BTreeMap<Module, File>,
}

/// Where a file stands in its crate: `["stages", "close"]`; the root is empty.
pub type Module = Vec<String>;

pub struct File {
    /// From the root of the repository.
    pub path: String,
    /// What it names by paths, as written and with `use` trees unfolded.
    pub uses: Vec<Vec<String>>,
    /// What it gives others by another path: the name, and the path it stands for.
    pub passes_on: Vec<(String, Vec<String>)>,
    /// The public types that it declares.
    pub types: Vec<String>,
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub fn text(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The folders of the members, as the manifest of the workspace lists them.
pub fn members() -> Vec<String> {
    let workspace = text("Cargo.toml");
    let line = workspace.lines().find(|line| line.starts_with("members")).unwrap();
    line.split('"').skip(1).step_by(2).map(str::to_owned).collect()
}

pub fn read_crates() -> Vec<Crate> {
    members().into_iter().map(|folder| read_crate(&folder)).collect()
}

fn read_crate(folder: &str) -> Crate {
    let manifest = text(&format!("{folder}/Cargo.toml"));
    let name = manifest.lines().find_map(|line| line.strip_prefix("name = ")).unwrap();
    let mut files = BTreeMap::new();
    let source = format!("{folder}/src");
    for path in rust_files(&source).into_iter().filter(|path| !path.ends_with("/tests.rs")) {
        let module = module_of(path.strip_prefix(&source).unwrap());
        files.insert(module, read_file(path));
    }
    Crate {
        name: name.trim_matches('"').to_owned(),
        folder: folder.to_owned(),
        dependencies: dependencies(&manifest),
        files,
    }
}

/// The names of ours in the sections of dependencies.
fn dependencies(manifest: &str) -> BTreeSet<String> {
    let mut inside = false;
    let mut found = BTreeSet::new();
    for line in manifest.lines().map(str::trim) {
        if line.starts_with('[') {
            inside = line.contains("dependencies");
        } else if inside && line.starts_with("coreach") {
            let is_part = |c: &char| c.is_alphanumeric() || "-_".contains(*c);
            found.insert(line.chars().take_while(is_part).collect());
        }
    }
    found
}

/// All files of Rust below a folder, from the root of the repository, in order.
pub fn rust_files(folder: &str) -> Vec<String> {
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(root().join(folder)) else { return found };
    for entry in entries {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let path = format!("{folder}/{name}");
        if root().join(&path).is_dir() {
            found.extend(rust_files(&path));
        } else if name.ends_with(".rs") {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn module_of(path: &str) -> Module {
    let path = path.trim_start_matches('/').trim_end_matches(".rs");
    let mut module: Module = path.split('/').map(str::to_owned).collect();
    if ["mod", "lib", "main"].contains(&module.last().unwrap().as_str()) {
        module.pop();
    }
    module
}

fn read_file(path: String) -> File {
    let syntax = syn::parse_file(&text(&path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut reading =
        Reading { file: File { path, uses: Vec::new(), passes_on: Vec::new(), types: Vec::new() } };
    reading.visit_file(&syntax);
    reading.file
}

struct Reading {
    file: File,
}

impl<'ast> Visit<'ast> for Reading {
    fn visit_item(&mut self, item: &'ast Item) {
        let (visibility, ident) = match item {
            Item::Mod(inner) if inner.attrs.iter().any(is_for_tests) => return,
            Item::Use(using) => {
                let mut leaves = Vec::new();
                unfold(&using.tree, &mut Vec::new(), &mut leaves);
                if matches!(using.vis, Visibility::Inherited) {
                    self.file.uses.extend(leaves.into_iter().map(|(_, path)| path));
                } else {
                    self.file.passes_on.extend(leaves);
                }
                return;
            }
            Item::Struct(item) => (&item.vis, &item.ident),
            Item::Enum(item) => (&item.vis, &item.ident),
            Item::Trait(item) => (&item.vis, &item.ident),
            Item::Type(item) => (&item.vis, &item.ident),
            other => return visit::visit_item(self, other),
        };
        if matches!(visibility, Visibility::Public(_)) {
            self.file.types.push(ident.to_string());
        }
        visit::visit_item(self, item);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.file.uses.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    /// `pub(super)` names a module without using it.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    /// A macro's tokens are no syntax yet: a path in them is what stands around `::`.
    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let tokens = call.tokens.to_string().replace(" :: ", "::");
        let paths = tokens.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == ':'));
        let paths = paths.filter(|path| path.contains("::"));
        self.file.uses.extend(paths.map(|path| path.split("::").map(str::to_owned).collect()));
        // `model/src/words.rs` declares what stands in its braces.
        if call.path.segments.last().is_some_and(|name| name.ident == "words") {
            let declared = tokens.split_once("pub enum ").and_then(|(_, rest)| rest.split(' ').next());
            self.file.types.extend(declared.map(str::to_owned));
        }
        visit::visit_macro(self, call);
    }
}

fn is_for_tests(attribute: &syn::Attribute) -> bool {
    attribute.path().is_ident("cfg")
        && attribute.meta.require_list().is_ok_and(|list| list.tokens.to_string() == "test")
}

/// The names that a `use` brings, each with its path.
fn unfold(tree: &UseTree, before: &mut Vec<String>, leaves: &mut Vec<(String, Vec<String>)>) {
    let with = |last: String| before.iter().cloned().chain([last]).collect();
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            unfold(&path.tree, before, leaves);
            before.pop();
        }
        UseTree::Name(name) if name.ident == "self" => {
            leaves.push((before.last().cloned().unwrap_or_default(), before.clone()));
        }
        UseTree::Name(name) => leaves.push((name.ident.to_string(), with(name.ident.to_string()))),
        UseTree::Rename(name) => leaves.push((name.rename.to_string(), with(name.ident.to_string()))),
        UseTree::Glob(_) => leaves.push(("*".to_owned(), before.clone())),
        UseTree::Group(group) => group.items.iter().for_each(|tree| unfold(tree, before, leaves)),
    }
}
