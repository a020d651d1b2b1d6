//! `coreach verify`: which properties the specification has.

use std::fmt::Write;
use std::sync::{Arc, Mutex};

use coreach_analyses::symbolic::search::SearchBound;
use coreach_model::Iosts;
use coreach_model::iosts::{Aim, TestPurpose};
use coreach_model::lock::lock;
use coreach_pipeline::stop::Stop;
use coreach_pipeline::verify::{Proof, Verified, Violation, ViolationStep};
use coreach_project::project::load;
use coreach_project::verifying::verify as verify_one;
use coreach_project::{jobs, render};
use serde::Serialize;
use serde_json::Value;

use super::{CommandAnswer, CommandResult, EarlyExit, plural};
use crate::answer::{draw_text, render_answer};
use crate::arguments::VerifyArguments;
use crate::certain_end;
use crate::exit::Exit;
use crate::progress::ProgressLine;
use coreach_model::Diagnostic;

/// Verifies each property of a configuration.
pub fn verify(arguments: &VerifyArguments) -> CommandResult {
    let (project, warnings) = load(&arguments.configuration)?;
    let properties: Vec<&TestPurpose> =
        project.purposes.iter().filter(|purpose| purpose.aim == Aim::Violate).collect();
    if properties.is_empty() {
        let message = format!("{} names no property", arguments.configuration.display());
        let help =
            "add `property: never.yaml`, a file that begins with `property:` and has a location `Violate`";
        return Err(Diagnostic::error("no-property", message).help(help).into());
    }
    draw_text(&warnings);
    let specification = &project.specification.iosts;
    let names: Vec<String> = properties.iter().map(|property| property.iosts.name.clone()).collect();
    let finished = Arc::new(Mutex::new(Finished {
        specification: specification.name.clone(),
        warnings: render::to_json(&warnings),
        properties: names.iter().map(|name| Err(name.clone())).collect(),
    }));
    let kept = finished.clone();
    certain_end::tell_at_end(move |exit_code, why| {
        let kept = lock(&kept);
        render_answer(|| kept.document(exit_code, Some(why)), || kept.text())
    });
    let progress = ProgressLine::start(properties.len(), !arguments.quiet);
    let places: Vec<usize> = (0..properties.len()).collect();
    let work = |&place: &usize| {
        let says = |what| progress.says(what);
        let result = verify_one(&project, properties[place], arguments.nodes.get(), &says);
        let told = told(&names[place], &result, specification, arguments.quiet);
        let one = FinishedProperty { text: told, report: report(&names[place], &result, specification) };
        lock(&finished).properties[place] = Ok(one);
        progress.one_done();
        result
    };
    let results = jobs::in_order(&places, jobs::threads(arguments.threads), work);
    drop(progress);
    let results = results.map_err(EarlyExit::no_thread)?;
    let exit = results.iter().map(exit_of).fold(Exit::Fine, Exit::and);
    let stops = results.iter().filter_map(|result| result.as_ref().err());
    draw_text(&stops.map(Stop::to_diagnostic).collect::<Vec<_>>());
    let finished = lock(&finished);
    Ok(CommandAnswer::new(exit, || finished.document(exit.code(), None), || finished.text()))
}

/// What is known of each property at any time. It is told at the end, however the end comes.
struct Finished {
    specification: String,
    warnings: Value,
    /// A property that is not finished is its name alone.
    properties: Vec<Result<FinishedProperty, String>>,
}

struct FinishedProperty {
    text: String,
    report: Report,
}

impl Finished {
    fn text(&self) -> String {
        let text = |one: &Result<FinishedProperty, String>| match one {
            Ok(one) => one.text.clone(),
            Err(name) => format!("{name}: stopped\n"),
        };
        self.properties.iter().map(text).collect()
    }

    /// Makes the document. Properties that are not finished have stopped for this reason.
    fn document(&self, exit_code: u8, why: Option<&Diagnostic>) -> Document<'_> {
        let reason = why.and_then(|why| first(render::to_json(std::slice::from_ref(why))));
        let report = |one: &Result<FinishedProperty, String>| match one {
            Ok(one) => one.report.clone(),
            Err(name) => Report {
                property: name.clone(),
                result: "stopped",
                reason: reason.clone(),
                ..Report::default()
            },
        };
        Document {
            format_version: 1,
            exit_code,
            specification: &self.specification,
            diagnostics: &self.warnings,
            properties: self.properties.iter().map(report).collect(),
        }
    }
}

fn first(diagnostics: Value) -> Option<Value> {
    diagnostics.as_array().and_then(|all| all.first().cloned())
}

fn exit_of(result: &Result<Verified, Stop>) -> Exit {
    match result {
        Ok(Verified::Proved(_)) => Exit::Fine,
        Ok(Verified::Violated(_)) => Exit::Failed,
        Ok(Verified::Unknown(_)) => Exit::Inconclusive,
        Err(_) => Exit::Stopped,
    }
}

