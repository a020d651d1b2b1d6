//! `coreach timed verdict`: what a recorded trace was worth, and why.

use std::fmt::Write;

use coreach_execution::OutcomeKind;
use coreach_execution::offline::OfflineVerdict;
use coreach_execution::offline::prepared::Offline;
use coreach_execution::offline::sequence::{SeqItem, time_text};
use coreach_execution::offline::waiting::Rules;
use coreach_execution::offline::why::{AllowedTransition, SpanEnd, Until, Why};
use coreach_project::budget;
use coreach_project::timed::trace::open_recording;
use coreach_project::timed::verdict::{JudgedTrace, NoVerdict, describe_seen, judge, make_document};
use coreach_project::timed::{constants, load, path};
use dashu_ratio::RBig;

use super::super::{CommandAnswer, CommandResult, EarlyExit, plural};
use crate::console;
use crate::exit::Exit;
use crate::story;
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
            "warning: coreach has forgotten some values that data cannot have, since there are too many; this never makes a Fail",
        );
    }
    if judged.unanswered > 0 {
        let count = usize::try_from(judged.unanswered).unwrap_or(usize::MAX);
        let what = plural(count, "question");
        answer.remark(format!(
            "warning: the solver left {what} open; coreach took each answer so that it makes no Fail"
        ));
    }
    Ok(answer)
}

/// Tells the verdict, how far the trace went, and why.
fn verdict_text(offline: &Offline<'_>, path: &[String], judged: &JudgedTrace) -> String {
    let head = match judged.verdict {
        OfflineVerdict::InconclusiveR => "Inconclusive: allowed by the model, but not on the path".to_owned(),
        OfflineVerdict::InconclusiveI => "Inconclusive: the model does not take this input here".to_owned(),
        OfflineVerdict::Fail => {
            let expected =
                judged.why.as_ref().and_then(|why| expected_line(offline, why, judged.late.as_ref()));
            format!("Fail: {}", expected.unwrap_or_else(|| "the model does not allow this".to_owned()))
        }
        OfflineVerdict::WeakPass => "WeakPass: the system may have taken the path, or another one".to_owned(),
        OfflineVerdict::Pass => "Pass: the system took the path".to_owned(),
    };
    let mut text = format!("{head}\n{} up to time {}", plural(judged.events, "event"), judged.time);
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
        text += &reason_text(offline, why, judged.late.as_ref());
        // With a wrong unit, hardly more events fit than the first two.
        if judged.events <= 2 {
            text += &suspect_milliseconds(offline, why, judged.late.as_ref()).unwrap_or_default();
        }
    }
    story::wrap(&text)
}

/// Returns the event that was refused, if one came, and the time from the event before to it, or to the end
/// of a refused silence. `late` is the event after a delay that was too long.
fn refused_event<'a>(why: &'a Why, late: Option<&'a SeqItem>) -> (Option<&'a SeqItem>, RBig) {
    match &why.seen.item {
        SeqItem::Delay(delay) => (late, &why.elapsed + delay),
        event => (Some(event), why.elapsed.clone()),
    }
}

/// Lists the outputs that were allowed, with their names: those of this name, or all if there is none of it.
/// Also says whether there are some of it.
fn expected_outputs<'a>(why: &'a Why, name: Option<&str>) -> (bool, Vec<(&'a str, &'a AllowedTransition)>) {
    // The event of an output is written `Name!`.
    let with_name = |allowed: &'a AllowedTransition| Some((allowed.event.split_once('!')?.0, allowed));
    let outputs: Vec<_> = why.allowed.iter().filter_map(with_name).collect();
    let same_name: Vec<_> = outputs.iter().copied().filter(|(output, _)| Some(*output) == name).collect();
    if same_name.is_empty() { (false, outputs) } else { (true, same_name) }
}

fn event_name<'a>(offline: &'a Offline<'_>, item: &SeqItem) -> Option<&'a str> {
    let SeqItem::Event(action, _) = item else { return None };
    Some(offline.graph().action(*action).name.as_str())
}

