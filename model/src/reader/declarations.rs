//! The declarations of a model: its data, its actions, its locations and its initial state.

use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

use crate::data::Datum;
use crate::diagnostic::{Diagnostic, Origin};
use crate::iosts::{Action, ActionId, ActionKind, Location, LocationId};
use crate::numbered::Numbered;
use crate::reader::collect::{Collector, article};
use crate::reader::lexer;
use crate::reader::scope::{Meaning, Names, Scope};
use crate::reader::shape;
use crate::reader::types::{Types, report_type_name};
use crate::reader::typing::read_expression;
use crate::reader::yaml::{Entry, NodeKind, Scalar, Yaml};
use crate::term::Term;
use crate::timed;
use crate::types::Type;

/// Reads `variables:` or `constants:` into the names, and returns the data in the order of the file.
pub fn read_data(
    collector: &mut Collector,
    entries: &[Entry],
    section: &'static str,
    types: &mut Types,
    names: &mut Names,
) -> Vec<Datum> {
    let kind = section.trim_end_matches('s');
    let mut data = Vec::new();
    let Some(node) = shape::get(entries, section) else { return data };
    let like = format!("{section}: {{ vPaid: int }}");
    let Some(entries) = shape::mapping(collector, node, &format!("`{section}`"), &like) else { return data };
    shape::check_distinct(collector, entries, "duplicate-declaration", kind);
    for entry in shape::first_entries(entries) {
        if collector.is_full() {
            break;
        }
        if !shape::is_name(collector, &entry.key, kind) {
            continue;
        }
        let name = &entry.key.text;
        if is_taken(collector, &entry.key, kind, names) {
            continue;
        }
        let meaning = match types.read(collector, &entry.value, &format!("the {kind} `{name}`")) {
            None => Meaning::Broken,
            Some(ty) => {
                let datum = Datum::new(name.clone(), ty);
                data.push(datum.clone());
                if kind == "variable" { Meaning::Variable(datum) } else { Meaning::Constant(datum) }
            }
        };
        names.add(name, meaning, Some(collector.origin(&entry.key.span)));
    }
    data
}

/// Is the name that of a type, or of something that is declared or observed already? Reports it.
fn is_taken(collector: &mut Collector, name: &Scalar, kind: &str, names: &Names) -> bool {
    if report_type_name(collector, name, kind) {
        return true;
    }
    let Some((meaning, first)) = names.get(&name.text) else { return false };
    let owner = article(&meaning.describe());
    let message = format!("the {kind} `{}` has the same name as {owner}", name.text);
    let (code, label, help) = match meaning {
        Meaning::Observed(_) => (
            "capture",
            "observed here",
            "the observed datum belongs to the specification: rename the purpose's own",
        ),
        _ => (
            "duplicate-name",
            "first declared here",
            "variables, constants and the literals of enumerations share one namespace",
        ),
    };
    let diagnostic = Diagnostic::error(code, message)
        .at(collector.origin(&name.span), "declared again")
        .at(first.clone(), label)
        .help(help);
    collector.push(diagnostic);
    true
}

/// Whether the tester sends an input, and the place in the file that says so.
type Controllable = (bool, Range<usize>);

#[derive(Debug, Default)]
pub struct Actions {
    /// Inputs, outputs, internals, each in the order of the file.
    pub actions: Numbered<ActionId, Action>,
    /// For each action, its parameters. A parameter whose type is broken has no datum.
    pub parameters: Numbered<ActionId, Vec<(String, Option<Datum>)>>,
    pub origins: Numbered<ActionId, Option<Origin>>,
    /// For each input with `controllable:`, whether the tester sends it.
    pub controllable: BTreeMap<ActionId, Controllable>,
    index: HashMap<String, ActionId>,
}

impl Actions {
    /// The actions of a model that is already read.
    pub fn of(read: &[Action]) -> Self {
        let mut actions = Actions::default();
        for action in read {
            let parameters =
                action.parameters.iter().map(|p| (p.name().to_owned(), Some(p.clone()))).collect();
            actions.add(action.clone(), parameters, None);
        }
        actions
    }

