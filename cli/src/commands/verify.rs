//! `coreach verify`: which properties the specification has.

use coreach_analyses::symbolic::search::SearchBound;
use coreach_model::iosts::{Aim, TestPurpose};
use coreach_model::{Diagnostic, Iosts};
use coreach_pipeline::stop::Stop;
use coreach_pipeline::verify::{Proof, PropertyViolation, Verified, ViolationStep};
use coreach_project::project::load;
use coreach_project::render;
use coreach_project::verifying::verify as verify_property;
use serde::Serialize;
use serde_json::Value;

use super::{CommandAnswer, CommandResult, plural};
use crate::answer::{draw_text, render_answer};
use crate::arguments::VerifyArguments;
use crate::exit::Exit;
use crate::pieces::{do_pieces, to_reason};
use crate::progress::ProgressLine;

/// Verifies each property, and tells the proofs and the violations.
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
    let heading = VerifyHeading {
        specification: specification.name.clone(),
        warnings: render::to_json(&warnings),
        properties: properties.iter().map(|property| property.iosts.name.clone()).collect(),
    };
    let progress = ProgressLine::start(properties.len(), !arguments.quiet);
    let work = |property: &&TestPurpose| {
        let name = &property.iosts.name;
        let result = verify_property(&project, property, arguments.nodes.get(), &|what| progress.says(what));
        progress.one_done();
        FinishedProperty {
            text: result_text(name, &result, specification, arguments.quiet),
            report: make_report(name, &result, specification),
            exit: exit_of_result(&result),
            stop: result.err().map(|stop| stop.to_diagnostic()),
        }
    };
    let early = heading.clone();
    let partial = move |finished: &[Option<FinishedProperty>], code, why: &Diagnostic| {
        render_answer(|| early.document(finished, code, Some(why)), || early.text(finished))
    };
    let finished = do_pieces(&properties, arguments.threads, work, partial)?;
    drop(progress);
    let exit = finished.iter().fold(Exit::Fine, |exit, property| exit.and(property.exit));
    draw_text(&finished.iter().filter_map(|property| property.stop.clone()).collect::<Vec<_>>());
    let finished: Vec<_> = finished.into_iter().map(Some).collect();
    let document = || heading.document(&finished, exit.code(), None);
    Ok(CommandAnswer::new(exit, document, || heading.text(&finished)))
}

/// The head of the answer, which is known before a property is verified.
#[derive(Clone)]
struct VerifyHeading {
    specification: String,
    warnings: Value,
    properties: Vec<String>,
}

#[derive(Clone)]
struct FinishedProperty {
    text: String,
    report: PropertyReport,
    exit: Exit,
    stop: Option<Diagnostic>,
}

impl VerifyHeading {
    fn text(&self, finished: &[Option<FinishedProperty>]) -> String {
        let text = |(property, name): (&Option<FinishedProperty>, &String)| match property {
            Some(property) => property.text.clone(),
            None => format!("{name}: stopped\n"),
        };
        finished.iter().zip(&self.properties).map(text).collect()
    }

    /// Makes the document. Properties that are not finished were stopped by `why`.
    fn document(
        &self,
        finished: &[Option<FinishedProperty>],
        exit_code: u8,
        why: Option<&Diagnostic>,
    ) -> VerifyDocument<'_> {
        let report = |(property, name): (&Option<FinishedProperty>, &String)| match property {
            Some(property) => property.report.clone(),
            None => PropertyReport {
                result: "stopped",
                reason: why.and_then(to_reason),
                property: name.clone(),
                ..PropertyReport::default()
            },
        };
        VerifyDocument {
            format_version: 1,
            exit_code,
            specification: &self.specification,
            diagnostics: &self.warnings,
            properties: finished.iter().zip(&self.properties).map(report).collect(),
        }
    }
}

fn exit_of_result(result: &Result<Verified, Stop>) -> Exit {
    match result {
        Ok(Verified::Proved(_)) => Exit::Fine,
        Ok(Verified::Violated(_)) => Exit::Failed,
        Ok(Verified::Unknown(_)) => Exit::Inconclusive,
        Err(_) => Exit::Stopped,
    }
}

/// Tells the result of a property and, unless it is to be quiet, the facts of a proof or the violation.
fn result_text(name: &str, result: &Result<Verified, Stop>, specification: &Iosts, quiet: bool) -> String {
    let mut text = match result {
        Ok(Verified::Proved(Proof::Facts(_))) => format!("{name}: proved by facts\n"),
        Ok(Verified::Proved(Proof::Paths)) => format!("{name}: proved, since no path leads to Violate\n"),
        Ok(Verified::Violated(violation)) => {
            format!("{name}: VIOLATED by {}\n", plural(violation.events().len(), "event"))
        }
        Ok(Verified::Unknown(bound)) => {
            format!(
                "{name}: unknown, neither proved nor violated (searched {bound}); `--nodes` searches further\n"
            )
        }
        Err(_) => format!("{name}: stopped\n"),
    };
    if quiet {
        return text;
    }
    match result {
        Ok(Verified::Proved(Proof::Facts(facts))) => {
            for (place, fact) in facts {
                text += &format!("  at {place}: {fact}\n");
            }
        }
        Ok(Verified::Violated(violation)) => {
            let data: Vec<String> =
                violation.initial.iter().map(|(datum, value)| format!("{datum} = {value}")).collect();
            if !data.is_empty() {
                text += &format!("  from {}\n", data.join(", "));
            }
            for step in &violation.steps {
                let (from, event, to) = step_cells(step, specification);
                text += &format!("  {from} -{event}-> {to}\n");
            }
        }
        Ok(Verified::Proved(Proof::Paths) | Verified::Unknown(_)) | Err(_) => {}
    }
    text
}