/// Makes `expected Closed within 2..2.2, got it at 0.9`, with the times since the last event. `None` if the
/// time is not the reason.
fn expected_line(offline: &Offline<'_>, why: &Why, late: Option<&SeqItem>) -> Option<String> {
    let (event, elapsed) = refused_event(why, late);
    let name = event.and_then(|event| event_name(offline, event));
    let (is_same, outputs) = expected_outputs(why, name);
    // This output was allowed at this time, so its values are wrong. The lines below say so.
    let is_event = matches!(why.seen.item, SeqItem::Event(..));
    if is_event && is_same && outputs.iter().any(|(_, allowed)| allowed.earliest.delay <= elapsed) {
        return None;
    }
    let span = |(name, allowed): &(&str, &AllowedTransition)| {
        let earliest = time_text(&allowed.earliest.delay);
        match &allowed.latest {
            Some(end) => format!("{name} within {earliest}..{}", time_text(&end.delay)),
            None => format!("{name} from {earliest} on"),
        }
    };
    let mut spans: Vec<String> = outputs.iter().map(span).collect();
    spans.dedup();
    let time = time_text(&elapsed);
    let got = match name {
        Some(_) if is_same => format!("it at {time}"),
        Some(name) => format!("{name} at {time}"),
        None => format!("nothing until {time}"),
    };
    (!spans.is_empty()).then(|| format!("expected {}, got {got}", spans.join(" or ")))
}

/// Suspects a recording in milliseconds: its first events are far too late, and would be in time in seconds.
fn suspect_milliseconds(offline: &Offline<'_>, why: &Why, late: Option<&SeqItem>) -> Option<String> {
    let (event, elapsed) = refused_event(why, late);
    let (_, outputs) = expected_outputs(why, event.and_then(|event| event_name(offline, event)));
    let seconds = &elapsed / RBig::from(1000);
    // In seconds, the event is within its span, and not before a twentieth of the latest time.
    let is_suspicious = |(_, allowed): &(&str, &AllowedTransition)| {
        let fits = |end: &SpanEnd| seconds <= end.delay && &seconds * RBig::from(20) >= end.delay;
        allowed.earliest.delay <= seconds && allowed.latest.as_ref().is_some_and(fits)
    };
    outputs.iter().any(is_suspicious).then(|| {
        let (elapsed, seconds) = (time_text(&elapsed), time_text(&seconds));
        format!(
            "  help: a recording counts in the unit of the model: if these are milliseconds and the model has seconds, \
             divide them by 1000: {elapsed} becomes {seconds}, which is allowed\n"
        )
    })
}

/// Tells the last event, where the model was, what was refused, and what was allowed.
fn reason_text(offline: &Offline<'_>, why: &Why, late: Option<&SeqItem>) -> String {
    let graph = offline.graph();
    let before = match &why.last {
        Some(last) => format!("{} of line {}", describe_seen(graph, last), last.line),
        None => "the beginning".to_owned(),
    };
    let (event, elapsed) = refused_event(why, late);
    let mut seen = why.seen.clone();
    // A delay is shown at its end.
    seen.time += &elapsed - &why.elapsed;
    let (line, after) = (seen.line, time_text(&elapsed));
    let mut text = match event {
        Some(event) => {
            seen.item = event.clone();
            let (event, time) = (describe_seen(graph, &seen), time_text(&seen.time));
            format!("line {line}: {event} at time {time}, {after} after {before}\n")
        }
        None => format!("line {line}: {}, until {after} after {before}\n", describe_seen(graph, &seen)),
    };
    let places = why.at.iter().map(|at| match at.steps {
        Some(steps) => format!("{} (on the path, after {})", at.location, plural(steps, "transition")),
        None => format!("{} (off the path)", at.location),
    });
    let _ = writeln!(text, "  the model was in {}", places.collect::<Vec<_>>().join(" or "));
    for refused in &why.refused {
        let parts = refused.parts.join(", ");
        let reason = if parts.is_empty() { "with the data of the trace" } else { &parts };
        let _ = writeln!(text, "  not transition {} from {}: {reason}", refused.transition, refused.from);
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

/// Writes an allowed transition in one line. In brackets are its conditions on values or on unknown data.
fn allowed_text(allowed: &AllowedTransition) -> String {
    let mut text = format!("{} by transition {} from {}", allowed.event, allowed.transition, allowed.from);
    if let Some(place) = &allowed.place {
        let _ = write!(text, " ({})", place.file_and_line());
    }
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
    if !allowed.other_conditions.is_empty() {
        let _ = write!(text, " [{}]", allowed.other_conditions.join(" && "));
    }
    text
}
