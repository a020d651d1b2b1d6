//! Reads the section `limits` of a configuration: how large the results of the stages may be.

use coreach_model::reader::collect::Collector;
use coreach_model::reader::shape;
use coreach_model::reader::yaml::Entry;
use coreach_pipeline::limits::{Limits, MOST, Quantity, WRITTEN_OUT};

use crate::whole::read_whole_number;

/// Reads the section. Limits that it does not have keep their defaults.
pub fn read_limits(collector: &mut Collector, entries: &[Entry]) -> Limits {
    let known: Vec<&str> = Quantity::all().map(Quantity::key).chain([WRITTEN_OUT]).collect();
    let own = shape::section(collector, entries, "limits", &known);
    let mut limits = Limits::default();
    for quantity in Quantity::all() {
        if let Some(limit) = read_whole_number(collector, own, quantity.key(), (1, MOST), limits.of(quantity))
        {
            limits = limits.with(quantity, limit);
        }
    }
    if let Some(limit) = read_whole_number(collector, own, WRITTEN_OUT, (0, MOST), limits.written_out as u64)
    {
        limits.written_out = limit as usize;
    }
    limits
}
