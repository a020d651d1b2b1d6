//! The transitions of a specification or of a purpose.

use std::collections::HashMap;

use crate::compose::MOST;
use crate::data::Datum;
use crate::diagnostic::Diagnostic;
use crate::iosts::{ActionId, LocationId, Transition, TransitionId};
use crate::numbered::Numbered;
use crate::reader::any_order::read_any_order;
use crate::reader::collect::Collector;
use crate::reader::declarations::ReadLocations;
use crate::reader::shape;
use crate::reader::surroundings::Surroundings;
use crate::reader::transition_body::{
    LIKE, TimedBody, TransitionBody, TransitionPlaces, read_ends, read_steps,
};
use crate::reader::yaml::{Entry, NodeKind, Yaml};
use crate::term::Term;

const KEYS: [&str; 7] = ["from", "to", "on", "when", "assign", "reset", "name"];

/// The transitions of a model, with their places, resets and names.
#[derive(Debug, Default)]
pub struct ReadTransitions {
    pub transitions: Numbered<TransitionId, Transition>,
    pub places: Numbered<TransitionId, TransitionPlaces>,
    /// The clocks that each transition resets, in timed models only.
    pub resets: Numbered<TransitionId, Vec<Datum>>,
    /// The name of each transition if it has one, in timed models only.
    pub names: Numbered<TransitionId, Option<String>>,
}

/// Reads `transitions:`. A transition with a mistake, which has been reported, is left out.
pub fn read_transitions(
    collector: &mut Collector,
    entries: &[Entry],
    context: &Surroundings<'_>,
    locations: &mut ReadLocations,
) -> ReadTransitions {
    let mut read = ReadTransitions::default();
    let Some(node) = shape::get(entries, "transitions") else { return read };
    let like = format!("transitions: [{LIKE}]");
    let Some(items) = shape::list(collector, node, "`transitions`", &like) else { return read };
    let mut known = KnownTransitions::new();
    for item in items {
        if collector.is_full() {
            break;
        }
        let NodeKind::Mapping(entries) = &item.kind else {
            shape::wrong_kind(collector, item, "a transition", "a mapping", LIKE);
            continue;
        };
        // Only a specification takes no sets of actions, and only it has `in_any_order`.
        let of_item = if !context.takes_sets && shape::get(entries, "in_any_order").is_some() {
            read_any_order(collector, item, entries, context, locations)
        } else {
            read_transition(collector, item, entries, context, locations)
        };
        for (transition, places, timed_body) in of_item {
            // In a purpose, sets of actions may overlap. In a timed model, resets may differ.
            if !context.takes_sets && context.clocks.is_none() {
                warn_of_repeated(collector, &mut known, &read, &transition, &places);
            }
            read.transitions.push(transition);
            read.places.push(places);
            read.resets.push(timed_body.resets);
            read.names.push(timed_body.name);
        }
        if read.transitions.len() > MOST {
            let message = format!("with one for each action, there are more than {MOST} transitions");
            let help = "name fewer actions in the sets under `on:`";
            collector.mistake("too-many-transitions", message, &item.head(), "up to here", help);
            break;
        }
    }
    read
}

/// The transitions of a specification by their ends, action and guard.
type KnownTransitions = HashMap<(LocationId, ActionId, LocationId, Term), TransitionId>;

/// Warns of a transition that is read already. `new` is the next one.
fn warn_of_repeated(
    collector: &mut Collector,
    known: &mut KnownTransitions,
    read: &ReadTransitions,
    new: &Transition,
    places: &TransitionPlaces,
) {
    let key = (new.source, new.action, new.target, new.guard.clone());
    let number = *known.entry(key).or_insert(read.transitions.next_number());
    // A new key has the number of the next transition, which is not there yet.
    let Some(first) = read.transitions.find(number) else { return };
    let are_equal = first.assignments == new.assignments && first.origin.whole != new.origin.whole;
    if collector.errors() > 0 || !are_equal {
        return;
    }
    let diagnostic = Diagnostic::warning("repeated-transition", "this transition appears twice")
        .at(collector.origin(&places.from), "the second one")
        .at(collector.origin(&read.places[number].from), "the first one")
        .help("remove one, or correct the part that should differ");
    collector.push(diagnostic);
}

/// Reads one item, which stands for one transition for each of its actions.
fn read_transition(
    collector: &mut Collector,
    node: &Yaml,
    entries: &[Entry],
    context: &Surroundings<'_>,
    locations: &mut ReadLocations,
) -> Vec<(Transition, TransitionPlaces, TimedBody)> {
    if refuse_true_for_on(collector, entries) {
        return Vec::new();
    }
    shape::check_keys(collector, entries, &KEYS, "a transition");
    let ends = read_ends(collector, node, entries, locations, LIKE);
    let steps = read_steps(collector, node, entries, context);
    let (Some(ends), Some((steps, timed_body))) = (ends, steps) else { return Vec::new() };
    let make_transition = |step: &TransitionBody| {
        let (transition, places) = step.between(&ends, ends.source, ends.target);
        (transition, places, timed_body.clone())
    };
    steps.iter().map(make_transition).collect()
}

/// Did another program write `true` for `on`? Reports it.
fn refuse_true_for_on(collector: &mut Collector, entries: &[Entry]) -> bool {
    let true_entry = entries.iter().find(|entry| entry.key.text == "true");
    let (None, Some(entry)) = (shape::get(entries, "on"), true_entry) else { return false };
    collector.mistake(
        "unknown-key",
        "unknown key `true` in a transition: this was once `on`",
        &entry.key.span,
        "unknown key",
        "a YAML 1.1 program read `on` as `true` and wrote it so: write `\"on\"` instead",
    );
    true
}

/// Reports a name that two transitions have.
pub(super) fn check_names(collector: &mut Collector, read: &ReadTransitions) {
    let mut seen: HashMap<&str, TransitionId> = HashMap::new();
    for (number, name) in read.names.numbered() {
        let Some(name) = name else { continue };
        let Some(first) = seen.insert(name, number) else { continue };
        let diagnostic =
            Diagnostic::error("duplicate-declaration", format!("two transitions are called `{name}`"))
                .at(collector.origin(&read.places[number].name), "the second one")
                .at(collector.origin(&read.places[first].name), "the first one")
                .help("a path names transitions: give each a name of its own");
        collector.push(diagnostic);
    }
}
