//! A specification: the file that begins with `iosts:`. With `clocks:` beside it, it is a timed
//! specification.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::diagnostic::SourceFile;
use crate::iosts::{ActionId, Iosts};
use crate::reader::collect::Collector;
use crate::reader::declarations::{
    ReadLocations, read_actions, read_clocks, read_data, read_initial, read_locations, read_name,
};
use crate::reader::functions::read_functions;
use crate::reader::imports::read_imports;
use crate::reader::scope::{NamedExpression, Names};
use crate::reader::surroundings::Surroundings;
use crate::reader::transitions::{ReadTransitions, check_names, read_transitions};
use crate::reader::types::{Types, read_types, report_timed};
use crate::reader::yaml::{Entry, NodeKind, Yaml};
use crate::reader::{Reading, compose, graph, shape, yaml};
use crate::timed::{Clocks, Timed};
use crate::types::Type;

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Specification {
    pub iosts: Iosts,
    /// The types that `types:` declares or that are imported, in the order of the files.
    pub types: Vec<(String, Type)>,
    /// The functions that `functions:` declares or that are imported.
    pub functions: Vec<NamedExpression>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TimedSpecification {
    pub timed: Timed,
    /// As in [`Specification`].
    pub types: Vec<(String, Type)>,
    pub functions: Vec<NamedExpression>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AnySpecification {
    Untimed(Specification),
    /// With `clocks:`.
    Timed(TimedSpecification),
}

const KEYS: [&str; 13] = [
    "iosts",
    "import",
    "clocks",
    "types",
    "constants",
    "variables",
    "functions",
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
    run_reader(file, |collector| {
        let (specification, time) = read_parsed_specification(collector, Accepted::Untimed, 0)?;
        time.is_none().then_some(specification)
    })
}

/// Reads a part of a composition at this depth, with its clocks if the composition may be timed.
pub(super) fn read_nested(file: Arc<SourceFile>, depth: usize, may_be_timed: bool) -> Reading<ReadSpec> {
    let wanted = if may_be_timed { Accepted::Any } else { Accepted::Untimed };
    run_reader(file, |collector| read_parsed_specification(collector, wanted, depth))
}

/// Reads a timed specification and checks all that needs no solver. It may have no clocks.
pub fn read_timed_specification(file: Arc<SourceFile>) -> Reading<TimedSpecification> {
    run_reader(file, |collector| {
        let (specification, time) = read_parsed_specification(collector, Accepted::Timed, 0)?;
        Some(specification.with_time(time.unwrap_or_default()))
    })
}

/// Reads a specification, which is timed if it declares clocks, and checks all that needs no solver.
pub fn read_any_specification(file: Arc<SourceFile>) -> Reading<AnySpecification> {
    run_reader(file, |collector| {
        let (specification, time) = read_parsed_specification(collector, Accepted::Any, 0)?;
        Some(match time {
            Some(time) => AnySpecification::Timed(specification.with_time(time)),
            None => AnySpecification::Untimed(specification),
        })
    })
}

/// Runs a reader. Its result counts only if it found no mistake.
fn run_reader<T>(file: Arc<SourceFile>, read: impl FnOnce(&mut Collector) -> Option<T>) -> Reading<T> {
    let mut collector = Collector::new(file);
    let specification = read(&mut collector);
    collector.ended(specification)
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Accepted {
    Untimed,
    Timed,
    /// Timed if it declares clocks, otherwise untimed.
    Any,
}

/// The part of a timed model that is not in its graph: its clocks, and the inputs that the tester does not
/// send.
pub(super) type TimedPart = (Clocks, BTreeSet<ActionId>);

/// A specification, and its clocks and uncontrollable inputs if it may be timed.
pub(super) type ReadSpec = (Specification, Option<TimedPart>);

impl Specification {
    fn with_time(self, (clocks, uncontrollable): TimedPart) -> TimedSpecification {
        let Specification { iosts, types, functions } = self;
        TimedSpecification { timed: Timed::new(iosts, clocks, uncontrollable), types, functions }
    }
}

/// Reads a specification or a composition, and checks its graph. Mistakes go to the collector.
fn read_parsed_specification(collector: &mut Collector, wanted: Accepted, depth: usize) -> Option<ReadSpec> {
    let root = yaml::parse(collector)?;
    let entries = entries_of_kind(collector, &root, "iosts")?;
    if shape::get(entries, "compose").is_some() {
        let (name, _) = read_name(collector, entries, "iosts")?;
        let (whole, (clocks, uncontrollable)) =
            compose::read_composition(collector, entries, &name, (depth, wanted != Accepted::Untimed))?;
        let is_timed = wanted == Accepted::Timed || !clocks.clocks.is_empty();
        return Some((whole, is_timed.then_some((clocks, uncontrollable))));
    }
    let clocks_entry = entries.iter().find(|entry| entry.key.text == "clocks");
    let is_timed = match wanted {
        Accepted::Untimed => false,
        Accepted::Timed => true,
        Accepted::Any => clocks_entry.is_some(),
    };
    if let (false, Some(entry)) = (is_timed, clocks_entry) {
        let message = "this is a timed model, but a model without time is needed here";
        let help = "`coreach timed` and `coreach run` read timed models";
        collector.mistake("timed-model", message, &entry.key.span, "it declares clocks", help);
    }
    shape::check_keys(collector, entries, &KEYS, "a specification");
    if shape::has_misplaced(collector, entries, &KEYS) {
        return None;
    }
    // The declarations, each with the names that are known before it.
    let name = read_name(collector, entries, "iosts");
    let mut names = Names::default();
    let mut types = Types::default();
    read_imports(collector, entries, &mut types, &mut names);
    if let Some(node) = shape::get(entries, "types") {
        read_types(collector, node, &mut types, &mut names);
    }
    let declared = types.in_order();
    names.types.clone_from(&declared);
    let constants = read_data(collector, entries, "constants", &mut types, &mut names);
    let variables = read_data(collector, entries, "variables", &mut types, &mut names);
    let actions = read_actions(collector, entries, &mut types, &mut names);
    let mut locations = read_locations(collector, entries);
    note_other_names(&mut names, &actions.actions, &locations, &declared);
    note_clocks(entries, &mut names);
    read_functions(collector, entries, &mut types, &mut names);
    let initial = read_initial(collector, &root, entries, &names, &mut locations);
    // Clocks are not known before this, since an initial condition cannot mention clocks, which begin at 0.
    let clocks = read_clocks(collector, entries, &mut names);
    // Clocks that a model may not have are reported above. Their use is no second mistake.
    let knows_time = is_timed || clocks_entry.is_some();
    let may_reset = knows_time.then_some(clocks.as_slice());
    let context = Surroundings { names: &names, actions: &actions, takes_sets: false, clocks: may_reset };
    let read = read_transitions(collector, entries, &context, &mut locations);
    check_names(collector, &read);
    let ReadTransitions { transitions, places, resets, names: transition_names } = read;
    if !knows_time {
        for (_, place) in actions.controllable.values() {
            report_timed(collector, place, "inputs that the tester does not send");
        }
    }
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
    // These checks need the complete graph.
    if collector.errors() == 0 {
        let origins = places.map(|place| collector.origin(&place.on));
        let place = |number| origins.find(number).cloned();
        graph::check_livelocks(collector, &iosts, &place, graph::SEE_OR_MERGE);
        graph::check_unused(collector, &iosts, &locations, Some(&actions));
    }
    let unsent = actions.controllable.iter().filter(|(_, (is_sent, _))| !is_sent);
    let uncontrollable = unsent.map(|(action, _)| *action).collect();
    let time = is_timed.then(|| (Clocks { clocks, resets, names: transition_names }, uncontrollable));
    let functions = names.functions().cloned().collect();
    Some((Specification { iosts, types: declared, functions }, time))
}

/// Notes the names of clocks for the message about an initial condition that mentions one.
fn note_clocks(entries: &[Entry], names: &mut Names) {
    let Some(NodeKind::Sequence(items)) = shape::get(entries, "clocks").map(|node| &node.kind) else {
        return;
    };
    for scalar in items.iter().filter_map(|item| item.as_scalar()) {
        names.add_elsewhere(&scalar.text, "a clock, and clocks begin at 0");
    }
}

/// Notes the names of locations, actions and types, for a message about a datum of that name.
fn note_other_names(
    names: &mut Names,
    actions: &[crate::iosts::Action],
    locations: &ReadLocations,
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

/// The entries of the document, which must be of the kind that begins with `key`. `None` after a report of
/// another kind. If only the key is missing, that is reported, and the entries are read all the same.
pub(super) fn entries_of_kind<'a>(
    collector: &mut Collector,
    root: &'a Yaml,
    key: &str,
) -> Option<&'a [Entry]> {
    let kinds = [
        ("iosts", "a specification"),
        ("purpose", "a test purpose"),
        ("property", "a property"),
        ("specification", "a configuration"),
    ];
    let wanted = kinds.iter().find(|(kind, _)| *kind == key).map_or("a model", |(_, what)| what);
    let NodeKind::Mapping(entries) = &root.kind else {
        let message = format!("expected {wanted}, found {}", root.describe());
        let label = format!("expected a mapping with `{key}:`");
        let help = format!("{wanted} begins with `{key}: its_name`");
        collector.mistake("wrong-kind", message, &root.head(), label, help);
        return None;
    };
    if shape::get(entries, key).is_some() {
        return Some(entries);
    }
    for (kind, what) in kinds {
        if let Some(entry) = entries.iter().find(|entry| entry.key.text == kind) {
            let message = format!("expected {wanted}, but this is {what}");
            let label = format!("this begins {what}");
            let help = format!("{wanted} begins with `{key}:`");
            collector.mistake("wrong-kind-of-file", message, &entry.key.span, label, help);
            return None;
        }
    }
    shape::missing_key(collector, root, key, wanted, &format!("{key}: coffee_machine"));
    Some(entries)
}
