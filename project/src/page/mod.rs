//! A page to look at: models, results of stages, runs and coverage in one file for a browser.
//!
//! [`Page`] gathers what there is: what was made of a configuration ([`Page::made`]), runs ([`Page::store`],
//! [`Page::run`]), coverage. It becomes a [`PageDocument`], which is all that the page's scripts know
//! ([`html`](html::html)).
//!
//! Nothing in it depends on a clock but what a store has kept: the same inputs give the same bytes.

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
use tables::Tables;

#[derive(Default)]
pub struct Page {
    tables: Tables,
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
    /// So many runs have their way in the page.
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

    /// Says on the page what can be won, if that is known.
    pub fn prospect(&mut self, purpose: &TestPurpose, prospect: Option<WinningProspect>) {
        let line = |prospect| format!("{}: what can be won: {prospect}", purpose.iosts.name);
        self.remarks.extend(prospect.map(line));
    }

    /// The problems met so far.
    pub fn notes(&self) -> &[String] {
        &self.notes
    }

    /// The models of a project as they were written.
    pub fn project(&mut self, project: &Project) {
        let iosts = &project.specification.iosts;
        self.specification(iosts);
        for purpose in &project.purposes {
            if let Some(origin) = &purpose.iosts.origin {
                self.tables.file(&origin.file);
            }
            let made = graph::Made { purpose: Some(&purpose.iosts.name), domain: None };
            self.add(&View::of_purpose(purpose), made, Map::new());
        }
    }

    /// What was made of a purpose with a domain, and a shortest run to Pass: all stages of it.
    pub fn made(
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
        let of = graph::Made { purpose: Some(name), domain: Some(domain) };
        for stage in Stage::ALL {
            let view = View::of(&made.generation, stage);
            let start = if stage >= Stage::Select { graph::start(view.iosts, constants) } else { Map::new() };
            let number = self.add(&view, of, start);
            if Stage::ALL.last() == Some(&stage) {
                self.cases.push((without_origin(json::to_document(&view)), number));
                self.example(number, made, example);
            }
        }
        let selection = made.generation.test_graph.selection;
        // Without the time, so that the same input makes the same page.
        let stage = |Measured { stage, locations, transitions, inconclusive, fail, .. }: &Measured| {
            json!({ "stage": stage, "locations": locations, "transitions": transitions,
                "inconclusive": inconclusive, "fail": fail })
        };
        self.domains.push(PageDomain {
            stages: made.stages.iter().map(stage).collect(),
            pruned: Some(selection.pruned),
            strengthened: Some(selection.strengthened),
            ..result(name, domain, made.unreachable.as_ref(), Some(made.statistics.queries))
        });
    }

    pub fn made_online(&mut self, purpose: &TestPurpose, domain: &'static str, made: &MadeOnline) {
        let name = &purpose.iosts.name;
        let start = graph::start(&made.test.iosts, None);
        let of = graph::Made { purpose: Some(name), domain: Some(domain) };
        let number = self.add(&View::of_online(&made.test), of, start);
        self.cases.push((without_origin(json::to_document(&View::of_online(&made.test))), number));
        let unreachable = made.unreachable.as_ref();
        self.domains.push(result(name, domain, unreachable, Some(made.statistics.queries)));
    }

    pub fn stopped(&mut self, purpose: &TestPurpose, domain: &'static str, stop: &Stop) {
        let why = stop.to_diagnostic();
        let result = result(&purpose.iosts.name, domain, Some(&why), None);
        self.domains.push(PageDomain { result: "stopped", ..result });
    }

    pub fn document(mut self) -> PageDocument {
        let (types, terms, sorts) = self.tables.lists();
        let Tables { files, expressions, .. } = self.tables;
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

    fn add(&mut self, view: &View<'_>, made: graph::Made<'_>, start: Map<String, Json>) -> usize {
        let (graph, note) = graph::graph(&mut self.tables, view, made, start);
        self.graphs.push(graph);
        if let Some(note) = note {
            self.note(note);
        }
        self.graphs.len() - 1
    }
}

/// What a domain made of a purpose, without its stages.
fn result(
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

/// A test case's document without what made it, and of what: neither changes its graph.
fn without_origin(mut document: Document) -> Document {
    document.generator = Generator { name: String::new(), version: String::new() };
    document.made_of = None;
    document
}
