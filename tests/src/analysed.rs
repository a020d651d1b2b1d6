//! What the analyses see of models: the machines that the stage `select` hands to them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_analyses::reachability::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::iosts::Iosts;
use coreach_model::reader::{Specification, read_purpose, read_specification};
use coreach_model::{LocationId, Numbered, SourceFile};
use coreach_pipeline::generate;

/// A graph to be analysed.
#[derive(Clone, Debug)]
pub struct Machine {
    /// The specification's file, and for a purpose its file and what the graph is.
    pub name: String,
    /// The graph.
    pub iosts: Iosts,
    /// For each location whether it accepts.
    pub accepting: Numbered<LocationId, bool>,
}

/// Of a folder, every specification with every purpose for it, as far as the pipeline makes a test case of
/// them, and every specification by itself.
///
/// # Errors
/// A folder or file that cannot be read.
pub fn machines(folder: &Path) -> Result<Vec<Machine>, String> {
    let files = yaml_files(folder)?;
    let mut machines = Vec::new();
    for file in &files {
        // What is no specification is a purpose, a configuration or the like.
        let Ok((specification, _)) = read_specification(source(file)?) else { continue };
        let own = stem(file);
        for purpose in &files {
            for (stage, iosts, accepting) in stages(&specification, purpose)? {
                let name = format!("{own}-{}-{stage}", stem(purpose));
                machines.push(Machine { name, iosts, accepting });
            }
        }
        let mut accepting = specification.iosts.locations.map(|_| false);
        accepting.iter_mut().rev().take(1).for_each(|last| *last = true);
        machines.push(Machine { name: own, iosts: specification.iosts, accepting });
    }
    Ok(machines)
}

/// What it is, the graph, and which of its locations accept.
type Stage = (&'static str, Iosts, Numbered<LocationId, bool>);

/// What is analysed on the way to the test case: the visible behaviours, and the graph that was selected.
fn stages(specification: &Specification, purpose: &Path) -> Result<Vec<Stage>, String> {
    let Ok((purpose, _)) = read_purpose(source(purpose)?, specification) else { return Ok(Vec::new()) };
    let options = coreach_pipeline::StageOptions {
        max_lookahead: 8,
        analysis: Analysis::default(),
        limits: Default::default(),
        check: false,
    };
    let mut solver = Z3Solver::default();
    // Some purposes have no test case; what led there is recorded by itself.
    let Ok(made) = generate(&specification.iosts, purpose, &options, &mut solver, &mut |_| {}) else {
        return Ok(Vec::new());
    };
    // As `select` does: what follows an accepting location is not analysed.
    let (mut iosts, accepting) = (made.visible.iosts, made.visible.accepting);
    iosts.transitions.retain(|transition| !accepting[transition.source]);
    let (iosts, kept) = iosts.without_unreachable_locations();
    let accepting = kept.map(|old| accepting[*old]);
    let graph = made.test_graph;
    let passes = graph.iosts.location_ids().map(|at| graph.pass == Some(at)).collect();
    Ok(vec![("visible", iosts, accepting), ("graph", graph.iosts, passes)])
}

fn yaml_files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let entries = fs::read_dir(folder).map_err(told)?.collect::<Result<Vec<_>, _>>().map_err(told)?;
    let mut files: Vec<PathBuf> = entries.into_iter().map(|entry| entry.path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "yaml"));
    files.sort();
    Ok(files)
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn source(file: &Path) -> Result<Arc<SourceFile>, String> {
    let text = fs::read_to_string(file).map_err(|error| format!("{}: {error}", file.display()))?;
    Ok(Arc::new(SourceFile { name: file.display().to_string(), text }))
}
