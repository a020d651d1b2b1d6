//! Notes which steps have read an element of a list, a map or an array that is not the newest one.
//!
//! **Problem.** A faulty system answers with the element that was stored last, whatever is asked for. The
//! goals of a walk may all be met although each read element was the newest.
//!
//! **Method.** The newest element is the last one that a step has added. A step has read an older element if
//! it would be impossible, or would lead to other values, with the newest element in all places. A walk that
//! has met all goals goes on by lot for a while until each step that reads elements has done so.

use std::collections::BTreeMap;
use std::sync::Arc;

use coreach_model::iosts::{Iosts, Transition};
use coreach_model::semantics::{Event, fire};
use coreach_model::term::list_subterms;
use coreach_model::types::RecordForm;
use coreach_model::value::ArrayValue;
use coreach_model::{Datum, TransitionId, Type, Value};

use super::goals::WalkModel;
use super::positions::Positions;

/// The steps that have not yet read an older element, and the newest elements.
#[derive(Clone, Debug)]
pub struct ElementReads {
    open: Vec<(TransitionId, Datum)>,
    newest: BTreeMap<Datum, Value>,
}

impl ElementReads {
    /// Lists the steps that read elements.
    pub fn new(iosts: &Iosts) -> Self {
        let variables =
            || iosts.variables.iter().filter_map(|datum| Some((datum, element_type(datum.ty())?)));
        let mut open = Vec::new();
        for (number, transition) in iosts.transitions.numbered() {
            let read = variables().filter(|(variable, element)| reads_element(transition, variable, element));
            open.extend(read.map(|(variable, _)| (number, variable.clone())));
        }
        ElementReads { open, newest: BTreeMap::new() }
    }

    /// Begins a run, in which no element is known.
    pub fn begin(&mut self) {
        self.newest.clear();
    }

    /// Tells whether a step that reads elements has never read an older one.
    pub fn are_open(&self) -> bool {
        !self.open.is_empty()
    }

    /// Notes the step that an event takes from these positions. If several steps are possible, it notes
    /// nothing.
    pub fn follow(&mut self, model: &WalkModel, positions: &Positions, event: &Event) {
        let iosts = &model.iosts;
        let action = iosts.find_action(&event.action);
        let steps = positions.iter().flat_map(|(state, _)| {
            let leaving = model.outgoing[state.location].iter();
            let leaving = leaving.filter(|number| Some(iosts.transitions[**number].action) == action);
            leaving.filter_map(move |number| {
                Some((*number, state, fire(iosts, &iosts.transitions[*number], state, &event.values)?))
            })
        });
        let mut steps = steps.take(2);
        let (Some((number, state, to)), None) = (steps.next(), steps.next()) else { return self.begin() };
        let newest = &self.newest;
        let reads_older = |variable: &Datum| {
            let (Some(newest), Some(value)) = (newest.get(variable), state.valuation.get(variable)) else {
                return false;
            };
            let mut confused = state.clone();
            confused.valuation.insert(variable.clone(), change_elements(value, &mut |_| newest.clone()));
            let instead = fire(iosts, &iosts.transitions[number], &confused, &event.values);
            instead.is_none_or(|instead| {
                let mut others = to.valuation.iter().filter(|(datum, _)| *datum != variable);
                others.any(|(datum, value)| instead.valuation.get(datum) != Some(value))
            })
        };
        self.open.retain(|(reading, variable)| *reading != number || !reads_older(variable));
        for (variable, now) in
            to.valuation.iter().filter(|(variable, _)| element_type(variable.ty()).is_some())
        {
            let Some(before) = state.valuation.get(variable).filter(|before| *before != now) else {
                continue;
            };
            let before = list_elements(before);
            let added = list_elements(now).into_iter().rfind(|element| !before.contains(element));
            self.newest.extend(added.map(|element| (variable.clone(), element)));
        }
    }
}

/// Returns the type of the elements of a list or an array, or of the values of a map.
fn element_type(ty: &Type) -> Option<&Type> {
    match ty {
        Type::Array(ty) => Some(&ty.element),
        Type::Record(ty) if matches!(ty.form, RecordForm::List) => Some(ty.element_type()),
        Type::Record(ty) => ty.map_value_type(),
        _ => None,
    }
}

/// Tells whether a term of the transition may be an element of the variable.
fn reads_element(transition: &Transition, variable: &Datum, element: &Type) -> bool {
    let assigned = transition.assignments.iter().filter(|(assigned, _)| *assigned != variable);
    let terms = assigned.map(|(_, value)| value).chain([&transition.guard]).cloned().collect();
    list_subterms(terms).into_iter().any(|term| term.sort() == element && term.mentions(variable))
}

fn list_elements(value: &Value) -> Vec<Value> {
    let mut elements = Vec::new();
    change_elements(value, &mut |element| {
        elements.push(element.clone());
        element.clone()
    });
    elements
}

/// Returns the same collection with each element changed.
fn change_elements(value: &Value, change: &mut dyn FnMut(&Value) -> Value) -> Value {
    let (ty, fields) = match value {
        Value::Record(ty, fields) => (ty, fields),
        Value::Array(array) => {
            let cells = array.cells.iter().map(|(index, cell)| (index.clone(), change(cell)));
            let cells = cells.filter(|(_, cell)| *cell != array.default).collect();
            return Value::Array(Arc::new(ArrayValue { cells, ..ArrayValue::clone(array) }));
        }
        _ => return value.clone(),
    };
    let length = match fields.first() {
        Some(Value::Int(length)) => usize::try_from(length).unwrap_or_default(),
        _ => 0,
    };
    let change_field = |(place, field): (usize, &Value)| match (&ty.form, field) {
        (RecordForm::List, _) if (1..=length).contains(&place) => change(field),
        (RecordForm::Entries(_, Some(_)), _) if place > 0 && place % 2 == 0 && place <= 2 * length => {
            change(field)
        }
        (RecordForm::Keyed(_), Value::Record(option, parts)) if parts[0] == Value::Bool(true) => {
            option.value_of(Value::Bool(true), [change(&parts[1])])
        }
        _ => field.clone(),
    };
    Value::Record(ty.clone(), fields.iter().enumerate().map(change_field).collect())
}
