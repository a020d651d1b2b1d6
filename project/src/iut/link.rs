//! Reads `link`: how long a message may be on its way, or that messages never cross.

use coreach_adapters::description::LinkDelay;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::{Entry, NodeKind};

use super::words::IutReader;

const LIKE: &str = "link: { ordered: true, delay: 50 ms }";

/// The word for a link on which messages never cross.
const SYNCHRONOUS: &str = "synchronous";

pub fn read_link(reader: &mut IutReader<'_>, root: &[Entry], way: &str) -> LinkDelay {
    read_link_delay(reader, root, way).unwrap_or_default()
}

/// Reads `link`. `None`, if the key is not there, or after a mistake.
fn read_link_delay(reader: &mut IutReader<'_>, root: &[Entry], way: &str) -> Option<LinkDelay> {
    let node = shape::get(root, "link")?;
    if way == "http" {
        let message =
            "over `http`, messages never cross: coreach sends a request after the answer to the one before";
        reader.refuse(node, message, "not here", "leave out `link`");
    }
    if matches!(&node.kind, NodeKind::Scalar(scalar) if scalar.text == SYNCHRONOUS) {
        return Some(LinkDelay::Synchronous);
    }
    if let NodeKind::Scalar(scalar) = &node.kind
        && !node.is_nothing()
    {
        let near = reader.collector.nearest(&scalar.text, [SYNCHRONOUS]);
        let help =
            near.map_or(format!("for example `{LIKE}`"), |near| format!("did you mean `link: {near}`?"));
        reader.refuse(node, "`link` must be `synchronous` or a mapping with a delay", "not known", &help);
        return None;
    }
    let entries = shape::mapping(reader.collector, node, "`link`", LIKE)?;
    shape::check_keys(reader.collector, entries, &["ordered", "delay"], "`link`");
    if let Some(node) = shape::get(entries, "ordered")
        && !reader.read_boolean(entries, "ordered")
    {
        let message = "coreach supports only links that keep the order in each direction";
        reader.refuse(node, message, "not kept", "if the link keeps the order, write `ordered: true`");
    }
    let node = shape::required(reader.collector, node, entries, "delay", "`link`", LIKE)?;
    reader.read_time(node, "delay", LIKE, LIKE).map(LinkDelay::AtMost)
}
