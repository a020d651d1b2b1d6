//! The arguments of `init` and `schema`, with which one begins.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueHint};
use coreach_project::beginning::SCHEMAS;

use crate::outputs::OutputPath;

/// What `coreach init --help` ends with.
pub const INIT_HELP: &str = "\
Nothing is overwritten: where one of the files is there, none is written, and the exit code is 2.

Example:
  coreach init locker";

/// Of `init`.
#[derive(Args, Debug)]
pub struct InitArguments {
    /// Write into this folder
    #[arg(value_name = "DIR", default_value = ".", value_hint = ValueHint::DirPath)]
    pub folder: OutputPath,
}

/// Of `schema`.
#[derive(Args, Debug)]
pub struct SchemaArguments {
    /// The kind of file
    #[arg(value_name = "KIND", value_parser = kinds(), hide_possible_values = true)]
    pub kind: Option<String>,
    /// Write the schema, or all of them, to this folder; existing files are replaced
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub out: Option<OutputPath>,
}

fn kinds() -> PossibleValuesParser {
    SCHEMAS.map(|schema| schema.kind).into()
}