    pub fn find(&self, name: &str) -> Option<ActionId> {
        self.index.get(name).copied()
    }

    fn add(&mut self, action: Action, parameters: Vec<(String, Option<Datum>)>, origin: Option<Origin>) {
        self.index.insert(action.name.clone(), self.actions.next_number());
        self.actions.push(action);
        self.parameters.push(parameters);
        self.origins.push(origin);
    }
}

/// Reads `clocks:` into the names, and returns them in the order of the file.
pub fn read_clocks(collector: &mut Collector, entries: &[Entry], names: &mut Names) -> Vec<Datum> {
    let mut clocks: Vec<Datum> = Vec::new();
    let like = "clocks: [wclock]";
    let Some(node) = shape::get(entries, "clocks") else { return clocks };
    let Some(items) = shape::list(collector, node, "`clocks`", like) else { return clocks };
    for item in items {
        if collector.is_full() {
            break;
        }
        let Some(name) = shape::scalar(collector, item, "a clock", like) else { continue };
        if !shape::is_name(collector, name, "clock") {
            continue;
        }
        if !is_taken(collector, name, "clock", names) {
            let clock = timed::clock(name.text.clone());
            clocks.push(clock.clone());
            names.add(&name.text, Meaning::Clock(clock), Some(collector.origin(&name.span)));
        }
    }
    clocks
}

/// Reads `inputs:`, `outputs:` and `internals:`. Adds the parameters to the names, for messages.
pub fn read_actions(
    collector: &mut Collector,
    entries: &[Entry],
    types: &mut Types,
    names: &mut Names,
) -> Actions {
    let mut actions = Actions::default();
    let sections =
        [("inputs", ActionKind::Input), ("outputs", ActionKind::Output), ("internals", ActionKind::Internal)];
    for (section, kind) in sections {
        let Some(node) = shape::get(entries, section) else { continue };
        // An internal action has no parameters, and may be in a list.
        if kind != ActionKind::Internal
            && let Some(signatures) = refuse_signatures(collector, section, node)
        {
            for (name, parameters) in signatures {
                // The types are not read, so the parameters have no data.
                let parameters = parameters.into_iter().map(|(name, _)| (name, None)).collect();
                let action = Action { name, kind, parameters: Vec::new() };
                if actions.find(&action.name).is_none() {
                    actions.add(action, parameters, Some(collector.origin(&node.head())));
                }
            }
            continue;
        }
        let mut declare = |collector: &mut Collector, name: &Scalar, node: Option<&Yaml>| {
            declare_action(collector, name, node, kind, types, names, &mut actions);
        };
        match &node.kind {
            NodeKind::Sequence(items) => {
                for item in items {
                    if collector.is_full() {
                        break;
                    }
                    if let Some(name) = shape::scalar(collector, item, "an action", "internals: [tau]") {
                        declare(collector, name, None);
                    }
                }
            }
            NodeKind::Mapping(entries) => {
                shape::check_distinct(collector, entries, "duplicate-declaration", "action");
                for entry in shape::first_entries(entries) {
                    if collector.is_full() {
                        break;
                    }
                    declare(collector, &entry.key, Some(&entry.value));
                }
            }
            NodeKind::Scalar(_) if node.is_nothing() => {}
            NodeKind::Scalar(_) => {
                let is_internal = kind == ActionKind::Internal;
                let like = if is_internal { "internals: [tau]" } else { "Coin: { pCoinValue: int }" };
                shape::wrong_kind(collector, node, &format!("`{section}`"), "a mapping of actions", like);
            }
        }
    }
    actions
}

