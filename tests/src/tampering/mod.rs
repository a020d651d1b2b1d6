//! Would the checks notice? Artifacts are damaged in one place, and the check of the damaged artifact alone
//! must say so.
//!
//! Not every damage changes something: a guard may be moved where no run gets. Brute force says which do: the
//! properties of [`crate::properties`] that concern the stage's artifact are held against the damaged one.
//! What they refute and the check passes is *missed*. What the check names and they do not refute is damage
//! that no run shows (or that they do not look at: provenance, coreach).

pub mod damage;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use coreach_analyses::reachability::Analysis;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_pipeline::Stage;

use crate::brute::pair::Behaviour;
use crate::generator::random::Random;
use crate::generator::{Shape, generate};
use crate::properties::artifacts::{self, Artifacts};
use crate::properties::{CLOSED, Known, Limits, PRODUCT, Report, Settings, VISIBLE, VISIBLE_DETERMINISTIC};
use crate::properties::{stages, test_case};
use crate::source::{self, Input};
use damage::{Operator, damage};

/// What came of the trials of one operator on one stage.
#[derive(Clone, Default, Debug)]
pub struct Tally {
    /// The check named it, and brute force says that it changes something.
    pub killed: usize,
    /// The check named it, and brute force sees no change.
    pub named: usize,
    /// Neither sees anything.
    pub equivalent: usize,
    /// Brute force sees a change, and the check does not: where.
    pub missed: Vec<String>,
}

/// For each operator and stage.
pub type Table = BTreeMap<(Operator, Stage), Tally>;

/// Damages every artifact of the seed's pair by every operator, so many times each.
pub fn tamper(seed: u64, times: usize, table: &mut Table) {
    let pair = generate(seed, &Shape::default());
    let settings = Settings { doubt: None, twice: false, ..Settings::of(seed) };
    let Ok(input) = source::read(&pair) else { return };
    let Ok(known) = Known::of(&pair, &settings.limits) else { return };
    let quiet = Settings { only: Some(String::new()), ..settings.clone() };
    let made = artifacts::make(&input, &quiet, &mut Report::default());
    let judge = |stage, damaged: &Artifacts| changes(stage, damaged, &known, &settings);
    trials(&format!("seed {seed}"), seed, (&input, &made), times, judge, table);
}

/// What came of the examples.
#[derive(Clone, Default, Debug)]
pub struct Examples {
    /// Purposes as they are. Their data have no bounds, so brute force judges nothing: what is named is
    /// counted as such, the rest as passed.
    pub whole: Table,
    /// How many.
    pub tried: usize,
    /// The same purposes with numbers in small ranges, where brute force can judge.
    pub bounded: Table,
    /// Which.
    pub judged: Vec<String>,
}

/// Damages the artifacts of every specification with each of its purposes in the folders of the examples.
///
/// # Errors
/// A folder or file that cannot be read.
pub fn tamper_examples(folder: &Path, times: usize) -> Result<Examples, String> {
    let told = |error: std::io::Error| format!("{}: {error}", folder.display());
    let list = |folder: &Path| -> std::io::Result<Vec<PathBuf>> {
        let mut paths =
            fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
        paths.sort();
        Ok(paths)
    };
    let mut found = Examples::default();
    for example in list(folder).map_err(told)?.into_iter().filter(|path| path.is_dir()) {
        let specification = fs::read_to_string(example.join("specification.yaml")).map_err(told)?;
        for file in list(&example).map_err(told)? {
            let Ok(purpose) = fs::read_to_string(&file) else { continue };
            // What is no purpose is a configuration or the like.
            let Ok(input) = source::read_text(specification.clone(), purpose.clone()) else { continue };
            found.tried += 1;
            let (name, seed) = (file.display().to_string(), found.tried as u64);
            let settings = settings_of_examples();
            let made = artifacts::make(&input, &settings, &mut Report::default());
            trials(&name, seed, (&input, &made), times, |_, _| None, &mut found.whole);
            let texts = [bounded(&specification), bounded(&purpose)];
            let Some((input, known)) = judged(texts, &settings.limits) else { continue };
            let made = artifacts::make(&input, &settings, &mut Report::default());
            let all = Settings { only: None, ..settings };
            let judge = |stage, damaged: &Artifacts| changes(stage, damaged, &known, &all);
            trials(&name, seed, (&input, &made), times, judge, &mut found.bounded);
            found.judged.push(name);
        }
    }
    Ok(found)
}

