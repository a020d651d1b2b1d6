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

use coreach_model::iosts::Transition;
use coreach_model::semantics::{Event, fire};
use coreach_model::term::node::Node;
use coreach_model::term::operation::{DerivedOperation, StandardOperation};
use coreach_model::term::{TermShape, list_subterms};
use coreach_model::types::RecordForm;
use coreach_model::value::ArrayValue;
use coreach_model::{Datum, Term, TransitionId, Type, Value};

use super::goals::WalkModel;
use super::positions::Positions;

/// The steps that have not yet read an older element, and the newest elements.
#[derive(Clone, Debug)]
pub struct ElementReads {
    open: Vec<(TransitionId, Datum)>,
    newest: BTreeMap<Datum, Value>,
}

impl ElementReads {
    /// Lists the steps that read elements. There are none if the walk looks for no classes.
    pub fn new(model: &WalkModel) -> Self {
        let iosts = &model.iosts;
        let mut open = Vec::new();
        for (number, transition) in iosts.transitions.numbered() {
            // Internal steps are not seen.
            if model.with_classes && iosts.action(transition.action).is_visible() {
                let of_elements = iosts.variables.iter().filter(|variable| has_elements(variable.ty()));
                let read = of_elements.filter(|variable| reads_elements(transition, variable));
                open.extend(read.map(|variable| (number, variable.clone())));
            }
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

    /// Notes the step that an event takes from these positions. If several are possible, no element is known.
    pub fn follow(&mut self, model: &WalkModel, positions: &Positions, event: &Event) {
        if self.open.is_empty() {
            return;
        }
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
            confused.valuation.insert(variable.clone(), fill_with(value, newest));
            let instead = fire(iosts, &iosts.transitions[number], &confused, &event.values);
            instead.is_none_or(|instead| {
                let mut others = to.valuation.iter().filter(|(datum, _)| *datum != variable);
                others.any(|(datum, value)| instead.valuation.get(datum) != Some(value))
            })
        };
        self.open.retain(|(reading, variable)| *reading != number || !reads_older(variable));
        for (variable, now) in to.valuation.iter().filter(|(variable, _)| has_elements(variable.ty())) {
            let Some(before) = state.valuation.get(variable).filter(|before| *before != now) else {
                continue;
            };
            let before = list_elements(before);
            let added = list_elements(now).into_iter().rfind(|element| !before.contains(element)).cloned();
            self.newest.extend(added.map(|element| (variable.clone(), element)));
        }
    }
}

/// Tells whether it is the type of a list, a map or an array.
fn has_elements(ty: &Type) -> bool {
    match ty {
        Type::Array(_) => true,
        Type::Record(ty) => ty.form == RecordForm::List || ty.map_value_type().is_some(),
        _ => false,
    }
}

/// Tells whether a term of the transition reads elements of the variable.
fn reads_elements(transition: &Transition, variable: &Datum) -> bool {
    let assigned = transition.assignments.iter().filter(|(assigned, _)| *assigned != variable);
    let terms = assigned.map(|(_, value)| value).chain([&transition.guard]).cloned().collect();
    let reads = |term: &Term| match term.shape() {
        TermShape::Node(Node::Select(array, _)) => array.mentions(variable),
        TermShape::Operation(DerivedOperation::Standard(operation), arguments) => {
            matches!(operation, StandardOperation::Element | StandardOperation::ValueAt)
                && arguments[0].mentions(variable)
        }
        TermShape::Operation(DerivedOperation::Call(_) | DerivedOperation::Quantified(_), _) => {
            term.mentions(variable)
        }
        _ => false,
    };
    list_subterms(terms).iter().any(reads)
}

/// Lists the elements of a list or an array, or the values of a map.
fn list_elements(value: &Value) -> Vec<&Value> {
    match value {
        Value::Array(array) => array.cells.values().collect(),
        Value::Record(ty, fields) if ty.form == RecordForm::List => ty.counting(fields).collect(),
        Value::Record(ty, fields) => ty.entries(fields).into_iter().filter_map(|(_, value)| value).collect(),
        _ => Vec::new(),
    }
}

/// Returns the same collection with this element in all places.
fn fill_with(value: &Value, element: &Value) -> Value {
    match value {
        Value::Array(array) => {
            // Cells with the default value are not listed.
            let is_default = *element == array.default;
            let cells = array.cells.keys().filter(|_| !is_default);
            let cells = cells.map(|index| (index.clone(), element.clone())).collect();
            Value::Array(Arc::new(ArrayValue { cells, ..ArrayValue::clone(array) }))
        }
        Value::Record(ty, fields) if ty.form == RecordForm::List => {
            ty.value_of(fields[0].clone(), ty.counting(fields).map(|_| element.clone()))
        }
        Value::Record(ty, fields) => {
            let entries = ty.entries(fields).into_iter().map(|(key, _)| (key, Some(element.clone())));
            ty.make_keyed(entries.collect()).unwrap_or_else(|| value.clone())
        }
        _ => value.clone(),
    }
}
