//! Puts the files that a user names on a page. Their content decides, not their order.
//!
//! | named | shown |
//! |---|---|
//! | a configuration | the models, the results of all stages, the shortest run to Pass |
//! | a purpose | the same, with the specification in its folder and the default options |
//! | a specification | the specification |
//! | a campaign | its configurations, and its store, if that exists |
//! | a store, a run, a folder of runs | the runs, and their coverage, if a configuration is known |
//! | output of `coreach coverage --format json` | the coverage |
//!
//! If coverage cannot be counted, a remark on the page says so, and the page is still made.

use std::path::{Path, PathBuf};
use std::time::Duration;

use coreach_analyses::DomainKind;
use coreach_model::Diagnostic;
use coreach_model::file;
use coreach_model::iosts::TestPurpose;
use coreach_model::reader::{load as load_file, read_specification};
use coreach_pipeline::Stage;
use coreach_pipeline::export::View;
use serde_json::Value as Json;

use super::{Page, graph};
use crate::configuration::Judging;
use crate::coverage::{self, SortedFiles, measure};
use crate::file_kind::{FileContent, FileKind, kind_of_document, read_content};
use crate::making::{Says, look_ahead, make, make_online, search_run};
use crate::project::{self, Project, load, read_purpose_project};
use crate::{budget, jobs, stored};

const CODE: &str = "nothing-to-show";

pub struct PageSettings {
    /// The domains to compare. If there are none, each configuration's own domain is used.
    pub domains: Vec<DomainKind>,
    pub threads: usize,
    pub coverage: coverage::Measure,
}

/// The files, each in the list of its kind.
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Sorted {
    /// The files with runs, and the configurations.
    files: SortedFiles,
    specifications: Vec<PathBuf>,
    purposes: Vec<PathBuf>,
    coverage: Vec<Json>,
}

impl Sorted {
    /// Finds the kind of each file.
    ///
    /// # Errors
    /// A file cannot be read, or is of a kind that cannot be shown.
    pub fn of(paths: &[PathBuf]) -> Result<Self, Vec<Diagnostic>> {
        let mut sorted = Sorted::default();
        let mut found = Vec::new();
        for path in paths {
            if let Err(errors) = sorted.sort_in(path) {
                found.extend(errors);
            }
        }
        // The store of a campaign that has not run is not there.
        let stores = sorted.files.own_stores.iter().filter(|store| store.exists()).cloned();
        sorted.files.stores.extend(stores.collect::<Vec<_>>());
        // Coverage skips configurations that it cannot use, as if they were found and not named.
        sorted.files.are_found = true;
        sorted.files.sort();
        for list in [&mut sorted.specifications, &mut sorted.purposes] {
            list.sort();
            list.dedup();
        }
        if found.is_empty() { Ok(sorted) } else { Err(found) }
    }

    /// Puts a file into its list. Files with runs, campaigns and configurations go into `files`.
    fn sort_in(&mut self, path: &Path) -> Result<(), Vec<Diagnostic>> {
        if read_content(path).is_ok_and(|content| content == FileContent::Document) {
            return self.sort_document(path);
        }
        match self.files.sort_in(path, CODE)? {
            None => {}
            Some(FileKind::Specification) => self.specifications.push(path.to_owned()),
            Some(FileKind::Purpose | FileKind::Property) => self.purposes.push(path.to_owned()),
            Some(_) => {
                let message = format!("{}: there is nothing in it that can be shown", path.display());
                let help = "name a configuration, a model, a campaign, a store, a run, or a folder of runs";
                return Err(vec![Diagnostic::error(CODE, message).help(help)]);
            }
        }
        Ok(())
    }

    fn sort_document(&mut self, path: &Path) -> Result<(), Vec<Diagnostic>> {
        let error = |why: String| vec![Diagnostic::error(CODE, format!("{}: {why}", path.display()))];
        let bytes = file::read(path, file::MOST_DOCUMENT).map_err(|cause| error(cause.to_string()))?;
        let document: Json = serde_json::from_slice(&bytes).map_err(|cause| error(cause.to_string()))?;
        if kind_of_document(&document) == Some(FileKind::Run) {
            self.files.runs.push(path.to_owned());
        } else if document.get("specifications").is_some() && document.get("unmet").is_some() {
            self.coverage.push(document);
        } else {
            let why = "it is neither a run nor what `coreach coverage --format json` prints";
            return Err(error(why.to_owned()));
        }
        Ok(())
    }
}