fn settings_of_examples() -> Settings {
    Settings {
        analysis: Analysis::default(),
        max_lookahead: 8,
        only: Some(String::new()),
        doubt: None,
        twice: false,
        limits: Limits { events: 128, states: 20_000, ..Limits::default() },
        ..Settings::of(1)
    }
}

/// A model's text with numbers in small ranges.
pub fn bounded(text: &str) -> String {
    let mut found = String::new();
    let ends = |c: char| !c.is_alphanumeric() && c != '_';
    let mut is_quoted = false;
    for word in text.split_inclusive(ends) {
        let (name, end) = word.split_at(word.trim_end_matches(ends).len());
        let range = match name {
            "int" if end != "[" => Some("int[-1..3]"),
            "nat" => Some("int[0..3]"),
            _ => None,
        };
        match range {
            Some(range) if is_quoted => found.push_str(range),
            Some(range) => found.push_str(&format!("\"{range}\"")),
            None => found.push_str(name),
        }
        found.push_str(end);
        is_quoted ^= end == "\"";
    }
    found
}

/// The pair and what brute force knows of it, where it can and something happens.
fn judged([specification, purpose]: [String; 2], limits: &Limits) -> Option<(Input, Known)> {
    let behaviour = Behaviour::read(&specification, &purpose).ok()?;
    let known = Known::of_behaviour(behaviour, limits).ok()?;
    let input = source::read_text(specification, purpose).ok()?;
    known.instances.iter().any(|instance| !instance.both.states.is_empty()).then_some((input, known))
}

/// Every operator on every artifact, so many times each.
fn trials(
    name: &str,
    seed: u64,
    (input, made): (&Input, &Artifacts),
    times: usize,
    changes: impl Fn(Stage, &Artifacts) -> Option<String>,
    table: &mut Table,
) {
    let mut solver = Z3Solver::default();
    let mut random = Random::new(seed ^ 0x7461_6d70);
    for stage in Stage::ALL {
        for operator in Operator::ALL {
            for _ in 0..times {
                let mut damaged = made.clone();
                if damage(*operator, stage, &mut damaged, &mut random).is_none() {
                    continue;
                }
                let named = catch_unwind(AssertUnwindSafe(|| {
                    let found = artifacts::findings_of(stage, input, &damaged, &mut solver);
                    found.is_some_and(|found| !found.violations.is_empty())
                }));
                let changes = catch_unwind(AssertUnwindSafe(|| changes(stage, &damaged)));
                // Brute force cannot read what mentions a datum that is not there: that is a change.
                let changes = changes.unwrap_or(Some("it cannot be read".to_owned()));
                let tally = table.entry((*operator, stage)).or_default();
                match (named, changes) {
                    (Ok(true), Some(_)) => tally.killed += 1,
                    (Ok(true), None) => tally.named += 1,
                    (Ok(false), None) => tally.equivalent += 1,
                    (Ok(false), Some(why)) => tally.missed.push(format!("{name}: {why}")),
                    (Err(_), _) => tally.missed.push(format!("{name}: the check panics")),
                }
            }
        }
    }
}

/// What brute force says against the artifact.
fn changes(stage: Stage, made: &Artifacts, known: &Known, settings: &Settings) -> Option<String> {
    let mut report = Report::default();
    match stage {
        Stage::Complete => stages::complete(made.complete.as_ref()?, known, settings, &mut report),
        Stage::Product => {
            let it = made.product.as_ref()?;
            stages::traces(PRODUCT, &it.iosts, &it.accepting, None, known, settings, &mut report);
        }
        Stage::Close => {
            let it = made.closed.as_ref()?;
            stages::traces(CLOSED, &it.iosts, &it.accepting, None, known, settings, &mut report);
        }
        Stage::Determinize => {
            let it = made.visible.as_ref()?;
            stages::traces(VISIBLE, &it.iosts, &it.accepting, Some(&it.ends), known, settings, &mut report);
            stages::deterministic(VISIBLE_DETERMINISTIC, &it.iosts, known, settings, &mut report);
        }
        Stage::Select => test_case::graph(made.graph.as_ref()?, known, settings, &mut report),
        Stage::InputComplete => test_case::case(made.case.as_ref()?, known, settings, &mut report),
    }
    report.found.first().map(|found| format!("{}: {}", found.property.name, found.text))
}
