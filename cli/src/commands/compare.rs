//! `coreach compare`: what each abstract domain makes of the same purposes.

use std::io;

use coreach_analyses::DomainKind;
use coreach_model::iosts::TestPurpose;
use coreach_pipeline::Stage;
use coreach_project::jobs;
use coreach_project::making::{Made, make};
use coreach_project::project::load;
use serde::Serialize;

use super::report::beside;
use super::run::no_thread;
use super::{refuse, table};
use crate::arguments::CompareArguments;
use crate::console;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::progress::Progress;

/// Makes every purpose with every domain and says how the results differ.
///
/// # Errors
/// Standard output cannot be written.
pub fn compare(arguments: &CompareArguments) -> io::Result<Exit> {
    let (project, warnings) = match load(&arguments.configuration) {
        Ok(project) => project,
        Err(found) => return refuse(&found, arguments.format),
    };
    console::draw(&warnings);
    let domains = arguments.domains.clone().unwrap_or_else(|| DomainKind::ALL.to_vec());
    let pairs: Vec<(&TestPurpose, DomainKind)> = project
        .purposes
        .iter()
        .flat_map(|purpose| domains.iter().map(move |domain| (purpose, *domain)))
        .collect();
    let progress = Progress::start(pairs.len(), true);
    let work = |(purpose, domain): &(&TestPurpose, DomainKind)| {
        let made = make(&project, purpose, *domain, false, &|what| progress.says(what));
        progress.one_done();
        made.map(|made| figures(&made))
    };
    let results = jobs::in_order(&pairs, arguments.threads.get(), work);
    drop(progress);
    let results = match results {
        Ok(results) => results,
        Err(error) => return no_thread(&error),
    };
    let mut exit = Exit::Fine;
    let mut rows = Vec::new();
    let mut told = Vec::new();
    for ((purpose, domain), result) in pairs.into_iter().zip(results) {
        let (result, figures, reason) = match result {
            Ok(figures) if figures.reachable => ("made", Some(figures), None),
            Ok(figures) => {
                exit = exit.and(Exit::Unreachable);
                ("unreachable", Some(figures), None)
            }
            Err(stop) => {
                exit = exit.and(Exit::Stopped);
                let diagnostic = stop.to_diagnostic();
                let message = diagnostic.message.clone();
                // Stopping does not depend on the domain: once is enough.
                if !told.contains(&diagnostic) {
                    console::draw(std::slice::from_ref(&diagnostic));
                    told.push(diagnostic);
                }
                ("stopped", None, Some(message))
            }
        };
        rows.push(Row {
            domain: domain.name(),
            purpose: purpose.iosts.name.clone(),
            result,
            reason,
            figures,
        });
    }
    match arguments.format {
        OutputFormat::Json => console::print_json(&rows)?,
        OutputFormat::Human => console::print(&drawn(&rows))?,
    }
    let files = [arguments.configuration.clone()];
    beside(arguments.html.as_deref(), &files, &domains, (arguments.format, false), exit)
}

#[derive(Serialize)]
struct Row {
    domain: &'static str,
    purpose: String,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    figures: Option<Figures>,
}

#[derive(Serialize)]
struct Figures {
    test_graph: Graph,
    test_case: Case,
    queries: u64,
    seconds: f64,
    #[serde(skip)]
    reachable: bool,
}

#[derive(Serialize)]
struct Graph {
    locations: usize,
    transitions: usize,
    inconclusive: usize,
    pruned: usize,
    strengthened: usize,
}

#[derive(Serialize)]
struct Case {
    locations: usize,
    transitions: usize,
    fail: usize,
}

fn figures(made: &Made) -> Figures {
    let (graph, case) = (made.measured(Stage::Select), made.measured(Stage::InputComplete));
    let selection = made.generation.test_graph.selection;
    Figures {
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
        reachable: made.unreachable.is_none(),
    }
}

fn drawn(rows: &[Row]) -> String {
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
        let mut line = vec![row.purpose.clone(), row.domain.to_owned(), row.result.to_owned()];
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
