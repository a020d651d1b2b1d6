//! `in_any_order`: several steps, each taken once, in any order.
//!
//! Systems send replies that belong together in no fixed order: a notice and an acknowledgement, a line for
//! each of two clients. A modeller would write the product of the steps, with a location for each set of
//! steps that have been taken. It is written out here: for `n` steps `2^n - 2` locations between `from` and
//! `to`, and `n * 2^(n-1)` transitions. Therefore there are at most [`MOST`] steps. Guards and assignments of
//! a step are evaluated in the state in which it is taken, so a step may depend on steps before it.

use crate::iosts::{LocationId, Transition};
use crate::reader::collect::Collector;
use crate::reader::declarations::ReadLocations;
use crate::reader::shape;
use crate::reader::surroundings::Surroundings;
use crate::reader::transition_body::{
    TimedBody, TransitionBody, TransitionEnds, TransitionPlaces, read_ends, read_steps,
};
use crate::reader::yaml::{Entry, NodeKind, Yaml};

/// The most steps that may come in any order.
const MOST: usize = 6;

const KEYS: [&str; 3] = ["from", "to", "in_any_order"];
const STEP_KEYS: [&str; 4] = ["on", "when", "assign", "reset"];
const LIKE: &str = "{ from: Saving, to: Idle, in_any_order: [{ on: Saved }, { on: Told }] }";

/// Writes out the transitions of one item with `in_any_order`. There are none if it has a mistake, which has
/// been reported.
pub fn read_any_order(
    collector: &mut Collector,
    node: &Yaml,
    entries: &[Entry],
    context: &Surroundings<'_>,
    locations: &mut ReadLocations,
) -> Vec<(Transition, TransitionPlaces, TimedBody)> {
    shape::check_keys(collector, entries, &KEYS, "a transition with `in_any_order`");
    let ends = read_ends(collector, node, entries, locations, LIKE);
    let Some(list) = shape::get(entries, "in_any_order") else { return Vec::new() };
    let Some(items) = shape::list(collector, list, "`in_any_order`", LIKE) else { return Vec::new() };
    if !(2..=MOST).contains(&items.len()) {
        let message = format!("`in_any_order` takes 2 to {MOST} steps, not {}", items.len());
        let help = "write one step as an ordinary transition; of too many, fix the order of some";
        collector.mistake("any-order", message, &list.head(), "its steps", help);
        return Vec::new();
    }
    let errors_before = collector.errors();
    let mut steps: Vec<(TransitionBody, TimedBody)> = Vec::new();
    for item in items {
        let NodeKind::Mapping(entries) = &item.kind else {
            let like = "{ on: Saved, when: pCount == vCount }";
            shape::wrong_kind(collector, item, "a step", "a mapping", like);
            continue;
        };
        shape::check_keys(collector, entries, &STEP_KEYS, "a step of `in_any_order`");
        // There are no sets of actions here, so a step has one action.
        if let Some((read, timed_body)) = read_steps(collector, item, entries, context) {
            steps.extend(read.into_iter().map(|step| (step, timed_body.clone())));
        }
    }
    let (Some(ends), true) = (ends, collector.errors() == errors_before) else { return Vec::new() };
    write_out(collector, &steps, &ends, context, locations)
}

/// Writes out the orders of the steps, with a location for each set of steps that have been taken. The bits
/// of a set's number say which steps these are.
fn write_out(
    collector: &mut Collector,
    steps: &[(TransitionBody, TimedBody)],
    ends: &TransitionEnds<'_>,
    context: &Surroundings<'_>,
    locations: &mut ReadLocations,
) -> Vec<(Transition, TransitionPlaces, TimedBody)> {
    let all = (1_usize << steps.len()) - 1;
    let mut location_of_set: Vec<LocationId> = vec![ends.source];
    for taken in 1..all {
        let mut name = ends.from.text.clone();
        for (number, (step, _)) in steps.iter().enumerate() {
            if taken & (1 << number) != 0 {
                name = name + "'" + &context.actions.actions[step.action()].name;
            }
        }
        location_of_set.push(locations.add_between(collector, name, ends.from));
    }
    location_of_set.push(ends.target);
    let mut transitions = Vec::new();
    for taken in 0..all {
        for (number, (step, timed_body)) in steps.iter().enumerate() {
            if taken & (1 << number) == 0 {
                let (source, target) = (location_of_set[taken], location_of_set[taken | (1 << number)]);
                let (transition, places) = step.between(ends, source, target);
                transitions.push((transition, places, timed_body.clone()));
            }
        }
    }
    transitions
}
