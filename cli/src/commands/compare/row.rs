//! A row of a comparison: what one domain makes of one purpose, and the table of all rows.

use coreach_analyses::DomainKind;
use coreach_pipeline::Stage;
use coreach_pipeline::exact::Distance;
use coreach_pipeline::late_states::{LateMethod, LateStates};
use coreach_project::making::MadeTest;
use serde::Serialize;

use crate::console;
use crate::table::table;

pub(super) const MADE: &str = "made";
pub(super) const UNREACHABLE: &str = "unreachable";
const STOPPED: &str = "stopped";

#[derive(Clone, PartialEq, Serialize)]
pub(super) struct CompareRow {
    pub domain: String,
    pub purpose: String,
    pub result: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(flatten)]
    pub figures: Option<RowFigures>,
}

impl CompareRow {
    /// Makes the row of a pair that nothing is made of.
    pub fn stopped(purpose: &str, domain: DomainKind) -> Self {
        let (domain, purpose) = (domain.name().to_owned(), purpose.to_owned());
        CompareRow { domain, purpose, result: STOPPED.to_owned(), reason: None, figures: None }
    }
}

#[derive(Clone, PartialEq, Serialize)]
pub(super) struct RowFigures {
    test_graph: GraphSize,
    test_case: CaseSize,
    /// None: not known.
    pub late_states: Option<LateStates>,
    /// None: not asked for, or given up.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exact: Option<Distance>,
    queries: u64,
    /// The most memory that the process had, in bytes, if it did nothing else at the same time.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<u64>,
    /// Seconds of the processor, since other rows are made at the same time.
    seconds: f64,
}

#[derive(Clone, PartialEq, Serialize)]
struct GraphSize {
    locations: usize,
    transitions: usize,
    inconclusive: usize,
    pruned: usize,
    strengthened: usize,
}

#[derive(Clone, PartialEq, Serialize)]
struct CaseSize {
    locations: usize,
    transitions: usize,
    fail: usize,
}

impl RowFigures {
    /// Makes the row of a test case, but for the columns that take work of their own.
    pub fn of(made: &MadeTest, memory: Option<u64>) -> Self {
        let (graph, case) = (made.measured(Stage::Select), made.measured(Stage::InputComplete));
        let selection = made.generation.test_graph.selection;
        RowFigures {
            test_graph: GraphSize {
                locations: graph.locations,
                transitions: graph.transitions,
                inconclusive: graph.inconclusive,
                pruned: selection.pruned,
                strengthened: selection.strengthened,
            },
            test_case: CaseSize { locations: case.locations, transitions: case.transitions, fail: case.fail },
            late_states: None,
            exact: None,
            queries: made.statistics.queries,
            memory,
            seconds: made.processor_seconds,
        }
    }

    /// The late states of all states, and the late runs of all runs. A `~` marks figures of a sample.
    fn late_cells(&self) -> [String; 2] {
        let Some(LateStates { method, late, states, late_runs, runs, .. }) = &self.late_states else {
            return ["?", "?"].map(str::to_owned);
        };
        let sign = if *method == LateMethod::Sample { "~" } else { "" };
        [(late, states), (late_runs, runs)].map(|(late, all)| format!("{sign}{late}/{all}"))
    }

    /// How much is kept in vain, of all that is kept. It is a range if some of it is not known.
    fn extra_cell(&self) -> String {
        match self.exact {
            None => "?".to_owned(),
            Some(Distance { extra, kept, unknown: 0, .. }) => format!("{extra}/{kept}"),
            Some(Distance { extra, kept, unknown, .. }) => format!("{extra}..{}/{kept}", extra + unknown),
        }
    }
}

/// Notes on figures that a reader of the table could take for more than they are.
pub(super) fn list_cautions(rows: &[CompareRow]) -> Vec<&'static str> {
    let made = || rows.iter().filter(|row| row.result == MADE).filter_map(|row| row.figures.as_ref());
    let is_sample = |figures: &RowFigures| {
        figures.late_states.as_ref().is_some_and(|late| late.method == LateMethod::Sample)
    };
    let mut found = Vec::new();
    if made().any(|figures| figures.late_states.is_none()) {
        found.push(if made().any(|figures| figures.exact.is_some()) {
            "`?`: it is not known which states are late"
        } else {
            "`?`: it is not known which states are late, so fewer Inconclusive may be unnoticed losses: \
             try `--exact`"
        });
    }
    if made().any(is_sample) {
        found.push("`~`: counted on some walks, without a proof for all");
    }
    found
}

/// The optional columns that are shown. A column without any content is left out.
struct ShownColumns {
    exact: bool,
    memory: bool,
    effort: bool,
}

pub(super) fn draw_table(rows: &[CompareRow]) -> String {
    let figures = || rows.iter().filter_map(|row| row.figures.as_ref());
    let shown = ShownColumns {
        exact: figures().any(|figures| figures.exact.is_some()),
        memory: figures().any(|figures| figures.memory.is_some()),
        effort: console::is_verbose(),
    };
    let mut head = vec!["purpose", "domain", "result", "graph", "Inconclusive", "late states", "late runs"];
    head.extend(shown.exact.then_some("extra"));
    head.extend(["test case", "Fail"]);
    head.extend(shown.memory.then_some("MB"));
    head.extend(shown.effort.then_some(["pruned", "strengthened", "queries"]).into_iter().flatten());
    head.push("seconds");
    let mut cells = vec![head.into_iter().map(str::to_owned).collect()];
    cells.extend(rows.iter().map(|row| row_cells(row, &shown)));
    table(&cells, 3)
}

/// Returns the cells of a row. Without figures, only its first three are there.
fn row_cells(row: &CompareRow, shown: &ShownColumns) -> Vec<String> {
    let mut line = vec![row.purpose.clone(), row.domain.clone(), row.result.clone()];
    let Some(figures) = &row.figures else { return line };
    let (graph, case) = (&figures.test_graph, &figures.test_case);
    line.extend([format!("{}/{}", graph.locations, graph.transitions), graph.inconclusive.to_string()]);
    line.extend(figures.late_cells());
    line.extend(shown.exact.then(|| figures.extra_cell()));
    line.extend([format!("{}/{}", case.locations, case.transitions), case.fail.to_string()]);
    let megabytes = |bytes: u64| bytes.div_ceil(1_000_000).to_string();
    line.extend(shown.memory.then(|| figures.memory.map_or_else(|| "?".to_owned(), megabytes)));
    if shown.effort {
        line.extend([graph.pruned.to_string(), graph.strengthened.to_string(), figures.queries.to_string()]);
    }
    line.push(format!("{:.3}", figures.seconds));
    line
}
