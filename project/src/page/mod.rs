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
use coreach_model::TestPurpose;
use coreach_pipeline::Stage;
use coreach_pipeline::export::{View, json};
use coreach_pipeline::stop::Stop;
use serde_json::{Map, Value as Json};

use crate::coverage::CoverageReport;
use crate::making::{MadeOnline, MadeTest};
use crate::project::Project;
use document::{FORMAT_VERSION, PageDocument, PageDomain, PageGraph};
use tables::Tables;

/// A page that is being gathered.
#[derive(Default)]
pub struct Page {
    tables: Tables,
    title: String,
    notes: Vec<String>,
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
    /// An empty one.
    pub fn new(title: impl Into<String>) -> Self {
        Page { title: title.into(), ..Page::default() }
    }

    /// Says something of the whole.
    pub fn note(&mut self, note: impl Into<String>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
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
                self.cases.push((without_origin(json::document(&view)), number));
                self.example(number, made, example);
            }
        }
        let selection = made.generation.test_graph.selection;
        self.domains.push(PageDomain {
            purpose: name.clone(),
            domain,
            result: if made.unreachable.is_some() { "unreachable" } else { "made" },
            reason: made.unreachable.as_ref().map(|why| why.message.clone()),
            stages: made
                .stages
                .iter()
                .map(|stage| document::PageStage {
                    stage: stage.stage,
                    locations: stage.locations,
                    transitions: stage.transitions,
                    inconclusive: stage.inconclusive,
                    fail: stage.fail,
                })
                .collect(),
            pruned: Some(selection.pruned),
            strengthened: Some(selection.strengthened),
            queries: Some(made.statistics.queries),
        });
    }

    /// What judges a purpose on line.
    pub fn made_online(&mut self, purpose: &TestPurpose, domain: &'static str, made: &MadeOnline) {
        let name = &purpose.iosts.name;
        let start = graph::start(&made.test.iosts, None);
        let of = graph::Made { purpose: Some(name), domain: Some(domain) };
        let number = self.add(&View::of_online(&made.test), of, start);
        self.cases.push((without_origin(json::document(&View::of_online(&made.test))), number));
        self.domains.push(PageDomain {
            purpose: name.clone(),
            domain,
            result: if made.unreachable.is_some() { "unreachable" } else { "made" },
            reason: made.unreachable.as_ref().map(|why| why.message.clone()),
            stages: Vec::new(),
            pruned: None,
            strengthened: None,
            queries: Some(made.statistics.queries),
        });
    }

    /// A purpose of which nothing was made.
    pub fn stopped(&mut self, purpose: &TestPurpose, domain: &'static str, stop: &Stop) {
        self.domains.push(PageDomain {
            purpose: purpose.iosts.name.clone(),
            domain,
            result: "stopped",
            reason: Some(stop.to_diagnostic().message),
            stages: Vec::new(),
            pruned: None,
            strengthened: None,
            queries: None,
        });
    }

    /// What runs have covered.
    pub fn covered(&mut self, report: &CoverageReport) {
        self.coverage = serde_json::to_value(report).ok();
    }

    /// The same, from a document.
    pub fn covered_as(&mut self, report: Json) {
        self.coverage = Some(report);
    }

    /// What the page shows.
    pub fn document(mut self) -> PageDocument {
        let (types, terms, sorts) = self.tables.lists();
        let Tables { files, expressions, .. } = self.tables;
        PageDocument {
            format: "coreach-page",
            format_version: FORMAT_VERSION,
            version: env!("CARGO_PKG_VERSION"),
            title: self.title,
            notes: self.notes,
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

/// A test case's document without what made it, and of what: neither changes its graph.
fn without_origin(mut document: Document) -> Document {
    document.generator = Generator { name: String::new(), version: String::new() };
    document.made_of = None;
    document
}
