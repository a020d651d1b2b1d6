//! `coreach verify`: which properties the specification has.

use std::fmt::Write;

use coreach_analyses::symbolic::search::SearchBound;
use coreach_model::Iosts;
use coreach_model::iosts::{Aim, TestPurpose};
use coreach_pipeline::stop::Stop;
use coreach_pipeline::verify::{Proof, Verified, Violation, ViolationStep};
use coreach_project::project::load;
use coreach_project::verifying::verify as verify_one;
use coreach_project::{jobs, render};
use serde::Serialize;
use serde_json::Value;

use super::run::no_thread;
use super::{EarlyExit, plural, refuse};
use crate::arguments::VerifyArguments;
use crate::console;
use crate::exit::Exit;
use crate::output_format::OutputFormat;
use crate::progress::ProgressLine;
use coreach_model::Diagnostic;

/// Verifies each property of a configuration.
pub fn verify(arguments: &VerifyArguments) -> Result<Exit, EarlyExit> {
    let (project, warnings) =
        load(&arguments.configuration).map_err(|found| refuse(&found, arguments.format))?;
    let properties: Vec<&TestPurpose> =
        project.purposes.iter().filter(|purpose| purpose.aim == Aim::Violate).collect();
    if properties.is_empty() {
        let message = format!("{} names no property", arguments.configuration.display());
        let help =
            "add `property: never.yaml`, a file that begins with `property:` and has a location `Violate`";
        return Err(refuse(&[Diagnostic::error("no-property", message).help(help)], arguments.format));
    }
    if arguments.format == OutputFormat::Human {
        console::draw(&warnings);
    }
    let progress = ProgressLine::start(properties.len(), !arguments.quiet);
    let work = |property: &&TestPurpose| {
        let result = verify_one(&project, property, arguments.nodes.get(), &|what| progress.says(what));
        progress.one_done();
        result
    };
    let results = jobs::in_order(&properties, jobs::threads(arguments.threads), work);
    drop(progress);
    let results = results.map_err(|error| no_thread(&error))?;
    let specification = &project.specification.iosts;
    let mut exit = Exit::Fine;
    let mut reports = Vec::new();
    for (property, result) in properties.into_iter().zip(results) {
        exit = exit.and(exit_of(&result));
        if arguments.format == OutputFormat::Human {
            if let Err(stop) = &result {
                console::draw(&[stop.to_diagnostic()]);
            }
            console::print(&told(&property.iosts.name, &result, specification, arguments.quiet));
        }
        reports.push(report(&property.iosts.name, &result, specification));
    }
    if arguments.format == OutputFormat::Json {
        console::print_json(&Document {
            format_version: 1,
            exit_code: exit.code(),
            specification: &specification.name,
            diagnostics: render::to_json(&warnings),
            properties: reports,
        });
    }
    Ok(exit)
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
    diagnostics: Value,
    properties: Vec<Report>,
}

#[derive(Serialize)]
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

#[derive(Serialize)]
struct Fact {
    at: String,
    holds: String,
}

#[derive(Serialize)]
struct Run {
    initial: serde_json::Map<String, Value>,
    steps: Vec<StepReport>,
}

#[derive(Serialize)]
struct StepReport {
    from: String,
    action: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    values: Option<Vec<String>>,
    to: String,
}

fn report(name: &str, result: &Result<Verified, Stop>, specification: &Iosts) -> Report {
    let empty = Report {
        property: name.to_owned(),
        result: "",
        proved_by: None,
        facts: None,
        violation: None,
        nodes: None,
        bound: None,
        reason: None,
    };
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
                SearchBound::Work(_) | SearchBound::Digits => None,
            };
            Report { result: "unknown", nodes, bound: Some(bound.to_string()), ..empty }
        }
        Err(stop) => {
            let diagnostics = render::to_json(&[stop.to_diagnostic()]);
            let reason = diagnostics.as_array().and_then(|all| all.first().cloned());
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
