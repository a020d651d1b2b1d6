//! A stage's result as a model in the model format, which coreach reads back: to look at a stage, to change it by hand,
//! to analyse it again.
//!
//! Directions are the implementation's at every stage, also in the test graph and the test case: a test case is read
//! as the part of the system's behaviour that it allows, with the locations Pass, Inconclusive and Fail. A completed
//! purpose is written as a purpose.

use std::collections::BTreeSet;

use coreach_model::{Type, writer};

use super::View;

/// The model as text.
pub fn yaml(view: &View<'_>) -> String {
    let what = view.what.replace('_', " ");
    match view.purpose {
        Some((purpose, _)) => format!("# coreach: {what}\n{}", writer::write_purpose_yaml(purpose)),
        None => format!("# coreach: {what}\n{}", writer::write_yaml(view.iosts, &named_types(view))),
    }
}

/// The enumerations and records that data of the model have, each behind those that it uses.
fn named_types(view: &View<'_>) -> Vec<(String, Type)> {
    let iosts = view.iosts;
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    let mut found = Vec::new();
    let mut seen = BTreeSet::new();
    for datum in iosts.constants.iter().chain(&iosts.variables).chain(parameters) {
        collect(datum.ty(), &mut seen, &mut found);
    }
    found
}

fn collect(ty: &Type, seen: &mut BTreeSet<Type>, found: &mut Vec<(String, Type)>) {
    if !seen.insert(ty.clone()) {
        return;
    }
    match ty {
        Type::Enum(enumeration) => found.push((enumeration.name.clone(), ty.clone())),
        Type::Record(record) => {
            for (_, field) in &record.fields {
                collect(field, seen, found);
            }
            found.push((record.name.clone(), ty.clone()));
        }
        Type::Array(array) => {
            collect(&array.index, seen, found);
            collect(&array.element, seen, found);
        }
        Type::Bool | Type::Int | Type::Nat | Type::Range(..) | Type::Real => {}
    }
}
