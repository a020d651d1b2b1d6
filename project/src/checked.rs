//! Checks any file that coreach reads: the findings of `coreach check`.
//!
//! The content of a file decides its kind, not its name ([`crate::file_kind`]). The files that it names are
//! checked with it. An implementation's file is compared with each model that is given with it, or that its
//! campaign has. Without a model its actions and parameters are not checked, and the result says so.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use coreach_analyses::check::check as check_with_solver;
use coreach_analyses::check::observations::check as check_observations;
use coreach_analyses::solver::z3::Z3Solver;
use coreach_artifact::document::TEST_CASE;
use coreach_artifact::{Graph, read};
use coreach_execution::TestCase;
use coreach_execution::campaign::Store;
use coreach_execution::record::{self, restore_run};
use coreach_execution::refused::find_refused_inputs;
use coreach_execution::timed::to_wire;
use coreach_model::diagnostic::{Diagnostic, Severity, SourceFile};
use coreach_model::iosts::{Aim, Iosts, TestPurpose};
use coreach_model::limits::MANY_SHOWN;
use coreach_model::reader::{
    AnySpecification, load as load_file, read_aimed, read_any_specification, read_timed_aimed,
};
use coreach_model::term::node::Comparison;
use coreach_model::timed::Timed;
use coreach_model::timed::delayed::{delayed_with_unseen, unseen_delays};
use coreach_model::{ActionId, Datum, LocationId, Term, file, json};
use coreach_pipeline::stages::complete::rejected_residuals;

use crate::campaign::names::KnownNames;
use crate::campaign::{Campaign, TestSource, load_campaign};
use crate::file_kind::{
    FileContent, FileKind, Heading, find_content, kind_of, kind_of_document, read_heading,
};
use crate::iut::{self, NameableLocations};
use crate::once::Once;
use crate::project::{find_specification_of, load, load_specification};
use crate::render::add_new_findings;
use crate::stored::beside;
use crate::timing::report_internal_time;

/// The findings in a file, and in the files that it needs.
pub struct Checked {
    /// The kind of the file: `specification`, `store`. It is `file`, if the kind is not known.
    pub kind: &'static str,
    /// The content in a few words.
    pub says: String,
    pub found: Vec<Diagnostic>,
    /// Sentences about consequences that the file does not mention.
    pub implied: Vec<String>,
}

impl Checked {
    fn new(kind: &'static str, says: String, found: Vec<Diagnostic>) -> Self {
        Checked { kind, says, found, implied: Vec::new() }
    }
}

/// Checks one file. `given` are the files that were given with it. A purpose's specification is looked for
/// among them, then in the purpose's folder. An implementation's file is compared with their models.
pub fn check(path: &Path, given: &[PathBuf]) -> Checked {
    match find_plain_content(path) {
        FileContent::Store => check_store(path),
        FileContent::Document => match file::read(path, file::MOST_DOCUMENT) {
            Ok(bytes) => check_document(path, &bytes),
            Err(error) => {
                let found = Diagnostic::error("unreadable-file", format!("{}: {error}", path.display()));
                Checked::new("file", String::new(), vec![found])
            }
        },
        FileContent::Text => match load_file(path) {
            Ok(file) => check_text(file, path, given),
            Err(found) => Checked::new("file", String::new(), vec![found]),
        },
    }
}

/// Looks at the first bytes of a plain file. Anything else is left to the reader of texts to report.
fn find_plain_content(path: &Path) -> FileContent {
    if path.is_file() { find_content(path) } else { FileContent::Text }
}

/// Checks a text with the files that it names, as its kind needs.
fn check_text(file: Arc<SourceFile>, path: &Path, given: &[PathBuf]) -> Checked {
    match read_heading(&file) {
        Err(found) => Checked::new("file", String::new(), found),
        Ok(Heading { kind: FileKind::Specification, name, .. }) => {
            let (says, found) = check_specification(file);
            Checked::new("specification", format!("`{name}`{says}"), found)
        }
        Ok(Heading { kind: FileKind::Configuration, .. }) => match load_specification(path) {
            Ok((project, found)) => {
                let purposes: Vec<String> =
                    project.purposes.iter().map(|purpose| format!("`{}`", purpose.iosts.name)).collect();
                let name = &project.specification.iosts.name;
                let doubts = find_doubts(&project.specification.iosts, &found);
                let found = [found, doubts].concat();
                let names = if purposes.is_empty() { "no purpose".to_owned() } else { purposes.join(", ") };
                Checked::new("configuration", format!("of `{name}` with {names}"), found)
            }
            Err(found) => Checked::new("configuration", String::new(), found),
        },
        Ok(Heading { kind: FileKind::Iut, .. }) => {
            let mut locations = NameableLocations::default();
            let read: Vec<Option<Vec<Iosts>>> =
                given.iter().map(|path| load_model(path, &mut locations)).collect();
            let has_wrong_model = read.iter().any(Option::is_none);
            let models: Vec<Iosts> = read.into_iter().flatten().flatten().collect();
            check_iut(path, &models, &locations, has_wrong_model)
        }
        Ok(Heading { kind: FileKind::Campaign, .. }) => check_campaign(path),
        // The other texts are purposes and properties.
        Ok(Heading { kind, .. }) => check_purpose(file, kind.aim().unwrap_or(Aim::Accept), path, given),
    }
}

