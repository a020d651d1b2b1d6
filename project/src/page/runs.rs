//! Adds runs to the page: runs of stores, runs of files, and the shortest run to Pass of a test case.
//!
//! A store may have a hundred thousand runs, and a browser reads a page as a whole. So a page lists the first
//! [`MOST_RUNS`] runs, and [`MOST_WALKS`] of them can be walked. These are chosen by kind (bucket, ending,
//! test case, implementation), and the shortest run of each kind comes first. A remark counts the rest.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use coreach_artifact::{Document, DocumentError, read};
use coreach_execution::campaign::Store;
use coreach_execution::planner::Example;
use coreach_execution::record::{Record, StepRecord, restore_run};
use coreach_execution::{Run as Ran, TestCase};
use coreach_model::iosts::TransitionOrigin;
use coreach_model::semantics::State;
use coreach_model::{Diagnostic, Number, TransitionId};
use coreach_pipeline::export::View;
use serde_json::Map;

use super::document::{PageRun, PageStep, PageWalk};
use super::{Page, graph, without_origin};
use crate::budget;
use crate::making::MadeTest;
use crate::stored::LoadedRun;

/// The most runs that a page lists.
pub const MOST_RUNS: usize = 20_000;

/// The most runs that can be walked on a page.
pub const MOST_WALKS: usize = 400;

impl Page {
    pub fn add_run(&mut self, path: &Path, stored: &LoadedRun) -> Result<(), Vec<Diagnostic>> {
        let (document, case) = read_case(&stored.document, path)?;
        let graph = self.find_or_add_case(document, &case);
        let mut run = make_page_run(path.display().to_string(), &stored.record);
        run.walk = Some(make_walk(graph, &stored.initial, &stored.run, &stored.record));
        self.runs.push(run);
        Ok(())
    }

    /// Adds all runs of a store.
    ///
    /// # Errors
    /// The store cannot be read, or a run does not fit its test case.
    pub fn add_store(&mut self, path: &Path) -> Result<(), Vec<Diagnostic>> {
        let broken = |error: coreach_execution::campaign::StoreError| {
            vec![Diagnostic::error("no-store", error.to_string())]
        };
        let store = Store::read(path).map_err(broken)?;
        let iuts = store.iut_names().map_err(broken)?;
        let documents = store.test_documents().map_err(broken)?;
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let first = self.runs.len();
        // The test and the record of each listed run, whose place on the page is `first` plus its place here.
        let mut listed: Vec<(String, Record)> = Vec::new();
        let mut count = 0;
        store
            .each_run(&mut |run| {
                count += 1;
                if self.runs.len() < MOST_RUNS {
                    let mut page_run = make_page_run(format!("{name} {}", run.number), &run.record);
                    page_run.iut = iuts.get(&run.iut).cloned();
                    page_run.started = Some(run.started);
                    self.runs.push(page_run);
                    listed.push((run.test, run.record));
                }
                true
            })
            .map_err(broken)?;
        if count > listed.len() {
            self.note(format!(
                "{name}: {} of its {count} runs are listed; `coreach campaign` sums up all",
                listed.len()
            ));
        }
        let wanted = choose_walks(&self.runs[first..], MOST_WALKS.saturating_sub(self.walks));
        if wanted.len() < listed.len() {
            self.note(format!(
                "{name}: {} of {} runs can be walked here, the shortest of each kind first; `coreach explain {} NUMBER` walks any",
                wanted.len(),
                listed.len(),
                path.display()
            ));
        }
        let mut cases: HashMap<&str, (usize, TestCase)> = HashMap::new();
        for place in wanted {
            let (test, record) = &listed[place];
            if !cases.contains_key(test.as_str()) {
                let document = documents.get(test).map(String::as_str).unwrap_or_default();
                let (document, case) = budget::reading(|| read_case(document, path))?;
                cases.insert(test, (self.find_or_add_case(document, &case), case));
            }
            let (graph, case) = &cases[test.as_str()];
            let misfit = |why: String| {
                vec![Diagnostic::error("no-run", format!("{}: {why}", self.runs[first + place].name))]
            };
            let (state, run) = restore_run(case, record).map_err(misfit)?;
            let walk = make_walk(*graph, &state, &run, record);
            self.runs[first + place].walk = Some(walk);
            self.walks += 1;
        }
        Ok(())
    }

