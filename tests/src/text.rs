//! A pair as the YAML that `coreach check` accepts, and its configuration.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use coreach_analyses::reachability::{Options, Thresholds};
use coreach_model::iosts::Iosts;
use coreach_model::writer::{write_purpose_yaml, write_yaml};
use coreach_model::{Datum, Type};

use crate::generator::Pair;
use crate::properties::Settings;

/// The specification as YAML.
pub fn specification(pair: &Pair) -> String {
    write_yaml(&pair.specification, &declared(&pair.specification))
}

/// The purpose as YAML.
pub fn purpose(pair: &Pair) -> String {
    write_purpose_yaml(&pair.purpose)
}

/// A configuration that runs the pair under the settings.
pub fn configuration(settings: &Settings) -> String {
    let Options { domain, delay, thresholds, descending_steps, rounds, .. } = &settings.analysis;
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
         descending_steps: {descending_steps}\n  rounds: {rounds}\n",
        settings.max_lookahead
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

/// The named types that a model uses.
fn declared(iosts: &Iosts) -> Vec<(String, Type)> {
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    let data = iosts.constants.iter().chain(&iosts.variables).chain(parameters);
    let mut found = BTreeMap::new();
    for ty in data.map(Datum::ty) {
        collect(ty, &mut found);
    }
    found.into_iter().collect()
}

fn collect(ty: &Type, found: &mut BTreeMap<String, Type>) {
    match ty {
        Type::Enum(enumeration) => {
            found.insert(enumeration.name.clone(), ty.clone());
        }
        Type::Array(array) => {
            collect(&array.index, found);
            collect(&array.element, found);
        }
        Type::Record(record) => {
            record.fields.iter().for_each(|(_, field)| collect(field, found));
            found.insert(record.name.clone(), ty.clone());
        }
        _ => {}
    }
}
