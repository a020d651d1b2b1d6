//! Reads what a configuration says about time: `timed: { silence_after: 5 }`.

use coreach_model::number::{WIRE_DIGITS, real};
use coreach_model::reader::collect::Collector;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::Entry;
use coreach_model::{Diagnostic, Origin, Value};
use dashu_ratio::RBig;

pub struct GivenTiming {
    /// `silence_after`: after so much time without an event, silence is an observation. A `real` above 0.
    pub silence_after: Value,
    /// Where it stands.
    pub origin: Origin,
}

/// Reads `timed`. The outer `None` is a mistake, the inner one no key.
pub(super) fn read_timed(collector: &mut Collector, entries: &[Entry]) -> Option<Option<GivenTiming>> {
    const LIKE: &str = "timed: { silence_after: 5 }";
    let Some(entry) = entries.iter().find(|entry| entry.key.text == "timed") else { return Some(None) };
    let keys = shape::mapping(collector, &entry.value, "`timed`", LIKE)?;
    shape::check_keys(collector, keys, &["silence_after"], "`timed`");
    let node = shape::required(collector, &entry.value, keys, "silence_after", "`timed`", LIKE)?;
    let scalar = shape::scalar(collector, node, "`silence_after`", LIKE)?;
    let time = real(&scalar.text, WIRE_DIGITS).ok().filter(|time| *time > RBig::ZERO);
    if time.is_none() {
        let message = format!("`silence_after` must be a time above 0, not `{}`", scalar.text);
        let diagnostic = Diagnostic::error("wrong-value", message)
            .at(collector.origin(&scalar.span), "not such a time")
            .help("for example `silence_after: 2.5`: coreach then judges silence of 2.5 time units");
        collector.push(diagnostic);
    }
    Some(Some(GivenTiming { silence_after: Value::Real(time?), origin: collector.origin(&entry.key.span) }))
}
