//! The arguments of `coreach import`.

use std::num::NonZeroUsize;
use std::path::PathBuf;

use clap::{Args, ValueHint};
use coreach_import::{FirstValues, ForeignFormat, Options, Untranslated, Vertices};
use coreach_model::compose;
use coreach_project::whole::positive;

use crate::answer::{OutputFormat, one_of};
use crate::outputs::OutputPath;

/// The end of its help.
pub const IMPORT_HELP: &str = "Example:
  coreach import lift.aut --inputs 'call,up' --outputs door --out specification.yaml
  coreach import shop.json --vertices outputs > specification.yaml";

#[derive(Args, Debug)]
pub struct ImportArguments {
    /// A foreign model
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// Its format; the help is made of the list of formats.
    #[arg(long, value_name = "FORMAT", help = format_help())]
    pub from: Option<ForeignFormat>,
    /// Write the specification to this file instead of standard output
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub out: Option<OutputPath>,
    /// Replace the file of `--out`
    #[arg(long, requires = "out")]
    pub overwrite: bool,
    /// Read an aut file as a test purpose of TGV for this specification
    #[arg(long, value_name = "MODEL", value_hint = ValueHint::FilePath)]
    pub purpose_of: Option<PathBuf>,
    /// Import these actions as inputs; `*` means all other actions
    #[arg(long, value_name = "ACTION,...", value_delimiter = ',')]
    pub inputs: Vec<String>,
    /// Import these actions as outputs; `*` means all other actions
    #[arg(long, value_name = "ACTION,...", value_delimiter = ',')]
    pub outputs: Vec<String>,
    /// Import these actions as internal actions
    #[arg(long, value_name = "ACTION,...", value_delimiter = ',')]
    pub internals: Vec<String>,
    /// Import these inputs of XLIA with `controllable: false`
    #[arg(long, value_name = "ACTION,...", value_delimiter = ',')]
    pub uncontrollable: Vec<String>,
    /// For variables of timed XLIA without a first value: add constants, or leave the value open
    #[arg(long, value_name = "HOW", default_value = "constants", value_parser = one_of([("constants", FirstValues::Constants), ("open", FirstValues::Open)]))]
    pub first_values: FirstValues,
    /// Begin at this vertex of a graph
    #[arg(long, value_name = "NAME")]
    pub initial: Option<String>,
    /// Import the vertices of a graph as locations only, or also as outputs
    #[arg(long, value_name = "HOW", default_value = "locations", value_parser = one_of([("locations", Vertices::Locations), ("outputs", Vertices::Outputs)]))]
    pub vertices: Vertices,
    /// Refuse or leave out guards and actions that coreach cannot express
    #[arg(long, value_name = "HOW", default_value = "refuse", value_parser = one_of([("refuse", Untranslated::Refuse), ("drop", Untranslated::Drop)]))]
    pub untranslated: Untranslated,
    /// Read at most this many transitions
    #[arg(long, value_name = "TRANSITIONS", default_value_t = NonZeroUsize::new(compose::MOST).unwrap_or(NonZeroUsize::MIN), value_parser = positive)]
    pub most: NonZeroUsize,
    /// Report as text or as JSON: on standard error, or with --out on standard output
    #[arg(long, value_enum, default_value_t)]
    pub format: OutputFormat,
}

fn format_help() -> String {
    let names = ForeignFormat::ALL.map(|format| format!("{} ({})", format.name(), format.describe()));
    format!("Read this format [default: by name and content]: {}", names.join(", "))
}

impl ImportArguments {
    /// Returns how the foreign model is read.
    pub fn options(&self) -> Options {
        Options {
            inputs: self.inputs.clone(),
            outputs: self.outputs.clone(),
            internals: self.internals.clone(),
            uncontrollable: self.uncontrollable.clone(),
            first_values: self.first_values,
            initial: self.initial.clone(),
            vertices: self.vertices,
            untranslated: self.untranslated,
            most: self.most.get(),
        }
    }
}
