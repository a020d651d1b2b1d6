//! Fixing symbolic constants: a constant of a model becomes a number.

use std::collections::BTreeSet;

use coreach_model::iosts::{Iosts, TestPurpose};
use coreach_model::term::evaluate::Valuation;
use coreach_model::term::{Substitution, literals, substitute};
use coreach_model::{Datum, Diagnostic};

use crate::configuration::{Configuration, instantiation};

/// Puts the configuration's values in the place of constants: in the specification and in the purposes, which
/// may have constants of their own.
///
/// # Errors
/// An unknown constant; a value that is none, or lies outside its constant's type.
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
    let everywhere = literals(&values(configuration, &all)?);
    let values = purposes.iter().map(|purpose| values_of(configuration, specification, purposes, purpose));
    let values: Vec<Valuation> = values.collect::<Result<_, _>>()?;
    for (purpose, values) in purposes.iter_mut().zip(values) {
        let values = literals(&values);
        fix_constants(&mut purpose.iosts, &values);
        purpose.observes.retain(|datum| !values.contains_key(datum));
    }
    fix_constants(specification, &everywhere);
    Ok(())
}

/// What the configuration says of the constants, read for one of its purposes: two purposes may use one name
/// for constants of different types, and each reads the text by its own.
pub fn values_of(
    configuration: &Configuration,
    specification: &Iosts,
    purposes: &[TestPurpose],
    purpose: &TestPurpose,
) -> Result<Valuation, Vec<Diagnostic>> {
    let mut known: Vec<Datum> = specification.constants.clone();
    known.extend(own_constants(purpose));
    known.extend(purposes.iter().flat_map(own_constants));
    values(configuration, &known)
}

fn own_constants(purpose: &TestPurpose) -> Vec<Datum> {
    let constants = purpose.iosts.constants.iter();
    constants.filter(|datum| !purpose.observes.contains(datum)).cloned().collect()
}

fn values(configuration: &Configuration, known: &[Datum]) -> Result<Valuation, Vec<Diagnostic>> {
    // The first of a name counts: a second one of the same name is another purpose's.
    let mut names = BTreeSet::new();
    let known: Vec<Datum> = known.iter().filter(|datum| names.insert(datum.name())).cloned().collect();
    instantiation(&configuration.instantiate, &known)
}

/// Puts these values in the place of the constants of one model.
pub(crate) fn fix_all(iosts: &mut Iosts, values: Valuation) {
    fix_constants(iosts, &literals(&values));
}

fn fix_constants(iosts: &mut Iosts, values: &Substitution) {
    // A name that is a variable here is none of the constants, even if a purpose observes it as one.
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