/// Checks a specification. Returns its size in words, and the findings.
fn check_specification(file: Arc<SourceFile>) -> (String, Vec<Diagnostic>) {
    match read_any_specification(file) {
        Ok((AnySpecification::Untimed(specification), mut found)) => {
            let mut solver = Z3Solver::default();
            found.extend(check_with_solver(&specification.iosts, &mut solver));
            found.extend(find_doubts(&specification.iosts, &found));
            (describe_size(&specification.iosts), found)
        }
        Ok((AnySpecification::Timed(specification), mut found)) => {
            // The solver checks the form in which time is data.
            let form = delayed_with_unseen(&specification.timed);
            found.extend(check_with_solver(&form.iosts, &mut Z3Solver::default()));
            let graph = specification.timed.graph();
            // This is no mistake, because some commands support it. Making a test case refuses it.
            let takes_time = unseen_delays(&specification.timed).into_iter();
            found.extend(takes_time.map(|number| Diagnostic {
                severity: Severity::Warning,
                ..report_internal_time(graph, number)
            }));
            (describe_timed_size(&specification.timed), found)
        }
        Err(found) => (String::new(), found),
    }
}

/// Finds inputs that some possible states of a specification without mistakes take, and others refuse.
fn find_doubts(iosts: &Iosts, found: &[Diagnostic]) -> Vec<Diagnostic> {
    if found.iter().any(Diagnostic::is_error) { Vec::new() } else { find_refused_inputs(iosts) }
}

/// Checks a purpose or a property against its specification, which may be one of `given`. The sentences in
/// `implied` say which events completion sends to Reject.
fn check_purpose(file: Arc<SourceFile>, aim: Aim, path: &Path, given: &[PathBuf]) -> Checked {
    let check = || {
        let specification = find_specification_of(&file, path, given)?;
        let (specification, _) = read_any_specification(specification)?;
        let (mut purpose, delay, mut found) = match &specification {
            AnySpecification::Timed(specification) => {
                let (purpose, found) = read_timed_aimed(file.clone(), specification, aim)?;
                // The solver checks the form in which time is data. There internal steps have a delay, too.
                let form = delayed_with_unseen(&specification.timed);
                (form.purpose(&purpose), Some(form.delay), found)
            }
            AnySpecification::Untimed(specification) => {
                let (purpose, found) = read_aimed(file.clone(), specification, aim)?;
                (purpose, None, found)
            }
        };
        let mut solver = Z3Solver::default();
        found.extend(check_with_solver(&purpose.iosts, &mut solver));
        let says = format!("`{}` of `{}`{}", purpose.iosts.name, purpose.of, describe_size(&purpose.iosts));
        let is_well_formed = !found.iter().any(Diagnostic::is_error);
        // The solver needs `delay >= 0` above. In the sentences for people it is left out.
        if let Some(delay) = &delay {
            drop_trivial_delay_guards(&mut purpose, delay);
        }
        let implied = if is_well_formed { describe_rejected(&purpose, &mut solver) } else { Vec::new() };
        Ok(Checked { implied, ..Checked::new(aim.key(), says, found) })
    };
    check().unwrap_or_else(|found| Checked::new(aim.key(), String::new(), found))
}

/// Removes the condition "the delay is not negative" from the guards. Every event satisfies it.
fn drop_trivial_delay_guards(purpose: &mut TestPurpose, delay: &Datum) {
    let zero = Term::int(0).to_real();
    let not_negative = Term::compare(Comparison::AtLeast, &Term::datum(delay), &zero);
    for transition in purpose.iosts.transitions.iter_mut() {
        let parts = transition.guard.conjuncts();
        transition.guard = Term::and(parts.into_iter().filter(|part| *part != not_negative));
    }
}

