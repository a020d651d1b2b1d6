//! Writes down what the analyses of models do with polyhedra, to be replayed by `domains --recorded`.
//!
//! `record --out DIR FOLDER...`: of each folder, every specification with every purpose for it, as far as the pipeline
//! makes a test case of them, and every specification by itself. One file for each analysis: `DIR/folder/name.sequence`.
//! The analyses are those of the stage `select`, with the domain `polyhedra` and its default options.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use coreach_analyses::domains::recorded::{Recorded, finish, start};
use coreach_analyses::reachability::{Options, analyse_in};
use coreach_analyses::solver::z3::Z3Solver;
use coreach_model::SourceFile;
use coreach_model::iosts::Iosts;
use coreach_model::reader::{Specification, read_purpose, read_specification};
use coreach_pipeline::generate;

fn main() -> ExitCode {
    match run(env::args().skip(1).collect()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("record: {message}\nusage: record --out DIR FOLDER...");
            ExitCode::from(2)
        }
    }
}

fn run(given: Vec<String>) -> Result<(), String> {
    let [option, out, folders @ ..] = &given[..] else {
        return Err("say where to write".to_owned());
    };
    if option != "--out" || folders.is_empty() {
        return Err("say where to write, and what to analyse".to_owned());
    }
    for folder in folders {
        let name = Path::new(folder).file_name().map_or("models".into(), |name| name.to_string_lossy());
        record(Path::new(folder), &Path::new(out).join(name.as_ref()))?;
    }
    Ok(())
}

/// All models of a folder.
fn record(folder: &Path, out: &Path) -> Result<(), String> {
    let files = yaml_files(folder)?;
    for file in &files {
        // What is no specification is a purpose, a configuration or the like.
        let Ok((specification, _)) = read_specification(source(file)?) else { continue };
        let own = stem(file);
        for purpose in &files {
            for (stage, iosts, accepting) in stages(&specification, purpose)? {
                let name = format!("{own}-{}-{stage}", stem(purpose));
                write(&out.join(name), &iosts, &accepting)?;
            }
        }
        let mut accepting = vec![false; specification.iosts.locations.len()];
        accepting.iter_mut().rev().take(1).for_each(|last| *last = true);
        write(&out.join(own), &specification.iosts, &accepting)?;
    }
    Ok(())
}

/// What it is, the graph, and which of its locations accept.
type Machine = (&'static str, Iosts, Vec<bool>);

/// What is analysed on the way to the test case: the visible behaviours, and the graph that was selected.
fn stages(specification: &Specification, purpose: &Path) -> Result<Vec<Machine>, String> {
    let Ok((purpose, _)) = read_purpose(source(purpose)?, specification) else { return Ok(Vec::new()) };
    let options = coreach_pipeline::Options { max_lookahead: 8, analysis: Options::default(), check: false };
    let mut solver = Z3Solver::default();
    // Some purposes have no test case; what led there is recorded by itself.
    let Ok(made) = generate(&specification.iosts, purpose, &options, &mut solver, &mut |_| {}) else {
        return Ok(Vec::new());
    };
    // As `select` does: what follows an accepting location is not analysed.
    let (mut iosts, accepting) = (made.visible.iosts, made.visible.accepting);
    iosts.transitions.retain(|transition| !accepting[transition.source.0 as usize]);
    let (iosts, kept) = iosts.without_unreachable_locations();
    let accepting = kept.iter().map(|old| accepting[old.0 as usize]).collect();
    let graph = made.test_graph;
    let at = |number: usize| graph.pass.is_some_and(|pass| pass.0 as usize == number);
    let passes = (0..graph.iosts.locations.len()).map(at).collect();
    Ok(vec![("visible", iosts, accepting), ("graph", graph.iosts, passes)])
}

/// Analyses a machine and writes the sequence, if there is any operation in it.
fn write(path: &Path, iosts: &Iosts, accepting: &[bool]) -> Result<(), String> {
    start();
    analyse_in::<Recorded>(iosts, accepting, &Options::default());
    let sequence = finish();
    if sequence.steps.is_empty() {
        return Ok(());
    }
    let path = path.with_extension("sequence");
    let told = |error: std::io::Error| format!("{}: {error}", path.display());
    fs::create_dir_all(path.parent().unwrap_or(Path::new("."))).map_err(told)?;
    fs::write(&path, sequence.to_string()).map_err(told)?;
    println!(
        "{}: {} operations from {} dimensions",
        path.display(),
        sequence.steps.len(),
        sequence.dimensions
    );
    Ok(())
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