fn told(name: &str, result: &Result<Verified, Stop>, specification: &Iosts, quiet: bool) -> String {
    let mut text = match result {
        Ok(Verified::Proved(Proof::Facts(_))) => format!("{name}: proved by facts\n"),
        Ok(Verified::Proved(Proof::Paths)) => format!("{name}: proved, since no path leads to Violate\n"),
        Ok(Verified::Violated(violation)) => {
            format!("{name}: VIOLATED by {}\n", plural(violation.events().len(), "event"))
        }
        Ok(Verified::Unknown(bound)) => format!(
            "{name}: unknown: not proved, and no violation found, looking at {bound}; `--nodes` looks further\n"
        ),
        Err(_) => format!("{name}: stopped\n"),
    };
    if quiet {
        return text;
    }
    match result {
        Ok(Verified::Proved(Proof::Facts(facts))) => {
            for (place, fact) in facts {
                put(&mut text, format_args!("  at {place}: {fact}\n"));
            }
        }
        Ok(Verified::Violated(violation)) => {
            let data: Vec<String> =
                violation.initial.iter().map(|(datum, value)| format!("{datum} = {value}")).collect();
            if !data.is_empty() {
                put(&mut text, format_args!("  from {}\n", data.join(", ")));
            }
            for step in &violation.steps {
                let (from, event, to) = shown(step, specification);
                put(&mut text, format_args!("  {from} -{event}-> {to}\n"));
            }
        }
        Ok(Verified::Proved(Proof::Paths) | Verified::Unknown(_)) | Err(_) => {}
    }
    text
}

fn put(text: &mut String, piece: std::fmt::Arguments<'_>) {
    // Writing to a string cannot fail.
    let _ = text.write_fmt(piece);
}

/// Where a step begins, what happens, and where it leads.
fn shown(step: &ViolationStep, specification: &Iosts) -> (String, String, String) {
    let transition = &specification.transitions[step.transition];
    let label = |at| specification.location(at).label.clone();
    let event = match &step.event {
        Some(event) => event.to_string(),
        None => specification.action(transition.action).name.clone(),
    };
    (label(transition.source), event, label(transition.target))
}

#[derive(Serialize)]
struct Document<'a> {
    format_version: u32,
    exit_code: u8,
    specification: &'a str,
    diagnostics: &'a Value,
    properties: Vec<Report>,
}

#[derive(Clone, Default, Serialize)]
struct Report {
    property: String,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    proved_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<Vec<Fact>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<Run>,
    #[serde(skip_serializing_if = "Option::is_none")]
    nodes: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bound: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<Value>,
}

#[derive(Clone, Serialize)]
struct Fact {
    at: String,
    holds: String,
}

#[derive(Clone, Serialize)]
struct Run {
    initial: serde_json::Map<String, Value>,
    steps: Vec<StepReport>,
}

#[derive(Clone, Serialize)]
struct StepReport {
    from: String,
    action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<String>>,
    to: String,
}

fn report(name: &str, result: &Result<Verified, Stop>, specification: &Iosts) -> Report {
    let empty = Report { property: name.to_owned(), ..Report::default() };
    match result {
        Ok(Verified::Proved(Proof::Facts(facts))) => {
            let fact =
                |(at, fact): &(String, coreach_model::Term)| Fact { at: at.clone(), holds: fact.to_string() };
            let facts = Some(facts.iter().map(fact).collect());
            Report { result: "proved", proved_by: Some("facts"), facts, ..empty }
        }
        Ok(Verified::Proved(Proof::Paths)) => Report { result: "proved", proved_by: Some("paths"), ..empty },
        Ok(Verified::Violated(violation)) => {
            Report { result: "violated", violation: Some(run(violation, specification)), ..empty }
        }
        Ok(Verified::Unknown(bound)) => {
            let nodes = match bound {
                SearchBound::Nodes(nodes) | SearchBound::Values(nodes) => Some(*nodes),
                SearchBound::Work(_) | SearchBound::Time(_) | SearchBound::Digits => None,
            };
            Report { result: "unknown", nodes, bound: Some(bound.to_string()), ..empty }
        }
        Err(stop) => {
            let reason = first(render::to_json(&[stop.to_diagnostic()]));
            Report { result: "stopped", reason, ..empty }
        }
    }
}

fn run(violation: &Violation, specification: &Iosts) -> Run {
    let initial = violation
        .initial
        .iter()
        .map(|(datum, value)| (datum.name().to_owned(), Value::String(value.to_string())))
        .collect();
    let step = |step: &ViolationStep| {
        let transition = &specification.transitions[step.transition];
        let (from, _, to) = shown(step, specification);
        StepReport {
            from,
            action: specification.action(transition.action).name.clone(),
            values: step.event.as_ref().map(|event| event.values.iter().map(ToString::to_string).collect()),
            to,
        }
    };
    Run { initial, steps: violation.steps.iter().map(step).collect() }
}

#[cfg(test)]
mod tests {
    use coreach_pipeline::stop::BUDGET;

    use super::*;

    #[test]
    fn a_hard_end_keeps_what_is_finished() {
        let text = "nonneg: proved by facts\n".to_owned();
        let property = "nonneg".to_owned();
        let report = Report { property, result: "proved", proved_by: Some("facts"), ..Report::default() };
        let finished = Finished {
            specification: "sq".to_owned(),
            warnings: Value::Array(Vec::new()),
            properties: vec![Ok(FinishedProperty { text, report }), Err("three".to_owned())],
        };
        let why = Diagnostic::error(BUDGET, "stopped after 4 s");
        assert_eq!(finished.text(), "nonneg: proved by facts\nthree: stopped\n");
        let document = serde_json::to_value(finished.document(6, Some(&why))).unwrap_or_default();
        assert_eq!(document["exit_code"], 6);
        assert_eq!(document["properties"][0]["result"], "proved");
        assert_eq!(document["properties"][1]["result"], "stopped");
        assert_eq!(document["properties"][1]["reason"]["message"], "stopped after 4 s");
    }
}
