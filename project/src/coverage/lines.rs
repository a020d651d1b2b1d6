//! Finds the lines of a model's locations and transitions in its file.
//!
//! The line of a transition is the first line of its entry. The line of a location is that of its description
//! under `locations:`. Otherwise it is that of the first transition at it, or of `initial:`.

use std::collections::HashMap;
use std::sync::Arc;

use coreach_model::diagnostic::SourceFile;
use coreach_model::reader::collect::Collector;
use coreach_model::reader::yaml::{self, NodeKind};
use coreach_model::{Iosts, LocationId, Numbered, TransitionId};

/// The lines of a model in its file, counted from 1.
pub struct CoveredLines {
    pub file: Arc<SourceFile>,
    pub transitions: Numbered<TransitionId, usize>,
    pub locations: Numbered<LocationId, usize>,
    pub described: Numbered<LocationId, bool>,
}

impl CoveredLines {
    /// Finds the lines of a model. `None`, if the model was not read from a file.
    pub fn of(iosts: &Iosts) -> Option<Self> {
        let file = iosts.origin.as_ref()?.file.clone();
        let starts: Vec<usize> = file.text.match_indices('\n').map(|(at, _)| at + 1).collect();
        let line = |byte: usize| starts.partition_point(|start| *start <= byte) + 1;
        let begin = |number: TransitionId| {
            let whole = iosts.transitions[number].origin.whole.as_ref();
            whole.map_or(1, |origin| line(origin.span.start))
        };
        let transitions: Numbered<TransitionId, usize> = iosts.transitions.numbers().map(begin).collect();
        let key_places = find_key_places(&file);
        let initial = key_places.get("").copied().map_or(1, line);
        // The line of a location, and whether it is described there.
        let place = |location: LocationId| {
            let described = key_places.get(iosts.location(location).name.as_str()).copied().map(line);
            let first_line = |is_there: &dyn Fn(TransitionId) -> bool| {
                iosts.transitions.numbers().find(|number| is_there(*number)).map(|number| transitions[number])
            };
            let leaves = || first_line(&|number| iosts.transitions[number].source == location);
            let enters = || first_line(&|number| iosts.transitions[number].target == location);
            (described.or_else(leaves).or_else(enters).unwrap_or(initial), described.is_some())
        };
        let (locations, described): (Vec<usize>, Vec<bool>) = iosts.location_ids().map(place).unzip();
        Some(CoveredLines { file, transitions, locations: locations.into(), described: described.into() })
    }
}

/// Finds where the keys under `locations:` begin. The empty name has the place of `initial:`.
fn find_key_places(file: &Arc<SourceFile>) -> HashMap<String, usize> {
    let mut found = HashMap::new();
    // The file has been read before without mistakes.
    let root = yaml::parse(&mut Collector::new(file.clone()));
    let Some(NodeKind::Mapping(entries)) = root.as_ref().map(|root| &root.kind) else { return found };
    for entry in entries {
        if entry.key.text == "initial" {
            found.insert(String::new(), entry.key.span.start);
        }
        if let ("locations", NodeKind::Mapping(locations)) = (entry.key.text.as_str(), &entry.value.kind) {
            found.extend(
                locations.iter().map(|location| (location.key.text.clone(), location.key.span.start)),
            );
        }
    }
    found
}
