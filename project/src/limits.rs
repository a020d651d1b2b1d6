//! The section `limits` of a configuration: how much the stages may make.

use coreach_model::Diagnostic;
use coreach_model::reader::collect::Collector;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::Entry;
use coreach_pipeline::limits::{Limits, MOST, Quantity, WRITTEN_OUT};

use crate::whole::whole;

/// Reads the section; what it does not say stays as it is by default.
pub fn read(collector: &mut Collector, entries: &[Entry]) -> Limits {
    let known: Vec<&str> = Quantity::all().map(Quantity::key).chain([WRITTEN_OUT]).collect();
    let own = shape::section(collector, entries, "limits", &known);
    let mut limits = Limits::default();
    for quantity in Quantity::all() {
        if let Some(limit) = one(collector, own, quantity.key(), 1, limits.of(quantity)) {
            limits = limits.with(quantity, limit);
        }
    }
    if let Some(limit) = one(collector, own, WRITTEN_OUT, 0, limits.written_out as u64) {
        limits.written_out = limit as usize;
    }
    limits
}

fn one(collector: &mut Collector, entries: &[Entry], key: &str, least: u64, default: u64) -> Option<u64> {
    let node = shape::get(entries, key)?;
    let text = node.as_scalar().map(|scalar| scalar.text.as_str());
    let value = text.and_then(|text| whole(text).ok()).filter(|value| (least..=MOST).contains(value));
    if value.is_none() {
        let message = format!("`{key}` must be a whole number from {least} to {MOST}");
        let diagnostic = Diagnostic::error("wrong-value", message)
            .at(collector.origin(&node.head()), "not such a number")
            .help(format!("the default is `{key}: {default}`"));
        collector.push(diagnostic);
    }
    value
}