/// Says in sentences which events completion sends to Reject.
fn describe_rejected(purpose: &TestPurpose, solver: &mut Z3Solver) -> Vec<String> {
    let residuals = rejected_residuals(purpose, solver);
    let sentence = |(source, action, residual): &(LocationId, ActionId, Term)| {
        let (place, action) = (&purpose.iosts.locations[*source].name, &purpose.iosts.action(*action).name);
        match residual.is_true() {
            true => format!("in `{place}`, `{action}` leads to Reject"),
            false => format!("in `{place}`, `{action}` leads to Reject when {residual}"),
        }
    };
    let mut sentences: Vec<String> = residuals.iter().take(MANY_SHOWN).map(sentence).collect();
    if residuals.len() > MANY_SHOWN {
        sentences.push(format!("and {} more lead to Reject", residuals.len() - MANY_SHOWN));
    }
    sentences
}

/// Loads the model of a given file, and adds its locations. Empty if the file has no model. `None` if the
/// model has mistakes.
fn load_model(path: &Path, locations: &mut NameableLocations) -> Option<Vec<Iosts>> {
    if find_plain_content(path) == FileContent::Document {
        let Ok(test) = read_test_case(path) else { return Some(Vec::new()) };
        locations.add_document(&test);
        return Some(vec![test.wire().clone()]);
    }
    let Ok(file) = load_file(path) else { return Some(Vec::new()) };
    let (specification, wire) = match kind_of(&file) {
        Ok(FileKind::Specification) => match read_any_specification(file).ok()?.0 {
            AnySpecification::Untimed(read) => (read.iosts.clone(), read.iosts),
            AnySpecification::Timed(read) => {
                let form = delayed_with_unseen(&read.timed);
                let wire = to_wire(&form.iosts, &form.uncontrollable);
                (form.iosts, wire)
            }
        },
        Ok(FileKind::Configuration) => {
            let (project, _) = load_specification(path).ok()?;
            let wire = project.to_wire();
            (project.specification.iosts, wire)
        }
        _ => return Some(Vec::new()),
    };
    locations.add(&specification);
    Some(vec![wire])
}

fn read_test_case(path: &Path) -> Result<TestCase, String> {
    let bytes = file::read(path, file::MOST_DOCUMENT).map_err(|error| error.to_string())?;
    TestCase::from_json(&bytes).map_err(|error| error.to_string())
}

/// Compares an implementation's file with each of these models. The same model may be there twice.
/// `has_wrong_model` says that another model has mistakes, which its own check reports.
fn check_iut(path: &Path, given: &[Iosts], locations: &NameableLocations, has_wrong_model: bool) -> Checked {
    let mut models: Vec<&Iosts> = Vec::new();
    for model in given {
        if !models.contains(&model) {
            models.push(model);
        }
    }
    let mut found = Vec::new();
    let mut name = String::new();
    let mut note = |result: coreach_model::reader::Reading<coreach_adapters::Iut>| {
        let more = match result {
            Ok((iut, more)) => {
                name = format!("`{}`", iut.name);
                more
            }
            Err(more) => more,
        };
        add_new_findings(&mut found, more);
    };
    if models.is_empty() {
        let folder = path.parent().unwrap_or(Path::new(""));
        let file = load_file(path).map_err(|error| vec![error]);
        note(file.and_then(|file| iut::read(file, folder, None)));
    }
    let mut files = Once::default();
    for model in &models {
        note(iut::load_once(path, model, Some(locations), &mut files));
    }
    let against: Vec<String> = models.iter().map(|model| format!("`{}`", model.name)).collect();
    let says = match against.as_slice() {
        [] if has_wrong_model => {
            format!("{name} (its model has mistakes: its actions and parameters are not checked)")
        }
        [] => format!("{name} (no model is given with it: its actions and parameters are not checked)"),
        some => format!("{name} against {}", some.join(", ")),
    };
    Checked::new("iut", says.trim_start().to_owned(), found)
}

