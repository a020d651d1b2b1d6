//! Reads the keys whose values are words: `conformance` and `judge` say how runs are judged, `analysis:
//! loops` and `analysis: refine` how facts are found.

use coreach_model::reader::collect::{Collector, listed};
use coreach_model::reader::shape;
use coreach_model::reader::yaml::Entry;

coreach_model::words! {
    #[derive(Default)]
    pub enum Judging {
        /// A test case, made by the whole pipeline.
        #[default]
        TestCase = "test_case",
        /// The product of specification and purpose. The judge follows all its possible states.
        Online = "online",
    }
}

/// Reads a key whose value is one of these words. Without the key, it is the default. `None` is a mistake.
/// The texts are for messages: an example, the setting's name, and a label.
pub(super) fn read_word<T: Copy + Default>(
    collector: &mut Collector,
    entries: &[Entry],
    key: &str,
    [like, what, label]: [&str; 3],
    all: &[(&'static str, T)],
) -> Option<T> {
    let Some(node) = shape::get(entries, key) else { return Some(T::default()) };
    let scalar = shape::scalar(collector, node, &format!("`{key}`"), like)?;
    let found = all.iter().find(|(name, _)| *name == scalar.text).map(|(_, value)| *value);
    if found.is_none() {
        let names = || all.iter().map(|(name, _)| *name);
        // A list of so few words is better than a guess.
        let help = format!("there are {}", listed(names()));
        let message = format!("unknown {what} `{}`", scalar.text);
        collector.mistake("wrong-value", message, &scalar.span, label, help);
    }
    found
}
