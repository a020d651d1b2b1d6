//! A pair as the YAML that `coreach check` accepts, and its configuration.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use coreach_analyses::places::Arrays;
use coreach_analyses::reachability::{Analysis, Thresholds};
use coreach_model::iosts::{Action, ActionKind};
use coreach_model::types::{Alternative, RecordForm};
use coreach_model::{Datum, Type};

use crate::properties::Settings;
use crate::source::{Model, Pair, Step, Tree};

/// The specification as YAML.
pub fn specification(pair: &Pair) -> String {
    let model = &pair.specification;
    let mut text = format!("iosts: {}\n", model.name);
    let types = model.declared();
    if !types.is_empty() {
        text.push_str("types:\n");
    }
    for (name, ty) in types {
        let definition = match &ty {
            Type::Id(_) => "id".to_owned(),
            Type::Enum(enumeration) => format!("[{}]", enumeration.literals.join(", ")),
            Type::Record(record) if record.form != RecordForm::Plain => {
                let one = |of: &Alternative| {
                    let field = |at| (record.field_of(of, at), &record.fields[of.first + at].1);
                    let fields: Vec<String> =
                        (0..of.count).map(field).map(|(name, ty)| format!("{name}: \"{ty}\"")).collect();
                    match of.count {
                        0 => of.name.clone(),
                        _ => format!("{{ {}: {{ {} }} }}", of.name, fields.join(", ")),
                    }
                };
                format!("[{}]", record.alternatives().iter().map(one).collect::<Vec<String>>().join(", "))
            }
            Type::Record(record) => {
                let fields: Vec<String> =
                    record.fields.iter().map(|(name, ty)| format!("{name}: \"{ty}\"")).collect();
                format!("{{ {} }}", fields.join(", "))
            }
            other => panic!("{other} has no name"),
        };
        put(&mut text, format_args!("  {name}: {definition}\n"));
    }
    data(&mut text, "constants", &model.constants);
    data(&mut text, "variables", &model.variables);
    locations(&mut text, model);
    for (section, kind) in [("inputs", ActionKind::Input), ("outputs", ActionKind::Output)] {
        let all: Vec<&Action> = model.actions.iter().filter(|action| action.kind == kind).collect();
        if !all.is_empty() {
            put(&mut text, format_args!("{section}:\n"));
        }
        for action in all {
            let parameters: Vec<String> =
                action.parameters.iter().map(|p| format!("{}: \"{}\"", p.name(), p.ty())).collect();
            put(&mut text, format_args!("  {}: {{ {} }}\n", action.name, parameters.join(", ")));
        }
    }
    let internals = model.actions.iter().filter(|action| action.kind == ActionKind::Internal);
    let internals: Vec<&str> = internals.map(|action| action.name.as_str()).collect();
    if !internals.is_empty() {
        put(&mut text, format_args!("internals: [{}]\n", internals.join(", ")));
    }
    transitions(&mut text, model, "f");
    text
}

/// The purpose as YAML.
pub fn purpose(pair: &Pair) -> String {
    let purpose = &pair.purpose;
    let mut text = format!("purpose: {}\nof: {}\n", purpose.model.name, pair.specification.name);
    if !purpose.observes.is_empty() {
        let names: Vec<&str> = purpose.observes.iter().map(Datum::name).collect();
        put(&mut text, format_args!("observes: [{}]\n", names.join(", ")));
    }
    let own = purpose.model.constants.iter().filter(|datum| !purpose.observes.contains(datum));
    data(&mut text, "constants", &own.cloned().collect::<Vec<_>>());
    data(&mut text, "variables", &purpose.model.variables);
    locations(&mut text, &purpose.model);
    transitions(&mut text, &purpose.model, "g");
    text
}

/// An expression as a scalar of YAML.
fn quoted(text: &impl ToString) -> String {
    format!("\"{}\"", text.to_string().replace('\\', "\\\\").replace('"', "\\\""))
}

fn put(text: &mut String, piece: std::fmt::Arguments<'_>) {
    use std::fmt::Write as _;
    // Writing to a string does not fail.
    let _ = text.write_fmt(piece);
}

fn data(text: &mut String, section: &str, data: &[Datum]) {
    if !data.is_empty() {
        put(text, format_args!("{section}:\n"));
    }
    for datum in data {
        put(text, format_args!("  {}: \"{}\"\n", datum.name(), datum.ty()));
    }
}

