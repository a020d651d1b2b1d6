//! The enumerations, records and other named types of a model.
//!
//! They are found in its data and in its terms: `(if b then RED else GREEN) == RED` mentions an enumeration
//! that no datum has, and `all n in Number: ...` a name of a range. Each type comes after those that it uses.
//! **Cost**: one look at each shared subterm.

use std::collections::{BTreeSet, HashSet};

use coreach_model::term::TermShape;
use coreach_model::term::node::Node;
use coreach_model::term::operation::{DerivedOperation, QuantifierDomain};
use coreach_model::types::{ID, RecordForm};
use coreach_model::{Iosts, Term, Type, Value};

/// Lists the named types of a model. Each comes after those that it uses.
pub fn named_types(iosts: &Iosts) -> Vec<(String, Type)> {
    let mut found = NamedTypes::default();
    let parameters = iosts.actions.iter().flat_map(|action| &action.parameters);
    for datum in iosts.constants.iter().chain(&iosts.variables).chain(parameters) {
        found.add(datum.ty());
    }
    let assigned = iosts.transitions.iter().flat_map(|transition| transition.assignments.values());
    let guards = iosts.transitions.iter().map(|transition| &transition.guard);
    let mut work: Vec<&Term> = guards.chain(assigned).chain([&iosts.initial_condition]).collect();
    let mut seen: HashSet<&Term> = HashSet::new();
    while let Some(term) = work.pop() {
        if seen.insert(term) {
            // A term is written with its operations, so look into their bodies as well as its lowered form.
            if let TermShape::Operation(operation, _) = term.shape() {
                if let DerivedOperation::Quantified(of) = operation {
                    found.add_domain(&of.domain);
                }
                work.extend(operation.bodies().into_iter().map(|(_, body)| body));
            }
            work.extend(term.parts());
            if let Node::Literal(value) = term.node() {
                found.add(&value.sort());
            }
            work.extend(term.children());
        }
    }
    found.types
}

#[derive(Default)]
struct NamedTypes {
    seen: BTreeSet<Type>,
    types: Vec<(String, Type)>,
}

impl NamedTypes {
    /// Adds the type of a quantifier's values, and the name that the quantifier uses for it.
    fn add_domain(&mut self, domain: &QuantifierDomain) {
        let QuantifierDomain::Values(text, values) = domain else { return };
        let ty = match (values.first(), values.last()) {
            (Some(Value::Int(low)), Some(Value::Int(high))) => Type::Range(low.clone(), high.clone()),
            (Some(value), _) => value.sort(),
            (None, _) => return,
        };
        self.add(&ty);
        // A range that is written out, as `0..3`, has no name.
        let is_name = *text != ty.to_string() && !text.contains("..");
        if is_name && self.types.iter().all(|(known, _)| known != text) {
            self.types.push((text.clone(), ty));
        }
    }

    /// Adds the types that a type uses, and then the type itself if it has a name.
    fn add(&mut self, ty: &Type) {
        if !self.seen.insert(ty.clone()) {
            return;
        }
        match ty {
            Type::Enum(enumeration) => self.types.push((enumeration.name.clone(), ty.clone())),
            Type::Record(record) => {
                if let RecordForm::Keyed(key) | RecordForm::Entries(key, _) = &record.form {
                    self.add(key);
                }
                // The first field of these forms says what the others hold. It is declared with the form.
                let has_own_field =
                    matches!(record.form, RecordForm::Option | RecordForm::List | RecordForm::Variant(_));
                for (_, field) in &record.fields[usize::from(has_own_field)..] {
                    self.add(field);
                }
                if record.is_declared() {
                    self.types.push((record.name.clone(), ty.clone()));
                }
            }
            Type::Array(array) => {
                self.add(&array.index);
                self.add(&array.element);
            }
            Type::Id(name) if **name == *ID => {}
            Type::Id(name) => self.types.push((name.to_string(), ty.clone())),
            Type::Bool | Type::Int | Type::Nat | Type::Range(..) | Type::Real | Type::String => {}
        }
    }
}
