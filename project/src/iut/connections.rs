//! Reads `connections`: the connections of a run, and the actions that go over each of them.

use coreach_adapters::description::{Encoding, NamedConnection};
use coreach_model::diagnostic::Diagnostic;
use coreach_model::iosts::{Action, ActionKind};
use coreach_model::reader::collect::listed;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind, Scalar, Yaml};

use super::words::IutReader;

const LIKE: &str = "connections: { a: [SetA, StoredA], b: [GetB, ValueB] }";

/// Returns the names of the connections. Steps need them before the encoding is known.
pub fn connection_names(entries: &[Entry]) -> Vec<String> {
    match shape::get(entries, "connections").map(|node| &node.kind) {
        Some(NodeKind::Mapping(entries)) => {
            shape::first_entries(entries).into_iter().map(|entry| entry.key.text.clone()).collect()
        }
        _ => Vec::new(),
    }
}

/// Reads the connections, each with its actions and their part of the encoding.
pub fn read_connections(
    reader: &mut IutReader<'_>,
    entries: &[Entry],
    encoding: Option<&Encoding>,
) -> Vec<NamedConnection> {
    let Some(node) = shape::get(entries, "connections") else { return Vec::new() };
    let Some(named_lists) = shape::mapping(reader.collector, node, "`connections`", LIKE) else {
        return Vec::new();
    };
    shape::check_distinct(reader.collector, named_lists, "duplicate-key", "connection");
    if named_lists.len() < 2 {
        let help = "remove `connections` if there is only one";
        reader.refuse(node, "`connections` needs at least two", "fewer", help);
    }
    let (mut connections, mut seen_actions): (Vec<NamedConnection>, Vec<&Scalar>) = (Vec::new(), Vec::new());
    let errors_before = reader.collector.errors();
    for entry in shape::first_entries(named_lists) {
        let what = format!("`{}`", entry.key.text);
        let mut actions = Vec::new();
        for item in shape::list(reader.collector, &entry.value, &what, LIKE).unwrap_or(&[]) {
            let Some(scalar) = shape::scalar(reader.collector, item, "an action", LIKE) else { continue };
            if let Some(first) = seen_actions.iter().find(|known| known.text == scalar.text) {
                let message = format!("`{}` can go over one connection only", scalar.text);
                let diagnostic = Diagnostic::error("duplicate-key", message)
                    .at(reader.collector.origin(&scalar.span), "a second one")
                    .at(reader.collector.origin(&first.span), "the first one");
                reader.collector.push(diagnostic);
            }
            check_action(reader, scalar);
            seen_actions.push(scalar);
            actions.push(scalar.text.clone());
        }
        // Each connection has only the patterns of its own actions.
        let encoding = encoding.map_or(Encoding::Json, |encoding| encoding.seeing(&actions));
        connections.push(NamedConnection { name: entry.key.text.clone(), actions, encoding });
    }
    // After a misspelt action, another one would be reported as missing.
    if reader.collector.errors() == errors_before {
        report_missing_actions(reader, node, &seen_actions);
    }
    if let Some(Encoding::Lines(lines)) = encoding {
        let connection_of = |action: &str| {
            connections.iter().position(|connection| connection.actions.iter().any(|name| name == action))
        };
        for (name, shape) in &lines.observations {
            if let Some(then) = shape.then().filter(|then| connection_of(then) != connection_of(name)) {
                let message = format!("`{name}` and its `then`, `{then}`, must go over one connection");
                reader.refuse(node, &message, "over two", "put both into one list");
            }
        }
    }
    connections
}

fn check_action(reader: &mut IutReader<'_>, scalar: &Scalar) {
    let Some(iosts) = reader.iosts else { return };
    if !iosts.actions.iter().any(|action| action.is_visible() && action.name == scalar.text) {
        reader.report_unknown_action(&scalar.text, &scalar.span, "actions", Action::is_visible);
    }
}

/// Reports actions that go over no connection.
fn report_missing_actions(reader: &mut IutReader<'_>, node: &Yaml, seen: &[&Scalar]) {
    let Some(iosts) = reader.iosts else { return };
    let is_missing = |name: &&str| seen.iter().all(|scalar| scalar.text != **name);
    // Quiescence goes over no connection.
    let events =
        iosts.actions.iter().filter(|action| matches!(action.kind, ActionKind::Input | ActionKind::Output));
    let missing: Vec<&str> = events.map(|action| action.name.as_str()).filter(is_missing).collect();
    if !missing.is_empty() {
        let message = format!("`connections` has no connection for {}", listed(missing));
        reader.refuse(node, &message, "not all actions", &format!("for example `{LIKE}`"));
    }
}
