//! What a generated model *says*: expressions as trees that nothing simplifies, and models that are made of
//! them.
//!
//! [`coreach_model::Term`] folds what it can while it is built, so a generator that makes terms never writes
//! `10 div x == 10 div x`. Trees stay as they are made, and are printed with all brackets.

pub mod tree;

use std::collections::BTreeMap;
use std::sync::Arc;

use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::{Action, ActionKind, Iosts};
use coreach_model::reader::{Specification, read_purpose, read_specification};
use coreach_model::types::RecordForm;
use coreach_model::{ActionId, Datum, LocationId, Numbered, SourceFile, TestPurpose, TransitionId, Type};

pub use tree::{Form, Tree};

use crate::text;

/// A transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Step {
    /// The location it leaves.
    pub source: LocationId,
    /// Its action.
    pub action: ActionId,
    /// Its guard.
    pub guard: Tree,
    /// What it assigns.
    pub assignments: BTreeMap<Datum, Tree>,
    /// The location it enters.
    pub target: LocationId,
}

/// A specification, or what a purpose has in common with one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// The constants; those of a purpose are its own, then what it observes.
    pub constants: Vec<Datum>,
    /// The variables.
    pub variables: Vec<Datum>,
    /// The initial condition.
    pub condition: Tree,
    /// The locations' names.
    pub locations: Numbered<LocationId, String>,
    /// The initial one.
    pub initial: LocationId,
    /// The actions; of a purpose, its specification's.
    pub actions: Numbered<ActionId, Action>,
    /// The transitions.
    pub transitions: Numbered<TransitionId, Step>,
}

/// A purpose.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Purpose {
    /// Its locations, data and transitions.
    pub model: Model,
    /// What it reads of the specification.
    pub observes: Vec<Datum>,
    /// `Accept`
    pub accept: LocationId,
    /// `Reject`, where there is one.
    pub reject: Option<LocationId>,
}

/// A specification and a purpose of it: a case.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pair {
    /// The specification.
    pub specification: Model,
    /// The purpose.
    pub purpose: Purpose,
}

impl Model {
    /// The action.
    pub fn action(&self, id: ActionId) -> &Action {
        &self.actions[id]
    }

    /// The numbers of the actions that are wanted.
    pub fn actions_of(&self, wanted: impl Fn(ActionKind) -> bool) -> Vec<ActionId> {
        self.actions.numbers().filter(|id| wanted(self.action(*id).kind)).collect()
    }

    /// The types that have to be declared.
    pub fn declared(&self) -> Vec<(String, Type)> {
        types_of(&self.constants, &self.variables, &self.actions)
    }
}

/// The types that a system's data need declared.
pub fn declared(iosts: &Iosts) -> Vec<(String, Type)> {
    types_of(&iosts.constants, &iosts.variables, &iosts.actions)
}

fn types_of(constants: &[Datum], variables: &[Datum], actions: &[Action]) -> Vec<(String, Type)> {
    let parameters = actions.iter().flat_map(|action| &action.parameters);
    let data = constants.iter().chain(variables).chain(parameters);
    let mut found = BTreeMap::new();
    data.for_each(|datum| collect(datum.ty(), &mut found));
    found.into_iter().collect()
}

fn collect(ty: &Type, found: &mut BTreeMap<String, Type>) {
    match ty {
        Type::Id(name) => {
            found.insert(name.to_string(), ty.clone());
        }
        Type::Enum(enumeration) => {
            found.insert(enumeration.name.clone(), ty.clone());
        }
        Type::Array(array) => {
            collect(&array.index, found);
            collect(&array.element, found);
        }
        Type::Record(record) => {
            if let RecordForm::Keyed(key) = &record.form {
                collect(key, found);
                collect(&record.fields[0].1, found);
            }
            let parts = &record.fields[usize::from(record.form != RecordForm::Plain)..];
            parts.iter().for_each(|(_, field)| collect(field, found));
            if record.is_declared() {
                found.insert(record.name.clone(), ty.clone());
            }
        }
        _ => {}
    }
}

/// A pair as the stages get it: its text, read by the project's reader.
#[derive(Clone, Debug)]
pub struct Input {
    /// The specification.
    pub specification: Iosts,
    /// The purpose.
    pub purpose: TestPurpose,
}

/// Reads the text of the pair.
///
/// # Errors
/// The reader refuses it.
pub fn read(pair: &Pair) -> Result<Input, String> {
    read_text(text::specification(pair), text::purpose(pair))
}

/// Reads a pair of texts.
///
/// # Errors
/// The reader refuses one.
pub fn read_text(specification: String, purpose: String) -> Result<Input, String> {
    let file = |name: &str, text| Arc::new(SourceFile { name: name.to_owned(), text });
    let said = |found: Vec<Diagnostic>| format!("refused: {found:?}");
    let (specification, _): (Specification, _) =
        read_specification(file("specification.yaml", specification)).map_err(said)?;
    let (purpose, _) = read_purpose(file("purpose.yaml", purpose), &specification).map_err(said)?;
    Ok(Input { specification: specification.iosts, purpose })
}