/// The locations by name, so that both readers number them alike, and where the model begins.
fn locations(text: &mut String, model: &Model) {
    put(text, format_args!("locations: [{}]\n", model.locations.join(", ")));
    let initial = &model.locations[model.initial];
    put(text, format_args!("initial:\n  location: {initial}\n"));
    if !model.condition.is_true() {
        put(text, format_args!("  condition: {}\n", quoted(&model.condition)));
    }
}

/// The function that a guard is written as, and its call; its parameters are those of the action.
fn function(model: &Model, step: &Step, name: &str) -> (String, String) {
    let mut parameters = Vec::new();
    let mut replaced = BTreeMap::new();
    for (number, datum) in model.action(step.action).parameters.iter().enumerate() {
        let own = Datum::new(format!("own{number}"), datum.ty().sort());
        parameters.push(format!("{own}: \"{}\"", own.ty()));
        replaced.insert(datum.clone(), Tree::datum(&own));
    }
    let body = step.guard.replaced(&replaced);
    let body = quoted(&body);
    let declared = format!("  {name}: {{ parameters: {{ {} }}, is: {body} }}\n", parameters.join(", "));
    let arguments = model.action(step.action).parameters.iter().map(|datum| datum.name());
    (declared, format!("{name}({})", arguments.collect::<Vec<_>>().join(", ")))
}

/// Where something is written shortly, every other guard is a function.
fn transitions(text: &mut String, model: &Model, prefix: &str) {
    let is_short = model.transitions.iter().any(|step| step.guard.is_short());
    let mut functions = String::new();
    let mut calls = BTreeMap::new();
    for (number, step) in
        model.transitions.iter().enumerate().filter(|(number, _)| is_short && number.is_multiple_of(2))
    {
        let (declared, call) = function(model, step, &format!("{prefix}{number}"));
        functions += &declared;
        calls.insert(number, call);
    }
    if !functions.is_empty() {
        put(text, format_args!("functions:\n{functions}"));
    }
    if !model.transitions.is_empty() {
        text.push_str("transitions:\n");
    }
    for (number, step) in model.transitions.iter().enumerate() {
        let [from, to] = [step.source, step.target].map(|at| &model.locations[at]);
        let on = &model.action(step.action).name;
        put(text, format_args!("  - from: {from}\n    to: {to}\n    \"on\": {on}\n"));
        let guard = calls.get(&number).cloned().unwrap_or_else(|| step.guard.to_string());
        if guard != "true" {
            put(text, format_args!("    when: {}\n", quoted(&guard)));
        }
        let value =
            |(variable, value): (&Datum, &Tree)| format!("      {}: {}\n", variable.name(), quoted(value));
        if !step.assignments.is_empty() {
            let values: String = step.assignments.iter().map(value).collect();
            put(text, format_args!("    assign:\n{values}"));
        }
    }
}

/// A configuration that runs the pair under the settings.
pub fn configuration(settings: &Settings) -> String {
    let Analysis {
        domain,
        delay,
        thresholds,
        descending_steps,
        rounds,
        partition_limit,
        arrays: Arrays { cells, summarized, .. },
        step_limit,
        loops,
        disjuncts,
        refine,
        fact_limit,
        condition_limit,
    } = &settings.analysis;
    let thresholds = match thresholds {
        Thresholds::Auto => "auto".to_owned(),
        Thresholds::List(numbers) => {
            format!("[{}]", numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", "))
        }
    };
    format!(
        "specification: specification.yaml\npurpose: purpose.yaml\n\
         determinization: {{ max_lookahead: {} }}\n\
         analysis:\n  domain: {domain}\n  widening: {{ delay: {delay}, thresholds: {thresholds} }}\n  \
         descending_steps: {descending_steps}\n  rounds: {rounds}\n  partition_limit: {partition_limit}\n  cells: {cells}\n  summarized_cells: {summarized}\n  step_limit: {step_limit}\n  loops: {}\n  disjuncts: {disjuncts}\n  refine: {}\n  fact_limit: {fact_limit}\n  condition_limit: {condition_limit}\n",
        settings.max_lookahead,
        loops.name(),
        refine.name()
    )
}

/// Writes a pair into a folder, with a remark in front of the specification.
///
/// # Errors
/// The folder cannot be written.
pub fn keep(folder: &Path, pair: &Pair, settings: &Settings, remark: &str) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let remark: String = remark.lines().map(|line| format!("# {line}\n")).collect();
    fs::write(folder.join("specification.yaml"), remark + &specification(pair))?;
    fs::write(folder.join("purpose.yaml"), purpose(pair))?;
    fs::write(folder.join("coreach.yaml"), configuration(settings))
}