/// Reports a list of actions with parameters, and actions that are written as `Bid(amount: int)`. Returns
/// those that can be read, or `None` if nothing is wrong.
fn refuse_signatures(collector: &mut Collector, section: &str, node: &Yaml) -> Option<Vec<lexer::Signature>> {
    let entry_span = |entry: &Entry| entry.key.span.start..entry.value.span.end.max(entry.key.span.end);
    let action_spans = |node: &Yaml| match &node.kind {
        NodeKind::Mapping(entries) => entries.iter().map(entry_span).collect(),
        NodeKind::Scalar(_) | NodeKind::Sequence(_) => vec![node.span.clone()],
    };
    // The places of all actions, and whether a list has some with parameters below them.
    let (spans, has_mapping) = match &node.kind {
        NodeKind::Scalar(_) => return None,
        NodeKind::Mapping(_) => (action_spans(node), false),
        NodeKind::Sequence(items) => (
            items.iter().flat_map(|item| action_spans(item)).collect(),
            items.iter().any(|item| matches!(item.kind, NodeKind::Mapping(_))),
        ),
    };
    let file = collector.file.clone();
    let text = |span: &Range<usize>| file.text[span.clone()].trim_end();
    // `Bid(amount: int)`
    let is_called = |span: &Range<usize>| text(span).split(':').next().is_some_and(|name| name.contains('('));
    let wrong = spans.iter().find(|span| is_called(span) || (has_mapping && text(span).contains(':')))?;
    let signatures: Vec<lexer::Signature> =
        spans.iter().filter_map(|span| lexer::read_signature(text(span))).collect();
    let help = match signatures.len() == spans.len() && signatures.len() <= 30 {
        true => format!(
            "write `{section}: {{ {} }}`",
            signatures.iter().map(lexer::write_signature).collect::<Vec<_>>().join(", ")
        ),
        false => format!("write `{section}` as a mapping, as in `Coin: {{ pCoinValue: int }}`"),
    };
    let message = match node.kind {
        NodeKind::Sequence(_) => format!("actions of `{section}` with parameters cannot be in a list"),
        _ => format!("the parameters of an action of `{section}` must be a mapping"),
    };
    let line = wrong.start..wrong.start + text(wrong).lines().next().map_or(0, str::len);
    collector.mistake("wrong-kind", message, &line, "expected a mapping of parameters", help);
    Some(signatures)
}

/// Declares one action with its parameters, unless its name is taken.
fn declare_action(
    collector: &mut Collector,
    name: &Scalar,
    node: Option<&Yaml>,
    kind: ActionKind,
    types: &mut Types,
    names: &mut Names,
    actions: &mut Actions,
) {
    if !shape::is_name(collector, name, "action") {
        return;
    }
    let origin = collector.origin(&name.span);
    if let Some(first) = actions.find(&name.text) {
        let message = format!("the action `{}` is declared twice", name.text);
        let diagnostic = Diagnostic::error("duplicate-declaration", message)
            .at(origin, "declared again")
            .at(actions.origins[first].clone(), "first declared here")
            .help("inputs, outputs and internals share one namespace");
        collector.push(diagnostic);
        return;
    }
    let (parameters, controllable) = match node {
        Some(node) => read_parameters(collector, node, name, types, names),
        None => (Vec::new(), None),
    };
    if let Some((is_controllable, place)) = controllable {
        if kind != ActionKind::Input {
            let message = format!("`{}` is not an input", name.text);
            let help = "a tester sends inputs, never outputs: remove this";
            collector.mistake("controllable-output", message, &place, "only for inputs", help);
        }
        actions.controllable.insert(actions.actions.next_number(), (is_controllable, place));
    }
    if let (ActionKind::Internal, Some(node), false) = (kind, node, parameters.is_empty()) {
        let message = format!("the internal action `{}` has parameters", name.text);
        let label = "an internal action carries no values";
        let help = "make it an input or an output, or list it without parameters: `internals: [tau]`";
        collector.mistake("internal-with-parameters", message, &node.head(), label, help);
    }
    let data = parameters.iter().filter_map(|(_, datum)| datum.clone()).collect();
    actions.add(Action { name: name.text.clone(), kind, parameters: data }, parameters, Some(origin));
}

