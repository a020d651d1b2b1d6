//! Reports a cover: a document for programs, and the files of the suite.
//!
//! `docs/cover.schema.json` is the document's schema. Goals are numbered from 0 in their order.

use std::path::Path;

use coreach_analyses::symbolic::TreeLimits;
use coreach_model::iosts::{ActionKind, Iosts};
use coreach_model::semantics::Event;
use coreach_model::{Number, TransitionId};
use coreach_pipeline::stop::Stop;
use serde::Serialize;

use super::goals::describe_goal;
use super::machine::MachineSummary;
use super::{Cover, Ended, Fate};
use crate::render;
use coreach_execution::coverage::Items;

/// The events of the system with which a purpose may end.
pub const OBSERVED: [&str; 3] = ["outputs", "quiescence", "nothing"];

#[derive(Clone, Debug, Serialize)]
pub struct CoverDocument {
    pub format_version: u32,
    pub exit_code: u8,
    pub specification: String,
    pub limits: ReportedLimits,
    pub criteria: Vec<ReportedCriterion>,
    pub goals: Vec<ReportedGoal>,
    pub suite: Vec<ReportedTest>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineSummary>,
    /// The reason why the work was ended early, if it was.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub diagnostics: Vec<serde_json::Value>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ReportedLimits {
    pub depth: usize,
    pub nodes: usize,
}

#[derive(Clone, Debug, Serialize)]
pub struct ReportedCriterion {
    pub criterion: String,
    pub goals: usize,
    pub covered: usize,
    pub unreachable: usize,
    pub unknown: usize,
    /// Goals that were not decided before the work ended.
    pub open: usize,
    /// Are some goals not known? There are more paths than the limits allow, or the work ended before.
    pub is_cut: bool,
}

#[derive(Clone, Debug, Serialize)]
pub struct ReportedGoal {
    pub criterion: String,
    /// The goal in words about the model.
    pub goal: String,
    /// `covered`, `unreachable`, `unknown` or `open`.
    pub status: &'static str,
    pub by: Vec<String>,
    /// Why it is unreachable or unknown, or why a run of its purposes need not meet it.
    pub why: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct ReportedTest {
    pub purpose: String,
    /// The numbers of its transitions, counted from 0, internal ones included.
    pub path: Vec<usize>,
    /// The events of a run along it.
    pub trace: Vec<String>,
    pub goals: Vec<usize>,
    /// The word of [`OBSERVED`] for the system's event at its end.
    pub observes: &'static str,
}

impl Cover {
    /// Is every goal covered or unreachable, and none left out?
    pub fn is_whole(&self) -> bool {
        let is_decided = |ended: &Ended| matches!(ended.fate, Fate::Covered(_) | Fate::Unreachable(_));
        self.cut.is_empty() && self.goals.iter().all(is_decided)
    }
}

/// Makes the document of a cover. A goal that was met, but has no purpose yet, is open.
pub fn make_document(limits: TreeLimits, cover: &Cover, stop: Option<&Stop>, exit_code: u8) -> CoverDocument {
    let iosts = &cover.iosts;
    let items = Items::of(iosts);
    let mut goals: Vec<ReportedGoal> = Vec::new();
    for (number, ended) in cover.goals.iter().enumerate() {
        let purposes = cover.suite.iter().filter(|member| member.chosen.goals.contains(&number));
        let purposes: Vec<String> =
            purposes.map(|member| member.written.purpose.iosts.name.clone()).collect();
        let (status, why) = match &ended.fate {
            Fate::Covered(_) if purposes.is_empty() => {
                ("open", Some("a path meets it; its purpose is not made yet".to_owned()))
            }
            Fate::Covered(found) if !found.is_certain => {
                ("covered", Some("the mutant may also behave right: a run may not show it".to_owned()))
            }
            Fate::Covered(_) => ("covered", None),
            Fate::Open => ("open", Some("not decided before the work ended".to_owned())),
            Fate::Unreachable(why) => ("unreachable", Some(why.clone())),
            Fate::Unknown(why) => ("unknown", Some(why.clone())),
        };
        goals.push(ReportedGoal {
            criterion: ended.criterion.to_string(),
            goal: describe_goal(iosts, &items, &ended.goal),
            status,
            by: purposes,
            why,
        });
    }
    // The counts of each criterion, by its name.
    let mut criteria: Vec<ReportedCriterion> = Vec::new();
    let criteria_of_goals = cover.goals.iter().map(|ended| ended.criterion).chain(cover.cut.iter().copied());
    for criterion in criteria_of_goals {
        let criterion_name = criterion.to_string();
        if criteria.iter().any(|known| known.criterion == criterion_name) {
            continue;
        }
        let count = |status: Option<&str>| {
            let goals_of_criterion = goals.iter().filter(|goal| goal.criterion == criterion_name);
            goals_of_criterion.filter(|goal| status.is_none_or(|status| goal.status == status)).count()
        };
        criteria.push(ReportedCriterion {
            goals: count(None),
            covered: count(Some("covered")),
            unreachable: count(Some("unreachable")),
            unknown: count(Some("unknown")),
            open: count(Some("open")),
            is_cut: cover.cut.contains(&criterion),
            criterion: criterion_name,
        });
    }
    let suite = cover.suite.iter().map(|member| ReportedTest {
        purpose: member.written.purpose.iosts.name.clone(),
        path: member.chosen.found.route.path.iter().map(|number| number.place()).collect(),
        trace: member.chosen.found.evidence.trace.iter().map(|event| event_text(iosts, event)).collect(),
        goals: member.chosen.goals.clone(),
        observes: observed_at_end(iosts, &member.chosen.found.route.path),
    });
    CoverDocument {
        // Only a change that old readers do not understand raises it.
        format_version: 1,
        exit_code,
        specification: iosts.name.clone(),
        limits: ReportedLimits { depth: limits.depth, nodes: limits.nodes },
        criteria,
        suite: suite.collect(),
        goals,
        machine: cover.machine.clone(),
        diagnostics: render::each(stop.map(Stop::to_diagnostic).as_ref()),
    }
}

/// Returns the word of [`OBSERVED`] for the end of a path.
fn observed_at_end(iosts: &Iosts, path: &[TransitionId]) -> &'static str {
    let mut kinds = path.iter().rev().map(|number| iosts.action(iosts.transitions[*number].action).kind);
    let [outputs, quiescence, nothing] = OBSERVED;
    match kinds.find(|kind| *kind != ActionKind::Internal) {
        Some(ActionKind::Output) => outputs,
        Some(ActionKind::Quiescence) => quiescence,
        _ => nothing,
    }
}

