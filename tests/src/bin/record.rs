//! Writes down what the analyses of models do with polyhedra, to be replayed by `domains --recorded`.
//!
//! `record --out DIR FOLDER...`: of each folder, every specification with every purpose for it, as far as the
//! pipeline makes a test case of them, and every specification by itself. One file for each analysis:
//! `DIR/folder/name.sequence`. The analyses are those of the stage `select`, with the domain `polyhedra` and
//! its default options.

use std::env;
use std::fs;
use std::path::Path;
use std::process::ExitCode;

use coreach_analyses::reachability::{Analysis, analyse_in};
use coreach_model::iosts::Iosts;
use coreach_tests::analysed::{Machine, machines};
use coreach_tests::recorded::{Recorded, finish, start};

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
    for Machine { name, iosts, accepting } in machines(folder)? {
        write(&out.join(name), &iosts, &accepting)?;
    }
    Ok(())
}

/// Analyses a machine and writes the sequence, if there is any operation in it.
fn write(path: &Path, iosts: &Iosts, accepting: &[bool]) -> Result<(), String> {
    start();
    analyse_in::<Recorded>(iosts, accepting, &Analysis::default());
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
