//! The section `limits` of a configuration: how much the stages may make.

use coreach_model::reader::collect::Collector;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::Entry;
use coreach_pipeline::limits::{Limits, MOST, Quantity, WRITTEN_OUT};

use crate::whole::number_of;

/// Reads the section; what it does not say stays as it is by default.
pub fn read(collector: &mut Collector, entries: &[Entry]) -> Limits {
    let known: Vec<&str> = Quantity::all().map(Quantity::key).chain([WRITTEN_OUT]).collect();
    let own = shape::section(collector, entries, "limits", &known);
    let mut limits = Limits::default();
    for quantity in Quantity::all() {
        if let Some(limit) = number_of(collector, own, quantity.key(), (1, MOST), limits.of(quantity)) {
            limits = limits.with(quantity, limit);
        }
    }
    if let Some(limit) = number_of(collector, own, WRITTEN_OUT, (0, MOST), limits.written_out as u64) {
        limits.written_out = limit as usize;
    }
    limits
}
