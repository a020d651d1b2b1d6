//! `coreach run` with `judge: online`. No test case is made. The graph that judges a run is written instead,
//! for people and for later.

use coreach_analyses::DomainKind;
use coreach_execution::planner::prospect::WinningProspect;
use coreach_model::iosts::TestPurpose;
use coreach_pipeline::export::View;
use coreach_project::budget;
use coreach_project::making::{MadeOnline, Says, look_ahead, make_online};
use serde::Serialize;

use super::{
    CaseMaking, PurposeAnswer, PurposeReport, WinningJson, WrittenFiles, exit_of_purpose, imprecision_notes,
    prospect_line, write_views, written_lines,
};
use crate::commands::{CommandResult, plural};

#[derive(Clone, Serialize)]
struct OnlineDetails {
    locations: usize,
    transitions: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    winning: Option<WinningJson>,
    imprecisions: Vec<String>,
    queries: u64,
    files: Vec<String>,
    problems: Vec<String>,
    seconds: f64,
}

/// Makes and writes the graph that judges runs, for each purpose, and tells what was made.
pub(super) fn run(all: &CaseMaking<'_>) -> CommandResult {
    let CaseMaking { arguments, project, outputs, domain, .. } = *all;
    let work = |purpose: &TestPurpose, says: Says<'_>| {
        let made = make_online(project, purpose, domain, arguments.check, says)?;
        let name = &purpose.iosts.name;
        let views = [View::of_online(&made.test)];
        let written = budget::within("write", budget::time(project.time), |_| {
            write_views(project, outputs, name, &views, arguments.options())
        })?;
        let prospect = look_ahead(&views[0], made.unreachable.as_ref(), None, budget::time(project.time));
        Ok((made, prospect, written))
    };
    all.make_for_each(Some(project.judging.name()), work, |name, (made, prospect, written)| {
        tell_online(name, domain, (&made, prospect.as_ref()), written)
    })
}

/// Says what was made of a purpose, as a text and as a report.
fn tell_online(
    name: &str,
    domain: DomainKind,
    (made, prospect): (&MadeOnline, Option<&WinningProspect>),
    written: WrittenFiles,
) -> PurposeAnswer<OnlineDetails> {
    let (locations, transitions) = (made.test.iosts.locations.len(), made.test.iosts.transitions.len());
    let result = if made.unreachable.is_some() { ": UNREACHABLE" } else { "" };
    let text = format!(
        "{name} ({domain}, judged on line){result}\n  {}, {}, {:.3} seconds\n{}{}",
        plural(locations, "location"),
        plural(transitions, "transition"),
        made.seconds,
        prospect.map(prospect_line).unwrap_or_default(),
        written_lines(&written.files)
    );
    let (exit, problems) = (exit_of_purpose(made.unreachable.as_ref(), &written), written.problems());
    let details = OnlineDetails {
        locations,
        transitions,
        winning: prospect.map(WinningJson::of),
        imprecisions: made.test.imprecisions.clone(),
        queries: made.statistics.queries,
        files: written.files.iter().map(|path| path.display().to_string()).collect(),
        problems: [written.left_out, written.unreadable, written.failed].concat(),
        seconds: made.seconds,
    };
    let report = PurposeReport::made(name, domain, made.unreachable.as_ref(), details);
    let notes = imprecision_notes(&made.test.imprecisions);
    let found = made.unreachable.iter().cloned().collect();
    PurposeAnswer { text, notes, found, problems, report, exit }
}