/// Puts all files on a page. Also returns the warnings.
pub fn gather(
    sorted: &Sorted,
    settings: &PageSettings,
    says: Says<'_>,
) -> Result<(Page, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut page = Page::new("");
    let mut warnings = Vec::new();
    for path in &sorted.specifications {
        let read = || load_file(path).map_err(|found| vec![found]).and_then(read_specification);
        let (specification, found) = budget::reading(read)?;
        warnings.extend(found);
        page.add_specification(&specification.iosts);
    }
    for path in &sorted.files.configurations {
        let (project, found) = load(path)?;
        warnings.extend(found);
        add_project(&mut page, &project, settings, says)?;
    }
    for path in &sorted.purposes {
        let file = load_file(path).map_err(|found| vec![found])?;
        let specification = project::find_specification_of(&file, path, &sorted.specifications)?;
        let (project, found) = read_purpose_project(file, specification)?;
        warnings.extend(found);
        add_project(&mut page, &project, settings, says)?;
    }
    for path in &sorted.files.stores {
        says(format!("reading {}", path.display()));
        page.add_store(path)?;
    }
    for path in &sorted.files.runs {
        let stored = budget::reading(|| stored::load(path, None, None))?;
        page.add_run(path, &stored)?;
    }
    page.coverage = sorted.coverage.last().cloned();
    if sorted.coverage.is_empty() && !(sorted.files.stores.is_empty() && sorted.files.runs.is_empty()) {
        count_coverage(&mut page, sorted, settings, says);
    }
    page.set_title();
    Ok((page, warnings))
}

/// Counts the coverage of the runs. If that is impossible, adds a remark.
fn count_coverage(page: &mut Page, sorted: &Sorted, settings: &PageSettings, says: Says<'_>) {
    if sorted.files.configurations.is_empty() {
        page.note("coverage is not counted: also name the configuration of the test cases");
        return;
    }
    match measure(&sorted.files, &settings.coverage, says) {
        Ok((report, stops)) => {
            page.coverage = serde_json::to_value(&report).ok();
            for stop in stops {
                page.note(format!("coverage is not counted to the end: {}", stop.message));
            }
        }
        Err(found) => {
            for diagnostic in found {
                page.note(format!("coverage is not counted: {}", diagnostic.message));
            }
        }
    }
}

/// Adds the models of a project, and the results for its purposes.
fn add_project(
    page: &mut Page,
    project: &Project,
    settings: &PageSettings,
    says: Says<'_>,
) -> Result<(), Vec<Diagnostic>> {
    page.add_models(project);
    let domains = match settings.domains.as_slice() {
        [] => vec![project.options.analysis.domain],
        several => several.to_vec(),
    };
    let pairs: Vec<(&TestPurpose, DomainKind)> = project
        .purposes
        .iter()
        .flat_map(|purpose| domains.iter().map(move |domain| (purpose, *domain)))
        .collect();
    // The prospect is computed once for each purpose, with the first domain.
    let is_first = |domain: &DomainKind| Some(domain) == domains.first();
    let (time, check) = (budget::time(project.time), false);
    if project.judging == Judging::Online {
        for (purpose, domain) in pairs {
            match make_online(project, purpose, domain, check, says) {
                Ok(made) => {
                    if is_first(&domain) {
                        let view = View::of_online(&made.test);
                        page.add_prospect(purpose, look_ahead(&view, made.unreachable.as_ref(), None, time));
                    }
                    draw_within(time, || page.add_online(purpose, domain.name(), &made))?;
                }
                Err(stop) => page.add_stopped(purpose, domain.name(), &stop),
            }
        }
        return Ok(());
    }
    let work = |(purpose, domain): &(&TestPurpose, DomainKind)| {
        let mut made = make(project, purpose, *domain, check, says)?;
        let example = search_run(&mut made, purpose, *domain, time);
        let view = View::of(&made.generation, Stage::InputComplete);
        let prospect = match is_first(domain) {
            true => look_ahead(&view, made.unreachable.as_ref(), example.as_ref(), time),
            false => None,
        };
        Ok((made, example, prospect))
    };
    let results = jobs::in_order(&pairs, settings.threads, work);
    let results = results
        .map_err(|error| vec![Diagnostic::error("no-thread", format!("cannot start a thread: {error}"))])?;
    for ((purpose, domain), result) in pairs.into_iter().zip(results) {
        match result {
            Ok((made, example, prospect)) => {
                page.add_prospect(purpose, prospect);
                says(format!("{} with {domain}: drawing", purpose.iosts.name));
                draw_within(time, || page.add_made(purpose, domain.name(), &made, example.as_ref()))?;
            }
            Err(stop) => page.add_stopped(purpose, domain.name(), &stop),
        }
    }
    Ok(())
}

fn draw_within(time: Duration, draw: impl FnOnce()) -> Result<(), Vec<Diagnostic>> {
    budget::within("draw", time, |_| draw()).map_err(|stop| vec![stop.to_diagnostic()])
}

impl Page {
    pub fn add_specification(&mut self, iosts: &coreach_model::Iosts) {
        if let Some(origin) = &iosts.origin {
            self.tables.file(&origin.file);
        }
        let start = graph::initial_values(iosts, None);
        self.add(&View::of_specification(iosts), graph::MadeFrom::default(), start);
    }

    fn set_title(&mut self) {
        if self.title.is_empty() {
            let names =
                self.graphs.iter().find(|graph| graph.stage == "specification" || graph.stage == "test_case");
            self.title = names.map_or_else(|| "coreach".to_owned(), |graph| graph.name.clone());
        }
    }
}
