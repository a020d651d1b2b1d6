//! The test cases that are written as programs: of all examples, and of random pairs.

use std::path::{Path, PathBuf};

use coreach_analyses::reachability::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_execution::TestCase;
use coreach_model::Iosts;
use coreach_pipeline::export::{ExportOptions, Format, NotWritten, View, export};
use coreach_pipeline::{Generation, Stage, generate};
use coreach_project::making::{SILENT, make, make_online};
use coreach_project::project::load;
use coreach_tests::generator::{self, Shape};
use coreach_tests::source::{read, read_text};

/// A test case, and the specification that stands for an implementation of it.
pub struct Case {
    pub name: String,
    pub specification: Iosts,
    pub document: String,
    /// The programs, or why they are none.
    pub python: Result<String, NotWritten>,
    pub rust: Result<String, NotWritten>,
}

impl Case {
    pub fn test(&self) -> TestCase {
        TestCase::from_json(self.document.as_bytes()).unwrap()
    }
}

pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn written(name: String, specification: &Iosts, view: &View<'_>) -> Case {
    let program = |format| export(view, format, ExportOptions::default());
    Case {
        name,
        specification: specification.clone(),
        document: program(Format::Json).unwrap(),
        python: program(Format::Python),
        rust: program(Format::Rust),
    }
}

/// Of each purpose of each of these configurations.
pub fn of_configuration(path: &Path) -> Vec<Case> {
    let (project, _) = load(path).unwrap();
    let folder = path.parent().unwrap().file_name().unwrap().to_string_lossy().into_owned();
    let domain = project.options.analysis.domain;
    let mut found = Vec::new();
    for purpose in &project.purposes {
        let name = format!("{folder}/{}", purpose.iosts.name);
        if project.judging == coreach_project::configuration::Judging::Online {
            let made = make_online(&project, purpose, domain, false, SILENT).unwrap();
            let view = View::of_online(&made.test);
            found.push(written(name, &project.specification.iosts, &view));
        } else {
            let made = make(&project, purpose, domain, false, SILENT).unwrap();
            let view = View::of(&made.generation, Stage::InputComplete);
            found.push(written(name, &project.specification.iosts, &view));
        }
    }
    found
}

/// The configurations of all examples, but for `bank`: it is judged on line as `jobs` and `store` are, and
/// refused alike, and its guards are long.
pub fn configurations() -> Vec<PathBuf> {
    let folders = std::fs::read_dir(root().join("examples")).unwrap();
    let mut found: Vec<PathBuf> = folders
        .map(|folder| folder.unwrap().path())
        .filter(|folder| folder.is_dir() && !folder.ends_with("bank"))
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|file| file.unwrap().path())
        .filter(|path| path.to_string_lossy().ends_with("coreach.yaml"))
        .collect();
    found.sort();
    assert!(found.len() > 14, "{found:?}");
    found
}

pub fn generated(specification: &Iosts, purpose: coreach_model::TestPurpose) -> Option<Generation> {
    let options = coreach_pipeline::StageOptions {
        max_lookahead: 4,
        analysis: Analysis::default(),
        limits: Default::default(),
        check: false,
    };
    generate(specification, purpose, &options, &mut Z3Solver::default(), &mut |_| {}).ok()
}

/// Of random pairs: but for strings, every type and every operation of the language is in some of them.
pub fn of_random_pairs(seeds: std::ops::Range<u64>) -> Vec<Case> {
    of_shape(seeds, &Shape { arrays: 40, records: 30, parameters: (0, 2), lively: 100, ..Shape::default() })
}

/// Of random pairs with strings.
pub fn of_pairs_with_strings(seeds: std::ops::Range<u64>) -> Vec<Case> {
    of_shape(seeds, &Shape { strings: 100, parameters: (1, 2), lively: 100, ..Shape::default() })
}

/// Of random pairs with ids, half of them with lists or options of these.
pub fn of_pairs_with_ids(seeds: std::ops::Range<u64>) -> Vec<Case> {
    let shape = Shape { ids: 100, collections: 50, parameters: (1, 2), lively: 100, ..Shape::default() };
    of_shape(seeds, &shape)
}

/// Of random pairs with lists, options and variants.
pub fn of_pairs_with_collections(seeds: std::ops::Range<u64>) -> Vec<Case> {
    of_shape(seeds, &Shape { collections: 100, parameters: (1, 2), lively: 100, ..Shape::default() })
}

fn of_shape(seeds: std::ops::Range<u64>, shape: &Shape) -> Vec<Case> {
    let mut found = Vec::new();
    for seed in seeds {
        // Of the last ones much is written shortly: values of records are nodes of their own.
        let (short, records) = if seed < 60 { (0, shape.records) } else { (40, 100) };
        let shape = Shape { short, records, ..shape.clone() };
        let Ok(input) = read(&generator::generate(seed, &shape)) else { continue };
        let Some(made) = generated(&input.specification, input.purpose) else { continue };
        let view = View::of(&made, Stage::InputComplete);
        if view.found.reachable != Some(false) {
            found.push(written(format!("random pair {seed}"), &input.specification, &view));
        }
    }
    found
}

/// Of a pair of texts.
pub fn of_texts(name: &str, specification: &str, purpose: &str) -> Case {
    let input = read_text(specification.to_owned(), purpose.to_owned()).unwrap();
    let made = generated(&input.specification, input.purpose).unwrap();
    written(name.to_owned(), &input.specification, &View::of(&made, Stage::InputComplete))
}

/// A pair whose names and texts another language would obey: words of it, names that differ in what it does
/// not distinguish, quotes, signs that command a terminal, the end of a raw string.
pub fn nasty() -> Case {
    let specification = include_str!("nasty.yaml");
    let purpose = include_str!("nasty_purpose.yaml");
    of_texts("nasty", specification, purpose)
}

/// Every operation on strings.
pub fn strings() -> Case {
    of_texts("strings", include_str!("strings.yaml"), include_str!("strings_purpose.yaml"))
}

pub fn coffee() -> Case {
    of_configuration(&root().join("examples/coffee_machine/coreach.yaml")).into_iter().next().unwrap()
}