/// Reads `controllable:` or `uncontrollable:`. `None` after a mistake, which has been reported.
fn read_attribute(collector: &mut Collector, entry: &Entry) -> Option<Controllable> {
    let key = entry.key.text.as_str();
    let value = shape::scalar(collector, &entry.value, &format!("`{key}`"), "controllable: false")?;
    if let "true" | "false" = value.text.as_str() {
        let is_controllable = (value.text == "true") == (key == "controllable");
        return Some((is_controllable, entry.key.span.clone()));
    }
    let message = format!("`{key}` must be `true` or `false`, not `{}`", value.text);
    let help = "write `controllable: false` for an input that the tester sees but does not send";
    collector.mistake("not-a-truth-value", message, &value.span, "expected `true` or `false`", help);
    None
}

/// Reads the parameters of an action, and whether the tester sends it. A parameter of a broken type has no
/// datum. The long form has the parameters under a key of their own, next to attributes.
fn read_parameters(
    collector: &mut Collector,
    node: &Yaml,
    action: &Scalar,
    types: &mut Types,
    names: &mut Names,
) -> (Vec<(String, Option<Datum>)>, Option<Controllable>) {
    let mut parameters = Vec::new();
    let mut controllable = None;
    let what = format!("the parameters of `{}`", action.text);
    // If this is no mapping, the example shows the name or the type that is given in its place.
    let text = |node: &Yaml| node.as_scalar().map(|scalar| scalar.text.clone());
    let parameter = match &node.kind {
        NodeKind::Sequence(items) => {
            items.first().and_then(|first| text(first)).map(|name| format!("{name}: int"))
        }
        _ => text(node).map(|ty| format!("p: {ty}")),
    };
    let like = format!("{}: {{ {} }}", action.text, parameter.unwrap_or_else(|| "p: int".to_owned()));
    let Some(mut entries) = shape::mapping(collector, node, &what, &like) else {
        return (parameters, controllable);
    };
    // The long form has attributes, which only timed models know.
    let is_attribute = |entry: &&Entry| matches!(entry.key.text.as_str(), "controllable" | "uncontrollable");
    for entry in entries.iter().filter(is_attribute) {
        controllable = read_attribute(collector, entry).or(controllable);
    }
    // The parameters stand under their key in the long form, and beside attributes in the short one.
    let without_attributes: Vec<Entry>;
    let long_form = shape::get(entries, "parameters");
    if let Some(node) = long_form.filter(|node| matches!(node.kind, NodeKind::Mapping(_))) {
        let known = ["parameters", "controllable"];
        shape::check_keys_beside(collector, entries, &known, &["uncontrollable"], "an action");
        entries = shape::mapping(collector, node, &what, "parameters: { p: int }").unwrap_or(&[]);
    } else if entries.iter().any(|entry| is_attribute(&entry)) {
        without_attributes = entries.iter().filter(|entry| !is_attribute(entry)).cloned().collect();
        entries = &without_attributes;
    }
    shape::check_distinct(collector, entries, "duplicate-declaration", "parameter");
    for entry in shape::first_entries(entries) {
        if collector.is_full() {
            break;
        }
        if !shape::is_name(collector, &entry.key, "parameter") {
            continue;
        }
        let name = &entry.key.text;
        if report_type_name(collector, &entry.key, "parameter") {
            continue;
        }
        if let Some((meaning, first)) = names.get(name) {
            let owner = article(&meaning.describe());
            let message = format!("the parameter `{name}` of `{}` has the same name as {owner}", action.text);
            let mut diagnostic = Diagnostic::error("parameter-clash", message)
                .at(collector.origin(&entry.key.span), "the parameter")
                .at(first.clone(), "declared here")
                .help("rename one of them: a guard could not tell them apart");
            if let Meaning::Variable(_) = meaning {
                let rest = name.strip_prefix('v').filter(|rest| rest.starts_with(char::is_uppercase));
                let new = rest.map_or_else(|| format!("p_{name}"), |rest| format!("p{rest}"));
                diagnostic = diagnostic.note(format!(
                    "a message sets a variable by its transition: name the parameter `{new}`, and write `assign: {{ {name}: \
                     {new} }}` there"
                ));
            }
            collector.push(diagnostic);
        }
        let ty = types.read(collector, &entry.value, &format!("the parameter `{name}`"));
        names.add_elsewhere(name, format!("a parameter of `{}`", action.text));
        parameters.push((name.clone(), ty.map(|ty| Datum::new(name.clone(), ty))));
    }
    (parameters, controllable)
}

