//! A recorded trace and its verdict, as a document.

use std::time::Duration;

use coreach_analyses::solver::Solver;
use coreach_execution::offline::context::MOST_PARTS;
use coreach_execution::offline::judge::OfflineJudge;
use coreach_execution::offline::prepared::Offline;
use coreach_execution::offline::recent::RecentSolver;
use coreach_execution::offline::sequence::{Item, Placed, event_text, time_text};
use coreach_execution::offline::verdict::{CannotJudge, OfflineVerdict};
use coreach_execution::offline::why::{AllowedTransition, At, Refused, Seen, SpanEnd, Until, Why};
use coreach_model::Diagnostic;
use coreach_model::budget::{Limit, Passed};
use coreach_model::iosts::Iosts;
use coreach_model::term::evaluate::Valuation;
use coreach_pipeline::stop::Stop;
use serde_json::{Value as Json, json};

use crate::budget;

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NoVerdict {
    Mistake(Diagnostic),
    Stopped(Diagnostic),
}

impl From<CannotJudge> for NoVerdict {
    fn from(why: CannotJudge) -> Self {
        match why {
            CannotJudge::Initial => {
                let message = "the initial condition cannot hold with the constants that are given";
                NoVerdict::Mistake(Diagnostic::error("no-initial-state", message))
            }
            CannotJudge::TooLarge { line, datum } => {
                let what = datum.map_or("a condition".to_owned(), |datum| format!("`{datum}`"));
                let message = format!(
                    "after line {line} of the trace, {what} takes more than {MOST_PARTS} parts to say"
                );
                let found = Diagnostic::error("too-much-unknown", message);
                let help = "it is not known what it was in the beginning: let the initial condition say so, or give `--constant`";
                NoVerdict::Stopped(found.help(help))
            }
            CannotJudge::Contexts { line, most } => {
                let message =
                    format!("more than {most} contexts are possible after line {line} of the trace");
                let found = Diagnostic::error("too-many-contexts", message);
                NoVerdict::Stopped(found.help("`--contexts` allows more; `--constant` makes fewer"))
            }
        }
    }
}

pub struct JudgedTrace {
    pub verdict: OfflineVerdict,
    /// Why, where an event or a delay ended it.
    pub why: Option<Why>,
    pub events: usize,
    /// The time of the last of the trace that was taken.
    pub time: String,
    /// How many transitions of the path the run went along, where it may still be on it.
    pub furthest: Option<usize>,
    pub contexts: usize,
    /// Questions that the solver did not answer; each was taken for what makes no Fail.
    pub unanswered: u64,
    /// Was more known of the data than is kept?
    pub has_forgotten: bool,
}

/// Does a piece of the work. A time that the command line gives is for all of them together.
fn limit<R>(said: Option<Duration>, used: &mut Duration, work: impl FnOnce() -> R) -> Result<R, NoVerdict> {
    let left = said.map_or_else(|| budget::time(None), |said| said.saturating_sub(*used));
    let done = budget::within("verdict", left, |budget| {
        let result = work();
        (result, budget.used().processor)
    });
    let (result, more) = done.map_err(|stop| {
        // What is told is the time that was given, and not what was left of it. At the end little is left,
        // and a busy machine may let nothing be computed for many times as long.
        let is_short = |limit: &Limit, said: Duration| match limit {
            Limit::Time(_) => true,
            Limit::Waiting(clock) => *clock < said,
            _ => false,
        };
        let stop = match (said, stop) {
            (Some(said), Stop::Budget(Passed { limit, stage, doing })) if is_short(&limit, said) => {
                Stop::Budget(Passed { limit: Limit::Time(said), stage, doing })
            }
            (_, stop) => stop,
        };
        NoVerdict::Stopped(stop.to_diagnostic())
    })?;
    *used += more;
    Ok(result)
}

pub fn judge(
    offline: &Offline<'_>,
    constants: &Valuation,
    trace: impl Iterator<Item = Result<Placed, Diagnostic>>,
) -> Result<JudgedTrace, NoVerdict> {
    let mut solver = RecentSolver::default();
    let (said, mut used) = (budget::said_time(), Duration::ZERO);
    let mut judge = limit(said, &mut used, || OfflineJudge::new(offline, constants, &mut solver))??;
    let mut trace = trace.peekable();
    while trace.peek().is_some() {
        // Waiting for whoever writes the trace is no work. What stands behind the end of the judgement is
        // read as well: a file with a mistake in it has no verdict.
        let members: Vec<Placed> =
            // So many members of a trace are one piece of work, where nobody gives a time for all of them.
            trace.by_ref().take(1000).collect::<Result<_, _>>().map_err(NoVerdict::Mistake)?;
        limit(said, &mut used, || members.iter().try_for_each(|placed| judge.take(placed, &mut solver)))??;
    }
    Ok(JudgedTrace {
        verdict: judge.verdict(),
        why: judge.why().cloned(),
        events: judge.events(),
        time: time_text(judge.time()),
        furthest: judge.furthest(),
        contexts: judge.most_at_once(),
        unanswered: solver.statistics().unknown,
        has_forgotten: judge.has_forgotten(),
    })
}

