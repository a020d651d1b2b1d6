//! A model as the oracle holds it: declarations, and transitions whose expressions are resolved.
//!
//! All values that an expression can mention stand in one list: the constants, the variables, then the
//! parameters of the transition's action.

use std::collections::BTreeMap;

use super::expression::Expression;
use super::value::{Type, Value};

/// The values of constants, by name.
pub type Constants = BTreeMap<String, Value>;

/// A variable, constant or parameter.
#[derive(Clone, PartialEq, Debug)]
pub struct Datum {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
}

/// Who sends it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// The environment.
    Input,
    /// The system.
    Output,
    /// Nobody sees it.
    Internal,
}

/// An action.
#[derive(Clone, PartialEq, Debug)]
pub struct Action {
    /// Its name.
    pub name: String,
    /// Its direction.
    pub direction: Direction,
    /// Its parameters, in order.
    pub parameters: Vec<Datum>,
}

/// A transition.
#[derive(Clone, PartialEq, Debug)]
pub struct Step {
    /// The location it leaves.
    pub source: u32,
    /// Its action's number.
    pub action: usize,
    /// Its guard.
    pub guard: Expression,
    /// The variables that are assigned, by number, and their values.
    pub assign: Vec<(usize, Expression)>,
    /// The location it enters.
    pub target: u32,
}

/// A model.
#[derive(Clone, PartialEq, Debug)]
pub struct Machine {
    /// The constants; those of a purpose are its own, then what it observes.
    pub constants: Vec<Datum>,
    /// The variables.
    pub variables: Vec<Datum>,
    /// The locations' names.
    pub locations: Vec<String>,
    /// The initial one.
    pub initial: u32,
    /// The initial condition.
    pub condition: Expression,
    /// The actions.
    pub actions: Vec<Action>,
    /// The transitions.
    pub steps: Vec<Step>,
}

impl Machine {
    /// The list of values: constants and variables, and room for parameters.
    pub fn places(&self, constants: &Constants, variables: &[Value]) -> Vec<Value> {
        let of = |datum: &Datum| match constants.get(&datum.name) {
            Some(value) => value.clone(),
            None => panic!("the constant {} has no value", datum.name),
        };
        let mut places: Vec<Value> = self.constants.iter().map(of).collect();
        places.extend_from_slice(variables);
        let most = self.actions.iter().map(|action| action.parameters.len()).max().unwrap_or(0);
        places.resize(places.len() + most, Value::Bool(false));
        places
    }

    /// Where the parameters begin.
    pub fn first_parameter(&self) -> usize {
        self.constants.len() + self.variables.len()
    }

    /// The number of the location of this name.
    pub fn location(&self, name: &str) -> Option<u32> {
        self.locations.iter().position(|known| known == name).map(|at| at as u32)
    }
}

impl Step {
    /// What the step assigns, where it can be taken (Definition 4.7): the guard holds, every value that is
    /// evaluated exists, and every assigned value lies in its variable's type.
    pub fn fire(&self, machine: &Machine, places: &[Value]) -> Option<Vec<(usize, Value)>> {
        if self.guard.truth(places) != Ok(true) {
            return None;
        }
        let mut assigned = Vec::new();
        for (variable, expression) in &self.assign {
            let value = expression.value(places).ok()?;
            if !value.is_in(&machine.variables[*variable].ty) {
                return None;
            }
            assigned.push((*variable, value));
        }
        Some(assigned)
    }
}

/// The values behind a step.
pub fn assigned(before: &[Value], changes: Vec<(usize, Value)>) -> Vec<Value> {
    let mut after = before.to_vec();
    for (variable, value) in changes {
        after[variable] = value;
    }
    after
}
