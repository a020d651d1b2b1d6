//! What the user says about a foreign model, beside the model.

use coreach_model::reader::collect::Collector;

/// The code of a finding that says that a limit was met, and names its knob.
pub const LIMIT: &str = "import-limit";

#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Vertices {
    #[default]
    Locations,
    /// Each vertex is seen when it is entered: an output of its name.
    Outputs,
}

/// What becomes of a guard or an action that the model format cannot say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Untranslated {
    #[default]
    Refuse,
    /// It is left out, and told: the specification allows more than the model.
    Drop,
}

/// What becomes of variables of a timed model that are read before they are assigned, and have no first
/// value.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum FirstValues {
    /// A constant gives it, as in a model without time: all stages take that.
    #[default]
    Constants,
    /// It is left open, which test cases for paths take (F_ini of the publication of 2024), and nothing else.
    Open,
}

/// What the user says about a foreign model.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Options {
    /// These are inputs; `*` stands for all that nothing else is said of.
    pub inputs: Vec<String>,
    /// These are outputs; `*` likewise.
    pub outputs: Vec<String>,
    pub internals: Vec<String>,
    /// Of a timed model: inputs that the tester does not send.
    pub uncontrollable: Vec<String>,
    /// Of a timed model: what becomes of first values that nobody gives.
    pub first_values: FirstValues,
    /// Where a drawn graph begins, if it does not say so.
    pub initial: Option<String>,
    pub vertices: Vertices,
    pub untranslated: Untranslated,
    /// No more transitions are read, no more locations made.
    pub most: usize,
}

impl Options {
    /// The most transitions, where nobody says another number.
    pub const MOST: usize = 50_000;
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
            most: Options::MOST,
        }
    }
}

/// Reports that there is more of something than is read.
pub(crate) fn too_many(collector: &mut Collector, span: &std::ops::Range<usize>, what: &str, most: usize) {
    let help = "--most moves this limit";
    collector.mistake(LIMIT, format!("more than {most} {what}"), span, "what follows was not read", help);
}
