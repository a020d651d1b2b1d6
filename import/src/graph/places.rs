//! Makes locations of the vertices of a drawn graph. A vertex is one location, vertices that share a state
//! are the same location, and an observed vertex is two locations.

use std::collections::{BTreeMap, BTreeSet};

use coreach_model::LocationId;
use coreach_model::diagnostic::{Diagnostic, Origin};
use coreach_model::iosts::Location;
use coreach_model::numbered::Numbered;
use coreach_model::reader::collect::Collector;

use super::{Drawing, Start, Vertex};
use crate::names::Naming;
use crate::{Options, Vertices};

/// An observed vertex: it is seen on the transition from its entry to its exit.
pub(super) struct ObservedVertex {
    pub(super) entry: LocationId,
    pub(super) exit: LocationId,
    pub(super) event: String,
    pub(super) origin: Origin,
}

pub(super) struct Places {
    pub(super) locations: Numbered<LocationId, Location>,
    pub(super) initial: LocationId,
    /// For each vertex, the target of edges that enter it.
    pub(super) entries: Vec<LocationId>,
    /// For each vertex, the source of edges that leave it.
    pub(super) exits: Vec<LocationId>,
    pub(super) observed: Vec<ObservedVertex>,
}

impl Places {
    /// Makes the locations. A vertex that is an output has one before the output, and one after it.
    pub(super) fn of(collector: &mut Collector, options: &Options, drawing: &Drawing) -> Option<Self> {
        let vertices = &drawing.vertices;
        let representative = find_representatives(collector, options, vertices)?;
        // A name that several vertices have gets the identifier after it.
        let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
        for vertex in vertices {
            *seen.entry(vertex.name.text.as_str()).or_default() += 1;
        }
        let key = |number: usize| {
            let vertex = &vertices[number];
            match vertex.name.text.as_str() {
                "" => vertex.id.clone(),
                name if seen.get(name).is_some_and(|count| *count > 1) => format!("{name} {}", vertex.id),
                name => name.to_owned(),
            }
        };
        let is_seen = |number: usize| drawing.is_seen(options, number);
        // The key of each location, the place of its vertex, and the label if it has one.
        let mut keys: Vec<(String, Option<Origin>, String)> = Vec::new();
        for (number, vertex) in vertices.iter().enumerate() {
            if representative[number] != number {
                continue;
            }
            let origin = || Some(collector.origin(&vertex.span));
            if is_seen(number) {
                keys.push((entry_key(&key(number)), origin(), String::new()));
            }
            keys.push((key(number), origin(), vertex.name.text.clone()));
        }
        // Without a vertex that only leads to the first edge, the graph begins at a location of its own.
        let first_source = drawing.first_edge().and_then(|edge| drawing.only_leads_to(edge));
        if first_source.is_none() && drawing.first_edge().is_some() {
            keys.push((START.to_owned(), None, String::new()));
        }
        let foreign_names = keys.iter().map(|(key, origin, _)| (key.as_str(), origin.clone()));
        let naming = Naming::of(foreign_names, &BTreeSet::new(), "l");
        let mut by_key: BTreeMap<String, LocationId> = BTreeMap::new();
        let mut locations = Numbered::new();
        for (key, _, label) in &keys {
            let mut location = Location::named(naming.get(key));
            if !label.is_empty() {
                location.label.clone_from(label);
            }
            by_key.insert(key.clone(), locations.push(location));
        }
        // Two vertices have the same key, if the identifier of one is the name of the other.
        if by_key.len() < keys.len() {
            let message = "the name of a vertex is the identifier of another one";
            collector.push(Diagnostic::error("duplicate-name", message));
            return None;
        }
        naming.warn_of_changes(collector, "locations");
        let location = |key: &str| by_key.get(key).copied();
        let exits: Option<Vec<_>> = representative.iter().map(|number| location(&key(*number))).collect();
        let exits = exits?;
        // An observed vertex is entered at another location than the one that its edges leave.
        let mut entries = exits.clone();
        let mut observed = Vec::new();
        for number in (0..vertices.len()).filter(|number| is_seen(*number)) {
            let (entry, exit) = (location(&entry_key(&key(number)))?, exits[number]);
            entries[number] = entry;
            let origin = collector.origin(&vertices[number].span);
            let event = vertices[number].name.text.clone();
            observed.push(ObservedVertex { entry, exit, event, origin });
        }
        let initial = match (drawing.start, first_source) {
            (Start::Vertex(number), _) => entries[number],
            (Start::Edge(_), Some(source)) => exits[source],
            (Start::Edge(_), None) => location(START)?,
        };
        Some(Places { locations, initial, entries, exits, observed })
    }
}

/// Finds for each vertex the first one that has the same shared state. `None` after a mistake.
fn find_representatives(
    collector: &mut Collector,
    options: &Options,
    vertices: &[Vertex],
) -> Option<Vec<usize>> {
    let mut first_of: BTreeMap<&str, usize> = BTreeMap::new();
    let mut representative: Vec<usize> = (0..vertices.len()).collect();
    for (number, vertex) in vertices.iter().enumerate() {
        let Some(shared) = &vertex.shared else { continue };
        let first = *first_of.entry(shared).or_insert(number);
        representative[number] = first;
        if first != number {
            let message = format!("vertices that share the state `{shared}` become one location");
            let warning = Diagnostic::warning("shared-state", message)
                .at(collector.origin(&vertex.span), "this one")
                .at(collector.origin(&vertices[first].span), "and this one");
            collector.push(warning);
            if options.vertices == Vertices::Outputs {
                let message = "shared states and observed vertices cannot be translated together";
                let help = "use `--vertices locations`";
                collector.mistake("untranslatable", message, &vertex.span, "shared", help);
                return None;
            }
        }
    }
    Some(representative)
}

/// Returns the key of the location at which a vertex is entered. The zero byte marks a name of coreach.
fn entry_key(key: &str) -> String {
    format!("\0entering {key}")
}

/// The key of an initial location of its own, from which only the first edge leads.
const START: &str = "\0Start";
