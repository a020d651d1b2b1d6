//! Recorded traces: a skeleton of a specification, from what a system was seen to do.
//!
//! [`mod@read`] takes the traces from JSON lines, [`values`] finds types for their values, [`mod@learn`]
//! merges what looks alike, [`mod@generalize`] finds guards.

pub mod generalize;
pub mod learn;
pub mod read;
pub mod recorded;
pub mod values;

use std::collections::BTreeMap;

use coreach_model::iosts::{Action, Iosts, Location, Transition, TransitionOrigin};
use coreach_model::numbered::Numbered;
use coreach_model::reader::collect::Collector;
use coreach_model::{ActionId, Diagnostic, LocationId, budget};

use crate::finish::Model;
use crate::options::Options;
use recorded::RecordedTraces;

/// The model of a file.
pub fn read(collector: &mut Collector, options: &Options) -> Option<Model> {
    let recorded = read::read(collector, options)?;
    if collector.errors() > 0 {
        return None;
    }
    let named = values::named(collector, &recorded)?;
    let learned = learn::learn(&recorded, options.tails);
    let found = generalize::generalize(&recorded, &named, &learned);
    let mut transitions = Numbered::new();
    for (number, step) in learned.steps.iter().enumerate() {
        budget::ask();
        let event = &recorded.traces[step.first.0][step.first.1];
        transitions.push(Transition {
            source: LocationId(step.source),
            action: ActionId(u32::try_from(step.action).ok()?),
            guard: found.guards[number].clone(),
            assignments: found.assignments(step.action),
            target: LocationId(step.target),
            origin: TransitionOrigin { whole: Some(collector.origin(&event.span)), ..Default::default() },
        });
    }
    let locations = (0..learned.locations).map(|number| Location::named(format!("q{number}"))).collect();
    let actions = recorded
        .actions
        .iter()
        .zip(&named.actions)
        .map(|(known, (name, parameters))| Action {
            name: name.clone(),
            kind: known.kind,
            parameters: parameters.clone(),
        })
        .collect();
    let iosts = Iosts {
        name: String::new(),
        constants: Vec::new(),
        variables: found.variables(),
        initial_condition: found.initial_condition(),
        initial: LocationId(0),
        locations,
        actions,
        transitions,
        origin: None,
    };
    told(collector, &recorded, &learned);
    Some(Model { iosts, types: named.types, time: None, open: Vec::new() })
}

/// What the skeleton is, in figures, and what it is not.
fn told(collector: &mut Collector, recorded: &RecordedTraces, learned: &learn::Learned) {
    let events: usize = recorded.traces.iter().map(Vec::len).sum();
    let message = format!(
        "a skeleton of {} with {}: {}, {}",
        plural(recorded.traces.len(), "trace"),
        plural(events, "event"),
        plural(learned.locations as usize, "location"),
        plural(learned.steps.len(), "transition")
    );
    let found = Diagnostic::warning("skeleton", message)
        .note("it allows all that was recorded, and more; what was not recorded may be missing")
        .help("read it, and say what you know: which outputs are due, what guards mean");
    collector.push(found);
    // Two ways with one event: which one is meant, the next events tell, or nothing does.
    let mut seen: BTreeMap<(u32, usize), usize> = BTreeMap::new();
    for step in &learned.steps {
        *seen.entry((step.source, step.action)).or_default() += 1;
    }
    let choices = seen.values().filter(|count| **count > 1).count();
    if choices > 0 {
        let message = format!("one event leads on in several ways: {}", plural(choices, "case"));
        let found = Diagnostic::warning("choices", message);
        collector.push(found.help("another number of --tails merges more, or less"));
    }
}

/// `1 trace`, `2 traces`
fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
