//! All that a run needs, read and checked: specification, purposes, options.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use coreach_analyses::check;
use coreach_analyses::domains::suited::suited;
use coreach_analyses::places::Arrays;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{DomainKind, Options as Analysis, Thresholds};
use coreach_model::budget::Budget;
use coreach_model::diagnostic::{Diagnostic, Origin, SourceFile};
use coreach_model::iosts::{ActionKind, Aim, Iosts, TestPurpose, Transition};
use coreach_model::reader::{
    Reading, Specification, load as load_file, read_aimed, read_any_specification, read_specification,
};
use coreach_pipeline::export::Format;
use coreach_pipeline::lateness::Timing;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Conformance, Options, Stage};

use crate::budget;
use crate::configuration::{
    self, Configuration, Judging, Reference, load_configuration, load_without_purpose,
};
use crate::file_kind::{FileKind, Heading, kind_by_keys, kind_of, read_heading};
use crate::instantiate::instantiate;
use crate::models::find_specification;
use crate::timing::given;

/// What a configuration, or a purpose, asks for.
#[derive(Clone, Debug)]
pub struct Project {
    /// The specification; of a timed one, its delayed form.
    pub specification: Specification,
    /// Of a timed specification: what is known of time.
    pub timing: Option<Timing>,
    /// The purposes, then the properties, names distinct.
    pub purposes: Vec<TestPurpose>,
    pub judging: Judging,
    pub conformance: Conformance,
    pub options: Options,
    pub directory: PathBuf,
    pub formats: Vec<Format>,
    pub stages: Vec<Stage>,
    /// `budget: time`, where the configuration says it.
    pub time: Option<Duration>,
}

/// Reads a configuration and all that it names, fixes its constants, and checks the models, with the solver
/// too.
pub fn load(path: &Path) -> Reading<Project> {
    load_with(path, load_configuration)
}

/// The same for whoever needs no purpose: there may be none.
pub fn load_specification(path: &Path) -> Reading<Project> {
    load_with(path, load_without_purpose)
}

fn load_with(path: &Path, read: fn(&Path) -> Reading<Configuration>) -> Reading<Project> {
    let (configuration, found) = budget::reading(|| read(path))?;
    budget::configuration(configuration.budget);
    let time = budget::time(configuration.budget.time);
    let read = budget::within("read", time, |budget| load_models(&configuration, found, budget));
    read.unwrap_or_else(|stop| Err(vec![stop.to_diagnostic()]))
}

/// Reads the specification and all purposes before it gives up, so that all mistakes are told at once. Then
/// fixes the constants and checks with the solver.
fn load_models(
    configuration: &Configuration,
    mut found: Vec<Diagnostic>,
    budget: &Budget,
) -> Reading<Project> {
    let mut failed = false;
    let mut note = |result: Vec<Diagnostic>| {
        failed |= result.iter().any(Diagnostic::is_error);
        for diagnostic in result {
            if !found.contains(&diagnostic) {
                found.push(diagnostic);
            }
        }
    };
    let loaded = load_reference(&configuration.specification, FileKind::Specification);
    let specification = match loaded.and_then(read_any_specification) {
        Ok((specification, warnings)) => {
            note(warnings);
            Some(specification)
        }
        Err(errors) => {
            note(errors);
            None
        }
    };
    let Some(specification) = specification else { return Err(found) };
    let mut given = match given(specification, configuration) {
        Ok(given) => given,
        Err(errors) => {
            found.extend(errors);
            return Err(found);
        }
    };
    let mut purposes: Vec<TestPurpose> = Vec::new();
    for (reference, aim) in configuration.aimed() {
        let expected = if aim == Aim::Accept { FileKind::Purpose } else { FileKind::Property };
        match load_reference(reference, expected).and_then(|file| given.purpose(file, aim)) {
            Ok((purpose, warnings)) => {
                note(warnings);
                note(refuse_quiescence_by_ioc(&purpose, configuration.conformance));
                if purposes.iter().any(|known| known.iosts.name == purpose.iosts.name) {
                    note(vec![report_duplicate(reference, &purpose.iosts.name)]);
                }
                purposes.push(purpose);
            }
            Err(errors) => note(errors),
        }
    }
    if failed {
        return Err(found);
    }
    if let Err(errors) = instantiate(configuration, &mut given.specification.iosts, &mut purposes) {
        found.extend(errors);
        return Err(found);
    }
    let project = Project {
        judging: configuration.judging,
        conformance: configuration.conformance,
        options: options(configuration, &given.specification, &purposes),
        directory: configuration.directory.clone(),
        formats: configuration.formats.clone(),
        stages: configuration.stages.clone(),
        specification: given.specification,
        timing: given.timed.map(|(_, timing)| timing),
        purposes,
        time: configuration.budget.time,
    };
    budget.enter("check");
    check_with_solver(project, found).map_err(|found| point_at_instantiate(found, configuration))
}

