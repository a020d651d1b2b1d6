//! Which file of a crate uses which: paths are followed to the file that declares what they name, through
//! what other files pass on. What a file only passes on (`pub use`) is no use of it: a table of contents may
//! name its chapters.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graph::DiGraph;

use super::sources::{Crate, Module};

/// Of each file those that it uses.
pub type Arrows = BTreeMap<Module, BTreeSet<Module>>;

pub fn arrows(of: &Crate) -> Arrows {
    let mut passed = BTreeMap::new();
    for (module, file) in &of.files {
        for (name, path) in &file.passes_on {
            if let Some(path) = absolute(of, module, path) {
                passed.insert(join(module, [name.clone()]), path);
            }
        }
    }
    let mut found = Arrows::new();
    for (module, file) in &of.files {
        let paths = file.uses.iter().filter_map(|path| absolute(of, module, path));
        let targets = paths.map(|path| declares(of, &passed, path)).filter(|target| target != module);
        found.insert(module.clone(), targets.collect());
    }
    found
}

fn join(module: &[String], rest: impl IntoIterator<Item = String>) -> Module {
    module.iter().cloned().chain(rest).collect()
}

/// The path from the crate's root, if it leads into the crate.
fn absolute(of: &Crate, module: &Module, path: &[String]) -> Option<Module> {
    let mut base = module.clone();
    let mut rest = path;
    match path.first()?.as_str() {
        "crate" => {
            base.clear();
            rest = &rest[1..];
        }
        "self" => rest = &rest[1..],
        "super" => {
            while rest.first().is_some_and(|part| part == "super") {
                base.pop();
                rest = &rest[1..];
            }
        }
        first if of.files.contains_key(&join(module, [first.to_owned()])) && path.len() > 1 => {}
        _ => return None,
    }
    Some(join(&base, rest.iter().cloned()))
}

/// The file that declares what a path names.
fn declares(of: &Crate, passed: &BTreeMap<Module, Module>, mut path: Module) -> Module {
    // Each round follows one name that is passed on; nobody passes on through more files than there are.
    for _ in 0..of.files.len() {
        let known = (0..=path.len()).rev().find(|length| of.files.contains_key(&path[..*length]));
        let known = known.unwrap_or(0);
        let next = path.get(..=known).and_then(|name| passed.get(name));
        let Some(next) = next else { return path[..known].to_vec() };
        path = join(next, path[known + 1..].iter().cloned());
    }
    path
}

/// Files that use one another in circles: each circle as the paths of its files.
pub fn circles(of: &Crate) -> BTreeSet<BTreeSet<String>> {
    let path = |module: &Module| of.files[module].path.clone();
    let pair = |(from, targets): (Module, BTreeSet<Module>)| {
        targets.into_iter().map(move |to| (path(&from), path(&to))).collect::<Vec<_>>()
    };
    circles_of(arrows(of).into_iter().flat_map(pair))
}

/// What comes back to itself by these arrows, each circle as the paths of what is in it.
pub fn circles_of(arrows: impl IntoIterator<Item = (String, String)>) -> BTreeSet<BTreeSet<String>> {
    let mut graph = DiGraph::new();
    let mut nodes = BTreeMap::new();
    for (from, to) in arrows {
        let [from, to] =
            [from, to].map(|one| *nodes.entry(one.clone()).or_insert_with(|| graph.add_node(one)));
        graph.add_edge(from, to, ());
    }
    let components = tarjan_scc(&graph).into_iter().filter(|component| component.len() > 1);
    components.map(|component| component.iter().map(|node| graph[*node].clone()).collect()).collect()
}

/// Arrows between the folders of a crate's `src`, by their paths from the root of the repository.
pub fn folder_arrows(of: &Crate) -> BTreeSet<(String, String)> {
    let folder = |module: &Module| {
        let path = &of.files[module].path;
        let (folder, file) = path.strip_prefix(&format!("{}/src/", of.folder))?.split_once('/')?;
        (!file.is_empty()).then(|| format!("{}/src/{folder}/", of.folder))
    };
    let mut found = BTreeSet::new();
    for (from, targets) in arrows(of) {
        for to in targets {
            if let (Some(from), Some(to)) = (folder(&from), folder(&to)) {
                found.insert((from, to));
            }
        }
    }
    found.retain(|(from, to)| from != to);
    found
}