fn event_text(iosts: &Iosts, event: &Event) -> String {
    let action = iosts.find_action(&event.action);
    match action.map(|action| iosts.action(action).kind) {
        Some(ActionKind::Quiescence) => "quiescence".to_owned(),
        _ => event.to_string(),
    }
}

/// Makes the files of the suite, each with its name: the purposes, a copy of the specification, and a
/// configuration that names them. `settings` are lines of the configuration that the suite was made with.
pub fn suite_files(cover: &Cover, specification: &str, settings: &str) -> Vec<(String, String)> {
    let file_name = |index: usize| format!("{}.yaml", super::purpose::name_purpose(index));
    let mut files: Vec<(String, String)> = Vec::new();
    for (index, member) in cover.suite.iter().enumerate() {
        let trace = member.chosen.found.evidence.trace.iter();
        let events: String = trace.map(|event| format!("# {event}\n")).collect();
        let head = format!("# Written by coreach cover. A run that meets it:\n{events}");
        files.push((file_name(index), head + &member.written.text));
    }
    let names: Vec<String> = (0..cover.suite.len()).map(file_name).collect();
    let purposes = match names.as_slice() {
        [single] => format!("purpose: {single}\n"),
        several => format!("purposes: [{}]\n", several.join(", ")),
    };
    // The first line lets the next suite replace the file. Files without it are not replaced.
    let text = specification.trim_start_matches('\u{feff}');
    files.push(("specification.yaml".to_owned(), format!("# Written by coreach cover, a copy.\n{text}")));
    if !names.is_empty() {
        let text =
            format!("# Written by coreach cover.\nspecification: specification.yaml\n{purposes}{settings}");
        files.push(("coreach.yaml".to_owned(), text));
    }
    files
}

pub fn file_paths(folder: &Path, files: &[(String, String)]) -> Vec<std::path::PathBuf> {
    files.iter().map(|(name, _)| folder.join(name)).collect()
}
