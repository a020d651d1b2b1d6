//! Reads and checks all that a run needs: specification, purposes, options.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use coreach_analyses::check;
use coreach_analyses::domains::suited::suited;
use coreach_analyses::places::Arrays;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_analyses::{Analysis, DomainKind, Thresholds};
use coreach_execution::timed::to_wire;
use coreach_model::budget::Budget;
use coreach_model::diagnostic::{Diagnostic, SourceFile};
use coreach_model::iosts::{ActionKind, Aim, Iosts, TestPurpose, Transition};
use coreach_model::reader::{
    Reading, Specification, load as load_file, read_aimed, read_any_specification, read_specification,
};
use coreach_pipeline::export::Format;
use coreach_pipeline::lateness::LatenessTiming;
use coreach_pipeline::limits::Limits;
use coreach_pipeline::{Conformance, Stage, StageOptions};

use crate::budget;
use crate::configuration::{
    self, Configuration, DIRECTORY, Instantiation, Judging, LOOKAHEAD, Reference, load_configuration,
    load_without_purpose,
};
use crate::file_kind::{FileKind, Heading, first_line, kind_by_keys, kind_of, read_heading};
use crate::instantiate::instantiate;
use crate::models::find_specification;
use crate::render::add_new_findings;
use crate::timing::prepare_input;

/// The models and options that a configuration, or a purpose alone, asks for.
pub struct Project {
    /// The specification. If it is timed, this is its delayed form.
    pub specification: Specification,
    pub timing: Option<LatenessTiming>,
    /// The purposes, then the properties, names distinct.
    pub purposes: Vec<TestPurpose>,
    /// The constants that have a fixed value, and are gone from the models.
    pub fixed: Vec<Instantiation>,
    pub judging: Judging,
    pub conformance: Conformance,
    pub options: StageOptions,
    pub directory: PathBuf,
    pub formats: Vec<Format>,
    pub stages: Vec<Stage>,
    /// `budget: time`, if the configuration has it.
    pub time: Option<Duration>,
}

impl Project {
    /// Makes the specification as an adapter sees it: a timed one without delays.
    pub fn to_wire(&self) -> Iosts {
        let iosts = &self.specification.iosts;
        let Some(timing) = &self.timing else { return iosts.clone() };
        to_wire(iosts, &timing.uncontrollable.iter().filter_map(|name| iosts.find_action(name)).collect())
    }
}

/// Reads a configuration and all files that it names, fixes its constants, and checks the models.
pub fn load(path: &Path) -> Reading<Project> {
    load_with(path, load_configuration)
}

/// Loads a project like [`load`], but the configuration needs no purpose.
pub fn load_specification(path: &Path) -> Reading<Project> {
    load_with(path, load_without_purpose)
}

fn load_with(path: &Path, read: fn(&Path) -> Reading<Configuration>) -> Reading<Project> {
    let (configuration, found) = budget::reading(|| read(path))?;
    budget::set_file_memory(configuration.budget);
    let time = budget::time(configuration.budget.time);
    let read = budget::within("read", time, |budget| load_models(&configuration, found, budget));
    read.unwrap_or_else(|stop| Err(vec![stop.to_diagnostic()]))
}

