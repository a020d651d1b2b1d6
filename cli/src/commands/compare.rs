//! `coreach compare`: what each abstract domain makes of the same purposes.

use std::io;
use std::path::Path;

use coreach_analyses::DomainKind;
use coreach_execution::campaign::Key;
use coreach_model::Diagnostic;
use coreach_model::iosts::TestPurpose;
use coreach_pipeline::Stage;
use coreach_pipeline::sources::Sources;
use coreach_project::jobs;
use coreach_project::making::{MadeTest, make};
use coreach_project::project::{Project, load};
use coreach_project::shards::{Shard, plan};
use serde::{Deserialize, Serialize};

use super::report::beside;
use super::run::no_thread;
use super::{refuse, shards, table};
use crate::arguments::{CompareArguments, CompareCommand, CompareTasksArguments};
use crate::console;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::outputs::{OutputForm, each, wanted};
use crate::progress::ProgressLine;

/// What its shards are called.
const KIND: &str = "compare";

/// A purpose with a domain.
type Pair<'a> = (&'a TestPurpose, DomainKind);

/// The rows of a comparison, or of a shard of it.
type Compared = Shard<(), Row>;

/// Does what was asked for.
///
/// # Errors
/// Standard output cannot be written.
pub fn compare(arguments: &CompareArguments) -> io::Result<Exit> {
    match &arguments.command {
        Some(CompareCommand::Tasks(tasks)) => write_tasks(tasks),
        Some(CompareCommand::Merge(merge)) => shards::merge(KIND, merge, Row::agrees, |compared, lacks| {
            for row in compared.items.values().filter(|_| !merge.quiet) {
                if let Some(reason) = &row.reason {
                    console::say(&format!("note: {}, {}: {reason}", row.purpose, row.domain));
                }
            }
            Ok(told(compared, merge.format)?.and(lacks))
        }),
        None => run(arguments),
    }
}

/// Every purpose with every domain, and what they are made of.
fn pairs<'a>(project: &'a Project, domains: &[DomainKind]) -> (Vec<Pair<'a>>, Key) {
    let of = |purpose: &'a TestPurpose| domains.iter().map(move |domain| (purpose, *domain));
    let pairs: Vec<Pair<'a>> = project.purposes.iter().flat_map(of).collect();
    let specification = &project.specification.iosts;
    let sources: Vec<_> =
        project.purposes.iter().map(|purpose| Sources::of(specification, purpose).models).collect();
    let names: Vec<&str> = domains.iter().map(|domain| domain.name()).collect();
    let options = format!("{:?} {:?} {:?}", project.options, project.conformance, project.judging);
    let plan = plan(KIND, &serde_json::json!({ "models": sources, "domains": names, "options": options }));
    (pairs, plan)
}

fn write_tasks(arguments: &CompareTasksArguments) -> io::Result<Exit> {
    let CompareTasksArguments { tasks, domains } = arguments;
    let path = &tasks.configuration;
    let (project, warnings) = match load(path) {
        Ok(project) => project,
        Err(found) => return refuse(&found, OutputFormat::Human),
    };
    console::draw(&warnings);
    let domains = domains.clone().unwrap_or_else(|| DomainKind::ALL.to_vec());
    let (pairs, plan) = pairs(&project, &domains);
    let names: Vec<&str> = domains.iter().map(|domain| domain.name()).collect();
    let options = format!("--domains {}", names.join(","));
    shards::tasks(KIND, tasks, &plan, pairs.len(), &options)
}