#[derive(Debug, Default)]
pub struct ReadLocations {
    /// In the order of `locations:`, or of their first appearance.
    pub locations: Numbered<LocationId, Location>,
    /// The place where each location is first named.
    pub origins: Numbered<LocationId, Option<Origin>>,
    /// Does some transition or the initial state use it?
    pub used: Numbered<LocationId, bool>,
    /// Are they listed under `locations:`?
    pub declared: bool,
    index: HashMap<String, LocationId>,
}

impl ReadLocations {
    fn add(&mut self, location: Location, origin: Option<Origin>) -> LocationId {
        self.index.insert(location.name.clone(), self.locations.next_number());
        self.origins.push(origin);
        self.used.push(false);
        self.locations.push(location)
    }

    pub fn find(&self, name: &str) -> Option<LocationId> {
        self.index.get(name).copied()
    }

    /// Adds a location between two steps of `from`, with this name or nearly this name.
    pub(super) fn add_between(&mut self, collector: &Collector, name: String, from: &Scalar) -> LocationId {
        let mut free = name.clone();
        let mut number = 1;
        while self.find(&free).is_some() {
            number += 1;
            free = format!("{name}'{number}");
        }
        let location = self.add(Location::named(free), Some(collector.origin(&from.span)));
        self.used[location] = true;
        location
    }

    /// The location that a scalar names. It is added if locations need no declaration.
    pub fn find_or_add(&mut self, collector: &mut Collector, name: &Scalar) -> Option<LocationId> {
        let location = match self.find(&name.text) {
            Some(id) => id,
            None if !shape::is_name(collector, name, "location") => return None,
            None if self.declared => {
                let known = || self.locations.iter().map(|location| location.name.as_str());
                let help = collector.suggest(&name.text, "locations", known);
                let message = format!("unknown location `{}`", name.text);
                let label = "not listed under `locations:`";
                collector.mistake("unknown-location", message, &name.span, label, help);
                return None;
            }
            None => self.add(Location::named(name.text.clone()), Some(collector.origin(&name.span))),
        };
        self.used[location] = true;
        Some(location)
    }
}

/// Reads `locations:`. Without that section, locations need no declaration.
pub fn read_locations(collector: &mut Collector, entries: &[Entry]) -> ReadLocations {
    let mut locations = ReadLocations::default();
    let Some(node) = shape::get(entries, "locations") else { return locations };
    match &node.kind {
        NodeKind::Sequence(items) => {
            for item in items {
                if collector.is_full() {
                    break;
                }
                if let Some(name) = shape::scalar(collector, item, "a location", "locations: [Begin, Idle]") {
                    add_location(collector, &mut locations, name, None);
                }
            }
        }
        NodeKind::Mapping(entries) => {
            for entry in entries {
                if collector.is_full() {
                    break;
                }
                add_location(collector, &mut locations, &entry.key, Some(&entry.value));
            }
        }
        NodeKind::Scalar(_) if node.is_nothing() => return locations,
        NodeKind::Scalar(_) => {
            shape::wrong_kind(collector, node, "`locations`", "a list of names", "locations: [Begin, Idle]");
            return locations;
        }
    }
    locations.declared = true;
    locations
}

