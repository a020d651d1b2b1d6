//! Writes a graph as a document, without the parts that only some stages add.

use coreach_model::iosts::{Action, Transition};
use coreach_model::{ActionKind, Datum, Iosts, Number};

use crate::document::{
    ActionEntry, AssignmentEntry, Counts, Document, FORMAT, FORMAT_VERSION, Generator, Initial,
    LocationEntry, Role, TransitionEntry,
};
use crate::terms::TermTable;
use crate::types::{DatumEntry, TypeTable};

/// The tables that are filled while a document is made.
#[derive(Clone, Default, Debug)]
pub struct WriteTables {
    /// The types.
    pub types: TypeTable,
    /// The terms.
    pub terms: TermTable,
}

impl WriteTables {
    /// Puts the tables into their document, at the end.
    pub fn write(&mut self, document: &mut Document) {
        document.terms = self.terms.nodes(&mut self.types);
        document.types = self.types.nodes().to_vec();
    }

    fn data(&mut self, data: &[Datum]) -> Vec<DatumEntry> {
        data.iter().map(|datum| self.types.datum(datum)).collect()
    }
}

/// Makes the document of a graph that is the result of this stage. It does not have the tables yet.
pub fn write_graph(stage: &str, iosts: &Iosts, tables: &mut WriteTables) -> Document {
    let (locations, transitions) = (iosts.locations.len(), iosts.transitions.len());
    Document {
        format: FORMAT.to_owned(),
        format_version: FORMAT_VERSION,
        generator: Generator { name: FORMAT.to_owned(), version: env!("CARGO_PKG_VERSION").to_owned() },
        stage: stage.to_owned(),
        name: iosts.name.clone(),
        counts: Counts { locations, transitions, ..Counts::default() },
        constants: tables.data(&iosts.constants),
        variables: tables.data(&iosts.variables),
        actions: iosts.actions.iter().map(|action| write_action(action, tables)).collect(),
        initial: Initial {
            location: iosts.initial.place(),
            condition: tables.terms.number(&iosts.initial_condition),
        },
        locations: iosts.locations.iter().map(write_location).collect(),
        transitions: iosts.transitions.iter().map(|t| write_transition(iosts, t, tables)).collect(),
        ..Document::default()
    }
}

fn write_action(action: &Action, tables: &mut WriteTables) -> ActionEntry {
    let role = match action.kind {
        ActionKind::Input => Some(Role::Stimulus),
        ActionKind::Output | ActionKind::Quiescence => Some(Role::Observation),
        ActionKind::Internal => None,
    };
    ActionEntry {
        name: action.name.clone(),
        kind: action.kind,
        role,
        controllable: None,
        parameters: tables.data(&action.parameters),
    }
}

fn write_location(location: &coreach_model::iosts::Location) -> LocationEntry {
    LocationEntry {
        name: location.name.clone(),
        label: location.label.clone(),
        description: location.description.clone(),
        ..LocationEntry::default()
    }
}

/// Writes a transition: data and locations by their places. It assigns only to variables of the graph.
fn write_transition(iosts: &Iosts, transition: &Transition, tables: &mut WriteTables) -> TransitionEntry {
    let mut assignments = Vec::new();
    for (variable, value) in &transition.assignments {
        if let Some(variable) = iosts.variables.iter().position(|known| known == variable) {
            assignments.push(AssignmentEntry { variable, value: tables.terms.number(value) });
        }
    }
    TransitionEntry {
        source: transition.source.place(),
        target: transition.target.place(),
        action: transition.action.place(),
        guard: tables.terms.number(&transition.guard),
        assignments,
    }
}