/// Makes every purpose with every domain and says how the results differ.
fn run(arguments: &CompareArguments) -> io::Result<Exit> {
    let path: &Path = shards::given(arguments.configuration.as_deref());
    let (project, warnings) = match load(path) {
        Ok(project) => project,
        Err(found) => return refuse(&found, arguments.format),
    };
    console::draw(&warnings);
    let domains = arguments.domains.clone().unwrap_or_else(|| DomainKind::ALL.to_vec());
    let (pairs, plan) = pairs(&project, &domains);
    let total = pairs.len();
    let outputs = each([
        shards::place(&arguments.shard, OutputForm::Comparison),
        wanted("--html", arguments.html.as_deref(), OutputForm::Page),
    ]);
    let mine = outputs.and_then(|outputs| Ok((shards::mine(pairs, &plan, &arguments.shard)?, outputs)));
    let (mut pairs, [place, page]) = match mine {
        Ok(mine) => mine,
        Err(found) => return refuse(&found, arguments.format),
    };
    let known = shards::known::<(), Row>(KIND, &arguments.shard, &plan);
    pairs.retain(|(number, _)| !known.contains_key(number));
    let progress = ProgressLine::start(pairs.len(), true);
    let work = |(_, (purpose, domain)): &(usize, Pair<'_>)| {
        let made = make(&project, purpose, *domain, false, &|what| progress.says(what));
        progress.one_done();
        made.map(|made| figures(&made))
    };
    let results = jobs::in_order(&pairs, jobs::threads(arguments.threads), work);
    drop(progress);
    let results = match results {
        Ok(results) => results,
        Err(error) => return no_thread(&error),
    };
    let mut rows = Vec::new();
    let mut stops: Vec<Diagnostic> = Vec::new();
    for ((_, (purpose, domain)), result) in pairs.iter().zip(results) {
        let (result, figures, reason) = match result {
            Ok((figures, true)) => (MADE, Some(figures), None),
            Ok((figures, false)) => (UNREACHABLE, Some(figures), None),
            Err(stop) => {
                let diagnostic = stop.to_diagnostic();
                let message = diagnostic.message.clone();
                // Stopping does not depend on the domain: once is enough.
                if !stops.contains(&diagnostic) {
                    console::draw(std::slice::from_ref(&diagnostic));
                    stops.push(diagnostic);
                }
                (STOPPED, None, Some(message))
            }
        };
        let (domain, purpose) = (domain.name().to_owned(), purpose.iosts.name.clone());
        rows.push(Row { domain, purpose, result: result.to_owned(), reason, figures });
    }
    let items = shards::numbered(pairs.iter().map(|(number, _)| *number), rows, known);
    let compared = Shard::new(KIND, &plan, total, (), items);
    if let Some(exit) = shards::keep(place.as_ref(), &compared) {
        return Ok(exit);
    }
    let exit = told(&compared, arguments.format)?;
    let files = [path.to_owned()];
    beside(page.as_ref(), &files, &domains, (arguments.format, false), exit)
}

/// Tells the rows. Which exit code have they?
fn told(compared: &Compared, format: OutputFormat) -> io::Result<Exit> {
    let rows: Vec<&Row> = compared.items.values().collect();
    match format {
        OutputFormat::Json => console::print_json(&rows)?,
        OutputFormat::Human => console::print(&drawn(&rows))?,
    }
    let code = |row: &&Row| match row.result.as_str() {
        MADE => Exit::Fine,
        UNREACHABLE => Exit::Unreachable,
        _ => Exit::Stopped,
    };
    Ok(rows.iter().map(code).fold(Exit::Fine, Exit::and))
}

const MADE: &str = "made";
const UNREACHABLE: &str = "unreachable";
const STOPPED: &str = "stopped";

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Row {
    domain: String,
    purpose: String,
    result: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    figures: Option<Figures>,
}

impl Row {
    /// The same, but for the time that it took.
    fn agrees(&self, other: &Row) -> bool {
        let timeless = |row: &Row| {
            let figures = row.figures.clone().map(|figures| Figures { seconds: 0.0, ..figures });
            Row { figures, ..row.clone() }
        };
        timeless(self) == timeless(other)
    }
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Figures {
    test_graph: Graph,
    test_case: Case,
    queries: u64,
    seconds: f64,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Graph {
    locations: usize,
    transitions: usize,
    inconclusive: usize,
    pruned: usize,
    strengthened: usize,
}

#[derive(Clone, PartialEq, Serialize, Deserialize)]
struct Case {
    locations: usize,
    transitions: usize,
    fail: usize,
}

/// The figures of what was made; can it be reached?
fn figures(made: &MadeTest) -> (Figures, bool) {
    let (graph, case) = (made.measured(Stage::Select), made.measured(Stage::InputComplete));
    let selection = made.generation.test_graph.selection;
    let figures = Figures {
        test_graph: Graph {
            locations: graph.locations,
            transitions: graph.transitions,
            inconclusive: graph.inconclusive,
            pruned: selection.pruned,
            strengthened: selection.strengthened,
        },
        test_case: Case { locations: case.locations, transitions: case.transitions, fail: case.fail },
        queries: made.statistics.queries,
        seconds: made.seconds,
    };
    (figures, made.unreachable.is_none())
}

fn drawn(rows: &[&Row]) -> String {
    const HEAD: [&str; 13] = [
        "purpose",
        "domain",
        "result",
        "graph: locations",
        "transitions",
        "inconclusive",
        "pruned",
        "strengthened",
        "case: locations",
        "transitions",
        "fail",
        "queries",
        "seconds",
    ];
    let mut cells = vec![HEAD.map(str::to_owned).to_vec()];
    for row in rows {
        let mut line = vec![row.purpose.clone(), row.domain.clone(), row.result.clone()];
        if let Some(figures) = &row.figures {
            let (graph, case) = (&figures.test_graph, &figures.test_case);
            let counts = [
                graph.locations,
                graph.transitions,
                graph.inconclusive,
                graph.pruned,
                graph.strengthened,
                case.locations,
                case.transitions,
                case.fail,
            ];
            line.extend(counts.map(|count| count.to_string()));
            line.push(figures.queries.to_string());
            line.push(format!("{:.3}", figures.seconds));
        }
        cells.push(line);
    }
    table(&cells, 3)
}
