//! A specification: the file that begins with `iosts:`.

use std::sync::Arc;

use crate::diagnostic::{Diagnostic, SourceFile};
use crate::iosts::Iosts;
use crate::reader::collect::Collector;
use crate::reader::declarations::{
    Locations, read_actions, read_data, read_initial, read_locations, read_name,
};
use crate::reader::scope::Names;
use crate::reader::transitions::{Context, read_transitions};
use crate::reader::types::{Types, read_types, timed};
use crate::reader::yaml::{Entry, Kind, Node};
use crate::reader::{Reading, graph, shape, yaml};
use crate::types::Type;

/// A specification as it was read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Specification {
    /// The model.
    pub iosts: Iosts,
    /// What `types:` declares, in the order of the file.
    pub types: Vec<(String, Type)>,
}

const KEYS: [&str; 10] = [
    "iosts",
    "types",
    "constants",
    "variables",
    "locations",
    "initial",
    "inputs",
    "outputs",
    "internals",
    "transitions",
];

/// Reads a specification and checks all that needs no solver.
///
/// # Errors
/// Every mistake that could be found, with the warnings, in the order of the file.
pub fn read_specification(file: Arc<SourceFile>) -> Reading<Specification> {
    let mut collector = Collector::new(file);
    let specification = read(&mut collector);
    let (found, failed) = collector.finish();
    match specification {
        Some(specification) if !failed => Ok((specification, found)),
        _ => Err(found),
    }
}

fn read(collector: &mut Collector) -> Option<Specification> {
    let root = yaml::parse(collector)?;
    let entries = top(collector, &root, "iosts")?;
    for entry in entries.iter().filter(|entry| entry.key.text == "clocks") {
        timed(collector, &entry.key.span, "`clocks`");
    }
    shape::check_keys_beside(collector, entries, &KEYS, &["clocks"], "a specification");
    let name = read_name(collector, entries, "iosts");
    let mut names = Names::default();
    let mut types = match shape::get(entries, "types") {
        Some(node) => read_types(collector, node, &mut names),
        None => Types::default(),
    };
    let declared = types.in_order();
    let constants = read_data(collector, entries, "constants", &mut types, &mut names);
    let variables = read_data(collector, entries, "variables", &mut types, &mut names);
    let actions = read_actions(collector, entries, &mut types, &mut names);
    let mut locations = read_locations(collector, entries);
    note_other_names(&mut names, &actions.actions, &locations, &declared);
    let initial = read_initial(collector, &root, entries, &names, &mut locations);
    let context = Context { names: &names, actions: &actions, sets: false };
    let (transitions, places) = read_transitions(collector, entries, &context, &mut locations);
    let origin = initial.origin.or_else(|| name.as_ref().map(|(_, span)| collector.origin(span)));
    let iosts = Iosts {
        name: name?.0,
        constants,
        variables,
        initial_condition: initial.condition?,
        initial: initial.location?,
        locations: locations.locations.clone(),
        actions: actions.actions.clone(),
        transitions,
        origin,
    };
    // What follows speaks of the whole graph, so it must be whole.
    if collector.errors() == 0 {
        graph::check_livelocks(collector, &iosts, &places);
        graph::check_unused(collector, &iosts, &locations, Some(&actions));
    }
    Some(Specification { iosts, types: declared })
}

/// What locations, actions and types are called, for a message about a datum of that name.
fn note_other_names(
    names: &mut Names,
    actions: &[crate::iosts::Action],
    locations: &Locations,
    types: &[(String, Type)],
) {
    for action in actions {
        names.add_elsewhere(&action.name, "an action, not a datum");
    }
    for (name, _) in types {
        names.add_elsewhere(name, "a type, not a datum");
    }
    for location in &locations.locations {
        names.add_elsewhere(&location.name, "a location, not a datum");
    }
}

/// The entries of the document, which must be of the kind that begins with `key`.
pub(super) fn top<'a>(collector: &mut Collector, root: &'a Node, key: &str) -> Option<&'a [Entry]> {
    let kinds = [
        ("iosts", "a specification"),
        ("purpose", "a test purpose"),
        ("property", "a property"),
        ("specification", "a configuration"),
    ];
    let wanted = kinds.iter().find(|(kind, _)| *kind == key).map_or("a model", |(_, what)| what);
    let Kind::Mapping(entries) = &root.kind else {
        let message = format!("expected {wanted}, found {}", root.describe());
        let diagnostic = Diagnostic::error("wrong-kind", message)
            .at(collector.origin(&root.head()), format!("expected a mapping with `{key}:`"))
            .help(format!("{wanted} begins with `{key}: its_name`"));
        collector.push(diagnostic);
        return None;
    };
    if shape::get(entries, key).is_some() {
        return Some(entries);
    }
    let other = kinds.iter().find_map(|(kind, what)| {
        let entry = entries.iter().find(|entry| entry.key.text == *kind)?;
        Some((entry, *what))
    });
    if let Some((entry, what)) = other {
        let message = format!("expected {wanted}, but this is {what}");
        let diagnostic = Diagnostic::error("wrong-kind-of-file", message)
            .at(collector.origin(&entry.key.span), format!("this begins {what}"))
            .help(format!("{wanted} begins with `{key}:`"));
        collector.push(diagnostic);
        return None;
    }
    shape::missing_key(collector, root, key, wanted, &format!("{key}: coffee_machine"));
    Some(entries)
}