/// Where no initial state is left, the values that the configuration gives to constants may be why.
fn point_at_instantiate(found: Vec<Diagnostic>, configuration: &Configuration) -> Vec<Diagnostic> {
    let tell = |mut one: Diagnostic| {
        if one.code == "no-initial-state" {
            for fixed in &configuration.instantiate {
                one = one.at(fixed.origin.clone(), format!("`{}` is fixed here", fixed.name));
            }
        }
        one
    };
    found.into_iter().map(tell).collect()
}

/// A purpose alone, with its specification and the defaults for the rest.
pub fn of_purpose(file: Arc<SourceFile>, specification: Arc<SourceFile>) -> Reading<Project> {
    budget::reading(|| of_purpose_within(file, specification))
}

fn of_purpose_within(file: Arc<SourceFile>, specification: Arc<SourceFile>) -> Reading<Project> {
    let (specification, mut found) = read_specification(specification)?;
    // The reader of a purpose refuses any other file.
    let aim = kind_of(&file)?.aim().unwrap_or(Aim::Accept);
    let (purpose, warnings) = read_aimed(file, &specification, aim)?;
    found.extend(warnings);
    found.extend(refuse_quiescence_by_ioc(&purpose, Conformance::default()));
    let domain = choose_domain(&specification, std::slice::from_ref(&purpose));
    let analysis = Analysis { domain, ..Analysis::default() };
    let project = Project {
        specification,
        timing: None,
        purposes: vec![purpose],
        judging: Judging::default(),
        conformance: Conformance::default(),
        options: Options { max_lookahead: 8, analysis, limits: Limits::default(), check: false },
        directory: PathBuf::from("out"),
        formats: Vec::new(),
        stages: Stage::ALL.to_vec(),
        time: None,
    };
    check_with_solver(project, found)
}

/// A specification alone, of which runs begin in its initial state: there must be one, and it must be
/// determined (see [`check::initialized`]).
///
/// # Errors
/// What is wrong with the file or with its initial condition.
pub fn of_specification(file: Arc<SourceFile>) -> Reading<Specification> {
    budget::reading(|| {
        let (specification, found) = read_specification(file)?;
        let found = initialized(&specification.iosts, found)?;
        Ok((specification, found))
    })
}

/// What was found of a model of which runs begin in its initial state, with what its initial condition lacks.
///
/// # Errors
/// There is no initial state, or it is not determined.
pub fn initialized(iosts: &Iosts, mut found: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    found.extend(check::initialized::check(iosts, &mut Z3Solver::default()));
    if found.iter().any(Diagnostic::is_error) { Err(found) } else { Ok(found) }
}

/// The checks that need a solver, of the specification and of each purpose.
fn check_with_solver(project: Project, mut found: Vec<Diagnostic>) -> Reading<Project> {
    let mut solver = Z3Solver::default();
    found.extend(check::check(&project.specification.iosts, &mut solver));
    for purpose in &project.purposes {
        found.extend(check::check(&purpose.iosts, &mut solver));
    }
    if found.iter().any(Diagnostic::is_error) { Err(found) } else { Ok((project, found)) }
}

fn load_reference(reference: &Reference, expected: FileKind) -> Result<Arc<SourceFile>, Vec<Diagnostic>> {
    let file = load_file(&reference.path)
        .map_err(|diagnostic| vec![diagnostic.at(reference.origin.clone(), "named here")])?;
    // What is of no kind, its own reader explains.
    match kind_of(&file).map(|kind| (kind, kind.aim().is_some() || kind == FileKind::Specification)) {
        Ok((kind, is_model)) if kind != expected => {
            let (what, is) = (expected.name(), kind.name());
            let help = match kind {
                FileKind::Iut => {
                    "the IUT's file is given on the command line: `coreach test coreach.yaml --iut iut.yaml`"
                }
                _ if is_model => {
                    "are two files swapped here, or does one begin with the wrong key? `specification:` names a model, which \
                     begins with `iosts:`, and `purpose:` a file that begins with `purpose:`"
                }
                _ => "a configuration names models: `specification: a.yaml` and `purpose: b.yaml`",
            };
            let written = reference.origin.text().trim_matches(['"', '\'']);
            let message = format!("expected {what}, but {written} is {is}");
            Err(vec![
                Diagnostic::error("wrong-kind-of-file", message)
                    .at(reference.origin.clone(), format!("this is {is}"))
                    .help(help),
            ])
        }
        _ => Ok(file),
    }
}

