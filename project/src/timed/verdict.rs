//! Judges a recorded trace, and makes a document of the verdict.

use std::time::Duration;

use coreach_analyses::solver::Solver;
use coreach_execution::offline::context::MOST_PARTS;
use coreach_execution::offline::judge::OfflineJudge;
use coreach_execution::offline::prepared::Offline;
use coreach_execution::offline::recent::RecentSolver;
use coreach_execution::offline::sequence::{Placed, SeqItem, event_text, time_text};
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
                let help = "give its first value in the initial condition, or with `--constant`";
                NoVerdict::Stopped(found.help(help))
            }
            CannotJudge::Contexts { line, most } => {
                let message =
                    format!("more than {most} contexts are possible after line {line} of the trace");
                let found = Diagnostic::error("too-many-contexts", message);
                NoVerdict::Stopped(found.help("raise `--contexts`, or give more `--constant`"))
            }
        }
    }
}

pub struct JudgedTrace {
    pub verdict: OfflineVerdict,
    /// The reason, if an event or a delay decided the verdict.
    pub why: Option<Why>,
    /// The event after the delay that decided the verdict, if both are on one line.
    pub late: Option<SeqItem>,
    pub events: usize,
    /// The time up to which the trace was judged.
    pub time: String,
    /// The number of transitions of the path that the run took. `None`, if it cannot be on the path any more.
    pub furthest: Option<usize>,
    pub contexts: usize,
    /// The number of questions that the solver did not answer. Each was decided so that it causes no Fail.
    pub unanswered: u64,
    /// Was more known about the data than is kept?
    pub has_forgotten: bool,
}

/// Does a piece of the work within the budget. `given` is for all pieces together, which have `used` some of
/// it.
fn run_limited<R>(
    given: Option<Duration>,
    used: &mut Duration,
    work: impl FnOnce() -> R,
) -> Result<R, NoVerdict> {
    let left = given.map_or_else(|| budget::time(None), |given| given.saturating_sub(*used));
    let done = budget::within("verdict", left, |budget| {
        let result = work();
        (result, budget.used().processor)
    });
    let (result, more) = done.map_err(|stop| {
        // `stop` names the rest of the time (`left`), or a multiple of it. The message names the given time,
        // unless the process waited for longer than that.
        let is_of_the_rest = |limit: &Limit, given: Duration| match limit {
            Limit::Time(_) => true,
            Limit::Waiting(longest) => *longest < given,
            _ => false,
        };
        let stop = match (given, stop) {
            (Some(given), Stop::Budget(Passed { limit, stage, doing })) if is_of_the_rest(&limit, given) => {
                Stop::Budget(Passed { limit: Limit::Time(given), stage, doing })
            }
            (_, stop) => stop,
        };
        NoVerdict::Stopped(stop.to_diagnostic())
    })?;
    *used += more;
    Ok(result)
}

/// Judges a trace, in pieces of 1000 members. A file with a mistake has no verdict, so all of it is read.
pub fn judge(
    offline: &Offline<'_>,
    constants: &Valuation,
    trace: impl Iterator<Item = Result<Placed, Diagnostic>>,
) -> Result<JudgedTrace, NoVerdict> {
    let mut solver = RecentSolver::default();
    let (given, mut used) = (budget::command_time(), Duration::ZERO);
    let mut judge = run_limited(given, &mut used, || OfflineJudge::new(offline, constants, &mut solver))??;
    let (mut trace, mut late) = (trace.peekable(), None);
    while trace.peek().is_some() {
        // Reading is outside of the budget, since it may wait for the program that writes the trace.
        let members: Vec<Placed> =
            trace.by_ref().take(1000).collect::<Result<_, _>>().map_err(NoVerdict::Mistake)?;
        run_limited(given, &mut used, || {
            members.iter().try_for_each(|placed| {
                // A line may have a delay and then an event. If the delay decides, the event came too late.
                let is_late = |why: &Why| {
                    matches!((&why.seen.item, &placed.item), (SeqItem::Delay(_), SeqItem::Event(..)))
                        && why.seen.line == placed.line
                };
                if late.is_none() && judge.why().is_some_and(is_late) {
                    late = Some(placed.item.clone());
                }
                judge.take(placed, &mut solver)
            })
        })??;
    }
    Ok(JudgedTrace {
        verdict: judge.verdict(),
        why: judge.why().cloned(),
        late,
        events: judge.events(),
        time: time_text(judge.time()),
        furthest: judge.furthest(),
        contexts: judge.most_at_once(),
        unanswered: solver.statistics().unknown,
        has_forgotten: judge.has_forgotten(),
    })
}