/// Adds a listed location, with its label and its description.
fn add_location(
    collector: &mut Collector,
    locations: &mut ReadLocations,
    name: &Scalar,
    node: Option<&Yaml>,
) {
    if !shape::is_name(collector, name, "location") {
        return;
    }
    let origin = collector.origin(&name.span);
    if let Some(first) = locations.find(&name.text) {
        let message = format!("the location `{}` is listed twice", name.text);
        let diagnostic = Diagnostic::error("duplicate-declaration", message)
            .at(origin, "the second time")
            .at(locations.origins[first].clone(), "the first time");
        collector.push(diagnostic);
        return;
    }
    let mut location = Location::named(name.text.clone());
    let like = "Idle: waits for coins";
    match node {
        None => {}
        Some(node) if node.is_nothing() => {}
        Some(node) => match &node.kind {
            NodeKind::Scalar(text) => location.description = Some(text.text.clone()),
            NodeKind::Mapping(entries) => {
                shape::check_keys(collector, entries, &["label", "description"], "a location");
                for entry in shape::first_entries(entries) {
                    let Some(text) =
                        shape::scalar(collector, &entry.value, &format!("`{}`", entry.key.text), like)
                    else {
                        continue;
                    };
                    match entry.key.text.as_str() {
                        "label" => location.label = text.text.clone(),
                        "description" => location.description = Some(text.text.clone()),
                        _ => {}
                    }
                }
            }
            NodeKind::Sequence(_) => {
                shape::wrong_kind(collector, node, "the description of a location", "text", like)
            }
        },
    }
    locations.add(location, Some(origin));
}

#[derive(Debug)]
pub struct ReadInitial {
    /// l0
    pub location: Option<LocationId>,
    /// Θ
    pub condition: Option<Term>,
    pub origin: Option<Origin>,
}

/// Reads `initial:`, with its location and its condition.
pub fn read_initial(
    collector: &mut Collector,
    root: &Yaml,
    entries: &[Entry],
    names: &Names,
    locations: &mut ReadLocations,
) -> ReadInitial {
    let mut initial = ReadInitial { location: None, condition: None, origin: None };
    let like = "initial: { location: Begin }";
    let Some(node) = shape::get(entries, "initial") else {
        shape::missing_key(collector, root, "initial", "the model", like);
        return initial;
    };
    let NodeKind::Mapping(entries) = &node.kind else {
        // A name alone is meant as the location. A condition may stand beside it, outside of `initial`.
        let location = node.as_scalar().filter(|scalar| lexer::is_name(&scalar.text));
        let condition =
            shape::get(entries, "condition").and_then(|node| shape::write_in_braces(collector, node));
        if let (Some(location), Some(condition)) = (location, condition) {
            let message = "`initial` must be a mapping, but this is text";
            let both = format!("initial: {{ location: {}, condition: {condition} }}", location.text);
            let help = format!("write `{both}` in place of this line and that of `condition`");
            collector.mistake("wrong-kind", message, &node.head(), "expected a mapping", help);
            return initial;
        }
        let meant = location.map(|location| format!("initial: {{ location: {} }}", location.text));
        shape::wrong_kind(collector, node, "`initial`", "a mapping", meant.as_deref().unwrap_or(like));
        return initial;
    };
    shape::check_keys(collector, entries, &["location", "condition"], "`initial`");
    match shape::get(entries, "location") {
        None => shape::missing_key(collector, node, "location", "`initial`", like),
        Some(node) => {
            if let Some(name) = shape::scalar(collector, node, "`location`", like) {
                initial.location = locations.find_or_add(collector, name);
            }
        }
    }
    initial.condition = match shape::get(entries, "condition") {
        None => {
            initial.origin = Some(collector.origin(&node.head()));
            Some(Term::yes())
        }
        Some(node) => {
            initial.origin = Some(collector.origin(&node.span));
            read_expression(collector, node, Scope::of(names), &Type::Bool, "the initial condition")
        }
    };
    initial
}

/// Reads the name under a key. `None` if the key is missing, which others report, or if it holds no name.
pub fn read_name(collector: &mut Collector, entries: &[Entry], key: &str) -> Option<(String, Range<usize>)> {
    let node = shape::get(entries, key)?;
    let like = format!("{key}: coffee_machine");
    let name = shape::scalar(collector, node, &format!("`{key}`"), &like)?;
    shape::is_name(collector, name, "model").then(|| (name.text.clone(), name.span.clone()))
}