    /// Gives the number of the test case's graph on the page, and adds the graph if it is new.
    fn find_or_add_case(&mut self, document: Document, case: &TestCase) -> usize {
        let document = without_origin(document);
        if let Some((_, number)) = self.cases.iter().find(|(known, _)| *known == document) {
            return *number;
        }
        // The graph was read from a document, so its origins are not places in the user's files.
        let mut iosts = case.iosts.clone();
        for transition in iosts.transitions.iter_mut() {
            transition.origin = TransitionOrigin::default();
        }
        let view = View::of_run(&iosts, &case.verdicts, &[]);
        let start = graph::initial_values(&iosts, None);
        let number = self.add(&view, graph::MadeFrom::default(), start);
        self.cases.push((document, number));
        number
    }

    /// Adds the shortest run to Pass, if one is known.
    pub(super) fn add_example(&mut self, graph: usize, made: &MadeTest, example: Option<&Example>) {
        let Some(Example::Run(constants, events)) = example else { return };
        let case = &made.generation.test_case;
        let test = TestCase::new(case.iosts.clone(), case.verdicts.clone());
        let given = graph::initial_values(&case.iosts, Some(constants));
        let steps = events.iter().map(|event| {
            let action = test.iosts.find_action(&event.action).map(|id| test.iosts.action(id));
            let names = action.into_iter().flat_map(|action| &action.parameters);
            let is_sent = action.is_some_and(|action| action.kind == coreach_model::ActionKind::Input);
            PageStep {
                direction: if is_sent { "stimulus" } else { "observation" }.to_owned(),
                action: Some(event.action.clone()),
                values: names
                    .zip(&event.values)
                    .map(|(datum, value)| (datum.name().to_owned(), coreach_model::codec::to_json(value)))
                    .collect(),
                transition: None,
                at_ms: None,
            }
        });
        let steps: Vec<PageStep> = steps.collect();
        self.runs.push(PageRun {
            name: match self.graphs[graph].domain {
                Some(domain) => format!("a shortest run to Pass ({domain})"),
                None => "a shortest run to Pass".to_owned(),
            },
            test: case.iosts.name.clone(),
            verdict: "Pass".to_owned(),
            cause: "event".to_owned(),
            constants: graph::values_to_json(&constants.iter().cloned().collect()),
            events: events.len(),
            walk: Some(PageWalk { graph, start: given, steps }),
            ..PageRun::default()
        });
    }
}

fn read_case(text: &str, path: &Path) -> Result<(Document, TestCase), Vec<Diagnostic>> {
    let read = || {
        let document = read::parse_document(text.as_bytes())?;
        let case = TestCase::from_document(&document)?;
        Ok((document, case))
    };
    read().map_err(|error: DocumentError| {
        vec![Diagnostic::error("no-test-case", format!("{}: {error}", path.display()))]
    })
}

/// Chooses the runs that can be walked: the shortest of each kind, then the next of each kind, and so on.
fn choose_walks(runs: &[PageRun], most: usize) -> Vec<usize> {
    let mut kinds: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (place, run) in runs.iter().enumerate() {
        let kind = (run.verdict.as_str(), run.bucket.as_deref(), run.iut.as_deref(), run.test.as_str());
        kinds.entry(kind).or_default().push(place);
    }
    for of_kind in kinds.values_mut() {
        of_kind.sort_by_key(|place| runs[*place].events);
    }
    let longest = kinds.values().map(Vec::len).max().unwrap_or(0);
    let rounds = (0..longest).flat_map(|round| kinds.values().filter_map(move |of_kind| of_kind.get(round)));
    let mut chosen: Vec<usize> = rounds.take(most).copied().collect();
    chosen.sort_unstable();
    chosen
}

fn make_page_run(name: String, record: &Record) -> PageRun {
    PageRun {
        name,
        test: record.test_case.clone(),
        verdict: record.verdict.to_string(),
        cause: record.cause.clone(),
        reason: record.reason.clone(),
        bucket: record.bucket.as_ref().map(coreach_execution::Bucket::id),
        failed: record.bucket.clone(),
        constants: record.constants.clone(),
        seed: Some(record.seed.to_string()),
        events: record.trace.len(),
        seconds: Some(record.seconds),
        ..PageRun::default()
    }
}

/// Makes the walk of a run on the graph with this number: its steps, with the transitions that they took.
fn make_walk(graph: usize, start: &State, run: &Ran, record: &Record) -> PageWalk {
    let step = |(step, transition): (&StepRecord, Option<TransitionId>)| PageStep {
        direction: step.direction.clone(),
        action: step.action.clone(),
        values: step.values.clone().unwrap_or_else(Map::new),
        transition: transition.map(Number::place),
        at_ms: Some(step.at_ms),
    };
    let taken = run.trace.iter().map(|step| step.transition);
    PageWalk {
        graph,
        start: graph::values_to_json(&start.valuation),
        steps: record.trace.iter().zip(taken).map(step).collect(),
    }
}
