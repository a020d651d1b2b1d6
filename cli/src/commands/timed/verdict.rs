//! `coreach timed verdict`: what a recorded trace was worth, and why.

use std::fmt::Write;

use coreach_execution::OutcomeKind;
use coreach_execution::offline::OfflineVerdict;
use coreach_execution::offline::prepared::Offline;
use coreach_execution::offline::sequence::{Item, time_text};
use coreach_execution::offline::waiting::Rules;
use coreach_execution::offline::why::{AllowedTransition, SpanEnd, Until, Why};
use coreach_project::budget;
use coreach_project::timed::trace::open_recording;
use coreach_project::timed::verdict::{JudgedTrace, NoVerdict, describe_seen, judge, make_document};
use coreach_project::timed::{constants, load, path};

use super::super::{CommandAnswer, CommandResult, EarlyExit, plural};
use crate::console;
use crate::exit::Exit;
use crate::timed_arguments::VerdictArguments;

/// Judges a recorded trace along a path, and says why.
pub fn verdict(arguments: &VerdictArguments) -> CommandResult {
    let read = budget::reading(|| {
        let (model, warnings) = load(&arguments.model)?;
        let constants = constants(&model.timed, &arguments.constant)?;
        let path = path(&model.timed, &arguments.path)?;
        Ok((model, constants, path, warnings))
    });
    let (model, constants, path, warnings) = read?;
    console::draw(&warnings);
    let rules = if arguments.published { Rules::Published } else { Rules::Corrected };
    let names: Vec<String> = path.iter().map(|number| model.timed.called(*number)).collect();
    let prepared = budget::within("verdict", budget::time(None), |_| {
        let offline = Offline::new(&model.timed, &model.form, path, rules, arguments.contexts.get());
        offline.within(arguments.tolerance.clone())
    });
    let offline = prepared?;
    let trace = open_recording(&model, &arguments.trace)?;
    let known = trace.constants.into_iter().chain(constants).collect();
    let judged = match judge(&offline, &known, trace.members) {
        Ok(judged) => judged,
        Err(NoVerdict::Mistake(found)) => return Err(found.into()),
        Err(NoVerdict::Stopped(found)) => return Err(EarlyExit::Refused(vec![found], Exit::Stopped)),
    };
    let exit = arguments.inconclusive.exit(OutcomeKind::Verdict(judged.verdict.verdict()));
    let document = || make_document(&offline, &names, &judged, exit.code());
    let mut answer = CommandAnswer::new(exit, document, || verdict_text(&offline, &names, &judged));
    if judged.has_forgotten {
        answer.remark(
            "warning: more values are known that data do not have than are kept; what was forgotten makes no Fail",
        );
    }
    if judged.unanswered > 0 {
        let count = usize::try_from(judged.unanswered).unwrap_or(usize::MAX);
        let what = plural(count, "question");
        answer.remark(format!("warning: the solver left {what} open; each was taken for what makes no Fail"));
    }
    Ok(answer)
}

/// Tells the verdict, how far the trace went, and why.
fn verdict_text(offline: &Offline<'_>, path: &[String], judged: &JudgedTrace) -> String {
    let word = match judged.verdict {
        OfflineVerdict::InconclusiveR => "Inconclusive: a trace of the model, and not of the path".to_owned(),
        OfflineVerdict::InconclusiveI => "Inconclusive: the model does not take this input here".to_owned(),
        OfflineVerdict::Fail => {
            let expected = judged.why.as_ref().and_then(|why| expected_line(offline, why));
            format!("Fail: {}", expected.unwrap_or_else(|| "no trace of the model".to_owned()))
        }
        OfflineVerdict::WeakPass => {
            "WeakPass: it may have been the path, and may have been another one".to_owned()
        }
        OfflineVerdict::Pass => "Pass: it was the path".to_owned(),
    };
    let mut text = format!("{word}\n{} up to time {}", plural(judged.events, "event"), judged.time);
    match judged.furthest {
        Some(steps) => {
            let _ = writeln!(text, ", {steps} of {} of the path", plural(path.len(), "transition"));
        }
        None => text += ", off the path\n",
    }
    if !offline.is_exact() {
        let tolerance = time_text(offline.tolerance());
        let _ = writeln!(text, "each instant may be up to {tolerance} from the recorded one");
    }
    if let Some(why) = &judged.why {
        text += &reason_text(offline, why);
    }
    text
}

