//! Specifications from other worlds: foreign text to a model.
//!
//! One file or folder for each format; [`expression`] reads the small languages of guards and actions that three of them have, [`graph`] makes a
//! model of a drawn graph, [`mod@finish`] writes a model as a specification and sees that it is one.
//!
//! **What is promised.** What is written is a specification that `coreach check` takes, or nothing is written. It says what the foreign
//! model says, but for what the findings name; a name that is another one here is among them. A guard or an action that cannot be said in the
//! model format is a mistake, unless the user asks to leave it out.
//!
//! What is absent: no solver, no files (a text comes in, a text goes out), no printing.

pub mod aut;
pub mod directions;
pub mod expression;
pub mod finish;
pub mod graph;
pub mod graphml;
pub mod graphwalker;
mod json;

mod names;
pub mod piece;
pub mod traces;
pub mod xlia;

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use coreach_model::budget;
use coreach_model::diagnostic::{Diagnostic, SourceFile, nearest};
use coreach_model::reader::collect::Collector;

use finish::Model;

/// The code of a finding that says that a limit was met, and names its knob.
pub const LIMIT: &str = "import-limit";

/// The largest foreign file, in bytes.
pub const LARGEST: u64 = 64 << 20;

/// What a format's reader does: the model, and findings in the collector; none where nothing can be made of it.
type Read = fn(&mut Collector, &Options) -> Option<Model>;

macro_rules! formats {
    ($($(#[doc = $doc:literal])* $variant:ident = $name:literal, $says:literal, $read:expr;)*) => {
        /// The formats that are read.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        pub enum Format {
            $($(#[doc = $doc])* $variant,)*
        }

        impl Format {
            /// All of them.
            pub const ALL: [Format; [$($name),*].len()] = [$(Format::$variant),*];

            /// Its name on the command line.
            pub fn name(self) -> &'static str {
                match self { $(Format::$variant => $name,)* }
            }

            /// What it is, in a line.
            pub fn says(self) -> &'static str {
                match self { $(Format::$variant => $says,)* }
            }

            fn reader(self) -> Read {
                match self { $(Format::$variant => $read,)* }
            }
        }
    };
}

// The one list of formats.
formats! {
    /// Labelled transition systems of CADP and mCRL2.
    Aut = "aut", "Aldebaran, of CADP and mCRL2", aut::read;
    /// Drawn graphs.
    Graphml = "graphml", "GraphML, of yEd and others", graphml::read;
    /// Models of GraphWalker.
    Graphwalker = "graphwalker", "GraphWalker's JSON", graphwalker::read;
    /// State machines of the Diversity platform.
    Xlia = "xlia", "XLIA, of Diversity", xlia::read;
    /// Recorded traces.
    Traces = "traces", "recorded traces, as JSON lines", traces::read;
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// There is no format of this name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownFormat(pub String);

impl fmt::Display for UnknownFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = Format::ALL.map(Format::name);
        match nearest(&self.0, names) {
            Some(near) => write!(f, "no format is called `{}`; did you mean {near}?", self.0),
            None => write!(f, "no format is called `{}`; there are {}", self.0, names.join(", ")),
        }
    }
}

impl std::error::Error for UnknownFormat {}

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(name: &str) -> Result<Self, UnknownFormat> {
        let found = Format::ALL.into_iter().find(|format| format.name() == name);
        found.ok_or_else(|| UnknownFormat(name.to_owned()))
    }
}

/// What becomes of the vertices of a drawn graph.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Vertices {
    /// Locations, and nothing else.
    #[default]
    Locations,
    /// Each vertex is seen when it is entered: an output of its name.
    Outputs,
}

/// What becomes of a guard or an action that the model format cannot say.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum Untranslated {
    /// It is a mistake.
    #[default]
    Refuse,
    /// It is left out, and told: the specification allows more than the model.
    Drop,
}

/// What becomes of variables of a timed model that are read before they are assigned, and have no first value.
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
    /// These are internal.
    pub internals: Vec<String>,
    /// Of a timed model: inputs that the tester does not send.
    pub uncontrollable: Vec<String>,
    /// Of a timed model: what becomes of first values that nobody gives.
    pub first_values: FirstValues,
    /// Where a drawn graph begins, if it does not say so.
    pub initial: Option<String>,
    /// What becomes of vertices.
    pub vertices: Vertices,
    /// What becomes of what cannot be said.
    pub untranslated: Untranslated,
    /// Of recorded traces: locations are one where so many steps look alike.
    pub tails: usize,
    /// No more transitions are read, no more locations made.
    pub most: usize,
}

impl Options {
    /// The most transitions, where nobody says another number.
    pub const MOST: usize = 50_000;
    /// How many steps are compared, where nobody says another number.
    pub const TAILS: usize = 2;
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
            tails: Options::TAILS,
            most: Options::MOST,
        }
    }
}

/// The format of a file, by its name, else by how it begins.
pub fn detect(name: &str, text: &str) -> Option<Format> {
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending).to_ascii_lowercase();
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let by_ending = match ending.as_str() {
        "aut" => Some("aut"),
        "graphml" => Some("graphml"),
        "xlia" => Some("xlia"),
        "jsonl" | "ndjson" => Some("traces"),
        _ => None,
    };
    let by_content = || {
        if start.starts_with("des") && start[3..].trim_start().starts_with('(') {
            return Some("aut");
        }
        if start.starts_with('<') && start.contains("<graphml") {
            return Some("graphml");
        }
        if start.starts_with("@xlia") || start.starts_with("@FML") {
            return Some("xlia");
        }
        let is_json = start.starts_with('{') || start.starts_with('[');
        // The first keys tell: a model of GraphWalker lists models, a trace has actions.
        if is_json && start.contains("\"models\"") {
            return Some("graphwalker");
        }
        (is_json && start.contains("\"action\"")).then_some("traces")
    };
    by_ending.or_else(by_content).and_then(|name| name.parse().ok())
}

/// Reads a foreign model and writes it as a specification, with what was not taken over, or not exactly.
///
/// # Errors
/// Every mistake that could be found, with the warnings, in the order of the file; or that a limit was met.
pub fn import(
    file: Arc<SourceFile>,
    format: Option<Format>,
    options: &Options,
) -> Result<(String, Vec<Diagnostic>), Vec<Diagnostic>> {
    let mut collector = Collector::new(file.clone());
    let Some(format) = format.or_else(|| detect(&file.name, &file.text)) else {
        let names = Format::ALL.map(|format| format!("{} ({})", format.name(), format.says())).join(", ");
        let message = format!("{} does not say in which format it is", file.name);
        let help = format!("say it with --from: {names}");
        return Err(vec![Diagnostic::error("unknown-format", message).help(help)]);
    };
    budget::doing("reading a foreign model");
    let model = format.reader()(&mut collector, options);
    let text = match model {
        Some(model) if collector.errors() == 0 => finish::finish(&mut collector, options, model),
        _ => None,
    };
    let (found, failed) = collector.finish();
    match text {
        Some(text) if !failed => Ok((text, found)),
        _ => Err(found),
    }
}

/// Reports that there is more of something than is read.
pub(crate) fn too_many(collector: &mut Collector, span: &std::ops::Range<usize>, what: &str, most: usize) {
    let diagnostic = Diagnostic::error(LIMIT, format!("more than {most} {what}"))
        .at(collector.origin(span), "what follows was not read")
        .help("--most moves this limit");
    collector.push(diagnostic);
}
