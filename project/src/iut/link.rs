//! `link`: how long what is sent may take on its way, where that is to be looked at.

use std::time::Duration;

use coreach_model::diagnostic::Diagnostic;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, Node};

use super::words::IutReader;
use crate::budget::parse_time;

const LIKE: &str = "link: { ordered: true, delay: 50 ms }";

/// The delay; `None` where no link is described, which is one without delay. `way` is the key that says how
/// the implementation is reached.
pub fn link(reader: &mut IutReader<'_>, root: &[Entry], way: &str) -> Option<Duration> {
    let node = shape::get(root, "link")?;
    let entries = shape::mapping(reader.collector, node, "`link`", LIKE)?;
    shape::check_keys(reader.collector, entries, &["ordered", "delay"], "`link`");
    if way == "http" {
        let message =
            "over `http` nothing crosses: a request is sent when the one before it has been answered";
        wrong(reader, node, message, "not here", "leave out `link`");
    }
    if let Some(node) = shape::get(entries, "ordered")
        && !reader.boolean(entries, "ordered")
    {
        let message = "only links that keep the order in each direction can be looked at";
        wrong(reader, node, message, "not kept", "`ordered: true`, if it is so");
    }
    let Some(node) = shape::get(entries, "delay") else {
        shape::missing_key(reader.collector, node, "delay", "`link`", LIKE);
        return None;
    };
    let scalar = shape::scalar(reader.collector, node, "`delay`", LIKE)?;
    match parse_time(&scalar.text) {
        Ok(time) => Some(time),
        Err(why) => {
            wrong(
                reader,
                node,
                &format!("`delay` is no time: {why}"),
                "not such a time",
                &format!("for example `{LIKE}`"),
            );
            None
        }
    }
}

fn wrong(reader: &mut IutReader<'_>, node: &Node, message: &str, label: &str, help: &str) {
    let diagnostic =
        Diagnostic::error("wrong-value", message).at(reader.collector.origin(&node.head()), label).help(help);
    reader.collector.push(diagnostic);
}