/// Returns where a step begins, what happens, and where it leads.
fn step_cells(step: &ViolationStep, specification: &Iosts) -> (String, String, String) {
    let transition = &specification.transitions[step.transition];
    let label = |at| specification.location(at).label.clone();
    let event = match &step.event {
        Some(event) => event.to_string(),
        None => specification.action(transition.action).name.clone(),
    };
    (label(transition.source), event, label(transition.target))
}

#[derive(Serialize)]
struct VerifyDocument<'a> {
    format_version: u32,
    exit_code: u8,
    specification: &'a str,
    diagnostics: &'a Value,
    properties: Vec<PropertyReport>,
}

#[derive(Clone, Default, Serialize)]
struct PropertyReport {
    property: String,
    result: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    proved_by: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    facts: Option<Vec<Fact>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    violation: Option<ViolatingRun>,
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
struct ViolatingRun {
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

/// Makes the part of the document on a property.
fn make_report(name: &str, result: &Result<Verified, Stop>, specification: &Iosts) -> PropertyReport {
    let empty = PropertyReport { property: name.to_owned(), ..PropertyReport::default() };
    match result {
        Ok(Verified::Proved(Proof::Facts(facts))) => {
            let facts = facts.iter().map(|(at, fact)| Fact { at: at.clone(), holds: fact.to_string() });
            let facts = Some(facts.collect());
            PropertyReport { result: "proved", proved_by: Some("facts"), facts, ..empty }
        }
        Ok(Verified::Proved(Proof::Paths)) => {
            PropertyReport { result: "proved", proved_by: Some("paths"), ..empty }
        }
        Ok(Verified::Violated(violation)) => PropertyReport {
            result: "violated",
            violation: Some(violation_run(violation, specification)),
            ..empty
        },
        Ok(Verified::Unknown(bound)) => {
            let nodes = match bound {
                SearchBound::Nodes(nodes) | SearchBound::Values(nodes) => Some(*nodes),
                SearchBound::Work(_) | SearchBound::Time(_) | SearchBound::Digits => None,
            };
            PropertyReport { result: "unknown", nodes, bound: Some(bound.to_string()), ..empty }
        }
        Err(stop) => PropertyReport { result: "stopped", reason: to_reason(&stop.to_diagnostic()), ..empty },
    }
}

fn violation_run(violation: &PropertyViolation, specification: &Iosts) -> ViolatingRun {
    let initial = violation.initial.iter();
    let initial = initial.map(|(datum, value)| (datum.name().to_owned(), Value::String(value.to_string())));
    let step = |step: &ViolationStep| {
        let transition = &specification.transitions[step.transition];
        let (from, _, to) = step_cells(step, specification);
        let action = specification.action(transition.action).name.clone();
        let values = step.event.as_ref().map(|event| event.values.iter().map(ToString::to_string).collect());
        StepReport { from, action, values, to }
    };
    ViolatingRun { initial: initial.collect(), steps: violation.steps.iter().map(step).collect() }
}

#[cfg(test)]
mod tests {
    use coreach_pipeline::stop::BUDGET;

    use super::*;

    #[test]
    fn a_hard_end_keeps_what_is_finished() {
        let text = "nonneg: proved by facts\n".to_owned();
        let report = PropertyReport {
            result: "proved",
            proved_by: Some("facts"),
            property: "nonneg".to_owned(),
            ..PropertyReport::default()
        };
        let heading = VerifyHeading {
            specification: "sq".to_owned(),
            warnings: Value::Array(Vec::new()),
            properties: vec!["nonneg".to_owned(), "three".to_owned()],
        };
        let finished = [Some(FinishedProperty { text, report, exit: Exit::Fine, stop: None }), None];
        let why = Diagnostic::error(BUDGET, "stopped after 4 s");
        assert_eq!(heading.text(&finished), "nonneg: proved by facts\nthree: stopped\n");
        let document = serde_json::to_value(heading.document(&finished, 6, Some(&why))).unwrap_or_default();
        assert_eq!(document["exit_code"], 6);
        assert_eq!(document["properties"][0]["result"], "proved");
        assert_eq!(document["properties"][1]["result"], "stopped");
        assert_eq!(document["properties"][1]["reason"]["message"], "stopped after 4 s");
    }
}
