//! The options for importing a foreign model.

use std::ops::Range;

use coreach_model::compose;
use coreach_model::reader::collect::Collector;

/// The code of a finding about a limit that was reached.
pub const LIMIT: &str = "import-limit";

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Vertices {
    #[default]
    Locations,
    /// Entering a vertex is an output with the vertex's name.
    Outputs,
}

/// The treatment of a guard or an action that the model format cannot express.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Untranslated {
    #[default]
    Refuse,
    /// It is left out with a warning. The specification then allows more than the model.
    Drop,
}

/// The treatment of a timed model's variables that have no first value and may be read before an assignment.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum FirstValues {
    /// A constant is the first value, as in a model without time. All stages accept that.
    #[default]
    Constants,
    /// The first value is left open. Only test cases for paths accept it (F_ini of 2024).
    Open,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// The names of inputs. `*` stands for all names without a known direction.
    pub inputs: Vec<String>,
    /// The names of outputs, or `*`.
    pub outputs: Vec<String>,
    /// The names of internal actions, or `*`.
    pub internals: Vec<String>,
    /// Inputs of a timed model that the tester does not send.
    pub uncontrollable: Vec<String>,
    pub first_values: FirstValues,
    /// The vertex with which a drawn graph begins.
    pub initial: Option<String>,
    pub vertices: Vertices,
    pub untranslated: Untranslated,
    /// The most transitions that are read, and the most locations that are made.
    pub most: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            inputs: Vec::new(),
            outputs: Vec::new(),
            internals: Vec::new(),
            uncontrollable: Vec::new(),
            first_values: FirstValues::default(),
            initial: None,
            vertices: Vertices::default(),
            untranslated: Untranslated::default(),
            most: compose::MOST,
        }
    }
}

pub(crate) fn report_too_many(collector: &mut Collector, span: &Range<usize>, what: &str, most: usize) {
    let help = "change this limit with --most";
    collector.mistake(LIMIT, format!("more than {most} {what}"), span, "the rest was not read", help);
}
