//! `link`: how long what is sent may take on its way, where that is to be looked at.

use std::time::Duration;

use coreach_model::reader::shape;
use coreach_model::reader::yaml::Entry;

use super::words::IutReader;

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
        reader.wrong(node, message, "not here", "leave out `link`");
    }
    if let Some(node) = shape::get(entries, "ordered")
        && !reader.boolean(entries, "ordered")
    {
        let message = "only links that keep the order in each direction can be looked at";
        reader.wrong(node, message, "not kept", "`ordered: true`, if it is so");
    }
    let node = shape::required(reader.collector, node, entries, "delay", "`link`", LIKE)?;
    reader.time(node, "delay", LIKE, LIKE)
}
