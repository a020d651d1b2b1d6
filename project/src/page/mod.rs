//! Makes a page: models, results of stages, runs and coverage in one file for a browser.
//!
//! [`Page`] gathers the results for a configuration ([`Page::add_made`]), runs ([`Page::add_store`],
//! [`Page::add_run`]) and coverage. It becomes a [`PageDocument`], which scripts read
//! ([`html`](html::write_html)).
//!
//! No time is on it but those that a store has kept: the same inputs give the same bytes.

pub mod document;
pub mod gather;
mod graph;
pub mod html;
mod runs;
mod tables;

use coreach_artifact::Document;
use coreach_artifact::document::Generator;
use coreach_execution::planner::Example;
use coreach_execution::planner::prospect::WinningProspect;
use coreach_model::{Diagnostic, TestPurpose};
use coreach_pipeline::Stage;
use coreach_pipeline::export::{View, json};
use coreach_pipeline::stop::Stop;
use serde_json::{Map, Value as Json, json};

use crate::making::{MadeOnline, MadeTest, Measured};
use crate::project::Project;
use document::{FORMAT_VERSION, PageDocument, PageDomain, PageGraph};
use tables::PageTables;

#[derive(Default)]
pub struct Page {
    tables: PageTables,
    title: String,
    notes: Vec<String>,
    /// Lines of the page that no command prints.
    remarks: Vec<String>,
    graphs: Vec<PageGraph>,
    domains: Vec<PageDomain>,
    runs: Vec<document::PageRun>,
    coverage: Option<Json>,
    /// Test cases, and the numbers of their graphs.
    cases: Vec<(Document, usize)>,
    /// The number of runs that can be walked on the page.
    walks: usize,
}

impl Page {
    pub fn new(title: impl Into<String>) -> Self {
        Page { title: title.into(), ..Page::default() }
    }

    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Adds a remark about what can be won, if that is known.
    pub fn add_prospect(&mut self, purpose: &TestPurpose, prospect: Option<WinningProspect>) {
        let line = |prospect| format!("{}: what can be won: {prospect}", purpose.iosts.name);
        self.remarks.extend(prospect.map(line));
    }

    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    pub fn add_models(&mut self, project: &Project) {
        let iosts = &project.specification.iosts;
        self.add_specification(iosts);
        for purpose in &project.purposes {
            if let Some(origin) = &purpose.iosts.origin {
                self.tables.file(&origin.file);
            }
            let made = graph::MadeFrom { purpose: Some(&purpose.iosts.name), domain: None };
            self.add(&View::of_purpose(purpose), made, Map::new());
        }
    }

    /// Adds all stages of a purpose with a domain, and a shortest run to Pass.
    pub fn add_made(
        &mut self,
        purpose: &TestPurpose,
        domain: &'static str,
        made: &MadeTest,
        example: Option<&Example>,
    ) {
        let name = &purpose.iosts.name;
        let constants = match example {
            Some(Example::Run(constants, _)) => Some(constants.as_slice()),
            Some(Example::None | Example::NotFound(_)) | None => None,
        };
        let made_from = graph::MadeFrom { purpose: Some(name), domain: Some(domain) };
        for stage in Stage::ALL {
            let view = View::of(&made.generation, stage);
            // From this stage on, a graph can be walked.
            let start = match stage >= Stage::Select {
                true => graph::initial_values(view.iosts, constants),
                false => Map::new(),
            };
            let number = self.add(&view, made_from, start);
            if Stage::ALL.last() == Some(&stage) {
                self.cases.push((without_origin(json::to_document(&view)), number));
                self.add_example(number, made, example);
            }
        }
        let selection = made.generation.test_graph.selection;
        // The times are left out, so that the same input makes the same page.
        let stage = |Measured { stage, locations, transitions, inconclusive, fail, .. }: &Measured| {
            json!({ "stage": stage, "locations": locations, "transitions": transitions,
                "inconclusive": inconclusive, "fail": fail })
        };
        self.domains.push(PageDomain {
            stages: made.stages.iter().map(stage).collect(),
            pruned: Some(selection.pruned),
            strengthened: Some(selection.strengthened),
            ..make_result(name, domain, made.unreachable.as_ref(), Some(made.statistics.queries))
        });
    }

    pub fn add_online(&mut self, purpose: &TestPurpose, domain: &'static str, made: &MadeOnline) {
        let name = &purpose.iosts.name;
        let (view, start) = (View::of_online(&made.test), graph::initial_values(&made.test.iosts, None));
        let made_from = graph::MadeFrom { purpose: Some(name), domain: Some(domain) };
        let number = self.add(&view, made_from, start);
        self.cases.push((without_origin(json::to_document(&view)), number));
        let unreachable = made.unreachable.as_ref();
        self.domains.push(make_result(name, domain, unreachable, Some(made.statistics.queries)));
    }

    pub fn add_stopped(&mut self, purpose: &TestPurpose, domain: &'static str, stop: &Stop) {
        let why = stop.to_diagnostic();
        let result = make_result(&purpose.iosts.name, domain, Some(&why), None);
        self.domains.push(PageDomain { result: "stopped", ..result });
    }

    pub fn into_document(mut self) -> PageDocument {
        let (types, terms, sorts) = self.tables.lists();
        let PageTables { files, expressions, .. } = self.tables;
        PageDocument {
            format: "coreach-page",
            format_version: FORMAT_VERSION,
            version: env!("CARGO_PKG_VERSION"),
            title: self.title,
            notes: [self.notes, self.remarks].concat(),
            files,
            types,
            terms,
            sorts,
            expressions,
            graphs: self.graphs,
            domains: self.domains,
            runs: self.runs,
            coverage: self.coverage,
        }
    }

    fn add(&mut self, view: &View<'_>, made: graph::MadeFrom<'_>, start: Map<String, Json>) -> usize {
        let (graph, note) = graph::make_graph(&mut self.tables, view, made, start);
        self.graphs.push(graph);
        if let Some(note) = note {
            self.note(note);
        }
        self.graphs.len() - 1
    }
}

/// Makes a result without stages. With a reason it is `unreachable`, unless the caller changes that.
fn make_result(
    purpose: &str,
    domain: &'static str,
    unreachable: Option<&Diagnostic>,
    queries: Option<u64>,
) -> PageDomain {
    PageDomain {
        purpose: purpose.to_owned(),
        domain,
        result: if unreachable.is_some() { "unreachable" } else { "made" },
        reason: unreachable.map(|why| why.message.clone()),
        stages: Vec::new(),
        pruned: None,
        strengthened: None,
        queries,
    }
}

/// Removes the program and the sources from a test case's document. They do not change its graph.
fn without_origin(mut document: Document) -> Document {
    document.generator = Generator { name: String::new(), version: String::new() };
    document.made_of = None;
    document
}
