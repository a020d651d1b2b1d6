//! Fixes symbolic constants: a constant of a model becomes a value.

use std::collections::BTreeSet;

use coreach_model::iosts::{Iosts, TestPurpose};
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::{Substitution, literals, substitute};
use coreach_model::{Datum, Diagnostic};

use crate::configuration::{Configuration, evaluate_instantiate};

/// Replaces constants by the configuration's values in the specification and in the purposes.
///
/// # Errors
/// A constant is not known, or its text is not a value of its type.
pub fn instantiate(
    configuration: &Configuration,
    specification: &mut Iosts,
    purposes: &mut [TestPurpose],
) -> Result<(), Vec<Diagnostic>> {
    if configuration.instantiate.is_empty() {
        return Ok(());
    }
    let all: Vec<Datum> =
        specification.constants.iter().cloned().chain(purposes.iter().flat_map(own_constants)).collect();
    // This also reports names that no model has. If such a name is a variable, the report gets a help. It is
    // found by its text.
    let evaluated = evaluate_by_name(configuration, &all).map_err(|mut found| {
        for variable in &specification.variables {
            let message = format!("unknown constant `{variable}`");
            for diagnostic in found.iter_mut().filter(|known| known.message == message) {
                diagnostic.help = Some(format!(
                    "it is a variable, whose first value the specification says under `initial:`, as in `condition: \
                     {variable} == VALUE`"
                ));
            }
        }
        found
    })?;
    // The first constant of a name counts. The specification's are first, so these are its values.
    let for_specification = literals(&evaluated);
    // Two purposes may have constants of one name and of different types, so each has values of its own. All
    // are found before any constant is fixed, since `fix_constants` takes the constants away.
    let of_purpose = |purpose| values_of(configuration, specification, purposes, purpose);
    let of_each_purpose: Vec<Valuation> = purposes.iter().map(of_purpose).collect::<Result<_, _>>()?;
    for (purpose, values) in purposes.iter_mut().zip(of_each_purpose) {
        let values = literals(&values);
        fix_constants(&mut purpose.iosts, &values);
        // A constant of the specification that it observes is now a value.
        purpose.observes.retain(|datum| !values.contains_key(datum));
    }
    fix_constants(specification, &for_specification);
    Ok(())
}

/// Evaluates the configuration's constants for one of its purposes. Two purposes may use one name for
/// constants of different types. Then each reads the text by its own type.
pub fn values_of(
    configuration: &Configuration,
    specification: &Iosts,
    purposes: &[TestPurpose],
    purpose: &TestPurpose,
) -> Result<Valuation, Vec<Diagnostic>> {
    let mut known: Vec<Datum> = specification.constants.clone();
    known.extend(own_constants(purpose));
    known.extend(purposes.iter().flat_map(own_constants));
    evaluate_by_name(configuration, &known)
}

fn own_constants(purpose: &TestPurpose) -> Vec<Datum> {
    let constants = purpose.iosts.constants.iter();
    constants.filter(|datum| !purpose.observes.contains(datum)).cloned().collect()
}

/// Evaluates the configuration's constants. The first constant of a name counts.
fn evaluate_by_name(configuration: &Configuration, known: &[Datum]) -> Result<Valuation, Vec<Diagnostic>> {
    let mut names = BTreeSet::new();
    let known: Vec<Datum> = known.iter().filter(|datum| names.insert(datum.name())).cloned().collect();
    evaluate_instantiate(&configuration.instantiate, &known)
}

/// Puts the values in for the constants of a model, and removes these constants.
pub(crate) fn fix_constants(iosts: &mut Iosts, values: &Substitution) {
    // A purpose may observe a variable of the specification as a constant. Here it is a variable, and stays.
    let values: Substitution = values
        .iter()
        .filter(|(datum, _)| iosts.constants.contains(datum))
        .map(|(datum, value)| (datum.clone(), value.clone()))
        .collect();
    iosts.constants.retain(|datum| !values.contains_key(datum));
    iosts.initial_condition = substitute(&iosts.initial_condition, &values);
    for transition in &mut iosts.transitions {
        transition.guard = substitute(&transition.guard, &values);
        for value in transition.assignments.values_mut() {
            *value = substitute(value, &values);
        }
    }
}