/// Reads the specification. If it has no mistakes, reads all purposes, and reports their mistakes together.
/// Then fixes the constants and checks with the solver. `found` is what the configuration's reader found.
fn load_models(
    configuration: &Configuration,
    mut found: Vec<Diagnostic>,
    budget: &Budget,
) -> Reading<Project> {
    let mut has_errors = false;
    let mut note = |result: Vec<Diagnostic>| {
        has_errors |= result.iter().any(Diagnostic::is_error);
        add_new_findings(&mut found, result);
    };
    let loaded = load_reference(&configuration.specification, FileKind::Specification);
    let specification = match loaded.and_then(read_any_specification) {
        Ok((specification, warnings)) => {
            note(warnings);
            specification
        }
        Err(errors) => {
            note(errors);
            return Err(found);
        }
    };
    let mut input = match prepare_input(specification, configuration) {
        Ok(input) => input,
        Err(errors) => {
            found.extend(errors);
            return Err(found);
        }
    };
    let mut purposes: Vec<TestPurpose> = Vec::new();
    for (reference, aim) in configuration.aimed() {
        let expected = if aim == Aim::Accept { FileKind::Purpose } else { FileKind::Property };
        match load_reference(reference, expected).and_then(|file| input.read_purpose(file, aim)) {
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
    if has_errors {
        return Err(found);
    }
    if let Err(errors) = instantiate(configuration, &mut input.specification.iosts, &mut purposes) {
        found.extend(errors);
        return Err(found);
    }
    let project = Project {
        fixed: configuration.instantiate.clone(),
        judging: configuration.judging,
        conformance: configuration.conformance,
        options: make_options(configuration, &input.specification, &purposes),
        directory: configuration.directory.clone(),
        formats: configuration.formats.clone(),
        stages: configuration.stages.clone(),
        specification: input.specification,
        timing: input.timed.map(|(_, timing)| timing),
        purposes,
        time: configuration.budget.time,
    };
    budget.enter("check");
    check_with_solver(project, found).map_err(|found| point_at_instantiate(found, configuration))
}

/// Adds labels for the constants that the configuration fixes to "no initial state": they may be its cause.
fn point_at_instantiate(found: Vec<Diagnostic>, configuration: &Configuration) -> Vec<Diagnostic> {
    let add_labels = |mut diagnostic: Diagnostic| {
        if diagnostic.code == "no-initial-state" {
            for fixed in &configuration.instantiate {
                diagnostic = diagnostic.at(fixed.origin.clone(), format!("`{}` is fixed here", fixed.name));
            }
        }
        diagnostic
    };
    found.into_iter().map(add_labels).collect()
}

/// Makes a project of a purpose and its specification, with defaults for all options.
pub fn read_purpose_project(file: Arc<SourceFile>, specification: Arc<SourceFile>) -> Reading<Project> {
    budget::reading(|| make_purpose_project(file, specification))
}

/// Reads both files and makes the project, without a limit of time.
fn make_purpose_project(file: Arc<SourceFile>, specification: Arc<SourceFile>) -> Reading<Project> {
    let (specification, mut found) = read_specification(specification)?;
    // A file of another kind is not refused here. The reader of purposes does that.
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
        fixed: Vec::new(),
        judging: Judging::default(),
        conformance: Conformance::default(),
        options: StageOptions { max_lookahead: LOOKAHEAD, analysis, limits: Limits::default(), check: false },
        directory: PathBuf::from(DIRECTORY),
        formats: Vec::new(),
        stages: Stage::ALL.to_vec(),
        time: None,
    };
    check_with_solver(project, found)
}

/// Reads a specification alone. Runs begin in its initial state, so this state must exist and be determined
/// (see [`check::initialized`]).
///
/// # Errors
/// The file or its initial condition has mistakes.
pub fn read_runnable_specification(file: Arc<SourceFile>) -> Reading<Specification> {
    budget::reading(|| {
        let (specification, found) = read_specification(file)?;
        let found = check_start(&specification.iosts, found)?;
        Ok((specification, found))
    })
}

/// Checks the initial state of a model whose runs begin there, and adds the findings to `found`.
///
/// # Errors
/// There is no initial state, or it is not determined.
pub fn check_start(iosts: &Iosts, mut found: Vec<Diagnostic>) -> Result<Vec<Diagnostic>, Vec<Diagnostic>> {
    found.extend(check::initialized::check(iosts, &mut Z3Solver::default()));
    if found.iter().any(Diagnostic::is_error) { Err(found) } else { Ok(found) }
}

fn check_with_solver(project: Project, mut found: Vec<Diagnostic>) -> Reading<Project> {
    let mut solver = Z3Solver::default();
    found.extend(check::check(&project.specification.iosts, &mut solver));
    for purpose in &project.purposes {
        found.extend(check::check(&purpose.iosts, &mut solver));
    }
    if found.iter().any(Diagnostic::is_error) { Err(found) } else { Ok((project, found)) }
}

/// Loads a model that a configuration names. A file of another kind is a mistake.
fn load_reference(reference: &Reference, expected: FileKind) -> Result<Arc<SourceFile>, Vec<Diagnostic>> {
    let file = load_file(&reference.path)
        .map_err(|diagnostic| vec![diagnostic.at(reference.origin.clone(), "named here")])?;
    // If the file is of no kind, the reader of models reports that.
    match kind_of(&file) {
        Ok(kind) if kind != expected => {
            let (what, is) = (expected.name(), kind.name());
            let written = reference.origin.text().trim_matches(['"', '\'']);
            let help = match kind {
                FileKind::Iut => {
                    format!(
                        "an IUT file is given on the command line: `coreach test coreach.yaml --iut {written}`"
                    )
                }
                FileKind::Specification => format!("name it as `specification: {written}`"),
                FileKind::Purpose => format!("name it as `purposes: [{written}]`"),
                FileKind::Property => format!("name it as `properties: [{written}]`"),
                _ => "a configuration names models: `specification: a.yaml` and `purposes: [b.yaml]`"
                    .to_owned(),
            };
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

/// Refuses a purpose that waits for quiescence, if runs are judged by ioc.
fn refuse_quiescence_by_ioc(purpose: &TestPurpose, conformance: Conformance) -> Vec<Diagnostic> {
    let iosts = &purpose.iosts;
    let waits_for_silence = |step: &&Transition| iosts.action(step.action).kind == ActionKind::Quiescence;
    match iosts.transitions.iter().find(waits_for_silence) {
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

/// Makes the pipeline's options of the configuration. Without a domain in it, the models decide.
fn make_options(
    configuration: &Configuration,
    specification: &Specification,
    purposes: &[TestPurpose],
) -> StageOptions {
    let thresholds = match &configuration.thresholds {
        configuration::GivenThresholds::Auto => Thresholds::Auto,
        // A threshold may be truncated: the widening pauses there, and no fact depends on it.
        configuration::GivenThresholds::Numbers(numbers) => {
            Thresholds::List(numbers.iter().map(|number| number.trunc()).collect())
        }
    };
    StageOptions {
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

fn choose_domain(specification: &Specification, purposes: &[TestPurpose]) -> DomainKind {
    suited(purposes.iter().map(|purpose| &purpose.iosts).chain([&specification.iosts]))
}

/// Finds the specification of a purpose's file, first among the candidates, then in the folder of the file.
///
/// # Errors
/// No such specification is there, or the purpose names none.
pub fn find_specification_of(
    file: &Arc<SourceFile>,
    path: &Path,
    candidates: &[PathBuf],
) -> Result<Arc<SourceFile>, Vec<Diagnostic>> {
    match read_heading(file)? {
        Heading { kind: FileKind::Purpose | FileKind::Property, of: Some((name, origin)), .. } => {
            find_specification(&name, origin, candidates, path)
        }
        Heading { kind, .. } => {
            // The first key may be wrong, and the other keys be those of another kind.
            let other = kind_by_keys(file).filter(|other| other.aim().is_none());
            if let Some((other, key)) = other.and_then(|other| Some((other, other.first_key()?))) {
                let message =
                    format!("{} begins like {}, and has keys of {}", file.name, kind.name(), other.name());
                return Err(vec![
                    Diagnostic::error("wrong-kind-of-file", message)
                        .at(first_line(file), format!("this begins {}", kind.name()))
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
                    .at(first_line(file), "`of` is missing here")
                    .help(format!("add a line with the specification's name, for example `of: {name}`")),
            ])
        }
    }
}