/// Checks a campaign with all files that it names. No test case is made.
fn check_campaign(path: &Path) -> Checked {
    let (campaign, mut found) = match load_campaign(path) {
        Ok(read) => read,
        Err(found) => return Checked::new("campaign", String::new(), found),
    };
    let mut note = |more: Vec<Diagnostic>| add_new_findings(&mut found, more);
    let (mut models, mut locations) = (Vec::new(), NameableLocations::default());
    let (mut known, mut is_whole) = (KnownNames::default(), true);
    for source in &campaign.tests {
        match source {
            TestSource::Configuration(reference) => match load(&reference.path) {
                Ok((project, more)) => {
                    note(more);
                    locations.add(&project.specification.iosts);
                    known.add_project(&project);
                    models.push(project.to_wire());
                }
                Err(more) => {
                    is_whole = false;
                    note(more);
                }
            },
            TestSource::Document(reference) => match read_test_case(&reference.path) {
                Ok(test) => {
                    locations.add_document(&test);
                    known.add_test(&test.iosts);
                    models.push(test.wire().clone());
                }
                Err(error) => {
                    is_whole = false;
                    let found = Diagnostic::error("not-a-test-case", error);
                    note(vec![found.at(reference.origin.clone(), "named here")]);
                }
            },
        }
    }
    for reference in &campaign.iuts {
        note(check_iut(&reference.path, &models, &locations, false).found);
    }
    // If a file has mistakes, that file may have the names, so they are not checked.
    if is_whole {
        note(known.check(&campaign, is_whole));
    }
    let Campaign { name, tests, iuts, .. } = &campaign;
    let (tests, iuts) = (plural(tests.len(), "file"), plural(iuts.len(), "implementation"));
    let says = format!("`{name}` with tests of {tests} and {iuts}");
    Checked::new("campaign", says, found)
}

/// Checks a document of ours: a test case, or a run with the test case next to it.
fn check_document(path: &Path, bytes: &[u8]) -> Checked {
    let wrong = |kind, code, error: String| {
        let found = Diagnostic::error(code, format!("{}: {error}", path.display()));
        Checked::new(kind, String::new(), vec![found])
    };
    let read = match json::document(bytes) {
        Ok(read) => read,
        Err(error) => return wrong("document", "not-json", error),
    };
    let kind = kind_of_document(&read);
    if kind == Some(FileKind::TestCase) {
        return match TestCase::from_json(bytes) {
            Ok(test) => {
                let says = format!("`{}`{}", test.iosts.name, describe_size(&test.iosts));
                Checked::new("test case", says, find_missing_observations(bytes))
            }
            Err(error) => wrong("test case", "not-a-test-case", error.to_string()),
        };
    }
    if kind != Some(FileKind::Run) {
        let error = "this is neither a test case nor a run".to_owned();
        return wrong("document", "unknown-kind-of-file", error);
    }
    let record = match record::read_record(bytes) {
        Ok(record) => record,
        Err(error) => return wrong("run", "no-run", error),
    };
    let says = format!("of `{}`, seed {}, {}", record.test_case, record.seed, record.verdict);
    match read_test_case(&beside(path)) {
        Err(_) => Checked::new(
            "run",
            format!("{says} (its test case is not in the same folder, so its events are not checked)"),
            Vec::new(),
        ),
        Ok(test) => match restore_run(&test, &record) {
            Ok(_) => Checked::new("run", says, Vec::new()),
            Err(misfit) => wrong("run", "no-run", misfit),
        },
    }
}

/// Checks a test case for outputs that it does not take. Gives nothing for other documents.
fn find_missing_observations(bytes: &[u8]) -> Vec<Diagnostic> {
    let graph = read::parse_document(bytes).and_then(|document| match document.stage == TEST_CASE {
        true => read::read_graph(&document).map(Some),
        false => Ok(None),
    });
    match graph {
        Ok(Some(Graph { iosts, verdicts, reach, timed: None, .. })) => {
            check_observations(&iosts, &verdicts, &reach, &mut Z3Solver::default())
        }
        _ => Vec::new(),
    }
}

/// Checks a campaign's store: the hash of each row, and SQLite's own check.
fn check_store(path: &Path) -> Checked {
    let read = Store::read(path).and_then(|store| store.rows());
    match read {
        Ok(rows) => Checked::new("store", format!("of {}", plural(rows.len(), "run")), Vec::new()),
        Err(error) => {
            let found = Diagnostic::error("no-store", error.to_string());
            let found = error.help().map_or(found.clone(), |help| found.help(help));
            Checked::new("store", String::new(), vec![found])
        }
    }
}

fn describe_timed_size(timed: &Timed) -> String {
    let clocks = plural(timed.clocks().len(), "clock");
    let graph = describe_size(timed.graph());
    format!("{}, {clocks})", graph.trim_end_matches(')'))
}

/// ` (3 locations, 5 transitions)`
fn describe_size(iosts: &Iosts) -> String {
    let (locations, transitions) = (iosts.locations.len(), iosts.transitions.len());
    format!(" ({}, {})", plural(locations, "location"), plural(transitions, "transition"))
}

/// `1 error`, `2 errors`
pub fn plural(count: usize, word: &str) -> String {
    format!("{count} {word}{}", if count == 1 { "" } else { "s" })
}