pub fn document(offline: &Offline<'_>, path: &[String], judged: &JudgedTrace, exit_code: u8) -> Json {
    let graph = offline.graph();
    let JudgedTrace { verdict, why, events, time, furthest, contexts, unanswered, has_forgotten } = judged;
    json!({
        "format_version": 1,
        "exit_code": exit_code,
        "model": graph.name,
        "path": path,
        "verdict": verdict.verdict().name(),
        "rule": verdict.rule(),
        "tolerance": time_text(offline.tolerance()),
        "events": events,
        "time": time,
        "steps_on_path": furthest,
        "most_contexts": contexts,
        "unanswered": unanswered,
        "forgotten": has_forgotten,
        "why": why.as_ref().map(|why| why_document(graph, why)),
    })
}

fn why_document(graph: &Iosts, why: &Why) -> Json {
    let at = |at: &At| json!({ "location": at.location, "steps_on_path": at.steps });
    let allowed = |allowed: &AllowedTransition| {
        json!({
            "event": allowed.event,
            "transition": allowed.transition,
            "from": allowed.from,
            "guard": allowed.guard,
            "earliest": end(&allowed.earliest),
            "latest": allowed.latest.as_ref().map(end),
            "besides": allowed.besides,
            "on_path": allowed.is_on_path,
        })
    };
    let refused = |refused: &Refused| json!({ "transition": refused.transition, "from": refused.from, "parts": refused.parts });
    let until = match &why.until {
        Until::Forever => json!("for ever"),
        Until::End(latest) => end(latest),
        Until::Unsaid => Json::Null,
    };
    json!({
        "line": why.seen.line,
        "what": what(graph, &why.seen),
        "time": time_text(&why.seen.time),
        "elapsed": time_text(&why.elapsed),
        "last": why.last.as_ref().map(|last| json!({
            "line": last.line, "what": what(graph, last), "time": time_text(&last.time)
        })),
        "at": why.at.iter().map(at).collect::<Vec<_>>(),
        "allowed": why.allowed.iter().map(allowed).collect::<Vec<_>>(),
        "refused": why.refused.iter().map(refused).collect::<Vec<_>>(),
        "silence_until": until,
    })
}

fn end(end: &SpanEnd) -> Json {
    json!({ "delay": time_text(&end.delay), "included": end.is_in })
}

/// `plan!(8)`, or `a delay of 2`.
pub fn what(graph: &Iosts, seen: &Seen) -> String {
    match &seen.item {
        Item::Delay(time) => format!("a delay of {}", time_text(time)),
        Item::Event(action, values) => event_text(graph, *action, values),
    }
}

#[cfg(test)]
mod tests {
    use coreach_model::budget::ask_now;

    use super::*;

    #[test]
    fn a_time_that_is_given_is_for_the_whole_trace() {
        let said = Some(Duration::from_secs(60));
        for (mut used, is_stopped) in [(Duration::ZERO, false), (Duration::from_secs(60), true)] {
            let done = limit(said, &mut used, ask_now);
            assert_eq!(matches!(done, Err(NoVerdict::Stopped(_))), is_stopped, "{done:?}");
        }
        // Without one, each piece has its own.
        let mut used = Duration::from_secs(3600);
        assert_eq!(limit(None, &mut used, ask_now), Ok(()));
        assert!(used > Duration::from_secs(3599));
    }

    /// At the end of a given time a millisecond is left, and a busy machine takes longer to let it be used.
    #[test]
    fn what_is_left_of_a_time_is_no_time_that_was_given() {
        let said = Duration::from_secs(1);
        let mut used = said - Duration::from_millis(1);
        let stopped = limit(Some(said), &mut used, || {
            std::thread::sleep(Duration::from_millis(40));
            ask_now();
        });
        let Err(NoVerdict::Stopped(found)) = stopped else { panic!("it was given up") };
        assert!(found.message.contains("1 s of processor time"), "{found:?}");
    }
}