/// That a purpose speaks of quiescence where nothing is said of it.
fn refuse_quiescence_by_ioc(purpose: &TestPurpose, conformance: Conformance) -> Vec<Diagnostic> {
    let iosts = &purpose.iosts;
    let quiet = |one: &&Transition| iosts.action(one.action).kind == ActionKind::Quiescence;
    match iosts.transitions.iter().find(quiet) {
        Some(first) if conformance == Conformance::Ioc => vec![
            Diagnostic::error("quiescence-by-ioc", "by ioc, quiescence is no event")
                .at(first.origin.whole.clone(), "this never happens")
                .help("say `conformance: ioco` in the configuration: then the specification is quiescent where it can send nothing"),
        ],
        _ => Vec::new(),
    }
}

fn report_duplicate(reference: &Reference, name: &str) -> Diagnostic {
    Diagnostic::error("duplicate-purpose", format!("two purposes or properties are called `{name}`"))
        .at(reference.origin.clone(), "the second one")
        .help("their results would be written to one folder: give each purpose a name of its own")
}

fn options(
    configuration: &Configuration,
    specification: &Specification,
    purposes: &[TestPurpose],
) -> Options {
    let thresholds = match &configuration.thresholds {
        configuration::GivenThresholds::Auto => Thresholds::Auto,
        // Any number will do as a threshold: it is a place to pause, not a fact.
        configuration::GivenThresholds::Numbers(numbers) => {
            Thresholds::List(numbers.iter().map(|number| number.trunc()).collect())
        }
    };
    Options {
        max_lookahead: configuration.max_lookahead,
        analysis: Analysis {
            domain: configuration.domain.unwrap_or_else(|| choose_domain(specification, purposes)),
            delay: configuration.widening_delay,
            thresholds,
            descending_steps: configuration.descending_steps,
            rounds: configuration.rounds,
            partition_limit: configuration.partition_limit,
            arrays: Arrays {
                cells: configuration.cells,
                summarized: configuration.summarized_cells,
                ..Arrays::default()
            },
            step_limit: configuration.step_limit,
            loops: configuration.loops,
            disjuncts: configuration.disjuncts,
            refine: configuration.refine,
            fact_limit: configuration.fact_limit,
            condition_limit: configuration.condition_limit,
        },
        limits: configuration.limits.clone(),
        check: false,
    }
}

/// The domain for a specification and its purposes, where none is named.
fn choose_domain(specification: &Specification, purposes: &[TestPurpose]) -> DomainKind {
    suited(purposes.iter().map(|purpose| &purpose.iosts).chain([&specification.iosts]))
}

/// The specification of a purpose's file: among the candidates, then beside it.
///
/// # Errors
/// It is not there, or the purpose names none: then its own reader is asked what is wrong, which needs some
/// specification.
pub fn specification_of(
    file: &Arc<SourceFile>,
    path: &Path,
    candidates: &[PathBuf],
) -> Result<Arc<SourceFile>, Vec<Diagnostic>> {
    match read_heading(file)? {
        Heading { kind: FileKind::Purpose | FileKind::Property, of: Some((name, origin)), .. } => {
            find_specification(&name, origin, candidates, path)
        }
        Heading { kind, .. } => {
            let first_line =
                Origin { file: file.clone(), span: 0..file.text.lines().next().map_or(0, str::len) };
            let other = kind_by_keys(file).filter(|other| other.aim().is_none());
            if let Some((other, key)) = other.and_then(|other| Some((other, other.first_key()?))) {
                let message =
                    format!("{} begins like {}, and has keys of {}", file.name, kind.name(), other.name());
                return Err(vec![
                    Diagnostic::error("wrong-kind-of-file", message)
                        .at(first_line, format!("this begins {}", kind.name()))
                        .help(format!("{} begins with `{key}:` and its name", other.name())),
                ]);
            }
            let mut known = candidates.iter().filter_map(|path| {
                let heading = read_heading(&coreach_model::reader::yaml::load(path).ok()?).ok()?;
                (heading.kind == FileKind::Specification).then_some(heading.name)
            });
            let name = known.next().unwrap_or("coffee_machine".to_owned());
            let message = format!("{} does not say of which specification it is", file.name);
            Err(vec![
                Diagnostic::error("missing-key", message)
                    .at(first_line, "`of` is missing here")
                    .help(format!("add a line with the specification's name, for example `of: {name}`")),
            ])
        }
    }
}