/// `expected Closed within 2..2.2, got it at 0.9`: the times since the last event.
fn expected_line(offline: &Offline<'_>, why: &Why) -> Option<String> {
    let Item::Event(action, _) = &why.seen.item else { return None };
    let name = &offline.graph().action(*action).name;
    // This output was allowed at this time, so its values are wrong. The lines below say so.
    if why
        .allowed
        .iter()
        .any(|one| one.event.starts_with(&format!("{name}!")) && one.earliest.delay <= why.elapsed)
    {
        return None;
    }
    let outputs = why.allowed.iter().filter_map(|one| Some((one.event.split_once('!')?.0, one)));
    let span = |(name, one): (&str, &AllowedTransition)| match &one.latest {
        Some(end) => format!("{name} within {}..{}", time_text(&one.earliest.delay), time_text(&end.delay)),
        None => format!("{name} from {} on", time_text(&one.earliest.delay)),
    };
    let same: Vec<String> = outputs.clone().filter(|(other, _)| other == name).map(span).collect();
    let got = if same.is_empty() { name } else { "it" };
    let mut all = if same.is_empty() { outputs.map(span).collect() } else { same };
    all.dedup();
    (!all.is_empty())
        .then(|| format!("expected {}, got {got} at {}", all.join(" or "), time_text(&why.elapsed)))
}

/// Tells the last event, where the model was, what was refused, and what was allowed.
fn reason_text(offline: &Offline<'_>, why: &Why) -> String {
    let graph = offline.graph();
    let mut text = format!("line {}: {}", why.seen.line, describe_seen(graph, &why.seen));
    let before = match &why.last {
        Some(last) => format!("{} of line {}", describe_seen(graph, last), last.line),
        None => "the beginning".to_owned(),
    };
    let (time, elapsed) = (time_text(&why.seen.time), time_text(&why.elapsed));
    let _ = writeln!(text, " at time {time}, {elapsed} after {before}");
    let places = why.at.iter().map(|at| match at.steps {
        Some(steps) => format!("{} (on the path, behind {})", at.location, plural(steps, "transition")),
        None => format!("{} (off the path)", at.location),
    });
    let _ = writeln!(text, "  the model was in {}", places.collect::<Vec<_>>().join(" or "));
    for refused in &why.refused {
        let parts = if refused.parts.is_empty() {
            "with the data of the trace".to_owned()
        } else {
            refused.parts.join(", ")
        };
        let _ = writeln!(text, "  not transition {} from {}: {parts}", refused.transition, refused.from);
    }
    if why.allowed.is_empty() {
        text += "  nothing was allowed any more\n";
    }
    for allowed in &why.allowed {
        let _ = writeln!(text, "  allowed: {}", allowed_text(allowed));
    }
    let until = match &why.until {
        Until::Forever => "silence was allowed without end".to_owned(),
        Until::End(end) => format!("silence was allowed {} after the last event", end_text(end)),
        Until::Unsaid => "until when silence was allowed depends on data that are not known".to_owned(),
    };
    let _ = writeln!(text, "  {until}");
    text
}

fn end_text(end: &SpanEnd) -> String {
    let time = time_text(&end.delay);
    if end.is_in { format!("until {time}") } else { format!("until before {time}") }
}

fn allowed_text(allowed: &AllowedTransition) -> String {
    let mut text =
        format!("{} through transition {} from {}", allowed.event, allowed.transition, allowed.from);
    if allowed.is_on_path {
        text += ", on the path";
    }
    let from = time_text(&allowed.earliest.delay);
    let from = if allowed.earliest.is_in { from } else { format!("more than {from}") };
    let span = match &allowed.latest {
        Some(end) => format!("from {from} {}", end_text(end)),
        None => format!("from {from} on"),
    };
    let _ = write!(text, ", {span} after the last event");
    if !allowed.guard.is_empty() {
        let _ = write!(text, ", when {}", allowed.guard);
    }
    if !allowed.besides.is_empty() {
        let _ = write!(text, " [{}]", allowed.besides.join(" && "));
    }
    text
}