/// Makes the document of a judged trace.
pub fn make_document(offline: &Offline<'_>, path: &[String], judged: &JudgedTrace, exit_code: u8) -> Json {
    let graph = offline.graph();
    let JudgedTrace { verdict, why, late: _, events, time, furthest, contexts, unanswered, has_forgotten } =
        judged;
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

/// Makes the part of the document that explains the verdict.
fn why_document(graph: &Iosts, why: &Why) -> Json {
    let at = |at: &At| json!({ "location": at.location, "steps_on_path": at.steps });
    let allowed = |allowed: &AllowedTransition| {
        json!({
            "event": allowed.event,
            "transition": allowed.transition,
            "from": allowed.from,
            "guard": allowed.guard,
            "earliest": end_to_json(&allowed.earliest),
            "latest": allowed.latest.as_ref().map(end_to_json),
            "besides": allowed.other_conditions,
            "on_path": allowed.is_on_path,
        })
    };
    let refused = |refused: &Refused| json!({ "transition": refused.transition, "from": refused.from, "parts": refused.parts });
    let until = match &why.until {
        Until::Forever => json!("for ever"),
        Until::End(latest) => end_to_json(latest),
        Until::Unsaid => Json::Null,
    };
    json!({
        "line": why.seen.line,
        "what": describe_seen(graph, &why.seen),
        "time": time_text(&why.seen.time),
        "elapsed": time_text(&why.elapsed),
        "last": why.last.as_ref().map(|last| json!({
            "line": last.line, "what": describe_seen(graph, last), "time": time_text(&last.time)
        })),
        "at": why.at.iter().map(at).collect::<Vec<_>>(),
        "allowed": why.allowed.iter().map(allowed).collect::<Vec<_>>(),
        "refused": why.refused.iter().map(refused).collect::<Vec<_>>(),
        "silence_until": until,
    })
}

fn end_to_json(end: &SpanEnd) -> Json {
    json!({ "delay": time_text(&end.delay), "included": end.is_in })
}

/// Describes an event or a delay: `plan!(8)`, or `a delay of 2`.
pub fn describe_seen(graph: &Iosts, seen: &Seen) -> String {
    match &seen.item {
        SeqItem::Delay(time) => format!("a delay of {}", time_text(time)),
        SeqItem::Event(action, values) => event_text(graph, *action, values),
    }
}

#[cfg(test)]
mod tests {
    use coreach_model::budget::ask_now;

    use super::*;

    #[test]
    fn a_time_that_is_given_is_for_the_whole_trace() {
        let given = Some(Duration::from_secs(60));
        for (mut used, is_stopped) in [(Duration::ZERO, false), (Duration::from_secs(60), true)] {
            let done = run_limited(given, &mut used, ask_now);
            assert_eq!(matches!(done, Err(NoVerdict::Stopped(_))), is_stopped, "{done:?}");
        }
        // Without a given time, each piece has a time of its own.
        let mut used = Duration::from_secs(3600);
        assert_eq!(run_limited(None, &mut used, ask_now), Ok(()));
        assert!(used > Duration::from_secs(3599));
    }

    /// At the end of a given time a millisecond is left, and a busy machine needs longer to use it.
    #[test]
    fn what_is_left_of_a_time_is_no_time_that_was_given() {
        let given = Duration::from_secs(1);
        let mut used = given - Duration::from_millis(1);
        let stopped = run_limited(Some(given), &mut used, || {
            std::thread::sleep(Duration::from_millis(40));
            ask_now();
        });
        let Err(NoVerdict::Stopped(found)) = stopped else { panic!("it was given up") };
        assert!(found.message.contains("1 s of processor time"), "{found:?}");
    }
}
